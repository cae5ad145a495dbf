//! Lazy unfolding: worked examples, and random systems against saturation.

mod common;

use std::time::Duration;

use common::{LONG, SMALL_SHAPES, agree_with_saturation, assert_answer, mccarthy, read, solve};
use shofar_engines::unfold::Options;
use shofar_engines::{Evidence, InterpolationMethod, Run, Unfold};
use shofar_horn::HornGraph;
use shofar_logic::TermStore;
use shofar_run::Stop;
use shofar_testing::scale;
use shofar_testing::systems::Shape;

/// For what need not be found.
const SHORT: Duration = Duration::from_millis(100);

/// The answer for a graph. Witnesses are checked.
fn answer_of(
    options: Options,
    store: &TermStore,
    graph: &HornGraph,
    timeout: Duration,
) -> Result<Evidence, Stop> {
    solve(&Unfold { options }, graph, &Run::new(store).with_timeout(timeout))
}

/// With and without evaluation and sharing, one atom at a time and many, with all ways of interpolation.
fn configurations() -> Vec<Options> {
    let mut all = Vec::new();
    for evaluation in [0, 1, 32] {
        for sharing in [false, true] {
            for batch in [1, 12] {
                all.push(Options::default().evaluation(evaluation).sharing(sharing).batch(batch));
            }
        }
    }
    all.push(Options::default().functions(false));
    all.push(Options::default().summaries(false));
    all.extend(InterpolationMethod::ALL.map(|method| Options::default().interpolation(method)));
    all
}

#[track_caller]
fn assert_answers(options: &[Options], text: &str, is_safe: bool) {
    for &options in options {
        assert_answer(&Unfold { options }, text, is_safe);
    }
}

#[test]
fn shapes_without_loops() {
    for (text, is_safe) in SMALL_SHAPES {
        assert_answers(&configurations(), text, is_safe);
    }
}

/// `A` is never expanded: its clauses do not matter. The model says nothing about it.
#[test]
fn the_part_next_to_the_query_is_enough_for_a_model() {
    let text = "(declare-fun A (Int) Bool)(declare-fun B (Int Int) Bool)
        (assert (A 0))
        (assert (forall ((x Int) (y Int)) (=> (and (A x) (A y)) (A (+ x y 1)))))
        (assert (forall ((x Int) (y Int)) (=> (and (A x) (A y) (<= x y)) (B x y))))
        (assert (forall ((x Int) (y Int)) (=> (and (A x) (B y x)) (B y (+ x 1)))))
        (assert (forall ((x Int) (y Int)) (=> (and (B x y) (A y) (> x y) (< x (- y 1))) false)))";
    assert_answers(&configurations(), text, true);
}

fn fibonacci(query: &str) -> String {
    format!(
        "(declare-fun F (Int Int) Bool)
         (assert (F 0 0))(assert (F 1 1))
         (assert (forall ((n Int) (a Int) (b Int))
             (=> (and (> n 1) (F (- n 1) a) (F (- n 2) b)) (F n (+ a b)))))
         (assert (forall ((n Int) (r Int)) (=> (and (F n r) {query}) false)))"
    )
}

/// The arguments decrease, so unfolding ends.
#[test]
fn functions_with_known_arguments_are_decided() {
    assert_answers(&configurations(), &fibonacci("(= n 7) (not (= r 13))"), true);
    assert_answers(&configurations(), &fibonacci("(= n 7) (= r 13)"), false);
    // Without sharing these are 10946 calls.
    assert_answers(&[Options::default()], &fibonacci("(= n 20) (= r 6765)"), false);
}

#[test]
fn functions_with_unknown_arguments_are_searched() {
    assert_answers(&[Options::default()], &fibonacci("(> r 20)"), false);
    // 55 is the tenth one.
    assert_answers(&[Options::default()], &fibonacci("(> n 3) (> r (* 5 n))"), false);
}

/// The same calls occur all over the unfolding. That they have the same result needs a proof by induction, which is no model.
#[test]
fn equal_calls_of_functions_have_equal_results() {
    let text = "(declare-fun F (Int Int) Bool)
        (assert (F 0 0))(assert (F 1 1))
        (assert (forall ((n Int) (a Int) (b Int))
            (=> (and (> n 1) (F (- n 1) a) (F (- n 2) b)) (F n (+ a b)))))
        (assert (forall ((n Int) (r Int) (s Int)) (=> (and (F n r) (F n s) (distinct r s)) false)))";
    let store = TermStore::new();
    let graph = read(&store, text);
    let answer = answer_of(Options::default(), &store, &graph, LONG);
    assert!(matches!(answer, Err(Stop::Exhausted(_))), "{answer:?}");
    let answer = answer_of(Options::default().functions(false), &store, &graph, SHORT);
    assert!(matches!(answer, Err(Stop::Interrupted(_))), "{answer:?}");
}

