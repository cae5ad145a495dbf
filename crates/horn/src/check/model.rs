//! Checks models of systems: every clause, with the definitions substituted for its predicates.
//!
//! A clause `A1, ..., An, C => H` holds if `A1 and ... and An and C and not H` is unsatisfiable, with each predicate replaced by its
//! definition. Definitions mention only their parameters and the declared functions, and have no quantifiers but those below. Those of `C` are
//! eliminated first (`quantifiers.rs`).
//!
//! Definitions may also apply folds, and the model may have lemmas about them. The lemmas are proved first (`folds.rs`). A definition
//! that applies folds may have universal quantifiers in front (`ghosts.rs`), and so may one about all elements of arrays (`universal.rs`).
//! If that does not decide a clause, lemmas about the states of folds with finitely many values may (`automata.rs`), then
//! lemmas about the values of states (`languages.rs`), and at last joint lemmas about the folds of several of its variables (`synchronous.rs`).
//!
//! Why the answer is right: if no clause has a counterexample, the definitions are a model, whatever the declared functions mean.
//! With [`Trust::Proofs`], the solver's word is not enough: its proof must be about the formulas of the clause, and its steps are
//! replayed. A counterexample of the solver counts only if evaluation confirms it.

use rustc_hash::FxHashSet;
use shofar_logic::{Assignment, FoldLemma, Fun, Op, Sort, Term, TermStore, Value};
use shofar_run::Stop;
use shofar_smt::proof;
use shofar_smt::purify::Unsupported;
use shofar_smt::sat::Outcome;
use shofar_smt::solver::{Instance, Solver};

use super::ghosts::Instances;
use super::quantifiers::without_quantifiers;
use super::{Fault, Validity, automata, folds, ghosts, keeps_quantifiers, replay, synchronous, universal};
use crate::Context;
use crate::system::{Atom, Clause, HornSystem};
use crate::witness::{Definition, Interpretation, Model};

/// The maximal number of cases of a body that are checked one by one.
const MOST_CASES: usize = 20;

/// The reason to neither accept nor reject a model with quantifiers.
const UNDECIDED: &str = "no instances of the quantifiers of a model prove a clause";

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
    check_clauses(context, system, model, trust).err().unwrap_or(Validity::Valid)
}

/// Checks definitions, lemmas and clauses. What is undecided is tried again with lemmas about the states of automata; a
/// violated clause is found whether others are undecided or not.
fn check_clauses(
    context: &Context<'_>,
    system: &HornSystem,
    model: &Model,
    trust: Trust,
) -> Result<(), Validity> {
    check_definitions(context, system, model)?;
    let check = |lemmas: &[FoldLemma], number: usize| {
        check_clause(context, model, lemmas, trust, number, &system.clauses[number])
    };
    let mut lemmas = model.lemmas.clone();
    let are_open = is_undecided(folds::prove(context, trust, &lemmas))?;
    if are_open {
        lemmas.clear();
    }
    let mut open: Vec<usize> = Vec::new();
    for number in 0..system.clauses.len() {
        if is_undecided(check(&lemmas, number))? {
            open.push(number);
        }
    }
    if open.is_empty() && !are_open {
        return Ok(());
    }
    let applied = model.folds(context.store);
    let mut all = automata::lemmas(context.store, &applied);
    all.extend(model.lemmas.iter().cloned());
    folds::prove(context, trust, &all)?;
    let mut still_open: Vec<usize> = Vec::new();
    for number in open {
        if is_undecided(check(&all, number))? {
            still_open.push(number);
        }
    }
    if still_open.is_empty() {
        return Ok(());
    }
    all.extend(automata::language_lemmas(context.store, &applied));
    folds::prove(context, trust, &all)?;
    for number in still_open {
        if is_undecided(check(&all, number))? {
            let mut joint =
                synchronous::lemmas(context.store, &meaning(context.store, model, &system.clauses[number]));
            joint.extend(all.iter().cloned());
            folds::prove(context, trust, &joint)?;
            check(&joint, number)?;
        }
    }
    Ok(())
}

/// The definitions of a clause's predicates for their arguments.
fn meaning(store: &TermStore, model: &Model, clause: &Clause) -> Vec<Term> {
    let of_atom = |atom: &Atom| {
        let Definition { parameters, interpretation } = model.definition(atom.predicate);
        let Interpretation::Formula(formula) = *interpretation;
        let arguments = parameters.iter().copied().zip(atom.args.iter().copied()).collect();
        Instance { formula, arguments }.term(store)
    };
    clause.body.iter().chain(&clause.head).map(of_atom).collect()
}

