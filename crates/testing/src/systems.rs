//! Random systems of Horn clauses over small finite domains, as text.
//!
//! The constraint of a clause keeps every number, whether variable or argument, between zero and [`Shape::greatest`],
//! so the explicit solver is complete. Arguments of predicates have *roles*, for transformations to find: some are
//! always the same constant, some equal another argument, some are never used. Facts, rules and queries are drawn
//! independently, so underivable predicates and predicates that no query needs are common; so are chains, loops,
//! parallel and repeated clauses.

use std::fmt::Write;

use shofar_horn::HornGraph;
use shofar_horn::graph::{Application, Node, NodeId};
use shofar_logic::{Sort, Term, TermStore};

use crate::Random;

/// The size of a system.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// The maximal number of predicates.
    pub predicates: usize,
    /// The maximal number of arguments of a predicate.
    pub arity: usize,
    /// The maximal number of rules.
    pub rules: usize,
    /// The maximal number of atoms in a body.
    pub body: usize,
    /// The greatest number.
    pub greatest: i64,
    /// Whether clauses bound the arguments of their bodies. Facts are within the domain in any case. But without
    /// bounds, clauses can pass arguments on unconstrained, and models have to be closed at the ends.
    pub bounds_bodies: bool,
}

impl Shape {
    /// Linear systems.
    pub const LINEAR: Shape =
        Shape { predicates: 5, arity: 3, rules: 7, body: 1, greatest: 3, bounds_bodies: true };
    /// Clauses with up to three atoms in their bodies, over smaller domains.
    pub const NONLINEAR: Shape =
        Shape { predicates: 4, arity: 2, rules: 5, body: 3, greatest: 2, bounds_bodies: true };
    /// Linear systems that may pass arguments on unconstrained.
    pub const PASSING: Shape = Shape { bounds_bodies: false, ..Shape::LINEAR };
}

/// The role of an argument in all derived facts of a predicate.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Any,
    Constant(usize),
    EqualTo(usize),
}

struct Argument {
    is_bool: bool,
    role: Role,
    /// Clauses with the predicate in the body at most pass the argument on.
    is_ignored: bool,
}

/// The text of a random system.
pub fn system(random: &mut Random, shape: &Shape) -> String {
    let predicates: Vec<Vec<Argument>> =
        (0..1 + random.below(shape.predicates)).map(|_| signature(random, shape)).collect();
    let mut text = "(set-logic HORN)\n".to_owned();
    for (predicate, arguments) in predicates.iter().enumerate() {
        let sorts: Vec<&str> = arguments.iter().map(|a| if a.is_bool { "Bool" } else { "Int" }).collect();
        let _ = writeln!(text, "(declare-fun P{predicate} ({}) Bool)", sorts.join(" "));
    }
    let mut clauses: Vec<String> = Vec::new();
    let mut add = |random: &mut Random, body: &[usize], head: Option<usize>| {
        let times = if random.one_in(8) { 2 } else { 1 };
        for _ in 0..times {
            let clause = Draft::new(random, shape, &predicates).clause(body, head);
            let copies = if random.one_in(12) { 2 } else { 1 };
            clauses.extend(std::iter::repeat_n(clause, copies));
        }
    };
    for _ in 0..1 + random.below(3) {
        let head = random.below(predicates.len());
        add(random, &[], Some(head));
    }
    // Sometimes a chain through the predicates, so that long derivations are not rare.
    if random.one_in(3) {
        add(random, &[], Some(0));
        for next in 1..predicates.len() {
            add(random, &[next - 1], Some(next));
        }
        add(random, &[predicates.len() - 1], None);
    }
    for _ in 0..1 + random.below(shape.rules) {
        let head = random.below(predicates.len());
        let body: Vec<usize> =
            (0..1 + random.below(shape.body)).map(|_| random.below(predicates.len())).collect();
        add(random, &body, Some(head));
    }
    for _ in 0..1 + random.below(2) {
        let atoms = 1 + random.below(shape.body);
        let body: Vec<usize> = (0..atoms).map(|_| random.below(predicates.len())).collect();
        let is_closed = random.one_in(40);
        add(random, if is_closed { &[] } else { &body }, None);
    }
    for clause in clauses {
        text.push_str(&clause);
    }
    text
}

