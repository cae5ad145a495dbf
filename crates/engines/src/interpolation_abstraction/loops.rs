//! Templates of loops, by executing a round on two static domains.
//!
//! A round starts at a loop head, where each argument is itself, and goes once through the loop. An argument on the way is an argument
//! at the head plus a constant, or unknown. Each way through the clauses and their disjunctions is a case of its own, up to a number;
//! beyond that, cases join. Back at the head,
//!
//! - *identity*: an argument that no case has changed is a cheap template;
//! - *stride*: if one round changes `x` by `c` and `y` by `d`, it preserves `d x - c y`, which is a cheap template. Arguments of which
//!   each case knows the change are dearer, and all others much dearer.
//!
//! Truth values are always cheap, because interpolants cannot count with them. Inner loops are a part of the round of the outer one; what
//! they change is unknown as soon as the cases join. For an inner loop, a round of the outer one is one more case. Templates need no proof,
//! so all of this may miss something.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_horn::transform::solve_equations;
use shofar_logic::number::Rational;
use shofar_logic::{LinearPoly, Op, Sort, Term, TermStore};
use shofar_run::Stop;

use super::{CHEAP, DEAR, STRIDE, Weighted};
use crate::Run;

/// The cases of a clause, and of a place, before they join.
const MOST_CASES: usize = 12;

/// Sums at one place.
const MOST_SUMS: usize = 40;

/// A step between two places: a formula about the arguments before and after it.
pub(crate) struct Step<'s> {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) before: &'s [Term],
    pub(crate) after: &'s [Term],
    pub(crate) formula: Term,
}

/// For each argument: an earlier argument, and what was added; `None` if that is unknown.
type Case = Vec<Option<(usize, Rational)>>;

/// For each loop head, the templates over its variables with their costs; `None` for the other places.
pub(super) fn templates(
    run: &Run<'_>,
    variables: &[Box<[Term]>],
    steps: &[Step<'_>],
) -> Result<Vec<Option<Weighted>>, Stop> {
    let mut program = Program::new(variables.len(), steps);
    let heads = program.heads();
    let mut templates = vec![None; variables.len()];
    for (head, template) in templates.iter_mut().enumerate().filter(|&(place, _)| heads[place]) {
        let rounds = program.rounds(run, head, variables[head].len())?;
        *template = Some(of_rounds(run.store, &variables[head], &rounds));
    }
    Ok(templates)
}

/// The templates of a loop head.
fn of_rounds(store: &TermStore, variables: &[Term], rounds: &[Case]) -> Weighted {
    let change = |case: &Case, at: usize| {
        case[at].as_ref().filter(|(from, _)| *from == at).map(|(_, change)| change.clone())
    };
    let mut templates = Weighted::new();
    for case in rounds {
        let stride = |at: usize| Some((at, change(case, at).filter(|change| !change.is_zero())?));
        let strides: Vec<(usize, Rational)> = (0..variables.len()).filter_map(stride).collect();
        for (number, (x, by_x)) in strides.iter().enumerate() {
            for (y, by_y) in &strides[number + 1..] {
                let (x, y) = (variables[*x], variables[*y]);
                let sort = store.sort_of(x);
                if sort != store.sort_of(y) || templates.len() >= MOST_SUMS {
                    continue;
                }
                let sum = LinearPoly::from_pairs(vec![(x, by_y.clone()), (y, -by_x)], Rational::ZERO);
                let sum = if sum.terms()[0].1.is_negative() { -sum } else { sum };
                let sum = (sum.primitive().0.to_term(store, sort), CHEAP);
                if !templates.contains(&sum) {
                    templates.push(sum);
                }
            }
        }
    }
    for (at, &variable) in variables.iter().enumerate() {
        let changes: Vec<Option<Rational>> = rounds.iter().map(|case| change(case, at)).collect();
        let cost = if store.sort_of(variable) == Sort::BOOL
            || changes.iter().all(|it| *it == Some(Rational::ZERO))
        {
            CHEAP
        } else if changes.iter().all(Option::is_some) {
            STRIDE
        } else {
            DEAR
        };
        templates.push((variable, cost));
    }
    templates
}

/// A program on the static domains.
struct Program<'s> {
    steps: &'s [Step<'s>],
    /// By places: the steps from there.
    outgoing: Vec<Vec<usize>>,
    /// By steps, once they are needed.
    cases: Vec<Option<Vec<Case>>>,
}

