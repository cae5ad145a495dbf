//! Searches for transition invariants: abstract powers that contain all paths.
//!
//! If the paths of an element reach no bad state, the element is *safe*: `Init(X)`, `T(X, X')` and `Bad(X')` are
//! unsatisfiable. If it contains the paths of all lengths that start in initial states, or that end in bad states, the
//! system is safe. Write `Init <| R` and `R |> Bad` for the paths of `R` that start in initial or end in bad states,
//! and let `k = 2^m`. These inclusions suffice:
//!
//! ```text
//! TPA           ATr<=i    Init <| T o Tr   in  T        or  Tr o T |> Bad    in  T       k = 1
//! split-TPA     ATr<i     Init <| T o E    in  T        or  E o T |> Bad     in  T       E = ATr=m, m <= i
//!               T or T o E                                                               E = ATr=i
//!                         Init <| T o E o E  in  T o E
//!               T or E o T
//!                         E o E o T |> Bad   in  E o T
//! ```
//!
//! Each inclusion is one unsatisfiable query. The safety of each united relation is one more. In the last two cases the
//! right side of the inclusion has a state in between; the one of the left side is taken for it, which is sufficient,
//! not necessary. All of these are *k-inductive*: they contain the paths with fewer than `k` steps (A1, and `m <= i`),
//! and with each path also its extension by `k` steps, at its end or at its front.
//!
//! *Subsets.* Lemmas are made for single queries, and few of them hold for paths of all lengths. So the first condition
//! is checked for the largest subset of the lemmas of `T` that satisfies it: while there is a model, the lemmas that
//! are false in it are dropped (Houdini).
//!
//! - F1: for the same initial and bad states, a candidate is tried again only if one of its elements became stronger.
//! - F2: elements of level 0 are never negated, since they may have local variables.
//!
//! The first condition of split-TPA is Lemma 4.20 of the thesis, the others are Lemma 4.22, and that of TPA is Lemma
//! 4.13. The thesis prints right-grounded k-induction with the premises of the left-grounded one, which is unsound (a
//! counterexample has three states); the intended condition, used here, is the mirror image. Houdini is due to C.
//! Flanagan and K. R. M. Leino (FME 2001); the papers on TPA do not use it.

use shofar_logic::{Term, Value};
use shofar_run::{Reason, Stop};
use shofar_smt::sat::Outcome;
use shofar_smt::solver::Solver;

use super::Search;
use super::powers::{Count, Level};

/// A relation that may be a transition invariant.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Candidate {
    pub(super) relation: Relation,
    /// The end at which paths are extended.
    pub(super) side: Side,
    /// Paths are extended by `2^step` steps.
    pub(super) step: Level,
}

/// The relation of a candidate.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Relation {
    /// An element.
    Element(Count, Level),
    /// `ATr<i`, united with its composition with `ATr=i` at the extended end.
    Composed(Level),
}

/// The states that ground a transition invariant.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Side {
    /// Paths start in initial states and are extended at their end.
    Left,
    /// Paths end in bad states and are extended at their front.
    Right,
}

