//! Integer reasoning: the steps of the kernel against enumeration, and the solver against Z3.

use std::fmt::Write as _;

use shofar_logic::number::{Integer, Rational};
use shofar_logic::{Op, Sort, Term, TermStore, Value};
use shofar_run::{Limits, Reason as GaveUp};
use shofar_smt::sat::Outcome;
use shofar_smt::solver::Solver;
use shofar_smt::theory::arith::{
    self, Budget, Config, DeltaRational, IntegerStatistics, Integers, Reason, Refutation, Side, Simplex,
    Step, Var,
};
use shofar_testing::Random;
use shofar_testing::scale;
use shofar_testing::z3;

/// `SHOFAR_TEST_SCALE=100` in the environment makes it a hundred times as many problems.
fn scaled(problems: u64) -> u64 {
    problems * scale()
}

// The kernel.

/// A conjunction of bounds on forms over integer variables.
struct Conjunction {
    vars: usize,
    /// Form, side, bound. The position is the reason.
    bounds: Vec<(Vec<i64>, Side, i64)>,
}

impl Conjunction {
    fn in_box(vars: usize, low: i64, high: i64) -> Conjunction {
        let mut conjunction = Conjunction { vars, bounds: Vec::new() };
        for var in 0..vars {
            let form: Vec<i64> = (0..vars).map(|other| i64::from(other == var)).collect();
            conjunction.between(form, low, high);
        }
        conjunction
    }

    fn between(&mut self, form: Vec<i64>, low: i64, high: i64) {
        self.bounds.push((form.clone(), Side::Lower, low));
        self.bounds.push((form, Side::Upper, high));
    }

    /// Whether integers from `low` to `high` satisfy the bounds with the given reasons.
    fn is_satisfied_within(&self, low: i64, high: i64, reasons: &[usize]) -> bool {
        let mut point = vec![low; self.vars];
        loop {
            let holds = |&reason: &usize| {
                let (form, side, bound) = &self.bounds[reason];
                let value: i64 = form.iter().zip(&point).map(|(coeff, value)| coeff * value).sum();
                if *side == Side::Lower { value >= *bound } else { value <= *bound }
            };
            if reasons.iter().all(holds) {
                return true;
            }
            let Some(next) = point.iter().position(|&value| value < high) else { return false };
            point[next] += 1;
            point[..next].fill(low);
        }
    }
}

/// A search by splitting alone, without clauses.
struct Tree<'a> {
    problem: &'a Conjunction,
    simplex: Simplex,
    integers: Integers,
    vars: Vec<Var>,
    /// Where the integers are that contradictions are compared with.
    range: (i64, i64),
    /// Bounds that were asserted by the search, whose reasons count from the number of bounds of the problem on.
    made: Vec<(Var, Side, Integer)>,
}

