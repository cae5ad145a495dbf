//! PDR: property directed reachability, also known as IC3.
//!
//! Frames F_0, F_1, …, F_N over-approximate the states that are reachable in at most so many steps. A state of F_N that
//! is bad becomes an obligation: either it is shown unreachable by a clause that strengthens the frames, or its
//! predecessors become obligations, down to an initial state. When two neighbouring frames are equal, they are an
//! inductive invariant.
//!
//! ```text
//! main:   a bad initial state -> unsafe
//!         loop: while F_N has a bad state s: block (s, N)
//!               N := N + 1;  propagate lemmas;  a frame became empty -> safe
//!               move lemmas to infinity;  tell them to other engines
//! block:  pop (s, d);  s meets Init -> unsafe
//!         F_{d-1} ∧ ¬s ∧ T ∧ s'   sat:    push (lift(predecessor), d-1) and (s, d)
//!                                 unsat:  add the generalised clause to F_1..F_e, e >= d;  push (s, e+1)
//! ```
//!
//! Frames are kept as differences: `frames[i]` holds the lemmas whose highest frame is `i`, `infinity` those that are
//! inductive by themselves. With C for the constraints and T for the step:
//!
//! * P1: F_0 = Init; P2: F_i ⇒ F_{i+1}; P3: F_i ∧ C ∧ T ⇒ F_{i+1}'.
//! * P4: Init ⇒ each lemma; P5: F_i ∧ C ⇒ ¬bad for i < N; P6: infinity ∧ C ∧ T ⇒ infinity'.
//!
//! Sources: Bradley, "SAT-Based Model Checking without Unrolling" (VMCAI 2011); Eén, Mishchenko & Brayton, "Efficient
//! Implementation of Property Directed Reachability" (FMCAD 2011); each file names the source of its technique.

mod block;
pub(crate) mod cube;
#[cfg(test)]
pub(crate) mod definitions;
pub(crate) mod frames;
mod generalize;
mod infinity;
mod lift;
mod localize;
mod parts;
mod propagate;
mod signals;
mod variables;

use std::sync::Arc;

use shofar_run::{Limits, Reason, Stop};

use crate::aig::Edge;
use crate::evidence::{Evidence, Invariant, Trace};
use crate::exchange::Exchange;
use crate::probe::{Answer, Gates, Probe};
use crate::system::BitSystem;
use block::Obligations;
use cube::Cube;
use frames::Lemma;
use lift::Lifting;
use localize::Localization;
use signals::Extended;
use variables::Variables;

/// Literals propagated between two polls of the limits.
const POLL_INTERVAL: u64 = 100_000;

/// How PDR works.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// How clauses are generalised.
    pub generalization: Generalization,
    /// What clauses and steps are about.
    pub variant: Variant,
}

impl Default for Options {
    fn default() -> Self {
        Self { generalization: Generalization::Ctg, variant: Variant::Plain }
    }
}

/// What clauses and steps are about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Variant {
    /// Clauses are over latches, and steps are those of the system.
    Plain,
    /// Clauses are over gates, too.
    Signals,
    /// Steps are those of the part of the system that refutes the counterexamples found so far.
    Local,
}

/// The effort of generalising a clause.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Generalization {
    /// Drop literals, and intersect with the predecessors found.
    Drop,
    /// Block some counterexamples to generalisation first.
    Ctg,
    /// Choose by the activity of the obligation.
    Dynamic,
}

/// Counters of a run.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Statistics {
    /// The last frame.
    pub frames: usize,
    /// Obligations taken from the queue.
    pub obligations: u64,
    /// Their literals.
    pub obligation_literals: u64,
    /// Lemmas added.
    pub lemmas: u64,
    /// Their literals.
    pub lemma_literals: u64,
    /// What the solvers did.
    pub probe: crate::probe::Statistics,
}

impl std::ops::AddAssign for Statistics {
    fn add_assign(&mut self, other: Self) {
        self.frames = self.frames.max(other.frames);
        self.obligations += other.obligations;
        self.obligation_literals += other.obligation_literals;
        self.lemmas += other.lemmas;
        self.lemma_literals += other.lemma_literals;
        self.probe += other.probe;
    }
}

/// Decides a system.
pub fn run(
    system: &BitSystem,
    options: Options,
    exchange: &Exchange,
    limits: &Limits<'_>,
) -> Result<Evidence, Stop> {
    run_with_statistics(system, options, exchange, limits).0
}

