//! Folds with finitely many values: which values are possible together.
//!
//! A fold whose cases depend only on the values of folds at the fields is a deterministic bottom-up tree automaton if it has finitely
//! many values, its states. All such folds of a datatype together are the product automaton. Its reachable states are computed by
//! the usual fixpoint, constructor by constructor:
//!
//! ```text
//! repeat until nothing is new
//!     for each constructor and reachable states of its fields: the state of the value is reachable
//! ```
//!
//! That a value has one of these states is inductive by construction. It becomes a lemma, which the checker proves like those of
//! the model. With it, the solver's case splits decide clauses over tables even if the model claims nothing about its states.

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::{Fold, FoldCase, FoldLemma, Fun, Op, Sort, Term, TermStore};

use super::languages;

/// Reachable states of a datatype, and choices of states for the fields of a constructor.
const MOST_STATES: usize = 32;
const MOST_CHOICES: usize = 10_000;

/// Lemmas about the states of folds with finitely many values.
pub(super) fn lemmas(store: &TermStore, folds: &[Fun]) -> Vec<FoldLemma> {
    let lemma = |(sort, Product { folds, states }): (Sort, Product)| {
        let value = store.var(store.fresh_symbol("value"), sort);
        let at = |&fun: &Fun| store.apply(fun, &[value]).expect("the sorts fit");
        let is_state = |state: &Vec<Term>| {
            let equal = |(fun, &component): (&Fun, &Term)| match store.sort_of(component) {
                Sort::BOOL => store.iff(at(fun), component),
                _ => store.eq(at(fun), component),
            };
            store.and_of(folds.iter().zip(state).map(equal))
        };
        let formula = store.or_of(states.iter().map(is_state));
        FoldLemma { parameters: [value].into(), formula }
    };
    finite(store, folds).into_iter().map(lemma).collect()
}

/// Lemmas about the states that have finitely many values.
pub(super) fn language_lemmas(store: &TermStore, folds: &[Fun]) -> Vec<FoldLemma> {
    let products = finite(store, folds).into_iter();
    languages::lemmas(store, products.map(|(sort, product)| (sort, product.folds)).collect())
}

/// The reachable states of folds with finitely many values, and not too many together.
fn finite(store: &TermStore, folds: &[Fun]) -> Vec<(Sort, Product)> {
    let mut folds = folds.to_vec();
    loop {
        match reachable(store, &tables(store, &folds)) {
            Ok(states) => return states,
            Err(fun) => folds.retain(|&other| other != fun),
        }
    }
}

/// The folds of a datatype and the vectors of their values.
struct Product {
    folds: Vec<Fun>,
    states: Vec<Vec<Term>>,
}

/// The folds without ghosts whose cases apply such folds to fields, and mention no variables otherwise.
pub(super) fn tables(store: &TermStore, folds: &[Fun]) -> Vec<Fun> {
    let mut tables: FxHashSet<Fun> =
        folds.iter().copied().filter(|&fun| store.fun_decl(fun).domain.len() == 1).collect();
    loop {
        let is_table = |case: &FoldCase| {
            let is_state = |term: Term| match store.view(term) {
                (Op::Apply(fun), [field]) => tables.contains(&fun) && case.fields.contains(field),
                _ => false,
            };
            let parts = store.subterms_until(&[case.value], is_state);
            let is_other = |&part: &Term| match store.op(part) {
                Op::Var(_) => true,
                Op::Apply(_) => !is_state(part),
                _ => false,
            };
            !parts.iter().any(is_other)
        };
        let kept: FxHashSet<Fun> = tables
            .iter()
            .copied()
            .filter(|&fun| store.fold(fun).is_some_and(|fold| fold.cases.iter().all(is_table)))
            .collect();
        if kept.len() == tables.len() {
            return folds.iter().copied().filter(|fun| kept.contains(fun)).collect();
        }
        tables = kept;
    }
}

/// The reachable states of each datatype, or a fold without which there may be few enough.
fn reachable(store: &TermStore, tables: &[Fun]) -> Result<Vec<(Sort, Product)>, Fun> {
    let mut products: Vec<(Sort, Product)> = Vec::new();
    for &fun in tables {
        let sort = store.fun_decl(fun).domain[0];
        match products.iter_mut().find(|(of, _)| *of == sort) {
            Some((_, product)) => product.folds.push(fun),
            None => products.push((sort, Product { folds: vec![fun], states: Vec::new() })),
        }
    }
    loop {
        let mut is_new = false;
        for position in 0..products.len() {
            let found = successors(store, &products, position)?;
            let states = &mut products[position].1.states;
            for state in found {
                if !states.contains(&state) {
                    states.push(state);
                    is_new = true;
                }
            }
            if states.len() > MOST_STATES {
                return Err(products[position].1.largest());
            }
        }
        if !is_new {
            return Ok(products);
        }
    }
}

impl Product {
    /// The fold with the most values.
    fn largest(&self) -> Fun {
        let values = |&position: &usize| {
            self.states.iter().map(|state| state[position]).collect::<FxHashSet<Term>>().len()
        };
        let largest = (0..self.folds.len()).max_by_key(values);
        self.folds[largest.expect("a product has a fold")]
    }
}

/// The states of values whose fields have states that are known.
fn successors(
    store: &TermStore,
    products: &[(Sort, Product)],
    position: usize,
) -> Result<Vec<Vec<Term>>, Fun> {
    let (_, Product { folds, .. }) = &products[position];
    let folds: Vec<&Fold> = folds.iter().filter_map(|&fun| store.fold(fun)).collect();
    let mut found: Vec<Vec<Term>> = Vec::new();
    for case in 0..folds[0].cases.len() {
        // All folds name the fields alike.
        let fields = &folds[0].cases[case].fields;
        let mut choices: Vec<FxHashMap<Term, Term>> = vec![FxHashMap::default()];
        for &field in fields {
            let Some((_, product)) = products.iter().find(|(of, _)| *of == store.sort_of(field)) else {
                continue;
            };
            let at = |&fun: &Fun| store.apply(fun, &[field]).expect("the sorts fit");
            let extended = choices.iter().flat_map(|choice| {
                product.states.iter().map(move |state| {
                    let mut choice = choice.clone();
                    choice.extend(product.folds.iter().map(at).zip(state.iter().copied()));
                    choice
                })
            });
            choices = extended.take(MOST_CHOICES + 1).collect();
            if choices.len() > MOST_CHOICES {
                return Err(product.largest());
            }
        }
        for choice in &choices {
            let value = |fold: &&Fold| {
                let value = store.rewrite(fold.cases[case].value, &mut |op, args| {
                    let term = store.build(op, args).expect("states have the sorts of applications");
                    choice.get(&term).copied().unwrap_or(term)
                });
                store.term_to_value(value).map(|_| value).ok_or(fold.fun)
            };
            let state = folds.iter().map(value).collect::<Result<Vec<Term>, Fun>>()?;
            if !found.contains(&state) {
                found.push(state);
            }
        }
    }
    Ok(found)
}
