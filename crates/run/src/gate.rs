//! A gate at which the threads of a search wait for their turn.
//!
//! If more searches are active than there are cores, each of them runs for a while and then waits, with everything it
//! has learnt, instead of being ended and restarted. A search passes its gate whenever it checks its limits, which is
//! often; it holds no lock there. To end a waiting search, open its gate as well; a limit that is reached while the
//! gate is closed is noticed within [`PATIENCE`].

use std::sync::atomic::{AtomicBool, Ordering};
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
