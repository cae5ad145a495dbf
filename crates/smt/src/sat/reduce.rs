//! Forgets clauses and reclaims their space.
//!
//! Learnt clauses and lemmas have three tiers by glue (Audemard & Simon, IJCAI 2009; the tiers are those of Oh,
//! "Between SAT and UNSAT: The Fundamental Difference in CDCL SAT", SAT 2015):
//!
//! ```text
//! glue <= 2     kept
//! glue <= 6     kept while used: until two reductions have passed without a conflict that the clause took part in
//! above         the less active three quarters go with each reduction
//! ```
//!
//! An unused clause of the second tier is treated as one of the third. Reductions come often: our problems are small,
//! so visiting useless clauses costs more than missing useful ones. (Forgetting half, first after 2000 conflicts and
//! then 300 later each time, against these figures: 485 and 509 thousand conflicts in 7.0 and 4.6 seconds on 40 random
//! formulas of 200 variables, 120 and 139 thousand in 4.3 and 1.6 seconds on nine pigeonholes.)
//!
//! Antecedents are always kept. A collection compacts the arena and renews all references to clauses. It also drops
//! literals that are false at level 0 from the unwatched part of clauses.
//!
//! Clause activity works like that of variables (`decide.rs`), but slower and in one word.

use super::Solver;
use super::clause::ClauseRef;
use super::theory::Theory;
use super::trail::Antecedent;
use super::watches::Watch;

/// Glue up to which clauses are kept, and kept while used.
const CORE_GLUE: u32 = 2;
const TIER_GLUE: u32 = 6;

/// Conflicts before the first reduction, and how much each interval exceeds the previous one.
const FIRST_INTERVAL: u64 = 300;
const INTERVAL_GROWTH: u64 = 20;

const FIRST_INCREMENT: u32 = 1 << 10;
/// An activity is below 1025 increments: no overflow.
const MAX_INCREMENT: u32 = 1 << 21;
const RESCALE_SHIFT: u32 = 11;

/// The schedule of reductions and the scale of clause activity.
pub(super) struct Reductions {
    next: u64,
    interval: u64,
    increment: u32,
}

impl Default for Reductions {
    fn default() -> Self {
        Self { next: FIRST_INTERVAL, interval: FIRST_INTERVAL, increment: FIRST_INCREMENT }
    }
}

impl<T: Theory> Solver<T> {
    /// Increases the activity of a clause that took part in the current conflict.
    #[inline]
    pub(super) fn bump_clause(&mut self, clause: ClauseRef) {
        *self.arena.activity_mut(clause) += self.reductions.increment;
    }

    /// Call this once for each conflict.
    pub(super) fn decay_clauses(&mut self) {
        let increment = &mut self.reductions.increment;
        *increment += *increment >> 10;
        if *increment > MAX_INCREMENT {
            *increment >>= RESCALE_SHIFT;
            for &clause in &self.redundant {
                *self.arena.activity_mut(clause) >>= RESCALE_SHIFT;
            }
        }
    }

    /// Whether a reduction is due.
    #[inline]
    pub(super) fn reducing(&self) -> bool {
        self.statistics.conflicts >= self.reductions.next || self.arena.is_wasteful()
    }

    /// Forgets clauses of little use, and those satisfied at level 0. Clauses must be propagated.
    pub(super) fn reduce(&mut self) {
        if self.statistics.conflicts >= self.reductions.next {
            self.reductions.interval += INTERVAL_GROWTH;
            self.reductions.next = self.statistics.conflicts + self.reductions.interval;
            self.mark_useless();
        }
        self.mark_satisfied();
        self.collect();
        self.compact_log();
    }

    fn mark_useless(&mut self) {
        let Self { arena, trail, redundant, statistics, .. } = self;
        let mut candidates = Vec::new();
        for &clause in redundant.iter() {
            let glue = arena.glue(clause);
            if glue <= CORE_GLUE {
                continue;
            }
            let used = arena.used(clause);
            if used > 0 {
                arena.set_used(clause, used - 1);
            }
            let is_antecedent = (0..2).any(|index| trail.is_antecedent_of(clause, arena.lit(clause, index)));
            if is_antecedent || glue <= TIER_GLUE && used > 0 {
                continue;
            }
            candidates.push(clause);
        }
        // Stable: among equally active clauses the older go first.
        candidates.sort_by_key(|&clause| arena.activity(clause));
        for &clause in &candidates[..candidates.len() / 4 * 3] {
            arena.mark_garbage(clause);
            statistics.deleted += 1;
        }
    }

