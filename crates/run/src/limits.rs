//! Limits of a computation.
//!
//! Deadline, memory, cancel flag and gate bound the whole computation that gets [`Limits`]; conflicts and propagations
//! bound each solver query and are counted there. A poll costs a look at the clock, and one at the memory every
//! [`MEMORY_INTERVAL`]; callers poll between steps that take at most microseconds.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::{Gate, Reason};

/// Time between two measurements of the memory, each of which is a system call.
const MEMORY_INTERVAL: Duration = Duration::from_millis(10);

/// Bounds on one query. By default there are none.
#[derive(Clone, Copy, Default, Debug)]
pub struct Limits<'a> {
    /// The greatest number of conflicts resolved in this query.
    pub conflicts: Option<u64>,
    /// The greatest number of literals propagated in this query.
    pub propagations: Option<u64>,
    /// The time at which to give up.
    pub deadline: Option<Instant>,
    /// Gives up soon after the process exceeds this many bytes of resident memory. Ignored if the system does not
    /// report its memory.
    pub memory: Option<usize>,
    /// Gives up soon after another thread has set the flag.
    pub cancel: Option<&'a AtomicBool>,
    /// Waits, at each poll, while another thread keeps this closed.
    pub gate: Option<&'a Gate>,
}

impl Limits<'_> {
    /// The reason if deadline, memory or cancel flag ends the computation; for loops around queries.
    pub fn interruption(&self) -> Option<Reason> {
        Poll::new(self).interruption()
    }

    /// Like [`interruption`](Self::interruption), for the operator `?`.
    pub fn go_on(&self) -> Result<(), Reason> {
        self.interruption().map_or(Ok(()), Err)
    }
}

/// The resident memory of the process in bytes, if the system reports it.
pub fn memory_in_use() -> Option<usize> {
    memory_stats::memory_stats().map(|stats| stats.physical_mem)
}

/// Polls limits for one query, or for other work that polls often. A limit that was reached stays reached: the answer
/// does not change later.
pub struct Poll<'a> {
    limits: &'a Limits<'a>,
    /// When to measure the memory next; only used with a memory limit.
    next_memory: Cell<Option<Instant>>,
    /// The first reason found.
    found: Cell<Option<Reason>>,
}

impl<'a> Poll<'a> {
    /// Starts polling now.
    pub fn new(limits: &'a Limits<'a>) -> Self {
        Poll { limits, next_memory: Cell::new(None), found: Cell::new(None) }
    }

    /// The reason why the work must end, if it must.
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

    /// Whether the process uses more memory, if a measurement is due.
    fn exceeds(&self, memory: usize, now: Instant) -> bool {
        if self.next_memory.get().is_some_and(|next| now < next) {
            return false;
        }
        self.next_memory.set(now.checked_add(MEMORY_INTERVAL));
        memory_in_use().is_some_and(|bytes| bytes > memory)
    }
}