impl Tree<'_> {
    fn new(problem: &Conjunction, range: (i64, i64)) -> Tree<'_> {
        let mut simplex = Simplex::new(Config::default());
        let mut integers = Integers::default();
        let vars: Vec<Var> = (0..problem.vars).map(|_| simplex.new_var(true)).collect();
        vars.iter().for_each(|&var| integers.add_var(var));
        Tree { problem, simplex, integers, vars, range, made: Vec::new() }
    }

    /// Whether there is a solution; `None` if the budget was used up.
    fn solve(&mut self) -> Option<bool> {
        for (reason, (form, side, bound)) in self.problem.bounds.iter().enumerate() {
            let terms: Vec<_> =
                self.vars.iter().zip(form).map(|(&var, &coeff)| (var, Rational::from(coeff))).collect();
            let Some((var, factor)) = self.simplex.new_row(&terms) else {
                // The form is zero.
                let holds = if *side == Side::Lower { 0 >= *bound } else { 0 <= *bound };
                if holds {
                    continue;
                }
                return Some(false);
            };
            let bound = DeltaRational::from(Rational::from(*bound) / &factor);
            let side = if factor.is_negative() { side.opposite() } else { *side };
            if self.simplex.assert_bound(var, side, &bound, Reason(reason as u32)).is_err() {
                return Some(false);
            }
        }
        self.search()
    }

    fn search(&mut self) -> Option<bool> {
        if let arith::Outcome::Infeasible(_) = self.simplex.check(&Budget::UNLIMITED) {
            return Some(false);
        }
        let step = self.integers.step(&mut self.simplex);
        self.simplex.check_invariants();
        match step {
            Step::Content => {
                let model = self.simplex.model();
                assert!(self.vars.iter().all(|var| model[var.index()].is_integer()));
                let value = |form: &[i64]| -> Rational {
                    let pairs = form.iter().zip(&self.vars);
                    pairs.fold(Rational::ZERO, |sum, (&coeff, var)| {
                        sum + Rational::from(coeff) * &model[var.index()]
                    })
                };
                for (form, side, bound) in &self.problem.bounds {
                    let (value, bound) = (value(form), Rational::from(*bound));
                    assert!(if *side == Side::Lower { value >= bound } else { value <= bound });
                }
                Some(true)
            }
            Step::GiveUp => None,
            Step::Refuted(refutation) => {
                self.check_refutation(&refutation);
                Some(false)
            }
            Step::Tightened(tightening) => {
                assert!(!self.made.is_empty() || self.follows(&tightening));
                self.with_bound(tightening.var, tightening.side, tightening.bound)
            }
            Step::Split { var, floor, first } => {
                let above = &floor + Integer::ONE;
                let mut sides = [(Side::Upper, floor), (Side::Lower, above)];
                if first == Side::Lower {
                    sides.swap(0, 1);
                }
                let mut answer = Some(false);
                for (side, bound) in sides {
                    match self.with_bound(var, side, bound) {
                        Some(false) => {}
                        Some(true) => return Some(true),
                        None => answer = None,
                    }
                }
                answer
            }
        }
    }

    fn with_bound(&mut self, var: Var, side: Side, bound: Integer) -> Option<bool> {
        let reason = Reason((self.problem.bounds.len() + self.made.len()) as u32);
        self.made.push((var, side, bound.clone()));
        self.simplex.push();
        let answer = match self.simplex.assert_bound(var, side, &DeltaRational::from(bound), reason) {
            Ok(()) => self.search(),
            Err(_) => Some(false),
        };
        self.simplex.pop(1);
        answer
    }

    /// The bounds named by a refutation have no solution on their own, whatever the other bounds are.
    fn check_refutation(&self, refutation: &Refutation) {
        let reasons: Vec<usize> = refutation.reasons().iter().map(|reason| reason.0 as usize).collect();
        if reasons.iter().all(|&reason| reason < self.problem.bounds.len()) {
            let (low, high) = self.range;
            assert!(!self.problem.is_satisfied_within(low, high, &reasons), "{refutation:?}");
        }
    }

    fn follows(&self, tightening: &arith::Tightening) -> bool {
        let reasons: Vec<usize> = tightening.reasons().iter().map(|reason| reason.0 as usize).collect();
        let Some(position) = self.problem.bounds.iter().position(|(form, ..)| {
            let terms: Vec<_> = self.vars.iter().zip(form).collect();
            terms.iter().filter(|(_, coeff)| **coeff != 0).count() == 1
                && terms.iter().any(|(var, coeff)| **var == tightening.var && **coeff == 1)
        }) else {
            return true;
        };
        // The bound is violated by no solution of its premises.
        let bound = tightening.bound.to_i64().expect("small");
        let mut violated = Conjunction { vars: self.problem.vars, bounds: self.problem.bounds.clone() };
        let form = self.problem.bounds[position].0.clone();
        violated.bounds.push(match tightening.side {
            Side::Lower => (form, Side::Upper, bound - 1),
            Side::Upper => (form, Side::Lower, bound + 1),
        });
        let reasons: Vec<usize> = reasons.into_iter().chain([violated.bounds.len() - 1]).collect();
        !violated.is_satisfied_within(self.range.0, self.range.1, &reasons)
    }
}

fn add(total: &mut IntegerStatistics, one: IntegerStatistics) {
    total.gcd_conflicts += one.gcd_conflicts;
    total.patched += one.patched;
    total.cubes += one.cubes;
    total.equation_conflicts += one.equation_conflicts;
    total.tightened += one.tightened;
    total.cuts += one.cuts;
    total.branches += one.branches;
}

