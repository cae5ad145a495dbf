//! Arithmetic in normal form (N8 to N13 of [`build`](super)).
//!
//! Everything linear goes through [`LinearPoly`]: its canonical term is the normal form of a sum, and an atom is the
//! comparison of a polynomial with zero, in the form `p <= c`. The rules for `div` and `mod` by a positive constant `k`
//! use the Euclidean division `a = k * q + r` with `0 <= r < k`:
//!
//! ```text
//! (k*q + p) div k = q + p div k               (k*q + p) mod k = p mod k
//! (g*p + r) div (g*k) = p div k               (g*p + r) mod (g*k) = g * (p mod k) + r      for 0 <= r < g
//! (c*(q mod m) + p) mod k = (c*q + p) mod k   if k divides c*m
//! (q div m + c) div k = (q + c*m) div (m*k)   for m > 0
//! p div -k = -(p div k)                       p mod -k = p mod k
//! ```

use std::slice;

use crate::linear::{LinearPoly, Pending, integer};
use crate::number::{Integer, Rational};
use crate::op::Op;
use crate::sort::Sort;
use crate::term::{Term, TermStore};

use super::MAX_FACTORS;

/// Sums and products.
impl TermStore {
    /// The sum of at least one term, all of one sort.
    pub fn add(&self, args: &[Term]) -> Term {
        let one = Rational::ONE;
        self.sum_of(self.sort_of(args[0]), args.iter().map(|&arg| (arg, &one)), Rational::ZERO)
    }

    /// The difference.
    pub fn sub(&self, a: Term, b: Term) -> Term {
        let difference = LinearPoly::from_term(self, a) - &LinearPoly::from_term(self, b);
        difference.to_term(self, self.sort_of(a))
    }

    /// The negation.
    pub fn neg(&self, a: Term) -> Term {
        self.mul_const(&-Rational::ONE, a)
    }

    /// The multiple of a term by a number, which must be an integer if the term is `Int`.
    pub fn mul_const(&self, factor: &Rational, a: Term) -> Term {
        (LinearPoly::from_term(self, a) * factor).to_term(self, self.sort_of(a))
    }

    /// The linear combination of terms of a sort.
    pub(super) fn sum_of<'a>(
        &self,
        sort: Sort,
        args: impl IntoIterator<Item = (Term, &'a Rational)>,
        mut constant: Rational,
    ) -> Term {
        let mut pairs = Vec::new();
        for (arg, factor) in args {
            let poly = LinearPoly::from_term(self, arg);
            constant.add_mul(poly.constant(), factor);
            pairs
                .extend(poly.terms().iter().map(|(monomial, coefficient)| (*monomial, coefficient * factor)));
        }
        LinearPoly::from_pairs(pairs, constant).to_term(self, sort)
    }

    /// The product of at least one term, all of one sort. Numbers are multiplied into sums; sums are not multiplied
    /// with each other.
    pub fn mul(&self, args: &[Term]) -> Term {
        let sort = self.sort_of(args[0]);
        let mut coefficient = Rational::ONE;
        let mut factors: Vec<Term> = Vec::with_capacity(args.len());
        for &arg in args {
            let (poly, factor) = LinearPoly::from_term(self, arg).factored();
            coefficient *= factor;
            if poly.is_constant() {
                coefficient *= poly.constant();
            } else {
                factors.push(poly.to_term(self, sort));
            }
        }
        if coefficient.is_zero() {
            return self.number(&coefficient, sort);
        }
        // Joining first shortens the product, and flattening may expose more factors to join.
        self.join_casts(&mut factors);
        self.flatten_product(Op::Mul, &mut factors);
        self.join_casts(&mut factors);
        match factors[..] {
            [] => self.number(&coefficient, sort),
            [one] => self.mul_const(&coefficient, one),
            _ => {
                factors.sort_unstable();
                let product = self.raw(Op::Mul, &factors);
                LinearPoly::from_pairs(vec![(product, coefficient)], Rational::ZERO).to_term(self, sort)
            }
        }
    }

    /// Replaces the factors that are casts by the cast of their product.
    fn join_casts(&self, factors: &mut Vec<Term>) {
        let below = |factor: Term| match self.view(factor) {
            (Op::ToReal, &[int]) => Some(int),
            _ => None,
        };
        let ints: Vec<Term> = factors.iter().filter_map(|&factor| below(factor)).collect();
        if ints.len() > 1 {
            factors.retain(|&factor| below(factor).is_none());
            factors.push(self.to_real(self.mul(&ints)));
        }
    }

