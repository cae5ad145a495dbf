//! Relations: pairs of elements of one array that clauses look at together.
//!
//! A program that reads `a[i]` and `a[n - 1 - i]` compares elements whose places have the sum `n - 1`, whatever `i` is. If `n` does not
//! change, the cell of `a` has a second element: the mirror image of the first. A program that compares `a[i]` with `a[i + 1]` has
//! neighbours instead, whose places have the difference 1. So an invariant about two elements needs one index and not two.
//!
//! A relation is found in one clause, as the sum or the difference of two places there, and carried along the clauses that pass the array
//! on with all that the sum consists of. It fails if a clause from a predicate to itself changes the sum.

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_horn::HornGraph;
use shofar_horn::graph::{EdgeId, NodeId};
use shofar_logic::number::Rational;
use shofar_logic::{LinearPoly, Sort, Substitution, Term, TermStore};

use super::abstraction::{Reading, arrays_of};

/// The greatest number of relations.
const MOST_RELATIONS: usize = 3;

/// How the places of two elements of an array are related.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Relation {
    /// They have this sum.
    Mirror(Term),
    /// The second one is this much greater.
    Shift(Term),
}

impl Relation {
    /// The relation with another term.
    fn map(self, change: impl FnOnce(Term) -> Option<Term>) -> Option<Self> {
        match self {
            Relation::Mirror(sum) => change(sum).map(Relation::Mirror),
            Relation::Shift(difference) => change(difference).map(Relation::Shift),
        }
    }
}

/// For arrays of nodes: the relation of their elements, over the variables of the node.
pub(super) type Relations = FxHashMap<(NodeId, usize), Relation>;

/// What the clauses suggest, the queries first.
pub(super) fn relations(store: &TermStore, graph: &HornGraph, depth: usize) -> Vec<Relations> {
    let mut search = Search { store, graph, readings: Vec::new(), arrays: Vec::new() };
    search.readings = graph.edges().map(|(id, _)| Reading::new(store, graph, id, depth)).collect();
    let of_node = |(id, _)| {
        let (arrays, _) = arrays_of(store, graph, id, depth);
        arrays.into_iter().filter(|&(_, index)| index == Sort::INT).map(|(at, _)| at).collect()
    };
    search.arrays = graph.nodes().map(of_node).collect();
    let (queries, others): (Vec<_>, Vec<_>) =
        graph.edges().map(|(id, _)| id).partition(|&id| graph.edge(id).target().is_none());
    let mut found: Vec<Relations> = Vec::new();
    let mut tried: FxHashSet<(NodeId, usize, Relation)> = FxHashSet::default();
    for edge in queries.into_iter().chain(others) {
        for (node, array, relation) in search.seeds(edge) {
            let is_known = found.iter().any(|known| known.get(&(node, array)) == Some(&relation));
            if is_known || !tried.insert((node, array, relation)) {
                continue;
            }
            found.extend(search.carried(node, array, relation));
            if found.len() == MOST_RELATIONS {
                return found;
            }
        }
    }
    found
}

struct Search<'a> {
    store: &'a TermStore,
    graph: &'a HornGraph,
    /// By edges.
    readings: Vec<Reading<'a>>,
    /// By nodes: the positions of arrays over integers.
    arrays: Vec<Vec<usize>>,
}

impl Search<'_> {
    /// The relations between places at which a clause reads or writes an array of its body; sums before differences.
    fn seeds(&mut self, edge: EdgeId) -> Vec<(NodeId, usize, Relation)> {
        let (mut sums, mut differences) = (Vec::new(), Vec::new());
        let (store, graph) = (self.store, self.graph);
        for (source, &node) in graph.edge(edge).sources().iter().enumerate() {
            let variables = graph.source_variables(edge, source);
            let own = names(variables, graph.node(node).variables());
            for &array in &self.arrays[node.index()] {
                let points = self.readings[edge.index()].points(variables[array]).to_vec();
                for (number, &one) in points.iter().enumerate() {
                    for &other in &points[..number] {
                        let total = renamed(store, &sum(store, one, other, 1), &own);
                        sums.extend(total.map(|total| (node, array, Relation::Mirror(total))));
                        let difference = renamed(store, &sum(store, one, other, -1), &own);
                        differences.extend(difference.map(|it| (node, array, Relation::Shift(it))));
                    }
                }
            }
        }
        sums.extend(differences);
        sums
    }

    /// The relation wherever the array is passed on with it; nothing if it changes.
    fn carried(&mut self, node: NodeId, array: usize, relation: Relation) -> Option<Relations> {
        let (store, graph) = (self.store, self.graph);
        let mut relations = Relations::default();
        relations.insert((node, array), relation);
        let mut open = vec![(node, array)];
        while let Some((node, array)) = open.pop() {
            let relation = relations[&(node, array)];
            let own = graph.node(node).variables();
            for (id, edge) in graph.edges() {
                let Some(target) = edge.target() else { continue };
                let head = self.readings[id.index()].head().to_vec();
                for (source, &from) in edge.sources().iter().enumerate() {
                    let variables = graph.source_variables(id, source);
                    // From the body to the head, and from the head to the body.
                    let ways = [(from, variables, target, &head[..]), (target, &head[..], from, variables)];
                    for (here, values, there, others) in ways {
                        if here != node {
                            continue;
                        }
                        let class = self.readings[id.index()].class_of(values[array]);
                        let meaning: Substitution = own.iter().copied().zip(values.iter().copied()).collect();
                        let names = names(others, graph.node(there).variables());
                        for &next in &self.arrays[there.index()] {
                            if self.readings[id.index()].class_of(others[next]) != class {
                                continue;
                            }
                            let passed = relation.map(|term| {
                                let term = store.instantiate(term, &meaning);
                                renamed(store, &LinearPoly::from_term(store, term), &names)
                            });
                            match (passed, relations.get(&(there, next))) {
                                (Some(passed), Some(&known)) if passed != known => return None,
                                (None, _) if (there, next) == (node, array) => return None,
                                (Some(passed), None) => {
                                    relations.insert((there, next), passed);
                                    open.push((there, next));
                                }
                                _ => {}
                            }
                        }
                    }
                }
            }
        }
        Some(relations)
    }
}

/// The variables of a node by the terms that stand for them.
fn names(terms: &[Term], variables: &[Term]) -> FxHashMap<Term, Term> {
    terms.iter().copied().zip(variables.iter().copied()).collect()
}

/// `one + factor * other`.
fn sum(store: &TermStore, one: Term, other: Term, factor: i64) -> LinearPoly {
    let mut sum = LinearPoly::from_term(store, one);
    sum.add_scaled(&LinearPoly::from_term(store, other), &Rational::from(factor));
    sum
}

/// The sum with other names of its monomials; nothing if one has none, or all is zero.
fn renamed(store: &TermStore, sum: &LinearPoly, names: &FxHashMap<Term, Term>) -> Option<Term> {
    let pairs = sum.terms().iter().map(|(monomial, factor)| Some((*names.get(monomial)?, factor.clone())));
    let renamed = LinearPoly::from_pairs(pairs.collect::<Option<Vec<_>>>()?, sum.constant().clone());
    (!renamed.is_constant() || !renamed.constant().is_zero()).then(|| renamed.to_term(store, Sort::INT))
}
