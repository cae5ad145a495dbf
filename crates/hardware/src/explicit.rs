//! For tests: small systems, their verdicts by explicit search, and invariants checked in all states.

use shofar_testing::Random;

use crate::aig::{Builder, Edge, Node, edge_value};
use crate::evidence::{Invariant, Trace};
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

/// By steps of a run: the values of all nodes.
pub(crate) fn states_of(system: &BitSystem, trace: &Trace) -> Vec<Vec<bool>> {
    let mut state = trace.initial.clone();
    let mut steps = Vec::new();
    for inputs in &trace.inputs {
        let values = evaluate(system, &state, inputs);
        state = system.next.iter().map(|&edge| edge_value(&values, edge)).collect();
        steps.push(values);
    }
    steps
}

/// Whether the trace is a counterexample.
pub(crate) fn is_counterexample(system: &BitSystem, trace: &Trace) -> bool {
    let resets =
        system.resets.iter().zip(&trace.initial).all(|(reset, value)| reset.is_none_or(|it| it == *value));
    let steps = states_of(system, trace);
    resets
        && trace.initial.len() == system.num_latches()
        && trace.inputs.iter().all(|inputs| inputs.len() == system.num_inputs)
        && steps.iter().all(|values| system.constraints.iter().all(|&edge| edge_value(values, edge)))
        && steps.last().is_some_and(|values| edge_value(values, system.bad))
}

fn evaluate(system: &BitSystem, state: &[bool], inputs: &[bool]) -> Vec<bool> {
    system.aig.evaluate(|leaf| match system.latch_index(leaf) {
        Some(latch) => state[latch],
        None => inputs[system.input_index(leaf).expect("a leaf is a latch or an input")],
    })
}

/// The values of all edges of interest in all states under all inputs.
pub(crate) struct Explicit {
    inputs: usize,
    /// By states and inputs: the next state; whether bad; whether the constraints hold.
    next: Vec<usize>,
    bad: Vec<bool>,
    constrained: Vec<bool>,
    initial: Vec<usize>,
}

fn bits(number: usize, width: usize) -> Vec<bool> {
    (0..width).map(|bit| number >> bit & 1 != 0).collect()
}

impl Explicit {
    pub(crate) fn of(system: &BitSystem) -> Self {
        let latches = system.num_latches();
        let inputs = 1 << system.num_inputs;
        let (mut next, mut bad, mut constrained) = (Vec::new(), Vec::new(), Vec::new());
        for state in 0..1usize << latches {
            for input in 0..inputs {
                let values = evaluate(system, &bits(state, latches), &bits(input, system.num_inputs));
                let successor = system.next.iter().enumerate();
                next.push(successor.map(|(bit, &edge)| usize::from(edge_value(&values, edge)) << bit).sum());
                bad.push(edge_value(&values, system.bad));
                constrained.push(system.constraints.iter().all(|&edge| edge_value(&values, edge)));
            }
        }
        let agrees = |state: usize| {
            system
                .resets
                .iter()
                .enumerate()
                .all(|(bit, reset)| reset.is_none_or(|it| it == (state >> bit & 1 != 0)))
        };
        let initial = (0..1usize << latches).filter(|&state| agrees(state)).collect();
        Self { inputs, next, bad, constrained, initial }
    }

    /// The length of a shortest counterexample.
    pub(crate) fn shortest(&self) -> Option<usize> {
        self.layers().position(|pairs| pairs.iter().any(|&pair| self.bad[pair]))
    }

    /// By steps: the pairs of state and input that are possible there and satisfy the constraints, without those of
    /// states that were possible before.
    fn layers(&self) -> impl Iterator<Item = Vec<usize>> + '_ {
        let mut seen = vec![false; self.next.len() / self.inputs];
        let mut states = self.initial.clone();
        std::iter::from_fn(move || {
            states.retain(|&state| !std::mem::replace(&mut seen[state], true));
            if states.is_empty() {
                return None;
            }
            let pairs: Vec<usize> = states
                .iter()
                .flat_map(|&state| (0..self.inputs).map(move |input| state * self.inputs + input))
                .filter(|&pair| self.constrained[pair])
                .collect();
            states = pairs.iter().map(|&pair| self.next[pair]).collect();
            Some(pairs)
        })
    }

    /// Whether an invariant satisfies its rule: base, step and safety.
    pub(crate) fn accepts(&self, system: &BitSystem, invariant: &Invariant) -> bool {
        let latches = system.num_latches();
        let holds: Vec<bool> = (0..self.next.len())
            .map(|pair| {
                let (state, input) = (pair / self.inputs, pair % self.inputs);
                let (state, input) = (bits(state, latches), bits(input, system.num_inputs));
                let values = invariant.aig.evaluate(|leaf| match system.latch_index(leaf) {
                    Some(latch) => state[latch],
                    None => input[system.input_index(leaf).expect("a leaf is a latch or an input")],
                });
                invariant.clauses.iter().all(|clause| clause.iter().any(|&edge| edge_value(&values, edge)))
            })
            .collect();
        let base = self.layers().take(invariant.depth).all(|pairs| pairs.iter().all(|&pair| holds[pair]));
        let within: Vec<bool> =
            (0..self.next.len()).map(|pair| holds[pair] && self.constrained[pair]).collect();
        // The ends of chains of steps in which clauses and constraints hold, by length.
        let mut ends = within.clone();
        for _ in 1..invariant.depth {
            let mut reached = vec![false; self.next.len() / self.inputs];
            (0..self.next.len()).filter(|&pair| ends[pair]).for_each(|pair| reached[self.next[pair]] = true);
            ends = (0..self.next.len()).map(|pair| within[pair] && reached[pair / self.inputs]).collect();
        }
        let step = (0..self.next.len()).filter(|&pair| ends[pair]).all(|pair| {
            (0..self.inputs)
                .map(|input| self.next[pair] * self.inputs + input)
                .all(|after| holds[after] || !self.constrained[after])
        });
        let safety = (0..self.next.len()).all(|pair| !within[pair] || !self.bad[pair]);
        invariant.depth >= 1 && base && step && safety
    }
}