impl Search<'_> {
    /// Searches for a transition invariant among the elements up to a level, and turns it into an inductive invariant.
    /// If the second part fails, the next candidate is tried.
    pub(super) fn find_invariant(&mut self, level: Level) -> Result<Option<Term>, Stop> {
        let mut candidates = Vec::new();
        for step in 0..=level {
            if !self.options.split {
                candidates.extend((1..=level).map(|at| (Relation::Element(Count::AtMost, at), 0)));
                break;
            }
            candidates.extend((step.max(1)..=level).map(|at| (Relation::Element(Count::Below, at), step)));
            if step > 0 {
                candidates.push((Relation::Composed(step), step));
            }
        }
        for (relation, step) in candidates {
            for side in [Side::Left, Side::Right] {
                let candidate = Candidate { relation, side, step };
                let sizes = self.sizes(relation, step);
                if self.tried.insert(candidate, sizes) == Some(sizes) {
                    continue;
                }
                let Some(lemmas) = self.inductive_lemmas(candidate)? else { continue };
                if !self.is_safe(candidate, &lemmas)? {
                    continue;
                }
                self.statistics.fixpoints += 1;
                match self.invariant(candidate, &lemmas) {
                    Ok(invariant) => return Ok(Some(invariant)),
                    Err(stop) if self.run.interrupted().is_some() => return Err(stop),
                    Err(_) => {}
                }
            }
        }
        Ok(None)
    }

    /// The numbers of lemmas. F1 compares them to see whether an element became stronger.
    fn sizes(&self, relation: Relation, step: Level) -> (usize, usize) {
        let size = |count, level| self.powers.lemmas(count, level).len();
        match relation {
            Relation::Element(Count::AtMost, level) => (size(Count::AtMost, level), 0),
            Relation::Element(count, level) => (size(count, level), size(Count::Exactly, step)),
            Relation::Composed(level) => (size(Count::Below, level), size(Count::Exactly, level)),
        }
    }

    /// The lemmas of the candidate's first element that make it a transition invariant.
    fn inductive_lemmas(&mut self, candidate: Candidate) -> Result<Option<Vec<Term>>, Stop> {
        let powers = &self.powers;
        let [state, middle, later, next] =
            [&powers.vectors.state, &powers.vectors.middle, &powers.vectors.later, &powers.vectors.next];
        let Candidate { relation, side, step } = candidate;
        match relation {
            Relation::Element(count, level) => {
                let exactly = |from, to| powers.element(Count::Exactly, step, from, to);
                let (end, from, to) = match side {
                    Side::Left => ([self.system.init, exactly(middle, next)], state, middle),
                    Side::Right => ([exactly(state, middle), self.bad], middle, next),
                };
                let lemmas = powers.lemmas(count, level).iter();
                let lemmas = lemmas.map(|&lemma| (lemma, powers.between(lemma, from, to))).collect();
                self.largest_inductive(&end, lemmas)
            }
            Relation::Composed(level) => {
                let below = |from, to| powers.element(Count::Below, level, from, to);
                let exactly = |from, to| powers.element(Count::Exactly, level, from, to);
                let (premises, ends) = match side {
                    Side::Left => (
                        [
                            self.system.init,
                            below(state, middle),
                            exactly(middle, later),
                            exactly(later, next),
                        ],
                        (middle, next),
                    ),
                    Side::Right => (
                        [exactly(state, middle), exactly(middle, later), below(later, next), self.bad],
                        (state, later),
                    ),
                };
                let conclusion = exactly(ends.0, ends.1);
                let lemmas = powers.lemmas(Count::Below, level).to_vec();
                Ok(self.implies(&premises, conclusion)?.then_some(lemmas))
            }
        }
    }

    /// Whether no path of the candidate, with these lemmas for its first element, leads from an initial to a bad state.
    fn is_safe(&mut self, candidate: Candidate, lemmas: &[Term]) -> Result<bool, Stop> {
        let (init, bad) = (self.system.init, self.bad);
        if !self.implies(&[&[init], lemmas, &[bad]].concat(), Term::FALSE)? {
            return Ok(false);
        }
        let Relation::Composed(level) = candidate.relation else { return Ok(true) };
        let powers = &self.powers;
        let [state, middle, next] = [&powers.vectors.state, &powers.vectors.middle, &powers.vectors.next];
        let (first, second) = match candidate.side {
            Side::Left => (Count::Below, Count::Exactly),
            Side::Right => (Count::Exactly, Count::Below),
        };
        let composed = [
            init,
            powers.element(first, level, state, middle),
            powers.element(second, level, middle, next),
            bad,
        ];
        self.implies(&composed, Term::FALSE)
    }

    /// The largest subset of lemmas that is inductive under the premises. Each lemma is paired with its instance for
    /// the shorter path.
    fn largest_inductive(
        &mut self,
        premises: &[Term],
        mut lemmas: Vec<(Term, Term)>,
    ) -> Result<Option<Vec<Term>>, Stop> {
        let store = self.store;
        let mut solver = self.run.solver();
        for &premise in premises {
            solver.assert(premise).map_err(|unsupported| unsupported.stop(store))?;
        }
        loop {
            let fails = store.not(store.and_of(lemmas.iter().map(|&(lemma, _)| lemma)));
            let assumptions: Vec<Term> = lemmas.iter().map(|&(_, shorter)| shorter).chain([fails]).collect();
            self.statistics.fixpoint_queries += 1;
            match self.outcome(&mut solver, &assumptions)? {
                Some(false) => break,
                Some(true) => {}
                None => return Ok(None),
            }
            let model = solver.model(&assumptions);
            let is_true = |lemma: Term| store.eval(lemma, &model) == Ok(Value::Bool(true));
            let before = lemmas.len();
            lemmas.retain(|&(lemma, _)| is_true(lemma));
            if lemmas.len() == before {
                return Err(Stop::Internal("a model makes true what it is to make false".to_owned()));
            }
        }
        Ok(Some(lemmas.into_iter().map(|(lemma, _)| lemma).collect()))
    }

    /// Whether the premises imply the conclusion; `false` if this is unknown.
    fn implies(&mut self, premises: &[Term], conclusion: Term) -> Result<bool, Stop> {
        self.statistics.fixpoint_queries += 1;
        let mut solver = self.run.solver();
        self.run.assert(&mut solver, &[premises, &[self.store.not(conclusion)]].concat())?;
        Ok(self.outcome(&mut solver, &[])? == Some(false))
    }

    /// Whether the assertions and assumptions are satisfiable; `None` if the solver does not decide it.
    fn outcome(&self, solver: &mut Solver<'_>, assumptions: &[Term]) -> Result<Option<bool>, Stop> {
        let outcome = solver.check(assumptions, &self.run.limits);
        match outcome.map_err(|unsupported| unsupported.stop(self.store))? {
            Outcome::Sat => Ok(Some(true)),
            Outcome::Unsat => Ok(Some(false)),
            Outcome::Unknown(Reason::Budget | Reason::Incomplete) => Ok(None),
            Outcome::Unknown(reason) => Err(reason.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Run;
    use crate::tpa::Options;
    use shofar_horn::TransitionSystem;
    use shofar_logic::{Sort, TermStore};

    /// Example 4.1 of the thesis: the two ways to be inductive differ.
    #[test]
    fn prolonging_at_the_front_and_at_the_end_differ() {
        let store = TermStore::new();
        let variable = |name: &str| store.var(store.symbol(name), Sort::INT);
        let [x, y, x_next, y_next] = ["x", "y", "x'", "y'"].map(variable);
        let transition =
            [store.ge(y, store.int(0)), store.eq(x_next, x), store.eq(y_next, store.add(&[y, x]))];
        let system = TransitionSystem {
            state: [x, y].into(),
            next: [x_next, y_next].into(),
            init: Term::TRUE,
            transition: store.and(&transition),
            bad: Term::TRUE,
        };
        let run = Run::new(&store);
        for split in [false, true] {
            let options = Options { split, ..Options::default() };
            let mut search = Search::new(system.clone(), &run, &options);
            let count = if split { Count::Below } else { Count::AtMost };
            let invariant = store.or2(store.ge(y_next, y), store.ge(y_next, x));
            search.powers.strengthen(count, 1, invariant);
            let at = |side| Candidate { relation: Relation::Element(count, 1), side, step: 0 };
            assert_eq!(search.inductive_lemmas(at(Side::Left)), Ok(Some(Vec::new())));
            assert_eq!(search.inductive_lemmas(at(Side::Right)), Ok(Some(vec![invariant])));
        }
    }
}
