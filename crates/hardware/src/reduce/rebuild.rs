//! Rebuilds a system from its sequential cone, with one edge for all that are equal; and the way back.
//!
//! The cone holds the latches, inputs and gates that bad and the constraints depend on, in any number of steps. Where a
//! node has a representative, the cone follows that one. The gates are hashed and rewritten on the way.
//!
//! | | new system | original system |
//! |---|---|---|
//! | trace | inputs | those that are gone are false |
//! | | latches in step 0 | resets, values of representatives, false if nothing depends on them |
//! | invariant | clauses | over the same latches and inputs, and the facts |

use shofar_run::Limits;

use crate::aig::{Aig, Builder, Edge, Node, mapped};
use crate::evidence::{Invariant, Trace};
use crate::system::BitSystem;

/// The way back from a rebuilt system.
#[derive(Clone, Debug)]
pub struct Back {
    /// The graph of the original system.
    aig: Aig,
    /// Its resets.
    resets: Vec<Option<bool>>,
    /// Its number of inputs.
    num_inputs: usize,
    /// By its latches: the edge that represents it, of the constant or a latch that is not after it.
    representatives: Vec<Edge>,
    /// By latches of the new system: the original latch.
    latches: Vec<usize>,
    /// By inputs of the new system: the original input.
    inputs: Vec<usize>,
    /// Edges of the original system that are equal (R1).
    facts: Vec<(Edge, Edge)>,
}

impl Back {
    /// A trace of the new system as one of the original system.
    pub fn trace_back(&self, trace: &Trace) -> Trace {
        let inputs = trace.inputs.iter().map(|values| {
            let mut all = vec![false; self.num_inputs];
            self.inputs.iter().zip(values).for_each(|(&input, &value)| all[input] = value);
            all
        });
        let mut kept: Vec<Option<bool>> = vec![None; self.resets.len()];
        self.latches.iter().zip(&trace.initial).for_each(|(&latch, &value)| kept[latch] = Some(value));
        let mut initial: Vec<bool> = Vec::with_capacity(self.resets.len());
        for (latch, &representative) in self.representatives.iter().enumerate() {
            let value = kept[latch].or(self.resets[latch]).unwrap_or_else(|| {
                let of_node = match representative.node().index() {
                    0 => false,
                    node => initial.get(node - 1).copied().unwrap_or(false),
                };
                of_node != representative.is_negated()
            });
            initial.push(value);
        }
        Trace { initial, inputs: inputs.collect() }
    }

    /// A latch or input of the new system in the original system.
    pub fn leaf_back(&self, leaf: Node) -> Node {
        let index = leaf.index() - 1;
        let original = match index.checked_sub(self.latches.len()) {
            None => self.latches[index],
            Some(input) => self.resets.len() + self.inputs[input],
        };
        Node::from_index(1 + original)
    }

    /// An invariant of the new system as one of the original system.
    pub fn invariant_back(&self, invariant: &Invariant) -> Invariant {
        // The original graph comes first, so its numbers stay.
        let mut builder = Builder::on(self.aig.clone());
        let roots = invariant.clauses.iter().flatten().copied();
        let map = builder.copy_cones(&invariant.aig, roots, |leaf| self.leaf_back(leaf).into());
        let clauses = invariant
            .clauses
            .iter()
            .map(|clause| clause.iter().map(|&edge| mapped(&map, edge)).collect())
            .chain(self.facts.iter().flat_map(|&(left, right)| equality(left, right)))
            .collect();
        Invariant { aig: builder.into_aig(), clauses, depth: invariant.depth }
    }
}

/// The clauses that say that two edges are equal.
fn equality(left: Edge, right: Edge) -> impl Iterator<Item = Vec<Edge>> {
    [[!left, right], [left, !right]]
        .into_iter()
        .filter(|clause| !clause.contains(&Edge::TRUE))
        .map(|clause| clause.into_iter().filter(|&edge| edge != Edge::FALSE).collect())
}

