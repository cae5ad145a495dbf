//! States as formulas over the variables of a transition system: the solver implements [`Domain`].
//!
//! ```text
//! initial, image     Init, or T and the frame as assumptions; the goal as assumptions
//!     sat            model-based projection of T and the goal onto the first state (an under-approximation)
//!     unsat          an interpolant between what the core needs of the frame, and of the goal
//! path_to            T(0,1), .., T(k-1,k) and the frame at times 0 to k-1, asserted once a level; the goal at time k
//! generalise         projection of T(0,1), .., T(k-1,k) and the goal, without the frame
//! ```
//!
//! *Initial states in images.* If the interpolant does not contain the initial states, an interpolant between them and
//! the goal is disjoined. Checking this first keeps most lemmas free of disjunctions.
//!
//! *Without an interpolant* the complement of the goal replaces it. By R2 of `fire.rs` the goal is not reached in fewer
//! steps either, so the complement is an invariant for the same number of steps.

use rustc_hash::FxHashSet;
use shofar_horn::TransitionSystem;
use shofar_horn::graph::rename;
use shofar_logic::{Assignment, Substitution, Term, TermStore, Value};
use shofar_run::Stop;
use shofar_smt::project::Projector;
use shofar_smt::solver::Solver;

use super::domain::{Domain, Image};
use super::ice::Received;
use crate::exchange::states::{StateFact, StatePort};
use crate::separation::{InterpolationMethod, Prover, Separation};
use crate::unroll::Unrolling;
use crate::{Cex, FactId, Fate, Run};

/// A transition system whose bad states have no local variables, and its solvers.
pub(super) struct Symbolic<'a> {
    run: &'a Run<'a>,
    system: &'a TransitionSystem,
    port: Option<StatePort<'a>>,
    projector: Projector<'a>,

    // One step.
    init: Solver<'a>,
    init_prover: Prover<'a>,
    step: Solver<'a>,
    step_prover: Prover<'a>,
    /// The variables of a transition, except those of the first state.
    after_first: Vec<Term>,

    // Paths of the current level.
    paths: Solver<'a>,
    unrolling: Unrolling<'a>,
    /// `T(0,1)`, `T(1,2)`, ..
    steps: Vec<Term>,
    length: usize,
    /// The conjuncts asserted for all states but the last.
    restrictions: FxHashSet<Term>,

    pub(super) queries: u64,
    pub(super) fallbacks: u64,
}

/// A path: a model of the unrolling.
pub(super) struct PathModel(Assignment);

impl<'a> Symbolic<'a> {
    pub(super) fn new(
        run: &'a Run<'a>,
        system: &'a TransitionSystem,
        port: Option<StatePort<'a>>,
        interpolation: InterpolationMethod,
    ) -> Result<Self, Stop> {
        let store = run.store;
        let mut init = run.solver();
        run.assert(&mut init, &[system.init])?;
        let mut step = run.solver();
        run.assert(&mut step, &[system.transition])?;
        Ok(Symbolic {
            run,
            system,
            port,
            projector: Projector::new(store),
            init,
            init_prover: Prover::new(run, &[system.init], &[], interpolation)?,
            step,
            step_prover: Prover::new(run, &[system.transition], &[], interpolation)?,
            after_first: others(store, &[system.transition], &system.state, &system.next),
            paths: run.solver(),
            unrolling: Unrolling::new(store, system),
            steps: Vec::new(),
            length: 0,
            restrictions: FxHashSet::default(),
            queries: 0,
            fallbacks: 0,
        })
    }

    /// The number of interpolants found.
    pub(super) fn interpolant_count(&self) -> u64 {
        self.init_prover.found + self.step_prover.found
    }

    fn is_satisfiable(&mut self, which: Which, assumptions: &[Term]) -> Result<bool, Stop> {
        self.queries += 1;
        let solver = match which {
            Which::Init => &mut self.init,
            Which::Step => &mut self.step,
            Which::Paths => &mut self.paths,
        };
        self.run.is_satisfiable(solver, assumptions)
    }

    /// A set that separates the initial states from a disjoint goal. Precondition: the last query of `init` proved them
    /// disjoint.
    fn between_init_and(&mut self, goal: Term) -> Result<Term, Stop> {
        let core = self.init.core();
        match self.init_prover.separate(self.run, &[], &core)? {
            Separation::Apart(interpolant) => Ok(interpolant),
            Separation::Satisfiable | Separation::Unknown => {
                self.fallbacks += 1;
                Ok(self.run.store.not(goal))
            }
        }
    }

