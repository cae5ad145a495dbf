//! Clauses as procedures: the worked examples of the literature and its known mistakes, recursion of several calls, and random
//! systems against saturation.

mod common;

use std::time::Duration;

use common::{LONG, agree_with_saturation, assert_answer, counter, mccarthy, read, solve};
use shofar_engines::cegar::{Calls, Cegar, Direction, DomainKind, Options};
use shofar_engines::{Engine, Evidence, InterpolationMethod, Run};
use shofar_horn::HornGraph;
use shofar_horn::check::check_graph_model;
use shofar_horn::witness::GraphModel;
use shofar_logic::{Term, TermStore};
use shofar_run::Stop;
use shofar_testing::scale;
use shofar_testing::systems::Shape;

fn summaries() -> Options {
    Options::default().direction(Direction::Procedures)
}

fn stack() -> Options {
    summaries().calls(Calls::Stack)
}

/// All ways of interpolation, with and without large blocks.
fn configurations() -> Vec<Options> {
    let all = InterpolationMethod::ALL.into_iter().map(|it| summaries().interpolation(it));
    all.chain([summaries().large_blocks(true)]).collect()
}

/// The answer for a graph, if the engine accepts it.
#[track_caller]
fn answer_of(
    options: Options,
    store: &TermStore,
    graph: &HornGraph,
    time: Duration,
) -> Result<Evidence, Stop> {
    let engine = Cegar { options };
    engine.accepts(store, graph)?;
    solve(&engine, graph, &Run::new(store).with_timeout(time))
}

#[track_caller]
fn assert_by_all(text: &str, is_safe: bool) {
    for options in configurations() {
        assert_answer(&Cegar { options }, text, is_safe);
    }
    // The stack finds all derivations.
    if !is_safe {
        assert_answer(&Cegar { options: stack() }, text, is_safe);
    }
}

const RETURNS_AND_IS_SAFE: &str = "(declare-fun A (Int) Bool)(declare-fun B (Int) Bool)
     (assert (forall ((x Int)) (=> (= x 0) (A x))))(assert (forall ((y Int)) (=> (= y 1) (B y))))
     (assert (forall ((x Int) (y Int)) (=> (and (A x) (B y) (= x y)) false)))";

const SUMS: &str = "(declare-fun A (Int) Bool)(assert (A 0))
     (assert (forall ((x Int) (y Int) (z Int)) (=> (and (A x) (A y) (= z (+ x y 1))) (A z))))
     (assert (forall ((x Int)) (=> (and (A x) (= x 3)) false)))";

#[test]
fn procedures_that_return_in_a_safe_program() {
    assert_by_all(RETURNS_AND_IS_SAFE, true);
}

/// Equation 4.7 of the thesis takes the complement of all demanded values. `main` demands all values of both.
#[test]
fn the_complement_of_demanded_values_is_no_model() {
    let store = TermStore::new();
    let graph = read(&store, RETURNS_AND_IS_SAFE);
    let complement = GraphModel::of_formulas([Term::FALSE, Term::FALSE]);
    assert!(check_graph_model(&Run::new(&store).context(), &graph, &complement).is_err());
}

#[test]
fn facts_that_are_used_twice() {
    assert_by_all(SUMS, false);
}

#[test]
fn only_procedures_execute_non_linear_clauses() {
    for text in [RETURNS_AND_IS_SAFE, SUMS] {
        for direction in [Direction::Forward, Direction::Backward] {
            let store = TermStore::new();
            let (graph, options) = (read(&store, text), Options::default().direction(direction));
            let answer = answer_of(options, &store, &graph, LONG);
            assert!(matches!(answer, Err(Stop::Unsupported(_))), "{answer:?}");
            let answer = Cegar { options }.solve(&graph, &Run::new(&store));
            assert!(matches!(answer, Err(Stop::Unsupported(_))), "{answer:?}");
        }
    }
}

