//! The seed of a run reaches the solvers that engines make.

use std::sync::Mutex;

use shofar_engines::{Event, EventSink, Evidence, Run, all};
use shofar_horn::{HornGraph, parse};
use shofar_logic::TermStore;

/// Unsafe after some steps, with choices in each of them.
const TEXT: &str = "(declare-fun P (Int Int Bool Bool) Bool)
    (assert (P 0 0 true false))
    (assert (forall ((x Int) (y Int) (a Bool) (b Bool) (c Bool) (z Int))
        (=> (and (P x y a b) (or a (> z x) (= z (+ y 3))) (or b (not c) (< z 9)) (<= x z (+ x 4)))
            (P z (ite c (+ y 1) y) (or b c) (not a)))))
    (assert (forall ((x Int) (y Int) (a Bool) (b Bool)) (=> (and (P x y a b) (= (+ x y) 11) (>= y 3)) false)))";

#[derive(Default)]
struct Counted(Mutex<Vec<(&'static str, u64)>>);

impl EventSink for Counted {
    fn tell(&self, event: Event) {
        if let Event::Statistics { counters, .. } = event {
            self.0.lock().expect("no listener panics").extend(counters);
        }
    }
}

#[test]
fn seeds_change_the_search_but_not_the_answer() {
    let found = |engine: usize, seed: u64| {
        let store = TermStore::new();
        let system = parse(&store, "test", TEXT.as_bytes()).expect("the test's clauses are right");
        let counted = Counted::default();
        let run = Run::new(&store).with_seed(seed).with_events(&counted);
        let evidence = all()[engine].solve(&HornGraph::of(&store, &system), &run);
        assert!(matches!(evidence, Ok(Evidence::Unsat(_))), "{} with seed {seed}", all()[engine].name());
        (evidence, counted.0.into_inner().expect("no listener panics"))
    };
    for engine in 0..all().len() {
        let by_default = found(engine, 0);
        assert_eq!(found(engine, 0), by_default);
        let is_other = (1..20).any(|seed| found(engine, seed) != by_default);
        assert!(is_other, "{} does not know its seed", all()[engine].name());
    }
}
