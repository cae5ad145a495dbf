//! Rules as relations between the arguments before and after a step, and convex parts of them.

use shofar_engines::Run;
use shofar_horn::ground;
use shofar_logic::{
    Assignment, LinearPoly, Op, Relation as Compared, Sort, Substitution, Term, TermStore, Value,
};
use shofar_run::Stop;
use shofar_smt::project::project;

use super::problem::{Problem, Rule};

/// The rules of a problem as formulas.
pub(crate) struct Relations {
    /// Variables for the arguments of each predicate before a step.
    pub(crate) now: Vec<Vec<Term>>,
    /// Variables for the arguments of each predicate after a step.
    pub(crate) next: Vec<Vec<Term>>,
    /// In the order of the rules.
    pub(crate) steps: Vec<StepRelation>,
}

/// A rule as a formula.
pub(crate) struct StepRelation {
    pub(crate) rule: Rule,
    /// The relation, also about local variables.
    pub(crate) formula: Term,
    /// The variables of the clause, renamed.
    pub(crate) locals: Vec<Term>,
}

impl Relations {
    pub(crate) fn of(problem: &Problem<'_>) -> Self {
        let indices = 0..problem.parameters.len();
        let now: Vec<Vec<Term>> = indices.clone().map(|index| problem.copies(index)).collect();
        let next: Vec<Vec<Term>> = indices.map(|index| problem.copies(index)).collect();
        let steps =
            problem.rules.iter().map(|&rule| step(problem, rule, &now[rule.source], &next[rule.target]));
        Relations { steps: steps.collect(), now, next }
    }
}

fn step(problem: &Problem<'_>, rule: Rule, now: &[Term], next: &[Term]) -> StepRelation {
    let store = problem.store;
    let clause = problem.clause(rule.clause);
    let renaming: Vec<(Term, Term)> =
        clause.variables.iter().map(|&variable| (variable, fresh(store, variable))).collect();
    let locals = renaming.iter().map(|&(_, local)| local).collect();
    let renaming: Substitution = renaming.into_iter().collect();
    let image = |term: Term| store.normalize(store.substitute(term, &renaming));
    let body = now.iter().zip(problem.body(&rule)).map(|(&variable, &arg)| store.eq(variable, image(arg)));
    let head = next.iter().zip(problem.head(&rule)).map(|(&variable, &arg)| store.eq(variable, image(arg)));
    let formula = store.and_of(body.chain(head).chain([image(clause.constraint)]));
    StepRelation { rule, formula, locals }
}

/// A variable like this one.
pub(crate) fn fresh(store: &TermStore, variable: Term) -> Term {
    let Op::Var(name) = store.op(variable) else { return variable };
    store.var(store.fresh_symbol(store.name(name)), store.sort_of(variable))
}

/// A convex set of pairs of facts. It is a part of a relation, possibly enlarged by what is not linear.
#[derive(Clone)]
pub(crate) struct Part {
    /// The predicates before and after.
    pub(crate) ends: (usize, usize),
    pub(crate) before: Vec<Term>,
    pub(crate) after: Vec<Term>,
    /// The part exactly.
    pub(crate) formula: Term,
    /// Polynomials that are at least zero, or zero. Truth values count as 0 and 1.
    pub(crate) rows: Vec<Row>,
    /// The rows of a larger set on which a function that ranks the part has to be bounded.
    pub(crate) wide: Option<Vec<Row>>,
    /// Whether the part was made of a single pair.
    pub(crate) is_point: bool,
}

#[derive(Clone)]
pub(crate) struct Row {
    pub(crate) poly: LinearPoly,
    pub(crate) is_zero: bool,
}

impl Part {
    /// The part of a relation around a model of it.
    pub(crate) fn around(
        run: &Run<'_>,
        formula: Term,
        model: &Assignment,
        ends: (usize, usize),
        before: &[Term],
        after: &[Term],
    ) -> Result<Self, Stop> {
        let store = run.store;
        let kept: Vec<Term> = before.iter().chain(after).copied().collect();
        let mut others = store.free_vars(&[formula]);
        others.retain(|variable| !kept.contains(variable));
        let cube = project(store, formula, model, &others).map_err(|error| error.stop(store))?;
        let convex = cube.literals.iter().map(|&literal| convex(store, literal, model));
        let literals: Vec<Term> = convex.collect::<Result<_, Stop>>()?;
        let mut rows: Vec<Row> = literals.iter().flat_map(|&literal| rows(store, literal, &kept)).collect();
        rows.extend(kept.iter().flat_map(|&variable| unit_interval(store, variable)));
        let (before, after) = (before.to_vec(), after.to_vec());
        Ok(Part { ends, before, after, formula: store.and(&literals), rows, wide: None, is_point: false })
    }

