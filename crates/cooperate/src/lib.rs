//! Engines side by side: from clauses to an answer that is checked.
//!
//! [`driver::solve`] is the way in. It chooses engines by the clauses ([`schedule()`]) unless they are named, and lets
//! them run in parallel; the first answer whose witness the checker finds valid is the answer.

pub mod driver;
mod portfolio;
mod schedule;

pub use schedule::schedule;
