//! What engines see of a circuit: one property, and resets that are constants or free.
//!
//! The nodes of a system are, in this order: the constant, the latches, the inputs, the ANDs. So latch `i` is node
//! `i + 1`, and a cube of latches is a list of edges with small numbers.

use crate::aig::{Aig, Builder, Edge, Node, mapped};
use crate::circuit::{Circuit, Reset};
use crate::evidence::{Invariant, Trace};

/// A transition system over bits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BitSystem {
    /// The gates, simplified and shared.
    pub aig: Aig,
    /// By latches: the value in step 0; `None` if it is free.
    pub resets: Vec<Option<bool>>,
    /// By latches: the value in the next step.
    pub next: Vec<Edge>,
    /// The number of inputs.
    pub num_inputs: usize,
    /// What must never be true.
    pub bad: Edge,
    /// What is true in every step of a run, the last one included.
    pub constraints: Vec<Edge>,
}

impl BitSystem {
    /// The number of latches.
    pub fn num_latches(&self) -> usize {
        self.next.len()
    }

    /// The leaf of a latch.
    #[inline]
    pub fn latch(&self, index: usize) -> Node {
        Node::from_index(1 + index)
    }

    /// The leaf of an input.
    #[inline]
    pub fn input(&self, index: usize) -> Node {
        Node::from_index(1 + self.next.len() + index)
    }

    /// The number of a latch's leaf among the latches.
    #[inline]
    pub fn latch_index(&self, node: Node) -> Option<usize> {
        (1..=self.next.len()).contains(&node.index()).then(|| node.index() - 1)
    }

    /// The number of an input's leaf among the inputs.
    #[inline]
    pub fn input_index(&self, node: Node) -> Option<usize> {
        let first = 1 + self.next.len();
        (first..first + self.num_inputs).contains(&node.index()).then(|| node.index() - first)
    }

    /// The value of a latch's literal in the next step.
    #[inline]
    pub fn next_of(&self, lit: Edge) -> Edge {
        self.next[lit.node().index() - 1].negate_if(lit.is_negated())
    }

    /// The edges that the system is about: next functions, bad, constraints.
    pub fn roots(&self) -> impl Iterator<Item = Edge> + '_ {
        self.next.iter().copied().chain([self.bad]).chain(self.constraints.iter().copied())
    }
}

/// A system taken from a circuit, and the way back.
///
/// The system holds the latches and inputs that the property and the constraints depend on. Reset functions are compiled
/// away: a new latch `started` is false in step 0 only, and a latch `l` with a reset function `f` is read as
/// `started ? l : f`.
#[derive(Clone, Debug)]
pub struct Extracted<'a> {
    circuit: &'a Circuit,
    /// The system.
    pub system: BitSystem,
    /// By latches of the system: the circuit's latch; `started`, which is the last one, has none.
    latches: Vec<usize>,
    /// By inputs of the system: the circuit's input.
    inputs: Vec<usize>,
}

