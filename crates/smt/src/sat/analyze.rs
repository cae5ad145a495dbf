//! Conflict analysis: learns a clause from a conflict.
//!
//! Starting from the false clause, analysis resolves literals of the current level with their antecedents, the latest
//! first, until one literal of this level is left: the first unique implication point (Marques-Silva & Sakallah,
//! "GRASP", IEEE ToC 1999; Zhang et al., ICCAD 2001). Its negation and the false literals of lower levels are the
//! learnt clause, which is unit after backjumping to the second highest of its levels.
//!
//! The clause is then minimised (Sörensson & Biere, "Minimizing Learned Clauses", SAT 2009): a depth-first search
//! through antecedents removes each literal that the other literals imply. The search has its own stack and caches its
//! result for each literal during the conflict, so it is linear in the size of the graph.
//!
//! *Glue* is the number of levels in a clause (Audemard & Simon, IJCAI 2009). Levels of assumptions count like others.
//! If they counted as one (Audemard, Lagniez & Simon, SAT 2013), clauses that only link assumptions would get the best
//! glue and be kept for good, however many queries come.
//!
//! Resolution happens only in [`Solver::resolve_with`] and, for minimisation, in [`Solver::is_implied`]; all
//! antecedents come from [`Solver::antecedent_clause`]. These functions report to the proof log (`log.rs`).

use super::Solver;
use super::clause::ClauseRef;
use super::literal::{Lit, Var};
use super::theory::{Certificate, Theory};
use super::trail::{Antecedent, Trail};

/// The state of a variable in the current analysis.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Unseen,
    /// Analysis reached its literal from the conflict. A literal of a lower level entered the learnt clause; if
    /// minimisation removed it, other literals of the clause imply it.
    Seen,
    /// Literals of the learnt clause imply its literal.
    Implied,
    /// They do not.
    Free,
}

/// Scratch space of the analysis.
#[derive(Default)]
pub(super) struct Analysis {
    /// The learnt clause; the literal to be asserted comes first, one of the backjump level second.
    pub(super) learnt: Vec<Lit>,
    /// By variables.
    marks: Vec<Mark>,
    /// The variables with marks to reset.
    marked: Vec<Var>,
    /// By levels: the last stamp.
    stamps: Vec<u64>,
    stamp: u64,
    /// [`Solver::is_implied`]: literals under investigation, their antecedents and the next position in each.
    stack: Vec<(Lit, ClauseRef, usize)>,
    /// [`Solver::antecedent_clause`]: the clause being built.
    pub(super) explanation: Vec<Lit>,
    /// Clauses made of explanations; not watched, and garbage once they are no longer antecedents.
    pub(super) explained: Vec<ClauseRef>,
    /// The number of explained clauses that triggers the next sweep.
    sweep_at: usize,
}

impl Analysis {
    /// Makes room for more variables.
    pub(super) fn reserve(&mut self, vars: usize) {
        self.marks.reserve(vars);
    }

    /// Adds the next variable.
    pub(super) fn add_var(&mut self) {
        self.marks.push(Mark::Unseen);
    }

    #[inline]
    fn mark(&mut self, var: Var, mark: Mark) {
        if self.marks[var.index()] == Mark::Unseen {
            self.marked.push(var);
        }
        self.marks[var.index()] = mark;
    }

    fn reset(&mut self) {
        for var in self.marked.drain(..) {
            self.marks[var.index()] = Mark::Unseen;
        }
    }

    /// Stamps a level and returns whether it did not yet have the current stamp.
    #[inline]
    fn stamp(&mut self, level: u32) -> bool {
        let level = level as usize;
        if level >= self.stamps.len() {
            self.stamps.resize(level + 1, 0);
        }
        std::mem::replace(&mut self.stamps[level], self.stamp) != self.stamp
    }

