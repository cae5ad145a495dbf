//! How fast the SAT core is on hard problems, and on very many easy ones.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use shofar_smt::sat::{Lit, Outcome, Solver, Var};
use shofar_testing::Random;
use shofar_testing::families::random_3_clauses;

fn main() {
    divan::main();
}

fn random_3_sat(variables: usize, clauses: usize, seed: u64) -> Vec<[Lit; 3]> {
    let literal = |(variable, is_positive)| Var::from_index(variable).lit(is_positive);
    let clauses = random_3_clauses(variables, clauses, seed).into_iter();
    clauses.map(|clause| clause.map(literal)).collect()
}

fn solver_of(num_vars: usize, clauses: &[[Lit; 3]]) -> Solver {
    let mut solver = Solver::new();
    for _ in 0..num_vars {
        solver.new_var();
    }
    for clause in clauses {
        solver.add_clause(clause);
    }
    solver
}

/// One pigeon more than holes.
#[divan::bench(args = [7, 8, 9], sample_count = 10)]
fn pigeons(holes: usize) -> Outcome {
    let mut solver = Solver::new();
    let at: Vec<Vec<Var>> = (0..=holes).map(|_| (0..holes).map(|_| solver.new_var()).collect()).collect();
    for (pigeon, choices) in at.iter().enumerate() {
        solver.add_clause(&choices.iter().map(|var| var.positive()).collect::<Vec<_>>());
        for other in &at[..pigeon] {
            for (x, y) in choices.iter().zip(other) {
                solver.add_clause(&[x.negative(), y.negative()]);
            }
        }
    }
    solver.solve(&[])
}

/// Twenty formulas of two hundred variables at the threshold.
#[divan::bench(sample_count = 5)]
fn random_3_sat_200(bencher: Bencher<'_, '_>) {
    let formulas: Vec<_> = (0..20).map(|seed| random_3_sat(200, 852, seed)).collect();
    bencher.bench(|| {
        for clauses in &formulas {
            black_box(solver_of(200, clauses).solve(&[]));
        }
    });
}

/// A solver for each query: ten variables and ten clauses.
#[divan::bench(sample_count = 5)]
fn new_solver_for_each_query(bencher: Bencher<'_, '_>) {
    const QUERIES: usize = 100_000;
    let formulas: Vec<_> = (0..100).map(|seed| random_3_sat(10, 10, seed)).collect();
    bencher.counter(ItemsCount::new(QUERIES)).bench(|| {
        for query in 0..QUERIES {
            black_box(solver_of(10, &formulas[query % formulas.len()]).solve(&[]));
        }
    });
}

/// One solver, and assumptions of which the last few change from query to query.
#[divan::bench(args = [0, 20], sample_count = 2)]
fn one_solver_for_a_million_queries(bencher: Bencher<'_, '_>, stable: usize) {
    const QUERIES: usize = 1_000_000;
    let clauses = random_3_sat(50, 150, 1);
    bencher.counter(ItemsCount::new(QUERIES)).bench(|| {
        let mut solver = solver_of(50, &clauses);
        let mut random = Random::new(7);
        let model: Vec<Lit> = {
            assert_eq!(solver.solve(&[]), Outcome::Sat);
            (0..stable).map(Var::from_index).map(|var| var.lit(solver.value(var) == Some(true))).collect()
        };
        let mut assumptions = model.clone();
        for _ in 0..QUERIES {
            assumptions.truncate(stable);
            assumptions.extend((0..3).map(|_| Var::from_index(random.below(50)).lit(random.bool())));
            black_box(solver.solve(&assumptions));
        }
    });
}

/// A frame for each query, with two clauses.
#[divan::bench(sample_count = 5)]
fn a_frame_for_each_query(bencher: Bencher<'_, '_>) {
    const QUERIES: usize = 100_000;
    let clauses = random_3_sat(50, 150, 1);
    let extra = random_3_sat(50, 1000, 2);
    bencher.counter(ItemsCount::new(QUERIES)).bench(|| {
        let mut solver = solver_of(50, &clauses);
        for query in 0..QUERIES {
            solver.push();
            solver.add_clause(&extra[query % 1000]);
            solver.add_clause(&extra[(query * 7 + 1) % 1000]);
            black_box(solver.solve(&[]));
            solver.pop();
        }
    });
}
