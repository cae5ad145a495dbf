//! What the tests of engines share: reading clauses, solving with checked witnesses, counters, and some systems.

#![allow(dead_code, reason = "each test uses a part of it")]

pub(crate) mod loops;

use std::fmt::Debug;
use std::sync::Mutex;
use std::time::Duration;

use shofar_engines::{Engine, Event, EventSink, Evidence, Run};
use shofar_horn::check::{check_derivation, check_graph_model};
use shofar_horn::{HornGraph, parse};
use shofar_logic::TermStore;
use shofar_run::{Limits, Stop};
use shofar_testing::Random;
use shofar_testing::datatype_systems::{self, Family};
use shofar_testing::explicit::Saturation;
use shofar_testing::systems::{Shape, system};

/// For what should be found.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// The graph of clauses.
pub(crate) fn read(store: &TermStore, text: &str) -> HornGraph {
    HornGraph::of(store, &parse(store, "test", text.as_bytes()).expect("the test's clauses are right"))
}

/// Starts at the multiples of three and adds a number. A successor of a multiple of three is bad.
pub(crate) fn multiples_of_three(step: i64) -> String {
    format!(
        "(declare-fun P (Int) Bool)
         (assert (forall ((x Int) (k Int)) (=> (= x (* 3 k)) (P x))))
         (assert (forall ((x Int)) (=> (P x) (P (+ x {step})))))
         (assert (forall ((x Int) (m Int)) (=> (and (P x) (= x (+ (* 3 m) 1))) false)))"
    )
}

/// Counts from where `facts` holds and while `rules` does. Numbers above five are bad.
pub(crate) fn up_to_five(facts: &str, rules: &str) -> String {
    format!(
        "(declare-fun P (Int) Bool)
         (assert (forall ((x Int)) (=> {facts} (P x))))
         (assert (forall ((x Int)) (=> (and (P x) {rules}) (P (+ x 1)))))
         (assert (forall ((x Int)) (=> (and (P x) (> x 5)) false)))"
    )
}

/// The answer of an engine. Its witness is checked, without the limits of the run; a mistake of the engine fails the test.
#[track_caller]
pub(crate) fn solve(engine: &dyn Engine, graph: &HornGraph, run: &Run<'_>) -> Result<Evidence, Stop> {
    let answer = engine.solve(graph, run);
    let unlimited = run.clone().with_limits(Limits::default());
    let verdict = match &answer {
        Ok(Evidence::Sat(model)) => check_graph_model(&unlimited.context(), graph, model),
        Ok(Evidence::Unsat(derivation)) => check_derivation(&unlimited.context(), graph, derivation),
        Ok(Evidence::Induction(_) | Evidence::Saturation(_)) => {
            panic!("{}: only systems have such proofs", engine.name())
        }
        Err(Stop::Internal(what)) => panic!("{}: {what}", engine.name()),
        Err(_) => Ok(()),
    };
    assert_eq!(verdict, Ok(()), "{}", engine.name());
    answer
}

/// The engine proves the system. Returns its counters.
#[track_caller]
pub(crate) fn proved<E: Engine + Debug>(engine: &E, text: &str) -> Counters {
    let store = TermStore::new();
    let counters = Counters::default();
    let run = Run::new(&store).with_timeout(LONG).with_events(&counters);
    let found = solve(engine, &read(&store, text), &run);
    assert!(matches!(found, Ok(Evidence::Sat(_))), "{engine:?}: {found:?}\n{text}");
    counters
}

/// The engine finds the answer.
#[track_caller]
pub(crate) fn assert_answer<E: Engine + Debug>(engine: &E, text: &str, is_safe: bool) {
    let store = TermStore::new();
    let found = solve(engine, &read(&store, text), &Run::new(&store).with_timeout(LONG));
    let found = found.unwrap_or_else(|stop| panic!("{stop}: {engine:?}\n{text}"));
    assert_eq!(matches!(found, Evidence::Sat(_)), is_safe, "{engine:?}\n{text}");
}

/// Random systems, and how many of them were solved.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) safe: u64,
    pub(crate) proved: u64,
    pub(crate) unsafes: u64,
    pub(crate) refuted: u64,
}

impl Tally {
    pub(crate) fn percent_solved(&self) -> u64 {
        100 * (self.proved + self.refuted) / (self.safe + self.unsafes).max(1)
    }
}

