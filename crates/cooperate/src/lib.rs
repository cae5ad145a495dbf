//! Engines side by side: from clauses to an answer that is checked.
//!
//! [`driver::solve`] is the way in. It chooses engines by the clauses ([`schedule`]) unless they are named, and lets
//! them run side by side; the first answer whose witness the checker finds valid is the answer.

pub mod driver;
mod memory;
mod portfolio;
pub mod schedule;
