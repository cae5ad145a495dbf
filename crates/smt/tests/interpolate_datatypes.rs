//! Interpolants of formulas over datatypes, from proofs and by projection: known ones, and those of generated formulas,
//! judged by the solver and by Z3.

use std::fmt::Write as _;

use shofar_logic::{ConstructorId, ConstructorSpec, Op, Sort, Substitution, Term, TermStore};
use shofar_run::Limits;
use shofar_smt::interpolate::fallback::{self, Bounds};
use shofar_smt::interpolate::{Equality, Fallback, Interpolator, Options};
use shofar_smt::proof::{Part, Proof};
use shofar_smt::sat::Outcome;
use shofar_smt::solver::Solver;
use shofar_testing::datatypes::Datatypes;
use shofar_testing::refutations::{Refuted, holds, random_tree};
use shofar_testing::{Random, scale, z3};

/// Lists of integers.
struct Lists {
    store: TermStore,
    sort: Sort,
    nil: ConstructorId,
    cons: ConstructorId,
}

impl Lists {
    fn new() -> Self {
        let store = TermStore::new();
        let sort = store.new_datatype(store.symbol("L"), &[]);
        let nil = ConstructorSpec { name: store.symbol("nil"), fields: vec![] };
        let fields = vec![(store.symbol("hd"), Sort::INT), (store.symbol("tl"), sort)];
        let cons = ConstructorSpec { name: store.symbol("cons"), fields };
        let sort = store.define_datatypes(&[(sort, vec![nil, cons])]).unwrap()[0];
        let &[nil, cons] = store.datatype(sort).unwrap().constructors() else { panic!("two constructors") };
        Lists { store, sort, nil, cons }
    }

    fn list(&self, name: &str) -> Term {
        self.store.var(self.store.symbol(name), self.sort)
    }

    fn number(&self, name: &str) -> Term {
        self.store.var(self.store.symbol(name), Sort::INT)
    }

    fn cons(&self, head: Term, tail: Term) -> Term {
        self.store.construct_term(self.cons, &[head, tail])
    }

    fn nil(&self) -> Term {
        self.store.construct_term(self.nil, &[])
    }
}

fn refuted(parts: &[Vec<Term>]) -> Refuted {
    Refuted { parts: parts.to_vec(), proof: Proof::new(Vec::new(), Vec::new(), Vec::new()) }
}

/// An interpolator for contradictory parts.
fn interpolator<'s>(store: &'s TermStore, parts: &[Vec<Term>], options: Options) -> Interpolator<'s> {
    let mut solver = Solver::with_proofs(store);
    for (part, formulas) in parts.iter().enumerate() {
        formulas.iter().for_each(|&formula| solver.assert_in(formula, Part(part as u32)).unwrap());
    }
    assert_eq!(solver.check(&[], &Limits::default()), Ok(Outcome::Unsat));
    solver.interpolator(options).unwrap()
}

/// All kinds of interpolants of contradictory parts, checked, with and without this fallback.
fn check_all(store: &TermStore, parts: &[Vec<Term>], fallback: Fallback) {
    let refuted = refuted(parts);
    let count = parts.len() as u32;
    for equality in [Equality::Strong, Equality::Weak] {
        let options = Options { fallback, equality, ..Options::default() };
        let interpolator = interpolator(store, parts, options);
        let limits = Limits::default();
        for part in 0..count {
            let found = interpolator.binary(&[Part(part)], &limits).unwrap();
            refuted.check(store, |other| other == part as usize, found.formula);
        }
        refuted.check_sequence(store, &interpolator.sequence(&refuted.order(), &limits).unwrap());
        if equality == Equality::Strong {
            let chain: Vec<(Part, usize)> = (0..count).map(|part| (Part(part), part as usize + 1)).collect();
            let star: Vec<(Part, usize)> = (0..count).map(|part| (Part(part), parts.len() - 1)).collect();
            for tree in [chain, star] {
                refuted.check_tree(store, &tree, &interpolator.tree(&tree, &limits).unwrap());
            }
        }
    }
    for part in 0..parts.len() {
        let (a, b) = (refuted.formulas(|other| other == part), refuted.formulas(|other| other != part));
        let found = fallback::interpolant(store, &a, &b, &Bounds::default()).unwrap();
        refuted.check(store, |other| other == part, found);
        let found = fallback::dual_interpolant(store, &a, &b, &Bounds::default()).unwrap();
        refuted.check(store, |other| other == part, found);
    }
}

