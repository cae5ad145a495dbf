//! Clauses of a graph as clauses of the engine, and back.
//!
//! Equations of datatypes are solved and disequalities are atoms (`regular/clauses.rs`). What remains is weakened: each instance of
//! a clause of the graph has a part that is an instance of a clause here.
//!
//! | in the clause | here |
//! |---|---|
//! | an equation of a variable with another one or with a value | replaces the variable |
//! | `t != u` of variables or values of other sorts | an atom, which holds for all different values |
//! | any other formula of other sorts than datatypes | none |
//! | any other term of other sorts than datatypes | a variable |
//!
//! The disequality of a datatype has axioms: different constructors make different values, and so do different fields. As a lemma, it
//! has the goal that no value differs from itself. Sorts whose disequalities only lemmas mention have axioms if the lemmas are used.

use rustc_hash::FxHashMap;
use shofar_horn::HornGraph;
use shofar_horn::graph::{EdgeId, NodeId};
use shofar_horn::witness::{AtomOrder, PureAtom, PureClause, Saturation, Weights};
use shofar_logic::{ConstructorId, Op, Sort, Substitution, Symbol, Term, TermStore, Value};
use shofar_run::Stop;

use super::saturate::Member;
use super::terms::{Atom, Bank, Clause, Id, Node};
use crate::Run;
use crate::regular::clauses::{self, pure_clauses};

/// A relation of the engine.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Relation {
    Distinct(Sort),
    Node(NodeId),
}

/// A symbol of terms.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Symbols {
    Constructor(ConstructorId),
    Value(Term),
}

/// The clauses of a graph.
pub(super) struct Problem<'a> {
    store: &'a TermStore,
    pub(super) graph: &'a HornGraph,
    pub(super) bank: Bank,
    /// Constructors, then values.
    symbols: Vec<Symbols>,
    numbers: FxHashMap<Symbols, u32>,
    /// The number of constructors.
    pub(super) constructors: u32,
    /// Disequalities, then nodes.
    pub(super) relations: Vec<Relation>,
    relation_numbers: FxHashMap<Relation, usize>,
    /// The clauses with heads.
    pub(super) clauses: Vec<Clause>,
    /// The clauses without heads.
    pub(super) goals: Vec<Clause>,
    /// Goals that are true, and help to prove others.
    pub(super) lemmas: Vec<Clause>,
    /// The sorts whose disequality has axioms.
    axiomatic: Vec<Sort>,
    /// The edges that clauses and goals come from. The sources of an edge are the first atoms of the body.
    edges: FxHashMap<Clause, EdgeId>,
}

impl<'a> Problem<'a> {
    pub(super) fn new(run: &Run<'a>, graph: &'a HornGraph) -> Result<Self, Stop> {
        let store = run.store;
        let mut pure = Vec::new();
        for clause in pure_clauses(run, graph)? {
            run.go_on()?;
            pure.extend(weakened(run, clause)?);
        }
        let mut problem = Problem {
            store,
            graph,
            bank: Bank::default(),
            symbols: Vec::new(),
            numbers: FxHashMap::default(),
            constructors: 0,
            relations: Vec::new(),
            relation_numbers: FxHashMap::default(),
            clauses: Vec::new(),
            goals: Vec::new(),
            lemmas: Vec::new(),
            axiomatic: Vec::new(),
            edges: FxHashMap::default(),
        };
        let unequal: Vec<Sort> =
            pure.iter().flat_map(|clause| &clause.unequal).map(|&(a, _)| store.sort_of(a)).collect();
        let results = graph.nodes().filter_map(|(_, node)| node.sorts(store).pop());
        let sorts = problem.sorts(unequal.iter().copied().chain(results).collect());
        problem.number_symbols(&pure, &sorts);
        for pure in &pure {
            let clause = problem.clause(pure);
            if problem.edges.contains_key(&clause) {
                continue;
            }
            problem.edges.insert(clause.clone(), pure.edge);
            let kind = if clause.head.is_some() { &mut problem.clauses } else { &mut problem.goals };
            kind.push(clause);
        }
        problem.add_axioms(unequal);
        Ok(problem)
    }

    /// The edge that a clause comes from. Axioms and lemmas come from none.
    pub(super) fn edge(&self, clause: &Clause) -> Option<EdgeId> {
        self.edges.get(clause).copied()
    }

    /// Adds the axioms of the disequalities of sorts, and of the sorts of their fields.
    pub(super) fn add_axioms(&mut self, sorts: Vec<Sort>) {
        for sort in self.sorts(sorts) {
            if !self.axiomatic.contains(&sort) {
                self.axiomatic.push(sort);
                self.axioms(sort);
            }
        }
    }

