//! Projection of arrays: known results, and generated formulas. Models are drawn, not found by the solver. Results are
//! judged by evaluation, on finite sorts at all points, and by Z3.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt::Write as _;

use shofar_logic::smtlib::{Environment, Reader};
use shofar_logic::{Assignment, Op, Sort, SortKind, Term, TermStore, Value};
use shofar_smt::project::{self, ProjectError, Projection, Projector, project_cube};
use shofar_testing::z3;
use shofar_testing::{Random, scale};

const SORTS: &str = "
(declare-datatypes ((D 0)) (((r) (g))))
(declare-datatypes ((T 0)) (((r3) (g3) (b3))))
(define-sort DD () (Array D D))
(define-sort TB () (Array T Bool))
(define-sort BD () (Array Bool D))
(define-sort II () (Array Int Int))
(define-sort IB () (Array Int Bool))
(define-sort N () (Array Int II))
(declare-datatypes ((P 0)) (((mk (cells II) (size Int)))))
(define-sort PI () (Array P Int))
";

/// The names of constants, by sort.
const CONSTANTS: [(&str, &[&str]); 11] = [
    ("D", &["d0", "d1", "d2"]),
    ("T", &["t0", "t1"]),
    ("Bool", &["q0", "q1"]),
    ("DD", &["a0", "a1", "a2"]),
    ("TB", &["s0", "s1"]),
    ("BD", &["e0", "e1"]),
    ("Int", &["i0", "i1", "i2", "i3"]),
    ("II", &["m0", "m1", "m2"]),
    ("IB", &["u0", "u1"]),
    ("N", &["n0", "n1"]),
    ("P", &["p0", "p1"]),
];

/// The constants of arrays with composite indices.
const INDEXED_BY_PAIRS: [&str; 2] = ["h0", "h1"];

/// Array sorts with those of indices and elements.
const ARRAYS: [(&str, &str, &str); 7] = [
    ("DD", "D", "D"),
    ("TB", "T", "Bool"),
    ("BD", "Bool", "D"),
    ("II", "Int", "Int"),
    ("IB", "Int", "Bool"),
    ("N", "Int", "II"),
    ("PI", "P", "Int"),
];

fn constants(sort: &str) -> &'static [&'static str] {
    match CONSTANTS.iter().find(|(other, _)| *other == sort) {
        Some((_, names)) => names,
        None => &INDEXED_BY_PAIRS,
    }
}

fn declarations() -> String {
    let mut text = SORTS.to_owned();
    for (sort, names) in CONSTANTS.into_iter().chain([("PI", &INDEXED_BY_PAIRS[..])]) {
        for name in names {
            let _ = writeln!(text, "(declare-const {name} {sort})");
        }
    }
    text
}

/// A store with the sorts and constants above.
struct World {
    store: TermStore,
    environment: RefCell<Environment>,
}

impl World {
    fn new() -> Self {
        let store = TermStore::new();
        let mut environment = Environment::new(&store);
        let text = declarations();
        let mut reader = Reader::new(&store, &mut environment, text.as_bytes());
        while let Some(command) = reader.command().unwrap() {
            reader.declaration(command).unwrap();
        }
        World { store, environment: RefCell::new(environment) }
    }

    fn read(&self, text: &str) -> Term {
        Reader::new(&self.store, &mut self.environment.borrow_mut(), text.as_bytes()).term().unwrap()
    }

    fn value(&self, text: &str) -> Value {
        self.store.eval(self.read(text), &Assignment::new()).unwrap()
    }

    fn model(&self, pairs: &[(&str, &str)]) -> Assignment {
        pairs.iter().map(|(name, value)| (self.read(name), self.value(value))).collect()
    }

    /// The normal conjunction of formulas.
    fn cube(&self, literals: &[&str]) -> Term {
        self.store.and_of(literals.iter().map(|text| self.store.normalize(self.read(text))))
    }

    /// Projects a cube and checks what every projection has to fulfil by itself.
    fn project(&self, literals: &[&str], model: &[(&str, &str)], vars: &[&str]) -> Projection {
        let literals: Vec<Term> = literals.iter().map(|text| self.read(text)).collect();
        let vars: Vec<Term> = vars.iter().map(|text| self.read(text)).collect();
        let model = self.model(model);
        let projection = project_cube(&self.store, &literals, &model, &vars).unwrap();
        check(&self.store, &projection, &model, &vars);
        projection
    }

