//! The environment of an engine, besides the clauses.
//!
//! A [`Run`] is a [`Context`], that is terms and limits, with additions that only engines need: the label of the
//! engine, a seed, a receiver of events, a port to other engines, and an observer of frames. It dereferences to its context, so a
//! function that takes a context also takes a run. [`Run::new`] makes a run, and the methods `with_...` change a copy
//! of it; the portfolio gives each engine a copy with the engine's own label, limits and gate.

use std::ops::Deref;
use std::time::{Duration, Instant};

use shofar_horn::Context;
use shofar_logic::{Term, TermStore};
use shofar_run::{Limits, Stop};
use shofar_smt::sat::Outcome;
use shofar_smt::solver::Solver;

use crate::{Event, EventSink, FrameObserver, Label, Port};

/// The environment of one run of an engine.
#[derive(Clone)]
pub struct Run<'a> {
    context: Context<'a>,
    label: Label,
    seed: u64,
    events: &'a dyn EventSink,
    port: Option<&'a dyn Port>,
    observer: Option<&'a dyn FrameObserver>,
}

impl<'a> Run<'a> {
    /// A run without label, limits, port, observer or receiver of events. Its seed is 0.
    pub fn new(store: &'a TermStore) -> Self {
        Run {
            context: Context::new(store),
            label: "".into(),
            seed: 0,
            events: &(),
            port: None,
            observer: None,
        }
    }

    /// Replaces the store of terms.
    pub fn with_store(mut self, store: &'a TermStore) -> Self {
        self.context.store = store;
        self
    }

    /// Replaces the limits.
    pub fn with_limits(mut self, limits: Limits<'a>) -> Self {
        self.context.limits = limits;
        self
    }

    /// Sets a deadline `time` from now.
    pub fn with_timeout(mut self, time: Duration) -> Self {
        self.context.limits.deadline = Instant::now().checked_add(time);
        self
    }

    /// Sets the label that events use for the engine.
    pub fn with_label(mut self, label: impl Into<Label>) -> Self {
        self.label = label.into();
        self
    }

    /// Sets the seed for random choices of engines and tie-breaking of solvers.
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets the receiver of events.
    pub fn with_events(mut self, events: &'a dyn EventSink) -> Self {
        self.events = events;
        self
    }

    /// Connects the run to other engines on the same graph.
    pub fn with_port(mut self, port: &'a dyn Port) -> Self {
        self.port = Some(port);
        self
    }

    /// Sets the observer of frames.
    pub fn with_observer(mut self, observer: &'a dyn FrameObserver) -> Self {
        self.observer = Some(observer);
        self
    }

    /// The terms and limits.
    pub fn context(&self) -> Context<'a> {
        self.context
    }

    /// The label of the engine.
    pub fn label(&self) -> &Label {
        &self.label
    }

    /// The seed for random choices.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The connection to other engines on the same graph, if there is one.
    pub fn port(&self) -> Option<&'a dyn Port> {
        self.port
    }

    /// The observer of frames, if there is one.
    pub fn observer(&self) -> Option<&'a dyn FrameObserver> {
        self.observer
    }

    /// Reports an event.
    pub fn tell(&self, event: Event) {
        self.events.tell(event);
    }

    /// Reports the progress of the engine: the current depth, level or bound, and the counters so far.
    pub fn tell_progress(&self, depth: u64, counters: Vec<(&'static str, u64)>) {
        self.tell(Event::Progress { engine: self.label.clone(), depth, counters });
    }

    /// Reports the final counters of the engine and its time.
    pub fn tell_statistics(&self, counters: Vec<(&'static str, u64)>, start: Instant) {
        self.tell(Event::Statistics { engine: self.label.clone(), counters, time: start.elapsed() });
    }

    /// A solver with the seed of the run.
    pub fn solver(&self) -> Solver<'a> {
        Solver::new(self.store).with_seed(self.seed)
    }

    /// Like [`solver`](Self::solver), with proofs.
    pub fn solver_with_proofs(&self) -> Solver<'a> {
        Solver::with_proofs(self.store).with_seed(self.seed)
    }

    /// Whether the assertions and the assumptions are satisfiable. If the solver does not decide it, the error is the
    /// reason.
    pub fn is_satisfiable(&self, solver: &mut Solver<'_>, assumptions: &[Term]) -> Result<bool, Stop> {
        let outcome = solver.check(assumptions, &self.limits);
        match outcome.map_err(|unsupported| unsupported.stop(self.store))? {
            Outcome::Sat => Ok(true),
            Outcome::Unsat => Ok(false),
            Outcome::Unknown(reason) => Err(Stop::Interrupted(reason)),
        }
    }

    /// Asserts formulas, permanently or in the innermost frame.
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

/// The solver counters that engines report.
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