    /// What [`forget`](Self::forget) needs to undo what is added from now on.
    pub(super) fn mark(&self) -> [usize; 3] {
        [self.clauses.len(), self.lemmas.len(), self.axiomatic.len()]
    }

    /// Forgets clauses and lemmas that were added after the mark.
    pub(super) fn forget(&mut self, [clauses, lemmas, axiomatic]: [usize; 3]) {
        self.clauses.truncate(clauses);
        self.lemmas.truncate(lemmas);
        self.axiomatic.truncate(axiomatic);
    }

    /// The predicates, with their relations and the sorts of their arguments.
    pub(super) fn predicates(&self) -> Vec<(usize, Vec<Sort>)> {
        let relations = self.relations.iter().enumerate();
        let predicates = relations.filter_map(|(relation, kind)| match *kind {
            Relation::Node(node) => Some((relation, self.graph.node(node).sorts(self.store))),
            Relation::Distinct(_) => None,
        });
        predicates.collect()
    }

    /// The relation that is the disequality of a sort, if lemmas may mention it.
    pub(super) fn distinct(&self, sort: Sort) -> Option<usize> {
        self.relation_numbers.get(&Relation::Distinct(sort)).copied()
    }

    /// Sorts with the sorts of the fields of their values.
    fn sorts(&self, mut open: Vec<Sort>) -> Vec<Sort> {
        let mut sorts: Vec<Sort> = Vec::new();
        while let Some(sort) = open.pop() {
            if sorts.contains(&sort) {
                continue;
            }
            sorts.push(sort);
            let constructors = self.store.datatype(sort).map_or(&[][..], |datatype| datatype.constructors());
            let fields = constructors.iter().flat_map(|&it| self.store.constructor(it).fields.iter());
            open.extend(fields.map(|&(_, sort)| sort));
        }
        sorts
    }

    /// Gives numbers to relations and constructors. Constructors with more fields have the higher precedence, and predicates
    /// that are declared later.
    fn number_symbols(&mut self, pure: &[clauses::PureClause], sorts: &[Sort]) {
        let store = self.store;
        let distinct = sorts.iter().map(|&sort| Relation::Distinct(sort));
        self.relations = distinct.chain(self.graph.nodes().map(|(node, _)| Relation::Node(node))).collect();
        self.relation_numbers = self.relations.iter().copied().zip(0..).collect();
        let atoms = pure.iter().flat_map(|clause| clause.body.iter().chain(&clause.head));
        let mut terms: Vec<Term> = atoms.flat_map(|(_, arguments)| arguments.iter().copied()).collect();
        terms.extend(pure.iter().flat_map(|clause| clause.unequal.iter().flat_map(|&(a, b)| [a, b])));
        let used = store.subterms(&terms).into_iter().map(|term| store.sort_of(term));
        let all = self.sorts(used.chain(sorts.iter().copied()).collect());
        let constructors = all.iter().filter_map(|&sort| store.datatype(sort));
        let mut constructors: Vec<ConstructorId> =
            constructors.flat_map(|datatype| datatype.constructors().iter().copied()).collect();
        constructors.sort_by_key(|&it| (store.constructor(it).fields.len(), store.constructor(it).name, it));
        for constructor in constructors {
            self.symbol(Symbols::Constructor(constructor));
        }
        self.constructors = u32::try_from(self.symbols.len()).expect("there are less constructors");
    }

    fn symbol(&mut self, symbol: Symbols) -> u32 {
        let next = u32::try_from(self.symbols.len()).expect("there are less symbols");
        *self.numbers.entry(symbol).or_insert_with(|| {
            self.symbols.push(symbol);
            next
        })
    }

    /// Whether a relation is the disequality of another sort than a datatype.
    pub(super) fn is_given(&self, relation: usize) -> bool {
        match self.relations[relation] {
            Relation::Distinct(sort) => self.store.datatype(sort).is_none(),
            Relation::Node(_) => false,
        }
    }

    /// Whether a relation is a disequality.
    pub(super) fn is_distinct(&self, relation: usize) -> bool {
        matches!(self.relations[relation], Relation::Distinct(_))
    }

    // ---- into the engine ---------------------------------------------------------------------------------------

    fn clause(&mut self, clause: &clauses::PureClause) -> Clause {
        let mut variables: FxHashMap<Term, u32> = FxHashMap::default();
        let mut atom = |problem: &mut Self, relation: Relation, arguments: &[Term]| Atom {
            relation: problem.relation_numbers[&relation],
            arguments: arguments.iter().map(|&term| problem.term(term, &mut variables)).collect(),
        };
        let head = clause.head.as_ref().map(|(node, it)| atom(self, Relation::Node(*node), it));
        let mut body: Vec<Atom> =
            clause.body.iter().map(|(node, it)| atom(self, Relation::Node(*node), it)).collect();
        for &(a, b) in &clause.unequal {
            body.push(atom(self, Relation::Distinct(self.store.sort_of(a)), &[a, b]));
        }
        self.bank.numbered(&Clause { body, head })
    }

