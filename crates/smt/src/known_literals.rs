//! A set of true literals and its consequences: the truth of atoms, and bounds on sums.
//!
//! A normal literal on numbers compares a sum with a number (N10 of [`shofar_logic::build`]), so literals on the same
//! sum are bounds on one number, and intervals give their consequences. Consequences of literals on several sums are
//! not found here.

use rustc_hash::FxHashMap;
use shofar_logic::number::Rational;
use shofar_logic::{LinearPoly, Relation, Term, TermStore};

/// True literals, and their consequences as far as found.
pub struct KnownLiterals<'s> {
    store: &'s TermStore,
    /// Formulas other than bounds, without negation, and whether they are true.
    truths: FxHashMap<Term, bool>,
    /// The sums with bounds, in insertion order.
    sums: Vec<Term>,
    intervals: FxHashMap<Term, Interval>,
    is_contradictory: bool,
}

impl<'s> KnownLiterals<'s> {
    /// No facts.
    pub fn new(store: &'s TermStore) -> Self {
        KnownLiterals {
            store,
            truths: FxHashMap::default(),
            sums: Vec::new(),
            intervals: FxHashMap::default(),
            is_contradictory: false,
        }
    }

    /// The facts of a cube.
    pub fn of(store: &'s TermStore, cube: &[Term]) -> Self {
        let mut facts = KnownLiterals::new(store);
        cube.iter().for_each(|&literal| facts.add(literal));
        facts
    }

    /// Adds a normal formula, usually a literal. Any other formula is recorded as true, without consequences for its
    /// parts.
    pub fn add(&mut self, formula: Term) {
        if let Some((sum, bound)) = Interval::of(self.store, formula) {
            let interval = self.intervals.entry(sum).or_insert_with(|| {
                self.sums.push(sum);
                Interval::default()
            });
            interval.meet(bound);
            self.is_contradictory |= interval.is_empty();
            return;
        }
        let (atom, holds) = self.store.literal(formula);
        let is_wrong = match atom {
            Term::TRUE => !holds,
            Term::FALSE => holds,
            _ => self.truths.insert(atom, holds) == Some(!holds),
        };
        self.is_contradictory |= is_wrong;
    }

    /// Whether there are no facts.
    pub fn is_empty(&self) -> bool {
        self.truths.is_empty() && self.sums.is_empty() && !self.is_contradictory
    }

    /// Whether a contradiction was found.
    pub fn is_contradictory(&self) -> bool {
        self.is_contradictory
    }

    /// Whether the formula, without negation, or its negation was added, other than as a bound.
    pub fn contains(&self, atom: Term) -> bool {
        self.truths.contains_key(&atom)
    }

    /// The truth value of a normal formula, if it is known.
    pub fn truth(&self, formula: Term) -> Option<bool> {
        let (atom, holds) = self.store.literal(formula);
        let truth = match atom {
            Term::TRUE => Some(true),
            Term::FALSE => Some(false),
            _ => self.truths.get(&atom).copied().or_else(|| {
                let bound = self.store.bound(atom)?;
                self.intervals.get(&bound.sum)?.decides(bound.relation, bound.number)
            }),
        };
        truth.map(|truth| truth == holds)
    }

    /// Whether a normal literal follows.
    pub fn imply(&self, literal: Term) -> bool {
        self.is_contradictory || self.truth(literal) == Some(true)
    }

    /// The known interval of a sum.
    pub fn interval(&self, sum: Term) -> Option<&Interval> {
        self.intervals.get(&sum)
    }

    /// The sums with their intervals, in insertion order.
    pub fn intervals(&self) -> impl Iterator<Item = (Term, &Interval)> {
        self.sums.iter().map(|&sum| (sum, &self.intervals[&sum]))
    }
}

/// An interval of numbers. Each end may be missing, and may be excluded.
#[derive(Clone, Default)]
pub struct Interval {
    lower: Option<End>,
    upper: Option<End>,
}

#[derive(Clone, PartialEq, Eq)]
struct End {
    number: Rational,
    is_excluded: bool,
}

impl Interval {
    /// The sum that a normal literal bounds, and its interval. A disequality is not a bound.
    pub fn of(store: &TermStore, literal: Term) -> Option<(Term, Interval)> {
        let bound = store.bound(literal)?;
        let (relation, number) = bound.rounded(store);
        let end = |number, is_excluded| Some(End { number, is_excluded });
        let interval = match relation {
            Relation::Equal => Interval { lower: end(number.clone(), false), upper: end(number, false) },
            Relation::Different => return None,
            Relation::AtMost | Relation::Below => {
                Interval { lower: None, upper: end(number, relation == Relation::Below) }
            }
            Relation::AtLeast | Relation::Above => {
                Interval { lower: end(number, relation == Relation::Above), upper: None }
            }
        };
        Some((bound.sum, interval))
    }

    /// Intersects with the other interval.
    fn meet(&mut self, other: Interval) {
        if !is_above(self.lower.as_ref(), other.lower.as_ref()) {
            self.lower = other.lower;
        }
        if !is_below(self.upper.as_ref(), other.upper.as_ref()) {
            self.upper = other.upper;
        }
    }

