//! Regular invariants: models with recursive functions, accepted by the checker.

mod common;

use std::time::Duration;

use common::{Counters, LONG, assert_answer, proved_only_if_safe, read, solve};
use shofar_engines::regular::Options;
use shofar_engines::{Engine, Evidence, Regular, Run};
use shofar_horn::check::check_graph_model;
use shofar_horn::witness::GraphModel;
use shofar_logic::TermStore;
use shofar_run::{Reason, Stop};
use shofar_testing::scale;

const EVEN: &str = "(declare-datatypes ((Nat 0)) (((Z) (S (p Nat)))))
    (declare-fun even (Nat) Bool)
    (assert (forall ((x Nat)) (=> (= x Z) (even x))))
    (assert (forall ((x Nat) (y Nat)) (=> (and (= x (S (S y))) (even y)) (even x))))
    (assert (forall ((x Nat) (y Nat)) (=> (and (even x) (even y) (= y (S x))) false)))";

#[test]
fn models_are_accepted() {
    let evenly = "(declare-datatypes ((Tree 0)) (((leaf) (node (l Tree) (r Tree)))))
        (declare-fun even (Tree) Bool)
        (assert (even leaf))
        (assert (forall ((u Tree) (y Tree) (z Tree)) (=> (even u) (even (node (node u y) z)))))
        (assert (forall ((x Tree) (y Tree)) (=> (and (even x) (even (node x y))) false)))";
    let thirds = "(declare-datatypes ((Nat 0)) (((Z) (S (p Nat)))))
        (declare-fun inc (Nat Nat) Bool)(declare-fun dec (Nat Nat) Bool)
        (assert (inc Z (S Z)))
        (assert (forall ((x Nat) (y Nat)) (=> (inc x y) (inc (S x) (S y)))))
        (assert (dec (S Z) Z))
        (assert (forall ((x Nat) (y Nat)) (=> (dec x y) (dec (S x) (S y)))))
        (assert (forall ((x Nat) (y Nat)) (=> (and (inc x y) (dec x y)) false)))";
    let positive = "(declare-datatypes ((L 0)) (((nil) (cons (hd Int) (tl L)))))
        (declare-fun P (L) Bool)
        (assert (P nil))
        (assert (forall ((x Int) (l L)) (=> (and (P l) (> x 0)) (P (cons x l)))))
        (assert (forall ((x Int) (y Int) (l L)) (=> (and (P (cons x (cons y l))) (<= y 0)) false)))";
    let mutual = "(declare-datatypes ((T 0) (F 0)) (((leaf) (node (ch F))) ((fnil) (fcons (h T) (t F)))))
        (declare-fun even (F) Bool)(declare-fun odd (F) Bool)(declare-fun deep (T) Bool)
        (assert (even fnil))
        (assert (forall ((f F) (t T)) (=> (and (even f) (deep t)) (odd (fcons t f)))))
        (assert (forall ((f F)) (=> (odd f) (even (fcons leaf f)))))
        (assert (deep (node fnil)))
        (assert (forall ((f F)) (=> (odd f) (deep (node f)))))
        (assert (forall ((f F)) (=> (and (odd f) (even f)) false)))
        (assert (=> (deep leaf) false))";
    for text in [EVEN, evenly, thirds, positive, mutual] {
        assert_answer(&Regular::default(), text, true);
    }
}

/// The automaton for the complement violates the fact.
#[test]
fn a_wrong_automaton_is_refused() {
    let store = TermStore::new();
    let graph = read(&store, EVEN);
    let run = Run::new(&store);
    let Ok(Evidence::Sat(model)) = solve(&Regular::default(), &graph, &run) else { panic!("it has a model") };
    let complement = graph.nodes().map(|(node, _)| store.not(model.formula(node).unwrap()));
    let complement = GraphModel::of_formulas(complement);
    assert!(matches!(check_graph_model(&run.context(), &graph, &complement), Err(Stop::Internal(_))));
}

#[test]
fn the_search_ends_where_no_automaton_exists() {
    let store = TermStore::new();
    let text = "(declare-datatypes ((Nat 0)) (((Z) (S (p Nat)))))
        (declare-fun lt (Nat Nat) Bool)
        (assert (forall ((x Nat)) (lt Z (S x))))
        (assert (forall ((x Nat) (y Nat)) (=> (lt x y) (lt (S x) (S y)))))
        (assert (forall ((x Nat) (y Nat)) (=> (and (lt x y) (lt y x)) false)))";
    let graph = read(&store, text);
    let counters = Counters::default();
    let run = Run::new(&store).with_timeout(LONG).with_events(&counters);
    let answer = solve(&Regular { options: Options::default().states(5) }, &graph, &run);
    assert!(matches!(answer, Err(Stop::Exhausted(_))), "{answer:?}");
    assert_eq!(counters.get("states"), 5);
}