    /// All values of a finite sort.
    fn values(&self, sort: Sort) -> Vec<Value> {
        let store = &self.store;
        match store.sort_kind(sort) {
            SortKind::Bool => vec![Value::Bool(false), Value::Bool(true)],
            SortKind::Datatype(_) => {
                let constructors = store.datatype(sort).unwrap().constructors();
                constructors.iter().map(|&id| Value::Term(store.construct_term(id, &[]))).collect()
            }
            SortKind::Array(index, element) => {
                let (indices, elements) = (self.values(*index), self.values(*element));
                let mut rows: Vec<Vec<Value>> = vec![Vec::new()];
                for _ in &indices {
                    let longer = |row: &Vec<Value>| {
                        let row = row.clone();
                        elements
                            .iter()
                            .map(move |element| [row.as_slice(), std::slice::from_ref(element)].concat())
                    };
                    rows = rows.iter().flat_map(longer).collect();
                }
                let array =
                    |row: Vec<Value>| store.array_value(sort, &elements[0], indices.iter().cloned().zip(row));
                rows.into_iter().map(array).collect()
            }
            _ => panic!("{} is infinite", store.display_sort(sort)),
        }
    }

    /// A random value with small numbers.
    fn random_value(&self, random: &mut Random, sort: Sort) -> Value {
        let store = &self.store;
        match store.sort_kind(sort) {
            SortKind::Bool => Value::Bool(random.bool()),
            SortKind::Int => store.eval(store.int(random.between(-1, 3)), &Assignment::new()).unwrap(),
            SortKind::Datatype(_) => {
                let id = *random.choose(store.datatype(sort).unwrap().constructors());
                let fields = store.constructor(id).fields.iter();
                let fields: Vec<Term> = fields
                    .map(|&(_, field)| store.value_to_term(&self.random_value(random, field)))
                    .collect();
                Value::Term(store.construct_term(id, &fields))
            }
            SortKind::Array(index, element) => {
                let entries = (0..random.below(4))
                    .map(|_| (self.random_value(random, *index), self.random_value(random, *element)))
                    .collect::<Vec<_>>();
                store.array_value(sort, &self.random_value(random, *element), entries)
            }
            _ => panic!("no values of {}", store.display_sort(sort)),
        }
    }

    /// New values for one of so many constants. Some are those of others, so that equalities are true.
    fn redraw(&self, random: &mut Random, names: &[&str], model: &mut Assignment, one_in: usize) {
        for name in names {
            let constant = self.read(name);
            if model.get(constant).is_none() || random.one_in(one_in) {
                let sort = self.store.sort_of(constant);
                let name: &&str = random.choose(names);
                let other = self.read(name);
                let copied = model.get(other).filter(|_| self.store.sort_of(other) == sort).cloned();
                let value = copied.unwrap_or_else(|| self.random_value(random, sort));
                model.set(constant, value);
            }
        }
    }

    fn holds(&self, formula: Term, model: &Assignment) -> bool {
        self.store.eval(formula, model).unwrap() == Value::Bool(true)
    }
}

fn check(store: &TermStore, projection: &Projection, model: &Assignment, vars: &[Term]) {
    for &literal in &projection.literals {
        let shown = store.display(literal);
        assert_eq!(store.eval(literal, model), Ok(Value::Bool(true)), "{shown} in the model");
        assert_eq!(store.normalize(literal), literal, "{shown} is normal");
        let (atom, _) = store.literal(literal);
        assert!(!matches!(store.op(atom), Op::And | Op::Or | Op::Ite | Op::Not), "{shown} is a literal");
        for part in store.subterms(&[literal]) {
            assert!(!vars.contains(&part), "{shown} has a variable");
            assert!(!store.display(part).to_string().starts_with("part"), "{shown} has a new symbol");
        }
    }
}

// ---- known results -----------------------------------------------------------------------------------

