//! Engines with and without reductions on random circuits: verdicts and lengths against explicit search, and all evidence
//! through the checker, on the circuit.

mod common;

use common::{Shape, random_circuit, shortest_counterexample};
use shofar_hardware::bmc::Bmc;
use shofar_hardware::check::{check_invariant, check_trace};
use shofar_hardware::circuit::Circuit;
use shofar_hardware::evidence::Evidence;
use shofar_hardware::interpolate::Labelling;
use shofar_hardware::system::{BitSystem, Extracted};
use shofar_hardware::{imc, kavy, kind, reduce};
use shofar_run::{Limits, Stop};
use shofar_testing::Random;
use shofar_testing::scale::numbers;

type Engine = fn(&BitSystem, &Limits<'_>) -> Result<Evidence, Stop>;

const ENGINES: [(&str, Engine); 5] = [
    ("bounded model checking", bounded),
    ("k-induction", kind::run_with_simple_paths),
    ("interpolation, McMillan", |system, limits| imc::run(system, Labelling::McMillan, limits)),
    ("interpolation, Pudlák", |system, limits| imc::run(system, Labelling::Pudlak, limits)),
    ("kAvy", |system, limits| kavy::run(system, kavy::Options::default(), limits)),
];

/// Bounded model checking up to the number of states.
fn bounded(system: &BitSystem, limits: &Limits<'_>) -> Result<Evidence, Stop> {
    let mut bmc = Bmc::new(system);
    while bmc.bound() <= 1 << system.num_latches() {
        if let Some(trace) = bmc.advance(1, limits)? {
            return Ok(Evidence::Unsafe(trace));
        }
    }
    Err(Stop::Exhausted("no counterexample"))
}

/// Runs an engine, checks its answer on the circuit, and returns whether there was one.
fn answers(
    circuit: &Circuit,
    is_reduced: bool,
    engine: Engine,
    shortest: Option<usize>,
) -> Result<bool, String> {
    let limits = Limits::default();
    let bad = circuit.bads[0];
    let extracted = Extracted::new(circuit, bad);
    let evidence = if is_reduced {
        let reduced = reduce::all(&extracted.system, &limits);
        engine(&reduced.system, &limits).map(|evidence| reduced.back.evidence_back(evidence))
    } else {
        engine(&extracted.system, &limits)
    };
    match evidence {
        Ok(Evidence::Unsafe(trace)) => {
            let trace = extracted.trace_back(&trace);
            check_trace(circuit, &[bad], &trace).map_err(|fault| format!("{fault:?}"))?;
            if shortest != Some(trace.length()) {
                return Err(format!("the length is {}, not {shortest:?}", trace.length()));
            }
        }
        Ok(Evidence::Safe(invariant)) => {
            let invariant = extracted.invariant_back(&invariant);
            check_invariant(circuit, &[bad], &invariant, &limits)
                .map_err(|refusal| format!("{refusal:?}"))?;
            if shortest.is_some() {
                return Err("the circuit is unsafe".into());
            }
        }
        Err(Stop::Exhausted(_)) if shortest.is_none() => return Ok(false),
        Err(stop) => return Err(stop.to_string()),
    }
    Ok(true)
}

#[test]
fn evidence_comes_back_to_the_circuit() {
    let mut answered = [[0u64; 2]; ENGINES.len()];
    let seeds = numbers(400);
    for seed in seeds.clone() {
        let shape = Shape { bads: 1, ..Shape::default() };
        let circuit = random_circuit(&mut Random::new(seed), &shape);
        let shortest = shortest_counterexample(&circuit, &circuit.bads[..1]);
        for (index, (name, engine)) in ENGINES.iter().enumerate() {
            for is_reduced in [false, true] {
                match answers(&circuit, is_reduced, *engine, shortest) {
                    Ok(is_answered) => {
                        answered[index][usize::from(is_reduced)] += u64::from(is_answered);
                    }
                    Err(what) => {
                        panic!("{name}, circuit {seed}, reduced: {is_reduced}: {what}\n{circuit:?}")
                    }
                }
            }
        }
    }
    assert!(answered.iter().flatten().all(|&count| count > 40), "{answered:?}");
    let all = seeds.end - seeds.start;
    assert!(
        answered[2..].iter().flatten().all(|&count| count == all),
        "interpolation and kAvy are complete: {answered:?}"
    );
}
