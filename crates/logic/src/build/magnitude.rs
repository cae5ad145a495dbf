//! Bounds the size of numbers.
//!
//! Sixty nested squares of a numeral fit into two lines, and their value into no computer. Normalising and evaluating
//! compute such values, so check the magnitude of untrusted terms first.

use crate::op::Op;
use crate::term::{Term, TermStore};

/// The magnitudes of terms of one store. They are remembered, so that each term is looked at once.
#[derive(Default)]
pub struct Magnitudes {
    /// By terms; zero for those that are not known.
    bits: Vec<u64>,
}

impl Magnitudes {
    /// A bound on the bits of all coefficients and constants in the normal forms of the term and its parts and, if
    /// variables have small values, of their values. Sums add a bit for each doubling of the number of summands,
    /// products add up the bits of the factors. Common denominators are ignored: they have at most as many bits as all
    /// numerals together. So are bit-vectors, whose width is bounded.
    ///
    /// No part of a term has a greater magnitude than the term.
    pub fn of(&mut self, store: &TermStore, term: Term) -> u64 {
        if self.bits.len() < store.len() {
            self.bits.resize(store.len(), 0);
        }
        let mut open = vec![term];
        while let Some(&term) = open.last() {
            let (op, args) = store.view(term);
            let before = open.len();
            if self.bits[term.index()] == 0 {
                open.extend(args.iter().filter(|arg| self.bits[arg.index()] == 0));
            }
            if open.len() == before {
                self.bits[term.index()] = self.of_application(store, op, args);
                open.pop();
            }
        }
        self.bits[term.index()]
    }

    /// The magnitude of a term whose arguments are known.
    fn of_application(&self, store: &TermStore, op: Op, args: &[Term]) -> u64 {
        let of_args = || args.iter().map(|arg| self.bits[arg.index()]);
        match op {
            Op::Numeral(id) => {
                let value = store.rational(id);
                (value.numer().bit_len() + value.denom().bit_len()) as u64
            }
            Op::Mul | Op::RealDiv => of_args().fold(0, u64::saturating_add),
            Op::Add | Op::Sub => {
                let summands = u64::from(usize::BITS - args.len().leading_zeros());
                of_args().max().unwrap_or(1).saturating_add(summands)
            }
            _ => of_args().max().unwrap_or(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Magnitudes;
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
        let mut magnitudes = Magnitudes::default();
        assert!(magnitudes.of(&store, square) > 1 << 60);
        assert!(magnitudes.of(&store, sum) < 200);
    }

    #[test]
    fn it_bounds_the_numbers_of_the_normal_form() {
        let store = TermStore::new();
        let x = store.var(store.symbol("x"), Sort::INT);
        let mut term = x;
        let mut magnitudes = Magnitudes::default();
        for i in 1..20 {
            let product = store.app(Op::Mul, &[store.int(i * 37), term]).unwrap();
            term = store.app(Op::Sub, &[product, x, store.int(i)]).unwrap();
            let normal = store.normalize(term);
            let subterms = store.subterms(&[normal]);
            let bits = subterms.iter().filter_map(|&t| store.numeral(t)).map(|n| n.numer().bit_len());
            let magnitude = magnitudes.of(&store, term);
            assert!(bits.max().unwrap() as u64 <= magnitude);
            assert_eq!(magnitude, Magnitudes::default().of(&store, term), "what is remembered is the same");
        }
    }
}
