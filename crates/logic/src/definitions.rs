//! Equations that define symbols: selects conjuncts `x = t`, `p`, `not p`, `p = f` that are definitions together.
//!
//! A *round* visits conjuncts, and takes those as definitions whose symbol the caller can eliminate:
//!
//! | conjunct | definition |
//! |---|---|
//! | `p`, `not p` | `p := true`, `p := false` |
//! | `p = f`, `not (p = f)` | `p := f`, `p := not f` |
//! | `a x + s = c`, with a unit `a` on integers | `x := (c - s) / a` |
//! | `x = t` of any other sort | `x := t` |
//!
//! - D1: no symbol that the round defines occurs in one of its definitions. So one pass replaces it everywhere else.
//!
//! The caller decides, by a rank, which symbols may be defined at all and which symbol of an equation is. It also
//! decides how often rounds are repeated, and where definitions are substituted. Each round halves a chain of
//! equations, so few rounds are needed.

use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use crate::linear::LinearPoly;
use crate::literal::Relation;
use crate::op::Op;
use crate::sort::Sort;
use crate::subst::Substitution;
use crate::term::{Term, TermStore};

/// Up to this many terms are searched linearly. A table would cost more than it saves.
const FEW: usize = 64;

/// A symbol and its definition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Definition {
    /// The symbol.
    pub symbol: Term,
    /// A term in which it does not occur.
    pub definition: Term,
}

/// The definitions of one round.
#[derive(Clone, Debug)]
pub struct Round {
    /// The greatest number of subterms of a definition.
    most_subterms: usize,
    definitions: Substitution,
    /// The symbols in the definitions.
    used: FxHashSet<Term>,
}

impl Round {
    /// An empty round, for definitions with at most this many subterms.
    pub fn new(most_subterms: usize) -> Self {
        Round { most_subterms, definitions: Substitution::new(), used: FxHashSet::default() }
    }

    /// The definitions of the round.
    pub fn definitions(&self) -> &Substitution {
        &self.definitions
    }

    /// Turns a normal conjunct into a definition, if it has the right form and D1 allows it.
    ///
    /// It defines the symbol of least rank. A symbol without rank is not defined. Besides the symbol, `rank` gets the
    /// number of summands that would replace it.
    pub fn take<K: Ord>(
        &mut self,
        store: &TermStore,
        conjunct: Term,
        rank: impl Fn(Term, usize) -> Option<K>,
    ) -> Option<Definition> {
        let rank = |term: Term, summands: usize| {
            let is_open =
                store.is_symbol(term) && !self.used.contains(&term) && self.definitions.get(term).is_none();
            if is_open { rank(term, summands) } else { None }
        };
        let (formula, holds) = store.literal(conjunct);
        let (symbol, definition) = match store.view(formula) {
            (Op::Eq, &[a, b]) if store.sort_of(a) == Sort::BOOL => {
                let (symbol, other) = side(a, b, rank)?;
                (symbol, store.signed(other, holds))
            }
            (Op::Eq, &[sum, _]) if holds && store.sort_of(sum).is_arithmetic() => {
                let equation = store.bound(formula).filter(|bound| bound.relation == Relation::Equal)?;
                let sort = store.sort_of(equation.sum);
                let (symbol, value) = summand(&equation.poly(store), sort, rank)?;
                (symbol, value.to_term(store, sort))
            }
            (Op::Eq, &[a, b]) if holds => side(a, b, rank)?,
            _ => rank(formula, 0).map(|_| (formula, store.bool(holds)))?,
        };
        let symbols = few_symbols(store, definition, self.most_subterms)?;
        if symbols.iter().any(|&other| other == symbol || self.definitions.get(other).is_some()) {
            return None;
        }
        self.used.extend(symbols);
        self.definitions.insert(symbol, definition);
        Some(Definition { symbol, definition })
    }
}

/// The side of `a = b` with the least rank, and the other one.
fn side<K: Ord>(a: Term, b: Term, rank: impl Fn(Term, usize) -> Option<K>) -> Option<(Term, Term)> {
    let sides = [(a, b), (b, a)].into_iter();
    let ranked = sides.filter_map(|side| Some((rank(side.0, 1)?, side)));
    ranked.min_by(|(one, _), (other, _)| one.cmp(other)).map(|(_, side)| side)
}

/// The monomial of least rank for which an equation `sum = 0` can be solved, and its solution. On integers, its
/// coefficient must be a unit, and the constant an integer: otherwise the equation has no solution.
pub fn summand<K: Ord>(
    sum: &LinearPoly,
    sort: Sort,
    rank: impl Fn(Term, usize) -> Option<K>,
) -> Option<(Term, LinearPoly)> {
    if sort == Sort::INT && !sum.constant().is_integer() {
        return None;
    }
    let others = sum.terms().len().checked_sub(1)?;
    let solvable =
        sum.terms().iter().filter(|(_, factor)| sort == Sort::REAL || factor.is_one() || (-factor).is_one());
    let ranked = solvable.filter_map(|&(monomial, _)| Some((rank(monomial, others)?, monomial)));
    let (_, monomial) = ranked.min()?;
    Some((monomial, sum.solved_for(monomial)?))
}

