//! Seeds change the order of decisions, and so models and times, but no answer.

use std::collections::BTreeSet;

use shofar_logic::TermStore;
use shofar_run::Limits;
use shofar_smt::renewal::Renewal;
use shofar_smt::sat::{Outcome, Statistics};
use shofar_smt::solver::Solver;
use shofar_testing::families::{pigeons, random_3_sat};

/// What the search for an answer to a hard question has counted.
fn counted(seed: Option<u64>, renewal: Renewal, with_proofs: bool) -> Statistics {
    let store = TermStore::new();
    let mut solver = if with_proofs { Solver::with_proofs(&store) } else { Solver::new(&store) };
    if let Some(seed) = seed {
        solver = solver.with_seed(seed);
    }
    solver.set_renewal(renewal);
    for formula in pigeons(&store, 5, 4).formulas {
        solver.assert(formula).expect("it is propositional");
    }
    assert_eq!(solver.check(&[], &Limits::default()), Ok(Outcome::Unsat), "seed {seed:?}");
    solver.statistics()
}

#[test]
fn seeds_change_the_search() {
    for with_proofs in [false, true] {
        let of_seed = |seed: u64| counted(Some(seed), Renewal::Never, with_proofs);
        let decisions: BTreeSet<u64> = (0..20).map(|seed| of_seed(seed).decisions).collect();
        assert!(decisions.len() > 5, "only {decisions:?} decisions");
        assert_eq!(
            of_seed(0),
            counted(None, Renewal::Never, with_proofs),
            "seed 0 is the one of new solvers"
        );
        assert_eq!(of_seed(7), of_seed(7));
    }
}

#[test]
fn renewed_solvers_keep_their_seed() {
    for seed in 0..10 {
        let renewed = counted(Some(seed), Renewal::Always, false);
        assert_eq!(renewed.decisions, counted(Some(seed), Renewal::Never, false).decisions, "seed {seed}");
    }
}

#[test]
fn models_depend_on_the_seed() {
    let store = TermStore::new();
    let formulas = random_3_sat(&store, 60, 3).formulas;
    let formulas = &formulas[..200];
    let models: BTreeSet<String> = (0..20)
        .map(|seed| {
            let mut solver = Solver::new(&store).with_seed(seed);
            formulas.iter().for_each(|&formula| solver.assert(formula).expect("it is propositional"));
            assert_eq!(solver.check(&[], &Limits::default()), Ok(Outcome::Sat), "seed {seed}");
            let model = solver.model(formulas);
            let symbols = store.symbols(formulas);
            let values = symbols.vars.iter().map(|&var| format!("{:?}", model.get(var)));
            values.chain(symbols.funs.iter().map(|&fun| format!("{:?}", model.function(fun)))).collect()
        })
        .collect();
    assert!(models.len() > 1, "all seeds have the same model");
}
