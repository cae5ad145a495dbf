//! Executes control-flow automata over a small finite domain, by breadth-first search.
//!
//! All states are visited: a location with values of its live variables, in an *activation* of its procedure. Activations are
//! tabulated: calls with the same arguments share one, which returns or not. Havoc tries all values of the domain. This is
//! complete if guards keep numbers within the domain, as those of [`systems`](super::systems) do; states with other numbers are
//! not visited.

use std::collections::VecDeque;
use std::ops::RangeInclusive;

use rustc_hash::FxHashMap;
use shofar_horn::cfa::{Cfa, CfaEdgeId, LocationId, ProcedureId, Statement};
use shofar_logic::{Assignment, EvalError, Term, TermStore, Value};

use crate::explicit::values;

/// The number of edges in the longest run that is written down. Runs repeat what an activation does for each of its calls.
const LONGEST_RUN: usize = 1_000_000;

/// The reachable states of an automaton.
pub struct Execution<'a> {
    store: &'a TermStore,
    cfa: &'a Cfa,
    domain: RangeInclusive<i64>,
    activations: Vec<Activation>,
    of_call: FxHashMap<(ProcedureId, Box<[Value]>), usize>,
    states: Vec<State>,
    known: FxHashMap<(usize, LocationId, Box<[Value]>), usize>,
    /// The states whose edges are still to be executed.
    open: VecDeque<usize>,
    /// The state at the error location.
    error: Option<usize>,
}

/// What a call does with certain arguments.
struct Activation {
    procedure: ProcedureId,
    arguments: Box<[Value]>,
    /// The first state at the exit.
    returned: Option<usize>,
    /// The call edges that wait for its return, with the states where they start.
    callers: Vec<(usize, CfaEdgeId)>,
}

struct State {
    activation: usize,
    location: LocationId,
    values: Box<[Value]>,
    /// The state before, the executed edge, and the activation that it has called.
    arrival: Option<(usize, CfaEdgeId, Option<usize>)>,
}

impl<'a> Execution<'a> {
    /// Visits all reachable states, or stops at the error location.
    pub fn of(store: &'a TermStore, cfa: &'a Cfa, domain: RangeInclusive<i64>) -> Self {
        let mut execution = Execution {
            store,
            cfa,
            domain,
            activations: Vec::new(),
            of_call: FxHashMap::default(),
            states: Vec::new(),
            known: FxHashMap::default(),
            open: VecDeque::new(),
            error: None,
        };
        execution.activation(cfa.main(), [].into());
        while let (Some(state), None) = (execution.open.pop_front(), execution.error) {
            for &edge in cfa.outgoing(execution.states[state].location) {
                execution.execute(state, edge);
            }
        }
        execution
    }

    /// Whether no run reaches the error location.
    pub fn is_safe(&self) -> bool {
        self.error.is_none()
    }

    /// A run to the error location, if there is one: the executed edges, each with the values of the target's variables.
    pub fn run(&self) -> Option<Vec<(CfaEdgeId, Box<[Value]>)>> {
        let mut run: Vec<(CfaEdgeId, Box<[Value]>)> = Vec::new();
        // What is still to be written, the next one last: the path to a state, or the last edge of that path.
        let mut open = vec![(self.error?, true)];
        while let Some((state, is_path)) = open.pop() {
            let Some((before, edge, callee)) = self.states[state].arrival else { continue };
            if is_path {
                let returned = callee.and_then(|callee| self.activations[callee].returned);
                open.extend(returned.map(|exit| (exit, true)));
                open.extend([(state, false), (before, true)]);
            } else {
                assert!(run.len() < LONGEST_RUN, "the run is too long");
                run.push((edge, self.states[state].values.clone()));
            }
        }
        Some(run)
    }

    /// The formulas of the reached states, indexed by location, over its variables.
    pub fn reached(&self) -> Vec<Term> {
        let mut reached = vec![Vec::new(); self.cfa.locations().len()];
        for state in &self.states {
            let variables = &self.cfa.location(state.location).variables;
            reached[state.location.index()].push(point(self.store, variables, &state.values));
        }
        reached.iter().map(|points| self.store.or(points)).collect()
    }

    /// The contexts of all calls, indexed by procedure: the arguments, and the same if the call returns, otherwise false.
    pub fn contexts(&self) -> Vec<Vec<(Term, Term)>> {
        let mut contexts = vec![Vec::new(); self.cfa.procedures().len()];
        for activation in &self.activations {
            let parameters = &self.cfa.procedure(activation.procedure).parameters;
            let entry = point(self.store, parameters, &activation.arguments);
            let exit = if activation.returned.is_some() { entry } else { Term::FALSE };
            contexts[activation.procedure.index()].push((entry, exit));
        }
        contexts
    }

    /// The activation of a procedure for some arguments.
    fn activation(&mut self, procedure: ProcedureId, arguments: Box<[Value]>) -> usize {
        if let Some(&known) = self.of_call.get(&(procedure, arguments.clone())) {
            return known;
        }
        let activation = self.activations.len();
        self.of_call.insert((procedure, arguments.clone()), activation);
        let new = Activation { procedure, arguments: arguments.clone(), returned: None, callers: Vec::new() };
        self.activations.push(new);
        self.reach(activation, self.cfa.procedure(procedure).entry, arguments, None);
        activation
    }

