//! Clauses whose datatypes are not recursive are decided like clauses over numbers, and their witnesses are about the
//! datatypes.

use std::time::Duration;

use shofar_cooperate::driver::{Options, Verdict, solve};
use shofar_cooperate::{ModelForm, Run};
use shofar_horn::check::{Trust, Validity, check_model, check_refutation};
use shofar_horn::witness::{Witness, WitnessFormat};
use shofar_horn::{Context, parse};
use shofar_logic::TermStore;
use shofar_run::Stop;
use shofar_testing::Random;
use shofar_testing::datatype_systems::{self, Family};

/// The answer to some clauses, confirmed by the checker, with its witness as text.
fn answer(text: &str) -> (&'static str, String) {
    let store = TermStore::new();
    let system = parse(&store, "test", text.as_bytes()).unwrap_or_else(|error| panic!("{error} in\n{text}"));
    let context = Context::new(&store);
    let options = Options { model: ModelForm::Readable, ..Options::default() };
    let run = Run::new(&store).with_timeout(Duration::from_secs(60));
    let verdict = solve(&system, &options, &run).verdict;
    let name = verdict.name();
    match &verdict {
        Verdict::Sat(model) => {
            assert_eq!(check_model(&context, &system, model, Trust::Proofs), Validity::Valid, "{text}");
        }
        Verdict::Unsat(refutation) => {
            assert_eq!(check_refutation(&context, &system, refutation), Validity::Valid, "{text}");
        }
        Verdict::Unknown(Stop::Internal(what)) => panic!("{what} in\n{text}"),
        Verdict::Unknown(stop) => return (name, stop.to_string()),
    }
    let witness: Option<Witness> = verdict.witness();
    (name, witness.map_or(String::new(), |witness| witness.to_text(&store, &system, WitnessFormat::Text)))
}

/// Mutable references of Rust as pairs of the present and the final value: a function returns the reference to the
/// larger of two numbers, and another one counts a number down.
const REFERENCES: &str = "(set-logic HORN)
    (declare-datatypes ((Mut 0)) (((mut (now Int) (later Int)))))
    (declare-datatypes ((Two 0)) (((two (left Mut) (right Mut)))))
    (declare-fun Larger (Two Mut) Bool)
    (declare-fun Down (Mut) Bool)
    (assert (forall ((a Mut) (b Mut)) (=> (and (>= (now a) (now b)) (= (later b) (now b))) (Larger (two a b) a))))
    (assert (forall ((a Mut) (b Mut)) (=> (and (< (now a) (now b)) (= (later a) (now a))) (Larger (two a b) b))))
    (assert (forall ((m Mut)) (=> (and (<= (now m) 0) (= (later m) (now m))) (Down m))))
    (assert (forall ((n Int) (l Int)) (=> (and (Down (mut (- n 1) l)) (> n 0)) (Down (mut n l)))))\n";

#[test]
fn programs_with_references_are_safe() {
    let (name, model) = answer(&format!(
        "{REFERENCES}
         (assert (forall ((a Int) (b Int) (c Int) (m Mut))
            (=> (and (Larger (two (mut a c) (mut b c)) m) (= (later m) (+ (now m) 1))) false)))
         (assert (forall ((m Mut)) (=> (and (Down m) (>= (now m) 0) (not (= (later m) 0))) false)))"
    ));
    assert_eq!(name, "sat", "{model}");
    assert!(model.contains("(define-fun Down ((") && model.contains("Mut)) Bool"), "{model}");
}

#[test]
fn programs_with_references_are_unsafe() {
    let (name, refutation) = answer(&format!(
        "{REFERENCES}
         (assert (forall ((a Int) (b Int) (m Mut))
            (=> (and (Larger (two (mut a 7) (mut b 7)) m) (Down m) (= (now m) 7)) false)))
         (assert (forall ((m Mut)) (=> (and (Down m) (= (now m) 3)) false)))"
    ));
    assert_eq!(name, "unsat", "{refutation}");
    assert!(refutation.contains("(mut 3 0)"), "{refutation}");
}

#[test]
fn a_loop_over_a_sum_is_safe() {
    let (name, model) = answer(
        "(set-logic HORN)
         (declare-datatypes ((State 0)) (((idle) (busy (left Int)) (done (total Int)))))
         (declare-fun P (State Int) Bool)
         (assert (P idle 0))
         (assert (forall ((n Int) (t Int)) (=> (and (P idle t) (> n 0)) (P (busy n) t))))
         (assert (forall ((n Int) (t Int)) (=> (and (P (busy n) t) (> n 0)) (P (busy (- n 1)) (+ t 1)))))
         (assert (forall ((t Int)) (=> (P (busy 0) t) (P (done t) t))))
         (assert (forall ((s State) (t Int)) (=> (and (P s t) ((_ is done) s) (< (total s) 0)) false)))",
    );
    assert_eq!(name, "sat", "{model}");
}

#[test]
fn a_refutation_that_chooses_the_value_of_a_selector_is_no_answer() {
    let text = |condition: &str| {
        format!(
            "(set-logic HORN)
             (declare-datatypes ((Maybe 0)) (((none) (some (value Int)))))
             (declare-fun P (Maybe) Bool)
             (assert (P none))
             (assert (forall ((x Maybe)) (=> (and (P x) {condition}) false)))"
        )
    };
    assert_eq!(answer(&text("(> (value x) 5)")).0, "unknown");
    assert_eq!(answer(&text("((_ is some) x) (> (value x) 5)")).0, "sat");
    assert_eq!(answer(&text("(or ((_ is none) x) (> (value x) 5))")).0, "unsat");
}

#[test]
fn random_systems_over_records_and_sums_get_valid_witnesses() {
    let mut answers = [0; 3];
    for seed in 0..60 {
        let (name, _) = answer(&datatype_systems::system(&mut Random::new(seed), Family::Sums));
        answers[["sat", "unsat", "unknown"].iter().position(|&other| other == name).unwrap_or(2)] += 1;
    }
    assert!(answers[0] >= 12 && answers[1] >= 12 && answers[2] <= 3, "{answers:?}");
}
