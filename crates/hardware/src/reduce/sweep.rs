//! Sweeping: merges nodes that are equal in all states under all inputs.
//!
//! Random patterns from random states give the candidates. The way back needs no facts: the equalities hold for all
//! values of the leaves. If the limits interrupt the search, the nodes that were compared are merged.
//!
//! A. Kuehlmann, F. Krohm, "Equivalence Checking Using Cuts and Heaps" (DAC 1997).

use shofar_run::Limits;

use super::classes::{Classes, Signatures, Words, evaluate, spread};
use super::cnf::Cnf;
use super::merge::Frames;
use super::rebuild::{Back, identity, rebuild};
use crate::aig::{Edge, Node};
use crate::system::BitSystem;

/// Rounds of 64 patterns.
const ROUNDS: usize = 4;

/// Merges nodes that are equal in all states.
pub(super) fn reduce(system: &BitSystem, limits: &Limits<'_>) -> Option<(BitSystem, Back)> {
    let mut random = Words::new(1);
    let mut words = vec![0; system.aig.len()];
    let mut signatures = Signatures::new(system.aig.len());
    let leaves = system.num_latches() + system.num_inputs;
    for _ in 0..ROUNDS {
        words[1..=leaves].fill_with(|| random.next());
        evaluate(&system.aig, &mut words);
        signatures.add(&words, u64::MAX);
    }
    let mut classes = Classes::new(&signatures, system.aig.nodes());
    classes.last_member()?;

    // The leaves of the graph have the numbers of those of the system.
    let mut frames = Frames::new(system, leaves);
    let refine = |cnf: &Cnf, classes: &mut Classes| {
        for (index, word) in words.iter_mut().enumerate().take(leaves + 1).skip(1) {
            // The model, and patterns near it.
            let near = random.next() & random.next() & random.next() & !1;
            *word = spread(cnf.value(Node::from_index(index)).unwrap_or(false)) ^ near;
        }
        evaluate(&system.aig, &mut words);
        classes.refine(&words);
    };
    let pass = frames.compare(&mut classes, Edge::from, refine, limits);
    let mut representatives = identity(system);
    let mut found = false;
    for node in system.aig.nodes().take(pass.compared) {
        if let Some(edge) = classes.representative(node) {
            representatives[node.index()] = edge;
            found = true;
        }
    }
    found.then(|| rebuild(system, &representatives, Vec::new()))
}
