//! Closed sets as a part of the clauses.
//!
//! If the formulas of a closed set are conjoined to each clause, for the predicates of its body and of its head, then the same facts
//! are derivable as before. A model of the stronger clauses together with the closed set is a model of the clauses, and a derivation
//! from the stronger clauses is one from the clauses, edge by edge. So an engine that knows nothing of closed sets can use those that
//! are known when it starts.

use std::borrow::Cow;

use shofar_horn::HornGraph;
use shofar_horn::transform::Lemma;
use shofar_logic::Term;

use super::{Fact, Fate};
use crate::Run;

/// The graph with the closed sets that the run's port has so far.
pub(crate) fn strengthened<'g>(run: &Run<'_>, graph: &'g HornGraph) -> Cow<'g, HornGraph> {
    let Some(port) = run.port() else { return Cow::Borrowed(graph) };
    let mut lemmas: Vec<Lemma> = Vec::new();
    for (id, fact) in port.receive() {
        if let Fact::Closed(set) = fact {
            port.rate(id, Fate::Accepted);
            lemmas.extend(set);
        }
    }
    if lemmas.is_empty() {
        return Cow::Borrowed(graph);
    }
    Cow::Owned(conjoined(run, graph, &lemmas))
}

fn conjoined(run: &Run<'_>, graph: &HornGraph, lemmas: &[Lemma]) -> HornGraph {
    let store = run.store;
    let mut of_node = vec![Vec::new(); graph.nodes().len()];
    for lemma in lemmas {
        of_node[lemma.node.index()].push(lemma.formula);
    }
    let of_node: Vec<Term> = of_node.into_iter().map(|formulas| store.and_of(formulas)).collect();
    let mut stronger = HornGraph::new();
    for (_, node) in graph.nodes() {
        stronger.add_node(node.clone());
    }
    for (id, edge) in graph.edges() {
        let sources = edge.sources().iter().enumerate();
        let mut label: Vec<Term> = vec![edge.label()];
        label.extend(sources.map(|(source, node)| graph.at_source(store, id, source, of_node[node.index()])));
        label.extend(edge.target().map(|node| graph.at_target(store, id, of_node[node.index()])));
        stronger.add_edge(edge.sources(), edge.target(), store.and(&label));
    }
    stronger
}
