//! Walks through the derivation that refutes clauses, prints it, and has it checked.

use std::error::Error;
use std::io::{self, Write};
use std::time::Duration;

use shofar::check::{self, check_witness};
use shofar::{
    HornSystem, Options, Refutation, Run, TermStore, Verdict, Witness, WitnessFormat, parse, solve,
};

/// A loop that adds five to a number below twelve, and is said to stay below sixteen.
const CLAUSES: &str = "
    (declare-fun loop (Int) Bool)
    (assert (! (loop 1) :named start))
    (assert (! (forall ((x Int)) (=> (and (loop x) (< x 12)) (loop (+ x 5)))) :named round))
    (assert (! (forall ((x Int)) (=> (and (loop x) (>= x 16)) false)) :named claim))";

pub(crate) fn run(out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let store = TermStore::new();
    let system = parse(&store, "loop.smt2", CLAUSES.as_bytes())?;
    let limits = Run::new(&store).with_timeout(Duration::from_secs(60));
    let Verdict::Unsat(refutation) = solve(&system, &Options::default(), &limits).verdict else {
        return Err("the derivation was not found".into());
    };
    walk(&store, &system, &refutation, out)?;

    let witness = Witness::Refutation(refutation.clone());
    witness.write(&store, &system, WitnessFormat::Json, out)?;
    // The driver has done this already: what it returns is valid.
    assert_eq!(check_witness(&limits.context(), &system, &witness), check::Validity::Valid);

    // A derivation without its first step proves nothing.
    let broken = Witness::Refutation(Refutation { steps: refutation.steps[1..].to_vec() });
    if let check::Validity::Invalid(fault) = check_witness(&limits.context(), &system, &broken) {
        writeln!(out, "without the first step: {}", fault.display(&store, &system))?;
    }
    Ok(())
}

/// Tells each step: the values of the variables of its clause, and what follows.
fn walk(
    store: &TermStore,
    system: &HornSystem,
    refutation: &Refutation,
    out: &mut impl Write,
) -> io::Result<()> {
    for step in &refutation.steps {
        let clause = &system.clauses[step.clause];
        write!(out, "{}:", clause.name.map_or("a clause", |name| store.name(name)))?;
        for (&variable, value) in clause.variables.iter().zip(&step.instantiation) {
            write!(out, " {} = {}", store.display(variable), store.display_value(value))?;
        }
        match &clause.head {
            Some(head) => {
                let name = store.display_symbol(store.fun_decl(system.fun(head.predicate)).name);
                let fact: Vec<String> =
                    step.fact.iter().map(|value| store.display_value(value).to_string()).collect();
                writeln!(out, " gives {name} of {}", fact.join(", "))?;
            }
            None => writeln!(out, " is a contradiction")?,
        }
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    run(&mut io::stdout().lock())
}
