//! Models that apply folds: checked, printed, read and exported.

#[path = "common/datatypes.rs"]
mod common;
#[path = "common/models.rs"]
mod models;

use common::run;
use models::read;
use shofar_horn::check::{Fault, Trust, Validity, check_graph_model, check_model, checked, export_model};
use shofar_horn::graph::NodeId;
use shofar_horn::infix::Notation;
use shofar_horn::transform::Transformed;
use shofar_horn::witness::{self, Explanation, GraphModel, Model, Witness, WitnessFormat};
use shofar_horn::{Context, HornGraph, parse, parse_in};
use shofar_logic::smtlib::Environment;
use shofar_logic::{FoldCase, FoldLemma, FoldSpec, Sort, TermStore};
use shofar_testing::{Random, scale, z3};

/// The judgement about a model, which does not depend on the trust.
fn judged(system: &str, model: &str) -> Validity {
    let store = TermStore::new();
    let context = Context::new(&store);
    let (system, model) = read(&store, system, model);
    let validity = check_model(&context, &system, &model, Trust::Solver);
    assert_eq!(check_model(&context, &system, &model, Trust::Proofs), validity);
    let checked = checked(&context, &system, Witness::Model(model));
    assert_eq!(checked.err().unwrap_or(Validity::Valid), validity);
    validity
}

/// The clause that a model violates, with the counterexample.
fn violated(system: &str, model: &str) -> (usize, String) {
    let store = TermStore::new();
    let context = Context::new(&store);
    let (system, model) = read(&store, system, model);
    match check_model(&context, &system, &model, Trust::Proofs) {
        Validity::Invalid(Fault::Violated { clause, counterexample }) => {
            let shown = counterexample.iter().map(|(variable, value)| {
                format!("{} = {}", store.display(*variable), store.display_value(value))
            });
            (clause + 1, shown.collect::<Vec<_>>().join(", "))
        }
        other => panic!("{other:?}"),
    }
}

const EVEN: &str = "(declare-datatypes ((nat 0)) (((zero) (succ (pred nat)))))
    (declare-fun even (nat) Bool)
    (assert (even zero))
    (assert (forall ((x nat)) (=> (even x) (even (succ (succ x))))))
    (assert (forall ((x nat)) (=> (and (even x) (even (succ x))) false)))";

const PARITY: &str =
    "(define-fun-rec st ((n nat)) Int (match n ((zero 0) ((succ m) (ite (= (st m) 0) 1 0)))))\n";

#[test]
fn an_automaton_proves_that_successors_of_even_numbers_are_not_even() {
    let model = format!("{PARITY}(define-fun even ((n nat)) Bool (= (st n) 0))");
    assert_eq!(judged(EVEN, &model), Validity::Valid);
    // With other final states, facts or queries are violated.
    let odd = format!("{PARITY}(define-fun even ((n nat)) Bool (= (st n) 1))");
    assert_eq!(violated(EVEN, &odd), (1, String::new()));
    let all = format!("{PARITY}(define-fun even ((n nat)) Bool (<= 0 (st n) 1))");
    assert_eq!(violated(EVEN, &all).0, 3);
}

#[test]
fn functions_that_call_each_other_prove_it_too() {
    let model = "(define-funs-rec ((e ((n nat)) Bool) (o ((n nat)) Bool))
        ((match n ((zero true) ((succ m) (o m)))) (match n ((zero false) ((succ m) (e m))))))
        (define-fun lemma ((n nat)) Bool (not (= (e n) (o n))))
        (define-fun even ((n nat)) Bool (e n))";
    assert_eq!(judged(EVEN, model), Validity::Valid);
    // Without the lemma the checker computes which values the two can have, and does not mind folds with infinitely many.
    let without = model.replace(
        "(define-fun lemma ((n nat)) Bool (not (= (e n) (o n))))",
        "(define-fun-rec size ((n nat)) Int (match n ((zero 1) ((succ m) (+ 1 (size m))))))",
    );
    let without = without.replace("Bool (e n))", "Bool (and (e n) (= (size n) (size n))))");
    assert_eq!(judged(EVEN, &without), Validity::Valid);
}

