//! Linear clauses become a transition system: one predicate, which says where one is and what holds there.
//!
//! The state of the new predicate consists of a *program counter*, which tells the old predicate, and of *slots* for the
//! arguments. Each clause becomes a transition from the counter of its source to that of its target:
//!
//! ```text
//! P(x), L(x, y, z) -> Q(y, z)       S(c, s, t), c = P, L(s, s', t'), c' = Q -> S(c', s', t')
//! ```
//!
//! - *The counter* is a vector of truth values, the binary number of the predicate. Interpolants and projections then
//!   tell locations apart by boolean structure. A counter that is an integer ends up in linear combinations with data,
//!   and one truth value per location makes states larger without saying more. Codes of no predicate have no transitions.
//! - *Slots* are shared: a state has as many of a sort as the predicate with the most arguments of that sort. An
//!   argument that clauses pass on unchanged keeps its slot where possible, so that what holds of a variable all along
//!   is said once.
//! - *Slots that a predicate does not use* are left alone, before and after: no interpolant can speak of them where they
//!   do not matter, and no projection has to remove them. (Setting them to a fixed value would make states unique, which
//!   only pays off where paths have to be free of repetition, and would give engines facts to learn that say nothing.)
//!
//! A query without predicates in its body starts from a location of its own, which has no arguments and always holds.
//!
//! *Models.* If `S` holds of the new system, then `P(x)` is `S` with the counter of `P`, with `x` for its slots, and with
//! any fixed values `d` for slots that `P` does not use. For a clause from `P` to `Q`, `P(x)` means `S(P, x, d)`. The
//! transition does not look at unused slots, so it leads to `S(Q, y, e)` for all `e`, and in particular to that with
//! the values fixed for `Q`. Facts and queries likewise.
//!
//! *Derivations.* A step of a transition is a step of its clause; the fact is read off the slots of the target.
//!
//! Golem has the transformation with one truth value per location and one slot per argument. Systems that are transition
//! systems already stay as they are; so inlining comes first, and leaves one predicate where there was one loop.

use rustc_hash::FxHashMap;
use shofar_logic::{LinearPoly, Op, Sort, Substitution, Term, TermStore};

use crate::graph::{EdgeId, HornGraph, Node, NodeId};
use crate::transform::{Context, Lost, Transformation, Transformed, WayBack};
use crate::transition::TransitionSystem;
use crate::witness::{Derivation, GraphModel, GraphStep};

/// Makes a transition system of linear clauses.
pub struct SingleLoop;

impl Transformation for SingleLoop {
    fn name(&self) -> &'static str {
        "single-loop"
    }

    fn apply(&self, context: &Context<'_>, graph: &HornGraph) -> Option<Transformed> {
        let store = context.store;
        if !graph.is_linear() || TransitionSystem::of(store, graph).is_some() {
            return None;
        }
        let layout = Layout::new(store, graph);
        let mut looped = HornGraph::new();
        let state = looped.add_node(Node::new(store, store.symbol("state"), &layout.sorts));
        let mut clauses: Vec<Option<EdgeId>> = Vec::new();
        if layout.has_start {
            let label = layout.at(store, Location::Start, looped.node(state).next());
            looped.add_edge(&[], Some(state), label);
            clauses.push(None);
        }
        for (id, edge) in graph.edges() {
            let source = match (edge.sources().first(), edge.target()) {
                (Some(&node), _) => Some(Location::Node(node)),
                (None, None) => Some(Location::Start),
                (None, Some(_)) => None,
            };
            let mut slots = Substitution::new();
            let mut conjuncts = Vec::new();
            let node = looped.node(state);
            let before = if edge.sources().is_empty() { &[] } else { graph.source_variables(id, 0) };
            let ends = [
                (source, before, node.variables()),
                (edge.target().map(Location::Node), graph.target_variables(id), node.next()),
            ];
            for (location, arguments, variables) in ends {
                let Some(location) = location else { continue };
                conjuncts.push(layout.at(store, location, variables));
                for (&argument, &slot) in arguments.iter().zip(layout.slots(location)) {
                    slots.insert(argument, variables[slot]);
                }
            }
            conjuncts.push(store.normalize(store.substitute(edge.label(), &slots)));
            let sources: &[NodeId] = if source.is_some() { &[state] } else { &[] };
            looped.add_edge(sources, edge.target().map(|_| state), store.and(&conjuncts));
            clauses.push(Some(id));
        }
        let variables = looped.node(state).variables().into();
        let back = Back { graph: graph.clone(), layout, variables, clauses };
        Some(Transformed { graph: looped, back: Box::new(back) })
    }
}