    /// Adds a state, unless it is known.
    fn reach(
        &mut self,
        activation: usize,
        location: LocationId,
        values: Box<[Value]>,
        arrival: Option<(usize, CfaEdgeId, Option<usize>)>,
    ) {
        let is_within = |value: &Value| match value {
            Value::Int(number) => number.to_i64().is_some_and(|number| self.domain.contains(&number)),
            _ => true,
        };
        if !values.iter().all(is_within) {
            return;
        }
        let state = self.states.len();
        if *self.known.entry((activation, location, values.clone())).or_insert(state) != state {
            return;
        }
        self.states.push(State { activation, location, values, arrival });
        self.open.push_back(state);
        if location == self.cfa.error() {
            self.error.get_or_insert(state);
        }
        let Activation { procedure, returned, callers, .. } = &mut self.activations[activation];
        if self.cfa.procedure(*procedure).exit == Some(location) && returned.is_none() {
            *returned = Some(state);
            for (caller, edge) in std::mem::take(callers) {
                self.after_call(caller, edge, activation);
            }
        }
    }

    fn execute(&mut self, state: usize, edge: CfaEdgeId) {
        let State { activation, location, ref values, .. } = self.states[state];
        let variables = &self.cfa.location(location).variables;
        let environment: Assignment = variables.iter().copied().zip(values.iter().cloned()).collect();
        let cfa = self.cfa;
        let target = cfa.edge(edge).target;
        let statements = &*cfa.edge(edge).statements;
        if let [Statement::Call(callee, arguments)] = statements {
            let arguments = arguments.iter().map(|&term| self.value(term, &environment)).collect();
            let callee = self.activation(*callee, arguments);
            match self.activations[callee].returned {
                Some(_) => self.after_call(state, edge, callee),
                None => self.activations[callee].callers.push((state, edge)),
            }
            return;
        }
        for environment in self.after(statements, environment) {
            let values =
                cfa.location(target).variables.iter().map(|&v| self.value(v, &environment)).collect();
            self.reach(activation, target, values, Some((state, edge, None)));
        }
    }

    /// A call goes on with the caller's values.
    fn after_call(&mut self, state: usize, edge: CfaEdgeId, callee: usize) {
        let State { activation, location, ref values, .. } = self.states[state];
        let variables = &self.cfa.location(location).variables;
        let environment: Assignment = variables.iter().copied().zip(values.iter().cloned()).collect();
        let target = self.cfa.edge(edge).target;
        let variables = self.cfa.location(target).variables.iter();
        let values = variables.map(|&variable| self.value(variable, &environment)).collect();
        self.reach(activation, target, values, Some((state, edge, Some(callee))));
    }

    /// All environments after some statements.
    fn after(&self, statements: &[Statement], environment: Assignment) -> Vec<Assignment> {
        let mut environments = vec![environment];
        for (position, statement) in statements.iter().enumerate() {
            environments = match statement {
                Statement::Havoc(variables) => {
                    // The next guard ends most branches early.
                    let guard = match statements.get(position + 1) {
                        Some(&Statement::Assume(condition)) => condition,
                        _ => Term::TRUE,
                    };
                    environments.into_iter().flat_map(|e| self.havoc(variables, guard, e)).collect()
                }
                Statement::Assume(condition) => {
                    environments.retain(|e| self.value(*condition, e) == Value::Bool(true));
                    environments
                }
                Statement::Assign(assignments) => environments
                    .into_iter()
                    .map(|before| {
                        let mut after = before.clone();
                        for &(variable, term) in assignments {
                            after.set(variable, self.value(term, &before));
                        }
                        after
                    })
                    .collect(),
                Statement::Call(..) => panic!("a call is alone on its edge"),
            };
        }
        environments
    }

    /// All environments with other values of the variables, except some that violate the guard.
    fn havoc(&self, variables: &[Term], guard: Term, environment: Assignment) -> Vec<Assignment> {
        // The guard must not see old values.
        let is_fresh = variables.iter().all(|&variable| environment.get(variable).is_none());
        let is_open = |environment: &Assignment| match self.store.eval(guard, environment) {
            Ok(value) => value == Value::Bool(true),
            Err(EvalError::Unassigned(_)) => true,
            Err(error) => panic!("a guard has no value: {}", error.display(self.store)),
        };
        let mut environments = vec![environment];
        for &variable in variables {
            let all = values(self.store, &self.domain, self.store.sort_of(variable));
            let with = |environment: Assignment| {
                let all = all.clone().into_iter();
                all.map(move |value| {
                    let mut environment = environment.clone();
                    environment.set(variable, value);
                    environment
                })
            };
            environments = environments.into_iter().flat_map(with).collect();
            if is_fresh {
                environments.retain(is_open);
            }
        }
        environments
    }

    fn value(&self, term: Term, environment: &Assignment) -> Value {
        match self.store.eval(term, environment) {
            Ok(value) => value,
            Err(error) => panic!("{} has no value: {}", self.store.display(term), error.display(self.store)),
        }
    }
}

/// The formula that is true for these values only.
fn point(store: &TermStore, variables: &[Term], values: &[Value]) -> Term {
    let equations = variables.iter().zip(values);
    store.and_of(equations.map(|(&variable, value)| store.eq(variable, store.value_to_term(value))))
}
