//! Termination: answers and certificates for examples, the check of certificates, and random finite loops against explicit search.

use std::time::Duration;

use shofar_cooperate::driver::Options;
use shofar_cooperate::termination::{
    Certificate, Verdict, check, decide, is_certificate, read, to_json, to_text,
};
use shofar_engines::Run;
use shofar_horn::check::{Trust, Validity};
use shofar_horn::witness::{Definition, Model, Refutation};
use shofar_horn::{Context, HornSystem, parse, parse_in};
use shofar_logic::smtlib::Environment;
use shofar_logic::{Term, TermStore, Value};
use shofar_run::Stop;
use shofar_testing::{Random, scale};

macro_rules! example {
    ($name:literal) => {
        include_str!(concat!("../../../examples/termination/", $name, ".smt2"))
    };
}

fn system(store: &TermStore, text: &str) -> HornSystem {
    parse(store, "test", text.as_bytes()).expect("the test's clauses are right")
}

fn decided(store: &TermStore, system: &HornSystem, time: Duration) -> Verdict {
    let options = Options { jobs: Some(1), ..Options::default() };
    decide(system, &options, &Run::new(store).with_timeout(time))
}

/// The certificate of an answer, after it was checked with proofs, written, read and checked again.
#[track_caller]
fn certified(text: &str, answer: &str) -> Certificate {
    let store = TermStore::new();
    let system = system(&store, text);
    let Verdict::Known(certificate) = decided(&store, &system, Duration::from_secs(60)) else {
        panic!("there is no answer");
    };
    assert_eq!(certificate.answer(), answer);
    let context = Context::new(&store);
    assert_eq!(check(&context, &system, &certificate, Trust::Proofs), Validity::Valid);
    let written = to_text(&store, &system, &certificate).unwrap();
    assert_eq!(rechecked(text, &format!("{answer}\n{written}")), Ok(Validity::Valid), "{written}");
    let json = to_json(&store, &system, &certificate).unwrap();
    assert_eq!((&json["kind"], &json["text"]), (&certificate.kind().into(), &written.into()));
    certificate
}

/// What the check says to the text of a certificate, or the message that it cannot be read.
fn rechecked(text: &str, certificate: &str) -> Result<Validity, String> {
    let store = TermStore::new();
    let mut environment = Environment::new(&store);
    let system = parse_in(&store, &mut environment, "test", text.as_bytes()).unwrap();
    assert!(is_certificate(certificate.as_bytes()));
    let context = Context::new(&store);
    let certificate = read(&context, &mut environment, &system, "certificate", certificate.as_bytes());
    let certificate = certificate.map_err(|error| error.to_string())?;
    Ok(check(&context, &system, &certificate, Trust::Proofs))
}

#[track_caller]
fn assert_refused(text: &str, certificate: &str) {
    let refused = rechecked(text, certificate);
    assert!(matches!(refused, Ok(Validity::Invalid(_)) | Err(_)), "{certificate}: {refused:?}");
}

#[test]
fn loops_with_ranking_functions_terminate() {
    for text in [
        example!("countdown"),
        example!("nested"),
        example!("gcd"),
        example!("lexicographic"),
        example!("invariant"),
    ] {
        certified(text, "terminating");
    }
}

#[test]
fn reals_and_booleans_can_be_ranked() {
    let text = "(declare-fun loop (Real Bool) Bool)
        (assert (forall ((x Real) (b Bool)) (loop x b)))
        (assert (forall ((x Real) (b Bool)) (=> (and (loop x b) (> x 0.0)) (loop (- x 0.25) b))))
        (assert (forall ((x Real) (b Bool)) (=> (and (loop x b) (<= x 0.0) b) (loop 7.5 false))))";
    certified(text, "terminating");
    // The steps become smaller and smaller.
    let text = "(declare-fun loop (Real) Bool) (assert (loop 1.0))
        (assert (forall ((x Real)) (=> (and (loop x) (> x 0.0)) (loop (/ x 2.0)))))";
    certified(text, "nonterminating");
}

