//! Solves SMT-LIB scripts with proofs, checks each proof and writes it in the Alethe format. Prints what the proofs
//! consist of and how long it took.
//!
//! ```text
//! cargo run --release -p shofar-smt --example proofs -- FILE...
//! ```
//!
//! With `--overhead` in front it solves each script without and with proofs, and so the formulas that its refutation
//! rests on, in turns and three times, and prints the shortest times in milliseconds as comma-separated values.

#![expect(clippy::print_stdout, reason = "it is what the program is for")]

mod refutations;

use std::io;
use std::time::{Duration, Instant};

use refutations::{Refutation, solve, timed};
use shofar_run::Limits;
use shofar_smt::proof::{Justification, Proof, Rule, check, write_alethe};
use shofar_smt::purify::Unsupported;
use shofar_smt::sat::Outcome;
use shofar_smt::solver::Solver;

/// The option that is set.
const PROOFS: &str = ":produce-proofs";

/// How long a query may take.
const TIMEOUT: Duration = Duration::from_secs(10);

/// How often scripts are solved to find out what proofs cost.
const ROUNDS: usize = 3;

fn main() -> io::Result<()> {
    let mut paths = std::env::args().skip(1).peekable();
    let is_about_overhead = paths.next_if(|argument| argument == "--overhead").is_some();
    for path in paths {
        if is_about_overhead {
            compare(&path)?;
        } else {
            solve(&path, Some(PROOFS), TIMEOUT, |_, refutation| report(&path, refutation))?;
        }
    }
    Ok(())
}

/// What is timed: the script, and the formulas that its last refutation rests on, each without and with proofs. Only
/// for the script as a whole symbols that equations define are replaced.
fn compare(path: &str) -> io::Result<()> {
    let mut least = [Duration::MAX; 4];
    for _ in 0..ROUNDS {
        let mut times = [Duration::ZERO; 4];
        let without = solve(path, None, TIMEOUT, |_, _| {})?;
        let with = solve(path, Some(PROOFS), TIMEOUT, |_, Refutation { store, proof, .. }| {
            times[2] = timed(|| refute(Solver::new(store), proof)).1;
            times[3] = timed(|| refute(Solver::with_proofs(store), proof)).1;
        })?;
        if !without.is_complete || !with.is_complete {
            println!("{path},,,,");
            return Ok(());
        }
        (times[0], times[1]) = (without.solving, with.solving);
        std::iter::zip(&mut least, times).for_each(|(least, time)| *least = time.min(*least));
    }
    let [a, b, c, d] = least.map(|time| time.as_secs_f64() * 1000.0);
    println!("{path},{a:.3},{b:.3},{c:.3},{d:.3}");
    Ok(())
}

/// Refutes once more what a proof refutes.
fn refute(mut solver: Solver<'_>, proof: &Proof) -> Result<Outcome, Unsupported> {
    for assertion in proof.assertions() {
        solver.assert_in(assertion.formula, assertion.part)?;
    }
    solver.check(&[], &Limits { deadline: Some(Instant::now() + TIMEOUT), ..Limits::default() })
}

fn report(path: &str, Refutation { store, proof, solving, extraction }: &Refutation<'_>) {
    let (verdict, checking) = timed(|| check(store, proof));
    let verdict = verdict.map_or_else(|fault| fault.to_string(), |()| "accepted".to_owned());
    let mut text = Vec::new();
    let (_, writing) = timed(|| write_alethe(store, proof, &mut text));
    let holes = String::from_utf8_lossy(&text).matches(":rule hole").count();
    let count =
        |is_meant: fn(&Rule) -> bool| proof.steps().iter().filter(|step| is_meant(&step.rule)).count();
    println!(
        "{path}: {verdict}; {} steps: {} assertions, {} definitions, {} sums, {} congruences, {} integer, \
         {} splits, {} chains; solved in {solving:.1?}, extracted in {extraction:.1?}, checked in {checking:.1?}; \
         as text {} bytes with {holes} holes, written in {writing:.1?}",
        proof.steps().len(),
        count(|rule| matches!(rule, Rule::Assertion(_) | Rule::Assumption(_))),
        count(|rule| matches!(rule, Rule::Definition)),
        count(|rule| matches!(rule, Rule::Lemma(Justification::Farkas(_)))),
        count(|rule| matches!(rule, Rule::Lemma(Justification::Congruence(_)))),
        count(|rule| matches!(rule, Rule::Lemma(Justification::Integer(_)))),
        count(|rule| matches!(rule, Rule::Lemma(Justification::Split))),
        count(|rule| matches!(rule, Rule::Resolution { .. })),
        text.len(),
    );
}
