//! Interpolants by projection, if there is no proof or no useful one, and simplification.

use shofar_logic::number::{Integer, Rational};
use shofar_logic::{Op, Sort, Term, TermStore};
use shofar_run::{Limits, Reason};
use shofar_smt::interpolate::fallback::{self, Failure};
use shofar_smt::interpolate::simplify;
use shofar_smt::interpolate::{Defect, Error, Interpolator, Options, Simplification};
use shofar_smt::proof::{Justification, Part, Proof, Rule, Step, StepId};
use shofar_smt::sat::Outcome;
use shofar_smt::solver::Solver;
use shofar_testing::Random;
use shofar_testing::refutations::{Refuted, holds, random_formula, random_numbers, random_tree};

#[test]
fn interpolants_without_a_proof() {
    let mut found = 0;
    for seed in 1..1500 {
        let mut random = Random::new(seed);
        let store = TermStore::new();
        let sort = [Sort::INT, Sort::REAL][random.below(2)];
        let a = vec![random_formula(&store, &mut random, &["u", "x", "y"], sort, 2)];
        let b = vec![random_formula(&store, &mut random, &["v", "x", "y"], sort, 2)];
        let mut solver = Solver::new(&store);
        a.iter().chain(&b).for_each(|&formula| solver.assert(formula).unwrap());
        let is_unsat = match solver.check(&[], &Limits { conflicts: Some(1000), ..Limits::default() }) {
            Ok(Outcome::Unsat) => true,
            Ok(Outcome::Sat) => false,
            other => panic!("{other:?}"),
        };
        let bounds = fallback::Bounds::default();
        for (interpolant, first) in [
            (fallback::interpolant(&store, &a, &b, &bounds), &a),
            (fallback::dual_interpolant(&store, &a, &b, &bounds), &b),
        ] {
            match interpolant {
                Ok(formula) => {
                    assert!(is_unsat);
                    found += 1;
                    let refuted = Refuted {
                        parts: vec![a.clone(), b.clone()],
                        proof: Proof::new(Vec::new(), Vec::new(), Vec::new()),
                    };
                    refuted.check(&store, |part| part == 0, formula);
                }
                Err(Failure::Satisfiable) => assert!(!is_unsat),
                Err(failure) => panic!("{failure:?} for {}", store.display(first[0])),
            }
        }
    }
    assert!(found > 300, "{found}");
}

/// A proof that proves nothing is of no use, but everything is there without it.
#[test]
fn sequences_and_trees_without_a_proof() {
    let (mut found, mut failed) = (0, 0);
    for seed in 1..=2500 {
        let mut random = Random::new(seed);
        let store = TermStore::new();
        let parts = 3 + random.below(2);
        let Some(mut refuted) = random_numbers(&store, &mut random, parts) else { continue };
        let rule = Rule::Lemma(Justification::Farkas(Box::new([])));
        refuted.proof = Proof::new(vec![Step { clause: Box::new([]), rule }], Vec::new(), Vec::new());
        let mut interpolator = refuted.interpolator(&store, Options::default());
        let limits = Limits::default();
        let found_in_proof = interpolator.sequence(&refuted.order(), &limits);
        assert_eq!(found_in_proof, Err(Error::NotFound(Defect::Invalid(StepId(0)), None)));
        interpolator.set_options(Options::default());
        let shape = random_tree(&mut random, parts);
        match (
            interpolator.sequence(&refuted.order(), &limits),
            interpolator.tree(&shape, &limits),
            interpolator.binary(&[Part(1)], &limits),
        ) {
            (Ok(sequence), Ok(tree), Ok(interpolant)) => {
                found += 1;
                refuted.check_sequence(&store, &sequence);
                refuted.check_tree(&store, &shape, &tree);
                refuted.check(&store, |part| part == 1, interpolant.formula);
            }
            _ => failed += 1,
        }
    }
    assert!(found > 100 && failed * 20 < found, "{found} found, {failed} failed");
}

#[test]
fn functions_of_one_side_stay_with_it() {
    let store = TermStore::new();
    let x = store.var(store.symbol("x"), Sort::INT);
    let value = store.apply(store.fun(store.symbol("f"), &[Sort::INT], Sort::INT), &[store.int(0)]).unwrap();
    let a = [store.eq(x, value), store.ge(value, store.int(1))];
    let b = [store.le(x, store.int(0))];
    let found = fallback::interpolant(&store, &a, &b, &fallback::Bounds::default());
    assert_eq!(found, Ok(store.ge(x, store.int(1))));
    let dual = fallback::dual_interpolant(&store, &a, &b, &fallback::Bounds::default());
    assert_eq!(dual, Ok(store.ge(x, store.int(1))));
}

