//! Decides a property of a circuit: takes the system from it, reduces it, runs the engines side by side, translates the
//! first answer back, and checks it against the circuit.
//!
//! No answer leaves this file unchecked. If the checker refuses one, the other engines go on, and the refusal is
//! reported as an error of Shofar if none of them answers.

use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use shofar_run::{Limits, Stop};

use crate::aig::{Builder, Edge};
use crate::check::{Refusal, check_invariant, check_trace};
use crate::circuit::{Circuit, Reset};
use crate::evidence::{Evidence, Invariant, Trace};
use crate::interpolate::Labelling;
use crate::system::{BitSystem, Extracted};
use crate::{bmc, imc, kind, pdr, reduce};

/// The interval at which the limits are polled for all engines.
const TICK: Duration = Duration::from_millis(5);

/// A procedure that decides systems.
#[derive(Clone, Copy)]
pub struct Engine {
    /// Its name.
    pub name: &'static str,
    run: fn(&BitSystem, &Limits<'_>) -> Result<Evidence, Stop>,
}

/// The engines, the most useful one first.
pub const ENGINES: &[Engine] = &[
    Engine { name: "pdr", run: |system, limits| pdr::run(system, pdr::Options::default(), limits) },
    Engine { name: "kind", run: kind::run },
    Engine { name: "imc", run: |system, limits| imc::run(system, Labelling::default(), limits) },
    Engine { name: "bmc", run: bmc::run },
];

/// A checked answer about a circuit.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// None of the bads can be true.
    Safe(Invariant),
    /// The last step of the trace makes a bad true: the one with this index among those that were asked about.
    Unsafe(Trace, usize),
    /// Nothing is known.
    Unknown(Stop),
}

/// An answer, and how it was found.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The answer.
    pub verdict: Verdict,
    /// The engine that found it.
    pub engine: Option<&'static str>,
    /// The sizes of the system, before and after reductions.
    pub sizes: [Size; 2],
    /// The times of the phases, in order.
    pub phases: Vec<(&'static str, Duration)>,
}

impl Outcome {
    /// Nothing was found out, because the work ended before the search.
    pub fn unknown(stop: Stop) -> Self {
        Self {
            verdict: Verdict::Unknown(stop),
            engine: None,
            sizes: [Size::default(); 2],
            phases: Vec::new(),
        }
    }
}

/// The size of a system.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Size {
    /// Its latches.
    pub latches: usize,
    /// Its inputs.
    pub inputs: usize,
    /// Its gates.
    pub gates: usize,
}

impl Size {
    fn of(system: &BitSystem) -> Self {
        let (latches, inputs, gates) = (system.num_latches(), system.num_inputs, system.aig.num_ands());
        Self { latches, inputs, gates }
    }
}

/// Decides whether one of the edges can be true in a run of the circuit.
pub fn solve(circuit: &Circuit, bads: &[Edge], jobs: Option<usize>, limits: &Limits<'_>) -> Outcome {
    let mut phases = Vec::new();
    let start = Instant::now();
    let (circuit_with_bad, bad) = with_disjunction(circuit, bads);
    let extracted = Extracted::new(&circuit_with_bad, bad);
    phases.push(("extract", start.elapsed()));

    let start = Instant::now();
    let reduced = reduce::all(&extracted.system, limits);
    phases.push(("reduce", start.elapsed()));

    let sizes = [Size::of(&extracted.system), Size::of(&reduced.system)];
    let start = Instant::now();
    let mut check_time = Duration::ZERO;
    let mut accept = |evidence: Evidence| {
        let start = Instant::now();
        let checked = match reduced.back.evidence_back(evidence) {
            Evidence::Safe(invariant) => {
                let invariant = extracted.invariant_back(&invariant);
                check_invariant(circuit, bads, &invariant, limits).map(|()| Verdict::Safe(invariant))
            }
            Evidence::Unsafe(trace) => {
                let trace = extracted.trace_back(&trace);
                let fired = check_trace(circuit, bads, &trace).map_err(Refusal::from);
                fired.map(|fired| Verdict::Unsafe(trace, fired))
            }
        };
        check_time += start.elapsed();
        checked.map_err(|refusal| match refusal {
            Refusal::Wrong(fault) => Stop::Internal(format!("the checker refuses an answer: {fault}")),
            Refusal::Stopped(stop) => stop,
        })
    };
    let result = race(&suitable(circuit, jobs), &reduced.system, limits, &mut accept);
    phases.push(("search", start.elapsed().saturating_sub(check_time)));
    phases.push(("check", check_time));
    let (verdict, engine) = match result {
        Ok((verdict, engine)) => (verdict, Some(engine)),
        Err(stop) => (Verdict::Unknown(stop), None),
    };
    Outcome { verdict, engine, sizes, phases }
}

/// The circuit with a gate that is true if one of the edges is. All other numbers stay.
fn with_disjunction(circuit: &Circuit, bads: &[Edge]) -> (Circuit, Edge) {
    let mut circuit = circuit.clone();
    if let &[bad] = bads {
        return (circuit, bad);
    }
    let mut builder = Builder::on(std::mem::take(&mut circuit.aig));
    let bad = builder.or_all(bads.iter().copied());
    circuit.aig = builder.into_aig();
    (circuit, bad)
}

