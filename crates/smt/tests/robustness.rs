//! Large, deep or hard inputs: answers come in reasonable time, or the limits end the query.
//!
//! Time limits are generous, because the machine may be slow and these tests are not optimised; they catch work that is
//! quadratic in the input, which would take minutes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use shofar_logic::number::{Integer, Rational};
use shofar_logic::{Op, Sort, Term, TermStore, Value};
use shofar_run::{Limits, Reason};
use shofar_smt::sat::Outcome;
use shofar_smt::script::{Commands, Script};
use shofar_smt::solver::Solver;
use shofar_testing::Random;

fn var(store: &TermStore, name: &str, index: usize, sort: Sort) -> Term {
    store.var(store.symbol(&format!("{name}{index}")), sort)
}

fn assert_all(solver: &mut Solver<'_>, formulas: &[Term]) {
    for &formula in formulas {
        solver.assert(formula).expect("the language is supported");
    }
}

fn check(solver: &mut Solver<'_>) -> Outcome {
    solver.check(&[], &Limits::default()).expect("the language is supported")
}

fn assert_model(store: &TermStore, solver: &Solver<'_>, formulas: &[Term]) {
    let model = solver.model(formulas);
    for &formula in formulas {
        assert_eq!(store.eval(formula, &model), Ok(Value::Bool(true)));
    }
}

/// The answers to a script, one line each.
fn run(script: &str, limits: &Limits<'_>) -> Vec<String> {
    let store = TermStore::new();
    let mut commands = Commands::new(script.as_bytes());
    let mut script = Script::new(&store);
    let mut out = Vec::new();
    while let Some(command) = commands.next_command().expect("reading from memory") {
        script.execute(&command, limits, &mut out).expect("writing to memory");
    }
    String::from_utf8(out).expect("answers are text").lines().map(str::to_owned).collect()
}

#[test]
fn coefficients_of_hundreds_of_digits() {
    let mut random = Random::new(1);
    let mut big = || {
        let billion = Integer::from(1_000_000_000);
        let number = (0..34).fold(Integer::ONE, |number, _| {
            &(&number * &billion) + &Integer::from(random.below(1_000_000_000) as i64)
        });
        if random.bool() { number } else { -number }
    };
    let store = TermStore::new();
    let vars: Vec<Term> = (0..8).map(|index| var(&store, "r", index, Sort::REAL)).collect();
    let mut row = || {
        let products: Vec<Term> =
            vars.iter().map(|&var| store.mul_const(&Rational::from(big()), var)).collect();
        let sum = store.add(&products);
        store.eq(sum, store.real(Rational::from(big())))
    };
    // As many equations as unknowns: one solution, whose values have thousands of digits.
    let formulas: Vec<Term> = (0..8).map(|_| row()).collect();
    let mut solver = Solver::new(&store);
    assert_all(&mut solver, &formulas);
    assert_eq!(check(&mut solver), Outcome::Sat);
    assert_model(&store, &solver, &formulas);
    // One more hyperplane does not contain it.
    assert_all(&mut solver, &[row()]);
    assert_eq!(check(&mut solver), Outcome::Unsat);
}

#[test]
fn a_hundred_thousand_assertions() {
    let store = TermStore::new();
    let vars: Vec<Term> = (0..1000).map(|index| var(&store, "x", index, Sort::INT)).collect();
    let mut random = Random::new(7);
    let formulas: Vec<Term> = (0..100_000)
        .map(|_| {
            let [first, second, bound] = [1000, 1000, 1000].map(|bound| random.below(bound));
            store.le(store.sub(vars[first], vars[second]), store.int(bound as i64))
        })
        .collect();
    let mut solver = Solver::new(&store);
    assert_all(&mut solver, &formulas);
    assert_eq!(check(&mut solver), Outcome::Sat);
    assert_model(&store, &solver, &formulas);
    let back = store.le(store.sub(vars[1], vars[0]), store.int(-1000));
    let ways = [
        store.le(store.sub(vars[0], vars[2]), store.int(400)),
        store.le(store.sub(vars[2], vars[1]), store.int(500)),
    ];
    let assumptions = [back, ways[0], store.eq(vars[3], vars[4]), ways[1]];
    let outcome = solver.check(&assumptions, &Limits::default());
    assert_eq!(outcome, Ok(Outcome::Unsat));
    solver.minimize_core(&Limits::default());
    assert!(!solver.core().contains(&assumptions[2]));
}

