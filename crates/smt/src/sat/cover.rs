//! Covering the clauses: decisions until the first conflict. The query ends when every clause is true.
//!
//! Before its first conflict the search has no reason to assign a variable whose clauses are all true already, and
//! small queries end before it has learnt anything. So until the first backtracking, the search visits the clauses
//! once, the oldest first, and makes one literal of each true:
//!
//! ```text
//! next decision:  the first clause without a true literal
//!                     an open literal that has the value it would be tried with anyway, or else
//!                     one that is not an atom, or else any
//!                 no clause is left: a variable that models must give a value
//!                 none is left:      the clauses are covered
//! ```
//!
//! A clause stays true until the search backtracks, so one index is the whole state. After that, activities are known.
//! The search then decides by them (`decide.rs`) and ends when all decision variables have values. It does the same if
//! the theory's final check of a covering assignment finds something, since the theory may need variables decided that
//! occur in no clause.
//!
//! Each query repeats this walk, and most clauses are covered or skipped because of the same literal as the last time.
//! So each entry stores that literal, and the clause is visited only if the literal no longer covers it, like the
//! blocking literal of watch lists. Without this, solvers with many small queries spend up to a quarter of their time
//! here, mostly on definitions from earlier queries.
//!
//! Redundant clauses follow from the others and the theory, and are skipped. So are clauses with an open literal that
//! is not a decision variable: by excluding the variable from decisions, the owner of the search promises that such
//! clauses can be made true afterwards.
//!
//! - K1: between queries and within them, `permanent` and `framed` hold the clauses of at least two literals that are
//!   neither redundant nor true at level 0, and belong to no frame or to an open one. Binary clauses of frames are left
//!   out: with the frame assumed they are units.
//! - K2: while `is_active`, all clauses before `next` were skipped or have a true literal.
//!
//! Models are then partial, so the caller must opt in ([`Solver::allow_partial_models`]). GRASP (Marques-Silva &
//! Sakallah, 1996) already stopped when all clauses are true. Deciding by the first clause that is not true is
//! BerkMin's rule (Goldberg & Novikov, DATE 2002), which applies it to learnt clauses.

use super::Solver;
use super::clause::ClauseRef;
use super::literal::{Lit, Var};
use super::theory::Theory;

/// The clauses to cover, and the progress of the search.
#[derive(Default)]
pub(super) struct Cover {
    /// Whether models may be partial; if not, the other fields are unused.
    is_allowed: bool,
    /// Clauses that belong to no frame (K1).
    permanent: Vec<Entry>,
    /// Clauses of open frames, with the number of frames open when they were added (K1).
    framed: Vec<(Entry, usize)>,
    /// Variables that every model must assign.
    demanded: Vec<Var>,
    /// Whether the search has not backtracked in this query.
    is_active: bool,
    /// The first index not visited, into the concatenation of `permanent`, `framed` and `demanded` (K2).
    next: usize,
}

/// A clause to cover.
#[derive(Clone, Copy)]
struct Entry {
    clause: ClauseRef,
    /// The literal that last covered the clause, or caused it to be skipped; initially any literal. If it still does,
    /// the others are not visited. A collection may have dropped it from the clause as false at level 0; it then covers
    /// nothing.
    passed: Lit,
}

impl Cover {
    /// Adds a new clause that is not redundant.
    pub(super) fn add(&mut self, clause: ClauseRef, lits: &[Lit], frame: Option<usize>) {
        let entry = Entry { clause, passed: lits[0] };
        match frame {
            _ if !self.is_allowed => {}
            None => self.permanent.push(entry),
            Some(_) if lits.len() == 2 => {}
            Some(depth) => self.framed.push((entry, depth)),
        }
    }

    /// Removes the clauses of popped frames; `depth` frames are still open.
    pub(super) fn pop_to(&mut self, depth: usize) {
        while self.framed.pop_if(|(_, frame)| *frame > depth).is_some() {}
    }

    /// Updates references, and removes clauses that were deleted.
    pub(super) fn renew(&mut self, mut renew: impl FnMut(&mut ClauseRef) -> bool) {
        self.permanent.retain_mut(|entry| renew(&mut entry.clause));
        self.framed.retain_mut(|(entry, _)| renew(&mut entry.clause));
        self.next = 0;
    }

    /// Starts a search.
    pub(super) fn start(&mut self) {
        self.is_active = self.is_allowed;
        self.next = 0;
    }

