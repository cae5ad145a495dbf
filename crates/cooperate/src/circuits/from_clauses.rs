//! A linear system of Horn clauses over `Bool` as a circuit.
//!
//! The circuit walks along derivations. Its latches hold the *location*, which is the predicate of the last derived fact or
//! the start, and the arguments of that fact. In each step the inputs choose a clause that leaves the location, and values
//! for the variables of the clause.
//!
//! * *The start* is location 0, with facts as the clauses that leave it. A linear derivation begins with one fact, so nothing
//!   returns there.
//! * *A step that does not fit changes nothing.* A clause is a relation and a circuit has functions: if the constraint is false
//!   for the chosen values, or the choice names no clause, all latches keep their values. So the reachable states are the
//!   start and the derivable facts, no more and no less, and the circuit needs no constraints.
//! * *A query is a bad*: it is true if the query's body holds for the values of the inputs.
//! * *Definitions.* A conjunct `x = t` of a constraint, where `x` has no value yet, gives `x` the value of `t` instead of an
//!   input. Each conjunct is still a part of the condition of the step, where a definition becomes `true`. So any choice of
//!   definitions is right, and variables on a cycle of definitions are inputs.

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_hardware::aig::{Builder, Edge, Node};
use shofar_hardware::circuit::{Circuit, Latch, Names, Reset};
use shofar_horn::{Clause, Context, HornSystem, PredicateId};
use shofar_logic::{Op, Sort, Term, TermStore};
use shofar_run::Stop;

/// The circuit that is safe exactly if the clauses are satisfiable, with a bad for each query. The error is a limit, or why
/// the clauses are no circuit.
pub fn circuit_of(context: &Context<'_>, system: &HornSystem) -> Result<Circuit, Stop> {
    check(context.store, system)?;
    let mut walk = Walk::new(context.store, system);
    let mut bads = Vec::new();
    let mut steps = Vec::new();
    for (index, clause) in system.clauses.iter().enumerate() {
        context.go_on()?;
        let translated = walk.translate(clause);
        match &clause.head {
            None => bads.push((index, translated.condition)),
            Some(head) => steps.push((head.predicate, translated)),
        }
    }
    let mut circuit = walk.finish(&steps);
    for (index, bad) in bads {
        circuit.bads.push(bad);
        // A name in AIGER is one line, and a symbol of SMT-LIB may have several.
        let title = system.clause_title(context.store, index);
        circuit.names.bads.push(title.replace(char::is_control, " "));
    }
    if circuit.bads.is_empty() {
        // Without queries the clauses are satisfiable. A circuit without bads would have no question.
        circuit.bads.push(Edge::FALSE);
    }
    Ok(circuit)
}

