//! TRL: transitive relation learning.
//!
//! **What it decides.** Transition systems over integers and Booleans, and so all linear systems over them. It is made for
//! models; it finds counterexamples if the loops that it has learnt have closed forms, or are repeated at most 64 times.
//!
//! **The idea.** Bounded model checking, but each loop that a path runs through is replaced by a *transitive* relation that
//! over-approximates any number of rounds. Learnt relations become alternatives to the transition relation, and steps that
//! a learnt relation could replace are blocked. If no unblocked path is longer than `b` steps, then `b` steps reach all states.
//! There are no interpolants, so it succeeds where interpolants diverge: parity, several counters, phases.
//!
//! ```text
//! unroll with shortcuts                                                            shortcuts/
//!     the shortcut of a loop is a transitive relation guessed from it              recurrence.rs
//! a path to a bad state: rounds of loops in the place of learnt relations lead there, or nothing is known      concrete.rs
//! no longer path: the union of the images is the model
//! ```
//!
//! **Why the answer is right.** `shortcuts/mod.rs` argues for models: each learnt relation is transitive, which is checked, whatever
//! the relation was guessed from. A counterexample consists of transitions only.
//!
//! **Where it comes from.** F. Frohn, J. Giesl, "Infinite state model checking by learning transitive relations" (TACAS 2025),
//! in LoAT and Golem.
//!
//! **Where we differ.** There, transitivity follows from the way in which relations are made; here a query checks it, so that
//! guesses are free. There, earlier steps keep the relations that were known when they were pushed; here the search starts again, which
//! makes the model a union of images. Blocking clauses hold for all positions, by the argument above.

mod concrete;
mod recurrence;

use std::time::Instant;

use shofar_horn::{HornGraph, TransitionSystem};
use shofar_logic::{Term, TermStore, Value};
use shofar_run::Stop;
use shofar_smt::project::Projector;

use crate::exchange::states::StatePort;
use crate::exchange::strengthened;
use crate::forms::TransitionForm;
use crate::option::options;
use crate::shortcuts::{Exact, Example, Found, Learn, Search, Shortcut, Step, expanded};
use crate::{Engine, EngineOption, Evidence, Run, fragment};
use concrete::Concrete;
use recurrence::Recurrence;

/// The greatest number of rounds of a learnt loop in a counterexample, beside accelerated ones.
const MOST_ROUNDS: usize = 64;

options! {
    relations: usize = 64, "relations": "the greatest number of learnt relations" in 1..=1_000_000;
}

/// The TRL engine.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Trl {
    /// The options of the engine.
    pub options: Options,
}

impl Engine for Trl {
    fn name(&self) -> &'static str {
        "trl"
    }

    fn description(&self) -> &'static str {
        "transitive relation learning, for models; linear systems over integers"
    }

    fn options(&mut self) -> Vec<EngineOption<'_>> {
        self.options.list()
    }

    fn accepts(&self, store: &TermStore, graph: &HornGraph) -> Result<(), Stop> {
        fragment::is_linear(graph)?;
        fragment::is_discrete(store, graph)
    }

    fn solve(&self, graph: &HornGraph, run: &Run<'_>) -> Result<Evidence, Stop> {
        let start = Instant::now();
        let looped = TransitionForm::of(run, &strengthened(run, graph))?;
        let system = &looped.system;
        let port = StatePort::of(run, &looped);
        let mut search = Search::new(run, system, port, self.options.relations);
        let found = search.decide(&mut Relations { run, system, projector: Projector::new(run.store) });
        run.tell_statistics(search.counters(), start);
        match found? {
            Found::Bad(steps, states) => {
                looped.unsafe_by(run, concrete_path(run, system, search.shortcuts(), &steps, states)?)
            }
            Found::Invariant(invariant) => looped.safe(run, invariant),
        }
    }
}

/// Transitive relations, guessed from loops.
struct Relations<'s> {
    run: &'s Run<'s>,
    system: &'s TransitionSystem,
    projector: Projector<'s>,
}

impl Learn for Relations<'_> {
    fn learn(&mut self, example: &Example<'_>) -> Result<Option<Term>, Stop> {
        let &Example { looped, ends, .. } = example;
        let recurrence = Recurrence { run: self.run, system: self.system, looped, ends };
        let literals = recurrence.transitive(&mut self.projector)?;
        Ok(Some(self.run.store.and(&literals)))
    }

    fn longest(&self) -> usize {
        usize::MAX
    }
}

/// A path of transitions with the same steps, and rounds of loops in the place of learnt relations.
fn concrete_path(
    run: &Run<'_>,
    system: &TransitionSystem,
    relations: &[Shortcut],
    steps: &[Step],
    states: Vec<Box<[Value]>>,
) -> Result<Vec<Box<[Value]>>, Stop> {
    if steps.iter().all(|&step| step == Step::Transition) {
        return Ok(states);
    }
    let mut exact: Vec<Option<Exact>> = Vec::new();
    for relation in relations {
        run.go_on()?;
        let instead = Exact::instead_of(run, system, relation, &exact)?;
        exact.push(instead);
    }
    let mut rounds = 1;
    while rounds <= MOST_ROUNDS {
        run.go_on()?;
        match Concrete::path(run, system, relations, &exact, steps, rounds)? {
            Some((steps, states)) => return expanded(run, system, &exact, &steps, states),
            None => rounds *= 2,
        }
    }
    Err(Stop::Exhausted("learnt relations reach bad states, and few rounds of their loops do not"))
}
