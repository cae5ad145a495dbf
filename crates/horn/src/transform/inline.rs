//! Resolves non-recursive predicates away.
//!
//! A predicate `Q` without a self-loop is removed. Each of its definitions replaces each of its uses in a body:
//!
//! ```text
//! P(x), L(x, y) -> Q(y)
//! Q(y), Q(z), M(y, z, w) -> R(w)       P(x), P(u), L(x, y), L(u, z), M(y, z, w) -> R(w)
//! ```
//!
//! A predicate that occurs several times in a body is resolved once per occurrence, and the locals of a clause are
//! renamed for each use. When nothing is left to remove, every cycle of the graph contains a self-loop.
//!
//! ```text
//! while there is a predicate that it pays to eliminate, the cheapest first
//!     resolve all its uses with all its definitions
//!     look at its neighbours again
//! ```
//!
//! *Cost.* As in the elimination of variables from propositional clauses, the number of clauses must not grow, so a
//! predicate with one definition or one use always qualifies. Bodies must not become longer than the existing ones,
//! labels not larger than a bound, and the whole system not much larger than before. The elimination with the smallest
//! new labels comes first; so long paths are joined like a balanced tree, and no label is copied often.
//!
//! *Models.* From the last removed predicate to the first: with the formulas `I` of its neighbours, `Q` gets an
//! interpolant of
//!
//! ```text
//! A(y)   some definition derives it        I(P(x)), L(x, y)  or ...
//! B(y)   some use of it fails              I(S(v)), M(y, v, w), not I(R(w))  or ...
//! ```
//!
//! A clause with several uses `y, z` contradicts `A(y), A(z)` together. Its uses are interpolated in turn, each against
//! the clause with the interpolants of the previous uses and `A` for the following ones. Each interpolant follows from
//! `A`, and so does the conjunction of all, which contradicts every clause. Only the edges at `Q` matter.
//!
//! If a neighbour's formula is about all elements of arrays, `Q` gets the weakest formula for its uses (`weakest.rs`).
//!
//! *Derivations.* A step becomes one for each definition and one for the use (`expand.rs`). A step by a hyperedge
//! stands for a tree, in which definitions are copied. Its size is bounded, since it may double while labels stay
//! small. A step by linear clauses stands for a path, which passes through each removed predicate at most once.
//!
//! Node contraction of Blicha, "Automated software verification by Horn clauses" (PhD thesis, 2023), Section 5.2,
//! extended to nonlinear clauses; the measure is that of Eén & Biere, "Effective preprocessing in SAT through variable
//! and clause elimination" (SAT 2005).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::{Substitution, Term, TermStore};
use shofar_run::Stop;

use crate::Context;
use crate::graph::{EdgeId, HornGraph, NodeId, rename};
use crate::transform::expand::{Joint, JointStep, Premise, expand};
use crate::transform::simplify::simplified;
use crate::transform::working::{Kept, label_size};
use crate::transform::{Image, Lemma, Transformation, Transformed, Translation, removed, weakest};
use crate::witness::{Derivation, GraphModel};

/// The maximal number of definitions and uses of a predicate to eliminate.
const MAX_DEGREE: usize = 256;

/// The maximal size of a new label.
const MAX_SIZE: usize = 10_000;

/// The maximal number of steps that a step by a hyperedge stands for.
const MAX_STEPS: usize = 16;

/// The size by which all labels together may grow; their initial size, if that is larger.
const MIN_GROWTH: usize = 20_000;

/// Eliminates predicates without self-loops.
pub struct Inline;

impl Transformation for Inline {
    fn name(&self) -> &'static str {
        "inline"
    }

    fn apply(&self, context: &Context<'_>, graph: &HornGraph) -> Option<Transformed> {
        let mut inlining = Inlining::new(context, graph);
        while let Some(node) = inlining.cheapest() {
            inlining.eliminate(node);
            if context.interrupted().is_some() {
                break;
            }
        }
        let Inlining { graph, state, is_eliminated, joints, eliminations, .. } = inlining;
        if eliminations.is_empty() {
            return None;
        }
        let is_node_kept: Vec<bool> = is_eliminated.iter().map(|is_eliminated| !is_eliminated).collect();
        let edges = graph.edges().map(|(id, _)| id).filter(|id| state[id.index()].is_alive).collect();
        let kept = Kept::new(&graph, &is_node_kept, edges);
        let transformed = kept.graph(&graph);
        let translation = Inlined { graph, kept, joints, eliminations };
        Some(Transformed { graph: transformed, translation: Box::new(translation) })
    }
}

