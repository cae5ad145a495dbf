//! The solver's state, its rows and bounds, and the check loop. `mod.rs` describes the method and the invariants I1 to
//! I5.
//!
//! # Choices
//!
//! The leaving variable has the shortest row, the entering variable the shortest column; ties go to the smaller index.
//! Both choices keep the tableau sparse. On the feasible systems of `benches/simplex.rs` with 100 rows the shortest row
//! needed 353 row additions, the smallest index 856, the greatest violation 646 and the least one 946; with 500 rows it
//! was 6,445, 4,564, more than could be waited for, and 15,005.
//!
//! If the number of violated variables has not reached a new minimum for some time, Bland's rule (the smallest index)
//! makes both choices until the check ends. A new minimum is reached finitely often, so the check terminates.

use std::borrow::Cow;
use std::mem;

use rustc_hash::FxHashMap;
use shofar_logic::number::{Integer, Rational};
use smallvec::SmallVec;

use super::bounds::{Bounds, round};
use super::propagate::Propagation;
use super::tableau::{Occurrence, Place, Row, RowId, Tableau};
use super::{Conflict, DeltaRational, Reason, Side, Var, VarQueue, Weighted};

/// The number of variables that the first one reserves space for, as in `sat/mod.rs`.
const FIRST_ROOM: usize = 16;

/// The parameters of the solver.
#[derive(Clone, Debug)]
pub struct Config {
    /// Bland's rule starts after this many pivots without progress, or as many as there are variables if these are
    /// more. `None`: at once. Default: 50.
    pub bland_after: Option<u32>,
    /// Longer definitions are not searched for implied bounds. Default: 30.
    pub implied_row_length: usize,
    /// The greatest number of implied bounds from one call of [`Simplex::propagate`]. Default: 100.
    pub implied_limit: usize,
}

impl Default for Config {
    fn default() -> Config {
        Config { bland_after: Some(50), implied_row_length: 30, implied_limit: 100 }
    }
}

/// How long a check may run.
#[derive(Clone, Copy, Default)]
pub struct Budget<'a> {
    /// The number of pivots after which the check gives up; `None` for no limit.
    pub pivots: Option<u64>,
    /// Polled before each pivot and whenever a row is built: whether the check must give up.
    pub interrupted: Option<&'a dyn Fn() -> bool>,
}

impl Budget<'_> {
    /// The budget that never runs out.
    pub const UNLIMITED: Budget<'static> = Budget { pivots: None, interrupted: None };

    fn is_exhausted(&self, pivots: u64) -> bool {
        self.pivots.is_some_and(|limit| pivots >= limit) || self.is_interrupted()
    }

    // One pivot of a dense tableau takes far longer than this call.
    fn is_interrupted(&self) -> bool {
        self.interrupted.is_some_and(|interrupted| interrupted())
    }
}

/// The answer of a check.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The assignment satisfies all rows and bounds.
    Feasible,
    /// No assignment does.
    Infeasible(Conflict),
    /// The budget ran out. A later check continues from the basis that was reached.
    Budget,
}

/// Counters since the solver was created.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Statistics {
    /// Checks.
    pub checks: u64,
    /// Checks that found a conflict, not counting those of two bounds on one variable.
    pub conflicts: u64,
    /// Pivots.
    pub pivots: u64,
    /// Pivots that were chosen by Bland's rule.
    pub bland_pivots: u64,
    /// Additions of a row to another one.
    pub row_additions: u64,
    /// Slack variables that got a row because of a bound.
    pub woken: u64,
    /// Implied bounds returned.
    pub implied: u64,
}

impl std::ops::Add for Statistics {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Statistics {
            checks: self.checks + other.checks,
            conflicts: self.conflicts + other.conflicts,
            pivots: self.pivots + other.pivots,
            bland_pivots: self.bland_pivots + other.bland_pivots,
            row_additions: self.row_additions + other.row_additions,
            woken: self.woken + other.woken,
            implied: self.implied + other.implied,
        }
    }
}

/// A linear form or equation: variables with their coefficients.
type Terms = Box<[(Var, Integer)]>;

/// A simplex solver for bounds on variables and on linear forms.
#[derive(Default)]
pub struct Simplex {
    pub(super) config: Config,

