//! Loops that count: engines prove them by equalities, bounds and congruences, however often the loops run.

mod common;

use std::time::{Duration, Instant};

use common::{read, solve};
use shofar_engines::{Bmc, Engine, Evidence, Invariants, Run, Spacer};
use shofar_logic::TermStore;
use shofar_run::Stop;

/// The length of an engine's model as text, and the time that it took. The model is checked.
#[track_caller]
fn model_size(engine: &dyn Engine, text: &str) -> (usize, Duration) {
    let store = TermStore::new();
    let graph = read(&store, text);
    let run = Run::new(&store).with_timeout(Duration::from_secs(60));
    let start = Instant::now();
    let answer = solve(engine, &graph, &run);
    let time = start.elapsed();
    let Ok(Evidence::Sat(model)) = answer else { panic!("{}: {answer:?}\n{text}", engine.name()) };
    let formulas = graph.nodes().map(|(node, _)| model.formula(node).expect("it is a formula"));
    (formulas.map(|formula| store.display(formula).to_string().len()).sum(), time)
}

/// One predicate with arguments `x0, x1, ..` of one sort: a fact, steps with guards, and a claim.
fn loop_over(sort: &str, count: usize, init: &str, steps: &[(&str, &str)], claim: &str) -> String {
    let names: Vec<String> = (0..count).map(|at| format!("x{at}")).collect();
    let arguments = names.join(" ");
    let sorted: String = names.iter().map(|name| format!("({name} {sort})")).collect();
    let mut text = format!("(declare-fun inv ({}) Bool)", format!("{sort} ").repeat(count));
    text += &format!("(assert (forall ({sorted}) (=> {init} (inv {arguments}))))");
    for (guard, next) in steps {
        text += &format!("(assert (forall ({sorted}) (=> (and (inv {arguments}) {guard}) (inv {next}))))");
    }
    text + &format!("(assert (forall ({sorted}) (=> (inv {arguments}) {claim})))")
}

/// Loops that every user of a verifier writes, each of which runs as long as a number says.
fn counting_loops(n: u64) -> Vec<(&'static str, String)> {
    let zero = "(and (= x0 0) (= x1 0))";
    let up_to = format!("(<= x0 {n})");
    let below = format!("(< x0 {n})");
    let at_most = |argument: &str, number: u64| format!("(<= {argument} {number})");
    let int =
        |count, init: &str, steps: &[(&str, &str)], claim: &str| loop_over("Int", count, init, steps, claim);
    vec![
        ("two rates", int(2, zero, &[(&up_to, "(+ x0 1) (+ x1 2)")], &at_most("x1", 3 * n))),
        (
            "strides",
            int(2, "(and (= x0 0) (= x1 5))", &[(&below, "(+ x0 3) (+ x1 7)")], &at_most("x1", 3 * n)),
        ),
        (
            "three rates",
            int(
                3,
                "(and (= x0 0) (= x1 0) (= x2 0))",
                &[(&below, "(+ x0 1) (+ x1 2) (+ x2 3)")],
                &at_most("(+ x1 x2)", 5 * n),
            ),
        ),
        (
            "downwards",
            int(
                2,
                &format!("(and (= x0 {n}) (= x1 0))"),
                &[("(> x0 0)", "(- x0 1) (+ x1 2)")],
                &at_most("x1", 2 * n),
            ),
        ),
        (
            "both downwards",
            int(
                2,
                &format!("(and (= x0 {n}) (= x1 {n}))"),
                &[("(> x0 0)", "(- x0 1) (- x1 2)")],
                &format!("(>= x1 (- {n}))"),
            ),
        ),
        (
            "two ways",
            int(
                2,
                zero,
                &[(&below, "(+ x0 1) (+ x1 2)"), (&below, "(+ x0 1) (+ x1 3)")],
                &at_most("x1", 3 * n),
            ),
        ),
        (
            "several starts",
            int(
                2,
                "(and (<= 0 x0) (<= x0 4) (= x1 (* 2 x0)))",
                &[(&up_to, "(+ x0 1) (+ x1 2)")],
                &at_most("x1", 3 * n),
            ),
        ),
        (
            "the result",
            int(2, zero, &[(&below, "(+ x0 1) (+ x1 2)")], &format!("(=> (>= x0 {n}) (= x1 {}))", 2 * n)),
        ),
        (
            "a bound that is an argument",
            int(
                3,
                &format!("(and (= x0 0) (= x1 0) (<= 0 x2) (<= x2 {n}))"),
                &[("(< x0 x2)", "(+ x0 1) (+ x1 2) x2")],
                "(=> (>= x0 x2) (= x1 (* 2 x2)))",
            ),
        ),
        (
            "again and again",
            int(
                2,
                zero,
                &[(&below, "(+ x0 1) (+ x1 1)"), (&format!("(>= x0 {n})"), "0 0")],
                &at_most("x1", n),
            ),
        ),
        (
            "reals",
            loop_over(
                "Real",
                2,
                "(and (= x0 0.0) (= x1 0.0))",
                &[(&format!("(<= x0 {n}.0)"), "(+ x0 0.5) (+ x1 1.5)")],
                &format!("(<= x1 {}.0)", 4 * n),
            ),
        ),
        (
            "one loop after another",
            format!(
                "(declare-fun a (Int Int) Bool)(declare-fun b (Int Int) Bool)
                 (assert (a 0 0))
                 (assert (forall ((i Int) (j Int)) (=> (and (a i j) (< i {n})) (a (+ i 1) (+ j 2)))))
                 (assert (forall ((i Int) (j Int)) (=> (and (a i j) (>= i {n})) (b i j))))
                 (assert (forall ((i Int) (j Int)) (=> (and (b i j) (> i 0)) (b (- i 1) (- j 2)))))
                 (assert (forall ((i Int) (j Int)) (=> (and (b i j) (<= i 0)) (= j 0))))"
            ),
        ),
        (
            "a loop in a loop",
            format!(
                "(declare-fun outer (Int Int) Bool)(declare-fun inner (Int Int Int) Bool)
                 (assert (outer 0 0))
                 (assert (forall ((i Int) (k Int)) (=> (and (outer i k) (< i {n})) (inner i 0 k))))
                 (assert (forall ((i Int) (j Int) (k Int))
                     (=> (and (inner i j k) (< j 10)) (inner i (+ j 1) (+ k 1)))))
                 (assert (forall ((i Int) (j Int) (k Int))
                     (=> (and (inner i j k) (>= j 10)) (outer (+ i 1) k))))
                 (assert (forall ((i Int) (k Int)) (=> (outer i k) (<= k {}))))",
                10 * n
            ),
        ),
    ]
}