/// The symbols of a term, unless it has more than `most_subterms` subterms, or quantifiers.
pub fn few_symbols(store: &TermStore, term: Term, most_subterms: usize) -> Option<Vec<Term>> {
    let mut few: SmallVec<[Term; 16]> = SmallVec::new();
    let mut many: FxHashSet<Term> = FxHashSet::default();
    let mut symbols = Vec::new();
    let mut open: SmallVec<[Term; 16]> = SmallVec::from_slice(&[term]);
    while let Some(term) = open.pop() {
        if few.contains(&term) {
            continue;
        }
        if few.len() < FEW {
            few.push(term);
        } else if !many.insert(term) {
            continue;
        }
        let (op, args) = store.view(term);
        let seen = few.len() + many.len();
        if seen.max(args.len()) > most_subterms || matches!(op, Op::Forall | Op::Exists) {
            return None;
        }
        if store.is_symbol(term) {
            symbols.push(term);
        }
        open.extend_from_slice(args);
    }
    Some(symbols)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbols<const N: usize>(store: &TermStore, names: [&str; N], sort: Sort) -> [Term; N] {
        names.map(|name| store.var(store.symbol(name), sort))
    }

    /// Ranks younger symbols first.
    fn youngest(symbol: Term, _: usize) -> Option<std::cmp::Reverse<Term>> {
        Some(std::cmp::Reverse(symbol))
    }

    /// The table of the module documentation.
    #[test]
    fn each_kind_of_conjunct_is_read_as_a_definition() {
        let store = TermStore::new();
        let [p, q] = symbols(&store, ["p", "q"], Sort::BOOL);
        let [x, y] = symbols(&store, ["x", "y"], Sort::INT);
        let [r, s] = symbols(&store, ["r", "s"], Sort::REAL);
        let defined = |conjunct: Term| {
            let found = Round::new(64).take(&store, conjunct, youngest);
            found.map(|Definition { symbol, definition }| (symbol, definition))
        };
        assert_eq!(defined(p), Some((p, Term::TRUE)));
        assert_eq!(defined(store.not(p)), Some((p, Term::FALSE)));
        assert_eq!(defined(store.iff(p, q)), Some((q, p)));
        assert_eq!(defined(store.not(store.iff(p, q))), Some((q, store.not(p))));
        assert_eq!(
            defined(store.eq(x, store.add(&[y, store.int(3)]))),
            Some((y, store.sub(x, store.int(3))))
        );
        let double = |term: Term| store.add(&[term, term]);
        assert_eq!(defined(store.eq(double(y), x)), Some((x, double(y))));
        let triple = store.add(&[y, y, y]);
        assert_eq!(defined(store.eq(double(x), triple)), None, "no coefficient is a unit");
        let half = store.real(crate::number::Rational::new(1.into(), 2.into()));
        assert_eq!(defined(store.eq(double(s), r)), Some((s, store.mul(&[half, r]))));
        assert_eq!(defined(store.lt(x, y)), None);
        assert_eq!(defined(store.not(store.eq(x, y))), None);
    }

    /// D1.
    #[test]
    fn no_defined_symbol_is_in_a_definition_of_the_round() {
        let store = TermStore::new();
        let x: Vec<Term> = (0..64).map(|i| store.var(store.symbol(&format!("x{i}")), Sort::INT)).collect();
        let mut round = Round::new(64);
        let mut taken: Vec<Definition> = Vec::new();
        for pair in x.windows(2) {
            let link = store.eq(pair[1], store.add(&[pair[0], store.int(1)]));
            taken.extend(round.take(&store, link, youngest));
        }
        assert!(taken.len() >= 31, "{}", taken.len());
        let defined: FxHashSet<Term> = taken.iter().map(|it| it.symbol).collect();
        assert_eq!(defined.len(), taken.len());
        for Definition { symbol, definition } in taken {
            assert_eq!(round.definitions().get(symbol), Some(definition));
            assert!(store.free_vars(&[definition]).iter().all(|variable| !defined.contains(variable)));
        }
        let f = store.fun(store.symbol("f"), &[Sort::INT], Sort::INT);
        let cycle = store.eq(x[0], store.apply(f, &[x[0]]).expect("f takes an integer"));
        assert_eq!(Round::new(64).take(&store, cycle, youngest), None);
    }

    #[test]
    fn ranks_choose_and_forbid() {
        let store = TermStore::new();
        let [x, y, z] = symbols(&store, ["x", "y", "z"], Sort::INT);
        let equation = store.eq(x, store.add(&[y, z]));
        let by = |rank: &dyn Fn(Term, usize) -> Option<usize>| {
            Round::new(64).take(&store, equation, rank).map(|it| it.symbol)
        };
        assert_eq!(by(&|term, _| (term == y).then_some(0)), Some(y));
        assert_eq!(by(&|term, _| Some(usize::from(term != z))), Some(z));
        assert_eq!(by(&|_, summands| (summands < 2).then_some(0)), None);
    }

    #[test]
    fn symbols_of_big_terms_are_not_looked_for() {
        let store = TermStore::new();
        let x: Vec<Term> = (0..200).map(|i| store.var(store.symbol(&format!("x{i}")), Sort::INT)).collect();
        let sum = store.add(&x);
        assert_eq!(few_symbols(&store, sum, 199), None);
        let mut found = few_symbols(&store, sum, 201).expect("it has 201 subterms");
        found.sort_unstable();
        assert_eq!(found, x);
    }
}
