//! Copies of formulas for the steps of an unrolling.
//!
//! An engine that looks at several steps at once needs the clauses' constraints several times over, each time with other
//! variables for the states and with local variables that nothing else has. [`Template`] is a formula of which such
//! copies are made, and [`Unrolling`] has the versions of the states of a transition system.
//!
//! Copies are in normal form, and each is made in one walk over the formula as a graph.

use shofar_horn::HornGraph;
use shofar_horn::graph::EdgeId;
use shofar_logic::{Substitution, Substitutor, Term, TermStore};

/// A formula in normal form that is to be copied, and its local variables.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    formula: Term,
    locals: Box<[Term]>,
}

impl Template {
    /// A formula whose variables are local, other than those of the given vectors.
    pub(crate) fn new(store: &TermStore, formula: Term, vectors: &[&[Term]]) -> Self {
        let given: Substitution = vectors.iter().flat_map(|vector| vector.iter().map(|&v| (v, v))).collect();
        let mut locals = store.free_vars(&[formula]);
        locals.retain(|&variable| given.get(variable).is_none());
        Template { formula, locals: locals.into() }
    }

    /// The label of an edge.
    pub(crate) fn of_edge(store: &TermStore, graph: &HornGraph, edge: EdgeId) -> Self {
        Template { formula: graph.edge(edge).label(), locals: graph.locals(store, edge).into() }
    }

    /// The formula as it is.
    pub(crate) fn formula(&self) -> Term {
        self.formula
    }

    /// Its local variables.
    pub(crate) fn locals(&self) -> &[Term] {
        &self.locals
    }

    /// A copy over other vectors of variables, with new local variables.
    pub(crate) fn copy(&self, store: &TermStore, vectors: &[(&[Term], &[Term])]) -> Term {
        let mut renaming = Substitution::new();
        for (from, to) in vectors {
            renaming.extend(from.iter().copied().zip(to.iter().copied()));
        }
        renaming.extend(self.locals.iter().map(|&local| (local, like(store, local, "local"))));
        let rebuild =
            |op, args: &[Term]| store.build(op, args).expect("variables are renamed to ones of their sort");
        Substitutor::with_rebuild(store, &renaming, rebuild).apply(self.formula)
    }
}

/// New variables of the sorts of the given ones.
pub(crate) fn fresh_vector(store: &TermStore, variables: &[Term], name: &str) -> Box<[Term]> {
    variables.iter().map(|&variable| like(store, variable, name)).collect()
}

fn like(store: &TermStore, variable: Term, name: &str) -> Term {
    store.var(store.fresh_symbol(name), store.sort_of(variable))
}
