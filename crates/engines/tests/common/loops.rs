//! Loops over integers: by hand, and random ones, whose states are enumerated for some steps.

use std::fmt::Debug;
use std::time::Duration;

use shofar_engines::{Engine, Evidence, Run};
use shofar_logic::TermStore;
use shofar_testing::Random;

use super::{Tally, read, solve};

/// The steps that are enumerated.
const STEPS: usize = 12;

/// A loop over integers: its variables, their first values, the next values, and the bad states.
pub(crate) fn looped(variables: &[&str], first: &[i64], guard: &str, next: &str, bad: &str) -> String {
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

/// Solves random loops with a few cases, each with one of the engines. A loop whose bad states are found by enumeration is never called safe; the
/// witnesses of all answers have passed the check.
pub(crate) fn agree_with_enumeration<E: Engine + Debug>(engines: &[E], time: Duration, loops: u64) -> Tally {
    let mut tally = Tally::default();
    for seed in 0..loops {
        let mut random = Random::new(seed);
        let cases: Vec<Case> = (0..1 + random.below(3)).map(|_| Case::random(&mut random)).collect();
        let bad = Test::random(&mut random);
        let is_bad = reached(&cases).into_iter().any(|state| bad.holds(state));
        let rules: String = cases.iter().map(Case::clause).collect();
        let text = format!(
            "(declare-fun P (Int Int) Bool) (assert (P 0 0)) {rules}
             (assert (forall ((x Int) (y Int)) (=> (and (P x y) {}) false)))",
            bad.text()
        );
        let store = TermStore::new();
        let engine = random.choose(engines);
        let found = solve(engine, &read(&store, &text), &Run::new(&store).with_timeout(time));
        if is_bad {
            tally.unsafes += 1;
        }
        match found {
            Ok(Evidence::Sat(_)) => {
                assert!(!is_bad, "seed {seed}: {engine:?}\n{text}");
                tally.proved += 1;
            }
            Ok(_) => tally.refuted += 1,
            Err(_) => {}
        }
    }
    tally
}

/// The states that a loop reaches from zero in a few steps.
fn reached(cases: &[Case]) -> Vec<[i64; 2]> {
    let mut reached = vec![[0, 0]];
    let mut at = 0;
    for _ in 0..STEPS {
        let end = reached.len();
        while at < end {
            let state = reached[at];
            at += 1;
            for case in cases.iter().filter(|case| case.guard.holds(state)) {
                let next = case.next(state);
                if !reached.contains(&next) {
                    reached.push(next);
                }
            }
        }
    }
    reached
}

/// A number as SMT-LIB writes it.
fn number(value: i64) -> String {
    if value < 0 { format!("(- {})", -value) } else { value.to_string() }
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
