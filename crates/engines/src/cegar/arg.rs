//! The abstract reachability graph: a tree of abstract states, and the covering relation.
//!
//! A node is a location with a *label*, a set of formulas about the location's variables. It represents the states that
//! satisfy all of them.
//!
//! - A1: the root is at the entry, with an empty label. If an edge of a node was executed, each successor of the node's
//!   states along it satisfies the label of one of the children by this edge.
//! - A2: if `c` covers `n`, both have the same location, the label of `n` implies that of `c`, `n` has no children, and `c` is
//!   not covered. (So no cycle of covering nodes exists, and nothing is below a covered node.)
//! - A3: the *open* nodes are those that have edges to execute and are not covered. The graph is complete if none is open.
//! - A4: nodes at the error location have no edges to execute and are never covered; they are the *targets*. The graph is safe
//!   if it has none.
//!
//! Node predicates of the literature: no node has a false label, so *subsumed* is covered, and by A2 *excluded* is, too.
//!
//! Nodes that pruning has removed keep their index, so indices are in order of age.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;
use shofar_horn::cfa::{CfaEdgeId, LocationId};
use shofar_logic::{Assignment, Term};

use super::program::Program;
use super::search::{Priority, Search};

/// A set of formulas, in ascending order; the empty set is true.
pub(super) type Label = Box<[Term]>;

/// A label, and a state that satisfies it, if one is known.
#[derive(Clone, Debug)]
pub(super) struct AbstractState {
    pub(super) label: Label,
    pub(super) example: Option<Assignment>,
}

/// The label of formulas.
pub(super) fn label_of(formulas: impl IntoIterator<Item = Term>) -> Label {
    let mut label: Vec<Term> = formulas.into_iter().collect();
    label.sort_unstable();
    label.dedup();
    label.into()
}

/// Whether all members of a set are in another one; both are ascending.
pub(super) fn is_subset(part: &[Term], whole: &[Term]) -> bool {
    let mut rest = whole.iter();
    part.len() <= whole.len() && part.iter().all(|member| rest.by_ref().any(|other| other == member))
}

/// The index of a node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct ArgNodeId(usize);

/// A node.
#[derive(Debug)]
pub(super) struct ArgNode {
    pub(super) location: LocationId,
    pub(super) state: AbstractState,
    /// The number of terms that the location tracked when the label was computed.
    pub(super) tracked: usize,
    /// The node above and the edge that leads from there; `None` for the root.
    pub(super) above: Option<(ArgNodeId, CfaEdgeId)>,
    depth: u64,
    children: Vec<ArgNodeId>,
    /// The edges that are not executed yet, the next one last.
    edges: Vec<CfaEdgeId>,
    covered_by: Option<ArgNodeId>,
    covers: Vec<ArgNodeId>,
}

/// The graph.
pub(super) struct Arg<'a> {
    program: &'a Program<'a>,
    search: Search,
    nodes: Vec<ArgNode>,
    /// Indexed by location, from the oldest to the newest; without removed nodes.
    at: Vec<Vec<ArgNodeId>>,
    /// The open nodes (A3), the next one first.
    open: BTreeSet<(Priority, ArgNodeId)>,
    /// The nodes at the error location (A4).
    targets: BTreeSet<ArgNodeId>,
    /// Counters: nodes and coverings so far, with those that were removed.
    pub(super) created: u64,
    pub(super) coverings: u64,
}

impl<'a> Arg<'a> {
    /// The graph with only a root.
    pub(super) fn new(program: &'a Program<'a>, search: Search) -> Self {
        let mut arg = Arg {
            program,
            search,
            nodes: Vec::new(),
            at: vec![Vec::new(); program.cfa.locations().len()],
            open: BTreeSet::new(),
            targets: BTreeSet::new(),
            created: 0,
            coverings: 0,
        };
        arg.add_root();
        arg
    }

    fn add_root(&mut self) {
        let state = AbstractState { label: Label::default(), example: None };
        self.add(self.program.cfa.entry(), state, 0, None);
    }

    /// Adds a node below another one.
    pub(super) fn add(
        &mut self,
        location: LocationId,
        state: AbstractState,
        tracked: usize,
        above: Option<(ArgNodeId, CfaEdgeId)>,
    ) -> ArgNodeId {
        let id = ArgNodeId(self.nodes.len());
        let depth = above.map_or(0, |(parent, _)| self[parent].depth + 1);
        let edges = self.edges_in_order(location);
        self.nodes.push(ArgNode {
            location,
            state,
            tracked,
            above,
            depth,
            children: Vec::new(),
            edges,
            covered_by: None,
            covers: Vec::new(),
        });
        if let Some((parent, _)) = above {
            self[parent].children.push(id);
        }
        self.at[location.index()].push(id);
        if self.program.is_error(location) {
            self.targets.insert(id);
        }
        self.created += 1;
        self.open_if_incomplete(id);
        id
    }

