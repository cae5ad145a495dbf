//! Lazy abstraction with interpolants (Impact), for all linear systems.
//!
//! **What it decides.** Linear systems over the theories that the solver interpolates, without conversion: predicates
//! are the locations of a program and clauses its steps. Nonlinear systems are rejected.
//!
//! **The idea.** The clauses are unwound to a tree, starting with the facts. Each vertex has a label, which holds for
//! every fact derived along its path. All labels start as true. When a path ends with a query, its constraints are
//! checked. If the path is infeasible, its interpolants become labels; otherwise it is a counterexample. An older
//! vertex of the same predicate with a weaker label *covers* a vertex; covered vertices are not unwound further. When
//! all leaves are covered, the labels of the uncovered vertices are a model.
//!
//! ```text
//! while a leaf v is open
//!     conjoin what others have proved to all labels
//!     close all vertices above v, from the root on
//!     unwind from v, depth first:
//!         close v; covered: done
//!         v is after a query: refine v, close what was strengthened
//!         expand v: a child for each clause, queries first
//! close v      let an older vertex cover v, if labels permit; otherwise force v
//! refine v     interpolants of the path from the root to v; a model of it is a derivation
//! force v      interpolants of the path from a vertex above to v, against the label of an older vertex
//! ```
//!
//! **Invariants.** U1 to U3 are in `tree.rs`. New labels keep U1, since each interpolant of a sequence follows from the
//! previous one and the constraint between, and is conjoined to the old label. So does a closed set of another engine
//! (`exchange/`): it becomes a part of the labels of all vertices at once, old and new, and is inductive. As vertices of one
//! predicate get the same formulas, U2 stays.
//!
//! **Why the answer is right.** In the end no vertex is open (U3). The formula of a predicate is the disjunction of the
//! labels of its uncovered vertices. A clause leads from such a vertex to a child (U1), whose label is a disjunct or
//! implies that of the vertex that covers it (U2). Vertices after queries have the label false.
//!
//! **Where it comes from.** K. McMillan, "Lazy abstraction with interpolants" (CAV 2006), in Golem's form for Horn
//! clauses. **Where we differ.** A false label ends a branch without a cover. Every few rounds the oldest open leaf is
//! unwound, so that no branch is followed for ever. Interpolants of refinements may speak of templates (`../interpolation_abstraction`);
//! they are a chain as well, which is all that U1 needs.

mod tree;

use std::time::Instant;

use shofar_horn::HornGraph;
use shofar_horn::graph::{EdgeId, rename};
use shofar_horn::transform::Lemma;
use shofar_horn::witness::{Derivation, GraphModel, GraphStep};
use shofar_logic::{Term, TermStore, Value};
use shofar_run::Stop;

use crate::exchange::{Fact, Fate, strengthened};
use crate::implication::Implications;
use crate::interpolation_abstraction::Templates;
use crate::option::options;
use crate::separation::{InterpolationMethod, Parts};
use crate::unroll::{Template, fresh_vector, value};
use crate::{Engine, EngineOption, Evidence, Run};
use tree::{Location, Tree, Vertex, VertexId};

options! {
    /// Weaker labels cover more.
    interpolation: InterpolationMethod = InterpolationMethod::DualFarkas, "interpolation": "how interpolants are made";
    forced_covers: usize = 1,
        "forced-covers": "older vertices by which a new one is tried to be covered by force" in 0..=1_000_000;
    templates: u64 = 0,
        "templates": "in each n-th refinement interpolants speak of sums that loops preserve where they can, never if 0"
        in 0..=1_000_000;
    oldest_every: u64 = 8,
        "oldest-every": "once in so many times the oldest leaf is unwound, never if 0" in 0..=1_000_000;
}

/// The LAWI engine.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Lawi {
    /// The options of the engine.
    pub options: Options,
}

impl Engine for Lawi {
    fn name(&self) -> &'static str {
        "lawi"
    }

    fn description(&self) -> &'static str {
        "lazy abstraction with interpolants (Impact); linear systems"
    }

    fn options(&mut self) -> Vec<EngineOption<'_>> {
        self.options.list()
    }

    fn solve(&self, graph: &HornGraph, run: &Run<'_>) -> Result<Evidence, Stop> {
        let start = Instant::now();
        let graph = strengthened(run, graph);
        let mut unwinding = Unwinding::new(&graph, run, self.options)?;
        let answer = unwinding.solve();
        run.tell_statistics(unwinding.counters(), start);
        answer
    }
}

