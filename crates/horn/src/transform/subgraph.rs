//! Translations that map the edges of a new graph to those of an old one.

use shofar_run::Stop;

use crate::Context;
use crate::graph::{EdgeId, HornGraph};
use crate::transform::{Image, Lemma, Translation};
use crate::witness::{Derivation, GraphModel};

/// The translation for unchanged nodes with the same facts: lemmas and models stay unchanged. `E` translates
/// derivations back.
pub(super) struct SameNodes<E>(pub(super) E);

/// Translates derivations back if edges have changed.
pub(super) trait EdgesBack: Send + Sync {
    fn derivation_back(&self, context: &Context<'_>, derivation: Derivation) -> Result<Derivation, Stop>;
}

impl<E: EdgesBack> Translation for SameNodes<E> {
    fn forward(&self, _: &Context<'_>, lemma: Lemma) -> Image {
        lemma.into()
    }

    fn is_renaming(&self) -> bool {
        true
    }

    fn model_back(&self, _: &Context<'_>, model: GraphModel) -> Result<GraphModel, Stop> {
        Ok(model)
    }

    fn derivation_back(&self, context: &Context<'_>, derivation: Derivation) -> Result<Derivation, Stop> {
        self.0.derivation_back(context, derivation)
    }
}

/// Each edge of the new graph follows from one edge of the old graph and derives the same facts.
pub(super) struct Edges {
    /// The old edge of each new one.
    pub(super) origins: Vec<EdgeId>,
}

impl Edges {
    /// The old edge of a new one.
    pub(super) fn origin(&self, edge: EdgeId) -> Result<EdgeId, Stop> {
        let origin = self.origins.get(edge.index()).copied();
        origin
            .ok_or_else(|| Stop::Internal(format!("a step uses edge {}, which does not exist", edge.index())))
    }
}

impl EdgesBack for Edges {
    fn derivation_back(&self, _: &Context<'_>, mut derivation: Derivation) -> Result<Derivation, Stop> {
        for step in &mut derivation.steps {
            step.edge = self.origin(step.edge)?;
        }
        Ok(derivation)
    }
}

/// The graph with only some of its edges, and their origins.
pub(super) fn with_edges(graph: &HornGraph, is_kept: impl Fn(EdgeId) -> bool) -> (HornGraph, Edges) {
    let mut new = graph.without_edges();
    let mut origins = Vec::new();
    for (id, edge) in graph.edges().filter(|&(id, _)| is_kept(id)) {
        new.add_edge(edge.sources(), edge.target(), edge.label());
        origins.push(id);
    }
    (new, Edges { origins })
}
