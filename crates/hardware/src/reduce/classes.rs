//! Candidates for equality: classes of nodes that no simulated pattern tells apart.
//!
//! A node and its negation count as one: each node has a *phase*, and the values of a class agree after negating those
//! with a phase. A class is represented by its first node. Classes only ever split.
//!
//! Patterns are simulated 64 at a time, one a bit.

use rustc_hash::FxHashMap;

use crate::aig::{Aig, Edge, Node};

/// Reproducible random words (S. Vigna's `splitmix64`).
pub(super) struct Words(u64);

impl Words {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let word = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ word >> 31
    }
}

/// The values of all nodes under 64 patterns; `words` has those of the leaves.
pub(super) fn evaluate(aig: &Aig, words: &mut [u64]) {
    words[0] = 0;
    for node in aig.nodes() {
        if let Some([left, right]) = aig.and_fanins(node) {
            words[node.index()] = word(words, left) & word(words, right);
        }
    }
}

/// The values of an edge.
pub(super) fn word(words: &[u64], edge: Edge) -> u64 {
    words[edge.node().index()] ^ spread(edge.is_negated())
}

/// A value in all patterns.
pub(super) fn spread(value: bool) -> u64 {
    if value { u64::MAX } else { 0 }
}

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

    /// Takes in the values of all nodes, in the patterns of the mask. The first mask must have bit 0.
    pub(super) fn add(&mut self, words: &[u64], mask: u64) {
        for ((phase, hash), &word) in self.nodes.iter_mut().zip(words) {
            if self.is_empty {
                *phase = word & 1 != 0;
            }
            let word = (word ^ spread(*phase)) & mask;
            *hash = (hash.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
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
    pub(super) fn refine(&mut self, words: &[u64]) {
        for class in 0..self.members.len() {
            let value = |node: Node| words[node.index()] ^ spread(self.phases[node.index()]);
            let members = &self.members[class];
            let Some(&first) = members.first() else { continue };
            if members.iter().all(|&node| value(node) == value(first)) {
                continue;
            }
            let mut nodes: Vec<(u64, Node)> = members.iter().map(|&node| (value(node), node)).collect();
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
