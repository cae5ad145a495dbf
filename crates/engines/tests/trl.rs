//! Transitive relation learning: loops with phases, strides and remainders, counterexamples, and random loops. Every witness is
//! checked.

mod common;

use std::time::Duration;

use common::{
    Counters, LONG, agree_with_saturation, assert_answer, multiples_of_three, read, solve, up_to_five,
};
use shofar_engines::{Engine, Evidence, Run, Trl};
use shofar_horn::HornGraph;
use shofar_horn::witness::GraphModel;
use shofar_logic::TermStore;
use shofar_run::Stop;
use shofar_smt::solver::Solver;
use shofar_testing::systems::Shape;
use shofar_testing::{Random, scale};

/// A loop over integers: its variables, their first values, the next values, and the bad states.
fn looped(variables: &[&str], first: &[i64], guard: &str, next: &str, bad: &str) -> String {
    let sorts = "Int ".repeat(variables.len());
    let bound: String = variables.iter().map(|name| format!("({name} Int) ")).collect();
    let names = variables.join(" ");
    let first: Vec<String> = first.iter().map(|&value| number(value)).collect();
    format!(
        "(declare-fun P ({sorts}) Bool)
         (assert (P {}))
         (assert (forall ({bound}) (=> (and (P {names}) {guard}) (P {next}))))
         (assert (forall ({bound}) (=> (and (P {names}) {bad}) false)))",
        first.join(" ")
    )
}

fn number(value: i64) -> String {
    if value < 0 { format!("(- {})", -value) } else { value.to_string() }
}

/// The engine proves the system. Returns its counters and the model.
#[track_caller]
fn model_of(store: &TermStore, graph: &HornGraph) -> (Counters, GraphModel) {
    let counters = Counters::default();
    let run = Run::new(store).with_timeout(LONG).with_events(&counters);
    match solve(&Trl::default(), graph, &run) {
        Ok(Evidence::Sat(model)) => (counters, model),
        other => panic!("{other:?}"),
    }
}

/// The engine proves the system. Returns its counters.
#[track_caller]
fn proved(text: &str) -> Counters {
    let store = TermStore::new();
    model_of(&store, &read(&store, text)).0
}

/// The engine finds a derivation with this number of steps.
#[track_caller]
fn refuted(text: &str, steps: usize) {
    let store = TermStore::new();
    match solve(&Trl::default(), &read(&store, text), &Run::new(&store).with_timeout(LONG)) {
        Ok(Evidence::Unsat(derivation)) => assert_eq!(derivation.steps.len(), steps),
        other => panic!("{other:?}\n{text}"),
    }
}

#[test]
fn counters_in_step_have_one_relation() {
    let store = TermStore::new();
    let text = looped(&["x", "y"], &[0, 0], "true", "(+ x 1) (+ y 1)", "(= x 100) (not (= y 100))");
    let graph = read(&store, &text);
    let (counters, model) = model_of(&store, &graph);
    assert_eq!(counters.get("relations"), 1);
    assert!(counters.get("depth") <= 2);
    let (node, p) = graph.nodes().next().expect("there is a predicate");
    let differ = store.not(store.eq(p.variables()[0], p.variables()[1]));
    let reached = model.formula(node).expect("the model has no folds");
    let mut solver = Solver::new(&store);
    let found = Run::new(&store).is_satisfiable(&mut solver, &[reached, differ]);
    assert_eq!(found, Ok(false), "{}", store.display(reached));
}

/// `x` grows by 3 at a time, however long the phases are; `y` grows by 2 in the second phase.
#[test]
fn strides_in_two_phases() {
    let strides = |end: i64, bad: &str| {
        let next = format!("(+ x 3) (ite (< x {end}) y (+ y 2))");
        looped(&["x", "y"], &[0, 50], "true", &next, &bad.replace("END", &(2 * end).to_string()))
    };
    for end in [600, 6000, 60_000] {
        let sum = 50 + 2 * end / 3;
        proved(&strides(end, &format!("(= x END) (not (= y {sum}))")));
        proved(&strides(end, "(= x (+ END 1))"));
    }
    refuted(&strides(12, "(= x END) (= y 58)"), 10);
    // The path is longer than the engine looks for.
    let store = TermStore::new();
    let graph = read(&store, &strides(60_000, "(= x END)"));
    let found = solve(&Trl::default(), &graph, &Run::new(&store).with_timeout(LONG));
    assert!(matches!(found, Err(Stop::Exhausted(_))), "{found:?}");
}

