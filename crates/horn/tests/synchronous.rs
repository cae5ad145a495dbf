//! Models with synchronous automata: folds whose calls change ghosts, and joint lemmas about several values.

#[path = "common/models.rs"]
mod models;

use models::read;
use shofar_horn::Context;
use shofar_horn::check::{Fault, Trust, Validity, check_model, export_model};
use shofar_horn::witness::{Witness, WitnessFormat};
use shofar_logic::TermStore;
use shofar_testing::z3;

/// The order of Peano numbers: its only model is the order itself (T4 of Kostyukov's thesis, section 3.2.4).
const LESS: &str = "(declare-datatypes ((nat 0)) (((Z) (S (p nat)))))
    (declare-fun lt (nat nat) Bool)
    (assert (forall ((x nat)) (lt Z (S x))))
    (assert (forall ((x nat) (y nat)) (=> (lt x y) (lt (S x) (S y)))))
    (assert (forall ((x nat) (y nat)) (=> (and (lt x y) (lt y x)) false)))";

const ORDER: &str = "(define-fun-rec order ((x nat) (y nat)) Int (match x (
        (Z (ite ((_ is S) y) 1 2))
        ((S a) (ite ((_ is S) y) (order a (p y)) 2)))))
    (define-fun lt ((x nat) (y nat)) Bool (= (order x y) 1))";

const JOINT: &str = "(define-fun lemma ((x nat) (y nat)) Bool
        (or (and (= (order x y) 1) (= (order y x) 2)) (and (= (order x y) 2) (= (order y x) 1))
            (and (= (order x y) 2) (= (order y x) 2))))";

/// The judgement about a model, which does not depend on the trust, nor on printing and reading it.
fn judged(system: &str, model: &str) -> Validity {
    let store = TermStore::new();
    let context = Context::new(&store);
    let (parsed, model) = read(&store, system, model);
    let validity = check_model(&context, &parsed, &model, Trust::Solver);
    assert_eq!(check_model(&context, &parsed, &model, Trust::Proofs), validity);
    let printed = Witness::Model(model).to_text(&store, &parsed, WitnessFormat::Text);
    let other = TermStore::new();
    let (system, again) = read(&other, system, &printed);
    let again = check_model(&Context::new(&other), &system, &again, Trust::Solver);
    assert_eq!(std::mem::discriminant(&again), std::mem::discriminant(&validity), "{printed}");
    validity
}

#[test]
fn a_joint_lemma_proves_that_the_order_is_asymmetric() {
    assert_eq!(judged(LESS, &[ORDER, JOINT].concat()), Validity::Valid);
}

/// Without the lemma the checker computes which values the two applications have together.
#[test]
fn joint_states_are_computed() {
    assert_eq!(judged(LESS, ORDER), Validity::Valid);
    let transitive =
        LESS.replace("(and (lt x y) (lt y x)) false)", "(and (lt x y) (lt y z) (not (lt x z))) false)");
    let transitive = transitive.replace("((x nat) (y nat)) (=> (and", "((x nat) (y nat) (z nat)) (=> (and");
    let system = transitive.replace("(not (lt x z))", "(lt z x)");
    assert_eq!(judged(&system, ORDER), Validity::Valid);
}

/// A model of trees: the same shape, read together; two fields each, so that tuples of fields have common components.
#[test]
fn joint_states_of_trees_are_computed() {
    let system = "(declare-datatypes ((tree 0)) (((leaf) (node (left tree) (right tree)))))
        (declare-fun same (tree tree) Bool)
        (assert (same leaf leaf))
        (assert (forall ((a tree) (b tree) (c tree) (d tree))
            (=> (and (same a c) (same b d)) (same (node a b) (node c d)))))
        (assert (forall ((x tree) (y tree)) (=> (and (same x y) (not (same y x))) false)))";
    let system = system.replace("(and (same x y) (not (same y x)))", "(and (same x y) (other y x))");
    let system = system.replace(
        "(assert (same leaf leaf))",
        "(declare-fun other (tree tree) Bool)(assert (same leaf leaf))
         (assert (forall ((a tree) (b tree)) (other (node a b) leaf)))
         (assert (forall ((a tree) (b tree)) (other leaf (node a b))))
         (assert (forall ((a tree) (b tree) (c tree) (d tree)) (=> (other b d) (other (node a b) (node c d)))))",
    );
    let model = "(define-fun-rec eq ((x tree) (y tree)) Bool (match x (
            (leaf ((_ is leaf) y))
            ((node a b) (and ((_ is node) y) (eq a (left y)) (eq b (right y)))))))
        (define-fun same ((x tree) (y tree)) Bool (eq x y))
        (define-fun other ((x tree) (y tree)) Bool (not (eq x y)))";
    assert_eq!(judged(&system, model), Validity::Valid);
    let wrong = model.replace("(eq b (right y))", "true");
    assert!(matches!(judged(&system, &wrong), Validity::Invalid(Fault::Violated { .. })));
}

#[test]
fn wrong_tables_and_wrong_lemmas_are_rejected() {
    let wrong = ORDER.replace("(order a (p y)) 2)", "(order a (p y)) 1)");
    assert!(matches!(judged(LESS, &wrong), Validity::Invalid(Fault::Violated { clause: 2, .. })));
    let wrong = ORDER.replace("(ite ((_ is S) y) 1 2)", "2");
    assert!(matches!(judged(LESS, &wrong), Validity::Invalid(Fault::Violated { clause: 0, .. })));
    let wrong = JOINT.replace("(and (= (order x y) 2) (= (order y x) 2))", "false");
    assert!(matches!(judged(LESS, &[ORDER, &wrong].concat()), Validity::Invalid(Fault::Lemma { .. })));
}

/// The induction steps of the joint lemma are queries that another solver refutes.
#[test]
fn an_exported_model_convinces_another_solver() {
    let store = TermStore::new();
    let (system, model) = read(&store, LESS, &[ORDER, JOINT].concat());
    let mut text = Vec::new();
    export_model(&store, &system, &model, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert_eq!(text.matches("(check-sat)").count(), 5, "{text}");
    if z3::is_installed() {
        assert_eq!(z3::answers(&text).expect("it is installed"), vec!["unsat"; 5], "{text}");
    }
}
