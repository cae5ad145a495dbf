//! Witnesses of graphs, which transformations translate back.

use shofar_logic::{Term, Value};

use crate::graph::{EdgeId, NodeId};

/// A formula for each node, over the node's variables and without quantifiers.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct GraphModel {
    /// By nodes.
    pub formulas: Vec<Term>,
}

impl GraphModel {
    /// The formula of a node.
    pub fn formula(&self, node: NodeId) -> Term {
        self.formulas[node.index()]
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
