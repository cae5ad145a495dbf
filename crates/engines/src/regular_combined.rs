//! Regular invariants combined with formulas: Spacer finds lemmas, and automata weaken them.
//!
//! **What it decides.** Everything that Spacer decides, and systems with models of the class ELEMREG: formulas over
//! datatypes whose atoms may also be "the argument is in a regular language".
//!
//! **The idea.** Spacer only strengthens its frames. If the strongest lemmas that it can express are too strong or too many, it never
//! stops. An automaton cannot express equality, but it may describe the *difference* between a frame and an invariant:
//!
//! ```text
//! ok(p): p = Seq                    and whatever is reached from there by an even number of constructors
//! tr(p, t): p != t or t = Join(Seq) or both have an odd number of constructors
//! ```
//!
//! So, after each level, another thread gets the lemmas of the frame that excludes the queries, and asks an *oracle*, an engine for
//! regular invariants, for a model of the residual system (`residual.rs`): the lemmas of each predicate `φ_i` become `φ_i or L_i`.
//! First of all, the oracle gets the clauses themselves, and then the candidate that just excludes the queries: if `P(x, x)` is
//! forbidden, `P` has the lemma that its arguments differ. Spacer's lemmas generalise this away.
//!
//! ```text
//! start Spacer; jobs := [the clauses, the queries]
//! while Spacer or an oracle works, or jobs are left
//!     if no oracle works: start it, for the last frame and for other jobs by turns
//!     Spacer ends a level:    jobs of older frames are removed, those of its own are added
//!     Spacer has an answer:   it is the answer
//!     the oracle has a model: its way back is the answer
//!     the oracle works longer than its turn, and other jobs wait: cancel it; a job that is not stale is put back
//! ```
//!
//! A frame has two jobs, with one lemma and with all lemmas of each predicate:
//!
//! | job | `P(x)` becomes | |
//! |---|---|---|
//! | `Whole` | `(φ_1 and .. and φ_k) or L` | few cases |
//! | `Each` | `L_0 and (φ_1 or L_1) and ..` | the most general form; `L_0` is the rest of the lemma `false`, and the `φ_i` are also those that exclude the queries |
//!
//! Turns become longer and longer, so every job that stays is finished in the end. If Spacer or the oracle alone solves a system, so
//! does the combination.
//!
//! **Threads.** There are two, one for Spacer and one for the oracle, besides the thread of the engine, which only
//! waits. They wait at the gate of the run, and end with it: no thread outlives [`solve`](Engine::solve). Which answer comes first
//! depends on the clock, as in a portfolio; a given job with enough time always has the same result.
//!
//! **Why the answer is right.** A model of the residual system is one of the clauses, whatever the lemmas are (`residual.rs`).
//!
//! **Counterexamples.** The oracles `regular` and `algebra` never find any. A derivation by another oracle is translated to an abstract
//! counterexample. If clauses derive its assumptions, it is an answer. Otherwise it says that the frame is not inductive:
//! Spacer finds that out itself when it propagates lemmas, so the counterexample is dropped.
//!
//! **Where it comes from.** Yu. Kostyukov's thesis (2022), chapter 4: CEGAR(O), and its instance RInGen-CICI. **Where we
//! differ.** The thesis starts a process per level, for 30 s, and Spacer looks for results between its queries. Here one
//! oracle works at a time, stale ones are cancelled, and its answer ends Spacer at once. Lemmas that hold for all facts are not
//! weakened.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use shofar_horn::HornGraph;
use shofar_horn::graph::rename;
use shofar_horn::transform::{
    Pipeline, RemoveInfeasible, RemoveUnreachable, RemoveUnusedArguments, Transformed, solve_equations,
};
use shofar_logic::{Term, TermStore};
use shofar_run::{Gate, Limits, Stop};

use crate::option::{Named, options};
use crate::residual::Residual;
use crate::{
    Algebras, Engine, EngineOption, Evidence, FrameLemmas, FrameObserver, Regular, Run, Spacer, Unfold,
    fragment,
};