#[test]
fn two_phases() {
    let phases = |bad: &str| looped(&["x", "y"], &[0, 50], "true", "(+ x 1) (ite (< x 50) y (+ y 1))", bad);
    let counters = proved(&phases("(= x 100) (not (= y 100))"));
    assert!(counters.get("relations") <= 3);
    refuted(&phases("(= y 100)"), 102);
}

/// Each round of the outer loop is four rounds of the inner one.
#[test]
fn nested_loops() {
    let nested = |bad: &str| {
        let next = "(ite (< i 4) (+ i 1) 0) (ite (< i 4) (+ x 2) x) (ite (< i 4) y (+ y 8))";
        looped(&["i", "x", "y"], &[0, 0, 0], "true", next, bad)
    };
    assert_answer(&Trl::default(), &nested("(= (mod x 2) 1)"), true);
    refuted(&nested("(= i 0) (= x 24) (= y 24)"), 17);
}

#[test]
fn remainders() {
    for (bad, is_safe) in [("(= x 300)", true), ("(= x 301)", false), ("(= (mod x 2) 0)", true)] {
        let text = looped(&["x"], &[1], "true", "(+ x 4)", bad);
        if is_safe {
            proved(&text);
        } else {
            // 75 rounds are found as at most 128 ones, but these are too many.
            let store = TermStore::new();
            let found = solve(&Trl::default(), &read(&store, &text), &Run::new(&store).with_timeout(LONG));
            assert!(!matches!(found, Ok(Evidence::Sat(_))));
        }
    }
}

#[test]
fn exponential_growth() {
    let text = |bad: &str| looped(&["x", "y"], &[1, 1], "true", "(* 2 x) (* 3 y)", bad);
    proved(&text("(< x y) (<= x 0)"));
    proved(&text("(= x 3) (= y 1)"));
    refuted(&text("(= x 16)"), 6);
}

#[test]
fn several_predicates_and_truth_values() {
    let text = |query: &str| {
        format!(
            "(declare-fun P (Bool Int Int) Bool) (declare-fun Q (Int Int) Bool)
             (assert (P true 0 0))
             (assert (forall ((b Bool) (x Int) (y Int)) (=> (and (P b x y) (< x 50)) (P (not b) (+ x 1) (ite b (+ y 2) y)))))
             (assert (forall ((b Bool) (x Int) (y Int)) (=> (and (P b x y) (>= x 50)) (Q x y))))
             (assert (forall ((x Int) (y Int)) (=> (and (Q x y) (> x 0)) (Q (- x 1) (- y 1)))))
             (assert (forall ((x Int) (y Int)) (=> (and (Q x y) {query}) false)))"
        )
    };
    assert_answer(&Trl::default(), &text("(< y x)"), true);
    assert_answer(&Trl::default(), &text("(= x 20) (= y 20)"), false);
}

#[test]
fn initial_and_bad_states_with_local_variables() {
    assert_answer(&Trl::default(), &multiples_of_three(6), true);
    refuted(&multiples_of_three(1), 3);
}

#[test]
fn no_states_and_no_transitions() {
    proved(&up_to_five("(and (< x 0) (> x 0))", "true"));
    proved(&up_to_five("(< x 0)", "(< x (- 3))"));
    proved(&up_to_five("(< x 0)", "false"));
}

#[test]
fn relations_are_limited() {
    let store = TermStore::new();
    let text = looped(&["x", "y"], &[0, 50], "true", "(+ x 1) (ite (< x 50) y (+ y 1))", "(< y 50)");
    let mut engine = Trl::default();
    engine.options.relations = 1;
    let found = solve(&engine, &read(&store, &text), &Run::new(&store).with_timeout(LONG));
    assert!(matches!(found, Err(Stop::Exhausted(_))), "{found:?}");
}

#[test]
fn real_numbers_are_refused() {
    let store = TermStore::new();
    let text = "(declare-fun P (Real) Bool) (assert (P 0.0)) (assert (forall ((x Real)) (=> (and (P x) (> x 1.0)) false)))";
    let graph = read(&store, text);
    assert!(matches!(Trl::default().accepts(&store, &graph), Err(Stop::Unsupported(_))));
}

