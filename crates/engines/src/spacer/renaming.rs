//! Renames formulas between a predicate's variables and those of its occurrences in clauses, with a cache.

use rustc_hash::FxHashMap;
use shofar_horn::HornGraph;
use shofar_horn::graph::{NodeId, rename};
use shofar_logic::{Term, TermStore};

/// The size at which the cache is cleared.
const MOST_REMEMBERED: usize = 1 << 20;

/// An occurrence of a predicate in a clause.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Place {
    /// The n-th occurrence in the body.
    Source(usize),
    /// In the head.
    Target,
}

/// Renames the variables of predicates.
pub(super) struct Renaming<'a> {
    store: &'a TermStore,
    graph: &'a HornGraph,
    outward: FxHashMap<(Term, Place), Term>,
    inward: FxHashMap<Term, Term>,
}

impl<'a> Renaming<'a> {
    pub(super) fn new(store: &'a TermStore, graph: &'a HornGraph) -> Self {
        Renaming { store, graph, outward: FxHashMap::default(), inward: FxHashMap::default() }
    }

    /// Renames a formula about a predicate to its variables in a place.
    pub(super) fn to(&mut self, node: NodeId, place: Place, formula: Term) -> Term {
        if place == Place::Source(0) {
            return formula;
        }
        if self.outward.len() > MOST_REMEMBERED {
            self.outward.clear();
        }
        let (store, graph) = (self.store, self.graph);
        // Formulas about different predicates have different variables, or none at all.
        *self.outward.entry((formula, place)).or_insert_with(|| {
            rename(store, formula, graph.node(node).variables(), variables(graph, node, place))
        })
    }

    /// The inverse of [`to`](Self::to).
    pub(super) fn from(&mut self, node: NodeId, place: Place, formula: Term) -> Term {
        if place == Place::Source(0) {
            return formula;
        }
        if self.inward.len() > MOST_REMEMBERED {
            self.inward.clear();
        }
        let (store, graph) = (self.store, self.graph);
        *self.inward.entry(formula).or_insert_with(|| {
            rename(store, formula, variables(graph, node, place), graph.node(node).variables())
        })
    }
}

/// The variables of a predicate in a place.
pub(super) fn variables(graph: &HornGraph, node: NodeId, place: Place) -> &[Term] {
    match place {
        Place::Source(occurrence) => graph.variables_at(node, occurrence),
        Place::Target => graph.node(node).next(),
    }
}