/// Where one can be.
#[derive(Clone, Copy)]
enum Location {
    /// Before a query without predicates.
    Start,
    Node(NodeId),
}

/// What the state consists of.
struct Layout {
    has_start: bool,
    /// The number of truth values of the counter, which come first.
    bits: usize,
    /// The sorts of counter and slots.
    sorts: Vec<Sort>,
    /// The slots of the arguments of each node, as positions in the state.
    slots: Vec<Vec<usize>>,
}

impl Layout {
    fn new(store: &TermStore, graph: &HornGraph) -> Self {
        let has_start = graph.edges().any(|(_, edge)| edge.sources().is_empty() && edge.target().is_none());
        let locations = graph.nodes().len() + usize::from(has_start);
        let bits = locations.max(1).next_power_of_two().trailing_zeros() as usize;
        let mut layout = Layout {
            has_start,
            bits,
            sorts: vec![Sort::BOOL; bits],
            slots: vec![Vec::new(); graph.nodes().len()],
        };
        layout.assign_slots(store, graph);
        layout
    }

    /// Gives slots to all arguments, from the node with the most arguments along the edges.
    fn assign_slots(&mut self, store: &TermStore, graph: &HornGraph) {
        let passed = passed_arguments(store, graph);
        let mut order: Vec<NodeId> = graph.nodes().map(|(id, _)| id).collect();
        order.sort_by_key(|&id| std::cmp::Reverse(graph.node(id).arity()));
        let mut is_done = vec![false; order.len()];
        for root in order {
            let mut open = std::collections::VecDeque::from([root]);
            while let Some(node) = open.pop_front() {
                if std::mem::replace(&mut is_done[node.index()], true) {
                    continue;
                }
                let neighbours = &passed[node.index()];
                self.assign(graph.node(node).sorts(store), node, neighbours);
                open.extend(neighbours.iter().map(|&(_, other, _)| other));
            }
        }
    }

    /// Gives slots to the arguments of a node: those of the arguments that they are passed from or to, then free ones.
    fn assign(&mut self, sorts: Vec<Sort>, node: NodeId, passed: &[(usize, NodeId, usize)]) {
        let mut slots: Vec<Option<usize>> = vec![None; sorts.len()];
        let mut is_taken = vec![false; self.sorts.len()];
        is_taken[..self.bits].fill(true);
        for &(position, other, other_position) in passed {
            let slot = self.slots[other.index()].get(other_position).copied();
            if let Some(slot) = slot.filter(|&slot| slots[position].is_none() && !is_taken[slot]) {
                slots[position] = Some(slot);
                is_taken[slot] = true;
            }
        }
        // The free slots of each sort, found from the left, so that the search as a whole takes one pass.
        let mut searched: FxHashMap<Sort, usize> = FxHashMap::default();
        for (slot, &sort) in slots.iter_mut().zip(&sorts) {
            if slot.is_some() {
                continue;
            }
            let from = searched.entry(sort).or_insert(self.bits);
            while *from < self.sorts.len() && (is_taken[*from] || self.sorts[*from] != sort) {
                *from += 1;
            }
            if *from == self.sorts.len() {
                self.sorts.push(sort);
                is_taken.push(false);
            }
            is_taken[*from] = true;
            *slot = Some(*from);
        }
        self.slots[node.index()] = slots.into_iter().flatten().collect();
    }

    /// The slots of the arguments at a location.
    fn slots(&self, location: Location) -> &[usize] {
        match location {
            Location::Start => &[],
            Location::Node(node) => &self.slots[node.index()],
        }
    }

    /// That the counter is at a location.
    fn at(&self, store: &TermStore, location: Location, state: &[Term]) -> Term {
        let bits = state[..self.bits].iter().zip(self.code(location));
        store.and_of(bits.map(|(&bit, value)| if value { bit } else { store.not(bit) }))
    }

    /// The truth values of the counter at a location.
    fn code(&self, location: Location) -> impl Iterator<Item = bool> + use<> {
        let number = match location {
            Location::Start => 0,
            Location::Node(node) => node.index() + usize::from(self.has_start),
        };
        (0..self.bits).map(move |bit| number >> bit & 1 == 1)
    }
}

