//! TPA and split-TPA: the worked examples of the thesis, deep counterexamples, and random systems with all options.
//! Every witness is checked on the engine's input graph.

mod common;

use std::time::{Duration, Instant};

use common::{Counters, read, solve};
use shofar_engines::tpa::{Intermediate, Options};
use shofar_engines::{Engine, Evidence, InterpolationMethod, Run, Tpa};
use shofar_horn::{HornGraph, parse};
use shofar_logic::TermStore;
use shofar_testing::explicit::Saturation;
use shofar_testing::systems::{Shape, system};
use shofar_testing::{Random, scale};

/// The answer of an engine, and its counters.
struct Outcome {
    /// Whether there is a model; `None` if this is unknown.
    is_safe: Option<bool>,
    /// The number of steps of the derivation, the query included.
    steps: usize,
    counters: Counters,
}

fn ask(engine: &Tpa, store: &TermStore, text: &str, time: Duration) -> Outcome {
    let counters = Counters::default();
    let run = Run::new(store).with_timeout(time).with_events(&counters);
    let (is_safe, steps) = match solve(engine, &read(store, text), &run) {
        Ok(Evidence::Sat(_) | Evidence::Induction(_) | Evidence::Saturation(_)) => (Some(true), 0),
        Ok(Evidence::Unsat(derivation)) => (Some(false), derivation.steps.len()),
        Err(_) => (None, 0),
    };
    Outcome { is_safe, steps, counters }
}

fn both() -> [Tpa; 2] {
    [Tpa::default(), Tpa::split()]
}

const LONG: Duration = Duration::from_secs(120);

/// Fig. 4.1: two phases of `n` steps each.
fn two_phases(n: u64, is_bad: &str) -> String {
    format!(
        "(declare-fun L (Int Int) Bool)
         (assert (L 0 {n}))
         (assert (forall ((x Int) (y Int)) (=> (and (L x y) (< x (* 2 {n})))
            (L (+ x 1) (ite (> (+ x 1) {n}) (+ y 1) y)))))
         (assert (forall ((x Int) (y Int)) (=> (and (L x y) (>= x (* 2 {n})) {is_bad}) false)))"
    )
}

/// Two steps find nothing, nor do four; the six steps are found among eight (Examples 4.5 and 4.6).
#[test]
fn two_phases_of_three_steps() {
    for engine in both() {
        let outcome = ask(&engine, &TermStore::new(), &two_phases(3, "(= y 6)"), LONG);
        assert_eq!((outcome.is_safe, outcome.steps), (Some(false), 8), "{}", engine.name());
        assert_eq!(outcome.counters.get("levels"), 2, "{}", engine.name());
    }
}

/// All lengths up to 1022 in release builds; in others, where each interpolant is checked, those around powers of two.
#[test]
fn two_phases_of_any_length() {
    let lengths: Vec<u64> = if cfg!(debug_assertions) {
        vec![1, 2, 4, 5, 15, 16, 17, 50, 127, 128, 129, 511]
    } else {
        (1..=511).collect()
    };
    for engine in both() {
        for &n in &lengths {
            let start = Instant::now();
            let outcome = ask(&engine, &TermStore::new(), &two_phases(n, &format!("(= y (* 2 {n}))")), LONG);
            assert_eq!(outcome.is_safe, Some(false));
            assert_eq!(outcome.steps as u64, 2 * n + 2);
            if !cfg!(debug_assertions) {
                assert!(start.elapsed() < Duration::from_secs(2), "{} for {n}", engine.name());
            }
        }
    }
}

/// The number of queries grows with the logarithm of the length, not with the length.
#[test]
fn the_search_for_deep_counterexamples_is_logarithmic() {
    for engine in both() {
        let queries = |n: u64| {
            let outcome = ask(&engine, &TermStore::new(), &two_phases(n, &format!("(= y (* 2 {n}))")), LONG);
            assert_eq!(outcome.is_safe, Some(false));
            outcome.counters.get("queries")
        };
        let (short, long) = (queries(100), queries(25_600));
        println!("{}: {short} queries for 200 steps, {long} for 51,200", engine.name());
        assert!(long <= 12 * short, "{}: {short}, then {long}", engine.name());
    }
}

/// A path with a million steps is found, unfolded and checked.
#[test]
fn a_million_steps() {
    for (engine, steps) in
        both().into_iter().zip([1_000_000, if cfg!(debug_assertions) { 100_000 } else { 1_000_000 }])
    {
        let text = format!(
            "(declare-fun P (Int Int) Bool)
             (assert (P 0 0))
             (assert (forall ((x Int) (y Int)) (=> (P x y) (P (+ x 1) (ite (< x 1000) y (+ y 2))))))
             (assert (forall ((x Int) (y Int)) (=> (and (P x y) (= (+ x y) {})) false)))",
            3 * steps - 2000
        );
        let outcome = ask(&engine, &TermStore::new(), &text, 10 * LONG);
        assert_eq!((outcome.is_safe, outcome.steps), (Some(false), steps + 2), "{}", engine.name());
    }
}

