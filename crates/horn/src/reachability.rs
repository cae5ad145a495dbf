//! Dependencies in a graph: derivable nodes, nodes that queries need, and strongly connected components.

use shofar_logic::Term;

use crate::graph::{EdgeId, HornGraph};
use crate::scc;

/// The nodes and edges reachable from the facts. Labels count only if they are `false`.
pub struct Derivable {
    /// Indexed by node: whether it may be derived.
    pub nodes: Vec<bool>,
    /// Indexed by edge: whether all its sources may be derived and its label is not `false`.
    pub edges: Vec<bool>,
}

impl HornGraph {
    /// The nodes that may be derived, and the edges that may be used in a derivation.
    pub fn derivable(&self) -> Derivable {
        let (outgoing, facts) = self.outgoing();
        let mut nodes = vec![false; self.nodes().len()];
        let mut edges = vec![false; self.edges().len()];
        // The number of sources of each edge that are not known to be derivable, without duplicates.
        let mut missing = vec![0_usize; self.edges().len()];
        for edge in outgoing.iter().flatten() {
            missing[edge.index()] += 1;
        }
        let mut open = facts;
        while let Some(id) = open.pop() {
            let edge = self.edge(id);
            if edge.label() == Term::FALSE {
                continue;
            }
            edges[id.index()] = true;
            let Some(node) = edge.target() else { continue };
            if !std::mem::replace(&mut nodes[node.index()], true) {
                for &next in &outgoing[node.index()] {
                    missing[next.index()] -= 1;
                    if missing[next.index()] == 0 {
                        open.push(next);
                    }
                }
            }
        }
        Derivable { nodes, edges }
    }

    /// Indexed by node: whether a query depends on it by used edges.
    pub fn relevant(&self, is_used: impl Fn(EdgeId) -> bool) -> Vec<bool> {
        let (incoming, queries) = self.incoming();
        let mut relevant = vec![false; self.nodes().len()];
        let mut open = queries;
        while let Some(id) = open.pop() {
            if !is_used(id) {
                continue;
            }
            for node in self.edge(id).sources() {
                if !std::mem::replace(&mut relevant[node.index()], true) {
                    open.extend_from_slice(&incoming[node.index()]);
                }
            }
        }
        relevant
    }

    /// The strongly connected component of each node, and the number of components. An edge never leads to a component
    /// of a higher number.
    pub fn components(&self) -> (Vec<usize>, usize) {
        let mut successors = vec![Vec::new(); self.nodes().len()];
        for (_, edge) in self.edges() {
            let Some(target) = edge.target() else { continue };
            for source in edge.sources() {
                successors[source.index()].push(target.index());
            }
        }
        scc::components(&successors)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;
    use shofar_logic::TermStore;

    #[test]
    fn what_facts_lead_to_what_queries_need_and_what_is_on_cycles() {
        let store = TermStore::new();
        let text = "(declare-fun A () Bool) (declare-fun B () Bool) (declare-fun C () Bool) (declare-fun D () Bool)
                    (assert A) (assert (=> A B)) (assert (=> B A)) (assert (=> (and B D) C)) (assert (=> C false))
                    (assert (=> B false))";
        let system = parse(&store, "test", text.as_bytes()).expect("the test's clauses are right");
        let graph = HornGraph::of(&store, &system);
        let Derivable { nodes, edges } = graph.derivable();
        assert_eq!(nodes, [true, true, false, false]);
        assert_eq!(edges, [true, true, true, false, false, true]);
        assert_eq!(graph.relevant(|edge| edges[edge.index()]), [true, true, false, false]);
        assert_eq!(graph.relevant(|_| true), [true; 4]);
        let (component, count) = graph.components();
        assert_eq!(count, 3);
        assert!(component[0] == component[1] && component[1] > component[2] && component[3] > component[2]);
    }
}
