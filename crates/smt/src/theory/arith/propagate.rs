//! Implied bounds.
//!
//! In an equation `Σ a_j·x_j = 0` each monomial is minus the sum of the others. If all of them but `a_k·x_k`
//! have a least value `m_j` by the bounds in force, then `a_k·x_k <= -Σ m_j`, which is a bound of `x_k`, an
//! upper or a lower one as `a_k` has it; and likewise with greatest values. A pass finds the monomials
//! without such a value: if there is one, it is the only candidate, and if there are two, there is none.
//!
//! Equations are the rows of the tableau and the definitions of slack variables, dormant or not. Only those
//! are looked at where a bound changed since the last time, and only bounds of *watched* variables are
//! given, those for which the caller has a use. Long equations and those with big coefficients are left out
//! (both as in Z3).
//!
//! An implied bound is not asserted here: if the caller has an atom for it, the atom comes back as a bound
//! with its own reason. So implied bounds follow from asserted ones alone, in one step.
//!
//! # Explanations
//!
//! Most implied bounds are never asked about, so that their explanations are only prepared for. A [`Token`]
//! names the equation and the [`Time`]; the bounds that were in force then are still on the stack as long as
//! the level was not left. A definition does not change. A row of the tableau does, hence it is copied when
//! the first bound is taken from it, once for all its bounds of a call.

use std::mem;

use shofar_logic::number::{Integer, Rational};

use super::bounds::{Time, round};
use super::tableau::RowId;
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
    /// Whether `value` is what the explanation gives, rounded to an integer.
    pub rounded: bool,
    /// What [`Simplex::explain`] needs.
    pub token: Token,
}

/// How a bound was implied. It is valid until the level is left on which it was given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token {
    source: Source,
    time: Time,
}

/// An equation that does not change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Source {
    /// The definition of a slack variable.
    Definition(Var),
    /// An index into [`Propagation::snapshots`].
    Snapshot(u32),
}

/// An equation to be searched.
#[derive(Clone, Copy)]
enum Line {
    Definition(Var),
    Row(RowId),
}

/// What is kept for implied bounds.
#[derive(Default)]
pub(super) struct Propagation {
    watched: Vec<bool>,
    /// Variables that may have got a bound since the last call.
    changed: VarQueue,
    /// Copies of rows: where each begins in `monomials`, and when it was made.
    snapshots: Vec<(usize, Time)>,
    monomials: Vec<(Var, Integer)>,

    // Used within a call.
    lines: Vec<Line>,
    has_row: Vec<bool>,
    has_definition: Vec<bool>,
    /// For each variable and side 1 and the index of the bound that is given.
    given: Vec<[u32; 2]>,
}

impl Propagation {
    pub(super) fn add_var(&mut self) {
        self.watched.push(false);
        self.changed.add_var();
        self.has_definition.push(false);
        self.given.push([0; 2]);
    }

    #[inline]
    pub(super) fn bound_changed(&mut self, var: Var) {
        self.changed.insert(var);
    }

    pub(super) fn forget(&mut self, removed: Var) {
        self.watched[removed.index()] = false;
        self.changed.retain(|var| var != removed);
    }

    /// Drops the snapshots that are younger than the height of the stack of bounds.
    pub(super) fn truncate(&mut self, time: Time) {
        while let Some(&(start, made)) = self.snapshots.last()
            && made > time
        {
            self.snapshots.pop();
            self.monomials.truncate(start);
        }
    }
}

impl Simplex {
    /// Sets whether implied bounds of the variable are wanted; at first they are not.
    pub fn watch(&mut self, var: Var, wanted: bool) {
        self.propagation.watched[var.index()] = wanted;
    }

    /// Appends bounds of watched variables that follow from one equation and the bounds in force, and that
    /// are stronger than those; of a variable and side one at most. Only what was asserted since the last
    /// call is considered. To be called after a feasible check; sound, but not useful, otherwise.
    pub fn propagate(&mut self, out: &mut Vec<ImpliedBound>) {
        let first = out.len();
        let mut propagation = mem::take(&mut self.propagation);
        let mut lines = self.changed_lines(&mut propagation);
        let mut equation = Vec::new();
        for &line in &lines {
            if out.len() - first >= self.config.implied_limit {
                break;
            }
            equation.clear();
            match line {
                Line::Definition(slack) => {
                    equation.extend_from_slice(self.definition(slack).expect("a slack"))
                }
                Line::Row(row) => {
                    let entries = self.tableau.row(row).entries.iter();
                    equation.extend(entries.map(|entry| (entry.var, entry.coeff.clone())));
                }
            }
            self.imply(&mut propagation, line, &equation, first, out);
        }
        for line in lines.drain(..) {
            match line {
                Line::Definition(slack) => propagation.has_definition[slack.index()] = false,
                Line::Row(row) => propagation.has_row[row.index()] = false,
            }
        }
        for implied in &out[first..] {
            propagation.given[implied.var.index()] = [0; 2];
        }
        propagation.lines = lines;
        self.propagation = propagation;
        self.statistics.implied += (out.len() - first) as u64;
    }

