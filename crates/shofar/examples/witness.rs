//! Walks through the refutation of clauses, prints it, and has it checked.

use std::error::Error;
use std::io::{self, Write};
use std::time::Duration;

use shofar::{CheckError, Limits, Options, Refutation, System, Verdict, Witness, WitnessFormat};

/// A loop that adds five to a number below twelve, with the claim that it stays below sixteen.
const CLAUSES: &str = "
    (declare-fun loop (Int) Bool)
    (assert (! (loop 1) :named start))
    (assert (! (forall ((x Int)) (=> (and (loop x) (< x 12)) (loop (+ x 5)))) :named round))
    (assert (! (forall ((x Int)) (=> (and (loop x) (>= x 16)) false)) :named claim))";

pub(crate) fn run(out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let system = System::parse("loop.smt2", CLAUSES)?;
    let limits = Limits::new().timeout(Duration::from_secs(60));
    let Verdict::Unsat(refutation) = system.solve(&Options::new().limits(limits)).verdict else {
        return Err("the refutation was not found".into());
    };
    walk(&refutation, out)?;

    let witness = Witness::from(refutation);
    witness.write(WitnessFormat::Json, &mut *out)?;
    // `solve` has done this already: the refutation is valid.
    system.check(&witness, &limits)?;

    // A model, for example of another solver, that the clauses do not have.
    let model = system.parse_witness("guess", "(define-fun loop ((x Int)) Bool (< x 16))")?;
    if let Err(CheckError::Invalid(fault)) = system.check(&model, &limits) {
        writeln!(out, "{fault}")?;
    }
    Ok(())
}

/// Prints each step: the values of the variables of its clause, and what follows.
fn walk(refutation: &Refutation, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    for step in refutation.steps() {
        write!(out, "{}:", step.clause().name().unwrap_or("a clause"))?;
        for (variable, value) in step.values() {
            write!(out, " {variable} = {value}")?;
        }
        match step.fact() {
            Some((predicate, arguments)) => {
                let name = refutation.system().name(predicate)?;
                let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
                writeln!(out, " gives {name} of {}", arguments.join(", "))?;
            }
            None => writeln!(out, " is a contradiction")?,
        }
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    run(&mut io::stdout().lock())
}
