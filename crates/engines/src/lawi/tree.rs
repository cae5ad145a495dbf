//! The unwinding: a tree of vertices with labels, and the covering relation.
//!
//! - U1: the label of the root is true, and for each edge from `u` to `v`, the label of `u` and the constraint imply
//!   that of `v`.
//! - U2: if `w` covers `v`, both have the same location, `w` is older than `v` and not below it, the label of `v`
//!   implies that of `w`, and neither `w` nor a vertex above it is covered. (As `w` is older, no two vertices cover
//!   each other, and no vertex is covered from below.)
//! - U3: the open vertices are those that are neither expanded nor dead, and not covered, by themselves or from above.
//!   A vertex after a query is never expanded; it stays open until its label is false.
//!
//! A vertex is *dead* if its label is false. Nothing follows from it, so all vertices below it are dead, too.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;
use shofar_horn::graph::{EdgeId, NodeId};
use shofar_logic::{Assignment, Term};

/// The index of a vertex, in order of age.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct VertexId(usize);

/// The location of a vertex.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Location {
    /// The root, before all facts.
    Root,
    /// At a predicate.
    Node(NodeId),
    /// After a query.
    Error,
}

/// A vertex of the tree.
#[derive(Debug)]
pub(super) struct Vertex {
    pub(super) location: Location,
    /// The vertex above and the clause that leads from there; `None` for the root.
    pub(super) above: Option<(VertexId, EdgeId)>,
    depth: usize,
    children: Vec<VertexId>,
    is_expanded: bool,
    /// The conjuncts of the label, over the variables of the predicate.
    pub(super) label: Vec<Term>,
    /// A model of the label, if one is known.
    pub(super) example: Option<Assignment>,
    covered_by: Option<VertexId>,
    covers: Vec<VertexId>,
    /// The path variables of this vertex, and the constraint of its clause over them and the path variables of the
    /// vertex above.
    pub(super) copy: Option<(Box<[Term]>, Term)>,
}

/// The unwinding.
pub(super) struct Tree {
    vertices: Vec<Vertex>,
    /// Indexed by predicate, from the oldest to the newest.
    at: Vec<Vec<VertexId>>,
    /// The open vertices (U3).
    open: BTreeSet<VertexId>,
}

impl Tree {
    pub(super) const ROOT: VertexId = VertexId(0);

    /// The tree with only a root, for the given number of predicates.
    pub(super) fn new(predicates: usize) -> Self {
        let mut tree = Tree { vertices: Vec::new(), at: vec![Vec::new(); predicates], open: BTreeSet::new() };
        tree.add(Location::Root, None);
        tree
    }

    /// Adds a vertex below another one, with the label true.
    pub(super) fn add(&mut self, location: Location, above: Option<(VertexId, EdgeId)>) -> VertexId {
        let id = VertexId(self.vertices.len());
        let depth = above.map_or(0, |(parent, _)| self[parent].depth + 1);
        self.vertices.push(Vertex {
            location,
            above,
            depth,
            children: Vec::new(),
            is_expanded: false,
            label: Vec::new(),
            example: None,
            covered_by: None,
            covers: Vec::new(),
            copy: None,
        });
        if let Some((parent, _)) = above {
            self[parent].children.push(id);
        }
        if let Location::Node(node) = location {
            self.at[node.index()].push(id);
        }
        self.open.insert(id);
        id
    }

    pub(super) fn len(&self) -> usize {
        self.vertices.len()
    }

    /// The oldest or the newest open vertex.
    pub(super) fn next_open(&self, oldest: bool) -> Option<VertexId> {
        if oldest { self.open.first().copied() } else { self.open.last().copied() }
    }

    pub(super) fn is_open(&self, vertex: VertexId) -> bool {
        self.open.contains(&vertex)
    }

    /// Marks a vertex as expanded: it gets its children now.
    pub(super) fn set_expanded(&mut self, vertex: VertexId) {
        self[vertex].is_expanded = true;
        self.open.remove(&vertex);
    }

