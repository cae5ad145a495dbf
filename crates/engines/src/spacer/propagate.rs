//! Propagation: lemmas that hold at higher levels move there.
//!
//! A lemma of level `i` holds at `i + 1` if no clause leads from `F_i` to what it excludes. The core may name fewer literals
//! than the lemma has, which then is a stronger lemma there, and lemmas that do not depend on others below move more than
//! one level. If no lemma of some level is left in any frame, the frame there is inductive.

use std::rc::Rc;

use shofar_horn::graph::NodeId;
use shofar_smt::sat::Limits;

use super::expand::Block;
use super::frames::{INFINITY, LemmaId, Level};
use super::{Search, Stop};

/// Conflicts that may be spent on moving a lemma.
const PUSH_CONFLICTS: u64 = 10_000;

impl Search<'_> {
    /// Moves lemmas of levels up to `bound` up, and returns the level of an inductive frame if there is one.
    pub(super) fn propagate(&mut self, bound: Level) -> Result<Option<Level>, Stop> {
        if !self.frames[self.goal.index()].infinite().is_empty() {
            return Ok(Some(INFINITY));
        }
        for level in 0..bound {
            let mut is_empty = true;
            for index in 0..self.frames.len() {
                let node = NodeId::new(index);
                if node == self.goal {
                    continue;
                }
                for lemma in self.frames[index].at(level).to_vec() {
                    self.poll()?;
                    self.push(node, lemma, level)?;
                }
                is_empty &= self.frames[index].at(level).is_empty();
            }
            if is_empty {
                return Ok(Some(level));
            }
        }
        Ok(None)
    }

    /// Moves a lemma up from its level if it holds above.
    fn push(&mut self, node: NodeId, lemma: LemmaId, level: Level) -> Result<(), Stop> {
        self.statistics.push_attempts += 1;
        let cube = Rc::clone(&self.frames[node.index()].lemma(lemma).cube);
        let limits = Limits { conflicts: Some(PUSH_CONFLICTS), ..self.run.limits };
        if let Block::Blocked(conflict) = self.block(node, &cube, level + 1, &limits)? {
            self.statistics.pushes += 1;
            if conflict.cube.len() < cube.len() {
                self.learn(node, conflict.cube, conflict.level);
            } else {
                self.statistics.infinite_lemmas += u64::from(conflict.level == INFINITY);
                self.frames[node.index()].raise(lemma, conflict.level);
            }
        }
        Ok(())
    }
}
