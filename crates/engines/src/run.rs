//! What an engine is given besides the clauses: terms, limits, a seed, and someone who listens.
//!
//! Events are told by engines, and by whoever lets them run; only [`Event::Progress`] and [`Event::Statistics`] are
//! the engines' own.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use shofar_horn::Context;
use shofar_horn::transform::Report;
use shofar_logic::{Term, TermStore};
use shofar_run::{Limits, Stop};
use shofar_smt::sat::Outcome;
use shofar_smt::solver::Solver;

/// The circumstances of one run of an engine.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    /// The terms, which all engines share.
    pub store: &'a TermStore,
    /// Deadline, memory and cancel flag.
    pub limits: Limits<'a>,
    /// Where engines choose at random, they choose by this.
    pub seed: u64,
    /// Who is told what happens.
    pub events: &'a dyn EventSink,
}

impl<'a> Run<'a> {
    /// A run without limits that nobody listens to.
    pub fn new(store: &'a TermStore) -> Self {
        Run { store, limits: Limits::default(), seed: 0, events: &() }
    }

    /// As this one, and it ends after so much time from now on.
    pub fn with_timeout(mut self, time: Duration) -> Self {
        self.limits.deadline = Instant::now().checked_add(time);
        self
    }

    /// As this one, and it ends when the process has grown beyond so many bytes.
    pub fn with_memory(mut self, bytes: usize) -> Self {
        self.limits.memory = Some(bytes);
        self
    }

    /// As this one, and it ends soon after another thread has set the flag.
    pub fn with_cancel(mut self, flag: &'a AtomicBool) -> Self {
        self.limits.cancel = Some(flag);
        self
    }

    /// As this one, and someone is told what happens.
    pub fn with_events(mut self, events: &'a dyn EventSink) -> Self {
        self.events = events;
        self
    }

    /// What transformations and ways back are given in this run.
    pub fn context(&self) -> Context<'a> {
        Context { store: self.store, limits: self.limits }
    }

    /// Whether what is asserted and the assumptions can be true together; why the engine has to stop where the solver
    /// does not tell.
    pub fn is_satisfiable(&self, solver: &mut Solver<'_>, assumptions: &[Term]) -> Result<bool, Stop> {
        let outcome = solver.check(assumptions, &self.limits);
        match outcome.map_err(|unsupported| unsupported.stop(self.store))? {
            Outcome::Sat => Ok(true),
            Outcome::Unsat => Ok(false),
            Outcome::Unknown(reason) => Err(Stop::Interrupted(reason)),
        }
    }

    /// Asserts formulas that come together, for good or in the innermost frame.
    pub fn assert(&self, solver: &mut Solver<'_>, formulas: &[Term]) -> Result<(), Stop> {
        solver.assert_all(formulas).map_err(|unsupported| unsupported.stop(self.store))
    }
}

/// What is told about a run while it lasts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// A phase of the whole run, or of what follows an engine's answer, has ended.
    Phase {
        /// Its name.
        name: &'static str,
        /// The engine in whose course it was.
        engine: Option<&'static str>,
        /// The time it took.
        time: Duration,
    },
    /// A transformation has changed the clauses.
    Pass(Report),
    /// Engines are chosen.
    Schedule {
        /// The class of systems that they are chosen for, or that the user has chosen them.
        class: &'static str,
        /// Why the clauses are of this class.
        why: String,
        /// The engines in the order in which they start, with their weights.
        engines: Vec<(&'static str, u32)>,
        /// How many of them run at the same time.
        jobs: usize,
    },
    /// An engine starts.
    Started {
        /// The engine.
        engine: &'static str,
    },
    /// An engine waits until it is its turn again.
    Paused {
        /// The engine.
        engine: &'static str,
    },
    /// An engine that has waited goes on.
    Resumed {
        /// The engine.
        engine: &'static str,
    },
    /// How far an engine is; told often.
    Progress {
        /// The engine.
        engine: &'static str,
        /// The depth, level or bound that it has come to.
        depth: u64,
        /// What it has counted so far, as in [`Statistics`](Event::Statistics).
        counters: Vec<(&'static str, u64)>,
    },
    /// How much memory an engine has now; told when that has changed by a mebibyte or more.
    Memory {
        /// The engine.
        engine: &'static str,
        /// The bytes, as far as that can be told: what the process grows by counts for the engines that run, in equal
        /// parts.
        bytes: usize,
    },
    /// What was counted, when the engine ends: names as in `lemmas` or `solver.conflicts`.
    Statistics {
        /// The engine.
        engine: &'static str,
        /// Names and numbers.
        counters: Vec<(&'static str, u64)>,
        /// The time from its start to its end.
        time: Duration,
    },
    /// An engine has ended.
    Stopped {
        /// The engine.
        engine: &'static str,
        /// Why it has given up; none if the answer is its own.
        reason: Option<Stop>,
        /// The time that it ran, without that in which it waited.
        time: Duration,
        /// The most bytes that it had, counted as in [`Memory`](Event::Memory).
        memory: usize,
    },
    /// An engine has panicked, which is a mistake in Shofar. The others go on.
    Panicked {
        /// The engine.
        engine: &'static str,
        /// What it said.
        message: String,
    },
}

/// Someone who is told about events, from any thread.
pub trait EventSink: Sync {
    /// Takes notice of an event.
    fn tell(&self, event: Event);
}

/// No one.
impl EventSink for () {
    fn tell(&self, _: Event) {}
}

/// Variables of a solver beyond which it is made anew: what was assumed in earlier queries leaves atoms behind.
pub(crate) const MOST_VARIABLES: usize = 50_000;

/// What a solver has counted that is worth telling.
pub(crate) fn solver_counters(solver: &Solver<'_>) -> [(&'static str, u64); 5] {
    let statistics = solver.statistics();
    [
        ("solver.queries", statistics.queries),
        ("solver.decisions", statistics.decisions),
        ("solver.conflicts", statistics.conflicts),
        ("solver.propagations", statistics.propagations),
        ("solver.theory-conflicts", statistics.theory_conflicts),
    ]
}
