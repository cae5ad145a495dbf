//! Interpolants of every kind from one refutation.
//!
//! **What it computes.** Formulas were asserted in *parts* and found to be contradictory. For a *cut*, the parts of A
//! against those of B, an interpolant `I` has
//!
//! - I1: A implies `I`,
//! - I2: `I` contradicts B,
//! - I3: every symbol of `I` occurs in A and in B.
//!
//! A *sequence* for parts `1, .., n` has an interpolant `I_i` for each prefix `1, .., i`, and a *tree* one for each subtree,
//! where
//!
//! - I4: `I_{i-1}` and part `i` imply `I_i`; the interpolants of the children of a node and its part imply its own.
//!
//! **Whose formulas.** A solver made with proofs knows the part of each assertion and assumption, so after `Unsat`
//! [`Solver::interpolator`](crate::solver::Solver::interpolator) needs nothing but [`Options`]. Every formula that is
//! asserted or assumed at the time counts for the vocabulary of its part, whether or not the proof uses it. A formula that
//! is in two parts may serve as one of either in the proof: both sides have it, so that I1 to I3 hold in any case.
//!
//! **How.** A proof is frozen, so that any number of interpolants can be read off it. Those of a sequence or tree share
//! what does not depend on the cut, and from one cut to the next only what changes is made again:
//!
//! ```text
//! cuts        sets of cuts, for which questions are asked at once         cuts.rs
//! colours     which side may speak of a term                              colour.rs
//! leaves      of theory lemmas                                            lemmas.rs: farkas.rs, decomposed.rs,
//!                                                                         divisibility.rs, congruence.rs
//! pass        partial interpolants of clauses, by labels                  labelled.rs, occurrence.rs
//! symbols     fresh symbols and gates become what they stand for
//! form        simplification                                              simplify.rs, factor.rs
//! check       I3 always; I1 and I2 in debug builds                        verify.rs
//! ```
//!
//! **Where it ends.** A proof may have a literal that mixes symbols of both sides, such as an integer split on a form over
//! both, or a step that has no interpolant of the kind wanted. This is a [`Defect`] of the proof, and an interpolant is
//! looked for without it: one by models and their projections (`fallback.rs`), a sequence or tree node by node, with a
//! proof for each node first (`stepwise.rs`). The limits of the call bound each query of that search.
//!
//! **Sequences and trees.** All cuts share proof, labelling and certificates, which move from B to A with the parts (S1
//! of `labelled.rs`). This gives I4 for sequences with each labelling, and with Farkas sums, their duals, and any fixed
//! strength. For trees it needs a labelling other than the dual one, for a shared pivot would be A's in two siblings at
//! a time, and Farkas sums: the slack of duals would be counted once for each child. *Decomposed* interpolants have the
//! property because each cut decomposes what the cuts below it left (`decomposed.rs`).
//!
//! The colouring of congruence conflicts is another one at each cut. In 47,502 sequences and 15,834 trees of generated
//! conflicts no violation of I4 was found, but this is no proof: sequences and trees of proofs with such lemmas are checked
//! by the solver, and given only if I4 is found to hold. Weak ones are not offered for trees.

mod arrange;
pub mod colour;
pub mod congruence;
pub mod cuts;
pub mod decomposed;
pub mod divisibility;
mod error;
mod factor;
pub mod fallback;
pub mod farkas;
mod interpolator;
mod labelled;
mod lemmas;
mod occurrence;
pub mod simplify;
mod stepwise;
pub mod verify;

use farkas::Strength;

pub use error::{Defect, Error};
pub use interpolator::{Interpolant, Interpolator};
pub use labelled::Labelling;

/// How arithmetic conflicts are interpolated.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Arithmetic {
    /// The weighted sum of A.
    #[default]
    Farkas,
    /// The negation of the weighted sum of B.
    DualFarkas,
    /// The sum of A, taken apart into a conjunction: the strongest.
    Decomposed,
    /// The negation of the sum of B, taken apart into a disjunction: the weakest.
    DualDecomposed,
    /// Between the sum of A and the negation of the sum of B.
    Flexible(Strength),
}

/// How conflicts of equality are interpolated.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Equality {
    /// What A contributes.
    #[default]
    Strong,
    /// The negation of what B contributes.
    Weak,
}

/// How the interpolant is made smaller.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Simplification {
    /// By normalising it.
    Normal,
    /// By looking at its structure.
    #[default]
    Structural,
    /// By asking the solver, too; the number bounds the conflicts of each query.
    Solver(u64),
}

/// What is done where the proof has no interpolant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fallback {
    /// Nothing.
    Off,
    /// One is looked for without the proof. The number bounds the disjuncts of what a projection covers.
    Disjuncts(usize),
}

impl Default for Fallback {
    fn default() -> Self {
        Fallback::Disjuncts(64)
    }
}

/// The choices of a query.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// What shared variables count for.
    pub labelling: Labelling,
    /// The procedure for arithmetic.
    pub arithmetic: Arithmetic,
    /// The procedure for equality.
    pub equality: Equality,
    /// What is done with the result.
    pub simplification: Simplification,
    /// What is done where the proof has no interpolant.
    pub fallback: Fallback,
}
