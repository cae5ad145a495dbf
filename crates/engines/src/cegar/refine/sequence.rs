//! Sequence interpolants: from one proof, a formula for each position.
//!
//! ```text
//! a_0, s_1     a_1, s_2     ...     a_{n-1}
//!          I_1          I_2     I_{n-1}
//! ```
//!
//! `a_i` is the relation of an edge and `s_i` a label. The interpolants are a chain: `I_i`, `a_i` and `s_{i+1}` imply
//! `I_{i+1}`. They may speak of templates at loop heads (`../../interpolation_abstraction`), and are a chain then as well.
//!
//! T. Henzinger, R. Jhala, R. Majumdar, K. McMillan, "Abstractions from proofs" (POPL 2004).

use shofar_horn::cfa::LocationId;
use shofar_logic::Term;
use shofar_run::Stop;

use super::super::path::Path;
use super::{Refutation, Surroundings};
use crate::separation::Parts;

/// The interpolants of a path, unless its edges and labels have a model.
pub(super) fn refute(around: &mut Surroundings<'_, '_>, path: &Path) -> Result<Refutation, Stop> {
    let steps: Vec<Vec<Term>> = (0..path.len()).map(|position| around.step(path, position)).collect();
    let mut parts = Parts::new(around.run, steps.clone())?;
    around.queries += 1;
    if parts.is_satisfiable()? {
        return Ok(Refutation::Model(around.copies.values(path, &parts.solver)));
    }
    let interpolants = match abstract_interpolants(around, path, steps)? {
        Some(interpolants) => interpolants,
        None => parts.sequence(around.interpolation)?,
    };
    let mut formulas = vec![Term::TRUE];
    for (position, interpolant) in (1..).zip(interpolants) {
        formulas.push(around.copies.untimed(path, position, interpolant));
    }
    formulas.push(Term::FALSE);
    Ok(Refutation::Formulas(formulas))
}

/// Interpolants about templates, if they are wanted and there are any.
fn abstract_interpolants(
    around: &mut Surroundings<'_, '_>,
    path: &Path,
    steps: Vec<Vec<Term>>,
) -> Result<Option<Vec<Term>>, Stop> {
    let Some(templates) = around.templates else { return Ok(None) };
    let states: Vec<Box<[Term]>> =
        (1..path.len()).map(|position| around.copies.state(path, position)).collect();
    let cut = |(location, state)| Some((LocationId::index(location), state));
    let locations = path.locations[1..].iter().copied();
    let cuts: Vec<_> = locations.zip(states.iter().map(|state| &**state)).map(cut).collect();
    templates.sequence(around.run, steps, &cuts, around.interpolation.options())
}
