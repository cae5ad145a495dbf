//! Contracts simple chains to one edge.
//!
//! A chain leads from edge to edge through predicates with no other incoming or outgoing edge. It becomes one edge,
//! whose label is the conjunction of the labels:
//!
//! ```text
//! P(x), L(x, y) -> Q(y)
//! Q(y), M(y, z) -> R(z)       P(x), L(x, y), M(y, z) -> R(z)
//! ```
//!
//! The variables of `Q` are local to the new edge, so no fresh variable is needed, and each label is renamed once.
//!
//! *Way back.* A model `I` has formulas for both ends. The predicates in between get path interpolants of
//!
//! ```text
//! I(P), L       M       ...       N, not I(R)
//! ```
//!
//! which is unsatisfiable since the model satisfies the new edge. A step becomes the steps of the chain, with facts in
//! between that satisfy the conjunction.
//!
//! Chains are cut into pieces of bounded length, because all cuts of a long proof take quadratic time. Applying the
//! transformation again joins the pieces, possibly after their labels were simplified.
//!
//! From Blicha, "Automated software verification by Horn clauses" (PhD thesis, 2023), Section 5.2.

use rustc_hash::FxHashMap;
use shofar_logic::Term;
use shofar_run::Stop;

use crate::Context;
use crate::graph::{Edge, EdgeId, HornGraph, NodeId, rename};
use crate::transform::expand::{Joint, JointStep, Premise, expand};
use crate::transform::working::{Kept, label_size};
use crate::transform::{Image, Lemma, Transformation, Transformed, Translation, removed, weakest};
use crate::witness::{Derivation, GraphModel};

/// The maximal number of edges in a piece.
const MAX_LENGTH: usize = 64;

/// The maximal size of a new label.
const MAX_SIZE: usize = 20_000;

/// Replaces simple chains by single edges.
pub struct Chains;

impl Transformation for Chains {
    fn name(&self) -> &'static str {
        "chains"
    }

    fn apply(&self, context: &Context<'_>, graph: &HornGraph) -> Option<Transformed> {
        let pieces = pieces(context, graph);
        if pieces.is_empty() {
            return None;
        }
        let mut graph = graph.clone();
        let mut is_node_kept = vec![true; graph.nodes().len()];
        let mut kept_edges: Vec<Option<EdgeId>> = graph.edges().map(|(id, _)| Some(id)).collect();
        let mut joints = FxHashMap::default();
        for piece in &pieces {
            let (joined, joint) = join(context, &mut graph, piece);
            for step in &joint.steps {
                kept_edges[step.edge.index()] = None;
            }
            // The new edge takes the place of the first one, to keep the order of the clauses.
            kept_edges[piece[0].index()] = Some(joined);
            for &edge in &piece[1..] {
                is_node_kept[graph.edge(edge).sources()[0].index()] = false;
            }
            joints.insert(joined, joint);
        }
        let kept = Kept::new(&graph, &is_node_kept, kept_edges.into_iter().flatten().collect());
        let transformed = kept.graph(&graph);
        Some(Transformed {
            graph: transformed,
            translation: Box::new(Contracted { graph, kept, joints, pieces }),
        })
    }
}

/// The chains of a graph, cut into pieces of at least two edges.
fn pieces(context: &Context<'_>, graph: &HornGraph) -> Vec<Vec<EdgeId>> {
    let (incoming, outgoing) = (graph.incoming().0, graph.outgoing().0);
    // The outgoing edge of a node inside a chain.
    let onwards = |node: NodeId| match (&*incoming[node.index()], &*outgoing[node.index()]) {
        (&[before], &[after]) if before != after => {
            let is_linear = !graph.edge(before).is_hyperedge() && !graph.edge(after).is_hyperedge();
            is_linear.then_some(after)
        }
        _ => None,
    };
    let starts_chain = |(id, edge): (EdgeId, &Edge)| {
        let is_start = edge.sources().iter().all(|&node| onwards(node).is_none());
        (is_start && edge.target().and_then(onwards).is_some()).then_some(id)
    };
    let mut pieces = Vec::new();
    for start in graph.edges().filter_map(starts_chain) {
        if context.interrupted().is_some() {
            break;
        }
        let mut piece = Vec::new();
        let mut size = 0;
        let mut next = Some(start);
        while let Some(edge) = next {
            let added = label_size(context.store, graph.edge(edge).label(), MAX_SIZE);
            if piece.len() == MAX_LENGTH || size + added > MAX_SIZE {
                pieces.push(std::mem::take(&mut piece));
                size = 0;
            }
            piece.push(edge);
            size += added;
            next = graph.edge(edge).target().and_then(onwards);
        }
        pieces.push(piece);
    }
    pieces.retain(|piece: &Vec<EdgeId>| piece.len() > 1);
    pieces
}

