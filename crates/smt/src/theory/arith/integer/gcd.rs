//! The GCD test: refutes rows by their coefficients and a few bounds.
//!
//! Let `Σ a_j·x_j = 0` be a row over integer variables. Divide the variables into two parts, and let `g` be the
//! greatest common divisor of the coefficients of the first. The sum of the first part is a multiple of `g`, hence so
//! is that of the second. If the variables of the second part have bounds, its sum lies in an interval, and an interval
//! without a multiple of `g` is a contradiction. The first part may be unbounded.
//!
//! The second part consists of the fixed variables whose coefficient `g` does not divide, and of the variables with the
//! least coefficients. The test tries every number of the latter: from the greatest coefficient to the least, `g` and
//! the interval shrink, and each step is tested until `g` is 1. The last step, with only fixed variables in the second
//! part, is the classic test. If all values in a row are integers, they are a solution, and the row is skipped; so are
//! rows with real variables.
//!
//! Source: B. Dutertre and L. de Moura, *Integrating simplex with DPLL(T)*, SRI-CSL-06-01, section 4. The extension to
//! bounded variables with the least coefficient is Z3's; using several of them is ours.

use shofar_logic::number::{Integer, Rational};

use super::super::tableau::{Entry, RowId};
use super::super::{Side, Simplex, Var};
use super::refutation::Refutation;

impl Simplex {
    /// A contradiction in one of the rows, if found.
    pub(super) fn gcd_test(&self) -> Option<Refutation> {
        self.tableau.rows().filter(|&row| self.may_fail_gcd_test(row)).find_map(|row| self.gcd_test_of(row))
    }

    fn may_fail_gcd_test(&self, row: RowId) -> bool {
        let entries = &self.tableau.row(row).entries;
        entries.iter().all(|entry| self.is_int(entry.var))
            && entries.iter().any(|entry| !self.value(entry.var).is_integer())
    }

    fn gcd_test_of(&self, row: RowId) -> Option<Refutation> {
        let entries = &self.tableau.row(row).entries;
        let (fixed, mut free): (Vec<&Entry>, Vec<&Entry>) =
            entries.iter().partition(|entry| self.fixed(entry.var).is_some());
        free.sort_unstable_by(|a, b| b.coeff.cmp_abs(&a.coeff).then_with(|| a.var.cmp(&b.var)));

        // The intervals of the second part, from the longest one down to that of the fixed variables.
        let mut interval = Some((Integer::ZERO, Integer::ZERO));
        for entry in &fixed {
            interval = self.add_monomial(interval, entry);
        }
        let mut intervals = vec![interval];
        for entry in free.iter().rev() {
            let interval = intervals.last().expect("it begins with one").clone();
            intervals.push(self.add_monomial(interval, entry));
        }
        intervals.pop();

        let mut divisor = Integer::ZERO;
        for (count, (entry, interval)) in free.iter().zip(intervals.iter().rev()).enumerate() {
            divisor = divisor.gcd(&entry.coeff);
            if divisor.is_one() {
                return None;
            }
            let Some((least, greatest)) = interval else { continue };
            if least.div_ceil(&divisor) > greatest.div_floor(&divisor) {
                let second = fixed.iter().filter(|entry| !divisor.divides(&entry.coeff));
                let second = second.chain(&free[count + 1..]);
                let multiple =
                    |entry: &&Entry| (entry.var, Rational::new(entry.coeff.clone(), divisor.clone()));
                return Some(self.refutation(second.map(multiple).collect()));
            }
        }
        None
    }

    /// The interval of a sum with one more monomial, if both its ends are finite.
    fn add_monomial(
        &self,
        interval: Option<(Integer, Integer)>,
        entry: &Entry,
    ) -> Option<(Integer, Integer)> {
        let (least, greatest) = interval?;
        let monomial = |extreme: Side| {
            let side = if entry.coeff.is_negative() { extreme.opposite() } else { extreme };
            Some(&entry.coeff * self.integer_bound(entry.var, side)?)
        };
        Some((least + monomial(Side::Lower)?, greatest + monomial(Side::Upper)?))
    }

    /// A bound of an integer variable.
    pub(super) fn integer_bound(&self, var: Var, side: Side) -> Option<Integer> {
        self.bounds.get(var, side).and_then(|bound| bound.value.real().to_integer())
    }
}