#[test]
fn spacer_proves_loops_that_count_however_far() {
    for n in [1000, 1_000_000] {
        for (name, text) in counting_loops(n) {
            let (size, time) = model_size(&Spacer::default(), &text);
            assert!(time < Duration::from_secs(2), "{name} to {n}: {time:?}");
            assert!(size < 1000, "{name} to {n}: {size} bytes");
        }
    }
}

/// What `invariants` proves alone, by congruences. The queries exclude one value between others.
#[test]
fn strides_leave_gaps() {
    let step = |guard: &'static str, next: &'static str| (guard, next);
    let one = |init: &str, steps: &[(&str, &str)], claim: &str| loop_over("Int", 1, init, steps, claim);
    let two = |init: &str, steps: &[(&str, &str)], claim: &str| loop_over("Int", 2, init, steps, claim);
    let both_ways = [step("true", "(+ x0 4)"), step("true", "(- x0 6)")];
    let apart = [step("true", "(+ x0 1) (+ x1 6)"), step("true", "(+ x0 3) x1"), step("true", "x0 (- x1 9)")];
    let proved = [
        ("odd", one("(= x0 1)", &both_ways, "(distinct x0 10)")),
        ("odd", one("(= x0 1)", &both_ways, "(distinct (mod x0 4) 2)")),
        ("of a difference", two("(and (= x0 0) (= x1 2))", &apart, "(distinct x1 (+ 3000 (* 6 x0)))")),
        ("of random facts", one("(= 0 (mod x0 10))", &[step("true", "(+ x0 15)")], "(distinct x0 12)")),
        (
            "behind a test of a remainder",
            one("(= x0 0)", &[step("(= 0 (mod x0 3))", "(+ x0 6)")], "(distinct x0 33)"),
        ),
    ];
    for (name, text) in proved {
        let (size, time) = model_size(&Invariants, &text);
        assert!(time < Duration::from_secs(2), "{name}: {time:?}");
        assert!(size < 200, "{name}: {size} bytes");
    }
    let store = TermStore::new();
    let reached = one("(= x0 1)", &both_ways, "(distinct x0 11)");
    let answer = solve(&Invariants, &read(&store, &reached), &Run::new(&store));
    assert!(matches!(answer, Err(Stop::Exhausted(_))), "{answer:?}");
}

/// What `invariants` proves alone, by atoms of the clauses that are neither bounds nor equalities.
#[test]
fn atoms_of_the_clauses_are_inductive() {
    let signs = loop_over(
        "Int",
        1,
        "(or (= x0 1) (= x0 (- 1)))",
        &[("true", "(* 2 x0)"), ("true", "(- x0)")],
        "(distinct x0 0)",
    );
    let flag = "(declare-fun inv (Bool Int) Bool)
        (assert (forall ((y Int)) (inv false y)))
        (assert (forall ((b Bool) (y Int)) (=> (and (inv b y) (> y 10)) (inv true y))))
        (assert (forall ((b Bool) (y Int)) (=> (inv b y) (inv false (- y 1)))))
        (assert (forall ((b Bool) (y Int)) (=> (and (inv b y) b (<= y 10)) false)))";
    for text in [&signs, flag] {
        let (size, time) = model_size(&Invariants, text);
        assert!(time < Duration::from_secs(2), "{time:?}: {text}");
        assert!(size < 100, "{size} bytes: {text}");
    }
}

#[test]
fn a_counterexample_behind_the_bounds_is_not_missed() {
    let zero = "(and (= x0 0) (= x1 0))";
    let text = loop_over("Int", 2, zero, &[("(<= x0 20)", "(+ x0 1) (+ x1 2)")], "(<= x1 41)");
    let store = TermStore::new();
    let answer = solve(&Spacer::default(), &read(&store, &text), &Run::new(&store));
    assert!(matches!(answer, Ok(Evidence::Unsat(_))), "{answer:?}");
}

/// The claim holds at the end of the loop only, and the second phase is no affine function of the first.
fn two_phases(n: u64) -> String {
    loop_over(
        "Int",
        2,
        "(and (= x0 0) (= x1 0))",
        &[
            (&format!("(< x0 {n})"), "(+ x0 1) (+ x1 2)"),
            (&format!("(and (>= x0 {n}) (< x0 {}))", 2 * n), "(+ x0 1) (+ x1 5)"),
        ],
        &format!("(=> (= x0 {}) (= x1 {}))", 2 * n, 7 * n),
    )
}

#[test]
fn models_of_complete_unrollings_are_generalised() {
    for (name, text) in counting_loops(20).into_iter().filter(|(name, _)| *name != "again and again") {
        let (size, _) = model_size(&Bmc, &text);
        assert!(size < 500, "{name}: {size} bytes");
    }
    let (size, _) = model_size(&Bmc, &two_phases(30));
    assert!(size < 500, "{size} bytes");
}
