//! Reads the assignment: rational models, polarities, and variables with equal values.
//!
//! The assignment consists of delta-rationals. A model replaces `δ` by a rational number that preserves all bounds in
//! force (see [`Concretisation`]). Rows hold for any `δ`, because they are linear without constant.
//!
//! Deciding an atom as the assignment already has it avoids a pivot; OpenSMT found this to be worth much. As there, the
//! answer is three-valued: the value `c - δ/2` satisfies neither `x >= c` nor its negation `x <= c - δ`.

use shofar_logic::number::Rational;

use super::bounds::negate;
use super::{Concretisation, DeltaRational, Side, Simplex, Var};

impl Simplex {
    /// The values of all variables, by index, in a model of all rows and bounds in force. Call this after a feasible
    /// check, before asserting other bounds.
    pub fn model(&self) -> Vec<Rational> {
        self.model_apart(&[])
    }

    /// Such a model in which, in addition, each given variable differs from its number, on the same side as in the
    /// assignment. The assignment must already distinguish the two.
    pub fn model_apart(&self, different: &[(Var, DeltaRational)]) -> Vec<Rational> {
        let values: Vec<_> = (0..self.var_count()).map(|index| self.value(Var::new(index))).collect();
        let mut concretisation = Concretisation::default();
        for (index, value) in values.iter().enumerate() {
            if let Some(lower) = self.bounds.get(Var::new(index), Side::Lower) {
                concretisation.keep_order(&lower.value, value);
            }
            if let Some(upper) = self.bounds.get(Var::new(index), Side::Upper) {
                concretisation.keep_order(value, &upper.value);
            }
        }
        for (var, other) in different {
            let value = &values[var.index()];
            concretisation.keep_order(value.as_ref().min(other), value.as_ref().max(other));
            concretisation.keep_apart(value, other);
        }
        let delta = concretisation.choose();
        values.iter().map(|value| value.at(&delta)).collect()
    }

    /// Whether the assignment satisfies a bound: `Some(false)` if it satisfies the bound's negation, `None` if it
    /// satisfies neither.
    pub fn suggest(&self, var: Var, side: Side, bound: &DeltaRational) -> Option<bool> {
        let value = self.value(var);
        if side.admits(bound, &value) {
            return Some(true);
        }
        let (side, bound) = self.negation(var, side, bound);
        side.admits(&bound, &value).then_some(false)
    }

    /// The negation of a bound: `x < c` for `x >= c`, and `x <= c - 1` if `x` and `c` are integers.
    pub fn negation(&self, var: Var, side: Side, bound: &DeltaRational) -> (Side, DeltaRational) {
        negate(self.is_int(var), side, bound)
    }

    /// The value of a variable whose bounds coincide.
    pub fn fixed(&self, var: Var) -> Option<&DeltaRational> {
        let lower = &self.bounds.get(var, Side::Lower)?.value;
        let upper = &self.bounds.get(var, Side::Upper)?.value;
        (lower == upper).then_some(lower)
    }
}