impl<'s> Program<'s> {
    fn new(places: usize, steps: &'s [Step<'s>]) -> Self {
        let mut outgoing = vec![Vec::new(); places];
        for (at, step) in steps.iter().enumerate() {
            outgoing[step.from].push(at);
        }
        Program { steps, outgoing, cases: vec![None; steps.len()] }
    }

    /// The places that a depth-first search enters again before it has left them: each loop has one.
    fn heads(&self) -> Vec<bool> {
        let places = self.outgoing.len();
        let (mut is_known, mut is_open, mut heads) =
            (vec![false; places], vec![false; places], vec![false; places]);
        for start in 0..places {
            let mut path: Vec<(usize, usize)> = Vec::new();
            let mut entered = (!is_known[start]).then_some(start);
            loop {
                if let Some(place) = entered.take() {
                    (is_known[place], is_open[place]) = (true, true);
                    path.push((place, 0));
                }
                let Some((place, next)) = path.last_mut() else { break };
                let Some(&step) = self.outgoing[*place].get(*next) else {
                    is_open[*place] = false;
                    path.pop();
                    continue;
                };
                *next += 1;
                let to = self.steps[step].to;
                heads[to] |= is_open[to];
                entered = (!is_known[to]).then_some(to);
            }
        }
        heads
    }

    /// The places from which there is a way to a place.
    fn before(&self, place: usize) -> Vec<bool> {
        let mut incoming: Vec<Vec<usize>> = vec![Vec::new(); self.outgoing.len()];
        self.steps.iter().for_each(|step| incoming[step.to].push(step.from));
        let mut is_before = vec![false; self.outgoing.len()];
        let mut open = vec![place];
        while let Some(from) = open.pop().map(|place| &incoming[place]) {
            open.extend(from.iter().filter(|&&place| !std::mem::replace(&mut is_before[place], true)));
        }
        is_before
    }

    /// Where the arguments of a loop head come from after a round, one case for each way.
    fn rounds(&mut self, run: &Run<'_>, head: usize, arity: usize) -> Result<Vec<Case>, Stop> {
        let is_inside = self.before(head);
        let mut known: Vec<Cases> = self.outgoing.iter().map(|_| Cases::default()).collect();
        let mut rounds = Cases::default();
        known[head].add((0..arity).map(|at| Some((at, Rational::ZERO))).collect());
        let mut open = VecDeque::from([head]);
        while let Some(place) = open.pop_front() {
            for at in 0..self.outgoing[place].len() {
                run.go_on()?;
                let step = self.outgoing[place][at];
                let to = self.steps[step].to;
                if !is_inside[to] {
                    continue;
                }
                let step = &self.steps[step];
                let changes =
                    self.cases[self.outgoing[place][at]].get_or_insert_with(|| cases(run.store, step));
                let mut is_new = false;
                let here = known[place].cases.clone();
                for change in changes {
                    for case in &here {
                        let after = if to == head { &mut rounds } else { &mut known[to] };
                        is_new |= after.add(composed(case, change));
                    }
                }
                if is_new && to != head && !open.contains(&to) {
                    open.push_back(to);
                }
            }
        }
        Ok(rounds.cases)
    }
}

/// Where arguments come from after a case and a change.
fn composed(case: &Case, change: &Case) -> Case {
    let origin = |after: &Option<(usize, Rational)>| {
        let (middle, change) = after.as_ref()?;
        let (from, before) = case[*middle].as_ref()?;
        Some((*from, before + change))
    };
    change.iter().map(origin).collect()
}

/// The cases of a place. Too many become one, which knows what they agree on.
#[derive(Default)]
struct Cases {
    cases: Vec<Case>,
    is_joined: bool,
}

impl Cases {
    /// Adds a case; returns whether this is news.
    fn add(&mut self, case: Case) -> bool {
        if self.is_joined {
            return join(&mut self.cases[0], &case);
        }
        if self.cases.contains(&case) {
            return false;
        }
        self.cases.push(case);
        if self.cases.len() > MOST_CASES {
            let mut joined = self.cases.swap_remove(0);
            for case in self.cases.drain(..) {
                join(&mut joined, &case);
            }
            self.cases.push(joined);
            self.is_joined = true;
        }
        true
    }
}

