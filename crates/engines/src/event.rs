//! What is told about a run while it lasts.
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

/// What an engine is called in a run. Events are told often and name their engine, so a label is cheap to clone.
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

/// Something that happens in a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// A phase of the whole run, or of what follows an engine's answer, has ended.
    Phase {
        /// Its name.
        name: &'static str,
        /// The engine in whose course it was.
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
        /// Why the clauses are of this class.
        why: String,
        /// The engines in the order in which they start, with their weights.
        engines: Vec<(Label, u32)>,
        /// How many of them run at the same time.
        jobs: usize,
    },
    /// An engine starts.
    Started {
        /// The engine.
        engine: Label,
    },
    /// An engine waits until it is its turn again.
    Paused {
        /// The engine.
        engine: Label,
    },
    /// An engine that has waited goes on.
    Resumed {
        /// The engine.
        engine: Label,
    },
    /// How far an engine is; told often.
    Progress {
        /// The engine.
        engine: Label,
        /// The depth, level or bound that it has come to.
        depth: u64,
        /// What it has counted so far, as in [`Statistics`](Event::Statistics).
        counters: Vec<(&'static str, u64)>,
    },
    /// How much memory an engine has now; told when that has changed by a mebibyte or more.
    Memory {
        /// The engine.
        engine: Label,
        /// The bytes, as far as that can be told: what the process grows by counts for the engines that run, in equal
        /// parts.
        bytes: usize,
    },
    /// What was counted, when the engine ends: names as in `lemmas` or `solver.conflicts`.
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
        engine: Label,
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
