//! The tableau: linear equations with integer coefficients, in solved form.
//!
//! A row is an equation `a_0·b + a_1·x_1 + ... + a_n·x_n = 0` that determines its basic variable `b` by non-basic ones.
//! Coefficients are coprime integers, as in Z3's older kernel, not fractions: with the small numbers of ordinary
//! problems an elimination then costs multiplications and additions of machine words, and one or two steps show that
//! the greatest common divisor of a row is 1.
//!
//! Rows and columns are sparse. A row entry stores its slot in the column, and vice versa, so an entry is removed in
//! constant time: the last one takes its slot, in the row and in the column. (Z3 leaves holes and a list of them;
//! without holes a pass over a row visits only entries.)
//!
//! A variable with a definition needs no row until it gets a bound. Until then it is *dormant*: neither basic nor
//! non-basic, and absent from the tableau. [`Tableau::insert_row`] wakes it up.
//!
//! # Invariants
//!
//! * T1: the first entry of a row is that of its basic variable, and has a positive coefficient.
//! * T2: a basic variable occurs in its own row only, a dormant one nowhere.
//! * T3: the entries of a row have different variables and coefficients other than 0, whose greatest common
//!   divisor is 1.
//! * T4: an entry and its occurrence point to each other.

use std::mem;

use shofar_logic::number::Integer;

use super::Var;

/// A row of the tableau.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct RowId(u32);

impl RowId {
    #[inline]
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The role of a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    NonBasic,
    Basic(RowId),
    Dormant,
}

/// A monomial of a row.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) coeff: Integer,
    pub(super) var: Var,
    /// The slot of this entry in the column of `var`.
    column_slot: u32,
}

/// An entry of a column.
#[derive(Clone, Copy, Debug)]
pub(super) struct Occurrence {
    pub(super) row: RowId,
    pub(super) slot: u32,
}

/// An equation; empty if the row was deleted.
#[derive(Default)]
pub(super) struct Row {
    pub(super) entries: Vec<Entry>,
    /// Whether the value of the basic variable is kept up to date. The tableau only stores this.
    pub(super) tracked: bool,
}

impl Row {
    /// The entry of the basic variable.
    #[inline]
    pub(super) fn basic(&self) -> &Entry {
        &self.entries[0]
    }
}

#[derive(Default)]
pub(super) struct Tableau {
    rows: Vec<Row>,
    /// Deleted rows, whose ids are reused.
    free_rows: Vec<RowId>,
    columns: Vec<Vec<Occurrence>>,
    places: Vec<Place>,

    /// A copy of the row that is added to others.
    source: Vec<(Var, Integer)>,
    /// For each variable, its position in `source` plus 1, or 0 if it does not occur.
    source_slot: Vec<u32>,
    /// For each position in `source`, the number of the last addition that found it in its target.
    found: Vec<u64>,
    additions: u64,
}

impl Tableau {
    /// Makes room for more variables.
    pub(super) fn reserve(&mut self, vars: usize) {
        self.columns.reserve(vars);
        self.source_slot.reserve(vars);
        self.places.reserve(vars);
    }

    pub(super) fn add_var(&mut self, place: Place) {
        self.columns.push(Vec::new());
        self.source_slot.push(0);
        self.places.push(place);
    }

    #[inline]
    pub(super) fn place(&self, var: Var) -> Place {
        self.places[var.index()]
    }

    #[inline]
    pub(super) fn row(&self, row: RowId) -> &Row {
        &self.rows[row.index()]
    }

    #[inline]
    pub(super) fn column(&self, var: Var) -> &[Occurrence] {
        &self.columns[var.index()]
    }

    /// All rows that are not deleted.
    pub(super) fn rows(&self) -> impl Iterator<Item = RowId> {
        (0..self.rows.len() as u32).map(RowId).filter(|row| !self.row(*row).entries.is_empty())
    }

    pub(super) fn set_tracked(&mut self, row: RowId, tracked: bool) {
        self.rows[row.index()].tracked = tracked;
    }

