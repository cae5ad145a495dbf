//! Models: the states that a few steps of all relations reach.
//!
//! Let `E` be the transition relation or any learnt relation. When no unblocked path is longer than `b`, the states that at most `b`
//! steps of `E` reach from initial states are closed under transitions and not bad. They are computed forward, as cubes:
//!
//! ```text
//! the reached states are the cubes of Init
//! at most b times, unless the reached states are closed under transitions
//!     while E leads from a new cube to a state that is not yet reached
//!         add the projection of the cube and the relation, around the model, to that state
//! ```
//!
//! A projection is one of finitely many for a cube and a relation, so this ends, unless a variable is replaced by its value. The
//! number of cubes is limited. The result is inductive by the last query of the loop, and a last query makes sure that no bad
//! state is in it; nothing depends on the argument above.

use shofar_horn::TransitionSystem;
use shofar_horn::graph::rename;
use shofar_logic::{Assignment, Term, Value};
use shofar_run::Stop;
use shofar_smt::project::Projector;

use super::Shortcut;
use crate::Run;
use crate::unroll::Template;

/// The greatest number of cubes. More would be a model that takes long to check.
const MOST_CUBES: usize = 1000;

/// The inductive invariant of the states that this many steps of all relations reach.
pub(super) fn invariant(
    run: &Run<'_>,
    system: &TransitionSystem,
    relations: &[Shortcut],
    steps: usize,
    count: &mut u64,
) -> Result<Term, Stop> {
    let mut images = Images { run, system, projector: Projector::new(run.store), cubes: Vec::new() };
    let found = images.close(relations, steps);
    *count = images.cubes.len() as u64;
    found?;
    let store = run.store;
    let invariant = store.or(&images.cubes);
    let mut solver = run.solver();
    run.assert(&mut solver, &[invariant, system.bad])?;
    match run.is_satisfiable(&mut solver, &[])? {
        true => Err(Stop::Internal("a bad state was not found at its depth".to_owned())),
        false => Ok(invariant),
    }
}

struct Images<'a> {
    run: &'a Run<'a>,
    system: &'a TransitionSystem,
    projector: Projector<'a>,
    /// The reached states, over the state variables.
    cubes: Vec<Term>,
}

impl Images<'_> {
    /// Adds images until the reached states are closed under transitions.
    fn close(&mut self, relations: &[Shortcut], steps: usize) -> Result<(), Stop> {
        let (store, system) = (self.run.store, self.system);
        let TransitionSystem { state, next, init, transition, .. } = system;
        let vectors: [&[Term]; 2] = [state, next];
        let initial = Template::new(store, rename(store, *init, state, next), &vectors);
        self.add_images(&[Term::TRUE], &[initial])?;
        let learnt = relations.iter().map(|relation| relation.template.clone());
        let all: Vec<Template> = learnt.chain([Template::new(store, *transition, &vectors)]).collect();
        let mut new = 0;
        for _ in 0..steps {
            if self.is_closed()? {
                return Ok(());
            }
            let sources = self.cubes[new..].to_vec();
            new = self.cubes.len();
            self.add_images(&sources, &all)?;
        }
        match self.is_closed()? {
            true => Ok(()),
            false => Err(Stop::Internal("the states of unblocked paths are not closed".to_owned())),
        }
    }

    /// Whether no transition leads out of the reached states.
    fn is_closed(&self) -> Result<bool, Stop> {
        let store = self.run.store;
        let TransitionSystem { state, next, transition, .. } = self.system;
        let reached = store.or(&self.cubes);
        let outside = store.not(rename(store, reached, state, next));
        let mut solver = self.run.solver();
        self.run.assert(&mut solver, &[reached, *transition, outside])?;
        Ok(!self.run.is_satisfiable(&mut solver, &[])?)
    }

    /// Adds the images of source states under relations.
    fn add_images(&mut self, sources: &[Term], relations: &[Template]) -> Result<(), Stop> {
        let (run, store) = (self.run, self.run.store);
        let TransitionSystem { state, next, .. } = self.system;
        let copies: Vec<Term> =
            relations.iter().map(|relation| relation.copy(store, &[(state, state), (next, next)])).collect();
        let mut solver = run.solver();
        run.assert(&mut solver, &[store.or(sources), store.or(&copies)])?;
        for &cube in &self.cubes {
            run.assert(&mut solver, &[store.not(rename(store, cube, state, next))])?;
        }
        while run.is_satisfiable(&mut solver, &[])? {
            if self.cubes.len() == MOST_CUBES {
                return Err(Stop::Exhausted("the states that learnt relations reach are too many cubes"));
            }
            let model = solver.model(&[sources, &*copies, next].concat());
            let is_true = |&&formula: &&Term| store.eval(formula, &model) == Ok(Value::Bool(true));
            let chosen = (sources.iter().find(is_true), copies.iter().find(is_true));
            let (Some(&source), Some(&relation)) = chosen else {
                return Err(Stop::Unsupported("formulas without a value in a model".to_owned()));
            };
            let image = self.project(&[source, relation], &model)?;
            run.assert(&mut solver, &[store.not(image)])?;
            self.cubes.push(rename(store, image, next, state));
        }
        Ok(())
    }

    /// A cube of successors around a model.
    fn project(&mut self, formulas: &[Term], model: &Assignment) -> Result<Term, Stop> {
        let store = self.run.store;
        let mut gone = store.free_vars(formulas);
        gone.retain(|variable| !self.system.next.contains(variable));
        let projection = self.projector.project_cube(formulas, model, &gone);
        Ok(projection.map_err(|error| error.stop(store))?.formula(store))
    }
}
