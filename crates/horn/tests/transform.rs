//! Transformations keep answers, and their ways back lead to witnesses, on random systems whose answers an explicit
//! search finds.

mod support;

use shofar_horn::{HornGraph, parse};
use shofar_logic::TermStore;
use support::Random;
use support::explicit::Saturation;
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

fn graph(store: &TermStore, text: &str) -> HornGraph {
    let system = parse(store, "random", text.as_bytes()).unwrap_or_else(|error| panic!("{error} in\n{text}"));
    HornGraph::of(store, &system)
}