/// The two cases of a write that may hide a read.
#[test]
fn m1_a_write_is_undone() {
    let world = World::new();
    let cube = ["(= m1 (store m0 i0 i2))", "(= (select m0 i1) 5)"];
    let apart = [("m0", "((as const II) 5)"), ("m1", "(store ((as const II) 5) 1 7)")];
    let apart = [&apart[..], &[("i0", "1"), ("i1", "2"), ("i2", "7")]].concat();
    let found = world.project(&cube, &apart, &["m0"]);
    let expected = ["(= (select m1 i0) i2)", "(not (= i0 i1))", "(= (select m1 i1) 5)"];
    assert_eq!(found.formula(&world.store), world.cube(&expected));
    let same = [("m0", "((as const II) 5)"), ("m1", "(store ((as const II) 5) 1 7)")];
    let same = [&same[..], &[("i0", "1"), ("i1", "1"), ("i2", "7")]].concat();
    let found = world.project(&cube, &same, &["m0"]);
    let expected = world.read("(and (= i0 i1) (= (select m1 i0) i2))");
    let alternative = world.read("(and (= i0 i1) (= (select m1 i1) i2))");
    let found = found.formula(&world.store);
    let normal = |formula| world.store.normalize(formula);
    assert!([normal(expected), normal(alternative)].contains(&found), "{}", world.store.display(found));
}

/// Equal indices have equal elements.
#[test]
fn m2_elements_at_equal_indices_are_equal() {
    let world = World::new();
    let cube = ["(= (select m0 i0) i2)", "(= (select m0 i1) i3)"];
    let model = [("m0", "((as const II) 5)"), ("i0", "1"), ("i1", "1"), ("i2", "5"), ("i3", "5")];
    let found = world.project(&cube, &model, &["m0"]);
    assert_eq!(found.formula(&world.store), world.cube(&["(= i0 i1)", "(= i2 i3)"]));
    let model = [("m0", "((as const II) 5)"), ("i0", "1"), ("i1", "2"), ("i2", "5"), ("i3", "5")];
    let found = world.project(&cube, &model, &["m0"]);
    assert_eq!(found.formula(&world.store), world.cube(&["(not (= i0 i1))"]));
}

/// Issue 7554 of Z3: without the literal `i0 != i1`, the projection would contain points without a solution.
#[test]
fn e7554_the_index_that_was_not_written_is_named() {
    let world = World::new();
    let cube = ["(= i2 (select (store m0 i0 0) i1))", "(= i2 8)"];
    let model = [("m0", "((as const II) 8)"), ("i0", "1"), ("i1", "2"), ("i2", "8")];
    assert_eq!(
        world.project(&cube, &model, &["m0", "i2"]).formula(&world.store),
        world.cube(&["(not (= i0 i1))"])
    );
    let kept = world.project(&cube, &model, &["i2"]);
    let expected = world.cube(&["(= (select (store m0 i0 0) i1) 8)"]);
    assert_eq!(kept.formula(&world.store), expected);
}

/// Disequalities are true for some array, if the indices are infinitely many.
#[test]
fn an_array_differs_from_all_others() {
    let world = World::new();
    let model = [("m0", "((as const II) 8)"), ("m1", "((as const II) 0)"), ("m2", "((as const II) 1)")];
    let model = [&model[..], &[("i0", "1"), ("i1", "8")]].concat();
    let cube = ["(not (= m0 m1))", "(not (= (store m0 i0 4) (store m2 i1 3)))", "(= (select m0 i0) i1)"];
    assert_eq!(world.project(&cube, &model, &["m0"]).literals, []);
}

#[test]
fn elements_in_kept_arrays_are_solved() {
    let world = World::new();
    // A constant array, and a write to another array.
    let model = [("m0", "(store ((as const II) 3) 4 7)"), ("i0", "3"), ("i1", "4"), ("i2", "7")];
    let found = world.project(&["(= m0 (store ((as const II) i0) i1 i2))", "(> i0 2)"], &model, &["i0"]);
    assert!(!found.by_value);
    let expected =
        ["(= m0 (store ((as const II) (select m0 0)) i1 i2))", "(not (= i1 0))", "(> (select m0 0) 2)"];
    assert_eq!(found.formula(&world.store), world.cube(&expected));
    let model = [("m0", "((as const II) 3)"), ("m1", "((as const II) 3)"), ("i0", "3"), ("i1", "4")];
    let found = world.project(&["(= m0 (store m1 i1 i0))", "(> i0 2)"], &model, &["i0"]);
    let expected = ["(= m0 (store m1 i1 (select m0 i1)))", "(> (select m0 i1) 2)"];
    assert_eq!(found.formula(&world.store), world.cube(&expected));
}

