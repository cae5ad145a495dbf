//! What an engine must show for its answer.

use crate::aig::{Aig, Edge};

/// An answer of an engine about a [`BitSystem`](crate::system::BitSystem).
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Evidence {
    /// No bad state is reachable.
    Safe(Invariant),
    /// The last step of the trace is bad.
    Unsafe(Trace),
}

/// A conjunction of clauses that is true in every step of every run, excludes bad, and is inductive.
///
/// The leaves of its graph are those of its system or circuit, with the same numbers, so a clause may speak of internal
/// signals and even of inputs. With C for the constraints, T for the step and k for the depth, it claims:
///
/// * base: in the first k steps of every run the clauses hold;
/// * step: if the clauses and C hold in k steps in a row, and C in the one after, so do the clauses there;
/// * safety: where the clauses and C hold, no bad edge is true.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Invariant {
    /// The graph that the clauses speak of.
    pub aig: Aig,
    /// The clauses: disjunctions of edges.
    pub clauses: Vec<Vec<Edge>>,
    /// The depth k of induction, at least 1.
    pub depth: usize,
}

/// A run: the values that determine it.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Trace {
    /// By latches: the value in step 0.
    pub initial: Vec<bool>,
    /// By steps, by inputs: the value. There is at least one step.
    pub inputs: Vec<Vec<bool>>,
}

impl Trace {
    /// The number of the last step, counted from 0: the length of the counterexample.
    pub fn length(&self) -> usize {
        self.inputs.len().saturating_sub(1)
    }
}
