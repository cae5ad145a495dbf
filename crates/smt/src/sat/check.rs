//! Checks the numbered invariants of this folder. Slow: for tests and debugging.

use super::Solver;
use super::literal::{Lit, Var};
use super::theory::Theory;
use super::trail::Antecedent;

impl<T: Theory> Solver<T> {
    /// Checks all numbered invariants of the solver and panics if one is violated. Takes time in the size of all
    /// clauses; for tests.
    pub fn check_invariants(&self) {
        self.check_trail();
        self.check_watches();
        self.check_frames();
        self.check_cover();
        self.check_late();
        self.check_log();
        let trail = &self.trail;
        self.order.check_invariants(|var| trail.value(var.positive()) == 0);
    }

    /// T1 to T3.
    fn check_trail(&self) {
        let trail = &self.trail;
        let mut place = vec![usize::MAX; trail.num_vars()];
        let mut level = 0;
        for (index, &lit) in trail.lits().iter().enumerate() {
            assert!(trail.value(lit) == 1 && trail.value(!lit) == -1, "T1: {lit:?} is not true");
            assert_eq!(place[lit.var().index()], usize::MAX, "T1: {lit:?} twice");
            assert!(trail.level_of(lit.var()) >= level, "T1: the level decreases at {lit:?}");
            place[lit.var().index()] = index;
            let starts_level = trail.level_of(lit.var()) > level;
            level = trail.level_of(lit.var());
            assert!(index < trail.head || level == trail.level(), "T3: {lit:?} was not propagated");
            if level == 0 {
                continue;
            }
            match trail.antecedent(lit.var()) {
                Antecedent::None => assert!(starts_level, "T2: {lit:?} is within a level"),
                Antecedent::Theory(_) => {
                    let is_assumed = level as usize == self.assumptions.len();
                    assert!(!starts_level || is_assumed, "T2: {lit:?} starts a level");
                }
                Antecedent::Clause(clause) => {
                    assert!(!self.arena.is_garbage(clause), "T2: the antecedent of {lit:?} was deleted");
                    assert!(self.arena.lits(clause).any(|other| other == lit), "T2: {lit:?} is not implied");
                    for other in self.arena.lits(clause).filter(|&other| other != lit) {
                        assert!(trail.value(other) < 0, "T2: {other:?} is not false");
                        assert!(place[other.var().index()] < index, "T2: {other:?} is not before {lit:?}");
                    }
                }
            }
        }
        let assigned = (0..trail.num_vars()).filter(|&var| trail.value(Var::from_index(var).positive()) != 0);
        assert_eq!(assigned.count(), trail.lits().len(), "T1");
    }

    /// W1, W2, B1 and B2.
    fn check_watches(&self) {
        self.watches.check_blocks();
        let trail = &self.trail;
        let mut propagated = vec![false; 2 * trail.num_vars()];
        for &lit in &trail.lits()[..trail.head] {
            propagated[(!lit).index()] = true;
        }
        let mut watches = 0;
        let mut clauses = 0;
        for clause in self.arena.iter().filter(|clause| !self.analysis.explained.contains(clause)) {
            clauses += 1;
            let pair = [self.arena.lit(clause, 0), self.arena.lit(clause, 1)];
            for (lit, other) in [(pair[0], pair[1]), (pair[1], pair[0])] {
                let mut list = self.watches.of(lit).iter().filter(|watch| watch.clause() == clause);
                let watch = list.next().expect("W1: a clause is not watched");
                assert!(list.next().is_none(), "W1: a clause is watched twice");
                assert_eq!(watch.is_binary(), self.arena.size(clause) == 2);
                assert!(!watch.is_binary() || watch.blocker == other);
                assert!(
                    self.arena.lits(clause).any(|lit| lit == watch.blocker) || trail.is_fixed(watch.blocker)
                );
                let holds = |other: Lit| {
                    trail.value(other) > 0 && trail.level_of(other.var()) <= trail.level_of(lit.var())
                };
                let is_late = trail.is_antecedent_of(clause, other) && self.is_noted_late(other);
                let is_excused = !self.consistent || !propagated[lit.index()] || is_late;
                assert!(is_excused || holds(other) || holds(watch.blocker), "W2: {lit:?} is false");
            }
        }
        for code in 0..2 * trail.num_vars() {
            watches += self.watches.of(Lit::from_code(code as u32)).len();
        }
        assert_eq!(watches, 2 * clauses, "W1: literals watch what they should not");
    }
}
