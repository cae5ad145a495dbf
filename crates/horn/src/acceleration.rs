//! Acceleration: the exact effect of any number of rounds of a loop.
//!
//! A loop is a cube: a conjunction of literals over a state `x` and its successor `x'`. [`Acceleration::of`] computes a formula over `x`, `x'`
//! and a counter `n` that holds exactly if `n >= 1` rounds lead from `x` to `x'`:
//!
//! ```text
//! x' = x + 2 and x < y and y' = y      becomes      n >= 1 and x' = x + 2 n and x + 2 (n - 1) < y and y' = y
//! ```
//!
//! It returns `None` for loops whose effect it cannot state in linear arithmetic.
//!
//! ```text
//! solve the equations for x', so that x' = f(x);  the other literals are guards
//! for the periods p = 1, 2, ..
//!     g <- f^p, and the state after m applications of g, one variable at a time, after those that it depends on:
//!         g(x) = x + t, where t is a number d from application s on:      x + t_0 + .. + t_s-1 + (m - s) d
//!         g(x) = t, where x does not occur in t:                          t after m - 1 applications
//!     for the rests r = 0 .. p - 1, after n = p m + r rounds: the state is f^r of that
//!         each guard holds in rounds 0 .. n - 1
//! ```
//!
//! A larger period makes a swap of variables, or a change of sign, the identity.
//!
//! *Guards.* In the rounds `j`, `p + j`, `2 p + j`, .., the guard is `g(x, k)` for `k = s, s + 1, ..`. The rules:
//!
//! | guard | it holds for all `k` from the first to the last one, if it holds |
//! |---|---|
//! | `k` does not occur | once |
//! | `t + k d <= 0`, and with other relations | at the last `k` if it gets harder, at the first if it gets easier; `=` at both |
//! | `t + k d != 0` | as `<` or as `>`, or `d` does not divide `t` |
//! | `t + k d` modulo a divisor of `d` | once |
//! | `guard(x)` implies `guard(f(x))`, by a query | at the first |
//! | `guard(f(x))` implies `guard(x)`, by a query | at the last |
//!
//! The rules for terms linear in `k` are exact by themselves, because the slope `d` is a number. The two queries may assume guards that
//! are already treated, but no others: two guards must not justify each other. Other remainders get a larger period.
//!
//! *Nondeterminism.* A variable `u` that is neither in a guard nor in the change of another variable may have a bounded
//! change, `a <= u' - u <= b`. Then the changes of `n` rounds together are any number from `n a` to `n b`. And there may be
//! *inputs*: variables that get any values that satisfy some literals, whose guards mention only inputs. The inputs of rounds in between
//! exist if some values satisfy both, which is one query.
//!
//! The calculus of guards is that of F. Frohn, "A calculus for modular loop acceleration" (TACAS 2020). There, slopes may be
//! terms, and rules exist for literals that first grow and then fall. Here all slopes are numbers, since other ones leave linear
//! arithmetic, and with them a literal does not change its direction.

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::number::{Integer, Rational};
use shofar_logic::{Assignment, Evaluator, LinearPoly, Relation, Sort, Substitution, Term, TermStore, Value};
use shofar_run::{Limits, Stop};
use shofar_smt::sat::Outcome;
use shofar_smt::solver::Solver;

use crate::Context;
use crate::graph::rename;
use crate::ground::complete;
use crate::transform::solve_equations;

/// The greatest period. It has many divisors.
const MOST_PERIOD: u64 = 12;
/// The greatest number of rounds that have a case of their own, because the closed form holds later.
const MOST_CASES: u64 = 12;
/// The conflict limit of each query.
const CONFLICTS: u64 = 1000;
/// The greatest number of steps for which accelerated steps of one derivation may stand.
pub const MOST_STEPS: u64 = 10_000_000;
/// Rounds between two polls of the limits.
const POLL_INTERVAL: u64 = 1 << 10;

