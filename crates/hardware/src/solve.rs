//! Decides a property of a circuit: takes the system from it, reduces it, runs the engines side by side, translates the
//! first answer back, and checks it against the circuit.
//!
//! No answer leaves this file unchecked. If the checker refuses one, the other engines go on, and the refusal is
//! reported as an error of Shofar if none of them answers.

use std::time::{Duration, Instant};

use shofar_run::{Limits, Stop};

use crate::aig::{Builder, Edge};
use crate::check::{Refusal, check_invariant, check_trace};
use crate::circuit::{Circuit, Reset};
use crate::evidence::{Evidence, Invariant, Trace};
use crate::exchange::Exchange;
use crate::interpolate::Labelling;
use crate::kavy::Strategy;
use crate::race::{Contestant, lanes, race};
use crate::system::{BitSystem, Extracted};
use crate::{bmc, imc, kavy, kind, pdr, reduce, windows};

/// A procedure that decides systems.
#[derive(Clone, Copy)]
pub struct Engine {
    /// Its name.
    pub name: &'static str,
    /// What it does, in some words.
    pub description: &'static str,
    /// Its share of a thread, relative to the others there.
    weight: u32,
    run: fn(&BitSystem, &Exchange, &Limits<'_>) -> Result<Evidence, Stop>,
}

impl Engine {
    /// The engine at work on a system, which all engines of the exchange have in common.
    pub(crate) fn on<'a>(self, system: &'a BitSystem, exchange: &'a Exchange) -> Contestant<'a, Evidence> {
        let run = Box::new(move |limits: &Limits<'_>| (self.run)(system, exchange, limits));
        Contestant { name: self.name, weight: self.weight, run }
    }
}

/// The engines. The first one is the most useful, and has a thread for itself where there are two; the weights of the
/// others are about the shares of ten seconds in which each of them answers what the first one does not.
pub const ENGINES: &[Engine] = &[
    Engine {
        name: "pdr",
        description: "property directed reachability (IC3): clauses that are inductive relative to frames",
        weight: 32,
        run: |system, exchange, limits| pdr::run(system, pdr::Options::default(), exchange, limits),
    },
    Engine { name: "kind", description: "k-induction", weight: 5, run: kind::run },
    Engine {
        name: "bmc",
        description: "bounded model checking: shortest counterexamples",
        weight: 2,
        run: |system, exchange, limits| bmc::run(system, 1, exchange, limits),
    },
    Engine {
        name: "pdr-local",
        description: "PDR on a part of the circuit, which grows by what refutes counterexamples of the part",
        weight: 12,
        run: |system, exchange, limits| pdr::run(system, variant(pdr::Variant::Local), exchange, limits),
    },
    Engine {
        name: "bmc-wide",
        description: "bounded model checking of many steps at once: counterexamples soon, not shortest ones",
        weight: 10,
        run: windows::run,
    },
    Engine {
        name: "pdr-signals",
        description: "PDR whose clauses speak of gates, too",
        weight: 6,
        run: |system, exchange, limits| pdr::run(system, variant(pdr::Variant::Signals), exchange, limits),
    },
    Engine {
        name: "imc",
        description: "interpolation-based model checking",
        weight: 1,
        run: |system, _, limits| imc::run(system, Labelling::default(), limits),
    },
    Engine {
        name: "kavy",
        description: "interpolation and strong induction on the frames of PDR",
        weight: 1,
        run: |system, _, limits| kavy::run(system, kavy::Options::default(), limits),
    },
];

/// Engines that run only if they are asked for: Avy, and kAvy with each search of strong extension levels.
pub const VARIANTS: &[Engine] = &[
    Engine {
        name: "avy",
        description: "interpolation on the frames of PDR, without strong induction",
        weight: 1,
        run: |system, _, limits| kavy_by(Strategy::Avy, system, limits),
    },
    Engine {
        name: "kavy:sel=top-down",
        description: "kAvy that searches strong extension levels top-down",
        weight: 1,
        run: |system, _, limits| kavy_by(Strategy::TopDown, system, limits),
    },
    Engine {
        name: "kavy:sel=bottom-up",
        description: "kAvy that searches strong extension levels bottom-up",
        weight: 1,
        run: |system, _, limits| kavy_by(Strategy::BottomUp, system, limits),
    },
    Engine {
        name: "kavy:sel=core",
        description: "kAvy that searches strong extension levels by cores of refutations",
        weight: 1,
        run: |system, _, limits| kavy_by(Strategy::CoreGuided, system, limits),
    },
];

fn kavy_by(strategy: Strategy, system: &BitSystem, limits: &Limits<'_>) -> Result<Evidence, Stop> {
    kavy::run(system, kavy::Options { strategy, ..kavy::Options::default() }, limits)
}

fn variant(variant: pdr::Variant) -> pdr::Options {
    pdr::Options { variant, ..pdr::Options::default() }
}

/// How a circuit is decided.
#[derive(Clone, Default)]
pub struct Options {
    /// The engines; if empty, all that are suitable.
    pub engines: Vec<Engine>,
    /// The greatest number of engines at work at the same time; by default the number of cores.
    pub jobs: Option<usize>,
}

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
pub struct Outcome<V = Verdict> {
    /// The answer.
    pub verdict: V,
    /// The engine that found it.
    pub engine: Option<&'static str>,
    /// The sizes of the system, before and after reductions.
    pub sizes: [Size; 2],
    /// The times of the phases, in order.
    pub phases: Vec<(&'static str, Duration)>,
}

impl<V> Outcome<V> {
    /// What is said before any search.
    pub fn before_search(verdict: V) -> Self {
        Self { verdict, engine: None, sizes: [Size::default(); 2], phases: Vec::new() }
    }

