//! Linear polynomials over terms.
//!
//! A [`LinearPoly`] is `c1*t1 + ... + cn*tn + c` with rational coefficients, where each `ti` is a *monomial*: a term
//! other than a sum, a multiple or a number. The builders of arithmetic compute with polynomials, and theory solvers
//! read them from atoms.
//!
//! Invariants:
//! - L1: the monomials are in strictly ascending order.
//! - L2: no coefficient is zero.
//!
//! So equal polynomials are equal values, and the *leading* monomial, the first one, is well defined.
//!
//! Reading a polynomial off a term must not walk the term as a tree: the chain `b = a + a`, `c = b + b`, ... has as
//! many paths as its result has units. Coefficients are therefore collected per subterm, and a subterm passes its
//! coefficient down only when all terms above it have done so. As arguments have smaller indices than the terms that
//! contain them (invariant I3 of the store), that is when it is the largest one [`Pending`].

use std::collections::BTreeMap;
use std::ops::{Add, AddAssign, Mul, Neg, Sub};

use smallvec::SmallVec;

use crate::number::{Integer, Rational};
use crate::op::Op;
use crate::sort::Sort;
use crate::term::{Term, TermStore};

/// A linear polynomial: a constant plus a sum of multiples of monomials, each once, in ascending order and with a
/// coefficient other than zero.
///
/// Monomials are terms, or any other ordered type.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct LinearPoly<M = Term> {
    terms: Summands<M>,
    constant: Rational,
}

/// Most polynomials are short: differences, and sums of three.
type Summands<M> = SmallVec<[(M, Rational); 3]>;

impl<M> Default for LinearPoly<M> {
    fn default() -> Self {
        LinearPoly { terms: SmallVec::new(), constant: Rational::ZERO }
    }
}

impl LinearPoly {
    /// The polynomial of an `Int` or `Real` term.
    ///
    /// Reads all linear structure, also of a term as written. An `Int` monomial of a `Real` term appears under its
    /// [`Op::ToReal`].
    pub fn from_term(store: &TermStore, term: Term) -> Self {
        if let Some(poly) = Self::read_flat(store, term) {
            return poly;
        }
        let (mut terms, constant) = linear_leaves(store, term, |_| false);
        if store.sort_of(term) == Sort::REAL {
            for (leaf, _) in &mut terms {
                if store.sort_of(*leaf) == Sort::INT {
                    *leaf = store.app(Op::ToReal, &[*leaf]).expect("an Int term can be a Real one");
                }
            }
        }
        LinearPoly::from_pairs(terms, constant)
    }

    /// The polynomial of a term in canonical form, without [`Pending`].
    fn read_flat(store: &TermStore, term: Term) -> Option<Self> {
        let mut poly = LinearPoly::default();
        let summands = match store.view(term) {
            (Op::Add, summands) => summands,
            _ => std::slice::from_ref(&term),
        };
        poly.terms.reserve(summands.len());
        for &summand in summands {
            if let Some(value) = store.numeral(summand) {
                poly.constant += value;
                continue;
            }
            let (monomial, coefficient) = match store.view(summand) {
                (Op::Mul, &[factor, monomial]) => match store.numeral(factor) {
                    Some(value) => (monomial, value.clone()),
                    None => (summand, Rational::ONE),
                },
                _ => (summand, Rational::ONE),
            };
            poly.terms.push((is_monomial(store, monomial).then_some(monomial)?, coefficient));
        }
        Some(LinearPoly::from_summands(poly.terms, poly.constant))
    }

    /// The canonical term of this polynomial, whose monomials must have the given sort.
    ///
    /// It is the sum of `(* c t)`, or of `t` if the coefficient is one, in the order of the monomials, with the
    /// constant at the end unless it is zero; a sum of one summand is the summand.
    pub fn to_term(&self, store: &TermStore, sort: Sort) -> Term {
        let multiple = |(monomial, coefficient): &(Term, Rational)| {
            if coefficient.is_one() {
                return *monomial;
            }
            let factor = store.number(coefficient, sort);
            store.app(Op::Mul, &[factor, *monomial]).expect("monomials have the sort of the polynomial")
        };
        match (&self.terms[..], self.constant.is_zero()) {
            ([], _) => store.number(&self.constant, sort),
            ([one], true) => multiple(one),
            _ => {
                let mut summands: SmallVec<[Term; 4]> = self.terms.iter().map(multiple).collect();
                if !self.constant.is_zero() {
                    summands.push(store.number(&self.constant, sort));
                }
                store.app(Op::Add, &summands).expect("monomials have the sort of the polynomial")
            }
        }
    }
}