/// If a step is not a function of the state, the solver finds the states in between.
#[test]
fn steps_with_choices() {
    let text = "(declare-fun P (Int Int) Bool)
        (assert (P 0 0))
        (assert (forall ((x Int) (y Int) (d Int) (e Int)) (=> (and (P x y) (<= 1 d 3) (<= (+ d e) 3) (<= 0 e)) (P (+ x d) (+ y e)))))
        (assert (forall ((x Int) (y Int)) (=> (and (P x y) (>= x 200) (>= y 100)) false)))";
    for engine in both() {
        let outcome = ask(&engine, &TermStore::new(), text, LONG);
        assert_eq!(outcome.is_safe, Some(false), "{}", engine.name());
        assert!(outcome.steps >= 102);
    }
}

/// Example 4.25: its invariant is inductive by several steps of the loop at a time.
#[test]
fn a_race_of_two_counters() {
    let text = "(declare-fun L (Int Int Int Int) Bool)
        (assert (forall ((x Int) (z Int)) (=> (> x z) (L 0 0 x z))))
        (assert (forall ((v Int) (w Int) (x Int) (z Int)) (=> (and (L v w x z) (< v 1000))
            (L (ite (< x z) (+ v 1) v) (ite (< x z) w (+ w 1)) (+ x 1) (+ z 2)))))
        (assert (forall ((v Int) (w Int) (x Int) (z Int)) (=> (and (L v w x z) (>= v 1000) (<= w 0)) false)))";
    let outcome = ask(&Tpa::split(), &TermStore::new(), text, LONG);
    assert_eq!(outcome.is_safe, Some(true));
}

/// Inductions over many steps also give inductive invariants: the loop ends after 2N steps.
#[test]
fn two_phases_are_safe() {
    for n in [1, 3, 20] {
        let text = two_phases(n, &format!("(not (= y (* 2 {n})))"));
        assert_eq!(ask(&Tpa::split(), &TermStore::new(), &text, LONG).is_safe, Some(true), "{n}");
    }
}

/// Two loops one after the other: up by ones, `n` times, and down by threes to the query.
fn up_and_down(n: u64, is_bad: &str) -> String {
    format!(
        "(declare-fun Up (Int Int) Bool)(declare-fun Down (Int Int) Bool)
         (assert (Up 0 0))
         (assert (forall ((x Int) (y Int)) (=> (and (Up x y) (< x {n})) (Up (+ x 1) (+ y 3)))))
         (assert (forall ((x Int) (y Int)) (=> (and (Up x y) (= x {n})) (Down x y))))
         (assert (forall ((x Int) (y Int)) (=> (and (Down x y) (> x 0)) (Down (- x 1) (- y 3)))))
         (assert (forall ((x Int) (y Int)) (=> (and (Down x y) (= x 0) {is_bad}) false)))"
    )
}

/// Each loop has its own paths: both are taken `n` times, and the steps between and around them are three more.
#[test]
fn loops_one_after_the_other() {
    for engine in both() {
        for n in [1, 7, 200] {
            let outcome = ask(&engine, &TermStore::new(), &up_and_down(n, "(= y 0)"), LONG);
            assert_eq!((outcome.is_safe, outcome.steps as u64), (Some(false), 2 * n + 3));
            assert_eq!(outcome.counters.get("loops"), 2);
        }
        let as_one = Tpa { options: engine.options.chains(false) };
        let outcome = ask(&as_one, &TermStore::new(), &up_and_down(7, "(= y 0)"), LONG);
        assert_eq!((outcome.is_safe, outcome.steps, outcome.counters.get("loops")), (Some(false), 17, 1));
    }
    let outcome = ask(&Tpa::split(), &TermStore::new(), &up_and_down(5, "(not (= y 0))"), LONG);
    assert_eq!(outcome.is_safe, Some(true));
}

