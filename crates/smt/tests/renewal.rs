//! A solver that is renewed at each query answers like one that never is, and like a fresh one: outcomes, models,
//! cores, proofs and interpolants of generated sequences of calls.

use shofar_logic::{Sort, Term, TermStore, Value};
use shofar_run::Limits;
use shofar_smt::interpolate::verify::{Entailment, separates};
use shofar_smt::interpolate::{Error, Options};
use shofar_smt::proof::{Part, check};
use shofar_smt::renewal::Renewal;
use shofar_smt::sat::Outcome;
use shofar_smt::solver::{Instance, Solver};
use shofar_testing::Random;
use shofar_testing::formulas::{Generator, Language};
use shofar_testing::scale;

const LIMITS: Limits<'static> = Limits {
    conflicts: Some(2_000),
    propagations: Some(200_000),
    deadline: None,
    memory: None,
    cancel: None,
    gate: None,
};

/// What was seen.
#[derive(Default, Debug)]
struct Tally {
    sat: usize,
    unsat: usize,
    interpolants: usize,
}

/// A solver and what was asserted to it, by frames.
struct Asked<'a> {
    store: &'a TermStore,
    solver: Solver<'a>,
    has_proofs: bool,
}

impl Asked<'_> {
    /// Asks, and verifies all that is said about the answer.
    fn ask(
        &mut self,
        asserted: &[(Term, Part)],
        assumed: &[(Term, Part)],
        tally: &mut Tally,
    ) -> Option<bool> {
        let store = self.store;
        let all: Vec<Term> = asserted.iter().chain(assumed).map(|&(formula, _)| formula).collect();
        match self.solver.check_in(assumed, &LIMITS).unwrap() {
            Outcome::Unknown(_) => None,
            Outcome::Sat => {
                let model = self.solver.model(&all);
                for &formula in &all {
                    assert_eq!(
                        store.eval(formula, &model),
                        Ok(Value::Bool(true)),
                        "{}",
                        store.display(formula)
                    );
                }
                tally.sat += 1;
                Some(true)
            }
            Outcome::Unsat => {
                let core = self.solver.core();
                let mut fresh = fresh(store, asserted);
                assert!(core.iter().all(|formula| assumed.iter().any(|(assumed, _)| assumed == formula)));
                assert_ne!(
                    fresh.check(&core, &LIMITS),
                    Ok(Outcome::Sat),
                    "a core contradicts what is asserted"
                );
                if self.has_proofs {
                    assert_eq!(check(store, &self.solver.proof().unwrap()), Ok(()));
                    self.check_interpolants(asserted, assumed, tally);
                }
                tally.unsat += 1;
                Some(false)
            }
        }
    }

    fn check_interpolants(&self, asserted: &[(Term, Part)], assumed: &[(Term, Part)], tally: &mut Tally) {
        let side = |is_a: bool| -> Vec<Term> {
            let all = asserted.iter().chain(assumed);
            all.filter(|&&(_, part)| (part == Part(0)) == is_a).map(|&(formula, _)| formula).collect()
        };
        match self.solver.interpolator(Options::default()).unwrap().binary(&[Part(0)], &LIMITS) {
            Ok(found) => {
                let verdict = separates(self.store, &side(true), found.formula, &side(false), &LIMITS);
                assert_ne!(verdict, Ok(Entailment::Fails), "{}", self.store.display(found.formula));
                tally.interpolants += 1;
            }
            Err(Error::NotFound(..)) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

/// A new solver to which formulas are asserted one by one.
fn fresh<'a>(store: &'a TermStore, asserted: &[(Term, Part)]) -> Solver<'a> {
    let mut solver = Solver::new(store);
    asserted.iter().for_each(|&(formula, _)| solver.assert(formula).unwrap());
    solver
}

