//! Transformations of the structure of a system keep its answer, and their ways back lead to witnesses: on random
//! systems whose answers an explicit search finds, and on large ones.

mod support;

use std::fmt::Write;

use shofar_horn::check::{check_derivation, check_graph_model};
use shofar_horn::graph::{EdgeId, NodeId};
use shofar_horn::transform::{Context, Pipeline, Transformed, standard};
use shofar_horn::witness::{Derivation, GraphModel, GraphStep};
use shofar_horn::{HornGraph, TransitionSystem, parse};
use shofar_logic::{Term, TermStore, Value};
use shofar_smt::sat::Limits;
use support::Random;
use support::explicit::{Ends, Saturation};
use support::systems::{self, Shape};

/// Labels of joined edges have many local variables, each of which multiplies the work of the explicit search.
const SHAPES: [Shape; 2] = [
    Shape { predicates: 5, arity: 2, rules: 7, body: 1, greatest: 2 },
    Shape { predicates: 4, arity: 1, rules: 5, body: 3, greatest: 2 },
];

fn graph(store: &TermStore, text: &str) -> HornGraph {
    let system = parse(store, "test", text.as_bytes()).unwrap_or_else(|error| panic!("{error} in\n{text}"));
    HornGraph::of(store, &system)
}

fn run(context: &Context<'_>, names: &str, graph: &HornGraph) -> Transformed {
    Pipeline::parse(names).expect("the test's names are right").run(context, graph.clone()).0
}

/// Transforms a random system and compares answers and witnesses. Tells whether something changed.
fn there_and_back(seed: u64, shape: &Shape, names: &str) -> bool {
    let random = &mut Random::new(seed);
    let text = systems::system(random, shape);
    let store = TermStore::new();
    let context = Context { store: &store, limits: Limits::default() };
    let graph = graph(&store, &text);
    let Transformed { graph: new, back } = run(&context, names, &graph);
    if new == graph {
        return false;
    }
    let case = || format!("seed {seed}, {names}:\n{text}");
    let domain = 0..=shape.greatest;
    let old_answer = Saturation::of(&store, &graph, domain.clone());
    let answer = Saturation::of(&store, &new, domain.clone());
    assert_eq!(old_answer.is_safe(), answer.is_safe(), "{}", case());
    match answer.derivation() {
        Some(derivation) => {
            assert_eq!(check_derivation(&context, &new, &derivation), Ok(()), "{}", case());
            let derivation =
                back.derivation(&context, derivation).unwrap_or_else(|lost| panic!("{lost}: {}", case()));
            assert_eq!(check_derivation(&context, &graph, &derivation), Ok(()), "{}", case());
            let mut steps = derivation.steps.clone();
            steps.dedup();
            assert_eq!(steps.len(), derivation.steps.len(), "{}", case());
        }
        None => {
            for model in [answer.least_model(Ends::Open), answer.larger_model(random, 10, Ends::Open)] {
                assert_eq!(check_graph_model(&context, &new, &model), Ok(()), "{}", case());
                let model = back.model(&context, model).unwrap_or_else(|lost| panic!("{lost}: {}", case()));
                assert_eq!(check_graph_model(&context, &graph, &model), Ok(()), "{}", case());
            }
        }
    }
    true
}

/// How often something has to change among so many systems of each shape.
fn each_keeps_answers(names: &str, systems: u64, expected: usize) {
    let mut changed = 0;
    for shape in &SHAPES {
        changed += (0..systems).filter(|&seed| there_and_back(seed, shape, names)).count();
    }
    assert!(changed >= expected, "{names} changed {changed} systems");
}

#[test]
fn chains_keep_answers() {
    each_keeps_answers("chains", 400, 100);
}

#[test]
fn merging_keeps_answers() {
    each_keeps_answers("merge", 300, 100);
}

#[test]
fn inlining_keeps_answers() {
    each_keeps_answers("inline", 300, 300);
}

#[test]
fn single_loops_keep_answers() {
    each_keeps_answers("single-loop", 200, 80);
}

#[test]
fn sequences_of_transformations_keep_answers() {
    let names = ["chains", "merge", "inline", "single-loop"];
    for seed in 1000..1300 {
        let random = &mut Random::new(seed);
        let length = 2 + random.below(4);
        let sequence: Vec<&str> = (0..length).map(|_| *random.choose(&names)).collect();
        there_and_back(seed, random.choose(&SHAPES), &sequence.join(","));
    }
}

#[test]
fn linear_systems_become_transition_systems() {
    for seed in 0..100 {
        let store = TermStore::new();
        let context = Context { store: &store, limits: Limits::default() };
        let graph = graph(&store, &systems::system(&mut Random::new(seed), &SHAPES[0]));
        for names in ["single-loop", "chains,merge,inline,single-loop"] {
            assert!(TransitionSystem::of(&store, &run(&context, names, &graph).graph).is_some());
        }
    }
}
