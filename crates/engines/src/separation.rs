//! Separation of formulas by interpolants, for the engines that learn from them.
//!
//! [`InterpolationMethod`] is the user's choice. A [`Prover`] has fixed formulas on both sides and answers many
//! queries; [`Parts`] is an unsatisfiable conjunction of several formulas, with interpolants for all cuts.

use std::str::FromStr;

use shofar_logic::{Term, TermStore};
use shofar_run::{OptionError, Reason, Stop};
use shofar_smt::interpolate::{Arithmetic, Error, Labelling, Options};
use shofar_smt::proof::Part;
use shofar_smt::sat::Outcome;
use shofar_smt::solver::Solver;

use crate::Run;

/// How interpolants are made from proofs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum InterpolationMethod {
    /// The weighted sum of A's inequalities.
    Farkas,
    /// The negation of the weighted sum of B's inequalities.
    DualFarkas,
    /// The sum of A, decomposed into a conjunction.
    #[default]
    Decomposed,
    /// The negation of the sum of B, decomposed into a disjunction.
    DualDecomposed,
}

impl FromStr for InterpolationMethod {
    type Err = OptionError;

    fn from_str(name: &str) -> Result<Self, OptionError> {
        Self::ALL.into_iter().find(|method| method.name() == name).ok_or_else(|| {
            OptionError::ImpossibleValue {
                option: "interpolation".to_owned(),
                value: name.to_owned(),
                possible: Self::ALL.map(Self::name).join(", "),
                default: None,
            }
        })
    }
}

impl InterpolationMethod {
    /// The name of the method for users.
    pub fn name(self) -> &'static str {
        match self {
            InterpolationMethod::Farkas => "farkas",
            InterpolationMethod::DualFarkas => "dual",
            InterpolationMethod::Decomposed => "decomposed",
            InterpolationMethod::DualDecomposed => "dual-decomposed",
        }
    }

    /// All methods.
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

/// The result of a query about two sides.
pub(crate) enum Separation {
    /// They are unsatisfiable together; this is an interpolant.
    Apart(Term),
    /// They are satisfiable together.
    Satisfiable,
    /// The solver does not decide it, or finds no interpolant.
    Unknown,
}

/// A solver with fixed formulas on both sides that answers queries with further ones and gives interpolants.
pub(crate) struct Prover<'a> {
    store: &'a TermStore,
    solver: Solver<'a>,
    options: Options,
    /// The number of interpolants found.
    pub(crate) found: u64,
}

impl<'a> Prover<'a> {
    /// A prover with the formulas that are in A and B in all queries.
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

    /// Checks both sides together with further formulas.
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

/// A sequence of formulas whose conjunction should be unsatisfiable.
pub(crate) struct Parts<'a> {
    run: &'a Run<'a>,
    pub(crate) solver: Solver<'a>,
    order: Vec<Part>,
}

impl<'a> Parts<'a> {
    /// Each part is a conjunction.
    pub(crate) fn new(run: &'a Run<'a>, parts: impl IntoIterator<Item = Vec<Term>>) -> Result<Self, Stop> {
        let mut all = Parts { run, solver: run.solver_with_proofs(), order: Vec::new() };
        parts.into_iter().try_for_each(|part| all.push(part))?;
        Ok(all)
    }

    /// Adds a part, a conjunction.
    pub(crate) fn push(&mut self, formulas: Vec<Term>) -> Result<(), Stop> {
        let part = Part(self.order.last().map_or(0, |&Part(last)| last + 1));
        self.order.push(part);
        for formula in formulas {
            let asserted = self.solver.assert_in(formula, part);
            asserted.map_err(|unsupported| unsupported.stop(self.run.store))?;
        }
        Ok(())
    }

    /// The number of parts.
    pub(crate) fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether the conjunction of all parts is satisfiable.
    pub(crate) fn is_satisfiable(&mut self) -> Result<bool, Stop> {
        self.run.is_satisfiable(&mut self.solver, &[])
    }

    /// The interpolant with the first parts as A. Precondition: the parts are unsatisfiable.
    pub(crate) fn binary(&self, first: usize, interpolation: InterpolationMethod) -> Result<Term, Stop> {
        let interpolator = self.solver.interpolator(interpolation.options())?;
        Ok(interpolator.binary(&self.order[..first], &self.run.limits)?.formula)
    }

    /// Interpolants for all cuts, from the one after the first part to the one before the last. Each follows from the
    /// previous one and the part between. Precondition: the parts are unsatisfiable.
    pub(crate) fn sequence(&self, interpolation: InterpolationMethod) -> Result<Vec<Term>, Stop> {
        self.sequence_by(interpolation.options())
    }

    /// Like [`sequence`](Self::sequence), by the interpolator's own options.
    pub(crate) fn sequence_by(&self, options: Options) -> Result<Vec<Term>, Stop> {
        let interpolator = self.solver.interpolator(options)?;
        let found = interpolator.sequence(&self.order, &self.run.limits)?;
        Ok(found.into_iter().map(|interpolant| interpolant.formula).collect())
    }
}