/// Reversing keeps the length.
const REVERSE: &str = "(declare-datatypes ((list 0)) (((nil) (cons (head Int) (tail list)))))
    (declare-fun App (list list list) Bool)(declare-fun Rev (list list) Bool)(declare-fun Len (list Int) Bool)
    (assert (forall ((y list)) (App nil y y)))
    (assert (forall ((a Int) (x list) (y list) (z list)) (=> (App x y z) (App (cons a x) y (cons a z)))))
    (assert (Rev nil nil))
    (assert (forall ((a Int) (x list) (r list) (s list))
        (=> (and (Rev x r) (App r (cons a nil) s)) (Rev (cons a x) s))))
    (assert (Len nil 0))
    (assert (forall ((a Int) (x list) (n Int)) (=> (Len x n) (Len (cons a x) (+ n 1)))))
    (assert (forall ((x list) (y list) (m Int) (n Int))
        (=> (and (Rev x y) (Len x m) (Len y n) (distinct m n)) false)))";

const LENGTHS: &str = "(define-fun-rec len ((l list)) Int (match l ((nil 0) ((cons h t) (+ 1 (len t))))))
    (define-fun lemma ((l list)) Bool (>= (len l) 0))
    (define-fun App ((x list) (y list) (z list)) Bool (= (len z) (+ (len x) (len y))))
    (define-fun Rev ((x list) (y list)) Bool (= (len x) (len y)))
    (define-fun Len ((x list) (n Int)) Bool (= n (len x)))";

#[test]
fn lengths_prove_that_reversing_keeps_the_length() {
    assert_eq!(judged(REVERSE, LENGTHS), Validity::Valid);
}

#[test]
fn a_wrong_length_is_refuted_by_a_counterexample() {
    let wrong = LENGTHS.replace("(= (len x) (len y))", "(= (len x) (+ 1 (len y)))");
    assert_eq!(violated(REVERSE, &wrong), (3, String::new()));
    let wrong = LENGTHS.replace("(= n (len x))", "(<= n (len x))");
    assert_eq!(violated(REVERSE, &wrong).0, 7);
    let wrong = LENGTHS.replace("(= (len z) (+ (len x) (len y)))", "(= (len z) (len x))");
    let (clause, values) = violated(REVERSE, &wrong);
    assert_eq!(clause, 1);
    assert!(values.starts_with("y = (cons"), "{values}");
}

#[test]
fn a_false_lemma_is_rejected_with_a_value() {
    let store = TermStore::new();
    let context = Context::new(&store);
    for (lemma, value) in [
        ("(>= (len l) 1)", "l = nil"),
        ("(<= (len l) 1)", "l = (cons"),
        ("(=> (> (len l) 0) (> (head l) 5))", "l = (cons"),
    ] {
        let (system, model) = read(&store, REVERSE, &LENGTHS.replace("(>= (len l) 0)", lemma));
        let validity = check_model(&context, &system, &model, Trust::Proofs);
        let Validity::Invalid(fault @ Fault::Lemma { .. }) = validity else {
            panic!("{lemma}: {validity:?}")
        };
        let shown = fault.display(&store, &system).to_string();
        assert!(shown.contains("is false") && shown.contains(value), "{shown}");
    }
}

#[test]
fn a_true_lemma_that_no_induction_proves_is_not_used() {
    // Its claim about a list says nothing about the tail.
    let model = LENGTHS.replace("(>= (len l) 0)", "(not (= (len l) (- 5)))");
    assert!(matches!(judged(REVERSE, &model), Validity::Unknown(_)));
}

/// Insertion sort keeps the number of occurrences of each element.
const SORT: &str = "(declare-datatypes ((list 0)) (((nil) (cons (head Int) (tail list)))))
    (declare-fun Ins (Int list list) Bool)(declare-fun Sort (list list) Bool)
    (declare-fun Count (Int list Int) Bool)
    (assert (forall ((x Int)) (Ins x nil (cons x nil))))
    (assert (forall ((x Int) (y Int) (l list)) (=> (<= x y) (Ins x (cons y l) (cons x (cons y l))))))
    (assert (forall ((x Int) (y Int) (l list) (r list)) (=> (and (> x y) (Ins x l r)) (Ins x (cons y l) (cons y r)))))
    (assert (Sort nil nil))
    (assert (forall ((x Int) (l list) (m list) (r list)) (=> (and (Sort l m) (Ins x m r)) (Sort (cons x l) r))))
    (assert (forall ((e Int)) (Count e nil 0)))
    (assert (forall ((e Int) (l list) (n Int)) (=> (Count e l n) (Count e (cons e l) (+ n 1)))))
    (assert (forall ((e Int) (x Int) (l list) (n Int)) (=> (and (Count e l n) (distinct e x)) (Count e (cons x l) n))))
    (assert (forall ((l list) (r list) (e Int) (m Int) (n Int))
        (=> (and (Sort l r) (Count e l m) (Count e r n) (distinct m n)) false)))";

