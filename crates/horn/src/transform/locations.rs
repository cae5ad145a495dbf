//! Joins several predicates into one with a program counter.
//!
//! The arguments of the new predicate, its *state*, are a *program counter*, which encodes the old predicate, and
//! *slots* for the arguments. Each clause becomes a transition from the counter of its source to that of its target:
//!
//! ```text
//! P(x), L(x, y, z) -> Q(y, z)       S(c, s, t), c = P, L(s, s', t'), c' = Q -> S(c', s', t')
//! ```
//!
//! - *The counter* is a vector of Booleans, the binary number of the predicate. Interpolants and projections then
//!   distinguish locations by Boolean structure. An integer counter would end up in linear combinations with data, and
//!   one Boolean per location would enlarge states for nothing. Unused codes have no transitions.
//! - *Slots* are shared: the number of slots of a sort is the maximal number of arguments of that sort in one
//!   predicate. An argument that clauses pass on unchanged keeps its slot if possible, so an invariant of a variable is
//!   stated once.
//! - *Slots that a predicate does not use* are unconstrained, before and after: no interpolant can mention them where
//!   they do not matter, and no projection has to remove them. (Setting them to a fixed value would make states unique.
//!   This only pays off if paths must not repeat states, and would give engines useless facts to learn.)
//!
//! *Models.* If `S` is a model of the new system, then `P(x)` is `S` with the counter of `P`, with `x` for its slots,
//! and with any fixed values `d` for slots that `P` does not use. For a clause from `P` to `Q`, `P(x)` means
//! `S(P, x, d)`. The transition ignores unused slots, so it leads to `S(Q, y, e)` for all `e`, in particular to that
//! with the values fixed for `Q`. The same holds for facts, queries and nonlinear clauses.
//!
//! *Derivations.* A step of a transition is a step of its clause; the fact is read off the slots of the target.
//!
//! The callers choose which predicates are joined: `single_loop.rs` joins all of them, `nested_loops.rs` those of each
//! loop. Golem has both, with one Boolean per location and one slot per argument.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use shofar_logic::{LinearPoly, Op, Sort, Substitution, Term, TermStore};
use shofar_run::Stop;

use crate::Context;
use crate::graph::{EdgeId, HornGraph, Node, NodeId};
use crate::transform::{Image, Lemma, Transformed, Translation};
use crate::witness::{Derivation, GraphModel, GraphStep};

/// Joins the predicates of each group into one. `group_of` has the group of each node.
///
/// With `has_start`, a query without predicates starts from an extra location in the first group, which has no
/// arguments and always holds.
pub(super) fn join(
    store: &TermStore,
    graph: &HornGraph,
    group_of: &[usize],
    groups: usize,
    has_start: bool,
) -> Transformed {
    let mut members: Vec<Vec<NodeId>> = vec![Vec::new(); groups];
    for (node, _) in graph.nodes() {
        members[group_of[node.index()]].push(node);
    }
    let passed = passed_arguments(store, graph, group_of);
    let mut joined = HornGraph::new();
    let mut layouts = Vec::with_capacity(groups);
    for (group, members) in members.iter().enumerate() {
        let layout = Layout::new(store, graph, members, &passed, has_start && group == 0);
        joined.add_node(match (members.as_slice(), layout.bits) {
            (&[only], 0) => graph.node(only).clone(),
            _ => Node::new(store, store.symbol("state"), &layout.sorts),
        });
        layouts.push(layout);
    }
    let mut places = vec![Place { group: 0, code: 0, slots: Vec::new() }; graph.nodes().len()];
    for (group, layout) in layouts.iter().enumerate() {
        for (index, (&node, slots)) in members[group].iter().zip(&layout.slots).enumerate() {
            let code = index + usize::from(layout.has_start);
            places[node.index()] = Place { group, code, slots: slots.clone() };
        }
    }

    let start = Place { group: 0, code: 0, slots: Vec::new() };
    let mut clauses: Vec<Option<EdgeId>> = Vec::new();
    if has_start {
        let node = NodeId::new(0);
        let label = layouts[0].at(store, &start, joined.node(node).next());
        joined.add_edge(&[], Some(node), label);
        clauses.push(None);
    }
    for (id, edge) in graph.edges() {
        let mut slots = Substitution::new();
        let mut conjuncts = Vec::new();
        let mut enter = |place: &Place, arguments: &[Term], state: &[Term]| {
            conjuncts.push(layouts[place.group].at(store, place, state));
            for (&argument, &slot) in arguments.iter().zip(&place.slots) {
                slots.insert(argument, state[slot]);
            }
        };
        let mut sources: Vec<NodeId> = Vec::with_capacity(edge.sources().len());
        let mut visit = |joined: &mut HornGraph, place: &Place, arguments: &[Term]| {
            let node = NodeId::new(place.group);
            let occurrence = sources.iter().filter(|&&other| other == node).count();
            joined.ensure_occurrence(store, node, occurrence);
            enter(place, arguments, joined.variables_at(node, occurrence));
            sources.push(node);
        };
        for (source, node) in edge.sources().iter().enumerate() {
            visit(&mut joined, &places[node.index()], graph.source_variables(id, source));
        }
        if has_start && edge.sources().is_empty() && edge.target().is_none() {
            visit(&mut joined, &start, &[]);
        }
        let target = edge.target().map(|node| &places[node.index()]);
        if let Some(place) = target {
            enter(place, graph.target_variables(id), joined.node(NodeId::new(place.group)).next());
        }
        conjuncts.push(store.instantiate(edge.label(), &slots));
        joined.add_edge(&sources, target.map(|place| NodeId::new(place.group)), store.and(&conjuncts));
        clauses.push(Some(id));
    }
    let states = joined.nodes().map(|(_, node)| node.variables().into()).collect();
    Transformed {
        graph: joined,
        translation: Box::new(Located { graph: graph.clone(), layouts, places, states, clauses }),
    }
}

