//! Predicate abstraction on the hypergraph of clauses, for all systems.
//!
//! **What it decides.** All systems over the theories that the solver interpolates.
//!
//! **The idea.** Each predicate of the system has a finite set of formulas over its arguments, its *abstraction predicates*; at
//! first it has none. An *abstract fact* is a predicate with a set of them, and stands for all facts that satisfy the set. Clauses
//! are applied to abstract facts: the result has all abstraction predicates of the head that the body implies. There are
//! finitely many abstract facts, so this ends. If no query applies, the facts are a model. If one does, the derivation of its
//! premises is a tree of clauses. Either the tree has an instance, which refutes the system, or its tree interpolants become
//! abstraction predicates, which exclude this derivation.
//!
//! ```text
//! while an application (clause, facts) is open, the shallowest first
//!     apply it: the fact has the predicates that the body implies
//!         there is a fact with fewer predicates: that fact absorbs the application
//!         otherwise: add the fact, open its applications; it absorbs facts with more predicates
//!     it is a query:
//!         the tree of the derivation has an instance: unsat
//!         otherwise refine: tree interpolants become predicates; remove the facts of the tree that
//!         change by this, with all that follows from them, and open again what they absorbed
//! the facts that are left are a model
//! ```
//!
//! **Invariants.**
//!
//! - F1: the body of a fact's application implies the fact, whatever has been added since.
//! - F2: each application of a clause to active facts is open, has no instance, or is absorbed by an active fact that is not
//!   stronger than its result.
//!
//! **Why the answer is right.** In the end F2 says that the disjunction of the active facts of each predicate is closed under all
//! clauses. Interpolants of a tree satisfy: those of the children and the clause between imply that of the parent. So with all
//! of them as predicates, the same tree of applications ends below a query that has no instance, and each refinement makes
//! progress.
//!
//! **Where it comes from.** S. Graf and H. Saïdi, "Construction of abstract state graphs with PVS" (CAV 1997); in this form for
//! clauses: P. Rümmer, H. Hojjat, V. Kuncak, "Disjunctive interpolants for Horn-clause verification" (CAV 2013).
//! **Where we differ.** Answers of the solver are generalised (`clause.rs`), so that most applications need no query. Facts are
//! refined lazily, only those of the refuted tree. `../interpolation_abstraction` steers interpolants.

pub(crate) mod clause;
pub(crate) mod facts;
pub(crate) mod refine;
pub(crate) mod set;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Instant;

use rustc_hash::FxHashSet;
use shofar_horn::HornGraph;
use shofar_horn::graph::{EdgeId, NodeId};
use shofar_horn::witness::GraphModel;
use shofar_logic::{Term, TermStore};
use shofar_run::Stop;

use crate::option::options;
use crate::{Engine, EngineOption, Evidence, InterpolationMethod, Run, fragment, invariants};
use clause::Clause;
use facts::{Application, FactId, Facts};
use refine::{AbstractFacts, Refiner, Refuted};
use set::Set;

options! {
    interpolation: InterpolationMethod = InterpolationMethod::Decomposed, "interpolation": "how interpolants are made";
    /// Sums give relations, arguments give constants; some invariants need both.
    templates: u64 = 2,
        "templates": "in each n-th refinement interpolants speak of sums rather than of single arguments, never if 0"
        in 0..=1_000_000;
    equalities: bool = true, "equalities": "affine equalities that hold of all facts are predicates from the start";
}

/// The engine of predicate abstraction.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct PredicateAbstraction {
    /// The options of the engine.
    pub options: Options,
}

impl Engine for PredicateAbstraction {
    fn name(&self) -> &'static str {
        "pa"
    }

    fn description(&self) -> &'static str {
        "predicate abstraction of clauses, refined by tree interpolants; all systems"
    }

    fn options(&mut self) -> Vec<EngineOption<'_>> {
        self.options.list()
    }

    fn accepts(&self, store: &TermStore, graph: &HornGraph) -> Result<(), Stop> {
        fragment::is_interpolable(store, graph)
    }

    fn solve(&self, graph: &HornGraph, run: &Run<'_>) -> Result<Evidence, Stop> {
        let start = Instant::now();
        let mut search = Search::new(graph, run, self.options);
        let answer = search.solve();
        run.tell_statistics(search.counters(), start);
        answer
    }
}

/// The abstraction predicates of a node, over its variables.
#[derive(Default)]
pub(crate) struct Predicates {
    pub(crate) list: Vec<Term>,
    known: FxHashSet<Term>,
}

impl Predicates {
    /// Adds a predicate unless it is known.
    fn add(&mut self, predicate: Term) {
        if self.known.insert(predicate) {
            self.list.push(predicate);
        }
    }

