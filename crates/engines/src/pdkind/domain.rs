//! What PD-KIND asks about states.
//!
//! The induction-checking and the finite reachability engine know sets of states and nothing of formulas. [`Domain`] is
//! all that they ask: formulas and a solver answer in `symbolic.rs`, and lists of states in the tests, where every answer
//! that the contract permits is given now and then.

use std::hash::Hash;

use shofar_run::Stop;

use super::ice::Received;

/// Sets of states and questions about transitions.
pub(super) trait Domain {
    /// A set of states. Equal values are equal sets, but not the other way round.
    type Set: Copy + Eq + Hash;
    /// A path of the length of the present level.
    type Path;

    /// Whether limits end the run.
    fn poll(&mut self) -> Result<(), Stop>;

    /// The states that are not in the set.
    fn complement(&mut self, set: Self::Set) -> Self::Set;

    /// The states that are in both.
    fn intersection(&mut self, first: Self::Set, second: Self::Set) -> Self::Set;

    /// Whether an initial state is in the goal. If not, a set that contains the initial states and is disjoint from the
    /// goal.
    fn initial(&mut self, goal: Self::Set) -> Result<Image<Self::Set>, Stop>;

    /// Whether a successor of a state in all sets of the frame is in the goal. If so, states that have successors in
    /// the goal, one of which is in the frame. If not, a set that contains the successors and the initial states
    /// and is disjoint from the goal, which has no initial states.
    fn image(&mut self, frame: &[Self::Set], goal: Self::Set) -> Result<Image<Self::Set>, Stop>;

    /// From now on paths have so many steps, and all of their states but the last are in these sets.
    fn open_level(&mut self, steps: usize, frame: &[Self::Set]) -> Result<(), Stop>;

    /// All states but the last are in this set, too.
    fn restrict(&mut self, set: Self::Set) -> Result<(), Stop>;

    /// A path that leads into a set.
    fn path_to(&mut self, set: Self::Set) -> Result<Option<Self::Path>, Stop>;

    /// Whether the last state of a path is in the set.
    fn ends_in(&mut self, path: &Self::Path, set: Self::Set) -> Result<bool, Stop>;

    /// States from which as many steps as the path has lead into the set, in which the path ends; the first state of the
    /// path is one of them.
    fn generalise(&mut self, path: &Self::Path, set: Self::Set) -> Result<Self::Set, Stop>;

    /// Tells others of a lemma that holds for so many steps, and of the states that it is to exclude, with their distance
    /// from bad ones.
    fn send(&mut self, _lemma: Self::Set, _steps: usize, _cex: Option<(Self::Set, usize)>) {}

    /// What others have told.
    fn receive(&mut self) -> Vec<Received<Self::Set>> {
        Vec::new()
    }
}

/// What is known of the intersection of an image and a goal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Image<S> {
    /// It is not empty, by these states.
    Meets(S),
    /// It is empty, by this set between them.
    Apart(S),
}
