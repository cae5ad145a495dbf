//! What is true of the folds in a formula, for solvers that take folds for functions without a meaning.
//!
//! Models may apply folds ([`shofar_logic::Fold`]). A translation that interpolates between formulas of a model has to know their
//! definitions where they meet constructors, and the lemmas that the engine claims. Each formula gets the facts about its own
//! terms, so the interpolant speaks of shared terms only.
//!
//! The facts are instances of definitions and of claims. The checker proves the claims, and instances that are missing
//! here can only make an interpolation fail.

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::{Fun, Op, Sort, Substitution, Term, TermStore};

/// The greatest number of facts about one formula.
const MOST_FACTS: usize = 2000;

/// Rounds of replacing applications to constructor terms by their values.
const MOST_ROUNDS: usize = 16;

/// Functions without a meaning in place of folds. The solver chooses their values, so its models would be none of the folds.
#[derive(Default)]
pub(super) struct Hidden {
    /// The folds and the functions in their place.
    functions: Vec<(Fun, Fun)>,
    /// The ghost of all folds that have one.
    ghost: Option<Term>,
}

/// For which folds a formula gets facts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Known {
    /// Those that it applies.
    Own,
    /// Those that any formula applies.
    All,
}

impl Hidden {
    /// Hides the folds of all formulas, which have at most this ghost; `None` if they apply none.
    pub(super) fn new(store: &TermStore, formulas: &[Term], ghost: Option<Term>) -> Option<Self> {
        if !store.has_datatypes() {
            return None;
        }
        let hidden = |fun: Fun| {
            let declaration = store.fun_decl(fun);
            let name = store.fresh_symbol(store.name(declaration.name));
            (fun, store.fun(name, &declaration.domain, declaration.range))
        };
        let mut folds = store.folds_in(formulas);
        let lemmas = store.claimed_lemmas(&folds);
        folds.extend(store.folds_in(&lemmas.iter().map(|lemma| lemma.formula).collect::<Vec<Term>>()));
        folds.sort_unstable();
        folds.dedup();
        let functions: Vec<(Fun, Fun)> = folds.into_iter().map(hidden).collect();
        (!functions.is_empty()).then_some(Hidden { functions, ghost })
    }

    /// A formula with facts about its folds, which are hidden.
    pub(super) fn hide(&self, store: &TermStore, formula: Term, known: Known) -> Term {
        self.replace(store, self.with_fold_facts(store, formula, known), |&(fold, function)| (fold, function))
    }

    /// The formula with the folds themselves.
    pub(super) fn reveal(&self, store: &TermStore, formula: Term) -> Term {
        self.replace(store, formula, |&(fold, function)| (function, fold))
    }

    fn replace(&self, store: &TermStore, formula: Term, pair: fn(&(Fun, Fun)) -> (Fun, Fun)) -> Term {
        let pairs: FxHashMap<Fun, Fun> = self.functions.iter().map(pair).collect();
        store.rewrite(formula, &mut |op, args| {
            let op = match op {
                Op::Apply(fun) => Op::Apply(pairs.get(&fun).copied().unwrap_or(fun)),
                _ => op,
            };
            store.build(op, args).expect("both functions have the same sorts")
        })
    }

    /// The formula with facts about folds.
    fn with_fold_facts(&self, store: &TermStore, formula: Term, known: Known) -> Term {
        let formula = unfolded(store, formula);
        let mut functions = store.folds_in(&[formula]);
        if known == Known::All {
            functions = self.functions.iter().map(|&(fold, _)| fold).collect();
        }
        let lemmas = store.claimed_lemmas(&functions);
        functions.extend(store.folds_in(&lemmas.iter().map(|lemma| lemma.formula).collect::<Vec<Term>>()));
        functions.sort_unstable();
        functions.dedup();
        let terms = store.subterms(&[formula]);
        let taken_apart = |&term: &Term| match store.view(term) {
            (Op::Selector { .. } | Op::Tester(_), &[argument]) => Some(argument),
            _ => None,
        };
        let taken_apart: FxHashSet<Term> = terms.iter().filter_map(taken_apart).collect();
        let mut seen: FxHashSet<Term> = FxHashSet::default();
        let mut open = terms;
        let mut facts = vec![formula];
        while let Some(term) = open.pop() {
            let sort = store.sort_of(term);
            if store.datatype(sort).is_none() || !seen.insert(term) || facts.len() > MOST_FACTS {
                continue;
            }
            for lemma in lemmas.iter().filter(|lemma| store.sort_of(lemma.parameters[0]) == sort) {
                let ghosts =
                    lemma.parameters[1..].iter().map(|&ghost| store.sort_of(ghost)).collect::<Vec<Sort>>();
                if let Some(values) = self.with_ghosts(store, term, &ghosts) {
                    let pairs = lemma.parameters.iter().copied().zip(values);
                    facts.push(store.instantiate(lemma.formula, &pairs.collect::<Substitution>()));
                }
            }
            if !matches!(store.op(term), Op::Construct(_)) && !taken_apart.contains(&term) {
                continue;
            }
            for &fun in functions.iter().filter(|&&fun| store.fun_decl(fun).domain[0] == sort) {
                let Some(args) = self.with_ghosts(store, term, &store.fun_decl(fun).domain[1..]) else {
                    continue;
                };
                let application = store.apply(fun, &args).expect("the terms have the sorts of the arguments");
                let Some(value) = store.unfold(application) else { continue };
                facts.push(match store.sort_of(value) {
                    Sort::BOOL => store.iff(application, value),
                    _ => store.eq(application, value),
                });
                open.extend(store.subterms(&[value]));
            }
        }
        store.and(&facts)
    }

    /// A value and the ghost, if there is one of this sort for a function with these ghosts.
    fn with_ghosts(&self, store: &TermStore, term: Term, sorts: &[Sort]) -> Option<Vec<Term>> {
        match (sorts, self.ghost) {
            ([], _) => Some(vec![term]),
            (&[sort], Some(ghost)) if store.sort_of(ghost) == sort => Some(vec![term, ghost]),
            _ => None,
        }
    }
}

/// The formula with values for applications of folds to constructor terms: without terms that nothing could eliminate.
fn unfolded(store: &TermStore, mut formula: Term) -> Term {
    for _ in 0..MOST_ROUNDS {
        let next = store.rewrite(formula, &mut |op, args| match (op, args) {
            (Op::Apply(fun), &[argument, ..])
                if store.fold(fun).is_some() && matches!(store.op(argument), Op::Construct(_)) =>
            {
                let application = store.apply(fun, args).expect("the sorts stay the same");
                store.unfold(application).unwrap_or(application)
            }
            _ => store.build(op, args).expect("the sorts stay the same"),
        });
        if next == formula {
            break;
        }
        formula = next;
    }
    formula
}