#[test]
fn clauses_without_loops_terminate() {
    let text = "(declare-fun P (Int) Bool) (declare-fun Q (Int) Bool)
        (assert (forall ((x Int)) (P x)))
        (assert (forall ((x Int)) (=> (P x) (Q (+ x 1)))))";
    assert_eq!(certified(text, "terminating").kind(), "ranking");
    assert_eq!(certified("(declare-fun P () Bool) (assert P)", "terminating").kind(), "ranking");
    // Nothing is derived: the loop is never entered.
    certified("(declare-fun P () Bool) (assert (=> P P))", "terminating");
    certified("(declare-fun P () Bool) (assert P) (assert (=> P P))", "nonterminating");
}

#[test]
fn a_loop_without_lexicographic_functions_terminates() {
    // Nothing else works for linear functions; the number of steps is bounded, too.
    let kind = certified(example!("disjunctive"), "terminating").kind();
    assert!(["disjunctive", "bound"].contains(&kind), "{kind}");
}

#[test]
fn a_run_that_comes_back_does_not_end() {
    certified(example!("lasso"), "nonterminating");
}

#[test]
fn runs_through_new_values_have_recurrent_sets() {
    assert_eq!(certified(example!("upwards"), "nonterminating").kind(), "recurrence");
    certified(example!("demon"), "nonterminating");
    // Only one way out of the choices goes on for ever.
    let text = "(declare-fun P (Int Int) Bool)
        (assert (forall ((x Int) (y Int)) (=> (> x 3) (P x y))))
        (assert (forall ((x Int) (y Int) (z Int)) (=> (and (P x y) (> x 0) (> z y)) (P (+ x 1) z))))
        (assert (forall ((x Int) (y Int)) (=> (and (P x y) (> x 0)) (P (- 1) y))))";
    assert_eq!(certified(text, "nonterminating").kind(), "recurrence");
    // Positive numbers reach 0, negative ones do not.
    let text = "(declare-fun P (Int) Bool) (assert (forall ((x Int)) (P x)))
        (assert (forall ((x Int)) (=> (and (P x) (not (= x 0))) (P (- x 1)))))";
    assert_eq!(certified(text, "nonterminating").kind(), "recurrence");
}

#[test]
fn what_nobody_knows_is_unknown_in_time() {
    let store = TermStore::new();
    let system = system(&store, example!("collatz"));
    let start = std::time::Instant::now();
    let verdict = decided(&store, &system, Duration::from_secs(1));
    assert!(matches!(verdict, Verdict::Unknown(Stop::Interrupted(_))), "{verdict:?}");
    assert!(start.elapsed() < Duration::from_secs(10));
}

#[test]
fn clauses_outside_of_the_fragment_are_refused() {
    for (text, why) in [
        (
            "(declare-fun P (Int) Bool) (assert (P 0))
             (assert (forall ((x Int) (y Int)) (=> (and (P x) (P y)) (P (+ x y)))))",
            "several predicates",
        ),
        ("(declare-fun P ((_ BitVec 8)) Bool) (assert (P #x00))", "BitVec"),
        ("(declare-fun P ((Array Int Int)) Bool) (assert (forall ((a (Array Int Int))) (P a)))", "Array"),
        (
            "(declare-fun P (Int) Bool)
             (assert (forall ((x Int)) (=> (forall ((y Int)) (< x (* 2 y))) (P x))))",
            "quantifiers",
        ),
        (
            "(declare-fun P (Int Int) Bool) (assert (P 0 1))
             (assert (forall ((x Int) (y Int)) (=> (P x y) (P (* x y) y))))",
            "clause 2 at 2:",
        ),
    ] {
        let store = TermStore::new();
        let system = system(&store, text);
        let Verdict::Unknown(Stop::Unsupported(what)) = decided(&store, &system, Duration::from_secs(20))
        else {
            panic!("{text} is outside of the fragment");
        };
        assert!(what.contains(why), "{what}");
    }
}

/// Nothing is claimed of what depends on the value of a division by zero, and nothing is called a mistake of the program.
#[test]
fn runs_that_depend_on_division_by_zero_are_unknown() {
    let text = "(declare-fun P (Int) Bool)
        (assert (forall ((x Int)) (=> (= x (div 1 0)) (P x))))
        (assert (forall ((x Int)) (=> (and (P x) (> x 5)) (P (+ x 1)))))";
    let store = TermStore::new();
    let system = system(&store, text);
    let verdict = decided(&store, &system, Duration::from_secs(2));
    assert!(matches!(verdict, Verdict::Unknown(Stop::Unsupported(_) | Stop::Interrupted(_))), "{verdict:?}");
}