/// The place of a predicate in the new system.
#[derive(Clone)]
struct Place {
    group: usize,
    /// The value of the counter.
    code: usize,
    /// The slots of its arguments, as positions in the state.
    slots: Vec<usize>,
}

/// The layout of a group's state.
struct Layout {
    has_start: bool,
    /// The number of Booleans of the counter, which come first.
    bits: usize,
    /// The sorts of counter and slots.
    sorts: Vec<Sort>,
    /// The slots of the arguments of each member, as positions in the state.
    slots: Vec<Vec<usize>>,
}

impl Layout {
    fn new(
        store: &TermStore,
        graph: &HornGraph,
        members: &[NodeId],
        passed: &[Vec<(usize, NodeId, usize)>],
        has_start: bool,
    ) -> Self {
        let locations = members.len() + usize::from(has_start);
        let bits = locations.max(1).next_power_of_two().trailing_zeros() as usize;
        let slots = vec![Vec::new(); members.len()];
        let mut layout = Layout { has_start, bits, sorts: vec![Sort::BOOL; bits], slots };
        let index: FxHashMap<NodeId, usize> =
            members.iter().enumerate().map(|(at, &node)| (node, at)).collect();
        // Breadth-first along the edges, starting with the members with the most arguments.
        let mut order = members.to_vec();
        order.sort_by_key(|&id| std::cmp::Reverse(graph.node(id).arity()));
        let mut is_done = vec![false; members.len()];
        for root in order {
            let mut open = VecDeque::from([root]);
            while let Some(node) = open.pop_front() {
                if std::mem::replace(&mut is_done[index[&node]], true) {
                    continue;
                }
                let neighbours = &passed[node.index()];
                let known = neighbours.iter().filter_map(|&(position, other, other_position)| {
                    let slot = layout.slots[index[&other]].get(other_position);
                    slot.map(|&slot| (position, slot))
                });
                let known: Vec<(usize, usize)> = known.collect();
                layout.slots[index[&node]] = layout.assign(&graph.node(node).sorts(store), &known);
                open.extend(neighbours.iter().map(|&(_, other, _)| other));
            }
        }
        layout
    }

