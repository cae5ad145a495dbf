//! Witnesses: models and refutations, of systems as the user wrote them and of graphs.
//!
//! Engines and transformations deal in [`GraphModel`] and [`Derivation`]; what users see and what the checker checks are
//! [`Model`] and [`Refutation`], which know nothing but the [`HornSystem`](crate::HornSystem).

mod graph;
mod model;
mod refutation;

pub use graph::{Derivation, GraphModel, GraphStep};
pub use model::{Definition, Model};
pub use refutation::{Refutation, Step};