    /// The number of levels of assigned literals.
    fn glue(&mut self, trail: &Trail, lits: impl Iterator<Item = Lit>) -> u32 {
        self.stamp += 1;
        lits.filter(|lit| self.stamp(trail.level_of(lit.var()))).count() as u32
    }

    #[inline]
    fn has_stamp(&self, level: u32) -> bool {
        self.stamps.get(level as usize) == Some(&self.stamp)
    }
}

impl<T: Theory> Solver<T> {
    /// Learns from a conflict.
    ///
    /// Before: the current level is above 0, all literals of `conflict` are false, at least one at the current level.
    /// After: `analysis.learnt` holds a clause that follows from clauses and theory, is false now, and whose first
    /// literal alone is of the current level. Returns the level since which it is unit, and the glue.
    pub(super) fn analyze(&mut self, conflict: ClauseRef) -> (u32, u32) {
        self.analysis.learnt.clear();
        self.analysis.learnt.push(self.arena.lit(conflict, 0));
        self.log_conflict(conflict);
        let mut open = self.resolve_with(conflict, None);
        let mut index = self.trail.lits().len();
        let unique = loop {
            // Lower levels lie below on the trail (T1), so this meets only literals of the current level.
            let pivot = loop {
                index -= 1;
                let lit = self.trail.lits()[index];
                if self.analysis.marks[lit.var().index()] == Mark::Seen {
                    break lit;
                }
            };
            open -= 1;
            if open == 0 {
                break pivot;
            }
            let antecedent = self.antecedent_clause(pivot);
            self.log_antecedent(antecedent, pivot);
            open += self.resolve_with(antecedent, Some(pivot));
        };
        self.analysis.learnt[0] = !unique;
        self.minimize();
        self.log_learnt();
        let learnt = std::mem::take(&mut self.analysis.learnt);
        let glue = self.analysis.glue(&self.trail, learnt.iter().copied());
        self.analysis.learnt = learnt;
        self.analysis.reset();
        (self.order_learnt(), glue)
    }

    /// Resolves the clause derived so far with an antecedent on the pivot; without a pivot, starts with the clause.
    /// Returns the number of literals of the current level that this adds.
    fn resolve_with(&mut self, clause: ClauseRef, pivot: Option<Lit>) -> usize {
        if self.arena.is_redundant(clause) {
            self.used(clause);
        }
        let Self { arena, trail, analysis, order, log, .. } = self;
        let level = trail.level();
        let mut added = 0;
        for lit in arena.lits(clause) {
            let var = lit.var();
            if Some(lit) == pivot || analysis.marks[var.index()] != Mark::Unseen {
                continue;
            }
            let lit_level = trail.level_of(var);
            if lit_level == 0 {
                if let Some(log) = log {
                    log.false_at_0.push(var);
                }
                continue;
            }
            analysis.mark(var, Mark::Seen);
            order.bump(var);
            if lit_level == level {
                added += 1;
            } else {
                analysis.learnt.push(lit);
            }
        }
        added
    }

    /// Records the use of a redundant clause.
    fn used(&mut self, clause: ClauseRef) {
        self.bump_clause(clause);
        let glue = self.arena.glue(clause);
        if glue > 2 {
            let Self { analysis, arena, trail, .. } = self;
            let now = analysis.glue(trail, arena.lits(clause));
            if now < glue {
                self.arena.set_glue(clause, now);
            }
        }
        self.arena.set_used(clause, 2);
    }

    /// The antecedent of a literal above level 0 that was not decided. On the first request, a theory's explanation
    /// becomes a clause, which replaces the token.
    fn antecedent_clause(&mut self, lit: Lit) -> ClauseRef {
        match self.trail.antecedent(lit.var()) {
            Antecedent::Clause(clause) => clause,
            Antecedent::Theory(token) => {
                let certificate = self.explain(lit, token);
                let clause = self.arena.alloc(&self.analysis.explanation, None);
                self.log_explanation(clause, certificate);
                self.trail.set_antecedent(lit.var(), Antecedent::Clause(clause));
                self.analysis.explained.push(clause);
                self.sweep_explained();
                clause
            }
            Antecedent::None => unreachable!("{lit:?} is not implied, by T2"),
        }
    }

