//! Nested loops become simple ones: predicates that depend on each other are joined into one (`locations.rs`).
//!
//! Afterwards the only recursion is that of predicates to themselves, so the graph is acyclic but for its self-loops:
//! what engines that summarise loops one by one need. Linear clauses need not be a single loop for that, and the others
//! keep their shape.

use crate::Context;
use crate::graph::HornGraph;
use crate::scc::components;
use crate::transform::{Transformation, Transformed, locations};

/// Joins predicates that depend on each other.
pub struct NestedLoops;

impl Transformation for NestedLoops {
    fn name(&self) -> &'static str {
        "nested-loops"
    }

    fn apply(&self, context: &Context<'_>, graph: &HornGraph) -> Option<Transformed> {
        let mut successors = vec![Vec::new(); graph.nodes().len()];
        for (_, edge) in graph.edges() {
            let Some(target) = edge.target() else { continue };
            for source in edge.sources() {
                successors[source.index()].push(target.index());
            }
        }
        let (component, count) = components(&successors);
        (count < component.len()).then(|| locations::join(context.store, graph, &component, count, false))
    }
}
