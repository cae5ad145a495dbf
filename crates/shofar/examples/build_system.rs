//! Makes clauses of a program in memory, without any text, and prints the invariant of its loop.
//!
//! The program adds `step` to `x` and to `y` until `x` has come to 100, and claims that the two are equal then:
//!
//! ```text
//! x := 0; y := 0;
//! while x < 100 { x := x + 1; y := y + step }
//! assert x == y
//! ```

use std::error::Error;
use std::io::{self, Write};
use std::time::Duration;

use shofar::{BuildError, HornSystem, Options, Run, Sort, SystemBuilder, TermStore, WitnessFormat, solve};

/// The clauses of the program.
fn program(store: &TermStore, step: i64) -> Result<HornSystem, BuildError> {
    let mut clauses = SystemBuilder::new(store);
    let head = clauses.predicate("loop", &[Sort::INT, Sort::INT])?;
    let (x, y) = (clauses.variable("x", Sort::INT), clauses.variable("y", Sort::INT));
    let (zero, limit) = (store.int(0), store.int(100));
    clauses.clause().named("start").implies(head, &[zero, zero])?;
    let next = [store.add(&[x, store.int(1)]), store.add(&[y, store.int(step)])];
    clauses.clause().named("round").atom(head, &[x, y]).when(store.lt(x, limit)).implies(head, &next)?;
    let is_wrong = store.not(store.eq(x, y));
    clauses
        .clause()
        .named("claim")
        .atom(head, &[x, y])
        .when(store.ge(x, limit))
        .when(is_wrong)
        .implies_false()?;
    Ok(clauses.finish())
}

pub(crate) fn run(step: i64, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let store = TermStore::new();
    let system = program(&store, step)?;
    let outcome =
        solve(&system, &Options::default(), &Run::new(&store).with_timeout(Duration::from_secs(60)));
    writeln!(out, "{}", outcome.verdict.name())?;
    if let Some(witness) = outcome.verdict.witness() {
        witness.write(&store, &system, WitnessFormat::Text, out)?;
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    run(1, &mut io::stdout().lock())
}
