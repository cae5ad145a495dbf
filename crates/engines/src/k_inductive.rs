//! From k-inductive to inductive invariants.
//!
//! `K` is k-inductive if it holds in the first `k` states of every path from initial states, and a path of `k` states in
//! `K` leads to states in `K` only. A model has to be inductive, that is 1-inductive. There is an inductive invariant
//! between the reachable states and `K`, and one without quantifiers is found in three ways:
//!
//! - [`follow`], by what `k` steps in `K` prove and the states before. The path that the induction excludes,
//!
//!   ```text
//!   K(0), T(0,1) | K(1), T(1,2) | .. | K(k-1), T(k-1,k) | not K(k)
//!   ```
//!
//!   has a sequence of interpolants `I(1), .., I(k-1)`: `K` and a transition lead to `I(1)`, `K` and `I(i)` to `I(i+1)`, and
//!   `K` and `I(k-1)` to `K`. So `J`, that is `K` with all of them, is closed under transitions, and a state with `k - 1`
//!   others before it, all in `K`, is in `J`. Initial states need not be. Where they are not, the states that are reached
//!   in `0, 1, ..` steps join as they are, until those of one number of steps are in `J`, which are at the latest those of
//!   `k - 1`. This is done where equations are enough to eliminate the variables of the step before, as they are for
//!   assignments; each set then is as big as a transition. Induction alone knows little of where paths come from, so that
//!   its proof is short, and an interpolant that is to tell what initial states lead to is often many times as big as
//!   these states.
//! - [`halve`], by interpolation, as in Golem. Let `B(m)` be "the state at time `m` is initial, or it follows on one in
//!   `K` of which `B(m - 1)`", where `B(0)` is true. With `k = i + j` and `i >= j`, no state at time `i` has both
//!
//!   ```text
//!   A:  B(i)                                    a past of i states in K, or a shorter one from an initial state
//!   B:  B(j) from time i on, not K at time k    a future of j states in K, and then one that is not in K
//!   ```
//!
//!   For an interpolant `I`, `K` and `I` is i-inductive. The first `i` states from an initial one satisfy `A`, so `I`. If
//!   `i` states satisfy `K` and `I`, the next one satisfies `A`, so `I`; and it satisfies `K`, or the state `j` steps before
//!   it, which has `I`, would satisfy `B`. In the next round `k` is `i`.
//! - [`eliminate_exits`], by elimination. The states of `K` from which no path through `K` leaves `K` within `k - 1` steps
//!   are inductive: a step out of them would give a path out of `K` with `k` states in it. This also holds where only paths
//!   without repetition were excluded, since a shortest path has none.

use shofar_horn::TransitionSystem;
use shofar_horn::graph::rename;
use shofar_logic::Term;
use shofar_smt::solver::Solver;

use crate::eliminate::{eliminate_all_but, eliminate_by_equations};
use crate::interpolation::{Interpolation, Parts};
use crate::unroll::Unrolling;
use crate::{Run, Stop};

/// The number of steps up to which sets of states are followed, one for each step.
const MOST_FOLLOWED: usize = 16;

/// An inductive invariant that implies a k-inductive one, where `k` is positive. The k-inductive one is a formula over the
/// variables of a state.
pub(crate) fn to_inductive(
    run: &Run<'_>,
    system: &TransitionSystem,
    invariant: Term,
    k: usize,
) -> Result<Term, Stop> {
    match unfold(run, system, invariant, k) {
        Ok(inductive) => Ok(inductive),
        Err(stop) if run.context().interrupted().is_some() => Err(stop),
        Err(_) => eliminate_exits(run, system, invariant, k),
    }
}

/// By interpolation, from `k` down.
fn unfold(run: &Run<'_>, system: &TransitionSystem, invariant: Term, k: usize) -> Result<Term, Stop> {
    let (mut invariant, mut k) = (invariant, k);
    while k > 1 {
        if k <= MOST_FOLLOWED
            && let Some(inductive) = follow(run, system, invariant, k)?
        {
            return Ok(inductive);
        }
        (invariant, k) = halve(run, system, invariant, k)?;
    }
    Ok(invariant)
}

