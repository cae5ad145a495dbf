//! Clauses over constructor terms as rules over states.
//!
//! The signature has a sort for each datatype and each other sort of the clauses. Sorts that are not datatypes have a constant for each
//! class of values (`classes.rs`). A rule has a variable for each term of its clause.
//!
//! *Disequalities.* A finite algebra has no predicate that means "different": two terms may have the same state. A
//! disequality of terms of sort `s` becomes an atom of the predicate `different_s` with the clauses
//!
//! ```text
//! different_s(c(x, ..), d(y, ..))                                 constructors c and d are not the same
//! different_t(x, y) => different_s(c(.., x, ..), c(.., y, ..))      x and y at the same place of sort t
//! ```
//!
//! Its least model among terms is the disequality. Among states it holds for all states of different terms, and so weakens
//! the constraint.

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_horn::HornGraph;
use shofar_logic::{ConstructorId, Op, Sort, Term, TermStore};
use shofar_run::Reason;

use super::automaton::{Constructor, Signature, State, Tuple};
use super::classes::{Partition, groups};
use super::clauses::PureClause;
use super::fixpoint::{Application, Atom, Constraint, MOST_ARGUMENTS, Program, Rule};
use crate::Run;

/// The clauses in the terms of a signature.
pub(super) struct Encoding {
    pub(super) signature: Signature,
    /// By sorts: the strongly connected component of a datatype.
    pub(super) components: Vec<Option<usize>>,
    pub(super) sorts: Vec<Sort>,
    pub(super) partition: Partition,
    pub(super) program: Program,
    /// By nodes: the sorts of the arguments.
    pub(super) arguments: Vec<Box<[usize]>>,
    /// The constructors of datatypes.
    pub(super) constructors: FxHashMap<ConstructorId, usize>,
    numbers: FxHashMap<Sort, usize>,
}

impl Encoding {
    /// The encoding of clauses for a partition of the integers.
    pub(super) fn new(
        run: &Run<'_>,
        graph: &HornGraph,
        clauses: &[PureClause],
        partition: Partition,
    ) -> Result<Self, Reason> {
        let store = run.store;
        let sorts = sorts(store, graph, clauses);
        let numbers: FxHashMap<Sort, usize> =
            sorts.iter().enumerate().map(|(at, &sort)| (sort, at)).collect();
        let mut signature = Signature { sorts: sorts.len(), constructors: Vec::new() };
        let mut constructors = FxHashMap::default();
        for (number, &sort) in sorts.iter().enumerate() {
            match store.datatype(sort) {
                Some(datatype) => {
                    for &id in datatype.constructors() {
                        constructors.insert(id, signature.constructors.len());
                        let fields = store.constructor(id).fields.iter().map(|(_, field)| numbers[field]);
                        signature.constructors.push(Constructor { sort: number, fields: fields.collect() });
                    }
                }
                None => {
                    let class = Constructor { sort: number, fields: [].into() };
                    signature.constructors.extend(vec![class; partition.len(sort)]);
                }
            }
        }
        let is_datatype: Vec<bool> = sorts.iter().map(|&sort| store.datatype(sort).is_some()).collect();
        let components = components(&signature, &is_datatype);
        let arguments = graph
            .nodes()
            .map(|(_, node)| node.sorts(store).iter().map(|sort| numbers[sort]).collect())
            .collect();
        let program = Program::new(0, Vec::new());
        let mut encoding =
            Encoding { signature, components, sorts, partition, program, arguments, constructors, numbers };
        let mut rules = Vec::new();
        for clause in clauses {
            rules.extend(RuleBuilder::new(store, &encoding).rule(run, clause)?);
        }
        encoding.add_differences(store, &mut rules);
        encoding.program = Program::new(encoding.arguments.len() + encoding.sorts.len(), rules);
        Ok(encoding)
    }

    /// The predicate that means "different" for a sort.
    fn difference(&self, sort: usize) -> usize {
        self.arguments.len() + sort
    }