    /// The number of row additions so far, the cost of pivoting.
    pub(super) fn additions(&self) -> u64 {
        self.additions
    }

    /// Makes the dormant first variable of an equation basic, in a new untracked row for this equation. The
    /// other variables must not be dormant, and the first has the coefficient -1.
    pub(super) fn insert_row(&mut self, equation: &[(Var, Integer)]) -> RowId {
        let row = self.free_rows.pop().unwrap_or_else(|| {
            self.rows.push(Row::default());
            RowId(self.rows.len() as u32 - 1)
        });
        let mut entries = mem::take(&mut self.rows[row.index()].entries);
        for (var, coeff) in equation {
            let column = &mut self.columns[var.index()];
            let (slot, column_slot) = (entries.len() as u32, column.len() as u32);
            column.push(Occurrence { row, slot });
            entries.push(Entry { coeff: -coeff, var: *var, column_slot });
        }
        self.rows[row.index()] = Row { entries, tracked: false };
        self.places[equation[0].0.index()] = Place::Basic(row);
        for (var, _) in &equation[1..] {
            if let Place::Basic(definition) = self.place(*var) {
                self.load_source(definition);
                // By T2 there are two occurrences, one of them in the row of `var` itself.
                let is_target = |occurrence: &&Occurrence| occurrence.row == row;
                let target = *self.column(*var).iter().find(is_target).expect("it was inserted above");
                self.eliminate(*var, target);
                self.unload_source();
            }
        }
        row
    }

    /// Deletes a row, whose basic variable becomes dormant.
    pub(super) fn delete_row(&mut self, row: RowId) {
        let mut entries = mem::take(&mut self.rows[row.index()].entries);
        self.places[entries[0].var.index()] = Place::Dormant;
        for entry in entries.drain(..) {
            self.remove_occurrence(&entry);
        }
        // Keep the memory of the entries for the next row with this id.
        self.rows[row.index()] = Row { entries, tracked: false };
        self.free_rows.push(row);
    }

    /// Exchanges the basic variable of a row with the non-basic one at `slot`. Other rows that contain the latter are
    /// changed accordingly, or deleted if their basic variable is `dispensable`.
    pub(super) fn pivot(&mut self, row: RowId, slot: u32, mut dispensable: impl FnMut(Var) -> bool) {
        let entries = &mut self.rows[row.index()].entries;
        if entries[slot as usize].coeff.is_negative() {
            for entry in entries.iter_mut() {
                let coeff = mem::take(&mut entry.coeff);
                entry.coeff = -coeff;
            }
        }
        entries.swap(0, slot as usize);
        let (entering, leaving) = (&entries[0], &entries[slot as usize]);
        self.columns[entering.var.index()][entering.column_slot as usize].slot = 0;
        self.columns[leaving.var.index()][leaving.column_slot as usize].slot = slot;
        self.places[leaving.var.index()] = Place::NonBasic;
        let entering = entering.var;
        self.places[entering.index()] = Place::Basic(row);

        // The row's own occurrence goes first; each step of the loop then pops the last one.
        self.move_to_front(entering, row);
        self.load_source(row);
        while self.columns[entering.index()].len() > 1 {
            let target = *self.columns[entering.index()].last().expect("it has two elements or more");
            if dispensable(self.row(target.row).basic().var) {
                self.delete_row(target.row);
            } else {
                self.eliminate(entering, target);
            }
        }
        self.unload_source();
    }

    fn move_to_front(&mut self, var: Var, row: RowId) {
        let column = &mut self.columns[var.index()];
        let index = column.iter().position(|occurrence| occurrence.row == row).expect("by T4");
        column.swap(0, index);
        let (own, other) = (column[0], column[index]);
        self.rows[own.row.index()].entries[own.slot as usize].column_slot = 0;
        self.rows[other.row.index()].entries[other.slot as usize].column_slot = index as u32;
    }