/// A removed predicate with its edges at that time.
struct Elimination {
    node: NodeId,
    definitions: Vec<EdgeId>,
    uses: Vec<EdgeId>,
}

struct Inlining<'a> {
    context: &'a Context<'a>,
    /// The old graph with all new edges.
    graph: HornGraph,
    /// Indexed by edge.
    state: Vec<EdgeState>,
    /// Indexed by node.
    degrees: Vec<Degrees>,
    is_eliminated: Vec<bool>,
    /// The edges into and out of each node. Dead edges are dropped lazily.
    incoming: Vec<Vec<EdgeId>>,
    outgoing: Vec<Vec<EdgeId>>,
    /// Candidate nodes, by the size that their new labels had at the last computation.
    queue: BinaryHeap<Reverse<(usize, NodeId)>>,
    /// The size by which labels may still grow.
    growth: usize,
    joints: FxHashMap<EdgeId, Joint>,
    eliminations: Vec<Elimination>,
}

struct EdgeState {
    is_alive: bool,
    /// The size of its label.
    size: usize,
    /// The number of steps of the old graph that it stands for.
    steps: usize,
}

/// The numbers of live edges of a node.
#[derive(Clone, Default)]
struct Degrees {
    incoming: usize,
    outgoing: usize,
    loops: usize,
}

impl<'a> Inlining<'a> {
    fn new(context: &'a Context<'a>, graph: &HornGraph) -> Self {
        let nodes = graph.nodes().len();
        let mut inlining = Inlining {
            context,
            graph: graph.clone(),
            state: Vec::with_capacity(graph.edges().len()),
            degrees: vec![Degrees::default(); nodes],
            is_eliminated: vec![false; nodes],
            incoming: vec![Vec::new(); nodes],
            outgoing: vec![Vec::new(); nodes],
            queue: BinaryHeap::new(),
            growth: 0,
            joints: FxHashMap::default(),
            eliminations: Vec::new(),
        };
        for (id, _) in graph.edges() {
            inlining.register(id, 1);
        }
        let size: usize = inlining.state.iter().map(|edge| edge.size).sum();
        inlining.growth = size.max(MIN_GROWTH);
        for (node, _) in graph.nodes() {
            inlining.enqueue(node);
        }
        inlining
    }

    /// Registers the next edge of the graph.
    fn register(&mut self, id: EdgeId, steps: usize) {
        let label = self.graph.edge(id).label();
        let size = label_size(self.context.store, label, MAX_SIZE);
        self.state.push(EdgeState { is_alive: true, size, steps });
        self.count(id, |degree| *degree += 1);
        let edge = self.graph.edge(id);
        if let Some(node) = edge.target() {
            self.incoming[node.index()].push(id);
        }
        for node in edge.sources() {
            let edges = &mut self.outgoing[node.index()];
            if edges.last() != Some(&id) {
                edges.push(id);
            }
        }
    }

    fn remove(&mut self, id: EdgeId) {
        self.state[id.index()].is_alive = false;
        self.count(id, |degree| *degree -= 1);
    }

    fn count(&mut self, id: EdgeId, change: impl Fn(&mut usize)) {
        let edge = self.graph.edge(id);
        if let Some(node) = edge.target() {
            change(&mut self.degrees[node.index()].incoming);
            if edge.sources().contains(&node) {
                change(&mut self.degrees[node.index()].loops);
            }
        }
        for (position, node) in edge.sources().iter().enumerate() {
            if edge.occurrence(position) == 0 {
                change(&mut self.degrees[node.index()].outgoing);
            }
        }
    }

    /// The qualifying node whose elimination makes the smallest labels.
    fn cheapest(&mut self) -> Option<NodeId> {
        while let Some(Reverse((size, node))) = self.queue.pop() {
            match self.cost(node) {
                Some(cost) if cost <= size => return Some(node),
                // Its cost has grown since the last computation.
                Some(cost) => self.queue.push(Reverse((cost, node))),
                None => {}
            }
        }
        None
    }

    fn enqueue(&mut self, node: NodeId) {
        if let Some(cost) = self.cost(node) {
            self.queue.push(Reverse((cost, node)));
        }
    }