const COUNTS: &str = "(define-fun-rec cnt ((l list) (g Int)) Int
        (match l ((nil 0) ((cons h t) (+ (cnt t g) (ite (= h g) 1 0))))))
    (define-fun Ins ((x Int) (l list) (r list)) Bool (forall ((g Int)) (= (cnt r g) (+ (cnt l g) (ite (= x g) 1 0)))))
    (define-fun Sort ((l list) (r list)) Bool (forall ((g Int)) (= (cnt l g) (cnt r g))))
    (define-fun Count ((e Int) (l list) (n Int)) Bool (= n (cnt l e)))";

#[test]
fn counts_of_a_ghost_prove_that_sorting_keeps_elements() {
    assert_eq!(judged(SORT, COUNTS), Validity::Valid);
    let wrong = COUNTS.replace("(ite (= x g) 1 0)", "(ite (= x g) 2 0)");
    assert_eq!(violated(SORT, &wrong).0, 1);
    // A body with ghosts has no counterexample that evaluation confirms.
    let weak = COUNTS.replace("(= n (cnt l e))", "(<= n (cnt l e))");
    assert!(matches!(judged(SORT, &weak), Validity::Unknown(_)));
}

/// The text of a model does not change if it is read again, in any format.
#[test]
fn models_with_folds_are_printed_and_read_again() {
    let families = "(define-funs-rec ((e ((n nat)) Bool) (o ((n nat)) Bool))
        ((match n ((zero true) ((succ m) (o m)))) (match n ((zero false) ((succ m) (e m))))))
        (define-fun lemma ((n nat)) Bool (not (= (e n) (o n))))
        (define-fun even ((n nat)) Bool (e n))";
    let parity = format!("{PARITY}(define-fun even ((n nat)) Bool (= (st n) 0))");
    for (system_text, model) in [(EVEN, &*parity), (EVEN, families), (REVERSE, LENGTHS), (SORT, COUNTS)] {
        for format in [WitnessFormat::Text, WitnessFormat::Json] {
            let store = TermStore::new();
            let (system, model) = read(&store, system_text, model);
            let text = Witness::Model(model.clone()).to_text(&store, &system, format);
            let other = TermStore::new();
            let (again_system, again) = read(&other, system_text, &text);
            let again_text = Witness::Model(again.clone()).to_text(&other, &again_system, format);
            assert_eq!(again_text, text);
            let judge = |store: &TermStore, system, model| {
                check_model(&Context::new(store), system, model, Trust::Proofs)
            };
            assert_eq!(judge(&other, &again_system, &again), Validity::Valid, "{text}");
            assert_eq!(judge(&store, &system, &model), Validity::Valid);
        }
    }
}

/// A random sum over the atoms.
fn random_sum(random: &mut Random, atoms: &[String]) -> String {
    let mut parts = vec![random.between(0, 4).to_string()];
    for _ in 0..random.between(1, 3) {
        let (atom, other) = (random.choose(atoms).clone(), random.choose(atoms).clone());
        parts.push(match random.below(4) {
            0 => atom,
            1 => format!("(* 3 {atom})"),
            2 => format!("(ite (and (< {atom} {other}) (distinct {other} 1)) (- {other}) 2)"),
            _ => format!("(mod {atom} 3)"),
        });
    }
    format!("(+ {})", parts.join(" "))
}

