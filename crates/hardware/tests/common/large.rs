//! Large circuits, of about as many gates as asked for: many small machines side by side, and one deep cone.

#![allow(dead_code, reason = "each user needs a part")]

use shofar_hardware::aig::{Aig, Builder, Edge, Node};
use shofar_hardware::circuit::{Circuit, Latch, Reset};
use shofar_hardware::words::{Binary, Word, binary, extend, ite};

/// The inputs of a machine of [`accumulators`]: two factors and an enabling bit.
const MACHINE_INPUTS: usize = 17;

/// The latches of a machine of [`accumulators`].
const MACHINE_LATCHES: usize = 32;

/// Machines that multiply two bytes from the inputs and add the product to a sum, if they are enabled. Bad if all sums
/// have this bit. A product is below 2^16, so the circuit is unsafe, and counterexamples are long if the bit is high.
pub(crate) fn accumulators(gates: usize, bit: usize) -> Circuit {
    // Inputs come first, so their number must be known. A machine has about 890 gates.
    let machines = gates.div_ceil(890).max(1);
    let (inputs, latches) = (machines * MACHINE_INPUTS, machines * MACHINE_LATCHES);
    let mut builder = Builder::with_leaves(inputs + latches);
    let leaves = |first: usize, count: usize| -> Word {
        (first..first + count).map(|leaf| Node::from_index(1 + leaf).into()).collect()
    };
    let mut next: Vec<Edge> = Vec::new();
    let mut tops: Vec<Edge> = Vec::new();
    for machine in 0..machines {
        let input = leaves(machine * MACHINE_INPUTS, MACHINE_INPUTS);
        let sum = leaves(inputs + machine * MACHINE_LATCHES, MACHINE_LATCHES);
        let [left, right] = [&input[..8], &input[8..16]].map(|byte| extend(byte, 16, false));
        let product = binary(&mut builder, Binary::Mul, &left, &right);
        let product = extend(&product, MACHINE_LATCHES, false);
        let added = binary(&mut builder, Binary::Add, &sum, &product);
        next.extend(ite(&mut builder, input[16], &added, &sum));
        tops.push(sum[bit]);
    }
    let bad = builder.and_all(tops);
    let latch = |(index, next): (usize, Edge)| Latch {
        node: Node::from_index(1 + inputs + index),
        next,
        reset: Reset::Constant(false),
    };
    Circuit {
        aig: builder.into_aig(),
        inputs: (0..inputs).map(|input| Node::from_index(1 + input)).collect(),
        latches: next.into_iter().enumerate().map(latch).collect(),
        bads: vec![bad],
        ..Circuit::default()
    }
}

/// A chain: each gate has the negated one before as its first argument and an input as its second. A constraint says
/// that the last one is false. Bad is the last latch of a shift register of [`LENGTH`] latches.
pub(crate) fn chain(gates: usize) -> Circuit {
    let mut aig = Aig::new();
    let inputs: Vec<Node> = (0..LENGTH).map(|_| aig.push_leaf()).collect();
    let latches: Vec<Node> = (0..LENGTH).map(|_| aig.push_leaf()).collect();
    let mut last = Edge::from(inputs[0]);
    for gate in 0..gates {
        let input = inputs[gate.wrapping_mul(2_654_435_761) / 1024 % LENGTH];
        last = aig.push_and(!last, input.edge(gate % 7 == 0)).into();
    }
    let latch = |(index, &node): (usize, &Node)| Latch {
        node,
        next: if index == 0 { inputs[0] } else { latches[index - 1] }.into(),
        reset: Reset::Constant(false),
    };
    Circuit {
        aig,
        bads: vec![latches[LENGTH - 1].into()],
        constraints: vec![!last],
        latches: latches.iter().enumerate().map(latch).collect(),
        inputs,
        ..Circuit::default()
    }
}

/// The inputs and latches of a [`chain`], and the length of its counterexamples.
pub(crate) const LENGTH: usize = 64;