    // The problem.
    is_int: Vec<bool>,
    /// For each slack variable its equation, with itself first and the coefficient -1; the others are not slack
    /// variables.
    definitions: Vec<Option<Terms>>,
    /// For each other variable, the slack variables whose definitions contain it.
    pub(super) users: Vec<Vec<Var>>,
    /// The slack variable of a linear form, without common factor and with a positive first coefficient.
    by_form: FxHashMap<Terms, Var>,
    /// Removed slack variables.
    free: Vec<Var>,

    // The state.
    pub(super) tableau: Tableau,
    pub(super) bounds: Bounds,
    values: Vec<DeltaRational>,
    /// Variables that may have got a bound since the last feasible check; see I1 and I3.
    touched: VarQueue,
    pub(super) propagation: Propagation,

    // What a check needs while it runs.
    /// Contains all basic variables that violate a bound.
    suspects: VarQueue,
    /// The values in the last feasible check of the variables changed since.
    log: Vec<(Var, DeltaRational)>,
    is_logged: Vec<bool>,

    pub(super) statistics: Statistics,
}

/// Variables and rows.
impl Simplex {
    /// A solver without variables.
    pub fn new(config: Config) -> Simplex {
        Simplex { config, ..Simplex::default() }
    }

    /// A new variable without bounds.
    pub fn new_var(&mut self, is_int: bool) -> Var {
        self.add_var(is_int, Place::NonBasic)
    }

    fn add_var(&mut self, is_int: bool, place: Place) -> Var {
        if self.is_int.is_empty() {
            self.make_room(FIRST_ROOM);
        }
        let var = Var::new(self.is_int.len());
        self.is_int.push(is_int);
        self.definitions.push(None);
        self.users.push(Vec::new());
        self.tableau.add_var(place);
        self.bounds.add_var();
        self.values.push(DeltaRational::ZERO);
        self.touched.add_var();
        self.suspects.add_var();
        self.is_logged.push(false);
        self.propagation.add_var();
        var
    }

    fn make_room(&mut self, vars: usize) {
        self.is_int.reserve(vars);
        self.definitions.reserve(vars);
        self.users.reserve(vars);
        self.tableau.reserve(vars);
        self.bounds.reserve(vars);
        self.values.reserve(vars);
        self.touched.reserve(vars);
        self.suspects.reserve(vars);
        self.is_logged.reserve(vars);
        self.propagation.reserve(vars);
    }

    /// A variable and a factor whose product is the sum of the given terms: the only variable of the sum, or else a
    /// slack variable, shared by all multiples of the sum. `None` if the sum is always 0. The factor is 1 if the
    /// coefficients are coprime integers and that of the variable with the least index is positive.
    ///
    /// This is possible at any level and changes neither bounds nor assignment; rows do not depend on levels. A slack
    /// variable is an integer if all its variables are.
    pub fn new_row(&mut self, terms: &[(Var, Rational)]) -> Option<(Var, Rational)> {
        // A multiple of a variable is the most frequent sum.
        if let [(var, factor)] = terms
            && self.definition(*var).is_none()
            && !factor.is_zero()
        {
            return Some((*var, factor.clone()));
        }
        let (form, factor) = self.normal_form(terms)?;
        if let [(var, _)] = form[..] {
            return Some((var, factor));
        }
        if let Some(var) = self.by_form.get(&*form) {
            return Some((*var, factor));
        }
        let is_int = form.iter().all(|(var, _)| self.is_int(*var));
        let slack = match self.free.pop() {
            Some(var) => {
                self.is_int[var.index()] = is_int;
                var
            }
            None => self.add_var(is_int, Place::Dormant),
        };
        for (var, _) in &form {
            self.users[var.index()].push(slack);
        }
        let head = (slack, Integer::from(-1));
        self.definitions[slack.index()] = Some([head].into_iter().chain(form.iter().cloned()).collect());
        self.by_form.insert(form.into(), slack);
        Some((slack, factor))
    }

