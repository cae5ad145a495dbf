//! Hulls over algebras: laws of lists, trees and numbers, and random systems against saturation.

use std::time::Duration;

use shofar_engines::{Algebras, Engine, Evidence, Run};
use shofar_horn::check::{Trust, Validity, check_model};
use shofar_horn::witness::{GraphModel, Model};
use shofar_horn::{HornGraph, HornSystem, parse};
use shofar_logic::TermStore;
use shofar_run::Stop;
use shofar_testing::datatype_systems::{self, Family};
use shofar_testing::explicit::Saturation;
use shofar_testing::{Random, scale};

fn system(store: &TermStore, text: &str) -> HornSystem {
    parse(store, "test", text.as_bytes()).unwrap_or_else(|error| panic!("{error} in\n{text}"))
}

/// The model that the engine finds, if any. The checker accepts it.
#[track_caller]
fn model(store: &TermStore, text: &str, time: Duration) -> Option<(HornGraph, GraphModel)> {
    let system = system(store, text);
    let graph = HornGraph::of(store, &system);
    let run = Run::new(store).with_timeout(time);
    Algebras.accepts(store, &graph).unwrap();
    match Algebras.solve(&graph, &run) {
        Ok(Evidence::Sat(model)) => {
            let definitions = Model::of_graph(store, &system, &graph, &model);
            let unlimited = Run::new(store);
            assert_eq!(
                check_model(&unlimited, &system, &definitions, Trust::Proofs),
                Validity::Valid,
                "{text}"
            );
            Some((graph, model))
        }
        Ok(Evidence::Induction(_) | Evidence::Saturation(_) | Evidence::Unsat(_)) => {
            panic!("the engine finds models")
        }
        Err(Stop::Exhausted(_) | Stop::Interrupted(_)) => None,
        Err(stop) => panic!("{stop}: {text}"),
    }
}

#[track_caller]
fn assert_proved(text: &str) {
    assert!(model(&TermStore::new(), text, Duration::from_secs(120)).is_some(), "{text}");
}

#[track_caller]
fn assert_not_proved(text: &str) {
    assert!(model(&TermStore::new(), text, Duration::from_secs(20)).is_none(), "{text}");
}

const LISTS: &str = "(declare-datatypes ((L 0)) (((nil) (cons (hd Int) (tl L)))))
    (declare-fun len (L Int) Bool) (declare-fun app (L L L) Bool) (declare-fun rev (L L) Bool)
    (assert (len nil 0))
    (assert (forall ((x Int) (l L) (n Int)) (=> (len l n) (len (cons x l) (+ n 1)))))
    (assert (forall ((l L)) (app nil l l)))
    (assert (forall ((x Int) (k L) (l L) (m L)) (=> (app k l m) (app (cons x k) l (cons x m)))))
    (assert (rev nil nil))
    (assert (forall ((x Int) (k L) (l L) (m L)) (=> (and (rev k l) (app l (cons x nil) m)) (rev (cons x k) m))))\n";

#[test]
fn a_list_is_as_long_as_its_reverse() {
    let law = "(assert (forall ((k L) (l L) (m Int) (n Int))
        (=> (and (len k m) (rev k l) (len l n) (not (= m n))) false)))";
    assert_proved(&format!("{LISTS}{law}"));
}

#[test]
fn lengths_of_lists_are_added() {
    let law = "(assert (forall ((k L) (l L) (m L) (a Int) (b Int) (c Int))
        (=> (and (app k l m) (len k a) (len l b) (len m c) (not (= c (+ a b)))) false)))";
    assert_proved(&format!("{LISTS}{law}"));
}

/// The components of different lists may be equal, so a difference of lists means nothing.
#[test]
fn what_holds_of_components_only_is_not_proved() {
    let commutes = "(assert (forall ((k L) (l L) (m L) (n L))
        (=> (and (app k l m) (app l k n) (not (= m n))) false)))";
    assert_not_proved(&format!("{LISTS}{commutes}"));
    let is_empty = "(assert (forall ((k L) (n Int)) (=> (and (rev k k) (not (= k nil)) (len k n)) false)))";
    assert_not_proved(&format!("{LISTS}{is_empty}"));
    let no_list = "(declare-datatypes ((L 0)) (((nil) (cons (hd Int) (tl L)))))
        (declare-fun P (L L) Bool)
        (assert (P (cons 1 nil) (cons 2 nil)))
        (assert (forall ((k L) (l L)) (=> (and (P k l) (not (= k l))) false)))";
    assert_not_proved(no_list);
}

#[test]
fn an_equation_with_the_empty_list_is_a_tester() {
    let law = "(assert (forall ((k L) (n Int)) (=> (and (len k n) (not (= k nil)) (= n 0)) false)))";
    assert_proved(&format!("{LISTS}{law}"));
}

#[test]
fn selectors_mean_something_below_their_constructor_only() {
    let tail = |guard: &str| {
        format!(
            "{LISTS}(assert (forall ((k L) (m Int) (n Int))
                (=> (and (len k m) {guard} (len (tl k) n) (not (= m (+ n 1)))) false)))"
        )
    };
    assert_proved(&tail("((_ is cons) k)"));
    assert_not_proved(&tail("(>= m 0)"));
}

