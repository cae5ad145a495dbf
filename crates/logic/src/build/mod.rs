//! Builds terms in normal form.
//!
//! A [`TermStore`] holds two kinds of terms. [`app`](TermStore::app) makes a term *as written*: any operator, nothing
//! changed. The builders of this module make *normal* terms, which have few operators and canonical shapes, so that a
//! solver meets few cases and equal meaning is an equal index if that is cheap to achieve.
//! [`normalize`](TermStore::normalize) turns the first kind into the second, and [`nnf`](TermStore::nnf) pushes
//! negations to the atoms of a normal formula.
//!
//! # The normal form
//!
//! A term is normal if its arguments are and it satisfies the following. An *atom* is a `Bool` term without
//! [`Op::Not`] at its head, a *literal* is an atom or the negation of one; *values* are numerals, bit-vector
//! numerals, `true` and `false`. Sorting is by index.
//!
//! Operators:
//! - N1: the operators are `Var`, `Apply`, numerals, `Forall`, `Exists`, `True`, `False`, `Not`, `And`, `Or`,
//!   `Eq`, `Distinct`, `Ite`; `Add`, `Mul`, `RealDiv`, `IntDiv`, `Mod`, `Le`, `Lt`, `ToReal`, `ToInt`;
//!   `Select`, `Store`, `ConstArray`; `Construct`, `Selector`, `Tester`; `Concat`, `Extract`, `SignExtend`,
//!   `BvNot`, `BvNeg`, `BvAnd`, `BvOr`, `BvXor`, `BvAdd`, `BvMul`, `BvUdiv`, `BvUrem`, `BvShl`, `BvLshr`,
//!   `BvAshr`, `BvUle`, `BvSle`, `BvUmulO`, `BvSmulO`, `UbvToInt`, `SbvToInt`, `IntToBv`.
//!
//! Formulas:
//! - N2: `Not` stands on an atom that is not a truth value.
//! - N3: `And` and `Or` have at least two arguments, sorted by atom, each atom once. No argument of `And` is an
//!   `And` or the negation of an `Or`, no argument of `Or` is an `Or` or the negation of an `And`. No argument
//!   of at most eight parts has another argument as a part, as in `x and (x or y)`, and no argument has only
//!   negations of other arguments as parts, as in `-x and -y and (x or y)`.
//! - N4: `Eq` on `Bool` has two different atoms, sorted. An odd number of negations is one in front of it.
//! - N5: the condition of `Ite` is an atom, the branches differ and are not an `Ite` on the same condition. On
//!   `Bool`, the first branch is an atom, and neither branch is a truth value, the condition, its negation, or
//!   the negation of the other branch.
//! - N6: `Distinct` has more than sixteen arguments, sorted, without repetition; its sort is not `Bool`.
//! - N7: a quantifier binds sorted variables, at least one, all of which occur free in the body.
//!
//! Arithmetic:
//! - N8: a sum is `Add` of at least two multiples of *monomials*, sorted by monomial, each once, with the
//!   constant last unless it is zero. A multiple is `Mul(c, m)` with a numeral `c` other than 0 and 1, or just
//!   `m`. A monomial is none of numeral, sum, multiple; it may be a product.
//! - N9: a product is `Mul` of at least two factors, sorted, none of which is a numeral or a multiple. A factor
//!   that is a sum has integer coefficients and constant without common divisor, the first one positive. A
//!   factor is a product only where flattening would give more than [`MAX_FACTORS`] factors. At most one factor
//!   is a `ToReal`.
//! - N10: an atom is `Le(p, c)`, `Lt(p, c)` or `Eq(p, c)` with a numeral `c` and a nonconstant `p` without
//!   constant whose coefficients are integers without common divisor, the first one positive. On `Int` there is
//!   no `Lt`. On `Real` some monomial is not a `ToReal`. `p` is not an `Ite` between numerals, and if it is a
//!   `Mod` by a nonzero numeral, then `c` lies in its range and decides nothing by itself.
//! - N11: `IntDiv(p, k)` and `Mod(p, k)` by a numeral have `k = 0` or `k >= 2`. In the latter case the
//!   coefficients of `p` lie in `(-k/2, k/2]` and have no divisor in common with `k`, and the constant lies in
//!   `[0, k)`. `Mod` has no summand `c * Mod(q, m)` with `k` dividing `c * m`.
//! - N12: `RealDiv` has two arguments, the second is zero or not a numeral.
//! - N13: `ToReal` stands on a monomial that is not a numeral. `ToInt(p)` has a constant in `[0, 1)`, no `ToReal`
//!   of a coefficient outside of `(-1/2, 1/2]`, and some monomial that is not a `ToReal`.
//!
//! Arrays and datatypes:
//! - N14: in `Select(a, i)`, `a` is neither a constant array nor a write at `i` or at an index known to differ
//!   from `i`: one that differs by a nonzero constant, or another value. `Store(a, i, v)` is not a write over a
//!   write at `i`, and `v` is not found there already below a few writes.
//! - N15: a `Selector` does not stand on its own constructor, a `Tester` not on any, and neither the tester of
//!   an only constructor nor that of the second of two occurs.
//! - N16: other equalities have two different arguments, sorted, and are not between two constructor terms, two
//!   constant arrays or two values.
//!
//! Bit-vectors:
//! - N17: no operator has values only as arguments. `BvAnd`, `BvOr` and `BvXor` are flat, sorted as in N3 with
//!   the constant last; `BvXor` has no negated argument, and not the constant of all ones. Sums and products
//!   are as in N8 and N9, modulo the width, with `BvNeg(m)` for the coefficient minus one; sums in products
//!   keep their common divisors. No division, remainder or shift is by a value that a part or a
//!   concatenation expresses (zero, powers of two, any distance).
//! - N18: comparisons with a constant have it on the right, where it is neither of the least, the greatest and
//!   that before the greatest value in the order. Equalities with a constant have it on the right and nothing
//!   invertible (`BvNot`, `BvNeg`, a constant summand) on the left; the only one on one bit is that with one.
//! - N19: a `Concat` has no two neighbours that are both values or that are neighbouring parts of one vector. It
//!   has a `Concat` as a part only where there would be more than 64 parts otherwise. `Extract` is a proper part
//!   and stands neither on `Extract`, `Concat`, nor on a `SignExtend` whose argument has all its bits.
//! - N20: no `UbvToInt` or `SbvToInt`, comparison or test for overflow stands on vectors that are made from integers by
//!   operators that integer arithmetic expresses (`bits.rs`).
//!
//! # What is guaranteed
//!
//! - Every builder that gets normal arguments returns a normal term.
//! - The result is equivalent to the operator applied to the arguments, in every interpretation. This includes the
//!   functions that SMT-LIB leaves open at some points: `x / 0`, `x div 0`, `x mod 0` and a selector on a term of
//!   another constructor may have any value, but the same for equal arguments, and stay unchanged.
//! - A normal term is its own normal form: building it again from its parts gives the same index.
//! - Polynomials that are equal up to the order and grouping of sums, and atoms that are equal up to a factor,
//!   sides, and integer rounding, become the same term; so do the two ways to write a literal.
//!
//! # What is not
//!
//! - Terms of equal meaning may differ. Products of sums are not multiplied out, the context of a term is not used,
//!   `And` and `Or` are not distributed, and De Morgan's laws are applied only if they make a formula flatter.
//! - A flat term lists its parts. If every prefix of a long chain is used separately, there are as many lists, of a
//!   total length quadratic in the chain.
//! - The order of arguments is that of creation. It is the same in each run of one thread, but has no meaning.
//! - Numbers grow without bound; [`Magnitudes`] estimate their size beforehand.
//!
//! In all methods except [`build`](TermStore::build), the caller must pass arguments of the right sorts. A call with
//! wrong sorts is a bug and panics.