#[test]
fn a_hundred_thousand_named_assertions_and_their_core() {
    let mut script = String::from("(set-option :produce-unsat-cores true)");
    for index in 0..100_000 {
        script.push_str(&format!("(declare-const b{index} Bool)(assert (! b{index} :named n{index}))"));
    }
    script.push_str("(assert (! (not b77) :named bad))(check-sat)(get-unsat-core)");
    assert_eq!(run(&script, &Limits::default()), ["unsat", "(n77 bad)"]);
}

#[test]
fn nested_frames() {
    for (depth, interval) in [(1000, 1), (100_000, 25_000)] {
        let store = TermStore::new();
        let x = var(&store, "x", 0, Sort::INT);
        let mut solver = Solver::new(&store);
        for level in 0..depth {
            solver.push();
            assert_all(&mut solver, &[store.ge(x, store.int(level))]);
            if level % interval == 0 {
                assert_eq!(check(&mut solver), Outcome::Sat);
            }
        }
        let below = store.lt(x, store.int(depth / 2));
        assert_eq!(solver.check(&[below], &Limits::default()), Ok(Outcome::Unsat));
        assert_eq!(solver.core(), [below]);
        for level in (0..depth).rev() {
            solver.pop();
            if level % interval == 0 {
                let expected = if level <= depth / 2 { Outcome::Sat } else { Outcome::Unsat };
                assert_eq!(solver.check(&[below], &Limits::default()), Ok(expected), "{level} of {depth}");
            }
        }
    }
}

#[test]
fn frames_leave_nothing_behind() {
    let store = TermStore::new();
    let vars: Vec<Term> = (0..10).map(|index| var(&store, "x", index, Sort::INT)).collect();
    let mut atoms = Vec::new();
    for first in 0..10 {
        for second in 0..10 {
            atoms.push(
                store.le(store.sub(vars[first], vars[second]), store.int((first * second) as i64 - 20)),
            );
        }
    }
    let atoms: Vec<Term> =
        atoms.into_iter().filter(|&atom| atom != Term::TRUE && atom != Term::FALSE).collect();
    let mut solver = Solver::new(&store);
    let mut random = Random::new(3);
    let mut sizes = Vec::new();
    for round in 0..20_000 {
        solver.push();
        for _ in 0..3 {
            let literals = [(); 2].map(|()| {
                let atom = atoms[random.below(atoms.len())];
                if random.bool() { atom } else { store.not(atom) }
            });
            assert_all(&mut solver, &[store.or_of(literals)]);
        }
        assert_ne!(check(&mut solver), Outcome::Unknown(Reason::Incomplete));
        solver.pop();
        if round % 10_000 == 9_999 {
            let statistics = solver.all_statistics();
            let get = |name| statistics.iter().find(|(other, _)| *other == name).expect("it is counted").1;
            sizes.push(get("variables"));
            assert!(get("clauses") < 10_000, "{} clauses", get("clauses"));
        }
    }
    assert!(sizes[1] < sizes[0] + 100, "variables accumulate: {sizes:?}");
}

