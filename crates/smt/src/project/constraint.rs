//! Linear constraints: arithmetic literals in the form that elimination uses.
//!
//! A constraint compares a linear polynomial with zero, or states that a number divides it. On `Int` all coefficients
//! are integers and there is no strict comparison; divisibility is on `Int` only. The polynomial of a `Real` constraint
//! may have casts of integers among its monomials.
//!
//! The normal form has coprime coefficients, and integer bounds rounded to integers. In a divisibility `k | p`, the
//! coefficients lie between 0 and `k`, and the leading one is 1 if possible.

use shofar_logic::fourier_motzkin::{Inequality, Side, VariableBound};
use shofar_logic::number::{Integer, Rational};
use shofar_logic::{LinearPoly, Sort, Term, TermStore};

/// A polynomial and its relation to zero.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Constraint {
    pub(super) poly: LinearPoly,
    pub(super) relation: Relation,
    /// The sort of the monomials.
    pub(super) sort: Sort,
}

/// The relation of a polynomial `p`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Relation {
    /// `p <= 0`
    AtMost,
    /// `p < 0`
    Below,
    /// `p = 0`
    Equal,
    /// `k | p` for the positive number `k`
    Divisible(Integer),
}

impl Constraint {
    /// The constraint of an inequality between terms of a sort.
    pub(super) fn from_inequality(Inequality { poly, is_strict }: Inequality, sort: Sort) -> Self {
        Constraint { poly, relation: if is_strict { Relation::Below } else { Relation::AtMost }, sort }
    }

    /// The bound on a variable, if the constraint is a comparison that contains the variable.
    pub(super) fn bound_of(&self, variable: Term) -> Option<(Side, VariableBound)> {
        let is_strict = match self.relation {
            Relation::AtMost => false,
            Relation::Below => true,
            Relation::Equal | Relation::Divisible(_) => return None,
        };
        VariableBound::of(&self.poly, is_strict, variable)
    }

    /// `poly <= 0` on `Int`.
    pub(super) fn at_most_zero(poly: LinearPoly) -> Self {
        Constraint { poly, relation: Relation::AtMost, sort: Sort::INT }
    }

    /// `modulus | poly`.
    pub(super) fn divisible(modulus: Integer, poly: LinearPoly) -> Self {
        Constraint { poly, relation: Relation::Divisible(modulus), sort: Sort::INT }
    }

    /// The normal form; `None` if the constraint is always true. A constraint that is never true has a constant
    /// polynomial.
    pub(super) fn normalized(mut self) -> Option<Self> {
        if !self.poly.is_constant() {
            self = match self.relation {
                Relation::Divisible(modulus) => normal_divisibility(modulus, &self.poly),
                _ => self.normal_comparison(),
            };
        }
        (!self.poly.is_constant() || !self.holds_at(self.poly.constant())).then_some(self)
    }

    fn normal_comparison(mut self) -> Self {
        if self.sort == Sort::INT && self.relation == Relation::Below {
            self.poly.add_constant(&Rational::ONE);
            self.relation = Relation::AtMost;
        }
        let mut divisor = self.poly.content();
        if self.relation == Relation::Equal && self.poly.terms()[0].1.is_negative() {
            divisor = -divisor;
        }
        self.poly.scale(&divisor.recip());
        if self.sort == Sort::INT && !self.poly.constant().is_integer() {
            let rounded = Rational::from(self.poly.constant().ceil());
            self.poly = match self.relation {
                Relation::Equal => LinearPoly::from_constant(Rational::ONE),
                _ => {
                    let rounding = rounded - self.poly.constant();
                    self.poly.add_constant(&rounding);
                    self.poly
                }
            };
        }
        self
    }

    /// Whether the constraint holds if the polynomial has this value.
    pub(super) fn holds_at(&self, value: &Rational) -> bool {
        match &self.relation {
            Relation::AtMost => !value.is_positive(),
            Relation::Below => value.is_negative(),
            Relation::Equal => value.is_zero(),
            Relation::Divisible(modulus) => value.to_integer().is_some_and(|value| modulus.divides(&value)),
        }
    }