    /// The outcome with the sizes, and with the phases before the search.
    pub(crate) fn after(self, sizes: [Size; 2], phases: Vec<(&'static str, Duration)>) -> Self {
        Self { sizes, phases: [phases, self.phases].concat(), ..self }
    }

    /// The outcome with another verdict.
    pub(crate) fn map<W>(self, change: impl FnOnce(V) -> W) -> Outcome<W> {
        let Self { verdict, engine, sizes, phases } = self;
        Outcome { verdict: change(verdict), engine, sizes, phases }
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
    pub(crate) fn of(system: &BitSystem) -> Self {
        let (latches, inputs, gates) = (system.num_latches(), system.num_inputs, system.aig.num_ands());
        Self { latches, inputs, gates }
    }
}

/// Decides whether one of the edges can be true in a run of the circuit.
pub fn solve(circuit: &Circuit, bads: &[Edge], options: &Options, limits: &Limits<'_>) -> Outcome {
    let mut phases = Vec::new();
    let start = Instant::now();
    let (circuit_with_bad, bad) = with_disjunction(circuit, bads);
    let extracted = Extracted::new(&circuit_with_bad, bad);
    phases.push(("extract", start.elapsed()));

    let start = Instant::now();
    let reduced = reduce::all(&extracted.system, limits);
    phases.push(("reduce", start.elapsed()));

    let judge = |evidence: Evidence| match reduced.back.evidence_back(evidence) {
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
    let exchange = Exchange::default();
    let contestants = engines_for(circuit, options).map(|engine| engine.on(&reduced.system, &exchange));
    let outcome = search(contestants, options, limits, judge);
    let sizes = [Size::of(&extracted.system), Size::of(&reduced.system)];
    outcome.after(sizes, phases).map(|result| result.unwrap_or_else(Verdict::Unknown))
}

/// Lets contestants search side by side, until `judge` accepts an answer. The times are those of search and check.
pub(crate) fn search<'a, A: Send, V>(
    contestants: impl IntoIterator<Item = Contestant<'a, A>>,
    options: &Options,
    limits: &Limits<'_>,
    mut judge: impl FnMut(A) -> Result<V, Refusal>,
) -> Outcome<Result<V, Stop>> {
    let start = Instant::now();
    let mut check_time = Duration::ZERO;
    let mut accept = |answer: A| {
        let start = Instant::now();
        let verdict = judge(answer);
        check_time += start.elapsed();
        verdict.map_err(refused)
    };
    let result = race(&lanes(contestants, options.jobs), limits, &mut accept);
    let search_time = start.elapsed().saturating_sub(check_time);
    let phases = vec![("search", search_time), ("check", check_time)];
    let (verdict, engine) = match result {
        Ok((verdict, engine)) => (Ok(verdict), Some(engine)),
        Err(stop) => (Err(stop), None),
    };
    Outcome { engine, phases, ..Outcome::before_search(verdict) }
}

/// Why an engine's answer is not passed on.
pub(crate) fn refused(refusal: Refusal) -> Stop {
    match refusal {
        Refusal::Wrong(fault) => Stop::Internal(format!("the checker refuses an answer: {fault}")),
        Refusal::Stopped(stop) => stop,
    }
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

/// The engines for a circuit.
///
/// An invariant of depth above 1 does not survive the way back through reset functions: in the middle of a path, a
/// state that looks initial excuses a violated clause. So k-induction is left out there.
pub(crate) fn engines_for<'a>(
    circuit: &Circuit,
    options: &'a Options,
) -> impl Iterator<Item = Engine> + use<'a> {
    let has_functions = circuit.latches.iter().any(|latch| matches!(latch.reset, Reset::Function(_)));
    let wanted = if options.engines.is_empty() { ENGINES } else { &options.engines };
    wanted.iter().copied().filter(move |engine| !has_functions || engine.name != "kind")
}

#[cfg(test)]
mod tests {
    use shofar_testing::Random;
    use shofar_testing::scale::numbers;

