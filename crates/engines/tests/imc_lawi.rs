//! Interpolation-based model checking and lazy abstraction on the worked examples of the literature.

mod common;

use std::time::Duration;

use common::{Counters, IN_STEP, read, solve};
use shofar_engines::imc::{self, Imc};
use shofar_engines::lawi::{self, Lawi};
use shofar_engines::{Engine, Evidence, InterpolationMethod, Run};
use shofar_logic::TermStore;
use shofar_run::Stop;

/// The answer of an engine for a system.
#[track_caller]
fn answer_of(engine: &dyn Engine, text: &str, seconds: u64) -> Result<Evidence, Stop> {
    let store = TermStore::new();
    let run = Run::new(&store).with_timeout(Duration::from_secs(seconds));
    solve(engine, &read(&store, text), &run)
}

/// Both engines with all interpolation methods, with and without templates, and lazy abstraction without forced covers.
fn engines() -> Vec<Box<dyn Engine>> {
    let mut engines: Vec<Box<dyn Engine>> = Vec::new();
    for interpolation in InterpolationMethod::ALL {
        let (imc, lawi) = (imc::Options::default(), lawi::Options::default());
        let (imc, lawi) = (imc.interpolation(interpolation), lawi.interpolation(interpolation));
        engines.extend([0, 1].map(|n| Box::new(Imc { options: imc.templates(n) }) as Box<dyn Engine>));
        let lawi = [lawi.forced_covers(0), lawi, lawi.templates(1)];
        engines.extend(lawi.map(|options| Box::new(Lawi { options }) as Box<dyn Engine>));
    }
    engines
}

#[track_caller]
fn assert_sat(engine: &dyn Engine, text: &str) {
    let found = answer_of(engine, text, 60);
    assert!(matches!(found, Ok(Evidence::Sat(_))), "{}: {found:?}", engine.name());
}

#[track_caller]
fn assert_unsat(engine: &dyn Engine, text: &str, steps: usize) {
    match answer_of(engine, text, 60) {
        Ok(Evidence::Unsat(derivation)) => assert_eq!(derivation.steps.len(), steps, "{}", engine.name()),
        other => panic!("{}: {other:?}", engine.name()),
    }
}

#[test]
fn a_bounded_counter_is_safe() {
    for engine in engines() {
        assert_sat(
            &*engine,
            "(declare-fun P (Int) Bool)
             (assert (forall ((x Int)) (=> (= x 0) (P x))))
             (assert (forall ((x Int)) (=> (and (P x) (< x 10)) (P (+ x 1)))))
             (assert (forall ((x Int)) (=> (and (P x) (> x 10)) false)))",
        );
    }
}

#[test]
fn paths_are_found() {
    for engine in engines() {
        assert_unsat(
            &*engine,
            "(declare-fun P (Int) Bool) (assert (forall ((x Int)) (=> (and (>= x 5) (<= x 7)) (P x))))
             (assert (forall ((x Int)) (=> (and (P x) (>= x 6)) false)))",
            2,
        );
        assert_unsat(
            &*engine,
            "(declare-fun P (Int) Bool) (assert (forall ((x Int)) (=> (= x 0) (P x))))
             (assert (forall ((x Int)) (=> (P x) (P (+ x 1)))))
             (assert (forall ((x Int)) (=> (and (P x) (= x 6)) false)))",
            8,
        );
    }
}

