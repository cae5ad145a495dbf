//! Clauses as blocks of statements: the label of an edge solved for the variables that the block computes.
//!
//! ```text
//! x' = l + 1, l = 2 x, y' > l      given x, wanted x' and y'
//!     havoc y'; assume y' > 2 x; then the values are 2 x + 1 and y'
//! ```
//!
//! - B1: for given values, the block can end with certain wanted values exactly if some values of the locals make the label
//!   true. The guard and the values mention only given and unknown variables.
//!
//! Equations of the label give as many values as [`solve_equations`] finds; it eliminates locals likewise. All other variables
//! are *unknown*: the block havocs them before the guard reads them.

use rustc_hash::FxHashSet;
use shofar_logic::{Substitution, Term, TermStore};

use super::Statement;
use crate::transform::solve_equations;

/// A solved label (B1).
pub(super) struct Block {
    /// The variables that get any values first.
    pub(super) unknown: Vec<Term>,
    /// The condition.
    pub(super) guard: Term,
    /// The values of the wanted variables, in their order.
    pub(super) values: Vec<Term>,
}

impl Block {
    /// Solves a normal label for the wanted variables, which are different ones and none of the given ones.
    pub(super) fn of(store: &TermStore, label: Term, given: &[Term], wanted: &[Term]) -> Self {
        let given: FxHashSet<Term> = given.iter().copied().collect();
        let is_wanted: FxHashSet<Term> = wanted.iter().copied().collect();
        // A wanted variable is defined rather than a local one, so that the block assigns more values.
        let rank = |variable: Term| {
            if given.contains(&variable) { None } else { Some(u32::from(!is_wanted.contains(&variable))) }
        };
        let solved = solve_equations(store, label, rank);
        let mut definitions = Substitution::new();
        for (variable, definition) in solved.definitions {
            definitions.insert(variable, definition);
        }
        let values: Vec<Term> =
            wanted.iter().map(|&variable| definitions.get(variable).unwrap_or(variable)).collect();
        let guard = store.and(&solved.rest);
        let mut read = values.clone();
        read.push(guard);
        let mut unknown = store.free_vars(&read);
        unknown.retain(|variable| !given.contains(variable));
        Block { unknown, guard, values }
    }

    /// Renames variables, all at once.
    pub(super) fn rename(&mut self, store: &TermStore, renaming: &Substitution) {
        for unknown in &mut self.unknown {
            *unknown = renaming.get(*unknown).unwrap_or(*unknown);
        }
        let mut terms = std::mem::take(&mut self.values);
        terms.push(self.guard);
        let mut terms = store.instantiate_all(&terms, renaming);
        self.guard = terms.pop().expect("the guard is there");
        self.values = terms;
    }

    /// The statements up to the guard; empty ones are left out.
    pub(super) fn head(&self) -> Vec<Statement> {
        let mut statements = Vec::new();
        if !self.unknown.is_empty() {
            statements.push(Statement::Havoc(self.unknown.as_slice().into()));
        }
        if self.guard != Term::TRUE {
            statements.push(Statement::Assume(self.guard));
        }
        statements
    }

    /// All statements; the values are assigned to the target's variables.
    pub(super) fn statements(&self, target: &[Term]) -> Vec<Statement> {
        let mut statements = self.head();
        if !target.is_empty() {
            let assignments = target.iter().copied().zip(self.values.iter().copied());
            statements.push(Statement::Assign(assignments.collect()));
        }
        statements
    }
}

#[cfg(test)]
mod tests {
    use shofar_logic::Sort;

    use super::*;

    #[test]
    fn equations_become_values_and_the_rest_is_guessed_and_tested() {
        let store = TermStore::new();
        let [x, l, x1, y1] = ["x", "l", "x'", "y'"].map(|name| store.var(store.symbol(name), Sort::INT));
        let double = store.add(&[x, x]);
        let label =
            store.and(&[store.eq(x1, store.add(&[l, store.int(1)])), store.eq(l, double), store.gt(y1, l)]);
        let block = Block::of(&store, store.normalize(label), &[x], &[x1, y1]);
        assert_eq!(block.unknown, [y1]);
        assert_eq!(block.guard, store.normalize(store.gt(y1, double)));
        assert_eq!(block.values, [store.normalize(store.add(&[double, store.int(1)])), y1]);
    }

    #[test]
    fn given_values_are_compared() {
        let store = TermStore::new();
        let [x, y] = ["x", "y"].map(|name| store.var(store.symbol(name), Sort::INT));
        let label = store.eq(x, y);
        let block = Block::of(&store, store.normalize(label), &[x, y], &[]);
        assert_eq!((block.unknown.len(), block.guard), (0, store.normalize(label)));
    }
}
