//! Reproducible random traces. `SHOFAR_TEST_SCALE=20` in the environment runs twenty times as many.

use std::time::Duration;

use shofar_logic::TermStore;
use shofar_mbt::{Failure, Fault, Kind, Trace, generate, run_seeds, shrink};
use shofar_testing::scale;

#[test]
fn every_answer_is_right() {
    let scale = scale();
    let mut reports = Vec::new();
    let coverage = run_seeds(0..400 * scale, None, |report| {
        println!("; seed {}: {}\n{}", report.seed, report.failure, report.trace);
        reports.push(report);
    });
    println!("{coverage}");
    assert!(reports.is_empty(), "{} traces fail", reports.len());
    for (name, least) in [
        ("sat", 1000),
        ("unsat", 800),
        ("unknown: budget", 5),
        ("unknown: cancelled", 5),
        ("unknown: memory", 2),
        ("judged by proof", 1000),
        ("proofs", 300),
        ("proofs with replaced symbols", 50),
        ("interpolants", 300),
        ("no interpolant: mixed", 5),
        ("smaller cores", 5),
        ("minimal cores", 25),
        ("projections judged in samples", 100),
        ("eliminations judged in samples", 100),
        ("implicants", 20),
        ("renewals", 300),
        ("traces in threads", 20),
        ("unsupported", 2),
    ] {
        assert!(coverage.of(name) >= least * scale, "{name}: only {}", coverage.of(name));
    }
    // One of ten thousand may be beyond the comparison.
    let unshown = coverage.of("proofs, not shown");
    assert!(unshown * 10_000 <= coverage.of("proofs"), "{unshown} proofs are not shown");
    assert!(coverage.of("not judged: undecided") * 50 <= coverage.of("judged by proof"));
}

#[test]
fn traces_survive_printing_and_reading() {
    for seed in 0..200 {
        let read_and_print = |text: &str| {
            let store = TermStore::new();
            let trace = Trace::read(&store, text).unwrap_or_else(|error| panic!("{error}\n{text}"));
            trace.to_text(&store)
        };
        // Negated numerals are negative ones after they were read.
        let text = read_and_print(&generate(seed));
        assert_eq!(read_and_print(&text), text, "seed {seed}");
    }
}

#[test]
fn shrinking_leaves_what_the_failure_needs() {
    // Whatever asserts a comparison with `<=` after a frame was opened is wrong.
    let run = |text: &str| match text.find("(push)").map(|at| text[at..].contains("(assert (<=")) {
        Some(true) => Err(Failure { call: 1000, fault: Fault { kind: Kind::Model, message: String::new() } }),
        _ => Ok(()),
    };
    let failing = (0..200).map(generate).find_map(|text| Some((run(&text).err()?, text)));
    let (failure, text) = failing.expect("some trace asserts a comparison");
    let (shrunk, _) = shrink(&text, failure, Duration::from_secs(60), run);
    let calls: Vec<&str> = shrunk.lines().filter(|line| !line.starts_with("(declare")).collect();
    assert_eq!((calls.len(), calls[0], calls[1]), (3, "(solver)", "(push)"), "{shrunk}");
    assert!(calls[2].len() <= "(assert (<= 0.0 0.0))".len(), "{shrunk}");
}
