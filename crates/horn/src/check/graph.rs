//! Checks witnesses of graphs: models edge by edge, derivations step by step.
//!
//! These checks find mistakes of engines and transformations near their origin, in tests. No answer rests on them:
//! the witness of an answer is checked against the system. So they believe the solver. A derivation has no values for the local
//! variables of labels; the solver finds them, and evaluation confirms the label.

use rustc_hash::FxHashSet;
use shofar_logic::{Assignment, Sort, Term, Value};
use shofar_run::Stop;
use shofar_smt::purify::Unsupported;
use shofar_smt::sat::Outcome;
use shofar_smt::solver::Solver;

use super::{Trust, Validity, Values, folds, ghosts, keeps_quantifiers, universal};
use crate::Context;
use crate::graph::{EdgeId, HornGraph};
use crate::ground;
use crate::witness::{Derivation, GraphModel, Interpretation, claims};

/// Checks that the model satisfies every edge of the graph. Otherwise the error is [`Stop::Internal`] and names the
/// edge or the malformed interpretation.
pub fn check_graph_model(context: &Context<'_>, graph: &HornGraph, model: &GraphModel) -> Result<(), Stop> {
    let store = context.store;
    let (found, needed) = (model.interpretations.len(), graph.nodes().len());
    if found != needed {
        return wrong(format!("{found} interpretations of {needed} nodes"));
    }
    for ((_, content), interpretation) in graph.nodes().zip(&model.interpretations) {
        let Interpretation::Formula(formula) = *interpretation;
        let name = store.display_symbol(content.name);
        let variables: FxHashSet<Term> = content.variables().iter().copied().collect();
        if store.sort_of(formula) != Sort::BOOL
            || store.is_quantified(formula) && !keeps_quantifiers(store, formula)
        {
            return wrong(format!("the model of {name} is not a formula without quantifiers"));
        }
        if let Some(&other) =
            store.free_vars(&[formula]).iter().find(|variable| !variables.contains(variable))
        {
            return wrong(format!("the model of {name} mentions {}", store.display(other)));
        }
    }
    let formulas = model.interpretations.iter().map(Interpretation::formula);
    let lemmas = claims(store, formulas.collect::<Result<_, Stop>>()?);
    match folds::prove(context, Trust::Solver, &lemmas) {
        Ok(()) => {}
        Err(Validity::Unknown(stop)) => return Err(stop),
        Err(_) => return wrong("the model claims a lemma that is false".to_owned()),
    }
    for (id, edge) in graph.edges() {
        context.go_on()?;
        let sources = 0..edge.sources().len();
        let sources = sources.map(|source| model.at_source(store, graph, id, source));
        let sources = sources.collect::<Result<Vec<Term>, Stop>>()?;
        let target = model.at_target(store, graph, id)?;
        if sources.iter().chain([&target]).any(|&formula| folds::are_needed(store, formula)) {
            let head = edge.target().map(|_| target);
            let mut instances = ghosts::instances(store, &[edge.label()], &sources, head);
            instances.formulas.push(edge.label());
            let found = folds::refute(context, Trust::Solver, &instances.formulas, &[], &lemmas, "an edge")?;
            if found.is_some() {
                return wrong(format!("the model violates {}", described(context, graph, id)));
            }
            continue;
        }
        if sources.iter().chain([&target]).any(|&formula| store.is_quantified(formula)) {
            let head = edge.target().map(|_| target);
            universal::refute(context, Trust::Solver, edge.label(), &sources, head, "an edge")?;
            continue;
        }
        let mut formulas = vec![edge.label(), store.not(target)];
        formulas.extend(sources);
        let mut solver = Solver::new(store);
        let unsupported = |unsupported: Unsupported| unsupported.stop(store);
        solver.assert_all(&formulas).map_err(unsupported)?;
        match solver.check(&[], &context.limits).map_err(unsupported)? {
            Outcome::Unsat => {}
            Outcome::Sat => return wrong(format!("the model violates {}", described(context, graph, id))),
            Outcome::Unknown(reason) => return Err(Stop::Interrupted(reason)),
        }
    }
    Ok(())
}

