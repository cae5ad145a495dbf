//! Checks interpolants by solver queries.

use shofar_logic::{Term, TermStore};
use shofar_run::{Limits, Reason};

use crate::purify::Unsupported;
use crate::sat::Outcome;
use crate::solver::Solver;

/// The result of a check.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Entailment {
    /// The implication holds.
    Holds,
    /// The implication fails.
    Fails,
    /// The solver gave up.
    Unknown(Reason),
}

/// Whether formulas imply another formula.
pub fn implies(
    store: &TermStore,
    premises: &[Term],
    conclusion: Term,
    limits: &Limits<'_>,
) -> Result<Entailment, Unsupported> {
    if conclusion == Term::TRUE {
        return Ok(Entailment::Holds);
    }
    let mut solver = Solver::new(store);
    for &premise in premises {
        solver.assert(premise)?;
    }
    solver.assert(store.not(store.normalize(conclusion)))?;
    Ok(match solver.check(&[], limits)? {
        Outcome::Unsat => Entailment::Holds,
        Outcome::Sat => Entailment::Fails,
        Outcome::Unknown(reason) => Entailment::Unknown(reason),
    })
}

/// Whether the formulas of A imply the interpolant and it contradicts those of B. Does not check symbols.
pub fn separates(
    store: &TermStore,
    a: &[Term],
    interpolant: Term,
    b: &[Term],
    limits: &Limits<'_>,
) -> Result<Entailment, Unsupported> {
    let follows = implies(store, a, interpolant, limits)?;
    if follows == Entailment::Fails {
        return Ok(follows);
    }
    let premises: Vec<Term> = b.iter().copied().chain([interpolant]).collect();
    Ok(match implies(store, &premises, Term::FALSE, limits)? {
        Entailment::Holds => follows,
        other => other,
    })
}
