//! The cube test: a rational point with room around it can be rounded.
//!
//! Rounding a point to the nearest integers moves each integer variable by at most a half, hence a form `Σ a_j·x_j` by
//! at most `Σ |a_j| / 2`, summed over its integer variables. The test tightens the bounds of all defined forms by this
//! amount; any solution of the tightened system can then be rounded. Bounds of single integer variables are integers
//! and need no tightening; rounding does not move fixed variables.
//!
//! Systems with equations fail the test cheaply. Systems that are unbounded in all directions of a cone, on which
//! branching may diverge, pass it: they have room for a cube of any size.
//!
//! Like everything that finds models, the test plays no part in proofs. Source: M. Bromberger and C. Weidenbach, *Fast
//! cube tests for LIA constraint solving*, IJCAR 2016. We round the tightened bounds of integer forms, as the kernel
//! requires.

use shofar_logic::number::{Integer, Rational};

use super::super::{Budget, DeltaRational, Outcome, Reason, Side, Simplex, Var};

/// The pivot budget of a test.
const MOST_PIVOTS: u64 = 500;

/// The reason of the test's bounds. They live only as long as the test, and are never explained.
const NO_REASON: Reason = Reason(u32::MAX);

impl Simplex {
    /// Makes the values of all integer variables integers, if the test succeeds. The assignment is feasible before and
    /// after it.
    pub(super) fn cube_test(&mut self) -> bool {
        self.push();
        let has_room = self.leave_room_for_rounding();
        let found = has_room
            && self.check(&Budget { pivots: Some(MOST_PIVOTS), interrupted: None }) == Outcome::Feasible;
        if found {
            self.round_values();
        }
        self.pop(1);
        found
    }

    /// Tightens the bounds of forms; returns `false` if two of them clash.
    fn leave_room_for_rounding(&mut self) -> bool {
        let slacks: Vec<Var> =
            self.vars().filter(|&var| self.is_slack(var) && self.bounds.is_bounded(var)).collect();
        slacks.into_iter().all(|slack| {
            let movement = self.movement_by_rounding(slack);
            movement.is_zero()
                || [Side::Lower, Side::Upper].into_iter().all(|side| {
                    let Some((bound, _)) = self.bound(slack, side) else { return true };
                    let mut bound = bound.clone();
                    match side {
                        Side::Lower => bound += &DeltaRational::from(movement.clone()),
                        Side::Upper => bound -= &DeltaRational::from(movement.clone()),
                    }
                    self.assert_bound(slack, side, &bound, NO_REASON).is_ok()
                })
        })
    }

    /// The greatest change of a slack variable's value by rounding.
    fn movement_by_rounding(&self, slack: Var) -> Rational {
        let form = self.definition(slack).map_or(&[][..], |definition| &definition[1..]);
        let moved = form.iter().filter(|(var, _)| self.is_int(*var) && self.fixed(*var).is_none());
        let sum = moved.fold(Integer::ZERO, |sum, (_, coeff)| sum + coeff.abs());
        Rational::new(sum, Integer::from(2))
    }

    /// Rounds the values of integer variables to the nearest integers.
    fn round_values(&mut self) {
        let half = DeltaRational::from(Rational::new(Integer::ONE, Integer::from(2)));
        self.reassign(|value| {
            let mut above = value.clone();
            above += &half;
            DeltaRational::from(above.floor())
        });
    }
}
