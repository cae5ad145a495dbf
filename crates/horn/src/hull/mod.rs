//! Hulls of facts: the least inductive description of all facts in a finite-height abstract domain.
//!
//! **What it finds.** For each predicate a formula that holds of all its facts: a disjunction over *keys*, and for each key
//! linear equations and inequalities (`partition.rs`). It takes all clauses that the solver understands, linear or not.
//!
//! **The idea.** A model of a clause that leaves the current description is a fact that has to be added; the description
//! grows by it to the next larger element of the domain. No clause has to be read for that: the solver does it.
//!
//! ```text
//! while there is an open clause
//!     while it derives, from the descriptions of its body, a fact outside the description of its head
//!         join the fact to the description of the head
//!     if something was joined, open the clauses with this predicate in the body
//! ```
//!
//! **Invariants.** H1: facts are joined only if a clause derives them from the present descriptions, so until keys are given
//! up the result is the least inductive one, in whatever order clauses are taken. H2: a description changes finitely often. H3:
//! if [`Analysis::close`] succeeds, the descriptions are inductive: the last query about each clause proves it.
//!
//! **Effort is counted.** Each query may use [`CONFLICTS`] conflicts, and the analysis a number of queries that its user
//! gives. Beyond that it ends with `Stop::Interrupted(Reason::Budget)`.
//!
//! **Where it comes from.** T. Reps, M. Sagiv, G. Yorsh, "Symbolic implementation of the best transformer" (VMCAI 2004), for
//! joins of models; `affine.rs` and `partition.rs` name the domains.

pub mod affine;
mod partition;

use std::collections::BTreeSet;

use shofar_logic::{Term, Value};
use shofar_run::{Limits, Reason, Stop};
use shofar_smt::purify::Unsupported;
use shofar_smt::sat::Outcome;
use shofar_smt::solver::Solver;

use crate::Context;
use crate::graph::{EdgeId, HornGraph, NodeId};
use partition::Partition;

pub use partition::Division;

/// Conflicts that one query may resolve.
pub const CONFLICTS: u64 = 500;

/// Computes hulls in a graph, with an incremental solver for each clause.
pub struct Analysis<'a> {
    context: Context<'a>,
    graph: &'a HornGraph,
    /// By nodes.
    partitions: Vec<Partition>,
    /// By edges, once they were asked.
    solvers: Vec<Option<Solver<'a>>>,
    /// How many queries may still be asked.
    queries: usize,
}

impl<'a> Analysis<'a> {
    /// An analysis without facts that asks at most the given number of queries.
    pub fn new(context: Context<'a>, graph: &'a HornGraph, queries: usize) -> Self {
        let limits = Limits { conflicts: Some(CONFLICTS), ..context.limits };
        let partition =
            |(id, _): (NodeId, _)| Partition::new(context.store, graph.node(id), Division::default());
        Analysis {
            context: context.within(limits),
            graph,
            partitions: graph.nodes().map(partition).collect(),
            solvers: graph.edges().map(|_| None).collect(),
            queries,
        }
    }

    /// Forgets the facts of a node, and sets how they are divided from now on.
    pub fn divide(&mut self, node: NodeId, division: Division) {
        self.partitions[node.index()] = Partition::new(self.context.store, self.graph.node(node), division);
    }

    /// The description of a node's facts, over its variables.
    pub fn formula(&mut self, node: NodeId) -> Term {
        self.partitions[node.index()].formula(self.context.store)
    }

    /// Joins facts until the descriptions are inductive for the given edges.
    pub fn close(&mut self, edges: &[EdgeId]) -> Result<(), Stop> {
        let mut open: BTreeSet<EdgeId> = edges.iter().copied().collect();
        while let Some(edge) = open.pop_first() {
            let Some(target) = self.graph.edge(edge).target() else { continue };
            let mut has_grown = false;
            while let Some(fact) = self.fact_outside(edge, target)? {
                self.partitions[target.index()].join(self.context.store, &fact);
                has_grown = true;
            }
            if has_grown {
                let uses = |edge: &&EdgeId| self.graph.edge(**edge).sources().contains(&target);
                open.extend(edges.iter().filter(uses));
            }
        }
        Ok(())
    }

    /// Whether the descriptions contradict the body of an edge and the further formula, over the edge's variables.
    pub fn excludes(&mut self, edge: EdgeId, further: Term) -> Result<bool, Stop> {
        let Some(mut assumptions) = self.at_sources(edge) else { return Ok(true) };
        assumptions.push(further);
        Ok(!self.is_satisfiable(edge, &assumptions)?)
    }

    /// A fact that an edge derives and that is not described yet.
    fn fact_outside(&mut self, edge: EdgeId, target: NodeId) -> Result<Option<Vec<Value>>, Stop> {
        let (store, graph) = (self.context.store, self.graph);
        let Some(mut assumptions) = self.at_sources(edge) else { return Ok(None) };
        let inside = self.formula(target);
        if inside == Term::TRUE {
            return Ok(None);
        }
        assumptions.push(store.not(graph.at_target(store, edge, inside)));
        if !self.is_satisfiable(edge, &assumptions)? {
            return Ok(None);
        }
        let next = graph.target_variables(edge);
        let solver = self.solver(edge)?;
        assumptions.extend_from_slice(next);
        let model = solver.model(&assumptions);
        let value = |&variable: &Term| {
            let value = model.get(variable).cloned();
            value.unwrap_or_else(|| store.default_value(store.sort_of(variable)))
        };
        Ok(Some(next.iter().map(value).collect()))
    }

    /// The descriptions of an edge's sources; `None` if one has no facts.
    fn at_sources(&mut self, edge: EdgeId) -> Option<Vec<Term>> {
        let (store, graph) = (self.context.store, self.graph);
        let mut formulas = Vec::new();
        for (source, &node) in graph.edge(edge).sources().iter().enumerate() {
            let formula = self.formula(node);
            if formula == Term::FALSE {
                return None;
            }
            formulas.push(graph.at_source(store, edge, source, formula));
        }
        Some(formulas)
    }

    fn is_satisfiable(&mut self, edge: EdgeId, assumptions: &[Term]) -> Result<bool, Stop> {
        self.context.go_on()?;
        self.queries = self.queries.checked_sub(1).ok_or(Stop::Interrupted(Reason::Budget))?;
        let context = self.context;
        match self.solver(edge)?.check(assumptions, &context.limits) {
            Ok(Outcome::Sat) => Ok(true),
            Ok(Outcome::Unsat) => Ok(false),
            Ok(Outcome::Unknown(reason)) => Err(Stop::Interrupted(reason)),
            Err(unsupported) => Err(unsupported.stop(context.store)),
        }
    }

    fn solver(&mut self, edge: EdgeId) -> Result<&mut Solver<'a>, Stop> {
        let store = self.context.store;
        let place = &mut self.solvers[edge.index()];
        if place.is_none() {
            let mut solver = Solver::new(store);
            let unsupported = |unsupported: Unsupported| unsupported.stop(store);
            solver.assert_all(&[self.graph.edge(edge).label()]).map_err(unsupported)?;
            *place = Some(solver);
        }
        Ok(place.as_mut().expect("it was made above"))
    }
}
