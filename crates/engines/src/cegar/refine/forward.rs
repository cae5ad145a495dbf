//! Forward binary interpolation: one formula, at the last position of the path that can be reached.
//!
//! From the start of the path, edges and labels are added as long as they are satisfiable. At the first position `k` where
//! they are not, the interpolant of
//!
//! ```text
//! a_0, s_1, ..., a_{k-1}, s_k     and     a_k, s_{k+1}
//! ```
//!
//! contains all states that are reached at `k`, and none of them has a successor. It need not follow from the label before:
//! then the counterexample comes back, and the refiner turns to sequence interpolants.
//!
//! Á. Hajdu, Z. Micskei, "Efficient strategies for CEGAR-based model checking" (JAR 2020), Section 2.3.3.

use shofar_logic::Term;
use shofar_run::Stop;

use super::super::path::Path;
use super::{Surroundings, single};
use crate::separation::Parts;

/// The interpolant of an infeasible path.
pub(super) fn refute(around: &mut Surroundings<'_, '_>, path: &Path) -> Result<Vec<Term>, Stop> {
    let mut parts = Parts::new(around.run, [])?;
    for position in 0..path.len() {
        parts.push(around.step(path, position))?;
        around.queries += 1;
        if !parts.is_satisfiable()? {
            if position == 0 {
                break;
            }
            let reached = parts.binary(position, around.interpolation)?;
            return Ok(single(around, path, position, reached));
        }
    }
    Err(Stop::Exhausted("a counterexample has no position for an interpolant"))
}
