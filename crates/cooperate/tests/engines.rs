//! All engines against each other's examples, an explicit solver and the checker. Every answer is checked on the
//! engine's input graph, and again on the clauses by the driver.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use shofar_cooperate::driver::{self, Options, Verdict};
use shofar_engines::{Engine, Evidence, KInduction, Run, all, by_name, kind};
use shofar_horn::check::{
    Trust, Validity, check_derivation, check_graph_model, check_induction, check_saturation,
};
use shofar_horn::graph::EdgeId;
use shofar_horn::witness::{Derivation, GraphStep, Refutation};
use shofar_horn::{HornGraph, HornSystem, parse};
use shofar_logic::{TermStore, Value};
use shofar_run::{Limits, Stop};
use shofar_testing::Random;
use shofar_testing::explicit::Saturation;
use shofar_testing::systems::{Shape, multiplication, system};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Found {
    Sat,
    Unsat,
    Unknown,
}

fn read(store: &TermStore, text: &str) -> HornSystem {
    parse(store, "test", text.as_bytes()).expect("the test's clauses are right")
}

fn within(store: &TermStore, time: Duration) -> Run<'_> {
    let limits = Limits { deadline: Instant::now().checked_add(time), ..Limits::default() };
    Run::new(store).with_limits(limits)
}

/// What an engine says about the graph of a system, and what the driver says with that engine. A wrong witness is a
/// failure, and so are different answers.
fn ask(engine: &dyn Engine, store: &TermStore, system: &HornSystem, time: Duration) -> Found {
    let graph = HornGraph::of(store, system);
    let run = within(store, time);
    let context = within(store, Duration::from_secs(60)).context();
    let name = engine.name();
    let direct = match engine.solve(&graph, &run) {
        Ok(Evidence::Sat(model)) => {
            assert_eq!(check_graph_model(&context, &graph, &model), Ok(()), "model of {name}");
            Found::Sat
        }
        Ok(Evidence::Induction(proof)) => {
            let validity = check_induction(&context, system, &proof, Trust::Proofs);
            assert_eq!(validity, Validity::Valid, "proof of {name}");
            Found::Sat
        }
        Ok(Evidence::Saturation(proof)) => {
            let validity = check_saturation(&context, system, &proof, Trust::Proofs);
            assert_eq!(validity, Validity::Valid, "proof of {name}");
            Found::Sat
        }
        Ok(Evidence::Unsat(derivation)) => {
            let checked = check_derivation(&context, &graph, &derivation);
            assert_eq!(checked, Ok(()), "derivation of {name}: {derivation:?}");
            Found::Unsat
        }
        Err(Stop::Internal(what)) => panic!("{name}: {what}"),
        Err(_) => Found::Unknown,
    };
    let options = Options { engines: vec![name.parse().expect("the engine exists")], ..Options::default() };
    let driven = match driver::solve(system, &options, &within(store, time)).verdict {
        Verdict::Sat(_) | Verdict::Proved(_) | Verdict::Saturated(_) => Found::Sat,
        Verdict::Unsat(_) => Found::Unsat,
        Verdict::Unknown(Stop::Internal(what)) => panic!("{name}: {what}"),
        Verdict::Unknown(_) => Found::Unknown,
    };
    match (direct, driven) {
        (found, Found::Unknown) | (Found::Unknown, found) => found,
        (found, other) => {
            assert_eq!(found, other, "{name}");
            found
        }
    }
}

/// Asks all engines that accept the clauses; those named must know the answer, others may not know.
fn expect(text: &str, answer: Found, must_know: &[&str]) {
    let store = TermStore::new();
    let system = read(&store, text);
    for engine in all() {
        if engine.accepts(&store, &HornGraph::of(&store, &system)).is_err() {
            assert!(!must_know.contains(&engine.name()));
            continue;
        }
        let is_needed = must_know.contains(&engine.name());
        let time = Duration::from_secs(if is_needed { 60 } else { 1 });
        let found = ask(&*engine, &store, &system, time);
        assert!(found == answer || !is_needed && found == Found::Unknown, "{} says {found:?}", engine.name());
    }
}

