//! Lifting: from a state that reaches a target, to a cube of states that do so with the same inputs.
//!
//! The values of the target and of the constraints are justified backwards: a true AND by both of its fan-ins, a false
//! one by a false fan-in. The latches reached are the cube. Among false fan-ins the one that needs fewest latches is
//! taken, by an estimate that counts shared latches more than once.
//!
//! All values are computed from the leaves: the solver leaves open what nothing needed, and what it fixed at level 0 may
//! follow from lemmas, on which a lifted cube must not rely.

use crate::aig::{Edge, Node, edge_value};
use crate::probe::Probe;
use crate::system::BitSystem;

use super::cube::Cube;

/// Lifts states of one system.
pub(super) struct Lifting<'a> {
    system: &'a BitSystem,
    /// By nodes: the value.
    value: Vec<bool>,
    /// By nodes: the estimated number of latches that justify its value.
    cost: Vec<u32>,
    /// By nodes: whether it was visited.
    visited: Vec<bool>,
    /// By nodes: whether its value is needed.
    needed: Vec<bool>,
    /// The nodes visited, fan-ins first.
    order: Vec<Node>,
    stack: Vec<(Node, bool)>,
}

impl<'a> Lifting<'a> {
    pub(super) fn new(system: &'a BitSystem) -> Self {
        let nodes = system.aig.len();
        Self {
            system,
            value: vec![false; nodes],
            cost: vec![0; nodes],
            visited: vec![false; nodes],
            needed: vec![false; nodes],
            order: Vec::new(),
            stack: Vec::new(),
        }
    }

    /// The inputs in the solver's model.
    pub(super) fn inputs(&self, probe: &Probe) -> Vec<bool> {
        (0..self.system.num_inputs).map(|input| probe.leaf_value(self.system.input(input))).collect()
    }

    /// The latches that make the targets and the constraints true in the solver's model.
    pub(super) fn lift(&mut self, probe: &Probe, targets: impl IntoIterator<Item = Edge>) -> Cube {
        let roots: Vec<Edge> = targets.into_iter().chain(self.system.constraints.iter().copied()).collect();
        let aig = &self.system.aig;
        for root in &roots {
            self.stack.push((root.node(), false));
            while let Some((node, done)) = self.stack.pop() {
                let index = node.index();
                let fanins = aig.and_fanins(node);
                if done {
                    let [left, right] = fanins.expect("an AND");
                    let (of_left, of_right) =
                        (self.cost[left.node().index()], self.cost[right.node().index()]);
                    let (left, right) = (edge_value(&self.value, left), edge_value(&self.value, right));
                    self.value[index] = left && right;
                    self.cost[index] = match (left, right) {
                        (true, true) => of_left.saturating_add(of_right),
                        (false, true) => of_left,
                        (true, false) => of_right,
                        (false, false) => of_left.min(of_right),
                    };
                    self.order.push(node);
                    continue;
                }
                if std::mem::replace(&mut self.visited[index], true) {
                    continue;
                }
                match fanins {
                    Some([left, right]) => {
                        self.stack.push((node, true));
                        self.stack.push((left.node(), false));
                        self.stack.push((right.node(), false));
                    }
                    None => {
                        self.value[index] = node != Node::FALSE && probe.leaf_value(node);
                        self.cost[index] = u32::from(self.system.latch_index(node).is_some());
                        self.order.push(node);
                    }
                }
            }
            debug_assert!(edge_value(&self.value, *root), "a target is true");
            self.needed[root.node().index()] = true;
        }
        let mut cube = Vec::new();
        for &node in self.order.iter().rev() {
            let index = node.index();
            self.visited[index] = false;
            if !std::mem::replace(&mut self.needed[index], false) {
                continue;
            }
            let Some([left, right]) = aig.and_fanins(node) else {
                if self.system.latch_index(node).is_some() {
                    cube.push(node.edge(!self.value[index]));
                }
                continue;
            };
            let (l, r) = (left.node().index(), right.node().index());
            match (edge_value(&self.value, left), edge_value(&self.value, right)) {
                (true, true) => {
                    self.needed[l] = true;
                    self.needed[r] = true;
                }
                (false, true) => self.needed[l] = true,
                (true, false) => self.needed[r] = true,
                (false, false) if self.needed[l] || self.needed[r] => {}
                (false, false) => self.needed[if self.cost[l] <= self.cost[r] { l } else { r }] = true,
            }
        }
        self.order.clear();
        Cube::new(cube)
    }
}