    /// The sum as a multiple of a form with coprime integer coefficients, the first of which is positive, over
    /// variables that are not slack variables, in the order of their indices.
    fn normal_form(&self, terms: &[(Var, Rational)]) -> Option<(Vec<(Var, Integer)>, Rational)> {
        let mut sum: SmallVec<[(Var, Rational); 4]> = SmallVec::with_capacity(terms.len());
        for (var, coeff) in terms {
            match self.definition(*var) {
                None => sum.push((*var, coeff.clone())),
                Some([_, form @ ..]) => {
                    sum.extend(form.iter().map(|(var, inner)| (*var, coeff * Rational::from(inner.clone()))));
                }
                Some([]) => unreachable!("an equation begins with its slack variable"),
            }
        }
        sum.sort_unstable_by_key(|(var, _)| *var);
        sum.dedup_by(|term, kept| {
            let same = term.0 == kept.0;
            if same {
                kept.1 += &term.1;
            }
            same
        });
        sum.retain(|(_, coeff)| !coeff.is_zero());
        let common = sum.iter().fold(Rational::ZERO, |common, (_, coeff)| common.gcd(coeff));
        let factor = if sum.first()?.1.is_negative() { -common } else { common };
        let divided = |(var, coeff): &(Var, Rational)| (*var, (coeff / &factor).numer());
        Some((sum.iter().map(divided).collect(), factor))
    }

    /// Removes a slack variable, which must have no bounds and must not be used any more. A new variable may reuse its
    /// number.
    ///
    /// # Panics
    ///
    /// If the variable has a bound or is not a slack variable.
    pub fn remove_row(&mut self, slack: Var) {
        assert!(!self.bounds.is_bounded(slack), "a removed variable has no bounds");
        let definition = self.definitions[slack.index()].take().expect("a slack variable is removed");
        if self.tableau.place(slack) == Place::NonBasic {
            let shortest = |slot: &&Occurrence| self.tableau.row(slot.row).entries.len();
            let slot = *self.tableau.column(slack).iter().min_by_key(shortest).expect("by I5");
            let leaving = self.tableau.row(slot.row).basic().var;
            // A non-basic variable has a value of its own. By I3 it violates bounds only if it is touched.
            self.values[leaving.index()] = self.value(leaving).into_owned();
            self.tableau.pivot(slot.row, slot.slot, |_| false);
        }
        if let Place::Basic(row) = self.tableau.place(slack) {
            self.tableau.delete_row(row);
        }
        for (var, _) in &definition[1..] {
            self.users[var.index()].retain(|user| *user != slack);
        }
        self.by_form.remove(&definition[1..]);
        self.touched.retain(|var| var != slack);
        self.propagation.forget(slack);
        self.free.push(slack);
    }

    /// Removes all slack variables without bounds for which `keep` returns `false`.
    pub fn retain_rows(&mut self, mut keep: impl FnMut(Var) -> bool) {
        for var in (0..self.is_int.len()).map(Var::new) {
            if self.is_slack(var) && !self.bounds.is_bounded(var) && !keep(var) {
                self.remove_row(var);
            }
        }
    }

    /// The form that defines a slack variable; any other variable is its own form.
    pub(crate) fn form_of(&self, var: Var) -> Vec<(Var, Integer)> {
        self.definition(var).map_or_else(|| vec![(var, Integer::ONE)], |definition| definition[1..].to_vec())
    }

    /// Whether the variable is an integer.
    #[inline]
    pub fn is_int(&self, var: Var) -> bool {
        self.is_int[var.index()]
    }

    /// Whether the variable was made by [`Simplex::new_row`].
    #[inline]
    pub fn is_slack(&self, var: Var) -> bool {
        self.definitions[var.index()].is_some()
    }

    /// All variables, including those that were removed.
    pub(super) fn vars(&self) -> impl Iterator<Item = Var> + use<> {
        (0..self.is_int.len()).map(Var::new)
    }

    /// The number of variables, including those that were removed.
    pub(crate) fn var_count(&self) -> usize {
        self.is_int.len()
    }

    /// Counters since the solver was created.
    pub fn statistics(&self) -> Statistics {
        Statistics { row_additions: self.tableau.additions(), ..self.statistics }
    }

    /// The equation of a slack variable.
    #[inline]
    pub(super) fn definition(&self, var: Var) -> Option<&[(Var, Integer)]> {
        self.definitions[var.index()].as_deref()
    }
}

