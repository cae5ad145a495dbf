//! Interpolants of whole queries: formulas of all languages in parts, refuted by the solver, judged by it and by Z3.
//!
//! `SHOFAR_TEST_SCALE=20` in the environment runs twenty times as many queries, and `SHOFAR_TEST_FROM=300` skips the
//! first 300.

#![expect(clippy::print_stdout, reason = "what was checked is part of the result")]

use std::collections::{BTreeMap, BTreeSet};

use shofar_logic::{Op, Sort, Substitution, Term, TermStore};
use shofar_run::Limits;
use shofar_smt::interpolate::farkas::Strength;
use shofar_smt::interpolate::verify::{Entailment, implies};
use shofar_smt::interpolate::{
    Arithmetic, Defect, Equality, Error, Fallback, Interpolator, Labelling, Options,
};
use shofar_smt::proof::{Justification, Part, Rule};
use shofar_smt::sat::Outcome;
use shofar_smt::solver::Solver;
use shofar_testing::Random;
use shofar_testing::formulas::{Generator, Language};
use shofar_testing::scale::numbers;
use shofar_testing::z3::Implications;

const LIMITS: Limits<'static> = Limits {
    conflicts: Some(2_000),
    propagations: Some(300_000),
    deadline: None,
    cancel: None,
    memory: None,
    gate: None,
};

/// What may be spent on finding out whether formulas contradict each other. Hard ones are no better a test.
const EASY: Limits<'static> = Limits { conflicts: Some(300), propagations: Some(20_000), ..LIMITS };

/// The formulas of each part.
type Parts = Vec<(Part, Vec<Term>)>;

/// What formulas are made of.
#[derive(Clone, Copy)]
struct Family {
    language: Language,
    /// Linear forms over integers between bounds that are near to each other, in the place of every other formula.
    has_bands: bool,
}

/// Formulas in two to ten parts that contradict each other, but did not before the last one came.
fn refuted_parts(generator: &mut Generator<'_>, family: Family) -> Option<Parts> {
    let store = generator.store;
    let count = 2 + generator.random.below(4) + generator.random.below(2) * generator.random.below(6);
    let mut parts: Parts = (0..count as u32).map(|part| (Part(part), Vec::new())).collect();
    let mut solver = Solver::new(store);
    for round in 0..40 {
        let formula = match family.has_bands && generator.random.bool() {
            true => band(store, &mut generator.random),
            false => generator.formula(1),
        };
        let at = if round < count { round } else { generator.random.below(count) };
        parts[at].1.push(formula);
        solver.assert(formula).ok()?;
        match solver.check(&[], &EASY).ok()? {
            Outcome::Unsat => {
                if generator.random.below(4) > 0 {
                    rename(store, &mut generator.random, &mut parts);
                }
                return Some(parts);
            }
            Outcome::Sat => {}
            Outcome::Unknown(_) => return None,
        }
    }
    None
}

/// A linear form over integers that is equal to a number, or between two.
fn band(store: &TermStore, random: &mut Random) -> Term {
    let app = |op: Op, args: &[Term]| store.app(op, args).unwrap();
    let mut number = |spread: i64| store.int(random.between(-spread, spread));
    let summands =
        ["i", "j", "k"].map(|name| app(Op::Mul, &[number(6), store.var(store.symbol(name), Sort::INT)]));
    let (form, bound) = (app(Op::Add, &summands), number(10));
    match random.below(3) {
        0 => app(Op::Eq, &[form, bound]),
        width => {
            let highest = app(Op::Add, &[bound, store.int(width as i64 - 1)]);
            app(Op::And, &[app(Op::Le, &[bound, form]), app(Op::Le, &[form, highest])])
        }
    }
}