    /// Replaces the factors that are themselves `Mul` or `BvMul` products by their factors, unless there are too many.
    pub(super) fn flatten_product(&self, op: Op, factors: &mut Vec<Term>) {
        let parts = |factor: &Term| match self.view(*factor) {
            (head, parts) if head == op => Some(parts),
            _ => None,
        };
        let length: usize = factors.iter().map(|factor| parts(factor).map_or(1, <[Term]>::len)).sum();
        if length == factors.len() || length > MAX_FACTORS {
            return;
        }
        let flat = factors.iter().flat_map(|factor| parts(factor).unwrap_or(slice::from_ref(factor)));
        let flat: Vec<Term> = flat.copied().collect();
        if flat.iter().all(|factor| parts(factor).is_none()) {
            *factors = flat;
        }
    }
}

/// Division.
impl TermStore {
    /// The quotient of reals. Division by zero stays open.
    pub fn real_div(&self, a: Term, b: Term) -> Term {
        match self.numeral(b) {
            Some(divisor) if !divisor.is_zero() => self.mul_const(&divisor.recip(), a),
            _ => self.raw(Op::RealDiv, &[a, b]),
        }
    }

    /// The quotient of the Euclidean division of integers. Division by zero stays open.
    pub fn int_div(&self, a: Term, b: Term) -> Term {
        let Some(divisor) = self.numeral(b).map(integer).filter(|divisor| !divisor.is_zero()) else {
            return self.raw(Op::IntDiv, &[a, b]);
        };
        let quotient = self.quotient(LinearPoly::from_term(self, a), &divisor.abs());
        let quotient = if divisor.is_negative() { -quotient } else { quotient };
        quotient.to_term(self, Sort::INT)
    }

    /// The remainder of the Euclidean division of integers. Division by zero stays open.
    pub fn modulo(&self, a: Term, b: Term) -> Term {
        let Some(divisor) = self.numeral(b).map(integer).filter(|divisor| !divisor.is_zero()) else {
            return self.raw(Op::Mod, &[a, b]);
        };
        self.remainder(LinearPoly::from_term(self, a), &divisor.abs()).to_term(self, Sort::INT)
    }

    /// Whether the integer is a multiple of a positive number.
    pub fn divisible(&self, divisor: &Integer, a: Term) -> Term {
        self.eq(self.modulo(a, self.int(divisor.clone())), self.int(0))
    }

    /// `dividend div divisor` for a positive divisor.
    fn quotient(&self, dividend: LinearPoly, divisor: &Integer) -> LinearPoly {
        let mut division = Division::new(&dividend, divisor);
        while !division.is_settled(self) {
            if let Some(monomial) = division.rest.as_monomial()
                && let Some((inner, factor)) = self.by_positive_constant(Op::IntDiv, monomial)
            {
                let mut inner = LinearPoly::from_term(self, inner);
                inner.add_constant(&(division.rest.constant() * Rational::from(factor.clone())));
                division = Division::new(&inner, &(division.divisor * factor)).shifted_by(&division.quotient);
                continue;
            }
            let args = [division.rest.to_term(self, Sort::INT), self.int(division.divisor)];
            let rest =
                LinearPoly::from_pairs(vec![(self.raw(Op::IntDiv, &args), Rational::ONE)], Rational::ZERO);
            return division.quotient + &rest;
        }
        division.quotient
    }

    /// `dividend mod divisor` for a positive divisor.
    fn remainder(&self, dividend: LinearPoly, divisor: &Integer) -> LinearPoly {
        let division = Division::new(&self.without_inner_remainders(dividend, divisor), divisor);
        let mut remainder = if division.is_settled(self) {
            division.rest
        } else {
            let args = [division.rest.to_term(self, Sort::INT), self.int(division.divisor)];
            LinearPoly::from_pairs(vec![(self.raw(Op::Mod, &args), Rational::ONE)], Rational::ZERO)
        };
        remainder.scale(&Rational::from(division.common));
        remainder.add_constant(&Rational::from(division.offset));
        remainder
    }

    /// A polynomial congruent modulo the divisor that has no summand `c * (q mod m)` with `c * m` a multiple of
    /// the divisor.
    fn without_inner_remainders(&self, poly: LinearPoly, divisor: &Integer) -> LinearPoly {
        let is_inner = |monomial: Term, coefficient: &Integer| {
            let (inner, modulus) = self.by_positive_constant(Op::Mod, monomial)?;
            divisor.divides(&(modulus * coefficient)).then_some(inner)
        };
        if !poly.terms().iter().any(|(monomial, c)| is_inner(*monomial, &integer(c)).is_some()) {
            return poly;
        }
        let mut constant = poly.constant().clone();
        let mut pairs = Vec::new();
        let mut pending: Pending<Rational> = poly.terms().iter().cloned().collect();
        while let Some((monomial, coefficient)) = pending.pop() {
            let reduced = integer(&coefficient).rem_euclid(divisor);
            let Some(inner) = is_inner(monomial, &reduced) else {
                pairs.push((monomial, Rational::from(reduced)));
                continue;
            };
            if reduced.is_zero() {
                continue;
            }
            let reduced = Rational::from(reduced);
            let inner = LinearPoly::from_term(self, inner);
            constant.add_mul(inner.constant(), &reduced);
            inner.terms().iter().for_each(|(monomial, c)| pending.push(*monomial, c * &reduced));
        }
        LinearPoly::from_pairs(pairs, constant)
    }

