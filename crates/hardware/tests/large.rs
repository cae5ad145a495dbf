//! Large circuits and deep cones: read, reduced, unrolled and searched without recursion on their depth, within limits.
//! `SHOFAR_TEST_SCALE` multiplies their size.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use shofar_hardware::aiger::{Encoding, Unread, read, read_within, write};
use shofar_hardware::bmc::Bmc;
use shofar_hardware::btor2;
use shofar_hardware::circuit::Circuit;
use shofar_hardware::reduce;
use shofar_hardware::solve::{ENGINES, Options, Verdict, solve};
use shofar_hardware::system::Extracted;
use shofar_run::{Limits, Reason, Stop};
use shofar_testing::scale::scale;

#[path = "common/large.rs"]
mod large;

/// The gates of a circuit.
fn gates() -> usize {
    50_000 * scale() as usize
}

/// A circuit with many latches, and one with a deep cone.
fn circuits() -> [Circuit; 2] {
    [large::accumulators(gates(), 30), large::chain(gates())]
}

fn bytes(circuit: &Circuit, encoding: Encoding) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(circuit, encoding, b"", &mut bytes).expect("vectors take all");
    bytes
}

#[test]
fn large_circuits_are_read_as_written() {
    for circuit in circuits() {
        for encoding in [Encoding::Ascii, Encoding::Binary] {
            // The binary encoding sorts the arguments of gates, so bytes are compared.
            let written = bytes(&circuit, encoding);
            assert!(bytes(&read(&written).unwrap().circuit, encoding) == written, "{encoding:?}");
        }
    }
}

/// Gates in the opposite order: each comes before its arguments.
#[test]
fn a_deep_cone_in_any_order_is_read() {
    let circuit = large::chain(gates());
    let text = String::from_utf8(bytes(&circuit, Encoding::Ascii)).expect("ASCII");
    let mut lines: Vec<&str> = text.lines().collect();
    let first = lines.len() - circuit.aig.num_ands();
    lines[first..].reverse();
    let again = read((lines.join("\n") + "\n").as_bytes()).unwrap().circuit;
    assert_eq!(again.aig.num_ands(), circuit.aig.num_ands());
}

#[test]
fn large_circuits_are_reduced_and_unrolled() {
    for circuit in circuits() {
        let limits = Limits::default();
        let extracted = Extracted::new(&circuit, circuit.bads[0]);
        let reduced = reduce::all(&extracted.system, &limits);
        let mut bmc = Bmc::new(&reduced.system);
        while bmc.bound() < 10 {
            assert_eq!(bmc.advance(1, &limits), Ok(None), "at {}", bmc.bound());
        }
    }
}

/// Every engine ends soon after its deadline, with its stack intact.
#[test]
fn deadlines_hold_for_large_circuits() {
    for circuit in circuits() {
        for &engine in ENGINES {
            let start = Instant::now();
            let deadline = start.checked_add(Duration::from_millis(500));
            let limits = Limits { deadline, ..Limits::default() };
            let options = Options { engines: vec![engine], ..Options::default() };
            let verdict = solve(&circuit, &circuit.bads, &options, &limits).verdict;
            if let Verdict::Unknown(stop) = verdict {
                assert_eq!(stop, Stop::Interrupted(Reason::Deadline), "{}", engine.name);
            }
            // Generous, as other tests may run at the same time.
            assert!(start.elapsed() < Duration::from_secs(60), "{}: {:?}", engine.name, start.elapsed());
        }
    }
}

#[test]
fn limits_end_the_reading() {
    let cancel = AtomicBool::new(true);
    let limits = Limits { cancel: Some(&cancel), ..Limits::default() };
    let interrupted = Unread::Interrupted(Reason::Cancelled);
    let circuit = large::chain(10);
    for encoding in [Encoding::Ascii, Encoding::Binary] {
        assert_eq!(read_within(&bytes(&circuit, encoding), &limits), Err(interrupted.clone()));
    }
    assert_eq!(btor2::read_within(b"1 sort bitvec 1\n", &limits), Err(interrupted));
}
