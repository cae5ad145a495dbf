//! kAvy on worked examples, and on random systems.

mod common;

use std::time::Duration;

use common::{
    LONG, agree_with_saturation, assert_answer, multiples_of_three, proved, read, solve, up_to_five,
};
use shofar_engines::kavy::{Kavy, Options, Strategy};
use shofar_engines::{Evidence, InterpolationMethod, Run};
use shofar_logic::TermStore;
use shofar_testing::scale::scale;
use shofar_testing::systems::Shape;

const STRATEGIES: [Strategy; 4] =
    [Strategy::TopDown, Strategy::BottomUp, Strategy::CoreGuided, Strategy::Avy];

/// All ways to find levels, and all ways to make interpolants.
fn all_settings() -> Vec<Kavy> {
    let by_strategy = STRATEGIES.map(|strategy| Options::default().levels(strategy));
    let by_method = InterpolationMethod::ALL.map(|method| Options::default().interpolation(method));
    by_strategy.into_iter().chain(by_method).map(|options| Kavy { options }).collect()
}

/// The engine finds a derivation with this number of steps.
#[track_caller]
fn assert_unsat(engine: &Kavy, text: &str, steps: usize) {
    let store = TermStore::new();
    match solve(engine, &read(&store, text), &Run::new(&store).with_timeout(LONG)) {
        Ok(Evidence::Unsat(derivation)) => assert_eq!(derivation.steps.len(), steps, "{engine:?}"),
        other => panic!("{engine:?}: {other:?}\n{text}"),
    }
}

/// Fig. 1 of the paper with integers: a counter returns to 0 after `end`; from `end + 2` on states are bad. The property is
/// 2-inductive, because `end + 1` has no predecessor.
fn counter_with_gap(end: u64) -> String {
    format!(
        "(declare-fun P (Int) Bool)
         (assert (P 0))
         (assert (forall ((c Int)) (=> (P c) (P (ite (= c {end}) 0 (+ c 1))))))
         (assert (forall ((c Int)) (=> (and (P c) (>= c {})) false)))",
        end + 2
    )
}

#[test]
fn the_counter_with_a_gap_needs_the_same_frames_for_all_bounds() {
    for strategy in [Strategy::TopDown, Strategy::BottomUp, Strategy::CoreGuided] {
        let engine = Kavy { options: Options::default().levels(strategy) };
        let counted = [64, 1000, 100_000].map(|end| {
            let counters = proved(&engine, &counter_with_gap(end));
            assert!(counters.get("extensions.strong") > 0, "{engine:?}");
            counters.get("frames")
        });
        assert!(counted[0] <= 3 && counted.iter().all(|&frames| frames == counted[0]), "{counted:?}");
    }
}

#[test]
fn counters_pass_their_bounds_or_stop() {
    let counter = |query: &str| {
        format!(
            "(declare-fun P (Int) Bool)
             (assert (P 0))
             (assert (forall ((x Int)) (=> (and (P x) (< x 12)) (P (+ x 1)))))
             (assert (forall ((x Int)) (=> (and (P x) {query}) false)))"
        )
    };
    for engine in all_settings() {
        proved(&engine, &counter("(> x 12)"));
        assert_unsat(&engine, &counter("(> x 7)"), 10);
        assert_unsat(&engine, &counter("(<= x 0)"), 2);
    }
}

#[test]
fn reals() {
    let waves = |query: &str| {
        format!(
            "(declare-fun P (Bool Real Real) Bool)
             (assert (forall ((x Real)) (=> (and (<= 0.0 x) (<= x 1.0)) (P true x 0.0))))
             (assert (forall ((x Real) (y Real) (d Real))
                 (=> (and (P true x y) (<= 0.0 d) (<= d 0.5)) (P false (+ x d) (+ y d)))))
             (assert (forall ((x Real) (y Real)) (=> (P false x y) (P true (- x y) 0.0))))
             (assert (forall ((b Bool) (x Real) (y Real)) (=> (and (P b x y) {query}) false)))"
        )
    };
    for engine in all_settings() {
        proved(&engine, &waves("(> x 1.5)"));
        assert_unsat(&engine, &waves("(not b) (= y 0.25) (> x 1.2)"), 3);
    }
}

#[test]
fn several_predicates() {
    let text = |query: &str| {
        format!(
            "(declare-fun P (Int Int) Bool) (declare-fun Q (Int Int) Bool)
             (assert (P 0 0))
             (assert (forall ((x Int) (y Int)) (=> (and (P x y) (< x 5)) (P (+ x 1) (+ y 1)))))
             (assert (forall ((x Int) (y Int)) (=> (and (P x y) (>= x 5)) (Q x y))))
             (assert (forall ((x Int) (y Int)) (=> (and (Q x y) (> x 0)) (Q (- x 1) (- y 1)))))
             (assert (forall ((x Int) (y Int)) (=> (and (Q x y) {query}) false)))"
        )
    };
    assert_answer(&Kavy::default(), &text("(not (= x y))"), true);
    assert_unsat(&Kavy::default(), &text("(= y 2)"), 11);
}

#[test]
fn initial_and_bad_states_with_local_variables() {
    assert_answer(&Kavy::default(), &multiples_of_three(6), true);
    assert_unsat(&Kavy::default(), &multiples_of_three(1), 3);
}

#[test]
fn no_states_and_no_transitions() {
    for engine in all_settings() {
        proved(&engine, &up_to_five("(and (< x 0) (> x 0))", "true"));
        proved(&engine, &up_to_five("(< x 0)", "(< x (- 3))"));
        proved(&engine, &up_to_five("(< x 0)", "false"));
    }
}

#[test]
fn random_systems() {
    let settings = all_settings();
    let time = |_| Duration::from_secs(5);
    for shape in [Shape::LINEAR, Shape::PASSING] {
        let tally = agree_with_saturation(&settings, time, &shape, 150 * scale());
        assert!(tally.safe > 10 && tally.unsafes > 10, "the systems are too much alike");
        assert!(tally.percent_solved() >= 95, "{} %", tally.percent_solved());
    }
}
