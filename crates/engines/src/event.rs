//! The events of a run.
//!
//! Engines report [`Event::Progress`] and [`Event::Statistics`]; their [`Run`](crate::Run) adds the label. The driver and the
//! portfolio report all other events.

use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use shofar_horn::transform::Report;
use shofar_run::Stop;

/// The name of an engine in a run. Each event names its engine, so a label is cheap to clone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Label(Arc<str>);

impl From<&str> for Label {
    fn from(text: &str) -> Self {
        Label(text.into())
    }
}

impl From<String> for Label {
    fn from(text: String) -> Self {
        Label(text.into())
    }
}

impl Deref for Label {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for Label {
    fn borrow(&self) -> &str {
        self
    }
}

impl PartialEq<str> for Label {
    fn eq(&self, text: &str) -> bool {
        **self == *text
    }
}

impl PartialEq<&str> for Label {
    fn eq(&self, text: &&str) -> bool {
        **self == **text
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self)
    }
}

/// An event of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Event {
    /// A phase of the whole run, or of the work after an engine's answer, has ended.
    Phase {
        /// Its name.
        name: &'static str,
        /// The engine to which the phase belongs.
        engine: Option<Label>,
        /// The time it took.
        time: Duration,
    },
    /// A transformation has changed the clauses.
    Pass(Report),
    /// Engines are chosen.
    Schedule {
        /// The class of systems that they are chosen for, or that the user has chosen them.
        class: &'static str,
        /// The reason why the clauses are in this class.
        why: String,
        /// The engines in the order in which they start, with their weights.
        engines: Vec<(Label, u32)>,
        /// The number of engines that run at the same time.
        jobs: usize,
    },
    /// An engine starts.
    Started {
        /// The engine.
        engine: Label,
    },
    /// An engine pauses until its next turn.
    Paused {
        /// The engine.
        engine: Label,
    },
    /// A paused engine continues.
    Resumed {
        /// The engine.
        engine: Label,
    },
    /// The progress of an engine; reported often.
    Progress {
        /// The engine.
        engine: Label,
        /// The current depth, level or bound.
        depth: u64,
        /// The counters so far, as in [`Statistics`](Event::Statistics).
        counters: Vec<(&'static str, u64)>,
    },
    /// The memory of an engine; reported when it has changed by a mebibyte or more.
    Memory {
        /// The engine.
        engine: Label,
        /// The estimated bytes: the growth of the process is divided equally among the running engines.
        bytes: usize,
    },
    /// The counters of an engine when it ends, with names such as `lemmas` or `solver.conflicts`.
    Statistics {
        /// The engine.
        engine: Label,
        /// Names and numbers.
        counters: Vec<(&'static str, u64)>,
        /// The time from its start to its end.
        time: Duration,
    },
    /// An engine has ended.
    Stopped {
        /// The engine.
        engine: Label,
        /// The reason why it gave up; `None` if the answer is its own.
        reason: Option<Stop>,
        /// Its running time, without pauses.
        time: Duration,
        /// Its maximal memory in bytes, counted as in [`Memory`](Event::Memory).
        memory: usize,
    },
    /// An engine has panicked, which is a bug in Shofar. The others continue.
    Panicked {
        /// The engine.
        engine: Label,
        /// The panic message.
        message: String,
    },
}

/// Receives events, from any thread.
pub trait EventSink: Sync {
    /// Receives an event.
    fn tell(&self, event: Event);
}

/// Calls the closure with each event.
impl<F: Fn(Event) + Sync> EventSink for F {
    fn tell(&self, event: Event) {
        self(event);
    }
}

/// Ignores all events.
impl EventSink for () {
    fn tell(&self, _: Event) {}
}
