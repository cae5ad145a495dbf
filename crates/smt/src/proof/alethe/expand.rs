//! Terms as a checker sees them: fresh symbols are defined at the beginning, and read as their origins.
//!
//! So two literals that differ in the search may be the same to a checker, such as those over a sum and over the name
//! of the sum as a function's argument. Clauses are compared, and resolved, as the checker does it.

use std::cell::RefCell;

use rustc_hash::FxHashMap;
use shofar_logic::{Op, Term, TermStore};

use super::derive::{Literal, negation};
use crate::interpolate::colour::Origins;

/// Replaces fresh symbols by their origins.
pub(super) struct Expander<'p> {
    pub(super) store: &'p TermStore,
    origins: Origins,
    pub(super) memo: RefCell<Memo>,
}

#[derive(Default)]
pub(super) struct Memo {
    expanded: FxHashMap<Term, Term>,
    /// For terms without fresh symbols: how they were first written.
    written: FxHashMap<Term, Term>,
    /// The terms that replace normal terms in images of assertions.
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

    /// The same literal, as first written; `None` for the name of a negation, which a checker reads as a negation.
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