/// Two ways from one loop to another, one of which adds to the queried value, and unreachable loops.
#[test]
fn loops_in_an_acyclic_graph() {
    let text = |step: &str| {
        format!(
            "(declare-fun A (Int Int) Bool)(declare-fun B (Int Int) Bool)(declare-fun C (Int Int) Bool)
             (declare-fun D (Int Int) Bool)(declare-fun Never (Int) Bool)
             (assert (forall ((x Int)) (=> (> x 0) (A x 0))))
             (assert (forall ((x Int) (y Int)) (=> (A x y) (A (+ x 1) y))))
             (assert (forall ((x Int) (y Int)) (=> (and (A x y) (> x 5)) (B x y))))
             (assert (forall ((x Int) (y Int)) (=> (A x y) (C x y))))
             (assert (forall ((x Int) (y Int)) (=> (B x y) (B x (+ y 2)))))
             (assert (forall ((x Int) (y Int)) (=> (C x y) (C x ({step} y 1)))))
             (assert (forall ((x Int) (y Int)) (=> (B x y) (D x y))))
             (assert (forall ((x Int) (y Int)) (=> (C x y) (D x y))))
             (assert (forall ((x Int) (y Int)) (=> (D x y) (D x (+ x y)))))
             (assert (forall ((x Int)) (=> (Never x) (Never (+ x 1)))))
             (assert (forall ((x Int) (y Int)) (=> (and (D x y) (< y 0)) false)))"
        )
    };
    for engine in both() {
        let outcome = ask(&engine, &TermStore::new(), &text("+"), LONG);
        assert_eq!((outcome.is_safe, outcome.counters.get("loops")), (Some(true), 5), "{}", engine.name());
        assert_eq!(ask(&engine, &TermStore::new(), &text("-"), LONG).is_safe, Some(false));
    }
}

/// A sum that only a nonlinear formula proves safe; meanwhile the other loop has its turn.
#[test]
fn no_loop_keeps_the_others_waiting() {
    let text =
        "(declare-fun Sum (Int Int) Bool)(declare-fun Back (Int Int) Bool)(declare-fun Other (Int) Bool)
        (assert (Sum 0 0))
        (assert (forall ((i Int) (s Int)) (=> (Sum i s) (Sum (+ i 1) (+ s i)))))
        (assert (forall ((i Int) (s Int)) (=> (Sum i s) (Back i s))))
        (assert (forall ((i Int) (s Int)) (=> (and (Back i s) (> i 0)) (Back (- i 1) (+ s 1 (- i))))))
        (assert (forall ((i Int) (s Int)) (=> (and (Back i s) (= i 0) (not (= s 0))) false)))
        (assert (Other 0))
        (assert (forall ((x Int)) (=> (Other x) (Other (+ x 1)))))
        (assert (forall ((x Int)) (=> (and (Other x) (= x 6)) false)))";
    for engine in both() {
        let outcome = ask(&engine, &TermStore::new(), text, LONG);
        assert_eq!((outcome.is_safe, outcome.steps), (Some(false), 8), "{}", engine.name());
    }
}

/// Hundreds of predicates in a row need no more stack than two.
#[test]
fn a_long_row_of_predicates() {
    let row = |length: usize, last: usize| {
        let mut text = "(assert (P0 0))".to_owned();
        for next in 1..=length {
            text += &format!("(assert (forall ((x Int)) (=> (P{} x) (P{next} (+ x 1)))))", next - 1);
        }
        let declared: String = (0..=length).map(|p| format!("(declare-fun P{p} (Int) Bool)")).collect();
        format!("{declared}{text}(assert (forall ((x Int)) (=> (and (P{length} x) (= x {last})) false)))")
    };
    for engine in both() {
        let outcome = ask(&engine, &TermStore::new(), &row(200, 200), LONG);
        assert_eq!((outcome.is_safe, outcome.steps), (Some(false), 202));
        assert_eq!(ask(&engine, &TermStore::new(), &row(20, 21), LONG).is_safe, Some(true));
    }
}

/// Systems without initial states, transitions or bad states, and those that are unsafe at once.
#[test]
fn the_smallest_systems() {
    let declare = "(declare-fun P (Int) Bool)";
    let fact = "(assert (P 0))";
    let rule = "(assert (forall ((x Int)) (=> (P x) (P (+ x 1)))))";
    let query = "(assert (forall ((x Int)) (=> (and (P x) (= x 0)) false)))";
    let late = "(assert (forall ((x Int)) (=> (and (P x) (= x 2)) false)))";
    let never = "(assert (forall ((x Int)) (=> (and (P x) (< x 0)) false)))";
    for engine in both() {
        let is_safe = |parts: &[&str]| {
            ask(&engine, &TermStore::new(), &[&[declare], parts].concat().concat(), LONG).is_safe
        };
        assert_eq!(is_safe(&[rule, query]), Some(true), "no initial states");
        assert_eq!(is_safe(&[fact, late]), Some(true), "no transitions");
        assert_eq!(is_safe(&[fact, rule]), Some(true), "no bad states");
        assert_eq!(is_safe(&[fact, query]), Some(false), "a bad initial state");
        assert_eq!(is_safe(&[fact, rule, late]), Some(false), "two steps");
        assert_eq!(is_safe(&[fact, rule, never]), Some(true));
    }
}

