//! Bases: where the arrays of predicates start.
//!
//! Programs in memory read and write `a[b + i]`, where the pointer `b` is an argument of the predicate. Cells that are counted from
//! `b` stay the same cells while `b` is passed on, and two arrays with bases of their own have a common index.
//!
//! The argument `q` of `P` is a candidate for its array `j` if no clause from `P` to `P` passes on the array with another `q`.
//! Candidates that clauses pass on together with their arrays are one choice. The choice that most accesses use, with the
//! coefficient one, wins.

use rustc_hash::FxHashMap;
use shofar_horn::HornGraph;
use shofar_horn::graph::NodeId;
use shofar_logic::{LinearPoly, Sort, Term, TermStore};

use super::abstraction::{Reading, arrays_of};

/// A node, the position of an array and that of an integer.
type Candidate = (NodeId, usize, usize);

/// The bases of arrays, by nodes and positions: variables of the nodes.
pub(super) fn bases(store: &TermStore, graph: &HornGraph, depth: usize) -> FxHashMap<(NodeId, usize), Term> {
    let mut choice = Choice::default();
    let of_node: Vec<(Vec<usize>, Vec<usize>)> = graph
        .nodes()
        .map(|(id, node)| {
            let (arrays, _) = arrays_of(store, graph, id, depth);
            let arrays = arrays.into_iter().filter(|&(_, index)| index == Sort::INT).map(|(at, _)| at);
            let sorts = node.sorts(store);
            (arrays.collect(), (0..sorts.len()).filter(|&at| sorts[at] == Sort::INT).collect())
        })
        .collect();
    for ((id, _), (arrays, integers)) in graph.nodes().zip(&of_node) {
        for &array in arrays {
            integers.iter().for_each(|&integer| choice.add((id, array, integer)));
        }
    }
    for (id, edge) in graph.edges() {
        let mut clause = Reading::new(store, graph, id, depth);
        for (source, &node) in edge.sources().iter().enumerate() {
            let variables = graph.source_variables(id, source);
            let (arrays, integers) = &of_node[node.index()];
            for &array in arrays {
                let points: Vec<LinearPoly> = clause
                    .points(variables[array])
                    .iter()
                    .map(|&point| LinearPoly::from_term(store, point))
                    .collect();
                for &integer in integers {
                    let uses =
                        points.iter().filter(|sum| sum.coefficient(variables[integer]).is_one()).count();
                    choice.count((node, array, integer), uses);
                }
            }
            let Some(target) = edge.target() else { continue };
            let (next_arrays, next_integers) = &of_node[target.index()];
            for &array in arrays {
                let class = clause.class_of(variables[array]);
                for &next_array in next_arrays {
                    let next: Term = clause.head()[next_array];
                    if clause.class_of(next) != class {
                        continue;
                    }
                    for &integer in integers {
                        let is_passed = |at: usize| clause.head()[at] == variables[integer];
                        if target == node && next_array == array && !is_passed(integer) {
                            choice.exclude((node, array, integer));
                        }
                        for &next_integer in next_integers.iter().filter(|&&at| is_passed(at)) {
                            choice.join((node, array, integer), (target, next_array, next_integer));
                        }
                    }
                }
            }
        }
    }
    let best = choice.best().into_iter();
    best.map(|((node, array), base)| ((node, array), graph.node(node).variables()[base])).collect()
}

/// Candidates in classes.
#[derive(Default)]
struct Choice {
    numbers: FxHashMap<Candidate, usize>,
    candidates: Vec<Candidate>,
    parents: Vec<usize>,
    uses: Vec<usize>,
    is_excluded: Vec<bool>,
}

impl Choice {
    fn add(&mut self, candidate: Candidate) {
        let number = self.candidates.len();
        self.numbers.insert(candidate, number);
        self.candidates.push(candidate);
        self.parents.push(number);
        self.uses.push(0);
        self.is_excluded.push(false);
    }

    fn find(&self, candidate: Candidate) -> usize {
        let mut class = self.numbers[&candidate];
        while self.parents[class] != class {
            class = self.parents[class];
        }
        class
    }

    fn count(&mut self, candidate: Candidate, uses: usize) {
        let class = self.find(candidate);
        self.uses[class] += uses;
    }

    fn exclude(&mut self, candidate: Candidate) {
        let class = self.find(candidate);
        self.is_excluded[class] = true;
    }

    fn join(&mut self, one: Candidate, other: Candidate) {
        let (one, other) = (self.find(one), self.find(other));
        if one != other {
            self.parents[other] = one;
            self.uses[one] += self.uses[other];
            self.is_excluded[one] |= self.is_excluded[other];
        }
    }

    /// The candidate that is used most, for each array for which there is one.
    fn best(&self) -> FxHashMap<(NodeId, usize), usize> {
        let mut best: FxHashMap<(NodeId, usize), (usize, usize)> = FxHashMap::default();
        for &(node, array, integer) in &self.candidates {
            let class = self.find((node, array, integer));
            let uses = self.uses[class];
            if uses == 0 || self.is_excluded[class] {
                continue;
            }
            let entry = best.entry((node, array)).or_insert((uses, integer));
            if uses > entry.0 {
                *entry = (uses, integer);
            }
        }
        best.into_iter().map(|(array, (_, integer))| (array, integer)).collect()
    }
}
