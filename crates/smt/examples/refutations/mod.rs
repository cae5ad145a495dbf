//! What the examples share: SMT-LIB scripts are solved with proofs, and each refutation is handed on.

use std::fs::File;
use std::io::{self, BufReader};
use std::time::{Duration, Instant};

use shofar_logic::TermStore;
use shofar_run::Limits;
use shofar_smt::proof::Proof;
use shofar_smt::script::{Commands, Script};

/// A refutation that was found, and what it took.
pub(crate) struct Refutation<'s> {
    /// The terms.
    pub(crate) store: &'s TermStore,
    /// The proof.
    pub(crate) proof: Proof,
    /// How long it took from the beginning of the script, or the last refutation, to the answer.
    pub(crate) solving: Duration,
    /// How long it took to extract the proof.
    pub(crate) extraction: Duration,
}

/// What became of a script.
pub(crate) struct Run {
    /// Whether all queries were answered.
    pub(crate) is_complete: bool,
    /// How long it took in all, without what was done with refutations.
    pub(crate) solving: Duration,
}

/// Solves a script, with an option such as `:produce-proofs` that makes the solver log proofs, or without. Each command
/// has so much time. Without proofs there is nothing to visit.
pub(crate) fn solve(
    path: &str,
    option: Option<&str>,
    timeout: Duration,
    mut visit: impl FnMut(&Script<'_>, &Refutation<'_>),
) -> io::Result<Run> {
    let store = TermStore::new();
    let mut script = Script::new(&store);
    if let Some(option) = option {
        let command = format!("(set-option {option} true)");
        script.execute(command.as_bytes(), &Limits::default(), &mut io::sink())?;
    }
    let mut commands = Commands::new(BufReader::new(File::open(path)?));
    let mut run = Run { is_complete: true, solving: Duration::ZERO };
    let mut clock = Clock::new();
    while let Some(command) = commands.next_command()? {
        let limits = Limits { deadline: Some(Instant::now() + timeout), ..Limits::default() };
        let mut answer = Vec::new();
        script.execute(&command, &limits, &mut answer)?;
        run.is_complete &= answer != b"unknown\n";
        if answer == b"unsat\n" && option.is_some() {
            let solving = clock.elapsed();
            run.solving += solving;
            if let (Some(proof), extraction) = timed(|| script.proof()) {
                visit(&script, &Refutation { store: &store, proof, solving, extraction });
            }
            clock = Clock::new();
        }
    }
    run.solving += clock.elapsed();
    Ok(run)
}

/// The result of some work, and how long it took this thread.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let clock = Clock::new();
    let result = work();
    (result, clock.elapsed())
}

/// Measures the processor time of this thread where the system tells it, which a loaded machine distorts less than the
/// time that passes.
struct Clock {
    start: Instant,
    cpu: Option<Duration>,
}

impl Clock {
    fn new() -> Self {
        Clock { cpu: cpu_time(), start: Instant::now() }
    }

    fn elapsed(&self) -> Duration {
        match (self.cpu, cpu_time()) {
            (Some(before), Some(after)) => after.saturating_sub(before),
            _ => self.start.elapsed(),
        }
    }
}

fn cpu_time() -> Option<Duration> {
    // The system brings its figures up to date when a thread is put to sleep.
    std::thread::sleep(Duration::from_micros(1));
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    statistics.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}
