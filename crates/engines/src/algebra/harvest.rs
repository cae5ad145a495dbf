//! Harvest: predicates that are recursive functions of a datatype, as components.
//!
//! `height(t, n)` is a functional program as clauses: one for each constructor, with calls for the fields. Such a predicate *is* a fold,
//! and its own invariant is `n = height(t)`. So the fold is worth a try as a component: laws about a program speak of its functions.
//!
//! | predicate | fold |
//! |---|---|
//! | `p(x, r)` | the result `r` as a function of `x` |
//! | `p(x)` | whether `p` holds of `x` |
//! | `p(x, y, r)`, `p(x, y)` where calls keep `y` | the same, with `y` as the ghost |
//! | `p(x, a, r)` with an accumulator `a` | `r - a` as a function of `x` |
//!
//! The clauses of a predicate are solved one by one:
//!
//! ```text
//! head := constructor with variables for its fields; solve the equations between values
//! for each call: its value is a field; its result := the fold at the field
//! solve the equations between numbers; what is left is the guard, over fields, ghost and calls
//! ```
//!
//! A field that a clause takes apart further, as `sorted(cons(x, cons(y, l)))` does, is distinguished by a tester. Its integers and truth
//! values are the folds of `components.rs` that tell them. A clause that cannot be solved in this way ends the attempt. Calls of other predicates are folds harvested before, so functions come
//! in the order of their dependency.
//!
//! **Why it is safe.** A component is only a suggestion, and any fold is one. If guards overlap or cases are missing, then the fold is
//! not what the predicate means, and hulls tell.

use rustc_hash::FxHashMap;
use shofar_horn::graph::{EdgeId, HornGraph, NodeId};
use shofar_logic::{
    ConstructorId, FoldCase, FoldSpec, Fun, LinearPoly, Op, Sort, Substitution, Term, TermStore,
};

use super::components::{Component, first};

/// Cases of one clause.
const MOST_CASES: usize = 16;

/// Functions of one graph.
const MOST_FUNCTIONS: usize = 12;

/// The folds that are predicates of a graph, with the sorts of their arguments.
pub(super) fn harvest(store: &TermStore, graph: &HornGraph, ghost: Term) -> Vec<(Sort, Component)> {
    let (incoming, _) = graph.incoming();
    let mut harvest = Harvest { store, graph, ghost, functions: FxHashMap::default() };
    let mut found: Vec<(Sort, Component)> = Vec::new();
    loop {
        let before = harvest.functions.len();
        for (id, node) in graph.nodes() {
            if harvest.functions.contains_key(&id) || found.len() >= MOST_FUNCTIONS {
                continue;
            }
            let roles = roles(&node.sorts(store), store);
            let functions =
                roles.into_iter().find_map(|role| harvest.function(id, role, &incoming[id.index()]));
            if let Some(function) = functions {
                let sort = store.fun_decl(function.fun).domain[0];
                found.push((sort, function.component(ghost)));
                harvest.functions.insert(id, function);
            }
        }
        if harvest.functions.len() == before {
            return found;
        }
    }
}

/// The parts that the arguments of a predicate play. Positions are those of arguments.
#[derive(Clone, Copy, Debug)]
struct Role {
    value: usize,
    /// The result; without one, the function tells whether the predicate holds.
    result: Option<usize>,
    parameter: Option<(usize, Parameter)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Parameter {
    /// Calls keep it.
    Ghost,
    /// It is added to the result.
    Accumulator,
}

/// The roles that fit the sorts of arguments.
fn roles(sorts: &[Sort], store: &TermStore) -> Vec<Role> {
    let is_data = |&at: &usize| store.datatype(sorts[at]).is_some();
    let (data, others): (Vec<usize>, Vec<usize>) = (0..sorts.len()).partition(is_data);
    let (&[value], true) = (&data[..], others.len() <= 2) else { return Vec::new() };
    let is_plain = |&at: &usize| matches!(sorts[at], Sort::INT | Sort::BOOL);
    if !others.iter().all(is_plain) {
        return Vec::new();
    }
    let role = |result, parameter| Role { value, result, parameter };
    let mut roles = Vec::new();
    match others[..] {
        [] => roles.push(role(None, None)),
        [a] => {
            roles.push(role(Some(a), None));
            if sorts[a] == Sort::INT {
                roles.push(role(None, Some((a, Parameter::Ghost))));
            }
        }
        [a, b] => {
            for (parameter, result) in [(a, b), (b, a)].into_iter().filter(|&(at, _)| sorts[at] == Sort::INT)
            {
                roles.push(role(Some(result), Some((parameter, Parameter::Ghost))));
                if sorts[result] == Sort::INT {
                    roles.push(role(Some(result), Some((parameter, Parameter::Accumulator))));
                }
            }
        }
        _ => {}
    }
    roles
}

/// A predicate that is a fold.
struct Function {
    role: Role,
    fun: Fun,
}

impl Function {
    fn has_ghost(&self) -> bool {
        matches!(self.role.parameter, Some((_, Parameter::Ghost)))
    }