const COUNTDOWN: &str = example!("countdown");

#[test]
fn wrong_rankings_are_refused() {
    let certificate = |rank: &str, set: &str| {
        format!(
            "(certificate ranking) (define-fun |rank 1 of loop| ((x Int)) Int {rank}) (define-fun loop ((x Int)) Bool {set})"
        )
    };
    assert_eq!(rechecked(COUNTDOWN, &certificate("x", "true")), Ok(Validity::Valid));
    assert_eq!(rechecked(COUNTDOWN, &certificate("(ite (> x 0) (+ x 5) 5)", "true")), Ok(Validity::Valid));
    // The function does not fall, or without bound; the set is not closed, or has too few facts.
    for (rank, set) in [
        ("(- x)", "true"),
        ("0", "true"),
        ("(- x 5)", "true"),
        ("(div x 2)", "true"),
        ("x", "(> x 5)"),
        ("x", "false"),
        ("(- x)", "false"),
    ] {
        assert_refused(COUNTDOWN, &certificate(rank, set));
    }
    let upwards = example!("upwards");
    for rank in ["x", "(- x)", "(- 100 x)", "(ite (> x 50) 0 (- 50 x))"] {
        assert_refused(upwards, &certificate(rank, "true"));
    }
    // Steps between 0 and 1 may be infinitely many.
    let halves = "(declare-fun loop (Real) Bool) (assert (loop 1.0))
        (assert (forall ((x Real)) (=> (and (loop x) (> x 0.0)) (loop (/ x 2.0)))))";
    let real = "(certificate ranking) (define-fun |rank 1 of loop| ((x Real)) Real x)
        (define-fun loop ((x Real)) Bool (>= x 0.0))";
    assert_refused(halves, real);
}

/// A function must not depend on what the step chooses, although a clause may use the name of its argument otherwise.
#[test]
fn functions_depend_on_facts_alone() {
    let text = "(declare-fun loop (Int) Bool) (assert (loop 5))
        (assert (forall ((y Int) (x Int)) (=> (and (loop y) (= x 0)) (loop y))))";
    for body in ["x", "y"] {
        assert_refused(
            text,
            &format!(
                "(certificate ranking) (define-fun |rank 1 of loop| (({body} Int)) Int {body})
                 (define-fun loop ((y Int)) Bool true)"
            ),
        );
    }
    let store = TermStore::new();
    let system = system(&store, text);
    let stranger = store.var(store.symbol("stranger"), shofar_logic::Sort::INT);
    let Verdict::Known(Certificate::Recurrence { .. } | Certificate::Lasso { .. }) =
        decided(&store, &system, Duration::from_secs(60))
    else {
        panic!("the loop does not end");
    };
    let model = Model {
        definitions: vec![Definition {
            parameters: [store.var(store.symbol("y"), shofar_logic::Sort::INT)].into(),
            interpretation: Term::TRUE.into(),
        }],
        lemmas: Vec::new(),
    };
    let certificate = Certificate::Ranking { ranks: vec![vec![stranger]], model };
    assert!(matches!(
        check(&Context::new(&store), &system, &certificate, Trust::Solver),
        Validity::Invalid(_)
    ));
}

#[test]
fn disjunctive_arguments_must_cover_all_pairs_and_all_cycles() {
    let certificate = |rank: &str, pairs: &str| {
        format!(
            "(certificate disjunctive) (define-fun |rank 1 of loop| ((x Int)) Int {rank})
             (define-fun loop ((x Int)) Bool true)
             (define-fun |loop:loop| ((u Int) (v Int)) Bool {pairs})"
        )
    };
    let right = "(and (> u 0) (< v u))";
    assert_eq!(rechecked(COUNTDOWN, &certificate("x", right)), Ok(Validity::Valid));
    assert_refused(COUNTDOWN, &certificate("(- x)", right));
    assert_refused(COUNTDOWN, &certificate("x", "(> u 0)"));
    // Pairs that are not neighbours are left out.
    assert_refused(COUNTDOWN, &certificate("x", "(and (> u 0) (= v (- u 1)))"));
    // Nothing is looked at.
    assert_refused(COUNTDOWN, "(certificate disjunctive) (define-fun loop ((x Int)) Bool true)");
}

