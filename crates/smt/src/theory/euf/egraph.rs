//! Nodes, classes, the signature table and the merge queue.
//!
//! The root, one of its members, identifies a class. Each node stores its root directly, without a path: a union
//! relabels the lighter class. The weight of a class counts everything that a union touches: members, uses, equations
//! and memberships. Relabelled items end up in a class of at least twice the weight, so n unions without backtracking
//! take O(n log n) steps besides those on the signatures.
//!
//! An application that loses its place in the signature table to a congruent one (it is no longer an *owner*) stays in
//! the use lists, but costs no table operation until its loss is undone: congruent applications stay congruent.
//!
//! The queue is first in, first out: congruences found early have short explanations. A fresh node is in a class of its
//! own, without value and disequality, hence adding a node never leads to a conflict.

use std::collections::VecDeque;
use std::hash::Hasher;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rustc_hash::FxHasher;

use super::apart::{ApartState, Conflict};
use super::explain::{Explainer, Forest, Why};
use super::free::{Free, Role};
use super::ring::{List, Rings};
use super::undo::{Trail, Undo, UnionRecord};
use super::{Node, Reason, Symbol};

/// A set of nodes closed under congruence, with disequalities; see the [module](super).
#[derive(Clone, Debug)]
pub struct EGraph {
    // Nodes, by index.
    pub(super) nodes: Vec<NodeData>,
    /// The arguments of all applications, consecutively.
    pub(super) args: Vec<Node>,
    /// For each position in `args`, the application it belongs to.
    pub(super) arg_of: Vec<Node>,
    /// Nodes by symbol and arguments, as written.
    written: HashTable<Node>,

    // Classes, by the index of the root unless said otherwise.
    /// By the index of any node (I1).
    pub(super) roots: Vec<Node>,
    pub(super) classes: Vec<Class>,
    pub(super) members: Rings,
    pub(super) uses: Rings,
    /// The owners by their signature (I2).
    signatures: HashTable<Node>,

    pub(super) forest: Forest,
    pub(super) apart: ApartState,
    pub(super) free: Free,

    // Open work and unread results.
    queue: VecDeque<Join>,
    pub(super) conflict: Option<Conflict>,
    /// Pairs of shared nodes whose classes were joined, and how many of them were read.
    pub(super) shared_pairs: Vec<(Node, Node)>,
    pub(super) shared_pairs_seen: usize,

    pub(super) trail: Trail,
    pub(super) explainer: Explainer,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct NodeData {
    symbol: Symbol,
    first_arg: u32,
    arity: u32,
    /// Whether the node represents its signature (I2).
    pub(super) is_owner: bool,
    /// Whether the node is in the signature table. Owners that are applications are, except during a union or its
    /// undoing.
    is_entered: bool,
    pub(super) is_value: bool,
    pub(super) is_shared: bool,
}

/// The data of a class at its root. A former root keeps the data from before its class was joined to another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Class {
    /// Of nodes.
    pub(super) members: List,
    /// Of positions in `args` (I3).
    pub(super) uses: List,
    /// Of sides of equations.
    pub(super) sides: List,
    /// Of memberships in groups.
    pub(super) memberships: List,
    /// A member that is a value (I5).
    pub(super) value: Option<Node>,
    /// Some member that another theory shares.
    pub(super) shared: Option<Node>,
}

impl Class {
    /// The number of items that a union of the class into another one touches.
    fn weight(&self) -> usize {
        self.members.len() + self.uses.len() + self.sides.len() + self.memberships.len()
    }
}

#[derive(Clone, Copy, Debug)]
struct Join {
    left: Node,
    right: Node,
    why: Why,
}

impl Default for EGraph {
    fn default() -> Self {
        Self::new()
    }
}