/// A loop with its effect for any number of rounds.
#[derive(Clone, Debug)]
pub struct Acceleration {
    state: Box<[Term]>,
    next: Box<[Term]>,
    formula: Term,
    counter: Term,
    /// The number of whole periods in the counter, and the period, unless it is one.
    periods: Option<(Term, u64)>,
    changes: Box<[Change]>,
}

/// What a round does to a variable.
#[derive(Clone, Debug)]
enum Change {
    /// Its next value, over the state.
    Function(Term),
    /// Its difference is between two numbers, if they exist.
    Bounded(Option<Rational>, Option<Rational>),
    /// It is an input; with a value that it may have before and after a round.
    Input(Value),
}

impl Acceleration {
    /// The acceleration of a loop: literals over the variables of a state and its successor. `None` if no rule applies, or a limit is reached.
    pub fn of(context: &Context<'_>, state: &[Term], next: &[Term], literals: &[Term]) -> Option<Self> {
        let store = context.store;
        let body = Loop::of(context, state, next, literals)?;
        let most = if body.is_linear() { MOST_PERIOD } else { 1 };
        let mut period = 1;
        while period <= most {
            if context.interrupted().is_some() {
                return None;
            }
            match Closure::new(&body, period).cases() {
                Ok(cases) => {
                    let Loop { counter, periods, changes, .. } = body;
                    return Some(Acceleration {
                        state: state.into(),
                        next: next.into(),
                        formula: store.or(&cases),
                        counter,
                        periods: (period > 1).then_some((periods, period)),
                        changes: changes.into(),
                    });
                }
                Err(Obstacle::Period(factor)) => period *= factor.max(2),
                Err(Obstacle::Form) => period += 1,
            }
        }
        None
    }

    /// The formula, over the variables of a state and its successor, [`counter`](Self::counter), and perhaps another variable.
    pub fn formula(&self) -> Term {
        self.formula
    }

    /// The number of rounds, an integer variable.
    pub fn counter(&self) -> Term {
        self.counter
    }

    /// The formula for exactly this number of rounds, over the variables of a state and its successor.
    pub fn after(&self, store: &TermStore, rounds: u64) -> Term {
        let mut known = Substitution::new();
        known.insert(self.counter, store.int(rounds));
        if let Some((periods, period)) = self.periods {
            known.insert(periods, store.int(rounds / period));
        }
        store.instantiate(self.formula, &known)
    }

    /// The states after each round from one state to another, which the loop connects. The number of rounds is taken from the budget;
    /// it is an error if the budget does not suffice.
    pub fn rounds<'s>(
        &'s self,
        context: &Context<'s>,
        first: &[Value],
        last: &[Value],
        budget: &mut u64,
    ) -> Result<Rounds<'s>, Stop> {
        let variables = self.state.iter().chain(&self.next).copied();
        let given = variables.zip(first.iter().chain(last).cloned());
        let number = complete(context, self.formula, given, &[self.counter])?;
        let number = match number.as_slice() {
            [Value::Int(number)] => number.to_u64().unwrap_or(u64::MAX),
            _ => return Err(Stop::Internal("a number of rounds is no integer".to_owned())),
        };
        let too_long = || Stop::Exhausted("a counterexample has more than ten million steps");
        *budget = budget.checked_sub(number).ok_or_else(too_long)?;
        Ok(Rounds {
            context: *context,
            acceleration: self,
            first: first.into(),
            last: last.into(),
            current: first.into(),
            done: 0,
            number,
        })
    }
}

/// Iterates over the states after each round.
pub struct Rounds<'s> {
    context: Context<'s>,
    acceleration: &'s Acceleration,
    first: Box<[Value]>,
    last: Box<[Value]>,
    current: Box<[Value]>,
    done: u64,
    number: u64,
}

impl Iterator for Rounds<'_> {
    type Item = Result<Box<[Value]>, Stop>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done == self.number {
            return None;
        }
        self.done += 1;
        let state = if self.done == self.number { Ok(self.last.clone()) } else { self.state() };
        if let Ok(state) = &state {
            self.current.clone_from(state);
        }
        Some(state)
    }
}

