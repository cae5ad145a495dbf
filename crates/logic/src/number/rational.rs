//! Fractions of integers of any size.
//!
//! A [`Rational`] is an inline fraction of two 64-bit numbers or a boxed [`Fraction`] of two big ones. The denominator
//! of the inline form is a non-zero type, whose spare value distinguishes the forms, so the enumeration is no larger
//! than its 16 bytes of data. Both numerator and denominator are confined to the range of an `i64`, hence the products
//! and sums of one operation on inline fractions are exact in 128 bits.
//!
//! Sums and products follow Knuth, *The Art of Computer Programming*, 4.5.1: instead of computing and reducing a large
//! fraction, they first divide out common factors of the (smaller) operands.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::num::NonZeroU64;
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

use dashu_int::ops::{BitTest, DivEuclid, Gcd};
use dashu_int::{IBig, Sign, UBig};

use self::Repr::{Big, Small};
use super::integer::cmp_magnitude;
use super::{Integer, division_by_zero, gcd_u64};

/// An exact rational number.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Rational(Repr);

/// Both forms are in lowest terms. The denominator of a `Small` is at most `i64::MAX`, and a `Big` has a
/// numerator or a denominator that does not fit an `i64`.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Repr {
    Small { num: i64, den: NonZeroU64 },
    Big(Box<Fraction>),
}

/// A fraction in lowest terms, with a denominator other than zero.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Fraction {
    num: IBig,
    den: UBig,
}

const DEN_MAX: u64 = i64::MAX as u64;

/// Conversion between the forms.
impl Rational {
    /// The integer `num`.
    #[inline]
    const fn small_integer(num: i64) -> Rational {
        Rational(Small { num, den: NonZeroU64::MIN })
    }

    /// The canonical form of a fraction in lowest terms, given by its sign, numerator and denominator.
    #[inline]
    fn from_reduced(negative: bool, num: u128, den: u128) -> Rational {
        #[cold]
        #[inline(never)]
        fn outlined(negative: bool, num: u128, den: u128) -> Rational {
            let sign = if negative { Sign::Negative } else { Sign::Positive };
            let num = IBig::from_parts(sign, UBig::from(num));
            Rational(Big(Box::new(Fraction { num, den: UBig::from(den) })))
        }
        if num <= u128::from(DEN_MAX) + u128::from(negative)
            && den <= u128::from(DEN_MAX)
            && let Some(den) = NonZeroU64::new(den as u64)
        {
            let num = num as i64;
            return Rational(Small { num: if negative { num.wrapping_neg() } else { num }, den });
        }
        outlined(negative, num, den)
    }

    /// The canonical form of a fraction in lowest terms.
    fn from_fraction(num: IBig, den: UBig) -> Rational {
        if let (Ok(num), Ok(den)) = (i64::try_from(&num), u64::try_from(&den))
            && den <= DEN_MAX
            && let Some(den) = NonZeroU64::new(den)
        {
            return Rational(Small { num, den });
        }
        Rational(Big(Box::new(Fraction { num, den })))
    }

    /// Calls `f` with the numerator and the denominator as big integers.
    fn with_parts<R>(&self, f: impl FnOnce(&IBig, &UBig) -> R) -> R {
        match &self.0 {
            Small { num, den } => f(&IBig::from(*num), &UBig::from(den.get())),
            Big(fraction) => f(&fraction.num, &fraction.den),
        }
    }
}

/// Calls `f` with the numerators and the denominators of two numbers as big integers.
fn with_both<R>(x: &Rational, y: &Rational, f: impl FnOnce(&IBig, &UBig, &IBig, &UBig) -> R) -> R {
    x.with_parts(|a, b| y.with_parts(|c, d| f(a, b, c, d)))
}

/// The values of three numbers that are inline integers.
#[inline]
fn small_integers(x: &Rational, y: &Rational, z: &Rational) -> Option<(i64, i64, i64)> {
    match (&x.0, &y.0, &z.0) {
        (&Small { num: a, den: b }, &Small { num: c, den: d }, &Small { num: e, den: f })
            if b.get() | d.get() | f.get() == 1 =>
        {
            Some((a, c, e))
        }
        _ => None,
    }
}

