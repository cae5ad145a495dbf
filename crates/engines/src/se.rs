//! Symbolic execution: the path formulas of all paths, breadth first.
//!
//! **What it decides.** Linear systems over the theories that the solver decides, without arrays. It finds a shortest counterexample if there is one,
//! and answers `sat` where all paths end in states that are known. Loops without bound have no end.
//!
//! **The idea.** A *symbolic state* is a predicate with a formula for its arguments at the end of one path. Clauses lead from symbolic
//! states to others. Unlike an unrolling of all paths together (`bmc.rs`), each query is about one path, and local variables are
//! eliminated on the way.
//!
//! ```text
//! queue <- the facts
//! while a state is in the queue, the oldest first
//!     for each clause from its predicate:  image <- state and label, without local variables if that is easy
//!         it has no model:                        the path ends
//!         the clause is a query:                  unsafe by the path
//!         the known states of the target have it: the path ends there
//!         otherwise                               it is a new state
//! the queue is empty: safe, each predicate is the disjunction of its states
//! ```
//!
//! **Why the answer is right.** E1: a symbolic state has exactly the arguments that some path of clauses derives, existentially in the
//! local variables that are left. E2: in the end each image of a state is unsatisfiable or implies the disjunction of the states of its
//! predicate, so the disjunctions are a model.
//!
//! **Where it comes from.** J. King, "Symbolic execution and program testing" (CACM 1976). **Where we differ.** States that others
//! cover are not executed, as long as they have no local variables.

use std::collections::VecDeque;
use std::time::Instant;

use shofar_horn::HornGraph;
use shofar_horn::graph::{EdgeId, NodeId, rename};
use shofar_horn::witness::{Derivation, GraphModel, GraphStep};
use shofar_logic::{Term, TermStore};
use shofar_run::Stop;
use shofar_smt::solver::Solver;
use shofar_smt::supports;

use crate::eliminate::{eliminate_all_but, eliminate_by_equations, with_few_locals};
use crate::unroll::{Template, fresh_vector, value};
use crate::{Engine, Evidence, Run};

/// The engine of symbolic execution.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct SymbolicExecution;

impl Engine for SymbolicExecution {
    fn name(&self) -> &'static str {
        "se"
    }

    fn description(&self) -> &'static str {
        "symbolic execution: one formula for each path, breadth first; linear systems"
    }

    fn solve(&self, graph: &HornGraph, run: &Run<'_>) -> Result<Evidence, Stop> {
        let start = Instant::now();
        let mut execution = Execution::new(graph, run);
        let answer = execution.execute();
        run.tell_statistics(execution.counters(), start);
        let labels: Vec<Term> = graph.edges().map(|(_, edge)| edge.label()).collect();
        match (answer, supports(run.store, &labels)) {
            // The message names the term of the clause, not that of a path.
            (Err(Stop::Unsupported(_)), Err(unsupported)) => Err(unsupported.stop(run.store)),
            (answer, _) => answer,
        }
    }
}

/// The index of a symbolic state.
type StateId = usize;

/// A predicate with a formula at the end of a path.
struct State {
    node: NodeId,
    /// Over the variables of the node, and perhaps local ones.
    formula: Term,
    /// The last clause of the path.
    edge: EdgeId,
    /// The state before it; none for a fact.
    parent: Option<StateId>,
    depth: u64,
}

/// All symbolic states.
struct Execution<'a> {
    graph: &'a HornGraph,
    run: &'a Run<'a>,
    /// The labels of edges.
    labels: Vec<Template>,
    states: Vec<State>,
    queue: VecDeque<StateId>,
    /// Decides path formulas.
    solver: Solver<'a>,
    /// By nodes: solvers that know the states of the node to be false.
    uncovered: Vec<Solver<'a>>,
    covered: u64,
    queries: u64,
}

impl<'a> Execution<'a> {
    fn new(graph: &'a HornGraph, run: &'a Run<'a>) -> Self {
        Execution {
            graph,
            run,
            labels: graph.edges().map(|(edge, _)| Template::of_edge(run.store, graph, edge)).collect(),
            states: Vec::new(),
            queue: VecDeque::new(),
            solver: run.solver(),
            uncovered: graph.nodes().map(|_| run.solver()).collect(),
            covered: 0,
            queries: 0,
        }
    }

    fn execute(&mut self) -> Result<Evidence, Stop> {
        let (outgoing, facts) = self.graph.outgoing();
        for edge in facts {
            if let Some(derivation) = self.step(None, edge)? {
                return Ok(Evidence::Unsat(derivation));
            }
        }
        while let Some(state) = self.queue.pop_front() {
            for &edge in &outgoing[self.states[state].node.index()] {
                if let Some(derivation) = self.step(Some(state), edge)? {
                    return Ok(Evidence::Unsat(derivation));
                }
            }
            self.run.tell_progress(self.states[state].depth, self.counters());
        }
        self.model().map(Evidence::Sat)
    }

