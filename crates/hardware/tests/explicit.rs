//! The explicit search that other tests compare with, on circuits whose answers are known, and the extraction of
//! systems against it.

mod common;

use common::{Shape, circuit_of, is_counterexample, is_inductive, random_circuit, shortest_counterexample};
use shofar_hardware::aig::{Builder, Edge, Node};
use shofar_hardware::circuit::{Circuit, Latch, Reset};
use shofar_hardware::evidence::{Invariant, Trace};
use shofar_hardware::system::Extracted;
use shofar_testing::Random;
use shofar_testing::scale::numbers;

fn edge(node: usize) -> Edge {
    Node::from_index(node).into()
}

/// A circuit of latches (next, reset) with nodes from 1, and inputs behind them.
fn circuit(builder: Builder, latches: &[(Edge, Reset)], inputs: usize, bads: &[Edge]) -> Circuit {
    let node = |(index, &(next, reset)): (usize, &(Edge, Reset))| Latch {
        node: Node::from_index(index + 1),
        next,
        reset,
    };
    Circuit {
        aig: builder.into_aig(),
        latches: latches.iter().enumerate().map(node).collect(),
        inputs: (0..inputs).map(|input| Node::from_index(latches.len() + 1 + input)).collect(),
        bads: bads.to_vec(),
        ..Circuit::default()
    }
}

fn shortest(circuit: &Circuit) -> Option<usize> {
    shortest_counterexample(circuit, &circuit.bads)
}

#[test]
fn one_latch() {
    let latch = edge(1);
    let (zero, one, free) = (Reset::Constant(false), Reset::Constant(true), Reset::Free);
    let of = |next, reset, bad| shortest(&circuit(Builder::with_leaves(1), &[(next, reset)], 0, &[bad]));
    assert_eq!(of(!latch, zero, latch), Some(1));
    assert_eq!(of(!latch, zero, !latch), Some(0));
    assert_eq!(of(latch, zero, latch), None);
    assert_eq!(of(latch, free, latch), Some(0));
    assert_eq!(of(latch, one, !latch), None);
}

#[test]
fn constraints_hold_in_the_last_step_too() {
    let latch = edge(1);
    let rises = circuit(Builder::with_leaves(1), &[(Edge::TRUE, Reset::Constant(false))], 0, &[latch]);
    assert_eq!(shortest(&rises), Some(1));
    assert_eq!(shortest(&Circuit { constraints: vec![!latch], ..rises.clone() }), None);
    assert_eq!(shortest(&Circuit { constraints: vec![Edge::FALSE], ..rises }), None);
    let input = circuit(Builder::with_leaves(1), &[], 1, &[edge(1)]);
    assert_eq!(shortest(&input), Some(0));
    assert_eq!(shortest(&Circuit { constraints: vec![!edge(1)], ..input }), None);
}

#[test]
fn a_reset_function_ties_latches() {
    let mut builder = Builder::with_leaves(2);
    let equal = builder.iff(edge(1), edge(2));
    let latches = [(edge(1), Reset::Free), (edge(2), Reset::Function(!edge(1)))];
    let opposite = circuit(builder, &latches, 0, &[equal]);
    assert_eq!(shortest(&opposite), None);
    let differ = Invariant { aig: opposite.aig.clone(), clauses: vec![vec![!equal]], depth: 1 };
    assert!(is_inductive(&opposite, &opposite.bads, &differ));
    let nothing = Invariant { clauses: vec![], ..differ };
    assert!(!is_inductive(&opposite, &opposite.bads, &nothing));
}

#[test]
fn a_counter_with_enable_takes_its_time() {
    for width in [2, 4, 8] {
        let mut builder = Builder::with_leaves(width + 1);
        let mut carry = edge(width + 1);
        let mut latches = Vec::new();
        for bit in 1..=width {
            latches.push((builder.xor(edge(bit), carry), Reset::Constant(false)));
            carry = builder.and(edge(bit), carry);
        }
        let full = builder.and_all((1..=width).map(edge));
        let counter = circuit(builder, &latches, 1, &[full]);
        let length = (1 << width) - 1;
        assert_eq!(shortest(&counter), Some(length));
        let mut trace = Trace { initial: vec![false; width], inputs: vec![vec![true]; length + 1] };
        assert!(is_counterexample(&counter, &[full], &trace));
        trace.inputs[0][0] = false;
        assert!(!is_counterexample(&counter, &[full], &trace));
    }
}

/// Constants, free latches and functions in all positions: the extracted system has the circuit's shortest length.
#[test]
fn extracted_systems_keep_the_shortest_length() {
    let (mut safe, mut long, mut all) = (0, 0, 0);
    for seed in numbers(3000) {
        let random = &mut Random::new(seed);
        let shape = Shape { latches: 1 + random.below(6), gates: random.below(25), ..Shape::default() };
        let circuit = random_circuit(random, &shape);
        let bad = circuit.bads[0];
        let expected = shortest_counterexample(&circuit, &[bad]);
        let system = Extracted::new(&circuit, bad).system;
        let of_system = circuit_of(&system);
        assert_eq!(shortest(&of_system), expected, "{circuit:?}");
        all += 1;
        safe += usize::from(expected.is_none());
        long += usize::from(expected.is_some_and(|length| length > 1));
    }
    assert!(safe > all / 10 && long > all / 50, "{safe} safe, {long} long of {all}");
}

#[test]
fn cyclic_reset_functions_are_found() {
    for seed in numbers(1000) {
        let random = &mut Random::new(seed);
        let mut circuit = random_circuit(random, &Shape { latches: 4, ..Shape::default() });
        assert!(circuit.reset_order().is_ok());
        // A function of the last latch, in a latch that the last one depends on.
        let last = circuit.latches[3].node;
        circuit.latches[0].reset = Reset::Function(!Edge::from(last));
        circuit.latches[3].reset = Reset::Function(circuit.latches[0].node.into());
        let latch = circuit.reset_order().unwrap_err();
        assert!(matches!(circuit.latches[latch].reset, Reset::Function(_)));
    }
}
