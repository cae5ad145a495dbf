//! What an engine is given besides the clauses.
//!
//! A [`Run`] is a [`Context`], terms and limits, and what only engines need beyond it: the label under which the engine is
//! known, a seed, someone who listens to events, and an exchange with other engines. It dereferences to its context, so
//! a function that takes a context also takes a run. [`Run::new`] makes a run, and the methods `with_...` change a copy of
//! it; the portfolio gives each engine a copy with the engine's own label, limits and gate.

use std::ops::Deref;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use shofar_horn::Context;
use shofar_logic::{Term, TermStore};
use shofar_run::{Limits, Stop};
use shofar_smt::sat::Outcome;
use shofar_smt::solver::Solver;

use crate::{Event, EventSink, Exchange, Label};

/// The circumstances of one run of an engine.
#[derive(Clone)]
pub struct Run<'a> {
    context: Context<'a>,
    label: Label,
    seed: u64,
    events: &'a dyn EventSink,
    exchange: Option<&'a dyn Exchange>,
}

impl<'a> Run<'a> {
    /// A run without a label, limits, or exchange, that nobody listens to. Its seed is 0.
    pub fn new(store: &'a TermStore) -> Self {
        Run { context: Context::new(store), label: "".into(), seed: 0, events: &(), exchange: None }
    }

    /// As this one, with these limits in the place of its own.
    pub fn with_limits(mut self, limits: Limits<'a>) -> Self {
        self.context.limits = limits;
        self
    }

    /// As this one, and it ends after so much time from now on.
    pub fn with_timeout(mut self, time: Duration) -> Self {
        self.context.limits.deadline = Instant::now().checked_add(time);
        self
    }

    /// As this one, and it ends when the process has grown beyond so many bytes.
    pub fn with_memory(mut self, bytes: usize) -> Self {
        self.context.limits.memory = Some(bytes);
        self
    }

    /// As this one, and it ends soon after another thread has set the flag.
    pub fn with_cancel(mut self, flag: &'a AtomicBool) -> Self {
        self.context.limits.cancel = Some(flag);
        self
    }

    /// As this one, with a label, by which events call the engine.
    pub fn with_label(mut self, label: impl Into<Label>) -> Self {
        self.label = label.into();
        self
    }

    /// As this one, with a seed, by which engines choose at random and solvers break ties.
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// As this one, and someone is told what happens.
    pub fn with_events(mut self, events: &'a dyn EventSink) -> Self {
        self.events = events;
        self
    }

    /// As this one, connected to other engines on the same graph.
    pub fn with_exchange(mut self, exchange: &'a dyn Exchange) -> Self {
        self.exchange = Some(exchange);
        self
    }

    /// Terms and limits.
    pub fn context(&self) -> Context<'a> {
        self.context
    }

    /// What the engine is called.
    pub fn label(&self) -> &Label {
        &self.label
    }

    /// By which engines choose at random.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The connection to other engines on the same graph, if there is one.
    pub fn exchange(&self) -> Option<&'a dyn Exchange> {
        self.exchange
    }

    /// Tells an event.
    pub fn tell(&self, event: Event) {
        self.events.tell(event);
    }

    /// Tells how far the engine is: the depth, level or bound that it has come to, and what it has counted so far.
    pub fn tell_progress(&self, depth: u64, counters: Vec<(&'static str, u64)>) {
        self.tell(Event::Progress { engine: self.label.clone(), depth, counters });
    }

    /// Tells what the engine has counted in the end, and how long it took.
    pub fn tell_statistics(&self, counters: Vec<(&'static str, u64)>, start: Instant) {
        self.tell(Event::Statistics { engine: self.label.clone(), counters, time: start.elapsed() });
    }

    /// A solver that chooses by the seed of the run.
    pub fn solver(&self) -> Solver<'a> {
        Solver::new(self.store).with_seed(self.seed)
    }

    /// As [`solver`](Self::solver), with proofs.
    pub fn solver_with_proofs(&self) -> Solver<'a> {
        Solver::with_proofs(self.store).with_seed(self.seed)
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

impl<'a> Deref for Run<'a> {
    type Target = Context<'a>;

    fn deref(&self) -> &Context<'a> {
        &self.context
    }
}

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
