//! A gate at which the threads of a search wait for their turn.
//!
//! If more searches are active than there are cores, each of them runs for a while and then waits, with everything it
//! has learnt, instead of being ended and restarted. A search passes its gate whenever it checks its limits, which is
//! often; it holds no lock there. To end a waiting search, open its gate as well; a limit that is reached while the
//! gate is closed is noticed within [`PATIENCE`].
//!
//! A *metered* gate counts how often it is passed, and closes by itself. The passes of a search do not depend on the clock, so a search
//! that waits there has always done the same work.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a thread waits before it checks its limits again.
const PATIENCE: Duration = Duration::from_millis(20);

/// A gate that is open or closed; the threads of one search pass it, others open and close it. It is initially open.
#[derive(Default, Debug)]
pub struct Gate {
    is_closed: AtomicBool,
    /// The lock is also held to change the gate, so that no opening is missed.
    queue: Mutex<Queue>,
    opened: Condvar,
    /// How often a metered gate can be passed before it closes. Only the one thread of the search, or the controller while that
    /// thread waits, changes it.
    left: Option<AtomicU64>,
}

/// The threads in front of a gate.
#[derive(Default, Debug)]
struct Queue {
    /// How many threads wait, and since when at least one of them does.
    waiting: usize,
    since: Option<Instant>,
    /// How long threads have waited, before that.
    waited: Duration,
}

impl Gate {
    /// A metered gate, for one thread. It is closed at first.
    pub fn metered() -> Self {
        Gate { left: Some(AtomicU64::new(0)), ..Gate::default() }
    }

    /// Lets the thread of a metered gate pass this often, and makes it wait then.
    pub fn grant(&self, passes: u64) {
        if let Some(left) = &self.left {
            left.store(passes, Ordering::Relaxed);
        }
        self.open();
    }

    /// Whether threads wait in front of the closed gate.
    pub fn has_waiting(&self) -> bool {
        let queue = self.lock();
        queue.waiting > 0 && self.is_closed.load(Ordering::Relaxed)
    }

    /// Lets the threads continue.
    pub fn open(&self) {
        let _queue = self.lock();
        self.is_closed.store(false, Ordering::Relaxed);
        self.opened.notify_all();
    }

    /// Makes each thread wait the next time it reaches the gate.
    pub fn close(&self) {
        self.is_closed.store(true, Ordering::Relaxed);
    }

    /// How long threads have waited here so far. Time in which several wait counts once.
    pub fn waited(&self) -> Duration {
        self.lock().waited
    }

    /// Waits while the gate is closed and `is_over` returns `false`.
    #[inline]
    pub(crate) fn pass(&self, is_over: impl Fn() -> bool) {
        if let Some(left) = &self.left {
            match left.load(Ordering::Relaxed) {
                0 => self.close(),
                passes => left.store(passes - 1, Ordering::Relaxed),
            }
        }
        if self.is_closed.load(Ordering::Relaxed) {
            self.wait(is_over);
        }
    }

    #[cold]
    fn wait(&self, is_over: impl Fn() -> bool) {
        let mut queue = self.lock();
        queue.waiting += 1;
        queue.since.get_or_insert_with(Instant::now);
        while self.is_closed.load(Ordering::Relaxed) && !is_over() {
            let woken = self.opened.wait_timeout(queue, PATIENCE);
            queue = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        queue.waiting -= 1;
        if queue.waiting == 0
            && let Some(since) = queue.since.take()
        {
            queue.waited += since.elapsed();
        }
    }

    /// A poisoned lock is harmless: only `is_over` can panic, and then the thread counts as waiting.
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::{Limits, Reason};

    #[test]
    fn whoever_comes_to_a_closed_gate_waits_until_it_opens() {
        let gate = Gate::default();
        let limits = Limits { gate: Some(&gate), ..Limits::default() };
        assert_eq!((limits.interruption(), gate.waited()), (None, Duration::ZERO));
        gate.close();
        thread::scope(|scope| {
            let waiting = scope.spawn(|| limits.interruption());
            thread::sleep(Duration::from_millis(50));
            assert!(!waiting.is_finished());
            gate.open();
            assert_eq!(waiting.join().ok(), Some(None));
        });
        assert!(gate.waited() >= Duration::from_millis(20));
    }

    #[test]
    fn time_in_which_several_threads_wait_counts_once() {
        let gate = Gate::default();
        let limits = Limits { gate: Some(&gate), ..Limits::default() };
        gate.close();
        let start = Instant::now();
        thread::scope(|scope| {
            let threads = [(); 8].map(|()| scope.spawn(|| limits.interruption()));
            thread::sleep(Duration::from_millis(100));
            gate.open();
            assert!(threads.into_iter().all(|thread| thread.join().is_ok()));
        });
        assert!(gate.waited() <= start.elapsed(), "{:?}", gate.waited());
        assert!(gate.waited() >= Duration::from_millis(20));
    }

    #[test]
    fn a_metered_gate_is_passed_as_often_as_allowed() {
        let gate = Gate::metered();
        let cancel = AtomicBool::new(false);
        let limits = Limits { gate: Some(&gate), cancel: Some(&cancel), ..Limits::default() };
        let passed = AtomicU64::new(0);
        thread::scope(|scope| {
            scope.spawn(|| {
                while limits.interruption().is_none() {
                    passed.fetch_add(1, Ordering::Relaxed);
                }
            });
            let wait = || {
                while !gate.has_waiting() {
                    thread::yield_now();
                }
                passed.load(Ordering::Relaxed)
            };
            assert_eq!(wait(), 0);
            gate.grant(1000);
            // The pass at which it waited is the first.
            assert_eq!(wait(), 1001);
            gate.grant(10);
            assert_eq!(wait(), 1012);
            cancel.store(true, Ordering::Relaxed);
            gate.open();
        });
    }

    #[test]
    fn limits_hold_in_front_of_a_closed_gate() {
        let gate = Gate::default();
        gate.close();
        let deadline = Instant::now().checked_add(Duration::from_millis(50));
        let limits = Limits { deadline, gate: Some(&gate), ..Limits::default() };
        assert_eq!(limits.interruption(), Some(Reason::Deadline));
        let cancel = AtomicBool::new(false);
        let limits = Limits { cancel: Some(&cancel), gate: Some(&gate), ..Limits::default() };
        thread::scope(|scope| {
            let waiting = scope.spawn(|| limits.interruption());
            cancel.store(true, Ordering::Relaxed);
            assert_eq!(waiting.join().ok(), Some(Some(Reason::Cancelled)));
        });
    }
}
