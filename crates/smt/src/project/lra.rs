//! Eliminates a real variable around a model: virtual substitution by one bound.
//!
//! If an equality in the cube constrains `x`, it is solved and substituted. Otherwise the constraints are lower bounds
//! `s <= x`, `s < x` and upper bounds `x <= t`, `x < t`, and `x` exists between them iff every lower bound is below
//! every upper one. Pairing all with all is the method of Fourier and Motzkin (`shofar_logic::fourier_motzkin`). Around
//! a model, one lower bound `s0`, the greatest in the model, represents all of them:
//!
//! ```text
//! other lower bounds s     s <= s0,  but s < s0 where s is strict and s0 is not
//! upper bounds t           s0 <= t,  but s0 < t where one of the two is strict
//! ```
//!
//! The model satisfies these, because among equal bounds the strict one is chosen. They imply that an `x` exists
//! between `s0` and the least upper bound. As there are finitely many bounds to choose from, finitely many such results
//! cover the exact one. An upper bound can play the same role; the side with fewer bounds does. If the pairs are not
//! more than the bounds themselves, all pairs are taken, and the result is exact.
//!
//! The rules are those of Loos & Weispfenning, "Applying linear quantifier elimination" (The Computer Journal 36,
//! 1993); letting a model choose comes from Komuravelli, Gurfinkel & Chaki, "SMT-based model checking for recursive
//! programs" (CAV 2014, section 4).

use shofar_logic::fourier_motzkin::{VariableBound, shadow, sides};
use shofar_logic::{Sort, Term};

use super::ProjectError;
use super::arith::Values;
use super::constraint::{Constraint, Relation};

/// Replaces the constraints on a real variable by constraints without it.
pub(super) fn eliminate(
    x: Term,
    constraints: &[Constraint],
    values: &mut Values<'_, '_, '_>,
) -> Result<Vec<Constraint>, ProjectError> {
    if let Some(position) = constraints.iter().position(|c| c.relation == Relation::Equal) {
        return Ok(substitute(x, constraints, position));
    }
    let real = |inequality| Constraint::from_inequality(inequality, Sort::REAL);
    let (mut lower, mut upper) = sides(constraints.iter().filter_map(|constraint| constraint.bound_of(x)));
    if lower.is_empty() || upper.is_empty() {
        return Ok(Vec::new());
    }
    if lower.len() * upper.len() <= lower.len() + upper.len() {
        return Ok(shadow(&lower, &upper).map(real).collect());
    }
    if upper.len() < lower.len() {
        (lower, upper) = (upper, lower);
    }
    let is_preferred = |new: &VariableBound, old: &VariableBound| new.is_strict && !old.is_strict;
    let pivot = lower.swap_remove(values.greatest(&lower, is_preferred)?);
    let below = lower.iter().map(|bound| bound.is_below(&pivot));
    Ok(below.chain(upper.iter().map(|bound| pivot.meets(bound))).map(real).collect())
}

/// Solves an equality for the variable and substitutes the result into the other constraints.
fn substitute(x: Term, constraints: &[Constraint], position: usize) -> Vec<Constraint> {
    let equality = &constraints[position].poly;
    let others = constraints.iter().enumerate().filter(|&(other, _)| other != position);
    let others = others.map(|(_, constraint)| {
        let mut constraint = constraint.clone();
        constraint.poly.cancel(x, equality);
        constraint
    });
    others.collect()
}
