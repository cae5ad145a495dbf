//! Nested loops become simple ones: predicates that depend on each other are joined into one (`locations.rs`).
//!
//! Afterwards the only recursion is that of predicates to themselves, so the graph is acyclic but for its self-loops:
//! what engines that summarise loops one by one need. Linear clauses need not be a single loop for that, and the others
//! keep their shape.

use crate::Context;
use crate::graph::HornGraph;
use crate::transform::{Transformation, Transformed, locations};

/// Joins predicates that depend on each other.
pub struct NestedLoops;

impl Transformation for NestedLoops {
    fn name(&self) -> &'static str {
        "nested-loops"
    }

    fn apply(&self, context: &Context<'_>, graph: &HornGraph) -> Option<Transformed> {
        let (component, count) = graph.components();
        (count < component.len()).then(|| locations::join(context.store, graph, &component, count, false))
    }
}
