//! Elimination of quantifiers, for models.

use shofar_logic::Term;
use shofar_smt::project::{Bounds, Status, eliminate};

use crate::{Run, Stop};

/// The number of disjuncts up to which a result is worth having.
const MAX_DISJUNCTS: usize = 1000;

/// A formula over the given variables that is equivalent to the existence of all others.
pub(crate) fn eliminate_all_but(run: &Run<'_>, formula: Term, kept: &[Term]) -> Result<Term, Stop> {
    let mut others = run.store.free_vars(&[formula]);
    others.retain(|variable| !kept.contains(variable));
    if others.is_empty() {
        return Ok(formula);
    }
    let bounds = Bounds { limits: run.limits, disjuncts: MAX_DISJUNCTS, ..Bounds::default() };
    let elimination = eliminate(run.store, formula, &others, &bounds);
    let elimination = elimination.map_err(|error| Stop::Unsupported(error.display(run.store).to_string()))?;
    match elimination.status {
        Status::Complete => Ok(elimination.formula),
        Status::TooManyDisjuncts => {
            Err(Stop::Exhausted("a quantifier cannot be eliminated in few disjuncts"))
        }
        Status::Unknown(reason) => Err(reason.into()),
    }
}