/// `R` has two results, and `S` has one only for each pair of its premises.
#[test]
fn relations_are_not_functions() {
    for query in ["(R x y) (R x z)", "(S x y) (S x z)"] {
        let text = format!(
            "(declare-fun R (Int Int) Bool)(declare-fun S (Int Int) Bool)
             (assert (forall ((x Int)) (R x x)))
             (assert (forall ((x Int) (y Int)) (=> (and (R x y) (R y y) (< y 3)) (R x (+ y 1)))))
             (assert (forall ((x Int) (y Int) (z Int)) (=> (and (R x y) (R y z)) (S x (+ y z)))))
             (assert (forall ((x Int) (y Int) (z Int)) (=> (and {query} (distinct y z)) false)))"
        );
        assert_answers(&configurations(), &text, false);
    }
}

/// In the first way the result of `F` is the argument of `P`, in the second it is one less. Only the second one leads to 2.
#[test]
fn a_call_has_a_result_of_its_own_in_each_way() {
    let text = "(declare-fun F (Int Int) Bool)(declare-fun P (Int) Bool)
        (assert (F 0 0))
        (assert (forall ((n Int) (r Int)) (=> (and (F (- n 1) r) (> n 0)) (F n (+ r 1)))))
        (assert (forall ((x Int)) (=> (F 1 x) (P x))))
        (assert (forall ((x Int) (y Int)) (=> (and (F 1 y) (F 0 0) (= x (+ y 1))) (P x))))
        (assert (forall ((x Int)) (=> (and (P x) (= x 2)) false)))";
    let mut all = configurations();
    all.push(Options::default().evaluation(0));
    assert_answers(&all, text, false);
}

/// McCarthy's function: the premises of one clause are two facts of one predicate.
#[test]
fn recursion_of_two_calls() {
    assert_answers(&configurations(), &mccarthy("(= y 91)"), false);
    assert_answers(&[Options::default()], &mccarthy("(= x 95) (= y 91)"), false);
    assert_answers(&[Options::default()], &mccarthy("(= x 95) (not (= y 91))"), true);
}

#[test]
fn mutual_recursion() {
    let text = |query: &str| {
        format!(
            "(declare-fun Even (Int) Bool)(declare-fun Odd (Int) Bool)
             (assert (Even 0))
             (assert (forall ((x Int)) (=> (and (Even x) (>= x 0)) (Odd (+ x 1)))))
             (assert (forall ((x Int)) (=> (and (Odd x) (>= x 0)) (Even (+ x 1)))))
             (assert (forall ((x Int) (y Int)) (=> (and (Even x) (Odd y) {query}) false)))"
        )
    };
    assert_answers(&configurations(), &text("(= x (+ y 7))"), false);
    assert_answers(&configurations(), &text("(= x 11)"), true);
}

/// Each of `P(1)` and `Q(1)` would follow from the other.
#[test]
fn atoms_do_not_support_each_other() {
    let text = "(declare-fun P (Int) Bool)(declare-fun Q (Int) Bool)
        (assert (P 0))
        (assert (forall ((x Int)) (=> (P x) (Q x))))
        (assert (forall ((x Int)) (=> (Q x) (P x))))
        (assert (forall ((x Int)) (=> (and (P x) (Q x) (= x 1)) false)))";
    for options in configurations() {
        let store = TermStore::new();
        let answer = answer_of(options, &store, &read(&store, text), SHORT);
        assert!(!matches!(answer, Ok(Evidence::Unsat(_))), "{options:?}");
    }
}

/// The derivation is a binary tree of depth 30 whose vertices in one depth are equal.
#[test]
fn equal_atoms_are_derived_once() {
    let mut text = "(declare-fun P0 (Int) Bool)(assert (forall ((x Int)) (=> (>= x 30) (P0 x))))".to_owned();
    for level in 1..=30 {
        let below = level - 1;
        text += &format!(
            "(declare-fun P{level} (Int) Bool)
             (assert (forall ((x Int)) (=> (and (P{below} x) (P{below} x)) (P{level} (- x 1)))))"
        );
    }
    text += "(assert (forall ((x Int)) (=> (and (P30 x) (< x 5)) false)))";
    let store = TermStore::new();
    match answer_of(Options::default().evaluation(0), &store, &read(&store, &text), LONG) {
        Ok(Evidence::Unsat(derivation)) => assert_eq!(derivation.steps.len(), 32),
        answer => panic!("{answer:?}"),
    }
}

/// Lists with `append` and `reverse`, as relations.
fn lists(query: &str) -> String {
    format!(
        "(declare-datatypes ((L 0)) (((nil) (cons (hd Int) (tl L)))))
         (declare-fun App (L L L) Bool)(declare-fun Rev (L L) Bool)
         (assert (forall ((y L)) (App nil y y)))
         (assert (forall ((h Int) (x L) (y L) (r L)) (=> (App x y r) (App (cons h x) y (cons h r)))))
         (assert (Rev nil nil))
         (assert (forall ((h Int) (x L) (y L) (r L))
             (=> (and (Rev x y) (App y (cons h nil) r)) (Rev (cons h x) r))))
         (assert (forall ((x L) (y L) (a L) (b L)) (=> (and {query}) false)))"
    )
}

