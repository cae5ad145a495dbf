//! Summaries: what hulls say about the facts of each predicate, whatever the queries ask.
//!
//! The sum of the lengths of two lists is the length of the list that `append` makes of them. Such formulas are lemmas for other
//! engines, which compute them when they need them: it takes 5 to 10 ms for a task of the competition.
//!
//! | engine | what it gets | what it does |
//! |---|---|---|
//! | `product` | [`summaries`]: conjunctions with functions of datatypes | excludes clauses of products; the proof has them as lemmas |
//! | `unfold` | [`plain_summaries`]: formulas about numbers and constructors | restricts atoms; they are part of the model |
//!
//! Others do not gain by them. With plain summaries in the bodies of all clauses, on 70 tasks with 2 s for each, `spacer` solves the same 43,
//! and `regular-combined` one more, which `regular` solves anyway, in 1.4 of the time.

use std::time::Duration;

use shofar_horn::graph::Application;
use shofar_horn::{Context, HornGraph};
use shofar_logic::{FoldLemma, Sort, Term, TermStore};
use shofar_run::Stop;

use super::components::{Algebra, Profile, datatypes};
use super::{COUNTERS, Found, Plan, TESTERS, describe};

/// Time for summaries; an eighth of the remaining time, if that is less.
const TIME: Duration = Duration::from_millis(500);

/// Formulas about the facts of predicates, and lemmas about the functions that they apply.
pub(crate) struct Summaries {
    /// By nodes, over the variables of the graph.
    pub(crate) formulas: Vec<Term>,
    pub(crate) lemmas: Vec<FoldLemma>,
}

/// The summaries of a graph. They say nothing if they are too hard to find.
pub(crate) fn summaries(context: Context<'_>, graph: &HornGraph) -> Result<Summaries, Stop> {
    let Found { formulas, lemmas } = found(context, graph, COUNTERS, false, true)?;
    Ok(Summaries { formulas, lemmas })
}

/// Summaries without functions of datatypes: formulas about numbers and the constructors of arguments, by nodes. Facts are divided by
/// constructors, and the formulas have inequalities.
pub(crate) fn plain_summaries(context: Context<'_>, graph: &HornGraph) -> Result<Vec<Term>, Stop> {
    Ok(found(context, graph, TESTERS, true, false)?.formulas)
}

fn found(
    context: Context<'_>,
    graph: &HornGraph,
    profile: Profile,
    inequalities: bool,
    is_whole: bool,
) -> Result<Found, Stop> {
    let store = context.store;
    let rules = without_queries(store, graph);
    let variables = graph.nodes().flat_map(|(_, node)| node.variables().iter().copied());
    let sorts = datatypes(store, variables.map(|variable| store.sort_of(variable)));
    let ghost = store.var(store.fresh_symbol("ghost"), Sort::INT);
    let plan = Plan {
        algebra: Algebra::new(store, &sorts, profile, ghost),
        inequalities,
        orders: false,
        whole: vec![is_whole; graph.nodes().len()],
    };
    match describe(context.for_part(8, TIME), &rules, &sorts, &plan) {
        Ok(Some(found)) => Ok(found),
        Err(stop @ (Stop::Unsupported(_) | Stop::Internal(_))) => Err(stop),
        Ok(None) | Err(_) => {
            context.go_on()?;
            Ok(Found { formulas: vec![Term::TRUE; graph.nodes().len()], lemmas: Vec::new() })
        }
    }
}

fn without_queries(store: &TermStore, graph: &HornGraph) -> HornGraph {
    let mut rules = HornGraph::new();
    for (_, node) in graph.nodes() {
        rules.add_node(node.clone());
    }
    for (id, edge) in graph.edges() {
        let Some(target) = edge.target() else { continue };
        let sources = edge.sources().iter().enumerate();
        let sources: Vec<Application> =
            sources.map(|(position, &node)| (node, graph.source_variables(id, position).to_vec())).collect();
        let head = (target, graph.target_variables(id).to_vec());
        rules.add_clause(store, &sources, edge.label(), Some(&head));
    }
    rules
}
