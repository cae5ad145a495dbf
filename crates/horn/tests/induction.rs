//! Proofs by induction on derivations: what the checker accepts, what it rejects, and their text.

use shofar_horn::check::{Fault, Trust, Validity, check_induction, export_induction};
use shofar_horn::witness::{self, Induction, Witness, WitnessFormat};
use shofar_horn::{Context, HornSystem, parse_in};
use shofar_logic::TermStore;
use shofar_logic::smtlib::Environment;
use shofar_testing::z3;

const LISTS: &str = "(declare-datatypes ((L 0)) (((nil) (cons (head Int) (tail L)))))
    (declare-fun App (L L L) Bool)
    (assert (forall ((y L)) (App nil y y)))
    (assert (forall ((h Int) (t L) (y L) (r L)) (=> (App t y r) (App (cons h t) y (cons h r)))))\n";

const FUNCTIONAL: &str =
    "(lemma (forall ((x L) (y L) (a L) (b L)) (=> (and (App x y a) (App x y b)) (= a b)))
    :unfold (1 2))\n";

const ASSOCIATIVE: &str = "(lemma (forall ((x L) (y L) (z L) (a L) (b L) (c L) (d L))
    (=> (and (App x y a) (App a z b) (App y z c) (App x c d)) (= b d))) :unfold (1))\n";

const ASSOCIATIVITY: &str = "(assert (forall ((x L) (y L) (z L) (a L) (b L) (c L) (d L))
    (=> (and (App x y a) (App a z b) (App y z c) (App x c d) (not (= b d))) false)))";

struct Read {
    store: TermStore,
    system: HornSystem,
    proof: Induction,
}

fn read(clauses: &str, lemmas: &str) -> Read {
    let store = TermStore::new();
    let mut environment = Environment::new(&store);
    let system = parse_in(&store, &mut environment, "clauses", clauses.as_bytes()).unwrap();
    let witness = witness::read(&store, &mut environment, &system, "proof", lemmas);
    let Ok(Witness::Induction(proof)) = witness else { panic!("{witness:?}") };
    Read { store, system, proof }
}

fn check(clauses: &str, lemmas: &str) -> Validity {
    let Read { store, system, proof } = read(clauses, lemmas);
    let context = Context::new(&store);
    let validity = check_induction(&context, &system, &proof, Trust::Proofs);
    assert_eq!(check_induction(&context, &system, &proof, Trust::Solver), validity);
    validity
}

#[track_caller]
fn assert_unproved(clauses: &str, lemmas: &str, at: usize) {
    match check(clauses, lemmas) {
        Validity::Invalid(Fault::Induction { lemma, .. }) => assert_eq!(lemma, at),
        other => panic!("{other:?}"),
    }
}

#[test]
fn append_is_a_function() {
    let query = "(assert (forall ((x L) (y L) (a L) (b L))
        (=> (and (App x y a) (App x y b) (not (= a b))) false)))";
    assert_eq!(check(&format!("{LISTS}{query}"), FUNCTIONAL), Validity::Valid);
    // One side is enough, since the other one then has no choice.
    let one = FUNCTIONAL.replace("(1 2)", "(1)");
    assert_eq!(check(&format!("{LISTS}{query}"), &one), Validity::Valid);
}

#[test]
fn append_is_associative() {
    let clauses = format!("{LISTS}{ASSOCIATIVITY}");
    assert_eq!(check(&clauses, &format!("{FUNCTIONAL}{ASSOCIATIVE}")), Validity::Valid);
    // The order of lemmas does not matter.
    assert_eq!(check(&clauses, &format!("{ASSOCIATIVE}{FUNCTIONAL}")), Validity::Valid);
}

/// For `x = nil` associativity is that append is a function.
#[test]
fn a_missing_lemma_is_noticed() {
    assert_unproved(&format!("{LISTS}{ASSOCIATIVITY}"), ASSOCIATIVE, 0);
}

#[test]
fn lemmas_that_do_not_exclude_a_query_are_noticed() {
    let validity = check(&format!("{LISTS}{ASSOCIATIVITY}"), FUNCTIONAL);
    assert_eq!(validity, Validity::Invalid(Fault::Query { clause: 2 }));
}

/// Append is not commutative. The lemma would follow from its own instance for the same facts.
#[test]
fn a_false_lemma_does_not_prove_itself() {
    let query = "(assert (forall ((x L) (y L) (a L) (b L))
        (=> (and (App x y a) (App y x b) (not (= a b))) false)))";
    let lemma =
        "(lemma (forall ((x L) (y L) (a L) (b L)) (=> (and (App x y a) (App y x b)) (= a b))) :unfold ";
    for unfold in ["(1))", "(2))", "(1 2))"] {
        assert_unproved(&format!("{LISTS}{query}"), &format!("{lemma}{unfold}"), 0);
    }
}