    /// Asks the theory why it propagated a literal. Leaves the explanation, as a clause, in the scratch space.
    pub(super) fn explain(&mut self, lit: Lit, token: u32) -> Certificate {
        self.statistics.theory_explanations += 1;
        let explanation = &mut self.analysis.explanation;
        explanation.clear();
        explanation.push(lit);
        let certificate = self.theory.explain(lit, token, explanation);
        for reason in &mut explanation[1..] {
            debug_assert!(self.trail.value(*reason) > 0, "C4: {reason:?} does not hold");
            *reason = !*reason;
        }
        // A clause needs a second literal (A3), so a literal that follows from nothing is repeated. This is harmless:
        // resolution meets the pivot twice, and intake and the proof log remove the repetition.
        if explanation.len() == 1 {
            explanation.push(lit);
        }
        certificate
    }

    /// Marks explanations that are no longer antecedents as garbage, when their number has doubled.
    fn sweep_explained(&mut self) {
        let Self { analysis, arena, trail, .. } = self;
        if analysis.explained.len() < analysis.sweep_at.max(256) {
            return;
        }
        analysis.explained.retain(|&clause| {
            let lives = trail.is_antecedent_of(clause, arena.lit(clause, 0));
            if !lives {
                arena.mark_garbage(clause);
            }
            lives
        });
        analysis.sweep_at = 2 * analysis.explained.len();
    }

    /// Removes literals of the learnt clause that its other literals imply.
    fn minimize(&mut self) {
        let mut learnt = std::mem::take(&mut self.analysis.learnt);
        self.analysis.stamp += 1;
        for lit in &learnt {
            let level = self.trail.level_of(lit.var());
            self.analysis.stamp(level);
        }
        let before = learnt.len();
        let mut kept = 1;
        for index in 1..before {
            let lit = learnt[index];
            if !self.is_implied(lit) {
                learnt[kept] = lit;
                kept += 1;
            } else if let Some(log) = &mut self.log {
                log.removed.push(lit);
            }
        }
        learnt.truncate(kept);
        self.statistics.minimized_literals += (before - kept) as u64;
        self.analysis.learnt = learnt;
    }

    /// Whether other literals of the learnt clause imply one of its literals. The levels of the clause must be stamped:
    /// a literal of another level depends on a decision that the clause does not have.
    ///
    /// Antecedents of lower levels have no literals of the current one, so the search never meets a mark from there. It
    /// does not request explanations from the theory: a shorter clause is not worth that.
    fn is_implied(&mut self, lit: Lit) -> bool {
        let Self { analysis, arena, trail, .. } = self;
        let Antecedent::Clause(clause) = trail.antecedent(lit.var()) else { return false };
        analysis.stack.clear();
        analysis.stack.push((lit, clause, 0));
        while let Some((lit, clause, next)) = analysis.stack.last_mut() {
            if *next == arena.size(*clause) {
                let var = lit.var();
                analysis.stack.pop();
                if analysis.marks[var.index()] == Mark::Unseen {
                    analysis.mark(var, Mark::Implied);
                }
                continue;
            }
            let reason = arena.lit(*clause, *next);
            *next += 1;
            let var = reason.var();
            let mark = analysis.marks[var.index()];
            if var == lit.var() || matches!(mark, Mark::Seen | Mark::Implied) || trail.level_of(var) == 0 {
                continue;
            }
            let antecedent = trail.antecedent(var);
            match antecedent {
                Antecedent::Clause(clause)
                    if mark != Mark::Free && analysis.has_stamp(trail.level_of(var)) =>
                {
                    analysis.stack.push((reason, clause, 0));
                }
                _ => {
                    analysis.mark(var, Mark::Free);
                    // The literals on the stack need this one. The bottom one is in the clause.
                    for depth in 1..analysis.stack.len() {
                        analysis.mark(analysis.stack[depth].0.var(), Mark::Free);
                    }
                    return false;
                }
            }
        }
        true
    }

