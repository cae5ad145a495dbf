//! Merges parallel edges.
//!
//! Edges with the same target and the same sources, with multiplicity, become one edge whose label is the disjunction
//! of their labels:
//!
//! ```text
//! P(x), x > 0, x' = x - 1 -> P(x')
//! P(x), x < 0, x' = x + 1 -> P(x')       P(x), (x > 0, x' = x - 1 or x < 0, x' = x + 1) -> P(x')
//! ```
//!
//! The order of the sources does not matter: sorting them keeps the order of the occurrences of each predicate, and so
//! their variables.
//!
//! *Way back.* A model violates one of the edges if and only if it violates the merged edge, so it stays unchanged. A
//! step by the merged edge becomes a step by an edge whose label the facts satisfy.
//!
//! Merging shifts work from the search over clauses to the solver. Blicha, "Automated software verification by Horn
//! clauses"
//! (PhD thesis, 2023), Section 5.2, has it for linear clauses.

use rustc_hash::FxHashMap;
use shofar_logic::{Assignment, Term, Value};
use shofar_run::Stop;

use crate::Context;
use crate::graph::{EdgeId, HornGraph, NodeId};
use crate::ground;
use crate::transform::subgraph::{EdgesBack, SameNodes};
use crate::transform::{Transformation, Transformed};
use crate::witness::{Derivation, GraphStep};

/// Merges parallel edges.
pub struct Merge;

impl Transformation for Merge {
    fn name(&self) -> &'static str {
        "merge"
    }

    fn apply(&self, context: &Context<'_>, graph: &HornGraph) -> Option<Transformed> {
        let mut group_of: FxHashMap<(Vec<NodeId>, Option<NodeId>), usize> = FxHashMap::default();
        let mut groups: Vec<Vec<EdgeId>> = Vec::new();
        for (id, edge) in graph.edges() {
            let mut sources = edge.sources().to_vec();
            sources.sort_unstable();
            let group = *group_of.entry((sources, edge.target())).or_insert(groups.len());
            if group == groups.len() {
                groups.push(Vec::new());
            }
            groups[group].push(id);
        }
        if groups.len() == graph.edges().len() {
            return None;
        }
        let mut merged = graph.without_edges();
        for group in &groups {
            // The first edge determines the order of the sources.
            let first = graph.edge(group[0]);
            let label = context.store.or_of(group.iter().map(|&id| graph.edge(id).label()));
            merged.add_edge(first.sources(), first.target(), label);
        }
        Some(Transformed {
            graph: merged,
            translation: Box::new(SameNodes(Merged { graph: graph.clone(), groups })),
        })
    }
}

struct Merged {
    graph: HornGraph,
    /// The old edges of each new one.
    groups: Vec<Vec<EdgeId>>,
}

impl EdgesBack for Merged {
    fn derivation_back(&self, context: &Context<'_>, derivation: Derivation) -> Result<Derivation, Stop> {
        let mut steps: Vec<GraphStep> = Vec::with_capacity(derivation.steps.len());
        for step in derivation.steps {
            context.go_on()?;
            let back = match &*self.groups[step.edge.index()] {
                [edge] => GraphStep { edge: *edge, ..step },
                group => self.choose(context, group, step, &steps)?,
            };
            steps.push(back);
        }
        Ok(Derivation { steps })
    }
}

impl Merged {
    /// Replaces a step by a merged edge by a step of one of its edges.
    fn choose(
        &self,
        context: &Context<'_>,
        group: &[EdgeId],
        step: GraphStep,
        earlier: &[GraphStep],
    ) -> Result<GraphStep, Stop> {
        let (store, graph) = (context.store, &self.graph);
        let sources = graph.edge(group[0]).sources();
        let premises = step.premises.iter().map(|&premise| &*earlier[premise].fact);
        let given = graph.values_at(group[0], premises, &step.fact);
        let known: Assignment = given.iter().cloned().collect();
        let is_true = |values: &Assignment, edge: EdgeId| {
            store.eval(graph.edge(edge).label(), values) == Ok(Value::Bool(true))
        };
        // Most labels have no local variables that matter.
        let edge = match group.iter().find(|&&edge| is_true(&known, edge)) {
            Some(&edge) => edge,
            None => {
                let labels: Vec<Term> = group.iter().map(|&edge| graph.edge(edge).label()).collect();
                let locals: Vec<Term> = group.iter().flat_map(|&edge| graph.locals(store, edge)).collect();
                let found = ground::complete(context, store.or(&labels), given.iter().cloned(), &locals)?;
                let all: Assignment = given.into_iter().chain(locals.into_iter().zip(found)).collect();
                let chosen = group.iter().find(|&&edge| is_true(&all, edge));
                *chosen.ok_or_else(|| Stop::Internal("no clause gives a step of merged ones".into()))?
            }
        };
        let premises = permuted(sources, graph.edge(edge).sources(), &step.premises);
        Ok(GraphStep { edge, premises, ..step })
    }
}

/// Permutes the premises from one order of the sources to another. The occurrences of one predicate keep their order.
fn permuted(from: &[NodeId], to: &[NodeId], premises: &[usize]) -> Box<[usize]> {
    let sorted = |sources: &[NodeId]| {
        let mut order: Vec<usize> = (0..sources.len()).collect();
        order.sort_by_key(|&position| sources[position]);
        order
    };
    let mut permuted: Box<[usize]> = premises.into();
    for (at, position) in sorted(from).into_iter().zip(sorted(to)) {
        permuted[position] = premises[at];
    }
    permuted
}
