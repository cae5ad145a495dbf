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

use super::Poll;
use super::Solver;
use super::clause::{Arena, ClauseRef};
use super::literal::Lit;
use super::theory::{Effort, Theory};
use super::trail::Antecedent;

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

/// An entry of a watch list.
#[derive(Clone, Copy)]
pub(super) struct Watch {
    pub(super) blocker: Lit,
    /// The reference, with the top bit set for binary clauses.
    tagged: u32,
}

const BINARY: u32 = 1 << 31;

impl Watch {
    #[inline]
    pub(super) fn new(blocker: Lit, clause: ClauseRef, is_binary: bool) -> Self {
        Self { blocker, tagged: clause.word() | if is_binary { BINARY } else { 0 } }
    }

    #[inline]
    pub(super) fn clause(self) -> ClauseRef {
        ClauseRef::from_word(self.tagged & !BINARY)
    }

    #[inline]
    pub(super) fn is_binary(self) -> bool {
        self.tagged & BINARY != 0
    }
}

/// The watch lists by the literals watched.
#[derive(Default)]
pub(super) struct Watches {
    lists: Vec<Vec<Watch>>,
}

impl Watches {
    /// Makes room for more variables.
    pub(super) fn reserve(&mut self, vars: usize) {
        self.lists.reserve(2 * vars);
    }

    /// Adds the next variable.
    pub(super) fn add_var(&mut self) {
        self.lists.extend([Vec::new(), Vec::new()]);
    }

    /// Watches the first two literals of a clause (W1).
    pub(super) fn attach(&mut self, arena: &Arena, clause: ClauseRef) {
        let (first, second) = (arena.lit(clause, 0), arena.lit(clause, 1));
        let is_binary = arena.size(clause) == 2;
        self.lists[first.index()].push(Watch::new(second, clause, is_binary));
        self.lists[second.index()].push(Watch::new(first, clause, is_binary));
    }

    /// The watches of a literal.
    pub(super) fn of(&self, lit: Lit) -> &[Watch] {
        &self.lists[lit.index()]
    }

    /// All lists with their literals.
    pub(super) fn lists_mut(&mut self) -> impl Iterator<Item = (Lit, &mut Vec<Watch>)> {
        self.lists.iter_mut().enumerate().map(|(code, list)| (Lit::from_code(code as u32), list))
    }
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
            // No clause watches a literal twice, so nothing is pushed onto this list while it is taken.
            let mut list = std::mem::take(&mut watches.lists[false_lit.index()]);
            let mut kept = 0;
            let mut next = 0;
            while let Some(&watch) = list.get(next) {
                next += 1;
                let blocker = watch.blocker;
                let blocker_value = trail.value(blocker);
                if blocker_value > 0 {
                    list[kept] = watch;
                    kept += 1;
                    continue;
                }
                if watch.is_binary() {
                    list[kept] = watch;
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
                    list[kept] = updated;
                    kept += 1;
                    continue;
                }
                let values = trail.values();
                let start = place.as_ref().map_or(0, |place| (**place as usize).min(rest.len()));
                let is_open = |code: &u32| values[*code as usize] >= 0;
                let found = rest[start..].iter().position(is_open).map(|index| start + index);
                if let Some(found) = found.or_else(|| rest[..start].iter().position(is_open)) {
                    let replacement = std::mem::replace(&mut rest[found], false_lit.code());
                    if let Some(place) = place {
                        *place = found as u32;
                    }
                    *first = other.code();
                    *second = replacement;
                    watches.lists[replacement as usize].push(updated);
                    continue;
                }
                list[kept] = updated;
                kept += 1;
                if other_value < 0 {
                    conflict = Some(watch.clause());
                    break;
                }
                trail.assign(other, Antecedent::Clause(watch.clause()));
            }
            if kept < next {
                list.copy_within(next.., kept);
                list.truncate(list.len() - (next - kept));
            }
            watches.lists[false_lit.index()] = list;
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
