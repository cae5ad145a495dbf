//! The trail: the current partial assignment in the order in which it was made.
//!
//! - T1: the literals on the trail are the true ones, each once, and their levels do not decrease.
//! - T2: level `k > 0` starts with a decision or an assumption. The level of an assumption that was already true is
//!   empty, or it is the last of all assumptions and starts with the theory's propagations. Every other literal above
//!   level 0 has an antecedent, whose other literals are false and come earlier.
//! - T3: literals from `head` on are not yet propagated, and they all belong to the current level.
//!
//! At level 0 antecedents may be dropped: nothing is ever resolved with them, and the proof log makes units of them.

use super::clause::ClauseRef;
use super::literal::{Lit, Var};

/// The reason for a literal on the trail.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Antecedent {
    /// It was decided or assumed, or holds at level 0.
    None,
    /// The other literals of the clause are false.
    Clause(ClauseRef),
    /// The theory propagated it and can explain it from the token.
    Theory(u32),
}

/// The current assignment.
#[derive(Default)]
pub(super) struct Trail {
    /// By literals: one for true, minus one for false, zero for unassigned.
    values: Vec<i8>,
    /// By variables; meaningful for assigned ones.
    places: Vec<Place>,
    lits: Vec<Lit>,
    /// The length of the trail at the start of each level above 0.
    starts: Vec<u32>,
    /// The first literal that is not yet propagated (T3).
    pub(super) head: usize,
}

#[derive(Clone, Copy)]
struct Place {
    antecedent: Antecedent,
    level: u32,
}

impl Trail {
    /// Makes room for more variables.
    pub(super) fn reserve(&mut self, vars: usize) {
        self.values.reserve(2 * vars);
        self.places.reserve(vars);
        self.lits.reserve(vars);
    }

    /// Adds the next variable.
    pub(super) fn add_var(&mut self) -> Var {
        let var = Var::from_index(self.places.len());
        self.values.extend([0, 0]);
        self.places.push(Place { antecedent: Antecedent::None, level: 0 });
        var
    }

    /// The number of variables.
    #[inline]
    pub(super) fn num_vars(&self) -> usize {
        self.places.len()
    }

    /// One if the literal is true, minus one if it is false, zero if it is unassigned.
    #[inline]
    pub(super) fn value(&self, lit: Lit) -> i8 {
        self.values[lit.index()]
    }

    /// All values by literals.
    #[inline]
    pub(super) fn values(&self) -> &[i8] {
        &self.values
    }

    /// The level at which an assigned variable got its value.
    #[inline]
    pub(super) fn level_of(&self, var: Var) -> u32 {
        self.places[var.index()].level
    }

    /// The reason for the value of an assigned variable.
    #[inline]
    pub(super) fn antecedent(&self, var: Var) -> Antecedent {
        self.places[var.index()].antecedent
    }

    /// Replaces the antecedent by an equivalent one.
    pub(super) fn set_antecedent(&mut self, var: Var, antecedent: Antecedent) {
        self.places[var.index()].antecedent = antecedent;
    }

    /// Whether the clause is the antecedent of the literal and must not be deleted.
    #[inline]
    pub(super) fn is_antecedent_of(&self, clause: ClauseRef, lit: Lit) -> bool {
        self.value(lit) > 0 && self.antecedent(lit.var()) == Antecedent::Clause(clause)
    }

    /// Whether the literal has been true, or false, since level 0.
    #[inline]
    pub(super) fn is_fixed(&self, lit: Lit) -> bool {
        self.value(lit) != 0 && self.level_of(lit.var()) == 0
    }

    /// The current level.
    #[inline]
    pub(super) fn level(&self) -> u32 {
        self.starts.len() as u32
    }

    /// The true literals in the order of their assignment.
    #[inline]
    pub(super) fn lits(&self) -> &[Lit] {
        &self.lits
    }

    /// The decision of the level after this one, which is open and not empty.
    pub(super) fn decision_above(&self, level: u32) -> Lit {
        self.lits[self.starts[level as usize] as usize]
    }

    /// The number of literals at level 0.
    pub(super) fn num_fixed(&self) -> usize {
        self.starts.first().map_or(self.lits.len(), |&start| start as usize)
    }

    /// Opens a new level.
    pub(super) fn push_level(&mut self) {
        debug_assert_eq!(self.head, self.lits.len(), "T3");
        self.starts.push(self.lits.len() as u32);
    }

    /// Makes an unassigned literal true at the current level.
    #[inline]
    pub(super) fn assign(&mut self, lit: Lit, antecedent: Antecedent) {
        debug_assert_eq!(self.value(lit), 0);
        self.values[lit.index()] = 1;
        self.values[(!lit).index()] = -1;
        self.places[lit.var().index()] = Place { antecedent, level: self.level() };
        self.lits.push(lit);
    }

    /// Undoes all levels above `level` and reports the undone literals, the latest first.
    pub(super) fn pop_to(&mut self, level: u32, mut undone: impl FnMut(Lit)) {
        debug_assert!(level < self.level());
        let start = self.starts[level as usize] as usize;
        for &lit in self.lits[start..].iter().rev() {
            self.values[lit.index()] = 0;
            self.values[(!lit).index()] = 0;
            undone(lit);
        }
        self.lits.truncate(start);
        self.starts.truncate(level as usize);
        self.head = self.head.min(start);
    }

    /// Unassigns variables that are fixed at level 0. This is sound only for variables that no clause contains. The
    /// trail must be at level 0 and propagated. `mark`, a position on the trail, moves along with the literals before
    /// it.
    pub(super) fn forget(&mut self, vars: &[Var], mark: &mut usize) {
        debug_assert!(self.level() == 0 && self.head == self.lits.len());
        for var in vars {
            self.values[var.positive().index()] = 0;
            self.values[var.negative().index()] = 0;
        }
        let values = &self.values;
        *mark -= self.lits[..*mark].iter().filter(|lit| values[lit.index()] == 0).count();
        self.lits.retain(|lit| values[lit.index()] != 0);
        self.head = self.lits.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_taken_back_in_reverse_order() {
        let mut trail = Trail::default();
        let vars: Vec<Var> = (0..4).map(|_| trail.add_var()).collect();
        trail.assign(vars[0].positive(), Antecedent::None);
        trail.head = 1;
        trail.push_level();
        trail.assign(vars[1].negative(), Antecedent::None);
        trail.assign(vars[2].positive(), Antecedent::Theory(7));
        trail.head = 3;
        trail.push_level();
        trail.assign(vars[3].positive(), Antecedent::None);
        assert_eq!(trail.value(vars[1].positive()), -1);
        assert_eq!((trail.level_of(vars[2]), trail.antecedent(vars[2])), (1, Antecedent::Theory(7)));
        let mut undone = Vec::new();
        trail.pop_to(0, |lit| undone.push(lit));
        assert_eq!(undone, [vars[3].positive(), vars[2].positive(), vars[1].negative()]);
        assert_eq!((trail.level(), trail.head, trail.lits().len()), (0, 1, 1));
        assert!(trail.is_fixed(vars[0].negative()) && !trail.is_fixed(vars[1].positive()));
    }
}
