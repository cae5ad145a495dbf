//! Loops in sequence: a network of transition systems.
//!
//! **What it decides.** Linear graphs whose only cycles are self-loops. Each node is a loop with its own abstractions
//! and summaries. An edge between two nodes leads from the last state of one loop to the first state of the next. Facts
//! are ways in; queries and edges to other nodes are ways out.
//!
//! **The idea.** Reached states are propagated forward, and safe states backward. A loop searches for a path from its
//! *entry*, the states with which it is entered, to one of its *exits*: a query, or an edge to states of the next loop
//! that are neither safe nor blocked. If the search finds a path, it enters the next loop with the states behind the
//! exit. Otherwise the entry is safe, and edges of earlier loops to it stop being exits.
//!
//! ```text
//! for n = 0, 1, ..
//!     forget what is blocked
//!     for each loop whose facts are not settled
//!         enter it with its facts
//!         while a loop is entered, the last one with entry E:
//!             reach(n, E, exits):  a query: unsafe
//!                                  an edge: enter the loop behind it with the states that it leads to
//!             otherwise:           find_invariant: the loop is safe there; or E is blocked. Leave the loop
//!     all facts are settled: safe
//! ```
//!
//! In each round all loops make at most `2^(n+1)` steps, so no loop starves the others. *Blocked* states are safe for
//! that many steps and are forgotten after the round, while invariants (*safe*) stay.
//!
//! **Invariants.**
//! - N1: an entry consists of reachable states: by the facts, or by an edge from states that the previous entry
//!   reaches.
//! - N2: a safe set of a loop is closed under its transitions, its edges lead only to safe sets of other loops, and it
//!   satisfies no query.
//! - N3: no path with at most `2^(n+1)` steps in each loop leads from a blocked state of round `n` to a query.
//!
//! **Why the answer is right.** If a query is reached, the entered loops form a path through the graph, by N1 and S1.
//! If all facts are settled, they are in safe sets; then the disjunctions of these are a model, by N2.
//!
//! *Blocked states* are a superset of the entry: an interpolant of the entry and the abstract paths to the exits. This
//! keeps the number of entries small, since the loop before can often lead to infinitely many states. For the same reason
//! the search for an invariant first takes the interpolant as initial states, and the entry only if that fails.
//!
//! **Where it comes from.** Chains of transition systems are a part of Golem (M. Blicha's thesis, Section 5.6), where
//! each query of a loop is unbounded. Bounds by rounds, graphs other than chains, and interpolants for blocked states
//! are ours.

use shofar_horn::graph::{Edge, EdgeId, NodeId, rename};
use shofar_horn::{HornGraph, TransitionSystem};
use shofar_logic::{Term, Value};
use shofar_run::Stop;

use super::powers::Level;
use super::summaries::SummaryId;
use super::{Options, Search, Statistics};
use crate::Run;
use crate::unroll::value;

/// The result of the search.
pub(super) enum Found {
    /// States from a fact to a query.
    Path(Path),
    /// Formulas for all nodes.
    Model(Vec<Term>),
}

/// Successive states, each with its node.
type Path = Vec<(NodeId, Box<[Value]>)>;

/// The state of a run.
pub(super) struct Network<'a> {
    run: &'a Run<'a>,
    graph: &'a HornGraph,
    /// Indexed by node.
    loops: Vec<Loop<'a>>,
    levels: u64,
    entries: u64,
    entries_safe: u64,
}

/// A node with its self-loops.
struct Loop<'a> {
    search: Search<'a>,
    /// The states of the facts.
    facts: Term,
    /// Whether a safe set contains the facts.
    is_settled: bool,
    /// Queries first.
    exits: Vec<Exit>,
    /// Safe sets (N2), over the first state.
    safe: Vec<Term>,
    /// Blocked sets (N3), over the first state.
    blocked: Vec<Term>,
}

/// The edges of a node.
#[derive(Default)]
struct Parts {
    facts: Vec<Term>,
    transitions: Vec<Term>,
    exits: Vec<Exit>,
}

/// A way out of a loop.
struct Exit {
    target: Option<NodeId>,
    /// Over the last state of this loop, the first state of the other one, and local variables.
    label: Term,
}

/// A loop on the current path.
struct Visit {
    node: NodeId,
    /// Conjuncts over the first state (N1).
    entry: Vec<Term>,
    /// The summary of the path through the loop, and the exit.
    through: Option<(SummaryId, usize)>,
}

