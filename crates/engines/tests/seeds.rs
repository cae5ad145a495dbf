//! The seed of a run reaches the solvers of engines. It changes their search but not their answers.

mod common;

use std::collections::BTreeSet;

use common::{Counters, read, solve};
use shofar_engines::{Engine, Evidence, Run, all};
use shofar_logic::TermStore;
use shofar_run::Limits;
use shofar_smt::sat::{Outcome, Statistics};
use shofar_smt::solver::Solver;
use shofar_testing::families::{pigeons, random_3_sat};

/// The statistics of a solver after a query with conflicts.
fn counted(store: &TermStore, mut solver: Solver<'_>) -> Statistics {
    for formula in pigeons(store, 5, 4).formulas {
        solver.assert(formula).expect("it is propositional");
    }
    assert_eq!(solver.check(&[], &Limits::default()), Ok(Outcome::Unsat));
    solver.statistics()
}

#[test]
fn solvers_of_a_run_have_its_seed() {
    let mut decisions = BTreeSet::new();
    for seed in 0..20 {
        let store = TermStore::new();
        let run = Run::new(&store).with_seed(seed);
        let with_seed = counted(&store, Solver::new(&store).with_seed(seed));
        assert_eq!(counted(&store, run.solver()), with_seed);
        let with_proofs = counted(&store, Solver::with_proofs(&store).with_seed(seed));
        assert_eq!(counted(&store, run.solver_with_proofs()), with_proofs);
        decisions.insert(with_seed.decisions);
    }
    assert!(decisions.len() > 5, "only {decisions:?} decisions");
}

/// A counter that starts with hard-to-find values of many variables, keeps them, and has an error at the end.
fn system(end: u32) -> String {
    let store = TermStore::new();
    let clauses = random_3_sat(&store, 40, 3).formulas;
    let clauses: Vec<String> =
        clauses[..150].iter().map(|&clause| store.display(clause).to_string()).collect();
    let names: Vec<String> = (0..40).map(|number| format!("b{number}")).collect();
    let (names, clauses) = (names.join(" "), clauses.join(" "));
    let variables = format!("({} Bool)", names.replace(' ', " Bool) ("));
    format!(
        "(declare-fun P (Int {}) Bool)
         (assert (forall ({variables}) (=> (and {clauses}) (P 0 {names}))))
         (assert (forall ((x Int) {variables}) (=> (P x {names}) (P (+ x 1) {names}))))
         (assert (forall ((x Int) {variables}) (=> (and (P x {names}) (= x {end})) false)))",
        "Bool ".repeat(40),
    )
}

#[test]
fn seeds_change_the_search_of_engines_but_not_their_answers() {
    let found = |engine: usize, end: u32, seed: u64| {
        let store = TermStore::new();
        let counters = Counters::default();
        let run = Run::new(&store).with_seed(seed).with_events(&counters);
        let evidence = solve(&*all()[engine], &read(&store, &system(end)), &run);
        assert!(matches!(evidence, Ok(Evidence::Unsat(_))), "{} with seed {seed}", all()[engine].name());
        (evidence, counters.all())
    };
    // `regular-combined` has threads that share the terms, and `cells` is about arrays; the others find no derivations.
    let is_excluded = |engine: &dyn Engine| {
        matches!(
            engine.name(),
            "product"
                | "algebra"
                | "words"
                | "regular"
                | "regular-combined"
                | "regular-sync"
                | "saturation"
                | "invariants"
                | "cells"
        )
    };
    for (engine, known) in all().iter().enumerate().filter(|(_, engine)| !is_excluded(&***engine)) {
        // Some engines find values of the variables without a conflict, and before a conflict the seed has no effect.
        let is_changed = [2, 0].into_iter().any(|end| {
            let by_default = found(engine, end, 0);
            assert_eq!(found(engine, end, 0), by_default, "{} is deterministic", known.name());
            (1..20).any(|seed| found(engine, end, seed) != by_default)
        });
        assert!(is_changed, "no seed changes what {} does", known.name());
    }
}