impl<'a> Extracted<'a> {
    /// The system that asks whether an edge can be true.
    ///
    /// # Panics
    /// If the reset functions are cyclic; a reader refuses such circuits.
    pub fn new(circuit: &'a Circuit, bad: Edge) -> Self {
        let (latches, inputs) = circuit.sequential_cone(&[bad]);
        let has_functions = latches.iter().any(|&l| matches!(circuit.latches[l].reset, Reset::Function(_)));
        let num_latches = latches.len() + usize::from(has_functions);
        let mut builder = Builder::with_leaves(num_latches + inputs.len());
        let started = Node::from_index(latches.len() + 1);

        // What the leaves of the circuit are in the system.
        let mut leaves = vec![Edge::FALSE; circuit.aig.len()];
        for (index, &input) in inputs.iter().enumerate() {
            leaves[circuit.inputs[input].index()] = Node::from_index(1 + num_latches + index).into();
        }
        for (index, &latch) in latches.iter().enumerate() {
            leaves[circuit.latches[latch].node.index()] = Node::from_index(1 + index).into();
        }
        if has_functions {
            for latch in circuit.reset_order().expect("reset functions are acyclic") {
                let node = circuit.latches[latch].node.index();
                if let (Reset::Function(edge), true) =
                    (circuit.latches[latch].reset, leaves[node] != Edge::FALSE)
                {
                    let map = builder.copy_cones(&circuit.aig, [edge], |leaf| leaves[leaf.index()]);
                    leaves[node] = builder.ite(started.into(), leaves[node], mapped(&map, edge));
                }
            }
        }

        let next = latches.iter().map(|&latch| circuit.latches[latch].next);
        let roots: Vec<Edge> = next.clone().chain([bad]).chain(circuit.constraints.iter().copied()).collect();
        let map = builder.copy_cones(&circuit.aig, roots, |leaf| leaves[leaf.index()]);
        let mut next: Vec<Edge> = next.map(|edge| mapped(&map, edge)).collect();
        let mut resets: Vec<Option<bool>> = latches
            .iter()
            .map(|&latch| match circuit.latches[latch].reset {
                Reset::Constant(value) => Some(value),
                Reset::Free => None,
                Reset::Function(_) => Some(false),
            })
            .collect();
        if has_functions {
            next.push(Edge::TRUE);
            resets.push(Some(false));
        }
        let mut constraints: Vec<Edge> = circuit.constraints.iter().map(|&edge| mapped(&map, edge)).collect();
        constraints.retain(|&edge| edge != Edge::TRUE);
        constraints.sort_unstable();
        constraints.dedup();
        let bad = mapped(&map, bad);
        let system =
            BitSystem { aig: builder.into_aig(), resets, next, num_inputs: inputs.len(), bad, constraints };
        Self { circuit, system, latches, inputs }
    }

    /// A trace of the system as one of the circuit. What the system does not hold is false.
    pub fn trace_back(&self, trace: &Trace) -> Trace {
        let steps = trace.inputs.iter().map(|values| {
            let mut all = vec![false; self.circuit.inputs.len()];
            self.inputs.iter().zip(values).for_each(|(&input, &value)| all[input] = value);
            all
        });
        let inputs: Vec<Vec<bool>> = steps.collect();
        let mut free = vec![false; self.circuit.latches.len()];
        self.latches.iter().zip(&trace.initial).for_each(|(&latch, &value)| free[latch] = value);
        let first = inputs.first().map_or(&[][..], Vec::as_slice);
        Trace { initial: self.circuit.initial_state(|latch| free[latch], first), inputs }
    }

    /// An invariant of the system as one of the circuit.
    ///
    /// With reset functions, a clause `c` of the system becomes `c[started := true] ∨ initial`, where `initial` says that
    /// all latches have their reset values. It holds in step 0 by `initial`. A step from there is a step of the system
    /// from its own step 0, and any other step is one where `started` is true.
    pub fn invariant_back(&self, invariant: &Invariant) -> Invariant {
        let (circuit, system) = (self.circuit, &self.system);
        // The circuit's graph comes first, so its numbers stay.
        let mut builder = Builder::on(circuit.aig.clone());
        let has_functions = system.num_latches() > self.latches.len();
        let leaf = |node: Node| match (system.latch_index(node), system.input_index(node)) {
            (Some(latch), _) if latch == self.latches.len() => Edge::TRUE,
            (Some(latch), _) => circuit.latches[self.latches[latch]].node.into(),
            (_, Some(input)) => circuit.inputs[self.inputs[input]].into(),
            _ => unreachable!("a leaf is a latch or an input"),
        };
        let roots: Vec<Edge> = invariant.clauses.iter().flatten().copied().collect();
        let map = builder.copy_cones(&invariant.aig, roots, leaf);
        let mut clauses: Vec<Vec<Edge>> = invariant
            .clauses
            .iter()
            .map(|clause| clause.iter().map(|&edge| mapped(&map, edge)).collect())
            .collect();
        if has_functions {
            let agree: Vec<Edge> = self
                .latches
                .iter()
                .filter_map(|&latch| {
                    let latch = circuit.latches[latch];
                    match latch.reset {
                        Reset::Constant(value) => Some(Edge::from(latch.node).negate_if(!value)),
                        Reset::Free => None,
                        Reset::Function(edge) => Some(builder.iff(latch.node.into(), edge)),
                    }
                })
                .collect();
            let initial = builder.and_all(agree);
            clauses.iter_mut().for_each(|clause| clause.push(initial));
        }
        Invariant { aig: builder.into_aig(), clauses, depth: invariant.depth }
    }
}