    /// The states of a path from an initial state through the sets of a trace, each with its number of steps to the
    /// next one.
    pub(super) fn concrete(&mut self, trace: &[(Term, usize)]) -> Result<Vec<Box<[Value]>>, Stop> {
        let store = self.run.store;
        let lost = || Stop::Internal("a path through sets of states is none through states".to_owned());
        let mut states: Vec<Box<[Value]>> = Vec::new();
        let mut length = 0;
        for &(set, steps) in trace {
            let mut solver = self.run.solver();
            let start = match states.pop() {
                None => self.unrolling.init(0),
                Some(state) => {
                    let equations = self.unrolling.state(0).iter().zip(&state);
                    store.and_of(
                        equations.map(|(&variable, value)| store.eq(variable, store.value_to_term(value))),
                    )
                }
            };
            self.run.assert(&mut solver, &[start])?;
            for time in 0..length {
                let step = self.step_at(time);
                self.run.assert(&mut solver, &[step])?;
            }
            let end = self.unrolling.at(set, length);
            if !self.run.is_satisfiable(&mut solver, &[end])? {
                return Err(lost());
            }
            states.extend(self.unrolling.values(&solver, length));
            length = steps;
        }
        Ok(states)
    }

    /// `T(time, time + 1)`.
    fn step_at(&mut self, time: usize) -> Term {
        while self.steps.len() <= time {
            let from = self.steps.len();
            let step = self.unrolling.step(from, from + 1);
            self.steps.push(step);
        }
        self.steps[time]
    }

    fn project(&mut self, formulas: &[Term], model: &Assignment, vars: &[Term]) -> Result<Term, Stop> {
        let store = self.run.store;
        let projection = self.projector.project_cube(formulas, model, vars);
        let projection = projection.map_err(|error| error.stop(store))?;
        Ok(projection.formula(store))
    }
}

#[derive(Clone, Copy)]
enum Which {
    Init,
    Step,
    Paths,
}

