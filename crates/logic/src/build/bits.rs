//! Integers in place of bit-vectors that are made from integers (N20 of [`build`](super)).
//!
//! Programs on integers convert them to bit-vectors for a single bitwise operation and convert the result back. Arithmetic
//! often says the same:
//!
//! | bit-vector | integer |
//! |---|---|
//! | `int_to_bv(n)` | `n mod 2^w` |
//! | `a + b`, `-a`, `a * b`, `not a` | the same, `-1 - a`; modulo `2^w` |
//! | bits `hi` to `lo` of `a` | `(a div 2^lo) mod 2^(hi - lo + 1)` |
//! | `a` before `b` | `a * 2^w + b`, where `w` is the width of `b` |
//! | `a and m`, where the ones of `m` are few runs | the sum of these parts of `a`, each at its place |
//! | `a or b`, `a xor b` | `a + b - (a and b)`, `a + b - 2 * (a and b)` |
//! | `a and b`, of few bits | the sum of the common bits |
//! | a shift by `b`, of few bits | a case for each distance |
//! | division and remainder by constants, sign extension, comparisons | the same |
//!
//! The rest has no exact image: bitwise operators on two unknown vectors, shifts by unknown distances and divisions by
//! unknown divisors. Then, and if a vector has any other origin, such as a variable, everything stays as it is.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::number::Integer;
use crate::op::Op;
use crate::term::{Term, TermStore};

/// The greatest number of operators on bit-vectors in one conversion, which bounds its time.
const MOST_OPERATORS: usize = 256;
/// The greatest width for which bits or distances are told apart one by one.
const MOST_CASES: u32 = 8;
/// The greatest number of runs of ones in a mask.
const MOST_RUNS: usize = 8;

/// An integer for a bit-vector of some width.
#[derive(Clone, Copy)]
struct Number {
    /// Equal to the vector modulo two to the width.
    value: Term,
    /// Whether it is equal to the vector.
    is_reduced: bool,
}

impl TermStore {
    /// The bit-vectors as natural numbers, in integer arithmetic. `None` if some are not made from integers, or by operators
    /// that arithmetic does not express. All arguments are normal.
    pub(super) fn as_naturals<const N: usize>(&self, vectors: [Term; N]) -> Option<[Term; N]> {
        let parts = self.parts_made_from_integers(&vectors)?;
        let mut numbers: FxHashMap<Term, Number> = FxHashMap::default();
        for part in parts {
            let number = self.number_of_vector(part, &numbers)?;
            numbers.insert(part, number);
        }
        Some(vectors.map(|vector| self.reduced(numbers[&vector], self.vector_width(vector))))
    }

    /// The bit-vectors as two's-complement integers, as [`as_naturals`](Self::as_naturals).
    pub(super) fn as_integers<const N: usize>(&self, vectors: [Term; N]) -> Option<[Term; N]> {
        let width = self.vector_width(vectors[0]);
        Some(self.as_naturals(vectors)?.map(|natural| self.twos_complement(natural, width)))
    }

    /// The vectors on which the given ones depend, each after those on which it depends itself. `None` if one of them is a
    /// variable or the like, or if they are many.
    fn parts_made_from_integers(&self, vectors: &[Term]) -> Option<Vec<Term>> {
        let mut seen: FxHashSet<Term> = FxHashSet::default();
        let mut parts: Vec<Term> = Vec::new();
        let mut open: Vec<Term> = vectors.to_vec();
        while let Some(vector) = open.pop() {
            if !seen.insert(vector) {
                continue;
            }
            if parts.len() == MOST_OPERATORS {
                return None;
            }
            parts.push(vector);
            match self.view(vector) {
                (Op::BvNumeral(_) | Op::IntToBv(_), _) => {}
                (Op::Ite, &[_, a, b]) => open.extend([a, b]),
                (
                    Op::BvNot
                    | Op::BvNeg
                    | Op::BvAnd
                    | Op::BvOr
                    | Op::BvXor
                    | Op::BvAdd
                    | Op::BvMul
                    | Op::BvUdiv
                    | Op::BvUrem
                    | Op::BvShl
                    | Op::BvLshr
                    | Op::BvAshr
                    | Op::Concat
                    | Op::Extract { .. }
                    | Op::SignExtend(_),
                    args,
                ) => open.extend_from_slice(args),
                _ => return None,
            }
        }
        // Arguments have smaller indices than the terms that contain them (invariant I3 of the store).
        parts.sort_unstable();
        Some(parts)
    }

