//! The registry of theories, by a theory written for this test: an enumeration beside congruence and arithmetic.

mod enumeration;

use enumeration::{Enumeration, Language};
use rustc_hash::FxHashMap;
use shofar_logic::{Assignment, Fun, Interpretation, Sort, SortKind, Term, TermStore, Value};
use shofar_smt::interpolate::{Defect, Error, Options};
use shofar_smt::proof::{self, Justification, Part, Rule};
use shofar_smt::renewal::Renewal;
use shofar_smt::sat::Outcome;
use shofar_smt::solver::Solver;
use shofar_smt::theory;
use shofar_testing::Random;

/// Three colours in order, functions over them, and symbols.
struct Colours {
    store: TermStore,
    language: Language,
    red: Term,
    green: Term,
    blue: Term,
    /// A function from colours to colours, and one to integers.
    f: Fun,
    size: Fun,
}

impl Colours {
    fn new() -> Self {
        let store = TermStore::new();
        let sort = store.sort(SortKind::Uninterpreted(store.symbol("Colour"), Box::default()));
        let constant =
            |name: &str| store.apply(store.fun(store.symbol(name), &[], sort), &[]).expect("a constant");
        let [red, green, blue] = ["red", "green", "blue"].map(constant);
        let fun = |name: &str, arity: usize, range| store.fun(store.symbol(name), &vec![sort; arity], range);
        let (f, size) = (fun("f", 1, sort), fun("size", 1, Sort::INT));
        let (next, before) = (fun("next", 1, sort), fun("before", 2, Sort::BOOL));
        let language = Language { sort, elements: vec![red, green, blue], next, before };
        Colours { store, language, red, green, blue, f, size }
    }

    fn solver(&self) -> Solver<'_> {
        let theories = || {
            let mut theories = theory::standard();
            theories.push(Box::new(Enumeration::new(&self.language)));
            theories
        };
        Solver::with_theories(&self.store, theories).logging_proofs()
    }

    fn var(&self, name: &str) -> Term {
        self.store.var(self.store.symbol(name), self.language.sort)
    }

    fn apply(&self, fun: Fun, args: &[Term]) -> Term {
        self.store.apply(fun, args).expect("well-sorted")
    }

    fn eq(&self, a: Term, b: Term) -> Term {
        self.store.eq(a, b)
    }

    fn before(&self, a: Term, b: Term) -> Term {
        self.apply(self.language.before, &[a, b])
    }

    fn next(&self, a: Term) -> Term {
        self.apply(self.language.next, &[a])
    }

    /// The answer, after the model makes all formulas true, or the checker has accepted the proof.
    fn solve(&self, formulas: &[Term]) -> (Outcome, FxHashMap<&'static str, u64>) {
        let mut solver = self.solver();
        for &formula in formulas {
            solver.assert(formula).expect("supported");
        }
        let outcome = solver.check(&[], &Default::default()).expect("supported");
        match outcome {
            Outcome::Sat => {
                let model = solver.model(formulas);
                for &formula in formulas {
                    assert_eq!(
                        self.store.eval(formula, &model),
                        Ok(Value::Bool(true)),
                        "{}",
                        self.store.display(formula)
                    );
                }
            }
            Outcome::Unsat => {
                let proof = solver.proof().expect("proofs are logged");
                assert_eq!(proof::check(&self.store, &proof), Ok(()));
            }
            Outcome::Unknown(reason) => panic!("{reason:?}"),
        }
        (outcome, solver.all_statistics().into_iter().collect())
    }

    /// Panics if the formula is no interpolant between A and B.
    fn assert_separates(&self, a: &[Term], interpolant: Term, b: &[Term]) {
        let store = &self.store;
        assert_eq!(self.solve(&[a, &[store.not(interpolant)]].concat()).0, Outcome::Unsat, "A implies it");
        assert_eq!(self.solve(&[&[interpolant], b].concat()).0, Outcome::Unsat, "B contradicts it");
        let [symbols, of_a, of_b] = [&[interpolant], a, b].map(|formulas| store.symbols(formulas));
        assert!(symbols.vars.iter().all(|var| of_a.vars.contains(var) && of_b.vars.contains(var)));
        assert!(symbols.funs.iter().all(|fun| of_a.funs.contains(fun) && of_b.funs.contains(fun)));
    }
}

