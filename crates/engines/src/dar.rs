//! Dual approximated reachability: forward and backward sequences of states that strengthen each other.
//!
//! **What it decides.** Transition systems, and so all linear systems, over the theories that the solver interpolates.
//!
//! **The idea.** `F_i` over-approximates the states that are reached in exactly `i` steps, `B_j` those from which exactly `j` steps lead
//! to a bad state. Where they do not meet, interpolants of single steps strengthen both along their whole length. Unrollings are only
//! needed where both are too weak at all times.
//!
//! ```text
//! Init meets Bad?                                                                unsafe
//! F_0 <- Init, B_0 <- Bad
//! for N = 0, 1, ..
//!     local:   for i = N, .., 0   F_i, T, B_{N-i}' have no model?                strengthen from i
//!     global:  otherwise for i = 1, .., N+1: Init(0), T(0,1), .., T(i-1,i), B_{N+1-i}(i) have no model?
//!                                 F_0, .., F_i <- path interpolants, strengthen from i - 1
//!              models for all i                                                  unsafe: that for N+1 is a path
//!     strengthen from i:  for j = i, .., N   F_{j+1} <- interpolant of (F_j, T | B_{N-j}')
//!                         for j = i, .., 0   B_{N-j+1} <- interpolant of (T, B_{N-j}' | F_j)
//!     F_i implies F_0 or .. or F_{i-1}?                                          safe by this disjunction
//!     B_i implies B_0 or .. or B_{i-1}?                                          safe by its negation
//! ```
//!
//! **Why the answer is right.**
//!
//! - D1: `F_0` has all initial states, and `F_{i+1}` all successors of `F_i`.
//! - D2: `B_0` is `Bad`, and `B_{j+1}` has all predecessors of `B_j`.
//! - D3: no `F_i` has a bad state, and no `B_j` an initial one: the last elements get interpolants against `Bad` and `F_0` when they are
//!   made, and elements only get stronger.
//!
//! By D1 the successors of a union of first elements are in it or in the next element; so if that element is in the union, the union is
//! inductive, and by D3 it is safe. By D2 the same is true of predecessors, so the complement of the union is inductive.
//!
//! **Strengthening goes on to the ends.** If `F_i`, `T` and `B_{N-i}'` have no model, then afterwards `F_{i+1}` and `B_{N-i}` do not meet.
//! By D2 all predecessors of `B_{N-i-1}` are in `B_{N-i}`, so there is no model for `i + 1` either. The other direction is similar.
//!
//! **Local variables.** Bad states are negated, so they have none (`flag.rs`). If some of `Init` remain, `F_0` is an interpolant of `Init`
//! and the bad states, and the path interpolants strengthen it.
//!
//! **Where it comes from.** Y. Vizel, O. Grumberg, S. Shoham, "Intertwined forward-backward reachability analysis using interpolants"
//! (TACAS 2013). **Where we differ.** They strengthen after the global step from `i`; the interpolants already permit it from `i - 1`,
//! which also makes the last elements where `i` is `N + 1`.

use std::time::Instant;

use shofar_horn::{HornGraph, TransitionSystem};
use shofar_logic::{Term, Value};
use shofar_run::Stop;

use crate::eliminate::with_few_locals;
use crate::flag::Flagged;
use crate::forms::TransitionForm;
use crate::option::options;
use crate::separation::{InterpolationMethod, Parts, Prover, Separation};
use crate::unroll::Unrolling;
use crate::{Engine, EngineOption, Evidence, Run};

options! {
    interpolation: InterpolationMethod = InterpolationMethod::Decomposed, "interpolation": "how interpolants are made";
}

/// The DAR engine.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Dar {
    /// The options of the engine.
    pub options: Options,
}

impl Engine for Dar {
    fn name(&self) -> &'static str {
        "dar"
    }

    fn description(&self) -> &'static str {
        "dual approximated reachability: forward and backward interpolants; linear systems"
    }

    fn options(&mut self) -> Vec<EngineOption<'_>> {
        self.options.list()
    }

    fn solve(&self, graph: &HornGraph, run: &Run<'_>) -> Result<Evidence, Stop> {
        let start = Instant::now();
        let looped = TransitionForm::of(run, graph)?;
        let flagged = Flagged::of(run, &looped.system);
        let init = with_few_locals(run, flagged.system.init, &flagged.system.state);
        let system = TransitionSystem { init, ..flagged.system.clone() };
        let mut search = Search::new(run, self.options, &system)?;
        let found = search.decide();
        run.tell_statistics(search.statistics.counters(), start);
        match found? {
            Found::Path(states) => looped.unsafe_by(run, flagged.path(states)),
            Found::Invariant(invariant) => looped.safe(run, flagged.invariant(run.store, invariant)),
        }
    }
}

