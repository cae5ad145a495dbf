//! Transformations of graphs, each with its translation of lemmas and witnesses; one file each.
//!
//! A transformation keeps satisfiability. With the new graph it returns a [`Translation`]: forward, a lemma about a node of
//! the old graph becomes lemmas of the new one; back, a model of the new graph becomes one of the old graph, and a
//! derivation of `false` likewise. A pipeline goes back in reverse order. Each translation relies on nothing but its own two
//! graphs, so that a wrong one is caught by checking the witness there.
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

use shofar_logic::Term;
use shofar_run::Stop;

use crate::Context;
use crate::graph::{HornGraph, NodeId};
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

/// A new graph and what leads from one graph to the other.
pub struct Transformed {
    /// The new graph.
    pub graph: HornGraph,
    /// How lemmas of the old graph read in the new one, and witnesses of the new graph in the old one.
    pub translation: Box<dyn Translation>,
}

/// Translates between an old graph and the new one that was made of it: lemmas forward, witnesses back.
///
/// Where a witness is wrong, or the translation is, that is [`Stop::Internal`]; where it is made of interpretations that a
/// translation cannot treat, that is [`Stop::Unsupported`].
pub trait Translation: Send + Sync {
    /// What a lemma of the old graph says in the new one. If the lemma holds of all facts of its node, each lemma of the image
    /// holds of all facts of its own.
    fn forward(&self, context: &Context<'_>, lemma: Lemma) -> Image;

    /// Whether the way back of models is a mere renaming: what an old node means is read off the new nodes that stand for
    /// it, by other names, known values and constants, without a solver. Then [`Translation::model_back`] turns not only
    /// models into models, but any lemmas, one for each node of the new graph, into lemmas of the old one.
    fn is_renaming(&self) -> bool;

    /// A model of the old graph.
    fn model_back(&self, context: &Context<'_>, model: GraphModel) -> Result<GraphModel, Stop>;

    /// A derivation in the old graph.
    fn derivation_back(&self, context: &Context<'_>, derivation: Derivation) -> Result<Derivation, Stop>;
}

/// A formula that holds of all facts of a node that can be derived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lemma {
    /// The node.
    pub node: NodeId,
    /// The formula, over the node's variables.
    pub formula: Term,
}

/// What becomes of a lemma in another graph.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Image {
    /// These lemmas say the same there; several if the node was split.
    Lemmas(Vec<Lemma>),
    /// The node is not there.
    Removed,
    /// The lemma is about arguments that are not there.
    Inexpressible,
}

impl From<Lemma> for Image {
    fn from(lemma: Lemma) -> Self {
        Image::Lemmas(vec![lemma])
    }
}
