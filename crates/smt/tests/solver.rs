//! The solver against Z3, and every answer against its evidence: models are evaluated, cores are checked again.

use std::fmt::Write as _;

use shofar_logic::{Op, Sort, Term, TermStore, Value};
use shofar_run::Limits;
use shofar_smt::purify::Feature;
use shofar_smt::sat::Outcome;
use shofar_smt::solver::{Instance, Solver};
use shofar_testing::Random;
use shofar_testing::formulas::{FUNCTIONS, Generator, Language};
use shofar_testing::scale;
use shofar_testing::z3;

/// What a script does next, and what was answered.
fn run_scripts(language: Language, scripts: u64, seed: u64) -> (String, Vec<Outcome>) {
    let mut script = String::from("(set-option :timeout 5000)\n(declare-sort U 0)\n");
    for (name, domain, range) in FUNCTIONS {
        let sort = |letter: &char| match letter {
            'I' => "Int",
            'R' => "Real",
            'B' => "Bool",
            _ => "U",
        };
        let domain: Vec<&str> = domain.iter().map(sort).collect();
        let _ = writeln!(script, "(declare-fun {name} ({}) {})", domain.join(" "), sort(&range));
    }
    for (names, sort) in [("pqrs", "Bool"), ("ijk", "Int"), ("xyz", "Real"), ("abcd", "U")] {
        for name in names.chars() {
            let _ = writeln!(script, "(declare-const {name} {sort})");
        }
    }
    let mut answers = Vec::new();
    for number in 0..scripts {
        let store = TermStore::new();
        let random = Random::new(seed + number);
        let mut generator = Generator { store: &store, random, language };
        let mut solver = Solver::new(&store);
        let mut asserted: Vec<Vec<Term>> = vec![Vec::new()];
        let _ = writeln!(script, "(push)");
        if language.has_functions() && number % 2 == 0 {
            // Many short clauses over few terms, so that the theories have something to say to each other.
            for _ in 0..6 + generator.random.below(12) {
                let literals: Vec<Term> =
                    (0..1 + generator.random.below(2)).map(|_| generator.formula(0)).collect();
                let formula =
                    if literals.len() == 1 { literals[0] } else { store.app(Op::Or, &literals).unwrap() };
                solver.assert(formula).unwrap();
                asserted[0].push(formula);
                let _ = writeln!(script, "(assert {})", store.display(formula));
            }
        }
        for _ in 0..8 {
            match generator.random.below(6) {
                0 => {
                    solver.push();
                    asserted.push(Vec::new());
                    let _ = writeln!(script, "(push)");
                }
                1 if asserted.len() > 1 => {
                    solver.pop();
                    asserted.pop();
                    let _ = writeln!(script, "(pop)");
                }
                2 | 3 => {
                    let assumptions: Vec<Term> =
                        (0..generator.random.below(3)).map(|_| generator.formula(1)).collect();
                    let formulas: Vec<Term> = asserted.iter().flatten().copied().collect();
                    let outcome = ask(&store, &mut solver, &formulas, &assumptions);
                    let _ = writeln!(script, "(push)");
                    for &assumption in &assumptions {
                        let _ = writeln!(script, "(assert {})", store.display(assumption));
                    }
                    let _ = writeln!(script, "(check-sat)\n(pop)");
                    answers.push(outcome);
                }
                4 => {
                    let batch = generator.batch();
                    solver.assert_all(&batch).unwrap();
                    asserted.last_mut().unwrap().extend_from_slice(&batch);
                    for formula in batch {
                        let _ = writeln!(script, "(assert {})", store.display(formula));
                    }
                }
                _ => {
                    let formula = generator.formula(2);
                    solver.assert(formula).unwrap();
                    asserted.last_mut().unwrap().push(formula);
                    let _ = writeln!(script, "(assert {})", store.display(formula));
                }
            }
        }
        let _ = writeln!(script, "(pop {})", asserted.len());
    }
    (script, answers)
}

