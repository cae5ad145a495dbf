//! Circuits as Horn clauses, and Boolean Horn clauses as circuits: so every engine can run on both.
//!
//! Both directions keep the verdict: the clauses are satisfiable exactly if the circuit is safe.

mod from_clauses;
mod to_clauses;

pub use from_clauses::circuit_of;
pub use to_clauses::clauses_of;
