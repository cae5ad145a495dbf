//! TPA and split-TPA: transition power abstraction, for deep counterexamples and transition invariants.
//!
//! **What it decides.** Linear systems over Booleans and linear integer and real arithmetic, because projection
//! supports these. It treats loops one by one (`network.rs`) and nested loops as one. With `chains` off it treats all
//! loops as a single one.
//!
//! **The idea.** By squaring, `n` compositions of the transition relation with itself reach `2^n` steps. Formulas over
//! two states over-approximate the compositions. If two steps of an abstraction do not lead from the source to the
//! target states, an interpolant is a lemma of the next abstraction. If they do, the state in between is projected out
//! of the model, and both halves are searched one level below; level 0 is exact. One query can prove all paths of up to
//! `2^n` steps safe, and paths are found by halving.
//!
//! ```text
//! for n = 0, 1, ..                                         network.rs, for all loops
//!     reach(n, Init, Bad): a path                          reach.rs, with composition.rs and summaries.rs; path.rs
//!     find_invariant(n + 1): an inductive invariant        fixpoint.rs, invariant.rs
//! ```
//!
//! *TPA* has one sequence of abstractions, for at most `2^n` steps. *split-TPA* has two, for fewer than and for exactly
//! `2^n` steps: every path then has one decomposition, and there are more ways to be inductive. In each round it first
//! searches for paths with fewer than `2^(n+1)` steps, and then for paths with exactly `2^(n+1)`.
//!
//! **Invariants.** A1 and A2 on abstractions (`powers.rs`), C1 on solvers (`composition.rs`), S1 on summaries
//! (`summaries.rs`), R1 and R2 on reachability (`reach.rs`), F1 and F2 on fixpoints (`fixpoint.rs`), N1 to N3 on
//! several loops (`network.rs`).
//!
//! **Why the answer is right.** A summary that leads from an initial to a bad state unfolds to a path (S1). A safe
//! transition invariant contains all paths from initial states, or all paths to bad states, so no path leads from an
//! initial to a bad state. `invariant.rs` turns it into an inductive invariant.
//!
//! **Notation.** `ATr<=n`, `ATr<n` and `ATr=n` are `Powers::element` for a `Count` and a level, `IsReachable(n, ..)` is
//! `Search::reach`, `HasInvariant(n)` is `Search::find_invariant` for level `n + 1`.
//!
//! **Where it comes from.** M. Blicha, G. Fedyukovich, A. Hyvärinen, N. Sharygina, "Transition power abstractions for deep
//! counterexample detection" (TACAS 2022) and "Split transition power abstraction for unbounded safety" (FMCAD 2022); here
//! after Chapter 4 of Blicha's thesis, with its errors corrected (`fixpoint.rs`).
//!
//! **Where we differ.** In the papers, reachability returns states only, and each step of a path takes a call of its
//! own. Ours also returns a *summary*, an under-approximating relation between states, and tries known summaries first.
//! So a path of `2^n` steps through a repetitive loop takes a number of calls linear in `n`, and the path is unfolded
//! from summaries. Elimination instead of projection is offered only for the states in between, because reached states
//! belong to a summary. Transition invariants may use a subset of the lemmas (`fixpoint.rs`). Inductions over many
//! steps become one-step inductions without unrolling (`invariant.rs`).

mod composition;
mod fixpoint;
mod invariant;
mod network;
mod path;
mod powers;
mod reach;
mod summaries;

use std::time::Instant;

use rustc_hash::FxHashMap;
use shofar_horn::graph::rename;
use shofar_horn::transform::{NestedLoops, Pipeline, to_single_loop};
use shofar_horn::{HornGraph, TransitionSystem};
use shofar_logic::{Assignment, Term, TermStore};
use shofar_run::Stop;
use shofar_smt::interpolate;
use shofar_smt::project::Projector;
use shofar_smt::sat::Outcome;
use shofar_smt::solver::Solver;

