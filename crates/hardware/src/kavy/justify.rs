//! Justification: the leaves of a graph that give edges their values.
//!
//! A true AND is justified by both of its fan-ins, a false one by a false fan-in, and rather by one that is needed anyway.

use crate::aig::{Aig, Edge, Node, edge_value};

/// Literals of leaves that give edges their values in the row.
pub(super) fn justification(aig: &Aig, values: &[bool], edges: impl IntoIterator<Item = Edge>) -> Vec<Edge> {
    let mut needed = vec![false; aig.len()];
    edges.into_iter().for_each(|edge| needed[edge.node().index()] = true);
    let mut lits = Vec::new();
    // Fan-ins have smaller numbers.
    for node in aig.nodes().rev().filter(|&node| node != Node::FALSE) {
        if !needed[node.index()] {
            continue;
        }
        match aig.and_fanins(node) {
            None => lits.push(node.edge(!values[node.index()])),
            Some([left, right]) if values[node.index()] => {
                needed[left.node().index()] = true;
                needed[right.node().index()] = true;
            }
            Some([left, right]) => {
                let is_false = |edge: Edge| !edge_value(values, edge);
                let is_needed = |edge: Edge| needed[edge.node().index()];
                let one =
                    if is_false(left) && (!is_false(right) || !is_needed(right)) { left } else { right };
                needed[one.node().index()] = true;
            }
        }
    }
    lits
}
