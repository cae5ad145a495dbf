//! What models mean, in words, and the automata among their functions.

#[path = "common/models.rs"]
mod models;

use shofar_horn::HornSystem;
use shofar_horn::infix::Notation;
use shofar_horn::witness::{Explanation, Interpretation, Model, TreeAutomaton, Witness, in_words};
use shofar_logic::TermStore;

const SORTS: &str = "(declare-datatypes ((nat 0)) (((zero) (succ (pred nat)))))
    (declare-datatypes ((list 0)) (((nil) (cons (head Int) (tail list)))))
    (declare-datatypes ((tree 0)) (((leaf) (node (left tree) (right tree)))))
    (declare-fun P (list list tree nat Int) Bool)
    (assert (forall ((x list) (y list) (t tree) (k nat) (n Int)) (=> (P x y t k n) (P x y t k n))))";

const FUNCTIONS: &str = "
    (define-fun-rec number ((k nat)) Int (match k ((zero 0) ((succ j) (+ (number j) 1)))))
    (define-fun-rec f ((l list)) Int (match l ((nil 0) ((cons h t) (+ 1 (f t))))))
    (define-fun-rec weight ((l list)) Int (match l ((nil 0) ((cons h t) (+ h (weight t))))))
    (define-fun-rec times ((l list) (g Int)) Int (match l ((nil 0) ((cons h t) (+ (ite (= h g) 1 0) (times t g))))))
    (define-fun-rec nodes ((t tree)) Int (match t ((leaf 0) ((node l r) (+ 1 (nodes l) (nodes r))))))
    (define-fun-rec all ((t tree)) Int (match t ((leaf 1) ((node l r) (+ 1 (all l) (all r))))))
    (define-fun-rec left2 ((t tree)) Int (match t ((leaf 0) ((node l r) (+ 2 (left2 l))))))
    (define-fun-rec odd ((l list)) Bool (match l ((nil false) ((cons h t) (not (odd t))))))
    (define-fun-rec third ((l list)) Int (match l ((nil 0) ((cons h t) (ite (= (third t) 2) 0 (+ (third t) 1))))))
    (define-fun-rec spine ((t tree)) Bool (match t ((leaf false) ((node l r) (not (spine l))))))\n";

fn read(store: &TermStore, body: &str) -> (HornSystem, Model) {
    let parameters = "(x list) (y list) (t tree) (k nat) (n Int)";
    models::read(store, SORTS, &format!("{FUNCTIONS}(define-fun P ({parameters}) Bool {body})"))
}

fn words(body: &str) -> Option<String> {
    let store = TermStore::new();
    let (_, model) = read(&store, body);
    let Interpretation::Formula(formula) = model.definitions[0].interpretation;
    in_words(&store, Notation::default(), formula)
}

#[test]
fn functions_have_the_names_that_people_use() {
    for (body, expected) in [
        ("(= (mod (f x) 2) 0)", "the length of x is even"),
        ("(not (= (mod (f x) 2) 0))", "the length of x is odd"),
        ("(= (mod (f x) 3) 0)", "the length of x is divisible by 3"),
        ("(= (f x) (+ (f y) 1))", "the length of x is the length of y plus 1"),
        ("(<= (weight x) n)", "the sum of x is at most n"),
        ("(> (nodes t) 4)", "the number of node in t is greater than 4"),
        ("(= (all t) n)", "the size of t is n"),
        ("(= (times x n) (times y n))", "the number of n in x is the number of n in y"),
        ("(= (number k) (f x))", "k is the length of x"),
        ("(odd x)", "the length of x is odd"),
        ("(not (odd x))", "the length of x is even"),
        ("(= (third x) 1)", "the length of x modulo 3 is 1"),
        ("(and (= x nil) (odd y))", "x is empty, and the length of y is odd"),
        (
            "(or (and ((_ is leaf) t) (= (f x) 0)) (= (f x) 2))",
            "t is leaf, and the length of x is 0; or the length of x is 2",
        ),
    ] {
        assert_eq!(words(body).as_deref(), Some(expected), "{body}");
    }
}

/// Words must not say something else: what has no name stays a formula.
#[test]
fn functions_without_a_name_have_no_words() {
    for body in [
        "(= (left2 t) 2)",
        "(spine t)",
        "(and (odd x) (or (odd y) (= n 0)))",
        "(= n 0)",
        "(= (f (cons n x)) 3)",
        "(= (f x) (div n 2))",
    ] {
        assert_eq!(words(body), None, "{body}");
    }
}

#[test]
fn explanations_show_words_and_automata() {
    let store = TermStore::new();
    let (system, model) = read(&store, "(and (odd x) (spine t))");
    let mut out = Vec::new();
    Witness::Model(model).explain(&store, &system, Explanation::default(), &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    for expected in
        ["automaton odd", "nil → false", "cons(_, true) → false", "automaton spine", "node(false, _) → true"]
    {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    assert!(!text.contains("in words"), "{text}");
}

#[test]
fn a_rule_asks_only_for_states_that_matter() {
    let store = TermStore::new();
    let (system, model) = read(&store, "(and (spine t) (= (third x) 0) (= (f x) 0))");
    let recursion = model.recursion(&store, &system);
    let automata = recursion.automata();
    // The length has infinitely many values.
    let sizes: Vec<(usize, usize)> =
        automata.iter().map(|(_, automaton)| (automaton.states.len(), automaton.rules.len())).collect();
    assert_eq!(sizes.len(), 2);
    assert!(sizes.contains(&(2, 3)) && sizes.contains(&(3, 4)), "{sizes:?}");
    let targets =
        |automaton: &TreeAutomaton| automaton.rules.iter().all(|rule| rule.target < automaton.states.len());
    assert!(automata.iter().all(|(_, automaton)| targets(automaton)));
}