    /// Adds the conjuncts of a formula, apart from constants; returns whether one is new.
    pub(crate) fn add_conjuncts(&mut self, store: &TermStore, formula: Term) -> bool {
        let before = self.list.len();
        for conjunct in store.conjuncts(formula).filter(|&it| it != Term::TRUE && it != Term::FALSE) {
            self.add(conjunct);
        }
        self.list.len() > before
    }

    /// The conjunction of some of them.
    pub(crate) fn formula(&self, store: &TermStore, chosen: &Set) -> Term {
        store.and_of(chosen.iter().map(|number| self.list[number]))
    }
}

/// Facts with the predicates that they are made of, indexed by node.
struct Described<'s>(&'s Facts, &'s [Predicates]);

impl AbstractFacts for Described<'_> {
    fn application(&self, fact: FactId) -> &Application {
        &self.0[fact].application
    }

    fn formula(&self, store: &TermStore, fact: FactId) -> Term {
        let fact = &self.0[fact];
        self.1[fact.node.index()].formula(store, &fact.predicates)
    }
}

/// The order of open applications: shallow ones first, among these queries and old ones.
type Priority = Reverse<(u32, bool, u64)>;

/// The state of a run.
struct Search<'a> {
    // The problem.
    store: &'a TermStore,
    graph: &'a HornGraph,
    run: &'a Run<'a>,
    /// Indexed by edge, as all lists of clauses.
    clauses: Vec<Clause<'a>>,
    outgoing: Vec<Vec<EdgeId>>,

    // Known.
    /// Indexed by node.
    predicates: Vec<Predicates>,
    facts: Facts,
    open: BinaryHeap<(Priority, Application)>,
    opened: u64,

    refiner: Refiner<'a>,
    options: Options,
}

impl<'a> Search<'a> {
    fn new(graph: &'a HornGraph, run: &'a Run<'a>, options: Options) -> Self {
        let (outgoing, _) = graph.outgoing();
        Search {
            store: run.store,
            graph,
            run,
            clauses: graph.edges().map(|(id, edge)| Clause::new(id, edge.sources().len(), 1)).collect(),
            outgoing,
            predicates: graph.nodes().map(|_| Predicates::default()).collect(),
            facts: Facts::new(graph.nodes().len()),
            open: BinaryHeap::new(),
            opened: 0,
            refiner: Refiner::new(graph, run, options),
            options,
        }
    }

    fn solve(&mut self) -> Result<Evidence, Stop> {
        self.prepare()?;
        for (edge, content) in self.graph.edges() {
            if content.sources().is_empty() {
                self.open(Application { edge, premises: Box::default() });
            }
        }
        while let Some((_, application)) = self.open.pop() {
            self.run.go_on()?;
            // What is left of removed and absorbed facts.
            if !application.premises.iter().all(|&premise| self.facts.is_active(premise)) {
                continue;
            }
            let Some(predicates) = self.apply(&application)? else { continue };
            match self.graph.edge(application.edge).target() {
                Some(node) => self.add_fact(node, application, predicates),
                None => {
                    if let Some(evidence) = self.refine(application)? {
                        return Ok(evidence);
                    }
                }
            }
        }
        Ok(Evidence::Sat(self.model()))
    }

    /// Looks for templates and first predicates.
    fn prepare(&mut self) -> Result<(), Stop> {
        if self.options.templates == 0 && !self.options.equalities {
            return Ok(());
        }
        let found = invariants::relations(self.run, self.graph)?;
        if self.options.equalities {
            for (predicates, relations) in self.predicates.iter_mut().zip(&found) {
                relations.equalities.iter().for_each(|&equality| predicates.add(equality));
            }
        }
        if self.options.templates > 0 {
            self.refiner.prefer(found.into_iter().map(|relations| relations.sums).collect());
        }
        Ok(())
    }

    /// Adds an application to the open ones.
    fn open(&mut self, application: Application) {
        let depth = self.facts.depth(&application);
        let is_rule = self.graph.edge(application.edge).target().is_some();
        self.opened += 1;
        self.open.push((Reverse((depth, is_rule, self.opened)), application));
    }

    /// The predicates that an application implies; `None` if it has no instance.
    fn apply(&mut self, application: &Application) -> Result<Option<Set>, Stop> {
        let (store, graph, edge) = (self.store, self.graph, application.edge);
        let clause = &mut self.clauses[edge.index()];
        for (source, node) in graph.edge(edge).sources().iter().enumerate() {
            let there = |predicate: Term| graph.at_source(store, edge, source, predicate);
            clause.add_premises(store, source, &self.predicates[node.index()].list, there);
        }
        if let Some(node) = graph.edge(edge).target() {
            let there = |predicate: Term| graph.at_target(store, edge, predicate);
            clause.add_goals(store, 0, &self.predicates[node.index()].list, there);
        }
        let premises = application.premises.iter().map(|&premise| &self.facts[premise].predicates);
        clause.abstraction(self.run, graph, &premises.collect::<Vec<_>>(), 0)
    }