    /// The size of the labels that eliminating a node makes; `None` if the node does not qualify.
    fn cost(&mut self, node: NodeId) -> Option<usize> {
        let Degrees { incoming, outgoing, loops } = self.degrees[node.index()];
        if loops > 0 || incoming + outgoing > MAX_DEGREE || self.is_eliminated[node.index()] {
            return None;
        }
        if incoming == 0 || outgoing == 0 {
            return Some(0);
        }
        if incoming * outgoing > incoming + outgoing {
            return None;
        }
        self.drop_dead_edges(node);
        let (definitions, uses) = (&self.incoming[node.index()], &self.outgoing[node.index()]);
        let size_of = |edge: &EdgeId| self.state[edge.index()].size;
        let body_of = |edge: &EdgeId| self.graph.edge(*edge).sources().len();
        let steps_of = |edge: &EdgeId| self.state[edge.index()].steps;
        let largest = |measure: &dyn Fn(&EdgeId) -> usize| definitions.iter().map(measure).max().unwrap_or(0);
        let (longest, most_steps, greatest) = (largest(&body_of), largest(&steps_of), largest(&size_of));
        let all_definitions: usize = definitions.iter().map(size_of).sum();
        let (mut clauses, mut size) = (0_usize, 0_usize);
        for id in uses {
            let body = self.graph.edge(*id).sources();
            let times = body.iter().filter(|&&source| source == node).count();
            let is_long = body.len() - times + times * longest > body.len().max(longest);
            let is_deep = body.len() > 1 && steps_of(id) + times * most_steps > MAX_STEPS;
            if is_long || is_deep || size_of(id) + times * greatest > MAX_SIZE {
                return None;
            }
            // Each definition replaces each use.
            let others = incoming.checked_pow(u32::try_from(times).ok()? - 1)?;
            clauses += others.checked_mul(incoming)?;
            if clauses > incoming + outgoing {
                return None;
            }
            size += others * (incoming * size_of(id) + times * all_definitions);
        }
        let before: usize = all_definitions + uses.iter().map(size_of).sum::<usize>();
        (size <= before + self.growth).then_some(size)
    }

    fn drop_dead_edges(&mut self, node: NodeId) {
        for edges in [&mut self.incoming[node.index()], &mut self.outgoing[node.index()]] {
            edges.retain(|edge| self.state[edge.index()].is_alive);
        }
    }

    /// Replaces all uses of a node by its definitions.
    fn eliminate(&mut self, node: NodeId) {
        self.is_eliminated[node.index()] = true;
        self.drop_dead_edges(node);
        let definitions = std::mem::take(&mut self.incoming[node.index()]);
        let uses = std::mem::take(&mut self.outgoing[node.index()]);
        let size_before = self.size(&definitions) + self.size(&uses);
        let mut neighbours: Vec<NodeId> = Vec::new();
        for &id in definitions.iter().chain(&uses) {
            self.remove(id);
            let edge = self.graph.edge(id);
            neighbours.extend(edge.sources().iter().copied().chain(edge.target()));
        }
        let mut made: Vec<EdgeId> = Vec::new();
        for &used in &uses {
            let times = self.graph.edge(used).sources().iter().filter(|&&source| source == node).count();
            let choices = definitions.len().pow(times as u32);
            for choice in 0..choices {
                // The digits of the number, in base the number of definitions, are the definitions to take.
                let digits = std::iter::successors(Some(choice), |rest| Some(rest / definitions.len()));
                let chosen: Vec<EdgeId> =
                    digits.take(times).map(|rest| definitions[rest % definitions.len()]).collect();
                made.extend(self.resolve(used, node, &chosen));
            }
        }
        let size_after = self.size(&made);
        self.growth = (self.growth + size_before).saturating_sub(size_after);
        self.eliminations.push(Elimination { node, definitions, uses });
        neighbours.sort_unstable();
        neighbours.dedup();
        for neighbour in neighbours {
            self.enqueue(neighbour);
        }
    }

    fn size(&self, edges: &[EdgeId]) -> usize {
        edges.iter().map(|edge| self.state[edge.index()].size).sum()
    }