impl<M: Copy + Ord> LinearPoly<M> {
    /// The polynomial without monomials.
    pub fn from_constant(constant: Rational) -> Self {
        LinearPoly { terms: SmallVec::new(), constant }
    }

    /// The sum of multiples of monomials, in any order and with repetitions, and of a constant.
    pub fn from_pairs(pairs: Vec<(M, Rational)>, constant: Rational) -> Self {
        Self::from_summands(pairs.into(), constant)
    }

    fn from_summands(mut pairs: Summands<M>, constant: Rational) -> Self {
        if !pairs.is_sorted_by(|a, b| a.0 < b.0) {
            pairs.sort_unstable_by_key(|pair| pair.0);
            pairs.dedup_by(|next, kept| {
                let same = next.0 == kept.0;
                if same {
                    kept.1 += &next.1;
                }
                same
            });
        }
        pairs.retain(|(_, coefficient)| !coefficient.is_zero());
        LinearPoly { terms: pairs, constant }
    }

    /// The monomials in ascending order, with their coefficients.
    pub fn terms(&self) -> &[(M, Rational)] {
        &self.terms
    }

    /// The constant.
    pub fn constant(&self) -> &Rational {
        &self.constant
    }

    /// The coefficient of a monomial; zero if it does not occur.
    pub fn coefficient(&self, monomial: M) -> Rational {
        let position = self.terms.binary_search_by_key(&monomial, |(term, _)| *term);
        position.map_or(Rational::ZERO, |position| self.terms[position].1.clone())
    }

    /// The coefficient of a monomial, zero if it does not occur, and the polynomial without it.
    pub fn split(&self, monomial: M) -> (Rational, Self) {
        let mut rest = self.clone();
        let coefficient = match self.terms.binary_search_by_key(&monomial, |(term, _)| *term) {
            Ok(position) => rest.terms.remove(position).1,
            Err(_) => Rational::ZERO,
        };
        (coefficient, rest)
    }

    /// The solution for a monomial of the equation of the polynomial with zero, if the monomial occurs.
    pub fn solved_for(&self, monomial: M) -> Option<Self> {
        let (coefficient, mut value) = self.split(monomial);
        if coefficient.is_zero() {
            return None;
        }
        value.scale(&-coefficient.recip());
        Some(value)
    }

    /// Adds the multiple of another polynomial that eliminates a monomial of it. Where the other polynomial is zero,
    /// this changes no value.
    pub fn cancel(&mut self, monomial: M, by: &Self) {
        let coefficient = self.coefficient(monomial);
        if !coefficient.is_zero() {
            self.add_scaled(by, &-(coefficient / &by.coefficient(monomial)));
        }
    }

    /// Whether there are no monomials.
    pub fn is_constant(&self) -> bool {
        self.terms.is_empty()
    }

    /// The single monomial, if the polynomial is one with coefficient one plus the constant.
    pub fn as_monomial(&self) -> Option<M> {
        match &self.terms[..] {
            [(monomial, coefficient)] if coefficient.is_one() => Some(*monomial),
            _ => None,
        }
    }

    /// The polynomial without its constant.
    pub fn without_constant(mut self) -> Self {
        self.constant = Rational::ZERO;
        self
    }

    /// Multiplies by a number.
    pub fn scale(&mut self, factor: &Rational) {
        if factor.is_zero() {
            *self = Self::default();
            return;
        }
        if !factor.is_one() {
            self.terms.iter_mut().for_each(|(_, coefficient)| *coefficient *= factor);
            self.constant *= factor;
        }
    }

    /// Adds a number.
    pub fn add_constant(&mut self, number: &Rational) {
        self.constant += number;
    }

