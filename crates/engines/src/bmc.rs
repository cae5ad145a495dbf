//! Bounded model checking: searches for derivations of `false`, the shortest first.
//!
//! **What it decides.** A system is unsatisfiable if and only if `false` has a derivation, and every derivation is
//! found eventually, so the method is complete for `unsat`. It answers `sat` only if the unfolding ends.
//!
//! **How.** The facts of a derivation are put in *slots*. There is a slot for each node in each rank, and a fact in it
//! may only depend on facts of lower ranks:
//!
//! ```text
//! holds(v, k)      ->  some way(e, k), for edges e into v
//! way(e, k)        ->  label(e) over the slot's variables and inputs, and an input for each source
//! input(v, k, s)   ->  holds(s, j) for some rank j < k, with the input's variables equal to those of that slot
//! ```
//!
//! Only this direction is needed: every fact that holds in an assignment has a derivation. One solver gets the ranks
//! one after the other; in each rank it checks a query, as an assumption.
//!
//! - *Linear systems*: a derivation is a path, and rank `k` has the ends of the paths with `k` edges before. An input
//!   is the previous slot, so there is no choice, and a rank with a single node and edge is a plain conjunction. This
//!   is the classical method (Biere, Cimatti, Clarke, Zhu, TACAS 1999) on a graph.
//! - *Other systems*: facts of a derivation can be sorted such that premises come first, so it fits into as many ranks
//!   as it has different facts, however large its tree is. A formula for `k` ranks has size O(k^2). The price is that
//!   many derivations with few ranks are the same in another order.
//!
//! Nodes and edges that no facts lead to, or that lead to no query, are left out.
//!
//! **Operators that the solver does not support**, such as products of variables, are no obstacle as long as the values on a path
//! fix enough of their arguments. So a mistake of a program that starts with given values is found. But where there is no
//! short one, there is little hope: after [`UNSUPPORTED_RANKS`] ranks the search ends and names the operator.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use rustc_hash::FxHashMap;
use shofar_horn::HornGraph;
use shofar_horn::graph::{Edge, EdgeId, NodeId, rename};
use shofar_horn::witness::{Derivation, GraphModel, GraphStep};
use shofar_logic::{Assignment, Sort, Term, TermStore, Value};
use shofar_run::Stop;
use shofar_smt::solver::Solver;
use shofar_smt::supports;

use crate::eliminate::eliminate_all_but;
use crate::fragment;
use crate::invariants;
use crate::progressions::join_progressions;
use crate::unroll::{Template, fresh_vector, value};
use crate::{Engine, Evidence, Fact, Fate, Run};

/// The number of ranks that are searched if an operator is not supported.
const UNSUPPORTED_RANKS: usize = 50;

/// The number of ranks up to which their states are shown as they are.
const FEW_RANKS: usize = 4;

/// The BMC engine.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Bmc;

impl Engine for Bmc {
    fn name(&self) -> &'static str {
        "bmc"
    }

    fn description(&self) -> &'static str {
        "bounded model checking: finds the shortest counterexample; all systems"
    }

    fn accepts(&self, store: &TermStore, graph: &HornGraph) -> Result<(), Stop> {
        fragment::is_decidable(store, graph)
    }

    fn solve(&self, graph: &HornGraph, run: &Run<'_>) -> Result<Evidence, Stop> {
        let start = Instant::now();
        let mut unfolding = Unfolding::new(graph, run);
        let answer = unfolding.search();
        run.tell_statistics(unfolding.counters(), start);
        answer
    }
}

/// The place of a slot: its rank and node.
type Place = (usize, NodeId);

/// A place for a fact.
struct Slot {
    /// True if the slot has a fact.
    holds: Term,
    /// Its arguments.
    variables: Box<[Term]>,
    ways: Ways,
}

/// The ways to derive a fact, or `false`.
#[derive(Default)]
struct Ways {
    ways: Vec<Way>,
    inputs: Vec<Input>,
}

/// An edge that may be used.
struct Way {
    taken: Term,
    edge: EdgeId,
    /// Indexed by source.
    inputs: Vec<usize>,
}

/// A premise.
struct Input {
    node: NodeId,
    variables: Box<[Term]>,
    /// The ranks of the slots that may provide the premise, each with a Boolean that selects it.
    choices: Vec<(Term, usize)>,
}

