//! Recurrent sets: sets of facts in which a run can stay for ever.
//!
//! ```text
//! for each way to choose the clauses' variables that the fact before does not determine:
//!     choices := the rules, part by part, with all variables chosen
//!     repeat
//!         ask the engines whether a run by choices alone gets stuck
//!         if not: their model is a recurrent set, and any fact that the clauses allow begins a run into it
//!         if that run had an alternative: leave out the last choice that was not the only possible one
//!         otherwise: leave out the facts from which the same choices get stuck
//! once more, with each choice for the facts of its part only;
//!     if no choice of the run had an alternative, the last one is left out
//! ```
//!
//! This is the reduction to reachable sinks of H. Chen, B. Cook, C. Fuhs, K. Nimkar, P. O'Hearn, "Proving nontermination via
//! safety" (TACAS 2014). The sets are those of A. Gupta, T. Henzinger, R. Majumdar, A. Rybalchenko, R.-G. Xu, "Proving
//! non-termination" (POPL 2008).

use std::time::Duration;

use shofar_engines::Run;
use shofar_horn::witness::{Refutation, Step};
use shofar_logic::number::Rational;
use shofar_logic::{Assignment, LinearPoly, Sort, Substitution, Term, Value};
use shofar_run::Stop;
use shofar_smt::project::Projector;

use super::certificate::{Certificate, Choice};
use super::obligations::{Obligation, recurrence};
use super::problem::{Problem, Rule};
use super::relation::{Relations, StepRelation, convex, linear};
use super::search::{Answer, Engines};

/// The maximal number of choices of one rule.
const MOST_CHOICES: usize = 24;

/// The maximal number of refinements of one way to choose.
const MOST_ROUNDS: usize = 16;

/// How to choose a variable that nothing determines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    /// As the argument in the same place before, if it becomes an argument of the same predicate.
    Same,
    /// As small as it may be.
    Least,
    /// As great as it may be.
    Greatest,
    /// As in some model.
    Example,
}

const WAYS: [Way; 4] = [Way::Same, Way::Least, Way::Greatest, Way::Example];

/// Looks for a recurrent set. Each way to choose gets a part of the time that is left.
pub(crate) fn search(
    run: &Run<'_>,
    problem: &Problem<'_>,
    relations: &Relations,
    engines: &Engines<'_>,
) -> Result<Certificate, Stop> {
    let mut last = Stop::Exhausted("no recurrent set was found");
    let mut tried: Vec<Vec<Choice>> = Vec::new();
    let attempts = [false, true].into_iter().flat_map(|is_split| WAYS.map(|way| (way, is_split)));
    for (number, (way, is_split)) in attempts.enumerate() {
        run.go_on()?;
        let mut choices = Vec::new();
        for step in &relations.steps {
            choices.extend(choices_of(run, problem, relations, step, way, is_split)?);
        }
        // Often there is nothing to choose.
        if tried.contains(&choices) {
            continue;
        }
        let part = (2 * WAYS.len() - number) as u32;
        let limits = run.context().for_part(part, Duration::MAX).limits;
        match refine(&run.clone().with_limits(limits), problem, engines, choices.clone(), is_split) {
            Ok(certificate) => return Ok(certificate),
            Err(Stop::Exhausted(_)) => {}
            Err(stop) => last = stop,
        }
        tried.push(choices);
    }
    Err(last)
}

/// The parts of a rule with all variables chosen, for all facts or each for the facts of the part.
fn choices_of(
    run: &Run<'_>,
    problem: &Problem<'_>,
    relations: &Relations,
    step: &StepRelation,
    way: Way,
    is_split: bool,
) -> Result<Vec<Choice>, Stop> {
    let store = run.store;
    let mut solver = run.solver();
    run.assert(&mut solver, &[step.formula])?;
    let mut choices: Vec<Choice> = Vec::new();
    while choices.len() < MOST_CHOICES && run.is_satisfiable(&mut solver, &[])? {
        let model = solver.model(&[step.formula]);
        let implicant = Projector::new(store).implicant(step.formula, &model, &step.locals);
        let implicant = implicant.map_err(|error| error.stop(store))?;
        let cube: Vec<Term> =
            implicant.iter().map(|&literal| convex(store, literal, &model)).collect::<Result<_, Stop>>()?;
        run.assert(&mut solver, &[store.not(store.and(&cube))])?;
        let values = determined(problem, relations, step, &cube, &model, way);
        let now = relations.now[step.rule.source].iter().copied();
        let back: Substitution = now.zip(problem.parameters[step.rule.source].iter().copied()).collect();
        let values: Box<[Term]> = values.into_iter().map(|value| store.instantiate(value, &back)).collect();
        let mut choice = Choice { clause: step.rule.clause, when: Term::TRUE, values };
        if is_split {
            let (_, after) = problem.chosen(&step.rule, &choice);
            let mut images = back;
            step.locals.iter().zip(&choice.values).for_each(|(&local, &value)| images.insert(local, value));
            let next = &relations.next[step.rule.target];
            next.iter().zip(after).for_each(|(&variable, value)| images.insert(variable, value));
            choice.when = store.instantiate(store.and(&cube), &images);
        }
        if !choices.contains(&choice) && problem.chosen(&step.rule, &choice).0 != Term::FALSE {
            choices.push(choice);
        }
    }
    Ok(choices)
}

