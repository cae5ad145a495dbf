//! Sequence interpolants: from one proof, a formula for each position.
//!
//! ```text
//! a_0, s_1     a_1, s_2     ...     a_{n-1}
//!          I_1          I_2     I_{n-1}
//! ```
//!
//! `a_i` is the relation of an edge and `s_i` a label. The interpolants are a chain: `I_i`, `a_i` and `s_{i+1}` imply
//! `I_{i+1}`.
//!
//! T. Henzinger, R. Jhala, R. Majumdar, K. McMillan, "Abstractions from proofs" (POPL 2004).

use shofar_logic::Term;
use shofar_run::Stop;

use super::super::path::Path;
use super::{Refutation, Surroundings};
use crate::separation::Parts;

/// The interpolants of a path, unless its edges and labels have a model.
pub(super) fn refute(around: &mut Surroundings<'_, '_>, path: &Path) -> Result<Refutation, Stop> {
    let steps: Vec<Vec<Term>> = (0..path.len()).map(|position| around.step(path, position)).collect();
    let mut parts = Parts::new(around.run, steps)?;
    around.queries += 1;
    if parts.is_satisfiable()? {
        return Ok(Refutation::Model(around.copies.values(path, &parts.solver)));
    }
    let mut formulas = vec![Term::TRUE];
    for (position, interpolant) in (1..).zip(parts.sequence(around.interpolation)?) {
        formulas.push(around.copies.untimed(path, position, interpolant));
    }
    formulas.push(Term::FALSE);
    Ok(Refutation::Formulas(formulas))
}