#[test]
fn wrong_bounds_are_refused() {
    let certificate = |factor: u32, set: &str| {
        format!("(certificate bound) (bound {factor}) (define-fun loop ((x Int) (c Int)) Bool {set})")
    };
    let right = "(and (>= c 0) (>= c x))";
    assert_eq!(rechecked(COUNTDOWN, &certificate(1, right)), Ok(Validity::Valid));
    assert_refused(COUNTDOWN, &certificate(0, right));
    assert_refused(COUNTDOWN, &certificate(1, "(>= c x)"));
    assert_refused(example!("upwards"), &certificate(64, right));
}

#[test]
fn wrong_lassos_are_refused() {
    let text = "(declare-fun P (Int) Bool) (assert (P 0))
        (assert (forall ((x Int)) (=> (and (P x) (< x 2)) (P (+ x 1)))))
        (assert (forall ((x Int)) (=> (P x) (P 1))))";
    let first = "(step 1 (P 0) :clause 1) (step 2 (P 1) :clause 2 :premises (1) :instance ((x 0)))";
    let right = "(step 3 (P 1) :clause 3 :premises (2) :instance ((x 1)))";
    let lasso = |start: usize, last: &str| format!("(certificate lasso) (loop {start}) {first} {last}");
    assert_eq!(rechecked(text, &lasso(2, right)), Ok(Validity::Valid));
    // Not the same fact, not a step before, not a step of the clause, not the run from the fact.
    assert_refused(text, &lasso(1, right));
    assert_refused(text, &lasso(3, right));
    assert_refused(text, &lasso(4, right));
    assert_refused(text, &lasso(0, right));
    assert_refused(text, &lasso(2, "(step 3 (P 1) :clause 2 :premises (2) :instance ((x 1)))"));
    assert_refused(text, &lasso(2, "(step 3 (P 1) :clause 3 :premises (1) :instance ((x 0)))"));
    assert_refused(text, "(certificate lasso) (loop 1)");
}

#[test]
fn wrong_recurrent_sets_are_refused() {
    let certificate = |choice: &str, start: &str, set: &str| {
        format!(
            "(certificate recurrence) (define-fun |choice 1 of x in clause 2| ((x Int)) Int {choice})
             (step 1 (loop {start}) :clause 1 :instance ((x {start}))) (define-fun loop ((x Int)) Bool {set})"
        )
    };
    let upwards = example!("upwards");
    assert_eq!(rechecked(upwards, &certificate("x", "1", "(> x 0)")), Ok(Validity::Valid));
    assert_eq!(rechecked(upwards, &certificate("x", "7", "(> x 5)")), Ok(Validity::Valid));
    // The run ends outside of the set, a fact of the set has no successor, or it has one outside, or the chosen clause is no rule.
    assert_refused(upwards, &certificate("x", "0", "(> x 0)"));
    assert_refused(upwards, &certificate("x", "1", "true"));
    assert_refused(upwards, &certificate("x", "1", "(= x 1)"));
    assert_refused(upwards, &certificate("(+ x 1)", "1", "(> x 0)"));
    assert_refused(COUNTDOWN, &certificate("x", "1", "(> x 0)"));
    assert_refused(COUNTDOWN, &certificate("x", "1", "true"));
}

#[test]
fn texts_that_are_no_certificates_have_messages() {
    for (text, why) in [
        ("(certificate proof)", "no kind of certificate"),
        ("(certificate ranking) (define-fun |rank 1 of loop| ((x Int)) Int x)", "does not define `loop`"),
        ("(certificate ranking) (define-fun |rank 1 of loop| ((x Bool)) Bool x)", "arguments"),
        ("(certificate bound)", "missing"),
        ("(certificate lasso) (loop 1", "`)`"),
        ("nonterminating (certificate ranking) (define-fun loop ((x Int)) Bool true)", "another answer"),
    ] {
        let message = rechecked(COUNTDOWN, text).unwrap_err();
        assert!(message.contains(why), "{message}");
    }
}

