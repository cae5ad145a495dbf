//! Liveness to safety: a lasso is a state that occurs twice.
//!
//! The monitor has a *shadow* of each latch and an input `save`. In the first step in which that input is true, the
//! shadows take the state over, and keep it. From this step on, a latch for each edge remembers whether it was true. The
//! alarm: all latches have the values of their shadows again, and all edges were true in between. So the alarm is raised
//! if and only if there is a lasso, and the counterexample shows it.
//!
//! Biere, Artho & Schuppan, "Liveness Checking as Safety Checking" (FMICS 2002). The latches that the edges and the
//! constraints do not depend on have no shadow: they do not decide how the run goes on.

use super::Addition;
use crate::aig::Edge;
use crate::circuit::Circuit;

/// Adds the monitor. The result is its alarm.
pub(super) fn add(circuit: &Circuit, edges: &[Edge], addition: &mut Addition) -> Edge {
    let (latches, _) = circuit.sequential_cone(edges);
    let save = addition.input("save");
    let saved = addition.latch("saved");
    let in_loop = addition.builder.or(saved, save);
    addition.set_next(saved, in_loop);

    let mut alarm = vec![saved];
    for latch in latches {
        let value = Edge::from(circuit.latches[latch].node);
        let name = match circuit.names.latches.get(latch) {
            Some(name) if !name.is_empty() => format!("shadow.{name}"),
            _ => format!("shadow.l{latch}"),
        };
        let shadow = addition.latch(&name);
        // Before the loop begins, shadows are of no use: it is enough to keep them from then on.
        let next = addition.builder.ite(saved, shadow, value);
        addition.set_next(shadow, next);
        alarm.push(addition.builder.iff(shadow, value));
    }
    for (index, &edge) in edges.iter().enumerate() {
        let seen = addition.latch(&format!("seen{index}"));
        let so_far = addition.builder.or(seen, edge);
        let next = addition.builder.and(in_loop, so_far);
        addition.set_next(seen, next);
        alarm.push(seen);
    }
    addition.builder.and_all(alarm)
}
