//! The proof forest, and explanations and proofs from it.
//!
//! **The forest.** To join two nodes, the tree of the lighter class is re-rooted at its node and attached below the
//! other node. This costs no more than relabelling the class. Removing an edge splits the tree at the edge; the
//! orientation of its parts does not matter.
//!
//! **Explaining** two nodes collects the edges on the path between them, and for each derived edge also those on the
//! paths between its premises, such as the arguments of congruent applications. A naive implementation visits edges
//! repeatedly, exponentially often in diamonds. Therefore explained edges are contracted, by a union-find structure
//! whose representatives are the nodes nearest to the root: a path jumps over contracted edges, and each edge is
//! visited once. The search for the common ancestor alternates between both nodes, one step each. It takes at most
//! twice as many steps as the path has edges, and then contracts all of them. The total is almost linear in the number
//! of edges found (times the arity), however large the graph.
//!
//! Sorting the edges by age gives a proof in dependency order, by I4.

use super::egraph::EGraph;
use super::{Apart, Conflict, Node, Propagation, Reason};

/// Why two nodes were joined.
pub(super) use ProofWhy as Why;

const NONE: u32 = u32::MAX;

/// The age of an edge in the proof forest: the number of older edges. After a pop times are reused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Time(pub u32);

/// A proof that nodes are equal: a forest whose paths are chains of equalities.
#[derive(Clone, Debug)]
pub struct Proof {
    edges: Vec<ProofEdge>,
    /// The premises of edges, consecutively.
    pairs: Vec<(Node, Node)>,
    /// The nodes on edges, ascending; other fields use positions in this vector.
    nodes: Vec<Node>,
    /// The position of the parent and the edge to it, or `NONE` twice.
    parents: Vec<(u32, u32)>,
    depths: Vec<u32>,
}

/// An equality in a proof.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProofEdge {
    /// The left side.
    pub left: Node,
    /// The right side.
    pub right: Node,
    /// Where it comes from.
    pub why: ProofWhy,
    pairs: (u32, u32),
}

/// Where an equality in a proof comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProofWhy {
    /// It was asserted.
    Input(Reason),
    /// Both sides are applications of one function to equal arguments; [`Proof::premises`] returns them.
    Congruence,
    /// The sides are arguments at one position of two applications of a constructor, which are equal.
    Injection(Node, Node),
    /// One side is a selector or tester whose argument equals an application of a constructor, and the other one its
    /// value there.
    Reduction {
        /// The selector or tester.
        operator: Node,
        /// The application of the constructor.
        made: Node,
    },
}

/// An equality that an explanation uses, with the level at which it was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LevelledEdge {
    /// The left side.
    pub left: Node,
    /// The right side.
    pub right: Node,
    /// The number of open levels.
    pub level: usize,
    /// Whether it follows from others; otherwise it was asserted.
    pub is_derived: bool,
}

/// An edge on a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PathStep {
    /// Its index in [`Proof::edges`].
    pub edge: usize,
    /// Whether the path goes from the right side of the edge to the left.
    pub is_reversed: bool,
}

impl EGraph {
    /// Appends reasons that imply that the nodes are equal, each once. All were asserted before the nodes became equal,
    /// whatever was asserted since.
    ///
    /// # Panics
    /// If the nodes are not equal.
    pub fn explain(&mut self, left: Node, right: Node, out: &mut Vec<Reason>) {
        self.explain_pairs(&[(left, right)], None, out);
    }

    /// Appends reasons that imply that the watched equation is true, or false. All were asserted before it was
    /// reported.
    ///
    /// # Panics
    /// May panic if the propagation was popped.
    pub fn explain_propagation(&mut self, propagation: &Propagation, out: &mut Vec<Reason>) {
        let Propagation { left, right, apart, .. } = *propagation;
        match apart {
            None => self.explain(left, right, out),
            Some(apart) => {
                self.explain_pairs(&[(left, apart.left), (right, apart.right)], apart.reason, out);
            }
        }
    }

    /// Appends contradictory reasons.
    ///
    /// # Panics
    /// May panic if the conflict was popped.
    pub fn explain_conflict(&mut self, conflict: &Conflict, out: &mut Vec<Reason>) {
        let Apart { left, right, reason } = conflict.0;
        self.explain_pairs(&[(left, right)], reason, out);
    }

