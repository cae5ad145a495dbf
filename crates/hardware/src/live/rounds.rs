//! k-liveness: a property holds if no run has more than so many rounds in which all edges were true.
//!
//! A *round* ends in the step in which the last of the edges was true that was not yet true in this round. The monitor
//! counts rounds up to k and raises its alarm then. A run that violates the property has infinitely many rounds: if no
//! run has k of them, the property holds. The converse is true for some k as well, since the circuit is finite, but a
//! run with k rounds proves nothing by itself.
//!
//! Claessen & Sörensson, "A Liveness Checking Algorithm that Counts" (FMCAD 2012). The counter is a chain of latches,
//! one for each number: engines then learn clauses about "at least so many rounds".

use super::Addition;
use crate::aig::Edge;

/// Adds the monitor. The result is its alarm.
pub(super) fn add(edges: &[Edge], rounds: usize, addition: &mut Addition) -> Edge {
    // An edge by itself needs no memory: each step in which it is true is a round.
    let seen: Vec<Edge> = match edges {
        [_] => vec![Edge::FALSE],
        _ => (0..edges.len()).map(|index| addition.latch(&format!("seen{index}"))).collect(),
    };
    let so_far: Vec<Edge> =
        seen.iter().zip(edges).map(|(&seen, &edge)| addition.builder.or(seen, edge)).collect();
    let round = addition.builder.and_all(so_far.iter().copied());
    for (&seen, &so_far) in seen.iter().zip(&so_far).filter(|(seen, _)| seen.as_constant().is_none()) {
        let next = addition.builder.and(so_far, !round);
        addition.set_next(seen, next);
    }
    let mut reached = Edge::TRUE;
    for number in 1..=rounds {
        let count = addition.latch(&format!("rounds{number}"));
        let one_more = addition.builder.and(reached, round);
        let next = addition.builder.or(count, one_more);
        addition.set_next(count, next);
        reached = count;
    }
    reached
}