/// The first turn of an oracle. The next ones are twice as long.
const FIRST_TURN: Duration = Duration::from_millis(100);

/// The interval between two checks of turns and limits.
const TICK: Duration = Duration::from_millis(5);

/// The greatest number of lemmas of a predicate that are weakened one by one.
const MOST_LEMMAS: usize = 8;

/// An engine that weakens lemmas.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Oracle {
    /// Finite algebras.
    Regular,
    /// Hulls over functions of datatypes.
    Algebra,
    /// Lazy unfolding; it also finds derivations.
    Unfold,
}

impl Named for Oracle {
    const ALL: &'static [Self] = &[Oracle::Regular, Oracle::Algebra, Oracle::Unfold];

    fn name(self) -> &'static str {
        match self {
            Oracle::Regular => "regular",
            Oracle::Algebra => "algebra",
            Oracle::Unfold => "unfold",
        }
    }
}

impl Oracle {
    fn engine(self) -> Box<dyn Engine> {
        match self {
            Oracle::Regular => Box::new(Regular::default()),
            Oracle::Algebra => Box::new(Algebras),
            Oracle::Unfold => Box::new(Unfold::default()),
        }
    }
}

options! {
    oracle: Oracle = Oracle::Regular, "oracle": "the engine that weakens the lemmas of Spacer";
}

/// The engine of regular invariants combined with formulas.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct RegularCombined {
    /// The options of the engine.
    pub options: Options,
}

impl Engine for RegularCombined {
    fn name(&self) -> &'static str {
        "regular-combined"
    }

    fn description(&self) -> &'static str {
        "Spacer, whose lemmas are weakened by regular invariants; all systems"
    }

    fn options(&mut self) -> Vec<EngineOption<'_>> {
        self.options.list()
    }

    fn accepts(&self, store: &TermStore, graph: &HornGraph) -> Result<(), Stop> {
        fragment::is_projectable(store, graph)?;
        // No oracle knows arrays.
        fragment::is_interpolable(store, graph)
    }

    fn solve(&self, graph: &HornGraph, run: &Run<'_>) -> Result<Evidence, Stop> {
        let start = Instant::now();
        let mut collaboration = Collaboration::new(graph, run, self.options.oracle);
        let answer = collaboration.solve();
        run.tell_statistics(collaboration.counters(), start);
        answer
    }
}

/// A task for the oracle.
#[derive(Clone, Debug)]
enum Job {
    /// The clauses themselves.
    Clauses,
    /// The residual system of a candidate. If the candidate is a frame, it has a number.
    Residual { number: Option<u64>, form: Form, candidate: Arc<[FrameLemmas]> },
}

impl Job {
    /// The number of the frame.
    fn frame(&self) -> Option<u64> {
        match self {
            Job::Clauses => None,
            Job::Residual { number, .. } => *number,
        }
    }
}

/// The jobs that wait. Those of the last frame and the others take turns, so neither have to wait forever.
#[derive(Default)]
struct Jobs {
    of_frame: VecDeque<Job>,
    others: VecDeque<Job>,
    /// Whether it is the turn of the last frame.
    is_turn_of_frame: bool,
}

impl Jobs {
    fn is_empty(&self) -> bool {
        self.of_frame.is_empty() && self.others.is_empty()
    }

    fn add(&mut self, job: Job) {
        match job.frame() {
            Some(_) => self.of_frame.push_back(job),
            None => self.others.push_back(job),
        }
    }

    fn take(&mut self) -> Option<Job> {
        let [first, second] = match self.is_turn_of_frame {
            true => [&mut self.of_frame, &mut self.others],
            false => [&mut self.others, &mut self.of_frame],
        };
        self.is_turn_of_frame = !self.is_turn_of_frame;
        first.pop_front().or_else(|| second.pop_front())
    }
}

