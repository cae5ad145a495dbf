//! Reading and writing AIGER: round trips, another reader as a judge, and files that must be refused.

mod common;

use common::{Shape, random_circuit};
use flussab_aiger::binary::{Config, Parser};
use shofar_hardware::aig::{Edge, Node};
use shofar_hardware::aiger::{Encoding, File, Place, read, write};
use shofar_hardware::circuit::{Circuit, Reset};
use shofar_testing::Random;
use shofar_testing::scale::numbers;

fn bytes(circuit: &Circuit, encoding: Encoding, comments: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(circuit, encoding, comments, &mut bytes).unwrap();
    bytes
}

/// A random circuit with everything that a file can hold.
fn full_circuit(random: &mut Random, functions: bool) -> Circuit {
    let shape = Shape {
        inputs: random.below(4),
        latches: 1 + random.below(5),
        gates: random.below(200),
        functions,
        ..Shape::default()
    };
    let mut circuit = random_circuit(random, &shape);
    let nodes = circuit.aig.len();
    let mut edges = |most: usize| -> Vec<Edge> {
        (0..random.below(most + 1))
            .map(|_| Node::from_index(random.below(nodes)).edge(random.bool()))
            .collect()
    };
    circuit.outputs = edges(3);
    circuit.justice = (0..edges(2).len()).map(|_| edges(3)).collect();
    circuit.fairness = edges(2);
    circuit.names.latches = vec![String::new(); circuit.latches.len()];
    circuit.names.latches[0] = "state of the art".to_owned();
    if !circuit.constraints.is_empty() {
        circuit.names.constraints =
            vec!["c0 is a constraint, no comment".to_owned(); circuit.constraints.len()];
    }
    circuit
}

#[test]
fn what_is_written_is_read() {
    for seed in numbers(2000) {
        let circuit = full_circuit(&mut Random::new(seed), true);
        for encoding in [Encoding::Ascii, Encoding::Binary] {
            let comments: &[u8] = if seed % 2 == 0 { b"" } else { b"made at random\nc\n\n" };
            let file = read(&bytes(&circuit, encoding, comments)).unwrap();
            let variables = (0..circuit.aig.len() as u32).collect();
            assert_eq!(
                file,
                File { circuit: circuit.clone(), encoding, variables, comments: comments.to_vec() }
            );
        }
    }
}

/// `flussab-aiger` knows no reset functions, and it refuses names of constraints and more properties than gates.
#[test]
fn another_reader_reads_the_same() {
    for seed in numbers(500) {
        let mut circuit = full_circuit(&mut Random::new(seed), false);
        circuit.names.constraints.clear();
        if circuit.aig.num_ands() < 20 {
            circuit.justice.clear();
            circuit.fairness.clear();
        }
        let bytes = bytes(&circuit, Encoding::Binary, b"");
        let read = Parser::<u32>::from_read(&bytes[..], Config::default()).unwrap().parse().unwrap();
        let codes = |edges: &[Edge]| edges.iter().map(|edge| edge.code()).collect::<Vec<u32>>();
        assert_eq!(read.input_count, circuit.inputs.len());
        assert_eq!(read.outputs, codes(&circuit.outputs));
        assert_eq!(read.bad_state_properties, codes(&circuit.bads));
        assert_eq!(read.invariant_constraints, codes(&circuit.constraints));
        assert_eq!(read.fairness_constraints, codes(&circuit.fairness));
        assert_eq!(
            read.justice_properties,
            circuit.justice.iter().map(|edges| codes(edges)).collect::<Vec<_>>()
        );
        for (theirs, ours) in read.latches.iter().zip(&circuit.latches) {
            assert_eq!(theirs.next_state, ours.next.code());
            let reset = theirs.initialization.map_or(Reset::Free, Reset::Constant);
            assert_eq!(reset, ours.reset);
        }
        let gates: Vec<[u32; 2]> = circuit
            .aig
            .nodes()
            .filter_map(|node| Some(circuit.aig.and_fanins(node)?.map(Edge::code)))
            .collect();
        assert_eq!(read.and_gates.iter().map(|gate| gate.inputs).collect::<Vec<_>>(), gates);
    }
}

