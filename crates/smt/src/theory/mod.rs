//! Decision procedures for theories.
//!
//! The kernels know neither literals nor terms: `arith` is the simplex algorithm, `euf` is congruence closure. A file
//! beside them turns a kernel into a theory: `linear.rs` with `numbers.rs` for linear arithmetic, `congruence.rs` for
//! equality with functions. `datatypes` and `arrays` are functions of congruence with lemmas. `component.rs` is the interface of a
//! theory, `combination.rs` combines those of a solver, and `claims.rs` lists what they support.

pub mod arith;
pub(crate) mod arrays;
pub mod certificate;
pub mod claims;
pub mod combination;
pub mod component;
pub mod congruence;
pub(crate) mod datatypes;
pub mod euf;
pub mod linear;
mod numbers;
mod shortcuts;

use component::Component;

/// The theories of a solver other than congruence: one line for each.
pub fn standard() -> Vec<Box<dyn Component>> {
    vec![Box::new(linear::LinearArithmetic::default())]
}
