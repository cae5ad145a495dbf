//! Which edges of an old graph the edges of a new one come from: what translations have in common.

use shofar_run::Stop;

use crate::Context;
use crate::graph::{EdgeId, HornGraph};
use crate::transform::{Image, Lemma, Translation};
use crate::witness::{Derivation, GraphModel};

/// The translation where nodes stay what they are, and each edge of the new graph follows from one of the old graph and has
/// the same facts: lemmas are lemmas, models are models, and derivations need the old numbers only.
pub(super) struct Edges {
    /// The old edges, by new ones.
    pub(super) origins: Vec<EdgeId>,
}

impl Edges {
    /// The old edge that a new one comes from.
    pub(super) fn origin(&self, edge: EdgeId) -> Result<EdgeId, Stop> {
        let origin = self.origins.get(edge.index()).copied();
        origin
            .ok_or_else(|| Stop::Internal(format!("a step uses edge {}, which does not exist", edge.index())))
    }
}

impl Translation for Edges {
    fn forward(&self, _: &Context<'_>, lemma: Lemma) -> Image {
        lemma.into()
    }

    fn is_renaming(&self) -> bool {
        true
    }

    fn model_back(&self, _: &Context<'_>, model: GraphModel) -> Result<GraphModel, Stop> {
        Ok(model)
    }

    fn derivation_back(&self, _: &Context<'_>, mut derivation: Derivation) -> Result<Derivation, Stop> {
        for step in &mut derivation.steps {
            step.edge = self.origin(step.edge)?;
        }
        Ok(derivation)
    }
}

/// The graph with some of the edges only, and where they come from.
pub(super) fn with_edges(graph: &HornGraph, is_kept: impl Fn(EdgeId) -> bool) -> (HornGraph, Edges) {
    let mut new = HornGraph::new();
    for (_, node) in graph.nodes() {
        new.add_node(node.clone());
    }
    let mut origins = Vec::new();
    for (id, edge) in graph.edges().filter(|&(id, _)| is_kept(id)) {
        new.add_edge(edge.sources(), edge.target(), edge.label());
        origins.push(id);
    }
    (new, Edges { origins })
}
