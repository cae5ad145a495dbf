//! What a checker sees: fresh symbols are defined in front, and read as what they stand for.
//!
//! So two literals that are different to the search may be the same to a checker, as those over a sum and over the name that
//! it has as an argument of a function. Clauses are compared, and resolved, as the checker does it.

use std::cell::RefCell;

use rustc_hash::FxHashMap;
use shofar_logic::{Op, Term, TermStore};

use super::derive::{Literal, negation};
use crate::interpolate::colour::Origins;

/// Reads fresh symbols as what they stand for.
pub(super) struct Expander<'p> {
    pub(super) store: &'p TermStore,
    origins: Origins,
    pub(super) memo: RefCell<Memo>,
}

#[derive(Default)]
pub(super) struct Memo {
    expanded: FxHashMap<Term, Term>,
    /// For terms without fresh symbols, how they were written first.
    written: FxHashMap<Term, Term>,
    /// What images of assertions have in the place of normal terms.
    pub(super) values: FxHashMap<Term, Term>,
}

impl<'p> Expander<'p> {
    pub(super) fn new(store: &'p TermStore, origins: &[(Term, Term)]) -> Self {
        Expander { store, origins: Origins::new(origins), memo: RefCell::default() }
    }

    /// The term without fresh symbols.
    pub(super) fn expand(&self, term: Term) -> Term {
        self.origins.expand(self.store, term, &mut self.memo.borrow_mut().expanded)
    }

    /// The same literal, as it was written first; nothing for the name of a negation, which a checker reads as one.
    pub(super) fn canonical(&self, (atom, holds): Literal) -> Option<Literal> {
        let expanded = self.expand(atom);
        if self.store.op(expanded) == Op::Not {
            return None;
        }
        Some((*self.memo.borrow_mut().written.entry(expanded).or_insert(atom), holds))
    }

    /// The formula of a literal as a checker sees it.
    pub(super) fn seen(&self, (atom, holds): Literal) -> Term {
        let atom = self.expand(atom);
        if holds { atom } else { negation(self.store, atom) }
    }
}
