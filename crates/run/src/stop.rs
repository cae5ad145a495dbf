//! Why a computation ends without a result.

use std::fmt;

/// Why a limit, or the difficulty of a query, interrupted the computation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Reason {
    /// The budget of conflicts or propagations is exhausted.
    Budget,
    /// The cancel flag was set.
    Cancelled,
    /// The deadline passed.
    Deadline,
    /// The process uses more memory than allowed.
    Memory,
    /// The theory could not decide an assignment.
    Incomplete,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reason::Deadline => "the time limit was reached",
            Reason::Memory => "the memory limit was reached",
            Reason::Cancelled => "interrupted",
            Reason::Budget | Reason::Incomplete => "a query was too hard for the solver",
        })
    }
}

impl std::error::Error for Reason {}

/// Why there is no result.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Stop {
    /// A limit of the run was reached, or a query was too hard.
    Interrupted(Reason),
    /// The clauses use a feature that the engine or the solver does not support.
    Unsupported(String),
    /// The method cannot continue, though there is time left.
    Exhausted(&'static str),
    /// A witness or its translation is wrong, or an invariant of Shofar is violated: a bug in Shofar, unless the
    /// witness comes from elsewhere.
    Internal(String),
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stop::Interrupted(reason) => reason.fmt(f),
            Stop::Unsupported(what) => write!(f, "not supported: {what}"),
            Stop::Exhausted(why) => f.write_str(why),
            Stop::Internal(what) => write!(f, "internal error: {what}"),
        }
    }
}

impl std::error::Error for Stop {}

impl From<Reason> for Stop {
    fn from(reason: Reason) -> Self {
        Stop::Interrupted(reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interruption_reads_as_its_reason() {
        for reason in
            [Reason::Budget, Reason::Cancelled, Reason::Deadline, Reason::Memory, Reason::Incomplete]
        {
            assert_eq!(Stop::from(reason).to_string(), reason.to_string());
        }
    }
}