    /// The number of a vector whose arguments have theirs.
    fn number_of_vector(&self, vector: Term, numbers: &FxHashMap<Term, Number>) -> Option<Number> {
        let width = self.vector_width(vector);
        let modulo = |value: Term| Number { value, is_reduced: false };
        let reduced = |value: Term| Number { value, is_reduced: true };
        let natural = |arg: Term| self.reduced(numbers[&arg], self.vector_width(arg));
        let value = |arg: &Term| numbers[arg].value;
        let (op, args) = self.view(vector);
        Some(match (op, args) {
            (Op::BvNumeral(number), _) => reduced(self.int(self.integer(number).clone())),
            (Op::IntToBv(_), &[integer]) => modulo(integer),
            (Op::Ite, &[condition, a, b]) => Number {
                value: self.ite(condition, value(&a), value(&b)),
                is_reduced: numbers[&a].is_reduced && numbers[&b].is_reduced,
            },
            (Op::BvNot, [a]) => modulo(self.sub(self.int(-1), value(a))),
            (Op::BvNeg, [a]) => modulo(self.neg(value(a))),
            (Op::BvAdd, _) => modulo(self.add(&args.iter().map(value).collect::<Vec<Term>>())),
            (Op::BvMul, _) => modulo(self.mul(&args.iter().map(value).collect::<Vec<Term>>())),
            (Op::BvAnd | Op::BvOr | Op::BvXor, [first, others @ ..]) => {
                let mut all = numbers[first];
                for other in others {
                    let other = numbers[other];
                    let common = self.common_bits(all, other, width)?;
                    let times = |factor: i64| self.multiple(common.value, Integer::from(factor));
                    let value = match op {
                        Op::BvAnd => common.value,
                        Op::BvOr => self.add(&[all.value, other.value, times(-1)]),
                        _ => self.add(&[all.value, other.value, times(-2)]),
                    };
                    let is_reduced = match op {
                        Op::BvAnd => common.is_reduced,
                        _ => all.is_reduced && other.is_reduced && common.is_reduced,
                    };
                    all = Number { value, is_reduced };
                }
                all
            }
            (Op::BvUdiv, &[a, b]) => reduced(self.int_div(natural(a), self.divisor(b)?)),
            (Op::BvUrem, &[a, b]) => reduced(self.modulo(natural(a), self.divisor(b)?)),
            (Op::BvShl | Op::BvLshr | Op::BvAshr, &[a, b]) if width <= MOST_CASES => {
                let shifted = |by: u32| match op {
                    Op::BvShl => self.multiple(value(&a), Integer::pow2(by)),
                    Op::BvLshr => self.int_div(natural(a), self.power(by)),
                    _ => self.int_div(self.twos_complement(natural(a), width), self.power(by)),
                };
                let far = if op == Op::BvAshr { shifted(width - 1) } else { self.int(0) };
                let cases = (0..width).rev().fold(far, |rest, by| {
                    self.ite(self.eq(natural(b), self.int(u64::from(by))), shifted(by), rest)
                });
                Number { value: cases, is_reduced: op == Op::BvLshr }
            }
            (Op::Concat, [first, others @ ..]) => {
                let mut all = numbers[first];
                for &other in others {
                    let high = self.multiple(all.value, Integer::pow2(self.vector_width(other)));
                    all.value = self.add(&[high, natural(other)]);
                }
                all
            }
            (Op::Extract { hi, lo }, &[a]) => {
                let whole = numbers[&a];
                let value = self.int_div(whole.value, self.power(lo));
                Number { value, is_reduced: whole.is_reduced && hi + 1 == self.vector_width(a) }
            }
            (Op::SignExtend(_), &[a]) => modulo(self.twos_complement(natural(a), self.vector_width(a))),
            _ => return None,
        })
    }

