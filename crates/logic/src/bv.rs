//! Bit-vector arithmetic on constants, for the builders and the evaluator.
//!
//! A bit-vector of width `w` is the natural number below `2^w` with its bits. [`fold`] gives the value of each operator
//! of SMT-LIB's theory FixedSizeBitVectors on such numbers. As in the theory it is total: unsigned division by zero
//! gives all ones, an unsigned remainder by zero gives the dividend, and the signed operators follow from their
//! definitions by the unsigned ones.

use crate::number::Integer;
use crate::op::Op;

/// The value of an operator on bit-vectors.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum BvResult {
    /// A bit-vector, as a natural number, with its width.
    Bv(Integer, u32),
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(Integer),
}

/// The value of a bit-vector operator on constants, each given with its width; `None` for other operators and for a
/// wrong number of arguments.
///
/// The arguments must have the sorts that the operator takes. The argument of [`Op::IntToBv`] is an integer, whose
/// width is ignored.
pub(crate) fn fold(op: Op, args: &[(&Integer, u32)]) -> Option<BvResult> {
    let &(first, width) = args.first()?;
    let bv = |value: Integer| Some(BvResult::Bv(value.modulo_pow2(width), width));
    let left = |step: &dyn Fn(&Integer, &Integer) -> Integer| {
        let mut rest = args[1..].iter();
        bv(rest.try_fold(first.clone(), |value, (arg, _)| Some(step(&value, arg).modulo_pow2(width)))?)
    };
    match (op, args) {
        (Op::Concat, _) => {
            let mut value = Integer::ZERO;
            let mut total = 0u32;
            for (arg, width) in args {
                value = (value << *width) | *arg;
                total = total.checked_add(*width)?;
            }
            Some(BvResult::Bv(value, total))
        }
        (Op::BvAnd, _) => left(&|a, b| a & b),
        (Op::BvOr, _) => left(&|a, b| a | b),
        (Op::BvXor, _) => left(&|a, b| a ^ b),
        (Op::BvXnor, _) => left(&|a, b| complement(&(a ^ b))),
        (Op::BvAdd, _) => left(&|a, b| a + b),
        (Op::BvMul, _) => left(&|a, b| a * b),
        (_, [_]) => unary(op, first, width),
        (_, [_, (second, _)]) => binary(op, first, second, width),
        _ => None,
    }
}

/// The value of an operator with one argument.
fn unary(op: Op, a: &Integer, width: u32) -> Option<BvResult> {
    let bv = |value: Integer, width: u32| Some(BvResult::Bv(value.modulo_pow2(width), width));
    match op {
        Op::BvNot => bv(complement(a), width),
        Op::BvNeg => bv(-a, width),
        Op::Extract { hi, lo } => bv(a >> lo, (hi - lo).checked_add(1)?),
        Op::Repeat(times) => {
            let total = width.checked_mul(times)?;
            bv(repeat(a, width, times), total)
        }
        Op::ZeroExtend(by) => bv(a.clone(), width.checked_add(by)?),
        Op::SignExtend(by) => bv(a.to_signed(width), width.checked_add(by)?),
        Op::RotateLeft(by) => bv(rotate_left(a, width, by % width), width),
        Op::RotateRight(by) => bv(rotate_left(a, width, width - by % width), width),
        Op::BvNegO => Some(BvResult::Bool(*a == Integer::pow2(width - 1))),
        Op::UbvToInt => Some(BvResult::Int(a.clone())),
        Op::SbvToInt => Some(BvResult::Int(a.to_signed(width))),
        Op::IntToBv(width) => bv(a.clone(), width),
        _ => None,
    }
}