/// Bounds and levels.
impl Simplex {
    /// Asserts `var >= value`.
    ///
    /// # Errors
    ///
    /// See [`Simplex::assert_bound`].
    pub fn assert_lower(&mut self, var: Var, value: DeltaRational, reason: Reason) -> Result<(), Conflict> {
        self.assert_bound(var, Side::Lower, &value, reason)
    }

    /// Asserts `var <= value`.
    ///
    /// # Errors
    ///
    /// See [`Simplex::assert_bound`].
    pub fn assert_upper(&mut self, var: Var, value: DeltaRational, reason: Reason) -> Result<(), Conflict> {
        self.assert_bound(var, Side::Upper, &value, reason)
    }

    /// Asserts a bound until the current level is left, in constant time; [`Simplex::check`] does the rest. The bound
    /// of an integer variable is rounded, and certificates mark rounded bounds ([`Weighted::rounded`]).
    ///
    /// # Errors
    ///
    /// If the bound contradicts the opposite one of the same variable. Then nothing changes.
    pub fn assert_bound(
        &mut self,
        var: Var,
        side: Side,
        value: &DeltaRational,
        reason: Reason,
    ) -> Result<(), Conflict> {
        let integer;
        let rounded = self.is_int(var) && !value.is_integer();
        let value = if rounded {
            integer = round(side, value);
            &integer
        } else {
            value
        };
        if self.bounds.get(var, side).is_some_and(|bound| side.admits(value, &bound.value)) {
            return Ok(());
        }
        if let Some(opposite) = self.bounds.get(var, side.opposite())
            && !side.admits(value, &opposite.value)
        {
            let new = Weighted { reason, coefficient: Rational::ONE, rounded };
            return Err(Conflict { terms: vec![new, Weighted::of(opposite, Rational::ONE)] });
        }
        self.bounds.set(var, side, value.clone(), reason, rounded);
        self.touched.insert(var);
        self.propagation.bound_changed(var, side);
        Ok(())
    }

    /// The bound in force and its reason.
    pub fn bound(&self, var: Var, side: Side) -> Option<(&DeltaRational, Reason)> {
        self.bounds.get(var, side).map(|bound| (&bound.value, bound.reason))
    }

    /// The number of levels.
    pub fn level(&self) -> usize {
        self.bounds.level()
    }

    /// Enters a level.
    pub fn push(&mut self) {
        self.bounds.push();
    }

    /// Leaves `count` levels and removes their bounds. Variables, rows and assignment stay; by I4 the assignment
    /// satisfies the remaining bounds if it was feasible when they were asserted.
    ///
    /// # Panics
    ///
    /// If there are fewer levels.
    pub fn pop(&mut self, count: usize) {
        let tableau = &mut self.tableau;
        self.bounds.pop(count, |var| {
            if let Place::Basic(row) = tableau.place(var) {
                tableau.set_tracked(row, false);
            }
        });
    }
}

/// The check.
impl Simplex {
    /// Decides whether the rows and the bounds in force can be satisfied.
    pub fn check(&mut self, budget: &Budget<'_>) -> Outcome {
        self.statistics.checks += 1;
        let outcome = if self.settle(budget) { self.search(budget) } else { Outcome::Budget };
        match &outcome {
            Outcome::Feasible => self.accept(),
            Outcome::Infeasible(conflict) => {
                debug_assert_eq!(self.refutes(conflict), Ok(()));
                self.statistics.conflicts += 1;
                self.restore();
            }
            Outcome::Budget => self.restore(),
        }
        outcome
    }

    fn search(&mut self, budget: &Budget<'_>) -> Outcome {
        let mut pivots = 0;
        let mut pace = Pace::new(&self.config, self.is_int.len());
        loop {
            let Some((row, side)) = self.leaving(&mut pace) else { return Outcome::Feasible };
            let Some(slot) = self.entering(row, side, &pace) else {
                return Outcome::Infeasible(self.row_conflict(row, side));
            };
            if budget.is_exhausted(pivots) {
                return Outcome::Budget;
            }
            self.move_to_bound(row, side, slot);
            pivots += 1;
            self.statistics.pivots += 1;
            self.statistics.bland_pivots += u64::from(pace.bland);
        }
    }