impl EGraph {
    /// The graph with [`Node::TRUE`] and [`Node::FALSE`] only.
    pub fn new() -> Self {
        let mut graph = EGraph {
            nodes: Vec::new(),
            args: Vec::new(),
            arg_of: Vec::new(),
            written: HashTable::new(),
            roots: Vec::new(),
            classes: Vec::new(),
            members: Rings::default(),
            uses: Rings::default(),
            signatures: HashTable::new(),
            forest: Forest::default(),
            apart: ApartState::default(),
            free: Free::default(),
            queue: VecDeque::new(),
            conflict: None,
            shared_pairs: Vec::new(),
            shared_pairs_seen: 0,
            trail: Trail::default(),
            explainer: Explainer::default(),
        };
        let truth = graph.new_value(Symbol(u32::MAX));
        let falsity = graph.new_value(Symbol(u32::MAX - 1));
        debug_assert_eq!((truth, falsity), (Node::TRUE, Node::FALSE));
        graph
    }

    // ---- nodes -------------------------------------------------------------------------------------------

    /// The application of the symbol to the arguments, found or made. A new node is removed when the current level is
    /// popped.
    ///
    /// # Panics
    /// If an argument does not exist, or if there are 2^32 nodes or argument positions.
    pub fn new_node(&mut self, symbol: Symbol, args: &[Node]) -> Node {
        self.find_or_make(symbol, args, self.role(symbol) == Some(Role::Constructor))
    }

    /// The constant of this name as a value: different from all other values. The symbol must not name a constant that
    /// is not a value.
    pub fn new_value(&mut self, symbol: Symbol) -> Node {
        self.find_or_make(symbol, &[], true)
    }

    fn find_or_make(&mut self, symbol: Symbol, args: &[Node], is_value: bool) -> Node {
        let hash = hash(symbol, args.iter().copied());
        let same = |&node: &Node| self.symbol(node) == symbol && self.args(node) == args;
        if let Some(&node) = self.written.find(hash, same) {
            assert_eq!(self.nodes[node.index()].is_value, is_value, "a constant is a value or it is none");
            return node;
        }
        let node = Node(u32::try_from(self.nodes.len()).expect("fewer than 2^32 nodes"));
        let first_arg = u32::try_from(self.args.len()).expect("fewer than 2^32 argument positions");
        self.trail.record(Undo::Node);
        let arity = args.len() as u32;
        self.nodes.push(NodeData {
            symbol,
            first_arg,
            arity,
            is_owner: true,
            is_entered: false,
            is_value,
            is_shared: false,
        });
        self.roots.push(node);
        let mut members = List::EMPTY;
        let slot = self.members.add_slot();
        self.members.link(&mut members, slot);
        self.classes.push(Class {
            members,
            uses: List::EMPTY,
            sides: List::EMPTY,
            memberships: List::EMPTY,
            value: is_value.then_some(node),
            shared: None,
        });
        self.forest.add_node();
        if is_value && arity > 0 {
            self.free.add(node);
        }
        for &arg in args {
            self.args.push(arg);
            self.arg_of.push(node);
            let slot = self.uses.add_slot();
            self.uses.link(&mut self.classes[self.roots[arg.index()].index()].uses, slot);
        }
        let (nodes, all_args) = (&self.nodes, &self.args);
        self.written.insert_unique(hash, node, |&other| {
            let data = &nodes[other.index()];
            hash_of(data, all_args, |arg| arg)
        });
        self.enter_signature(node);
        self.reduce_new(node);
        // In conflict the closure pauses: the node exists, and is removed when the conflict is popped.
        if self.conflict.is_some() {
            self.queue.clear();
        }
        let closed = self.close();
        debug_assert!(closed.is_ok() || self.conflict.is_some());
        node
    }

    /// Undoes the creation of the last node, which is now alone in its class and without uses.
    pub(super) fn remove_last_node(&mut self) {
        let node = Node(self.nodes.len() as u32 - 1);
        self.leave_signature(node);
        let hash = hash(self.symbol(node), self.args(node).iter().copied());
        let entry = self.written.find_entry(hash, |&other| other == node);
        entry.expect("each node is in the table of written nodes").remove();
        let data = self.nodes[node.index()];
        for position in (data.first_arg..data.first_arg + data.arity).rev() {
            let root = self.root(self.args[position as usize]);
            self.uses.unlink(&mut self.classes[root.index()].uses, position);
            self.uses.remove_last_slot();
        }
        self.args.truncate(data.first_arg as usize);
        self.arg_of.truncate(data.first_arg as usize);
        self.members.remove_last_slot();
        self.free.remove(node);
        self.forest.remove_last_node();
        self.classes.pop();
        self.roots.pop();
        self.nodes.pop();
    }