    /// Adds the clauses of differences for all sorts that are compared.
    fn add_differences(&self, store: &TermStore, rules: &mut Vec<Rule>) {
        let first = self.arguments.len();
        let atoms = rules.iter().flat_map(|rule| &rule.body).map(|atom| atom.predicate);
        let mut open: Vec<usize> = atoms.filter_map(|predicate| predicate.checked_sub(first)).collect();
        let mut seen: FxHashSet<usize> = FxHashSet::default();
        while let Some(sort) = open.pop() {
            if !seen.insert(sort) {
                continue;
            }
            if self.components[sort].is_none() {
                rules.push(self.different_classes(sort));
                continue;
            }
            let datatype = store.datatype(self.sorts[sort]);
            let constructors = datatype.map_or(&[][..], |datatype| datatype.constructors());
            for a in constructors.iter().map(|id| self.constructors[id]) {
                for b in constructors.iter().map(|id| self.constructors[id]) {
                    if a != b {
                        rules.push(self.different(sort, a, b, None));
                    }
                }
                for (place, &field) in self.signature.constructors[a].fields.iter().enumerate() {
                    rules.push(self.different(sort, a, a, Some(place)));
                    open.push(field);
                }
            }
        }
    }

    /// Values of two constructors are different; if there is a place, then because of the fields there.
    fn different(&self, sort: usize, a: usize, b: usize, place: Option<usize>) -> Rule {
        let mut rule = Rule::default();
        let mut made = |constructor: usize| -> (Box<[usize]>, usize) {
            let fields = self.signature.constructors[constructor].fields.iter();
            let mut new = |sort: usize| {
                rule.sorts.push(sort);
                rule.sorts.len() - 1
            };
            let fields: Box<[usize]> = fields.map(|&sort| new(sort)).collect();
            let result = new(sort);
            rule.applications.push(Application { constructor, fields: fields.clone(), result });
            (fields, result)
        };
        let ((of_a, a), (of_b, b)) = (made(a), made(b));
        if let Some(place) = place {
            let predicate = self.difference(rule.sorts[of_a[place]]);
            rule.body.push(Atom { predicate, arguments: [of_a[place], of_b[place]].into() });
        }
        rule.head = Some(Atom { predicate: self.difference(sort), arguments: [a, b].into() });
        rule
    }

    /// Two values of classes are different, unless they are in the same class of one value.
    fn different_classes(&self, sort: usize) -> Rule {
        let of = self.sorts[sort];
        let classes = self.partition.len(of) as State;
        let pairs = (0..classes).flat_map(|a| (0..classes).map(move |b| (a, b)));
        let differ = pairs.filter(|&(a, b)| a != b || !self.partition.is_single(of, a));
        let tuples: Vec<Tuple> = differ.map(|(a, b)| [a, b].into()).collect();
        Rule {
            sorts: vec![sort; 2],
            constraints: vec![Constraint::new(&[0, 1], tuples)],
            head: Some(Atom { predicate: self.difference(sort), arguments: [0, 1].into() }),
            ..Rule::default()
        }
    }
}

/// Builds the rule of a clause.
struct RuleBuilder<'a> {
    store: &'a TermStore,
    encoding: &'a Encoding,
    rule: Rule,
    variables: FxHashMap<Term, usize>,
    /// Variables of sorts that are not datatypes, as terms.
    visible: Vec<Term>,
    /// Formulas about them.
    formulas: Vec<Term>,
}

impl<'a> RuleBuilder<'a> {
    fn new(store: &'a TermStore, encoding: &'a Encoding) -> Self {
        RuleBuilder {
            store,
            encoding,
            rule: Rule::default(),
            variables: FxHashMap::default(),
            visible: Vec::new(),
            formulas: Vec::new(),
        }
    }

    /// The rule; `None` if its constraint has no solution.
    fn rule(mut self, run: &Run<'_>, clause: &PureClause) -> Result<Option<Rule>, Reason> {
        for (node, arguments) in &clause.body {
            let arguments = arguments.iter().map(|&argument| self.variable(argument)).collect();
            self.rule.body.push(Atom { predicate: node.index(), arguments });
        }
        for &(a, b) in &clause.unequal {
            let arguments: Box<[usize]> = [self.variable(a), self.variable(b)].into();
            let predicate = self.encoding.difference(self.rule.sorts[arguments[0]]);
            self.rule.body.push(Atom { predicate, arguments });
        }
        if let Some((node, arguments)) = &clause.head {
            let arguments = arguments.iter().map(|&argument| self.variable(argument)).collect();
            self.rule.head = Some(Atom { predicate: node.index(), arguments });
        }
        self.formulas.extend(&clause.scalar);
        let partition = &self.encoding.partition;
        let is_divided = |&variable: &Term| partition.len(self.store.sort_of(variable)) > 1;
        let visible: Vec<Term> = self.visible.iter().copied().filter(is_divided).collect();
        for (formulas, variables) in groups(self.store, &self.formulas, &visible) {
            if variables.len() > MOST_ARGUMENTS {
                continue;
            }
            let Some(tuples) = partition.tuples(run, &formulas, &variables)? else { continue };
            if tuples.is_empty() {
                return Ok(None);
            }
            let numbers: Vec<usize> = variables.iter().map(|variable| self.variables[variable]).collect();
            if !numbers.is_empty() {
                self.rule.constraints.push(Constraint::new(&numbers, tuples));
            }
        }
        Ok(Some(self.rule))
    }

