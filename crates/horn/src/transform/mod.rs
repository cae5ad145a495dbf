//! Transformations of graphs, each with its way back for witnesses; one file each.
//!
//! A transformation keeps satisfiability. What it returns with the new graph turns a model of the new graph into one of
//! the old graph, and a derivation of `false` likewise; a pipeline goes the ways back in reverse order. Each way back
//! relies on nothing but its own two graphs, so that a wrong one is caught by checking the witness there.
//!
//! Transformations are bounded: they stop changing things where formulas would grow, or where the limits end, and
//! return what they have. What they return is always right, never complete.

mod arguments;
mod chains;
mod constants;
mod equations;
mod expand;
mod infeasible;
mod inline;
mod locations;
mod merge;
mod nested_loops;
mod pipeline;
mod removed;
mod simplify;
mod single_loop;
mod split;
mod subgraph;
mod unreachable;
mod working;

use shofar_run::Stop;

use crate::Context;
use crate::graph::HornGraph;
use crate::witness::{Derivation, GraphModel};

pub use arguments::RemoveUnusedArguments;
pub use chains::Chains;
pub use constants::PropagateConstants;
pub use equations::{Solved, solve as solve_equations};
pub use infeasible::RemoveInfeasible;
pub use inline::Inline;
pub use merge::Merge;
pub use nested_loops::NestedLoops;
pub use pipeline::{Pipeline, Report, Size, standard, to_single_loop};
pub use simplify::Simplify;
pub(crate) use simplify::by_context;
pub use single_loop::SingleLoop;
pub use split::SplitArguments;
pub use unreachable::RemoveUnreachable;

/// A way to simplify a graph or to bring it into a form.
pub trait Transformation: Send + Sync {
    /// The name by which pipelines ask for it.
    fn name(&self) -> &'static str;

    /// The new graph, or none where there is nothing to do.
    fn apply(&self, context: &Context<'_>, graph: &HornGraph) -> Option<Transformed>;
}

/// A new graph and the way back from it.
pub struct Transformed {
    /// The new graph.
    pub graph: HornGraph,
    /// How its witnesses become ones of the old graph.
    pub back: Box<dyn WayBack>,
}

/// Translates witnesses of a new graph into witnesses of an old one. Where the witness is wrong, or the translation is,
/// that is [`Stop::Internal`].
pub trait WayBack: Send + Sync {
    /// A model of the old graph.
    fn model(&self, context: &Context<'_>, model: GraphModel) -> Result<GraphModel, Stop>;

    /// A derivation in the old graph.
    fn derivation(&self, context: &Context<'_>, derivation: Derivation) -> Result<Derivation, Stop>;
}