/// The engines for a circuit: at most `jobs` of them, by default one per core and at least two.
///
/// An invariant of depth above 1 does not survive the way back through reset functions: in the middle of a path, a
/// state that looks initial excuses a violated clause. So k-induction is left out there.
fn suitable(circuit: &Circuit, jobs: Option<usize>) -> Vec<Engine> {
    let has_functions = circuit.latches.iter().any(|latch| matches!(latch.reset, Reset::Function(_)));
    let engines = ENGINES
        .iter()
        .filter(|engine| if has_functions { engine.name != "kind" } else { engine.name != "bmc" });
    let cores = || thread::available_parallelism().map_or(2, usize::from).max(2);
    engines.copied().take(jobs.unwrap_or_else(cores).max(1)).collect()
}

/// Runs engines side by side until one has an answer that is accepted.
fn race(
    engines: &[Engine],
    system: &BitSystem,
    limits: &Limits<'_>,
    accept: &mut dyn FnMut(Evidence) -> Result<Verdict, Stop>,
) -> Result<(Verdict, &'static str), Stop> {
    let cancel = AtomicBool::new(false);
    thread::scope(|scope| {
        let (sender, answers) = mpsc::channel();
        for &Engine { name, run } in engines {
            let sender = sender.clone();
            let limits = Limits { cancel: Some(&cancel), gate: None, ..*limits };
            let work = move || {
                let result = panic::catch_unwind(AssertUnwindSafe(|| run(system, &limits)));
                let result =
                    result.unwrap_or_else(|_| Err(Stop::Internal(format!("engine {name} has failed"))));
                // The race may be over.
                let _ = sender.send((name, result));
            };
            let spawned = thread::Builder::new().name(format!("engine {name}")).spawn_scoped(scope, work);
            if spawned.is_err() {
                return Err(Stop::Internal("cannot start a thread".to_owned()));
            }
        }
        drop(sender);
        // Why the last engine stopped; an error of Shofar matters more than the others.
        let mut stopped: Option<Stop> = None;
        let mut note = |stop: Stop| {
            if !matches!(stopped, Some(Stop::Internal(_))) {
                stopped = Some(stop);
            }
        };
        let winner = loop {
            match answers.recv_timeout(TICK) {
                Ok((name, Ok(evidence))) => match accept(evidence) {
                    Ok(verdict) => break Some((verdict, name)),
                    Err(stop) => note(stop),
                },
                Ok((_, Err(stop))) => note(stop),
                Err(RecvTimeoutError::Disconnected) => break None,
                Err(RecvTimeoutError::Timeout) => {}
            }
            if let Some(reason) = limits.interruption() {
                note(reason.into());
                break None;
            }
        };
        cancel.store(true, Ordering::Relaxed);
        winner.ok_or_else(|| stopped.unwrap_or(Stop::Exhausted("no engine has an answer")))
    })
}

#[cfg(test)]
mod tests {
    use shofar_testing::Random;
    use shofar_testing::scale::numbers;

    use super::*;
    use crate::common::{Shape, random_circuit, shortest_counterexample};

    fn verdict_of(circuit: &Circuit, bads: &[Edge]) -> Verdict {
        let deadline = Instant::now() + Duration::from_secs(20);
        solve(circuit, bads, None, &Limits { deadline: Some(deadline), ..Limits::default() }).verdict
    }

    /// All bads together, with constraints and all kinds of resets.
    #[test]
    fn answers_agree_with_explicit_search() {
        for seed in numbers(400) {
            let circuit = random_circuit(&mut Random::new(seed), &Shape::default());
            let expected = shortest_counterexample(&circuit, &circuit.bads);
            match verdict_of(&circuit, &circuit.bads) {
                Verdict::Safe(_) => assert_eq!(expected, None, "seed {seed}"),
                Verdict::Unsafe(trace, fired) => {
                    assert!(expected.is_some_and(|length| length <= trace.length()), "seed {seed}");
                    let named = shortest_counterexample(&circuit, &circuit.bads[fired..=fired]);
                    assert!(named.is_some_and(|length| length <= trace.length()), "seed {seed}");
                }
                Verdict::Unknown(stop) => panic!("seed {seed}: {stop}"),
            }
        }
    }

    #[test]
    fn nothing_is_asked_of_a_circuit_without_bads() {
        let circuit = random_circuit(&mut Random::new(1), &Shape::default());
        assert!(matches!(verdict_of(&circuit, &[]), Verdict::Safe(_)));
    }

    #[test]
    fn limits_end_the_race() {
        let circuit = random_circuit(&mut Random::new(1), &Shape::default());
        let deadline = Some(Instant::now());
        let outcome = solve(&circuit, &circuit.bads, None, &Limits { deadline, ..Limits::default() });
        // An answer that needs no search may still be found.
        if let Verdict::Unknown(stop) = outcome.verdict {
            assert!(matches!(stop, Stop::Interrupted(_)), "{stop}");
        }
    }
}
