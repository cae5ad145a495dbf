//! How time grows with size, for the families of `tests/generators`: one row for each size, until one takes too long.
//!
//! `cargo bench -p shofar-smt --bench families -- [SECONDS]`

#![expect(clippy::print_stdout, reason = "the table is what the benchmark is for")]

use std::time::{Duration, Instant};

use shofar_logic::{Sort, TermStore};
use shofar_run::Limits;
use shofar_smt::sat::Outcome;
use shofar_smt::solver::Solver;
use shofar_testing::families;
use shofar_testing::families::{Instance, JobShop};

/// Makes the member of a family of a size.
type Family = fn(&TermStore, usize) -> Instance;

const FAMILIES: [(&str, Family, &[usize]); 9] = [
    ("pigeons", |store, size| families::pigeons(store, size + 1, size), &[5, 6, 7, 8, 9, 10]),
    ("random 3-SAT", |store, size| families::random_3_sat(store, size, 1), &[50, 100, 150, 200, 250]),
    ("chain", |store, size| families::chain(store, size, size - 1), &[100, 300, 1000, 3000]),
    ("cycle", |store, size| families::cycle(store, size, 0, 1), &[100, 300, 1000, 3000]),
    ("arithmetic diamonds", families::arithmetic_diamonds, &[5, 10, 15, 20, 40, 80]),
    (
        "equality diamonds",
        |store, size| families::equality_diamonds(store, size, Sort::INT),
        &[5, 10, 15, 20, 40],
    ),
    ("knapsack", |store, size| families::knapsack(store, size, 1), &[5, 10, 15, 20, 30]),
    ("job shop, loose", |store, size| job_shop(store, size, 2), &[3, 4, 5, 6, 8, 10]),
    ("job shop, tight", |store, size| job_shop(store, size, 3), &[3, 4, 5, 6, 8, 10]),
];

/// As many jobs as machines, and a fraction of the time that the jobs need one after the other.
fn job_shop(store: &TermStore, size: usize, divisor: usize) -> Instance {
    let shop = JobShop::new(size, size, 1);
    shop.within(store, shop.enough() / divisor)
}

fn main() {
    let argument = std::env::args().skip(1).find(|argument| argument != "--bench");
    let seconds = argument.and_then(|text| text.parse().ok()).unwrap_or(10);
    println!("{:<22} {:>6} {:>8} {:>12} {:>10}", "family", "size", "answer", "seconds", "conflicts");
    for (name, family, sizes) in FAMILIES {
        for &size in sizes {
            let store = TermStore::new();
            let instance = family(&store, size);
            let start = Instant::now();
            let limits =
                Limits { deadline: start.checked_add(Duration::from_secs(seconds)), ..Limits::default() };
            let mut solver = Solver::new(&store);
            for &formula in &instance.formulas {
                solver.assert(formula).expect("the language is supported");
            }
            let outcome = solver.check(&[], &limits).expect("the language is supported");
            let answer = match outcome {
                Outcome::Sat => "sat",
                Outcome::Unsat => "unsat",
                Outcome::Unknown(_) => "unknown",
            };
            println!(
                "{name:<22} {size:>6} {answer:>8} {:>12.4} {:>10}",
                start.elapsed().as_secs_f64(),
                solver.statistics().conflicts
            );
            let expected = if outcome == Outcome::Sat { Some(true) } else { Some(false) };
            assert!(
                matches!(outcome, Outcome::Unknown(_))
                    || instance.is_satisfiable.is_none()
                    || instance.is_satisfiable == expected,
                "a wrong answer"
            );
            if matches!(outcome, Outcome::Unknown(_)) {
                break;
            }
        }
    }
}
