//! Integers of any size.
//!
//! An [`Integer`] is an inline `i64` or a boxed [`IBig`]. Each operation first tries the checked machine instruction.
//! Otherwise it calls an outlined function that views both operands as `IBig` (which needs no allocation for a small
//! one) and makes the result canonical again.

use std::cmp::Ordering;
use std::fmt;
use std::mem;
use std::ops::{
    Add, AddAssign, BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Mul, MulAssign, Neg, Shl,
    ShlAssign, Shr, ShrAssign, Sub, SubAssign,
};

use dashu_int::ops::{BitTest, DivRemEuclid, ExtendedGcd, Gcd, UnsignedAbs};
use dashu_int::{IBig, Sign, UBig};

use self::Repr::{Big, Small};
use super::{division_by_zero, gcd_u64};

/// An exact integer.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Integer(Repr);

/// A `Big` never holds a value that fits an `i64`.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Repr {
    Small(i64),
    Big(Box<IBig>),
}

/// Conversion from and to big integers.
impl Integer {
    /// The canonical form of a big integer.
    pub(super) fn from_big(value: IBig) -> Integer {
        match i64::try_from(&value) {
            Ok(small) => Integer(Small(small)),
            Err(_) => Integer(Big(Box::new(value))),
        }
    }

    /// Calls `f` with `self` as a big integer.
    pub(super) fn with_big<R>(&self, f: impl FnOnce(&IBig) -> R) -> R {
        match &self.0 {
            Small(small) => f(&IBig::from(*small)),
            Big(big) => f(big),
        }
    }

    /// The value as a big integer, without a copy.
    pub(super) fn into_big(self) -> IBig {
        match self.0 {
            Small(small) => IBig::from(small),
            Big(big) => *big,
        }
    }

    /// Restores the canonical form after a big integer was changed in place.
    fn normalize(&mut self) {
        if let Big(big) = &self.0
            && let Ok(small) = i64::try_from(&**big)
        {
            self.0 = Small(small);
        }
    }
}

/// Calls `f` with two integers as big integers.
fn with_both<R>(a: &Integer, b: &Integer, f: impl FnOnce(&IBig, &IBig) -> R) -> R {
    a.with_big(|a| b.with_big(|b| f(a, b)))
}

/// Compares the absolute values of two big integers.
pub(super) fn cmp_magnitude(a: &IBig, b: &IBig) -> Ordering {
    let (a, b) = (a.as_sign_words().1, b.as_sign_words().1);
    a.len().cmp(&b.len()).then_with(|| a.iter().rev().cmp(b.iter().rev()))
}

macro_rules! from_small {
    ($($type:ty)*) => {$(
        impl From<$type> for Integer {
            #[inline]
            fn from(value: $type) -> Integer {
                Integer(Small(i64::from(value)))
            }
        }
    )*};
}
from_small!(i32 i64 u32);

macro_rules! from_large {
    ($($type:ty)*) => {$(
        impl From<$type> for Integer {
            #[inline]
            fn from(value: $type) -> Integer {
                match i64::try_from(value) {
                    Ok(small) => Integer(Small(small)),
                    Err(_) => Integer(Big(Box::new(IBig::from(value)))),
                }
            }
        }
    )*};
}
from_large!(u64 i128 usize);

signed_number!(Integer);

impl fmt::Display for Integer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Small(small) => fmt::Display::fmt(small, f),
            Big(big) => fmt::Display::fmt(&**big, f),
        }
    }
}

impl Ord for Integer {
    #[inline]
    fn cmp(&self, other: &Integer) -> Ordering {
        match (&self.0, &other.0) {
            (Small(a), Small(b)) => a.cmp(b),
            // A big number lies outside of the range of all small ones, on the side of its sign.
            (Small(_), Big(_)) => 0.cmp(&other.signum()),
            (Big(_), Small(_)) => self.signum().cmp(&0),
            (Big(a), Big(b)) => a.cmp(b),
        }
    }
}

/// Constants, signs and magnitudes.
impl Integer {
    /// The number 0.
    pub const ZERO: Integer = Integer(Small(0));

    /// The number 1.
    pub const ONE: Integer = Integer(Small(1));

    /// Whether the number is 0.
    #[inline]
    pub fn is_zero(&self) -> bool {
        matches!(self.0, Small(0))
    }

    /// Whether the number is 1.
    #[inline]
    pub fn is_one(&self) -> bool {
        matches!(self.0, Small(1))
    }