/// The premises in another order, or one in the place of two, are not smaller.
#[test]
fn permuted_premises_are_not_smaller() {
    let clauses = "(declare-fun P (Int) Bool)(assert (P 0))(assert (P 1))
        (assert (forall ((x Int) (y Int)) (=> (and (P x) (P y) (< x y)) false)))";
    let lemma = "(lemma (forall ((x Int) (y Int)) (=> (and (P x) (P y)) (= x y))) :unfold (1 2))";
    assert_unproved(clauses, lemma, 0);
    let pair = "(lemma (forall ((x Int) (y Int)) (=> (and (P x) (P y)) (and (> x 5) (> y 5)))) :unfold (1))
        (lemma (forall ((x Int)) (=> (P x) (> x 5))) :unfold (1))";
    assert!(matches!(check(clauses, pair), Validity::Invalid(Fault::Induction { .. })));
}

/// Facts that only derive themselves are not derivable: the induction is on derivations, not on values.
#[test]
fn what_has_no_derivation_is_excluded() {
    let clauses = "(declare-fun P (Int) Bool)(declare-fun Q (Int) Bool)
        (assert (forall ((x Int)) (=> (P x) (Q x))))(assert (forall ((x Int)) (=> (Q x) (P (+ x 1)))))
        (assert (forall ((x Int)) (=> (P x) false)))";
    let lemmas = "(lemma (forall ((x Int)) (=> (P x) false)) :unfold (1))
        (lemma (forall ((x Int)) (=> (Q x) false)) :unfold (1))";
    assert_eq!(check(clauses, lemmas), Validity::Valid);
    assert_unproved(&format!("{clauses}(assert (Q 7))"), lemmas, 1);
}

/// A kept premise counts once: `P(x), P(x)` is not smaller than `P(x), Q(y)` without a fact of `Q`.
#[test]
fn a_premise_is_kept_once() {
    let clauses = "(declare-fun P (Int) Bool)(declare-fun Q (Int) Bool)
        (assert (P 3))(assert (forall ((x Int)) (=> (Q x) (Q x))))(assert (Q 0))
        (assert (forall ((x Int) (y Int)) (=> (and (P x) (Q y)) false)))";
    let lemmas = "(lemma (forall ((x Int) (y Int)) (=> (and (P x) (Q y)) false)) :unfold (2))
        (lemma (forall ((x Int) (y Int)) (=> (and (P x) (P y)) false)) :unfold (1))";
    assert!(matches!(check(clauses, lemmas), Validity::Invalid(Fault::Induction { .. })));
}

/// The children of a premise that is kept are no substitute for another one.
#[test]
fn facts_below_a_kept_premise_are_not_smaller() {
    // P(x) for all x from 0 on. A lemma about two facts must not use one fact and the fact below it.
    let clauses = "(declare-fun P (Int) Bool)
        (assert (P 0))(assert (forall ((x Int)) (=> (P x) (P (+ x 1)))))
        (assert (forall ((x Int) (y Int)) (=> (and (P x) (P y) (= y (+ x 2))) false)))";
    let lemma = "(lemma (forall ((x Int) (y Int)) (=> (and (P x) (P y)) (not (= y (+ x 2))))) :unfold (2))";
    assert!(matches!(check(clauses, lemma), Validity::Invalid(_)));
}

#[test]
fn malformed_lemmas_are_rejected() {
    let query =
        "(assert (forall ((x L) (y L) (a L)) (=> (and (App x y a) (= a nil) (not (= x nil))) false)))";
    let clauses = format!("{LISTS}{query}");
    for (lemma, expected) in [
        ("(lemma (forall ((x L) (y L) (a L)) (=> (App x y a) (= a a))))", "no premise is unfolded"),
        (
            "(lemma (forall ((x L) (y L)) (=> (App x y nil) (= x y))) :unfold (1))",
            "the arguments of a premise",
        ),
        ("(lemma (forall ((x L) (y L) (a L) (z L)) (=> (App x y a) (= z z a))) :unfold (1))", "mentions z"),
    ] {
        match check(&clauses, lemma) {
            Validity::Invalid(fault @ Fault::Induction { lemma: 0, .. }) => {
                assert!(fault.to_string().contains(expected), "{fault}");
            }
            other => panic!("{lemma}: {other:?}"),
        }
    }
}

#[test]
fn mistakes_in_the_text_are_reported() {
    let store = TermStore::new();
    let mut environment = Environment::new(&store);
    let system = parse_in(&store, &mut environment, "clauses", LISTS.as_bytes()).unwrap();
    for (text, expected) in [
        ("(lemma true :unfold (1))", "implication"),
        ("(lemma (forall ((x L)) (=> (= x nil) (= x x))) :unfold (1))", "premise 1 is not a predicate"),
        ("(lemma (forall ((x L)) (=> (App x x x) (= x x))) :unfold (2))", "no premise 2"),
        ("(lemma (forall ((x L)) (=> (App x x x) (= x x))) :unfold (0))", "counted from one"),
        ("(lemma (forall ((x L)) (=> (App x x x) (= x x))) :fold (1))", ":fold"),
        (
            "(lemma (forall ((x L)) (=> (App x x x) (= x x))) :unfold (1)) (step 1 false :clause 1)",
            "two answers",
        ),
    ] {
        let error = witness::read(&store, &mut environment, &system, "proof", text).unwrap_err();
        assert!(error.to_string().contains(expected), "{text}: {error}");
    }
}

