//! Recurrence analysis: a transitive relation around the ends of a loop.
//!
//! A loop is a conjunction `L(x, x')` of literals over a state and its successor. From it and two states that it connects, [`Recurrence`]
//! guesses literals that hold however often the loop is repeated. `n` is a counter, local to the relation:
//!
//! ```text
//! pre, post       the projections of L to x and to x'
//! differences     L and d = x' - x, projected to d:   a d <= c     gives   a (x' - x) <= n c     (so do = and >=)
//!                                                     m | a d - c  gives   m | a (x' - x) - n c
//! remainders      t mod m = c in pre, true of x' as well:    also of x', and the other way round
//! growth          a x' = b x, where b > a > 0:    x >= 0 and a x' >= b x,    or x <= 0 and a x' <= b x
//! ```
//!
//! Before that, L gets the *signs of data*. If a literal of L relates changes `a d` to a term `t` over x, as in `y' = y + x`, its
//! sign bounds the changes. So if `t >= 0` or `t <= 0`, strict if possible, is true of x and the loop preserves it, it is added to L.
//!
//! Truth values are in pre and post. All guesses are true of the two states with `n = 1`, and then `n >= 1` is added if `n` occurs.
//!
//! **Transitivity** is checked, so guesses may be wrong. Let `R(x, x', n)` be the conjunction of the guesses. The solver looks for two
//! steps of `R` whose composition is no step of `R`:
//!
//! ```text
//! R(x, y, n1) and R(y, z, n2) and not R(x, z, n1 + n2)
//! ```
//!
//! If it finds a model, the literals that are false for `x`, `z` and `n1 + n2` are dropped, and it is asked again (Houdini). If it finds
//! none, `exists n. R` is transitive. `R` relates the two states in the end as well, because fewer literals relate more states.
//!
//! Inequalities that follow from other literals are dropped last.

use shofar_horn::TransitionSystem;
use shofar_horn::graph::rename;
use shofar_logic::number::{Integer, Rational};
use shofar_logic::{
    Assignment, Evaluator, LinearPoly, Op, Relation, Sort, Substitution, Term, TermStore, Value,
};
use shofar_run::{Limits, Stop};
use shofar_smt::project::Projector;

use crate::Run;
use crate::shortcuts::{successive, without_disequality};
use crate::unroll::fresh_vector;

/// The greatest modulus of a literal. Compositions of loops may multiply moduli again and again.
const GREATEST_MODULUS: u32 = 1 << 16;

/// The conflict limit of each query that would only drop a redundant literal.
const CONFLICTS: u64 = 1000;

/// A loop, and two states that it connects.
pub(super) struct Recurrence<'s> {
    pub(super) run: &'s Run<'s>,
    pub(super) system: &'s TransitionSystem,
    /// The loop, over a state and its successor.
    pub(super) looped: &'s [Term],
    /// The values of both.
    pub(super) ends: &'s Assignment,
}

