//! Facts between runs that share nothing but texts.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use shofar_cooperate::driver::{Options, Verdict, solve};
use shofar_cooperate::exchange::outside::Outside;
use shofar_engines::Run;
use shofar_horn::parse;
use shofar_logic::TermStore;

/// `x` grows by `2 y`, and `y` by one. `kind` proves that `x` stays even and non-negative only if it is told that `y` is not negative, which
/// `invariants` finds; but that knows nothing of even numbers.
const SUMS: &str = "(declare-fun P (Int Int) Bool)
    (assert (P 0 0))
    (assert (forall ((x Int) (y Int)) (=> (P x y) (P (+ x (* 2 y)) (+ y 1)))))
    (assert (forall ((x Int) (y Int)) (=> (and (P x y) (or (< x 0) (< 2 x 6))) false)))";

/// A counter up to ten.
const COUNTER: &str = "(declare-fun P (Int) Bool)
    (assert (P 0))
    (assert (forall ((x Int)) (=> (and (P x) (< x 10)) (P (+ x 1)))))
    (assert (forall ((x Int)) (=> (and (P x) (> x 10)) false)))";

/// The answer of one engine with others outside.
fn answer(text: &str, engine: &str, outside: &Arc<Outside>, seconds: u64) -> Verdict {
    let store = TermStore::new();
    let system = parse(&store, "test", text.as_bytes()).expect("the clauses are right");
    let run = Run::new(&store).with_timeout(Duration::from_secs(seconds));
    let engines = vec![engine.parse().expect("there is such an engine")];
    let outside = Some(Arc::clone(outside));
    solve(&system, &Options { engines, outside, ..Options::default() }, &run).verdict
}

fn about_p(formula: &str, arity: usize) -> Value {
    json!({"p": 0, "a": vec!["Int"; arity], "f": formula})
}

fn closed(formulas: &[&str], arity: usize) -> Value {
    let set: Vec<Value> = formulas.iter().map(|formula| about_p(formula, arity)).collect();
    json!({"k": "closed", "set": set})
}

fn bounded(formula: &str, height: usize, arity: usize) -> Value {
    let mut fact = about_p(formula, arity);
    fact["k"] = "bounded".into();
    fact["h"] = height.into();
    fact
}

/// What one process finds out lets another one end. They have the same name for their graph.
#[test]
fn facts_of_one_run_help_another() {
    let [here, there] = [Arc::new(Outside::default()), Arc::new(Outside::default())];
    assert!(matches!(answer(SUMS, "kind", &Arc::default(), 1), Verdict::Unknown(_)), "it needs help");
    let is_over = AtomicBool::new(false);
    let verdict = thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(200));
            answer(SUMS, "invariants", &there, 20);
        });
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                there.collect().into_iter().for_each(|fact| here.deliver("there", fact));
                thread::sleep(Duration::from_millis(5));
            }
        });
        let verdict = answer(SUMS, "kind", &here, 30);
        is_over.store(true, Ordering::Relaxed);
        verdict
    });
    assert!(matches!(verdict, Verdict::Sat(_)), "{verdict:?}, {:?}", here.figures());
    assert!(here.graph().is_some() && here.graph() == there.graph());
    let figures = here.figures();
    assert!(figures.accepted > 0 && figures.lies == 0, "{figures:?}");
}

/// A set that needs another one is accepted after it, and true facts that nothing proves are neither used nor counted as lies.
#[test]
fn facts_from_outside_are_proved_first() {
    let outside = Arc::new(Outside::default());
    // Not inductive without the second.
    outside.deliver("a", closed(&["(>= x0 0)"], 2));
    outside.deliver("a", closed(&["(>= x1 0)"], 2));
    let verdict = answer(SUMS, "kind", &outside, 30);
    assert!(matches!(verdict, Verdict::Sat(_)), "{verdict:?}");
    let figures = outside.figures();
    assert_eq!((figures.received, figures.accepted, figures.lies), (2, 1, 0));
}

/// Lies of all kinds: no wrong answer, the same verdict, and the liar is not listened to in the end.
#[test]
fn lies_cost_time_only() {
    let deep = format!("{}true{}", "(not ".repeat(100_000), ")".repeat(100_000));
    let digits = "9".repeat(1_000_000);
    for engine in ["spacer", "pdkind", "kind", "imc", "bmc", "lawi", "split-tpa"] {
        let outside = Arc::new(Outside::default());
        for _ in 0..5 {
            for lie in [
                closed(&["(<= x0 5)"], 1),
                closed(&["(<= x0 (- 5))"], 1),
                closed(&["false"], 1),
                bounded("(<= x0 5)", 100, 1),
                bounded("false", 100, 1),
                bounded("(>= x0 1)", 0, 1),
                bounded(&deep, 1, 1),
                bounded(&format!("(<= x0 {digits})"), 1, 1),
                bounded("(<= x0 x1)", 1, 2),
                json!({"k": "depth", "h": 1_000_000}),
                json!({"k": "bounded"}),
                json!(["what", "is", "this"]),
            ] {
                outside.deliver("liar", lie);
            }
        }
        outside.deliver("honest", closed(&["(>= x0 0)"], 1));
        let verdict = answer(COUNTER, engine, &outside, 30);
        if engine == "bmc" {
            continue;
        }
        assert!(matches!(verdict, Verdict::Sat(_)), "{engine}: {verdict:?}");
    }
}

/// The customs look at a flood of facts for a tenth of the time at most, and drop the rest.
#[test]
fn a_flood_costs_little() {
    let outside = Arc::new(Outside::default());
    let is_over = AtomicBool::new(false);
    let (sent, time) = thread::scope(|scope| {
        let flood = scope.spawn(|| {
            let mut sent = 0_usize;
            while !is_over.load(Ordering::Relaxed) {
                for _ in 0..10 {
                    sent += 1;
                    outside.deliver("flood", bounded(&format!("(<= (+ x0 (* 3 x1)) {sent})"), sent, 2));
                }
                thread::sleep(Duration::from_millis(10));
            }
            sent
        });
        let start = Instant::now();
        answer(SUMS, "bmc", &outside, 3);
        let time = start.elapsed();
        is_over.store(true, Ordering::Relaxed);
        (flood.join().expect("it does not panic"), time)
    });
    let figures = outside.figures();
    assert!(sent > 500 && figures.received as usize == sent, "{sent}, {figures:?}");
    // The last proof may have begun within the share.
    let most = Duration::from_millis(300) + time / 10;
    assert!(figures.time < most, "{figures:?} in {time:?}");
}
