//! Where engines on the same graph exchange what they have found out.
//!
//! Whatever holds in the states that are reached in so many steps, holds for all engines. One that takes part sends what it
//! finds and takes in, at points of its own choice, what others have sent; what is worth sending on is for the exchange to
//! say. A run carries its own connection ([`Run::exchange`](crate::Run::exchange)), which is absent unless somebody
//! connects runs.
//!
//! So far instances of PD-KIND take part, and nobody connects the engines of a schedule: a lemma speaks of the states of
//! the single loop that they make of the graph. Facts about predicates of the graph, and facts of other kinds, would be
//! further messages here.

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

/// One run's connection to others. Those who send are trusted: a lemma that does not hold makes answers wrong, which the
/// checker refuses.
pub trait Exchange: Sync {
    /// Takes a lemma of this run.
    fn send(&self, lemma: SharedLemma);

    /// Gives the lemmas of others that have come since the last call.
    fn receive(&self) -> Vec<SharedLemma>;
}
