//! Lazy unfolding guided by unsatisfiable cores, for all systems.
//!
//! **What it decides.** All systems over the theories that the solver decides. A system is unsatisfiable if and only if `false`
//! has a derivation, and every derivation is found in the end. It answers `sat` only where unfolding ends.
//!
//! **The idea.** Clauses are unfolded from the queries on. At each time the unfolding is a graph of atoms; some are expanded, the
//! others *open*. One solver has the constraints of all expanded atoms. It looks for a derivation in which no open atom takes part.
//! If no derivation exists, a core says which open atoms have to be expanded. The rest of the unfolding does not grow: this is what
//! unrolling rank by rank (`bmc`) lacks if bodies have several atoms.
//!
//! ```text
//! expand the queries
//! loop: check under the assumptions {not holds(b) | b is open}
//!     sat            the ways that are taken in the model are a derivation: unsat
//!     unsat, core K  K is empty: there is no derivation, whatever open atoms are: sat, with a model by interpolants
//!                    otherwise expand some atoms of K
//! ```
//!
//! **What is expanded.** At most [`Options::batch`] atoms of the core whose depth is at most a bound, those with the least choice
//! first: at most one clause applies; the arguments exclude some clauses; all clauses apply. Among these the shallow ones come
//! first. The bound is doubled when the core has no such atom.
//!
//! **Why every derivation is found.** Each core has an open atom of each derivation, since otherwise the derivation would satisfy
//! the formulas with all assumptions of the core. There are finitely many atoms up to a depth, so after finitely many rounds the
//! bound has reached the depth of such an atom, and after finitely many further ones the atom is expanded.
//!
//! **Summaries.** Some unfoldings end only if they know what holds of all facts, such as that lengths are not negative. Where datatypes
//! are left, hulls of facts (`../algebra/summaries.rs`) are computed once, after some rounds, and restrict all atoms. They are
//! inductive by themselves, so they become part of the model. Of 70 tasks over datatypes, unfolding proves 21 instead of 16 with them.
//!
//! **Files.** `../functions.rs` finds predicates that are functions, `resolve.rs` resolves atoms with clauses and evaluates what has no choice,
//! `tree.rs` is the unfolding with its formulas and reads derivations, `model.rs` makes models.
//!
//! **Where it comes from.** P. Suter, A. Köksal, V. Kuncak, "Satisfiability modulo recursive programs" (SAS 2011), unfold calls of
//! functions that assumptions forbid; A. Lal, S. Qadeer, S. Lahiri, "A solver for reachability modulo theories" (CAV 2012), do so
//! for procedures (stratified inlining); S. Cruanes, "Satisfiability modulo bounded checking" (CADE 2017), narrows terms of
//! datatypes. **Where we differ.** Clauses are unfolded, so there are no inputs and outputs. Atoms are resolved with clauses before
//! the solver sees them, and what has no choice is evaluated. The end of unfolding gives a model (`model.rs`).

mod model;
mod resolve;
mod tree;

use std::time::Instant;

use shofar_horn::HornGraph;
use shofar_horn::witness::GraphModel;
use shofar_logic::{Term, TermStore};
use shofar_run::{Reason, Stop};
use shofar_smt::solver::Solver;
use shofar_smt::supports;

use crate::algebra::{plain_summaries, strengthened};
use crate::option::options;
use crate::{Engine, EngineOption, Evidence, InterpolationMethod, Run, fragment};
use tree::{AtomId, ROOT, Tree};

/// The first bound of the depth.
const FIRST_DEPTH: u32 = 2;

/// The number of rounds after which summaries are worth their time. Most refutations need less.
const PATIENCE: u64 = 8;

/// The number of rounds if an operator is not supported.
const UNSUPPORTED_ROUNDS: u64 = 50;

options! {
    batch: u64 = 12, "batch": "how many atoms of a core are expanded at most" in 1..=1_000_000;
    evaluation: u64 = 32,
        "evaluation": "how many atoms that only one clause fits are resolved at once, with each clause of an atom"
        in 0..=1_000_000;
    sharing: bool = true, "sharing": "atoms with the same arguments are one";
    functions: bool = true, "functions": "atoms with the same inputs are one if a predicate is a function";
    summaries: bool = true, "summaries": "hulls of facts restrict atoms after some rounds, if there are datatypes";
    interpolation: InterpolationMethod = InterpolationMethod::Decomposed, "interpolation": "how interpolants are made";
}

/// The engine of lazy unfolding.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Unfold {
    /// The options of the engine.
    pub options: Options,
}

impl Engine for Unfold {
    fn name(&self) -> &'static str {
        "unfold"
    }

    fn description(&self) -> &'static str {
        "lazy unfolding guided by unsatisfiable cores, for counterexamples; all systems"
    }

    fn options(&mut self) -> Vec<EngineOption<'_>> {
        self.options.list()
    }

    fn accepts(&self, store: &TermStore, graph: &HornGraph) -> Result<(), Stop> {
        // Only models need interpolants; without them, unfolding ends without an answer.
        fragment::is_decidable(store, graph)
    }

    fn solve(&self, graph: &HornGraph, run: &Run<'_>) -> Result<Evidence, Stop> {
        let start = Instant::now();
        let mut search = Search::new(graph, run, self.options);
        let answer = search.solve();
        run.tell_statistics(search.counters(), start);
        answer
    }
}

