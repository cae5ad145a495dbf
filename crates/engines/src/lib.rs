//! Engines that decide constrained Horn clauses, one file or folder per algorithm.
//!
//! An [`Engine`] takes a graph and a [`Run`] and answers with [`Evidence`], a model of the graph or a derivation of
//! `false` in it, or with a [`Stop`]. Engines read the clock only through `Run`, report progress as events, and never
//! print, exit or panic on bad input.

mod bmc;
mod eliminate;
mod event;
mod exchange;
mod flag;
mod forms;
mod fragment;
pub mod imc;
mod k_inductive;
pub mod kind;
pub mod lawi;
mod option;
pub mod pdkind;
mod run;
mod separation;
pub mod spacer;
pub mod tpa;
mod trace;
mod unroll;

use shofar_horn::HornGraph;
use shofar_horn::witness::{Derivation, GraphModel};
use shofar_logic::TermStore;
use shofar_run::Stop;

pub use bmc::Bmc;
pub use event::{Event, EventSink, Label};
pub use exchange::{Exchange, SharedLemma};
pub use imc::Imc;
pub use kind::KInduction;
pub use lawi::Lawi;
pub use option::EngineOption;
pub use pdkind::PdKind;
pub use run::Run;
pub use separation::InterpolationMethod;
pub use spacer::Spacer;
pub use tpa::Tpa;

/// An algorithm that decides systems of Horn clauses.
pub trait Engine: Send + Sync {
    /// The name of the engine for users.
    fn name(&self) -> &'static str;

    /// A description in one line.
    fn description(&self) -> &'static str;

    /// The options of the engine. An engine that makes interpolants has the option `interpolation`.
    fn options(&mut self) -> Vec<EngineOption<'_>> {
        Vec::new()
    }

    /// Whether the engine accepts a graph; if not, the reason. Most engines accept linear systems, where no clause has
    /// several predicates in its body, over the sorts that the solver supports.
    fn accepts(&self, store: &TermStore, graph: &HornGraph) -> Result<(), Stop> {
        fragment::is_linear(graph)?;
        fragment::is_decidable(store, graph)
    }

    /// Decides a graph that it accepts, or returns the reason why it cannot.
    fn solve(&self, graph: &HornGraph, run: &Run<'_>) -> Result<Evidence, Stop>;
}

/// The proof of an engine's answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Evidence {
    /// The clauses have this model.
    Sat(GraphModel),
    /// The clauses are unsatisfiable, by this derivation of `false`.
    Unsat(Derivation),
}

/// Gives an option of an engine a value; tells what there is if there is no such option or value.
pub fn set_option(engine: &mut dyn Engine, name: &str, value: &str) -> Result<(), String> {
    let engine_name = engine.name();
    let mut options = engine.options();
    if let Some(option) = options.iter_mut().find(|option| option.name == name) {
        let default = &option.default;
        let refusal = format!("{engine_name}.{name}: `{value}` is not possible");
        let default = format!("the default is {default}");
        return option.set(value).map_err(|why| format!("{refusal}: {why}; {default}"));
    }
    let known: Vec<&str> = options.iter().map(|option| option.name).collect();
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    Err(format!("the options of {engine_name} are: {known}"))
}

/// All engines, in the order in which they are listed.
pub fn all() -> Vec<Box<dyn Engine>> {
    vec![
        Box::new(Spacer::default()),
        Box::new(PdKind::default()),
        Box::new(Tpa::split()),
        Box::new(Tpa::default()),
        Box::new(Imc::default()),
        Box::new(Lawi::default()),
        Box::new(KInduction::default()),
        Box::new(Bmc),
    ]
}

/// The engine with this name, in whatever case.
pub fn by_name(name: &str) -> Option<Box<dyn Engine>> {
    all().into_iter().find(|engine| engine.name().eq_ignore_ascii_case(name))
}
