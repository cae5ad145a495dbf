//! Why there is no interpolant: the run was interrupted, none was found, or the query was invalid.
//!
//! Callers treat the three differently. After an interruption they stop. If none is found, they continue with something
//! weaker. An invalid query is a bug of the caller.

use std::fmt;

use shofar_logic::Term;
use shofar_run::{Reason, Stop};

use super::fallback::Failure;
use crate::proof::{Part, StepId};

/// Why there is no interpolant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Error {
    /// Deadline, memory or cancel flag ended the search. Exhausting a budget of conflicts or propagations is not an
    /// interruption.
    Interrupted(Reason),
    /// The proof has no interpolant because of this defect, and the fallback failed for this reason. The reason is
    /// `None` if the [options](super::Options) switch the fallback off.
    NotFound(Defect, Option<Failure>),
    /// The last answer of the solver was not `Unsat`, the solver logs no proofs, or the proof is invalid.
    NoRefutation,
    /// The proof uses a part that has no formulas or no place in the query.
    Unlisted(Part),
    /// Interpolants of the chosen kind for the subtrees of a tree do not satisfy I4.
    NoTreeProperty,
    /// Every node but the last must come before its parent.
    NotATree,
}

/// Why a proof has no interpolant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Defect {
    /// Neither side has all symbols of this formula or term, which the proof needs.
    Mixed(Term),
    /// The certificate of a step does not prove its clause, or has no interpolant.
    Invalid(StepId),
    /// This formula would keep a symbol that is not shared.
    Leak(Term),
    /// The interpolants are right individually, but I4 is not known to hold at this position.
    NotInductive(usize),
}

impl Error {
    /// For a proof without an interpolant, if the fallback failed as well.
    pub(super) fn without_fallback(defect: Defect, failure: Failure) -> Self {
        match failure {
            Failure::Unknown(reason @ (Reason::Cancelled | Reason::Deadline | Reason::Memory)) => {
                Error::Interrupted(reason)
            }
            failure => Error::NotFound(defect, Some(failure)),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Interrupted(_) => write!(f, "the search for an interpolant was interrupted"),
            Error::NotFound(_, Some(_)) => {
                write!(f, "there is no interpolant from the proof, and none was found without")
            }
            Error::NotFound(defect, None) => defect.fmt(f),
            Error::NoRefutation => write!(f, "there is no proof that ends with the empty clause"),
            Error::Unlisted(Part(part)) => write!(f, "part {part} of the proof is not listed"),
            Error::NoTreeProperty => {
                write!(f, "tree interpolants need the labelling of McMillan or Pudlak and Farkas sums of A")
            }
            Error::NotATree => write!(f, "a node of the tree comes after its parent"),
        }
    }
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Defect::Mixed(_) => write!(f, "the proof uses a term that mixes symbols of both sides"),
            Defect::Invalid(StepId(step)) => write!(f, "step {step} of the proof has no interpolant"),
            Defect::Leak(_) => write!(f, "the interpolant has a symbol that is not shared"),
            Defect::NotInductive(position) => {
                write!(f, "the interpolant at position {position} does not follow from those before")
            }
        }
    }
}

impl std::error::Error for Error {}

impl std::error::Error for Defect {}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        match error {
            Error::Interrupted(reason) => Stop::Interrupted(reason),
            Error::NotFound(..) => Stop::Exhausted("an interpolant could not be found"),
            error => Stop::Internal(error.to_string()),
        }
    }
}