    /// The constraint as a normal literal.
    pub(super) fn to_term(&self, store: &TermStore) -> Term {
        let sort = self.sort;
        if self.poly.is_constant() {
            return store.bool(self.holds_at(self.poly.constant()));
        }
        if let Relation::Divisible(modulus) = &self.relation {
            let rest = integer(&-self.poly.constant()).rem_euclid(modulus);
            let dividend = self.poly.clone().without_constant().to_term(store, sort);
            return store.eq(store.modulo(dividend, store.int(modulus.clone())), store.int(rest));
        }
        // The sum on the left is that of the normal form, so no other is made.
        let upward = self.poly.terms()[0].1.is_positive();
        let bound = self.poly.constant().clone();
        let form = self.poly.clone().without_constant();
        if upward {
            let (form, bound) = (form.to_term(store, sort), store.number(&-bound, sort));
            match self.relation {
                Relation::AtMost => store.le(form, bound),
                Relation::Below => store.lt(form, bound),
                _ => store.eq(form, bound),
            }
        } else {
            let (form, bound) = ((-form).to_term(store, sort), store.number(&bound, sort));
            match self.relation {
                Relation::AtMost => store.ge(form, bound),
                Relation::Below => store.gt(form, bound),
                _ => store.eq(form, bound),
            }
        }
    }
}

fn normal_divisibility(modulus: Integer, poly: &LinearPoly) -> Constraint {
    let common = poly.terms().iter().fold(modulus.clone(), |common, (_, c)| common.gcd(&integer(c)));
    if !common.divides(&integer(poly.constant())) {
        return Constraint::divisible(modulus, LinearPoly::from_constant(Rational::ONE));
    }
    let modulus = modulus.div_exact(&common);
    let poly = reduced(poly, &modulus, |number| number.div_exact(&common));
    let Some((_, leading)) = poly.terms().first() else {
        return Constraint::divisible(modulus, poly);
    };
    let (unit, inverse, _) = integer(leading).gcd_ext(&modulus);
    let poly = if unit.is_one() { reduced(&poly, &modulus, |number| number * &inverse) } else { poly };
    Constraint::divisible(modulus, poly)
}

/// The polynomial with all its numbers mapped and then reduced by the modulus.
fn reduced(poly: &LinearPoly, modulus: &Integer, map: impl Fn(&Integer) -> Integer) -> LinearPoly {
    let number = |number: &Rational| Rational::from(map(&integer(number)).rem_euclid(modulus));
    let pairs = poly.terms().iter().map(|(monomial, c)| (*monomial, number(c))).collect();
    LinearPoly::from_pairs(pairs, number(poly.constant()))
}

/// The integer that a number is.
pub(super) fn integer(number: &Rational) -> Integer {
    number.to_integer().expect("constraints on Int have integer coefficients")
}

/// `a * p + b * q`
pub(super) fn combination(a: &Rational, p: &LinearPoly, b: &Rational, q: &LinearPoly) -> LinearPoly {
    let mut sum = p.clone() * a;
    sum.add_scaled(q, b);
    sum
}

/// The polynomial of a single monomial.
pub(super) fn monomial(term: Term) -> LinearPoly {
    LinearPoly::from_pairs(vec![(term, Rational::ONE)], Rational::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn constraint(pairs: &[(Term, i64)], constant: i64, relation: Relation) -> Constraint {
        let pairs = pairs.iter().map(|&(term, c)| (term, Rational::from(c))).collect();
        Constraint { poly: LinearPoly::from_pairs(pairs, constant.into()), relation, sort: Sort::INT }
    }

    #[test]
    fn integer_bounds_are_rounded() {
        let store = TermStore::new();
        let [x, y] = ["x", "y"].map(|name| store.var(store.symbol(name), Sort::INT));
        let shown = |c: Constraint| c.normalized().map(|c| store.display(c.to_term(&store)).to_string());
        let le = |constant| constraint(&[(x, 4), (y, -6)], constant, Relation::AtMost);
        assert_eq!(shown(le(-5)).as_deref(), Some("(<= (+ (* 2 x) (* (- 3) y)) 2)"));
        assert_eq!(shown(constraint(&[(x, 2)], 1, Relation::Equal)).as_deref(), Some("false"));
        assert_eq!(shown(constraint(&[], -1, Relation::AtMost)), None);
        assert_eq!(shown(constraint(&[], 1, Relation::AtMost)).as_deref(), Some("false"));
    }

    #[test]
    fn divisibilities_have_a_leading_one() {
        let store = TermStore::new();
        let [x, y] = ["x", "y"].map(|name| store.var(store.symbol(name), Sort::INT));
        let shown = |pairs: &[(Term, i64)], constant: i64, modulus: i64| {
            let c = constraint(pairs, constant, Relation::Divisible(modulus.into()));
            c.normalized().map(|c| store.display(c.to_term(&store)).to_string())
        };
        assert_eq!(shown(&[(x, 2)], 1, 5).as_deref(), Some("(= (mod x 5) 2)"));
        assert_eq!(shown(&[(x, 6), (y, 9)], 3, 15).as_deref(), Some("(= (mod (+ x (* (- 1) y)) 5) 2)"));
        assert_eq!(shown(&[(x, 2)], 1, 4).as_deref(), Some("false"));
        assert_eq!(shown(&[(x, 3)], 6, 3), None);
    }
}