/// Asks, and checks the evidence.
fn ask(store: &TermStore, solver: &mut Solver<'_>, formulas: &[Term], assumptions: &[Term]) -> Outcome {
    let outcome = solver.check(assumptions, &Limits::default()).unwrap();
    match outcome {
        Outcome::Sat => {
            let all: Vec<Term> = formulas.iter().chain(assumptions).copied().collect();
            let model = solver.model(&all);
            for &formula in &all {
                let value = store.eval(formula, &model);
                assert_eq!(value, Ok(Value::Bool(true)), "{} in a model", store.display(formula));
            }
        }
        Outcome::Unsat => {
            let core = solver.core();
            assert!(core.iter().all(|term| assumptions.contains(term)));
            assert_eq!(solver.check(&core, &Limits::default()), Ok(Outcome::Unsat), "a core");
        }
        Outcome::Unknown(_) => {}
    }
    outcome
}

/// Runs scripts; `SHOFAR_TEST_SCALE=100` in the environment makes it a hundred times as many.
fn compare(language: Language, scripts: u64, seed: u64) {
    let (script, answers) = run_scripts(language, scripts * scale(), seed * 1_000_000);
    z3::compare(&script, &answers);
}

#[test]
fn booleans_agree_with_z3() {
    compare(Language::Booleans, 300, 1);
}

#[test]
fn reals_agree_with_z3() {
    compare(Language::Reals, 400, 2);
}

#[test]
fn integers_agree_with_z3() {
    compare(Language::Integers, 400, 3);
}

#[test]
fn reals_and_integers_together_agree_with_z3() {
    compare(Language::Mixed, 400, 4);
}

#[test]
fn functions_on_a_declared_sort_agree_with_z3() {
    compare(Language::Declared, 400, 5);
}

#[test]
fn functions_on_integers_agree_with_z3() {
    compare(Language::IntegerFunctions, 300, 6);
}

#[test]
fn functions_on_reals_agree_with_z3() {
    compare(Language::RealFunctions, 300, 7);
}

#[test]
fn functions_between_all_sorts_agree_with_z3() {
    compare(Language::Everything, 300, 8);
}

/// Executes the commands of a script and returns the answers.
fn execute(script: &str) -> Vec<String> {
    shofar_testing::scripts::execute(script).lines().map(str::to_owned).collect()
}

#[test]
fn powers_of_a_function_with_coprime_cycles() {
    // f^5(a) = a and f^3(a) = a imply f(a) = a (Nelson & Oppen 1980).
    for sort in ["U", "Int", "Real", "Bool"] {
        let answers = execute(&format!(
            "(declare-sort U 0) (declare-const a {sort}) (declare-fun f ({sort}) {sort})
             (assert (= (f (f (f (f (f a))))) a))
             (assert (= (f (f (f a))) a))
             (check-sat)
             (push) (assert (not (= (f a) a))) (check-sat) (pop)
             (check-sat)"
        ));
        assert_eq!(answers, ["sat", "unsat", "sat"], "{sort}");
    }
}

#[test]
fn all_ways_through_diamonds_connect_their_ends() {
    // Between x_i and x_(i+1) there are two ways, hence 2^9 through all, and each is a conflict of its own.
    for sort in ["U", "Int"] {
        let mut script = format!("(declare-sort U 0) (declare-const x0 {sort})\n");
        for i in 0..9 {
            let next = i + 1;
            let _ = writeln!(
                script,
                "(declare-const y{i} {sort}) (declare-const z{i} {sort}) (declare-const x{next} {sort})
                 (assert (or (and (= x{i} y{i}) (= y{i} x{next})) (and (= x{i} z{i}) (= z{i} x{next}))))"
            );
        }
        script.push_str("(check-sat) (assert (not (= x0 x9))) (check-sat)");
        assert_eq!(execute(&script), ["sat", "unsat"], "{sort}");
    }
}

