//! Equations of a conjunction, solved for some of its variables.
//!
//! ```text
//! solve(conjuncts):
//!     repeat, while there are new definitions:
//!         choose equations x = t among the conjuncts such that no chosen x is in a chosen t
//!         replace each x by its t in all other conjuncts and in the definitions so far
//! ```
//!
//! - E1: the conjunction is equivalent to the definitions together with the rest.
//! - E2: a defined variable occurs nowhere but on the left of its definition. So it can be chosen for any values of the
//!   other variables: `exists x. x = t and rest` is `rest`.
//!
//! A chain of equations loses half of its links in each round, so that few rounds are needed. Integers are solved for
//! where their coefficient is a unit. What would make sums much longer is not done.
//!
//! This is the elimination of the preprocessors of SMT solvers, on one formula and for the variables that the caller
//! can do without.

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::number::Rational;
use shofar_logic::{Op, Sort, Substitution, Substitutor, Term, TermStore};

/// Rounds of elimination.
const MOST_ROUNDS: usize = 12;
/// Subterms of a definition, which are searched for what is defined.
const MOST_SUBTERMS: usize = 1000;
/// Summands by which the sums that mention a variable may grow together when it is replaced.
const MOST_GROWTH: usize = 16;

/// Solved equations and the rest of a conjunction.
pub struct Solved {
    /// What variables are equal to (E2), in the order in which they were solved for.
    pub definitions: Vec<(Term, Term)>,
    /// The other conjuncts, without repetition.
    pub rest: Vec<Term>,
}

/// Solves equations for variables to which `rank` gives a number, in preference for those with a small one. The formula
/// is normal.
pub fn solve(store: &TermStore, formula: Term, rank: impl Fn(Term) -> Option<u32>) -> Solved {
    let mut solved = Solved { definitions: Vec::new(), rest: store.conjuncts(formula).collect() };
    for _ in 0..MOST_ROUNDS {
        let mut round = Round::new(store, &solved.rest, &rank);
        solved.rest.retain(|&conjunct| !round.take(conjunct));
        if round.definitions.is_empty() {
            break;
        }
        let mut substitutor = Substitutor::normal(store, &round.definitions);
        for (_, definition) in &mut solved.definitions {
            *definition = substitutor.apply(*definition);
        }
        let rest = store.and_of(solved.rest.iter().map(|&conjunct| substitutor.apply(conjunct)));
        solved.rest = store.conjuncts(rest).collect();
        solved.definitions.extend(round.order);
    }
    solved
}

/// The definitions of one round.
struct Round<'a, R> {
    store: &'a TermStore,
    rank: &'a R,
    /// In how many terms and conjuncts each variable that may be solved for occurs.
    occurrences: FxHashMap<Term, usize>,
    definitions: Substitution,
    /// The same, in order.
    order: Vec<(Term, Term)>,
    /// The variables in the definitions.
    used: FxHashSet<Term>,
}

impl<'a, R: Fn(Term) -> Option<u32>> Round<'a, R> {
    fn new(store: &'a TermStore, conjuncts: &[Term], rank: &'a R) -> Self {
        let mut occurrences: FxHashMap<Term, usize> = FxHashMap::default();
        for term in store.subterms(conjuncts) {
            for &arg in store.args(term) {
                if matches!(store.op(arg), Op::Var(_)) {
                    *occurrences.entry(arg).or_default() += 1;
                }
            }
        }
        Round {
            store,
            rank,
            occurrences,
            definitions: Substitution::new(),
            order: Vec::new(),
            used: FxHashSet::default(),
        }
    }

    /// Makes a definition of a conjunct, if it is fit for one.
    fn take(&mut self, conjunct: Term) -> bool {
        let store = self.store;
        let found = match store.view(conjunct) {
            (Op::Not, &[inner]) => match store.view(inner) {
                (Op::Eq, &[a, b]) if store.sort_of(a) == Sort::BOOL => {
                    self.define_side(a, b).map(|(variable, other)| (variable, store.not(other)))
                }
                (Op::Var(_), _) if self.rank(inner).is_some() => Some((inner, Term::FALSE)),
                _ => None,
            },
            (Op::Eq, &[sum, _]) if store.sort_of(sum).is_arithmetic() => self.define_summand(conjunct),
            (Op::Eq, &[a, b]) => self.define_side(a, b),
            (Op::Var(_), _) if self.rank(conjunct).is_some() => Some((conjunct, Term::TRUE)),
            _ => None,
        };
        let Some((variable, definition)) = found else { return false };
        let Some(used) = few_variables(store, definition) else { return false };
        if used.iter().any(|&other| other == variable || self.definitions.get(other).is_some()) {
            return false;
        }
        self.used.extend(used);
        self.definitions.insert(variable, definition);
        self.order.push((variable, definition));
        true
    }

