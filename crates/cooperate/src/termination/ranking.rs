//! Lexicographic ranking functions with supporting invariants.
//!
//! ```text
//! for each loop:                                        a strongly connected component of predicates
//!     repeat
//!         functions := lexicographic(parts)             farkas.rs
//!         mark the parts that are not ranked as hard
//!         if a step outside of the hard parts is not ranked:
//!             add the convex part around it
//!         else if no part is hard: done                 the invariant is true
//!         else ask the engines whether a reachable step is not ranked:
//!             if not: done                              their model is the invariant
//!             add this step as a part of its own
//! ```
//!
//! A part is hard if no function ranks it whether its facts are reachable or not. Then examples of reachable steps lead the
//! search, and functions with small coefficients generalise them; the engines find the invariants that are needed.
//!
//! A step from one component to another decreases the number of the component, which is the first function.

use std::time::Duration;

use shofar_engines::Run;
use shofar_horn::witness::{Definition, Interpretation, Model, Refutation};
use shofar_logic::{Assignment, Sort, Term, TermStore, Value};
use shofar_run::Stop;

use super::certificate::{Certificate, Ranks};
use super::farkas::{self, Functions, lexicographic};
use super::obligations::{Obligation, decreases, ranking};
use super::problem::Problem;
use super::relation::{Part, Relations};
use super::search::{Answer, Engines};

/// The maximal number of parts of a loop.
const MOST_PARTS: usize = 200;

/// The maximal number of examples on which functions had to be bounded for themselves: by then they do not generalise.
const MOST_EXCEPTIONS: usize = 12;

/// The search, which goes on where it was interrupted.
pub(crate) struct Ranking {
    loops: Vec<Loop>,
}

/// A component and what is known of it.
struct Loop {
    component: usize,
    parts: Vec<Part>,
    /// Whether each part is hard.
    is_hard: Vec<bool>,
    done: Option<(Vec<Functions>, Option<Model>)>,
}

impl Ranking {
    pub(crate) fn new(problem: &Problem<'_>) -> Self {
        let of_component = |component| Loop { component, parts: Vec::new(), is_hard: Vec::new(), done: None };
        Ranking { loops: problem.loops().into_iter().map(of_component).collect() }
    }

    /// Goes on with the search. Each question to the engines gets the time of a slice.
    pub(crate) fn search(
        &mut self,
        run: &Run<'_>,
        slice: Duration,
        problem: &Problem<'_>,
        relations: &Relations,
        engines: &Engines<'_>,
    ) -> Result<Certificate, Stop> {
        for found in &mut self.loops {
            if found.done.is_none() {
                found.done = Some(found.search(run, slice, problem, relations, engines)?);
            }
        }
        let empty = (Vec::new(), None);
        let results: Vec<_> = self.loops.iter().map(|found| found.done.as_ref().unwrap_or(&empty)).collect();
        let models = results.iter().filter_map(|(_, model)| model.as_ref());
        let model = conjunction(problem, models);
        let loops =
            self.loops.iter().map(|found| found.component).zip(results.iter().map(|(found, _)| found));
        Ok(Certificate::Ranking { ranks: assembled(problem, &loops.collect::<Vec<_>>()), model })
    }
}

impl Loop {
    fn search(
        &mut self,
        run: &Run<'_>,
        slice: Duration,
        problem: &Problem<'_>,
        relations: &Relations,
        engines: &Engines<'_>,
    ) -> Result<(Vec<Functions>, Option<Model>), Stop> {
        let arities: Vec<usize> = problem.parameters.iter().map(|parameters| parameters.len()).collect();
        loop {
            run.go_on()?;
            if self.parts.len() > MOST_PARTS {
                return Err(Stop::Exhausted("the steps of a loop have too many parts"));
            }
            let exceptions = self.parts.iter().filter(|part| part.is_point && part.wide.is_none());
            if exceptions.count() > MOST_EXCEPTIONS {
                return Err(Stop::Exhausted("linear functions rank examples of steps only"));
            }
            let active: Vec<usize> = (0..self.parts.len()).filter(|&index| !self.is_hard[index]).collect();
            let parts: Vec<&Part> = active.iter().map(|&index| &self.parts[index]).collect();
            let (functions, open) = lexicographic(run, &arities, &parts)?;
            if !open.is_empty() {
                if open.iter().any(|&index| parts[index].is_point && parts[index].wide.is_none()) {
                    return Err(Stop::Exhausted("no linear functions rank the reachable steps"));
                }
                for index in open.into_iter().map(|index| active[index]) {
                    let part = &mut self.parts[index];
                    if part.wide.take().is_none() {
                        self.is_hard[index] = true;
                    }
                }
                continue;
            }
            if let Some(part) = self.unranked(run, problem, relations, &functions)? {
                self.parts.push(part);
                self.is_hard.push(false);
                continue;
            }
            if !self.is_hard.contains(&true) {
                return Ok((functions, None));
            }
            let ranks = assembled(problem, &[(self.component, &functions)]);
            let obligation = ranking(problem, &ranks, Some(self.component))?;
            let limited = run.clone().with_limits(run.context().for_part(1, slice).limits);
            match engines.ask(&limited, &obligation.system)? {
                Answer::Model(model) => return Ok((functions, Some(model))),
                Answer::Refutation(refutation) => {
                    let (mut point, values) = unranked_step(problem, relations, &obligation, &refutation)?;
                    // Functions that are bounded by the guards of the step generalise.
                    let around = self.parts.iter().zip(&self.is_hard).find(|&(part, &is_hard)| {
                        is_hard && part.ends == point.ends && holds(run.store, part.formula, &values)
                    });
                    point.wide = around.map(|(part, _)| part.rows.clone());
                    self.parts.push(point);
                    self.is_hard.push(false);
                }
            }
        }
    }

