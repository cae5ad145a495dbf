//! The trail: levels, and how changes are undone.
//!
//! Each change that is not implied by another one leaves a record, and a pop undoes the records from the newest to the
//! oldest. So every undo finds the graph as the change left it, and the records can be small: a union records which
//! class it joined, for instance, but not its members. A pop takes time proportional to the work that it undoes.
//! Reported propagations are not on the trail, because each level stores how many were reported before it.
//!
//! At level zero nothing is recorded: it cannot be popped.
//!
//! [`pop`](EGraph::pop) removes nodes and watches made since. A solver that made them for a lemma, during its search,
//! wants to undo the assertions but keep the nodes and watches; [`pop_assertions`](EGraph::pop_assertions) does this.
//! It makes nodes and watches again one after the other. A node gets its number from the count of nodes, hence each
//! gets its old number.

use super::apart::Equation;
use super::egraph::{Class, EGraph};
use super::{Node, Symbol, Token};

/// One change to undo.
#[derive(Clone, Copy, Debug)]
pub(super) enum Undo {
    /// The last node was made.
    Node,
    /// The last edge was added to the forest.
    Edge,
    /// Two classes were joined; the last union record has the details.
    Union,
    /// The node lost its signature to a congruent one.
    Congruent(Node),
    /// The node was marked as shared.
    Shared(Node),
    /// There is a conflict.
    Conflict,
    /// The last equation was made.
    Equation,
    /// The sides of the equation were listed at their roots.
    Sides(u32),
    /// The pair of roots got an owning equation.
    Pair(Node, Node),
    /// The first equation went into the ring of the second.
    Absorbed(u32, u32),
    /// The equation was marked as false.
    Apart(u32),
    /// The last group was made.
    Group,
    /// The last membership was made.
    Membership,
    /// The root got a member of the group.
    InGroup(u32, Node),
}

/// The data that undoing a union cannot read off the graph.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnionRecord {
    /// The former root.
    pub(super) from: Node,
    /// The value, and the shared member, of the remaining root before the union.
    pub(super) value: Option<Node>,
    pub(super) shared: Option<Node>,
}

#[derive(Clone, Copy, Debug)]
struct Level {
    records: usize,
    edges: usize,
    told: usize,
    shared_pairs: usize,
}

#[derive(Clone, Default, Debug)]
pub(super) struct Trail {
    records: Vec<Undo>,
    unions: Vec<UnionRecord>,
    levels: Vec<Level>,
}

impl Trail {
    pub(super) fn record(&mut self, undo: Undo) {
        if !self.levels.is_empty() {
            self.records.push(undo);
        }
    }

    pub(super) fn record_union(&mut self, union: UnionRecord) {
        if !self.levels.is_empty() {
            self.records.push(Undo::Union);
            self.unions.push(union);
        }
    }
}

/// Something that outlives a pop of assertions.
enum Kept {
    Node { symbol: Symbol, first_arg: usize, arity: usize, is_value: bool },
    Watch(Node, Node, Token),
    Shared(Node),
}

impl EGraph {
    /// Opens a level.
    pub fn push(&mut self) {
        let level = Level {
            records: self.trail.records.len(),
            edges: self.forest.edges.len(),
            told: self.apart.told.len(),
            shared_pairs: self.shared_pairs.len(),
        };
        self.trail.levels.push(level);
    }

    /// The number of open levels.
    pub fn level(&self) -> usize {
        self.trail.levels.len()
    }

    /// The level at which an edge of the forest was added.
    pub(super) fn level_of_edge(&self, edge: u32) -> usize {
        self.trail.levels.partition_point(|level| level.edges <= edge as usize)
    }

    /// Closes the last `count` levels and restores the state in which the first of them was opened.
    ///
    /// # Panics
    /// If there are not as many levels.
    pub fn pop(&mut self, count: usize) {
        let Some(remaining) = self.trail.levels.len().checked_sub(count) else {
            panic!("pop of {count} levels where there are {}", self.trail.levels.len());
        };
        let Some(&level) = self.trail.levels.get(remaining) else { return };
        while self.trail.records.len() > level.records {
            let undo = self.trail.records.pop().expect("there are more records than before the level");
            self.undo(undo);
        }
        self.trail.levels.truncate(remaining);
        self.apart.told.truncate(level.told);
        self.apart.told_seen = self.apart.told_seen.min(level.told);
        self.shared_pairs.truncate(level.shared_pairs);
        self.shared_pairs_seen = self.shared_pairs_seen.min(level.shared_pairs);
    }

