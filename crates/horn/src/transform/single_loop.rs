//! Linear clauses become a transition system: all predicates are joined into one (`locations.rs`).
//!
//! Systems that are transition systems already stay as they are; so inlining comes first, and leaves one predicate where
//! there was one loop.

use crate::Context;
use crate::graph::HornGraph;
use crate::transform::{Transformation, Transformed, locations};
use crate::transition::TransitionSystem;

/// Makes a transition system of linear clauses.
pub struct SingleLoop;

impl Transformation for SingleLoop {
    fn name(&self) -> &'static str {
        "single-loop"
    }

    fn apply(&self, context: &Context<'_>, graph: &HornGraph) -> Option<Transformed> {
        if !graph.is_linear() || TransitionSystem::of(context.store, graph).is_some() {
            return None;
        }
        let has_start = graph.edges().any(|(_, edge)| edge.sources().is_empty() && edge.target().is_none());
        Some(locations::join(context.store, graph, &vec![0; graph.nodes().len()], 1, has_start))
    }
}
