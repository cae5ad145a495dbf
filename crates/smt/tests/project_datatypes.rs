//! Projection of datatypes: known results, generated cubes and formulas. Models are drawn, not found by the solver,
//! except to eliminate all of them. Results are judged by evaluation, on finite datatypes at all points, and by Z3.

use std::cell::RefCell;
use std::fmt::Write as _;

use shofar_logic::smtlib::{Environment, Reader};
use shofar_logic::{Assignment, ConstructorId, Op, Sort, SortKind, Term, TermStore, Value};
use shofar_run::Limits;
use shofar_smt::project::{
    self, Bounds, ProjectError, Projection, Projector, Status, eliminate, project_cube,
};
use shofar_smt::sat::Outcome;
use shofar_smt::solver::Solver;
use shofar_testing::z3;
use shofar_testing::{Random, scale};

const DATATYPES: &str = "
(declare-datatypes ((C 0)) (((r) (g) (b))))
(declare-datatypes ((P 0)) (((mk (f1 C) (f2 Bool)))))
(declare-datatypes ((O 0)) (((none) (some (val C)) (two (fst C) (snd Bool)))))
(declare-datatypes ((L 0)) (((nil) (cons (hd Int) (tl L)))))
(declare-datatypes ((Nat 0)) (((Z) (S (p Nat)))))
(declare-datatypes ((T 0) (F 0)) (((leaf) (node (ch F))) ((fnil) (fcons (h T) (t F)))))
(declare-datatypes ((E 0)) (((err) (num (int Int)) (pair (col C) (lst L)))))
";

/// The names of constants, by sort.
const CONSTANTS: [(&str, &[&str]); 9] = [
    ("C", &["c0", "c1", "c2"]),
    ("P", &["p0", "p1", "p2"]),
    ("O", &["o0", "o1", "o2"]),
    ("L", &["l0", "l1", "l2"]),
    ("Nat", &["n0", "n1", "n2"]),
    ("T", &["t0", "t1"]),
    ("F", &["w0", "w1"]),
    ("E", &["e0", "e1", "e2"]),
    ("Int", &["i0", "i1", "i2"]),
];

