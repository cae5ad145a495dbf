//! Implied bounds.
//!
//! In an equation `Σ a_j·x_j = 0` each monomial is minus the sum of the others. If all monomials except `a_k·x_k` have
//! a least value `m_j` by the bounds in force, then `a_k·x_k <= -Σ m_j`, which is an upper or lower bound of `x_k`,
//! depending on the sign of `a_k`. The same holds for greatest values. One pass finds the monomials without such a
//! value: if there is one, it is the only candidate; if there are two, there is no candidate.
//!
//! The equations are the definitions of slack variables, dormant or not, and not the rows of the tableau: these are
//! combinations of definitions, longer, and different after each pivot. On the scripts measured, bounds from rows at
//! best recovered a part of the time spent on finding them. Only definitions whose variables got new bounds since the
//! last call are visited, and only bounds that the caller can use are computed. Long equations and those with big
//! coefficients are skipped (both as in Z3).
//!
//! An implied bound is not asserted here: if the caller has an atom for it, the atom comes back as a bound with its own
//! reason. So implied bounds follow from asserted ones alone, in one step.
//!
//! # Explanations
//!
//! Most implied bounds are never explained, so explanations are computed lazily. A [`Token`] names the definition,
//! which does not change, and the [`Time`]; the bounds in force at that time stay on the stack until the level is left.

use std::mem;

use shofar_logic::number::{Integer, Rational};

use super::bounds::{Time, round};
use super::{DeltaRational, Side, Simplex, Var, VarQueue, Weighted};

/// A bound that follows from the bounds in force.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ImpliedBound {
    /// The variable.
    pub var: Var,
    /// Whether it is a lower or an upper bound.
    pub side: Side,
    /// The bound, stronger than the one in force.
    pub value: DeltaRational,
    /// Whether `value` is the explained bound, rounded to an integer.
    pub rounded: bool,
    /// The argument for [`Simplex::explain`].
    pub token: Token,
}

/// How a bound was implied. Valid until its level is left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token {
    slack: Var,
    time: Time,
}

/// The state of bound propagation.
#[derive(Default)]
pub(super) struct Propagation {
    /// Variables that may have got a bound since the last call.
    changed: VarQueue,
    /// For each of them, the sides with new bounds.
    sides: Vec<[bool; 2]>,

    // Used within a call.
    /// The slack variables whose definitions are searched, and for which sums: of the least values, of the greatest
    /// values.
    slacks: Vec<Var>,
    extremes: Vec<[bool; 2]>,
    /// For each variable and side, 1 plus the index of the implied bound, or 0.
    given: Vec<[u32; 2]>,
}

impl Propagation {
    /// Makes room for more variables.
    pub(super) fn reserve(&mut self, vars: usize) {
        self.changed.reserve(vars);
        self.sides.reserve(vars);
        self.extremes.reserve(vars);
        self.given.reserve(vars);
    }

    pub(super) fn add_var(&mut self) {
        self.changed.add_var();
        self.sides.push([false; 2]);
        self.extremes.push([false; 2]);
        self.given.push([0; 2]);
    }

    #[inline]
    pub(super) fn bound_changed(&mut self, var: Var, side: Side) {
        self.changed.insert(var);
        self.sides[var.index()][side as usize] = true;
    }

    pub(super) fn forget(&mut self, removed: Var) {
        self.changed.retain(|var| var != removed);
        self.sides[removed.index()] = [false; 2];
    }

    /// Records that a monomial of the slack variable's definition has a new bound.
    fn add_line(&mut self, slack: Var, coeff: &Integer, sides: [bool; 2]) {
        let extremes = &mut self.extremes[slack.index()];
        if *extremes == [false; 2] {
            self.slacks.push(slack);
        }
        // The least value of a monomial comes from the lower bound if the coefficient is positive.
        let [lower, upper] = sides;
        let [least, greatest] = if coeff.is_negative() { [upper, lower] } else { [lower, upper] };
        extremes[0] |= least;
        extremes[1] |= greatest;
    }
}

impl Simplex {
    /// Appends bounds that follow from one definition and the bounds in force, are stronger than those, and are
    /// `wanted`; at most one for each variable and side. Considers only bounds asserted since the last call. Call this
    /// after a feasible check; otherwise it is sound, but not useful.
    pub fn propagate(&mut self, wanted: impl Fn(&Simplex, Var, Side) -> bool, out: &mut Vec<ImpliedBound>) {
        let first = out.len();
        let mut propagation = mem::take(&mut self.propagation);
        self.collect_lines(&mut propagation);
        let mut slacks = mem::take(&mut propagation.slacks);
        for slack in slacks.drain(..) {
            let extremes = mem::take(&mut propagation.extremes[slack.index()]);
            for (extreme, due) in [Side::Lower, Side::Upper].into_iter().zip(extremes) {
                if due && out.len() - first < self.config.implied_limit {
                    self.imply(&mut propagation.given, slack, extreme, &wanted, first, out);
                }
            }
        }
        for implied in &out[first..] {
            propagation.given[implied.var.index()] = [0; 2];
        }
        propagation.slacks = slacks;
        self.propagation = propagation;
        self.statistics.implied += (out.len() - first) as u64;
    }

