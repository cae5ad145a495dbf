//! Justice properties: circuits whose answers are known, and random ones against explicit search for fair cycles.

mod common;

use common::{Shape, add_justice, has_fair_run, has_loop, random_circuit, shortest_counterexample};
use shofar_hardware::aig::{Builder, Edge, Node};
use shofar_hardware::check::{Fault, check_invariant, check_lasso};
use shofar_hardware::circuit::{Circuit, Latch, Property, Reset};
use shofar_hardware::decide::{Verdict, decide, excluded};
use shofar_hardware::evidence::Trace;
use shofar_hardware::live::lasso::Lasso;
use shofar_hardware::live::{Method, Monitor, Monitored, Proof, comments_of, monitors_in};
use shofar_hardware::solve::{ENGINES, Engine, Options};
use shofar_run::Limits;
use shofar_testing::Random;
use shofar_testing::scale::numbers;

const ZERO: Reset = Reset::Constant(false);

fn edge(node: usize) -> Edge {
    Node::from_index(node).into()
}

/// A circuit of latches (next, reset) with nodes from 1, and inputs behind them.
fn circuit(builder: Builder, latches: &[(Edge, Reset)], inputs: usize, justice: &[&[Edge]]) -> Circuit {
    let latch = |(index, &(next, reset)): (usize, &(Edge, Reset))| Latch {
        node: Node::from_index(index + 1),
        next,
        reset,
    };
    Circuit {
        aig: builder.into_aig(),
        latches: latches.iter().enumerate().map(latch).collect(),
        inputs: (0..inputs).map(|input| Node::from_index(latches.len() + 1 + input)).collect(),
        justice: justice.iter().map(|edges| edges.to_vec()).collect(),
        ..Circuit::default()
    }
}

/// The answer about properties, and that of each property by itself, with checked evidence.
fn verdict(circuit: &Circuit, properties: &[Property], engines: &[Engine]) -> Verdict {
    let options = Options { engines: engines.to_vec(), ..Options::default() };
    let verdict = decide(circuit, &circuit.bads, properties, &options, &Limits::default()).verdict;
    match &verdict {
        Verdict::Safe(proof) => assert!(accepts(circuit, properties, proof)),
        Verdict::Unsafe(counterexample) => {
            assert!(properties.contains(&counterexample.property));
            if let Property::Justice(index) = counterexample.property {
                let (edges, trace) = (circuit.recurring(index), &counterexample.trace);
                check_lasso(circuit, &edges, trace).unwrap();
                assert!(counterexample.loop_start.is_some_and(|start| start < trace.inputs.len()));
            }
        }
        Verdict::Unknown(stop) => panic!("{stop}"),
    }
    verdict
}

fn accepts(circuit: &Circuit, properties: &[Property], proof: &Proof) -> bool {
    let covers = |property: &Property| match property {
        Property::Bad(_) => true,
        Property::Justice(index) => proof.monitors.iter().any(|monitor| monitor.justice == *index),
    };
    let Monitored { circuit: monitored, alarms } = Monitored::new(circuit, &proof.monitors);
    let bads = excluded(&circuit.bads, properties, &alarms);
    properties.iter().all(covers)
        && check_invariant(&monitored, &bads, &proof.invariant, &Limits::default()).is_ok()
}

fn holds(circuit: &Circuit, justice: usize) -> bool {
    let verdict = verdict(circuit, &[Property::Justice(justice)], &[]);
    assert_eq!(has_fair_run(circuit, &circuit.recurring(justice)), matches!(verdict, Verdict::Unsafe(_)));
    matches!(verdict, Verdict::Safe(_))
}

/// A counter of two bits that counts while its input is true. `j0`: it stays below 3 for ever. `j1`: the same, and it
/// counts again and again.
#[test]
fn a_counter_may_wait_for_ever() {
    let mut builder = Builder::with_leaves(3);
    let (low, high, go) = (edge(1), edge(2), edge(3));
    let full = builder.and(low, high);
    let counts = builder.and(go, !full);
    let carry = builder.and(counts, low);
    let latches = [(builder.xor(low, counts), ZERO), (builder.xor(high, carry), ZERO)];
    let counter = circuit(builder, &latches, 1, &[&[!full], &[!full, go]]);
    assert!(!holds(&counter, 0));
    assert!(holds(&counter, 1));
    // The input as a fairness constraint does the same.
    assert!(holds(&Circuit { fairness: vec![go], ..counter.clone() }, 0));
    // A constraint cuts the loop: while it may not wait, it does not stay below 3.
    assert!(holds(&Circuit { constraints: vec![go], ..counter }, 0));
}

