//! Whether all runs of a system end, and the certificates that prove the answer.

use std::fmt;

use shofar_cooperate::termination;
use shofar_run::Stop;

use crate::system::System;

/// The answer to whether all runs of linear clauses end. A run begins with a fact, and each step applies a clause to the fact
/// before; queries do not matter.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Termination {
    /// All runs end.
    Terminating(Certificate),
    /// Some run does not end.
    Nonterminating(Certificate),
    /// Nothing is known, for this reason.
    Unknown(Stop),
}

impl Termination {
    pub(crate) fn of(system: &System, verdict: termination::Verdict) -> Self {
        match verdict {
            termination::Verdict::Known(inner) => {
                let is_terminating = inner.answer() == "terminating";
                let certificate = Certificate { system: system.clone(), inner };
                if is_terminating {
                    Termination::Terminating(certificate)
                } else {
                    Termination::Nonterminating(certificate)
                }
            }
            termination::Verdict::Unknown(stop) => Termination::Unknown(stop),
        }
    }

    /// The answer in a word: `terminating`, `nonterminating` or `unknown`.
    pub fn name(&self) -> &'static str {
        match self {
            Termination::Terminating(_) => "terminating",
            Termination::Nonterminating(_) => "nonterminating",
            Termination::Unknown(_) => "unknown",
        }
    }
}

/// What proves an answer about termination. It was checked before the answer was given.
#[derive(Clone, PartialEq, Eq)]
pub struct Certificate {
    system: System,
    inner: termination::Certificate,
}

impl Certificate {
    /// The system that the certificate belongs to.
    pub fn system(&self) -> &System {
        &self.system
    }

    /// The kind of the argument in a word: `ranking`, `disjunctive` or `bound` if all runs end, `lasso` or `recurrence` if one
    /// does not.
    pub fn kind(&self) -> &'static str {
        self.inner.kind()
    }
}

/// In the format of the command line.
impl fmt::Display for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = termination::to_text(self.system.store(), self.system.inner(), &self.inner);
        f.write_str(&text.map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Certificate({self})")
    }
}
