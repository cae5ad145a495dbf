//! Latches that never change, by ternary simulation.
//!
//! Each latch starts with its reset, unknown if that is free; inputs are unknown. A latch whose next value differs from
//! its value becomes unknown, until nothing changes. The latches that are still known are constant, and that all of them
//! are is inductive: the next values follow from these constants alone.
//!
//! Values only ever become unknown, so after one pass over the graph it is enough to follow those that do.

use shofar_run::Limits;

use super::rebuild::{Back, identity, rebuild};
use crate::aig::{Edge, Node};
use crate::simulate::{ternary, ternary_value};
use crate::system::BitSystem;

/// Replaces constant latches by their values.
pub(super) fn reduce(system: &BitSystem, limits: &Limits<'_>) -> Option<(BitSystem, Back)> {
    let constants = constant_latches(system, limits)?;
    let mut representatives = identity(system);
    let mut facts = Vec::new();
    for (latch, value) in constants.iter().enumerate() {
        if let Some(value) = *value {
            let node = system.latch(latch);
            representatives[node.index()] = Edge::from(value);
            facts.push((node.into(), Edge::from(value)));
        }
    }
    (!facts.is_empty()).then(|| rebuild(system, &representatives, facts))
}

/// By latches: the value that it always has, if there is one. `None` if the limits interrupt the simulation.
fn constant_latches(system: &BitSystem, limits: &Limits<'_>) -> Option<Vec<Option<bool>>> {
    let readers = Readers::of(system);
    let reset = |leaf| system.latch_index(leaf).and_then(|latch| system.resets[latch]);
    let mut values = ternary(&system.aig, reset);
    if limits.interruption().is_some() {
        return None;
    }
    let mut open: Vec<Node> = Vec::new();
    for (latch, &next) in system.next.iter().enumerate() {
        let node = system.latch(latch);
        if values[node.index()].is_some() && values[node.index()] != ternary_value(&values, next) {
            values[node.index()] = None;
            open.push(node);
        }
    }
    // A node becomes unknown at most once.
    while let Some(node) = open.pop() {
        for &reader in readers.of_node(node) {
            if values[reader.index()].is_none() {
                continue;
            }
            let value = match (system.aig.and_fanins(reader), system.latch_index(reader)) {
                (Some([left, right]), _) => {
                    conjunction(ternary_value(&values, left), ternary_value(&values, right))
                }
                // The latch's next value has just become unknown.
                _ => None,
            };
            if value.is_none() {
                values[reader.index()] = None;
                open.push(reader);
            }
        }
    }
    Some(values[1..=system.num_latches()].to_vec())
}

fn conjunction(left: Option<bool>, right: Option<bool>) -> Option<bool> {
    match (left, right) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

/// By nodes: the gates with it as a fan-in, and the latches with it as next function.
struct Readers {
    /// Where the readers of each node start.
    starts: Vec<usize>,
    readers: Vec<Node>,
}

impl Readers {
    fn of(system: &BitSystem) -> Self {
        let pairs = || {
            let gates = system.aig.nodes().flat_map(|node| {
                let fanins = system.aig.and_fanins(node).into_iter().flatten();
                fanins.map(move |edge| (edge.node(), node))
            });
            let next = system.next.iter().enumerate();
            gates.chain(next.map(|(latch, edge)| (edge.node(), system.latch(latch))))
        };
        let mut starts = vec![0; system.aig.len() + 1];
        pairs().for_each(|(node, _)| starts[node.index() + 1] += 1);
        for index in 1..starts.len() {
            starts[index] += starts[index - 1];
        }
        let mut ends = starts.clone();
        let mut readers = vec![Node::FALSE; starts[system.aig.len()]];
        for (node, reader) in pairs() {
            readers[ends[node.index()]] = reader;
            ends[node.index()] += 1;
        }
        Self { starts, readers }
    }

    fn of_node(&self, node: Node) -> &[Node] {
        &self.readers[self.starts[node.index()]..self.starts[node.index() + 1]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aig::Builder;

    /// A shift register of zeros, whose first latch takes an input. Each latch becomes unknown after the one before.
    #[test]
    fn a_long_chain_takes_linear_time() {
        let latches = 100_000;
        let latch = |index: usize| Edge::from(Node::from_index(1 + index));
        let mut next: Vec<Edge> = (0..latches).map(|index| latch(index.max(1) - 1)).collect();
        let system = |next: &[Edge]| BitSystem {
            aig: Builder::with_leaves(latches + 1).into_aig(),
            resets: vec![Some(false); latches],
            next: next.to_vec(),
            num_inputs: 1,
            bad: latch(latches - 1),
            constraints: Vec::new(),
        };
        // The first latch keeps its value: all are constant.
        let constants = constant_latches(&system(&next), &Limits::default()).unwrap();
        assert!(constants.iter().all(|&value| value == Some(false)));
        next[0] = latch(latches);
        let constants = constant_latches(&system(&next), &Limits::default()).unwrap();
        assert!(constants.iter().all(|value| value.is_none()));
    }
}