/// Adds the edge that replaces a piece of a chain.
fn join(context: &Context<'_>, graph: &mut HornGraph, piece: &[EdgeId]) -> (EdgeId, Joint) {
    let (first, last) = (graph.edge(piece[0]).clone(), graph.edge(piece[piece.len() - 1]).clone());
    let label = context.store.and(&labels(context, graph, piece));
    let mut steps: Vec<JointStep> = Vec::with_capacity(piece.len());
    for (position, &edge) in piece.iter().enumerate() {
        let premises = match position {
            0 => (0..first.sources().len()).map(Premise::Outer).collect(),
            _ => vec![Premise::Inner(position - 1)],
        };
        let fact = match piece.get(position + 1) {
            Some(&next) => graph.source_variables(next, 0),
            None => graph.target_variables(edge),
        };
        steps.push(JointStep { edge, premises, fact: fact.into() });
    }
    let joined = graph.add_edge(first.sources(), last.target(), label);
    (joined, Joint { label, steps })
}

/// The labels of a piece. Target variables are renamed to the source variables of the next edge.
fn labels(context: &Context<'_>, graph: &HornGraph, piece: &[EdgeId]) -> Vec<Term> {
    let label = |position: usize| {
        let edge = piece[position];
        let label = graph.edge(edge).label();
        match piece.get(position + 1) {
            Some(&next) => {
                let middle = graph.source_variables(next, 0);
                rename(context.store, label, graph.target_variables(edge), middle)
            }
            None => label,
        }
    };
    (0..piece.len()).map(label).collect()
}

struct Contracted {
    /// The old graph, with the new edges.
    graph: HornGraph,
    kept: Kept,
    joints: FxHashMap<EdgeId, Joint>,
    pieces: Vec<Vec<EdgeId>>,
}

impl Translation for Contracted {
    fn forward(&self, _: &Context<'_>, lemma: Lemma) -> Image {
        self.kept.forward(lemma)
    }

    fn is_renaming(&self) -> bool {
        false
    }

    fn model_back(&self, context: &Context<'_>, model: GraphModel) -> Result<GraphModel, Stop> {
        let (store, graph) = (context.store, &self.graph);
        let mut model = self.kept.model_back(model);
        for piece in &self.pieces {
            if weakest::is_needed(store, graph, &model, piece)? {
                for &edge in piece[1..].iter().rev() {
                    let node = graph.edge(edge).sources()[0];
                    let formula = weakest::formula(context, graph, &model, node, &[edge])?;
                    model.interpretations[node.index()] = formula.into();
                }
                continue;
            }
            let mut parts = labels(context, graph, piece);
            let (first, last) = (piece[0], piece[piece.len() - 1]);
            for source in 0..graph.edge(first).sources().len() {
                parts[0] = store.and2(model.at_source(store, graph, first, source)?, parts[0]);
            }
            let target = model.at_target(store, graph, last)?;
            if let Some(part) = parts.last_mut() {
                *part = store.and2(*part, store.not(target));
            }
            let between = removed::along(context, &parts)?;
            for (&edge, formula) in piece[1..].iter().zip(between) {
                model.interpretations[graph.edge(edge).sources()[0].index()] = formula.into();
            }
        }
        Ok(model)
    }

    fn derivation_back(&self, context: &Context<'_>, derivation: Derivation) -> Result<Derivation, Stop> {
        expand(context, &self.graph, &self.joints, self.kept.derivation_back(derivation))
    }
}
