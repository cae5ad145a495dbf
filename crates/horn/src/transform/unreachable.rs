//! Removes predicates that cannot be derived, and predicates that no query depends on.
//!
//! A node is *derivable* if there is an edge to it whose sources are all derivable and whose label is not `false`. It
//! is *relevant* if such an edge leads from it to a query or to a relevant node. All other nodes are removed, with
//! their edges. The analysis does not look into labels: a node found underivable is so for any labels.
//!
//! | before | after |
//! |---|---|
//! | `P(x) => Q(x)`, nothing derives `P` | |
//! | `R(x) => S(x)`, no query depends on `S` | |
//!
//! The way back: underivable nodes are false, and derivable but irrelevant ones are true. An edge without a counterpart
//! has a false source or label, or a true target.
//!
//! Both sets are computed by counting, as in the linear-time algorithm for propositional Horn formulas (Dowling and
//! Gallier, J. Log. Program. 1984). In program analysis the pass is known as slicing, or as the cone of influence.

use shofar_run::Stop;

use super::subgraph::{Edges, EdgesBack};
use crate::Context;
use crate::graph::{HornGraph, NodeId};
use crate::reachability::Derivable;
use crate::transform::{Image, Lemma, Transformation, Transformed, Translation};
use crate::witness::{Derivation, GraphModel, Interpretation};

/// Removes predicates that cannot be derived or that no query depends on.
#[derive(Clone, Copy, Default, Debug)]
pub struct RemoveUnreachable;

impl Transformation for RemoveUnreachable {
    fn name(&self) -> &'static str {
        "unreachable"
    }

    fn apply(&self, _: &Context<'_>, graph: &HornGraph) -> Option<Transformed> {
        let Derivable { nodes: derivable, edges: alive } = graph.derivable();
        let relevant = graph.relevant(|edge| alive[edge.index()]);
        let is_kept = |node: NodeId| derivable[node.index()] && relevant[node.index()];
        let mut new = HornGraph::new();
        let fates: Vec<Fate> = graph
            .nodes()
            .map(|(id, node)| match () {
                () if is_kept(id) => Fate::Kept(new.add_node(node.clone())),
                () if derivable[id.index()] => Fate::Irrelevant,
                () => Fate::NotDerivable,
            })
            .collect();
        let mut origins = Vec::new();
        for (id, edge) in graph.edges().filter(|&(id, _)| alive[id.index()]) {
            let new_node = |node: NodeId| match fates[node.index()] {
                Fate::Kept(node) => Some(node),
                _ => None,
            };
            let target = edge.target().map(new_node);
            if let (Some(sources), true) = (
                edge.sources().iter().map(|&node| new_node(node)).collect::<Option<Vec<_>>>(),
                target != Some(None),
            ) {
                new.add_edge(&sources, target.flatten(), edge.label());
                origins.push(id);
            }
        }
        if new.nodes().len() == graph.nodes().len() && new.edges().len() == graph.edges().len() {
            return None;
        }
        Some(Transformed { graph: new, translation: Box::new(Sliced { fates, edges: Edges { origins } }) })
    }
}

/// The fate of a node.
enum Fate {
    Kept(NodeId),
    NotDerivable,
    Irrelevant,
}

struct Sliced {
    fates: Vec<Fate>,
    edges: Edges,
}

impl Translation for Sliced {
    fn forward(&self, _: &Context<'_>, lemma: Lemma) -> Image {
        match self.fates[lemma.node.index()] {
            Fate::Kept(node) => Lemma { node, ..lemma }.into(),
            Fate::NotDerivable | Fate::Irrelevant => Image::Removed,
        }
    }

    fn is_renaming(&self) -> bool {
        true
    }

    fn model_back(&self, _: &Context<'_>, model: GraphModel) -> Result<GraphModel, Stop> {
        let of_node = |fate: &Fate| match *fate {
            Fate::Kept(node) => model.interpretation(node).cloned(),
            Fate::NotDerivable => Ok(Interpretation::FALSE),
            Fate::Irrelevant => Ok(Interpretation::TRUE),
        };
        Ok(GraphModel { interpretations: self.fates.iter().map(of_node).collect::<Result<_, _>>()? })
    }

    fn derivation_back(&self, context: &Context<'_>, derivation: Derivation) -> Result<Derivation, Stop> {
        self.edges.derivation_back(context, derivation)
    }
}
