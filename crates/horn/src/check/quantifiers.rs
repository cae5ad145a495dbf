//! Quantifiers in the constraints of clauses and in models: eliminated, and confirmed without trust in the elimination.
//!
//! The checker eliminates one variable at a time. That `E` is equivalent to `exists x. F` is confirmed by two
//! refutations of formulas without quantifiers:
//!
//! ```text
//! F and not E                                      F implies E, for every x
//! E and not F[t1/x] and ... and not F[tn/x]        E implies that one of the terms is an x
//! ```
//!
//! The terms are found by counterexamples. In a model of the second formula the solver looks for a value of `x`; the
//! value is written as a term that is right in as many other models as possible. It starts from the *bounds* of `x`: the
//! values where a comparison in `F` changes. For integers, the term is a bound, rounded down, and a small offset, which
//! divisibility needs; for reals, it is a bound, a bound and one, or the middle of two bounds. So elimination may be as
//! clever as it likes: a mistake in it is found here, and what cannot be confirmed is not believed.
//!
//! `forall x. F` is `not exists x. not F`.

use shofar_logic::number::{Integer, Rational};
use shofar_logic::{Assignment, LinearPoly, Op, Sort, Substitution, Term, TermStore, Value};
use shofar_run::Stop;
use shofar_smt::purify::Unsupported;
use shofar_smt::sat::Outcome;
use shofar_smt::solver::Solver;

use super::{Trust, replay};
use crate::Context;
use crate::ground;
use crate::quantifiers::{replace_quantifiers, without_quantifier};

/// Terms that are tried for one variable.
const MOST_TERMS: usize = 500;

/// The largest distance from a bound that is tried for integers.
const MOST_OFFSET: i64 = 32;

/// Bounds that are looked at.
const MOST_BOUNDS: usize = 40;

/// Casts and quotients around a variable that are looked through.
const MOST_LAYERS: usize = 8;

/// A formula without quantifiers, confirmed to be equivalent.
pub(super) fn without_quantifiers(context: &Context<'_>, trust: Trust, formula: Term) -> Result<Term, Stop> {
    let store = context.store;
    replace_quantifiers(store, formula, |op, variables, body| {
        let is_universal = op == Op::Forall;
        let mut formula = if is_universal { not(store, body) } else { body };
        for &variable in variables.iter().rev() {
            let result = without_quantifier(context, Op::Exists, &[variable], formula)?;
            confirm(context, trust, formula, variable, result)?;
            formula = result;
        }
        Ok(if is_universal { not(store, formula) } else { formula })
    })
}

/// Confirms that `result` is equivalent to the existence of the variable.
fn confirm(
    context: &Context<'_>,
    trust: Trust,
    formula: Term,
    variable: Term,
    result: Term,
) -> Result<(), Stop> {
    let store = context.store;
    let unsupported = |unsupported: Unsupported| unsupported.stop(store);
    // The refutations say nothing about a result that depends on the variable.
    if store.free_vars(&[result]).contains(&variable) {
        return Err(wrong());
    }
    contradict(context, trust, &[formula, not(store, result)])?;
    let bounds = bounds(store, formula, variable);
    let mut instances = vec![result];
    let mut solver = Solver::new(store);
    solver.assert(result).map_err(unsupported)?;
    for _ in 0..MOST_TERMS {
        match solver.check(&[], &context.limits).map_err(unsupported)? {
            Outcome::Unsat if trust == Trust::Proofs => return contradict(context, trust, &instances),
            Outcome::Unsat => return Ok(()),
            Outcome::Unknown(reason) => return Err(Stop::Interrupted(reason)),
            Outcome::Sat => {}
        }
        let model = solver.model(&[result, formula]);
        let term = instance(context, formula, variable, &bounds, model)?;
        let instance = store.substitute(formula, &Substitution::from_iter([(variable, term)]));
        let denied = not(store, instance);
        solver.assert(denied).map_err(unsupported)?;
        instances.push(denied);
    }
    Err(Stop::Exhausted("the checker could not confirm the elimination of a quantifier"))
}

/// The formulas contradict each other.
fn contradict(context: &Context<'_>, trust: Trust, formulas: &[Term]) -> Result<(), Stop> {
    let store = context.store;
    let unsupported = |unsupported: Unsupported| unsupported.stop(store);
    let mut solver = match trust {
        Trust::Solver => Solver::new(store),
        Trust::Proofs => Solver::with_proofs(store),
    };
    solver.assert_all(formulas).map_err(unsupported)?;
    match solver.check(&[], &context.limits).map_err(unsupported)? {
        Outcome::Unsat if trust == Trust::Solver => return Ok(()),
        Outcome::Unsat => {}
        Outcome::Sat => return Err(wrong()),
        Outcome::Unknown(reason) => return Err(Stop::Interrupted(reason)),
    }
    replay(context, &solver, formulas, "a wrong elimination of a quantifier")
}

