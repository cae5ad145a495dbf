//! Decision procedures for theories.
//!
//! The kernels know nothing of literals and terms: `arith` is the simplex algorithm, `euf` is congruence closure.
//! What makes a kernel a theory of the search is a file beside them: `linear.rs` for linear arithmetic.

pub mod arith;
pub mod euf;
pub mod linear;
