//! Hulls over algebras: invariants that speak of lengths, sums, heights and other functions of datatypes.
//!
//! **What it decides.** Satisfiable systems over datatypes, integers and Booleans, linear or not, whose reason is a relation between
//! such functions: the reverse of a list is as long as the list. It cannot find a derivation of `false`. If no algebra of its list
//! suffices, it ends.
//!
//! **The idea.** An *algebra* maps the values of each datatype to a vector of integers and truth values, its *components*
//! (`components.rs`). Clauses about values become clauses about components (`abstraction.rs`), and hulls describe all facts of
//! these (`shofar_horn::hull`). If the descriptions exclude the queries, they are a model: predicates are formulas that apply the
//! functions to their arguments.
//!
//! ```text
//! for each stage, a choice of components and of keys, the cheapest first
//!     images := the hulls of the components of all values, by sorts
//!     abstract := the clauses over components
//!     if the hulls of abstract exclude its queries: sat
//! ```
//!
//! **Why the answer is right.** Each instance of a clause is an instance of the abstract clause, for the components of its values.
//! So a model of the abstract clauses, applied to components, is a model of the clauses. The images are claimed as lemmas about the
//! functions, since the checker needs them: they are inductive over the constructors.
//!
//! **Where it comes from.** Y. Kostyukov, D. Mordvinov, G. Fedyukovich, "Beyond the elementary representations of program invariants
//! over algebraic data types" (PLDI 2021), for finite algebras as invariants; H. Hojjat, P. Rümmer, "Deciding and interpolating
//! algebraic data types by reduction" (SYNASC 2017), for sizes; P. Suter, M. Dotta, V. Kuncak, "Decision procedures for algebraic
//! data types with abstractions" (POPL 2010), for catamorphisms. **Where we differ.** All of a fixed list of functions is tried at
//! once, and the invariant is not searched for but is the least one of a domain.

mod abstraction;
mod components;

use std::time::{Duration, Instant};

use shofar_horn::HornGraph;
use shofar_horn::graph::{EdgeId, NodeId};
use shofar_horn::hull::{Analysis, Division};
use shofar_horn::witness::GraphModel;
use shofar_logic::{FoldLemma, Sort, Term, TermStore};
use shofar_run::Stop;

use crate::{Engine, Evidence, Run, fragment};
use abstraction::{Abstraction, Images};
use components::{Algebra, Profile, datatypes};

/// Queries of one stage.
const QUERIES: usize = 3000;

/// Time for one stage; a third of the remaining time, if that is less.
const TIME: Duration = Duration::from_secs(20);

/// The number of integers of a predicate up to which their order divides facts.
const MOST_ORDERED: usize = 3;

/// A choice of components and keys.
struct Stage {
    profile: Profile,
    /// Whether descriptions have inequalities.
    inequalities: bool,
    /// Whether the order of a predicate's integers divides facts.
    orders: bool,
}

/// The stages, cheap ones first.
const STAGES: [Stage; 5] = [
    Stage { profile: NOTHING_MORE, inequalities: false, orders: false },
    Stage { profile: NUMBERS, inequalities: false, orders: false },
    Stage { profile: NUMBERS, inequalities: true, orders: false },
    Stage { profile: Profile { fields: true, ..NOTHING_MORE }, inequalities: true, orders: true },
    Stage { profile: NUMBERS, inequalities: true, orders: true },
];

const NOTHING_MORE: Profile = Profile { sums: false, heights: false, fields: false };
const NUMBERS: Profile = Profile { sums: true, heights: true, fields: false };

/// The engine of hulls over algebras.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Algebras;

impl Engine for Algebras {
    fn name(&self) -> &'static str {
        "algebra"
    }

    fn description(&self) -> &'static str {
        "hulls over lengths, sums, heights and other functions of datatypes, for proofs; all systems"
    }

    fn accepts(&self, store: &TermStore, graph: &HornGraph) -> Result<(), Stop> {
        fragment::is_decidable(store, graph)
    }

    fn solve(&self, graph: &HornGraph, run: &Run<'_>) -> Result<Evidence, Stop> {
        let start = Instant::now();
        let labels: Vec<Term> = graph.edges().map(|(_, edge)| edge.label()).collect();
        let variables = graph.nodes().flat_map(|(_, node)| node.variables().iter().copied());
        let terms = run.store.subterms(&labels).into_iter().chain(variables);
        let sorts = datatypes(run.store, terms.map(|term| run.store.sort_of(term)));
        let mut tried = 0;
        let mut answer = Err(Stop::Exhausted("no known function of datatypes gives an invariant"));
        for stage in &STAGES {
            run.go_on()?;
            tried += 1;
            match attempt(graph, run, &sorts, stage) {
                Ok(None) => {}
                Ok(Some(model)) => {
                    answer = Ok(Evidence::Sat(model));
                    break;
                }
                Err(stop @ (Stop::Unsupported(_) | Stop::Internal(_))) => {
                    answer = Err(stop);
                    break;
                }
                // The stage was too hard.
                Err(_) => {}
            }
        }
        run.tell_statistics(vec![("stages", tried)], start);
        answer
    }
}

/// The model of one stage, if its descriptions exclude the queries.
fn attempt(
    graph: &HornGraph,
    run: &Run<'_>,
    sorts: &[Sort],
    stage: &Stage,
) -> Result<Option<GraphModel>, Stop> {
    let store = run.store;
    let context = run.context().for_part(3, TIME);
    let algebra = Algebra::new(store, sorts, stage.profile);
    let images = Images::new(context, &algebra, sorts)?;
    let abstraction = Abstraction::new(context, graph, &algebra, &images)?;
    let mut analysis = Analysis::new(context, &abstraction.graph, QUERIES);
    for (node, _) in graph.nodes() {
        let orders = if stage.orders { ordered(store, &algebra, &abstraction, node) } else { Vec::new() };
        let division = Division { orders, inequalities: stage.inequalities, ..Division::default() };
        analysis.divide(node, division);
    }
    let (rules, queries): (Vec<EdgeId>, Vec<EdgeId>) =
        graph.edges().map(|(id, _)| id).partition(|&id| graph.edge(id).target().is_some());
    analysis.close(&rules)?;
    for query in queries {
        if !analysis.excludes(query, Term::TRUE)? {
            return Ok(None);
        }
    }
    for &sort in sorts {
        let value = store.var(store.symbol("value"), sort);
        let components: Vec<Term> =
            algebra.of(sort).iter().map(|component| component.at(store, value)).collect();
        let formula = images.at(store, sort, &components);
        if formula != Term::TRUE {
            store.claim_lemma(&FoldLemma { parameters: [value].into(), formula });
        }
    }
    let formula = |(node, _): (NodeId, _)| abstraction.back(store, node, analysis.formula(node));
    Ok(Some(GraphModel::of_formulas(graph.nodes().map(formula))))
}

/// The pairs of a node's arguments that are integers or fields of them, as positions in the abstract graph, if there are few.
fn ordered(
    store: &TermStore,
    algebra: &Algebra,
    abstraction: &Abstraction,
    node: NodeId,
) -> Vec<(usize, usize)> {
    let positions = abstraction.integers(store, algebra, node);
    if positions.len() > MOST_ORDERED {
        return Vec::new();
    }
    let pairs = |(at, &b): (usize, &usize)| positions[..at].iter().map(|&a| (a, b)).collect::<Vec<_>>();
    positions.iter().enumerate().flat_map(pairs).collect()
}
