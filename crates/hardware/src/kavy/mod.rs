//! Avy and kAvy: property directed reachability that extends its trace by interpolants of k-induction.
//!
//! The frames F_0..F_N of PDR are a safe trace. Where PDR blocks bad states one at a time, kAvy refutes a path through
//! the frames to a bad state at position N + 1, and takes the next frame from the refutation. The path need not begin in
//! the initial states: the later it can begin, the more general is what its refutation says. With C for the constraints
//! and T for the step,
//!
//! ```text
//! (i, k) is a strong extension level, 1 <= k <= i + 1 <= N + 1, if there is no path
//!     F_i ∧ C ∧ ¬bad ∧ T at k positions i+1-k..=i,  F_p ∧ C ∧ ¬bad ∧ T at p = i+1..=N,  bad ∧ C at N + 1
//! ```
//!
//! (`levels.rs`). The best one has the greatest i, and then the least k. Its sequence interpolants become lemmas
//! (`extend.rs`), so the trace stays clausal, monotone and 1-inductive, though the argument was k-inductive. Avy is the
//! same with k = 1.
//!
//! ```text
//! loop: a path from F_0 = Init -> unsafe
//!       (i, k) := a strong extension level;  if i < N: strengthen F_N, and search again
//!       F_0..F_{N+1} := extend(F_0..F_N, (i, k));  propagate
//!       F_l = F_{l+1} for some l -> safe;  N := N + 1
//! ```
//!
//! The property is a part of every frame without being a lemma: steps from bad states are left out, as in Bradley's IC3.
//! So F_1 begins as the property itself, and not as a lemma about it that holds after one step only. That matters for
//! k-induction, whose arguments need weak frames. Lemmas are taken from the property only where it is too weak
//! (`property.rs`).
//!
//! * K1: P1 to P4 of PDR hold with C ∧ ¬bad for C; K2: F_i ∧ C ∧ ¬bad ∧ T ∧ C' ⇒ ¬bad' for i < N.
//!
//! The invariant is that of PDR with the property. Counterexamples are as short as possible.
//!
//! H. Govind V K, Y. Vizel, V. Ganesh, A. Gurfinkel, "Interpolating Strong Induction" (CAV 2019); Y. Vizel, A. Gurfinkel,
//! "Interpolating Property Directed Reachability" (CAV 2014).

mod extend;
mod justify;
mod levels;
mod property;

use shofar_run::{Limits, Stop};
use shofar_smt::levels::{Level, Queries};

use crate::bmc::{Bmc, safe_without_search};
use crate::evidence::Evidence;
use crate::interpolate::Labelling;
use crate::pdr::{self, Generalization, Pdr};
use crate::system::BitSystem;
use levels::Levels;

pub use shofar_smt::levels::Strategy;

/// How kAvy works.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// How strong extension levels are found.
    pub strategy: Strategy,
    /// How lemmas are generalised.
    pub generalization: Generalization,
    /// The labelling of interpolants.
    pub labelling: Labelling,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            strategy: Strategy::CoreGuided,
            generalization: Generalization::Drop,
            labelling: Labelling::McMillan,
        }
    }
}

/// Decides a system.
pub fn run(system: &BitSystem, options: Options, limits: &Limits<'_>) -> Result<Evidence, Stop> {
    run_with_statistics(system, options, limits).0
}

/// As [`run`], and says what the frames took.
pub fn run_with_statistics(
    system: &BitSystem,
    options: Options,
    limits: &Limits<'_>,
) -> (Result<Evidence, Stop>, pdr::Statistics) {
    if let Some(safe) = safe_without_search(system) {
        return (Ok(safe), pdr::Statistics::default());
    }
    let safe_system = without_bad_steps(system);
    let mut kavy = Kavy::new(system, &safe_system, options, limits);
    let evidence = kavy.decide();
    (evidence, kavy.pdr.statistics())
}

/// The system without steps from bad states. Its runs end before them.
fn without_bad_steps(system: &BitSystem) -> BitSystem {
    let mut system = system.clone();
    system.constraints.push(!system.bad);
    system
}

/// The state of a run.
struct Kavy<'a> {
    system: &'a BitSystem,
    options: Options,
    /// The trace, over the system without steps from bad states.
    pdr: Pdr<'a>,
    levels: Levels<'a>,
}

