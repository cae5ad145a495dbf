//! Transformations keep answers, and their ways back lead to witnesses, on random systems whose answers an explicit
//! search finds.

mod support;

use shofar_horn::check::{check_derivation, check_graph_model};
use shofar_horn::transform::{
    Context, Pipeline, PropagateConstants, RemoveInfeasible, RemoveUnreachable, RemoveUnusedArguments,
    Simplify, Transformation,
};
use shofar_horn::{HornGraph, parse};
use shofar_logic::TermStore;
use shofar_smt::sat::Limits;
use support::Random;
use support::explicit::{Ends, Saturation};
use support::systems::{self, Shape};

const SHAPES: [Shape; 2] = [Shape::LINEAR, Shape::NONLINEAR];

#[test]
fn both_answers_are_frequent_among_random_systems() {
    for shape in SHAPES {
        let mut safe = 0;
        for seed in 0..200 {
            let text = systems::system(&mut Random::new(seed), &shape);
            let store = TermStore::new();
            let graph = graph(&store, &text);
            safe += usize::from(Saturation::of(&store, &graph, 0..=shape.greatest).is_safe());
        }
        assert!((60..=140).contains(&safe), "{safe} of 200 are safe");
    }
}

/// A transformation by its position in the list of all.
fn pass(number: usize) -> Box<dyn Transformation> {
    match number {
        0 => Box::new(RemoveUnreachable),
        1 => Box::new(RemoveInfeasible),
        2 => Box::new(Simplify),
        3 => Box::new(PropagateConstants),
        4 => Box::new(RemoveUnusedArguments),
        _ => panic!("there are no more"),
    }
}

const PASSES: usize = 5;

/// Runs transformations on a random system; checks that the answer stays, and that witnesses come back. Returns whether
/// something was changed.
fn keeps_the_answer(seed: u64, shape: &Shape, passes: Vec<Box<dyn Transformation>>) -> bool {
    let mut random = Random::new(seed);
    let text = systems::system(&mut random, shape);
    let names: Vec<&str> = passes.iter().map(|pass| pass.name()).collect();
    let store = TermStore::new();
    let graph = graph(&store, &text);
    let context = Context { store: &store, limits: Limits::default() };
    let domain = 0..=shape.greatest;
    let is_safe = Saturation::of(&store, &graph, domain.clone()).is_safe();
    let (transformed, reports) = Pipeline::new(passes).run(&context, graph.clone());
    let fail = |what: &str, why: &dyn std::fmt::Debug| -> ! {
        panic!("seed {seed} of {shape:?}, {names:?}: {what}: {why:?}\n{text}");
    };
    let saturation = Saturation::of(&store, &transformed.graph, domain);
    if saturation.is_safe() != is_safe {
        fail("the answer has changed", &is_safe);
    }
    let checked = match saturation.derivation() {
        Some(derivation) => transformed
            .back
            .derivation(&context, derivation)
            .and_then(|derivation| check_derivation(&context, &graph, &derivation)),
        None => {
            let ends = *random.choose(&[Ends::Closed, Ends::Open]);
            let attempts = *random.choose(&[0, 3, 30]);
            let model = saturation.larger_model(&mut random, attempts, ends);
            if let Err(error) = check_graph_model(&context, &transformed.graph, &model) {
                fail("the explicit model is none", &error);
            }
            transformed
                .back
                .model(&context, model)
                .and_then(|model| check_graph_model(&context, &graph, &model))
        }
    };
    if let Err(error) = checked {
        fail("the witness", &error);
    }
    !reports.is_empty()
}

/// How many systems each test tries.
fn scale(systems: u64) -> u64 {
    let factor = std::env::var("SHOFAR_TEST_SCALE").ok().and_then(|factor| factor.parse().ok());
    systems * factor.unwrap_or(1)
}

fn alone(number: usize, least_changed: u64) {
    let count = scale(400);
    for shape in SHAPES {
        let changed = (0..count).filter(|&seed| keeps_the_answer(seed, &shape, vec![pass(number)])).count();
        assert!(changed as u64 * 100 >= count * least_changed, "only {changed} of {count} are changed");
    }
}

#[test]
fn removal_of_the_unreachable_keeps_answers() {
    alone(0, 40);
}

#[test]
fn removal_of_the_infeasible_keeps_answers() {
    alone(1, 40);
}

#[test]
fn simplifying_keeps_answers() {
    alone(2, 80);
}

#[test]
fn propagation_of_constants_keeps_answers() {
    alone(3, 40);
}

#[test]
fn removal_of_arguments_keeps_answers() {
    alone(4, 10);
}

#[test]
fn sequences_of_passes_keep_answers() {
    for shape in SHAPES {
        for seed in 0..scale(400) {
            let mut random = Random::new(seed ^ 0x5eed);
            let passes = (0..2 + random.below(7)).map(|_| pass(random.below(PASSES))).collect();
            keeps_the_answer(seed + 1_000_000, &shape, passes);
        }
    }
}

fn graph(store: &TermStore, text: &str) -> HornGraph {
    let system = parse(store, "random", text.as_bytes()).unwrap_or_else(|error| panic!("{error} in\n{text}"));
    HornGraph::of(store, &system)
}