/// `a/b + c/d` of inline fractions. The numerators are at most `2^63` in absolute value; they are wide so that a caller
/// can negate them.
fn sum(a: i128, b: u64, c: i128, d: u64) -> Rational {
    let common = gcd_u64(b, d);
    if common == 1 {
        // Then no prime factor of the denominator divides the numerator.
        let num = a * i128::from(d) + c * i128::from(b);
        return Rational::from_reduced(num < 0, num.unsigned_abs(), u128::from(b) * u128::from(d));
    }
    let (rest_b, rest_d) = (b / common, d / common);
    let num = a * i128::from(rest_d) + c * i128::from(rest_b);
    // The remaining common factor divides `common`.
    let size = num.unsigned_abs();
    let factor = match u64::try_from(size) {
        Ok(size) => gcd_u64(size, common),
        Err(_) => gcd_u64((size % u128::from(common)) as u64, common),
    };
    let size = match u64::try_from(size) {
        Ok(size) => u128::from(size / factor),
        Err(_) => size / u128::from(factor),
    };
    Rational::from_reduced(num < 0, size, u128::from(rest_b) * u128::from(d / factor))
}

/// `a/b * c/d` of fractions in lowest terms, up to the given sign.
fn product(negative: bool, a: u64, b: u64, c: u64, d: u64) -> Rational {
    let ((a, d), (c, b)) = (cancel(a, d), cancel(c, b));
    Rational::from_reduced(negative, u128::from(a) * u128::from(c), u128::from(b) * u128::from(d))
}

/// Divides two numbers, not both zero, by their greatest common divisor.
#[inline]
fn cancel(a: u64, b: u64) -> (u64, u64) {
    match gcd_u64(a, b) {
        0 | 1 => (a, b),
        common => (a / common, b / common),
    }
}

/// `a/b + c/d`, or `a/b - c/d` if `subtract`, of big fractions.
#[cold]
#[inline(never)]
fn big_sum(x: &Rational, y: &Rational, subtract: bool) -> Rational {
    let join = |x: IBig, y: IBig| if subtract { x - y } else { x + y };
    with_both(x, y, |a, b, c, d| {
        let common = if b.is_one() || d.is_one() { UBig::ONE } else { b.gcd(d) };
        if common.is_one() {
            return Rational::from_fraction(join(a * d, c * b), b * d);
        }
        let rest_b = b / &common;
        let num = join(a * (d / &common), c * &rest_b);
        let factor = (&num).gcd(&common);
        if factor.is_one() {
            Rational::from_fraction(num, rest_b * d)
        } else {
            Rational::from_fraction(num / &factor, rest_b * (d / &factor))
        }
    })
}

/// `a/b * c/d` of big fractions.
#[cold]
#[inline(never)]
fn big_product(x: &Rational, y: &Rational) -> Rational {
    with_both(x, y, |a, b, c, d| {
        let ((a, d), (c, b)) = (big_cancel(a, d), big_cancel(c, b));
        Rational::from_fraction(&*a * &*c, &*b * &*d)
    })
}

/// Divides two numbers, the second of which is positive, by their greatest common divisor.
fn big_cancel<'a>(a: &'a IBig, b: &'a UBig) -> (Cow<'a, IBig>, Cow<'a, UBig>) {
    let common = if b.is_one() { UBig::ONE } else { a.gcd(b) };
    if common.is_one() {
        (Cow::Borrowed(a), Cow::Borrowed(b))
    } else {
        (Cow::Owned(a / &common), Cow::Owned(b / &common))
    }
}

/// Compares numbers one of which is not inline.
#[cold]
#[inline(never)]
fn big_cmp(x: &Rational, y: &Rational) -> Ordering {
    let sign = x.signum();
    sign.cmp(&y.signum()).then_with(|| match sign {
        0 => Ordering::Equal,
        1 => big_cmp_abs(x, y),
        _ => big_cmp_abs(y, x),
    })
}

/// Compares `|a/b|` with `|c/d|`.
fn big_cmp_abs(x: &Rational, y: &Rational) -> Ordering {
    with_both(x, y, |a, b, c, d| {
        if b == d {
            return cmp_magnitude(a, c);
        }
        if a.is_zero() || c.is_zero() {
            return c.is_zero().cmp(&a.is_zero());
        }
        // A product of `m` by `n` bits has `m + n` bits or one less. So the lengths usually decide.
        let (left, right) = (a.bit_len() + d.bit_len(), c.bit_len() + b.bit_len());
        if left.abs_diff(right) > 1 {
            return left.cmp(&right);
        }
        cmp_magnitude(&(a * d), &(c * b))
    })
}

