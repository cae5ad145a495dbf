//! Reductions: smaller systems with the same answers, and the way back.
//!
//! A reduction finds facts, equalities of edges that hold in every step of every run, and rebuilds the system
//! with one edge for all that are equal. Runs of both systems correspond step by step, so verdicts and the lengths of
//! counterexamples stay. The way back adds the facts to the invariant.
//!
//! ```text
//! rebuild.rs      the sequential cone of bad and constraints, hashed and rewritten; the way back
//! constants.rs    latches that never change, by ternary simulation
//! latches.rs      latches with equal resets and next functions
//! sweep.rs        nodes that are equal in all states
//! correspond.rs   latches and nodes that are equal in all reachable states, by induction
//! classes.rs, merge.rs, cnf.rs    what the last two share: candidates, proofs, clauses
//! ```
//!
//! R1: the facts E of a reduction satisfy: Reset ⇒ E, and E ∧ C ∧ T ⇒ E', with C the constraints. They may *not* use
//! the constraints of step 0, or those of the next step (C'). Otherwise a constraint could prove the fact that
//! simplifies it to true, and the reduced system would have lost it. With R1, if E holds up to a step of a run, then the
//! constraints of both systems agree there, so E holds in the next step.

mod classes;
mod cnf;
mod constants;
mod correspond;
mod latches;
mod merge;
mod rebuild;
mod sweep;

use std::time::{Duration, Instant};

use shofar_run::Limits;

use crate::evidence::{Evidence, Invariant, Trace};
use crate::system::BitSystem;

pub use rebuild::{Back, cone};

/// The longest time for all reductions.
const LONGEST: Duration = Duration::from_secs(2);

/// All reductions take at most this share of the time that is left.
const SHARE: u32 = 10;

/// A reduced system and the way back.
#[derive(Clone, Debug)]
pub struct Reduced {
    /// The system.
    pub system: BitSystem,
    /// The way back.
    pub back: WayBack,
}

/// The way back through several reductions.
#[derive(Clone, Default, Debug)]
pub struct WayBack {
    /// By reductions, in the order in which they were applied.
    steps: Vec<Back>,
}

impl WayBack {
    /// A trace of the reduced system as one of the original system.
    pub fn trace_back(&self, trace: Trace) -> Trace {
        self.steps.iter().rev().fold(trace, |trace, step| step.trace_back(&trace))
    }

    /// An invariant of the reduced system as one of the original system.
    pub fn invariant_back(&self, invariant: Invariant) -> Invariant {
        self.steps.iter().rev().fold(invariant, |invariant, step| step.invariant_back(&invariant))
    }

    /// An answer about the reduced system as one about the original system.
    pub fn evidence_back(&self, evidence: Evidence) -> Evidence {
        match evidence {
            Evidence::Safe(invariant) => Evidence::Safe(self.invariant_back(invariant)),
            Evidence::Unsafe(trace) => Evidence::Unsafe(self.trace_back(trace)),
        }
    }
}

