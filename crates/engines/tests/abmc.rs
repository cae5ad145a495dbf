//! Accelerated bounded model checking: long counterexamples, models of few accelerated loops, and random loops. Every witness is checked.

mod common;

use std::time::Duration;

use common::loops::{agree_with_enumeration, looped};
use common::{
    Counters, LONG, agree_with_saturation, assert_answer, multiples_of_three, read, solve, up_to_five,
};
use shofar_engines::{Abmc, Engine, Evidence, Run};
use shofar_logic::TermStore;
use shofar_run::Stop;
use shofar_testing::scale;
use shofar_testing::systems::Shape;

#[track_caller]
fn proved(text: &str) {
    assert_answer(&Abmc::default(), text, true);
}

/// The engine finds a derivation with this number of steps. Returns its counters.
#[track_caller]
fn refuted(text: &str, steps: usize) -> Counters {
    let store = TermStore::new();
    let counters = Counters::default();
    let run = Run::new(&store).with_timeout(LONG).with_events(&counters);
    match solve(&Abmc::default(), &read(&store, text), &run) {
        Ok(Evidence::Unsat(derivation)) => assert_eq!(derivation.steps.len(), steps),
        other => panic!("{other:?}\n{text}"),
    }
    counters
}

#[test]
fn one_accelerated_step_is_a_long_counterexample() {
    let rounds = 50_000;
    let text =
        |bad: i64| looped(&["x"], &[0], &format!("(< x {})", 2 * rounds), "(+ x 2)", &format!("(= x {bad})"));
    let counters = refuted(&text(2 * rounds), 50_002);
    assert!(counters.get("depth") <= 2);
    proved(&text(2 * rounds + 1));
    proved(&text(2 * rounds + 2));
}

#[test]
fn more_than_ten_million_steps_are_refused() {
    let store = TermStore::new();
    let text = looped(&["x"], &[0], "true", "(+ x 1)", "(= x 10000001)");
    let found = solve(&Abmc::default(), &read(&store, &text), &Run::new(&store).with_timeout(LONG));
    let Err(Stop::Exhausted(why)) = found else { panic!("{found:?}") };
    assert!(why.contains("ten million steps"), "{why}");
}

#[test]
fn swaps_and_signs_have_a_period() {
    let swapped = |bad: &str| looped(&["x", "y"], &[0, 1], "true", "y x", bad);
    proved(&swapped("(= x y)"));
    refuted(&swapped("(= x 1)"), 3);
    let alternating = |bad: &str| looped(&["x", "y"], &[1, 0], "true", "(- x) (+ y 1)", bad);
    proved(&alternating("(= x 1) (= (mod y 2) 1)"));
    refuted(&alternating("(= x (- 1)) (= y 2001)"), 2003);
}

#[test]
fn guards_hold_at_both_ends() {
    let text = |bad: &str| looped(&["x"], &[3], "(<= 0 x 900)", "(+ x 1)", bad);
    refuted(&text("(= x 901)"), 900);
    proved(&text("(= x 902)"));
    proved(&text("(< x 3)"));
}

#[test]
fn phases_that_follow_each_other() {
    let phases = |bad: &str| looped(&["x", "y"], &[0, 500], "true", "(+ x 1) (ite (< x 500) y (+ y 1))", bad);
    proved(&phases("(= x 1000) (not (= y 1000))"));
    refuted(&phases("(= y 1000)"), 1002);
    let next = "(ite (< x 5000) (+ x 2) x) (ite (< x 5000) y (+ y 1))";
    let text = |bad: &str| looped(&["x", "y"], &[0, 0], "true", next, bad);
    refuted(&text("(= y 2500)"), 5002);
    proved(&text("(> y 0) (not (= x 5000))"));
}

/// A round of the outer counter is 100 rounds of the inner one, and a reset.
#[test]
fn nested_counters() {
    let next = "(ite (< i 100) (+ i 1) 0) (ite (< i 100) j (+ j 1))";
    let text = |bad: &str| looped(&["i", "j"], &[0, 0], "true", next, bad);
    refuted(&text("(= j 40)"), 40 * 101 + 2);
    refuted(&text("(= j 40) (= i 7)"), 40 * 101 + 9);
    proved(&text("(> i 100)"));
}

