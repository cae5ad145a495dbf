//! Chooses the variable to branch on.
//!
//! If the value of an integer variable is a fraction `v`, the variable is at most `floor(v)` or at least one more.
//! Among these variables the one with the smallest range between its bounds is chosen: its splits end soonest.
//! Variables without a range come last, those nearest to zero first: solutions are sought there, because splits away
//! from zero may go on for ever. The preference for small boxes is Z3's.

use shofar_logic::number::{Integer, Rational};

use super::super::{Side, Simplex, Var};

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