#[test]
fn i1_a_cycle_is_cut_at_shared_terms() {
    let lists = Lists::new();
    let store = &lists.store;
    let [x, s] = ["x", "s"].map(|name| lists.list(name));
    let a = store.eq(x, lists.cons(lists.number("a"), s));
    let b = store.eq(s, lists.cons(lists.number("b"), x));
    let expected = store.and2(store.tester(lists.cons, x), store.eq(s, store.selector(lists.cons, 1, x)));
    let found = fallback::interpolant(store, &[a], &[b], &Bounds::default()).unwrap();
    assert!(holds(store, &[expected], found) && holds(store, &[found], expected), "{}", store.display(found));
    check_all(store, &[vec![a], vec![b]], Fallback::Off);
    // A longer one, in four parts.
    let [y, t] = ["y", "t"].map(|name| lists.list(name));
    let parts = [(x, "a", y), (y, "b", s), (s, "c", t), (t, "d", x)]
        .map(|(from, name, to)| vec![store.eq(from, lists.cons(lists.number(name), to))]);
    check_all(store, &parts, Fallback::Off);
}

#[test]
fn i2_different_constructors_are_told_by_a_tester() {
    let lists = Lists::new();
    let store = &lists.store;
    let x = lists.list("x");
    let a = store.eq(x, lists.nil());
    let b = store.eq(x, lists.cons(lists.number("c"), lists.list("d")));
    let found = fallback::interpolant(store, &[a], &[b], &Bounds::default()).unwrap();
    let expected = store.tester(lists.nil, x);
    assert!(holds(store, &[expected], found) && holds(store, &[found], expected), "{}", store.display(found));
    check_all(store, &[vec![a], vec![b]], Fallback::Off);
}

#[test]
fn fields_of_shared_terms_are_selected() {
    let lists = Lists::new();
    let store = &lists.store;
    let [x, y, z] = ["x", "y", "z"].map(|name| lists.list(name));
    let [a, b, c] = ["a", "b", "c"].map(|name| lists.number(name));
    let parts = [
        vec![store.eq(x, lists.cons(a, y)), store.gt(a, store.int(3))],
        vec![store.eq(z, lists.cons(c, x)), store.gt(c, b)],
        vec![store.le(store.selector(lists.cons, 0, store.selector(lists.cons, 1, z)), store.int(3))],
    ];
    check_all(store, &parts, Fallback::default());
    let parts = [
        vec![store.eq(lists.cons(a, x), z), store.le(a, b)],
        vec![store.eq(z, lists.cons(c, y)), store.lt(b, store.int(0))],
        vec![store.or2(store.gt(c, store.int(0)), store.not(store.eq(x, y)))],
    ];
    check_all(store, &parts, Fallback::default());
}

/// A tester whose argument becomes known has a value.
#[test]
fn testers_of_defined_terms_are_normal() {
    let store = &TermStore::new();
    let sort = store.new_datatype(store.symbol("C"), &[]);
    let colours = ["red", "green", "blue"];
    let colours = colours.map(|name| ConstructorSpec { name: store.symbol(name), fields: vec![] });
    let sort = store.define_datatypes(&[(sort, colours.to_vec())]).unwrap()[0];
    let &[red, _, blue] = store.datatype(sort).unwrap().constructors() else { panic!("three constructors") };
    let c = store.var(store.symbol("c"), sort);
    let p = store.fun(store.symbol("p"), &[], Sort::BOOL);
    let p = store.apply(p, &[]).unwrap();
    // As written: the normal equation is a tester.
    let is_blue = store.app(Op::Eq, &[c, store.construct_term(blue, &[])]).unwrap();
    let a = [is_blue, store.not(store.tester(red, c)), store.not(p)];
    let found = fallback::interpolant(store, &a, &[p], &Bounds::default()).unwrap();
    assert_eq!(found, store.not(p), "{}", store.display(found));
}

/// Replaces some constants of formulas by constants of one part, and declares these.
fn local_copies(
    store: &TermStore,
    formulas: &[Term],
    part: usize,
    random: &mut Random,
    declarations: &mut String,
) -> Substitution {
    let mut locals = Substitution::new();
    for fun in store.symbols(formulas).funs {
        let decl = store.fun_decl(fun);
        if decl.domain.is_empty() && random.one_in(3) {
            let name = format!("{}_{part}", store.name(decl.name));
            let _ = writeln!(declarations, "(declare-const {name} {})", store.display_sort(decl.range));
            let copy = store.fun(store.symbol(&name), &[], decl.range);
            locals.insert(store.apply(fun, &[]).unwrap(), store.apply(copy, &[]).unwrap());
        }
    }
    locals
}