/// A constructor with the sorts of its fields.
type Constructor = (&'static str, &'static [&'static str]);

/// The constructors, by sort.
const CONSTRUCTORS: [(&str, &[Constructor]); 8] = [
    ("C", &[("r", &[]), ("g", &[]), ("b", &[])]),
    ("P", &[("mk", &["C", "Bool"])]),
    ("O", &[("none", &[]), ("some", &["C"]), ("two", &["C", "Bool"])]),
    ("L", &[("nil", &[]), ("cons", &["Int", "L"])]),
    ("Nat", &[("Z", &[]), ("S", &["Nat"])]),
    ("T", &[("leaf", &[]), ("node", &["F"])]),
    ("F", &[("fnil", &[]), ("fcons", &["T", "F"])]),
    ("E", &[("err", &[]), ("num", &["Int"]), ("pair", &["C", "L"])]),
];

/// The selectors with the sorts of whole and field.
const SELECTORS: [(&str, &str, &str); 13] = [
    ("f1", "P", "C"),
    ("f2", "P", "Bool"),
    ("val", "O", "C"),
    ("fst", "O", "C"),
    ("snd", "O", "Bool"),
    ("hd", "L", "Int"),
    ("tl", "L", "L"),
    ("p", "Nat", "Nat"),
    ("ch", "T", "F"),
    ("h", "F", "T"),
    ("t", "F", "F"),
    ("int", "E", "Int"),
    ("lst", "E", "L"),
];

fn declarations() -> String {
    let mut text = DATATYPES.to_owned();
    for (sort, names) in CONSTANTS {
        for name in names {
            let _ = writeln!(text, "(declare-const {name} {sort})");
        }
    }
    text
}

/// A store with the datatypes and constants above.
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

    fn constructors(&self, sort: Sort) -> &[ConstructorId] {
        self.store.datatype(sort).map_or(&[], |datatype| datatype.constructors())
    }

    /// All values of a finite sort.
    fn values(&self, sort: Sort) -> Vec<Term> {
        let store = &self.store;
        if sort == Sort::BOOL {
            return vec![Term::FALSE, Term::TRUE];
        }
        let mut values = Vec::new();
        for &id in self.constructors(sort) {
            let mut rows: Vec<Vec<Term>> = vec![Vec::new()];
            for (_, field) in &store.constructor(id).fields {
                let choices = self.values(*field);
                rows = rows
                    .iter()
                    .flat_map(|row| choices.iter().map(|&choice| [row.as_slice(), &[choice]].concat()))
                    .collect();
            }
            values.extend(rows.iter().map(|fields| store.construct_term(id, fields)));
        }
        values
    }

    /// A random value of at most the given depth.
    fn random_value(&self, random: &mut Random, sort: Sort, depth: usize) -> Term {
        let store = &self.store;
        match store.sort_kind(sort) {
            SortKind::Bool => store.bool(random.bool()),
            SortKind::Int => store.int(random.between(-3, 3)),
            SortKind::Datatype(_) if depth > 0 => {
                let id = *random.choose(self.constructors(sort));
                let fields = store.constructor(id).fields.iter();
                let fields: Vec<Term> =
                    fields.map(|&(_, field)| self.random_value(random, field, depth - 1)).collect();
                store.construct_term(id, &fields)
            }
            _ => store.value_to_term(&store.default_value(sort)),
        }
    }

    /// Random values for all constants, and for selectors on other constructors.
    fn random_model(&self, random: &mut Random, depth: usize) -> Assignment {
        let mut model = Assignment::new();
        self.redraw(random, depth, &mut model, 1);
        for (selector, whole, _) in SELECTORS {
            let term = self.read(&format!("({selector} {})", constants(whole)[0]));
            let (op, &[constant]) = self.store.view(term) else { panic!("a selector has one argument") };
            let mut draw = |sort| {
                let value = self.random_value(random, sort, depth);
                self.store.eval(value, &Assignment::new()).unwrap()
            };
            model.set_open_default(op, draw(self.store.sort_of(term)));
            for _ in 0..4 {
                let whole = draw(self.store.sort_of(constant));
                model.set_open_case(op, &[whole], draw(self.store.sort_of(term)));
            }
        }
        model
    }

    /// New values for one of so many constants.
    fn redraw(&self, random: &mut Random, depth: usize, model: &mut Assignment, one_in: usize) {
        for name in CONSTANTS.iter().flat_map(|(_, names)| *names) {
            if random.one_in(one_in) {
                let constant = self.read(name);
                let value = self.random_value(random, self.store.sort_of(constant), depth);
                model.set(constant, self.store.eval(value, &Assignment::new()).unwrap());
            }
        }
    }

    fn holds(&self, formula: Term, model: &Assignment) -> bool {
        self.store.eval(formula, model).unwrap() == Value::Bool(true)
    }
}

fn constants(sort: &str) -> &'static [&'static str] {
    CONSTANTS.iter().find(|(other, _)| *other == sort).map_or(&[], |(_, names)| names)
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

#[test]
fn x1_a_definition_gives_the_fields() {
    let world = World::new();
    let model = [("l0", "(cons 5 nil)"), ("l1", "nil"), ("i0", "5")];
    let found = world.project(&["(= l0 (cons i0 l1))", "(> (hd l0) 3)"], &model, &["l0"]);
    assert_eq!(found.formula(&world.store), world.cube(&["(> i0 3)"]));
}

#[test]
fn x2_a_variable_inside_of_a_constructor_is_selected() {
    let world = World::new();
    let model = [("l0", "(cons 2 nil)"), ("l1", "(cons 1 (cons 2 nil))")];
    let found = world.project(&["(= (cons 1 l0) l1)"], &model, &["l0"]);
    assert_eq!(found.formula(&world.store), world.cube(&["((_ is cons) l1)", "(= (hd l1) 1)"]));
    // A number in a field goes on to arithmetic.
    let model = [("l0", "(cons 2 nil)"), ("l1", "(cons 1 (cons 2 nil))"), ("i0", "1"), ("i1", "0")];
    let found = world.project(&["(= (cons i0 l0) l1)", "(< i1 i0)"], &model, &["l0", "i0"]);
    assert_eq!(found.formula(&world.store), world.cube(&["((_ is cons) l1)", "(> (hd l1) i1)"]));
}

#[test]
fn x3_an_infinite_sort_has_a_value_different_from_all_terms() {
    let world = World::new();
    let model = [("l0", "(cons 1 nil)"), ("l1", "(cons 2 nil)"), ("i0", "0"), ("l2", "nil")];
    let different = ["(not (= l0 l1))", "(not (= l0 nil))"];
    let found = world.project(&different, &model, &["l0"]);
    assert_eq!(found.literals, []);
    // Also inside of constructors, and of itself.
    let different = ["(not (= (cons i0 l0) l1))", "(not (= l0 (cons 1 l0)))", "(not (= l0 (tl l1)))"];
    assert_eq!(world.project(&different, &model, &["l0"]).literals, []);
    assert_eq!(world.project(&["(not (= (cons i0 l2) l1))"], &model, &["i0"]).literals, []);
}

#[test]
fn x4_fields_of_an_inspected_variable_are_eliminated() {
    let world = World::new();
    let model = [("l0", "(cons 5 nil)"), ("i0", "2")];
    assert_eq!(world.project(&["(> (hd l0) i0)", "((_ is cons) l0)"], &model, &["l0"]).literals, []);
    let model = [("l0", "(cons 5 (cons 6 nil))"), ("l1", "(cons 6 nil)"), ("i0", "2")];
    let found = world.project(&["(< i0 (hd l0) (hd (tl l0)) 9)", "(= (tl l0) l1)"], &model, &["l0"]);
    assert_eq!(found.formula(&world.store), world.cube(&["(> (hd l1) (+ i0 1))", "(< (hd l1) 9)"]));
}

#[test]
fn x5_a_finite_sort_may_have_too_few_values() {
    let world = World::new();
    let model = [("c0", "b"), ("c1", "g"), ("c2", "g")];
    let different = ["(not (= c0 r))", "(not (= c0 c1))", "(not (= c0 c2))"];
    let found = world.project(&different, &model, &["c0"]);
    assert_eq!(found.formula(&world.store), world.cube(&["(not ((_ is b) c1))", "(not ((_ is b) c2))"]));
    // Three values are enough for two differences.
    assert_eq!(world.project(&different[1..], &model, &["c0"]).literals, []);
    // Six pairs, and six differences.
    let model = [("p0", "(mk r true)"), ("p1", "(mk g true)")];
    let others = ["(mk r false)", "(mk g true)", "(mk g false)", "(mk b true)", "(mk b false)"];
    let mut different: Vec<String> = others.iter().map(|other| format!("(not (= p0 {other}))")).collect();
    different.push("(not (= p0 p1))".to_owned());
    let different: Vec<&str> = different.iter().map(String::as_str).collect();
    let found = world.project(&different, &model, &["p0"]);
    assert_eq!(found.formula(&world.store), world.cube(&["(not ((_ is r) (f1 p1)))"]));
    assert_eq!(world.project(&different[1..], &model, &["p0"]).literals, []);
}

#[test]
fn a_disequality_of_a_constructor_has_a_reason_in_the_model() {
    let world = World::new();
    let literals = ["(not (= (cons i0 l0) l1))", "(> i0 7)", "(= (hd l0) i1)", "((_ is cons) l0)"];
    let other = [("i0", "8"), ("i1", "2"), ("l0", "(cons 2 nil)"), ("l1", "nil")];
    let found = world.project(&literals, &other, &["i0"]);
    let expected = ["(not ((_ is cons) l1))", "(= (hd l0) i1)", "((_ is cons) l0)"];
    assert_eq!(found.formula(&world.store), world.cube(&expected));
    // The tail differs, which says nothing about the number.
    let same = [("i0", "8"), ("i1", "2"), ("l0", "(cons 2 nil)"), ("l1", "(cons 8 nil)")];
    let found = world.project(&literals, &same, &["i0"]);
    let expected = ["((_ is cons) l1)", "(not (= l0 (tl l1)))", "(= (hd l0) i1)", "((_ is cons) l0)"];
    assert_eq!(found.formula(&world.store), world.cube(&expected));
}

#[test]
fn a_selection_from_another_constructor_stays_if_it_has_no_variable() {
    let world = World::new();
    let store = &world.store;
    let mut model = world.model(&[("l0", "nil"), ("i0", "4")]);
    let head = world.read("(hd nil)");
    model.set_open_case(store.op(head), &[world.value("nil")], Value::Int(5.into()));
    let literal = world.read("(> (hd l0) i0)");
    let found = project_cube(store, &[literal], &model, &[world.read("l0")]).unwrap();
    assert_eq!((found.formula(store), found.by_value), (world.cube(&["(> (hd nil) i0)"]), false));
    // With a variable inside, one instance is all that is known.
    let mut model = world.model(&[("e0", "(num 3)"), ("c0", "b")]);
    let colour = world.read("(col e0)");
    model.set_open_case(store.op(colour), &[world.value("(num 3)")], world.value("b"));
    let literals = [world.read("(= (col e0) c0)"), world.read("(> (int e0) 1)")];
    let found = project_cube(store, &literals, &model, &[world.read("e0")]).unwrap();
    assert_eq!((found.formula(store), found.by_value), (world.cube(&["(= (col (num 3)) c0)"]), true));
    // Not if the variable has a definition.
    let literals =
        [literals[0], literals[1], world.read("(= (int e0) (+ i0 1))"), world.read("((_ is num) e0)")];
    model.set(world.read("i0"), Value::Int(2.into()));
    let found = project_cube(store, &literals, &model, &[world.read("e0")]).unwrap();
    let expected = ["(= (col (num (+ i0 1))) c0)", "(> (+ i0 1) 1)"];
    assert_eq!((found.formula(store), found.by_value), (world.cube(&expected), false));
}

#[test]
fn choices_and_truth_values_in_fields_are_resolved() {
    let world = World::new();
    let model = [
        ("l0", "(cons 1 nil)"),
        ("l1", "(cons 2 nil)"),
        ("l2", "nil"),
        ("i0", "0"),
        ("c0", "r"),
        ("p0", "(mk r true)"),
    ];
    let chosen = "(= (tl (ite ((_ is cons) l1) l0 l2)) l2)";
    let found = world.project(&[chosen], &model, &["l0"]);
    assert_eq!(found.formula(&world.store), world.cube(&["((_ is cons) l1)"]));
    let found = world.project(&["(= p0 (mk c0 (> (hd l0) i0)))"], &model, &["l0"]);
    assert_eq!(found.formula(&world.store), world.cube(&["(= (f1 p0) c0)", "(f2 p0)"]));
}

#[test]
fn what_is_below_a_function_is_not_eliminated() {
    let world = World::new();
    let store = &world.store;
    let list = store.sort_of(world.read("l0"));
    let f = store.fun(store.symbol("f"), &[list], Sort::INT);
    let call = store.apply(f, &[world.read("l0")]).unwrap();
    let mut model = world.model(&[("l0", "nil"), ("l1", "nil"), ("i0", "4")]);
    model.set(call, Value::Int(5.into()));
    let literal = store.gt(call, world.read("i0"));
    let refused = project_cube(store, &[literal], &model, &[world.read("l0")]);
    assert_eq!(refused, Err(ProjectError::Buried(call)));
}

#[test]
fn sorts_are_supported_if_their_fields_are() {
    let world = World::new();
    let store = &world.store;
    for (sort, names) in CONSTANTS {
        let sort_of_constant = store.sort_of(world.read(names[0]));
        assert!(project::supports_sort(store, sort_of_constant), "{sort}");
    }
    let field = |sort| {
        let datatype = store.new_datatype(store.symbol("D"), &[]);
        let fields = vec![(store.symbol("d"), sort), (store.symbol("n"), Sort::INT)];
        let spec = shofar_logic::ConstructorSpec { name: store.symbol("made"), fields };
        store.define_datatypes(&[(datatype, vec![spec])]).unwrap()[0]
    };
    let array = |element| store.array_sort(Sort::INT, element);
    assert!(project::supports_sort(store, field(array(Sort::INT))));
    assert!(!project::supports_sort(store, field(array(store.bitvec_sort(8)))));
    assert!(!project::supports_sort(store, field(field(store.bitvec_sort(8)))));
    assert!(project::supports_sort(store, field(Sort::REAL)));
}

/// The results do not depend on how long the lists are.
#[test]
fn a_long_value_is_not_unfolded() {
    let world = World::new();
    let mut long = "nil".to_owned();
    for number in 0..2000 {
        long = format!("(cons {number} {long})");
    }
    let literals =
        ["(not (= l0 l1))", "(= (hd (tl l0)) i0)", "(not (= (tl l0) l2))", "(not (= l0 (cons 1 l2)))"];
    let other = format!("(cons 7 {long})");
    let model = [("l0", long.as_str()), ("l1", other.as_str()), ("l2", "nil"), ("i0", "1998")];
    assert_eq!(world.project(&literals, &model, &["l0"]).literals, []);
}

/// Engines ask for the values of variables only, and evaluate formulas with selectors.
#[test]
fn a_model_of_symbols_has_the_values_of_selectors() {
    let world = World::new();
    let formula = world.read("(and (= l0 nil) (= (hd l0) 5) (= (hd (tl l0)) 6))");
    let mut solver = Solver::new(&world.store);
    solver.assert(formula).unwrap();
    assert_eq!(solver.check(&[], &Limits::default()), Ok(Outcome::Sat));
    assert!(world.holds(formula, &solver.model(&[world.read("l0")])));
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
            1..=3 => format!("(and {})", parts.join(" ")),
            4 | 5 => format!("(or {})", parts.join(" ")),
            6 => format!("(ite {})", parts.join(" ")),
            _ => format!("(=> {} {})", parts[0], parts[1]),
        }
    }

    fn atom(&mut self) -> String {
        let sort = *self.random.choose(self.sorts);
        let negated = self.random.bool();
        let atom = match (sort, self.random.below(8)) {
            ("Int", 0..5) => format!("(<= {} {})", self.term(sort, 2), self.term(sort, 1)),
            ("Int", _) => format!("(= {} {})", self.term(sort, 2), self.term(sort, 1)),
            (_, 0 | 1) => {
                let (_, constructors) = CONSTRUCTORS.iter().find(|(other, _)| *other == sort).unwrap();
                let (constructor, _) = self.random.choose(constructors);
                format!("((_ is {constructor}) {})", self.term(sort, 2))
            }
            _ => format!("(= {} {})", self.term(sort, 2), self.term(sort, 2)),
        };
        if negated { format!("(not {atom})") } else { atom }
    }

    fn term(&mut self, sort: &str, depth: usize) -> String {
        if sort == "Bool" {
            return if depth > 0 && self.random.bool() {
                self.atom_of_truth()
            } else {
                self.random.bool().to_string()
            };
        }
        let choice = if depth == 0 { self.random.below(4) } else { self.random.below(10) };
        match choice {
            0..4 => (*self.random.choose(constants(sort))).to_owned(),
            4 | 5 if sort == "Int" => {
                let sign = self.random.choose(&["+", "-"]);
                format!("({sign} {} {})", self.term(sort, depth - 1), self.random.below(3))
            }
            4 | 5 => {
                let (_, constructors) = CONSTRUCTORS.iter().find(|(other, _)| *other == sort).unwrap();
                let (constructor, fields) = self.random.choose(constructors);
                match fields.iter().map(|field| self.term(field, depth - 1)).collect::<Vec<_>>() {
                    fields if fields.is_empty() => (*constructor).to_owned(),
                    fields => format!("({constructor} {})", fields.join(" ")),
                }
            }
            6 => {
                let condition = self.atom();
                format!("(ite {condition} {} {})", self.term(sort, depth - 1), self.term(sort, 0))
            }
            _ => {
                let sorts = self.sorts;
                let fitting: Vec<_> = SELECTORS
                    .iter()
                    .filter(|(_, whole, field)| *field == sort && sorts.contains(whole))
                    .collect();
                match fitting[..] {
                    [] => (*self.random.choose(constants(sort))).to_owned(),
                    _ => {
                        let (selector, whole, _) = self.random.choose(&fitting);
                        format!("({selector} {})", self.term(whole, depth - 1))
                    }
                }
            }
        }
    }

    /// A short formula as a field.
    fn atom_of_truth(&mut self) -> String {
        match self.sorts {
            sorts if sorts.contains(&"Int") => format!("(<= {} 1)", self.term("Int", 0)),
            _ => format!("(= {} {})", self.term("C", 0), self.term("C", 0)),
        }
    }

    fn variables(&mut self, world: &World, most: usize) -> Vec<Term> {
        let mut names: Vec<&str> = self.sorts.iter().flat_map(|sort| constants(sort)).copied().collect();
        self.random.shuffle(&mut names);
        names.truncate(1 + self.random.below(most));
        names.iter().map(|name| world.read(name)).collect()
    }
}

