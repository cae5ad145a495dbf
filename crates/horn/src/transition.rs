//! Transition systems: linear Horn clauses over one predicate.

use shofar_logic::{Term, TermStore};

use crate::graph::{HornGraph, Node, rename};

/// Initial states, transitions and bad states over one vector of variables. The formulas may also have local variables,
/// which are existential and not shared.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TransitionSystem {
    /// The variables of a state.
    pub state: Box<[Term]>,
    /// The variables of the next state.
    pub next: Box<[Term]>,
    /// The initial states.
    pub init: Term,
    /// The transition relation.
    pub transition: Term,
    /// The states that must not be reached.
    pub bad: Term,
}

impl TransitionSystem {
    /// The transition system of a graph with one node, without hyperedges and without queries without predicates.
    /// Clauses of the same kind become one disjunction.
    pub fn of(store: &TermStore, graph: &HornGraph) -> Option<Self> {
        let mut nodes = graph.nodes();
        let (Some((_, node)), None) = (nodes.next(), nodes.next()) else { return None };
        let (mut init, mut transition, mut bad) = (Vec::new(), Vec::new(), Vec::new());
        for (_, edge) in graph.edges() {
            match (edge.sources().len(), edge.target()) {
                (0, Some(_)) => init.push(rename(store, edge.label(), node.next(), node.variables())),
                (1, Some(_)) => transition.push(edge.label()),
                (0 | 1, None) => bad.push(edge.label()),
                _ => return None,
            }
        }
        // A query without predicates is bad for any state, and even without one.
        let is_unconditional =
            graph.edges().any(|(_, edge)| edge.sources().is_empty() && edge.target().is_none());
        if is_unconditional {
            return None;
        }
        Some(TransitionSystem {
            state: Node::variables(node).into(),
            next: node.next().into(),
            init: store.or(&init),
            transition: store.or(&transition),
            bad: store.or(&bad),
        })
    }
}