#[test]
fn six_pigeons_do_not_fit_into_five_holes() {
    let names = |stem: &str, count: usize| (0..count).map(|i| format!("{stem}{i}")).collect::<Vec<_>>();
    let (pigeons, holes) = (names("p", 6), names("h", 5));
    let mut script = String::from("(declare-sort U 0) (declare-sort V 0) (declare-fun in (U) V)\n");
    pigeons.iter().for_each(|p| _ = writeln!(script, "(declare-const {p} U)"));
    holes.iter().for_each(|h| _ = writeln!(script, "(declare-const {h} V)"));
    for pigeon in &pigeons {
        let places: Vec<String> = holes.iter().map(|hole| format!("(= (in {pigeon}) {hole})")).collect();
        let _ = writeln!(script, "(assert (or {}))", places.join(" "));
    }
    let calls =
        |count: usize| pigeons[..count].iter().map(|p| format!("(in {p})")).collect::<Vec<_>>().join(" ");
    let _ = writeln!(script, "(push) (assert (distinct {})) (check-sat) (pop)", calls(5));
    let _ = writeln!(script, "(assert (distinct {})) (check-sat)", calls(6));
    assert_eq!(execute(&script), ["sat", "unsat"]);
}

#[test]
fn a_function_with_few_values_is_not_injective() {
    // The values lie between 1 and 3, so that of four arguments two have the same.
    let script = "(declare-fun f (Int) Int)
        (assert (and (<= 1 (f 1) 3) (<= 1 (f 2) 3) (<= 1 (f 3) 3)))
        (assert (distinct (f 1) (f 2) (f 3)))
        (check-sat)
        (declare-const x Int)
        (assert (<= 1 (f x) 3))
        (check-sat)
        (assert (distinct (f 1) (f 2) (f 3) (f x)))
        (check-sat)";
    assert_eq!(execute(script), ["sat", "sat", "unsat"]);
}

#[test]
fn bounds_that_meet_make_arguments_equal() {
    for sort in ["Int", "Real"] {
        let answers = execute(&format!(
            "(declare-const x {sort}) (declare-const y {sort}) (declare-fun f ({sort}) {sort})
             (assert (not (= (f x) (f y))))
             (check-sat)
             (assert (<= x y))
             (check-sat)
             (assert (<= y x))
             (check-sat)"
        ));
        assert_eq!(answers, ["sat", "sat", "unsat"], "{sort}");
    }
}

#[test]
fn an_argument_in_a_small_interval_is_one_of_its_integers() {
    let script = "(declare-const x Int) (declare-fun f (Int) Int)
        (assert (<= 1 x 2))
        (assert (not (= (f x) (f 1))))
        (check-sat)
        (get-value (x))
        (assert (not (= (f x) (f 2))))
        (check-sat)";
    assert_eq!(execute(script), ["sat", "((x 2))", "unsat"]);
}

#[test]
fn a_cast_integer_is_the_integer() {
    let script = "(declare-const i Int) (declare-const x Real) (declare-fun f (Real) Real)
        (assert (not (= (f x) (f (to_real i)))))
        (assert (< (- 0.5) x 0.5))
        (push) (assert (= i 0)) (check-sat) (assert (>= x 0.0)) (assert (<= x 0.0)) (check-sat) (pop)
        (assert (= x 0.25)) (check-sat)
        (assert (= (f 2.0) 1.0)) (assert (= (f (to_real i)) 3.0)) (assert (= i 2)) (check-sat)";
    assert_eq!(execute(script), ["sat", "unsat", "sat", "unsat"]);
}

#[test]
fn truth_values_are_two() {
    let script = "(declare-sort U 0) (declare-fun f (Bool) U) (declare-fun p (U) Bool)
        (declare-const q Bool) (declare-const r Bool) (declare-const s Bool)
        (push) (assert (distinct (f q) (f r))) (check-sat) (assert (distinct (f q) (f r) (f s))) (check-sat) (pop)
        (declare-const u U)
        (push) (assert (distinct (f (p u)) (f true))) (assert (distinct (f (p u)) (f false))) (check-sat) (pop)
        (push) (assert (distinct (f (and q r)) (f q))) (check-sat) (assert r) (check-sat) (pop)";
    assert_eq!(execute(script), ["sat", "unsat", "unsat", "sat", "unsat"]);
}