impl Recurrence<'_> {
    /// The literals of a transitive relation that contains the two states, over them and a counter.
    pub(super) fn transitive(&self, projector: &mut Projector<'_>) -> Result<Vec<Term>, Stop> {
        let store = self.run.store;
        let counter = store.var(store.fresh_symbol("rounds"), Sort::INT);
        let looped = [self.looped, &self.signs()?].concat();
        let mut guesses = self.ends_of_paths(&looped, projector)?;
        guesses.extend(self.growth());
        guesses.extend(self.differences(&looped, projector, counter)?);
        guesses.retain(|&guess| guess != Term::TRUE && has_small_moduli(store, guess));
        guesses.sort_unstable();
        guesses.dedup();
        let guesses = self.transitive_part(guesses, counter)?;
        let mut literals = self.without_redundant(guesses)?;
        let counts = |literal: &&Term| store.free_vars(&[**literal]).contains(&counter);
        if literals.iter().filter(counts).count() == 1 {
            // If no other literal speaks of the counter, it is no restriction that it is positive.
            literals.retain(|&literal| literal != store.ge(counter, store.int(1)));
        }
        Ok(literals)
    }

    // ---- guesses ---------------------------------------------------------------------------------------------

    /// The signs of data that the loop preserves.
    fn signs(&self) -> Result<Vec<Term>, Stop> {
        let (run, store) = (self.run, self.run.store);
        let TransitionSystem { state, next, .. } = self.system;
        let mut solver = run.solver();
        run.assert(&mut solver, self.looped)?;
        let mut signs = Vec::new();
        for &literal in self.looped {
            run.go_on()?;
            let Some(poly) = store.bound(literal).map(|bound| bound.poly(store)) else { continue };
            // With x' = x + d, a coefficient of x is that of x plus that of x'.
            let mut data = poly.clone();
            for (&x, &after) in state.iter().zip(next) {
                let (coefficient, mut rest) = data.split(after);
                rest.add_scaled(
                    &LinearPoly::from_pairs(vec![(x, Rational::ONE)], Rational::ZERO),
                    &coefficient,
                );
                data = rest;
            }
            let is_state = |(term, _): &(Term, Rational)| state.contains(term);
            let mixes = poly.terms().iter().any(|(term, _)| next.contains(term));
            if !mixes || data.is_constant() || !data.terms().iter().all(is_state) {
                continue;
            }
            let (data, zero) = (data.to_term(store, Sort::INT), store.int(0));
            let guesses =
                [store.gt(data, zero), store.lt(data, zero), store.ge(data, zero), store.le(data, zero)];
            for sign in guesses.into_iter().filter(|&sign| self.holds(sign)) {
                let fails_after = store.not(rename(store, sign, state, next));
                if !run.is_satisfiable(&mut solver, &[sign, fails_after])? {
                    signs.push(sign);
                    break;
                }
            }
        }
        Ok(signs)
    }

    /// Pre, post, and the remainders that hold on both sides.
    fn ends_of_paths(&self, looped: &[Term], projector: &mut Projector<'_>) -> Result<Vec<Term>, Stop> {
        let store = self.run.store;
        let TransitionSystem { state, next, .. } = self.system;
        let mut guesses = Vec::new();
        for (here, there) in [(state, next), (next, state)] {
            let literals = projector.project_cube(looped, self.ends, there);
            let literals = literals.map_err(|error| error.stop(store))?.literals;
            let is_remainder = |&literal: &Term| {
                store.bound(literal).is_some_and(|bound| {
                    bound.relation == Relation::Equal && store.remainder_of(bound.sum).is_some()
                })
            };
            let remainders: Vec<Term> = literals.iter().copied().filter(is_remainder).collect();
            let carried = store
                .instantiate_all(&remainders, &std::iter::zip(here, there).map(|(&a, &b)| (a, b)).collect());
            guesses.extend(carried.into_iter().filter(|&literal| self.holds(literal)));
            guesses.extend(literals);
        }
        Ok(guesses)
    }

    /// The differences of the loop, times the counter.
    fn differences(
        &self,
        looped: &[Term],
        projector: &mut Projector<'_>,
        counter: Term,
    ) -> Result<Vec<Term>, Stop> {
        let store = self.run.store;
        let TransitionSystem { state, next, .. } = self.system;
        let numbers: Vec<usize> =
            (0..state.len()).filter(|&at| store.sort_of(state[at]) == Sort::INT).collect();
        let changes = numbers.iter().map(|&at| store.sub(next[at], state[at]));
        let changes: Vec<Term> = changes.collect();
        let names = fresh_vector(store, &changes, "difference");
        let mut literals = looped.to_vec();
        let mut model = self.ends.clone();
        for (&name, &change) in names.iter().zip(&changes) {
            literals.push(store.eq(name, change));
            let change = store.eval(change, self.ends).map_err(|error| {
                Stop::Internal(format!("a step without values: {}", error.display(store)))
            })?;
            model.set(name, change);
        }
        let gone: Vec<Term> = state.iter().chain(next).copied().collect();
        let projection = projector.project_cube(&literals, &model, &gone);
        let literals = projection.map_err(|error| error.stop(store))?.literals;
        let changes: Substitution = names.iter().copied().zip(changes).collect();
        let mut guesses: Vec<Term> = literals
            .into_iter()
            .filter_map(|literal| {
                let literal = without_disequality(store, literal, &model);
                repeated(store, literal, &model, &changes, counter)
            })
            .collect();
        guesses.push(store.ge(counter, store.int(1)));
        Ok(guesses)
    }

    /// Exponential growth of a number, as inequalities.
    fn growth(&self) -> Vec<Term> {
        let store = self.run.store;
        let TransitionSystem { state, next, .. } = self.system;
        let mut guesses = Vec::new();
        for &literal in self.looped {
            let Some(bound) = store.bound(literal).filter(|bound| bound.relation == Relation::Equal) else {
                continue;
            };
            let poly = bound.poly(store);
            let ([(one, _), (other, _)], true) = (poly.terms(), poly.constant().is_zero()) else { continue };
            let Some(at) = (0..state.len())
                .find(|&at| [(state[at], next[at]), (next[at], state[at])].contains(&(*one, *other)))
            else {
                continue;
            };
            let (x, after) = (state[at], next[at]);
            let (a, b) = (poly.coefficient(after), -poly.coefficient(x));
            let (a, b) = if a.is_negative() { (-a, -b) } else { (a, b) };
            if b <= a {
                continue;
            }
            let (zero, grown) = (store.int(0), store.mul_const(&a, after));
            let least = store.mul_const(&b, x);
            if self.holds(store.ge(x, zero)) {
                guesses.extend([store.ge(x, zero), store.ge(grown, least)]);
            } else {
                guesses.extend([store.le(x, zero), store.le(grown, least)]);
            }
        }
        guesses
    }

    fn holds(&self, literal: Term) -> bool {
        self.run.store.eval(literal, self.ends) == Ok(Value::Bool(true))
    }

    // ---- checks ----------------------------------------------------------------------------------------------

    /// Those of the guesses whose conjunction is transitive, where the counters of two steps are added.
    fn transitive_part(&self, mut guesses: Vec<Term>, counter: Term) -> Result<Vec<Term>, Stop> {
        let (run, store) = (self.run, self.run.store);
        let counters = fresh_vector(store, &[counter, counter], "rounds");
        let sum = store.add(&counters);
        loop {
            let [first, second] = successive(store, self.system, store.and(&guesses));
            let first = rename(store, first, &[counter], &counters[..1]);
            let second = rename(store, second, &[counter], &counters[1..]);
            let composed: Vec<Term> =
                guesses.iter().map(|&guess| rename(store, guess, &[counter], &[sum])).collect();
            let fails = store.not(store.and(&composed));
            let mut solver = run.solver();
            run.assert(&mut solver, &[first, second, fails])?;
            if !run.is_satisfiable(&mut solver, &[])? {
                return Ok(guesses);
            }
            let model = solver.model(&composed);
            let mut evaluator = Evaluator::new(store, &model);
            let mut values = composed.iter().map(|&literal| evaluator.eval(literal));
            guesses.retain(|_| values.next() == Some(Ok(Value::Bool(true))));
        }
    }

    /// The literals without inequalities that follow from the others. Later ones tend to be longer, and are tried first.
    fn without_redundant(&self, mut literals: Vec<Term>) -> Result<Vec<Term>, Stop> {
        let (run, store) = (self.run, self.run.store);
        let limits = Limits { conflicts: Some(CONFLICTS), ..run.limits };
        let limited = run.clone().with_limits(limits);
        let mut solver = run.solver();
        let mut at = literals.len();
        while let Some(before) = at.checked_sub(1) {
            at = before;
            let is_equation = |bound: shofar_logic::Bound<'_>| bound.relation == Relation::Equal;
            if store.bound(literals[at]).is_none_or(is_equation) {
                continue;
            }
            let mut alone = literals.clone();
            alone[at] = store.not(alone[at]);
            match limited.is_satisfiable(&mut solver, &alone) {
                Ok(false) => drop(literals.remove(at)),
                Ok(true) => {}
                // A redundant literal is harmless.
                Err(stop) => run.interrupted().map_or(Ok(()), |_| Err(stop))?,
            }
        }
        Ok(literals)
    }
}

