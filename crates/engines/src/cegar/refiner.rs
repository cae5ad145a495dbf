//! The refiner: decides whether a counterexample is feasible, and otherwise makes the precision finer.
//!
//! ```text
//! refine path      the edges of the path have a model: unsafe
//!                  refute the path, track the refutation, prune
//! ```
//!
//! Only the edges decide about feasibility, without the labels: a path through other abstract states than those of the graph is
//! a counterexample, too. Refutations use the labels, so that they need not prove again what is known.
//!
//! *Pruning.* A node on the path is *outdated* if its refutation has a predicate that its label was computed without. Lazy
//! pruning removes the subtree of the first outdated node, full pruning everything.
//!
//! *Progress.* If no node is outdated, the same counterexample would come back. Then stronger choices follow: sequence
//! interpolants in the place of other techniques, Newton if there are no interpolants, formulas as a whole in the place of
//! their parts; then a new graph for the whole precision; then a stronger domain, split in the place of cartesian abstraction.
//! Sequence interpolants that are tracked as a whole are a chain (`refine/mod.rs`), so for predicates there is always progress.
//! In the other cases [`Stop::Exhausted`] ends the run.

use shofar_horn::cfa::CfaEdgeId;
use shofar_logic::{Term, Value};
use shofar_run::Stop;

use super::arg::{Arg, ArgNodeId};
use super::domain::Domain;
use super::path::{Copies, Path};
use super::precision::{Precision, Splitting};
use super::program::Program;
use super::refine::{Surroundings, Technique};
use super::{Options, Pruning};
use crate::Run;
use crate::interpolation_abstraction::Templates;
use crate::trace::Listed;
use crate::unroll::value;

/// The edges of a run to the error location, each with the values of its target's variables.
pub(super) type ConcreteRun = Vec<(CfaEdgeId, Box<[Value]>)>;

/// The result of a refinement.
pub(super) enum Refinement {
    /// The counterexample can be executed.
    Unsafe(ConcreteRun),
    /// The counterexample was spurious; the graph is pruned.
    Spurious,
}

/// The refiner.
pub(super) struct Refiner<'a> {
    run: &'a Run<'a>,
    program: &'a Program<'a>,
    options: Options,
    /// What sequence interpolants may speak of, if that is restricted.
    templates: Option<Templates>,
    copies: Copies<'a>,
    /// The size of the precision when the graph was last removed completely, if it was.
    rebuilt_for: Option<usize>,
    pub(super) statistics: Statistics,
}

/// The counters.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Statistics {
    pub(super) refinements: u64,
    /// The refinements that needed a stronger choice.
    pub(super) fallbacks: u64,
    /// The length of the longest counterexample.
    pub(super) depth: u64,
    pub(super) queries: u64,
}

impl<'a> Refiner<'a> {
    pub(super) fn new(run: &'a Run<'a>, program: &'a Program<'a>, options: Options) -> Result<Self, Stop> {
        let copies = Copies::new(program);
        let templates = if options.templates > 0 { Some(program.templates(run)?) } else { None };
        let statistics = Statistics::default();
        Ok(Refiner { run, program, options, templates, copies, rebuilt_for: None, statistics })
    }

    /// Decides about a counterexample.
    pub(super) fn refine(
        &mut self,
        arg: &mut Arg<'_>,
        precision: &mut Precision<'_>,
        domain: &mut dyn Domain,
        path: &Path,
    ) -> Result<Refinement, Stop> {
        self.statistics.refinements += 1;
        self.statistics.depth = self.statistics.depth.max(path.len() as u64);
        if let Some(run) = self.run_along(path)? {
            return Ok(Refinement::Unsafe(run));
        }
        let outdated = self.outdated(arg, precision, domain, path)?;
        match (outdated, self.options.pruning) {
            (Some(node), Pruning::Lazy) => arg.prune(node),
            (Some(_), Pruning::Full) => self.rebuild(arg, precision),
            (None, _) => {
                self.statistics.fallbacks += 1;
                if self.rebuilt_for == Some(precision.len()) && !domain.strengthen() {
                    return Err(Stop::Exhausted(
                        "a counterexample cannot be excluded in the abstract domain",
                    ));
                }
                self.rebuild(arg, precision);
            }
        }
        Ok(Refinement::Spurious)
    }