/// Terms for the local variables of a step over the arguments before it: what a part determines, and choices.
fn determined(
    problem: &Problem<'_>,
    relations: &Relations,
    step: &StepRelation,
    cube: &[Term],
    model: &Assignment,
    way: Way,
) -> Vec<Term> {
    let store = problem.store;
    let now = &relations.now[step.rule.source];
    let next = &relations.next[step.rule.target];
    let is_open = |variable: &Term| step.locals.contains(variable) || next.contains(variable);
    // Polynomials that are zero, and those that are not negative.
    let (mut zeros, mut bounds): (Vec<LinearPoly>, Vec<LinearPoly>) = (Vec::new(), Vec::new());
    for bound in cube.iter().filter_map(|&literal| store.bound(literal)) {
        use shofar_logic::Relation::{Above, AtLeast, AtMost, Below, Different, Equal};
        let Some(mut poly) = linear(store, bound.sum) else { continue };
        let (relation, number) = bound.rounded(store);
        poly.add_constant(&-&number);
        match relation {
            Equal => zeros.push(poly),
            AtLeast => bounds.push(poly),
            AtMost => {
                poly.scale(&(-1i64).into());
                bounds.push(poly);
            }
            Below | Above | Different => {}
        }
    }
    let mut solved: Vec<(Term, LinearPoly)> = Vec::new();
    let solve = |variable: Term, value: LinearPoly, solved: &mut Vec<(Term, LinearPoly)>| {
        solved.iter_mut().for_each(|(_, poly)| replace(poly, variable, &value));
        solved.push((variable, value));
    };
    for _ in 0..zeros.len() {
        let found = zeros.iter().enumerate().find_map(|(at, poly)| {
            let mut open = poly.terms().iter().filter(|(variable, _)| is_open(variable));
            let fits = |variable: Term, coefficient: &Rational| {
                store.sort_of(variable) == Sort::REAL || coefficient.is_one() || (-coefficient).is_one()
            };
            open.find(|(variable, coefficient)| fits(*variable, coefficient))
                .map(|&(variable, _)| (at, variable))
        });
        let Some((at, variable)) = found else { break };
        let poly = zeros.swap_remove(at);
        let Some(value) = poly.solved_for(variable) else { continue };
        zeros.iter_mut().chain(&mut bounds).for_each(|poly| replace(poly, variable, &value));
        solve(variable, value, &mut solved);
    }
    // What is open now may have any value, as far as equations go.
    let number_of = |variable: Term| match model.get(variable) {
        Some(Value::Int(number)) => Rational::from(number.clone()),
        Some(Value::Real(number)) => number.clone(),
        _ => Rational::ZERO,
    };
    let open: Vec<Term> = step.locals.iter().chain(next).copied().collect();
    for variable in open {
        if !store.sort_of(variable).is_arithmetic() || solved.iter().any(|&(other, _)| other == variable) {
            continue;
        }
        let bound = |sign: i64| {
            bounds.iter().find_map(|poly| {
                let is_bound = poly.coefficient(variable) == Rational::from(sign);
                let value = poly.solved_for(variable)?;
                (is_bound && !value.terms().iter().any(|(other, _)| is_open(other))).then_some(value)
            })
        };
        let chosen = match way {
            Way::Same => same_place(step, now, next, variable, &solved),
            Way::Least => bound(1).or_else(|| bound(-1)),
            Way::Greatest => bound(-1).or_else(|| bound(1)),
            Way::Example => None,
        };
        let value = chosen.unwrap_or_else(|| LinearPoly::from_constant(number_of(variable)));
        bounds.iter_mut().for_each(|poly| replace(poly, variable, &value));
        solve(variable, value, &mut solved);
    }
    let term = |&local: &Term| {
        if store.sort_of(local) == Sort::BOOL {
            return truth(problem, cube, now, local, model);
        }
        let found = solved.iter().find(|&&(variable, _)| variable == local);
        let sort = store.sort_of(local);
        found.map_or_else(|| store.number(&number_of(local), sort), |(_, poly)| to_term(problem, poly, sort))
    };
    step.locals.iter().map(term).collect()
}