/// Summaries are sets of predicates, from tree interpolants. A stack has all choices.
#[test]
fn summaries_refuse_the_options_of_paths() {
    let store = TermStore::new();
    let graph = read(&store, SUMS);
    let refused = summaries().domain(DomainKind::Explicit);
    assert!(matches!(Cegar { options: refused }.accepts(&store, &graph), Err(Stop::Unsupported(_))));
    for options in [summaries().large_blocks(true), refused.calls(Calls::Stack)] {
        assert_eq!(Cegar { options }.accepts(&store, &graph), Ok(()));
    }
}

#[test]
fn shapes_of_clauses() {
    let count = "(declare-fun P (Int) Bool)(assert (P 0))
        (assert (forall ((x Int)) (=> (and (P x) (< x 5)) (P (+ x 1)))))";
    let choices = "(declare-fun P (Int Int) Bool)(assert (P 0 0))
        (assert (forall ((x Int) (c Int) (z Int))
            (=> (and (P x c) (or (= z 1) (= z 2)) (< c 2)) (P (+ x z) (+ c 1)))))";
    let chain = "(declare-fun p () Bool)(declare-fun q () Bool)(assert (=> p q))(assert (=> q false))";
    for (text, is_safe) in [
        // A variable twice in the body.
        (
            "(declare-fun P (Int Int) Bool)(declare-fun Q (Int) Bool)
             (assert (forall ((x Int) (y Int)) (=> (and (= x 0) (= y 1)) (P x y))))
             (assert (forall ((z Int)) (=> (P z z) (Q z))))(assert (forall ((z Int)) (=> (Q z) false)))",
            true,
        ),
        // Terms as arguments.
        (&format!("{count}(assert (=> (P 7) false))"), true),
        (&format!("{count}(assert (=> (P 5) false))"), false),
        // Each activation has its own locals.
        (&format!("{choices}(assert (=> (P 3 2) false))"), false),
        (&format!("{choices}(assert (=> (P 5 2) false))"), true),
        // No arguments.
        (&format!("{chain}(assert p)"), false),
        (chain, true),
        // Queries without calls.
        ("(assert (=> (> 1 0) false))", false),
        ("(assert (=> (< 1 0) false))", true),
        // No clause has the head, or there is no query.
        ("(declare-fun P (Int) Bool)(assert (forall ((x Int)) (=> (P x) false)))", true),
        ("(declare-fun P (Int) Bool)(assert (P 1))", true),
        // Only the second query is violated.
        (
            "(declare-fun P (Int) Bool)(assert (P 1))(assert (forall ((x Int)) (=> (and (P x) (< x 0)) false)))
             (assert (forall ((x Int)) (=> (and (P x) (> x 0)) false)))",
            false,
        ),
    ] {
        assert_by_all(text, is_safe);
    }
}

/// The counter of the thesis's Example 5.
#[test]
fn the_counter() {
    assert_by_all(&counter("(> x 2)"), true);
    assert_by_all(&counter("(>= x 2)"), false);
}

/// The motivating example of the thesis, with a constant modulus: `y mod x < x` also holds of `y mod 3` if `x > 2`. The demanded
/// values grow for ever, so that no stack of calls is enough.
fn motivating(fact: &str) -> String {
    format!(
        "(declare-fun A (Int) Bool)(declare-fun B (Int Int) Bool)(declare-fun C (Int Int) Bool)
         (assert (forall ((n Int)) (=> (and (> n 0) ({fact} n 100)) (A n))))
         (assert (forall ((n Int) (x Int)) (=> (and (A n) (> x 2)) (B n x))))
         (assert (forall ((n Int) (x Int) (y Int)) (=> (and (B n x) (= y (- n x)) (> y 0)) (C y x))))
         (assert (forall ((n Int) (x Int) (y Int)) (=> (and (C y x) (= n (+ y (mod y 3)))) (A n))))
         (assert (forall ((n Int)) (=> (and (A n) (>= n 100)) false)))"
    )
}

#[test]
fn the_motivating_example() {
    assert_by_all(&motivating("<"), true);
    assert_by_all(&motivating("<="), false);
}

