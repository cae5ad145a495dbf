//! Assumptions and frames.
//!
//! A query's assumptions are its first decisions, each at its own level (Eén & Sörensson, "Temporal Induction by
//! Incremental SAT Solving", BMC 2003). If one of them is false, the query is unsatisfiable, and the core consists of
//! the assumptions that imply this. The trail stays between two queries; the next query undoes only the levels above
//! the longest common prefix of both lists of assumptions. So put the assumptions that change least first.
//!
//! A frame is an activation literal `f`. Clauses added in the frame get the literal `-f`, and each query assumes `f`
//! before the caller's assumptions.
//!
//! - F1: no clause contains an activation literal positively, and activation literals are never decided. Hence a clause
//!   learnt from a frame's clauses contains `-f`, and the clauses of a popped frame constrain nothing.
//! - F2: a contradiction within a frame is found as `-f` at level 0. The solver itself is inconsistent only if the
//!   clauses outside of all frames are. Popping a contradictory frame therefore makes it consistent again. (OpenSMT's
//!   issue 272 is what happens otherwise.)
//!
//! Popped frames are retired in batches. Retiring asserts the unit `-f`, which satisfies all clauses that depend on the
//! frame, and collects them. Then no clause contains the variable any more, and a new frame can reuse it.

use rustc_hash::FxHashSet;

use super::literal::{Lit, Var};
use super::theory::Theory;
use super::trail::Antecedent;
use super::{Next, Solver};

/// The greatest number of popped frames waiting to be retired.
const MAX_RETIRED: usize = 256;

/// The stack of frames.
#[derive(Default)]
pub(super) struct Frames {
    /// The activation literals of the open frames, the outermost first.
    open: Vec<Lit>,
    /// The activation literals of popped frames whose clauses still exist.
    popped: Vec<Lit>,
    /// Variables that no clause contains.
    unused: Vec<Var>,
}

impl<T: Theory> Solver<T> {
    /// Opens a frame: clauses added from now on hold until the matching [`pop`](Self::pop).
    pub fn push(&mut self) {
        let var = self.frames.unused.pop().unwrap_or_else(|| self.add_var(false, false));
        self.frames.open.push(var.positive());
    }

    /// Removes the clauses added since the matching [`push`](Self::push). Variables stay.
    ///
    /// # Panics
    ///
    /// If no frame is open.
    pub fn pop(&mut self) {
        let frame = self.frames.open.pop().expect("a frame is open");
        self.frames.popped.push(frame);
        self.cover.pop_to(self.frames.open.len());
        if self.consistent && self.assumptions.first() == Some(&frame) {
            // The trail has nothing in common with the next query's. Once the literal is false for good, the frame's
            // clauses are true, and propagation skips them.
            self.backtrack(0);
            if self.trail.value(frame) == 0 {
                self.trail.assign(!frame, Antecedent::None);
            }
        }
        let popped = self.frames.popped.len();
        if popped > MAX_RETIRED || popped > 16 && popped * 4 > self.trail.num_vars() {
            self.retire_frames();
        }
    }

    /// The number of open frames.
    pub fn depth(&self) -> usize {
        self.frames.open.len()
    }

    /// The variables of activation literals of open, popped and retired frames.
    pub(super) fn frame_variables(&self) -> FxHashSet<Var> {
        let Frames { open, popped, unused } = &self.frames;
        open.iter().chain(popped).map(|lit| lit.var()).chain(unused.iter().copied()).collect()
    }

    /// The number of open frames up to and including the one with this literal, or `None` if it is not open.
    pub(super) fn frame_depth(&self, frame: Lit) -> Option<usize> {
        self.frames.open.iter().position(|&open| open == frame).map(|index| index + 1)
    }

    /// The literal added to new clauses, so that they belong to the innermost frame.
    pub(super) fn guard(&self) -> Option<Lit> {
        self.frames.open.last().map(|&frame| !frame)
    }

    /// Deletes the clauses of popped frames and frees their variables.
    pub(super) fn retire_frames(&mut self) {
        if !self.consistent || self.frames.popped.is_empty() {
            return;
        }
        self.backtrack(0);
        for &frame in &self.frames.popped {
            if self.trail.value(frame) == 0 {
                self.trail.assign(!frame, Antecedent::None);
            }
        }
        // Propagate pending units first: afterwards the trail must not mention the variables.
        if !self.settle() {
            return;
        }
        self.mark_satisfied();
        self.collect();
        let vars: Vec<Var> = self.frames.popped.drain(..).map(Lit::var).collect();
        self.trail.forget(&vars, &mut self.asserted);
        self.agreed = self.asserted;
        self.log_forgotten(&vars);
        self.cleaned = self.trail.lits().len();
        self.frames.unused.extend(vars);
    }

    /// Sets the assumptions of a query and undoes the levels that disagree with them.
    pub(super) fn assume(&mut self, assumptions: &[Lit]) {
        let wanted = self.frames.open.iter().chain(assumptions);
        let common = self.assumptions.iter().zip(wanted).take_while(|(old, new)| old == new).count();
        let count = self.frames.open.len() + assumptions.len();
        // If the assumptions are unchanged, the decisions above them may stay as well.
        if common < count || common < self.assumptions.len() {
            self.backtrack(common as u32);
            self.assumptions.clear();
            self.assumptions.extend(self.frames.open.iter().chain(assumptions));
        }
        self.statistics.kept_assumptions += u64::from(self.trail.level().min(common as u32));
    }

