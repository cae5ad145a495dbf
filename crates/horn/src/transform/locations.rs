//! Several predicates become one, which says where one is and what holds there.
//!
//! The arguments of the new predicate, its *state*, consist of a *program counter*, which tells the old predicate, and of
//! *slots* for the arguments. Each clause becomes a transition from the counter of its source to that of its target:
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
//! *Models.* If `S` holds of the new system, then `P(x)` is `S` with the counter of `P`, with `x` for its slots, and with
//! any fixed values `d` for slots that `P` does not use. For a clause from `P` to `Q`, `P(x)` means `S(P, x, d)`. The
//! transition does not look at unused slots, so it leads to `S(Q, y, e)` for all `e`, and in particular to that with
//! the values fixed for `Q`. Facts, queries and clauses with several predicates in their bodies likewise.
//!
//! *Derivations.* A step of a transition is a step of its clause; the fact is read off the slots of the target.
//!
//! Which predicates are joined is up to the callers: all of them in `single_loop.rs`, those of one loop each in
//! `nested_loops.rs`. Golem has both, with one truth value per location and one slot per argument.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use shofar_logic::{LinearPoly, Op, Sort, Substitution, Term, TermStore};
use shofar_run::Stop;

use crate::Context;
use crate::graph::{EdgeId, HornGraph, Node, NodeId};
use crate::transform::{Image, Lemma, Transformed, Translation};
use crate::witness::{Derivation, GraphModel, GraphStep};

/// Makes one predicate of the predicates of each group, which is given by its number for each node.
///
/// With `has_start`, a query without predicates starts from a location of its own in the first group, which has no
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

/// Where a predicate is found in the new system.
#[derive(Clone)]
struct Place {
    group: usize,
    /// What the counter is there.
    code: usize,
    /// The slots of its arguments, as positions in the state.
    slots: Vec<usize>,
}

/// What the state of a group consists of.
struct Layout {
    has_start: bool,
    /// The number of truth values of the counter, which come first.
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
        // From the member with the most arguments along the edges.
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

    /// Slots for arguments of these sorts: those of arguments that they are passed from or to, then free ones.
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
        // The free slots of each sort, found from the left, so that the search as a whole takes one pass.
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

    /// That the counter is at a place.
    fn at(&self, store: &TermStore, place: &Place, state: &[Term]) -> Term {
        let bits = state[..self.bits].iter().zip(self.code(place));
        store.and_of(bits.map(|(&bit, value)| if value { bit } else { store.not(bit) }))
    }

    /// The truth values of the counter at a place.
    fn code(&self, place: &Place) -> impl Iterator<Item = bool> + use<> {
        let code = place.code;
        (0..self.bits).map(move |bit| code >> bit & 1 == 1)
    }
}

/// For each node which of its arguments edges pass on to or take from arguments of nodes of its group; at first those that are
/// passed as they are, then those to which a constant is added.
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

struct Located {
    graph: HornGraph,
    layouts: Vec<Layout>,
    /// By nodes of the old graph.
    places: Vec<Place>,
    /// The variables of the states, by groups.
    states: Vec<Box<[Term]>>,
    /// The clauses that transitions stand for; none for the way to the start.
    clauses: Vec<Option<EdgeId>>,
}

impl Translation for Located {
    /// Where the counter is that of the node, its slots hold its arguments.
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
        // Where the steps are in the new derivation; the way to the start is nowhere.
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