impl Rounds<'_> {
    /// The state after the current round.
    fn state(&self) -> Result<Box<[Value]>, Stop> {
        if self.done.is_multiple_of(POLL_INTERVAL) {
            self.context.go_on()?;
        }
        let Acceleration { state, changes, .. } = self.acceleration;
        let before: Assignment = state.iter().copied().zip(self.current.iter().cloned()).collect();
        let mut evaluator = Evaluator::new(self.context.store, &before);
        let value = |(at, change): (usize, &Change)| match change {
            Change::Function(term) => evaluator.eval(*term).map_err(|error| {
                Stop::Internal(format!("a round without a value: {}", error.display(self.context.store)))
            }),
            Change::Bounded(..) => self.share(at),
            Change::Input(value) => Ok(value.clone()),
        };
        changes.iter().enumerate().map(value).collect()
    }

    /// The value of a variable that changes by about the same number in each round.
    fn share(&self, at: usize) -> Result<Value, Stop> {
        match (&self.first[at], &self.last[at]) {
            (Value::Int(first), Value::Int(last)) => {
                let change = &(last - first) * &Integer::from(self.done);
                Ok(Value::Int(first + &change.div_floor(&Integer::from(self.number))))
            }
            _ => Err(Stop::Internal("a bounded change of no integer".to_owned())),
        }
    }
}

/// Why a period does not lead to a closed form.
enum Obstacle {
    /// A multiple by this factor may do so.
    Period(u64),
    /// Another period may do so.
    Form,
}

/// A loop, taken apart.
struct Loop<'a> {
    context: Context<'a>,
    state: &'a [Term],
    next: &'a [Term],
    changes: Vec<Change>,
    /// Literals over the variables with functions.
    guards: Vec<Term>,
    /// Literals over inputs before a round, and over inputs after it.
    inputs: Vec<Term>,
    counter: Term,
    /// The number of whole periods. It is the counter if the period is one.
    periods: Term,
}

impl<'a> Loop<'a> {
    fn of(context: &Context<'a>, state: &'a [Term], next: &'a [Term], literals: &[Term]) -> Option<Self> {
        let store = context.store;
        let place =
            |variables: &[Term]| -> FxHashMap<Term, usize> { variables.iter().copied().zip(0..).collect() };
        let (before, after) = (place(state), place(next));
        let formula = store.normalize(store.and(literals));
        let solved = solve_equations(store, formula, |variable| after.contains_key(&variable).then_some(0));
        let definitions: FxHashMap<Term, Term> = solved.definitions.into_iter().collect();

        // Literals about successors that equations do not determine.
        let (mut guards, mut of_next) = (Vec::new(), Vec::new());
        for literal in solved.rest {
            let variables = store.free_vars(&[literal]);
            match variables.iter().any(|variable| after.contains_key(variable)) {
                true => of_next.push(literal),
                false if variables.iter().all(|variable| before.contains_key(variable)) => {
                    guards.push(literal);
                }
                false => return None,
            }
        }
        let mut bounds: FxHashMap<usize, (Option<Rational>, Option<Rational>)> = FxHashMap::default();
        let mut inputs = Vec::new();
        for &literal in &of_next {
            if let Some((at, relation, number)) = difference(store, state, &after, literal) {
                let (least, greatest) = bounds.entry(at).or_default();
                match relation {
                    Relation::AtLeast => {
                        let number: Rational = number.ceil().into();
                        *least = Some(least.take().map_or(number.clone(), |other| other.max(number)));
                    }
                    _ => {
                        let number: Rational = number.floor().into();
                        *greatest = Some(greatest.take().map_or(number.clone(), |other| other.min(number)));
                    }
                }
            } else if store.free_vars(&[literal]).iter().all(|variable| after.contains_key(variable)) {
                inputs.push(literal);
            } else {
                return None;
            }
        }

        let known = known_values(store, &guards);
        let mut changes = Vec::with_capacity(state.len());
        let mut used = Vec::new();
        for (at, &variable) in next.iter().enumerate() {
            changes.push(match (definitions.get(&variable), bounds.remove(&at)) {
                (Some(&term), _) => {
                    let mut known = known.clone();
                    known.remove(state[at]);
                    let term = store.instantiate(term, &known);
                    used.push(term);
                    Change::Function(term)
                }
                (None, Some((least, greatest))) => Change::Bounded(least, greatest),
                (None, None) => Change::Input(store.default_value(store.sort_of(variable))),
            });
        }
        let is_input = |variable: &Term| {
            let at = before.get(variable).or_else(|| after.get(variable));
            at.is_some_and(|&at| matches!(changes[at], Change::Input(_)))
        };
        let is_function = |variable: &Term| {
            before.get(variable).is_some_and(|&at| matches!(changes[at], Change::Function(_)))
        };
        if !store.free_vars(&used).iter().all(is_function) || !store.free_vars(&inputs).iter().all(is_input) {
            return None;
        }
        let (of_inputs, guards): (Vec<Term>, Vec<Term>) =
            guards.into_iter().partition(|&guard| store.free_vars(&[guard]).iter().any(is_input));
        if !store.free_vars(&of_inputs).iter().all(is_input)
            || !store.free_vars(&guards).iter().all(is_function)
        {
            return None;
        }
        inputs.extend(of_inputs);
        let int = |name: &str| store.var(store.fresh_symbol(name), Sort::INT);
        let (counter, periods) = (int("rounds"), int("periods"));
        let mut body = Loop { context: *context, state, next, changes, guards, inputs, counter, periods };
        body.choose_inputs()?;
        Some(body)
    }

