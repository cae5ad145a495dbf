//! Proof obligations: states that lead to a bad one and must be shown unreachable.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use shofar_run::Stop;

use super::cube::Cube;
use super::{Pdr, answer};
use crate::evidence::Trace;

/// An obligation that came up more often is dropped: the search finds its like again, with better lemmas.
const MOST_VISITS: u32 = 20;

/// States that reach a bad state.
#[derive(Clone, Debug)]
pub(super) struct Obligation {
    pub(super) cube: Cube,
    /// The inputs of the step that leads on.
    inputs: Vec<bool>,
    /// The obligation that the step leads to; none for bad states.
    parent: Option<usize>,
    depth: usize,
    visits: u32,
    /// How often it came up, with less weight for what is long ago.
    pub(super) activity: f64,
}

/// All obligations of a search, and the queue of those that are open.
#[derive(Default)]
pub(super) struct Obligations {
    all: Vec<Obligation>,
    /// The lowest frame first, then the deepest.
    queue: BinaryHeap<(Reverse<usize>, usize, Reverse<usize>)>,
}

impl Obligations {
    fn push(&mut self, frame: usize, index: usize) {
        self.queue.push((Reverse(frame), self.all[index].depth, Reverse(index)));
    }

    fn add(&mut self, frame: usize, cube: Cube, inputs: Vec<bool>, parent: Option<usize>) {
        let depth = parent.map_or(0, |parent| self.all[parent].depth + 1);
        self.all.push(Obligation { cube, inputs, parent, depth, visits: 0, activity: 0.0 });
        self.push(frame, self.all.len() - 1);
    }

    /// The highest activity of an obligation and of the next two towards bad.
    pub(super) fn activity(&self, index: usize) -> f64 {
        let mut highest: f64 = 0.0;
        let mut at = Some(index);
        for _ in 0..3 {
            let Some(index) = at else { break };
            highest = highest.max(self.all[index].activity);
            at = self.all[index].parent;
        }
        highest
    }
}

impl Pdr<'_> {
    /// Makes an obligation of a bad state in the last frame, if there is one.
    pub(super) fn find_bad(&mut self) -> Result<bool, Stop> {
        let last = self.last();
        let probe = &mut self.probes[last];
        if !answer(probe.solve(&[self.system.bad], &[], self.limits))? {
            return Ok(false);
        }
        let inputs = self.lifting.inputs(probe);
        let cube = self.lifting.lift(probe, &self.variables, [self.system.bad]);
        self.obligations.all.clear();
        self.obligations.queue.clear();
        self.obligations.add(last, cube, inputs, None);
        Ok(true)
    }

    /// Blocks all obligations, or finds a counterexample.
    pub(super) fn block(&mut self) -> Result<Option<Trace>, Stop> {
        while let Some((Reverse(frame), _, Reverse(index))) = self.obligations.queue.pop() {
            self.go_on()?;
            self.statistics.obligations += 1;
            let obligation = &mut self.obligations.all[index];
            let cube = obligation.cube.clone();
            self.statistics.obligation_literals += cube.lits().len() as u64;
            if self.meets_init(&cube) {
                return self.counterexample(index).map(Some);
            }
            if let Some(above) = self.subsuming_frame(&cube, frame) {
                if above < self.last() {
                    self.obligations.push(above + 1, index);
                }
                continue;
            }
            let obligation = &mut self.obligations.all[index];
            obligation.visits += 1;
            obligation.activity += 1.0;
            if obligation.visits > MOST_VISITS {
                continue;
            }
            if self.blocked(&cube, frame, true)? {
                let core = self.core.clone();
                let lemma = self.generalize(core, frame, self.obligations.activity(index))?;
                let above = self.push_up(lemma, frame)?;
                self.obligations.all[index].activity *= 0.6;
                if above < self.last() {
                    self.obligations.push(above + 1, index);
                }
            } else {
                let probe = &self.probes[frame - 1];
                let inputs = self.lifting.inputs(probe);
                let targets = cube.lits().iter().filter_map(|&lit| self.variables.step_into(lit));
                let predecessor = self.lifting.lift(probe, &self.variables, targets);
                self.obligations.push(frame, index);
                self.obligations.add(frame - 1, predecessor, inputs, Some(index));
            }
        }
        Ok(None)
    }

    /// Moves a lemma up as long as it is inductive there, and adds it. The result is its frame.
    pub(crate) fn push_up(&mut self, lemma: Cube, frame: usize) -> Result<usize, Stop> {
        let (mut lemma, mut frame) = (lemma, frame);
        while frame < self.last() {
            match self.blocked(&lemma, frame + 1, true) {
                Ok(true) => {
                    lemma = self.core.clone();
                    frame += 1;
                }
                Ok(false) => break,
                Err(stop) => {
                    self.add_lemma(lemma, frame);
                    return Err(stop);
                }
            }
        }
        self.add_lemma(lemma, frame);
        Ok(frame)
    }

    /// The run from an initial state of an obligation to a bad state.
    fn counterexample(&mut self, index: usize) -> Result<Trace, Stop> {
        let first = &self.obligations.all[index];
        let probe = &mut self.probes[0];
        if !answer(probe.solve(first.cube.lits(), &[], self.limits))? {
            return Err(Stop::Internal("the first state of a counterexample is not initial".into()));
        }
        let latches = (0..self.system.num_latches()).map(|latch| self.system.latch(latch));
        let initial = latches.map(|latch| probe.leaf_value(latch)).collect();
        let mut inputs = Vec::new();
        let mut at = Some(index);
        while let Some(index) = at {
            let obligation = &self.obligations.all[index];
            inputs.push(obligation.inputs.clone());
            at = obligation.parent;
        }
        Ok(Trace { initial, inputs })
    }
}
