//! A connection that comes back.
//!
//! The thread that owns a [`Link`] asks it for work on the broker. Without a connection the link tries to connect, at most
//! once per pause; the pause doubles from attempt to attempt. A failure is told once, until there is a connection again.
//!
//! L1: the [`epoch`](Link::epoch) grows with each connection. Behind a new connection there may be a server without memory, so
//! owners repeat then what the server has to know.

use std::thread;
use std::time::{Duration, Instant};

use crate::address::Address;
use crate::broker::{Broker, Trouble};
use crate::note::{Note, Tell};
use crate::times::Times;

/// A connection to the broker that is made again after a failure.
pub struct Link<'a> {
    address: Address,
    times: Times,
    tell: Tell<'a>,
    broker: Option<Broker>,
    epoch: u64,
    pause: Duration,
    next: Instant,
    /// Whether the present failure is told.
    is_told: bool,
}

/// There is no connection at present.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outage {
    /// It is not yet time for the next attempt.
    Pause,
    /// The attempt has failed.
    Failed(Trouble),
}

impl<'a> Link<'a> {
    /// A link without a connection.
    pub fn new(address: Address, times: Times, tell: Tell<'a>) -> Self {
        Link {
            address,
            times,
            tell,
            broker: None,
            epoch: 0,
            pause: times.back_off.0,
            next: Instant::now(),
            is_told: false,
        }
    }

    /// The number of connections so far.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Whether there is a connection, as far as anybody knows.
    pub fn is_up(&self) -> bool {
        self.broker.is_some()
    }

    /// Connects, if there is no connection and it is time.
    pub fn connect(&mut self) -> Result<(), Outage> {
        if self.broker.is_some() {
            return Ok(());
        }
        if Instant::now() < self.next {
            return Err(Outage::Pause);
        }
        match Broker::connect(&self.address, &self.times) {
            Ok(broker) => {
                if self.is_told {
                    (self.tell)(Note::Connected(self.address.to_string()));
                }
                self.broker = Some(broker);
                self.epoch += 1;
                self.is_told = false;
                Ok(())
            }
            Err(trouble) => Err(self.fail(trouble)),
        }
    }

    /// Works on the broker. The error ends the connection.
    pub fn with<T>(&mut self, work: impl FnOnce(&mut Broker) -> Result<T, Trouble>) -> Result<T, Outage> {
        self.connect()?;
        let Some(broker) = &mut self.broker else { return Err(Outage::Pause) };
        match work(broker) {
            Ok(done) => {
                self.pause = self.times.back_off.0;
                Ok(done)
            }
            Err(trouble) => Err(self.fail(trouble)),
        }
    }

    /// Works on the broker for the last time: without a connection it tries once to connect, without a pause, if there was
    /// one before. A signal ends connections that wait, so this is usual at the end.
    pub fn finally(&mut self, work: impl FnOnce(&mut Broker) -> Result<(), Trouble>) {
        if self.epoch > 0 {
            self.next = Instant::now();
            // There is nobody to tell that it failed.
            let _ = self.with(work);
        }
    }

    fn fail(&mut self, trouble: Trouble) -> Outage {
        self.broker = None;
        self.next = Instant::now() + self.pause;
        self.pause = (2 * self.pause).min(self.times.back_off.1);
        if !self.is_told {
            (self.tell)(Note::Lost(trouble.clone()));
            self.is_told = true;
        }
        Outage::Failed(trouble)
    }

    /// Waits a little for the next attempt.
    pub fn rest(&self) {
        let rest = self.next.saturating_duration_since(Instant::now());
        thread::sleep(rest.min(Duration::from_millis(10)));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn pauses_grow_and_a_failure_is_told_once() {
        let notes = Mutex::new(Vec::new());
        let tell = |note: Note| notes.lock().unwrap().push(note);
        let times =
            Times { back_off: (Duration::from_millis(5), Duration::from_millis(20)), ..Times::short() };
        // Port 1 is reserved, and nobody listens there.
        let mut link = Link::new("redis://127.0.0.1:1".parse().unwrap(), times, &tell);
        let mut pauses = Vec::new();
        let mut attempts = 0;
        while attempts < 5 {
            match link.connect() {
                Ok(()) => panic!("somebody listens"),
                Err(Outage::Pause) => link.rest(),
                Err(Outage::Failed(trouble)) => {
                    assert!(matches!(trouble, Trouble::NoServer(..)) && !trouble.is_final(), "{trouble}");
                    pauses.push(link.pause.as_millis());
                    attempts += 1;
                }
            }
        }
        assert_eq!(pauses, [10, 20, 20, 20, 20]);
        assert_eq!(notes.lock().unwrap().len(), 1);
    }
}
