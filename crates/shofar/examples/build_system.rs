//! Makes the clauses of a program in memory, without any text, and prints the invariant of its loop.
//!
//! The program adds 1 to `x` and `step` to `y` until `x` is 100, and claims that both are equal then:
//!
//! ```text
//! x := 0; y := 0;
//! while x < 100 { x := x + 1; y := y + step }
//! assert x == y
//! ```

use std::error::Error;
use std::io::{self, Write};
use std::time::Duration;

use shofar::{BuildError, Options, Sort, System, SystemBuilder};

/// The clauses of the program.
fn program(step: i64) -> Result<System, BuildError> {
    let mut clauses = SystemBuilder::new();
    let head = clauses.predicate("loop", &[Sort::Int, Sort::Int])?;
    let (x, y) = (clauses.variable("x", &Sort::Int)?, clauses.variable("y", &Sort::Int)?);
    let zero = clauses.terms().int(0);
    clauses.clause().named("start").implies(head, &[&zero, &zero])?;
    let next = [&x.add(1)?, &y.add(step)?];
    clauses.clause().named("round").atom(head, &[&x, &y]).when(&x.lt(100)?).implies(head, &next)?;
    let is_wrong = x.ge(100)?.and(x.differs(&y)?)?;
    clauses.clause().named("claim").atom(head, &[&x, &y]).when(&is_wrong).implies_false()?;
    Ok(clauses.finish())
}

pub(crate) fn run(step: i64, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let outcome = program(step)?.solve(&Options::new().timeout(Duration::from_secs(60)));
    writeln!(out, "{}", outcome.verdict.name())?;
    if let Some(witness) = outcome.verdict.witness() {
        write!(out, "{witness}")?;
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    run(1, &mut io::stdout().lock())
}
