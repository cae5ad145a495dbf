//! k-induction, in both directions.
//!
//! **What it decides.** Transition systems, and so all linear systems. With simple paths it is complete for systems
//! with finitely many states; otherwise it is incomplete.
//!
//! **How.** (Sheeran, Singh, Stalmarck, FMCAD 2000.) For `k = 0, 1, 2, ..`, each query has its own incremental solver:
//!
//! ```text
//! base      Init(0), T(0,1), .., T(k-1,k), Bad(k)                          sat: unsafe
//! forward   not Bad(k), T(k,k-1), .., not Bad(1), T(1,0), Bad(0)           unsat: safe, not Bad is k-inductive
//! backward  Init(0), T(0,1), not Init(1), .., T(k-1,k), not Init(k)        unsat: safe, likewise with time reversed
//! ```
//!
//! The forward query counts times from the bad state, so it grows at its other end. The backward query is the forward
//! query of the reversed system: it swaps initial and bad states, reverses transitions, and complements invariants. So
//! both are an instance of `Step`.
//!
//! *Simple paths.* A shortest path to a bad state repeats no state. The constraint that two states differ is added only
//! for states that a counterexample to induction repeats.
//!
//! *Local variables.* `not Bad` quantifies over all values of local variables, so the local variables of `Init` and
//! `Bad` are eliminated first. If this fails, the direction is not tried.
//!
//! *Closed sets* of other engines contain all reached states. They may be many, and each of them is asserted for every time, so they are
//! added like simple paths: those that exclude a state of the counterexample to induction that was found. The system for which the
//! invariant is made inductive is restricted to the same sets. Where others know that there is no counterexample, the base query is
//! left out.
//!
//! *Witnesses.* A path is read off the model; `to_inductive` makes a k-inductive invariant inductive.

use std::time::Instant;

use rustc_hash::FxHashMap;
use shofar_horn::graph::rename;
use shofar_horn::{HornGraph, TransitionSystem};
use shofar_logic::{Assignment, Evaluator, Term, TermStore, Value};
use shofar_run::Stop;
use shofar_smt::solver::Solver;

use crate::eliminate::with_few_locals;
use crate::exchange::states::{StateFact, StatePort};
use crate::forms::TransitionForm;
use crate::k_inductive::to_inductive;
use crate::option::options;
use crate::run::solver_counters;
use crate::unroll::Unrolling;
use crate::{Engine, EngineOption, Evidence, FactId, Fate, Run};

options! {
    simple_paths: bool = true, "simple-paths": "look at paths without repeated states only";
}

/// The k-induction engine.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct KInduction {
    /// The options of the engine.
    pub options: Options,
}

impl Engine for KInduction {
    fn name(&self) -> &'static str {
        "kind"
    }

    fn description(&self) -> &'static str {
        "k-induction, forward and backward; linear systems"
    }

    fn options(&mut self) -> Vec<EngineOption<'_>> {
        self.options.list()
    }

    fn solve(&self, graph: &HornGraph, run: &Run<'_>) -> Result<Evidence, Stop> {
        let start = Instant::now();
        let looped = TransitionForm::of(run, graph)?;
        let system = TransitionSystem {
            init: with_few_locals(run, looped.system.init, &looped.system.state),
            bad: with_few_locals(run, looped.system.bad, &looped.system.state),
            ..looped.system.clone()
        };
        let reversal = reversed(run.store, &system);
        let mut search = Search {
            run,
            base: Base::new(run, &system),
            forward: Step::new(run, &system, &system.state, self.options.simple_paths),
            backward: Step::new(run, &reversal, &system.state, self.options.simple_paths),
            port: StatePort::of(run, &looped),
            known: None,
        };
        let found = search.decide();
        run.tell_statistics(search.counters(), start);
        let used = |step: &Option<Step<'_>>| match step {
            Some(step) => run.store.and_of(step.used.iter().copied()),
            None => Term::TRUE,
        };
        match found? {
            Found::Path(states) => looped.unsafe_by(run, states),
            Found::Forward(k) => {
                let system = strengthened(run.store, &system, used(&search.forward));
                let invariant = to_inductive(run, &system, run.store.not(system.bad), k)?;
                looped.safe(run, invariant)
            }
            Found::Backward(k) => {
                let system = strengthened(run.store, &system, used(&search.backward));
                let reversed = reversed(run.store, &system);
                let invariant = to_inductive(run, &reversed, run.store.not(reversed.bad), k)?;
                let invariant = rename(run.store, invariant, &reversed.state, &system.state);
                looped.safe(run, run.store.not(invariant))
            }
        }
    }
}

