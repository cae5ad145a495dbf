//! Formulas over a predicate's variables, carried to its occurrences in clauses and back, each once.

use rustc_hash::FxHashMap;
use shofar_horn::HornGraph;
use shofar_horn::graph::{NodeId, rename};
use shofar_logic::{Term, TermStore};

/// Formulas that are remembered before all are forgotten.
const MOST_REMEMBERED: usize = 1 << 20;

/// Where a predicate occurs in a clause.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Place {
    /// In the body, for the so-manieth time.
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

    /// A formula about a predicate, over the variables that it has in a place.
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

    /// A formula over the variables that a predicate has in a place, as one about the predicate.
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