    /// Adds the resolvent of a use of a node with definitions for its occurrences, unless its label is false.
    fn resolve(&mut self, used: EdgeId, node: NodeId, definitions: &[EdgeId]) -> Option<EdgeId> {
        let store = self.context.store;
        let edge = self.graph.edge(used).clone();
        let mut sources: Vec<NodeId> = Vec::new();
        let mut steps: Vec<JointStep> = Vec::new();
        let mut labels: Vec<Term> = Vec::new();
        let mut premises: Vec<Premise> = Vec::new();
        let mut renaming = Substitution::new();
        let mut definitions = definitions.iter();
        for (position, &source) in edge.sources().iter().enumerate() {
            let definition = if source == node { definitions.next() } else { None };
            let Some(&definition) = definition else {
                premises.push(self.add_source(&mut sources, &mut renaming, used, position));
                continue;
            };
            let middle = fresh(store, self.graph.node(node).variables());
            renaming.extend(pairs(self.graph.source_variables(used, position), &middle));
            let mut renaming: Substitution = pairs(self.graph.node(node).next(), &middle).collect();
            let body = 0..self.graph.edge(definition).sources().len();
            let outer = body
                .map(|position| self.add_source(&mut sources, &mut renaming, definition, position))
                .collect();
            labels.push(self.renamed(definition, renaming));
            premises.push(Premise::Inner(steps.len()));
            steps.push(JointStep { edge: definition, premises: outer, fact: middle });
        }
        labels.push(self.renamed(used, renaming));
        let fact = self.graph.target_variables(used).into();
        steps.push(JointStep { edge: used, premises, fact });
        let label = store.and(&labels);
        let simplified = self.simplified(label, &sources, edge.target());
        if simplified == Term::FALSE {
            return None;
        }
        let number = steps.iter().map(|step| self.state[step.edge.index()].steps).sum();
        let resolvent = self.graph.add_edge(&sources, edge.target(), simplified);
        self.joints.insert(resolvent, Joint { label, steps });
        self.register(resolvent, number);
        Some(resolvent)
    }

    /// Simplifies the label of a new edge. Equations often define the variables in between, and smaller labels reduce
    /// the cost of further eliminations.
    fn simplified(&self, label: Term, sources: &[NodeId], target: Option<NodeId>) -> Term {
        let mut locals: FxHashSet<Term> = self.context.store.free_vars(&[label]).into_iter().collect();
        for (position, &node) in sources.iter().enumerate() {
            let occurrence = sources[..position].iter().filter(|&&source| source == node).count();
            for variable in self.graph.variables_at(node, occurrence) {
                locals.remove(variable);
            }
        }
        for variable in target.map_or(&[][..], |node| self.graph.node(node).next()) {
            locals.remove(variable);
        }
        simplified(self.context.store, label, &locals)
    }

    /// Adds a source of an edge to those of a resolvent.
    fn add_source(
        &mut self,
        sources: &mut Vec<NodeId>,
        renaming: &mut Substitution,
        edge: EdgeId,
        position: usize,
    ) -> Premise {
        let node = self.graph.edge(edge).sources()[position];
        let occurrence = sources.iter().filter(|&&source| source == node).count();
        self.graph.ensure_occurrence(self.context.store, node, occurrence);
        renaming.extend(pairs(
            self.graph.source_variables(edge, position),
            self.graph.variables_at(node, occurrence),
        ));
        sources.push(node);
        Premise::Outer(sources.len() - 1)
    }

    /// The label of an edge under a renaming, with fresh locals.
    fn renamed(&self, edge: EdgeId, mut renaming: Substitution) -> Term {
        let store = self.context.store;
        let locals = self.graph.locals(store, edge);
        renaming.extend(pairs(&locals, &fresh(store, &locals)));
        store.instantiate(self.graph.edge(edge).label(), &renaming)
    }
}

fn pairs(from: &[Term], to: &[Term]) -> impl Iterator<Item = (Term, Term)> {
    from.iter().copied().zip(to.iter().copied())
}

/// Fresh variables with the sorts of the given ones.
fn fresh(store: &TermStore, variables: &[Term]) -> Box<[Term]> {
    variables
        .iter()
        .map(|&variable| store.var(store.fresh_symbol("local"), store.sort_of(variable)))
        .collect()
}

struct Inlined {
    /// The old graph with all new edges.
    graph: HornGraph,
    kept: Kept,
    joints: FxHashMap<EdgeId, Joint>,
    /// In chronological order.
    eliminations: Vec<Elimination>,
}

impl Translation for Inlined {
    fn forward(&self, _: &Context<'_>, lemma: Lemma) -> Image {
        self.kept.forward(lemma)
    }