    /// The edges of a location, those nearest to the error location last: they are executed first.
    fn edges_in_order(&self, location: LocationId) -> Vec<CfaEdgeId> {
        let cfa = self.program.cfa;
        let mut edges = cfa.outgoing(location).to_vec();
        let distance = |edge: CfaEdgeId| self.program.distance(cfa.edge(edge).target).unwrap_or(u64::MAX);
        edges.sort_by_key(|&edge| std::cmp::Reverse(distance(edge)));
        edges
    }

    fn priority(&self, node: ArgNodeId) -> Priority {
        self.search.priority(self[node].depth, self.program.distance(self[node].location))
    }

    fn open_if_incomplete(&mut self, node: ArgNodeId) {
        if !self[node].edges.is_empty() && !self.is_covered(node) {
            self.open.insert((self.priority(node), node));
        }
    }

    fn close(&mut self, node: ArgNodeId) {
        self.open.remove(&(self.priority(node), node));
    }

    /// The next open node.
    pub(super) fn next_open(&self) -> Option<ArgNodeId> {
        self.open.first().map(|&(_, node)| node)
    }

    /// A target.
    pub(super) fn target(&self) -> Option<ArgNodeId> {
        self.targets.first().copied()
    }

    /// The next edge of a node to be executed. The caller adds its children.
    pub(super) fn next_edge(&mut self, node: ArgNodeId) -> Option<CfaEdgeId> {
        let edge = self[node].edges.pop();
        if self[node].edges.is_empty() {
            self.close(node);
        }
        edge
    }

    /// The children by an edge.
    pub(super) fn children(&self, node: ArgNodeId, edge: CfaEdgeId) -> impl Iterator<Item = ArgNodeId> + '_ {
        let by_edge = move |child: &ArgNodeId| self[*child].above.is_some_and(|(_, by)| by == edge);
        self[node].children.iter().copied().filter(by_edge)
    }

    pub(super) fn is_covered(&self, node: ArgNodeId) -> bool {
        self[node].covered_by.is_some()
    }

    pub(super) fn is_leaf(&self, node: ArgNodeId) -> bool {
        self[node].children.is_empty()
    }

    /// The nodes that may cover another one if its label implies theirs, the oldest first.
    pub(super) fn candidates(&self, node: ArgNodeId) -> Vec<ArgNodeId> {
        let all = self.at[self[node].location.index()].iter().copied();
        all.filter(|&other| other != node && !self.is_covered(other)).collect()
    }

    /// Covers a leaf by another node (A2). The other node also covers the nodes that the leaf covered.
    pub(super) fn cover(&mut self, node: ArgNodeId, by: ArgNodeId) {
        self.coverings += 1;
        let mut moved = std::mem::take(&mut self[node].covers);
        moved.push(node);
        for &covered in &moved {
            self[covered].covered_by = Some(by);
        }
        self[by].covers.extend(moved);
        self.close(node);
    }

    /// The uncovered nodes of a location.
    pub(super) fn uncovered(&self, location: LocationId) -> impl Iterator<Item = ArgNodeId> + '_ {
        self.at[location.index()].iter().copied().filter(|&node| !self.is_covered(node))
    }

    /// The nodes from the root to a node, both inclusive.
    pub(super) fn path(&self, node: ArgNodeId) -> Vec<ArgNodeId> {
        let above = |&node: &ArgNodeId| self[node].above.map(|(parent, _)| parent);
        let mut path: Vec<ArgNodeId> = std::iter::successors(Some(node), above).collect();
        path.reverse();
        path
    }

    /// Removes a node and all nodes below it. The edge that leads to it is to be executed again, with the children that it
    /// has apart from this one; covered nodes are open again if the covering node is removed.
    pub(super) fn prune(&mut self, node: ArgNodeId) {
        let Some((parent, edge)) = self[node].above else { return self.clear() };
        let mut removed = vec![node];
        let mut at = 0;
        while let Some(&next) = removed.get(at) {
            removed.extend_from_slice(&self[next].children);
            at += 1;
        }
        let is_removed: FxHashSet<ArgNodeId> = removed.iter().copied().collect();
        for &gone in &removed {
            self.close(gone);
            self.targets.remove(&gone);
            self[gone].edges.clear();
            if let Some(by) = self[gone].covered_by.take()
                && !is_removed.contains(&by)
            {
                self[by].covers.retain(|other| !is_removed.contains(other));
            }
        }
        let locations: BTreeSet<LocationId> = removed.iter().map(|&gone| self[gone].location).collect();
        for location in locations {
            self.at[location.index()].retain(|other| !is_removed.contains(other));
        }
        for &gone in &removed {
            for freed in std::mem::take(&mut self[gone].covers) {
                if !is_removed.contains(&freed) {
                    self[freed].covered_by = None;
                    self.open_if_incomplete(freed);
                }
            }
        }
        self[parent].children.retain(|&child| child != node);
        if !self[parent].edges.contains(&edge) {
            self[parent].edges.push(edge);
        }
        self.open_if_incomplete(parent);
    }

    /// Removes all nodes but a new root.
    pub(super) fn clear(&mut self) {
        self.nodes.clear();
        self.at.iter_mut().for_each(Vec::clear);
        self.open.clear();
        self.targets.clear();
        self.add_root();
    }

    /// Checks A2 to A4.
    #[cfg(any(test, debug_assertions))]
    pub(super) fn check_invariants(&self) {
        for &node in self.at.iter().flatten() {
            if let Some(by) = self[node].covered_by {
                assert!(self[by].location == self[node].location && !self.is_covered(by), "A2");
                assert!(self.is_leaf(node) && self[by].covers.contains(&node), "A2");
            }
            let is_open = self.open.contains(&(self.priority(node), node));
            assert_eq!(is_open, !self[node].edges.is_empty() && !self.is_covered(node), "A3");
            assert_eq!(self.targets.contains(&node), self.program.is_error(self[node].location), "A4");
        }
    }
}

