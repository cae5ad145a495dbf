//! Spacer on the worked examples of the literature and on systems that show one rule each.

mod common;

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use common::{IN_STEP, multiples_of_three, read, solve};
use shofar_engines::spacer::{Descent, LemmaForm, Options, Spacer};
use shofar_engines::{Engine, Event, EventSink, Evidence, InterpolationMethod, Run};
use shofar_horn::witness::{Derivation, Interpretation};
use shofar_horn::{HornGraph, parse};
use shofar_logic::{Op, Term, TermStore};
use shofar_run::{Limits, Reason, Stop};
use shofar_testing::explicit::Saturation;
use shofar_testing::systems::{Shape, multiplication, system};
use shofar_testing::{Random, scale};

/// Keeps the statistics, and ends the run at a depth.
#[derive(Default)]
struct Observer {
    counters: Mutex<Vec<(&'static str, u64)>>,
    deepest: Option<u64>,
    is_over: AtomicBool,
}

impl EventSink for Observer {
    fn tell(&self, event: Event) {
        match event {
            Event::Statistics { counters, .. } => {
                *self.counters.lock().expect("no one panics with the lock") = counters;
            }
            Event::Progress { depth, .. } if self.deepest.is_some_and(|deepest| depth >= deepest) => {
                self.is_over.store(true, Ordering::Relaxed);
            }
            _ => {}
        }
    }
}

/// The answer of the engine for a system. Witnesses are checked.
fn observed(options: Options, text: &str, seconds: u64, observer: &Observer) -> Result<Evidence, Stop> {
    observed_in(&TermStore::new(), options, text, seconds, observer)
}

fn observed_in(
    store: &TermStore,
    options: Options,
    text: &str,
    seconds: u64,
    observer: &Observer,
) -> Result<Evidence, Stop> {
    let graph = read(store, text);
    let deadline = Some(Instant::now() + Duration::from_secs(seconds));
    let limits = Limits { deadline, cancel: Some(&observer.is_over), ..Limits::default() };
    let run = Run::new(store).with_limits(limits).with_events(observer);
    // Cheap invariants would prove some examples before they show a rule.
    let mut options = options;
    options.invariants = false;
    solve(&Spacer { options }, &graph, &run)
}

fn answer_with(options: Options, text: &str, seconds: u64) -> Result<Evidence, Stop> {
    observed(options, text, seconds, &Observer::default())
}

fn answer(text: &str) -> Result<Evidence, Stop> {
    answer_with(Options::default(), text, 20)
}

#[track_caller]
fn assert_sat(text: &str) {
    let found = answer(text);
    assert!(matches!(found, Ok(Evidence::Sat(_))), "{found:?}");
}

#[track_caller]
fn derivation(text: &str) -> Derivation {
    match answer(text) {
        Ok(Evidence::Unsat(derivation)) => derivation,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_bounded_counter_is_safe() {
    assert_sat(
        "(declare-fun P (Int) Bool)
         (assert (forall ((x Int)) (=> (= x 0) (P x))))
         (assert (forall ((x Int)) (=> (and (P x) (< x 10)) (P (+ x 1)))))
         (assert (forall ((x Int)) (=> (and (P x) (> x 10)) false)))",
    );
}

#[test]
fn a_fact_refutes() {
    let steps = derivation(
        "(declare-fun P (Int) Bool)
         (assert (forall ((x Int)) (=> (and (>= x 5) (<= x 7)) (P x))))
         (assert (forall ((x Int)) (=> (and (P x) (>= x 6)) false)))",
    )
    .steps;
    assert_eq!(steps.len(), 2);
}

fn counter_to(bound: usize) -> String {
    format!(
        "(declare-fun P (Int) Bool)
         (assert (forall ((x Int)) (=> (= x 0) (P x))))
         (assert (forall ((x Int)) (=> (P x) (P (+ x 1)))))
         (assert (forall ((x Int)) (=> (and (P x) (= x {bound})) false)))"
    )
}

#[test]
fn a_long_path_is_found() {
    for bound in [6, 60] {
        assert_eq!(derivation(&counter_to(bound)).steps.len(), bound + 2);
    }
}

#[test]
fn obligations_that_wait_above_find_the_same_path() {
    let options = Options::default().requeue(true);
    let Ok(Evidence::Unsat(found)) = answer_with(options, &counter_to(30), 20) else { panic!("it is there") };
    assert_eq!(found.steps.len(), 32);
}

#[test]
fn facts_are_used_twice_in_one_body() {
    let steps = derivation(
        "(declare-fun D (Int) Bool)
         (assert (forall ((x Int)) (=> (= x 1) (D x))))
         (assert (forall ((x Int) (y Int)) (=> (and (D x) (D y)) (D (+ x y)))))
         (assert (forall ((x Int)) (=> (and (D x) (= x 8)) false)))",
    )
    .steps;
    assert!(steps.len() <= 9, "a tree with shared parts, not the tree: {}", steps.len());
}

#[test]
fn a_sum_of_what_is_large_is_large() {
    assert_sat(
        "(declare-fun D (Int) Bool)
         (assert (forall ((x Int)) (=> (= x 2) (D x))))
         (assert (forall ((x Int) (y Int)) (=> (and (D x) (D y)) (D (+ x y)))))
         (assert (forall ((x Int)) (=> (and (D x) (< x 2)) false)))",
    );
}

#[test]
fn a_sum_of_even_numbers_is_even() {
    assert_sat(
        "(declare-fun D (Int) Bool)
         (assert (forall ((x Int)) (=> (= x 2) (D x))))
         (assert (forall ((x Int) (y Int)) (=> (and (D x) (D y)) (D (+ x y)))))
         (assert (forall ((x Int) (k Int)) (=> (and (D x) (= x (+ (* 2 k) 1))) false)))",
    );
}

fn two_counters(bound: i64) -> String {
    format!(
        "(declare-fun P (Int) Bool) (declare-fun Q (Int) Bool)
         (assert (forall ((x Int)) (=> (= x 0) (P x))))
         (assert (forall ((x Int)) (=> (and (P x) (< x {bound})) (P (+ x 1)))))
         (assert (forall ((y Int)) (=> (= y 5) (Q y))))
         (assert (forall ((y Int)) (=> (and (Q y) (> y 2)) (Q (- y 1)))))
         (assert (forall ((x Int) (y Int)) (=> (and (P x) (Q y) (> x y)) false)))"
    )
}

#[test]
fn both_atoms_of_a_query_are_looked_at() {
    assert_eq!(derivation(&two_counters(3)).steps.len(), 9, "P of 0 to 3, Q of 5 to 2, false");
    assert_sat(&two_counters(2));
}

#[test]
fn divisibility_is_kept_by_projection() {
    assert_sat(&multiples_of_three(6));
    assert_eq!(derivation(&multiples_of_three(7)).steps.len(), 3);
}

/// `y + k x` is bounded for each `k`, and no bound of that form is inductive: the obligation must be split.
#[test]
fn coefficients_that_grow_are_taken_apart() {
    let squares = "(declare-fun I (Int Int) Bool)
         (assert (forall ((x Int) (y Int)) (=> (and (= x 1) (= y 1)) (I x y))))
         (assert (forall ((x Int) (y Int)) (=> (I x y) (I (+ x 1) (+ y x)))))
         (assert (forall ((x Int) (y Int)) (=> (and (I x y) (< y 1)) false)))";
    let cubes = "(declare-fun P (Real Real Real) Bool)
         (assert (P 0.0 0.0 0.0))
         (assert (forall ((x Real) (y Real) (z Real)) (=> (P x y z) (P (+ x y) (+ y z) (+ z 1.0)))))
         (assert (forall ((x Real) (y Real) (z Real)) (=> (and (P x y z) (< x 0.0)) false)))";
    for text in [squares, cubes] {
        assert_sat(text);
    }
}

/// `n >= 501`, `n >= 500`, .. is excluded where `m <= 0`; once `n >= 1` is tried, all of them are.
#[test]
fn a_bound_that_creeps_becomes_a_constant_of_the_clauses() {
    assert_sat(
        "(declare-fun P (Int Int Int) Bool)
         (assert (forall ((x Int)) (=> (> x 0) (P x 0 0))))
         (assert (forall ((x Int) (n Int) (m Int)) (=> (and (P x n m) (> x 0)) (P (- x 2) n (+ m 1)))))
         (assert (forall ((x Int) (n Int) (m Int)) (=> (and (P x n m) (<= x 0)) (P (+ x 1) (+ n 1) m))))
         (assert (forall ((x Int) (n Int) (m Int)) (=> (and (P x n m) (<= m 0) (> n 500)) false)))",
    );
}

/// The counters are equal after 2, 4, 6, .. steps: lemmas about each of these numbers have the residue in common.
#[test]
fn numbers_with_the_same_residue_become_one_lemma() {
    let text = "(declare-fun P (Int Int Int Bool) Bool)
         (assert (forall ((i Int) (b Bool)) (P 0 i i b)))
         (assert (forall ((n Int) (i Int) (j Int))
            (=> (and (P n i j true) (< n 30)) (P (+ n 1) (+ i 1) j false))))
         (assert (forall ((n Int) (i Int) (j Int))
            (=> (and (P n i j false) (< n 30)) (P (+ n 1) i (+ j 1) true))))
         (assert (forall ((n Int) (i Int) (j Int) (b Bool))
            (=> (and (P n i j b) (>= n 30) (not (= i j))) false)))";
    for subsume in [true, false] {
        let store = TermStore::new();
        let options = Options::default().subsume(subsume);
        let found = observed_in(&store, options, text, 20, &Observer::default());
        let Ok(Evidence::Sat(model)) = found else { panic!("{found:?}") };
        let formulas: Result<Vec<Term>, Stop> =
            model.interpretations.iter().map(Interpretation::formula).collect();
        let is_by_residue =
            store.subterms(&formulas.unwrap()).into_iter().any(|term| store.op(term) == Op::Mod);
        assert_eq!(is_by_residue, subsume);
    }
}

/// Each form of lemmas finds that both counters stay unchanged.
#[test]
fn all_forms_of_lemmas_lead_to_a_model() {
    let text = "(declare-fun P (Int Int Int) Bool)
         (assert (forall ((x Int) (y Int) (z Int)) (=> (and (<= x 0) (<= y 0) (<= z 3)) (P x y z))))
         (assert (forall ((x Int) (y Int) (z Int)) (=> (P x y z) (P (+ x y) y (- z 1)))))
         (assert (forall ((x Int) (y Int) (z Int)) (=> (and (P x y z) (> (+ x z) 3)) false)))";
    let forms = InterpolationMethod::ALL.map(LemmaForm::By);
    for interpolation in forms.into_iter().chain([LemmaForm::Core, LemmaForm::Adaptive]) {
        let found = answer_with(Options::default().interpolation(interpolation), text, 20);
        assert!(matches!(found, Ok(Evidence::Sat(_))), "{interpolation:?}: {found:?}");
    }
}

/// Figure 1 of the paper on Impact (McMillan, CAV 2006).
#[test]
fn the_lock_is_safe() {
    assert_sat(
        "(declare-fun H (Int Int Int) Bool) (declare-fun E (Int Int Int) Bool)
         (assert (forall ((o Int) (n Int)) (H 0 o n)))
         (assert (forall ((l Int) (o Int) (n Int)) (=> (H l o n) (E 1 n n))))
         (assert (forall ((l Int) (o Int) (n Int)) (=> (H l o n) (E 0 n (+ n 1)))))
         (assert (forall ((l Int) (o Int) (n Int)) (=> (and (E l o n) (not (= n o))) (H l o n))))
         (assert (forall ((l Int) (o Int) (n Int)) (=> (and (H l o n) (not (= l 0))) false)))
         (assert (forall ((l Int) (o Int) (n Int)) (=> (and (E l o n) (= n o) (not (= l 1))) false)))",
    );
}

#[test]
fn mc_carthys_function_is_91_below_102() {
    assert_sat(
        "(declare-fun M (Int Int) Bool)
         (assert (forall ((x Int)) (=> (> x 100) (M x (- x 10)))))
         (assert (forall ((x Int) (y Int) (r Int)) (=> (and (<= x 100) (M (+ x 11) y) (M y r)) (M x r))))
         (assert (forall ((x Int) (r Int)) (=> (and (M x r) (<= x 101) (not (= r 91))) false)))",
    );
}

#[test]
fn predicates_without_facts_and_without_uses_do_no_harm() {
    assert_sat(
        "(declare-fun A (Int) Bool) (declare-fun B (Int) Bool) (declare-fun C (Int) Bool)
         (declare-fun U (Int) Bool) (declare-fun V (Int) Bool)
         (assert (A (- 2)))
         (assert (forall ((g Int) (k Int)) (=> (and (A g) (A k)) (B (+ g k)))))
         (assert (forall ((d Int)) (=> (A d) (C d))))
         (assert (forall ((d Int)) (=> (B d) (C d))))
         (assert (forall ((d Int)) (=> (U d) (C d))))
         (assert (forall ((d Int)) (=> (C d) (V (+ d 1)))))
         (assert (forall ((d Int)) (=> (and (C d) (= d 1)) false)))",
    );
    assert_sat("(declare-fun P (Int) Bool) (assert (P 1))");
    assert_eq!(derivation("(assert (=> (< 1 2) false))").steps.len(), 1);
}

#[test]
fn booleans_and_reals_are_arguments() {
    assert_sat(
        "(declare-fun P (Bool Real) Bool)
         (assert (P true 1.0))
         (assert (forall ((b Bool) (x Real)) (=> (P b x) (P (not b) (/ x 2.0)))))
         (assert (forall ((b Bool) (x Real)) (=> (and (P b x) (<= x 0.0)) false)))",
    );
}

/// Example 5.1 of Blicha's thesis has a model, but none in linear arithmetic.
#[test]
fn multiplication_ends_with_its_limit() {
    let found = answer_with(Options::default(), &multiplication(), 2);
    assert_eq!(found, Err(Stop::Interrupted(Reason::Deadline)));
}

#[test]
fn doubling_sixty_times_is_a_small_derivation() {
    let mut text = String::from("(declare-fun P0 (Int) Bool) (assert (P0 1))");
    for level in 1..=60 {
        let below = level - 1;
        text += &format!(
            "(declare-fun P{level} (Int) Bool)
             (assert (forall ((x Int) (y Int)) (=> (and (P{below} x) (P{below} y)) (P{level} (+ x y)))))"
        );
    }
    text += "(assert (forall ((x Int)) (=> (P60 x) false)))";
    let start = Instant::now();
    assert_eq!(derivation(&text).steps.len(), 62);
    assert!(start.elapsed() < Duration::from_secs(5));
}

/// Projection knows no declared sorts; the other engines need the solver, which also supports these. Spacer and bounded
/// model checking need no interpolants, and accept arrays.
#[test]
fn engines_refuse_the_sorts_that_they_do_not_know() {
    // Products and saturation are about datatypes, and cells about arrays.
    let is_special = |name: &str| matches!(name, "product" | "saturation" | "cells");
    let engines = || shofar_engines::all().into_iter().filter(|engine| !is_special(engine.name()));
    let refusals = |sort: &str| {
        let text = format!(
            "(declare-sort U 0) (declare-fun P ({sort}) Bool)
             (assert (forall ((a {sort})) (P a))) (assert (forall ((a {sort})) (=> (P a) false)))"
        );
        let store = TermStore::new();
        let graph = read(&store, &text);
        let refusal = |engine: Box<dyn Engine>| engine.accepts(&store, &graph).err();
        engines().filter_map(refusal).collect::<Vec<_>>()
    };
    let refused = |sort: &str| Stop::Unsupported(format!("terms of sort {sort}"));
    assert_eq!(refusals("Int"), []);
    // Spacer itself, `regular-combined`, which runs it, and `trl`, which is about integers.
    assert_eq!(refusals("U"), vec![refused("U"); 3]);
    let array = "(Array Int Int)";
    assert_eq!(refusals(array), vec![refused(array); engines().count() - 3]);
}

#[test]
fn templates_relate_what_loops_change_in_step() {
    let levels = |options: Options| {
        let observer = Observer::default();
        let found = observed(options, IN_STEP, 20, &observer);
        assert!(matches!(found, Ok(Evidence::Sat(_))), "{found:?}");
        let counters = observer.counters.into_inner().expect("no one panics with the lock");
        counters.iter().find(|counter| counter.0 == "levels").map(|counter| counter.1).expect("it is counted")
    };
    let (few, many) = (levels(Options::default().templates(true)), levels(Options::default()));
    assert!(few <= 3 && many > 10, "{few} and {many}");
}

/// All techniques together decide finite systems, and so do all but one of them, and few of them.
#[test]
fn random_finite_systems_are_decided() {
    let all = Options::default();
    let by = |interpolation: InterpolationMethod| all.interpolation(LemmaForm::By(interpolation));
    let variants = [
        all.interpolation(LemmaForm::Core),
        all.generalise(false).interpolation(LemmaForm::Core).guidance(false),
        all.requeue(true).split_equations(false),
        by(InterpolationMethod::DualFarkas),
        by(InterpolationMethod::Decomposed),
        by(InterpolationMethod::DualDecomposed),
        all.interpolation(LemmaForm::Adaptive).requeue(true),
        all.incremental(false).weaken_bounds(false),
        all.subsumption(false).obstacles(false),
        all.descent(Descent::Backward).subsume(false),
        all.descent(Descent::Random).conjecture(false),
        all.generalise(false).concretise(false),
        all.remember(true),
        all.remember(true).subsumption(false).obstacles(false).requeue(true),
        all.templates(true).guidance(false),
        all.templates(true).remember(true).interpolation(LemmaForm::By(InterpolationMethod::Decomposed)),
    ];
    for seed in 0..60 * scale() {
        let shape = if seed % 2 == 0 { Shape::LINEAR } else { Shape::NONLINEAR };
        let text = system(&mut Random::new(seed), &shape);
        let store = TermStore::new();
        let clauses = parse(&store, "test", text.as_bytes()).expect("the generator's clauses are right");
        let graph = HornGraph::of(&store, &clauses);
        let is_safe = Saturation::of(&store, &graph, 0..=shape.greatest).is_safe();
        // Each variant meets linear systems and others.
        let turn = seed as usize / 2;
        let chosen = [0, 5, 10].map(|offset| variants[(turn + offset) % variants.len()]);
        for options in [all].into_iter().chain(chosen) {
            let found = answer_with(options, &text, 60);
            let is_right = match found {
                Ok(Evidence::Sat(_) | Evidence::Induction(_) | Evidence::Saturation(_)) => is_safe,
                Ok(Evidence::Unsat(_)) => !is_safe,
                Err(_) => false,
            };
            assert!(is_right, "{options:?} on {seed}: {found:?}\n{text}");
        }
    }
}

/// Sums of sums: guesses of all kinds are made, lemmas are remembered and speak of templates, and every answer has a witness. Debug
/// builds check each lemma.
#[test]
fn random_sums_are_answered_with_witnesses() {
    let mut counted = [("concretions", 0), ("guesses", 0), ("recalls", 0), ("abstractions", 0)];
    for seed in 0..24 {
        let mut random = Random::new(seed);
        let (sort, point) = if seed % 3 == 0 { ("Real", ".0") } else { ("Int", "") };
        let mut number = |low: i64, count: usize| {
            let number = low + i64::try_from(random.below(count)).expect("a few");
            if number < 0 { format!("(- {}{point})", -number) } else { format!("{number}{point}") }
        };
        let [a, b, c, d] = [(-1, 4), (0, 3), (0, 3), (-4, 9)].map(|(low, count)| number(low, count));
        let [bound, limit] = [(-5, 7), (0, 40)].map(|(low, count)| number(low, count));
        let relation = random.choose(&["<", "<=", "="]);
        let variables = format!("(x {sort}) (y {sort}) (z {sort})");
        let text = format!(
            "(declare-fun P ({sort} {sort} {sort}) Bool)
             (assert (forall ({variables}) (=> (and (= x {a}) (= y {b}) (>= z {c})) (P x y z))))
             (assert (forall ({variables})
                (=> (and (P x y z) (<= y {limit})) (P (+ x y) (+ y z) (+ z {c})))))
             (assert (forall ({variables}) (=> (and (P x y z) (> y {limit})) (P (- x z) (+ y {b}) z))))
             (assert (forall ({variables}) (=> (and (P x y z) ({relation} (+ x {d}) {bound})) false)))"
        );
        let observer = Observer { deepest: Some(9), ..Observer::default() };
        let options = Options::default().remember(seed % 2 == 1).templates(seed % 2 == 1);
        let _ = observed(options, &text, 60, &observer);
        let found = observer.counters.into_inner().expect("no one panics with the lock");
        for (name, sum) in &mut counted {
            *sum += found.iter().filter(|counter| counter.0 == *name).map(|counter| counter.1).sum::<u64>();
        }
    }
    assert!(counted.iter().all(|&(_, sum)| sum > 0), "{counted:?}");
}
