//! Variables that a projection makes, and eliminates again: the fields of datatypes and the elements of arrays.

use rustc_hash::FxHashMap;
use shofar_logic::{Sort, SortKind, Term, Value};

use super::context::Context;

/// Symbols that live during one projection only, by sort.
#[derive(Default)]
pub(super) struct Fresh {
    by_sort: FxHashMap<Sort, Vec<Term>>,
    /// The number of symbols of each sort that the present projection uses.
    used: FxHashMap<Sort, usize>,
}

impl Fresh {
    /// Called before each projection: all symbols are free again.
    pub(super) fn restart(&mut self) {
        self.used.clear();
    }

    /// A new variable to eliminate with this value. Of a finite simple sort, the value itself: there are finitely many.
    pub(super) fn variable(&mut self, context: &mut Context<'_, '_>, value: Value) -> Term {
        let store = context.store;
        let term = store.value_to_term(&value);
        let sort = store.sort_of(term);
        if matches!(store.sort_kind(sort), SortKind::Bool | SortKind::BitVec(_)) {
            return term;
        }
        let symbols = self.by_sort.entry(sort).or_default();
        let used = self.used.entry(sort).or_default();
        if *used == symbols.len() {
            symbols.push(store.var(store.fresh_symbol("part"), sort));
        }
        let symbol = symbols[*used];
        *used += 1;
        context.add_variable(symbol, value);
        symbol
    }
}