    /// The number of a vector between zero and two to the width.
    fn reduced(&self, number: Number, width: u32) -> Term {
        if number.is_reduced { number.value } else { self.modulo(number.value, self.power(width)) }
    }

    /// The two's-complement integer whose bits are those of a natural number.
    fn twos_complement(&self, natural: Term, width: u32) -> Term {
        let is_negative = self.ge(natural, self.power(width - 1));
        self.ite(is_negative, self.sub(natural, self.power(width)), natural)
    }

    /// The number with the bits that two numbers of vectors of a width have in common.
    fn common_bits(&self, a: Number, b: Number, width: u32) -> Option<Number> {
        let constant = |number: Number| Some(self.numeral(number.value)?.to_integer()?.modulo_pow2(width));
        match (constant(a), constant(b)) {
            (Some(a), Some(b)) => return Some(Number { value: self.int(&a & &b), is_reduced: true }),
            (Some(mask), None) => return self.masked(b, &mask, width),
            (None, Some(mask)) => return self.masked(a, &mask, width),
            (None, None) if width > MOST_CASES => return None,
            (None, None) => {}
        }
        let has_bit = |number: Number, bit: u32| self.eq(self.part(number, bit, 1, width), self.int(1));
        let common = (0..width).map(|bit| {
            let is_common = self.and2(has_bit(a, bit), has_bit(b, bit));
            self.ite(is_common, self.power(bit), self.int(0))
        });
        Some(Number { value: self.add(&common.collect::<Vec<Term>>()), is_reduced: true })
    }

    /// The number with the bits where a mask has ones. `None` if it has too many runs of ones, and of zeros.
    fn masked(&self, number: Number, mask: &Integer, width: u32) -> Option<Number> {
        let of_runs = |runs: Vec<(u32, u32)>| {
            let parts = runs
                .into_iter()
                .map(|(lo, length)| self.multiple(self.part(number, lo, length, width), Integer::pow2(lo)));
            self.add(&parts.chain([self.int(0)]).collect::<Vec<Term>>())
        };
        if let Some(ones) = runs(width, |bit| mask.bit(bit as usize)) {
            return Some(Number { value: of_runs(ones), is_reduced: true });
        }
        let zeros = runs(width, |bit| !mask.bit(bit as usize))?;
        Some(Number { value: self.sub(number.value, of_runs(zeros)), is_reduced: number.is_reduced })
    }

    /// The number that some bits of the number of a vector of a width make.
    fn part(&self, number: Number, lo: u32, length: u32, width: u32) -> Term {
        let high = self.int_div(number.value, self.power(lo));
        if number.is_reduced && lo + length == width { high } else { self.modulo(high, self.power(length)) }
    }

    /// The integer for a constant divisor that is not zero.
    fn divisor(&self, vector: Term) -> Option<Term> {
        let value = self.bv_numeral(vector).filter(|value| !value.is_zero())?;
        Some(self.int(value.clone()))
    }

    fn multiple(&self, number: Term, factor: Integer) -> Term {
        self.mul(&[self.int(factor), number])
    }

    /// Two to an exponent.
    fn power(&self, exponent: u32) -> Term {
        self.int(Integer::pow2(exponent))
    }

    fn vector_width(&self, vector: Term) -> u32 {
        self.bv_width(self.sort_of(vector)).expect("parts of bit-vectors are bit-vectors")
    }
}

