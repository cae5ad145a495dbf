//! Interpolants of whole queries: formulas of all languages in parts, refuted by the solver.

mod formulas;

use formulas::{Generator, Language, Random};
use shofar_logic::{Term, TermStore};
use shofar_smt::interpolate::verify::{Verdict, implies, separates};
use shofar_smt::interpolate::{Arithmetic, Error, Interpolator, Labelling, Options, fallback};
use shofar_smt::proof::{Part, Proof};
use shofar_smt::sat::{Limits, Outcome};
use shofar_smt::solver::Solver;

const LIMITS: Limits<'static> =
    Limits { conflicts: Some(20_000), propagations: None, deadline: None, cancel: None, memory: None };

/// The formulas of each part.
type Parts = Vec<(Part, Vec<Term>)>;

/// Formulas in parts that contradict each other, and why; the last part is assumed.
fn refute(store: &TermStore, generator: &mut Generator<'_>) -> Option<(Parts, Proof)> {
    let mut solver = Solver::with_proofs(store);
    let count = 2 + generator.random.below(3) as u32;
    let mut parts = Vec::new();
    for part in (0..count).map(Part) {
        let formulas: Vec<Term> = (0..2 + generator.random.below(3)).map(|_| generator.formula(1)).collect();
        parts.push((part, formulas));
    }
    let (last, asserted) = parts.split_last()?;
    for (part, formulas) in asserted {
        for &formula in formulas {
            solver.assert_in(formula, *part).ok()?;
        }
    }
    let assumptions: Vec<(Term, Part)> = last.1.iter().map(|&formula| (formula, last.0)).collect();
    let outcome = solver.check_in(&assumptions, &LIMITS).ok()?;
    let proof = if outcome == Outcome::Unsat { solver.proof()? } else { return None };
    Some((parts, proof))
}

/// Whether each symbol of the formula is in both sides.
fn is_over_shared(store: &TermStore, formula: Term, a: &[Term], b: &[Term]) -> bool {
    let (of_formula, of_a, of_b) = (store.symbols(&[formula]), store.symbols(a), store.symbols(b));
    of_formula.vars.iter().all(|var| of_a.vars.contains(var) && of_b.vars.contains(var))
        && of_formula.funs.iter().all(|fun| of_a.funs.contains(fun) && of_b.funs.contains(fun))
}

/// Interpolants of generated queries have their three properties, and sequences the fourth. Returns how many queries
/// were refuted, and how many cuts had no interpolant.
fn check(language: Language, queries: u64, seed: u64) -> (usize, usize) {
    let scale = std::env::var("SHOFAR_TEST_SCALE").ok().and_then(|scale| scale.parse().ok()).unwrap_or(1u64);
    let (mut refuted, mut without) = (0, 0);
    for number in 0..queries * scale {
        let store = TermStore::new();
        let random = Random((seed * 1_000_000 + number).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let mut generator = Generator { store: &store, random, language };
        let Some((parts, proof)) = refute(&store, &mut generator) else { continue };
        refuted += 1;
        let order: Vec<Part> = parts.iter().map(|(part, _)| *part).collect();
        let cut = 1 + generator.random.below(order.len() as u64 - 1) as usize;
        let side = |parts: &[(Part, Vec<Term>)]| -> Vec<Term> {
            parts.iter().flat_map(|(_, formulas)| formulas.iter().copied()).collect()
        };
        let (a, b) = (side(&parts[..cut]), side(&parts[cut..]));
        for labelling in [Labelling::McMillan, Labelling::Pudlak, Labelling::DualMcMillan] {
            for arithmetic in [
                Arithmetic::Farkas,
                Arithmetic::DualFarkas,
                Arithmetic::Decomposed,
                Arithmetic::DualDecomposed,
            ] {
                let options = Options { labelling, arithmetic: arithmetic.clone(), ..Options::default() };
                let interpolator = Interpolator::new(&store, &proof, parts.clone(), options).unwrap();
                let bounds = fallback::Bounds { limits: LIMITS, ..fallback::Bounds::default() };
                let found = match interpolator.binary(&order[..cut]) {
                    Err(Error::Mixed(_) | Error::Invalid(_)) => {
                        interpolator.binary_with_fallback(&order[..cut], &bounds)
                    }
                    found => found,
                };
                let Ok(interpolant) = found else {
                    without += 1;
                    continue;
                };
                let formula = interpolant.formula;
                let verdict = separates(&store, &a, formula, &b, &LIMITS).unwrap();
                let context =
                    || format!("{labelling:?} {arithmetic:?} query {number}: {}", store.display(formula));
                assert_ne!(verdict, Verdict::Fails, "{}", context());
                assert!(is_over_shared(&store, formula, &a, &b), "{}", context());
                if let Ok(sequence) = interpolator.sequence(&order) {
                    let mut before = Term::TRUE;
                    for (position, formula) in
                        sequence.iter().map(|found| found.formula).chain([Term::FALSE]).enumerate()
                    {
                        let premises: Vec<Term> = parts[position].1.iter().copied().chain([before]).collect();
                        let verdict = implies(&store, &premises, formula, &LIMITS).unwrap();
                        assert_ne!(verdict, Verdict::Fails, "{} at {position}", context());
                        before = formula;
                    }
                }
            }
        }
    }
    (refuted, without)
}

#[test]
fn booleans() {
    let (refuted, without) = check(Language::Booleans, 400, 1);
    assert!(refuted > 50 && without == 0, "{refuted} {without}");
}

#[test]
fn reals() {
    let (refuted, without) = check(Language::Reals, 400, 2);
    assert!(refuted > 50 && without == 0, "{refuted} {without}");
}

#[test]
fn integers() {
    let (refuted, without) = check(Language::Integers, 400, 3);
    assert!(refuted > 50 && without * 50 <= refuted, "{refuted} {without}");
}

#[test]
fn mixed_numbers() {
    let (refuted, without) = check(Language::Mixed, 400, 4);
    assert!(refuted > 50 && without * 50 <= refuted, "{refuted} {without}");
}

#[test]
fn functions() {
    let (refuted, without) = check(Language::Declared, 400, 5);
    assert!(refuted > 50 && without == 0, "{refuted} {without}");
}

#[test]
fn functions_of_numbers() {
    // Equalities between numbers of different sides, of which functions are applied, have no interpolant yet.
    let (refuted, without) = check(Language::IntegerFunctions, 200, 6);
    assert!(refuted > 20 && without <= refuted * 12 / 4, "{refuted} {without}");
}
