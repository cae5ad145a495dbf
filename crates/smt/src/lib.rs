//! The SMT core: a CDCL(T) solver for many small incremental queries.

mod cases;
pub mod cnf;
mod equations;
mod groups;
pub mod interpolate;
pub mod known_literals;
pub mod levels;
mod model;
pub mod options;
pub mod project;
pub mod proof;
pub mod purify;
mod relevance;
pub mod renewal;
pub mod sat;
pub mod script;
pub mod solver;
pub mod theory;
mod units;

pub use theory::claims::{supports, supports_sort};