    fn is_renaming(&self) -> bool {
        false
    }

    fn model_back(&self, context: &Context<'_>, model: GraphModel) -> Result<GraphModel, Stop> {
        let mut model = self.kept.model_back(model);
        for elimination in self.eliminations.iter().rev() {
            let formula = self.formula(context, &model, elimination)?;
            model.interpretations[elimination.node.index()] = formula.into();
        }
        Ok(model)
    }

    fn derivation_back(&self, context: &Context<'_>, derivation: Derivation) -> Result<Derivation, Stop> {
        expand(context, &self.graph, &self.joints, self.kept.derivation_back(derivation))
    }
}

impl Inlined {
    /// A formula for a removed predicate, from those of its neighbours.
    fn formula(
        &self,
        context: &Context<'_>,
        model: &GraphModel,
        elimination: &Elimination,
    ) -> Result<Term, Stop> {
        let (store, graph) = (context.store, &self.graph);
        let Elimination { node, definitions, uses } = elimination;
        let edges: Vec<EdgeId> = definitions.iter().chain(uses).copied().collect();
        if weakest::is_needed(store, graph, model, &edges)? {
            return weakest::formula(context, graph, model, *node, uses);
        }
        let node = *node;
        let variables = graph.node(node).variables();
        let derived = |&definition: &EdgeId| {
            let body = self.body(store, model, definition, None)?;
            Ok(rename(store, body, graph.node(node).next(), variables))
        };
        let derived: Result<Vec<Term>, Stop> = definitions.iter().map(derived).collect();
        let derived = store.or(&derived?);
        let occurrences = |edge: EdgeId| -> Vec<usize> {
            let body = graph.edge(edge).sources().iter().enumerate();
            body.filter(|&(_, &source)| source == node).map(|(position, _)| position).collect()
        };
        let (once, often): (Vec<EdgeId>, Vec<EdgeId>) =
            uses.iter().partition(|&&edge| occurrences(edge).len() == 1);
        let failure = |edge: EdgeId| {
            let body = self.body(store, model, edge, Some(node))?;
            Ok(store.and2(body, store.not(model.at_target(store, graph, edge)?)))
        };
        let failures: Result<Vec<Term>, Stop> = once.into_iter().map(failure).collect();
        let failures = store.or(&failures?);
        let mut conjuncts = vec![removed::between(context, derived, failures, variables)?];
        for edge in often {
            let positions = occurrences(edge);
            let copies = positions.iter().map(|&position| {
                self.copy(store, derived, variables, graph.source_variables(edge, position))
            });
            // The formula for each occurrence: first `A`, then its interpolant.
            let mut known: Vec<Term> = copies.collect();
            let failure = failure(edge)?;
            for (occurrence, &position) in positions.iter().enumerate() {
                let others = known.iter().enumerate().filter(|&(other, _)| other != occurrence);
                let rest = store.and_of(others.map(|(_, &formula)| formula).chain([failure]));
                let shared = graph.source_variables(edge, position);
                let interpolant = removed::between(context, known[occurrence], rest, shared)?;
                known[occurrence] = interpolant;
                conjuncts.push(rename(store, interpolant, shared, variables));
            }
        }
        Ok(store.and(&conjuncts))
    }

    /// The formulas of the body of an edge, except those of the node `without`.
    fn body(
        &self,
        store: &TermStore,
        model: &GraphModel,
        edge: EdgeId,
        without: Option<NodeId>,
    ) -> Result<Term, Stop> {
        let graph = &self.graph;
        let sources = graph.edge(edge).sources();
        let others = (0..sources.len()).filter(|&source| Some(sources[source]) != without);
        let formulas = others.map(|source| model.at_source(store, graph, edge, source));
        let formulas: Result<Vec<Term>, Stop> = formulas.chain([Ok(graph.edge(edge).label())]).collect();
        Ok(store.and(&formulas?))
    }

    /// Renames a formula to other variables, with fresh locals.
    fn copy(&self, store: &TermStore, formula: Term, from: &[Term], to: &[Term]) -> Term {
        let mut renaming: Substitution = pairs(from, to).collect();
        let arguments: FxHashSet<Term> = from.iter().copied().collect();
        let mut locals = store.free_vars(&[formula]);
        locals.retain(|variable| !arguments.contains(variable));
        renaming.extend(pairs(&locals, &fresh(store, &locals)));
        store.instantiate(formula, &renaming)
    }
}