#[test]
fn what_is_none_of_the_elements_is_a_conflict_that_the_checker_understands() {
    let colours = Colours::new();
    let x = colours.var("x");
    let others = [colours.red, colours.green, colours.blue].map(|it| colours.store.not(colours.eq(x, it)));
    let mut solver = colours.solver();
    for formula in others {
        solver.assert(formula).expect("supported");
    }
    assert_eq!(solver.check(&[], &Default::default()), Ok(Outcome::Unsat));
    let proof = solver.proof().expect("proofs are logged");
    let is_axiom =
        |rule: &Rule| matches!(rule, Rule::Lemma(Justification::Axiom(axiom)) if axiom.rule.name == "finite");
    assert!(proof.steps().iter().any(|step| is_axiom(&step.rule)));
    assert_eq!(proof::check(&colours.store, &proof), Ok(()));
    assert_eq!(colours.solve(&others[..2]).0, Outcome::Sat);
}

#[test]
fn a_wrong_lemma_of_the_theory_is_found_by_the_checker() {
    let colours = Colours::new();
    let x = colours.var("x");
    let elements = &colours.language.elements;
    let clause: Vec<(Term, bool)> = elements[..2].iter().map(|&it| (colours.eq(x, it), true)).collect();
    assert!((enumeration::FINITE.check)(&colours.store, &clause, elements).is_err());
}

#[test]
fn order_is_propagated_and_models_have_the_elements() {
    let colours = Colours::new();
    let (x, y, z) = (colours.var("x"), colours.var("y"), colours.var("z"));
    let chain = [colours.before(x, y), colours.before(y, z)];
    let (outcome, counters) = colours.solve(&chain);
    assert_eq!(outcome, Outcome::Sat);
    assert!(counters["enumeration-term-lemmas"] > 0, "next(x) is a new term: {counters:?}");
    let denied = colours.store.not(colours.eq(y, colours.green));
    assert_eq!(colours.solve(&[chain[0], chain[1], denied]).0, Outcome::Unsat);
    let fourth = colours.before(z, colours.var("w"));
    assert_eq!(colours.solve(&[chain[0], chain[1], fourth]).0, Outcome::Unsat);
}

#[test]
fn congruence_and_the_theory_agree_by_interface_equalities() {
    let colours = Colours::new();
    let store = &colours.store;
    let vars: Vec<Term> = ["x", "y", "z", "w"].map(|name| colours.var(name)).to_vec();
    let images: Vec<Term> = vars.iter().map(|&var| colours.apply(colours.size, &[var])).collect();
    // Four colours, of which two are the same, cannot have four sizes.
    let mut different = Vec::new();
    for (at, &image) in images.iter().enumerate() {
        different.extend(images[..at].iter().map(|&other| store.not(colours.eq(image, other))));
    }
    assert_eq!(colours.solve(&different).0, Outcome::Unsat);
    let three: Vec<Term> = (0..3)
        .flat_map(|at| (0..at).map(move |other| (at, other)))
        .map(|(at, other)| store.not(colours.eq(images[at], images[other])))
        .collect();
    assert_eq!(colours.solve(&three).0, Outcome::Sat);
    // That two terms are red is known by their order only, and no atom says so.
    let [u, v] = ["u", "v"].map(|name| colours.var(name));
    let [x, y, z, w] = vars[..] else { unreachable!("there are four") };
    let mut first =
        vec![colours.before(x, y), colours.before(y, z), colours.before(u, v), colours.before(v, w)];
    first.push(store.not(colours.eq(colours.apply(colours.size, &[x]), colours.apply(colours.size, &[u]))));
    let (outcome, counters) = colours.solve(&first);
    assert_eq!(outcome, Outcome::Unsat);
    assert!(counters["enumeration-equalities"] > 0, "{counters:?}");
    // Functions to the sort: f(x) and f(y) are the same if x and y are.
    let (fx, fy) = (colours.apply(colours.f, &[vars[0]]), colours.apply(colours.f, &[vars[1]]));
    let same = colours.eq(vars[0], vars[1]);
    assert_eq!(colours.solve(&[same, colours.before(fx, fy)]).0, Outcome::Unsat);
    assert_eq!(colours.solve(&[colours.before(fx, fy)]).0, Outcome::Sat);
}

#[test]
fn splits_survive_queries_frames_and_renewals() {
    [Renewal::Never, Renewal::Always].into_iter().for_each(splits_survive);
}

