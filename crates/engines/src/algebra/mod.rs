//! Hulls over algebras: invariants that speak of lengths, sums, heights and other functions of datatypes.
//!
//! **What it decides.** Satisfiable systems over datatypes, integers and Booleans, linear or not, whose reason is a relation between
//! such functions: the reverse of a list is as long as the list. If no algebra of its list suffices, it ends. On the way it may meet
//! a derivation of `false`, but others search for those.
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
//!     if the hulls of abstract exclude its queries: sat, without the components and keys that this does not need (`slice.rs`)
//! refine: Spacer decides abstract, and its derivations choose components (`refine.rs`)
//! ```
//!
//! Components are those of a fixed list, functions that clauses define (`harvest.rs`), and in refinement finite tables and linear
//! functions that are searched for (`templates.rs`, `cegis.rs`).
//!
//! **Why the answer is right.** Each instance of a clause is an instance of the abstract clause, for the components of its values.
//! So a model of the abstract clauses, applied to components, is a model of the clauses. The images are claimed as lemmas about the
//! functions, since the checker needs them: they are inductive over the constructors.
//!
//! **Ghosts.** How often does `g` occur in a list? Such components depend on an integer, the *ghost*. Clauses keep it, so what they
//! prove holds for all `g`: sorting keeps `count(x, g)`. The model says `forall g`, and a query needs one `g`, an integer of its own.
//!
//! **Where it comes from.** Y. Kostyukov, D. Mordvinov, G. Fedyukovich, "Beyond the elementary representations of program invariants
//! over algebraic data types" (PLDI 2021), for finite algebras as invariants; H. Hojjat, P. Rümmer, "Deciding and interpolating
//! algebraic data types by reduction" (SYNASC 2017), for sizes; P. Suter, M. Dotta, V. Kuncak, "Decision procedures for algebraic
//! data types with abstractions" (POPL 2010), for catamorphisms. **Where we differ.** All functions of a list are tried at once, and the
//! invariant is first the least one of a domain, before one is searched for.

mod abstraction;
mod cegis;
mod components;
mod conflict;
mod harvest;
mod refine;
mod samples;
mod slice;
mod summaries;
mod templates;

use std::time::{Duration, Instant};

use shofar_horn::graph::{EdgeId, NodeId};
use shofar_horn::hull::{Analysis, Division};
use shofar_horn::witness::GraphModel;
use shofar_horn::{Context, HornGraph};
use shofar_logic::{FoldLemma, Sort, Term, TermStore};
use shofar_run::Stop;

use crate::{Engine, Evidence, Run, fragment};
use abstraction::{Abstraction, Images};
use components::{Algebra, Digits, Extreme, Ghosts, Profile, datatypes};
use harvest::harvest;
pub(crate) use refine::strengthened;
use refine::{Refinement, refine};
use slice::slice;
pub(crate) use summaries::{Summaries, plain_summaries, summaries};

/// Queries of one stage.
const QUERIES: usize = 3000;

/// Time for one stage; a third of the remaining time, if that is less.
const TIME: Duration = Duration::from_secs(20);

/// Time for slicing a model; twice the time of its stage, if that is more.
const SLICING_TIME: Duration = Duration::from_millis(200);

/// The number of integers of a predicate up to which their order divides facts.
const MOST_ORDERED: usize = 3;

/// A choice of components and keys.
struct Stage {
    profile: Profile,
    /// Whether functions of the clauses are components.
    harvest: bool,
    /// Whether descriptions have inequalities.
    inequalities: bool,
    /// Whether the order of a predicate's integers divides facts.
    orders: bool,
}

const fn stage(profile: Profile, inequalities: bool, orders: bool) -> Stage {
    Stage { profile, harvest: false, inequalities, orders }
}

const fn with_harvest(stage: Stage) -> Stage {
    Stage { harvest: true, ..stage }
}

/// The stages, cheap ones first. Those that equal an earlier one, for want of integers in datatypes and so on, are left out.
const STAGES: [Stage; 14] = [
    stage(COUNTERS, false, false),
    stage(Profile { numbers: Some(Digits::Ascending), ..COUNTERS }, false, false),
    stage(Profile { numbers: Some(Digits::Descending), ..COUNTERS }, false, false),
    stage(MEASURES, false, false),
    stage(Profile { ghosts: Ghosts::Counts, ..COUNTERS }, false, false),
    with_harvest(stage(COUNTERS, false, false)),
    stage(MEASURES, true, false),
    stage(Profile { fields: true, ..COUNTERS }, true, true),
    stage(MEASURES, true, true),
    with_harvest(stage(Profile { fields: true, ..COUNTERS }, true, true)),
    stage(Profile { ghosts: Ghosts::Membership, ..TESTERS }, false, false),
    stage(Profile { ghosts: Ghosts::Bounds, fields: true, ..TESTERS }, false, true),
    stage(Profile { extreme: Some(Extreme::Least), ..TESTERS }, true, true),
    stage(Profile { extreme: Some(Extreme::Greatest), ..TESTERS }, true, true),
];

const TESTERS: Profile = Profile {
    numbers: None,
    counters: false,
    sizes: false,
    shapes: 1,
    sums: false,
    heights: false,
    fields: false,
    extreme: None,
    ghosts: Ghosts::None,
};
const COUNTERS: Profile = Profile { counters: true, ..TESTERS };
const MEASURES: Profile = Profile { sums: true, heights: true, ..COUNTERS };

/// Components and keys, as a stage chooses them or fewer.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Plan {
    algebra: Algebra,
    inequalities: bool,
    orders: bool,
    /// The nodes whose facts are not divided.
    whole: Vec<bool>,
}

