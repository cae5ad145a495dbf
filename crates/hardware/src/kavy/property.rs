//! Lemmas from the property, for the last frame.
//!
//! The property is a part of each frame. If no argument from F_N alone shows that the next frame is safe, the property is
//! too weak there. A cube of bad states is unreachable from F_{N-1}, often because of few of its literals, and for more
//! than one reason. All that is found in disjoint parts of the cube becomes lemmas: which of them an argument by
//! k-induction needs is not known yet. One reason alone may be a dead end. "The counter has not reached its end" excludes
//! many bad states, holds for as many steps as the counter takes, and says nothing about the data.
//!
//! Every lemma is blocked at N by the frame below, so K1 of `mod.rs` is kept.

use shofar_run::Stop;
use shofar_smt::sat::Lit;

use super::justify::justification;
use crate::pdr::Pdr;
use crate::pdr::cube::Cube;
use crate::system::BitSystem;
use crate::unroll::{Links, Start, Unrolling};

/// The cubes of bad states that are generalised for a frame.
const MOST_CUBES: usize = 20;

/// Adds lemmas to the last frame that exclude bad states, and says whether there are new ones.
pub(super) fn generalize(system: &BitSystem, pdr: &mut Pdr<'_>) -> Result<bool, Stop> {
    let last = pdr.last();
    let mut unrolling = Unrolling::new(system, Start::Any, Links::Tied);
    unrolling.assert_constraints(0);
    unrolling.assert(0, system.bad);
    for lemma in pdr.frames[last].iter().chain(&pdr.infinity) {
        exclude(&mut unrolling, &lemma.cube);
    }
    let mut is_stronger = false;
    for _ in 0..MOST_CUBES {
        if !unrolling.is_satisfiable(&[], pdr.limits)? {
            break;
        }
        let mut rest = bad_cube(system, &unrolling);
        while !pdr.meets_init(&rest) && pdr.blocked(&rest, last, true)? {
            let core = pdr.core.clone();
            let lemma = pdr.generalize(core, last, 0.0)?;
            exclude(&mut unrolling, &lemma);
            let others = rest.lits().iter().copied().filter(|&lit| !lemma.contains(lit));
            rest = Cube::from_sorted(others.collect());
            pdr.add_lemma(lemma, last);
            is_stronger = true;
        }
    }
    Ok(is_stronger)
}

/// The latches that make the state of the model bad, with its inputs.
fn bad_cube(system: &BitSystem, unrolling: &Unrolling<'_>) -> Cube {
    let values = system.aig.evaluate(|leaf| unrolling.value(0, leaf.into()));
    let roots = system.constraints.iter().copied().chain([system.bad]);
    let mut lits = justification(&system.aig, &values, roots);
    lits.retain(|lit| system.latch_index(lit.node()).is_some());
    Cube::new(lits)
}

/// Excludes a cube from the states at position 0.
pub(super) fn exclude(unrolling: &mut Unrolling<'_>, cube: &Cube) {
    let clause: Vec<Lit> = cube.lits().iter().map(|&lit| unrolling.literal(0, !lit)).collect();
    unrolling.add_clause(0, &clause);
}
