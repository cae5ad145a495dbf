//! What the broker knows: workers, jobs, rates.

use std::collections::BTreeSet;
use std::fmt;

use crate::address::Address;
use crate::broker::{Broker, Trouble};
use crate::message::{MOST_SMALL, Message, Name, Presence};
use crate::times::Times;

/// The workers that have joined. Those that are alive have a key of their own.
#[derive(Default)]
pub struct Roster {
    names: BTreeSet<Name>,
    /// The last entry that was read.
    last: String,
}

impl Roster {
    /// Whether a worker was alive at the last look.
    pub fn has(&self, worker: &Name) -> bool {
        self.names.contains(worker)
    }

    /// The workers that are alive.
    pub fn look(&mut self, broker: &mut Broker) -> Result<Vec<Presence>, Trouble> {
        if self.last.is_empty() {
            self.last.push('0');
        }
        loop {
            let entries = broker.roster(&self.last)?;
            let Some(newest) = entries.last() else { break };
            self.last.clone_from(&newest.id);
            for entry in &entries {
                if let Ok(Message::Worker(presence)) = Message::read(&entry.text, MOST_SMALL) {
                    self.names.insert(presence.from);
                }
            }
        }
        let mut alive = Vec::new();
        for name in std::mem::take(&mut self.names) {
            let text = broker.worker(&name)?;
            if let Some(Ok(Message::Worker(presence))) = text.map(|text| Message::read(&text, MOST_SMALL)) {
                self.names.insert(name);
                alive.push(presence);
            }
        }
        Ok(alive)
    }
}

/// A look at the broker.
#[derive(Clone, PartialEq, Debug)]
pub struct Status {
    /// The workers that are alive.
    pub workers: Vec<Presence>,
    /// The number of jobs that are not finished.
    pub jobs: usize,
    /// The number of jobs that were given up.
    pub dead: usize,
}

impl Status {
    /// Looks.
    pub fn of(address: &Address, times: &Times) -> Result<Self, Trouble> {
        let mut broker = Broker::connect(address, times)?;
        let workers = Roster::default().look(&mut broker)?;
        let (jobs, dead) = broker.lengths()?;
        Ok(Status { workers, jobs, dead })
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let busy: usize = self.workers.iter().map(|worker| worker.busy.len()).sum();
        let places: usize = self.workers.iter().map(|worker| worker.places).sum();
        let waiting = self.jobs.saturating_sub(busy);
        writeln!(f, "workers  {}, with {places} places, {busy} of them busy", self.workers.len())?;
        writeln!(f, "jobs     {waiting} waiting, {} not finished, {} given up", self.jobs, self.dead)?;
        for Presence { from, version, places, busy, answered, seconds } in &self.workers {
            let rate = if *seconds > 0.0 { *answered as f64 * 60.0 / seconds } else { 0.0 };
            writeln!(
                f,
                "{from}  version {version}, {} of {places} places busy, {answered} jobs in {seconds:.0} s, {rate:.1} per minute",
                busy.len(),
            )?;
            for job in busy {
                writeln!(f, "    {job}")?;
            }
        }
        Ok(())
    }
}