impl<'a> Kavy<'a> {
    fn new(
        system: &'a BitSystem,
        safe_system: &'a BitSystem,
        options: Options,
        limits: &'a Limits<'a>,
    ) -> Self {
        let of_pdr = pdr::Options { generalization: options.generalization, ..Default::default() };
        let pdr = Pdr::new(safe_system, of_pdr, limits);
        Self { system, options, pdr, levels: Levels::new(system, limits) }
    }

    /// The main loop.
    fn decide(&mut self) -> Result<Evidence, Stop> {
        if let Some(trace) = Bmc::new(self.system).advance(1, self.pdr.limits)? {
            return Ok(Evidence::Unsafe(trace));
        }
        loop {
            if let Some(evidence) = self.advance()? {
                return Ok(evidence);
            }
        }
    }

    /// Extends the trace by one frame, unless that is impossible or shows that there are enough.
    fn advance(&mut self) -> Result<Option<Evidence>, Stop> {
        self.levels.update(&self.pdr);
        if let Some(trace) = self.levels.counterexample()? {
            return Ok(Some(Evidence::Unsafe(trace)));
        }
        let level = self.find_level()?;
        extend::extend(self.system, &mut self.pdr, level, self.options.labelling)?;
        self.pdr.propagate()?;
        Ok(self.pdr.fixpoint().map(|frame| {
            let mut invariant = self.pdr.invariant(frame);
            invariant.clauses.push(vec![!self.system.bad]);
            Evidence::Safe(invariant)
        }))
    }

    /// A strong extension level of a trace that can be extended. Where the property is too weak for one with i = N, lemmas
    /// strengthen the last frame first.
    fn find_level(&mut self) -> Result<Level, Stop> {
        let level = self.levels.find(self.options.strategy)?;
        if level.i == self.pdr.last() || !property::generalize(self.system, &mut self.pdr)? {
            return Ok(level);
        }
        self.levels.update(&self.pdr);
        if !self.levels.is_extendable()? {
            return Err(Stop::Internal("a lemma made a path through the frames possible".into()));
        }
        self.levels.find(self.options.strategy)
    }
}

#[cfg(test)]
mod tests {
    use shofar_testing::Random;
    use shofar_testing::scale::numbers;

    use super::*;
    use crate::aig::{Builder, Edge, Node, edge_value};
    use crate::check::check_invariant;
    use crate::common::{circuit_of, shortest_in_system};
    use crate::explicit::{allowed_values, counter, is_counterexample, is_inductive, random_system};
    use crate::pdr::definitions::{check_trace, is_in_frame, states};

    fn with(strategy: Strategy) -> Options {
        Options { strategy, ..Options::default() }
    }

    #[test]
    fn answers_agree_with_explicit_search() {
        let mut random = Random::new(23);
        let (mut safe, mut long) = (0, 0);
        for number in numbers(800) {
            let system = random_system(&mut random, 6, 3, 25);
            let shortest = shortest_in_system(&system);
            for &strategy in Strategy::ALL {
                match run(&system, with(strategy), &Limits::default()).expect("it is complete") {
                    Evidence::Unsafe(trace) => {
                        assert!(is_counterexample(&system, &trace), "system {number}, {strategy:?}");
                        assert_eq!(shortest, Some(trace.length()), "system {number}, {strategy:?}");
                        long += usize::from(trace.length() > 2);
                    }
                    Evidence::Safe(invariant) => {
                        assert_eq!(shortest, None, "system {number}, {strategy:?}");
                        assert!(is_inductive(&system, &invariant), "system {number}, {strategy:?}");
                        safe += usize::from(invariant.clauses.len() > 2);
                    }
                }
            }
        }
        assert!(safe > 20 && long > 20, "{safe} {long}");
    }

    /// The states to which steps from a state lead, in the system without steps from bad states.
    fn successors(pdr: &Pdr<'_>, state: &[bool]) -> Vec<Vec<bool>> {
        let system = pdr.system;
        let rows = allowed_values(system, state).into_iter();
        rows.map(|row| system.next.iter().map(|&edge| edge_value(&row, edge)).collect()).collect()
    }

    fn is_bad(system: &BitSystem, state: &[bool]) -> bool {
        allowed_values(system, state).iter().any(|row| edge_value(row, system.bad))
    }

    /// The definition of strong extension levels, by sets of states.
    fn is_level(system: &BitSystem, pdr: &Pdr<'_>, level: Level) -> bool {
        let mut at: Vec<Vec<bool>> = states(system).collect();
        for position in level.start()..=pdr.last() {
            at.retain(|state| is_in_frame(pdr, level.frame(position), state));
            at = at.iter().flat_map(|state| successors(pdr, state)).collect();
            at.sort_unstable();
            at.dedup();
        }
        !at.iter().any(|state| is_bad(system, state))
    }