/// The value of an operator with two arguments of the same width.
fn binary(op: Op, a: &Integer, b: &Integer, width: u32) -> Option<BvResult> {
    let bv = |value: Integer| Some(BvResult::Bv(value.modulo_pow2(width), width));
    let bool = |value: bool| Some(BvResult::Bool(value));
    let signed = || (a.to_signed(width), b.to_signed(width));
    let beyond_signed = |value: Integer| {
        let half = Integer::pow2(width - 1);
        bool(value >= half || value < -half)
    };
    match op {
        Op::BvNand => bv(complement(&(a & b))),
        Op::BvNor => bv(complement(&(a | b))),
        Op::BvComp => Some(BvResult::Bv(Integer::from(i32::from(a == b)), 1)),
        Op::BvSub => bv(a - b),
        Op::BvUdiv if b.is_zero() => bv(Integer::from(-1)),
        Op::BvUdiv => bv(a.div_euclid(b)),
        Op::BvUrem | Op::BvSrem | Op::BvSmod if b.is_zero() => bv(a.clone()),
        Op::BvUrem => bv(a.rem_euclid(b)),
        // The quotient of a negative number by zero is the negation of all ones.
        Op::BvSdiv if b.is_zero() => bv(Integer::from(if a.bit(width as usize - 1) { 1 } else { -1 })),
        Op::BvSdiv => {
            let (a, b) = signed();
            let quotient = a.abs().div_euclid(&b.abs());
            bv(if a.is_negative() == b.is_negative() { quotient } else { -quotient })
        }
        Op::BvSrem => {
            let (a, b) = signed();
            let remainder = a.abs().rem_euclid(&b.abs());
            bv(if a.is_negative() { -remainder } else { remainder })
        }
        Op::BvSmod => {
            let (a, b) = signed();
            bv(a.mod_floor(&b))
        }
        Op::BvShl => bv(shift_amount(b, width).map_or(Integer::ZERO, |by| a << by)),
        Op::BvLshr => bv(shift_amount(b, width).map_or(Integer::ZERO, |by| a >> by)),
        Op::BvAshr => bv(a.to_signed(width) >> shift_amount(b, width).unwrap_or(width)),
        Op::BvUlt => bool(a < b),
        Op::BvUle => bool(a <= b),
        Op::BvUgt => bool(a > b),
        Op::BvUge => bool(a >= b),
        Op::BvSlt => bool(a.to_signed(width) < b.to_signed(width)),
        Op::BvSle => bool(a.to_signed(width) <= b.to_signed(width)),
        Op::BvSgt => bool(a.to_signed(width) > b.to_signed(width)),
        Op::BvSge => bool(a.to_signed(width) >= b.to_signed(width)),
        Op::BvUaddO => bool((a + b).bit_len() > width as usize),
        Op::BvUsubO => bool(a < b),
        Op::BvUmulO => bool((a * b).bit_len() > width as usize),
        Op::BvSaddO => {
            let (a, b) = signed();
            beyond_signed(a + b)
        }
        Op::BvSsubO => {
            let (a, b) = signed();
            beyond_signed(a - b)
        }
        Op::BvSmulO => {
            let (a, b) = signed();
            beyond_signed(a * b)
        }
        Op::BvSdivO => bool(*a == Integer::pow2(width - 1) && all_ones(b, width)),
        _ => None,
    }
}

/// The bitwise complement in two's complement.
fn complement(a: &Integer) -> Integer {
    -(a + Integer::ONE)
}

/// Whether all bits of the vector are set.
pub(crate) fn all_ones(a: &Integer, width: u32) -> bool {
    a.bit_len() == width as usize && (a + Integer::ONE).bit_len() > width as usize
}

/// The distance of a shift, if it is less than the width.
pub(crate) fn shift_amount(b: &Integer, width: u32) -> Option<u32> {
    b.to_u32().filter(|by| *by < width)
}

/// The bits repeated `times` times, built by doubling.
fn repeat(a: &Integer, width: u32, times: u32) -> Integer {
    let mut value = Integer::ZERO;
    for position in (0..u32::BITS - times.leading_zeros()).rev() {
        let doubled = width * (times >> position & !1) / 2;
        value = (&value << doubled) | value;
        if times >> position & 1 == 1 {
            value = (value << width) | a;
        }
    }
    value
}