    /// The older vertices of the same predicate, from the newest to the oldest.
    pub(super) fn older(&self, vertex: VertexId) -> impl Iterator<Item = VertexId> + '_ {
        let all: &[VertexId] = match self[vertex].location {
            Location::Node(node) => &self.at[node.index()],
            Location::Root | Location::Error => &[],
        };
        let older = all.partition_point(|&other| other < vertex);
        all[..older].iter().rev().copied()
    }

    /// The vertices of a predicate, from the oldest to the newest.
    pub(super) fn at(&self, node: NodeId) -> &[VertexId] {
        &self.at[node.index()]
    }

    /// The vertices of a predicate that are not covered, by themselves or from above.
    pub(super) fn uncovered(&self, node: NodeId) -> impl Iterator<Item = VertexId> + '_ {
        self.at(node).iter().copied().filter(|&vertex| !self.is_covered(vertex))
    }

    /// Whether a vertex is covered, by itself or from above.
    pub(super) fn is_covered(&self, vertex: VertexId) -> bool {
        self.upwards(vertex).any(|above| self[above].covered_by.is_some())
    }

    pub(super) fn is_dead(&self, vertex: VertexId) -> bool {
        self[vertex].label.contains(&Term::FALSE)
    }

    /// The vertex and all vertices above it, up to the root.
    fn upwards(&self, vertex: VertexId) -> impl Iterator<Item = VertexId> + '_ {
        std::iter::successors(Some(vertex), |&below| self[below].above.map(|(parent, _)| parent))
    }

    /// The vertices from an ancestor, exclusive, to a vertex, inclusive.
    pub(super) fn path(&self, from: VertexId, to: VertexId) -> Vec<VertexId> {
        let mut path: Vec<VertexId> = self.upwards(to).take_while(|&vertex| vertex != from).collect();
        path.reverse();
        path
    }

    /// The lowest common ancestor of two vertices; a vertex is an ancestor of itself.
    pub(super) fn common_ancestor(&self, first: VertexId, second: VertexId) -> VertexId {
        let above: FxHashSet<VertexId> = self.upwards(first).collect();
        self.upwards(second).find(|vertex| above.contains(vertex)).unwrap_or(Tree::ROOT)
    }

    /// Covers a vertex by another one, as U2 demands, and uncovers all vertices covered by its subtree.
    pub(super) fn cover(&mut self, vertex: VertexId, by: VertexId) {
        self[vertex].covered_by = Some(by);
        self[by].covers.push(vertex);
        for below in self.subtree(vertex) {
            self.open.remove(&below);
            self.uncover_all(below);
        }
    }

    /// Called after a label became stronger: the vertex covers nothing any more. If it is dead, so is its subtree.
    pub(super) fn strengthened(&mut self, vertex: VertexId) {
        if !self.is_dead(vertex) {
            self.uncover_all(vertex);
            return;
        }
        let dead = self.subtree(vertex);
        for &below in &dead {
            self[below].label = vec![Term::FALSE];
            self.open.remove(&below);
        }
        // Only now, since an uncovered vertex may be one of the dead ones.
        dead.into_iter().for_each(|below| self.uncover_all(below));
    }

    /// Uncovers all vertices that a vertex covers.
    fn uncover_all(&mut self, vertex: VertexId) {
        for freed in std::mem::take(&mut self[vertex].covers) {
            self[freed].covered_by = None;
            for below in self.subtree(freed) {
                if !self[below].is_expanded && !self.is_dead(below) && !self.is_covered(below) {
                    self.open.insert(below);
                }
            }
        }
    }

    /// A vertex and all vertices below it.
    fn subtree(&self, vertex: VertexId) -> Vec<VertexId> {
        let mut subtree = vec![vertex];
        let mut at = 0;
        while let Some(&next) = subtree.get(at) {
            subtree.extend_from_slice(&self[next].children);
            at += 1;
        }
        subtree
    }
}

impl std::ops::Index<VertexId> for Tree {
    type Output = Vertex;

    fn index(&self, VertexId(id): VertexId) -> &Vertex {
        &self.vertices[id]
    }
}

impl std::ops::IndexMut<VertexId> for Tree {
    fn index_mut(&mut self, VertexId(id): VertexId) -> &mut Vertex {
        &mut self.vertices[id]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vertex_after_a_query_is_open_until_its_label_is_false() {
        let (node, edge) = (NodeId::new(0), EdgeId::new(0));
        let mut tree = Tree::new(1);
        tree.set_expanded(Tree::ROOT);
        let older = tree.add(Location::Node(node), Some((Tree::ROOT, edge)));
        let newer = tree.add(Location::Node(node), Some((Tree::ROOT, edge)));
        tree.set_expanded(newer);
        let [first, second] = [0, 1].map(|_| tree.add(Location::Error, Some((newer, edge))));
        tree[first].label = vec![Term::FALSE];
        tree.strengthened(first);
        assert!(!tree.is_open(first) && tree.is_open(second));
        tree.cover(newer, older);
        assert!(!tree.is_open(second));
        tree.strengthened(older);
        assert!(!tree.is_open(first) && tree.is_open(second));
    }
}
