//! The state variables: what cubes and lemmas speak of.
//!
//! They are the latches. With internal signals (`signals.rs`), some gates are state variables too; with localization
//! (`localize.rs`), the steps of some latches are left open.

use crate::aig::{Edge, Node};
use crate::system::BitSystem;

/// By nodes: what a state variable is at the start and after a step.
pub(super) struct Variables {
    /// The value in all initial states, if it is constant.
    resets: Vec<Option<bool>>,
    /// The value after a step; `None` if it is left open.
    steps: Vec<Option<Edge>>,
    is_state: Vec<bool>,
    /// The state variables that are gates, in ascending order.
    signals: Vec<Node>,
}

impl Variables {
    /// The latches, with their steps or without.
    pub(super) fn new(system: &BitSystem, with_steps: bool) -> Self {
        let nodes = 1 + system.num_latches();
        let (mut resets, mut steps) = (vec![None; nodes], vec![None; nodes]);
        for (index, (&reset, &next)) in system.resets.iter().zip(&system.next).enumerate() {
            let node = system.latch(index).index();
            resets[node] = reset;
            steps[node] = with_steps.then_some(next);
        }
        let mut is_state = vec![true; nodes];
        is_state[Node::FALSE.index()] = false;
        Self { resets, steps, is_state, signals: Vec::new() }
    }

    /// Makes a gate a state variable. Gates must come in ascending order.
    pub(super) fn add_signal(&mut self, node: Node, reset: Option<bool>, step: Edge) {
        self.resets.resize(node.index(), None);
        self.resets.push(reset);
        self.steps.resize(node.index(), None);
        self.steps.push(Some(step));
        self.is_state.resize(node.index(), false);
        self.is_state.push(true);
        self.signals.push(node);
    }

    /// Fixes the step of a variable that was left open.
    pub(super) fn set_step(&mut self, node: Node, step: Edge) {
        self.steps[node.index()] = Some(step);
    }

    /// The number of nodes up to the last state variable.
    pub(super) fn num_nodes(&self) -> usize {
        self.steps.len()
    }

    pub(super) fn signals(&self) -> &[Node] {
        &self.signals
    }

    /// Whether a node is a state variable.
    #[inline]
    pub(super) fn is_state(&self, node: Node) -> bool {
        self.is_state.get(node.index()).is_some_and(|&is_state| is_state)
    }

    /// The edge that is true in a step into a literal; `None` if all steps may lead there.
    #[inline]
    pub(super) fn step_into(&self, lit: Edge) -> Option<Edge> {
        Some(self.steps[lit.node().index()]?.negate_if(lit.is_negated()))
    }

    /// Whether a literal is false in all initial states.
    #[inline]
    pub(super) fn contradicts_reset(&self, lit: Edge) -> bool {
        self.resets[lit.node().index()] == Some(lit.is_negated())
    }
}