    /// Dividend and divisor of an integer division by a positive numeral.
    fn by_positive_constant(&self, op: Op, term: Term) -> Option<(Term, Integer)> {
        match self.view(term) {
            (head, &[dividend, divisor]) if head == op => {
                let divisor = integer(self.numeral(divisor)?);
                divisor.is_positive().then_some((dividend, divisor))
            }
            _ => None,
        }
    }

    /// The absolute value.
    pub fn abs(&self, a: Term) -> Term {
        let sort = self.sort_of(a);
        let (poly, factor) = LinearPoly::from_term(self, a).factored();
        if poly.is_constant() {
            return self.number(&poly.constant().abs(), sort);
        }
        let positive = poly.to_term(self, sort);
        let value = self.ite(self.compare(Relation::Lt, poly, sort), self.neg(positive), positive);
        self.mul_const(&factor.abs(), value)
    }
}

/// A division by a positive constant, with all known parts extracted:
///
/// ```text
/// dividend div k = quotient + rest div divisor
/// dividend mod k = common * (rest mod divisor) + offset
/// ```
struct Division {
    quotient: LinearPoly,
    rest: LinearPoly,
    divisor: Integer,
    common: Integer,
    offset: Integer,
}

impl Division {
    fn new(dividend: &LinearPoly, divisor: &Integer) -> Division {
        let mut outside = Vec::new();
        let mut inside = Vec::new();
        let mut common = divisor.clone();
        for (monomial, coefficient) in dividend.terms() {
            let (mut quotient, mut remainder) = integer(coefficient).div_rem_euclid(divisor);
            if &remainder + &remainder > *divisor {
                remainder -= divisor;
                quotient += Integer::ONE;
            }
            common = common.gcd(&remainder);
            outside.push((*monomial, Rational::from(quotient)));
            inside.push((*monomial, remainder));
        }
        let (whole, remainder) = integer(dividend.constant()).div_rem_euclid(divisor);
        let (constant, offset) = remainder.div_rem_euclid(&common);
        let inside = inside.into_iter().map(|(m, c)| (m, Rational::from(c.div_exact(&common)))).collect();
        Division {
            quotient: LinearPoly::from_pairs(outside, Rational::from(whole)),
            rest: LinearPoly::from_pairs(inside, Rational::from(constant)),
            divisor: divisor.div_exact(&common),
            common,
            offset,
        }
    }

    /// The same division, with `quotient` added outside.
    fn shifted_by(mut self, quotient: &LinearPoly) -> Division {
        self.quotient.add_scaled(quotient, &Rational::ONE);
        self
    }

    /// Whether the rest is known to lie in `[0, divisor)`, so that it is its own remainder.
    fn is_settled(&self, store: &TermStore) -> bool {
        let width = match self.rest.as_monomial() {
            Some(monomial) => match store.by_positive_constant(Op::Mod, monomial) {
                Some((_, modulus)) => modulus,
                None => return false,
            },
            None if self.rest.is_constant() => Integer::ONE,
            None => return false,
        };
        integer(self.rest.constant()) + width <= self.divisor
    }
}

/// Between `Int` and `Real`.
impl TermStore {
    /// The integer as a real.
    pub fn to_real(&self, a: Term) -> Term {
        let poly = LinearPoly::from_term(self, a);
        let pairs = poly.terms().iter();
        let pairs = pairs.map(|(monomial, c)| (self.raw(Op::ToReal, &[*monomial]), c.clone())).collect();
        LinearPoly::from_pairs(pairs, poly.constant().clone()).to_term(self, Sort::REAL)
    }

