//! Dual approximated reachability: both fixpoints, local variables, and random systems. `imc_lawi.rs` has more examples.

mod common;

use std::time::Duration;

use common::loops::agree_with_enumeration;
use common::{
    Counters, LONG, SMALL_SHAPES, agree_with_saturation, assert_answer, counter, proved, read, solve,
};
use shofar_engines::dar::{Dar, Options};
use shofar_engines::{Evidence, InterpolationMethod, Run};
use shofar_logic::TermStore;
use shofar_testing::Random;
use shofar_testing::scale::scale;
use shofar_testing::systems::{Shape, system};

fn configurations() -> Vec<Dar> {
    let with = |method| Dar { options: Options::default().interpolation(method) };
    InterpolationMethod::ALL.into_iter().map(with).collect()
}

#[test]
fn shapes_without_loops() {
    for engine in configurations() {
        for (text, is_safe) in SMALL_SHAPES {
            // Two of them have clauses with several premises.
            if !text.contains("(A x) (A y)") && !text.contains("(A x) (B y)") {
                assert_answer(&engine, text, is_safe);
            }
        }
        assert_answer(&engine, &counter("(> x 2)"), true);
        assert_answer(&engine, &counter("(>= x 2)"), false);
    }
}

/// Infinitely many states are reached, five apart, and no union of few bounds has them all. But only 2 leads to the bad state 7, and
/// nothing to 2, so the backward sequence is closed at once.
#[test]
fn the_backward_sequence_may_be_closed_first() {
    for engine in configurations() {
        let counters = proved(
            &engine,
            "(declare-fun P (Int) Bool)
             (assert (P 0))
             (assert (forall ((x Int)) (=> (and (P x) (>= x 0)) (P (+ x 5)))))
             (assert (forall ((x Int)) (=> (and (P x) (= x 7)) false)))",
        );
        assert_eq!((counters.get("closed.backward"), counters.get("bound")), (1, 1), "{engine:?}");
    }
}

/// Zeros move from the last argument to the first: an interpolant of one step is about one argument, and strengthening along the
/// sequences finds the other two.
#[test]
fn single_steps_suffice_where_arguments_move() {
    for engine in configurations() {
        let counters = proved(
            &engine,
            "(declare-fun P (Int Int Int) Bool)
             (assert (P 0 0 0))
             (assert (forall ((x Int) (y Int) (z Int)) (=> (P x y z) (P y z z))))
             (assert (forall ((x Int) (y Int) (z Int)) (=> (and (P x y z) (> x 0)) false)))",
        );
        assert_eq!(counters.get("strengthenings.global"), 0, "{engine:?}");
        assert!(counters.get("strengthenings.local") > 1, "{engine:?}");
    }
}

/// Bounds of both counters after few steps have to be found before the query excludes them; single steps meet.
#[test]
fn unrollings_strengthen_where_single_steps_are_too_weak() {
    for engine in configurations() {
        let counters = proved(
            &engine,
            "(declare-fun P (Int Int) Bool)
             (assert (P 0 0))
             (assert (forall ((x Int) (y Int)) (=> (P x y) (P (+ x 1) (+ y 2)))))
             (assert (forall ((x Int) (y Int)) (=> (and (P x y) (> x 3) (< y 4)) false)))",
        );
        assert!(counters.get("strengthenings.global") > 0, "{engine:?}");
    }
}

/// Remainders need local variables in the first and in the bad states, and no quantifier is eliminated from a product of conditions
/// that makes them disappear.
#[test]
fn local_variables_of_first_and_bad_states() {
    for engine in configurations() {
        assert_answer(&engine, &common::multiples_of_three(2), false);
        let text = |bad: &str| {
            format!(
                "(declare-fun P (Int Int) Bool)
                 (assert (forall ((x Int) (k Int) (l Int)) (=> (and (= x (+ (* 7 k) (* 11 l))) (< 0 k 9) (< 0 l 5)) (P x x))))
                 (assert (forall ((x Int) (y Int)) (=> (and (P x y) (< x 100)) (P (+ x 1) y))))
                 (assert (forall ((x Int) (y Int) (k Int)) (=> (and (P x y) (= x (* 5 k)) (< k {bad})) false)))"
            )
        };
        assert_answer(&engine, &text("3"), true);
        assert_answer(&engine, &text("5"), false);
    }
}

/// Proofs end by both sequences, and paths need single steps and unrollings.
#[test]
fn all_ways_to_an_answer_are_taken() {
    let names = ["closed.backward", "strengthenings.local", "strengthenings.global"];
    let mut sums = [0; 3];
    let (mut proofs, mut answers) = (0, 0);
    for seed in 0..120 {
        let store = TermStore::new();
        let counters = Counters::default();
        let run = Run::new(&store).with_timeout(LONG).with_events(&counters);
        let text = system(&mut Random::new(seed), &Shape::LINEAR);
        let Ok(found) = solve(&Dar::default(), &read(&store, &text), &run) else { continue };
        answers += 1;
        proofs += u64::from(matches!(found, Evidence::Sat(_)));
        sums.iter_mut().zip(names).for_each(|(sum, name)| *sum += counters.get(name));
    }
    let [backward, local, global] = sums;
    assert!(answers >= 110 && backward > 0 && backward < proofs, "{backward} of {proofs} of {answers}");
    assert!(local > 20 && global > 5, "{local}, {global}");
}

#[test]
fn random_systems() {
    for shape in [Shape::LINEAR, Shape::PASSING] {
        let time = |_| Duration::from_secs(5);
        let tally = agree_with_saturation(&configurations(), time, &shape, 250 * scale());
        assert!(tally.safe > 10 && tally.unsafes > 10, "the systems are too much alike");
        assert!(tally.refuted == tally.unsafes, "{} of {} refuted", tally.refuted, tally.unsafes);
        assert!(tally.percent_solved() >= 98, "{} %", tally.percent_solved());
    }
}

#[test]
fn random_loops() {
    let tally = agree_with_enumeration(&configurations(), Duration::from_millis(100), 500 * scale());
    assert!(tally.proved > 100, "{} proved", tally.proved);
    assert!(tally.refuted * 10 >= tally.unsafes * 8, "{} of {} refuted", tally.refuted, tally.unsafes);
}