    /// Marks clauses that are true at level 0, if there are new literals at that level.
    pub(super) fn mark_satisfied(&mut self) {
        let fixed = self.trail.num_fixed();
        if fixed == self.cleaned {
            return;
        }
        self.log_fixed();
        for index in self.cleaned..fixed {
            self.trail.set_antecedent(self.trail.lits()[index].var(), Antecedent::None);
        }
        self.cleaned = fixed;
        let Self { arena, trail, .. } = self;
        let satisfied: Vec<ClauseRef> = arena
            .iter()
            .filter(|&clause| arena.lits(clause).any(|lit| trail.value(lit) > 0 && trail.is_fixed(lit)))
            .collect();
        for &clause in &satisfied {
            arena.mark_garbage(clause);
        }
        self.statistics.deleted += satisfied.len() as u64;
    }

    /// Compacts the arena and renews all references.
    ///
    /// Before: the only antecedents at level 0 are clauses that [`mark_satisfied`](Self::mark_satisfied) would remove,
    /// and no other antecedent is marked.
    pub(super) fn collect(&mut self) {
        self.statistics.collections += 1;
        self.log_shrinking();
        let Self { arena, trail, watches, redundant, analysis, cover, .. } = self;
        let moved = arena.compact(|lit| trail.value(lit) < 0 && trail.is_fixed(lit));
        watches.rebuild(|lit, watch| {
            let clause = moved.get(watch.clause())?;
            // If a clause became binary, the blocker must be the other literal.
            let is_binary = arena.size(clause) == 2;
            let blocker = if is_binary && !watch.is_binary() {
                let first = arena.lit(clause, 0);
                if first == lit { arena.lit(clause, 1) } else { first }
            } else {
                watch.blocker
            };
            Some(Watch::new(blocker, clause, is_binary))
        });
        let renew = |clause: &mut ClauseRef| moved.get(*clause).map(|new| *clause = new).is_some();
        redundant.retain_mut(renew);
        analysis.explained.retain_mut(renew);
        cover.renew(renew);
        for index in trail.num_fixed()..trail.lits().len() {
            let var = trail.lits()[index].var();
            if let Antecedent::Clause(clause) = trail.antecedent(var) {
                let clause = moved.get(clause).expect("antecedents are not deleted");
                trail.set_antecedent(var, Antecedent::Clause(clause));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::sat::{Outcome, Solver, Var};
    use shofar_run::Limits;

    #[test]
    fn satisfied_clauses_go_and_false_literals_with_them() {
        let mut solver = Solver::new();
        let v: Vec<Var> = (0..5).map(|_| solver.new_var()).collect();
        solver.add_clause(&[v[0].positive(), v[1].positive(), v[2].positive()]);
        solver.add_clause(&[v[2].positive(), v[3].positive(), v[4].positive()]);
        assert_eq!(solver.solve(&[v[2].negative()]), Outcome::Sat);
        solver.add_clause(&[v[0].positive()]);
        solver.add_clause(&[v[4].negative()]);
        assert_eq!(solver.solve(&[]), Outcome::Sat);
        solver.reduce();
        solver.check_invariants();
        assert_eq!(solver.statistics().deleted, 1);
        let clause = solver.arena.iter().next().unwrap();
        assert_eq!(solver.arena.size(clause), 2);
        assert_eq!(solver.solve(&[v[2].negative(), v[3].negative()]), Outcome::Unsat);
        assert_eq!(solver.core().len(), 2);
    }

    #[test]
    fn reductions_in_the_middle_of_a_search_keep_answer_and_invariants() {
        let mut solver = Solver::new();
        let at: Vec<Vec<Var>> = (0..7).map(|_| (0..6).map(|_| solver.new_var()).collect()).collect();
        for (pigeon, holes) in at.iter().enumerate() {
            solver.add_clause(&holes.iter().map(|var| var.positive()).collect::<Vec<_>>());
            for other in &at[..pigeon] {
                for (x, y) in holes.iter().zip(other) {
                    solver.add_clause(&[x.negative(), y.negative()]);
                }
            }
        }
        let step = Limits { conflicts: Some(0), ..Limits::default() };
        while solver.solve_within(&[], &step) != Outcome::Unsat {
            // The search is interrupted after each conflict, and a reduction is made due.
            solver.reductions.next = 0;
            if solver.trail.head == solver.trail.lits().len() {
                solver.reduce();
            }
            solver.check_invariants();
        }
        assert!(solver.statistics().collections > 2 && solver.statistics().deleted > 0);
    }
}
