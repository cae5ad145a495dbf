//! Rules for datatypes, which Alethe does not have.
//!
//! Ours are clauses without premises that hold for all values:
//!
//! ```text
//! dt_inject   (not (= (c s1 .. sn) (c t1 .. tn))) (= si ti)       :args (i), from zero on
//! dt_select   (not (= x (c t1 .. tn))) (= (seli x) ti)            the selector is one of c
//! dt_test     (not (= x (c t1 .. tn))) (= ((_ is d) x) b)         b says whether c is d
//! dt_clash    (not (= (c s1 .. sn) (d t1 .. tm)))                 c is not d
//! dt_cycle    (not (= s1 m2)) .. (not (= sn m1))                  :args (m1 .. mn): each si is an argument of mi, which
//!                                                                 is an application of a constructor
//! dt_split    for each constructor c: ((_ is c) x) or (= x (c (sel1 x) .. (seln x)))                 :args (x)
//! dt_expand   (not ((_ is c) x)) (= x (c (sel1 x) .. (seln x)))                                      :args (x)
//! ```
//!
//! Equalities may have their sides exchanged, as in `eq_congruent`. If `x` is the application itself, `dt_select` and
//! `dt_test` have no first literal. The literals of the last two come in any order; they are axioms of the theory
//! (`theory/datatypes/axiom.rs`). The others are offered for conflicts (`equality.rs`), and here for what normalising does
//! to constructors.

use rustc_hash::FxHashSet;
use shofar_logic::{Op, Term, TermStore};

use super::Printer;
use super::derive::{Derivation, Source, negation};
use super::steps::{Arg, Name, pivot_args};

/// Whether the term is an application of a constructor.
pub(super) fn is_made(store: &TermStore, term: Term) -> bool {
    matches!(store.op(term), Op::Construct(_))
}

/// The value of a selector or tester whose argument equals an application of a constructor, and the rule that says so.
pub(super) fn reduction(store: &TermStore, operator: Term, made: Term) -> Option<(&'static str, Term)> {
    let (Op::Construct(constructor), fields) = store.view(made) else { return None };
    match store.op(operator) {
        Op::Selector { constructor: selected, field } if selected == constructor => {
            Some(("dt_select", *fields.get(field as usize)?))
        }
        Op::Tester(tested) => Some(("dt_test", store.bool(tested == constructor))),
        _ => None,
    }
}

/// Offers what equations between applications of constructors say about their fields. Returns the equations of fields.
pub(super) fn fields(store: &TermStore, derivation: &mut Derivation<'_>, atoms: &[Term]) -> Vec<Term> {
    let mut open: Vec<Term> = atoms.to_vec();
    let mut seen: FxHashSet<Term> = FxHashSet::default();
    let mut found = Vec::new();
    while let Some(atom) = open.pop() {
        let (Op::Eq, &[left, right]) = store.view(atom) else { continue };
        if !is_made(store, left) || !is_made(store, right) || !seen.insert(atom) {
            continue;
        }
        if store.op(left) != store.op(right) {
            derivation.offer(vec![negation(store, atom)], Source::Rule("dt_clash", Vec::new()));
            continue;
        }
        let pairs = std::iter::zip(store.args(left), store.args(right));
        let Ok(equations) = pairs.map(|(&a, &b)| store.app(Op::Eq, &[a, b])).collect::<Result<Vec<_>, _>>()
        else {
            continue;
        };
        for (field, &equation) in equations.iter().enumerate() {
            let clause = vec![negation(store, atom), equation];
            derivation.offer(clause, Source::Rule("dt_inject", vec![Arg::position(field)]));
        }
        if !equations.is_empty() {
            let denied = equations.iter().map(|&equation| negation(store, equation));
            derivation.offer(denied.chain([atom]).collect(), Source::Rule("eq_congruent", Vec::new()));
        }
        found.extend(&equations);
        open.extend(equations);
    }
    found
}

impl Printer<'_> {
    /// A step that a selector or tester has a value, if an application of a constructor is the value of its argument.
    pub(super) fn reduced(&mut self, operator: Term, value: Term, equation: Term) -> Option<Name> {
        let store = self.store;
        let (op, &[argument]) = store.view(operator) else { return None };
        let made = self.expander.value(argument);
        if let Some((rule, reduced)) = reduction(store, operator, made) {
            if reduced != value {
                return None;
            }
            if argument == made {
                return Some(self.out.step(&[equation], rule, &[], &[]));
            }
            let whole = store.app(Op::Eq, &[argument, made]).ok()?;
            let premises = [
                self.out.step(&[negation(store, whole), equation], rule, &[], &[]),
                self.equal(argument, made, whole),
            ];
            return Some(self.out.step(&[equation], "resolution", &premises, &pivot_args((whole, false))));
        }
        // The tester of an only constructor is true.
        let constructors = store.datatype(store.sort_of(argument))?.constructors();
        if !matches!(op, Op::Tester(_)) || constructors.len() != 1 || value != Term::TRUE {
            return None;
        }
        let [denied, untrue] = [operator, Term::TRUE].map(|formula| negation(store, formula));
        let premises = [
            self.out.step(&[equation, denied, untrue], "equiv_neg1", &[], &[]),
            self.out.step(&[operator], "dt_split", &[], &[Arg::Term(argument)]),
            self.out.step(&[Term::TRUE], "true", &[], &[]),
        ];
        let pivots = [pivot_args((operator, false)), pivot_args((Term::TRUE, false))].concat();
        Some(self.out.step(&[equation], "resolution", &premises, &pivots))
    }
}
