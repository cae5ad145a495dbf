//! Exact numbers.
//!
//! The solver works over the mathematical integers and rationals, so nothing here rounds, wraps or uses floating point.
//! Yet almost every number in a Horn problem is tiny: coefficients are 1 and -1, constants are loop bounds, and only
//! simplex pivots and cut generation occasionally produce a number of some hundred bits. The two types of this module
//! are built for that distribution:
//!
//! * [`Integer`] is an `i64`, or else a boxed big integer;
//! * [`Rational`] is a reduced fraction of two 64-bit numbers, or else a boxed pair of big integers.
//!
//! Both take 16 bytes, so that a tableau or a term stays compact. Both compute the small case inline with checked
//! machine arithmetic; everything else is outlined and marked cold.
//!
//! # Invariants
//!
//! A value has exactly one representation. A boxed number does not fit the inline form, and becomes inline as soon as a
//! result fits again; a fraction is always in lowest terms with a positive denominator. Derived equality and hashing
//! are therefore right, a sign decides a comparison across representations, and values that shrink become cheap again.
//!
//! # Panics
//!
//! Only division by zero panics, and each such operation documents it; if a caller may not know that its divisor is
//! non-zero, there is a `checked_` form. Running out of memory aborts, as everywhere else.
//!
//! # Why dashu
//!
//! Big arithmetic comes from [`dashu_int`]. It is pure Rust, so Shofar builds with cargo alone on each platform; it has
//! the licence of this project, and it is well maintained. It provides everything needed here: subquadratic
//! multiplication and parsing, Lehmer's greatest common divisor, Euclidean division and two's-complement bit
//! operations. Its numbers also hold up to 128 bits without a further allocation, enough for a product of two 64-bit
//! numbers.
//!
//! The big fractions are pairs of these integers rather than the `RBig` of dashu-ratio. An `RBig` cannot be built from
//! parts known to be in lowest terms without computing their greatest common divisor again, a cost for each operation
//! between an inline and a boxed fraction. The tests use `RBig` as their reference instead.

/// Provides the by-value forms of a binary operator, given the forms that take their right side by reference: an owned
/// left side is updated in place, which reuses its memory.
macro_rules! forward_operator {
    ($type:ty: $operator:ident::$method:ident, $assigner:ident::$assign:ident) => {
        impl $operator<&$type> for $type {
            type Output = $type;
            #[inline]
            fn $method(mut self, other: &$type) -> $type {
                self.$assign(other);
                self
            }
        }

        impl $operator for $type {
            type Output = $type;
            #[inline]
            fn $method(mut self, other: $type) -> $type {
                self.$assign(&other);
                self
            }
        }

        impl $operator<$type> for &$type {
            type Output = $type;
            #[inline]
            fn $method(self, other: $type) -> $type {
                self.$method(&other)
            }
        }

        impl $assigner for $type {
            #[inline]
            fn $assign(&mut self, other: $type) {
                self.$assign(&other);
            }
        }
    };
}

/// Provides the methods that follow from a sign, a negation and an order.
macro_rules! signed_number {
    ($type:ty) => {
        impl Default for $type {
            #[inline]
            fn default() -> $type {
                <$type>::ZERO
            }
        }

        impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(self, f)
            }
        }

        impl PartialOrd for $type {
            #[inline]
            fn partial_cmp(&self, other: &$type) -> Option<std::cmp::Ordering> {
                Some(self.cmp(other))
            }
        }

        impl $type {
            /// Whether the number is greater than 0.
            #[inline]
            pub fn is_positive(&self) -> bool {
                self.signum() > 0
            }

            /// Whether the number is less than 0.
            #[inline]
            pub fn is_negative(&self) -> bool {
                self.signum() < 0
            }

            /// The absolute value.
            #[inline]
            pub fn abs(&self) -> $type {
                if self.is_negative() { -self } else { self.clone() }
            }
        }
    };
}

mod integer;
mod rational;

pub use integer::Integer;
pub use rational::Rational;

/// The one panic of this module, kept out of line.
#[cold]
#[track_caller]
fn division_by_zero() -> ! {
    panic!("division by zero")
}

/// The greatest common divisor of two machine words; `gcd(0, n)` is `n`.
///
/// This is Stein's binary algorithm, without branches in its loop: which number is the greater is random, and a
/// misprediction would cost more than a round. A round removes only a bit or two, so one division first brings numbers
/// of very different size together.
fn gcd_u64(a: u64, b: u64) -> u64 {
    let (mut great, mut small) = if a < b { (b, a) } else { (a, b) };
    if small <= 1 {
        return if small == 0 { great } else { 1 };
    }
    if great >> 10 >= small {
        (great, small) = (small, great % small);
        if small == 0 {
            return great;
        }
    }
    let twos = (great | small).trailing_zeros();
    great >>= great.trailing_zeros();
    small >>= small.trailing_zeros();
    loop {
        // From here on, either may be the greater.
        let difference = great.wrapping_sub(small);
        if difference == 0 {
            return great << twos;
        }
        let size = if great < small { difference.wrapping_neg() } else { difference };
        small = small.min(great);
        great = size >> difference.trailing_zeros();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::gcd_u64;

    /// Euclid's algorithm.
    fn euclid(a: u64, b: u64) -> u64 {
        if b == 0 { a } else { euclid(b, a % b) }
    }

    #[test]
    fn the_gcd_of_extreme_words_is_right() {
        let words = [0, 1, 2, 3, 6, 1 << 40, 1 << 63, (1 << 63) - 1, 3 << 62, u64::MAX - 1, u64::MAX];
        for a in words {
            for b in words {
                assert_eq!(gcd_u64(a, b), euclid(a, b), "{a} {b}");
            }
        }
    }

    proptest! {
        #[test]
        fn the_gcd_of_words_agrees_with_euclid(a: u64, b: u64, x in 0_u32..64, y in 0_u32..64, factor: u16) {
            let (a, b) = (a >> x, b >> y);
            prop_assert_eq!(gcd_u64(a, b), euclid(a, b));
            let (a, b) = (a.saturating_mul(factor.into()), b.saturating_mul(factor.into()));
            prop_assert_eq!(gcd_u64(a, b), euclid(a, b));
        }
    }
}
