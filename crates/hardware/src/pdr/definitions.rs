//! For tests: the frames of PDR and kAvy by their definitions.

use super::Pdr;
use super::cube::Cube;
use crate::aig::edge_value;
use crate::explicit::allowed_values;
use crate::system::BitSystem;

/// All states, by the bits of a row.
pub(crate) fn states(system: &BitSystem) -> impl Iterator<Item = Vec<bool>> + use<> {
    let latches = system.num_latches();
    (0..1usize << latches).map(move |row| (0..latches).map(|latch| row >> latch & 1 != 0).collect())
}

pub(crate) fn is_in_frame(pdr: &Pdr<'_>, frame: usize, state: &[bool]) -> bool {
    let excludes =
        |cube: &Cube| cube.lits().iter().all(|lit| state[lit.node().index() - 1] != lit.is_negated());
    if frame == 0 {
        return pdr.system.resets.iter().zip(state).all(|(reset, value)| reset.is_none_or(|r| r == *value));
    }
    !pdr.frames[frame..].iter().flatten().chain(&pdr.infinity).any(|lemma| excludes(&lemma.cube))
}

/// The frames are a monotone and inductive trace, and safe up to one of them.
pub(crate) fn check_trace(pdr: &Pdr<'_>, last_safe: usize, number: u64) {
    let system = pdr.system;
    for state in states(system) {
        let rows = allowed_values(system, &state);
        for frame in (0..=pdr.last()).filter(|&frame| is_in_frame(pdr, frame, &state)) {
            let mut above = frame..=pdr.last();
            assert!(above.all(|above| is_in_frame(pdr, above, &state)), "system {number}: monotone");
            let is_bad = rows.iter().any(|row| edge_value(row, system.bad));
            assert!(frame > last_safe || !is_bad, "system {number}: safe");
            for row in &rows {
                let next: Vec<bool> = system.next.iter().map(|&edge| edge_value(row, edge)).collect();
                let is_inductive = frame == pdr.last() || is_in_frame(pdr, frame + 1, &next);
                assert!(is_inductive, "system {number}: a step leaves frame {}", frame + 1);
            }
        }
    }
}