/// A tree with five binary constructors has too many tables to try them all.
#[test]
fn the_search_keeps_to_its_time() {
    let store = TermStore::new();
    let text = "(declare-datatypes ((T 0)) (((a) (b) (f (f0 T) (f1 T)) (g (g0 T) (g1 T)) (h (h0 T) (h1 T)))))
        (declare-fun E (T T) Bool)
        (assert (E a a))(assert (E b b))
        (assert (forall ((u T) (v T) (x T) (y T)) (=> (and (E u x) (E v y)) (E (f u v) (f x y)))))
        (assert (forall ((u T) (v T) (x T) (y T)) (=> (and (E u x) (E v y)) (E (g u v) (g x y)))))
        (assert (forall ((u T) (v T) (x T) (y T)) (=> (and (E u x) (E v y)) (E (h u v) (h x y)))))
        (assert (forall ((x T) (y T)) (=> (and (E x y) (not (= x y))) false)))";
    let graph = read(&store, text);
    let start = std::time::Instant::now();
    let run = Run::new(&store).with_timeout(Duration::from_millis(200));
    let answer = solve(&Regular { options: Options::default().states(15) }, &graph, &run);
    let is_over = matches!(answer, Err(Stop::Interrupted(Reason::Deadline) | Stop::Exhausted(_)));
    assert!(is_over, "{answer:?}");
    assert!(start.elapsed() < Duration::from_secs(10));
}

#[test]
fn random_systems_over_datatypes_are_proved_only_if_safe() {
    let proved =
        proved_only_if_safe(&Regular { options: Options::default().states(4) }, 1000..1000 + 12 * scale());
    assert!(proved > 10, "{proved}");
}

const LISTS: &str = "(declare-datatypes ((Nat 0)) (((Z) (S (p Nat)))))
    (declare-datatypes ((L 0)) (((nil) (cons (head Int) (tail L)))))
    (declare-fun App (L L L) Bool)
    (assert (forall ((y L)) (App nil y y)))
    (assert (forall ((h Int) (t L) (y L) (r L)) (=> (App t y r) (App (cons h t) y (cons h r)))))
    (declare-fun Rev (L L) Bool)
    (assert (Rev nil nil))
    (assert (forall ((h Int) (t L) (r L) (s L)) (=> (and (Rev t r) (App r (cons h nil) s)) (Rev (cons h t) s))))
    (declare-fun Add (Nat Nat Nat) Bool)
    (assert (forall ((y Nat)) (Add Z y y)))
    (assert (forall ((x Nat) (y Nat) (z Nat)) (=> (Add x y z) (Add (S x) y (S z)))))
    (declare-fun Sum (Int Int Int) Bool)
    (assert (forall ((y Int)) (=> (>= y 0) (Sum 0 y y))))
    (assert (forall ((x Int) (y Int) (z Int)) (=> (Sum x y z) (Sum (+ x 1) y (+ z 1)))))
    (declare-fun Even (L L) Bool)
    (assert (Even nil nil))
    (assert (forall ((k Int) (t L) (x L)) (=> (Even t x) (Even (cons k (cons k t)) x))))\n";

fn query(body: &str) -> String {
    format!(
        "{LISTS}(assert (forall ((x L) (y L) (a L) (b L) (k Nat) (l Nat) (m Nat) (n Nat) (i Int) (j Int) (v Int) (w Int))
            (=> (and {body}) false)))"
    )
}

/// Each law holds for more values than automata tell apart.
#[test]
fn laws_end_the_search_at_once() {
    for body in [
        "(App x y a) (App x y b) (distinct a b)",
        "(Rev x y) (Rev y a) (distinct x a)",
        "(Add k l m) (Add l k n) (distinct m n)",
        "(App x nil a) (distinct x a) (distinct y nil)",
        "(Sum i j v) (Sum i j w) (distinct v w)",
    ] {
        let store = TermStore::new();
        let found =
            Regular::default().solve(&read(&store, &query(body)), &Run::new(&store).with_timeout(LONG));
        let Err(Stop::Exhausted(reason)) = found else { panic!("{body}: {found:?}") };
        assert!(reason.contains("denies an equation"), "{body}: {reason}");
    }
}

/// Disequalities that automata can exclude: of values that are finitely many, or that other conditions mention, or that have no
/// equal partner.
#[test]
fn disequalities_that_are_no_laws_are_searched() {
    for body in [
        "(Even x y) (distinct y nil)",
        "(Even x y) (Even x a) (distinct y a)",
        "(Even (cons i x) y) (App x nil x) (distinct i i)",
        "(Even x y) (Even (cons i x) b) (distinct x a) (distinct y b)",
    ] {
        assert_answer(&Regular::default(), &query(body), true);
    }
}
