//! Models of systems: an interpretation of every predicate.

use shofar_logic::{FoldLemma, Op, Term, TermStore};

use super::prenex::prenex;
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

impl Definition {
    /// The formula.
    pub(crate) fn formula(&self) -> Term {
        match self.interpretation {
            Interpretation::Formula(formula) => formula,
        }
    }
}

/// A model of a system.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Model {
    /// Indexed by predicate.
    pub definitions: Vec<Definition>,
    /// Claims about the folds that the definitions apply. The model proves something only if they are true.
    pub lemmas: Vec<FoldLemma>,
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
            let Interpretation::Formula(formula) = meaning.renamed(store, node.variables(), &parameters);
            let interpretation = Interpretation::Formula(prenex(store, formula));
            Definition { parameters, interpretation }
        });
        let definitions: Vec<Definition> = definitions.collect();
        let lemmas = claims(store, definitions.iter().map(Definition::formula).collect());
        Model { definitions, lemmas }
    }

    /// The same model with parameters named as in the clauses, wherever a solver has made up a name, such as `x!0`.
    pub fn with_names_of(&self, store: &TermStore, system: &HornSystem) -> Self {
        let is_made_up = |&variable: &Term| match store.op(variable) {
            Op::Var(name) => store.name(name).contains('!'),
            _ => false,
        };
        let definitions =
            self.definitions.iter().zip(parameters(store, system)).map(|(definition, names)| {
                if !definition.parameters.iter().any(is_made_up) {
                    return definition.clone();
                }
                let interpretation = definition.interpretation.renamed(store, &definition.parameters, &names);
                Definition { parameters: names, interpretation }
            });
        Model { definitions: definitions.collect(), lemmas: self.lemmas.clone() }
    }
}

/// The claimed lemmas about the folds in formulas, and about the folds in these lemmas.
pub(crate) fn claims(store: &TermStore, mut formulas: Vec<Term>) -> Vec<FoldLemma> {
    let mut lemmas: Vec<FoldLemma> = Vec::new();
    loop {
        let found = store.claimed_lemmas(&store.folds_in(&formulas));
        if found.len() == lemmas.len() {
            return lemmas;
        }
        formulas.extend(found.iter().map(|lemma| lemma.formula));
        lemmas = found;
    }
}
