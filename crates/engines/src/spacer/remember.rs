//! Remembered lemmas: what was learnt before may make an obligation superfluous.
//!
//! A lemma has one level, but it may hold at others: above its level where the frames have become stronger since, and also if it was
//! removed because a stronger lemma holds further down. Propagation tries this only between bounds. So before an obligation gets a
//! predecessor, the lemmas that do not belong to the frame of the source and exclude the model's fact there are tried by
//! relative induction. If one holds, it joins the frame, the model is gone, and nothing descends:
//!
//! ```text
//! a clause derives the cube from a fact x of Q in F_{n-1}
//!     for remembered lemmas of Q outside of F_{n-1} that are false for x, small ones first
//!         F_{n-2} and the lemma imply the lemma in all clauses of Q: add it to F_{n-1}, ask again
//! ```
//!
//! Evaluation comes first and is cheap. An obstacle that was found before (`propagate.rs`) saves the query as well. Lemmas enter frames only
//! after the same check as always, so L1 and L2 hold.
//!
//! The idea is the rule *Ind* of T. Tsukada and H. Unno, "Inductive approach to Spacer" (PLDI 2024). **Where we differ.** Only lemmas that
//! exclude the model are tried, and few of them.

use shofar_horn::graph::{EdgeId, NodeId};
use shofar_logic::{Assignment, Evaluator, Term, Value};

use super::frames::{LemmaId, Level};
use super::renaming::Place;
use super::{Search, Stop};

/// How many lemmas are tried for one model.
const MOST_TRIES: usize = 4;

impl Search<'_> {
    /// Adds a remembered lemma to the frame of a source that excludes the source's fact in a model. Returns whether there is one.
    pub(super) fn recall(
        &mut self,
        edge: EdgeId,
        source: usize,
        level: Level,
        model: &Assignment,
    ) -> Result<bool, Stop> {
        let clause = self.graph.edge(edge);
        let (node, place) = (clause.sources()[source], Place::Source(clause.occurrence(source)));
        let frames = &self.frames[node.index()];
        let mut evaluator = Evaluator::new(self.store, model);
        let mut excludes = |&id: &LemmaId| {
            let formula = self.renaming.to(node, place, frames.lemma(id).formula);
            evaluator.eval(formula) == Ok(Value::Bool(false))
        };
        let tried: Vec<LemmaId> =
            frames.remembered(level).filter(|id| excludes(id)).take(MOST_TRIES).collect();
        for id in tried {
            if self.raise(node, id, level)? {
                self.statistics.recalls += 1;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Remembers a cube that others exclude, though that could not be proved.
    pub(super) fn remember(&mut self, node: NodeId, cube: Vec<Term>) {
        if self.options.remember {
            self.frames[node.index()].add_idle(self.store, cube);
        }
    }
}
