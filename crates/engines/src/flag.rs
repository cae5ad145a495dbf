//! Bad states without local variables.
//!
//! An engine that negates the bad states needs them as a formula over the state alone. Local variables are eliminated
//! if this takes little effort. If it fails, the state gets a *flag*, a Boolean that means "a bad state was left", and
//! one more step sets it:
//!
//! ```text
//! Init(x)        Init(x), not f
//! T(x, x')       not f, and T(x, x'), not f'  or  Bad(x), f'
//! Bad(x)         f
//! ```
//!
//! The local variables now belong to a transition, where all engines expect them. Paths get one step longer. An
//! inductive invariant `I(x, f)` of the new system that excludes `f` gives `I(x, false)` for the old one: it is
//! inductive without the flag, and a bad state in it would have a successor in `I` with the flag.

use shofar_horn::TransitionSystem;
use shofar_logic::{Sort, Substitution, Term, TermStore, Value};

use crate::Run;
use crate::eliminate::with_few_locals;

/// A transition system whose bad states have no local variables, equivalent to the original one.
pub(crate) struct Flagged {
    pub(crate) system: TransitionSystem,
    /// The flag, if one is needed. It is the last variable of a state.
    flag: Option<Term>,
}

impl Flagged {
    /// An equivalent system, with a flag only if local variables remain.
    pub(crate) fn of(run: &Run<'_>, system: &TransitionSystem) -> Self {
        let bad = with_few_locals(run, system.bad, &system.state);
        if run.store.free_vars(&[bad]).iter().all(|variable| system.state.contains(variable)) {
            return Flagged { system: TransitionSystem { bad, ..system.clone() }, flag: None };
        }
        Self::with_flag(run.store, system)
    }

    /// The system with a flag.
    pub(crate) fn with_flag(store: &TermStore, system: &TransitionSystem) -> Self {
        let TransitionSystem { state, next, init, transition, bad } = system;
        let [flag, flag_next] = ["flag", "flag'"].map(|name| store.var(store.fresh_symbol(name), Sort::BOOL));
        let step = store.and2(*transition, store.not(flag_next));
        let end = store.and2(*bad, flag_next);
        let system = TransitionSystem {
            state: state.iter().copied().chain([flag]).collect(),
            next: next.iter().copied().chain([flag_next]).collect(),
            init: store.and2(*init, store.not(flag)),
            transition: store.and2(store.not(flag), store.or2(step, end)),
            bad: flag,
        };
        Flagged { system, flag: Some(flag) }
    }

    /// The flag, if the system has one.
    pub(crate) fn flag(&self) -> Option<Term> {
        self.flag
    }

    /// Maps an invariant back to the original system.
    pub(crate) fn invariant(&self, store: &TermStore, invariant: Term) -> Term {
        let Some(flag) = self.flag else { return invariant };
        let lowered: Substitution = [(flag, Term::FALSE)].into_iter().collect();
        store.instantiate(invariant, &lowered)
    }

    /// Maps a path to a bad state back to the original system.
    pub(crate) fn path(&self, mut states: Vec<Box<[Value]>>) -> Vec<Box<[Value]>> {
        if self.flag.is_none() {
            return states;
        }
        states.pop();
        let without_flag = |state: Box<[Value]>| {
            let mut values = state.into_vec();
            values.pop();
            values.into_boxed_slice()
        };
        states.into_iter().map(without_flag).collect()
    }
}
