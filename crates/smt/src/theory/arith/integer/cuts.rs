//! Cuts from proofs: splits on the forms that explain why a vertex is not integral.
//!
//! The vertex satisfies the constraints that are tight there with equality: `A·x = b`. If no integers satisfy these
//! equations, then a proof of this is a form `u·x` with integer coefficients that has a fractional value wherever they
//! hold. So the face of the polyhedron on which they hold contains no integer points, and the split `u·x <= floor(v)`
//! or `u·x >= floor(v) + 1` excludes the whole face; a split on a variable may exclude only the vertex.
//!
//! ```text
//! A := rows of constraints tight at the vertex, equations first, those that are independent
//! H := the Hermite normal form of A
//! for each i: u_i := row i of H^-1·A,  v_i := entry i of H^-1·b
//! among those with a fractional v_i take the u_i with the least coefficients
//! ```
//!
//! The rows `u_i` are integral, being the first rows of a unimodular matrix, and some `v_i` is fractional if and only
//! if the equations have no integer solution. A constraint is tight if the value of its variable, slack or not, is at a
//! bound. Constraints on single variables have unit rows: their columns are removed, and their values move into `b`.
//! Elimination over the rationals removes the columns of real variables, each with the first row that contains it; the
//! remaining rows follow from the equations and contain only integers.
//!
//! A split is valid whatever its form is, so this file affects only progress, not correctness. It gives up on large
//! matrices, minors and coefficients; the limits below are somewhat lower than Z3's (75 rows, 150 columns).
//!
//! Source: I. Dillig, T. Dillig and A. Aiken, *Cuts from proofs: a complete and practical technique for solving
//! linear inequalities over integers*, CAV 2009.

use shofar_logic::number::{Integer, Rational};

use super::super::{Side, Simplex, Var};
use super::hermite::{Independent, hermite_normal_form, independent_rows};

/// The greatest number of constraints considered.
const MOST_ROWS: usize = 60;
/// The greatest number of columns.
const MOST_COLUMNS: usize = 120;
/// The greatest number of bits of a minor.
const MOST_MINOR_BITS: usize = 256;
/// The greatest number of bits of a coefficient of a cut.
const MOST_BITS: usize = 64;

/// A form to split on, and its fractional value at the vertex.
pub(super) struct Cut {
    pub(super) form: Vec<(Var, Integer)>,
    pub(super) value: Rational,
}

/// The constraints that are tight at the vertex.
struct Tight {
    columns: Vec<Var>,
    matrix: Vec<Vec<Integer>>,
    right: Vec<Rational>,
}

impl Simplex {
    /// A form that proves that the vertex is not integral, if there is one.
    pub(super) fn cut_from_proof(&self) -> Option<Cut> {
        let tight = self.tight_constraints()?;
        let Independent { rows, minor } = independent_rows(&tight.matrix, MOST_MINOR_BITS)?;
        let matrix: Vec<&[Integer]> = rows.iter().map(|&row| &tight.matrix[row][..]).collect();
        let normal = hermite_normal_form(&matrix, &minor);

        let mut forms: Vec<(Vec<Integer>, Rational)> = Vec::with_capacity(rows.len());
        for (index, &row) in rows.iter().enumerate() {
            forms.push(solve_row(&forms, &normal[index], &tight.matrix[row], &tight.right[row])?);
        }
        let size = |form: &[Integer]| form.iter().map(Integer::bit_len).max();
        let fractional = forms.into_iter().filter(|(_, value)| !value.is_integer());
        let (form, value) = fractional
            .min_by_key(|(form, _)| (size(form), form.iter().filter(|coeff| !coeff.is_zero()).count()))?;
        if size(&form) > Some(MOST_BITS) {
            return None;
        }
        let terms = tight.columns.into_iter().zip(form).filter(|(_, coeff)| !coeff.is_zero());
        Some(Cut { form: terms.collect(), value })
    }

    /// The tight constraints over the variables that are not at a bound themselves; equations first, then short ones.
    /// `None` if they have too many variables.
    fn tight_constraints(&self) -> Option<Tight> {
        let is_tight = |var: Var| {
            let at = |side| self.bounds.get(var, side).is_some_and(|bound| bound.value == *self.value(var));
            self.value(var).delta().is_zero() && (at(Side::Lower) || at(Side::Upper))
        };
        let definition = |slack: Var| self.definition(slack).map_or(&[][..], |definition| &definition[1..]);
        let is_row = |slack: Var| is_tight(slack) && definition(slack).iter().any(|(var, _)| !is_tight(*var));
        let mut slacks: Vec<Var> = self.vars().filter(|&var| self.is_slack(var) && is_row(var)).collect();
        slacks.sort_by_key(|&slack| (self.fixed(slack).is_none(), definition(slack).len()));
        slacks.truncate(MOST_ROWS);

        let mut columns: Vec<Var> =
            slacks.iter().flat_map(|&slack| definition(slack)).map(|(var, _)| *var).collect();
        columns.sort_unstable();
        columns.dedup();
        columns.retain(|&var| !is_tight(var));
        if columns.len() > MOST_COLUMNS {
            return None;
        }
        let mut tight = Tight { columns, matrix: Vec::new(), right: Vec::new() };
        for slack in slacks {
            let mut right = self.value(slack).real().clone();
            let mut row = vec![Integer::ZERO; tight.columns.len()];
            for (var, coeff) in definition(slack) {
                match tight.columns.binary_search(var) {
                    Ok(column) => row[column] = coeff.clone(),
                    Err(_) => right.sub_mul(&Rational::from(coeff.clone()), self.value(*var).real()),
                }
            }
            tight.matrix.push(row);
            tight.right.push(right);
        }
        for column in 0..tight.columns.len() {
            if !self.is_int(tight.columns[column]) {
                tight.eliminate(column)?;
            }
        }
        Some(tight)
    }
}

