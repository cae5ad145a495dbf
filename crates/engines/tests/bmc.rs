//! Bounded model checking of clauses with operators that the solver does not support.

mod common;

use std::time::{Duration, Instant};

use common::{read, solve};
use shofar_engines::{Bmc, Engine, Evidence, Run};
use shofar_horn::transform::standard;
use shofar_logic::TermStore;
use shofar_run::Stop;

/// Factorials, from one on, and a claim about them.
fn factorials(claim: &str) -> String {
    format!(
        "(declare-fun P (Int Int) Bool)(assert (P 1 1))
         (assert (forall ((n Int) (f Int)) (=> (P n f) (P (+ n 1) (* f (+ n 1))))))
         (assert (forall ((n Int) (f Int)) (=> (P n f) {claim})))"
    )
}

fn answer_of(text: &str) -> Result<Evidence, Stop> {
    let store = TermStore::new();
    let run = Run::new(&store);
    let (transformed, _) = standard().run(&run, read(&store, text));
    Bmc.accepts(&store, &transformed.graph)?;
    solve(&Bmc, &transformed.graph, &run)
}

#[test]
fn a_mistake_with_products_of_known_values_is_found() {
    assert!(matches!(answer_of(&factorials("(distinct f 720)")), Ok(Evidence::Unsat(_))));
}

#[test]
fn products_of_variables_end_the_search_soon() {
    let start = Instant::now();
    let answer = answer_of(&factorials("(> f 0)"));
    let Err(Stop::Unsupported(what)) = answer else { panic!("{answer:?}") };
    assert!(what.starts_with("non-linear arithmetic in (* "), "{what}");
    assert!(start.elapsed() < Duration::from_secs(20));
}

#[test]
fn products_of_variables_that_clauses_fix_are_linear() {
    let fixed = "(declare-fun P (Int Int) Bool)(assert (P 0 3))
        (assert (forall ((x Int) (n Int)) (=> (and (P x n) (< x 9)) (P (+ x (* n n) (- (* 2 n))) n))))
        (assert (forall ((x Int) (n Int) (k Int)) (=> (and (P x n) (= k (- n 1)) (> (* k x) (* n 8))) false)))";
    assert!(matches!(answer_of(fixed), Ok(Evidence::Sat(_))));
}