macro_rules! from_integer {
    ($($type:ty)*) => {$(
        impl From<$type> for Rational {
            #[inline]
            fn from(value: $type) -> Rational {
                Rational::from(Integer::from(value))
            }
        }
    )*};
}
from_integer!(i32 i64 u32 u64 i128 usize);

impl From<Integer> for Rational {
    #[inline]
    fn from(value: Integer) -> Rational {
        match value.to_i64() {
            Some(num) => Rational::small_integer(num),
            None => Rational(Big(Box::new(Fraction { num: value.into_big(), den: UBig::ONE }))),
        }
    }
}

signed_number!(Rational);

/// An integer is shown as such, another number as `numerator/denominator`.
impl fmt::Display for Rational {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.to_integer() {
            Some(integer) => fmt::Display::fmt(&integer, f),
            None => self.with_parts(|num, den| write!(f, "{num}/{den}")),
        }
    }
}

impl Ord for Rational {
    #[inline]
    fn cmp(&self, other: &Rational) -> Ordering {
        if let (&Small { num: a, den: b }, &Small { num: c, den: d }) = (&self.0, &other.0) {
            return if b == d {
                a.cmp(&c)
            } else {
                (i128::from(a) * i128::from(d.get())).cmp(&(i128::from(c) * i128::from(b.get())))
            };
        }
        big_cmp(self, other)
    }
}

/// Construction.
impl Rational {
    /// The number 0.
    pub const ZERO: Rational = Rational::small_integer(0);

    /// The number 1.
    pub const ONE: Rational = Rational::small_integer(1);

    /// The number `num / den`.
    ///
    /// # Panics
    ///
    /// If `den` is zero.
    #[inline]
    pub fn new(num: Integer, den: Integer) -> Rational {
        if den.is_zero() {
            division_by_zero();
        }
        if let (Some(a), Some(b)) = (num.to_i64(), den.to_i64()) {
            let (size, den) = cancel(a.unsigned_abs(), b.unsigned_abs());
            return Rational::from_reduced((a < 0) != (b < 0) && a != 0, size.into(), den.into());
        }
        let (negative, den) = den.into_magnitude();
        let num = if negative { -num.into_big() } else { num.into_big() };
        let (num, den) = {
            let (num, den) = big_cancel(&num, &den);
            (num.into_owned(), den.into_owned())
        };
        Rational::from_fraction(num, den)
    }

    /// The number `num / den`, or `None` if `den` is zero.
    #[inline]
    pub fn checked_new(num: Integer, den: Integer) -> Option<Rational> {
        (!den.is_zero()).then(|| Rational::new(num, den))
    }

    /// The value of an SMT-LIB decimal such as `12.0500`, or of a plain numeral: ASCII digits, without sign,
    /// that a point may divide into two non-empty parts. Anything else gives `None`.
    pub fn parse_decimal(decimal: &[u8]) -> Option<Rational> {
        let Some(point) = decimal.iter().position(|&byte| byte == b'.') else {
            return Integer::parse(decimal, 10).map(Rational::from);
        };
        let (whole, places) = (&decimal[..point], &decimal[point + 1..]);
        if whole.is_empty() || places.is_empty() {
            return None;
        }
        // Trailing zeros would only enlarge the numbers to reduce.
        let length = places.iter().rposition(|&digit| digit != b'0').map_or(0, |last| last + 1);
        let num = Integer::parse(&[whole, &places[..length]].concat(), 10)?;
        Some(Rational::new(num, Integer::from(10).pow(u32::try_from(length).ok()?)))
    }
}

/// Parts, signs and rounding.
impl Rational {
    /// The numerator, which carries the sign.
    #[inline]
    pub fn numer(&self) -> Integer {
        match &self.0 {
            Small { num, .. } => Integer::from(*num),
            Big(fraction) => Integer::from_big(fraction.num.clone()),
        }
    }

    /// The denominator, which is positive.
    #[inline]
    pub fn denom(&self) -> Integer {
        match &self.0 {
            Small { den, .. } => Integer::from(den.get()),
            Big(fraction) => Integer::from_big(fraction.den.clone().into()),
        }
    }

    /// Whether the number is an integer.
    #[inline]
    pub fn is_integer(&self) -> bool {
        match &self.0 {
            Small { den, .. } => den.get() == 1,
            Big(fraction) => fraction.den.is_one(),
        }
    }

