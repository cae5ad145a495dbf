//! Bounded model checking by windows: is one of the next `w` positions bad?
//!
//! A counterexample that is longer than necessary may be much easier to find than the proof that nothing shorter exists,
//! which [bounded model checking](crate::bmc) in single steps needs first: a queue that overflows when it is full also
//! overflows after any detour. So the search asks about many positions at once, and gives up soon. All widths share
//! one unrolling and what the solver learns:
//!
//! ```text
//! for turn in T, 2T, 4T, …
//!     for w in 32, 64, …, one more than in the turn before
//!         within this turn: ask about the next w positions, again and again while the answer is negative
//! ```
//!
//! Narrow windows suit counterexamples that need many steps for the same thing, wide ones those that can wait. Where
//! [`split`](crate::split) finds parts, the whole and the first parts are searched by turns: a part is smaller, and its
//! counterexamples are those of the whole.

use shofar_run::{Limits, Reason, Stop};

use crate::bmc::{Bmc, NO_LONGER_RUNS, safe_without_search};
use crate::evidence::{Evidence, Trace};
use crate::exchange::Exchange;
use crate::split::{Turns, split};
use crate::system::BitSystem;

/// The first turn of a width, and that of the whole among parts. Turns are measured in [work](Windows::work).
const FIRST_TURN: u64 = 2_000_000;

/// The work of a variable, in literals propagated.
const WORK_OF_VARIABLE: u64 = 8;

/// The narrowest window.
const NARROWEST: usize = 32;

/// A wider window is opened only while the unrolling has fewer variables.
const MOST_VARIABLES: usize = 1 << 22;

/// The greatest number of parts that are searched.
const MOST_PARTS: usize = 8;

/// Searches for a counterexample, without end.
pub fn run(system: &BitSystem, exchange: &Exchange, limits: &Limits<'_>) -> Result<Evidence, Stop> {
    if let Some(safe) = safe_without_search(system) {
        return Ok(safe);
    }
    let mut whole = Windows::new(system);
    whole.bmc.join(exchange);
    let mut parts = split(system);
    parts.truncate(MOST_PARTS);
    if parts.is_empty() {
        return loop {
            if let Some(trace) = whole.search(u64::MAX, limits)? {
                break Ok(Evidence::Unsafe(trace));
            }
        };
    }
    let mut searches: Vec<Windows<'_>> = parts.iter().map(|part| Windows::new(&part.system)).collect();
    let mut turns = Turns::new(FIRST_TURN);
    loop {
        let (who, work) = turns.next(searches.len());
        let trace = match who {
            None => whole.search(work, limits)?,
            Some(part) => {
                let trace = searches[part].search(work, limits)?;
                trace.map(|trace| parts[part].back.trace_back(&trace))
            }
        };
        if let Some(trace) = trace {
            return Ok(Evidence::Unsafe(trace));
        }
    }
}

/// A search that can be continued.
struct Windows<'a> {
    bmc: Bmc<'a>,
    width: usize,
    widest: usize,
    /// The length of this width's turn, and the work at which it ends.
    turn: u64,
    end: u64,
}

impl<'a> Windows<'a> {
    fn new(system: &'a BitSystem) -> Self {
        let (width, widest) = (NARROWEST, 2 * NARROWEST);
        Self { bmc: Bmc::new(system), width, widest, turn: FIRST_TURN, end: FIRST_TURN }
    }

    /// Literals propagated and variables made so far: encoding a large circuit takes longer than most questions about it.
    fn work(&self) -> u64 {
        self.bmc.statistics().propagations + WORK_OF_VARIABLE * self.bmc.num_variables() as u64
    }

    /// Searches until this much work was done.
    fn search(&mut self, work: u64, limits: &Limits<'_>) -> Result<Option<Trace>, Stop> {
        let end = self.work().saturating_add(work);
        while self.work() < end {
            let left = self.end.min(end) - self.work();
            let limits = Limits { propagations: Some(left), ..*limits };
            match self.bmc.advance(self.width, &limits) {
                Ok(Some(trace)) => return Ok(Some(trace)),
                Ok(None) if self.bmc.has_longer_runs() => {}
                Ok(None) => return Err(Stop::Exhausted(NO_LONGER_RUNS)),
                Err(Stop::Interrupted(Reason::Budget)) => {}
                Err(stop) => return Err(stop),
            }
            if self.work() >= self.end {
                self.end_turn();
            }
        }
        Ok(None)
    }

    /// Goes on to the next width.
    fn end_turn(&mut self) {
        if self.width < self.widest {
            self.width *= 2;
        } else {
            if self.bmc.num_variables() < MOST_VARIABLES {
                self.widest *= 2;
            }
            self.width = NARROWEST;
            self.turn *= 2;
        }
        self.end = self.work() + self.turn;
    }
}

#[cfg(test)]
mod tests {
    use shofar_testing::Random;
    use shofar_testing::scale::numbers;

    use super::*;
    use crate::common::shortest_in_system;
    use crate::explicit::{counter, is_counterexample, random_system};

    #[test]
    fn counterexamples_are_found_where_there_are_any() {
        let mut random = Random::new(71);
        let mut found = 0;
        for number in numbers(600) {
            let system = random_system(&mut random, 5, 3, 20);
            if shortest_in_system(&system).is_none() {
                continue;
            }
            match run(&system, &Exchange::default(), &Limits::default()) {
                Ok(Evidence::Unsafe(trace)) => {
                    assert!(is_counterexample(&system, &trace), "system {number}");
                    found += 1;
                }
                answer => panic!("system {number}: {answer:?}"),
            }
        }
        assert!(found > 20, "{found}");
    }

    /// The counterexample is beyond the first windows of all widths.
    #[test]
    fn windows_are_moved_on() {
        let system = counter(9, true);
        let answer = run(&system, &Exchange::default(), &Limits::default());
        assert!(matches!(answer, Ok(Evidence::Unsafe(trace)) if trace.length() == 511));
    }
}
