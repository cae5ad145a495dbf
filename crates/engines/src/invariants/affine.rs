//! Affine hulls of the facts of predicates, and of the changes that loops make.
//!
//! An affine hull is a set of equations `a.x = b`. The hull of one point has an equation for each variable; a point outside
//! joins by giving up one equation that it violates, which is added to the others in such multiples that these hold.
//! So a hull changes at most once more than it has variables, and no widening is needed.
//!
//! Integers and reals have equations of their own, because SMT-LIB has no sums of both.

use std::collections::BTreeSet;

use shofar_horn::graph::EdgeId;
use shofar_logic::number::Rational;
use shofar_logic::{LinearPoly, Sort, Term, TermStore};
use shofar_run::Stop;

use super::{Questions, is_number, number};

/// Changes of one loop that are looked at.
const MOST_STRIDES: usize = 6;

/// A set of points: the solutions of equations.
#[derive(Clone, Default, Debug)]
pub(super) struct Hull {
    /// Polynomials that are zero, over variables of one sort each.
    equations: Vec<LinearPoly>,
}

impl Hull {
    /// The hull of one point.
    fn of(point: &[(Term, Rational)]) -> Self {
        let fixed = |(variable, value): &(Term, Rational)| {
            LinearPoly::from_pairs(vec![(*variable, Rational::ONE)], -value)
        };
        Hull { equations: point.iter().map(fixed).collect() }
    }

    /// Adds a point.
    fn join(&mut self, store: &TermStore, point: &[(Term, Rational)]) {
        let value =
            |variable| point.iter().find(|(other, _)| *other == variable).map(|(_, value)| value.clone());
        for sort in [Sort::INT, Sort::REAL] {
            let of_sort = |equation: &LinearPoly| sort_of(store, equation) == sort;
            let residue = |equation: &LinearPoly| equation.eval(value).unwrap_or(Rational::ZERO);
            let violated =
                self.equations.iter().position(|equation| of_sort(equation) && !residue(equation).is_zero());
            let Some(violated) = violated else { continue };
            let given_up = self.equations.remove(violated);
            let by = residue(&given_up);
            for equation in self.equations.iter_mut().filter(|equation| of_sort(equation)) {
                let factor = -(residue(equation) / &by);
                equation.add_scaled(&given_up, &factor);
            }
        }
        // Each equation is solved for its last variable, which no other one mentions.
        for at in 0..self.equations.len() {
            let equation = self.equations[at].clone();
            let pivot = pivot(&equation);
            let others = self.equations.iter_mut().enumerate().filter(|(other, _)| *other != at);
            others.for_each(|(_, other)| other.cancel(pivot, &equation));
        }
    }

    /// The equations as formulas.
    pub(super) fn formulas(&self, store: &TermStore) -> Vec<Term> {
        self.equations.iter().map(|equation| equal_zero(store, equation.clone())).collect()
    }

    /// The sums that the equations give a value.
    pub(super) fn sums(&self) -> Vec<LinearPoly> {
        self.equations.iter().map(|equation| equation.clone().without_constant().primitive().0).collect()
    }

    /// The sum without variables that the equations replace by others, up to a constant.
    pub(super) fn reduce(&self, mut sum: LinearPoly) -> LinearPoly {
        for equation in &self.equations {
            sum.cancel(pivot(equation), equation);
        }
        sum.without_constant()
    }
}

fn pivot(equation: &LinearPoly) -> Term {
    equation.terms().last().expect("an equation has variables").0
}

fn sort_of(store: &TermStore, equation: &LinearPoly) -> Sort {
    store.sort_of(equation.terms()[0].0)
}

/// A sum with variables as a term.
pub(super) fn to_term(store: &TermStore, sum: &LinearPoly) -> Term {
    sum.to_term(store, sort_of(store, sum))
}

/// The equation that a polynomial is zero. On integers it is made of one that holds of some integers, so that without
/// common divisors of the coefficients the constant is an integer as well.
fn equal_zero(store: &TermStore, equation: LinearPoly) -> Term {
    let sort = sort_of(store, &equation);
    let (equation, _) = equation.primitive();
    let constant = -equation.constant();
    store.eq(equation.without_constant().to_term(store, sort), store.number(&constant, sort))
}

/// By nodes: the affine hull of all facts; none for a node without facts.
pub(super) fn hulls(questions: &mut Questions<'_>) -> Result<Vec<Option<Hull>>, Stop> {
    let graph = questions.graph;
    let (outgoing, _) = graph.outgoing();
    let mut hulls: Vec<Option<Hull>> = vec![None; graph.nodes().len()];
    let mut open: BTreeSet<EdgeId> = graph.edges().map(|(id, _)| id).collect();
    while let Some(edge) = open.pop_first() {
        let Some(target) = graph.edge(edge).target() else { continue };
        let mut is_new = false;
        while let Some(point) = point_outside(questions, &hulls, edge)? {
            is_new = true;
            match &mut hulls[target.index()] {
                Some(hull) => hull.join(questions.run.store, &point),
                hull @ None => *hull = Some(Hull::of(&point)),
            }
        }
        if is_new {
            open.extend(&outgoing[target.index()]);
        }
    }
    Ok(hulls)
}