/// Gives symbols other names in different parts, as the states of a system have, so that not all is shared. Neighbouring
/// names differ by a number, or not at all, which two parts say between them: what is refuted before is refuted after.
fn rename(store: &TermStore, random: &mut Random, parts: &mut Parts) {
    let formulas: Vec<Term> = parts.iter().flat_map(|(_, formulas)| formulas).copied().collect();
    let count = parts.len();
    let mut images: Vec<Substitution> = parts.iter().map(|_| Substitution::new()).collect();
    let mut links: Vec<(usize, Term)> = Vec::new();
    let app = |op: Op, args: &[Term]| store.app(op, args).unwrap();
    for var in store.symbols(&formulas).vars {
        let sort = store.sort_of(var);
        let names: Vec<Term> = (0..1 + random.below(3))
            .map(|name| store.var(store.symbol(&format!("{}{name}", store.display(var))), sort))
            .collect();
        let is_in_order = random.bool();
        for (at, images) in images.iter_mut().enumerate() {
            let at = if is_in_order { at * names.len() / count } else { random.below(names.len()) };
            images.insert(var, names[at]);
        }
        for pair in names.windows(2) {
            let (left, right) = (pair[0], pair[1]);
            let places = [random.below(count), random.below(count)];
            let halves = match sort {
                _ if random.bool() => vec![app(Op::Eq, &[left, right])],
                Sort::BOOL => vec![app(Op::Implies, &[left, right]), app(Op::Implies, &[right, left])],
                _ if sort.is_arithmetic() => vec![app(Op::Le, &[left, right]), app(Op::Ge, &[left, right])],
                _ => vec![app(Op::Eq, &[left, right])],
            };
            links.extend(std::iter::zip(places, halves));
        }
    }
    for ((_, formulas), images) in std::iter::zip(parts.iter_mut(), &images) {
        formulas.iter_mut().for_each(|formula| *formula = store.substitute(*formula, images));
    }
    for (place, link) in links {
        parts[place].1.push(link);
    }
}

/// Interpolants between the formulas, if they contradict each other; the last part is assumed.
fn refute<'a>(store: &'a TermStore, parts: &Parts) -> Option<Interpolator<'a>> {
    let mut solver = Solver::with_proofs(store);
    let (last, asserted) = parts.split_last()?;
    for (part, formulas) in asserted {
        for &formula in formulas {
            solver.assert_in(formula, *part).ok()?;
        }
    }
    let assumptions: Vec<(Term, Part)> = last.1.iter().map(|&formula| (formula, last.0)).collect();
    let outcome = solver.check_in(&assumptions, &LIMITS).ok()?;
    if outcome != Outcome::Unsat {
        return None;
    }
    let interpolator = solver.interpolator(Options::default()).unwrap();
    let given: Vec<_> = parts.iter().filter(|(_, formulas)| !formulas.is_empty()).collect();
    assert!(interpolator.parts().iter().eq(given), "the solver knows the parts");
    Some(interpolator)
}

/// Whether each symbol of the formula is in both sides.
fn is_over_shared(store: &TermStore, formula: Term, a: &[Term], b: &[Term]) -> bool {
    let (of_formula, of_a, of_b) = (store.symbols(&[formula]), store.symbols(a), store.symbols(b));
    of_formula.vars.iter().all(|var| of_a.vars.contains(var) && of_b.vars.contains(var))
        && of_formula.funs.iter().all(|fun| of_a.funs.contains(fun) && of_b.funs.contains(fun))
}

/// The procedures: each labelling with each one for arithmetic, and where there are functions, weak ones for equality.
fn procedures(language: Language) -> Vec<Options> {
    let mut procedures = Vec::new();
    for labelling in [Labelling::McMillan, Labelling::Pudlak, Labelling::DualMcMillan] {
        for arithmetic in [
            Arithmetic::Farkas,
            Arithmetic::DualFarkas,
            Arithmetic::Decomposed,
            Arithmetic::DualDecomposed,
            Arithmetic::Flexible(Strength::default()),
        ] {
            procedures.push(Options { labelling, arithmetic, ..Options::default() });
        }
        if language.has_functions() {
            procedures.push(Options { labelling, equality: Equality::Weak, ..Options::default() });
        }
    }
    procedures
}

/// Each part with the position of its parent.
fn random_tree(random: &mut Random, parts: &Parts) -> Vec<(Part, usize)> {
    let last = parts.len() - 1;
    let parent =
        |at: usize, random: &mut Random| if at < last { at + 1 + random.below(last - at) } else { at };
    parts.iter().enumerate().map(|(at, (part, _))| (*part, parent(at, random))).collect()
}

/// What was found out.
#[derive(Default)]
struct Tally {
    /// Queries that were refuted, and those among them whose proofs have arguments about integers.
    refuted: usize,
    with_cuts: usize,
    /// Interpolants from proofs, those without, and what has none: single ones, then sequences and trees.
    from_proof: usize,
    without_proof: usize,
    missing: usize,
    missing_lists: usize,
    /// Implications that the solver did not confirm.
    unconfirmed: usize,
}

