//! Engines that decide constrained Horn clauses, one file or folder per algorithm.
//!
//! An [`Engine`] takes a graph and a [`Run`] and answers with [`Evidence`], a model of the graph or a derivation of
//! `false` in it, or with a [`Stop`]. Engines read the clock only through `Run`, report progress as events, and never
//! print, exit or panic on bad input.

mod algebra;
mod bmc;
pub mod cegar;
pub mod cells;
mod eliminate;
mod event;
mod exchange;
mod flag;
mod forms;
mod fragment;
mod functions;
pub mod imc;
mod implication;
mod interpolation_abstraction;
mod invariants;
mod k_inductive;
pub mod kavy;
pub mod kind;
pub mod lawi;
mod observer;
mod option;
pub mod pa;
pub mod pdkind;
pub mod product;
mod progressions;
pub mod regular;
pub mod regular_combined;
mod replay;
pub mod residual;
mod rule;
mod run;
pub mod saturation;
mod separation;
pub mod spacer;
pub mod tpa;
mod trace;
pub mod trl;
pub mod unfold;
mod unroll;
pub mod words;

use shofar_horn::HornGraph;
use shofar_horn::witness::{Derivation, GraphModel, Induction, Saturation};
use shofar_logic::TermStore;
use shofar_run::{OptionError, Stop};

pub use algebra::Algebras;
pub use bmc::Bmc;
pub use cegar::Cegar;
pub use cells::Cells;
pub use event::{Event, EventSink, Label};
pub use exchange::{Cex, Fact, FactId, Fate, Port};
pub use imc::Imc;
pub use invariants::Invariants;
pub use kavy::Kavy;
pub use kind::KInduction;
pub use lawi::Lawi;
pub use observer::{FrameLemmas, FrameObserver};
pub use option::EngineOption;
pub use pa::PredicateAbstraction;
pub use pdkind::PdKind;
pub use product::Products;
pub use regular::{Regular, Synchronous};
pub use regular_combined::RegularCombined;
pub use run::Run;
pub use saturation::Saturate;
pub use separation::InterpolationMethod;
pub use spacer::Spacer;
pub use tpa::Tpa;
pub use trl::Trl;
pub use unfold::Unfold;
pub use words::Words;

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
        fragment::is_interpolable(store, graph)
    }

    /// Whether the engine works on the graph of the clauses as they were read, before any transformation.
    fn works_on_clauses_as_read(&self) -> bool {
        false
    }

    /// Decides a graph that it accepts, or returns the reason why it cannot.
    fn solve(&self, graph: &HornGraph, run: &Run<'_>) -> Result<Evidence, Stop>;
}

/// The proof of an engine's answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Evidence {
    /// The clauses have this model.
    Sat(GraphModel),
    /// The clauses have a model, by this proof. Only engines that [work on clauses as they were
    /// read](Engine::works_on_clauses_as_read) give one.
    Induction(Induction),
    /// The clauses have a model, because these clauses, which cover them, are saturated. Only engines that work on clauses as
    /// they were read give it.
    Saturation(Saturation),
    /// The clauses are unsatisfiable, by this derivation of `false`.
    Unsat(Derivation),
}

/// Sets an option of an engine.
pub fn set_option(engine: &mut dyn Engine, name: &str, value: &str) -> Result<(), OptionError> {
    let engine_name = engine.name();
    let mut options = engine.options();
    let Some(option) = options.iter_mut().find(|option| option.name == name) else {
        let known = options.iter().map(|option| option.name).collect();
        return Err(OptionError::UnknownOption { engine: engine_name, name: name.to_owned(), known });
    };
    if option.set(value) {
        return Ok(());
    }
    Err(OptionError::ImpossibleValue {
        option: format!("{engine_name}.{name}"),
        value: value.to_owned(),
        possible: option.values(),
        default: Some(option.default.clone()),
    })
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
        Box::new(Cegar::default()),
        Box::new(PredicateAbstraction::default()),
        Box::new(KInduction::default()),
        Box::new(Kavy::default()),
        Box::new(Trl::default()),
        Box::new(Invariants),
        Box::new(Products),
        Box::new(Algebras),
        Box::new(Words),
        Box::new(Unfold::default()),
        Box::new(Regular::default()),
        Box::new(RegularCombined::default()),
        Box::new(Synchronous::default()),
        Box::new(Saturate::default()),
        Box::new(Cells::default()),
        Box::new(Bmc),
    ]
}

/// The engine with this name, in upper or lower case.
pub fn by_name(name: &str) -> Result<Box<dyn Engine>, OptionError> {
    let mut engines = all();
    match engines.iter().position(|engine| engine.name().eq_ignore_ascii_case(name)) {
        Some(index) => Ok(engines.swap_remove(index)),
        None => {
            let known = engines.iter().map(|engine| engine.name()).collect();
            Err(OptionError::UnknownEngine { name: name.to_owned(), known })
        }
    }
}
