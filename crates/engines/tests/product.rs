//! Products of predicates: laws of functions on lists and trees, and random systems against saturation.

mod common;

use std::time::Duration;

use common::LONG;
use shofar_engines::{Engine, Evidence, Products, Run};
use shofar_horn::check::{Trust, Validity, check_induction};
use shofar_horn::{HornGraph, parse};
use shofar_logic::TermStore;
use shofar_run::Stop;
use shofar_testing::explicit::Saturation;
use shofar_testing::{Random, scale};

/// Solves clauses and checks the proof. Returns the number of its lemmas.
fn proof(text: &str) -> Result<usize, Stop> {
    let store = TermStore::new();
    let system = parse(&store, "test", text.as_bytes()).expect("the test's clauses are right");
    let run = Run::new(&store).with_timeout(LONG);
    let graph = HornGraph::within(&run, &system)?;
    Products.accepts(&store, &graph)?;
    match Products.solve(&graph, &run)? {
        Evidence::Induction(proof) => {
            let validity = check_induction(&Run::new(&store).context(), &system, &proof, Trust::Proofs);
            assert_eq!(validity, Validity::Valid, "{text}");
            Ok(proof.lemmas.len())
        }
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn assert_proved(text: &str) {
    assert!(matches!(proof(text), Ok(1..)), "{:?}: {text}", proof(text));
}

const LISTS: &str = "(declare-datatypes ((L 0)) (((nil) (cons (head Int) (tail L)))))
    (declare-fun App (L L L) Bool)
    (assert (forall ((y L)) (App nil y y)))
    (assert (forall ((h Int) (t L) (y L) (r L)) (=> (App t y r) (App (cons h t) y (cons h r)))))
    (declare-fun Len (L Int) Bool)
    (assert (Len nil 0))
    (assert (forall ((h Int) (t L) (n Int)) (=> (Len t n) (Len (cons h t) (+ n 1)))))
    (declare-fun Count (Int L Int) Bool)
    (assert (forall ((x Int)) (Count x nil 0)))
    (assert (forall ((x Int) (t L) (n Int)) (=> (Count x t n) (Count x (cons x t) (+ n 1)))))
    (assert (forall ((x Int) (y Int) (t L) (n Int)) (=> (and (Count x t n) (distinct x y)) (Count x (cons y t) n))))
    (declare-fun Drop (Int L L) Bool)
    (assert (forall ((n Int) (x L)) (=> (<= n 0) (Drop n x x))))
    (assert (forall ((n Int)) (=> (> n 0) (Drop n nil nil))))
    (assert (forall ((n Int) (h Int) (t L) (r L)) (=> (and (> n 0) (Drop (- n 1) t r)) (Drop n (cons h t) r))))\n";

/// A query over lists `x, y, z, a, b, c, d` and numbers `k, m, n`.
fn law(body: &str) -> String {
    format!(
        "{LISTS}(assert (forall ((x L) (y L) (z L) (a L) (b L) (c L) (d L) (k Int) (m Int) (n Int))
            (=> (and {body}) false)))"
    )
}

#[test]
fn append_is_a_function() {
    assert_proved(&law("(App x y a) (App x y b) (distinct a b)"));
}

#[test]
fn append_is_associative() {
    assert_proved(&law("(App x y a) (App a z b) (App y z c) (App x c d) (distinct b d)"));
}

#[test]
fn append_is_injective() {
    assert_proved(&law("(App x y a) (App x z a) (distinct y z)"));
}

/// Lengths exclude that one of the lists is empty and the other is not.
#[test]
fn append_is_injective_on_the_left() {
    assert_proved(&law("(App x z a) (App y z a) (distinct x y)"));
}

#[test]
fn append_adds_lengths_and_counts() {
    assert_proved(&law("(App x y a) (Len x k) (Len y m) (Len a n) (distinct n (+ k m))"));
    assert_proved(&law("(App x y a) (Count k x m) (Count k a n) (> m n)"));
}

#[test]
fn dropping_twice_drops_the_sum() {
    assert_proved(&law(
        "(>= k 0) (>= m 0) (= n (+ k m)) (Drop k x a) (Drop m a b) (Drop n x c) (distinct b c)",
    ));
}

