//! The operations on states that PD-KIND needs.
//!
//! The induction-checking and the finite reachability engine handle sets of states, not formulas. [`Domain`] is their
//! whole interface to states. `symbolic.rs` implements it by formulas and a solver. The tests implement it by lists of
//! states, and draw at random from all answers that the contract permits.

use std::hash::Hash;

use shofar_run::Stop;

use super::ice::Received;
use crate::{FactId, Fate};

/// Sets of states and questions about transitions.
pub(super) trait Domain {
    /// A set of states. Equal values are equal sets, but not the other way round.
    type Set: Copy + Eq + Hash;
    /// A path whose length is the depth of the current level.
    type Path;

    /// Returns an error if a limit ends the run.
    fn poll(&mut self) -> Result<(), Stop>;

    /// The states that are not in the set.
    fn complement(&mut self, set: Self::Set) -> Self::Set;

    /// The states that are in both.
    fn intersection(&mut self, first: Self::Set, second: Self::Set) -> Self::Set;

    /// Whether the goal contains an initial state. If not, returns a set that contains the initial states and is
    /// disjoint from the goal.
    fn initial(&mut self, goal: Self::Set) -> Result<Image<Self::Set>, Stop>;

    /// Whether the goal contains a successor of a state in all sets of the frame. If so, returns states with successors
    /// in the goal, at least one of them in the frame. If not, returns a set that contains the successors and the
    /// initial states and is disjoint from the goal. Precondition: the goal contains no initial state.
    fn image(&mut self, frame: &[Self::Set], goal: Self::Set) -> Result<Image<Self::Set>, Stop>;

    /// Starts a level: from now on paths have `steps` steps, and all states but the last are in these sets.
    fn open_level(&mut self, steps: usize, frame: &[Self::Set]) -> Result<(), Stop>;

    /// Restricts all states but the last to this set, too.
    fn restrict(&mut self, set: Self::Set) -> Result<(), Stop>;

    /// A path that ends in the set.
    fn path_to(&mut self, set: Self::Set) -> Result<Option<Self::Path>, Stop>;

    /// Whether the last state of a path is in the set.
    fn ends_in(&mut self, path: &Self::Path, set: Self::Set) -> Result<bool, Stop>;

    /// States from which as many steps as the path has lead into the set, which contains the last state of the path.
    /// The result contains the first state of the path.
    fn generalise(&mut self, path: &Self::Path, set: Self::Set) -> Result<Self::Set, Stop>;

    /// Shares a lemma that holds for the given number of steps, and the states it shall exclude with their distance
    /// from bad states.
    fn send(&mut self, _lemma: Self::Set, _steps: usize, _cex: Option<(Self::Set, usize)>) {}

    /// Says that no bad state is reached in the given number of steps.
    fn send_depth(&mut self, _steps: usize) {}

    /// The lemmas that other engines shared.
    fn receive(&mut self) -> Vec<(FactId, Received<Self::Set>)> {
        Vec::new()
    }

    /// Says what became of a lemma of another engine.
    fn rate(&mut self, _fact: FactId, _fate: Fate) {}
}

/// The intersection of an image and a goal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Image<S> {
    /// It is not empty, as these states show.
    Meets(S),
    /// It is empty, as this separating set shows.
    Apart(S),
}
