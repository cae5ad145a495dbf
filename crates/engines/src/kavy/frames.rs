//! The frames of a trace, and what is asked about single steps between them.
//!
//! A lemma is the negation of a *cube*, a conjunction of literals. It is stored at its highest frame, so `F_l` is the
//! conjunction of all lemmas stored at `l` and above; `F_0` is `Init`. A cube may be excluded from the frames up to `t` if
//!
//! ```text
//! Init, cube                                 is unsatisfiable
//! F_{t-1}, not cube, T, cube at the end      is unsatisfiable
//! ```
//!
//! Then the invariants T1 and T2 of the trace hold with the lemma in all frames up to `t`, because lower frames imply
//! `F_{t-1}`. Both also hold for the cube of the literals in the cores of the two refutations: a smaller cube has a stronger
//! negation. So literals are dropped one after the other (inductive generalisation: A. Bradley, "SAT-based model checking
//! without unrolling", VMCAI 2011).

use rustc_hash::FxHashSet;
use shofar_horn::TransitionSystem;
use shofar_horn::graph::rename;
use shofar_logic::{Sort, Term, TermStore};
use shofar_run::{Limits, Reason, Stop};
use shofar_smt::solver::Solver;

use crate::Run;
use crate::spacer::{join_equations, split_equations};

/// The conflict limit for dropping a literal and for pushing a lemma.
const FEW_CONFLICTS: u64 = 5_000;

/// The counters.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Statistics {
    pub(super) lemmas: u64,
    pub(super) pushed: u64,
    pub(super) dropped: u64,
    pub(super) queries: u64,
}

/// The negation of a cube.
pub(super) struct Lemma {
    /// The literals of the cube, sorted.
    cube: Vec<Term>,
    pub(super) formula: Term,
}

pub(super) struct Frames<'a> {
    run: &'a Run<'a>,
    system: &'a TransitionSystem,
    /// The lemmas by their highest frame. None is stored at 0.
    lemmas: Vec<Vec<Lemma>>,
    /// By frames: implies the lemmas stored there, or `Init` for frame 0.
    guards: Vec<Term>,
    /// The initial states.
    init: Solver<'a>,
    /// A transition, and lemmas about its first state under their guards.
    step: Solver<'a>,
    pub(super) statistics: Statistics,
}

impl<'a> Frames<'a> {
    /// The trace with `F_0` only.
    pub(super) fn new(run: &'a Run<'a>, system: &'a TransitionSystem) -> Result<Self, Stop> {
        let (mut init, mut step) = (run.solver(), run.solver());
        let guard = fresh_guard(run.store);
        run.assert(&mut init, &[system.init])?;
        run.assert(&mut step, &[system.transition, run.store.implies(guard, system.init)])?;
        Ok(Frames {
            run,
            system,
            lemmas: vec![Vec::new()],
            guards: vec![guard],
            init,
            step,
            statistics: Statistics::default(),
        })
    }

    /// `N`.
    pub(super) fn last(&self) -> usize {
        self.lemmas.len() - 1
    }

    /// Adds the frame of all states.
    pub(super) fn add_frame(&mut self) {
        self.lemmas.push(Vec::new());
        self.guards.push(fresh_guard(self.run.store));
    }

    /// The lemmas whose highest frame is the given one.
    pub(super) fn stored_at(&self, frame: usize) -> impl Iterator<Item = Term> {
        self.lemmas[frame].iter().map(|lemma| lemma.formula)
    }

    /// The conjuncts of `F_l`.
    pub(super) fn conjuncts(&self, frame: usize) -> Vec<Term> {
        match frame {
            0 => vec![self.system.init],
            _ => self.lemmas[frame..].iter().flatten().map(|lemma| lemma.formula).collect(),
        }
    }

    /// `F_l`.
    pub(super) fn formula(&self, frame: usize) -> Term {
        self.run.store.and(&self.conjuncts(frame))
    }

    /// The states of `F_t` outside `F_j`, for `j < t`, as a formula that holds for them and for no state of `F_j`.
    pub(super) fn outside(&self, j: usize, t: usize) -> Term {
        let store = self.run.store;
        match j {
            0 => store.not(self.system.init),
            _ => store.not(store.and_of((j..t).flat_map(|frame| self.stored_at(frame)))),
        }
    }

    /// Excludes a cube from all frames up to `t`, if the step to `F_t` permits it. Drops literals before, the last ones
    /// first. Returns whether it was possible.
    pub(super) fn block(&mut self, cube: &[Term], t: usize) -> Result<Option<Term>, Stop> {
        let store = self.run.store;
        let cube = split_equations(store, cube);
        let Some(cube) = self.excludable(&cube, t, &self.run.limits)? else { return Ok(None) };
        let cube = join_equations(store, self.generalise(cube, t)?);
        let formula = store.not(store.and(&cube));
        tracing::debug!(frame = t, lemma = %store.display(formula), "lemma");
        self.statistics.lemmas += 1;
        self.add(cube, formula, t)?;
        Ok(Some(formula))
    }