    /// The sign: -1, 0 or 1.
    #[inline]
    pub fn signum(&self) -> i32 {
        match &self.0 {
            Small(small) => small.signum() as i32,
            Big(big) => match big.sign() {
                Sign::Positive => 1,
                Sign::Negative => -1,
            },
        }
    }

    /// Whether the number is a multiple of 2.
    #[inline]
    pub fn is_even(&self) -> bool {
        !self.bit(0)
    }

    /// Compares the absolute values.
    #[inline]
    pub fn cmp_abs(&self, other: &Integer) -> Ordering {
        match (&self.0, &other.0) {
            (Small(a), Small(b)) => a.unsigned_abs().cmp(&b.unsigned_abs()),
            _ => with_both(self, other, cmp_magnitude),
        }
    }
}

/// Conversions.
impl Integer {
    /// The value of a non-empty sequence of ASCII digits without sign, in radix 2, 10 or 16; hexadecimal digits may
    /// have either case. Anything else gives `None`. Decimal conversion takes subquadratic time.
    pub fn parse(digits: &[u8], radix: u32) -> Option<Integer> {
        let always_small = match radix {
            2 => 63,
            10 => 18,
            16 => 15,
            _ => return None,
        };
        if digits.is_empty() {
            return None;
        }
        if digits.len() <= always_small {
            let step = |value, &digit| Some(value * i64::from(radix) + i64::from(digit_value(digit, radix)?));
            return digits.iter().try_fold(0, step).map(Integer::from);
        }
        // The library accepts signs and underscores, which are not digits here.
        if !digits.iter().all(|&digit| digit_value(digit, radix).is_some()) {
            return None;
        }
        let digits = std::str::from_utf8(digits).ok()?;
        IBig::from_str_radix(digits, radix).ok().map(Integer::from_big)
    }

    /// The value as an `i64`, if it fits.
    #[inline]
    pub fn to_i64(&self) -> Option<i64> {
        match self.0 {
            Small(small) => Some(small),
            Big(_) => None,
        }
    }

    /// The value as a `u64`, if it fits.
    #[inline]
    pub fn to_u64(&self) -> Option<u64> {
        match &self.0 {
            Small(small) => u64::try_from(*small).ok(),
            Big(big) => u64::try_from(&**big).ok(),
        }
    }

    /// The value as a `u32`, if it fits.
    #[inline]
    pub fn to_u32(&self) -> Option<u32> {
        self.to_i64().and_then(|small| u32::try_from(small).ok())
    }

    /// The value as a `usize`, if it fits.
    #[inline]
    pub fn to_usize(&self) -> Option<usize> {
        self.to_u64().and_then(|value| usize::try_from(value).ok())
    }
}

/// The value of an ASCII digit.
#[inline]
fn digit_value(digit: u8, radix: u32) -> Option<u32> {
    char::from(digit).to_digit(radix)
}

/// Implements an operator: `$small` may give the result for two `i64`, otherwise big integers compute it.
macro_rules! operator {
    ($operator:ident::$method:ident, $assigner:ident::$assign:ident, $op:tt, $small:expr) => {
        impl $operator<&Integer> for &Integer {
            type Output = Integer;

            #[inline]
            fn $method(self, other: &Integer) -> Integer {
                #[cold]
                #[inline(never)]
                fn outlined(a: &Integer, b: &Integer) -> Integer {
                    with_both(a, b, |a, b| Integer::from_big(a $op b))
                }
                if let (&Small(a), &Small(b)) = (&self.0, &other.0)
                    && let Some(small) = $small(a, b)
                {
                    return Integer(Small(small));
                }
                outlined(self, other)
            }
        }

        impl $assigner<&Integer> for Integer {
            #[inline]
            fn $assign(&mut self, other: &Integer) {
                #[cold]
                #[inline(never)]
                fn outlined(a: &mut Integer, b: &Integer) {
                    if let Big(big) = &mut a.0 {
                        **big = b.with_big(|b| mem::take(&mut **big) $op b);
                        a.normalize();
                    } else {
                        *a = &*a $op b;
                    }
                }
                if let (&mut Small(a), &Small(b)) = (&mut self.0, &other.0)
                    && let Some(small) = $small(a, b)
                {
                    self.0 = Small(small);
                } else {
                    outlined(self, other);
                }
            }
        }

        forward_operator!(Integer: $operator::$method, $assigner::$assign);
    };
}
operator!(Add::add, AddAssign::add_assign, +, i64::checked_add);
operator!(Sub::sub, SubAssign::sub_assign, -, i64::checked_sub);
operator!(Mul::mul, MulAssign::mul_assign, *, i64::checked_mul);