/// The counters.
#[derive(Clone, Copy, Default, Debug)]
struct Statistics {
    rounds: u64,
    refinements: u64,
    covers: u64,
    force_attempts: u64,
    forced: u64,
    /// The length of the longest refined path.
    depth: u64,
    interpolants: u64,
    /// The refinements whose interpolants speak of templates.
    abstractions: u64,
    /// The closed sets of others.
    learnt: u64,
}

/// The state of a run.
struct Unwinding<'a> {
    // The problem.
    store: &'a TermStore,
    graph: &'a HornGraph,
    run: &'a Run<'a>,
    options: Options,
    /// Indexed by predicate: the clauses with it in the body, queries first. The last entry has the facts.
    outgoing: Vec<Vec<EdgeId>>,
    /// Indexed by clause.
    labels: Vec<Template>,
    /// What interpolants may speak of, if that is restricted.
    templates: Option<Templates>,

    // Known.
    tree: Tree,
    /// Indexed by predicate: the closed formulas that have come since the start.
    closed: Vec<Vec<Term>>,
    implications: Implications<'a>,

    statistics: Statistics,
}

impl<'a> Unwinding<'a> {
    fn new(graph: &'a HornGraph, run: &'a Run<'a>, options: Options) -> Result<Self, Stop> {
        let store = run.store;
        let (mut outgoing, facts) = graph.outgoing();
        outgoing.push(facts);
        for edges in &mut outgoing {
            edges.sort_by_key(|&edge| graph.edge(edge).target().is_some());
        }
        let templates = if options.templates > 0 { Some(Templates::of_graph(run, graph)?) } else { None };
        Ok(Unwinding {
            store,
            graph,
            run,
            options,
            outgoing,
            templates,
            labels: graph.edges().map(|(id, _)| Template::of_edge(store, graph, id)).collect(),
            tree: Tree::new(graph.nodes().len()),
            closed: vec![Vec::new(); graph.nodes().len()],
            implications: Implications::new(run),
            statistics: Statistics::default(),
        })
    }

    fn solve(&mut self) -> Result<Evidence, Stop> {
        while let Some(leaf) = self.next_leaf() {
            self.learn();
            for above in self.tree.path(Tree::ROOT, leaf) {
                self.close(above)?;
            }
            if let Some(derivation) = self.unwind(leaf)? {
                return Ok(Evidence::Unsat(derivation));
            }
            self.statistics.rounds += 1;
            let (depth, counters) = (self.tree.len() as u64, self.counters());
            self.run.tell_progress(depth, counters);
        }
        Ok(Evidence::Sat(self.model()))
    }

    /// Conjoins the closed sets that others have found to all labels.
    fn learn(&mut self) {
        let Some(port) = self.run.port() else { return };
        for (id, fact) in port.receive() {
            let Fact::Closed(set) = fact else { continue };
            port.rate(id, Fate::Accepted);
            self.statistics.learnt += 1;
            for lemma in set {
                self.closed[lemma.node.index()].push(lemma.formula);
                for vertex in self.tree.at(lemma.node).to_vec() {
                    let Vertex { label, example, .. } = &mut self.tree[vertex];
                    let is_known = label.contains(&lemma.formula) || label.contains(&Term::FALSE);
                    if !is_known {
                        label.push(lemma.formula);
                        example.take_if(|example| {
                            self.store.eval(lemma.formula, example) != Ok(Value::Bool(true))
                        });
                    }
                }
            }
        }
    }

    fn next_leaf(&self) -> Option<VertexId> {
        let every = self.options.oldest_every;
        self.tree.next_open(every > 0 && self.statistics.rounds % every == every - 1)
    }

