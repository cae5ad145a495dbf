//! The queries about strong extension levels, over terms.
//!
//! One incremental solver has the unrolling; assumptions choose a query:
//!
//! ```text
//! step_p     for p >= i+1-k                   the transition from p
//! guard_p,m  for these p and m >= max(p, i)   the lemmas stored at frame m, at position p
//! init       if i = 0                         the state at position 0 is initial
//! ```
//!
//! Lemmas only move up, so what was asserted about lower frames stays true.

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_horn::TransitionSystem;
use shofar_logic::{Term, Value};
use shofar_run::{Limits, Stop};
use shofar_smt::levels::{Level, Queries, Strategy};
use shofar_smt::solver::Solver;

use super::frames::{Frames, fresh_guard};
use crate::Run;
use crate::option::Named;
use crate::unroll::Unrolling;

impl Named for Strategy {
    const ALL: &'static [Self] = Strategy::ALL;

    fn name(self) -> &'static str {
        match self {
            Strategy::TopDown => "top-down",
            Strategy::BottomUp => "bottom-up",
            Strategy::CoreGuided => "core-guided",
            Strategy::Avy => "avy",
        }
    }
}

/// The queries about the levels of a trace.
pub(super) struct Levels<'a> {
    run: &'a Run<'a>,
    unrolling: Unrolling<'a>,
    solver: Solver<'a>,
    init: Term,
    /// By positions: the guard of the transition, and the transition.
    steps: Vec<(Term, Term)>,
    /// By positions, by frames: the guard of the lemmas.
    guards: Vec<Vec<Term>>,
    /// The highest frame at which a lemma was asserted.
    asserted: FxHashMap<Term, usize>,
    /// The bad states at the end of paths.
    bad: Term,
    /// The best level that the last refutation proves.
    proved: Level,
    pub(super) queries: u64,
}

impl<'a> Levels<'a> {
    pub(super) fn new(run: &'a Run<'a>, system: &'a TransitionSystem) -> Result<Self, Stop> {
        let (mut unrolling, mut solver) = (Unrolling::new(run.store, system), run.solver());
        let init = fresh_guard(run.store);
        let initial = unrolling.init(0);
        run.assert(&mut solver, &[run.store.implies(init, initial)])?;
        Ok(Levels {
            run,
            unrolling,
            solver,
            init,
            steps: Vec::new(),
            guards: Vec::new(),
            asserted: FxHashMap::default(),
            bad: Term::FALSE,
            proved: Level::longest(0),
            queries: 0,
        })
    }

    /// An initial state that is bad.
    pub(super) fn bad_initial_state(&mut self) -> Result<Option<Vec<Box<[Value]>>>, Stop> {
        let bad = self.unrolling.bad(0);
        self.queries += 1;
        let is_bad = self.run.is_satisfiable(&mut self.solver, &[self.init, bad])?;
        Ok(is_bad.then(|| self.unrolling.values(&self.solver, 0)))
    }

    /// Takes over the lemmas of a trace, which has one more frame than in the previous call.
    pub(super) fn update(&mut self, frames: &Frames<'_>) -> Result<(), Stop> {
        let (store, last) = (self.run.store, frames.last());
        let (guard, step) = (fresh_guard(store), self.unrolling.step(last, last + 1));
        self.run.assert(&mut self.solver, &[store.implies(guard, step)])?;
        self.steps.push((guard, step));
        self.bad = self.unrolling.bad(last + 1);
        self.guards.push(Vec::new());
        for guards in &mut self.guards {
            guards.resize_with(last + 1, || fresh_guard(store));
        }
        for frame in 1..=last {
            for lemma in frames.stored_at(frame) {
                if self.asserted.get(&lemma).is_none_or(|&asserted| asserted < frame) {
                    self.asserted.insert(lemma, frame);
                    self.assert_lemma(lemma, frame)?;
                }
            }
        }
        Ok(())
    }

    fn assert_lemma(&mut self, lemma: Term, frame: usize) -> Result<(), Stop> {
        for position in 0..=frame {
            let there = self.unrolling.at(lemma, position);
            let guarded = self.run.store.implies(self.guards[position][frame], there);
            self.run.assert(&mut self.solver, &[guarded])?;
        }
        Ok(())
    }

    /// A path to a bad state, if the trace cannot be extended.
    pub(super) fn counterexample(&mut self) -> Result<Option<Vec<Box<[Value]>>>, Stop> {
        if self.is_level(Level::longest(0))? {
            return Ok(None);
        }
        let end = self.last() + 1;
        Ok(Some(self.unrolling.values(&self.solver, end)))
    }

    /// The parts of the paths of a level: one for each position.
    pub(super) fn path(&mut self, frames: &Frames<'_>, level: Level) -> Vec<Vec<Term>> {
        let mut parts = Vec::new();
        for position in level.start()..=self.last() {
            let mut part = frames.conjuncts(level.frame(position));
            part.iter_mut().for_each(|conjunct| *conjunct = self.unrolling.at(*conjunct, position));
            part.push(self.steps[position].1);
            parts.push(part);
        }
        parts.push(vec![self.bad]);
        parts
    }

    /// A formula about the state at a position, as a formula over the state variables.
    pub(super) fn untimed(&mut self, formula: Term, position: usize) -> Term {
        self.unrolling.untimed(formula, position)
    }
}

impl Queries for Levels<'_> {
    const MOST_CONFLICTS: u64 = 1_000;

    fn last(&self) -> usize {
        self.steps.len() - 1
    }

    fn num_conflicts(&self) -> u64 {
        self.solver.statistics().conflicts
    }

    fn proved(&self) -> Level {
        self.proved
    }

    fn is_level_within(&mut self, level: Level, conflicts: Option<u64>) -> Result<bool, Stop> {
        let last = self.last();
        let limits = Limits { conflicts: conflicts.or(self.run.limits.conflicts), ..self.run.limits };
        // Each guard with its position and its frame. A step needs no frame.
        let mut groups: Vec<(Term, usize, usize)> = Vec::new();
        // What better levels have comes first, so that cores contain it rather than the rest.
        for position in (level.start()..=last).rev() {
            groups.push((self.steps[position].0, position, last));
            let frames = (level.frame(position).max(1)..=last).rev();
            groups.extend(frames.map(|frame| (self.guards[position][frame], position, frame)));
        }
        if level.i == 0 {
            groups.push((self.init, 0, 0));
        }
        let mut assumptions = vec![self.bad];
        assumptions.extend(groups.iter().map(|&(guard, ..)| guard));
        self.queries += 1;
        if self.run.clone().with_limits(limits).is_satisfiable(&mut self.solver, &assumptions)? {
            return Ok(false);
        }
        let core: FxHashSet<Term> = self.solver.core().into_iter().collect();
        let used = groups.iter().filter(|(guard, ..)| core.contains(guard));
        self.proved = Level::proved_by(last, used.map(|&(_, position, frame)| (position, frame)));
        Ok(true)
    }
}