/// Reading what was printed gives the same functions, since equal families are one family.
#[test]
fn random_folds_are_the_same_after_printing_and_reading() {
    let clauses = "(declare-datatypes ((tree 0)) (((leaf (value Int)) (node (left tree) (right tree)))))
        (declare-fun P (tree Int) Bool)(assert (forall ((t tree) (x Int)) (P t x)))";
    let mut random = Random::new(11);
    for _ in 0..40 * scale() {
        let texts = ["f", "h"].map(|fun| {
            let other = if fun == "f" { "h" } else { "f" };
            let leaf = random_sum(&mut random, &["v".into(), "g".into()]);
            let calls =
                [format!("({fun} l g)"), format!("({other} r g)"), format!("({fun} r g)"), "g".into()];
            (format!("({fun} ((t tree) (g Int)) Int)"), leaf, random_sum(&mut random, &calls))
        });
        let signatures: String = texts.iter().map(|(signature, ..)| signature.as_str()).collect();
        let body = |(_, leaf, node): &(String, String, String)| {
            format!("(match t (((leaf v) {leaf}) ((node l r) {node}))) ")
        };
        let bodies: String = texts.iter().map(body).collect();
        let model = format!(
            "(define-funs-rec ({signatures}) ({bodies}))(define-fun P ((t tree) (x Int)) Bool (<= (f t x) (h t 7)))"
        );
        let store = TermStore::new();
        let (system, model) = read(&store, clauses, &model);
        for format in [WitnessFormat::Text, WitnessFormat::Json] {
            let text = Witness::Model(model.clone()).to_text(&store, &system, format);
            let (_, again) = read(&store, clauses, &text);
            assert_eq!(again, model, "{text}");
        }
    }
}

