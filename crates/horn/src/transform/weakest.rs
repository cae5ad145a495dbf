//! Formulas for removed predicates by their uses, where definitions are about all elements of arrays.
//!
//! | use of the removed `Q` | formula for `Q(y)` |
//! |---|---|
//! | `Q(y), S(v), M(y, v, w) => R(w)` with `R(w)` defined as `forall k. F(w, k)` | `forall v, w, k. S*(v) and M(y, v, w) => F(w, k)` |
//! | `Q(y), S(v), M(y, v, w) => false` | `forall v, w. not (S*(v) and M(y, v, w))` |
//!
//! `S*(v)` is the definition of `S`; if that is about all elements, instances of it at the indices of the clause. So the formula is the
//! weakest one for which the clause holds, or stronger, and still universal. Several uses give a conjunction. Variables that equations
//! determine are replaced by their values, and need no quantifier.
//!
//! The model of the clauses without `Q` says that the definitions of `Q` imply these formulas, as long as the instances suffice. The
//! checker finds out whether they do.

use shofar_logic::{Op, Substitution, Term, TermStore};
use shofar_run::Stop;

use crate::Context;
use crate::check::{is_universal, point_instances};
use crate::graph::{EdgeId, HornGraph, NodeId, rename};
use crate::transform::solve_equations;
use crate::witness::{GraphModel, prenex};

/// The reason not to find a formula.
const SEVERAL: Stop = Stop::Exhausted(
    "a removed predicate occurs several times in a clause, beside definitions with quantifiers",
);

/// Whether a definition of one of these nodes is about all elements of arrays.
pub(super) fn is_needed(
    store: &TermStore,
    graph: &HornGraph,
    model: &GraphModel,
    edges: &[EdgeId],
) -> Result<bool, Stop> {
    for &edge in edges {
        let edge = graph.edge(edge);
        for &node in edge.sources().iter().chain(&edge.target()) {
            if is_universal(store, model.formula(node)?) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// The formula for a node with these uses.
pub(super) fn formula(
    context: &Context<'_>,
    graph: &HornGraph,
    model: &GraphModel,
    node: NodeId,
    uses: &[EdgeId],
) -> Result<Term, Stop> {
    let store = context.store;
    let formulas = uses.iter().map(|&edge| {
        context.go_on()?;
        let by_use = of_use(store, graph, model, node, edge)?;
        Ok(by_use)
    });
    let formulas: Vec<Term> = formulas.collect::<Result<_, Stop>>()?;
    Ok(prenex(store, store.and(&formulas)))
}

fn of_use(
    store: &TermStore,
    graph: &HornGraph,
    model: &GraphModel,
    node: NodeId,
    edge: EdgeId,
) -> Result<Term, Stop> {
    let sources = graph.edge(edge).sources();
    let mut own: Option<&[Term]> = None;
    let mut parts = vec![graph.edge(edge).label()];
    let mut universals: Vec<Term> = Vec::new();
    for (source, &other) in sources.iter().enumerate() {
        if other == node {
            if own.replace(graph.source_variables(edge, source)).is_some() {
                return Err(SEVERAL);
            }
            continue;
        }
        let formula = model.at_source(store, graph, edge, source)?;
        match is_universal(store, formula) {
            true => universals.push(formula),
            false => parts.push(formula),
        }
    }
    let own = own.ok_or_else(|| Stop::Internal("a use of a predicate does not use it".to_owned()))?;
    let target = model.at_target(store, graph, edge)?;
    let denied = match store.view(target) {
        (Op::Forall, [bound @ .., body]) => {
            let fresh =
                |&variable: &Term| (variable, store.var(store.fresh_symbol("k"), store.sort_of(variable)));
            let fresh: Substitution = bound.iter().map(fresh).collect();
            store.not(store.instantiate(*body, &fresh))
        }
        _ => store.not(target),
    };
    parts.push(denied);
    parts.extend(point_instances(store, &parts, &universals));
    let failure = store.and_of(parts.into_iter().map(|part| store.normalize(part)));
    let solved = solve_equations(store, failure, |variable| (!own.contains(&variable)).then_some(0));
    let holds = store.not(store.and(&solved.rest));
    let bound: Vec<Term> =
        store.free_vars(&[holds]).into_iter().filter(|variable| !own.contains(variable)).collect();
    let formula = if bound.is_empty() { holds } else { store.forall(&bound, holds) };
    Ok(rename(store, formula, own, graph.node(node).variables()))
}
