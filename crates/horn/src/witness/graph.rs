//! Witnesses of graphs, which transformations translate back.

use shofar_logic::{Term, TermStore, Value};
use shofar_run::Stop;

use super::Interpretation;
use crate::graph::{EdgeId, HornGraph, NodeId};

/// An interpretation of each node, over the node's variables.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct GraphModel {
    /// By nodes.
    pub interpretations: Vec<Interpretation>,
}

impl GraphModel {
    /// The model in which each node means a formula, by nodes.
    pub fn of_formulas(formulas: impl IntoIterator<Item = Term>) -> Self {
        GraphModel { interpretations: formulas.into_iter().map(Interpretation::Formula).collect() }
    }

    /// The interpretation of a node, or [`Stop::Internal`] if the model lacks it.
    pub fn interpretation(&self, node: NodeId) -> Result<&Interpretation, Stop> {
        let missing = || Stop::Internal(format!("the model has no interpretation of node {}", node.index()));
        self.interpretations.get(node.index()).ok_or_else(missing)
    }

    /// The formula that a node means, for what can treat nothing else; see [`Interpretation::formula`].
    pub fn formula(&self, node: NodeId) -> Result<Term, Stop> {
        self.interpretation(node)?.formula()
    }

    /// The formula of an edge's source, over the variables that it has there.
    pub fn at_source(
        &self,
        store: &TermStore,
        graph: &HornGraph,
        edge: EdgeId,
        source: usize,
    ) -> Result<Term, Stop> {
        let formula = self.formula(graph.edge(edge).sources()[source])?;
        Ok(graph.at_source(store, edge, source, formula))
    }

    /// The formula of an edge's target, over the variables that it has there; false for a query.
    pub fn at_target(&self, store: &TermStore, graph: &HornGraph, edge: EdgeId) -> Result<Term, Stop> {
        let Some(node) = graph.edge(edge).target() else { return Ok(Term::FALSE) };
        Ok(graph.at_target(store, edge, self.formula(node)?))
    }
}

/// An application of a clause to ground facts. What values its local variables have is not said.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GraphStep {
    /// The clause.
    pub edge: EdgeId,
    /// The steps whose facts the sources are, in the order of the sources.
    pub premises: Box<[usize]>,
    /// The arguments of the target in the fact that is derived; empty for a query.
    pub fact: Box<[Value]>,
}

/// A derivation of `false`: steps in topological order, of which the last one is a query. It is a shared DAG; no step
/// is there twice.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Derivation {
    /// The steps. Premises precede the steps that use them.
    pub steps: Vec<GraphStep>,
}