#[test]
fn division_by_zero_is_some_function_of_the_dividend() {
    let script = "(declare-const x Int) (declare-const y Int) (declare-const z Real)
        (assert (= (div x 0) 3)) (assert (= (mod x 0) 5)) (assert (= (/ z 0.0) 7.0))
        (check-sat)
        (get-value ((div x 0) (mod x 0) (/ z 0.0)))
        (assert (= (div y 0) 4))
        (check-sat)
        (assert (= (+ x 1) (+ y 1)))
        (check-sat)";
    let values = ["((div x 0) 3)", " ((mod x 0) 5)", " ((/ z 0.0) 7.0))"];
    let answers = execute(script);
    assert_eq!((&answers[0][..], &answers[1][1..]), ("sat", values[0]));
    assert_eq!((&answers[2], &answers[3]), (&values[1].to_owned(), &values[2].to_owned()));
    assert_eq!(answers[4..], ["sat", "unsat"]);
}

#[test]
fn models_list_functions_and_elements() {
    let script = "(declare-sort U 0) (declare-const a U) (declare-fun f (U Int) U) (declare-fun g (Int) Int)
        (declare-fun unused (U) Bool)
        (assert (not (= (f a 1) a))) (assert (= (g 2) 5))
        (check-sat) (get-model) (get-value (a (f a 1) (g 2) (g 3)))";
    assert_eq!(
        execute(script),
        [
            "sat",
            "(",
            "  (define-fun a () U (as @U!val!0 U))",
            "  (define-fun f ((x!0 U) (x!1 Int)) U (ite (and (= x!0 (as @U!val!0 U)) (= x!1 1)) \
             (as @U!val!1 U) (as @U!val!0 U)))",
            "  (define-fun g ((x!0 Int)) Int (ite (= x!0 2) 5 0))",
            "  (define-fun unused ((x!0 U)) Bool false)",
            ")",
            "((a (as @U!val!0 U))",
            " ((f a 1) (as @U!val!1 U))",
            " ((g 2) 5)",
            " ((g 3) 0))",
        ]
    );
}

#[test]
fn numbers_that_differ_by_an_infinitesimal_differ_in_the_model() {
    // The values of f are far apart, the arguments as near as it pleases the solver.
    let store = TermStore::new();
    let reals = ["x", "y", "z"].map(|name| store.var(store.symbol(name), Sort::REAL));
    let f = store.fun(store.symbol("f"), &[Sort::REAL], Sort::INT);
    let mut formulas = vec![store.gt(reals[0], store.real(0)), store.lt(reals[2], store.real(1))];
    formulas.extend(reals.windows(2).map(|pair| store.lt(pair[0], pair[1])));
    let arguments = reals.iter().copied().chain([store.real(0), store.real(1)]);
    for (value, argument) in arguments.enumerate() {
        formulas.push(store.eq(store.apply(f, &[argument]).unwrap(), store.int(value as i64)));
    }
    let mut solver = Solver::new(&store);
    formulas.iter().for_each(|&formula| solver.assert(formula).unwrap());
    assert_eq!(ask(&store, &mut solver, &formulas, &[]), Outcome::Sat);
}

#[test]
fn deep_applications_do_not_overflow_the_stack() {
    let store = TermStore::new();
    let x = store.var(store.symbol("x"), Sort::INT);
    let f = store.fun(store.symbol("f"), &[Sort::INT], Sort::INT);
    let power = |mut term: Term, add: i64| {
        for _ in 0..20_000 {
            term = store.apply(f, &[store.add(&[term, store.int(add)])]).unwrap();
        }
        term
    };
    let mut solver = Solver::new(&store);
    let formulas = [store.eq(power(x, 0), x)];
    solver.assert(formulas[0]).unwrap();
    assert_eq!(ask(&store, &mut solver, &formulas, &[]), Outcome::Sat);
}

#[test]
fn strict_bounds_leave_room_for_a_model() {
    let store = TermStore::new();
    let [x, y] = ["x", "y"].map(|name| store.var(store.symbol(name), Sort::REAL));
    let mut solver = Solver::new(&store);
    let formulas = [store.lt(x, y), store.lt(y, store.add(&[x, store.real(1)])), store.gt(x, store.real(0))];
    for formula in formulas {
        solver.assert(formula).unwrap();
    }
    assert_eq!(ask(&store, &mut solver, &formulas, &[]), Outcome::Sat);
    let impossible = store.le(y, x);
    assert_eq!(ask(&store, &mut solver, &formulas, &[impossible, formulas[2]]), Outcome::Unsat);
    assert_eq!(solver.core(), [impossible]);
}

