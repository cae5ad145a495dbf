//! The exchange of lemmas between engines on the same graph.
//!
//! An invariant of the states reached in a number of steps holds for all engines. An engine that takes part sends its
//! lemmas and receives those of others at points of its own choice; the exchange decides which lemmas to forward. A run
//! carries its own connection ([`Run::exchange`](crate::Run::exchange)), which is absent unless somebody connects runs.
//!
//! So far instances of PD-KIND take part, and nobody connects the engines of a schedule: a lemma is about the states of
//! the single loop that they make of the graph.
//!
//! Engines for datatypes share code instead of messages. What they would send each other takes milliseconds to compute, so each engine
//! computes what it needs, gives the same answers alone and in company, and has what it uses in its own witness: summaries
//! (`algebra/summaries.rs`), predicates that are functions (`functions.rs`), facts with variables (`words/facts.rs`), and values for
//! abstract derivations (`replay.rs`). The measurements are in `bench/README.md`.
//!
//! Spacer also has an *observer* ([`Run::observer`](crate::Run::observer)), who sees its lemmas level by level.

use shofar_logic::Term;

/// A formula that holds in all states reached in at most `steps` steps.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SharedLemma {
    /// The variables of a state, in the order of the system's arguments.
    pub state: Box<[Term]>,
    /// The formula over `state`.
    pub lemma: Term,
    /// The number of steps.
    pub steps: usize,
    /// For a lemma of an induction frame: states that it excludes, and the exact number of steps in which each of them
    /// leads to a bad state.
    pub cex: Option<(Term, usize)>,
}

/// One run's connection to others. Senders are trusted: a wrong lemma makes answers wrong, which the checker rejects.
pub trait Exchange: Sync {
    /// Sends a lemma of this run.
    fn send(&self, lemma: SharedLemma);

    /// Returns the lemmas that others have sent since the last call.
    fn receive(&self) -> Vec<SharedLemma>;
}

/// The lemmas of one predicate in a frame of Spacer, over the predicate's variables. An empty list says nothing.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct FrameLemmas {
    /// Lemmas that hold for all derivable facts.
    pub proved: Vec<Term>,
    /// Lemmas that hold for the facts with derivations up to the height of the frame.
    pub bounded: Vec<Term>,
}

/// Observes the frames of Spacer.
pub trait FrameObserver: Sync {
    /// Called at the end of each level in the engine's thread, so it must not take long. The frame, indexed by
    /// predicate, excludes the bodies of all queries, but is not inductive.
    fn observe(&self, frame: Vec<FrameLemmas>);
}
