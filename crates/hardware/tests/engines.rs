//! Engines with and without reductions on random circuits: verdicts and lengths against explicit search, and all evidence
//! judged by the definitions and by the checker, on the circuit.

mod common;

use common::{Shape, judge, random_circuit, shortest_counterexample};
use shofar_hardware::bmc::Bmc;
use shofar_hardware::check::{check_invariant, check_trace};
use shofar_hardware::circuit::{Circuit, Reset};
use shofar_hardware::evidence::Evidence;
use shofar_hardware::exchange::Exchange;
use shofar_hardware::interpolate::Labelling;
use shofar_hardware::kavy::Strategy;
use shofar_hardware::pdr::{Generalization, Variant};
use shofar_hardware::system::{BitSystem, Extracted};
use shofar_hardware::{imc, kavy, kind, pdr, reduce, windows};
use shofar_run::{Limits, Stop};
use shofar_testing::Random;
use shofar_testing::scale::numbers;

/// An engine, and what is expected of it.
struct Engine {
    name: &'static str,
    run: fn(&BitSystem) -> Result<Evidence, Stop>,
    /// Whether it decides all systems.
    is_complete: bool,
    /// Whether its counterexamples are as short as possible.
    is_shortest: bool,
}

const ENGINES: [Engine; 15] = [
    Engine { name: "bounded model checking", run: bounded, is_complete: false, is_shortest: true },
    Engine { name: "windows", run: by_windows, is_complete: false, is_shortest: false },
    Engine { name: "k-induction", run: with_simple_paths, is_complete: false, is_shortest: true },
    complete("interpolation, McMillan", true, |system| imc::run(system, Labelling::McMillan, &NO_LIMITS)),
    complete("interpolation, Pudlák", true, |system| imc::run(system, Labelling::Pudlak, &NO_LIMITS)),
    complete("PDR, dropping literals", false, |system| {
        with_pdr(system, Generalization::Drop, Variant::Plain)
    }),
    complete("PDR, CTG", false, |system| with_pdr(system, Generalization::Ctg, Variant::Plain)),
    complete("PDR, dynamic", false, |system| with_pdr(system, Generalization::Dynamic, Variant::Plain)),
    complete("PDR, signals", false, |system| with_pdr(system, Generalization::Ctg, Variant::Signals)),
    complete("PDR, localization", false, |system| with_pdr(system, Generalization::Ctg, Variant::Local)),
    complete("kAvy, core-guided", true, |system| {
        with_kavy(system, Strategy::CoreGuided, Labelling::McMillan)
    }),
    complete("kAvy, top-down", true, |system| with_kavy(system, Strategy::TopDown, Labelling::McMillan)),
    complete("kAvy, bottom-up", true, |system| with_kavy(system, Strategy::BottomUp, Labelling::McMillan)),
    complete("kAvy, Pudlák", true, |system| with_kavy(system, Strategy::CoreGuided, Labelling::Pudlak)),
    complete("Avy", true, |system| with_kavy(system, Strategy::Avy, Labelling::McMillan)),
];

const NO_LIMITS: Limits<'_> =
    Limits { conflicts: None, propagations: None, deadline: None, memory: None, cancel: None, gate: None };

const fn complete(
    name: &'static str,
    is_shortest: bool,
    run: fn(&BitSystem) -> Result<Evidence, Stop>,
) -> Engine {
    Engine { name, run, is_complete: true, is_shortest }
}

/// Bounded model checking up to the number of states.
fn bounded(system: &BitSystem) -> Result<Evidence, Stop> {
    let mut bmc = Bmc::new(system);
    while bmc.bound() <= 1 << system.num_latches() {
        if let Some(trace) = bmc.advance(1, &NO_LIMITS)? {
            return Ok(Evidence::Unsafe(trace));
        }
    }
    Err(Stop::Exhausted("no counterexample"))
}

/// A search that would not end if the system is safe.
fn by_windows(system: &BitSystem) -> Result<Evidence, Stop> {
    match bounded(system) {
        Ok(_) => windows::run(system, &Exchange::default(), &NO_LIMITS),
        without => without,
    }
}

fn with_simple_paths(system: &BitSystem) -> Result<Evidence, Stop> {
    kind::run_with_simple_paths(system, &NO_LIMITS)
}

fn with_pdr(system: &BitSystem, generalization: Generalization, variant: Variant) -> Result<Evidence, Stop> {
    pdr::run(system, pdr::Options { generalization, variant }, &Exchange::default(), &NO_LIMITS)
}

fn with_kavy(system: &BitSystem, strategy: Strategy, labelling: Labelling) -> Result<Evidence, Stop> {
    kavy::run(system, kavy::Options { strategy, labelling, ..kavy::Options::default() }, &NO_LIMITS)
}

/// Runs an engine, judges its answer on the circuit, and returns whether there was one.
fn answers(
    circuit: &Circuit,
    is_reduced: bool,
    engine: &Engine,
    shortest: Option<usize>,
) -> Result<bool, String> {
    let bads = &circuit.bads[..1];
    let extracted = Extracted::new(circuit, bads[0]);
    let evidence = if is_reduced {
        let reduced = reduce::all(&extracted.system, &NO_LIMITS);
        (engine.run)(&reduced.system).map(|evidence| reduced.back.evidence_back(evidence))
    } else {
        (engine.run)(&extracted.system)
    };
    let evidence = match evidence {
        Ok(Evidence::Unsafe(trace)) => Evidence::Unsafe(extracted.trace_back(&trace)),
        Ok(Evidence::Safe(invariant)) => Evidence::Safe(extracted.invariant_back(&invariant)),
        Err(Stop::Exhausted(_)) if shortest.is_none() && !engine.is_complete => return Ok(false),
        Err(stop) => return Err(stop.to_string()),
    };
    judge(circuit, bads, &evidence, shortest)?;
    match evidence {
        Evidence::Unsafe(trace) => {
            check_trace(circuit, bads, &trace).map_err(|fault| fault.to_string())?;
            if engine.is_shortest && shortest != Some(trace.length()) {
                return Err(format!("the length is {}, not {shortest:?}", trace.length()));
            }
        }
        Evidence::Safe(invariant) => {
            let checked = check_invariant(circuit, bads, &invariant, &NO_LIMITS);
            checked.map_err(|refusal| refusal.to_string())?;
        }
    }
    Ok(true)
}

#[test]
fn evidence_comes_back_to_the_circuit() {
    let mut answered = [[0u64; 2]; ENGINES.len()];
    for seed in numbers(400) {
        let shape = Shape { bads: 1, ..Shape::default() };
        let circuit = random_circuit(&mut Random::new(seed), &shape);
        let shortest = shortest_counterexample(&circuit, &circuit.bads[..1]);
        let has_functions = circuit.latches.iter().any(|latch| matches!(latch.reset, Reset::Function(_)));
        for (index, engine) in ENGINES.iter().enumerate() {
            // Deep inductions do not come back through reset functions.
            if has_functions && engine.name == "k-induction" {
                continue;
            }
            for is_reduced in [false, true] {
                match answers(&circuit, is_reduced, engine, shortest) {
                    Ok(is_answered) => {
                        answered[index][usize::from(is_reduced)] += u64::from(is_answered);
                    }
                    Err(what) => {
                        let name = engine.name;
                        panic!("{name}, circuit {seed}, reduced: {is_reduced}: {what}\n{circuit:?}")
                    }
                }
            }
        }
    }
    assert!(answered.iter().flatten().all(|&count| count > 40), "{answered:?}");
}