// The bit operators read a negative number as two's complement with infinitely many leading ones. They are meant for
// bit-vectors, which are non-negative, but are correct for all numbers.
operator!(BitAnd::bitand, BitAndAssign::bitand_assign, &, |a: i64, b: i64| Some(a & b));
operator!(BitOr::bitor, BitOrAssign::bitor_assign, |, |a: i64, b: i64| Some(a | b));
operator!(BitXor::bitxor, BitXorAssign::bitxor_assign, ^, |a: i64, b: i64| Some(a ^ b));

impl Neg for &Integer {
    type Output = Integer;

    #[inline]
    fn neg(self) -> Integer {
        match &self.0 {
            Small(small) if *small != i64::MIN => Integer(Small(-small)),
            _ => self.with_big(|big| Integer::from_big(-big)),
        }
    }
}

impl Neg for Integer {
    type Output = Integer;

    #[inline]
    fn neg(self) -> Integer {
        match self.0 {
            Small(small) if small != i64::MIN => Integer(Small(-small)),
            _ => Integer::from_big(-self.into_big()),
        }
    }
}

/// Multiplication by a power of two.
impl Shl<u32> for &Integer {
    type Output = Integer;

    #[inline]
    fn shl(self, bits: u32) -> Integer {
        if let Small(small) = self.0
            && (small == 0 || bits < 64 && (small << bits) >> bits == small)
        {
            return Integer(Small(small.checked_shl(bits).unwrap_or(0)));
        }
        self.with_big(|big| Integer::from_big(big << bits as usize))
    }
}

/// Division by a power of two, rounded down.
impl Shr<u32> for &Integer {
    type Output = Integer;

    #[inline]
    fn shr(self, bits: u32) -> Integer {
        match &self.0 {
            Small(small) => Integer(Small(small >> bits.min(63))),
            Big(big) => Integer::from_big(&**big >> bits as usize),
        }
    }
}

macro_rules! forward_shift {
    ($operator:ident::$method:ident, $assigner:ident::$assign:ident, $op:tt) => {
        impl $operator<u32> for Integer {
            type Output = Integer;
            #[inline]
            fn $method(self, bits: u32) -> Integer {
                &self $op bits
            }
        }

        impl $assigner<u32> for Integer {
            #[inline]
            fn $assign(&mut self, bits: u32) {
                *self = &*self $op bits;
            }
        }
    };
}
forward_shift!(Shl::shl, ShlAssign::shl_assign, <<);
forward_shift!(Shr::shr, ShrAssign::shr_assign, >>);

/// Division. The Euclidean form is the `div` and `mod` of SMT-LIB; the others round as their names say.
impl Integer {
    /// The quotient and the remainder with `self = quotient * divisor + remainder` and
    /// `0 <= remainder < |divisor|`.
    ///
    /// # Panics
    ///
    /// If `divisor` is zero.
    #[inline]
    pub fn div_rem_euclid(&self, divisor: &Integer) -> (Integer, Integer) {
        #[cold]
        #[inline(never)]
        fn outlined(a: &Integer, b: &Integer) -> (Integer, Integer) {
            let (quotient, remainder) = with_both(a, b, |a, b| a.div_rem_euclid(b));
            (Integer::from_big(quotient), Integer::from_big(remainder.into()))
        }
        if let (&Small(a), &Small(b)) = (&self.0, &divisor.0)
            && let Some(quotient) = a.checked_div_euclid(b)
        {
            // The remainder is in range although the product may not be.
            let remainder = a.wrapping_sub(quotient.wrapping_mul(b));
            return (Integer(Small(quotient)), Integer(Small(remainder)));
        }
        if divisor.is_zero() {
            division_by_zero();
        }
        outlined(self, divisor)
    }

    /// The quotient of [`div_rem_euclid`](Integer::div_rem_euclid).
    ///
    /// # Panics
    ///
    /// If `divisor` is zero.
    #[inline]
    pub fn div_euclid(&self, divisor: &Integer) -> Integer {
        self.div_rem_euclid(divisor).0
    }

