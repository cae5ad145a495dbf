//! Weak equivalence: which arrays of one sort are equal except at a few indices.
//!
//! The vertices are classes of arrays, and each write `s = store(a, i, v)` is an edge between `a` and `s` with the
//! label `i`. Arrays in one component are equal almost everywhere. At an index `j` they are equal if a path connects
//! them without the label `j`.
//!
//! **Pieces.** A spanning tree of a component falls into *pieces* at an index `j` if the edges with that label are
//! removed. A vertex is in the piece of its nearest ancestor whose edge to the parent has the label, or else of the
//! root. An edge outside of the tree connects pieces: the two vertices are in different pieces only at labels on the
//! tree path between them. So there is work only for cycles. [`Slots`] joins the pieces with one element, and keeps
//! what is known of the element.
//!
//! Source: J. Christ, J. Hoenicke, "Weakly equivalent arrays" (FroCoS 2015), for the relation. The tree is ours: it
//! takes the place of their edges that are turned around.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::theory::euf::Node;

/// A write between two classes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    /// The vertices of the array before and after the write.
    pub(super) ends: [u32; 2],
    /// The index.
    pub(super) label: u32,
    /// The array after the write, as a node.
    pub(super) write: Node,
}

/// The graph, with a spanning forest.
#[derive(Default, Debug)]
pub(super) struct WeakGraph {
    edges: Vec<Edge>,
    /// By vertices: the numbers of their edges.
    adjacent: Vec<Vec<u32>>,
    /// By vertices: the parent, and the edge to it.
    parents: Vec<Option<(u32, u32)>>,
    depths: Vec<u32>,
    roots: Vec<u32>,
    /// By vertices: their place in preorder, and that after their last descendant.
    spans: Vec<(u32, u32)>,
    /// By labels: the vertices whose edge to the parent has the label, in preorder.
    heads: FxHashMap<u32, Vec<u32>>,
    /// For vertices in `heads`: the nearest one above with the same label.
    above: Vec<Option<u32>>,
    /// The vertices in preorder.
    order: Vec<u32>,
    /// The edges outside of the forest.
    extra: Vec<u32>,
}

impl WeakGraph {
    /// The graph with vertices numbered from zero.
    pub(super) fn new(vertices: usize, edges: Vec<Edge>) -> Self {
        let mut adjacent: Vec<Vec<u32>> = vec![Vec::new(); vertices];
        for (number, edge) in edges.iter().enumerate() {
            edge.ends.iter().for_each(|&end| adjacent[end as usize].push(number as u32));
        }
        let mut graph = WeakGraph {
            edges,
            adjacent,
            parents: vec![None; vertices],
            depths: vec![0; vertices],
            roots: vec![u32::MAX; vertices],
            spans: vec![(0, 0); vertices],
            heads: FxHashMap::default(),
            above: vec![None; vertices],
            order: Vec::with_capacity(vertices),
            extra: Vec::new(),
        };
        graph.grow_forest();
        graph.number_vertices();
        graph
    }

    /// Finds a spanning forest, breadth first: paths in it are short.
    fn grow_forest(&mut self) {
        let mut is_in_forest = vec![false; self.edges.len()];
        let mut open: Vec<u32> = Vec::new();
        for root in 0..self.roots.len() as u32 {
            if self.roots[root as usize] != u32::MAX {
                continue;
            }
            self.roots[root as usize] = root;
            open.clear();
            open.push(root);
            let mut done = 0;
            while let Some(&vertex) = open.get(done) {
                done += 1;
                for &edge in &self.adjacent[vertex as usize] {
                    let other = self.other_end(edge, vertex);
                    if self.roots[other as usize] == u32::MAX {
                        self.roots[other as usize] = root;
                        self.parents[other as usize] = Some((vertex, edge));
                        self.depths[other as usize] = self.depths[vertex as usize] + 1;
                        is_in_forest[edge as usize] = true;
                        open.push(other);
                    }
                }
            }
        }
        let outside = is_in_forest.iter().enumerate().filter(|(_, is_in)| !**is_in);
        self.extra = outside.map(|(edge, _)| edge as u32).collect();
    }