/// A request is granted at some time if the arbiter is fair to it; here the arbiter is free to choose by its input. The
/// property fails if the request is pending for ever.
#[test]
fn an_arbiter_needs_fairness() {
    let mut builder = Builder::with_leaves(3);
    let (pending, request, choice) = (edge(1), edge(2), edge(3));
    let asked = builder.or(pending, request);
    let granted = builder.and(asked, choice);
    let next = builder.and(asked, !choice);
    let waits = builder.and(pending, !granted);
    let arbiter = circuit(builder, &[(next, ZERO)], 2, &[&[waits], &[waits, choice]]);
    assert!(!holds(&arbiter, 0));
    // The second property asks for grants in between, after which the request is made again.
    assert!(!holds(&arbiter, 1));

    // Once pending, always pending until granted: with a latch that remembers a grant, none comes after it.
    let mut builder = Builder::with_leaves(4);
    let (pending, done, request, choice) = (edge(1), edge(2), edge(3), edge(4));
    let asked = builder.or(pending, request);
    let granted = builder.and(asked, choice);
    let still = builder.and(asked, !choice);
    let next = builder.and(still, !done);
    let waits = builder.and(pending, !granted);
    let latches = [(next, ZERO), (builder.or(done, granted), ZERO)];
    let once = circuit(builder, &latches, 2, &[&[waits]]);
    assert!(!holds(&once, 0));
    assert!(holds(&Circuit { fairness: vec![choice], ..once }, 0));
}

/// Without edges every infinite run violates the property, and a constraint may end all runs.
#[test]
fn a_property_without_edges_is_about_infinite_runs() {
    let rises = circuit(Builder::with_leaves(1), &[(Edge::TRUE, ZERO)], 0, &[&[]]);
    assert!(!holds(&rises, 0));
    assert!(holds(&Circuit { constraints: vec![!edge(1)], ..rises.clone() }, 0));
    assert!(holds(&Circuit { constraints: vec![Edge::FALSE], ..rises.clone() }, 0));
    assert!(holds(&Circuit { justice: vec![vec![!edge(1)]], ..rises.clone() }, 0));
    assert!(!holds(&Circuit { justice: vec![vec![edge(1)]], ..rises.clone() }, 0));
    assert!(holds(&Circuit { justice: vec![vec![Edge::FALSE]], ..rises }, 0));
}

#[test]
fn resets_may_be_free_or_functions() {
    // Two latches that keep their values; the property: they are equal for ever.
    let mut builder = Builder::with_leaves(3);
    let equal = builder.iff(edge(1), edge(2));
    let keep = |one, other| [(edge(1), one), (edge(2), other)];
    let of = |resets: &[(Edge, Reset)]| holds(&circuit(builder.clone(), resets, 1, &[&[equal]]), 0);
    assert!(!of(&keep(Reset::Free, Reset::Free)));
    assert!(of(&keep(Reset::Free, Reset::Function(!edge(1)))));
    assert!(!of(&keep(Reset::Function(edge(3)), Reset::Function(edge(3)))));
    assert!(of(&keep(Reset::Function(edge(3)), Reset::Function(!edge(3)))));
}

/// A counter that the property does not depend on goes round in the time of four loops: the loop is repeated.
#[test]
fn all_latches_recur_where_that_is_possible() {
    let mut builder = Builder::with_leaves(3);
    let latches = [(!edge(1), ZERO), (builder.xor(edge(1), edge(2)), ZERO), (edge(3), Reset::Free)];
    let counter = circuit(builder, &latches, 0, &[&[edge(3)]]);
    let Verdict::Unsafe(found) = verdict(&counter, &[Property::Justice(0)], &[]) else {
        panic!("it is unsafe")
    };
    assert_eq!((found.loop_start, found.trace.inputs.len()), (Some(0), 4));
    assert!(has_loop(&counter, &[edge(3)], &found.trace));
    // The check itself looks at the latches that matter only.
    let short = Trace { inputs: vec![vec![]], ..found.trace };
    assert_eq!(check_lasso(&counter, &[edge(3)], &short), Ok(0..1));
    assert_eq!(check_lasso(&counter, &[!edge(3)], &short), Err(Fault::NotFair));
    assert_eq!(check_lasso(&counter, &[edge(1), edge(3)], &short), Err(Fault::NoLoop));
}