/// The system with further arguments, most of which clauses only pass on: each predicate gets some numbers, which are
/// compared for equality at most, and some truth values, which rare clauses use otherwise.
pub fn with_passed_on(store: &TermStore, random: &mut Random, graph: &HornGraph) -> HornGraph {
    let mut new = HornGraph::new();
    let mut added: Vec<Vec<Sort>> = Vec::new();
    for (_, node) in graph.nodes() {
        let own =
            (0..random.below(3)).map(|_| *random.choose(&[Sort::INT, Sort::BOOL])).collect::<Vec<Sort>>();
        new.add_node(Node::new(store, node.name, &[node.sorts(store), own.clone()].concat()));
        added.push(own);
    }
    for (id, edge) in graph.edges() {
        let mut pool = |sort: Sort| -> Vec<Term> {
            (0..1 + random.below(2)).map(|_| store.var(store.fresh_symbol("passed"), sort)).collect()
        };
        let (numbers, truths) = (pool(Sort::INT), pool(Sort::BOOL));
        let mut with_added = |node: NodeId, variables: &[Term]| -> Application {
            let own = added[node.index()].iter();
            let own = own.map(|&sort| *random.choose(if sort == Sort::INT { &numbers } else { &truths }));
            (node, variables.iter().copied().chain(own).collect())
        };
        let sources = edge.sources().iter().enumerate();
        let body: Vec<Application> =
            sources.map(|(at, &node)| with_added(node, graph.source_variables(id, at))).collect();
        let head = edge.target().map(|node| with_added(node, graph.target_variables(id)));
        let mut label = edge.label();
        for all in [&numbers, &truths] {
            let equation = store.eq(all[0], all[all.len() - 1]);
            label = match random.below(4) {
                0 => store.and2(label, equation),
                1 => store.or2(label, store.and2(label, equation)),
                _ => label,
            };
        }
        if random.one_in(12) {
            label = store.and2(label, if random.one_in(2) { truths[0] } else { store.not(truths[0]) });
        }
        new.add_clause(store, &body, label, head.as_ref());
    }
    new
}

fn signature(random: &mut Random, shape: &Shape) -> Vec<Argument> {
    let mut arguments: Vec<Argument> = Vec::new();
    for position in 0..random.below(shape.arity + 1) {
        let is_bool = random.one_in(4);
        let equal = arguments.iter().position(|argument| argument.is_bool == is_bool);
        let role = match (random.below(6), equal) {
            (0, _) => Role::Constant(random.below(2)),
            (1, Some(other)) if other < position => Role::EqualTo(other),
            _ => Role::Any,
        };
        arguments.push(Argument { is_bool, role, is_ignored: random.one_in(4) });
    }
    arguments
}

/// A clause under construction.
struct Draft<'a> {
    random: &'a mut Random,
    shape: &'a Shape,
    predicates: &'a [Vec<Argument>],
    /// The numbers and Booleans that the constraint may use.
    numbers: Vec<String>,
    truths: Vec<String>,
    /// All variables, with their sorts.
    variables: Vec<(String, bool)>,
    conjuncts: Vec<String>,
}

impl<'a> Draft<'a> {
    fn new(random: &'a mut Random, shape: &'a Shape, predicates: &'a [Vec<Argument>]) -> Self {
        let (numbers, truths, variables, conjuncts) = Default::default();
        Draft { random, shape, predicates, numbers, truths, variables, conjuncts }
    }

    fn clause(mut self, body: &[usize], head: Option<usize>) -> String {
        let atoms: Vec<String> = body.iter().map(|&predicate| self.body_atom(predicate)).collect();
        // Few start states and narrow queries: otherwise nearly all systems are unsafe after a step or two.
        let is_rule = !body.is_empty() && head.is_some();
        for _ in 0..self.random.below(if is_rule { 3 } else { 2 }) {
            let is_bool = self.random.one_in(3);
            self.variable(is_bool, true);
        }
        for _ in 0..if head.is_none() { 1 + self.random.below(3) } else { self.random.below(3) } {
            let formula = self.formula();
            self.conjuncts.push(formula);
        }
        let head = head.map_or_else(|| "false".to_owned(), |predicate| self.head_atom(predicate));
        let variables: Vec<String> = self
            .variables
            .iter()
            .map(|(name, is_bool)| format!("({name} {})", if *is_bool { "Bool" } else { "Int" }))
            .collect();
        let body: Vec<String> = atoms.into_iter().chain(self.conjuncts).collect();
        let clause = format!("(=> (and true {}) {head})", body.join(" "));
        match variables.len() {
            0 => format!("(assert {clause})\n"),
            _ => format!("(assert (forall ({}) {clause}))\n", variables.join(" ")),
        }
    }

    fn variable(&mut self, is_bool: bool, is_used: bool) -> String {
        let name = self.unbounded(is_bool, is_used);
        if !is_bool {
            self.bound(&name);
        }
        name
    }

    fn unbounded(&mut self, is_bool: bool, is_used: bool) -> String {
        let name = format!("v{}", self.variables.len());
        if is_used {
            (if is_bool { &mut self.truths } else { &mut self.numbers }).push(name.clone());
        }
        self.variables.push((name.clone(), is_bool));
        name
    }

    fn bound(&mut self, number: &str) {
        self.conjuncts.push(format!("(<= 0 {number} {})", self.shape.greatest));
    }

    fn body_atom(&mut self, predicate: usize) -> String {
        let mut args = Vec::new();
        for argument in &self.predicates[predicate] {
            let is_known = !(if argument.is_bool { &self.truths } else { &self.numbers }).is_empty();
            args.push(match self.random.below(10) {
                0 if !argument.is_ignored => self.term(argument.is_bool),
                1 if is_known && !argument.is_ignored => {
                    let known = if argument.is_bool { &self.truths } else { &self.numbers };
                    self.random.choose(known).clone()
                }
                _ if self.shape.bounds_bodies => self.variable(argument.is_bool, !argument.is_ignored),
                _ => self.unbounded(argument.is_bool, !argument.is_ignored),
            });
        }
        application(predicate, &args)
    }

