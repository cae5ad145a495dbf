//! k-induction.
//!
//! A system is safe if no run is bad in its first k steps, and a step after k steps without bad is not bad either. The
//! first is bounded model checking; the second is a query on an unrolling that starts in any state. The certificate is
//! ¬bad with depth k.
//!
//! Not every safe system has such a k: a path outside of the reachable states may loop as long as it likes before it
//! turns bad. It can be required to be *simple*: no state occurs twice. A shortest path to bad is simple, so this is
//! sound, and it is complete, as simple paths are bounded. But such a proof is not an inductive invariant, and the
//! checker has no rule for it. So a proof by simple paths is not an answer: the engine then stops, as larger depths only
//! repeat it. Disequalities of states are added when a path violates them.
//!
//! M. Sheeran, S. Singh, G. Stålmarck, "Checking Safety Properties Using Induction and a SAT-Solver" (FMCAD 2000);
//! N. Eén, N. Sörensson, "Temporal Induction by Incremental SAT Solving" (BMC 2003).

use shofar_run::{Limits, Stop};
use shofar_smt::sat::Lit;

use crate::aig::Edge;
use crate::bmc::{Bmc, safe_without_search};
use crate::evidence::{Evidence, Invariant};
use crate::exchange::{Clause, Exchange, Reader};
use crate::simulate::replay;
use crate::system::BitSystem;
use crate::unroll::{Links, Start, Unrolling};

/// Why the engine stops when only simple paths are excluded.
const NOT_CERTIFIED: &str = "the proof by k-induction needs simple paths, so it has no certificate";

/// Searches for a shortest counterexample or a least depth of induction, without end if there is neither.
/// Lemmas of the exchange strengthen the induction, and the certificate.
pub fn run(system: &BitSystem, exchange: &Exchange, limits: &Limits<'_>) -> Result<Evidence, Stop> {
    search(system, false, exchange, limits)
}

/// As [`run`], but ends with [`Stop::Exhausted`] when the longest simple path is reached: the system is safe, but
/// there is no certificate.
pub fn run_with_simple_paths(system: &BitSystem, limits: &Limits<'_>) -> Result<Evidence, Stop> {
    search(system, true, &Exchange::default(), limits)
}

fn search(
    system: &BitSystem,
    simple_paths: bool,
    exchange: &Exchange,
    limits: &Limits<'_>,
) -> Result<Evidence, Stop> {
    if let Some(safe) = safe_without_search(system) {
        return Ok(safe);
    }
    let mut bmc = Bmc::new(system);
    bmc.join(exchange);
    let mut step = Step::new(system, Reader::new(exchange));
    for depth in 1.. {
        // Others may know it already.
        if exchange.bound() < depth
            && let Some(trace) = bmc.advance(1, limits)?
        {
            return Ok(Evidence::Unsafe(trace));
        }
        match step.prove(depth, simple_paths, limits)? {
            Proof::Plain => {
                let lemmas = step.lemmas.iter().map(|lemma| lemma.to_vec());
                let clauses = lemmas.chain([vec![!system.bad]]).collect();
                return Ok(Evidence::Safe(Invariant { aig: system.aig.clone(), clauses, depth }));
            }
            Proof::SimplePaths => return Err(Stop::Exhausted(NOT_CERTIFIED)),
            Proof::None => {}
        }
    }
    Err(Stop::Exhausted("the depths are exhausted"))
}

/// What excludes a bad step after steps that are not bad.
enum Proof {
    /// The steps alone.
    Plain,
    /// That they do not repeat a state.
    SimplePaths,
    /// Nothing.
    None,
}

/// The induction step at growing depths.
struct Step<'a> {
    system: &'a BitSystem,
    unrolling: Unrolling<'a>,
    /// Guards the disequalities of states.
    is_simple: Lit,
    /// The positions below are not bad, and the constraints hold there.
    positions: usize,
    exchange: Reader<'a>,
    lemmas: Vec<Clause>,
}

impl<'a> Step<'a> {
    fn new(system: &'a BitSystem, exchange: Reader<'a>) -> Self {
        let mut unrolling = Unrolling::new(system, Start::Any, Links::Substituted);
        let is_simple = unrolling.new_literal();
        Self { system, unrolling, is_simple, positions: 0, exchange, lemmas: Vec::new() }
    }

