//! From k-inductive to inductive invariants.
//!
//! `K` is k-inductive if it holds in the first `k` states of every path from initial states, and a path of `k` states in
//! `K` leads to states in `K` only. A model has to be inductive, that is 1-inductive. There is an inductive invariant
//! between the reachable states and `K`, and one without quantifiers is found in two ways:
//!
//! - [`unfold`], by interpolation, as in Golem. Let `B(m)` be "the state at time `m` is initial, or it follows on one in
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

use crate::eliminate::eliminate_all_but;
use crate::interpolation::{Interpolation, Parts};
use crate::unroll::Unrolling;
use crate::{Run, Stop};

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

/// By interpolation, halving `k` in each round.
fn unfold(run: &Run<'_>, system: &TransitionSystem, invariant: Term, k: usize) -> Result<Term, Stop> {
    let store = run.store;
    let (mut invariant, mut k) = (invariant, k);
    while k > 1 {
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
        invariant = store.and2(invariant, unrolling.untimed(interpolant, earlier));
        k = earlier;
    }
    Ok(invariant)
}

/// An interpolant of two formulas, if they have no model in common.
pub(crate) fn interpolant(run: &Run<'_>, a: Term, b: Term) -> Result<Term, Stop> {
    let mut parts = Parts::new(run, vec![vec![a], vec![b]])?;
    if parts.is_satisfiable()? {
        return Err(Stop::Exhausted("formulas that were to be told apart have a model in common"));
    }
    parts.binary(1, Interpolation::Farkas)
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