/// As [`run`], and says what it took.
pub fn run_with_statistics(
    system: &BitSystem,
    options: Options,
    exchange: &Exchange,
    limits: &Limits<'_>,
) -> (Result<Evidence, Stop>, Statistics) {
    match options.variant {
        Variant::Plain | Variant::Local => parts::run(system, options, exchange, limits),
        Variant::Signals => {
            let Extended { system, variables } = signals::extend(system);
            let mut pdr = Pdr::over(&system, variables, options, limits);
            pdr.join(exchange);
            let evidence = pdr.decide();
            (evidence, pdr.statistics())
        }
    }
}

/// The state of a run.
pub(crate) struct Pdr<'a> {
    pub(crate) system: &'a BitSystem,
    options: Options,
    pub(crate) limits: &'a Limits<'a>,
    /// The literals that solvers propagated.
    work: u64,
    /// The search pauses when there are more.
    most_work: u64,
    /// The limits are polled when there are more: a single generalisation may take thousands of queries.
    next_poll: u64,
    /// By frames: the solver with F_i and C. Solver 0 has Init.
    probes: Vec<Probe>,
    /// The solver with infinity and C: a new frame's solver is its copy.
    base: Probe,
    /// By frames: the lemmas that hold up to this frame.
    pub(crate) frames: Vec<Vec<Lemma>>,
    pub(crate) infinity: Vec<Lemma>,
    /// The number of lemmas so far.
    serial: u64,
    obligations: Obligations,
    variables: Variables,
    localization: Option<Localization<'a>>,
    exchange: Option<&'a Exchange>,
    /// Lemmas of infinity that the others do not know.
    unshared: Vec<Cube>,
    lifting: Lifting<'a>,
    /// By nodes of state variables: how much it took part in lemmas lately.
    activity: Vec<f64>,
    bump: f64,
    /// The cube of the last query that was blocked, reduced to its core.
    pub(crate) core: Cube,
    /// Scratch: the assumptions and the temporary clause of a query.
    assumptions: Vec<Edge>,
    clause: Vec<Edge>,
    /// The counters, without those of the solvers.
    statistics: Statistics,
}

impl<'a> Pdr<'a> {
    /// A search whose state variables are the latches.
    pub(crate) fn new(system: &'a BitSystem, options: Options, limits: &'a Limits<'a>) -> Self {
        Self::over(system, Variables::new(system, options.variant != Variant::Local), options, limits)
    }

    fn over(system: &'a BitSystem, variables: Variables, options: Options, limits: &'a Limits<'a>) -> Self {
        let gates = Arc::new(Gates::new(system.aig.clone()));
        let resets = system.resets.iter().enumerate();
        let defaults = resets.map(|(latch, reset)| (system.latch(latch), reset.unwrap_or(false)));
        let mut base = Probe::new(gates, defaults);
        let is_local = options.variant == Variant::Local;
        let constraints = if is_local { &[][..] } else { &system.constraints };
        constraints.iter().for_each(|&edge| base.add_constraint(edge));
        let mut initial = base.clone();
        for (index, reset) in system.resets.iter().enumerate() {
            if let Some(value) = *reset {
                initial.add_clause(&[system.latch(index).edge(!value)]);
            }
        }
        Self {
            system,
            options,
            limits,
            work: 0,
            most_work: u64::MAX,
            next_poll: 0,
            probes: vec![initial],
            base,
            frames: vec![Vec::new()],
            infinity: Vec::new(),
            serial: 0,
            obligations: Obligations::default(),
            exchange: None,
            unshared: Vec::new(),
            localization: is_local.then(|| Localization::new(system)),
            lifting: Lifting::new(system, constraints),
            activity: vec![0.0; variables.num_nodes()],
            variables,
            bump: 1.0,
            core: Cube::default(),
            assumptions: Vec::new(),
            clause: Vec::new(),
            statistics: Statistics::default(),
        }
    }

    /// The main loop. After a pause or another limit it can be called again, and goes on.
    fn decide(&mut self) -> Result<Evidence, Stop> {
        if self.last() == 0 {
            if let Some(trace) = self.unsafe_at_start()? {
                return Ok(Evidence::Unsafe(trace));
            }
            self.add_frame();
        }
        loop {
            if let Some(trace) = self.block_all()? {
                return Ok(Evidence::Unsafe(trace));
            }
            self.add_frame();
            self.propagate()?;
            if let Some(frame) = self.fixpoint() {
                return Ok(Evidence::Safe(self.invariant(frame)));
            }
            self.propagate_to_infinity()?;
        }
    }

    /// Stops at a limit, and where the search shall pause.
    fn go_on(&self) -> Result<(), Stop> {
        self.limits.go_on()?;
        if self.work >= self.most_work { Err(Reason::Budget.into()) } else { Ok(()) }
    }