    /// The number as an integer, if it is one.
    #[inline]
    pub fn to_integer(&self) -> Option<Integer> {
        self.is_integer().then(|| self.numer())
    }

    /// The number as an integer of 64 bits, if it is one.
    #[inline]
    pub fn to_i64(&self) -> Option<i64> {
        match self.0 {
            Small { num, den: NonZeroU64::MIN } => Some(num),
            _ => None,
        }
    }

    /// Whether the number is 0.
    #[inline]
    pub fn is_zero(&self) -> bool {
        matches!(self.0, Small { num: 0, .. })
    }

    /// Whether the number is 1.
    #[inline]
    pub fn is_one(&self) -> bool {
        matches!(self.0, Small { num: 1, den: NonZeroU64::MIN })
    }

    /// The sign: -1, 0 or 1.
    #[inline]
    pub fn signum(&self) -> i32 {
        match &self.0 {
            Small { num, .. } => num.signum() as i32,
            Big(fraction) => match fraction.num.sign() {
                Sign::Positive => 1,
                Sign::Negative => -1,
            },
        }
    }

    /// Compares the absolute values.
    #[inline]
    pub fn cmp_abs(&self, other: &Rational) -> Ordering {
        if let (&Small { num: a, den: b }, &Small { num: c, den: d }) = (&self.0, &other.0) {
            let (a, c) = (u128::from(a.unsigned_abs()), u128::from(c.unsigned_abs()));
            return (a * u128::from(d.get())).cmp(&(c * u128::from(b.get())));
        }
        big_cmp_abs(self, other)
    }

    /// The greatest integer that is at most `self`.
    #[inline]
    pub fn floor(&self) -> Integer {
        match &self.0 {
            Small { num, den } => Integer::from(num.div_euclid(den.get() as i64)),
            Big(fraction) => Integer::from_big((&fraction.num).div_euclid(fraction.den.as_ibig())),
        }
    }

    /// The least integer that is at least `self`.
    #[inline]
    pub fn ceil(&self) -> Integer {
        if self.is_integer() { self.numer() } else { self.floor() + Integer::ONE }
    }
}

/// Arithmetic beyond the operators.
impl Rational {
    /// The number `1 / self`.
    ///
    /// # Panics
    ///
    /// If `self` is zero.
    #[inline]
    pub fn recip(&self) -> Rational {
        if self.is_zero() {
            division_by_zero();
        }
        match &self.0 {
            &Small { num, den } => {
                Rational::from_reduced(num < 0, den.get().into(), num.unsigned_abs().into())
            }
            Big(fraction) => {
                let (sign, den) = fraction.num.clone().into_parts();
                Rational::from_fraction(IBig::from_parts(sign, fraction.den.clone()), den)
            }
        }
    }

    /// The quotient, or `None` if `divisor` is zero.
    #[inline]
    pub fn checked_div(&self, divisor: &Rational) -> Option<Rational> {
        (!divisor.is_zero()).then(|| self / divisor)
    }

    /// Adds `a * b` to `self`.
    #[inline]
    pub fn add_mul(&mut self, a: &Rational, b: &Rational) {
        if let Some((sum, a, b)) = small_integers(self, a, b)
            && let Some(sum) = a.checked_mul(b).and_then(|product| sum.checked_add(product))
        {
            *self = Rational::small_integer(sum);
        } else {
            self.add_product(a, b);
        }
    }

    /// As [`add_mul`](Self::add_mul), for numbers of any kind.
    #[inline(never)]
    fn add_product(&mut self, a: &Rational, b: &Rational) {
        *self += &(a * b);
    }

    /// Subtracts `a * b` from `self`.
    #[inline]
    pub fn sub_mul(&mut self, a: &Rational, b: &Rational) {
        if let Some((sum, a, b)) = small_integers(self, a, b)
            && let Some(sum) = a.checked_mul(b).and_then(|product| sum.checked_sub(product))
        {
            *self = Rational::small_integer(sum);
        } else {
            self.sub_product(a, b);
        }
    }

    /// As [`sub_mul`](Self::sub_mul), for numbers of any kind.
    #[inline(never)]
    fn sub_product(&mut self, a: &Rational, b: &Rational) {
        *self -= &(a * b);
    }