fn wrong() -> Stop {
    Stop::Internal("a quantifier was eliminated wrongly".to_owned())
}

/// A term for the variable with which the formula is true in a model.
fn instance(
    context: &Context<'_>,
    formula: Term,
    variable: Term,
    bounds: &[LinearPoly],
    mut model: Assignment,
) -> Result<Term, Stop> {
    let store = context.store;
    // Declared constants have values in the model, too.
    let symbols = store.subterms(&[formula]).into_iter().filter(|&term| store.is_symbol(term));
    let others = symbols.filter(|&other| other != variable);
    let mut given: Vec<(Term, Value)> = Vec::new();
    for other in others {
        let value = model.get(other).cloned().unwrap_or_else(|| store.default_value(store.sort_of(other)));
        model.set(other, value.clone());
        given.push((other, value));
    }
    let found = ground::complete(context, formula, given, &[variable])?.swap_remove(0);
    let mut candidates: Vec<(Rational, LinearPoly)> = Vec::new();
    for bound in bounds {
        if let Some(value) = bound.eval(|symbol| number(model.get(uncast(store, symbol))?)) {
            candidates.push((value, bound.clone()));
        }
    }
    let mut holds = |value: Value| {
        model.set(variable, value);
        store.eval(formula, &model) == Ok(Value::Bool(true))
    };
    let term = match &found {
        Value::Int(_) => near_integer(store, &candidates, &mut holds),
        Value::Real(_) => near_real(store, &candidates, &mut holds),
        _ => None,
    };
    Ok(term.unwrap_or_else(|| store.value_to_term(&found)))
}

/// A bound, rounded down, with the smallest offset that makes the formula true.
fn near_integer(
    store: &TermStore,
    bounds: &[(Rational, LinearPoly)],
    holds: &mut impl FnMut(Value) -> bool,
) -> Option<Term> {
    let offsets = (0..=MOST_OFFSET).flat_map(|distance| [distance, -distance]);
    for offset in offsets {
        for (value, bound) in bounds {
            if holds(Value::Int(value.floor() + Integer::from(offset))) {
                // The bound is a sum with a common denominator.
                let mut sum = bound.clone();
                let denominator = sum
                    .terms()
                    .iter()
                    .fold(sum.constant().denom(), |common, (_, factor)| common.lcm(&factor.denom()));
                sum.scale(&Rational::from(denominator.clone()));
                let quotient = store.int_div(sum.to_term(store, Sort::INT), store.int(denominator));
                return Some(store.add(&[quotient, store.int(offset)]));
            }
        }
    }
    None
}

/// A bound, the middle of two, or a bound and one, that makes the formula true.
fn near_real(
    store: &TermStore,
    bounds: &[(Rational, LinearPoly)],
    holds: &mut impl FnMut(Value) -> bool,
) -> Option<Term> {
    let half = Rational::new(Integer::from(1), Integer::from(2));
    let middle = |(a, left): &(Rational, LinearPoly), (b, right): &(Rational, LinearPoly)| {
        let mut sum = left.clone();
        sum.add_scaled(right, &Rational::from(Integer::from(1)));
        sum.scale(&half);
        ((a + b) * &half, sum)
    };
    let beside = |(value, bound): &(Rational, LinearPoly), distance: i64| {
        let distance = Rational::from(Integer::from(distance));
        let mut sum = bound.clone();
        sum.add_constant(&distance);
        (value + &distance, sum)
    };
    let pairs = bounds
        .iter()
        .enumerate()
        .flat_map(|(position, bound)| bounds[position + 1..].iter().map(move |other| middle(bound, other)));
    let around = bounds.iter().flat_map(|bound| [beside(bound, 1), beside(bound, -1)]);
    let mut all = bounds.iter().cloned().chain(pairs).chain(around);
    let (_, term) = all.find(|(value, _)| holds(Value::Real(value.clone())))?;
    Some(term.to_term(store, Sort::REAL))
}

