//! Checks refutations of systems: every step, by evaluation.
//!
//! ```text
//! for each step, with a value for each variable of its clause:
//!     the values and the arguments of the fact have the sorts of the clause
//!     the constraint is true
//!     each atom of the body has the arguments of its premise, which is the fact of an earlier step
//!     the head has the arguments of the step's fact
//! the last step is by a query
//! ```
//!
//! Why the answer is right: by induction on the steps, each fact is true in all models of the clauses, and the last one is
//! `false`. Evaluation gives no value to what SMT-LIB leaves open, so a true constraint is true in all interpretations. Two cases
//! need a solver, whose proofs are replayed:
//!
//! - Evaluation takes elements of a declared sort for different. The solver proves that the step is right if some are equal.
//! - Quantifiers in the constraint are eliminated first (`quantifiers.rs`).

use rustc_hash::FxHashMap;
use shofar_logic::smtlib::Declaration;
use shofar_logic::{
    Assignment, EvalError, Evaluator, Op, Sort, Substitution, Substitutor, Term, TermStore, Value,
};
use shofar_run::{Limits, Stop};
use shofar_smt::sat::Outcome;
use shofar_smt::solver::Solver;

use super::quantifiers::without_quantifiers;
use super::{Fault, Trust, Validity, Values, replay};
use crate::Context;
use crate::system::{Atom, Clause, HornSystem};
use crate::witness::{Refutation, Step};

/// The conflict limit for a ground instance with elements of declared sorts.
const INSTANCE_CONFLICTS: u64 = 10_000;

/// The conflict limit for each question about the quantifiers of a clause.
const CLAUSE_CONFLICTS: u64 = 10_000;

/// Steps between two polls of the limits.
const STOP_INTERVAL: usize = 64;

/// Checks that a refutation derives `false` from the clauses of a system.
pub fn check_refutation(context: &Context<'_>, system: &HornSystem, refutation: &Refutation) -> Validity {
    let store = context.store;
    let has_elements = system.sorts.iter().any(|declaration| matches!(declaration, Declaration::Sort(..)));
    let constraints = Constraints::new(context, system, refutation);
    let mut values = Values::default();
    for step in 0..refutation.steps.len() {
        if step.is_multiple_of(STOP_INTERVAL)
            && let Some(reason) = context.interrupted()
        {
            return Validity::Unknown(Stop::Interrupted(reason));
        }
        let constraint = match constraints.of_step(&refutation.steps[step]) {
            Ok(constraint) => constraint,
            Err(stop) => return Validity::Unknown(stop),
        };
        let checked = check_step(store, system, refutation, step, constraint, &mut values)
            .map_err(Validity::Invalid)
            .and_then(|instance| if has_elements { instance.holds_anyway(context, step) } else { Ok(()) });
        if let Err(validity) = checked {
            return validity;
        }
    }
    match refutation.steps.last() {
        Some(last) if system.clauses[last.clause].is_query() => Validity::Valid,
        Some(_) => Validity::Invalid(Fault::Shape("the last step does not derive false".to_owned())),
        None => Validity::Invalid(Fault::Shape("the refutation has no steps".to_owned())),
    }
}

/// The constraints of a refutation's clauses, without quantifiers.
///
/// A clause that several steps use loses its quantifiers once. Steps whose clause is used once, or whose clause does not lose them
/// within a limit, eliminate them from the ground instance, which is easier: a product of two variables becomes linear.
struct Constraints<'a> {
    context: &'a Context<'a>,
    system: &'a HornSystem,
    /// The clauses with quantifiers that several steps use. `None` if their quantifiers stay.
    shared: FxHashMap<usize, Option<Term>>,
}

impl<'a> Constraints<'a> {
    fn new(context: &'a Context<'a>, system: &'a HornSystem, refutation: &Refutation) -> Self {
        let store = context.store;
        let mut uses: FxHashMap<usize, usize> = FxHashMap::default();
        for step in &refutation.steps {
            let clause = system.clauses.get(step.clause);
            if clause.is_some_and(|clause| store.is_quantified(clause.constraint)) {
                *uses.entry(step.clause).or_default() += 1;
            }
        }
        let limits = Limits { conflicts: Some(CLAUSE_CONFLICTS), ..context.limits };
        let limited = Context { limits, ..*context };
        let eliminated = |clause: usize| {
            let constraint = system.clauses[clause].constraint;
            (clause, without_quantifiers(&limited, Trust::Proofs, constraint).ok())
        };
        let shared = uses.into_iter().filter(|&(_, uses)| uses > 1);
        let shared = shared.map(|(clause, _)| eliminated(clause)).collect();
        Constraints { context, system, shared }
    }

    /// The constraint of a step's clause, or of its ground instance, to be evaluated.
    fn of_step(&self, step: &Step) -> Result<Term, Stop> {
        let store = self.context.store;
        let Some(clause) = self.system.clauses.get(step.clause) else { return Ok(Term::TRUE) };
        let sorts = step.instantiation.iter().map(|value| store.value_sort(value));
        let fits = sorts.eq(clause.variables.iter().map(|&variable| store.sort_of(variable)));
        // An instantiation that does not fit is reported with the step.
        if !fits || !store.is_quantified(clause.constraint) {
            return Ok(clause.constraint);
        }
        if let Some(&Some(constraint)) = self.shared.get(&step.clause) {
            return Ok(constraint);
        }
        let values = step.instantiation.iter().map(|value| store.value_to_term(value));
        let values: Substitution = clause.variables.iter().copied().zip(values).collect();
        without_quantifiers(self.context, Trust::Proofs, store.substitute(clause.constraint, &values))
    }
}

