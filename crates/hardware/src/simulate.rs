//! Simulation: many patterns at a time, with unknown values, and the replay of traces.
//!
//! * [`Patterns`] evaluates 64·K assignments of the leaves at once, a bit of a word each; `Runs` simulates as many runs
//!   of a system, with random inputs.
//! * [`ternary`] evaluates with unknown leaves: a node is known if its value follows by the rules of AND alone.
//! * [`replay`] runs a circuit or a system along a [`Trace`].

use crate::aig::{Aig, Edge, Node, edge_value};
use crate::circuit::Circuit;
use crate::evidence::Trace;
use crate::system::BitSystem;

/// The values of all nodes of a graph in 64·K assignments.
#[derive(Clone, Debug)]
pub struct Patterns<const K: usize> {
    /// By nodes: a bit for each assignment.
    words: Vec<[u64; K]>,
}

impl<const K: usize> Patterns<K> {
    /// All leaves are false, and no gate is evaluated.
    pub fn new(aig: &Aig) -> Self {
        Self { words: vec![[0; K]; aig.len()] }
    }

    /// Sets the values of a leaf. Gates keep theirs until [`evaluate`](Self::evaluate).
    pub fn set(&mut self, leaf: Node, words: [u64; K]) {
        self.words[leaf.index()] = words;
    }

    /// Evaluates all gates.
    pub fn evaluate(&mut self, aig: &Aig) {
        debug_assert_eq!(aig.len(), self.words.len());
        for node in aig.nodes() {
            if let Some([left, right]) = aig.and_fanins(node) {
                let (left, right) = (self.get(left), self.get(right));
                self.words[node.index()] = std::array::from_fn(|word| left[word] & right[word]);
            }
        }
    }

    /// The values of an edge.
    #[inline]
    pub fn get(&self, edge: Edge) -> [u64; K] {
        let flip = spread(edge.is_negated());
        self.words[edge.node().index()].map(|word| word ^ flip)
    }

    /// By nodes: the values.
    pub fn nodes(&self) -> &[[u64; K]] {
        &self.words
    }
}

/// A value in all patterns of a word.
#[inline]
pub fn spread(value: bool) -> u64 {
    if value { u64::MAX } else { 0 }
}

/// Reproducible random words (S. Vigna's `splitmix64`).
pub(crate) struct Words(u64);

impl Words {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let word = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ word >> 31
    }

    /// Random words for a leaf.
    pub(crate) fn row<const K: usize>(&mut self) -> [u64; K] {
        std::array::from_fn(|_| self.next())
    }
}

/// 64·K runs of a system.
pub(crate) struct Runs<'a, const K: usize> {
    system: &'a BitSystem,
    pub(crate) random: Words,
    pub(crate) patterns: Patterns<K>,
    /// Scratch: the next state.
    next: Vec<[u64; K]>,
}

impl<'a, const K: usize> Runs<'a, K> {
    pub(crate) fn new(system: &'a BitSystem, seed: u64) -> Self {
        Self { system, random: Words::new(seed), patterns: Patterns::new(&system.aig), next: Vec::new() }
    }

    /// Sets the latches to reset states; free ones get random values.
    pub(crate) fn reset(&mut self) {
        for (latch, reset) in self.system.resets.iter().enumerate() {
            let row = reset.map_or_else(|| self.random.row(), |value| [spread(value); K]);
            self.patterns.set(self.system.latch(latch), row);
        }
    }

    /// Sets the inputs to random values.
    pub(crate) fn randomise_inputs(&mut self) {
        for input in 0..self.system.num_inputs {
            self.patterns.set(self.system.input(input), self.random.row());
        }
    }

    /// Sets the inputs and the latches to random values.
    pub(crate) fn randomise_leaves(&mut self) {
        for leaf in 1..=self.system.num_latches() + self.system.num_inputs {
            self.patterns.set(Node::from_index(leaf), self.random.row());
        }
    }

    /// Evaluates all gates.
    pub(crate) fn evaluate(&mut self) {
        self.patterns.evaluate(&self.system.aig);
    }

