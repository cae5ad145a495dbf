//! Elimination of a real variable around a model: virtual substitution by one bound.
//!
//! Of the constraints on `x` in a cube, an equality is solved and put in. Otherwise they are lower bounds `s <= x`,
//! `s < x` and upper bounds `x <= t`, `x < t`, and `x` exists between them iff every lower bound is below every upper
//! one. Pairing all with all is the method of Fourier and Motzkin. Around a model, one lower bound `s0`, the greatest
//! in the model, speaks for all of them:
//!
//! ```text
//! other lower bounds s     s <= s0,  but s < s0 where s is strict and s0 is not
//! upper bounds t           s0 <= t,  but s0 < t where one of the two is strict
//! ```
//!
//! The model satisfies these: of equal bounds the strict one is chosen. They imply that an `x` exists, since between
//! `s0` and the least upper bound there is one. As there are finitely many bounds to choose from, finitely many
//! such results cover the exact one. An upper bound can play the same part; the side with fewer bounds does. Where all
//! pairs are not more than the bounds themselves, they are taken: the result is exact then.
//!
//! The rules are those of Loos & Weispfenning, "Applying linear quantifier elimination" (The Computer Journal 36, 1993);
//! to let a model choose comes from Komuravelli, Gurfinkel & Chaki, "SMT-based model checking for recursive programs"
//! (CAV 2014, section 4).

use shofar_logic::number::Rational;
use shofar_logic::{LinearPoly, Sort, Term};

use super::ProjectError;
use super::arith::Values;
use super::constraint::{Constraint, Relation, combination, split};

/// `bound <= x` or `bound < x`; for upper bounds the same of `-x`.
struct Bound {
    poly: LinearPoly,
    strict: bool,
}

/// Replaces the constraints on a real variable by constraints without it.
pub(super) fn eliminate(
    x: Term,
    constraints: &[Constraint],
    values: &mut Values<'_, '_, '_>,
) -> Result<Vec<Constraint>, ProjectError> {
    if let Some(position) = constraints.iter().position(|c| c.relation == Relation::Equal) {
        return Ok(substitute(x, constraints, position));
    }
    // For upper bounds x <= t, -t is a lower bound of -x.
    let (mut lower, mut upper) = (Vec::new(), Vec::new());
    for constraint in constraints {
        let (coefficient, rest) = split(&constraint.poly, x);
        let bound =
            Bound { poly: rest * &coefficient.abs().recip(), strict: constraint.relation == Relation::Below };
        if coefficient.is_negative() { lower.push(bound) } else { upper.push(bound) }
    }
    if lower.is_empty() || upper.is_empty() {
        return Ok(Vec::new());
    }
    if lower.len() * upper.len() <= lower.len() + upper.len() {
        let pairs = lower.iter().flat_map(|s| upper.iter().map(move |t| s.meets(t)));
        return Ok(pairs.collect());
    }
    if upper.len() < lower.len() {
        (lower, upper) = (upper, lower);
    }
    let mut pivot = 0;
    let mut greatest = values.of_poly(&lower[0].poly)?;
    for (position, bound) in lower.iter().enumerate().skip(1) {
        let value = values.of_poly(&bound.poly)?;
        if (&value, bound.strict) > (&greatest, lower[pivot].strict) {
            (pivot, greatest) = (position, value);
        }
    }
    let pivot = lower.swap_remove(pivot);
    let below = lower.iter().map(|bound| bound.is_below(&pivot));
    Ok(below.chain(upper.iter().map(|bound| pivot.meets(bound))).collect())
}

/// Solves an equality for the variable and puts the result into the other constraints.
fn substitute(x: Term, constraints: &[Constraint], position: usize) -> Vec<Constraint> {
    let (coefficient, rest) = split(&constraints[position].poly, x);
    let others = constraints.iter().enumerate().filter(|&(other, _)| other != position);
    let others = others.map(|(_, constraint)| {
        let (factor, other) = split(&constraint.poly, x);
        let poly = combination(&Rational::ONE, &other, &-(factor / &coefficient), &rest);
        Constraint { poly, ..constraint.clone() }
    });
    others.collect()
}

impl Bound {
    /// That there is an `x` between this bound and the upper one.
    fn meets(&self, upper: &Bound) -> Constraint {
        comparison(self.poly.clone() + &upper.poly, self.strict || upper.strict)
    }

    /// That this lower bound follows from another one.
    fn is_below(&self, other: &Bound) -> Constraint {
        comparison(self.poly.clone() - &other.poly, self.strict && !other.strict)
    }
}

fn comparison(poly: LinearPoly, strict: bool) -> Constraint {
    let relation = if strict { Relation::Below } else { Relation::AtMost };
    Constraint { poly, relation, sort: Sort::REAL }
}