/// A reduction: the smaller system, or `None` if it finds nothing or the limits interrupt it.
type Reduction = fn(&BitSystem, &Limits<'_>) -> Option<(BitSystem, Back)>;

/// The reductions in their order: cheap ones first, and again after those that make room for them.
const ALL: [Reduction; 9] = [
    rebuild::reduce,
    constants::reduce,
    latches::reduce,
    sweep::reduce,
    correspond::reduce_latches,
    latches::reduce,
    constants::reduce,
    correspond::reduce_nodes,
    rebuild::reduce,
];

/// Applies all reductions, within two seconds or a tenth of the time that is left.
pub fn all(system: &BitSystem, limits: &Limits<'_>) -> Reduced {
    let now = Instant::now();
    let left = limits.deadline.map(|deadline| deadline.saturating_duration_since(now) / SHARE);
    let budget = left.map_or(LONGEST, |left| left.min(LONGEST));
    let end = now.checked_add(budget);
    let mut reduced = Reduced { system: system.clone(), back: WayBack::default() };
    for reduction in ALL {
        // Half of what is left, so that a reduction that does not end leaves time for the others.
        let now = Instant::now();
        let deadline = end.and_then(|end| now.checked_add(end.saturating_duration_since(now) / 2));
        let limits = Limits { deadline, conflicts: None, propagations: None, ..*limits };
        if limits.interruption().is_some() {
            break;
        }
        if let Some((system, back)) = reduction(&reduced.system, &limits) {
            reduced.system = system;
            reduced.back.steps.push(back);
        }
    }
    reduced
}

#[cfg(test)]
mod tests {
    use shofar_testing::Random;
    use shofar_testing::scale::numbers;

    use super::*;
    use crate::aig::{Builder, Edge, Node};
    use crate::common::shortest_in_system;
    use crate::explicit::{judge, random_system};
    use crate::kind;

    /// A system with copies of latches and gates, so that there is something to find.
    fn redundant_system(random: &mut Random) -> BitSystem {
        let system = random_system(random, 3, 2, 12);
        let (latches, inputs) = (system.num_latches(), system.num_inputs);
        let mut builder = Builder::with_leaves(2 * latches + inputs);
        let copy = |builder: &mut Builder, negated: &[bool], offset: usize, edges: &[Edge]| -> Vec<Edge> {
            let map = builder.copy_cones(&system.aig, edges.iter().copied(), |leaf| {
                match system.latch_index(leaf) {
                    Some(latch) => Node::from_index(1 + offset + latch).edge(negated[latch]),
                    None => Edge::from(Node::from_index(leaf.index() + latches)),
                }
            });
            edges.iter().map(|&edge| crate::aig::mapped(&map, edge)).collect()
        };
        let negated: Vec<bool> = (0..latches).map(|_| random.one_in(3)).collect();
        let plain = vec![false; latches];
        let mut next = copy(&mut builder, &plain, 0, &system.next);
        let second = copy(&mut builder, &negated, latches, &system.next);
        next.extend(second.iter().zip(&negated).map(|(edge, &negated)| edge.negate_if(negated)));
        let mut resets = system.resets.clone();
        resets.extend(
            system.resets.iter().zip(&negated).map(|(reset, &negated)| reset.map(|it| it != negated)),
        );
        let bads = copy(&mut builder, &plain, 0, &[system.bad]);
        let others = copy(&mut builder, &negated, latches, &[system.bad]);
        // Bad is a copy's bad, or that the copies differ, or both.
        let bad = match random.below(3) {
            0 => builder.xor(bads[0], others[0]),
            1 => builder.and(bads[0], others[0]),
            _ => others[0],
        };
        let constraints = copy(&mut builder, &plain, 0, &system.constraints);
        BitSystem { aig: builder.into_aig(), resets, next, num_inputs: inputs, bad, constraints }
    }

    /// Verdict and shortest length stay, and both kinds of evidence come back.
    fn check(system: &BitSystem, reduced: &BitSystem, back: &WayBack, name: &str) -> bool {
        let shortest = shortest_in_system(system);
        assert_eq!(shortest, shortest_in_system(reduced), "{name}: {system:?} {reduced:?}");
        let Ok(evidence) = kind::run_with_simple_paths(reduced, &Limits::default()) else { return false };
        assert_eq!(judge(system, &back.evidence_back(evidence), shortest), Ok(()), "{name}: {system:?}");
        true
    }

    #[test]
    fn each_reduction_keeps_verdicts_and_lengths_and_has_a_way_back() {
        let named: [(&str, Reduction); 6] = [
            ("rebuild", rebuild::reduce),
            ("constants", constants::reduce),
            ("latches", latches::reduce),
            ("sweep", sweep::reduce),
            ("latch correspondence", correspond::reduce_latches),
            ("node correspondence", correspond::reduce_nodes),
        ];
        let mut random = Random::new(5);
        let (mut applied, mut back_again) = ([0; 6], [0; 6]);
        for number in numbers(600) {
            let system = if number % 3 == 0 {
                random_system(&mut random, 5, 2, 20)
            } else {
                redundant_system(&mut random)
            };
            for (index, (name, reduction)) in named.iter().enumerate() {
                let Some((reduced, back)) = reduction(&system, &Limits::default()) else { continue };
                applied[index] += 1;
                let back = WayBack { steps: vec![back] };
                back_again[index] += usize::from(check(&system, &reduced, &back, name));
            }
        }
        assert!(applied.iter().all(|&count| count > 20), "{applied:?}");
        assert!(back_again.iter().all(|&count| count > 20), "{back_again:?}");
    }

    #[test]
    fn reductions_compose() {
        let mut random = Random::new(6);
        let mut latches = (0, 0);
        for _ in numbers(600) {
            let system = redundant_system(&mut random);
            let reduced = all(&system, &Limits::default());
            check(&system, &reduced.system, &reduced.back, "all");
            latches = (latches.0 + system.num_latches(), latches.1 + reduced.system.num_latches());
        }
        assert!(2 * latches.1 < latches.0, "{latches:?}");
    }

    #[test]
    fn a_constraint_does_not_simplify_itself_away() {
        // l keeps its free value, the constraint and bad say that it is true and false. Under the constraint l is
        // true, but without it the system would be unsafe.
        let builder = Builder::with_leaves(1);
        let latch = Edge::from(Node::from_index(1));
        let system = BitSystem {
            aig: builder.into_aig(),
            resets: vec![None],
            next: vec![latch],
            num_inputs: 0,
            bad: !latch,
            constraints: vec![latch],
        };
        let reduced = all(&system, &Limits::default());
        assert_eq!(shortest_in_system(&reduced.system), None);
    }

    /// Two shift registers of 8 bits with linear feedback and an enabling input; bad if they differ. If `is_retimed`, the
    /// second one stores two halves of the feedback instead of the first bit.
    fn two_registers(is_retimed: bool) -> BitSystem {
        let latches = 16 + usize::from(is_retimed);
        let mut builder = Builder::with_leaves(latches + 1);
        let leaf = |index: usize| Edge::from(Node::from_index(1 + index));
        let enable = leaf(latches);
        let mut next = Vec::new();
        let mut bits: Vec<Vec<Edge>> = Vec::new();
        for first in [0, 8] {
            let mut register: Vec<Edge> = (first..first + 8).map(leaf).collect();
            let has_halves = is_retimed && first == 8;
            if has_halves {
                register[0] = builder.xor(leaf(8), leaf(16));
            }
            let halves = [builder.xor(register[7], register[5]), builder.xor(register[4], register[3])];
            let feedback = builder.xor(halves[0], halves[1]);
            next.push(builder.ite(enable, if has_halves { halves[0] } else { feedback }, leaf(first)));
            for bit in 1..8 {
                next.push(builder.ite(enable, register[bit - 1], register[bit]));
            }
            if has_halves {
                next.push(builder.ite(enable, halves[1], leaf(16)));
            }
            bits.push(register);
        }
        let differences: Vec<Edge> = (0..8).map(|bit| builder.xor(bits[0][bit], bits[1][bit])).collect();
        let bad = builder.or_all(differences);
        let resets = (0..latches).map(|latch| Some(latch % 8 == 0 && latch < 16)).collect();
        BitSystem { aig: builder.into_aig(), resets, next, num_inputs: 1, bad, constraints: Vec::new() }
    }

    #[test]
    fn equal_registers_are_merged_and_retimed_ones_correspond() {
        for is_retimed in [false, true] {
            let system = two_registers(is_retimed);
            let reduced = all(&system, &Limits::default());
            assert_eq!((reduced.system.bad, reduced.system.num_latches()), (Edge::FALSE, 0));
            let trivial = Invariant { aig: reduced.system.aig.clone(), clauses: Vec::new(), depth: 1 };
            let invariant = reduced.back.invariant_back(trivial);
            let circuit = crate::common::circuit_of(&system);
            let answer =
                crate::check::check_invariant(&circuit, &[system.bad], &invariant, &Limits::default());
            assert!(answer.is_ok(), "retimed: {is_retimed}: {answer:?}");
        }
    }

    #[test]
    fn interrupted_reductions_change_nothing() {
        let mut random = Random::new(9);
        let cancel = std::sync::atomic::AtomicBool::new(true);
        let limits = Limits { cancel: Some(&cancel), ..Limits::default() };
        for _ in 0..50 {
            let system = redundant_system(&mut random);
            assert_eq!(all(&system, &limits).system, system);
        }
    }
}
