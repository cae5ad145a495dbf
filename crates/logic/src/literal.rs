//! Reads formulas: literals, the members of junctions, and bounds.
//!
//! The readers are for normal formulas (see [`build`](crate::build)): an atom has at most one negation, a junction has
//! no member that is a junction of its own kind, and a comparison of numbers has a sum on the left and a numeral on the
//! right. On other formulas they find less, but nothing wrong.
//!
//! They make no terms, except negations of members if the junction itself is negated.

use crate::linear::LinearPoly;
use crate::number::{Integer, Rational};
use crate::op::Op;
use crate::sort::Sort;
use crate::term::{Term, TermStore};

/// The relation of a sum to a number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Relation {
    /// `<`
    Below,
    /// `<=`
    AtMost,
    /// `=`
    Equal,
    /// Not `=`.
    Different,
    /// `>=`
    AtLeast,
    /// `>`
    Above,
}

impl Relation {
    /// Whether two numbers satisfy the relation.
    pub fn holds(self, left: &Rational, right: &Rational) -> bool {
        match self {
            Relation::Below => left < right,
            Relation::AtMost => left <= right,
            Relation::Equal => left == right,
            Relation::Different => left != right,
            Relation::AtLeast => left >= right,
            Relation::Above => left > right,
        }
    }

    /// The negation of the relation.
    pub fn negated(self) -> Self {
        match self {
            Relation::Below => Relation::AtLeast,
            Relation::AtMost => Relation::Above,
            Relation::Equal => Relation::Different,
            Relation::Different => Relation::Equal,
            Relation::AtLeast => Relation::Below,
            Relation::Above => Relation::AtMost,
        }
    }
}

/// A literal that relates a sum to a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bound<'s> {
    /// The sum, as a term of the sort of the comparison.
    pub sum: Term,
    /// Its relation to the number.
    pub relation: Relation,
    /// The number.
    pub number: &'s Rational,
}

impl Bound<'_> {
    /// The relation and the number, without strict relations on integers: `x > 3` is `x >= 4`.
    pub fn rounded(&self, store: &TermStore) -> (Relation, Rational) {
        match self.relation {
            Relation::Below if store.sort_of(self.sum) == Sort::INT => {
                (Relation::AtMost, self.number - &Rational::ONE)
            }
            Relation::Above if store.sort_of(self.sum) == Sort::INT => {
                (Relation::AtLeast, self.number + &Rational::ONE)
            }
            relation => (relation, self.number.clone()),
        }
    }

    /// The polynomial that has the same relation to zero.
    pub fn poly(&self, store: &TermStore) -> LinearPoly {
        let mut poly = LinearPoly::from_term(store, self.sum);
        poly.add_constant(&-self.number);
        poly
    }
}

/// Iterates over the members of a conjunction or disjunction; any other formula is its own only member.
#[derive(Clone)]
pub struct Members<'s> {
    store: &'s TermStore,
    alone: Option<Term>,
    members: std::slice::Iter<'s, Term>,
    is_negated: bool,
}

