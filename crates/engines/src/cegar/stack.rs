//! Procedures with a stack, for all systems: finds derivations, and proves only what needs no deep recursion.
//!
//! States have a stack of locations, and instances of variables for each activation; states with different stacks do not cover
//! each other. We make the stack a part of the location: procedures are unfolded (`shofar_horn::cfa`, `unfold.rs`), and the
//! unfolding is a program like any other, for all domains, refutations and searches.
//!
//! ```text
//! for height = 1, 2, ...
//!     the error is reached without stacks above the height:    the run is a derivation
//!     no call of a run exceeds the height:                     safe
//! ```
//!
//! It ends for each unsafe program, since an unfolding has no cycles. A safe program with recursion that never gets
//! stuck keeps it busy for ever: `P(10)` by `P(x) => P(x + 1)` calls `P(9)`, `P(8)` and so on.
//!
//! States of a stack relate the values of all activations, but a model may speak of the arguments of one predicate alone. So
//! there is no model to be read off, and the procedures' summaries make it.
//!
//! M. Somorjai, "Abstraction Based Techniques for Constrained Horn Clause Solving" (BME, 2022), Section 5.2.
//! **Where we differ.** The height grows in steps, and not along one path of the search.

use std::time::Instant;

use shofar_horn::HornGraph;
use shofar_horn::cfa::{self, TooDeep, Unfolding};
use shofar_run::Stop;

use super::program::Program;
use super::{Loop, Options, Reached, summaries};
use crate::{Evidence, Run};

/// Decides a system.
pub(super) fn solve(graph: &HornGraph, run: &Run<'_>, options: Options) -> Result<Evidence, Stop> {
    let start = Instant::now();
    let automaton = cfa::procedures(run.store, graph);
    for height in 1.. {
        run.go_on()?;
        let unfolding = cfa::unfold(&run.context(), &automaton, height, TooDeep::Block)?;
        let (reached, mut counters) = reach(run, &unfolding, options)?;
        counters.push(("stack", height as u64));
        if let Some(reached) = reached {
            run.tell_statistics(counters, start);
            let derivation = automaton.derivation(&run.context(), graph, &unfolding.fold(&reached)?)?;
            return Ok(Evidence::Unsat(derivation));
        }
        run.tell_progress(height as u64, counters);
        if unfolding.is_complete {
            break;
        }
        let higher = cfa::unfold(&run.context(), &automaton, height, TooDeep::Error)?;
        if reach(run, &higher, options)?.0.is_none() {
            break;
        }
    }
    summaries::solve(graph, run, options)
}

type Counters = Vec<(&'static str, u64)>;

/// A run of an unfolding to the error location, if there is one, and the counters of the search.
fn reach(run: &Run<'_>, unfolding: &Unfolding, options: Options) -> Result<(Reached, Counters), Stop> {
    let program = Program::new(run.store, &unfolding.cfa)?;
    let mut refinement_loop = Loop::new(run, &program, options)?;
    let reached = refinement_loop.search()?;
    Ok((reached, refinement_loop.counters()))
}