/// The derivations with a number of ranks, as a formula.
struct Unfolding<'a> {
    graph: &'a HornGraph,
    run: &'a Run<'a>,
    solver: Solver<'a>,
    is_linear: bool,
    /// The nodes that facts may lead to.
    is_derivable: Vec<bool>,
    /// The nodes that may lead to queries.
    is_useful: Vec<bool>,
    /// The relevant edges except queries, and the relevant queries.
    edges: Vec<EdgeId>,
    queries: Vec<EdgeId>,
    /// The labels of these edges.
    templates: FxHashMap<EdgeId, Template>,
    /// Indexed by rank.
    slots: Vec<BTreeMap<NodeId, Slot>>,
    /// The ranks in which each node has a slot.
    ranks: Vec<Vec<usize>>,
    /// The rank up to which other engines know that there is no derivation.
    known: Option<usize>,
}

impl<'a> Unfolding<'a> {
    fn new(graph: &'a HornGraph, run: &'a Run<'a>) -> Self {
        let is_derivable = graph.derivable().nodes;
        let is_useful = graph.relevant(|_| true);
        let matters = |edge: &Edge| {
            edge.sources().iter().all(|source| is_derivable[source.index()])
                && edge.target().is_none_or(|target| is_useful[target.index()])
        };
        let all = graph.edges().filter(|(_, edge)| matters(edge));
        let (queries, edges): (Vec<EdgeId>, Vec<EdgeId>) =
            all.map(|(id, _)| id).partition(|&id| graph.edge(id).target().is_none());
        let template = |&id: &EdgeId| (id, Template::of_edge(run.store, graph, id));
        Unfolding {
            graph,
            run,
            solver: run.solver(),
            is_linear: edges.iter().chain(&queries).all(|&id| !graph.edge(id).is_hyperedge()),
            templates: edges.iter().chain(&queries).map(template).collect(),
            is_derivable,
            is_useful,
            edges,
            queries,
            slots: Vec::new(),
            ranks: vec![Vec::new(); graph.nodes().len()],
            known: None,
        }
    }

    fn search(&mut self) -> Result<Evidence, Stop> {
        if self.queries.is_empty() {
            return Ok(Evidence::Sat(self.model_of_shape()));
        }
        let labels: Vec<Term> =
            self.edges.iter().chain(&self.queries).map(|&id| self.graph.edge(id).label()).collect();
        let unsupported = supports(self.run.store, &labels).err();
        loop {
            self.run.go_on()?;
            let rank = self.slots.len();
            if let Some(unsupported) = unsupported
                && rank >= UNSUPPORTED_RANKS
            {
                return Err(unsupported.stop(self.run.store));
            }
            self.receive();
            let is_known = self.known.is_some_and(|known| rank <= known);
            let queries = self.applicable(&self.queries, rank);
            if !queries.is_empty() && !is_known {
                let goal = self.fresh_bool("goal");
                let ways = self.assert_ways(goal, &queries, rank, &[])?;
                if self.run.is_satisfiable(&mut self.solver, &[goal])? {
                    return Ok(Evidence::Unsat(self.derivation(&ways)));
                }
                if self.is_linear && self.solver.core().is_empty() {
                    // There are no paths with that many edges, to any node.
                    self.slots.pop();
                    return self.model_of_ranks().map(Evidence::Sat);
                }
            }
            self.send_depth(rank);
            tracing::debug!(rank, "no derivation");
            let counters = self.counters();
            self.run.tell_progress(rank as u64, counters);
            if !self.add_rank()? {
                return self.model_of_ranks().map(Evidence::Sat);
            }
        }
    }

    /// Notes how far other engines have searched. Only in linear systems ranks are heights: a query in rank `k` has a premise of
    /// height `k - 1`.
    fn receive(&mut self) {
        let Some(port) = self.run.port().filter(|_| self.is_linear) else { return };
        for (id, fact) in port.receive() {
            if let Fact::Depth(height) = fact {
                self.known = self.known.max(Some(height + 1));
                port.rate(id, Fate::Accepted);
            }
        }
    }

    /// Says that there is no derivation up to a rank.
    fn send_depth(&self, rank: usize) {
        if let (Some(port), Some(height)) = (self.run.port(), rank.checked_sub(1))
            && self.is_linear
        {
            port.send(Fact::Depth(height));
        }
    }

    /// The edges that can be used in a rank.
    fn applicable(&self, edges: &[EdgeId], rank: usize) -> Vec<EdgeId> {
        let is_applicable = |id: &EdgeId| match self.graph.edge(*id).sources() {
            [] => !self.is_linear || rank == 0,
            sources => sources.iter().all(|&source| !self.premises(source, rank).is_empty()),
        };
        edges.iter().copied().filter(is_applicable).collect()
    }

    /// The ranks of a node's slots that a fact in the given rank may depend on.
    fn premises(&self, node: NodeId, rank: usize) -> &[usize] {
        let ranks = &self.ranks[node.index()];
        let before = ranks.partition_point(|&other| other < rank);
        let first = if self.is_linear { ranks.partition_point(|&other| other + 1 < rank) } else { 0 };
        &ranks[first..before]
    }

