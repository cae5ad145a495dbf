//! Cells: loops over arrays, what one cell cannot express, and random programs whose answer is known from running them.

use std::time::Duration;

use shofar_engines::{Cells, Engine, Evidence, Run};
use shofar_horn::check::{Trust, Validity, check_model, check_refutation, export_model};
use shofar_horn::witness::{Model, Refutation};
use shofar_horn::{HornGraph, HornSystem, parse};
use shofar_logic::TermStore;
use shofar_run::Stop;
use shofar_testing::{Random, scale, z3};

/// Whether the engine finds a model; nothing if it finds neither a model nor a refutation. The checker accepts what it finds.
#[track_caller]
fn decided(text: &str, time: Duration) -> Option<bool> {
    let store = TermStore::new();
    let system = parse(&store, "test", text.as_bytes()).unwrap_or_else(|error| panic!("{error} in\n{text}"));
    let graph = HornGraph::of(&store, &system);
    let engine = Cells::default();
    engine.accepts(&store, &graph).unwrap();
    let run = Run::new(&store).with_timeout(time);
    match engine.solve(&graph, &run) {
        Ok(Evidence::Sat(model)) => {
            let model = Model::of_graph(&store, &system, &graph, &model);
            assert_confirmed(&store, &system, &model);
            let checked = check_model(&Run::new(&store), &system, &model, Trust::Proofs);
            assert_eq!(checked, Validity::Valid, "{text}");
            Some(true)
        }
        Ok(Evidence::Unsat(derivation)) => {
            let refutation = Refutation::of_graph(&run, &system, derivation).unwrap();
            assert_eq!(check_refutation(&run, &system, &refutation), Validity::Valid, "{text}");
            Some(false)
        }
        Ok(_) => panic!("the engine finds models and derivations only"),
        Err(Stop::Exhausted(_) | Stop::Interrupted(_)) => None,
        Err(stop) => panic!("{stop}: {text}"),
    }
}

/// Z3 finds no counterexample to a clause; it need not decide all of them.
#[track_caller]
fn assert_confirmed(store: &TermStore, system: &HornSystem, model: &Model) {
    if !z3::is_installed() {
        return;
    }
    let mut script = b"(set-option :timeout 2000)\n".to_vec();
    export_model(store, system, model, &mut script).unwrap();
    let script = String::from_utf8(script).unwrap();
    let answers = z3::answers(&script).expect("it is installed");
    assert_eq!(answers.len(), system.clauses.len(), "{script}");
    assert!(!answers.iter().any(|answer| answer == "sat"), "{answers:?}\n{script}");
    assert!(answers.iter().any(|answer| answer == "unsat"), "{answers:?}\n{script}");
}

/// The answer to a system with these variables in all of its clauses.
#[track_caller]
fn answer(declarations: &str, variables: &str, clauses: &[(&str, &str)]) -> Option<bool> {
    let clause =
        |(body, head): &(&str, &str)| format!("(assert (forall ({variables}) (=> {body} {head})))\n");
    let clauses: String = clauses.iter().map(clause).collect();
    decided(&format!("{declarations}\n{clauses}"), Duration::from_secs(120))
}

const ONE: &str = "(declare-fun P (Int Int (Array Int Int)) Bool)";
const NAMES: &str =
    "(i Int) (n Int) (k Int) (l Int) (v Int) (p Int) (q Int) (a (Array Int Int)) (b (Array Int Int))";

#[test]
fn a_loop_that_writes_zeros_leaves_zeros() {
    let query = |bound: &str| {
        let last = format!("(and (P i n a) (>= i n) (<= 0 k) ({bound} k n) (not (= (select a k) 0)))");
        answer(
            ONE,
            NAMES,
            &[
                ("(= i 0)", "(P i n a)"),
                ("(and (P i n a) (< i n))", "(P (+ i 1) n (store a i 0))"),
                (&last, "false"),
            ],
        )
    };
    assert_eq!(query("<"), Some(true));
    assert_eq!(query("<="), Some(false), "the element at n was never written");
}