#[test]
fn a_model_shows_its_folds_and_lemmas() {
    let store = TermStore::new();
    let (system, model) = read(&store, REVERSE, LENGTHS);
    let text = Witness::Model(model).to_text(&store, &system, WitnessFormat::Text);
    let expected = "(
  (define-fun-rec len ((x list)) Int
    (match x ((nil 0) ((cons h t) (+ (len t) 1)))))
  (define-fun lemma ((x list)) Bool
    (>= (len x) 0))
  (define-fun App ";
    assert!(text.starts_with(expected), "{text}");
}

#[test]
fn recursion_that_is_not_structural_is_refused_at_its_position() {
    let store = TermStore::new();
    let mut environment = Environment::new(&store);
    let system = parse_in(&store, &mut environment, "system", EVEN).unwrap();
    let text = "sat\n(\n  (define-fun-rec f ((n nat)) Int (f (succ n)))\n)";
    let error = witness::read(&store, &mut environment, &system, "model", text).unwrap_err();
    let shown = error.to_string();
    assert!(shown.starts_with("model:3:19") && shown.contains("not structural"), "{shown}");
}

#[test]
fn explanations_define_recursive_functions() {
    let store = TermStore::new();
    let smtlib = Explanation { notation: Notation::Smtlib, ..Explanation::default() };
    for (system, model, explanation, expected) in [
        (
            REVERSE,
            LENGTHS,
            Explanation::default(),
            &["where\n    len([]) = 0\n    len(cons(h, t)) = len(t) + 1", "and by induction\n    len(x) ≥ 0"]
                [..],
        ),
        // A Peano number is written as a number.
        (SIZES, SIZES_MODEL, Explanation::default(), &["m = len(l)", "where\n    len([]) = 0"]),
        (SIZES, SIZES_MODEL, smtlib, &["(= (n zero) 0)", "(= (n (succ p)) (+ (n p) 1))"]),
    ] {
        let (system, model) = read(&store, system, model);
        let mut out = Vec::new();
        Witness::Model(model).explain(&store, &system, explanation, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        for part in expected {
            assert!(text.contains(part), "{text}");
        }
    }
}

// ---- exported conditions -------------------------------------------------------------------------------------

/// Lists whose lengths are Peano numbers.
const SIZES: &str = "(declare-datatypes ((nat 0)) (((zero) (succ (pred nat)))))
    (declare-datatypes ((list 0)) (((nil) (cons (head nat) (tail list)))))
    (declare-fun Size (list nat) Bool)
    (assert (Size nil zero))
    (assert (forall ((a nat) (x list) (n nat)) (=> (Size x n) (Size (cons a x) (succ n)))))
    (assert (forall ((x list) (m nat) (n nat)) (=> (and (Size x m) (Size x n) (distinct m n)) false)))";

const SIZES_MODEL: &str = "(define-fun-rec n ((x nat)) Int (match x ((zero 0) ((succ y) (+ 1 (n y))))))
    (define-fun-rec len ((l list)) Int (match l ((nil 0) ((cons h t) (+ 1 (len t))))))
    (define-fun Size ((l list) (m nat)) Bool (= (n m) (len l)))";

fn exported(system: &str, model: &str) -> String {
    let store = TermStore::new();
    let (system, model) = read(&store, system, model);
    let mut out = Vec::new();
    export_model(&store, &system, &model, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// The scripts of models that the checker accepts, with their numbers of queries.
fn scripts() -> Vec<(String, usize)> {
    let mutual = "(define-funs-rec ((e ((n nat)) Bool) (o ((n nat)) Bool))
        ((match n ((zero true) ((succ m) (o m)))) (match n ((zero false) ((succ m) (e m))))))
        (define-fun lemma ((n nat)) Bool (not (= (e n) (o n))))
        (define-fun even ((n nat)) Bool (e n))";
    let parity = format!("{PARITY}(define-fun even ((n nat)) Bool (= (st n) 0))");
    let cases = [
        (EVEN, &*parity, 5),
        (EVEN, mutual, 7),
        (REVERSE, LENGTHS, 9),
        (SORT, COUNTS, 9),
        (SIZES, SIZES_MODEL, 5),
    ];
    let script = |(system, model, queries)| {
        assert_eq!(judged(system, model), Validity::Valid);
        (exported(system, model), queries)
    };
    cases.into_iter().map(script).collect()
}

#[test]
fn z3_confirms_exported_models() {
    if !z3::is_installed() {
        return;
    }
    for (script, queries) in scripts() {
        let answers = z3::answers(&script).expect("it is installed");
        assert_eq!(answers, vec!["unsat"; queries], "{script}");
    }
}

#[test]
fn z3_rejects_exported_models_that_are_wrong() {
    if !z3::is_installed() {
        return;
    }
    let odd = format!("{PARITY}(define-fun even ((n nat)) Bool (= (st n) 1))");
    let wrong_lemma = LENGTHS.replace("(>= (len l) 0)", "(>= (len l) 1)");
    for (system, model, query) in [(EVEN, &*odd, 2), (REVERSE, &*wrong_lemma, 0)] {
        let script = format!("(set-option :timeout 2000)\n{}", exported(system, model));
        let answers = z3::answers(&script).expect("it is installed");
        assert_eq!(answers[query], "sat", "{script}");
    }
}

// ---- automata ------------------------------------------------------------------------------------------------

/// Trees whose left spines have even length, with an automaton of two states: only terms of states decide.
#[test]
fn tables_over_several_fields_are_decided() {
    let system = "(declare-datatypes ((tree 0)) (((leaf) (node (left tree) (right tree)))))
        (declare-fun even (tree) Bool)
        (assert (even leaf))
        (assert (forall ((u tree) (y tree) (z tree)) (=> (even u) (even (node (node u y) z)))))
        (assert (forall ((x tree) (y tree)) (=> (and (even x) (even (node x y))) false)))";
    let table = |cells: [u32; 4]| {
        let [a, b, c, d] = cells;
        format!(
            "(define-fun-rec q ((t tree)) Int (match t ((leaf 0) ((node l r)
                (ite (= (q l) 0) (ite (= (q r) 0) {a} {b}) (ite (= (q r) 0) {c} {d}))))))
             (define-fun lemma ((t tree)) Bool (and (<= 0 (q t)) (<= (q t) 1)))
             (define-fun even ((t tree)) Bool (= (q t) 0))"
        )
    };
    // All sixteen tables, and only one is a model.
    for code in 0..16_u32 {
        let cells = [0, 1, 2, 3].map(|cell| code >> cell & 1);
        let validity = judged(system, &table(cells));
        assert_eq!(validity == Validity::Valid, cells == [1, 1, 0, 0], "{cells:?}: {validity:?}");
        assert!(!matches!(validity, Validity::Unknown(_)), "{cells:?}: {validity:?}");
    }
}

