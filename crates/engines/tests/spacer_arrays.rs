//! Spacer on systems with arrays: known answers, and random systems against explicit solving.

mod common;

use std::time::Duration;

use common::{assert_answer, read, solve};
use shofar_engines::spacer::{LemmaForm, Options, Spacer};
use shofar_engines::{Evidence, InterpolationMethod, Run};
use shofar_logic::{SortKind, TermStore};
use shofar_testing::array_systems::system;
use shofar_testing::explicit::Saturation;
use shofar_testing::{Random, scale};

fn spacer() -> Spacer {
    Spacer { options: Options::default() }
}

#[track_caller]
fn assert_sat(text: &str) {
    assert_answer(&spacer(), text, true);
}

#[track_caller]
fn assert_unsat(text: &str) {
    assert_answer(&spacer(), text, false);
}

/// A loop that writes zeros, and the query whether there is another number below a bound.
fn zeros(comparison: &str) -> String {
    format!(
        "(declare-fun P (Int Int (Array Int Int)) Bool)
         (assert (forall ((n Int) (a (Array Int Int))) (P 0 n a)))
         (assert (forall ((i Int) (n Int) (a (Array Int Int)))
            (=> (and (P i n a) (< i n)) (P (+ i 1) n (store a i 0)))))
         (assert (forall ((i Int) (n Int) (k Int) (a (Array Int Int)))
            (=> (and (P i n a) (>= i n) (<= 0 k) ({comparison} k n) (not (= (select a k) 0))) false)))"
    )
}

/// C1: the invariant is about all elements, so the answer may be missing, but not wrong.
#[test]
fn all_elements_are_zero_without_quantifiers() {
    let store = TermStore::new();
    let graph = read(&store, &zeros("<"));
    let found = solve(&spacer(), &graph, &Run::new(&store).with_timeout(Duration::from_secs(3)));
    assert!(!matches!(found, Ok(Evidence::Unsat(_))), "{found:?}");
}

/// C2: the element after the last is not written.
#[test]
fn one_element_too_many_is_refuted() {
    assert_unsat(&zeros("<="));
}

/// C4: two heaps with the same writes stay equal.
#[test]
fn equal_arrays_stay_equal() {
    assert_sat(
        "(declare-fun P (Int (Array Int Int) (Array Int Int)) Bool)
         (assert (forall ((g (Array Int Int))) (P 0 g g)))
         (assert (forall ((i Int) (v Int) (g (Array Int Int)) (h (Array Int Int)))
            (=> (P i g h) (P (+ i 1) (store g i v) (store h i v)))))
         (assert (forall ((i Int) (g (Array Int Int)) (h (Array Int Int)))
            (=> (and (P i g h) (not (= g h))) false)))",
    );
}

/// C5: an abstraction to one element would be wrong.
#[test]
fn two_elements_are_equal() {
    assert_sat(
        "(declare-fun P ((Array Int Int)) Bool)
         (assert (forall ((a (Array Int Int))) (=> (= (select a 0) (select a 1)) (P a))))
         (assert (forall ((a (Array Int Int))) (=> (and (P a) (not (= (select a 0) (select a 1)))) false)))",
    );
}

/// C6: the refutation has an array value.
#[test]
fn a_fact_about_an_array_refutes() {
    assert_unsat(
        "(declare-fun P ((Array Int Int)) Bool)
         (assert (forall ((a (Array Int Int))) (=> (= (select a 3) 7) (P a))))
         (assert (forall ((a (Array Int Int)))
            (=> (and (P a) (= (select a 4) 9) (= (select (store a 3 8) 3) 8)) false)))",
    );
}

/// C8: one element of a constant array.
#[test]
fn an_element_of_a_constant_array_stays_zero() {
    assert_sat(
        "(declare-fun P (Int (Array Int Int)) Bool)
         (assert (P 0 ((as const (Array Int Int)) 0)))
         (assert (forall ((i Int) (a (Array Int Int)))
            (=> (and (P i a) (>= i 0)) (P (+ i 1) (store a i 0)))))
         (assert (forall ((i Int) (a (Array Int Int))) (=> (and (P i a) (not (= (select a 5) 0))) false)))",
    );
}

/// C10: a heap whose cells are objects of several kinds; the latest is of the kind that was allocated.
#[test]
fn the_latest_object_of_a_heap_is_known() {
    assert_sat(
        "(declare-datatypes ((O 0)) (((od) (oi (int Int)))))
         (declare-datatypes ((H 0)) (((mkh (size Int) (contents (Array Int O))))))
         (declare-fun P (H Int) Bool)
         (assert (P (mkh 0 ((as const (Array Int O)) od)) 0))
         (assert (forall ((h H) (x Int))
            (=> (P h x)
                (P (mkh (+ (size h) 1) (store (contents h) (+ (size h) 1) (oi 1))) (+ (size h) 1)))))
         (assert (forall ((h H) (x Int))
            (=> (and (P h x) (> x 0) (not ((_ is oi) (select (contents h) x)))) false)))",
    );
}