    /// Moves a literal of the highest level among the others to the second place, and returns that level.
    fn order_learnt(&mut self) -> u32 {
        let learnt = &mut self.analysis.learnt;
        let second = (1..learnt.len()).max_by_key(|&index| self.trail.level_of(learnt[index].var()));
        second.map_or(0, |second| {
            learnt.swap(1, second);
            self.trail.level_of(learnt[1].var())
        })
    }

    /// The failed assumption, and the assumptions that imply its negation. All levels of the trail must be those of
    /// assumptions.
    pub(super) fn analyze_final(&mut self, failed: Lit, core: &mut Vec<Lit>) {
        debug_assert!(self.trail.value(failed) < 0);
        core.push(failed);
        self.analysis.mark(failed.var(), Mark::Seen);
        self.log_failed(failed);
        for index in (self.trail.num_fixed()..self.trail.lits().len()).rev() {
            let lit = self.trail.lits()[index];
            if self.analysis.marks[lit.var().index()] != Mark::Seen {
                continue;
            }
            if self.trail.antecedent(lit.var()) == Antecedent::None {
                core.push(lit);
                self.log_assumption(lit);
                continue;
            }
            let antecedent = self.antecedent_clause(lit);
            self.log_antecedent(antecedent, lit);
            let Self { arena, trail, analysis, log, .. } = self;
            for reason in arena.lits(antecedent) {
                analysis.mark(reason.var(), Mark::Seen);
                if let Some(log) = log
                    && trail.level_of(reason.var()) == 0
                {
                    log.false_at_0.push(reason.var());
                }
            }
        }
        self.log_core();
        self.analysis.reset();
    }
}

#[cfg(test)]
mod tests {
    use crate::sat::{Lit, Outcome, Solver, Var};

    #[test]
    fn the_first_unique_implication_point_is_learnt() {
        // Under d: d -> a, a -> b, a -> c, and not both b and c. The point is a, so -a is learnt, at level 0.
        let mut solver = Solver::new();
        let [d, a, b, c] = [(); 4].map(|()| solver.new_var());
        solver.add_clause(&[d.negative(), a.positive()]);
        solver.add_clause(&[a.negative(), b.positive()]);
        solver.add_clause(&[a.negative(), c.positive()]);
        solver.add_clause(&[b.negative(), c.negative()]);
        assert_eq!(solver.solve(&[d.positive()]), Outcome::Unsat);
        assert_eq!(solver.core(), [d.positive()]);
        assert_eq!(solver.fixed(a), Some(false));
        assert_eq!(solver.statistics().conflicts, 1);
    }

    #[test]
    fn cores_leave_out_assumptions_that_were_not_needed() {
        let mut solver = Solver::new();
        let vars: Vec<Var> = (0..6).map(|_| solver.new_var()).collect();
        solver.add_clause(&[vars[1].negative(), vars[3].negative(), vars[5].negative()]);
        let assumptions: Vec<Lit> = vars.iter().map(|var| var.positive()).collect();
        assert_eq!(solver.solve(&assumptions), Outcome::Unsat);
        let mut core = solver.core().to_vec();
        core.sort();
        assert_eq!(core, [1, 3, 5].map(|index| vars[index].positive()));
    }

    #[test]
    fn opposite_assumptions_are_a_core() {
        let mut solver = Solver::new();
        let x = solver.new_var();
        assert_eq!(solver.solve(&[x.positive(), x.negative()]), Outcome::Unsat);
        let mut core = solver.core().to_vec();
        core.sort();
        assert_eq!(core, [x.positive(), x.negative()]);
    }
}
