//! Interpolation-based model checking.
//!
//! R is a set of states that contains the initial ones. If no path of at most k steps from R after the first one is
//! bad, the refutation has an interpolant I between the first step and the rest:
//!
//! ```text
//! A = R ∧ C ∧ T                     at position 0
//! B = bad at one of 1..=k, and C up to there
//! A ⇒ I' and I ⇒ ¬B:                a successor of R is in I, and from I no bad state is less than k steps away
//! ```
//!
//! R grows by I until I adds nothing: then R is an invariant. If the path exists, it is a counterexample as long as R
//! holds the initial states only; otherwise R has grown too large, and the search starts again with a larger k. From
//! some k on, no state of R reaches a bad one, so R converges: the method is complete.
//!
//! K. L. McMillan, "Interpolation and SAT-Based Model Checking" (CAV 2003).

use shofar_run::{Limits, Stop};

use crate::aig::{Builder, Edge};
use crate::bmc::{Bmc, bads, first_bad, safe_without_search};
use crate::evidence::{Evidence, Invariant, Trace};
use crate::interpolate::{Labelling, interpolants};
use crate::system::BitSystem;
use crate::unroll::{Links, Start, Unrolling};

/// Searches for a counterexample or an invariant.
pub fn run(system: &BitSystem, labelling: Labelling, limits: &Limits<'_>) -> Result<Evidence, Stop> {
    if let Some(safe) = safe_without_search(system) {
        return Ok(safe);
    }
    if let Some(trace) = Bmc::new(system).advance(1, limits)? {
        return Ok(Evidence::Unsafe(trace));
    }
    let search = Search { system, labelling, limits };
    for bound in 1.. {
        if let Some(evidence) = search.with_bound(bound)? {
            return Ok(evidence);
        }
    }
    Err(Stop::Exhausted("the bounds are exhausted"))
}

struct Search<'a> {
    system: &'a BitSystem,
    labelling: Labelling,
    limits: &'a Limits<'a>,
}

/// The answer for the paths from a set of states.
enum Image {
    /// One of them is bad.
    Bad(Trace),
    /// None of them is; an interpolant.
    Within(Edge),
}

impl Search<'_> {
    /// Grows the set of states with one bound. `None` if the bound is too small.
    fn with_bound(&self, bound: usize) -> Result<Option<Evidence>, Stop> {
        let system = self.system;
        let mut builder = Builder::with_leaves(system.num_latches() + system.num_inputs);
        let resets = system.resets.iter().enumerate();
        let initial = resets.filter_map(|(latch, reset)| Some(system.latch(latch).edge(!(*reset)?)));
        let mut states = builder.and_all(initial.collect::<Vec<Edge>>());
        for round in 0.. {
            let from = (round > 0).then_some(states);
            match self.image(from, bound, &mut builder)? {
                Image::Bad(trace) => return Ok((round == 0).then_some(Evidence::Unsafe(trace))),
                Image::Within(image) => {
                    if self.implies(&builder, image, states)? {
                        let clauses = vec![vec![states]];
                        let invariant = Invariant { aig: builder.into_aig(), clauses, depth: 1 };
                        return Ok(Some(Evidence::Safe(invariant)));
                    }
                    states = builder.or(states, image);
                }
            }
        }
        Ok(None)
    }

    /// Whether a path from these states, or from the initial ones, is bad at one of the positions 1 to `bound`.
    fn image(&self, from: Option<Edge>, bound: usize, builder: &mut Builder) -> Result<Image, Stop> {
        let start = if from.is_some() { Start::Any } else { Start::Reset };
        let mut unrolling = Unrolling::with_proofs(self.system, start, Links::Tied);
        if let Some(states) = from {
            let lit = unrolling.literal_over(0, builder.aig(), states);
            unrolling.add_clause(0, &[lit]);
        }
        unrolling.assert_constraints(0);
        let hits = bads(&mut unrolling, 1..bound + 1, self.limits)?;
        unrolling.add_clause(1, &hits);
        if unrolling.is_satisfiable(&[], self.limits)? {
            return Ok(Image::Bad(unrolling.trace(first_bad(&unrolling, 1..bound + 1))));
        }
        let edges = interpolants(&unrolling, 1..=1, self.labelling, builder, self.limits)?;
        Ok(Image::Within(edges[0]))
    }

    /// Whether a set of states is in another.
    fn implies(&self, builder: &Builder, states: Edge, others: Edge) -> Result<bool, Stop> {
        let mut unrolling = Unrolling::new(self.system, Start::Any, Links::Tied);
        let inside = unrolling.literal_over(0, builder.aig(), states);
        let outside = unrolling.literal_over(0, builder.aig(), !others);
        Ok(!unrolling.is_satisfiable(&[inside, outside], self.limits)?)
    }
}

#[cfg(test)]
mod tests {
    use shofar_testing::Random;
    use shofar_testing::scale::numbers;

    use super::*;
    use crate::common::shortest_in_system;
    use crate::explicit::{counter, is_inductive, judge, random_system};

    #[test]
    fn answers_agree_with_explicit_search() {
        let mut random = Random::new(17);
        for number in numbers(600) {
            let system = random_system(&mut random, 4, 2, 20);
            let shortest = shortest_in_system(&system);
            for labelling in [Labelling::McMillan, Labelling::Pudlak] {
                let evidence = run(&system, labelling, &Limits::default()).expect("it is complete");
                assert_eq!(judge(&system, &evidence, shortest), Ok(()), "system {number}: {system:?}");
                if let Evidence::Unsafe(trace) = evidence {
                    assert_eq!(shortest, Some(trace.length()), "system {number}");
                }
            }
        }
    }

    #[test]
    fn a_counter_that_skips_bad_is_safe() {
        // It counts up to 11 and starts again.
        let mut system = counter(4, true);
        let mut builder = Builder::on(system.aig.clone());
        let latch = |index: usize| Edge::from(system.latch(index));
        let is_eleven = builder.and_all([latch(0), latch(1), !latch(2), latch(3)]);
        system.next = system.next.iter().map(|&next| builder.and(next, !is_eleven)).collect();
        system.aig = builder.into_aig();
        for labelling in [Labelling::McMillan, Labelling::Pudlak] {
            let Ok(Evidence::Safe(invariant)) = run(&system, labelling, &Limits::default()) else {
                panic!("it is safe")
            };
            assert!(is_inductive(&system, &invariant));
        }
    }
}