/// The argument before a step for a variable that becomes the argument in the same place after it.
fn same_place(
    step: &StepRelation,
    now: &[Term],
    next: &[Term],
    variable: Term,
    solved: &[(Term, LinearPoly)],
) -> Option<LinearPoly> {
    if step.rule.source != step.rule.target {
        return None;
    }
    let is_it = |after: Term| {
        let value = solved.iter().find(|&&(other, _)| other == after).map(|(_, value)| value);
        after == variable
            || value.is_some_and(|value| value.as_monomial() == Some(variable) && value.constant().is_zero())
    };
    let place = next.iter().position(|&after| is_it(after))?;
    Some(LinearPoly::from_pairs(vec![(now[place], 1u64.into())], 0u64.into()))
}

/// A truth value: an argument before the step that is the same, or that of the model.
fn truth(problem: &Problem<'_>, cube: &[Term], now: &[Term], local: Term, model: &Assignment) -> Term {
    let store = problem.store;
    let same = now.iter().copied().filter(|&before| store.sort_of(before) == Sort::BOOL);
    let same = same.into_iter().find(|&before| cube.contains(&store.eq(before, local)));
    let value = matches!(model.get(local), Some(Value::Bool(true)));
    same.unwrap_or_else(|| store.bool(value))
}

/// Replaces a variable by its value.
fn replace(poly: &mut LinearPoly, variable: Term, value: &LinearPoly) {
    let (coefficient, rest) = poly.split(variable);
    if !coefficient.is_zero() {
        *poly = rest;
        poly.add_scaled(value, &coefficient);
    }
}

/// The polynomial over variables of both sorts as a term.
fn to_term(problem: &Problem<'_>, poly: &LinearPoly, sort: Sort) -> Term {
    let store = problem.store;
    let summand = |(variable, coefficient): &(Term, Rational)| {
        let is_cast = sort == Sort::REAL && store.sort_of(*variable) == Sort::INT;
        let number = if is_cast { store.to_real(*variable) } else { *variable };
        store.mul_const(coefficient, number)
    };
    let is_integral = sort == Sort::REAL
        || poly.constant().is_integer()
            && poly.terms().iter().all(|(variable, coefficient)| {
                coefficient.is_integer() && store.sort_of(*variable) == Sort::INT
            });
    if !is_integral {
        return store.number(&Rational::ZERO, sort);
    }
    let constant = store.number(poly.constant(), sort);
    store.add(&poly.terms().iter().map(summand).chain([constant]).collect::<Vec<Term>>())
}

/// Leaves out choices and facts until no run gets stuck.
fn refine(
    run: &Run<'_>,
    problem: &Problem<'_>,
    engines: &Engines<'_>,
    mut choices: Vec<Choice>,
    is_split: bool,
) -> Result<Certificate, Stop> {
    let store = run.store;
    // What facts must satisfy not to get stuck as others did.
    let mut kept: Vec<Term> = vec![Term::TRUE; problem.facts.len()];
    for _ in 0..MOST_ROUNDS {
        run.go_on()?;
        let entry = |(&fact, &kept): (&usize, &Term)| {
            let clause = problem.clause(fact);
            let head = clause.head.as_ref()?;
            let constraint = store.and2(store.normalize(clause.constraint), kept);
            Some((head.predicate.index(), head.args.to_vec(), constraint))
        };
        let entries: Vec<_> = problem.facts.iter().zip(&kept).filter_map(entry).collect();
        let Some(stem) = first_fact(run, problem, &kept)? else { break };
        let obligation = recurrence(problem, &entries, &choices)?;
        match engines.ask(run, &obligation.system)? {
            Answer::Model(model) => return Ok(Certificate::Recurrence { run: stem, choices, model }),
            Answer::Refutation(refutation) => {
                let path = Path::of(problem, &obligation, &refutation, &choices)?;
                let last = if is_split { path.taken.last().copied() } else { None };
                match path.last_alternative(problem, &choices).or(last) {
                    Some(choice) => {
                        choices.remove(choice);
                    }
                    None => {
                        let stuck = path.stuck_from(problem, &choices);
                        kept[path.fact] = store.and2(kept[path.fact], store.not(stuck));
                    }
                }
            }
        }
    }
    Err(Stop::Exhausted("no recurrent set was found"))
}

