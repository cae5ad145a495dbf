//! Decision procedures for theories.
//!
//! The kernels know nothing of literals and terms: `arith` is the simplex algorithm, `euf` is congruence closure.
//! What makes a kernel a theory is a file beside them: `linear.rs` for linear arithmetic, `congruence.rs` for equality
//! with functions. `combination.rs` puts the two together.

pub mod arith;
pub mod certificate;
pub mod claims;
pub mod combination;
pub mod congruence;
pub mod euf;
pub mod linear;
