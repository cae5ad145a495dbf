//! Formulas that are told apart by interpolants, for the engines that learn from these.
//!
//! [`InterpolationMethod`] is the choice that users have. A [`Prover`] has formulas on both sides for good and is asked again
//! and again; [`Parts`] is a contradiction between several formulas, from which interpolants for all cuts can be read.

use shofar_logic::{Term, TermStore};
use shofar_run::{Reason, Stop};
use shofar_smt::interpolate::{Arithmetic, Error, Labelling, Options};
use shofar_smt::proof::Part;
use shofar_smt::sat::Outcome;
use shofar_smt::solver::Solver;

use crate::Run;

/// How interpolants are made of proofs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum InterpolationMethod {
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

impl InterpolationMethod {
    /// The name by which users ask for it.
    pub fn name(self) -> &'static str {
        match self {
            InterpolationMethod::Farkas => "farkas",
            InterpolationMethod::DualFarkas => "dual",
            InterpolationMethod::Decomposed => "decomposed",
            InterpolationMethod::DualDecomposed => "dual-decomposed",
        }
    }

    /// All of them.
    pub const ALL: [InterpolationMethod; 4] = [
        InterpolationMethod::Farkas,
        InterpolationMethod::DualFarkas,
        InterpolationMethod::Decomposed,
        InterpolationMethod::DualDecomposed,
    ];

    pub(crate) fn options(self) -> Options {
        let (labelling, arithmetic) = match self {
            InterpolationMethod::Farkas => (Labelling::McMillan, Arithmetic::Farkas),
            InterpolationMethod::DualFarkas => (Labelling::DualMcMillan, Arithmetic::DualFarkas),
            InterpolationMethod::Decomposed => (Labelling::McMillan, Arithmetic::Decomposed),
            InterpolationMethod::DualDecomposed => (Labelling::DualMcMillan, Arithmetic::DualDecomposed),
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
    solver: Solver<'a>,
    options: Options,
    /// The interpolants found.
    pub(crate) found: u64,
}

impl<'a> Prover<'a> {
    /// With what is on both sides in all queries.
    pub(crate) fn new(
        run: &Run<'a>,
        a: &[Term],
        b: &[Term],
        interpolation: InterpolationMethod,
    ) -> Result<Self, Stop> {
        let (store, mut solver) = (run.store, run.solver_with_proofs());
        for (part, formulas) in [(A, a), (B, b)] {
            for &formula in formulas {
                solver.assert_in(formula, part).map_err(|unsupported| unsupported.stop(store))?;
            }
        }
        Ok(Prover { store, solver, options: interpolation.options(), found: 0 })
    }

    /// What is known of both sides together with further formulas.
    pub(crate) fn separate(&mut self, run: &Run<'_>, a: &[Term], b: &[Term]) -> Result<Separation, Stop> {
        let assumptions: Vec<(Term, Part)> =
            a.iter().map(|&formula| (formula, A)).chain(b.iter().map(|&formula| (formula, B))).collect();
        let outcome = self.solver.check_in(&assumptions, &run.limits);
        match outcome.map_err(|unsupported| unsupported.stop(self.store))? {
            Outcome::Unsat => {}
            Outcome::Sat => return Ok(Separation::Satisfiable),
            Outcome::Unknown(Reason::Budget | Reason::Incomplete) => return Ok(Separation::Unknown),
            Outcome::Unknown(reason) => return Err(reason.into()),
        }
        let interpolator = self.solver.interpolator(self.options.clone());
        match interpolator.and_then(|interpolator| interpolator.binary(&[A], &run.limits)) {
            Ok(interpolant) => {
                self.found += 1;
                Ok(Separation::Apart(interpolant.formula))
            }
            Err(Error::NotFound(..)) => Ok(Separation::Unknown),
            Err(error) => Err(error.into()),
        }
    }

    /// The solver, after a query.
    pub(crate) fn solver(&self) -> &Solver<'a> {
        &self.solver
    }
}

/// Formulas in an order that are to be found contradictory.
pub(crate) struct Parts<'a> {
    run: &'a Run<'a>,
    pub(crate) solver: Solver<'a>,
    order: Vec<Part>,
}

impl<'a> Parts<'a> {
    /// Each part is a conjunction.
    pub(crate) fn new(run: &'a Run<'a>, parts: Vec<Vec<Term>>) -> Result<Self, Stop> {
        let mut solver = run.solver_with_proofs();
        let order: Vec<Part> = (0..).map(Part).take(parts.len()).collect();
        for (&part, formulas) in std::iter::zip(&order, parts) {
            for formula in formulas {
                let asserted = solver.assert_in(formula, part);
                asserted.map_err(|unsupported| unsupported.stop(run.store))?;
            }
        }
        Ok(Parts { run, solver, order })
    }

    /// Whether all of them can be true together.
    pub(crate) fn is_satisfiable(&mut self) -> Result<bool, Stop> {
        self.run.is_satisfiable(&mut self.solver, &[])
    }

    /// After they were found contradictory: the interpolant with the first parts as A.
    pub(crate) fn binary(&self, first: usize, interpolation: InterpolationMethod) -> Result<Term, Stop> {
        let interpolator = self.solver.interpolator(interpolation.options())?;
        Ok(interpolator.binary(&self.order[..first], &self.run.limits)?.formula)
    }

    /// After they were found contradictory: interpolants for all cuts, from the one after the first part to that before the
    /// last, each of which follows from the one before and the part between.
    pub(crate) fn sequence(&self, interpolation: InterpolationMethod) -> Result<Vec<Term>, Stop> {
        let interpolator = self.solver.interpolator(interpolation.options())?;
        let found = interpolator.sequence(&self.order, &self.run.limits)?;
        Ok(found.into_iter().map(|interpolant| interpolant.formula).collect())
    }
}
