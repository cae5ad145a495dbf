//! Internal signals as state variables.
//!
//! A gate whose cone has no inputs is a function of the state. As a state variable, its value after a step is its
//! function of the next functions. Cubes then speak of signals instead of the latches below them, so one literal stands
//! for what may take many clauses over latches. The certificate has clauses over gates.
//!
//! S1: every signal has a step, an edge of the extended graph; its reset is constant if the latches' resets decide it.
//! S2: a lifted cube that contradicts no reset meets Init. If the latches of its state contradict one, the cube keeps such
//! a latch; see `lift.rs`.
//!
//! R. Dureja, A. Gurfinkel, A. Ivrii, Y. Vizel, "IC3 with Internal Signals" (FMCAD 2021).

use super::variables::Variables;
use crate::aig::{Builder, Edge, Node, mapped};
use crate::simulate::ternary;
use crate::system::BitSystem;

/// A system whose graph has the gates of signals after a step.
pub(super) struct Extended {
    pub(super) system: BitSystem,
    pub(super) variables: Variables,
}

/// Makes all gates that do not depend on inputs state variables.
pub(super) fn extend(system: &BitSystem) -> Extended {
    let signals: Vec<Node> = signals(system);
    let roots: Vec<Edge> = signals.iter().map(|&node| node.into()).collect();
    let mut builder = Builder::on(system.aig.clone());
    let map = builder.copy_cones(&system.aig, roots.iter().copied(), |leaf| match system.latch_index(leaf) {
        Some(latch) => system.next[latch],
        None => unreachable!("a signal depends on latches only"),
    });
    let at_start = ternary(&system.aig, |leaf| system.resets[system.latch_index(leaf)?]);
    let mut variables = Variables::new(system, true);
    for (&node, &edge) in signals.iter().zip(&roots) {
        variables.add_signal(node, at_start[node.index()], mapped(&map, edge));
    }
    Extended { system: BitSystem { aig: builder.into_aig(), ..system.clone() }, variables }
}

/// The gates without inputs in their cones, in ascending order.
fn signals(system: &BitSystem) -> Vec<Node> {
    let mut is_free = vec![false; system.aig.len()];
    for node in system.aig.nodes() {
        is_free[node.index()] = match system.aig.and_fanins(node) {
            Some(fanins) => fanins.iter().all(|edge| is_free[edge.node().index()]),
            None => system.input_index(node).is_none(),
        };
    }
    system.aig.nodes().filter(|&node| is_free[node.index()] && system.aig.is_and(node)).collect()
}
