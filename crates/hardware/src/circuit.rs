//! A circuit as a file describes it.
//!
//! Time runs in steps. In each step the inputs have any values, and the nodes are computed from inputs and latches. A
//! latch has its reset value in step 0, and afterwards the value that its next function had in the step before. The
//! circuit runs only as long as all constraints hold, in the last step too. It is unsafe if in such a run a bad edge is
//! true in the last step. A justice property asks for an infinite run in which each of its edges, and each fairness
//! edge, is true again and again.
//!
//! A circuit keeps all nodes and names of its file and is never changed. What engines need is taken from it as a
//! [`BitSystem`](crate::system::BitSystem); every answer is checked against the circuit.

use crate::aig::{Aig, Edge, Node, edge_value};

/// A sequential circuit with properties.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Circuit {
    /// Its gates. Leaves are the nodes of inputs and latches; other leaves are not allowed.
    pub aig: Aig,
    /// The inputs, in the order of the file.
    pub inputs: Vec<Node>,
    /// The latches, in the order of the file.
    pub latches: Vec<Latch>,
    /// The outputs; without bads, they are taken as bads.
    pub outputs: Vec<Edge>,
    /// The bad states: safety properties.
    pub bads: Vec<Edge>,
    /// The invariant constraints.
    pub constraints: Vec<Edge>,
    /// The justice properties: each a set of edges.
    pub justice: Vec<Vec<Edge>>,
    /// The fairness constraints of all justice properties.
    pub fairness: Vec<Edge>,
    /// The names of inputs, latches and properties.
    pub names: Names,
}

/// A bit of memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Latch {
    /// Its leaf.
    pub node: Node,
    /// Its value in the next step.
    pub next: Edge,
    /// Its value in step 0.
    pub reset: Reset,
}

/// The value of a latch in step 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reset {
    /// A constant.
    Constant(bool),
    /// Any value.
    Free,
    /// A function of the inputs of step 0 and of other latches' reset values; acyclic.
    Function(Edge),
}

/// The names that a file gives, by position; empty where it gives none.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Names {
    /// Of inputs.
    pub inputs: Vec<String>,
    /// Of latches.
    pub latches: Vec<String>,
    /// Of outputs.
    pub outputs: Vec<String>,
    /// Of bads.
    pub bads: Vec<String>,
    /// Of constraints.
    pub constraints: Vec<String>,
    /// Of justice properties.
    pub justice: Vec<String>,
    /// Of fairness constraints.
    pub fairness: Vec<String>,
}

impl Circuit {
    /// The safety properties: the bads, or the outputs of a file without any property (AIGER before version 1.9).
    pub fn safety(&self) -> &[Edge] {
        if self.bads.is_empty() && self.justice.is_empty() { &self.outputs } else { &self.bads }
    }

    /// The latches in an order in which reset functions can be computed: each after those that its function depends on.
    /// If the reset functions are cyclic, a latch on a cycle is the error.
    pub fn reset_order(&self) -> Result<Vec<usize>, usize> {
        let mut latch_of = vec![usize::MAX; self.aig.len()];
        self.latches.iter().enumerate().for_each(|(index, latch)| latch_of[latch.node.index()] = index);
        let mut order = Vec::with_capacity(self.latches.len());
        // By latches: whether it is in the order, or on the stack.
        let mut done = vec![false; self.latches.len()];
        let mut open = vec![false; self.latches.len()];
        for root in 0..self.latches.len() {
            let mut stack = vec![root];
            while let Some(&latch) = stack.last() {
                if done[latch] {
                    stack.pop();
                    continue;
                }
                let arguments: Vec<usize> = match self.latches[latch].reset {
                    Reset::Function(edge) => {
                        let cone = self.aig.cone([edge]);
                        (0..self.latches.len())
                            .filter(|&index| cone[self.latches[index].node.index()] && !done[index])
                            .collect()
                    }
                    Reset::Constant(_) | Reset::Free => Vec::new(),
                };
                if arguments.is_empty() {
                    done[latch] = true;
                    order.push(latch);
                    stack.pop();
                } else if std::mem::replace(&mut open[latch], true) {
                    return Err(latch);
                } else {
                    stack.extend(arguments);
                }
            }
        }
        Ok(order)
    }

    /// The values of the latches in step 0, given those of free latches and of the inputs.
    ///
    /// # Panics
    /// If the reset functions are cyclic.
    pub fn initial_state(&self, free: impl Fn(usize) -> bool, inputs: &[bool]) -> Vec<bool> {
        let mut leaves = vec![false; self.aig.len()];
        self.inputs.iter().zip(inputs).for_each(|(node, &value)| leaves[node.index()] = value);
        let mut functions = false;
        for (index, latch) in self.latches.iter().enumerate() {
            leaves[latch.node.index()] = match latch.reset {
                Reset::Constant(value) => value,
                Reset::Free => free(index),
                Reset::Function(_) => {
                    functions = true;
                    false
                }
            };
        }
        if functions {
            for index in self.reset_order().expect("reset functions are acyclic") {
                if let Reset::Function(edge) = self.latches[index].reset {
                    let value = edge_value(&self.aig.evaluate(|leaf| leaves[leaf.index()]), edge);
                    leaves[self.latches[index].node.index()] = value;
                }
            }
        }
        self.latches.iter().map(|latch| leaves[latch.node.index()]).collect()
    }
}
