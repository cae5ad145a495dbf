//! Interpolants of conflicts of datatypes: a conflict of a proof, projected.
//!
//! A conflict that uses injection, the values of selectors and testers, different constructors or a cycle is a
//! conjunction of a few literals. So projecting models of A's literals until they are covered takes few queries
//! (`fallback.rs`). It gives testers and selectors of shared terms, as in `x = cons(a, s)` and `s = cons(b, x)`, where
//! `s = tl(x)` and `is-cons(x)` separate both sides. A procedure on the coloured graph would have to find the same
//! terms, and guards for them, at each injection that crosses from one side to the other.
//!
//! The cuts of a sequence or tree are treated from the lowest on, as in `stepwise.rs`: the interpolants below a cut
//! take the place of their literals. So each interpolant follows from those below and the literals added (I4), which an
//! independent projection for each cut would not guarantee.

use shofar_logic::{Term, TermStore};

use super::Equality;
use super::cuts::{CutSet, Cuts};
use super::fallback::{Bounds, Failure, any_interpolant, dual_interpolant};

/// The greatest number of disjuncts, or conjuncts, of an interpolant.
pub(super) const MOST_DISJUNCTS: usize = 16;

/// The interpolants of contradictory literals at all cuts. Each literal has the cuts at which it is A's.
pub(super) fn interpolants(
    store: &TermStore,
    cuts: &Cuts,
    literals: &[(Term, &CutSet)],
    equality: Equality,
    bounds: &Bounds<'_>,
) -> Result<Vec<Term>, Failure> {
    let mut found: Vec<Term> = Vec::with_capacity(cuts.len());
    // The highest cuts so far.
    let mut tops: Vec<usize> = Vec::new();
    for cut in 0..cuts.len() {
        let (below, others): (Vec<usize>, Vec<usize>) =
            tops.iter().partition(|top| cuts.below(cut).contains(top));
        let is_in = |of_a: &CutSet, cuts: &[usize]| cuts.iter().any(|&cut| of_a.contains(cut));
        let (mut a, mut b): (Vec<Term>, Vec<Term>) = (Vec::new(), Vec::new());
        for &(literal, of_a) in literals {
            if of_a.contains(cut) {
                a.extend(Some(literal).filter(|_| !is_in(of_a, &below)));
            } else {
                b.extend(Some(literal).filter(|_| !is_in(of_a, &others)));
            }
        }
        let interpolant = match (&a[..], &below[..]) {
            ([], []) => Term::TRUE,
            ([], &[only]) => found[only],
            _ => {
                a.extend(below.iter().map(|&top| found[top]));
                b.extend(others.iter().map(|&top| found[top]));
                match equality {
                    Equality::Strong => any_interpolant(store, &a, &b, bounds)?,
                    Equality::Weak => dual_interpolant(store, &a, &b, bounds)?,
                }
            }
        };
        found.push(interpolant);
        tops = others;
        tops.push(cut);
    }
    Ok(found)
}