    fn component(&self, ghost: Term) -> Component {
        match self.has_ghost() {
            true => Component::Ghost { fun: self.fun, ghost },
            false => Component::Fold(self.fun),
        }
    }
}

struct Harvest<'a> {
    store: &'a TermStore,
    graph: &'a HornGraph,
    ghost: Term,
    functions: FxHashMap<NodeId, Function>,
}

/// One case of a clause: the guard, and the result.
struct Case {
    guard: Term,
    value: Term,
}

impl Harvest<'_> {
    /// The predicate as a fold, if it is one in this role.
    fn function(&self, node: NodeId, role: Role, edges: &[EdgeId]) -> Option<Function> {
        let store = self.store;
        let sort = self.graph.node(node).sorts(store)[role.value];
        let constructors = store.datatype(sort)?.constructors();
        let range = role.result.map_or(Sort::BOOL, |result| self.graph.node(node).sorts(store)[result]);
        let has_ghost = matches!(role.parameter, Some((_, Parameter::Ghost)));
        let ghosts: &[Sort] = if has_ghost { &[Sort::INT] } else { &[] };
        let name = store.fresh_symbol(store.name(self.graph.node(node).name));
        let function = Function { role, fun: store.new_fold(name, sort, ghosts, range) };
        let mut is_recursive = false;
        let mut cases = Vec::new();
        for &constructor in constructors {
            let sorts = store.constructor(constructor).fields.iter();
            let fields: Box<[Term]> =
                sorts.map(|&(_, sort)| store.var(store.fresh_symbol("field"), sort)).collect();
            let mut found: Vec<Case> = Vec::new();
            for &edge in edges {
                is_recursive |= self.graph.edge(edge).sources().contains(&node);
                for conjuncts in conjunctions(store, self.graph.edge(edge).label())? {
                    let clause = Clause::new(self, node, &function, edge, constructor, &fields);
                    found.extend(clause.solve(conjuncts)?);
                }
            }
            cases.push(FoldCase { constructor, value: self.value(role, range, &found), fields });
        }
        let ghosts = if has_ghost { vec![self.ghost] } else { Vec::new() };
        let spec = FoldSpec { fun: function.fun, ghosts, cases };
        let fun = *store.define_folds(&[spec]).ok().filter(|_| is_recursive)?.first()?;
        Some(Function { fun, ..function })
    }

    /// The value of a fold by its cases.
    fn value(&self, role: Role, range: Sort, cases: &[Case]) -> Term {
        let store = self.store;
        if role.result.is_none() {
            return store.or_of(cases.iter().map(|case| case.guard));
        }
        let Some((last, others)) = cases.split_last() else {
            return store.value_to_term(&store.default_value(range));
        };
        others.iter().rev().fold(last.value, |value, case| store.ite(case.guard, case.value, value))
    }
}

/// The conjunctions whose disjunction is a label, unless there are too many.
fn conjunctions(store: &TermStore, label: Term) -> Option<Vec<Vec<Term>>> {
    let mut all: Vec<Vec<Term>> = Vec::new();
    let mut open: Vec<(Vec<Term>, Vec<Term>)> = vec![(Vec::new(), store.conjuncts(label).collect())];
    while let Some((mut done, mut rest)) = open.pop() {
        if open.len() + all.len() > MOST_CASES {
            return None;
        }
        match rest.pop() {
            None => all.push(done),
            Some(conjunct) if store.op(conjunct) == Op::Or => {
                for disjunct in store.disjuncts(conjunct) {
                    let mut longer = rest.clone();
                    longer.extend(store.conjuncts(disjunct));
                    open.push((done.clone(), longer));
                }
            }
            Some(conjunct) => {
                done.push(conjunct);
                open.push((done, rest));
            }
        }
    }
    Some(all)
}