    fn load_source(&mut self, row: RowId) {
        debug_assert!(self.source.is_empty());
        for entry in &self.rows[row.index()].entries {
            self.source.push((entry.var, entry.coeff.clone()));
            self.source_slot[entry.var.index()] = self.source.len() as u32;
        }
        self.found.resize(self.source.len().max(self.found.len()), 0);
    }

    fn unload_source(&mut self) {
        for (var, _) in self.source.drain(..) {
            self.source_slot[var.index()] = 0;
        }
    }

    /// Adds a multiple of the source row to a positive multiple of the row of `target` such that `var`, the basic
    /// variable of the source row, vanishes there.
    fn eliminate(&mut self, var: Var, target: Occurrence) {
        let Occurrence { row, slot } = target;
        self.additions += 1;
        let source = mem::take(&mut self.source);
        // Removals in other rows do not touch the entries of this row: each column has it once.
        let mut entries = mem::take(&mut self.rows[row.index()].entries);
        debug_assert_eq!((entries[slot as usize].var, source[0].0), (var, var));
        let (scale, factor) = multipliers(&source[0].1, &entries[slot as usize].coeff);

        let mut found = 0;
        let mut index = 0;
        while let Some(entry) = entries.get_mut(index) {
            if !scale.is_one() {
                entry.coeff *= &scale;
            }
            let position = self.source_slot[entry.var.index()];
            if position != 0 {
                let position = position as usize - 1;
                self.found[position] = self.additions;
                found += 1;
                entry.coeff += &factor * &source[position].1;
                if entry.coeff.is_zero() {
                    let entry = entries.swap_remove(index);
                    self.remove_occurrence(&entry);
                    if let Some(moved) = entries.get(index) {
                        self.columns[moved.var.index()][moved.column_slot as usize].slot = index as u32;
                    }
                    continue;
                }
            }
            index += 1;
        }
        if found < source.len() {
            for ((var, coeff), found) in source.iter().zip(&self.found) {
                if *found != self.additions {
                    let column = &mut self.columns[var.index()];
                    let (slot, column_slot) = (entries.len() as u32, column.len() as u32);
                    column.push(Occurrence { row, slot });
                    entries.push(Entry { coeff: &factor * coeff, var: *var, column_slot });
                }
            }
        }
        divide_by_common_factor(&mut entries);
        self.rows[row.index()].entries = entries;
        self.source = source;
    }

    /// Removes the occurrence of an entry that is already out of its row.
    #[inline]
    fn remove_occurrence(&mut self, entry: &Entry) {
        let column = &mut self.columns[entry.var.index()];
        column.swap_remove(entry.column_slot as usize);
        if let Some(moved) = column.get(entry.column_slot as usize) {
            self.rows[moved.row.index()].entries[moved.slot as usize].column_slot = entry.column_slot;
        }
    }

    /// Whether T1 to T4 hold.
    pub(super) fn check_invariants(&self) {
        for row in self.rows() {
            let entries = &self.row(row).entries;
            assert!(entries[0].coeff.is_positive(), "T1");
            let mut common = Integer::ZERO;
            for (slot, entry) in entries.iter().enumerate() {
                let place = if slot == 0 { Place::Basic(row) } else { Place::NonBasic };
                assert_eq!(self.place(entry.var), place, "T1, T2");
                assert!(!entry.coeff.is_zero(), "T3");
                common = common.gcd(&entry.coeff);
                let occurrence = self.column(entry.var)[entry.column_slot as usize];
                assert_eq!((occurrence.row, occurrence.slot as usize), (row, slot), "T4");
            }
            assert!(common.is_one(), "T3");
        }
        for (column, place) in self.columns.iter().zip(&self.places) {
            match place {
                Place::Basic(row) => assert!(column.len() == 1 && column[0].row == *row, "T2"),
                Place::Dormant => assert!(column.is_empty(), "T2"),
                Place::NonBasic => {
                    let mut rows: Vec<RowId> = column.iter().map(|occurrence| occurrence.row).collect();
                    rows.sort_unstable();
                    assert!(rows.windows(2).all(|pair| pair[0] != pair[1]), "T3");
                }
            }
        }
        assert!(self.source.is_empty() && self.source_slot.iter().all(|&slot| slot == 0));
    }
}

