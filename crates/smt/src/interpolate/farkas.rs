//! Interpolants of one arithmetic conflict as a single inequality: Farkas, dual Farkas, and flexible.
//!
//! By Farkas' lemma inequalities contradict each other iff a sum of positive multiples of them is `0 <= c` for a
//! negative `c`, or `0 < 0`. Let `p_A` be the weighted sum of the inequalities of A and `p_B` that of B, both as
//! `0 <= p` or `0 < p`; a sum is strict iff one of its summands is. Then `p_A + p_B = -g` is a constant, and
//!
//! ```text
//! Farkas             0 <= p_A                  strongest; strict iff the sum of A is
//! flexible, 0<s<1    0 <= p_A + s*g
//! dual Farkas        not (0 <= p_B)            weakest: 0 < p_A + g; not strict iff the sum of B is strict
//! ```
//!
//! Symbols: a monomial that B does not have occurs only in the sum of A, so it cancels out in the total.
//!
//! Over integers the literals are read in their tightened forms, which are not strict. The builders of the store scale
//! the result, divide by the common divisor and round; over the integers this changes nothing. Labels belong to
//! literals, not to the inequalities read off them, because the tightened forms of two literals may be each other's
//! atoms.
//!
//! The sum of A as an interpolant: K. L. McMillan, "An interpolating theorem prover" (TCS 2005); duality and strength:
//! L. Alt, A. Hyvärinen, N. Sharygina, "LRA interpolants from no man's land" (HVC 2017).

use shofar_logic::number::Rational;
use shofar_logic::{LinearPoly, Sort, Term, TermStore};

use crate::proof::Inequality;

/// An inequality of a conflict, with its multiplier and its side.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Summand {
    /// The inequality.
    pub inequality: Inequality,
    /// The positive multiplier.
    pub weight: Rational,
    /// Whether it counts as one of A.
    pub in_a: bool,
}

/// A number from zero (the strongest interpolant) to one (the weakest).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Strength(Rational);

impl Default for Strength {
    /// One half.
    fn default() -> Self {
        Strength(Rational::new(1.into(), 2.into()))
    }
}

impl Strength {
    /// The strength of this factor, or `None` if it is not between zero and one.
    pub fn new(factor: Rational) -> Option<Self> {
        (!factor.is_negative() && factor <= Rational::ONE).then_some(Strength(factor))
    }

    /// The number.
    pub fn factor(&self) -> &Rational {
        &self.0
    }
}

/// The sum of A.
pub fn farkas(store: &TermStore, summands: &[Summand]) -> Term {
    sum_of(summands, true).to_term(store)
}

/// The negation of the sum of B.
pub fn dual_farkas(store: &TermStore, summands: &[Summand]) -> Term {
    sum_of(summands, false).negation().to_term(store)
}

/// An inequality between the sum of A and the negation of the sum of B.
pub fn flexible(store: &TermStore, summands: &[Summand], strength: &Strength) -> Term {
    between(store, sum_of(summands, true), sum_of(summands, false), strength)
}

/// [`flexible`], given the two sums.
pub(super) fn between(store: &TermStore, a: Inequality, b: Inequality, Strength(factor): &Strength) -> Term {
    let total = a.form.clone() + &b.form;
    let gap = -total.constant();
    if factor.is_one() {
        return b.negation().to_term(store);
    }
    if factor.is_zero() || gap.is_zero() {
        return a.to_term(store);
    }
    // The gap leaves room on both sides, so the result need not be strict.
    let mut form = a.form;
    form.add_constant(&(factor * &gap));
    Inequality { form, is_strict: false }.to_term(store)
}

/// Whether the weighted sum of all is contradictory.
pub fn is_refutation(summands: &[Summand]) -> bool {
    let mut total = sum_of(summands, true);
    total.add_scaled(&sum_of(summands, false), &Rational::ONE);
    summands.iter().all(|summand| summand.weight.is_positive())
        && total.form.is_constant()
        && !total.holds_at(&Rational::ZERO)
}

/// The weighted sum of one side.
pub(super) fn sum_of(summands: &[Summand], in_a: bool) -> Inequality {
    let mut sum = Inequality::default();
    for summand in summands.iter().filter(|summand| summand.in_a == in_a) {
        sum.add_scaled(&summand.inequality, &summand.weight);
    }
    sum
}

impl Inequality {
    /// Adds a multiple by a non-negative number.
    pub fn add_scaled(&mut self, other: &Inequality, weight: &Rational) {
        self.form.add_scaled(&other.form, weight);
        self.is_strict |= other.is_strict && !weight.is_zero();
    }

    /// The inequality that holds exactly where this one fails.
    pub fn negation(self) -> Self {
        Inequality { form: -self.form, is_strict: !self.is_strict }
    }

    /// The inequality as a normal formula, tightened if all monomials are integers.
    pub fn to_term(&self, store: &TermStore) -> Term {
        if self.form.is_constant() {
            return store.bool(self.holds_at(&Rational::ZERO));
        }
        let (_, factor) = self.form.clone().factored();
        let form = self.form.clone() * &factor.abs().recip();
        let (form, sort) = with_casts(store, &form);
        let form = form.to_term(store, sort);
        let zero = LinearPoly::default().to_term(store, sort);
        if self.is_strict { store.lt(zero, form) } else { store.le(zero, form) }
    }

    /// Whether the inequality holds if the form without its constant has this value.
    fn holds_at(&self, value: &Rational) -> bool {
        let value = value + self.form.constant();
        value.is_positive() || value.is_zero() && !self.is_strict
    }
}

/// The polynomial with casts where integers meet reals, and its sort.
pub(super) fn with_casts(store: &TermStore, poly: &LinearPoly) -> (LinearPoly, Sort) {
    let is_int = |term: Term| store.sort_of(term) == Sort::INT;
    if poly.terms().iter().all(|&(monomial, _)| is_int(monomial)) {
        return (poly.clone(), Sort::INT);
    }
    let cast = |term: Term| if is_int(term) { store.to_real(term) } else { term };
    let pairs = poly.terms().iter().map(|(monomial, coefficient)| (cast(*monomial), coefficient.clone()));
    (LinearPoly::from_pairs(pairs.collect(), poly.constant().clone()), Sort::REAL)
}