    /// A single pair of facts.
    pub(crate) fn point(
        store: &TermStore,
        ends: (usize, usize),
        before: (&[Term], &[Value]),
        after: (&[Term], &[Value]),
    ) -> Self {
        let pairs = before.0.iter().zip(before.1).chain(after.0.iter().zip(after.1));
        let literals: Vec<Term> =
            pairs.map(|(&variable, value)| store.eq(variable, store.value_to_term(value))).collect();
        let kept: Vec<Term> = before.0.iter().chain(after.0).copied().collect();
        let rows = literals.iter().flat_map(|&literal| rows(store, literal, &kept)).collect();
        Part {
            ends,
            before: before.0.to_vec(),
            after: after.0.to_vec(),
            formula: store.and(&literals),
            rows,
            wide: None,
            is_point: true,
        }
    }
}

/// The literal, or the side of an inequation on which the model is.
pub(crate) fn convex(store: &TermStore, literal: Term, model: &Assignment) -> Result<Term, Stop> {
    let Some(bound) = store.bound(literal).filter(|bound| bound.relation == Compared::Different) else {
        return Ok(literal);
    };
    let number = store.number(bound.number, store.sort_of(bound.sum));
    let below = store.lt(bound.sum, number);
    match store.eval(below, model) {
        Ok(Value::Bool(true)) => Ok(below),
        Ok(_) => Ok(store.lt(number, bound.sum)),
        Err(error) => Err(Stop::Internal(error.display(store).to_string())),
    }
}

/// The rows of a literal about the given variables; none if it is not linear.
fn rows(store: &TermStore, literal: Term, variables: &[Term]) -> Option<Row> {
    let (atom, holds) = store.literal(literal);
    if store.sort_of(atom) == Sort::BOOL && variables.contains(&atom) {
        let value = if holds { 1u64 } else { 0 };
        let poly =
            LinearPoly::from_pairs(vec![(atom, 1u64.into())], -&shofar_logic::number::Rational::from(value));
        return Some(Row { poly, is_zero: true });
    }
    let bound = store.bound(literal)?;
    let (relation, number) = bound.rounded(store);
    let mut poly = linear(store, bound.sum)?;
    poly.add_constant(&-&number);
    if !poly.terms().iter().all(|(variable, _)| variables.contains(variable)) {
        return None;
    }
    match relation {
        Compared::Below | Compared::AtMost => {
            poly.scale(&(-1i64).into());
            Some(Row { poly, is_zero: false })
        }
        Compared::AtLeast | Compared::Above => Some(Row { poly, is_zero: false }),
        Compared::Equal => Some(Row { poly, is_zero: true }),
        Compared::Different => None,
    }
}

/// A sum as a polynomial over variables of both sorts. `None` if it is not linear.
pub(crate) fn linear(store: &TermStore, sum: Term) -> Option<LinearPoly> {
    let poly = LinearPoly::from_term(store, sum);
    let monomial = |&(term, ref coefficient): &(Term, shofar_logic::number::Rational)| {
        let variable = match store.view(term) {
            (Op::ToReal, &[inside]) => inside,
            _ => term,
        };
        store.is_symbol(variable).then(|| (variable, coefficient.clone()))
    };
    let terms: Option<Vec<_>> = poly.terms().iter().map(monomial).collect();
    Some(LinearPoly::from_pairs(terms?, poly.constant().clone()))
}

/// The bounds of a truth value.
fn unit_interval(store: &TermStore, variable: Term) -> Vec<Row> {
    if store.sort_of(variable) != Sort::BOOL {
        return Vec::new();
    }
    let at_least = LinearPoly::from_pairs(vec![(variable, 1u64.into())], 0u64.into());
    let at_most = LinearPoly::from_pairs(vec![(variable, (-1i64).into())], 1u64.into());
    vec![Row { poly: at_least, is_zero: false }, Row { poly: at_most, is_zero: false }]
}

/// A model of a formula that gives these values to variables.
pub(crate) fn completed(run: &Run<'_>, formula: Term, given: Vec<(Term, Value)>) -> Result<Assignment, Stop> {
    let variables = run.store.free_vars(&[formula]);
    let values = ground::complete(run, formula, given.iter().cloned(), &variables)?;
    Ok(variables.into_iter().zip(values).chain(given).collect())
}