    /// The remainder of [`div_rem_euclid`](Integer::div_rem_euclid).
    ///
    /// # Panics
    ///
    /// If `divisor` is zero.
    #[inline]
    pub fn rem_euclid(&self, divisor: &Integer) -> Integer {
        self.div_rem_euclid(divisor).1
    }

    /// [`div_rem_euclid`](Integer::div_rem_euclid), or `None` if `divisor` is zero.
    #[inline]
    pub fn checked_div_rem_euclid(&self, divisor: &Integer) -> Option<(Integer, Integer)> {
        (!divisor.is_zero()).then(|| self.div_rem_euclid(divisor))
    }

    /// The quotient rounded down.
    ///
    /// # Panics
    ///
    /// If `divisor` is zero.
    #[inline]
    pub fn div_floor(&self, divisor: &Integer) -> Integer {
        let (quotient, remainder) = self.div_rem_euclid(divisor);
        if divisor.is_negative() && !remainder.is_zero() { quotient - Integer::ONE } else { quotient }
    }

    /// The remainder of [`div_floor`](Integer::div_floor), which is zero or has the sign of the divisor.
    ///
    /// # Panics
    ///
    /// If `divisor` is zero.
    #[inline]
    pub fn mod_floor(&self, divisor: &Integer) -> Integer {
        let remainder = self.rem_euclid(divisor);
        if divisor.is_negative() && !remainder.is_zero() { remainder + divisor } else { remainder }
    }

    /// The quotient rounded up.
    ///
    /// # Panics
    ///
    /// If `divisor` is zero.
    #[inline]
    pub fn div_ceil(&self, divisor: &Integer) -> Integer {
        let (quotient, remainder) = self.div_rem_euclid(divisor);
        if divisor.is_positive() && !remainder.is_zero() { quotient + Integer::ONE } else { quotient }
    }

    /// The quotient of a division without remainder. If there is a remainder, the result is rounded towards zero, and a
    /// debug build panics.
    ///
    /// # Panics
    ///
    /// If `divisor` is zero.
    #[inline]
    pub fn div_exact(&self, divisor: &Integer) -> Integer {
        if divisor.is_zero() {
            division_by_zero();
        }
        debug_assert!(divisor.divides(self), "{divisor} does not divide {self}");
        if let (&Small(a), &Small(b)) = (&self.0, &divisor.0)
            && let Some(quotient) = a.checked_div(b)
        {
            return Integer(Small(quotient));
        }
        with_both(self, divisor, |a, b| Integer::from_big(a / b))
    }

    /// Whether `multiple` is an integer multiple of `self`. Zero divides only itself.
    #[inline]
    pub fn divides(&self, multiple: &Integer) -> bool {
        match (&self.0, &multiple.0) {
            (Small(0), _) => multiple.is_zero(),
            (Small(a), Small(b)) => b.wrapping_rem(*a) == 0,
            // The `is_multiple_of` of dashu 0.6.2 denies that a number of three words or more divides zero.
            _ => with_both(self, multiple, |a, b| (b % a).is_zero()),
        }
    }
}

/// Number theory.
impl Integer {
    /// The greatest common divisor, which is never negative; `gcd(0, n)` is `|n|`.
    #[inline]
    pub fn gcd(&self, other: &Integer) -> Integer {
        #[cold]
        #[inline(never)]
        fn outlined(a: &Integer, b: &Integer) -> Integer {
            Integer::from_big(with_both(a, b, |a, b| a.gcd(b)).into())
        }
        match (&self.0, &other.0) {
            (Small(a), Small(b)) => Integer::from(gcd_u64(a.unsigned_abs(), b.unsigned_abs())),
            _ => outlined(self, other),
        }
    }

    /// The least common multiple, which is never negative; `lcm(0, n)` is 0.
    #[inline]
    pub fn lcm(&self, other: &Integer) -> Integer {
        if self.is_zero() || other.is_zero() {
            return Integer::ZERO;
        }
        (self.div_exact(&self.gcd(other)) * other).abs()
    }

