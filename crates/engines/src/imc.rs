//! Interpolation-based model checking: images of states, over-approximated by interpolants.
//!
//! **What it decides.** Transition systems, and so all linear systems, over the theories that the solver interpolates.
//! It is complete for finitely many states: it terminates when `k` is the maximal distance of a state to the bad
//! states.
//!
//! **The idea.** A bounded query from states `M` has a refutation. Cut after the first step, the refutation has an
//! interpolant. The interpolant contains all successors of `M` and no state that leads to a bad one in fewer than `k`
//! steps. So it over-approximates the image and replaces `M` in the next round.
//!
//! ```text
//! Init meets Bad?                                                     unsafe
//! for k = 1, 2, ..
//!     B <- Bad(1) or T(1,2) and (Bad(2) or T(2,3) and (.. Bad(k)))
//!     M, R <- Init
//!     repeat  M(0), T(0,1) and B have a model?    M is Init: unsafe, else the next k
//!             I <- interpolant of M(0), T(0,1) and B, about the state at time 1
//!             I implies R?                        safe by R
//!             M <- I, R <- R or I
//! ```
//!
//! **Why the answer is right.** I1: `R` is `Init` or `I_1` or .. `I_j`. The successors of each disjunct are in the next
//! one, and those of the last are in `I`, which finally implies `R`; so `R` is inductive. I2: `I` contradicts `B`, and
//! `Bad(1)` is a disjunct of `B`, so no state of `I` is bad; nor is one of `Init`. So `R` is safe. A model with `M =
//! Init` is a path.
//!
//! **Dead ends.** The disjunction of `B` is nested, because a bad state need not have successors. With all transitions
//! outside of it, which suffices for systems without dead ends, `I` could contain bad states without successors.
//!
//! **Local variables of `Init`.** The check that `I` implies `R` negates `Init`, so its local variables are eliminated.
//! If this fails, an interpolant of `Init(1)` and `B` replaces `Init`; if these are satisfiable, the model is a path.
//!
//! **Closed sets** of other engines contain all reached states. All states of a query are restricted to them, and `R` need not contain
//! an image outside of them. So `R` is inductive together with them, and safe.
//!
//! **Rounds.** With infinitely many states, the images for one `k` may grow for ever. [`Options::rounds`] bounds their
//! number, and the bound grows with `k`. This is sound, since nothing is kept for the next `k`.
//!
//! **Templates.** Any interpolant will do for I1 and I2, also one that speaks of templates only (`interpolation_abstraction/`).
//!
//! **Where it comes from.** K. McMillan, "Interpolation and SAT-based model checking" (CAV 2003).

use std::time::Instant;

use shofar_horn::{HornGraph, TransitionSystem};
use shofar_logic::{Term, Value};
use shofar_run::Stop;
use shofar_smt::solver::Solver;

use crate::eliminate::with_few_locals;
use crate::exchange::states::{StateFact, StatePort};
use crate::forms::TransitionForm;
use crate::interpolation_abstraction::Templates;
use crate::option::options;
use crate::separation::{InterpolationMethod, Prover, Separation};
use crate::unroll::Unrolling;
use crate::{Engine, EngineOption, Evidence, Fate, Run};

options! {
    interpolation: InterpolationMethod = InterpolationMethod::Decomposed, "interpolation": "how interpolants are made";
    templates: u64 = 0,
        "templates": "each n-th interpolant speaks of sums that the loop preserves where it can, never if 0"
        in 0..=1_000_000;
    rounds: usize = 20,
        "rounds": "images for k = 1; each further step allows for two more" in 0..=1_000_000;
}

/// The IMC engine.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Imc {
    /// The options of the engine.
    pub options: Options,
}

