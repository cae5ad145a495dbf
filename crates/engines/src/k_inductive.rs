//! From k-inductive to inductive invariants.
//!
//! `K` is k-inductive if it holds in the first `k` states of every path from initial states, and a path of `k` states
//! in `K` leads only to states in `K`. A model must be inductive, that is 1-inductive. There is an inductive invariant
//! between the reachable states and `K`. Three methods find one without quantifiers:
//!
//! - [`follow`] uses the interpolants of the induction proof and the states of the first steps. The path that the
//!   induction excludes,
//!
//!   ```text
//!   K(0), T(0,1) | K(1), T(1,2) | .. | K(k-1), T(k-1,k) | not K(k)
//!   ```
//!
//!   has a sequence of interpolants `I(1), .., I(k-1)`: `K` and a transition lead to `I(1)`, `K` and `I(i)` to
//!   `I(i+1)`, and `K` and `I(k-1)` to `K`. So `J`, the conjunction of `K` and all of them, is closed under
//!   transitions. A state with `k - 1` predecessors, all in `K`, is in `J`. Initial states need not be in `J`. If they
//!   are not, the states reached in exactly `0, 1, ..` steps are added as disjuncts, until `J` contains those of some
//!   number of steps, at the latest `k - 1`. The method applies if equations suffice to eliminate the variables of the
//!   previous step, as for assignments; each set then is as large as a transition. The induction query ignores initial
//!   states, so its proofs are short; interpolants that describe reachable states are often far larger.
//! - [`halve`] interpolates, as in Golem. Let `B(m)` be "the state at time `m` is initial, or its predecessor is in `K`
//!   and satisfies `B(m - 1)`", where `B(0)` is true. With `k = i + j` and `i >= j`, no state at time `i` satisfies
//!   both
//!
//!   ```text
//!   A:  B(i)                                    a past of i states in K, or a shorter one from an initial state
//!   B:  B(j) from time i on, not K at time k    a future of j states in K, and then one that is not in K
//!   ```
//!
//!   For an interpolant `I`, `K` and `I` is i-inductive. The first `i` states from an initial one satisfy `A`, so `I`.
//!   If `i` states satisfy `K` and `I`, the next one satisfies `A`, so `I`. It also satisfies `K`, or else the state
//!   `j` steps before it, which satisfies `I`, would satisfy `B`. In the next round `k` is `i`.
//! - [`eliminate_exits`] eliminates quantifiers. The states of `K` from which no path through `K` leaves `K` within
//!   `k - 1` steps are inductive: a step out of them would give a path out of `K` with `k` states in it. This also holds
//!   if only paths without repetition were excluded, since a shortest path has none.

use shofar_horn::TransitionSystem;
use shofar_horn::graph::rename;
use shofar_logic::Term;
use shofar_run::Stop;

use crate::Run;
use crate::eliminate::{eliminate_all_but, eliminate_by_equations};
use crate::separation::{InterpolationMethod, Parts};
use crate::unroll::Unrolling;

/// The maximal `k` for which [`follow`] is tried.
const MOST_FOLLOWED: usize = 16;

/// An inductive invariant that implies a k-inductive one, for positive `k`. The k-inductive one is a formula over the
/// state variables.
pub(crate) fn to_inductive(
    run: &Run<'_>,
    system: &TransitionSystem,
    invariant: Term,
    k: usize,
) -> Result<Term, Stop> {
    match unfold(run, system, invariant, k) {
        Ok(inductive) => Ok(inductive),
        Err(stop) if run.interrupted().is_some() => Err(stop),
        Err(_) => eliminate_exits(run, system, invariant, k),
    }
}

/// Reduces `k` to 1 by interpolation.
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

