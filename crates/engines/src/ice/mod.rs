//! ICE learning: decision trees from positive samples, negative ones and implications, for all systems.
//!
//! **What it decides.** All systems over integers, reals and Booleans that the solver decides. It is complete for neither answer: it may
//! see new samples for ever.
//!
//! **The idea.** A *learner* proposes a formula for each predicate. It knows no clauses, only instances of clauses over *samples*, which
//! are predicates with values. A *teacher* checks the proposal on all clauses and returns instances that it violates. The learner's
//! formulas are decision trees over simple tests, the *qualifiers*, that agree with all instances. So they may be disjunctions, which
//! bounds and interpolants find hard, and the number of premises of a clause does not matter.
//!
//! ```text
//! loop
//!     candidate := decision trees that agree with all instances                     tree.rs, qualifiers.rs
//!     violated := for each clause an instance that the candidate violates, if any    teacher.rs
//!     none: the candidate is a model
//!     add the instances; they contradict each other: a derivation of false          samples.rs
//! ```
//!
//! **Why the answer is right.** Solvers have refuted the negation of each clause for the final candidate. Instances of clauses that
//! contradict each other are a derivation: forward chaining from facts reaches a query.
//!
//! **Progress.** Candidates agree with all earlier instances, so each violated instance is new. Over finitely many values this
//! ends.
//!
//! **Where it comes from.** P. Garg, D. Neider, P. Madhusudan, D. Roth, "Learning invariants using decision trees and implication
//! counterexamples" (POPL 2016); A. Champion, T. Chiba, N. Kobayashi, R. Sato, "ICE-based refinement type discovery for
//! higher-order functional programs" (TACAS 2018), for implications with several premises and predicates. **Where we differ.**
//! Implications are Horn clauses over samples, so unit propagation keeps the labels consistent without search. Bounds of sums are
//! read off the samples as numeric attributes, and the sums are those of cheap invariants. The teacher prefers small numbers.

mod qualifiers;
mod samples;
mod teacher;
mod tree;

use std::time::Instant;

use shofar_horn::HornGraph;
use shofar_horn::graph::EdgeId;
use shofar_horn::witness::GraphModel;
use shofar_logic::{Term, TermStore};
use shofar_run::{Limits, Stop};
use shofar_smt::interpolate::simplify;

use crate::option::options;
use crate::{Engine, EngineOption, Evidence, Run, fragment};
use qualifiers::Qualifiers;
use samples::Samples;
use teacher::{Teacher, Violation};
use tree::{Entropies, Tree, learn};

/// The conflict limit of a query that simplifies the model.
const CONFLICTS: u64 = 500;

options! {
    facts: bool = true, "facts": "violated instances have known facts as premises, if they can";
    small: bool = true, "small": "violated instances have small numbers, if they can";
    cases: usize = 4,
        "cases": "with more cases, and with each further such number of them, a tree gets more sums of arguments"
        in 1..=1_000_000;
}

/// The engine of ICE learning.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Ice {
    /// The options of the engine.
    pub options: Options,
}

impl Engine for Ice {
    fn name(&self) -> &'static str {
        "ice"
    }

    fn description(&self) -> &'static str {
        "decision trees learnt from samples and implications (ICE); all systems over numbers and Booleans"
    }

    fn options(&mut self) -> Vec<EngineOption<'_>> {
        self.options.list()
    }

    fn accepts(&self, store: &TermStore, graph: &HornGraph) -> Result<(), Stop> {
        fragment::is_numeric(store, graph)
    }

    fn solve(&self, graph: &HornGraph, run: &Run<'_>) -> Result<Evidence, Stop> {
        let start = Instant::now();
        let mut search = Search {
            run,
            graph,
            options: self.options,
            samples: Samples::new(graph.nodes().len()),
            qualifiers: qualifiers::qualifiers(run, graph)?,
            entropies: Entropies::default(),
            teacher: Teacher::new(run, graph, self.options),
            rounds: 0,
            cases: 0,
        };
        let answer = search.solve();
        run.tell_statistics(search.counters(), start);
        answer
    }
}

/// The state of a run.
struct Search<'a> {
    run: &'a Run<'a>,
    graph: &'a HornGraph,
    options: Options,
    samples: Samples,
    /// By nodes.
    qualifiers: Vec<Qualifiers>,
    entropies: Entropies,
    teacher: Teacher<'a>,
    rounds: u64,
    /// The cases of the latest trees.
    cases: u64,
}

impl Search<'_> {
    fn solve(&mut self) -> Result<Evidence, Stop> {
        loop {
            self.run.go_on()?;
            let candidate = self.candidate()?;
            let violated = self.violated(&candidate)?;
            if violated.is_empty() {
                return Ok(Evidence::Sat(self.model(candidate)));
            }
            for Violation { edge, premises, conclusion } in violated {
                match self.samples.add(edge, premises, conclusion) {
                    Ok(true) => {}
                    Ok(false) => {
                        return Err(Stop::Internal("a candidate violates a known instance".to_owned()));
                    }
                    Err(_) => {
                        let derivation = self.samples.refutation();
                        let missing = || Stop::Internal("contradictory samples are no derivation".to_owned());
                        return derivation.map(Evidence::Unsat).ok_or_else(missing);
                    }
                }
            }
            self.rounds += 1;
            self.run.tell_progress(self.rounds, self.counters());
        }
    }

    /// Formulas that agree with all instances. Where trees are large, they get more qualifiers.
    fn candidate(&mut self) -> Result<Vec<Term>, Stop> {
        let store = self.run.store;
        loop {
            let trees = learn(self.run, &self.samples, &mut self.qualifiers, &mut self.entropies)?;
            let mut is_new = false;
            for (qualifiers, tree) in self.qualifiers.iter_mut().zip(&trees) {
                is_new |= qualifiers.grow_for(store, tree.cases(), self.options.cases);
            }
            if !is_new {
                self.cases = trees.iter().map(|tree| tree.cases() as u64).sum();
                let formula = |(tree, qualifiers): (&Tree, &Qualifiers)| tree.formula(store, qualifiers);
                let candidate: Vec<Term> = trees.iter().zip(&self.qualifiers).map(formula).collect();
                for ((_, node), &formula) in self.graph.nodes().zip(&candidate) {
                    let (name, formula) = (store.name(node.name), store.display(formula));
                    tracing::debug!(name, formula = %formula, "candidate");
                }
                return Ok(candidate);
            }
        }
    }

    /// An instance of each clause that the candidate violates.
    fn violated(&mut self, candidate: &[Term]) -> Result<Vec<Violation>, Stop> {
        let edges: Vec<EdgeId> = self.graph.edges().map(|(edge, _)| edge).collect();
        let mut violated = Vec::new();
        for edge in edges {
            self.run.go_on()?;
            violated.extend(self.teacher.violation(edge, candidate, &self.samples)?);
        }
        Ok(violated)
    }

    /// The candidate, simplified.
    fn model(&self, candidate: Vec<Term>) -> GraphModel {
        let limits = Limits { conflicts: Some(CONFLICTS), ..self.run.limits };
        let simple = |formula: Term| simplify::with_solver(self.run.store, formula, &limits).formula;
        GraphModel::of_formulas(candidate.into_iter().map(simple))
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![
            ("rounds", self.rounds),
            ("samples", self.samples.len() as u64),
            ("cases", self.cases),
            ("solver.queries", self.teacher.queries),
        ]
    }
}