#[test]
fn a_frame_takes_its_assertions_and_its_contradiction_along() {
    let store = TermStore::new();
    let x = store.var(store.symbol("x"), Sort::INT);
    let half = store.int_div(x, store.int(2));
    let mut solver = Solver::new(&store);
    solver.push();
    solver.assert(store.eq(half, store.int(3))).unwrap();
    solver.push();
    solver.assert(Term::FALSE).unwrap();
    assert_eq!(solver.check(&[], &Limits::default()), Ok(Outcome::Unsat));
    assert!(solver.core().is_empty());
    solver.pop();
    assert_eq!(ask(&store, &mut solver, &[store.eq(half, store.int(3))], &[]), Outcome::Sat);
    solver.pop();
    // The definition of the quotient is still there, although the formula that it came with is not.
    let nine = store.eq(x, store.int(9));
    assert_eq!(ask(&store, &mut solver, &[], &[nine, store.eq(half, store.int(4))]), Outcome::Sat);
    assert_eq!(ask(&store, &mut solver, &[], &[nine, store.eq(half, store.int(3))]), Outcome::Unsat);
}

#[test]
fn unbounded_integers_end_with_an_honest_answer() {
    let store = TermStore::new();
    let [x, y] = ["x", "y"].map(|name| store.var(store.symbol(name), Sort::INT));
    let mut solver = Solver::new(&store);
    // 1 <= 3x - 3y <= 2 has rational solutions in every box, and no integer ones. As written, each bound is rounded
    // away, so the form is taken apart by another variable.
    let z = store.var(store.symbol("z"), Sort::INT);
    let form = |other: Term| {
        store.sub(store.mul_const(&3.into(), x), store.add(&[store.mul_const(&3.into(), y), other]))
    };
    solver.assert(store.ge(form(z), store.int(1))).unwrap();
    solver.assert(store.le(form(z), store.int(2))).unwrap();
    solver.assert(store.le(store.add(&[z, z]), store.sub(x, x))).unwrap();
    solver.assert(store.ge(z, store.int(0))).unwrap();
    assert_ne!(solver.check(&[], &Limits::default()), Ok(Outcome::Sat));
}

#[test]
fn what_is_not_supported_is_said() {
    let store = TermStore::new();
    let x = store.var(store.symbol("x"), Sort::INT);
    let mut solver = Solver::new(&store);
    let square = store.app(Op::Mul, &[x, x]).unwrap();
    let error = solver.assert(store.app(Op::Eq, &[square, x]).unwrap()).unwrap_err();
    assert_eq!(error.feature, Feature::NonlinearArithmetic);
    assert_eq!(solver.check(&[], &Limits::default()), Ok(Outcome::Sat));
}

/// Integer variables with numbers in their names.
fn integers(store: &TermStore, count: usize) -> Vec<Term> {
    (0..count).map(|index| store.var(store.symbol(&format!("n{index}")), Sort::INT)).collect()
}

#[test]
fn chains_of_equations_are_solved_and_models_have_all_their_links() {
    for last in [1000, 999] {
        let store = TermStore::new();
        let links = integers(&store, 1001);
        let next = |link: Term| store.add(&[link, store.int(1)]);
        let mut formulas: Vec<Term> =
            links.windows(2).map(|pair| store.app(Op::Eq, &[pair[1], next(pair[0])]).unwrap()).collect();
        formulas.push(store.eq(links[0], store.int(0)));
        formulas.push(store.ge(links[1000], store.int(last)));
        formulas.push(store.le(links[1000], store.int(last)));
        let mut solver = Solver::new(&store);
        solver.assert_all(&formulas).unwrap();
        let outcome = ask(&store, &mut solver, &formulas, &[]);
        assert_eq!(outcome == Outcome::Sat, last == 1000);
    }
}

