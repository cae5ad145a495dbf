//! From clauses to an answer that is proved.
//!
//! ```text
//! clauses -> graph -> transformations -> engine -> ways back -> witness -> checker -> answer
//! ```
//!
//! D1: an answer is given only with a witness of the clauses as they were read, and only if the checker has found it to
//! be one. A witness that it refuses is a mistake in Shofar: the answer is unknown, and the reason says so. Where time
//! does not suffice for the check, the answer is unknown, too.

use std::time::Instant;

use shofar_horn::check::{check_derivation, check_graph_model};
use shofar_horn::transform::{Lost, Pipeline, Transformed};
use shofar_horn::witness::{Derivation, GraphModel};
use shofar_horn::{HornGraph, HornSystem};

use crate::{Answer, Engine, Event, Run, Stop, by_name};

/// What the user may choose.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Options {
    /// The engine, by its name; without one it is chosen by the clauses.
    pub engine: Option<String>,
}

/// What is found out about clauses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The clauses have this model.
    Sat(GraphModel),
    /// The clauses have this refutation.
    Unsat(Derivation),
    /// Nothing is known.
    Unknown(Stop),
}

/// An answer and where it comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// The answer.
    pub verdict: Verdict,
    /// The engine that was asked, if it came to that.
    pub engine: Option<&'static str>,
}

/// Decides a system of clauses.
pub fn solve(system: &HornSystem, options: &Options, run: &Run<'_>) -> Outcome {
    let mut engine = None;
    let verdict = decide(system, options, run, &mut engine).unwrap_or_else(Verdict::Unknown);
    Outcome { verdict, engine }
}

fn decide(
    system: &HornSystem,
    options: &Options,
    run: &Run<'_>,
    asked: &mut Option<&'static str>,
) -> Result<Verdict, Stop> {
    if let Some(&function) = system.functions.first() {
        let name = run.store.display_symbol(run.store.fun_decl(function).name);
        return Err(Stop::Unsupported(format!("declared functions other than predicates, as {name}")));
    }
    let mut clock = Clock { run, start: Instant::now() };
    let original = HornGraph::of(run.store, system);
    clock.phase("graph");

    let (Transformed { graph, back }, reports) = Pipeline::default().run(&run.context(), original.clone());
    reports.into_iter().for_each(|report| run.events.tell(Event::Pass(report)));
    clock.phase("transform");
    if let Some(reason) = run.context().interrupted() {
        return Err(reason.into());
    }

    let engine = choose(options, &graph)?;
    *asked = Some(engine.name());
    let answer = engine.solve(&graph, run);
    clock.phase("solve");

    match answer {
        Answer::Sat(model) => {
            let model = back.model(&run.context(), model)?;
            clock.phase("way back");
            let checked = check_graph_model(&run.context(), &original, &model);
            clock.phase("check");
            checked.map_err(|lost| refused(engine.name(), "model", lost))?;
            Ok(Verdict::Sat(model))
        }
        Answer::Unsat(derivation) => {
            let derivation = back.derivation(&run.context(), derivation)?;
            clock.phase("way back");
            let checked = check_derivation(&run.context(), &original, &derivation);
            clock.phase("check");
            checked.map_err(|lost| refused(engine.name(), "derivation", lost))?;
            Ok(Verdict::Unsat(derivation))
        }
        Answer::Unknown(stop) => Err(stop),
    }
}

/// The engine that is asked for, or the one for such clauses.
fn choose(options: &Options, graph: &HornGraph) -> Result<Box<dyn Engine>, Stop> {
    let engine = match &options.engine {
        Some(name) => by_name(name).ok_or_else(|| Stop::Unsupported(format!("an engine called {name}")))?,
        None => crate::default_for(graph),
    };
    engine.accepts(graph).map_err(Stop::Unsupported)?;
    Ok(engine)
}

/// What is said of a witness that did not pass its check.
fn refused(engine: &str, witness: &str, lost: Lost) -> Stop {
    match lost {
        Lost::Wrong(what) => Stop::Internal(format!("the {witness} of engine {engine} is wrong: {what}")),
        other => other.into(),
    }
}

/// Tells how long each phase took.
struct Clock<'a, 'r> {
    run: &'a Run<'r>,
    start: Instant,
}

impl Clock<'_, '_> {
    fn phase(&mut self, name: &'static str) {
        self.run.events.tell(Event::Phase { name, time: self.start.elapsed() });
        self.start = Instant::now();
    }
}