/// The result of the search.
enum Found {
    /// States of a path from an initial to a bad one.
    Path(Vec<Box<[Value]>>),
    /// A safe inductive invariant.
    Invariant(Term),
}

/// The result of a global strengthening.
enum Global {
    /// A place where the sequences do not meet.
    Apart(usize),
    /// The states of a path to a bad state.
    Path(Vec<Box<[Value]>>),
}

/// The counters.
#[derive(Clone, Copy, Default, Debug)]
struct Statistics {
    bound: u64,
    local: u64,
    global: u64,
    /// Whether the backward sequence is closed.
    backward: u64,
    interpolants: u64,
    queries: u64,
}

impl Statistics {
    fn counters(&self) -> Vec<(&'static str, u64)> {
        let Statistics { bound, local, global, backward, interpolants, queries } = *self;
        vec![
            ("bound", bound),
            ("strengthenings.local", local),
            ("strengthenings.global", global),
            ("closed.backward", backward),
            ("interpolants", interpolants),
            ("solver.queries", queries),
        ]
    }
}

/// The state of a run.
struct Search<'a> {
    run: &'a Run<'a>,
    options: Options,
    unrolling: Unrolling<'a>,
    /// Whether the initial states have local variables.
    has_locals: bool,
    /// `F_0`, .., `F_N`, over the state variables.
    forward: Vec<Term>,
    /// `B_0`, .., `B_N`, over the state variables.
    backward: Vec<Term>,
    /// The step from time 0 to time 1 is in A; so are elements of the forward sequence.
    from_sources: Prover<'a>,
    /// The step is in A; so are elements of the backward sequence.
    from_targets: Prover<'a>,
    statistics: Statistics,
}

impl<'a> Search<'a> {
    fn new(run: &'a Run<'a>, options: Options, system: &'a TransitionSystem) -> Result<Self, Stop> {
        let mut unrolling = Unrolling::new(run.store, system);
        let step = unrolling.step(0, 1);
        let prover = || Prover::new(run, &[step], &[], options.interpolation);
        let variables = run.store.free_vars(&[system.init]);
        Ok(Search {
            run,
            options,
            unrolling,
            has_locals: variables.iter().any(|variable| !system.state.contains(variable)),
            forward: vec![system.init],
            backward: vec![system.bad],
            from_sources: prover()?,
            from_targets: prover()?,
            statistics: Statistics::default(),
        })
    }

    fn decide(&mut self) -> Result<Found, Stop> {
        if let Some(states) = self.bad_initial_state()? {
            return Ok(Found::Path(states));
        }
        for last in 0.. {
            self.run.go_on()?;
            let from = match self.local(last)? {
                Some(from) => {
                    self.statistics.local += 1;
                    from
                }
                None => {
                    self.statistics.global += 1;
                    match self.global(last)? {
                        Global::Apart(from) => from,
                        Global::Path(states) => return Ok(Found::Path(states)),
                    }
                }
            };
            self.strengthen(from, last)?;
            if let Some(invariant) = self.fixpoint()? {
                return Ok(Found::Invariant(invariant));
            }
            self.statistics.bound = last as u64 + 1;
            self.run.tell_progress(self.statistics.bound, self.statistics.counters());
        }
        Err(Stop::Exhausted("paths of all lengths"))
    }

    /// An initial state that is bad, as a path without steps. If no initial state is bad, `F_0` loses its local variables.
    fn bad_initial_state(&mut self) -> Result<Option<Vec<Box<[Value]>>>, Stop> {
        self.statistics.queries += 1;
        let (init, bad) = (self.unrolling.init(0), self.unrolling.at(self.backward[0], 0));
        let mut parts = Parts::new(self.run, [vec![init], vec![bad]])?;
        if parts.is_satisfiable()? {
            return Ok(Some(self.unrolling.values(&parts.solver, 0)));
        }
        if self.has_locals {
            let interpolant = parts.binary(1, self.options.interpolation)?;
            self.forward[0] = self.unrolling.untimed(interpolant, 0);
        }
        Ok(None)
    }

    /// The last place where the sequences do not meet.
    fn local(&mut self, last: usize) -> Result<Option<usize>, Stop> {
        for at in (0..=last).rev() {
            self.run.go_on()?;
            let (source, target) = self.pair(at, last);
            self.statistics.queries += 1;
            if let Separation::Apart(_) = self.from_sources.separate(self.run, &[source], &[target])? {
                return Ok(Some(at));
            }
        }
        Ok(None)
    }

