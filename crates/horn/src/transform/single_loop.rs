//! Turns linear clauses into a transition system: joins all predicates into one (`locations.rs`).
//!
//! Transition systems stay unchanged. So inlining should come first, which leaves one predicate of a single loop.

use crate::Context;
use crate::graph::HornGraph;
use crate::transform::{Transformation, Transformed, locations};
use crate::transition::TransitionSystem;

/// Turns linear clauses into a transition system.
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
