//! Models of systems: an interpretation of every predicate.

use shofar_logic::{Term, TermStore};

use crate::graph::HornGraph;
use crate::system::{HornSystem, PredicateId};
use crate::witness::{GraphModel, Interpretation, parameters};

/// The definition of a predicate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Definition {
    /// Distinct variables for the arguments.
    pub parameters: Box<[Term]>,
    /// The interpretation. Its only free variables are the parameters.
    pub interpretation: Interpretation,
}

/// A model of a system.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Model {
    /// Indexed by predicate.
    pub definitions: Vec<Definition>,
}

impl Model {
    /// The definition of a predicate.
    pub fn definition(&self, predicate: PredicateId) -> &Definition {
        &self.definitions[predicate.index()]
    }

    /// The model of a system from a model of [its graph](HornGraph::of), with parameters named as in the clauses.
    pub fn of_graph(store: &TermStore, system: &HornSystem, graph: &HornGraph, model: &GraphModel) -> Self {
        let nodes = graph.nodes().zip(parameters(store, system));
        let definitions = nodes.zip(&model.interpretations).map(|(((_, node), parameters), meaning)| {
            let interpretation = meaning.renamed(store, node.variables(), &parameters);
            Definition { parameters, interpretation }
        });
        Model { definitions: definitions.collect() }
    }
}
