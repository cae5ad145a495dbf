//! Polynomials over terms, with products of variables.
//!
//! A [`Polynomial`] is a sum of multiples of monomials, and a monomial is a product of terms that are no sums, products or
//! numbers. So two arithmetic terms are equal for all values of these terms if and only if their polynomials are the same
//! value. [`LinearPoly`](crate::LinearPoly) takes a product of several terms for one opaque monomial instead.
//!
//! Invariants:
//! - P1: the factors of a monomial are in ascending order, with repetitions; the monomial of constants has none.
//! - P2: no coefficient is zero.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::number::Rational;
use crate::op::Op;
use crate::sort::Sort;
use crate::term::{Term, TermStore};

/// The factors of a product, in ascending order.
pub type Monomial = Vec<Term>;

/// The greatest number of monomials of a polynomial that is read or multiplied.
const MOST_MONOMIALS: usize = 400;

/// The greatest degree of a monomial.
const MOST_FACTORS: usize = 16;

/// A sum of multiples of monomials.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Polynomial {
    monomials: BTreeMap<Monomial, Rational>,
}

impl Polynomial {
    /// A number.
    pub fn constant(value: Rational) -> Self {
        let mut polynomial = Polynomial::default();
        polynomial
            .add_scaled(&Polynomial { monomials: BTreeMap::from([(Vec::new(), Rational::ONE)]) }, &value);
        polynomial
    }

    /// A product of terms, in any order.
    pub fn monomial(mut factors: Monomial) -> Self {
        factors.sort_unstable();
        Polynomial { monomials: BTreeMap::from([(factors, Rational::ONE)]) }
    }

    /// The polynomial of an `Int` or `Real` term, where `known` terms stand for monomials; `None` if it is too long.
    pub fn from_term(
        store: &TermStore,
        term: Term,
        known: impl Fn(Term) -> Option<Monomial>,
    ) -> Option<Self> {
        let is_sum = |term: Term| matches!(store.op(term), Op::Add | Op::Sub | Op::Neg | Op::Mul);
        let mut of_term: FxHashMap<Term, Polynomial> = FxHashMap::default();
        let mut subterms = store.subterms_until(&[term], |term| !is_sum(term));
        // The arguments of a term have smaller indices.
        subterms.sort_unstable();
        for subterm in subterms {
            let polynomial = match store.view(subterm) {
                (Op::Numeral(value), _) => Polynomial::constant(store.rational(value).clone()),
                (Op::Add, args) => {
                    let mut sum = Polynomial::default();
                    args.iter().for_each(|arg| sum.add_scaled(&of_term[arg], &Rational::ONE));
                    sum
                }
                (Op::Sub, [first, others @ ..]) => {
                    let mut sum = of_term[first].clone();
                    others.iter().for_each(|arg| sum.add_scaled(&of_term[arg], &-Rational::ONE));
                    sum
                }
                (Op::Neg, [arg]) => {
                    let mut sum = Polynomial::default();
                    sum.add_scaled(&of_term[arg], &-Rational::ONE);
                    sum
                }
                (Op::Mul, args) => {
                    let mut product = Polynomial::constant(Rational::ONE);
                    for arg in args {
                        product = product.times(&of_term[arg])?;
                    }
                    product
                }
                _ => Polynomial::monomial(known(subterm).unwrap_or_else(|| vec![subterm])),
            };
            if polynomial.monomials.len() > MOST_MONOMIALS {
                return None;
            }
            of_term.insert(subterm, polynomial);
        }
        of_term.remove(&term)
    }

    /// The monomials with their coefficients, in ascending order.
    pub fn monomials(&self) -> impl Iterator<Item = (&[Term], &Rational)> {
        self.monomials.iter().map(|(monomial, coefficient)| (&monomial[..], coefficient))
    }

    /// The coefficient of a monomial.
    pub fn coefficient(&self, monomial: &[Term]) -> Rational {
        self.monomials.get(monomial).cloned().unwrap_or(Rational::ZERO)
    }

    /// Whether a term is a factor of a monomial.
    pub fn mentions(&self, factor: Term) -> bool {
        self.monomials.keys().any(|monomial| monomial.contains(&factor))
    }

    /// Adds a multiple of a polynomial.
    pub fn add_scaled(&mut self, other: &Polynomial, factor: &Rational) {
        for (monomial, coefficient) in &other.monomials {
            let sum = self.monomials.entry(monomial.clone()).or_insert(Rational::ZERO);
            *sum += coefficient * factor;
            if sum.is_zero() {
                self.monomials.remove(monomial);
            }
        }
    }