    /// The largest integer not above the real.
    pub fn to_int(&self, a: Term) -> Term {
        let poly = LinearPoly::from_term(self, a);
        let half = Rational::new(Integer::ONE, Integer::from(2));
        let whole = poly.constant().floor();
        let fraction = poly.constant() - Rational::from(whole.clone());
        let mut outside = Vec::new();
        let mut inside = Vec::new();
        for (monomial, coefficient) in poly.terms() {
            let mut rest = coefficient.clone();
            if let (Op::ToReal, &[int]) = self.view(*monomial) {
                let nearest = Rational::from((coefficient - &half).ceil());
                rest -= &nearest;
                outside.push((int, nearest));
            }
            inside.push((*monomial, rest));
        }
        let outside = LinearPoly::from_pairs(outside, Rational::from(whole));
        let inside = LinearPoly::from_pairs(inside, fraction);
        let rounded = match self.as_int(&inside) {
            Some(inside) => {
                let denominator = inside.terms().iter().fold(Integer::ONE, |d, (_, c)| d.lcm(&c.denom()));
                let mut inside = inside * &Rational::from(denominator.clone());
                let constant = inside.constant().floor();
                inside = inside.without_constant();
                inside.add_constant(&Rational::from(constant));
                self.quotient(inside, &denominator)
            }
            None => {
                let monomial = self.raw(Op::ToInt, &[inside.to_term(self, Sort::REAL)]);
                LinearPoly::from_pairs(vec![(monomial, Rational::ONE)], Rational::ZERO)
            }
        };
        (outside + &rounded).to_term(self, Sort::INT)
    }

    /// Whether the real is an integer.
    pub fn is_int(&self, a: Term) -> Term {
        self.eq(self.to_real(self.to_int(a)), a)
    }

    /// The polynomial over `Int` monomials, if all monomials of a `Real` one are casts.
    fn as_int(&self, poly: &LinearPoly) -> Option<LinearPoly> {
        let pairs = poly.terms().iter().map(|(monomial, coefficient)| match self.view(*monomial) {
            (Op::ToReal, &[int]) => Some((int, coefficient.clone())),
            _ => None,
        });
        Some(LinearPoly::from_pairs(pairs.collect::<Option<_>>()?, poly.constant().clone()))
    }
}

/// The comparison of a polynomial with zero.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Relation {
    Eq,
    Le,
    Lt,
}

impl Relation {
    fn holds(self, a: &Rational, b: &Rational) -> bool {
        match self {
            Relation::Eq => a == b,
            Relation::Le => a <= b,
            Relation::Lt => a < b,
        }
    }
}

/// Comparison.
impl TermStore {
    /// `a <= b`.
    pub fn le(&self, a: Term, b: Term) -> Term {
        self.comparison(Relation::Le, a, b)
    }

    /// `a < b`.
    pub fn lt(&self, a: Term, b: Term) -> Term {
        self.comparison(Relation::Lt, a, b)
    }

    /// `a >= b`.
    pub fn ge(&self, a: Term, b: Term) -> Term {
        self.le(b, a)
    }

    /// `a > b`.
    pub fn gt(&self, a: Term, b: Term) -> Term {
        self.lt(b, a)
    }

    /// Equality of numbers.
    pub(super) fn arith_eq(&self, a: Term, b: Term) -> Term {
        self.comparison(Relation::Eq, a, b)
    }

    /// The inequalities whose conjunction a normal equation between numbers is: the sum is at most, and at least, the
    /// number.
    pub fn halves(&self, equation: Term) -> [Term; 2] {
        let &[sum, number] = self.args(equation) else { unreachable!("an equation has two sides") };
        let sort = self.sort_of(sum);
        let halves = match (self.numeral(number), self.op(sum)) {
            // The inequalities may be simpler than their sides.
            (None, _) | (_, Op::Ite | Op::Mod) => return [self.le(sum, number), self.ge(sum, number)],
            (Some(value), _) if sort == Sort::INT => {
                let below = self.number(&(value - Rational::ONE), sort);
                [(Op::Le, number), (Op::Le, below)]
            }
            _ => [(Op::Le, number), (Op::Lt, number)],
        };
        let [at_most, below] = halves.map(|(op, number)| self.raw(op, &[sum, number]));
        let halves = [at_most, self.not(below)];
        debug_assert_eq!(halves, [self.le(sum, number), self.ge(sum, number)], "the sides are normal");
        halves
    }

    fn comparison(&self, relation: Relation, a: Term, b: Term) -> Term {
        debug_assert_eq!(self.sort_of(a), self.sort_of(b), "comparison is between terms of one sort");
        let difference = LinearPoly::from_term(self, a) - &LinearPoly::from_term(self, b);
        self.compare(relation, difference, self.sort_of(a))
    }

