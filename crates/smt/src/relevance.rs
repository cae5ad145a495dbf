//! Which variables of the search matter at present.
//!
//! The translation to clauses remembers every atom and gate that it ever met, and the search is never without their
//! variables. But only those have to be decided that what is asserted or assumed at present consists of: giving a value
//! to any other one costs a check of the theory and brings nothing. With a hundred thousand frames or queries behind
//! it, a solver would do little else.
//!
//! A variable is *relevant*
//!
//! ```text
//! for good     if a definition, which holds in all frames, consists of it
//! in a frame   if a formula that was asserted there consists of it
//! in a query   if one of the assumptions consists of it
//! ```
//!
//! - R1: a gate's arguments are relevant for as long as the gate is.
//! - R2: relevant variables are decision variables. Others are not, save for those that a theory made.
//!
//! Why leaving the others open is right: an answer `Sat` comes with an assignment that falsifies no clause and either gives
//! values to all relevant variables, or makes all clauses true that have no open literals over other variables (see
//! `sat/cover.rs`). By R1 and R2 the clauses of every asserted formula and the definitions of all its gates are among
//! these. So they are true whatever the values of open atoms are, and these are what the theory's model makes
//! them; for the others it vouches. Values that gates got without being relevant do not count: their definitions can be made
//! true afterwards, as each gate is a function of its atoms.
//!
//! Frames end in reverse order, so the relevant variables form a stack with a mark for each of them. The idea is the
//! relevancy of L. de Moura and N. Bjørner ("Relevancy propagation", MSR-TR-2007-140), by registration instead of
//! propagation.

use crate::sat::Var;

/// How long a variable matters.
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
    /// The variables that became relevant in frames. Some may be so for good by now.
    stack: Vec<Var>,
    /// The heights of the stack at which the open frames begin.
    frames: Vec<usize>,
}

impl Relevance {
    /// Opens a frame.
    pub(crate) fn push(&mut self) {
        self.frames.push(self.stack.len());
    }

    /// Ends the innermost frame, and calls `rest` for the variables that do not matter any more.
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

    /// Whether the variable matters at present.
    pub(crate) fn is_relevant(&self, var: Var) -> bool {
        self.scopes.get(var.index()).is_some_and(Option::is_some)
    }

    /// Takes note that a variable matters. Outside of all frames it does so for good. Returns whether that is news.
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