    /// The number of nodes; they are numbered from zero.
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// The function symbol of the node.
    pub fn symbol(&self, node: Node) -> Symbol {
        self.nodes[node.index()].symbol
    }

    /// The arguments of the node, as written.
    pub fn args(&self, node: Node) -> &[Node] {
        let data = &self.nodes[node.index()];
        &self.args[data.first_arg as usize..][..data.arity as usize]
    }

    // ---- merging -----------------------------------------------------------------------------------------

    /// Asserts that two nodes are equal.
    ///
    /// # Errors
    /// The conflict, if the graph is contradictory now or was so before. It must then be popped: until then further
    /// assertions do nothing but return it again.
    pub fn merge(&mut self, left: Node, right: Node, reason: Reason) -> Result<(), Conflict> {
        if let Some(conflict) = self.conflict {
            return Err(conflict);
        }
        self.enqueue(left, right, Why::Input(reason));
        self.close()
    }

    pub(super) fn enqueue(&mut self, left: Node, right: Node, why: Why) {
        self.queue.push_back(Join { left, right, why });
    }

    /// Processes the queue.
    fn close(&mut self) -> Result<(), Conflict> {
        while let Some(join) = self.queue.pop_front() {
            if self.root(join.left) != self.root(join.right)
                && let Err(conflict) = self.union(join)
            {
                self.queue.clear();
                return Err(self.set_conflict(conflict));
            }
        }
        Ok(())
    }

    pub(super) fn set_conflict(&mut self, conflict: Conflict) -> Conflict {
        self.trail.record(Undo::Conflict);
        self.conflict = Some(conflict);
        conflict
    }

    /// Joins two different classes. On a conflict it adds only the edge, for the explanation.
    fn union(&mut self, join: Join) -> Result<(), Conflict> {
        let (mut left, mut right) = (join.left, join.right);
        if self.class(left).weight() > self.class(right).weight() {
            (left, right) = (right, left);
        }
        let (from, into) = (self.root(left), self.root(right));
        self.forest.connect(left, right, join.why);
        self.trail.record(Undo::Edge);
        if let Some(apart) = self.apart_roots(from, into) {
            return Err(Conflict(apart));
        }

        let joined = self.classes[from.index()];
        let Class { value, shared, .. } = self.classes[into.index()];
        self.collect_crossing_equations(joined.sides);
        self.leave_signatures(joined.uses);
        self.trail.record_union(UnionRecord { from, value, shared });
        self.relabel(joined.members, into);
        let class = &mut self.classes[into.index()];
        class.value = value.or(joined.value);
        class.shared = shared.or(joined.shared);
        if let (Some(first), Some(second)) = (shared, joined.shared) {
            self.shared_pairs.push((first, second));
        }
        self.members.splice(&mut class.members, joined.members);
        self.enter_signatures(joined.uses);
        match (value, joined.value) {
            (Some(first), Some(second)) => self.inject(first, second),
            (Some(made), None) => self.reduce_uses(joined.uses, made),
            (None, Some(made)) => self.reduce_uses(self.classes[into.index()].uses, made),
            (None, None) => {}
        }
        self.uses.splice(&mut self.classes[into.index()].uses, joined.uses);
        self.join_apart(from, into, value.is_none() && joined.value.is_some());
        Ok(())
    }