/// Compares the tree search with enumeration in boxes, on forms that `forms` adds.
fn compare_in_boxes(
    problems: u64,
    seed: u64,
    forms: impl Fn(&mut Random, &mut Conjunction),
) -> IntegerStatistics {
    let mut total = IntegerStatistics::default();
    let mut satisfiable = 0;
    for number in 0..problems {
        let mut random = Random::new(seed * 1_000_000 + number + 1);
        let size = random.between(1, 4);
        let mut problem = Conjunction::in_box(2 + random.below(3), -size, size);
        forms(&mut random, &mut problem);
        let all: Vec<usize> = (0..problem.bounds.len()).collect();
        let expected = problem.is_satisfied_within(-size, size, &all);
        let mut tree = Tree::new(&problem, (-size - 1, size + 1));
        assert_eq!(tree.solve(), Some(expected), "problem {number}: {:?}", problem.bounds);
        add(&mut total, tree.integers.statistics());
        satisfiable += u64::from(expected);
    }
    assert!(satisfiable > problems / 20 && satisfiable < problems * 19 / 20, "{satisfiable} are satisfiable");
    total
}

#[test]
fn equations_in_boxes_agree_with_enumeration() {
    let total = compare_in_boxes(scaled(1500), 1, |random, problem| {
        for _ in 0..1 + random.below(2) {
            let (form, value) = (random.form(problem.vars, 12), random.between(-20, 20));
            problem.between(form, value, value);
        }
    });
    assert!(total.gcd_conflicts > 0 && total.patched > 0 && total.tightened > 0, "{total:?}");
    assert!(total.equation_conflicts > 0 && total.branches > 0, "{total:?}");
}

#[test]
fn bands_in_boxes_agree_with_enumeration() {
    let total = compare_in_boxes(scaled(1500), 2, |random, problem| {
        for _ in 0..1 + random.below(4) {
            let (form, low) = (random.form(problem.vars, 9), random.between(-15, 15));
            let high = low + random.between(0, 2);
            problem.between(form, low, high);
        }
    });
    assert!(
        total.gcd_conflicts > 0 && total.patched > 0 && total.cuts > 0 && total.branches > 0,
        "{total:?}"
    );
}

#[test]
fn inequalities_in_boxes_agree_with_enumeration() {
    let total = compare_in_boxes(scaled(1500), 3, |random, problem| {
        for _ in 0..2 + random.below(5) {
            let (form, high) = (random.form(problem.vars, 7), random.between(-12, 6));
            problem.bounds.push((form, Side::Upper, high));
        }
    });
    assert!(total.patched > 0 && total.cubes > 0 && total.cuts > 0 && total.branches > 0, "{total:?}");
}

/// What the kernel says of a problem without bounds on single variables, at the first step.
fn first_step(vars: usize, bounds: &[(&[i64], i64, i64)]) -> (Step, IntegerStatistics) {
    let mut problem = Conjunction { vars, bounds: Vec::new() };
    for (form, low, high) in bounds {
        problem.between(form.to_vec(), *low, *high);
    }
    let mut tree = Tree::new(&problem, (-9, 9));
    for (reason, (form, side, bound)) in problem.bounds.iter().enumerate() {
        let terms: Vec<_> =
            tree.vars.iter().zip(form).map(|(&var, &coeff)| (var, Rational::from(coeff))).collect();
        let (var, factor) = tree.simplex.new_row(&terms).expect("not zero");
        assert!(factor.is_one(), "forms in normal form keep the test readable");
        let bound = DeltaRational::from(*bound);
        tree.simplex.assert_bound(var, *side, &bound, Reason(reason as u32)).expect("no clash");
    }
    assert_eq!(tree.simplex.check(&Budget::UNLIMITED), arith::Outcome::Feasible);
    let step = tree.integers.step(&mut tree.simplex);
    if let Step::Refuted(refutation) = &step {
        tree.check_refutation(refutation);
    }
    (step, tree.integers.statistics())
}

fn reasons(step: &Step) -> Vec<u32> {
    let Step::Refuted(refutation) = step else { panic!("{step:?}") };
    refutation.reasons().iter().map(|reason| reason.0).collect()
}

#[test]
fn the_gcd_test_needs_the_bounds_of_small_coefficients_only() {
    // 1 <= 3x - 3y + z <= 2, z = 0; and w, which has nothing to do with it.
    let (step, statistics) =
        first_step(4, &[(&[3, -3, 1, 0], 1, 2), (&[0, 0, 1, 0], 0, 0), (&[0, 0, 0, 1], 0, 5)]);
    assert_eq!((reasons(&step), statistics.gcd_conflicts), (vec![0, 1, 2, 3], 1));
}

