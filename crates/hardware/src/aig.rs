//! And-inverter graphs.
//!
//! A node is the constant false (node 0), a leaf, or the conjunction of two edges. An edge points to a node and may
//! negate it: it is twice the node's number, plus one for a negation, the coding of AIGER. So every Boolean function is
//! an edge, and negation is free.
//!
//! * G1: an AND comes after the nodes of its fan-ins, so the order of numbers is topological and there are no cycles.
//! * G2: in a graph made by a [`Builder`], no AND has a constant fan-in, equal or opposite fan-ins, or the fan-ins of
//!   another AND: equal functions of this kind are equal edges.
//!
//! An [`Aig`] by itself only stores nodes: a file is read at the speed of its bytes, and what is read is checked as it
//! was written. The [`Builder`] simplifies and shares. Its rules are those with one and two levels of look-ahead in
//! Brummayer & Biere, "Local Two-Level And-Inverter Graph Minimization without Blowup" (MEMICS 2006), as far as
//! they never add a node.

use std::fmt;
use std::ops::Not;

use rustc_hash::FxHashMap;

/// A node of a graph.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Node(u32);

/// A node or its negation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Edge(u32);

impl Node {
    /// The node that is false.
    pub const FALSE: Node = Node(0);

    /// The node with a number.
    #[inline]
    pub fn from_index(index: usize) -> Self {
        debug_assert!(index < (u32::MAX >> 1) as usize);
        Self(index as u32)
    }

    /// The node's number.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The edge to the node, negated if `negated`.
    #[inline]
    pub fn edge(self, negated: bool) -> Edge {
        Edge(self.0 << 1 | u32::from(negated))
    }
}

impl Edge {
    /// The edge that is false.
    pub const FALSE: Edge = Edge(0);
    /// The edge that is true.
    pub const TRUE: Edge = Edge(1);

    /// The edge with a code, as AIGER writes it: twice the node's number, plus one for a negation.
    #[inline]
    pub fn from_code(code: u32) -> Self {
        Self(code)
    }

    /// Twice the node's number, plus one for a negation.
    #[inline]
    pub fn code(self) -> u32 {
        self.0
    }

    /// The code as an index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The node that the edge points to.
    #[inline]
    pub fn node(self) -> Node {
        Node(self.0 >> 1)
    }

    /// Whether the edge negates its node.
    #[inline]
    pub fn is_negated(self) -> bool {
        self.0 & 1 != 0
    }

    /// The edge, negated if `negated`.
    #[inline]
    pub fn negate_if(self, negated: bool) -> Self {
        Self(self.0 ^ u32::from(negated))
    }

    /// The edge's value if it is constant.
    #[inline]
    pub fn as_constant(self) -> Option<bool> {
        (self.0 < 2).then_some(self.0 == 1)
    }
}

impl Not for Edge {
    type Output = Self;

    #[inline]
    fn not(self) -> Self {
        Self(self.0 ^ 1)
    }
}

impl From<Node> for Edge {
    #[inline]
    fn from(node: Node) -> Self {
        node.edge(false)
    }
}

impl From<bool> for Edge {
    #[inline]
    fn from(value: bool) -> Self {
        Edge(u32::from(value))
    }
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "n{}", self.0)
    }
}

impl fmt::Debug for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}n{}", if self.is_negated() { "-" } else { "" }, self.0 >> 1)
    }
}

/// The fan-ins of a leaf, and of the constant. No AND has them, by G1.
const LEAF: [Edge; 2] = [Edge(u32::MAX), Edge(u32::MAX)];

/// An and-inverter graph.
#[derive(Clone, PartialEq, Eq)]
pub struct Aig {
    /// By nodes: the fan-ins, or [`LEAF`].
    fanins: Vec<[Edge; 2]>,
}

impl Default for Aig {
    fn default() -> Self {
        Self::new()
    }
}

impl Aig {
    /// The graph of the constant alone.
    pub fn new() -> Self {
        Self { fanins: vec![LEAF] }
    }

    /// As [`new`](Self::new), with room for this many nodes.
    pub fn with_capacity(nodes: usize) -> Self {
        let mut fanins = Vec::with_capacity(nodes.max(1));
        fanins.push(LEAF);
        Self { fanins }
    }

    /// The number of nodes, with the constant.
    #[inline]
    pub fn len(&self) -> usize {
        self.fanins.len()
    }