/// `P(10)` demands 9, 8 and so on.
#[test]
fn demand_without_end() {
    let text = |fact: &str, guard: &str| {
        format!(
            "(declare-fun P (Int) Bool)(assert (P {fact}))
             (assert (forall ((x Int) (y Int)) (=> (and (P x) (= y (+ x 1)) {guard}) (P y))))
             (assert (forall ((x Int)) (=> (and (P x) (= x 10)) false)))"
        )
    };
    assert_by_all(&text("0", "(< x 3)"), true);
    assert_by_all(&text("0", "true"), false);
    assert_by_all(&text("20", "true"), true);
    // The stack gets higher for ever, unless the recursion gets stuck.
    assert_answer(&Cegar { options: stack() }, &text("0", "(< x 3)"), true);
    let store = TermStore::new();
    let graph = read(&store, &text("20", "true"));
    let answer = answer_of(stack(), &store, &graph, Duration::from_secs(1));
    assert!(matches!(answer, Err(Stop::Interrupted(_))), "{answer:?}");
}

/// A stack is a part of the location, so all domains work with it.
#[test]
fn stacks_in_all_domains() {
    // Each call has one value, which is what explicit values need.
    let count = "(declare-fun P (Int) Bool)(assert (P 0))(assert (forall ((x Int)) (=> (P x) (P (+ x 1)))))
        (assert (=> (P 5) false))";
    assert_answer(&Cegar { options: stack().domain(DomainKind::Explicit) }, count, false);
    for domain in [DomainKind::Cartesian, DomainKind::Boolean, DomainKind::Split] {
        assert_answer(&Cegar { options: stack().domain(domain) }, count, false);
        assert_answer(&Cegar { options: stack().domain(domain) }, SUMS, false);
        assert_answer(&Cegar { options: stack().domain(domain).large_blocks(true) }, SUMS, false);
        assert_answer(&Cegar { options: stack().domain(domain) }, RETURNS_AND_IS_SAFE, true);
    }
}

/// McCarthy's function: a call in the argument of a call.
#[test]
fn nested_recursion() {
    assert_answer(&Cegar { options: summaries() }, &mccarthy("(not (= y 91))"), true);
    assert_answer(&Cegar { options: summaries() }, &mccarthy("(= y 91)"), false);
}

/// Even and odd numbers call each other.
#[test]
fn mutual_recursion() {
    let text = |query: &str| {
        format!(
            "(declare-fun even (Int) Bool)(declare-fun odd (Int) Bool)(assert (even 0))
             (assert (forall ((x Int)) (=> (even x) (odd (+ x 1)))))
             (assert (forall ((x Int)) (=> (odd x) (even (+ x 1)))))
             (assert (forall ((x Int) (y Int)) (=> (and (even x) (odd y) {query}) false)))"
        )
    };
    assert_by_all(&text("(< (+ x y) 1)"), true);
    assert_by_all(&text("(= (+ x y) 5)"), false);
}

fn engines(options: impl IntoIterator<Item = Options>) -> Vec<Cegar> {
    options.into_iter().map(|options| Cegar { options }).collect()
}

fn solve_nearly_all(shape: &Shape, systems: u64) {
    let solved = agree_with_saturation(&engines(configurations()), |_| LONG, shape, systems);
    assert!(solved.percent_solved() >= 99, "only {} of 100", solved.percent_solved());
}

#[test]
fn random_linear_systems() {
    solve_nearly_all(&Shape::LINEAR, 1000 * scale());
    solve_nearly_all(&Shape::PASSING, 300 * scale());
}

#[test]
fn random_non_linear_systems() {
    solve_nearly_all(&Shape::NONLINEAR, 1000 * scale());
}

/// Safe systems may keep the stack busy for ever.
#[test]
fn random_systems_with_a_stack() {
    let short = Duration::from_millis(50);
    let engines = engines([stack(), stack().domain(DomainKind::Split)]);
    for shape in [Shape::LINEAR, Shape::NONLINEAR] {
        let solved = agree_with_saturation(&engines, |_| short, &shape, 200 * scale()).percent_solved();
        assert!(solved >= 25, "only {solved} of 100");
    }
}