/// States without variables, and facts and queries with local variables.
#[test]
fn local_variables() {
    let text = "(declare-fun P () Bool)(assert P)(assert (=> P P))(assert (=> P false))";
    let local = |bound: u32| {
        format!(
            "(declare-fun P (Int) Bool)
             (assert (forall ((x Int) (a Int)) (=> (and (= x (* 2 a)) (<= 0 a 3)) (P x))))
             (assert (forall ((x Int) (y Int) (a Int)) (=> (and (P x) (= y (+ x (* 2 a))) (<= 0 a 1)) (P y))))
             (assert (forall ((x Int) (a Int)) (=> (and (P x) (= x (+ (* 2 a) {bound}))) false)))"
        )
    };
    for engine in both() {
        assert_eq!(ask(&engine, &TermStore::new(), text, LONG).is_safe, Some(false));
        assert_eq!(ask(&engine, &TermStore::new(), &local(20), LONG).is_safe, Some(false));
        assert_ne!(ask(&engine, &TermStore::new(), &local(21), Duration::from_secs(1)).is_safe, Some(false));
    }
}

/// A transition that does not constrain a variable of the next state, which stays the same if nothing happens.
#[test]
fn variables_that_a_step_leaves_open() {
    let text = "(declare-fun P (Bool Bool) Bool)
        (assert (forall ((a Bool)) (P true a)))
        (assert (forall ((a Bool)) (=> (P true false) (P a true))))
        (assert (forall ((a Bool) (b Bool)) (=> (P a b) false)))";
    for engine in both() {
        assert_eq!(ask(&engine, &TermStore::new(), text, LONG).is_safe, Some(false));
    }
}

#[test]
fn systems_with_several_predicates_in_a_body_are_refused() {
    let store = TermStore::new();
    let text = "(declare-fun P (Int) Bool)(assert (P 0))
        (assert (forall ((x Int) (y Int)) (=> (and (P x) (P y)) (P (+ x y)))))";
    for engine in both() {
        assert!(engine.accepts(&store, &read(&store, text)).is_err());
    }
}

/// With all options, answers on random systems agree with saturation, and most are decided.
fn agrees_with_saturation(shape: &Shape, systems: u64) {
    let options = |interpolation: InterpolationMethod, intermediate| {
        [false, true].map(|split| {
            Options::default().split(split).intermediate(intermediate).interpolation(interpolation)
        })
    };
    let as_one = |options: Options| options.chains(false);
    let all = [
        options(InterpolationMethod::Decomposed, Intermediate::Projected),
        options(InterpolationMethod::Decomposed, Intermediate::Projected).map(as_one),
        options(InterpolationMethod::Decomposed, Intermediate::Eliminated),
        options(InterpolationMethod::Farkas, Intermediate::Projected),
        options(InterpolationMethod::DualFarkas, Intermediate::Projected),
        options(InterpolationMethod::DualDecomposed, Intermediate::Projected),
    ];
    let (mut decided, mut safe) = (0, 0);
    for (seed, options) in (1000..1000 + systems * scale()).zip(all.as_flattened().iter().cycle()) {
        let text = system(&mut Random::new(seed), shape);
        let store = TermStore::new();
        let clauses = parse(&store, "test", text.as_bytes()).expect("the generator makes clauses");
        let graph = HornGraph::of(&store, &clauses);
        let is_safe = Saturation::of(&store, &graph, 0..=shape.greatest).is_safe();
        let engine = Tpa { options: *options };
        let found = ask(&engine, &store, &text, Duration::from_secs(2)).is_safe;
        assert!(found.is_none_or(|found| found == is_safe), "{options:?} on {seed}:\n{text}");
        decided += u64::from(found.is_some());
        safe += u64::from(is_safe);
    }
    let asked = systems * scale();
    assert!(10 * decided >= 9 * asked, "{decided} of {asked} decided");
    assert!((asked / 5..=asked * 4 / 5).contains(&safe), "{safe} of {asked} are safe");
}

#[test]
fn random_linear_systems() {
    agrees_with_saturation(&Shape::LINEAR, 120);
}

/// With more states than the others, so that paths are longer.
#[test]
fn random_transition_systems() {
    let shape = Shape { predicates: 1, rules: 4, greatest: 7, ..Shape::LINEAR };
    agrees_with_saturation(&shape, 60);
}