/// A literal about differences, for as many steps as the counter says. `None` if it is neither linear nor about a remainder.
fn repeated(
    store: &TermStore,
    literal: Term,
    model: &Assignment,
    changes: &Substitution,
    counter: Term,
) -> Option<Term> {
    let bound = store.bound(literal)?;
    let is_linear = |sum: Term| {
        let poly = LinearPoly::from_term(store, sum);
        poly.terms().iter().all(|(monomial, _)| changes.get(*monomial).is_some())
    };
    let times_counter = |number: &Rational| store.mul_const(number, counter);
    if let Some((dividend, modulus)) =
        store.remainder_of(bound.sum).filter(|(dividend, _)| is_linear(*dividend))
    {
        let Ok(Value::Int(rest)) = store.eval(bound.sum, model) else { return None };
        let whole = store.sub(store.instantiate(dividend, changes), times_counter(&rest.into()));
        return Some(store.divisible(&modulus, whole));
    }
    if !is_linear(bound.sum) {
        return None;
    }
    let sum = store.instantiate(bound.sum, changes);
    let (relation, number) = bound.rounded(store);
    let number = times_counter(&number);
    match relation {
        Relation::AtMost => Some(store.le(sum, number)),
        Relation::AtLeast => Some(store.ge(sum, number)),
        Relation::Equal => Some(store.eq(sum, number)),
        Relation::Below | Relation::Above | Relation::Different => None,
    }
}