    /// Numbers the vertices in preorder, and lists the heads of pieces.
    fn number_vertices(&mut self) {
        let mut children: Vec<Vec<u32>> = vec![Vec::new(); self.roots.len()];
        for (vertex, parent) in self.parents.iter().enumerate() {
            if let Some((parent, _)) = parent {
                children[*parent as usize].push(vertex as u32);
            }
        }
        for root in 0..self.roots.len() as u32 {
            if self.roots[root as usize] != root {
                continue;
            }
            let mut path = vec![root];
            self.enter(root);
            while let Some(&vertex) = path.last() {
                match children[vertex as usize].pop() {
                    Some(child) => {
                        self.enter(child);
                        path.push(child);
                    }
                    None => {
                        self.spans[vertex as usize].1 = self.order.len() as u32;
                        path.pop();
                    }
                }
            }
        }
    }

    fn enter(&mut self, vertex: u32) {
        self.spans[vertex as usize].0 = self.order.len() as u32;
        self.order.push(vertex);
        if let Some((parent, edge)) = self.parents[vertex as usize] {
            let label = self.edges[edge as usize].label;
            self.above[vertex as usize] = self.head(parent, label);
            self.heads.entry(label).or_default().push(vertex);
        }
    }

    fn other_end(&self, edge: u32, vertex: u32) -> u32 {
        let [left, right] = self.edges[edge as usize].ends;
        if left == vertex { right } else { left }
    }

    /// The vertices, each after its parent, with the parent and the label of the edge to it.
    pub(super) fn vertices(&self) -> impl Iterator<Item = (u32, Option<(u32, u32)>)> + '_ {
        self.order.iter().map(|&vertex| {
            let parent = self.parents[vertex as usize];
            (vertex, parent.map(|(parent, edge)| (parent, self.edges[edge as usize].label)))
        })
    }

    /// The root of the component of a vertex.
    pub(super) fn root(&self, vertex: u32) -> u32 {
        self.roots[vertex as usize]
    }

    /// The nearest vertex from this one upwards whose edge to the parent has the label.
    fn head(&self, vertex: u32, label: u32) -> Option<u32> {
        let heads = self.heads.get(&label)?;
        let place = self.spans[vertex as usize].0;
        let before = heads.partition_point(|&head| self.spans[head as usize].0 <= place);
        let mut head = before.checked_sub(1).map(|last| heads[last]);
        // A vertex on the current path has no end yet while the graph is made.
        while let Some(at) = head
            && self.spans[at as usize].1 != 0
            && self.spans[at as usize].1 <= place
        {
            head = self.above[at as usize];
        }
        head
    }

    /// The piece of a vertex at a label, by its highest vertex.
    fn piece(&self, vertex: u32, label: u32) -> u32 {
        self.head(vertex, label).unwrap_or_else(|| self.root(vertex))
    }

    /// The labels on the tree path between two vertices of one component, each once, ascending.
    pub(super) fn labels_between(&self, mut left: u32, mut right: u32) -> Vec<u32> {
        let mut labels = Vec::new();
        while left != right {
            if self.depths[left as usize] < self.depths[right as usize] {
                (left, right) = (right, left);
            }
            let (parent, edge) = self.parents[left as usize].expect("the deeper vertex is not the root");
            labels.push(self.edges[edge as usize].label);
            left = parent;
        }
        labels.sort_unstable();
        labels.dedup();
        labels
    }

    /// A shortest path between two vertices without a label, as its writes.
    pub(super) fn path(&self, from: u32, to: u32, without: Option<u32>) -> Vec<Node> {
        let mut reached: FxHashMap<u32, (u32, u32)> = FxHashMap::default();
        let mut seen: FxHashSet<u32> = FxHashSet::from_iter([from]);
        let mut open = vec![from];
        let mut done = 0;
        while let Some(&vertex) = open.get(done) {
            if vertex == to {
                break;
            }
            done += 1;
            for &edge in &self.adjacent[vertex as usize] {
                let other = self.other_end(edge, vertex);
                if Some(self.edges[edge as usize].label) != without && seen.insert(other) {
                    reached.insert(other, (vertex, edge));
                    open.push(other);
                }
            }
        }
        let mut path = Vec::new();
        let mut at = to;
        while at != from {
            let (before, edge) = reached[&at];
            path.push(self.edges[edge as usize].write);
            at = before;
        }
        path
    }
}

/// For labels and pieces, what is known of the element.
#[derive(Debug)]
pub(super) struct Slots<R> {
    numbers: FxHashMap<(u32, u32), u32>,
    /// By slots: the slot that stands for it.
    leaders: Vec<u32>,
    readings: Vec<Option<R>>,
}

