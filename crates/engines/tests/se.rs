//! Symbolic execution: shortest counterexamples, paths that end, covered states, and random systems.

mod common;

use std::time::Duration;

use common::loops::agree_with_enumeration;
use common::{LONG, agree_with_saturation, assert_answer, counter, read, solve};
use shofar_engines::{Engine, Evidence, Run, SymbolicExecution};
use shofar_logic::TermStore;
use shofar_run::{Reason, Stop};
use shofar_testing::scale::scale;
use shofar_testing::systems::Shape;

/// The engine finds a derivation with this number of steps.
#[track_caller]
fn refuted(text: &str, steps: usize) {
    let store = TermStore::new();
    match solve(&SymbolicExecution, &read(&store, text), &Run::new(&store).with_timeout(LONG)) {
        Ok(Evidence::Unsat(derivation)) => assert_eq!(derivation.steps.len(), steps),
        other => panic!("{other:?}\n{text}"),
    }
}

#[test]
fn counterexamples_are_shortest() {
    refuted(&counter("(>= x 2)"), 4);
    refuted("(assert (=> (< 1 2) false))", 1);
    // The second loop gets there sooner than the first one.
    refuted(
        "(declare-fun P (Int) Bool) (declare-fun Q (Int Bool) Bool)
         (assert (forall ((x Int)) (=> (< 0 x 3) (P x))))
         (assert (forall ((x Int)) (=> (P x) (P (+ x 1)))))
         (assert (forall ((x Int) (b Bool)) (=> (P x) (Q (* 2 x) b))))
         (assert (forall ((x Int) (b Bool)) (=> (and (Q x b) (not b)) (Q (+ x 3) (not b)))))
         (assert (forall ((x Int) (b Bool)) (=> (and (Q x b) b (= x 7)) false)))",
        4,
    );
}

#[test]
fn executions_that_end_are_models() {
    assert_answer(&SymbolicExecution, &counter("(> x 2)"), true);
    // Infinitely many values, but finitely many paths.
    assert_answer(
        &SymbolicExecution,
        "(declare-fun P (Int Real) Bool) (declare-fun Q (Int Real) Bool)
         (assert (forall ((x Int) (y Real)) (=> (and (> x 0) (>= y 1.5)) (P x y))))
         (assert (forall ((x Int) (y Real)) (=> (P x y) (Q (* 2 x) (+ y 1.0)))))
         (assert (forall ((x Int) (y Real)) (=> (and (Q x y) (or (< y 2.5) (= x 7))) false)))",
        true,
    );
}

/// The loop goes on for ever through states that are known.
#[test]
fn covered_states_end_paths() {
    assert_answer(
        &SymbolicExecution,
        "(declare-fun P (Int Bool) Bool)
         (assert (forall ((b Bool)) (P 0 b)))
         (assert (forall ((x Int) (b Bool)) (=> (P x b) (P (ite (>= x 7) 0 (+ x 2)) (not b)))))
         (assert (forall ((x Int) (b Bool)) (=> (and (P x b) (= x 5)) false)))",
        true,
    );
}

#[test]
fn loops_without_end_stop_in_time_and_several_premises_are_refused() {
    let store = TermStore::new();
    let text = "(declare-fun P (Int) Bool) (assert (P 0))
        (assert (forall ((x Int)) (=> (P x) (P (+ x 1)))))
        (assert (forall ((x Int)) (=> (and (P x) (< x 0)) false)))";
    let run = Run::new(&store).with_timeout(Duration::from_millis(200));
    let found = solve(&SymbolicExecution, &read(&store, text), &run);
    assert_eq!(found, Err(Stop::Interrupted(Reason::Deadline)));
    let text = "(declare-fun P (Int) Bool) (assert (P 1))
        (assert (forall ((x Int) (y Int)) (=> (and (P x) (P y) (< x y)) false)))";
    let refused = SymbolicExecution.accepts(&store, &read(&store, text));
    assert!(matches!(refused, Err(Stop::Unsupported(_))));
}

#[test]
fn random_systems() {
    let solved = |shape: &Shape| {
        let time = |_| Duration::from_secs(5);
        let tally = agree_with_saturation(&[SymbolicExecution], time, shape, 250 * scale());
        assert!(tally.safe > 10 && tally.unsafes > 10, "the systems are too much alike");
        assert!(tally.refuted == tally.unsafes, "{} of {} refuted", tally.refuted, tally.unsafes);
        tally.percent_solved()
    };
    assert!(solved(&Shape::LINEAR) >= 99);
    assert!(solved(&Shape::PASSING) >= 90);
}

#[test]
fn random_loops() {
    let tally = agree_with_enumeration(&[SymbolicExecution], Duration::from_millis(100), 300 * scale());
    assert!(tally.proved > 50, "{} proved", tally.proved);
    assert!(tally.refuted * 10 >= tally.unsafes * 8, "{} of {} refuted", tally.refuted, tally.unsafes);
}