impl<'a> Network<'a> {
    /// The network of a graph.
    pub(super) fn new(graph: &'a HornGraph, run: &'a Run<'a>, options: &'a Options) -> Self {
        let store = run.store;
        let mut parts: Vec<Parts> = graph.nodes().map(|_| Parts::default()).collect();
        for (id, edge) in graph.edges() {
            match (edge.sources().first(), edge.target()) {
                (Some(source), Some(target)) if *source == target => {
                    parts[target.index()].transitions.push(edge.label());
                }
                (Some(source), target) => {
                    let label = between_loops(run, graph, id);
                    parts[source.index()].exits.push(Exit { target, label });
                }
                (None, Some(target)) => parts[target.index()].facts.push(between_loops(run, graph, id)),
                (None, None) => {}
            }
        }
        let loops = parts.into_iter().zip(graph.nodes()).map(|(parts, (_, node))| {
            let Parts { facts, transitions, mut exits } = parts;
            exits.sort_by_key(|exit| exit.target.is_some());
            let system = TransitionSystem {
                state: node.variables().into(),
                next: node.next().into(),
                init: Term::FALSE,
                transition: store.or(&transitions),
                bad: Term::FALSE,
            };
            let facts = store.or(&facts);
            Loop {
                search: Search::new(system, run, options),
                facts,
                is_settled: facts == Term::FALSE,
                exits,
                safe: Vec::new(),
                blocked: Vec::new(),
            }
        });
        Network { run, graph, loops: loops.collect(), levels: 0, entries: 0, entries_safe: 0 }
    }

    pub(super) fn solve(&mut self) -> Result<Found, Stop> {
        if self.has_contradiction()? {
            return Ok(Found::Path(Vec::new()));
        }
        for level in 0.. {
            self.loops.iter_mut().for_each(|at| at.blocked.clear());
            for index in 0..self.loops.len() {
                if !self.loops[index].is_settled
                    && let Some(path) = self.explore(NodeId::new(index), level)?
                {
                    return Ok(Found::Path(path));
                }
            }
            if self.loops.iter().all(|at| at.is_settled) {
                return Ok(Found::Model(self.loops.iter().map(|at| self.run.store.or(&at.safe)).collect()));
            }
            self.levels += 1;
            let (depth, counters) = (level as u64, self.counters());
            self.run.tell_progress(depth, counters);
        }
        Err(Stop::Exhausted("paths of all lengths"))
    }

    /// Whether a query without predicates holds.
    fn has_contradiction(&self) -> Result<bool, Stop> {
        let mut solver = self.run.solver();
        let is_closed = |edge: &Edge| edge.sources().is_empty() && edge.target().is_none();
        let labels = self.graph.edges().filter(|(_, edge)| is_closed(edge)).map(|(_, edge)| edge.label());
        let any = self.run.store.or_of(labels);
        Ok(any != Term::FALSE && self.run.is_satisfiable(&mut solver, &[any])?)
    }

    /// Searches for a path from the facts of a loop to a query, with paths through loops up to a level.
    fn explore(&mut self, node: NodeId, level: Level) -> Result<Option<Path>, Stop> {
        let facts = vec![self.loops[node.index()].facts];
        let mut visits = vec![Visit { node, entry: facts, through: None }];
        while let Some(visit) = visits.last_mut() {
            let node = visit.node;
            let exits = self.exits(node);
            let search = &mut self.loops[node.index()].search;
            search.pose(&visit.entry, exits);
            match search.reach_within(level)? {
                Some(reached) => {
                    let (exit, entry) = self.leave(node, &reached.states)?;
                    visit.through = Some((reached.summary, exit));
                    match self.loops[node.index()].exits[exit].target {
                        None => return Ok(Some(self.path(&visits)?)),
                        Some(node) => visits.push(Visit { node, entry, through: None }),
                    }
                }
                None => {
                    let is_first = visits.len() == 1;
                    visits.pop();
                    self.close(node, level, is_first)?;
                }
            }
        }
        Ok(None)
    }

    /// The exits of a loop that lead to states neither safe nor blocked, as a formula over its last state.
    fn exits(&self, node: NodeId) -> Term {
        let store = self.run.store;
        let exits = &self.loops[node.index()].exits;
        store.or_of(exits.iter().map(|exit| store.and2(exit.label, self.is_open(exit))))
    }

    /// The formula that an exit leads to a state neither safe nor blocked.
    fn is_open(&self, exit: &Exit) -> Term {
        let store = self.run.store;
        exit.target.map_or(Term::TRUE, |node| {
            let Loop { safe, blocked, .. } = &self.loops[node.index()];
            store.not(store.or_of(safe.iter().chain(blocked).copied()))
        })
    }

    /// The first exit that some of these last states have, and the states behind it.
    fn leave(&mut self, node: NodeId, states: &[Term]) -> Result<(usize, Vec<Term>), Stop> {
        let exits = &self.loops[node.index()].exits;
        let open: Vec<[Term; 2]> = exits.iter().map(|exit| [exit.label, self.is_open(exit)]).collect();
        let targets: Vec<Option<NodeId>> = exits.iter().map(|exit| exit.target).collect();
        let search = &mut self.loops[node.index()].search;
        for (exit, open) in open.into_iter().enumerate() {
            let formulas = [states, &open].concat();
            let Some(model) = search.solve_together(&formulas)? else { continue };
            let Some(target) = targets[exit] else { return Ok((exit, Vec::new())) };
            let formulas = [states, &open[..1]].concat();
            let mut gone = self.run.store.free_vars(&formulas);
            gone.retain(|variable| !self.graph.node(target).variables().contains(variable));
            return Ok((exit, search.project(&formulas, &model, &gone)?));
        }
        Err(Stop::Internal("a loop is left by no exit".to_owned()))
    }