    /// The rank of a variable that may still be solved for in this round.
    fn rank(&self, term: Term) -> Option<u32> {
        let is_open = matches!(self.store.op(term), Op::Var(_))
            && !self.used.contains(&term)
            && self.definitions.get(term).is_none();
        if is_open { (self.rank)(term) } else { None }
    }

    /// A definition of one side of `a = b`.
    fn define_side(&self, a: Term, b: Term) -> Option<(Term, Term)> {
        let sides = [(a, b), (b, a)].into_iter();
        sides.filter_map(|side| Some((self.rank(side.0)?, side))).min().map(|(_, side)| side)
    }

    /// A definition of a summand of an equation.
    fn define_summand(&self, equation: Term) -> Option<(Term, Term)> {
        let store = self.store;
        let equation = store.bound(equation)?;
        let (sort, poly) = (store.sort_of(equation.sum), equation.poly(store));
        let is_unit = |factor: &Rational| sort == Sort::REAL || factor.is_one() || (-factor).is_one();
        // One summand in the place of another makes no sum longer.
        let is_short = poly.terms().len() <= 2;
        let growth = |variable: Term| {
            let others = self.occurrences.get(&variable).map_or(0, |count| count - 1);
            others.saturating_sub(1) * (poly.terms().len() - 1)
        };
        let candidates = poly.terms().iter().filter(|(variable, factor)| {
            is_unit(factor)
                && store.sort_of(*variable) == sort
                && (is_short || growth(*variable) <= MOST_GROWTH)
        });
        let ranked = candidates.filter_map(|(variable, _)| Some((self.rank(*variable)?, *variable)));
        let (_, variable) = ranked.min()?;
        Some((variable, poly.solved_for(variable)?.to_term(store, sort)))
    }
}

/// The variables of a term, unless it is big.
fn few_variables(store: &TermStore, term: Term) -> Option<Vec<Term>> {
    let mut seen: FxHashSet<Term> = FxHashSet::default();
    let mut variables = Vec::new();
    let mut open = vec![term];
    while let Some(term) = open.pop() {
        if !seen.insert(term) {
            continue;
        }
        match store.op(term) {
            Op::Forall | Op::Exists => return None,
            Op::Var(_) => variables.push(term),
            _ => open.extend_from_slice(store.args(term)),
        }
        if seen.len() > MOST_SUBTERMS {
            return None;
        }
    }
    Some(variables)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_is_solved_and_no_defined_variable_is_left() {
        let store = TermStore::new();
        let x: Vec<Term> = (0..1000).map(|i| store.var(store.symbol(&format!("x{i}")), Sort::INT)).collect();
        let links = x.windows(2).map(|pair| store.eq(pair[1], store.add(&[pair[0], store.int(1)])));
        let formula = store.and_of(links.chain([store.lt(x[999], store.int(5))]));
        let solved = solve(&store, formula, |variable| (variable != x[0]).then_some(0));
        assert_eq!(solved.rest, [store.lt(x[0], store.int(5 - 999))]);
        assert_eq!(solved.definitions.len(), 999);
        for (variable, definition) in solved.definitions {
            let position = x.iter().position(|&other| other == variable).expect("it is one of them");
            assert_eq!(definition, store.add(&[x[0], store.int(position as u64)]));
        }
    }

    #[test]
    fn a_variable_replaces_another_one_in_however_many_sums() {
        let store = TermStore::new();
        let [x, y] = ["x", "y"].map(|name| store.var(store.symbol(name), Sort::REAL));
        let others: Vec<Term> =
            (0..100).map(|i| store.var(store.symbol(&format!("z{i}")), Sort::REAL)).collect();
        let below =
            |variable: Term| others.iter().map(|&other| store.lt(variable, other)).collect::<Vec<Term>>();
        let formula = store.and2(store.and(&below(x)), store.eq(x, y));
        let solved = solve(&store, formula, |variable| (variable == x).then_some(0));
        assert_eq!(solved.definitions, [(x, y)]);
        assert_eq!(store.and(&solved.rest), store.and(&below(y)));
    }

    #[test]
    fn integers_need_unit_coefficients_and_cycles_are_left() {
        let store = TermStore::new();
        let int = |name: &str| store.var(store.symbol(name), Sort::INT);
        let (x, y) = (int("x"), int("y"));
        let double = store.eq(store.add(&[x, x]), store.add(&[y, y, y]));
        assert!(solve(&store, double, |_| Some(0)).definitions.is_empty());
        let f = store.fun(store.symbol("f"), &[Sort::INT], Sort::INT);
        let cycle = store.eq(x, store.apply(f, &[x]).expect("f takes an integer"));
        assert!(solve(&store, cycle, |_| Some(0)).definitions.is_empty());
        let p = store.var(store.symbol("p"), Sort::BOOL);
        let negation = store.not(store.iff(p, store.le(x, y)));
        assert_eq!(solve(&store, negation, |_| Some(0)).definitions, [(p, store.not(store.le(x, y)))]);
    }
}