/// Checks a derivation of `false` in a graph. [`Stop::Internal`] names the step that does not follow.
pub fn check_derivation(
    context: &Context<'_>,
    graph: &HornGraph,
    derivation: &Derivation,
) -> Result<(), Stop> {
    let store = context.store;
    let mut values = Values::default();
    for (number, step) in derivation.steps.iter().enumerate() {
        context.go_on()?;
        if step.edge.index() >= graph.edges().len() {
            return wrong(format!("step {number}: there is no such edge"));
        }
        let edge = graph.edge(step.edge);
        let at = || format!("step {number} by {}", described(context, graph, step.edge));
        let sorts = edge.target().map_or(Vec::new(), |node| graph.node(node).sorts(store));
        if !values.fit(store, &step.fact, &sorts) {
            return wrong(format!("{}: the fact does not have the sorts of the target", at()));
        }
        if step.premises.len() != edge.sources().len() {
            return wrong(format!("{}: {} premises", at(), step.premises.len()));
        }
        let mut premises: Vec<&[Value]> = Vec::with_capacity(step.premises.len());
        for (&node, &premise) in edge.sources().iter().zip(&step.premises) {
            let Some(earlier) = derivation.steps[..number].get(premise) else {
                return wrong(format!("{}: premise {premise} is not an earlier step", at()));
            };
            if graph.edge(earlier.edge).target() != Some(node) {
                return wrong(format!("{}: premise {premise} is about another node", at()));
            }
            premises.push(&earlier.fact);
        }
        let given = graph.values_at(step.edge, premises, &step.fact);
        let locals = graph.locals(store, step.edge);
        let found = match ground::complete(context, edge.label(), given.iter().cloned(), &locals) {
            Err(Stop::Internal(_)) => return wrong(format!("{}: the label is false", at())),
            found => found?,
        };
        // Functions have no values here: a step that depends on their interpretation proves nothing.
        let all: Assignment = given.into_iter().chain(locals.into_iter().zip(found)).collect();
        match store.eval(edge.label(), &all) {
            Ok(Value::Bool(true)) => {}
            Ok(_) => return wrong(format!("{}: the label is false", at())),
            Err(error) => return wrong(format!("{}: {}", at(), error.display(store))),
        }
    }
    match derivation.steps.last() {
        Some(last) if graph.edge(last.edge).target().is_none() => Ok(()),
        _ => wrong("the last step does not derive false".to_owned()),
    }
}

fn wrong(message: String) -> Result<(), Stop> {
    Err(Stop::Internal(message))
}

/// Describes an edge by its number and its nodes.
fn described(context: &Context<'_>, graph: &HornGraph, id: EdgeId) -> String {
    let edge = graph.edge(id);
    let name = |node| context.store.display_symbol(graph.node(node).name).to_string();
    let sources: Vec<String> = edge.sources().iter().map(|&node| name(node)).collect();
    let target = edge.target().map_or("false".to_owned(), name);
    format!("edge {} from ({}) to {target}", id.index(), sources.join(" "))
}

#[cfg(test)]
mod tests {
    use shofar_logic::TermStore;
    use shofar_run::Limits;

    use super::*;
    use crate::graph::NodeId;
    use crate::parse;
    use crate::witness::GraphStep;

    fn graph(store: &TermStore, text: &str) -> HornGraph {
        HornGraph::of(store, &parse(store, "test", text.as_bytes()).expect("the test's clauses are right"))
    }

    fn message(result: Result<(), Stop>) -> String {
        match result {
            Err(Stop::Internal(message)) => message,
            other => panic!("{other:?}"),
        }
    }