/// A state with one value only is found by unfolding.
#[test]
fn a_finite_language_is_unfolded() {
    let system = "(declare-datatypes ((list 0)) (((nil) (cons (head Int) (tail list)))))
        (declare-fun P (list) Bool)
        (assert (P nil))
        (assert (forall ((x list) (y list)) (=> (and (P x) (P y) (distinct x y)) false)))";
    let model = "(define-fun-rec q ((l list)) Int (match l ((nil 0) ((cons h t) 1))))
        (define-fun P ((l list)) Bool (= (q l) 0))";
    assert_eq!(judged(system, model), Validity::Valid);
}

/// A word of six letters, deeper than terms are unfolded: its state has one value, and the next three have two together.
#[test]
fn the_values_of_finite_languages_are_known_at_any_depth() {
    let system = |variables: &str, body: &str| {
        format!(
            "(declare-datatypes ((word 0)) (((e) (a (a1 word)) (b (b1 word)))))
             (declare-fun P (word) Bool)
             (declare-fun Q (word) Bool)
             (assert (P (a (b (a (b (a (b e))))))))
             (assert (forall ({variables}) (=> (and {body}) false)))"
        )
    };
    // State i: the last i letters of the word. State 7: one letter more. State 8: all others.
    let model = "(define-fun-rec q ((w word)) Int (match w ((e 0)
            ((a v) (let ((n (q v))) (ite (or (= n 1) (= n 3) (= n 5)) (+ n 1) (ite (= n 6) 7 8))))
            ((b v) (let ((n (q v))) (ite (or (= n 0) (= n 2) (= n 4)) (+ n 1) (ite (= n 6) 7 8)))))))
        (define-fun P ((w word)) Bool (= (q w) 6))
        (define-fun Q ((w word)) Bool (= (q w) 7))";
    let two = "(x word) (y word)";
    let three = "(x word) (y word) (z word)";
    assert_eq!(judged(&system(two, "(P x) (P y) (distinct x y)"), model), Validity::Valid);
    assert_eq!(judged(&system(three, "(Q x) (Q y) (Q z) (distinct x y z)"), model), Validity::Valid);
    assert_ne!(judged(&system(two, "(Q x) (Q y) (distinct x y)"), model), Validity::Valid);
}

/// Random automata over words of two letters. Their finite languages have words of less than five letters.
#[test]
fn random_automata_agree_with_enumeration() {
    let (mut valid, mut invalid) = (0, 0);
    for seed in 0..24 * scale() {
        let mut random = Random::new(seed);
        // States go up to the sink 4 with some probability, so that some languages are finite.
        let mut next = |state: usize| {
            if random.below(3) > 0 { (state + 1 + random.below(4)).min(4) } else { random.below(5) }
        };
        let table: Vec<[usize; 2]> = (0..5).map(|state| [next(state), next(state)]).collect();
        let (p, q) = (random.below(4), random.below(5));
        let case = |letter: usize| {
            let cells = (0..4).map(|state| format!("(ite (= (q v) {state}) {} ", table[state][letter]));
            format!("{}{}{}", cells.collect::<String>(), table[4][letter], ")".repeat(4))
        };
        let system = "(declare-datatypes ((word 0)) (((e) (a (a1 word)) (b (b1 word)))))
            (declare-fun P (word) Bool)
            (declare-fun Q (word) Bool)
            (assert (forall ((x word) (y word)) (=> (and (P x) (Q (a y)) (distinct x y)) false)))";
        let model = format!(
            "(define-fun-rec q ((w word)) Int (match w ((e 0) ((a v) {}) ((b v) {}))))
             (define-fun P ((w word)) Bool (= (q w) {p}))
             (define-fun Q ((w word)) Bool (= (q w) {q}))",
            case(0),
            case(1)
        );
        // The states of all words up to ten letters.
        let mut states = vec![0];
        let mut last = states.clone();
        for _ in 0..10 {
            last = last.iter().flat_map(|&state: &usize| table[state]).collect();
            states.extend(&last);
        }
        let count =
            |is_counted: &dyn Fn(usize) -> bool| states.iter().filter(|&&state| is_counted(state)).count();
        let (with_p, with_q) = (count(&|state| state == p), count(&|state| table[state][0] == q));
        let with_both = count(&|state| state == p && table[state][0] == q);
        let holds = with_p * with_q == with_both;
        let validity = judged(system, &model);
        assert_eq!(validity == Validity::Valid, holds, "seed {seed}: {validity:?}\n{model}");
        *if holds { &mut valid } else { &mut invalid } += 1;
    }
    assert!(valid > 3 && invalid > 3, "{valid} {invalid}");
}

