//! Takes in clauses at any level, and the theory's answers.
//!
//! A clause may arrive while the trail is high: between two queries that share assumptions, or as a lemma in the middle
//! of the search. Its two best literals determine one of four cases. True literals are best (early ones first), then
//! unassigned, then false ones (late ones first). If the second is false since level `k`, then all literals except the
//! first have been false since `k`.
//!
//! ```text
//! the second is not false                 open: watch both
//! the first is true since k or earlier    satisfied as long as it matters: watch both
//! the first is false since k too          falsified: jump back to k, this is a conflict
//! otherwise                               unit since k: jump back to k, assert the first
//! ```
//!
//! So W2 and T2 hold as if the clause had always been there. Clauses of one literal hold at level 0.

use super::Poll;
use super::clause::ClauseRef;
use super::literal::Lit;
use super::log::Origin;
use super::propagate::Propagation;
use super::theory::{Answers, Effort, Lemma, LemmaKind, Theory};
use super::trail::Antecedent;
use super::{KEPT_LEMMA, Solver};

/// The result of taking in a clause.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Intake {
    /// The clause is watched, was not needed, or asserted its literal.
    Done,
    /// The clause is watched and false, and at least two of its literals are of the current level.
    Conflict(ClauseRef),
    /// The clause is false at level 0.
    Refuted,
}

impl<T: Theory> Solver<T> {
    /// Takes in the clause in `self.clause`; see the module documentation. A clause with a glue is redundant.
    pub(super) fn take_in(&mut self, glue: Option<u32>, origin: Origin) -> Intake {
        if !self.simplify_clause(origin) {
            return Intake::Done;
        }
        match self.clause[..] {
            [] => {
                self.consistent = false;
                Intake::Refuted
            }
            [unit] => {
                self.backtrack(0);
                self.trail.assign(unit, Antecedent::None);
                self.log_unit(unit);
                Intake::Done
            }
            _ => self.take_in_long(glue),
        }
    }

    /// Removes literals that occur twice or are false at level 0. Returns `false` if the clause is true at level 0 or a
    /// tautology.
    fn simplify_clause(&mut self, origin: Origin) -> bool {
        let Self { clause, trail, .. } = self;
        clause.sort_unstable();
        clause.dedup();
        if clause.windows(2).any(|pair| pair[0] == !pair[1]) {
            return false;
        }
        if clause.iter().any(|&lit| trail.value(lit) > 0 && trail.is_fixed(lit)) {
            return false;
        }
        self.log_intake(origin);
        let Self { clause, trail, .. } = self;
        clause.retain(|&lit| !trail.is_fixed(lit));
        true
    }

    fn take_in_long(&mut self, glue: Option<u32>) -> Intake {
        self.select_watches();
        let (first, second) = (self.clause[0], self.clause[1]);
        let [first_level, second_level] = [first, second].map(|lit| self.trail.level_of(lit.var()));
        let first_value = self.trail.value(first);
        let clause = self.arena.alloc(&self.clause, glue);
        self.log_clause(clause);
        if glue.is_some() {
            self.redundant.push(clause);
            self.arena.set_used(clause, 2);
        } else {
            let is_framed = self.guard().is_some_and(|guard| self.clause.contains(&guard));
            let frame = is_framed.then(|| self.depth());
            self.cover.add(clause, &self.clause, frame);
        }
        self.watches.attach(&self.arena, clause);
        if self.trail.value(second) >= 0 || first_value > 0 && first_level <= second_level {
            return Intake::Done;
        }
        self.backtrack(second_level);
        // If the first literal is of a higher level, it is open now, unless it was late.
        match self.trail.value(first) {
            0 => self.trail.assign(first, Antecedent::Clause(clause)),
            1 => {}
            _ => return Intake::Conflict(clause),
        }
        Intake::Done
    }

    /// Moves the two best literals to the front.
    fn select_watches(&mut self) {
        let Self { clause, trail, .. } = self;
        let rank = |lit: Lit| {
            let level = trail.level_of(lit.var());
            match trail.value(lit) {
                1 => (2, u32::MAX - level),
                0 => (1, 0),
                _ => (0, level),
            }
        };
        for place in 0..2 {
            let mut best = place;
            // The first of equals, so that only the order of the literals breaks ties.
            for index in place + 1..clause.len() {
                if rank(clause[index]) > rank(clause[best]) {
                    best = index;
                }
            }
            clause.swap(place, best);
        }
    }

    /// Takes in the theory's answers from outside of a search. Most fields are usually empty.
    pub(super) fn take_in_extension(&mut self) {
        for index in 0..self.extension.new_vars.len() {
            self.add_var(true, self.extension.new_vars[index]);
        }
        for &(var, decide) in &self.extension.decisions {
            self.order.set_eligible(var, decide);
        }
        for index in 0..self.extension.atoms.len() {
            self.make_atom(self.extension.atoms[index]);
        }
        for index in 0..self.extension.demands.len() {
            self.demand_value(self.extension.demands[index]);
        }
        let mut start = 0;
        for index in 0..self.extension.lemmas.len() {
            let Lemma { end, origin, .. } = self.extension.lemmas[index];
            self.clause.clear();
            self.clause.extend_from_slice(&self.extension.lits[start..end]);
            self.take_in_outside(origin);
            start = end;
        }
        self.extension.clear();
    }

