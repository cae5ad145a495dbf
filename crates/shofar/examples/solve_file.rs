//! Reads clauses from a file and solves them, in ten seconds at most.
//!
//! ```text
//! cargo run --release -p shofar --example solve_file -- examples/counter.smt2
//! ```

use std::error::Error;
use std::io::{self, Write};
use std::time::Duration;
use std::{env, fs};

use shofar::{Options, System, Verdict};

pub(crate) fn run(file: &str, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let system = System::parse(file, fs::read(file)?)?;
    match system.solve(&Options::new().timeout(Duration::from_secs(10))).verdict {
        Verdict::Sat(_) | Verdict::Proved(_) | Verdict::Saturated(_) => writeln!(out, "safe")?,
        Verdict::Unsat(refutation) => writeln!(out, "not safe, after {} steps", refutation.steps().len())?,
        Verdict::Unknown(reason) => writeln!(out, "not known: {reason}")?,
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let file = env::args().nth(1).ok_or("usage: solve_file FILE")?;
    run(&file, &mut io::stdout().lock())
}