    /// Undoes a union, after everything later was undone.
    pub(super) fn undo_union(&mut self, UnionRecord { from, value, shared }: UnionRecord) {
        let into = self.root(from);
        let joined = self.classes[from.index()];
        let class = &mut self.classes[into.index()];
        (class.value, class.shared) = (value, shared);
        self.apart.sides.unsplice(&mut class.sides, joined.sides);
        self.apart.memberships_of.unsplice(&mut class.memberships, joined.memberships);
        self.uses.unsplice(&mut class.uses, joined.uses);
        self.members.unsplice(&mut class.members, joined.members);
        self.leave_signatures(joined.uses);
        self.relabel(joined.members, from);
        let mut next = joined.uses.first();
        while let Some(slot) = next {
            let user = self.arg_of[slot as usize];
            if self.nodes[user.index()].is_owner {
                let found = self.find_or_enter(user);
                debug_assert_eq!(found, user, "by I2 the signature was free before the union");
            }
            next = self.uses.after(joined.uses, slot);
        }
    }

    fn relabel(&mut self, members: List, root: Node) {
        let mut next = members.first();
        while let Some(member) = next {
            self.roots[member as usize] = root;
            next = self.members.after(members, member);
        }
    }

    // ---- signatures --------------------------------------------------------------------------------------

    /// Removes the applications from the table, if they are in it.
    fn leave_signatures(&mut self, uses: List) {
        let mut next = uses.first();
        while let Some(slot) = next {
            self.leave_signature(self.arg_of[slot as usize]);
            next = self.uses.after(uses, slot);
        }
    }

    /// Re-enters the applications under their new signatures.
    fn enter_signatures(&mut self, uses: List) {
        let mut next = uses.first();
        while let Some(slot) = next {
            let user = self.arg_of[slot as usize];
            if self.nodes[user.index()].is_owner {
                self.enter_signature(user);
            }
            next = self.uses.after(uses, slot);
        }
    }

    /// Makes the node the owner of its signature, or queues it to be merged with the owner.
    fn enter_signature(&mut self, node: Node) {
        let owner = self.find_or_enter(node);
        if owner != node {
            self.nodes[node.index()].is_owner = false;
            self.trail.record(Undo::Congruent(node));
            self.enqueue(node, owner, Why::Congruence);
        }
    }

    /// The owner of the node's signature; the node itself if there is no other. Constants own their symbol and need no
    /// table.
    fn find_or_enter(&mut self, node: Node) -> Node {
        let (nodes, args, roots) = (&self.nodes, &self.args, &self.roots);
        let data = &nodes[node.index()];
        if data.arity == 0 || data.is_entered {
            return node;
        }
        let signature = |node: &NodeData| hash_of(node, args, |arg| roots[arg.index()]);
        let is_same = |&other: &Node| {
            let other = &nodes[other.index()];
            let range = |data: &NodeData| data.first_arg as usize..(data.first_arg + data.arity) as usize;
            data.symbol == other.symbol
                && data.arity == other.arity
                && std::iter::zip(&args[range(data)], &args[range(other)])
                    .all(|(&left, &right)| left == right || roots[left.index()] == roots[right.index()])
        };
        match self.signatures.entry(signature(data), is_same, |&other| signature(&nodes[other.index()])) {
            Entry::Occupied(owner) => *owner.get(),
            Entry::Vacant(place) => {
                place.insert(node);
                self.nodes[node.index()].is_entered = true;
                node
            }
        }
    }

    /// Removes the node from the table if it is there: an application that uses a class twice is already removed at the
    /// second use, and one whose loss of ownership was just undone is not back yet.
    fn leave_signature(&mut self, node: Node) {
        let data = &self.nodes[node.index()];
        if !data.is_entered {
            return;
        }
        let hash = hash_of(data, &self.args, |arg| self.roots[arg.index()]);
        let entry = self.signatures.find_entry(hash, |&other| other == node);
        entry.expect("by I2 an entered node is under its signature").remove();
        self.nodes[node.index()].is_entered = false;
    }

    /// The owner of the application's signature, in the current classes.
    pub(super) fn signature_owner(&self, node: Node) -> Option<Node> {
        let data = &self.nodes[node.index()];
        if data.arity == 0 {
            return Some(node);
        }
        self.congruent(data.symbol, self.args(node))
    }