    /// The greatest rational number of which both numbers are integer multiples. It is never negative, and `gcd(0, x)`
    /// is `|x|`. Dividing the coefficients of a linear form by their common divisor makes them coprime integers.
    pub fn gcd(&self, other: &Rational) -> Rational {
        if let (&Small { num: a, den: b }, &Small { num: c, den: d }) = (&self.0, &other.0) {
            let (num, (d, b)) = (gcd_u64(a.unsigned_abs(), c.unsigned_abs()), (d.get(), b.get()));
            return Rational::from_reduced(false, num.into(), u128::from(b) * u128::from(cancel(d, b).0));
        }
        with_both(self, other, |a, b, c, d| Rational::from_fraction(a.gcd(c).into(), b * (d / b.gcd(d))))
    }
}

impl Neg for &Rational {
    type Output = Rational;

    #[inline]
    fn neg(self) -> Rational {
        match &self.0 {
            &Small { num, den } if num != i64::MIN => Rational(Small { num: -num, den }),
            _ => self.with_parts(|num, den| Rational::from_fraction(-num, den.clone())),
        }
    }
}

impl Neg for Rational {
    type Output = Rational;

    #[inline]
    fn neg(self) -> Rational {
        match self.0 {
            Small { num, den } if num != i64::MIN => Rational(Small { num: -num, den }),
            Small { .. } => -&self,
            Big(fraction) => Rational::from_fraction(-fraction.num, fraction.den),
        }
    }
}