    fn rebuild(&mut self, arg: &mut Arg<'_>, precision: &Precision<'_>) {
        self.rebuilt_for = Some(precision.len());
        arg.clear();
    }

    /// A run along the edges of a path, if there is one.
    fn run_along(&mut self, path: &Path) -> Result<Option<ConcreteRun>, Stop> {
        let constraints: Vec<Term> =
            (0..path.len()).map(|position| self.copies.constraint(path, position)).collect();
        let mut solver = self.run.solver();
        self.run.assert(&mut solver, &constraints)?;
        self.statistics.queries += 1;
        if !self.run.is_satisfiable(&mut solver, &[])? {
            return Ok(None);
        }
        let states: Vec<Box<[Term]>> =
            (1..=path.len()).map(|position| self.copies.state(path, position)).collect();
        let model = solver.model(&states.concat());
        let values = |state: &[Term]| state.iter().map(|&it| value(self.run.store, &model, it)).collect();
        Ok(Some(path.edges.iter().copied().zip(states.iter().map(|state| values(state))).collect()))
    }

    /// Tracks a refutation of an infeasible path such that a node on it is outdated, and returns the first one.
    fn outdated(
        &mut self,
        arg: &Arg<'_>,
        precision: &mut Precision<'_>,
        domain: &dyn Domain,
        path: &Path,
    ) -> Result<Option<ArgNodeId>, Stop> {
        let chosen = self.options.refinement;
        let mut techniques = vec![chosen, Technique::Sequence, Technique::WITHOUT_INTERPOLANTS];
        techniques.dedup();
        let mut splittings = vec![self.options.pred_split, Splitting::Whole];
        splittings.dedup();
        for (attempt, technique) in techniques.into_iter().enumerate() {
            self.statistics.fallbacks += u64::from(attempt == 1);
            let formulas = match self.refute(technique, path) {
                Ok(formulas) => formulas,
                Err(Stop::Exhausted(_)) => continue,
                Err(stop) => return Err(stop),
            };
            for &splitting in &splittings {
                if let Some(node) = track(arg, precision, domain, path, &formulas, splitting) {
                    return Ok(Some(node));
                }
            }
        }
        Ok(None)
    }

    fn refute(&mut self, technique: Technique, path: &Path) -> Result<Vec<Term>, Stop> {
        let is_due = self.statistics.refinements.is_multiple_of(self.options.templates);
        let mut around = Surroundings {
            run: self.run,
            program: self.program,
            interpolation: self.options.interpolation,
            templates: self.templates.as_ref().filter(|_| is_due),
            copies: &mut self.copies,
            queries: 0,
        };
        let formulas = technique.refute(&mut around, path);
        self.statistics.queries += around.queries;
        if let Ok(formulas) = &formulas {
            let formulas = Listed(self.run.store, formulas);
            tracing::debug!(?technique, length = path.len(), %formulas, "refutation");
        }
        formulas
    }
}

/// Tracks the terms of a refutation. Returns the first node whose label was computed without one of them.
fn track(
    arg: &Arg<'_>,
    precision: &mut Precision<'_>,
    domain: &dyn Domain,
    path: &Path,
    formulas: &[Term],
    splitting: Splitting,
) -> Option<ArgNodeId> {
    let mut first = None;
    for (position, &formula) in formulas.iter().enumerate() {
        let node = path.nodes[position];
        for term in domain.terms(formula, splitting) {
            let index = precision.track(path.locations[position], term);
            if first.is_none() && index.is_some_and(|index| index >= arg[node].tracked) {
                first = Some(node);
            }
        }
    }
    first
}
