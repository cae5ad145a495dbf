//! Transitive relation learning: loops with phases, strides and remainders, counterexamples, and random loops. Every witness is
//! checked.

mod common;

use std::time::Duration;

use common::loops::{agree_with_enumeration, looped};
use common::{
    Counters, LONG, agree_with_saturation, assert_answer, multiples_of_three, read, solve, up_to_five,
};
use shofar_engines::{Engine, Evidence, Run, Trl};
use shofar_horn::HornGraph;
use shofar_horn::witness::GraphModel;
use shofar_logic::TermStore;
use shofar_run::Stop;
use shofar_smt::solver::Solver;
use shofar_testing::scale;
use shofar_testing::systems::Shape;

/// The engine proves the system. Returns its counters and the model.
#[track_caller]
fn model_of(store: &TermStore, graph: &HornGraph) -> (Counters, GraphModel) {
    let counters = Counters::default();
    let run = Run::new(store).with_timeout(LONG).with_events(&counters);
    match solve(&Trl::default(), graph, &run) {
        Ok(Evidence::Sat(model)) => (counters, model),
        other => panic!("{other:?}"),
    }
}

/// The engine proves the system. Returns its counters.
#[track_caller]
fn proved(text: &str) -> Counters {
    let store = TermStore::new();
    model_of(&store, &read(&store, text)).0
}

/// The engine finds a derivation with this number of steps.
#[track_caller]
fn refuted(text: &str, steps: usize) {
    let store = TermStore::new();
    match solve(&Trl::default(), &read(&store, text), &Run::new(&store).with_timeout(LONG)) {
        Ok(Evidence::Unsat(derivation)) => assert_eq!(derivation.steps.len(), steps),
        other => panic!("{other:?}\n{text}"),
    }
}

#[test]
fn counters_in_step_have_one_relation() {
    let store = TermStore::new();
    let text = looped(&["x", "y"], &[0, 0], "true", "(+ x 1) (+ y 1)", "(= x 100) (not (= y 100))");
    let graph = read(&store, &text);
    let (counters, model) = model_of(&store, &graph);
    assert_eq!(counters.get("relations"), 1);
    assert!(counters.get("depth") <= 2);
    let (node, p) = graph.nodes().next().expect("there is a predicate");
    let differ = store.not(store.eq(p.variables()[0], p.variables()[1]));
    let reached = model.formula(node).expect("the model has no folds");
    let mut solver = Solver::new(&store);
    let found = Run::new(&store).is_satisfiable(&mut solver, &[reached, differ]);
    assert_eq!(found, Ok(false), "{}", store.display(reached));
}

/// `x` grows by 3 at a time, however long the phases are; `y` grows by 2 in the second phase.
#[test]
fn strides_in_two_phases() {
    let strides = |end: i64, bad: &str| {
        let next = format!("(+ x 3) (ite (< x {end}) y (+ y 2))");
        looped(&["x", "y"], &[0, 50], "true", &next, &bad.replace("END", &(2 * end).to_string()))
    };
    for end in [600, 6000, 60_000] {
        let sum = 50 + 2 * end / 3;
        proved(&strides(end, &format!("(= x END) (not (= y {sum}))")));
        proved(&strides(end, "(= x (+ END 1))"));
    }
    refuted(&strides(12, "(= x END) (= y 58)"), 10);
    refuted(&strides(60_000, "(= x END)"), 40_002);
}

#[test]
fn two_phases() {
    let phases = |bad: &str| looped(&["x", "y"], &[0, 50], "true", "(+ x 1) (ite (< x 50) y (+ y 1))", bad);
    let counters = proved(&phases("(= x 100) (not (= y 100))"));
    assert!(counters.get("relations") <= 3);
    refuted(&phases("(= y 100)"), 102);
}

/// Each round of the outer loop is four rounds of the inner one.
#[test]
fn nested_loops() {
    let nested = |bad: &str| {
        let next = "(ite (< i 4) (+ i 1) 0) (ite (< i 4) (+ x 2) x) (ite (< i 4) y (+ y 8))";
        looped(&["i", "x", "y"], &[0, 0, 0], "true", next, bad)
    };
    assert_answer(&Trl::default(), &nested("(= (mod x 2) 1)"), true);
    refuted(&nested("(= i 0) (= x 24) (= y 24)"), 17);
}