    /// The comparison of a polynomial with zero.
    fn compare(&self, relation: Relation, poly: LinearPoly, sort: Sort) -> Term {
        if poly.is_constant() {
            return self.bool(relation.holds(poly.constant(), &Rational::ZERO));
        }
        let (poly, sort) = match self.as_int(&poly) {
            Some(poly) if sort == Sort::REAL => (poly, Sort::INT),
            _ => (poly, sort),
        };
        let (poly, factor) = poly.primitive();
        let bound = -poly.constant();
        let poly = poly.without_constant();
        let upward = factor.is_positive();
        if sort == Sort::REAL {
            return match (relation, upward) {
                (_, true) | (Relation::Eq, _) => self.compare_primitive(relation, &poly, &bound, sort),
                (Relation::Le, false) => self.not(self.compare_primitive(Relation::Lt, &poly, &bound, sort)),
                (Relation::Lt, false) => self.not(self.compare_primitive(Relation::Le, &poly, &bound, sort)),
            };
        }
        let below = || Rational::from(bound.ceil() - Integer::ONE);
        let not_above = || Rational::from(bound.floor());
        let le = |bound| self.compare_primitive(Relation::Le, &poly, &bound, sort);
        match (relation, upward) {
            (Relation::Eq, _) if bound.is_integer() => self.compare_primitive(relation, &poly, &bound, sort),
            (Relation::Eq, _) => Term::FALSE,
            (Relation::Le, true) => le(not_above()),
            (Relation::Lt, true) => le(below()),
            (Relation::Le, false) => self.not(le(below())),
            (Relation::Lt, false) => self.not(le(not_above())),
        }
    }

    /// The comparison of a primitive polynomial without constant with a number. On `Int`, the number is an integer and
    /// the relation is not `<`.
    fn compare_primitive(&self, relation: Relation, poly: &LinearPoly, bound: &Rational, sort: Sort) -> Term {
        if let Some(monomial) = poly.as_monomial() {
            if let (Op::Ite, &[condition, a, b]) = self.view(monomial)
                && let (Some(a), Some(b)) = (self.numeral(a), self.numeral(b))
            {
                let branches = (relation.holds(a, bound), relation.holds(b, bound));
                return self.ite(condition, self.bool(branches.0), self.bool(branches.1));
            }
            if let Some((_, modulus)) = self.by_positive_constant(Op::Mod, monomial) {
                let greatest = Rational::from(modulus) - Rational::ONE;
                match relation {
                    _ if bound.is_negative() => return Term::FALSE,
                    Relation::Eq if *bound > greatest => return Term::FALSE,
                    Relation::Le if *bound >= greatest => return Term::TRUE,
                    _ => {}
                }
            }
        }
        let op = match relation {
            Relation::Eq => Op::Eq,
            Relation::Le => Op::Le,
            Relation::Lt => Op::Lt,
        };
        self.raw(op, &[poly.to_term(self, sort), self.number(bound, sort)])
    }