/// Interpolants of generated queries have their three properties, and sequences and trees the fourth.
fn check(family: Family, queries: u64, seed: u64) -> Tally {
    let mut tally = Tally::default();
    let mut judge = Implications::default();
    for number in numbers(queries) {
        let store = TermStore::new();
        let random = Random::new(seed * 1_000_000 + number);
        let mut generator = Generator { store: &store, random, language: family.language };
        let Some(parts) = refuted_parts(&mut generator, family) else { continue };
        let Some(mut interpolator) = refute(&store, &parts) else { continue };
        let is_cut = |rule: &Rule| matches!(rule, Rule::Lemma(Justification::Integer(_)));
        tally.refuted += 1;
        tally.with_cuts += usize::from(interpolator.proof().steps().iter().any(|step| is_cut(&step.rule)));
        let random = &mut generator.random;
        let implications = check_interpolants(
            number,
            &store,
            family.language,
            &parts,
            &mut interpolator,
            random,
            &mut tally,
        );
        let all: Vec<Term> = parts.iter().flat_map(|(_, formulas)| formulas).copied().collect();
        judge.begin(&store, &all);
        for ((premises, conclusion), procedure) in implications {
            let verdict = implies(&store, &premises, conclusion, &LIMITS).unwrap();
            let context = || format!("query {number}, {procedure}: {}", store.display(conclusion));
            assert_ne!(verdict, Entailment::Fails, "{}", context());
            tally.unconfirmed += usize::from(verdict != Entailment::Holds);
            judge.ask(&store, &premises, conclusion);
        }
        judge.end();
    }
    judge.settle();
    let Tally { refuted, with_cuts, from_proof, without_proof, missing, missing_lists, unconfirmed } = tally;
    println!(
        "{refuted} queries, {with_cuts} with cuts; {from_proof} interpolants from proofs, {without_proof} without, \
         {missing} missing, {missing_lists} sequences and trees missing; {} implications confirmed by z3, {} \
         unknown to it, {unconfirmed} to us",
        judge.confirmed, judge.unknown,
    );
    assert!(judge.unknown * 50 <= judge.confirmed, "{} of {}", judge.unknown, judge.confirmed);
    assert!(unconfirmed * 50 <= judge.confirmed + 50, "{unconfirmed}");
    tally
}

/// Implications, each with one of the procedures that it comes from.
type Wanted = BTreeMap<(Vec<Term>, Term), String>;