    /// A part of the cube that may be excluded from all frames up to `t`.
    fn excludable(
        &mut self,
        cube: &[Term],
        t: usize,
        limits: &Limits<'_>,
    ) -> Result<Option<Vec<Term>>, Stop> {
        let (store, TransitionSystem { state, next, .. }) = (self.run.store, self.system);
        self.statistics.queries += 1;
        let run = self.run.clone().with_limits(*limits);
        if run.is_satisfiable(&mut self.init, cube)? {
            return Ok(None);
        }
        let mut needed: FxHashSet<Term> = self.init.core().into_iter().collect();
        let after: Vec<Term> = cube.iter().map(|&literal| rename(store, literal, state, next)).collect();
        let mut assumptions = after.clone();
        assumptions.push(store.not(store.and(cube)));
        assumptions.extend(self.assumed(t - 1));
        self.statistics.queries += 1;
        if run.is_satisfiable(&mut self.step, &assumptions)? {
            return Ok(None);
        }
        let core: FxHashSet<Term> = self.step.core().into_iter().collect();
        needed.extend(
            cube.iter().zip(&after).filter(|(_, after)| core.contains(after)).map(|(&literal, _)| literal),
        );
        Ok(Some(cube.iter().copied().filter(|literal| needed.contains(literal)).collect()))
    }

    /// The guards of a frame.
    fn assumed(&self, frame: usize) -> impl Iterator<Item = Term> {
        let end = if frame == 0 { 1 } else { self.guards.len() };
        self.guards[frame..end].iter().copied()
    }

    /// A cube with fewer literals that may be excluded from the same frames.
    fn generalise(&mut self, mut cube: Vec<Term>, t: usize) -> Result<Vec<Term>, Stop> {
        let limits = Limits { conflicts: Some(FEW_CONFLICTS), ..self.run.limits };
        let mut open = cube.len();
        while open > 0 && cube.len() > 1 {
            open -= 1;
            let mut fewer = cube.clone();
            fewer.remove(open);
            if let Some(part) = if_decided(self.excludable(&fewer, t, &limits))?.flatten() {
                self.statistics.dropped += (cube.len() - part.len()) as u64;
                open = cube[..open].iter().filter(|literal| part.contains(literal)).count();
                cube = part;
            }
        }
        Ok(cube)
    }

    /// Adds a lemma to all frames up to `t`. It replaces lemmas that it implies.
    fn add(&mut self, mut cube: Vec<Term>, formula: Term, t: usize) -> Result<(), Stop> {
        cube.sort_unstable();
        cube.dedup();
        let is_part = |all: &[Term]| cube.iter().all(|literal| all.binary_search(literal).is_ok());
        for lemmas in &mut self.lemmas[..=t] {
            lemmas.retain(|lemma| !is_part(&lemma.cube));
        }
        self.store_at(Lemma { cube, formula }, t)
    }

    fn store_at(&mut self, lemma: Lemma, frame: usize) -> Result<(), Stop> {
        let guarded = self.run.store.implies(self.guards[frame], lemma.formula);
        self.run.assert(&mut self.step, &[guarded])?;
        self.lemmas[frame].push(lemma);
        Ok(())
    }

    /// Moves each lemma up as far as single steps permit.
    pub(super) fn propagate(&mut self) -> Result<(), Stop> {
        (1..self.last()).try_for_each(|frame| self.push_from(frame))
    }

    /// Moves lemmas from a frame, not the last one, to the next.
    pub(super) fn push_from(&mut self, frame: usize) -> Result<(), Stop> {
        let (store, TransitionSystem { state, next, .. }) = (self.run.store, self.system);
        let limits = Limits { conflicts: Some(FEW_CONFLICTS), ..self.run.limits };
        let run = self.run.clone().with_limits(limits);
        for lemma in std::mem::take(&mut self.lemmas[frame]) {
            let mut assumptions = vec![rename(store, store.not(lemma.formula), state, next)];
            assumptions.extend(self.assumed(frame));
            self.statistics.queries += 1;
            if if_decided(run.is_satisfiable(&mut self.step, &assumptions))? == Some(false) {
                self.statistics.pushed += 1;
                self.store_at(lemma, frame + 1)?;
            } else {
                self.lemmas[frame].push(lemma);
            }
        }
        Ok(())
    }

    /// A frame that is equal to the next one.
    pub(super) fn fixpoint(&self) -> Option<usize> {
        (1..self.last()).find(|&frame| self.lemmas[frame].is_empty())
    }
}

/// The answer, unless the solver has given up.
fn if_decided<T>(answer: Result<T, Stop>) -> Result<Option<T>, Stop> {
    match answer {
        Err(Stop::Interrupted(Reason::Budget | Reason::Incomplete)) => Ok(None),
        answer => answer.map(Some),
    }
}

/// A new truth value that switches formulas on.
pub(super) fn fresh_guard(store: &TermStore) -> Term {
    store.var(store.fresh_symbol("guard"), Sort::BOOL)
}