#[test]
fn a_proof_is_printed_and_read_again() {
    let clauses = format!("{LISTS}{ASSOCIATIVITY}");
    let Read { store, system, proof } = read(&clauses, &format!("{FUNCTIONAL}{ASSOCIATIVE}"));
    for format in [WitnessFormat::Text, WitnessFormat::Tree, WitnessFormat::Json, WitnessFormat::Alethe] {
        let text = Witness::Induction(proof.clone()).to_text(&store, &system, format);
        let other = TermStore::new();
        let mut environment = Environment::new(&other);
        let system = parse_in(&other, &mut environment, "clauses", clauses.as_bytes()).unwrap();
        let again = witness::read(&other, &mut environment, &system, "proof", &text).unwrap();
        assert_eq!(again.to_text(&other, &system, format), text);
        let Witness::Induction(again) = again else { panic!("{again:?}") };
        let validity = check_induction(&Context::new(&other), &system, &again, Trust::Proofs);
        assert_eq!(validity, Validity::Valid, "{text}");
    }
}

/// Lengths exclude that one list is empty and the other one is not.
const LENGTHS: &str = "(define-fun-rec len ((x L)) Int (match x ((nil 0) ((cons h t) (+ 1 (len t))))))
    (define-fun lemma ((x L)) Bool (>= (len x) 0))
    (lemma (forall ((x L) (y L) (a L)) (=> (App x y a) (= (len a) (+ (len x) (len y))))) :unfold (1))
    (lemma (forall ((x L) (y L) (z L) (a L)) (=> (and (App x z a) (App y z a)) (= x y))) :unfold (1 2))\n";

const LEFT_INJECTIVE: &str = "(assert (forall ((x L) (y L) (z L) (a L))
    (=> (and (App x z a) (App y z a) (not (= x y))) false)))";

#[test]
fn append_is_injective_on_the_left_by_lengths() {
    let clauses = format!("{LISTS}{LEFT_INJECTIVE}");
    assert_eq!(check(&clauses, LENGTHS), Validity::Valid);
    // What is printed is the same proof, in both formats.
    let Read { store, system, proof } = read(&clauses, LENGTHS);
    for format in [WitnessFormat::Text, WitnessFormat::Json] {
        let mut text = Vec::new();
        proof.write(&store, &system, format, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert_eq!(check(&clauses, &text), Validity::Valid, "{text}");
    }
}

#[test]
fn lemmas_about_recursive_functions_must_be_true() {
    let clauses = format!("{LISTS}{LEFT_INJECTIVE}");
    // The length of a list is not always positive.
    let wrong = LENGTHS.replace("(>= (len x) 0)", "(>= (len x) 1)");
    assert!(matches!(check(&clauses, &wrong), Validity::Invalid(Fault::Lemma { .. })));
    let wrong = LENGTHS.replace("(+ (len x) (len y))", "(+ (len x) (len y) 1)");
    assert_unproved(&clauses, &wrong, 0);
    // Without the length the case of an empty and another list stays open.
    let (_, second) = LENGTHS.split_once("(lemma (forall ((x L) (y L) (z L)").unwrap();
    let without = format!("(lemma (forall ((x L) (y L) (z L){second}");
    assert_ne!(check(&clauses, &without), Validity::Valid);
}

fn exported(clauses: &str, lemmas: &str) -> Result<String, Validity> {
    let Read { store, system, proof } = read(clauses, lemmas);
    let mut out = Vec::new();
    export_induction(&Context::new(&store), &system, &proof, &mut out)?.unwrap();
    Ok(String::from_utf8(out).unwrap())
}

#[test]
fn z3_confirms_exported_proofs() {
    if !z3::is_installed() {
        return;
    }
    for (query, lemmas) in
        [(ASSOCIATIVITY, format!("{FUNCTIONAL}{ASSOCIATIVE}")), (LEFT_INJECTIVE, LENGTHS.to_owned())]
    {
        let script = exported(&format!("{LISTS}{query}"), &lemmas).unwrap();
        let answers = z3::answers(&script).expect("it is installed");
        assert!(
            answers.len() >= 5 && answers.iter().all(|answer| answer == "unsat"),
            "{answers:?}\n{script}"
        );
    }
}

/// A case that no lemma refutes is not exported, so that nobody confirms a part of a proof.
#[test]
fn wrong_proofs_are_not_exported() {
    let wrong = LENGTHS.replace("(+ (len x) (len y))", "(len x)");
    assert!(exported(&format!("{LISTS}{LEFT_INJECTIVE}"), &wrong).is_err());
}
