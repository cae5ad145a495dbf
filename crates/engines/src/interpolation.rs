//! Interpolants, for the engines that learn from them.
//!
//! [`Interpolation`] is the choice that users have. A [`Prover`] has formulas on both sides for good and is asked again
//! and again; [`Parts`] is a contradiction between several formulas, from which interpolants for all cuts can be read.

use shofar_logic::{Term, TermStore};
use shofar_run::{Limits, Reason, Stop};
use shofar_smt::interpolate::{Arithmetic, Error, Interpolator, Labelling, Options, fallback};
use shofar_smt::proof::Part;
use shofar_smt::purify::Unsupported;
use shofar_smt::sat::Outcome;
use shofar_smt::solver::Solver;

use crate::Run;

/// Proofs after which a solver is made anew, as it keeps a log.
const MOST_PROOFS: u32 = 64;

/// How interpolants are made of proofs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Interpolation {
    /// The weighted sum of A's inequalities.
    Farkas,
    /// The negation of the weighted sum of B's inequalities.
    DualFarkas,
    /// The sum of A, taken apart into a conjunction.
    #[default]
    Decomposed,
    /// The negation of the sum of B, taken apart into a disjunction.
    DualDecomposed,
}

impl Interpolation {
    /// The name by which users ask for it.
    pub fn name(self) -> &'static str {
        match self {
            Interpolation::Farkas => "farkas",
            Interpolation::DualFarkas => "dual",
            Interpolation::Decomposed => "decomposed",
            Interpolation::DualDecomposed => "dual-decomposed",
        }
    }

    /// All of them.
    pub const ALL: [Interpolation; 4] = [
        Interpolation::Farkas,
        Interpolation::DualFarkas,
        Interpolation::Decomposed,
        Interpolation::DualDecomposed,
    ];

    pub(crate) fn options(self) -> Options {
        let (labelling, arithmetic) = match self {
            Interpolation::Farkas => (Labelling::McMillan, Arithmetic::Farkas),
            Interpolation::DualFarkas => (Labelling::DualMcMillan, Arithmetic::DualFarkas),
            Interpolation::Decomposed => (Labelling::McMillan, Arithmetic::Decomposed),
            Interpolation::DualDecomposed => (Labelling::DualMcMillan, Arithmetic::DualDecomposed),
        };
        Options { labelling, arithmetic, ..Options::default() }
    }
}

const A: Part = Part(0);
const B: Part = Part(1);

/// What is known of two sides.
pub(crate) enum Separation {
    /// They are contradictory, by this interpolant.
    Apart(Term),
    /// They have a model.
    Satisfiable,
    /// Nothing, or no interpolant.
    Unknown,
}

/// A solver that knows formulas of both sides, is asked about further ones of A or B, and gives interpolants.
pub(crate) struct Prover<'a> {
    store: &'a TermStore,
    a: Vec<Term>,
    b: Vec<Term>,
    solver: Option<Solver<'a>>,
    proofs: u32,
    interpolation: Interpolation,
    /// The interpolants found.
    pub(crate) found: u64,
}

impl<'a> Prover<'a> {
    /// With what is on both sides in all queries.
    pub(crate) fn new(
        store: &'a TermStore,
        a: Vec<Term>,
        b: Vec<Term>,
        interpolation: Interpolation,
    ) -> Self {
        Prover { store, a, b, solver: None, proofs: 0, interpolation, found: 0 }
    }

    /// What is known of both sides together with further formulas.
    pub(crate) fn separate(&mut self, run: &Run<'_>, a: &[Term], b: &[Term]) -> Result<Separation, Stop> {
        let unsupported = |unsupported: Unsupported| unsupported.stop(self.store);
        if self.proofs >= MOST_PROOFS {
            self.solver = None;
        }
        let solver = match &mut self.solver {
            Some(solver) => solver,
            none => {
                self.proofs = 0;
                let mut solver = Solver::with_proofs(self.store);
                let sides = self.a.iter().map(|&f| (f, A)).chain(self.b.iter().map(|&f| (f, B)));
                for (formula, part) in sides {
                    solver.assert_in(formula, part).map_err(unsupported)?;
                }
                none.insert(solver)
            }
        };
        self.proofs += 1;
        let assumptions: Vec<(Term, Part)> =
            a.iter().map(|&formula| (formula, A)).chain(b.iter().map(|&formula| (formula, B))).collect();
        match solver.check_in(&assumptions, &run.limits).map_err(unsupported)? {
            Outcome::Unsat => {}
            Outcome::Sat => return Ok(Separation::Satisfiable),
            Outcome::Unknown(Reason::Budget | Reason::Incomplete) => return Ok(Separation::Unknown),
            Outcome::Unknown(reason) => return Err(reason.into()),
        }
        let Some(proof) = solver.proof() else { return Ok(Separation::Unknown) };
        let parts = vec![(A, [&self.a, a].concat()), (B, [&self.b, b].concat())];
        let interpolator = Interpolator::new(self.store, &proof, parts, self.interpolation.options());
        let found = interpolator
            .and_then(|interpolator| interpolator.binary_with_fallback(&[A], &fallback_bounds(&run.limits)));
        match found {
            Ok(interpolant) => {
                self.found += 1;
                Ok(Separation::Apart(interpolant.formula))
            }
            Err(error) => match interruption(error) {
                Some(reason) => Err(reason.into()),
                None => Ok(Separation::Unknown),
            },
        }
    }

