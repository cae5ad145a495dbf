//! Small members of the families of [`generators`]: answers are the known ones, and models satisfy all formulas.

use shofar_logic::{Sort, SortKind, Term, TermStore, Value};
use shofar_run::Limits;
use shofar_smt::purify::Unsupported;
use shofar_smt::sat::Outcome;
use shofar_smt::solver::Solver;
use shofar_testing::families;
use shofar_testing::families::{Instance, JobShop};

/// The answer of the solver, after a look at its model.
fn solve(store: &TermStore, formulas: &[Term]) -> Result<bool, Unsupported> {
    let mut solver = Solver::new(store);
    for &formula in formulas {
        solver.assert(formula)?;
    }
    match solver.check(&[], &Limits::default())? {
        Outcome::Unsat => Ok(false),
        Outcome::Sat => {
            let model = solver.model(formulas);
            for &formula in formulas {
                let value = store.eval(formula, &model);
                assert_eq!(value, Ok(Value::Bool(true)), "{}", store.display(formula));
            }
            Ok(true)
        }
        Outcome::Unknown(reason) => panic!("unknown: {reason:?}"),
    }
}

fn check(store: &TermStore, instance: &Instance) {
    let answer = solve(store, &instance.formulas).expect("the language is supported");
    assert_eq!(Some(answer), instance.is_satisfiable);
}

#[test]
fn pigeons_need_as_many_holes() {
    let store = TermStore::new();
    for holes in 1..=6 {
        check(&store, &families::pigeons(&store, holes, holes));
        check(&store, &families::pigeons(&store, holes + 1, holes));
    }
}

#[test]
fn random_3_sat_agrees_with_truth_tables() {
    let mut satisfiable = 0;
    for seed in 0..40 {
        let store = TermStore::new();
        let instance = families::random_3_sat(&store, 12, seed);
        let vars: Vec<Term> =
            (0..12).map(|index| store.var(store.symbol(&format!("b{index}")), Sort::BOOL)).collect();
        let all = store.and_of(instance.formulas.iter().copied());
        let expected = (0..1u32 << 12).any(|bits| {
            let values = vars.iter().enumerate().map(|(i, &var)| (var, Value::Bool(bits >> i & 1 == 1)));
            store.eval(all, &values.collect()) == Ok(Value::Bool(true))
        });
        assert_eq!(solve(&store, &instance.formulas), Ok(expected), "seed {seed}");
        satisfiable += u32::from(expected);
    }
    assert!((5..=35).contains(&satisfiable), "{satisfiable} of 40 are satisfiable");
}

#[test]
fn chains_fit_into_their_length() {
    for length in [1, 2, 10, 100] {
        let store = TermStore::new();
        check(&store, &families::chain(&store, length, length));
        check(&store, &families::chain(&store, length, length - 1));
    }
}

#[test]
fn cycles_of_negative_weight_are_contradictory() {
    for length in [2, 3, 10, 100] {
        for total in [-1, 0, 1] {
            let store = TermStore::new();
            check(&store, &families::cycle(&store, length, total, length as u64));
        }
    }
}

#[test]
fn diamonds_lead_to_their_end() {
    for diamonds in [1, 2, 5, 10] {
        let store = TermStore::new();
        check(&store, &families::arithmetic_diamonds(&store, diamonds));
        check(&store, &families::equality_diamonds(&store, diamonds, Sort::INT));
    }
}

#[test]
fn diamonds_of_a_declared_sort_lead_to_their_end() {
    for diamonds in [1, 2, 5, 10] {
        let store = TermStore::new();
        let sort = store.sort(SortKind::Uninterpreted(store.symbol("U"), Box::new([])));
        let instance = families::equality_diamonds(&store, diamonds, sort);
        check(&store, &instance);
    }
}

#[test]
fn knapsacks_agree_with_dynamic_programming() {
    for items in 2..=8 {
        for seed in 0..6 {
            let store = TermStore::new();
            check(&store, &families::knapsack(&store, items, seed));
        }
    }
}

#[test]
fn job_shops_can_be_done_in_the_optimal_time_and_not_faster() {
    for (jobs, machines, seed) in [(2, 2, 1), (3, 2, 2), (2, 3, 3), (3, 3, 4), (3, 3, 5)] {
        let shop = JobShop::new(jobs, machines, seed);
        let optimum = shop.optimum();
        for (time, expected) in [(optimum, true), (optimum - 1, false), (shop.enough(), true)] {
            let store = TermStore::new();
            let instance = shop.within(&store, time);
            assert_eq!(solve(&store, &instance.formulas), Ok(expected), "{jobs} {machines} {seed}: {time}");
        }
    }
}