    /// Appends reasons that imply that the nodes are distinct, each once. Returns `false`, and appends nothing, if they
    /// are not.
    pub fn explain_distinct(&mut self, left: Node, right: Node, out: &mut Vec<Reason>) -> bool {
        let Some(apart) = self.apart_roots(self.root(left), self.root(right)) else { return false };
        let (first, second) = if self.are_equal(left, apart.left) { (left, right) } else { (right, left) };
        self.explain_pairs(&[(first, apart.left), (second, apart.right)], apart.reason, out);
        true
    }

    /// Appends reasons that imply a [cycle](Self::cycle), each once.
    ///
    /// # Panics
    /// If the nodes do not form a cycle.
    pub fn explain_cycle(&mut self, cycle: &[Node], out: &mut Vec<Reason>) {
        let links = self.links_of_cycle(cycle);
        self.explain_pairs(&links, None, out);
    }

    fn explain_pairs(&mut self, pairs: &[(Node, Node)], and: Option<Reason>, out: &mut Vec<Reason>) {
        let start = out.len();
        out.extend(and);
        self.collect_edges(pairs);
        for &edge in &self.explainer.edges {
            if let Why::Input(reason) = self.forest.edges[edge as usize].why {
                out.push(reason);
            }
        }
        // Each edge is visited once, but one reason may justify several of them.
        out[start..].sort_unstable();
        let mut kept = start;
        for at in start..out.len() {
            if at == start || out[at] != out[kept - 1] {
                out[kept] = out[at];
                kept += 1;
            }
        }
        out.truncate(kept);
    }

    /// A proof that the nodes of each pair are equal.
    ///
    /// # Panics
    /// If they are not.
    pub fn prove(&mut self, pairs: &[(Node, Node)]) -> Proof {
        self.collect_edges(pairs);
        let mut collected = std::mem::take(&mut self.explainer.edges);
        collected.sort_unstable();
        let proof = Proof::new(self, &collected);
        self.explainer.edges = collected;
        proof
    }

    /// The equalities that the last explanation uses, by age: an equality comes after its premises. Valid until the
    /// graph is changed or another explanation is requested.
    pub(crate) fn explained_edges(&self) -> Vec<(Node, Node, ProofWhy)> {
        let mut edges = self.explainer.edges.clone();
        edges.sort_unstable();
        let edges = edges.into_iter().map(|edge| self.forest.edges[edge as usize]);
        edges.map(|Edge { left, right, why }| (left, right, why)).collect()
    }

    /// The equalities that the last explanation uses, by age, with their levels. Valid until the graph is changed or
    /// another explanation is requested.
    pub fn levelled_edges(&self, out: &mut Vec<LevelledEdge>) {
        out.clear();
        let mut edges = self.explainer.edges.clone();
        edges.sort_unstable();
        out.extend(edges.into_iter().map(|number| {
            let Edge { left, right, why } = self.forest.edges[number as usize];
            let level = self.level_of_edge(number);
            LevelledEdge { left, right, level, is_derived: !matches!(why, Why::Input(_)) }
        }));
    }

    /// When the nodes became equal: the age of the newest edge between them. `None` if they are not equal; a node is
    /// equal to itself since time zero.
    pub fn equal_since(&mut self, left: Node, right: Node) -> Option<Time> {
        if !self.are_equal(left, right) {
            return None;
        }
        self.explainer.start(self.forest.links.len());
        self.explainer.contract_path(&self.forest, left, right);
        let newest = self.explainer.edges.iter().max().map_or(0, |&edge| edge + 1);
        self.explainer.finish();
        Some(Time(newest))
    }

    /// The current time, greater than that of all equalities so far.
    pub fn now(&self) -> Time {
        Time(self.forest.edges.len() as u32 + 1)
    }

    /// Stores in `explainer.edges` the edges that the equality of all pairs depends on.
    fn collect_edges(&mut self, pairs: &[(Node, Node)]) {
        let mut explainer = std::mem::take(&mut self.explainer);
        explainer.start(self.forest.links.len());
        explainer.open.extend_from_slice(pairs);
        while let Some((left, right)) = explainer.open.pop() {
            let first_new = explainer.edges.len();
            explainer.contract_path(&self.forest, left, right);
            for at in first_new..explainer.edges.len() {
                let edge = &self.forest.edges[explainer.edges[at] as usize];
                let open = &mut explainer.open;
                self.for_premises(edge, |left, right| {
                    if left != right {
                        open.push((left, right));
                    }
                });
            }
        }
        explainer.finish();
        self.explainer = explainer;
    }

