//! Patching: small moves that make more values integers.
//!
//! The assignment at the end of the check loop is one of many. A non-basic variable may move within its bounds as long
//! as no basic variable leaves its own. Patching makes two kinds of moves. Each gives at least one more integer
//! variable an integer value, and spoils none:
//!
//! - a non-basic integer variable with a fraction is moved to one of the integers next to it;
//! - for a basic integer variable with a fraction, a non-basic variable of its row is moved such that the
//!   fraction vanishes. If `x_b = -(n/m)·x_j + ...` in lowest terms, moving an integer `x_j` by `d` adds
//!   `-n·d/m` to the fraction `p/q`, so `q` must divide `m`, and `d = p·(m/q)·n^-1` modulo `m`: the least such
//!   moves upwards and downwards are tried. A real `x_j` is moved such that `x_b` becomes the integer next to it.
//!
//! Moves that do not lead to a solution are undone. Z3 keeps them. But they lead away from the vertex, where cuts come
//! from, and values only grew during a long search.
//!
//! Patching only finds models, so it plays no part in proofs. It is that of Z3, extended to reals.

use shofar_logic::number::{Integer, Rational};

use super::super::tableau::{Place, RowId};
use super::super::{DeltaRational, Simplex, Var};

impl Simplex {
    /// Makes the values of all the integer variables integers by single moves. Returns `false`, and changes nothing, if
    /// this fails.
    pub(super) fn patch(&mut self, integers: &[Var]) -> bool {
        for var in self.vars() {
            if self.is_int(var) && self.tableau.place(var) == Place::NonBasic && !self.value(var).is_integer()
            {
                self.patch_non_basic(var);
            }
        }
        let is_fractional = |simplex: &Simplex, var: Var| !simplex.value(var).is_integer();
        let mut fractional: Vec<Var> = integers.to_vec();
        loop {
            fractional.retain(|&var| is_fractional(self, var));
            let mut moved = false;
            for &var in &fractional {
                if let Place::Basic(row) = self.tableau.place(var) {
                    moved |= self.patch_basic(row);
                }
            }
            if fractional.is_empty() || !moved {
                self.end_moves(fractional.is_empty());
                return fractional.is_empty();
            }
        }
    }

    fn patch_non_basic(&mut self, var: Var) -> bool {
        let value = self.value(var).into_owned();
        [value.floor(), value.ceil()].into_iter().any(|target| {
            let mut step = DeltaRational::from(target);
            step -= &value;
            self.try_move(var, &step)
        })
    }

    /// Makes the value of the basic variable of a row an integer by one move, if there is such a move.
    fn patch_basic(&mut self, row: RowId) -> bool {
        let basic = self.tableau.row(row).basic();
        let value = self.value(basic.var).into_owned();
        if value.is_integer() {
            return false;
        }
        let head = basic.coeff.clone();
        for slot in 1..self.tableau.row(row).entries.len() {
            let entry = &self.tableau.row(row).entries[slot];
            let var = entry.var;
            // By how much the basic variable decreases if this one increases by 1.
            let slope = Rational::new(entry.coeff.clone(), head.clone());
            let steps = if self.is_int(var) {
                integer_steps(&value, &slope)
            } else {
                let step = |target: Integer| {
                    let mut step = value.clone();
                    step -= &DeltaRational::from(target);
                    step.scale(&slope.recip())
                };
                Some([step(value.floor()), step(value.ceil())])
            };
            if steps.is_some_and(|steps| steps.iter().any(|step| self.try_move(var, step))) {
                return true;
            }
        }
        false
    }

    /// Moves a non-basic variable if this violates no bound and makes no integer a fraction.
    fn try_move(&mut self, var: Var, step: &DeltaRational) -> bool {
        let is_harmless = self.is_harmless(var, step);
        if is_harmless {
            self.move_non_basic(var, step);
        }
        is_harmless
    }

    fn is_harmless(&self, var: Var, step: &DeltaRational) -> bool {
        let mut target = self.value(var).into_owned();
        target += step;
        self.bounds.violated(var, &target).is_none()
            && self.tableau.column(var).iter().all(|occurrence| {
                let row = self.tableau.row(occurrence.row);
                let basic = row.basic();
                let is_bounded = self.bounds.is_bounded(basic.var);
                if !is_bounded && (self.is_slack(basic.var) || !self.is_int(basic.var)) {
                    return true;
                }
                let coeff = &row.entries[occurrence.slot as usize].coeff;
                let change = step.scale(&Rational::new(coeff.clone(), basic.coeff.clone()));
                let old = self.value(basic.var);
                let mut new = old.clone().into_owned();
                new -= &change;
                self.bounds.violated(basic.var, &new).is_none()
                    && (!self.is_int(basic.var) || new.is_integer() || !old.is_integer())
            })
    }
}

/// The least steps upwards and downwards such that subtracting the slope times the step from the value gives an
/// integer.
fn integer_steps(value: &DeltaRational, slope: &Rational) -> Option<[DeltaRational; 2]> {
    if !value.delta().is_zero() {
        return None;
    }
    let (p, q) = (value.real().numer(), value.real().denom());
    let (n, m) = (slope.numer(), slope.denom());
    if !q.divides(&m) {
        return None;
    }
    // n * inverse = 1 modulo m, as n and m are coprime.
    let (_, inverse, _) = n.gcd_ext(&m);
    let up = (p * m.div_exact(&q) * inverse).rem_euclid(&m);
    let down = &up - &m;
    Some([DeltaRational::from(up), DeltaRational::from(down)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_remove_the_fraction() {
        for (p, q, n, m) in [(1, 2, 1, 2), (5, 3, -2, 3), (7, 4, 3, 8), (-1, 6, 5, 6), (1, 2, 3, 10)] {
            let ratio = |p: i64, q: i64| Rational::new(Integer::from(p), Integer::from(q));
            let value = DeltaRational::from(ratio(p, q));
            let steps = integer_steps(&value, &ratio(n, m)).expect("q divides m");
            for step in steps {
                assert!(step.is_integer() && !step.is_zero());
                let mut moved = value.clone();
                moved -= &step.scale(&ratio(n, m));
                assert!(moved.is_integer(), "{value} - {n}/{m} * {step}");
            }
            assert!(integer_steps(&DeltaRational::from(ratio(1, 7)), &ratio(n, m)).is_none());
        }
    }
}
