//! Graph transformations, each with its translation of lemmas and witnesses; one file each.
//!
//! A transformation preserves satisfiability. With the new graph it returns a [`Translation`]. Forward, it maps a lemma
//! about a node of the old graph to lemmas of the new one. Backward, it maps a model of the new graph to one of the old
//! graph, and a derivation of `false` likewise. A pipeline translates back in reverse order. Each translation depends
//! only on its own two graphs, so checking the witness there catches a wrong one.
//!
//! Transformations are bounded: they stop if formulas would grow or if a limit is reached, and return what they have so
//! far. The result is always sound, never complete.

mod accelerate;
mod arguments;
mod chains;
mod constants;
mod control;
mod defined;
mod diseq;
mod enumerations;
mod equations;
mod expand;
mod fields;
mod fold_facts;
mod infeasible;
mod inline;
mod locations;
mod merge;
mod nested_loops;
mod peano;
mod pipeline;
mod records;
mod removed;
mod resort;
mod simplify;
mod single_loop;
mod sorts;
mod split;
mod states;
mod subgraph;
mod summaries;
mod tagged;
mod uniform;
mod unique_constructor;
mod unreachable;
mod weakest;
mod working;

use shofar_logic::Term;
use shofar_run::Stop;

use crate::Context;
use crate::graph::{HornGraph, NodeId};
use crate::witness::{Derivation, GraphModel};

pub use accelerate::Accelerate;
pub use arguments::RemoveUnusedArguments;
pub use chains::Chains;
pub use constants::PropagateConstants;
pub use control::Control;
pub use diseq::{RecogniseDisequality, disequalities};
pub use enumerations::Enumerations;
pub use equations::{Solved, solve as solve_equations};
pub use infeasible::RemoveInfeasible;
pub use inline::Inline;
pub use merge::Merge;
pub use nested_loops::NestedLoops;
pub use peano::PeanoNumbers;
pub use pipeline::{Passes, Pipeline, Report, Size, standard, to_single_loop};
pub use records::Records;
pub use simplify::Simplify;
pub(crate) use simplify::by_context;
pub use single_loop::SingleLoop;
pub use split::SplitArguments;
pub use summaries::Summaries;
pub use tagged::Tagged;
pub use uniform::RemoveUniformArguments;
pub use unique_constructor::UniqueConstructor;
pub use unreachable::RemoveUnreachable;

/// Simplifies a graph or brings it into a certain form.
pub trait Transformation: Send + Sync {
    /// The name of the transformation in pipelines.
    fn name(&self) -> &'static str;

    /// The new graph, or `None` if nothing changes.
    fn apply(&self, context: &Context<'_>, graph: &HornGraph) -> Option<Transformed>;
}

/// A new graph and the translation between both graphs.
pub struct Transformed {
    /// The new graph.
    pub graph: HornGraph,
    /// Translates lemmas of the old graph to the new one, and witnesses of the new graph to the old one.
    pub translation: Box<dyn Translation>,
}

/// Translates between an old graph and the new one made from it: lemmas forward, witnesses back.
///
/// A wrong witness or a wrong translation yields [`Stop::Internal`]. Interpretations that a translation cannot handle
/// yield [`Stop::Unsupported`].
pub trait Translation: Send + Sync {
    /// Translates a lemma to the new graph. If the lemma holds for all facts of its node, each lemma of the image holds
    /// for all facts of its own node.
    fn forward(&self, context: &Context<'_>, lemma: Lemma) -> Image;

    /// Whether models are translated back by mere renaming: the interpretation of an old node is read off the new nodes
    /// that represent it, by other names, known values and constants, without a solver. Then
    /// [`Translation::model_back`] also maps any lemmas, one for each node of the new graph, to lemmas of the old one.
    fn is_renaming(&self) -> bool;

    /// Translates a model to the old graph.
    fn model_back(&self, context: &Context<'_>, model: GraphModel) -> Result<GraphModel, Stop>;

    /// Translates a derivation to the old graph.
    fn derivation_back(&self, context: &Context<'_>, derivation: Derivation) -> Result<Derivation, Stop>;
}

/// A formula that holds for all derivable facts of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lemma {
    /// The node.
    pub node: NodeId,
    /// The formula, over the node's variables.
    pub formula: Term,
}

/// The image of a lemma in another graph.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Image {
    /// Equivalent lemmas of the other graph; several if the node was split.
    Lemmas(Vec<Lemma>),
    /// The other graph does not have the node.
    Removed,
    /// The lemma mentions arguments that the other graph does not have.
    Inexpressible,
}

impl From<Lemma> for Image {
    fn from(lemma: Lemma) -> Self {
        Image::Lemmas(vec![lemma])
    }
}