use crate::exchange::strengthened;
use crate::forms::LoopForm;
use crate::option::{Named, options};
use crate::{Engine, EngineOption, Evidence, InterpolationMethod, Run};
use composition::Composition;
use fixpoint::Candidate;
use network::{Found, Network};
use powers::{Count, Level, Powers};
use reach::Reached;
use summaries::Summaries;

/// How the states between two halves of a path are found.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Intermediate {
    /// The states around a model, by projection.
    #[default]
    Projected,
    /// All states, by elimination.
    Eliminated,
}

impl Named for Intermediate {
    const ALL: &'static [Self] = &[Intermediate::Projected, Intermediate::Eliminated];

    fn name(self) -> &'static str {
        match self {
            Intermediate::Projected => "projected",
            Intermediate::Eliminated => "eliminated",
        }
    }
}

options! {
    /// Use two sequences of abstractions, for fewer than and for exactly `2^n` steps. This distinguishes the two
    /// engines.
    split: bool = false;
    interpolation: InterpolationMethod = InterpolationMethod::Decomposed, "interpolation": "how interpolants are made";
    intermediate: Intermediate = Intermediate::Projected,
        "intermediate": "how the states between two halves of a path are found";
    chains: bool = true,
        "chains": "take loops that follow on each other one by one, not as a single loop";
}

/// The TPA and split-TPA engines.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Tpa {
    /// The options of the engine.
    pub options: Options,
}

impl Tpa {
    /// The engine with two sequences of abstractions.
    pub fn split() -> Self {
        Tpa { options: Options { split: true, ..Options::default() } }
    }
}

impl Engine for Tpa {
    fn name(&self) -> &'static str {
        if self.options.split { "split-tpa" } else { "tpa" }
    }

    fn description(&self) -> &'static str {
        if self.options.split {
            "transition power abstraction with two sequences; linear systems"
        } else {
            "transition power abstraction, for deep counterexamples; linear systems"
        }
    }

    fn options(&mut self) -> Vec<EngineOption<'_>> {
        self.options.list()
    }

    fn solve(&self, graph: &HornGraph, run: &Run<'_>) -> Result<Evidence, Stop> {
        let start = Instant::now();
        let form =
            if self.options.chains { Pipeline::new(vec![Box::new(NestedLoops)]) } else { to_single_loop() };
        let form = LoopForm::of(run, &strengthened(run, graph), &form)?;
        let mut network = Network::new(&form.graph, run, &self.options);
        let found = network.solve();
        let counters = network.counters();
        run.tell_statistics(counters, start);
        match found? {
            Found::Path(states) => form.unsafe_by(run, states),
            Found::Model(formulas) => form.safe(run, formulas),
        }
    }
}

/// The counters of one loop.
#[derive(Clone, Copy, Default, Debug)]
struct Statistics {
    queries: u64,
    lemmas: u64,
    fallbacks: u64,
    recalled: u64,
    projections: u64,
    fixpoint_queries: u64,
    fixpoints: u64,
}

/// A loop, the current question about it, and what is known.
struct Search<'a> {
    // The problem.
    store: &'a TermStore,
    run: &'a Run<'a>,
    options: &'a Options,
    interpolation: interpolate::Options,
    /// The loop, with the initial and bad states of the question.
    system: TransitionSystem,
    /// The conjuncts of the initial states, over the first state.
    init: Vec<Term>,
    /// The bad states, over the last state.
    bad: Term,
    /// Local variables of initial and bad states.
    locals: Vec<Term>,

    // Known about the question.
    /// No bad state is reachable at the levels below this one.
    unreachable: Level,
    /// The sizes of candidates when they were last tried (F1).
    tried: FxHashMap<Candidate, (usize, usize)>,

    // Known about the loop.
    powers: Powers<'a>,
    summaries: Summaries<'a>,

    // Tools.
    compositions: FxHashMap<(Count, Level), Composition<'a>>,
    projector: Projector<'a>,
    /// The solver for one-off conjunctions, which are assumed.
    conjunctions: Solver<'a>,
    asked: u32,

    statistics: Statistics,
}

