//! Delta-rationals: the rational numbers with one positive infinitesimal adjoined.
//!
//! A strict bound `x < c` has no greatest solution, which a vertex method would need. Written `x <= c - δ` for an
//! unspecified small positive `δ`, it is like any other bound. A [`DeltaRational`] is such a number `r + k·δ`. Two of
//! them compare as their pairs `(r, k)` do lexicographically, which is their order for every sufficiently small `δ`.
//! They support only addition and multiplication by rationals.
//!
//! To build a model, a [`Concretisation`] chooses a rational `δ` that preserves finitely many inequalities. Each is `r1
//! + k1·δ <= r2 + k2·δ` for a lexicographically ordered pair, and a positive `δ` violates it only if `r1 < r2` and `k1
//! > k2`, namely beyond `(r2 - r1) / (k1 - k2)`. So the minimum of these numbers and 1 is a good choice. Numbers that
//! must stay different exclude one `δ` per pair, and repeated halving avoids all of them.
//!
//! Source: B. Dutertre and L. de Moura, *A fast linear-arithmetic solver for DPLL(T)*, CAV 2006, section 5.

use std::fmt;
use std::ops::{AddAssign, Neg, SubAssign};

use shofar_logic::number::{Integer, Rational};

/// A number `r + k·δ`, with `δ` a positive infinitesimal.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeltaRational {
    // The derived order is lexicographic, hence depends on the order of these fields.
    real: Rational,
    delta: Rational,
}

impl DeltaRational {
    /// The number 0.
    pub const ZERO: DeltaRational = DeltaRational { real: Rational::ZERO, delta: Rational::ZERO };

    /// The number `real + delta·δ`.
    #[inline]
    pub fn new(real: Rational, delta: Rational) -> DeltaRational {
        DeltaRational { real, delta }
    }

    /// The least number above `real`: `real + δ`.
    #[inline]
    pub fn just_above(real: Rational) -> DeltaRational {
        DeltaRational { real, delta: Rational::ONE }
    }

    /// The greatest number below `real`: `real - δ`.
    #[inline]
    pub fn just_below(real: Rational) -> DeltaRational {
        DeltaRational { real, delta: -Rational::ONE }
    }

    /// The part without `δ`.
    #[inline]
    pub fn real(&self) -> &Rational {
        &self.real
    }

    /// The coefficient of `δ`.
    #[inline]
    pub fn delta(&self) -> &Rational {
        &self.delta
    }

    /// Whether the number is an integer, without a multiple of `δ`.
    #[inline]
    pub fn is_integer(&self) -> bool {
        self.delta.is_zero() && self.real.is_integer()
    }

    /// Whether the number is 0.
    #[inline]
    pub fn is_zero(&self) -> bool {
        self.real.is_zero() && self.delta.is_zero()
    }

    /// The greatest integer that is at most `self`.
    pub fn floor(&self) -> Integer {
        let floor = self.real.floor();
        if self.delta.is_negative() && self.real.is_integer() { floor - Integer::ONE } else { floor }
    }

    /// The least integer that is at least `self`.
    pub fn ceil(&self) -> Integer {
        let ceil = self.real.ceil();
        if self.delta.is_positive() && self.real.is_integer() { ceil + Integer::ONE } else { ceil }
    }

    /// The number `factor · self`.
    #[inline]
    pub fn scale(&self, factor: &Rational) -> DeltaRational {
        DeltaRational { real: &self.real * factor, delta: scale_part(&self.delta, factor) }
    }

    /// Adds `factor · other` to `self`.
    #[inline]
    pub fn add_mul(&mut self, factor: &Rational, other: &DeltaRational) {
        self.real.add_mul(factor, &other.real);
        if !other.delta.is_zero() {
            self.delta.add_mul(factor, &other.delta);
        }
    }

    /// Subtracts `factor · other` from `self`.
    #[inline]
    pub fn sub_mul(&mut self, factor: &Rational, other: &DeltaRational) {
        self.real.sub_mul(factor, &other.real);
        if !other.delta.is_zero() {
            self.delta.sub_mul(factor, &other.delta);
        }
    }

    /// The rational value of `self` for the given `δ`.
    pub fn at(&self, delta: &Rational) -> Rational {
        let mut value = self.real.clone();
        value.add_mul(&self.delta, delta);
        value
    }
}

/// Most numbers have no multiple of `δ`; this skips their product.
#[inline]
fn scale_part(part: &Rational, factor: &Rational) -> Rational {
    if part.is_zero() { Rational::ZERO } else { part * factor }
}

impl From<Rational> for DeltaRational {
    #[inline]
    fn from(real: Rational) -> DeltaRational {
        DeltaRational { real, delta: Rational::ZERO }
    }
}

impl From<Integer> for DeltaRational {
    #[inline]
    fn from(real: Integer) -> DeltaRational {
        DeltaRational::from(Rational::from(real))
    }
}

impl From<i64> for DeltaRational {
    #[inline]
    fn from(real: i64) -> DeltaRational {
        DeltaRational::from(Rational::from(real))
    }
}

