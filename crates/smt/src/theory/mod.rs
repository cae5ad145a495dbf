//! Decision procedures for theories.
//!
//! The kernels know nothing of literals and terms: `arith` is the simplex algorithm, `euf` is congruence closure.
//! What makes a kernel a theory is a file beside them: `linear.rs` with `numbers.rs` for linear arithmetic, `congruence.rs`
//! for equality with functions. `component.rs` says what a theory has to offer, `combination.rs` puts those of a
//! solver together, and `claims.rs` tells what they know.

pub mod arith;
pub mod certificate;
pub mod claims;
pub mod combination;
pub mod component;
pub mod congruence;
pub mod euf;
pub mod linear;
mod numbers;

use component::Component;

/// The theories of a solver, beside congruence: one line for each.
pub fn standard() -> Vec<Box<dyn Component>> {
    vec![Box::new(linear::LinearArithmetic::default())]
}