    /// Visits the pairs of nodes whose equality an edge depends on.
    pub(super) fn for_premises(&self, &Edge { left, right, why }: &Edge, mut visit: impl FnMut(Node, Node)) {
        match why {
            Why::Input(_) => {}
            Why::Congruence => {
                let args = std::iter::zip(self.args(left), self.args(right));
                args.for_each(|(&left, &right)| visit(left, right));
            }
            Why::Injection(left, right) => visit(left, right),
            Why::Reduction { operator, made } => visit(self.args(operator)[0], made),
        }
    }
}

/// Scratch for explanations. Between two of them no edge is contracted.
#[derive(Clone, Default, Debug)]
pub(super) struct Explainer {
    /// The edges found, in the order of the search.
    edges: Vec<u32>,
    /// Pairs whose equality is yet to be explained.
    open: Vec<(Node, Node)>,
    /// For a node whose edge to the parent is contracted, a node nearer to the root in the same contracted part; any
    /// other node maps to itself.
    up: Vec<u32>,
    /// The nodes that do not map to themselves.
    contracted: Vec<u32>,
    /// The last search for an ancestor that visited the node.
    mark: Vec<u32>,
    search: u32,
}

impl Explainer {
    fn start(&mut self, nodes: usize) {
        self.edges.clear();
        self.open.clear();
        for node in self.up.len()..nodes {
            self.up.push(node as u32);
            self.mark.push(0);
        }
    }

    fn finish(&mut self) {
        for node in self.contracted.drain(..) {
            self.up[node as usize] = node;
        }
    }

    /// Collects and contracts the edges between two nodes that are not contracted yet.
    fn contract_path(&mut self, forest: &Forest, left: Node, right: Node) {
        let (left, right) = (self.find(left.0), self.find(right.0));
        if left == right {
            return;
        }
        let ancestor =
            self.common_ancestor(forest, left, right).expect("nodes that are not equal were explained");
        for mut node in [left, right] {
            while node != ancestor {
                let Link { parent, edge } = forest.links[node as usize];
                self.edges.push(edge);
                self.up[node as usize] = parent;
                self.contracted.push(node);
                node = self.find(parent);
            }
        }
    }

    fn common_ancestor(&mut self, forest: &Forest, left: u32, right: u32) -> Option<u32> {
        self.search = self.search.wrapping_add(1);
        if self.search == 0 {
            self.mark.fill(0);
            self.search = 1;
        }
        let (mut here, mut there) = (Some(left), Some(right));
        while let Some(node) = here {
            if self.mark[node as usize] == self.search {
                return Some(node);
            }
            self.mark[node as usize] = self.search;
            let Link { parent, edge } = forest.links[node as usize];
            here = (edge != NONE).then(|| self.find(parent));
            // A walk that has reached its root passes the turn to the other one.
            if there.is_some() {
                std::mem::swap(&mut here, &mut there);
            }
        }
        None
    }

    /// The node nearest to the root in the contracted part, with path halving.
    fn find(&mut self, mut node: u32) -> u32 {
        loop {
            let parent = self.up[node as usize];
            if parent == node {
                return node;
            }
            let grandparent = self.up[parent as usize];
            self.up[node as usize] = grandparent;
            node = grandparent;
        }
    }
}

// ---- the forest ------------------------------------------------------------------------------------------

#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub(super) left: Node,
    pub(super) right: Node,
    pub(super) why: Why,
}

/// The parent of a node and the edge that leads to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub(super) parent: u32,
    /// `NONE` at a root.
    pub(super) edge: u32,
}

#[derive(Clone, Default, Debug)]
pub(super) struct Forest {
    pub(super) links: Vec<Link>,
    /// By age.
    pub(super) edges: Vec<Edge>,
}

impl Forest {
    pub(super) fn add_node(&mut self) {
        self.links.push(Link { parent: NONE, edge: NONE });
    }

    pub(super) fn remove_last_node(&mut self) {
        self.links.pop();
    }

    /// Adds an edge between two trees; re-roots that of `left`.
    pub(super) fn connect(&mut self, left: Node, right: Node, why: Why) {
        let mut link = Link { parent: right.0, edge: self.edges.len() as u32 };
        self.edges.push(Edge { left, right, why });
        let mut node = left.0;
        loop {
            let old = std::mem::replace(&mut self.links[node as usize], link);
            if old.edge == NONE {
                return;
            }
            link = Link { parent: node, edge: old.edge };
            node = old.parent;
        }
    }