impl<'a> Search<'a> {
    /// The first question has the initial and bad states of the system.
    fn new(system: TransitionSystem, run: &'a Run<'a>, options: &'a Options) -> Self {
        let store = run.store;
        let powers = Powers::new(store, &system);
        let mut search = Search {
            store,
            run,
            options,
            interpolation: options.interpolation.options(),
            init: Vec::new(),
            bad: Term::FALSE,
            locals: Vec::new(),
            unreachable: 0,
            tried: FxHashMap::default(),
            summaries: Summaries::new(store, &powers),
            powers,
            compositions: FxHashMap::default(),
            projector: Projector::new(store),
            conjunctions: run.solver(),
            asked: 0,
            statistics: Statistics::default(),
            system,
        };
        let bad = rename(store, search.system.bad, &search.system.state, &search.system.next);
        search.pose(&[search.system.init], bad);
        search
    }

    /// Asks whether `bad` is reachable from `init`: conjuncts over the first state, and a formula over the last one.
    /// Both may have local variables.
    fn pose(&mut self, init: &[Term], bad: Term) {
        if self.init == init && self.bad == bad {
            return;
        }
        let TransitionSystem { state, next, .. } = &self.system;
        self.init = init.to_vec();
        self.bad = bad;
        self.locals = self.store.free_vars(&[init, &[bad]].concat());
        self.locals.retain(|variable| !state.contains(variable) && !next.contains(variable));
        let bad = rename(self.store, bad, next, state);
        self.system.init = self.store.and(init);
        self.system.bad = bad;
        self.unreachable = 0;
        self.tried.clear();
    }

    /// The counts that together cover all paths.
    fn counts(&self) -> &'static [Count] {
        if self.options.split { &[Count::Below, Count::Exactly] } else { &[Count::AtMost] }
    }

    /// Searches for a path from an initial to a bad state, level by level up to `level`.
    fn reach_within(&mut self, level: Level) -> Result<Option<Reached>, Stop> {
        while self.unreachable <= level {
            if let Some(reached) = self.reach_at(self.unreachable)? {
                return Ok(Some(reached));
            }
            self.unreachable += 1;
        }
        Ok(None)
    }

    /// Searches for a path from an initial to a bad state at one level.
    fn reach_at(&mut self, level: Level) -> Result<Option<Reached>, Stop> {
        let (init, bad) = (self.init.clone(), [self.bad]);
        for &count in self.counts() {
            if let Some(reached) = self.reach(count, level, &init, &bad)? {
                return Ok(Some(reached));
            }
        }
        Ok(None)
    }

    // ---- tools -------------------------------------------------------------------------------------------

    /// A model of the conjunction of the formulas.
    fn solve_together(&mut self, formulas: &[Term]) -> Result<Option<Assignment>, Stop> {
        self.asked += 1;
        let outcome = self.conjunctions.check(formulas, &self.run.limits);
        match outcome.map_err(|unsupported| unsupported.stop(self.store))? {
            Outcome::Sat => Ok(Some(self.conjunctions.model(formulas))),
            Outcome::Unsat => Ok(None),
            Outcome::Unknown(reason) => Err(reason.into()),
        }
    }

    /// A cube without the variables `gone` that holds in the model and implies `exists gone. formulas`.
    fn project(&mut self, formulas: &[Term], model: &Assignment, gone: &[Term]) -> Result<Vec<Term>, Stop> {
        self.statistics.projections += 1;
        let projection = self.projector.project_cube(formulas, model, gone);
        Ok(projection.map_err(|error| error.stop(self.store))?.literals)
    }

    /// The number of solver queries.
    fn solver_queries(&self) -> u64 {
        let Statistics { queries, fixpoint_queries, .. } = self.statistics;
        queries + fixpoint_queries + self.summaries.queries + u64::from(self.asked)
    }
}
