//! Hulls over algebras: laws of lists, trees and numbers, and random systems against saturation.

use std::time::Duration;

use shofar_engines::{Algebras, Engine, Evidence, Run};
use shofar_horn::check::{Trust, Validity, check_model, check_refutation};
use shofar_horn::transform::{Transformed, standard};
use shofar_horn::witness::{self, GraphModel, Model, Refutation, Witness, WitnessFormat};
use shofar_horn::{HornGraph, HornSystem, parse, parse_in};
use shofar_logic::smtlib::Environment;
use shofar_logic::{Op, TermStore};
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
        Ok(Evidence::Unsat(derivation)) => {
            let unlimited = Run::new(store);
            let refutation = Refutation::of_graph(&unlimited, &system, derivation).unwrap();
            assert_eq!(check_refutation(&unlimited, &system, &refutation), Validity::Valid, "{text}");
            None
        }
        Ok(Evidence::Induction(_) | Evidence::Saturation(_)) => {
            panic!("the engine finds models and derivations")
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

const COUNT: &str = "(declare-fun count (Int L Int) Bool)
    (assert (forall ((x Int)) (count x nil 0)))
    (assert (forall ((x Int) (l L) (n Int)) (=> (count x l n) (count x (cons x l) (+ n 1)))))
    (assert (forall ((x Int) (y Int) (l L) (n Int)) (=> (and (not (= x y)) (count x l n)) (count x (cons y l) n))))\n";

/// The invariant holds for any integer: what is inserted occurs once more, and all others as often as before.
#[test]
fn sorting_keeps_how_often_an_integer_occurs() {
    let law = "(assert (forall ((x Int) (k L) (l L) (m Int) (n Int))
        (=> (and (count x k m) (sort k l) (count x l n) (not (= m n))) false)))";
    assert_proved(&format!("{SORT}{COUNT}{law}"));
}

#[test]
fn sorting_keeps_the_members() {
    let law = "(declare-fun in (Int L Bool) Bool)
        (assert (forall ((x Int)) (in x nil false)))
        (assert (forall ((x Int) (l L)) (in x (cons x l) true)))
        (assert (forall ((x Int) (y Int) (l L) (b Bool)) (=> (and (not (= x y)) (in x l b)) (in x (cons y l) b))))
        (assert (forall ((x Int) (k L) (l L) (a Bool) (b Bool))
            (=> (and (in x k a) (sort k l) (in x l b) (not (= a b))) false)))";
    assert_proved(&format!("{SORT}{law}"));
}

#[test]
fn sorting_keeps_bounds() {
    let law = "(declare-fun small (Int L) Bool) (declare-fun large (Int L) Bool)
        (assert (forall ((x Int)) (small x nil)))
        (assert (forall ((x Int) (y Int) (l L)) (=> (and (<= y x) (small x l)) (small x (cons y l)))))
        (assert (forall ((x Int) (y Int) (l L)) (=> (> y x) (large x (cons y l)))))
        (assert (forall ((x Int) (y Int) (l L)) (=> (large x l) (large x (cons y l)))))
        (assert (forall ((x Int) (k L) (l L)) (=> (and (small x k) (sort k l) (large x l)) false)))";
    assert_proved(&format!("{SORT}{law}"));
}

#[test]
fn sorting_keeps_the_greatest() {
    let law = "(declare-fun max (L Int) Bool)
        (assert (forall ((x Int)) (max (cons x nil) x)))
        (assert (forall ((x Int) (l L) (m Int)) (=> (and (max l m) (>= m x)) (max (cons x l) m))))
        (assert (forall ((x Int) (l L) (m Int)) (=> (and (max l m) (< m x)) (max (cons x l) x))))
        (assert (forall ((k L) (l L) (m Int) (n Int))
            (=> (and (max k m) (sort k l) (max l n) (not (= m n))) false)))";
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

/// Binary numbers without zero, with the given constructors.
fn binary_numbers(constructors: &str, law: &str) -> String {
    format!(
        "(declare-datatypes ((B 0)) (({constructors})))
        (declare-fun succ (B B) Bool) (declare-fun plus (B B B) Bool)
        (assert (succ one (twice one)))
        (assert (forall ((x B)) (succ (twice x) (odd x))))
        (assert (forall ((x B) (y B)) (=> (succ x y) (succ (odd x) (twice y)))))
        (assert (forall ((x B) (y B)) (=> (succ x y) (plus one x y))))
        (assert (forall ((x B) (y B)) (=> (succ x y) (plus x one y))))
        (assert (forall ((x B) (y B) (z B)) (=> (plus x y z) (plus (twice x) (twice y) (twice z)))))
        (assert (forall ((x B) (y B) (z B)) (=> (plus x y z) (plus (twice x) (odd y) (odd z)))))
        (assert (forall ((x B) (y B) (z B)) (=> (plus x y z) (plus (odd x) (twice y) (odd z)))))
        (assert (forall ((x B) (y B) (z B) (u B)) (=> (and (plus x y z) (succ z u)) (plus (odd x) (odd y) (twice u)))))
        {law}"
    )
}

/// Different numerals are different numbers, so equal sums are equal numerals.
#[test]
fn the_sum_of_binary_numbers_is_associative() {
    let law = "(assert (forall ((x B) (y B) (z B) (a B) (b B) (c B) (d B))
        (=> (and (plus x y a) (plus a z b) (plus y z c) (plus x c d) (not (= b d))) false)))";
    assert_proved(&binary_numbers("(one) (twice (half B)) (odd (less B))", law));
    assert_proved(&binary_numbers("(odd (less B)) (one) (twice (half B))", law));
}