/// Solves random systems, each with one of the engines, for a time that depends on whether the system is safe. No answer
/// is wrong.
pub(crate) fn agree_with_saturation<E: Engine + Debug>(
    engines: &[E],
    time: impl Fn(bool) -> Duration,
    shape: &Shape,
    systems: u64,
) -> Tally {
    let mut tally = Tally::default();
    for seed in 0..systems {
        let store = TermStore::new();
        let mut random = Random::new(seed);
        let text = system(&mut random, shape);
        let graph = read(&store, &text);
        let is_safe = Saturation::of(&store, &graph, 0..=shape.greatest).is_safe();
        let engine = random.choose(engines);
        let found = solve(engine, &graph, &Run::new(&store).with_timeout(time(is_safe)));
        if let Ok(found) = &found {
            assert_eq!(matches!(found, Evidence::Sat(_)), is_safe, "seed {seed}: {engine:?}\n{text}");
        }
        let (all, solved) = match is_safe {
            true => (&mut tally.safe, &mut tally.proved),
            false => (&mut tally.unsafes, &mut tally.refuted),
        };
        *all += 1;
        *solved += u64::from(found.is_ok());
    }
    tally
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

/// The loop of Rümmer and Subotić, "Exploring interpolants" (FMCAD 2013): `i = 0; x = j; while (i < 50) { i++; x++ }`, and then `j = 0`
/// implies `x >= 50`. Cores and plain interpolants speak of one round after the other.
pub(crate) const IN_STEP: &str = "(declare-fun P (Int Int Int) Bool)
    (assert (forall ((j Int)) (P 0 j j)))
    (assert (forall ((i Int) (x Int) (j Int)) (=> (and (P i x j) (< i 50)) (P (+ i 1) (+ x 1) j))))
    (assert (forall ((i Int) (x Int) (j Int)) (=> (and (P i x j) (>= i 50) (= j 0) (< x 50)) false)))";

/// McCarthy's function, a call in the argument of a call: `y` is its value for `x`, up to 101.
pub(crate) fn mccarthy(query: &str) -> String {
    format!(
        "(declare-fun M (Int Int) Bool)
         (assert (forall ((x Int)) (=> (> x 100) (M x (- x 10)))))
         (assert (forall ((x Int) (y Int) (z Int)) (=> (and (<= x 100) (M (+ x 11) y) (M y z)) (M x z))))
         (assert (forall ((x Int) (y Int)) (=> (and (M x y) (<= x 101) {query}) false)))"
    )
}

/// Systems without loops, and one with sums of facts, with their answers.
pub(crate) const SMALL_SHAPES: [(&str, bool); 9] = [
    ("(assert (=> (< 1 2) false))", false),
    ("(assert (=> (> 1 2) false))", true),
    ("(declare-fun P (Int) Bool)(assert (P 1))", true),
    ("(declare-fun P (Int) Bool)(assert (forall ((x Int)) (=> (P x) false)))", true),
    ("(declare-fun p () Bool)(declare-fun q () Bool)(assert p)(assert (=> p q))(assert (=> q false))", false),
    ("(declare-fun p () Bool)(declare-fun q () Bool)(assert (=> p q))(assert (=> q false))", true),
    (
        "(declare-fun P (Int Int) Bool)(declare-fun Q (Int) Bool)(assert (P 0 1))
         (assert (forall ((z Int)) (=> (P z z) (Q z))))(assert (forall ((z Int)) (=> (Q z) false)))",
        true,
    ),
    // The sum of two facts, which differ.
    (
        "(declare-fun A (Int) Bool)(assert (A 0))
         (assert (forall ((x Int) (y Int)) (=> (and (A x) (A y)) (A (+ x y 1)))))
         (assert (forall ((x Int)) (=> (and (A x) (= x 3)) false)))",
        false,
    ),
    (
        "(declare-fun A (Int) Bool)(declare-fun B (Int) Bool)(assert (A 0))(assert (B 1))
         (assert (forall ((x Int) (y Int)) (=> (and (A x) (B y) (= x y)) false)))",
        true,
    ),
];

/// Random systems over datatypes that an engine for models proves in a short time; none of them is unsafe, and the checker refuses no
/// model. It does not decide all disequalities of states, though. Values are small, so saturation decides.
#[track_caller]
pub(crate) fn proved_only_if_safe(engine: &dyn Engine, seeds: std::ops::Range<u64>) -> u64 {
    let mut proved = 0;
    for family in [Family::Sums, Family::Lists, Family::Enumerations, Family::Numbers] {
        for seed in seeds.clone() {
            let store = TermStore::new();
            let mut random = Random::new(seed);
            // Lists have too many pairs for saturation.
            let text = if seed % 2 == 0 || family == Family::Lists {
                datatype_systems::system(&mut random, family)
            } else {
                datatype_systems::system_with_differences(&mut random, family)
            };
            let graph = read(&store, &text);
            let run = Run::new(&store).with_timeout(Duration::from_millis(300));
            if let Ok(Evidence::Sat(model)) = engine.solve(&graph, &run) {
                let checked = Run::new(&store).with_timeout(LONG);
                let verdict = check_graph_model(&checked.context(), &graph, &model);
                let at = format!("{family:?}, seed {seed}: {verdict:?}\n{text}");
                assert!(!matches!(verdict, Err(Stop::Internal(_))), "{at}");
                let facts = Saturation::of(&store, &graph, 0..=datatype_systems::GREATEST);
                assert!(facts.is_safe(), "{at}");
                proved += 1;
            }
        }
    }
    proved
}
