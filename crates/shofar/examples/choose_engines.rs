//! Chooses engines by the shape of the clauses, with options of their own.

use std::error::Error;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::time::Duration;

use shofar::engines::Spacer;
use shofar::{OptionError, Options, System};

const CLAUSES: &str = "
    (declare-fun even (Int) Bool)
    (assert (even 0))
    (assert (forall ((x Int)) (=> (and (even x) (< x 1000)) (even (+ x 2)))))
    (assert (forall ((x Int)) (=> (and (even x) (> x 1001)) false)))";

/// Runs Spacer without its guesses on all systems, and two engines beside it on a single loop.
fn schedule(system: &System) -> Result<Options<'static>, OptionError> {
    let mut spacer = Spacer::default();
    spacer.options.guidance = false;
    let options = Options::new().timeout(Duration::from_secs(60)).jobs(NonZeroUsize::MIN).engine(spacer)?;
    if system.info().transition_system {
        options.engines("pdkind:depth=growing,split-tpa")
    } else {
        Ok(options)
    }
}

pub(crate) fn run(out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let system = System::parse("even.smt2", CLAUSES)?;
    let outcome = system.solve(&schedule(&system)?);
    writeln!(out, "{} by {}", outcome.verdict.name(), outcome.engine.as_deref().unwrap_or("none"))?;
    match Options::new().engines("spaser") {
        Ok(_) => return Err("there is no such engine".into()),
        Err(error) => writeln!(out, "{error}")?,
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    run(&mut io::stdout().lock())
}