/// Forgets what another case does not agree on; returns whether there is such.
fn join(joined: &mut Case, other: &Case) -> bool {
    let mut is_new = false;
    for (known, other) in joined.iter_mut().zip(other) {
        if known.is_some() && known != other {
            *known = None;
            is_new = true;
        }
    }
    is_new
}

/// Where the arguments after a step come from: one case for each way through its disjunctions.
fn cases(store: &TermStore, step: &Step<'_>) -> Vec<Case> {
    let before: FxHashMap<Term, usize> = step.before.iter().copied().zip(0..).collect();
    let after: FxHashSet<Term> = step.after.iter().copied().collect();
    let rank =
        |variable: Term| (!before.contains_key(&variable)).then(|| u32::from(after.contains(&variable)));
    let mut cases: Vec<Case> = Vec::new();
    for way in ways(store, step.formula, &after) {
        let solved = solve_equations(store, way, rank);
        if solved.rest.contains(&Term::FALSE) {
            continue;
        }
        let definitions: FxHashMap<Term, Term> = solved.definitions.into_iter().collect();
        let origin = |variable: &Term| {
            let &term = definitions.get(variable)?;
            if let Some(&at) = before.get(&term) {
                return Some((at, Rational::ZERO));
            }
            if !store.sort_of(term).is_arithmetic() {
                return None;
            }
            let sum = LinearPoly::from_term(store, term);
            match sum.terms() {
                [(variable, factor)] if factor.is_one() => {
                    Some((*before.get(variable)?, sum.constant().clone()))
                }
                _ => None,
            }
        };
        let case = step.after.iter().map(origin).collect();
        if !cases.contains(&case) {
            cases.push(case);
        }
    }
    cases
}

/// Formulas whose disjunction is the given one: without disjunctions about the arguments after the step, if these are few.
fn ways(store: &TermStore, formula: Term, after: &FxHashSet<Term>) -> Vec<Term> {
    let mut open = vec![formula];
    let mut ways = Vec::new();
    while let Some(way) = open.pop() {
        let choices = store.conjuncts(way).find_map(|conjunct| {
            let is_about =
                |conjunct| store.free_vars(&[conjunct]).iter().any(|variable| after.contains(variable));
            Some(conjunct).zip(alternatives(store, conjunct).filter(|_| is_about(conjunct)))
        });
        match choices {
            Some((chosen, alternatives)) if ways.len() + open.len() + alternatives.len() <= MOST_CASES => {
                let others: Vec<Term> = store.conjuncts(way).filter(|&other| other != chosen).collect();
                let with = |alternative: Term| store.and_of(others.iter().copied().chain([alternative]));
                open.extend(alternatives.into_iter().map(with));
            }
            _ => ways.push(way),
        }
    }
    ways
}

/// Formulas whose disjunction is the given one, if there are several.
fn alternatives(store: &TermStore, formula: Term) -> Option<Vec<Term>> {
    let (chosen, with): (Term, Box<dyn Fn(Term) -> Term>) = match store.view(formula) {
        (Op::Ite, _) => (formula, Box::new(|part| part)),
        (Op::Eq, &[left, _]) if store.sort_of(left).is_arithmetic() => {
            let (sort, sum) = (store.sort_of(left), store.bound(formula)?.poly(store));
            let is_choice = |&&(term, _): &&(Term, Rational)| store.op(term) == Op::Ite;
            let (chosen, factor) = sum.terms().iter().find(is_choice)?.clone();
            let rest = sum + &LinearPoly::from_pairs(vec![(chosen, -&factor)], Rational::ZERO);
            let with = move |part: Term| {
                let sum = rest.clone() + &(LinearPoly::from_term(store, part) * &factor);
                store.eq(sum.to_term(store, sort), store.number(&Rational::ZERO, sort))
            };
            (chosen, Box::new(with))
        }
        (Op::Eq, &[left, right]) => {
            let is_choice = |term: &Term| store.op(*term) == Op::Ite;
            let chosen = [left, right].into_iter().find(is_choice)?;
            let other = if chosen == left { right } else { left };
            (chosen, Box::new(move |part| store.eq(part, other)))
        }
        _ => {
            let disjuncts: Vec<Term> = store.disjuncts(formula).collect();
            return (disjuncts.len() > 1).then_some(disjuncts);
        }
    };
    let (_, &[condition, yes, no]) = store.view(chosen) else { return None };
    Some(vec![store.and2(condition, with(yes)), store.and2(store.not(condition), with(no))])
}