    pub(super) fn remove_last_edge(&mut self) {
        let Edge { left, right, .. } = self.edges.pop().expect("an edge was added");
        let edge = self.edges.len() as u32;
        let below = if self.links[left.index()].edge == edge { left } else { right };
        debug_assert_eq!(self.links[below.index()].edge, edge);
        self.links[below.index()] = Link { parent: NONE, edge: NONE };
    }
}

// ---- proofs ----------------------------------------------------------------------------------------------

impl Proof {
    fn new(graph: &EGraph, collected: &[u32]) -> Self {
        let mut edges: Vec<ProofEdge> = Vec::with_capacity(collected.len());
        let mut pairs: Vec<(Node, Node)> = Vec::new();
        let mut nodes: Vec<Node> = Vec::with_capacity(2 * collected.len());
        for &edge in collected {
            let edge = &graph.forest.edges[edge as usize];
            let &Edge { left, right, why } = edge;
            nodes.extend([left, right]);
            let first_pair = pairs.len() as u32;
            graph.for_premises(edge, |left, right| pairs.push((left, right)));
            edges.push(ProofEdge { left, right, why, pairs: (first_pair, pairs.len() as u32) });
        }
        nodes.sort_unstable();
        nodes.dedup();
        let place = |node: Node| nodes.binary_search(&node).expect("all ends of edges are there");
        let mut parents = vec![(NONE, NONE); nodes.len()];
        for (at, (&number, edge)) in std::iter::zip(collected, &edges).enumerate() {
            let (mut below, mut above) = (edge.left, edge.right);
            if graph.forest.links[below.index()].edge != number {
                (below, above) = (above, below);
            }
            parents[place(below)] = (place(above) as u32, at as u32);
        }
        let depths = depths(&parents);
        Proof { edges, pairs, nodes, parents, depths }
    }

    /// The equalities. Each comes after its premises.
    pub fn edges(&self) -> &[ProofEdge] {
        &self.edges
    }

    /// The pairs of nodes whose equality an edge depends on: for a congruence the arguments by position, with those of
    /// the left side first; none for an input.
    pub fn premises(&self, edge: &ProofEdge) -> &[(Node, Node)] {
        &self.pairs[edge.pairs.0 as usize..edge.pairs.1 as usize]
    }

    /// The steps that lead from one node to the other; `None` if the proof does not connect them. Takes time
    /// proportional to their number, besides finding the nodes.
    pub fn path(&self, from: Node, to: Node) -> Option<Vec<PathStep>> {
        if from == to {
            return Some(Vec::new());
        }
        let place = |node| self.nodes.binary_search(&node).ok();
        let (mut here, mut there) = (place(from)?, place(to)?);
        let (mut upwards, mut downwards): (Vec<PathStep>, Vec<PathStep>) = (Vec::new(), Vec::new());
        while here != there {
            let climbs_here = self.depths[here] >= self.depths[there];
            let node = if climbs_here { &mut here } else { &mut there };
            let (parent, edge) = self.parents[*node];
            if edge == NONE {
                return None;
            }
            let edge = edge as usize;
            let is_left = self.edges[edge].left == self.nodes[*node];
            if climbs_here {
                upwards.push(PathStep { edge, is_reversed: !is_left });
            } else {
                downwards.push(PathStep { edge, is_reversed: is_left });
            }
            *node = parent as usize;
        }
        upwards.extend(downwards.into_iter().rev());
        Some(upwards)
    }

    /// The reasons of all inputs, each once, in ascending order.
    pub fn reasons(&self) -> Vec<Reason> {
        let mut reasons: Vec<Reason> = self
            .edges
            .iter()
            .filter_map(|edge| match edge.why {
                ProofWhy::Input(reason) => Some(reason),
                _ => None,
            })
            .collect();
        reasons.sort_unstable();
        reasons.dedup();
        reasons
    }
}

/// The distance of each node from its root.
fn depths(parents: &[(u32, u32)]) -> Vec<u32> {
    let mut depths = vec![NONE; parents.len()];
    let mut open: Vec<usize> = Vec::new();
    for start in 0..parents.len() {
        let mut node = start;
        while depths[node] == NONE && parents[node].1 != NONE {
            open.push(node);
            node = parents[node].0 as usize;
        }
        if depths[node] == NONE {
            depths[node] = 0;
        }
        let mut depth = depths[node];
        while let Some(node) = open.pop() {
            depth += 1;
            depths[node] = depth;
        }
    }
    depths
}
