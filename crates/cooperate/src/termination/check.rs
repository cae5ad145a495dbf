//! The check of certificates.
//!
//! A certificate is valid if the system that `obligations.rs` makes for it has its model, and if its run is one: both are decided
//! by the checker of models and refutations. What remains to be checked is here: functions and choices are terms over
//! parameters, the predicates that are looked at are on all cycles, and a run ends where the certificate says.
//!
//! The check knows nothing of the search.

use rustc_hash::FxHashSet;
use shofar_horn::check::{Fault, Trust, Validity, check_model, check_refutation};
use shofar_horn::witness::{Model, Refutation, Step};
use shofar_horn::{Context, HornSystem};
use shofar_logic::{Sort, Term, Value};
use shofar_run::Stop;

use super::certificate::{Certificate, Choice, Ranks};
use super::obligations::{Covered, Obligation, bound, pairs, ranking, reaching, recurrence};
use super::problem::Problem;

/// Checks that a certificate proves its answer for the clauses of a system.
pub fn check(
    context: &Context<'_>,
    system: &HornSystem,
    certificate: &Certificate,
    trust: Trust,
) -> Validity {
    let checked = Problem::of(context.store, system)
        .map_err(Validity::Unknown)
        .and_then(|problem| check_parts(context, &problem, certificate, trust));
    checked.err().unwrap_or(Validity::Valid)
}

fn check_parts(
    context: &Context<'_>,
    problem: &Problem<'_>,
    certificate: &Certificate,
    trust: Trust,
) -> Result<(), Validity> {
    match certificate {
        Certificate::Ranking { model, .. }
        | Certificate::Disjunctive { model, .. }
        | Certificate::Bound { model, .. } => has_model(context, problem, certificate, None, model, trust),
        Certificate::Lasso { run, start } => {
            check_run(context, problem, run)?;
            comes_back(problem, run, *start)
        }
        Certificate::Recurrence { run, model, .. } => {
            check_run(context, problem, run)?;
            has_model(context, problem, certificate, Some(run), model, trust)
        }
    }
}

/// The system whose model a certificate has, with its run. The error is [`Stop::Internal`] if the
/// certificate is malformed.
pub(crate) fn obligation(
    problem: &Problem<'_>,
    certificate: &Certificate,
    run: Option<&Refutation>,
) -> Result<Option<Obligation>, Stop> {
    let made = match certificate {
        Certificate::Ranking { ranks, .. } => {
            are_functions(problem, ranks)?;
            if ranks.iter().any(|functions| functions.len() != ranks[0].len()) {
                return Err(wrong("predicates have different numbers of functions"));
            }
            ranking(problem, ranks, None)?
        }
        Certificate::Disjunctive { ranks, .. } => {
            are_functions(problem, ranks)?;
            let looked_at: Vec<usize> = (0..ranks.len()).filter(|&index| !ranks[index].is_empty()).collect();
            if !problem.are_on_all_cycles(&looked_at) {
                return Err(wrong("there is a cycle of clauses whose predicates have no functions"));
            }
            pairs(problem, &looked_at, Covered::By(ranks))?
        }
        Certificate::Bound { factor, .. } => bound(problem, *factor)?,
        Certificate::Lasso { .. } => return Ok(None),
        Certificate::Recurrence { choices, .. } => {
            choices.iter().try_for_each(|choice| is_choice(problem, choice))?;
            let last = run.and_then(|run| run.steps.last()).ok_or_else(|| wrong("the run has no steps"))?;
            let head = problem.system.clauses.get(last.clause).and_then(|clause| clause.head.as_ref());
            let head = head.ok_or_else(|| wrong("the run does not end with a fact"))?;
            let fact: Vec<Term> = last.fact.iter().map(|value| problem.store.value_to_term(value)).collect();
            recurrence(problem, &[(head.predicate.index(), fact, Term::TRUE)], choices)?
        }
    };
    Ok(Some(made))
}

fn has_model(
    context: &Context<'_>,
    problem: &Problem<'_>,
    certificate: &Certificate,
    run: Option<&Refutation>,
    model: &Model,
    trust: Trust,
) -> Result<(), Validity> {
    let obligation = match obligation(problem, certificate, run) {
        Ok(Some(obligation)) => obligation,
        Ok(None) => return Ok(()),
        Err(Stop::Internal(message)) => return Err(Validity::Invalid(Fault::Shape(message))),
        Err(stop) => return Err(Validity::Unknown(stop)),
    };
    match check_model(context, &obligation.system, model, trust) {
        Validity::Valid => Ok(()),
        // The number of the clause means nothing to anybody else.
        Validity::Invalid(fault) => {
            let message = fault.display(context.store, &obligation.system).to_string();
            Err(Validity::Invalid(Fault::Shape(described(problem, &obligation, &fault, message))))
        }
        unknown @ Validity::Unknown(_) => Err(unknown),
    }
}

/// The fault of the model, with the clause of the original system that is concerned.
fn described(problem: &Problem<'_>, obligation: &Obligation, fault: &Fault, message: String) -> String {
    let Fault::Violated { clause, .. } = fault else { return message };
    let what = if obligation.system.clauses[*clause].is_query() {
        "the model does not prove what it must"
    } else {
        "the model is not preserved"
    };
    match obligation.origins[*clause].filter(|&origin| origin < problem.system.clauses.len()) {
        Some(origin) => format!("{what}: {}", problem.system.clause_title(problem.store, origin)),
        None => what.to_owned(),
    }
}

