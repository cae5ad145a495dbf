//! Procedures with summaries: predicate abstraction of recursive programs, from the queries on.
//!
//! **What it decides.** All systems over the theories that the solver interpolates. A predicate is a procedure that returns
//! exactly if its arguments are a derivable fact, a clause is a path through it with a call for each predicate of the body, and
//! `main` has the queries (`shofar_horn::cfa`, `procedures.rs`).
//!
//! **The idea.** A stack of calls has no bound, and states with different stacks do not cover each other. So we tabulate: a call
//! is answered by a *context* of its procedure, an abstract *entry* with all abstract *exits* for values in it. Calls that
//! demand no more than a known context share it, recursive ones as well. Entries and exits are sets of predicates from a finite
//! precision, so this ends. If `main` does not get to the error, the contexts are a model. Otherwise the counterexample
//! is a tree of clauses. Either it has an instance, a derivation, or its tree interpolants become predicates.
//!
//! ```text
//! open: all paths of main
//! while a path is open, the one with the shallowest derivation first
//!     a call is next:   demand = what entry, label and the exits so far imply of its arguments
//!                       take a context with a weaker entry, or make one and open the paths of its procedure
//!                       go on with each of its exits, now and whenever a new one is found
//!     at the end:       exit = what entry, label and the exits imply of the parameters; add it, unless a weaker one is known
//!     at the error:     the tree has an instance: unsat
//!                       otherwise refine, and begin again; the answers of the solver are kept
//! no path is open: the contexts are a model
//! ```
//!
//! Nothing is abstracted within a clause: it is one block.
//!
//! **Invariants.** For each context, each clause of its procedure and each choice of active exits for its first calls that has
//! an instance with the entry:
//!
//! - S1: if there is a further call, its arguments are in the entry of one context, the same for all of them, and the path goes on
//!   with each active exit of this context.
//! - S2: if all calls have returned, the parameters are in an active exit of the context. In `main` there is no such choice.
//!
//! **Why the answer is right.** The model of a predicate is the conjunction of `entry => some exit` over its contexts
//! ([`Automaton::model_of_contexts`]). Take an instance of a clause whose body holds in the model, with `x` in the entry of a
//! context. By S1, the arguments `y1` of the first call are in the entry of a context. They are in the model, hence in one of its
//! exits. So S1 applies to the second call, and so on. After the last call, S2 says that `x` is in an exit, and that a query has
//! no such instance. A counterexample with an instance is a derivation.
//!
//! **Progress.** Interpolants of a tree satisfy: those of the children and the clause between imply that of the parent. Their
//! conjuncts become predicates of exits. So exits by leaf clauses imply their interpolants, and exits by the same tree of
//! clauses all have them, whatever the entries, up to the query, which then has no instance. Interpolants are smaller if the tree
//! also has what is known of its exits. It holds in all instances, since calls are in the entries of their contexts. But such
//! interpolants rely on these entries, so if they are not new, the tree is refuted again by its clauses alone.
//!
//! Negated interpolants become predicates of entries. They say for which values the call mattered; a procedure that cannot return
//! for those ends the matter without any summary for others.
//!
//! Of the options, those of interpolation and of large blocks apply.
//!
//! **Where it comes from.** Tabulation: T. Reps, S. Horwitz, M. Sagiv, "Precise interprocedural dataflow analysis via graph
//! reachability" (POPL 1995); with predicates: T. Ball, S. Rajamani, "Bebop: a symbolic model checker for Boolean programs"
//! (SPIN 2000); nested interpolants: M. Heizmann, J. Hoenicke, A. Podelski (POPL 2010). The procedures are those of M. Somorjai,
//! "Abstraction Based Techniques for Constrained Horn Clause Solving" (BME, 2022).
//! **Where we differ.** There, states have stacks of locations, and safe recursive programs make the engine go on for ever. Its
//! model, the complement of all demanded values, is wrong if a procedure returns in a safe program.

mod contexts;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Instant;

use shofar_horn::HornGraph;
use shofar_horn::cfa::{self, Automaton};
use shofar_horn::graph::{Edge, EdgeId, NodeId};
use shofar_horn::witness::GraphModel;
use shofar_logic::{Term, TermStore};
use shofar_run::Stop;