    /// Whether some assumption has no level yet.
    #[inline]
    pub(super) fn is_assuming(&self) -> bool {
        (self.trail.level() as usize) < self.assumptions.len()
    }

    /// Selects the next action at a fixpoint: the next assumption, or a decision.
    pub(super) fn next_decision(&mut self) -> Next {
        while let Some(&assumption) = self.assumptions.get(self.trail.level() as usize) {
            match self.trail.value(assumption) {
                1 => self.trail.push_level(),
                0 => return Next::Assume(assumption),
                _ => return Next::Failed(assumption),
            }
        }
        let decision = if self.cover.is_active() {
            self.next_covering()
        } else {
            let trail = &self.trail;
            let var = self.order.pop(|var| trail.value(var.positive()) == 0);
            var.map(|var| var.lit(self.preferred_phase(var)))
        };
        decision.map_or(Next::Complete, Next::Decide)
    }

    /// The value to try for an open variable: the theory's suggestion, or the last value.
    pub(super) fn preferred_phase(&mut self, var: Var) -> bool {
        let suggestion =
            if T::is_active() && self.is_atom[var.index()] { self.theory.suggest_phase(var) } else { None };
        suggestion.unwrap_or_else(|| self.order.phase(var))
    }

    /// Finds the caller's assumptions that made `failed` false.
    pub(super) fn find_core(&mut self, failed: Lit) {
        let mut core = std::mem::take(&mut self.core);
        self.analyze_final(failed, &mut core);
        // A frame's literal is never the caller's: its variable is private to the solver.
        let frames: FxHashSet<Lit> = self.frames.open.iter().copied().collect();
        core.retain(|lit| !frames.contains(lit));
        self.core = core;
    }

    /// F1.
    pub(super) fn check_frames(&self) {
        for frame in self.frames.open.iter().chain(&self.frames.popped) {
            assert!(!self.order.is_eligible(frame.var()), "F1: {frame:?} would be decided");
            let mut clauses = self.arena.iter();
            assert!(
                !clauses.any(|clause| self.arena.lits(clause).any(|lit| lit == *frame)),
                "F1: {frame:?} occurs"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::sat::{Outcome, Solver, Var};

    #[test]
    fn popping_a_contradictory_frame_restores_consistency() {
        let mut solver = Solver::new();
        let x = solver.new_var();
        solver.add_clause(&[x.positive()]);
        solver.push();
        solver.add_clause(&[]);
        assert_eq!(solver.solve(&[]), Outcome::Unsat);
        assert!(solver.core().is_empty() && solver.is_consistent());
        solver.pop();
        assert_eq!(solver.solve(&[]), Outcome::Sat);
        solver.push();
        solver.push();
        solver.add_clause(&[x.negative()]);
        assert_eq!(solver.solve(&[]), Outcome::Unsat);
        solver.pop();
        assert_eq!(solver.solve(&[]), Outcome::Sat);
        solver.pop();
        assert_eq!(solver.solve(&[]), Outcome::Sat);
        assert_eq!(solver.solve(&[x.negative()]), Outcome::Unsat);
    }

    #[test]
    fn a_contradiction_below_all_frames_is_final() {
        let mut solver = Solver::new();
        let x = solver.new_var();
        solver.add_clause(&[x.positive()]);
        solver.add_clause(&[x.negative()]);
        solver.push();
        assert_eq!(solver.solve(&[]), Outcome::Unsat);
        solver.pop();
        assert_eq!(solver.solve(&[]), Outcome::Unsat);
        assert!(!solver.is_consistent());
    }

    #[test]
    fn common_prefixes_of_assumptions_stay_on_the_trail() {
        let mut solver = Solver::new();
        let vars: Vec<Var> = (0..50).map(|_| solver.new_var()).collect();
        let mut assumptions: Vec<_> = vars.iter().map(|var| var.positive()).collect();
        assert_eq!(solver.solve(&assumptions), Outcome::Sat);
        let before = solver.statistics().propagations;
        assumptions[49] = !assumptions[49];
        assert_eq!(solver.solve(&assumptions), Outcome::Sat);
        assert_eq!(solver.statistics().propagations, before + 1);
        assert_eq!(solver.statistics().kept_assumptions, 49);
        assert_eq!(solver.value(vars[49]), Some(false));
    }

    #[test]
    fn a_hundred_thousand_frames_need_few_variables_and_clauses() {
        let mut solver = Solver::new();
        let vars: Vec<Var> = (0..8).map(|_| solver.new_var()).collect();
        for round in 0..100_000_usize {
            solver.push();
            solver.add_clause(&[vars[round % 8].lit(round % 3 == 0)]);
            solver.add_clause(&[vars[round % 7].negative(), vars[(round + 1) % 8].positive()]);
            assert_ne!(solver.solve(&[]), Outcome::Unsat);
            solver.pop();
        }
        assert!(solver.num_vars() < 64, "{} variables", solver.num_vars());
        assert!(solver.arena.iter().count() < 256);
        solver.check_invariants();
    }

    #[test]
    fn frames_do_not_appear_in_cores() {
        let mut solver = Solver::new();
        let [x, y] = [(); 2].map(|()| solver.new_var());
        solver.push();
        solver.add_clause(&[x.negative(), y.negative()]);
        assert_eq!(solver.solve(&[x.positive(), y.positive()]), Outcome::Unsat);
        assert_eq!(solver.core().len(), 2);
        solver.pop();
        assert_eq!(solver.solve(&[x.positive(), y.positive()]), Outcome::Sat);
    }
}