/// The states after `k` steps, with those of fewer steps where they are none of them. Nothing if the latter are no formulas.
fn follow(run: &Run<'_>, system: &TransitionSystem, invariant: Term, k: usize) -> Result<Option<Term>, Stop> {
    let store = run.store;
    let closed = closed_under_steps(run, system, invariant, k)?;
    let mut cases = vec![closed];
    let Some(mut reached) = eliminate_by_equations(store, system.init, &system.state) else {
        return Ok(None);
    };
    for steps in 0..k - 1 {
        let mut solver = Solver::new(store);
        run.assert(&mut solver, &[reached, store.not(closed)])?;
        if !run.is_satisfiable(&mut solver, &[])? {
            break;
        }
        cases.push(reached);
        if steps + 1 == k - 1 {
            break;
        }
        let step = store.and2(reached, system.transition);
        let Some(image) = eliminate_by_equations(store, step, &system.next) else { return Ok(None) };
        reached = rename(store, image, &system.next, &system.state);
    }
    Ok(Some(store.or(&cases)))
}

/// States of a k-inductive invariant that every transition from one of them leads to. All states are among them that have
/// `k - 1` others of the invariant before them.
fn closed_under_steps(
    run: &Run<'_>,
    system: &TransitionSystem,
    invariant: Term,
    k: usize,
) -> Result<Term, Stop> {
    let store = run.store;
    let mut unrolling = Unrolling::new(store, system);
    let mut path: Vec<Vec<Term>> =
        (0..k).map(|time| vec![unrolling.at(invariant, time), unrolling.step(time, time + 1)]).collect();
    path.push(vec![store.not(unrolling.at(invariant, k))]);
    let parts = contradiction(run, path)?;
    // Weak ones, as initial states are more likely to satisfy them.
    let interpolants = parts.sequence(Interpolation::DualFarkas)?;
    let untimed = (1..k).zip(interpolants).map(|(time, interpolant)| unrolling.untimed(interpolant, time));
    Ok(store.and_of([invariant].into_iter().chain(untimed)))
}

/// By an interpolant in the middle: a stronger invariant, and half the number of steps for which it is inductive.
fn halve(run: &Run<'_>, system: &TransitionSystem, invariant: Term, k: usize) -> Result<(Term, usize), Stop> {
    let store = run.store;
    let later = k / 2;
    let earlier = k - later;
    let mut unrolling = Unrolling::new(store, system);
    // B(m) of times `from` to `from + m`.
    let mut past = |from: usize, m: usize| {
        let mut past = Term::TRUE;
        for time in from + 1..=from + m {
            let before = [past, unrolling.at(invariant, time - 1), unrolling.step(time - 1, time)];
            past = store.or2(unrolling.init(time), store.and(&before));
        }
        past
    };
    let a = past(0, earlier);
    let b = past(earlier, later);
    let b = store.and2(b, store.not(unrolling.at(invariant, k)));
    let interpolant = interpolant(run, a, b)?;
    Ok((store.and2(invariant, unrolling.untimed(interpolant, earlier)), earlier))
}

/// An interpolant of two formulas, if they have no model in common.
pub(crate) fn interpolant(run: &Run<'_>, a: Term, b: Term) -> Result<Term, Stop> {
    contradiction(run, vec![vec![a], vec![b]])?.binary(1, Interpolation::Farkas)
}

/// The formulas, if they have no model in common.
fn contradiction<'a>(run: &'a Run<'a>, parts: Vec<Vec<Term>>) -> Result<Parts<'a>, Stop> {
    let mut parts = Parts::new(run, parts)?;
    if parts.is_satisfiable()? {
        return Err(Stop::Exhausted("formulas that were to be told apart have a model in common"));
    }
    Ok(parts)
}

/// By elimination, step by step back from the states outside.
fn eliminate_exits(
    run: &Run<'_>,
    system: &TransitionSystem,
    invariant: Term,
    k: usize,
) -> Result<Term, Stop> {
    let store = run.store;
    let TransitionSystem { state, next, transition, .. } = system;
    let mut inductive = vec![invariant];
    let mut exit = store.not(invariant);
    for _ in 1..k {
        let step = store.and(&[invariant, *transition, rename(store, exit, state, next)]);
        exit = eliminate_all_but(run, step, state)?;
        inductive.push(store.not(exit));
    }
    Ok(store.and(&inductive))
}