/// The runs of bits below the width that are set, each with its lowest bit and its length. `None` if there are too many.
fn runs(width: u32, is_set: impl Fn(u32) -> bool) -> Option<Vec<(u32, u32)>> {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for bit in (0..width).filter(|&bit| is_set(bit)) {
        let count = runs.len();
        match runs.last_mut() {
            Some((lo, length)) if *lo + *length == bit => *length += 1,
            _ if count == MOST_RUNS => return None,
            _ => runs.push((bit, 1)),
        }
    }
    Some(runs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sort::Sort;

    fn number(store: &TermStore, name: &str) -> Term {
        store.var(store.symbol(name), Sort::INT)
    }

    #[test]
    fn masks_and_shifts_by_constants_are_divisions_and_remainders() {
        let store = TermStore::new();
        let n = number(&store, "n");
        let vector = store.int_to_bv(256, n);
        let power = |exponent: u32| store.int(Integer::pow2(exponent));
        let low = store.bv_and(&[vector, store.bv(255, 256)]);
        assert_eq!(store.ubv_to_int(low), store.modulo(n, power(8)));
        let middle = store.bv_and(&[vector, store.bv(0xff00, 256)]);
        let part = store.modulo(store.int_div(n, power(8)), power(8));
        assert_eq!(store.ubv_to_int(middle), store.mul(&[power(8), part]));
        let shifted = store.bv_shl(store.int_to_bv(8, n), store.bv(3, 8));
        assert_eq!(store.ubv_to_int(shifted), store.mul(&[power(3), store.modulo(n, power(5))]));
        let complement = store.bv_not(store.int_to_bv(8, n));
        let negated = store.sub(store.int(-1), n);
        assert_eq!(store.ubv_to_int(complement), store.modulo(negated, power(8)));
    }

    /// The sign and the value of a number as Solidity's compiler writes them.
    #[test]
    fn both_branches_of_a_conversion_by_sign_are_the_same() {
        let store = TermStore::new();
        let n = number(&store, "n");
        let negative = store.bv_mul(&[store.bv(-1, 8), store.int_to_bv(8, store.neg(n))]);
        let vector = store.ite(store.ge(n, store.int(0)), store.int_to_bv(8, n), negative);
        assert_eq!(store.ubv_to_int(vector), store.modulo(n, store.int(256)));
    }

    #[test]
    fn what_arithmetic_does_not_express_stays() {
        let store = TermStore::new();
        let [a, b] = ["a", "b"].map(|name| store.int_to_bv(64, number(&store, name)));
        let variable = store.var(store.symbol("v"), store.bitvec_sort(64));
        let stripes = store.bv(Integer::parse(b"5555555555555555", 16).expect("digits"), 64);
        for vector in [
            store.bv_and(&[a, b]),
            store.bv_xor(&[a, b]),
            store.bv_and(&[a, stripes]),
            store.bv_shl(a, b),
            store.bv_udiv(a, b),
            store.bv_add(&[a, variable]),
            store.bv_not(variable),
        ] {
            assert_eq!(store.op(store.ubv_to_int(vector)), Op::UbvToInt);
            assert_eq!(store.op(store.sbv_to_int(vector)), Op::SbvToInt);
            let large = store.bv(1 << 20, 64);
            let is_kept = |term: Term| store.subterms(&[term]).contains(&vector);
            assert!(is_kept(store.bv_ule(vector, large)) && is_kept(store.bv_sle(vector, large)));
        }
    }

    #[test]
    fn deep_sums_of_vectors_take_no_time() {
        let store = TermStore::new();
        let mut vector = store.int_to_bv(64, number(&store, "n"));
        for level in 0..10_000_u64 {
            vector = store.bv_xor(&[store.bv_add(&[vector, vector]), store.bv(level | 1, 64)]);
            let is_kept = store.op(store.ubv_to_int(vector)) == Op::UbvToInt;
            assert!(is_kept || level < 256);
        }
    }
}
