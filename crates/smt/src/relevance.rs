//! Tracks the variables of the search that are currently relevant.
//!
//! The translation to clauses caches every atom and gate it ever met, and the search keeps their variables. But only
//! those in current assertions and assumptions must be decided: deciding any other variable costs a theory check and
//! gains nothing. After a hundred thousand frames or queries, a solver would do little else.
//!
//! A variable is *relevant*
//!
//! ```text
//! for good     if it occurs in a definition, which holds in all frames
//! in a frame   if it occurs in a formula asserted there
//! in a query   if it occurs in one of the assumptions
//! ```
//!
//! - R1: a gate's arguments are relevant for as long as the gate is.
//! - R2: relevant variables are decision variables. Other variables are not, except those that a theory made.
//!
//! **Why leaving the others open is right.** An answer `Sat` comes with an assignment that falsifies no clause. It
//! either assigns all relevant variables, or makes all clauses true that have no open literals over other variables
//! (see `sat/cover.rs`). By R1 and R2 these include the clauses of every asserted formula and the definitions of all
//! its gates. So they are true whatever the values of open atoms are, which the theory's model determines; the theory
//! guarantees the assigned atoms. Values of irrelevant gates do not count: their definitions can be made true
//! afterwards, as each gate is a function of its atoms.
//!
//! Frames end in reverse order, so the relevant variables form a stack with a mark for each frame. The idea is the
//! relevancy of L. de Moura and N. Bjørner ("Relevancy propagation", MSR-TR-2007-140), by registration instead of
//! propagation.

use crate::sat::Var;

/// How long a variable is relevant.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Scope {
    /// Until the innermost frame, or the query, ends.
    Frame,
    /// As long as the solver lives.
    Good,
}

/// The stack of relevant variables.
#[derive(Default)]
pub(crate) struct Relevance {
    /// By variables; those beyond the end are not relevant.
    scopes: Vec<Option<Scope>>,
    /// The variables that became relevant in frames. Some may have become relevant for good since.
    stack: Vec<Var>,
    /// The heights of the stack at which the open frames start.
    frames: Vec<usize>,
}

impl Relevance {
    /// Opens a frame.
    pub(crate) fn push(&mut self) {
        self.frames.push(self.stack.len());
    }

    /// Ends the innermost frame, and calls `rest` for the variables that are no longer relevant.
    pub(crate) fn pop(&mut self, mut rest: impl FnMut(Var)) {
        let Some(height) = self.frames.pop() else { return };
        for var in self.stack.drain(height..) {
            let scope = &mut self.scopes[var.index()];
            if *scope == Some(Scope::Frame) {
                *scope = None;
                rest(var);
            }
        }
    }

    /// Whether the variable is relevant now.
    pub(crate) fn is_relevant(&self, var: Var) -> bool {
        self.scopes.get(var.index()).is_some_and(Option::is_some)
    }

    /// Makes a variable relevant; outside of all frames, for good. Returns whether this is new.
    pub(crate) fn require(&mut self, var: Var, scope: Scope) -> bool {
        let scope = if self.frames.is_empty() { Scope::Good } else { scope };
        if self.scopes.len() <= var.index() {
            self.scopes.resize(var.index() + 1, None);
        }
        let known = &mut self.scopes[var.index()];
        if *known >= Some(scope) {
            return false;
        }
        if scope == Scope::Frame {
            self.stack.push(var);
        }
        *known = Some(scope);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_rest_when_their_frame_ends_unless_they_matter_elsewhere() {
        let vars: Vec<Var> = (0..4).map(Var::from_index).collect();
        let mut relevance = Relevance::default();
        assert!(relevance.require(vars[0], Scope::Frame));
        relevance.push();
        assert!(!relevance.require(vars[0], Scope::Frame));
        assert!(relevance.require(vars[1], Scope::Frame));
        assert!(relevance.require(vars[2], Scope::Frame));
        relevance.push();
        assert!(!relevance.require(vars[1], Scope::Frame));
        assert!(relevance.require(vars[1], Scope::Good));
        assert!(relevance.require(vars[3], Scope::Frame));
        let ended = |relevance: &mut Relevance| {
            let mut ended = Vec::new();
            relevance.pop(|var| ended.push(var.index()));
            ended
        };
        assert_eq!(ended(&mut relevance), [3]);
        assert_eq!(ended(&mut relevance), [2]);
        assert!(ended(&mut relevance).is_empty());
        assert!(!relevance.require(vars[1], Scope::Frame));
        assert!(relevance.require(vars[3], Scope::Frame));
    }
}