    /// From now on the search assigns all decision variables.
    pub(super) fn end(&mut self) {
        self.is_active = false;
    }

    /// Whether covering makes the decisions.
    pub(super) fn is_active(&self) -> bool {
        self.is_active
    }

    /// The next clause to visit.
    fn entry(&mut self) -> Option<&mut Entry> {
        match self.next.checked_sub(self.permanent.len()) {
            None => self.permanent.get_mut(self.next),
            Some(index) => self.framed.get_mut(index).map(|(entry, _)| entry),
        }
    }

    /// The next demanded variable to visit, once all clauses are covered.
    fn demanded(&self) -> Option<Var> {
        self.demanded.get(self.next - self.permanent.len() - self.framed.len()).copied()
    }
}

impl<T: Theory> Solver<T> {
    /// Allows models that leave decision variables open, as long as all clauses are true. Call this before adding
    /// clauses.
    pub fn allow_partial_models(&mut self) {
        debug_assert_eq!(self.num_clauses(), 0, "K1");
        self.cover.is_allowed = true;
    }

    /// Makes all models assign the decision variable, including partial ones.
    pub fn demand_value(&mut self, var: Var) {
        self.cover.demanded.push(var);
    }

    /// The decision that covers the next clause, or `None` if all are covered.
    pub(super) fn next_covering(&mut self) -> Option<Lit> {
        if let Some(clause) = self.uncovered() {
            return self.covering(clause);
        }
        while let Some(var) = self.cover.demanded() {
            if self.trail.value(var.positive()) == 0 && self.order.is_eligible(var) {
                return Some(var.lit(self.preferred_phase(var)));
            }
            self.cover.next += 1;
        }
        None
    }

    /// The next clause that is neither true nor skipped.
    fn uncovered(&mut self) -> Option<ClauseRef> {
        let Self { cover, arena, trail, order, .. } = self;
        let is_passed = |lit: Lit| match trail.value(lit) {
            1 => true,
            0 => !order.is_eligible(lit.var()),
            _ => false,
        };
        while let Some(entry) = cover.entry() {
            if !is_passed(entry.passed) {
                match arena.lits(entry.clause).find(|&lit| is_passed(lit)) {
                    Some(lit) => entry.passed = lit,
                    None => return Some(entry.clause),
                }
            }
            cover.next += 1;
        }
        None
    }

    /// The literal to make true in a clause whose literals are false or decision variables, not all of them false.
    fn covering(&mut self, clause: ClauseRef) -> Option<Lit> {
        let mut fallback: Option<Lit> = None;
        for index in 0..self.arena.size(clause) {
            let lit = self.arena.lit(clause, index);
            if self.trail.value(lit) < 0 {
                continue;
            }
            if self.preferred_phase(lit.var()) == lit.is_positive() {
                return Some(lit);
            }
            let is_atom = |lit: Lit| self.is_atom[lit.var().index()];
            if fallback.is_none_or(|other| is_atom(other) && !is_atom(lit)) {
                fallback = Some(lit);
            }
        }
        fallback
    }

    /// K1, for open frames and clauses outside of frames.
    pub(super) fn check_cover(&self) {
        let Cover { is_allowed, permanent, framed, .. } = &self.cover;
        if !is_allowed {
            return;
        }
        let frames = self.frame_variables();
        let is_fixed = |lit: Lit| self.trail.value(lit) > 0 && self.trail.is_fixed(lit);
        for clause in self.arena.iter().filter(|&clause| !self.arena.is_redundant(clause)) {
            let guard = self.arena.lits(clause).find(|lit| frames.contains(&lit.var()));
            let is_listed = match guard {
                None => permanent.iter().any(|entry| entry.clause == clause),
                Some(guard) => match self.frame_depth(!guard) {
                    Some(depth) => {
                        let is_clause = |(entry, at): &(Entry, usize)| entry.clause == clause && *at == depth;
                        self.arena.size(clause) == 2 || framed.iter().any(is_clause)
                    }
                    None => true,
                },
            };
            assert!(is_listed || self.arena.lits(clause).any(is_fixed), "K1: a clause is not covered");
        }
        let mut listed = permanent.iter().chain(framed.iter().map(|(entry, _)| entry));
        assert!(listed.all(|entry| !self.arena.is_garbage(entry.clause)), "K1: garbage is covered");
    }
}

