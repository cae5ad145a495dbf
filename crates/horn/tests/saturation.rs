//! Saturations: what the checker accepts, what it rejects, and their text.

use shofar_horn::check::{Fault, Trust, Validity, check_saturation};
use shofar_horn::witness::{self, Saturation, Witness, WitnessFormat};
use shofar_horn::{Context, HornSystem, parse_in};
use shofar_logic::TermStore;
use shofar_logic::smtlib::Environment;

/// An order is not regular: there is no finite model.
const LESS: &str = "(declare-datatypes ((Nat 0)) (((Z) (S (p Nat)))))
    (declare-fun lt (Nat Nat) Bool)
    (assert (forall ((x Nat)) (lt Z (S x))))
    (assert (forall ((x Nat) (y Nat)) (=> (lt x y) (lt (S x) (S y)))))
    (assert (forall ((x Nat) (y Nat)) (=> (and (lt x y) (lt y x)) false)))\n";

const BY_DERIVATIONS: &str = "(order derivations)\n";

const BY_WEIGHTS: &str = "(order :variable 1 :constructors ((Z 1) (S 1)) :distinct 1 :predicates ((lt 1)))\n";

const FACT: &str = "(clause (forall ((x Nat)) (lt Z (S x))))\n";
const STEP: &str = "(clause (forall ((x Nat) (y Nat)) (=> (lt x y) (lt (S x) (S y)))))\n";
const GOAL: &str = "(clause (forall ((x Nat) (y Nat)) (=> (and (lt x y) (lt y x)) false)) :select 1)\n";
const END: &str = "(clause (forall ((x Nat)) (=> (lt (S x) Z) false)) :select 1)\n";
const BETWEEN: &str =
    "(clause (forall ((x Nat) (y Nat)) (=> (and (lt (S x) (S y)) (lt y x)) false)) :select 1)\n";

struct Read {
    store: TermStore,
    system: HornSystem,
    proof: Saturation,
}

fn read(clauses: &str, text: &str) -> Read {
    let store = TermStore::new();
    let mut environment = Environment::new(&store);
    let system = parse_in(&store, &mut environment, "clauses", clauses.as_bytes()).unwrap();
    let witness = witness::read(&store, &mut environment, &system, "proof", text);
    let Ok(Witness::Saturation(proof)) = witness else { panic!("{witness:?}") };
    Read { store, system, proof }
}

fn check(clauses: &str, text: &str) -> Validity {
    let Read { store, system, proof } = read(clauses, text);
    let context = Context::new(&store);
    let validity = check_saturation(&context, &system, &proof, Trust::Proofs);
    assert_eq!(check_saturation(&context, &system, &proof, Trust::Solver), validity);
    validity
}