/// The values of a variable where a comparison in the formula changes, as sums of other symbols.
fn bounds(store: &TermStore, formula: Term, variable: Term) -> Vec<LinearPoly> {
    let sort = store.sort_of(variable);
    let is_symbol = |term: Term| store.sort_of(term) == sort && store.is_symbol(uncast(store, term));
    let mut bounds: Vec<LinearPoly> = Vec::new();
    for atom in store.subterms(&[store.normalize(formula)]) {
        let (op, args) = store.view(atom);
        let is_comparison = matches!(op, Op::Le | Op::Lt | Op::Ge | Op::Gt | Op::Eq);
        let &[left, right] = args else { continue };
        if !is_comparison || !matches!(store.sort_of(left), Sort::INT | Sort::REAL) {
            continue;
        }
        let mut difference = LinearPoly::from_term(store, left);
        difference.add_scaled(&LinearPoly::from_term(store, right), &Rational::from(Integer::from(-1)));
        let difference = if sort == Sort::INT { approximate(store, difference) } else { difference };
        if let Some(bound) = difference.solved_for(variable)
            && bound.terms().iter().all(|&(symbol, _)| is_symbol(symbol))
            && bounds.len() < MOST_BOUNDS
            && !bounds.contains(&bound)
        {
            bounds.push(bound);
        }
    }
    bounds
}

/// The integer that is cast to a real.
fn uncast(store: &TermStore, term: Term) -> Term {
    match store.view(term) {
        (Op::ToReal, &[integer]) => integer,
        _ => term,
    }
}

/// The sum without casts, with fractions for integer quotients and without remainders: a bound that is off by a constant is as
/// good as another.
fn approximate(store: &TermStore, mut sum: LinearPoly) -> LinearPoly {
    for _ in 0..MOST_LAYERS {
        let mut changed = false;
        for (term, factor) in sum.clone().terms() {
            let (op, args) = store.view(*term);
            let (inner, scale) = match (op, args) {
                (Op::ToReal | Op::ToInt, &[inner]) => (Some(inner), Rational::from(Integer::from(1))),
                (Op::IntDiv, &[inner, divisor]) => match store.numeral(divisor) {
                    Some(divisor) if !divisor.is_zero() => (Some(inner), divisor.recip()),
                    _ => continue,
                },
                (Op::Mod, _) => (None, Rational::from(Integer::from(1))),
                _ => continue,
            };
            changed = true;
            let (_, mut rest) = sum.split(*term);
            if let Some(inner) = inner {
                rest.add_scaled(&LinearPoly::from_term(store, inner), &(factor * &scale));
            }
            sum = rest;
        }
        if !changed {
            break;
        }
    }
    sum
}

fn number(value: &Value) -> Option<Rational> {
    match value {
        Value::Int(value) => Some(Rational::from(value.clone())),
        Value::Real(value) => Some(value.clone()),
        _ => None,
    }
}

fn not(store: &TermStore, formula: Term) -> Term {
    store.app(Op::Not, &[formula]).expect("this is a formula")
}

#[cfg(test)]
mod tests {
    use shofar_run::Limits;

    use super::*;

    /// `exists x. a < x and x < 5` is `a < 4` for integers, and nothing else.
    #[test]
    fn a_wrong_elimination_is_not_confirmed() {
        let store = TermStore::new();
        let context = Context { store: &store, limits: Limits::default() };
        let [a, x] = ["a", "x"].map(|name| store.var(store.symbol(name), Sort::INT));
        let (below, above) = (store.lt(a, x), store.lt(x, store.int(5)));
        let formula = store.and_of([below, above]);
        for trust in [Trust::Solver, Trust::Proofs] {
            let judged = |result| confirm(&context, trust, formula, x, result);
            assert_eq!(judged(store.lt(a, store.int(4))), Ok(()));
            for wrong in [store.lt(a, store.int(3)), store.lt(a, store.int(5)), formula, above] {
                let found = judged(wrong);
                assert!(matches!(found, Err(Stop::Internal(_))), "{}: {found:?}", store.display(wrong));
            }
        }
    }

    /// With `x = 5` for `exists x. x = 5`, both refutations exist, but another `x` makes it false.
    #[test]
    fn an_elimination_that_keeps_its_variable_is_wrong() {
        let store = TermStore::new();
        let context = Context { store: &store, limits: Limits::default() };
        let x = store.var(store.symbol("x"), Sort::INT);
        let formula = store.app(Op::Eq, &[x, store.int(5)]).unwrap();
        assert_eq!(confirm(&context, Trust::Proofs, formula, x, formula), Err(wrong()));
        assert_eq!(confirm(&context, Trust::Proofs, formula, x, Term::TRUE), Ok(()));
    }
}
