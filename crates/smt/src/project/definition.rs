//! Variables defined by an equality: `x = t`, where `x` does not occur in `t`.
//!
//! Replacing `x` by `t` eliminates `x` exactly, for every sort and every occurrence, including under functions and in
//! array indices. Numbers are normally eliminated by constraints, which is faster; they are replaced here if they are
//! buried where only a term can go.

use shofar_logic::{LinearPoly, Op, Sort, Term, TermStore};

/// A term without the variable that the literal equates with the variable.
pub(crate) fn definition(store: &TermStore, literal: Term, x: Term) -> Option<Term> {
    let (Op::Eq, &[a, b]) = store.view(literal) else { return None };
    let occurs_in = |term: Term| store.subterms_until(&[term], |part| part == x).contains(&x);
    if !store.sort_of(a).is_arithmetic() {
        return match (a, b) {
            _ if a == x && !occurs_in(b) => Some(b),
            _ if b == x && !occurs_in(a) => Some(a),
            _ => None,
        };
    }
    let sort = store.sort_of(x);
    if store.sort_of(a) != sort {
        return None;
    }
    let poly = LinearPoly::from_term(store, a) - &LinearPoly::from_term(store, b);
    let coefficient = poly.coefficient(x);
    if coefficient.is_zero() || sort == Sort::INT && !coefficient.abs().is_one() {
        return None;
    }
    if poly.terms().iter().any(|(monomial, _)| *monomial != x && occurs_in(*monomial)) {
        return None;
    }
    Some(poly.solved_for(x)?.to_term(store, sort))
}
