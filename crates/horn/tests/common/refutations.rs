//! Refutations for the tests of witnesses and of proofs.

#![allow(dead_code, reason = "each test uses a part of it")]

use shofar_horn::graph::EdgeId;
use shofar_horn::witness::{Derivation, GraphStep, Refutation};
use shofar_horn::{Context, HornSystem, parse};
use shofar_logic::{TermStore, Value};
use shofar_run::Limits;

/// Example 5.2 of Blicha's thesis.
const LOCATIONS: &str = "(declare-fun L1 (Int) Bool)(declare-fun D (Int Int) Bool)(declare-fun L2 (Int) Bool)
    (assert (forall ((x Int)) (=> (> x 0) (L1 x))))
    (assert (forall ((x Int) (y Int)) (=> (= y (+ x 1)) (D x y))))
    (assert (forall ((x Int) (y Int)) (=> (and (L1 x) (D x y)) (L2 y))))
    (assert (forall ((x Int)) (=> (and (L2 x) (<= x 2)) false)))";

pub(crate) fn read(store: &TermStore, text: &str) -> HornSystem {
    parse(store, "test", text.as_bytes()).unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn context(store: &TermStore) -> Context<'_> {
    Context { store, limits: Limits::default() }
}

pub(crate) fn ints(values: &[i64]) -> Box<[Value]> {
    values.iter().map(|&value| Value::Int(value.into())).collect()
}

pub(crate) fn derivation(steps: &[(usize, &[usize], &[i64])]) -> Derivation {
    let step = |&(edge, premises, fact): &(usize, &[usize], &[i64])| GraphStep {
        edge: EdgeId::new(edge),
        premises: premises.into(),
        fact: ints(fact),
    };
    Derivation { steps: steps.iter().map(step).collect() }
}

/// The steps that Golem prints for the example.
pub(crate) fn locations(store: &TermStore) -> (HornSystem, Refutation) {
    let system = read(store, LOCATIONS);
    let steps: [(usize, &[usize], &[i64]); 4] =
        [(0, &[], &[1]), (1, &[], &[1, 2]), (2, &[0, 1], &[2]), (3, &[2], &[])];
    let refutation = Refutation::of_graph(&context(store), &system, derivation(&steps)).unwrap();
    (system, refutation)
}

/// Addition of a thing to itself: as a tree, the derivation has 2^61 nodes.
pub(crate) fn doubling(store: &TermStore) -> (HornSystem, Refutation) {
    let system = read(
        store,
        "(declare-fun P (Int) Bool)(assert (P 1))
         (assert (forall ((x Int) (y Int)) (=> (and (P x) (P y)) (P (+ x y)))))
         (assert (forall ((x Int)) (=> (and (P x) (>= x 1152921504606846976)) false)))",
    );
    let mut steps: Vec<GraphStep> = derivation(&[(0, &[], &[1])]).steps;
    for level in 0..60 {
        steps.extend(derivation(&[(1, &[level, level], &[2 << level])]).steps);
    }
    steps.extend(derivation(&[(2, &[60], &[])]).steps);
    let refutation = Refutation::of_graph(&context(store), &system, Derivation { steps }).unwrap();
    (system, refutation)
}

/// A loop that counts to the given number, with a variable that only the solver can find.
pub(crate) fn counting(store: &TermStore, length: usize) -> (HornSystem, Refutation) {
    let system = read(
        store,
        &format!(
            "(declare-fun P (Int) Bool)(assert (P 0))
             (assert (forall ((x Int) (y Int) (z Int)) (=> (and (P x) (= y (+ x 1)) (> z (* 2 x))) (P y))))
             (assert (forall ((x Int)) (=> (and (P x) (>= x {length})) false)))"
        ),
    );
    let mut steps: Vec<GraphStep> = derivation(&[(0, &[], &[0])]).steps;
    for number in 0..length {
        steps.extend(derivation(&[(1, &[number], &[number as i64 + 1])]).steps);
    }
    steps.extend(derivation(&[(2, &[length], &[])]).steps);
    let refutation = Refutation::of_graph(&context(store), &system, Derivation { steps }).unwrap();
    (system, refutation)
}