    /// A counterexample of length 0.
    fn unsafe_at_start(&mut self) -> Result<Option<Trace>, Stop> {
        while let Some(trace) = self.bad_at_start()? {
            if let Some(trace) = self.confirm(trace)? {
                return Ok(Some(trace));
            }
        }
        Ok(None)
    }

    /// Blocks all bad states of the last frame, or finds a counterexample.
    fn block_all(&mut self) -> Result<Option<Trace>, Stop> {
        while self.find_bad()? {
            let Some(trace) = self.block()? else { continue };
            if let Some(trace) = self.confirm(trace)? {
                return Ok(Some(trace));
            }
        }
        Ok(None)
    }

    /// The last frame, N.
    pub(crate) fn last(&self) -> usize {
        self.frames.len() - 1
    }

    /// Whether a bad state is initial.
    pub(crate) fn bad_at_start(&mut self) -> Result<Option<Trace>, Stop> {
        if !answer(self.probes[0].solve(&[self.system.bad], &[], self.limits))? {
            return Ok(None);
        }
        let probe = &self.probes[0];
        let initial =
            (0..self.system.num_latches()).map(|latch| probe.leaf_value(self.system.latch(latch))).collect();
        Ok(Some(Trace { initial, inputs: vec![self.lifting.inputs(probe)] }))
    }

    pub(crate) fn add_frame(&mut self) {
        let mut probe = self.base.clone();
        probe.clear_statistics();
        self.probes.push(probe);
        self.frames.push(Vec::new());
    }

    /// Asks whether F_{frame-1} ∧ C ∧ T reaches the cube, from outside of the cube if `outside`. If it does not, the
    /// cube's core is in `self.core`.
    pub(crate) fn blocked(&mut self, cube: &Cube, frame: usize, outside: bool) -> Result<bool, Stop> {
        self.ask(cube, Some(frame - 1), outside)
    }

    /// Asks whether infinity ∧ C ∧ T reaches the cube from outside of it. If it does not, the cube's core is in
    /// `self.core`.
    fn holds_at_infinity(&mut self, cube: &Cube) -> Result<bool, Stop> {
        self.ask(cube, None, true)
    }

    /// Asks whether the cube is out of reach from a frame. Without a frame, the steps begin in infinity.
    fn ask(&mut self, cube: &Cube, frame: Option<usize>, outside: bool) -> Result<bool, Stop> {
        if self.work >= self.next_poll {
            self.limits.go_on()?;
            self.next_poll = self.work + POLL_INTERVAL;
        }
        // The most active literals first: they are likely to fail.
        let activity = |lit: Edge| self.activity[lit.node().index()];
        let variables = &self.variables;
        self.assumptions.clear();
        self.assumptions.extend(cube.lits().iter().filter(|&&lit| variables.step_into(lit).is_some()));
        self.assumptions.sort_by(|&a, &b| activity(b).total_cmp(&activity(a)));
        self.assumptions.iter_mut().for_each(|lit| *lit = variables.step_into(*lit).unwrap_or(*lit));
        self.clause.clear();
        if outside {
            self.clause.extend(cube.lits().iter().map(|&lit| !lit));
        }
        let probe = match frame {
            Some(frame) => &mut self.probes[frame],
            None => &mut self.base,
        };
        let before = probe.statistics().propagations;
        let reached = answer(probe.solve(&self.assumptions, &self.clause, self.limits));
        self.work += probe.statistics().propagations - before;
        if reached? {
            return Ok(false);
        }
        let in_core = |&lit: &Edge| variables.step_into(lit).is_some_and(|step| probe.in_core(step));
        self.core = Cube::from_sorted(cube.lits().iter().copied().filter(in_core).collect());
        if self.meets_init(&self.core) {
            // A literal against a reset keeps the clause true in the initial states.
            let lit = cube.lits().iter().copied().find(|&lit| self.contradicts_reset(lit));
            let lit = lit.ok_or_else(|| Stop::Internal("PDR blocked an initial state".into()))?;
            self.core.insert(lit);
        }
        Ok(true)
    }

    /// Whether some initial state satisfies the cube.
    pub(crate) fn meets_init(&self, cube: &Cube) -> bool {
        !cube.lits().iter().any(|&lit| self.contradicts_reset(lit))
    }

    #[inline]
    pub(crate) fn contradicts_reset(&self, lit: Edge) -> bool {
        self.variables.contradicts_reset(lit)
    }