use self::contexts::{Context, Contexts, Described, Path};
use super::Options;
use crate::pa::Predicates;
use crate::pa::clause::Clause;
use crate::pa::facts::Application;
use crate::pa::refine::{AbstractFacts, Refiner, Refuted};
use crate::{Evidence, Run, invariants, pa};

/// What is tracked: predicates of entries and of exits, indexed by node, over the node's variables.
struct Precision {
    entries: Vec<Predicates>,
    exits: Vec<Predicates>,
}

impl Precision {
    /// Adds the predicates of interpolants; returns whether one of an exit is new.
    fn track(&mut self, store: &TermStore, interpolants: Vec<(NodeId, Term)>) -> bool {
        let mut is_new = false;
        for (node, interpolant) in interpolants {
            is_new |= self.exits[node.index()].add_conjuncts(store, interpolant);
            let mattered = store.normalize(store.not(interpolant));
            self.entries[node.index()].add_conjuncts(store, mattered);
        }
        is_new
    }

    /// Tells a clause the predicates of its places.
    fn tell(&self, store: &TermStore, graph: &HornGraph, edge: EdgeId, clause: &mut Clause<'_>) {
        let sources = graph.edge(edge).sources();
        for (source, node) in sources.iter().enumerate() {
            let there = |predicate: Term| graph.at_source(store, edge, source, predicate);
            clause.add_goals(store, source, &self.entries[node.index()].list, there);
            clause.add_premises(store, source + 1, &self.exits[node.index()].list, there);
        }
        if let Some(node) = graph.edge(edge).target() {
            let there = |predicate: Term| graph.at_target(store, edge, predicate);
            clause.add_premises(store, 0, &self.entries[node.index()].list, there);
            clause.add_goals(store, sources.len(), &self.exits[node.index()].list, there);
        }
    }
}

/// Decides a system.
pub(super) fn solve(graph: &HornGraph, run: &Run<'_>, options: Options) -> Result<Evidence, Stop> {
    let start = Instant::now();
    let automaton = cfa::procedures(run.store, graph);
    let mut search = Search::new(graph, run, options);
    let answer = search.solve(&automaton);
    run.tell_statistics(search.counters(), start);
    answer
}

/// The order of open paths: shallow ones first, among these queries and old ones.
type Priority = Reverse<(u32, bool, u64)>;

/// The state of a run.
struct Search<'a> {
    graph: &'a HornGraph,
    run: &'a Run<'a>,
    /// Indexed by edge.
    clauses: Vec<Clause<'a>>,
    /// Indexed by node: the clauses with this head.
    paths: Vec<Vec<EdgeId>>,
    precision: Precision,

    contexts: Contexts,
    open: BinaryHeap<(Priority, Path)>,

    refiner: Refiner<'a>,
    opened: u64,
}

impl<'a> Search<'a> {
    fn new(graph: &'a HornGraph, run: &'a Run<'a>, options: Options) -> Self {
        let (paths, _) = graph.incoming();
        // Premises are the entry and the exits of the calls; goals are the entries of the calls and the exit.
        let clause = |id: EdgeId, edge: &Edge| {
            let calls = edge.sources().len();
            Clause::new(id, 1 + calls, calls + 1)
        };
        let predicates = || graph.nodes().map(|_| Predicates::default()).collect();
        let refinement = pa::Options::default().interpolation(options.interpolation);
        Search {
            graph,
            run,
            clauses: graph.edges().map(|(id, edge)| clause(id, edge)).collect(),
            paths,
            precision: Precision { entries: predicates(), exits: predicates() },
            contexts: Contexts::new(graph.nodes().len()),
            open: BinaryHeap::new(),
            refiner: Refiner::new(graph, run, refinement),
            opened: 0,
        }
    }

    fn solve(&mut self, automaton: &Automaton) -> Result<Evidence, Stop> {
        let relations = invariants::relations(self.run, self.graph)?;
        self.refiner.prefer(relations.into_iter().map(|found| found.sums).collect());
        loop {
            let Some(query) = self.tabulate()? else {
                return Ok(Evidence::Sat(self.model(automaton)));
            };
            if let Some(evidence) = self.refine(&query)? {
                return Ok(evidence);
            }
        }
    }