    /// Executes a clause from a state, or a fact. The result is a derivation if the clause is a query that fires.
    fn step(&mut self, parent: Option<StateId>, edge: EdgeId) -> Result<Option<Derivation>, Stop> {
        self.run.go_on()?;
        let (store, graph) = (self.run.store, self.graph);
        let label = self.labels[edge.index()].copy(store, &[]);
        let before = parent.map_or(Term::TRUE, |parent| self.states[parent].formula);
        let path = store.and2(before, label);
        self.queries += 1;
        if !self.run.is_satisfiable(&mut self.solver, &[path])? {
            return Ok(None);
        }
        let Some(node) = graph.edge(edge).target() else { return self.derivation(parent, edge).map(Some) };
        let content = graph.node(node);
        let image = eliminate_by_equations(store, path, content.next())
            .unwrap_or_else(|| with_few_locals(self.run, path, content.next()));
        let formula = self.over_variables(node, image);
        self.queries += 1;
        if !self.run.is_satisfiable(&mut self.uncovered[node.index()], &[formula])? {
            self.covered += 1;
            return Ok(None);
        }
        if is_over(store, formula, content.variables()) {
            self.run.assert(&mut self.uncovered[node.index()], &[store.not(formula)])?;
        }
        let depth = parent.map_or(0, |parent| self.states[parent].depth + 1);
        self.queue.push_back(self.states.len());
        self.states.push(State { node, formula, edge, parent, depth });
        Ok(None)
    }

    /// A formula about a head, about the variables of the node. Its other variables become fresh ones, since some may be variables of
    /// the node as a source.
    fn over_variables(&self, node: NodeId, image: Term) -> Term {
        let store = self.run.store;
        let content = self.graph.node(node);
        let mut locals = store.free_vars(&[image]);
        locals.retain(|variable| !content.next().contains(variable));
        let image = rename(store, image, &locals, &fresh_vector(store, &locals, "local"));
        rename(store, image, content.next(), content.variables())
    }

    /// The derivation by the clauses of a path and a query. Values for all of its facts are found at once.
    fn derivation(&self, last: Option<StateId>, query: EdgeId) -> Result<Derivation, Stop> {
        let (store, graph) = (self.run.store, self.graph);
        let mut edges = vec![query];
        let mut at = last;
        while let Some(state) = at {
            edges.push(self.states[state].edge);
            at = self.states[state].parent;
        }
        edges.reverse();
        let mut solver = self.run.solver();
        let mut vectors: Vec<Box<[Term]>> = Vec::with_capacity(edges.len());
        for (step, &edge) in edges.iter().enumerate() {
            self.run.go_on()?;
            let next = fresh_vector(store, graph.target_variables(edge), &format!("s{step}"));
            let mut renamed: Vec<(&[Term], &[Term])> = vec![(graph.target_variables(edge), &next)];
            if let Some(before) = vectors.last() {
                renamed.push((graph.source_variables(edge, 0), before));
            }
            let label = self.labels[edge.index()].copy(store, &renamed);
            self.run.assert(&mut solver, &[label])?;
            vectors.push(next);
        }
        if !self.run.is_satisfiable(&mut solver, &[])? {
            return Err(Stop::Internal("a path has no instance".to_owned()));
        }
        let model = solver.model(&vectors.concat());
        let step = |(at, &edge): (usize, &EdgeId)| GraphStep {
            edge,
            premises: at.checked_sub(1).into_iter().collect(),
            fact: vectors[at].iter().map(|&variable| value(store, &model, variable)).collect(),
        };
        Ok(Derivation { steps: edges.iter().enumerate().map(step).collect() })
    }

    /// The model if all paths end.
    fn model(&self) -> Result<GraphModel, Stop> {
        let store = self.run.store;
        let mut states: Vec<Vec<Term>> = vec![Vec::new(); self.graph.nodes().len()];
        for State { node, formula, .. } in &self.states {
            self.run.go_on()?;
            let variables = self.graph.node(*node).variables();
            states[node.index()].push(match is_over(store, *formula, variables) {
                true => *formula,
                false => eliminate_all_but(self.run, *formula, variables)?,
            });
        }
        Ok(GraphModel::of_formulas(states.iter().map(|states| store.or(states))))
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![
            ("states", self.states.len() as u64),
            ("covered", self.covered),
            ("solver.queries", self.queries),
        ]
    }
}

/// Whether a formula has no other variables.
fn is_over(store: &TermStore, formula: Term, variables: &[Term]) -> bool {
    store.free_vars(&[formula]).iter().all(|variable| variables.contains(variable))
}
