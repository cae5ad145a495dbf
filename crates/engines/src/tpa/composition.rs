//! Does a composition of two abstract powers lead from source to target states? Each composition has an incremental
//! solver.
//!
//! For an element of level `n + 1`, the solver has the composition of two elements of level `n`:
//!
//! ```text
//! A:  first(X, M) and second(M, X'')          or, if the second half is optional,
//!     skip and first(X, X'')  or  not skip and first(X, M) and second(M, X'')
//! B:  source(X) and target(X'')
//! ```
//!
//! A only grows, by the new lemmas of the elements; B is assumed. If A and B are unsatisfiable, an interpolant of A and
//! B is a lemma of level `n + 1`: it follows from A, so A1 is kept, and it excludes all pairs of B. The same proof also
//! yields an interpolant of the source and the rest: a superset of the source from which no target is reachable.
//!
//! - C1: A equals the current elements. The two halves may have new lemmas since the last query, so each query starts
//!   by adding them.

use rustc_hash::FxHashSet;
use shofar_logic::{Assignment, Sort, Term, TermStore};
use shofar_run::{Limits, Stop};
use shofar_smt::interpolate::{Error, Fallback, Interpolant, Options};
use shofar_smt::proof::Part;
use shofar_smt::purify::Unsupported;
use shofar_smt::sat::Outcome;
use shofar_smt::solver::Solver;

use super::powers::{Count, Level, Powers, Vectors};
use crate::Run;

const A: Part = Part(0);
const SOURCE: Part = Part(1);
const TARGET: Part = Part(2);

/// The conflict limit of each query in the search for an interpolant without a proof.
const FALLBACK_CONFLICTS: u64 = 2_000;

/// A composition and its incremental solver.
pub(super) struct Composition<'a> {
    store: &'a TermStore,
    count: Count,
    level: Level,
    solver: Solver<'a>,
    /// The conjuncts of the two halves, without the guard.
    halves: Vec<Term>,
    /// At level 0: the transitions of both halves, if they are transitions.
    pub(super) steps: [Option<Term>; 2],
    /// If the second half is optional: true if it is skipped.
    skip: Option<Term>,
    /// The numbers of lemmas of the two elements that are in A.
    taken: [usize; 2],
}

/// The answer to a query.
pub(super) enum Reply {
    /// The composition leads from a source to a target.
    Connected(Connection),
    /// It does not. The lemma belongs to the next level.
    Separated(Separation),
}

/// A model of a composition that leads from a source to a target.
pub(super) struct Connection {
    /// The values of all variables.
    pub(super) model: Assignment,
    /// The second half is skipped.
    pub(super) is_half: bool,
}

/// The reason why a composition does not lead from a source to a target.
pub(super) struct Separation {
    /// The lemma.
    pub(super) lemma: Term,
    /// The lemma is an interpolant of the proof.
    pub(super) from_proof: bool,
}

impl<'a> Composition<'a> {
    /// The composition of the halves of a count, at a level.
    pub(super) fn new(run: &Run<'a>, count: Count, level: Level) -> Self {
        let store = run.store;
        let skip = (count == Count::Below).then(|| store.var(store.fresh_symbol("skip"), Sort::BOOL));
        Composition {
            store,
            count,
            level,
            solver: run.solver_with_proofs(),
            halves: Vec::new(),
            steps: [None; 2],
            skip,
            taken: [0; 2],
        }
    }

    /// The two halves as formulas, if none is skipped.
    pub(super) fn halves(&self) -> &[Term] {
        &self.halves
    }

    /// Asks whether the composition leads from a source to a target. Both are conjunctions: the source over the first
    /// state, the target over the last state.
    pub(super) fn query(
        &mut self,
        run: &Run<'_>,
        powers: &Powers<'_>,
        options: &Options,
        source: &[Term],
        target: &[Term],
    ) -> Result<Reply, Stop> {
        let store = self.store;
        let unsupported = |unsupported: Unsupported| unsupported.stop(store);
        self.extend(powers).map_err(unsupported)?;
        let in_part = |part| move |&formula: &Term| (formula, part);
        let assumptions: Vec<(Term, Part)> =
            source.iter().map(in_part(SOURCE)).chain(target.iter().map(in_part(TARGET))).collect();
        match self.solver.check_in(&assumptions, &run.limits).map_err(unsupported)? {
            Outcome::Sat => {
                // The halves need not mention all variables of the composition with the second half skipped.
                let Vectors { state, middle, next, .. } = &powers.vectors;
                let variables = state.iter().chain(middle).chain(next);
                let formulas: Vec<Term> = variables
                    .chain(&self.halves)
                    .chain(&self.skip)
                    .chain(source)
                    .chain(target)
                    .copied()
                    .collect();
                let model = self.solver.model(&formulas);
                let is_half = self
                    .skip
                    .is_some_and(|skip| model.get(skip).and_then(|value| value.as_bool()) == Some(true));
                Ok(Reply::Connected(Connection { model, is_half }))
            }
            Outcome::Unsat => Ok(Reply::Separated(self.separate(run, powers, options)?)),
            Outcome::Unknown(reason) => Err(reason.into()),
        }
    }

