//! Regular invariants combined with formulas.

mod common;

use std::sync::{PoisonError, RwLock};
use std::thread;
use std::time::{Duration, Instant};

use common::{Counters, LONG, read, solve};
use shofar_engines::{Engine, Evidence, Regular, RegularCombined, Run, Spacer, regular, regular_combined};
use shofar_horn::check::check_graph_model;
use shofar_logic::TermStore;
use shofar_run::{Gate, Limits, Reason, Stop};
use shofar_testing::datatype_systems::{self, Family};
use shofar_testing::explicit::Saturation;
use shofar_testing::{Random, scale};

/// Programs of forks and joins: example 10 of Kostyukov's thesis.
const FORK_JOIN: &str = "(declare-datatypes ((Prog 0)) (((Seq) (Fork (f Prog)) (Join (j Prog)))))
    (declare-fun ok (Prog) Bool)
    (declare-fun tr (Prog Prog) Bool)
    (assert (ok Seq))
    (assert (forall ((p Prog)) (=> (ok p) (ok (Fork (Join p))))))
    (assert (forall ((r Prog)) (tr Seq (Fork r))))
    (assert (forall ((p Prog)) (tr p (Join Seq))))
    (assert (forall ((p Prog) (t Prog)) (=> (tr p t) (tr (Fork (Join p)) (Fork (Join t))))))
    (assert (forall ((p Prog)) (=> (and (ok p) (tr p p)) false)))";

/// No automaton and no formula without recursion is an invariant.
const LESS: &str = "(declare-datatypes ((Nat 0)) (((Z) (S (p Nat)))))
    (declare-fun lt (Nat Nat) Bool)
    (assert (forall ((x Nat)) (lt Z (S x))))
    (assert (forall ((x Nat) (y Nat)) (=> (lt x y) (lt (S x) (S y)))))
    (assert (forall ((x Nat) (y Nat)) (=> (and (lt x y) (lt y x)) false)))";

/// Tests that run the engine hold this for reading; the test that looks for its threads, for writing.
static ENGINE: RwLock<()> = RwLock::new(());

#[test]
fn forks_and_joins_are_proved_only_by_the_combination() {
    let _others = ENGINE.read().unwrap_or_else(PoisonError::into_inner);
    let store = TermStore::new();
    let graph = read(&store, FORK_JOIN);
    let run = Run::new(&store).with_timeout(LONG);
    let alone = solve(&Regular { options: regular::Options::default().states(4) }, &graph, &run);
    assert!(matches!(alone, Err(Stop::Exhausted(_))), "{alone:?}");
    let short = Run::new(&store).with_timeout(Duration::from_secs(2));
    let alone = solve(&Spacer::default(), &graph, &short);
    assert!(matches!(alone, Err(Stop::Interrupted(Reason::Deadline))), "{alone:?}");
    let counters = Counters::default();
    let combined = solve(&RegularCombined::default(), &graph, &run.with_events(&counters));
    assert!(matches!(combined, Ok(Evidence::Sat(_))), "{combined:?}");
    assert!(counters.get("oracle.calls") > 0);
}

/// The oracle gets the clauses themselves, and Spacer works as if it were alone.
#[test]
fn what_one_of_both_solves_is_solved() {
    let _others = ENGINE.read().unwrap_or_else(PoisonError::into_inner);
    let even = "(declare-datatypes ((Nat 0)) (((Z) (S (p Nat)))))
        (declare-fun even (Nat) Bool)
        (assert (even Z))
        (assert (forall ((x Nat)) (=> (even x) (even (S (S x))))))
        (assert (forall ((x Nat)) (=> (and (even x) (even (S x))) false)))";
    let equal = "(declare-datatypes ((L 0)) (((nil) (cons (hd Int) (tl L)))))
        (declare-fun same (L L Int) Bool)
        (assert (same nil nil 0))
        (assert (forall ((x L) (y L) (n Int)) (=> (same x y n) (same (cons n x) (cons n y) (+ n 1)))))
        (assert (forall ((x L) (y L) (n Int)) (=> (and (same x y n) (or (< n 0) (distinct x y))) false)))";
    let wrong = equal.replace("(< n 0)", "(> n 3)");
    let cases = [
        (even, "regular", true),
        (equal, "regular", true),
        (equal, "algebra", true),
        (&wrong, "regular", false),
        (&wrong, "algebra", false),
        (&wrong, "unfold", false),
    ];
    for (text, oracle, is_safe) in cases {
        let store = TermStore::new();
        let mut engine = RegularCombined::default();
        shofar_engines::set_option(&mut engine, "oracle", oracle).unwrap();
        let found = solve(&engine, &read(&store, text), &Run::new(&store).with_timeout(LONG));
        let found = found.unwrap_or_else(|stop| panic!("{oracle}: {stop}\n{text}"));
        assert_eq!(matches!(found, Evidence::Sat(_)), is_safe, "{oracle}\n{text}");
    }
}