mod arith;
mod array;
mod bits;
mod bitvec;
mod boolean;
mod datatype;
mod magnitude;
mod normalize;

pub use magnitude::Magnitudes;

use crate::op::Op;
use crate::term::{Term, TermStore};
use crate::typing::SortError;

/// The greatest number of factors up to which products are flattened. Without a bound, repeated squaring would give
/// products of exponential length.
pub const MAX_FACTORS: usize = 32;

impl TermStore {
    /// The normal form of an operator applied to normal arguments, or an error if their sorts do not fit.
    pub fn build(&self, op: Op, args: &[Term]) -> Result<Term, SortError> {
        self.result_sort(op, args)?;
        Ok(self.build_sorted(op, args))
    }

    /// [`build`](Self::build) for arguments whose sorts are known to fit.
    pub(crate) fn build_sorted(&self, op: Op, args: &[Term]) -> Term {
        match (op, args) {
            (Op::Apply(_), _) => self.raw(op, args),
            (Op::Forall, [variables @ .., body]) => self.forall(variables, *body),
            (Op::Exists, [variables @ .., body]) => self.exists(variables, *body),

            (Op::True, _) => Term::TRUE,
            (Op::False, _) => Term::FALSE,
            (Op::Not, &[a]) => self.not(a),
            (Op::And, _) => self.and(args),
            (Op::Or, _) => self.or(args),
            (Op::Xor, _) => self.left(args, |a, b| self.xor(a, b)),
            (Op::Implies, [premises @ .., conclusion]) => {
                self.or_of(premises.iter().map(|&premise| self.not(premise)).chain([*conclusion]))
            }
            (Op::Eq, _) => self.chain(args, |a, b| self.eq(a, b)),
            (Op::Distinct, _) => self.distinct(args),
            (Op::Ite, &[condition, a, b]) => self.ite(condition, a, b),

            (Op::Add, _) => self.add(args),
            (Op::Sub, _) => self.left(args, |a, b| self.sub(a, b)),
            (Op::Neg, &[a]) => self.neg(a),
            (Op::Mul, _) => self.mul(args),
            (Op::RealDiv, _) => self.left(args, |a, b| self.real_div(a, b)),
            (Op::IntDiv, _) => self.left(args, |a, b| self.int_div(a, b)),
            (Op::Mod, &[a, b]) => self.modulo(a, b),
            (Op::Abs, &[a]) => self.abs(a),
            (Op::Le, _) => self.chain(args, |a, b| self.le(a, b)),
            (Op::Lt, _) => self.chain(args, |a, b| self.lt(a, b)),
            (Op::Ge, _) => self.chain(args, |a, b| self.ge(a, b)),
            (Op::Gt, _) => self.chain(args, |a, b| self.gt(a, b)),
            (Op::ToReal, &[a]) => self.to_real(a),
            (Op::ToInt, &[a]) => self.to_int(a),
            (Op::IsInt, &[a]) => self.is_int(a),
            (Op::Divisible(divisor), &[a]) => self.divisible(self.integer(divisor), a),

            (Op::Select, &[array, index]) => self.select(array, index),
            (Op::Store, &[array, index, value]) => self.store_array(array, index, value),
            (Op::ConstArray(sort), &[value]) => self.const_array(sort, value),

            (Op::Construct(constructor), _) => self.construct_term(constructor, args),
            (Op::Selector { constructor, field }, &[a]) => self.selector(constructor, field, a),
            (Op::Tester(constructor), &[a]) => self.tester(constructor, a),

            _ => self.build_bitvec(op, args),
        }
    }