/// Checks that a step is an instance of its clause, with the facts of its premises in the body.
fn check_step<'a>(
    store: &TermStore,
    system: &'a HornSystem,
    refutation: &'a Refutation,
    number: usize,
    constraint: Term,
    values: &mut Values,
) -> Result<Instance<'a>, Fault> {
    let wrong = |message: &str| Fault::Step { step: number, message: message.to_owned() };
    let no_value = |what: &str, error: EvalError| {
        let message = format!("{what} has no value: {}", error.display(store));
        match error {
            EvalError::Unassigned(_) | EvalError::Unspecified(_) => Fault::Open { step: number, message },
            _ => wrong(&message),
        }
    };
    let step = &refutation.steps[number];
    let clause = system.clauses.get(step.clause).ok_or_else(|| wrong("there is no such clause"))?;
    let sorts: Vec<Sort> = clause.variables.iter().map(|&variable| store.sort_of(variable)).collect();
    if !values.fit(store, &step.instantiation, &sorts) {
        return Err(wrong("the instantiation does not have values for the variables of the clause"));
    }
    let head_sorts = clause.head.as_ref().map_or(&[][..], |head| system.sorts(store, head.predicate));
    if !values.fit(store, &step.fact, head_sorts) {
        return Err(wrong("the fact does not have the sorts of the head"));
    }
    let (found, needed) = (step.premises.len(), clause.body.len());
    if found != needed {
        return Err(wrong(&format!("there are {found} premises for {needed} atoms in the body")));
    }
    let assignment: Assignment =
        clause.variables.iter().copied().zip(step.instantiation.iter().cloned()).collect();
    let mut instance = Instance { clause, step, constraint, atoms: Vec::with_capacity(needed + 1) };
    let mut evaluator = Evaluator::new(store, &assignment);
    match evaluator.eval(constraint) {
        Ok(Value::Bool(true)) => {}
        Ok(_) => return Err(wrong("the constraint is false")),
        Err(error) => return Err(no_value("the constraint", error)),
    }
    let mut has_arguments = |atom: &Atom, fact: &[Value]| -> Result<bool, Fault> {
        for (&arg, expected) in atom.args.iter().zip(fact) {
            let found = evaluator.eval(arg).map_err(|error| no_value("an argument", error))?;
            if found != *expected {
                return Ok(false);
            }
        }
        Ok(true)
    };
    for (atom, &premise) in clause.body.iter().zip(&step.premises) {
        let earlier = refutation.steps[..number].get(premise);
        let premise = premise.saturating_add(1);
        let earlier =
            earlier.ok_or_else(|| wrong(&format!("the premise {premise} is not an earlier step")))?;
        let concluded = system.clauses[earlier.clause].head.as_ref().map(|head| head.predicate);
        if concluded != Some(atom.predicate) {
            return Err(wrong(&format!("the premise {premise} is about another predicate")));
        }
        if !has_arguments(atom, &earlier.fact)? {
            return Err(wrong(&format!("the premise {premise} is not the fact that the body needs")));
        }
        instance.atoms.push((atom, &earlier.fact));
    }
    if let Some(head) = &clause.head {
        if !has_arguments(head, &step.fact)? {
            return Err(wrong("the fact is not what the head says"));
        }
        instance.atoms.push((head, &step.fact));
    }
    Ok(instance)
}

/// A step that is right according to evaluation.
struct Instance<'a> {
    clause: &'a Clause,
    step: &'a Step,
    /// The constraint of the clause or of its instance, without quantifiers.
    constraint: Term,
    /// The atoms with their facts.
    atoms: Vec<(&'a Atom, &'a [Value])>,
}

impl Instance<'_> {
    /// Checks that the step is right no matter which elements of declared sorts are equal. To the solver, elements are
    /// symbols.
    fn holds_anyway(&self, context: &Context<'_>, step: usize) -> Result<(), Validity> {
        let store = context.store;
        let values = self.step.instantiation.iter().map(|value| store.value_to_term(value));
        let values: Substitution = self.clause.variables.iter().copied().zip(values).collect();
        let mut substitutor = Substitutor::new(store, &values);
        let mut parts = vec![substitutor.apply(self.constraint)];
        for (atom, fact) in &self.atoms {
            for (&arg, value) in atom.args.iter().zip(*fact) {
                let sides = [substitutor.apply(arg), store.value_to_term(value)];
                parts.push(store.app(Op::Eq, &sides).expect("facts have the sorts of arguments"));
            }
        }
        let holds = store.app(Op::And, &parts).expect("these are formulas");
        let denied: Term = store.app(Op::Not, &[holds]).expect("this is a formula");
        let limits = Limits { conflicts: Some(INSTANCE_CONFLICTS), ..context.limits };
        let mut solver = Solver::with_proofs(store);
        let outcome = solver.assert(denied).and_then(|()| solver.check(&[], &limits));
        match outcome {
            Ok(Outcome::Unsat) => replay(context, &solver, &[denied], "a wrong step over declared sorts")
                .map_err(Validity::Unknown),
            Ok(Outcome::Sat) => {
                let message = "the step depends on which elements of a declared sort are different";
                Err(Validity::Invalid(Fault::Open { step, message: message.to_owned() }))
            }
            Ok(Outcome::Unknown(reason)) => Err(Validity::Unknown(Stop::Interrupted(reason))),
            Err(unsupported) => Err(Validity::Unknown(unsupported.stop(store))),
        }
    }
}