impl Tight {
    /// Makes a column zero by using up a row; `None` if numbers get too large.
    fn eliminate(&mut self, column: usize) -> Option<()> {
        let Some(index) = self.matrix.iter().position(|row| !row[column].is_zero()) else { return Some(()) };
        let (source, source_right) = (self.matrix.remove(index), self.right.remove(index));
        let pivot = &source[column];
        for (row, right) in self.matrix.iter_mut().zip(&mut self.right) {
            let factor = row[column].clone();
            if factor.is_zero() {
                continue;
            }
            for (entry, other) in row.iter_mut().zip(&source) {
                *entry = &*entry * pivot - &factor * other;
            }
            *right *= &Rational::from(pivot.clone());
            right.sub_mul(&Rational::from(factor), &source_right);
            let divisor = row.iter().fold(Integer::ZERO, |divisor, entry| divisor.gcd(entry));
            if divisor.bit_len() > 1 {
                row.iter_mut().for_each(|entry| *entry = entry.div_exact(&divisor));
                *right /= &Rational::from(divisor);
            }
            if row.iter().any(|entry| entry.bit_len() > MOST_MINOR_BITS) {
                return None;
            }
        }
        Some(())
    }
}

/// The next row of `H^-1·A` and of `H^-1·b`, given the previous ones.
fn solve_row(
    before: &[(Vec<Integer>, Rational)],
    normal: &[Integer],
    row: &[Integer],
    right: &Rational,
) -> Option<(Vec<Integer>, Rational)> {
    let mut row = row.to_vec();
    let mut value = right.clone();
    for ((form, other), factor) in before.iter().zip(normal).filter(|(_, factor)| !factor.is_zero()) {
        for (entry, coeff) in row.iter_mut().zip(form) {
            *entry -= factor * coeff;
        }
        value.sub_mul(&Rational::from(factor.clone()), other);
    }
    let diagonal = &normal[before.len()];
    value /= &Rational::from(diagonal.clone());
    let divided = row.iter().map(|entry| diagonal.divides(entry).then(|| entry.div_exact(diagonal)));
    Some((divided.collect::<Option<_>>()?, value))
}

#[cfg(test)]
mod tests {
    use super::super::super::{Budget, Config, DeltaRational, Outcome, Reason};
    use super::*;

    /// A feasible kernel over integers in which each form has one bound.
    fn vertex(vars: usize, bounds: &[(&[i64], Side, i64)]) -> (Simplex, Vec<Var>) {
        let mut simplex = Simplex::new(Config::default());
        let vars: Vec<Var> = (0..vars).map(|_| simplex.new_var(true)).collect();
        for (index, (form, side, bound)) in bounds.iter().enumerate() {
            let terms: Vec<_> =
                vars.iter().zip(*form).map(|(&var, &coeff)| (var, Rational::from(coeff))).collect();
            let (var, factor) = simplex.new_row(&terms).expect("not zero");
            assert!(factor.is_one(), "forms in normal form keep the test readable");
            let bound = DeltaRational::from(*bound);
            simplex.assert_bound(var, *side, &bound, Reason(index as u32)).expect("no clash");
        }
        assert_eq!(simplex.check(&Budget::UNLIMITED), Outcome::Feasible);
        (simplex, vars)
    }

    #[test]
    fn the_proof_is_a_form_and_not_a_variable() {
        // The difference of the two forms is 4y + 6z, which is even but must be 1.
        let (simplex, vars) = vertex(3, &[(&[1, 2, 3], Side::Lower, 1), (&[1, -2, -3], Side::Upper, 0)]);
        let cut = simplex.cut_from_proof().expect("the vertex is not integral");
        let coefficients: Vec<_> = cut.form.iter().map(|(var, coeff)| (*var, coeff.abs())).collect();
        assert_eq!(coefficients, [(vars[1], Integer::from(2)), (vars[2], Integer::from(3))]);
        assert_eq!(cut.value.abs(), Rational::new(Integer::ONE, Integer::from(2)));
    }

    #[test]
    fn tight_constraints_with_integer_solutions_give_no_cut() {
        let (simplex, _) = vertex(3, &[(&[1, 2, 3], Side::Lower, 2), (&[1, -2, -3], Side::Upper, 0)]);
        assert!(simplex.cut_from_proof().is_none());
    }

    #[test]
    fn variables_at_their_bounds_are_put_into_the_right_side() {
        // With z = 1 the constraint is 3x + 3y = 2 - z at the vertex.
        let (simplex, _) = vertex(3, &[(&[0, 0, 1], Side::Lower, 1), (&[3, 3, 1], Side::Lower, 2)]);
        let cut = simplex.cut_from_proof().expect("the vertex is not integral");
        assert_eq!(cut.form.len(), 2);
        assert_eq!(cut.value.abs(), Rational::new(Integer::ONE, Integer::from(3)));
    }
}
