//! Random circuits, and the obvious procedures that engines and checkers are compared with: breadth-first search over
//! the states of a small circuit, and the definition of an inductive invariant, tried on all states.
//!
//! The unit tests of the library and its integration tests both include this file.

#![allow(dead_code, reason = "each test uses a part")]

use std::collections::BTreeSet;

use shofar_hardware::aig::{Aig, Edge, Node, edge_value};
use shofar_hardware::circuit::{Circuit, Latch, Reset};
use shofar_hardware::evidence::{Evidence, Invariant, Trace};
use shofar_hardware::system::BitSystem;
use shofar_testing::Random;

/// The size of a random circuit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) inputs: usize,
    pub(crate) latches: usize,
    pub(crate) gates: usize,
    /// The greatest number of constraints.
    pub(crate) constraints: usize,
    /// The greatest number of bads, at least 1.
    pub(crate) bads: usize,
    /// Whether resets may be functions.
    pub(crate) functions: bool,
}

impl Default for Shape {
    fn default() -> Self {
        Self { inputs: 3, latches: 6, gates: 20, constraints: 2, bads: 2, functions: true }
    }
}

/// A random circuit. Its nodes are numbered as in a binary file: inputs, latches, gates.
///
/// Many gates are exclusive disjunctions, which keep the functions balanced, most resets are constants, and bads are
/// conjunctions with latches: so many circuits are safe and many counterexamples are long.
pub(crate) fn random_circuit(random: &mut Random, shape: &Shape) -> Circuit {
    let mut aig = Aig::new();
    let inputs: Vec<Node> = (0..shape.inputs).map(|_| aig.push_leaf()).collect();
    let latches: Vec<Node> = (0..shape.latches).map(|_| aig.push_leaf()).collect();
    let first_gate = aig.len();
    while aig.len() < first_gate + shape.gates {
        let [left, right] = [0; 2].map(|_| any_edge(random, aig.len()));
        let both = push_sorted(&mut aig, left, right);
        if random.bool() {
            let neither = push_sorted(&mut aig, !left, !right);
            push_sorted(&mut aig, !both, !neither);
        }
    }
    let num_functional = aig.len();
    let mut bads = Vec::new();
    for _ in 0..1 + random.below(shape.bads.max(1)) {
        let mut bad = any_edge(random, num_functional);
        for _ in 0..random.below(5) {
            let other = match latches.len() {
                0 => any_edge(random, num_functional),
                _ => random.choose(&latches).edge(random.bool()),
            };
            bad = push_sorted(&mut aig, bad, other);
        }
        bads.push(bad);
    }
    let mut constraints = Vec::new();
    for _ in 0..random.below(shape.constraints + 1) {
        // Constraints that are mostly true leave something to search.
        let [left, right] = [0; 2].map(|_| any_edge(random, num_functional));
        let both = push_sorted(&mut aig, left, right);
        constraints.push(if random.one_in(8) { left } else { !both });
    }
    let latch = |&node: &Node| {
        let next = if random.one_in(8) { node.edge(random.bool()) } else { any_edge(random, num_functional) };
        let reset = match random.below(if shape.functions { 16 } else { 12 }) {
            0..11 => Reset::Constant(random.one_in(4)),
            11 => Reset::Free,
            _ => reset_function(random, &aig, &latches, node).unwrap_or(Reset::Constant(false)),
        };
        Latch { node, next, reset }
    };
    let latches = latches.iter().map(latch).collect();
    Circuit { aig, inputs, latches, bads, constraints, ..Circuit::default() }
}

/// Gives a circuit up to two justice properties and up to one fairness constraint. The edges are conjunctions, so that
/// many properties hold.
pub(crate) fn add_justice(random: &mut Random, circuit: &mut Circuit) {
    let functional = circuit.aig.len();
    let mut edges = |random: &mut Random, most: usize| -> Vec<Edge> {
        let count = random.below(most + 1);
        let mut edge = || {
            let mut edge = any_edge(random, functional);
            for _ in 0..random.below(3) {
                let other = any_edge(random, functional);
                edge = push_sorted(&mut circuit.aig, edge, other);
            }
            edge
        };
        (0..count).map(|_| edge()).collect()
    };
    let properties = 1 + random.below(2);
    circuit.justice = (0..properties).map(|_| edges(random, 2)).collect();
    circuit.fairness = edges(random, 1);
}