    /// Takes in the clause in `self.clause` outside of a search.
    pub(super) fn take_in_outside(&mut self, origin: Origin) {
        if !self.consistent {
            return;
        }
        if let Intake::Conflict(_) = self.take_in(None, origin) {
            // Both watched literals are of the current level: one level below, the clause is open.
            self.backtrack(self.trail.level() - 1);
        }
    }

    /// Asserts new true atoms to the theory and checks them. Returns whether the search must continue, because there is
    /// something to propagate, to take in, or to decide.
    ///
    /// Before: clauses are propagated, and all lemmas taken in.
    pub(super) fn consult_theory(&mut self, effort: Effort, poll: &Poll<'_>) -> bool {
        debug_assert!(self.inbox.lemmas.is_empty());
        let any = self.assert_to_theory();
        if !std::mem::take(&mut self.unchecked) && !any && effort == Effort::Fast {
            return false;
        }
        self.statistics.theory_checks += 1;
        self.inbox.propagations.clear();
        self.inbox.new_vars.clear();
        self.inbox.decisions.clear();
        self.inbox.first_new = self.trail.num_vars();
        self.inbox.gave_up = false;
        self.inbox.postponed = false;
        self.theory.check(effort, &mut Answers { inbox: &mut self.inbox, poll, mark: 0 });
        let new_vars = std::mem::take(&mut self.inbox.new_vars);
        for &is_atom in &new_vars {
            self.add_var(true, is_atom);
        }
        let mut grown = !new_vars.is_empty();
        for &(var, decide) in &self.inbox.decisions {
            self.order.set_eligible(var, decide);
            grown |= decide;
        }
        self.inbox.new_vars = new_vars;
        let in_conflict = self.inbox.has_conflict();
        debug_assert!(in_conflict || !self.clashed, "a clash must be followed by a conflict");
        let propagated = !in_conflict && self.take_propagations();
        grown || propagated || !self.inbox.lemmas.is_empty()
    }

    /// Asserts new true atoms to the theory without a check. Returns `false` on a clash; then the theory must be
    /// consulted.
    pub(super) fn inform_theory(&mut self) -> bool {
        let any = self.assert_to_theory();
        self.unchecked |= any;
        !self.clashed
    }

    /// Whether the theory's current model satisfies all new true atoms, so that a check can be skipped.
    pub(super) fn theory_agrees(&mut self) -> bool {
        let Self { trail, is_atom, theory, agreed, .. } = self;
        let news = &trail.lits()[*agreed..];
        let agrees = news.iter().all(|lit| !is_atom[lit.var().index()] || theory.agrees(*lit));
        if agrees {
            *agreed = trail.lits().len();
        }
        agrees
    }

    /// Asserts the atoms that became true, at their levels; returns whether there were any. Stops at a clash.
    fn assert_to_theory(&mut self) -> bool {
        let mut any = self.clashed;
        while !self.clashed
            && let Some(&lit) = self.trail.lits().get(self.asserted)
        {
            self.asserted += 1;
            if self.is_atom[lit.var().index()] {
                self.open_theory_levels(self.trail.level_of(lit.var()));
                any = true;
                self.clashed = self.theory.assert(lit).is_err();
            }
        }
        self.open_theory_levels(self.trail.level());
        self.agreed = self.asserted;
        any
    }

    fn open_theory_levels(&mut self, level: u32) {
        while self.theory_level < level {
            self.theory.push_level();
            self.theory_level += 1;
        }
    }

    /// Puts the theory's propagations onto the trail. A propagation that is false becomes a clause to be taken in.
    fn take_propagations(&mut self) -> bool {
        let mut any = false;
        for index in 0..self.inbox.propagations.len() {
            let (lit, token) = self.inbox.propagations[index];
            match self.trail.value(lit) {
                0 => {
                    any = true;
                    self.statistics.theory_propagations += 1;
                    let is_fixed = self.trail.level() == 0;
                    if is_fixed && self.logs_proofs() {
                        let certificate = self.explain(lit, token);
                        self.log_fixed_by_theory(certificate);
                    }
                    let antecedent = if is_fixed { Antecedent::None } else { Antecedent::Theory(token) };
                    self.trail.assign(lit, antecedent);
                }
                1 => {}
                _ => {
                    // The other propagations belong to a level that this conflict undoes.
                    let certificate = self.explain(lit, token);
                    self.inbox.lits.extend_from_slice(&self.analysis.explanation);
                    self.inbox.end_lemma(LemmaKind::Conflict, Origin::Lemma(certificate));
                    return true;
                }
            }
        }
        any
    }