/// The arguments, as far as they are numbers, of a fact that an edge derives from the hulls of its sources and that is not in
/// the hull of its target.
fn point_outside(
    questions: &mut Questions<'_>,
    hulls: &[Option<Hull>],
    edge: EdgeId,
) -> Result<Option<Vec<(Term, Rational)>>, Stop> {
    let (store, graph) = (questions.run.store, questions.graph);
    let Some(target) = graph.edge(edge).target() else { return Ok(None) };
    let Some(mut assumptions) = at_sources(questions, hulls, edge) else { return Ok(None) };
    if let Some(hull) = &hulls[target.index()] {
        if hull.equations.is_empty() {
            return Ok(None);
        }
        let inside = store.and(&hull.formulas(store));
        assumptions.push(store.not(graph.at_target(store, edge, inside)));
    }
    let next = graph.target_variables(edge);
    let Some(model) = questions.model(edge, &assumptions, next)? else { return Ok(None) };
    let variables = graph.node(target).variables().iter().zip(next);
    Ok(Some(
        variables.filter_map(|(&variable, &next)| Some((variable, number(store, &model, next)?))).collect(),
    ))
}

/// What the hulls say of the sources of an edge; `None` if one has no facts.
pub(super) fn at_sources(
    questions: &Questions<'_>,
    hulls: &[Option<Hull>],
    edge: EdgeId,
) -> Option<Vec<Term>> {
    let (store, graph) = (questions.run.store, questions.graph);
    let mut formulas = questions.known_at_sources(edge)?;
    for (source, &node) in graph.edge(edge).sources().iter().enumerate() {
        let hull = hulls[node.index()].as_ref()?.formulas(store);
        formulas.extend(hull.into_iter().map(|formula| graph.at_source(store, edge, source, formula)));
    }
    Some(formulas)
}

/// Changes of the arguments that are numbers, where an edge leads from a node to itself: points whose affine hull contains
/// all changes, or some of them if there are more than a few.
pub(super) fn strides(
    questions: &mut Questions<'_>,
    hulls: &[Option<Hull>],
    edge: EdgeId,
) -> Result<Vec<Vec<(Term, Rational)>>, Stop> {
    let (store, graph) = (questions.run.store, questions.graph);
    let target = graph.edge(edge).target();
    let source = graph.edge(edge).sources().iter().position(|&source| Some(source) == target);
    let (Some(target), Some(source)) = (target, source) else { return Ok(Vec::new()) };
    let Some(from) = at_sources(questions, hulls, edge) else { return Ok(Vec::new()) };
    let (before, after) = (graph.source_variables(edge, source), graph.target_variables(edge));
    let all: Vec<Term> = before.iter().chain(after).copied().collect();
    let variables = graph.node(target).variables();
    let difference = |variable: Term| {
        let at = variables.iter().position(|&other| other == variable).expect("hulls speak of the node");
        store.sub(after[at], before[at])
    };
    let mut hull: Option<Hull> = None;
    let mut found = Vec::new();
    while found.len() < MOST_STRIDES {
        let mut assumptions = from.clone();
        if let Some(hull) = &hull {
            let denied = hull.equations.iter().map(|equation| {
                let sort = sort_of(store, equation);
                let multiples = equation.terms().iter();
                let multiples = multiples.map(|(v, c)| LinearPoly::from_term(store, difference(*v)) * c);
                let sum =
                    multiples.fold(LinearPoly::from_constant(equation.constant().clone()), |sum, m| sum + &m);
                let (sum, _) = sum.factored();
                store.not(store.eq(sum.to_term(store, sort), store.number(&Rational::ZERO, sort)))
            });
            assumptions.push(store.or_of(denied));
        }
        let Some(model) = questions.model(edge, &assumptions, &all)? else { break };
        let change = |(at, &variable): (usize, &Term)| {
            let change = number(store, &model, after[at])? - &number(store, &model, before[at])?;
            Some((variable, change))
        };
        let numbers = variables.iter().enumerate().filter(|(_, variable)| is_number(store, **variable));
        let stride: Vec<(Term, Rational)> = numbers.filter_map(change).collect();
        match &mut hull {
            Some(hull) => hull.join(store, &stride),
            None => hull = Some(Hull::of(&stride)),
        }
        found.push(stride);
        if hull.as_ref().is_none_or(|hull| hull.equations.is_empty()) {
            break;
        }
    }
    Ok(found)
}
