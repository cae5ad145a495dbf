//! Models of systems: an interpretation of every predicate.

use shofar_logic::Term;

use crate::system::PredicateId;

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
}
