//! Proof obligations: cubes of a predicate that must be excluded or reached, and the queue in which they wait.
//!
//! An obligation `(P, cube, n)` asks whether the cube contains a fact of `P` with a derivation of height at most `n`.
//! It is made for another one, its *parent*, which one clause derives from the cube's facts. Obligations of low level
//! are closer to an answer and come first, among them those of less depth (the number of times that an obligation was
//! moved up), then the younger ones.
//!
//! - O1: every open obligation is in the queue or being expanded; closed ones may be in the queue and are skipped.
//! - O2: the level of a new child is below that of its parent.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use shofar_horn::graph::{EdgeId, NodeId};
use shofar_logic::Term;

use super::frames::Level;

/// The index of an obligation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct ObligationId(u32);

/// The question whether facts in a cube are derivable.
#[derive(Clone)]
pub(super) struct Obligation {
    /// The predicate.
    pub(super) node: NodeId,
    /// Literals over the predicate's variables.
    pub(super) cube: Rc<[Term]>,
    /// The maximal height of derivations.
    pub(super) level: Level,
    /// The number of times that it was moved up, including its ancestors.
    pub(super) depth: u32,
    /// Its parent, and the clause between the two.
    pub(super) parent: Option<(ObligationId, EdgeId)>,
    /// The number of reach facts of the predicate known to lie outside of the cube.
    pub(super) facts_seen: usize,
    /// For a guess, the remaining length of its chain of predecessors; `None` otherwise.
    pub(super) gas: Option<u32>,
    /// Whether it was made from lemmas, to become one: its own literals are excluded, not those of proofs.
    pub(super) is_candidate: bool,
    /// The number of times that it was split.
    pub(super) concretions: u32,
    /// Whether it is undecided.
    pub(super) is_open: bool,
}

impl Obligation {
    /// An open obligation without parent.
    pub(super) fn new(node: NodeId, cube: Rc<[Term]>, level: Level, depth: u32) -> Self {
        Obligation {
            node,
            cube,
            level,
            depth,
            parent: None,
            facts_seen: 0,
            gas: None,
            is_candidate: false,
            concretions: 0,
            is_open: true,
        }
    }
}

/// The priority of an obligation.
type Priority = Reverse<(Level, u32, Reverse<u64>, ObligationId)>;

/// All obligations and the queue.
#[derive(Default)]
pub(super) struct Obligations {
    all: Vec<Obligation>,
    queue: BinaryHeap<Priority>,
    /// The latest obligation for a cube.
    known: FxHashMap<(NodeId, Rc<[Term]>), ObligationId>,
    /// The number of insertions into the queue, which gives the age.
    enqueued: u64,
}

impl Obligations {
    /// An obligation.
    pub(super) fn get(&self, id: ObligationId) -> &Obligation {
        &self.all[id.0 as usize]
    }

    /// An obligation, to be changed. After a change of its level, call [`enqueue`](Self::enqueue).
    pub(super) fn get_mut(&mut self, id: ObligationId) -> &mut Obligation {
        &mut self.all[id.0 as usize]
    }

    /// Makes an obligation, or reopens the one for the same cube, and enqueues it.
    pub(super) fn add(&mut self, obligation: Obligation) -> ObligationId {
        let key = (obligation.node, Rc::clone(&obligation.cube));
        let id = match self.known.get(&key) {
            Some(&known) if !self.get(known).is_open => {
                *self.get_mut(known) = obligation;
                known
            }
            _ => {
                let id = u32::try_from(self.all.len()).expect("memory ends before obligations are 2^32");
                self.all.push(obligation);
                self.known.insert(key, ObligationId(id));
                ObligationId(id)
            }
        };
        self.enqueue(id);
        id
    }

    /// Puts an open obligation into the queue.
    pub(super) fn enqueue(&mut self, id: ObligationId) {
        let Obligation { level, depth, .. } = *self.get(id);
        self.enqueued += 1;
        self.queue.push(Reverse((level, depth, Reverse(self.enqueued), id)));
    }

    /// Takes the open obligation of the lowest level out of the queue, if that level is at most `highest`.
    pub(super) fn take(&mut self, highest: Level) -> Option<ObligationId> {
        loop {
            let &Reverse((level, _, _, id)) = self.queue.peek()?;
            let obligation = self.get(id);
            let is_current = obligation.is_open && obligation.level == level;
            if is_current && level > highest {
                return None;
            }
            self.queue.pop();
            if is_current {
                return Some(id);
            }
        }
    }

    /// Whether there is an obligation for the cube, open or closed.
    pub(super) fn is_known(&self, node: NodeId, cube: &Rc<[Term]>) -> bool {
        self.known.contains_key(&(node, Rc::clone(cube)))
    }

    /// Gives up a guess, and the guesses it was made for.
    pub(super) fn give_up(&mut self, id: ObligationId) {
        let mut next = Some(id);
        // A reopened obligation may have a descendant as its parent: the walk ends at closed ones.
        while let Some(id) = next.filter(|&id| self.get(id).is_open && self.get(id).gas.is_some()) {
            let obligation = self.get_mut(id);
            obligation.is_open = false;
            next = obligation.parent.map(|(parent, _)| parent);
        }
    }

    /// Forgets all obligations.
    pub(super) fn clear(&mut self) {
        self.all.clear();
        self.queue.clear();
        self.known.clear();
    }

    /// The number of obligations.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn obligation(node: usize, level: Level, parent: Option<ObligationId>, gas: Option<u32>) -> Obligation {
        let parent = parent.map(|parent| (parent, EdgeId::new(0)));
        let cube = Rc::new([Term::TRUE]);
        Obligation { parent, gas, ..Obligation::new(NodeId::new(node), cube, level, 0) }
    }

    #[test]
    fn low_levels_and_young_obligations_come_first() {
        let mut obligations = Obligations::default();
        let high = obligations.add(obligation(0, 3, None, None));
        let old = obligations.add(obligation(1, 1, Some(high), None));
        let young = obligations.add(obligation(2, 1, Some(high), None));
        assert_eq!(obligations.take(2), Some(young));
        obligations.get_mut(old).is_open = false;
        assert_eq!(obligations.take(2), None, "what is left is closed or too high");
        assert_eq!(obligations.take(3), Some(high));
    }

    #[test]
    fn guesses_are_given_up_with_those_they_were_made_for() {
        let mut obligations = Obligations::default();
        let root = obligations.add(obligation(0, 4, None, None));
        let guess = obligations.add(obligation(1, 3, Some(root), Some(2)));
        let child = obligations.add(obligation(2, 2, Some(guess), Some(1)));
        // A cycle, as if an obligation is reopened below itself.
        obligations.get_mut(guess).parent = Some((child, EdgeId::new(0)));
        obligations.give_up(child);
        let open = [root, guess, child].map(|id| obligations.get(id).is_open);
        assert_eq!(open, [true, false, false]);
    }
}