impl Domain for Symbolic<'_> {
    type Set = Term;
    type Path = PathModel;

    fn poll(&mut self) -> Result<(), Stop> {
        Ok(self.run.go_on()?)
    }

    fn complement(&mut self, set: Term) -> Term {
        self.run.store.not(set)
    }

    fn intersection(&mut self, first: Term, second: Term) -> Term {
        self.run.store.and2(first, second)
    }

    fn initial(&mut self, goal: Term) -> Result<Image<Term>, Stop> {
        let literals = conjuncts(self.run.store, [goal]);
        if self.is_satisfiable(Which::Init, &literals)? {
            return Ok(Image::Meets(goal));
        }
        self.between_init_and(goal).map(Image::Apart)
    }

    fn image(&mut self, frame: &[Term], goal: Term) -> Result<Image<Term>, Stop> {
        let store = self.run.store;
        let TransitionSystem { state, next, transition, .. } = self.system;
        let goal_after = rename(store, goal, state, next);
        let before = conjuncts(store, frame.iter().copied());
        let after = conjuncts(store, [goal_after]);
        if self.is_satisfiable(Which::Step, &[&before[..], &after].concat())? {
            let formulas = [&after[..], &[*transition]].concat();
            let model = self.step.model(&formulas);
            let vars = std::mem::take(&mut self.after_first);
            let predecessors = self.project(&formulas, &model, &vars);
            self.after_first = vars;
            return predecessors.map(Image::Meets);
        }
        let core: FxHashSet<Term> = self.step.core().into_iter().collect();
        let needed =
            |all: &[Term]| -> Vec<Term> { all.iter().copied().filter(|f| core.contains(f)).collect() };
        let found = self.step_prover.separate(self.run, &needed(&before), &needed(&after))?;
        let Separation::Apart(interpolant) = found else {
            self.fallbacks += 1;
            return Ok(Image::Apart(store.not(goal)));
        };
        let lemma = rename(store, interpolant, next, state);
        if !self.is_satisfiable(Which::Init, &[store.not(lemma)])? {
            return Ok(Image::Apart(lemma));
        }
        if self.is_satisfiable(Which::Init, &conjuncts(store, [goal]))? {
            return Err(Stop::Internal("a set is reached in fewer steps than were excluded".to_owned()));
        }
        let initial = self.between_init_and(goal)?;
        Ok(Image::Apart(store.or2(lemma, initial)))
    }

    fn open_level(&mut self, steps: usize, frame: &[Term]) -> Result<(), Stop> {
        self.paths = self.run.solver();
        self.length = steps;
        self.restrictions.clear();
        for time in 0..steps {
            let step = self.step_at(time);
            self.run.assert(&mut self.paths, &[step])?;
        }
        frame.iter().try_for_each(|&set| self.restrict(set))
    }

    fn restrict(&mut self, set: Term) -> Result<(), Stop> {
        for conjunct in conjuncts(self.run.store, [set]) {
            if self.restrictions.insert(conjunct) {
                for time in 0..self.length {
                    let at_time = self.unrolling.at(conjunct, time);
                    self.run.assert(&mut self.paths, &[at_time])?;
                }
            }
        }
        Ok(())
    }

    fn path_to(&mut self, set: Term) -> Result<Option<PathModel>, Stop> {
        let end = self.unrolling.at(set, self.length);
        if !self.is_satisfiable(Which::Paths, &[end])? {
            return Ok(None);
        }
        let length = self.length;
        let mut formulas = self.steps[..length].to_vec();
        formulas.push(end);
        formulas.extend_from_slice(self.unrolling.state(0));
        formulas.extend_from_slice(self.unrolling.state(length));
        Ok(Some(PathModel(self.paths.model(&formulas))))
    }

    fn ends_in(&mut self, path: &PathModel, set: Term) -> Result<bool, Stop> {
        let end = self.unrolling.at(set, self.length);
        let value = self.run.store.eval(end, &path.0);
        // Division by zero may be undefined in a path to another set.
        Ok(value.is_ok_and(|value| value == Value::Bool(true)))
    }

    fn generalise(&mut self, path: &PathModel, set: Term) -> Result<Term, Stop> {
        let end = self.unrolling.at(set, self.length);
        let mut formulas = self.steps[..self.length].to_vec();
        formulas.push(end);
        let first = self.unrolling.state(0).to_vec();
        let vars = others(self.run.store, &formulas, &first, &[]);
        let start = self.project(&formulas, &path.0, &vars)?;
        Ok(self.unrolling.untimed(start, 0))
    }

    fn send(&mut self, lemma: Term, steps: usize, cex: Option<(Term, usize)>) {
        if let Some(port) = &self.port {
            let cex = cex.map(|(states, distance)| Cex { states, distance });
            port.send(StateFact::Bounded { lemma, steps, cex });
        }
    }

    fn send_depth(&mut self, steps: usize) {
        if let Some(port) = &self.port {
            port.send(StateFact::Depth(steps));
        }
    }

    fn receive(&mut self) -> Vec<(FactId, Received<Term>)> {
        let Some(port) = &self.port else { return Vec::new() };
        let received = |(id, fact)| {
            let lemma = match fact {
                StateFact::Closed(set) => Received::Closed(set),
                StateFact::Bounded { lemma, steps, cex } => {
                    let cex = cex.map(|Cex { states, distance }| (states, distance));
                    Received::Bounded { lemma, steps, cex }
                }
                StateFact::Depth(_) => return None,
            };
            Some((id, lemma))
        };
        port.receive().into_iter().filter_map(received).collect()
    }

    fn rate(&mut self, fact: FactId, fate: Fate) {
        if let Some(port) = &self.port {
            port.rate(fact, fate);
        }
    }
}

/// The conjuncts of formulas, without duplicates.
fn conjuncts(store: &TermStore, formulas: impl IntoIterator<Item = Term>) -> Vec<Term> {
    let mut seen = FxHashSet::default();
    let all = formulas.into_iter().flat_map(|formula| store.conjuncts(formula));
    all.filter(|&conjunct| seen.insert(conjunct)).collect()
}

/// The variables of `formulas` and the variables `further`, except those in `kept`.
fn others(store: &TermStore, formulas: &[Term], kept: &[Term], further: &[Term]) -> Vec<Term> {
    let kept: Substitution = kept.iter().map(|&variable| (variable, variable)).collect();
    let mut others = store.free_vars(formulas);
    others.retain(|&variable| kept.get(variable).is_none());
    let known: FxHashSet<Term> = others.iter().copied().collect();
    others.extend(further.iter().copied().filter(|variable| !known.contains(variable)));
    others
}
