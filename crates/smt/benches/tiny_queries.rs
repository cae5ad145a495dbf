//! A million tiny queries in one process over one store, as the engines for Horn clauses ask them.
//!
//! ```text
//! solvers       a new solver for each query, with ten literals asserted
//! assumptions   one solver with some clauses, and ten new assumptions for each query
//! frames        one solver with some clauses; push, three literals and a clause, check, pop
//! ```
//!
//! The literals are over 200 atoms, made before the clock starts: ten integers, five reals and five booleans in bounds
//! and differences. Everything comes from one generator of random numbers, and `bench/tiny_queries.c` asks Z3 the same
//! queries, so the numbers of answers must agree. `bench/README.md` has the figures of both.
//!
//! `cargo bench -p shofar-smt --bench tiny_queries -- [QUERIES [MODE]]`

#![expect(clippy::print_stdout, reason = "the table is what the benchmark is for")]

use std::time::{Duration, Instant};

use shofar_logic::number::Rational;
use shofar_logic::{Sort, Term, TermStore};
use shofar_run::Limits;
use shofar_smt::sat::Outcome;
use shofar_smt::solver::Solver;
use shofar_testing::Random;

const ATOMS: usize = 200;
const CLAUSES: usize = 20;
const LITERALS: usize = 10;
/// Times are told for so many parts of a run, since what accumulates shows in the last of them.
const PARTS: usize = 10;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let queries = arguments.first().and_then(|text| text.parse().ok()).unwrap_or(1_000_000);
    let wanted = arguments.get(1);
    println!("mode          queries     sat   unsat  us/query   first    last");
    for (name, run) in
        [("solvers", solvers as fn(usize, &mut Tally)), ("assumptions", assumptions), ("frames", frames)]
    {
        if wanted.is_none_or(|wanted| wanted == name) {
            let mut tally = Tally::new(queries);
            run(queries, &mut tally);
            tally.print(name);
        }
    }
}

fn literal(random: &mut Random, atoms: &Atoms) -> Term {
    let atom = random.below(ATOMS);
    atoms[atom][random.below(2)]
}

fn clause(random: &mut Random, store: &TermStore, atoms: &Atoms, size: usize) -> Term {
    let literals: Vec<Term> = (0..size).map(|_| literal(random, atoms)).collect();
    store.or_of(literals)
}

/// For each atom its negation and itself.
type Atoms = Vec<[Term; 2]>;

fn atoms(store: &TermStore, random: &mut Random) -> Atoms {
    let vars = |prefix: &str, count: usize, sort: Sort| -> Vec<Term> {
        (0..count).map(|index| store.var(store.symbol(&format!("{prefix}{index}")), sort)).collect()
    };
    let (ints, reals, bools) = (vars("x", 10, Sort::INT), vars("r", 5, Sort::REAL), vars("b", 5, Sort::BOOL));
    let other =
        |random: &mut Random, first: usize, count: usize| (first + 1 + random.below(count - 1)) % count;
    let mut atom = || {
        let kind = random.below(10);
        match kind {
            0 | 1 => bools[random.below(5)],
            2..=5 => {
                let var = ints[random.below(10)];
                store.le(var, store.int(random.between(-20, 20)))
            }
            6 | 7 => {
                let first = random.below(10);
                let second = other(random, first, 10);
                let bound = store.int(random.between(-20, 20));
                store.le(store.sub(ints[first], ints[second]), bound)
            }
            8 => {
                let var = reals[random.below(5)];
                store.le(var, store.real(Rational::from(random.between(-20, 20))))
            }
            _ => {
                let first = random.below(5);
                let second = other(random, first, 5);
                let bound = store.real(Rational::from(random.between(-20, 20)));
                store.lt(store.sub(reals[first], reals[second]), bound)
            }
        }
    };
    let atoms: Vec<Term> = (0..ATOMS).map(|_| atom()).collect();
    atoms.into_iter().map(|atom| [store.not(atom), atom]).collect()
}

fn solvers(queries: usize, tally: &mut Tally) {
    let store = TermStore::new();
    let mut random = Random::new(1);
    let atoms = atoms(&store, &mut random);
    for _ in 0..queries {
        let mut solver = Solver::new(&store);
        for _ in 0..LITERALS {
            assert_supported(&mut solver, literal(&mut random, &atoms));
        }
        tally.count(check(&mut solver, &[]));
    }
}

fn assumptions(queries: usize, tally: &mut Tally) {
    let store = TermStore::new();
    let mut random = Random::new(1);
    let atoms = atoms(&store, &mut random);
    let mut solver = with_clauses(&store, &atoms, &mut random);
    let mut assumed = [Term::TRUE; LITERALS];
    for _ in 0..queries {
        assumed.fill_with(|| literal(&mut random, &atoms));
        tally.count(check(&mut solver, &assumed));
    }
}

fn frames(queries: usize, tally: &mut Tally) {
    let store = TermStore::new();
    let mut random = Random::new(1);
    let atoms = atoms(&store, &mut random);
    let mut solver = with_clauses(&store, &atoms, &mut random);
    // Clauses are among the terms that are there before the clock starts.
    let clauses: Vec<Term> = (0..ATOMS).map(|_| clause(&mut random, &store, &atoms, 2)).collect();
    for _ in 0..queries {
        solver.push();
        for _ in 0..3 {
            assert_supported(&mut solver, literal(&mut random, &atoms));
        }
        assert_supported(&mut solver, clauses[random.below(ATOMS)]);
        tally.count(check(&mut solver, &[]));
        solver.pop();
    }
}

/// A solver with clauses, such as those of a transition relation.
fn with_clauses<'a>(store: &'a TermStore, atoms: &Atoms, random: &mut Random) -> Solver<'a> {
    let mut solver = Solver::new(store);
    for _ in 0..CLAUSES {
        assert_supported(&mut solver, clause(random, store, atoms, 3));
    }
    solver
}

fn assert_supported(solver: &mut Solver<'_>, formula: Term) {
    solver.assert(formula).expect("linear arithmetic is supported");
}

fn check(solver: &mut Solver<'_>, assumptions: &[Term]) -> Outcome {
    solver.check(assumptions, &Limits::default()).expect("linear arithmetic is supported")
}

/// Answers and times.
struct Tally {
    part: usize,
    sat: usize,
    unsat: usize,
    start: Instant,
    /// The time at the end of each part.
    ends: Vec<Duration>,
}

impl Tally {
    fn new(queries: usize) -> Self {
        let part = (queries / PARTS).max(1);
        Tally { part, sat: 0, unsat: 0, start: Instant::now(), ends: vec![Duration::ZERO] }
    }

    fn count(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Sat => self.sat += 1,
            Outcome::Unsat => self.unsat += 1,
            Outcome::Unknown(reason) => panic!("no query is hard: {reason:?}"),
        }
        if (self.sat + self.unsat).is_multiple_of(self.part) {
            self.ends.push(self.start.elapsed());
        }
    }

    fn print(&self, name: &str) {
        let queries = self.sat + self.unsat;
        let per_query = |time: Duration, count: usize| time.as_secs_f64() * 1e6 / count as f64;
        let last = self.ends.len() - 1;
        println!(
            "{name:<11} {queries:>9} {:>7} {:>7} {:>9.2} {:>7.2} {:>7.2}",
            self.sat,
            self.unsat,
            per_query(self.ends[last], queries),
            per_query(self.ends[1] - self.ends[0], self.part),
            per_query(self.ends[last] - self.ends[last - 1], self.part),
        );
    }
}