    /// All levels, the best one first.
    fn all_levels(last: usize) -> impl Iterator<Item = Level> {
        (0..=last).rev().flat_map(|i| (1..=i + 1).map(move |k| Level { i, k }))
    }

    /// K1 and K2, by the definitions.
    fn check_safe_trace(system: &BitSystem, pdr: &Pdr<'_>, number: u64) {
        check_trace(pdr, pdr.last(), number);
        for state in states(system).filter(|state| is_in_frame(pdr, pdr.last() - 1, state)) {
            let is_safe = successors(pdr, &state).iter().all(|next| !is_bad(system, next));
            assert!(is_safe, "system {number}: a step from frame {} is bad", pdr.last() - 1);
        }
    }

    /// On traces that were extended at any of their levels, with and without lemmas from the property.
    #[test]
    fn levels_are_the_best_ones_and_extensions_are_traces() {
        let mut random = Random::new(41);
        let (mut strong, mut extended, mut traces) = (0, 0, 0);
        for number in numbers(1500) {
            let system = random_system(&mut random, 5, 2, 25);
            let limits = Limits::default();
            let generalization = [Generalization::Drop, Generalization::Ctg][random.below(2)];
            let labelling = [Labelling::McMillan, Labelling::Pudlak, Labelling::Inverse][random.below(3)];
            let options = Options { generalization, labelling, ..Options::default() };
            let safe_system = without_bad_steps(&system);
            let mut kavy = Kavy::new(&system, &safe_system, options, &limits);
            if Bmc::new(&system).advance(1, &limits).expect("an answer").is_some() {
                continue;
            }
            for _ in 0..6 {
                if kavy.pdr.last() > 0 && random.bool() && kavy.levels.is_extendable().expect("an answer") {
                    property::generalize(&system, &mut kavy.pdr).expect("an answer");
                    check_safe_trace(&system, &kavy.pdr, number);
                }
                kavy.levels.update(&kavy.pdr);
                let levels: Vec<Level> = all_levels(kavy.pdr.last())
                    .filter(|&level| is_level(&system, &kavy.pdr, level))
                    .collect();
                let is_extendable = kavy.levels.counterexample().expect("an answer").is_none();
                assert_eq!(is_extendable, !levels.is_empty(), "system {number}");
                let (Some(&best), true) = (levels.first(), is_extendable) else { break };
                let of_avy = levels.iter().copied().find(|level| level.k == 1);
                for &strategy in Strategy::ALL {
                    // The search that follows cores begins with the one of the first question.
                    assert_eq!(kavy.levels.is_extendable(), Ok(true));
                    let found = kavy.levels.find(strategy).expect("an answer");
                    let expected = if strategy == Strategy::Avy { of_avy } else { Some(best) };
                    assert_eq!(Some(found), expected, "system {number}, {strategy:?}");
                }
                strong += usize::from(best.k > 1);
                traces += 1;
                // Half of the time one with k > 1, if there is one.
                let with_induction: Vec<Level> = levels.iter().copied().filter(|level| level.k > 1).collect();
                let choices =
                    if with_induction.is_empty() || random.bool() { &levels } else { &with_induction };
                let level = choices[random.below(choices.len())];
                extended += usize::from(level.k > 1);
                extend::extend(&system, &mut kavy.pdr, level, labelling).expect("an extension");
                check_safe_trace(&system, &kavy.pdr, number);
                kavy.pdr.propagate().expect("an answer");
                check_safe_trace(&system, &kavy.pdr, number);
            }
        }
        assert!(strong > 30 && extended > 100 && traces > 500, "{strong} {extended} {traces}");
    }

    /// A counter of 8 bits that starts again after 64; 66 and more are bad. So 65 is not reachable, but has a bad
    /// successor.
    fn counter_with_gap() -> BitSystem {
        let mut system = counter(8, false);
        let mut builder = Builder::on(system.aig.clone());
        let latch = |index: usize| Edge::from(Node::from_index(1 + index));
        let is_64 = builder.and_all((0..8).map(|index| latch(index).negate_if(index != 6)));
        system.next = system.next.iter().map(|&next| builder.and(next, !is_64)).collect();
        // 64 + 2 + ..: bit 6 and one of the bits 1 to 5; or bit 7.
        let middle = builder.or_all((1..6).map(latch));
        let above = builder.and(latch(6), middle);
        system.bad = builder.or(latch(7), above);
        system.aig = builder.into_aig();
        system
    }

