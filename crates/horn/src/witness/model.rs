//! Models of systems: an interpretation of every predicate.

use shofar_logic::{Term, TermStore};

use crate::graph::{HornGraph, rename};
use crate::system::{HornSystem, PredicateId};
use crate::witness::{GraphModel, parameters};

/// What a predicate means: a formula over parameters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Definition {
    /// Variables for the arguments, all different.
    pub parameters: Box<[Term]>,
    /// When the predicate holds; without quantifiers and without other free variables.
    pub body: Term,
}

/// A model of a system.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Model {
    /// By predicates.
    pub definitions: Vec<Definition>,
}

impl Model {
    /// The definition of a predicate.
    pub fn definition(&self, predicate: PredicateId) -> &Definition {
        &self.definitions[predicate.index()]
    }

    /// The model of a system that a model of [its graph](HornGraph::of) is, with parameters named as in the clauses.
    pub fn of_graph(store: &TermStore, system: &HornSystem, graph: &HornGraph, model: &GraphModel) -> Self {
        let parameters = parameters(store, system);
        let definitions = graph.nodes().zip(parameters).map(|((node, content), parameters)| {
            let body = rename(store, model.formula(node), content.variables(), &parameters);
            Definition { parameters, body }
        });
        Model { definitions: definitions.collect() }
    }
}
