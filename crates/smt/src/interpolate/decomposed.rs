//! Decomposed Farkas interpolants: conjunctions of inequalities, stronger than their sum.
//!
//! Let `k` be the multipliers of the inequalities of A in a Farkas sum, and `L` the matrix of the coefficients of the
//! *local* monomials, those that B does not have. The sum has no locals: `k^T L = 0`. If `k` is itself a sum of vectors
//! `w_i >= 0` with `w_i^T L = 0`, then the sum of A with each `w_i` is an inequality without locals as well. A implies
//! each of them, and together they imply the sum with `k`, which contradicts B. So their conjunction is an interpolant,
//! and a stronger one:
//!
//! ```text
//! decomposed  =>  Farkas  =>  dual Farkas  =>  dual decomposed
//! ```
//!
//! The dual decomposed interpolant, a disjunction, is the negation of the decomposed one with A and B exchanged.
//!
//! ```text
//! each inequality without locals stands alone
//! of the others, M = L^T and v = k > 0:
//!     M <- reduced row echelon form
//!     b_f <- the basis of the kernel of M, one for each free column f;  v = sum of v[f] * b_f
//!     K_f <- max(0, max_j -b_f[j] / v[j])                 how much of v makes b_f non-negative
//!     C   <- 1 + sum of K_f * v[f]
//!     w_f <- v[f] * (b_f + K_f * v) / C
//! ```
//!
//! The vectors `b_f + K_f*v` are again a basis of the kernel, none has a negative entry, and `v` has the positive
//! coordinates `v[f] / C` in it. The result depends only on the order of the inequalities, which determines the pivots.
//! The multipliers of a conjunct determine whether it is strict.
//!
//! The whole problem, not the conflict, determines which monomials are local.
//!
//! **Sequences and trees.** If two cuts are decomposed independently, their components need not imply each other,
//! because the basis changes with the cut. Therefore the decomposition is *gradual* along cuts whose A grows:
//!
//! ```text
//! components(cut)  <-  decompose the components of the cuts right below and the inequalities that are new in A,
//!                      without the monomials that are local now
//! ```
//!
//! The components of a cut are positive combinations of those below and of new inequalities, and so follow from them.
//! Sequences and trees of interpolants need exactly this of a lemma. Nothing is lost: a monomial local at a smaller cut
//! occurs in no new inequality, since B has all monomials of these. So the part of a vector of the larger kernel that
//! belongs to a smaller A is in the kernel there, where the components are a basis. The gradual decomposition therefore
//! has as many components as the direct one. For B the decomposition proceeds from larger to smaller cuts.
//!
//! M. Blicha, A. Hyvärinen, J. Kofroň, N. Sharygina, "Decomposing Farkas interpolants" (TACAS 2019), Algorithm 1. There
//! the vectors are repaired entry by entry; the closed form above gives the same vectors at once. Which Farkas
//! interpolants are tree interpolants: S. Asadi, M. Blicha, A. Hyvärinen, G. Fedyukovich, N. Sharygina, "Farkas-based
//! tree interpolation" (SAS 2020).

use shofar_logic::number::Rational;
use shofar_logic::{Term, TermStore};

use super::farkas::Summand;
use crate::proof::Inequality;

/// A conjunction of inequalities without the monomials that are local to A.
pub fn decomposed(store: &TermStore, summands: &[Summand], is_local: impl FnMut(Term) -> bool) -> Term {
    of_side(store, summands, true, is_local)
}

/// A disjunction of inequalities without the monomials that are local to B.
pub fn dual_decomposed(store: &TermStore, summands: &[Summand], is_local: impl FnMut(Term) -> bool) -> Term {
    of_side(store, summands, false, is_local)
}

fn of_side(store: &TermStore, summands: &[Summand], in_a: bool, is_local: impl FnMut(Term) -> bool) -> Term {
    let mine = summands.iter().filter(|summand| summand.in_a == in_a);
    let mine: Vec<Component> = mine.map(|summand| summand.clone().into()).collect();
    if mine.len() == summands.len() {
        return store.bool(!in_a);
    }
    interpolant(store, &mut components(mine, is_local), in_a)
}

/// An inequality of the decomposition.
#[derive(Clone)]
pub(super) struct Component {
    pub(super) summand: Summand,
    /// Its formula in the interpolant, computed on demand.
    formula: Option<Term>,
}

impl From<Summand> for Component {
    fn from(summand: Summand) -> Self {
        Component { summand, formula: None }
    }
}

