//! ABMC: accelerated bounded model checking.
//!
//! **What it decides.** Transition systems over integers and Booleans, and so all linear systems over them. It finds counterexamples that
//! repeat loops up to millions of times, and models of systems in which a few accelerated loops reach all states.
//!
//! **The idea.** Bounded model checking, but a loop that a path runs through becomes a single step: its closed form, which says what any number of
//! rounds do. The closed form is exact, so a path of such steps is a path of the system. Steps that an accelerated loop could replace
//! are blocked. If no unblocked path is longer than `b` steps, then `b` steps reach all states.
//!
//! ```text
//! unroll with shortcuts                                                            shortcuts/
//!     the shortcut of a loop is its acceleration; a loop without a closed form has no shortcut
//! a path to a bad state: the rounds of its accelerated loops are the counterexample
//! no longer path: the union of the images is the model
//! ```
//!
//! **Why the answer is right.** `shortcuts/mod.rs` argues for models: an acceleration is transitive, because rounds after rounds are
//! rounds. The model is exactly the set of reachable states; its inductiveness is checked again, and if it has too many cubes, the engine is
//! exhausted.
//!
//! **Where it comes from.** F. Frohn, J. Giesl, "Integrating loop acceleration into bounded model checking" (FM 2024), in LoAT.
//!
//! **Where we differ.** There, an acceleration is offered only in the step after its loop was met. Here the search starts again, so that all
//! steps may use it and blocking clauses hold at all positions, as in TRL; the model is then a union of images.

use std::time::Instant;

use shofar_horn::{HornGraph, TransitionSystem};
use shofar_logic::{Term, TermStore};
use shofar_run::Stop;

use crate::exchange::states::StatePort;
use crate::exchange::strengthened;
use crate::forms::TransitionForm;
use crate::option::options;
use crate::shortcuts::{Exact, Example, Found, Learn, Search, expanded};
use crate::{Engine, EngineOption, Evidence, Run, fragment};

options! {
    accelerations: usize = 64, "accelerations": "the greatest number of accelerated loops" in 1..=1_000_000;
    length: usize = 6, "length": "the greatest number of steps of a loop" in 1..=1_000_000;
}

/// The ABMC engine.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Abmc {
    /// The options of the engine.
    pub options: Options,
}

impl Engine for Abmc {
    fn name(&self) -> &'static str {
        "abmc"
    }

    fn description(&self) -> &'static str {
        "accelerated bounded model checking; linear systems over integers"
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
        let Options { accelerations, length } = self.options;
        let mut search = Search::new(run, system, StatePort::of(run, &looped), accelerations);
        let mut closed_forms = ClosedForms { run, system, longest: length, exact: Vec::new() };
        let found = search.decide(&mut closed_forms);
        run.tell_statistics(search.counters(), start);
        match found? {
            Found::Bad(steps, states) => {
                let states = expanded(run, system, &closed_forms.exact, &steps, states)?;
                looped.unsafe_by(run, states)
            }
            Found::Invariant(invariant) => looped.safe(run, invariant),
        }
    }
}

/// The accelerated loops.
struct ClosedForms<'s> {
    run: &'s Run<'s>,
    system: &'s TransitionSystem,
    longest: usize,
    /// Indexed by shortcut.
    exact: Vec<Option<Exact>>,
}

impl Learn for ClosedForms<'_> {
    fn learn(&mut self, example: &Example<'_>) -> Result<Option<Term>, Stop> {
        let found = Exact::of(self.run, self.system, example);
        self.run.go_on()?;
        let formula = found.as_ref().map(Exact::formula);
        self.exact.extend(found.map(Some));
        Ok(formula)
    }

    fn longest(&self) -> usize {
        self.longest
    }
}
