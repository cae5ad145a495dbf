//! Interpolants without a proof: projects models of A onto the shared symbols until the projections cover A.
//!
//! ```text
//! I <- false
//! while A and not I has a model:
//!     c <- the projection of the model of A without the symbols that are local to A
//!     c <- those literals of c that contradict B
//!     I <- I or c
//! ```
//!
//! Every `c` contradicts B, and when no model is left, A implies `I`. There are finitely many projections (P3 of
//! [`project`](crate::project)), so the loop ends unless the solver gives up or an integer had to be replaced by its
//! value. If functions are applied, `arrange.rs` projects: it may lose a fact that B contradicts, and then this method
//! finds no interpolant. A projection cannot make the result wrong, because the queries decide.
//!
//! It is used if a refutation has a literal that mixes both sides, and as an independent procedure in tests.

use std::fmt;

use shofar_logic::{Term, TermStore};
use shofar_run::{Limits, Reason};

use super::arrange;
use super::colour::{Colours, Origins, Vocabulary};
use super::cuts::Cuts;
use crate::project::{ProjectError, Projector};
use crate::proof::Part;
use crate::purify::Unsupported;
use crate::sat::Outcome;
use crate::solver::Solver;

/// The propagation budget for each literal when minimizing a core.
const CORE_PROPAGATIONS: u64 = 20_000;

/// Bounds the search for an interpolant.
#[derive(Clone, Copy, Debug)]
pub struct Bounds<'a> {
    /// Bounds on each query.
    pub limits: Limits<'a>,
    /// The greatest number of disjuncts.
    pub disjuncts: usize,
}

impl Default for Bounds<'_> {
    fn default() -> Self {
        Bounds { limits: Limits::default(), disjuncts: 64 }
    }
}

/// Why there is no interpolant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Failure {
    /// The formulas have a model.
    Satisfiable,
    /// The solver gave up.
    Unknown(Reason),
    /// There would be more disjuncts than allowed.
    TooManyDisjuncts,
    /// A model could not be projected.
    Project(ProjectError),
    /// The solver does not support a formula.
    Unsupported(Unsupported),
    /// A's facts about functions could not be expressed over shared symbols.
    Functions,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Satisfiable => f.write_str("the formulas have a model"),
            Failure::Unknown(reason) => reason.fmt(f),
            Failure::TooManyDisjuncts => f.write_str("the interpolant has too many disjuncts"),
            Failure::Project(error) => error.fmt(f),
            Failure::Unsupported(unsupported) => unsupported.fmt(f),
            Failure::Functions => f.write_str("the interpolant needs functions that are not shared"),
        }
    }
}

impl std::error::Error for Failure {}

/// An interpolant as a disjunction of cubes. It is the strongest one, up to weakening by cores of B.
pub fn interpolant(store: &TermStore, a: &[Term], b: &[Term], bounds: &Bounds<'_>) -> Result<Term, Failure> {
    const A: Part = Part(0);
    const B: Part = Part(1);
    let mut vocabulary = Vocabulary::default();
    vocabulary.add(store, A, a);
    vocabulary.add(store, B, b);
    let (origins, cuts) = (Origins::default(), Cuts::single(&[A]));
    let mut colours = Colours::new(store, &vocabulary, &origins, &cuts);
    let is_local = |&term: &Term| store.is_symbol(term) && !colours.at(0, term).b;
    let locals: Vec<Term> = store.subterms(a).into_iter().filter(is_local).collect();

    let formula = store.and_of(a.iter().map(|&formula| store.normalize(formula)));
    let has_functions = arrange::has_applications(store, formula);

    let mut models_of_a = solver_for(store, a)?;
    let mut cores_of_b = solver_for(store, b)?;
    let mut projector = Projector::new(store);
    let mut disjuncts: Vec<Term> = Vec::new();
    loop {
        match models_of_a.check(&[], &bounds.limits).map_err(Failure::Unsupported)? {
            Outcome::Unsat => return Ok(store.or(&disjuncts)),
            Outcome::Unknown(reason) => return Err(Failure::Unknown(reason)),
            Outcome::Sat if disjuncts.len() == bounds.disjuncts => return Err(Failure::TooManyDisjuncts),
            Outcome::Sat => {}
        }
        let model = models_of_a.model(a);
        let cube = if has_functions {
            arrange::project(&mut projector, &mut colours, store, formula, &model, &locals)
        } else {
            projector.project_cube(a, &model, &locals).map(|projection| projection.literals)
        };
        let cube = cube.map_err(Failure::Project)?;
        if cube.iter().any(|&literal| !colours.at(0, literal).b) {
            return Err(Failure::Functions);
        }
        match cores_of_b.check(&cube, &bounds.limits).map_err(Failure::Unsupported)? {
            Outcome::Unsat => cores_of_b.minimize_core(&core_limits(&bounds.limits)),
            Outcome::Sat if has_functions => return Err(Failure::Functions),
            Outcome::Sat => return Err(Failure::Satisfiable),
            Outcome::Unknown(reason) => return Err(Failure::Unknown(reason)),
        }
        let disjunct = store.and(&cores_of_b.core());
        models_of_a.assert(store.not(disjunct)).map_err(Failure::Unsupported)?;
        disjuncts.push(disjunct);
    }
}

/// The negation of an interpolant with A and B exchanged: a conjunction of clauses, as weak as cores of A allow.
pub fn dual_interpolant(
    store: &TermStore,
    a: &[Term],
    b: &[Term],
    bounds: &Bounds<'_>,
) -> Result<Term, Failure> {
    Ok(store.not(interpolant(store, b, a, bounds)?))
}

/// An interpolant of either kind.
pub(crate) fn any_interpolant(
    store: &TermStore,
    a: &[Term],
    b: &[Term],
    bounds: &Bounds<'_>,
) -> Result<Term, Failure> {
    match interpolant(store, a, b, bounds) {
        Err(failure @ (Failure::Satisfiable | Failure::Unsupported(_))) => Err(failure),
        Err(failure) => dual_interpolant(store, a, b, bounds).map_err(|of_dual| match of_dual {
            // Report an interruption to the caller, whatever made the first attempt fail.
            Failure::Unknown(Reason::Cancelled | Reason::Deadline | Reason::Memory) => of_dual,
            _ => failure,
        }),
        found => found,
    }
}

/// Limits for minimizing a core, per literal: smaller cores make fewer disjuncts, but every core is correct.
fn core_limits<'a>(limits: &Limits<'a>) -> Limits<'a> {
    let most = limits.propagations.map_or(CORE_PROPAGATIONS, |most| most.min(CORE_PROPAGATIONS));
    Limits { propagations: Some(most), ..*limits }
}

fn solver_for<'s>(store: &'s TermStore, formulas: &[Term]) -> Result<Solver<'s>, Failure> {
    let mut solver = Solver::new(store);
    for &formula in formulas {
        solver.assert(formula).map_err(Failure::Unsupported)?;
    }
    Ok(solver)
}
