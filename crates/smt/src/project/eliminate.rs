//! Quantifier elimination by repeated projection.
//!
//! The projections of all models of a formula together are its exact elimination:
//!
//! ```text
//! while the formula, without the disjuncts so far, has a model
//!     add the projection of the model to the disjuncts
//! ```
//!
//! Every disjunct implies that the variables exist (P1), and when no model is left, every model is in a disjunct. The
//! loop ends because there are finitely many projections (P3), each of which is found at most once (P2). If it is
//! stopped early, the disjunction is still an under-approximation.
//!
//! A disjunct that implies another one is dropped: at first if the literals show it; when the search is complete, also
//! if the solver shows that it follows from the others together.
//!
//! The solver is incomplete for integers without bounds: it may fail to see that no model is left. Cooper's procedure
//! (`cooper.rs`), which needs no solver, then decides.
//!
//! The universal quantifier is the dual: `forall x. f` is the negation of `exists x. not f`.

use shofar_logic::{Term, TermStore};
use shofar_run::{Limits, Reason};

use super::{ProjectError, Projector, cooper, cube};
use crate::sat::Outcome;
use crate::solver::Solver;

/// The greatest number of disjuncts for which the solver searches redundant ones. Each takes a query about all of them.
const MAX_MINIMIZED: usize = 200;

/// Bounds an elimination.
#[derive(Clone, Copy, Debug)]
pub struct Bounds<'a> {
    /// Limits of each solver query. Deadline and cancel flag bound the whole elimination.
    pub limits: Limits<'a>,
    /// The number of projections after which to stop.
    pub disjuncts: usize,
    /// Whether the solver finally drops disjuncts that the others cover, if there are not too many.
    pub minimize: bool,
}

impl Default for Bounds<'_> {
    fn default() -> Self {
        Bounds { limits: Limits::default(), disjuncts: 10_000, minimize: true }
    }
}

/// The result of an elimination.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Elimination {
    /// The result, without the variables.
    pub formula: Term,
    /// Whether the result is equivalent to the quantified formula. If not, it implies an existential formula, and a
    /// universal formula implies it.
    pub status: Status,
    /// The number of models that were projected.
    pub projections: usize,
}

/// How an elimination ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// The result is exact.
    Complete,
    /// There are more disjuncts than allowed.
    TooManyDisjuncts,
    /// The solver gave up.
    Unknown(Reason),
}

/// A formula without the variables that is equivalent to `exists vars. formula`, or implies it. The formula must be
/// quantifier-free.
pub fn eliminate(
    store: &TermStore,
    formula: Term,
    vars: &[Term],
    bounds: &Bounds<'_>,
) -> Result<Elimination, ProjectError> {
    let mut projector = Projector::new(store);
    let mut solver = Solver::new(store);
    solver.assert(formula).map_err(ProjectError::Unsupported)?;
    let mut disjuncts: Vec<Vec<Term>> = Vec::new();
    let mut projections = 0;
    let status = loop {
        match solver.check(&[], &bounds.limits).map_err(ProjectError::Unsupported)? {
            Outcome::Unsat => break Status::Complete,
            Outcome::Unknown(reason) => break Status::Unknown(reason),
            Outcome::Sat if projections == bounds.disjuncts => break Status::TooManyDisjuncts,
            Outcome::Sat => {}
        }
        let projection = projector.project(formula, &solver.model(&[formula]), vars)?;
        projections += 1;
        solver.assert(store.not(projection.formula(store))).map_err(ProjectError::Unsupported)?;
        disjuncts.retain(|other| !cube::implies(store, other, &projection.literals));
        disjuncts.push(projection.literals);
    };
    let mut disjuncts: Vec<Term> = disjuncts.iter().map(|literals| store.and(literals)).collect();
    let status = match status {
        Status::Unknown(Reason::Incomplete) => complete(store, formula, vars, &mut disjuncts, bounds)?,
        status => status,
    };
    let few = (2..=MAX_MINIMIZED).contains(&disjuncts.len());
    if bounds.minimize && status == Status::Complete && few {
        drop_redundant(store, &mut disjuncts, bounds)?;
    }
    Ok(Elimination { formula: store.or(&disjuncts), status, projections })
}

/// Completes an elimination in which the solver could not tell whether a model is left. Cooper's procedure gives an exact
/// result. If the disjuncts cover it, they are exact as well, and smaller; otherwise it takes their place.
fn complete(
    store: &TermStore,
    formula: Term,
    vars: &[Term],
    disjuncts: &mut Vec<Term>,
    bounds: &Bounds<'_>,
) -> Result<Status, ProjectError> {
    let Some(exact) = cooper::eliminate(store, formula, vars, &bounds.limits) else {
        return Ok(Status::Unknown(bounds.limits.interruption().unwrap_or(Reason::Incomplete)));
    };
    let mut solver = Solver::new(store);
    let missed: Vec<Term> = disjuncts.iter().map(|&disjunct| store.not(disjunct)).chain([exact]).collect();
    match solver.check(&missed, &bounds.limits).map_err(ProjectError::Unsupported)? {
        Outcome::Unsat => {}
        Outcome::Sat | Outcome::Unknown(_) => *disjuncts = store.disjuncts(exact).collect(),
    }
    Ok(Status::Complete)
}

/// A formula without the variables that is equivalent to `forall vars. formula`, or implied by it.
pub fn eliminate_forall(
    store: &TermStore,
    formula: Term,
    vars: &[Term],
    bounds: &Bounds<'_>,
) -> Result<Elimination, ProjectError> {
    let negation = store.not(store.normalize(formula));
    let elimination = eliminate(store, negation, vars, bounds)?;
    Ok(Elimination { formula: store.not(elimination.formula), ..elimination })
}

/// Drops disjuncts that the remaining ones cover. Later ones tend to be more special, so they are tried first.
fn drop_redundant(
    store: &TermStore,
    disjuncts: &mut Vec<Term>,
    bounds: &Bounds<'_>,
) -> Result<(), ProjectError> {
    let mut solver = Solver::new(store);
    for position in (0..disjuncts.len()).rev() {
        let others = disjuncts.iter().enumerate().filter(|&(other, _)| other != position);
        let alone: Vec<Term> =
            others.map(|(_, &other)| store.not(other)).chain([disjuncts[position]]).collect();
        let outcome = solver.check(&alone, &bounds.limits).map_err(ProjectError::Unsupported)?;
        match outcome {
            Outcome::Unsat => {
                disjuncts.remove(position);
            }
            Outcome::Sat => {}
            // Redundant disjuncts are harmless.
            Outcome::Unknown(_) => return Ok(()),
        }
    }
    Ok(())
}
