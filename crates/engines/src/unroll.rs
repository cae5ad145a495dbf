//! Copies of formulas for the steps of an unrolling.
//!
//! An engine that considers several steps at once needs several copies of the clauses' constraints, each with its own
//! state variables and fresh local variables. [`Template`] is a formula to be copied, and [`Unrolling`] has the state
//! variables of a transition system at each time.
//!
//! Copies are in normal form, and each is made in one walk over the formula's DAG.

use shofar_horn::graph::{EdgeId, rename};
use shofar_horn::{HornGraph, TransitionSystem};
use shofar_logic::{Assignment, Substitution, Term, TermStore, Value};
use shofar_smt::solver::Solver;

/// A formula in normal form to be copied, and its local variables.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    formula: Term,
    locals: Box<[Term]>,
}

impl Template {
    /// A formula whose variables are local, except those of the given vectors.
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

    /// The formula.
    pub(crate) fn formula(&self) -> Term {
        self.formula
    }

    /// A copy over other vectors of variables, with fresh local variables.
    pub(crate) fn copy(&self, store: &TermStore, vectors: &[(&[Term], &[Term])]) -> Term {
        let mut renaming = Substitution::new();
        for (from, to) in vectors {
            renaming.extend(from.iter().copied().zip(to.iter().copied()));
        }
        renaming.extend(self.locals.iter().map(|&local| (local, like(store, local, "local"))));
        store.instantiate(self.formula, &renaming)
    }
}

/// A transition system with a vector of state variables for each time.
pub(crate) struct Unrolling<'a> {
    store: &'a TermStore,
    system: &'a TransitionSystem,
    init: Template,
    transition: Template,
    bad: Template,
    /// Indexed by time.
    states: Vec<Box<[Term]>>,
}

impl<'a> Unrolling<'a> {
    /// An unrolling without steps.
    pub(crate) fn new(store: &'a TermStore, system: &'a TransitionSystem) -> Self {
        let TransitionSystem { state, next, init, transition, bad } = system;
        Unrolling {
            store,
            system,
            init: Template::new(store, *init, &[state]),
            transition: Template::new(store, *transition, &[state, next]),
            bad: Template::new(store, *bad, &[state]),
            states: Vec::new(),
        }
    }

    /// The state variables at a time.
    pub(crate) fn state(&mut self, time: usize) -> &[Term] {
        while self.states.len() <= time {
            self.states.push(fresh_vector(
                self.store,
                &self.system.state,
                &format!("s{}", self.states.len()),
            ));
        }
        &self.states[time]
    }

    /// The formula that the state at a time is initial.
    pub(crate) fn init(&mut self, time: usize) -> Term {
        self.state(time);
        self.init.copy(self.store, &[(&self.system.state, &self.states[time])])
    }

    /// The formula that the state at a time is bad.
    pub(crate) fn bad(&mut self, time: usize) -> Term {
        self.state(time);
        self.bad.copy(self.store, &[(&self.system.state, &self.states[time])])
    }

    /// The formula that the state at time `to` is a successor of the state at time `from`.
    pub(crate) fn step(&mut self, from: usize, to: usize) -> Term {
        self.state(from.max(to));
        let TransitionSystem { state, next, .. } = self.system;
        self.transition.copy(self.store, &[(state, &self.states[from]), (next, &self.states[to])])
    }

    /// Renames a formula over the state variables to the state at a time.
    pub(crate) fn at(&mut self, formula: Term, time: usize) -> Term {
        self.state(time);
        rename(self.store, formula, &self.system.state, &self.states[time])
    }

    /// The inverse of [`at`](Self::at).
    pub(crate) fn untimed(&mut self, formula: Term, time: usize) -> Term {
        self.state(time);
        rename(self.store, formula, &self.states[time], &self.system.state)
    }

    /// The states at times `0` to `last` in the solver's model.
    pub(crate) fn values(&mut self, solver: &Solver<'_>, last: usize) -> Vec<Box<[Value]>> {
        self.state(last);
        let states = &self.states[..=last];
        let model = solver.model(&states.concat());
        states
            .iter()
            .map(|state| state.iter().map(|&variable| value(self.store, &model, variable)).collect())
            .collect()
    }
}

/// The value of a variable; the default value of its sort if the model has none.
pub(crate) fn value(store: &TermStore, model: &Assignment, variable: Term) -> Value {
    model.get(variable).cloned().unwrap_or_else(|| store.default_value(store.sort_of(variable)))
}

/// Fresh variables with the sorts of the given ones.
pub(crate) fn fresh_vector(store: &TermStore, variables: &[Term], name: &str) -> Box<[Term]> {
    variables.iter().map(|&variable| like(store, variable, name)).collect()
}

fn like(store: &TermStore, variable: Term, name: &str) -> Term {
    store.var(store.fresh_symbol(name), store.sort_of(variable))
}