fn push_sorted(aig: &mut Aig, left: Edge, right: Edge) -> Edge {
    aig.push_and(left.max(right), left.min(right)).into()
}

/// An edge to one of the first nodes, often to a late one, seldom to the constant.
fn any_edge(random: &mut Random, nodes: usize) -> Edge {
    let index = match random.below(8) {
        0 => random.below(nodes),
        1..5 => 1 + random.below(nodes - 1),
        _ => nodes - 1 - random.below(nodes.min(8)),
    };
    Node::from_index(index).edge(random.bool())
}

/// A reset function over inputs and earlier latches, if a few tries find one.
fn reset_function(random: &mut Random, aig: &Aig, latches: &[Node], latch: Node) -> Option<Reset> {
    (0..8).find_map(|_| {
        let edge = any_edge(random, aig.len());
        let cone = aig.cone([edge]);
        let is_acyclic = edge.as_constant().is_none()
            && latches.iter().all(|&other| other < latch || !cone[other.index()]);
        is_acyclic.then_some(Reset::Function(edge))
    })
}

/// The circuit that is the same as a system.
pub(crate) fn circuit_of(system: &BitSystem) -> Circuit {
    let latches = (0..system.num_latches()).map(|index| Latch {
        node: system.latch(index),
        next: system.next[index],
        reset: system.resets[index].map_or(Reset::Free, Reset::Constant),
    });
    Circuit {
        aig: system.aig.clone(),
        inputs: (0..system.num_inputs).map(|index| system.input(index)).collect(),
        latches: latches.collect(),
        bads: vec![system.bad],
        constraints: system.constraints.clone(),
        ..Circuit::default()
    }
}

/// The length of the shortest counterexample: the number of the first step, counted from 0, in which one of the edges
/// can be true. `None` if no run does that. The circuit must be small: all states and inputs are tried.
pub(crate) fn shortest_counterexample(circuit: &Circuit, bads: &[Edge]) -> Option<usize> {
    let is_bad = |values: &[bool]| bads.iter().any(|&bad| edge_value(values, bad));
    let mut layer: BTreeSet<u64> = BTreeSet::new();
    for values in initial_values(circuit) {
        if is_bad(&values) {
            return Some(0);
        }
        layer.insert(next_state(circuit, &values));
    }
    let mut seen = layer.clone();
    for length in 1.. {
        let mut later = BTreeSet::new();
        for &state in &layer {
            for values in values_in(circuit, state) {
                if is_bad(&values) {
                    return Some(length);
                }
                let next = next_state(circuit, &values);
                if seen.insert(next) {
                    later.insert(next);
                }
            }
        }
        if later.is_empty() {
            break;
        }
        layer = later;
    }
    None
}

/// As [`shortest_counterexample`], for a system.
pub(crate) fn shortest_in_system(system: &BitSystem) -> Option<usize> {
    let circuit = circuit_of(system);
    shortest_counterexample(&circuit, &circuit.bads)
}

/// Judges evidence about a small circuit by the definitions, where `shortest` is the length of a shortest
/// counterexample. The error says what is wrong.
pub(crate) fn judge(
    circuit: &Circuit,
    bads: &[Edge],
    evidence: &Evidence,
    shortest: Option<usize>,
) -> Result<(), String> {
    match (evidence, shortest) {
        (Evidence::Safe(_), Some(length)) => Err(format!("there is a counterexample of length {length}")),
        (Evidence::Safe(invariant), None) if !is_inductive(circuit, bads, invariant) => {
            Err(format!("this is not inductive: {invariant:?}"))
        }
        (Evidence::Unsafe(trace), _) if !is_counterexample(circuit, bads, trace) => {
            Err(format!("this is no counterexample: {trace:?}"))
        }
        (Evidence::Unsafe(trace), _) if shortest.is_none_or(|length| trace.length() < length) => {
            Err(format!("explicit search misses a counterexample of length {}", trace.length()))
        }
        _ => Ok(()),
    }
}