/// `x` of A and `y` of B are equal, but the term between them is hidden in inequalities, and needed under a function.
#[test]
fn equal_arguments_of_both_sides_have_a_shared_term() {
    let store = TermStore::new();
    let var = |name: &str| store.var(store.symbol(name), Sort::REAL);
    let f = store.fun(store.symbol("f"), &[Sort::REAL], Sort::REAL);
    let of = |term: Term| store.apply(f, &[term]).unwrap();
    let (x, y, s, t) = (var("x"), var("y"), var("s"), var("t"));
    let twice = |term: Term| store.mul_const(&Rational::from(Integer::from(2)), term);
    let a = vec![
        store.le(twice(x), s),
        store.le(t, twice(x)),
        store.le(of(x), store.real(1)),
        store.le(of(of(x)), store.real(3)),
    ];
    let b = vec![
        store.le(s, twice(y)),
        store.le(twice(y), t),
        store.or2(store.ge(of(y), store.real(2)), store.ge(of(of(y)), store.real(4))),
    ];
    let refuted =
        Refuted { parts: vec![a.clone(), b.clone()], proof: Proof::new(Vec::new(), Vec::new(), Vec::new()) };
    for found in [
        fallback::interpolant(&store, &a, &b, &fallback::Bounds::default()),
        fallback::dual_interpolant(&store, &a, &b, &fallback::Bounds::default()),
    ] {
        refuted.check(&store, |part| part == 0, found.unwrap());
    }
}

#[test]
fn simplified_formulas_mean_the_same() {
    let store = TermStore::new();
    let mut smaller = [0, 0];
    for seed in 1..1500 {
        let mut random = Random::new(seed);
        let formula = random_formula(&store, &mut random, &["x", "y"], Sort::INT, 3);
        let limits = Limits { conflicts: Some(100), ..Limits::default() };
        let structural = simplify::structural(&store, formula);
        let by_solver = simplify::with_solver(&store, formula, &limits);
        for (simplified, smaller) in std::iter::zip([structural, by_solver], &mut smaller) {
            let difference = store.xor(formula, simplified.formula);
            assert!(holds(&store, &[difference], Term::FALSE), "{}", store.display(formula));
            assert_eq!(simplified.before, store.subterms(&[formula]).len());
            assert_eq!(simplified.after, store.subterms(&[simplified.formula]).len());
            *smaller += usize::from(simplified.after < simplified.before);
        }
    }
    assert!(smaller[0] > 200 && smaller[1] > smaller[0], "{smaller:?}");
}

#[test]
fn siblings_and_weaker_bounds_are_simplified_away() {
    let store = TermStore::new();
    let x = store.var(store.symbol("x"), Sort::INT);
    let [p, q] = ["p", "q"].map(|name| store.var(store.symbol(name), Sort::BOOL));
    let at_most = |bound: i64| store.le(x, store.int(bound));
    let structural = |formula: Term| simplify::structural(&store, formula).formula;
    assert_eq!(structural(store.and2(at_most(3), at_most(5))), at_most(3));
    assert_eq!(structural(store.or2(at_most(3), at_most(5))), at_most(5));
    let written = store.app(Op::And, &[p, store.or2(q, store.not(p))]).unwrap();
    assert_eq!(structural(written), store.and2(p, q));
    assert_eq!(structural(store.and2(at_most(3), store.or2(q, at_most(5)))), at_most(3));
    let at_least_6 = store.ge(x, store.int(6));
    assert_eq!(structural(store.and2(at_least_6, store.or2(q, at_most(5)))), store.and2(at_least_6, q));
    let nested = store.or2(q, store.and2(p, at_most(5)));
    assert_eq!(structural(store.and2(at_most(3), nested)), store.and2(at_most(3), store.or2(q, p)));
    let options = Options { simplification: Simplification::Normal, ..Options::default() };
    assert_ne!(options, Options::default());
}

/// Of a proof that proves nothing, so that the fallback is asked.
#[test]
fn an_interruption_is_not_a_missing_interpolant() {
    let store = TermStore::new();
    let mut solver = Solver::with_proofs(&store);
    assert_eq!(solver.interpolator(Options::default()).err(), Some(Error::NoRefutation));
    let x = store.var(store.symbol("x"), Sort::INT);
    solver.assert_in(store.ge(x, store.int(1)), Part(0)).unwrap();
    assert_eq!(
        solver.check_in(&[(store.le(x, store.int(0)), Part(1))], &Limits::default()),
        Ok(Outcome::Unsat)
    );
    let useless = Rule::Lemma(Justification::Farkas(Box::new([])));
    let proof = Proof::new(vec![Step { clause: Box::new([]), rule: useless }], Vec::new(), Vec::new());
    let parts = solver.interpolator(Options::default()).unwrap().parts().to_vec();
    let interpolator = Interpolator::new(&store, proof, parts, Options::default()).unwrap();
    let cancelled = std::sync::atomic::AtomicBool::new(true);
    let interrupted = Limits { cancel: Some(&cancelled), ..Limits::default() };
    let found = interpolator.binary(&[Part(0)], &interrupted);
    assert_eq!(found, Err(Error::Interrupted(Reason::Cancelled)));
    let found = interpolator.binary(&[Part(0)], &Limits::default()).unwrap();
    assert_eq!((found.formula, found.from_proof), (store.ge(x, store.int(1)), false));
}
