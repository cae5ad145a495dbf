//! Quantifier elimination, for models.
//!
//! Equations that define a variable to be eliminated are used first: they replace the variable and leave the rest of
//! the formula unchanged, while elimination by projection gives a disjunction of cubes.

use rustc_hash::FxHashSet;
use shofar_horn::transform::solve_equations;
use shofar_logic::{Term, TermStore};
use shofar_run::{Limits, Stop};
use shofar_smt::project::{Bounds, Status, eliminate};

use crate::Run;

/// The maximal number of disjuncts of a useful result.
const MAX_DISJUNCTS: usize = 1000;

/// The conflict limit of each query when variables are eliminated that could stay.
const CONFLICTS: u64 = 1000;

/// Eliminates the variables that do not belong to the state, if that takes little effort.
pub(crate) fn with_few_locals(run: &Run<'_>, formula: Term, state: &[Term]) -> Term {
    eliminate_with_little_effort(run, formula, state).unwrap_or(formula)
}

/// Like [`eliminate_all_but`], within a limit for each query.
pub(crate) fn eliminate_with_little_effort(
    run: &Run<'_>,
    formula: Term,
    kept: &[Term],
) -> Result<Term, Stop> {
    let limits = Limits { conflicts: Some(CONFLICTS), ..run.limits };
    eliminate_all_but(&run.clone().with_limits(limits), formula, kept)
}

/// A formula over the variables `kept`, equivalent to `exists others. formula`, if equations define all others. It is
/// about as large as the formula, which is normal.
pub(crate) fn eliminate_by_equations(store: &TermStore, formula: Term, kept: &[Term]) -> Option<Term> {
    let (formula, others) = use_equations(store, formula, kept);
    others.is_empty().then_some(formula)
}

/// A formula over the variables `kept`, equivalent to `exists others. formula`. The formula is normal.
pub(crate) fn eliminate_all_but(run: &Run<'_>, formula: Term, kept: &[Term]) -> Result<Term, Stop> {
    let (formula, others) = use_equations(run.store, formula, kept);
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

/// Eliminates the variables that equations define, except those in `kept`. Returns the result and its variables that
/// remain to be eliminated.
fn use_equations(store: &TermStore, formula: Term, kept: &[Term]) -> (Term, Vec<Term>) {
    let kept: FxHashSet<Term> = kept.iter().copied().collect();
    let solved = solve_equations(store, formula, |variable| (!kept.contains(&variable)).then_some(0));
    let formula = store.and(&solved.rest);
    let mut others = store.free_vars(&[formula]);
    others.retain(|variable| !kept.contains(variable));
    (formula, others)
}
