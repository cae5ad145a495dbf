//! Refutations of spurious counterexamples, one technique a file.
//!
//! A refutation has a formula for each position of a path, over the variables of the location there. `true` and `false` say
//! nothing to track. A *chain* refutes the path by itself: the formula of a position, the label there and the edge imply the
//! formula of the next position, and the last formula is `false`. If a chain is tracked as it is, the path never comes back.

mod backward;
mod forward;
mod newton;
mod sequence;

use shofar_logic::{Term, Value};
use shofar_run::Stop;

use super::path::{Copies, Path};
use super::program::Program;
use crate::interpolation_abstraction::Templates;
use crate::option::Named;
use crate::{InterpolationMethod, Run};

pub use newton::{Calculus, Newton};

/// How a spurious counterexample is refuted.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub enum Technique {
    /// Sequence interpolants.
    #[default]
    Sequence,
    /// An interpolant at the last position from which the error cannot be reached any more.
    Backward,
    /// An interpolant at the last position that can be reached.
    Forward,
    /// Newton: predicates without interpolants.
    Newton(Newton),
}

impl Named for Technique {
    const ALL: &'static [Self] = &[
        Technique::Sequence,
        Technique::Backward,
        Technique::Forward,
        Technique::Newton(Newton::new(Calculus::Weakest, false, false)),
        Technique::Newton(Newton::new(Calculus::Strongest, false, false)),
        Technique::Newton(Newton::new(Calculus::Weakest, true, false)),
        Technique::Newton(Newton::new(Calculus::Strongest, true, false)),
        Technique::Newton(Newton::new(Calculus::Weakest, false, true)),
        Technique::Newton(Newton::new(Calculus::Strongest, false, true)),
        Technique::Newton(Newton::new(Calculus::Weakest, true, true)),
        Technique::Newton(Newton::new(Calculus::Strongest, true, true)),
    ];

    fn name(self) -> &'static str {
        match self {
            Technique::Sequence => "seq-itp",
            Technique::Backward => "bw-bin-itp",
            Technique::Forward => "fw-bin-itp",
            Technique::Newton(newton) => newton.name(),
        }
    }
}

impl Technique {
    /// All techniques.
    pub fn all() -> &'static [Self] {
        Self::ALL
    }

    /// The technique for paths that interpolants cannot refute.
    pub(super) const WITHOUT_INTERPOLANTS: Technique =
        Technique::Newton(Newton::new(Calculus::Weakest, true, false));

    /// The refutation of a path: a formula for each position. [`Stop::Exhausted`] if the technique finds no refutation. Only
    /// sequence interpolants find a model of the path; for other techniques it must be infeasible.
    pub(super) fn refute(self, around: &mut Surroundings<'_, '_>, path: &Path) -> Result<Refutation, Stop> {
        let formulas = match self {
            Technique::Sequence => return sequence::refute(around, path),
            Technique::Backward => backward::refute(around, path)?,
            Technique::Forward => forward::refute(around, path)?,
            Technique::Newton(newton) => newton.refute(around, path)?,
        };
        Ok(Refutation::Formulas(formulas))
    }
}

/// The result of a technique.
pub(super) enum Refutation {
    /// A formula for each position.
    Formulas(Vec<Term>),
    /// The path is feasible: the values of the variables after each edge, in a model.
    Model(Vec<Box<[Value]>>),
}

/// The environment of a refutation.
pub(super) struct Surroundings<'s, 'a> {
    pub(super) run: &'a Run<'a>,
    pub(super) program: &'a Program<'a>,
    pub(super) interpolation: InterpolationMethod,
    /// What sequence interpolants may speak of, if that is restricted.
    pub(super) templates: Option<&'s Templates>,
    pub(super) copies: &'s mut Copies<'a>,
    pub(super) queries: u64,
}

impl Surroundings<'_, '_> {
    /// The relation of the edge after a position, and the label at the next position.
    fn step(&mut self, path: &Path, position: usize) -> Vec<Term> {
        let mut step = vec![self.copies.constraint(path, position)];
        step.extend(self.copies.label(path, position + 1));
        step
    }
}

/// The refutation with one formula, over the variables at a position.
fn single(around: &mut Surroundings<'_, '_>, path: &Path, position: usize, formula: Term) -> Vec<Term> {
    let mut formulas = vec![Term::FALSE; path.len() + 1];
    formulas[..position].fill(Term::TRUE);
    formulas[position] = around.copies.untimed(path, position, formula);
    formulas
}