    /// Bézout's identity: `(g, s, t)` where `g` is the [`gcd`](Integer::gcd) and `self * s + other * t = g`.
    pub fn gcd_ext(&self, other: &Integer) -> (Integer, Integer, Integer) {
        let (Small(a), Small(b)) = (&self.0, &other.0) else {
            let (g, s, t) = with_both(self, other, |a, b| a.gcd_ext(b));
            return (Integer::from_big(g.into()), Integer::from_big(s), Integer::from_big(t));
        };
        // The loop keeps `current.0 = |a| * current.1 + |b| * current.2`, and the same for `next`. The factors of
        // `current` stay small; those of `next` may leave the range at the very end, when they are no longer read.
        let mut current = (a.unsigned_abs(), 1_i64, 0_i64);
        let mut next = (b.unsigned_abs(), 0_i64, 1_i64);
        while next.0 != 0 {
            let quotient = current.0 / next.0;
            let factor = |current: i64, next: i64| current.wrapping_sub(next.wrapping_mul(quotient as i64));
            let after = (current.0 % next.0, factor(current.1, next.1), factor(current.2, next.2));
            (current, next) = (next, after);
        }
        let signed = |factor: i64, sign: i64| Integer::from(if sign < 0 { -factor } else { factor });
        (Integer::from(current.0), signed(current.1, *a), signed(current.2, *b))
    }

    /// The power; `0.pow(0)` is 1.
    pub fn pow(&self, exponent: u32) -> Integer {
        if let Small(small) = self.0
            && let Some(power) = small.checked_pow(exponent)
        {
            return Integer(Small(power));
        }
        self.with_big(|big| Integer::from_big(big.pow(exponent as usize)))
    }
}

/// Bits, and the reading of bit-vectors as numbers.
impl Integer {
    /// The number of bits of the absolute value, which is 0 for zero.
    #[inline]
    pub fn bit_len(&self) -> usize {
        match &self.0 {
            Small(small) => (u64::BITS - small.unsigned_abs().leading_zeros()) as usize,
            Big(big) => big.bit_len(),
        }
    }

    /// The bit of value `2^index`, where a negative number is read as two's complement.
    #[inline]
    pub fn bit(&self, index: usize) -> bool {
        match &self.0 {
            Small(small) => small >> index.min(63) & 1 != 0,
            Big(big) => big.bit(index),
        }
    }

    /// The number `2^exponent`.
    #[inline]
    pub fn pow2(exponent: u32) -> Integer {
        Integer::ONE << exponent
    }

    /// The number in `[0, 2^bits)` that is congruent to `self` modulo `2^bits`.
    #[inline]
    pub fn modulo_pow2(&self, bits: u32) -> Integer {
        match self.0 {
            Small(small) if bits < 64 => Integer(Small(small & (1_i64 << bits).wrapping_sub(1))),
            Small(small) if small >= 0 => self.clone(),
            _ => self.with_big(|big| Integer::from_big((big & UBig::ones(bits as usize)).into())),
        }
    }

    /// The two's-complement reading of a bit-vector: the number in `[-2^(bits-1), 2^(bits-1))` that is
    /// congruent to `self` modulo `2^bits`. `self` has to lie in `[0, 2^bits)`.
    #[inline]
    pub fn to_signed(&self, bits: u32) -> Integer {
        debug_assert!(!self.is_negative() && self.bit_len() <= bits as usize, "{self} has not {bits} bits");
        if bits > 0 && self.bit(bits as usize - 1) { self - Integer::pow2(bits) } else { self.clone() }
    }
}

