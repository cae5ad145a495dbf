//! Why there is no interpolant: the run was interrupted, none was found, or the question was wrong.
//!
//! Callers treat the three differently. An interruption ends them; where none is found, they go on with something
//! weaker; and a wrong question is a mistake of theirs.

use std::fmt;

use shofar_logic::Term;
use shofar_run::{Reason, Stop};

use super::fallback::Failure;
use crate::proof::{Part, StepId};

/// Why there is no interpolant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Error {
    /// Deadline, memory or cancel flag ended the search for it. A budget of conflicts or propagations does not count as an
    /// interruption.
    Interrupted(Reason),
    /// The proof has none because of this defect, and none was found without the proof for that reason. There is no
    /// reason if the [options](super::Options) have the fallback switched off.
    NotFound(Defect, Option<Failure>),
    /// The last answer of the solver was not `Unsat`, the solver logs no proofs, or the proof is none.
    NoRefutation,
    /// The proof uses a part that was not given formulas or a place.
    Unlisted(Part),
    /// Interpolants of the chosen kind for the subtrees of a tree are no tree interpolants.
    NoTreeProperty,
    /// Every node but the last must come before its parent.
    NotATree,
}

/// Why a proof has no interpolant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Defect {
    /// Neither side has all symbols of this formula or term, on which the proof relies.
    Mixed(Term),
    /// The certificate of a step does not prove its clause, or does so in a way that has no interpolant.
    Invalid(StepId),
    /// A symbol that is not shared would be left in this formula.
    Leak(Term),
    /// The interpolants are right one by one, but not known to be a sequence or tree at this position.
    NotInductive(usize),
}

impl Error {
    /// For a proof without an interpolant and a fallback that has failed, too.
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

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        match error {
            Error::Interrupted(reason) => Stop::Interrupted(reason),
            Error::NotFound(..) => Stop::Exhausted("an interpolant could not be found"),
            error => Stop::Internal(error.to_string()),
        }
    }
}
