//! Abstraction refinement on algebras: Spacer decides the abstract clauses, and derivations tell which component is missing.
//!
//! Hulls are one invariant of the abstract clauses, and often not the right one. Here the abstract clauses, with the hulls as known
//! invariants, are a problem for Spacer.
//!
//! ```text
//! loop
//!     Spacer has a model of the abstract clauses: sat, by the model and the hulls, applied to components
//!     Spacer has a derivation: replay its clauses on values of datatypes
//!         there are such values: unsat
//!         no values: add the first components for which the same clauses have no abstract derivation
//! ```
//!
//! **Why the answer is right.** Models are right as those of hulls are: what the body of a clause knows in addition, the hulls, is part
//! of the model. A derivation is one of the given clauses, with the values of a model of all its labels.
//!
//! **Where it comes from.** E. Clarke, O. Grumberg, S. Jha, Y. Lu, H. Veith, "Counterexample-guided abstraction refinement" (CAV
//! 2000). Here an abstraction is an algebra, and a refinement has more components.

use std::time::Duration;

use shofar_horn::graph::HornGraph;
use shofar_horn::hull::{Analysis, Division};
use shofar_horn::witness::GraphModel;
use shofar_logic::{Sort, Term, TermStore};
use shofar_run::Stop;

use super::abstraction::{Abstraction, Images};
use super::components::{Algebra, Digits, Extreme, Profile};
use super::{COUNTERS, MEASURES, QUERIES, lemmas};
use crate::replay::{DEPENDS_ON_SELECTORS, Replay};
use crate::{Engine, Evidence, Run, Spacer};

/// Time for Spacer with one algebra; a quarter of the remaining time, if that is less.
const TIME: Duration = Duration::from_secs(4);

/// Steps of a derivation that is replayed.
const MOST_STEPS: usize = 300;

/// The algebras, small ones first. The first is where refinement begins.
const PROFILES: [Profile; 6] = [
    COUNTERS,
    Profile { numbers: Some(Digits::Ascending), ..COUNTERS },
    Profile { fields: true, ..COUNTERS },
    MEASURES,
    Profile { extreme: Some(Extreme::Least), fields: true, ..MEASURES },
    Profile { extreme: Some(Extreme::Greatest), fields: true, ..MEASURES },
];

/// Decides clauses over datatypes by abstraction refinement. It ends if an algebra is too hard, or if none suffices.
pub(super) fn refine(
    run: &Run<'_>,
    graph: &HornGraph,
    sorts: &[Sort],
    ghost: Term,
) -> Result<Evidence, Stop> {
    match rounds(run, graph, sorts, ghost) {
        Err(Stop::Interrupted(_)) if run.interrupted().is_none() => {
            Err(Stop::Exhausted("an algebra that may give an invariant is too hard"))
        }
        answer => answer,
    }
}

fn rounds(run: &Run<'_>, graph: &HornGraph, sorts: &[Sort], ghost: Term) -> Result<Evidence, Stop> {
    let store = run.store;
    let mut algebras: Vec<Algebra> = Vec::new();
    for profile in PROFILES {
        let algebra = Algebra::new(store, sorts, profile, ghost);
        if !algebras.contains(&algebra) {
            algebras.push(algebra);
        }
    }
    let mut algebras = algebras.into_iter();
    let mut next = algebras.next();
    while let Some(algebra) = next {
        run.go_on()?;
        let round = run.context().for_part(4, TIME);
        let images = Images::new(round, &algebra, sorts)?;
        let abstraction = Abstraction::new(round, graph, &algebra, &images)?;
        let limited = Run::new(store).with_limits(round.limits).with_label(run.label().clone());
        let hulls = hulls(&limited, &abstraction);
        let strengthened = strengthened(store, &abstraction.graph, &hulls);
        match Spacer::default().solve(&strengthened, &limited)? {
            Evidence::Sat(model) => {
                let mut formulas = Vec::new();
                for ((node, _), &hull) in graph.nodes().zip(&hulls) {
                    let formula = store.and2(hull, model.formula(node)?);
                    formulas.push(abstraction.back(store, node, formula));
                }
                lemmas(store, sorts, &algebra, &images).iter().for_each(|lemma| store.claim_lemma(lemma));
                return Ok(Evidence::Sat(GraphModel::of_formulas(formulas)));
            }
            Evidence::Unsat(derivation) => {
                if derivation.steps.len() > MOST_STEPS {
                    break;
                }
                let replay = Replay::new(store, graph, &derivation);
                if let Some(values) = replay.values(&limited)? {
                    let real = replay.derivation(store, &derivation, &values);
                    return real.map(Evidence::Unsat).ok_or(DEPENDS_ON_SELECTORS);
                }
                next = None;
                for candidate in algebras.by_ref() {
                    let images = Images::new(run.context(), &candidate, sorts)?;
                    let abstraction = Abstraction::new(run.context(), graph, &candidate, &images)?;
                    let replay = Replay::new(store, &abstraction.graph, &derivation);
                    if replay.values(run)?.is_none() {
                        next = Some(candidate);
                        break;
                    }
                }
            }
            Evidence::Induction(_) | Evidence::Saturation(_) => break,
        }
    }
    Err(Stop::Exhausted("no known function of datatypes gives an invariant"))
}

/// The hulls of an abstract graph, by nodes; true if they are too hard.
fn hulls(run: &Run<'_>, abstraction: &Abstraction) -> Vec<Term> {
    let graph = &abstraction.graph;
    let mut analysis = Analysis::new(run.context().for_part(2, TIME), graph, QUERIES);
    for (node, _) in graph.nodes() {
        analysis.divide(node, Division { inequalities: true, ..Division::default() });
    }
    match analysis.close(&abstraction.rules) {
        Ok(()) => graph.nodes().map(|(node, _)| analysis.formula(node)).collect(),
        Err(_) => graph.nodes().map(|_| Term::TRUE).collect(),
    }
}

/// The graph whose bodies know what holds of their predicates.
fn strengthened(store: &TermStore, graph: &HornGraph, known: &[Term]) -> HornGraph {
    let mut new = HornGraph::new();
    for (_, node) in graph.nodes() {
        new.add_node(node.clone());
    }
    for (id, edge) in graph.edges() {
        let sources = edge.sources().iter().enumerate();
        let knowledge = sources.map(|(source, node)| graph.at_source(store, id, source, known[node.index()]));
        let label = store.normalize(store.and_of(knowledge.chain([edge.label()])));
        new.add_edge(edge.sources(), edge.target(), label);
    }
    new
}