/// Checks that functions are numbers that depend on the parameters of their predicate alone.
fn are_functions(problem: &Problem<'_>, ranks: &Ranks) -> Result<(), Stop> {
    let store = problem.store;
    if ranks.len() != problem.parameters.len() {
        return Err(wrong("the functions are not about the predicates of the clauses"));
    }
    let sort = ranks.iter().flatten().next().map_or(Sort::INT, |&term| store.sort_of(term));
    for (functions, parameters) in ranks.iter().zip(&problem.parameters) {
        for &function in functions {
            if !sort.is_arithmetic() || store.sort_of(function) != sort {
                return Err(wrong("the functions do not all have the sort Int, or all the sort Real"));
            }
            is_over(problem, function, parameters)?;
        }
    }
    Ok(())
}

/// Checks that the values of a choice fit, and depend on the fact alone.
fn is_choice(problem: &Problem<'_>, choice: &Choice) -> Result<(), Stop> {
    let store = problem.store;
    let rule = problem.rules.iter().find(|rule| rule.clause == choice.clause);
    let rule = rule.ok_or_else(|| wrong("a choice is about a clause that is no rule"))?;
    let variables = &problem.clause(rule.clause).variables;
    let sorts = |terms: &[Term]| terms.iter().map(|&term| store.sort_of(term)).collect::<Vec<Sort>>();
    if sorts(variables) != sorts(&choice.values) {
        return Err(wrong("a choice does not have values for the variables of its clause"));
    }
    if store.sort_of(choice.when) != Sort::BOOL {
        return Err(wrong("the facts for which a choice is meant are not given by a formula"));
    }
    choice
        .values
        .iter()
        .chain([&choice.when])
        .try_for_each(|&value| is_over(problem, value, &problem.parameters[rule.source]))
}

/// Checks that a term has no symbols but these variables.
fn is_over(problem: &Problem<'_>, term: Term, parameters: &[Term]) -> Result<(), Stop> {
    let store = problem.store;
    let known: FxHashSet<Term> = parameters.iter().copied().collect();
    let symbols = store.symbols(&[term]);
    if store.is_quantified(term)
        || !symbols.funs.is_empty()
        || !symbols.vars.iter().all(|var| known.contains(var))
    {
        return Err(wrong("a function or a choice depends on more than the arguments of its predicate"));
    }
    Ok(())
}

/// Checks that each step of a run follows, the last one included.
fn check_run(context: &Context<'_>, problem: &Problem<'_>, run: &Refutation) -> Result<(), Validity> {
    let fact = last_fact(run)?;
    let last = run.steps.len() - 1;
    let head = problem.system.clauses.get(run.steps[last].clause).and_then(|clause| clause.head.as_ref());
    let head = head.ok_or_else(|| invalid("the run does not end with a fact"))?;
    let system = reaching(context.store, problem.system, head.predicate, fact);
    let end = Step {
        clause: problem.system.clauses.len(),
        instantiation: Box::default(),
        premises: [last].into(),
        fact: Box::default(),
    };
    let mut steps = run.steps.clone();
    steps.push(end);
    match check_refutation(context, &system, &Refutation { steps }) {
        Validity::Valid => Ok(()),
        // The run is one for some interpretations only, such as of division by zero.
        Validity::Invalid(fault @ Fault::Open { .. }) => {
            let fault = fault.display(context.store, &system);
            Err(Validity::Unknown(Stop::Unsupported(format!(
                "a run that depends on what is left open ({fault})"
            ))))
        }
        // Positions in the extended system mean nothing to anybody else.
        Validity::Invalid(fault) => {
            Err(Validity::Invalid(Fault::Shape(fault.display(context.store, &system).to_string())))
        }
        unknown @ Validity::Unknown(_) => Err(unknown),
    }
}

/// Checks that the last fact of a run is that of an earlier step, and that the run leads from there to the end.
fn comes_back(problem: &Problem<'_>, run: &Refutation, start: usize) -> Result<(), Validity> {
    let end = run.steps.len() - 1;
    let predicate =
        |step: usize| problem.system.clauses[run.steps[step].clause].head.as_ref().map(|head| head.predicate);
    if start >= end || run.steps[start].fact != run.steps[end].fact || predicate(start) != predicate(end) {
        return Err(invalid("the last fact is not that of the step where the loop begins"));
    }
    let mut step = end;
    while step > start {
        match *run.steps[step].premises {
            [premise] => step = premise,
            _ => return Err(invalid("the loop is not one run")),
        }
    }
    if step == start {
        Ok(())
    } else {
        Err(invalid("the run does not go from the beginning of the loop to its end"))
    }
}

fn last_fact(run: &Refutation) -> Result<&[Value], Validity> {
    Ok(&run.steps.last().ok_or_else(|| invalid("the run has no steps"))?.fact)
}

fn invalid(message: &str) -> Validity {
    Validity::Invalid(Fault::Shape(message.to_owned()))
}

fn wrong(message: &str) -> Stop {
    Stop::Internal(message.to_owned())
}
