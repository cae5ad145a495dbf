//! Solves SMT-LIB scripts with proofs and checks each proof. Prints what the proofs consist of and how long it took.
//!
//! ```text
//! cargo run --release -p shofar-smt --example proofs -- FILE...
//! ```

#![expect(clippy::print_stdout, reason = "it is what the program is for")]

mod refutations;

use std::io;
use std::time::Duration;

use refutations::{Refutation, refutations, timed};
use shofar_smt::proof::{Justification, Rule, check};

/// How long a query may take.
const TIMEOUT: Duration = Duration::from_secs(10);

fn main() -> io::Result<()> {
    for path in std::env::args().skip(1) {
        refutations(&path, TIMEOUT, |refutation| report(&path, refutation))?;
    }
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