const TREES: &str = "(declare-datatypes ((T 0)) (((leaf) (node (left T) (value Int) (right T)))))
    (declare-fun mirror (T T) Bool) (declare-fun height (T Int) Bool) (declare-fun max (Int Int Int) Bool)
    (assert (mirror leaf leaf))
    (assert (forall ((x Int) (a T) (b T) (c T) (d T))
        (=> (and (mirror a c) (mirror b d)) (mirror (node a x b) (node d x c)))))
    (assert (forall ((x Int) (y Int)) (=> (<= x y) (max x y y))))
    (assert (forall ((x Int) (y Int)) (=> (> x y) (max x y x))))
    (assert (height leaf 0))
    (assert (forall ((x Int) (a T) (b T) (m Int) (n Int) (k Int))
        (=> (and (height a m) (height b n) (max m n k)) (height (node a x b) (+ k 1)))))\n";

#[test]
fn a_tree_is_as_high_as_its_mirror_image() {
    let law = "(assert (forall ((a T) (b T) (m Int) (n Int))
        (=> (and (height a m) (mirror a b) (height b n) (not (= m n))) false)))";
    assert_proved(&format!("{TREES}{law}"));
}

#[test]
fn the_maximum_is_associative() {
    let text = "(declare-fun max (Int Int Int) Bool)
        (assert (forall ((y Int)) (=> (>= y 0) (max 0 y y))))
        (assert (forall ((x Int)) (=> (>= x 0) (max (+ x 1) 0 (+ x 1)))))
        (assert (forall ((x Int) (y Int) (z Int)) (=> (max x y z) (max (+ x 1) (+ y 1) (+ z 1)))))
        (assert (forall ((x Int) (y Int) (z Int) (a Int) (b Int) (c Int) (d Int))
            (=> (and (max x y a) (max a z b) (max y z c) (max x c d) (not (= b d))) false)))";
    assert_proved(text);
}

const SORT: &str = "(declare-datatypes ((L 0)) (((nil) (cons (hd Int) (tl L)))))
    (declare-fun ins (Int L L) Bool) (declare-fun sort (L L) Bool) (declare-fun sum (L Int) Bool)
    (assert (forall ((x Int)) (ins x nil (cons x nil))))
    (assert (forall ((x Int) (y Int) (l L)) (=> (<= x y) (ins x (cons y l) (cons x (cons y l))))))
    (assert (forall ((x Int) (y Int) (l L) (m L)) (=> (and (> x y) (ins x l m)) (ins x (cons y l) (cons y m)))))
    (assert (sort nil nil))
    (assert (forall ((x Int) (k L) (l L) (m L)) (=> (and (sort k l) (ins x l m)) (sort (cons x k) m))))
    (assert (sum nil 0))
    (assert (forall ((x Int) (l L) (n Int)) (=> (sum l n) (sum (cons x l) (+ n x)))))\n";

#[test]
fn sorting_keeps_the_sum() {
    let law = "(assert (forall ((k L) (l L) (m Int) (n Int))
        (=> (and (sum k m) (sort k l) (sum l n) (not (= m n))) false)))";
    assert_proved(&format!("{SORT}{law}"));
}

#[test]
fn insertion_sort_sorts() {
    let law = "(declare-fun sorted (L Bool) Bool)
        (assert (sorted nil true))
        (assert (forall ((x Int)) (sorted (cons x nil) true)))
        (assert (forall ((x Int) (y Int) (l L)) (=> (> x y) (sorted (cons x (cons y l)) false))))
        (assert (forall ((x Int) (y Int) (l L) (b Bool))
            (=> (and (<= x y) (sorted (cons y l) b)) (sorted (cons x (cons y l)) b))))
        (assert (forall ((k L) (l L)) (=> (and (sort k l) (sorted l false)) false)))";
    assert_proved(&format!("{SORT}{law}"));
}

/// Trees and forests depend on each other.
#[test]
fn mutually_recursive_datatypes_are_counted_together() {
    let text = "(declare-datatypes ((T 0) (F 0)) (((tree (children F))) ((none) (more (first T) (rest F)))))
        (declare-fun sizeT (T Int) Bool) (declare-fun sizeF (F Int) Bool) (declare-fun copy (T T) Bool)
        (declare-fun copies (F F) Bool)
        (assert (forall ((f F) (n Int)) (=> (sizeF f n) (sizeT (tree f) (+ n 1)))))
        (assert (sizeF none 0))
        (assert (forall ((t T) (f F) (m Int) (n Int)) (=> (and (sizeT t m) (sizeF f n)) (sizeF (more t f) (+ m n)))))
        (assert (forall ((f F) (g F)) (=> (copies f g) (copy (tree f) (tree g)))))
        (assert (copies none none))
        (assert (forall ((t T) (u T) (f F) (g F)) (=> (and (copy t u) (copies f g)) (copies (more t f) (more u g)))))
        (assert (forall ((t T) (u T) (m Int) (n Int))
            (=> (and (copy t u) (sizeT t m) (sizeT u n) (not (= m n))) false)))";
    assert_proved(text);
}

#[test]
fn no_unsafe_system_is_proved() {
    let mut proved = 0;
    let mut safe = 0;
    for family in [Family::Lists, Family::Sums, Family::Enumerations, Family::Numbers] {
        for seed in 0..25 * scale() {
            let text = datatype_systems::system(&mut Random::new(seed), family);
            let store = TermStore::new();
            let domain = 0..=datatype_systems::GREATEST;
            let old = HornGraph::of(&store, &system(&store, &text));
            let is_safe = Saturation::of(&store, &old, domain.clone()).is_safe();
            safe += u64::from(is_safe);
            if let Some((graph, model)) = model(&store, &text, Duration::from_secs(5)) {
                assert!(is_safe, "seed {seed} of {family:?}:\n{text}");
                assert_eq!(Saturation::violated(&store, &graph, domain, &model), None, "{text}");
                proved += 1;
            }
        }
    }
    assert!(proved * 4 >= safe, "{proved} of {safe} are proved");
}