/// Solves a clause whose head has a given constructor.
struct Clause<'a> {
    harvest: &'a Harvest<'a>,
    node: NodeId,
    function: &'a Function,
    edge: EdgeId,
    /// The variables in which everything is expressed: fields, the ghost, the accumulator.
    fixed: Vec<Term>,
    accumulator: Option<Term>,
    /// The solved variables; no value mentions one of them.
    solved: Vec<(Term, Term)>,
    equations: Vec<(Term, Term)>,
    guards: Vec<Term>,
}

/// The result of solving equations.
enum Solved {
    Yes,
    /// They contradict each other.
    Never,
}

impl<'a> Clause<'a> {
    fn new(
        harvest: &'a Harvest<'a>,
        node: NodeId,
        function: &'a Function,
        edge: EdgeId,
        constructor: ConstructorId,
        fields: &[Term],
    ) -> Self {
        let store = harvest.store;
        let next = harvest.graph.target_variables(edge);
        let mut fixed: Vec<Term> = fields.to_vec();
        let mut equations = vec![(next[function.role.value], store.construct_term(constructor, fields))];
        let mut accumulator = None;
        if let Some((at, parameter)) = function.role.parameter {
            let variable = match parameter {
                Parameter::Ghost => harvest.ghost,
                Parameter::Accumulator => store.var(store.fresh_symbol("accumulator"), Sort::INT),
            };
            accumulator = (parameter == Parameter::Accumulator).then_some(variable);
            fixed.push(variable);
            equations.push((next[at], variable));
        }
        let (solved, guards) = Default::default();
        Clause { harvest, node, function, edge, fixed, accumulator, solved, equations, guards }
    }

    /// The case of a conjunction; none if it is contradictory. Fails if it has no solution of the kind we look for.
    fn solve(mut self, conjuncts: Vec<Term>) -> Option<Option<Case>> {
        let store = self.harvest.store;
        let mut numbers: Vec<(Term, Term)> = Vec::new();
        for conjunct in conjuncts {
            match store.view(conjunct) {
                (Op::Eq, &[a, b]) if store.datatype(store.sort_of(a)).is_some() => {
                    self.equations.push((a, b))
                }
                (Op::Eq, &[a, b]) => numbers.push((a, b)),
                (Op::Var(_), _) => numbers.push((conjunct, Term::TRUE)),
                (Op::Not, &[variable]) if matches!(store.op(variable), Op::Var(_)) => {
                    numbers.push((variable, Term::FALSE));
                }
                _ => self.guards.push(conjunct),
            }
        }
        if let Solved::Never = self.solve_equations()? {
            return Some(None);
        }
        let calls = self.calls()?;
        self.equations.extend(numbers);
        if let Solved::Never = self.solve_equations()? {
            return Some(None);
        }
        let mut guard: Vec<Term> = calls;
        guard.extend(std::mem::take(&mut self.guards));
        let guard = self.expressed(store.and_of(guard))?;
        let role = self.function.role;
        let next = self.harvest.graph.target_variables(self.edge);
        let mut value = role.result.map_or(Some(Term::TRUE), |result| self.expressed(next[result]))?;
        if let Some(accumulator) = self.accumulator {
            value = store.normalize(store.sub(value, accumulator));
            if store.free_vars(&[value, guard]).contains(&accumulator) {
                return None;
            }
        }
        Some((guard != Term::FALSE).then_some(Case { guard, value }))
    }

    /// The term without solved variables.
    fn with_solutions(&self, term: Term) -> Term {
        self.harvest.store.instantiate(term, &self.solved.iter().copied().collect())
    }

    /// A term by the fixed variables, without selectors.
    fn expressed(&self, term: Term) -> Option<Term> {
        let store = self.harvest.store;
        let term = self.with_solutions(term);
        let is_fixed = |term: &Term| match store.op(*term) {
            Op::Var(_) => self.fixed.contains(term),
            Op::Selector { .. } => false,
            _ => true,
        };
        store.subterms(&[term]).iter().all(is_fixed).then_some(term)
    }