    /// Sets the latches to the next state.
    pub(crate) fn advance(&mut self) {
        let (patterns, system) = (&mut self.patterns, self.system);
        self.next.clear();
        self.next.extend(system.next.iter().map(|&edge| patterns.get(edge)));
        for (latch, &row) in self.next.iter().enumerate() {
            patterns.set(system.latch(latch), row);
        }
    }
}

/// The values of all nodes, given those of leaves that are known.
pub fn ternary(aig: &Aig, leaf: impl Fn(Node) -> Option<bool>) -> Vec<Option<bool>> {
    let mut values: Vec<Option<bool>> = Vec::with_capacity(aig.len());
    for node in aig.nodes() {
        let value = match aig.and_fanins(node) {
            Some([left, right]) => match (ternary_value(&values, left), ternary_value(&values, right)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            },
            None if node == Node::FALSE => Some(false),
            None => leaf(node),
        };
        values.push(value);
    }
    values
}

/// The value of an edge, given those of the nodes.
#[inline]
pub fn ternary_value(values: &[Option<bool>], edge: Edge) -> Option<bool> {
    values[edge.node().index()].map(|value| value != edge.is_negated())
}

/// What replay needs of a circuit or a system.
#[derive(Clone, Debug)]
pub struct Machine<'a> {
    aig: &'a Aig,
    inputs: Vec<Node>,
    /// By latches: its leaf and its next function.
    latches: Vec<(Node, Edge)>,
    bads: Vec<Edge>,
    constraints: &'a [Edge],
}

impl<'a> From<&'a Circuit> for Machine<'a> {
    fn from(circuit: &'a Circuit) -> Self {
        Self {
            aig: &circuit.aig,
            inputs: circuit.inputs.clone(),
            latches: circuit.latches.iter().map(|latch| (latch.node, latch.next)).collect(),
            bads: circuit.safety().to_vec(),
            constraints: &circuit.constraints,
        }
    }
}

impl<'a> From<&'a BitSystem> for Machine<'a> {
    fn from(system: &'a BitSystem) -> Self {
        let latch = |(index, &next): (usize, &Edge)| (system.latch(index), next);
        Self {
            aig: &system.aig,
            inputs: (0..system.num_inputs).map(|index| system.input(index)).collect(),
            latches: system.next.iter().enumerate().map(latch).collect(),
            bads: vec![system.bad],
            constraints: &system.constraints,
        }
    }
}

/// What happens along a trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Replay {
    /// By steps: the values of all nodes.
    pub values: Vec<Vec<bool>>,
    /// The first step in which a bad is true, and that bad.
    pub first_bad: Option<(usize, usize)>,
    /// The first step in which a constraint is false, and that constraint.
    pub first_violation: Option<(usize, usize)>,
}

impl Replay {
    /// The first bad that is true while all constraints have been, as (step, bad).
    pub fn counterexample(&self) -> Option<(usize, usize)> {
        self.first_bad.filter(|&(step, _)| self.first_violation.is_none_or(|(violation, _)| step < violation))
    }
}

/// Runs a circuit or a system from the initial state of a trace along its inputs. Missing values are false. Whether
/// the initial state agrees with the resets is not looked at.
pub fn replay<'a>(machine: impl Into<Machine<'a>>, trace: &Trace) -> Replay {
    let machine = machine.into();
    let mut replay = Replay { values: Vec::new(), first_bad: None, first_violation: None };
    let mut leaves = vec![false; machine.aig.len()];
    for (&(node, _), &value) in machine.latches.iter().zip(&trace.initial) {
        leaves[node.index()] = value;
    }
    for (step, inputs) in trace.inputs.iter().enumerate() {
        for (index, node) in machine.inputs.iter().enumerate() {
            leaves[node.index()] = inputs.get(index).copied().unwrap_or(false);
        }
        let values = machine.aig.evaluate(|leaf| leaves[leaf.index()]);
        let first = |edges: &[Edge], wanted: bool| {
            edges.iter().position(|&edge| edge_value(&values, edge) == wanted).map(|index| (step, index))
        };
        replay.first_bad = replay.first_bad.or_else(|| first(&machine.bads, true));
        replay.first_violation = replay.first_violation.or_else(|| first(machine.constraints, false));
        for &(node, next) in &machine.latches {
            leaves[node.index()] = edge_value(&values, next);
        }
        replay.values.push(values);
    }
    replay
}