    /// The variable of the rule for a constructor term or a term of another sort.
    fn variable(&mut self, term: Term) -> usize {
        let store = self.store;
        let mut open = vec![term];
        while let Some(&term) = open.last() {
            if self.variables.contains_key(&term) {
                open.pop();
                continue;
            }
            let sort = self.encoding.numbers[&store.sort_of(term)];
            if let (Op::Construct(id), fields) = store.view(term) {
                let missing: Vec<Term> =
                    fields.iter().copied().filter(|field| !self.variables.contains_key(field)).collect();
                if !missing.is_empty() {
                    open.extend(missing);
                    continue;
                }
                let fields = fields.iter().map(|field| self.variables[field]).collect();
                let result = self.rule.sorts.len();
                let constructor = self.encoding.constructors[&id];
                self.rule.applications.push(Application { constructor, fields, result });
            } else if self.encoding.components[sort].is_none() {
                if matches!(store.op(term), Op::Var(_)) {
                    self.visible.push(term);
                } else {
                    let value = store.var(store.fresh_symbol("value"), store.sort_of(term));
                    self.formulas.push(store.eq(value, term));
                    self.visible.push(value);
                    self.variables.insert(value, self.rule.sorts.len());
                }
            }
            self.variables.insert(term, self.rule.sorts.len());
            self.rule.sorts.push(sort);
            open.pop();
        }
        self.variables[&term]
    }
}

/// The sorts of arguments and terms, and those of fields.
fn sorts(store: &TermStore, graph: &HornGraph, clauses: &[PureClause]) -> Vec<Sort> {
    let arguments = graph.nodes().flat_map(|(_, node)| node.variables().iter().copied());
    let of_clause = |clause: &PureClause| {
        let atoms = clause.body.iter().chain(&clause.head).flat_map(|(_, arguments)| arguments.clone());
        atoms.chain(clause.unequal.iter().flat_map(|&(a, b)| [a, b])).collect::<Vec<Term>>()
    };
    let terms: Vec<Term> = arguments.chain(clauses.iter().flat_map(of_clause)).collect();
    let is_scalar = |term: Term| store.datatype(store.sort_of(term)).is_none();
    let mut open: Vec<Sort> =
        store.subterms_until(&terms, is_scalar).iter().rev().map(|&term| store.sort_of(term)).collect();
    let mut seen: FxHashSet<Sort> = FxHashSet::default();
    let mut sorts = Vec::new();
    while let Some(sort) = open.pop() {
        if seen.insert(sort) {
            sorts.push(sort);
            let constructors = store.datatype(sort).map_or(&[][..], |datatype| datatype.constructors());
            let fields = constructors.iter().flat_map(|&id| store.constructor(id).fields.iter());
            open.extend(fields.map(|&(_, field)| field));
        }
    }
    sorts
}

/// By sorts: the strongly connected component of a datatype, named by its first member.
pub(super) fn components(signature: &Signature, is_datatype: &[bool]) -> Vec<Option<usize>> {
    let mut reaches = vec![vec![false; signature.sorts]; signature.sorts];
    for constructor in &signature.constructors {
        constructor.fields.iter().for_each(|&field| reaches[constructor.sort][field] = true);
    }
    for via in 0..signature.sorts {
        for from in 0..signature.sorts {
            if reaches[from][via] {
                let row = reaches[via].clone();
                reaches[from].iter_mut().zip(row).for_each(|(reached, more)| *reached |= more);
            }
        }
    }
    let component = |sort: usize| {
        let mutual = |&other: &usize| other == sort || reaches[sort][other] && reaches[other][sort];
        is_datatype[sort].then(|| (0..signature.sorts).find(mutual).unwrap_or(sort))
    };
    (0..signature.sorts).map(component).collect()
}