/// What has to hold of the interpolants of all procedures. Their symbols are looked at here.
fn check_interpolants(
    number: u64,
    store: &TermStore,
    language: Language,
    parts: &Parts,
    interpolator: &mut Interpolator<'_>,
    random: &mut Random,
    tally: &mut Tally,
) -> Wanted {
    let mut wanted = Wanted::new();
    let order: Vec<Part> = parts.iter().map(|(part, _)| *part).collect();
    let tree = random_tree(random, parts);
    // A prefix, or anything.
    let length = 1 + random.below(parts.len() - 1);
    let in_a: Vec<Part> = match random.below(2) {
        0 => order[..length].to_vec(),
        _ => order.iter().copied().filter(|_| random.bool()).collect(),
    };
    let of = |is_wanted: &dyn Fn(Part) -> bool| -> Vec<Term> {
        let parts = parts.iter().filter(|(part, _)| is_wanted(*part));
        parts.flat_map(|(_, formulas)| formulas.iter().copied()).collect()
    };
    let (a, b) = (of(&|part| in_a.contains(&part)), of(&|part| !in_a.contains(&part)));
    for (at, options) in procedures(language).into_iter().enumerate() {
        // What is found without the proof does not depend on the procedure.
        let is_first = at == 0;
        let name = format!("{options:?}");
        let mut want = |premises: Vec<Term>, conclusion: Term| {
            wanted.entry((premises, conclusion)).or_insert_with(|| name.clone());
        };
        let fallback = if is_first { Fallback::default() } else { Fallback::Off };
        interpolator.set_options(Options { fallback, ..options });
        let found = interpolator.binary(&in_a, &EASY);
        tally.from_proof += usize::from(found.is_ok_and(|found| found.from_proof));
        tally.without_proof += usize::from(found.is_ok_and(|found| !found.from_proof));
        match found {
            Ok(found) => {
                assert!(
                    is_over_shared(store, found.formula, &a, &b),
                    "{name}: {}",
                    store.display(found.formula)
                );
                want(a.clone(), found.formula);
                want([&b[..], &[found.formula]].concat(), Term::FALSE);
            }
            Err(Error::NotFound(Defect::Mixed(_) | Defect::Invalid(_), failure)) => {
                tally.missing += usize::from(failure.is_some());
            }
            Err(error) => panic!("{name}: {error:?}"),
        }
        match interpolator.sequence(&order, &EASY) {
            Ok(sequence) => {
                let mut before = Term::TRUE;
                for (at, formula) in sequence.iter().map(|it| it.formula).chain([Term::FALSE]).enumerate() {
                    let is_in_a = |part: Part| part <= order[at];
                    let is_shared =
                        is_over_shared(store, formula, &of(&is_in_a), &of(&|part| !is_in_a(part)));
                    assert!(is_shared, "{name}: {}", store.display(formula));
                    want([&parts[at].1[..], &[before]].concat(), formula);
                    before = formula;
                }
            }
            Err(Error::NotFound(_, Some(failure))) => {
                tally.missing_lists += 1;
                println!("query {number} has no sequence: {failure:?}");
            }
            Err(Error::NotFound(Defect::Mixed(_) | Defect::Invalid(_) | Defect::NotInductive(_), None)) => {}
            Err(error) => panic!("{name}: {error:?}"),
        }
        match interpolator.tree(&tree, &EASY) {
            Ok(found) => {
                assert_eq!(found[found.len() - 1].formula, Term::FALSE, "{name}");
                for (at, interpolant) in found.iter().enumerate() {
                    let subtree = subtree(&tree, at);
                    let is_in_a = |part: Part| subtree.contains(&part);
                    let formula = interpolant.formula;
                    let is_shared =
                        is_over_shared(store, formula, &of(&is_in_a), &of(&|part| !is_in_a(part)));
                    assert!(is_shared, "{name}: {}", store.display(formula));
                    let children =
                        (0..at).filter(|&child| tree[child].1 == at).map(|child| found[child].formula);
                    want(parts[at].1.iter().copied().chain(children).collect(), formula);
                }
            }
            Err(Error::NotFound(_, Some(failure))) => {
                tally.missing_lists += 1;
                println!("query {number} has no tree: {failure:?}");
            }
            Err(Error::NoTreeProperty) => {}
            Err(Error::NotFound(Defect::Mixed(_) | Defect::Invalid(_) | Defect::NotInductive(_), None)) => {}
            Err(error) => panic!("{name}: {error:?}"),
        }
    }
    wanted
}

/// The parts of a node and of what is below it.
fn subtree(tree: &[(Part, usize)], root: usize) -> BTreeSet<Part> {
    let mut nodes = BTreeSet::from([root]);
    for at in (0..root).rev() {
        if nodes.contains(&tree[at].1) {
            nodes.insert(at);
        }
    }
    nodes.into_iter().map(|at| tree[at].0).collect()
}

/// The family of a language.
fn of(language: Language) -> Family {
    Family { language, has_bands: false }
}

#[test]
fn booleans() {
    let tally = check(of(Language::Booleans), 50, 1);
    assert!(tally.refuted > 20 && tally.missing + tally.missing_lists == 0);
}

#[test]
fn reals() {
    let tally = check(of(Language::Reals), 50, 2);
    assert!(tally.refuted > 20 && tally.missing + tally.missing_lists == 0);
}

#[test]
fn integers() {
    let tally = check(of(Language::Integers), 50, 3);
    assert!(tally.refuted > 20 && tally.missing * 50 <= tally.from_proof);
}

#[test]
fn integers_with_cuts() {
    let tally = check(Family { language: Language::Integers, has_bands: true }, 50, 4);
    assert!(tally.refuted > 20 && tally.with_cuts > 10 && tally.missing * 50 <= tally.from_proof);
}

#[test]
fn mixed_numbers() {
    let tally = check(of(Language::Mixed), 50, 5);
    assert!(tally.refuted > 20 && tally.missing * 50 <= tally.from_proof);
}

#[test]
fn functions() {
    let tally = check(of(Language::Declared), 50, 6);
    assert!(tally.refuted > 20 && tally.missing == 0);
}

#[test]
fn functions_of_integers() {
    let tally = check(of(Language::IntegerFunctions), 20, 7);
    assert!(tally.refuted > 8);
}

#[test]
fn functions_of_reals() {
    let tally = check(of(Language::RealFunctions), 50, 8);
    assert!(tally.refuted > 20 && tally.missing + tally.missing_lists == 0);
}

#[test]
fn everything() {
    let tally = check(of(Language::Everything), 50, 9);
    assert!(tally.refuted > 20);
}