/// Which lemmas are weakened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    /// Their conjunction.
    Whole,
    /// Each of them, and `false`.
    Each,
}

impl Form {
    /// The lemmas for a residual system. A predicate without lemmas gets the lemma `false`, so it may have any regular invariant.
    fn weakened(self, store: &TermStore, candidate: &[FrameLemmas]) -> Vec<FrameLemmas> {
        let of = |FrameLemmas { proved, bounded }: &FrameLemmas| {
            let bounded = match self {
                _ if bounded.is_empty() => vec![Term::FALSE],
                Form::Whole => vec![store.and(bounded)],
                Form::Each => [Term::FALSE].iter().chain(bounded.iter().take(MOST_LEMMAS)).copied().collect(),
            };
            FrameLemmas { proved: proved.clone(), bounded }
        };
        candidate.iter().map(of).collect()
    }
}

/// The weakest candidate that excludes queries by one predicate alone: the negation of what the query says about its arguments.
fn excluding_queries(store: &TermStore, graph: &HornGraph) -> Vec<FrameLemmas> {
    let mut candidate = vec![FrameLemmas::default(); graph.nodes().len()];
    for (id, query) in graph.edges().filter(|(_, edge)| edge.target().is_none()) {
        for (source, &node) in query.sources().iter().enumerate() {
            let own = graph.source_variables(id, source);
            let rank = |variable: Term| (!own.contains(&variable)).then_some(0);
            let rest = solve_equations(store, query.label(), rank).rest;
            let is_own =
                |&&part: &&Term| store.free_vars(&[part]).iter().all(|variable| own.contains(variable));
            let cube = store.and_of(rest.iter().filter(is_own).copied());
            let lemma = rename(store, store.not(cube), own, graph.node(node).variables());
            if lemma != Term::FALSE {
                candidate[node.index()].bounded.push(lemma);
            }
        }
    }
    candidate
}

/// What the threads report.
enum Report {
    /// Spacer has finished a level.
    Frame(Vec<FrameLemmas>),
    /// Spacer has ended.
    Spacer(Result<Evidence, Stop>),
    /// The oracle has ended.
    Oracle(Result<Evidence, Stop>),
}

/// Sends frames on.
struct Sight(Sender<Report>);

impl FrameObserver for Sight {
    fn observe(&self, frame: Vec<FrameLemmas>) {
        // The engine listens until the answer is known.
        drop(self.0.send(Report::Frame(frame)));
    }
}

/// The state of a run.
struct Collaboration<'a> {
    graph: &'a HornGraph,
    run: &'a Run<'a>,
    oracle: Oracle,
    /// The candidate that excludes queries.
    queries: Arc<[FrameLemmas]>,
    jobs: Jobs,
    /// The job of the oracle, and the time when it began.
    working: Option<(Job, Duration)>,
    start: Instant,
    turn: Duration,
    /// The last frame.
    frame: Arc<[FrameLemmas]>,
    /// A bug in the oracle, which is reported if there is no answer.
    fault: Option<Stop>,
    frames: u64,
    calls: u64,
    cancelled: u64,
}

impl<'a> Collaboration<'a> {
    fn new(graph: &'a HornGraph, run: &'a Run<'a>, oracle: Oracle) -> Self {
        let mut jobs = Jobs::default();
        jobs.add(Job::Clauses);
        let queries: Arc<[FrameLemmas]> = excluding_queries(run.store, graph).into();
        if queries.iter().any(|lemmas| !lemmas.bounded.is_empty()) {
            jobs.add(Job::Residual { number: None, form: Form::Each, candidate: Arc::clone(&queries) });
        }
        Collaboration {
            graph,
            run,
            oracle,
            queries,
            jobs,
            working: None,
            start: Instant::now(),
            turn: FIRST_TURN,
            frame: Arc::new([]),
            fault: None,
            frames: 0,
            calls: 0,
            cancelled: 0,
        }
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![("frames", self.frames), ("oracle.calls", self.calls), ("oracle.cancelled", self.cancelled)]
    }