    use super::*;
    use crate::common::{Shape, random_circuit, shortest_counterexample};

    fn verdict_of(circuit: &Circuit, bads: &[Edge]) -> Verdict {
        let deadline = Instant::now() + Duration::from_secs(20);
        let limits = Limits { deadline: Some(deadline), ..Limits::default() };
        solve(circuit, bads, &Options::default(), &limits).verdict
    }

    #[test]
    fn engines_share_the_threads_that_there_are() {
        let circuit = random_circuit(&mut Random::new(1), &Shape { functions: false, ..Shape::default() });
        let names = |jobs: usize| -> Vec<Vec<&str>> {
            let options = Options { jobs: Some(jobs), ..Options::default() };
            lanes(engines_for(&circuit, &options), options.jobs)
                .iter()
                .map(|lane| lane.iter().map(|engine| engine.name).collect())
                .collect()
        };
        assert_eq!(names(1).concat().len(), ENGINES.len());
        assert_eq!(names(2)[0], ["pdr"]);
        assert_eq!(names(2)[1].len(), ENGINES.len() - 1);
        assert_eq!(names(100), ENGINES.iter().map(|engine| vec![engine.name]).collect::<Vec<_>>());
    }

    #[test]
    fn one_thread_is_enough_for_all_engines() {
        for seed in numbers(100) {
            let circuit = random_circuit(&mut Random::new(seed), &Shape::default());
            let options = Options { jobs: Some(1), ..Options::default() };
            let verdict = solve(&circuit, &circuit.bads, &options, &Limits::default()).verdict;
            let expected = shortest_counterexample(&circuit, &circuit.bads);
            assert_eq!(matches!(verdict, Verdict::Unsafe(..)), expected.is_some(), "seed {seed}");
            assert!(!matches!(verdict, Verdict::Unknown(_)), "seed {seed}");
        }
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
        let outcome =
            solve(&circuit, &circuit.bads, &Options::default(), &Limits { deadline, ..Limits::default() });
        // An answer that needs no search may still be found.
        if let Verdict::Unknown(stop) = outcome.verdict {
            assert!(matches!(stop, Stop::Interrupted(_)), "{stop}");
        }
    }
}