#[test]
fn equations_in_a_circle_contradict_each_other() {
    let store = TermStore::new();
    let [x, y] = integers(&store, 2)[..] else { unreachable!() };
    let next = |term: Term| store.add(&[term, store.int(1)]);
    let mut solver = Solver::new(&store);
    solver.assert_all(&[store.eq(x, next(y)), store.eq(y, next(x))]).unwrap();
    assert_eq!(solver.check(&[], &Limits::default()), Ok(Outcome::Unsat));
}

/// What is left of 2x + y = 1 has no integer solutions once y is 2z.
#[test]
fn an_equation_may_become_impossible_for_integers() {
    let store = TermStore::new();
    let [x, y, z] = integers(&store, 3)[..] else { unreachable!() };
    let twice = |term: Term| store.mul_const(&2.into(), term);
    let formulas = [store.eq(y, twice(z)), store.eq(store.add(&[twice(x), y]), store.int(1))];
    for mut solver in [Solver::new(&store), Solver::with_proofs(&store)] {
        solver.assert_all(&formulas).unwrap();
        assert_eq!(solver.check(&[], &Limits::default()), Ok(Outcome::Unsat));
    }
}

/// Equations, comparisons and disjunctions of few integers: replacing symbols in all of them, in instances when they are
/// made, or in none comes to the same.
#[test]
fn replaced_symbols_and_instances_change_no_answer() {
    let (mut sat, mut unsat) = (0, 0);
    for seed in 0..1500 {
        let store = TermStore::new();
        let mut random = Random::new(seed);
        let [parameters, symbols] = [0, 6].map(|first| integers(&store, first + 6)[first..].to_vec());
        let mut formula = |over: &[Term], depth: u64| {
            let mut literal = || {
                let summands: Vec<Term> = (0..1 + random.below(3))
                    .map(|_| {
                        let factor = i64::try_from(random.below(5)).unwrap() - 2;
                        store.mul_const(&factor.into(), over[random.below(over.len())])
                    })
                    .collect();
                let (sum, constant) = (store.add(&summands), store.int(random.between(-2, 2)));
                if random.below(3) == 0 { store.le(sum, constant) } else { store.eq(sum, constant) }
            };
            if depth == 0 { literal() } else { store.or_of([literal(), literal()]) }
        };
        let formulas: Vec<Term> = (0..3).map(|number| formula(&symbols, number / 2)).collect();
        // Like a declared constant, the last symbol is free in instances.
        let free: Vec<Term> = parameters.iter().chain(&symbols[5..]).copied().collect();
        let definitions: Vec<Term> = (0..2).map(|number| formula(&free, number)).collect();
        let arguments: Vec<(Term, Term)> =
            parameters.iter().copied().zip(symbols.iter().copied().rev()).collect();
        let instances: Vec<Instance> =
            definitions.iter().map(|&formula| Instance { formula, arguments: arguments.clone() }).collect();
        let made = instances.iter().map(|instance| instance.term(&store));
        let all: Vec<Term> = formulas.iter().copied().chain(made).collect();
        let mut plain = Solver::new(&store);
        all.iter().for_each(|&formula| plain.assert(formula).unwrap());
        let expected = ask(&store, &mut plain, &all, &[]);
        let (mut replaced, mut with_instances) = (Solver::new(&store), Solver::new(&store));
        replaced.assert_all(&all).unwrap();
        with_instances.assert_instances(&formulas, &instances).unwrap();
        assert_eq!(ask(&store, &mut replaced, &all, &[]), expected, "seed {seed}");
        assert_eq!(ask(&store, &mut with_instances, &all, &[]), expected, "seed {seed}");
        *(if expected == Outcome::Sat { &mut sat } else { &mut unsat }) += 1;
    }
    assert!(sat > 100 && unsat > 100, "{sat} sat, {unsat} unsat");
}

