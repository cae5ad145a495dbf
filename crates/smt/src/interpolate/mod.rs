//! Computes interpolants of every kind from one refutation.
//!
//! **What it computes.** The solver found formulas, asserted in *parts*, to be contradictory. A *cut* assigns some
//! parts to A and the others to B. An interpolant `I` of a cut satisfies:
//!
//! - I1: A implies `I`,
//! - I2: `I` contradicts B,
//! - I3: every symbol of `I` occurs in A and in B.
//!
//! A *sequence* for parts `1, .., n` has an interpolant `I_i` for each prefix `1, .., i`. A *tree* has one for each
//! subtree. Both satisfy:
//!
//! - I4: `I_{i-1}` and part `i` imply `I_i`; the interpolants of the children of a node and its part imply its own.
//!
//! **Whose formulas.** A solver that logs proofs knows the part of each assertion and assumption. After `Unsat`,
//! [`Solver::interpolator`](crate::solver::Solver::interpolator) therefore needs only [`Options`]. Every formula
//! asserted or assumed at that time contributes to the vocabulary of its part, whether or not the proof uses it. A
//! formula in two parts may count for either part: both sides have it, so I1 to I3 hold in any case.
//!
//! **How.** The proof is frozen, so any number of interpolants can be computed from it. The interpolants of a sequence
//! or tree share all work that does not depend on the cut. From one cut to the next, only the changed results are
//! recomputed:
//!
//! ```text
//! cuts        sets of cuts, which answer a question for all cuts at once  cuts.rs
//! colours     which side can express a term                               colour.rs
//! leaves      of theory lemmas                                            lemmas.rs: farkas.rs, decomposed.rs,
//!                                                                         divisibility.rs, congruence.rs,
//!                                                                         datatypes.rs
//! pass        partial interpolants of clauses, by labels                  labelled.rs, occurrence.rs
//! symbols     fresh symbols and gates are replaced by their origins
//! form        simplification                                              simplify.rs, factor.rs
//! check       I3 always; I1 and I2 in debug builds                        verify.rs
//! ```
//!
//! **Incompleteness.** A proof may contain a literal that mixes symbols of both sides, such as an integer split on a
//! form over both, or a step that has no interpolant of the chosen kind. This is a [`Defect`] of the proof. The
//! fallback then searches without the proof: for a binary interpolant by projecting models (`fallback.rs`), for a
//! sequence or tree node by node, first from a new proof for each node (`stepwise.rs`). The limits of the call bound
//! each query of this search.
//!
//! **Sequences and trees.** All cuts share proof, labelling and certificates. When parts move from B to A, labels move
//! with them (S1 of `labelled.rs`). For sequences this gives I4 with each labelling, and with Farkas sums, their duals,
//! and any fixed strength. Trees need a labelling other than the dual one, because a shared pivot would be A's in two
//! siblings at a time. Trees also need Farkas sums, because the slack of duals would be counted once for each child.
//! *Decomposed* interpolants satisfy I4 because each cut decomposes the components of the cuts below it
//! (`decomposed.rs`).
//!
//! The colouring of congruence conflicts differs between cuts. 47,502 sequences and 15,834 trees of generated conflicts
//! showed no violation of I4, but this is no proof. The solver therefore checks sequences and trees from proofs with
//! such lemmas, and they are returned only if I4 holds. Weak ones are not offered for trees.

mod arrange;
pub mod colour;
pub mod congruence;
pub mod cuts;
mod datatypes;
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

/// Selects the interpolation procedure for arithmetic conflicts.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Arithmetic {
    /// The weighted sum of A.
    #[default]
    Farkas,
    /// The negation of the weighted sum of B.
    DualFarkas,
    /// The sum of A, decomposed into a conjunction: the strongest.
    Decomposed,
    /// The negation of the sum of B, decomposed into a disjunction: the weakest.
    DualDecomposed,
    /// An inequality between the sum of A and the negation of the sum of B.
    Flexible(Strength),
}

/// Selects the interpolation procedure for equality conflicts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Equality {
    /// The contribution of A.
    #[default]
    Strong,
    /// The negation of the contribution of B.
    Weak,
}

/// Selects how interpolants are simplified.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Simplification {
    /// Normalisation only.
    Normal,
    /// Structural simplification.
    #[default]
    Structural,
    /// Structural simplification and solver queries; the number bounds the conflicts of each query.
    Solver(u64),
}

/// Selects what to do if the proof has no interpolant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fallback {
    /// Report the defect.
    Off,
    /// Search without the proof. The number bounds the disjuncts of the interpolant.
    Disjuncts(usize),
}

impl Default for Fallback {
    fn default() -> Self {
        Fallback::Disjuncts(64)
    }
}

/// The options of a query.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// The label of shared variables.
    pub labelling: Labelling,
    /// The procedure for arithmetic.
    pub arithmetic: Arithmetic,
    /// The procedure for equality.
    pub equality: Equality,
    /// How the result is simplified.
    pub simplification: Simplification,
    /// What to do if the proof has no interpolant.
    pub fallback: Fallback,
}
