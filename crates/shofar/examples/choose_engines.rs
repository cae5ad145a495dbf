//! Chooses engines by the shape of the clauses, with options of their own.

use std::error::Error;
use std::io::{self, Write};
use std::time::Duration;

use shofar::{HornSystem, Options, Run, TermStore, parse, solve};

const CLAUSES: &str = "
    (declare-fun even (Int) Bool)
    (assert (even 0))
    (assert (forall ((x Int)) (=> (and (even x) (< x 1000)) (even (+ x 2)))))
    (assert (forall ((x Int)) (=> (and (even x) (> x 1001)) false)))";

/// A schedule: Spacer with another order of its work everywhere, and two engines beside it where there is a single loop.
fn schedule(store: &TermStore, system: &HornSystem) -> Options {
    let engines: &[&str] =
        if system.info(store).transition_system { &["spacer", "pdkind", "split-tpa"] } else { &["spacer"] };
    let setting = |engine: &str, option: &str, value: &str| (engine.into(), option.into(), value.into());
    Options {
        engines: engines.iter().map(|&engine| engine.to_owned()).collect(),
        jobs: Some(2),
        settings: vec![setting("spacer", "guidance", "no"), setting("pdkind", "depth", "growing")],
        ..Options::default()
    }
}

pub(crate) fn run(out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let store = TermStore::new();
    let system = parse(&store, "even.smt2", CLAUSES.as_bytes())?;
    let options = schedule(&store, &system);
    writeln!(out, "asked: {}", options.engines.join(", "))?;
    let outcome = solve(&system, &options, &Run::new(&store).with_timeout(Duration::from_secs(60)));
    writeln!(out, "{} by {}", outcome.verdict.name(), outcome.engine.as_deref().unwrap_or("none"))?;
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    run(&mut io::stdout().lock())
}
