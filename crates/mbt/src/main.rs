//! Runs the tester by hand.
//!
//! ```text
//! shofar-mbt --seconds 3600 --seed 1        traces from this number on, for an hour
//! shofar-mbt FILE...                        replays traces
//! shofar-mbt --show SEED                    prints a trace
//! ```

#![expect(clippy::print_stdout, reason = "a program for the command line")]

use std::process::ExitCode;
use std::time::{Duration, Instant};

use shofar_mbt::{Coverage, Report, generate, run, run_seeds};

const USAGE: &str = "usage: shofar-mbt [--seconds N] [--seed N] | --show SEED | FILE...";

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let (mut seconds, mut seed, mut files) = (60, 0, Vec::new());
    while let Some(arg) = args.next() {
        let mut number = || args.next().and_then(|number| number.parse::<u64>().ok());
        match (arg.as_str(), arg.starts_with('-')) {
            ("--seconds", _) if let Some(number) = number() => seconds = number,
            ("--seed", _) if let Some(number) = number() => seed = number,
            ("--show", _) if let Some(number) = number() => {
                println!("{}", generate(number));
                return ExitCode::SUCCESS;
            }
            (_, false) => files.push(arg),
            _ => {
                println!("{USAGE}");
                return ExitCode::from(2);
            }
        }
    }
    let is_right = if files.is_empty() { test(seconds, seed) } else { replay(&files) };
    if is_right { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs traces for some time, prints failures and coverage, and returns whether nothing failed.
fn test(seconds: u64, seed: u64) -> bool {
    // A panic is a failure like others, and shrinking would repeat its message a hundred times.
    std::panic::set_hook(Box::new(|_| {}));
    let (start, mut failures) = (Instant::now(), 0);
    let coverage =
        run_seeds(seed.., Some(Duration::from_secs(seconds)), |Report { seed, trace, failure }| {
            failures += 1;
            println!("; seed {seed}: {failure}\n{trace}");
        });
    println!("{coverage}{:>12}  failures in {} s", failures, start.elapsed().as_secs());
    failures == 0
}

/// Runs traces from files, and returns whether nothing failed.
fn replay(files: &[String]) -> bool {
    let mut is_right = true;
    for file in files {
        let answer = match std::fs::read_to_string(file) {
            Ok(text) => run(&text, &mut Coverage::default()).map_err(|failure| failure.to_string()),
            Err(error) => Err(error.to_string()),
        };
        is_right &= answer.is_ok();
        println!("{file}: {}", answer.err().unwrap_or_else(|| "right".to_owned()));
    }
    is_right
}