    /// Adds a multiple of another polynomial.
    pub fn add_scaled(&mut self, other: &Self, factor: &Rational) {
        self.constant.add_mul(&other.constant, factor);
        if other.terms.is_empty() || factor.is_zero() {
            return;
        }
        let mine = std::mem::take(&mut self.terms);
        self.terms.reserve(mine.len() + other.terms.len());
        let mut mine = mine.into_iter().peekable();
        let mut theirs = other.terms.iter().peekable();
        loop {
            match (mine.peek(), theirs.peek()) {
                (Some((a, _)), Some((b, _))) if a == b => {
                    let ((term, mut coefficient), (_, addend)) =
                        mine.next().zip(theirs.next()).expect("both were seen");
                    coefficient.add_mul(addend, factor);
                    if !coefficient.is_zero() {
                        self.terms.push((term, coefficient));
                    }
                }
                (Some((a, _)), theirs) if theirs.is_none_or(|(b, _)| a < b) => self.terms.extend(mine.next()),
                (_, Some(_)) => {
                    self.terms.extend(theirs.next().map(|(term, addend)| (*term, addend * factor)));
                }
                _ => return,
            }
        }
    }

    /// The value for given values of the monomials; `None` as soon as one has none.
    pub fn eval(&self, mut value: impl FnMut(M) -> Option<Rational>) -> Option<Rational> {
        let mut sum = self.constant.clone();
        for (term, coefficient) in &self.terms {
            sum.add_mul(coefficient, &value(*term)?);
        }
        Some(sum)
    }

    /// The greatest common divisor of the coefficients, without the constant: the greatest rational of which all are
    /// integer multiples. Zero if there are no monomials.
    pub fn content(&self) -> Rational {
        let mut content = Rational::ZERO;
        for (_, coefficient) in &self.terms {
            content = content.gcd(coefficient);
        }
        content
    }

    /// A primitive polynomial `q` and a number `f` with `f * q` the given polynomial: the coefficients of `q` are
    /// coprime integers, the leading one positive. (The constant of `q` may be any number.) A constant stays unchanged,
    /// with `f` one.
    pub fn primitive(self) -> (Self, Rational) {
        let content = self.content();
        self.divided_by(content)
    }

    /// As [`primitive`](Self::primitive), but the constant of `q` is an integer as well: no integer divides all
    /// coefficients and the constant.
    pub fn factored(self) -> (Self, Rational) {
        let content = self.content().gcd(&self.constant);
        self.divided_by(content)
    }

    /// The polynomial divided by a positive number, or by its negative if the leading coefficient is negative.
    fn divided_by(mut self, mut number: Rational) -> (Self, Rational) {
        let Some((_, leading)) = self.terms.first() else {
            return (self, Rational::ONE);
        };
        if leading.is_negative() {
            number = -number;
        }
        if !number.is_one() {
            self.scale(&number.recip());
        }
        (self, number)
    }
}

impl<M: Copy + Ord> Add<&LinearPoly<M>> for LinearPoly<M> {
    type Output = Self;

    fn add(mut self, other: &Self) -> Self {
        self.add_scaled(other, &Rational::ONE);
        self
    }
}

impl<M: Copy + Ord> Sub<&LinearPoly<M>> for LinearPoly<M> {
    type Output = Self;

    fn sub(mut self, other: &Self) -> Self {
        self.add_scaled(other, &-Rational::ONE);
        self
    }
}

impl<M: Copy + Ord> Neg for LinearPoly<M> {
    type Output = Self;

    fn neg(self) -> Self {
        self * &-Rational::ONE
    }
}

impl<M: Copy + Ord> Mul<&Rational> for LinearPoly<M> {
    type Output = Self;

    fn mul(mut self, factor: &Rational) -> Self {
        self.scale(factor);
        self
    }
}

/// Whether the term has no linear structure.
fn is_monomial(store: &TermStore, term: Term) -> bool {
    match store.view(term) {
        (Op::Numeral(_), _) => false,
        (Op::ToReal, &[int]) => store.numeral(int).is_none() && !is_linear(store, int),
        _ => !is_linear(store, term),
    }
}

/// The linear structure of a term as written: the subterms of which it is a linear combination, in descending order and
/// with nonzero coefficients, and the constant. Those below an [`Op::ToReal`] are of sort `Int`. Does not enter terms
/// for which `stop` holds.
pub(crate) fn linear_leaves(
    store: &TermStore,
    term: Term,
    stop: impl Fn(Term) -> bool,
) -> (Vec<(Term, Rational)>, Rational) {
    let mut leaves = Vec::new();
    let mut constant = Rational::ZERO;
    let mut pending = Pending::new(term, Rational::ONE);
    while let Some((term, coefficient)) = pending.pop() {
        if coefficient.is_zero() {
            continue;
        }
        if stop(term) || !hand_down(store, term, &coefficient, &mut pending, &mut constant) {
            leaves.push((term, coefficient));
        }
    }
    (leaves, constant)
}