/// A run of one fact that satisfies what is required.
fn first_fact(run: &Run<'_>, problem: &Problem<'_>, kept: &[Term]) -> Result<Option<Refutation>, Stop> {
    let store = run.store;
    for (&number, &kept) in problem.facts.iter().zip(kept) {
        let clause = problem.clause(number);
        let Some(head) = &clause.head else { continue };
        let formulas = [store.normalize(clause.constraint), kept];
        let mut solver = run.solver();
        run.assert(&mut solver, &formulas)?;
        if !run.is_satisfiable(&mut solver, &[])? {
            continue;
        }
        let model = solver.model(&formulas);
        let value = |&variable: &Term| {
            let known = model.get(variable).cloned();
            known.unwrap_or_else(|| store.default_value(store.sort_of(variable)))
        };
        let instantiation: Box<[Value]> = clause.variables.iter().map(value).collect();
        let values: Assignment =
            clause.variables.iter().copied().zip(instantiation.iter().cloned()).collect();
        let evaluated = |&arg: &Term| {
            store.eval(arg, &values).map_err(|error| {
                Stop::Unsupported(format!(
                    "a fact with an argument without a value: {}",
                    error.display(store)
                ))
            })
        };
        let fact = head.args.iter().map(evaluated).collect::<Result<_, Stop>>()?;
        let step = Step { clause: number, instantiation, premises: Box::default(), fact };
        return Ok(Some(Refutation { steps: vec![step] }));
    }
    Ok(None)
}

/// A run by choices that gets stuck.
struct Path {
    /// The position of its first fact among the facts.
    fact: usize,
    /// The choices in order.
    taken: Vec<usize>,
    /// The predicates and arguments, one more than the choices.
    states: Vec<(usize, Vec<Value>)>,
}

impl Path {
    fn of(
        problem: &Problem<'_>,
        obligation: &Obligation,
        refutation: &Refutation,
        choices: &[Choice],
    ) -> Result<Self, Stop> {
        let broken = || Stop::Internal("a refutation of linear clauses is no run".to_owned());
        let facts = problem.facts.len();
        let (mut taken, mut states, mut fact) = (Vec::new(), Vec::new(), None);
        let mut at = refutation.steps.last().ok_or_else(broken)?.premises.first().copied();
        while let Some(number) = at {
            let step = &refutation.steps[number];
            let head = obligation.system.clauses[step.clause].head.as_ref().ok_or_else(broken)?;
            states.push((head.predicate.index(), step.fact.to_vec()));
            match step.clause.checked_sub(facts) {
                Some(choice) if choice < choices.len() => taken.push(choice),
                Some(_) => return Err(broken()),
                None => fact = Some(step.clause),
            }
            at = step.premises.first().copied();
        }
        taken.reverse();
        states.reverse();
        Ok(Path { fact: fact.ok_or_else(broken)?, taken, states })
    }

    /// The last choice of the run where another one was possible, too.
    fn last_alternative(&self, problem: &Problem<'_>, choices: &[Choice]) -> Option<usize> {
        let store = problem.store;
        self.taken.iter().enumerate().rev().find_map(|(number, &taken)| {
            let (predicate, state) = &self.states[number];
            let values: Assignment =
                problem.parameters[*predicate].iter().copied().zip(state.iter().cloned()).collect();
            let is_possible = |(index, choice): (usize, &Choice)| {
                let rule = rule_of(problem, choice);
                index != taken
                    && rule.source == *predicate
                    && matches!(store.eval(problem.chosen(rule, choice).0, &values), Ok(Value::Bool(true)))
            };
            choices.iter().enumerate().any(is_possible).then_some(taken)
        })
    }

    /// When the same choices get stuck, over the variables of the first fact.
    fn stuck_from(&self, problem: &Problem<'_>, choices: &[Choice]) -> Term {
        let store = problem.store;
        let head = problem.clause(problem.facts[self.fact]).head.as_ref();
        let mut args: Vec<Term> =
            head.map_or_else(Vec::new, |head| head.args.iter().map(|&arg| store.normalize(arg)).collect());
        let mut conditions = Vec::new();
        for (number, &taken) in self.taken.iter().enumerate() {
            let predicate = self.states[number].0;
            let (guard, after) = problem.chosen(rule_of(problem, &choices[taken]), &choices[taken]);
            conditions.extend(problem.at(&[guard], predicate, &args));
            args = problem.at(&after, predicate, &args);
        }
        let end = self.states[self.taken.len()].0;
        for choice in choices.iter().filter(|choice| rule_of(problem, choice).source == end) {
            let guard = problem.chosen(rule_of(problem, choice), choice).0;
            conditions.push(store.not(problem.at(&[guard], end, &args)[0]));
        }
        store.and(&conditions)
    }
}

/// The rule of a choice.
fn rule_of<'p>(problem: &'p Problem<'_>, choice: &Choice) -> &'p Rule {
    let rule = problem.rules.iter().find(|rule| rule.clause == choice.clause);
    rule.expect("choices are made of rules")
}