/// Rebuilds a system from its cone, if that makes it smaller.
pub(super) fn reduce(system: &BitSystem, _: &Limits<'_>) -> Option<(BitSystem, Back)> {
    let (reduced, back) = cone(system);
    (reduced.aig.len() < system.aig.len()).then_some((reduced, back))
}

/// Rebuilds a system from its cone.
pub fn cone(system: &BitSystem) -> (BitSystem, Back) {
    rebuild(system, &identity(system), Vec::new())
}

/// By nodes: the node itself.
pub(super) fn identity(system: &BitSystem) -> Vec<Edge> {
    system.aig.nodes().map(Edge::from).collect()
}

/// Rebuilds a system. By nodes, `representatives` has an edge that is always equal, of the node itself or an earlier
/// one. The facts justify it (R1); those that are valid in all states need not be there.
pub(super) fn rebuild(
    system: &BitSystem,
    representatives: &[Edge],
    facts: Vec<(Edge, Edge)>,
) -> (BitSystem, Back) {
    let cone = sequential_cone(system, representatives);
    let latches: Vec<usize> =
        (0..system.num_latches()).filter(|&latch| cone[system.latch(latch).index()]).collect();
    let inputs: Vec<usize> =
        (0..system.num_inputs).filter(|&input| cone[system.input(input).index()]).collect();

    let mut builder = Builder::with_leaves(latches.len() + inputs.len());
    let mut map = vec![Edge::FALSE; system.aig.len()];
    let leaves = latches.iter().map(|&l| system.latch(l)).chain(inputs.iter().map(|&i| system.input(i)));
    for (index, leaf) in leaves.enumerate() {
        map[leaf.index()] = Node::from_index(1 + index).into();
    }
    let image = |map: &[Edge], edge: Edge| map[edge.node().index()].negate_if(edge.is_negated());
    for node in system.aig.nodes() {
        let representative = representatives[node.index()];
        debug_assert!(representative.node() <= node);
        if representative.node() != node {
            map[node.index()] = image(&map, representative);
        } else if let (true, Some([left, right])) = (cone[node.index()], system.aig.and_fanins(node)) {
            map[node.index()] = builder.and(image(&map, left), image(&map, right));
        }
    }

    let next = latches.iter().map(|&latch| image(&map, system.next[latch])).collect();
    let resets = latches.iter().map(|&latch| system.resets[latch]).collect();
    let mut constraints: Vec<Edge> = system.constraints.iter().map(|&edge| image(&map, edge)).collect();
    constraints.retain(|&edge| edge != Edge::TRUE);
    constraints.sort_unstable();
    constraints.dedup();
    let bad = image(&map, system.bad);
    let reduced =
        BitSystem { aig: builder.into_aig(), resets, next, num_inputs: inputs.len(), bad, constraints };
    let back = Back {
        aig: system.aig.clone(),
        resets: system.resets.clone(),
        num_inputs: system.num_inputs,
        representatives: representatives[1..=system.num_latches()].to_vec(),
        latches,
        inputs,
        facts,
    };
    (reduced, back)
}

/// Marks the nodes that bad and the constraints depend on, in any number of steps, if each node is replaced by its
/// representative.
fn sequential_cone(system: &BitSystem, representatives: &[Edge]) -> Vec<bool> {
    let mut marked = vec![false; system.aig.len()];
    let mut stack: Vec<Node> =
        system.constraints.iter().chain([&system.bad]).map(|edge| edge.node()).collect();
    while let Some(node) = stack.pop() {
        let node = representatives[node.index()].node();
        if representatives[node.index()].node() != node {
            stack.push(node);
            continue;
        }
        if std::mem::replace(&mut marked[node.index()], true) {
            continue;
        }
        if let Some(fanins) = system.aig.and_fanins(node) {
            stack.extend(fanins.map(Edge::node));
        } else if let Some(latch) = system.latch_index(node) {
            stack.push(system.next[latch].node());
        }
    }
    marked
}