    /// Chooses the inputs of the rounds in between: values that satisfy the literals about inputs before and after a round. `None` if the
    /// solver finds none.
    fn choose_inputs(&mut self) -> Option<()> {
        let store = self.context.store;
        let here = self.inputs.iter().map(|&literal| rename(store, literal, self.next, self.state));
        let here = store.and_of(here);
        if here == Term::TRUE {
            return Some(());
        }
        let mut solver = Solver::new(store);
        solver.assert_all(&[here]).ok()?;
        if !matches!(solver.check(&[], &self.limits()), Ok(Outcome::Sat)) {
            return None;
        }
        let model = solver.model(&[here]);
        for (change, &variable) in self.changes.iter_mut().zip(self.state) {
            if let (Change::Input(value), Some(found)) = (change, model.get(variable)) {
                *value = found.clone();
            }
        }
        Some(())
    }

    fn limits(&self) -> Limits<'a> {
        Limits { conflicts: Some(CONFLICTS), ..self.context.limits }
    }

    /// Whether compositions of the functions are as simple as they are.
    fn is_linear(&self) -> bool {
        let store = self.context.store;
        self.changes.iter().all(|change| {
            let Change::Function(term) = *change else { return true };
            if !store.sort_of(term).is_arithmetic() {
                return store.is_literal(term) && store.args(store.literal(term).0).is_empty();
            }
            LinearPoly::from_term(store, term).terms().iter().all(|&(term, _)| self.state.contains(&term))
        })
    }

    /// Terms over the state after a round, where the state before it is given by terms.
    fn composed(&self, terms: &[Term], before: &[Term]) -> Vec<Term> {
        let values: Substitution = self.state.iter().copied().zip(before.iter().copied()).collect();
        self.context.store.instantiate_all(terms, &values)
    }

    /// The state after a round, over the state before it. Variables without functions stay.
    fn round(&self) -> Vec<Term> {
        let image = |(change, &variable): (&Change, &Term)| match *change {
            Change::Function(term) => term,
            Change::Bounded(..) | Change::Input(_) => variable,
        };
        self.changes.iter().zip(self.state).map(image).collect()
    }

    /// What a number of rounds does to the variables without functions.
    fn nondeterministic(&self, rounds: Term) -> Vec<Term> {
        let store = self.context.store;
        let mut literals = self.inputs.clone();
        for ((change, &before), &after) in self.changes.iter().zip(self.state).zip(self.next) {
            if let Change::Bounded(least, greatest) = change {
                let difference = store.sub(after, before);
                let bound = |number: &Rational| store.mul_const(number, rounds);
                literals.extend(least.as_ref().map(|number| store.ge(difference, bound(number))));
                literals.extend(greatest.as_ref().map(|number| store.le(difference, bound(number))));
            }
        }
        literals
    }

    /// Whether some formulas imply another one.
    fn implies(&self, premises: &[Term], conclusion: Term) -> bool {
        let store = self.context.store;
        let mut solver = Solver::new(store);
        solver.assert_all(premises).is_ok()
            && solver.assert_all(&[store.not(conclusion)]).is_ok()
            && solver.check(&[], &self.limits()) == Ok(Outcome::Unsat)
    }
}