    /// The equations with a variable whose bounds have changed that are not too long.
    fn changed_lines(&self, propagation: &mut Propagation) -> Vec<Line> {
        let Propagation { changed, lines, has_row, has_definition, .. } = propagation;
        has_row.resize(self.tableau.row_limit(), false);
        let limit = self.config.implied_row_length;
        let mut lines = mem::take(lines);
        for &var in &changed.list {
            let own = self.is_slack(var).then_some(var);
            for &slack in own.iter().chain(&self.users[var.index()]) {
                let is_short = self.definition(slack).is_some_and(|equation| equation.len() <= limit);
                if is_short && !mem::replace(&mut has_definition[slack.index()], true) {
                    lines.push(Line::Definition(slack));
                }
            }
            for occurrence in self.tableau.column(var) {
                let row = occurrence.row;
                let is_short = self.tableau.row(row).entries.len() <= limit;
                if is_short && !mem::replace(&mut has_row[row.index()], true) {
                    lines.push(Line::Row(row));
                }
            }
        }
        changed.clear();
        lines
    }

    /// Appends the bounds that one equation gives to `out`, of which this call has the part from `first` on.
    fn imply(
        &self,
        propagation: &mut Propagation,
        line: Line,
        equation: &[(Var, Integer)],
        first: usize,
        out: &mut Vec<ImpliedBound>,
    ) {
        if !equation.iter().any(|(var, _)| propagation.watched[var.index()])
            || equation.iter().any(|(_, coeff)| coeff.to_i64().is_none())
        {
            return;
        }
        let time = self.bounds.time();
        let mut source = None;
        // The sum of least values, then that of greatest ones.
        for extreme in [Side::Lower, Side::Upper] {
            let own_bound = |var: Var, coeff: &Integer| self.bounds.get(var, side_of_extreme(extreme, coeff));
            let mut unbounded = equation.iter().filter(|(var, coeff)| own_bound(*var, coeff).is_none());
            let only = unbounded.next().map(|(var, _)| *var);
            if unbounded.next().is_some() || only.is_some_and(|var| !propagation.watched[var.index()]) {
                continue;
            }
            let mut sum = DeltaRational::ZERO;
            for (var, coeff) in equation {
                if let Some(bound) = own_bound(*var, coeff) {
                    sum.add_mul(&Rational::from(coeff.clone()), &bound.value);
                }
            }
            for (var, coeff) in equation {
                if !propagation.watched[var.index()] || only.is_some_and(|unbounded| unbounded != *var) {
                    continue;
                }
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
                let given = propagation.given[var.index()][side as usize];
                let earlier = given.checked_sub(1).map(|index| first + index as usize);
                if earlier.is_some_and(|index| side.admits(&value, &out[index].value)) {
                    continue;
                }
                let source = *source.get_or_insert_with(|| match line {
                    Line::Definition(slack) => Source::Definition(slack),
                    Line::Row(_) => propagation.snapshot(equation, time),
                });
                let implied = ImpliedBound { var: *var, side, value, rounded, token: Token { source, time } };
                match earlier {
                    Some(index) => out[index] = implied,
                    None => {
                        out.push(implied);
                        propagation.given[var.index()][side as usize] = (out.len() - first) as u32;
                    }
                }
            }
        }
    }

    /// Appends the bounds from which a bound was implied, with the coefficients of a sum that gives it: an
    /// upper bound `x <= c`, say, is `0 <= c - x`, and this is the sum. If the bound was
    /// [rounded](ImpliedBound::rounded), then the sum gives a weaker one that rounds to it.
    pub fn explain(&self, var: Var, side: Side, token: Token, out: &mut Vec<Weighted>) {
        let equation = match token.source {
            Source::Definition(slack) => self.definition(slack).expect("tokens do not outlive their rows"),
            Source::Snapshot(index) => {
                let start = |index: usize| self.propagation.snapshots.get(index).map(|snapshot| snapshot.0);
                let end = start(index as usize + 1).unwrap_or(self.propagation.monomials.len());
                &self.propagation.monomials
                    [start(index as usize).expect("tokens do not outlive their level")..end]
            }
        };
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

impl Propagation {
    fn snapshot(&mut self, equation: &[(Var, Integer)], time: Time) -> Source {
        self.snapshots.push((self.monomials.len(), time));
        self.monomials.extend_from_slice(equation);
        Source::Snapshot(self.snapshots.len() as u32 - 1)
    }
}

/// The side of the bound of a variable that makes its monomial with this coefficient least, if `extreme` is
/// the lower side, or greatest. For a fixed coefficient this is its own inverse.
#[inline]
fn side_of_extreme(extreme: Side, coeff: &Integer) -> Side {
    if coeff.is_negative() { extreme.opposite() } else { extreme }
}