    /// Adds the result of an application as a fact, unless an old one absorbs it.
    fn add_fact(&mut self, node: NodeId, application: Application, predicates: Set) {
        let Some(fact) = self.facts.add(node, application, predicates) else { return };
        for at in 0..self.outgoing[node.index()].len() {
            self.open_applications(self.outgoing[node.index()][at], node, fact);
        }
    }

    /// Opens all applications of a clause to a new fact and active old ones.
    fn open_applications(&mut self, edge: EdgeId, node: NodeId, fact: FactId) {
        let sources = self.graph.edge(edge).sources();
        let active = |source: &NodeId| self.facts.active(*source).to_vec();
        let choices: Vec<Vec<FactId>> = sources.iter().map(active).collect();
        // The first source with the new fact has the others to its left old.
        for first in (0..sources.len()).filter(|&source| sources[source] == node) {
            let choice = |source: usize| -> Vec<FactId> {
                match source.cmp(&first) {
                    std::cmp::Ordering::Less => {
                        choices[source].iter().copied().filter(|&old| old != fact).collect()
                    }
                    std::cmp::Ordering::Equal => vec![fact],
                    std::cmp::Ordering::Greater => choices[source].clone(),
                }
            };
            let choices: Vec<Vec<FactId>> = (0..sources.len()).map(choice).collect();
            let mut counters = vec![0; sources.len()];
            if choices.iter().any(Vec::is_empty) {
                continue;
            }
            loop {
                let premises = counters.iter().zip(&choices).map(|(&at, choice)| choice[at]).collect();
                self.open(Application { edge, premises });
                let Some(next) = (0..counters.len()).find(|&at| counters[at] + 1 < choices[at].len()) else {
                    break;
                };
                counters[next] += 1;
                counters[..next].fill(0);
            }
        }
    }

    /// Refutes the derivation of a query, or finds an instance of it.
    fn refine(&mut self, query: Application) -> Result<Option<Evidence>, Stop> {
        // Predicates that are younger than a fact may exclude the derivation already.
        if self.update(&query)? {
            self.open(query);
            return Ok(None);
        }
        let found = match self.refiner.refine(&Described(&self.facts, &self.predicates), &query)? {
            Refuted::No(derivation) => return Ok(Some(Evidence::Unsat(derivation))),
            Refuted::By(found) => found,
        };
        for (node, interpolant) in found {
            self.predicates[node.index()].add_conjuncts(self.store, interpolant);
        }
        // If the solver did not decide a query of an application, its result may lack an interpolant.
        if !self.update(&query)? && self.apply(&query)?.is_some() {
            return Err(Stop::Exhausted("interpolants do not exclude a derivation"));
        }
        self.open(query);
        let counters = self.counters();
        self.run.tell_progress(self.refiner.refinements, counters);
        Ok(None)
    }

    /// Computes the facts below an application anew, from the bottom. The first ones that have changed are removed, with all
    /// that follows from them. Returns whether there are any.
    fn update(&mut self, application: &Application) -> Result<bool, Stop> {
        let mut has_changed = false;
        for fact in self.facts.below(application) {
            if !self.facts.exists(fact) {
                continue;
            }
            let application = self.facts[fact].application.clone();
            if self.apply(&application)?.as_ref() == Some(&self.facts[fact].predicates) {
                continue;
            }
            has_changed = true;
            for reopened in self.facts.remove(fact) {
                self.open(reopened);
            }
        }
        Ok(has_changed)
    }

    /// Each predicate is the disjunction of its facts.
    fn model(&self) -> GraphModel {
        let formula = |(node, _): (NodeId, _)| {
            let facts = Described(&self.facts, &self.predicates);
            self.store.or_of(self.facts.active(node).iter().map(|&fact| facts.formula(self.store, fact)))
        };
        GraphModel::of_formulas(self.graph.nodes().map(formula))
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let mut queries = 0;
        let mut cached = 0;
        for clause in &self.clauses {
            queries += clause.queries;
            cached += clause.cached;
        }
        vec![
            ("refinements", self.refiner.refinements),
            ("predicates", self.predicates.iter().map(|all| all.list.len() as u64).sum()),
            ("facts", self.facts.added()),
            ("applications", self.opened),
            ("interpolants", self.refiner.interpolants),
            ("solver.queries", queries),
            ("known", cached),
        ]
    }
}
