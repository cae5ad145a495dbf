//! Turns nested loops into simple ones: joins mutually recursive predicates into one (`locations.rs`).
//!
//! Afterwards predicates depend recursively only on themselves, so the graph is acyclic except for its self-loops.
//! Engines that summarise loops one by one need this form. Unlike a single loop, it keeps loops apart, and nonlinear
//! clauses keep their shape.

use crate::Context;
use crate::graph::HornGraph;
use crate::transform::{Transformation, Transformed, locations};

/// Joins mutually recursive predicates.
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
