//! Abstract domains: how states are represented, and how successors are computed.

mod explicit;
mod image;
mod predicates;

use shofar_horn::cfa::CfaEdgeId;
use shofar_logic::Term;
use shofar_run::Stop;

use super::Options;
use super::arg::AbstractState;
use super::program::Program;
use crate::Run;
use crate::option::Named;
use explicit::Explicit;
use predicates::Predicates;

/// The abstract domain.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub enum DomainKind {
    /// Values of variables.
    Explicit,
    /// Predicates that all successors satisfy, or that none satisfies.
    #[default]
    Cartesian,
    /// All combinations of predicates that successors have, as one formula.
    Boolean,
    /// All combinations of predicates that successors have, one node for each.
    Split,
}

impl Named for DomainKind {
    const ALL: &'static [Self] =
        &[DomainKind::Explicit, DomainKind::Cartesian, DomainKind::Boolean, DomainKind::Split];

    fn name(self) -> &'static str {
        match self {
            DomainKind::Explicit => "expl",
            DomainKind::Cartesian => "pred-cart",
            DomainKind::Boolean => "pred-bool",
            DomainKind::Split => "pred-split",
        }
    }
}

impl DomainKind {
    /// The domain for a program.
    pub(super) fn create<'a>(
        self,
        run: &'a Run<'a>,
        program: &'a Program<'a>,
        options: &Options,
    ) -> Box<dyn Domain + 'a> {
        match self {
            DomainKind::Explicit => Box::new(Explicit::new(run, program, options.max_enum)),
            _ => Box::new(Predicates::new(run, program, self)),
        }
    }
}

/// An abstract domain.
pub(super) trait Domain {
    /// Abstract states that contain all successors of a state along an edge; none if there is no successor. The tracked terms
    /// are those of the edge's target.
    fn post(
        &mut self,
        state: &AbstractState,
        edge: CfaEdgeId,
        tracked: &[Term],
    ) -> Result<Vec<AbstractState>, Stop>;

    /// Whether a state contains another one. An example of the first state is stored if one is found.
    fn contains(&mut self, larger: &AbstractState, smaller: &mut AbstractState) -> Result<bool, Stop>;

    /// The terms to track so that labels can express a formula, as the domain's options say.
    fn terms(&self, formula: Term, splitting: super::Splitting) -> Vec<Term>;

    /// Makes later successors more precise for the same tracked terms. Returns whether that is possible.
    fn strengthen(&mut self) -> bool;

    /// The number of queries to the solver.
    fn queries(&self) -> u64;
}
