//! Circuits as clauses and clauses as circuits, against explicit search and against the engines of both worlds.

use std::fmt::Write;
use std::time::{Duration, Instant};

use common::{Shape, random_circuit, shortest_counterexample};
use shofar_cooperate::circuits::{circuit_of, clauses_of};
use shofar_cooperate::driver::{self, Options, Verdict};
use shofar_engines::Run;
use shofar_hardware::aig::{Builder, Edge};
use shofar_hardware::circuit::{Circuit, Latch, Reset};
use shofar_hardware::solve::{self, solve};
use shofar_horn::{Context, Format, HornGraph, HornSystem, parse};
use shofar_logic::TermStore;
use shofar_run::{Limits, Stop};
use shofar_testing::Random;
use shofar_testing::explicit::Saturation;
use shofar_testing::scale::numbers;

#[path = "../../hardware/tests/common/mod.rs"]
mod common;

/// Circuits that explicit search and all engines decide at once.
const SMALL: Shape = Shape { inputs: 2, latches: 4, gates: 12, constraints: 2, bads: 2, functions: true };

fn clauses(store: &TermStore, circuit: &Circuit) -> HornSystem {
    clauses_of(&Context::new(store), circuit, &circuit.bads).expect("there are no limits")
}

/// The clauses after printing and reading.
fn reread(store: &TermStore, system: &HornSystem) -> HornSystem {
    let text = system.to_text(store, Format::Smtlib);
    let read = parse(store, "print", &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert!(read.same_as(system), "{text}");
    read
}

/// Whether clauses over `Bool` are satisfiable, by saturation.
fn is_satisfiable(store: &TermStore, system: &HornSystem) -> bool {
    Saturation::of(store, &HornGraph::of(store, system), 0..=1).is_safe()
}

fn is_safe(circuit: &Circuit) -> bool {
    shortest_counterexample(circuit, &circuit.bads).is_none()
}

/// Whether an engine for clauses finds them satisfiable. The driver has checked the witness.
fn answer(store: &TermStore, system: &HornSystem, engine: &str) -> bool {
    let deadline = Instant::now().checked_add(Duration::from_secs(60));
    let run = Run::new(store).with_limits(Limits { deadline, ..Limits::default() });
    let options = Options { engines: vec![engine.parse().expect("the engine exists")], ..Options::default() };
    match driver::solve(system, &options, &run).verdict {
        Verdict::Sat(_) | Verdict::Proved(_) | Verdict::Saturated(_) => true,
        Verdict::Unsat(_) => false,
        Verdict::Unknown(stop) => panic!("{engine}: {stop}\n{}", system.to_text(store, Format::Smtlib)),
    }
}

#[test]
fn clauses_of_random_circuits_have_the_verdict_of_the_circuit() {
    let mut verdicts = [0; 2];
    for number in numbers(300) {
        let circuit = random_circuit(&mut Random::new(number), &SMALL);
        let store = TermStore::new();
        let system = reread(&store, &clauses(&store, &circuit));
        let expected = is_safe(&circuit);
        assert_eq!(is_satisfiable(&store, &system), expected, "circuit {number}");
        verdicts[usize::from(expected)] += 1;
    }
    assert!(verdicts.iter().all(|&count| count > 20), "{verdicts:?}");
}

#[test]
fn engines_for_clauses_agree_with_engines_for_circuits() {
    for number in numbers(40) {
        let circuit = random_circuit(&mut Random::new(1_000_000 + number), &SMALL);
        let outcome = solve(&circuit, &circuit.bads, &solve::Options::default(), &Limits::default());
        let expected = match outcome.verdict {
            solve::Verdict::Safe(_) => true,
            solve::Verdict::Unsafe(..) => false,
            solve::Verdict::Unknown(stop) => panic!("circuit {number}: {stop}"),
        };
        let store = TermStore::new();
        let system = clauses(&store, &circuit);
        let engine = ["spacer", "kind", "imc", "lawi", "pdkind", "tpa", "pa"][number as usize % 7];
        assert_eq!(answer(&store, &system, engine), expected, "{engine}, circuit {number}");
    }
}

#[test]
fn a_circuit_survives_the_way_through_clauses() {
    for number in numbers(150) {
        let shape = Shape { latches: 3, inputs: 2, ..SMALL };
        let circuit = random_circuit(&mut Random::new(2_000_000 + number), &shape);
        let store = TermStore::new();
        let back =
            circuit_of(&Context::new(&store), &clauses(&store, &circuit)).expect("the clauses are Boolean");
        let (there, here) =
            (shortest_counterexample(&circuit, &circuit.bads), shortest_counterexample(&back, &back.bads));
        // The first step derives the initial state.
        assert_eq!(here, there.map(|length| length + 1), "circuit {number}");
        // All next functions are definitions: the inputs are those of the circuit, and the initial values.
        assert!(back.inputs.len() <= circuit.inputs.len() + circuit.latches.len() + shape.inputs);
    }
}

#[test]
fn random_clauses_have_the_verdict_of_their_circuit() {
    let mut verdicts = [0; 2];
    for number in numbers(400) {
        let text = random_system(&mut Random::new(number));
        let store = TermStore::new();
        let system = parse(&store, "random", &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let expected = is_satisfiable(&store, &system);
        let circuit =
            circuit_of(&Context::new(&store), &system).unwrap_or_else(|stop| panic!("{stop}\n{text}"));
        assert_eq!(is_safe(&circuit), expected, "system {number}\n{text}");
        if number % 8 == 0 {
            let there_and_back = reread(&store, &clauses(&store, &circuit));
            assert_eq!(answer(&store, &there_and_back, "spacer"), expected, "system {number}\n{text}");
        }
        verdicts[usize::from(expected)] += 1;
    }
    assert!(verdicts.iter().all(|&count| count > 40), "{verdicts:?}");
}

/// Linear clauses over `Bool`: several predicates, relational constraints, terms as arguments in heads and bodies,
/// variables that nothing constrains.
fn random_system(random: &mut Random) -> String {
    let arities: Vec<usize> = (0..1 + random.below(3)).map(|_| random.below(4)).collect();
    let mut text = String::new();
    for (predicate, &arity) in arities.iter().enumerate() {
        let _ = writeln!(text, "(declare-fun p{predicate} ({}) Bool)", "Bool ".repeat(arity));
    }
    for number in 0..3 + random.below(6) {
        let mut body = Vec::new();
        // The first clause is a fact, the last one a query.
        if number > 0 && !random.one_in(6) {
            body.push(random_atom(random, &arities));
        }
        body.extend((0..random.below(4)).map(|_| random_formula(random, 2)));
        let head =
            if number > 0 && random.one_in(4) { "false".to_owned() } else { random_atom(random, &arities) };
        let _ = writeln!(
            text,
            "(assert (forall ((a Bool) (b Bool) (c Bool)) (=> (and true {}) {head})))",
            body.join(" ")
        );
    }
    text
}

fn random_atom(random: &mut Random, arities: &[usize]) -> String {
    let predicate = random.below(arities.len());
    let arguments: Vec<String> = (0..arities[predicate])
        .map(|_| if random.one_in(4) { random_formula(random, 1) } else { random_variable(random) })
        .collect();
    if arguments.is_empty() {
        format!("p{predicate}")
    } else {
        format!("(p{predicate} {})", arguments.join(" "))
    }
}

fn random_variable(random: &mut Random) -> String {
    (*random.choose(&["a", "b", "c"])).to_owned()
}

fn random_formula(random: &mut Random, depth: usize) -> String {
    if depth == 0 || random.one_in(4) {
        return if random.one_in(8) { random.bool().to_string() } else { random_variable(random) };
    }
    let (operator, arity) = *random.choose(&[
        ("not", 1),
        ("and", 3),
        ("or", 2),
        ("xor", 3),
        ("=>", 3),
        ("=", 2),
        ("=", 3),
        ("distinct", 2),
        ("distinct", 3),
        ("ite", 3),
    ]);
    let arguments: Vec<String> = (0..arity).map(|_| random_formula(random, depth - 1)).collect();
    format!("({operator} {})", arguments.join(" "))
}

/// The inputs of step 0 that a reset function sees are those that the rest of step 0 sees.
#[test]
fn reset_functions_and_the_first_step_see_the_same_inputs() {
    let mut builder = Builder::with_leaves(0);
    let (input, latch) = (builder.leaf(), builder.leaf());
    let differ = builder.xor(input.into(), latch.into());
    let circuit = |next: Edge| Circuit {
        aig: builder.aig().clone(),
        inputs: vec![input],
        latches: vec![Latch { node: latch, next, reset: Reset::Function(input.into()) }],
        bads: vec![differ],
        ..Circuit::default()
    };
    let store = TermStore::new();
    // In step 0 the latch equals the input; if the latch keeps its value, they differ in step 1.
    let keeps = clauses(&store, &circuit(latch.into()));
    assert!(!is_satisfiable(&store, &keeps));
    // If a violated constraint ends all runs after step 0, they never differ.
    let mut short = circuit(Edge::TRUE);
    short.constraints = vec![!differ, !Edge::from(latch)];
    assert!(is_safe(&short) && is_satisfiable(&store, &clauses(&store, &short)));
}

#[test]
fn definitions_may_be_cyclic() {
    let cases = [
        ("(and (= a (not b)) (= b (not a)) (p0 a b))", "(xor a b)", true),
        ("(and (= a (not b)) (= b (not a)))", "(and a (not b))", false),
        ("(and (= a (and b c)) (= b (or a c)) (= c (ite a b c)))", "(and a (not c))", true),
        ("(= a (not a))", "true", true),
    ];
    for (body, bad, expected) in cases {
        // The first variant needs its predicate in the body to be derivable.
        let text = format!(
            "(declare-fun p0 (Bool Bool) Bool) (declare-fun p1 (Bool Bool Bool) Bool)
             (assert (p0 true true))
             (assert (forall ((a Bool) (b Bool) (c Bool)) (=> {body} (p1 (and a (or b c)) b c))))
             (assert (forall ((a Bool) (b Bool) (c Bool)) (=> (and (p1 a b c) {bad}) false)))"
        );
        let store = TermStore::new();
        let system = parse(&store, "cycle", &text).unwrap_or_else(|error| panic!("{error}"));
        let circuit = circuit_of(&Context::new(&store), &system).unwrap_or_else(|stop| panic!("{stop}"));
        assert_eq!(is_satisfiable(&store, &system), is_safe(&circuit), "{body}");
        assert_eq!(is_safe(&circuit), expected, "{body}");
    }
}

#[test]
fn clauses_that_are_no_circuit_are_refused() {
    let cases = [
        (
            "(declare-fun p (Int) Bool) (assert (p 1))",
            "clause 1 at 1:29 has a term of sort Int; only linear Boolean clauses make a circuit",
        ),
        (
            "(declare-fun p () Bool) (declare-fun q () Bool) (assert (=> (and p q) false))",
            "clause 1 at 1:50 has 2 predicates in its body; only linear Boolean clauses make a circuit",
        ),
        (
            "(declare-fun p (Bool) Bool) (assert (forall ((a Bool)) (=> (forall ((b Bool)) (or a b)) (p a))))",
            "clause 1 at 1:30 has a quantifier in its constraint; only linear Boolean clauses make a circuit",
        ),
    ];
    for (text, expected) in cases {
        let store = TermStore::new();
        let system = parse(&store, "refused", text).unwrap();
        let refused = circuit_of(&Context::new(&store), &system).unwrap_err();
        assert_eq!(refused, Stop::Unsupported(expected.to_owned()));
    }
}

#[test]
fn clauses_without_queries_are_a_safe_circuit() {
    for text in ["", "(declare-fun p (Bool) Bool) (assert (p true))"] {
        let store = TermStore::new();
        let system = parse(&store, "no queries", text).unwrap();
        let circuit = circuit_of(&Context::new(&store), &system).unwrap();
        assert_eq!(circuit.bads, [Edge::FALSE]);
        assert!(is_safe(&circuit));
    }
}

/// Names of files that mean something else in SMT-LIB, that occur twice, or that cannot be written.
#[test]
fn all_names_of_a_circuit_can_be_printed() {
    let mut circuit = random_circuit(&mut Random::new(7), &SMALL);
    circuit.names.latches = ["and", "state", "a|b", "x"].map(str::to_owned).into();
    circuit.names.inputs = ["x", "l0"].map(str::to_owned).into();
    let store = TermStore::new();
    let system = reread(&store, &clauses(&store, &circuit));
    assert_eq!(is_satisfiable(&store, &system), is_safe(&circuit));
}

#[test]
fn a_bad_has_the_name_of_its_query_on_one_line() {
    let store = TermStore::new();
    let text = "(declare-fun p () Bool) (assert (! (=> p false) :named |two\nlines|))";
    let circuit = circuit_of(&Context::new(&store), &parse(&store, "names", text).unwrap()).unwrap();
    assert_eq!(circuit.names.bads, ["clause 1 `|two lines|` at 1:26"]);
}

/// A circuit whose functions are deep, and trees of exponential size: both ways stay linear and use no recursion.
#[test]
fn deep_circuits_stay_small() {
    let gates = 200_000;
    let mut builder = Builder::with_leaves(0);
    let (input, latch) = (builder.leaf(), builder.leaf());
    let mut deep: Edge = latch.into();
    for index in 0..gates / 4 {
        let other = if index % 2 == 0 { input } else { latch };
        let shared = builder.and(deep, !Edge::from(other));
        let both = builder.and(!deep, other.into());
        deep = builder.or(shared, both);
    }
    let circuit = Circuit {
        aig: builder.into_aig(),
        inputs: vec![input],
        latches: vec![Latch { node: latch, next: deep, reset: Reset::Constant(false) }],
        bads: vec![!deep],
        ..Circuit::default()
    };
    let store = TermStore::new();
    let system = clauses(&store, &circuit);
    let text = system.to_text(&store, Format::Smtlib);
    assert!(text.len() < 100 * circuit.aig.len(), "{} bytes for {} nodes", text.len(), circuit.aig.len());
    let system = parse(&store, "deep", &text).unwrap();
    let back = circuit_of(&Context::new(&store), &system).unwrap();
    assert!(back.aig.len() < 3 * circuit.aig.len());
}