    /// Gives a tracked row to each touched basic variable, then puts the touched non-basic variables within their
    /// bounds. Untouches all variables that satisfy their bounds. Returns `false` if interrupted.
    fn settle(&mut self, budget: &Budget<'_>) -> bool {
        let mut touched = mem::take(&mut self.touched);
        // By I4 no value has changed since the last feasible check. A failing check restores this assignment, so it
        // violates the same bounds afterwards. All other touched variables are settled.
        let mut is_interrupted = false;
        touched.retain(|var| {
            let makes_row = self.tableau.place(var) == Place::Dormant;
            is_interrupted = is_interrupted || makes_row && budget.is_interrupted();
            is_interrupted || self.bounds.is_bounded(var) && self.wake(var).is_some()
        });
        if is_interrupted {
            self.touched = touched;
            return false;
        }
        for &var in &touched.list {
            let value = &self.values[var.index()];
            let Some(side) = self.bounds.violated(var, value) else { continue };
            if self.tableau.place(var) == Place::NonBasic {
                let bound = self.bounds.get(var, side).expect("it is violated");
                let mut step = bound.value.clone();
                step -= value;
                let value = bound.value.clone();
                self.shift_basic(var, &step, None);
                self.set_value(var, value);
            } else {
                self.suspects.insert(var);
            }
        }
        self.touched = touched;
        true
    }

    /// Gives a tracked row to a variable, unless it is non-basic. Returns the side of the bound that it violates.
    fn wake(&mut self, var: Var) -> Option<Side> {
        let row = match self.tableau.place(var) {
            Place::NonBasic => None,
            Place::Basic(row) => Some(row),
            Place::Dormant => {
                self.statistics.woken += 1;
                let definition = self.definitions[var.index()].as_deref().expect("by I5");
                Some(self.tableau.insert_row(definition))
            }
        };
        if let Some(row) = row
            && !self.tableau.row(row).tracked
        {
            self.values[var.index()] = self.row_value(row);
            self.tableau.set_tracked(row, true);
        }
        self.bounds.violated(var, &self.values[var.index()])
    }

    /// The value that a row gives to its basic variable.
    fn row_value(&self, row: RowId) -> DeltaRational {
        let entries = &self.tableau.row(row).entries;
        let mut sum = DeltaRational::ZERO;
        for entry in &entries[1..] {
            sum.sub_mul(&Rational::from(entry.coeff.clone()), &self.values[entry.var.index()]);
        }
        if entries[0].coeff.is_one() {
            return sum;
        }
        sum.scale(&Rational::new(Integer::ONE, entries[0].coeff.clone()))
    }

    /// A row whose basic variable violates its bound of the given side.
    fn leaving(&mut self, pace: &mut Pace) -> Option<(RowId, Side)> {
        let mut best: Option<(usize, Var, RowId, Side)> = None;
        self.suspects.retain(|var| {
            let Place::Basic(row) = self.tableau.place(var) else { return false };
            let Some(side) = self.bounds.violated(var, &self.values[var.index()]) else { return false };
            let length = if pace.bland { 0 } else { self.tableau.row(row).entries.len() };
            if best.is_none_or(|(least, other, ..)| (length, var) < (least, other)) {
                best = Some((length, var, row, side));
            }
            true
        });
        pace.observe(self.suspects.list.len());
        best.map(|(_, _, row, side)| (row, side))
    }

    /// The slot in the row of a variable that can move such that the basic variable approaches its violated bound of
    /// the given side.
    fn entering(&self, row: RowId, side: Side, pace: &Pace) -> Option<u32> {
        let mut best: Option<(usize, Var, u32)> = None;
        for (slot, entry) in self.tableau.row(row).entries.iter().enumerate().skip(1) {
            let length = if pace.bland { 0 } else { self.tableau.column(entry.var).len() };
            if best.is_none_or(|(least, other, _)| (length, entry.var) < (least, other))
                && self.has_room(entry.var, blocking_side(side, &entry.coeff))
            {
                best = Some((length, entry.var, slot as u32));
            }
        }
        best.map(|(_, _, slot)| slot)
    }

    #[inline]
    fn has_room(&self, var: Var, side: Side) -> bool {
        self.bounds.get(var, side).is_none_or(|bound| bound.value != self.values[var.index()])
    }