#[test]
fn what_does_not_matter_any_more_is_not_decided_until_it_matters_again() {
    let store = TermStore::new();
    let bounds = |index: usize| {
        let x = var(&store, "x", index, Sort::INT);
        let pair = [store.le(x, store.int(0)), store.ge(x, store.int(5))];
        (store.or_of(pair), store.not(store.and_of(pair.map(|atom| store.not(atom)))))
    };
    let p = var(&store, "p", 0, Sort::BOOL);
    let gates: Vec<Term> = (0..100).map(|index| store.iff(p, bounds(index).1)).collect();
    let mut solver = Solver::new(&store);
    let mut decisions = |formulas: &[Term], assumptions: &[Term]| {
        let before = solver.statistics().decisions;
        solver.push();
        assert_all(&mut solver, formulas);
        assert_eq!(solver.check(assumptions, &Limits::default()), Ok(Outcome::Sat));
        let all: Vec<Term> = formulas.iter().chain(assumptions).copied().collect();
        assert_model(&store, &solver, &all);
        solver.pop();
        solver.statistics().decisions - before
    };
    assert!(decisions(&gates, &[p]) >= 100);
    assert!(decisions(&[bounds(3).0], &[]) <= 2);
    assert!(decisions(&[], &gates[..1]) <= 4);
    assert!(decisions(&[], &[p]) <= 1);
    assert!(decisions(&gates[8..], &[store.not(gates[7]), bounds(9).0]) >= 80);
}

#[test]
fn a_clause_of_a_million_literals() {
    let store = TermStore::new();
    let vars: Vec<Term> = (0..1_000_000).map(|index| var(&store, "b", index, Sort::BOOL)).collect();
    let mut solver = Solver::new(&store);
    assert_all(&mut solver, &[store.or_of(vars.iter().copied())]);
    assert_eq!(check(&mut solver), Outcome::Sat);
    let negations: Vec<Term> = vars[1..].iter().map(|&var| store.not(var)).collect();
    assert_all(&mut solver, &negations);
    assert_eq!(check(&mut solver), Outcome::Sat);
    assert_eq!(solver.check(&[store.not(vars[0])], &Limits::default()), Ok(Outcome::Unsat));
}

#[test]
fn deeply_nested_choices() {
    let store = TermStore::new();
    let conditions: Vec<Term> = (0..50).map(|index| var(&store, "c", index, Sort::BOOL)).collect();
    let numbers: Vec<Term> = (0..50).map(|index| var(&store, "x", index, Sort::INT)).collect();
    // As written: the builders would simplify repeated conditions.
    let nested = |depth: usize| {
        let mut term = numbers[0];
        for level in 0..depth {
            term = store
                .app(Op::Ite, &[conditions[level % 50], numbers[level * 7 % 50], term])
                .expect("it is well-sorted");
        }
        term
    };
    for depth in [10, 1000, 10_000] {
        let formulas = [
            store.app(Op::Gt, &[nested(depth), store.int(5)]).expect("it is well-sorted"),
            store.le(numbers[7 * (depth - 1) % 50], store.int(3)),
        ];
        let mut solver = Solver::new(&store);
        assert_all(&mut solver, &formulas);
        assert_eq!(check(&mut solver), Outcome::Sat);
        assert_model(&store, &solver, &formulas);
        assert_all(&mut solver, &[conditions[(depth - 1) % 50]]);
        assert_eq!(check(&mut solver), Outcome::Unsat);
    }
}

#[test]
fn deep_nesting_in_a_script() {
    const DEPTH: usize = 100_000;
    for (open, close, leaf) in [
        ("(and p (or q ", "))", "p"),
        ("(= p (xor q ", "))", "p"),
        ("(not (not ", "))", "p"),
        ("(=> p ", ")", "q"),
    ] {
        let script = format!(
            "(declare-const p Bool)(declare-const q Bool)(assert {}{leaf}{})(check-sat)(get-value (p))",
            open.repeat(DEPTH),
            close.repeat(DEPTH)
        );
        assert_eq!(run(&script, &Limits::default())[0], "sat", "{open}");
    }
    let sum = format!(
        "(declare-const x Int)(assert (= 0 {}x{}))(check-sat)(get-value (x))",
        "(+ 1 ".repeat(DEPTH),
        ")".repeat(DEPTH)
    );
    assert_eq!(run(&sum, &Limits::default()), ["sat", "((x (- 100000)))"]);
}

/// A linear program whose first check takes long: dense, and without a solution that is easy to see.
fn dense_program(store: &TermStore, size: usize) -> Vec<Term> {
    let vars: Vec<Term> = (0..size).map(|index| var(store, "r", index, Sort::REAL)).collect();
    let mut random = Random::new(5);
    (0..2 * size)
        .map(|_| {
            let coefficient = |random: &mut Random| Rational::from(random.between(-99, 99));
            let products: Vec<Term> =
                vars.iter().map(|&var| store.mul_const(&coefficient(&mut random), var)).collect();
            store.ge(store.add(&products), store.real(Rational::from(random.below(1000) as i64)))
        })
        .collect()
}

