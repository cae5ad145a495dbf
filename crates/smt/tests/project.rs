//! Projection and elimination: against brute force on small boxes, against the solver at points of the result, and
//! against Z3, which eliminates quantifiers by itself.

#![expect(clippy::print_stdout, reason = "what was checked is part of the result")]

use std::fmt::Write as _;

use shofar_logic::number::{Integer, Rational};
use shofar_logic::{Assignment, ConstructorSpec, EvalError, Op, Sort, SortKind, Term, TermStore, Value};
use shofar_run::Limits;
use shofar_smt::project::{
    Bounds, ProjectError, Projection, Projector, Status, eliminate, eliminate_forall, project, project_cube,
};
use shofar_smt::sat::Outcome;
use shofar_smt::solver::Solver;
use shofar_testing::z3;
use shofar_testing::{Random, scale};

/// Which sorts of numbers occur.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Language {
    Booleans,
    Reals,
    Integers,
    Mixed,
}

struct Generator<'a> {
    store: &'a TermStore,
    random: Random,
    language: Language,
    /// The greatest coefficient and divisor.
    largest: i64,
    /// Whether symbols are declared constants, not variables.
    constants: bool,
}

impl Generator<'_> {
    fn formula(&mut self, depth: usize) -> Term {
        let numbers = if self.language == Language::Booleans { 0 } else { 6 };
        match if depth == 0 { self.random.below(1 + numbers) } else { 7 + self.random.below(7) } {
            0 => self.boolean(),
            1..=6 => self.comparison(),
            7 => self.app(Op::Not, depth, 1),
            8 | 9 => self.app(Op::And, depth, 3),
            10 => self.app(Op::Or, depth, 2),
            11 => {
                let op = [Op::Eq, Op::Xor, Op::Implies][self.random.below(3)];
                self.app(op, depth, 2)
            }
            12 => self.app(Op::Implies, depth, 3),
            _ => self.app(Op::Ite, depth, 3),
        }
    }

    fn app(&mut self, op: Op, depth: usize, count: usize) -> Term {
        let args: Vec<Term> = (0..count).map(|_| self.formula(depth - 1)).collect();
        self.store.app(op, &args).unwrap()
    }

    fn boolean(&mut self) -> Term {
        let name = ["p", "q", "r", "s"][self.random.below(4)];
        self.symbol(name, Sort::BOOL)
    }

    fn sort(&mut self) -> Sort {
        match self.language {
            Language::Integers => Sort::INT,
            Language::Mixed if self.random.bool() => Sort::INT,
            _ => Sort::REAL,
        }
    }

    fn comparison(&mut self) -> Term {
        let sort = self.sort();
        let op = [Op::Le, Op::Lt, Op::Ge, Op::Gt, Op::Eq, Op::Distinct, Op::Le, Op::Lt];
        let op = op[self.random.below(8)];
        let count = if self.random.below(8) == 0 { 3 } else { 2 };
        let args: Vec<Term> = (0..count).map(|i| self.number(sort, if i == 0 { 2 } else { 1 })).collect();
        self.store.app(op, &args).unwrap()
    }

    fn literal(&mut self, sort: Sort, largest: i64) -> Term {
        let value = self.random.between(-largest, largest);
        match sort {
            Sort::INT => self.store.int(value),
            _ => self.store.real(Rational::new(value.into(), Integer::from(2))),
        }
    }

    fn number(&mut self, sort: Sort, depth: usize) -> Term {
        let store = self.store;
        let op = |op, args: &[Term]| store.app(op, args).unwrap();
        match if depth == 0 { self.random.below(3) } else { self.random.below(10) } {
            0 => self.literal(sort, 20),
            1 | 2 => {
                let names = if sort == Sort::INT { ["i", "j", "k"] } else { ["x", "y", "z"] };
                let name = names[self.random.below(3)];
                self.symbol(name, sort)
            }
            3 | 4 => op(Op::Add, &[self.number(sort, depth - 1), self.number(sort, depth - 1)]),
            5 => op(Op::Sub, &[self.number(sort, depth - 1), self.number(sort, depth - 1)]),
            6 | 7 => op(Op::Mul, &[self.literal(sort, self.largest), self.number(sort, depth - 1)]),
            8 => {
                let condition = if self.random.bool() { self.boolean() } else { self.formula(0) };
                op(Op::Ite, &[condition, self.number(sort, depth - 1), self.number(sort, 0)])
            }
            _ if sort == Sort::REAL && self.language == Language::Mixed => {
                op(Op::ToReal, &[self.number(Sort::INT, depth - 1)])
            }
            _ if sort == Sort::REAL => self.number(sort, depth - 1),
            _ if self.language == Language::Mixed && self.random.bool() => {
                op(Op::ToInt, &[self.number(Sort::REAL, depth - 1)])
            }
            _ => match self.random.below(5) {
                0 => op(Op::Abs, &[self.number(sort, depth - 1)]),
                choice => {
                    let operator = if choice < 3 { Op::IntDiv } else { Op::Mod };
                    let size = self.random.between(1, self.largest);
                    let divisor = store.int(if self.random.below(4) == 0 { -size } else { size });
                    op(operator, &[self.number(sort, depth - 1), divisor])
                }
            },
        }
    }

    /// Some of the symbols.
    fn some_variables(&mut self) -> Vec<Term> {
        let mut some = Vec::new();
        for (names, sort) in SYMBOLS {
            for name in names.chars().filter(|_| self.random.bool()).collect::<Vec<_>>() {
                some.push(self.symbol(&name.to_string(), sort));
            }
        }
        some
    }

    fn symbol(&self, name: &str, sort: Sort) -> Term {
        let store = self.store;
        let name = store.symbol(name);
        match self.constants {
            true => store.apply(store.fun(name, &[], sort), &[]).unwrap(),
            false => store.var(name, sort),
        }
    }
}