/// Whoever has won does not wait for the others. (They end within some milliseconds on a machine that has nothing else to
/// do.)
#[test]
fn all_engines_end_soon_after_they_are_told_to() {
    // Two counters of which one goes around: no engine knows soon.
    let texts = [
        "(declare-fun P (Int Int Int) Bool) (assert (P 0 0 1))
         (assert (forall ((x Int) (y Int) (z Int)) (=> (P x y z)
            (P (ite (> x 1000) 0 (+ x z)) (+ y x) (ite (> y 77) (- z) (+ z 1))))))
         (assert (forall ((x Int) (y Int) (z Int)) (=> (and (P x y z) (= (* 2 x) (+ y 7001))) false)))",
        "(declare-fun P (Real Real) Bool) (declare-fun Q (Real Real) Bool) (assert (P 1.0 3.0))
         (assert (forall ((x Real) (y Real)) (=> (P x y) (Q (+ (/ x 3.0) y) (- x (/ y 7.0))))))
         (assert (forall ((x Real) (y Real)) (=> (and (Q x y) (< x 100.0)) (P (+ y 0.5) (+ x y)))))
         (assert (forall ((x Real) (y Real)) (=> (and (Q x y) (> (+ x y) 1000000.0)) false)))",
    ];
    for text in texts {
        let store = TermStore::new();
        let system = read(&store, text);
        let cancel = AtomicBool::new(false);
        let limits = Limits { cancel: Some(&cancel), ..Limits::default() };
        let run = Run::new(&store).with_limits(limits);
        let options = Options { jobs: Some(9), ..Options::default() };
        thread::scope(|scope| {
            let solving = scope.spawn(|| {
                driver::solve(&system, &options, &run);
                Instant::now()
            });
            thread::sleep(Duration::from_millis(500));
            let told = Instant::now();
            cancel.store(true, Ordering::Relaxed);
            let ended = solving.join().expect("nobody panics");
            let latency = ended.saturating_duration_since(told);
            assert!(latency < Duration::from_secs(1), "{latency:?}");
        });
    }
}

/// Fig. 2.3 of Blicha's thesis.
#[test]
fn a_loop_that_stops_in_time() {
    let text = "(declare-fun Inv (Int) Bool)
        (assert (forall ((x Int)) (=> (<= x 0) (Inv x))))
        (assert (forall ((x Int)) (=> (and (Inv x) (< x 5)) (Inv (+ x 1)))))
        (assert (forall ((x Int)) (=> (and (Inv x) (>= x 5) (not (< x 10))) false)))";
    expect(text, Found::Sat, &["kind"]);
}

/// Examples 2.2 and 5.1 there: safe, but a model needs products of variables.
#[test]
fn multiplication_has_a_model_with_products() {
    expect(&multiplication(), Found::Sat, &["words"]);
}

/// Example 5.2 there.
#[test]
fn a_derivation_with_a_hyperedge() {
    let text = "(declare-fun L1 (Int) Bool)(declare-fun D (Int Int) Bool)(declare-fun L2 (Int) Bool)
        (assert (forall ((x Int)) (=> (> x 0) (L1 x))))
        (assert (forall ((x Int) (y Int)) (=> (= y (+ x 1)) (D x y))))
        (assert (forall ((x Int) (y Int)) (=> (and (L1 x) (D x y)) (L2 y))))
        (assert (forall ((x Int)) (=> (and (L2 x) (<= x 2)) false)))";
    expect(text, Found::Unsat, &["bmc"]);
    let store = TermStore::new();
    let system = read(&store, text);
    let bmc = by_name("BMC").expect("there is bounded model checking");
    let Ok(Evidence::Unsat(derivation)) =
        bmc.solve(&HornGraph::of(&store, &system), &within(&store, Duration::from_secs(60)))
    else {
        panic!("bmc finds the derivation")
    };
    let numbers = |step: &GraphStep| step.fact.iter().map(|v| v.as_int().cloned()).collect::<Vec<_>>();
    let facts: Vec<_> = derivation.steps.iter().map(|step| (step.edge.index(), numbers(step))).collect();
    let number = |n: i64| Some(n.into());
    assert_eq!(
        facts,
        [(0, vec![number(1)]), (1, vec![number(1), number(2)]), (2, vec![number(2)]), (3, vec![])]
    );
}