    /// After no exit was reached from the entry of a loop: adds an invariant, or blocked states.
    fn close(&mut self, node: NodeId, level: Level, is_first: bool) -> Result<(), Stop> {
        self.entries += 1;
        let exits = &self.loops[node.index()].exits;
        let mut behind = exits.iter().filter_map(|exit| exit.target);
        let is_provable = behind.all(|node| self.loops[node.index()].blocked.is_empty());
        let at = &mut self.loops[node.index()];
        let (entry, bad) = (at.search.init.clone(), at.search.bad);
        let wide = if is_first { None } else { Some(at.search.safe_initial_states(level)?) };
        if is_provable {
            if let Some(wide) = wide {
                at.search.pose(&[wide], bad);
                at.search.reach_at(level)?;
                if let Some(invariant) = at.search.find_invariant(level + 1)? {
                    at.safe.push(invariant);
                    self.entries_safe += 1;
                    return Ok(());
                }
                at.search.pose(&entry, bad);
            }
            if let Some(invariant) = at.search.find_invariant(level + 1)? {
                at.safe.push(invariant);
                at.is_settled |= is_first;
                self.entries_safe += 1;
                return Ok(());
            }
        }
        at.blocked.extend(wide);
        Ok(())
    }

    /// The states of a path through the visited loops, up to a query.
    fn path(&mut self, visits: &[Visit]) -> Result<Path, Stop> {
        let store = self.run.store;
        let mut formulas: Vec<Term> = visits.first().map_or(Vec::new(), |visit| visit.entry.clone());
        let mut variables: Vec<Term> = Vec::new();
        for visit in visits {
            let Some((summary, exit)) = visit.through else { continue };
            let Loop { search, exits, .. } = &self.loops[visit.node.index()];
            formulas.extend_from_slice(&search.summaries.get(summary).literals);
            formulas.push(exits[exit].label);
            variables.extend(search.system.state.iter().chain(&search.system.next));
        }
        let mut solver = self.run.solver();
        self.run.assert(&mut solver, &formulas)?;
        if !self.run.is_satisfiable(&mut solver, &[])? {
            return Err(Stop::Internal("paths through loops do not meet".to_owned()));
        }
        let model = solver.model(&[formulas, variables].concat());
        let mut path = Vec::new();
        for visit in visits {
            let Some((summary, _)) = visit.through else { continue };
            let search = &mut self.loops[visit.node.index()].search;
            let values = |variables: &[Term]| -> Box<[Value]> {
                variables.iter().map(|&variable| value(store, &model, variable)).collect()
            };
            let (first, last) = (values(&search.system.state), values(&search.system.next));
            path.extend(search.path(summary, first, last)?.into_iter().map(|state| (visit.node, state)));
        }
        Ok(path)
    }

    /// The counters, summed over all loops.
    pub(super) fn counters(&self) -> Vec<(&'static str, u64)> {
        let sum = |count: fn(&Statistics) -> u64| {
            self.loops.iter().map(|at| count(&at.search.statistics)).sum::<u64>()
        };
        vec![
            ("loops", self.loops.len() as u64),
            ("levels", self.levels),
            ("entries", self.entries),
            ("entries.safe", self.entries_safe),
            ("queries", sum(|statistics| statistics.queries)),
            ("interpolants", sum(|statistics| statistics.lemmas)),
            ("interpolants.without-proof", sum(|statistics| statistics.fallbacks)),
            ("summaries", self.loops.iter().map(|at| at.search.summaries.len() as u64).sum()),
            ("summaries.recalled", sum(|statistics| statistics.recalled)),
            ("projections", sum(|statistics| statistics.projections)),
            ("fixpoints", sum(|statistics| statistics.fixpoints)),
            ("fixpoints.queries", sum(|statistics| statistics.fixpoint_queries)),
            ("solver.queries", self.loops.iter().map(|at| at.search.solver_queries()).sum()),
        ]
    }
}

/// The label of an edge, renamed to lead from the last state of one loop to the first state of the next.
fn between_loops(run: &Run<'_>, graph: &HornGraph, id: EdgeId) -> Term {
    let edge = graph.edge(id);
    let (mut from, mut to) = (Vec::new(), Vec::new());
    if let [source] = edge.sources() {
        from.extend_from_slice(graph.node(*source).variables());
        to.extend_from_slice(graph.node(*source).next());
    }
    if let Some(target) = edge.target() {
        from.extend_from_slice(graph.node(target).next());
        to.extend_from_slice(graph.node(target).variables());
    }
    rename(run.store, edge.label(), &from, &to)
}