    /// The application of an operator, without normalising it.
    fn raw(&self, op: Op, args: &[Term]) -> Term {
        self.app(op, args).expect("builders get arguments of the right sorts and keep them")
    }

    /// A left-associative operator on any number of arguments.
    fn left(&self, args: &[Term], step: impl Fn(Term, Term) -> Term) -> Term {
        args.iter().copied().reduce(step).expect("left-associative operators have arguments")
    }

    /// A chainable operator on any number of arguments.
    fn chain(&self, args: &[Term], step: impl Fn(Term, Term) -> Term) -> Term {
        match *args {
            [a, b] => step(a, b),
            _ => self.and_of(args.windows(2).map(|pair| step(pair[0], pair[1]))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sort::Sort;

    #[test]
    fn wrong_sorts_are_reported() {
        let store = TermStore::new();
        let x = store.var(store.symbol("x"), Sort::INT);
        assert!(store.build(Op::And, &[x, Term::TRUE]).is_err());
        assert!(store.build(Op::Add, &[]).is_err());
        assert!(store.build(Op::Le, &[x]).is_err());
    }

    #[test]
    fn chains_and_left_associative_operators_take_many_arguments() {
        let store = TermStore::new();
        let [x, y, z] = ["x", "y", "z"].map(|name| store.var(store.symbol(name), Sort::INT));
        let ascending = store.and2(store.lt(x, y), store.lt(y, z));
        assert_eq!(store.build(Op::Lt, &[x, y, z]), Ok(ascending));
        assert_eq!(store.build(Op::Sub, &[x, y, z]), Ok(store.sub(store.sub(x, y), z)));
        assert_eq!(store.build(Op::IntDiv, &[x, y, z]), Ok(store.int_div(store.int_div(x, y), z)));
        let [p, q, r] = ["p", "q", "r"].map(|name| store.var(store.symbol(name), Sort::BOOL));
        let implication = store.implies(p, store.implies(q, r));
        assert_eq!(store.build(Op::Implies, &[p, q, r]), Ok(implication));
        assert_eq!(store.build(Op::Xor, &[p, q, r]), Ok(store.xor(store.xor(p, q), r)));
        assert_eq!(store.build(Op::Eq, &[p, q, r]), Ok(store.and2(store.iff(p, q), store.iff(q, r))));
    }
}