    /// Strengthens the first elements of the forward sequence by interpolants of paths into the backward one.
    fn global(&mut self, last: usize) -> Result<Global, Stop> {
        let mut path = vec![vec![self.unrolling.init(0)]];
        for end in 1..=last + 1 {
            self.run.go_on()?;
            path.push(vec![self.unrolling.step(end - 1, end)]);
            let goal = self.unrolling.at(self.backward[last + 1 - end], end);
            self.statistics.queries += 1;
            let mut parts = Parts::new(self.run, path.iter().cloned().chain([vec![goal]]))?;
            if parts.is_satisfiable()? {
                if end == last + 1 {
                    return Ok(Global::Path(self.unrolling.values(&parts.solver, end)));
                }
                continue;
            }
            let interpolants = parts.sequence(self.options.interpolation)?;
            for (at, interpolant) in interpolants.into_iter().enumerate() {
                let interpolant = self.unrolling.untimed(interpolant, at);
                // Without local variables, the first element is exact.
                if at > 0 || self.has_locals {
                    self.add(Direction::Forward, at, interpolant);
                }
            }
            return Ok(Global::Apart(end - 1));
        }
        Err(Stop::Internal("the last path leads to a bad state or to none".to_owned()))
    }

    /// Strengthens both sequences from a place where they do not meet, and makes their elements `last + 1`.
    fn strengthen(&mut self, from: usize, last: usize) -> Result<(), Stop> {
        for at in from..=last {
            let (source, target) = self.pair(at, last);
            let interpolant = separate(self.run, &mut self.from_sources, source, target)?;
            self.statistics.queries += 1;
            let image = self.unrolling.untimed(interpolant, 1);
            self.add(Direction::Forward, at + 1, image);
        }
        for at in (0..=from).rev() {
            let (source, target) = self.pair(at, last);
            let interpolant = separate(self.run, &mut self.from_targets, target, source)?;
            self.statistics.queries += 1;
            let image = self.unrolling.untimed(interpolant, 0);
            self.add(Direction::Backward, last - at + 1, image);
        }
        Ok(())
    }

    /// `F_i` at time 0 and `B_{N-i}` at time 1.
    fn pair(&mut self, at: usize, last: usize) -> (Term, Term) {
        let source = self.unrolling.at(self.forward[at], 0);
        (source, self.unrolling.at(self.backward[last - at], 1))
    }

    /// Strengthens an element, or makes a new last one.
    fn add(&mut self, direction: Direction, at: usize, image: Term) {
        let store = self.run.store;
        tracing::debug!(?direction, at, image = %store.display(image), "interpolant");
        self.statistics.interpolants += 1;
        let sequence = match direction {
            Direction::Forward => &mut self.forward,
            Direction::Backward => &mut self.backward,
        };
        match sequence.get_mut(at) {
            Some(element) => *element = store.and2(*element, image),
            None => sequence.push(image),
        }
    }

    /// A safe inductive invariant, if an element of a sequence implies the disjunction of those before it.
    fn fixpoint(&mut self) -> Result<Option<Term>, Stop> {
        let store = self.run.store;
        if let Some(union) = self.closed_union(Direction::Forward)? {
            return Ok(Some(union));
        }
        let union = self.closed_union(Direction::Backward)?;
        self.statistics.backward = u64::from(union.is_some());
        Ok(union.map(|union| store.not(union)))
    }

    fn closed_union(&mut self, direction: Direction) -> Result<Option<Term>, Stop> {
        let (run, store) = (self.run, self.run.store);
        let sequence = match direction {
            Direction::Forward => &self.forward,
            Direction::Backward => &self.backward,
        };
        let mut new = run.solver();
        for (at, &element) in sequence.iter().enumerate() {
            run.go_on()?;
            self.statistics.queries += 1;
            if at > 0 && !run.is_satisfiable(&mut new, &[element])? {
                return Ok(Some(store.or(&sequence[..at])));
            }
            run.assert(&mut new, &[store.not(element)])?;
        }
        Ok(None)
    }
}

/// One of the two sequences.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Direction {
    Forward,
    Backward,
}

/// The interpolant of two formulas, one of each side, that have no model together.
fn separate(run: &Run<'_>, prover: &mut Prover<'_>, a: Term, b: Term) -> Result<Term, Stop> {
    match prover.separate(run, &[a], &[b])? {
        Separation::Apart(interpolant) => Ok(interpolant),
        Separation::Unknown => Err(Stop::Exhausted("no interpolant of a step is found")),
        Separation::Satisfiable => Err(Stop::Internal("the sequences meet again".to_owned())),
    }
}
