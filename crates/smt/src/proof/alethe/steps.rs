//! The steps of a proof under construction.
//!
//! They are kept until all are known, so that useless steps are not written, and the number of uses decides which terms
//! get names (`text.rs`).

use std::fmt;

use rustc_hash::FxHashSet;
use shofar_logic::{Term, TermStore};

use super::derive::{Literal, formula, literal, negation};
use super::expand::Expander;

/// The name of an assumption or a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Name {
    Assumption(usize),
    Step(usize),
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Name::Assumption(index) => write!(f, "h{index}"),
            Name::Step(index) => write!(f, "t{index}"),
        }
    }
}

/// An argument of a rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Arg {
    Term(Term),
    /// A number, or whether a pivot is affirmed.
    Text(String),
}

impl Arg {
    /// The position of an argument of a conjunction or disjunction.
    pub(super) fn position(position: usize) -> Arg {
        Arg::Text(position.to_string())
    }
}

/// A clause with its rule.
pub(super) struct Step {
    pub(super) clause: Box<[Term]>,
    pub(super) rule: &'static str,
    pub(super) premises: Box<[Name]>,
    pub(super) args: Box<[Arg]>,
}

/// Assumptions and steps in their order.
pub(super) struct Steps<'p> {
    store: &'p TermStore,
    expander: &'p Expander<'p>,
    pub(super) assumed: Vec<Term>,
    pub(super) steps: Vec<Step>,
}

impl<'p> Steps<'p> {
    pub(super) fn new(store: &'p TermStore, expander: &'p Expander<'p>) -> Self {
        Steps { store, expander, assumed: Vec::new(), steps: Vec::new() }
    }

    pub(super) fn assume(&mut self, formula: Term) -> Name {
        self.assumed.push(formula);
        Name::Assumption(self.assumed.len() - 1)
    }

    pub(super) fn step(
        &mut self,
        clause: &[Term],
        rule: &'static str,
        premises: &[Name],
        args: &[Arg],
    ) -> Name {
        self.steps.push(Step { clause: clause.into(), rule, premises: premises.into(), args: args.into() });
        Name::Step(self.steps.len() - 1)
    }

    /// The steps that the last one depends on. All assumptions stay: they are what is refuted.
    pub(super) fn needed(&self) -> Vec<bool> {
        let mut is_needed = vec![false; self.steps.len()];
        is_needed.last_mut().into_iter().for_each(|last| *last = true);
        for (at, step) in self.steps.iter().enumerate().rev() {
            if is_needed[at] {
                for premise in &step.premises {
                    if let Name::Step(index) = *premise {
                        is_needed[index] = true;
                    }
                }
            }
        }
        is_needed
    }

    /// A step for a clause with all literals of another one, if it has more.
    pub(super) fn weaken(&mut self, name: Name, wanted: &[Literal]) -> Name {
        let clause = match name {
            Name::Assumption(index) => &self.assumed[index..=index],
            Name::Step(index) => &self.steps[index].clause[..],
        };
        let known: FxHashSet<Term> = clause.iter().map(|&formula| self.expander.expand(formula)).collect();
        let missing = wanted.iter().filter(|literal| !known.contains(&self.expander.seen(**literal)));
        let missing: Vec<Term> = missing.map(|&literal| formula(self.store, literal)).collect();
        if missing.is_empty() {
            return name;
        }
        let all = [clause, &missing[..]].concat();
        self.step(&all, "weakening", &[name], &[])
    }

    /// A step for the clause of another one without double negations and repetitions.
    pub(super) fn without_double_negations(&mut self, mut name: Name, clause: &[Term]) -> Name {
        let store = self.store;
        let mut clause: Vec<Term> = clause.to_vec();
        let mut seen = FxHashSet::default();
        if !clause.iter().all(|formula| seen.insert(*formula)) {
            clause.sort_unstable();
            clause.dedup();
            name = self.step(&clause, "contraction", &[name], &[]);
        }
        loop {
            let (mut premises, mut args) = (vec![name], Vec::new());
            for doubled in clause.iter_mut().filter(|formula| literal(store, **formula).1 > 1) {
                let [denied, inner] = [negation(store, *doubled), store.args(store.args(*doubled)[0])[0]];
                premises.push(self.step(&[denied, inner], "not_not", &[], &[]));
                args.extend(pivot_args((*doubled, true)));
                *doubled = inner;
            }
            if premises.len() == 1 {
                return name;
            }
            clause.sort_unstable();
            clause.dedup();
            name = self.step(&clause, "resolution", &premises, &args);
        }
    }
}

/// A pivot, which is a literal of the clause so far.
pub(super) fn pivot_args((atom, holds): Literal) -> [Arg; 2] {
    [Arg::Term(atom), Arg::Text(holds.to_string())]
}
