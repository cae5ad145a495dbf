//! An observer of Spacer's frames ([`Run::observer`](crate::Run::observer)), for engines that run Spacer as a part of themselves.

use shofar_logic::Term;

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
