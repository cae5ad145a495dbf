//! A run of a circuit that can be looked at in any order of steps.
//!
//! Only the latches of each step are kept, a bit each: the values of all gates of a long run of a large circuit would not
//! fit into memory. The gates of a step are evaluated when somebody asks for them.

use crate::aig::edge_value;
use crate::circuit::Circuit;
use crate::evidence::Trace;

/// A run along a trace.
#[derive(Clone, Debug)]
pub struct Playback<'a> {
    circuit: &'a Circuit,
    trace: &'a Trace,
    /// By steps: the values of the latches, 64 in a word.
    states: Vec<u64>,
}

impl<'a> Playback<'a> {
    /// Runs a circuit along a trace. Missing values are false.
    pub fn new(circuit: &'a Circuit, trace: &'a Trace) -> Self {
        let latches = circuit.latches.len();
        let mut playback = Self { circuit, trace, states: Vec::new() };
        let initial = (0..latches).map(|latch| trace.initial.get(latch).copied().unwrap_or(false));
        playback.states.extend(packed(initial));
        for step in 1..trace.inputs.len() {
            let values = playback.values(step - 1);
            let state = circuit.latches.iter().map(|latch| edge_value(&values, latch.next));
            playback.states.extend(packed(state));
        }
        playback
    }

    /// The circuit.
    pub fn circuit(&self) -> &'a Circuit {
        self.circuit
    }

    /// The number of steps.
    pub fn num_steps(&self) -> usize {
        self.trace.inputs.len()
    }

    /// The values of all nodes in a step.
    pub fn values(&self, step: usize) -> Vec<bool> {
        let words = self.circuit.latches.len().div_ceil(64);
        let state = &self.states[step * words..(step + 1) * words];
        let mut leaves = vec![false; self.circuit.aig.len()];
        for (index, latch) in self.circuit.latches.iter().enumerate() {
            leaves[latch.node.index()] = state[index / 64] >> (index % 64) & 1 != 0;
        }
        for (node, &value) in self.circuit.inputs.iter().zip(&self.trace.inputs[step]) {
            leaves[node.index()] = value;
        }
        self.circuit.aig.evaluate(|leaf| leaves[leaf.index()])
    }
}

/// Bits in words of 64.
pub(crate) fn packed(bits: impl Iterator<Item = bool>) -> Vec<u64> {
    let mut words = Vec::new();
    for (index, bit) in bits.enumerate() {
        if index % 64 == 0 {
            words.push(0);
        }
        words[index / 64] |= u64::from(bit) << (index % 64);
    }
    words
}

#[cfg(test)]
mod tests {
    use shofar_testing::Random;
    use shofar_testing::scale::numbers;

    use super::*;
    use crate::common::{Shape, random_circuit};
    use crate::simulate::replay;

    #[test]
    fn steps_have_the_values_of_a_replay() {
        for seed in numbers(200) {
            let random = &mut Random::new(seed);
            // More latches than bits of a word.
            let shape = Shape { latches: [0, 6, 64, 70][random.below(4)], ..Shape::default() };
            let circuit = random_circuit(random, &shape);
            let inputs: Vec<Vec<bool>> =
                (0..5).map(|_| circuit.inputs.iter().map(|_| random.bool()).collect()).collect();
            let initial = circuit.latches.iter().map(|_| random.bool()).collect();
            let trace = Trace { initial, inputs };
            let playback = Playback::new(&circuit, &trace);
            let expected = replay(&circuit, &trace).values;
            assert_eq!(playback.num_steps(), expected.len());
            for step in [4, 0, 2, 3, 1] {
                assert_eq!(playback.values(step), expected[step], "circuit {seed}, step {step}");
            }
        }
    }
}