    /// Assigns slots to arguments of these sorts: first the slots of arguments that they are passed from or to, then
    /// free ones.
    fn assign(&mut self, sorts: &[Sort], known: &[(usize, usize)]) -> Vec<usize> {
        let mut slots: Vec<Option<usize>> = vec![None; sorts.len()];
        let mut is_taken = vec![false; self.sorts.len()];
        is_taken[..self.bits].fill(true);
        for &(position, slot) in known {
            if slots[position].is_none() && !is_taken[slot] {
                slots[position] = Some(slot);
                is_taken[slot] = true;
            }
        }
        // The search for free slots of a sort continues from the left, so it takes one pass in all.
        let mut searched: FxHashMap<Sort, usize> = FxHashMap::default();
        for (slot, &sort) in slots.iter_mut().zip(sorts) {
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
        slots.into_iter().flatten().collect()
    }

    /// The formula that the counter is at a place.
    fn at(&self, store: &TermStore, place: &Place, state: &[Term]) -> Term {
        let bits = state[..self.bits].iter().zip(self.code(place));
        store.and_of(bits.map(|(&bit, value)| if value { bit } else { store.not(bit) }))
    }

    /// The Booleans of the counter at a place.
    fn code(&self, place: &Place) -> impl Iterator<Item = bool> + use<> {
        let code = place.code;
        (0..self.bits).map(move |bit| code >> bit & 1 == 1)
    }
}

/// For each node, its arguments that edges pass to or from arguments of nodes of its group; first those passed
/// unchanged, then those to which a constant is added.
fn passed_arguments(
    store: &TermStore,
    graph: &HornGraph,
    group_of: &[usize],
) -> Vec<Vec<(usize, NodeId, usize)>> {
    let mut passed = vec![Vec::new(); graph.nodes().len()];
    let mut changed = passed.clone();
    for (id, edge) in graph.edges() {
        let (&[source], Some(target)) = (edge.sources(), edge.target()) else { continue };
        if group_of[source.index()] != group_of[target.index()] {
            continue;
        }
        let positions = |variables: &[Term]| -> FxHashMap<Term, usize> {
            variables.iter().enumerate().map(|(position, &variable)| (variable, position)).collect()
        };
        let before = positions(graph.source_variables(id, 0));
        let after = positions(graph.target_variables(id));
        for conjunct in store.conjuncts(edge.label()) {
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

/// Two terms that an equation makes equal or a fixed distance apart; and whether they are equal.
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

struct Located {
    graph: HornGraph,
    layouts: Vec<Layout>,
    /// Indexed by node of the old graph.
    places: Vec<Place>,
    /// The variables of the states, indexed by group.
    states: Vec<Box<[Term]>>,
    /// The clause of each transition; `None` for the fact of the start.
    clauses: Vec<Option<EdgeId>>,
}

impl Translation for Located {
    /// If the counter is that of the node, its slots hold its arguments.
    fn forward(&self, context: &Context<'_>, lemma: Lemma) -> Image {
        let store = context.store;
        let place = &self.places[lemma.node.index()];
        let state = &self.states[place.group];
        let variables = self.graph.node(lemma.node).variables().iter().copied();
        let slots: Substitution = variables.zip(place.slots.iter().map(|&slot| state[slot])).collect();
        let here = store.instantiate(lemma.formula, &slots);
        let formula = store.implies(self.layouts[place.group].at(store, place, state), here);
        Lemma { node: NodeId::new(place.group), formula }.into()
    }

    fn is_renaming(&self) -> bool {
        true
    }

    fn model_back(&self, context: &Context<'_>, model: GraphModel) -> Result<GraphModel, Stop> {
        let store = context.store;
        let mut formulas = Vec::with_capacity(self.places.len());
        for ((_, node), place) in self.graph.nodes().zip(&self.places) {
            context.go_on()?;
            let layout = &self.layouts[place.group];
            let mut state: Vec<Term> = layout.code(place).map(|bit| store.bool(bit)).collect();
            let defaults = layout.sorts[layout.bits..].iter();
            state.extend(defaults.map(|&sort| store.value_to_term(&store.default_value(sort))));
            for (&variable, &slot) in node.variables().iter().zip(&place.slots) {
                state[slot] = variable;
            }
            let here: Substitution = self.states[place.group].iter().copied().zip(state).collect();
            let formula = model.formula(NodeId::new(place.group))?;
            formulas.push(store.instantiate(formula, &here));
        }
        Ok(GraphModel::of_formulas(formulas))
    }

    fn derivation_back(&self, _: &Context<'_>, derivation: Derivation) -> Result<Derivation, Stop> {
        let mut steps: Vec<GraphStep> = Vec::with_capacity(derivation.steps.len());
        // The positions of the steps in the new derivation; `None` for the fact of the start.
        let mut images: Vec<Option<usize>> = Vec::with_capacity(derivation.steps.len());
        for step in derivation.steps {
            let Some(edge) = self.clauses[step.edge.index()] else {
                images.push(None);
                continue;
            };
            let target = self.graph.edge(edge).target();
            let slots = target.map_or(&[][..], |node| &self.places[node.index()].slots);
            let fact = slots.iter().map(|&slot| step.fact[slot].clone()).collect();
            let premises: Box<[usize]> =
                step.premises.iter().filter_map(|&premise| images[premise]).collect();
            if premises.len() != self.graph.edge(edge).sources().len() {
                return Err(Stop::Internal("a step starts where its clause does not".into()));
            }
            images.push(Some(steps.len()));
            steps.push(GraphStep { edge, premises, fact });
        }
        Ok(Derivation { steps })
    }
}