#[test]
fn a_copy_between_pointers_has_one_index_for_both_arrays() {
    let found = answer(
        "(declare-fun P (Int Int Int Int (Array Int Int) (Array Int Int)) Bool)",
        NAMES,
        &[
            ("(= i 0)", "(P p q i n a b)"),
            ("(and (P p q i n a b) (< i n))", "(P p q (+ i 1) n a (store b (+ q i) (select a (+ p i))))"),
            (
                "(and (P p q i n a b) (>= i n) (<= 0 k) (< k n) (not (= (select a (+ p k)) (select b (+ q k)))))",
                "false",
            ),
        ],
    );
    assert_eq!(found, Some(true));
}

#[test]
fn equal_heaps_stay_equal() {
    let found = answer(
        "(declare-fun P (Int (Array Int Int) (Array Int Int)) Bool)",
        NAMES,
        &[
            ("(and (= a b) (= i 0))", "(P i a b)"),
            ("(P i a b)", "(P (+ i 1) (store a i v) (store b i v))"),
            ("(and (P i a b) (not (= a b)))", "false"),
        ],
    );
    assert_eq!(found, Some(true));
}

/// One cell derives `false` here, but no array does.
#[test]
fn two_elements_need_two_cells() {
    let found = answer(
        "(declare-fun P ((Array Int Int)) Bool)",
        NAMES,
        &[
            ("(= (select a 0) (select a 1))", "(P a)"),
            ("(and (P a) (not (= (select a 0) (select a 1))))", "false"),
        ],
    );
    assert_eq!(found, Some(true));
}

#[test]
fn a_refutation_has_an_array() {
    let found = answer(
        "(declare-fun P ((Array Int Int)) Bool)",
        NAMES,
        &[
            ("(= (select a 3) 7)", "(P a)"),
            ("(and (P a) (= (select a 4) 9) (= (select (store a 3 8) 3) 8))", "false"),
        ],
    );
    assert_eq!(found, Some(false));
}

#[test]
fn constant_arrays_are_their_element() {
    let found = answer(
        "(declare-fun P (Int (Array Int Int)) Bool)",
        NAMES,
        &[
            ("(and (= i 0) (= a ((as const (Array Int Int)) 0)))", "(P i a)"),
            ("(and (P i a) (>= i 0))", "(P (+ i 1) (store a i 0))"),
            ("(and (P i a) (not (= (select a 5) 0)))", "false"),
        ],
    );
    assert_eq!(found, Some(true));
}

#[test]
fn a_sorted_array_needs_two_indices() {
    let found = answer(
        ONE,
        NAMES,
        &[
            ("(= i 1)", "(P i n a)"),
            ("(and (P i n a) (< i n) (<= (select a (- i 1)) k))", "(P (+ i 1) n (store a i k))"),
            ("(and (P i n a) (>= i n) (<= 0 k) (<= k l) (< l n) (> (select a k) (select a l)))", "false"),
        ],
    );
    assert_eq!(found, Some(true));
}

#[test]
fn fields_of_tuples_are_arrays() {
    let heap = "(declare-datatypes ((Obj 0)) (((oi (val Int)) (od))))
        (declare-datatypes ((Heap 0)) (((mkh (size Int) (cont (Array Int Obj))))))
        (declare-fun P (Heap) Bool)";
    let allocated = answer(
        heap,
        "(h Heap) (x Int)",
        &[
            ("(= h (mkh 0 ((as const (Array Int Obj)) od)))", "(P h)"),
            ("(P h)", "(P (mkh (+ (size h) 1) (store (cont h) (+ (size h) 1) (oi 1))))"),
            ("(and (P h) (> x 0) (<= x (size h)) (not ((_ is oi) (select (cont h) x))))", "false"),
        ],
    );
    assert_eq!(allocated, Some(true));
    let state = "(declare-datatypes ((Key 0)) (((key (k1 Int) (k2 Int)))))
        (declare-datatypes ((St 0)) (((mks (bal (Array Int Int)) (hash (Array Key Int))))))
        (declare-fun P (Int St) Bool)";
    let balances = answer(
        state,
        "(t Int) (u Int) (v Int) (s St) (h (Array Key Int))",
        &[
            ("true", "(P t (mks ((as const (Array Int Int)) 0) h))"),
            (
                "(and (P t s) (>= v 0))",
                "(P t (mks (store (bal s) u (+ v (select (bal s) u))) (store (hash s) (key u v) 1)))",
            ),
            ("(and (P t s) (< (select (bal s) t) 0))", "false"),
        ],
    );
    assert_eq!(balances, Some(true));
}

