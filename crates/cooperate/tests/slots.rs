//! Slots with transformations of their own: engines on different graphs of the same clauses, whose answers are checked on the clauses
//! as they were read.

use std::time::Duration;

use shofar_cooperate::driver::{self, Options, Verdict};
use shofar_cooperate::exchange::Exchanging;
use shofar_cooperate::slot::Slot;
use shofar_engines::Run;
use shofar_horn::{HornGraph, parse};
use shofar_logic::TermStore;
use shofar_run::Stop;
use shofar_testing::explicit::Saturation;
use shofar_testing::{Random, control_systems};

fn options(slots: &[&str]) -> Options {
    let slot = |text: &&str| text.parse::<Slot>().expect("there is such a slot");
    Options { engines: slots.iter().map(slot).collect(), ..Options::default() }
}

fn solve(text: &str, options: &Options) -> Verdict {
    let store = TermStore::new();
    let system = parse(&store, "test", text.as_bytes()).expect("the test's clauses are right");
    let run = Run::new(&store).with_timeout(Duration::from_secs(60));
    driver::solve(&system, options, &run).verdict
}

#[test]
fn engines_on_both_graphs_give_the_right_answer() {
    let slots = [
        &["lawi:passes=control"][..],
        &["cegar:passes=control+standard"],
        &["spacer:passes=control+standard", "kind"],
        &["bmc:passes=control", "lawi", "spacer:passes=control"],
    ];
    let mut answers = [0, 0];
    for seed in 0..60 {
        let text = control_systems::system(&mut Random::new(seed));
        let store = TermStore::new();
        let system = parse(&store, "test", text.as_bytes()).expect("the test's clauses are right");
        let is_safe =
            Saturation::of(&store, &HornGraph::of(&store, &system), 0..=control_systems::GREATEST).is_safe();
        let exchange = if seed % 3 == 0 { Exchanging::Rounds } else { Exchanging::On };
        let options = Options { exchange, ..options(slots[seed as usize % slots.len()]) };
        match solve(&text, &options) {
            Verdict::Sat(_) => assert!(is_safe, "{text}"),
            Verdict::Unsat(_) => assert!(!is_safe, "{text}"),
            Verdict::Unknown(Stop::Exhausted("the transformations of the slot change nothing")) => continue,
            other => panic!("{other:?}:\n{text}"),
        }
        answers[usize::from(is_safe)] += 1;
    }
    assert!(answers.iter().all(|&count| count >= 8), "{answers:?}");
}

#[test]
fn slots_without_a_graph_say_why() {
    let text = "(declare-fun P (Int) Bool)(assert (P 0))
        (assert (forall ((x Int)) (=> (P x) (P (+ x 1)))))
        (assert (forall ((x Int)) (=> (and (P x) (< x 0)) false)))";
    let reason = |slots: &[&str]| match solve(text, &options(slots)) {
        Verdict::Unknown(stop) => stop.to_string(),
        other => panic!("{other:?}"),
    };
    assert!(reason(&["spacer:passes=control"]).contains("change nothing"));
    let as_read = reason(&["saturation:passes=single-loop"]);
    assert!(as_read.contains("saturation, which works on the clauses as they were read"), "{as_read}");
    // Beside other slots, such a slot is left out.
    assert!(matches!(solve(text, &options(&["spacer:passes=control", "spacer"])), Verdict::Sat(_)));
}