#[test]
fn a_binary_number_differs_from_its_successor() {
    let numbers = |law: &str| binary_numbers("(one) (twice (half B)) (odd (less B))", law);
    assert_proved(&numbers("(assert (forall ((x B)) (=> (succ x x) false)))"));
    assert_not_proved(&numbers("(assert (forall ((x B) (y B)) (=> (and (succ x y) (not (= x y))) false)))"));
}

/// The engine knows no functions such as these. It takes them from the clauses.
#[test]
fn functions_of_the_clauses_are_components() {
    let list = "(declare-datatypes ((L 0)) (((nil) (cons (hd Int) (tl L)))))";
    // The elements as digits.
    let weights = format!(
        "{list} (declare-fun w (L Int) Bool)
        (assert (w nil 5))
        (assert (forall ((x Int) (l L) (n Int)) (=> (w l n) (w (cons x l) (+ (* 2 n) (* 3 x))))))
        (declare-fun copy (L L) Bool)
        (assert (copy nil nil))
        (assert (forall ((x Int) (k L) (l L)) (=> (copy k l) (copy (cons x k) (cons x l)))))
        (assert (forall ((k L) (l L) (m Int) (n Int)) (=> (and (w k m) (copy k l) (w l n) (not (= m n))) false)))"
    );
    assert_proved(&weights);
    // The number of elements above an integer.
    let above = format!(
        "{list} (declare-fun above (Int L Int) Bool) (declare-fun swap (L L) Bool)
        (assert (forall ((x Int)) (above x nil 0)))
        (assert (forall ((x Int) (y Int) (l L) (n Int)) (=> (and (above x l n) (> y x)) (above x (cons y l) (+ n 1)))))
        (assert (forall ((x Int) (y Int) (l L) (n Int)) (=> (and (above x l n) (<= y x)) (above x (cons y l) n))))
        (assert (forall ((l L)) (swap l l)))
        (assert (forall ((x Int) (y Int) (k L) (l L)) (=> (swap k l) (swap (cons x (cons y k)) (cons y (cons x l))))))
        (assert (forall ((x Int) (k L) (l L) (m Int) (n Int))
            (=> (and (above x k m) (swap k l) (above x l n) (not (= m n))) false)))"
    );
    assert_proved(&above);
}

/// The hulls do not suffice: the difference of the lengths is at least -3 and at most 3.
#[test]
fn spacer_finds_invariants_of_components() {
    let text = "(declare-datatypes ((L 0)) (((nil) (cons (hd Int) (tl L)))))
        (declare-fun P (L L Int) Bool)
        (assert (P nil nil 0))
        (assert (forall ((k L) (l L) (n Int)) (=> (and (P k l n) (< n 3)) (P (cons n k) l (+ n 1)))))
        (assert (forall ((k L) (l L) (n Int)) (=> (and (P k l n) (> n (- 3))) (P k (cons n l) (- n 1)))))
        (assert (forall ((x Int) (y Int) (z Int) (u Int) (n Int))
            (=> (P (cons x (cons y (cons z (cons u nil)))) nil n) false)))";
    assert_proved(text);
}