/// Fig. 4.1 there: the shortest path to a bad state has 2N steps.
#[test]
fn a_loop_with_two_phases() {
    for n in [1, 3, 50] {
        let text = |bad: &str| {
            format!(
                "(declare-fun L (Int Int) Bool)
                 (assert (L 0 {n}))
                 (assert (forall ((x Int) (y Int)) (=> (and (L x y) (< x (* 2 {n})))
                    (L (+ x 1) (ite (> (+ x 1) {n}) (+ y 1) y)))))
                 (assert (forall ((x Int) (y Int)) (=> (and (L x y) (>= x (* 2 {n})) {bad}) false)))"
            )
        };
        expect(&text(&format!("(= y (* 2 {n}))")), Found::Unsat, &["bmc", "kind"]);
        // All paths end, after 2N steps.
        let sure: &[&str] = if n == 50 { &[] } else { &["bmc", "kind"] };
        expect(&text(&format!("(not (= y (* 2 {n})))")), Found::Sat, sure);
    }
}

/// From 0 to 3 and around there, for ever; 2 is bad, and only reached from 1, where one can stay for ever. So there are
/// paths of any length from the initial state, and into the bad one; but none of them is simple. The invariant that comes
/// of it is 2-inductive on simple paths only, so that it has to be made inductive by elimination.
#[test]
fn simple_paths_decide_what_others_do_not() {
    let text = "(declare-fun L (Int) Bool)
        (assert (L 0))
        (assert (forall ((x Int) (y Int)) (=> (and (L x) (or (and (= x 0) (= y 3)) (and (= x 3) (= y 3))
            (and (= x 1) (or (= y 1) (= y 2))))) (L y))))
        (assert (forall ((x Int)) (=> (and (L x) (= x 2)) false)))";
    let store = TermStore::new();
    let graph = HornGraph::of(&store, &read(&store, text));
    let simple = KInduction::default().solve(&graph, &within(&store, Duration::from_secs(60)));
    let Ok(Evidence::Sat(model)) = simple else { panic!("{simple:?}") };
    assert_eq!(check_graph_model(&within(&store, Duration::from_secs(60)).context(), &graph, &model), Ok(()));
    let any = KInduction { options: kind::Options::default().simple_paths(false) }
        .solve(&graph, &within(&store, Duration::from_millis(300)));
    assert!(matches!(any, Err(Stop::Interrupted(_))), "{any:?}");
}

/// The query needs hundreds of steps as a tree, and nine as a graph.
#[test]
fn doubling_is_shared() {
    let text = "(declare-fun P (Int) Bool)
        (assert (P 1))
        (assert (forall ((x Int)) (=> (and (P x) (P x)) (P (* 2 x)))))
        (assert (forall ((x Int) (y Int)) (=> (and (P x) (P y) (= (+ x y) 256)) false)))";
    let store = TermStore::new();
    let graph = HornGraph::of(&store, &read(&store, text));
    let bmc = by_name("bmc").expect("there is bounded model checking");
    let Ok(Evidence::Unsat(derivation)) = bmc.solve(&graph, &within(&store, Duration::from_secs(60))) else {
        panic!("bmc finds the derivation")
    };
    assert_eq!(
        check_derivation(&within(&store, Duration::from_secs(60)).context(), &graph, &derivation),
        Ok(())
    );
    assert_eq!(derivation.steps.len(), 9);
}

#[test]
fn what_cannot_be_reached_needs_no_search() {
    for text in [
        "",
        "(declare-fun P (Int) Bool)(assert (P 1))",
        "(declare-fun P (Int) Bool)(assert (forall ((x Int)) (=> (P x) false)))",
        "(declare-fun P (Int) Bool)(declare-fun Q (Int) Bool)(assert (P 1))
         (assert (forall ((x Int)) (=> (P x) (P (+ x 1)))))(assert (forall ((x Int)) (=> (and (P x) (Q x)) false)))",
    ] {
        expect(text, Found::Sat, &["bmc"]);
    }
    expect("(assert (forall ((x Int)) (=> (and (> x 0) (< x 1)) false)))", Found::Sat, &["bmc"]);
    expect(
        "(declare-fun P () Bool)(assert P)(assert (forall ((x Int)) (=> (> x 0) false)))",
        Found::Unsat,
        &["bmc"],
    );
}