/// An index of an array that stays becomes another term with its value, or the value.
#[test]
fn indices_of_kept_arrays_are_replaced() {
    let world = World::new();
    let model = [("m0", "((as const II) 3)"), ("i0", "3"), ("i1", "3"), ("i2", "4")];
    let cube = ["(= (select m0 i0) 3)", "(<= i1 i0)", "(< (select m0 i1) i2)"];
    let found = world.project(&cube, &model, &["i0"]);
    assert!(!found.by_value);
    assert_eq!(found.formula(&world.store), world.cube(&["(= (select m0 i1) 3)", "(< (select m0 i1) i2)"]));
    let model = [("m0", "((as const II) 3)"), ("i0", "7"), ("i1", "9")];
    let found = world.project(&["(= (select m0 i0) 3)", "(< i0 i1)"], &model, &["i0"]);
    assert!(found.by_value);
    assert_eq!(found.formula(&world.store), world.cube(&["(= (select m0 7) 3)", "(< 7 i1)"]));
}

#[test]
fn nested_arrays_and_arrays_in_datatypes() {
    let world = World::new();
    let model =
        [("n0", "((as const N) ((as const II) 3))"), ("i0", "1"), ("i1", "2"), ("i2", "2"), ("i3", "3")];
    let cube = ["(= (select (select n0 i0) i1) 3)", "(= (select (select n0 i0) i2) i3)"];
    let found = world.project(&cube, &model, &["n0"]);
    assert_eq!(found.formula(&world.store), world.cube(&["(= i1 i2)", "(= i3 3)"]));
    let model = [
        ("p0", "(mk ((as const II) 3) 4)"),
        ("p1", "(mk (store ((as const II) 3) 1 5) 4)"),
        ("i0", "1"),
        ("i1", "5"),
        ("i2", "3"),
    ];
    let cube = ["(= p1 (mk (store (cells p0) i0 i1) (size p0)))", "(= (select (cells p0) i0) i2)"];
    let found = world.project(&cube, &model, &["p0"]);
    assert_eq!(found.formula(&world.store), world.cube(&["(= (select (cells p1) i0) i1)"]));
}

#[test]
fn supported_sorts_of_arrays() {
    let world = World::new();
    let store = &world.store;
    for (sort, _, _) in ARRAYS {
        assert!(project::supports_sort(store, store.sort_of(world.read(constants(sort)[0]))), "{sort}");
    }
    let element = store.sort(SortKind::Uninterpreted(store.symbol("U"), Box::new([])));
    assert!(!project::supports_sort(store, store.array_sort(Sort::INT, element)));
    assert!(!project::supports_sort(store, store.array_sort(store.bitvec_sort(4), Sort::INT)));
}

// ---- generated formulas ------------------------------------------------------------------------------

/// Writes random formulas.
struct Generator {
    random: Random,
    sorts: &'static [&'static str],
}

impl Generator {
    fn formula(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.atom();
        }
        let parts: Vec<String> = (0..3).map(|_| self.formula(depth - 1)).collect();
        match self.random.below(8) {
            0 => format!("(not {})", parts[0]),
            1..=4 => format!("(and {})", parts.join(" ")),
            5 => format!("(or {})", parts.join(" ")),
            6 => format!("(ite {})", parts.join(" ")),
            _ => format!("(=> {} {})", parts[0], parts[1]),
        }
    }

    fn atom(&mut self) -> String {
        let sort = *self.random.choose(self.sorts);
        let atom = match (sort, self.random.below(8)) {
            ("Int", 0..4) => format!("(<= {} {})", self.term(sort, 2), self.term(sort, 1)),
            ("Bool", 0..4) => self.term(sort, 2),
            _ => format!("(= {} {})", self.term(sort, 2), self.term(sort, 2)),
        };
        if self.random.one_in(3) { format!("(not {atom})") } else { atom }
    }

    fn term(&mut self, sort: &str, depth: usize) -> String {
        let constant = (*self.random.choose(constants(sort))).to_owned();
        if depth == 0 || self.random.one_in(4) {
            return constant;
        }
        let sorts = self.sorts;
        let written = ARRAYS.iter().find(|(array, ..)| *array == sort);
        let read: Vec<_> =
            ARRAYS.iter().filter(|(array, _, element)| *element == sort && sorts.contains(array)).collect();
        match self.random.below(10) {
            0..5 if !read.is_empty() => {
                let &&(array, index, _) = self.random.choose(&read);
                format!("(select {} {})", self.term(array, depth - 1), self.term(index, depth - 1))
            }
            0..7 if written.is_some() => {
                let &(_, index, element) = written.unwrap();
                let array = self.term(sort, depth - 1);
                format!("(store {array} {} {})", self.term(index, depth - 1), self.term(element, depth - 1))
            }
            7 if written.is_some() => {
                let &(_, _, element) = written.unwrap();
                format!("((as const {sort}) {})", self.term(element, depth - 1))
            }
            8 => format!("(ite {} {} {constant})", self.atom(), self.term(sort, depth - 1)),
            _ => match sort {
                "Int" if sorts.contains(&"P") && self.random.bool() => {
                    format!("(size {})", self.term("P", depth - 1))
                }
                "II" if sorts.contains(&"P") => format!("(cells {})", self.term("P", depth - 1)),
                "Int" => {
                    let sign = self.random.choose(&["+", "-"]);
                    format!("({sign} {constant} {})", self.random.below(3))
                }
                "P" => format!("(mk {} {})", self.term("II", depth - 1), self.term("Int", depth - 1)),
                "D" => self.random.choose(&["r", "g"]).to_string(),
                "T" => self.random.choose(&["r3", "g3", "b3"]).to_string(),
                _ => constant,
            },
        }
    }

    /// The names of all constants of the sorts, in random order.
    fn names(&mut self) -> Vec<&'static str> {
        let mut names: Vec<&str> = self.sorts.iter().flat_map(|sort| constants(sort)).copied().collect();
        self.random.shuffle(&mut names);
        names
    }
}