/// Whether all remainders in a literal are by small numbers.
fn has_small_moduli(store: &TermStore, literal: Term) -> bool {
    let greatest = Integer::from(i64::from(GREATEST_MODULUS));
    let is_small = |term: Term| match store.view(term) {
        (Op::Mod | Op::IntDiv, &[_, divisor]) => {
            let number = store.numeral(divisor).and_then(Rational::to_integer);
            number.is_some_and(|number| number.cmp_abs(&greatest).is_le())
        }
        _ => true,
    };
    store.subterms(&[literal]).into_iter().all(is_small)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A loop over numbers, given by its literals over `x` and `x'`, or `y` and `y'`, and the values of these four.
    struct Example {
        store: TermStore,
        system: TransitionSystem,
        ends: Assignment,
    }

    impl Example {
        fn new(values: [i64; 4]) -> Self {
            let store = TermStore::new();
            let variables = ["x", "y", "x'", "y'"].map(|name| store.var(store.symbol(name), Sort::INT));
            let ends = variables.iter().copied().zip(values.map(|value| Value::Int(value.into()))).collect();
            let system = TransitionSystem {
                state: variables[..2].into(),
                next: variables[2..].into(),
                init: Term::TRUE,
                transition: Term::TRUE,
                bad: Term::FALSE,
            };
            Example { store, system, ends }
        }

        fn variables(&self) -> [Term; 4] {
            [self.system.state[0], self.system.state[1], self.system.next[0], self.system.next[1]]
        }

        fn plus(&self, term: Term, number: i64) -> Term {
            self.store.add(&[term, self.store.int(number)])
        }

        /// The states that the relation connects, with values up to a number.
        #[track_caller]
        fn assert_relation(&self, looped: &[Term], expected: impl Fn([i64; 4]) -> bool) {
            let run = Run::new(&self.store);
            let recurrence = Recurrence { run: &run, system: &self.system, looped, ends: &self.ends };
            let literals =
                recurrence.transitive(&mut Projector::new(&self.store)).expect("there are no limits");
            let formula = self.store.and(&literals);
            let range = -1..7;
            for code in 0..8_i64.pow(4) {
                let values = [0, 1, 2, 3].map(|at| range.start + code / 8_i64.pow(at) % 8);
                let given: Substitution =
                    self.variables().into_iter().zip(values.map(|value| self.store.int(value))).collect();
                let instance = self.store.instantiate(formula, &given);
                let holds = run.is_satisfiable(&mut run.solver(), &[instance]).expect("there are no limits");
                assert_eq!(holds, expected(values), "{values:?}: {}", self.store.display(formula));
            }
        }
    }

    #[test]
    fn differences_are_multiplied() {
        let example = Example::new([0, 0, 1, 2]);
        let [x, y, x_next, y_next] = example.variables();
        let store = &example.store;
        let looped = [store.eq(x_next, example.plus(x, 1)), store.eq(y_next, example.plus(y, 2))];
        example.assert_relation(&looped, |[x, y, x_next, y_next]| {
            let rounds = x_next - x;
            rounds >= 1 && y_next - y == 2 * rounds
        });
    }

    #[test]
    fn guards_hold_at_the_start_and_bounds_at_the_end() {
        let example = Example::new([0, 3, 1, 3]);
        let [x, y, x_next, y_next] = example.variables();
        let store = &example.store;
        let looped = [store.eq(x_next, example.plus(x, 1)), store.eq(y_next, y), store.lt(x, y)];
        example.assert_relation(&looped, |[x, y, x_next, y_next]| {
            y_next == y && x < x_next && x < y && x_next <= y
        });
    }

    #[test]
    fn remainders_that_a_loop_keeps_hold_on_both_sides() {
        let example = Example::new([3, 0, 5, 0]);
        let [x, _, x_next, _] = example.variables();
        let store = &example.store;
        let odd = store.eq(store.modulo(x, store.int(2)), store.int(1));
        let looped = [odd, store.eq(x_next, example.plus(x, 2))];
        example.assert_relation(&looped, |[x, _, x_next, _]| {
            x.rem_euclid(2) == 1 && x_next > x && (x_next - x) % 2 == 0
        });
    }

    #[test]
    fn doubling_grows() {
        let example = Example::new([1, 0, 2, 0]);
        let [x, y, x_next, y_next] = example.variables();
        let store = &example.store;
        let double = store.mul(&[store.int(2), x]);
        let looped = [store.eq(x_next, double), store.ge(x, store.int(1)), store.eq(y_next, y)];
        example.assert_relation(&looped, |[x, y, x_next, y_next]| {
            x >= 1 && x_next >= 2 * x && x_next % 2 == 0 && y == y_next
        });
    }

    #[test]
    fn signs_of_data_bound_changes() {
        let example = Example::new([0, 0, 1, 0]);
        let [x, y, x_next, y_next] = example.variables();
        let store = &example.store;
        let looped = [store.eq(x_next, example.plus(x, 1)), store.eq(y_next, store.add(&[y, x]))];
        example.assert_relation(&looped, |[x, y, x_next, y_next]| x >= 0 && x_next > x && y_next >= y);
    }

    /// One step of `x' = x + 1` where `0 <= x <= 1` is not transitive; that `x` grows is.
    #[test]
    fn guesses_that_are_not_transitive_are_dropped() {
        let example = Example::new([0, 0, 1, 0]);
        let [x, _, x_next, _] = example.variables();
        let store = &example.store;
        let run = Run::new(store);
        let recurrence = Recurrence { run: &run, system: &example.system, looped: &[], ends: &example.ends };
        let counter = store.var(store.symbol("n"), Sort::INT);
        let grows = store.ge(store.sub(x_next, x), counter);
        let by_one = store.eq(x_next, example.plus(x, 1));
        let positive = store.ge(counter, store.int(1));
        let not_negative = store.ge(x, store.int(0));
        let guesses = vec![by_one, grows, positive, not_negative];
        let kept = recurrence.transitive_part(guesses, counter).expect("there are no limits");
        assert_eq!(kept, [grows, positive, not_negative]);
    }

    #[test]
    fn large_moduli_are_refused() {
        let store = TermStore::new();
        let x = store.var(store.symbol("x"), Sort::INT);
        let remainder = |modulus: i64| store.eq(store.modulo(x, store.int(modulus)), store.int(1));
        assert!(has_small_moduli(&store, remainder(1 << 16)));
        assert!(!has_small_moduli(&store, remainder((1 << 16) + 1)));
        assert!(has_small_moduli(&store, store.ge(x, store.int(1 << 20))));
    }
}
