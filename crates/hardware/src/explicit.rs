//! For unit tests: small systems, and evidence about them judged by the definitions.

use shofar_testing::Random;

use crate::aig::{Builder, Edge, Node};
use crate::common::{self, circuit_of};
use crate::evidence::{Evidence, Invariant, Trace};
use crate::system::BitSystem;

/// A random system with some constraints and all kinds of resets. The numbers are the largest ones.
pub(crate) fn random_system(random: &mut Random, latches: usize, inputs: usize, gates: usize) -> BitSystem {
    let (latches, inputs) = (1 + random.below(latches), random.below(inputs + 1));
    let mut builder = Builder::with_leaves(latches + inputs);
    let mut edges: Vec<Edge> = (1..=latches + inputs).map(|leaf| Node::from_index(leaf).into()).collect();
    let pick = |random: &mut Random, edges: &[Edge]| {
        // Later edges are deeper functions.
        let index = random.below(edges.len()).max(random.below(edges.len()));
        edges[index].negate_if(random.below(2) == 0)
    };
    for _ in 0..random.below(gates + 1) {
        let (left, right) = (pick(random, &edges), pick(random, &edges));
        let edge = if random.below(4) == 0 { builder.xor(left, right) } else { builder.and(left, right) };
        if edge.as_constant().is_none() {
            edges.push(edge);
        }
    }
    let kinds = [Some(false), Some(false), Some(false), Some(true), Some(true), None];
    let resets = (0..latches).map(|_| kinds[random.below(kinds.len())]).collect();
    let mut next = Vec::new();
    for latch in 0..latches {
        let edge = pick(random, &edges);
        next.push(match random.below(12) {
            0 => Edge::from(random.bool()),
            // As in a counter, so that some bad states are far away.
            1..6 => builder.xor(edges[latch], edge),
            _ => edge,
        });
    }
    let mut bad = if random.bool() { Edge::TRUE } else { pick(random, &edges) };
    for _ in 0..1 + random.below(latches) {
        let latch = edges[random.below(latches)].negate_if(random.bool());
        bad = builder.and(bad, latch);
    }
    let mut constraints: Vec<Edge> = Vec::new();
    for _ in 0..random.below(3) {
        let (left, right) = (pick(random, &edges), pick(random, &edges));
        let edge = builder.or(left, right);
        if edge != Edge::TRUE {
            constraints.push(edge);
        }
    }
    constraints.sort_unstable();
    constraints.dedup();
    BitSystem { aig: builder.into_aig(), resets, next, num_inputs: inputs, bad, constraints }
}

/// A counter from 0, with an enabling input if `enable`; bad if all bits are ones.
pub(crate) fn counter(bits: usize, enable: bool) -> BitSystem {
    let mut builder = Builder::with_leaves(bits + usize::from(enable));
    let latch = |index: usize| Edge::from(Node::from_index(1 + index));
    let mut carry = if enable { latch(bits) } else { Edge::TRUE };
    let mut next = Vec::new();
    for index in 0..bits {
        next.push(builder.xor(latch(index), carry));
        carry = builder.and(carry, latch(index));
    }
    let bad = builder.and_all((0..bits).map(latch));
    BitSystem {
        aig: builder.into_aig(),
        resets: vec![Some(false); bits],
        next,
        num_inputs: usize::from(enable),
        bad,
        constraints: Vec::new(),
    }
}

/// Judges evidence by the definitions, where `shortest` is the length of a shortest counterexample. The error says what
/// is wrong.
pub(crate) fn judge(system: &BitSystem, evidence: &Evidence, shortest: Option<usize>) -> Result<(), String> {
    common::judge(&circuit_of(system), &[system.bad], evidence, shortest)
}

/// Whether the trace is a counterexample.
pub(crate) fn is_counterexample(system: &BitSystem, trace: &Trace) -> bool {
    common::is_counterexample(&circuit_of(system), &[system.bad], trace)
}

/// Whether the invariant proves the system safe, by the definition.
pub(crate) fn is_inductive(system: &BitSystem, invariant: &Invariant) -> bool {
    common::is_inductive(&circuit_of(system), &[system.bad], invariant)
}

/// The values of all nodes in a state, for all inputs with which the constraints hold.
pub(crate) fn allowed_values(system: &BitSystem, state: &[bool]) -> Vec<Vec<bool>> {
    common::values_in(&circuit_of(system), common::bits(state.iter().copied())).collect()
}