/// Figure 1 of the paper on Impact (McMillan, CAV 2006).
#[test]
fn the_lock_is_safe() {
    let text = "(declare-fun H (Int Int Int) Bool) (declare-fun E (Int Int Int) Bool)
        (assert (forall ((o Int) (n Int)) (H 0 o n)))
        (assert (forall ((l Int) (o Int) (n Int)) (=> (H l o n) (E 1 n n))))
        (assert (forall ((l Int) (o Int) (n Int)) (=> (H l o n) (E 0 n (+ n 1)))))
        (assert (forall ((l Int) (o Int) (n Int)) (=> (and (E l o n) (not (= n o))) (H l o n))))
        (assert (forall ((l Int) (o Int) (n Int)) (=> (and (H l o n) (not (= l 0))) false)))
        (assert (forall ((l Int) (o Int) (n Int)) (=> (and (E l o n) (= n o) (not (= l 1))) false)))";
    assert_sat(&Imc::default(), text);
    assert_sat(&Lawi::default(), text);
    for engine in engines() {
        assert!(!matches!(answer_of(&*engine, text, 2), Ok(Evidence::Unsat(_))), "{}", engine.name());
    }
}

/// After the first query is refined, an older vertex covers the one before the queries, and uncovers it when its own label
/// becomes stronger. The other queries are still to be refined then.
#[test]
fn all_queries_after_a_vertex_are_refined() {
    let text = "(declare-fun P (Int Int) Bool) (assert (P 0 1)) (assert (P 0 2))
        (assert (forall ((x Int) (y Int)) (=> (and (P x y) (< x y)) (P (+ x 1) x))))
        (assert (forall ((x Int) (y Int)) (=> (and (P x y) (= x 0)) (P (+ x 1) (+ y x)))))
        (assert (forall ((x Int) (y Int)) (=> (and (P x y) (< (+ x y) 0)) false)))
        (assert (forall ((x Int) (y Int)) (=> (and (P x y) (< y 0)) false)))
        (assert (forall ((x Int) (y Int)) (=> (and (P x y) (< y 0)) false)))";
    for interpolation in InterpolationMethod::ALL {
        for forced_covers in [0, 1] {
            let options = lawi::Options::default().interpolation(interpolation).forced_covers(forced_covers);
            assert_sat(&Lawi { options }, text);
        }
    }
}

/// A bad state without successors counts as bad: the transitions of a bound are inside of its disjunction.
#[test]
fn bad_states_may_be_dead_ends() {
    for engine in engines() {
        assert_unsat(
            &*engine,
            "(declare-fun P (Int Int) Bool)
             (assert (P 0 0))
             (assert (forall ((x Int) (y Int) (z Int)) (=> (and (P x y) (= y 0) (<= 0 z 1)) (P (+ x 1) z))))
             (assert (forall ((x Int) (y Int)) (=> (and (P x y) (= x 4) (= y 1)) false)))",
            6,
        );
        assert_sat(
            &*engine,
            "(declare-fun P (Int Int) Bool)
             (assert (P 0 0))
             (assert (forall ((x Int) (y Int) (z Int)) (=> (and (P x y) (= y 0) (<= 0 z 1)) (P x z))))
             (assert (forall ((x Int) (y Int)) (=> (and (P x y) (= y 1) (> x 0)) false)))",
        );
    }
}

/// The refutations use only x, then only y, then only z at the cut: the first two bounds end with a spurious path.
#[test]
fn bounds_grow_where_interpolants_are_too_weak() {
    for engine in engines() {
        assert_sat(
            &*engine,
            "(declare-fun P (Int Int Int) Bool)
             (assert (forall ((x Int) (y Int) (z Int)) (=> (and (= x 0) (= y 0) (= z 0)) (P x y z))))
             (assert (forall ((x Int) (y Int) (z Int)) (=> (P x y z) (P y z z))))
             (assert (forall ((x Int) (y Int) (z Int)) (=> (and (P x y z) (> x 0)) false)))",
        );
    }
}

/// A Farkas sum of the initial states is `x + (k-1) y <= 0` for each bound `k`, which is too weak for each of them.
#[test]
fn decomposed_interpolants_converge_where_sums_do_not() {
    let text = "(declare-fun P (Int Int) Bool)
        (assert (forall ((x Int) (y Int)) (=> (and (= x 0) (= y 0)) (P x y))))
        (assert (forall ((x Int) (y Int)) (=> (P x y) (P (+ x y) y))))
        (assert (forall ((x Int) (y Int)) (=> (and (P x y) (> x 0)) false)))";
    assert_sat(&Imc::default(), text);
}

