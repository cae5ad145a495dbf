//! Circuits whose answers are known, from their text to a checked answer.

use std::time::{Duration, Instant};

use shofar_hardware::aig::Edge;
use shofar_hardware::aiger::{Encoding, read, write};
use shofar_hardware::circuit::Circuit;
use shofar_hardware::solve::{Options, Verdict, solve};
use shofar_run::Limits;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Expected {
    Safe,
    /// The bad that fires, and the length of the shortest counterexample.
    Unsafe(usize, usize),
}

impl Expected {
    /// Whether an answer is as expected. Not all engines find a shortest counterexample.
    fn admits(self, found: Expected) -> bool {
        match (self, found) {
            (Safe, Safe) => true,
            (Unsafe(bad, shortest), Unsafe(fired, length)) => bad == fired && shortest <= length,
            _ => false,
        }
    }
}

use Expected::{Safe, Unsafe};

fn solved(circuit: &Circuit, bads: &[Edge]) -> Expected {
    let deadline = Instant::now() + Duration::from_secs(60);
    let limits = Limits { deadline: Some(deadline), ..Limits::default() };
    match solve(circuit, bads, &Options::default(), &limits).verdict {
        Verdict::Safe(_) => Safe,
        Verdict::Unsafe(trace, fired) => Unsafe(fired, trace.length()),
        Verdict::Unknown(stop) => panic!("{stop}"),
    }
}

/// Whether the answer is as expected in both encodings.
fn is_answered(text: &str, expected: Expected) -> bool {
    let circuit = read(text.as_bytes()).unwrap().circuit;
    let mut binary = Vec::new();
    write(&circuit, Encoding::Binary, b"", &mut binary).unwrap();
    let again = read(&binary).unwrap().circuit;
    [circuit, again].iter().all(|circuit| expected.admits(solved(circuit, circuit.safety())))
}

#[test]
fn small_circuits_have_their_known_answers() {
    for (what, text, expected) in [
        ("a toggle, and its negation", "aag 1 0 1 2 0\n2 3\n2\n3\n", Unsafe(1, 0)),
        ("a toggle", "aag 1 0 1 1 0\n2 3\n2\n", Unsafe(0, 1)),
        ("a latch that keeps 0", "aag 1 0 1 0 0 1\n2 2\n2\n", Safe),
        ("a latch that keeps any value", "aag 1 0 1 0 0 1\n2 2 2\n2\n", Unsafe(0, 0)),
        ("a latch that keeps 1", "aag 1 0 1 0 0 1\n2 2 1\n3\n", Safe),
        ("a constrained input", "aag 1 1 0 0 0 1 1\n2\n2\n3\n", Safe),
        ("a rising latch", "aag 1 0 1 0 0 1\n2 1\n2\n", Unsafe(0, 1)),
        ("a rising latch, constrained in the last step", "aag 1 0 1 0 0 1 1\n2 1\n2\n3\n", Safe),
        ("the constraint false", "aag 1 0 1 0 0 1 1\n2 1\n1\n0\n", Safe),
        ("a free latch and its negation", "aag 5 0 2 0 3 1\n2 2 2\n4 4 3\n11\n6 2 4\n8 3 5\n10 7 9\n", Safe),
        (
            "a free latch and another",
            "aag 5 0 2 0 3 1\n2 2 2\n4 4 4\n11\n6 2 4\n8 3 5\n10 7 9\n",
            Unsafe(0, 0),
        ),
        ("the second of two bads, in step 3", "aag 4 0 4 0 0 2\n2 1\n4 2\n6 4\n8 8\n8\n6\n", Unsafe(1, 3)),
        ("a bad that is an input and a latch", "aag 3 1 1 0 1 1\n2\n4 2\n6\n6 4 2\n", Unsafe(0, 1)),
    ] {
        assert!(is_answered(text, expected), "{what}");
    }
}

/// A counter with an enabling input, of this width; bad if all bits are 1. With a guard it stops one step before.
fn counter(width: usize, is_guarded: bool) -> String {
    let mut gates = String::new();
    let mut next_variable = width + 2;
    let mut and = |left: usize, right: usize| {
        gates.push_str(&format!("{} {left} {right}\n", 2 * next_variable));
        next_variable += 1;
        2 * (next_variable - 1)
    };
    let bit = |index: usize| 2 * (index + 2);
    // All ones, and all ones except the lowest bit.
    let high = (1..width).fold(1, |all, index| and(all, bit(index)));
    let full = and(high, bit(0));
    let last = and(high, bit(0) + 1);
    let mut carry = if is_guarded { and(2, last + 1) } else { 2 };
    let mut latches = String::new();
    for index in 0..width {
        let both = and(bit(index), carry);
        let neither = and(bit(index) + 1, carry ^ 1);
        let differ = and(both + 1, neither + 1);
        latches.push_str(&format!("{} {differ}\n", bit(index)));
        carry = both;
    }
    let ands = next_variable - width - 2;
    format!("aag {} 1 {width} 0 {ands} 1\n2\n{latches}{full}\n{gates}", next_variable - 1)
}

#[test]
fn a_counter_is_full_after_all_its_steps() {
    for width in [2, 4] {
        assert!(is_answered(&counter(width, false), Unsafe(0, (1 << width) - 1)), "{width} bits");
        assert!(is_answered(&counter(width, true), Safe), "{width} bits");
    }
}

/// A token that goes round: bad if two places have it.
#[test]
fn a_ring_has_one_token() {
    let places = 5;
    let mut lines = String::new();
    let (mut gates, mut next, mut pairs) = (String::new(), 2 * (places + 1), Vec::new());
    for place in 0..places {
        let before = 2 * ((place + places - 1) % places + 1);
        lines.push_str(&format!("{} {before} {}\n", 2 * (place + 1), usize::from(place == 0)));
        for other in 0..place {
            gates.push_str(&format!("{next} {} {}\n", 2 * (place + 1), 2 * (other + 1)));
            pairs.push(next);
            next += 2;
        }
    }
    let bads: String = pairs.iter().map(|pair| format!("{pair}\n")).collect();
    let (count, greatest) = (pairs.len(), next / 2 - 1);
    let ring = format!("aag {greatest} 0 {places} 0 {count} {count}\n{lines}{bads}{gates}");
    assert!(is_answered(&ring, Safe));
}