/// All combinations of values of the variables.
fn has_values(world: &World, formula: Term, point: &mut Assignment, vars: &[Term]) -> bool {
    let Some((&var, rest)) = vars.split_first() else { return world.holds(formula, point) };
    world.values(world.store.sort_of(var)).into_iter().any(|value| {
        point.set(var, value);
        has_values(world, formula, point, rest)
    })
}

/// On finite sorts: wherever the projection is true, the formula is true for some values of the variables.
#[test]
fn projections_of_finite_arrays_at_points() {
    let world = World::new();
    let (mut projected, mut refused, mut by_value, mut points) = (0, 0, 0, 0);
    for seed in 0..2000 * scale() {
        let sorts: &[&str] =
            [&["DD", "D"][..], &["TB", "T", "Bool"], &["BD", "D", "Bool"]][(seed % 3) as usize];
        let mut generator = Generator { random: Random::new(seed), sorts };
        let names = generator.names();
        let vars: Vec<Term> =
            names[..1 + generator.random.below(3)].iter().map(|name| world.read(name)).collect();
        let size = generator.random.below(3);
        let formula = world.read(&generator.formula(size));
        let mut model = Assignment::new();
        let drawn = (0..20).any(|_| {
            world.redraw(&mut generator.random, &names, &mut model, 2);
            world.holds(formula, &model)
        });
        if !drawn {
            continue;
        }
        let projection = match Projector::new(&world.store).project(formula, &model, &vars) {
            Ok(projection) => projection,
            Err(ProjectError::Buried(_)) => {
                refused += 1;
                continue;
            }
            Err(error) => panic!("{}", error.display(&world.store)),
        };
        check(&world.store, &projection, &model, &vars);
        projected += 1;
        by_value += usize::from(projection.by_value);
        let result = projection.formula(&world.store);
        for number in 0..10 {
            let mut point = model.clone();
            world.redraw(&mut generator.random, &names, &mut point, 1 + number % 3);
            if world.holds(result, &point) {
                points += 1;
                assert!(
                    has_values(&world, formula, &mut point, &vars),
                    "{seed}: {} for {}",
                    world.store.display(result),
                    world.store.display(formula)
                );
            }
        }
    }
    println!("{projected} projections, {refused} refused, {by_value} by value, {points} points");
    assert!(projected > 1000 && points > 4000, "{projected} projections, {points} points");
    assert!(refused * 50 <= projected, "{refused} refused");
}