    /// A counter to five: Figure 2.3 of Blicha's thesis.
    #[test]
    fn a_model_is_right_or_names_the_edge_that_it_violates() {
        let store = TermStore::new();
        let graph = graph(
            &store,
            "(declare-fun Inv (Int) Bool)
             (assert (forall ((x Int)) (=> (<= x 0) (Inv x))))
             (assert (forall ((x Int) (y Int)) (=> (and (Inv x) (< x 5) (= y (+ x 1))) (Inv y))))
             (assert (forall ((x Int)) (=> (and (Inv x) (>= x 5) (not (< x 10))) false)))",
        );
        let context = Context { store: &store, limits: Limits::default() };
        let x = graph.node(NodeId::new(0)).variables()[0];
        let next = graph.node(NodeId::new(0)).next()[0];
        let check = |formula| check_graph_model(&context, &graph, &GraphModel::of_formulas([formula]));
        assert_eq!(check(store.le(x, store.int(5))), Ok(()));
        assert!(message(check(store.le(x, store.int(-1)))).contains("edge 0 from () to Inv"));
        assert!(message(check(store.le(x, store.int(4)))).contains("edge 1 from (Inv) to Inv"));
        assert!(message(check(store.le(x, store.int(10)))).contains("edge 2 from (Inv) to false"));
        assert!(message(check(store.le(next, store.int(5)))).contains("mentions"));
        assert!(
            message(check_graph_model(&context, &graph, &GraphModel::default()))
                .contains("0 interpretations")
        );
    }

    /// Example 5.2 of Blicha's thesis.
    #[test]
    fn a_derivation_is_right_or_names_the_step_that_is_not() {
        let store = TermStore::new();
        let graph = graph(
            &store,
            "(declare-fun L1 (Int) Bool)(declare-fun D (Int Int) Bool)(declare-fun L2 (Int) Bool)
             (assert (forall ((x Int)) (=> (> x 0) (L1 x))))
             (assert (forall ((x Int) (y Int)) (=> (= y (+ x 1)) (D x y))))
             (assert (forall ((x Int) (y Int)) (=> (and (L1 x) (D x y)) (L2 y))))
             (assert (forall ((x Int)) (=> (and (L2 x) (<= x 2)) false)))",
        );
        let context = Context { store: &store, limits: Limits::default() };
        let step = |edge, premises: &[usize], fact: &[i64]| GraphStep {
            edge: EdgeId::new(edge),
            premises: premises.into(),
            fact: fact.iter().map(|&value| Value::Int(value.into())).collect(),
        };
        let right =
            vec![step(0, &[], &[1]), step(1, &[], &[1, 2]), step(2, &[0, 1], &[2]), step(3, &[2], &[])];
        let check =
            |steps: &[GraphStep]| check_derivation(&context, &graph, &Derivation { steps: steps.to_vec() });
        assert_eq!(check(&right), Ok(()));
        let with = |at: usize, wrong: GraphStep| {
            let mut steps = right.clone();
            steps[at] = wrong;
            message(check(&steps))
        };
        assert!(with(0, step(0, &[], &[0])).contains("step 0 by edge 0 from () to L1: the label is false"));
        assert!(with(0, step(0, &[], &[2])).contains("step 2"));
        assert!(with(1, step(1, &[], &[1])).contains("sorts"));
        assert!(with(1, step(9, &[], &[1, 2])).contains("no such edge"));
        assert!(with(2, step(2, &[0], &[2])).contains("1 premises"));
        assert!(with(2, step(2, &[0, 2], &[2])).contains("not an earlier step"));
        assert!(with(2, step(2, &[1, 0], &[2])).contains("another node"));
        assert!(message(check(&right[..3])).contains("does not derive false"));
        assert!(message(check(&[])).contains("does not derive false"));
    }

    #[test]
    fn what_depends_on_the_interpretation_of_a_function_derives_nothing() {
        let store = TermStore::new();
        for text in ["(declare-fun c () Int)(assert (not (= c 0)))", "(assert (not (= (div 1 0) 0)))"] {
            let graph = graph(&store, text);
            let context = Context { store: &store, limits: Limits::default() };
            let query = GraphStep { edge: EdgeId::new(0), premises: [].into(), fact: [].into() };
            message(check_derivation(&context, &graph, &Derivation { steps: vec![query] }));
        }
    }
}
