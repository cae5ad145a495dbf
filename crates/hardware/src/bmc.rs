//! Bounded model checking.
//!
//! Is there a run of length `n` that ends in a bad state? The question is asked for `n = 0, 1, 2, …` in one
//! incremental solver, which keeps what it learns. After a negative answer the position becomes ordinary: it is not
//! bad, and the constraints hold there, as every longer counterexample has a first bad step.
//!
//! Several positions can be asked about at once. A run must satisfy the constraints up to its bad step but not after
//! it, so the literal `alive` of a position says that the constraints hold up to there, and the question is whether
//! some position is bad and alive. With one position a question, counterexamples are as short as possible.
//!
//! A. Biere, A. Cimatti, E. Clarke, Y. Zhu, "Symbolic Model Checking without BDDs" (TACAS 1999).

use std::ops::Range;

use shofar_run::{Limits, Stop};
use shofar_smt::sat::{Lit, Statistics};

use crate::aig::Edge;
use crate::evidence::{Evidence, Invariant, Trace};
use crate::exchange::{Clause, Exchange, Reader};
use crate::system::BitSystem;
use crate::unroll::{Links, Start, Unrolling};

/// Why a search ends without an answer.
pub(crate) const NO_LONGER_RUNS: &str =
    "no run is longer, but bounded model checking has no certificate for that";

/// Searches for a counterexample, without end, and asks about this many positions at a time. If it is one, the
/// counterexample is a shortest one.
pub fn run(
    system: &BitSystem,
    step: usize,
    exchange: &Exchange,
    limits: &Limits<'_>,
) -> Result<Evidence, Stop> {
    if let Some(safe) = safe_without_search(system) {
        return Ok(safe);
    }
    let mut bmc = Bmc::new(system);
    bmc.join(exchange);
    loop {
        if let Some(trace) = bmc.advance(step.max(1), limits)? {
            return Ok(Evidence::Unsafe(trace));
        }
        if !bmc.has_longer_runs() {
            return Err(Stop::Exhausted(NO_LONGER_RUNS));
        }
    }
}

/// A certificate if bad or a constraint is false everywhere.
pub(crate) fn safe_without_search(system: &BitSystem) -> Option<Evidence> {
    let is_safe = system.bad == Edge::FALSE || system.constraints.contains(&Edge::FALSE);
    is_safe.then(|| {
        Evidence::Safe(Invariant { aig: system.aig.clone(), clauses: vec![vec![!system.bad]], depth: 1 })
    })
}

/// A search that can be continued.
pub struct Bmc<'a> {
    system: &'a BitSystem,
    unrolling: Unrolling<'a>,
    /// The positions below are known not to be bad in any run.
    bound: usize,
    exchange: Option<Reader<'a>>,
    /// What was read there, and the positions below which it was added.
    lemmas: Vec<Clause>,
    end_of_lemmas: usize,
}

impl<'a> Bmc<'a> {
    /// A search that has not begun.
    pub fn new(system: &'a BitSystem) -> Self {
        let unrolling = Unrolling::new(system, Start::Reset, Links::Substituted);
        Self { system, unrolling, bound: 0, exchange: None, lemmas: Vec::new(), end_of_lemmas: 0 }
    }

    /// Takes part in an exchange.
    pub fn join(&mut self, exchange: &'a Exchange) {
        self.exchange = Some(Reader::new(exchange));
    }

    /// No counterexample is shorter than this.
    pub fn bound(&self) -> usize {
        self.bound
    }

    /// The solver's counters.
    pub fn statistics(&self) -> &Statistics {
        self.unrolling.solver().statistics()
    }

    /// The number of the solver's variables.
    pub fn num_variables(&self) -> usize {
        self.unrolling.solver().num_vars()
    }

    /// Whether it is not known that the constraints end all runs before the bound.
    pub fn has_longer_runs(&self) -> bool {
        self.unrolling.solver().is_consistent()
    }

    /// Looks for a counterexample whose last step is one of `step` positions, from the bound on or from that of the exchange.
    /// If it finds nothing, it raises the bound.
    pub fn advance(&mut self, step: usize, limits: &Limits<'_>) -> Result<Option<Trace>, Stop> {
        let known = self.exchange.as_ref().map_or(0, |reader| reader.exchange().bound());
        for position in self.bound..known {
            limits.go_on()?;
            self.exclude_bad(position..position + 1);
        }
        let positions = self.bound..self.bound + step;
        let mut hits = bads(&mut self.unrolling, positions.clone(), limits)?;
        let some = match hits[..] {
            [] => return Ok(None),
            [hit] => hit,
            _ => {
                let some = self.unrolling.new_literal();
                hits.push(!some);
                self.unrolling.add_clause(self.bound, &hits);
                some
            }
        };
        self.take_lemmas(positions.end, limits)?;
        if self.unrolling.is_satisfiable(&[some], limits)? {
            return Ok(Some(self.unrolling.trace(first_bad(&self.unrolling, positions))));
        }
        self.exclude_bad(positions);
        if let Some(reader) = &self.exchange {
            reader.exchange().raise_bound(self.bound);
        }
        Ok(None)
    }

    /// No run is bad at these positions.
    fn exclude_bad(&mut self, positions: Range<usize>) {
        for position in positions {
            self.unrolling.assert_constraints(position);
            self.unrolling.assert(position, !self.system.bad);
            self.bound = position + 1;
        }
    }