    /// Unwinds the tree below a leaf, until all vertices there are covered or a derivation is found.
    fn unwind(&mut self, leaf: VertexId) -> Result<Option<Derivation>, Stop> {
        let mut stack = vec![leaf];
        while let Some(vertex) = stack.pop() {
            self.run.go_on()?;
            if self.tree[vertex].location == Location::Error {
                // If it is covered from above, it opens again with the vertex above.
                if !self.tree.is_open(vertex) {
                    continue;
                }
                if let Some(derivation) = self.refine(vertex)? {
                    return Ok(Some(derivation));
                }
                continue;
            }
            self.close(vertex)?;
            if self.tree.is_open(vertex) {
                let children = self.expand(vertex)?;
                stack.extend(children.into_iter().rev());
            }
        }
        Ok(None)
    }

    /// Adds a child for each clause with the predicate of the vertex in its body.
    fn expand(&mut self, vertex: VertexId) -> Result<Vec<VertexId>, Stop> {
        let edges = match self.tree[vertex].location {
            Location::Root => self.outgoing.last(),
            Location::Node(node) => self.outgoing.get(node.index()),
            Location::Error => None,
        };
        let edges = edges.cloned().unwrap_or_default();
        self.tree.set_expanded(vertex);
        let mut children = Vec::with_capacity(edges.len());
        for edge in edges {
            let location = self.graph.edge(edge).target().map_or(Location::Error, Location::Node);
            let child = self.tree.add(location, Some((vertex, edge)));
            if let Location::Node(node) = location {
                self.tree[child].label.clone_from(&self.closed[node.index()]);
            }
            children.push(child);
        }
        Ok(children)
    }

    /// Lets an older vertex with a weaker label cover this one, by force if the vertex is still open.
    fn close(&mut self, vertex: VertexId) -> Result<(), Stop> {
        if self.tree.is_covered(vertex) || self.tree.is_dead(vertex) {
            return Ok(());
        }
        let candidates: Vec<VertexId> = self.tree.older(vertex).collect();
        for older in candidates {
            if !self.tree.is_covered(older) && self.implies(vertex, older)? {
                self.statistics.covers += 1;
                self.tree.cover(vertex, older);
                return Ok(());
            }
        }
        if self.tree.is_open(vertex) { self.force(vertex) } else { Ok(()) }
    }

    /// Whether the label of a vertex implies that of another vertex of the same predicate.
    fn implies(&mut self, vertex: VertexId, other: VertexId) -> Result<bool, Stop> {
        let mut example = self.tree[vertex].example.take();
        let mut implies = true;
        for &conclusion in &self.tree[other].label {
            let premises = &self.tree[vertex].label;
            if !self.implications.holds(self.run, premises, conclusion, &mut example)? {
                implies = false;
                break;
            }
        }
        self.tree[vertex].example = example;
        Ok(implies)
    }

    /// Tries to strengthen the labels between a vertex and an ancestor such that an older vertex covers it.
    fn force(&mut self, vertex: VertexId) -> Result<(), Stop> {
        let tree = &self.tree;
        let candidates = tree.older(vertex).filter(|&older| !tree.is_covered(older) && !tree.is_dead(older));
        let candidates: Vec<VertexId> = candidates.take(self.options.forced_covers).collect();
        for older in candidates {
            self.statistics.force_attempts += 1;
            let from = self.tree.common_ancestor(vertex, older);
            let path = self.tree.path(from, vertex);
            let mut parts = self.constraints(from, &path);
            let label = self.store.and(&self.tree[older].label);
            parts.push(vec![self.store.not(self.at_copy(vertex, label))]);
            if let Some(first) = parts.first_mut() {
                let start = self.store.and(&self.tree[from].label);
                first.push(self.at_copy(from, start));
            }
            let mut parts = Parts::new(self.run, parts)?;
            if parts.is_satisfiable()? {
                continue;
            }
            let interpolants = match parts.sequence(self.options.interpolation) {
                Ok(interpolants) => interpolants,
                // Without interpolants the cover cannot be forced.
                Err(Stop::Exhausted(_)) => continue,
                Err(stop) => return Err(stop),
            };
            self.statistics.interpolants += interpolants.len() as u64;
            for (&below, interpolant) in path.iter().zip(interpolants) {
                let interpolant = self.without_copy(below, interpolant);
                self.strengthen(below, interpolant)?;
            }
            if !self.tree.is_covered(vertex) && !self.tree.is_covered(older) && self.implies(vertex, older)? {
                self.statistics.forced += 1;
                self.statistics.covers += 1;
                self.tree.cover(vertex, older);
                return Ok(());
            }
        }
        Ok(())
    }