fn splits_survive(renewal: Renewal) {
    let colours = Colours::new();
    let store = &colours.store;
    let (x, y) = (colours.var("x"), colours.var("y"));
    let mut solver = colours.solver();
    solver.set_renewal(renewal);
    solver.assert(store.not(colours.eq(x, y))).expect("supported");
    let check = |solver: &mut Solver<'_>, formula: Term| {
        solver.push();
        solver.assert(formula).expect("supported");
        let outcome = solver.check(&[], &Default::default()).expect("supported");
        if outcome == Outcome::Sat {
            let model = solver.model(&[formula]);
            assert_eq!(store.eval(formula, &model), Ok(Value::Bool(true)));
        }
        solver.pop();
        outcome
    };
    let cycle = colours.eq(colours.next(colours.next(colours.next(x))), x);
    for _ in 0..3 {
        assert_eq!(check(&mut solver, colours.before(x, y)), Outcome::Sat);
        assert_eq!(check(&mut solver, store.not(cycle)), Outcome::Unsat);
        assert_eq!(check(&mut solver, colours.eq(colours.next(x), y)), Outcome::Sat);
        assert_eq!(check(&mut solver, colours.eq(colours.next(x), x)), Outcome::Unsat);
    }
    let renewals = solver.all_statistics().into_iter().find(|(name, _)| *name == "renewals");
    assert_eq!(renewals, Some(("renewals", if renewal == Renewal::Always { 12 } else { 0 })));
}

/// Random clauses over three symbols, their images and the sizes of all these.
struct Clauses<'c> {
    colours: &'c Colours,
    vars: [Term; 3],
    terms: Vec<Term>,
    random: Random,
}

impl<'c> Clauses<'c> {
    fn new(colours: &'c Colours, seed: u64) -> Self {
        let vars = ["x", "y", "z"].map(|name| colours.var(name));
        let mut terms: Vec<Term> = vars.to_vec();
        terms.extend(&colours.language.elements);
        terms.extend(vars.map(|var| colours.apply(colours.f, &[var])));
        terms.push(colours.next(vars[0]));
        terms.push(colours.apply(colours.f, &[colours.next(vars[1])]));
        Clauses { colours, vars, terms, random: Random::new(seed) }
    }

    fn literal(&mut self) -> Term {
        let Colours { store, size, .. } = self.colours;
        let [a, b] = [(); 2].map(|()| *self.random.choose(&self.terms));
        let atom = match self.random.below(3) {
            0 => self.colours.before(a, b),
            1 => self.colours.eq(a, b),
            _ => store.le(self.colours.apply(*size, &[a]), store.int(self.random.below(3) as i64)),
        };
        store.signed(atom, self.random.bool())
    }

    fn clause(&mut self) -> Term {
        let literals: Vec<Term> = (0..1 + self.random.below(3)).map(|_| self.literal()).collect();
        self.colours.store.or(&literals)
    }

    fn clauses(&mut self, count: usize) -> Vec<Term> {
        (0..count).map(|_| self.clause()).collect()
    }
}

/// Answers to random formulas are those of trying all values.
#[test]
fn random_formulas_have_the_answers_of_a_slow_procedure() {
    let colours = Colours::new();
    let mut clauses = Clauses::new(&colours, 7);
    let (mut sat, mut unsat) = (0, 0);
    for round in 0..200 {
        let formulas = clauses.clauses(6 + round % 6);
        let expected = is_satisfiable(&colours, &clauses.vars, &formulas);
        let (outcome, _) = colours.solve(&formulas);
        assert_eq!(outcome == Outcome::Sat, expected);
        *(if expected { &mut sat } else { &mut unsat }) += 1;
    }
    assert!(sat >= 40 && unsat >= 40, "a fifth each at the least: {sat} and {unsat}");
}

