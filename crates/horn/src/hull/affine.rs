//! Affine hulls: sets of points that linear equations describe.
//!
//! An affine hull is a set of equations `a.x = b`. The hull of one point has an equation for each variable. A point outside
//! joins by giving up one equation that it violates; a multiple of this equation is added to each other one, so that these hold.
//! So a hull changes at most once more than it has variables, and no widening is needed.
//!
//! Integers and reals have equations of their own, because SMT-LIB has no sums of both.
//!
//! M. Karr, "Affine relationships among variables of a program" (Acta Informatica 1976).

use shofar_logic::number::Rational;
use shofar_logic::{LinearPoly, Sort, Term, TermStore};

/// A set of points: the solutions of equations.
///
/// Each equation is solved for its last variable, which no other equation mentions.
#[derive(Clone, Default, Debug)]
pub struct AffineHull {
    /// Polynomials that are zero, over variables of one sort each.
    equations: Vec<LinearPoly>,
}

impl AffineHull {
    /// The hull of one point.
    pub fn of(point: &[(Term, Rational)]) -> Self {
        let fixed = |(variable, value): &(Term, Rational)| {
            LinearPoly::from_pairs(vec![(*variable, Rational::ONE)], -value)
        };
        AffineHull { equations: point.iter().map(fixed).collect() }
    }

    /// Adds a point.
    pub fn join(&mut self, store: &TermStore, point: &[(Term, Rational)]) {
        let value =
            |variable| point.iter().find(|(other, _)| *other == variable).map(|(_, value)| value.clone());
        for sort in [Sort::INT, Sort::REAL] {
            let of_sort = |equation: &LinearPoly| sort_of(store, equation) == sort;
            let residue = |equation: &LinearPoly| equation.eval(value).unwrap_or(Rational::ZERO);
            let violated =
                self.equations.iter().position(|equation| of_sort(equation) && !residue(equation).is_zero());
            let Some(violated) = violated else { continue };
            let given_up = self.equations.remove(violated);
            let by = residue(&given_up);
            for equation in self.equations.iter_mut().filter(|equation| of_sort(equation)) {
                let factor = -(residue(equation) / &by);
                equation.add_scaled(&given_up, &factor);
            }
        }
        for at in 0..self.equations.len() {
            let equation = self.equations[at].clone();
            let pivot = pivot(&equation);
            let others = self.equations.iter_mut().enumerate().filter(|(other, _)| *other != at);
            others.for_each(|(_, other)| other.cancel(pivot, &equation));
        }
    }

    /// The polynomials that are zero.
    pub fn equations(&self) -> &[LinearPoly] {
        &self.equations
    }

    /// The equations as formulas.
    pub fn formulas(&self, store: &TermStore) -> Vec<Term> {
        self.equations.iter().map(|equation| equal_zero(store, equation.clone())).collect()
    }

    /// The sums that the equations give a value.
    pub fn sums(&self) -> Vec<LinearPoly> {
        self.equations.iter().map(|equation| equation.clone().without_constant().primitive().0).collect()
    }

    /// The sum without the variables for which the equations are solved: equal in all points of the hull.
    pub fn reduce(&self, mut sum: LinearPoly) -> LinearPoly {
        for equation in &self.equations {
            sum.cancel(pivot(equation), equation);
        }
        sum
    }
}

fn pivot(equation: &LinearPoly) -> Term {
    equation.terms().last().expect("an equation has variables").0
}

/// The sort of a polynomial with variables.
pub fn sort_of(store: &TermStore, sum: &LinearPoly) -> Sort {
    store.sort_of(sum.terms()[0].0)
}

/// The equation that a polynomial is zero. On integers it holds of some integers, so that without common divisors of the
/// coefficients the constant is an integer as well.
fn equal_zero(store: &TermStore, equation: LinearPoly) -> Term {
    let sort = sort_of(store, &equation);
    let (equation, _) = equation.primitive();
    let constant = -equation.constant();
    store.eq(equation.without_constant().to_term(store, sort), store.number(&constant, sort))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_on_a_line_give_the_equations_of_the_line() {
        let store = TermStore::new();
        let variables = ["x", "y", "z"].map(|name| store.var(store.symbol(name), Sort::INT));
        let [x, y, z] = variables;
        let point =
            |values: [i64; 3]| -> Vec<_> { variables.into_iter().zip(values.map(Rational::from)).collect() };
        let mut hull = AffineHull::of(&point([0, 1, 0]));
        assert_eq!(hull.equations().len(), 3);
        hull.join(&store, &point([2, 2, 4]));
        hull.join(&store, &point([4, 3, 8]));
        let sum = |terms: Vec<(Term, i64)>, constant: i64| {
            let terms = terms.into_iter().map(|(term, factor)| (term, factor.into())).collect();
            LinearPoly::from_pairs(terms, constant.into())
        };
        assert_eq!(hull.equations().len(), 2);
        // On the line, x = 2y - 2 and z = 2x.
        assert!(hull.reduce(sum(vec![(x, 1), (y, -2)], 2)).terms().is_empty());
        assert_eq!(hull.reduce(sum(vec![(z, 1), (x, -2)], 0)), LinearPoly::default());
        hull.join(&store, &point([0, 0, 0]));
        assert_eq!(hull.formulas(&store), [store.eq(z, store.mul_const(&2.into(), x))]);
    }
}
