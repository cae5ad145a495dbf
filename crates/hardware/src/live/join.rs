//! One proof of several properties.
//!
//! Each part has an invariant of the circuit with its own monitor only. Monitors do not see each other, so all the
//! invariants hold together in the circuit with all monitors, and their conjunction is inductive: at the greatest of
//! their depths, since an invariant that is inductive at a depth is so at all greater ones.

use super::{Monitor, Monitored, Proof};
use crate::aig::{Builder, Edge, Node, mapped};
use crate::circuit::Circuit;
use crate::evidence::Invariant;

impl Proof {
    /// The proof of all properties that the parts prove. A part is an invariant of the circuit with the monitor, or of
    /// the circuit itself.
    pub fn join(circuit: &Circuit, parts: Vec<(Option<Monitor>, Invariant)>) -> Self {
        let monitors: Vec<Monitor> = parts.iter().filter_map(|(monitor, _)| *monitor).collect();
        let joint = Monitored::new(circuit, &monitors).circuit;
        let mut builder = Builder::on(joint.aig.clone());
        // The first input and latch of the next monitor.
        let (mut next_input, mut next_latch) = (circuit.inputs.len(), circuit.latches.len());
        let (mut clauses, mut depth) = (Vec::new(), 1);
        for (monitor, invariant) in parts {
            let own = Monitored::new(circuit, monitor.as_slice()).circuit;
            let (inputs, latches) =
                (&own.inputs[circuit.inputs.len()..], &own.latches[circuit.latches.len()..]);
            // By leaves of the monitor alone: those of the same monitor beside others.
            let mut image = vec![Edge::FALSE; own.aig.len()];
            for (node, joint) in inputs.iter().zip(&joint.inputs[next_input..]) {
                image[node.index()] = (*joint).into();
            }
            for (latch, joint) in latches.iter().zip(&joint.latches[next_latch..]) {
                image[latch.node.index()] = joint.node.into();
            }
            let roots: Vec<Edge> = invariant.clauses.iter().flatten().copied().collect();
            let leaf = |node: Node| match node.index() < circuit.aig.len() {
                true => node.into(),
                false => image[node.index()],
            };
            let map = builder.copy_cones(&invariant.aig, roots, leaf);
            clauses.extend(
                invariant
                    .clauses
                    .iter()
                    .map(|clause| clause.iter().map(|&edge| mapped(&map, edge)).collect()),
            );
            depth = depth.max(invariant.depth);
            next_input += inputs.len();
            next_latch += latches.len();
        }
        Self { monitors, invariant: Invariant { aig: builder.into_aig(), clauses, depth } }
    }
}
