//! Translations of lemmas: a lemma that holds for all facts of one graph holds for all facts of the other, on random
//! systems whose facts an explicit search finds.

#![expect(clippy::print_stdout, reason = "what a failed test prints names its system")]

use shofar_horn::graph::NodeId;
use shofar_horn::transform::{Image, Lemma, Pipeline, Transformed};
use shofar_horn::{Context, HornGraph, parse};
use shofar_logic::{Term, TermStore};
use shofar_run::Limits;
use shofar_testing::explicit::Saturation;
use shofar_testing::lemmas::lemmas_stay_true;
use shofar_testing::systems::{self, Shape};
use shofar_testing::{Random, control_systems, scale};

/// Labels of joined edges have many local variables, each of which multiplies the work of the explicit search.
const SHAPES: [Shape; 3] = [
    Shape { predicates: 5, arity: 2, rules: 7, body: 1, greatest: 2, bounds_bodies: true },
    Shape { predicates: 4, arity: 1, rules: 5, body: 3, greatest: 2, bounds_bodies: true },
    Shape::PASSING,
];

fn graph(store: &TermStore, text: &str) -> HornGraph {
    let system = parse(store, "test", text.as_bytes()).unwrap_or_else(|error| panic!("{error} in\n{text}"));
    HornGraph::of(store, &system)
}

/// Transforms a random system, if it is safe. Returns the number of lemmas that arrive in the new graph.
fn arrived(seed: u64, shape: &Shape, names: &str) -> usize {
    let random = &mut Random::new(seed);
    let text = systems::system(random, shape);
    arrived_of(&text, shape.greatest, names, random)
}

fn arrived_of(text: &str, greatest: i64, names: &str, random: &mut Random) -> usize {
    let store = TermStore::new();
    let context = Context { store: &store, limits: Limits::default() };
    let mut old = graph(&store, text);
    if names == "uniform" {
        old = systems::with_passed_on(&store, random, &old);
    }
    let pipeline = Pipeline::parse(names).expect("the test's names are right");
    let Transformed { graph: new, translation } = pipeline.run(&context, old.clone()).0;
    // The explicit search tries all values of all variables.
    if new == old || new.edges().any(|(id, _)| new.locals(&store, id).len() > 6) {
        return 0;
    }
    let domain = 0..=greatest;
    let (facts, new_facts) =
        (Saturation::of(&store, &old, domain.clone()), Saturation::of(&store, &new, domain));
    if !facts.is_safe() {
        return 0;
    }
    println!("{names}:\n{text}");
    lemmas_stay_true(&context, &*translation, (&old, &facts), (&new, &new_facts), random)
}

fn lemmas_of_all(names: &str, expected: usize) {
    let seeds = 0..60 * scale();
    let count = |shape| seeds.clone().map(|seed| arrived(seed, shape, names)).sum::<usize>();
    let all: usize = SHAPES.iter().map(count).sum();
    assert!(all >= expected * scale() as usize, "{names}: {all} lemmas arrived");
}

#[test]
fn lemmas_go_through_removal_of_clauses_and_simplifying() {
    lemmas_of_all("infeasible", 40);
    lemmas_of_all("simplify", 40);
    lemmas_of_all("merge", 40);
    lemmas_of_all("accelerate", 5);
}

#[test]
fn lemmas_go_through_removal_of_predicates() {
    lemmas_of_all("unreachable", 20);
}

#[test]
fn lemmas_go_through_removal_of_arguments() {
    lemmas_of_all("constants", 20);
    lemmas_of_all("arguments", 10);
    lemmas_of_all("uniform", 40);
}

#[test]
fn lemmas_go_through_joined_clauses() {
    lemmas_of_all("chains", 20);
    lemmas_of_all("inline", 20);
}

#[test]
fn lemmas_go_through_splitting() {
    lemmas_of_all("split", 10);
}

/// The split arguments are those of programs with a counter.
#[test]
fn lemmas_go_through_unfolded_control() {
    let text = |seed: u64| control_systems::system(&mut Random::new(seed));
    let greatest = control_systems::GREATEST;
    let arrived = |seed| arrived_of(&text(seed), greatest, "control", &mut Random::new(seed));
    let all: usize = (0..60 * scale()).map(arrived).sum();
    assert!(all >= 40 * scale() as usize, "{all} lemmas arrived");
}

#[test]
fn lemmas_go_through_joined_predicates() {
    lemmas_of_all("single-loop", 40);
    lemmas_of_all("nested-loops", 40);
}

#[test]
fn lemmas_go_through_sequences_of_transformations() {
    let names = Pipeline::names();
    let mut all = 0;
    for seed in 0..150 * scale() {
        let random = &mut Random::new(seed ^ 0x1e44a);
        let length = 2 + random.below(4);
        let sequence: Vec<&str> = (0..length).map(|_| *random.choose(&names)).collect();
        all += arrived(seed, random.choose(&SHAPES), &sequence.join(","));
    }
    assert!(all >= 50, "{all} lemmas arrived");
}

/// A lemma about an irrelevant argument loses it, or is lost.
#[test]
fn a_lemma_keeps_what_it_says_of_the_arguments_that_are_kept() {
    let store = TermStore::new();
    let context = Context { store: &store, limits: Limits::default() };
    let old = graph(
        &store,
        "(declare-fun P (Int Int) Bool)
         (assert (forall ((y Int)) (P 0 y)))
         (assert (forall ((x Int) (y Int)) (=> (P x y) (P (+ x 1) (+ y x)))))
         (assert (forall ((x Int) (y Int)) (=> (and (P x y) (< x 0)) false)))",
    );
    let Transformed { graph: new, translation } =
        Pipeline::parse("arguments").unwrap().run(&context, old.clone()).0;
    let node = NodeId::new(0);
    let [x, y] = *old.node(node).variables() else { panic!("there are two arguments") };
    assert_eq!(new.node(node).variables(), [x]);
    let forward = |formula: Term| translation.forward(&context, Lemma { node, formula });
    let positive = store.ge(x, store.int(0));
    assert_eq!(forward(positive), Image::Lemmas(vec![Lemma { node, formula: positive }]));
    let between = store.and2(store.le(store.int(0), y), store.le(y, x));
    let Image::Lemmas(images) = forward(between) else { panic!("it says that x is not negative") };
    assert_eq!(images, [Lemma { node, formula: positive }]);
    assert_eq!(forward(store.le(y, store.int(3))), Image::Inexpressible);
    assert!(translation.is_renaming());
    let chains = "(declare-fun P (Int) Bool) (declare-fun Q (Int) Bool) (assert (forall ((x Int)) (=> (> x 0) (P x))))
        (assert (forall ((x Int)) (=> (P x) (Q (+ x 1))))) (assert (forall ((x Int)) (=> (and (Q x) (< x 0)) false)))";
    let joined = Pipeline::parse("chains").unwrap().run(&context, graph(&store, chains)).0;
    let lemma = Lemma { node, formula: Term::TRUE };
    assert_eq!(joined.translation.forward(&context, lemma), Image::Removed);
    assert!(!joined.translation.is_renaming());
}
