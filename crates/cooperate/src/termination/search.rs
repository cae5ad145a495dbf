//! Questions to the engines, and the runs of their refutations.

use shofar_engines::Run;
use shofar_horn::HornSystem;
use shofar_horn::witness::{Model, Refutation, Step};
use shofar_logic::{Assignment, Value};
use shofar_run::Stop;

use super::obligations::Obligation;
use super::problem::Problem;
use crate::driver::{Options, Verdict, solve};

/// The engines that decide questions of safety.
pub(crate) struct Engines<'o> {
    pub(crate) options: &'o Options,
}

/// The checked answer to a question.
pub(crate) enum Answer {
    Model(Model),
    Refutation(Refutation),
}

impl Engines<'_> {
    /// Decides clauses within the limits of the run.
    pub(crate) fn ask(&self, run: &Run<'_>, system: &HornSystem) -> Result<Answer, Stop> {
        // The events of the engines would be about clauses that nobody knows.
        let silent = run.clone().with_events(&());
        match solve(system, self.options, &silent).verdict {
            Verdict::Sat(model) if model.lemmas.is_empty() => Ok(Answer::Model(model)),
            Verdict::Sat(_) | Verdict::Proved(_) | Verdict::Saturated(_) => {
                Err(Stop::Exhausted("the engines proved what they were asked without a model of formulas"))
            }
            Verdict::Unsat(refutation) => Ok(Answer::Refutation(refutation)),
            Verdict::Unknown(stop) => Err(stop),
        }
    }
}

/// A step of a refutation of an obligation, as one of the original clauses.
pub(crate) struct Taken {
    /// The original clause.
    pub(crate) clause: usize,
    /// Its arguments of the head.
    pub(crate) fact: Vec<Value>,
    /// Whether the step has a pair of facts as its conclusion.
    pub(crate) is_pair: bool,
    values: Assignment,
}

/// The steps of a refutation of linear clauses in order, without the query.
pub(crate) fn steps_in_order(
    problem: &Problem<'_>,
    obligation: &Obligation,
    refutation: &Refutation,
) -> Result<Vec<Taken>, Stop> {
    let broken = || Stop::Internal("a refutation of linear clauses is no run".to_owned());
    let mut taken = Vec::new();
    let mut at = refutation.steps.last().ok_or_else(broken)?.premises.first().copied();
    while let Some(number) = at {
        let step = &refutation.steps[number];
        let clause = obligation.origins[step.clause].ok_or_else(broken)?;
        let made = &obligation.system.clauses[step.clause];
        let values: Assignment =
            made.variables.iter().copied().zip(step.instantiation.iter().cloned()).collect();
        let head = problem.clause(clause).head.as_ref().ok_or_else(broken)?;
        let value = |&arg: &_| problem.store.eval(arg, &values).map_err(|_| broken());
        let fact = head.args.iter().map(value).collect::<Result<Vec<Value>, Stop>>()?;
        let is_pair =
            made.head.as_ref().is_some_and(|made| made.predicate.index() >= problem.parameters.len());
        taken.push(Taken { clause, fact, is_pair, values });
        at = step.premises.first().copied();
    }
    taken.reverse();
    Ok(taken)
}

/// The run of these steps in the original clauses.
pub(crate) fn run_of(problem: &Problem<'_>, taken: &[Taken]) -> Refutation {
    let store = problem.store;
    let step = |(number, taken): (usize, &Taken)| {
        let value = |&variable: &_| {
            let known = taken.values.get(variable).cloned();
            known.unwrap_or_else(|| store.default_value(store.sort_of(variable)))
        };
        Step {
            clause: taken.clause,
            instantiation: problem.clause(taken.clause).variables.iter().map(value).collect(),
            premises: number.checked_sub(1).into_iter().collect(),
            fact: taken.fact.clone().into(),
        }
    };
    Refutation { steps: taken.iter().enumerate().map(step).collect() }
}
