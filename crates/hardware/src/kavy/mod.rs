//! Avy and kAvy: property directed reachability that extends its trace by interpolants of k-induction.
//!
//! The frames F_0..F_N of PDR are a safe trace. Where PDR blocks bad states one at a time, kAvy refutes a path through
//! the frames to a bad state at position N + 1, and takes the next frame from the refutation. The path need not begin in
//! the initial states: the later it can begin, the more general is what its refutation says. With C for the constraints
//! and T for the step,
//!
//! ```text
//! (i, k) is a strong extension level, 1 <= k <= i + 1 <= N + 1, if there is no path
//!     F_i ∧ C ∧ T at k positions i+1-k..=i,  F_p ∧ C ∧ T at p = i+1..=N,  bad ∧ C at N + 1
//! ```
//!
//! (`levels.rs`). The best one has the greatest i, and then the least k. Its sequence interpolants become lemmas
//! (`extend.rs`), so the trace stays clausal, monotone and 1-inductive, though the argument was k-inductive. Avy is the
//! same with k = 1.
//!
//! ```text
//! loop: a path from F_0 = Init -> unsafe
//!       (i, k) := a strong extension level
//!       F_0..F_{N+1} := extend(F_0..F_N, (i, k));  propagate
//!       F_l = F_{l+1} for some l -> safe;  N := N + 1
//! ```
//!
//! Counterexamples are as short as possible. All frames up to the last are safe, other than in PDR.
//!
//! H. Govind V K, Y. Vizel, V. Ganesh, A. Gurfinkel, "Interpolating Strong Induction" (CAV 2019); Y. Vizel, A. Gurfinkel,
//! "Interpolating Property Directed Reachability" (CAV 2014).

mod extend;
mod levels;

use shofar_run::{Limits, Stop};

use crate::bmc::safe_without_search;
use crate::evidence::Evidence;
use crate::interpolate::Labelling;
use crate::pdr::{self, Generalization, Pdr};
use crate::system::BitSystem;
use levels::Levels;

pub use levels::Strategy;

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
    let mut kavy = Kavy::new(system, options, limits);
    let evidence = kavy.decide();
    (evidence, kavy.pdr.statistics())
}

/// The state of a run.
struct Kavy<'a> {
    options: Options,
    /// The trace.
    pdr: Pdr<'a>,
    levels: Levels<'a>,
}

impl<'a> Kavy<'a> {
    fn new(system: &'a BitSystem, options: Options, limits: &'a Limits<'a>) -> Self {
        let of_pdr = pdr::Options { generalization: options.generalization };
        Self { options, pdr: Pdr::new(system, of_pdr, limits), levels: Levels::new(system, limits) }
    }

    /// The main loop.
    fn decide(&mut self) -> Result<Evidence, Stop> {
        if let Some(trace) = self.pdr.bad_at_start()? {
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
        let level = self.levels.find(self.options.strategy)?;
        extend::extend(&mut self.pdr, level, self.options.labelling)?;
        self.pdr.propagate()?;
        Ok(self.pdr.fixpoint().map(|frame| Evidence::Safe(self.pdr.invariant(frame))))
    }
}

#[cfg(test)]
mod tests {
    use shofar_testing::Random;
    use shofar_testing::scale::numbers;

    use super::levels::Level;
    use super::*;
    use crate::aig::{Builder, Edge, Node, edge_value};
    use crate::common::shortest_in_system;
    use crate::explicit::{allowed_values, counter, is_counterexample, is_inductive, random_system};
    use crate::pdr::cube::Cube;
    use crate::pdr::definitions::{check_trace, is_in_frame, states};