    /// Adds slots for all nodes that can have facts in the next rank. Returns whether there are any.
    fn add_rank(&mut self) -> Result<bool, Stop> {
        let rank = self.slots.len();
        let mut by_target: BTreeMap<NodeId, Vec<EdgeId>> = BTreeMap::new();
        for id in self.applicable(&self.edges, rank) {
            if let Some(target) = self.graph.edge(id).target() {
                by_target.entry(target).or_default().push(id);
            }
        }
        if by_target.is_empty() {
            return Ok(false);
        }
        // A path that continues to this rank is at its only node.
        let is_sure = self.is_linear && by_target.len() == 1;
        let mut slots = BTreeMap::new();
        for (&node, edges) in &by_target {
            let holds = if is_sure { Term::TRUE } else { self.fresh_bool("holds") };
            let variables = fresh_vector(self.run.store, self.graph.node(node).next(), "slot");
            let ways = self.assert_ways(holds, edges, rank, &variables)?;
            slots.insert(node, Slot { holds, variables, ways });
        }
        if self.is_linear {
            let some = self.run.store.or_of(slots.values().map(|slot| slot.holds));
            self.run.assert(&mut self.solver, &[some])?;
        }
        for &node in slots.keys() {
            self.ranks[node.index()].push(rank);
        }
        self.slots.push(slots);
        Ok(true)
    }

    /// Asserts that `holds` implies that one of the edges is used with facts of lower ranks. `head` has the variables
    /// of the derived fact.
    fn assert_ways(
        &mut self,
        holds: Term,
        edges: &[EdgeId],
        rank: usize,
        head: &[Term],
    ) -> Result<Ways, Stop> {
        let store = self.run.store;
        let mut formulas = Vec::new();
        let mut inputs: Vec<Input> = Vec::new();
        let mut by_occurrence: BTreeMap<(NodeId, usize), usize> = BTreeMap::new();
        let mut ways = Vec::with_capacity(edges.len());
        for &id in edges {
            let edge = self.graph.edge(id);
            let mut own = Vec::with_capacity(edge.sources().len());
            for (source, &node) in edge.sources().iter().enumerate() {
                let input = *by_occurrence.entry((node, edge.occurrence(source))).or_insert_with(|| {
                    inputs.push(self.input(node, rank, &mut formulas));
                    inputs.len() - 1
                });
                own.push(input);
            }
            let sources = own.iter().enumerate();
            let mut vectors: Vec<(&[Term], &[Term])> = sources
                .map(|(source, &input)| (self.graph.source_variables(id, source), &*inputs[input].variables))
                .collect();
            vectors.push((self.graph.target_variables(id), head));
            let label = self.templates[&id].copy(store, &vectors);
            let taken = if edges.len() == 1 { holds } else { self.fresh_bool("way") };
            let premises = own.iter().map(|&input| store.or_of(inputs[input].choices.iter().map(|c| c.0)));
            formulas.push(store.implies(taken, store.and_of(premises.chain([label]))));
            ways.push(Way { taken, edge: id, inputs: own });
        }
        if edges.len() > 1 {
            formulas.push(store.implies(holds, store.or_of(ways.iter().map(|way| way.taken))));
        }
        self.run.assert(&mut self.solver, &formulas)?;
        Ok(Ways { ways, inputs })
    }

    /// A premise for a fact in some rank: one of the earlier slots.
    fn input(&self, node: NodeId, rank: usize, formulas: &mut Vec<Term>) -> Input {
        let store = self.run.store;
        let ranks = self.premises(node, rank);
        if let &[only] = ranks {
            let slot = &self.slots[only][&node];
            return Input { node, variables: slot.variables.clone(), choices: vec![(slot.holds, only)] };
        }
        let variables = fresh_vector(store, self.graph.node(node).next(), "input");
        let mut choices = Vec::with_capacity(ranks.len());
        for &before in ranks {
            let slot = &self.slots[before][&node];
            let choice = self.fresh_bool("choice");
            let equations = variables.iter().zip(&slot.variables).map(|(&a, &b)| store.eq(a, b));
            formulas.push(store.implies(choice, store.and_of(equations.chain([slot.holds]))));
            choices.push((choice, before));
        }
        Input { node, variables, choices }
    }

    fn fresh_bool(&self, name: &str) -> Term {
        self.run.store.var(self.run.store.fresh_symbol(name), Sort::BOOL)
    }

