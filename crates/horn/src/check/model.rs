//! Checks models of systems: every clause, with the definitions substituted for its predicates.
//!
//! A clause `A1, ..., An, C => H` holds if `A1 and ... and An and C and not H` is unsatisfiable, with each predicate replaced by its
//! definition. Definitions mention only their parameters and the declared functions, and have no quantifiers. Those of `C` are
//! eliminated first (`quantifiers.rs`).
//!
//! Definitions may also apply the number functions of Peano datatypes; what is true of them is added (`numbers.rs`).
//!
//! Why the answer is right: if no clause has a counterexample, the definitions are a model, whatever the declared functions mean.
//! With [`Trust::Proofs`], the solver's word is not enough: its proof must be about the formulas of the clause, and its steps are
//! replayed. A counterexample of the solver counts only if evaluation confirms it.

use rustc_hash::FxHashSet;
use shofar_logic::{Fun, Op, Sort, Term, Value};
use shofar_run::Stop;
use shofar_smt::proof;
use shofar_smt::purify::Unsupported;
use shofar_smt::sat::Outcome;
use shofar_smt::solver::{Instance, Solver};

use super::quantifiers::without_quantifiers;
use super::{Fault, Validity, numbers, replay};
use crate::Context;
use crate::system::{Atom, Clause, HornSystem};
use crate::witness::{Definition, Interpretation, Model};

/// The maximal number of cases of a body that are checked one by one.
const MOST_CASES: usize = 20;

/// The reason to neither accept nor reject a model that applies number functions.
const UNDECIDED: &str = "the number functions of a model could not be evaluated in a counterexample";

/// The evidence required to accept that a clause holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trust {
    /// The solver's answer.
    Solver,
    /// A proof of the solver, whose steps are replayed.
    Proofs,
}

/// Checks that a model satisfies all clauses of a system.
pub fn check_model(context: &Context<'_>, system: &HornSystem, model: &Model, trust: Trust) -> Validity {
    let checked = check_definitions(context, system, model).and_then(|()| {
        let mut clauses = system.clauses.iter().enumerate();
        clauses.try_for_each(|(number, clause)| check_clause(context, model, trust, number, clause))
    });
    checked.err().unwrap_or(Validity::Valid)
}

/// Checks that each predicate has one definition, over its parameters and the declared functions.
fn check_definitions(context: &Context<'_>, system: &HornSystem, model: &Model) -> Result<(), Validity> {
    let store = context.store;
    let (found, needed) = (model.definitions.len(), system.predicates().len());
    if found != needed {
        let message = format!("the model has {found} definitions for {needed} predicates");
        return Err(Validity::Invalid(Fault::Shape(message)));
    }
    let functions: FxHashSet<Fun> = system.functions.iter().copied().collect();
    for (predicate, fun) in system.predicates() {
        let Definition { parameters, interpretation } = model.definition(predicate);
        let wrong = |message: String| Err(Validity::Invalid(Fault::Definition { predicate, message }));
        let domain = &store.fun_decl(fun).domain;
        let sorts = parameters.iter().map(|&parameter| store.sort_of(parameter));
        if !sorts.eq(domain.iter().copied()) {
            return wrong("its parameters do not have the sorts of the predicate".to_owned());
        }
        let known: FxHashSet<Term> = parameters.iter().copied().collect();
        if known.len() < parameters.len()
            || parameters.iter().any(|&parameter| !matches!(store.op(parameter), Op::Var(_)))
        {
            return wrong("its parameters are not different variables".to_owned());
        }
        let Interpretation::Formula(body) = interpretation;
        if store.sort_of(*body) != Sort::BOOL {
            return wrong("it is not a formula".to_owned());
        }
        if store.is_quantified(*body) {
            return wrong("it has quantifiers".to_owned());
        }
        let mentioned = store.symbols(&[*body]);
        if let Some(&other) = mentioned.vars.iter().find(|variable| !known.contains(variable)) {
            return wrong(format!("it mentions {}, which is not a parameter", store.display(other)));
        }
        let is_known = |fun: &Fun| functions.contains(fun) || store.number_function_sort(*fun).is_some();
        if let Some(&other) = mentioned.funs.iter().find(|fun| !is_known(fun)) {
            let name = store.display_symbol(store.fun_decl(other).name);
            return wrong(format!("it mentions {name}, which is not a function of the clauses"));
        }
    }
    Ok(())
}

