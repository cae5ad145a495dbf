//! Engines side by side: from clauses to an answer that is checked.
//!
//! [`driver`] leads from clauses to answers. The clauses choose the engines ([`schedule`]) unless the user names them
//! ([`slot`]). They may tell each other what they learn ([`exchange`]). The first answer whose witness the checker accepts is the answer. Programs use this through the crate `shofar`.
//!
//! [`termination`] decides whether all runs of clauses end.
//!
//! [`circuits`] makes clauses of circuits, and circuits of clauses.

pub mod circuits;
pub mod driver;
pub mod exchange;
mod graphs;
pub mod instances;
mod memory;
mod portfolio;
pub mod readable;
mod rounds;
pub mod schedule;
pub mod slot;
pub mod termination;

pub use driver::{Options, Outcome, Verdict, solve};
pub use portfolio::Turns;
pub use readable::ModelForm;
pub use shofar_engines::Run;