/// Whether an invariant of a small circuit is one, by the definition.
pub(crate) fn is_inductive(circuit: &Circuit, bads: &[Edge], invariant: &Invariant) -> bool {
    let holds = |values: &[bool]| {
        let all = invariant.aig.evaluate(|leaf| values[leaf.index()]);
        invariant.clauses.iter().all(|clause| clause.iter().any(|&edge| edge_value(&all, edge)))
    };
    let all_states = || (0..1u64 << circuit.latches.len()).collect::<BTreeSet<u64>>();
    // Safety.
    for state in all_states() {
        for values in values_in(circuit, state) {
            if holds(&values) && bads.iter().any(|&bad| edge_value(&values, bad)) {
                return false;
            }
        }
    }
    // Base: the first steps of all runs.
    let mut layer: Vec<Vec<bool>> = initial_values(circuit).collect();
    for _ in 0..invariant.depth {
        if !layer.iter().all(|values| holds(values)) {
            return false;
        }
        let states: BTreeSet<u64> = layer.iter().map(|values| next_state(circuit, values)).collect();
        layer = states.into_iter().flat_map(|state| values_in(circuit, state)).collect();
    }
    // Step: the states after paths of the depth on which the clauses hold.
    let mut states = all_states();
    for _ in 0..invariant.depth {
        states = states
            .into_iter()
            .flat_map(|state| values_in(circuit, state))
            .filter(|values| holds(values))
            .map(|values| next_state(circuit, &values))
            .collect();
    }
    invariant.depth > 0
        && states.into_iter().flat_map(|state| values_in(circuit, state)).all(|values| holds(&values))
}

/// The least set of states that holds the initial ones and is closed under steps. If reset values depend on inputs, it
/// may hold unreachable states: in step 0 such a state occurs with some inputs only.
pub(crate) fn closed_states(circuit: &Circuit) -> BTreeSet<u64> {
    let mut open: Vec<u64> = initial_values(circuit).map(|values| state_of(circuit, &values)).collect();
    let mut seen = BTreeSet::new();
    while let Some(state) = open.pop() {
        if seen.insert(state) {
            open.extend(values_in(circuit, state).map(|values| next_state(circuit, &values)));
        }
    }
    seen
}

/// The strongest inductive set of clauses over latches: one for each state outside of [`closed_states`].
pub(crate) fn strongest_invariant(circuit: &Circuit) -> Invariant {
    let closed = closed_states(circuit);
    let clause = |state: u64| {
        let literal = |(index, latch): (usize, &Latch)| latch.node.edge(state >> index & 1 != 0);
        circuit.latches.iter().enumerate().map(literal).collect()
    };
    let excluded = (0..1u64 << circuit.latches.len()).filter(|state| !closed.contains(state));
    Invariant { aig: circuit.aig.clone(), clauses: excluded.map(clause).collect(), depth: 1 }
}

/// Whether a trace is a run of the circuit whose last step makes one of the edges true.
pub(crate) fn is_counterexample(circuit: &Circuit, bads: &[Edge], trace: &Trace) -> bool {
    let Some(first) = trace.inputs.first() else { return false };
    let mut state = trace.initial.clone();
    if state != circuit.initial_state(|latch| trace.initial[latch], first) {
        return false;
    }
    for (step, inputs) in trace.inputs.iter().enumerate() {
        let values = circuit.aig.evaluate(|leaf| leaf_value(circuit, &state, inputs, leaf));
        if !circuit.constraints.iter().all(|&edge| edge_value(&values, edge)) {
            return false;
        }
        if step + 1 == trace.inputs.len() {
            return bads.iter().any(|&bad| edge_value(&values, bad));
        }
        state = circuit.latches.iter().map(|latch| edge_value(&values, latch.next)).collect();
    }
    false
}

/// Whether there is an infinite run in which each of the edges is true again and again: in the graph of the reachable
/// states, of which there are at most 64, a strongly connected component with a step for each edge, and at least one
/// step.
pub(crate) fn has_fair_run(circuit: &Circuit, edges: &[Edge]) -> bool {
    let mut open: Vec<u64> = initial_values(circuit).map(|values| next_state(circuit, &values)).collect();
    let mut steps: Vec<(u64, u64, Vec<bool>)> = Vec::new();
    let mut seen = BTreeSet::new();
    while let Some(state) = open.pop() {
        if seen.insert(state) {
            for values in values_in(circuit, state) {
                let next = next_state(circuit, &values);
                steps.push((state, next, edges.iter().map(|&edge| edge_value(&values, edge)).collect()));
                open.push(next);
            }
        }
    }
    // By states: those that are reachable by at least one step.
    let mut reaches = [0u64; 64];
    steps.iter().for_each(|&(from, to, _)| reaches[from as usize] |= 1 << to);
    for middle in 0..64 {
        let onwards = reaches[middle];
        reaches.iter_mut().filter(|set| **set >> middle & 1 != 0).for_each(|set| *set |= onwards);
    }
    let connected = |one: u64, other: u64| {
        reaches[one as usize] >> other & 1 != 0 && reaches[other as usize] >> one & 1 != 0
    };
    seen.iter().any(|&state| {
        connected(state, state)
            && (0..edges.len()).all(|edge| {
                steps.iter().any(|(from, to, values)| {
                    values[edge] && connected(state, *from) && connected(state, *to)
                })
            })
    })
}

