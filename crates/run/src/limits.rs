//! How long work may take.
//!
//! Deadline, memory, cancel flag and gate bound whatever is given [`Limits`]; conflicts and propagations bound each single
//! query to the solver and are counted there. Asking costs a look at the clock, and one at the memory every
//! [`MEMORY_INTERVAL`]; callers ask between steps that take microseconds at most.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::{Gate, Reason};

/// Time between two looks at the memory, for which the system has to be asked.
const MEMORY_INTERVAL: Duration = Duration::from_millis(10);

/// Bounds on one query. The default has none.
#[derive(Clone, Copy, Default, Debug)]
pub struct Limits<'a> {
    /// Conflicts that may be resolved in this query.
    pub conflicts: Option<u64>,
    /// Literals that may be propagated in this query.
    pub propagations: Option<u64>,
    /// When to give up.
    pub deadline: Option<Instant>,
    /// Gives up soon after the process has grown beyond so many bytes of resident memory. Where the system does not tell
    /// how many it has, there is no such limit.
    pub memory: Option<usize>,
    /// Gives up soon after another thread has set the flag.
    pub cancel: Option<&'a AtomicBool>,
    /// Waits, wherever the others are looked at, while another thread keeps this closed.
    pub gate: Option<&'a Gate>,
}

impl Limits<'_> {
    /// Whether deadline, memory or cancel flag end what is under way, and which; for loops around queries.
    pub fn interruption(&self) -> Option<Reason> {
        Poll::new(self).interruption()
    }

    /// As [`interruption`](Self::interruption), for the operator `?`.
    pub fn go_on(&self) -> Result<(), Reason> {
        self.interruption().map_or(Ok(()), Err)
    }
}

/// How many bytes of resident memory the process has, where the system tells.
pub fn memory_in_use() -> Option<usize> {
    memory_stats::memory_stats().map(|stats| stats.physical_mem)
}

/// Asks limits on behalf of one query, or of other work that asks often. Limits that have ended stay so: a query that has
/// to end is not told otherwise later.
pub struct Poll<'a> {
    limits: &'a Limits<'a>,
    /// When to look at the memory next; only used with a limit on it.
    next_memory: Cell<Option<Instant>>,
    /// What was found first.
    found: Cell<Option<Reason>>,
}

impl<'a> Poll<'a> {
    /// For work that begins now.
    pub fn new(limits: &'a Limits<'a>) -> Self {
        Poll { limits, next_memory: Cell::new(None), found: Cell::new(None) }
    }

    /// Whether the work has to end, and why.
    #[inline]
    pub fn interruption(&self) -> Option<Reason> {
        let Limits { deadline, memory, cancel, gate, .. } = *self.limits;
        if deadline.is_none() && memory.is_none() && cancel.is_none() && gate.is_none() {
            return None;
        }
        if let Some(gate) = gate {
            gate.pass(|| self.look(deadline, None, cancel).is_some());
        }
        self.look(deadline, memory, cancel)
    }

    fn look(
        &self,
        deadline: Option<Instant>,
        memory: Option<usize>,
        cancel: Option<&AtomicBool>,
    ) -> Option<Reason> {
        let reason = self.found.get().or_else(|| {
            if cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed)) {
                return Some(Reason::Cancelled);
            }
            let now = (deadline.is_some() || memory.is_some()).then(Instant::now)?;
            if deadline.is_some_and(|deadline| now >= deadline) {
                Some(Reason::Deadline)
            } else if memory.is_some_and(|memory| self.exceeds(memory, now)) {
                Some(Reason::Memory)
            } else {
                None
            }
        });
        self.found.set(reason);
        reason
    }

    /// Whether the process uses more memory, if it is time to look.
    fn exceeds(&self, memory: usize, now: Instant) -> bool {
        if self.next_memory.get().is_some_and(|next| now < next) {
            return false;
        }
        self.next_memory.set(now.checked_add(MEMORY_INTERVAL));
        memory_in_use().is_some_and(|bytes| bytes > memory)
    }
}