/// The system restricted to a closed set of states, which contains all reached ones.
fn strengthened(store: &TermStore, system: &TransitionSystem, closed: Term) -> TransitionSystem {
    let TransitionSystem { state, next, init, transition, bad } = system;
    TransitionSystem {
        state: state.clone(),
        next: next.clone(),
        init: store.and2(*init, closed),
        transition: store.and(&[*transition, closed, rename(store, closed, state, next)]),
        bad: store.and2(*bad, closed),
    }
}

/// The result of the search.
enum Found {
    /// States of a path from an initial to a bad one.
    Path(Vec<Box<[Value]>>),
    /// `not Bad` is k-inductive.
    Forward(usize),
    /// `not Init` is k-inductive in the reversed system.
    Backward(usize),
}

/// The state of a run.
struct Search<'a> {
    run: &'a Run<'a>,
    base: Base<'a>,
    /// Absent if bad, or initial, states have local variables.
    forward: Option<Step<'a>>,
    backward: Option<Step<'a>>,
    port: Option<StatePort<'a>>,
    /// The number of steps for which other engines know that there is no counterexample.
    known: Option<usize>,
}

impl Search<'_> {
    fn decide(&mut self) -> Result<Found, Stop> {
        let mut k = 0;
        loop {
            self.receive();
            let is_known = self.known.is_some_and(|steps| k <= steps);
            if let Some(states) = self.base.counterexample(k, is_known)? {
                return Ok(Found::Path(states));
            }
            if let Some(port) = &self.port {
                port.send(StateFact::Depth(k));
            }
            if let Some(forward) = &mut self.forward
                && forward.is_inductive(k, self.port.as_ref())?
            {
                return Ok(Found::Forward(k));
            }
            if let Some(backward) = &mut self.backward
                && backward.is_inductive(k, self.port.as_ref())?
            {
                return Ok(Found::Backward(k));
            }
            tracing::debug!(k, "neither a counterexample nor an invariant");
            self.run.tell_progress(k as u64, self.counters());
            k += 1;
        }
    }

    /// Offers both induction queries the closed sets of other engines, and notes how far they have searched.
    fn receive(&mut self) {
        let Some(port) = &self.port else { return };
        for (id, fact) in port.receive() {
            match fact {
                StateFact::Closed(set) => {
                    for step in [&mut self.forward, &mut self.backward].into_iter().flatten() {
                        step.offers.extend(self.run.store.conjuncts(set).map(|set| (id, set)));
                    }
                }
                StateFact::Depth(steps) => {
                    self.known = self.known.max(Some(steps));
                    port.rate(id, Fate::Accepted);
                }
                StateFact::Bounded { .. } => {}
            }
        }
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let steps = || [&self.forward, &self.backward].into_iter().flatten();
        let repetitions = steps().map(|step| step.repetitions).sum();
        let mut counters = vec![("depth", self.base.depth as u64), ("repetitions", repetitions)];
        let told = counters.len();
        counters.extend(solver_counters(&self.base.solver));
        for step in steps() {
            let of_solver = counters[told..].iter_mut();
            for (counter, (_, more)) in of_solver.zip(solver_counters(&step.solver)) {
                counter.1 += more;
            }
        }
        counters
    }
}

/// The base query: paths from initial states.
struct Base<'a> {
    run: &'a Run<'a>,
    unrolling: Unrolling<'a>,
    solver: Solver<'a>,
    /// The number of transitions of the last query's paths.
    depth: usize,
}

impl<'a> Base<'a> {
    fn new(run: &'a Run<'a>, system: &'a TransitionSystem) -> Self {
        let (unrolling, solver) = (Unrolling::new(run.store, system), run.solver());
        Base { run, unrolling, solver, depth: 0 }
    }

    /// A path with `k` transitions to a bad state, unless it is known that there is no such path. Each call increases `k` by one.
    fn counterexample(&mut self, k: usize, is_excluded: bool) -> Result<Option<Vec<Box<[Value]>>>, Stop> {
        self.depth = k;
        let longer = match k.checked_sub(1) {
            None => self.unrolling.init(0),
            Some(before) => self.unrolling.step(before, k),
        };
        self.run.assert(&mut self.solver, &[longer])?;
        if is_excluded {
            return Ok(None);
        }
        let bad = self.unrolling.bad(k);
        let is_reachable = self.run.is_satisfiable(&mut self.solver, &[bad])?;
        Ok(is_reachable.then(|| self.unrolling.values(&self.solver, k)))
    }
}