#[test]
fn arrays_of_arrays_are_replaced_level_by_level() {
    let found = answer(
        "(declare-fun P ((Array Int (Array Int Int))) Bool)",
        "(m (Array Int (Array Int Int))) (i Int) (j Int) (v Int)",
        &[
            ("(= m ((as const (Array Int (Array Int Int))) ((as const (Array Int Int)) 0)))", "(P m)"),
            ("(and (P m) (> v 0))", "(P (store m i (store (select m i) j v)))"),
            ("(and (P m) (< (select (select m i) j) 0))", "false"),
        ],
    );
    assert_eq!(found, Some(true));
}

/// A second loop writes the elements of one array to another, from the last to the first.
#[test]
fn a_reversed_copy_is_a_mirror_image() {
    let last = "(- (- n 1) i)";
    let found = answer(
        "(declare-fun P (Int Int Int Int (Array Int Int) (Array Int Int)) Bool)",
        NAMES,
        &[
            ("(= i 0)", "(P p q i n a b)"),
            (
                &format!("(and (P p q i n a b) (< i n) (= v (select b (+ q {last}))))"),
                "(P p q (+ i 1) n (store a (+ p i) v) b)",
            ),
            (
                "(and (P p q i n a b) (>= i n) (<= 0 k) (< k n) (not (= (select a (+ p k)) (select b (+ q (- (- n 1) k))))))",
                "false",
            ),
        ],
    );
    assert_eq!(found, Some(true));
}

/// The places of the compared elements have the sum `2 * p + n - 1`.
#[test]
fn a_palindrome_is_its_own_mirror_image() {
    let system = |bound: &str| {
        let step = format!("(and (P p i n a) (< (* 2 i) n) (= v (select a (+ p (- (- n i) {bound})))))");
        answer(
            "(declare-fun P (Int Int Int (Array Int Int)) Bool) (declare-fun Q (Int Int Int (Array Int Int)) Bool)",
            NAMES,
            &[
                ("(and (> n 0) (= i 0))", "(P p i n a)"),
                (&step, "(P p (+ i 1) n (store a (+ p i) v))"),
                ("(and (P p i n a) (>= (* 2 i) n))", "(Q p 0 n a)"),
                (
                    "(and (Q p i n a) (< (* 2 i) n) (= (select a (+ p i)) (select a (+ p (- (- n i) 1)))))",
                    "(Q p (+ i 1) n a)",
                ),
                (
                    "(and (Q p i n a) (< (* 2 i) n) (not (= (select a (+ p i)) (select a (+ p (- (- n i) 1))))))",
                    "false",
                ),
            ],
        )
    };
    assert_eq!(system("1"), Some(true));
    assert_eq!(system("2"), Some(false), "the second element may differ from the last one");
}

/// Each element is one more than its neighbour, and the first one is zero.
#[test]
fn neighbours_are_one_step_apart() {
    let found = answer(
        ONE,
        NAMES,
        &[
            ("(= i 1)", "(P i n (store a 0 v))"),
            ("(and (P i n a) (< i n))", "(P (+ i 1) n (store a i (+ (select a (- i 1)) 1)))"),
            (
                "(and (P i n a) (>= i n) (<= 0 k) (< (+ k 1) n) (not (= (select a (+ k 1)) (+ (select a k) 1))))",
                "false",
            ),
        ],
    );
    assert_eq!(found, Some(true));
}

