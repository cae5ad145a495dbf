//! The events of a run.
//!
//! Engines report [`Event::Progress`] and [`Event::Statistics`]; their [`Run`](crate::Run) adds the label. The driver and the
//! portfolio report all other events. The texts of events stand here, where a new event without one does not compile.

use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value as Json, json};
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
    /// The facts that engines have told each other so far; reported often.
    Facts {
        /// How many were sent.
        sent: u64,
        /// How often a fact was of use to an engine.
        accepted: u64,
    },
    /// The facts between this run and other processes so far; reported often.
    Outside {
        /// How many came in.
        received: u64,
        /// How many of them were proved here.
        proved: u64,
        /// How many went out.
        sent: u64,
    },
    /// What one engine had of another; reported at the end.
    Helped {
        /// The engine that has sent facts.
        from: Label,
        /// The engine that has received them.
        to: Label,
        /// How many it has received.
        received: u64,
        /// How many of them it could use.
        accepted: u64,
        /// How many of them have saved work.
        useful: u64,
    },
    /// An engine has panicked, which is a bug in Shofar. The others continue.
    Panicked {
        /// The engine.
        engine: Label,
        /// The panic message.
        message: String,
    },
}

impl Event {
    /// One log line, or `None` for events that change too often.
    pub fn log_line(&self) -> Option<String> {
        let list = |counters: &[(&'static str, u64)]| {
            let counters: Vec<String> =
                counters.iter().map(|(name, value)| format!("{name} {value}")).collect();
            counters.join(", ")
        };
        Some(match self {
            Event::Phase { name, engine, time } => {
                let engine = engine.as_ref().map_or_else(String::new, |engine| format!("{engine}: "));
                format!("{engine}{name}: {:.3} s", time.as_secs_f64())
            }
            Event::Pass(Report { name, before, after, .. }) => format!(
                "{name}: {} predicates and {} clauses of {} and {}",
                after.nodes, after.edges, before.nodes, before.edges
            ),
            Event::Schedule { class, why, engines, jobs } => {
                let weight = |(name, weight): &(Label, u32)| format!("{name} ({weight})");
                let engines: Vec<String> = engines.iter().map(weight).collect();
                format!("schedule: {class} ({why}): {}; {jobs} at a time", engines.join(", "))
            }
            Event::Started { engine } => format!("{engine}: started"),
            Event::Paused { engine } => format!("{engine}: waits"),
            Event::Resumed { engine } => format!("{engine}: goes on"),
            Event::Progress { engine, depth, counters } => {
                format!("{engine}: depth {depth}, {}", list(counters))
            }
            // `Stopped` and `Helped` tell the maximum and the sums.
            Event::Memory { .. } | Event::Facts { .. } | Event::Outside { .. } => return None,
            Event::Statistics { engine, counters, .. } => format!("{engine}: {}", list(counters)),
            Event::Stopped { engine, reason, time, .. } => {
                let reason = reason.as_ref().map_or_else(|| "has the answer".to_owned(), ToString::to_string);
                format!("{engine}: ended after {:.3} s: {reason}", time.as_secs_f64())
            }
            Event::Helped { from, to, received, accepted, useful } => {
                format!("{from} helped {to}: {received} facts, {accepted} accepted, {useful} useful")
            }
            Event::Panicked { engine, message } => format!("{engine}: failed: {message}"),
        })
    }

    /// The event as a JSON object. Its field `event` is the kind.
    pub fn to_json(&self) -> Json {
        let object = |counters: &[(&'static str, u64)]| {
            let counters = counters.iter().map(|&(name, value)| (name.to_owned(), value.into()));
            counters.collect::<Map<String, Json>>()
        };
        match self {
            Event::Phase { name, engine, time } => json!({
                "event": "phase",
                "phase": name,
                "engine": engine.as_deref(),
                "seconds": time.as_secs_f64(),
            }),
            Event::Pass(Report { name, before, after, time, .. }) => json!({
                "event": "pass",
                "pass": name,
                "predicates": [before.nodes, after.nodes],
                "clauses": [before.edges, after.edges],
                "terms": [before.terms, after.terms],
                "seconds": time.as_secs_f64(),
            }),
            Event::Schedule { class, why, engines, jobs } => {
                let slot = |(name, weight): &(Label, u32)| json!({"engine": &**name, "weight": weight});
                let engines: Vec<Json> = engines.iter().map(slot).collect();
                json!({"event": "schedule", "class": class, "why": why, "engines": engines, "jobs": jobs})
            }
            Event::Started { engine } => json!({"event": "started", "engine": &**engine}),
            Event::Paused { engine } => json!({"event": "paused", "engine": &**engine}),
            Event::Resumed { engine } => json!({"event": "resumed", "engine": &**engine}),
            Event::Progress { engine, depth, counters } => json!({
                "event": "progress",
                "engine": &**engine,
                "depth": depth,
                "counters": object(counters),
            }),
            Event::Memory { engine, bytes } => {
                json!({"event": "memory", "engine": &**engine, "bytes": bytes})
            }
            Event::Statistics { engine, counters, time } => json!({
                "event": "statistics",
                "engine": &**engine,
                "counters": object(counters),
                "seconds": time.as_secs_f64(),
            }),
            Event::Stopped { engine, reason, time, memory } => json!({
                "event": "stopped",
                "engine": &**engine,
                "reason": reason.as_ref().map(ToString::to_string),
                "seconds": time.as_secs_f64(),
                "bytes": memory,
            }),
            Event::Facts { sent, accepted } => {
                json!({"event": "facts", "sent": sent, "accepted": accepted})
            }
            Event::Outside { received, proved, sent } => {
                json!({"event": "outside", "received": received, "proved": proved, "sent": sent})
            }
            Event::Helped { from, to, received, accepted, useful } => json!({
                "event": "helped",
                "from": &**from,
                "to": &**to,
                "received": received,
                "accepted": accepted,
                "useful": useful,
            }),
            Event::Panicked { engine, message } => {
                json!({"event": "panicked", "engine": &**engine, "message": message})
            }
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_listed_for_people_and_named_for_programs() {
        let counters = vec![("lemmas", 3), ("solver.conflicts", 41)];
        let event = Event::Progress { engine: "spacer".into(), depth: 7, counters };
        assert_eq!(event.log_line().as_deref(), Some("spacer: depth 7, lemmas 3, solver.conflicts 41"));
        let counters = json!({"lemmas": 3, "solver.conflicts": 41});
        assert_eq!(
            event.to_json(),
            json!({"event": "progress", "engine": "spacer", "depth": 7, "counters": counters})
        );
    }

    #[test]
    fn an_engine_without_a_reason_to_stop_has_the_answer() {
        let stopped = |reason| Event::Stopped {
            engine: "bmc".into(),
            reason,
            time: Duration::from_millis(1500),
            memory: 1 << 20,
        };
        let (won, lost) = (stopped(None), stopped(Some(Stop::Exhausted("no clause is left"))));
        assert_eq!(won.log_line().as_deref(), Some("bmc: ended after 1.500 s: has the answer"));
        assert_eq!(won.to_json()["reason"], Json::Null);
        assert!(lost.log_line().is_some_and(|line| line.ends_with("no clause is left")));
        assert!(
            lost.to_json()["reason"].as_str().is_some_and(|reason| reason.ends_with("no clause is left"))
        );
        assert_eq!(lost.to_json()["seconds"], 1.5);
    }

    /// It changes too often.
    #[test]
    fn memory_is_for_programs_only() {
        let event = Event::Memory { engine: "bmc".into(), bytes: 5 };
        assert_eq!(event.log_line(), None);
        assert_eq!(event.to_json(), json!({"event": "memory", "engine": "bmc", "bytes": 5}));
    }
}
