//! The context of all work on clauses: terms and limits.
//!
//! Readers, transformations, translations, witnesses and the checker need no more. The run of an engine contains a
//! context and adds the rest that engines need.

use std::time::{Duration, Instant};

use shofar_logic::TermStore;
use shofar_run::{Limits, Reason};

/// The terms and the limits.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// The terms.
    pub store: &'a TermStore,
    /// Conflicts and propagations limit each query; deadline, memory and cancel flag limit the whole work.
    pub limits: Limits<'a>,
}

impl<'a> Context<'a> {
    /// A context without limits.
    pub fn new(store: &'a TermStore) -> Self {
        Context { store, limits: Limits::default() }
    }

    /// The same terms with other limits.
    pub fn within(self, limits: Limits<'a>) -> Self {
        Context { limits, ..self }
    }

    /// The same context with a deadline after `time`, or after a fraction of the remaining time, whichever is earlier:
    /// with `part` 4 after a quarter.
    pub fn for_part(self, part: u32, time: Duration) -> Self {
        let now = Instant::now();
        let left = self.limits.deadline.map(|deadline| deadline.saturating_duration_since(now) / part.max(1));
        let deadline = now.checked_add(left.map_or(time, |left| left.min(time)));
        self.within(Limits { deadline, ..self.limits })
    }

    /// The reason if deadline, memory or cancel flag end the work.
    pub fn interrupted(&self) -> Option<Reason> {
        self.limits.interruption()
    }

    /// Like [`interrupted`](Self::interrupted), for the operator `?`.
    pub fn go_on(&self) -> Result<(), Reason> {
        self.limits.go_on()
    }
}