/// Programs of forks and joins, whose invariants need both equality and automata: example 10 of Kostyukov's thesis.
#[test]
fn formulas_with_automata_prove_forks_and_joins() {
    let system = "(declare-datatypes ((Prog 0)) (((Seq) (Fork (f Prog)) (Join (j Prog)))))
        (declare-fun ok (Prog) Bool)
        (declare-fun tr (Prog Prog) Bool)
        (assert (ok Seq))
        (assert (forall ((p Prog)) (=> (ok p) (ok (Fork (Join p))))))
        (assert (forall ((r Prog)) (tr Seq (Fork r))))
        (assert (forall ((p Prog)) (tr p (Join Seq))))
        (assert (forall ((p Prog) (t Prog)) (=> (tr p t) (tr (Fork (Join p)) (Fork (Join t))))))
        (assert (forall ((p Prog)) (=> (and (ok p) (tr p p)) false)))";
    let spine = |ok: &str, tr: &str| {
        format!(
            "(define-fun-rec q ((p Prog)) Int (match p ((Seq 0)
                ((Fork x) (ite (= (q x) 1) 0 2)) ((Join x) (ite (= (q x) 0) 1 2)))))
             (define-fun ok ((p Prog)) Bool {ok})
             (define-fun tr ((p Prog) (t Prog)) Bool {tr})"
        )
    };
    let parity = |ok: &str, tr: &str| {
        format!(
            "(define-fun-rec odd ((p Prog)) Bool (match p ((Seq false)
                ((Fork x) (not (odd x))) ((Join x) (not (odd x))))))
             (define-fun ok ((p Prog)) Bool {ok})
             (define-fun tr ((p Prog) (t Prog)) Bool {tr})"
        )
    };
    let valid = [
        spine("(= (q p) 0)", "(or (distinct p t) (distinct (q t) 0))"),
        parity("(or (= p Seq) (not (odd p)))", "(or (distinct p t) (= t (Join Seq)) (and (odd p) (odd t)))"),
    ];
    for model in &valid {
        assert_eq!(judged(system, model), Validity::Valid, "{model}");
    }
    let wrong = [
        (spine("(= (q p) 0)", "(distinct p t)"), 4),
        (spine("(<= (q p) 1)", "(or (distinct p t) (distinct (q t) 0))"), 2),
        (spine("(= (q p) 2)", "(or (distinct p t) (distinct (q t) 0))"), 1),
        (spine("(= (q p) 0)", "(distinct (q t) 0)"), 3),
        (spine("(= (q p) 0)", "(or (distinct p t) (= (q t) 1))"), 5),
        (parity("(= p Seq)", "(or (distinct p t) (= t (Join Seq)) (and (odd p) (odd t)))"), 2),
        (parity("(odd p)", "(or (distinct p t) (= t (Join Seq)) (and (odd p) (odd t)))"), 1),
        (parity("(not (odd p))", "(or (distinct p t) (= t (Join Seq)))"), 5),
        (parity("(not (odd p))", "(or (distinct p t) (not (odd t)) (odd p))"), 6),
    ];
    for (model, clause) in &wrong {
        assert_eq!(violated(system, model).0, *clause, "{model}");
    }
}

// ---- transformations -----------------------------------------------------------------------------------------

