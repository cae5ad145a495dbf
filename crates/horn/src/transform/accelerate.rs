//! Adds clauses for any number of rounds of a loop.
//!
//! | before | after |
//! |---|---|
//! | `P(x) and x < 9 => P(x + 2)` | the same, and `P(x) and n >= 1 and x + 2 (n - 1) < 9 => P(x + 2 n)` |
//!
//! The constraint of a clause from a predicate to itself is a disjunction of cubes, which projections find, one around each model. Each
//! cube that can be repeated and has a closed form (`acceleration.rs`) gives a clause. The counter `n` is a local variable.
//!
//! The original clauses stay, because no closed form says what several cubes by turns do.
//!
//! - A1: a step of a new clause is a number of steps of the original one.
//!
//! The way back: by A1 the new clauses hold in every model of the old ones, so models stay. In a derivation, a step of a new
//! clause becomes its rounds. More than ten million of them in one derivation are refused.
//!
//! As a preprocessing of loops for model checkers, this is from B. Jeannet, P. Schrammel, S. Sankaranarayanan, "Abstract
//! acceleration of general linear loops" (POPL 2014), and M. Bozga, R. Iosif, F. Konečný, "Fast acceleration of ultimately periodic
//! relations" (CAV 2010); here it under-approximates, since the loops stay.

use shofar_logic::Term;
use shofar_run::{Limits, Stop};
use shofar_smt::project::Projector;
use shofar_smt::sat::Outcome;
use shofar_smt::solver::Solver;

use super::subgraph::{EdgesBack, SameNodes};
use crate::Context;
use crate::acceleration::{Acceleration, MOST_STEPS};
use crate::graph::{EdgeId, HornGraph};
use crate::transform::{Transformation, Transformed};
use crate::witness::{Derivation, GraphStep};

/// The greatest number of cubes of a clause.
const MOST_CUBES: usize = 16;
/// The greatest number of new clauses.
const MOST_CLAUSES: usize = 64;
/// The conflict limit of each query.
const MOST_CONFLICTS: u64 = 1000;

/// Adds clauses for any number of rounds of a loop.
#[derive(Clone, Copy, Default, Debug)]
pub struct Accelerate;

impl Transformation for Accelerate {
    fn name(&self) -> &'static str {
        "accelerate"
    }

    fn apply(&self, context: &Context<'_>, graph: &HornGraph) -> Option<Transformed> {
        let mut new = graph.clone();
        let mut origins: Vec<Origin> = graph.edges().map(|(id, _)| Origin::Same(id)).collect();
        for (id, edge) in graph.edges() {
            let (&[source], Some(target)) = (edge.sources(), edge.target()) else { continue };
            if source != target {
                continue;
            }
            let room = MOST_CLAUSES.saturating_sub(origins.len() - graph.edges().len());
            for acceleration in accelerations(context, graph, id).into_iter().take(room) {
                new.add_edge(edge.sources(), edge.target(), acceleration.formula());
                origins.push(Origin::Accelerated(id, Box::new(acceleration)));
            }
        }
        let is_changed = origins.len() > graph.edges().len();
        is_changed.then(|| Transformed { graph: new, translation: Box::new(SameNodes(Origins(origins))) })
    }
}

/// The accelerations of the cubes of a loop. If the solver does not decide a query, or a limit is reached, there are fewer.
fn accelerations(context: &Context<'_>, graph: &HornGraph, id: EdgeId) -> Vec<Acceleration> {
    let store = context.store;
    let label = graph.edge(id).label();
    let (state, next) = (graph.source_variables(id, 0), graph.target_variables(id));
    let locals = graph.locals(store, id);
    let variables: Vec<Term> = [&locals, state, next].concat();
    let mut solver = Solver::new(store);
    let mut projector = Projector::new(store);
    let mut found = Vec::new();
    if solver.assert_all(&[label]).is_err() {
        return found;
    }
    for _ in 0..MOST_CUBES {
        if !is_satisfiable(context, &mut solver) {
            break;
        }
        let model = solver.model(&[&[label], &*variables].concat());
        let Ok(cube) = projector.project_cube(&[label], &model, &locals) else { break };
        if let Some(acceleration) = Acceleration::of(context, state, next, &cube.literals) {
            let mut repeated = Solver::new(store);
            if repeated.assert_all(&[acceleration.after(store, 2)]).is_ok()
                && is_satisfiable(context, &mut repeated)
            {
                found.push(acceleration);
            }
        }
        if solver.assert_all(&[store.not(cube.formula(store))]).is_err() {
            break;
        }
    }
    found
}

fn is_satisfiable(context: &Context<'_>, solver: &mut Solver<'_>) -> bool {
    let limits = Limits { conflicts: Some(MOST_CONFLICTS), ..context.limits };
    solver.check(&[], &limits) == Ok(Outcome::Sat)
}

/// The old clause of each new one.
struct Origins(Vec<Origin>);

enum Origin {
    Same(EdgeId),
    /// Any number of rounds.
    Accelerated(EdgeId, Box<Acceleration>),
}

impl EdgesBack for Origins {
    fn derivation_back(&self, context: &Context<'_>, derivation: Derivation) -> Result<Derivation, Stop> {
        let wrong = || Stop::Internal("a step of an accelerated clause is not one of its graph".to_owned());
        let mut budget = MOST_STEPS;
        let mut steps: Vec<GraphStep> = Vec::with_capacity(derivation.steps.len());
        // The positions of the steps in the new derivation.
        let mut images: Vec<usize> = Vec::with_capacity(derivation.steps.len());
        for GraphStep { edge, premises, fact } in derivation.steps {
            let premises: Option<Box<[usize]>> =
                premises.iter().map(|&premise| images.get(premise).copied()).collect();
            let premises = premises.ok_or_else(wrong)?;
            match self.0.get(edge.index()).ok_or_else(wrong)? {
                &Origin::Same(edge) => steps.push(GraphStep { edge, premises, fact }),
                Origin::Accelerated(edge, acceleration) => {
                    let &[mut before] = &*premises else { return Err(wrong()) };
                    let first = steps[before].fact.clone();
                    for state in acceleration.rounds(context, &first, &fact, &mut budget)? {
                        steps.push(GraphStep { edge: *edge, premises: Box::new([before]), fact: state? });
                        before = steps.len() - 1;
                    }
                }
            }
            images.push(steps.len() - 1);
        }
        Ok(Derivation { steps })
    }
}