/// The state of a run.
struct Search<'a> {
    graph: &'a HornGraph,
    run: &'a Run<'a>,
    options: Options,
    solver: Solver<'a>,
    tree: Tree<'a>,
    /// Atoms of a greater depth are not expanded yet.
    depth: u32,
    rounds: u64,
    known: Option<Known>,
}

/// What holds of all facts.
struct Known {
    /// By nodes, over the variables of the graph.
    summaries: Vec<Term>,
    /// The graph whose bodies know the summaries.
    strengthened: HornGraph,
}

impl<'a> Search<'a> {
    fn new(graph: &'a HornGraph, run: &'a Run<'a>, options: Options) -> Self {
        Search {
            graph,
            run,
            options,
            solver: run.solver(),
            tree: Tree::new(run.store, graph, options),
            depth: FIRST_DEPTH,
            rounds: 0,
            known: None,
        }
    }

    /// Searches. If an operator is not supported, the search may still find a derivation; otherwise the message names the term
    /// of the clause, not that of an instance.
    fn solve(&mut self) -> Result<Evidence, Stop> {
        let labels: Vec<Term> = self.graph.edges().map(|(_, edge)| edge.label()).collect();
        let Err(unsupported) = supports(self.run.store, &labels) else { return self.search(u64::MAX) };
        match self.search(UNSUPPORTED_ROUNDS) {
            Err(Stop::Unsupported(_) | Stop::Exhausted(_) | Stop::Interrupted(Reason::Incomplete)) => {
                Err(unsupported.stop(self.run.store))
            }
            answer => answer,
        }
    }

    fn search(&mut self, most_rounds: u64) -> Result<Evidence, Stop> {
        // A derivation of a linear system has one atom at a time.
        if self.options.functions && self.options.sharing && !self.graph.is_linear() {
            self.tree.find_functions(self.run, self.graph)?;
        }
        self.expand(ROOT)?;
        loop {
            self.run.go_on()?;
            if self.run.is_satisfiable(&mut self.solver, &self.tree.assumptions())? {
                let model = self.solver.model(&self.tree.terms());
                return self.tree.derivation(&model).map(Evidence::Unsat);
            }
            let core = self.tree.open_atoms(&self.solver.core());
            if core.is_empty() {
                return self.model().map(Evidence::Sat);
            }
            if self.rounds >= most_rounds {
                return Err(Stop::Exhausted("there is no short derivation"));
            }
            for atom in self.chosen(core) {
                self.expand(atom)?;
            }
            self.rounds += 1;
            if self.rounds == PATIENCE && self.options.summaries {
                self.learn_summaries()?;
            }
            self.run.tell_progress(u64::from(self.depth), self.counters());
        }
    }

    /// The model where unfolding ends.
    fn model(&self) -> Result<GraphModel, Stop> {
        let interpolation = self.options.interpolation;
        let Some(Known { summaries, strengthened }) = &self.known else {
            return model::model(self.run, self.graph, &self.tree, interpolation);
        };
        let model = model::model(self.run, strengthened, &self.tree, interpolation)?;
        let mut formulas = Vec::with_capacity(summaries.len());
        for ((node, _), &summary) in self.graph.nodes().zip(summaries) {
            formulas.push(self.run.store.and2(summary, model.formula(node)?));
        }
        Ok(GraphModel::of_formulas(formulas))
    }

    /// Restricts all atoms, also future ones, to what holds of all facts.
    fn learn_summaries(&mut self) -> Result<(), Stop> {
        let store = self.run.store;
        let mut sorts = self.graph.nodes().flat_map(|(_, node)| node.sorts(store));
        if !sorts.any(|sort| store.datatype(sort).is_some()) {
            return Ok(());
        }
        let summaries = match plain_summaries(self.run.context(), self.graph) {
            // Others look at the operators that are not supported.
            Err(Stop::Unsupported(_)) => return Ok(()),
            summaries => summaries?,
        };
        if summaries.iter().all(|&summary| summary == Term::TRUE) {
            return Ok(());
        }
        let formulas = self.tree.learn(self.graph, &summaries);
        self.run.assert(&mut self.solver, &formulas)?;
        let strengthened = strengthened(store, self.graph, &summaries);
        self.known = Some(Known { summaries, strengthened });
        Ok(())
    }

    fn expand(&mut self, atom: AtomId) -> Result<(), Stop> {
        let formulas = self.tree.expand(atom);
        self.run.assert(&mut self.solver, &formulas)
    }

    /// The atoms of a core that are expanded next.
    fn chosen(&mut self, core: Vec<AtomId>) -> Vec<AtomId> {
        while core.iter().all(|&atom| self.tree.atom(atom).depth > self.depth) {
            self.depth *= 2;
        }
        let mut chosen = core;
        chosen.retain(|&atom| self.tree.atom(atom).depth <= self.depth);
        chosen.sort_by_cached_key(|&atom| (self.tree.choice(atom), self.tree.atom(atom).depth, atom));
        chosen.truncate(usize::try_from(self.options.batch).unwrap_or(usize::MAX));
        chosen
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let mut counters = vec![
            ("depth", u64::from(self.depth)),
            ("rounds", self.rounds),
            ("atoms", self.tree.len() as u64),
            ("expanded", self.tree.expanded),
            ("shared", self.tree.shared),
            ("calls", self.tree.calls),
            ("evaluated", self.tree.resolved),
        ];
        counters.extend(crate::run::solver_counters(&self.solver));
        counters
    }
}