    /// Whether the graph has no nodes; it always has the constant.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// All nodes in topological order.
    pub fn nodes(&self) -> impl DoubleEndedIterator<Item = Node> + use<> {
        (0..self.fanins.len()).map(Node::from_index)
    }

    /// The fan-ins of an AND; `None` for a leaf and the constant.
    #[inline]
    pub fn and_fanins(&self, node: Node) -> Option<[Edge; 2]> {
        let fanins = self.fanins[node.index()];
        (fanins != LEAF).then_some(fanins)
    }

    /// Whether the node is a conjunction.
    #[inline]
    pub fn is_and(&self, node: Node) -> bool {
        self.fanins[node.index()] != LEAF
    }

    /// The number of ANDs.
    pub fn num_ands(&self) -> usize {
        self.fanins.iter().filter(|&&fanins| fanins != LEAF).count()
    }

    /// A new leaf.
    pub fn push_leaf(&mut self) -> Node {
        self.fanins.push(LEAF);
        Node::from_index(self.fanins.len() - 1)
    }

    /// A new AND as given, neither simplified nor shared.
    ///
    /// # Panics
    /// If a fan-in's node does not exist (G1).
    #[inline]
    pub fn push_and(&mut self, left: Edge, right: Edge) -> Node {
        let node = Node::from_index(self.fanins.len());
        assert!(left.node() < node && right.node() < node, "an AND comes after its fan-ins");
        self.fanins.push([left, right]);
        node
    }

    /// Marks the nodes that the roots depend on, themselves included.
    pub fn cone(&self, roots: impl IntoIterator<Item = Edge>) -> Vec<bool> {
        let mut marked = vec![false; self.len()];
        let mut last = 0;
        for root in roots {
            marked[root.node().index()] = true;
            last = last.max(root.node().index());
        }
        for index in (1..=last).rev() {
            if marked[index] && self.fanins[index] != LEAF {
                let [left, right] = self.fanins[index];
                marked[left.node().index()] = true;
                marked[right.node().index()] = true;
            }
        }
        marked
    }

    /// The values of all nodes, given those of the leaves.
    pub fn evaluate(&self, leaf: impl Fn(Node) -> bool) -> Vec<bool> {
        let mut values: Vec<bool> = Vec::with_capacity(self.len());
        for node in self.nodes() {
            let value = match self.and_fanins(node) {
                Some([left, right]) => edge_value(&values, left) && edge_value(&values, right),
                None => node != Node::FALSE && leaf(node),
            };
            values.push(value);
        }
        values
    }
}

impl fmt::Debug for Aig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.nodes().filter_map(|node| Some((node, self.and_fanins(node)?)))).finish()
    }
}

/// The value of an edge, given those of the nodes.
#[inline]
pub fn edge_value(values: &[bool], edge: Edge) -> bool {
    values[edge.node().index()] != edge.is_negated()
}

/// A graph that simplifies and shares what is added to it (G2).
#[derive(Clone, Default)]
pub struct Builder {
    aig: Aig,
    /// ANDs by their fan-ins, the smaller one first.
    table: FxHashMap<[Edge; 2], Node>,
}

impl Builder {
    /// A builder of a graph with this many leaves, numbered from 1.
    pub fn with_leaves(leaves: usize) -> Self {
        let mut builder = Self::default();
        for _ in 0..leaves {
            builder.aig.push_leaf();
        }
        builder
    }

    /// A builder that goes on from a graph. The ANDs that are there keep their numbers and are shared from now on.
    pub fn on(aig: Aig) -> Self {
        let mut table = FxHashMap::default();
        for node in aig.nodes() {
            if let Some([left, right]) = aig.and_fanins(node) {
                table.entry([left.min(right), left.max(right)]).or_insert(node);
            }
        }
        Self { aig, table }
    }

    /// The graph so far.
    pub fn aig(&self) -> &Aig {
        &self.aig
    }

    /// The graph.
    pub fn into_aig(self) -> Aig {
        self.aig
    }

    /// A new leaf.
    pub fn leaf(&mut self) -> Node {
        self.aig.push_leaf()
    }