/// The least integers `m > 0` and `n` with `m * target + n * source = 0`, where `source > 0`.
#[inline]
fn multipliers(source: &Integer, target: &Integer) -> (Integer, Integer) {
    if source.is_one() {
        return (Integer::ONE, -target);
    }
    let common = source.gcd(target);
    if common.is_one() {
        return (source.clone(), -target);
    }
    (source.div_exact(&common), -target.div_exact(&common))
}

#[inline]
fn divide_by_common_factor(entries: &mut [Entry]) {
    let mut common = Integer::ZERO;
    for entry in &*entries {
        if entry.coeff.to_i64().is_some_and(|coeff| coeff == 1 || coeff == -1) {
            return;
        }
        common = common.gcd(&entry.coeff);
        if common.is_one() {
            return;
        }
    }
    for entry in entries {
        entry.coeff = entry.coeff.div_exact(&common);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn equation(terms: &[(usize, i64)]) -> Vec<(Var, Integer)> {
        terms.iter().map(|&(var, coeff)| (Var::new(var), Integer::from(coeff))).collect()
    }

    fn show(tableau: &Tableau, row: RowId) -> Vec<(usize, i64)> {
        let entry = |entry: &Entry| (entry.var.index(), entry.coeff.to_i64().expect("small"));
        let mut entries: Vec<_> = tableau.row(row).entries.iter().map(entry).collect();
        entries[1..].sort_unstable();
        entries
    }

    /// `s = 2x + 4y` and `t = 3x - y`.
    fn two_rows() -> (Tableau, RowId, RowId) {
        let mut tableau = Tableau::default();
        for place in [Place::NonBasic, Place::NonBasic, Place::Dormant, Place::Dormant] {
            tableau.add_var(place);
        }
        let s = tableau.insert_row(&equation(&[(2, -1), (0, 2), (1, 4)]));
        let t = tableau.insert_row(&equation(&[(3, -1), (0, 3), (1, -1)]));
        (tableau, s, t)
    }

    #[test]
    fn a_pivot_solves_for_the_entering_variable_and_divides_out() {
        let (mut tableau, s, t) = two_rows();
        assert_eq!(show(&tableau, s), [(2, 1), (0, -2), (1, -4)]);
        let slot = tableau.row(s).entries.iter().position(|entry| entry.var.index() == 0).expect("x");
        tableau.pivot(s, slot as u32, |_| false);
        tableau.check_invariants();
        // 2x + 4y - s = 0, and 2t = 3s - 14y.
        assert_eq!(show(&tableau, s), [(0, 2), (1, 4), (2, -1)]);
        assert_eq!(show(&tableau, t), [(3, 2), (1, 14), (2, -3)]);
    }

    #[test]
    fn a_woken_row_is_expressed_by_non_basic_variables() {
        let (mut tableau, s, t) = two_rows();
        tableau.pivot(s, 1, |_| true);
        tableau.check_invariants();
        assert_eq!(tableau.place(Var::new(3)), Place::Dormant);
        let again = tableau.insert_row(&equation(&[(3, -1), (0, 3), (1, -1)]));
        tableau.check_invariants();
        assert_eq!((again, show(&tableau, again)), (t, vec![(3, 2), (1, 14), (2, -3)]));
    }

    #[test]
    fn a_deleted_row_leaves_no_occurrence() {
        let (mut tableau, s, t) = two_rows();
        tableau.delete_row(s);
        tableau.check_invariants();
        assert_eq!(tableau.rows().collect::<Vec<_>>(), [t]);
        assert_eq!(tableau.column(Var::new(0)).len(), 1);
    }
}