/// A fold of lists of integers, which stand for lists of Peano numbers, comes back with its lemma.
#[test]
fn a_fold_comes_back_through_the_transformation_of_peano_numbers() {
    let store = TermStore::new();
    let context = Context::new(&store);
    let text = "(declare-datatypes ((nat 0)) (((zero) (succ (pred nat)))))
        (declare-datatypes ((list 0)) (((nil) (cons (head nat) (tail list)))))
        (declare-fun Sum (list nat) Bool)
        (assert (Sum nil zero))
        (assert (forall ((x list) (n nat)) (=> (Sum x n) (Sum (cons (succ zero) x) (succ n)))))
        (assert (forall ((x list) (m nat) (n nat)) (=> (and (Sum x m) (Sum x n) (distinct m n)) false)))";
    let system = parse(&store, "system", text).unwrap();
    let old = HornGraph::of(&store, &system);
    let Transformed { graph: new, translation } = run(&context, "peano", &old);
    let &[list, number] = new.node(NodeId::new(0)).variables() else { panic!("two arguments") };
    let sort = store.sort_of(list);
    let &[nil, cons] = store.datatype(sort).unwrap().constructors() else { panic!("two constructors") };
    let sum = store.new_fold(store.fresh_symbol("sum"), sort, &[], Sort::INT);
    let [h, t] = [("h", Sort::INT), ("t", sort)].map(|(name, sort)| store.var(store.symbol(name), sort));
    let value = store.add(&[store.apply(sum, &[t]).unwrap(), h]);
    let cases = vec![
        FoldCase { constructor: nil, fields: [].into(), value: store.int(0) },
        FoldCase { constructor: cons, fields: [h, t].into(), value },
    ];
    let sum = store.define_folds(&[FoldSpec { fun: sum, ghosts: vec![], cases }]).unwrap()[0];
    let of_list = store.apply(sum, &[list]).unwrap();
    // It is true, but not needed.
    let formula = store.implies(store.tester(nil, list), store.eq(of_list, store.int(0)));
    store.claim_lemma(&FoldLemma { parameters: [list].into(), formula });
    let model = GraphModel::of_formulas([store.eq(of_list, number)]);
    assert_eq!(check_graph_model(&context, &new, &model), Ok(()));
    let back = translation.model_back(&context, model).unwrap();
    assert_eq!(check_graph_model(&context, &old, &back), Ok(()));
    let model = Model::of_graph(&store, &system, &old, &back);
    assert_eq!(model.lemmas.len(), 1);
    assert_eq!(check_model(&context, &system, &model, Trust::Proofs), Validity::Valid);
    let wrong =
        translation.model_back(&context, GraphModel::of_formulas([store.lt(of_list, number)])).unwrap();
    assert!(check_graph_model(&context, &old, &wrong).is_err());
}

/// Interpolation has to know that the list below a constructor is shorter by one.
#[test]
fn a_predicate_that_was_inlined_gets_a_formula_about_folds() {
    let store = TermStore::new();
    let context = Context::new(&store);
    let text = "(declare-datatypes ((list 0)) (((nil) (cons (head Int) (tail list)))))
        (declare-fun Len (list Int) Bool)(declare-fun Longer (list Int) Bool)
        (assert (Len nil 0))
        (assert (forall ((a Int) (x list) (n Int)) (=> (Len x n) (Len (cons a x) (+ n 1)))))
        (assert (forall ((a Int) (x list) (n Int)) (=> (Len x n) (Longer (cons a x) n))))
        (assert (forall ((a Int) (x list) (m Int) (n Int))
            (=> (and (Longer (cons a x) m) (Len x n) (distinct m n)) false)))";
    let old = HornGraph::of(&store, &parse(&store, "system", text).unwrap());
    let Transformed { graph: new, translation } = run(&context, "inline", &old);
    assert_eq!(new.nodes().len(), 1);
    let &[list, number] = new.node(NodeId::new(0)).variables() else { panic!("two arguments") };
    let sort = store.sort_of(list);
    let &[nil, cons] = store.datatype(sort).unwrap().constructors() else { panic!("two constructors") };
    let len = store.new_fold(store.fresh_symbol("len"), sort, &[], Sort::INT);
    let [h, t] = [("h", Sort::INT), ("t", sort)].map(|(name, sort)| store.var(store.symbol(name), sort));
    let value = store.add(&[store.apply(len, &[t]).unwrap(), store.int(1)]);
    let cases = vec![
        FoldCase { constructor: nil, fields: [].into(), value: store.int(0) },
        FoldCase { constructor: cons, fields: [h, t].into(), value },
    ];
    let len = store.define_folds(&[FoldSpec { fun: len, ghosts: vec![], cases }]).unwrap()[0];
    let model = GraphModel::of_formulas([store.eq(store.apply(len, &[list]).unwrap(), number)]);
    assert_eq!(check_graph_model(&context, &new, &model), Ok(()));
    let back = translation.model_back(&context, model).unwrap();
    assert_eq!(check_graph_model(&context, &old, &back), Ok(()));
}
