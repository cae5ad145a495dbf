//! Ground instances: values for the variables of a formula of which some are given.
//!
//! Every way back of a derivation asks the same question: an edge was applied to known facts and gave a known fact; what
//! were the values in between?

use rustc_hash::FxHashMap;
use shofar_logic::{Assignment, Substitution, Term, Value};
use shofar_smt::purify::Unsupported;
use shofar_smt::sat::Outcome;
use shofar_smt::solver::Solver;

use crate::transform::{Context, Lost};

/// Values for the wanted variables with which a formula is true, where other variables have given values. Variables
/// that do not matter get the default value of their sort.
pub fn complete(
    context: &Context<'_>,
    formula: Term,
    given: impl IntoIterator<Item = (Term, Value)>,
    wanted: &[Term],
) -> Result<Vec<Value>, Lost> {
    let store = context.store;
    let mut values = Substitution::new();
    let mut known = FxHashMap::default();
    for (variable, value) in given {
        values.insert(variable, store.value_to_term(&value));
        known.insert(variable, value);
    }
    let rest = store.normalize(store.substitute(formula, &values));
    let model = if rest == Term::TRUE { Assignment::new() } else { solution(context, rest)? };
    let value = |variable: &Term| {
        let found = known.get(variable).or_else(|| model.get(*variable)).cloned();
        found.unwrap_or_else(|| store.default_value(store.sort_of(*variable)))
    };
    Ok(wanted.iter().map(value).collect())
}

/// Values for the symbols of a formula with which it is true.
fn solution(context: &Context<'_>, formula: Term) -> Result<Assignment, Lost> {
    let mut solver = Solver::new(context.store);
    let unsupported = |unsupported: Unsupported| Lost::unsupported(context.store, unsupported);
    solver.assert_all(&[formula]).map_err(unsupported)?;
    match solver.check(&[], &context.limits).map_err(unsupported)? {
        Outcome::Sat => Ok(solver.model(&[formula])),
        Outcome::Unsat => Err(Lost::Wrong("a step has no ground instance".into())),
        Outcome::Unknown(reason) => Err(Lost::Interrupted(reason)),
    }
}
