//! Sweeping: merges nodes that are equal in all states under all inputs.
//!
//! Random patterns from random states give the candidates. The way back needs no facts: the equalities hold for all
//! values of the leaves. If the limits interrupt the search, the nodes that were compared are merged.
//!
//! A. Kuehlmann, F. Krohm, "Equivalence Checking Using Cuts and Heaps" (DAC 1997).

use shofar_run::Limits;

use super::classes::{Classes, Signatures};
use super::cnf::Cnf;
use super::merge::Frames;
use super::rebuild::{Back, identity, rebuild};
use crate::aig::{Edge, Node};
use crate::simulate::{Runs, spread};
use crate::system::BitSystem;

/// The words of the first patterns: 256 of them.
const WORDS: usize = 4;

/// Merges nodes that are equal in all states.
pub(super) fn reduce(system: &BitSystem, limits: &Limits<'_>) -> Option<(BitSystem, Back)> {
    let mut signatures = Signatures::new(system.aig.len());
    let mut first: Runs<'_, WORDS> = Runs::new(system, 1);
    first.randomise_leaves();
    first.evaluate();
    signatures.add(&first.patterns, [u64::MAX; WORDS]);
    let mut classes = Classes::new(&signatures, system.aig.nodes());
    classes.last_member()?;

    // The leaves of the graph have the numbers of those of the system.
    let leaves = system.num_latches() + system.num_inputs;
    let mut frames = Frames::new(system, leaves);
    let mut runs: Runs<'_, 1> = Runs::new(system, 2);
    let refine = |cnf: &Cnf, classes: &mut Classes| {
        for leaf in (1..=leaves).map(Node::from_index) {
            // The model, and patterns near it.
            let near = runs.random.next() & runs.random.next() & runs.random.next() & !1;
            runs.patterns.set(leaf, [spread(cnf.value(leaf).unwrap_or(false)) ^ near]);
        }
        runs.evaluate();
        classes.refine(&runs.patterns);
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
