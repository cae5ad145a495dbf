//! Random systems of Horn clauses over datatypes with small domains, as text.
//!
//! Constraints keep all numbers in values at zero or one and all lists short, so the explicit solver is complete.
//! Selectors of sums stand below a tester, so no answer depends on what SMT-LIB leaves open.

use std::fmt::Write;

use crate::Random;

/// The greatest number that the explicit solver needs for variables and tags.
pub const GREATEST: i64 = 2;

/// A family of systems.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    /// Records, nested ones, one without fields, and arrays of and indexed by records.
    Records,
    /// Sums of records and records of sums, with two and with more constructors.
    Sums,
    /// Lists of numbers and of records. Facts and heads prefer some constructor.
    Lists,
    /// Enumerations with two and with three constructors, and lists of them.
    Enumerations,
    /// Two sorts of Peano numbers, a list of one and a chain that ends with the other.
    Numbers,
}

/// A sort.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Bool,
    Int,
    /// A declared datatype.
    Data(usize),
    /// Arrays with indices and elements of two declared sorts.
    Array(&'static Kind, &'static Kind),
}

/// A declared datatype: its name, and the names and fields of its constructors.
type Declaration = (&'static str, &'static [(&'static str, &'static [(&'static str, Kind)])]);

const RECORDS: &[Declaration] = &[
    ("Unit", &[("unit", &[])]),
    ("Pair", &[("pair", &[("first", Kind::Int), ("second", Kind::Bool)])]),
    ("Outer", &[("outer", &[("inner", Kind::Data(1)), ("number", Kind::Int), ("nothing", Kind::Data(0))])]),
    ("Key", &[("key", &[("bit", Kind::Bool), ("blank", Kind::Data(0))])]),
];
const SUMS: &[Declaration] = &[
    ("Pair", &[("pair", &[("first", Kind::Int), ("second", Kind::Bool)])]),
    ("Maybe", &[("none", &[]), ("some", &[("value", Kind::Int)])]),
    ("Either", &[("left", &[("l", Kind::Int)]), ("right", &[("r", Kind::Data(0))]), ("neither", &[])]),
    ("Holder", &[("holder", &[("held", Kind::Data(1)), ("flag", Kind::Bool)])]),
    ("Color", &[("red", &[]), ("green", &[]), ("blue", &[])]),
    ("Nested", &[("plain", &[("color", Kind::Data(4))]), ("boxed", &[("content", Kind::Data(3))])]),
];
const LISTS: &[Declaration] = &[
    ("Pair", &[("pair", &[("first", Kind::Int), ("second", Kind::Bool)])]),
    ("List", &[("nil", &[]), ("cons", &[("head", Kind::Int), ("tail", Kind::Data(1))])]),
    ("Pairs", &[("empty", &[]), ("push", &[("top", Kind::Data(0)), ("below", Kind::Data(2))])]),
];
const ENUMERATIONS: &[Declaration] = &[
    ("Color", &[("red", &[]), ("green", &[]), ("blue", &[])]),
    ("Answer", &[("no", &[]), ("yes", &[])]),
    ("Colors", &[("nil", &[]), ("cons", &[("head", Kind::Data(0)), ("tail", Kind::Data(2))])]),
    ("Answers", &[("push", &[("top", Kind::Data(1)), ("below", Kind::Data(3))]), ("empty", &[])]),
];
const NUMBERS: &[Declaration] = &[
    ("Nat", &[("zero", &[]), ("succ", &[("pred", Kind::Data(0))])]),
    ("Count", &[("more", &[("less", Kind::Data(1))]), ("none", &[])]),
    ("Nats", &[("nil", &[]), ("cons", &[("head", Kind::Data(0)), ("tail", Kind::Data(2))])]),
    ("Chain", &[("end", &[("count", Kind::Data(1))]), ("link", &[("rest", Kind::Data(3))])]),
];
const ARRAYS: &[Kind] = &[Kind::Array(&Kind::Bool, &Kind::Data(1)), Kind::Array(&Kind::Data(3), &Kind::Bool)];

/// The number of constructors of the same list on a path in a value.
const MOST_LEVELS: usize = 2;

impl Family {
    fn declarations(self) -> &'static [Declaration] {
        match self {
            Family::Records => RECORDS,
            Family::Sums => SUMS,
            Family::Lists => LISTS,
            Family::Enumerations => ENUMERATIONS,
            Family::Numbers => NUMBERS,
        }
    }
}

/// The text of a random system.
pub fn system(random: &mut Random, family: Family) -> String {
    text(random, family, false)
}

/// The text of a random system with predicates that mean "different" in its bodies.
pub fn system_with_differences(random: &mut Random, family: Family) -> String {
    text(random, family, true)
}

fn text(random: &mut Random, family: Family, with_differences: bool) -> String {
    let declarations = family.declarations();
    let mut text = "(set-logic HORN)\n".to_owned();
    for (name, constructors) in declarations {
        let constructor = |(name, fields): &(&str, &[(&str, Kind)])| {
            let field = |(name, kind): &(&str, Kind)| format!(" ({name} {})", sort(declarations, *kind));
            format!("({name}{})", fields.iter().map(field).collect::<String>())
        };
        let constructors: String = constructors.iter().map(constructor).collect();
        let _ = writeln!(text, "(declare-datatypes (({name} 0)) (({constructors})))");
    }
    let kind = |random: &mut Random| match random.below(8) {
        0 => Kind::Bool,
        1 => Kind::Int,
        2 | 3 if family == Family::Records => *random.choose(ARRAYS),
        _ => Kind::Data(random.below(declarations.len())),
    };
    let mut predicates: Vec<Vec<Kind>> = Vec::new();
    for number in 0..1 + random.below(3) {
        let kinds: Vec<Kind> = (0..1 + random.below(2)).map(|_| kind(random)).collect();
        let sorts: Vec<String> = kinds.iter().map(|&kind| sort(declarations, kind)).collect();
        let _ = writeln!(text, "(declare-fun P{number} ({}) Bool)", sorts.join(" "));
        predicates.push(kinds);
    }
    if with_differences {
        text.push_str(&differences(random, declarations));
    }
    let mut add = |random: &mut Random, body: &[usize], head: Option<usize>| {
        let draft = Draft { with_differences, ..Draft::new(random, declarations) };
        text.push_str(&draft.clause(&predicates, body, head));
    };
    add(random, &[], Some(0));
    for _ in 0..random.below(2) {
        let head = random.below(predicates.len());
        add(random, &[], Some(head));
    }
    for _ in 0..1 + random.below(4) {
        let body: Vec<usize> = (0..1 + random.below(2)).map(|_| random.below(predicates.len())).collect();
        let head = random.below(predicates.len());
        add(random, &body, Some(head));
    }
    for _ in 0..1 + random.below(2) {
        let body = [random.below(predicates.len())];
        add(random, &body, None);
    }
    text
}

fn sort(declarations: &[Declaration], kind: Kind) -> String {
    match kind {
        Kind::Bool => "Bool".to_owned(),
        Kind::Int => "Int".to_owned(),
        Kind::Data(number) => declarations[number].0.to_owned(),
        Kind::Array(index, element) => {
            format!("(Array {} {})", sort(declarations, *index), sort(declarations, *element))
        }
    }
}

/// Whether values of a sort have fields of the same sort.
fn is_recursive(declarations: &[Declaration], kind: Kind) -> bool {
    let Kind::Data(number) = kind else { return false };
    let constructors = declarations[number].1.iter();
    constructors.flat_map(|(_, fields)| fields.iter()).any(|&(_, field)| field == kind)
}

/// Declarations and clauses of predicates that mean "different", one for each datatype. Some lack a clause.
fn differences(random: &mut Random, declarations: &'static [Declaration]) -> String {
    let mut text = String::new();
    for (name, _) in declarations {
        let _ = writeln!(text, "(declare-fun D{name} ({name} {name}) Bool)");
    }
    for (name, constructors) in declarations {
        let mut clauses = Vec::new();
        let made = |(constructor, fields): &(&str, &[(&str, Kind)]), side: &str| {
            let names: Vec<String> = (0..fields.len()).map(|at| format!("{side}{at}")).collect();
            match names.len() {
                0 => (*constructor).to_owned(),
                _ => format!("({constructor} {})", names.join(" ")),
            }
        };
        let variables = |fields: &[(&str, Kind)], side: &str| {
            let of_field = |(at, &(_, kind)): (usize, &(&str, Kind))| {
                format!("({side}{at} {})", sort(declarations, kind))
            };
            fields.iter().enumerate().map(of_field).collect::<String>()
        };
        for a in *constructors {
            for b in constructors.iter().filter(|b| b.0 != a.0) {
                let head = format!("(D{name} {} {})", made(a, "a"), made(b, "b"));
                let variables = variables(a.1, "a") + &variables(b.1, "b");
                clauses.push(closed(&variables, &head));
            }
            for (at, &(_, kind)) in a.1.iter().enumerate() {
                let differ = match kind {
                    Kind::Data(number) if !random.one_in(5) => {
                        format!("(D{} a{at} b{at})", declarations[number].0)
                    }
                    _ => format!("(not (= a{at} b{at}))"),
                };
                let clause = format!("(=> {differ} (D{name} {} {}))", made(a, "a"), made(a, "b"));
                clauses.push(closed(&(variables(a.1, "a") + &variables(a.1, "b")), &clause));
            }
        }
        if random.one_in(8) && !clauses.is_empty() {
            clauses.remove(random.below(clauses.len()));
        }
        text.extend(clauses);
    }
    text
}

fn closed(variables: &str, clause: &str) -> String {
    match variables {
        "" => format!("(assert {clause})\n"),
        _ => format!("(assert (forall ({variables}) {clause}))\n"),
    }
}

/// A clause under construction.
struct Draft<'a> {
    random: &'a mut Random,
    declarations: &'static [Declaration],
    with_differences: bool,
    variables: Vec<Kind>,
    conjuncts: Vec<String>,
}

impl<'a> Draft<'a> {
    fn new(random: &'a mut Random, declarations: &'static [Declaration]) -> Self {
        Draft { random, declarations, with_differences: false, variables: Vec::new(), conjuncts: Vec::new() }
    }

    fn clause(mut self, predicates: &[Vec<Kind>], body: &[usize], head: Option<usize>) -> String {
        for &predicate in body {
            let args: Vec<String> = predicates[predicate]
                .iter()
                .map(|&kind| if self.random.one_in(6) { self.term(kind, 1) } else { self.variable(kind) })
                .collect();
            self.conjuncts.push(format!("(P{predicate} {})", args.join(" ")));
        }
        if head.is_some() && self.random.one_in(2) {
            let kind = *self.random.choose(&predicates[head.unwrap_or(0)]);
            self.variable(kind);
        }
        for _ in 0..if head.is_none() { 1 + self.random.below(2) } else { self.random.below(3) } {
            let formula = self.formula(2);
            self.conjuncts.push(formula);
        }
        if self.with_differences && !self.variables.is_empty() {
            let kind = *self.random.choose(&self.variables);
            if let Kind::Data(number) = kind {
                let (a, b) = (self.term(kind, 1), self.term(kind, 1));
                let bounds = [&a, &b].map(|term| self.bound(term, kind, MOST_LEVELS));
                self.conjuncts.extend(bounds);
                self.conjuncts.push(format!("(D{} {a} {b})", self.declarations[number].0));
            }
        }
        let head = match head {
            None => "false".to_owned(),
            Some(predicate) => {
                let mut args = Vec::new();
                for &kind in &predicates[predicate] {
                    let arg = self.term(kind, 2);
                    let bound = self.bound(&arg, kind, MOST_LEVELS);
                    self.conjuncts.push(bound);
                    args.push(arg);
                }
                format!("(P{predicate} {})", args.join(" "))
            }
        };
        let variables: Vec<String> = self
            .variables
            .iter()
            .enumerate()
            .map(|(number, &kind)| format!("(v{number} {})", sort(self.declarations, kind)))
            .collect();
        let clause = format!("(=> (and true {}) {head})", self.conjuncts.join(" "));
        closed(&variables.join(" "), &clause)
    }

    /// A new variable within the bounds.
    fn variable(&mut self, kind: Kind) -> String {
        let name = format!("v{}", self.variables.len());
        self.variables.push(kind);
        let bound = self.bound(&name, kind, MOST_LEVELS);
        self.conjuncts.push(bound);
        name
    }

    /// Says that numbers in a value are small and lists are short.
    fn bound(&self, term: &str, kind: Kind, levels: usize) -> String {
        match kind {
            Kind::Bool => "true".to_owned(),
            Kind::Int => format!("(<= 0 {term} 1)"),
            Kind::Data(number) => {
                let mut cases = Vec::new();
                for (constructor, fields) in self.declarations[number].1 {
                    let descends = |field| is_recursive(self.declarations, field);
                    if levels == 0 && fields.iter().any(|&(_, field)| descends(field)) {
                        cases.push(format!("(not ((_ is {constructor}) {term}))"));
                        continue;
                    }
                    let bounds: Vec<String> = fields
                        .iter()
                        .map(|&(selector, field)| {
                            let levels = levels - usize::from(descends(field));
                            self.bound(&format!("({selector} {term})"), field, levels)
                        })
                        .collect();
                    let bounds = bounds.join(" ");
                    cases.push(format!("(or (not ((_ is {constructor}) {term})) (and true {bounds}))"));
                }
                format!("(and true {})", cases.join(" "))
            }
            Kind::Array(Kind::Bool, element) => {
                let at = |index: &str| self.bound(&format!("(select {term} {index})"), *element, levels);
                format!("(and {} {})", at("true"), at("false"))
            }
            // The others have elements that need no bounds.
            Kind::Array(..) => "true".to_owned(),
        }
    }

    /// A term within the bounds, except for lists.
    fn term(&mut self, kind: Kind, depth: usize) -> String {
        let known: Vec<usize> = (0..self.variables.len()).filter(|&v| self.variables[v] == kind).collect();
        if !known.is_empty() && self.random.chance(50) {
            return format!("v{}", self.random.choose(&known));
        }
        if depth > 0 {
            if self.random.chance(12) {
                let (a, b) = (self.term(kind, depth - 1), self.term(kind, depth - 1));
                return format!("(ite {} {a} {b})", self.formula(depth - 1));
            }
            if self.random.chance(40)
                && let Some(field) = self.field(kind)
            {
                return field;
            }
        }
        self.made(kind, depth.saturating_sub(1))
    }

    /// A value made by a constructor.
    fn made(&mut self, kind: Kind, depth: usize) -> String {
        match kind {
            Kind::Bool => (*self.random.choose(&["true", "false"])).to_owned(),
            Kind::Int => (*self.random.choose(&["0", "1"])).to_owned(),
            Kind::Data(number) => {
                let constructors = self.declarations[number].1;
                let is_flat = |fields: &[(&str, Kind)]| fields.iter().all(|&(_, field)| field != kind);
                let constructors: Vec<_> =
                    constructors.iter().filter(|(_, fields)| depth > 0 || is_flat(fields)).collect();
                // The last one is the largest.
                let last = constructors.len() - 1;
                let choice = if self.random.one_in(2) { last } else { self.random.below(constructors.len()) };
                let (constructor, fields) = constructors[choice];
                let fields: Vec<String> =
                    fields.iter().map(|&(_, field)| self.term(field, depth.saturating_sub(1))).collect();
                match fields.len() {
                    0 => (*constructor).to_owned(),
                    _ => format!("({constructor} {})", fields.join(" ")),
                }
            }
            Kind::Array(&index, &element) => {
                let name = sort(self.declarations, kind);
                let constant = format!("((as const {name}) {})", self.term(element, 0));
                let known = (0..self.variables.len()).find(|&v| self.variables[v] == kind);
                let array = known.map_or(constant, |v| format!("v{v}"));
                match self.random.below(3) {
                    0 => array,
                    _ => format!("(store {array} {} {})", self.term(index, 0), self.term(element, 0)),
                }
            }
        }
    }

    /// A field or an element of a variable.
    fn field(&mut self, kind: Kind) -> Option<String> {
        if self.variables.is_empty() {
            return None;
        }
        let number = self.random.below(self.variables.len());
        match self.variables[number] {
            Kind::Data(data) => {
                let constructors = self.declarations[data].1;
                let (constructor, fields) = self.random.choose(constructors);
                let (selector, _) = fields.iter().find(|&&(_, field)| field == kind)?;
                Some(match constructors.len() {
                    1 => format!("({selector} v{number})"),
                    _ => {
                        let other = self.made(kind, 0);
                        format!("(ite ((_ is {constructor}) v{number}) ({selector} v{number}) {other})")
                    }
                })
            }
            Kind::Array(&index, &element) if element == kind => {
                Some(format!("(select v{number} {})", self.term(index, 0)))
            }
            _ => None,
        }
    }

    fn formula(&mut self, depth: usize) -> String {
        let Some(kind) = (!self.variables.is_empty()).then(|| *self.random.choose(&self.variables)) else {
            return self.made(Kind::Bool, 0);
        };
        match self.random.below(9) {
            0 if depth > 0 => format!("(or {} {})", self.formula(depth - 1), self.formula(depth - 1)),
            1 if depth > 0 => format!("(not {})", self.formula(depth - 1)),
            2 => format!("(= {} 1)", self.term(Kind::Int, 1)),
            3 => self.term(Kind::Bool, 1),
            4 | 5 if let Kind::Data(data) = kind => {
                let (constructor, _) = self.random.choose(self.declarations[data].1);
                format!("((_ is {constructor}) {})", self.term(kind, 0))
            }
            6 => format!("(not (= {} {}))", self.term(kind, 1), self.term(kind, 1)),
            _ => format!("(= {} {})", self.term(kind, 1), self.term(kind, 1)),
        }
    }
}