    /// A term of the engine. Other terms than variables, constructors and values become variables.
    fn term(&mut self, term: Term, variables: &mut FxHashMap<Term, u32>) -> Id {
        let store = self.store;
        let mut known: FxHashMap<Term, Id> = FxHashMap::default();
        let mut open = vec![term];
        while let Some(&term) = open.last() {
            if known.contains_key(&term) {
                open.pop();
                continue;
            }
            let made = match store.view(term) {
                (Op::Construct(constructor), fields) => {
                    let before = open.len();
                    open.extend(fields.iter().filter(|field| !known.contains_key(field)));
                    if open.len() > before {
                        continue;
                    }
                    let fields = fields.iter().map(|field| known[field]).collect();
                    Node::Application(self.symbol(Symbols::Constructor(constructor)), fields)
                }
                _ if is_value(store, term) => {
                    Node::Application(self.symbol(Symbols::Value(term)), Box::default())
                }
                _ => {
                    let next = u32::try_from(variables.len()).expect("a clause has less variables");
                    Node::Variable(*variables.entry(term).or_insert(next))
                }
            };
            known.insert(term, self.bank.term(made));
            open.pop();
        }
        known[&term]
    }

    /// Adds the axioms of the disequality of a sort.
    fn axioms(&mut self, sort: Sort) {
        let store = self.store;
        let relation = self.relation_numbers[&Relation::Distinct(sort)];
        let x = self.bank.variable(0);
        let itself = Atom { relation, arguments: [x, x].into() };
        self.lemmas.push(Clause { body: vec![itself], head: None });
        let Some(datatype) = store.datatype(sort) else { return };
        for &c in datatype.constructors() {
            for &d in datatype.constructors() {
                let fields = [c, d].map(|it| store.constructor(it).fields.iter().map(|&(_, sort)| sort));
                let [left, right] = fields.map(Iterator::collect::<Vec<Sort>>);
                let mut next = 0..;
                let mut fresh = |bank: &mut Bank, count: usize| -> Vec<Id> {
                    next.by_ref().take(count).map(|number| bank.variable(number)).collect()
                };
                let (a, b) = (fresh(&mut self.bank, left.len()), fresh(&mut self.bank, right.len()));
                let [made, other] = [(c, &a), (d, &b)].map(|(constructor, fields)| {
                    let symbol = self.symbol(Symbols::Constructor(constructor));
                    self.bank.term(Node::Application(symbol, fields.as_slice().into()))
                });
                let head = Atom { relation, arguments: [made, other].into() };
                if c != d {
                    self.clauses.push(Clause { body: Vec::new(), head: Some(head) });
                    continue;
                }
                for (field, sort) in left.iter().enumerate() {
                    let relation = self.relation_numbers[&Relation::Distinct(*sort)];
                    let body = vec![Atom { relation, arguments: [a[field], b[field]].into() }];
                    let clause = self.bank.numbered(&Clause { body, head: Some(head.clone()) });
                    self.clauses.push(clause);
                }
            }
        }
    }

    // ---- out of the engine -------------------------------------------------------------------------------------

    /// The witness of a saturated set.
    pub(super) fn saturation(&self, members: &[Member], is_weighted: bool) -> Saturation {
        let clauses = members.iter().map(|member| self.pure_clause(member)).collect();
        let order = if is_weighted { AtomOrder::KnuthBendix(self.weights()) } else { AtomOrder::Derivations };
        Saturation { order, clauses }
    }

    /// Weights of one for all symbols.
    fn weights(&self) -> Weights {
        let mut constructors: Vec<(Symbol, u32)> = Vec::new();
        for symbol in &self.symbols {
            if let &Symbols::Constructor(constructor) = symbol {
                let name = self.store.constructor(constructor).name;
                if constructors.iter().all(|&(other, _)| other != name) {
                    constructors.push((name, 1));
                }
            }
        }
        Weights::of_nodes(1, constructors, 1, self.graph.nodes().map(|(node, _)| (node, 1)))
    }