impl Iterator for Members<'_> {
    type Item = Term;

    fn next(&mut self) -> Option<Term> {
        match self.members.next() {
            Some(&member) if self.is_negated => Some(self.store.not(member)),
            Some(&member) => Some(member),
            None => self.alone.take(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let length = self.members.len() + usize::from(self.alone.is_some());
        (length, Some(length))
    }
}

impl ExactSizeIterator for Members<'_> {}

impl TermStore {
    /// The formula below a negation, and whether there was no negation.
    pub fn literal(&self, formula: Term) -> (Term, bool) {
        match self.view(formula) {
            (Op::Not, &[atom]) => (atom, false),
            _ => (formula, true),
        }
    }

    /// The formula if `holds`, otherwise its negation.
    pub fn signed(&self, formula: Term, holds: bool) -> Term {
        if holds { formula } else { self.not(formula) }
    }

    /// Whether a term is a variable or a declared constant.
    pub fn is_symbol(&self, term: Term) -> bool {
        matches!(self.view(term), (Op::Var(_) | Op::Apply(_), []))
    }

    /// Whether a term is a formula composed of formulas.
    pub fn is_connective(&self, term: Term) -> bool {
        match self.view(term) {
            (Op::Not | Op::And | Op::Or, _) => true,
            (Op::Eq, args) => self.sort_of(args[0]) == Sort::BOOL,
            (Op::Ite, _) => self.sort_of(term) == Sort::BOOL,
            _ => false,
        }
    }

    /// Whether a formula is an atom or the negation of one.
    pub fn is_literal(&self, formula: Term) -> bool {
        !self.is_connective(self.literal(formula).0)
    }

    /// The formulas whose conjunction is the normal formula: none for `true`.
    pub fn conjuncts(&self, formula: Term) -> Members<'_> {
        self.members(formula, Op::And)
    }

    /// The formulas whose disjunction is the normal formula: none for `false`.
    pub fn disjuncts(&self, formula: Term) -> Members<'_> {
        self.members(formula, Op::Or)
    }

    /// The members of a normal formula as a junction of a kind, [`Op::And`] or [`Op::Or`].
    pub fn members(&self, formula: Term, kind: Op) -> Members<'_> {
        let (neutral, dual) = if kind == Op::And { (Term::TRUE, Op::Or) } else { (Term::FALSE, Op::And) };
        let mut members = Members { store: self, alone: None, members: [].iter(), is_negated: false };
        match self.view(formula) {
            (op, args) if op == kind => members.members = args.iter(),
            (Op::Not, &[inner]) if self.op(inner) == dual => {
                members.members = self.args(inner).iter();
                members.is_negated = true;
            }
            _ => members.alone = (formula != neutral).then_some(formula),
        }
        members
    }

    /// The bound that a normal literal puts on a sum, if it compares one with a number.
    pub fn bound(&self, literal: Term) -> Option<Bound<'_>> {
        let (atom, holds) = self.literal(literal);
        let (op, &[sum, number]) = self.view(atom) else { return None };
        let relation = match op {
            Op::Lt => Relation::Below,
            Op::Le => Relation::AtMost,
            Op::Eq => Relation::Equal,
            _ => return None,
        };
        let number = self.numeral(number)?;
        Some(Bound { sum, relation: if holds { relation } else { relation.negated() }, number })
    }

    /// The dividend and the modulus of a remainder by a positive number.
    pub fn remainder_of(&self, term: Term) -> Option<(Term, Integer)> {
        let (Op::Mod, &[dividend, divisor]) = self.view(term) else { return None };
        let divisor = self.numeral(divisor)?.to_integer()?;
        divisor.is_positive().then_some((dividend, divisor))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbols<const N: usize>(store: &TermStore, names: [&str; N], sort: Sort) -> [Term; N] {
        names.map(|name| store.var(store.symbol(name), sort))
    }

    #[test]
    fn members_of_negated_duals_are_negated() {
        let store = TermStore::new();
        let [p, q] = symbols(&store, ["p", "q"], Sort::BOOL);
        let conjuncts = |formula| store.conjuncts(formula).collect::<Vec<Term>>();
        let disjuncts = |formula| store.disjuncts(formula).collect::<Vec<Term>>();
        let (both, either) = (store.and2(p, q), store.or2(p, q));
        let denied = [store.not(p), store.not(q)];
        assert_eq!(conjuncts(both), [p, q]);
        assert_eq!(disjuncts(both), [both]);
        assert_eq!(conjuncts(store.not(either)), denied);
        assert_eq!(disjuncts(store.not(both)), denied);
        assert_eq!(disjuncts(either), [p, q]);
        assert!(conjuncts(Term::TRUE).is_empty() && disjuncts(Term::FALSE).is_empty());
        assert_eq!(conjuncts(Term::FALSE), [Term::FALSE]);
        assert_eq!(store.conjuncts(both).len(), 2);
        assert_eq!(store.disjuncts(p).len(), 1);
    }

    #[test]
    fn literals_on_sums_are_bounds() {
        let store = TermStore::new();
        let [x, y] = symbols(&store, ["x", "y"], Sort::INT);
        let [r] = symbols(&store, ["r"], Sort::REAL);
        let read = |literal| store.bound(literal).map(|bound| (bound.sum, bound.rounded(&store)));
        let number = |value: i64| Rational::from(value);
        assert_eq!(read(store.gt(x, store.int(3))), Some((x, (Relation::AtLeast, number(4)))));
        assert_eq!(read(store.gt(r, store.real(3))), Some((r, (Relation::Above, number(3)))));
        assert_eq!(read(store.le(r, store.real(3))), Some((r, (Relation::AtMost, number(3)))));
        let different = store.not(store.eq(x, store.int(3)));
        assert_eq!(read(different), Some((x, (Relation::Different, number(3)))));
        let [p, q] = symbols(&store, ["p", "q"], Sort::BOOL);
        assert!([p, store.not(p), store.iff(p, q), Term::TRUE].iter().all(|&it| store.bound(it).is_none()));
        let bound = store.bound(store.lt(store.add(&[x, y]), store.int(5))).unwrap().poly(&store);
        assert_eq!(bound, LinearPoly::from_pairs(vec![(x, number(1)), (y, number(1))], number(-4)));
    }

    #[test]
    fn literals_are_atoms_with_a_sign() {
        let store = TermStore::new();
        let [p, q] = symbols(&store, ["p", "q"], Sort::BOOL);
        let [x, y] = symbols(&store, ["x", "y"], Sort::INT);
        assert_eq!(store.literal(store.not(p)), (p, false));
        assert_eq!(store.signed(p, false), store.not(p));
        assert!([p, store.not(p), store.eq(x, y), store.le(x, y)].iter().all(|&it| store.is_literal(it)));
        let connectives = [store.and2(p, q), store.not(store.or2(p, q)), store.iff(p, q), store.ite(p, q, p)];
        assert!(connectives.iter().all(|&it| !store.is_literal(it)));
    }
}
