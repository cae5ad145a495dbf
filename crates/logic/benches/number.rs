//! Measures the numbers against the bare types of dashu: on small values, where the inline form has to pay
//! off, and on values of some 200 bits, where the wrapper must not cost much.
//!
//! Each figure is the time of one pass over [`LENGTH`] pairs.

use std::cmp::Ordering;
use std::hint::black_box;
use std::ops::{Add, Mul};

use dashu_int::ops::Gcd;
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;
use divan::Bencher;
use shofar_logic::number::{Integer, Rational};
use shofar_testing::Random;

fn main() {
    divan::main();
}

const LENGTH: usize = 256;

/// The widths of the operands. A pair of the mixed kind has one operand of either width.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Tiny,
    Word,
    Big,
    Mixed,
}

const KINDS: [Kind; 4] = [Kind::Tiny, Kind::Word, Kind::Big, Kind::Mixed];

/// The decimal digits of a positive number.
fn digits(random: &mut Random, big: bool, kind: Kind) -> String {
    match kind {
        _ if big => random.digits(60),
        Kind::Tiny => random.between(1, 100).to_string(),
        _ => random.between(1, 1_000_000_000).to_string(),
    }
}

/// A number as the text of its numerator and denominator, from which each type reads it.
trait Number: Sized + Sync {
    fn read(num: &str, den: &str) -> Self;
}

impl Number for Integer {
    fn read(num: &str, _: &str) -> Integer {
        match num.strip_prefix('-') {
            Some(digits) => -Integer::parse(digits.as_bytes(), 10).unwrap(),
            None => Integer::parse(num.as_bytes(), 10).unwrap(),
        }
    }
}

impl Number for Rational {
    fn read(num: &str, den: &str) -> Rational {
        Rational::new(Integer::read(num, den), Integer::read(den, num))
    }
}

impl Number for IBig {
    fn read(num: &str, _: &str) -> IBig {
        num.parse().unwrap()
    }
}

impl Number for RBig {
    fn read(num: &str, den: &str) -> RBig {
        RBig::from_parts(num.parse().unwrap(), den.parse::<UBig>().unwrap())
    }
}

fn pairs<T: Number>(kind: Kind) -> Vec<(T, T)> {
    let mut random = Random::new(42);
    let mut number = |big: bool| {
        let sign = if random.bool() { "" } else { "-" };
        let num = digits(&mut random, big, kind);
        T::read(&format!("{sign}{num}"), &digits(&mut random, big, kind))
    };
    let (left, right) = match kind {
        Kind::Tiny | Kind::Word => (false, false),
        Kind::Big => (true, true),
        Kind::Mixed => (true, false),
    };
    (0..LENGTH).map(|_| (number(left), number(right))).collect()
}

/// One pass over all pairs.
fn pass<T: Number, R>(bencher: Bencher<'_, '_>, kind: Kind, operation: impl Fn(&T, &T) -> R + Sync) {
    let pairs = pairs::<T>(kind);
    bencher.bench(|| {
        for (a, b) in &pairs {
            black_box(operation(a, b));
        }
    });
}

#[divan::bench(types = [Integer, IBig, Rational, RBig], args = KINDS)]
fn add<T: Number>(bencher: Bencher<'_, '_>, kind: Kind)
where
    for<'a> &'a T: Add<&'a T, Output = T>,
{
    pass(bencher, kind, |a: &T, b: &T| a + b);
}

#[divan::bench(types = [Integer, IBig, Rational, RBig], args = KINDS)]
fn mul<T: Number>(bencher: Bencher<'_, '_>, kind: Kind)
where
    for<'a> &'a T: Mul<&'a T, Output = T>,
{
    pass(bencher, kind, |a: &T, b: &T| a * b);
}

#[divan::bench(types = [Integer, IBig, Rational, RBig], args = KINDS)]
fn cmp<T: Number + Ord>(bencher: Bencher<'_, '_>, kind: Kind) {
    pass(bencher, kind, |a: &T, b: &T| -> Ordering { a.cmp(b) });
}

/// The inner step of a pivot: a row entry takes the product of a factor and another entry.
#[divan::bench(args = KINDS)]
fn add_mul_rational(bencher: Bencher<'_, '_>, kind: Kind) {
    pass(bencher, kind, |a: &Rational, b: &Rational| {
        let mut sum = a.clone();
        sum.add_mul(a, b);
        sum
    });
}

#[divan::bench(args = KINDS)]
fn add_mul_dashu(bencher: Bencher<'_, '_>, kind: Kind) {
    pass(bencher, kind, |a: &RBig, b: &RBig| a.clone() + a * b);
}

/// The same step where all numbers are integers, as in most tableaux.
#[divan::bench]
fn add_mul_integral_rational(bencher: Bencher<'_, '_>) {
    let pairs = pairs::<Integer>(Kind::Tiny);
    let pairs: Vec<_> = pairs.into_iter().map(|(a, b)| (Rational::from(a), Rational::from(b))).collect();
    bencher.bench(|| {
        let mut sum = Rational::ZERO;
        for (a, b) in &pairs {
            sum.add_mul(a, b);
        }
        sum
    });
}

#[divan::bench]
fn add_mul_integral_dashu(bencher: Bencher<'_, '_>) {
    let pairs = pairs::<IBig>(Kind::Tiny);
    let pairs: Vec<_> = pairs.into_iter().map(|(a, b)| (RBig::from(a), RBig::from(b))).collect();
    bencher.bench(|| {
        let mut sum = RBig::ZERO;
        for (a, b) in &pairs {
            sum += a * b;
        }
        sum
    });
}

#[divan::bench(args = KINDS)]
fn gcd_integer(bencher: Bencher<'_, '_>, kind: Kind) {
    pass(bencher, kind, |a: &Integer, b: &Integer| a.gcd(b));
}

#[divan::bench(args = KINDS)]
fn gcd_dashu(bencher: Bencher<'_, '_>, kind: Kind) {
    pass(bencher, kind, |a: &IBig, b: &IBig| a.gcd(b));
}
