//! The examples of the library do what they say. Tests call `run` where the programs have `main`.

use std::time::{Duration, Instant};

#[expect(dead_code, reason = "main")]
#[path = "../examples/build_system.rs"]
mod build_system;
#[expect(dead_code, reason = "main")]
#[path = "../examples/choose_engines.rs"]
mod choose_engines;
#[expect(dead_code, reason = "main")]
#[path = "../examples/progress.rs"]
mod progress;
#[expect(dead_code, reason = "main")]
#[path = "../examples/solve_file.rs"]
mod solve_file;
#[expect(dead_code, reason = "main")]
#[path = "../examples/witness.rs"]
mod witness;

/// What an example writes.
fn written(run: impl FnOnce(&mut Vec<u8>) -> Result<(), Box<dyn std::error::Error>>) -> String {
    let mut out = Vec::new();
    run(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn a_file_is_solved() {
    let file = |name: &str| format!("{}/../../examples/{name}.smt2", env!("CARGO_MANIFEST_DIR"));
    assert_eq!(written(|out| solve_file::run(&file("counter"), out)), "safe\n");
    assert_eq!(written(|out| solve_file::run(&file("overshoot"), out)), "not safe, after 8 steps\n");
    assert!(solve_file::run("no/such/file", &mut Vec::new()).is_err());
}

#[test]
fn a_system_is_built_in_memory() {
    let safe = written(|out| build_system::run(1, out));
    assert!(safe.starts_with("sat\n(\n  (define-fun loop ((x Int) (y Int)) Bool"), "{safe}");
    let wrong = written(|out| build_system::run(2, out));
    assert!(wrong.starts_with("unsat\n(step 1 (loop 0 0) :clause 1 :name start"), "{wrong}");
    assert!(wrong.trim_end().ends_with(":instance ((x 100) (y 200)))"), "{wrong}");
}

#[test]
fn engines_are_chosen() {
    let told = written(choose_engines::run);
    assert!(told.starts_with("sat by "), "{told}");
    assert!(told.contains("there is no engine `spaser`, did you mean `spacer`?"), "{told}");
}

#[test]
fn a_refutation_is_walked_through_and_checked() {
    let told = written(witness::run);
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(
        lines[..5],
        [
            "start: gives loop of 1",
            "round: x = 1 gives loop of 6",
            "round: x = 6 gives loop of 11",
            "round: x = 11 gives loop of 16",
            "claim: x = 16 is a contradiction",
        ]
    );
    assert!(told.contains("\nthe model violates clause 2 `round` at 4:6\n"), "{told}");
}

#[test]
fn a_run_is_watched_and_ended() {
    let start = Instant::now();
    let told = written(|out| progress::run(Duration::from_millis(300), out));
    assert!(told.starts_with("interrupted at depth "), "{told}");
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}