/// The bound that a literal puts on the difference of a variable and its successor, both integers: the variable, `<=` or `>=`, and the number.
fn difference(
    store: &TermStore,
    state: &[Term],
    after: &FxHashMap<Term, usize>,
    literal: Term,
) -> Option<(usize, Relation, Rational)> {
    let bound = store.bound(literal)?;
    if store.sort_of(bound.sum) != Sort::INT {
        return None;
    }
    let poly = LinearPoly::from_term(store, bound.sum);
    let [(a, _), (b, _)] = poly.terms() else { return None };
    let (at, next) = [a, b].into_iter().find_map(|&term| after.get(&term).map(|&at| (at, term)))?;
    let coefficient = poly.coefficient(next);
    if !(&coefficient + &poly.coefficient(state[at])).is_zero() {
        return None;
    }
    let (relation, number) = bound.rounded(store);
    let flipped = match (relation, coefficient.is_negative()) {
        (Relation::AtMost, false) | (Relation::AtLeast, true) => Relation::AtMost,
        (Relation::AtLeast, false) | (Relation::AtMost, true) => Relation::AtLeast,
        _ => return None,
    };
    Some((at, flipped, number * &coefficient.recip()))
}

/// The variables that guards fix.
fn known_values(store: &TermStore, guards: &[Term]) -> Substitution {
    let mut known = Substitution::new();
    for &guard in guards {
        let (atom, holds) = store.literal(guard);
        if store.is_symbol(atom) {
            known.insert(atom, store.bool(holds));
        } else if let Some(bound) = store.bound(guard).filter(|bound| bound.relation == Relation::Equal)
            && store.is_symbol(bound.sum)
        {
            known.insert(bound.sum, store.number(bound.number, store.sort_of(bound.sum)));
        }
    }
    known
}

/// The closed form of a loop for one period.
struct Closure<'a, 'b> {
    body: &'b Loop<'a>,
    store: &'a TermStore,
    period: u64,
    /// The number of whole periods.
    periods: Term,
    /// The states after 0, 1, .. rounds, over the first one.
    iterates: Vec<Vec<Term>>,
}

/// A term over the state at the start and the number of whole periods, and from how many periods on it is right.
#[derive(Clone, Copy)]
struct Closed {
    term: Term,
    from: u64,
}

impl<'a, 'b> Closure<'a, 'b> {
    fn new(body: &'b Loop<'a>, period: u64) -> Self {
        let periods = if period == 1 { body.counter } else { body.periods };
        let iterates = vec![body.state.to_vec()];
        Closure { body, store: body.context.store, period, periods, iterates }
    }

    /// The state after a number of rounds, over the first one.
    fn iterate(&mut self, rounds: u64) -> &[Term] {
        let rounds = usize::try_from(rounds).expect("few rounds have cases of their own");
        while self.iterates.len() <= rounds {
            let last = self.iterates.last().expect("there is a first state");
            let next = self.body.composed(&self.body.round(), last);
            self.iterates.push(next);
        }
        &self.iterates[rounds]
    }

