//! Forward automata: linear clauses from facts to queries.
//!
//! | clause | edge |
//! |---|---|
//! | `guard -> P(t)` | `entry` to `P`: `havoc locals; assume guard; P.x := t` |
//! | `P(x), guard -> Q(t)` | `P` to `Q`: `havoc locals; assume guard; Q.x := t` |
//! | `P(x), guard -> false` | `P` to `error`: `havoc locals; assume guard` |
//! | `guard -> false` | `entry` to `error`: `havoc locals; assume guard` |
//!
//! A location is reached with some values exactly if they are a derivable fact of its predicate: by induction on the length
//! of the run, or of the derivation.
//!
//! M. Somorjai, "Abstraction Based Techniques for Constrained Horn Clause Solving" (BME, 2022), Section 4.2. The thesis
//! assigns parameters to the variables of the body one by one, which forgets an equation if a variable is repeated, as in
//! `P(z, z)`. Labels of [graphs](crate::HornGraph) have an equation for each argument that is not a new variable, and these
//! become guards.

use shofar_logic::{TermStore, Value};
use shofar_run::Stop;

use super::block::Block;
use super::run::{Steps, check_end, follow};
use super::{Automaton, Builder, CfaEdgeId, Direction, require_linear};
use crate::Context;
use crate::graph::HornGraph;
use crate::witness::Derivation;

/// The automaton that runs from facts to queries. Nonlinear clauses give [`Stop::Unsupported`].
pub fn forward(store: &TermStore, graph: &HornGraph) -> Result<Automaton, Stop> {
    require_linear(store, graph, "forward")?;
    let mut builder = Builder::new(store);
    let places = builder.add_places(graph);
    for (id, edge) in graph.edges() {
        let given = edge.sources().first().map_or(&[][..], |&node| graph.node(node).variables());
        let block = Block::of(store, edge.label(), given, graph.target_variables(id));
        let source = edge.sources().first().map_or(builder.cfa.entry(), |node| places[node.index()]);
        let target = edge.target().map_or(builder.cfa.error(), |node| places[node.index()]);
        let statements = block.statements(&builder.cfa.location(target).variables);
        builder.add_edge(id, source, target, statements);
    }
    Ok(builder.finish(Direction::Forward, places))
}

/// Each edge of the run is a step. The values at its target are the derived fact.
pub(super) fn derivation(
    automaton: &Automaton,
    context: &Context<'_>,
    graph: &HornGraph,
    run: &[(CfaEdgeId, Box<[Value]>)],
) -> Result<Derivation, Stop> {
    let mut steps = Steps::new(graph);
    let mut location = automaton.cfa.entry();
    let mut premise = None;
    for (edge, values) in run {
        context.go_on()?;
        location = follow(&automaton.cfa, location, *edge, values)?;
        premise = Some(steps.add(automaton.clause(*edge), premise.as_slice(), values)?);
    }
    check_end(&automaton.cfa, location)?;
    steps.finish()
}
