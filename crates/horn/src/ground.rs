//! Ground instances: completes a partial assignment to a model of a formula.
//!
//! Every backward translation of a derivation asks: an edge was applied to known facts and derived a known fact; which
//! values were in between?

use rustc_hash::FxHashMap;
use shofar_logic::{Assignment, Op, Substitution, Term, TermStore, Value};
use shofar_run::Stop;
use shofar_smt::purify::Unsupported;
use shofar_smt::sat::Outcome;
use shofar_smt::solver::Solver;

use crate::Context;

/// Values for the wanted variables that make the formula true under the given values. Irrelevant variables get the
/// default value of their sort.
pub fn complete(
    context: &Context<'_>,
    formula: Term,
    given: impl IntoIterator<Item = (Term, Value)>,
    wanted: &[Term],
) -> Result<Vec<Value>, Stop> {
    let store = context.store;
    let mut values = Substitution::new();
    let mut known = FxHashMap::default();
    for (variable, value) in given {
        values.insert(variable, store.value_to_term(&value));
        known.insert(variable, value);
    }
    let rest = store.instantiate(formula, &values);
    let model = match read_off(store, rest) {
        Some(model) => model,
        None => solution(context, rest)?,
    };
    let value = |variable: &Term| {
        let found = known.get(variable).or_else(|| model.get(*variable)).cloned();
        found.unwrap_or_else(|| store.default_value(store.sort_of(*variable)))
    };
    Ok(wanted.iter().map(value).collect())
}

/// A model of a formula.
fn solution(context: &Context<'_>, formula: Term) -> Result<Assignment, Stop> {
    let mut solver = Solver::new(context.store);
    let unsupported = |unsupported: Unsupported| unsupported.stop(context.store);
    solver.assert_all(&[formula]).map_err(unsupported)?;
    match solver.check(&[], &context.limits).map_err(unsupported)? {
        Outcome::Sat => Ok(solver.model(&[formula])),
        Outcome::Unsat => Err(Stop::Internal("a step has no ground instance".into())),
        Outcome::Unknown(reason) => Err(Stop::Interrupted(reason)),
    }
}

/// The values of the variables, if the formula only lists them. In most steps of a derivation each value follows from
/// the previous ones, and no solver is needed.
fn read_off(store: &TermStore, formula: Term) -> Option<Assignment> {
    let is_variable = |term: Term| matches!(store.op(term), Op::Var(_));
    let mut values = Assignment::new();
    for literal in store.conjuncts(formula) {
        let (variable, value) = match store.view(literal) {
            (Op::Var(_), _) => (literal, Value::Bool(true)),
            (Op::Not, &[variable]) => (variable, Value::Bool(false)),
            (Op::Eq, &[a, b]) if is_variable(a) && !is_variable(b) => (a, store.term_to_value(b)?),
            (Op::Eq, &[a, b]) if is_variable(b) && !is_variable(a) => (b, store.term_to_value(a)?),
            _ => return None,
        };
        // A second value contradicts the first one or repeats it.
        if !is_variable(variable) || values.get(variable).is_some() {
            return None;
        }
        values.set(variable, value);
    }
    Some(values)
}
