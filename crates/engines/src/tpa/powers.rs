//! Abstract powers of the transition relation.
//!
//! An element stands for the paths whose length compares with `2^n` in a given way ([`Count`]):
//!
//! ```text
//! at most     ATr<=n  contains  Id, Tr, Tr^2, .., Tr^(2^n)          ATr<=0 = Id or Tr
//! below       ATr<n   contains  Id, Tr, Tr^2, .., Tr^(2^n - 1)      ATr<0  = Id
//! exactly     ATr=n   contains  Tr^(2^n)                            ATr=0  = Tr
//! ```
//!
//! - A1: elements contain the relations of the table; those of level 0 are exact.
//! - A2: an element of a higher level is a conjunction of lemmas over two states, without other variables. It starts as
//!   `true` and only becomes stronger.
//!
//! A lemma of level `n + 1` follows from the composition of two elements of level `n` ([`Count::halves`]), which keeps
//! A1. The compositions are `ATr<=n` with itself, `ATr=n` with itself, and `ATr<n` alone or followed by `ATr=n`.

use shofar_horn::TransitionSystem;
use shofar_logic::{Term, TermStore};

use crate::unroll::{Template, fresh_vector};

/// The exponent of a power.
pub(super) type Level = usize;

/// How the number of steps compares with the power of two of a level.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Count {
    /// At most `2^n`: TPA.
    AtMost,
    /// Fewer than `2^n`: split-TPA.
    Below,
    /// Exactly `2^n`: split-TPA.
    Exactly,
}

impl Count {
    /// The elements, one level below, that compose a path of this count. For [`Below`](Self::Below) the second one is
    /// optional.
    pub(super) fn halves(self) -> (Count, Count) {
        match self {
            Count::AtMost => (Count::AtMost, Count::AtMost),
            Count::Below => (Count::Below, Count::Exactly),
            Count::Exactly => (Count::Exactly, Count::Exactly),
        }
    }
}

/// Vectors of variables for the states of a path, in the order of the path.
pub(super) struct Vectors {
    /// The first state, as in the system.
    pub(super) state: Box<[Term]>,
    pub(super) middle: Box<[Term]>,
    pub(super) later: Box<[Term]>,
    /// The last state, as in the system.
    pub(super) next: Box<[Term]>,
}

/// The elements of all levels, over the first and the last of the [`Vectors`].
pub(super) struct Powers<'a> {
    store: &'a TermStore,
    pub(super) vectors: Vectors,
    transition: Template,
    /// The lemmas without duplicates, indexed by count and by level from 1 on.
    lemmas: [Vec<Vec<Term>>; 3],
}

impl<'a> Powers<'a> {
    /// Elements of level 0 are exact, all others are `true`.
    pub(super) fn new(store: &'a TermStore, system: &TransitionSystem) -> Self {
        let TransitionSystem { state, next, transition, .. } = system;
        let vectors = Vectors {
            state: state.clone(),
            middle: fresh_vector(store, state, "middle"),
            later: fresh_vector(store, state, "later"),
            next: next.clone(),
        };
        let transition = Template::new(store, *transition, &[state, next]);
        Powers { store, vectors, transition, lemmas: Default::default() }
    }

    /// The formula that two states are equal.
    pub(super) fn identity(&self, from: &[Term], to: &[Term]) -> Term {
        self.store.and_of(from.iter().zip(to).map(|(&from, &to)| self.store.eq(from, to)))
    }

    /// The formula that a state is a successor of another one.
    pub(super) fn transition(&self, from: &[Term], to: &[Term]) -> Term {
        let Vectors { state, next, .. } = &self.vectors;
        self.transition.copy(self.store, &[(state, from), (next, to)])
    }

    /// The lemmas of an element of a level above 0, in the order in which they were found.
    pub(super) fn lemmas(&self, count: Count, level: Level) -> &[Term] {
        let index = level.checked_sub(1);
        index.and_then(|index| self.lemmas[count as usize].get(index)).map_or(&[], Vec::as_slice)
    }

    /// Strengthens an element of a level above 0. Each conjunct becomes a lemma.
    pub(super) fn strengthen(&mut self, count: Count, level: Level, lemma: Term) {
        tracing::debug!(count = count as usize, level, lemma = %self.store.display(lemma), "lemma");
        let elements = &mut self.lemmas[count as usize];
        if elements.len() < level {
            elements.resize_with(level, Vec::new);
        }
        for part in self.store.conjuncts(lemma) {
            if !elements[level - 1].contains(&part) {
                elements[level - 1].push(part);
            }
        }
    }

    /// An element as one formula over two states.
    pub(super) fn element(&self, count: Count, level: Level, from: &[Term], to: &[Term]) -> Term {
        let store = self.store;
        match (level, count) {
            (0, Count::AtMost) => store.or2(self.identity(from, to), self.transition(from, to)),
            (0, Count::Below) => self.identity(from, to),
            (0, Count::Exactly) => self.transition(from, to),
            _ => store.and_of(self.lemmas(count, level).iter().map(|&lemma| self.between(lemma, from, to))),
        }
    }

    /// Renames a formula over the first and the last state to two other states.
    pub(super) fn between(&self, lemma: Term, from: &[Term], to: &[Term]) -> Term {
        let Vectors { state, next, .. } = &self.vectors;
        let both = |a: &[Term], b: &[Term]| [a, b].concat();
        shofar_horn::graph::rename(self.store, lemma, &both(state, next), &both(from, to))
    }
}