/// The query speaks of lists of known heads; what is left after unfolding are two calls of one function.
#[test]
fn functions_of_one_list_agree() {
    let last = "(declare-fun Last (L Int) Bool)
        (assert (Last nil 0))
        (assert (forall ((h Int)) (Last (cons h nil) h)))
        (assert (forall ((h Int) (k Int) (t L) (n Int)) (=> (Last (cons k t) n) (Last (cons h (cons k t)) n))))\n";
    for body in [
        "(Last (cons k y) m) (Last (cons 7 (cons k y)) n) (distinct m n)",
        "(Count k x m) (Count k (cons 7 x) n) (distinct k 7) (distinct m n)",
    ] {
        assert_proved(&law(body).replacen(LISTS, &format!("{LISTS}{last}"), 1));
    }
}

/// The property is stated by a predicate of its own, with several clauses.
#[test]
fn a_property_of_several_cases() {
    let cases = "(declare-fun Bad () Bool)
        (assert (forall ((x L) (y L) (a L) (m Int) (n Int)) (=> (and (App x y a) (Len x m) (Len a n) (> m n)) Bad)))
        (assert (forall ((x L) (y L) (a L) (b L)) (=> (and (App x y a) (App x y b) (distinct a b)) Bad)))
        (assert (=> Bad false))";
    assert_proved(&format!("{LISTS}{cases}"));
}

#[test]
fn mirroring_twice_gives_the_same_tree() {
    assert_proved(
        "(declare-datatypes ((T 0)) (((leaf) (node (left T) (value Int) (right T)))))
         (declare-fun M (T T) Bool)
         (assert (M leaf leaf))
         (assert (forall ((l T) (v Int) (r T) (a T) (b T)) (=> (and (M l a) (M r b)) (M (node l v r) (node b v a)))))
         (assert (forall ((x T) (y T) (z T)) (=> (and (M x y) (M y z) (distinct x z)) false)))",
    );
}

/// The answer belongs to other engines.
#[test]
fn no_proof_of_what_is_false() {
    for body in ["(App x y a) (App y x b) (distinct a b)", "(App x y a) (Len a n) (Len x n)"] {
        assert!(matches!(proof(&law(body)), Err(Stop::Exhausted(_))), "{body}");
    }
}

#[test]
fn clauses_without_structures_are_refused() {
    let text = "(declare-fun P (Int) Bool)(assert (P 0))(assert (forall ((x Int)) (=> (and (P x) (P (+ x 1))) false)))";
    assert!(matches!(proof(text), Err(Stop::Unsupported(_))));
    // The query has one atom, and no product is made.
    let single = law("(Count k x (- 1))");
    assert!(matches!(proof(&single), Err(Stop::Exhausted(_))));
}

/// A law about a few calls of functions, true or not.
fn random_law(random: &mut Random) -> String {
    let calls =
        ["(App x y a)", "(App x y b)", "(App x a b)", "(Len x m)", "(Len a m)", "(Len b n)", "(Count k x m)"];
    let compared = ["(distinct a b)", "(distinct x a)", "(> m n)", "(< m n)"];
    let calls: Vec<&str> = (0..2 + random.below(2)).map(|_| *random.choose::<&str>(&calls)).collect();
    format!("{} {}", calls.join(" "), random.choose::<&str>(&compared))
}

/// Whether small values refute a law.
fn is_refuted(text: &str) -> bool {
    let store = TermStore::new();
    let graph = common::read(&store, text);
    !Saturation::of(&store, &graph, 0..=1).is_safe()
}

/// The checker accepts all proofs, and no law that small values refute has one.
#[test]
fn random_laws() {
    let (mut proofs, laws) = (0, 300 * scale());
    for seed in 0..laws {
        let text = law(&random_law(&mut Random::new(seed)));
        let store = TermStore::new();
        let system = parse(&store, "test", text.as_bytes()).expect("generated clauses are right");
        let run = Run::new(&store).with_timeout(Duration::from_millis(300));
        if let Ok(Evidence::Induction(proof)) = Products.solve(&HornGraph::of(&store, &system), &run) {
            assert!(!is_refuted(&text), "{text}");
            let validity = check_induction(&Run::new(&store).context(), &system, &proof, Trust::Proofs);
            assert_eq!(validity, Validity::Valid, "{text}");
            proofs += 1;
        }
    }
    assert!(proofs * 50 >= laws, "only {proofs} proofs of {laws}");
}