    /// The conjunction of two edges.
    pub fn and(&mut self, left: Edge, right: Edge) -> Edge {
        let (mut left, mut right) = (left, right);
        loop {
            if left > right {
                std::mem::swap(&mut left, &mut right);
            }
            if left == right || left == Edge::TRUE {
                return right;
            }
            if left == Edge::FALSE || left == !right {
                return Edge::FALSE;
            }
            match self.look_ahead(left, right) {
                Some(Step::Done(edge)) => return edge,
                Some(Step::Again(a, b)) => (left, right) = (a, b),
                None => break,
            }
        }
        let aig = &mut self.aig;
        (*self.table.entry([left, right]).or_insert_with(|| aig.push_and(left, right))).into()
    }

    /// Rules that look at the fan-ins of the fan-ins.
    fn look_ahead(&self, left: Edge, right: Edge) -> Option<Step> {
        let of_left = self.aig.and_fanins(left.node());
        let of_right = self.aig.and_fanins(right.node());
        for (edge, other, fanins) in [(left, right, of_left), (right, left, of_right)] {
            let Some([a, b]) = fanins else { continue };
            if edge.is_negated() {
                // Subsumption: ¬(a ∧ b) ∧ ¬a = ¬a. Substitution: ¬(a ∧ b) ∧ a = ¬b ∧ a.
                if other == !a || other == !b {
                    return Some(Step::Done(other));
                }
                if other == a {
                    return Some(Step::Again(!b, other));
                }
                if other == b {
                    return Some(Step::Again(!a, other));
                }
            } else {
                // Idempotence: (a ∧ b) ∧ a = a ∧ b. Contradiction: (a ∧ b) ∧ ¬a = 0.
                if other == a || other == b {
                    return Some(Step::Done(edge));
                }
                if other == !a || other == !b {
                    return Some(Step::Done(Edge::FALSE));
                }
            }
        }
        let (Some([a, b]), Some([c, d])) = (of_left, of_right) else { return None };
        match (left.is_negated(), right.is_negated()) {
            (false, false) => {
                // Contradiction: (a ∧ b) ∧ (¬a ∧ d) = 0.
                [c, d].iter().any(|&x| x == !a || x == !b).then_some(Step::Done(Edge::FALSE))
            }
            (false, true) => self.beside_negated(left, [a, b], [c, d]),
            (true, false) => self.beside_negated(right, [c, d], [a, b]),
            (true, true) => {
                // Resolution: ¬(a ∧ b) ∧ ¬(a ∧ ¬b) = ¬a.
                for (x, y) in [(a, b), (b, a)] {
                    if [(c, d), (d, c)].contains(&(x, !y)) {
                        return Some(Step::Done(!x));
                    }
                }
                None
            }
        }
    }

    /// `edge ∧ ¬(c ∧ d)`, where `edge = a ∧ b`.
    fn beside_negated(&self, edge: Edge, [a, b]: [Edge; 2], [c, d]: [Edge; 2]) -> Option<Step> {
        let implied = |x: Edge| x == a || x == b;
        let refuted = |x: Edge| x == !a || x == !b;
        if refuted(c) || refuted(d) {
            return Some(Step::Done(edge));
        }
        match (implied(c), implied(d)) {
            (true, true) => Some(Step::Done(Edge::FALSE)),
            (true, false) => Some(Step::Again(edge, !d)),
            (false, true) => Some(Step::Again(edge, !c)),
            (false, false) => None,
        }
    }

    /// The disjunction of two edges.
    pub fn or(&mut self, left: Edge, right: Edge) -> Edge {
        !self.and(!left, !right)
    }

    /// Whether two edges differ.
    pub fn xor(&mut self, left: Edge, right: Edge) -> Edge {
        let both = self.and(left, right);
        let neither = self.and(!left, !right);
        self.and(!both, !neither)
    }

    /// Whether two edges are equal.
    pub fn iff(&mut self, left: Edge, right: Edge) -> Edge {
        !self.xor(left, right)
    }

    /// `then` where the condition holds, `other` elsewhere.
    pub fn ite(&mut self, condition: Edge, then: Edge, other: Edge) -> Edge {
        if then == !other {
            return self.iff(condition, then);
        }
        let yes = self.and(condition, then);
        let no = self.and(!condition, other);
        self.or(yes, no)
    }

    /// The conjunction of all edges, as a tree of small depth.
    pub fn and_all(&mut self, edges: impl IntoIterator<Item = Edge>) -> Edge {
        let mut edges: Vec<Edge> = edges.into_iter().collect();
        while edges.len() > 1 {
            edges = edges
                .chunks(2)
                .map(|pair| match *pair {
                    [left, right] => self.and(left, right),
                    _ => pair[0],
                })
                .collect();
        }
        edges.pop().unwrap_or(Edge::TRUE)
    }

