//! Latches with equal or opposite constant resets and next functions are equal or opposite.
//!
//! Next functions are compared as edges. Merging latches makes more edges equal, so the graph is hashed again with one
//! leaf for merged latches, until no two latches agree. The facts of all rounds together are inductive.

use rustc_hash::FxHashMap;
use shofar_run::Limits;

use super::rebuild::{Back, identity, rebuild};
use crate::aig::{Builder, Edge};
use crate::system::BitSystem;

/// Merges latches with equal resets and next functions, until there are none.
pub(super) fn reduce(system: &BitSystem, limits: &Limits<'_>) -> Option<(BitSystem, Back)> {
    let mut representatives = identity(system);
    while merge_once(system, &mut representatives) {
        if limits.interruption().is_some() {
            break;
        }
    }
    let latches = (0..system.num_latches()).map(|latch| system.latch(latch));
    let facts: Vec<(Edge, Edge)> = latches
        .filter(|latch| representatives[latch.index()].node() != *latch)
        .map(|latch| (latch.into(), representatives[latch.index()]))
        .collect();
    (!facts.is_empty()).then(|| rebuild(system, &representatives, facts))
}

/// Merges latches that are equal if those merged before are; returns whether there were any.
fn merge_once(system: &BitSystem, representatives: &mut [Edge]) -> bool {
    // The graph with latches replaced by their representatives; leaves keep their numbers.
    let mut builder = Builder::with_leaves(system.num_latches() + system.num_inputs);
    let map =
        builder.copy_cones(&system.aig, system.next.iter().copied(), |leaf| representatives[leaf.index()]);
    let mut first: FxHashMap<(Edge, bool), Edge> = FxHashMap::default();
    let mut merged = false;
    for (latch, &next) in system.next.iter().enumerate() {
        let node = system.latch(latch);
        let (true, Some(reset)) = (representatives[node.index()].node() == node, system.resets[latch]) else {
            continue;
        };
        let next = map[next.node().index()].unwrap_or(Edge::FALSE).negate_if(next.is_negated());
        // A next function and its negation share a key, so that opposite latches meet.
        let negated = next.is_negated();
        let key = (next.negate_if(negated), reset != negated);
        let value = Edge::from(node).negate_if(negated);
        match first.get(&key) {
            Some(other) => {
                representatives[node.index()] = other.negate_if(negated);
                merged = true;
            }
            None => {
                first.insert(key, value);
            }
        }
    }
    if merged {
        // A representative may have got one itself.
        for latch in 0..system.num_latches() {
            let node = system.latch(latch);
            let edge = representatives[node.index()];
            representatives[node.index()] = representatives[edge.node().index()].negate_if(edge.is_negated());
        }
    }
    merged
}
