//! Traverses terms as graphs.
//!
//! Terms share subterms, so visiting all paths can take exponentially longer than the size of the term. Terms can be
//! millions of levels deep, so recursion can exhaust the stack. Everything here visits each subterm once, with its
//! stack on the heap.

use rustc_hash::FxHashSet;

use crate::term::{Term, TermStore};

impl TermStore {
    /// The subterms of `roots`, including themselves, each once and after its arguments.
    pub fn subterms(&self, roots: &[Term]) -> Vec<Term> {
        self.subterms_until(roots, |_| false)
    }

    /// As [`subterms`](Self::subterms), without entering terms for which `stop` holds.
    pub fn subterms_until(&self, roots: &[Term], mut stop: impl FnMut(Term) -> bool) -> Vec<Term> {
        let mut seen: FxHashSet<Term> = FxHashSet::default();
        let mut found: Vec<Term> = Vec::new();
        let mut open: Vec<Term> = roots.to_vec();
        while let Some(term) = open.pop() {
            if seen.insert(term) {
                found.push(term);
                if !stop(term) {
                    open.extend_from_slice(self.args(term));
                }
            }
        }
        // Arguments have smaller indices than the terms that contain them (invariant I3 of the store).
        found.sort_unstable();
        found
    }
}

/// Traverses many terms of one store. A table over all terms records the visited ones, which pays off if the traversals
/// together cover a good part of the store.
pub struct Walker<'a> {
    store: &'a TermStore,
    /// The round in which each term was last visited; zero for never.
    rounds: Vec<u32>,
    round: u32,
    open: Vec<Term>,
}

impl<'a> Walker<'a> {
    /// A walker that has visited nothing.
    pub fn new(store: &'a TermStore) -> Self {
        Walker { store, rounds: vec![0; store.len()], round: 1, open: Vec::new() }
    }

    /// Visits the subterms of the roots, including themselves, except those visited since the last
    /// [`reset`](Self::reset); in no particular order.
    pub fn visit(&mut self, roots: impl IntoIterator<Item = Term>, mut visitor: impl FnMut(Term)) {
        self.open.extend(roots);
        while let Some(term) = self.open.pop() {
            if term.index() >= self.rounds.len() {
                self.rounds.resize(self.store.len().max(term.index() + 1), 0);
            }
            if self.rounds[term.index()] != self.round {
                self.rounds[term.index()] = self.round;
                visitor(term);
                self.open.extend_from_slice(self.store.args(term));
            }
        }
    }

    /// Forgets what was visited.
    pub fn reset(&mut self) {
        match self.round.checked_add(1) {
            Some(next) => self.round = next,
            None => {
                self.rounds.fill(0);
                self.round = 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Walker;
    use crate::{Op, Sort, Term, TermStore};

    #[test]
    fn a_walker_visits_once_until_it_is_reset() {
        let store = TermStore::new();
        let p = store.var(store.symbol("p"), Sort::BOOL);
        let mut walker = Walker::new(&store);
        let later = store.app(Op::Not, &[p]).unwrap();
        let count = |walker: &mut Walker<'_>, roots: &[Term]| {
            let mut visited = 0;
            walker.visit(roots.iter().copied(), |_| visited += 1);
            visited
        };
        assert_eq!(count(&mut walker, &[later, p, later]), 2);
        assert_eq!(count(&mut walker, &[p, Term::TRUE]), 1);
        walker.reset();
        assert_eq!(count(&mut walker, &[later]), 2);
    }

    #[test]
    fn shared_subterms_are_visited_once_and_bottom_up() {
        let store = TermStore::new();
        let mut term = store.var(store.symbol("p"), Sort::BOOL);
        for _ in 0..100_000 {
            term = store.app(Op::And, &[term, term]).unwrap();
        }
        let subterms = store.subterms(&[term]);
        assert_eq!(subterms.len(), 100_001);
        assert!(subterms.is_sorted());
        assert_eq!(subterms.last(), Some(&term));
    }

    #[test]
    fn nothing_below_a_stop() {
        let store = TermStore::new();
        let p = store.var(store.symbol("p"), Sort::BOOL);
        let not_p = store.app(Op::Not, &[p]).unwrap();
        let both = store.app(Op::And, &[not_p, Term::TRUE]).unwrap();
        assert_eq!(store.subterms_until(&[both], |t| t == not_p), [Term::TRUE, not_p, both]);
    }
}