#[cfg(test)]
mod tests {
    use crate::sat::{Lit, Outcome, Solver, Var};

    fn solver(count: usize) -> (Solver, Vec<Var>) {
        let mut solver = Solver::new();
        solver.allow_partial_models();
        let vars = (0..count).map(|_| solver.new_var()).collect();
        (solver, vars)
    }

    #[test]
    fn one_decision_for_each_clause_is_enough() {
        let (mut solver, vars) = solver(12);
        for clause in vars.chunks(4) {
            solver.add_clause(&clause.iter().map(|var| var.positive()).collect::<Vec<_>>());
        }
        assert_eq!(solver.solve(&[]), Outcome::Sat);
        assert_eq!(solver.statistics().decisions, 3);
        assert_eq!(vars.iter().filter(|&&var| solver.value(var).is_some()).count(), 3);
        solver.check_invariants();
    }

    #[test]
    fn clauses_of_popped_frames_are_not_covered() {
        let (mut solver, vars) = solver(6);
        solver.add_clause(&[vars[0].positive(), vars[1].positive()]);
        solver.push();
        solver.add_clause(&[vars[2].positive(), vars[3].positive()]);
        solver.push();
        solver.add_clause(&[vars[4].positive(), vars[5].positive()]);
        solver.check_invariants();
        for decisions in [3, 2, 1] {
            let before = solver.statistics().decisions;
            assert_eq!(solver.solve(&[]), Outcome::Sat);
            assert_eq!(solver.statistics().decisions - before, decisions);
            if decisions > 1 {
                solver.pop();
            }
            solver.check_invariants();
            // Otherwise the decisions would still be in place for the next query.
            solver.backtrack_fully();
        }
    }

    #[test]
    fn demanded_variables_have_values() {
        let (mut solver, vars) = solver(2);
        solver.demand_value(vars[1]);
        assert_eq!(solver.solve(&[]), Outcome::Sat);
        assert_eq!(vars.iter().map(|&var| solver.value(var)).collect::<Vec<_>>(), [None, Some(false)]);
    }

    /// If a query negates the literal that made a clause true in an earlier query, another literal makes it true.
    #[test]
    fn partial_models_of_many_queries_make_all_clauses_true() {
        const VARS: usize = 10;
        let (mut solver, vars) = solver(VARS);
        let mut state = 1_u64;
        let mut random = |bound: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % bound
        };
        // By open frames, the permanent clauses first.
        let mut frames: Vec<Vec<Vec<Lit>>> = vec![Vec::new()];
        let (mut partial, mut refuted) = (0, 0);
        for _ in 0..600 {
            let mut lits = |count: usize| -> Vec<Lit> {
                (0..count).map(|_| vars[random(VARS)].lit(random(2) == 0)).collect()
            };
            let (mut clause, assumptions) = (lits(3), lits(2));
            // No tautologies: models may leave their variables open.
            clause.sort_unstable();
            clause.dedup_by_key(|lit| lit.var());
            match random(8) {
                0 if frames.len() < 4 => {
                    solver.push();
                    frames.push(Vec::new());
                }
                1 | 2 if frames.len() > 1 => {
                    solver.pop();
                    frames.pop();
                }
                _ if frames.len() > 1 || frames[0].len() < 15 => {
                    solver.add_clause(&clause);
                    frames.last_mut().expect("permanent clauses stay").push(clause);
                }
                _ => {}
            }
            let mut all = frames.iter().flatten();
            match solver.solve(&assumptions) {
                Outcome::Sat => {
                    let is_true = |lit: &Lit| solver.value(lit.var()) == Some(lit.is_positive());
                    assert!(all.all(|clause| clause.iter().any(is_true)) && assumptions.iter().all(is_true));
                    partial += usize::from(vars.iter().any(|&var| solver.value(var).is_none()));
                }
                outcome => {
                    assert_eq!(outcome, Outcome::Unsat);
                    refuted += 1;
                    let is_model = |bits: usize| {
                        let is_true = |lit: &Lit| (bits >> lit.var().index() & 1 == 1) == lit.is_positive();
                        let mut all = frames.iter().flatten();
                        all.all(|clause| clause.iter().any(is_true)) && assumptions.iter().all(is_true)
                    };
                    assert!(!(0..1 << VARS).any(is_model));
                }
            }
            solver.check_invariants();
        }
        assert!(partial > 100 && refuted > 10, "{partial} partial models, {refuted} refutations");
    }
}
