//! kAvy: property-directed reachability that extends its trace by interpolants of k-induction.
//!
//! **What it decides.** Transition systems, and so all linear systems, over the theories that the solver interpolates.
//! It need not terminate if there are infinitely many states.
//!
//! **The idea.** A *trace* is a sequence of frames `F_0 = Init, F_1, .., F_N`. Each frame is a set of lemmas that hold in all
//! states reached in as many steps. Spacer extends a trace by searching backwards from single bad states. kAvy refutes a
//! whole path through the frames to a bad state at position `N + 1`, and takes the next frame from interpolants of the
//! refutation. The path need not begin in the initial states; the later it can begin, the more general are the
//! interpolants. If it can begin at a frame repeated `k` times, the argument is induction over `k` steps.
//!
//! ```text
//! Init meets Bad?                                                     unsafe
//! F <- [Init]
//! repeat  a path through F_0, .., F_N leads to Bad?                   unsafe
//!         (i, k) <- a strong extension level                          levels.rs
//!         F <- extension of F at (i, k), with one more frame          extend.rs
//!         push lemmas to higher frames                                frames.rs
//! until   F_l = F_{l+1}                                               safe by F_l
//! ```
//!
//! **Invariants.** T1: `F_l` and a transition imply `F_{l+1}`. T2: `F_l` implies `F_{l+1}`; a lemma is stored at its highest
//! frame. T3: no frame contains a bad state.
//!
//! **Why the answer is right.** If `F_l = F_{l+1}`, then by T1 to T3 `F_l` is inductive, contains the initial states and no
//! bad one. A path through the frames that begins in `F_0` is a path of the system.
//!
//! **Local variables of `Init`.** `extend.rs` negates `F_0`, so the local variables of `Init` are eliminated. If this fails,
//! a flag replaces the initial states: `flag.rs` does this for bad states, which are the initial ones if time is reversed.
//!
//! **Where it comes from.** H. Govind V K, Y. Vizel, V. Ganesh, A. Gurfinkel, "Interpolating strong induction" (CAV 2019),
//! for circuits. With `k = 1` it is Avy: Y. Vizel, A. Gurfinkel, "Interpolating property directed reachability" (CAV 2014).
//!
//! **Where we differ.** States are not Boolean, so lemmas exclude implicants of formulas instead of assignments: the literals
//! are atoms of interpolants and of earlier lemmas.

mod extend;
mod frames;
mod levels;

use std::time::Instant;

use shofar_horn::graph::rename;
use shofar_horn::{HornGraph, TransitionSystem};
use shofar_logic::{Term, Value};
use shofar_run::Stop;
use shofar_smt::levels::Queries;

use crate::exchange::strengthened;
use crate::flag::Flagged;
use crate::forms::TransitionForm;
use crate::kind::reversed;
use crate::option::options;
use crate::separation::InterpolationMethod;
use crate::{Engine, EngineOption, Evidence, Run};
use frames::Frames;
use levels::Levels;

pub use shofar_smt::levels::Strategy;

options! {
    interpolation: InterpolationMethod = InterpolationMethod::DualFarkas, "interpolation": "how interpolants are made";
    levels: Strategy = Strategy::CoreGuided, "levels": "how strong extension levels are found";
}

/// The kAvy engine.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Kavy {
    /// The options of the engine.
    pub options: Options,
}

impl Engine for Kavy {
    fn name(&self) -> &'static str {
        "kavy"
    }

    fn description(&self) -> &'static str {
        "interpolating strong induction: frames extended by interpolants of k-induction; linear systems"
    }

    fn options(&mut self) -> Vec<EngineOption<'_>> {
        self.options.list()
    }

    fn solve(&self, graph: &HornGraph, run: &Run<'_>) -> Result<Evidence, Stop> {
        let looped = TransitionForm::of(run, &strengthened(run, graph))?;
        let backward = Flagged::of(run, &reversed(run.store, &looped.system));
        match self.decide(run, &looped.system, &backward)? {
            Found::Invariant(invariant) => looped.safe(run, invariant),
            Found::Path(states) => looped.unsafe_by(run, states),
        }
    }
}