/// Whether a trace is a run, and a state of it occurs twice, with each of the edges true at some time in between. All
/// latches are looked at.
pub(crate) fn has_loop(circuit: &Circuit, edges: &[Edge], trace: &Trace) -> bool {
    let Some(first) = trace.inputs.first() else { return false };
    let mut state = trace.initial.clone();
    if state != circuit.initial_state(|latch| trace.initial[latch], first) {
        return false;
    }
    let (mut states, mut steps) = (vec![state.clone()], Vec::new());
    for inputs in &trace.inputs {
        let Some(values) = allowed(circuit, &state, inputs) else { return false };
        state = circuit.latches.iter().map(|latch| edge_value(&values, latch.next)).collect();
        states.push(state.clone());
        steps.push(values);
    }
    (0..steps.len()).any(|start| {
        (start + 1..=steps.len()).any(|end| {
            let is_seen = |&edge: &Edge| steps[start..end].iter().any(|values| edge_value(values, edge));
            states[start] == states[end] && edges.iter().all(is_seen)
        })
    })
}

/// The values of all nodes in the first steps of all runs, as far as the constraints hold.
fn initial_values(circuit: &Circuit) -> impl Iterator<Item = Vec<bool>> + '_ {
    let free: Vec<usize> =
        (0..circuit.latches.len()).filter(|&latch| circuit.latches[latch].reset == Reset::Free).collect();
    input_rows(circuit).flat_map(move |inputs| {
        let free = free.clone();
        (0..1u64 << free.len()).filter_map(move |row| {
            let value =
                |latch| free.iter().position(|&other| other == latch).is_some_and(|at| row >> at & 1 != 0);
            let state = circuit.initial_state(value, &inputs);
            allowed(circuit, &state, &inputs)
        })
    })
}

/// The values of all nodes in a state, for all inputs with which the constraints hold.
pub(crate) fn values_in(circuit: &Circuit, state: u64) -> impl Iterator<Item = Vec<bool>> + '_ {
    let bits: Vec<bool> = (0..circuit.latches.len()).map(|latch| state >> latch & 1 != 0).collect();
    input_rows(circuit).filter_map(move |inputs| allowed(circuit, &bits, &inputs))
}

fn input_rows(circuit: &Circuit) -> impl Iterator<Item = Vec<bool>> + use<> {
    let inputs = circuit.inputs.len();
    (0..1u64 << inputs).map(move |row| (0..inputs).map(|input| row >> input & 1 != 0).collect())
}

/// The values of all nodes, if the constraints hold.
fn allowed(circuit: &Circuit, state: &[bool], inputs: &[bool]) -> Option<Vec<bool>> {
    let values = circuit.aig.evaluate(|leaf| leaf_value(circuit, state, inputs, leaf));
    circuit.constraints.iter().all(|&edge| edge_value(&values, edge)).then_some(values)
}

fn leaf_value(circuit: &Circuit, state: &[bool], inputs: &[bool], leaf: Node) -> bool {
    let input = circuit.inputs.iter().position(|&node| node == leaf).map(|input| inputs[input]);
    input.unwrap_or_else(|| {
        let latch = circuit.latches.iter().position(|latch| latch.node == leaf);
        state[latch.expect("a leaf is an input or a latch")]
    })
}

fn state_of(circuit: &Circuit, values: &[bool]) -> u64 {
    bits(circuit.latches.iter().map(|latch| values[latch.node.index()]))
}

fn next_state(circuit: &Circuit, values: &[bool]) -> u64 {
    bits(circuit.latches.iter().map(|latch| edge_value(values, latch.next)))
}

/// Bits as a number, the first one lowest.
pub(crate) fn bits(values: impl Iterator<Item = bool>) -> u64 {
    values.enumerate().fold(0, |state, (index, value)| state | u64::from(value) << index)
}
