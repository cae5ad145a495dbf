//! Localization: PDR on a part of the system, which grows until it suffices.
//!
//! Outside of the part, next functions are free and constraints are ignored. So the part has more runs than the system,
//! and its invariants are invariants of the system. A counterexample of the part is only a length: does the system have
//! one that is so long? If not, the proof says which next functions and constraints it needs, and they join the part. The
//! frames stay, as what holds for more runs holds for fewer. Their lemmas make the question easier.
//!
//! L1: after a refutation, the part has no counterexample of that length, so each one makes the part larger. That is
//! why lemmas of other engines stay outside: they are about the runs of the system, not about those of the part.
//!
//! R. Kurshan, "Computer-Aided Verification of Coordinating Processes" (1994); the use of refutations is that of
//! K. McMillan & N. Amla, "Automatic Abstraction without Counterexamples" (TACAS 2003).

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_run::{Limits, Stop};
use shofar_smt::sat::{Lit, LoggedRule, Origin};

use super::Pdr;
use super::cube::Cube;
use super::frames::Lemma;
use crate::aig::Edge;
use crate::evidence::Trace;
use crate::system::BitSystem;
use crate::unroll::{Links, Start, Unrolling};

/// What a part is missing.
#[derive(Default)]
struct Missing {
    /// Latches whose next functions join.
    latches: Vec<usize>,
    /// Constraints that join, by their numbers.
    constraints: Vec<usize>,
}

/// Whether the system has a counterexample of some length.
enum Check {
    Counterexample(Trace),
    Refuted(Missing),
}

/// The system unrolled, with proofs.
pub(super) struct Localization<'a> {
    system: &'a BitSystem,
    unrolling: Unrolling<'a>,
    /// By latches: whether it is in the part.
    latches: Vec<bool>,
    /// By constraints: whether it is in the part.
    constraints: Vec<bool>,
    /// The positions below have the constraints, if their step is present.
    positions: usize,
    /// The positions below are not bad.
    not_bad: usize,
    /// Lemmas, with the positions below which they were added.
    lemmas: FxHashMap<Cube, usize>,
}

impl<'a> Localization<'a> {
    pub(super) fn new(system: &'a BitSystem) -> Self {
        Self {
            system,
            unrolling: Unrolling::with_proofs(system, Start::Reset, Links::Marked),
            latches: vec![false; system.num_latches()],
            constraints: vec![false; system.constraints.len()],
            positions: 0,
            not_bad: 0,
            lemmas: FxHashMap::default(),
        }
    }

    /// Looks for a counterexample. The frames are those of the part.
    fn check(&mut self, length: usize, frames: &[Vec<Lemma>], limits: &Limits<'_>) -> Result<Check, Stop> {
        let bad = self.unrolling.literal(length, self.system.bad);
        self.unroll(length, limits)?;
        self.take_frames(length, frames);
        // A constraint of a position holds only if the run is so long.
        let mut assumptions: Vec<Lit> = (0..=length).map(|position| self.unrolling.step(position)).collect();
        assumptions.push(bad);
        if self.unrolling.is_satisfiable(&assumptions, limits)? {
            return Ok(Check::Counterexample(self.unrolling.trace(length)));
        }
        Ok(Check::Refuted(self.grow()))
    }

    /// Adds positions, up to the last one.
    fn unroll(&mut self, last: usize, limits: &Limits<'_>) -> Result<(), Stop> {
        while self.positions <= last {
            limits.go_on()?;
            let position = self.positions;
            let is_present = self.unrolling.step(position);
            for (index, &edge) in self.system.constraints.iter().enumerate() {
                let holds = self.unrolling.literal(position, edge);
                let part = self.part_of_constraint(index);
                self.unrolling.add_clause(part, &[!is_present, holds]);
            }
            self.positions += 1;
        }
        Ok(())
    }

    /// The part of the unrolling that the clauses of a constraint belong to.
    fn part_of_constraint(&self, index: usize) -> usize {
        self.unrolling.part_of_latch(self.system.num_latches()) + index
    }

    /// Adds what the frames say of the positions before the last one. No state of a frame below the last is bad.
    fn take_frames(&mut self, last: usize, frames: &[Vec<Lemma>]) {
        while self.not_bad < last.min(frames.len() - 1) {
            // The run goes on after this position, so the constraints hold there.
            let is_present = self.unrolling.step(self.not_bad + 1);
            let bad = self.unrolling.literal(self.not_bad, self.system.bad);
            self.unrolling.add_clause(0, &[!is_present, !bad]);
            self.not_bad += 1;
        }
        for (frame, lemmas) in frames.iter().enumerate() {
            for lemma in lemmas {
                let from = self.lemmas.get(&lemma.cube).copied().unwrap_or(1);
                for position in from..=frame.min(last) {
                    let lits = lemma.cube.lits().iter().map(|&lit| self.unrolling.known(position, !lit));
                    let lits: Option<Vec<Lit>> = lits.collect();
                    // A lemma that needs more latches would make the unrolling larger.
                    let Some(mut lits) = lits else { continue };
                    // Lemmas rest on the constraints of the steps before.
                    lits.push(!self.unrolling.step(position - 1));
                    self.unrolling.add_clause(0, &lits);
                }
                self.lemmas.insert(lemma.cube.clone(), from.max(frame.min(last) + 1));
            }
        }
    }

    /// Takes what the last refutation needs into the part.
    fn grow(&mut self) -> Missing {
        let mut missing = Missing::default();
        let steps = self.unrolling.solver().refutation().unwrap_or_default();
        let parts: FxHashSet<usize> = steps
            .iter()
            .filter_map(|step| match step.rule {
                LoggedRule::Leaf(Origin::Assertion(part)) => Some(part as usize),
                _ => None,
            })
            .collect();
        for latch in (0..self.latches.len()).filter(|&l| parts.contains(&self.unrolling.part_of_latch(l))) {
            if !std::mem::replace(&mut self.latches[latch], true) {
                missing.latches.push(latch);
            }
        }
        missing.latches.iter().for_each(|&latch| self.unrolling.choose(latch));
        for index in 0..self.constraints.len() {
            if parts.contains(&self.part_of_constraint(index))
                && !std::mem::replace(&mut self.constraints[index], true)
            {
                missing.constraints.push(index);
            }
        }
        missing
    }
}

impl Pdr<'_> {
    /// A counterexample of the system that is as long as this one of the part. If the result is empty, the system has no
    /// such counterexample, and the part has grown.
    pub(super) fn confirm(&mut self, trace: Trace) -> Result<Option<Trace>, Stop> {
        let Some(localization) = &mut self.localization else { return Ok(Some(trace)) };
        let missing = match localization.check(trace.length(), &self.frames, self.limits)? {
            Check::Counterexample(trace) => return Ok(Some(trace)),
            Check::Refuted(missing) => missing,
        };
        if missing.latches.is_empty() && missing.constraints.is_empty() {
            return Err(Stop::Internal("localization refuted a run of the part itself".into()));
        }
        for latch in missing.latches {
            self.variables.set_step(self.system.latch(latch), self.system.next[latch]);
        }
        for index in missing.constraints {
            self.require(self.system.constraints[index]);
        }
        Ok(None)
    }

    /// Takes a constraint into all solvers.
    fn require(&mut self, constraint: Edge) {
        self.probes.iter_mut().chain([&mut self.base]).for_each(|probe| probe.add_constraint(constraint));
        self.lifting.add_constraint(constraint);
    }
}
