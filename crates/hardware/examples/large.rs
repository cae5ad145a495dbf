//! Writes a large circuit in AIGER, to try tools on: `large accumulators|chain GATES aag|aig > FILE`.

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use shofar_hardware::aiger::{Encoding, write};

#[path = "../tests/common/large.rs"]
mod large;

/// The bit of all sums that is bad: it takes 17 steps.
const BIT: usize = 20;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [kind, gates, encoding] = &arguments[..] else { return usage() };
    let Ok(gates) = gates.parse() else { return usage() };
    let circuit = match kind.as_str() {
        "accumulators" => large::accumulators(gates, BIT),
        "chain" => large::chain(gates),
        _ => return usage(),
    };
    let encoding = match encoding.as_str() {
        "aag" => Encoding::Ascii,
        "aig" => Encoding::Binary,
        _ => return usage(),
    };
    let mut out = BufWriter::new(io::stdout().lock());
    match write(&circuit, encoding, b"", &mut out).and_then(|()| out.flush()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn usage() -> ExitCode {
    // Nothing is lost if nobody reads this.
    let _ = writeln!(io::stderr(), "large accumulators|chain GATES aag|aig > FILE");
    ExitCode::from(2)
}