/// Values are small, so saturation decides.
#[test]
fn random_systems_over_datatypes_agree_with_saturation() {
    let _others = ENGINE.read().unwrap_or_else(PoisonError::into_inner);
    let (mut proved, mut refuted) = (0, 0);
    for family in [Family::Sums, Family::Lists, Family::Enumerations, Family::Numbers] {
        for seed in 0..8 * scale() {
            let store = TermStore::new();
            let mut random = Random::new(3000 + seed);
            let text = if seed % 2 == 0 || family == Family::Lists {
                datatype_systems::system(&mut random, family)
            } else {
                datatype_systems::system_with_differences(&mut random, family)
            };
            let graph = read(&store, &text);
            let run = Run::new(&store).with_timeout(Duration::from_millis(300));
            let engine = RegularCombined { options: regular_combined::Options::default() };
            let Ok(found) = engine.solve(&graph, &run) else { continue };
            let is_safe = Saturation::of(&store, &graph, 0..=datatype_systems::GREATEST).is_safe();
            assert_eq!(matches!(found, Evidence::Sat(_)), is_safe, "{family:?}, seed {seed}\n{text}");
            if let Evidence::Sat(model) = found {
                // The checker does not decide all disequalities of states.
                let verdict = check_graph_model(&Run::new(&store).context(), &graph, &model);
                assert!(
                    !matches!(verdict, Err(Stop::Internal(_))),
                    "{family:?}, seed {seed}: {verdict:?}\n{text}"
                );
                proved += 1;
            } else {
                refuted += 1;
            }
        }
    }
    assert!(proved > 5 && refuted > 5, "{proved} {refuted}");
}

/// The names of the threads of this process, where the system tells.
fn threads() -> Vec<String> {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    tasks.filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok()).collect()
}

#[test]
fn no_thread_is_left_after_a_timeout() {
    let _alone = ENGINE.write().unwrap_or_else(PoisonError::into_inner);
    let store = TermStore::new();
    let graph = read(&store, LESS);
    let is_own = |name: &String| matches!(name.trim(), "spacer" | "oracle");
    let start = Instant::now();
    let mut was_seen = false;
    thread::scope(|scope| {
        let run = Run::new(&store).with_timeout(Duration::from_millis(400));
        let graph = &graph;
        let running = scope.spawn(move || RegularCombined::default().solve(graph, &run));
        while !running.is_finished() {
            was_seen |= threads().iter().any(is_own);
            thread::sleep(Duration::from_millis(5));
        }
        let answer = running.join().expect("it does not panic");
        assert!(matches!(answer, Err(Stop::Interrupted(Reason::Deadline))), "{answer:?}");
    });
    assert!(was_seen || threads().is_empty());
    assert!(!threads().iter().any(is_own));
    assert!(start.elapsed() < Duration::from_secs(10));
}

#[test]
fn all_threads_wait_at_the_gate_of_the_run() {
    let _others = ENGINE.read().unwrap_or_else(PoisonError::into_inner);
    let store = TermStore::new();
    let graph = read(&store, FORK_JOIN);
    let gate = Gate::default();
    gate.close();
    let limits =
        Limits { gate: Some(&gate), deadline: Instant::now().checked_add(LONG), ..Limits::default() };
    thread::scope(|scope| {
        let running =
            scope.spawn(|| RegularCombined::default().solve(&graph, &Run::new(&store).with_limits(limits)));
        thread::sleep(Duration::from_secs(1));
        assert!(!running.is_finished(), "the gate is closed");
        gate.open();
        assert!(matches!(running.join(), Ok(Ok(Evidence::Sat(_)))));
    });
    assert!(gate.waited() > Duration::from_millis(500));
}