/// Two loops with a counter up and down; both need labels.
#[test]
fn two_loops_keep_their_counters_equal() {
    let text = "(declare-fun P (Int Int) Bool) (declare-fun Q (Int Int) Bool)
        (assert (forall ((x Int) (y Int)) (=> (and (= x 0) (= y 0)) (P x y))))
        (assert (forall ((x Int) (y Int)) (=> (P x y) (P (+ x 1) (+ y 1)))))
        (assert (forall ((x Int) (y Int)) (=> (P x y) (Q x y))))
        (assert (forall ((x Int) (y Int)) (=> (and (Q x y) (not (= x 0))) (Q (- x 1) (- y 1)))))
        (assert (forall ((x Int) (y Int)) (=> (and (Q x y) (= x 0) (not (= y 0))) false)))";
    for engine in [&Imc::default() as &dyn Engine, &Lawi::default()] {
        let found = answer_of(engine, text, 5);
        assert!(!matches!(found, Ok(Evidence::Unsat(_))), "{}", engine.name());
    }
}

/// The second loop is entered late. Nothing may be unwound below a vertex that enters it too early, or the unwinding
/// has no end.
#[test]
fn nothing_follows_on_dead_vertices() {
    let text = "(declare-fun P (Int) Bool) (declare-fun Q (Int Int) Bool)
        (assert (P 0))
        (assert (forall ((x Int)) (=> (and (P x) (< x 3)) (P (+ x 1)))))
        (assert (forall ((x Int)) (=> (and (P x) (>= x 3)) (Q (* 2 x) 0))))
        (assert (forall ((x Int) (y Int)) (=> (and (Q x y) (< y 6)) (Q x (+ y 2)))))
        (assert (forall ((x Int) (y Int)) (=> (and (Q x y) (>= y 6) (not (= x y))) false)))";
    for engine in engines() {
        assert_sat(&*engine, text);
    }
}

/// The refinements of an engine until it proves a system, or those within some seconds.
fn refinements(engine: &dyn Engine, text: &str, counter: &str, seconds: u64) -> (bool, u64) {
    let (store, counters) = (TermStore::new(), Counters::default());
    let run = Run::new(&store).with_timeout(Duration::from_secs(seconds)).with_events(&counters);
    let found = solve(engine, &read(&store, text), &run);
    (matches!(found, Ok(Evidence::Sat(_))), counters.get(counter))
}

#[test]
fn templates_relate_what_loops_change_in_step() {
    for interpolation in InterpolationMethod::ALL {
        let plain = lawi::Options::default().interpolation(interpolation);
        let (is_proved, few) = refinements(&Lawi { options: plain.templates(1) }, IN_STEP, "refinements", 60);
        assert!(is_proved && few <= 3, "{few} with {interpolation:?}");
        let (_, many) = refinements(&Lawi { options: plain }, IN_STEP, "refinements", 1);
        assert!(many > 3 * few, "{many} and {few} with {interpolation:?}");
        let plain = imc::Options::default().interpolation(interpolation);
        let (is_proved, few) = refinements(&Imc { options: plain.templates(1) }, IN_STEP, "images", 60);
        assert!(is_proved && few <= 3, "{few} with {interpolation:?}");
    }
}

#[test]
fn queries_without_predicates_and_predicates_without_facts() {
    for engine in engines() {
        assert_unsat(&*engine, "(assert (=> (< 1 2) false))", 1);
        assert_sat(&*engine, "(declare-fun P (Int) Bool)(assert (P 1))");
        assert_sat(&*engine, "(declare-fun P (Int) Bool)(assert (forall ((x Int)) (=> (P x) false)))");
        assert_sat(
            &*engine,
            "(declare-fun P (Int) Bool)(assert (forall ((x Int)) (=> (and (< x 0) (> x 0)) false)))",
        );
    }
}
