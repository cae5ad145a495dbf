//! Bad states without local variables.
//!
//! An engine that denies the bad states needs them as a formula over a state alone. Local variables are eliminated where this
//! takes little effort. Where it does not succeed, a *flag* joins the state, a truth value that says that a bad state was
//! left, and one more step sets it:
//!
//! ```text
//! Init(x)        Init(x), not f
//! T(x, x')       not f, and T(x, x'), not f'  or  Bad(x), f'
//! Bad(x)         f
//! ```
//!
//! The local variables are those of a transition then, where all engines have to expect them. Paths get one step longer.
//! An inductive invariant `I(x, f)` of the new system that excludes `f` gives `I(x, false)` for the old one: it is inductive
//! without the flag, and a bad state in it would have a successor in `I` with the flag.

use shofar_horn::TransitionSystem;
use shofar_logic::{Sort, Substitution, Term, TermStore, Value};

use crate::Run;
use crate::eliminate::with_few_locals;

/// A transition system whose bad states have no local variables, in the place of another one.
pub(crate) struct Flagged {
    pub(crate) system: TransitionSystem,
    /// The flag, if one is needed. It comes last in a state.
    flag: Option<Term>,
}

impl Flagged {
    /// A system that says the same, with a flag only where the local variables stay.
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

    /// The invariant of the system in whose place this one is.
    pub(crate) fn invariant(&self, store: &TermStore, invariant: Term) -> Term {
        let Some(flag) = self.flag else { return invariant };
        let lowered: Substitution = [(flag, Term::FALSE)].into_iter().collect();
        store.instantiate(invariant, &lowered)
    }

    /// The path, to a bad state, in the system in whose place this one is.
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
