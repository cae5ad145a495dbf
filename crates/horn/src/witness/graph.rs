//! Witnesses of graphs, which transformations translate back.

use shofar_logic::{Term, TermStore, Value};
use shofar_run::Stop;

use super::Interpretation;
use crate::graph::{EdgeId, HornGraph, NodeId};

/// An interpretation of each node, over the node's variables.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct GraphModel {
    /// Indexed by node.
    pub interpretations: Vec<Interpretation>,
}

impl GraphModel {
    /// The model that interprets each node by a formula, indexed by node.
    pub fn of_formulas(formulas: impl IntoIterator<Item = Term>) -> Self {
        GraphModel { interpretations: formulas.into_iter().map(Interpretation::Formula).collect() }
    }

    /// The interpretation of a node, or [`Stop::Internal`] if the model lacks it.
    pub fn interpretation(&self, node: NodeId) -> Result<&Interpretation, Stop> {
        let missing = || Stop::Internal(format!("the model has no interpretation of node {}", node.index()));
        self.interpretations.get(node.index()).ok_or_else(missing)
    }

    /// The formula of a node, for code that handles only formulas; see [`Interpretation::formula`].
    pub fn formula(&self, node: NodeId) -> Result<Term, Stop> {
        self.interpretation(node)?.formula()
    }

    /// The formula of an edge's source, over its variables there.
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

    /// The formula of an edge's target, over its variables there; false for a query.
    pub fn at_target(&self, store: &TermStore, graph: &HornGraph, edge: EdgeId) -> Result<Term, Stop> {
        let Some(node) = graph.edge(edge).target() else { return Ok(Term::FALSE) };
        Ok(graph.at_target(store, edge, self.formula(node)?))
    }
}

/// An application of a clause to ground facts. The values of its local variables are not recorded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GraphStep {
    /// The clause.
    pub edge: EdgeId,
    /// The steps that derive the sources, in their order.
    pub premises: Box<[usize]>,
    /// The arguments of the derived fact; empty for a query.
    pub fact: Box<[Value]>,
}

/// A derivation of `false`: steps in topological order, the last one by a query. It is a shared DAG without duplicate
/// steps.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Derivation {
    /// The steps. Premises precede the steps that use them.
    pub steps: Vec<GraphStep>,
}