#[test]
fn a_flag_set_by_another_thread_ends_a_long_check_of_the_theory() {
    let store = TermStore::new();
    let formulas = dense_program(&store, 120);
    let mut solver = Solver::new(&store);
    assert_all(&mut solver, &formulas);
    let cancel = AtomicBool::new(false);
    let limits = Limits { cancel: Some(&cancel), ..Limits::default() };
    let (outcome, latency) = std::thread::scope(|scope| {
        let setter = scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(300));
            cancel.store(true, Ordering::Relaxed);
            Instant::now()
        });
        let outcome = solver.check(&[], &limits);
        let end = Instant::now();
        (outcome, end - setter.join().expect("the thread does not panic"))
    });
    assert_eq!(outcome, Ok(Outcome::Unknown(Reason::Cancelled)));
    // Some milliseconds where nothing else runs.
    assert!(latency < Duration::from_secs(1), "{latency:?}");
    let pivots =
        solver.all_statistics().iter().find(|(name, _)| *name == "simplex-pivots").map(|&(_, value)| value);
    assert!(pivots > Some(0), "the flag came before the check had begun");
}

#[test]
fn limits_end_a_long_check_and_the_reason_is_told() {
    let store = TermStore::new();
    let mut script = String::new();
    for index in 0..120 {
        script.push_str(&format!("(declare-const r{index} Real)"));
    }
    for formula in dense_program(&store, 120) {
        script.push_str(&format!("(assert {})", store.display(formula)));
    }
    script.push_str("(check-sat)(get-info :reason-unknown)");
    let soon = Instant::now() + Duration::from_millis(400);
    let timeout = Limits { deadline: Some(soon), ..Limits::default() };
    let memout = Limits { memory: Some(1 << 20), ..Limits::default() };
    assert_eq!(run(&script, &timeout), ["unknown", "(:reason-unknown \"timeout\")"]);
    assert_eq!(run(&script, &memout), ["unknown", "(:reason-unknown \"memout\")"]);
}

#[test]
fn minimized_cores_are_cores_from_which_nothing_can_be_left_out() {
    let store = TermStore::new();
    let vars: Vec<Term> = (0..4).map(|index| var(&store, "x", index, Sort::INT)).collect();
    let mut random = Random::new(11);
    let mut smaller = 0;
    for _ in 0..300 {
        let mut atom = || {
            let [first, second] = [0, 1].map(|_| vars[random.below(4)]);
            let bound = store.int(random.between(-5, 5));
            match random.below(3) {
                0 => store.le(first, bound),
                1 => store.ge(first, bound),
                _ => store.le(store.add(&[first, second]), bound),
            }
        };
        let clauses: Vec<Term> = (0..8).map(|_| store.or_of([atom(), atom(), atom()])).collect();
        let assumptions: Vec<Term> = (0..8).map(|_| store.or_of([atom(), atom()])).collect();
        let mut solver = Solver::new(&store);
        assert_all(&mut solver, &clauses);
        if solver.check(&assumptions, &Limits::default()) != Ok(Outcome::Unsat) {
            continue;
        }
        let first = solver.core();
        solver.minimize_core(&Limits::default());
        let core = solver.core();
        smaller += usize::from(core.len() < first.len());
        assert!(core.iter().all(|term| first.contains(term)));
        let mut fresh = Solver::new(&store);
        assert_all(&mut fresh, &clauses);
        assert_eq!(fresh.check(&core, &Limits::default()), Ok(Outcome::Unsat));
        for &left_out in &core {
            let others: Vec<Term> = core.iter().copied().filter(|&term| term != left_out).collect();
            assert_eq!(fresh.check(&others, &Limits::default()), Ok(Outcome::Sat));
        }
    }
    assert!(smaller > 0, "no core was made smaller");
}