/// With numbers, nested arrays and arrays in datatypes and as indices: Z3 finds values of the variables wherever the
/// projection is true.
#[test]
fn projections_of_infinite_arrays_at_points() {
    let world = World::new();
    let mut script = format!("(set-option :timeout 2000){}", declarations());
    let (mut projected, mut refused, mut by_value, mut asked) = (0, 0, 0, 0);
    for seed in 0..2000 * scale() {
        let sorts: &[&str] = [
            &["II", "Int"][..],
            &["II", "Int", "IB", "Bool"],
            &["II", "Int", "N"],
            &["II", "Int", "P"],
            &["II", "Int", "P", "PI"],
        ][(seed % 5) as usize];
        let mut generator = Generator { random: Random::new(1_000_000 + seed), sorts };
        let names = generator.names();
        let vars: Vec<Term> =
            names[..1 + generator.random.below(3)].iter().map(|name| world.read(name)).collect();
        let size = generator.random.below(3);
        let formula = world.read(&generator.formula(size));
        let mut model = Assignment::new();
        let drawn = (0..30).any(|_| {
            world.redraw(&mut generator.random, &names, &mut model, 2);
            world.holds(formula, &model)
        });
        if !drawn {
            continue;
        }
        let projection = match Projector::new(&world.store).project(formula, &model, &vars) {
            Ok(projection) => projection,
            Err(ProjectError::Buried(_)) => {
                refused += 1;
                continue;
            }
            Err(error) => panic!("{}", error.display(&world.store)),
        };
        check(&world.store, &projection, &model, &vars);
        projected += 1;
        by_value += usize::from(projection.by_value);
        let result = projection.formula(&world.store);
        for number in 0..4 {
            let mut point = model.clone();
            world.redraw(&mut generator.random, &names, &mut point, 1 + number);
            if !world.holds(result, &point) {
                continue;
            }
            asked += 1;
            let _ = writeln!(script, "(push)(assert {})", world.store.display(formula));
            for name in &names {
                let constant = world.read(name);
                if !vars.contains(&constant) {
                    let value = world.store.value_to_term(point.get(constant).unwrap());
                    let _ = writeln!(script, "(assert (= {name} {}))", world.store.display(value));
                }
            }
            let _ = writeln!(script, "(check-sat)(pop)");
        }
    }
    println!("{projected} projections, {refused} refused, {by_value} by value, {asked} points for z3");
    assert!(projected > 1000 && asked > 1000, "{projected} projections, {asked} points");
    assert!(refused * 20 <= projected, "{refused} refused");
    let Some(answers) = z3::answers(&script) else { return };
    assert_eq!(answers.len(), asked, "{:?}", answers.iter().find(|line| line.contains("error")));
    if let Some(wrong) = answers.iter().position(|answer| answer == "unsat") {
        panic!("point {wrong}: {}", script.split("(push)").nth(wrong + 1).unwrap_or_default());
    }
    let unknown = answers.iter().filter(|answer| *answer != "sat").count();
    println!("{unknown} unknown");
    assert!(unknown * 20 <= asked, "{unknown} of {asked} are unknown");
}

/// The projections of all models are together the exact elimination, on finite sorts.
#[test]
fn all_projections_together_are_exact() {
    let world = World::new();
    let (mut exact, mut kept_points) = (0, 0);
    for seed in 0..150 * scale() {
        let mut generator = Generator { random: Random::new(2_000_000 + seed), sorts: &["DD", "D"] };
        let names = ["a0", "a1", "d0", "d1"];
        let vars: Vec<Term> =
            [["a0", "d0"], ["a0", "a1"]][(seed % 2) as usize].map(|name| world.read(name)).into();
        let size = generator.random.below(3);
        let mut text = generator.formula(size);
        for (left_out, used) in [("a2", "a1"), ("d2", "d1")] {
            text = text.replace(left_out, used);
        }
        let formula = world.read(&text);
        let kept: Vec<Term> =
            names.iter().map(|name| world.read(name)).filter(|constant| !vars.contains(constant)).collect();
        let points = |constants: &[Term]| {
            let mut points = vec![Assignment::new()];
            for &constant in constants {
                let values = world.values(world.store.sort_of(constant));
                points = points
                    .iter()
                    .flat_map(|point| {
                        values.iter().map(|value| {
                            let mut point = point.clone();
                            point.set(constant, value.clone());
                            point
                        })
                    })
                    .collect();
            }
            points
        };
        let all: Vec<Term> = kept.iter().chain(&vars).copied().collect();
        let mut projector = Projector::new(&world.store);
        let mut found: BTreeSet<Term> = BTreeSet::new();
        for model in points(&all).iter().filter(|model| world.holds(formula, model)) {
            let projection = projector.project(formula, model, &vars);
            let projection =
                projection.unwrap_or_else(|error| panic!("{text}: {}", error.display(&world.store)));
            check(&world.store, &projection, model, &vars);
            found.insert(projection.formula(&world.store));
        }
        let union = world.store.or_of(found);
        for mut point in points(&kept) {
            kept_points += 1;
            let is_in = world.holds(union, &point);
            assert_eq!(is_in, has_values(&world, formula, &mut point, &vars), "{seed}: {text}");
        }
        exact += 1;
    }
    println!("{exact} formulas, {kept_points} points");
}