#[test]
fn lists_that_refute_laws_are_found() {
    for query in [
        "(App x y a) (App y x b) (distinct a b)",
        "(Rev x y) (distinct x y)",
        "(App x y a) (Rev a b) (= b (cons 1 (cons 2 (cons 3 x)))) (distinct x nil)",
    ] {
        assert_answers(&configurations(), &lists(query), false);
    }
}

/// The lengths are known, so unfolding ends, also if the elements are not known. Tree interpolants over datatypes make a model
/// of its proof.
#[test]
fn functions_of_known_lists_are_decided() {
    let known = "(= x (cons 1 (cons 2 nil))) (App x (cons 3 nil) a) (Rev a b)";
    let result = "(cons 3 (cons 2 (cons 1 nil)))";
    assert_answers(&configurations(), &lists(&format!("{known} (= b {result})")), false);
    assert_answers(&configurations(), &lists(&format!("{known} (distinct b {result})")), true);
    let unknown = "(= x (cons (hd x) (cons (hd y) nil))) ((_ is cons) y)";
    for query in [
        "(App x y a) (distinct a (cons (hd x) (cons (hd y) y)))",
        "(Rev x a) (distinct a (cons (hd y) (cons (hd x) nil)))",
        "(App x y a) (App x a b) (distinct (tl (tl b)) a)",
    ] {
        assert_answers(&configurations(), &lists(&format!("{unknown} {query}")), true);
    }
}

/// Both need induction. The first one is an induction over derivations.
#[test]
fn laws_of_lists_have_no_refutation() {
    let answer = |query: &str, timeout: Duration| {
        let store = TermStore::new();
        answer_of(Options::default(), &store, &read(&store, &lists(query)), timeout)
    };
    let functional = answer("(App x y a) (App x y b) (distinct a b)", LONG);
    assert!(matches!(functional, Err(Stop::Exhausted(_))), "{functional:?}");
    let involution = answer("(Rev x a) (Rev a b) (distinct x b)", SHORT);
    assert!(matches!(involution, Err(Stop::Interrupted(_))), "{involution:?}");
}

/// Derivations are found in all unsafe systems. Proofs are found where unfolding ends.
fn refutes_all(shape: &Shape, systems: u64) {
    let engines: Vec<_> = configurations().into_iter().map(|options| Unfold { options }).collect();
    let time = |is_safe| if is_safe { SHORT } else { LONG };
    let tally = agree_with_saturation(&engines, time, shape, systems);
    assert_eq!(tally.refuted, tally.unsafes);
    assert!(tally.proved * 2 >= tally.safe, "{} proofs of {}", tally.proved, tally.safe);
}

#[test]
fn random_linear_systems() {
    refutes_all(&Shape::LINEAR, 500 * scale());
    refutes_all(&Shape::PASSING, 200 * scale());
}

#[test]
fn random_non_linear_systems() {
    refutes_all(&Shape::NONLINEAR, 500 * scale());
}

/// Lengths are not negative, and the numbers of a list with ascending numbers are not below the first one. Unfolding alone goes on
/// for ever: shorter lists would have lengths below the given one.
#[test]
fn unfolding_ends_where_summaries_exclude_what_is_open() {
    let lists = "(declare-datatypes ((L 0)) (((nil) (cons (head Int) (tail L)))))
        (declare-fun Len (L Int) Bool)
        (assert (Len nil 0))
        (assert (forall ((h Int) (t L) (n Int)) (=> (Len t n) (Len (cons h t) (+ n 1)))))
        (declare-fun Up (L Int Int) Bool)
        (assert (forall ((x Int)) (Up (cons x nil) x x)))
        (assert (forall ((x Int) (y Int) (z Int) (t L)) (=> (and (Up t y z) (<= x y)) (Up (cons x t) x z))))
        (assert (forall ((x L) (y L) (k Int) (m Int) (n Int)) (=> (and ";
    for query in ["(Len x n) (< n 0)", "(Len x n) (Len y m) (= (+ m n) (- 1))", "(Up x m n) (< n m)"] {
        let text = format!("{lists}{query}) false)))");
        assert_answers(&[Options::default()], &text, true);
        let store = TermStore::new();
        let without = answer_of(Options::default().summaries(false), &store, &read(&store, &text), SHORT);
        assert!(without.is_err(), "{query}");
    }
    // What is learnt late does not exclude derivations.
    for query in ["(Len x n) (> n 12)", "(Up x m n) (Len x k) (> k 11) (< m n)"] {
        assert_answers(&[Options::default()], &format!("{lists}{query}) false)))"), false);
    }
}
