//! Reads sequence interpolants off the refutations of SMT-LIB scripts, each assertion being a part. Prints a line of
//! comma-separated values for each script and procedure:
//!
//! | column | what |
//! |---|---|
//! | file, labelling, arithmetic | the script and the procedure |
//! | parts, steps | the length of the sequence and of the proof |
//! | solving, extraction, interpolation | processor time in milliseconds; the first two are the same for all procedures |
//! | raw, simplified | the number of different subterms of all interpolants together, as they come out of the proof and as they are given |
//! | largest raw, largest | the same of the largest interpolant |
//! | source | `proof`, `fallback` for a sequence without the proof, else what went wrong |
//! | check | with `--check`: how many links of the sequence hold, fail, and were not decided |
//!
//! ```text
//! cargo run --release -p shofar-smt --example interpolants -- [--only=NAME] [--check] FILE...
//! ```
//!
//! where NAME is a labelling or a procedure for arithmetic as they stand in the lines.

#![expect(clippy::print_stdout, reason = "it is what the program is for")]

mod refutations;

use std::fmt;
use std::io;
use std::time::{Duration, Instant};

use refutations::{Refutation, solve, timed};
use shofar_logic::{Term, TermStore};
use shofar_run::Limits;
use shofar_smt::interpolate::verify::{Entailment, implies};
use shofar_smt::interpolate::{Arithmetic, Interpolant, Labelling, Options};
use shofar_smt::proof::Part;
use shofar_smt::script::Script;

/// How long a query may take.
const TIMEOUT: Duration = Duration::from_secs(30);

/// What is measured, by the names in the lines.
const LABELLINGS: [(&str, Labelling); 3] = [
    ("mcmillan", Labelling::McMillan),
    ("pudlak", Labelling::Pudlak),
    ("dual-mcmillan", Labelling::DualMcMillan),
];

fn arithmetics() -> [(&'static str, Arithmetic); 5] {
    [
        ("farkas", Arithmetic::Farkas),
        ("dual", Arithmetic::DualFarkas),
        ("flexible", Arithmetic::Flexible(Default::default())),
        ("decomposed", Arithmetic::Decomposed),
        ("dual-decomposed", Arithmetic::DualDecomposed),
    ]
}

fn main() -> io::Result<()> {
    let (flags, paths): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|argument| argument.starts_with("--"));
    let only: Vec<&str> = flags.iter().filter_map(|flag| flag.strip_prefix("--only=")).collect();
    let checks = flags.iter().any(|flag| flag == "--check");
    println!(
        "file,labelling,arithmetic,parts,steps,solving,extraction,interpolation,raw,simplified,largest raw,\
         largest,source,check"
    );
    for path in paths {
        let run = solve(&path, Some(":produce-interpolants"), TIMEOUT, |script, refutation| {
            for (labelling_name, labelling) in LABELLINGS {
                for (arithmetic_name, arithmetic) in arithmetics() {
                    if only.iter().all(|only| [labelling_name, arithmetic_name].contains(only)) {
                        let options = Options { labelling, arithmetic, ..Options::default() };
                        let row = Row::measure(script, refutation, options, checks);
                        println!("{path},{labelling_name},{arithmetic_name},{row}");
                    }
                }
            }
        })?;
        if !run.is_complete {
            println!("{path},,,,,,,,,,,,unsolved,");
        }
    }
    Ok(())
}

/// What there is to say of one sequence.
struct Row {
    parts: usize,
    steps: usize,
    /// For solving, extraction and interpolation.
    times: [Duration; 3],
    found: Vec<Interpolant>,
    source: String,
    /// Of the links of the sequence, those that hold, that fail, and that are not known.
    links: Option<[usize; 3]>,
}

impl Row {
    fn measure(script: &Script<'_>, refutation: &Refutation<'_>, options: Options, checks: bool) -> Self {
        let Refutation { store, proof, solving, extraction } = refutation;
        let interpolator = script.interpolator(options).expect("the last answer was unsat");
        let parts = interpolator.parts();
        let order: Vec<Part> = parts.iter().map(|&(part, _)| part).collect();
        let (sequence, interpolation) = timed(|| interpolator.sequence(&order, &limits()));
        let (found, source) = match sequence {
            Ok(found) => {
                let is_from_proof = found.iter().all(|interpolant| interpolant.from_proof);
                (found, if is_from_proof { "proof" } else { "fallback" }.to_owned())
            }
            Err(error) => (Vec::new(), error.to_string().replace(',', ";")),
        };
        let links = checks.then(|| check(store, parts, &found));
        Row {
            parts: parts.len(),
            steps: proof.steps().len(),
            times: [*solving, *extraction, interpolation],
            found,
            source,
            links,
        }
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{}", self.parts, self.steps)?;
        for time in self.times {
            write!(f, ",{:.3}", time.as_secs_f64() * 1000.0)?;
        }
        let raw = || self.found.iter().map(|interpolant| interpolant.raw_size);
        let simplified = || self.found.iter().map(|interpolant| interpolant.size);
        let totals: [usize; 2] = [raw().sum(), simplified().sum()];
        let largest = [raw().max(), simplified().max()].map(Option::unwrap_or_default);
        for size in totals.into_iter().chain(largest) {
            write!(f, ",{size}")?;
        }
        write!(f, ",{},", self.source)?;
        match self.links {
            Some([hold, fail, unknown]) => write!(f, "{hold}/{fail}/{unknown}"),
            None => Ok(()),
        }
    }
}

/// Of the links of the sequence, those that hold, that fail, and that are not known.
fn check(store: &TermStore, parts: &[(Part, Vec<Term>)], found: &[Interpolant]) -> [usize; 3] {
    let mut counts = [0; 3];
    let formulas = || found.iter().map(|interpolant| interpolant.formula);
    let links = [Term::TRUE].into_iter().chain(formulas()).zip(formulas().chain([Term::FALSE]));
    for ((before, after), (_, part)) in std::iter::zip(links, parts) {
        let premises: Vec<Term> = part.iter().copied().chain([before]).collect();
        counts[match implies(store, &premises, after, &limits()) {
            Ok(Entailment::Holds) => 0,
            Ok(Entailment::Fails) => 1,
            _ => 2,
        }] += 1;
    }
    counts
}

fn limits() -> Limits<'static> {
    Limits { deadline: Some(Instant::now() + TIMEOUT), ..Limits::default() }
}
