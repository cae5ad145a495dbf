//! Synchronous regular invariants: models with functions that read several values at once, accepted by the checker.

mod common;

use std::time::Duration;

use common::{assert_answer, proved_only_if_safe, read, solve};
use shofar_engines::{Evidence, Run, Synchronous};
use shofar_horn::check::check_graph_model;
use shofar_horn::witness::GraphModel;
use shofar_logic::TermStore;
use shofar_run::{Reason, Stop};
use shofar_testing::scale;

const ORDER: &str = "(declare-datatypes ((Nat 0)) (((Z) (S (p Nat)))))
    (declare-fun lt (Nat Nat) Bool)
    (assert (forall ((x Nat)) (lt Z (S x))))
    (assert (forall ((x Nat) (y Nat)) (=> (lt x y) (lt (S x) (S y)))))
    (assert (forall ((x Nat) (y Nat)) (=> (and (lt x y) (lt y x)) false)))";

/// Orders, successors, equality and disequality, with lookahead and repeated variables. `regular` proves none of the first four.
#[test]
fn models_are_accepted() {
    let programs = "(declare-datatypes ((Prog 0)) (((Seq) (Fork (f Prog)) (Join (j Prog)))))
        (declare-fun ok (Prog) Bool)(declare-fun tr (Prog Prog) Bool)
        (assert (ok Seq))
        (assert (forall ((p Prog)) (=> (ok p) (ok (Fork (Join p))))))
        (assert (forall ((r Prog)) (tr Seq (Fork r))))
        (assert (forall ((p Prog)) (tr p (Join Seq))))
        (assert (forall ((p Prog) (t Prog)) (=> (tr p t) (tr (Fork (Join p)) (Fork (Join t))))))
        (assert (forall ((p Prog)) (=> (and (ok p) (tr p p)) false)))";
    let next = "(declare-datatypes ((Nat 0)) (((Z) (S (p Nat)))))
        (declare-fun le (Nat Nat) Bool)
        (assert (forall ((x Nat)) (le x x)))
        (assert (forall ((x Nat) (y Nat)) (=> (le x y) (le x (S y)))))
        (assert (forall ((x Nat)) (=> (le (S x) x) false)))";
    let same_length = "(declare-datatypes ((L 0)) (((nil) (cons (hd Int) (tl L)))))
        (declare-fun P (L L) Bool)
        (assert (P nil nil))
        (assert (forall ((x Int) (y Int) (k L) (l L)) (=> (P k l) (P (cons x k) (cons y l)))))
        (assert (forall ((x Int) (l L)) (=> (P l (cons x l)) false)))";
    let even = "(declare-datatypes ((Tree 0)) (((leaf) (node (l Tree) (r Tree)))))
        (declare-fun even (Tree) Bool)
        (assert (even leaf))
        (assert (forall ((u Tree) (y Tree) (z Tree)) (=> (even u) (even (node (node u y) z)))))
        (assert (forall ((x Tree) (y Tree)) (=> (and (even x) (even (node x y))) false)))";
    for text in [ORDER, programs, next, same_length, even] {
        assert_answer(&Synchronous::default(), text, true);
    }
}

/// The automaton for the complement violates the fact.
#[test]
fn a_wrong_automaton_is_refused() {
    let store = TermStore::new();
    let graph = read(&store, ORDER);
    let run = Run::new(&store);
    let Ok(Evidence::Sat(model)) = solve(&Synchronous::default(), &graph, &run) else {
        panic!("it has a model")
    };
    let complement = graph.nodes().map(|(node, _)| store.not(model.formula(node).unwrap()));
    let complement = GraphModel::of_formulas(complement);
    assert!(matches!(check_graph_model(&run.context(), &graph, &complement), Err(Stop::Internal(_))));
}

/// Many constructors have many pairs.
#[test]
fn the_search_keeps_to_its_time() {
    let store = TermStore::new();
    let text = "(declare-datatypes ((T 0)) (((a) (b) (f (f0 T) (f1 T)) (g (g0 T) (g1 T)) (h (h0 T) (h1 T)))))
        (declare-fun E (T T T) Bool)
        (assert (forall ((x T)) (E a x x)))
        (assert (forall ((x T) (y T) (z T) (u T)) (=> (E x y z) (E (f x u) (g y u) (h z x)))))
        (assert (forall ((x T) (y T) (z T) (u T)) (=> (and (E x y z) (E z y u) (not (= x u))) false)))";
    let graph = read(&store, text);
    let start = std::time::Instant::now();
    let run = Run::new(&store).with_timeout(Duration::from_millis(200));
    let answer = solve(&Synchronous::default(), &graph, &run);
    let is_over = matches!(answer, Err(Stop::Interrupted(Reason::Deadline) | Stop::Exhausted(_)));
    assert!(is_over, "{answer:?}");
    assert!(start.elapsed() < Duration::from_secs(10));
}

#[test]
fn random_systems_over_datatypes_are_proved_only_if_safe() {
    let proved = proved_only_if_safe(&Synchronous::default(), 2000..2000 + 8 * scale());
    assert!(proved > 5, "{proved}");
}
