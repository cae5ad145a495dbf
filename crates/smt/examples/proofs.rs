//! Solves SMT-LIB scripts with proofs and checks each proof. Prints what the proofs consist of and how long it took.
//!
//! ```text
//! cargo run --release -p shofar-smt --example proofs -- FILE...
//! ```

#![expect(clippy::print_stdout, reason = "it is what the program is for")]

use std::fs::File;
use std::io::{self, BufReader};
use std::time::{Duration, Instant};

use shofar_logic::TermStore;
use shofar_smt::proof::{Justification, Rule, check};
use shofar_smt::sat::Limits;
use shofar_smt::script::{Commands, Script};

/// How long a query may take.
const TIMEOUT: Duration = Duration::from_secs(10);

fn main() -> io::Result<()> {
    for path in std::env::args().skip(1) {
        let store = TermStore::new();
        let mut script = Script::new(&store);
        script.execute(b"(set-option :produce-proofs true)", &Limits::default(), &mut io::sink())?;
        let mut commands = Commands::new(BufReader::new(File::open(&path)?));
        while let Some(command) = commands.next_command()? {
            let limits = Limits { deadline: Some(Instant::now() + TIMEOUT), ..Limits::default() };
            let mut answer = Vec::new();
            let start = Instant::now();
            script.execute(&command, &limits, &mut answer)?;
            let solved = start.elapsed();
            if answer != b"unsat\n" {
                continue;
            }
            let start = Instant::now();
            let Some(proof) = script.proof() else { continue };
            let extracted = start.elapsed();
            let start = Instant::now();
            let verdict =
                check(&store, &proof).map_or_else(|fault| fault.to_string(), |()| "accepted".to_owned());
            let checked = start.elapsed();
            let count = |is_meant: fn(&Rule) -> bool| {
                proof.steps().iter().filter(|step| is_meant(&step.rule)).count()
            };
            println!(
                "{path}: {verdict}; {} steps: {} assertions, {} definitions, {} sums, {} congruences, {} integer, \
                 {} splits, {} chains; solved in {solved:.1?}, extracted in {extracted:.1?}, checked in {checked:.1?}",
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
    }
    Ok(())
}