/// The descriptions of a plan, which exclude the queries.
struct Found {
    /// By nodes, over the variables of the graph.
    formulas: Vec<Term>,
    lemmas: Vec<FoldLemma>,
}

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
        fragment::is_interpolable(store, graph)
    }

    fn solve(&self, graph: &HornGraph, run: &Run<'_>) -> Result<Evidence, Stop> {
        let start = Instant::now();
        let labels: Vec<Term> = graph.edges().map(|(_, edge)| edge.label()).collect();
        let variables = graph.nodes().flat_map(|(_, node)| node.variables().iter().copied());
        let terms = run.store.subterms(&labels).into_iter().chain(variables);
        let sorts = datatypes(run.store, terms.map(|term| run.store.sort_of(term)));
        let ghost = run.store.var(run.store.fresh_symbol("ghost"), Sort::INT);
        let mut tried: Vec<Plan> = Vec::new();
        let mut answer = Err(Stop::Exhausted("no known function of datatypes gives an invariant"));
        let harvested = harvest(run.store, graph, ghost);
        for Stage { profile, harvest, inequalities, orders } in STAGES {
            run.go_on()?;
            let mut algebra = Algebra::new(run.store, &sorts, profile, ghost);
            if harvest {
                harvested.iter().for_each(|&(sort, function)| algebra.add(sort, function));
            }
            let plan = Plan { algebra, inequalities, orders, whole: vec![false; graph.nodes().len()] };
            if tried.contains(&plan) {
                continue;
            }
            let begin = Instant::now();
            let found = describe(run.context().for_part(3, TIME), graph, &sorts, &plan);
            match found {
                Ok(None) => {}
                Ok(Some(found)) => {
                    let context = run.context().for_part(4, SLICING_TIME.max(2 * begin.elapsed()));
                    let Found { formulas, lemmas } = slice(context, graph, &sorts, plan.clone(), found);
                    lemmas.iter().for_each(|lemma| run.store.claim_lemma(lemma));
                    answer = Ok(Evidence::Sat(GraphModel::of_formulas(formulas)));
                    tried.push(plan);
                    break;
                }
                Err(stop @ (Stop::Unsupported(_) | Stop::Internal(_))) => {
                    answer = Err(stop);
                    break;
                }
                // The stage was too hard.
                Err(_) => {}
            }
            tried.push(plan);
        }
        run.tell_statistics(vec![("stages", tried.len() as u64)], start);
        match answer {
            Err(Stop::Exhausted(_)) => refine(run, graph, &sorts, ghost, Refinement::ALL),
            answer => answer,
        }
    }
}

/// The descriptions of a plan, if they exclude the queries.
fn describe(
    context: Context<'_>,
    graph: &HornGraph,
    sorts: &[Sort],
    plan: &Plan,
) -> Result<Option<Found>, Stop> {
    let (store, algebra) = (context.store, &plan.algebra);
    let images = Images::new(context, algebra, sorts)?;
    let abstraction = Abstraction::new(context, graph, algebra, &images)?;
    let mut analysis = Analysis::new(context, &abstraction.graph, QUERIES);
    for (node, _) in graph.nodes() {
        analysis.divide(node, division(store, &abstraction, node, plan));
    }
    analysis.close(&abstraction.rules)?;
    for variants in &abstraction.queries {
        if !is_one_excluded(&mut analysis, variants)? {
            return Ok(None);
        }
    }
    let formula = |(node, _): (NodeId, _)| abstraction.back(store, node, analysis.formula(node));
    let formulas = graph.nodes().map(formula).collect();
    Ok(Some(Found { formulas, lemmas: lemmas(store, sorts, algebra, &images) }))
}

/// The images as lemmas.
fn lemmas(store: &TermStore, sorts: &[Sort], algebra: &Algebra, images: &Images) -> Vec<FoldLemma> {
    let lemma = |&sort: &Sort| {
        let value = store.var(store.symbol("value"), sort);
        let components: Vec<Term> =
            algebra.of(sort).iter().map(|component| component.at(store, value)).collect();
        let formula = images.at(store, sort, &components);
        let ghost = algebra.ghost().filter(|ghost| store.free_vars(&[formula]).contains(ghost));
        let parameters = [value].into_iter().chain(ghost).collect();
        (formula != Term::TRUE).then_some(FoldLemma { parameters, formula })
    };
    sorts.iter().filter_map(lemma).collect()
}

/// Whether the descriptions exclude one variant of a query.
fn is_one_excluded(analysis: &mut Analysis<'_>, variants: &[EdgeId]) -> Result<bool, Stop> {
    for &query in variants {
        if analysis.excludes(query, Term::TRUE)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// How a plan divides the facts of a node. Keys compare the node's arguments that are integers, or fields of them, with each
/// other and with the ghost, if they are few.
fn division(store: &TermStore, abstraction: &Abstraction, node: NodeId, plan: &Plan) -> Division {
    let is_whole = plan.whole[node.index()];
    let mut division = Division { inequalities: plan.inequalities, is_whole, ..Division::default() };
    let positions = abstraction.integers(store, &plan.algebra, node);
    if positions.len() > MOST_ORDERED || is_whole {
        return division;
    }
    if plan.orders {
        let pairs = |(at, &b): (usize, &usize)| positions[..at].iter().map(|&a| (a, b)).collect::<Vec<_>>();
        division.orders = positions.iter().enumerate().flat_map(pairs).collect();
    }
    if let Some(ghost) = abstraction.ghost_position(node) {
        let with_ghost = positions.iter().map(|&position| (position, ghost));
        match plan.orders {
            true => division.orders.extend(with_ghost),
            false => division.equalities.extend(with_ghost),
        }
    }
    division
}