/// Whether a check ended without a result for a reason that another attempt may remove.
fn is_undecided(checked: Result<(), Validity>) -> Result<bool, Validity> {
    match checked {
        Ok(()) => Ok(false),
        Err(Validity::Unknown(Stop::Exhausted(_))) => Ok(true),
        Err(validity) => Err(validity),
    }
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
        if store.is_quantified(*body) && !keeps_quantifiers(store, *body) {
            let what = format!(
                "quantifiers in the definition of {}",
                store.display_symbol(store.fun_decl(fun).name)
            );
            return Err(Validity::Unknown(Stop::Unsupported(what)));
        }
        let mentioned = store.symbols(&[*body]);
        if let Some(&other) = mentioned.vars.iter().find(|variable| !known.contains(variable)) {
            return wrong(format!("it mentions {}, which is not a parameter", store.display(other)));
        }
        let is_known = |fun: &Fun| functions.contains(fun) || store.fold(*fun).is_some();
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
    lemmas: &[FoldLemma],
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
    let atoms = || clause.body.iter().chain(&clause.head);
    if atoms().any(|atom| store.is_quantified(meaning(atom).formula)) {
        return check_with_quantifiers(context, lemmas, trust, number, clause, meaning);
    }
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
        return refute(context, lemmas, trust, number, clause, constraint, &instances);
    };
    cases.iter().try_for_each(|&case| {
        instances[at].formula = case;
        refute(context, lemmas, trust, number, clause, constraint, &instances)
    })
}

/// [`check_clause`] if a definition has ghosts or is about all elements of arrays.
fn check_with_quantifiers(
    context: &Context<'_>,
    lemmas: &[FoldLemma],
    trust: Trust,
    number: usize,
    clause: &Clause,
    meaning: impl Fn(&Atom) -> Instance,
) -> Result<(), Validity> {
    let store = context.store;
    let constraint = without_quantifiers(context, trust, clause.constraint).map_err(Validity::Unknown)?;
    let body: Vec<Term> = clause.body.iter().map(|atom| meaning(atom).term(store)).collect();
    let head = clause.head.as_ref().map(|head| meaning(head).term(store));
    let refuted = format_args!("counterexamples to clause {}", number + 1);
    if body.iter().chain(&head).all(|&formula| !folds::are_needed(store, formula)) {
        return universal::refute(context, trust, constraint, &body, head, refuted)
            .map_err(Validity::Unknown);
    }
    let arguments = clause.body.iter().chain(&clause.head).flat_map(|atom| atom.args.iter().copied());
    let terms: Vec<Term> = arguments.chain([constraint]).collect();
    let Instances { mut formulas, is_exact } = ghosts::instances(store, &terms, &body, head);
    formulas.push(constraint);
    match folds::refute(context, trust, &formulas, &[], lemmas, refuted) {
        Ok(None) => Ok(()),
        Ok(Some(assignment)) if is_exact => Err(violation(store, number, clause, &assignment)),
        Ok(Some(_)) => Err(Validity::Unknown(Stop::Exhausted(UNDECIDED))),
        Err(stop) => Err(Validity::Unknown(stop)),
    }
}

/// Checks that the constraint of a clause and the instances of its predicates are unsatisfiable. A model is a
/// counterexample to the clause.
fn refute(
    context: &Context<'_>,
    lemmas: &[FoldLemma],
    trust: Trust,
    number: usize,
    clause: &Clause,
    constraint: Term,
    instances: &[Instance],
) -> Result<(), Validity> {
    let store = context.store;
    let refuted = format_args!("counterexamples to clause {}", number + 1);
    let formulas =
        || instances.iter().map(|instance| instance.term(store)).chain([constraint]).collect::<Vec<Term>>();
    if instances.iter().any(|instance| folds::are_needed(store, instance.formula)) {
        let found = folds::refute(context, trust, &formulas(), &[], lemmas, refuted);
        let found = found.map_err(Validity::Unknown)?;
        return found.map_or(Ok(()), |assignment| Err(violation(store, number, clause, &assignment)));
    }
    let mut solver = match trust {
        Trust::Solver => Solver::new(store),
        Trust::Proofs => Solver::with_proofs(store),
    };
    let unsupported = |unsupported: Unsupported| Validity::Unknown(unsupported.stop(store));
    solver.assert_instances(&[constraint], instances).map_err(unsupported)?;
    let outcome = solver.check(&[], &context.limits).map_err(unsupported)?;
    if outcome == Outcome::Unsat && trust == Trust::Solver {
        return Ok(());
    }
    let formulas = formulas();
    match outcome {
        Outcome::Unsat => return replay(context, &solver, &formulas, refuted).map_err(Validity::Unknown),
        Outcome::Sat => {}
        Outcome::Unknown(reason) => return Err(Validity::Unknown(reason.into())),
    }
    let assignment = solver.model(&formulas);
    let is_counterexample =
        formulas.iter().all(|&formula| store.eval(formula, &assignment) == Ok(Value::Bool(true)));
    if !is_counterexample {
        let message = format!("the solver's counterexample to clause {} is none", number + 1);
        return Err(Validity::Unknown(Stop::Internal(message)));
    }
    Err(violation(store, number, clause, &assignment))
}

/// The verdict about a model with a counterexample to a clause.
fn violation(store: &TermStore, number: usize, clause: &Clause, assignment: &Assignment) -> Validity {
    let value = |&variable: &Term| {
        let value = assignment.get(variable).cloned();
        (variable, value.unwrap_or_else(|| store.default_value(store.sort_of(variable))))
    };
    let counterexample = clause.variables.iter().map(value).collect();
    Validity::Invalid(Fault::Violated { clause: number, counterexample })
}