    /// The derivation in the solver's model. Premises have lower ranks, so the order of ranks is topological.
    fn derivation(&self, goal: &Ways) -> Derivation {
        let slots = self.slots.iter().flat_map(BTreeMap::values);
        let symbols = slots.flat_map(|slot| slot.variables.iter().copied().chain(slot.ways.symbols()));
        let model = self.solver.model(&symbols.chain(goal.symbols()).collect::<Vec<Term>>());
        let (query, last) = goal.taken(&model);
        let mut needed: BTreeSet<Place> = last.iter().copied().collect();
        let mut taken: BTreeMap<Place, (EdgeId, Vec<Place>)> = BTreeMap::new();
        while let Some((rank, node)) = needed.pop_last() {
            let (edge, premises) = self.slots[rank][&node].ways.taken(&model);
            needed.extend(premises.iter().copied());
            taken.insert((rank, node), (edge, premises));
        }
        let position: BTreeMap<Place, usize> =
            taken.keys().enumerate().map(|(position, &place)| (place, position)).collect();
        let premises = |places: &[Place]| places.iter().map(|place| position[place]).collect();
        let mut steps: Vec<GraphStep> = Vec::with_capacity(taken.len() + 1);
        for ((rank, node), (edge, places)) in &taken {
            let variables = &self.slots[*rank][node].variables;
            let fact = variables.iter().map(|&variable| value(self.run.store, &model, variable)).collect();
            steps.push(GraphStep { edge: *edge, premises: premises(places), fact });
        }
        steps.push(GraphStep { edge: query, premises: premises(&last), fact: Box::default() });
        Derivation { steps }
    }

    /// The model if no fact leads to a query: each node is true or false.
    fn model_of_shape(&self) -> GraphModel {
        GraphModel::of_formulas(self.is_derivable.iter().map(|&yes| self.run.store.bool(yes)))
    }

    /// The model of a linear system if all paths have been explored. Equalities and bounds that exclude the queries are
    /// what a reader wants to see; otherwise it is the ends of the paths, rank by rank, as few formulas.
    fn model_of_ranks(&self) -> Result<GraphModel, Stop> {
        if !self.is_linear {
            return Err(Stop::Exhausted("there are no more facts to be derived, but a model is not known"));
        }
        if self.slots.len() > FEW_RANKS
            && let Some(model) = invariants::model(self.run, self.graph)?
        {
            return Ok(model);
        }
        let store = self.run.store;
        let mut before: BTreeMap<NodeId, Term> = BTreeMap::new();
        let mut ends: BTreeMap<NodeId, Vec<Term>> = BTreeMap::new();
        for slots in &self.slots {
            let mut here = BTreeMap::new();
            for (&node, slot) in slots {
                let step = |way: &Way| {
                    let edge = self.graph.edge(way.edge);
                    let source = edge.sources().first().map_or(Term::TRUE, |source| before[source]);
                    store.and2(source, edge.label())
                };
                let formula = store.or_of(slot.ways.ways.iter().map(step));
                let next = self.graph.node(node).next();
                let end = eliminate_all_but(self.run, formula, next)?;
                here.insert(node, rename(store, end, next, self.graph.node(node).variables()));
            }
            for (&node, &end) in &here {
                ends.entry(node).or_default().push(end);
            }
            before = here;
        }
        let formula = |(id, _)| match ends.get(&id) {
            Some(ends) => store.or(&join_progressions(store, self.graph.node(id).variables(), ends)),
            None => store.bool(self.is_derivable[id.index()] && !self.is_useful[id.index()]),
        };
        Ok(GraphModel::of_formulas(self.graph.nodes().map(formula)))
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let mut counters = vec![
            ("depth", self.slots.len() as u64),
            ("slots", self.slots.iter().map(|slots| slots.len() as u64).sum()),
        ];
        counters.extend(crate::run::solver_counters(&self.solver));
        counters
    }
}

impl Ways {
    fn symbols(&self) -> impl Iterator<Item = Term> + '_ {
        let choices = self.inputs.iter().flat_map(|input| input.choices.iter().map(|choice| choice.0));
        self.ways.iter().map(|way| way.taken).chain(choices)
    }

    /// The edge used in an assignment in which the fact holds, and the slots of its premises.
    fn taken(&self, model: &Assignment) -> (EdgeId, Vec<Place>) {
        let holds = |term: Term| term == Term::TRUE || model.get(term).and_then(Value::as_bool) == Some(true);
        let way = self.ways.iter().find(|way| holds(way.taken)).expect("a fact that holds has a way");
        let place = |&input: &usize| {
            let Input { node, choices, .. } = &self.inputs[input];
            let choice = choices.iter().find(|choice| holds(choice.0));
            (choice.expect("a way that is taken has premises").1, *node)
        };
        (way.edge, way.inputs.iter().map(place).collect())
    }
}