    /// The number of signatures in the table.
    pub(super) fn signature_count(&self) -> usize {
        self.signatures.len()
    }

    /// An application that equals the symbol applied to the arguments by congruence alone, if the graph has one. Adds
    /// nothing.
    pub fn congruent(&self, symbol: Symbol, args: &[Node]) -> Option<Node> {
        // Constants are only in the table of written nodes, not in that of signatures.
        let table = if args.is_empty() { &self.written } else { &self.signatures };
        let hash = hash(symbol, args.iter().map(|&arg| self.root(arg)));
        let same = |&other: &Node| {
            self.symbol(other) == symbol
                && self.args(other).len() == args.len()
                && std::iter::zip(self.args(other), args).all(|(&left, &right)| self.are_equal(left, right))
        };
        table.find(hash, same).copied()
    }

    // ---- questions ---------------------------------------------------------------------------------------

    /// The node that represents the class. It changes with merges and pops.
    pub fn root(&self, node: Node) -> Node {
        self.roots[node.index()]
    }

    pub(super) fn class(&self, node: Node) -> &Class {
        &self.classes[self.root(node).index()]
    }

    /// Whether the nodes are known to be equal.
    pub fn are_equal(&self, left: Node, right: Node) -> bool {
        self.root(left) == self.root(right)
    }

    /// Whether the nodes are known to be distinct: by a disequality between members of their classes, or by values.
    pub fn are_distinct(&self, left: Node, right: Node) -> bool {
        self.apart_roots(self.root(left), self.root(right)).is_some()
    }

    /// A value in the class of the node.
    pub fn value_of_class(&self, node: Node) -> Option<Node> {
        self.class(node).value
    }

    /// The conflict that must be popped before anything can be asserted.
    pub fn conflict(&self) -> Option<Conflict> {
        self.conflict
    }

    /// The nodes equal to this one, including itself.
    pub fn class_members(&self, node: Node) -> impl Iterator<Item = Node> + '_ {
        self.members.iter(self.class(node).members).map(Node)
    }

    /// The number of nodes equal to this one, including itself.
    pub fn class_size(&self, node: Node) -> usize {
        self.class(node).members.len()
    }

    /// The applications with an argument in the class of the node, one for each signature, with the position of this
    /// argument. An application with several arguments in the class occurs once for each.
    pub fn parents(&self, node: Node) -> impl Iterator<Item = (Node, usize)> + '_ {
        self.uses.iter(self.class(node).uses).filter_map(|slot| {
            let user = self.arg_of[slot as usize];
            let data = &self.nodes[user.index()];
            data.is_owner.then_some((user, (slot - data.first_arg) as usize))
        })
    }

    // ---- shared nodes ------------------------------------------------------------------------------------

    /// Marks a node as shared with another theory, until the current level is popped.
    pub fn share(&mut self, node: Node) {
        if std::mem::replace(&mut self.nodes[node.index()].is_shared, true) {
            return;
        }
        let class = &mut self.classes[self.roots[node.index()].index()];
        match class.shared {
            Some(other) => self.shared_pairs.push((other, node)),
            None => class.shared = Some(node),
        }
        self.trail.record(Undo::Shared(node));
    }

    /// Pairs of shared nodes that became equal since the last call. All equalities between shared nodes follow from the
    /// pairs returned so far, except those undone by a pop.
    pub fn shared_merges(&mut self) -> &[(Node, Node)] {
        let seen = std::mem::replace(&mut self.shared_pairs_seen, self.shared_pairs.len());
        &self.shared_pairs[seen..]
    }
}

fn hash(symbol: Symbol, args: impl Iterator<Item = Node>) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write_u32(symbol.0);
    for arg in args {
        hasher.write_u32(arg.0);
    }
    hasher.finish()
}

fn hash_of(data: &NodeData, args: &[Node], through: impl Fn(Node) -> Node) -> u64 {
    let args = &args[data.first_arg as usize..][..data.arity as usize];
    hash(data.symbol, args.iter().map(|&arg| through(arg)))
}
