//! Predicate abstraction: worked examples, and random systems against saturation.

mod common;

use std::time::Duration;

use common::{counter, mccarthy, read, solve};
use shofar_engines::pa::Options;
use shofar_engines::{Evidence, InterpolationMethod, PredicateAbstraction, Run};
use shofar_horn::HornGraph;
use shofar_logic::TermStore;
use shofar_run::Stop;
use shofar_testing::explicit::Saturation;
use shofar_testing::systems::{Shape, system};
use shofar_testing::{Random, scale};

/// The answer for a graph. Witnesses are checked.
fn answer_of(options: Options, store: &TermStore, graph: &HornGraph) -> Result<Evidence, Stop> {
    let run = Run::new(store).with_timeout(Duration::from_secs(60));
    solve(&PredicateAbstraction { options }, graph, &run)
}

/// With all ways of interpolation, with and without templates and equalities.
fn configurations() -> Vec<Options> {
    let mut all = Vec::new();
    for interpolation in InterpolationMethod::ALL {
        for templates in [0, 1, 2] {
            for equalities in [false, true] {
                let options = Options::default().interpolation(interpolation);
                all.push(options.templates(templates).equalities(equalities));
            }
        }
    }
    all
}

#[track_caller]
fn assert_answers(options: &[Options], text: &str, is_safe: bool) {
    for &options in options {
        let store = TermStore::new();
        let found = answer_of(options, &store, &read(&store, text));
        let found = found.unwrap_or_else(|stop| panic!("{stop}: {options:?}\n{text}"));
        assert_eq!(matches!(found, Evidence::Sat(_)), is_safe, "{options:?}\n{text}");
    }
}

#[test]
fn shapes_without_loops() {
    for (text, is_safe) in [
        ("(assert (=> (< 1 2) false))", false),
        ("(assert (=> (> 1 2) false))", true),
        ("(declare-fun P (Int) Bool)(assert (P 1))", true),
        ("(declare-fun P (Int) Bool)(assert (forall ((x Int)) (=> (P x) false)))", true),
        (
            "(declare-fun p () Bool)(declare-fun q () Bool)(assert p)(assert (=> p q))(assert (=> q false))",
            false,
        ),
        ("(declare-fun p () Bool)(declare-fun q () Bool)(assert (=> p q))(assert (=> q false))", true),
        (
            "(declare-fun P (Int Int) Bool)(declare-fun Q (Int) Bool)(assert (P 0 1))
             (assert (forall ((z Int)) (=> (P z z) (Q z))))(assert (forall ((z Int)) (=> (Q z) false)))",
            true,
        ),
        // The sum of two facts, which differ.
        (
            "(declare-fun A (Int) Bool)(assert (A 0))
             (assert (forall ((x Int) (y Int)) (=> (and (A x) (A y)) (A (+ x y 1)))))
             (assert (forall ((x Int)) (=> (and (A x) (= x 3)) false)))",
            false,
        ),
        (
            "(declare-fun A (Int) Bool)(declare-fun B (Int) Bool)(assert (A 0))(assert (B 1))
             (assert (forall ((x Int) (y Int)) (=> (and (A x) (B y) (= x y)) false)))",
            true,
        ),
    ] {
        assert_answers(&configurations(), text, is_safe);
    }
}

/// Each fact of a path has one more predicate; the first one is reached again by the last.
#[test]
fn a_bounded_counter() {
    assert_answers(&configurations(), &counter("(> x 2)"), true);
    assert_answers(&configurations(), &counter("(>= x 2)"), false);
}

/// McCarthy's function: the premises of one clause are two facts of one predicate.
#[test]
fn recursion_of_two_calls() {
    let options = [Options::default()];
    assert_answers(&options, &mccarthy("(not (= y 91))"), true);
    assert_answers(&options, &mccarthy("(= y 91)"), false);
}

/// Interpolants of one path after the other are about the values there: `x = 3`, `y = 6` and so on. The invariant is `y = 2 x`.
#[test]
fn templates_find_relations_in_the_place_of_constants() {
    let text = "(declare-fun P (Int Int) Bool) (declare-fun Q (Int Int) Bool)
        (assert (P 0 0))
        (assert (forall ((x Int) (y Int)) (=> (P x y) (P (+ x 1) (+ y 2)))))
        (assert (forall ((x Int) (y Int)) (=> (P x y) (Q x y))))
        (assert (forall ((x Int) (y Int)) (=> (and (Q x y) (> x 0)) (Q (- x 1) (- y 2)))))
        (assert (forall ((x Int) (y Int)) (=> (and (Q x y) (= x 0) (not (= y 0))) false)))";
    for interpolation in InterpolationMethod::ALL {
        let options = Options::default().interpolation(interpolation).equalities(false);
        assert_answers(&[options.templates(1), options.templates(2)], text, true);
    }
}

/// The derivation is a binary tree of depth 20 with shared facts: 2^20 clauses. Its upper part alone has no instance.
#[test]
fn large_trees_are_refuted_by_their_upper_part() {
    let mut text = "(declare-fun P0 (Int) Bool)(assert (forall ((x Int)) (=> (>= x 0) (P0 x))))".to_owned();
    for level in 1..=20 {
        text += &format!(
            "(declare-fun P{level} (Int) Bool)
             (assert (forall ((x Int) (y Int)) (=> (and (P{} x) (P{} y)) (P{level} (ite (< x y) x y)))))",
            level - 1,
            level - 1
        );
    }
    text += "(assert (forall ((x Int)) (=> (and (P20 x) (> x 5) (< x 5)) false)))";
    assert_answers(&[Options::default()], &text, true);
}

fn agrees_with_saturation(shape: &Shape, systems: u64) {
    let mut solved = 0;
    let all = configurations();
    for seed in 0..systems {
        let store = TermStore::new();
        let mut random = Random::new(seed);
        let text = system(&mut random, shape);
        let graph = read(&store, &text);
        let is_safe = Saturation::of(&store, &graph, 0..=shape.greatest).is_safe();
        let options = all[random.below(all.len())];
        if let Ok(found) = answer_of(options, &store, &graph) {
            assert_eq!(matches!(found, Evidence::Sat(_)), is_safe, "seed {seed}: {options:?}\n{text}");
            solved += 1;
        }
    }
    assert!(solved * 100 >= systems * 99, "{solved} of {systems}");
}

#[test]
fn random_linear_systems() {
    agrees_with_saturation(&Shape::LINEAR, 2000 * scale());
    agrees_with_saturation(&Shape::PASSING, 500 * scale());
}

#[test]
fn random_non_linear_systems() {
    agrees_with_saturation(&Shape::NONLINEAR, 1500 * scale());
}