    const STRATEGIES: [Strategy; 4] =
        [Strategy::TopDown, Strategy::BottomUp, Strategy::CoreGuided, Strategy::Avy];

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
            for strategy in STRATEGIES {
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

    /// The definition of strong extension levels, by sets of states.
    fn is_level(pdr: &Pdr<'_>, level: Level) -> bool {
        let system = pdr.system;
        let mut at: Vec<Vec<bool>> = states(system).collect();
        for position in level.start()..=pdr.last() {
            at.retain(|state| is_in_frame(pdr, level.frame(position), state));
            let rows = at.iter().flat_map(|state| allowed_values(system, state));
            at = rows.map(|row| system.next.iter().map(|&edge| edge_value(&row, edge)).collect()).collect();
            at.sort_unstable();
            at.dedup();
        }
        !at.iter().any(|state| allowed_values(system, state).iter().any(|row| edge_value(row, system.bad)))
    }

    /// All levels, the best one first.
    fn all_levels(last: usize) -> impl Iterator<Item = Level> {
        (0..=last).rev().flat_map(|i| (1..=i + 1).map(move |k| Level { i, k }))
    }

    /// On traces that were extended at any of their levels.
    #[test]
    fn levels_are_the_best_ones_and_extensions_are_traces() {
        let mut random = Random::new(41);
        let (mut strong, mut traces) = (0, 0);
        for number in numbers(400) {
            let system = random_system(&mut random, 5, 2, 25);
            let limits = Limits::default();
            let generalization = [Generalization::Drop, Generalization::Ctg][random.below(2)];
            let labelling = [Labelling::McMillan, Labelling::Pudlak][random.below(2)];
            let options = Options { generalization, labelling, ..Options::default() };
            let mut kavy = Kavy::new(&system, options, &limits);
            if kavy.pdr.bad_at_start().expect("an answer").is_some() {
                continue;
            }
            for _ in 0..6 {
                kavy.levels.update(&kavy.pdr);
                let levels: Vec<Level> =
                    all_levels(kavy.pdr.last()).filter(|&level| is_level(&kavy.pdr, level)).collect();
                let is_extendable = kavy.levels.counterexample().expect("an answer").is_none();
                assert_eq!(is_extendable, !levels.is_empty(), "system {number}");
                let (Some(&best), true) = (levels.first(), is_extendable) else { break };
                let of_avy = levels.iter().copied().find(|level| level.k == 1);
                for strategy in STRATEGIES {
                    // The search that follows cores begins with the one of the first question.
                    assert!(kavy.levels.counterexample().expect("an answer").is_none());
                    let found = kavy.levels.find(strategy).expect("an answer");
                    let expected = if strategy == Strategy::Avy { of_avy } else { Some(best) };
                    assert_eq!(Some(found), expected, "system {number}, {strategy:?}");
                }
                strong += usize::from(best.k > 1);
                traces += 1;
                let level = levels[random.below(levels.len())];
                extend::extend(&mut kavy.pdr, level, labelling).expect("an extension");
                check_trace(&kavy.pdr, kavy.pdr.last(), number);
                kavy.pdr.propagate().expect("an answer");
                check_trace(&kavy.pdr, kavy.pdr.last(), number);
            }
        }
        assert!(strong > 2 && traces > 500, "{strong} {traces}");
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

    /// In the trace Init, c < 66.
    #[test]
    fn a_property_that_is_2_inductive_has_a_level_with_k_2() {
        let system = counter_with_gap();
        let limits = Limits::default();
        let mut kavy = Kavy::new(&system, Options::default(), &limits);
        assert_eq!(kavy.pdr.bad_at_start(), Ok(None));
        kavy.pdr.add_frame();
        let latch = |index: usize| Edge::from(system.latch(index));
        kavy.pdr.add_lemma(Cube::new(vec![latch(7)]), 1);
        (1..6).for_each(|bit| kavy.pdr.add_lemma(Cube::new(vec![latch(6), latch(bit)]), 1));
        kavy.levels.update(&kavy.pdr);
        assert_eq!(kavy.levels.counterexample(), Ok(None));
        for strategy in STRATEGIES {
            let expected =
                if strategy == Strategy::Avy { Level { i: 0, k: 1 } } else { Level { i: 1, k: 2 } };
            assert_eq!(kavy.levels.find(strategy), Ok(expected), "{strategy:?}");
        }
        let Ok(Some(Evidence::Safe(invariant))) = kavy.advance() else {
            panic!("this iteration closes the trace")
        };
        assert!(is_inductive(&system, &invariant));
    }
}