    /// The invariant: all lemmas above a frame.
    pub(crate) fn invariant(&self, frame: usize) -> Invariant {
        let above = self.frames[frame + 1..].iter().flatten().chain(&self.infinity);
        let clauses = above.map(|lemma| lemma.cube.lits().iter().map(|&lit| !lit).collect()).collect();
        Invariant { aig: self.system.aig.clone(), clauses, depth: 1 }
    }

    pub(crate) fn statistics(&self) -> Statistics {
        let mut probe = self.base.statistics();
        self.probes.iter().for_each(|other| probe += other.statistics());
        Statistics { frames: self.last(), probe, ..self.statistics }
    }
}

/// Whether a query is satisfiable.
fn answer(answer: Answer) -> Result<bool, Stop> {
    match answer {
        Answer::Sat => Ok(true),
        Answer::Unsat => Ok(false),
        Answer::Unknown(reason) => Err(reason.into()),
    }
}

#[cfg(test)]
mod tests {
    use shofar_testing::Random;
    use shofar_testing::scale::numbers;

    use super::definitions::check_trace;
    use super::*;
    use crate::common::shortest_in_system;
    use crate::explicit::{counter, is_counterexample, is_inductive, random_system};

    fn variants() -> Vec<Options> {
        let efforts = [Generalization::Drop, Generalization::Ctg, Generalization::Dynamic];
        let mut all: Vec<Options> =
            efforts.map(|generalization| Options { generalization, ..Options::default() }).into();
        let others = [Variant::Signals, Variant::Local];
        all.extend(others.map(|variant| Options { variant, ..Options::default() }));
        all
    }

    #[test]
    fn answers_agree_with_explicit_search() {
        let mut random = Random::new(7);
        let (mut safe, mut long) = (0, 0);
        for number in numbers(3000) {
            let system = random_system(&mut random, 6, 3, 25);
            let shortest = shortest_in_system(&system);
            for options in variants() {
                let evidence =
                    run(&system, options, &Exchange::default(), &Limits::default()).expect("an answer");
                match evidence {
                    Evidence::Unsafe(trace) => {
                        assert!(is_counterexample(&system, &trace), "system {number}, {options:?}");
                        long += usize::from(trace.length() > 2);
                    }
                    Evidence::Safe(invariant) => {
                        assert_eq!(shortest, None, "system {number}, {options:?}");
                        assert!(is_inductive(&system, &invariant), "system {number}, {options:?}");
                        safe += usize::from(invariant.clauses.len() > 2);
                    }
                }
            }
        }
        assert!(safe > 20 && long > 20, "{safe} {long}");
    }

    #[test]
    fn a_counter_reaches_its_last_value() {
        for bits in [4, 8] {
            let Ok(Evidence::Unsafe(trace)) =
                run(&counter(bits, true), Options::default(), &Exchange::default(), &Limits::default())
            else {
                panic!("the counter of {bits} bits is unsafe")
            };
            assert!(is_counterexample(&counter(bits, true), &trace));
            assert!(trace.length() >= (1 << bits) - 1, "{bits} bits in {} steps", trace.length());
        }
    }

    /// A generalisation of thousands of queries, each of them short, ends soon after a limit.
    #[test]
    fn queries_poll_the_limits() {
        let system = counter(4, true);
        let cancel = std::sync::atomic::AtomicBool::new(true);
        let limits = Limits { cancel: Some(&cancel), ..Limits::default() };
        let mut pdr = Pdr::new(&system, Options::default(), &limits);
        pdr.add_frame();
        let cube = Cube::new(vec![system.latch(0).into()]);
        assert_eq!(pdr.blocked(&cube, 1, true), Err(Reason::Cancelled.into()));
    }

    /// P1 to P5, by the definitions, after each frame.
    #[test]
    fn frames_are_an_inductive_trace() {
        let mut random = Random::new(29);
        for number in numbers(300) {
            let system = random_system(&mut random, 5, 2, 20);
            for variant in [Variant::Plain, Variant::Local] {
                let limits = Limits::default();
                let mut pdr = Pdr::new(&system, Options { variant, ..Options::default() }, &limits);
                if pdr.unsafe_at_start().expect("an answer").is_some() {
                    continue;
                }
                pdr.add_frame();
                for _ in 0..6 {
                    if pdr.block_all().expect("an answer").is_some() {
                        break;
                    }
                    pdr.add_frame();
                    pdr.propagate().expect("an answer");
                    check_trace(&pdr, pdr.last() - 1, number);
                    if pdr.fixpoint().is_some() {
                        break;
                    }
                }
            }
        }
    }
}