#[test]
fn even_is_not_odd() {
    // z - 2x = 0, z - 2y = 1.
    let (step, _) = first_step(3, &[(&[2, 0, -1], 0, 0), (&[0, 2, -1], -1, -1)]);
    assert_eq!(reasons(&step), [0, 1, 2, 3]);
    let Step::Refuted(refutation) = step else { unreachable!() };
    let half = Rational::new(Integer::ONE, Integer::from(2));
    assert!(refutation.terms.iter().all(|term| term.multiplier.abs() == half), "{refutation:?}");
}

#[test]
fn equations_over_several_rows_are_refuted_by_those_that_matter() {
    // Modulo 3: x + y + z = 1, x + y - 2z = 0 contradict each other; the third equation does not matter.
    let (step, statistics) =
        first_step(4, &[(&[1, 1, 1, 0], 1, 1), (&[1, 1, -2, 0], 0, 0), (&[0, 0, 5, 7], 3, 3)]);
    assert_eq!(reasons(&step), [0, 1, 2, 3]);
    assert_eq!(statistics.gcd_conflicts + statistics.equation_conflicts, 1);
}

#[test]
fn unbounded_rows_that_meet_in_a_fraction_are_decided_without_bounds() {
    for (vars, bounds) in [
        (3, vec![(&[3_i64, 5, 7][..], 1, 2), (&[5, 3, 9], 4, 4), (&[1, 1, 2], 3, 3)]),
        (2, vec![(&[5, -3][..], 1, 1), (&[7, 2], 3, 4)]),
    ] {
        let mut problem = Conjunction { vars, bounds: Vec::new() };
        for (form, low, high) in bounds {
            problem.between(form.to_vec(), low, high);
        }
        let mut tree = Tree::new(&problem, (-30, 30));
        let all: Vec<usize> = (0..problem.bounds.len()).collect();
        assert_eq!(tree.solve(), Some(problem.is_satisfied_within(-30, 30, &all)));
    }
}

// The solver.

/// Asks, and checks the evidence.
fn ask(store: &TermStore, formulas: &[Term]) -> Outcome {
    let mut solver = Solver::new(store);
    for &formula in formulas {
        solver.assert(formula).unwrap();
    }
    let outcome = solver.check(&[], &Limits::default()).unwrap();
    if outcome == Outcome::Sat {
        let model = solver.model(formulas);
        for &formula in formulas {
            assert_eq!(store.eval(formula, &model), Ok(Value::Bool(true)), "{}", store.display(formula));
        }
    }
    outcome
}

fn read(store: &TermStore, sum: &[(i64, Term)]) -> Term {
    let terms: Vec<Term> = sum.iter().map(|&(coeff, term)| store.mul_const(&coeff.into(), term)).collect();
    store.add(&terms)
}

fn integers(store: &TermStore, count: usize) -> Vec<Term> {
    (0..count).map(|index| store.var(store.symbol(&format!("x{index}")), Sort::INT)).collect()
}

#[test]
fn equations_without_integer_solutions_are_unsatisfiable_without_bounds() {
    let store = TermStore::new();
    let x = integers(&store, 4);
    let form =
        |coeffs: &[i64]| read(&store, &coeffs.iter().copied().zip(x.iter().copied()).collect::<Vec<_>>());
    let systems: [&[(&[i64], i64)]; 4] = [
        &[(&[3, -3], 1)],
        &[(&[2, 0, -1], 0), (&[0, 2, -1], -1)],
        &[(&[1, 1, 1], 1), (&[1, 1, -2], 0)],
        &[(&[6, 10, 15, 1], 0), (&[0, 0, 0, 2], 1)],
    ];
    for system in systems {
        let formulas: Vec<Term> =
            system.iter().map(|(form_, value)| store.eq(form(form_), store.int(*value))).collect();
        assert_eq!(ask(&store, &formulas), Outcome::Unsat, "{system:?}");
    }
    // The last one with another right side has solutions.
    let formulas =
        [store.eq(form(&[6, 10, 15, 1]), store.int(0)), store.eq(form(&[0, 0, 0, 2]), store.int(2))];
    assert_eq!(ask(&store, &formulas), Outcome::Sat);
}