    /// Finds the definitions, not too long, with a variable whose bounds have changed.
    fn collect_lines(&self, propagation: &mut Propagation) {
        let limit = self.config.implied_row_length;
        let mut changed = mem::take(&mut propagation.changed);
        for &var in &changed.list {
            let sides = mem::take(&mut propagation.sides[var.index()]);
            let own = self.is_slack(var).then_some(var);
            for &slack in own.iter().chain(&self.users[var.index()]) {
                let equation = self.definition(slack).expect("a slack has a definition");
                if equation.len() <= limit
                    && let Some((_, coeff)) = equation.iter().find(|(other, _)| *other == var)
                {
                    propagation.add_line(slack, coeff, sides);
                }
            }
        }
        changed.clear();
        propagation.changed = changed;
    }

    /// Appends to `out` the bounds that the sum of least or greatest values in a definition implies. The bounds of this
    /// call start at `first`.
    fn imply(
        &self,
        given: &mut [[u32; 2]],
        slack: Var,
        extreme: Side,
        wanted: &impl Fn(&Simplex, Var, Side) -> bool,
        first: usize,
        out: &mut Vec<ImpliedBound>,
    ) {
        let equation = self.definition(slack).expect("a slack has a definition");
        let own_bound = |var: Var, coeff: &Integer| self.bounds.get(var, side_of_extreme(extreme, coeff));
        let is_wanted =
            |var: Var, coeff: &Integer| wanted(self, var, side_of_extreme(extreme, coeff).opposite());
        let mut unbounded = equation.iter().filter(|(var, coeff)| own_bound(*var, coeff).is_none());
        let candidates = match (unbounded.next(), unbounded.next()) {
            (Some(_), Some(_)) => return,
            (Some(only), None) => std::slice::from_ref(only),
            (None, _) => equation,
        };
        if !candidates.iter().any(|(var, coeff)| is_wanted(*var, coeff))
            || equation.iter().any(|(_, coeff)| coeff.to_i64().is_none())
        {
            return;
        }
        let mut sum = DeltaRational::ZERO;
        for (var, coeff) in equation {
            if let Some(bound) = own_bound(*var, coeff) {
                sum.add_mul(&Rational::from(coeff.clone()), &bound.value);
            }
        }
        let token = Token { slack, time: self.bounds.time() };
        for (var, coeff) in candidates.iter().filter(|(var, coeff)| is_wanted(*var, coeff)) {
            let mut value = -sum.scale(&Rational::new(Integer::ONE, coeff.clone()));
            if let Some(own) = own_bound(*var, coeff) {
                value += &own.value;
            }
            let side = side_of_extreme(extreme, coeff).opposite();
            let rounded = self.is_int(*var) && !value.is_integer();
            if rounded {
                value = round(side, &value);
            }
            if self.bounds.get(*var, side).is_some_and(|bound| side.admits(&value, &bound.value)) {
                continue;
            }
            let place = &mut given[var.index()][side as usize];
            let implied = ImpliedBound { var: *var, side, value, rounded, token };
            match place.checked_sub(1).map(|index| first + index as usize) {
                Some(earlier) if side.admits(&implied.value, &out[earlier].value) => {}
                Some(earlier) => out[earlier] = implied,
                None => {
                    out.push(implied);
                    *place = (out.len() - first) as u32;
                }
            }
        }
    }

    /// Appends the bounds that implied a bound, with the coefficients of a sum that gives it: an upper bound `x <= c`,
    /// say, is `0 <= c - x`, and this is the sum. If the bound was [rounded](ImpliedBound::rounded), the sum gives a
    /// weaker one that rounds to it.
    pub fn explain(&self, var: Var, side: Side, token: Token, out: &mut Vec<Weighted>) {
        let equation = self.definition(token.slack).expect("tokens do not outlive their rows");
        let own = equation.iter().find(|(other, _)| *other == var);
        let own = &own.expect("the bound was implied by this equation").1;
        let extreme = side_of_extreme(side.opposite(), own);
        for (other, coeff) in equation.iter().filter(|(other, _)| *other != var) {
            let bound = self.bounds.get_at(*other, side_of_extreme(extreme, coeff), token.time);
            let coefficient = Rational::new(coeff.abs(), own.abs());
            out.push(Weighted::of(bound.expect("the bound was implied by all others"), coefficient));
        }
    }
}

/// The side of the bound of a variable that makes its monomial with this coefficient least (if `extreme` is the lower
/// side) or greatest. For a fixed coefficient this is its own inverse.
#[inline]
fn side_of_extreme(extreme: Side, coeff: &Integer) -> Side {
    if coeff.is_negative() { extreme.opposite() } else { extreme }
}
