//! The queries about strong extension levels, over bits.
//!
//! One incremental solver holds the unrolling from any state up to position N + 1. Assumptions choose a query (i, k):
//!
//! ```text
//! t_p       for p >= i+1-k               the step from p, and the constraints and ¬bad at p
//! f_{p,m}   for these p, m >= max(p, i)  the lemmas with highest frame m, at p: so position p is in F_max(p,i)
//! initial   if i = 0                     position 0 is initial
//! bad and the constraints at N + 1
//! ```
//!
//! Frames only become stronger, so clauses stay when their lemma moves up; it gets new ones at its new frame.

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_run::{Limits, Stop};
use shofar_smt::levels::{Level, Queries};
use shofar_smt::sat::Lit;

use crate::aig::Edge;
use crate::evidence::Trace;
use crate::pdr::Pdr;
use crate::pdr::frames::Lemma;
use crate::system::BitSystem;
use crate::unroll::{Links, Start, Unrolling};

/// The queries about the levels of a trace.
pub(super) struct Levels<'a> {
    system: &'a BitSystem,
    limits: &'a Limits<'a>,
    unrolling: Unrolling<'a>,
    /// By positions, by frames: the guard of the lemmas.
    guards: Vec<Vec<Option<Lit>>>,
    /// The guard of the resets at position 0.
    initial: Lit,
    /// The highest frame of each lemma that was added.
    added: FxHashMap<Vec<Edge>, usize>,
    /// The last frame, N, once there was an update.
    last: Option<usize>,
    /// The best level that the last refutation proves.
    proved: Level,
}

impl<'a> Levels<'a> {
    pub(super) fn new(system: &'a BitSystem, limits: &'a Limits<'a>) -> Self {
        let mut unrolling = Unrolling::new(system, Start::Any, Links::Guarded);
        let initial = unrolling.new_literal();
        for (latch, reset) in system.resets.iter().enumerate() {
            if let Some(value) = *reset {
                let lit = unrolling.literal(0, system.latch(latch).edge(!value));
                unrolling.add_clause(0, &[!initial, lit]);
            }
        }
        let (guards, added, proved) = (Vec::new(), FxHashMap::default(), Level::longest(0));
        Self { system, limits, unrolling, guards, initial, added, last: None, proved }
    }

    /// Takes over the lemmas of a trace, which is at least as strong and long as before.
    pub(super) fn update(&mut self, pdr: &Pdr<'_>) {
        let last = pdr.last();
        for position in self.last.map_or(0, |last| last + 1)..=last {
            let step = self.unrolling.step(position);
            for edge in self.system.constraints.iter().copied().chain([!self.system.bad]) {
                let lit = self.unrolling.literal(position, edge);
                self.unrolling.add_clause(position, &[!step, lit]);
            }
        }
        self.last = Some(last);
        self.guards.resize_with(last + 1, Vec::new);
        self.guards.iter_mut().for_each(|guards| guards.resize(last + 1, None));
        for (frame, lemmas) in pdr.frames.iter().enumerate() {
            lemmas.iter().for_each(|lemma| self.add(lemma, frame));
        }
        pdr.infinity.iter().for_each(|lemma| self.add(lemma, last));
    }

    fn add(&mut self, lemma: &Lemma, frame: usize) {
        let cube = lemma.cube.lits();
        if self.added.get(cube).is_some_and(|&added| added >= frame) {
            return;
        }
        self.added.insert(cube.to_vec(), frame);
        for position in 0..=frame {
            let unrolling = &mut self.unrolling;
            let guard = *self.guards[position][frame].get_or_insert_with(|| unrolling.new_literal());
            let mut clause = vec![!guard];
            clause.extend(cube.iter().map(|&lit| unrolling.literal(position, !lit)));
            unrolling.add_clause(position, &clause);
        }
    }

    /// Whether the trace can be extended: no path from an initial state through the frames is bad.
    pub(super) fn is_extendable(&mut self) -> Result<bool, Stop> {
        self.is_level(Level::longest(0))
    }

    /// A run to a bad state, if the trace cannot be extended.
    pub(super) fn counterexample(&mut self) -> Result<Option<Trace>, Stop> {
        if self.is_extendable()? {
            return Ok(None);
        }
        let mut trace = self.unrolling.trace(self.last() + 1);
        for (value, reset) in trace.initial.iter_mut().zip(&self.system.resets) {
            *value = reset.unwrap_or(*value);
        }
        Ok(Some(trace))
    }
}

impl Queries for Levels<'_> {
    const MOST_CONFLICTS: u64 = 10_000;

    fn last(&self) -> usize {
        self.last.unwrap_or(0)
    }

    fn num_conflicts(&self) -> u64 {
        self.unrolling.solver().statistics().conflicts
    }

    fn proved(&self) -> Level {
        self.proved
    }

    fn is_level_within(&mut self, level: Level, conflicts: Option<u64>) -> Result<bool, Stop> {
        let last = self.last();
        let limits = Limits { conflicts: conflicts.or(self.limits.conflicts), ..*self.limits };
        let mut assumptions = vec![self.unrolling.literal(last + 1, self.system.bad)];
        for &edge in &self.system.constraints {
            assumptions.push(self.unrolling.literal(last + 1, edge));
        }
        // By guards: position and frame. A step needs no frame.
        let mut groups: Vec<(Lit, usize, usize)> = Vec::new();
        // What better levels have comes first, so that cores contain it rather than the rest.
        for position in (level.start()..=last).rev() {
            groups.push((self.unrolling.step(position), position, last));
            for frame in (level.frame(position)..=last).rev() {
                groups.extend(self.guards[position][frame].map(|guard| (guard, position, frame)));
            }
        }
        if level.i == 0 {
            groups.push((self.initial, 0, 0));
        }
        assumptions.extend(groups.iter().map(|&(guard, ..)| guard));
        if self.unrolling.is_satisfiable(&assumptions, &limits)? {
            return Ok(false);
        }
        let core: FxHashSet<Lit> = self.unrolling.solver().core().iter().copied().collect();
        let used = groups.iter().filter(|(guard, ..)| core.contains(guard));
        self.proved = Level::proved_by(last, used.map(|&(_, position, frame)| (position, frame)));
        Ok(true)
    }
}