/// The formula of the components of a side: their conjunction for A, its negation for B.
pub(super) fn interpolant(store: &TermStore, components: &mut [Component], in_a: bool) -> Term {
    let formulas = components.iter_mut().map(|Component { summand, formula }| {
        let inequality = &summand.inequality;
        *formula.get_or_insert_with(|| match in_a {
            true => inequality.to_term(store),
            false => inequality.clone().negation().to_term(store),
        })
    });
    if in_a { store.and_of(formulas) } else { store.or_of(formulas) }
}

/// Inequalities without locals that follow from those of one side and have the same weighted sum.
pub(super) fn components(mine: Vec<Component>, mut is_local: impl FnMut(Term) -> bool) -> Vec<Component> {
    let mut locals: Vec<Term> = Vec::new();
    let (mut alone, mut entangled): (Vec<Component>, Vec<Summand>) = (Vec::new(), Vec::new());
    for component in mine {
        let before = locals.len();
        let monomials = component.summand.inequality.form.terms().iter().map(|(monomial, _)| *monomial);
        locals.extend(monomials.filter(|&monomial| is_local(monomial)));
        if locals.len() == before {
            alone.push(component);
        } else {
            entangled.push(component.summand);
        }
    }
    let Some(in_a) = entangled.first().map(|summand| summand.in_a) else { return alone };
    locals.sort_unstable();
    locals.dedup();
    let row = |&local: &Term| entangled.iter().map(|s| s.inequality.form.coefficient(local)).collect();
    let matrix: Vec<Vec<Rational>> = locals.iter().map(row).collect();
    let weights: Vec<Rational> = entangled.iter().map(|summand| summand.weight.clone()).collect();
    let combine = |weights: Vec<Rational>| {
        let mut inequality = Inequality::default();
        for (summand, weight) in std::iter::zip(&entangled, &weights) {
            inequality.add_scaled(&summand.inequality, weight);
        }
        Summand { inequality, weight: Rational::ONE, in_a }.into()
    };
    alone.extend(decompose(matrix, &weights).into_iter().map(combine));
    alone
}

/// Decomposes `v`, a vector of the kernel of the matrix with positive entries only, into a sum of vectors of the kernel
/// without negative entries. Their number is the dimension of the kernel.
pub fn decompose(mut matrix: Vec<Vec<Rational>>, v: &[Rational]) -> Vec<Vec<Rational>> {
    let pivots = reduce(&mut matrix, v.len());
    let is_free = |column: &usize| pivots.binary_search(column).is_err();
    let free: Vec<usize> = (0..v.len()).filter(is_free).collect();
    if free.len() <= 1 {
        return free.iter().map(|_| v.to_vec()).collect();
    }
    let basis: Vec<Vec<Rational>> =
        free.iter().map(|&column| kernel_vector(&matrix, &pivots, column, v.len())).collect();
    let missing: Vec<Rational> = basis
        .iter()
        .map(|b| std::iter::zip(b, v).fold(Rational::ZERO, |most, (b, v)| most.max(-(b / v))))
        .collect();
    let mut scale = Rational::ONE;
    for (column, missing) in std::iter::zip(&free, &missing) {
        scale.add_mul(missing, &v[*column]);
    }
    let vector = |position: usize| {
        let coordinate = &v[free[position]] / &scale;
        let entries = std::iter::zip(&basis[position], v);
        entries.map(|(b, v)| &coordinate * &(b + &(&missing[position] * v))).collect()
    };
    (0..free.len()).map(vector).collect()
}

/// Brings the matrix to reduced row echelon form, without rows of zeros, and returns its pivot columns, ascending.
fn reduce(matrix: &mut Vec<Vec<Rational>>, columns: usize) -> Vec<usize> {
    let mut pivots = Vec::new();
    for column in 0..columns {
        let rank = pivots.len();
        let Some(found) = (rank..matrix.len()).find(|&row| !matrix[row][column].is_zero()) else { continue };
        matrix.swap(rank, found);
        let inverse = matrix[rank][column].recip();
        matrix[rank].iter_mut().for_each(|entry| *entry *= &inverse);
        let pivot_row = matrix[rank].clone();
        for (_, row) in matrix.iter_mut().enumerate().filter(|&(row, _)| row != rank) {
            let factor = row[column].clone();
            if !factor.is_zero() {
                std::iter::zip(row, &pivot_row).for_each(|(entry, pivot)| entry.sub_mul(pivot, &factor));
            }
        }
        pivots.push(column);
    }
    matrix.truncate(pivots.len());
    pivots
}

/// The vector of the kernel that is one in this free column and zero in the others.
fn kernel_vector(matrix: &[Vec<Rational>], pivots: &[usize], free: usize, columns: usize) -> Vec<Rational> {
    let mut vector = vec![Rational::ZERO; columns];
    vector[free] = Rational::ONE;
    for (row, &pivot) in std::iter::zip(matrix, pivots) {
        vector[pivot] = -&row[free];
    }
    vector
}
