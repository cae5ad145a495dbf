//! Models of systems: an interpretation of every predicate.

use rustc_hash::FxHashSet;
use shofar_logic::{Fun, Op, Term, TermStore};

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

/// The number function of a Peano datatype, with its recursive definition.
pub(crate) struct NumberFunction {
    pub(crate) fun: Fun,
    pub(crate) parameter: Term,
    pub(crate) body: Term,
}

impl NumberFunction {
    fn of(store: &TermStore, fun: Fun) -> Option<Self> {
        let sort = store.number_function_sort(fun)?;
        let constructors = store.datatype(sort)?.constructors().iter().map(|&id| store.constructor(id));
        let taken: FxHashSet<&str> = constructors
            .flat_map(|constructor| {
                constructor.fields.iter().map(|&(name, _)| name).chain([constructor.name])
            })
            .map(|name| store.name(name))
            .collect();
        let name = ["x", "y", "z", "n"].into_iter().find(|name| !taken.contains(name))?;
        let parameter = store.var(store.symbol(name), sort);
        let application = store.apply(fun, &[parameter]).ok()?;
        Some(NumberFunction { fun, parameter, body: store.unfold(application)? })
    }
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

    /// The number functions of Peano datatypes that the definitions apply, in the order of their first use.
    pub(crate) fn number_functions(&self, store: &TermStore) -> Vec<NumberFunction> {
        let formula = |definition: &Definition| match definition.interpretation {
            Interpretation::Formula(formula) => formula,
        };
        let formulas: Vec<Term> = self.definitions.iter().map(formula).collect();
        let funs = store.symbols(&formulas).funs.into_iter();
        funs.filter_map(|fun| NumberFunction::of(store, fun)).collect()
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
        Model { definitions: definitions.collect() }
    }
}