impl Kavy {
    /// Decides a system, by its reversal without local variables of bad states.
    fn decide(&self, run: &Run<'_>, original: &TransitionSystem, backward: &Flagged) -> Result<Found, Stop> {
        let (store, start) = (run.store, Instant::now());
        let system = reversed(store, &backward.system);
        let mut search = Search::new(run, self.options, &system)?;
        let found = search.decide();
        run.tell_statistics(search.counters(), start);
        Ok(match found? {
            Found::Invariant(invariant) => {
                let invariant = rename(store, invariant, &system.state, &backward.system.state);
                let invariant = backward.invariant(store, invariant);
                Found::Invariant(rename(store, invariant, &original.next, &original.state))
            }
            Found::Path(mut states) => {
                states.reverse();
                let mut states = backward.path(states);
                states.reverse();
                Found::Path(states)
            }
        })
    }
}

/// The result of the search.
enum Found {
    /// A safe inductive invariant.
    Invariant(Term),
    /// States of a path from an initial to a bad one.
    Path(Vec<Box<[Value]>>),
}

/// The state of a run.
struct Search<'a> {
    run: &'a Run<'a>,
    options: Options,
    frames: Frames<'a>,
    levels: Levels<'a>,
    /// The number of extensions with `k > 1`.
    strong: u64,
}

impl<'a> Search<'a> {
    /// Precondition: the initial states have no local variables.
    fn new(run: &'a Run<'a>, options: Options, system: &'a TransitionSystem) -> Result<Self, Stop> {
        let (frames, levels) = (Frames::new(run, system)?, Levels::new(run, system)?);
        Ok(Search { run, options, frames, levels, strong: 0 })
    }

    fn decide(&mut self) -> Result<Found, Stop> {
        if let Some(states) = self.levels.bad_initial_state()? {
            return Ok(Found::Path(states));
        }
        loop {
            if let Some(found) = self.advance()? {
                return Ok(found);
            }
            self.run.tell_progress(self.frames.last() as u64, self.counters());
        }
    }