/// A formula with a model, if one is drawn.
fn drawn(world: &World, generator: &mut Generator, depth: usize) -> Option<(Term, Assignment)> {
    let size = generator.random.below(3);
    let formula = world.read(&generator.formula(size));
    let models = std::iter::repeat_with(|| world.random_model(&mut generator.random, depth));
    let model = models.take(30).find(|model| world.holds(formula, model))?;
    Some((formula, model))
}

/// All combinations of values of the variables that occur, for finite sorts.
fn has_values(world: &World, formula: Term, point: &mut Assignment, vars: &[Term]) -> bool {
    let Some((&var, rest)) = vars.split_first() else { return world.holds(formula, point) };
    world.values(world.store.sort_of(var)).into_iter().any(|value| {
        point.set(var, Value::Term(value));
        has_values(world, formula, point, rest)
    })
}

/// On finite sorts: wherever the projection is true, the formula is true for some values of the variables, whatever
/// selectors on other constructors are.
#[test]
fn projections_of_finite_datatypes_at_points() {
    let world = World::new();
    let (mut projected, mut points, mut by_value) = (0, 0, 0);
    for seed in 0..1500 * scale() {
        let mut generator = Generator { random: Random::new(seed), sorts: &["C", "P", "O"] };
        let vars = generator.variables(&world, 3);
        let Some((formula, model)) = drawn(&world, &mut generator, 3) else { continue };
        let mut projector = Projector::new(&world.store);
        let projection = projector.project(formula, &model, &vars).unwrap();
        check(&world.store, &projection, &model, &vars);
        projected += 1;
        by_value += usize::from(projection.by_value);
        let result = projection.formula(&world.store);
        for number in 0..15 {
            let random = &mut generator.random;
            let mut point = if number % 3 == 0 { world.random_model(random, 3) } else { model.clone() };
            world.redraw(random, 3, &mut point, 2 + number % 3);
            if world.holds(result, &point) {
                points += 1;
                let shown = world.store.display(formula).to_string();
                assert!(
                    has_values(&world, formula, &mut point, &vars),
                    "{seed}: {shown} for {}",
                    world.store.display(result)
                );
            }
        }
    }
    println!("{projected} projections, {by_value} by value, {points} points");
    assert!(projected > 700 && points > 5000, "{projected} projections, {points} points");
}