/// A conclusion from this clause is missing, or the clause is malformed.
#[track_caller]
fn assert_fault(clauses: &str, text: &str, at: usize, expected: &str) {
    match check(clauses, text) {
        Validity::Invalid(fault @ Fault::Member { member, .. }) => {
            assert!(member == at && fault.to_string().contains(expected), "{fault}");
        }
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn assert_shape(clauses: &str, text: &str, expected: &str) {
    match check(clauses, text) {
        Validity::Invalid(Fault::Shape(message)) => assert!(message.contains(expected), "{message}"),
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn assert_uncovered(clauses: &str, text: &str, at: usize) {
    match check(clauses, text) {
        Validity::Invalid(Fault::Uncovered { clause, .. }) => assert_eq!(clause, at),
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_order_is_asymmetric_in_both_orders_of_atoms() {
    for order in [BY_DERIVATIONS, BY_WEIGHTS] {
        assert_eq!(check(LESS, &format!("{order}{FACT}{STEP}{GOAL}{END}{BETWEEN}")), Validity::Valid);
    }
}

/// Without selection, the greatest atoms are eligible: both of the goal, and the first one of the clause between.
#[test]
fn atoms_are_eligible_by_their_weights() {
    let [goal, end, between] = [GOAL, END, BETWEEN].map(|clause| clause.replace(" :select 1", ""));
    assert_eq!(check(LESS, &format!("{BY_WEIGHTS}{FACT}{STEP}{goal}{end}{between}")), Validity::Valid);
    assert_fault(
        LESS,
        &format!("{BY_DERIVATIONS}{FACT}{STEP}{goal}{END}{BETWEEN}"),
        2,
        "without a selected atom",
    );
    // A light successor makes no atom of the clause between greater.
    let light = BY_WEIGHTS.replace("(S 1)", "(S 0)");
    assert_fault(LESS, &format!("{light}{FACT}{STEP}{goal}{end}{between}"), 4, "no clause subsumes");
}

#[test]
fn a_dropped_conclusion_is_noticed() {
    for order in [BY_DERIVATIONS, BY_WEIGHTS] {
        assert_fault(LESS, &format!("{order}{FACT}{STEP}{GOAL}{BETWEEN}"), 2, "no clause subsumes");
        assert_fault(LESS, &format!("{order}{FACT}{STEP}{GOAL}{END}"), 2, "no clause subsumes");
    }
}

#[test]
fn an_uncovered_clause_is_noticed() {
    let all = [FACT, STEP, GOAL];
    for missing in 0..3 {
        let rest = all.iter().enumerate().filter(|&(number, _)| number != missing).map(|(_, clause)| *clause);
        let text = format!("{BY_DERIVATIONS}{}", rest.collect::<String>());
        assert_uncovered(LESS, &text, missing);
    }
    // A special case of a clause does not cover it.
    let special = FACT.replace("(S x)", "(S (S x))");
    assert_uncovered(LESS, &format!("{BY_DERIVATIONS}{special}{STEP}{GOAL}{END}{BETWEEN}"), 0);
}

#[test]
fn another_selection_needs_other_conclusions() {
    let other = BETWEEN.replace(":select 1", ":select 2");
    for order in [BY_DERIVATIONS, BY_WEIGHTS] {
        assert_fault(LESS, &format!("{order}{FACT}{STEP}{GOAL}{END}{other}"), 4, "no clause subsumes");
    }
    let step = STEP.replace(")))))", ")))) :select 1)");
    let text = format!("{BY_DERIVATIONS}{FACT}{step}{GOAL}{END}{BETWEEN}");
    assert_fault(LESS, &text, 1, "goals only");
}

#[test]
fn orders_must_be_admissible() {
    let with =
        |from: &str, to: &str| format!("{}{FACT}{STEP}{GOAL}{END}{BETWEEN}", BY_WEIGHTS.replace(from, to));
    assert_shape(LESS, &with(":variable 1", ":variable 0"), "variables have no weight");
    assert_shape(LESS, &with(":variable 1", ":variable 2"), "Z is lighter than variables");
    assert_shape(LESS, &with("(Z 1) (S 1)", "(S 0) (Z 1)"), "not the greatest constructor");
    assert_shape(LESS, &with("(S 1)", ""), "no weight for S");
    assert_shape(LESS, &with("((lt 1))", "()"), "no weight for a predicate");
    assert_shape(LESS, &with("(S 1)", "(S 1) (Z 1)"), "twice");
    // Weights above one are as good.
    assert_eq!(check(LESS, &with("(S 1)", "(S 7)")), Validity::Valid);
}

#[test]
fn the_empty_clause_proves_nothing() {
    assert_fault(LESS, &format!("{BY_DERIVATIONS}(clause false)"), 0, "empty");
}

/// The clauses are contradictory. If both atoms of the goal could be the one atom of the conclusion, the set would pass.
#[test]
fn different_atoms_need_different_atoms() {
    let clauses = "(declare-datatypes ((Nat 0)) (((Z) (S (p Nat)))))(declare-fun P (Nat) Bool)
        (assert (P Z))(assert (forall ((x Nat) (y Nat)) (=> (and (P x) (P y)) false)))";
    let members = "(clause (P Z))(clause (forall ((x Nat) (y Nat)) (=> (and (P x) (P y)) false)) :select 1)";
    assert_fault(clauses, &format!("{BY_DERIVATIONS}{members}"), 1, "no clause subsumes");
    let weights = BY_WEIGHTS.replace("lt", "P");
    assert_fault(clauses, &format!("{weights}{members}"), 1, "no clause subsumes");
}

/// The clauses are contradictory. Facts come from heads, so a head that no inference reads would hide them.
#[test]
fn a_step_with_a_selected_atom_must_be_resolved() {
    let clauses = "(declare-datatypes ((Nat 0)) (((Z) (S (p Nat)))))(declare-fun P (Nat) Bool)
        (assert (P Z))(assert (forall ((x Nat)) (=> (P x) (P (S x)))))(assert (=> (P (S Z)) false))";
    let weights = BY_WEIGHTS.replace("lt", "P");
    let members = "(clause (P Z))(clause (forall ((x Nat)) (=> (P x) (P (S x)))) :select 1)
        (clause (=> (P (S Z)) false) :select 1)";
    assert_fault(clauses, &format!("{weights}{members}"), 1, "no clause subsumes");
    // The head is not greater than the body in this order only if it is lighter, which an admissible order does not allow.
    let open = members.replacen(" :select 1", "", 1);
    assert_fault(clauses, &format!("{weights}{open}"), 2, "no clause subsumes");
}

const DIFFERENT: &str = "(declare-datatypes ((Nat 0)) (((Z) (S (p Nat)))))
    (declare-fun id (Nat Nat) Bool)
    (assert (id Z Z))
    (assert (forall ((x Nat) (y Nat)) (=> (id x y) (id (S x) (S y)))))
    (assert (forall ((x Nat) (y Nat)) (=> (and (id x y) (not (= x y))) false)))";

const IDENTITY: &str = "(clause (id Z Z))
    (clause (forall ((x Nat) (y Nat)) (=> (id x y) (id (S x) (S y)))))
    (clause (forall ((x Nat) (y Nat)) (=> (and (id x y) (distinct x y)) false)) :select 1)
    (clause (=> (distinct Z Z) false) :select 1)
    (clause (forall ((x Nat) (y Nat)) (=> (and (id x y) (distinct (S x) (S y))) false)) :select 2)";

const AXIOMS: &str = "(clause (forall ((x Nat)) (distinct Z (S x))))
    (clause (forall ((x Nat)) (distinct (S x) Z)))
    (clause (forall ((x Nat) (y Nat)) (=> (distinct x y) (distinct (S x) (S y)))))";

#[test]
fn disequalities_need_their_axioms() {
    let text = |axioms: &str| format!("{BY_DERIVATIONS}{IDENTITY}{axioms}");
    assert_eq!(check(DIFFERENT, &text(AXIOMS)), Validity::Valid);
    for (number, expected) in [(0, "Z and S"), (1, "S and Z"), (2, "S and S")] {
        let axioms = AXIOMS.lines().enumerate().filter(|&(line, _)| line != number).map(|(_, line)| line);
        assert_shape(DIFFERENT, &text(&axioms.collect::<String>()), expected);
    }
}

/// Two results of the identity are equal, so one is not even while the other one is odd.
#[test]
fn equations_rewrite_conclusions() {
    let clauses = "(declare-datatypes ((Nat 0)) (((Z) (S (p Nat)))))
        (declare-fun id (Nat Nat) Bool)(declare-fun even (Nat) Bool)(declare-fun odd (Nat) Bool)
        (assert (id Z Z))(assert (forall ((x Nat) (y Nat)) (=> (id x y) (id (S x) (S y)))))
        (assert (even Z))(assert (forall ((x Nat)) (=> (even x) (even (S (S x))))))
        (assert (odd (S Z)))(assert (forall ((x Nat)) (=> (odd x) (odd (S (S x))))))
        (assert (forall ((x Nat) (y Nat) (z Nat)) (=> (and (id x y) (id x z) (even y) (odd z)) false)))";
    let members = "(order derivations)
        (clause (id Z Z))(clause (forall ((x Nat) (y Nat)) (=> (id x y) (id (S x) (S y)))))
        (clause (even Z))(clause (forall ((x Nat)) (=> (even x) (even (S (S x))))))
        (clause (odd (S Z)))(clause (forall ((x Nat)) (=> (odd x) (odd (S (S x))))))
        (clause (forall ((x Nat) (y Nat) (z Nat)) (=> (and (id x y) (id x z) (even y) (odd z)) false)) :select 3)
        (clause (forall ((x Nat)) (=> (and (even x) (odd (S (S x)))) false)) :select 2)
        (clause (forall ((x Nat)) (=> (and (even x) (odd x)) false)) :select 1)
        (clause (=> (odd Z) false) :select 1)";
    let equations = "
        (clause (forall ((x Nat) (y Nat) (z Nat)) (=> (and (id x y) (id x z) (distinct y z)) false)) :select 1)
        (clause (forall ((z Nat)) (=> (and (id Z z) (distinct Z z)) false)) :select 1)
        (clause (=> (distinct Z Z) false) :select 1)
        (clause (forall ((x Nat) (y Nat) (z Nat)) (=> (and (id x y) (id (S x) z) (distinct (S y) z)) false)) :select 2)
        (clause (forall ((x Nat) (y Nat) (z Nat))
            (=> (and (id x y) (id x z) (distinct (S y) (S z))) false)) :select 3)";
    assert_eq!(check(clauses, &format!("{members}{equations}{AXIOMS}")), Validity::Valid);
    assert_fault(clauses, members, 6, "no clause subsumes");
    // With the order of Knuth and Bendix, equations rewrite nothing.
    let weights = "(order :variable 1 :constructors ((Z 1) (S 1)) :distinct 1
        :predicates ((id 1) (even 1) (odd 1)))";
    let weighted = members.replace("(order derivations)", weights);
    assert_fault(clauses, &format!("{weighted}{equations}{AXIOMS}"), 6, "no clause subsumes");
}

/// The clauses are contradictory. Each conclusion of the goal contradicts the goal as an equation, but proves nothing: the
/// facts of the goal and of its conclusions are the same.
#[test]
fn an_equation_does_not_prove_itself() {
    let clauses = "(declare-datatypes ((Nat 0)) (((Z) (S (p Nat)))))(declare-fun P (Nat Nat) Bool)
        (assert (P Z (S Z)))
        (assert (forall ((x Nat) (y Nat)) (=> (and (P x y) (not (= x y))) false)))";
    let members = "(order derivations)(clause (P Z (S Z)))
        (clause (forall ((x Nat) (y Nat)) (=> (and (P x y) (distinct x y)) false)) :select 2)";
    assert_fault(clauses, &format!("{members}{AXIOMS}"), 1, "no clause subsumes");
    let resolved = members.replace(":select 2", ":select 1");
    assert_fault(clauses, &format!("{resolved}{AXIOMS}"), 1, "no clause subsumes");
}

/// Derivations of disequalities must not contain predicates: then equations could prove each other.
#[test]
fn disequalities_follow_from_disequalities_only() {
    let more = "(clause (forall ((x Nat) (y Nat)) (=> (id x y) (distinct x (S y)))))";
    let text = format!("{BY_DERIVATIONS}{more}{IDENTITY}{AXIOMS}");
    assert_fault(DIFFERENT, &text, 0, "from disequalities only");
}

/// Numbers have no axioms: all facts `distinct(1, 2)` are given.
#[test]
fn values_of_other_sorts_differ() {
    let clauses = |value: &str| {
        format!(
            "(declare-datatypes ((L 0)) (((nil) (cons (hd Int) (tl L)))))(declare-fun P (L Int) Bool)
             (assert (P (cons 1 nil) {value}))
             (assert (forall ((x Int) (y Int)) (=> (and (P (cons x nil) y) (distinct x y)) false)))"
        )
    };
    let members = |value: &str| {
        format!(
            "(order derivations)(clause (P (cons 1 nil) {value}))
             (clause (forall ((x Int) (y Int)) (=> (and (P (cons x nil) y) (distinct x y)) false)) :select 1)
             (clause (=> (distinct 1 {value}) false) :select 1)"
        )
    };
    assert_eq!(check(&clauses("1"), &members("1")), Validity::Valid);
    assert_fault(&clauses("2"), &members("2"), 2, "a disequality of values");
    // A value for which the clauses have no fact.
    assert_uncovered(&clauses("(- 1)"), &members("1"), 0);
    assert_fault(&clauses("(- 1)"), &members("(- 1)"), 2, "a disequality of values");
}

/// Constraints need not be solved: clauses may say less.
#[test]
fn numbers_may_be_ignored() {
    let clauses = "(declare-datatypes ((L 0)) (((nil) (cons (hd Int) (tl L)))))(declare-fun P (L Int) Bool)
        (assert (P nil 0))
        (assert (forall ((x L) (n Int)) (=> (and (P x n) (< n 10)) (P (cons n (cons n x)) (+ n 2)))))
        (assert (forall ((x L) (n Int)) (=> (and (P x n) ((_ is cons) x) (= (tl x) nil)) false)))";
    let members = "(order derivations)(clause (P nil 0))
        (clause (forall ((x L) (m Int) (n Int) (k Int)) (=> (P x n) (P (cons m (cons n x)) k))))
        (clause (forall ((m Int) (n Int)) (=> (P (cons m nil) n) false)) :select 1)";
    assert_eq!(check(clauses, members), Validity::Valid);
    // The second element is the number, not the first one plus one.
    let wrong = members.replace("(P (cons m (cons n x)) k)", "(P (cons m (cons k x)) m)");
    assert_uncovered(clauses, &wrong, 1);
}

/// A selector on another constructor may have any value.
#[test]
fn selectors_are_total() {
    let clauses = "(declare-datatypes ((Nat 0)) (((Z) (S (p Nat)))))
        (declare-fun P (Nat) Bool)(declare-fun Q (Nat) Bool)
        (assert (P Z))(assert (forall ((x Nat)) (=> (P x) (Q (p x)))))(assert (=> (Q Z) false))";
    let members = "(order derivations)(clause (P Z))(clause (forall ((x Nat)) (=> (P (S x)) (Q x))))
        (clause (=> (Q Z) false) :select 1)(clause (=> (P (S Z)) false) :select 1)";
    assert_uncovered(clauses, members, 1);
}

#[test]
fn malformed_clauses_are_rejected() {
    for (clause, expected) in [
        ("(clause (forall ((x Nat)) (=> (lt (p x) x) false)) :select 1)", "is not a variable"),
        (
            "(clause (forall ((x Nat) (y Nat)) (=> (lt x (ite (= x y) x y)) false)) :select 1)",
            "is not a variable",
        ),
    ] {
        assert_fault(LESS, &format!("{BY_DERIVATIONS}{clause}"), 0, expected);
    }
    // Numbers of atoms and variables that no text has.
    let Read { store, system, proof } =
        read(LESS, &format!("{BY_DERIVATIONS}{FACT}{STEP}{GOAL}{END}{BETWEEN}"));
    let context = Context::new(&store);
    let tampered = |change: &dyn Fn(&mut Saturation)| {
        let mut proof = proof.clone();
        change(&mut proof);
        check_saturation(&context, &system, &proof, Trust::Solver)
    };
    let is_refused = |validity: Validity| matches!(validity, Validity::Invalid(Fault::Member { .. }));
    assert!(is_refused(tampered(&|proof| proof.clauses[2].selected = Some(7))));
    assert!(is_refused(tampered(&|proof| proof.clauses[2].variables = Box::default())));
    assert!(is_refused(tampered(&|proof| proof.clauses[0].head = None)));
    assert!(is_refused(tampered(&|proof| proof.clauses[2].body[0].arguments = Box::default())));
    assert_eq!(tampered(&|_| ()), Validity::Valid);
}

#[test]
fn mistakes_in_the_text_are_reported() {
    let store = TermStore::new();
    let mut environment = Environment::new(&store);
    let system = parse_in(&store, &mut environment, "clauses", LESS.as_bytes()).unwrap();
    for (text, expected) in [
        ("(clause (lt Z (S Z)))", "no order"),
        ("(order derivations)(order derivations)", "two orders"),
        ("(order lexicographic)", "no order lexicographic"),
        ("(order :variable 1)", "needs weights"),
        ("(order :variable 1 :distinct 1 :predicates ((le 1)))", "no predicate le"),
        ("(order derivations)(clause (not (lt Z Z)))", "neither a predicate"),
        ("(order derivations)(clause (=> (lt Z Z) false) :select 2)", "no atom 2"),
        ("(order derivations)(clause (=> (lt Z Z) false) :select 0)", "counted from one"),
        ("(order derivations)(clause (lt Z Z) :choose 1)", ":choose"),
        ("(order derivations)(step 1 false :clause 1)", "two answers"),
        ("(order derivations)(define-fun lt ((x Nat) (y Nat)) Bool true)", "another proof"),
    ] {
        let error = witness::read(&store, &mut environment, &system, "proof", text).unwrap_err();
        assert!(error.to_string().contains(expected), "{text}: {error}");
    }
}

#[test]
fn a_saturation_is_printed_and_read_again() {
    for (clauses, text) in [
        (LESS, format!("{BY_DERIVATIONS}{FACT}{STEP}{GOAL}{END}{BETWEEN}")),
        (LESS, format!("{BY_WEIGHTS}{FACT}{STEP}{GOAL}{END}{BETWEEN}")),
        (DIFFERENT, format!("{BY_DERIVATIONS}{IDENTITY}{AXIOMS}")),
    ] {
        let Read { store, system, proof } = read(clauses, &text);
        let proof = proof.with_names(&store, &system);
        for format in [WitnessFormat::Text, WitnessFormat::Tree, WitnessFormat::Json, WitnessFormat::Alethe] {
            let witness = Witness::Saturation(proof.clone());
            let text = witness.to_text(&store, &system, format);
            if format == WitnessFormat::Json {
                let embedded = serde_json::to_value(witness.to_json(&store, &system)).unwrap();
                assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), embedded);
            }
            let again = read(clauses, &text);
            let witness = Witness::Saturation(again.proof.clone());
            assert_eq!(witness.to_text(&again.store, &again.system, format), text);
            let context = Context::new(&again.store);
            let validity = check_saturation(&context, &again.system, &again.proof, Trust::Proofs);
            assert_eq!(validity, Validity::Valid, "{text}");
        }
    }
}