    /// Makes the label of a vertex after a query false, by interpolants along its path. If the path is feasible,
    /// returns it as a derivation.
    fn refine(&mut self, error: VertexId) -> Result<Option<Derivation>, Stop> {
        self.statistics.refinements += 1;
        let path = self.tree.path(Tree::ROOT, error);
        let constraints = self.constraints(Tree::ROOT, &path);
        let mut parts = Parts::new(self.run, constraints.clone())?;
        if parts.is_satisfiable()? {
            return Ok(Some(self.derivation(&path, &parts)));
        }
        let interpolants = match self.abstract_interpolants(&path, constraints)? {
            Some(interpolants) => interpolants,
            None => parts.sequence(self.options.interpolation)?,
        };
        self.statistics.depth = self.statistics.depth.max(path.len() as u64);
        self.statistics.interpolants += interpolants.len() as u64;
        let mut strengthened = Vec::new();
        for (&vertex, interpolant) in path.iter().zip(interpolants) {
            let interpolant = self.without_copy(vertex, interpolant);
            if self.strengthen(vertex, interpolant)? {
                strengthened.push(vertex);
                self.send(vertex, interpolant);
            }
        }
        self.tree[error].label = vec![Term::FALSE];
        self.tree.strengthened(error);
        strengthened.into_iter().try_for_each(|vertex| self.close(vertex))?;
        Ok(None)
    }

    /// Interpolants of an infeasible path about templates, if it is their turn and there are any.
    fn abstract_interpolants(
        &mut self,
        path: &[VertexId],
        constraints: Vec<Vec<Term>>,
    ) -> Result<Option<Vec<Term>>, Stop> {
        let Some(templates) = &self.templates else { return Ok(None) };
        if !self.statistics.refinements.is_multiple_of(self.options.templates) {
            return Ok(None);
        }
        let cut = |vertex: &VertexId| match (&self.tree[*vertex].location, &self.tree[*vertex].copy) {
            (Location::Node(node), Some((copy, _))) => Some((node.index(), &**copy)),
            _ => None,
        };
        let cuts: Vec<_> = path[..path.len() - 1].iter().map(cut).collect();
        let found = templates.sequence(self.run, constraints, &cuts, self.options.interpolation.options())?;
        self.statistics.abstractions += u64::from(found.is_some());
        Ok(found)
    }

    /// Tells others of an interpolant. It holds on its path only, so it is no more than worth trying.
    fn send(&self, vertex: VertexId, interpolant: Term) {
        let Some(port) = self.run.port() else { return };
        if let Location::Node(node) = self.tree[vertex].location {
            let conjuncts = self.store.conjuncts(interpolant);
            conjuncts.for_each(|formula| port.send(Fact::Atom(Lemma { node, formula })));
        }
    }

    /// Conjoins a formula to the label of a vertex. Returns whether the label became stronger.
    fn strengthen(&mut self, vertex: VertexId, formula: Term) -> Result<bool, Stop> {
        tracing::debug!(?vertex, formula = %self.store.display(formula), "strengthen");
        let mut is_stronger = false;
        for conjunct in self.store.conjuncts(formula) {
            let mut example = self.tree[vertex].example.take();
            let label = &self.tree[vertex].label;
            if self.implications.holds(self.run, label, conjunct, &mut example)? {
                self.tree[vertex].example = example;
            } else {
                // The example refutes the conjunct, so it is not an example of the new label.
                self.tree[vertex].label.push(conjunct);
                is_stronger = true;
            }
        }
        if is_stronger {
            self.tree.strengthened(vertex);
        }
        Ok(is_stronger)
    }

    /// The constraints along a path below a vertex, one part for each.
    fn constraints(&mut self, from: VertexId, path: &[VertexId]) -> Vec<Vec<Term>> {
        let mut before = from;
        let mut constraints = Vec::with_capacity(path.len());
        for &vertex in path {
            self.ensure_copy(before);
            self.ensure_copy(vertex);
            constraints.push(self.tree[vertex].copy.iter().map(|&(_, constraint)| constraint).collect());
            before = vertex;
        }
        constraints
    }

