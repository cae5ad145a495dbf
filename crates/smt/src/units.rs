//! Unit propagation over formulas, before they become clauses.
//!
//! Little more than inspection often decides a query that checks an invariant: once symbols are replaced by their
//! definitions, the members of the claim are among the known facts, or are weaker bounds on the same sum. Giving atoms
//! variables, rows and clauses would be most of the work. So the conjuncts that are literals become *facts* here, and
//! disjunctions lose the members that facts exclude:
//!
//! ```text
//! x <= 3, not (y = 0 and x <= 5)      becomes  x <= 3, not (y = 0)
//! x <= 3, p, (not p or x > 3 or q)    becomes  x <= 3, p, q
//! ```
//!
//! The result is equivalent to the input. Consequences of bounds on several sums are left to the simplex kernel.

use shofar_logic::{Op, Term, TermStore};

use crate::known_literals::KnownLiterals;

/// The greatest number of passes over disjunctions.
const MOST_ROUNDS: usize = 4;
/// The greatest depth to which members are inspected.
const MOST_LEVELS: usize = 4;
/// The greatest number of inspected members of members. Shared ones are inspected at each occurrence.
const MOST_VISITS: usize = 1 << 16;

/// Normal formulas without those that follow from others, as far as found; or `false` alone.
pub(crate) fn propagate(store: &TermStore, conjuncts: impl Iterator<Item = Term>) -> Vec<Term> {
    let mut units = Units::new(store);
    let mut news: Vec<Term> = conjuncts.collect();
    for _ in 0..MOST_ROUNDS {
        news.reverse();
        if !units.take(&mut news) {
            return vec![Term::FALSE];
        }
        units.reduce_clauses(&mut news);
        if news.is_empty() {
            break;
        }
    }
    [units.literals, units.clauses, news].concat()
}

/// Conjuncts, and the facts that their literals give.
struct Units<'s> {
    store: &'s TermStore,
    literals: Vec<Term>,
    /// The disjunctions and negated conjunctions.
    clauses: Vec<Term>,
    /// All conjuncts. A disjunction is a fact for conjuncts that contain it, and none contains itself: so no conjunct
    /// is dropped because of itself.
    facts: KnownLiterals<'s>,
    visits: usize,
}

impl<'s> Units<'s> {
    fn new(store: &'s TermStore) -> Self {
        Units {
            store,
            literals: Vec::new(),
            clauses: Vec::new(),
            facts: KnownLiterals::new(store),
            visits: 0,
        }
    }

    /// Adds all formulas of a stack; splits conjunctions. Returns `false` if a literal contradicts another.
    fn take(&mut self, stack: &mut Vec<Term>) -> bool {
        let store = self.store;
        while let Some(formula) = stack.pop() {
            let (atom, holds) = store.literal(formula);
            match (store.view(atom), holds) {
                ((Op::And, args), true) => stack.extend(args.iter().rev()),
                ((Op::Or, args), false) => stack.extend(args.iter().rev().map(|&arg| store.not(arg))),
                (view, _) => match self.facts.truth(formula) {
                    Some(true) => {}
                    Some(false) => return false,
                    None => {
                        let is_junction = matches!(view.0, Op::And | Op::Or);
                        if is_junction { &mut self.clauses } else { &mut self.literals }.push(formula);
                        self.facts.add(formula);
                    }
                },
            }
        }
        true
    }

    /// Drops clauses that facts satisfy, and moves clauses with excluded members to `reduced`, without these members.
    fn reduce_clauses(&mut self, reduced: &mut Vec<Term>) {
        let mut clauses = std::mem::take(&mut self.clauses);
        clauses.retain(|&clause| match self.reduce(clause) {
            Some(Term::TRUE) => false,
            Some(smaller) => {
                reduced.push(smaller);
                false
            }
            None => true,
        });
        self.clauses = clauses;
    }

    /// The value of a formula by the facts.
    fn value(&mut self, formula: Term, level: usize) -> Option<bool> {
        let (op, args) = self.store.view(formula);
        if op == Op::Not {
            return self.value(args[0], level).map(|value| !value);
        }
        if matches!(op, Op::And | Op::Or) && level < MOST_LEVELS && self.visits < MOST_VISITS {
            self.visits += args.len();
            let absorbing = op == Op::Or;
            let mut is_neutral = true;
            for &member in args {
                match self.value(member, level + 1) {
                    Some(value) if value == absorbing => return Some(absorbing),
                    Some(_) => {}
                    None => is_neutral = false,
                }
            }
            if is_neutral {
                return Some(!absorbing);
            }
        }
        self.facts.truth(formula)
    }

    /// A disjunction without the members that facts exclude; `None` if it does not change.
    fn reduce(&mut self, clause: Term) -> Option<Term> {
        let store = self.store;
        let (junction, sign) = store.literal(clause);
        let members = store.args(junction);
        let mut left: Vec<Term> = Vec::new();
        for &member in members {
            match self.value(member, 1) {
                Some(value) if value == sign => return Some(Term::TRUE),
                Some(_) => {}
                None => left.push(member),
            }
        }
        if left.len() == members.len() {
            return None;
        }
        Some(if sign { store.or_of(left) } else { store.not(store.and_of(left)) })
    }
}

