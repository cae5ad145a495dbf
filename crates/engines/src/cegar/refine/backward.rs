//! Backward binary interpolation: one formula, as late on the path as possible.
//!
//! From the end of the path, labels and edges are added as long as they are satisfiable. At the first position `k` where they
//! are not,
//!
//! ```text
//! s_k, a_k                       have no model with
//! s_{k+1}, a_{k+1}, ..., a_{n-1}
//! ```
//!
//! The interpolant `I` of the second line contains all states at `k + 1` from which the path leads to the error, and its
//! negation follows from the first line. So the label at `k + 1` gets `not I`, and the next counterexample along the same edges
//! fails one position later, until these edges are excluded. The predicates are simple, and depend only on the last part of the path.
//!
//! Á. Hajdu, Z. Micskei, "Efficient strategies for CEGAR-based model checking" (JAR 2020), Section 3.2.1.

use shofar_logic::Term;
use shofar_run::Stop;

use super::super::path::Path;
use super::{Surroundings, single};
use crate::separation::Parts;

/// The interpolant of an infeasible path.
pub(super) fn refute(around: &mut Surroundings<'_, '_>, path: &Path) -> Result<Vec<Term>, Stop> {
    let mut parts = Parts::new(around.run, [])?;
    for position in (0..path.len()).rev() {
        let mut step = around.copies.label(path, position);
        step.push(around.copies.constraint(path, position));
        parts.push(step)?;
        around.queries += 1;
        if !parts.is_satisfiable()? {
            let later = parts.len() - 1;
            if later == 0 {
                break;
            }
            let leads_on = parts.binary(later, around.interpolation)?;
            return Ok(single(around, path, position + 1, around.run.store.not(leads_on)));
        }
    }
    Err(Stop::Exhausted("a counterexample has no position for an interpolant"))
}