#[test]
fn remainders() {
    for (bad, is_safe) in [("(= x 300)", true), ("(= x 301)", false), ("(= (mod x 2) 0)", true)] {
        let text = looped(&["x"], &[1], "true", "(+ x 4)", bad);
        if is_safe {
            proved(&text);
        } else {
            refuted(&text, 77);
        }
    }
}

/// `x` counts by two up to a bound, and then `y` counts by one: both phases are long.
#[test]
fn counterexamples_with_two_long_phases() {
    let next = "(ite (< x 5000) (+ x 2) x) (ite (< x 5000) y (+ y 1))";
    let text = |bad: &str| looped(&["x", "y"], &[0, 0], "true", next, bad);
    refuted(&text("(= y 2500)"), 5002);
    proved(&text("(> y 0) (not (= x 5000))"));
}

#[test]
fn exponential_growth() {
    let text = |bad: &str| looped(&["x", "y"], &[1, 1], "true", "(* 2 x) (* 3 y)", bad);
    proved(&text("(< x y) (<= x 0)"));
    proved(&text("(= x 3) (= y 1)"));
    refuted(&text("(= x 16)"), 6);
}

#[test]
fn several_predicates_and_truth_values() {
    let text = |query: &str| {
        format!(
            "(declare-fun P (Bool Int Int) Bool) (declare-fun Q (Int Int) Bool)
             (assert (P true 0 0))
             (assert (forall ((b Bool) (x Int) (y Int)) (=> (and (P b x y) (< x 50)) (P (not b) (+ x 1) (ite b (+ y 2) y)))))
             (assert (forall ((b Bool) (x Int) (y Int)) (=> (and (P b x y) (>= x 50)) (Q x y))))
             (assert (forall ((x Int) (y Int)) (=> (and (Q x y) (> x 0)) (Q (- x 1) (- y 1)))))
             (assert (forall ((x Int) (y Int)) (=> (and (Q x y) {query}) false)))"
        )
    };
    assert_answer(&Trl::default(), &text("(< y x)"), true);
    assert_answer(&Trl::default(), &text("(= x 20) (= y 20)"), false);
}

#[test]
fn initial_and_bad_states_with_local_variables() {
    assert_answer(&Trl::default(), &multiples_of_three(6), true);
    refuted(&multiples_of_three(1), 3);
}

#[test]
fn no_states_and_no_transitions() {
    proved(&up_to_five("(and (< x 0) (> x 0))", "true"));
    proved(&up_to_five("(< x 0)", "(< x (- 3))"));
    proved(&up_to_five("(< x 0)", "false"));
}

#[test]
fn relations_are_limited() {
    let store = TermStore::new();
    let text = looped(&["x", "y"], &[0, 50], "true", "(+ x 1) (ite (< x 50) y (+ y 1))", "(< y 50)");
    let mut engine = Trl::default();
    engine.options.relations = 1;
    let found = solve(&engine, &read(&store, &text), &Run::new(&store).with_timeout(LONG));
    assert!(matches!(found, Err(Stop::Exhausted(_))), "{found:?}");
}

#[test]
fn real_numbers_are_refused() {
    let store = TermStore::new();
    let text = "(declare-fun P (Real) Bool) (assert (P 0.0)) (assert (forall ((x Real)) (=> (and (P x) (> x 1.0)) false)))";
    let graph = read(&store, text);
    assert!(matches!(Trl::default().accepts(&store, &graph), Err(Stop::Unsupported(_))));
}

#[test]
fn random_systems() {
    let time = |_| Duration::from_secs(5);
    for shape in [Shape::LINEAR, Shape::PASSING] {
        let tally = agree_with_saturation(&[Trl::default()], time, &shape, 150 * scale());
        assert!(tally.safe > 10 && tally.unsafes > 10, "the systems are too much alike");
        assert!(tally.percent_solved() >= 80, "{} %", tally.percent_solved());
    }
}

#[test]
fn random_loops() {
    let tally = agree_with_enumeration(&[Trl::default()], Duration::from_secs(2), 250 * scale());
    assert!(tally.proved > 50 && tally.refuted > 50, "{} proved, {} refuted", tally.proved, tally.refuted);
}