/// For each node which of its arguments edges pass on to or take from arguments of other nodes; at first those that are
/// passed as they are, then those to which a constant is added.
fn passed_arguments(store: &TermStore, graph: &HornGraph) -> Vec<Vec<(usize, NodeId, usize)>> {
    let mut passed = vec![Vec::new(); graph.nodes().len()];
    let mut changed = passed.clone();
    for (id, edge) in graph.edges() {
        let (&[source], Some(target)) = (edge.sources(), edge.target()) else { continue };
        let positions = |variables: &[Term]| -> FxHashMap<Term, usize> {
            variables.iter().enumerate().map(|(position, &variable)| (variable, position)).collect()
        };
        let before = positions(graph.source_variables(id, 0));
        let after = positions(graph.target_variables(id));
        for &conjunct in conjuncts(store, &edge.label()) {
            let Some((a, b, is_same)) = difference(store, conjunct) else { continue };
            for (a, b) in [(a, b), (b, a)] {
                if let (Some(&from), Some(&to)) = (before.get(&a), after.get(&b)) {
                    let list = if is_same { &mut passed } else { &mut changed };
                    list[source.index()].push((from, target, to));
                    list[target.index()].push((to, source, from));
                }
            }
        }
    }
    for (passed, changed) in passed.iter_mut().zip(changed) {
        passed.extend(changed);
    }
    passed
}

fn conjuncts<'a>(store: &'a TermStore, formula: &'a Term) -> &'a [Term] {
    match store.view(*formula) {
        (Op::And, conjuncts) => conjuncts,
        _ => std::slice::from_ref(formula),
    }
}

/// Two terms that an equation says to be equal, or to have a fixed difference; and whether they are equal.
fn difference(store: &TermStore, equation: Term) -> Option<(Term, Term, bool)> {
    let (Op::Eq, &[a, b]) = store.view(equation) else { return None };
    if !store.sort_of(a).is_arithmetic() {
        return Some((a, b, true));
    }
    let poly = LinearPoly::from_term(store, a);
    let constant = store.numeral(b)?;
    match poly.terms() {
        [(x, factor), (y, other)] if *factor == -other.clone() => Some((*x, *y, constant.is_zero())),
        _ => None,
    }
}

struct Back {
    graph: HornGraph,
    layout: Layout,
    /// The variables of the state.
    variables: Box<[Term]>,
    /// The clauses that transitions stand for; none for the way to the start.
    clauses: Vec<Option<EdgeId>>,
}

impl WayBack for Back {
    fn model(&self, context: &Context<'_>, model: GraphModel) -> Result<GraphModel, Lost> {
        let (store, layout) = (context.store, &self.layout);
        let invariant = model.formula(NodeId::new(0));
        let mut formulas = Vec::with_capacity(self.graph.nodes().len());
        for (id, node) in self.graph.nodes() {
            if let Some(reason) = context.interrupted() {
                return Err(Lost::Interrupted(reason));
            }
            let location = Location::Node(id);
            let mut state: Vec<Term> = layout.code(location).map(|bit| store.bool(bit)).collect();
            let defaults = layout.sorts[layout.bits..].iter();
            state.extend(defaults.map(|&sort| store.value_to_term(&store.default_value(sort))));
            for (&variable, &slot) in node.variables().iter().zip(layout.slots(location)) {
                state[slot] = variable;
            }
            let here: Substitution = self.variables.iter().copied().zip(state).collect();
            formulas.push(store.normalize(store.substitute(invariant, &here)));
        }
        Ok(GraphModel { formulas })
    }

    fn derivation(&self, _: &Context<'_>, derivation: Derivation) -> Result<Derivation, Lost> {
        let mut steps: Vec<GraphStep> = Vec::with_capacity(derivation.steps.len());
        // Where the steps are in the new derivation; the way to the start is nowhere.
        let mut images: Vec<Option<usize>> = Vec::with_capacity(derivation.steps.len());
        for step in derivation.steps {
            let Some(edge) = self.clauses[step.edge.index()] else {
                images.push(None);
                continue;
            };
            let slots =
                self.graph.edge(edge).target().map_or(&[][..], |node| &self.layout.slots[node.index()]);
            let fact = slots.iter().map(|&slot| step.fact[slot].clone()).collect();
            let premises: Box<[usize]> =
                step.premises.iter().filter_map(|&premise| images[premise]).collect();
            if premises.len() != self.graph.edge(edge).sources().len() {
                return Err(Lost::Wrong("a step starts where its clause does not".into()));
            }
            images.push(Some(steps.len()));
            steps.push(GraphStep { edge, premises, fact });
        }
        Ok(Derivation { steps })
    }
}