/// The variables and declared constants in terms.
fn symbols(store: &TermStore, terms: &[Term]) -> Vec<Term> {
    let symbols = store.symbols(terms);
    symbols.vars.into_iter().chain(symbols.funs.iter().map(|&fun| store.apply(fun, &[]).unwrap())).collect()
}

const SYMBOLS: [(&str, Sort); 3] = [("pqrs", Sort::BOOL), ("ijk", Sort::INT), ("xyz", Sort::REAL)];

fn limits() -> Limits<'static> {
    Limits { conflicts: Some(2000), ..Limits::default() }
}

/// A model of the formula from the solver, if it finds one.
fn model_of(store: &TermStore, formula: Term) -> Option<Assignment> {
    let mut solver = Solver::new(store);
    solver.assert(formula).unwrap();
    match solver.check(&[], &limits()).unwrap() {
        Outcome::Sat => Some(solver.model(&[formula])),
        _ => None,
    }
}

/// What every projection has to fulfil by itself.
fn check_projection(store: &TermStore, projection: &Projection, model: &Assignment, vars: &[Term]) {
    for &literal in &projection.literals {
        let shown = store.display(literal);
        assert_eq!(store.eval(literal, model), Ok(Value::Bool(true)), "{shown} in the model");
        assert_eq!(store.normalize(literal), literal, "{shown} is normal");
        let atom = if store.op(literal) == Op::Not { store.args(literal)[0] } else { literal };
        assert!(!matches!(store.op(atom), Op::And | Op::Or | Op::Ite | Op::Not), "{shown} is a literal");
    }
    let applies = |&literal: &Term| store.subterms(&[literal]).iter().any(|part| vars.contains(part));
    assert!(!projection.literals.iter().any(applies), "variables are left");
}

/// Looks for points of the projection and asks whether the formula holds there for some values of the variables.
fn check_points(store: &TermStore, formula: Term, result: Term, vars: &[Term], random: &mut Random) {
    let symbols: Vec<Term> =
        symbols(store, &[formula, result]).into_iter().filter(|symbol| !vars.contains(symbol)).collect();
    let mut somewhere = Solver::new(store);
    somewhere.assert(result).unwrap();
    let mut extension = Solver::new(store);
    extension.assert(formula).unwrap();
    for _ in 0..2 {
        // Drives the point away from where the model was.
        let mut wishes: Vec<Term> = Vec::new();
        for &symbol in &symbols {
            let value = random.between(-30, 30);
            let sides = random.below(3);
            let bound = match store.sort_of(symbol) {
                Sort::BOOL => symbol,
                Sort::INT if sides == 0 => store.eq(symbol, store.int(value)),
                Sort::INT => store.le(symbol, store.int(value)),
                _ => store.lt(symbol, store.real(Rational::new(value.into(), Integer::from(3)))),
            };
            wishes.push(if random.bool() { bound } else { store.not(bound) });
        }
        while somewhere.check(&wishes, &limits()).unwrap() != Outcome::Sat {
            if wishes.pop().is_none() {
                return;
            }
        }
        let point = somewhere.model(&[formula, result]);
        assert_eq!(store.eval(result, &point), Ok(Value::Bool(true)));
        let fixed: Vec<Term> = symbols
            .iter()
            .map(|&symbol| store.eq(symbol, store.value_to_term(point.get(symbol).unwrap())))
            .collect();
        let outcome = extension.check(&fixed, &limits()).unwrap();
        let place: Vec<String> = fixed.iter().map(|&f| store.display(f).to_string()).collect();
        assert_ne!(
            outcome,
            Outcome::Unsat,
            "{} has no {:?} at {place:?} of {}",
            store.display(formula),
            vars.iter().map(|&var| store.display(var).to_string()).collect::<Vec<_>>(),
            store.display(result)
        );
    }
}

/// Projects generated formulas. Of every tenth, the script for Z3 asks whether the projection implies the quantified
/// formula.
fn generated(language: Language, count: u64, seed: u64) {
    let mut script = declarations();
    let mut projected = 0;
    let mut asked = 0;
    for number in 0..count * scale() {
        let store = TermStore::new();
        let random = Random::new(seed * 1_000_000 + number);
        let largest = if number % 2 == 0 { 4 } else { 12 };
        let mut generator =
            Generator { store: &store, random, language, largest, constants: number % 3 == 0 };
        let formula = generator.formula(2 + (number % 2) as usize);
        let vars = generator.some_variables();
        let Some(model) = model_of(&store, formula) else { continue };
        let mut projector = Projector::new(&store);
        let implicant = projector.implicant(formula, &model, &vars).unwrap();
        let weakened = store.and2(store.and(&implicant), store.not(store.normalize(formula)));
        assert_eq!(model_of(&store, weakened).map(|_| ()), None, "{}", store.display(formula));
        let projection = projector.project(formula, &model, &vars).unwrap();
        check_projection(&store, &projection, &model, &vars);
        let result = projection.formula(&store);
        assert_eq!(
            projector.project_cube(&implicant, &model, &vars).map(|p| p.by_value),
            Ok(projection.by_value)
        );
        check_points(&store, formula, result, &vars, &mut generator.random);
        projected += 1;
        if number % 10 == 0 {
            asked += 1;
            let negation = quantified(&store, "forall", &vars, &format!("(not {})", store.display(formula)));
            let _ = writeln!(
                script,
                "(push)\n(assert {})\n(assert {negation})\n(check-sat)\n(pop)",
                store.display(result)
            );
        }
    }
    println!("{projected} projections");
    assert!(projected * 2 > count, "too few formulas are satisfiable");
    expect_unsat(&script, asked);
}