/// Checks that all clauses are linear and Boolean.
fn check(store: &TermStore, system: &HornSystem) -> Result<(), Stop> {
    for (index, clause) in system.clauses.iter().enumerate() {
        let refused = |why: String| {
            let clause = system.clause_title(store, index);
            Err(Stop::Unsupported(format!("{clause} {why}; only linear Boolean clauses make a circuit")))
        };
        if !clause.is_linear() {
            return refused(format!("has {} predicates in its body", clause.body.len()));
        }
        let atoms = clause.body.iter().chain(&clause.head);
        let terms: Vec<Term> =
            atoms.flat_map(|atom| &atom.args).chain([&clause.constraint]).copied().collect();
        for term in store.subterms(&terms) {
            let sort = store.sort_of(term);
            if sort != Sort::BOOL {
                return refused(format!("has a term of sort {}", store.display_sort(sort)));
            }
            match store.op(term) {
                Op::Forall | Op::Exists => return refused("has a quantifier in its constraint".to_owned()),
                Op::Apply(fun) => {
                    let name = store.display_symbol(store.fun_decl(fun).name);
                    return refused(format!("applies the function `{name}`"));
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// A clause as functions of latches and inputs.
struct Translated {
    /// Whether the inputs choose the clause, and its body holds. At most one clause with a head has this in a state.
    condition: Edge,
    /// The arguments of the head.
    head: Vec<Edge>,
}

/// The circuit under construction.
struct Walk<'a> {
    store: &'a TermStore,
    builder: Builder,
    /// The bits of the location, the lowest first.
    location: Vec<Node>,
    /// The arguments of the last derived fact. Predicates with fewer arguments leave the rest false.
    arguments: Vec<Node>,
    /// The inputs that choose a clause, as a number.
    choice: Vec<Node>,
    /// The inputs for variables of clauses. Each clause uses as many as it needs, from the first on.
    values: Vec<Node>,
    /// By locations: the number of clauses with a head that leave it.
    clauses_from: Vec<usize>,
    /// By locations: how many of these are translated.
    translated_from: Vec<usize>,
}

impl<'a> Walk<'a> {
    fn new(store: &'a TermStore, system: &HornSystem) -> Self {
        let mut clauses_from = vec![0; system.predicates().len() + 1];
        for clause in system.clauses.iter().filter(|clause| clause.head.is_some()) {
            clauses_from[location_before(clause)] += 1;
        }
        let arity = system.predicates().map(|(id, _)| system.sorts(store, id).len()).max().unwrap_or(0);
        let most = clauses_from.iter().copied().max().unwrap_or(0);
        let mut builder = Builder::with_leaves(0);
        let mut leaves = |count: usize| (0..count).map(|_| builder.leaf()).collect::<Vec<Node>>();
        let (location, arguments, choice) =
            (leaves(bits_for(clauses_from.len())), leaves(arity), leaves(bits_for(most)));
        let translated_from = vec![0; clauses_from.len()];
        Walk {
            store,
            builder,
            location,
            arguments,
            choice,
            values: Vec::new(),
            clauses_from,
            translated_from,
        }
    }

    /// Translates a clause. The clauses that leave a location are numbered in the order of these calls.
    fn translate(&mut self, clause: &Clause) -> Translated {
        let before = location_before(clause);
        let mut conditions = Vec::new();
        // A query without an atom in its body may fire anywhere.
        if clause.head.is_some() || !clause.body.is_empty() {
            conditions.push(self.is_number(&self.location.clone(), before));
        }
        if clause.head.is_some() {
            let bits = bits_for(self.clauses_from[before]);
            let choice = self.choice[..bits].to_vec();
            conditions.push(self.is_number(&choice, self.translated_from[before]));
            self.translated_from[before] += 1;
        }

        let conjuncts = conjuncts(self.store, clause.constraint);
        let mut scope =
            Scope { walk: self, definitions: FxHashMap::default(), edges: FxHashMap::default(), inputs: 0 };
        let body: &[Term] = clause.body.first().map_or(&[], |atom| &atom.args);
        scope.receive(body);
        scope.define(&conjuncts);
        for (index, &argument) in body.iter().enumerate() {
            let (received, expected) = (scope.walk.arguments[index].into(), scope.edge(argument));
            conditions.push(scope.walk.builder.iff(received, expected));
        }
        for &conjunct in &conjuncts {
            conditions.push(scope.edge(conjunct));
        }
        let head: &[Term] = clause.head.as_ref().map_or(&[], |atom| &atom.args);
        let head = head.iter().map(|&argument| scope.edge(argument)).collect();
        Translated { condition: self.builder.and_all(conditions), head }
    }

    /// Whether bits, the lowest first, are a number.
    fn is_number(&mut self, bits: &[Node], number: usize) -> Edge {
        let bits = bits.iter().enumerate().map(|(index, bit)| bit.edge(number >> index & 1 == 0));
        self.builder.and_all(bits)
    }

    /// The circuit with these steps and without bads.
    fn finish(mut self, steps: &[(PredicateId, Translated)]) -> Circuit {
        let moves = self.builder.or_all(steps.iter().map(|(_, step)| step.condition));
        let mut latches = Vec::new();
        for (index, node) in self.location.clone().into_iter().enumerate() {
            let sets = steps.iter().filter(|(predicate, _)| location(*predicate) >> index & 1 == 1);
            let set = sets.map(|(_, step)| step.condition).collect();
            latches.push(self.latch(node, moves, set));
        }
        for (index, node) in self.arguments.clone().into_iter().enumerate() {
            let mut set = Vec::new();
            for (_, step) in steps {
                if let Some(&argument) = step.head.get(index) {
                    set.push(self.builder.and(step.condition, argument));
                }
            }
            latches.push(self.latch(node, moves, set));
        }
        let numbered = |name: &str, nodes: &[Node]| {
            (0..nodes.len()).map(|index| format!("{name}[{index}]")).collect::<Vec<String>>()
        };
        let names = Names {
            inputs: [numbered("choice", &self.choice), numbered("value", &self.values)].concat(),
            latches: [numbered("location", &self.location), numbered("argument", &self.arguments)].concat(),
            ..Names::default()
        };
        let inputs = [self.choice, self.values].concat();
        Circuit { aig: self.builder.into_aig(), inputs, latches, names, ..Circuit::default() }
    }

    /// A latch that a move sets if one of the edges is true, and that keeps its value without a move.
    fn latch(&mut self, node: Node, moves: Edge, set: Vec<Edge>) -> Latch {
        let set = self.builder.or_all(set);
        let next = self.builder.ite(moves, set, node.into());
        Latch { node, next, reset: Reset::Constant(false) }
    }
}

/// The location of a predicate.
fn location(predicate: PredicateId) -> usize {
    predicate.index() + 1
}

/// The location that a clause leaves: that of its body, or the start.
fn location_before(clause: &Clause) -> usize {
    clause.body.first().map_or(0, |atom| location(atom.predicate))
}

/// The number of bits that tell `count` numbers apart.
fn bits_for(count: usize) -> usize {
    count.saturating_sub(1).checked_ilog2().map_or(0, |log| log as usize + 1)
}

/// The conjuncts of a formula, each once.
fn conjuncts(store: &TermStore, formula: Term) -> Vec<Term> {
    let mut conjuncts = Vec::new();
    let mut seen = FxHashSet::default();
    let mut open = vec![formula];
    while let Some(term) = open.pop() {
        if !seen.insert(term) {
            continue;
        }
        match store.view(term) {
            (Op::And, parts) => open.extend(parts.iter().rev()),
            _ => conjuncts.push(term),
        }
    }
    conjuncts
}

/// The terms of one clause as edges.
struct Scope<'w, 'a> {
    walk: &'w mut Walk<'a>,
    /// The terms that define variables.
    definitions: FxHashMap<Term, Term>,
    edges: FxHashMap<Term, Edge>,
    /// The number of inputs that the clause uses.
    inputs: usize,
}

impl Scope<'_, '_> {
    /// Gives the variables among the arguments of the body the values of the last fact.
    fn receive(&mut self, body: &[Term]) {
        for (index, &argument) in body.iter().enumerate() {
            if self.is_variable(argument) {
                self.edges.entry(argument).or_insert(self.walk.arguments[index].into());
            }
        }
    }

    /// Chooses definitions of variables that have no value yet.
    fn define(&mut self, conjuncts: &[Term]) {
        let store = self.walk.store;
        for &conjunct in conjuncts {
            let candidates = match store.view(conjunct) {
                (Op::Eq, &[left, right]) => [(left, right), (right, left)],
                (Op::Not, &[formula]) => [(formula, Term::FALSE); 2],
                _ => [(conjunct, Term::TRUE); 2],
            };
            let open = candidates.into_iter().find(|(variable, _)| {
                self.is_variable(*variable)
                    && !self.edges.contains_key(variable)
                    && !self.definitions.contains_key(variable)
            });
            self.definitions.extend(open);
        }
    }

    fn is_variable(&self, term: Term) -> bool {
        matches!(self.walk.store.op(term), Op::Var(_))
    }

    /// The edge of a Boolean term.
    fn edge(&mut self, root: Term) -> Edge {
        let store = self.walk.store;
        // Entered terms, marked by `true`, are the path to the current term; the others wait for their turn.
        let mut stack = vec![(root, false)];
        let mut path: FxHashSet<Term> = FxHashSet::default();
        while let Some((term, is_entered)) = stack.pop() {
            if self.edges.contains_key(&term) {
                continue;
            }
            let definition = self.definitions.get(&term).copied();
            let parts = match &definition {
                Some(definition) => std::slice::from_ref(definition),
                None => store.view(term).1,
            };
            if is_entered {
                let parts: Vec<Edge> = parts.iter().map(|part| self.edges[part]).collect();
                let edge = if definition.is_some() { parts[0] } else { self.apply(store.op(term), &parts) };
                self.edges.insert(term, edge);
            } else if path.insert(term) {
                stack.push((term, true));
                stack.extend(parts.iter().map(|&part| (part, false)));
            } else {
                self.break_cycle(&mut stack, &mut path);
            }
        }
        self.edges[&root]
    }

    /// The path meets itself. Terms have no cycles, so the path passes the definition of a variable: the last such variable
    /// becomes an input, and the work on its definition is given up.
    fn break_cycle(&mut self, stack: &mut Vec<(Term, bool)>, path: &mut FxHashSet<Term>) {
        while let Some((term, is_entered)) = stack.pop() {
            if is_entered {
                path.remove(&term);
                if self.definitions.contains_key(&term) {
                    let input = self.input();
                    self.edges.insert(term, input);
                    return;
                }
            }
        }
    }

    /// An operator on formulas.
    fn apply(&mut self, op: Op, arguments: &[Edge]) -> Edge {
        if let Op::Var(_) = op {
            return self.input();
        }
        let builder = &mut self.walk.builder;
        match (op, arguments) {
            (Op::True, _) => Edge::TRUE,
            (Op::False, _) => Edge::FALSE,
            (Op::Not, &[argument]) => !argument,
            (Op::And, _) => builder.and_all(arguments.iter().copied()),
            (Op::Or, _) => builder.or_all(arguments.iter().copied()),
            (Op::Xor, _) => {
                arguments.iter().fold(Edge::FALSE, |parity, &argument| builder.xor(parity, argument))
            }
            (Op::Implies, [premises @ .., conclusion]) => {
                builder.or_all(premises.iter().map(|&premise| !premise).chain([*conclusion]))
            }
            (Op::Eq, _) => {
                let pairs: Vec<Edge> =
                    arguments.windows(2).map(|pair| builder.iff(pair[0], pair[1])).collect();
                builder.and_all(pairs)
            }
            (Op::Distinct, &[left, right]) => builder.xor(left, right),
            // There are two truth values only.
            (Op::Distinct, _) => Edge::from(arguments.len() < 2),
            (Op::Ite, &[condition, then, other]) => builder.ite(condition, then, other),
            _ => unreachable!("Boolean operators on formulas"),
        }
    }

    /// An input for a variable without a value.
    fn input(&mut self) -> Edge {
        if self.inputs == self.walk.values.len() {
            self.walk.values.push(self.walk.builder.leaf());
        }
        self.inputs += 1;
        self.walk.values[self.inputs - 1].into()
    }
}