/// Nine arrays, each of which is copied from the one before. An atom for each pair of places would be too many.
#[test]
fn copies_of_copies_are_copies() {
    let arrays: Vec<String> = (0..9).map(|number| format!("a{number}")).collect();
    let arguments = "Int Int".to_owned() + &" (Array Int Int)".repeat(arrays.len());
    let mut text: String =
        (1..=arrays.len()).map(|it| format!("(declare-fun P{it} ({arguments}) Bool)\n")).collect();
    let variables: String = arrays.iter().map(|array| format!("({array} (Array Int Int)) ")).collect();
    let atom = |loop_: usize, i: &str, written: Option<usize>| {
        let values = arrays.iter().enumerate().map(|(number, array)| match written {
            Some(written) if written == number => format!("(store {array} i (select a{} i))", number - 1),
            _ => array.clone(),
        });
        format!("(P{loop_} {i} n {})", values.collect::<Vec<String>>().join(" "))
    };
    let mut add = |body: &str, head: &str| {
        text.push_str(&format!(
            "(assert (forall ((i Int) (n Int) (k Int) {variables}) (=> {body} {head})))\n"
        ));
    };
    let last = arrays.len();
    add("true", &atom(1, "0", None));
    for copied in 1..last {
        add(&format!("(and {} (< i n))", atom(copied, "i", None)), &atom(copied, "(+ i 1)", Some(copied)));
        add(&format!("(and {} (>= i n))", atom(copied, "i", None)), &atom(copied + 1, "0", None));
    }
    let differ = format!("(not (= (select a0 k) (select a{} k)))", last - 1);
    add(&format!("(and {} (<= 0 k) (< k n) {differ})", atom(last, "i", None)), "false");
    assert_eq!(decided(&text, Duration::from_secs(120)), Some(true));
}

/// Z3 issue 7554: no predicate has arrays.
#[test]
fn an_array_of_a_clause_keeps_the_cases_of_its_reads() {
    let found = answer(
        "(declare-fun u (Int) Bool) (declare-fun inv (Int Int Int) Bool)",
        "(f Int) (h Int) (d Int) (a (Array Int Int))",
        &[
            ("true", "(u 0)"),
            ("true", "(inv 0 0 8)"),
            ("(inv f 0 8)", "(inv (+ 1 f) h (select (store a f 0) h))"),
            ("(and (inv 1 d 8) (u d))", "false"),
        ],
    );
    assert_eq!(found, Some(true));
}

/// A program with one run: it starts with an array of zeros, and a step writes at `factor * i + at` what it reads at `i + from`,
/// plus `add`. The query asks for a value of an element after the last step.
fn run(random: &mut Random) -> (String, bool) {
    let mut number = |bound: usize| i64::try_from(random.below(bound)).expect("the bound is small");
    let (steps, factor, at, from, add) = (1 + number(3), number(2), number(2), number(3) - 1, number(3) - 1);
    let (start, place, guess) = (number(2), number(4), number(4) - 1);
    let mut array = std::collections::BTreeMap::new();
    for i in 0..steps {
        let read = array.get(&(i + from)).copied().unwrap_or(start);
        array.insert(factor * i + at, read + add);
    }
    let value = array.get(&place).copied().unwrap_or(start);
    let term = |number: i64| if number < 0 { format!("(- {})", -number) } else { number.to_string() };
    let [steps, factor, at, from, add, start, place, shown] =
        [steps, factor, at, from, add, start, place, guess].map(term);
    let text = format!(
        "(declare-fun P (Int (Array Int Int)) Bool)
        (assert (P 0 ((as const (Array Int Int)) {start})))
        (assert (forall ((i Int) (a (Array Int Int))) (=> (and (P i a) (< i {steps}))
            (P (+ i 1) (store a (+ (* {factor} i) {at}) (+ (select a (+ i {from})) {add}))))))
        (assert (forall ((a (Array Int Int))) (=> (and (P {steps} a) (= (select a {place}) {shown})) false)))"
    );
    (text, value != guess)
}

#[test]
fn random_programs_have_the_answer_of_their_run() {
    let mut random = Random::new(1);
    let (mut found, all) = (0, 30 * scale());
    for _ in 0..all {
        let (text, is_satisfiable) = run(&mut random);
        if let Some(answer) = decided(&text, Duration::from_secs(3)) {
            assert_eq!(answer, is_satisfiable, "{text}");
            found += 1;
        }
    }
    assert!(found * 2 > all, "{found} of {all} are decided");
}