fn declarations() -> String {
    let mut script = String::from("(set-option :timeout 400)\n");
    for (names, sort) in [("pqrs", "Bool"), ("ijk", "Int"), ("xyz", "Real")] {
        for name in names.chars() {
            let _ = writeln!(script, "(declare-const {name} {sort})");
        }
    }
    script
}

fn quantified(store: &TermStore, quantifier: &str, vars: &[Term], body: &str) -> String {
    if vars.is_empty() {
        return body.to_owned();
    }
    let sort = |var: Term| match store.sort_of(var) {
        Sort::BOOL => "Bool",
        Sort::INT => "Int",
        _ => "Real",
    };
    let bound: Vec<String> =
        vars.iter().map(|&var| format!("({} {})", store.display(var), sort(var))).collect();
    format!("({quantifier} ({}) {body})", bound.join(" "))
}

/// Runs a script in which Z3 must not find a model, and may give up now and then.
fn expect_unsat(script: &str, queries: usize) {
    let Some(answers) = z3::answers(script) else { return };
    assert_eq!(answers.len(), queries, "{:?}", answers.iter().find(|line| line.contains("error")));
    let unknown = answers.iter().filter(|answer| !matches!(answer.as_str(), "unsat" | "sat")).count();
    println!("{queries} queries, {unknown} unknown");
    let wrong = answers.iter().position(|answer| answer == "sat");
    if let Some(wrong) = wrong {
        panic!("query {wrong}: {}", script.split("(push)").nth(wrong + 1).unwrap_or_default());
    }
    assert!(unknown * 4 <= queries, "{unknown} of {queries} are unknown");
}

#[test]
fn projections_of_booleans() {
    generated(Language::Booleans, 1500, 1);
}

#[test]
fn projections_of_reals() {
    generated(Language::Reals, 3500, 2);
}

#[test]
fn projections_of_integers() {
    generated(Language::Integers, 3500, 3);
}

#[test]
fn projections_of_mixtures() {
    generated(Language::Mixed, 2500, 4);
}

/// Eliminates, and lets Z3 compare the result with the quantified formula.
fn eliminated(language: Language, count: u64, seed: u64) {
    let mut script = declarations();
    let mut asked = 0;
    let mut complete = 0;
    for number in 0..count * scale() {
        let store = TermStore::new();
        let random = Random::new(seed * 1_000_000 + number);
        let mut generator =
            Generator { store: &store, random, language, largest: 4, constants: number % 3 == 0 };
        let formula = generator.formula(2);
        let vars = generator.some_variables();
        let bounds = Bounds { limits: limits(), disjuncts: 60, ..Bounds::default() };
        let exists = number % 3 != 0;
        let elimination = if exists {
            eliminate(&store, formula, &vars, &bounds).unwrap()
        } else {
            eliminate_forall(&store, formula, &vars, &bounds).unwrap()
        };
        let left = symbols(&store, &[elimination.formula]);
        assert!(!vars.iter().any(|var| left.contains(var)), "variables are left");
        asked += 1;
        complete += usize::from(elimination.status == Status::Complete);
        let result = store.display(elimination.formula);
        let quantifier = if exists { "exists" } else { "forall" };
        let body = quantified(&store, quantifier, &vars, &store.display(formula).to_string());
        let claim = match (elimination.status, exists) {
            (Status::Complete, _) => format!("(= {result} {body})"),
            (_, true) => format!("(=> {result} {body})"),
            (_, false) => format!("(=> {body} {result})"),
        };
        let _ = writeln!(script, "(push)\n(assert (not {claim}))\n(check-sat)\n(pop)");
    }
    println!("{complete} of {asked} are complete");
    assert!(complete * 10 >= asked * 9, "{complete} of {asked} are complete");
    expect_unsat(&script, asked);
}

#[test]
fn eliminations_of_booleans() {
    eliminated(Language::Booleans, 100, 5);
}

#[test]
fn eliminations_of_reals() {
    eliminated(Language::Reals, 250, 6);
}

#[test]
fn eliminations_of_integers() {
    eliminated(Language::Integers, 250, 7);
}

#[test]
fn eliminations_of_mixtures() {
    eliminated(Language::Mixed, 150, 8);
}

// ---- cubes of integers by brute force ------------------------------------------------------------------------

fn vars<const N: usize>(store: &TermStore, names: [&str; N], sort: Sort) -> [Term; N] {
    names.map(|name| store.var(store.symbol(name), sort))
}

fn sum(store: &TermStore, terms: &[(i64, Term)], constant: i64) -> Term {
    let mut args: Vec<Term> = terms.iter().map(|(c, t)| store.mul_const(&Rational::from(*c), *t)).collect();
    args.push(store.int(constant));
    store.add(&args)
}

fn ints(values: &[(Term, i64)]) -> Assignment {
    values.iter().map(|&(term, value)| (term, Value::Int(value.into()))).collect()
}