    fn head_atom(&mut self, predicate: usize) -> String {
        let mut args: Vec<String> = Vec::new();
        for argument in &self.predicates[predicate] {
            args.push(match argument.role {
                // Roles have exceptions, or transformations would never have to detect them.
                Role::Constant(constant) if !self.random.one_in(20) => match argument.is_bool {
                    true => (constant == 1).to_string(),
                    false => constant.to_string(),
                },
                Role::EqualTo(other) if !self.random.one_in(20) => args[other].clone(),
                _ => self.term(argument.is_bool),
            });
        }
        application(predicate, &args)
    }

    /// An argument within the bounds.
    fn term(&mut self, is_bool: bool) -> String {
        if is_bool {
            return match self.random.below(6) {
                0 => "true".to_owned(),
                1 => "false".to_owned(),
                2 => self.variable(true, true),
                3 => self.atom(),
                _ => self.truth(),
            };
        }
        let term = match self.random.below(6) {
            0 => return self.random.below(self.shape.greatest as usize + 1).to_string(),
            1 if self.random.one_in(2) => return self.variable(false, true),
            _ => self.number(),
        };
        // Variables are already within the bounds.
        if self.shape.bounds_bodies || !term.starts_with('v') {
            self.bound(&term);
        }
        term
    }

    fn truth(&mut self) -> String {
        match self.truths.len() {
            0 => self.atom(),
            _ if self.random.one_in(4) => format!("(not {})", self.random.choose(&self.truths)),
            _ => self.random.choose(&self.truths).clone(),
        }
    }

    fn number(&mut self) -> String {
        if self.numbers.is_empty() {
            return self.random.below(self.shape.greatest as usize + 1).to_string();
        }
        let x = self.random.choose(&self.numbers).clone();
        let y = self.random.choose(&self.numbers).clone();
        match self.random.below(9) {
            0 => format!("(+ {x} 1)"),
            1 => format!("(- {x} 1)"),
            2 => format!("(+ {x} {y})"),
            3 => format!("(- {x} {y})"),
            4 => format!("(ite {} {x} {y})", self.atom()),
            5 if self.random.one_in(2) => format!("(mod {x} 2)"),
            _ => x,
        }
    }

    fn atom(&mut self) -> String {
        if self.numbers.is_empty() {
            return if self.random.one_in(2) { "true" } else { "false" }.to_owned();
        }
        let x = self.random.choose(&self.numbers).clone();
        let y = match self.random.below(3) {
            0 => self.random.choose(&self.numbers).clone(),
            _ => self.random.below(self.shape.greatest as usize + 1).to_string(),
        };
        match self.random.below(8) {
            0 => format!("(= (* 2 {x}) {y})"),
            1 | 2 => format!("(= {x} {y})"),
            3 => format!("(not (= {x} {y}))"),
            4 => format!("(>= {x} {y})"),
            _ => format!("(< {x} {y})"),
        }
    }

    fn formula(&mut self) -> String {
        let literal = |draft: &mut Self| match draft.random.below(4) {
            0 => draft.truth(),
            1 => {
                let (a, b) = (draft.number(), draft.number());
                format!("({} {a} {b})", draft.random.choose(&["=", "<=", "<"]))
            }
            2 if !draft.numbers.is_empty() => {
                let x = draft.random.choose(&draft.numbers);
                format!("(= {x} {})", draft.shape.greatest)
            }
            _ => draft.atom(),
        };
        let (a, b) = (literal(self), literal(self));
        match self.random.below(6) {
            0 => format!("(or {a} {b})"),
            1 => format!("(= {a} {b})"),
            2 => format!("(or (and {a} {b}) (not {}))", literal(self)),
            _ => a,
        }
    }
}

fn application(predicate: usize, args: &[String]) -> String {
    match args.len() {
        0 => format!("P{predicate}"),
        _ => format!("(P{predicate} {})", args.join(" ")),
    }
}

/// Two multiplications that always agree (Example 5.1 of Blicha's thesis): there is a model, but none in linear
/// arithmetic.
pub fn multiplication() -> String {
    let rules = |name: &str| {
        format!(
            "(declare-fun {name} (Int Int Int) Bool)
             (assert (forall ((Y Int)) ({name} 0 Y 0)))
             (assert (forall ((X Int) (Y Int) (Z Int)) (=> ({name} X Y Z) ({name} (+ X 1) Y (+ Z Y)))))"
        )
    };
    let query = "(assert (forall ((X Int) (Y Int) (A Int) (B Int))
                    (=> (and (multA X Y A) (multB X Y B) (not (= A B))) false)))";
    [rules("multA"), rules("multB"), query.to_owned()].concat()
}