    fn pure_clause(&self, member: &Member) -> PureClause {
        let mut variables: FxHashMap<u32, Term> = FxHashMap::default();
        let mut atom = |atom: &Atom| match self.relations[atom.relation] {
            Relation::Distinct(sort) => {
                let mut made = atom.arguments.iter().map(|&it| self.back(it, sort, &mut variables));
                let pair = [(); 2].map(|()| made.next().expect("a disequality has two sides"));
                PureAtom::distinct(sort, pair)
            }
            Relation::Node(node) => {
                let sorts = self.graph.node(node).sorts(self.store);
                let made =
                    atom.arguments.iter().zip(sorts).map(|(&it, sort)| self.back(it, sort, &mut variables));
                PureAtom::new(node, &made.collect::<Vec<Term>>())
            }
        };
        let head = member.clause.head.as_ref().map(&mut atom);
        let body = member.clause.body.iter().map(&mut atom).collect();
        let mut variables: Vec<(u32, Term)> = variables.into_iter().collect();
        variables.sort_unstable();
        let variables = variables.into_iter().map(|(_, variable)| variable).collect();
        PureClause { variables, body, head, selected: member.selected }
    }

    /// A term of the store. Sorts are known from outside.
    fn back(&self, term: Id, sort: Sort, variables: &mut FxHashMap<u32, Term>) -> Term {
        let store = self.store;
        let mut known: FxHashMap<Id, Term> = FxHashMap::default();
        let mut open = vec![(term, sort)];
        while let Some(&(term, sort)) = open.last() {
            if known.contains_key(&term) {
                open.pop();
                continue;
            }
            let made = match self.bank.node(term) {
                &Node::Variable(number) => *variables
                    .entry(number)
                    .or_insert_with(|| store.var(store.fresh_symbol(&format!("x{number}")), sort)),
                Node::Application(symbol, fields) => match self.symbols[*symbol as usize] {
                    Symbols::Value(value) => value,
                    Symbols::Constructor(constructor) => {
                        let sorts = store.constructor(constructor).fields.iter().map(|&(_, sort)| sort);
                        let before = open.len();
                        let parts = fields.iter().copied().zip(sorts);
                        open.extend(parts.filter(|(field, _)| !known.contains_key(field)));
                        if open.len() > before {
                            continue;
                        }
                        let fields: Vec<Term> = fields.iter().map(|field| known[field]).collect();
                        store.construct_term(constructor, &fields)
                    }
                },
            };
            known.insert(term, made);
            open.pop();
        }
        known[&term]
    }
}

/// Whether a term is a value of a basic sort.
fn is_value(store: &TermStore, term: Term) -> bool {
    match store.term_to_value(term) {
        Some(value @ (Value::Bool(_) | Value::Int(_) | Value::Real(_) | Value::BitVec { .. })) => {
            store.value_to_term(&value) == term
        }
        _ => false,
    }
}

/// A clause with simple formulas of other sorts solved; `None` if the others contradict each other.
fn weakened(run: &Run<'_>, mut clause: clauses::PureClause) -> Result<Option<clauses::PureClause>, Stop> {
    let store = run.store;
    let is_variable = |term: Term| matches!(store.op(term), Op::Var(_));
    let mut open = std::mem::take(&mut clause.scalar);
    let mut others: Vec<Term> = Vec::new();
    while let Some(formula) = open.pop() {
        let (atom, is_positive) = store.literal(formula);
        let binding = match (store.op(atom), store.args(atom)) {
            (Op::And, parts) if is_positive => {
                open.extend_from_slice(parts);
                continue;
            }
            (Op::Var(_), _) => (atom, store.bool(is_positive)),
            (Op::Eq, &[a, b]) if is_variable(a) || is_variable(b) => {
                let (variable, term) = if is_variable(a) { (a, b) } else { (b, a) };
                if !is_variable(term) && !is_value(store, term) {
                    others.push(formula);
                    continue;
                }
                if !is_positive {
                    clause.unequal.push((variable, term));
                    continue;
                }
                (variable, term)
            }
            _ => {
                others.push(formula);
                continue;
            }
        };
        let binding: Substitution = [binding].into_iter().collect();
        let of = |terms: &mut Vec<Term>| *terms = store.instantiate_all(terms, &binding);
        clause.body.iter_mut().chain(&mut clause.head).for_each(|(_, arguments)| of(arguments));
        [&mut open, &mut others].into_iter().for_each(of);
        for (a, b) in &mut clause.unequal {
            [*a, *b] = [*a, *b].map(|term| store.instantiate(term, &binding));
        }
        open.append(&mut others);
    }
    if others.contains(&Term::FALSE) || clause.unequal.iter().any(|(a, b)| a == b) {
        return Ok(None);
    }
    clause.unequal.retain(|&(a, b)| !(is_value(store, a) && is_value(store, b)));
    if others.len() > 1 {
        let mut solver = run.solver();
        // Formulas that the solver does not support are ignored like others.
        if solver.assert_all(&others).is_ok() && !run.is_satisfiable(&mut solver, &[])? {
            return Ok(None);
        }
    }
    Ok(Some(clause))
}