fn holds(store: &TermStore, formula: Term, assignment: &Assignment) -> bool {
    store.eval(formula, assignment) == Ok(Value::Bool(true))
}

#[test]
fn integer_cubes_on_a_box() {
    const BOX: i64 = 9;
    for seed in 0..1200 * scale() {
        let store = TermStore::new();
        let mut random = Random::new(seed + 77);
        let [x, y, z] = vars(&store, ["x", "y", "z"], Sort::INT);
        let mut cube = vec![store.ge(x, store.int(-BOX)), store.le(x, store.int(BOX))];
        for _ in 0..random.between(1, 5) {
            let form = sum(
                &store,
                &[
                    (random.between(-12, 12), x),
                    (random.between(-6, 6), y),
                    (random.between(-1, 1) * random.between(0, 6), z),
                ],
                random.between(-20, 20),
            );
            let modulus = random.between(2, 12);
            cube.push(match random.below(7) {
                0 => store
                    .eq(store.modulo(form, store.int(modulus)), store.int(random.between(0, modulus - 1))),
                1 => store
                    .le(store.modulo(form, store.int(modulus)), store.int(random.between(0, modulus - 1))),
                2 => store.le(store.int_div(form, store.int(modulus)), y),
                3 if random.bool() => store.eq(form, store.int(0)),
                4 => store.not(store.eq(form, store.int(0))),
                _ => store.le(form, store.int(0)),
            });
        }
        let cube = store.and(&cube);
        let points: Vec<(i64, i64)> = (-5..=5).flat_map(|b| (-5..=5).map(move |c| (b, c))).collect();
        let extension = |b, c| (-BOX..=BOX).find(|&a| holds(&store, cube, &ints(&[(x, a), (y, b), (z, c)])));
        let extensions: Vec<Option<i64>> = points.iter().map(|&(b, c)| extension(b, c)).collect();
        let mut covered = vec![false; points.len()];
        let mut projector = Projector::new(&store);
        for (position, &(b, c)) in points.iter().enumerate() {
            let Some(a) = extensions[position] else { continue };
            if covered[position] {
                continue;
            }
            let model = ints(&[(x, a), (y, b), (z, c)]);
            let projection = projector.project(cube, &model, &[x]).unwrap();
            check_projection(&store, &projection, &model, &[x]);
            let result = projection.formula(&store);
            for (other, &(b, c)) in points.iter().enumerate() {
                if holds(&store, result, &ints(&[(y, b), (z, c)])) {
                    covered[other] = true;
                    assert!(
                        extensions[other].is_some(),
                        "{} at y={b} z={c} from {}",
                        store.display(result),
                        store.display(cube)
                    );
                }
            }
            assert!(covered[position]);
        }
    }
}

#[test]
fn divisibilities_without_bounds_are_projected_exactly() {
    for seed in 0..400 * scale() {
        let store = TermStore::new();
        let mut random = Random::new(seed + 99);
        let [x, y, z] = vars(&store, ["x", "y", "z"], Sort::INT);
        let mut cube = Vec::new();
        for _ in 0..random.between(1, 4) {
            let form = [(random.between(-6, 6), x), (random.between(-3, 3), y), (random.between(-2, 2), z)];
            let modulus = store.int([2, 3, 4, 6, 8, 9, 12][random.below(7)]);
            let form = sum(&store, &form, random.between(-9, 9));
            cube.push(store.eq(store.modulo(form, modulus), store.int(random.between(0, 1))));
        }
        // All moduli divide 72, so that x can be moved above the bound.
        let bound = store.ge(x, y);
        let cube = store.and(&cube);
        let points: Vec<(i64, i64)> = (-4..=4).flat_map(|b| (-4..=4).map(move |c| (b, c))).collect();
        let extension = |&(b, c): &(i64, i64)| {
            (b..b + 72).find(|&a| holds(&store, cube, &ints(&[(x, a), (y, b), (z, c)])))
        };
        let extensions: Vec<Option<i64>> = points.iter().map(extension).collect();
        let Some(some) = extensions.iter().position(Option::is_some) else { continue };
        let ((b, c), a) = (points[some], extensions[some].unwrap());
        let model = ints(&[(x, a), (y, b), (z, c)]);
        let projection = project_cube(&store, &[cube, bound], &model, &[x]).unwrap();
        check_projection(&store, &projection, &model, &[x]);
        let result = projection.formula(&store);
        for (&(b, c), extension) in points.iter().zip(&extensions) {
            let found = holds(&store, result, &ints(&[(y, b), (z, c)]));
            assert_eq!(found, extension.is_some(), "{} from {}", store.display(result), store.display(cube));
        }
    }
}

/// Whether bounds on a real, each with its strictness, leave room for it.
fn leaves_room(lower: &[(Rational, bool)], upper: &[(Rational, bool)]) -> bool {
    let meets =
        |(s, strict): &(Rational, bool), (t, other): &(Rational, bool)| s < t || s == t && !strict && !other;
    lower.iter().all(|s| upper.iter().all(|t| meets(s, t)))
}