/// A derivation from abstract clauses that values of datatypes confirm.
#[test]
fn an_abstract_derivation_with_values_is_a_refutation() {
    let text = "(declare-datatypes ((L 0)) (((nil) (cons (hd Int) (tl L)))))
        (declare-fun P (L Int) Bool)
        (assert (P nil 0))
        (assert (forall ((k L) (n Int)) (=> (P k n) (P (cons n k) (+ n 1)))))
        (assert (forall ((k L) (n Int)) (=> (and (P k n) (= (hd k) 2) ((_ is cons) k)) false)))";
    let store = TermStore::new();
    let system = system(&store, text);
    let graph = HornGraph::of(&store, &system);
    let run = Run::new(&store);
    match Algebras.solve(&graph, &run) {
        Ok(Evidence::Unsat(derivation)) => {
            let refutation = Refutation::of_graph(&run, &system, derivation).unwrap();
            assert_eq!(check_refutation(&run, &system, &refutation), Validity::Valid);
        }
        other => panic!("{other:?}"),
    }
}

/// Of all functions that the engine tries, one is left in the model.
#[test]
fn a_model_mentions_what_it_needs_only() {
    let law = "(assert (forall ((k L) (l L) (m Int) (n Int))
        (=> (and (sum k m) (sort k l) (sum l n) (not (= m n))) false)))";
    let store = TermStore::new();
    let (graph, model) = model(&store, &format!("{SORT}{law}"), Duration::from_secs(120)).unwrap();
    for (id, node) in graph.nodes() {
        let formula = model.formula(id).unwrap();
        assert_eq!(store.op(formula), Op::Eq, "{}: {}", store.name(node.name), store.display(formula));
        assert_eq!(store.folds_in(&[formula]).len(), 1, "{}", store.display(formula));
    }
}

/// A certificate is printed and read again. It is checked for the clauses, and not accepted with another function.
#[test]
fn a_printed_model_with_a_ghost_is_valid() {
    let law = "(assert (forall ((x Int) (k L) (l L) (m Int) (n Int))
        (=> (and (count x k m) (sort k l) (count x l n) (not (= m n))) false)))";
    let text = format!("{SORT}{COUNT}{law}");
    let store = TermStore::new();
    let (graph, found) = model(&store, &text, Duration::from_secs(120)).unwrap();
    let old = system(&store, &text);
    let witness = Witness::Model(Model::of_graph(&store, &old, &graph, &found));
    let printed = witness.to_text(&store, &old, WitnessFormat::Text);
    assert!(printed.contains("(forall ((g Int))"), "{printed}");
    let checked = |printed: &str| {
        let store = TermStore::new();
        let mut environment = Environment::new(&store);
        let system = parse_in(&store, &mut environment, "test", &text).unwrap();
        let Ok(Witness::Model(model)) = witness::read(&store, &mut environment, &system, "model", printed)
        else {
            panic!("a model is printed: {printed}")
        };
        check_model(&Run::new(&store), &system, &model, Trust::Proofs)
    };
    assert_eq!(checked(&printed), Validity::Valid, "{printed}");
    let claims_more = printed.replacen("(= h g) 1 0)", "(= h g) 1 2)", 1);
    assert_ne!(claims_more, printed);
    assert!(matches!(checked(&claims_more), Validity::Invalid(_) | Validity::Unknown(_)), "{claims_more}");
}

/// Transformations remove `two`. It has a meaning for all ghosts, although its clauses apply no function.
#[test]
fn models_with_ghosts_come_back_through_transformations() {
    let pairs = "(declare-datatypes ((L 0)) (((nil) (cons (hd Int) (tl L)))))
        (declare-fun two (Int Int L) Bool) (declare-fun pairs (L L) Bool)
        (assert (forall ((x Int) (y Int)) (=> (<= x y) (two x y (cons x (cons y nil))))))
        (assert (forall ((x Int) (y Int)) (=> (> x y) (two x y (cons y (cons x nil))))))
        (assert (pairs nil nil))
        (assert (forall ((x Int) (y Int) (a Int) (b Int) (k L) (l L))
            (=> (and (two x y (cons a (cons b nil))) (pairs k l)) (pairs (cons x (cons y k)) (cons a (cons b l))))))";
    let law = "(assert (forall ((x Int) (k L) (l L) (m Int) (n Int))
        (=> (and (count x k m) (pairs k l) (count x l n) (not (= m n))) false)))";
    let store = TermStore::new();
    let run = Run::new(&store);
    let system = system(&store, &format!("{pairs}{COUNT}{law}"));
    let old = HornGraph::of(&store, &system);
    let (Transformed { graph, translation }, _) = standard().run(&run, old.clone());
    assert!(graph.nodes().len() < old.nodes().len());
    let Ok(Evidence::Sat(model)) = Algebras.solve(&graph, &run) else { panic!("there is a model") };
    let back = translation.model_back(&run, model).unwrap();
    let model = Model::of_graph(&store, &system, &old, &back);
    assert_eq!(check_model(&run, &system, &model, Trust::Proofs), Validity::Valid);
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