impl<R: Copy> Slots<R> {
    /// The slots of a graph, without readings.
    pub(super) fn new(graph: &WeakGraph) -> Self {
        let mut slots = Slots { numbers: FxHashMap::default(), leaders: Vec::new(), readings: Vec::new() };
        for &edge in &graph.extra {
            let Edge { ends: [left, right], label, .. } = graph.edges[edge as usize];
            for other in graph.labels_between(left, right) {
                if other != label {
                    let [left, right] = [left, right].map(|vertex| slots.slot(graph, vertex, other));
                    slots.join(left, right);
                }
            }
        }
        slots
    }

    fn slot(&mut self, graph: &WeakGraph, vertex: u32, label: u32) -> u32 {
        let next = self.leaders.len() as u32;
        let slot = *self.numbers.entry((label, graph.piece(vertex, label))).or_insert(next);
        if slot == next {
            self.leaders.push(slot);
            self.readings.push(None);
        }
        slot
    }

    fn join(&mut self, left: u32, right: u32) {
        let [left, right] = [left, right].map(|slot| self.leader(slot));
        self.leaders[left.max(right) as usize] = left.min(right);
    }

    fn leader(&self, mut slot: u32) -> u32 {
        while self.leaders[slot as usize] != slot {
            slot = self.leaders[slot as usize];
        }
        slot
    }

    /// Adds what is known of an element, and returns what was known before.
    pub(super) fn add(&mut self, graph: &WeakGraph, vertex: u32, label: u32, reading: R) -> Option<R> {
        let slot = self.slot(graph, vertex, label);
        let leader = self.leader(slot) as usize;
        let before = self.readings[leader];
        self.readings[leader].get_or_insert(reading);
        before
    }

    /// What is known of the element of an array at an index.
    pub(super) fn get(&self, graph: &WeakGraph, vertex: u32, label: u32) -> Option<R> {
        let &slot = self.numbers.get(&(label, graph.piece(vertex, label)))?;
        self.readings[self.leader(slot) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shofar_testing::{Random, scale};

    /// Whether a path without the label connects the vertices.
    fn is_connected(edges: &[Edge], from: u32, to: u32, label: u32) -> bool {
        let mut reached = FxHashSet::from_iter([from]);
        loop {
            let before = reached.len();
            for edge in edges.iter().filter(|edge| edge.label != label) {
                if edge.ends.iter().any(|end| reached.contains(end)) {
                    reached.extend(edge.ends);
                }
            }
            if reached.len() == before {
                return reached.contains(&to);
            }
        }
    }

    #[test]
    fn pieces_are_connected_without_the_label() {
        let (mut equal, mut different) = (0, 0);
        for seed in 0..500 * scale() {
            let mut random = Random::new(seed);
            let (vertices, labels) = (2 + random.below(7) as u32, 1 + random.below(4) as u32);
            let count = random.below(12);
            let edges: Vec<Edge> = (0..count)
                .map(|number| Edge {
                    ends: [0; 2].map(|_| random.below(vertices as usize) as u32),
                    label: random.below(labels as usize) as u32,
                    write: Node(number as u32),
                })
                .collect();
            let graph = WeakGraph::new(vertices as usize, edges.clone());
            for label in 0..=labels {
                let mut slots = Slots::new(&graph);
                for left in 0..vertices {
                    let before = slots.add(&graph, left, label, left);
                    let expected = (0..left).find(|&other| is_connected(&edges, other, left, label));
                    assert_eq!(before, expected, "{seed}: {label} {left}");
                    match before {
                        Some(_) => equal += 1,
                        None => different += 1,
                    }
                }
                for (left, right) in (0..vertices).flat_map(|left| (0..left).map(move |right| (left, right)))
                {
                    if is_connected(&edges, left, right, label) {
                        let mut at = left;
                        for &Node(number) in graph.path(right, left, Some(label)).iter() {
                            let edge = edges[number as usize];
                            assert!(edge.label != label && edge.ends.contains(&at), "{seed}");
                            at = if edge.ends[0] == at { edge.ends[1] } else { edge.ends[0] };
                        }
                        assert_eq!(at, right);
                    }
                }
            }
        }
        assert!(equal > 1000 && different > 1000, "{equal} {different}");
    }
}