    /// The disjunction of all edges.
    pub fn or_all(&mut self, edges: impl IntoIterator<Item = Edge>) -> Edge {
        !self.and_all(edges.into_iter().map(|edge| !edge))
    }

    /// Copies the cones of the roots from another graph; `leaf` says what its leaves are here. The result maps the
    /// nodes of that graph; nodes outside of the cones are `None`.
    pub fn copy_cones(
        &mut self,
        from: &Aig,
        roots: impl IntoIterator<Item = Edge>,
        mut leaf: impl FnMut(Node) -> Edge,
    ) -> Vec<Option<Edge>> {
        let cone = from.cone(roots);
        let mut map: Vec<Option<Edge>> = vec![None; from.len()];
        for node in from.nodes().filter(|node| cone[node.index()]) {
            map[node.index()] = Some(match from.and_fanins(node) {
                Some([left, right]) => {
                    let (left, right) = (mapped(&map, left), mapped(&map, right));
                    self.and(left, right)
                }
                None if node == Node::FALSE => Edge::FALSE,
                None => leaf(node),
            });
        }
        map
    }
}

/// The image of an edge under a map of nodes.
///
/// # Panics
/// If the map has no image of its node.
#[inline]
pub fn mapped(map: &[Option<Edge>], edge: Edge) -> Edge {
    map[edge.node().index()].expect("a mapped node").negate_if(edge.is_negated())
}

/// What a rule makes of a conjunction.
enum Step {
    Done(Edge),
    /// The conjunction of two other edges.
    Again(Edge, Edge),
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All functions of two levels over three leaves are built, and compared with their truth tables.
    #[test]
    fn simplification_keeps_the_function() {
        let mut builder = Builder::with_leaves(3);
        let mut plain: Vec<(Edge, u8)> = vec![(Edge::FALSE, 0)];
        for (leaf, table) in [(1, 0b1010_1010), (2, 0b1100_1100), (3, 0b1111_0000)] {
            plain.push((Node::from_index(leaf).into(), table));
        }
        for _ in 0..2 {
            let known = plain.clone();
            for (i, &(left, of_left)) in known.iter().enumerate() {
                for &(right, of_right) in &known[i..] {
                    for signs in 0..4u8 {
                        let (p, q) = (signs & 1 != 0, signs & 2 != 0);
                        let edge = builder.and(left.negate_if(p), right.negate_if(q));
                        let table =
                            (if p { !of_left } else { of_left }) & (if q { !of_right } else { of_right });
                        plain.push((edge, table));
                    }
                }
            }
            plain.sort_unstable();
            plain.dedup();
        }
        assert!(plain.len() > 100, "{} functions", plain.len());
        for row in 0..8 {
            let values = builder.aig().evaluate(|leaf| row >> (leaf.index() - 1) & 1 != 0);
            for &(edge, table) in &plain {
                assert_eq!(edge_value(&values, edge), table >> row & 1 != 0, "{edge:?} in row {row}");
            }
        }
    }

    #[test]
    fn equal_conjunctions_are_shared() {
        let mut builder = Builder::with_leaves(2);
        let (a, b): (Edge, Edge) = (Node::from_index(1).into(), Node::from_index(2).into());
        assert_eq!(builder.and(a, b), builder.and(b, a));
        let xor = builder.xor(a, b);
        assert_eq!(builder.xor(a, b), xor);
        let both = builder.and(a, b);
        assert_eq!(builder.and(!both, a), builder.and(a, !b), "substitution");
        assert_eq!(builder.ite(a, b, b), b);
        assert_eq!(builder.and_all([]), Edge::TRUE);
    }

    #[test]
    fn a_cone_holds_what_its_roots_depend_on() {
        let mut builder = Builder::with_leaves(3);
        let [a, b, c] = [1, 2, 3].map(|leaf| Edge::from(Node::from_index(leaf)));
        let ab = builder.and(a, b);
        let bc = builder.and(b, !c);
        let cone = builder.aig().cone([!ab]);
        assert!(cone[a.node().index()] && cone[b.node().index()] && cone[ab.node().index()]);
        assert!(!cone[c.node().index()] && !cone[bc.node().index()]);
    }
}