// ---- random loops over small domains ---------------------------------------------------------------------------

/// Values are between 0 and this number.
const GREATEST: i64 = 4;

/// A rule of a random loop over two places and two variables.
struct RandomRule {
    ends: (usize, usize),
    /// The variable, whether it is at least or at most the number.
    guards: Vec<(usize, bool, i64)>,
    /// The value of each variable: a variable plus a number; without one any value.
    updates: [Option<(usize, i64)>; 2],
}

fn random_rule(random: &mut Random) -> RandomRule {
    let guard = |random: &mut Random| (random.below(2), random.bool(), random.between(0, GREATEST));
    let guards = (0..random.below(3)).map(|_| guard(random)).collect();
    let mut update = |_| (!random.chance(8)).then(|| (random.below(2), random.between(-2, 1)));
    let updates = [update(0), update(1)];
    RandomRule { ends: (random.below(2), random.below(2)), guards, updates }
}

impl RandomRule {
    fn text(&self) -> String {
        let names = ["x", "y"];
        let guards = self.guards.iter().map(|&(variable, is_least, number)| {
            format!(" ({} {} {number})", if is_least { ">=" } else { "<=" }, names[variable])
        });
        let update = |(variable, update): (usize, &Option<(usize, i64)>)| match update {
            Some((from, number)) => format!("(= {}1 (+ {} {number}))", names[variable], names[*from]),
            None => "true".to_owned(),
        };
        let updates: Vec<String> = self.updates.iter().enumerate().map(update).collect();
        format!(
            "(assert (forall ((x Int) (y Int) (x1 Int) (y1 Int)) (=> (and (P{} x y){} {} (<= 0 x1 {GREATEST})
             (<= 0 y1 {GREATEST})) (P{} x1 y1))))",
            self.ends.0,
            guards.collect::<String>(),
            updates.join(" "),
            self.ends.1
        )
        .replace("(+ x -", "(- x ")
        .replace("(+ y -", "(- y ")
    }

    fn successors(&self, state: (usize, [i64; 2])) -> Vec<(usize, [i64; 2])> {
        let (place, values) = state;
        let holds = |&(variable, is_least, number): &(usize, bool, i64)| {
            if is_least { values[variable] >= number } else { values[variable] <= number }
        };
        if place != self.ends.0 || !self.guards.iter().all(holds) {
            return Vec::new();
        }
        let images = |variable: usize| -> Vec<i64> {
            let all = 0..=GREATEST;
            match self.updates[variable] {
                Some((from, number)) => all.filter(|&value| value == values[from] + number).collect(),
                None => all.collect(),
            }
        };
        let (first, second) = (images(0), images(1));
        first.iter().flat_map(|&x| second.iter().map(move |&y| (self.ends.1, [x, y]))).collect()
    }
}

/// Whether a cycle can be reached: by removing states without successors as long as there are any.
fn has_infinite_run(start: [i64; 2], rules: &[RandomRule]) -> bool {
    let successors = |state| rules.iter().flat_map(|rule| rule.successors(state)).collect::<Vec<_>>();
    let mut states = vec![(0, start)];
    let mut next = 0;
    while next < states.len() {
        for state in successors(states[next]) {
            if !states.contains(&state) {
                states.push(state);
            }
        }
        next += 1;
    }
    loop {
        let before = states.len();
        let known = states.clone();
        states.retain(|&state| successors(state).iter().any(|successor| known.contains(successor)));
        if states.len() == before {
            return !states.is_empty();
        }
    }
}

