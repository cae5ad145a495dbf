//! The teacher: clause instances that candidates violate.
//!
//! Each clause has a solver that keeps its label. If a clause is violated, small numbers are tried first: samples with small numbers
//! resemble each other, and bounds between them are likely to be those of the clauses. Premises that are known to be facts come before
//! others, since they give positive samples rather than implications.

use rustc_hash::FxHashSet;
use shofar_horn::HornGraph;
use shofar_horn::graph::{EdgeId, NodeId};
use shofar_logic::{Term, Value};
use shofar_run::Stop;

use super::Options;
use super::samples::{Fact, Samples};
use crate::Run;
use crate::clause_solvers::ClauseSolvers;
use crate::invariants::is_number;
use crate::unroll::value;

/// The absolute values that arguments shall not exceed, tried one after the other.
const SIZES: [i64; 4] = [2, 10, 50, 1000];

/// Known facts that premises are compared with.
const MOST_FACTS: usize = 24;

/// An instance of a clause.
pub(super) struct Violation {
    pub(super) edge: EdgeId,
    pub(super) premises: Vec<Fact>,
    pub(super) conclusion: Option<Fact>,
}

/// Checks candidates.
pub(super) struct Teacher<'a> {
    run: &'a Run<'a>,
    graph: &'a HornGraph,
    options: Options,
    solvers: ClauseSolvers<'a>,
    /// Clauses and the formulas of their predicates for which they hold.
    valid: FxHashSet<(EdgeId, Vec<Term>)>,
    pub(super) queries: u64,
}

impl<'a> Teacher<'a> {
    pub(super) fn new(run: &'a Run<'a>, graph: &'a HornGraph, options: Options) -> Self {
        let (solvers, valid) = (ClauseSolvers::new(run, graph), FxHashSet::default());
        Teacher { run, graph, options, solvers, valid, queries: 0 }
    }

    /// An instance of a clause that a candidate violates. The candidate is indexed by node.
    pub(super) fn violation(
        &mut self,
        edge: EdgeId,
        candidate: &[Term],
        samples: &Samples,
    ) -> Result<Option<Violation>, Stop> {
        let (store, clause) = (self.run.store, self.graph.edge(edge));
        let nodes = clause.sources().iter().copied().chain(clause.target());
        let key = (edge, nodes.map(|node| candidate[node.index()]).collect());
        if self.valid.contains(&key) {
            return Ok(None);
        }
        let sources = clause.sources().iter().enumerate();
        let mut assumptions: Vec<Term> = sources
            .map(|(at, node)| self.graph.at_source(store, edge, at, candidate[node.index()]))
            .collect();
        if let Some(target) = clause.target() {
            let formula = self.graph.at_target(store, edge, candidate[target.index()]);
            assumptions.push(store.not(formula));
        }
        if assumptions.contains(&Term::FALSE) || !self.ask(edge, &assumptions)? {
            self.valid.insert(key);
            return Ok(None);
        }
        let mut violation = self.read(edge, &assumptions)?;
        for preferred in self.preferences(edge, samples) {
            let all = [&assumptions[..], &preferred[..]].concat();
            if self.ask(edge, &all)? {
                violation = self.read(edge, &all)?;
                break;
            }
        }
        Ok(Some(violation))
    }

    /// Further assumptions, each of which makes an instance more useful; the best first.
    fn preferences(&self, edge: EdgeId, samples: &Samples) -> Vec<Vec<Term>> {
        let (store, graph, clause) = (self.run.store, self.graph, self.graph.edge(edge));
        let small = |size: i64| {
            let sources = (0..clause.sources().len()).flat_map(|at| graph.source_variables(edge, at));
            let numbers = sources
                .chain(graph.target_variables(edge))
                .copied()
                .filter(|&variable| is_number(store, variable));
            let bounds = numbers.flat_map(|variable| {
                let [low, high] =
                    [-size, size].map(|bound| store.number(&bound.into(), store.sort_of(variable)));
                [store.le(low, variable), store.le(variable, high)]
            });
            bounds.collect::<Vec<Term>>()
        };
        let mut all: Vec<Vec<Term>> = Vec::new();
        if self.options.facts && !clause.sources().is_empty() {
            let from_facts: Vec<Term> = (0..clause.sources().len())
                .map(|at| {
                    let variables = graph.source_variables(edge, at);
                    let facts = samples.of(clause.sources()[at]).iter().copied();
                    let facts = facts.filter(|&sample| samples.labels().get(sample) == Some(true));
                    let is = |fact| {
                        let equations = variables.iter().zip(&samples.get(fact).values);
                        store.and_of(
                            equations
                                .map(|(&variable, value)| store.eq(variable, store.value_to_term(value))),
                        )
                    };
                    store.or_of(facts.take(MOST_FACTS).map(is))
                })
                .collect();
            if !from_facts.contains(&Term::FALSE) {
                all.push(from_facts);
            }
        }
        if self.options.small {
            all.extend(SIZES.map(small));
        }
        all
    }

    fn ask(&mut self, edge: EdgeId, assumptions: &[Term]) -> Result<bool, Stop> {
        self.queries += 1;
        self.run.is_satisfiable(self.solvers.of(edge)?, assumptions)
    }

    /// The instance in the solver's model.
    fn read(&mut self, edge: EdgeId, assumptions: &[Term]) -> Result<Violation, Stop> {
        let (store, graph) = (self.run.store, self.graph);
        let clause = graph.edge(edge);
        let vectors: Vec<&[Term]> = (0..clause.sources().len())
            .map(|at| graph.source_variables(edge, at))
            .chain([graph.target_variables(edge)])
            .collect();
        let terms: Vec<Term> = [clause.label()]
            .iter()
            .chain(assumptions)
            .chain(vectors.iter().copied().flatten())
            .copied()
            .collect();
        let model = self.solvers.of(edge)?.model(&terms);
        let values = |variables: &[Term]| -> Box<[Value]> {
            variables.iter().map(|&variable| value(store, &model, variable)).collect()
        };
        let fact = |(&node, variables): (&NodeId, &&[Term])| (node, values(variables));
        let premises = clause.sources().iter().zip(&vectors).map(fact).collect();
        let conclusion = clause.target().map(|node| (node, values(graph.target_variables(edge))));
        Ok(Violation { edge, premises, conclusion })
    }
}