impl AddAssign<&DeltaRational> for DeltaRational {
    #[inline]
    fn add_assign(&mut self, other: &DeltaRational) {
        self.real += &other.real;
        if !other.delta.is_zero() {
            self.delta += &other.delta;
        }
    }
}

impl SubAssign<&DeltaRational> for DeltaRational {
    #[inline]
    fn sub_assign(&mut self, other: &DeltaRational) {
        self.real -= &other.real;
        if !other.delta.is_zero() {
            self.delta -= &other.delta;
        }
    }
}

impl Neg for DeltaRational {
    type Output = DeltaRational;

    #[inline]
    fn neg(self) -> DeltaRational {
        DeltaRational { real: -self.real, delta: -self.delta }
    }
}

impl fmt::Display for DeltaRational {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.delta.signum() {
            0 => write!(f, "{}", self.real),
            1 => write!(f, "{} + {}δ", self.real, self.delta),
            _ => write!(f, "{} - {}δ", self.real, self.delta.abs()),
        }
    }
}

impl fmt::Debug for DeltaRational {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The search for a rational value of `δ` that satisfies all requirements.
pub struct Concretisation {
    /// Every positive `δ` up to this one preserves all orders.
    limit: Rational,
    /// Values of `δ` that would make two numbers equal that must differ.
    excluded: Vec<Rational>,
}

impl Default for Concretisation {
    fn default() -> Concretisation {
        Concretisation { limit: Rational::ONE, excluded: Vec::new() }
    }
}

impl Concretisation {
    /// Requires `low <= high` to stay true; it must hold for the delta-rationals.
    pub(crate) fn keep_order(&mut self, low: &DeltaRational, high: &DeltaRational) {
        debug_assert!(low <= high, "{low} is not below {high}");
        if low.delta > high.delta {
            let limit = (&high.real - &low.real) / (&low.delta - &high.delta);
            if limit < self.limit {
                self.limit = limit;
            }
        }
    }

    /// Requires two different numbers to stay different.
    pub(crate) fn keep_apart(&mut self, a: &DeltaRational, b: &DeltaRational) {
        debug_assert!(a != b, "{a} is not different from itself");
        if a.delta != b.delta {
            self.excluded.push((&b.real - &a.real) / (&a.delta - &b.delta));
        }
    }

    /// A positive value of `δ`, at most 1, that satisfies all requirements.
    pub fn choose(self) -> Rational {
        let half = Rational::new(Integer::ONE, Integer::from(2));
        let mut delta = self.limit;
        // Each round permanently passes at least one excluded value.
        while self.excluded.contains(&delta) {
            delta *= &half;
        }
        delta
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(num: i64, den: i64) -> Rational {
        Rational::new(Integer::from(num), Integer::from(den))
    }

    fn number(real: i64, delta: i64) -> DeltaRational {
        DeltaRational::new(Rational::from(real), Rational::from(delta))
    }

    #[test]
    fn the_order_is_lexicographic() {
        assert!(number(0, 1000) < number(1, -1000));
        assert!(number(1, -1) < number(1, 0));
        assert!(DeltaRational::just_below(Rational::ONE) < DeltaRational::just_above(Rational::ONE));
    }

    #[test]
    fn rounding_sees_the_infinitesimal() {
        let cases = [(number(3, 0), 3, 3), (number(3, 1), 3, 4), (number(3, -1), 2, 3)];
        for (number, floor, ceil) in cases {
            assert_eq!((number.floor(), number.ceil()), (Integer::from(floor), Integer::from(ceil)));
        }
        for delta in [-1, 0, 1] {
            let number = DeltaRational::new(ratio(-7, 2), Rational::from(delta));
            assert_eq!((number.floor(), number.ceil()), (Integer::from(-4), Integer::from(-3)));
        }
    }

    #[test]
    fn sums_and_multiples_are_taken_by_parts() {
        let mut sum = number(1, 2);
        sum.add_mul(&ratio(1, 2), &number(3, -4));
        assert_eq!(sum, DeltaRational::new(ratio(5, 2), Rational::ZERO));
        sum.sub_mul(&Rational::from(2), &number(1, 1));
        assert_eq!(sum, DeltaRational::new(ratio(1, 2), Rational::from(-2)));
        assert_eq!(sum.at(&ratio(1, 8)), ratio(1, 4));
        assert_eq!(number(2, 3).scale(&Rational::from(-1)), -number(2, 3));
    }

    #[test]
    fn concretisation_keeps_orders_and_differences() {
        let mut chosen = Concretisation::default();
        chosen.keep_order(&number(0, 4), &number(1, -4));
        chosen.keep_apart(&number(0, 8), &number(1, 0));
        chosen.keep_apart(&number(0, 16), &number(1, 0));
        chosen.keep_apart(&number(0, 0), &number(1, 0));
        assert_eq!(chosen.choose(), ratio(1, 32));
        assert_eq!(Concretisation::default().choose(), Rational::ONE);
    }
}
