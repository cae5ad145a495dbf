//! Unit propagation with two watched literals.
//!
//! Each clause watches its first two literals and is visited only when one of them becomes false (Moskewicz et al.,
//! "Chaff", DAC 2001). The watch lists are indexed by the literal that becomes false. A watch also holds a *blocker*,
//! some literal of the clause: if it is true, the clause is not visited (Eén & Sörensson). For binary clauses the
//! blocker is the other literal and suffices.
//!
//! - W1: an attached clause is watched by its literals 0 and 1, and by no others.
//! - W2: if a watched literal is false and propagated, the other watched literal or the blocker is true, and became so
//!   at the same or an earlier level. Late literals and their antecedents are excepted (`chrono.rs`).
//!
//! W2 survives backtracking without work: the true literal is undone no earlier than the false one, and a late one is
//! asserted again. Together with T3 it implies that at a fixpoint no clause is false, and none is unit.

use std::ops::Range;

use super::Poll;
use super::Solver;
use super::clause::ClauseRef;
use super::literal::Lit;
use super::theory::{Effort, Theory};
use super::trail::Antecedent;
use super::watches::Watch;

/// Literals that propagation processes before the main loop checks the limits again.
const PAUSE: u32 = 4096;

/// The result of propagation.
pub(super) enum Propagation {
    /// Nothing is left to propagate, and the theory has no answer.
    Fixpoint,
    /// Propagation is not finished; the main loop must check the limits first.
    Paused,
    /// All literals of the clause are false, and at least one is of the current level.
    Conflict(ClauseRef),
    /// The clauses contradict each other at level 0.
    Refuted,
}

impl<T: Theory> Solver<T> {
    /// Propagates to a fixpoint: takes in pending clauses first, then propagates watched clauses, then consults the
    /// theory, and repeats while the theory answers. While assumptions are left, atoms are only asserted to the theory:
    /// one check for all assumptions is cheaper than one for each, and clashes are found either way. Literals that the
    /// theory agrees with are asserted later.
    pub(super) fn propagate(&mut self, poll: &Poll<'_>) -> Propagation {
        loop {
            if T::is_active()
                && let Some(propagation) = self.take_in_lemmas()
            {
                return propagation;
            }
            match self.propagate_clauses() {
                Propagation::Fixpoint => {}
                other => return other,
            }
            if !T::is_active() || self.is_assuming() && self.inform_theory() {
                return Propagation::Fixpoint;
            }
            if !self.unchecked && !self.clashed && self.theory_agrees() {
                return Propagation::Fixpoint;
            }
            if !self.consult_theory(Effort::Fast, poll) {
                return Propagation::Fixpoint;
            }
        }
    }

    /// Visits the watch lists of the literals that became false.
    pub(super) fn propagate_clauses(&mut self) -> Propagation {
        let mut credit = PAUSE;
        let mut conflict = None;
        let Self { trail, watches, arena, .. } = self;
        while conflict.is_none() && credit > 0 && trail.head < trail.lits().len() {
            let false_lit = !trail.lits()[trail.head];
            trail.head += 1;
            credit -= 1;
            // No clause watches a literal twice, so nothing is pushed onto this list, and it stays in place.
            let Range { start, end } = watches.range(false_lit);
            let mut kept = start;
            let mut next = start;
            while next < end {
                let watch = watches.get(next);
                next += 1;
                let blocker = watch.blocker;
                let blocker_value = trail.value(blocker);
                if blocker_value > 0 {
                    watches.set(kept, watch);
                    kept += 1;
                    continue;
                }
                if watch.is_binary() {
                    watches.set(kept, watch);
                    kept += 1;
                    if blocker_value < 0 {
                        conflict = Some(watch.clause());
                        break;
                    }
                    trail.assign(blocker, Antecedent::Clause(watch.clause()));
                    continue;
                }
                let (codes, place) = arena.codes_mut(watch.clause());
                let [first, second, rest @ ..] = codes else {
                    unreachable!("clauses have two literals, by A3")
                };
                let other = Lit::from_code(*first ^ *second ^ false_lit.code());
                let other_value = if other == blocker { blocker_value } else { trail.value(other) };
                let updated = Watch::new(other, watch.clause(), false);
                if other_value > 0 {
                    watches.set(kept, updated);
                    kept += 1;
                    continue;
                }
                let values = trail.values();
                let is_open = |code: &u32| values[*code as usize] >= 0;
                let found = if let [last] = rest {
                    is_open(last).then_some(0)
                } else {
                    let start = place.as_ref().map_or(0, |place| (**place as usize).min(rest.len()));
                    let found = rest[start..].iter().position(is_open).map(|index| start + index);
                    found.or_else(|| rest[..start].iter().position(is_open))
                };
                if let Some(found) = found {
                    let replacement = std::mem::replace(&mut rest[found], false_lit.code());
                    if let Some(place) = place {
                        *place = found as u32;
                    }
                    *first = other.code();
                    *second = replacement;
                    watches.push(Lit::from_code(replacement), updated);
                    continue;
                }
                watches.set(kept, updated);
                kept += 1;
                if other_value < 0 {
                    conflict = Some(watch.clause());
                    break;
                }
                trail.assign(other, Antecedent::Clause(watch.clause()));
            }
            if kept < next {
                watches.remove(false_lit, kept..next);
            }
        }
        self.statistics.propagations += u64::from(PAUSE - credit);
        match conflict {
            Some(clause) => Propagation::Conflict(clause),
            None if self.trail.head < self.trail.lits().len() => Propagation::Paused,
            None => Propagation::Fixpoint,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::sat::{Outcome, Solver, Var};

    #[test]
    fn watches_move_on_until_the_clause_is_unit() {
        let mut solver = Solver::new();
        let vars: Vec<Var> = (0..5).map(|_| solver.new_var()).collect();
        let clause: Vec<_> = vars.iter().map(|var| var.positive()).collect();
        solver.add_clause(&clause);
        let assumptions: Vec<_> = vars[..4].iter().map(|var| var.negative()).collect();
        assert_eq!(solver.solve(&assumptions), Outcome::Sat);
        assert_eq!(solver.value(vars[4]), Some(true));
        assert_eq!(solver.statistics().decisions, 0);
        solver.check_invariants();
    }

    #[test]
    fn a_unit_clause_is_propagated_through_clauses_that_came_before() {
        let mut solver = Solver::new();
        let vars: Vec<Var> = (0..3).map(|_| solver.new_var()).collect();
        solver.add_clause(&[vars[0].negative(), vars[1].positive()]);
        solver.add_clause(&[vars[0].negative(), vars[1].negative(), vars[2].positive()]);
        solver.add_clause(&[vars[0].positive()]);
        assert_eq!(solver.solve(&[]), Outcome::Sat);
        assert_eq!(vars.iter().map(|&var| solver.fixed(var)).collect::<Vec<_>>(), [Some(true); 3]);
    }
}