/// The height of a term.
fn height(store: &TermStore, term: Term) -> usize {
    let mut heights = std::collections::BTreeMap::new();
    for part in store.subterms(&[term]) {
        let below = store.args(part).iter().map(|arg| heights[arg]).max().unwrap_or(0);
        heights.insert(part, below + 1);
    }
    heights[&term]
}

/// With lists, trees and numbers: Z3 finds values of the variables wherever the projection is true. However deep the
/// values in models are, the terms in the results are not.
#[test]
fn projections_of_recursive_datatypes_at_points() {
    let world = World::new();
    let mut script = format!("(set-option :timeout 2000){}", declarations());
    let (mut projected, mut asked) = (0, 0);
    for seed in 0..2500 * scale() {
        let sorts: &[&str] =
            [&["L", "Int"][..], &["L", "Int", "E", "C"], &["T", "F"], &["Nat"]][(seed % 4) as usize];
        let mut generator = Generator { random: Random::new(1_000_000 + seed), sorts };
        let vars = generator.variables(&world, 3);
        let depth = 2 + generator.random.below(8);
        let Some((formula, model)) = drawn(&world, &mut generator, depth) else { continue };
        let mut projector = Projector::new(&world.store);
        let projection = projector.project(formula, &model, &vars).unwrap();
        check(&world.store, &projection, &model, &vars);
        projected += 1;
        let result = projection.formula(&world.store);
        if !projection.by_value {
            let limit = 3 * height(&world.store, formula) + 3;
            let found = height(&world.store, result);
            assert!(found <= limit, "{} for {}", world.store.display(result), world.store.display(formula));
        }
        for number in 0..4 {
            let mut point = model.clone();
            world.redraw(&mut generator.random, depth, &mut point, 1 + number);
            if !world.holds(result, &point) {
                continue;
            }
            // The values of the variables in the model may do, or some others.
            let mut guess = point.clone();
            let found = (0..20).any(|_| {
                for &var in &vars {
                    let value = world.random_value(&mut generator.random, world.store.sort_of(var), depth);
                    guess.set(var, world.store.eval(value, &Assignment::new()).unwrap());
                }
                world.holds(formula, &guess)
            });
            if found {
                continue;
            }
            asked += 1;
            let _ = writeln!(script, "(push)(assert {})", world.store.display(formula));
            for name in sorts.iter().flat_map(|sort| constants(sort)) {
                let constant = world.read(name);
                if !vars.contains(&constant) {
                    let value = world.store.value_to_term(point.get(constant).unwrap());
                    let _ = writeln!(script, "(assert (= {name} {}))", world.store.display(value));
                }
            }
            let _ = writeln!(script, "(check-sat)(pop)");
        }
    }
    println!("{projected} projections, {asked} points for z3");
    assert!(projected > 1200, "{projected}");
    let Some(answers) = z3::answers(&script) else { return };
    assert_eq!(answers.len(), asked, "{:?}", answers.iter().find(|line| line.contains("error")));
    if let Some(wrong) = answers.iter().position(|answer| answer == "unsat") {
        panic!("point {wrong}: {}", script.split("(push)").nth(wrong + 1).unwrap_or_default());
    }
    let unknown = answers.iter().filter(|answer| *answer != "sat").count();
    assert!(unknown * 20 <= asked, "{unknown} of {asked} are unknown");
}

