//! The search for tables, in turns: several attempts go on side by side, with more and more tables in a turn.
//!
//! An attempt fixes what the tables are for: a partition of the integers, or also a choice of arguments that are read together. It
//! ends with tables whose least model violates no query, or at its limits.

use shofar_run::{Poll, Stop};

use super::automaton::{Algebra, Signature, Tuple};
use super::fixpoint::{Outcome, Program, least_model};
use super::tables::{Candidate, TableSearch};
use crate::Run;

/// Derivations from which tables are excluded after one fixpoint.
const MOST_REASONS: usize = 3;

/// The number of tables in an attempt's first turn; it doubles with each turn.
const FIRST_TURN: u64 = 64;

/// A search with one signature and one program.
pub(super) trait Attempt {
    /// What tables and facts become.
    type Invariant;

    /// The search for tables, the clauses, and the constructors.
    fn parts(&mut self) -> (&mut TableSearch, &Program, &Signature);

    /// Tables whose least model, the facts by predicates, violates no query.
    fn invariant(self, algebra: Algebra, facts: Vec<Vec<Tuple>>) -> Self::Invariant;
}

/// The attempts of a run that go on.
pub(super) struct Turns<'a, A> {
    run: &'a Run<'a>,
    /// How many steps a least model takes at most.
    steps: u64,
    length: u64,
    open: Vec<A>,
    /// The tables that were tried, and the reasons that were excluded.
    tried: u64,
    excluded: u64,
    /// The greatest sum of bounds.
    states: usize,
}

impl<'a, A: Attempt> Turns<'a, A> {
    pub(super) fn new(run: &'a Run<'a>, steps: u64) -> Self {
        Turns { run, steps, length: FIRST_TURN, open: Vec::new(), tried: 0, excluded: 0, states: 0 }
    }

    /// The turns after the first, until an attempt succeeds or all are at their limits.
    pub(super) fn finish(&mut self) -> Result<Option<A::Invariant>, Stop> {
        while !self.open.is_empty() {
            self.length *= 2;
            for attempt in std::mem::take(&mut self.open) {
                if let Some(invariant) = self.turn(attempt)? {
                    return Ok(Some(invariant));
                }
            }
        }
        Ok(None)
    }

    /// Tries some tables. An attempt that is neither successful nor at its limits goes on later.
    pub(super) fn turn(&mut self, mut attempt: A) -> Result<Option<A::Invariant>, Stop> {
        let (tables, program, signature) = attempt.parts();
        let poll = Poll::new(&self.run.limits);
        for _ in 0..self.length {
            self.run.go_on()?;
            self.states = self.states.max(tables.bounds().iter().sum());
            let Candidate::Tables(algebra) = tables.candidate(&self.run.limits)? else {
                self.run.tell_progress(self.states as u64, self.counters());
                if tables.grow() {
                    continue;
                }
                return Ok(None);
            };
            self.tried += 1;
            match least_model(program, signature, &algebra, self.steps, &poll)? {
                Outcome::Model(facts) => return Ok(Some(attempt.invariant(algebra, facts))),
                Outcome::Violated(reasons) => {
                    for reads in reasons.iter().take(MOST_REASONS) {
                        tables.exclude(&algebra, reads);
                        self.excluded += 1;
                    }
                }
                Outcome::TooLarge => return Ok(None),
            }
        }
        self.open.push(attempt);
        Ok(None)
    }

    pub(super) fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![("states", self.states as u64), ("tables", self.tried), ("excluded", self.excluded)]
    }
}
