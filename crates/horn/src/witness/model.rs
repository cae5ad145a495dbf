//! Models of systems: an interpretation of every predicate.

use rustc_hash::FxHashSet;
use shofar_logic::smtlib::Declaration;
use shofar_logic::{Op, Sort, Symbol, Term, TermStore};

use crate::graph::{HornGraph, rename};
use crate::system::{HornSystem, PredicateId};
use crate::witness::GraphModel;

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

/// Parameters for all predicates. One is named after the variable that stands in its place where the predicate first
/// occurs as a head, or else in a body, with a variable there.
fn parameters(store: &TermStore, system: &HornSystem) -> Vec<Box<[Term]>> {
    let mut names: Vec<Vec<Option<Symbol>>> =
        system.predicates().map(|(_, fun)| vec![None; store.fun_decl(fun).domain.len()]).collect();
    let heads = system.clauses.iter().filter_map(|clause| clause.head.as_ref());
    let bodies = system.clauses.iter().flat_map(|clause| &clause.body);
    for atom in heads.chain(bodies) {
        for (name, &arg) in names[atom.predicate.index()].iter_mut().zip(&atom.args) {
            if let (None, Op::Var(variable)) = (&name, store.op(arg)) {
                *name = Some(variable);
            }
        }
    }
    let declared = declared_names(store, system);
    let of_predicate = |((_, fun), names): ((PredicateId, _), Vec<Option<Symbol>>)| {
        let mut used: FxHashSet<Symbol> = FxHashSet::default();
        let sorts = &store.fun_decl(fun).domain;
        let parameters = std::iter::zip(names, sorts).enumerate().map(|(position, (name, &sort))| {
            let stem = name.map_or_else(|| format!("x{position}"), |name| store.name(name).to_owned());
            let candidates = (0..).map(|attempt| match attempt {
                0 => store.symbol(&stem),
                _ => store.symbol(&format!("{stem}_{attempt}")),
            });
            let mut free = candidates.filter(|name| !declared.contains(name));
            let name = free.find(|&name| used.insert(name)).expect("there are more names than taken ones");
            store.var(name, sort)
        });
        parameters.collect()
    };
    system.predicates().zip(names).map(of_predicate).collect()
}

/// All names that a script with these declarations cannot use otherwise.
fn declared_names(store: &TermStore, system: &HornSystem) -> FxHashSet<Symbol> {
    let funs = system.predicates().map(|(_, fun)| fun).chain(system.functions.iter().copied());
    let mut names: FxHashSet<Symbol> = funs.map(|fun| store.fun_decl(fun).name).collect();
    let groups = system.sorts.iter().filter_map(|declaration| match declaration {
        Declaration::Datatypes(group) => Some(group),
        Declaration::Sort(..) | Declaration::Fun(_) | Declaration::Definition => None,
    });
    let datatypes = groups.flatten().filter_map(|&sort: &Sort| store.datatype(sort));
    for &id in datatypes.flat_map(|datatype| datatype.constructors()) {
        let constructor = store.constructor(id);
        names.insert(constructor.name);
        names.insert(store.symbol(&format!("is-{}", store.name(constructor.name))));
        names.extend(constructor.fields.iter().map(|&(selector, _)| selector));
    }
    names
}