#[test]
fn a_search_that_takes_too_long_is_given_up() {
    // The greatest number that is no sum of these weights, and the next one. From K. Aardal and A. K. Lenstra, Hard equality constrained integer knapsacks, 2004 (cuww1).
    let store = TermStore::new();
    let x = integers(&store, 5);
    let weights = [12223, 12224, 36674, 61119, 85569];
    let sum = read(&store, &weights.into_iter().zip(x.iter().copied()).collect::<Vec<_>>());
    let mut formulas: Vec<Term> = x.iter().map(|&x| store.ge(x, store.int(0))).collect();
    formulas.push(store.eq(sum, store.int(89_643_481)));
    let outcome = ask(&store, &formulas);
    assert!(matches!(outcome, Outcome::Unsat | Outcome::Unknown(GaveUp::Incomplete)), "{outcome:?}");
    *formulas.last_mut().unwrap() = store.eq(sum, store.int(89_643_482));
    assert_eq!(ask(&store, &formulas), Outcome::Sat);
}

#[test]
fn splits_of_one_query_are_not_decided_in_the_next() {
    let store = TermStore::new();
    let x = integers(&store, 10);
    let weights = [211, 223, 227, 229, 233, 239, 241, 251, 257, 263];
    let sum: Vec<_> = weights.into_iter().zip(x.iter().copied()).collect();
    let mut solver = Solver::new(&store);
    for &x in &x {
        solver.assert(store.and2(store.le(store.int(0), x), store.le(x, store.int(1)))).unwrap();
    }
    solver.push();
    solver.assert(store.eq(read(&store, &sum), store.int(1190))).unwrap();
    let first = solver.check(&[], &Limits::default()).unwrap();
    let hard = solver.statistics().decisions;
    solver.pop();
    assert_eq!(solver.check(&[], &Limits::default()), Ok(Outcome::Sat));
    let easy = solver.statistics().decisions - hard;
    assert!(hard > 40 && easy < 40, "{hard} decisions, then {easy}");
    // Asked again, the answer is the same, with the same atoms.
    solver.push();
    solver.assert(store.eq(read(&store, &sum), store.int(1190))).unwrap();
    assert_eq!(solver.check(&[], &Limits::default()), Ok(first));
}

/// A family of generated scripts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Family {
    Equations,
    BoundedEquations,
    Knapsacks,
    Inequalities,
    Bands,
    Mixed,
    Divisions,
    LargeCoefficients,
    Choices,
}

struct Generator<'a> {
    store: &'a TermStore,
    random: Random,
    vars: Vec<Term>,
}

impl Generator<'_> {
    /// A sum of the variables, as a real number if one of them is real.
    fn sum(&mut self, size: i64) -> Term {
        let store = self.store;
        let is_mixed = self.vars.iter().any(|&var| store.sort_of(var) == Sort::REAL);
        let terms: Vec<Term> = (0..self.vars.len())
            .map(|index| {
                let var = self.vars[index];
                let cast = is_mixed && store.sort_of(var) == Sort::INT;
                let var = if cast { store.app(Op::ToReal, &[var]).unwrap() } else { var };
                store.mul_const(&self.random.between(-size, size).into(), var)
            })
            .collect();
        store.add(&terms)
    }

    fn number(&self, like: Term, value: i64) -> Term {
        match self.store.sort_of(like) {
            Sort::REAL => self.store.real(Rational::new(value.into(), Integer::from(2))),
            _ => self.store.int(value),
        }
    }

    fn equation(&mut self, size: i64, right: i64) -> Term {
        let sum = self.sum(size);
        let right = self.random.between(-right, right);
        self.store.eq(sum, self.number(sum, right))
    }

    fn inequality(&mut self, size: i64, right: (i64, i64)) -> Term {
        let sum = self.sum(size);
        let right = self.random.between(right.0, right.1);
        let right = self.number(sum, right);
        if self.random.below(4) == 0 { self.store.lt(sum, right) } else { self.store.le(sum, right) }
    }

    fn band(&mut self, size: i64) -> Term {
        let (sum, low) = (self.sum(size), self.random.between(-20, 20));
        let high = low + self.random.between(0, 3);
        let store = self.store;
        store.and2(store.le(self.number(sum, low), sum), store.le(sum, self.number(sum, high)))
    }

    fn range(&mut self, low: i64, high: i64) -> Vec<Term> {
        let store = self.store;
        let within = |&var: &Term| store.and2(store.le(store.int(low), var), store.le(var, store.int(high)));
        self.vars.iter().map(within).collect()
    }

    fn problem(&mut self, family: Family) -> Vec<Term> {
        let store = self.store;
        let count = self.vars.len();
        match family {
            Family::Equations => {
                (0..1 + self.random.below(count - 1)).map(|_| self.equation(20, 50)).collect()
            }
            Family::BoundedEquations => {
                let mut formulas = self.range(-25, 25);
                formulas.extend((0..1 + self.random.below(2)).map(|_| self.equation(20, 100)));
                formulas
            }
            Family::Knapsacks => {
                let mut formulas = self.range(0, 1000);
                let weights: Vec<(i64, Term)> =
                    self.vars.clone().into_iter().map(|var| (self.random.between(10, 120), var)).collect();
                let right = store.int(self.random.between(50, 400));
                formulas.push(store.eq(read(store, &weights), right));
                formulas
            }
            Family::Inequalities => {
                (0..count + self.random.below(8)).map(|_| self.inequality(5, (-10, 5))).collect()
            }
            Family::Bands => (0..1 + self.random.below(count)).map(|_| self.band(12)).collect(),
            Family::Mixed => (0..count + self.random.below(3))
                .map(|_| match self.random.below(3) {
                    0 => self.equation(9, 40),
                    _ => self.inequality(9, (-40, 40)),
                })
                .collect(),
            Family::Divisions => (0..count + 1)
                .map(|_| {
                    let (sum, divisor) = (self.sum(9), self.random.between(2, 30));
                    let op = if self.random.below(3) == 0 { Op::IntDiv } else { Op::Mod };
                    let quotient = store.app(op, &[sum, store.int(divisor)]).unwrap();
                    store.app(Op::Eq, &[quotient, store.int(self.random.between(0, divisor - 1))]).unwrap()
                })
                .collect(),
            Family::LargeCoefficients => {
                let mut formulas: Vec<Term> =
                    (0..1 + self.random.below(count - 1)).map(|_| self.equation(1 << 40, 1 << 40)).collect();
                let nonnegative = |&var: &Term| store.ge(var, store.int(0));
                formulas.extend(self.vars.iter().skip(1).map(nonnegative));
                formulas
            }
            Family::Choices => (0..count + 1)
                .map(|_| store.or(&[self.band(12), self.band(9), self.equation(15, 30)]))
                .collect(),
        }
    }
}