/// Whether a term, as written, is a linear combination of its arguments.
pub(crate) fn is_linear(store: &TermStore, term: Term) -> bool {
    match store.view(term) {
        (Op::Add | Op::Sub | Op::Neg | Op::ToReal, _) => true,
        (Op::Mul, factors) => {
            factors.iter().filter(|&&factor| literal(store, factor).is_none()).nth(1).is_none()
        }
        (Op::RealDiv, [_, divisors @ ..]) => {
            divisors.iter().all(|&divisor| literal(store, divisor).is_some_and(|value| !value.is_zero()))
        }
        _ => false,
    }
}

/// Replaces a multiple of a term by multiples of its arguments, if it is linear in them.
fn hand_down(
    store: &TermStore,
    term: Term,
    coefficient: &Rational,
    pending: &mut Pending<Rational>,
    constant: &mut Rational,
) -> bool {
    let (op, args) = store.view(term);
    if let Op::Numeral(value) = op {
        constant.add_mul(coefficient, store.rational(value));
        return true;
    }
    if !is_linear(store, term) {
        return false;
    }
    match (op, args) {
        (Op::Sub, [first, rest @ ..]) => {
            pending.push(*first, coefficient.clone());
            rest.iter().for_each(|&arg| pending.push(arg, -coefficient));
        }
        (Op::Neg, [arg]) => pending.push(*arg, -coefficient),
        (Op::Mul, factors) => {
            let mut product = coefficient.clone();
            let mut variable = None;
            for &factor in factors {
                match literal(store, factor) {
                    Some(value) => product *= value,
                    None => variable = Some(factor),
                }
            }
            match variable {
                Some(factor) => pending.push(factor, product),
                None => *constant += product,
            }
        }
        (Op::RealDiv, [dividend, divisors @ ..]) => {
            let mut quotient = coefficient.clone();
            for divisor in divisors.iter().filter_map(|&divisor| literal(store, divisor)) {
                quotient /= divisor;
            }
            pending.push(*dividend, quotient);
        }
        _ => args.iter().for_each(|&arg| pending.push(arg, coefficient.clone())),
    }
    true
}

/// The number that a term writes: a numeral, the quotient of two, or such under minus signs.
fn literal(store: &TermStore, term: Term) -> Option<Rational> {
    match signed_numeral(store, term) {
        (false, Op::Numeral(value), _) => Some(store.rational(value).clone()),
        (true, Op::Numeral(value), _) => Some(-store.rational(value)),
        (negative, Op::RealDiv, &[dividend, divisor]) => {
            let value = |term| match signed_numeral(store, term) {
                (negative, Op::Numeral(value), _) => {
                    let value = store.rational(value).clone();
                    Some(if negative { -value } else { value })
                }
                _ => None,
            };
            let quotient = value(dividend)?.checked_div(&value(divisor)?)?;
            Some(if negative { -quotient } else { quotient })
        }
        _ => None,
    }
}

/// A term without leading minus signs and casts to `Real`, and whether the number of signs is odd.
fn signed_numeral(store: &TermStore, mut term: Term) -> (bool, Op, &[Term]) {
    let mut negative = false;
    loop {
        match store.view(term) {
            (Op::Neg, &[arg]) => (negative, term) = (!negative, arg),
            (Op::ToReal, &[arg]) => term = arg,
            (op, args) => return (negative, op, args),
        }
    }
}

/// Terms with the coefficients received so far; the term with the largest index comes out first.
pub(crate) struct Pending<C>(BTreeMap<Term, C>);

impl<C: AddAssign> Pending<C> {
    pub(crate) fn new(term: Term, coefficient: C) -> Self {
        Pending(BTreeMap::from([(term, coefficient)]))
    }

    pub(crate) fn push(&mut self, term: Term, coefficient: C) {
        use std::collections::btree_map::Entry;
        match self.0.entry(term) {
            Entry::Occupied(mut sum) => *sum.get_mut() += coefficient,
            Entry::Vacant(place) => {
                place.insert(coefficient);
            }
        }
    }