    /// Creates the path variables of a vertex and of all vertices above it.
    fn ensure_copy(&mut self, vertex: VertexId) {
        if self.tree[vertex].copy.is_some() {
            return;
        }
        // Top down, as the constraint needs the variables of the vertex above.
        let path = self.tree.path(Tree::ROOT, vertex);
        for vertex in path {
            if self.tree[vertex].copy.is_some() {
                continue;
            }
            let Some((above, edge)) = self.tree[vertex].above else { continue };
            let variables: Box<[Term]> = match self.tree[vertex].location {
                Location::Node(node) => fresh_vector(self.store, self.graph.node(node).variables(), "p"),
                Location::Root | Location::Error => Box::default(),
            };
            let source: &[Term] = match self.graph.edge(edge).sources() {
                [] => &[],
                _ => self.graph.source_variables(edge, 0),
            };
            let before: &[Term] = self.tree[above].copy.as_ref().map_or(&[], |(variables, _)| variables);
            let vectors = [(source, before), (self.graph.target_variables(edge), &variables[..])];
            let constraint = self.labels[edge.index()].copy(self.store, &vectors);
            self.tree[vertex].copy = Some((variables, constraint));
        }
    }

    /// Renames a formula over the predicate's variables to the path variables of the vertex.
    fn at_copy(&self, vertex: VertexId, formula: Term) -> Term {
        match (self.tree[vertex].location, &self.tree[vertex].copy) {
            (Location::Node(node), Some((copy, _))) => {
                rename(self.store, formula, self.graph.node(node).variables(), copy)
            }
            _ => formula,
        }
    }

    /// The inverse of [`at_copy`](Self::at_copy).
    fn without_copy(&self, vertex: VertexId, formula: Term) -> Term {
        match (self.tree[vertex].location, &self.tree[vertex].copy) {
            (Location::Node(node), Some((copy, _))) => {
                rename(self.store, formula, copy, self.graph.node(node).variables())
            }
            _ => formula,
        }
    }

    // ---- witnesses ---------------------------------------------------------------------------------------

    /// The model of a path as a derivation: each vertex is derived from the previous one.
    fn derivation(&self, path: &[VertexId], parts: &Parts<'_>) -> Derivation {
        let copies = path.iter().filter_map(|&vertex| self.tree[vertex].copy.as_ref());
        let variables: Vec<Term> = copies.flat_map(|(variables, _)| variables.iter().copied()).collect();
        let model = parts.solver.model(&variables);
        let mut steps: Vec<GraphStep> = Vec::with_capacity(path.len());
        for &vertex in path {
            let Vertex { above: Some((_, edge)), copy: Some((variables, _)), .. } = &self.tree[vertex] else {
                continue;
            };
            let fact = variables.iter().map(|&variable| value(self.store, &model, variable)).collect();
            let premises = steps.len().checked_sub(1).into_iter().collect();
            steps.push(GraphStep { edge: *edge, premises, fact });
        }
        Derivation { steps }
    }

    /// The disjunction of the uncovered vertices' labels, for each predicate.
    fn model(&self) -> GraphModel {
        let label = |vertex: VertexId| self.store.and(&self.tree[vertex].label);
        let nodes = self.graph.nodes();
        GraphModel::of_formulas(nodes.map(|(node, _)| self.store.or_of(self.tree.uncovered(node).map(label))))
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let Statistics {
            rounds,
            refinements,
            covers,
            force_attempts,
            forced,
            depth,
            interpolants,
            abstractions,
            learnt,
        } = self.statistics;
        vec![
            ("rounds", rounds),
            ("depth", depth),
            ("vertices", self.tree.len() as u64),
            ("refinements", refinements),
            ("covers", covers),
            ("force.attempts", force_attempts),
            ("force.successes", forced),
            ("interpolants", interpolants),
            ("abstractions", abstractions),
            ("learnt", learnt),
            ("implications", self.implications.queries),
            ("solver.queries", self.implications.queries + refinements + force_attempts),
        ]
    }
}
