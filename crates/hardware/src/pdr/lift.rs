//! Lifting: from a state that reaches a target, to a cube of states that do so with the same inputs.
//!
//! The values of the target and of the constraints are justified backwards: a true AND by both of its fan-ins, a false
//! one by a false fan-in. The latches reached are the cube; a signal that is a state variable stands for those below it.
//! Among false fan-ins the one that needs fewest literals is taken, by an estimate that counts shared ones more than once.
//!
//! All values are computed from the leaves: the solver leaves open what nothing needed, and what it fixed at level 0 may
//! follow from lemmas, on which a lifted cube must not rely.

use crate::aig::{Edge, Node, edge_value};
use crate::probe::Probe;
use crate::system::BitSystem;

use super::cube::Cube;
use super::variables::Variables;

/// Lifts states of one system.
pub(super) struct Lifting<'a> {
    system: &'a BitSystem,
    constraints: Vec<Edge>,
    /// By nodes: the value.
    value: Vec<bool>,
    /// By nodes: the estimated number of literals that justify its value.
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
    pub(super) fn new(system: &'a BitSystem, constraints: &[Edge]) -> Self {
        let nodes = system.aig.len();
        Self {
            system,
            constraints: constraints.to_vec(),
            value: vec![false; nodes],
            cost: vec![0; nodes],
            visited: vec![false; nodes],
            needed: vec![false; nodes],
            order: Vec::new(),
            stack: Vec::new(),
        }
    }

    /// From now on, lifted cubes keep this constraint true.
    pub(super) fn add_constraint(&mut self, edge: Edge) {
        self.constraints.push(edge);
    }

    /// The inputs in the solver's model.
    pub(super) fn inputs(&self, probe: &Probe) -> Vec<bool> {
        (0..self.system.num_inputs).map(|input| probe.leaf_value(self.system.input(input))).collect()
    }

    /// The state variables that make the targets and the constraints true in the solver's model.
    pub(super) fn lift(
        &mut self,
        probe: &Probe,
        variables: &Variables,
        targets: impl IntoIterator<Item = Edge>,
    ) -> Cube {
        let roots: Vec<Edge> = targets.into_iter().chain(self.constraints.iter().copied()).collect();
        let aig = &self.system.aig;
        for root in &roots {
            self.evaluate(probe, variables, root.node());
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
            if variables.is_state(node) {
                cube.push(node.edge(!self.value[index]));
                continue;
            }
            let Some([left, right]) = aig.and_fanins(node) else { continue };
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
        if !variables.signals().is_empty() && !cube.iter().any(|&lit| variables.contradicts_reset(lit)) {
            // Signals may hide that the state is not initial.
            let mut latches = (0..self.system.num_latches()).map(|latch| self.system.latch(latch));
            cube.extend(latches.find_map(|latch| {
                let lit = latch.edge(!probe.leaf_value(latch));
                variables.contradicts_reset(lit).then_some(lit)
            }));
        }
        Cube::new(cube)
    }

    /// The literals of a cube that are true in the solver's model.
    pub(super) fn true_literals(&mut self, probe: &Probe, variables: &Variables, cube: &Cube) -> Vec<Edge> {
        cube.lits().iter().for_each(|lit| self.evaluate(probe, variables, lit.node()));
        let lits = cube.lits().iter().copied().filter(|&lit| edge_value(&self.value, lit)).collect();
        self.order.drain(..).for_each(|node| self.visited[node.index()] = false);
        lits
    }

    /// All state variables in the solver's model.
    pub(super) fn state(&mut self, probe: &Probe, variables: &Variables) -> Cube {
        variables.signals().iter().for_each(|&signal| self.evaluate(probe, variables, signal));
        let latches = (0..self.system.num_latches()).map(|latch| self.system.latch(latch));
        let latches = latches.map(|latch| latch.edge(!probe.leaf_value(latch)));
        let signals = variables.signals().iter().map(|&signal| signal.edge(!self.value[signal.index()]));
        let state = Cube::from_sorted(latches.chain(signals).collect());
        self.order.drain(..).for_each(|node| self.visited[node.index()] = false);
        state
    }

    /// Computes the values of a cone from the leaves of the solver's model. The nodes are added to the order.
    fn evaluate(&mut self, probe: &Probe, variables: &Variables, root: Node) {
        let aig = &self.system.aig;
        self.stack.push((root, false));
        while let Some((node, done)) = self.stack.pop() {
            let index = node.index();
            let fanins = aig.and_fanins(node);
            if done {
                let [left, right] = fanins.expect("an AND");
                let (of_left, of_right) = (self.cost[left.node().index()], self.cost[right.node().index()]);
                let (left, right) = (edge_value(&self.value, left), edge_value(&self.value, right));
                self.value[index] = left && right;
                self.cost[index] = match (left, right) {
                    _ if variables.is_state(node) => 1,
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
                    self.cost[index] = u32::from(variables.is_state(node));
                    self.order.push(node);
                }
            }
        }
    }
}