/// The induction query: paths whose only bad state is the last one.
struct Step<'a> {
    run: &'a Run<'a>,
    system: &'a TransitionSystem,
    simple_paths: bool,
    /// Times count backwards.
    unrolling: Unrolling<'a>,
    solver: Solver<'a>,
    repetitions: u64,
    /// Closed sets of others that are not yet used, over the state variables of the engine's system.
    offers: Vec<(FactId, Term)>,
    /// Those to which all states are restricted.
    used: Vec<Term>,
    /// The state variables of the engine's system.
    variables: &'a [Term],
}

impl<'a> Step<'a> {
    /// `None` if bad states have local variables.
    fn new(
        run: &'a Run<'a>,
        system: &'a TransitionSystem,
        variables: &'a [Term],
        simple_paths: bool,
    ) -> Option<Self> {
        let locals =
            run.store.free_vars(&[system.bad]).iter().any(|variable| !system.state.contains(variable));
        (!locals).then(|| Step {
            run,
            system,
            simple_paths,
            unrolling: Unrolling::new(run.store, system),
            solver: run.solver(),
            repetitions: 0,
            offers: Vec::new(),
            used: Vec::new(),
            variables,
        })
    }

    /// Whether no path with `k` transitions leads to a bad state. Each call increases `k` by one.
    fn is_inductive(&mut self, k: usize, port: Option<&StatePort<'_>>) -> Result<bool, Stop> {
        let mut longer = match k.checked_sub(1) {
            None => vec![self.unrolling.bad(0)],
            Some(after) => {
                let bad = self.unrolling.bad(k);
                vec![self.unrolling.step(k, after), self.run.store.not(bad)]
            }
        };
        for set in self.used.clone() {
            longer.push(self.at(set, k));
        }
        self.run.assert(&mut self.solver, &longer)?;
        loop {
            if !self.run.is_satisfiable(&mut self.solver, &[])? {
                return Ok(true);
            }
            let states = self.unrolling.values(&self.solver, k);
            let mut more = self.excluding(&states, port);
            if more.is_empty() && self.simple_paths {
                more = self.repeated(states);
                self.repetitions += more.len() as u64;
            }
            if more.is_empty() {
                return Ok(false);
            }
            self.run.assert(&mut self.solver, &more)?;
        }
    }

    /// A closed set at a time.
    fn at(&mut self, set: Term, time: usize) -> Term {
        let set = rename(self.run.store, set, self.variables, &self.system.state);
        self.unrolling.at(set, time)
    }

    /// The restriction of all states to closed sets that exclude one of these.
    fn excluding(&mut self, states: &[Box<[Value]>], port: Option<&StatePort<'_>>) -> Vec<Term> {
        let store = self.run.store;
        let mut excluding: Vec<(FactId, Term)> = Vec::new();
        for state in states {
            if self.offers.is_empty() {
                break;
            }
            let mut assignment = Assignment::new();
            for (&variable, value) in self.variables.iter().zip(state) {
                assignment.set(variable, value.clone());
            }
            let mut evaluator = Evaluator::new(store, &assignment);
            let is_excluded =
                |&mut (_, set): &mut (FactId, Term)| matches!(evaluator.eval(set), Ok(Value::Bool(false)));
            excluding.extend(self.offers.extract_if(.., is_excluded));
        }
        let mut more = Vec::new();
        for (id, set) in excluding {
            if let Some(port) = port {
                port.rate(id, Fate::Accepted);
                port.rate(id, Fate::Useful);
            }
            more.extend((0..states.len()).map(|time| self.at(set, time)));
            self.used.push(set);
        }
        more
    }

    /// The constraints that repeated states of the found path differ.
    fn repeated(&mut self, states: Vec<Box<[Value]>>) -> Vec<Term> {
        let store = self.run.store;
        let mut differ = Vec::new();
        let mut first: FxHashMap<Box<[Value]>, usize> = FxHashMap::default();
        for (time, state) in states.into_iter().enumerate() {
            if let Some(earlier) = first.insert(state, time) {
                let (earlier, later) = (self.unrolling.state(earlier).to_vec(), self.unrolling.state(time));
                let equations = earlier.iter().zip(later).map(|(&a, &b)| store.eq(a, b));
                differ.push(store.not(store.and_of(equations)));
            }
        }
        differ
    }
}

/// The system with time reversed, from bad to initial states. Its state variables are the next-state variables of the
/// original.
pub(crate) fn reversed(store: &TermStore, system: &TransitionSystem) -> TransitionSystem {
    let TransitionSystem { state, next, init, transition, bad } = system;
    TransitionSystem {
        state: next.clone(),
        next: state.clone(),
        init: rename(store, *bad, state, next),
        transition: *transition,
        bad: rename(store, *init, state, next),
    }
}