    /// The summands of a normal arithmetic term without the constant, and the constant.
    pub(super) fn split_constant<'a>(&'a self, term: &'a Term) -> (&'a [Term], Rational) {
        if let Some(value) = self.numeral(*term) {
            return (&[], value.clone());
        }
        if let (Op::Add, [summands @ .., last]) = self.view(*term) {
            if let Some(value) = self.numeral(*last) {
                return (summands, value.clone());
            }
            return (self.args(*term), Rational::ZERO);
        }
        (slice::from_ref(term), Rational::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ints(store: &TermStore) -> [Term; 3] {
        ["x", "y", "z"].map(|name| store.var(store.symbol(name), Sort::INT))
    }

    fn reals(store: &TermStore) -> [Term; 2] {
        ["r", "s"].map(|name| store.var(store.symbol(name), Sort::REAL))
    }

    fn ratio(num: i64, den: i64) -> Rational {
        Rational::new(Integer::from(num), Integer::from(den))
    }

    /// The sum of multiples of `Int` terms and a constant.
    fn sum(store: &TermStore, multiples: &[(i64, Term)], constant: i64) -> Term {
        let mut args: Vec<Term> = multiples.iter().map(|(c, t)| store.mul_const(&ratio(*c, 1), *t)).collect();
        args.push(store.int(constant));
        store.add(&args)
    }

    #[test]
    fn numerals_have_the_sort_that_is_asked_for() {
        let store = TermStore::new();
        assert_eq!(store.number(&ratio(-6, 2), Sort::INT), store.int(-3));
        assert_eq!(store.number(&ratio(-6, 2), Sort::REAL), store.real(-3));
        assert_eq!(store.number(&ratio(1, 2), Sort::REAL), store.real(ratio(1, 2)));
    }

    #[test]
    fn sums_have_one_form() {
        let store = TermStore::new();
        let [x, y, _] = ints(&store);
        let [two, three] = [2, 3].map(|n| store.int(n));
        let expected = store.raw(Op::Add, &[store.raw(Op::Mul, &[two, x]), y, three]);
        assert_eq!(store.add(&[y, x, three, x]), expected);
        assert_eq!(store.sub(store.add(&[x, y, store.int(5)]), store.sub(two, x)), expected);
        assert_eq!(store.sub(x, x), store.int(0));
        assert_eq!(store.neg(store.neg(x)), x);
        assert_eq!(store.mul(&[two, store.add(&[x, three])]), sum(&store, &[(2, x)], 6));
        assert_eq!(store.mul(&[two, x, three, store.int(0)]), store.int(0));
    }

    /// The short way to the inequalities of an equation leads to the normal ones.
    #[test]
    fn the_halves_of_an_equation_are_normal() {
        let store = TermStore::new();
        let ([x, y, _], [r, s]) = (ints(&store), reals(&store));
        let condition = store.lt(x, y);
        let chosen = store.ite(condition, store.int(1), store.int(4));
        let pairs = [
            [x, y],
            [r, s],
            [store.to_real(x), store.to_real(y)],
            [store.to_real(x), r],
            [store.modulo(x, store.int(5)), y],
            [chosen, y],
        ];
        let mut equations = 0;
        for [one, other] in pairs {
            let sort = store.sort_of(one);
            for place in 0..7 * 7 * 5 {
                let [a, b, c] = [place % 7 - 3, place / 7 % 7 - 3, place / 49 - 2];
                let left =
                    store.add(&[store.mul_const(&ratio(a, 1), one), store.mul_const(&ratio(b, 1), other)]);
                let equation = store.eq(left, store.number(&ratio(c, 1), sort));
                if let (Op::Eq, &[sum, number]) = store.view(equation)
                    && store.sort_of(sum).is_arithmetic()
                {
                    assert_eq!(store.halves(equation), [store.le(sum, number), store.ge(sum, number)]);
                    equations += 1;
                }
            }
        }
        assert!(equations > 1000, "{equations}");
    }

    #[test]
    fn products_are_flat_with_numbers_in_front() {
        let store = TermStore::new();
        let [x, y, z] = ints(&store);
        let expected = store.raw(Op::Mul, &[store.int(6), store.raw(Op::Mul, &[x, y, z])]);
        let left = store.mul(&[store.int(2), z, x]);
        assert_eq!(store.mul(&[left, store.mul_const(&ratio(3, 1), y)]), expected);
        let factor = store.add(&[y, store.int(1)]);
        let product = store.raw(Op::Mul, &[x, factor]);
        let negative = sum(&store, &[(-2, y)], -2);
        assert_eq!(store.mul(&[negative, x]), store.raw(Op::Mul, &[store.int(-2), product]));
        assert_eq!(store.sub(store.mul(&[x, y]), store.mul(&[y, x])), store.int(0));
    }

    #[test]
    fn products_beyond_the_bound_stay_nested() {
        let store = TermStore::new();
        let [x, ..] = ints(&store);
        let half = store.mul(&[x; MAX_FACTORS / 2 + 1]);
        assert_eq!(store.mul(&[half, half]), store.raw(Op::Mul, &[half, half]));
        assert_eq!(store.args(store.mul(&[half, x])).len(), MAX_FACTORS / 2 + 2);
    }

    #[test]
    fn integer_comparisons_are_tightened_to_at_most() {
        let store = TermStore::new();
        let [x, y, _] = ints(&store);
        let [two, three] = [2, 3].map(|n| store.int(n));
        let at_most = |bound| store.raw(Op::Le, &[x, bound]);
        assert_eq!(store.lt(x, three), at_most(two));
        assert_eq!(store.gt(x, three), store.not(at_most(three)));
        assert_eq!(store.ge(x, three), store.not(at_most(two)));
        assert_eq!(store.le(sum(&store, &[(2, x)], 0), store.int(7)), at_most(three));
        assert_eq!(store.lt(sum(&store, &[(-2, x)], 0), store.int(-7)), store.not(at_most(three)));
        let difference = sum(&store, &[(1, x), (-1, y)], 0);
        assert_eq!(store.le(x, y), store.raw(Op::Le, &[difference, store.int(0)]));
        assert_eq!(store.lt(y, x), store.not(store.le(x, y)));
        assert_eq!(store.le(x, x), Term::TRUE);
        assert_eq!(store.lt(x, x), Term::FALSE);
    }

    #[test]
    fn real_comparisons_keep_their_strictness() {
        let store = TermStore::new();
        let [r, s] = reals(&store);
        let half = store.real(ratio(1, 2));
        assert_eq!(store.lt(r, half), store.raw(Op::Lt, &[r, half]));
        assert_eq!(store.ge(r, half), store.not(store.raw(Op::Lt, &[r, half])));
        assert_eq!(store.gt(r, half), store.not(store.raw(Op::Le, &[r, half])));
        let scaled = store.le(store.mul_const(&ratio(1, 3), r), store.mul_const(&ratio(1, 2), s));
        let poly = store.sub(store.mul_const(&ratio(2, 1), r), store.mul_const(&ratio(3, 1), s));
        assert_eq!(scaled, store.raw(Op::Le, &[poly, store.real(Rational::ZERO)]));
    }

    #[test]
    fn equalities_are_primitive_and_pass_the_gcd_test() {
        let store = TermStore::new();
        let [x, y, _] = ints(&store);
        let difference = sum(&store, &[(1, x), (-1, y)], 0);
        assert_eq!(store.eq(y, x), store.raw(Op::Eq, &[difference, store.int(0)]));
        let left = sum(&store, &[(4, x), (6, y)], 0);
        assert_eq!(store.eq(left, store.int(3)), Term::FALSE);
        let halved = sum(&store, &[(2, x), (3, y)], 0);
        assert_eq!(store.eq(left, store.int(-8)), store.raw(Op::Eq, &[halved, store.int(-4)]));
        assert_eq!(store.eq(x, store.add(&[x, store.int(1)])), Term::FALSE);
    }

    #[test]
    fn choices_between_numbers_are_compared_branch_by_branch() {
        let store = TermStore::new();
        let p = store.var(store.symbol("p"), Sort::BOOL);
        let flag = store.ite(p, store.int(1), store.int(0));
        assert_eq!(store.eq(flag, store.int(1)), p);
        assert_eq!(store.eq(flag, store.int(0)), store.not(p));
        assert_eq!(store.eq(flag, store.int(2)), Term::FALSE);
        assert_eq!(store.le(flag, store.int(0)), store.not(p));
        assert_eq!(store.ge(flag, store.int(0)), Term::TRUE);
    }

    #[test]
    fn multiples_of_the_divisor_leave_division() {
        let store = TermStore::new();
        let [x, y, _] = ints(&store);
        let three = store.int(3);
        let dividend = sum(&store, &[(1, x), (6, y)], 7);
        let rest = sum(&store, &[(1, x)], 1);
        assert_eq!(store.modulo(dividend, three), store.raw(Op::Mod, &[rest, three]));
        let quotient = store.raw(Op::IntDiv, &[rest, three]);
        assert_eq!(store.int_div(dividend, three), sum(&store, &[(2, y), (1, quotient)], 2));
        assert_eq!(store.modulo(dividend, store.int(-3)), store.modulo(dividend, three));
        assert_eq!(store.int_div(dividend, store.int(-3)), store.neg(store.int_div(dividend, three)));
    }

    #[test]
    fn divisors_in_common_are_cancelled() {
        let store = TermStore::new();
        let [x, ..] = ints(&store);
        let dividend = sum(&store, &[(2, x)], 3);
        let (next, three) = (sum(&store, &[(1, x)], 1), store.int(3));
        assert_eq!(store.int_div(dividend, store.int(6)), store.raw(Op::IntDiv, &[next, three]));
        let remainder = store.raw(Op::Mod, &[next, three]);
        assert_eq!(store.modulo(dividend, store.int(6)), sum(&store, &[(2, remainder)], 1));
    }

    #[test]
    fn division_by_one_and_of_constants_is_computed() {
        let store = TermStore::new();
        let [x, ..] = ints(&store);
        assert_eq!(store.int_div(x, store.int(1)), x);
        assert_eq!(store.modulo(x, store.int(1)), store.int(0));
        for (a, b, q, r) in [(7, 2, 3, 1), (-7, 2, -4, 1), (7, -2, -3, 1), (-7, -2, 4, 1)] {
            assert_eq!(store.int_div(store.int(a), store.int(b)), store.int(q));
            assert_eq!(store.modulo(store.int(a), store.int(b)), store.int(r));
        }
    }

    #[test]
    fn division_by_zero_is_left_open() {
        let store = TermStore::new();
        let [x, ..] = ints(&store);
        let [r, _] = reals(&store);
        let zero = store.int(0);
        for dividend in [x, store.int(5), zero] {
            assert_eq!(store.int_div(dividend, zero), store.raw(Op::IntDiv, &[dividend, zero]));
            assert_eq!(store.modulo(dividend, zero), store.raw(Op::Mod, &[dividend, zero]));
        }
        let zero = store.real(Rational::ZERO);
        let doubled = store.add(&[r, r]);
        assert_eq!(store.real_div(doubled, zero), store.raw(Op::RealDiv, &[doubled, zero]));
        assert_eq!(store.real_div(zero, zero), store.raw(Op::RealDiv, &[zero, zero]));
    }

    #[test]
    fn nested_remainders_and_quotients_become_one() {
        let store = TermStore::new();
        let [x, y, _] = ints(&store);
        let [two, three, six] = [2, 3, 6].map(|n| store.int(n));
        let inner = store.modulo(x, six);
        assert_eq!(store.modulo(store.add(&[inner, y]), three), store.modulo(store.add(&[x, y]), three));
        assert_eq!(store.modulo(store.modulo(x, three), six), store.modulo(x, three));
        assert_eq!(store.int_div(store.modulo(x, three), three), store.int(0));
        assert_eq!(store.int_div(store.int_div(x, two), three), store.int_div(x, six));
    }

    #[test]
    fn remainders_have_a_range() {
        let store = TermStore::new();
        let [x, ..] = ints(&store);
        let remainder = store.modulo(x, store.int(3));
        assert_eq!(store.le(remainder, store.int(2)), Term::TRUE);
        assert_eq!(store.lt(remainder, store.int(0)), Term::FALSE);
        assert_eq!(store.eq(remainder, store.int(3)), Term::FALSE);
        assert_eq!(store.op(store.eq(remainder, store.int(2))), Op::Eq);
        assert_eq!(store.divisible(&Integer::from(3), x), store.eq(remainder, store.int(0)));
    }

    #[test]
    fn real_division_by_a_constant_is_scaling() {
        let store = TermStore::new();
        let [r, s] = reals(&store);
        assert_eq!(store.real_div(r, store.real(ratio(1, 2))), store.add(&[r, r]));
        assert_eq!(store.real_div(r, s), store.raw(Op::RealDiv, &[r, s]));
    }

    #[test]
    fn absolute_values_are_choices_by_sign() {
        let store = TermStore::new();
        let [x, ..] = ints(&store);
        let expected = store.ite(store.lt(x, store.int(0)), store.neg(x), x);
        assert_eq!(store.abs(x), expected);
        assert_eq!(store.abs(store.neg(x)), expected);
        assert_eq!(store.abs(sum(&store, &[(-2, x)], 0)), store.add(&[expected, expected]));
        assert_eq!(store.abs(store.int(-4)), store.int(4));
        assert_eq!(store.op(store.abs(sum(&store, &[(2, x)], 3))), Op::Ite);
    }

    #[test]
    fn casts_are_pushed_to_the_monomials() {
        let store = TermStore::new();
        let [x, y, _] = ints(&store);
        let cast = store.to_real(sum(&store, &[(2, x), (-1, y)], 3));
        let [x_real, y_real] = [x, y].map(|t| store.raw(Op::ToReal, &[t]));
        let expected = store.sub(store.add(&[x_real, x_real, store.real(ratio(3, 1))]), y_real);
        assert_eq!(cast, expected);
        assert_eq!(store.to_int(cast), sum(&store, &[(2, x), (-1, y)], 3));
        assert_eq!(store.mul(&[x_real, y_real]), store.to_real(store.mul(&[x, y])));
        assert_eq!(store.to_real(store.int(2)), store.real(ratio(2, 1)));
    }

    #[test]
    fn rounding_takes_integers_out() {
        let store = TermStore::new();
        let [x, ..] = ints(&store);
        let [r, _] = reals(&store);
        let shifted = store.add(&[r, store.to_real(x), store.real(ratio(5, 2))]);
        let rest = store.add(&[r, store.real(ratio(1, 2))]);
        assert_eq!(store.to_int(shifted), store.add(&[store.raw(Op::ToInt, &[rest]), x, store.int(2)]));
        assert_eq!(store.to_int(store.real(ratio(-5, 2))), store.int(-3));
        let half = store.mul_const(&ratio(1, 2), store.to_real(x));
        assert_eq!(store.to_int(half), store.int_div(x, store.int(2)));
        assert_eq!(store.is_int(store.to_real(x)), Term::TRUE);
        assert_eq!(store.is_int(r), store.eq(store.to_real(store.to_int(r)), r));
    }

    #[test]
    fn real_atoms_over_integers_are_integer_atoms() {
        let store = TermStore::new();
        let [x, ..] = ints(&store);
        let half = store.real(ratio(1, 2));
        assert_eq!(store.le(store.to_real(x), half), store.le(x, store.int(0)));
        assert_eq!(store.lt(half, store.to_real(x)), store.gt(x, store.int(0)));
        assert_eq!(store.eq(store.to_real(x), half), Term::FALSE);
    }
}
