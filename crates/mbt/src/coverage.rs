//! Counts, by name, of the behaviour that a run has exercised.

use std::collections::BTreeMap;
use std::fmt;

/// The number of occurrences of each behaviour.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Coverage(BTreeMap<&'static str, u64>);

impl Coverage {
    /// Increments a count.
    pub fn count(&mut self, name: &'static str) {
        *self.0.entry(name).or_default() += 1;
    }

    /// The count of a name.
    pub fn of(&self, name: &str) -> u64 {
        self.0.get(name).copied().unwrap_or_default()
    }

    /// Adds the counts of another run.
    pub fn add(&mut self, other: &Coverage) {
        for (name, count) in &other.0 {
            *self.0.entry(name).or_default() += count;
        }
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|(name, count)| writeln!(f, "{count:>12}  {name}"))
    }
}