#[cfg(test)]
mod tests {
    use shofar_logic::number::Rational;
    use shofar_logic::{Assignment, Sort, Value};

    use super::*;

    fn propagated(store: &TermStore, conjuncts: &[Term]) -> Vec<Term> {
        propagate(store, conjuncts.iter().copied())
    }

    #[test]
    fn facts_decide_members() {
        let store = TermStore::new();
        let [x, y] = ["x", "y"].map(|name| store.var(store.symbol(name), Sort::INT));
        let [p, q] = ["p", "q"].map(|name| store.var(store.symbol(name), Sort::BOOL));
        let at_most = |term: Term, number: i64| store.le(term, store.int(number));
        let is = |term: Term, number: i64| store.eq(term, store.int(number));

        let claim = store.not(store.and2(is(y, 0), at_most(x, 5)));
        assert_eq!(propagated(&store, &[claim, at_most(x, 3)]), [at_most(x, 3), store.not(is(y, 0))]);
        let claim = store.or_of([store.not(p), store.not(at_most(x, 3)), q]);
        assert_eq!(propagated(&store, &[at_most(x, 3), claim, p]), [at_most(x, 3), p, q]);
        // The junction is a fact as a whole, and stays.
        let known = store.or2(p, is(y, 1));
        let claim = store.not(store.and2(known, at_most(x, 3)));
        assert_eq!(propagated(&store, &[claim, known]), [store.not(at_most(x, 3)), known]);
    }

    #[test]
    fn facts_contradict_each_other() {
        let store = TermStore::new();
        let x = store.var(store.symbol("x"), Sort::INT);
        let r = store.var(store.symbol("r"), Sort::REAL);
        let one = store.int(1);
        let half = store.mul_const(&Rational::new(1.into(), 2.into()), store.real(1));
        let contradictions: &[&[Term]] = &[
            &[store.le(x, one), store.gt(x, one)],
            &[store.eq(x, one), store.lt(x, one)],
            &[store.ge(x, one), store.le(x, one), store.not(store.eq(x, one))],
            &[store.ge(r, half), store.lt(r, half)],
            &[store.le(r, half), store.ge(r, half), store.not(store.eq(r, half))],
            &[store.le(x, one), store.not(store.and2(store.le(x, one), store.le(x, store.int(2))))],
        ];
        for contradiction in contradictions {
            assert_eq!(propagated(&store, contradiction), [Term::FALSE]);
        }
        let possible = [store.gt(r, half), store.le(r, store.real(1))];
        assert_eq!(propagated(&store, &possible), possible);
    }

    #[test]
    fn what_is_left_means_the_same() {
        let store = TermStore::new();
        let [x, y] = ["x", "y"].map(|name| store.var(store.symbol(name), Sort::INT));
        let [r, p] =
            [("r", Sort::REAL), ("p", Sort::BOOL)].map(|(name, sort)| store.var(store.symbol(name), sort));
        let mut state = 1_u64;
        let mut below = |bound: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % bound
        };
        let mut literal = |_: u64| {
            let number = below(4) as i64 - 1;
            let (term, number) = match below(4) {
                0 => (x, store.int(number)),
                1 => (store.add(&[x, y]), store.int(number)),
                2 => (r, store.real(number)),
                _ => return if below(2) == 0 { p } else { store.not(p) },
            };
            match below(5) {
                0 => store.le(term, number),
                1 => store.lt(term, number),
                2 => store.gt(term, number),
                3 => store.eq(term, number),
                _ => store.not(store.eq(term, number)),
            }
        };
        let mut decided = [0, 0];
        for _ in 0..2000 {
            let mut conjuncts: Vec<Term> = (0..2).map(&mut literal).collect();
            conjuncts.extend((0..3).map(|round| {
                let [a, b, c, d] = [0; 4].map(&mut literal);
                match round {
                    0 => store.or_of([a, store.and2(b, store.or2(c, d))]),
                    1 => store.not(store.and_of([a, b, store.or2(c, d)])),
                    _ => store.or_of([a, b, c]),
                }
            }));
            let left = propagated(&store, &conjuncts);
            decided[0] += usize::from(left == [Term::FALSE]);
            decided[1] += usize::from(left.len() < conjuncts.len());
            let [before, after] = [&conjuncts, &left].map(|formulas| store.and_of(formulas.iter().copied()));
            for place in 0..(5 * 5 * 9 * 2) {
                let values = [place % 5, place / 5 % 5, place / 25 % 9, place / 225];
                let int = |value: i32| Value::Int((value - 2).into());
                let mut assignment = Assignment::new();
                assignment.set(x, int(values[0]));
                assignment.set(y, int(values[1]));
                assignment.set(r, Value::Real(Rational::new((values[2] - 4).into(), 2.into())));
                assignment.set(p, Value::Bool(values[3] == 0));
                assert_eq!(store.eval(before, &assignment), store.eval(after, &assignment));
            }
        }
        assert!(decided.iter().all(|&number| number > 200), "{decided:?}");
    }
}
