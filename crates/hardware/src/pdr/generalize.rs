//! Generalisation: from a blocked cube to a small one that is blocked as well.
//!
//! Literals are dropped one at a time. If a predecessor of the smaller cube stands in the way, either it is blocked too
//! (a counterexample to generalisation, CTG: Hassan, Bradley & Somenzi, "Better Generalization in IC3", FMCAD 2013),
//! or the cube is enlarged to include it (Bradley & Manolios, "Checking Safety by Inductive Generalization of
//! Counterexamples to Induction", FMCAD 2007).

use shofar_run::Stop;

use super::cube::Cube;
use super::{Generalization, Pdr};
use crate::aig::Edge;

/// How much is done about counterexamples to generalisation.
#[derive(Clone, Copy, Debug)]
struct Effort {
    /// Of those in a row, how many are blocked for one literal.
    counterexamples: u32,
    /// How deep blocking them may generalise in the same way.
    depth: u32,
}

impl Effort {
    const NONE: Effort = Effort { counterexamples: 0, depth: 0 };
}

impl Pdr<'_> {
    /// Generalises a cube that is blocked at a frame. At a limit the cube reached so far is added, since clauses that
    /// were added meanwhile may rest on it.
    pub(crate) fn generalize(&mut self, cube: Cube, frame: usize, activity: f64) -> Result<Cube, Stop> {
        let effort = match self.options.generalization {
            Generalization::Drop => Effort::NONE,
            Generalization::Ctg => Effort { counterexamples: 3, depth: 2 },
            Generalization::Dynamic if activity < 10.0 => Effort::NONE,
            Generalization::Dynamic if activity < 40.0 => {
                Effort { counterexamples: 2 + ((activity - 10.0) / 10.0) as u32, depth: 1 }
            }
            Generalization::Dynamic => Effort { counterexamples: 5, depth: 1 },
        };
        self.drop_literals(cube, frame, effort)
    }

    fn drop_literals(&mut self, cube: Cube, frame: usize, effort: Effort) -> Result<Cube, Stop> {
        let mut cube = cube;
        let mut necessary: Vec<Edge> = Vec::new();
        for lit in self.order_of_dropping(&cube, frame) {
            if !cube.contains(lit) || cube.lits().len() == 1 {
                continue;
            }
            match self.down(cube.without(lit), frame, &necessary, effort) {
                Ok(Some(smaller)) => cube = smaller,
                Ok(None) => necessary.push(lit),
                Err(stop) => {
                    self.add_lemma(cube, frame);
                    return Err(stop);
                }
            }
        }
        Ok(cube)
    }

    /// The least active literals first; those outside of a parent lemma, one of the frame below that excludes the cube,
    /// before the others: a lemma that equals its parent moves up with it (Su, Yang & Ci, "Predicting Lemmas in
    /// Generalization of IC3", DAC 2024).
    fn order_of_dropping(&self, cube: &Cube, frame: usize) -> Vec<Edge> {
        let parent = (frame > 1)
            .then(|| self.frames[frame - 1].iter().find(|lemma| lemma.cube.subsumes(cube)))
            .flatten();
        let mut lits = cube.lits().to_vec();
        lits.sort_by(|&a, &b| {
            let in_parent = |lit: Edge| parent.is_some_and(|parent| parent.cube.contains(lit));
            let activity = |lit: Edge| self.activity[lit.node().index()];
            in_parent(a).cmp(&in_parent(b)).then(activity(a).total_cmp(&activity(b)))
        });
        lits
    }

    /// A cube within this one or reached by enlarging it that is blocked at the frame, and that keeps the necessary
    /// literals.
    fn down(
        &mut self,
        cube: Cube,
        frame: usize,
        necessary: &[Edge],
        effort: Effort,
    ) -> Result<Option<Cube>, Stop> {
        let mut cube = cube;
        let mut counterexamples = 0;
        loop {
            if self.meets_init(&cube) {
                return Ok(None);
            }
            if self.blocked(&cube, frame, true)? {
                return Ok(Some(self.core.clone()));
            }
            let probe = &self.probes[frame - 1];
            let kept = self.lifting.true_literals(probe, &self.variables, &cube);
            if counterexamples < effort.counterexamples && frame > 1 {
                let targets = cube.lits().iter().filter_map(|&lit| self.variables.step_into(lit));
                let predecessor = self.lifting.lift(probe, &self.variables, targets);
                if !self.meets_init(&predecessor) && self.blocked(&predecessor, frame - 1, true)? {
                    counterexamples += 1;
                    let below = Effort { depth: effort.depth.saturating_sub(1), ..effort };
                    let below = if below.depth == 0 { Effort::NONE } else { below };
                    let core = self.core.clone();
                    let lemma = self.drop_literals(core, frame - 1, below)?;
                    self.push_up(lemma, frame - 1)?;
                    continue;
                }
            }
            counterexamples = 0;
            if necessary.iter().any(|lit| kept.binary_search(lit).is_err()) {
                return Ok(None);
            }
            cube = Cube::from_sorted(kept);
        }
    }
}