    /// Brings A up to date (C1).
    fn extend(&mut self, powers: &Powers<'_>) -> Result<(), Unsupported> {
        let Vectors { state, middle, next, .. } = &powers.vectors;
        let (first, second) = self.count.halves();
        let mut additions = Vec::new();
        if self.level == 0 {
            if self.halves.is_empty() {
                for (half, (count, from, to)) in
                    [(first, state, middle), (second, middle, next)].into_iter().enumerate()
                {
                    let step = (count != Count::Below).then(|| powers.transition(from, to));
                    let identity = (count != Count::Exactly).then(|| powers.identity(from, to));
                    self.steps[half] = step;
                    let either: Vec<Term> = step.into_iter().chain(identity).collect();
                    self.halves.push(self.store.or(&either));
                }
                additions.extend(self.halves.iter().map(|&half| self.guarded(half, false)));
                if self.skip.is_some() {
                    additions.push(self.guarded(powers.identity(state, next), true));
                }
            }
        } else {
            let lemmas = powers.lemmas(first, self.level);
            for &lemma in &lemmas[self.taken[0]..] {
                let half = powers.between(lemma, state, middle);
                self.halves.push(half);
                additions.push(self.guarded(half, false));
                if self.skip.is_some() {
                    additions.push(self.guarded(lemma, true));
                }
            }
            self.taken[0] = lemmas.len();
            let lemmas = powers.lemmas(second, self.level);
            for &lemma in &lemmas[self.taken[1]..] {
                let half = powers.between(lemma, middle, next);
                self.halves.push(half);
                additions.push(self.guarded(half, false));
            }
            self.taken[1] = lemmas.len();
        }
        for formula in additions {
            self.solver.assert_in(formula, A)?;
        }
        Ok(())
    }

    /// The formula, guarded to hold only if the second half is skipped, or only if it is not.
    fn guarded(&self, formula: Term, if_skipped: bool) -> Term {
        match self.skip {
            None => formula,
            Some(skip) if if_skipped => self.store.or2(self.store.not(skip), formula),
            Some(skip) => self.store.or2(skip, formula),
        }
    }

    /// The lemma after an unsatisfiable query. If the proof has no interpolant and the fallback finds none, the lemma
    /// is the negated core of B.
    fn separate(&self, run: &Run<'_>, powers: &Powers<'_>, options: &Options) -> Result<Separation, Stop> {
        let store = self.store;
        let limits = Limits { conflicts: Some(FALLBACK_CONFLICTS), ..run.limits };
        match self.solver.interpolator(options.clone())?.binary(&[A], &limits) {
            Ok(Interpolant { formula, from_proof, .. }) => {
                return Ok(Separation { lemma: formula, from_proof });
            }
            Err(Error::NotFound(..)) => {}
            Err(error) => return Err(error.into()),
        }
        let core = self.solver.core();
        let Vectors { state, next, .. } = &powers.vectors;
        let shared: FxHashSet<Term> = state.iter().chain(next).copied().collect();
        if store.free_vars(&core).iter().all(|variable| shared.contains(variable)) {
            return Ok(Separation { lemma: store.not(store.and(&core)), from_proof: false });
        }
        Err(Stop::Exhausted("a query has no interpolant that can be found"))
    }

    /// After an unsatisfiable query with the given source: a superset of the source from which the composition leads to
    /// no target. If the proof has no interpolant, it consists of the source formulas in the core.
    pub(super) fn safe_sources(
        &self,
        run: &Run<'_>,
        options: &Options,
        source: &[Term],
    ) -> Result<Term, Stop> {
        let options = Options { fallback: Fallback::Off, ..options.clone() };
        match self.solver.interpolator(options)?.binary(&[SOURCE], &run.limits) {
            Ok(interpolant) => Ok(interpolant.formula),
            Err(Error::NotFound(..)) => {
                let core = self.solver.core();
                Ok(self.store.and_of(core.into_iter().filter(|formula| source.contains(formula))))
            }
            Err(error) => Err(error.into()),
        }
    }
}
