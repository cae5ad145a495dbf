//! Shared tools of the tests and benchmarks of the other crates: reproducible random numbers, generated inputs, slow
//! but obvious procedures, Z3 and cvc5 as judges of answers, and servers for the cluster.
//!
//! It is a development dependency of crates that it depends on itself, which Cargo permits. Tests in the folder `tests`
//! of a crate see the same types as this one. Unit tests see a second copy of their own crate, so they can use only the
//! parts of this one without its types: [`Random`] and [`scale`](scale::scale).

pub mod array_systems;
pub mod automata;
pub mod control_systems;
pub mod cvc5;
pub mod datatype_systems;
pub mod datatypes;
pub mod explicit;
pub mod families;
pub mod formulas;
pub mod lemmas;
mod random;
pub mod refutations;
pub mod scale;
pub mod scripts;
pub mod server;
pub mod systems;
pub mod z3;

pub use random::Random;
pub use scale::scale;
