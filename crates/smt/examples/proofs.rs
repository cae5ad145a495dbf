//! Solves SMT-LIB scripts with proofs and checks each proof. Prints what the proofs consist of and how long it took.
//!
//! ```text
//! cargo run --release -p shofar-smt --example proofs -- FILE...
//! ```
//!
//! With `--overhead` in front it solves each script with and without proofs, in turns and three times, and prints the
//! shortest times of both in milliseconds as comma-separated values.

#![expect(clippy::print_stdout, reason = "it is what the program is for")]

mod refutations;

use std::io;
use std::time::Duration;

use refutations::{Refutation, solve, timed};
use shofar_smt::proof::{Justification, Rule, check};

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
            solve(&path, true, TIMEOUT, |refutation| report(&path, refutation))?;
        }
    }
    Ok(())
}

/// Solves a script with and without proofs.
fn compare(path: &str) -> io::Result<()> {
    let mut least = [Duration::MAX; 2];
    for _ in 0..ROUNDS {
        for (least, with_proofs) in std::iter::zip(&mut least, [false, true]) {
            let run = solve(path, with_proofs, TIMEOUT, |_| {})?;
            if !run.is_complete {
                println!("{path},,");
                return Ok(());
            }
            *least = run.solving.min(*least);
        }
    }
    let [without, with] = least.map(|time| time.as_secs_f64() * 1000.0);
    println!("{path},{without:.3},{with:.3}");
    Ok(())
}

fn report(path: &str, Refutation { store, proof, solving, extraction }: &Refutation<'_>) {
    let (verdict, checking) = timed(|| check(store, proof));
    let verdict = verdict.map_or_else(|fault| fault.to_string(), |()| "accepted".to_owned());
    let count =
        |is_meant: fn(&Rule) -> bool| proof.steps().iter().filter(|step| is_meant(&step.rule)).count();
    println!(
        "{path}: {verdict}; {} steps: {} assertions, {} definitions, {} sums, {} congruences, {} integer, \
         {} splits, {} chains; solved in {solving:.1?}, extracted in {extraction:.1?}, checked in {checking:.1?}",
        proof.steps().len(),
        count(|rule| matches!(rule, Rule::Assertion(_) | Rule::Assumption(_))),
        count(|rule| matches!(rule, Rule::Definition)),
        count(|rule| matches!(rule, Rule::Lemma(Justification::Farkas(_)))),
        count(|rule| matches!(rule, Rule::Lemma(Justification::Congruence(_)))),
        count(|rule| matches!(rule, Rule::Lemma(Justification::Integer(_)))),
        count(|rule| matches!(rule, Rule::Lemma(Justification::Split))),
        count(|rule| matches!(rule, Rule::Resolution { .. })),
    );
}