impl Integer {
    /// The absolute value as a natural number, and whether the number is negative.
    pub(super) fn into_magnitude(self) -> (bool, UBig) {
        let big = self.into_big();
        (big.sign() == Sign::Negative, big.unsigned_abs())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::hash::{BuildHasher, RandomState};

    use dashu_int::ops::{Abs, DivEuclid, DivRem, RemEuclid};
    use proptest::prelude::*;

    use super::*;

    impl Integer {
        /// Checks the invariant of the representation, and gives the value to the reference computation.
        pub(in super::super) fn reference(&self) -> IBig {
            if let Big(big) = &self.0 {
                assert!(i64::try_from(&**big).is_err(), "{big} is small");
            }
            self.clone().into_big()
        }
    }

    /// Integers that are tiny, near the ends of the `i64` range, anywhere in it, or of up to 200 bits.
    pub(in super::super) fn integers() -> impl Strategy<Value = Integer> {
        const BOUNDARIES: [i128; 4] = [0, i64::MIN as i128, i64::MAX as i128, u64::MAX as i128];
        prop_oneof![
            3 => (-12_i64..=12).prop_map(Integer::from),
            3 => (prop::sample::select(&BOUNDARIES[..]), -3_i128..=3).prop_map(|(n, d)| Integer::from(n + d)),
            2 => any::<i64>().prop_map(Integer::from),
            1 => any::<i128>().prop_map(Integer::from),
            3 => any::<[u8; 25]>().prop_map(|bytes| Integer::from_big(IBig::from_le_bytes(&bytes))),
        ]
    }

    /// Such integers for use as a divisor.
    pub(in super::super) fn divisors() -> impl Strategy<Value = Integer> {
        integers().prop_map(|value| if value.is_zero() { Integer::ONE } else { value })
    }

    fn int(value: i128) -> Integer {
        Integer::from(value)
    }

    const MIN: i128 = i64::MIN as i128;
    const MAX: i128 = i64::MAX as i128;

    #[test]
    fn an_integer_takes_sixteen_bytes() {
        assert_eq!(size_of::<Integer>(), 16);
        assert_eq!(size_of::<Option<Integer>>(), 16);
    }

    #[test]
    fn results_beyond_the_small_range_become_big_and_return() {
        for (value, big) in [(MIN - 1, true), (MIN, false), (MAX, false), (MAX + 1, true)] {
            assert_eq!(matches!(int(value).0, Big(_)), big, "{value}");
            assert_eq!(int(value).to_string(), value.to_string());
        }
        assert_eq!(int(MAX) + Integer::ONE - Integer::ONE, int(MAX));
        assert_eq!(-int(MIN), int(MAX + 1));
        assert_eq!(-&int(MAX + 1), int(MIN));
        assert_eq!(int(MIN).abs(), int(MAX + 1));
        assert_eq!(int(MIN).div_euclid(&int(-1)), int(MAX + 1));
        assert_eq!(int(MIN).rem_euclid(&int(-1)), Integer::ZERO);
        assert_eq!(int(MIN).div_exact(&int(-1)), int(MAX + 1));
        assert_eq!(int(MIN).gcd(&int(MIN)), int(MAX + 1));
        assert_eq!(int(MIN).gcd(&Integer::ZERO), int(MAX + 1));
        assert_eq!(int(MIN).lcm(&int(-1)), int(MAX + 1));
        assert_eq!(int(-1) << 63, int(MIN));
        assert_eq!(int(1) << 63, int(MAX + 1));
        assert_eq!(int(MAX + 1) >> 1, int(1 << 62));
        let mut number = int(MAX);
        number += int(1);
        number *= int(-1);
        assert_eq!(number, int(MIN));
    }

    #[test]
    fn conversions_respect_the_range_of_the_target() {
        assert_eq!(int(u64::MAX.into()).to_u64(), Some(u64::MAX));
        assert_eq!(int(u64::MAX.into()).to_i64(), None);
        assert_eq!(int(i128::from(u64::MAX) + 1).to_u64(), None);
        assert_eq!(int(-1).to_u64(), None);
        assert_eq!(int(u32::MAX.into()).to_u32(), Some(u32::MAX));
        assert_eq!(int(i128::from(u32::MAX) + 1).to_u32(), None);
        assert_eq!(int(7).to_usize(), Some(7));
        assert_eq!(Integer::from(usize::MAX).to_usize(), Some(usize::MAX));
        assert_eq!(Integer::from(u32::MAX) + Integer::from(-1_i32), Integer::from(u64::from(u32::MAX) - 1));
    }

    #[test]
    fn all_roundings_of_a_division_agree_with_their_definitions() {
        for (a, b, euclid, floor, ceil) in [
            (7, 2, 3, 3, 4),
            (-7, 2, -4, -4, -3),
            (7, -2, -3, -4, -3),
            (-7, -2, 4, 3, 4),
            (6, -2, -3, -3, -3),
        ] {
            assert_eq!(int(a).div_euclid(&int(b)), int(euclid), "{a} / {b}");
            assert_eq!(int(a).div_floor(&int(b)), int(floor), "{a} / {b}");
            assert_eq!(int(a).div_ceil(&int(b)), int(ceil), "{a} / {b}");
        }
        assert_eq!(int(1).checked_div_rem_euclid(&Integer::ZERO), None);
    }

    #[test]
    #[should_panic(expected = "division by zero")]
    fn a_division_by_zero_panics() {
        int(MAX + 1).div_floor(&Integer::ZERO);
    }

    #[test]
    fn zero_divides_itself_only() {
        assert!(Integer::ZERO.divides(&Integer::ZERO));
        assert!(!Integer::ZERO.divides(&int(MAX + 1)));
        assert!(int(MAX + 1).divides(&Integer::ZERO));
        assert!(int(-1).divides(&int(MIN)));
    }

    #[test]
    fn parsing_accepts_digits_only() {
        for (digits, radix) in
            [("", 10), ("-1", 10), ("+1", 10), ("1_0", 10), ("12", 2), ("0x1", 16), ("7", 8), ("٣", 10)]
        {
            assert_eq!(Integer::parse(digits.as_bytes(), radix), None, "{digits}");
            let long = digits.repeat(40);
            assert_eq!(Integer::parse(long.as_bytes(), radix), None, "{long}");
        }
        assert_eq!(Integer::parse(b"fFff", 16), Some(int(0xffff)));
        assert_eq!(Integer::parse(b"0009223372036854775808", 10), Some(int(MAX + 1)));
        assert_eq!(Integer::parse(b"9223372036854775807", 10), Some(int(MAX)));
        assert_eq!(Integer::parse(&[b'1'; 63], 2), Some(int(MAX)));
        assert_eq!(Integer::parse(&[b'1'; 64], 2), Some(int(u64::MAX.into())));
        assert_eq!(Integer::parse(&[b'0'; 100], 10), Some(Integer::ZERO));
    }

    #[test]
    fn a_huge_numeral_survives_a_round_trip() {
        let digits = "1234567890".repeat(20_000);
        let value = Integer::parse(digits.as_bytes(), 10).unwrap();
        assert_eq!(value.to_string(), digits);
        assert_eq!(value.rem_euclid(&int(1_000_000_007)), {
            let step = |rest, digit: u8| (rest * 10 + i128::from(digit - b'0')) % 1_000_000_007;
            int(digits.bytes().fold(0, step))
        });
    }

    #[test]
    fn bit_vectors_read_as_two_s_complement() {
        assert_eq!(int(0xff).to_signed(8), int(-1));
        assert_eq!(int(0x7f).to_signed(8), int(0x7f));
        assert_eq!(int(0).to_signed(0), int(0));
        assert_eq!(int(u64::MAX.into()).to_signed(64), int(-1));
        assert_eq!(int(1 << 63).to_signed(64), int(MIN));
        assert_eq!(int(-1).modulo_pow2(63), int(MAX));
        assert_eq!(int(-1).modulo_pow2(64), int(u64::MAX.into()));
        assert_eq!(int(-1).modulo_pow2(0), int(0));
        assert_eq!(int(5).modulo_pow2(64), int(5));
        assert_eq!(Integer::pow2(200), int(2).pow(200));
    }

    proptest! {
        #[test]
        fn ring_operations_agree_with_the_reference(a in integers(), b in integers()) {
            let (x, y) = (a.reference(), b.reference());
            prop_assert_eq!((&a + &b).reference(), &x + &y);
            prop_assert_eq!((&a - &b).reference(), &x - &y);
            prop_assert_eq!((&a * &b).reference(), &x * &y);
            prop_assert_eq!((a.clone() + &b).reference(), &x + &y);
            prop_assert_eq!((a.clone() - b.clone()).reference(), &x - &y);
            prop_assert_eq!((&a * b.clone()).reference(), &x * &y);
            prop_assert_eq!((&(&a + &b) - &b).reference(), x.clone());
            prop_assert_eq!((-&a).reference(), -&x);
            prop_assert_eq!((-a.clone()).reference(), -&x);
            prop_assert_eq!(a.abs().reference(), x.clone().abs());
            prop_assert_eq!(a.cmp(&b), x.cmp(&y));
            prop_assert_eq!(a.cmp_abs(&b), x.clone().abs().cmp(&y.clone().abs()));
            prop_assert_eq!(a == b, x == y);
            prop_assert_eq!(a.signum(), x.cmp(&IBig::ZERO) as i32);
            prop_assert_eq!(a.to_string(), x.to_string());
        }

        #[test]
        fn machine_arithmetic_is_the_reference_on_small_numbers(a: i64, b: i64) {
            let (x, y) = (i128::from(a), i128::from(b));
            let (a, b) = (int(x), int(y));
            prop_assert_eq!(&a + &b, int(x + y));
            prop_assert_eq!(&a - &b, int(x - y));
            prop_assert_eq!(&a * &b, int(x * y));
            prop_assert_eq!((&a & &b, &a | &b, &a ^ &b), (int(x & y), int(x | y), int(x ^ y)));
            if y != 0 {
                prop_assert_eq!(a.div_rem_euclid(&b), (int(x.div_euclid(y)), int(x.rem_euclid(y))));
            }
        }

        #[test]
        fn equal_values_have_equal_hashes(a in integers(), b in integers()) {
            let state = RandomState::new();
            prop_assert_eq!(state.hash_one(&(&a + &b) - &b), state.hash_one(&a));
        }

        #[test]
        fn division_agrees_with_the_reference(a in integers(), b in divisors()) {
            let (x, y) = (a.reference(), b.reference());
            let (quotient, remainder) = a.div_rem_euclid(&b);
            prop_assert_eq!(quotient.reference(), (&x).div_euclid(&y));
            prop_assert_eq!(remainder.reference(), IBig::from((&x).rem_euclid(&y)));
            prop_assert_eq!(a.div_euclid(&b), quotient);
            prop_assert_eq!(a.rem_euclid(&b), remainder);
            let (truncated, rest) = (&x).div_rem(&y);
            let inexact = IBig::from(!rest.is_zero());
            let negative = a.is_negative() != b.is_negative();
            let (down, up) = if negative { (&inexact, &IBig::ZERO) } else { (&IBig::ZERO, &inexact) };
            prop_assert_eq!(a.div_floor(&b).reference(), &truncated - down);
            prop_assert_eq!(a.div_ceil(&b).reference(), &truncated + up);
            prop_assert_eq!(&a.div_floor(&b) * &b + a.mod_floor(&b), a.clone());
            prop_assert_eq!((&a * &b).div_exact(&b), a.clone());
            prop_assert_eq!(b.divides(&a), rest.is_zero());
            prop_assert!(b.divides(&(&a * &b)));
        }

        #[test]
        fn the_gcd_is_a_combination_that_divides_both(a in integers(), b in integers(), c in integers()) {
            let (a, b) = (&a * &c, &b * &c);
            let (g, s, t) = a.gcd_ext(&b);
            prop_assert_eq!((g.reference(), &a * &s + &b * &t), (a.gcd(&b).reference(), g.clone()));
            prop_assert!(g.divides(&a) && g.divides(&b) && c.divides(&g) && !g.is_negative());
            s.reference();
            t.reference();
            prop_assert_eq!((a.lcm(&b) * &g).reference(), (&a * &b).abs().reference());
        }

        #[test]
        fn powers_agree_with_the_reference(a in integers(), exponent in 0_u32..12) {
            prop_assert_eq!(a.pow(exponent).reference(), a.reference().pow(exponent as usize));
        }

        #[test]
        fn bit_operations_agree_with_the_reference(a in integers(), b in integers(), bits in 0_u32..220) {
            let (x, y) = (a.reference(), b.reference());
            prop_assert_eq!((&a & &b).reference(), &x & &y);
            prop_assert_eq!((&a | &b).reference(), &x | &y);
            prop_assert_eq!((&a ^ &b).reference(), &x ^ &y);
            prop_assert_eq!((&a << bits).reference(), &x << bits as usize);
            prop_assert_eq!(&a << bits, &a * Integer::pow2(bits));
            prop_assert_eq!((&a >> bits).reference(), &x >> bits as usize);
            prop_assert_eq!(&a >> bits, a.div_floor(&Integer::pow2(bits)));
            prop_assert_eq!(a.bit(bits as usize), x.bit(bits as usize));
            prop_assert_eq!(a.bit_len(), x.bit_len());
            prop_assert_eq!(a.is_even(), int(2).divides(&a));
            let residue = a.modulo_pow2(bits);
            prop_assert_eq!(residue.reference(), a.rem_euclid(&Integer::pow2(bits)).reference());
            let signed = residue.to_signed(bits);
            prop_assert_eq!(signed.modulo_pow2(bits), residue);
            if bits > 0 {
                let half = Integer::pow2(bits - 1);
                prop_assert!(-&half <= signed && signed < half);
            }
        }

        #[test]
        fn printing_and_parsing_are_inverse(a in integers()) {
            let a = a.abs();
            let x = a.reference();
            prop_assert_eq!(Integer::parse(x.to_string().as_bytes(), 10), Some(a.clone()));
            prop_assert_eq!(Integer::parse(format!("{x:b}").as_bytes(), 2), Some(a.clone()));
            prop_assert_eq!(Integer::parse(format!("{x:x}").as_bytes(), 16), Some(a.clone()));
            prop_assert_eq!(Integer::parse(format!("{x:X}").as_bytes(), 16), Some(a));
        }
    }
}