#[test]
fn random_finite_loops_are_decided_as_by_explicit_search() {
    let mut answers = [0, 0];
    for seed in scale::numbers(14) {
        let mut random = Random::new(seed);
        let start = [random.between(0, GREATEST), random.between(0, GREATEST)];
        let rules: Vec<RandomRule> = (0..2 + random.below(3)).map(|_| random_rule(&mut random)).collect();
        let mut text = format!(
            "(declare-fun P0 (Int Int) Bool) (declare-fun P1 (Int Int) Bool) (assert (P0 {} {}))\n",
            start[0], start[1]
        );
        rules.iter().for_each(|rule| text.push_str(&rule.text()));
        let store = TermStore::new();
        let system = system(&store, &text);
        let is_infinite = has_infinite_run(start, &rules);
        match decided(&store, &system, Duration::from_secs(20)) {
            Verdict::Known(certificate) => {
                let expected = if is_infinite { "nonterminating" } else { "terminating" };
                assert_eq!(certificate.answer(), expected, "seed {seed}: {text}");
                let validity = check(&Context::new(&store), &system, &certificate, Trust::Proofs);
                assert_eq!(validity, Validity::Valid, "seed {seed}: {text}");
            }
            Verdict::Unknown(stop) => panic!("seed {seed}: {stop}: {text}"),
        }
        answers[usize::from(is_infinite)] += 1;
    }
    assert!(answers[0] > 2 && answers[1] > 2, "{answers:?}");
}

/// Loops with unbounded values: whatever is claimed, a run of a thousand steps from small values is no proof, but an end of all runs
/// that were claimed to terminate is seen.
#[test]
fn deterministic_loops_that_are_claimed_to_end_end() {
    let mut claimed = [0, 0];
    for seed in scale::numbers(12) {
        let mut random = Random::new(seed + 1000);
        let mut number = |least, greatest| random.between(least, greatest);
        let [a, b, c, d] = [(); 4].map(|()| number(-2, 2));
        let bound = number(-3, 3);
        // while (x > bound) (x, y) := (x + a y + b, c y + d), from 0 to 3.
        let text = format!(
            "(declare-fun P (Int Int) Bool)
             (assert (forall ((x Int) (y Int)) (=> (and (<= 0 x 3) (<= 0 y 3)) (P x y))))
             (assert (forall ((x Int) (y Int)) (=> (and (P x y) (> x {bound}))
               (P (+ x (* {a} y) {b}) (+ (* {c} y) {d})))))"
        );
        let text = text.replace("-1", "(- 1)").replace("-2", "(- 2)").replace("-3", "(- 3)");
        let store = TermStore::new();
        let system = system(&store, &text);
        let ends = |x: i128, y: i128| {
            let (mut x, mut y) = (x, y);
            for _ in 0..100 {
                if x <= i128::from(bound) {
                    return true;
                }
                (x, y) = (x + i128::from(a) * y + i128::from(b), i128::from(c) * y + i128::from(d));
            }
            false
        };
        let all_end = (0..=3).all(|x| (0..=3).all(|y| ends(x, y)));
        match decided(&store, &system, Duration::from_secs(2)) {
            Verdict::Known(certificate) if certificate.answer() == "terminating" => {
                assert!(all_end, "seed {seed}: {text}");
                claimed[0] += 1;
            }
            Verdict::Known(_) => {
                assert!(!all_end, "seed {seed}: {text}");
                claimed[1] += 1;
            }
            Verdict::Unknown(_) => {}
        }
    }
    assert!(claimed[0] > 0 && claimed[1] > 0, "{claimed:?}");
}

#[test]
fn values_of_choices_have_the_sorts_of_their_variables() {
    let store = TermStore::new();
    let system = system(&store, example!("upwards"));
    let Verdict::Known(Certificate::Recurrence { run, mut choices, model }) =
        decided(&store, &system, Duration::from_secs(60))
    else {
        panic!("there is a recurrent set");
    };
    let right = choices[0].clone();
    choices[0].when = run_value(&store, &run);
    let certificate =
        Certificate::Recurrence { run: run.clone(), choices: choices.clone(), model: model.clone() };
    assert!(matches!(
        check(&Context::new(&store), &system, &certificate, Trust::Solver),
        Validity::Invalid(_)
    ));
    choices[0] = right;
    choices[0].values = [store.value_to_term(&Value::Bool(true))].into();
    let certificate = Certificate::Recurrence { run, choices, model };
    assert!(matches!(
        check(&Context::new(&store), &system, &certificate, Trust::Solver),
        Validity::Invalid(_)
    ));
}

/// The first argument of a run's first fact, which is a number and no formula.
fn run_value(store: &TermStore, run: &Refutation) -> Term {
    store.value_to_term(&run.steps[0].fact[0])
}