impl std::ops::Index<ArgNodeId> for Arg<'_> {
    type Output = ArgNode;

    fn index(&self, ArgNodeId(id): ArgNodeId) -> &ArgNode {
        &self.nodes[id]
    }
}

impl std::ops::IndexMut<ArgNodeId> for Arg<'_> {
    fn index_mut(&mut self, ArgNodeId(id): ArgNodeId) -> &mut ArgNode {
        &mut self.nodes[id]
    }
}

#[cfg(test)]
mod tests {
    use shofar_horn::{HornGraph, cfa, parse};
    use shofar_logic::TermStore;

    use super::*;

    /// A loop with two entries.
    const LOOP: &str = "(declare-fun P (Int) Bool)
        (assert (P 0)) (assert (P 1))
        (assert (forall ((x Int)) (=> (P x) (P (+ x 1)))))
        (assert (forall ((x Int)) (=> (and (P x) (< x 0)) false)))";

    /// Executes the next edge of a node, with one child.
    fn child(arg: &mut Arg<'_>, node: ArgNodeId) -> ArgNodeId {
        let edge = arg.next_edge(node).unwrap();
        let location = arg.program.cfa.edge(edge).target;
        let state = AbstractState { label: Label::default(), example: None };
        arg.add(location, state, 0, Some((node, edge)))
    }

    fn with_loop(test: impl FnOnce(&mut Arg<'_>)) {
        let store = TermStore::new();
        let system = parse(&store, "test", LOOP.as_bytes()).unwrap();
        let automaton = cfa::forward(&store, &HornGraph::of(&store, &system)).unwrap();
        let program = Program::new(&store, &automaton.cfa).unwrap();
        test(&mut Arg::new(&program, Search::Breadth));
    }

    /// The root, its two children, and a child of the second one behind the edge to the error.
    fn nodes(arg: &mut Arg<'_>) -> [ArgNodeId; 4] {
        let root = arg.next_open().unwrap();
        let (first, second) = (child(arg, root), child(arg, root));
        arg.next_edge(second);
        [root, first, second, child(arg, second)]
    }

    #[test]
    fn a_covering_node_that_is_covered_passes_on_what_it_covers() {
        with_loop(|arg| {
            let [_, first, second, below] = nodes(arg);
            arg.cover(below, first);
            arg.cover(first, second);
            assert_eq!((arg[below].covered_by, arg[first].covered_by), (Some(second), Some(second)));
            assert_eq!(arg.next_open(), None);
            arg.check_invariants();
        });
    }

    #[test]
    fn pruning_uncovers_and_executes_the_edge_again() {
        with_loop(|arg| {
            let [root, first, second, below] = nodes(arg);
            arg.cover(first, below);
            assert_eq!(arg.next_open(), Some(below));
            arg.prune(second);
            arg.check_invariants();
            assert!(!arg.is_covered(first));
            assert_eq!(arg.next_open(), Some(root));
            let edge = arg.next_edge(root).unwrap();
            assert_eq!((arg.children(root, edge).count(), arg.next_open()), (0, Some(first)));
        });
    }

    #[test]
    fn a_target_is_found_before_other_children() {
        with_loop(|arg| {
            let root = arg.next_open().unwrap();
            let first = child(arg, root);
            assert_eq!(arg.target(), None);
            let target = child(arg, first);
            assert_eq!(arg.target(), Some(target));
            arg.prune(target);
            assert_eq!(arg.target(), None);
        });
    }

    #[test]
    fn subsets_of_labels() {
        let terms = [Term::TRUE, Term::FALSE];
        let label = label_of(terms);
        assert!(is_subset(&[], &label) && is_subset(&label, &label));
        assert!(is_subset(&label[1..], &label) && !is_subset(&label, &label[1..]));
        assert_eq!(label_of([Term::TRUE, Term::TRUE]).len(), 1);
    }
}
