//! Explanations: Farkas certificates.
//!
//! A set of bounds contradicts the rows if and only if some non-negative combination of them, each read as `0 <= x - l`
//! or `0 <= u - x`, has no variables left after replacing the slack variables by their definitions, and says `0 <= c`
//! for a negative `c`. As `c` is a delta-rational, this includes `0 < 0`.
//!
//! If the basic variable `b` of a row `a_0·b + Σ a_j·x_j = 0` is below its lower bound and no `x_j` has room, then the
//! following bounds are such a combination: the lower bound of `b` with `a_0`, the lower bounds of those `x_j` with a
//! positive `a_j`, and the upper bounds of the others, each with `|a_j|`. The variables of the sum form the row. The
//! case of an upper bound is symmetric.
//!
//! A coefficient multiplies the asserted bound. If the bound was rounded, it multiplies the rounded bound, and the
//! certificate proves a fact about integers by a cut.

use rustc_hash::FxHashMap;
use shofar_logic::number::{Integer, Rational};

use super::bounds::Bound;
use super::simplex::blocking_side;
use super::tableau::{Entry, RowId};
use super::{DeltaRational, Reason, Side, Simplex, Var};

/// The share of a bound in a sum of bounds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Weighted {
    /// The reason of the bound.
    pub reason: Reason,
    /// The positive multiplier.
    pub coefficient: Rational,
    /// Whether the multiplied bound is the asserted one rounded to an integer.
    pub rounded: bool,
}

impl Weighted {
    pub(super) fn of(bound: &Bound, coefficient: Rational) -> Weighted {
        Weighted { reason: bound.reason, coefficient, rounded: bound.rounded }
    }
}

/// Contradictory bounds: their weighted sum is `0 <= c` for a negative `c`, or `0 < 0`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Conflict {
    /// The bounds, each once.
    pub terms: Vec<Weighted>,
}

impl Conflict {
    /// Whether the certificate needs some variables to be integers.
    pub fn is_cut(&self) -> bool {
        self.terms.iter().any(|term| term.rounded)
    }
}

impl Simplex {
    /// The conflict of a row whose basic variable violates its bound of the given side and no variable has room.
    pub(super) fn row_conflict(&self, row: RowId, side: Side) -> Conflict {
        let term = |entry: &Entry| {
            let bound = self.bounds.get(entry.var, blocking_side(side, &entry.coeff));
            Weighted::of(bound.expect("without room there is a bound"), Rational::from(entry.coeff.abs()))
        };
        Conflict { terms: self.tableau.row(row).entries.iter().map(term).collect() }
    }

    /// Verifies a conflict against the definitions. Looks up the bounds by their reasons.
    pub(super) fn refutes(&self, conflict: &Conflict) -> Result<(), String> {
        let weights: FxHashMap<Reason, &Weighted> =
            conflict.terms.iter().map(|term| (term.reason, term)).collect();
        let mut bounds = Vec::new();
        for var in (0..self.var_count()).map(Var::new) {
            for side in [Side::Lower, Side::Upper] {
                if let Some(bound) = self.bounds.get(var, side)
                    && let Some(weight) = weights.get(&bound.reason)
                {
                    bounds.push((var, side, &bound.value, &weight.coefficient));
                }
            }
        }
        // A reason may stand for several bounds, and then does not identify the one that was used.
        if bounds.len() != conflict.terms.len() || weights.len() != conflict.terms.len() {
            return Ok(());
        }
        let (form, constant) = self.weighted_sum(bounds);
        match form.iter().find(|(_, coeff)| !coeff.is_zero()) {
            Some((var, coeff)) => Err(format!("{var:?} has the coefficient {coeff}")),
            None if constant >= DeltaRational::ZERO => Err(format!("0 <= {constant} is true")),
            None => Ok(()),
        }
    }

    /// The sum of `λ·(x - l)` and `λ·(u - x)` for lower bounds `l` and upper bounds `u` of variables `x`.
    fn weighted_sum<'a>(
        &self,
        bounds: impl IntoIterator<Item = (Var, Side, &'a DeltaRational, &'a Rational)>,
    ) -> (Vec<(Var, Rational)>, DeltaRational) {
        let mut form = vec![Rational::ZERO; self.var_count()];
        let mut constant = DeltaRational::ZERO;
        for (var, side, value, weight) in bounds {
            let weight = if side == Side::Lower { weight.clone() } else { -weight };
            constant.sub_mul(&weight, value);
            let own = [(var, Integer::ONE)];
            for (var, coeff) in self.definition(var).map_or(&own[..], |definition| &definition[1..]) {
                form[var.index()].add_mul(&weight, &Rational::from(coeff.clone()));
            }
        }
        (form.into_iter().enumerate().map(|(index, coeff)| (Var::new(index), coeff)).collect(), constant)
    }
}
