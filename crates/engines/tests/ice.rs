//! ICE learning: worked examples, functional programs whose invariants are disjunctions, and random systems against saturation.

mod common;

use std::time::Duration;

use common::loops::agree_with_enumeration;
use common::{LONG, SMALL_SHAPES, agree_with_saturation, assert_answer, counter, mccarthy, read, solve};
use shofar_engines::ice::{Ice, Options};
use shofar_engines::{Engine, Run};
use shofar_logic::TermStore;
use shofar_run::{Reason, Stop};
use shofar_testing::scale::scale;
use shofar_testing::systems::Shape;

/// With and without preferences for instances, and with more sums from the start.
fn configurations() -> Vec<Ice> {
    let default = Options::default();
    let all =
        [default, default.facts(false), default.small(false), default.facts(false).small(false).cases(1)];
    all.map(|options| Ice { options }).to_vec()
}

#[test]
fn shapes_without_loops() {
    for engine in configurations() {
        for (text, is_safe) in SMALL_SHAPES {
            assert_answer(&engine, text, is_safe);
        }
    }
}

#[test]
fn a_bounded_counter() {
    assert_answer(&Ice::default(), &counter("(> x 2)"), true);
    assert_answer(&Ice::default(), &counter("(>= x 2)"), false);
}

/// The model needs two cases: `y = 91`, and `y = x - 10` above 101.
#[test]
fn mccarthys_function() {
    assert_answer(&Ice::default(), &mccarthy("(not (= y 91))"), true);
    assert_answer(&Ice::default(), &mccarthy("(= y 91)"), false);
}

/// Fibonacci numbers, with two calls in one body.
fn fibonacci(query: &str) -> String {
    format!(
        "(declare-fun F (Int Int) Bool)
         (assert (forall ((n Int)) (=> (and (<= 0 n) (<= n 1)) (F n n))))
         (assert (forall ((n Int) (a Int) (b Int)) (=> (and (> n 1) (F (- n 1) a) (F (- n 2) b)) (F n (+ a b)))))
         (assert (forall ((n Int) (r Int)) (=> (and (F n r) {query}) false)))"
    )
}

#[test]
fn fibonacci_numbers() {
    assert_answer(&Ice::default(), &fibonacci("(< r (- n 1))"), true);
    assert_answer(&Ice::default(), &fibonacci("(= n 6) (= r 8)"), false);
}

/// Ackermann's function is greater than its second argument; one call is an argument of another.
#[test]
fn ackermanns_function() {
    let text = "(declare-fun A (Int Int Int) Bool)
        (assert (forall ((n Int)) (=> (>= n 0) (A 0 n (+ n 1)))))
        (assert (forall ((m Int) (r Int)) (=> (and (> m 0) (A (- m 1) 1 r)) (A m 0 r))))
        (assert (forall ((m Int) (n Int) (s Int) (r Int))
            (=> (and (> m 0) (> n 0) (A m (- n 1) s) (A (- m 1) s r)) (A m n r))))
        (assert (forall ((m Int) (n Int) (r Int)) (=> (and (A m n r) (<= r n)) false)))";
    assert_answer(&Ice::default(), text, true);
}

/// Both signs of the argument recurse, to zero. The result has the sign of the argument.
#[test]
fn the_sign_of_the_result_is_that_of_the_argument() {
    let text = |query: &str| {
        format!(
            "(declare-fun D (Int Int) Bool)
             (assert (D 0 0))
             (assert (forall ((x Int) (y Int)) (=> (and (> x 0) (D (- x 1) y)) (D x (+ y x)))))
             (assert (forall ((x Int) (y Int)) (=> (and (< x 0) (D (+ x 1) y)) (D x (+ y x)))))
             (assert (forall ((x Int) (y Int)) (=> (and (D x y) {query}) false)))"
        )
    };
    assert_answer(&Ice::default(), &text("(> x 0) (<= y 0)"), true);
    assert_answer(&Ice::default(), &text("(< x 0) (> y x)"), true);
    assert_answer(&Ice::default(), &text("(= x (- 4)) (= y (- 10))"), false);
}

/// Two functions that call each other; their models are about remainders.
#[test]
fn even_and_odd_are_different() {
    let text = "(declare-fun E (Int) Bool) (declare-fun O (Int) Bool)
        (assert (E 0))
        (assert (forall ((x Int)) (=> (E x) (O (+ x 1)))))
        (assert (forall ((x Int)) (=> (O x) (E (+ x 1)))))
        (assert (forall ((x Int) (y Int)) (=> (and (E x) (O y) (= x y)) false)))";
    assert_answer(&Ice::default(), text, true);
}

/// Each flag has its own bound; a merge of two facts takes the greater one.
#[test]
fn flags_choose_between_bounds() {
    let text = |query: &str| {
        format!(
            "(declare-fun P (Bool Real) Bool)
             (assert (P true 0.5))
             (assert (P false (- 3.0)))
             (assert (forall ((b Bool) (x Real) (y Real)) (=> (and (P b x) (P b y) (< x y)) (P b (/ (+ x y) 2.0)))))
             (assert (forall ((b Bool) (x Real)) (=> (and (P b x) (not b)) (P (not b) (- x)))))
             (assert (forall ((b Bool) (x Real)) (=> (and (P b x) {query}) false)))"
        )
    };
    assert_answer(&Ice::default(), &text("b (< x 0.5)"), true);
    assert_answer(&Ice::default(), &text("(not b) (> x (- 3.0))"), true);
    assert_answer(&Ice::default(), &text("(> x 1.5)"), false);
}

#[test]
fn other_sorts_are_refused() {
    let store = TermStore::new();
    let text = "(declare-fun P ((_ BitVec 4)) Bool)
        (assert (forall ((x (_ BitVec 4))) (=> (P x) false)))";
    assert!(matches!(Ice::default().accepts(&store, &read(&store, text)), Err(Stop::Unsupported(_))));
}

/// Squares have no model among the qualifiers: samples do not end, but time does.
#[test]
fn a_run_without_end_stops_in_time() {
    let text = "(declare-fun P (Int Int) Bool)
        (assert (P 0 0))
        (assert (forall ((x Int) (y Int)) (=> (P x y) (P (+ x 1) (+ y x x 1)))))
        (assert (forall ((x Int) (y Int) (z Int)) (=> (and (P x y) (P x z) (< y z)) false)))";
    let store = TermStore::new();
    let run = Run::new(&store).with_timeout(Duration::from_millis(300));
    let found = solve(&Ice::default(), &read(&store, text), &run);
    assert_eq!(found, Err(Stop::Interrupted(Reason::Deadline)));
}

fn solves_nearly_all(shape: &Shape, systems: u64) {
    let solved = agree_with_saturation(&configurations(), |_| LONG, shape, systems).percent_solved();
    assert!(solved >= 99, "only {solved} of 100");
}

#[test]
fn random_linear_systems() {
    solves_nearly_all(&Shape::LINEAR, 400 * scale());
    solves_nearly_all(&Shape::PASSING, 150 * scale());
}

#[test]
fn random_non_linear_systems() {
    solves_nearly_all(&Shape::NONLINEAR, 400 * scale());
}

#[test]
fn random_loops() {
    let tally = agree_with_enumeration(&configurations(), Duration::from_millis(50), 80 * scale());
    assert!(tally.proved > 5 && tally.refuted > 30, "{} proved, {} refuted", tally.proved, tally.refuted);
}