    /// The solver of the last query.
    pub(crate) fn solver(&self) -> Option<&Solver<'a>> {
        self.solver.as_ref()
    }
}

/// Formulas in an order that are to be found contradictory.
pub(crate) struct Parts<'a> {
    run: &'a Run<'a>,
    pub(crate) solver: Solver<'a>,
    parts: Vec<(Part, Vec<Term>)>,
}

impl<'a> Parts<'a> {
    /// Each part is a conjunction.
    pub(crate) fn new(run: &'a Run<'a>, parts: Vec<Vec<Term>>) -> Result<Self, Stop> {
        let mut solver = Solver::with_proofs(run.store);
        let parts: Vec<(Part, Vec<Term>)> = (0..).map(Part).zip(parts).collect();
        for (part, formulas) in &parts {
            for &formula in formulas {
                let asserted = solver.assert_in(formula, *part);
                asserted.map_err(|unsupported| unsupported.stop(run.store))?;
            }
        }
        Ok(Parts { run, solver, parts })
    }

    /// Whether all of them can be true together.
    pub(crate) fn is_satisfiable(&mut self) -> Result<bool, Stop> {
        self.run.is_satisfiable(&mut self.solver, &[])
    }

    /// After they were found contradictory: the interpolant with the first parts as A.
    pub(crate) fn binary(&self, first: usize, interpolation: Interpolation) -> Result<Term, Stop> {
        let in_a: Vec<Part> = self.parts[..first].iter().map(|&(part, _)| part).collect();
        let found = self.with_interpolator(interpolation, |interpolator, bounds| {
            interpolator.binary_with_fallback(&in_a, bounds)
        })?;
        Ok(found.formula)
    }

    /// After they were found contradictory: interpolants for all cuts, from the one after the first part to that before the
    /// last, each of which follows from the one before and the part between.
    pub(crate) fn sequence(&self, interpolation: Interpolation) -> Result<Vec<Term>, Stop> {
        let order: Vec<Part> = self.parts.iter().map(|&(part, _)| part).collect();
        let found = self.with_interpolator(interpolation, |interpolator, bounds| {
            interpolator.sequence_with_fallback(&order, bounds)
        })?;
        Ok(found.into_iter().map(|interpolant| interpolant.formula).collect())
    }

    fn with_interpolator<T>(
        &self,
        interpolation: Interpolation,
        read: impl FnOnce(&Interpolator<'_>, &fallback::Bounds<'_>) -> Result<T, Error>,
    ) -> Result<T, Stop> {
        let proof =
            self.solver.proof().ok_or_else(|| Stop::Internal("a refutation has no proof".to_owned()))?;
        Interpolator::new(self.run.store, &proof, self.parts.clone(), interpolation.options())
            .and_then(|interpolator| read(&interpolator, &fallback_bounds(&self.run.limits)))
            .map_err(|error| match interruption(error) {
                Some(reason) => reason.into(),
                None => Stop::Exhausted("an interpolant could not be found"),
            })
    }
}

fn fallback_bounds<'a>(limits: &Limits<'a>) -> fallback::Bounds<'a> {
    fallback::Bounds { limits: *limits, ..Default::default() }
}

/// Whether it is the limits of the run that an interpolant is missing for.
fn interruption(error: Error) -> Option<Reason> {
    match error {
        Error::Fallback(fallback::Failure::Unknown(
            reason @ (Reason::Cancelled | Reason::Deadline | Reason::Memory),
        )) => Some(reason),
        _ => None,
    }
}