    /// Takes in the pending lemmas. Returns the event that stops propagation, if any; the remaining lemmas then stay
    /// pending.
    pub(super) fn take_in_lemmas(&mut self) -> Option<Propagation> {
        while let Some(lemma) = self.inbox.lemmas.get(self.next_lemma) {
            let start = self.next_lemma.checked_sub(1).map_or(0, |before| self.inbox.lemmas[before].end);
            self.clause.clear();
            self.clause.extend_from_slice(&self.inbox.lits[start..lemma.end]);
            let origin = lemma.origin;
            self.next_lemma += 1;
            let size = self.clause.len() as u32;
            let glue = match lemma.kind {
                LemmaKind::Conflict => {
                    self.statistics.theory_conflicts += 1;
                    size
                }
                LemmaKind::Lemma => {
                    self.statistics.theory_lemmas += 1;
                    if size <= KEPT_LEMMA { 0 } else { size }
                }
            };
            match self.take_in(Some(glue), origin) {
                Intake::Done => {}
                Intake::Conflict(clause) => return Some(Propagation::Conflict(clause)),
                Intake::Refuted => return Some(Propagation::Refuted),
            }
        }
        self.inbox.lemmas.clear();
        self.inbox.lits.clear();
        self.next_lemma = 0;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sat::{Outcome, Var};

    /// Four variables, assumed true one after the other, so that variable `i` is at level `i + 1`.
    fn stairs() -> (Solver, Vec<Var>) {
        let mut solver = Solver::new();
        let vars: Vec<Var> = (0..4).map(|_| solver.new_var()).collect();
        let assumptions: Vec<Lit> = vars.iter().map(|var| var.positive()).collect();
        assert_eq!(solver.solve(&assumptions), Outcome::Sat);
        assert_eq!(solver.trail.level(), 4);
        (solver, vars)
    }

    fn take_in(solver: &mut Solver, lits: &[Lit]) -> Intake {
        solver.clause = lits.to_vec();
        let intake = solver.take_in(None, Origin::Definition);
        if !matches!(intake, Intake::Conflict(_)) {
            solver.check_invariants();
        }
        intake
    }

    #[test]
    fn open_and_satisfied_clauses_leave_the_trail_alone() {
        let (mut solver, vars) = stairs();
        let fresh = solver.new_var();
        let other = solver.new_var();
        assert_eq!(
            take_in(&mut solver, &[vars[3].negative(), fresh.positive(), other.positive()]),
            Intake::Done
        );
        assert_eq!(take_in(&mut solver, &[vars[1].positive(), vars[3].negative()]), Intake::Done);
        assert_eq!(solver.trail.level(), 4);
    }

    #[test]
    fn a_unit_clause_is_asserted_where_it_became_unit() {
        let (mut solver, vars) = stairs();
        let fresh = solver.new_var();
        take_in(&mut solver, &[vars[0].negative(), vars[1].negative(), fresh.positive()]);
        assert_eq!((solver.trail.level(), solver.trail.level_of(fresh)), (2, 2));
    }

    #[test]
    fn a_literal_that_is_true_too_late_is_asserted_earlier() {
        let (mut solver, vars) = stairs();
        take_in(&mut solver, &[vars[0].negative(), vars[3].positive()]);
        assert_eq!((solver.trail.level(), solver.trail.level_of(vars[3])), (1, 1));
    }

    #[test]
    fn a_falsified_clause_with_one_latest_literal_is_unit_below() {
        let (mut solver, vars) = stairs();
        take_in(&mut solver, &[vars[0].negative(), vars[1].negative(), vars[3].negative()]);
        assert_eq!((solver.trail.level(), solver.trail.value(vars[3].positive())), (2, -1));
    }

    #[test]
    fn a_falsified_clause_with_two_latest_literals_is_a_conflict() {
        let mut solver = Solver::new();
        let [x, y, z] = [(); 3].map(|()| solver.new_var());
        solver.add_clause(&[x.negative(), y.positive()]);
        assert_eq!(solver.solve(&[x.positive(), z.positive()]), Outcome::Sat);
        assert!(matches!(take_in(&mut solver, &[x.negative(), y.negative()]), Intake::Conflict(_)));
        assert_eq!(solver.trail.level(), 1);
    }

    #[test]
    fn tautologies_repetitions_and_fixed_literals_are_removed() {
        let mut solver = Solver::new();
        let [x, y] = [(); 2].map(|()| solver.new_var());
        take_in(&mut solver, &[x.positive(), y.positive(), x.negative()]);
        assert_eq!(solver.arena.iter().count(), 0);
        take_in(&mut solver, &[x.positive(), x.positive()]);
        assert_eq!(solver.fixed(x), Some(true));
        take_in(&mut solver, &[x.negative(), y.positive()]);
        assert_eq!(solver.fixed(y), Some(true));
        assert_eq!(take_in(&mut solver, &[x.negative(), y.negative()]), Intake::Refuted);
        assert!(!solver.is_consistent());
    }
}