    /// Asks whether position `depth` can be bad after `depth` positions that are not. Depths must not decrease.
    fn prove(&mut self, depth: usize, simple_paths: bool, limits: &Limits<'_>) -> Result<Proof, Stop> {
        while self.positions < depth {
            self.unrolling.assert_constraints(self.positions);
            self.unrolling.assert(self.positions, !self.system.bad);
            self.positions += 1;
        }
        self.unrolling.assert_constraints(depth);
        self.take_lemmas(depth);
        let bad = self.unrolling.literal(depth, self.system.bad);
        if !self.unrolling.is_satisfiable(&[bad], limits)? {
            return Ok(Proof::Plain);
        }
        // The plain model is the first path to be made simple.
        while simple_paths && self.require_difference(depth) {
            if !self.unrolling.is_satisfiable(&[self.is_simple, bad], limits)? {
                return Ok(Proof::SimplePaths);
            }
        }
        Ok(Proof::None)
    }

    /// Adds the lemmas of the exchange: all of them at the last position, new ones at all positions.
    fn take_lemmas(&mut self, last: usize) {
        let known = self.lemmas.len();
        self.lemmas.extend(self.exchange.news());
        for position in 0..=last {
            let from = if position == last { 0 } else { known };
            for lemma in &self.lemmas[from..] {
                let lits: Vec<Lit> =
                    lemma.iter().map(|&edge| self.unrolling.literal(position, edge)).collect();
                self.unrolling.add_clause(position, &lits);
            }
        }
    }

    /// Adds the disequalities that the path of the last model violates; returns whether there were any.
    fn require_difference(&mut self, depth: usize) -> bool {
        let states: Vec<Vec<bool>> = self.states(depth);
        let mut order: Vec<usize> = (0..states.len()).collect();
        order.sort_by(|&p, &q| states[p].cmp(&states[q]).then(p.cmp(&q)));
        let equal: Vec<(usize, usize)> = order
            .windows(2)
            .filter(|pair| states[pair[0]] == states[pair[1]])
            .map(|pair| (pair[0], pair[1]))
            .collect();
        equal.iter().for_each(|&(p, q)| self.separate(p, q));
        !equal.is_empty()
    }

    /// The states of the path of the last model.
    fn states(&self, depth: usize) -> Vec<Vec<bool>> {
        let latches = 1..=self.system.num_latches();
        let steps = replay(self.system, &self.unrolling.trace(depth)).values;
        steps.into_iter().map(|values| values[latches.clone()].to_vec()).collect()
    }

    /// Requires of simple paths that two positions differ in a latch.
    fn separate(&mut self, p: usize, q: usize) {
        let mut clause = vec![!self.is_simple];
        for latch in 0..self.system.num_latches() {
            let edge = Edge::from(self.system.latch(latch));
            let (at_p, at_q) = (self.unrolling.literal(p, edge), self.unrolling.literal(q, edge));
            if at_p == at_q {
                continue;
            }
            let differ = self.unrolling.new_literal();
            self.unrolling.add_clause(q, &[!differ, at_p, at_q]);
            self.unrolling.add_clause(q, &[!differ, !at_p, !at_q]);
            clause.push(differ);
        }
        self.unrolling.add_clause(q, &clause);
    }
}

#[cfg(test)]
mod tests {
    use shofar_testing::Random;
    use shofar_testing::scale::numbers;

    use super::*;
    use crate::common::shortest_in_system;
    use crate::explicit::{counter, judge, random_system};

    #[test]
    fn answers_agree_with_explicit_search() {
        let mut random = Random::new(11);
        let (mut deep, mut uncertified) = (0, 0);
        for number in numbers(1500) {
            let system = random_system(&mut random, 5, 3, 20);
            let shortest = shortest_in_system(&system);
            match run_with_simple_paths(&system, &Limits::default()) {
                Ok(evidence) => {
                    let judged = judge(&system, &evidence, shortest);
                    assert_eq!(judged, Ok(()), "system {number}: {system:?}");
                    match evidence {
                        Evidence::Unsafe(trace) => assert_eq!(shortest, Some(trace.length())),
                        Evidence::Safe(invariant) => deep += usize::from(invariant.depth > 1),
                    }
                }
                Err(stop) => {
                    assert_eq!(stop, Stop::Exhausted(NOT_CERTIFIED));
                    assert_eq!(shortest, None, "system {number}");
                    uncertified += 1;
                }
            }
        }
        assert!(deep > 10 && uncertified > 10, "{deep} {uncertified}");
    }

    #[test]
    fn a_constraint_on_the_last_step_is_part_of_the_rule() {
        // Bad is the input, which the constraint keeps low.
        let mut system = counter(1, true);
        system.bad = system.input(0).into();
        system.constraints = vec![!system.bad];
        let Ok(Evidence::Safe(invariant)) = run(&system, &Exchange::default(), &Limits::default()) else {
            panic!("it is safe")
        };
        assert_eq!(invariant.depth, 1);
    }
}