    /// The cases by numbers of rounds.
    fn cases(mut self) -> Result<Vec<Term>, Obstacle> {
        let (body, store, period) = (self.body, self.store, self.period);
        let closed = self.closed()?;
        // The states in the rounds r, p + r, 2 p + r, ..
        let mut phases: Vec<Vec<Term>> = vec![closed.iter().map(|closed| closed.term).collect()];
        for _ in 1..period {
            let last = phases.last().expect("there is a phase");
            phases.push(body.composed(&body.round(), last));
        }
        let latest = closed.iter().map(|closed| closed.from).max().unwrap_or(0);
        let from_of: FxHashMap<Term, u64> =
            body.state.iter().copied().zip(closed.iter().map(|closed| closed.from)).collect();
        // From which period on the closed form of a guard is right.
        let from = |guard: Term| match period {
            1 => store.free_vars(&[guard]).iter().map(|variable| from_of[variable]).max().unwrap_or(0),
            _ => latest,
        };
        // With this many whole periods there is a round for each guard's closed form.
        let least = body.guards.iter().map(|&guard| from(guard) + 1).chain([latest]).max().unwrap_or(0);
        if least * period > MOST_CASES {
            return Err(Obstacle::Form);
        }

        let mut cases = Vec::new();
        for rounds in 1..least * period {
            let mut literals = vec![store.eq(body.counter, store.int(rounds))];
            for before in 0..rounds {
                let state = self.iterate(before).to_vec();
                literals.extend(body.composed(&body.guards, &state));
            }
            let last = self.iterate(rounds).to_vec();
            literals.extend(self.successor(&last));
            literals.extend(body.nondeterministic(store.int(rounds)));
            cases.push(store.and(&literals));
        }
        for rest in 0..period {
            let at_least = least.max(u64::from(rest == 0));
            let mut literals = vec![store.ge(self.periods, store.int(at_least))];
            if period > 1 {
                let whole = store.mul_const(&Integer::from(period).into(), self.periods);
                literals.push(store.eq(body.counter, store.add(&[whole, store.int(rest)])));
            }
            literals.extend(self.guarded(&phases, rest, from)?);
            literals.extend(self.successor(&phases[usize::try_from(rest).expect("periods are small")]));
            literals.extend(body.nondeterministic(body.counter));
            cases.push(store.and(&literals));
        }
        Ok(cases)
    }

    /// The formula that the variables with functions have these values in the end.
    fn successor(&self, values: &[Term]) -> Vec<Term> {
        let Loop { changes, next, .. } = self.body;
        let with_function = changes.iter().zip(*next).zip(values);
        let with_function = with_function.filter(|((change, _), _)| matches!(change, Change::Function(_)));
        with_function.map(|((_, &after), &value)| self.store.eq(after, value)).collect()
    }

    // ---- the state -------------------------------------------------------------------------------------------

    /// The state after a number of whole periods.
    fn closed(&mut self) -> Result<Vec<Closed>, Obstacle> {
        let body = self.body;
        let once = self.iterate(self.period).to_vec();
        let mut closed: Vec<Option<Closed>> = vec![None; body.state.len()];
        let mut known = Substitution::new();
        let mut open: Vec<usize> = (0..body.state.len()).collect();
        while !open.is_empty() {
            let before = open.len();
            let mut failure = None;
            open.retain(|&at| {
                let found = self.closed_variable(at, once[at], &closed, &known);
                match found {
                    Ok(Some(found)) => {
                        known.insert(body.state[at], found.term);
                        closed[at] = Some(found);
                    }
                    Ok(None) => {}
                    Err(obstacle) => failure = Some(obstacle),
                }
                closed[at].is_none()
            });
            if let Some(obstacle) = failure {
                return Err(obstacle);
            }
            if open.len() == before {
                return Err(Obstacle::Form);
            }
        }
        Ok(closed.into_iter().flatten().collect())
    }

