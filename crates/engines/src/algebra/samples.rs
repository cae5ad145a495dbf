//! Samples: ground terms for the variables of a derivation that an algebra does not exclude.
//!
//! An algebra that does not exclude a derivation has components for its variables that satisfy the abstract constraints. If there are
//! terms with these components, they are a *sample*: any algebra that gives different components to them, wherever they should be equal,
//! does better. What it must satisfy is a formula over the parameters of a template.

use rustc_hash::FxHashMap;
use shofar_logic::{Assignment, ConstructorId, Op, Sort, Term, TermStore, Value};

use super::components::{Algebra, Component};
use super::templates::Template;

/// Ground terms of a sort, and rounds in which they are made.
const MOST_TERMS: usize = 150;
const MOST_ROUNDS: usize = 20;

/// Integers in ground terms.
const MOST_NUMBERS: usize = 4;

/// Components for the variables of a derivation; a number or truth value is its own component.
pub(super) type Vectors = Vec<(Term, Vec<Value>)>;

/// Small ground terms of all sorts, the smallest first.
pub(super) struct Pool {
    terms: FxHashMap<Sort, Vec<Term>>,
}

impl Pool {
    /// Terms of datatypes with the integers of formulas, and some more.
    pub(super) fn new(store: &TermStore, sorts: &[Sort], formulas: &[Term]) -> Self {
        let mut numbers: Vec<Term> = vec![store.int(0), store.int(1)];
        for term in store.subterms(formulas) {
            let is_integer = store.sort_of(term) == Sort::INT && matches!(store.op(term), Op::Numeral(_));
            if is_integer && !numbers.contains(&term) {
                numbers.push(term);
            }
        }
        numbers.truncate(MOST_NUMBERS);
        let mut pool = Pool { terms: sorts.iter().map(|&sort| (sort, Vec::new())).collect() };
        for _ in 0..MOST_ROUNDS {
            let mut is_new = false;
            let before = pool.terms.clone();
            for &sort in sorts {
                let constructors = store.datatype(sort).map_or(&[][..], |datatype| datatype.constructors());
                for &constructor in constructors {
                    for term in made(store, constructor, &before, &numbers) {
                        let known = pool.terms.entry(sort).or_default();
                        if known.len() >= MOST_TERMS {
                            break;
                        }
                        if !known.contains(&term) {
                            known.push(term);
                            is_new = true;
                        }
                    }
                }
            }
            if !is_new {
                break;
            }
        }
        pool
    }

    /// The first term with these components.
    fn with(
        &self,
        store: &TermStore,
        components: &[Component],
        sort: Sort,
        vector: &[Value],
    ) -> Option<Term> {
        let fits = |&&term: &&Term| {
            let mut pairs = components.iter().zip(vector);
            pairs.all(|(component, value)| {
                store.eval(component.at(store, term), &Assignment::new()).as_ref() == Ok(value)
            })
        };
        self.terms.get(&sort)?.iter().find(fits).copied()
    }

    /// Values for the variables of a derivation, given the components of an algebra that does not exclude it. None if no small
    /// terms have these components.
    pub(super) fn sample(
        &self,
        store: &TermStore,
        algebra: &Algebra,
        components: &[(Term, Vec<Value>)],
    ) -> Option<Assignment> {
        let mut sample = Assignment::new();
        for (variable, vector) in components {
            let sort = store.sort_of(*variable);
            let value = match store.datatype(sort) {
                Some(_) => Value::Term(self.with(store, algebra.of(sort), sort, vector)?),
                None => vector.first()?.clone(),
            };
            sample.set(*variable, value);
        }
        Some(sample)
    }
}

/// Terms of a constructor with known terms for its fields, small ones first.
fn made(
    store: &TermStore,
    constructor: ConstructorId,
    known: &FxHashMap<Sort, Vec<Term>>,
    numbers: &[Term],
) -> Vec<Term> {
    let mut choices: Vec<Vec<Term>> = vec![Vec::new()];
    for &(_, sort) in &store.constructor(constructor).fields {
        let terms = match (known.get(&sort), sort) {
            (Some(terms), _) => terms.clone(),
            (None, Sort::INT) => numbers.to_vec(),
            (None, Sort::BOOL) => vec![Term::FALSE, Term::TRUE],
            (None, _) => vec![store.value_to_term(&store.default_value(sort))],
        };
        let extended = terms.iter().flat_map(|&term| {
            choices.iter().map(move |choice| choice.iter().copied().chain([term]).collect())
        });
        choices = extended.take(4 * MOST_TERMS).collect();
    }
    choices.iter().map(|fields| store.construct_term(constructor, fields)).collect()
}