    /// The product; `None` if it is too long.
    pub fn times(&self, other: &Polynomial) -> Option<Polynomial> {
        let mut product = Polynomial::default();
        for (monomial, coefficient) in &self.monomials {
            for (others, factor) in &other.monomials {
                let mut factors = [&monomial[..], &others[..]].concat();
                factors.sort_unstable();
                if factors.len() > MOST_FACTORS {
                    return None;
                }
                let summand = Polynomial { monomials: BTreeMap::from([(factors, Rational::ONE)]) };
                product.add_scaled(&summand, &(coefficient * factor));
            }
            if product.monomials.len() > MOST_MONOMIALS {
                return None;
            }
        }
        Some(product)
    }

    /// The polynomial with a factor replaced by a polynomial; `None` if it is too long.
    pub fn replaced(&self, factor: Term, replacement: &Polynomial) -> Option<Polynomial> {
        if !self.mentions(factor) {
            return Some(self.clone());
        }
        let mut result = Polynomial::default();
        for (monomial, coefficient) in &self.monomials {
            let (replaced, others): (Vec<Term>, Vec<Term>) =
                monomial.iter().partition(|&&other| other == factor);
            let mut product = Polynomial::monomial(others);
            for _ in replaced {
                product = product.times(replacement)?;
            }
            result.add_scaled(&product, coefficient);
            if result.monomials.len() > MOST_MONOMIALS {
                return None;
            }
        }
        Some(result)
    }

    /// The term of the polynomial, whose coefficients fit the sort. `name` gives the terms of products of several factors.
    ///
    /// # Panics
    /// If the sort is `Int` and a coefficient is not an integer.
    pub fn to_term(&self, store: &TermStore, sort: Sort, mut name: impl FnMut(&[Term]) -> Term) -> Term {
        let mut summands = vec![store.number(&Rational::ZERO, sort)];
        for (monomial, coefficient) in &self.monomials {
            summands.push(match monomial[..] {
                [] => store.number(coefficient, sort),
                [factor] => store.mul_const(coefficient, factor),
                _ => store.mul_const(coefficient, name(monomial)),
            });
        }
        store.add(&summands)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_polynomials_are_equal_values() {
        let store = TermStore::new();
        let [x, y, z] = ["x", "y", "z"].map(|name| store.var(store.symbol(name), Sort::INT));
        let app = |op, args: &[Term]| store.app(op, args).unwrap();
        let read = |term| Polynomial::from_term(&store, term, |_| None).unwrap();
        let one = store.int(1);
        let square = app(Op::Mul, &[app(Op::Add, &[x, one]), app(Op::Add, &[x, one])]);
        let expanded = app(
            Op::Add,
            &[app(Op::Mul, &[x, x]), app(Op::Mul, &[store.int(2), x]), app(Op::Neg, &[app(Op::Neg, &[one])])],
        );
        assert_eq!(read(square), read(expanded));
        assert_eq!(read(app(Op::Sub, &[square, expanded])), Polynomial::default());
        assert_ne!(read(app(Op::Mul, &[x, y])), read(app(Op::Mul, &[x, z])));
        let distributed = app(Op::Add, &[app(Op::Mul, &[x, y]), app(Op::Mul, &[z, x])]);
        assert_eq!(read(app(Op::Mul, &[x, app(Op::Add, &[y, z])])), read(distributed));
        // A name for x * y, and y replaced by z + 1.
        let named =
            Polynomial::from_term(&store, app(Op::Mul, &[y, z]), |term| (term == z).then(|| vec![x, y]));
        assert_eq!(named.unwrap().coefficient(&[x, y, y]), Rational::ONE);
        let replaced = read(app(Op::Mul, &[x, y])).replaced(y, &read(app(Op::Add, &[z, one]))).unwrap();
        assert_eq!(replaced, read(app(Op::Add, &[app(Op::Mul, &[x, z]), x])));
        assert_eq!(
            replaced.to_term(&store, Sort::INT, |factors| store.mul(factors)),
            store.add(&[store.mul(&[x, z]), x])
        );
    }

    #[test]
    fn polynomials_that_are_too_long_are_not_computed() {
        let store = TermStore::new();
        let mut term = store.var(store.symbol("x"), Sort::INT);
        for _ in 0..60 {
            let next = store.app(Op::Add, &[term, store.int(1)]).unwrap();
            term = store.app(Op::Mul, &[next, next]).unwrap();
        }
        assert_eq!(Polynomial::from_term(&store, term, |_| None), None);
    }
}