/// Implements an operator: `$integers` may give the result for two inline integers, `$small` gives it for any two
/// inline fractions, and `$big` in all other cases.
macro_rules! operator {
    (
        $(#[$documentation:meta])*
        $operator:ident::$method:ident, $assigner:ident::$assign:ident, $integers:expr, $small:expr, $big:expr
    ) => {
        $(#[$documentation])*
        impl $operator<&Rational> for &Rational {
            type Output = Rational;

            #[inline]
            fn $method(self, other: &Rational) -> Rational {
                let (&Small { num: a, den: b }, &Small { num: c, den: d }) = (&self.0, &other.0) else {
                    return $big(self, other);
                };
                if b.get() | d.get() == 1
                    && let Some(num) = $integers(a, c)
                {
                    return Rational::small_integer(num);
                }
                $small(a, b.get(), c, d.get())
            }
        }

        impl $assigner<&Rational> for Rational {
            #[inline]
            fn $assign(&mut self, other: &Rational) {
                *self = (&*self).$method(other);
            }
        }

        forward_operator!(Rational: $operator::$method, $assigner::$assign);
    };
}

operator!(
    Add::add,
    AddAssign::add_assign,
    i64::checked_add,
    |a: i64, b, c: i64, d| sum(a.into(), b, c.into(), d),
    |x, y| big_sum(x, y, false)
);

operator!(
    Sub::sub,
    SubAssign::sub_assign,
    i64::checked_sub,
    |a: i64, b, c: i64, d| sum(a.into(), b, -i128::from(c), d),
    |x, y| big_sum(x, y, true)
);

operator!(
    Mul::mul,
    MulAssign::mul_assign,
    i64::checked_mul,
    |a: i64, b, c: i64, d| product((a < 0) != (c < 0), a.unsigned_abs(), b, c.unsigned_abs(), d),
    big_product
);

operator!(
    /// # Panics
    ///
    /// If the divisor is zero; [`checked_div`](Rational::checked_div) does not.
    Div::div,
    DivAssign::div_assign,
    |_, _| None,
    |a: i64, b, c: i64, d| {
        if c == 0 {
            division_by_zero();
        }
        product((a < 0) != (c < 0), a.unsigned_abs(), b, d, c.unsigned_abs())
    },
    |x, y: &Rational| big_product(x, &y.recip())
);

#[cfg(test)]
mod tests {
    use std::hash::{BuildHasher, RandomState};

    use dashu_ratio::RBig;
    use proptest::prelude::*;

    use super::super::integer::tests::{divisors, integers};
    use super::*;

    impl Rational {
        /// Checks the invariant of the representation, and converts the value for the reference computation.
        fn reference(&self) -> RBig {
            let fits = self.numer().to_i64().is_some() && self.denom().to_i64().is_some();
            assert_eq!(matches!(self.0, Small { .. }), fits, "{self} has the wrong form");
            self.with_parts(|num, den| {
                let value = RBig::from_parts(num.clone(), den.clone());
                assert_eq!((value.numerator(), value.denominator()), (num, den), "{self} is not reduced");
                value
            })
        }
    }

    /// Rationals whose parts are drawn from [`integers`], and those which are integers.
    fn rationals() -> impl Strategy<Value = Rational> {
        prop_oneof![
            4 => (integers(), divisors()).prop_map(|(num, den)| Rational::new(num, den)),
            1 => integers().prop_map(Rational::from),
        ]
    }

    fn ratio(num: i128, den: i128) -> Rational {
        Rational::new(Integer::from(num), Integer::from(den))
    }

    const MIN: i128 = i64::MIN as i128;
    const MAX: i128 = i64::MAX as i128;

    #[test]
    fn a_rational_takes_sixteen_bytes() {
        assert_eq!(size_of::<Rational>(), 16);
    }

    #[test]
    fn construction_reduces_and_moves_the_sign_up() {
        assert_eq!(ratio(6, -4).to_string(), "-3/2");
        assert_eq!(ratio(-6, -3).to_string(), "2");
        assert_eq!(ratio(0, -7), Rational::ZERO);
        assert_eq!(ratio(MIN, MIN), Rational::ONE);
        assert_eq!(ratio(MAX + 1, MIN), -Rational::ONE);
        assert_eq!(Rational::checked_new(Integer::ONE, Integer::ZERO), None);
        assert_eq!(format!("{:?}", ratio(1, 3)), "1/3");
    }

    #[test]
    fn results_beyond_the_small_range_become_big_and_return() {
        for (num, den, big) in
            [(MIN, 1, false), (MIN - 1, 1, true), (1, MIN, true), (1, MAX, false), (MAX + 1, MAX, true)]
        {
            let value = ratio(num, den);
            assert_eq!(matches!(value.0, Big(_)), big, "{value}");
            value.reference();
            value.recip().reference();
            assert_eq!(value.recip().recip(), value);
            assert_eq!((-&value).reference(), -value.reference());
            assert_eq!((-value.clone()).reference(), -value.reference());
        }
        assert_eq!(ratio(MIN, 1) - ratio(MIN, 1), Rational::ZERO);
        assert_eq!(ratio(1, MAX) * ratio(1, MAX) * ratio(MAX, 1), ratio(1, MAX));
        assert_eq!(ratio(MIN, MAX) / ratio(MIN, MAX), Rational::ONE);
        assert_eq!(ratio(MIN, MAX) - ratio(MIN, MAX - 1), ratio(-MIN, MAX * (MAX - 1)));
        assert_eq!(ratio(MIN, 1) - ratio(MAX, 1), ratio(MIN - MAX, 1));
    }

    #[test]
    fn decimals_have_digits_on_both_sides_of_the_point() {
        assert_eq!(Rational::parse_decimal(b"12.0500"), Some(ratio(241, 20)));
        assert_eq!(Rational::parse_decimal(b"0.0"), Some(Rational::ZERO));
        assert_eq!(Rational::parse_decimal(b"17"), Some(ratio(17, 1)));
        assert_eq!(Rational::parse_decimal(b"3.000"), Some(ratio(3, 1)));
        assert_eq!(Rational::parse_decimal(b"0.0000000000000000001"), Some(ratio(1, 10_i128.pow(19))));
        for wrong in ["", ".", "1.", ".5", "1.2.3", "-1.0", "1.-0", "1.0x", "1e5", "1.0_0"] {
            assert_eq!(Rational::parse_decimal(wrong.as_bytes()), None, "{wrong}");
        }
    }

    #[test]
    fn the_gcd_divides_coefficients_into_coprime_integers() {
        assert_eq!(ratio(3, 4).gcd(&ratio(-9, 10)), ratio(3, 20));
        assert_eq!(Rational::ZERO.gcd(&ratio(-2, 3)), ratio(2, 3));
        assert_eq!(Rational::ZERO.gcd(&Rational::ZERO), Rational::ZERO);
    }

    #[test]
    fn checked_division_knows_zero() {
        assert_eq!(Rational::ONE.checked_div(&Rational::ZERO), None);
        assert_eq!(ratio(1, 2).checked_div(&ratio(-1, 4)), Some(ratio(-2, 1)));
    }

    #[test]
    #[should_panic(expected = "division by zero")]
    fn a_division_by_zero_panics() {
        let _ = ratio(1, MAX + 1) / Rational::ZERO;
    }

    proptest! {
        #[test]
        fn field_operations_agree_with_the_reference(a in rationals(), b in rationals()) {
            let (x, y) = (a.reference(), b.reference());
            prop_assert_eq!((&a + &b).reference(), &x + &y);
            prop_assert_eq!((&a - &b).reference(), &x - &y);
            prop_assert_eq!((&a * &b).reference(), &x * &y);
            prop_assert_eq!((a.clone() + b.clone()).reference(), &x + &y);
            prop_assert_eq!((a.clone() - &b).reference(), &x - &y);
            prop_assert_eq!((&a * b.clone()).reference(), &x * &y);
            prop_assert_eq!((-&a).reference(), -&x);
            prop_assert_eq!((-a.clone()).reference(), -&x);
            prop_assert_eq!((&(&a + &b) - &b).reference(), x.clone());
            prop_assert_eq!(a.abs().reference(), if a.is_negative() { -&x } else { x.clone() });
            match a.checked_div(&b) {
                Some(quotient) => prop_assert_eq!(quotient.reference(), &x / &y),
                None => prop_assert!(b.is_zero()),
            }
            if !a.is_zero() {
                prop_assert_eq!(a.recip().reference(), RBig::ONE / &x);
            }
        }

        #[test]
        fn fused_operations_agree_with_the_reference(a in rationals(), b in rationals(), c in rationals()) {
            let (x, yz) = (a.reference(), b.reference() * c.reference());
            let (mut sum, mut difference) = (a.clone(), a);
            sum.add_mul(&b, &c);
            difference.sub_mul(&b, &c);
            prop_assert_eq!((sum.reference(), difference.reference()), (&x + &yz, &x - &yz));
        }

        #[test]
        fn fused_operations_are_exact_on_integers(a in integers(), b in integers(), c in integers()) {
            let product = Rational::from(&b * &c);
            let [a, b, c] = [a, b, c].map(Rational::from);
            let (mut sum, mut difference) = (a.clone(), a.clone());
            sum.add_mul(&b, &c);
            difference.sub_mul(&b, &c);
            prop_assert_eq!((sum, difference), (&a + &product, &a - &product));
        }

        #[test]
        fn order_and_equality_agree_with_the_reference(a in rationals(), b in rationals()) {
            let (x, y) = (a.reference(), b.reference());
            prop_assert_eq!(a.cmp(&b), x.cmp(&y));
            prop_assert_eq!(a == b, x == y);
            prop_assert_eq!(a.cmp_abs(&b), a.abs().reference().cmp(&b.abs().reference()));
            prop_assert_eq!(a.cmp(&a.clone()), Ordering::Equal);
            prop_assert_eq!(a.signum(), x.cmp(&RBig::ZERO) as i32);
            prop_assert_eq!(a.to_string(), x.to_string());
            let state = RandomState::new();
            prop_assert_eq!(state.hash_one(&(&a + &b) - &b), state.hash_one(&a));
        }

        #[test]
        fn near_numbers_are_told_apart(a in rationals(), d in divisors()) {
            let step = Rational::new(Integer::ONE, d);
            prop_assert_eq!((&a + &step).cmp(&a), step.cmp(&Rational::ZERO));
        }

        #[test]
        fn rounding_encloses_the_number(a in rationals()) {
            let (floor, ceil) = (a.floor(), a.ceil());
            prop_assert_eq!(floor.reference(), a.reference().floor());
            prop_assert_eq!(ceil.reference(), a.reference().ceil());
            prop_assert_eq!(a.to_integer(), (floor == ceil).then_some(floor));
            prop_assert_eq!(Rational::new(a.numer(), a.denom()), a);
        }

        #[test]
        fn the_gcd_leaves_coprime_integers(a in rationals(), b in rationals()) {
            let g = a.gcd(&b);
            g.reference();
            if !g.is_zero() {
                let (x, y) = ((&a / &g).to_integer(), (&b / &g).to_integer());
                prop_assert!(g.is_positive() && x.unwrap().gcd(&y.unwrap()).is_one());
            }
        }

        #[test]
        fn a_decimal_is_its_digits_over_a_power_of_ten(digits in "[0-9]{1,30}", places in "[0-9]{1,30}") {
            let value = Rational::parse_decimal(format!("{digits}.{places}").as_bytes()).unwrap();
            value.reference();
            let num = Integer::parse(format!("{digits}{places}").as_bytes(), 10).unwrap();
            prop_assert_eq!(value, Rational::new(num, Integer::from(10).pow(places.len() as u32)));
        }
    }
}
