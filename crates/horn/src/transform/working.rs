//! Bookkeeping for transformations that remove nodes and edges.

use rustc_hash::FxHashSet;
use shofar_logic::{Term, TermStore};

use crate::graph::{EdgeId, HornGraph, NodeId};
use crate::transform::{Image, Lemma};
use crate::witness::{Derivation, GraphModel, Interpretation};

/// The nodes and edges of an old graph that a new one has, in order.
pub(super) struct Kept {
    /// Indexed by new node.
    nodes: Vec<NodeId>,
    /// Indexed by new edge.
    edges: Vec<EdgeId>,
    /// The new node of each old one.
    images: Vec<Option<NodeId>>,
}

impl Kept {
    /// Keeps these edges and the given nodes, which they connect.
    pub(super) fn new(graph: &HornGraph, is_node_kept: &[bool], edges: Vec<EdgeId>) -> Self {
        let mut nodes = Vec::new();
        let mut images = Vec::with_capacity(is_node_kept.len());
        for (id, _) in graph.nodes() {
            let is_kept = is_node_kept[id.index()];
            images.push(is_kept.then(|| NodeId::new(nodes.len())));
            if is_kept {
                nodes.push(id);
            }
        }
        Kept { nodes, edges, images }
    }

    /// The new graph.
    pub(super) fn graph(&self, old: &HornGraph) -> HornGraph {
        let mut graph = HornGraph::new();
        for &node in &self.nodes {
            graph.add_node(old.node(node).clone());
        }
        let image = |node: NodeId| self.images[node.index()].expect("edges are between nodes that are kept");
        for &edge in &self.edges {
            let edge = old.edge(edge);
            let sources: Vec<NodeId> = edge.sources().iter().map(|&node| image(node)).collect();
            graph.add_edge(&sources, edge.target().map(image), edge.label());
        }
        graph
    }

    /// A lemma of a kept node stays unchanged: joined edges derive the same facts.
    pub(super) fn forward(&self, lemma: Lemma) -> Image {
        match self.images[lemma.node.index()] {
            Some(node) => Lemma { node, ..lemma }.into(),
            None => Image::Removed,
        }
    }

    /// The model, indexed by old node. Removed nodes get a provisional interpretation.
    pub(super) fn model_back(&self, model: GraphModel) -> GraphModel {
        let mut interpretations = vec![Interpretation::TRUE; self.images.len()];
        for (&node, interpretation) in self.nodes.iter().zip(model.interpretations) {
            interpretations[node.index()] = interpretation;
        }
        GraphModel { interpretations }
    }

    /// The derivation, over old edges.
    pub(super) fn derivation_back(&self, mut derivation: Derivation) -> Derivation {
        for step in &mut derivation.steps {
            step.edge = self.edges[step.edge.index()];
        }
        derivation
    }
}

/// The number of different subterms of a formula, or `bound + 1` if it exceeds the bound.
pub(super) fn label_size(store: &TermStore, formula: Term, bound: usize) -> usize {
    let mut seen: FxHashSet<Term> = FxHashSet::default();
    let mut open = vec![formula];
    while let Some(term) = open.pop() {
        if seen.len() > bound {
            break;
        }
        if seen.insert(term) {
            open.extend_from_slice(store.args(term));
        }
    }
    seen.len()
}
