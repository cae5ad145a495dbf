//! What all work on clauses is given: the terms and the limits.
//!
//! Reading, transformations, ways back, witnesses and the checker need no more. The run of an engine contains a context,
//! and adds what only engines need.

use std::time::{Duration, Instant};

use shofar_logic::TermStore;
use shofar_run::{Limits, Reason};

/// The terms and the limits.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// The terms.
    pub store: &'a TermStore,
    /// Bounds on each query to the solver; deadline, memory and cancel flag are bounds on the whole.
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

    /// The same with a deadline in so much time, and no later than after a part of the time that is left: with `part` 4
    /// after a quarter.
    pub fn for_part(self, part: u32, time: Duration) -> Self {
        let now = Instant::now();
        let left = self.limits.deadline.map(|deadline| deadline.saturating_duration_since(now) / part.max(1));
        let deadline = now.checked_add(left.map_or(time, |left| left.min(time)));
        self.within(Limits { deadline, ..self.limits })
    }

    /// Whether deadline, memory or cancel flag end what is under way, and which.
    pub fn interrupted(&self) -> Option<Reason> {
        self.limits.interruption()
    }

    /// As [`interrupted`](Self::interrupted), for the operator `?`.
    pub fn go_on(&self) -> Result<(), Reason> {
        self.limits.go_on()
    }
}