    /// The time so far, without that at the gate.
    fn time(&self) -> Duration {
        let waited = self.run.limits.gate.map_or(Duration::ZERO, Gate::waited);
        self.start.elapsed().saturating_sub(waited)
    }

    fn solve(&mut self) -> Result<Evidence, Stop> {
        // The flags of the two threads. Nobody else sets them, and they end with the scope.
        let (spacer_is_over, oracle_is_over) = (AtomicBool::new(false), AtomicBool::new(false));
        let (graph, run, oracle) = (self.graph, self.run, self.oracle);
        thread::scope(|scope| {
            let (sender, reports) = mpsc::channel();
            let sight = Sight(sender.clone());
            let to_engine = sender.clone();
            let spacer_flag = &spacer_is_over;
            let spacer = move || {
                let own = run.clone().with_limits(Limits { cancel: Some(spacer_flag), ..run.limits });
                let answer = caught(|| Spacer::default().solve(graph, &own.with_observer(&sight)));
                drop(to_engine.send(Report::Spacer(answer)));
            };
            let thread = thread::Builder::new().name("spacer".to_owned());
            thread.spawn_scoped(scope, spacer).map_err(|error| no_thread(&error))?;
            let mut searched: Option<Stop> = None;
            let answer = loop {
                if self.working.is_none()
                    && let Some(job) = self.jobs.take()
                {
                    self.calls += 1;
                    self.working = Some((job.clone(), self.time()));
                    oracle_is_over.store(false, Ordering::Relaxed);
                    let sender = sender.clone();
                    let flag = &oracle_is_over;
                    let ask = move || {
                        let limits = Limits { cancel: Some(flag), ..run.limits };
                        let own = Run::new(run.store).with_limits(limits).with_seed(run.seed());
                        let answer = caught(|| ask(graph, &*oracle.engine(), &job, &own));
                        drop(sender.send(Report::Oracle(answer)));
                    };
                    let thread = thread::Builder::new().name("oracle".to_owned());
                    if let Err(error) = thread.spawn_scoped(scope, ask) {
                        break Err(no_thread(&error));
                    }
                }
                match reports.recv_timeout(TICK) {
                    Ok(Report::Frame(frame)) => self.add_frame(frame),
                    Ok(Report::Spacer(Ok(evidence)) | Report::Oracle(Ok(evidence))) => break Ok(evidence),
                    Ok(Report::Spacer(Err(stop))) => searched = Some(stop),
                    Ok(Report::Oracle(Err(stop))) => {
                        self.oracle_gave_up(&stop, oracle_is_over.load(Ordering::Relaxed));
                    }
                    Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
                }
                if let Some(reason) = run.limits.interruption() {
                    // The reason why Spacer has ended before says more.
                    break Err(searched.unwrap_or(Stop::Interrupted(reason)));
                }
                match &self.working {
                    Some((_, since)) if self.time() > *since + self.turn && !self.jobs.is_empty() => {
                        oracle_is_over.store(true, Ordering::Relaxed);
                    }
                    None if self.jobs.is_empty() => {
                        if let Some(stop) = searched {
                            break Err(stop);
                        }
                    }
                    _ => {}
                }
            };
            spacer_is_over.store(true, Ordering::Relaxed);
            oracle_is_over.store(true, Ordering::Relaxed);
            answer.map_err(|stop| self.fault.take().unwrap_or(stop))
        })
    }

