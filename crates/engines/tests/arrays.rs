//! Counterexamples with arrays by the engines that need neither projection nor interpolants: known answers, and random systems
//! against explicit solving.

mod common;

use std::time::Duration;

use common::{assert_answer, read, solve};
use shofar_engines::unfold::Unfold;
use shofar_engines::{Bmc, Engine, Evidence, Run};
use shofar_logic::{SortKind, TermStore};
use shofar_testing::array_systems::system;
use shofar_testing::explicit::Saturation;
use shofar_testing::{Random, scale};

#[track_caller]
fn assert_refuted(text: &str) {
    assert_answer(&Bmc, text, false);
    assert_answer(&Unfold::default(), text, false);
}

/// C2: a loop that writes zeros, and a query for the element after the last.
#[test]
fn one_element_too_many_is_refuted() {
    assert_refuted(
        "(declare-fun P (Int Int (Array Int Int)) Bool)
         (assert (forall ((n Int) (a (Array Int Int))) (P 0 n a)))
         (assert (forall ((i Int) (n Int) (a (Array Int Int)))
            (=> (and (P i n a) (< i n)) (P (+ i 1) n (store a i 0)))))
         (assert (forall ((i Int) (n Int) (k Int) (a (Array Int Int)))
            (=> (and (P i n a) (>= i n) (<= 0 k n) (> n 1) (not (= (select a k) 0))) false)))",
    );
}

/// C6: the refutation has an array value.
#[test]
fn a_fact_about_an_array_refutes() {
    assert_refuted(
        "(declare-fun P ((Array Int Int)) Bool)
         (assert (forall ((a (Array Int Int))) (=> (= (select a 3) 7) (P a))))
         (assert (forall ((a (Array Int Int)))
            (=> (and (P a) (= (select a 4) 9) (= (select (store a 3 8) 3) 8)) false)))",
    );
}

/// C12: the arrays differ at the last written indices.
#[test]
fn a_write_makes_a_difference() {
    assert_refuted(
        "(declare-fun P (Int (Array Int Int) (Array Int Int)) Bool)
         (assert (forall ((a (Array Int Int))) (P 0 a a)))
         (assert (forall ((i Int) (a (Array Int Int)) (b (Array Int Int)))
            (=> (and (P i a b) (< i 3)) (P (+ i 1) a (store b i 1)))))
         (assert (forall ((a (Array Int Int)) (b (Array Int Int)))
            (=> (and (P 3 a b) (= (select a 0) 4) (not (= a b)) (= (select b 2) 1)) false)))",
    );
}

/// Two facts about nested arrays meet in one body.
#[test]
fn derivations_branch_over_nested_arrays() {
    assert_refuted(
        "(define-sort N () (Array Int (Array Int Int)))
         (declare-fun P (Int N) Bool)
         (assert (forall ((a N)) (=> (= (select (select a 0) 0) 1) (P 0 a))))
         (assert (forall ((i Int) (a N) (b N))
            (=> (and (P i a) (P i b) (= (select (select a 1) i) 5) (not (= a b)))
                (P (+ i 1) (store a (+ i 1) (select b 0))))))
         (assert (forall ((a N)) (=> (and (P 2 a) (= (select (select a 2) 0) 1)) false)))",
    );
}

/// No answer is wrong, and what has a short derivation is refuted.
#[test]
fn random_systems_of_small_arrays_are_refuted() {
    for engine in [&Bmc as &dyn Engine, &Unfold::default()] {
        let (mut refuted, mut missed) = (0, 0);
        for seed in 0..40 * scale() {
            let index = if seed % 2 == 0 { "Int" } else { "Bool" };
            let text = system(&mut Random::new(seed ^ 0xa44a), index);
            let store = TermStore::new();
            let graph = read(&store, &text);
            let is_safe = Saturation::of(&store, &graph, 0..=1).is_safe();
            let run = Run::new(&store).with_timeout(Duration::from_secs(2));
            match solve(engine, &graph, &run) {
                Ok(Evidence::Unsat(derivation)) => {
                    assert!(!is_safe || index == "Int", "{seed}: {text}");
                    let is_array = |value| {
                        let sort = store.sort_of(store.value_to_term(value));
                        matches!(store.sort_kind(sort), SortKind::Array(..))
                    };
                    let mut values = derivation.steps.iter().flat_map(|step| &*step.fact);
                    assert!(values.any(is_array), "facts have arrays");
                    refuted += 1;
                }
                Ok(_) => assert!(is_safe, "{seed}: {text}"),
                Err(_) => missed += usize::from(!is_safe),
            }
        }
        println!("{}: {refuted} refuted, {missed} missed", engine.name());
        assert!(refuted > 5 && missed * 10 <= refuted, "{}: {refuted}, {missed}", engine.name());
    }
}
