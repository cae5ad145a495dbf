//! Reads sequence interpolants off the refutations of SMT-LIB scripts, each assertion being a part. Prints a line for each
//! script and procedure: how long solving and interpolation took, and how large the largest interpolant was before and
//! after simplification.
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
use shofar_smt::interpolate::{Arithmetic, Interpolator, Options};
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
    let order: Vec<Part> = parts.keys().copied().collect();
    for arithmetic in
        [Arithmetic::Farkas, Arithmetic::DualFarkas, Arithmetic::Decomposed, Arithmetic::DualDecomposed]
    {
        let options = Options { arithmetic: arithmetic.clone(), ..Options::default() };
        let start = Instant::now();
        let found = Interpolator::new(store, proof, parts.clone().into_iter().collect(), options)
            .and_then(|interpolator| interpolator.sequence(&order));
        let taken = start.elapsed();
        let words = match found {
            Ok(found) => {
                let largest = found.iter().max_by_key(|interpolant| interpolant.size);
                let (raw, size) =
                    largest.map_or((0, 0), |interpolant| (interpolant.raw_size, interpolant.size));
                format!("{} interpolants, largest {raw} then {size}", found.len())
            }
            Err(error) => error.to_string(),
        };
        println!("{path} {arithmetic:?}: solved {solved:.1?}, interpolated {taken:.1?}, {words}");
    }
}
