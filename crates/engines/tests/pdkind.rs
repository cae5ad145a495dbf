//! PD-KIND on the worked examples of the literature.

mod common;

use std::time::Duration;

use common::{Counters, multiples_of_three, read, solve};
use shofar_engines::pdkind::{Depth, Options, Order, PdKind};
use shofar_engines::{Engine, Evidence, InterpolationMethod, Run};
use shofar_logic::TermStore;
use shofar_run::Stop;

/// The answer of an engine for a system, and its counters.
#[track_caller]
fn answer_of(engine: &PdKind, text: &str, seconds: u64) -> (Result<Evidence, Stop>, Counters) {
    let store = TermStore::new();
    let counters = Counters::default();
    let run = Run::new(&store).with_timeout(Duration::from_secs(seconds)).with_events(&counters);
    let answer = solve(engine, &read(&store, text), &run);
    (answer, counters)
}

fn strategies() -> Vec<PdKind> {
    let mut all = Vec::new();
    for depth in [Depth::Full, Depth::Growing, Depth::Fixed(1)] {
        for order in [Order::Fifo, Order::Lifo, Order::Shallow] {
            all.push(PdKind { options: Options::default().depth(depth).order(order) });
        }
    }
    for interpolation in InterpolationMethod::ALL {
        all.push(PdKind { options: Options::default().interpolation(interpolation) });
    }
    all
}

#[track_caller]
fn assert_sat(text: &str) {
    let (found, _) = answer_of(&PdKind::default(), text, 60);
    assert!(matches!(found, Ok(Evidence::Sat(_))), "{found:?}");
}

#[track_caller]
fn assert_unsat(engine: &PdKind, text: &str, steps: usize) {
    match answer_of(engine, text, 60).0 {
        Ok(Evidence::Unsat(derivation)) => assert_eq!(derivation.steps.len(), steps, "{engine:?}"),
        other => panic!("{engine:?}: {other:?}"),
    }
}

/// A counter that goes beyond ten after eleven steps.
#[test]
fn a_counter_passes_its_bound() {
    let text = "(declare-fun P (Int) Bool)
        (assert (P 0))
        (assert (forall ((x Int)) (=> (P x) (P (+ x 1)))))
        (assert (forall ((x Int)) (=> (and (P x) (not (<= x 10))) false)))";
    for engine in strategies() {
        assert_unsat(&engine, text, 13);
    }
}

#[test]
fn a_counter_that_stops_is_safe() {
    for engine in strategies() {
        let text = "(declare-fun P (Int) Bool)
            (assert (P 10))
            (assert (forall ((x Int)) (=> (and (P x) (> x 0)) (P (- x 1)))))
            (assert (forall ((x Int)) (=> (and (P x) (< x 0)) false)))";
        let (found, _) = answer_of(&engine, text, 60);
        assert!(matches!(found, Ok(Evidence::Sat(_))), "{engine:?}: {found:?}");
    }
}

/// Over the reals `x >= 0` is not inductive, and no k changes that without an upper bound.
#[test]
fn a_counter_over_the_reals_is_safe() {
    assert_sat(
        "(declare-fun P (Real) Bool)
         (assert (P 10.0))
         (assert (forall ((x Real)) (=> (and (P x) (> x 0.0)) (P (- x 1.0)))))
         (assert (forall ((x Real)) (=> (and (P x) (< x 0.0)) false)))",
    );
}

#[test]
fn no_states_and_bad_initial_states() {
    assert_sat(
        "(declare-fun P (Int) Bool)
         (assert (forall ((x Int)) (=> (and (< x 0) (> x 0)) (P x))))
         (assert (forall ((x Int)) (=> (P x) (P (+ x 1)))))
         (assert (forall ((x Int)) (=> (and (P x) (> x 5)) false)))",
    );
    assert_unsat(
        &PdKind::default(),
        "(declare-fun P (Int) Bool)
         (assert (forall ((x Int)) (=> (> x 0) (P x))))
         (assert (forall ((x Int)) (=> (P x) (P (+ x 1)))))
         (assert (forall ((x Int)) (=> (and (P x) (> x 5)) false)))",
        2,
    );
}

/// Fig. 3.1 of Blicha's thesis: a sum of the initial states' equations is the lemma `x + k y >= 0` for each `k` in
/// turn, and decomposed it is inductive at once.
#[test]
fn decomposed_interpolants_solve_what_farkas_sums_do_not() {
    let text = "(declare-fun P (Int Int) Bool)
        (assert (P 0 0))
        (assert (forall ((x Int) (y Int)) (=> (P x y) (P (+ x y) (+ y 1)))))
        (assert (forall ((x Int) (y Int)) (=> (and (P x y) (< x 0)) false)))";
    let with = |interpolation| PdKind {
        options: Options::default().depth(Depth::Fixed(1)).interpolation(interpolation),
    };
    let (found, counters) = answer_of(&with(InterpolationMethod::Decomposed), text, 60);
    assert!(matches!(found, Ok(Evidence::Sat(_))), "{found:?}");
    assert!(counters.get("lemmas.added") <= 2);
    let (found, counters) = answer_of(&with(InterpolationMethod::Farkas), text, 2);
    assert!(matches!(found, Err(Stop::Interrupted(_))), "{found:?}");
    assert!(counters.get("lemmas.added") > 5);
}

/// Two loops in sequence, by the transformation to a single one.
#[test]
fn several_predicates() {
    let text = |bound: &str| {
        format!(
            "(declare-fun P (Int Int) Bool) (declare-fun Q (Int Int) Bool)
             (assert (P 0 0))
             (assert (forall ((x Int) (y Int)) (=> (and (P x y) (< x 5)) (P (+ x 1) (+ y 1)))))
             (assert (forall ((x Int) (y Int)) (=> (and (P x y) (>= x 5)) (Q x y))))
             (assert (forall ((x Int) (y Int)) (=> (and (Q x y) (> x 0)) (Q (- x 1) (- y 1)))))
             (assert (forall ((x Int) (y Int)) (=> (and (Q x y) {bound}) false)))"
        )
    };
    assert_sat(&text("(not (= x y))"));
    assert_unsat(&PdKind::default(), &text("(= y 2)"), 11);
}

#[test]
fn bad_states_with_local_variables() {
    assert_sat(&multiples_of_three(6));
    assert_unsat(&PdKind::default(), &multiples_of_three(7), 3);
}

#[test]
fn clauses_with_two_atoms_are_refused() {
    let store = TermStore::new();
    let text = "(declare-fun P (Int) Bool)(assert (P 1))
        (assert (forall ((x Int) (y Int)) (=> (and (P x) (P y)) (P (+ x y)))))
        (assert (forall ((x Int)) (=> (and (P x) (< x 0)) false)))";
    assert!(PdKind::default().accepts(&store, &read(&store, text)).is_err());
}
