//! Chronological backtracking: instead of a far jump back, undo one level.
//!
//! A learnt clause is unit since the second highest of its levels, often far below. Jumping there undoes all decisions
//! in between. They have nothing to do with the conflict and are made again one by one. In long unrollings, where step
//! after step has the same conflict, that is most of the work. So if the jump is far, only the level of the conflict is
//! undone, and the learnt literal is asserted at the level below (Nadel & Ryvchin, "Chronological Backtracking", SAT
//! 2018).
//!
//! There the literal gets the level at which it follows from its clause, so levels on the trail are out of order. Here
//! it gets the current level, which preserves T1 and the contract with the theory. The price is that the literal is
//! *late*: undoing its level would drop it although its clause does not need that level. So `backtrack` asserts the
//! literal again at the new current level, as long as its clause is unit there.
//!
//! - L1: `literals` lists the late literals in trail order. The antecedent of each is a learnt clause, whose other
//!   literals all have lower levels. The clause watches one of the second highest level, and that level is stored with
//!   the literal.
//!
//! For all clauses that are not antecedents of late literals, W2 holds unchanged. For those it holds ignoring levels;
//! re-asserting late literals keeps the true one at least as long as the false one.

use super::Solver;
use super::clause::ClauseRef;
use super::literal::Lit;
use super::theory::Theory;
use super::trail::Antecedent;

/// Jumps over more levels than this undo one level.
const FAR: u32 = 100;

/// The late literals.
pub(super) struct Late {
    /// The longest jump allowed.
    far: u32,
    /// Each with the level since which its clause is unit (L1).
    literals: Vec<(Lit, u32)>,
    /// The literals to assert again, with their clauses, the last one first.
    again: Vec<(Lit, ClauseRef, u32)>,
}

impl Default for Late {
    fn default() -> Self {
        Late { far: FAR, literals: Vec::new(), again: Vec::new() }
    }
}

impl<T: Theory> Solver<T> {
    /// Sets the longest jump; farther jumps undo one level. For tests, which have few levels.
    pub fn set_longest_jump(&mut self, levels: u32) {
        self.late.far = levels;
    }

    /// The level to backtrack to if the learnt clause is unit since `level`.
    ///
    /// If its literal negates a late one, this is `level` itself: one level below, the late literal would be asserted
    /// again.
    pub(super) fn target(&self, level: u32) -> u32 {
        let current = self.trail.level();
        let is_far = current - level > self.late.far && self.analysis.learnt.len() > 1;
        if is_far && !self.is_late(!self.analysis.learnt[0]) { current - 1 } else { level }
    }

    /// Whether a true literal of the current level follows from lower levels by its antecedent.
    fn is_late(&self, lit: Lit) -> bool {
        let Antecedent::Clause(clause) = self.trail.antecedent(lit.var()) else { return false };
        let others = self.arena.lits(clause).filter(|&other| other != lit);
        others.map(|other| self.trail.level_of(other.var())).all(|level| level < self.trail.level())
    }

    /// Records a literal that was asserted by a clause that is unit since this level, if it is late.
    pub(super) fn note_late(&mut self, lit: Lit, level: u32) {
        if level < self.trail.level() {
            self.late.literals.push((lit, level));
        }
    }

    /// Call this before undoing the levels above `level`: keeps the late literals that follow at `level`.
    pub(super) fn keep_late(&mut self, level: u32) {
        let Self { late, trail, .. } = self;
        while let Some((lit, since)) = late.literals.pop_if(|(lit, _)| trail.level_of(lit.var()) > level) {
            if since <= level {
                let Antecedent::Clause(clause) = trail.antecedent(lit.var()) else { unreachable!("L1") };
                late.again.push((lit, clause, since));
            }
        }
    }

    /// Asserts the kept literals again.
    pub(super) fn assert_late(&mut self) {
        while let Some((lit, clause, since)) = self.late.again.pop() {
            self.trail.assign(lit, Antecedent::Clause(clause));
            self.note_late(lit, since);
        }
    }

    /// Whether a literal is recorded as late; slow.
    pub(super) fn is_noted_late(&self, lit: Lit) -> bool {
        self.late.literals.iter().any(|&(late, _)| late == lit)
    }

    /// L1.
    pub(super) fn check_late(&self) {
        let mut trail = self.trail.lits().iter();
        for &(late, since) in &self.late.literals {
            assert!(trail.any(|&lit| lit == late), "L1: {late:?} is not on the trail in its place");
            let Antecedent::Clause(clause) = self.trail.antecedent(late.var()) else {
                panic!("L1: {late:?} has no clause")
            };
            let level = |lit: Lit| self.trail.level_of(lit.var());
            assert_eq!(self.arena.lit(clause, 0), late, "L1");
            assert_eq!(level(self.arena.lit(clause, 1)), since, "L1");
            assert!(self.arena.lits(clause).skip(1).all(|lit| level(lit) <= since), "L1");
            assert!(since < level(late), "L1: {late:?} is not late");
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::sat::{Outcome, Solver, Var};

    const BYSTANDERS: usize = 150;

    /// A query with a conflict between its assumption and its last decision, and many decisions between the two.
    fn solved(longest_jump: Option<u32>) -> Solver {
        let mut solver = Solver::new();
        if let Some(levels) = longest_jump {
            solver.set_longest_jump(levels);
        }
        let vars: Vec<Var> = (0..BYSTANDERS + 3).map(|_| solver.new_var()).collect();
        let [x, .., y, z] = vars[..] else { unreachable!("there are more") };
        for z in [z.positive(), z.negative()] {
            solver.add_clause(&[x.negative(), y.positive(), z]);
        }
        assert_eq!(solver.solve(&[x.positive()]), Outcome::Sat);
        assert_eq!(solver.value(y), Some(true));
        solver.check_invariants();
        solver
    }

    #[test]
    fn decisions_that_a_conflict_has_nothing_to_do_with_stay() {
        let decisions = |jump| solved(jump).statistics().decisions as usize;
        assert!(decisions(Some(1000)) > 2 * BYSTANDERS);
        for jump in [None, Some(0), Some(BYSTANDERS as u32 - 1)] {
            assert!(decisions(jump) < BYSTANDERS + 3);
        }
    }

    #[test]
    fn what_was_learnt_outlives_the_level_where_it_was_asserted() {
        let mut solver = solved(None);
        let y = Var::from_index(BYSTANDERS + 1);
        for level in (1..solver.trail.level()).rev() {
            solver.backtrack(level);
            assert_eq!(solver.trail.level_of(y), level);
            assert_eq!(solver.trail.value(y.positive()), 1);
            solver.check_invariants();
        }
        solver.backtrack(0);
        assert_eq!(solver.trail.value(y.positive()), 0);
        solver.check_invariants();
    }
}
