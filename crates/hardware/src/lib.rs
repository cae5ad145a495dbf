//! Model checking of circuits: can a circuit ever reach a bad state, or run for ever in a way that is not wanted?
//!
//! A [`Circuit`](circuit::Circuit) is what a file says, with its names, and is never changed: it is the only source of
//! the checker. Engines work on a [`BitSystem`](system::BitSystem), the part of a circuit that one property needs. Their
//! answers, an [`Invariant`](evidence::Invariant) or a [`Trace`](evidence::Trace), are translated back to the circuit
//! and checked there before anybody sees them. Justice properties become questions of this kind in [`live`].

pub mod aig;
pub mod aiger;
pub mod bmc;
pub mod btor2;
pub mod check;
pub mod circuit;
pub mod decide;
pub mod evidence;
pub mod exchange;
pub mod imc;
pub mod interpolate;
pub mod justify;
pub mod kavy;
pub mod kind;
pub mod live;
pub mod pdr;
pub mod playback;
pub mod probe;
mod race;
pub mod reduce;
pub mod signals;
pub mod simulate;
pub mod solve;
pub mod split;
pub mod system;
pub mod unroll;
pub mod vcd;
pub mod windows;
pub mod witness;
pub mod words;

#[cfg(test)]
mod explicit;

// The tests' common file, which integration tests include too, names the crate.
#[cfg(test)]
extern crate self as shofar_hardware;

#[cfg(test)]
#[path = "../tests/common/mod.rs"]
mod common;