    /// The part around a step outside of the hard parts that the functions do not rank.
    fn unranked(
        &self,
        run: &Run<'_>,
        problem: &Problem<'_>,
        relations: &Relations,
        functions: &[Functions],
    ) -> Result<Option<Part>, Stop> {
        let store = run.store;
        let sort = number_sort(problem);
        for step in &relations.steps {
            let rule = step.rule;
            if problem.component_of_rule(&rule) != Some(self.component) {
                continue;
            }
            let (now, next) = (&relations.now[rule.source], &relations.next[rule.target]);
            let values = |predicate: usize, args: &[Term]| -> Vec<Term> {
                functions
                    .iter()
                    .map(|functions| farkas::at(store, &functions[predicate], args, sort))
                    .collect()
            };
            let falls = decreases(store, &values(rule.source, now), &values(rule.target, next));
            let mut solver = run.solver();
            run.assert(&mut solver, &[step.formula, store.not(falls)])?;
            let hard = self
                .parts
                .iter()
                .zip(&self.is_hard)
                .filter(|&(part, &is_hard)| is_hard && part.before == *now && part.after == *next);
            let others: Vec<Term> = hard.map(|(part, _)| store.not(part.formula)).collect();
            run.assert(&mut solver, &others)?;
            if run.is_satisfiable(&mut solver, &[])? {
                let all: Vec<Term> = [&[step.formula, falls], &others[..]].concat();
                let model = solver.model(&all);
                let ends = (rule.source, rule.target);
                return Ok(Some(Part::around(run, step.formula, &model, ends, now, next)?));
            }
        }
        Ok(None)
    }
}

/// The step with which a refutation of an obligation ends, and the values of the arguments before and after it.
fn unranked_step(
    problem: &Problem<'_>,
    relations: &Relations,
    obligation: &Obligation,
    refutation: &Refutation,
) -> Result<(Part, Assignment), Stop> {
    let store = problem.store;
    let broken = || Stop::Internal("a refutation does not end with a step".to_owned());
    let last = refutation.steps.last().ok_or_else(broken)?;
    let origin = obligation.origins[last.clause].ok_or_else(broken)?;
    let rule = *problem.rules.iter().find(|rule| rule.clause == origin).ok_or_else(broken)?;
    let variables = obligation.system.clauses[last.clause].variables.iter().copied();
    let values = variables.zip(last.instantiation.iter().cloned()).collect();
    let evaluated = |args: &[Term]| -> Result<Vec<Value>, Stop> {
        let value = |&arg: &Term| store.eval(arg, &values).map_err(|_| broken());
        args.iter().map(value).collect()
    };
    let (before, after) = (evaluated(problem.body(&rule))?, evaluated(problem.head(&rule))?);
    let ends = (rule.source, rule.target);
    let (now, next) = (&relations.now[rule.source], &relations.next[rule.target]);
    let arguments = now.iter().chain(next).copied();
    let point = Part::point(store, ends, (now, &before), (next, &after));
    Ok((point, arguments.zip(before.into_iter().chain(after)).collect()))
}

/// Whether a formula is true.
fn holds(store: &TermStore, formula: Term, values: &Assignment) -> bool {
    matches!(store.eval(formula, values), Ok(Value::Bool(true)))
}

/// The functions of all loops as terms, behind the number of the component if there are several.
fn assembled(problem: &Problem<'_>, loops: &[(usize, &Vec<Functions>)]) -> Ranks {
    let store = problem.store;
    let sort = number_sort(problem);
    let longest = loops.iter().map(|(_, functions)| functions.len()).max().unwrap_or(0);
    let has_several = problem.rules.iter().any(|rule| problem.component_of_rule(rule).is_none());
    let number = |number: usize| store.number(&(number as u64).into(), sort);
    let of_predicate = |predicate: usize| {
        let component = problem.components[predicate];
        let mut functions: Vec<Term> = if has_several { vec![number(component)] } else { Vec::new() };
        let own = loops.iter().filter(|(of, _)| *of == component).flat_map(|(_, functions)| functions.iter());
        let parameters = &problem.parameters[predicate];
        functions.extend(own.map(|functions| farkas::at(store, &functions[predicate], parameters, sort)));
        functions.resize(longest + usize::from(has_several), number(0));
        functions
    };
    (0..problem.parameters.len()).map(of_predicate).collect()
}

/// Real numbers if some argument is one.
pub(crate) fn number_sort(problem: &Problem<'_>) -> Sort {
    let parameters = problem.parameters.iter().flatten();
    let has_reals = parameters.into_iter().any(|&parameter| problem.store.sort_of(parameter) == Sort::REAL);
    if has_reals { Sort::REAL } else { Sort::INT }
}

/// The conjunction of models of the facts and rules of a problem, which is one, too.
fn conjunction<'m>(problem: &Problem<'_>, models: impl Iterator<Item = &'m Model>) -> Model {
    let store = problem.store;
    let mut formulas: Vec<Vec<Term>> = vec![Vec::new(); problem.parameters.len()];
    for model in models {
        for (index, definition) in model.definitions.iter().enumerate() {
            let Interpretation::Formula(formula) = definition.interpretation;
            let parameters = definition.parameters.iter().copied();
            let images = parameters.zip(problem.parameters[index].iter().copied()).collect();
            formulas[index].push(store.normalize(store.substitute(formula, &images)));
        }
    }
    let definition = |(index, formulas): (usize, Vec<Term>)| Definition {
        parameters: problem.parameters[index].clone(),
        interpretation: store.and(&formulas).into(),
    };
    Model { definitions: formulas.into_iter().enumerate().map(definition).collect(), lemmas: Vec::new() }
}
