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

use std::fmt;

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

/// A property, by its index among those of its kind. It is written as `b0` or `j0`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Property {
    /// A safety property.
    Bad(usize),
    /// A justice property.
    Justice(usize),
}

impl Property {
    /// The property that is written so.
    pub fn parse(text: &str) -> Option<Self> {
        let number = |digits: &str| digits.parse().ok().filter(|_| !digits.starts_with('+'));
        match text.split_at_checked(1)? {
            ("b", digits) => number(digits).map(Property::Bad),
            ("j", digits) => number(digits).map(Property::Justice),
            _ => None,
        }
    }

    /// The properties that are written one after the other, with or without spaces, as in `b0j1` and `b0 j1`. The error is
    /// the text that begins with something else.
    pub fn parse_all(text: &str) -> Result<Vec<Self>, &str> {
        let mut properties = Vec::new();
        let mut rest = text.trim_ascii();
        while !rest.is_empty() {
            let mut letters = rest.char_indices().skip(1);
            let end = letters.find(|(_, letter)| !letter.is_ascii_digit()).map_or(rest.len(), |(end, _)| end);
            properties.push(Self::parse(&rest[..end]).ok_or(rest)?);
            rest = rest[end..].trim_ascii_start();
        }
        Ok(properties)
    }
}

impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Property::Bad(index) => write!(f, "b{index}"),
            Property::Justice(index) => write!(f, "j{index}"),
        }
    }
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

    /// The name of a property: as the file says, or else as it is written.
    pub fn name_of(&self, property: Property) -> String {
        let (names, index) = match property {
            Property::Bad(index) if self.bads.is_empty() => (&self.names.outputs, index),
            Property::Bad(index) => (&self.names.bads, index),
            Property::Justice(index) => (&self.names.justice, index),
        };
        let name = names.get(index).filter(|name| !name.is_empty());
        name.map_or_else(|| property.to_string(), Clone::clone)
    }

    /// The edges that are true again and again in a run that violates a justice property: its own and the fairness
    /// constraints, each once.
    pub fn recurring(&self, justice: usize) -> Vec<Edge> {
        let mut edges: Vec<Edge> = self.justice[justice].iter().chain(&self.fairness).copied().collect();
        edges.sort_unstable();
        edges.dedup();
        edges
    }

    /// The latches and inputs that the edges and the constraints depend on, in any number of steps.
    pub fn sequential_cone(&self, edges: &[Edge]) -> (Vec<usize>, Vec<usize>) {
        let latch_of = self.latch_of_nodes();
        let mut marked = vec![false; self.aig.len()];
        let mut stack: Vec<Node> = self.constraints.iter().chain(edges).map(|edge| edge.node()).collect();
        while let Some(node) = stack.pop() {
            if std::mem::replace(&mut marked[node.index()], true) {
                continue;
            }
            if let Some(fanins) = self.aig.and_fanins(node) {
                stack.extend(fanins.map(Edge::node));
            } else if let Some(latch) = self.latches.get(latch_of[node.index()]) {
                stack.push(latch.next.node());
                if let Reset::Function(edge) = latch.reset {
                    stack.push(edge.node());
                }
            }
        }
        let within = |node: Node| marked[node.index()];
        let latches = (0..self.latches.len()).filter(|&l| within(self.latches[l].node)).collect();
        let inputs = (0..self.inputs.len()).filter(|&i| within(self.inputs[i])).collect();
        (latches, inputs)
    }

    /// The latches in an order in which reset functions can be computed: each after those that its function depends on.
    /// If the reset functions are cyclic, a latch on a cycle is the error.
    pub fn reset_order(&self) -> Result<Vec<usize>, usize> {
        let latch_of = self.latch_of_nodes();
        let mut is_listed = vec![false; self.latches.len()];
        let mut order: Vec<usize> = Vec::with_capacity(self.latches.len());
        for node in self.reset_nodes(&latch_of)? {
            if let Some(listed) = is_listed.get_mut(latch_of[node.index()]) {
                *listed = true;
                order.push(latch_of[node.index()]);
            }
        }
        // The other latches depend on none.
        order.extend((0..self.latches.len()).filter(|&latch| !is_listed[latch]));
        Ok(order)
    }

    /// By nodes: the latch whose leaf it is, or `usize::MAX`.
    fn latch_of_nodes(&self) -> Vec<usize> {
        let mut latch_of = vec![usize::MAX; self.aig.len()];
        self.latches.iter().enumerate().for_each(|(index, latch)| latch_of[latch.node.index()] = index);
        latch_of
    }

    /// The nodes that latches with a reset function depend on in step 0, themselves included, in an order in which
    /// their values can be computed: the postorder of a search through the graph in which the leaf of such a latch has
    /// its reset function as its only fan-in. If that graph is cyclic, a latch on a cycle is the error.
    fn reset_nodes(&self, latch_of: &[usize]) -> Result<Vec<Node>, usize> {
        let arguments = |node: Node| match self.aig.and_fanins(node) {
            Some([left, right]) => [Some(left.node()), Some(right.node())],
            None => match self.latches.get(latch_of[node.index()]).map(|latch| latch.reset) {
                Some(Reset::Function(edge)) => [Some(edge.node()), None],
                _ => [None, None],
            },
        };
        let mut order = Vec::new();
        // By nodes: whether it was entered, or left and so is in the order.
        let mut entered = vec![false; self.aig.len()];
        let mut left = vec![false; self.aig.len()];
        for root in self.latches.iter().filter(|latch| matches!(latch.reset, Reset::Function(_))) {
            let mut stack = vec![root.node];
            while let Some(&node) = stack.last() {
                if left[node.index()] {
                    stack.pop();
                } else if std::mem::replace(&mut entered[node.index()], true) {
                    left[node.index()] = true;
                    order.push(node);
                    stack.pop();
                } else {
                    for argument in arguments(node).into_iter().flatten() {
                        if entered[argument.index()] && !left[argument.index()] {
                            // The argument is on the path to this node. The cycle passes a latch: ANDs have none.
                            let is_open = |node: &&Node| entered[node.index()] && !left[node.index()];
                            let mut path = stack.iter().rev().filter(is_open);
                            let latch = path.find_map(|node| {
                                Some(latch_of[node.index()]).filter(|&latch| latch != usize::MAX)
                            });
                            return Err(latch.expect("a cycle passes a latch"));
                        }
                        stack.push(argument);
                    }
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
        let mut values = vec![false; self.aig.len()];
        self.inputs.iter().zip(inputs).for_each(|(node, &value)| values[node.index()] = value);
        for (index, latch) in self.latches.iter().enumerate() {
            values[latch.node.index()] = match latch.reset {
                Reset::Constant(value) => value,
                Reset::Free => free(index),
                Reset::Function(_) => false,
            };
        }
        let latch_of = self.latch_of_nodes();
        for node in self.reset_nodes(&latch_of).expect("reset functions are acyclic") {
            if let Some([left, right]) = self.aig.and_fanins(node) {
                values[node.index()] = edge_value(&values, left) && edge_value(&values, right);
            } else if let Some(Reset::Function(edge)) =
                self.latches.get(latch_of[node.index()]).map(|latch| latch.reset)
            {
                values[node.index()] = edge_value(&values, edge);
            }
        }
        self.latches.iter().map(|latch| values[latch.node.index()]).collect()
    }
}
