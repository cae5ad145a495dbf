//! The gates of a system, as propagation reads them: shared by all solvers of all frames and threads.

use crate::aig::{Aig, Edge, Node};

/// The gates of a graph with the lists of their readers. Read-only.
#[derive(Debug)]
pub struct Gates {
    aig: Aig,
    /// By edges: the slice of `falsified`.
    falsified_start: Vec<u32>,
    /// The ANDs that become false when an edge becomes true: those with its negation as a fan-in.
    falsified: Vec<Node>,
    /// By edges: the slice of `enabled`.
    enabled_start: Vec<u32>,
    /// The ANDs with the edge as a fan-in, and their other fan-in.
    enabled: Vec<(Node, Edge)>,
}

impl Gates {
    /// The gates of a graph.
    pub fn new(aig: Aig) -> Self {
        let ands = || aig.nodes().filter_map(|node| Some((node, aig.and_fanins(node)?)));
        let (falsified_start, falsified) = lists(
            2 * aig.len(),
            || ands().flat_map(|(node, fanins)| fanins.map(|edge| (!edge, node))),
            Node::FALSE,
        );
        let (enabled_start, enabled) = lists(
            2 * aig.len(),
            || ands().flat_map(|(node, [left, right])| [(left, (node, right)), (right, (node, left))]),
            (Node::FALSE, Edge::FALSE),
        );
        Self { aig, falsified_start, falsified, enabled_start, enabled }
    }

    /// The graph.
    pub fn aig(&self) -> &Aig {
        &self.aig
    }

    /// The ANDs that are false if the edge is true.
    #[inline]
    pub(super) fn falsified_by(&self, edge: Edge) -> &[Node] {
        let index = edge.index();
        &self.falsified[self.falsified_start[index] as usize..self.falsified_start[index + 1] as usize]
    }

    /// The ANDs with the edge as a fan-in, and their other fan-in.
    #[inline]
    pub(super) fn enabled_by(&self, edge: Edge) -> &[(Node, Edge)] {
        let index = edge.index();
        &self.enabled[self.enabled_start[index] as usize..self.enabled_start[index + 1] as usize]
    }
}

/// Groups items by edges: all lists in one array, and where each begins.
fn lists<T: Copy, I: Iterator<Item = (Edge, T)>>(
    edges: usize,
    items: impl Fn() -> I,
    blank: T,
) -> (Vec<u32>, Vec<T>) {
    let mut start = vec![0u32; edges + 2];
    for (edge, _) in items() {
        start[edge.index() + 2] += 1;
    }
    for index in 2..start.len() {
        start[index] += start[index - 1];
    }
    let mut all = vec![blank; start[edges + 1] as usize];
    // Filling moves the entry after an edge's own to where the next list begins.
    for (edge, item) in items() {
        let at = &mut start[edge.index() + 1];
        all[*at as usize] = item;
        *at += 1;
    }
    start.pop();
    (start, all)
}