    /// Adds the jobs of a frame and removes those of older ones.
    fn add_frame(&mut self, frame: Vec<FrameLemmas>) {
        let has_lemmas = frame.iter().any(|lemmas| !lemmas.bounded.is_empty());
        if !has_lemmas || *self.frame == *frame {
            return;
        }
        self.frames += 1;
        self.frame = frame.into();
        self.jobs.of_frame.clear();
        let with_queries = |(lemmas, queries): (&FrameLemmas, &FrameLemmas)| FrameLemmas {
            proved: lemmas.proved.clone(),
            bounded: queries.bounded.iter().chain(&lemmas.bounded).copied().collect(),
        };
        let each = self.frame.iter().zip(self.queries.iter()).map(with_queries).collect();
        for (form, candidate) in [(Form::Whole, Arc::clone(&self.frame)), (Form::Each, each)] {
            self.jobs.add(Job::Residual { number: Some(self.frames), form, candidate });
        }
    }

    /// Called when the oracle ends without an answer. A job that was cancelled is put back unless it is stale.
    fn oracle_gave_up(&mut self, stop: &Stop, was_cancelled: bool) {
        let Some((job, _)) = self.working.take() else { return };
        if let Stop::Internal(_) = stop {
            self.fault.get_or_insert(stop.clone());
        } else if was_cancelled {
            self.cancelled += 1;
            self.turn = self.turn.saturating_mul(2);
            if job.frame().is_none_or(|number| number == self.frames) {
                self.jobs.add(job);
            }
        }
    }
}

/// The answer to the clauses that the oracle gives for a job.
fn ask(graph: &HornGraph, oracle: &dyn Engine, job: &Job, run: &Run<'_>) -> Result<Evidence, Stop> {
    let Job::Residual { form, candidate, .. } = job else {
        oracle.accepts(run.store, graph)?;
        return oracle.solve(graph, run);
    };
    let residual = Residual::new(run, graph, &form.weakened(run.store, candidate))?;
    tracing::debug!(?form, clauses = residual.graph.edges().len(), "residual system");
    let simplify = Pipeline::new(vec![
        Box::new(RemoveUnreachable),
        Box::new(RemoveInfeasible),
        Box::new(RemoveUnusedArguments),
    ]);
    let (Transformed { graph: simple, translation }, _) = simplify.run(run, residual.graph.clone());
    run.go_on()?;
    oracle.accepts(run.store, &simple)?;
    match oracle.solve(&simple, run)? {
        Evidence::Sat(model) => {
            let model = translation.model_back(run, model)?;
            Ok(Evidence::Sat(residual.model_back(run.store, graph, &model)?))
        }
        Evidence::Unsat(derivation) => {
            let derivation = translation.derivation_back(run, derivation)?;
            let counterexample = residual.recover(run, graph, &derivation)?;
            match counterexample.derivation(run, graph)? {
                Some(derivation) => Ok(Evidence::Unsat(derivation)),
                None => Err(Stop::Exhausted("the frame cannot be weakened to an invariant")),
            }
        }
        Evidence::Induction(_) | Evidence::Saturation(_) => {
            Err(Stop::Exhausted("the proof of the residual system is no model"))
        }
    }
}

/// The result of a thread's work. A panic ends the engine, not the program.
fn caught(work: impl FnOnce() -> Result<Evidence, Stop>) -> Result<Evidence, Stop> {
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| Err(Stop::Internal("a thread of the engine has panicked".to_owned())))
}

fn no_thread(error: &std::io::Error) -> Stop {
    Stop::Internal(format!("cannot start a thread: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_of_frames_and_others_take_turns() {
        let mut jobs = Jobs::default();
        jobs.add(Job::Clauses);
        for number in 0..10 {
            // Each frame replaces the one before, and a cancelled job comes back.
            jobs.of_frame.clear();
            let candidate: Arc<[FrameLemmas]> = Arc::new([]);
            jobs.add(Job::Residual { number: Some(number), form: Form::Whole, candidate });
            let taken = jobs.take().expect("jobs wait");
            assert_eq!(taken.frame().is_some(), number % 2 == 1);
            if taken.frame().is_none() {
                jobs.add(taken);
            }
        }
        jobs.of_frame.clear();
        assert!(jobs.take().is_some() && jobs.take().is_none() && jobs.is_empty());
    }
}