/// What the parameters of a template satisfy if the algebra with its components does not exclude a sample. The constraints of the
/// derivation are in negation normal form.
pub(super) fn at_sample(
    store: &TermStore,
    algebra: &Algebra,
    template: &mut Template<'_>,
    derivation: &[Term],
    sample: &Assignment,
) -> Term {
    let is_literal = |term: Term| !matches!(store.op(term), Op::And | Op::Or);
    let mut meanings: FxHashMap<Term, Term> = FxHashMap::default();
    for part in store.subterms_until(derivation, is_literal) {
        let meaning = match store.view(part) {
            (Op::And, args) => store.and_of(args.iter().map(|arg| meanings[arg])),
            (Op::Or, args) => store.or_of(args.iter().map(|arg| meanings[arg])),
            _ => literal(store, algebra, template, part, sample),
        };
        meanings.insert(part, meaning);
    }
    store.and_of(derivation.iter().map(|label| meanings[label]))
}

/// The meaning of a literal. Equations of values become equations of components. Other literals over values of datatypes say
/// nothing, unless the abstract clauses know them exactly.
fn literal(
    store: &TermStore,
    algebra: &Algebra,
    template: &mut Template<'_>,
    literal: Term,
    sample: &Assignment,
) -> Term {
    let exact = || match store.eval(literal, sample) {
        Ok(Value::Bool(value)) => store.bool(value),
        _ => Term::TRUE,
    };
    let is_data = |term: Term| store.datatype(store.sort_of(term)).is_some();
    let (atom, holds) = store.literal(literal);
    let (Op::Eq, &[a, b]) = store.view(atom) else {
        let is_equation = |&term: &Term| store.op(term) == Op::Eq && is_data(store.args(term)[0]);
        return if store.subterms(&[atom]).iter().any(is_equation) { Term::TRUE } else { exact() };
    };
    if !is_data(a) {
        return exact();
    }
    if !holds {
        let is_constant =
            |term: Term| matches!(store.view(term), (Op::Construct(_), fields) if fields.is_empty());
        let is_exact =
            is_constant(a) || is_constant(b) || algebra.identifying(store, store.sort_of(a)).is_some();
        return if is_exact { exact() } else { Term::TRUE };
    }
    let (Ok(Value::Term(left)), Ok(Value::Term(right))) = (store.eval(a, sample), store.eval(b, sample))
    else {
        return Term::TRUE;
    };
    let value = |component: &Component, term: Term| store.eval(component.at(store, term), &Assignment::new());
    let components = algebra.of(store.sort_of(a));
    if components.iter().any(|component| value(component, left) != value(component, right)) {
        return Term::FALSE;
    }
    template.equal(left, right)
}

#[cfg(test)]
mod tests {
    use shofar_horn::parse;

    use super::*;

    #[test]
    fn pools_have_the_smallest_terms_of_all_sorts() {
        let store = TermStore::new();
        let text =
            "(declare-datatypes ((T 0) (F 0)) (((leaf) (node (sub F))) ((none) (more (t T) (n Int) (f F)))))
            (declare-fun P (T F) Bool)";
        let system = parse(&store, "test", text.as_bytes()).unwrap();
        let sorts = &store.fun_decl(system.predicates().next().unwrap().1).domain;
        let pool = Pool::new(&store, sorts, &[store.int(7)]);
        for sort in sorts {
            let terms = &pool.terms[sort];
            assert_eq!(terms.len(), MOST_TERMS);
            for part in store.subterms(terms) {
                let of_part = pool.terms.get(&store.sort_of(part));
                assert!(of_part.is_none_or(|known| known.contains(&part)), "parts are in the pool");
            }
            let sevens = terms.iter().filter(|&&term| store.subterms(&[term]).contains(&store.int(7)));
            assert!(sevens.count() > 0);
        }
    }
}
