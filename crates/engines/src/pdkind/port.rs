//! Where instances of PD-KIND on the same system meet.
//!
//! Whatever holds in the states that are reached in so many steps, holds for all instances. An instance sends each
//! invariant that it finds for a number of steps, and takes in what others have sent between two rules. What is worth
//! sending on is for the port to say.

use shofar_logic::Term;

/// A formula that holds in all states that are reached in at most so many steps.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SharedLemma {
    /// The variables of a state, in the order of the system's arguments.
    pub state: Box<[Term]>,
    /// The formula over these.
    pub lemma: Term,
    /// The number of steps.
    pub steps: usize,
    /// For a lemma of an induction frame: states that it excludes, and in how many steps exactly each of them leads to a bad
    /// state.
    pub cex: Option<(Term, usize)>,
}

/// One instance's connection to others. Those who send are trusted: a lemma that does not hold makes answers wrong, which
/// the checker refuses.
pub trait Port: Send + Sync {
    /// Takes a lemma of this instance.
    fn send(&self, lemma: SharedLemma);

    /// Gives the lemmas of others that have come since the last call.
    fn receive(&self) -> Vec<SharedLemma>;
}