fn negated(store: &TermStore, formula: Term) -> Term {
    store.not(store.normalize(formula))
}

#[test]
fn interpolants_of_generated_formulas() {
    let (mut found, mut failed, mut from_proof, mut refutations) = (0, 0, 0, 0);
    let mut script = String::from("(set-option :timeout 2000)\n");
    let mut questions = 0;
    for seed in 0..1200 * scale() {
        let mut random = Random::new(seed);
        let store = TermStore::new();
        let datatypes = Datatypes::some(&store, &mut random);
        let mut declarations = datatypes.declarations.clone();
        let mut parts: Vec<Vec<Term>> = Vec::new();
        for part in 0..3 + random.below(2) {
            let formulas: Vec<Term> =
                (0..1 + random.below(3)).map(|_| datatypes.formula(&mut random)).collect();
            let locals = local_copies(&store, &formulas, part, &mut random, &mut declarations);
            parts.push(formulas.iter().map(|&formula| store.substitute(formula, &locals)).collect());
        }
        let mut solver = Solver::with_proofs(&store);
        for (part, formulas) in parts.iter().enumerate() {
            formulas.iter().for_each(|&formula| solver.assert_in(formula, Part(part as u32)).unwrap());
        }
        let limits = Limits { conflicts: Some(2000), ..Limits::default() };
        if solver.check(&[], &limits) != Ok(Outcome::Unsat) {
            continue;
        }
        refutations += 1;
        let interpolator = solver.interpolator(Options::default()).unwrap();
        let refuted = refuted(&parts);
        let tree = random_tree(&mut random, parts.len());
        let mut count = |is_found: bool| if is_found { found += 1 } else { failed += 1 };
        let mut ask = |formulas: &[Term]| {
            questions += 1;
            let _ = writeln!(script, "(push 1){declarations}");
            for &formula in formulas {
                let _ = writeln!(script, "(assert {})", store.display(formula));
            }
            let _ = writeln!(script, "(check-sat)(pop 1)");
        };
        let binary = interpolator.binary(&[Part(1)], &limits);
        count(binary.is_ok());
        if let Ok(binary) = binary {
            from_proof += usize::from(binary.from_proof);
            refuted.check(&store, |part| part == 1, binary.formula);
            let side = |is_a: bool| store.and(&refuted.formulas(|part| (part == 1) == is_a));
            ask(&[side(true), negated(&store, binary.formula)]);
            ask(&[side(false), binary.formula]);
        }
        let sequence = interpolator.sequence(&refuted.order(), &limits);
        count(sequence.is_ok());
        if let Ok(sequence) = sequence {
            from_proof += usize::from(sequence.iter().all(|interpolant| interpolant.from_proof));
            refuted.check_sequence(&store, &sequence);
            // Each one follows from the one before and the next part, and the last one contradicts the rest.
            let mut before = Term::TRUE;
            for (part, interpolant) in sequence.iter().enumerate() {
                let mut formulas = refuted.formulas(|other| other == part);
                formulas.extend([before, negated(&store, interpolant.formula)]);
                ask(&formulas);
                before = interpolant.formula;
            }
            let mut rest = refuted.formulas(|part| part >= sequence.len());
            rest.push(before);
            ask(&rest);
        }
        let interpolants = interpolator.tree(&tree, &limits);
        count(interpolants.is_ok());
        if let Ok(interpolants) = interpolants {
            from_proof += usize::from(interpolants.iter().all(|interpolant| interpolant.from_proof));
            refuted.check_tree(&store, &tree, &interpolants);
        }
    }
    println!("{refutations} refutations, {found} found, {from_proof} of them from proofs, {failed} failed");
    assert!(refutations > 150 && failed * 10 < found && from_proof * 2 > found);
    let Some(answers) = z3::answers(&script) else { return };
    assert_eq!(answers.len(), questions, "{:?}", answers.iter().find(|line| line.contains("error")));
    if let Some(wrong) = answers.iter().position(|answer| answer == "sat") {
        panic!("question {wrong}: {}", script.split("(push 1)").nth(wrong + 1).unwrap_or_default());
    }
}
