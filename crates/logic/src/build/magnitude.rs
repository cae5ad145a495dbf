//! Bounds the size of numbers.
//!
//! Sixty nested squares of a numeral fit into two lines, and their value into no computer. Normalising and evaluating
//! compute such values, so check the magnitude of untrusted terms first.

use rustc_hash::FxHashMap;

use crate::op::Op;
use crate::term::{Term, TermStore};

impl TermStore {
    /// A bound on the bits of all coefficients and constants in the normal forms of the term and its parts and, if
    /// variables have small values, of their values. Sums add a bit for each doubling of the number of summands,
    /// products add up the bits of the factors. Common denominators are ignored: they have at most as many bits as all
    /// numerals together. So are bit-vectors, whose width is bounded.
    pub fn magnitude(&self, term: Term) -> u64 {
        let mut bits: FxHashMap<Term, u64> = FxHashMap::default();
        let mut largest = 1;
        for term in self.subterms(&[term]) {
            let (op, args) = self.view(term);
            let of_args = || args.iter().map(|arg| bits.get(arg).copied().unwrap_or(1));
            let own = match op {
                Op::Numeral(id) => {
                    let value = self.rational(id);
                    (value.numer().bit_len() + value.denom().bit_len()) as u64
                }
                Op::Mul | Op::RealDiv => of_args().fold(0, u64::saturating_add),
                Op::Add | Op::Sub => {
                    let summands = u64::from(usize::BITS - args.len().leading_zeros());
                    of_args().max().unwrap_or(1).saturating_add(summands)
                }
                _ => of_args().max().unwrap_or(1),
            };
            largest = largest.max(own);
            if own > 1 {
                bits.insert(term, own);
            }
        }
        largest
    }
}

#[cfg(test)]
mod tests {
    use crate::{Op, Sort, TermStore};

    #[test]
    fn squares_grow_and_sums_hardly_do() {
        let store = TermStore::new();
        let mut square = store.int(1000);
        let mut sum = store.var(store.symbol("x"), Sort::INT);
        for _ in 0..60 {
            square = store.app(Op::Mul, &[square, square]).unwrap();
            sum = store.app(Op::Add, &[sum, sum]).unwrap();
        }
        assert!(store.magnitude(square) > 1 << 60);
        assert!(store.magnitude(sum) < 200);
    }

    #[test]
    fn it_bounds_the_numbers_of_the_normal_form() {
        let store = TermStore::new();
        let x = store.var(store.symbol("x"), Sort::INT);
        let mut term = x;
        for i in 1..20 {
            let product = store.app(Op::Mul, &[store.int(i * 37), term]).unwrap();
            term = store.app(Op::Sub, &[product, x, store.int(i)]).unwrap();
            let normal = store.normalize(term);
            let subterms = store.subterms(&[normal]);
            let bits = subterms.iter().filter_map(|&t| store.numeral(t)).map(|n| n.numer().bit_len());
            assert!(bits.max().unwrap() as u64 <= store.magnitude(term));
        }
    }
}
