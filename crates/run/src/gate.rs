//! A gate at which a thread waits for its turn.
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

/// A gate that is open or closed; one thread passes it, others open and close it. It is initially open.
#[derive(Default, Debug)]
pub struct Gate {
    is_closed: AtomicBool,
    /// How long the thread has waited. The lock is also held to change the gate, so that no opening is missed.
    waited: Mutex<Duration>,
    opened: Condvar,
}

impl Gate {
    /// Lets the thread continue.
    pub fn open(&self) {
        let _waited = self.lock();
        self.is_closed.store(false, Ordering::Relaxed);
        self.opened.notify_all();
    }

    /// Makes the thread wait the next time it reaches the gate.
    pub fn close(&self) {
        self.is_closed.store(true, Ordering::Relaxed);
    }

    /// How long the thread has waited here so far.
    pub fn waited(&self) -> Duration {
        *self.lock()
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
        let start = Instant::now();
        let mut waited = self.lock();
        while self.is_closed.load(Ordering::Relaxed) && !is_over() {
            let woken = self.opened.wait_timeout(waited, PATIENCE);
            waited = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        *waited += start.elapsed();
    }

    /// A poisoned lock is harmless: a duration is always consistent.
    fn lock(&self) -> MutexGuard<'_, Duration> {
        self.waited.lock().unwrap_or_else(PoisonError::into_inner)
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