    /// Extends the trace by one frame, unless a path shows that this is impossible. Returns the answer if there is one.
    fn advance(&mut self) -> Result<Option<Found>, Stop> {
        self.levels.update(&self.frames)?;
        if let Some(states) = self.levels.counterexample()? {
            return Ok(Some(Found::Path(states)));
        }
        let level = self.levels.find(self.options.levels)?;
        tracing::debug!(last = self.frames.last(), i = level.i, k = level.k, "strong extension level");
        self.strong += u64::from(level.k > 1);
        let Options { interpolation, .. } = self.options;
        let interpolants =
            extend::interpolants(self.run, &mut self.levels, &self.frames, level, interpolation)?;
        extend::extend(self.run, &mut self.frames, level, &interpolants)?;
        self.frames.propagate()?;
        Ok(self.frames.fixpoint().map(|level| Found::Invariant(self.frames.formula(level))))
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let frames::Statistics { lemmas, pushed, dropped, queries } = self.frames.statistics;
        vec![
            ("frames", self.frames.last() as u64),
            ("lemmas", lemmas),
            ("lemmas.pushed", pushed),
            ("literals.dropped", dropped),
            ("extensions.strong", self.strong),
            ("levels.queries", self.levels.queries),
            ("solver.queries", queries + self.levels.queries),
        ]
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use shofar_horn::parse;
    use shofar_logic::{Sort, TermStore};
    use shofar_smt::levels::Level;
    use shofar_testing::Random;
    use shofar_testing::scale::numbers;
    use shofar_testing::systems::{Shape, system};

    use super::*;

    fn is_satisfiable(run: &Run<'_>, formulas: &[Term]) -> bool {
        let mut solver = run.solver();
        run.assert(&mut solver, formulas).expect("the formulas are supported");
        run.is_satisfiable(&mut solver, &[]).expect("the solver decides it")
    }

    /// T1 to T3.
    #[track_caller]
    fn assert_trace(run: &Run<'_>, frames: &Frames<'_>, system: &TransitionSystem) {
        let store = run.store;
        for frame in 0..=frames.last() {
            let formula = frames.formula(frame);
            assert!(!is_satisfiable(run, &[formula, system.bad]), "frame {frame} is not safe");
            if frame < frames.last() {
                let without = store.not(frames.formula(frame + 1));
                let after = rename(store, without, &system.state, &system.next);
                assert!(!is_satisfiable(run, &[formula, without]), "frame {frame} is not monotone");
                assert!(!is_satisfiable(run, &[formula, system.transition, after]), "a step leaves {frame}");
            }
        }
    }

    /// All pairs `(i, k)`, the best one first.
    fn all_levels(last: usize) -> impl Iterator<Item = Level> {
        (0..=last).rev().flat_map(|i| (1..=i + 1).map(move |k| Level { i, k }))
    }

    /// Extends traces at any of their levels, and compares the searches with the definition of levels.
    #[test]
    fn levels_are_the_best_ones_and_extensions_are_traces() {
        let mut random = Random::new(3);
        let (mut strong, mut traces) = (0, 0);
        for number in numbers(120) {
            let store = TermStore::new();
            let run = Run::new(&store);
            let text = system(&mut random, &Shape::PASSING);
            let clauses = parse(&store, "random", text.as_bytes()).expect("the clauses are right");
            let looped = TransitionForm::of(&run, &HornGraph::of(&store, &clauses)).expect("it is linear");
            let backward = Flagged::of(&run, &reversed(&store, &looped.system));
            let system = reversed(&store, &backward.system);
            let interpolation = *random.choose(&InterpolationMethod::ALL);
            let mut search = Search::new(&run, Options::default(), &system).expect("it is supported");
            if search.levels.bad_initial_state().expect("an answer").is_some() {
                continue;
            }
            for _ in 0..4 {
                search.levels.update(&search.frames).expect("lemmas are supported");
                let mut levels: Vec<Level> = all_levels(search.frames.last()).collect();
                levels.retain(|&level| {
                    !is_satisfiable(&run, &search.levels.path(&search.frames, level).concat())
                });
                let is_extendable = search.levels.counterexample().expect("an answer").is_none();
                assert_eq!(is_extendable, !levels.is_empty(), "system {number}");
                let Some(&best) = levels.first() else { break };
                let of_avy = levels.iter().copied().find(|level| level.k == 1);
                for &strategy in Strategy::ALL {
                    assert!(search.levels.counterexample().expect("an answer").is_none());
                    let found = search.levels.find(strategy).expect("an answer");
                    let expected = if strategy == Strategy::Avy { of_avy } else { Some(best) };
                    assert_eq!(Some(found), expected, "system {number}, {strategy:?}");
                }
                strong += usize::from(best.k > 1);
                traces += 1;
                let level = *random.choose(&levels);
                let interpolants =
                    extend::interpolants(&run, &mut search.levels, &search.frames, level, interpolation);
                let interpolants = interpolants.expect("there is a refutation");
                extend::extend(&run, &mut search.frames, level, &interpolants).expect("it is possible");
                assert_trace(&run, &search.frames, &system);
                search.frames.propagate().expect("an answer");
                assert_trace(&run, &search.frames, &system);
            }
        }
        assert!(strong > 3 && traces > 100, "{strong} {traces}");
    }

    /// From a multiple of three in steps of three or of two to a multiple of three plus one; with a flag for the initial
    /// states.
    #[test]
    fn initial_states_with_local_variables() {
        let store = TermStore::new();
        let run = Run::new(&store).with_timeout(Duration::from_secs(60));
        let [x, next, third] = ["x", "x'", "third"].map(|name| store.var(store.symbol(name), Sort::INT));
        let plus = |term: Term, number: i64| store.add(&[term, store.int(number)]);
        for (step, is_safe) in [(3, true), (2, false)] {
            let original = TransitionSystem {
                state: [x].into(),
                next: [next].into(),
                init: store.eq(x, store.mul(&[store.int(3), third])),
                transition: store.eq(next, plus(x, step)),
                bad: store.eq(store.modulo(x, store.int(3)), store.int(1)),
            };
            let backward = Flagged::with_flag(&store, &reversed(&store, &original));
            match Kavy::default().decide(&run, &original, &backward).expect("an answer") {
                Found::Invariant(invariant) => {
                    assert!(is_safe);
                    let outside = store.not(invariant);
                    let after = rename(&store, outside, &original.state, &original.next);
                    assert!(!is_satisfiable(&run, &[original.init, outside]));
                    assert!(!is_satisfiable(&run, &[invariant, original.transition, after]));
                    assert!(!is_satisfiable(&run, &[invariant, original.bad]));
                }
                Found::Path(states) => {
                    assert!(!is_safe);
                    let numbers: Vec<Term> =
                        states.iter().map(|state| store.value_to_term(&state[0])).collect();
                    let [first, .., last] = numbers[..] else { panic!("{states:?}") };
                    assert_eq!(numbers.len(), 3);
                    let remainder = |number| store.modulo(number, store.int(3));
                    assert_eq!([remainder(first), remainder(last)], [store.int(0), store.int(1)]);
                }
            }
        }
    }
}
