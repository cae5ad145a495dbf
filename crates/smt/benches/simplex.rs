//! Measures the simplex kernel on random sparse systems, on chains of differences, and in incremental use.
//!
//! A system of `n` rows has `n` variables within `[-100, 100]` and four small coefficients per row. It is
//! made feasible by taking the bounds of its rows from a point of the box, and infeasible by adding the
//! demand that a sum of a few of its rows be greater than the sum of their bounds.

use divan::{Bencher, counter::ItemsCount};
use shofar_logic::number::Rational;
use shofar_smt::theory::arith::{Budget, Config, DeltaRational, Outcome, Reason, Side, Simplex, Var};
use shofar_testing::Random;

fn main() {
    divan::main();
}

/// A sum of terms and its upper bound.
struct Inequality {
    terms: Vec<(usize, i64)>,
    upper: i64,
}

/// A system of the given number of rows.
fn system(rows: usize, feasible: bool) -> Vec<Inequality> {
    let mut random = Random::new(rows as u64 * 2 + u64::from(feasible));
    let point: Vec<i64> = (0..rows).map(|_| random.between(-50, 50)).collect();
    let mut system = Vec::new();
    for _ in 0..rows {
        let mut terms: Vec<(usize, i64)> = Vec::new();
        while terms.len() < 4 {
            let var = random.below(rows);
            let coeff = [-3, -2, -1, -1, 1, 1, 2, 3][random.below(8)];
            if terms.iter().all(|(other, _)| *other != var) {
                terms.push((var, coeff));
            }
        }
        let value: i64 = terms.iter().map(|(var, coeff)| coeff * point[*var]).sum();
        system.push(Inequality { terms, upper: value + random.between(0, 3) });
    }
    if !feasible {
        let mut sum = vec![0; rows];
        let mut upper = 0;
        for inequality in system.iter().step_by(rows / 5) {
            let weight = random.between(1, 2);
            upper += weight * inequality.upper;
            for (var, coeff) in &inequality.terms {
                sum[*var] -= weight * coeff;
            }
        }
        let terms = sum.into_iter().enumerate().filter(|(_, coeff)| *coeff != 0).collect();
        system.push(Inequality { terms, upper: -upper - 1 });
    }
    system
}

/// A solver, its variables, and for each inequality a slack variable with a bound.
type Prepared = (Simplex, Vec<Var>, Vec<(Var, Side, DeltaRational)>);

fn prepare(vars: usize, system: &[Inequality]) -> Prepared {
    let mut simplex = Simplex::new(Config::default());
    let vars: Vec<Var> = (0..vars).map(|_| simplex.new_var(false)).collect();
    let mut bound = |inequality: &Inequality| {
        let term = |&(var, coeff): &(usize, i64)| (vars[var], Rational::from(coeff));
        let terms: Vec<_> = inequality.terms.iter().map(term).collect();
        let (slack, factor) = simplex.new_row(&terms).expect("not the zero form");
        let side = if factor.is_negative() { Side::Lower } else { Side::Upper };
        (slack, side, DeltaRational::from(Rational::from(inequality.upper) / factor))
    };
    let bounds = system.iter().map(&mut bound).collect();
    (simplex, vars, bounds)
}

fn in_box((mut simplex, vars, bounds): Prepared) -> Prepared {
    for var in &vars {
        simplex.assert_lower(*var, DeltaRational::from(-100), Reason(0)).expect("no clash");
        simplex.assert_upper(*var, DeltaRational::from(100), Reason(1)).expect("no clash");
    }
    (simplex, vars, bounds)
}

fn assert_all(simplex: &mut Simplex, bounds: &[(Var, Side, DeltaRational)]) {
    for (index, (var, side, value)) in bounds.iter().enumerate() {
        simplex.assert_bound(*var, *side, value, Reason(index as u32 + 2)).expect("no clash");
    }
}

/// One check of all rows.
fn solve(bencher: Bencher<'_, '_>, rows: usize, feasible: bool) {
    let system = system(rows, feasible);
    bencher.with_inputs(|| in_box(prepare(rows, &system))).bench_local_values(|(mut simplex, _, bounds)| {
        assert_all(&mut simplex, &bounds);
        let outcome = simplex.check(&Budget::UNLIMITED);
        assert_eq!(outcome == Outcome::Feasible, feasible);
        simplex
    });
}

#[divan::bench(max_time = 2, args = [20, 100, 500])]
fn feasible(bencher: Bencher<'_, '_>, rows: usize) {
    solve(bencher, rows, true);
}

#[divan::bench(max_time = 2, args = [20, 100, 500])]
fn infeasible(bencher: Bencher<'_, '_>, rows: usize) {
    solve(bencher, rows, false);
}

/// A chain `x_i < x_{i+1}`, closed to a circle, which is contradictory.
#[divan::bench(max_time = 2, args = [20, 200, 2000])]
fn chain(bencher: Bencher<'_, '_>, rows: usize) {
    let link = |index: usize| Inequality { terms: vec![(index, 1), ((index + 1) % rows, -1)], upper: -1 };
    let system: Vec<_> = (0..rows).map(link).collect();
    bencher.with_inputs(|| prepare(rows, &system)).bench_local_values(|(mut simplex, _, bounds)| {
        assert_all(&mut simplex, &bounds);
        assert_ne!(simplex.check(&Budget::UNLIMITED), Outcome::Feasible);
        simplex
    });
}

/// How many rows of an incremental run have bounds at a time.
const ACTIVE: usize = 10;

/// Levels of [`ACTIVE`] bounds each, entered, checked and left, over a pool of `rows` rows.
fn walk(bencher: Bencher<'_, '_>, rows: usize, rounds: usize, awake: bool) {
    let system = system(rows, true);
    let prepare = || {
        let (mut simplex, _, bounds) = in_box(prepare(rows, &system));
        // A bound that is never reached keeps a row in the tableau and its value up to date.
        for (var, side, _) in bounds.iter().filter(|_| awake) {
            let far = DeltaRational::from(if *side == Side::Upper { 1 << 40 } else { -1 << 40 });
            simplex.assert_bound(*var, *side, &far, Reason(0)).expect("no clash");
        }
        assert_eq!(simplex.check(&Budget::UNLIMITED), Outcome::Feasible);
        (simplex, bounds)
    };
    let bencher = bencher.counter(ItemsCount::new(rounds)).with_inputs(prepare);
    bencher.bench_local_values(|(mut simplex, bounds)| {
        let mut random = Random::new(7);
        for _ in 0..rounds {
            simplex.push();
            for reason in 0..ACTIVE as u32 {
                let (var, side, value) = &bounds[random.below(rows)];
                simplex.assert_bound(*var, *side, value, Reason(reason + 2)).expect("no clash");
            }
            assert_eq!(simplex.check(&Budget::UNLIMITED), Outcome::Feasible);
            simplex.pop(1);
        }
        simplex
    });
}

/// Incremental use in which the rows without bounds sleep.
#[divan::bench(max_time = 2, args = [20, 100, 500])]
fn levels(bencher: Bencher<'_, '_>, rows: usize) {
    walk(bencher, rows, 100, false);
}

/// The same with all rows kept awake.
#[divan::bench(max_time = 2, args = [20, 100, 500])]
fn levels_awake(bencher: Bencher<'_, '_>, rows: usize) {
    walk(bencher, rows, 100, true);
}