#[test]
fn gates_in_any_order_with_gaps_are_sorted() {
    let text = "aag 20 1 1 1 2\n40\n6 11 7\n10\n10 30 41\n30 6 40\n";
    // The reset 7 is the latch negated.
    assert_eq!(read(text.as_bytes()).unwrap_err().place, Place::Line(3));
    let text = text.replace("6 11 7", "6 11 40");
    let File { circuit, variables, .. } = read(text.as_bytes()).unwrap();
    assert_eq!(variables, [0, 20, 3, 15, 5]);
    assert_eq!(circuit.latches[0].reset, Reset::Function(circuit.inputs[0].into()));
    assert_eq!(circuit.latches[0].next, Edge::from_code(9));
    assert_eq!(circuit.outputs, [Edge::from_code(8)]);
    assert_eq!(circuit.aig.and_fanins(Node::from_index(3)), Some([4, 2].map(Edge::from_code)));
    assert_eq!(circuit.aig.and_fanins(Node::from_index(4)), Some([6, 3].map(Edge::from_code)));
}

#[test]
fn variables_are_kept_where_they_are_topological() {
    // The input comes last, the latch is between gates.
    let text = "aag 4 2 1 0 1 1\n8\n2\n4 6\n6\n6 4 2\n";
    let file = read(text.as_bytes()).unwrap();
    assert_eq!(file.variables, [0, 1, 2, 3, 4]);
    assert_eq!(file.circuit.inputs, [4, 1].map(Node::from_index));
    assert_eq!(bytes(&file.circuit, Encoding::Ascii, b""), text.as_bytes());
    // Another encoding, the same circuit with other numbers.
    let binary = read(&bytes(&file.circuit, Encoding::Binary, b"")).unwrap();
    assert_eq!(binary.circuit.inputs, [1, 2].map(Node::from_index));
    assert_eq!(binary.circuit.aig.and_fanins(Node::from_index(4)), Some([6, 4].map(Edge::from_code)));
}