    pub(crate) fn pop(&mut self) -> Option<(Term, C)> {
        self.0.pop_last()
    }
}

impl<C: AddAssign> FromIterator<(Term, C)> for Pending<C> {
    fn from_iter<I: IntoIterator<Item = (Term, C)>>(pairs: I) -> Self {
        let mut pending = Pending(BTreeMap::new());
        pairs.into_iter().for_each(|(term, coefficient)| pending.push(term, coefficient));
        pending
    }
}

/// An integer coefficient of an `Int` polynomial.
pub(crate) fn integer(coefficient: &Rational) -> Integer {
    coefficient.to_integer().expect("Int terms have integer coefficients")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(num: i64, den: i64) -> Rational {
        Rational::new(Integer::from(num), Integer::from(den))
    }

    fn number(value: i64) -> Rational {
        ratio(value, 1)
    }

    fn vars(store: &TermStore) -> [Term; 3] {
        ["x", "y", "z"].map(|name| store.var(store.symbol(name), Sort::INT))
    }

    #[test]
    fn a_term_as_written_is_read_as_a_polynomial() {
        let store = TermStore::new();
        let [x, y, _] = vars(&store);
        let minus_two = store.app(Op::Neg, &[store.int(2)]).unwrap();
        let inner = store.app(Op::Sub, &[x, y, store.int(3)]).unwrap();
        let product = store.app(Op::Mul, &[minus_two, inner]).unwrap();
        let term = store.app(Op::Add, &[product, y, x]).unwrap();
        let poly = LinearPoly::from_term(&store, term);
        let expected = LinearPoly::from_pairs(vec![(y, number(3)), (x, number(-1))], number(6));
        assert_eq!(poly, expected);
        assert_eq!(LinearPoly::from_term(&store, poly.to_term(&store, Sort::INT)), expected);
    }

    #[test]
    fn integer_monomials_of_real_terms_are_casts() {
        let store = TermStore::new();
        let [x, y, _] = vars(&store);
        let sum = store.app(Op::Add, &[x, y, x]).unwrap();
        let cast = store.app(Op::ToReal, &[sum]).unwrap();
        let term = store.app(Op::Mul, &[store.real(ratio(1, 2)), cast]).unwrap();
        let poly = LinearPoly::from_term(&store, term);
        let x_real = store.app(Op::ToReal, &[x]).unwrap();
        assert_eq!(poly.coefficient(x_real), number(1));
        assert_eq!(poly.terms().len(), 2);
    }

    #[test]
    fn arithmetic_on_polynomials() {
        let store = TermStore::new();
        let [x, y, z] = vars(&store);
        let p = LinearPoly::from_pairs(vec![(x, number(2)), (y, number(1))], number(5));
        let q = LinearPoly::from_pairs(vec![(y, number(-1)), (z, number(4))], number(1));
        let sum = LinearPoly::from_pairs(vec![(x, number(2)), (z, number(4))], number(6));
        assert_eq!(p.clone() + &q, sum);
        assert_eq!(sum.clone() - &q, p);
        assert_eq!(-(-p.clone()), p);
        assert!((p.clone() * &Rational::ZERO).is_constant());
        assert_eq!(p.coefficient(z), Rational::ZERO);
        let value = |term: Term| (term != z).then(|| number(if term == x { 10 } else { 100 }));
        assert_eq!(p.eval(value), Some(number(125)));
        assert_eq!(q.eval(value), None);
    }

    #[test]
    fn primitive_polynomials_have_coprime_integer_coefficients() {
        let store = TermStore::new();
        let [x, y, _] = vars(&store);
        let poly = LinearPoly::from_pairs(vec![(x, ratio(-2, 3)), (y, ratio(4, 5))], ratio(1, 2));
        assert_eq!(poly.content(), ratio(2, 15));
        let (primitive, factor) = poly.clone().primitive();
        assert_eq!(factor, ratio(-2, 15));
        assert_eq!(primitive.terms(), &[(x, number(5)), (y, number(-6))]);
        assert_eq!(primitive * &factor, poly);
        let (factored, factor) = poly.clone().factored();
        assert!(factored.constant().is_integer());
        assert_eq!(factored * &factor, poly);
    }
}