#[test]
fn random_systems() {
    let time = |_| Duration::from_secs(5);
    for shape in [Shape::LINEAR, Shape::PASSING] {
        let tally = agree_with_saturation(&[Trl::default()], time, &shape, 150 * scale());
        assert!(tally.safe > 10 && tally.unsafes > 10, "the systems are too much alike");
        assert!(tally.percent_solved() >= 80, "{} %", tally.percent_solved());
    }
}

/// Loops with a few cases, over unbounded integers. A loop whose bad states are found by enumeration is never called safe, and the
/// model of one that is called safe has passed the check.
#[test]
fn random_loops() {
    const STEPS: usize = 12;
    let (mut safe, mut unsafes) = (0, 0);
    for seed in 0..250 * scale() {
        let mut random = Random::new(seed);
        let cases: Vec<Case> = (0..1 + random.below(3)).map(|_| Case::random(&mut random)).collect();
        let bad = Test::random(&mut random);
        let mut reached = vec![[0, 0]];
        let mut at = 0;
        let mut ends = vec![1];
        for _ in 0..STEPS {
            while at < *ends.last().expect("there is a first end") {
                let state = reached[at];
                for case in cases.iter().filter(|case| case.guard.holds(state)) {
                    let next = case.next(state);
                    if !reached.contains(&next) {
                        reached.push(next);
                    }
                }
                at += 1;
            }
            ends.push(reached.len());
        }
        let is_bad = reached.iter().any(|&state| bad.holds(state));
        let rules: String = cases.iter().map(Case::clause).collect();
        let text = format!(
            "(declare-fun P (Int Int) Bool) (assert (P 0 0)) {rules}
             (assert (forall ((x Int) (y Int)) (=> (and (P x y) {}) false)))",
            bad.text()
        );
        let store = TermStore::new();
        let run = Run::new(&store).with_timeout(Duration::from_secs(2));
        match solve(&Trl::default(), &read(&store, &text), &run) {
            Ok(Evidence::Sat(_)) => {
                assert!(!is_bad, "seed {seed}\n{text}");
                safe += 1;
            }
            Ok(_) => unsafes += 1,
            Err(_) => {}
        }
    }
    assert!(safe > 50 && unsafes > 50, "{safe} safe, {unsafes} unsafe");
}

/// A linear inequality or a remainder.
#[derive(Clone, Copy)]
struct Test {
    factors: [i64; 2],
    number: i64,
    modulus: Option<i64>,
}

impl Test {
    fn random(random: &mut Random) -> Self {
        let factors = [random.between(-2, 2), random.between(-2, 2)];
        let modulus = random.one_in(4).then(|| random.between(2, 3));
        Test { factors, number: random.between(-6, 6), modulus }
    }

    fn holds(&self, [x, y]: [i64; 2]) -> bool {
        let sum = self.factors[0] * x + self.factors[1] * y - self.number;
        self.modulus.map_or(sum <= 0, |modulus| sum.rem_euclid(modulus) == 0)
    }

    fn text(&self) -> String {
        let [a, b, number] = [self.factors[0], self.factors[1], self.number].map(number);
        let sum = format!("(- (+ (* {a} x) (* {b} y)) {number})");
        self.modulus.map_or(format!("(<= {sum} 0)"), |modulus| format!("(= (mod {sum} {modulus}) 0)"))
    }
}

/// A case of a loop.
struct Case {
    guard: Test,
    factors: [[i64; 2]; 2],
    add: [i64; 2],
}

impl Case {
    fn random(random: &mut Random) -> Self {
        let swap = random.one_in(6);
        let factors = if swap { [[0, 1], [1, 0]] } else { [[random.between(0, 1), 0], [0, 1]] };
        Case { guard: Test::random(random), factors, add: [random.between(-2, 3), random.between(-2, 3)] }
    }

    fn next(&self, [x, y]: [i64; 2]) -> [i64; 2] {
        [0, 1].map(|row| self.factors[row][0] * x + self.factors[row][1] * y + self.add[row])
    }

    fn clause(&self) -> String {
        let row = |at: usize| {
            let [[a, b], add] = [self.factors[at], [self.add[at], 0]];
            format!("(+ (* {} x) (* {} y) {})", number(a), number(b), number(add[0]))
        };
        format!(
            "(assert (forall ((x Int) (y Int)) (=> (and (P x y) {}) (P {} {}))))",
            self.guard.text(),
            row(0),
            row(1)
        )
    }
}