    /// Moves the variable at `slot` so that the basic variable of the row reaches its bound of the given side, and
    /// exchanges the two.
    fn move_to_bound(&mut self, row: RowId, side: Side, slot: u32) {
        let entries = &self.tableau.row(row).entries;
        let (basic, moved) = (&entries[0], &entries[slot as usize]);
        let (leaving, entering) = (basic.var, moved.var);
        let target = self.bounds.get(leaving, side).expect("it is violated").value.clone();
        let mut step = self.values[leaving.index()].clone();
        step -= &target;
        let step = step.scale(&Rational::new(basic.coeff.clone(), moved.coeff.clone()));

        let mut value = self.values[entering.index()].clone();
        value += &step;
        self.shift_basic(entering, &step, Some(row));
        self.set_value(entering, value);
        self.set_value(leaving, target);

        let (bounds, definitions) = (&self.bounds, &self.definitions);
        self.tableau.pivot(row, slot, |var| !bounds.is_bounded(var) && definitions[var.index()].is_some());
        let is_bounded = self.bounds.is_bounded(entering);
        self.tableau.set_tracked(row, is_bounded);
        if is_bounded {
            self.suspects.insert(entering);
        }
    }

    /// Maintains I2 in all rows except one when a non-basic variable is about to move by `step`.
    fn shift_basic(&mut self, var: Var, step: &DeltaRational, except: Option<RowId>) {
        for index in 0..self.tableau.column(var).len() {
            let occurrence = self.tableau.column(var)[index];
            let row = self.tableau.row(occurrence.row);
            if !row.tracked || Some(occurrence.row) == except {
                continue;
            }
            let (basic, entry) = (row.basic(), &row.entries[occurrence.slot as usize]);
            let factor = if basic.coeff.is_one() {
                Rational::from(entry.coeff.clone())
            } else {
                Rational::new(entry.coeff.clone(), basic.coeff.clone())
            };
            let basic = basic.var;
            let mut value = self.values[basic.index()].clone();
            value.sub_mul(&factor, step);
            self.set_value(basic, value);
            self.suspects.insert(basic);
        }
    }

    #[inline]
    fn set_value(&mut self, var: Var, value: DeltaRational) {
        let old = mem::replace(&mut self.values[var.index()], value);
        if !mem::replace(&mut self.is_logged[var.index()], true) {
            self.log.push((var, old));
        }
    }

    /// Makes the assignment that of the last feasible check.
    fn accept(&mut self) {
        for (var, _) in self.log.drain(..) {
            self.is_logged[var.index()] = false;
        }
        self.touched.clear();
    }

    /// Restores the assignment of the last feasible check; the basis stays.
    fn restore(&mut self) {
        for (var, value) in self.log.drain(..) {
            self.values[var.index()] = value;
            self.is_logged[var.index()] = false;
        }
        self.suspects.clear();
    }
}

/// The side on which a variable with the given coefficient must have room for the basic variable of the row to approach
/// its bound of the given side. By T1 the coefficient of the basic variable is positive, so if the basic variable must
/// grow, a variable with a negative coefficient must grow.
#[inline]
pub(super) fn blocking_side(side: Side, coeff: &Integer) -> Side {
    if coeff.is_negative() { side.opposite() } else { side }
}

/// Decides when Bland's rule starts.
struct Pace {
    bland: bool,
    /// Remaining pivots without progress.
    patience: u32,
    reset: u32,
    /// The least number of violated variables so far.
    least: usize,
}

impl Pace {
    fn new(config: &Config, vars: usize) -> Pace {
        let reset =
            config.bland_after.map_or(0, |pivots| pivots.max(u32::try_from(vars).unwrap_or(u32::MAX)));
        Pace { bland: config.bland_after.is_none(), patience: reset, reset, least: usize::MAX }
    }

    /// Records the number of variables that violate a bound.
    fn observe(&mut self, violated: usize) {
        if violated < self.least {
            (self.least, self.patience) = (violated, self.reset);
        } else if self.patience == 0 {
            self.bland = true;
        } else {
            self.patience -= 1;
        }
    }
}

