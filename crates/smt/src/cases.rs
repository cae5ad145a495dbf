//! Numbers chosen by conditions.
//!
//! A numeric `ite` with few leaves is a list of *cases*: values, each with its condition. An atom over such a number
//! needs no symbol for it:
//!
//! ```text
//! ite(c, 2, 5) - x <= 1    becomes    (c and 2 - x <= 1) or (not c and 5 - x <= 1)
//! ite(c, 2, ite(d, 2, 5)) = 5    becomes    not c and not d
//! ```
//!
//! So counters and state machines over constants, which compilers write as nested `ite`, become propositional logic,
//! and the theory solver never sees them. An `ite` over terms that is used once saves a symbol and a row.
//!
//! Invariant: exactly one of the conditions of a list holds; the values differ.

use rustc_hash::FxHashMap;
use shofar_logic::number::Rational;
use shofar_logic::{LinearPoly, Op, Sort, Term, TermStore};

/// The longest list of constants, and the longest list with other values.
const MOST_CONSTANTS: usize = 16;
const MOST_TERMS: usize = 4;

/// A number as a list of cases: conditions and values.
pub(crate) type Cases = Vec<(Term, LinearPoly)>;

/// The numbers represented by their cases.
pub(crate) struct CaseTable<'a> {
    store: &'a TermStore,
    cases: FxHashMap<Term, Cases>,
}

impl<'a> CaseTable<'a> {
    pub(crate) fn new(store: &'a TermStore) -> Self {
        CaseTable { store, cases: FxHashMap::default() }
    }

    /// Whether no number has cases.
    pub(crate) fn is_empty(&self) -> bool {
        self.cases.is_empty()
    }

    /// Whether the monomial is a number with cases.
    pub(crate) fn contains(&self, monomial: Term) -> bool {
        match self.store.view(monomial) {
            (Op::ToReal, &[inner]) => self.cases.contains_key(&inner),
            _ => self.cases.contains_key(&monomial),
        }
    }

    /// The cases of a monomial, if it is a number with cases. A cast integer has those of the integer.
    fn get(&self, monomial: Term) -> Option<Cases> {
        let store = self.store;
        if let (Op::ToReal, &[inner]) = store.view(monomial) {
            let cast = |poly: &LinearPoly| {
                LinearPoly::from_term(store, store.to_real(poly.to_term(store, Sort::INT)))
            };
            return Some(self.cases.get(&inner)?.iter().map(|(when, value)| (*when, cast(value))).collect());
        }
        self.cases.get(&monomial).cloned()
    }

    /// Gives cases to the choice between two numbers unless there are too many; its arguments may have cases. Values
    /// other than constants are allowed only for a number that is used once: each use would repeat them.
    pub(crate) fn choose(&mut self, args: &[Term], used_once: bool) -> Option<Term> {
        let store = self.store;
        let &[condition, then, otherwise] = args else { unreachable!("ite has three arguments") };
        let first = self.expand(then)?;
        let second = self.expand(otherwise)?;
        let mut cases: Cases = Vec::with_capacity(first.len() + second.len());
        for (when, value) in first {
            let both = second.iter().find(|(_, other)| *other == value);
            let otherwise = both.map_or(Term::FALSE, |(when, _)| *when);
            cases.push((store.ite(condition, when, otherwise), value));
        }
        for (when, value) in second {
            if !cases.iter().any(|(_, other)| *other == value) {
                cases.push((store.ite(condition, Term::FALSE, when), value));
            }
        }
        let fits = if cases.iter().all(|(_, value)| value.is_constant()) {
            cases.len() <= MOST_CONSTANTS
        } else {
            used_once && cases.len() <= MOST_TERMS
        };
        if !fits {
            return None;
        }
        let term = store.ite(condition, then, otherwise);
        // Building it may have simplified it.
        if store.op(term) == Op::Ite {
            self.cases.insert(term, cases);
        }
        Some(term)
    }

    /// The cases of a pure number; a sum combines those of its summands. `None` if there are too many.
    fn expand(&self, term: Term) -> Option<Cases> {
        let (cases, rest) = self.combine(&LinearPoly::from_term(self.store, term));
        rest.is_empty().then_some(cases)
    }

    /// Combines the cases of monomials as long as they stay few. Returns the cases and the monomials that could not be
    /// combined: the number is the value plus these.
    pub(crate) fn combine(&self, poly: &LinearPoly) -> (Cases, Vec<(Term, Rational)>) {
        let mut plain = Vec::new();
        let mut chosen = Vec::new();
        for (monomial, factor) in poly.terms() {
            match self.get(*monomial) {
                Some(cases) => chosen.push((*monomial, factor.clone(), cases)),
                None => plain.push((*monomial, factor.clone())),
            }
        }
        let mut sum = vec![(Term::TRUE, LinearPoly::from_pairs(plain, poly.constant().clone()))];
        let mut rest = Vec::new();
        for (monomial, factor, cases) in chosen {
            match self.add(&sum, &factor, &cases) {
                Some(next) => sum = next,
                None => rest.push((monomial, factor)),
            }
        }
        (sum, rest)
    }

    /// The cases of a sum, unless there are too many. A single list never has too many.
    fn add(&self, sum: &Cases, factor: &Rational, cases: &Cases) -> Option<Cases> {
        let store = self.store;
        let mut next: Cases = Vec::new();
        for (when, value) in sum {
            for (other_when, other) in cases {
                let mut value = value.clone();
                value.add_scaled(other, factor);
                let when = store.and2(*when, *other_when);
                let most = if value.is_constant() { MOST_CONSTANTS } else { MOST_TERMS };
                match next.iter().position(|(_, earlier)| *earlier == value) {
                    Some(index) => next[index].0 = store.or2(next[index].0, when),
                    None if next.len() < most || sum.len() == 1 => next.push((when, value)),
                    None => return None,
                }
            }
        }
        Some(next)
    }
}
