//! Backward automata: linear clauses from queries to facts.
//!
//! | clause | edge |
//! |---|---|
//! | `P(t), guard -> false` | `entry` to `P`: `havoc locals; assume guard; P.x := t` |
//! | `P(t), guard -> Q(x)` | `Q` to `P`: `havoc locals; assume guard; P.x := t` |
//! | `guard -> P(x)` | `P` to `error`: `havoc locals; assume guard` |
//! | `guard -> false` | `entry` to `error`: `havoc locals; assume guard` |
//!
//! A location is reached with some values exactly if `false` follows from them as a fact of its predicate: the *demanded*
//! values. The error location is reached if a demanded value is a fact. If none is, the values that are not demanded are a
//! model.
//!
//! M. Somorjai, "Abstraction Based Techniques for Constrained Horn Clause Solving" (BME, 2022), Section 4.3, has procedures
//! here, which call each other and return. In a linear clause nothing happens after the call: if any procedure returns, all
//! of them do. So we drop calls, and states with different stacks need not be distinguished; with stacks, demands that
//! repeat for ever are never covered. The formal rules of the thesis also leave out the arguments of the head, here the
//! variables of the edge's source, and the locals.

use shofar_logic::{Substitution, Term, TermStore, Value};
use shofar_run::Stop;

use super::block::Block;
use super::run::{Steps, check_end, follow};
use super::{Automaton, Builder, CfaEdgeId, Direction, require_linear};
use crate::Context;
use crate::graph::HornGraph;
use crate::witness::Derivation;

/// The automaton that runs from queries to facts. Nonlinear clauses give [`Stop::Unsupported`].
pub fn backward(store: &TermStore, graph: &HornGraph) -> Result<Automaton, Stop> {
    require_linear(store, graph, "backward")?;
    let mut builder = Builder::new(store);
    let places = builder.add_places(graph);
    for (id, edge) in graph.edges() {
        let (head, body) = (edge.target(), edge.sources().first().copied());
        let wanted = body.map_or(&[][..], |node| graph.node(node).variables());
        let mut block = Block::of(store, edge.label(), graph.target_variables(id), wanted);
        // A location has the variables of bodies, so head and body exchange their variables.
        let mut exchanged = Substitution::new();
        for node in [head, body].into_iter().flatten().map(|node| graph.node(node)) {
            let pairs = node.variables().iter().zip(node.next());
            pairs.for_each(|(&variable, &next): (&Term, &Term)| {
                exchanged.insert(variable, next);
                exchanged.insert(next, variable);
            });
        }
        block.rename(store, &exchanged);
        let source = head.map_or(builder.cfa.entry(), |node| places[node.index()]);
        let target = body.map_or(builder.cfa.error(), |node| places[node.index()]);
        let statements = block.statements(&builder.cfa.location(target).variables);
        builder.add_edge(id, source, target, statements);
    }
    Ok(builder.finish(Direction::Backward, places))
}

/// Each edge of the run is a step, the last one first. The values at its source are the derived fact.
pub(super) fn derivation(
    automaton: &Automaton,
    context: &Context<'_>,
    graph: &HornGraph,
    run: &[(CfaEdgeId, Box<[Value]>)],
) -> Result<Derivation, Stop> {
    let mut location = automaton.cfa.entry();
    for (edge, values) in run {
        context.go_on()?;
        location = follow(&automaton.cfa, location, *edge, values)?;
    }
    check_end(&automaton.cfa, location)?;
    let mut steps = Steps::new(graph);
    let mut premise = None;
    for (position, &(edge, _)) in run.iter().enumerate().rev() {
        let fact: &[Value] = if position == 0 { &[] } else { &run[position - 1].1 };
        premise = Some(steps.add(automaton.clause(edge), premise.as_slice(), fact)?);
    }
    steps.finish()
}