    /// Closes the last `count` levels, but keeps the nodes, watches and marks of sharing made in them, the nodes with
    /// their numbers. Watches that are settled without the popped assertions are reported again.
    ///
    /// # Panics
    /// If there are not as many levels.
    pub fn pop_assertions(&mut self, count: usize) {
        let remaining = self.trail.levels.len().saturating_sub(count);
        let mut kept: Vec<Kept> = Vec::new();
        let mut args: Vec<Node> = Vec::new();
        if let Some(level) = self.trail.levels.get(remaining) {
            let records = &self.trail.records[level.records..];
            let made = |kind: fn(&Undo) -> bool| records.iter().filter(|undo| kind(undo)).count();
            let mut node = self.nodes.len() - made(|undo| matches!(undo, Undo::Node));
            let mut equation = self.apart.equations.len() - made(|undo| matches!(undo, Undo::Equation));
            for undo in records {
                match *undo {
                    Undo::Node => {
                        let made = Node(node as u32);
                        let (first_arg, is_value) = (args.len(), self.nodes[node].is_value);
                        args.extend_from_slice(self.args(made));
                        let arity = args.len() - first_arg;
                        kept.push(Kept::Node { symbol: self.symbol(made), first_arg, arity, is_value });
                        node += 1;
                    }
                    Undo::Equation => {
                        let Equation { left, right, token, .. } = self.apart.equations[equation];
                        kept.extend(token.map(|token| Kept::Watch(left, right, token)));
                        equation += 1;
                    }
                    Undo::Shared(node) => kept.push(Kept::Shared(node)),
                    _ => {}
                }
            }
        }
        self.pop(count);
        for kept in kept {
            match kept {
                Kept::Node { symbol, arity: 0, is_value: true, .. } => {
                    self.new_value(symbol);
                }
                Kept::Node { symbol, first_arg, arity, .. } => {
                    self.new_node(symbol, &args[first_arg..][..arity]);
                }
                Kept::Watch(left, right, token) => self.watch(left, right, token),
                Kept::Shared(node) => self.share(node),
            }
        }
    }

    fn undo(&mut self, undo: Undo) {
        match undo {
            Undo::Node => self.remove_last_node(),
            Undo::Edge => self.forest.remove_last_edge(),
            Undo::Union => {
                let union = self.trail.unions.pop().expect("each union has a record");
                self.undo_union(union);
            }
            Undo::Congruent(node) => self.nodes[node.index()].is_owner = true,
            Undo::Shared(node) => {
                self.nodes[node.index()].is_shared = false;
                let Class { shared, .. } = &mut self.classes[self.roots[node.index()].index()];
                *shared = shared.filter(|&other| other != node);
            }
            Undo::Conflict => self.conflict = None,
            Undo::Equation => {
                self.apart.equations.pop();
                self.apart.sides.remove_last_slot();
                self.apart.sides.remove_last_slot();
            }
            Undo::Sides(equation) => {
                let Equation { left, right, .. } = self.apart.equations[equation as usize];
                for (slot, node) in [(2 * equation + 1, right), (2 * equation, left)] {
                    let class = &mut self.classes[self.roots[node.index()].index()];
                    self.apart.sides.unlink(&mut class.sides, slot);
                }
            }
            Undo::Pair(left, right) => {
                self.apart.pairs.remove(&(left, right));
            }
            Undo::Absorbed(equation, owner) => self.undo_absorb(equation, owner),
            Undo::Apart(equation) => self.apart.equations[equation as usize].apart = None,
            Undo::Group => {
                self.apart.groups.pop();
            }
            Undo::Membership => {
                let membership = self.apart.memberships.pop().expect("a membership was made");
                let slot = self.apart.memberships.len() as u32;
                let class = &mut self.classes[self.roots[membership.member.index()].index()];
                self.apart.memberships_of.unlink(&mut class.memberships, slot);
                self.apart.memberships_of.remove_last_slot();
            }
            Undo::InGroup(group, root) => {
                self.apart.in_group.remove(&(group, root));
            }
        }
    }
}