#[test]
fn real_cubes_on_a_grid() {
    for seed in 0..600 * scale() {
        let store = TermStore::new();
        let mut random = Random::new(seed + 55);
        let [x, y, z] = vars(&store, ["x", "y", "z"], Sort::REAL);
        // Bounds a*y + b*z + c on x; many of them meet at points of the grid.
        let bounds: Vec<(bool, bool, [i64; 3])> = (0..random.between(4, 8))
            .map(|_| {
                let side = random.bool();
                (side, random.bool(), [(); 3].map(|()| random.between(-1, 1)))
            })
            .collect();
        let literal = |&(is_lower, strict, [a, b, c]): &(bool, bool, [i64; 3])| {
            let scaled = |factor: i64, term| store.mul_const(&Rational::from(factor), term);
            let bound = store.add(&[scaled(a, y), scaled(b, z), store.real(c)]);
            match (is_lower, strict) {
                (true, true) => store.lt(bound, x),
                (true, false) => store.le(bound, x),
                (false, true) => store.lt(x, bound),
                (false, false) => store.le(x, bound),
            }
        };
        let cube: Vec<Term> = bounds.iter().map(literal).collect();
        let at = |p: i64, q: i64| {
            let (mut lower, mut upper) = (Vec::new(), Vec::new());
            for (is_lower, strict, [a, b, c]) in &bounds {
                let bound = (Rational::from(a * p + b * q + c), *strict);
                if *is_lower { lower.push(bound) } else { upper.push(bound) }
            }
            (lower, upper)
        };
        let assignment = |p: i64, q: i64, value: Rational| -> Assignment {
            [(x, value), (y, p.into()), (z, q.into())]
                .map(|(term, value)| (term, Value::Real(value)))
                .into_iter()
                .collect()
        };
        let grid: Vec<(i64, i64)> = (-2..=2).flat_map(|p| (-2..=2).map(move |q| (p, q))).collect();
        for &(p, q) in &grid {
            let (lower, upper) = at(p, q);
            if !leaves_room(&lower, &upper) {
                continue;
            }
            let low = lower.iter().map(|(s, _)| s).max().cloned();
            let high = upper.iter().map(|(t, _)| t).min().cloned();
            let value = match (low, high) {
                (Some(low), Some(high)) => (low + high) / Rational::from(2),
                (Some(low), None) => low + Rational::ONE,
                (None, Some(high)) => high - Rational::ONE,
                (None, None) => Rational::ZERO,
            };
            let model = assignment(p, q, value);
            let projection = project_cube(&store, &cube, &model, &[x]).unwrap();
            check_projection(&store, &projection, &model, &[x]);
            let result = projection.formula(&store);
            for &(p, q) in &grid {
                let (lower, upper) = at(p, q);
                let found = holds(&store, result, &assignment(p, q, Rational::ZERO));
                assert!(!found || leaves_room(&lower, &upper), "{} at {p} {q}", store.display(result));
            }
        }
    }
}

// ---- single cases ----------------------------------------------------------------------------------------------

#[test]
fn m1_the_greatest_strict_bound_is_the_pivot() {
    let store = TermStore::new();
    let [x, y, z, w] = vars(&store, ["x", "y", "z", "w"], Sort::REAL);
    // A second upper and a third lower bound, so that not all pairs are taken.
    let [v, u] = vars(&store, ["v", "u"], Sort::REAL);
    let cube = [store.gt(x, y), store.ge(x, z), store.lt(x, w), store.le(x, v), store.lt(x, u)];
    let value = |n: i64| Value::Real(n.into());
    let model: Assignment =
        [(x, 1), (y, 0), (z, 0), (w, 2), (v, 2), (u, 2)].map(|(t, n)| (t, value(n))).into_iter().collect();
    let mut result = project_cube(&store, &cube, &model, &[x]).unwrap().literals;
    let mut expected = [store.le(z, y), store.lt(y, w), store.lt(y, v), store.lt(y, u)];
    result.sort_unstable();
    expected.sort_unstable();
    assert_eq!(result, expected);
    // With one upper bound only, the result is exact.
    let mut result = project_cube(&store, &cube[..3], &model, &[x]).unwrap().literals;
    let mut expected = [store.lt(y, w), store.lt(z, w)];
    result.sort_unstable();
    expected.sort_unstable();
    assert_eq!(result, expected);
}

#[test]
fn m2_bounds_that_are_close_fix_a_residue() {
    let store = TermStore::new();
    let [x, y] = vars(&store, ["x", "y"], Sort::INT);
    let triple = sum(&store, &[(3, x)], 0);
    let cube = store.and2(store.le(y, triple), store.le(triple, sum(&store, &[(1, y)], 1)));
    let residue = |n: i64| store.eq(store.modulo(y, store.int(3)), store.int(n));
    for (value, expected) in [(2, 2), (3, 0)] {
        let projection = project(&store, cube, &ints(&[(x, 1), (y, value)]), &[x]).unwrap();
        assert_eq!(projection.literals, [residue(expected)]);
    }
    let mut cubes: Vec<Vec<Term>> = Vec::new();
    for value in -30..30 {
        let above = (-11..11).find(|&a| (value..=value + 1).contains(&(3 * a)));
        let Some(above) = above else { continue };
        let projection = project(&store, cube, &ints(&[(x, above), (y, value)]), &[x]).unwrap();
        if !cubes.contains(&projection.literals) {
            cubes.push(projection.literals);
        }
    }
    assert_eq!(cubes, [[residue(0)], [residue(2)]]);
    // Within bounds, the solver sees the end, too.
    let bounded = store.and(&[cube, store.ge(y, store.int(0)), store.le(y, store.int(20))]);
    let elimination = eliminate(&store, bounded, &[x], &Bounds::default()).unwrap();
    assert_eq!((elimination.status, elimination.projections), (Status::Complete, 2));
}

