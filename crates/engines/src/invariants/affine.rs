//! Affine hulls of the facts of predicates, and of the changes that loops make.
//!
//! Each point outside of a hull gives up one of its equations ([`AffineHull`]), so a hull changes at most once more than it
//! has variables, and no widening is needed.

use std::collections::BTreeSet;

use shofar_horn::graph::EdgeId;
use shofar_horn::hull::affine::{AffineHull, sort_of};
use shofar_logic::number::Rational;
use shofar_logic::{LinearPoly, Term, TermStore};
use shofar_run::Stop;

use super::{Questions, is_number, number};

/// Changes of one loop that are looked at.
const MOST_STRIDES: usize = 6;

/// A sum with variables as a term.
pub(super) fn to_term(store: &TermStore, sum: &LinearPoly) -> Term {
    sum.to_term(store, sort_of(store, sum))
}

/// By nodes: the affine hull of all facts; none for a node without facts.
pub(super) fn hulls(questions: &mut Questions<'_>) -> Result<Vec<Option<AffineHull>>, Stop> {
    let graph = questions.graph;
    let (outgoing, _) = graph.outgoing();
    let mut hulls: Vec<Option<AffineHull>> = vec![None; graph.nodes().len()];
    let mut open: BTreeSet<EdgeId> = graph.edges().map(|(id, _)| id).collect();
    while let Some(edge) = open.pop_first() {
        let Some(target) = graph.edge(edge).target() else { continue };
        let mut is_new = false;
        while let Some(point) = point_outside(questions, &hulls, edge)? {
            is_new = true;
            match &mut hulls[target.index()] {
                Some(hull) => hull.join(questions.run.store, &point),
                hull @ None => *hull = Some(AffineHull::of(&point)),
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
    hulls: &[Option<AffineHull>],
    edge: EdgeId,
) -> Result<Option<Vec<(Term, Rational)>>, Stop> {
    let store = questions.run.store;
    let Some(target) = questions.graph.edge(edge).target() else { return Ok(None) };
    let Some(from) = at_sources(questions, hulls, edge) else { return Ok(None) };
    let inside = hulls[target.index()].as_ref().map(|hull| hull.formulas(store));
    questions.fact_outside(edge, target, from, inside)
}

/// What the hulls say of the sources of an edge; `None` if one has no facts.
pub(super) fn at_sources(
    questions: &Questions<'_>,
    hulls: &[Option<AffineHull>],
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
    hulls: &[Option<AffineHull>],
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
    let mut hull: Option<AffineHull> = None;
    let mut found = Vec::new();
    while found.len() < MOST_STRIDES {
        let mut assumptions = from.clone();
        if let Some(hull) = &hull {
            let denied = hull.equations().iter().map(|equation| {
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
            None => hull = Some(AffineHull::of(&stride)),
        }
        found.push(stride);
        if hull.as_ref().is_none_or(|hull| hull.equations().is_empty()) {
            break;
        }
    }
    Ok(found)
}
