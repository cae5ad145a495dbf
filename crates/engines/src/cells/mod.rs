//! Cells: invariants about single elements of arrays, for all indices.
//!
//! **What it decides.** Systems over arrays, linear or not. It finds models of the form `for all k: F(x, k, a[k], b[k])`, and
//! derivations. Each may be missed.
//!
//! **The idea.** Clauses about arrays are replaced by stronger clauses about some of their elements, at indices that are arguments
//! (`abstraction.rs`). These are clauses over numbers, which Spacer decides.
//!
//! ```text
//! exact transformations, whose models are those of the clauses by other names
//! for each configuration, with more and more time
//!     scalar := the clauses about cells                          one step for each depth of arrays
//!     solve scalar, after the standard transformations
//!     sat:   its model, for all k, is a model
//!     unsat: the same clauses with arrays; if the solver finds values for them, they are a derivation
//!            otherwise the configuration is too coarse
//! ```
//!
//! The configurations differ in the cells of a predicate, and in how many instances of an atom a clause has:
//!
//! | configuration | cells |
//! |---|---|
//! | narrow | one index for all arrays, counted from a base of each (`bases.rs`); narrow clauses (`abstraction.rs`) |
//! | shared | the same cells, all instances |
//! | separate | an index for each array |
//! | related | one index, and a second element of arrays whose elements are compared with each other (`relations.rs`) |
//! | two | two indices for all arrays |
//!
//! **Why the answer is right.** A model of the cells is one of the arrays (`abstraction.rs`). A derivation counts only with values for
//! all steps.
//!
//! **Before or after the other transformations.** Where a predicate is inlined, a model with quantifiers gives it a formula with more of
//! them, which may be hard to check (`weakest.rs` of the transformations). So by default the clauses are those that were read, and the
//! clauses about cells are inlined, whose models have no quantifiers. But if there are many predicates with many arrays, cells of few
//! clauses are fewer and know more: the option `transformed`.
//!
//! Source: Monniaux & Gonnord, "Cell morphing" (SAS 2016); Braine, Gonnord & Monniaux, "Data abstraction: a general framework to handle
//! program verification of data structures" (SAS 2021).

mod abstraction;
mod bases;
mod relations;

use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;
use shofar_horn::HornGraph;
use shofar_horn::transform::{
    Enumerations, Pipeline, PropagateConstants, Records, RemoveInfeasible, RemoveUniformArguments,
    RemoveUnreachable, RemoveUnusedArguments, Simplify, Tagged, Transformation, Transformed, Translation,
    standard,
};
use shofar_horn::witness::{Derivation, GraphModel};
use shofar_logic::{Term, TermStore};
use shofar_run::{Limits, Stop};

use crate::option::options;
use crate::replay::Replay;
use crate::{Engine, EngineOption, Evidence, Run, Spacer};
use abstraction::{Abstraction, Cell, Element, Layout, arrays_of, depth_of, mentions_arrays};
use bases::bases;
use relations::{Relation, Relations, relations};

/// The time for each configuration in the first turn. The next turns are twice as long.
const FIRST_TURN: Duration = Duration::from_millis(700);

/// Rounds of the exact transformations.
const ROUNDS: usize = 4;

/// The time limit of the exact transformations.
const TIME: Duration = Duration::from_secs(5);

/// The reason to give up.
const SPURIOUS: Stop = Stop::Exhausted("elements at so few indices do not decide the clauses");

options! {
    transformed: bool = false, "transformed": "whether it works on the transformed clauses instead of those that were read";
}

/// The engine of cells.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Cells {
    /// The options of the engine.
    pub options: Options,
}

