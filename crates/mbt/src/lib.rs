//! A model-based tester of the SMT solver's interface.
//!
//! The tester sends random sequences of calls to solvers over one store and judges every answer. For each solver it
//! keeps a model, the list of the formulas that the solver should know. By this list alone, and by nothing that the
//! solver says, evaluation, the proof checker and fresh solvers judge its models, cores, proofs, interpolants and
//! projections.
//!
//! ```text
//! seed -> generate.rs, formulas.rs -> text -> trace.rs -> run.rs -> judge.rs, explicit.rs -> Ok, or a failure
//!                                      ^                                                        |
//!                                      '------------------------ shrink.rs ---------------------'
//! ```
//!
//! A trace is text, and its runs are reproducible unless it has two threads or a time limit. Failing traces are shrunk
//! to a few lines and kept in `traces/`, which a test replays.
//!
//! The idea is that of Mobical, the tester of the SAT solver CaDiCaL: C. Artho, A. Biere, M. Seidl, "Model-based testing
//! for verification back-ends" (TAP 2013).

mod coverage;
mod explicit;
mod formulas;
mod generate;
mod judge;
mod run;
mod shrink;
mod trace;

use std::time::{Duration, Instant};

pub use coverage::Coverage;
pub use generate::generate;
pub use judge::{Fault, Kind};
pub use run::{Failure, run};
pub use shrink::shrink;
pub use trace::Trace;

/// The time limit for shrinking a trace.
const SHRINKING: Duration = Duration::from_secs(60);

/// A failing trace.
#[derive(Clone, Debug)]
pub struct Report {
    /// The seed of the trace.
    pub seed: u64,
    /// The shrunk trace.
    pub trace: String,
    /// The failure.
    pub failure: Failure,
}

/// Generates traces from the seeds and runs them, until the time is over. Hands over failures, and returns the
/// coverage.
pub fn run_seeds(
    seeds: impl IntoIterator<Item = u64>,
    time: Option<Duration>,
    mut report: impl FnMut(Report),
) -> Coverage {
    let start = Instant::now();
    let mut coverage = Coverage::default();
    for seed in seeds {
        if time.is_some_and(|time| start.elapsed() >= time) {
            break;
        }
        let text = generate(seed);
        if let Err(failure) = run(&text, &mut coverage) {
            let again = |text: &str| run(text, &mut Coverage::default());
            let (trace, failure) = shrink(&text, failure, SHRINKING, again);
            report(Report { seed, trace, failure });
        }
    }
    coverage
}