fn compare(family: Family, vars: (usize, usize), problems: u64) {
    let problems = scaled(problems);
    let mut script = String::from("(set-option :timeout 2000)\n");
    let mut answers = Vec::new();
    for number in 0..problems {
        let store = TermStore::new();
        let mut random = Random::new(family as u64 * 1_000_000 + number + 1);
        let count = vars.0 + random.below(vars.1 - vars.0 + 1);
        let mut names = integers(&store, count);
        if family == Family::Mixed {
            let reals = 1 + random.below(count / 2);
            for (index, name) in names.iter_mut().take(reals).enumerate() {
                *name = store.var(store.symbol(&format!("r{index}")), Sort::REAL);
            }
        }
        let _ = writeln!(script, "(push)");
        for &name in &names {
            let sort = if store.sort_of(name) == Sort::INT { "Int" } else { "Real" };
            let _ = writeln!(script, "(declare-const {} {sort})", store.display(name));
        }
        let formulas = Generator { store: &store, random, vars: names }.problem(family);
        for &formula in &formulas {
            let _ = writeln!(script, "(assert {})", store.display(formula));
        }
        let _ = writeln!(script, "(check-sat)\n(pop)");
        answers.push(ask(&store, &formulas));
    }
    z3::compare(&script, &answers);
}

#[test]
fn equations_agree_with_z3() {
    compare(Family::Equations, (3, 8), 60);
}

#[test]
fn equations_with_bounds_agree_with_z3() {
    compare(Family::BoundedEquations, (3, 6), 60);
}

#[test]
fn knapsacks_agree_with_z3() {
    compare(Family::Knapsacks, (4, 8), 40);
}

#[test]
fn unbounded_inequalities_agree_with_z3() {
    compare(Family::Inequalities, (4, 10), 60);
}

#[test]
fn unbounded_bands_agree_with_z3() {
    compare(Family::Bands, (2, 6), 60);
}

#[test]
fn integers_and_reals_agree_with_z3() {
    compare(Family::Mixed, (3, 7), 60);
}

#[test]
fn quotients_and_remainders_agree_with_z3() {
    compare(Family::Divisions, (2, 4), 40);
}

#[test]
fn large_coefficients_agree_with_z3() {
    compare(Family::LargeCoefficients, (3, 6), 40);
}

#[test]
fn choices_between_bands_and_equations_agree_with_z3() {
    compare(Family::Choices, (2, 4), 40);
}