/// `J`, together with the states of the first steps that are not in it. `None` if equations do not eliminate these
/// states' variables.
fn follow(run: &Run<'_>, system: &TransitionSystem, invariant: Term, k: usize) -> Result<Option<Term>, Stop> {
    let store = run.store;
    let closed = closed_under_steps(run, system, invariant, k)?;
    let mut cases = vec![closed];
    let Some(mut reached) = eliminate_by_equations(store, system.init, &system.state) else {
        return Ok(None);
    };
    for steps in 0..k - 1 {
        let mut solver = run.solver();
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

/// A subset of a k-inductive invariant that is closed under transitions. It contains all states with `k - 1`
/// predecessors in the invariant.
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
    // Weak interpolants: initial states are more likely to satisfy them.
    let interpolants = parts.sequence(InterpolationMethod::DualFarkas)?;
    let untimed = (1..k).zip(interpolants).map(|(time, interpolant)| unrolling.untimed(interpolant, time));
    Ok(store.and_of([invariant].into_iter().chain(untimed)))
}

/// Interpolates in the middle: a stronger invariant, and half the number of steps for which it is inductive.
fn halve(run: &Run<'_>, system: &TransitionSystem, invariant: Term, k: usize) -> Result<(Term, usize), Stop> {
    let store = run.store;
    let later = k / 2;
    let earlier = k - later;
    let mut unrolling = Unrolling::new(store, system);
    // B(m) for times `from` to `from + m`.
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

/// An interpolant of two formulas, if their conjunction is unsatisfiable.
pub(crate) fn interpolant(run: &Run<'_>, a: Term, b: Term) -> Result<Term, Stop> {
    contradiction(run, vec![vec![a], vec![b]])?.binary(1, InterpolationMethod::Farkas)
}

/// The formulas, if their conjunction is unsatisfiable.
fn contradiction<'a>(run: &'a Run<'a>, parts: Vec<Vec<Term>>) -> Result<Parts<'a>, Stop> {
    let mut parts = Parts::new(run, parts)?;
    if parts.is_satisfiable()? {
        return Err(Stop::Exhausted("formulas that were to be told apart have a model in common"));
    }
    Ok(parts)
}

/// By elimination, backwards from the states outside.
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

#[cfg(test)]
mod tests {
    use shofar_logic::{Sort, TermStore};
    use shofar_smt::solver::Solver;

    use super::*;

    fn run(store: &TermStore) -> Run<'_> {
        Run::new(store)
    }

    fn variable(store: &TermStore, name: &str, sort: Sort) -> Term {
        store.var(store.symbol(name), sort)
    }

    fn is_valid(run: &Run<'_>, premises: &[Term], conclusion: Term) -> bool {
        let mut solver = Solver::new(run.store);
        run.assert(&mut solver, premises).expect("the formula is supported");
        let denied = run.store.not(conclusion);
        !run.is_satisfiable(&mut solver, &[denied]).expect("there are no limits")
    }

    #[track_caller]
    fn assert_inductive(run: &Run<'_>, system: &TransitionSystem, goal: Term, invariant: Term) {
        let TransitionSystem { state, next, init, transition, .. } = system;
        assert!(is_valid(run, &[*init], invariant));
        assert!(is_valid(run, &[invariant, *transition], rename(run.store, invariant, state, next)));
        assert!(is_valid(run, &[invariant], goal));
    }

    /// A machine with the states `0` to `3` that starts with `0`.
    fn machine(store: &TermStore, successors: [usize; 4]) -> TransitionSystem {
        let [x, next] = ["x", "x'"].map(|name| variable(store, name, Sort::INT));
        let is = |variable, state: usize| store.eq(variable, store.int(state as u64));
        let step = |state: usize| store.and2(is(x, state), is(next, successors[state]));
        TransitionSystem {
            state: vec![x].into(),
            next: vec![next].into(),
            init: is(x, 0),
            transition: store.or_of((0..4).map(step)),
            bad: Term::FALSE,
        }
    }

    /// The least positive `k` for which a set, given by its members, is k-inductive, if it is less than 6.
    fn induction_depth(successors: [usize; 4], members: [bool; 4]) -> Option<usize> {
        let path = |start: usize, steps: usize| (0..steps).fold(start, |state, _| successors[state]);
        let all_in = |start, steps| (0..steps).all(|time| members[path(start, time)]);
        (1..6).find(|&k| all_in(0, k) && (0..4).all(|start| !all_in(start, k) || members[path(start, k)]))
    }

    #[test]
    fn sets_of_machines_are_made_inductive_in_every_way() {
        let store = TermStore::new();
        let run = run(&store);
        let mut deep = 0;
        for code in (0..256).step_by(3) {
            let successors = [code % 4, code / 4 % 4, code / 16 % 4, code / 64];
            let system = machine(&store, successors);
            for set in 0..16 {
                let members = [0, 1, 2, 3].map(|state| set >> state & 1 == 1);
                let Some(k) = induction_depth(successors, members).filter(|&k| k > 1) else { continue };
                deep += 1;
                let equations = (0..4u64).filter(|&state| members[state as usize]);
                let goal = store.or_of(equations.map(|state| store.eq(system.state[0], store.int(state))));
                let followed = follow(&run, &system, goal, k).expect("the set is k-inductive");
                let followed = followed.expect("one state is reached in each number of steps");
                assert_inductive(&run, &system, goal, followed);
                let (mut halved, mut k) = (goal, k);
                while k > 1 {
                    (halved, k) = halve(&run, &system, halved, k).expect("the set is k-inductive");
                }
                assert_inductive(&run, &system, goal, halved);
            }
        }
        assert!(deep > 20, "{deep}");
    }

    /// Each phase copies one row of variables to the next row; nothing else is known about them.
    #[test]
    fn states_of_few_steps_stay_as_small_as_transitions() {
        let store = TermStore::new();
        let run = run(&store);
        let named = |name: &str, prime: &str| variable(&store, &format!("{name}{prime}"), Sort::REAL);
        let names: Vec<String> = ["phase".to_owned()]
            .into_iter()
            .chain((0..4).flat_map(|row| (0..8).map(move |column| format!("r{row}c{column}"))))
            .collect();
        let [state, next] =
            ["", "'"].map(|prime| -> Box<[Term]> { names.iter().map(|name| named(name, prime)).collect() });
        let cell = |variables: &[Term], row: usize, column: usize| variables[1 + 8 * row + column];
        let number = |n: usize| store.real(n as u64);
        let phase = |now: usize| {
            let copies = (0..4).flat_map(|row| (0..8).map(move |column| (row, column)));
            let copies = copies.map(|(row, column)| {
                let source = if row == now + 1 { now } else { row };
                store.eq(cell(&next, row, column), cell(&state, source, column))
            });
            let phases = [store.eq(state[0], number(now)), store.eq(next[0], number(now + 1))];
            store.and_of(phases.into_iter().chain(copies))
        };
        let differ =
            (0..8).map(|column| store.not(store.eq(cell(&state, 0, column), cell(&state, 3, column))));
        let bad = store.and2(store.eq(state[0], number(3)), store.or_of(differ));
        let system = TransitionSystem {
            init: store.eq(state[0], number(0)),
            transition: store.or_of((0..3).map(phase)),
            bad,
            state,
            next,
        };
        let goal = store.not(bad);
        let inductive = follow(&run, &system, goal, 4).expect("the goal is 4-inductive");
        let inductive =
            inductive.expect("equations define all numbers of the step before, but overwritten ones");
        assert_inductive(&run, &system, goal, inductive);
        let sizes = [inductive, system.transition].map(|formula| store.subterms(&[formula]).len());
        assert!(sizes[0] < sizes[1], "{sizes:?}");
    }

    /// `x` is non-negative and grows in each of three phases by any amount.
    #[test]
    fn sets_that_equations_do_not_define_are_not_needed() {
        let store = TermStore::new();
        let run = run(&store);
        let [phase, x, phase_next, x_next] =
            ["phase", "x", "phase'", "x'"].map(|name| variable(&store, name, Sort::REAL));
        let number = |n: u64| store.real(n);
        let step = |now: u64| store.and2(store.eq(phase, number(now)), store.eq(phase_next, number(now + 1)));
        let system = TransitionSystem {
            state: vec![phase, x].into(),
            next: vec![phase_next, x_next].into(),
            init: store.and2(store.eq(phase, number(0)), store.le(number(0), x)),
            transition: store.and2(store.or_of((0..3).map(step)), store.le(x, x_next)),
            bad: store.and2(store.eq(phase, number(3)), store.lt(x, number(0))),
        };
        let goal = store.not(system.bad);
        let inductive = to_inductive(&run, &system, goal, 4).expect("the goal is 4-inductive");
        assert_inductive(&run, &system, goal, inductive);
    }
}
