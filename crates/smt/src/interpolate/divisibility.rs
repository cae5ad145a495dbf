//! Interpolants of conflicts that need integers, by divisibility.
//!
//! The certificate has forms `x_i` with both bounds, and multipliers `λ_i`, such that `y = Σ λ_i·x_i` has integer
//! coefficients but is confined to an interval without an integer. Let `y_A` be the sum over those `i` whose bounds are
//! A's; it lies between `l` and `u`. A monomial that B does not have occurs only in `y_A`, so its coefficient there is
//! an integer. Hence `y_A = n + s` with an integer `n` and a rational combination `s` of shared monomials, and
//!
//! ```text
//! I  =  some integer n has  l <= n + s <= u
//! ```
//!
//! A implies it. B confines the rest of the sum, which is an integer minus `s`; were `n + s` in its interval, the whole
//! sum would be an integer in its own interval. Let `d` be the common denominator of `s`, `S = d*s`, and let `a` and
//! `b` be the integers next to `d*l` and `d*u` inside the interval. The smallest number not below `a` that differs from
//! `S` by a multiple of `d` is `a + (S - a) mod d`, so
//!
//! ```text
//! I  =  (S - a) mod d <= b - a            and for equations, where a = b:  d | S - a
//! ```
//!
//! If `s` has real monomials, which cancel out in the whole sum, the interpolant uses the greatest integer below `u -
//! s`:
//!
//! ```text
//! I  =  l - s <= to_int(u - s)
//! ```
//!
//! If a form has one bound from each side, it is shared. It counts as B's, and A's bound is added to the interpolant: A
//! implies the bound, and B needs no more.
//!
//! Interpolants without divisibility do not exist in general: `z = 2x` and `z = 2y + 1` have only `2 | z`. For
//! equations this is the interpolant of H. Jain, E. Clarke, O. Grumberg, "Efficient Craig interpolation for linear
//! diophantine (dis)equations and linear modular equations" (CAV 2008). The extension from values to intervals is ours.

use shofar_logic::number::{Integer, Rational};
use shofar_logic::{LinearPoly, Sort, Term, TermStore};

use super::farkas::with_casts;
use crate::proof::Inequality;

/// A form with both bounds and its multiplier: `0 <= lower` and `0 <= upper`, whose sum is a constant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Confined {
    /// The multiplier of the form that is `lower` without its constant.
    pub multiplier: Rational,
    /// The lower bound, and whether it is A's.
    pub lower: (Inequality, bool),
    /// The upper bound, and whether it is A's.
    pub upper: (Inequality, bool),
}

/// A sum of multiples of the differences between forms and their lower bounds, and its least and greatest values.
#[derive(Default)]
struct Sum {
    form: LinearPoly,
    least: Rational,
    greatest: Rational,
}

impl Sum {
    fn add(&mut self, term: &Confined, width: &Rational) {
        self.form.add_scaled(&term.lower.0.form, &term.multiplier);
        let extreme = if term.multiplier.is_negative() { &mut self.least } else { &mut self.greatest };
        extreme.add_mul(&term.multiplier, width);
    }
}

/// The interpolant, or `None` if the certificate does not exclude all integers. `is_local` holds for monomials that B
/// does not have.
pub fn divisibility(
    store: &TermStore,
    terms: &[Confined],
    mut is_local: impl FnMut(Term) -> bool,
) -> Option<Term> {
    let (mut total, mut of_a) = (Sum::default(), Sum::default());
    let mut conjuncts = Vec::new();
    for term in terms {
        let width = width(term)?;
        total.add(term, &width);
        match (term.lower.1, term.upper.1) {
            (true, true) => of_a.add(term, &width),
            (true, false) => conjuncts.push(term.lower.0.to_term(store)),
            (false, true) => conjuncts.push(term.upper.0.to_term(store)),
            (false, false) => {}
        }
    }
    if !confines_no_integer(store, &total) {
        return None;
    }
    conjuncts.push(contains_integer(store, of_a, &mut is_local)?);
    Some(store.and(&conjuncts))
}

/// The difference of the bounds, or `None` if they do not bound one form.
fn width(term: &Confined) -> Option<Rational> {
    let (Inequality { form: lower, is_strict: false }, Inequality { form: upper, is_strict: false }) =
        (&term.lower.0, &term.upper.0)
    else {
        return None;
    };
    let sum = lower.clone() + upper;
    (sum.is_constant() && !sum.constant().is_negative()).then(|| sum.constant().clone())
}

/// Whether the form without its constant is an integer, and no integer lies between the bounds.
fn confines_no_integer(store: &TermStore, sum: &Sum) -> bool {
    let are_integers = sum
        .form
        .terms()
        .iter()
        .all(|(monomial, coefficient)| store.sort_of(*monomial) == Sort::INT && coefficient.is_integer());
    let constant = sum.form.constant();
    are_integers && (&sum.least - constant).ceil() > (&sum.greatest - constant).floor()
}

/// States that some integer, in place of the local monomials, brings the form between its bounds. Returns `None` if a
/// local monomial or its coefficient is not an integer.
fn contains_integer(store: &TermStore, sum: Sum, is_local: &mut impl FnMut(Term) -> bool) -> Option<Term> {
    let mut shared = Vec::new();
    let mut denominator = Integer::ONE;
    for (monomial, coefficient) in sum.form.terms() {
        if !is_local(*monomial) {
            denominator = denominator.lcm(&coefficient.denom());
            shared.push((*monomial, coefficient.clone()));
        } else if store.sort_of(*monomial) != Sort::INT || !coefficient.is_integer() {
            return None;
        }
    }
    if shared.iter().any(|(monomial, _)| store.sort_of(*monomial) != Sort::INT) {
        let (shared, sort) = with_casts(store, &LinearPoly::from_pairs(shared, Rational::ZERO));
        let up_to = |value: &Rational| {
            let difference = LinearPoly::from_constant(value - sum.form.constant()) - &shared;
            difference.to_term(store, sort)
        };
        let integer = store.to_real(store.to_int(up_to(&sum.greatest)));
        return Some(store.le(up_to(&sum.least), integer));
    }
    let scale = Rational::from(denominator.clone());
    let first = (&scale * &(&sum.least - sum.form.constant())).ceil();
    let last = (&scale * &(&sum.greatest - sum.form.constant())).floor();
    let distance = LinearPoly::from_pairs(shared, Rational::ZERO) * &scale;
    let distance = distance - &LinearPoly::from_constant(Rational::from(first.clone()));
    let rest = store.modulo(distance.to_term(store, Sort::INT), store.int(denominator));
    let room = store.int(&last - &first);
    Some(if first == last { store.eq(rest, room) } else { store.le(rest, room) })
}