/// Rotation by at most the width; the caller must truncate the higher bits.
fn rotate_left(a: &Integer, width: u32, by: u32) -> Integer {
    (a << by) | (a >> (width - by))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(op: Op, args: &[(i64, u32)]) -> BvResult {
        let numbers: Vec<Integer> = args.iter().map(|(value, _)| Integer::from(*value)).collect();
        let args: Vec<(&Integer, u32)> =
            numbers.iter().zip(args).map(|(n, (_, width))| (n, *width)).collect();
        fold(op, &args).expect("an operator on bit-vectors")
    }

    fn bv4(op: Op, a: i64, b: i64) -> i64 {
        match value(op, &[(a, 4), (b, 4)]) {
            BvResult::Bv(value, 4) => value.to_i64().expect("a small number"),
            other => panic!("not a vector of four bits: {other:?}"),
        }
    }

    fn truth(op: Op, args: &[(i64, u32)]) -> bool {
        value(op, args) == BvResult::Bool(true)
    }

    #[test]
    fn division_by_zero_is_as_the_standard_has_it() {
        for a in 0..16 {
            assert_eq!(bv4(Op::BvUdiv, a, 0), 15);
            assert_eq!(bv4(Op::BvUrem, a, 0), a);
            assert_eq!(bv4(Op::BvSrem, a, 0), a);
            assert_eq!(bv4(Op::BvSmod, a, 0), a);
            assert_eq!(bv4(Op::BvSdiv, a, 0), if a < 8 { 15 } else { 1 });
        }
    }

    /// The definitions of the standard, word by word, on all pairs of a width.
    #[test]
    fn signed_division_follows_its_definition_by_the_unsigned_one() {
        for width in 1..=4_u32 {
            let size = 1_i64 << width;
            let number = |op, a, b| match value(op, &[(a, width), (b, width)]) {
                BvResult::Bv(value, _) => value.to_i64().expect("a small number"),
                other => panic!("not a vector: {other:?}"),
            };
            let neg = |a: i64| (-a).rem_euclid(size);
            let negative = |a: i64| a >= size / 2;
            let abs = |a: i64| if negative(a) { neg(a) } else { a };
            for a in 0..size {
                for b in 0..size {
                    let quotient = number(Op::BvUdiv, abs(a), abs(b));
                    let remainder = number(Op::BvUrem, abs(a), abs(b));
                    let sdiv = if negative(a) == negative(b) { quotient } else { neg(quotient) };
                    let srem = if negative(a) { neg(remainder) } else { remainder };
                    let smod = match (negative(a), negative(b)) {
                        _ if remainder == 0 => remainder,
                        (false, false) => remainder,
                        (true, false) => (neg(remainder) + b) % size,
                        (false, true) => (remainder + b) % size,
                        (true, true) => neg(remainder),
                    };
                    assert_eq!(number(Op::BvSdiv, a, b), sdiv, "{a} sdiv {b}");
                    assert_eq!(number(Op::BvSrem, a, b), srem, "{a} srem {b}");
                    assert_eq!(number(Op::BvSmod, a, b), smod, "{a} smod {b}");
                }
            }
        }
    }

    #[test]
    fn shifts_beyond_the_width_leave_zeros_or_signs() {
        assert_eq!(bv4(Op::BvShl, 0b0110, 2), 0b1000);
        assert_eq!(bv4(Op::BvShl, 0b0110, 4), 0);
        assert_eq!(bv4(Op::BvLshr, 0b1010, 1), 0b0101);
        assert_eq!(bv4(Op::BvLshr, 0b1010, 15), 0);
        assert_eq!(bv4(Op::BvAshr, 0b1010, 1), 0b1101);
        assert_eq!(bv4(Op::BvAshr, 0b1010, 15), 0b1111);
        assert_eq!(bv4(Op::BvAshr, 0b0110, 15), 0);
    }

    #[test]
    fn parts_are_put_together_from_the_high_end() {
        assert_eq!(value(Op::Concat, &[(0b10, 2), (0b011, 3)]), BvResult::Bv(0b10011.into(), 5));
        assert_eq!(value(Op::Extract { hi: 3, lo: 1 }, &[(0b10110, 5)]), BvResult::Bv(0b011.into(), 3));
        assert_eq!(value(Op::Repeat(3), &[(0b01, 2)]), BvResult::Bv(0b010101.into(), 6));
        assert_eq!(value(Op::Repeat(7), &[(0b1, 1)]), BvResult::Bv(0b1111111.into(), 7));
        assert_eq!(value(Op::Repeat(4), &[(0b011, 3)]), BvResult::Bv(0b011011011011.into(), 12));
        assert_eq!(value(Op::SignExtend(2), &[(0b10, 2)]), BvResult::Bv(0b1110.into(), 4));
        assert_eq!(value(Op::ZeroExtend(2), &[(0b10, 2)]), BvResult::Bv(0b0010.into(), 4));
        assert_eq!(value(Op::RotateLeft(5), &[(0b0011, 4)]), BvResult::Bv(0b0110.into(), 4));
        assert_eq!(value(Op::RotateRight(1), &[(0b0011, 4)]), BvResult::Bv(0b1001.into(), 4));
        assert_eq!(value(Op::RotateRight(0), &[(0b0011, 4)]), BvResult::Bv(0b0011.into(), 4));
    }

    #[test]
    fn bitwise_operators_take_any_number_of_arguments() {
        assert_eq!(value(Op::BvXor, &[(1, 4), (2, 4), (4, 4)]), BvResult::Bv(7.into(), 4));
        assert_eq!(value(Op::BvXnor, &[(1, 4), (2, 4), (4, 4)]), BvResult::Bv(7.into(), 4));
        assert_eq!(value(Op::BvAdd, &[(9, 4), (9, 4), (1, 4)]), BvResult::Bv(3.into(), 4));
        assert_eq!(bv4(Op::BvNand, 0b0110, 0b0011), 0b1101);
        assert_eq!(bv4(Op::BvNor, 0b0110, 0b0011), 0b1000);
        assert_eq!(value(Op::BvNot, &[(0b0110, 4)]), BvResult::Bv(0b1001.into(), 4));
        assert_eq!(value(Op::BvNeg, &[(1, 4)]), BvResult::Bv(15.into(), 4));
        assert_eq!(value(Op::BvComp, &[(1, 4), (1, 4)]), BvResult::Bv(1.into(), 1));
    }

    #[test]
    fn overflow_is_leaving_the_range() {
        assert!(truth(Op::BvNegO, &[(8, 4)]) && !truth(Op::BvNegO, &[(7, 4)]));
        for a in 0..16_i64 {
            for b in 0..16_i64 {
                let (s, t) = (if a < 8 { a } else { a - 16 }, if b < 8 { b } else { b - 16 });
                let args = [(a, 4), (b, 4)];
                let beyond = |value: i64| !(-8..8).contains(&value);
                assert_eq!(truth(Op::BvUaddO, &args), a + b > 15);
                assert_eq!(truth(Op::BvUsubO, &args), a < b);
                assert_eq!(truth(Op::BvUmulO, &args), a * b > 15);
                assert_eq!(truth(Op::BvSaddO, &args), beyond(s + t));
                assert_eq!(truth(Op::BvSsubO, &args), beyond(s - t));
                assert_eq!(truth(Op::BvSmulO, &args), beyond(s * t));
                assert_eq!(truth(Op::BvSdivO, &args), s == -8 && t == -1);
                assert_eq!(truth(Op::BvSlt, &args), s < t);
                assert_eq!(truth(Op::BvUge, &args), a >= b);
            }
        }
    }

    #[test]
    fn conversions_to_and_from_integers() {
        assert_eq!(value(Op::UbvToInt, &[(9, 4)]), BvResult::Int(9.into()));
        assert_eq!(value(Op::SbvToInt, &[(9, 4)]), BvResult::Int((-7).into()));
        assert_eq!(value(Op::IntToBv(4), &[(-7, 0)]), BvResult::Bv(9.into(), 4));
        assert_eq!(fold(Op::Add, &[(&Integer::ONE, 4)]), None);
    }
}