impl Engine for Cells {
    fn name(&self) -> &'static str {
        "cells"
    }

    fn description(&self) -> &'static str {
        "abstraction of arrays to elements at arbitrary indices, for models with quantifiers; all systems with arrays"
    }

    fn options(&mut self) -> Vec<EngineOption<'_>> {
        self.options.list()
    }

    fn accepts(&self, store: &TermStore, graph: &HornGraph) -> Result<(), Stop> {
        let labels: Vec<Term> = graph.edges().map(|(_, edge)| edge.label()).collect();
        let arguments = graph.nodes().flat_map(|(_, node)| node.variables().iter().copied());
        let mut terms = store.subterms(&labels).into_iter().chain(arguments);
        match terms.any(|term| mentions_arrays(store, store.sort_of(term))) {
            true => Ok(()),
            false => Err(Stop::Unsupported("clauses without arrays".to_owned())),
        }
    }

    /// Quantified models pass some ways back only with formulas that are hard to check.
    fn works_on_clauses_as_read(&self) -> bool {
        !self.options.transformed
    }

    fn solve(&self, graph: &HornGraph, run: &Run<'_>) -> Result<Evidence, Stop> {
        let start = Instant::now();
        let mut search = Search { run, attempts: 0, spurious: 0 };
        let answer = search.solve(graph);
        run.tell_statistics(vec![("attempts", search.attempts), ("spurious", search.spurious)], start);
        answer
    }
}

/// Transformations whose ways back only rename.
fn exact() -> Pipeline {
    let passes: Vec<Box<dyn Transformation>> = vec![
        Box::new(Records),
        Box::new(Enumerations),
        Box::new(Tagged),
        Box::new(RemoveUnreachable),
        Box::new(PropagateConstants),
        Box::new(RemoveUnusedArguments),
        Box::new(RemoveUniformArguments),
        Box::new(Simplify),
        Box::new(RemoveInfeasible),
    ];
    Pipeline::repeated(passes, ROUNDS, TIME)
}

/// Which cells predicates have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Configuration {
    Narrow,
    Shared,
    Separate,
    /// By the relation of this number.
    Related(usize),
    Two,
}

impl Configuration {
    const ALL: [Self; 7] = [
        Configuration::Narrow,
        Configuration::Shared,
        Configuration::Separate,
        Configuration::Related(0),
        Configuration::Related(1),
        Configuration::Related(2),
        Configuration::Two,
    ];

    /// The layouts of all nodes for arrays of this depth, which may be related.
    fn layouts(self, store: &TermStore, graph: &HornGraph, depth: usize, related: &Relations) -> Vec<Layout> {
        let bases = match self {
            Configuration::Separate => FxHashMap::default(),
            _ => bases(store, graph, depth),
        };
        let layout = |(node, _)| {
            let (arrays, others) = arrays_of(store, graph, node, depth);
            let mut cells: Vec<Cell> = Vec::new();
            for (array, index) in arrays {
                let base = bases.get(&(node, array)).copied();
                let is_shared = |cell: &Cell| self != Configuration::Separate && cell.index == index;
                let at = cells.iter().position(is_shared).unwrap_or(cells.len());
                if at == cells.len() {
                    cells.push(Cell { index, elements: Vec::new() });
                }
                let cell = &mut cells[at];
                cell.elements.push(Element { array, base, is_mirrored: false });
                cell.elements.extend(related.get(&(node, array)).map(|&relation| {
                    let start = base.unwrap_or_else(|| store.int(0));
                    match relation {
                        Relation::Mirror(sum) => {
                            Element { array, base: Some(store.sub(sum, start)), is_mirrored: true }
                        }
                        Relation::Shift(difference) => {
                            Element { array, base: Some(store.add(&[start, difference])), is_mirrored: false }
                        }
                    }
                }));
            }
            if self == Configuration::Two {
                cells = cells.into_iter().flat_map(|cell| [cell.clone(), cell]).collect();
            }
            Layout::new(others, cells)
        };
        graph.nodes().map(layout).collect()
    }
}

/// The state of a run.
struct Search<'a> {
    run: &'a Run<'a>,
    attempts: u64,
    spurious: u64,
}

/// A replacement of arrays by cells, and what follows it.
struct Step {
    /// The graph with arrays.
    original: HornGraph,
    abstraction: Abstraction,
    translation: Box<dyn Translation>,
}

