//! Measures implicants and projections on cubes of thirty literals over fifteen variables.
//!
//! Literals have four small coefficients each; a point of a small box satisfies them. The formula for implicants has each
//! literal in a disjunction with two others, one of which is false, below two levels of connectives.

use divan::Bencher;
use shofar_logic::number::Rational;
use shofar_logic::{Assignment, Sort, Term, TermStore, Value};
use shofar_smt::project::Projector;
use shofar_testing::Random;

fn main() {
    divan::main();
}

struct Problem {
    store: TermStore,
    vars: Vec<Term>,
    model: Assignment,
    literals: Vec<Term>,
    formula: Term,
}

fn problem(sort: Sort, largest: i64) -> Problem {
    let store = TermStore::new();
    let mut random = Random::new(7);
    let vars: Vec<Term> = (0..15).map(|i| store.var(store.symbol(&format!("x{i}")), sort)).collect();
    let values: Vec<i64> = vars.iter().map(|_| random.between(-20, 20)).collect();
    let value = |n: i64| if sort == Sort::INT { Value::Int(n.into()) } else { Value::Real(n.into()) };
    let model = vars.iter().copied().zip(values.iter().map(|&n| value(n))).collect();
    let mut literals = Vec::new();
    let mut clauses = Vec::new();
    for number in 0..30 {
        let mut at = 0;
        let summands: Vec<Term> = (0..4)
            .map(|_| {
                let (var, factor) = (random.between(0, 14) as usize, random.between(-largest, largest));
                at += factor * values[var];
                store.mul_const(&Rational::from(factor), vars[var])
            })
            .collect();
        let sum = store.add(&summands);
        let number_of = |n: i64| store.value_to_term(&value(n));
        let literal = match number % 6 {
            0 => store.eq(sum, number_of(at)),
            1 => store.lt(sum, number_of(at + random.between(1, 9))),
            _ => store.le(sum, number_of(at + random.between(0, 9))),
        };
        let wrong = store.gt(sum, number_of(at + 10));
        clauses.push(store.or(&[
            literal,
            wrong,
            store.lt(vars[number % 15], number_of(values[number % 15] + 1)),
        ]));
        literals.push(literal);
    }
    let halves: Vec<Term> = clauses.chunks(6).map(|part| store.and(part)).collect();
    let formula = store.and2(store.or2(halves[0], halves[1]), store.and(&halves[1..]));
    Problem { store, vars, model, literals, formula }
}

/// The kinds of problems: the sort, and the largest coefficient.
const KINDS: [(&str, Sort, i64); 3] =
    [("reals", Sort::REAL, 5), ("units", Sort::INT, 1), ("integers", Sort::INT, 4)];

fn kind(name: &str) -> Problem {
    let (_, sort, largest) = KINDS.into_iter().find(|(kind, ..)| *kind == name).expect("a kind");
    problem(sort, largest)
}

#[divan::bench(args = ["reals", "units", "integers"])]
fn implicant(bencher: Bencher<'_, '_>, name: &str) {
    let problem = kind(name);
    let mut projector = Projector::new(&problem.store);
    bencher.bench_local(|| projector.implicant(problem.formula, &problem.model, &problem.vars[..5]));
}

/// Implicant and projection of five variables.
#[divan::bench(args = ["reals", "units", "integers"])]
fn formula(bencher: Bencher<'_, '_>, name: &str) {
    let problem = kind(name);
    let mut projector = Projector::new(&problem.store);
    bencher.bench_local(|| projector.project(problem.formula, &problem.model, &problem.vars[..5]));
}

#[divan::bench(args = ["reals", "units", "integers"], consts = [0, 5, 10])]
fn cube<const ELIMINATED: usize>(bencher: Bencher<'_, '_>, name: &str) {
    let problem = kind(name);
    let mut projector = Projector::new(&problem.store);
    let vars = &problem.vars[..ELIMINATED];
    bencher.bench_local(|| projector.project_cube(&problem.literals, &problem.model, vars));
}
