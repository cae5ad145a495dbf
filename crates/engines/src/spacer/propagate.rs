//! Propagation: lemmas that hold at higher levels move there.
//!
//! A lemma of level `i` holds at `i + 1` if no clause leads from `F_i` to its cube. If the core names only some of the
//! lemma's literals, they give a stronger lemma there. Lemmas that do not depend on others below move more than one
//! level. If no lemma of some level is left in any frame, the frame there is inductive.
//!
//! The obstacle of each lemma is remembered: a model of a clause in the frames (Z3's counterexample to pushing). While
//! no new lemma of the frames excludes it, it need not be found again. A lemma that excludes a point of a reach fact
//! cannot be part of an inductive frame, and stays.

use std::rc::Rc;

use shofar_horn::graph::{EdgeId, NodeId};
use shofar_logic::{Assignment, Evaluator, Value};
use shofar_run::Limits;

use super::expand::Block;
use super::frames::{INFINITY, LemmaId, Level};
use super::renaming::Place;
use super::{Search, Stop};

/// The conflict limit for moving a lemma.
const PUSH_CONFLICTS: u64 = 10_000;

impl Search<'_> {
    /// Moves lemmas of levels below `bound` up, and returns the level of an inductive frame if there is one.
    pub(super) fn propagate(&mut self, bound: Level) -> Result<Option<Level>, Stop> {
        if !self.frames[self.goal.index()].infinite().is_empty() {
            return Ok(Some(INFINITY));
        }
        let with_lemmas: Vec<NodeId> = (0..self.frames.len())
            .filter(|&index| self.frames[index].finite(0).next().is_some())
            .map(NodeId::new)
            .filter(|&node| node != self.goal)
            .collect();
        for level in 0..bound {
            let mut is_empty = true;
            for &node in &with_lemmas {
                for lemma in self.frames[node.index()].at(level).to_vec() {
                    self.run.go_on()?;
                    self.raise(node, lemma, level + 1)?;
                }
                is_empty &= self.frames[node.index()].at(level).is_empty();
            }
            if is_empty {
                return Ok(Some(level));
            }
        }
        Ok(None)
    }

    /// Moves a lemma to a level if it holds there. Returns whether it does.
    pub(super) fn raise(&mut self, node: NodeId, id: LemmaId, level: Level) -> Result<bool, Stop> {
        let lemma = self.frames[node.index()].lemma(id);
        let (cube, is_idle) = (Rc::clone(&lemma.cube), lemma.is_idle);
        if (self.options.obstacles && self.is_obstructed(node, id, level))
            || self.has_known_point(node, &cube)
        {
            return Ok(false);
        }
        self.statistics.push_attempts += 1;
        let limits = Limits { conflicts: Some(PUSH_CONFLICTS), ..self.run.limits };
        match self.block(node, &cube, level, &limits)? {
            Block::Blocked(conflict) => {
                self.statistics.pushes += 1;
                self.obstacles.remove(&(node, id));
                if is_idle || conflict.cube.len() < cube.len() {
                    self.learn(node, conflict.cube, conflict.level);
                } else {
                    self.statistics.infinite_lemmas += u64::from(conflict.level == INFINITY);
                    self.frames[node.index()].raise(id, conflict.level);
                }
                Ok(true)
            }
            Block::Derivable(edge, model) => {
                let sources = self.graph.edge(edge).sources().iter();
                let seen = sources.map(|source| self.frames[source.index()].arrivals()).collect();
                self.obstacles.insert((node, id), Obstacle { edge, model, level, seen });
                Ok(false)
            }
            Block::Unknown(_) => Ok(false),
        }
    }

    /// Whether the obstacle of a lemma still keeps it from a level.
    fn is_obstructed(&mut self, node: NodeId, lemma: LemmaId, level: Level) -> bool {
        let Some(obstacle) = self.obstacles.get_mut(&(node, lemma)) else { return false };
        if level < obstacle.level {
            return false;
        }
        let clause = self.graph.edge(obstacle.edge);
        let mut evaluator = Evaluator::new(self.store, &obstacle.model);
        for (source, &body) in clause.sources().iter().enumerate() {
            let frames = &self.frames[body.index()];
            let place = Place::Source(clause.occurrence(source));
            for lemma in frames.since(obstacle.seen[source], level.saturating_sub(1)) {
                let formula = self.renaming.to(body, place, lemma.formula);
                if evaluator.eval(formula) != Ok(Value::Bool(true)) {
                    return false;
                }
            }
            obstacle.seen[source] = frames.arrivals();
        }
        obstacle.level = level;
        true
    }
}

/// The reason why a lemma does not hold at a level.
pub(super) struct Obstacle {
    /// The clause that derives a fact in the lemma's cube.
    edge: EdgeId,
    /// A model of the clause and of the frames of its sources.
    model: Assignment,
    level: Level,
    /// For each source: the number of arrivals that the model is known to satisfy.
    seen: Vec<usize>,
}