#[test]
fn m3_equalities_leave_a_divisibility() {
    let store = TermStore::new();
    let [x, y, z] = vars(&store, ["x", "y", "z"], Sort::INT);
    let cube = [store.eq(sum(&store, &[(3, x)], 0), y), store.ge(x, z)];
    let result = project_cube(&store, &cube, &ints(&[(x, 1), (y, 3), (z, 0)]), &[x]).unwrap().literals;
    let expected = [store.divisible(&Integer::from(3), y), store.ge(y, sum(&store, &[(3, z)], 0))];
    assert!(expected.iter().all(|literal| result.contains(literal)) && result.len() == 2);
}

#[test]
fn m4_divisibilities_alone_lose_nothing() {
    let store = TermStore::new();
    let [x, y] = vars(&store, ["x", "y"], Sort::INT);
    let cube = [store.divisible(&Integer::from(4), sum(&store, &[(2, x), (1, y)], 0))];
    let model = ints(&[(x, 1), (y, 2)]);
    let even = store.divisible(&Integer::from(2), y);
    assert_eq!(project_cube(&store, &cube, &model, &[x]).unwrap().literals, [even]);
    // Between bounds, the residue of x is fixed.
    let bounded = [cube[0], store.ge(x, store.int(0)), store.le(x, y)];
    let result = project_cube(&store, &bounded, &model, &[x]).unwrap().literals;
    assert!(result.contains(&store.eq(store.modulo(y, store.int(4)), store.int(2))));
}

#[test]
fn m6_symbols_without_value_have_the_default() {
    let store = TermStore::new();
    let [x, y] = vars(&store, ["x", "y"], Sort::INT);
    let p = store.var(store.symbol("p"), Sort::BOOL);
    let formula = store.and(&[store.le(x, y), store.not(p), store.ge(y, store.int(0))]);
    let projection = project(&store, formula, &Assignment::new(), &[x]).unwrap();
    assert_eq!(projection.formula(&store), store.and2(store.not(p), store.ge(y, store.int(0))));
    assert_eq!(project(&store, Term::TRUE, &Assignment::new(), &[x]).unwrap().literals, []);
    let nobody = project(&store, store.gt(x, store.int(0)), &Assignment::new(), &[x]);
    assert_eq!(nobody, Err(ProjectError::NotSatisfied(store.gt(x, store.int(0)))));
}

#[test]
fn m7_huge_periods_are_replaced_by_the_value() {
    let store = TermStore::new();
    let [x, y, z] = vars(&store, ["x", "y", "z"], Sort::INT);
    let divides = |modulus: i64, other| store.divisible(&Integer::from(modulus), store.add(&[x, other]));
    let cube = [divides((1 << 31) - 1, y), divides((1 << 31) - 19, z), store.le(y, x), store.le(x, z)];
    let model = ints(&[(x, 0), (y, 0), (z, 0)]);
    let projection = project_cube(&store, &cube, &model, &[x]).unwrap();
    assert!(projection.by_value);
    check_projection(&store, &projection, &model, &[x]);
    // Without bounds on both sides nothing has to be fixed.
    let projection = project_cube(&store, &cube[..3], &model, &[x]).unwrap();
    assert_eq!((projection.by_value, projection.literals.len()), (false, 0));
}

#[test]
fn remainders_of_a_free_variable_can_be_anything() {
    let store = TermStore::new();
    let [x, y] = vars(&store, ["x", "y"], Sort::INT);
    let rest = store.modulo(store.add(&[x, y]), store.int(1000));
    let formula = store.le(rest, store.int(499));
    let projection = project(&store, formula, &ints(&[(x, 3), (y, 4)]), &[x]).unwrap();
    assert_eq!(projection.literals, []);
}

#[test]
fn reals_between_integers() {
    let store = TermStore::new();
    let [x, y] = vars(&store, ["x", "y"], Sort::REAL);
    let i = store.var(store.symbol("i"), Sort::INT);
    // An integer between x and y.
    let bounded = store.and2(store.ge(x, store.real(-9)), store.le(y, store.real(9)));
    let formula = store.and(&[store.le(x, store.to_real(i)), store.lt(store.to_real(i), y), bounded]);
    let elimination = eliminate(&store, formula, &[i], &Bounds::default()).unwrap();
    assert_eq!(elimination.status, Status::Complete);
    let half = |n: i64| Value::Real(Rational::new(n.into(), Integer::from(2)));
    for a in -5..5 {
        for b in -5..5 {
            let model: Assignment = [(x, half(a)), (y, half(b))].into_iter().collect();
            let expected = (-5..5).any(|n| a <= 2 * n && 2 * n < b);
            assert_eq!(holds(&store, elimination.formula, &model), expected, "{a}/2 {b}/2");
        }
    }
    // Whether x is an integer.
    let integral = store.eq(x, store.to_real(i));
    let elimination = eliminate(&store, integral, &[i], &Bounds::default()).unwrap();
    assert_eq!(elimination.formula, store.is_int(x));
    let elimination = eliminate(&store, store.is_int(x), &[x], &Bounds::default()).unwrap();
    assert_eq!(elimination.formula, Term::TRUE);
}