    /// Solves the results of the calls, and returns those that are only true or false.
    fn calls(&mut self) -> Option<Vec<Term>> {
        let (store, graph) = (self.harvest.store, self.harvest.graph);
        let mut truths = Vec::new();
        for (source, &called) in graph.edge(self.edge).sources().iter().enumerate() {
            let variables = graph.source_variables(self.edge, source);
            let is_own = called == self.node;
            let function = if is_own { self.function } else { self.harvest.functions.get(&called)? };
            let value = self.whole(self.with_solutions(variables[function.role.value]));
            let value = self.expressed(value)?;
            if is_own && !(self.fixed.contains(&value) && store.datatype(store.sort_of(value)).is_some()) {
                return None;
            }
            let applied = function.component(self.harvest.ghost).at(store, value);
            let mut result = applied;
            match function.role.parameter {
                Some((at, Parameter::Ghost)) => self.equations.push((variables[at], self.harvest.ghost)),
                Some((at, Parameter::Accumulator)) => result = store.add(&[variables[at], applied]),
                None => {}
            }
            match function.role.result {
                Some(at) => self.equations.push((variables[at], result)),
                None => truths.push(applied),
            }
        }
        Some(truths)
    }

    /// Solves equations for variables that are not fixed. What has no such variable is a guard.
    fn solve_equations(&mut self) -> Option<Solved> {
        let store = self.harvest.store;
        while let Some((a, b)) = self.equations.pop() {
            let (a, b) = (self.with_solutions(a), self.with_solutions(b));
            if a == b {
                continue;
            }
            let is_open = |term: Term| matches!(store.op(term), Op::Var(_)) && !self.fixed.contains(&term);
            let occurs = |variable: Term, term: Term| store.free_vars(&[term]).contains(&variable);
            if is_open(a) && !occurs(a, b) {
                self.bind(a, b);
            } else if is_open(b) && !occurs(b, a) {
                self.bind(b, a);
            } else if store.datatype(store.sort_of(a)).is_some() {
                match (store.view(a), store.view(b)) {
                    ((Op::Construct(left), these), (Op::Construct(right), those)) => {
                        if left != right {
                            return Some(Solved::Never);
                        }
                        self.equations.extend(these.iter().copied().zip(those.iter().copied()));
                    }
                    ((Op::Construct(constructor), fields), (Op::Var(_), _)) => {
                        self.open(b, constructor, fields)
                    }
                    ((Op::Var(_), _), (Op::Construct(constructor), fields)) => {
                        self.open(a, constructor, fields)
                    }
                    _ => return None,
                }
            } else {
                self.solve_linear(a, b);
            }
        }
        Some(Solved::Yes)
    }

    /// A field that a constructor made.
    fn open(&mut self, field: Term, constructor: ConstructorId, terms: &[Term]) {
        let store = self.harvest.store;
        self.guards.push(store.tester(constructor, field));
        for (at, &term) in terms.iter().enumerate() {
            self.equations.push((term, self.part(field, constructor, at)));
        }
    }

    /// A field of a field.
    fn part(&self, value: Term, constructor: ConstructorId, at: usize) -> Term {
        let store = self.harvest.store;
        match first(store, constructor, at) {
            Some(fun) => Component::Fold(fun).at(store, value),
            None => store.selector(constructor, at as u32, value),
        }
    }

    /// The variable of which a constructor term has all fields; otherwise the term.
    fn whole(&self, term: Term) -> Term {
        let store = self.harvest.store;
        let (Op::Construct(constructor), fields) = store.view(term) else { return term };
        let is_whole = |&&value: &&Term| {
            let parts = (0..fields.len()).map(|at| self.part(value, constructor, at));
            store.sort_of(value) == store.sort_of(term) && parts.eq(fields.iter().copied())
        };
        if fields.is_empty() { term } else { self.fixed.iter().find(is_whole).copied().unwrap_or(term) }
    }

    /// Solves an equation between numbers for a variable that is not fixed.
    fn solve_linear(&mut self, a: Term, b: Term) {
        let store = self.harvest.store;
        let sort = store.sort_of(a);
        if sort == Sort::INT {
            let difference = LinearPoly::from_term(store, store.normalize(store.sub(a, b)));
            let unit = difference.terms().iter().find(|(term, factor)| {
                let is_open = matches!(store.op(*term), Op::Var(_)) && !self.fixed.contains(term);
                is_open && (factor.is_one() || (-factor).is_one())
            });
            if let Some(&(variable, _)) = unit
                && let Some(value) = difference.solved_for(variable)
            {
                self.bind(variable, value.to_term(store, sort));
                return;
            }
        }
        self.guards.push(store.eq(a, b));
    }

    fn bind(&mut self, variable: Term, value: Term) {
        let store = self.harvest.store;
        let one = Substitution::from_iter([(variable, value)]);
        self.solved.iter_mut().for_each(|(_, term)| *term = store.instantiate(*term, &one));
        self.solved.push((variable, value));
    }
}