/// Sequences of calls in a language, with proofs or without.
fn compare(language: Language, has_proofs: bool, seed: u64) -> Tally {
    let mut tally = Tally::default();
    for number in 0..30 * scale() {
        let store = TermStore::new();
        let random = Random::new(seed * 1_000_000 + number);
        let mut generator = Generator { store: &store, random, language };
        let solver = |renewal: Renewal| {
            let mut solver = if has_proofs { Solver::with_proofs(&store) } else { Solver::new(&store) };
            solver.set_renewal(renewal);
            Asked { store: &store, solver, has_proofs }
        };
        let mut solvers = [solver(Renewal::Always), solver(Renewal::Never)];
        let mut frames: Vec<Vec<(Term, Part)>> = vec![Vec::new()];
        for _ in 0..30 {
            match generator.random.below(10) {
                0 => {
                    solvers.iter_mut().for_each(|it| it.solver.push());
                    frames.push(Vec::new());
                }
                1 if frames.len() > 1 => {
                    solvers.iter_mut().for_each(|it| it.solver.pop());
                    frames.pop();
                }
                2 | 3 => {
                    let new = (generator.formula(2), Part(generator.random.below(2) as u32));
                    solvers.iter_mut().for_each(|it| it.solver.assert_in(new.0, new.1).unwrap());
                    frames.last_mut().unwrap().push(new);
                }
                4 => {
                    let batch: Vec<(Term, Part)> =
                        generator.batch().into_iter().map(|formula| (formula, Part::default())).collect();
                    solvers.iter_mut().for_each(|it| it.solver.assert_all_in(&batch).unwrap());
                    frames.last_mut().unwrap().extend(batch);
                }
                5 => {
                    let instance = instance(&mut generator);
                    let new = (instance.term(&store), Part::default());
                    for it in &mut solvers {
                        it.solver.assert_instances(&[], std::slice::from_ref(&instance)).unwrap();
                    }
                    frames.last_mut().unwrap().push(new);
                }
                _ => {
                    let assumed: Vec<(Term, Part)> = (0..generator.random.below(3))
                        .map(|_| (generator.formula(1), Part(generator.random.below(2) as u32)))
                        .collect();
                    let asserted = frames.concat();
                    let mut answers: Vec<bool> =
                        solvers.iter_mut().filter_map(|it| it.ask(&asserted, &assumed, &mut tally)).collect();
                    let assumed: Vec<Term> = assumed.iter().map(|&(formula, _)| formula).collect();
                    match fresh(&store, &asserted).check(&assumed, &LIMITS).unwrap() {
                        Outcome::Unknown(_) => {}
                        outcome => answers.push(outcome == Outcome::Sat),
                    }
                    assert!(
                        answers.windows(2).all(|pair| pair[0] == pair[1]),
                        "{answers:?}, sequence {number}"
                    );
                }
            }
        }
    }
    assert!(tally.sat > 50 && tally.unsat > 50, "{tally:?}");
    tally
}

/// A formula with its symbols exchanged.
fn instance(generator: &mut Generator<'_>) -> Instance {
    let store = generator.store;
    let formula = generator.formula(1);
    let variables = store.free_vars(&[formula]);
    let same_sort =
        |of: Term| variables.iter().copied().filter(move |&other| store.sort_of(other) == store.sort_of(of));
    let mut arguments = Vec::new();
    for &variable in &variables {
        let candidates: Vec<Term> = same_sort(variable).collect();
        arguments.push((variable, *generator.random.choose(&candidates)));
    }
    Instance { formula, arguments }
}

#[test]
fn booleans() {
    compare(Language::Booleans, false, 1);
    compare(Language::Booleans, true, 2);
}

#[test]
fn reals() {
    compare(Language::Reals, false, 3);
    assert!(compare(Language::Reals, true, 4).interpolants > 50);
}

#[test]
fn integers() {
    compare(Language::Integers, false, 5);
    assert!(compare(Language::Integers, true, 6).interpolants > 50);
}

#[test]
fn functions() {
    compare(Language::Declared, false, 7);
    compare(Language::Declared, true, 8);
}

fn counter(solver: &Solver<'_>, name: &str) -> u64 {
    solver.all_statistics().into_iter().find(|&(other, _)| other == name).unwrap().1
}

/// Ten thousand different assumptions, each with an answer that is known.
#[test]
fn the_past_does_not_pile_up_and_counts_are_carried_over() {
    for has_proofs in [false, true] {
        let store = TermStore::new();
        let mut solver = if has_proofs { Solver::with_proofs(&store) } else { Solver::new(&store) };
        let [x, y] = ["x", "y"].map(|name| store.var(store.symbol(name), Sort::INT));
        solver.assert(store.le(x, y)).unwrap();
        solver.push();
        solver.assert(store.le(y, store.int(5_000))).unwrap();
        let mut most = 0;
        for number in 0..10_000 {
            let assumption = store.ge(store.add(&[x, y]), store.int(2 * number));
            let expected = if number <= 5_000 { Outcome::Sat } else { Outcome::Unsat };
            assert_eq!(solver.check(&[assumption], &Limits::default()), Ok(expected), "{number}");
            most = most.max(counter(&solver, "variables"));
        }
        assert!(counter(&solver, "renewals") >= 1 && most < 5_000, "{most}");
        assert_eq!((solver.statistics().queries, counter(&solver, "queries")), (10_000, 10_000));
        solver.pop();
        let beyond = store.ge(y, store.int(6_000));
        assert_eq!(solver.check(&[beyond], &Limits::default()), Ok(Outcome::Sat));
    }
}

/// A batch that fails has asserted a part of its formulas, so that the solver is not made anew.
#[test]
fn a_solver_with_a_failed_assertion_stays_as_it_is() {
    let store = TermStore::new();
    let [x, y] = ["x", "y"].map(|name| store.var(store.symbol(name), Sort::INT));
    let product = store.app(shofar_logic::Op::Mul, &[x, y]).unwrap();
    let mut solver = Solver::new(&store);
    solver.set_renewal(Renewal::Always);
    assert!(solver.assert_all(&[store.ge(x, store.int(1)), store.le(product, store.int(0))]).is_err());
    assert!(solver.check(&[], &Limits::default()).is_ok());
    assert_eq!(counter(&solver, "renewals"), 0);
}
