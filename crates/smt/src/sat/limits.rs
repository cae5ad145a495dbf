//! The counters of the search, and the budget of a query in terms of them.
//!
//! The search calls [`Solver::interrupted`] once in each round of its main loop, and nowhere else. A round is bounded:
//! propagation pauses after some thousand literals, and a theory polls the same [`Poll`] during long checks
//! ([`Answers::interrupted`](super::Answers::interrupted)). Conflicts and propagations are compared exactly, so a
//! budget ends a query at the same point in each run. Without a theory, clock, memory and cancel flag are polled about
//! once in a thousand steps.
//!
//! An interrupted query keeps its learnt clauses, and the next one continues from there.

use super::theory::Theory;
use super::{Limits, Poll, Reason, Solver};

/// Steps between two polls of clock, memory and cancel flag.
const POLL_INTERVAL: u64 = 1000;

/// Counters since the solver was created.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Statistics {
    /// Queries answered, `Unknown` included.
    pub queries: u64,
    /// Assumptions whose levels were kept from the previous query.
    pub kept_assumptions: u64,
    /// Free decisions; assumptions are not counted.
    pub decisions: u64,
    /// Literals whose watch lists were visited.
    pub propagations: u64,
    /// Conflicts resolved.
    pub conflicts: u64,
    /// Restarts.
    pub restarts: u64,
    /// Clauses learnt from conflicts.
    pub learnt: u64,
    /// Literals of these clauses.
    pub learnt_literals: u64,
    /// Literals that minimisation removed from them.
    pub minimized_literals: u64,
    /// Deleted clauses: of little use, or satisfied for good.
    pub deleted: u64,
    /// Compactions of the clause arena.
    pub collections: u64,
    /// Checks made by the theory.
    pub theory_checks: u64,
    /// Literals that the theory propagated.
    pub theory_propagations: u64,
    /// Propagated literals that the theory had to explain.
    pub theory_explanations: u64,
    /// Conflicts that the theory reported.
    pub theory_conflicts: u64,
    /// Lemmas that the theory stated.
    pub theory_lemmas: u64,
}

impl std::ops::Add for Statistics {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Statistics {
            queries: self.queries + other.queries,
            kept_assumptions: self.kept_assumptions + other.kept_assumptions,
            decisions: self.decisions + other.decisions,
            propagations: self.propagations + other.propagations,
            conflicts: self.conflicts + other.conflicts,
            restarts: self.restarts + other.restarts,
            learnt: self.learnt + other.learnt,
            learnt_literals: self.learnt_literals + other.learnt_literals,
            minimized_literals: self.minimized_literals + other.minimized_literals,
            deleted: self.deleted + other.deleted,
            collections: self.collections + other.collections,
            theory_checks: self.theory_checks + other.theory_checks,
            theory_propagations: self.theory_propagations + other.theory_propagations,
            theory_explanations: self.theory_explanations + other.theory_explanations,
            theory_conflicts: self.theory_conflicts + other.theory_conflicts,
            theory_lemmas: self.theory_lemmas + other.theory_lemmas,
        }
    }
}

/// The limits of the current query, as values of the running counters.
#[derive(Default)]
pub(super) struct Budget {
    max_conflicts: u64,
    max_propagations: u64,
    next_poll: u64,
}

impl<T: Theory> Solver<T> {
    /// Starts a query's budget.
    pub(super) fn start_budget(&mut self, limits: &Limits<'_>) {
        let end = |used: u64, limit: Option<u64>| limit.map_or(u64::MAX, |limit| used.saturating_add(limit));
        self.budget = Budget {
            max_conflicts: end(self.statistics.conflicts, limits.conflicts),
            max_propagations: end(self.statistics.propagations, limits.propagations),
            next_poll: 0,
        };
    }

    /// Whether the query must end, and why.
    #[inline]
    pub(super) fn interrupted(&mut self, poll: &Poll<'_>) -> Option<Reason> {
        let Statistics { conflicts, propagations, decisions, .. } = self.statistics;
        if conflicts > self.budget.max_conflicts || propagations > self.budget.max_propagations {
            return Some(Reason::Budget);
        }
        let steps = conflicts + propagations + decisions;
        // A theory's check may take as long as many steps.
        if !T::is_active() && steps < self.budget.next_poll {
            return None;
        }
        self.budget.next_poll = steps + POLL_INTERVAL;
        poll.interruption()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::time::{Duration, Instant};

    use super::*;
    use crate::sat::{Outcome, Var};

    fn odd_cycle() -> (Solver, Vec<Var>) {
        let mut solver = Solver::new();
        let vars: Vec<Var> = (0..3).map(|_| solver.new_var()).collect();
        for (i, j) in [(0, 1), (1, 2), (2, 0)] {
            solver.add_clause(&[vars[i].positive(), vars[j].positive()]);
            solver.add_clause(&[vars[i].negative(), vars[j].negative()]);
        }
        (solver, vars)
    }

    #[test]
    fn each_limit_is_told_and_the_solver_goes_on_afterwards() {
        let (mut solver, _) = odd_cycle();
        let set = AtomicBool::new(true);
        let past = Instant::now() - Duration::from_secs(1);
        for (limits, reason) in [
            (Limits { conflicts: Some(0), ..Limits::default() }, Reason::Budget),
            (Limits { cancel: Some(&set), ..Limits::default() }, Reason::Cancelled),
            (Limits { deadline: Some(past), ..Limits::default() }, Reason::Deadline),
            (Limits { memory: Some(1), ..Limits::default() }, Reason::Memory),
        ] {
            let (mut solver, _) = odd_cycle();
            assert_eq!(solver.solve_within(&[], &limits), Outcome::Unknown(reason));
            assert_eq!(solver.solve(&[]), Outcome::Unsat);
        }
        assert_eq!(solver.solve(&[]), Outcome::Unsat);
    }

    #[test]
    fn budgets_are_per_query() {
        let mut solver = Solver::new();
        let vars: Vec<Var> = (0..100).map(|_| solver.new_var()).collect();
        for pair in vars.windows(2) {
            solver.add_clause(&[pair[0].negative(), pair[1].positive()]);
        }
        let limits = Limits { propagations: Some(150), ..Limits::default() };
        for round in 0..10 {
            assert_eq!(solver.solve_within(&[vars[0].lit(round % 2 == 0)], &limits), Outcome::Sat);
        }
    }
}
