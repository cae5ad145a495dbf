//! cvc5 as a second judge, by its package for Python.

#![expect(clippy::print_stdout, reason = "a test that is skipped says so")]

use std::io::Write as _;
use std::process::{Command, Stdio};

use shofar_smt::sat::Outcome;

/// What cvc5 does with a script that lacks its logic.
const OPTIONS: &str = "(set-option :tlimit-per 2000)\n(set-logic ALL)\n";

/// Compares answers to scripts, one query in each, with those of cvc5.
///
/// # Panics
///
/// If one is sat and the other unsat, or cvc5 decides less than half of the scripts.
pub fn compare(scripts: &[String], found: &[Outcome]) {
    assert_eq!(scripts.len(), found.len());
    let is_installed = Command::new("python3").args(["-c", "import cvc5"]).stderr(Stdio::null()).status();
    if !is_installed.is_ok_and(|status| status.success()) {
        println!("skipped: cvc5 is not installed (pip install cvc5)");
        return;
    }
    let mut child = Command::new("python3")
        .args(["-c", include_str!("cvc5.py")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let text: String = scripts.iter().map(|script| format!("{OPTIONS}{script}\n;;;\n")).collect();
    // It answers while it reads, so a thread writes to avoid a deadlock.
    let writer = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let output = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    writer.join().unwrap().unwrap();
    let answers: Vec<&str> = output.lines().collect();
    assert_eq!(answers.len(), scripts.len());
    let mut decided = 0;
    for ((script, answer), found) in scripts.iter().zip(answers).zip(found) {
        let agree = match (answer, found) {
            ("sat", Outcome::Unsat) | ("unsat", Outcome::Sat) => false,
            ("sat" | "unsat" | "unknown", _) => true,
            _ => panic!("{answer}"),
        };
        assert!(agree, "cvc5 says {answer}, we say {found:?}:\n{script}");
        decided += usize::from(answer != "unknown");
    }
    assert!(2 * decided > scripts.len(), "cvc5 decides {decided} of {}", scripts.len());
}