#[test]
fn implicants_prefer_literals_that_stay() {
    let store = TermStore::new();
    let [x, y] = vars(&store, ["x", "y"], Sort::INT);
    let [p, q] = vars(&store, ["p", "q"], Sort::BOOL);
    let positive = store.gt(x, store.int(0));
    let formula = store.or(&[positive, store.and2(p, q)]);
    let mut model = ints(&[(x, 1), (y, 0)]);
    model.extend([(p, Value::Bool(true)), (q, Value::Bool(true))]);
    let mut projector = Projector::new(&store);
    let implicant = projector.implicant(formula, &model, &[x]).unwrap();
    assert_eq!(store.and(&implicant), store.and2(p, q));
    // Nothing is to be eliminated: the shorter one.
    assert_eq!(projector.implicant(formula, &model, &[]).unwrap(), [positive]);
    // What is needed anyway is used again.
    let shared = store.app(Op::And, &[store.or2(p, q), store.or2(q, positive), positive]).unwrap();
    let implicant = projector.implicant(shared, &model, &[]).unwrap();
    assert_eq!(implicant.len(), 2);
}

#[test]
fn choices_inside_of_atoms_are_resolved() {
    let store = TermStore::new();
    let [x, y, z] = vars(&store, ["x", "y", "z"], Sort::INT);
    let larger = store.app(Op::Ite, &[store.ge(x, y), x, y]).unwrap();
    let nested = store.app(Op::Ite, &[store.ge(larger, z), larger, z]).unwrap();
    let formula = store.app(Op::Le, &[nested, store.int(10)]).unwrap();
    let mut projector = Projector::new(&store);
    let implicant = projector.implicant(formula, &ints(&[(x, 3), (y, 2), (z, 1)]), &[]).unwrap();
    let mut expected = vec![store.ge(x, y), store.ge(x, z), store.le(x, store.int(10))];
    let mut found = implicant.clone();
    expected.sort_unstable();
    found.sort_unstable();
    assert_eq!(found, expected);
    let elimination = eliminate(&store, formula, &[z], &Bounds::default()).unwrap();
    let expected = store.and2(store.le(x, store.int(10)), store.le(y, store.int(10)));
    let different = store.not(store.iff(elimination.formula, expected));
    assert!(model_of(&store, different).is_none());
}

#[test]
fn deep_formulas_are_no_problem() {
    let store = TermStore::new();
    let [x, y] = vars(&store, ["x", "y"], Sort::INT);
    let p = store.var(store.symbol("p"), Sort::BOOL);
    let mut formula = store.le(x, y);
    let mut number = x;
    for i in 0..100_000 {
        let bound = store.app(Op::Le, &[y, store.int(i % 7)]).unwrap();
        formula = store.app(if i % 2 == 0 { Op::Or } else { Op::And }, &[formula, bound]).unwrap();
        formula = store.app(Op::Not, &[formula]).unwrap();
        number = store.app(Op::Ite, &[p, number, store.int(i)]).unwrap();
    }
    let mut model = ints(&[(x, 0), (y, 3)]);
    model.set(p, Value::Bool(true));
    if !holds(&store, formula, &model) {
        formula = store.app(Op::Not, &[formula]).unwrap();
    }
    let both = store.app(Op::And, &[formula, store.app(Op::Le, &[number, y]).unwrap()]).unwrap();
    let projection = project(&store, both, &model, &[x]).unwrap();
    check_projection(&store, &projection, &model, &[x]);
    let mut quotient = x;
    for _ in 0..300 {
        quotient =
            store.app(Op::IntDiv, &[store.app(Op::Add, &[quotient, y]).unwrap(), store.int(2)]).unwrap();
    }
    let formula = store.app(Op::Le, &[quotient, store.int(5)]).unwrap();
    let projection = project(&store, formula, &model, &[x]).unwrap();
    check_projection(&store, &projection, &model, &[x]);
}

#[test]
fn definitions_reach_everywhere() {
    let store = TermStore::new();
    let [x, y, z] = vars(&store, ["x", "y", "z"], Sort::INT);
    let f = store.fun(store.symbol("f"), &[Sort::INT], Sort::INT);
    let call = |arg| store.apply(f, &[arg]).unwrap();
    let mut model = ints(&[(x, 1), (y, 0), (z, 5), (call(x), 7)]);
    let successor = store.add(&[y, store.int(1)]);
    model.set(call(successor), Value::Int(7.into()));
    let cube = [store.le(call(x), store.int(9)), store.eq(x, successor), store.le(x, z)];
    let mut result = project_cube(&store, &cube, &model, &[x]).unwrap().literals;
    let mut expected = vec![store.le(call(successor), store.int(9)), store.le(successor, z)];
    result.sort_unstable();
    expected.sort_unstable();
    assert_eq!(result, expected);
    // Without the equality there is nothing to put under the function.
    let refused = project_cube(&store, &[cube[0], cube[2]], &model, &[x]);
    assert_eq!(refused, Err(ProjectError::Buried(call(x))));
    let kept = project_cube(
        &store,
        &[store.le(call(y), z), store.le(x, z)],
        &{
            let mut model = model.clone();
            model.set(call(y), Value::Int(0.into()));
            model
        },
        &[x],
    );
    assert_eq!(kept.unwrap().literals, [store.le(call(y), z)]);
}