    /// The closed form of a variable, from its value after one period. `Ok(None)` if it depends on variables that have none yet.
    fn closed_variable(
        &mut self,
        at: usize,
        once: Term,
        closed: &[Option<Closed>],
        known: &Substitution,
    ) -> Result<Option<Closed>, Obstacle> {
        let (body, store, period) = (self.body, self.store, self.period);
        let variable = body.state[at];
        if once == variable {
            return Ok(Some(Closed { term: variable, from: 0 }));
        }
        let sort = store.sort_of(variable);
        let (coefficient, rest) = if sort.is_arithmetic() {
            let (coefficient, rest) = LinearPoly::from_term(store, once).split(variable);
            (coefficient, rest.to_term(store, sort))
        } else {
            (Rational::ZERO, once)
        };
        let others = store.free_vars(&[rest]);
        if others.contains(&variable) {
            return Err(Obstacle::Form);
        }
        if others.iter().any(|other| known.get(*other).is_none()) {
            return Ok(None);
        }
        let is_other: FxHashSet<Term> = others.into_iter().collect();
        let starts = closed.iter().zip(body.state).filter(|(_, variable)| is_other.contains(variable));
        let from = starts.filter_map(|(closed, _)| Some(closed.as_ref()?.from)).max().unwrap_or(0);
        if from >= MOST_CASES {
            return Err(Obstacle::Form);
        }
        let later = store.instantiate(rest, known);
        if coefficient.is_zero() {
            let before = self.earlier(later);
            let is_linear = sort == Sort::INT || !self.counts(before);
            let found = Closed { term: before, from: from + 1 };
            return if is_linear { Ok(Some(found)) } else { Err(Obstacle::Form) };
        }
        // A sum of changes, all but the first ones of which are the same number.
        let (true, Some(change)) = (coefficient.is_one(), store.numeral(later)) else {
            return Err(Obstacle::Form);
        };
        if sort != Sort::INT && !change.is_zero() {
            return Err(Obstacle::Form);
        }
        let mut summands = vec![variable];
        for number in 0..from {
            let state = self.iterate(number * period).to_vec();
            summands.extend(body.composed(&[rest], &state));
        }
        if !change.is_zero() {
            let regular = store.sub(self.periods, store.int(from));
            summands.push(store.mul_const(change, regular));
        }
        Ok(Some(Closed { term: store.add(&summands), from }))
    }

    /// A term one period earlier.
    fn earlier(&self, term: Term) -> Term {
        let store = self.store;
        self.at(term, store.sub(self.periods, store.int(1)))
    }

    /// A term after another number of periods.
    fn at(&self, term: Term, periods: Term) -> Term {
        self.store.instantiate(term, &[(self.periods, periods)].into_iter().collect())
    }

    /// Whether a term depends on the number of periods.
    fn counts(&self, term: Term) -> bool {
        self.store.free_vars(&[term]).contains(&self.periods)
    }

    // ---- guards ----------------------------------------------------------------------------------------------