/// Whatever an engine answers is right, and most of the systems are decided.
fn agrees_with_saturation(shape: &Shape, systems: u64, least: usize) {
    let mut decided = 0;
    let mut of = 0;
    for seed in 0..systems {
        let text = system(&mut Random::new(seed), shape);
        let store = TermStore::new();
        let clauses = read(&store, &text);
        let graph = HornGraph::of(&store, &clauses);
        let is_safe = Saturation::of(&store, &graph, 0..=shape.greatest).is_safe();
        for engine in all() {
            if engine.accepts(&store, &graph).is_err() {
                continue;
            }
            let found = ask(&*engine, &store, &clauses, Duration::from_millis(300));
            let expected = if is_safe { Found::Sat } else { Found::Unsat };
            assert!(found == expected || found == Found::Unknown, "{} on {seed}:\n{text}", engine.name());
            // These only prove, and few clauses without datatypes.
            if !matches!(engine.name(), "regular" | "regular-sync" | "words" | "invariants") {
                of += 1;
                decided += usize::from(found != Found::Unknown);
            }
        }
    }
    assert!(100 * decided >= least * of, "{decided} of {of} decided");
}

#[test]
fn random_linear_systems() {
    agrees_with_saturation(&Shape::LINEAR, 60, 80);
}

#[test]
fn random_systems() {
    agrees_with_saturation(&Shape::NONLINEAR, 40, 50);
}

/// Whether the clauses have a model depends on what a number divided by zero is, of which engines take one possibility:
/// that is no mistake of theirs.
#[test]
fn what_depends_on_division_by_zero_is_not_supported() {
    for (fact, query) in [("(= x (/ 1.0 0.0))", "(> x 5.0)"), ("(= x 1.0)", "(> (/ x 0.0) 5.0)")] {
        let text = format!(
            "(declare-fun P (Real) Bool)
             (assert (forall ((x Real)) (=> {fact} (P x))))
             (assert (forall ((x Real)) (=> (and (P x) {query}) false)))"
        );
        let store = TermStore::new();
        let system = read(&store, &text);
        let verdict =
            driver::solve(&system, &Options::default(), &within(&store, Duration::from_secs(60))).verdict;
        let Verdict::Unknown(Stop::Unsupported(why)) = verdict else { panic!("{verdict:?}") };
        assert!(why.contains("left open"), "{why}");
    }
}

/// A witness of a hundred thousand steps is translated and checked in linear time.
#[test]
fn a_long_derivation() {
    const STEPS: usize = 100_000;
    let text = format!(
        "(declare-fun P (Int) Bool)
         (assert (P 0))
         (assert (forall ((x Int)) (=> (P x) (P (+ x 1)))))
         (assert (forall ((x Int)) (=> (and (P x) (= x {STEPS})) false)))"
    );
    let store = TermStore::new();
    let system = read(&store, &text);
    let mut steps: Vec<GraphStep> = Vec::new();
    for number in 0..=STEPS {
        let (edge, premises): (usize, Box<[usize]>) =
            if number == 0 { (0, Box::default()) } else { (1, [number - 1].into()) };
        let fact = [Value::Int((number as i64).into())].into();
        steps.push(GraphStep { edge: EdgeId::new(edge), premises, fact });
    }
    steps.push(GraphStep { edge: EdgeId::new(2), premises: [STEPS].into(), fact: [].into() });
    let derivation = Derivation { steps };
    let context = within(&store, Duration::from_secs(120)).context();
    assert_eq!(check_derivation(&context, &HornGraph::of(&store, &system), &derivation), Ok(()));
    let refutation = Refutation::of_graph(&context, &system, derivation).expect("there is time enough");
    assert_eq!(shofar_horn::check::check_refutation(&context, &system, &refutation), Validity::Valid);
}

#[test]
fn an_unsupported_term_is_shown_as_in_its_clause() {
    let store = TermStore::new();
    let text = "(declare-fun inv (Int Int) Bool)
        (assert (forall ((x Int) (y Int)) (=> (and (> x 0) (> y 0)) (inv x y))))
        (assert (forall ((x Int) (y Int) (z Int)) (=> (and (inv x y) (= z (* x y))) (inv z (+ y 1)))))
        (assert (forall ((x Int) (y Int)) (=> (and (inv x y) (< x 0)) false)))";
    let system = read(&store, text);
    let graph = HornGraph::of(&store, &system);
    for engine in all().iter().filter(|engine| engine.accepts(&store, &graph).is_ok()) {
        let engines = vec![engine.name().parse().expect("the engine exists")];
        let options = Options { engines, ..Options::default() };
        let run = within(&store, Duration::from_secs(60));
        let expected = "non-linear arithmetic in (* x y) of clause 2 at 3:10".to_owned();
        let found = driver::solve(&system, &options, &run).verdict;
        assert_eq!(found, Verdict::Unknown(Stop::Unsupported(expected)), "{}", engine.name());
    }
}