fn random_with_justice(random: &mut Random, latches: usize) -> Circuit {
    let shape = Shape {
        inputs: random.below(3),
        latches: 1 + random.below(latches),
        gates: random.below(14),
        ..Shape::default()
    };
    let mut circuit = random_circuit(random, &shape);
    add_justice(random, &mut circuit);
    circuit
}

/// Explicit search on both: the circuit has a fair run if and only if an alarm can be raised. A run with more rounds
/// than there are states has a loop.
#[test]
fn alarms_are_raised_as_the_definition_says() {
    let (mut held, mut all) = (0, 0);
    for seed in numbers(4000) {
        let circuit = random_with_justice(&mut Random::new(seed), 3);
        let expected = has_fair_run(&circuit, &circuit.recurring(0));
        let rounds = 1 + (1 << circuit.latches.len());
        for method in [Method::Shadow, Method::Rounds(rounds)] {
            let Monitored { circuit: monitored, alarms } =
                Monitored::new(&circuit, &[Monitor { justice: 0, method }]);
            let is_raised = shortest_counterexample(&monitored, &alarms).is_some();
            assert_eq!(is_raised, expected, "seed {seed}, {method:?}\n{circuit:?}");
        }
        held += usize::from(!expected);
        all += 1;
    }
    assert!(held > all / 5 && held < all * 4 / 5, "{held} of {all} hold");
}

/// All engines, and by itself each one that proves.
#[test]
fn answers_agree_with_explicit_search() {
    let pdr: Vec<Engine> = ENGINES.iter().copied().filter(|engine| engine.name == "pdr").collect();
    for (engines, count) in [(&[][..], 1500), (&pdr, 1000)] {
        for seed in numbers(count) {
            let circuit = random_with_justice(&mut Random::new(seed), 5);
            for justice in 0..circuit.justice.len() {
                let expected = has_fair_run(&circuit, &circuit.recurring(justice));
                let found = verdict(&circuit, &[Property::Justice(justice)], engines);
                assert_eq!(matches!(found, Verdict::Unsafe(_)), expected, "seed {seed}\n{circuit:?}");
            }
        }
    }
}

/// Safety and justice together: one counterexample, or one proof of all.
#[test]
fn all_properties_are_decided_together() {
    let mut joined = 0;
    for seed in numbers(400) {
        let circuit = random_with_justice(&mut Random::new(seed), 4);
        let bads = (0..circuit.bads.len()).map(Property::Bad);
        let properties: Vec<Property> =
            bads.chain((0..circuit.justice.len()).map(Property::Justice)).collect();
        let fails = |property: &Property| match *property {
            Property::Bad(index) => shortest_counterexample(&circuit, &circuit.bads[index..=index]).is_some(),
            Property::Justice(index) => has_fair_run(&circuit, &circuit.recurring(index)),
        };
        match verdict(&circuit, &properties, &[]) {
            Verdict::Safe(proof) => {
                assert!(!properties.iter().any(fails), "seed {seed}");
                joined += usize::from(proof.monitors.len() == 2);
                let comments = comments_of(&proof.monitors);
                assert_eq!(monitors_in(&circuit, comments.as_bytes()), Ok(proof.monitors));
            }
            Verdict::Unsafe(found) => assert!(fails(&found.property), "seed {seed}"),
            Verdict::Unknown(stop) => panic!("seed {seed}: {stop}"),
        }
    }
    assert!(joined > 10, "{joined} proofs of two justice properties");
}