    /// The formulas that the guards hold in all rounds, if some rounds follow after whole periods.
    fn guarded(
        &mut self,
        phases: &[Vec<Term>],
        rest: u64,
        from: impl Fn(Term) -> u64,
    ) -> Result<Vec<Term>, Obstacle> {
        let (body, store) = (self.body, self.store);
        let one_less = store.sub(self.periods, store.int(1));
        let mut conditions = Vec::new();
        let (mut treated, mut open): (Vec<Term>, Vec<Term>) = (Vec::new(), Vec::new());
        for &guard in &body.guards {
            let first = from(guard);
            let mut all = Vec::new();
            for (phase, values) in (0..).zip(phases) {
                let [guard] = body.composed(&[guard], values)[..] else { return Err(Obstacle::Form) };
                let last = if phase < rest { self.periods } else { one_less };
                match self.throughout(guard, store.int(first), last) {
                    Ok(condition) => all.push(condition),
                    Err(factor) if factor > 1 => return Err(Obstacle::Period(factor)),
                    Err(_) => break,
                }
            }
            if all.len() < phases.len() {
                open.push(guard);
                continue;
            }
            treated.push(guard);
            conditions.extend(all);
            conditions.extend(self.first_rounds(guard, first));
        }
        // The other ones by queries.
        while !open.is_empty() {
            if self.period > 1 {
                return Err(Obstacle::Form);
            }
            let before = open.len();
            let mut found = Vec::new();
            open.retain(|&guard| {
                let [after] = body.composed(&[guard], &body.round())[..] else { return true };
                let premises = |guard| [&treated[..], &[guard]].concat();
                let closed = || body.composed(&[guard], &phases[0]);
                let condition = if body.implies(&premises(guard), after) {
                    vec![guard]
                } else if body.implies(&premises(after), guard) {
                    closed().into_iter().map(|closed| self.at(closed, one_less)).collect()
                } else {
                    return true;
                };
                treated.push(guard);
                found.extend(condition);
                false
            });
            conditions.extend(found);
            if open.len() == before {
                return Err(Obstacle::Form);
            }
        }
        Ok(conditions)
    }

    /// A guard in the rounds of which no closed form is right.
    fn first_rounds(&mut self, guard: Term, periods: u64) -> Vec<Term> {
        let mut instances = Vec::new();
        for rounds in 0..periods * self.period {
            let state = self.iterate(rounds).to_vec();
            instances.extend(self.body.composed(&[guard], &state));
        }
        instances
    }

    /// The formula that a literal holds for all numbers of periods between two ones. If there is none, the error is the factor by which the
    /// period should be larger, or one.
    fn throughout(&self, literal: Term, first: Term, last: Term) -> Result<Term, u64> {
        let store = self.store;
        if !self.counts(literal) {
            return Ok(literal);
        }
        let bound = store.bound(literal).ok_or(1_u64)?;
        if let Some((dividend, modulus)) = store.remainder_of(bound.sum) {
            let (slope, rest) = LinearPoly::from_term(store, dividend).split(self.periods);
            let slope = slope.to_integer().ok_or(1_u64)?;
            if self.counts(rest.to_term(store, Sort::INT)) {
                return Err(1);
            }
            let factor = modulus.div_exact(&modulus.gcd(&slope));
            if !factor.is_one() {
                return Err(factor.to_u64().filter(|&factor| factor <= MOST_PERIOD).unwrap_or(1));
            }
            return Ok(self.at(literal, first));
        }
        let (slope, rest) = bound.poly(store).split(self.periods);
        let sort = store.sort_of(bound.sum);
        let rest = rest.to_term(store, sort);
        if self.counts(rest) || sort != Sort::INT {
            return Err(1);
        }
        let [at_first, at_last] = [first, last].map(|periods| self.at(literal, periods));
        let grows = !slope.is_negative();
        Ok(match bound.relation {
            Relation::AtMost | Relation::Below => {
                if grows {
                    at_last
                } else {
                    at_first
                }
            }
            Relation::AtLeast | Relation::Above => {
                if grows {
                    at_first
                } else {
                    at_last
                }
            }
            Relation::Equal => store.and2(at_first, at_last),
            Relation::Different => {
                let sum = bound.poly(store).to_term(store, sort);
                let [first, last] = [first, last].map(|periods| self.at(sum, periods));
                let zero = store.int(0);
                let positive = store.and2(store.gt(first, zero), store.gt(last, zero));
                let negative = store.and2(store.lt(first, zero), store.lt(last, zero));
                let slope = slope.to_integer().ok_or(1_u64)?;
                let slope = if slope.is_negative() { -slope } else { slope };
                store.or(&[positive, negative, store.not(store.divisible(&slope, rest))])
            }
        })
    }
}
