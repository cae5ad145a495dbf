//! Candidates for equality: classes of nodes that no simulated pattern tells apart.
//!
//! A node and its negation count as one: each node has a *phase*, and the values of a class agree after negating those
//! with a phase. A class is represented by its first node. Classes only ever split.

use rustc_hash::FxHashMap;

use crate::aig::{Edge, Node};
use crate::simulate::{Patterns, spread};

/// What simulation has shown of each node: a hash of its values.
pub(super) struct Signatures {
    /// By nodes: the first value, and the hash of the values that are negated if the first one is true.
    nodes: Vec<(bool, u64)>,
    is_empty: bool,
}

impl Signatures {
    pub(super) fn new(nodes: usize) -> Self {
        Self { nodes: vec![(false, 0); nodes], is_empty: true }
    }

    /// Takes in the values of all nodes, in the patterns of the mask. The first mask must have the first pattern.
    pub(super) fn add<const K: usize>(&mut self, patterns: &Patterns<K>, mask: [u64; K]) {
        for ((phase, hash), row) in self.nodes.iter_mut().zip(patterns.nodes()) {
            if self.is_empty {
                *phase = row[0] & 1 != 0;
            }
            for (word, mask) in row.iter().zip(mask) {
                let word = (word ^ spread(*phase)) & mask;
                *hash = (hash.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
            }
        }
        self.is_empty = false;
    }
}

/// A partition of nodes; nodes outside are equal to nothing.
pub(super) struct Classes {
    /// By nodes: the class; [`NONE`] if it is alone.
    class_of: Vec<u32>,
    /// By nodes: whether its negation is compared.
    phases: Vec<bool>,
    /// The nodes of each class, ascending.
    members: Vec<Vec<Node>>,
}

/// No class.
const NONE: u32 = u32::MAX;

impl Classes {
    /// Nodes with the same signature; `nodes` are ascending.
    pub(super) fn new(signatures: &Signatures, nodes: impl Iterator<Item = Node>) -> Self {
        let mut numbers: FxHashMap<u64, usize> = FxHashMap::default();
        let mut members: Vec<Vec<Node>> = Vec::new();
        for node in nodes {
            let count = members.len();
            let number = *numbers.entry(signatures.nodes[node.index()].1).or_insert(count);
            if number == count {
                members.push(Vec::new());
            }
            members[number].push(node);
        }
        let phases = signatures.nodes.iter().map(|&(phase, _)| phase).collect();
        let mut classes = Self { class_of: vec![NONE; signatures.nodes.len()], phases, members: Vec::new() };
        members.into_iter().for_each(|nodes| classes.insert(nodes));
        classes
    }

    /// Makes nodes a class, if there is more than one.
    fn insert(&mut self, nodes: Vec<Node>) {
        if nodes.len() < 2 {
            nodes.iter().for_each(|node| self.class_of[node.index()] = NONE);
            return;
        }
        nodes.iter().for_each(|node| self.class_of[node.index()] = self.members.len() as u32);
        self.members.push(nodes);
    }

    /// The edge that a node is possibly equal to: the first node of its class, unless it is that one.
    pub(super) fn representative(&self, node: Node) -> Option<Edge> {
        let members = self.members.get(self.class_of[node.index()] as usize)?;
        let first = *members.first().filter(|&&first| first != node)?;
        Some(first.edge(self.phases[first.index()] != self.phases[node.index()]))
    }

    /// The last node that has a candidate; `None` if there is nothing to merge.
    pub(super) fn last_member(&self) -> Option<Node> {
        self.members.iter().filter_map(|members| members.last().copied()).max()
    }

    /// Splits the classes by values of all nodes.
    pub(super) fn refine<const K: usize>(&mut self, patterns: &Patterns<K>) {
        for class in 0..self.members.len() {
            let value = |node: Node| patterns.get(node.edge(self.phases[node.index()]));
            let members = &self.members[class];
            let Some(&first) = members.first() else { continue };
            if members.iter().all(|&node| value(node) == value(first)) {
                continue;
            }
            let mut nodes: Vec<([u64; K], Node)> = members.iter().map(|&node| (value(node), node)).collect();
            nodes.sort_unstable();
            self.members[class].clear();
            for part in nodes.chunk_by(|left, right| left.0 == right.0) {
                self.insert(part.iter().map(|&(_, node)| node).collect());
            }
        }
    }

    /// Takes a node out of its class.
    pub(super) fn remove(&mut self, node: Node) {
        let Some(members) = self.members.get_mut(self.class_of[node.index()] as usize) else { return };
        members.retain(|&other| other != node);
        if let [other] = members[..] {
            self.class_of[other.index()] = NONE;
            members.clear();
        }
        self.class_of[node.index()] = NONE;
    }
}