/// C11: the state of a contract: balances, and a hash that is indexed by tuples and only passed on.
#[test]
fn one_balance_is_never_negative() {
    let system = |guard: &str| {
        format!(
            "(declare-datatypes ((T 0) (S 0))
                (((mkt (left Int) (right Int)))
                 ((mks (balances (Array Int Int)) (hash (Array T Int))))))
             (declare-fun P (Int S) Bool)
             (assert (forall ((t Int) (s S)) (=> (>= (select (balances s) t) 0) (P t s))))
             (assert (forall ((t Int) (s S) (u Int) (v Int))
                (=> (and (P t s) {guard})
                    (P t (mks (store (balances s) u (+ (select (balances s) u) v)) (hash s))))))
             (assert (forall ((t Int) (s S)) (=> (and (P t s) (< (select (balances s) t) 0)) false)))"
        )
    };
    assert_sat(&system("(>= v 0)"));
    assert_unsat(&system("(>= v (- 1))"));
}

/// C12: the arrays differ at the last written indices.
#[test]
fn a_write_makes_a_difference() {
    assert_unsat(
        "(declare-fun P (Int (Array Int Int) (Array Int Int)) Bool)
         (assert (forall ((a (Array Int Int))) (P 0 a a)))
         (assert (forall ((i Int) (a (Array Int Int)) (b (Array Int Int)))
            (=> (and (P i a b) (< i 3)) (P (+ i 1) a (store b i 1)))))
         (assert (forall ((a (Array Int Int)) (b (Array Int Int)))
            (=> (and (P 3 a b) (= (select a 0) 4) (not (= a b)) (= (select b 2) 1)) false)))",
    );
}

/// Issue 7554 of Z3: a projection that forgets that the element was not written reaches too much.
#[test]
fn an_element_that_was_not_written_is_not_mixed_up() {
    let store = TermStore::new();
    let graph = read(
        &store,
        "(declare-fun u (Int) Bool) (declare-fun inv (Int Int Int) Bool)
         (assert (u 0))
         (assert (inv 0 0 8))
         (assert (forall ((f Int) (g Int) (h Int) (d (Array Int Int)))
            (=> (and (inv f 0 8) (= g (select (store d f 0) h))) (inv (+ 1 f) g h))))
         (assert (forall ((d Int)) (=> (and (inv 1 d 8) (u d) (not (= d 0))) false)))",
    );
    let found = solve(&spacer(), &graph, &Run::new(&store).with_timeout(Duration::from_secs(20)));
    assert!(matches!(found, Ok(Evidence::Sat(_))), "{found:?}");
}

/// Issue 62 of Eldarica, with the clause solved for its head.
#[test]
fn an_index_that_is_an_element_is_combined_with_arithmetic() {
    assert_sat(
        "(declare-fun P ((Array Int Int) (Array Int Int) Int) Bool)
         (assert (forall ((y Int) (u (Array Int Int)) (v (Array Int Int)))
            (=> (and (not (and (>= (select u 4) 3) (= u (store u (+ y (select v 0)) 2))))
                     (not (and (<= (select u 4) 3) (= u (store u (+ y (select v 0)) 2)))))
                (P v u y))))
         (assert (forall ((t (Array Int Int)))
            (=> (P t (store t (+ 4 (select t 0)) 2) 4) false)))",
    );
}

/// Issue 73 of Eldarica: nested arrays.
#[test]
fn a_nested_element_that_was_written_is_known() {
    assert_sat(
        "(define-sort N () (Array Int (Array Int Int)))
         (declare-fun p () Bool) (declare-fun q () Bool) (declare-fun all (N) Bool)
         (assert (forall ((a N)) (all a)))
         (assert (forall ((a N)) (=> (and (all a) (= (select (select a 0) 0) 0)) p)))
         (assert (forall ((a N) (b N))
            (=> (and (= (select (select a 0) 8) 0) (= (store b 0 (store (select b 0) 8 4)) a)) q)))
         (assert (=> (and p q) false))",
    );
}

/// No answer is wrong, most systems are solved, and the witnesses pass the checker. With indices of two values, explicit
/// solving is exact. With numbers, it may miss arrays, so it only shows that a system is not safe.
#[test]
fn random_systems_of_small_arrays() {
    let forms = [LemmaForm::By(InterpolationMethod::Farkas), LemmaForm::Core];
    let (mut proved, mut refuted, mut open) = (0, 0, 0);
    for seed in 0..24 * scale() {
        let index = if seed % 2 == 0 { "Int" } else { "Bool" };
        let text = system(&mut Random::new(seed), index);
        let store = TermStore::new();
        let graph = read(&store, &text);
        let is_safe = Saturation::of(&store, &graph, 0..=1).is_safe();
        let options = Options::default().interpolation(forms[(seed / 2 % 2) as usize]);
        let run = Run::new(&store).with_timeout(Duration::from_secs(10));
        match solve(&Spacer { options }, &graph, &run) {
            Ok(Evidence::Unsat(derivation)) => {
                assert!(!is_safe || index == "Int", "{seed}: {text}");
                let has_arrays = derivation.steps.iter().flat_map(|step| &*step.fact).any(|value| {
                    let sort = store.sort_of(store.value_to_term(value));
                    matches!(store.sort_kind(sort), SortKind::Array(..))
                });
                assert!(has_arrays, "facts have arrays");
                refuted += 1;
            }
            Ok(_) => {
                assert!(is_safe, "{seed}: {text}");
                proved += 1;
            }
            Err(stop) => {
                println!("{seed}: {stop}");
                open += 1;
            }
        }
    }
    println!("{proved} proved, {refuted} refuted, {open} open");
    assert!(proved > 0 && refuted > 0);
    assert!(open * 6 <= proved + refuted, "{open} open");
}