#[test]
fn malformed_files_are_refused_with_their_place() {
    let line = Place::Line;
    let table: &[(&str, Place, &str)] = &[
        ("", line(1), "begins with"),
        ("p cnf 1 1\n", line(1), "begins with"),
        ("aag 1 0 1 2\n", line(1), "at least five numbers"),
        ("aag 1 0 0 0 0 0 0 0 0 0\n", line(1), "more than nine"),
        ("aag 1 0 1 0 0", line(1), "the file ends"),
        ("aag x 0 1 0 0\n", line(1), "`x` where a number"),
        ("aag 0 1 0 0 0\n2\n", line(1), "too small"),
        ("aig 2 1 0 0 0\n", line(1), "M is 2, but"),
        ("aag 4000000000 0 0 0 0\n", line(1), "variables"),
        ("aag 99999999999 0 0 0 0\n", line(1), "32 bits"),
        ("aag 1000000 1000000 0 0 0\n", line(1), "too short"),
        ("aig 2000000000 2000000000 0 0 0\n", line(1), "2000000000 inputs"),
        ("aag 1 1 0 0 0\n2 \n", line(2), "` ` where the end"),
        ("aag 1 1 0 0 0\n\n", line(2), "the line ends where a number"),
        ("aag 1 1 0 0 0\n3\n", line(2), "no variable"),
        ("aag 1 1 0 0 0\n0\n", line(2), "no variable"),
        ("aag 2 2 0 0 0\n2\n2\n", line(3), "twice"),
        ("aag 2 1 1 0 0\n2\n2 0\n", line(3), "twice"),
        ("aag 1 1 0 1 0\n2\n4\n", line(3), "greatest variable"),
        ("aag 3 1 0 1 0\n2\n4\n", line(3), "literal 4 is not defined"),
        ("aag 3 1 0 0 1\n2\n4 2 6\n", line(3), "literal 6 is not defined"),
        ("aag 3 0 1 0 0\n2 4\n", line(2), "literal 4 is not defined"),
        ("aag 2 0 0 0 2\n2 4 4\n4 3 3\n", line(3), "depends on itself"),
        ("aag 1 0 0 0 1\n2 2 2\n", line(2), "depends on itself"),
        ("aag 2 0 2 0 0\n2 2 4\n4 4 2\n", line(3), "reset function"),
        ("aig 2 0 2 0 0\n2 4\n4 2\n", line(3), "reset function"),
        ("aag 0 0 0 0 0\nhello\n", line(2), "`h` where a name"),
        ("aag 0 0 0 0 0\ni0 x\n", line(2), "no i0"),
        ("aag 1 1 0 0 0\n2\ni0 x\ni0 y\n", line(4), "named twice"),
        ("aag 1 1 0 0 0\n2\ni0 x", line(3), "the file ends in the middle"),
        ("aag 0 0 0 0 0\ncomment\n", line(2), "`o` where a number"),
        ("aag 0 0 0 0 0 0 0 1\n5\n0\n", line(2), "too short for this justice"),
        ("aig 9 1 0 0 8\n", line(1), "too short"),
        ("aig 2 1 0 0 1\n", Place::Byte(14), "the file ends in the gates"),
        ("aig 2 1 0 0 1\n\x02", Place::Byte(14), "the file ends in the gates"),
        ("aig 2 1 0 0 1\n\x00\x00", Place::Byte(14), "come after"),
        ("aig 2 1 0 0 1\n\x05\x00", Place::Byte(14), "come after"),
        ("aig 2 1 0 0 1\n\x02\x03", Place::Byte(14), "negative"),
        ("aig 2 1 0 0 1\n\x02\x00garbage", line(2), "`g` where a name"),
    ];
    for &(text, place, message) in table {
        let mistake = read(text.as_bytes()).expect_err(text);
        assert_eq!(mistake.place, place, "{text:?}: {mistake}");
        assert!(mistake.message.contains(message), "{text:?}: {mistake}");
    }
    let long = b"aig 2 1 0 0 1\n\xff\xff\xff\xff\x7f\x00";
    assert!(read(long).unwrap_err().message.contains("32 bits"));
}

/// Whatever is read of a damaged file is a circuit that can be written and read again.
#[test]
fn damaged_files_cause_no_panic() {
    for seed in numbers(3000) {
        let random = &mut Random::new(seed);
        let circuit = full_circuit(random, true);
        let encoding = if random.bool() { Encoding::Ascii } else { Encoding::Binary };
        let mut bytes = bytes(&circuit, encoding, b"");
        for _ in 0..1 + random.below(4) {
            let at = random.below(bytes.len());
            match random.below(4) {
                0 => bytes[at] = random.below(256) as u8,
                1 => bytes[at] = *random.choose(b"0123456789 \naigc"),
                2 => bytes.truncate(at.max(1)),
                _ => {
                    bytes.remove(at);
                    bytes.push(b'\n');
                }
            }
        }
        if let Ok(file) = read(&bytes) {
            for encoding in [Encoding::Ascii, Encoding::Binary] {
                let again = read(&self::bytes(&file.circuit, encoding, &file.comments)).unwrap();
                assert_eq!(again.circuit.latches.len(), file.circuit.latches.len());
            }
        }
    }
}

/// Gates in a chain, the last one first: nothing recurses.
#[test]
fn deep_files_need_no_deep_stack() {
    let gates = 200_000;
    let mut text = format!("aag {} 1 0 1 {gates}\n2\n4\n", gates + 1);
    for gate in 2..gates + 2 {
        let argument = if gate == gates + 1 { 2 } else { 2 * gate + 2 };
        text.push_str(&format!("{} {argument} 2\n", 2 * gate));
    }
    let file = read(text.as_bytes()).unwrap();
    assert_eq!(file.circuit.aig.num_ands(), gates);
    assert_eq!(file.circuit.outputs[0].node().index(), gates + 1);
}
