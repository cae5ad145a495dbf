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
//! - E2: a defined variable occurs only on the left of its definition. So it can be chosen for any values of the other
//!   variables: `exists x. x = t and rest` is `rest`.
//!
//! `shofar_logic::definitions` recognises the equations that are definitions. Definitions that would make sums much
//! longer are not used.
//!
//! This is the variable elimination of SMT preprocessors, on one formula and for the variables that the caller can do
//! without.

use rustc_hash::FxHashMap;
use shofar_logic::definitions::{Definition, Round};
use shofar_logic::{Op, Substitutor, Term, TermStore};

/// Rounds of elimination.
const MOST_ROUNDS: usize = 12;
/// The maximal number of subterms of a definition, which are searched for defined variables.
const MOST_SUBTERMS: usize = 1000;
/// The number of summands by which replacing a variable may lengthen all sums that mention it.
const MOST_GROWTH: usize = 16;

/// Solved equations and the remaining conjuncts.
pub struct Solved {
    /// The definitions of variables (E2), in the order in which they were solved.
    pub definitions: Vec<(Term, Term)>,
    /// The other conjuncts, without repetition.
    pub rest: Vec<Term>,
}

/// Solves equations for the variables that have a `rank`, preferring small ranks. The formula is normal.
pub fn solve(store: &TermStore, formula: Term, rank: impl Fn(Term) -> Option<u32>) -> Solved {
    let mut solved = Solved { definitions: Vec::new(), rest: store.conjuncts(formula).collect() };
    for _ in 0..MOST_ROUNDS {
        let occurrences = occurrences(store, &solved.rest);
        let rank = |variable: Term, summands: usize| {
            let others = occurrences.get(&variable).map_or(0, |count| count - 1);
            let growth = others.saturating_sub(1) * summands;
            // Replacing a variable by one summand makes no sum longer.
            let is_fit = matches!(store.op(variable), Op::Var(_)) && (summands <= 1 || growth <= MOST_GROWTH);
            if is_fit { Some((rank(variable)?, variable)) } else { None }
        };
        let mut round = Round::new(MOST_SUBTERMS);
        let mut taken = Vec::new();
        solved.rest.retain(|&conjunct| match round.take(store, conjunct, rank) {
            Some(Definition { symbol, definition }) => {
                taken.push((symbol, definition));
                false
            }
            None => true,
        });
        if taken.is_empty() {
            break;
        }
        let mut substitutor = Substitutor::normal(store, round.definitions());
        for (_, definition) in &mut solved.definitions {
            *definition = substitutor.apply(*definition);
        }
        let rest = store.and_of(solved.rest.iter().map(|&conjunct| substitutor.apply(conjunct)));
        solved.rest = store.conjuncts(rest).collect();
        solved.definitions.extend(taken);
    }
    solved
}

/// The number of terms and conjuncts in which each variable occurs.
fn occurrences(store: &TermStore, conjuncts: &[Term]) -> FxHashMap<Term, usize> {
    let mut occurrences: FxHashMap<Term, usize> = FxHashMap::default();
    for term in store.subterms(conjuncts) {
        for &arg in store.args(term) {
            if matches!(store.op(arg), Op::Var(_)) {
                *occurrences.entry(arg).or_default() += 1;
            }
        }
    }
    occurrences
}

#[cfg(test)]
mod tests {
    use shofar_logic::Sort;

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
