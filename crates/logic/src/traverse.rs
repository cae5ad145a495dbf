//! Walking terms as the graphs they are.
//!
//! Terms share subterms, so a walk along all paths can take exponentially longer than the term is large, and
//! terms can be millions of levels deep, so a recursive walk can exhaust the stack. Everything here visits each
//! subterm once, with the memory on the heap.

use rustc_hash::FxHashSet;

use crate::term::{Term, TermStore};

impl TermStore {
    /// The subterms of `roots`, themselves included, each once and after its arguments.
    pub fn subterms(&self, roots: &[Term]) -> Vec<Term> {
        self.subterms_until(roots, |_| false)
    }

    /// As [`subterms`](Self::subterms), without looking below the terms for which `stop` holds.
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
        // Arguments have smaller indices than the terms they stand in (invariant I3 of the store).
        found.sort_unstable();
        found
    }
}

#[cfg(test)]
mod tests {
    use crate::{Op, Sort, Term, TermStore};

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
