//! Reads sequence interpolants off the refutations of SMT-LIB scripts, each assertion being a part. Prints a line for each
//! script, labelling and procedure for arithmetic: how long solving and interpolation took, how large the largest
//! interpolant was before and after simplification, and whether it took the search without the proof.
//!
//! ```text
//! cargo run --release -p shofar-smt --example interpolants -- FILE...
//! ```

#![expect(clippy::print_stdout, reason = "it is what the program is for")]

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader};
use std::time::{Duration, Instant};

use shofar_logic::{Term, TermStore};
use shofar_smt::interpolate::fallback::Bounds;
use shofar_smt::interpolate::{Arithmetic, Error, Interpolator, Labelling, Options};
use shofar_smt::proof::{Part, Proof};
use shofar_smt::sat::Limits;
use shofar_smt::script::{Commands, Script};

/// How long a query may take.
const TIMEOUT: Duration = Duration::from_secs(20);

fn main() -> io::Result<()> {
    for path in std::env::args().skip(1) {
        let store = TermStore::new();
        let mut script = Script::new(&store);
        script.execute(b"(set-option :produce-proofs true)", &Limits::default(), &mut io::sink())?;
        let mut commands = Commands::new(BufReader::new(File::open(&path)?));
        let start = Instant::now();
        while let Some(command) = commands.next_command()? {
            let limits = Limits { deadline: Some(Instant::now() + TIMEOUT), ..Limits::default() };
            let mut answer = Vec::new();
            script.execute(&command, &limits, &mut answer)?;
            if answer == b"unsat\n"
                && let Some(proof) = script.proof()
            {
                report(&path, &store, &proof, start.elapsed());
            } else if answer == b"unknown\n" {
                println!("{path}: not solved in {:.1?}", start.elapsed());
            }
        }
    }
    Ok(())
}

fn report(path: &str, store: &TermStore, proof: &Proof, solved: Duration) {
    let mut parts: BTreeMap<Part, Vec<Term>> = BTreeMap::new();
    for assertion in proof.assertions().iter().chain(proof.assumptions()) {
        parts.entry(assertion.part).or_default().push(assertion.formula);
    }
    for labelling in [Labelling::McMillan, Labelling::Pudlak, Labelling::DualMcMillan] {
        for arithmetic in
            [Arithmetic::Farkas, Arithmetic::DualFarkas, Arithmetic::Decomposed, Arithmetic::DualDecomposed]
        {
            let name = format!("{labelling:?} {arithmetic:?}");
            let options = Options { labelling, arithmetic, ..Options::default() };
            let start = Instant::now();
            let words = sequence(store, proof, &parts, options).unwrap_or_else(|error| error.to_string());
            println!("{path} {name}: solved {solved:.1?}, interpolated {:.1?}, {words}", start.elapsed());
        }
    }
}

/// What there is to say of the sequence.
fn sequence(
    store: &TermStore,
    proof: &Proof,
    parts: &BTreeMap<Part, Vec<Term>>,
    options: Options,
) -> Result<String, Error> {
    let order: Vec<Part> = parts.keys().copied().collect();
    let interpolator = Interpolator::new(store, proof, parts.clone().into_iter().collect(), options)?;
    let (found, source) = match interpolator.sequence(&order) {
        Ok(found) => (found, "from the proof"),
        Err(_) => {
            let limits = Limits { deadline: Some(Instant::now() + TIMEOUT), ..Limits::default() };
            let bounds = Bounds { limits, ..Bounds::default() };
            (interpolator.sequence_with_fallback(&order, &bounds)?, "without the proof")
        }
    };
    let largest = found.iter().max_by_key(|interpolant| interpolant.size);
    let (raw, size) = largest.map_or((0, 0), |interpolant| (interpolant.raw_size, interpolant.size));
    Ok(format!("{} interpolants {source}, largest {raw} then {size}", found.len()))
}