    /// Completes the contexts, up to the first abstract counterexample.
    fn tabulate(&mut self) -> Result<Option<Application>, Stop> {
        self.contexts = Contexts::new(self.graph.nodes().len());
        self.open.clear();
        for (edge, content) in self.graph.edges() {
            if content.target().is_none() {
                let application = Application { edge, premises: Box::default() };
                self.open(Path { context: Contexts::MAIN, application });
            }
        }
        while let Some((_, path)) = self.open.pop() {
            self.run.go_on()?;
            // A weaker exit goes the same way.
            if !path.application.premises.iter().all(|&exit| self.contexts.is_active(exit)) {
                continue;
            }
            let Application { edge, premises } = &path.application;
            let mut known = vec![&self.contexts[path.context].entry];
            known.extend(premises.iter().map(|&exit| self.contexts.predicates(exit)));
            let clause = &mut self.clauses[edge.index()];
            self.precision.tell(self.run.store, self.graph, *edge, clause);
            let found = clause.abstraction(self.run, self.graph, &known, premises.len())?;
            let Some(found) = found else { continue };
            if let Some(&callee) = self.graph.edge(*edge).sources().get(premises.len()) {
                let (context, is_new) = self.contexts.demand(callee, found);
                if is_new {
                    for at in 0..self.paths[callee.index()].len() {
                        let edge = self.paths[callee.index()][at];
                        self.open(Path {
                            context,
                            application: Application { edge, premises: Box::default() },
                        });
                    }
                }
                for exit in self.contexts.wait(context, path.clone()) {
                    self.open(path.after(exit));
                }
            } else if let Some(node) = self.contexts[path.context].node {
                let context = path.context;
                let Some(exit) = self.contexts.add_exit(node, path, found) else { continue };
                for at in 0..self.contexts[context].waiting.len() {
                    self.open(self.contexts[context].waiting[at].after(exit));
                }
            } else {
                return Ok(Some(path.application));
            }
        }
        Ok(None)
    }

    fn open(&mut self, path: Path) {
        let depth = self.contexts.depth(&path.application);
        let is_in_procedure = path.context != Contexts::MAIN;
        self.opened += 1;
        self.open.push((Reverse((depth, is_in_procedure, self.opened)), path));
    }

    /// Refutes the derivation of a query, or finds an instance of it.
    fn refine(&mut self, query: &Application) -> Result<Option<Evidence>, Stop> {
        for is_silent in [false, true] {
            let exits = Described { contexts: &self.contexts, precision: &self.precision, is_silent };
            let found = match self.refiner.refine(&exits, query)? {
                Refuted::No(derivation) => return Ok(Some(Evidence::Unsat(derivation))),
                Refuted::By(found) => found,
            };
            if self.precision.track(self.run.store, found) {
                let counters = self.counters();
                self.run.tell_progress(self.refiner.refinements, counters);
                return Ok(None);
            }
        }
        Err(Stop::Exhausted("interpolants do not exclude a derivation"))
    }

    /// The contexts as a model.
    fn model(&self, automaton: &Automaton) -> GraphModel {
        let store = self.run.store;
        let exits = Described { contexts: &self.contexts, precision: &self.precision, is_silent: false };
        let summary = |node: NodeId, context: &Context| -> (Term, Term) {
            let entry = self.precision.entries[node.index()].formula(store, &context.entry);
            (entry, store.or_of(context.exits.iter().map(|&exit| exits.formula(store, exit))))
        };
        let mut contexts = vec![Vec::new(); automaton.cfa.procedures().len()];
        for (node, _) in self.graph.nodes() {
            let procedure = automaton.cfa.location(automaton.location_of(node)).procedure;
            contexts[procedure.index()] =
                self.contexts.of(node).map(|context| summary(node, context)).collect();
        }
        automaton.model_of_contexts(store, self.graph, &contexts)
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let Precision { entries, exits } = &self.precision;
        let size = |all: &[Predicates]| all.iter().map(|of_node| of_node.list.len() as u64).sum();
        vec![
            ("refinements", self.refiner.refinements),
            ("contexts", self.contexts.len() as u64),
            ("exits", self.contexts.exits() as u64),
            ("predicates", size(exits)),
            ("entry-predicates", size(entries)),
            ("paths", self.opened),
            ("interpolants", self.refiner.interpolants),
            ("solver.queries", self.clauses.iter().map(|clause| clause.queries).sum()),
            ("known", self.clauses.iter().map(|clause| clause.cached).sum()),
        ]
    }
}
