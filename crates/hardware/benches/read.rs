//! How fast circuits are read and written.

use divan::Bencher;
use divan::counter::BytesCount;
use shofar_hardware::aig::{Aig, Edge, Node};
use shofar_hardware::aiger::{Encoding, read, write};
use shofar_hardware::btor2;
use shofar_hardware::circuit::{Circuit, Latch, Reset};

fn main() {
    divan::main();
}

/// A circuit of a million gates whose arguments are near and far.
fn circuit() -> Circuit {
    let mut aig = Aig::new();
    let inputs: Vec<Node> = (0..1000).map(|_| aig.push_leaf()).collect();
    let latches: Vec<Node> = (0..10_000).map(|_| aig.push_leaf()).collect();
    for gate in 0..1_000_000_usize {
        let nodes = aig.len();
        let near = Node::from_index(nodes - 1 - gate * 7 % 100).edge(gate % 3 == 0);
        let far = Node::from_index(1 + gate.wrapping_mul(2_654_435_761) % (nodes - 1)).edge(gate % 5 == 0);
        aig.push_and(near.max(far), near.min(far));
    }
    let last = aig.len() - 1;
    let latch = |(index, &node): (usize, &Node)| Latch {
        node,
        next: Node::from_index(last - index).into(),
        reset: Reset::Constant(index % 2 == 0),
    };
    let latches = latches.iter().enumerate().map(latch).collect();
    Circuit { aig, inputs, latches, bads: vec![Edge::from(Node::from_index(last))], ..Circuit::default() }
}

fn bytes(encoding: Encoding) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(&circuit(), encoding, b"", &mut bytes).expect("vectors take all");
    bytes
}

#[divan::bench]
fn read_binary(bencher: Bencher<'_, '_>) {
    let bytes = bytes(Encoding::Binary);
    bencher.counter(BytesCount::of_slice(&bytes)).bench(|| read(&bytes).expect("the file is right"));
}

#[divan::bench]
fn read_ascii(bencher: Bencher<'_, '_>) {
    let bytes = bytes(Encoding::Ascii);
    bencher.counter(BytesCount::of_slice(&bytes)).bench(|| read(&bytes).expect("the file is right"));
}

/// A file in BTOR2 of operators whose arguments are near and far.
fn words() -> String {
    let mut text =
        String::from("1 sort bitvec 1\n2 sort bitvec 32\n3 zero 2\n4 input 2 first\n5 state 2 second\n");
    let operators = ["add", "and", "xor", "mul", "sub", "or", "sll", "udiv"];
    let lines = 200_000_usize;
    for id in 6..lines {
        let (near, far) = (id - 1 - id % 3, 3 + id.wrapping_mul(2_654_435_761) % (id - 3));
        let sign = if id % 5 == 0 { "-" } else { "" };
        text.push_str(&format!("{id} {} 2 {sign}{near} {far}\n", operators[id % operators.len()]));
    }
    text.push_str(&format!("{lines} next 2 5 {}\n", lines - 1));
    text
}

#[divan::bench]
fn read_words(bencher: Bencher<'_, '_>) {
    let text = words();
    bencher
        .counter(BytesCount::of_str(&text))
        .bench(|| btor2::read(text.as_bytes()).expect("the file is right"));
}

#[divan::bench]
fn write_binary(bencher: Bencher<'_, '_>) {
    let circuit = circuit();
    let mut out = Vec::new();
    bencher.counter(BytesCount::of_slice(&bytes(Encoding::Binary))).bench_local(|| {
        out.clear();
        write(&circuit, Encoding::Binary, b"", &mut out).expect("vectors take all");
    });
}