#[test]
fn loops_that_reset_what_they_count() {
    let clauses = |bad: &str| {
        format!(
            "(declare-fun P (Int Int) Bool) (assert (P 0 0))
             (assert (forall ((x Int) (y Int)) (=> (and (P x y) (< x 300)) (P (+ x 1) 0))))
             (assert (forall ((x Int) (y Int)) (=> (and (P x y) (= x 300)) (P x (+ y 1)))))
             (assert (forall ((x Int) (y Int)) (=> (and (P x y) {bad}) false)))"
        )
    };
    refuted(&clauses("(= y 200)"), 502);
    proved(&clauses("(> y 0) (< x 300)"));
}

/// Changes between bounds, and an input that each round reads anew.
#[test]
fn nondeterministic_loops() {
    let clauses = |bad: &str| {
        format!(
            "(declare-fun P (Int Int Int) Bool) (assert (P 0 0 0))
             (assert (forall ((x Int) (y Int) (z Int) (v Int) (w Int))
                (=> (and (P x y z) (<= (+ y 1) v (+ y 3)) (> z (- 5))) (P (+ x 1) v w))))
             (assert (forall ((x Int) (y Int) (z Int)) (=> (and (P x y z) {bad}) false)))"
        )
    };
    refuted(&clauses("(= x 1000) (= y 2345)"), 1002);
    proved(&clauses("(> y (* 3 x))"));
    proved(&clauses("(< y x)"));
}

/// Doubling has no linear closed form; unrolling finds what it can.
#[test]
fn loops_without_closed_forms_are_unrolled() {
    let text = |bad: &str| looped(&["x"], &[1], "true", "(* 2 x)", bad);
    let counters = refuted(&text("(= x 1024)"), 12);
    assert_eq!(counters.get("relations"), 0);
}

#[test]
fn several_predicates() {
    let text = |query: &str| {
        format!(
            "(declare-fun P (Bool Int) Bool) (declare-fun Q (Int Int) Bool)
             (assert (P true 0))
             (assert (forall ((b Bool) (x Int)) (=> (and (P b x) (< x 5000)) (P (not b) (+ x 1)))))
             (assert (forall ((b Bool) (x Int)) (=> (and (P b x) b (>= x 4000)) (Q x 0))))
             (assert (forall ((x Int) (y Int)) (=> (and (Q x y) (> x 0)) (Q (- x 1) (+ y 2)))))
             (assert (forall ((x Int) (y Int)) (=> (and (Q x y) {query}) false)))"
        )
    };
    assert_answer(&Abmc::default(), &text("(= x 0) (= y 8004)"), false);
    assert_answer(&Abmc::default(), &text("(= x 0) (= y 8006)"), true);
}

#[test]
fn local_variables_and_systems_without_loops() {
    proved(&multiples_of_three(6));
    assert_answer(&Abmc::default(), &multiples_of_three(1), false);
    proved(&up_to_five("(and (< x 0) (> x 0))", "true"));
    proved(&up_to_five("(< x 0)", "(< x (- 3))"));
    proved(&up_to_five("(< x 0)", "false"));
}

#[test]
fn real_numbers_are_refused() {
    let store = TermStore::new();
    let text = "(declare-fun P (Real) Bool) (assert (P 0.0)) (assert (forall ((x Real)) (=> (and (P x) (> x 1.0)) false)))";
    let graph = read(&store, text);
    assert!(matches!(Abmc::default().accepts(&store, &graph), Err(Stop::Unsupported(_))));
}

#[test]
fn random_systems() {
    let time = |_| Duration::from_secs(2);
    for shape in [Shape::LINEAR, Shape::PASSING] {
        let tally = agree_with_saturation(&[Abmc::default()], time, &shape, 100 * scale());
        assert!(tally.safe > 10 && tally.unsafes > 10, "the systems are too much alike");
        assert!(tally.percent_solved() >= 80, "{} %", tally.percent_solved());
    }
}

#[test]
fn random_loops() {
    let tally = agree_with_enumeration(&[Abmc::default()], Duration::from_secs(2), 100 * scale());
    assert!(tally.proved > 10 && tally.refuted > 20, "{} proved, {} refuted", tally.proved, tally.refuted);
}