#[test]
fn what_an_equation_defines_is_open_again_when_its_frame_ends() {
    let store = TermStore::new();
    let [x, y] = integers(&store, 2)[..] else { unreachable!() };
    let is = |term: Term, value: i64| store.eq(term, store.int(value));
    let mut solver = Solver::new(&store);
    solver.push();
    let inner = [store.eq(x, store.add(&[y, store.int(1)])), is(y, 3)];
    solver.assert_all(&inner).unwrap();
    assert_eq!(ask(&store, &mut solver, &inner, &[is(x, 4)]), Outcome::Sat);
    assert_eq!(ask(&store, &mut solver, &inner, &[is(x, 5)]), Outcome::Unsat);
    solver.pop();
    let outer = [is(x, 5), is(y, 5)];
    solver.assert_all(&outer).unwrap();
    assert_eq!(ask(&store, &mut solver, &outer, &[]), Outcome::Sat);
    solver.assert(store.lt(x, y)).unwrap();
    assert_eq!(solver.check(&[], &Limits::default()), Ok(Outcome::Unsat));
}

#[test]
fn a_symbol_that_is_known_already_is_not_forgotten() {
    let store = TermStore::new();
    let [x, y] = integers(&store, 2)[..] else { unreachable!() };
    let mut solver = Solver::new(&store);
    solver.assert(store.le(x, store.int(3))).unwrap();
    solver.assert_all(&[store.eq(x, y), store.ge(y, store.int(4))]).unwrap();
    assert_eq!(solver.check(&[], &Limits::default()), Ok(Outcome::Unsat));
}

#[test]
fn quantifiers_are_eliminated_and_variables_projected() {
    let answers = execute(
        "(declare-const x Int) (declare-const y Int)
         (get-qe (exists ((z Int)) (and (<= x (* 2 z)) (<= (* 2 z) (+ x 1)) (= y z))))
         (get-qe (forall ((z Real)) (=> (< z 1.0) (< z 2.0))))
         (get-qe (exists ((z Int)) (and (< x z) (< z y))))
         (get-qe (< x y))
         (get-projection (x) (< x y))
         (assert (< x y)) (assert (< 5 x))
         (check-sat)
         (get-projection (x) (and (< x y) (< 5 x)))
         (get-projection (x) (< y x))",
    );
    assert_eq!(answers[1], "true");
    assert_eq!(answers[2], "(<= (+ x (* (- 1) y)) (- 2))");
    assert!(answers[3].starts_with("(error"));
    assert!(answers[4].starts_with("(error"));
    assert_eq!(answers[5], "sat");
    assert_eq!(answers[6], "(not (<= y 6))");
    assert!(answers[7].starts_with("(error"));
    // The first has no single form: that it is equivalent is for the tests of elimination to say.
    assert!(!answers[0].contains('z'));
}

#[test]
fn interpolants_of_groups_in_a_row_and_in_a_tree() {
    let script = |command: &str| {
        execute(&format!(
            "(set-option :produce-interpolants true)
             (declare-const x Int) (declare-const y Int) (declare-const z Int) (declare-const w Int)
             (assert (! (<= 3 x) :named a)) (assert (! (= y (+ x 1)) :named b))
             (assert (! (<= z 2) :named c)) (assert (! (and (< y z) (= w 0)) :named d))
             (check-sat) {command}"
        ))
    };
    let sequence = script("(get-interpolants a b (and c d))");
    assert_eq!(sequence, ["unsat", "((not (<= x 2)) (not (<= y 3)))"]);
    let tree = script("(get-interpolants (a b) (c) d)");
    assert_eq!(tree, ["unsat", "((not (<= x 2)) (not (<= y 3)) (<= z 2))"]);
    // What is in no group belongs to the last.
    let two = script("(set-option :interpolation-lra dual) (get-interpolants (and a b) d)");
    assert_eq!(two.len(), 2);
    for mistake in [
        "(get-interpolants a)",
        "(get-interpolants a nobody)",
        "(set-option :interpolation-bool best)",
        "(set-option :interpolation-strength 2)",
        "(set-option :interpolation-bool dual-mcmillan) (get-interpolants (a) (b) (and c d))",
    ] {
        assert!(script(mistake)[1].starts_with("(error"), "{mistake}");
    }
    assert!(execute("(check-sat) (get-interpolants a b)")[1].starts_with("(error"));
}