#[cfg(test)]
mod tests {
    use shofar_testing::Random;
    use shofar_testing::scale::numbers;

    use super::*;
    use crate::common::{Shape, is_counterexample, random_circuit};
    use crate::system::Extracted;

    fn words(random: &mut Random) -> [u64; 2] {
        [0; 2].map(|_| (0..64).fold(0, |word, _| word << 1 | u64::from(random.bool())))
    }

    #[test]
    fn patterns_are_evaluations_side_by_side() {
        for seed in numbers(200) {
            let random = &mut Random::new(seed);
            let circuit = random_circuit(random, &Shape::default());
            let mut patterns: Patterns<2> = Patterns::new(&circuit.aig);
            let leaves: Vec<Node> =
                circuit.aig.nodes().skip(1).filter(|&node| !circuit.aig.is_and(node)).collect();
            leaves.iter().for_each(|&leaf| patterns.set(leaf, words(random)));
            patterns.evaluate(&circuit.aig);
            for bit in [0, 17, 63, 64, 127] {
                let at = |node: Node| patterns.get(node.into())[bit / 64] >> (bit % 64) & 1 != 0;
                let values = circuit.aig.evaluate(at);
                assert!(circuit.aig.nodes().all(|node| values[node.index()] == at(node)));
            }
        }
    }

    #[test]
    fn known_values_hold_under_all_completions() {
        for seed in numbers(300) {
            let random = &mut Random::new(seed);
            let circuit = random_circuit(random, &Shape::default());
            let leaves: Vec<Option<bool>> =
                (0..circuit.aig.len()).map(|_| (!random.one_in(3)).then(|| random.bool())).collect();
            let known = ternary(&circuit.aig, |leaf| leaves[leaf.index()]);
            for _ in 0..20 {
                let filled: Vec<bool> =
                    leaves.iter().map(|leaf| leaf.unwrap_or_else(|| random.bool())).collect();
                let values = circuit.aig.evaluate(|leaf| filled[leaf.index()]);
                assert!(known.iter().zip(&values).all(|(known, value)| known.is_none_or(|it| it == *value)));
            }
        }
    }

    /// A random walk: replay finds what the definition says, in the circuit and in its system.
    #[test]
    fn replay_finds_the_first_bad_step() {
        let mut found = 0;
        for seed in numbers(1000) {
            let random = &mut Random::new(seed);
            let circuit = random_circuit(random, &Shape { bads: 1, functions: false, ..Shape::default() });
            let inputs: Vec<Vec<bool>> =
                (0..6).map(|_| circuit.inputs.iter().map(|_| random.bool()).collect()).collect();
            let free: Vec<bool> = circuit.latches.iter().map(|_| random.bool()).collect();
            let initial = circuit.initial_state(|latch| free[latch], &inputs[0]);
            let trace = Trace { initial, inputs };
            let replay = replay(&circuit, &trace);
            let prefix = |length: usize| Trace {
                initial: trace.initial.clone(),
                inputs: trace.inputs[..=length].to_vec(),
            };
            let first = (0..6).find(|&length| is_counterexample(&circuit, &circuit.bads, &prefix(length)));
            assert_eq!(replay.counterexample(), first.map(|step| (step, 0)));
            found += usize::from(first.is_some());
        }
        assert!(found > 50, "{found} counterexamples");
    }

    #[test]
    fn a_trace_of_a_system_and_of_its_circuit_end_alike() {
        for seed in numbers(1000) {
            let random = &mut Random::new(seed);
            let circuit = random_circuit(random, &Shape { bads: 1, ..Shape::default() });
            let extracted = Extracted::new(&circuit, circuit.bads[0]);
            let system = &extracted.system;
            let initial = system.resets.iter().map(|reset| reset.unwrap_or_else(|| random.bool())).collect();
            let inputs = (0..6).map(|_| (0..system.num_inputs).map(|_| random.bool()).collect()).collect();
            let trace = Trace { initial, inputs };
            let of_circuit = replay(&circuit, &extracted.trace_back(&trace));
            assert_eq!(replay(system, &trace).counterexample(), of_circuit.counterexample());
        }
    }
}
