//! From a transition invariant to an inductive invariant of states.
//!
//! Let `T` be a safe transition invariant for paths from initial states, k-inductive with `k = 2^m`. Let `E_j` be the
//! abstraction of exactly `2^j` steps and `B_j` that of fewer than `2^j` steps. A set of states `K` is *closed at level
//! j* if
//!
//! - K1: it contains the states to which `B_j` leads from initial states,
//! - K2: it contains the states to which `E_j` leads from states in `K`.
//!
//! The states to which `T` leads from initial states, `exists X. Init(X), T(X, X')`, are closed at level `m` and
//! exclude bad states. At level 0, where `E_0` is the transition and `B_0` the identity, a closed set is an inductive
//! invariant. An interpolant `I` of the following formulas leads from one level to the level below, with at most two
//! steps of an abstraction:
//!
//! ```text
//! A:  K(X) and E_j(X, Y), or Init(X) and B_j(X, Y)
//! B:  E_j(Y, Z) and not K(Z)
//! ```
//!
//! These are unsatisfiable if `K` is closed at level `j + 1`, because lemmas keep `E_j` twice in `E_{j+1}`, and `B_j`
//! followed by `E_j` in `B_{j+1}`. Then `K and I` is closed at level `j`: `E_j` leads from `K` to `I` by A, and from
//! `I` to `K` by B; and `B_j` leads from initial states to `I` by A, and to `K`, as `B_j` is in `B_{j+1}`.
//!
//! If `T` is grounded in bad states, all this holds with time reversed, and the invariant is the complement of the
//! result. But the reversed query needs `E_j` followed by `B_j`, which need not be in `B_{j+1}`. If the query fails,
//! [`to_inductive`] does the rest by unrolling.
//!
//! The variables of the first state are eliminated. Equations of `Init` or `Bad` that define them are used first, since
//! this leaves the lemmas unchanged.
//!
//! Golem unrolls the transition `k` times. Our descent through the levels takes `m` queries of constant size, so
//! inductions over thousands of steps yield invariants, too.

use shofar_horn::graph::rename;
use shofar_logic::Term;
use shofar_run::{Limits, Stop};

use super::Search;
use super::fixpoint::{Candidate, Relation, Side};
use super::powers::{Count, Level};
use crate::eliminate::eliminate_all_but;
use crate::k_inductive::{interpolant, to_inductive};
use crate::kind::reversed;

/// The maximal number of steps of an induction that is unrolled.
const MOST_STEPS: usize = 256;

/// The conflict limit of each query of an elimination.
const ELIMINATION_CONFLICTS: u64 = 10_000;

impl Search<'_> {
    /// An inductive invariant without bad states, from a transition invariant: the candidate with these lemmas for its
    /// first element.
    pub(super) fn invariant(&mut self, candidate: Candidate, lemmas: &[Term]) -> Result<Term, Stop> {
        let (store, run) = (self.store, self.run);
        let Candidate { relation, side, step } = candidate;
        let vectors = &self.powers.vectors;
        let [first, second, third, between] =
            [&vectors.state, &vectors.middle, &vectors.next, &vectors.later];
        let element = |count, level: Level, from, to| match side {
            Side::Left => self.powers.element(count, level, from, to),
            Side::Right => self.powers.element(count, level, to, from),
        };
        let start = match side {
            Side::Left => self.system.init,
            Side::Right => rename(store, self.bad, third, first),
        };
        let lemmas = store.and(lemmas);
        let related = |from, to| match side {
            Side::Left => self.powers.between(lemmas, from, to),
            Side::Right => self.powers.between(lemmas, to, from),
        };
        let relation = match relation {
            Relation::Element(..) => related(first, second),
            Relation::Composed(level) => {
                let composed =
                    store.and2(related(first, between), element(Count::Exactly, level, between, second));
                store.or2(related(first, second), composed)
            }
        };
        let limits = Limits { conflicts: Some(ELIMINATION_CONFLICTS), ..run.limits };
        let mut states =
            eliminate_all_but(&run.clone().with_limits(limits), store.and2(start, relation), second)?;
        for level in (0..step).rev() {
            let a = store.or2(
                store.and2(
                    rename(store, states, second, first),
                    element(Count::Exactly, level, first, second),
                ),
                store.and2(start, element(Count::Below, level, first, second)),
            );
            let outside = store.not(rename(store, states, second, third));
            let b = store.and2(element(Count::Exactly, level, second, third), outside);
            match interpolant(run, a, b) {
                Ok(interpolant) => states = store.and2(states, interpolant),
                Err(stop) if run.interrupted().is_some() => return Err(stop),
                Err(_) => {
                    states = self.unrolled(states, side, level + 1)?;
                    break;
                }
            }
        }
        let vectors = &self.powers.vectors;
        let states = rename(store, states, &vectors.middle, &vectors.state);
        Ok(match side {
            Side::Left => states,
            Side::Right => store.not(states),
        })
    }

    /// An inductive subset of a set of states that is closed at a level.
    fn unrolled(&self, states: Term, side: Side, level: Level) -> Result<Term, Stop> {
        let (store, run) = (self.store, self.run);
        let k = u32::try_from(level).ok().and_then(|level| 1_usize.checked_shl(level));
        let k = k.filter(|&k| k <= MOST_STEPS).ok_or(Stop::Exhausted("an induction by too many steps"))?;
        let reversed = reversed(store, &self.system);
        let system = match side {
            Side::Left => &self.system,
            Side::Right => &reversed,
        };
        let middle = &self.powers.vectors.middle;
        let states = to_inductive(run, system, rename(store, states, middle, &system.state), k)?;
        Ok(rename(store, states, &system.state, middle))
    }
}
