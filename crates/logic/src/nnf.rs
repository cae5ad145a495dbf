//! Negation normal form: negations on atoms only.
//!
//! The traversal visits pairs of a formula and a polarity, each once, with its stack on the heap:
//!
//! ```text
//! +  and fs            and (+ fs)                     -  and fs            or (- fs)
//! +  a = b             (-a or +b) and (+a or -b)      -  a = b             (+a or +b) and (-a or -b)
//! +  ite c a b         (-c or +a) and (+c or +b)      -  ite c a b         (-c or -a) and (+c or -b)
//! +  forall x f        forall x (+f)                  -  forall x f        exists x (-f)
//! ```
//!
//! and dually. Every other `Bool` term is an atom and stays unchanged; formulas inside atoms, such as the condition of
//! an `ite` between numbers, are not touched.
//!
//! An equivalence or `ite` needs both polarities of its parts. So the result has at most twice as many different
//! subformulas as the given formula has connectives, plus three for each expansion of an equivalence or `ite`. It is
//! small as a graph; as a tree it can grow exponentially with the nesting of equivalences.

use rustc_hash::FxHashMap;

use crate::op::Op;
use crate::sort::Sort;
use crate::term::{Term, TermStore};

/// A formula, and whether its negation is wanted.
type Signed = (Term, bool);

impl TermStore {
    /// The negation normal form of a normal formula. The result is normal, and consists of `And`, `Or`,
    /// quantifiers, atoms and negated atoms.
    pub fn nnf(&self, formula: Term) -> Term {
        let mut done: FxHashMap<Signed, Term> = FxHashMap::default();
        let mut stack: Vec<Signed> = vec![(formula, false)];
        while let Some(&signed) = stack.last() {
            if done.contains_key(&signed) {
                stack.pop();
                continue;
            }
            let before = stack.len();
            self.needed(signed, |part| {
                if !done.contains_key(&part) {
                    stack.push(part);
                }
            });
            if stack.len() == before {
                let result = self.nnf_step(signed, &done);
                done.insert(signed, result);
                stack.pop();
            }
        }
        done[&(formula, false)]
    }

    /// Calls `visit` with the parts that the negation normal form needs.
    fn needed(&self, (formula, negated): Signed, mut visit: impl FnMut(Signed)) {
        match self.view(formula) {
            (Op::Not, &[inner]) => visit((inner, !negated)),
            (Op::And | Op::Or, args) => args.iter().for_each(|&arg| visit((arg, negated))),
            (Op::Eq, &[a, b]) if self.sort_of(a) == Sort::BOOL => {
                [(a, false), (a, true), (b, false), (b, true)].into_iter().for_each(visit);
            }
            (Op::Ite, &[c, a, b]) => {
                [(c, false), (c, true), (a, negated), (b, negated)].into_iter().for_each(visit);
            }
            (Op::Forall | Op::Exists, [.., body]) => visit((*body, negated)),
            _ => {}
        }
    }

    /// The negation normal form, given that of the parts.
    fn nnf_step(&self, (formula, negated): Signed, done: &FxHashMap<Signed, Term>) -> Term {
        let of = |part: Term, negated: bool| done[&(part, negated)];
        let (op, args) = self.view(formula);
        match (op, args) {
            (Op::Not, &[inner]) => of(inner, !negated),
            (Op::And | Op::Or, _) => {
                let parts = args.iter().map(|&arg| of(arg, negated));
                if (op == Op::And) != negated { self.and_of(parts) } else { self.or_of(parts) }
            }
            (Op::Eq, &[a, b]) if self.sort_of(a) == Sort::BOOL => {
                self.and2(self.or2(of(a, true), of(b, negated)), self.or2(of(a, false), of(b, !negated)))
            }
            (Op::Ite, &[c, a, b]) => {
                self.and2(self.or2(of(c, true), of(a, negated)), self.or2(of(c, false), of(b, negated)))
            }
            (Op::Forall | Op::Exists, [variables @ .., body]) => {
                let body = of(*body, negated);
                if (op == Op::Forall) != negated {
                    self.forall(variables, body)
                } else {
                    self.exists(variables, body)
                }
            }
            _ if negated => self.not(formula),
            _ => formula,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negations_end_up_on_atoms() {
        let store = TermStore::new();
        let [a, b, c] = ["a", "b", "c"].map(|name| store.var(store.symbol(name), Sort::BOOL));
        let [na, nb, nc] = [a, b, c].map(|atom| store.not(atom));
        let formula = store.not(store.and2(a, store.or2(nb, c)));
        assert_eq!(store.nnf(formula), store.or2(na, store.and2(b, nc)));
        let same = store.iff(a, b);
        assert_eq!(store.nnf(same), store.and2(store.or2(na, b), store.or2(a, nb)));
        assert_eq!(store.nnf(store.not(same)), store.and2(store.or2(a, b), store.or2(na, nb)));
        let choice = store.ite(a, b, c);
        assert_eq!(store.nnf(choice), store.and2(store.or2(na, b), store.or2(a, c)));
        assert_eq!(store.nnf(store.not(choice)), store.and2(store.or2(na, nb), store.or2(a, nc)));
    }

    #[test]
    fn negated_quantifiers_change() {
        let store = TermStore::new();
        let [x, y] = ["x", "y"].map(|name| store.var(store.symbol(name), Sort::INT));
        let atom = store.le(x, y);
        let formula = store.not(store.forall(&[x], store.exists(&[y], atom)));
        assert_eq!(store.nnf(formula), store.exists(&[x], store.forall(&[y], store.not(atom))));
    }
}