    fn is_empty(&self) -> bool {
        let (Some(lower), Some(upper)) = (&self.lower, &self.upper) else { return false };
        lower.number > upper.number
            || (lower.number == upper.number && (lower.is_excluded || upper.is_excluded))
    }

    /// Whether it is a subset of the other one. Neither is empty.
    pub fn is_within(&self, other: &Interval) -> bool {
        is_above(self.lower.as_ref(), other.lower.as_ref())
            && is_below(self.upper.as_ref(), other.upper.as_ref())
    }

    /// Whether it has a lower end, and an upper one.
    pub fn sides(&self) -> (bool, bool) {
        (self.lower.is_some(), self.upper.is_some())
    }

    /// The only number in it.
    pub fn value(&self) -> Option<&Rational> {
        let (lower, upper) = (self.lower.as_ref()?, self.upper.as_ref()?);
        (lower.number == upper.number).then_some(&lower.number)
    }

    /// Whether all numbers in it satisfy the relation to a number, or none does. The relation is that of an atom.
    fn decides(&self, relation: Relation, number: &Rational) -> Option<bool> {
        let is_above = self.lower.as_ref().is_some_and(|lower| match relation {
            Relation::Below => lower.number >= *number,
            _ => lower.number > *number || (lower.number == *number && lower.is_excluded),
        });
        if is_above {
            return Some(false);
        }
        let upper = self.upper.as_ref()?;
        let is_below = upper.number < *number || (upper.number == *number && upper.is_excluded);
        match relation {
            Relation::AtMost => (upper.number <= *number).then_some(true),
            Relation::Below => is_below.then_some(true),
            _ if is_below => Some(false),
            _ => (self.value() == Some(number)).then_some(true),
        }
    }

    /// The bounds on a term.
    pub fn literals(&self, store: &TermStore, term: Term) -> Vec<Term> {
        let sort = store.sort_of(term);
        let numeral = |number: &Rational| LinearPoly::from_constant(number.clone()).to_term(store, sort);
        if let Some(value) = self.value() {
            return vec![store.eq(term, numeral(value))];
        }
        let comparison = |small, large, is_strict: bool| match is_strict {
            true => store.lt(small, large),
            false => store.le(small, large),
        };
        let lower = self.lower.iter().map(|end| comparison(numeral(&end.number), term, end.is_excluded));
        let upper = self.upper.iter().map(|end| comparison(term, numeral(&end.number), end.is_excluded));
        lower.chain(upper).collect()
    }
}

/// Whether a lower end is at least as strict as another.
fn is_above(end: Option<&End>, other: Option<&End>) -> bool {
    match (end, other) {
        (_, None) => true,
        (None, _) => false,
        (Some(end), Some(other)) if end.number == other.number => end.is_excluded || !other.is_excluded,
        (Some(end), Some(other)) => end.number > other.number,
    }
}

/// Whether an upper end is at least as strict as another.
fn is_below(end: Option<&End>, other: Option<&End>) -> bool {
    match (end, other) {
        (Some(end), Some(other)) if end.number != other.number => end.number < other.number,
        // For the same number, or for none, as with lower ends.
        _ => is_above(end, other),
    }
}

#[cfg(test)]
mod tests {
    use shofar_logic::Sort;

    use super::*;

    #[test]
    fn literals_follow_from_tighter_ones() {
        let store = TermStore::new();
        let x = store.var(store.symbol("x"), Sort::INT);
        let y = store.var(store.symbol("y"), Sort::REAL);
        let p = store.var(store.symbol("p"), Sort::BOOL);
        let (int, real) = (|n: i64| store.int(n), |n: i64| store.real(n));
        let facts = KnownLiterals::of(&store, &[store.le(y, real(2)), store.eq(x, int(2)), store.not(p)]);
        assert!(facts.imply(store.lt(y, real(3))) && facts.imply(store.ge(x, int(1))));
        assert!(!facts.imply(store.lt(y, real(2))) && !facts.imply(store.ge(x, int(3))));
        assert_eq!(facts.truth(store.lt(y, real(2))), None);
        assert_eq!(facts.truth(store.ge(x, int(3))), Some(false));
        assert_eq!(facts.truth(p), Some(false));
        assert!(!facts.is_contradictory());
        // An integer above 1 and below 3 is 2.
        let facts = KnownLiterals::of(&store, &[store.gt(x, int(1)), store.lt(x, int(3))]);
        assert!(facts.imply(store.eq(x, int(2))));
    }

    #[test]
    fn contradictions_imply_everything() {
        let store = TermStore::new();
        let y = store.var(store.symbol("y"), Sort::REAL);
        let p = store.var(store.symbol("p"), Sort::BOOL);
        let two = store.real(2);
        let cubes = [vec![store.lt(y, two), store.ge(y, two)], vec![p, store.not(p)], vec![Term::FALSE]];
        for cube in cubes {
            let facts = KnownLiterals::of(&store, &cube);
            assert!(facts.is_contradictory() && facts.imply(store.eq(y, store.real(7))));
        }
        assert!(KnownLiterals::of(&store, &[Term::TRUE]).is_empty());
        assert!(!KnownLiterals::of(&store, &[store.le(y, two), store.ge(y, two)]).is_contradictory());
    }
}