#[test]
fn other_sorts_are_eliminated_by_definitions() {
    let store = TermStore::new();
    let declared = store.sort(SortKind::Uninterpreted(store.symbol("U"), Box::new([])));
    let [a, b, c] = vars(&store, ["a", "b", "c"], declared);
    let value = |n| store.uninterpreted_value(declared, n);
    let model: Assignment = [(a, value(0)), (b, value(0)), (c, value(1))].into_iter().collect();
    let cube = [store.eq(a, b), store.not(store.eq(a, c))];
    assert_eq!(project_cube(&store, &cube, &model, &[a]).unwrap().literals, [store.not(store.eq(b, c))]);
    let refused = project_cube(&store, &cube[1..], &model, &[a]);
    assert!(matches!(refused, Err(ProjectError::Buried(_))));

    let array = store.array_sort(Sort::INT, Sort::INT);
    let [m, n] = vars(&store, ["m", "n"], array);
    let [i, j] = vars(&store, ["i", "j"], Sort::INT);
    let written = store.store_array(n, i, store.int(1));
    let zeros = store.array_value(array, &Value::Int(0.into()), []);
    let mut model = ints(&[(i, 0), (j, 3)]);
    let ones =
        store.array_value(array, &Value::Int(0.into()), [(Value::Int(0.into()), Value::Int(1.into()))]);
    model.extend([(n, zeros), (m, ones)]);
    let cube = [store.eq(m, written), store.le(store.select(m, j), store.int(0))];
    let result = project_cube(&store, &cube, &model, &[m]).unwrap().literals;
    assert_eq!(result, [store.le(store.select(written, j), store.int(0))]);

    // The literal that says which element is read is never dropped.
    let read = store.select(store.store_array(m, i, store.int(0)), j);
    let mut model = model.clone();
    model.set(j, Value::Int(0.into()));
    let result = project(&store, store.eq(read, store.int(0)), &model, &[m]).unwrap().literals;
    assert_eq!(result, [store.eq(i, j)]);

    let bits = store.bitvec_sort(8);
    let [v, w] = vars(&store, ["v", "w"], bits);
    let byte = |n: i64| Value::BitVec { value: n.into(), width: 8 };
    let model: Assignment = [(v, byte(3)), (w, byte(5))].into_iter().collect();
    let below = store.build(Op::BvUle, &[v, w]).unwrap();
    let result = project(&store, below, &model, &[v]).unwrap();
    assert_eq!(result.formula(&store), store.build(Op::BvUle, &[store.bv(3, 8), w]).unwrap());
}

#[test]
fn equations_between_constructors_are_taken_apart() {
    let store = TermStore::new();
    let specs = [ConstructorSpec {
        name: store.symbol("pair"),
        fields: vec![(store.symbol("first"), Sort::INT), (store.symbol("second"), Sort::INT)],
    }];
    let sort = store.new_datatype(store.symbol("Pair"), &[]);
    store.define_datatypes(&[(sort, specs.to_vec())]).unwrap();
    let pair = store.datatype(sort).unwrap().constructors()[0];
    let t = store.var(store.symbol("t"), sort);
    let [x, y] = vars(&store, ["x", "y"], Sort::INT);
    let made = store.construct_term(pair, &[x, y]);
    let other = store.construct_term(pair, &[store.int(1), y]);
    let mut model = ints(&[(x, 2), (y, 4)]);
    let value = store.construct_term(pair, &[store.int(2), store.int(4)]);
    model.set(t, Value::Term(value));
    let cube = [store.eq(t, made), store.not(store.eq(t, other))];
    let result = project_cube(&store, &cube, &model, &[t]).unwrap().literals;
    assert_eq!(result, [store.not(store.eq(x, store.int(1)))]);
}

#[test]
fn errors_name_what_is_wrong() {
    let store = TermStore::new();
    let [x, y] = vars(&store, ["x", "y"], Sort::INT);
    let sum = store.add(&[x, y]);
    assert_eq!(project(&store, Term::TRUE, &Assignment::new(), &[sum]), Err(ProjectError::NotAVariable(sum)));
    let zero = store.app(Op::IntDiv, &[x, store.int(0)]).unwrap();
    let open = store.app(Op::Le, &[zero, y]).unwrap();
    let error = project(&store, open, &ints(&[(x, 0), (y, 0)]), &[x]).unwrap_err();
    assert_eq!(error, ProjectError::NoValue(EvalError::Unspecified(zero)));
    let square = store.mul(&[x, x]);
    let error = project(&store, store.le(square, y), &ints(&[(x, 0), (y, 0)]), &[x]).unwrap_err();
    assert_eq!(error, ProjectError::Buried(square));
    assert_eq!(error.display(&store).to_string(), "no method eliminates the variables in (* x x)");
    // Either factor may be the variable.
    let product = store.mul(&[x, y]);
    for var in [x, y] {
        let error = project(&store, store.le(product, x), &ints(&[(x, 0), (y, 0)]), &[var]).unwrap_err();
        assert_eq!(error, ProjectError::Buried(product));
    }
}

#[test]
fn an_elimination_that_is_stopped_is_a_part() {
    let store = TermStore::new();
    let [x, y] = vars(&store, ["x", "y"], Sort::INT);
    let formula = store.or_of(
        (0..10).map(|n| store.and2(store.eq(x, store.int(n)), store.eq(y, sum(&store, &[(2, x)], n)))),
    );
    let bounds = Bounds { disjuncts: 4, ..Bounds::default() };
    let part = eliminate(&store, formula, &[x], &bounds).unwrap();
    assert_eq!((part.status, part.projections), (Status::TooManyDisjuncts, 4));
    let all = eliminate(&store, formula, &[x], &Bounds::default()).unwrap();
    assert_eq!((all.status, store.args(all.formula).len()), (Status::Complete, 10));
    let outside = store.and2(part.formula, store.not(all.formula));
    assert!(model_of(&store, outside).is_none());
    let none = eliminate_forall(&store, formula, &[x], &Bounds::default()).unwrap();
    assert_eq!(none.formula, Term::FALSE);
}