impl Search<'_> {
    fn solve(&mut self, graph: &HornGraph) -> Result<Evidence, Stop> {
        let run = self.run;
        let (Transformed { graph, translation }, _) = exact().run(run, graph.clone());
        let mut open: Vec<Configuration> = Configuration::ALL.to_vec();
        let mut turn = FIRST_TURN;
        let mut reason = SPURIOUS;
        while !open.is_empty() {
            let mut left = Vec::new();
            for configuration in open {
                run.go_on()?;
                self.attempts += 1;
                let deadline = Instant::now().checked_add(turn);
                let deadline = run.limits.deadline.into_iter().chain(deadline).min();
                let own = run.clone().with_limits(Limits { deadline, ..run.limits });
                let answer = attempt(configuration, &graph, &own);
                tracing::debug!(?configuration, answer = shown(&answer), "attempt");
                match answer {
                    Ok(Some(Evidence::Sat(model))) => {
                        return translation.model_back(run, model).map(Evidence::Sat);
                    }
                    Ok(Some(Evidence::Unsat(derivation))) => {
                        return translation.derivation_back(run, derivation).map(Evidence::Unsat);
                    }
                    Ok(_) => self.spurious += 1,
                    Err(Stop::Interrupted(_)) => left.push(configuration),
                    Err(stop @ Stop::Internal(_)) => return Err(stop),
                    Err(stop) => reason = stop,
                }
            }
            open = left;
            turn *= 2;
        }
        Err(reason)
    }
}

/// The result of a configuration, for the trace.
fn shown(answer: &Result<Option<Evidence>, Stop>) -> String {
    match answer {
        Ok(Some(Evidence::Sat(_))) => "a model".to_owned(),
        Ok(Some(_)) => "a derivation".to_owned(),
        Ok(None) => "too coarse".to_owned(),
        Err(stop) => stop.to_string(),
    }
}

/// The result of a configuration; nothing if it is too coarse.
fn attempt(configuration: Configuration, graph: &HornGraph, run: &Run<'_>) -> Result<Option<Evidence>, Stop> {
    let store = run.store;
    let mut steps: Vec<Step> = Vec::new();
    let mut current = graph.clone();
    let mut is_other = !matches!(configuration, Configuration::Related(_));
    loop {
        let depth = depth_of(store, &current)?;
        if depth == 0 {
            break;
        }
        let related = match configuration {
            Configuration::Related(number) => relations(store, &current, depth).into_iter().nth(number),
            _ => None,
        };
        is_other |= related.is_some();
        let layouts = configuration.layouts(store, &current, depth, &related.unwrap_or_default());
        let is_narrow = configuration == Configuration::Narrow;
        let abstraction = Abstraction::new(run, &current, layouts, depth, is_narrow)?;
        for (id, edge) in abstraction.graph.edges() {
            tracing::trace!(edge = id.index(), atoms = edge.sources().len(), label = %store.display(edge.label()), "clause");
        }
        let (Transformed { graph, translation }, _) = exact().run(run, abstraction.graph.clone());
        let original = std::mem::replace(&mut current, graph);
        steps.push(Step { original, abstraction, translation });
    }
    if !is_other {
        return Ok(None);
    }
    let (Transformed { graph, translation }, _) = standard().run(run, current);
    match Spacer::default().solve(&graph, run)? {
        Evidence::Sat(model) => {
            let mut model: GraphModel = translation.model_back(run, model)?;
            for Step { original, abstraction, translation } in steps.iter().rev() {
                model = translation.model_back(run, model)?;
                model = abstraction.model_back(store, original, &model)?;
            }
            Ok(Some(Evidence::Sat(model)))
        }
        Evidence::Unsat(derivation) => {
            let mut derivation: Derivation = translation.derivation_back(run, derivation)?;
            for Step { original, abstraction, translation } in steps.iter().rev() {
                derivation = translation.derivation_back(run, derivation)?;
                let skeleton = abstraction.skeleton(&derivation);
                let replay = Replay::new(store, original, &skeleton);
                let Some(values) = replay.values(run)? else { return Ok(None) };
                let Some(found) = replay.derivation(store, &skeleton, &values) else { return Ok(None) };
                derivation = found;
            }
            Ok(Some(Evidence::Unsat(derivation)))
        }
        Evidence::Induction(_) | Evidence::Saturation(_) => {
            Err(Stop::Internal("Spacer proves by models only".to_owned()))
        }
    }
}
