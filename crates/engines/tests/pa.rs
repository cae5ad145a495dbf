//! Predicate abstraction: worked examples, and random systems against saturation.

mod common;

use common::{LONG, SMALL_SHAPES, agree_with_saturation, assert_answer, counter, mccarthy};
use shofar_engines::pa::Options;
use shofar_engines::{InterpolationMethod, PredicateAbstraction};
use shofar_testing::scale;
use shofar_testing::systems::Shape;

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
        assert_answer(&PredicateAbstraction { options }, text, is_safe);
    }
}

#[test]
fn shapes_without_loops() {
    for (text, is_safe) in SMALL_SHAPES {
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

fn solves_nearly_all(shape: &Shape, systems: u64) {
    let engines: Vec<_> =
        configurations().into_iter().map(|options| PredicateAbstraction { options }).collect();
    let solved = agree_with_saturation(&engines, |_| LONG, shape, systems).percent_solved();
    assert!(solved >= 99, "only {solved} of 100");
}

#[test]
fn random_linear_systems() {
    solves_nearly_all(&Shape::LINEAR, 2000 * scale());
    solves_nearly_all(&Shape::PASSING, 500 * scale());
}

#[test]
fn random_non_linear_systems() {
    solves_nearly_all(&Shape::NONLINEAR, 1500 * scale());
}
