//! What the tests and benchmarks of the other crates share: numbers that are the same in every run, generated inputs, and
//! slow, obvious procedures and Z3 as judges of answers.
//!
//! It is a development dependency of crates that it depends on itself, which Cargo permits. Tests in the folder `tests`
//! of a crate see the same types as this one; unit tests see a second copy of their own crate, so that of this one they
//! can use only what has no types of theirs: [`Random`] and [`scale`](scale::scale).

pub mod explicit;
pub mod families;
pub mod formulas;
pub mod lemmas;
mod random;
pub mod refutations;
pub mod scale;
pub mod scripts;
pub mod systems;
pub mod z3;

pub use random::Random;
pub use scale::scale;