/// An axiom of a theory belongs to a side that has all its symbols. If each axiom has such a side, there are interpolants; if
/// one mixes symbols of both sides, the interpolator answers that it found none.
#[test]
fn proofs_with_axioms_have_binary_sequence_and_tree_interpolants() {
    let colours = Colours::new();
    let mut clauses = Clauses::new(&colours, 3);
    let (mut found, mut with_axioms, mut mixed, mut sequences, mut trees) = (0, 0, 0, 0, 0);
    for _ in 0..300 {
        let parts = [(); 3].map(|()| clauses.clauses(4));
        let mut solver = colours.solver();
        for (part, formulas) in (0..).zip(&parts) {
            for &formula in formulas {
                solver.assert_in(formula, Part(part)).expect("supported");
            }
        }
        if solver.check(&[], &Default::default()) != Ok(Outcome::Unsat) {
            continue;
        }
        let interpolator = solver.interpolator(Options::default()).expect("the proof uses these parts only");
        let is_axiom = |rule: &Rule| matches!(rule, Rule::Lemma(Justification::Axiom(_)));
        match interpolator.binary(&[Part(0)], &Default::default()) {
            Ok(interpolant) => {
                colours.assert_separates(&parts[0], interpolant.formula, &parts[1..].concat());
                found += 1;
                let rests_on_axiom = interpolator.proof().steps().iter().any(|step| is_axiom(&step.rule));
                with_axioms += usize::from(interpolant.from_proof && rests_on_axiom);
            }
            Err(Error::NotFound(Defect::Mixed(_), _)) => mixed += 1,
            Err(error) => panic!("{error:?}"),
        }
        match interpolator.sequence(&[Part(0), Part(1), Part(2)], &Default::default()) {
            Ok(interpolants) => {
                let [first, second] = interpolants[..] else { panic!("one for each cut") };
                let (first, second) = (first.formula, second.formula);
                colours.assert_separates(&parts[0], first, &parts[1..].concat());
                colours.assert_separates(&parts[..2].concat(), second, &parts[2]);
                let step = [&[first], &parts[1][..], &[colours.store.not(second)]].concat();
                assert_eq!(colours.solve(&step).0, Outcome::Unsat, "it is a sequence");
                sequences += 1;
            }
            Err(Error::NotFound(..)) => {}
            Err(error) => panic!("{error:?}"),
        }
        let tree = [(Part(0), 2), (Part(1), 2), (Part(2), 3)];
        match interpolator.tree(&tree, &Default::default()) {
            Ok(interpolants) => {
                let [left, right, root] = interpolants[..] else { panic!("one for each node") };
                let (left, right) = (left.formula, right.formula);
                assert_eq!(root.formula, Term::FALSE);
                colours.assert_separates(&parts[0], left, &parts[1..].concat());
                colours.assert_separates(&parts[1], right, &[&parts[0][..], &parts[2]].concat());
                let step = [&[left, right], &parts[2][..]].concat();
                assert_eq!(colours.solve(&step).0, Outcome::Unsat, "it is a tree");
                trees += 1;
            }
            Err(Error::NotFound(..)) => {}
            Err(error) => panic!("{error:?}"),
        }
    }
    assert!(sequences >= 50 && trees >= 50, "{sequences} and {trees}");
    assert!(with_axioms >= 50, "{with_axioms} of {found} have axioms");
    assert!(mixed > 0, "some axioms mix both sides");
}

/// Sizes matter up to 2 only, and are chosen freely for each colour.
fn is_satisfiable(colours: &Colours, vars: &[Term; 3], formulas: &[Term]) -> bool {
    let Colours { store, language, .. } = colours;
    let value = |element: usize| store.uninterpreted_value(language.sort, element as u32);
    let table = |entries: Vec<(Vec<Value>, Value)>| Interpretation::Table {
        entries: entries.into_iter().map(|(args, value)| (args.into(), value)).collect(),
        default: None,
    };
    let unary = |images: [usize; 3]| table((0..3).map(|at| (vec![value(at)], value(images[at]))).collect());
    let mut model = Assignment::new();
    language.elements.iter().enumerate().for_each(|(at, &element)| model.set(element, value(at)));
    model.set_function(language.next, unary([1, 2, 0]));
    let pairs = (0..3).flat_map(|a| (0..3).map(move |b| (a, b)));
    model.set_function(
        language.before,
        table(pairs.map(|(a, b)| (vec![value(a), value(b)], Value::Bool(a < b))).collect()),
    );
    let digits = |number: usize| [number % 3, number / 3 % 3, number / 9];
    (0..27).any(|choice| {
        for (&var, at) in std::iter::zip(vars, digits(choice)) {
            model.set(var, value(at));
        }
        (0..27).any(|images| {
            model.set_function(colours.f, unary(digits(images)));
            (0..64_usize).any(|sizes| {
                let size = |at: usize| Value::Int(((sizes >> (2 * at) & 3) as i64).into());
                model.set_function(
                    colours.size,
                    table((0..3).map(|at| (vec![value(at)], size(at))).collect()),
                );
                formulas.iter().all(|&formula| store.eval(formula, &model) == Ok(Value::Bool(true)))
            })
        })
    })
}
