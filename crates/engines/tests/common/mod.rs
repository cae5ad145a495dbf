//! What the tests of engines share: reading clauses, solving with checked witnesses, counters, and some systems.

#![allow(dead_code, reason = "each test uses a part of it")]

use std::sync::Mutex;

use shofar_engines::{Engine, Event, EventSink, Evidence, Run};
use shofar_horn::check::{check_derivation, check_graph_model};
use shofar_horn::{HornGraph, parse};
use shofar_logic::TermStore;
use shofar_run::{Limits, Stop};

/// The graph of clauses.
pub(crate) fn read(store: &TermStore, text: &str) -> HornGraph {
    HornGraph::of(store, &parse(store, "test", text.as_bytes()).expect("the test's clauses are right"))
}

/// The answer of an engine. Its witness is checked, without the limits of the run; a mistake of the engine fails the test.
#[track_caller]
pub(crate) fn solve(engine: &dyn Engine, graph: &HornGraph, run: &Run<'_>) -> Result<Evidence, Stop> {
    let answer = engine.solve(graph, run);
    let unlimited = run.clone().with_limits(Limits::default());
    let verdict = match &answer {
        Ok(Evidence::Sat(model)) => check_graph_model(&unlimited.context(), graph, model),
        Ok(Evidence::Unsat(derivation)) => check_derivation(&unlimited.context(), graph, derivation),
        Err(Stop::Internal(what)) => panic!("{}: {what}", engine.name()),
        Err(_) => Ok(()),
    };
    assert_eq!(verdict, Ok(()), "{}", engine.name());
    answer
}

/// Keeps the final counters of an engine.
#[derive(Default)]
pub(crate) struct Counters(Mutex<Vec<(&'static str, u64)>>);

impl Counters {
    /// A counter, zero if there is no such counter.
    pub(crate) fn get(&self, name: &str) -> u64 {
        let counters = self.0.lock().expect("no other thread panics");
        counters.iter().find(|(counter, _)| *counter == name).map_or(0, |&(_, value)| value)
    }

    /// All of them.
    pub(crate) fn all(self) -> Vec<(&'static str, u64)> {
        self.0.into_inner().expect("no other thread panics")
    }
}

impl EventSink for Counters {
    fn tell(&self, event: Event) {
        if let Event::Statistics { counters, .. } = event {
            self.0.lock().expect("no other thread panics").extend(counters);
        }
    }
}

/// Example 5 of Somorjai's thesis: a counter to two.
pub(crate) fn counter(query: &str) -> String {
    format!(
        "(declare-fun F (Int) Bool)
         (assert (forall ((x Int)) (=> (= x 0) (F x))))
         (assert (forall ((x Int) (y Int)) (=> (and (F x) (<= x 1) (= y (+ x 1))) (F y))))
         (assert (forall ((x Int)) (=> (and (F x) {query}) false)))"
    )
}

/// McCarthy's function, a call in the argument of a call: `y` is its value for `x`, up to 101.
pub(crate) fn mccarthy(query: &str) -> String {
    format!(
        "(declare-fun M (Int Int) Bool)
         (assert (forall ((x Int)) (=> (> x 100) (M x (- x 10)))))
         (assert (forall ((x Int) (y Int) (z Int)) (=> (and (<= x 100) (M (+ x 11) y) (M y z)) (M x z))))
         (assert (forall ((x Int) (y Int)) (=> (and (M x y) (<= x 101) {query}) false)))"
    )
}