    /// Adds the lemmas of the exchange at the positions below the end: new ones at all of them, known ones at those that
    /// are new. A lemma that speaks of nodes without a literal at a position is left out there, as it would make the
    /// unrolling larger.
    fn take_lemmas(&mut self, end: usize, limits: &Limits<'_>) -> Result<(), Stop> {
        let Some(reader) = &mut self.exchange else { return Ok(()) };
        let known = self.lemmas.len();
        self.lemmas.extend(reader.news());
        let old_end = self.end_of_lemmas;
        self.end_of_lemmas = old_end.max(end);
        for position in 0..self.end_of_lemmas {
            limits.go_on()?;
            let from = if position < old_end { known } else { 0 };
            for lemma in &self.lemmas[from..] {
                let lits: Option<Vec<Lit>> =
                    lemma.iter().map(|&edge| self.unrolling.known(position, edge)).collect();
                if let Some(lits) = lits {
                    self.unrolling.add_clause(position, &lits);
                }
            }
        }
        Ok(())
    }
}

/// Literals of which one must be true for a bad position and constraints up to there; a model in which one is true has
/// both. The constraints of the first position are required.
pub(crate) fn bads(
    unrolling: &mut Unrolling<'_>,
    positions: Range<usize>,
    limits: &Limits<'_>,
) -> Result<Vec<Lit>, Stop> {
    let (first, system) = (positions.start, unrolling.system());
    let mut hits: Vec<Lit> = Vec::new();
    let mut alive: Option<Lit> = None;
    for position in positions {
        limits.go_on()?;
        let bad = unrolling.literal_within(position, system.bad, limits)?;
        if position == first {
            unrolling.assert_constraints(position);
            hits.push(bad);
            continue;
        }
        let here = unrolling.new_literal();
        for &edge in &system.constraints {
            let holds = unrolling.literal(position, edge);
            unrolling.add_clause(position, &[!here, holds]);
        }
        if let Some(before) = alive.replace(here) {
            unrolling.add_clause(position, &[!here, before]);
        }
        let hit = unrolling.new_literal();
        unrolling.add_clause(position, &[!hit, bad]);
        unrolling.add_clause(position, &[!hit, here]);
        hits.push(hit);
    }
    Ok(hits)
}

/// The first bad position of the last model, in which one of the [`bads`] is true.
pub(crate) fn first_bad(unrolling: &Unrolling<'_>, mut positions: Range<usize>) -> usize {
    let (last, bad) = (positions.end - 1, unrolling.system().bad);
    positions.find(|&position| unrolling.value(position, bad)).unwrap_or(last)
}

#[cfg(test)]
mod tests {
    use shofar_testing::Random;
    use shofar_testing::scale::numbers;

    use super::*;
    use crate::common::shortest_in_system;
    use crate::explicit::{counter, is_counterexample, random_system};
    use crate::windows;

    /// Searches up to a length that no shortest counterexample of the system exceeds.
    fn search(system: &BitSystem, step: usize) -> Option<Trace> {
        let mut bmc = Bmc::new(system);
        while bmc.bound() <= 1 << system.num_latches() {
            if let Some(trace) = bmc.advance(step, &Limits::default()).unwrap() {
                return Some(trace);
            }
        }
        None
    }

    #[test]
    fn counterexamples_are_found_and_shortest_in_single_steps() {
        let mut random = Random::new(7);
        let mut lengths = [0; 6];
        for number in numbers(3000) {
            let system = random_system(&mut random, 5, 3, 20);
            let expected = shortest_in_system(&system);
            for step in [1, 3, 10] {
                let trace = search(&system, step);
                assert_eq!(
                    trace.is_some(),
                    expected.is_some(),
                    "system {number} in steps of {step}: {system:?}"
                );
                let Some(trace) = trace else { continue };
                assert!(is_counterexample(&system, &trace), "system {number} in steps of {step}: {system:?}");
                assert!(step > 1 || Some(trace.length()) == expected, "system {number}");
            }
            lengths[expected.map_or(5, |length| length.min(4))] += 1;
        }
        assert!(lengths.iter().all(|&count| count > 5), "{lengths:?}");
    }

    #[test]
    fn a_counter_reaches_all_ones() {
        for bits in [4, 6] {
            let system = counter(bits, true);
            let Ok(Evidence::Unsafe(trace)) = run(&system, 1, &Exchange::default(), &Limits::default())
            else {
                panic!("it is unsafe")
            };
            assert_eq!(trace.length(), (1 << bits) - 1);
            assert!(is_counterexample(&system, &trace));
        }
    }

    /// In single steps, and by windows.
    fn both(system: &BitSystem, limits: &Limits<'_>) -> [Result<Evidence, Stop>; 2] {
        [run(system, 1, &Exchange::default(), limits), windows::run(system, &Exchange::default(), limits)]
    }

    #[test]
    fn a_constraint_that_ends_all_runs_ends_the_search() {
        // A latch from 0 that becomes and stays 1; it is bad, but must be 0.
        let mut system = counter(1, false);
        system.next = vec![Edge::TRUE];
        system.constraints = vec![!Edge::from(system.latch(0))];
        for answer in both(&system, &Limits::default()) {
            assert!(matches!(answer, Err(Stop::Exhausted(_))));
        }
        system.constraints.clear();
        let [shortest, any] = both(&system, &Limits::default());
        assert!(matches!(shortest, Ok(Evidence::Unsafe(trace)) if trace.length() == 1));
        assert!(matches!(any, Ok(Evidence::Unsafe(trace)) if is_counterexample(&system, &trace)));
    }

    #[test]
    fn limits_end_the_search() {
        let mut system = counter(3, true);
        // Never enabled, so safe, but bounded model checking does not see it.
        system.constraints = vec![!Edge::from(system.input(0))];
        let deadline = std::time::Instant::now().checked_add(std::time::Duration::from_millis(50));
        for answer in both(&system, &Limits { deadline, ..Limits::default() }) {
            assert_eq!(answer, Err(Stop::Interrupted(shofar_run::Reason::Deadline)));
        }
    }
}