/// The projections of many models of one formula are few.
#[test]
fn a_formula_has_few_projections() {
    let world = World::new();
    let formula = world.read(
        "(and (not (= l0 l1)) (or ((_ is cons) l0) (= l0 l2)) (not (= (cons i0 l0) l1))
              (=> ((_ is cons) l0) (and (= (hd l0) i0) (not (= (tl l0) l2)))))",
    );
    let vars = [world.read("l0")];
    let mut random = Random::new(1);
    let mut found = std::collections::BTreeSet::new();
    let mut models = 0;
    while models < 2000 {
        let mut model = world.random_model(&mut random, 1 + models % 40);
        if !world.holds(formula, &model) {
            model.set(world.read("l0"), model.get(world.read("l2")).unwrap().clone());
        }
        if world.holds(formula, &model) {
            models += 1;
            let mut literals = project::project(&world.store, formula, &model, &vars).unwrap().literals;
            literals.sort_unstable();
            found.insert(literals);
        }
    }
    assert!(found.len() <= 6, "{}", found.len());
}

/// Projecting all models ends, and covers all models.
#[test]
fn eliminations_of_datatypes_are_exact() {
    let world = World::new();
    let (mut complete, mut open) = (0, 0);
    let bounds = Bounds {
        limits: Limits { conflicts: Some(2000), ..Limits::default() },
        disjuncts: 100,
        ..Bounds::default()
    };
    for seed in 0..400 * scale() {
        let sorts: &[&str] =
            [&["L", "Int"][..], &["C", "P", "O"], &["T", "F"], &["Nat", "C"]][(seed % 4) as usize];
        let mut generator = Generator { random: Random::new(2_000_000 + seed), sorts };
        let vars = generator.variables(&world, 2);
        let size = generator.random.below(2);
        let formula = world.read(&generator.formula(size));
        let elimination = eliminate(&world.store, formula, &vars, &bounds).unwrap();
        if elimination.status != Status::Complete {
            open += 1;
            continue;
        }
        complete += 1;
        for _ in 0..20 {
            let model = world.random_model(&mut generator.random, 3);
            let (formula, result) = (world.holds(formula, &model), elimination.formula);
            assert!(!formula || world.holds(result, &model), "{seed}: {}", world.store.display(result));
        }
    }
    println!("{complete} complete, {open} open");
    assert!(open * 20 < complete, "{complete} complete, {open} open");
}