impl Engine for Imc {
    fn name(&self) -> &'static str {
        "imc"
    }

    fn description(&self) -> &'static str {
        "interpolation-based model checking; linear systems"
    }

    fn options(&mut self) -> Vec<EngineOption<'_>> {
        self.options.list()
    }

    fn solve(&self, graph: &HornGraph, run: &Run<'_>) -> Result<Evidence, Stop> {
        let start = Instant::now();
        let looped = TransitionForm::of(run, graph)?;
        let init = with_few_locals(run, looped.system.init, &looped.system.state);
        let has_locals =
            run.store.free_vars(&[init]).iter().any(|variable| !looped.system.state.contains(variable));
        let system = TransitionSystem { init, ..looped.system.clone() };
        let templates =
            if self.options.templates > 0 { Some(Templates::of_system(run, &system)?) } else { None };
        let mut search = Search {
            run,
            templates,
            options: self.options,
            unrolling: Unrolling::new(run.store, &system),
            init: (!has_locals).then_some(init),
            suffix: Vec::new(),
            bad: Vec::new(),
            port: StatePort::of(run, &looped),
            closed: Term::TRUE,
            statistics: Statistics::default(),
        };
        let found = search.decide();
        let counters = search.statistics.counters();
        run.tell_statistics(counters, start);
        match found? {
            Found::Path(states) => looped.unsafe_by(run, states),
            Found::Invariant(invariant) => looped.safe(run, invariant),
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

/// The counters.
#[derive(Clone, Copy, Default, Debug)]
struct Statistics {
    bound: u64,
    images: u64,
    interpolants: u64,
    /// The interpolants about templates.
    abstractions: u64,
    queries: u64,
}

impl Statistics {
    fn counters(&self) -> Vec<(&'static str, u64)> {
        let Statistics { bound, images, interpolants, abstractions, queries } = *self;
        vec![
            ("bound", bound),
            ("images", images),
            ("interpolants", interpolants),
            ("abstractions", abstractions),
            ("solver.queries", queries),
        ]
    }
}

/// The state of a run.
struct Search<'a> {
    run: &'a Run<'a>,
    options: Options,
    /// What interpolants may speak of, if that is restricted.
    templates: Option<Templates>,
    unrolling: Unrolling<'a>,
    /// The initial states, unless they have local variables.
    init: Option<Term>,
    /// `T(1,2)`, .., `T(k-1,k)`.
    suffix: Vec<Term>,
    /// `Bad(1)`, .., `Bad(k)`.
    bad: Vec<Term>,
    port: Option<StatePort<'a>>,
    /// The closed sets of other engines, over the state variables.
    closed: Term,
    statistics: Statistics,
}

impl Search<'_> {
    fn decide(&mut self) -> Result<Found, Stop> {
        if let Some(states) = self.bad_initial_state()? {
            return Ok(Found::Path(states));
        }
        for k in 1.. {
            self.receive();
            if let Some(found) = self.fixed_point(k)? {
                return Ok(found);
            }
            self.statistics.bound = k as u64;
            let counters = self.statistics.counters();
            self.run.tell_progress(k as u64, counters);
        }
        Err(Stop::Exhausted("paths of all lengths"))
    }

    /// Says that no bad state is reached in this many steps.
    fn send_depth(&self, steps: usize) {
        if let Some(port) = &self.port {
            port.send(StateFact::Depth(steps));
        }
    }

    /// Takes in the closed sets of other engines.
    fn receive(&mut self) {
        let Some(port) = &self.port else { return };
        for (id, fact) in port.receive() {
            if let StateFact::Closed(set) = fact {
                self.closed = self.run.store.and2(self.closed, set);
                port.rate(id, Fate::Accepted);
            }
        }
    }

    fn bad_initial_state(&mut self) -> Result<Option<Vec<Box<[Value]>>>, Stop> {
        let mut solver = self.run.solver();
        self.statistics.queries += 1;
        let both = [self.unrolling.init(0), self.unrolling.bad(0)];
        self.run.assert(&mut solver, &both)?;
        let is_bad = self.run.is_satisfiable(&mut solver, &[])?;
        Ok(is_bad.then(|| self.unrolling.values(&solver, 0)))
    }

    /// Computes images from the initial states on, until they add no state or contain one that leads to a bad state in
    /// at most `k - 1` steps. Each call increases `k` by one.
    fn fixed_point(&mut self, k: usize) -> Result<Option<Found>, Stop> {
        let (run, store) = (self.run, self.run.store);
        if k > 1 {
            let step = self.unrolling.step(k - 1, k);
            self.suffix.push(step);
        }
        let bad = self.unrolling.bad(k);
        self.bad.push(bad);
        let restrictions: Vec<Term> = (1..=k).map(|time| self.unrolling.at(self.closed, time)).collect();
        let b = self.bad_within(&restrictions);
        let mut image = match self.init {
            Some(init) => init,
            None => {
                self.statistics.queries += 1;
                let init = self.unrolling.init(1);
                let mut prover = Prover::new(run, &[init], &[b], self.options.interpolation)?;
                match prover.separate(run, &[], &[])? {
                    Separation::Apart(interpolant) => {
                        self.send_depth(k - 1);
                        self.unrolling.untimed(interpolant, 1)
                    }
                    Separation::Satisfiable => {
                        return Ok(Some(Found::Path(self.path(prover.solver(), 1, k))));
                    }
                    Separation::Unknown => return Ok(None),
                }
            }
        };
        let (first, closed) = (self.unrolling.step(0, 1), self.unrolling.at(self.closed, 0));
        let mut prover = Prover::new(run, &[first, closed], &[b], self.options.interpolation)?;

        let mut reached = vec![image];
        let mut new = run.solver();
        run.assert(&mut new, &[store.not(image), self.closed])?;
        for round in 0..self.options.rounds + 2 * (k - 1) {
            self.statistics.images += 1;
            self.statistics.queries += 1;
            let at_start = self.unrolling.at(image, 0);
            let interpolant = match prover.separate(run, &[at_start], &[])? {
                Separation::Apart(interpolant) => interpolant,
                Separation::Satisfiable if round == 0 && self.init.is_some() => {
                    return Ok(Some(Found::Path(self.path(prover.solver(), 0, k))));
                }
                Separation::Satisfiable | Separation::Unknown => break,
            };
            if round == 0 && self.init.is_some() {
                self.send_depth(k);
            }
            self.statistics.interpolants += 1;
            self.statistics.queries += 1;
            let interpolant = self.abstracted(vec![first, closed, at_start], b)?.unwrap_or(interpolant);
            image = self.unrolling.untimed(interpolant, 1);
            tracing::debug!(k, round, image = %store.display(image), "interpolant");
            if !run.is_satisfiable(&mut new, &[image])? {
                return Ok(Some(Found::Invariant(store.or(&reached))));
            }
            reached.push(image);
            run.assert(&mut new, &[store.not(image)])?;
        }
        Ok(None)
    }

    /// An interpolant about templates of the state at time 1, if it is its turn and there is one.
    fn abstracted(&mut self, a: Vec<Term>, b: Term) -> Result<Option<Term>, Stop> {
        let Some(templates) = &self.templates else { return Ok(None) };
        if !self.statistics.interpolants.is_multiple_of(self.options.templates) {
            return Ok(None);
        }
        let cut = [Some((0, self.unrolling.state(1)))];
        let options = self.options.interpolation.options();
        let found = templates.sequence(self.run, vec![a, vec![b]], &cut, options)?;
        self.statistics.abstractions += u64::from(found.is_some());
        Ok(found.and_then(|found| found.first().copied()))
    }

    /// The formula that a path of fewer than `k` steps leads from the state at time 1 to a bad state, with a restriction for each
    /// state.
    fn bad_within(&self, restrictions: &[Term]) -> Term {
        let store = self.run.store;
        let mut within = Term::FALSE;
        for (at, &bad) in self.bad.iter().enumerate().rev() {
            let later = self.suffix.get(at).map_or(Term::FALSE, |&step| store.and2(step, within));
            within = store.and2(restrictions[at], store.or2(bad, later));
        }
        within
    }

    /// The path in the solver's model, from time `start` to its first bad state.
    fn path(&mut self, solver: &Solver<'_>, start: usize, k: usize) -> Vec<Box<[Value]>> {
        let mut states = self.unrolling.values(solver, k);
        let model = solver.model(&self.bad);
        let is_bad = |&formula: &Term| self.run.store.eval(formula, &model) == Ok(Value::Bool(true));
        let first = self.bad.iter().position(is_bad).map_or(k, |position| position + 1);
        states.truncate(first + 1);
        states.drain(..start);
        states
    }
}
