//! Engines on clauses over datatypes, with checked witnesses.

mod common;

use std::time::Duration;

use common::{read, solve};
use shofar_engines::{Engine, Evidence, Run, all};
use shofar_logic::TermStore;
use shofar_run::Stop;

/// Lists of the numbers from `n - 1` down to zero.
fn countdown(query: &str) -> String {
    format!(
        "(declare-datatypes ((L 0)) (((nil) (cons (hd Int) (tl L)))))
         (declare-fun P (L Int) Bool)
         (assert (forall ((n Int)) (=> (= n 0) (P nil n))))
         (assert (forall ((x L) (n Int)) (=> (P x n) (P (cons n x) (+ n 1)))))
         (assert (forall ((x L) (n Int)) (=> (and (P x n) {query}) false)))"
    )
}

/// An optional number that grows, and a colour that alternates.
const COLOURS: &str = "
    (declare-datatypes ((C 0) (O 0)) (((r) (g) (b)) ((none) (some (col C) (num Int)))))
    (declare-fun P (O C) Bool)
    (assert (forall ((c C)) (=> (= c r) (P none c))))
    (assert (forall ((o O) (c C)) (=> (and (P o c) (= c r)) (P (some c 1) g))))
    (assert (forall ((o O) (c C)) (=> (and (P o c) (= c g)) (P (some c (+ 1 (num o))) r))))
    (assert (forall ((o O) (c C))
        (=> (and (P o c) (or (= c b) (and ((_ is some) o) (< (num o) 1)))) false)))";

/// The engines whose answers are about graphs.
fn engines() -> impl Iterator<Item = Box<dyn Engine>> {
    all().into_iter().filter(|engine| !matches!(engine.name(), "product" | "saturation"))
}

/// Whether an engine finds the clauses satisfiable.
#[track_caller]
fn is_sat(engine: &dyn Engine, text: &str) -> Result<bool, Stop> {
    let store = TermStore::new();
    let graph = read(&store, text);
    engine.accepts(&store, &graph)?;
    let run = Run::new(&store).with_timeout(Duration::from_secs(60));
    Ok(matches!(solve(engine, &graph, &run)?, Evidence::Sat(_)))
}

#[test]
fn all_engines_find_lists_that_refute() {
    // Automata, words and invariants find no derivations, and `algebra` few. `cells` is about arrays, `trl`, `abmc` and `ice` are about
    // numbers.
    let finds_none = |name: &str| {
        let of_proofs = matches!(name, "algebra" | "words" | "regular" | "regular-sync" | "invariants");
        of_proofs || matches!(name, "cells" | "trl" | "abmc" | "ice")
    };
    for engine in engines().filter(|engine| !finds_none(engine.name())) {
        let text = countdown("(= (hd (tl (tl x))) 3) (> n 3)");
        assert_eq!(is_sat(&*engine, &text), Ok(false), "{}", engine.name());
    }
}

#[test]
fn engines_find_invariants_over_lists_and_enumerations() {
    let list = countdown("(> n 0) (not (and ((_ is cons) x) (= (hd x) (- n 1))))");
    // `bmc`, `unfold` and `se` prove only systems whose unrollings end. The list is not k-inductive, and no automaton compares its
    // elements. `algebra` and `words` have tests of their own, `invariants`, `trl`, `abmc` and `ice` know numbers only, and `cells` is
    // about arrays.
    let is_other = |name: &str| {
        let unrolls = matches!(name, "bmc" | "unfold" | "se");
        let of_numbers = matches!(name, "invariants" | "trl" | "abmc" | "ice");
        unrolls || of_numbers || matches!(name, "algebra" | "words" | "cells")
    };
    for engine in engines().filter(|engine| !is_other(engine.name())) {
        assert_eq!(is_sat(&*engine, COLOURS), Ok(true), "{}", engine.name());
        if !matches!(engine.name(), "kind" | "regular" | "regular-sync") {
            assert_eq!(is_sat(&*engine, &list), Ok(true), "{}", engine.name());
        }
    }
}

/// A selector on another constructor may have any value.
#[test]
fn no_engine_answers_by_a_value_that_is_left_open() {
    let open = "(declare-datatypes ((O 0)) (((none) (some (num Int)))))
        (declare-fun P (O) Bool)
        (declare-fun Q (Int) Bool)
        (assert (forall ((o O)) (=> (= o none) (P o))))
        (assert (forall ((o O)) (=> (P o) (Q (num o)))))
        (assert (forall ((n Int)) (=> (and (Q n) (= n 5)) false)))";
    for engine in engines() {
        let store = TermStore::new();
        let graph = read(&store, open);
        let run = Run::new(&store).with_timeout(Duration::from_secs(60));
        let verdict = match engine.solve(&graph, &run) {
            Ok(Evidence::Sat(model)) => shofar_horn::check::check_graph_model(&run.context(), &graph, &model),
            Ok(Evidence::Unsat(derivation)) => {
                shofar_horn::check::check_derivation(&run.context(), &graph, &derivation)
            }
            Ok(Evidence::Induction(_) | Evidence::Saturation(_)) | Err(_) => continue,
        };
        assert!(verdict.is_err(), "{}", engine.name());
    }
}

#[test]
fn fields_of_other_sorts_are_refused_at_once() {
    let text = "(declare-datatypes ((R 0)) (((mk (a (_ BitVec 8)) (n Int)))))
        (declare-fun P (R) Bool)
        (assert (forall ((x R)) (=> (= (n x) 0) (P x))))
        (assert (forall ((x R)) (=> (and (P x) (> (n x) 0)) false)))";
    for engine in all().into_iter().filter(|engine| engine.name() != "cells") {
        let refused = Err(Stop::Unsupported("terms of sort R".to_owned()));
        assert_eq!(is_sat(&*engine, text), refused, "{}", engine.name());
    }
}
