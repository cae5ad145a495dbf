//! Bit-vectors that are made from integers: their normal forms are integer arithmetic and have the same values.

use shofar_logic::number::Integer;
use shofar_logic::{Assignment, Op, Sort, Term, TermStore, Value};
use shofar_testing::{Random, scale};

const GREATEST_WIDTH: usize = 12;

/// A random vector of a width, as written.
fn vector(store: &TermStore, random: &mut Random, integers: &[Term], width: u32, levels: usize) -> Term {
    let app = |op: Op, args: &[Term]| store.app(op, args).expect("the sorts fit");
    let constant = |random: &mut Random| store.bv(random.below(1 << width) as u64, width);
    if levels == 0 || random.one_in(6) {
        return match random.below(3) {
            0 => constant(random),
            _ => app(Op::IntToBv(width), &[*random.choose(integers)]),
        };
    }
    let below = |random: &mut Random, width: u32| vector(store, random, integers, width, levels - 1);
    match random.below(12) {
        0 => app(*random.choose(&[Op::BvNot, Op::BvNeg]), &[below(random, width)]),
        1 | 2 => {
            let op = *random.choose(&[Op::BvAdd, Op::BvSub, Op::BvMul]);
            app(op, &[below(random, width), below(random, width)])
        }
        3..=5 => {
            let ops = [Op::BvAnd, Op::BvOr, Op::BvXor, Op::BvXnor, Op::BvNand, Op::BvNor];
            let mask = if random.one_in(3) { below(random, width) } else { constant(random) };
            app(*random.choose(&ops), &[below(random, width), mask])
        }
        6 => {
            let ops = [Op::BvUdiv, Op::BvUrem, Op::BvSdiv, Op::BvSrem, Op::BvSmod];
            app(*random.choose(&ops), &[below(random, width), constant(random)])
        }
        7 => {
            let ops = [Op::BvShl, Op::BvLshr, Op::BvAshr];
            let distance = if random.one_in(2) { below(random, width) } else { constant(random) };
            app(*random.choose(&ops), &[below(random, width), distance])
        }
        8 if width > 1 => {
            let low = 1 + random.below(width as usize - 1) as u32;
            app(Op::Concat, &[below(random, width - low), below(random, low)])
        }
        9 => {
            let more = random.below(4) as u32;
            let lo = random.below(more as usize + 1) as u32;
            app(Op::Extract { hi: lo + width - 1, lo }, &[below(random, width + more)])
        }
        10 if width > 1 => {
            let by = 1 + random.below(width as usize - 1) as u32;
            let op = *random.choose(&[Op::SignExtend(by), Op::ZeroExtend(by), Op::RotateLeft(by)]);
            let inner = if matches!(op, Op::RotateLeft(_)) { width } else { width - by };
            app(op, &[below(random, inner)])
        }
        _ => {
            let condition = comparison(store, random, integers, width, levels - 1);
            app(Op::Ite, &[condition, below(random, width), below(random, width)])
        }
    }
}

/// A random comparison of vectors, as written.
fn comparison(store: &TermStore, random: &mut Random, integers: &[Term], width: u32, levels: usize) -> Term {
    let ops = [
        Op::Eq,
        Op::BvUlt,
        Op::BvUle,
        Op::BvUgt,
        Op::BvUge,
        Op::BvSlt,
        Op::BvSle,
        Op::BvSge,
        Op::BvUaddO,
        Op::BvSaddO,
        Op::BvUsubO,
        Op::BvSsubO,
        Op::BvUmulO,
        Op::BvSmulO,
    ];
    let op = *random.choose(&ops);
    let sides = [(); 2].map(|()| vector(store, random, integers, width, levels));
    store.app(op, &sides).expect("the sorts fit")
}

#[test]
fn normal_forms_of_conversions_are_arithmetic_with_the_same_values() {
    let mut without_vectors = 0;
    let count = 4_000 * scale();
    for seed in 0..count {
        let random = &mut Random::new(seed);
        let store = TermStore::new();
        let integers = ["k", "n"].map(|name| store.var(store.symbol(name), Sort::INT));
        let width = 1 + random.below(GREATEST_WIDTH) as u32;
        let term = match random.below(3) {
            0 => comparison(&store, random, &integers, width, 3),
            conversion => {
                let op = if conversion == 1 { Op::UbvToInt } else { Op::SbvToInt };
                store.app(op, &[vector(&store, random, &integers, width, 4)]).expect("it is a vector")
            }
        };
        let normal = store.normalize(term);
        for _ in 0..12 {
            let mut number = || -> Integer {
                let sign = if random.one_in(2) { -1 } else { 1 };
                let bits = 1 + random.below(14);
                Integer::from(sign * random.below(1 << bits) as i64)
            };
            let assignment: Assignment =
                integers.iter().map(|&integer| (integer, Value::Int(number()))).collect();
            let (expected, found) = (store.eval(term, &assignment), store.eval(normal, &assignment));
            assert_eq!(expected, found, "seed {seed}: {} is {}", store.display(term), store.display(normal));
        }
        let is_vector = |&term: &Term| store.bv_width(store.sort_of(term)).is_some();
        without_vectors += u64::from(!store.subterms(&[normal]).iter().any(is_vector));
    }
    assert!(without_vectors * 2 > count, "only {without_vectors} of {count} have no bit-vectors");
}

/// A conversion and the same in arithmetic, for all operands of four bits.
#[test]
fn all_operators_agree_with_bit_vectors_on_four_bits() {
    let store = TermStore::new();
    let [a, b] = ["a", "b"].map(|name| store.var(store.symbol(name), Sort::INT));
    let vectors = [a, b].map(|integer| store.app(Op::IntToBv(4), &[integer]).expect("it is an integer"));
    let ops = [
        Op::BvAnd,
        Op::BvOr,
        Op::BvXor,
        Op::BvAdd,
        Op::BvSub,
        Op::BvMul,
        Op::BvShl,
        Op::BvLshr,
        Op::BvAshr,
        Op::Concat,
    ];
    for op in ops {
        let both = store.app(op, &vectors).expect("both have one width");
        for conversion in [Op::UbvToInt, Op::SbvToInt] {
            let term = store.app(conversion, &[both]).expect("it is a vector");
            let normal = store.normalize(term);
            assert!(!store.subterms(&[normal]).iter().any(|&t| store.bv_width(store.sort_of(t)).is_some()));
            for (x, y) in (-3..17).flat_map(|x| (-3..17).map(move |y| (x, y))) {
                let assignment: Assignment =
                    [(a, x), (b, y)].into_iter().map(|(n, value)| (n, Value::Int(value.into()))).collect();
                let (expected, found) = (store.eval(term, &assignment), store.eval(normal, &assignment));
                assert_eq!(expected, found, "{op:?} of {x} and {y}");
            }
        }
    }
}
