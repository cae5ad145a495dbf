//! TPA and split-TPA: transition power abstraction, for deep counterexamples and transition invariants.
//!
//! **What it decides.** Linear systems whose variables can be projected: truth values, integers and reals in linear
//! constraints. Loops are taken one by one (`network.rs`), nested ones as one; or all as a single loop, if that is wished.
//!
//! **The idea.** By squaring, `n` compositions of the transition relation with itself reach `2^n` steps. The compositions
//! are over-approximated by formulas over two states: if no two steps of an abstraction lead from some states to others, an
//! interpolant is a lemma about the next one. If they do, the state in between is projected out of the model, and
//! both halves are asked for one level below; at the bottom all is exact. One query can show that all paths of up to `2^n`
//! steps are safe, and if a path is found, it was found by halving.
//!
//! ```text
//! for n = 0, 1, ..                                         network.rs, for all loops
//!     reach(n, Init, Bad): a path                          reach.rs, with composition.rs and summaries.rs; path.rs
//!     find_invariant(n + 1): an inductive invariant        fixpoint.rs, invariant.rs
//! ```
//!
//! *TPA* has one sequence of abstractions, for at most `2^n` steps. *split-TPA* has two, for fewer than and for exactly
//! `2^n` steps: a path has one decomposition then, and there are more ways to be inductive. In each round it asks for paths
//! with fewer than `2^(n+1)` steps, and then for those with exactly as many.
//!
//! **Invariants.** A1 and A2 on abstractions (`powers.rs`), C1 on solvers (`composition.rs`), S1 on summaries
//! (`summaries.rs`), R1 and R2 on reachability (`reach.rs`), F1 and F2 on fixpoints (`fixpoint.rs`), N1 to N3 on several
//! loops (`network.rs`).
//!
//! **Why the answer is right.** A summary that leads from an initial to a bad state unfolds to a path (S1). A safe
//! transition invariant contains all paths from initial states, or all to bad ones, and so shows that there is none from
//! the ones to the others; `invariant.rs` makes an inductive invariant of it.
//!
//! **Notation.** `ATr<=n`, `ATr<n` and `ATr=n` are `Powers::element` for a `Count` and a level, `IsReachable(n, ..)` is
//! `Search::reach`, `HasInvariant(n)` is `Search::find_invariant` for level `n + 1`.
//!
//! **Where it comes from.** M. Blicha, G. Fedyukovich, A. Hyvärinen, N. Sharygina, "Transition power abstractions for deep
//! counterexample detection" (TACAS 2022) and "Split transition power abstraction for unbounded safety" (FMCAD 2022); here
//! after Chapter 4 of Blicha's thesis, with its errors corrected (`fixpoint.rs`).
//!
//! **Where we differ.** Reachability of the papers returns states only, and each step of a path is found by a call of its
//! own. Ours also returns a *summary*, a relation between states that is there for certain, and looks among the summaries
//! first. So a path of `2^n` steps through a loop that repeats itself takes a number of calls linear in `n`, and
//! summaries are what the path is unfolded from. Elimination instead of projection is offered for the states in between
//! only, because states that are reached belong to a summary. Transition invariants are looked for among subsets of lemmas
//! (`fixpoint.rs`), and inductions by many steps become such by one without unrolling (`invariant.rs`).

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
    /// Those around a model, by projection.
    #[default]
    Projected,
    /// All, by elimination.
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
    /// Whether there are two sequences of abstractions, for fewer than and for exactly so many steps: it tells the two
    /// engines apart.
    split: bool = false;
    interpolation: InterpolationMethod = InterpolationMethod::Decomposed, "interpolation": "how interpolants are made";
    intermediate: Intermediate = Intermediate::Projected,
        "intermediate": "how the states between two halves of a path are found";
    chains: bool = true,
        "chains": "take loops that follow on each other one by one, not as a single loop";
}

/// The engine.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Tpa {
    /// Its choices.
    pub options: Options,
}

impl Tpa {
    /// With two sequences of abstractions.
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
        let form = LoopForm::of(run, graph, &form)?;
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

/// What is counted for a loop.
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

/// A loop, the question that is asked about it, and what is known.
struct Search<'a> {
    // The problem.
    store: &'a TermStore,
    run: &'a Run<'a>,
    options: &'a Options,
    interpolation: interpolate::Options,
    /// The loop, with the states of the question.
    system: TransitionSystem,
    /// The conjuncts of the initial states, over the first state.
    init: Vec<Term>,
    /// Over the last state.
    bad: Term,
    /// Other variables of initial and bad states.
    locals: Vec<Term>,

    // What is known of the question.
    /// The levels at which no path is found.
    unreachable: Level,
    /// The sizes of candidates when they were tried last (F1).
    tried: FxHashMap<Candidate, (usize, usize)>,

    // What is known of the loop.
    powers: Powers<'a>,
    summaries: Summaries<'a>,

    // Tools.
    compositions: FxHashMap<(Count, Level), Composition<'a>>,
    projector: Projector<'a>,
    /// For conjunctions, which are assumed.
    conjunctions: Solver<'a>,
    asked: u32,

    statistics: Statistics,
}

impl<'a> Search<'a> {
    /// The initial and the bad states of the system are the first question.
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

    /// Asks whether states are reached from others: conjuncts over the first state, and a formula over the last one. Both may
    /// have variables of their own.
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

    /// The counts that make up all paths.
    fn counts(&self) -> &'static [Count] {
        if self.options.split { &[Count::Below, Count::Exactly] } else { &[Count::AtMost] }
    }

    /// How a bad state is reached from an initial one, by paths of up to so many levels; the lowest one at first.
    fn reach_within(&mut self, level: Level) -> Result<Option<Reached>, Stop> {
        while self.unreachable <= level {
            if let Some(reached) = self.reach_at(self.unreachable)? {
                return Ok(Some(reached));
            }
            self.unreachable += 1;
        }
        Ok(None)
    }

    /// How a bad state is reached from an initial one, by paths of a level.
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

    /// A model of formulas together.
    fn solve_together(&mut self, formulas: &[Term]) -> Result<Option<Assignment>, Stop> {
        self.asked += 1;
        let outcome = self.conjunctions.check(formulas, &self.run.limits);
        match outcome.map_err(|unsupported| unsupported.stop(self.store))? {
            Outcome::Sat => Ok(Some(self.conjunctions.model(formulas))),
            Outcome::Unsat => Ok(None),
            Outcome::Unknown(reason) => Err(reason.into()),
        }
    }

    /// A cube without variables that implies that these exist, around a model.
    fn project(&mut self, formulas: &[Term], model: &Assignment, gone: &[Term]) -> Result<Vec<Term>, Stop> {
        self.statistics.projections += 1;
        let projection = self.projector.project_cube(formulas, model, gone);
        Ok(projection.map_err(|error| error.stop(self.store))?.literals)
    }

    /// How often a solver was asked.
    fn solver_queries(&self) -> u64 {
        let Statistics { queries, fixpoint_queries, .. } = self.statistics;
        queries + fixpoint_queries + self.summaries.queries + u64::from(self.asked)
    }
}