/// Checks that no values of its variables make body and constraint of a clause true and its head false. If the
/// definition of a body predicate is a disjunction, such as the states reached in each number of steps, its cases are
/// checked one by one: equations of a single case can be substituted.
fn check_clause(
    context: &Context<'_>,
    model: &Model,
    trust: Trust,
    number: usize,
    clause: &Clause,
) -> Result<(), Validity> {
    let store = context.store;
    if let Some(reason) = context.interrupted() {
        return Err(Validity::Unknown(Stop::Interrupted(reason)));
    }
    let meaning = |atom: &Atom| {
        let Definition { parameters, interpretation } = model.definition(atom.predicate);
        match interpretation {
            Interpretation::Formula(formula) => {
                let arguments = parameters.iter().copied().zip(atom.args.iter().copied()).collect();
                Instance { formula: *formula, arguments }
            }
        }
    };
    let violated = clause.head.as_ref().map(|head| {
        let Instance { formula, arguments } = meaning(head);
        Instance { formula: store.app(Op::Not, &[formula]).expect("definitions are formulas"), arguments }
    });
    let mut instances: Vec<Instance> = clause.body.iter().map(meaning).chain(violated).collect();
    // Many definitions are just true or false.
    let is_false = |instance: &Instance| match trust {
        Trust::Solver => store.normalize(instance.formula) == Term::FALSE,
        Trust::Proofs => proof::is_false(store, instance.formula),
    };
    if clause.constraint == Term::FALSE || instances.iter().any(is_false) {
        return Ok(());
    }
    let constraint = without_quantifiers(context, trust, clause.constraint);
    let constraint = constraint.map_err(Validity::Unknown)?;
    let Some((at, cases)) = instances[..clause.body.len()].iter().enumerate().find_map(|(at, instance)| {
        let (op, cases) = store.view(instance.formula);
        (op == Op::Or && cases.len() <= MOST_CASES).then_some((at, cases))
    }) else {
        return refute(context, trust, number, clause, constraint, &instances);
    };
    cases.iter().try_for_each(|&case| {
        instances[at].formula = case;
        refute(context, trust, number, clause, constraint, &instances)
    })
}

/// Checks that the constraint of a clause and the instances of its predicates are unsatisfiable. A model is a
/// counterexample to the clause.
fn refute(
    context: &Context<'_>,
    trust: Trust,
    number: usize,
    clause: &Clause,
    constraint: Term,
    instances: &[Instance],
) -> Result<(), Validity> {
    let store = context.store;
    let mut solver = match trust {
        Trust::Solver => Solver::new(store),
        Trust::Proofs => Solver::with_proofs(store),
    };
    let unsupported = |unsupported: Unsupported| Validity::Unknown(unsupported.stop(store));
    let has_numbers = instances.iter().any(|instance| numbers::occur(store, instance.formula));
    let mut asserted = vec![constraint];
    if has_numbers {
        let formulas: Vec<Term> =
            instances.iter().map(|instance| instance.term(store)).chain([constraint]).collect();
        asserted.extend(numbers::facts(store, &formulas));
    }
    solver.assert_instances(&asserted, instances).map_err(unsupported)?;
    let outcome = solver.check(&[], &context.limits).map_err(unsupported)?;
    if outcome == Outcome::Unsat && trust == Trust::Solver {
        return Ok(());
    }
    let formulas: Vec<Term> =
        instances.iter().map(|instance| instance.term(store)).chain([constraint]).collect();
    match outcome {
        Outcome::Unsat => {
            let refuted = format_args!("counterexamples to clause {}", number + 1);
            asserted.extend_from_slice(&formulas);
            return replay(context, &solver, &asserted, refuted).map_err(Validity::Unknown);
        }
        Outcome::Sat => {}
        Outcome::Unknown(reason) => return Err(Validity::Unknown(reason.into())),
    }
    let mut assignment = solver.model(&formulas);
    if has_numbers {
        assignment = numbers::with_numbers(store, &assignment, &clause.variables);
    }
    let is_counterexample =
        formulas.iter().all(|&formula| store.eval(formula, &assignment) == Ok(Value::Bool(true)));
    if !is_counterexample && has_numbers {
        return Err(Validity::Unknown(Stop::Exhausted(UNDECIDED)));
    }
    if !is_counterexample {
        let message = format!("the solver's counterexample to clause {} is none", number + 1);
        return Err(Validity::Unknown(Stop::Internal(message)));
    }
    let value = |&variable: &Term| {
        let value = assignment.get(variable).cloned();
        (variable, value.unwrap_or_else(|| store.default_value(store.sort_of(variable))))
    };
    let counterexample = clause.variables.iter().map(value).collect();
    Err(Validity::Invalid(Fault::Violated { clause: number, counterexample }))
}
