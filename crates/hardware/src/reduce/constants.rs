//! Latches that never change, by ternary simulation.
//!
//! Each latch starts with its reset, unknown if that is free; inputs are unknown. A latch whose next value differs from
//! its value becomes unknown, until nothing changes. The latches that are still known are constant, and that all of them
//! are is inductive: the next values follow from these constants alone.

use shofar_run::Limits;

use super::rebuild::{Back, identity, rebuild};
use crate::aig::{Edge, Node};
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
    let mut state = system.resets.clone();
    let mut values: Vec<Option<bool>> = vec![None; system.aig.len()];
    loop {
        if limits.interruption().is_some() {
            return None;
        }
        evaluate(system, &state, &mut values);
        let mut changed = false;
        for (value, &next) in state.iter_mut().zip(&system.next) {
            if value.is_some() && *value != ternary(&values, next) {
                *value = None;
                changed = true;
            }
        }
        if !changed {
            return Some(state);
        }
    }
}

/// The ternary value of an edge; `None` is unknown.
fn ternary(values: &[Option<bool>], edge: Edge) -> Option<bool> {
    values[edge.node().index()].map(|value| value != edge.is_negated())
}

/// The ternary values of all nodes, with unknown inputs.
fn evaluate(system: &BitSystem, state: &[Option<bool>], values: &mut [Option<bool>]) {
    for node in system.aig.nodes() {
        values[node.index()] = match system.aig.and_fanins(node) {
            Some([left, right]) => match (ternary(values, left), ternary(values, right)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            },
            None if node == Node::FALSE => Some(false),
            None => system.latch_index(node).and_then(|latch| state[latch]),
        };
    }
}
