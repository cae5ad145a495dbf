//! Chooses the variable to branch on.
//!
//! If the value of an integer variable is a fraction `v`, the variable is at most `floor(v)` or at least one more.
//! Among these variables the one with the smallest range between its bounds is chosen: its splits end soonest.
//! Variables without a range come last, those nearest to zero first: solutions are sought there, because splits away
//! from zero may go on for ever. The preference for small boxes is Z3's.
//!
//! Splits go on for ever in `3x = 3y + r + s` if `x` and `y` are unbounded, `0 <= r <= 1` and `0 <= s <= 1`, and other rows forbid
//! `r = s = 0`: each split makes either `x` or `y` a fraction. But `r` and `s` have few values, and once each has one value the GCD
//! test decides. So after many splits, small variables in the rows of fractions are split as well, although their values are integers.

use shofar_logic::number::{Integer, Rational};

use super::super::tableau::Place;
use super::super::{Side, Simplex, Var};
use super::Step;

/// The rank of a variable; smaller is better.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    is_unbounded: bool,
    range: Integer,
    distance: Rational,
}

impl Simplex {
    /// The variable to branch on among those with fractional values.
    pub(super) fn branch_variable(&self, fractional: &[Var]) -> Option<Var> {
        fractional.iter().copied().min_by_key(|&var| self.branch_rank(var))
    }

    /// A split on a variable with a small range that makes the value of another one a fraction, if there is one in its row.
    pub(super) fn split_on_cause(&self, fractional: Var, small: i64) -> Option<Step> {
        let Place::Basic(row) = self.tableau.place(fractional) else { return None };
        let row = self.tableau.row(row);
        let own = row.basic().coeff.abs();
        let causes = row
            .entries
            .iter()
            .filter(|entry| self.is_int(entry.var) && !entry.coeff.mod_floor(&own).is_zero());
        let ranges = causes.filter_map(|entry| Some((self.range(entry.var)?, entry.var)));
        let (_, var) = ranges.filter(|(range, _)| range.is_positive() && *range <= small.into()).min()?;
        // Each side of a split excludes an integer, and the first one keeps the value.
        let (value, greatest) = (self.value(var).floor(), self.integer_bound(var, Side::Upper)?);
        Some(match value < greatest {
            true => Step::Split { var, floor: value, first: Side::Upper },
            false => Step::Split { var, floor: greatest - Integer::ONE, first: Side::Lower },
        })
    }

    fn branch_rank(&self, var: Var) -> Rank {
        let range = self.range(var);
        Rank {
            is_unbounded: range.is_none(),
            range: range.unwrap_or_default(),
            distance: self.value(var).real().abs(),
        }
    }

    /// The difference of the bounds of an integer variable.
    pub(super) fn range(&self, var: Var) -> Option<Integer> {
        Some(self.integer_bound(var, Side::Upper)? - self.integer_bound(var, Side::Lower)?)
    }
}
