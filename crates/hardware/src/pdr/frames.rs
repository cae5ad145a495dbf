//! The frames: lemmas, their subsumption, and the fixpoint.

use super::Pdr;
use super::cube::Cube;
use crate::aig::Edge;

/// A solver with more lemmas than twice those of its frame, and so many more, gets them anew.
const SPARE_LEMMAS: usize = 200;

/// Activities are divided when one passes this.
const RESCALE: f64 = 1e100;

/// A clause of a frame, as the cube that it excludes.
#[derive(Clone, Debug)]
pub(crate) struct Lemma {
    pub(crate) cube: Cube,
    /// The number of lemmas before it, in all frames. The lemmas of a frame are in this order.
    serial: u64,
    /// What keeps it from moving up.
    pub(super) stopped_by: Option<Stopped>,
    /// What keeps it from moving to infinity.
    pub(super) stopped_at_infinity: Option<Stopped>,
}

/// A state with a step into the cube of a lemma: as long as no lemma excludes it, the lemma cannot move up.
#[derive(Clone, Debug)]
pub(super) struct Stopped {
    pub(super) state: Cube,
    /// No lemma with a lower number excludes it.
    pub(super) since: u64,
}

impl Pdr<'_> {
    /// Adds a lemma to frames 1 to `frame`, and drops those that it subsumes there.
    pub(crate) fn add_lemma(&mut self, cube: Cube, frame: usize) {
        self.statistics.lemmas += 1;
        self.statistics.lemma_literals += cube.lits().len() as u64;
        for lit in cube.lits() {
            self.activity[lit.node().index()] += self.bump;
        }
        self.bump *= 1.05;
        if self.bump > RESCALE {
            self.activity.iter_mut().for_each(|activity| *activity /= RESCALE);
            self.bump /= RESCALE;
        }
        let clause: Vec<Edge> = cube.lits().iter().map(|&lit| !lit).collect();
        // A lemma that moves up is known to the solvers below.
        let mut known = 0;
        for index in 1..=frame {
            self.frames[index].retain(|lemma| {
                if lemma.cube == cube {
                    known = index;
                }
                !cube.subsumes(&lemma.cube)
            });
        }
        for probe in &mut self.probes[known + 1..=frame] {
            probe.add_clause(&clause);
        }
        let lemma = self.number(cube);
        self.frames[frame].push(lemma);
        let mut live = self.infinity.len() + self.frames[frame + 1..].iter().map(Vec::len).sum::<usize>();
        for index in (1..=frame).rev() {
            live += self.frames[index].len();
            if self.probes[index].num_lemmas() > 2 * live + SPARE_LEMMAS {
                let lemmas = self.frames[index..].iter().flatten().chain(&self.infinity);
                let clauses: Vec<Vec<Edge>> =
                    lemmas.map(|lemma| lemma.cube.lits().iter().map(|&lit| !lit).collect()).collect();
                self.probes[index].replace_lemmas(clauses.iter().map(Vec::as_slice));
            }
        }
    }

    /// A lemma with its number.
    pub(super) fn number(&mut self, cube: Cube) -> Lemma {
        self.serial += 1;
        Lemma { cube, serial: self.serial, stopped_by: None, stopped_at_infinity: None }
    }

    /// Whether a lemma of some frames, or of infinity, excludes a state. Lemmas that were asked before are left out.
    pub(super) fn excludes(&self, frames: &[Vec<Lemma>], stopped: &Stopped) -> bool {
        frames.iter().chain([&self.infinity]).any(|lemmas| {
            let new = lemmas.iter().rev().take_while(|lemma| lemma.serial > stopped.since);
            new.into_iter().any(|lemma| lemma.cube.subsumes(&stopped.state))
        })
    }

    /// The highest frame, from one on, with a lemma that excludes the cube.
    pub(super) fn subsuming_frame(&self, cube: &Cube, from: usize) -> Option<usize> {
        if self.infinity.iter().any(|lemma| lemma.cube.subsumes(cube)) {
            return Some(self.last());
        }
        (from..=self.last())
            .rev()
            .find(|&frame| self.frames[frame].iter().any(|lemma| lemma.cube.subsumes(cube)))
    }

    /// A frame below the last that equals the next one.
    pub(crate) fn fixpoint(&self) -> Option<usize> {
        (1..self.last()).find(|&frame| self.frames[frame].is_empty())
    }
}