/// Values.
impl Simplex {
    /// The value of the variable under the assignment of the last feasible check.
    #[inline]
    pub fn value(&self, var: Var) -> Cow<'_, DeltaRational> {
        match self.tableau.place(var) {
            Place::NonBasic => Cow::Borrowed(&self.values[var.index()]),
            Place::Basic(row) if self.tableau.row(row).tracked => Cow::Borrowed(&self.values[var.index()]),
            Place::Basic(row) => Cow::Owned(self.row_value(row)),
            Place::Dormant => Cow::Owned(self.defined_value(var)),
        }
    }

    /// The value of a slack variable by its definition.
    fn defined_value(&self, slack: Var) -> DeltaRational {
        let mut sum = DeltaRational::ZERO;
        let form = self.definition(slack).map_or(&[][..], |definition| &definition[1..]);
        for (var, coeff) in form {
            sum.add_mul(&Rational::from(coeff.clone()), &self.value(*var));
        }
        sum
    }

    /// Moves a non-basic variable of a feasible assignment, and the basic ones along with it. The caller guarantees
    /// that this violates no bounds, and ends a series of moves with [`Simplex::end_moves`].
    pub(super) fn move_non_basic(&mut self, var: Var, step: &DeltaRational) {
        let mut value = self.values[var.index()].clone();
        value += step;
        self.shift_basic(var, step, None);
        self.set_value(var, value);
        self.suspects.clear();
    }

    /// Keeps or undoes the moves.
    pub(super) fn end_moves(&mut self, keep: bool) {
        if keep { self.accept() } else { self.restore() }
    }

    /// Changes the values of integer variables that are not slack variables, and those of slack variables accordingly.
    /// The caller guarantees that the new values satisfy all bounds.
    pub(super) fn reassign(&mut self, change: impl Fn(&DeltaRational) -> DeltaRational) {
        let changed = self.vars().filter(|&var| !self.is_slack(var)).map(|var| {
            let value = self.value(var).into_owned();
            (var, if self.is_int(var) { change(&value) } else { value })
        });
        for (var, value) in changed.collect::<Vec<_>>() {
            self.values[var.index()] = value;
        }
        for slack in self.vars() {
            let Some([_, form @ ..]) = self.definition(slack) else { continue };
            if self.tableau.place(slack) != Place::Dormant {
                let mut sum = DeltaRational::ZERO;
                for (var, coeff) in form {
                    sum.add_mul(&Rational::from(coeff.clone()), &self.values[var.index()]);
                }
                self.values[slack.index()] = sum;
            }
        }
    }

    /// Panics if an invariant is violated. Takes time at least proportional to the tableau.
    pub fn check_invariants(&self) {
        self.bounds.check_invariants(|var| self.is_int(var));
        self.tableau.check_invariants();
        for var in (0..self.is_int.len()).map(Var::new) {
            let is_within = || self.bounds.violated(var, &self.values[var.index()]).is_none();
            match self.tableau.place(var) {
                Place::NonBasic => assert!(self.touched.contains(var) || is_within(), "I1"),
                Place::Basic(row) => {
                    let tracked = self.tableau.row(row).tracked;
                    let must_hold = self.bounds.is_bounded(var) && !self.touched.contains(var);
                    assert!(!must_hold || tracked && is_within(), "I3");
                }
                Place::Dormant => {
                    assert!(!self.bounds.is_bounded(var) || self.touched.contains(var), "I3");
                    assert!(self.is_slack(var) || self.free.contains(&var), "I5");
                }
            }
        }
        for row in self.tableau.rows() {
            let Row { entries, tracked } = self.tableau.row(row);
            if *tracked {
                assert_eq!(self.values[entries[0].var.index()], self.row_value(row), "I2");
            }
            let mut sum = FxHashMap::<Var, Integer>::default();
            for entry in entries {
                let own = [(entry.var, Integer::ONE)];
                for (var, coeff) in self.definition(entry.var).map_or(&own[..], |definition| &definition[1..])
                {
                    *sum.entry(*var).or_default() += &entry.coeff * coeff;
                }
            }
            assert!(sum.values().all(Integer::is_zero), "I5");
        }
        assert!(self.log.is_empty() && self.suspects.list.is_empty(), "I4");
    }
}