    /// From scratch: the first frame is c < 66, and the next iteration closes the trace.
    #[test]
    fn a_property_that_is_2_inductive_is_proved_in_two_iterations() {
        let system = counter_with_gap();
        let (limits, safe_system) = (Limits::default(), without_bad_steps(&system));
        for strategy in [Strategy::TopDown, Strategy::BottomUp, Strategy::CoreGuided] {
            let mut kavy = Kavy::new(&system, &safe_system, with(strategy), &limits);
            assert!(kavy.advance().expect("an answer").is_none(), "{strategy:?}");
            kavy.levels.update(&kavy.pdr);
            assert_eq!(kavy.levels.is_extendable(), Ok(true));
            assert_eq!(kavy.find_level(), Ok(Level { i: 1, k: 2 }), "{strategy:?}");
            assert_eq!(kavy.levels.is_extendable(), Ok(true));
            assert_eq!(kavy.levels.find(Strategy::Avy), Ok(Level { i: 0, k: 1 }));
            let Ok(Some(Evidence::Safe(invariant))) = kavy.advance() else {
                panic!("this iteration closes the trace: {strategy:?}")
            };
            assert!(is_inductive(&system, &invariant), "{strategy:?}");
        }
    }

    /// The words x and y of 2^bits bits come bit by bit, the lowest first. If x + y = 2x at the end, modulo the width,
    /// then x = y: it is bad if one bit differed nevertheless.
    ///
    /// The latches: the counter of bits, then `done`, the bit of x before, the carry of x + y, whether x + y and 2x agreed
    /// so far, and whether x and y differed. The property is k-inductive with k about 2^bits only. With "agreed implies
    /// that nothing differed and that the carry is the bit before" it is inductive.
    fn shift_relation(bits: usize) -> BitSystem {
        let mut builder = Builder::with_leaves(bits + 7);
        let leaf = |index: usize| Edge::from(Node::from_index(1 + index));
        let [done, before, carry, agreed, differed] = [0, 1, 2, 3, 4].map(|index| leaf(bits + index));
        let (x, y) = (leaf(bits + 5), leaf(bits + 6));
        let mut next = Vec::new();
        let mut all = Edge::TRUE;
        for bit in (0..bits).map(leaf) {
            next.push(builder.xor(bit, all));
            all = builder.and(all, bit);
        }
        let differs = builder.xor(x, y);
        let sum = builder.xor(differs, carry);
        let both = builder.and(x, y);
        let carried = builder.and(differs, carry);
        let next_carry = builder.or(both, carried);
        let disagrees = builder.xor(sum, before);
        let next_agreed = builder.and(agreed, !disagrees);
        let next_differed = builder.or(differed, differs);
        next.push(builder.or(done, all));
        // At the end the flags stay.
        for (now, then) in
            [(before, x), (carry, next_carry), (agreed, next_agreed), (differed, next_differed)]
        {
            next.push(builder.ite(done, now, then));
        }
        let bad = builder.and_all([done, agreed, differed]);
        let mut resets = vec![Some(false); bits + 5];
        resets[bits + 3] = Some(true);
        BitSystem { aig: builder.into_aig(), resets, next, num_inputs: 2, bad, constraints: Vec::new() }
    }

    /// The first system is small enough for the definition of invariants; larger ones are judged by the checker.
    #[test]
    fn the_number_of_frames_does_not_grow_with_the_width() {
        for strategy in [Strategy::TopDown, Strategy::BottomUp, Strategy::CoreGuided] {
            let mut frames = Vec::new();
            for bits in [3, 5, 8, 12, 18, 30] {
                let system = shift_relation(bits);
                let (evidence, statistics) = run_with_statistics(&system, with(strategy), &Limits::default());
                let Ok(Evidence::Safe(invariant)) = evidence else { panic!("{bits} bits: {evidence:?}") };
                let circuit = circuit_of(&system);
                let checked = check_invariant(&circuit, &[system.bad], &invariant, &Limits::default());
                assert_eq!(checked, Ok(()), "{bits} bits, {strategy:?}");
                assert!(bits > 3 || is_inductive(&system, &invariant), "{strategy:?}");
                frames.push(statistics.frames);
            }
            assert!(frames.iter().all(|&count| count == frames[0] && count <= 6), "{strategy:?}: {frames:?}");
        }
    }
}