/// Lassos with flipped bits and missing steps are accepted only if they are lassos.
#[test]
fn tampered_lassos_are_refused() {
    let (mut accepted, mut refused) = (0, 0);
    for seed in numbers(600) {
        let random = &mut Random::new(seed);
        let circuit = random_with_justice(random, 4);
        let edges = circuit.recurring(0);
        let Verdict::Unsafe(found) = verdict(&circuit, &[Property::Justice(0)], &[]) else { continue };
        let mut trace = found.trace;
        assert!(has_loop(&circuit, &edges, &trace), "seed {seed}");
        for _ in 0..6 {
            let step = random.below(trace.inputs.len());
            match random.below(3) {
                0 => {
                    let latch = random.below(trace.initial.len());
                    trace.initial[latch] = !trace.initial[latch];
                }
                1 if !trace.inputs[step].is_empty() => {
                    let input = random.below(trace.inputs[step].len());
                    trace.inputs[step][input] = !trace.inputs[step][input];
                }
                _ if trace.inputs.len() > 1 => {
                    trace.inputs.remove(step);
                }
                _ => {}
            }
            // What has a loop of all latches is accepted; what is accepted comes from a fair run.
            match check_lasso(&circuit, &edges, &trace) {
                Ok(steps) => {
                    let found = Lasso::find(&circuit, &edges, trace.clone()).unwrap();
                    assert_eq!((found.start, found.trace.inputs.len()), (steps.start, steps.end));
                    assert!(has_loop(&circuit, &edges, &found.completed(&circuit).trace), "seed {seed}");
                    accepted += 1;
                }
                Err(fault) => {
                    assert!(!has_loop(&circuit, &edges, &trace), "seed {seed}: {fault}");
                    refused += 1;
                }
            }
        }
    }
    assert!(accepted > 100 && refused > 100, "{accepted} accepted, {refused} refused");
}

/// A proof is one of its own property by its own monitor only.
#[test]
fn tampered_proofs_are_refused() {
    let (mut refused, mut all) = (0, 0);
    for seed in numbers(600) {
        let random = &mut Random::new(seed);
        let circuit = random_with_justice(random, 4);
        let property = [Property::Justice(0)];
        let Verdict::Safe(mut proof) = verdict(&circuit, &property, &[]) else { continue };
        let method = proof.monitors[0].method;
        if let (Method::Rounds(rounds), true) = (method, random.bool()) {
            proof.monitors[0].method = Method::Rounds(rounds + 1);
        } else if proof.invariant.clauses.is_empty() {
            proof.monitors.clear();
        } else {
            let clause = random.below(proof.invariant.clauses.len());
            proof.invariant.clauses.swap_remove(clause);
        }
        all += 1;
        refused += usize::from(!accepts(&circuit, &property, &proof));
        // No invariant of a circuit with a fair run excludes the alarm.
        let fails = Circuit { justice: vec![vec![]], fairness: vec![], ..circuit };
        if has_fair_run(&fails, &[]) {
            let method = Method::Shadow;
            let wrong = Proof { monitors: vec![Monitor { justice: 0, method }], ..proof };
            assert!(!accepts(&fails, &property, &wrong), "seed {seed}");
        }
    }
    assert!(refused > all / 4 && all > 20, "{refused} of {all} refused");
}

#[test]
fn monitors_are_read_as_they_are_written() {
    let circuit = circuit(Builder::with_leaves(1), &[(Edge::TRUE, ZERO)], 0, &[&[], &[]]);
    let monitors =
        [Monitor { justice: 1, method: Method::Rounds(3) }, Monitor { justice: 0, method: Method::Shadow }];
    assert_eq!(comments_of(&monitors), "MONITORS\nj1 rounds 3\nj0 shadow\n");
    assert_eq!(
        monitors_in(&circuit, b"hello\nMONITORS\nj1 rounds 3\nj0 shadow\nrest"),
        Ok(monitors.to_vec())
    );
    assert_eq!(monitors_in(&circuit, b"j0 shadow\n"), Ok(Vec::new()));
    for wrong in
        ["j0 rounds 0", "j0 rounds 99999999999", "j2 shadow", "j0 x", "j+1 shadow", "j0 shadow\nj0 shadow"]
    {
        assert!(monitors_in(&circuit, format!("MONITORS\n{wrong}\n").as_bytes()).is_err(), "{wrong}");
    }
}
