//! Elimination of quantifiers, for models.
//!
//! Equations that define a variable to be eliminated are used at first: that replaces the variable and leaves the formula
//! as it is otherwise, while elimination by projection gives a disjunction of cubes.

use rustc_hash::FxHashSet;
use shofar_horn::transform::solve_equations;
use shofar_logic::{Term, TermStore};
use shofar_run::{Limits, Stop};
use shofar_smt::project::{Bounds, Status, eliminate};

use crate::Run;

/// The number of disjuncts up to which a result is worth having.
const MAX_DISJUNCTS: usize = 1000;

/// Conflicts in each query that may be spent on the elimination of variables that could stay.
const CONFLICTS: u64 = 1000;

/// The formula with variables that are not of a state eliminated, where that can be done with little effort.
pub(crate) fn with_few_locals(run: &Run<'_>, formula: Term, state: &[Term]) -> Term {
    let limits = Limits { conflicts: Some(CONFLICTS), ..run.limits };
    eliminate_all_but(&run.clone().with_limits(limits), formula, state).unwrap_or(formula)
}

/// A formula over the given variables that is equivalent to the existence of all others, if equations define these. It is
/// about as big as the formula, which is normal.
pub(crate) fn eliminate_by_equations(store: &TermStore, formula: Term, kept: &[Term]) -> Option<Term> {
    let (formula, others) = use_equations(store, formula, kept);
    others.is_empty().then_some(formula)
}

/// A formula over the given variables that is equivalent to the existence of all others. The formula is normal.
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

/// The formula without variables that equations define, other than those to be kept, and which of its variables still are
/// to be eliminated.
fn use_equations(store: &TermStore, formula: Term, kept: &[Term]) -> (Term, Vec<Term>) {
    let kept: FxHashSet<Term> = kept.iter().copied().collect();
    let solved = solve_equations(store, formula, |variable| (!kept.contains(&variable)).then_some(0));
    let formula = store.and(&solved.rest);
    let mut others = store.free_vars(&[formula]);
    others.retain(|variable| !kept.contains(variable));
    (formula, others)
}
