//! Clause automata as rules over states.
//!
//! In an algebra over letters (`convolution.rs`), a clause holds if for all values of its variables, the states of its atoms'
//! arguments fit together. Which states are possible together is the language of a product automaton that reads all variables of
//! the clause at the same time. Its reachable states are a predicate `joint`, defined by rules: one for each tuple of
//! constructors of the variables.
//!
//! ```text
//! joint(q1, q2)  for  lt(x, y), lt(y, x):        joint(<zero, succ>(), <succ, zero>())      and so on
//!                                                joint(q1, q2) => joint(<succ, succ>(q1), <succ, succ>(q2))
//! ```
//!
//! *Patterns.* In `lt(x, succ(y))` the variables are at different depths. The automaton of an atom looks ahead in the variables
//! that are higher up: its state has the first constructors of their values, their *tree*, and a state of the predicate's
//! automaton for each tuple of positions at one common depth. Trees are known, so there is a `joint` predicate for each tuple of
//! trees; its arguments are states. Positions identify states: atoms that read the same tuple of positions share a variable of
//! the rule.
//!
//! *Repeated variables.* The quotient of a synchronous language by a pattern with a repeated variable may not be one. So a
//! repeated variable of an atom is renamed, and the clause gets an equation. Equations and disequations of variables are
//! *obligations* of `joint`: two values are equal if their constructors are and all fields are; they differ if their constructors
//! do or some fields do.
//!
//! *Groups.* Variables that no atom and no obligation connects are read separately. The rules for a clause derive the states of
//! all atoms from those of the groups; the last rule relates them by the predicates.
//!
//! **Why it is right.** By induction on the height of values, the states of a tuple of values are a fact of its `joint`
//! predicate. There may be more facts than tuples, since the children of a letter are taken for independent where they have no
//! common state. So facts of predicates include those that the clauses derive. For constructors with at most one field `joint` is
//! exact.
//!
//! *Source.* Yu. Kostyukov, thesis, section 3.2, algorithm Δ; the construction for patterns at once, obligations, and rules
//! instead of first-order formulas are ours.

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_horn::graph::NodeId;
use shofar_logic::{ConstructorId, Op, Sort, Substitution, Term, TermStore};
use shofar_run::{Reason, Stop};

use super::super::classes::groups;
use super::super::clauses::PureClause;
use super::super::fixpoint::{Application, Atom, Constraint, MOST_ARGUMENTS, Rule};
use super::convolution::{Convolution, scalar_fields, structured_fields};
use crate::Run;

/// The greatest depth of variables in an atom, and of trees.
const MOST_DEPTH: usize = 4;

/// The greatest numbers of rules, of tuples of trees for one rule, and of children of a tuple of values.
const MOST_RULES: usize = 20_000;
const MOST_TREES: usize = 1_000;
const MOST_CHILDREN: usize = 32;

/// The greatest number of clauses that the disequations of one clause lead to.
const MOST_CASES: usize = 256;

/// The indices of fields of datatypes, from the root.
type Path = Vec<u8>;

/// The first constructors of a value. Its depth is bounded, so functions may recur on it.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) enum Tree {
    /// Any value of a sort.
    Leaf(Sort),
    /// A constructor with the trees of its fields of datatypes.
    Node(ConstructorId, Vec<Tree>),
}

/// A component of a tuple that an atom reads: variables with the depth of their trees, and whether some path has ended.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
struct Component {
    variables: Vec<(usize, usize)>,
    has_end: bool,
}

/// The tuples that atoms read.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) struct Reading(Vec<Vec<Component>>);

/// What two variables must be.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) struct Obligation {
    pub(super) variables: (usize, usize),
    pub(super) are_equal: bool,
}

/// A tuple of values that is read: the trees of the variables, what atoms read, and obligations. Each variable is read or has an
/// obligation.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Configuration {
    pub(super) trees: Vec<Tree>,
    tuples: Vec<Vec<Component>>,
    pub(super) obligations: Vec<Obligation>,
}

/// A term of a pattern, or the part of a variable's value at a path.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) enum Part {
    Term(Term),
    At(usize, Path),
}

/// What has a state.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) enum Key {
    /// A tuple of values.
    Tuple(Vec<Part>),
    /// The field of a constructor that is not of a datatype.
    Field(usize, Path, u32),
    /// A term of another sort.
    Value(Term),
}

/// Why there are no rules.
pub(super) enum Failure {
    TooLarge,
    Interrupted(Reason),
}

impl From<Reason> for Failure {
    fn from(reason: Reason) -> Self {
        Failure::Interrupted(reason)
    }
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::TooLarge => Stop::Exhausted("synchronous automata for the clauses are too large"),
            Failure::Interrupted(reason) => Stop::Interrupted(reason),
        }
    }
}

impl Tree {
    /// The tree at a path.
    pub(super) fn at(&self, path: &[u8]) -> &Tree {
        path.iter().fold(self, |tree, &step| match tree {
            Tree::Node(_, trees) => &trees[usize::from(step)],
            Tree::Leaf(_) => tree,
        })
    }

    pub(super) fn sort(&self, store: &TermStore) -> Sort {
        match self {
            Tree::Leaf(sort) => *sort,
            Tree::Node(id, _) => store.constructor(*id).sort,
        }
    }

    /// The paths of a length, and whether there are shorter ones that cannot be continued.
    fn paths(&self, length: usize) -> (Vec<Path>, bool) {
        let mut has_end = false;
        let mut paths: Vec<Path> = vec![Vec::new()];
        for _ in 0..length {
            let mut longer: Vec<Path> = Vec::new();
            for path in paths {
                match self.at(&path) {
                    Tree::Node(_, trees) if !trees.is_empty() => {
                        longer.extend((0..trees.len()).map(|step| [&path[..], &[step as u8]].concat()));
                    }
                    _ => has_end = true,
                }
            }
            paths = longer;
        }
        (paths, has_end)
    }

    /// All trees that are one level deeper.
    fn deeper(&self, store: &TermStore) -> Vec<Tree> {
        match self {
            Tree::Leaf(sort) => {
                let constructors = store.datatype(*sort).map_or(&[][..], |datatype| datatype.constructors());
                let node = |&id: &ConstructorId| {
                    let fields = &store.constructor(id).fields;
                    let leaf = |field: u32| Tree::Leaf(fields[field as usize].1);
                    Tree::Node(id, structured_fields(store, id).into_iter().map(leaf).collect())
                };
                constructors.iter().map(node).collect()
            }
            Tree::Node(id, trees) => {
                let deeper: Vec<Vec<Tree>> = trees.iter().map(|tree| tree.deeper(store)).collect();
                products(&deeper, MOST_TREES + 1).into_iter().map(|trees| Tree::Node(*id, trees)).collect()
            }
        }
    }

    /// The paths of the constructors of the tree.
    pub(super) fn nodes(&self) -> Vec<(Path, ConstructorId)> {
        let mut nodes = Vec::new();
        let mut open: Vec<Path> = vec![Vec::new()];
        while let Some(path) = open.pop() {
            if let Tree::Node(id, trees) = self.at(&path) {
                open.extend((0..trees.len()).map(|step| [&path[..], &[step as u8]].concat()));
                nodes.push((path, *id));
            }
        }
        nodes
    }

    /// Whether two trees have different constructors at a common path.
    fn differs(&self, other: &Tree) -> bool {
        match (self, other) {
            (Tree::Node(a, of_a), Tree::Node(b, of_b)) => {
                a != b || of_a.iter().zip(of_b).any(|(a, b)| a.differs(b))
            }
            _ => false,
        }
    }
}

/// One element of each list, in all ways, up to a number.
fn products<T: Clone>(lists: &[Vec<T>], most: usize) -> Vec<Vec<T>> {
    let mut products: Vec<Vec<T>> = vec![Vec::new()];
    for list in lists {
        let longer = products.iter().flat_map(|product| {
            list.iter().map(move |element| [&product[..], std::slice::from_ref(element)].concat())
        });
        products = longer.take(most).collect();
    }
    products
}

impl Configuration {
    /// Drops variables without tree, then those that nothing reads, and numbers the others anew. Returns the old numbers. `None`
    /// if no variable is left.
    fn new(
        trees: &[Option<Tree>],
        tuples: &[Vec<Component>],
        obligations: &[Obligation],
    ) -> Option<(Self, Vec<usize>)> {
        let mut used: Vec<bool> = vec![false; trees.len()];
        for &(variable, _) in tuples.iter().flatten().flat_map(|component| &component.variables) {
            used[variable] = true;
        }
        let is_live = |obligation: &&Obligation| {
            trees[obligation.variables.0].is_some() && trees[obligation.variables.1].is_some()
        };
        for &Obligation { variables: (a, b), .. } in obligations.iter().filter(is_live) {
            (used[a], used[b]) = (true, true);
        }
        let live: Vec<usize> =
            (0..trees.len()).filter(|&variable| used[variable] && trees[variable].is_some()).collect();
        if live.is_empty() {
            return None;
        }
        let number = |variable: usize| live.iter().position(|&other| other == variable);
        let component = |Component { variables, has_end }: &Component| {
            let kept: Vec<(usize, usize)> =
                variables.iter().filter_map(|&(variable, depth)| Some((number(variable)?, depth))).collect();
            let has_end = *has_end || kept.len() < variables.len();
            (!kept.is_empty()).then_some(Component { variables: kept, has_end })
        };
        let tuple = |tuple: &Vec<Component>| tuple.iter().filter_map(component).collect::<Vec<Component>>();
        let mut tuples: Vec<Vec<Component>> =
            tuples.iter().map(tuple).filter(|tuple| !tuple.is_empty()).collect();
        tuples.sort();
        tuples.dedup();
        let renamed = |obligation: &Obligation| {
            let (a, b) = obligation.variables;
            Some(Obligation { variables: (number(a)?, number(b)?), are_equal: obligation.are_equal })
        };
        let mut obligations: Vec<Obligation> = obligations.iter().filter_map(renamed).collect();
        obligations.sort();
        obligations.dedup();
        let trees = live.iter().filter_map(|&variable| trees[variable].clone()).collect();
        Some((Configuration { trees, tuples, obligations }, live))
    }

    pub(super) fn reading(&self) -> Reading {
        Reading(self.tuples.clone())
    }

    /// The tuples of positions that have a state, and the fields above them that are not of datatypes.
    pub(super) fn keys(&self, convolution: &Convolution, store: &TermStore) -> Vec<Key> {
        let mut keys: FxHashSet<Key> = FxHashSet::default();
        for tuple in &self.tuples {
            let positions = |component: &Component| {
                let mut has_end = component.has_end;
                let mut positions: Vec<Option<Part>> = Vec::new();
                for &(variable, depth) in &component.variables {
                    let (paths, ended) = self.trees[variable].paths(depth);
                    positions.extend(paths.into_iter().map(|path| Some(Part::At(variable, path))));
                    has_end |= ended;
                }
                positions.extend(has_end.then_some(None));
                positions
            };
            let positions: Vec<Vec<Option<Part>>> = tuple.iter().map(positions).collect();
            for product in products(&positions, usize::MAX) {
                let parts: Vec<Part> = product.into_iter().flatten().collect();
                if !parts.is_empty() {
                    keys.insert(Key::Tuple(parts));
                }
            }
            for &(variable, depth) in tuple.iter().flat_map(|component| &component.variables) {
                for (path, id) in
                    self.trees[variable].nodes().into_iter().filter(|(path, _)| path.len() < depth)
                {
                    let fields = scalar_fields(store, &convolution.partition, id).into_iter();
                    keys.extend(fields.map(|field| Key::Field(variable, path.clone(), field)));
                }
            }
        }
        let mut keys: Vec<Key> = keys.into_iter().collect();
        keys.sort();
        keys
    }
}

/// The rules of all clauses.
pub(super) struct ClauseAutomata<'a> {
    run: &'a Run<'a>,
    convolution: &'a Convolution,
    /// By nodes: the arguments that are read together.
    blocks: &'a [Vec<Vec<usize>>],
    pub(super) rules: Vec<Rule>,
    /// The number of predicates.
    pub(super) predicates: usize,
    /// The `joint` predicates.
    pub(super) joint: FxHashMap<Configuration, usize>,
    /// Those without rules.
    open: Vec<Configuration>,
}

/// A clause whose atoms have no repeated variables.
struct LinearClause {
    variables: Vec<Term>,
    /// By atoms, the head last: the blocks.
    atoms: Vec<Vec<Vec<Term>>>,
    obligations: Vec<Obligation>,
    scalar: Vec<Term>,
}

impl<'a> ClauseAutomata<'a> {
    pub(super) fn new(run: &'a Run<'a>, convolution: &'a Convolution, blocks: &'a [Vec<Vec<usize>>]) -> Self {
        let (rules, joint, open) = Default::default();
        ClauseAutomata { run, convolution, blocks, rules, predicates: blocks.len(), joint, open }
    }

    /// Adds the rules of a clause.
    pub(super) fn add(&mut self, clause: &PureClause) -> Result<(), Failure> {
        for case in without_unequal_terms(self.run.store, clause)? {
            self.add_clause(&case)?;
        }
        while let Some(configuration) = self.open.pop() {
            self.run.go_on()?;
            self.add_steps(&configuration)?;
        }
        Ok(())
    }

    fn new_predicate(&mut self) -> usize {
        self.predicates += 1;
        self.predicates - 1
    }

    fn add_rule(&mut self, rule: Rule) -> Result<(), Failure> {
        let atoms = rule.body.iter().chain(&rule.head);
        if self.rules.len() >= MOST_RULES
            || atoms.into_iter().any(|atom| atom.arguments.len() > MOST_ARGUMENTS)
        {
            return Err(Failure::TooLarge);
        }
        self.rules.push(rule);
        Ok(())
    }

    /// The predicate of a configuration.
    fn joint(&mut self, configuration: &Configuration) -> usize {
        if let Some(&known) = self.joint.get(configuration) {
            return known;
        }
        let predicate = self.new_predicate();
        self.joint.insert(configuration.clone(), predicate);
        self.open.push(configuration.clone());
        predicate
    }

    /// Adds the rules that derive the states of a configuration from those of its children.
    fn add_steps(&mut self, configuration: &Configuration) -> Result<(), Failure> {
        let store = self.run.store;
        let head = self.joint(configuration);
        let keys = configuration.keys(self.convolution, store);
        let deeper: Vec<Vec<Tree>> = configuration.trees.iter().map(|tree| tree.deeper(store)).collect();
        let all = products(&deeper, MOST_TREES + 1);
        if all.len() > MOST_TREES {
            return Err(Failure::TooLarge);
        }
        for trees in all {
            self.run.go_on()?;
            for inherited in inherited_obligations(store, &trees, &configuration.obligations) {
                let mut builder = RuleBuilder::new(store, self.convolution, &trees);
                for (child, variables, steps) in children(&trees, &configuration.tuples, &inherited)? {
                    let predicate = self.joint(&child);
                    let from_root = |key: Key| key.below(&variables, &steps);
                    let keys = child.keys(self.convolution, store).into_iter().map(from_root);
                    let arguments = keys.map(|key| builder.variable(key)).collect();
                    builder.rule.body.push(Atom { predicate, arguments });
                }
                let arguments = keys.iter().map(|key| builder.state(key.clone())).collect();
                builder.rule.head = Some(Atom { predicate: head, arguments });
                self.add_rule(builder.rule)?;
            }
        }
        Ok(())
    }

    fn add_clause(&mut self, clause: &PureClause) -> Result<(), Failure> {
        let store = self.run.store;
        let blocks = self.blocks;
        let of_atom = |(node, arguments): &(NodeId, Vec<Term>)| {
            let block = |block: &Vec<usize>| block.iter().map(|&at| arguments[at]).collect::<Vec<Term>>();
            blocks[node.index()].iter().map(block).collect::<Vec<Vec<Term>>>()
        };
        let atoms: Vec<Vec<Vec<Term>>> = clause.body.iter().chain(&clause.head).map(of_atom).collect();
        let clause_atoms: Vec<NodeId> =
            clause.body.iter().chain(&clause.head).map(|(node, _)| *node).collect();
        let linear = LinearClause::new(store, atoms, clause)?;
        let mut last = RuleBuilder::new(store, self.convolution, &[]);
        for (tuples, variables) in linear.groups(store) {
            self.add_group(&linear, &tuples, &variables, &mut last)?;
        }
        let mut literals: Vec<Atom> = Vec::new();
        for (node, atom) in clause_atoms.iter().zip(&linear.atoms) {
            let key = |block: &Vec<Term>| match store.datatype(store.sort_of(block[0])) {
                Some(_) => Key::Tuple(block.iter().map(|&term| Part::Term(term)).collect()),
                None => Key::Value(block[0]),
            };
            let arguments = atom.iter().map(|block| last.variable(key(block))).collect();
            literals.push(Atom { predicate: node.index(), arguments });
        }
        last.rule.head = clause.head.as_ref().and_then(|_| literals.pop());
        last.rule.body.extend(literals);
        if self.add_constraints(&linear, &mut last)? {
            self.add_rule(last.rule)?;
        }
        Ok(())
    }

    /// Adds the rules for the states of the tuples of a group, and an atom about them.
    fn add_group(
        &mut self,
        clause: &LinearClause,
        tuples: &[Vec<Term>],
        variables: &[usize],
        last: &mut RuleBuilder<'_>,
    ) -> Result<(), Failure> {
        let store = self.run.store;
        let components = tuples.iter().map(|tuple| clause.components(store, tuple));
        let components: Vec<Vec<Component>> = components.collect();
        let mut depths: Vec<usize> = vec![0; clause.variables.len()];
        for &(variable, depth) in components.iter().flatten().flat_map(|component| &component.variables) {
            depths[variable] = depths[variable].max(depth);
        }
        let mut of_variables: Vec<Vec<Option<Tree>>> = Vec::new();
        for (variable, &term) in clause.variables.iter().enumerate() {
            let mut trees = vec![Tree::Leaf(store.sort_of(term))];
            for _ in 0..depths[variable] {
                trees = trees.iter().flat_map(|tree| tree.deeper(store)).take(MOST_TREES + 1).collect();
            }
            let is_read = variables.contains(&variable);
            of_variables.push(if is_read { trees.into_iter().map(Some).collect() } else { vec![None] });
        }
        let all = products(&of_variables, MOST_TREES + 1);
        if all.len() > MOST_TREES {
            return Err(Failure::TooLarge);
        }
        let mut keys: Vec<Key> = Vec::new();
        for tuple in tuples {
            keys.push(Key::Tuple(tuple.iter().map(|&term| Part::Term(term)).collect()));
            keys.extend(clause.values(store, self.convolution, tuple).into_iter().map(Key::Value));
        }
        keys.sort();
        keys.dedup();
        let predicate = self.new_predicate();
        for trees in all {
            let whole: Vec<Tree> =
                trees.iter().map(|tree| tree.clone().unwrap_or(Tree::Leaf(Sort::BOOL))).collect();
            let mut builder = RuleBuilder::new(store, self.convolution, &whole);
            builder.variables = clause.variables.clone();
            if let Some((configuration, old)) = Configuration::new(&trees, &components, &clause.obligations) {
                let joint = self.joint(&configuration);
                let keys =
                    configuration.keys(self.convolution, store).into_iter().map(|key| key.renamed(&old));
                let arguments = keys.map(|key| builder.variable(key)).collect();
                builder.rule.body.push(Atom { predicate: joint, arguments });
            }
            let arguments = keys.iter().map(|key| builder.state(key.clone())).collect();
            builder.rule.head = Some(Atom { predicate, arguments });
            self.add_rule(builder.rule)?;
        }
        let arguments = keys.into_iter().map(|key| last.variable(key)).collect();
        last.rule.body.push(Atom { predicate, arguments });
        Ok(())
    }

    /// Adds the constraints over classes. Returns whether they have a solution.
    fn add_constraints(&self, clause: &LinearClause, last: &mut RuleBuilder<'_>) -> Result<bool, Failure> {
        let store = self.run.store;
        let partition = &self.convolution.partition;
        let mut formulas = clause.scalar.clone();
        // By variables of the clause, or for other terms new variables that are equal to them.
        let mut visible: Vec<(Term, usize)> = Vec::new();
        let value = |(key, &variable): (&Key, &usize)| match key {
            Key::Value(term) => Some((*term, variable)),
            _ => None,
        };
        let mut values: Vec<(Term, usize)> = last.known.iter().filter_map(value).collect();
        values.sort();
        for (term, variable) in values {
            if matches!(store.op(term), Op::Var(_)) {
                visible.push((term, variable));
            } else {
                let value = store.var(store.fresh_symbol("value"), store.sort_of(term));
                let is_truth = store.sort_of(term) == Sort::BOOL;
                formulas.push(if is_truth { store.iff(value, term) } else { store.eq(value, term) });
                visible.push((value, variable));
            }
        }
        let names: Vec<Term> = visible.iter().map(|&(term, _)| term).collect();
        for (formulas, of_group) in groups(store, &formulas, &names) {
            if of_group.len() > MOST_ARGUMENTS {
                continue;
            }
            let Some(tuples) = partition.tuples(self.run, &formulas, &of_group)? else { continue };
            if tuples.is_empty() {
                return Ok(false);
            }
            let number =
                |term: &Term| visible.iter().find(|(other, _)| other == term).map(|&(_, number)| number);
            let numbers: Vec<usize> = of_group.iter().filter_map(number).collect();
            if !numbers.is_empty() {
                last.rule.constraints.push(Constraint::new(&numbers, tuples));
            }
        }
        Ok(true)
    }
}

impl Key {
    /// The key for other numbers of variables.
    fn renamed(self, old: &[usize]) -> Self {
        match self {
            Key::Tuple(parts) => {
                let part = |part: Part| match part {
                    Part::At(variable, path) => Part::At(old[variable], path),
                    term => term,
                };
                Key::Tuple(parts.into_iter().map(part).collect())
            }
            Key::Field(variable, path, field) => Key::Field(old[variable], path, field),
            Key::Value(term) => Key::Value(term),
        }
    }

    /// The key of a child, seen from the root. `steps` are by variables of the root.
    fn below(self, old: &[usize], steps: &[Option<u8>]) -> Self {
        let path = |variable: usize, path: Path| {
            let step = steps[variable].expect("a variable of a child has a field");
            [&[step], &path[..]].concat()
        };
        match self.renamed(old) {
            Key::Tuple(parts) => {
                let part = |part: Part| match part {
                    Part::At(variable, of) => Part::At(variable, path(variable, of)),
                    term => term,
                };
                Key::Tuple(parts.into_iter().map(part).collect())
            }
            Key::Field(variable, of, field) => Key::Field(variable, path(variable, of), field),
            value => value,
        }
    }
}

/// An obligation of the fields that a step passes on: these fields of both values.
#[derive(Clone)]
struct Inherited {
    variables: (usize, usize),
    are_equal: bool,
    /// The field that must differ; `None` if all fields must be equal.
    field: Option<u8>,
}

/// The ways to meet obligations by the roots, or to pass them on to fields.
fn inherited_obligations(
    store: &TermStore,
    trees: &[Tree],
    obligations: &[Obligation],
) -> Vec<Vec<Inherited>> {
    let mut ways: Vec<Vec<Inherited>> = vec![Vec::new()];
    for &Obligation { variables: (a, b), are_equal } in obligations {
        let (tree_a, tree_b) = (&trees[a], &trees[b]);
        let (Tree::Node(id_a, fields), Tree::Node(id_b, _)) = (tree_a, tree_b) else { continue };
        let inherited = |field: Option<u8>| Inherited { variables: (a, b), are_equal, field };
        let choices: Vec<Option<Inherited>> = if are_equal {
            if tree_a.differs(tree_b) { Vec::new() } else { vec![Some(inherited(None))] }
        } else if id_a != id_b {
            vec![None]
        } else {
            // Fields of other sorts may differ.
            let all = store.constructor(*id_a).fields.len();
            let by_field = (0..fields.len()).map(|field| Some(inherited(Some(field as u8))));
            by_field.chain((all > fields.len()).then_some(None)).collect()
        };
        let longer = ways.iter().flat_map(|way| {
            choices.iter().map(|choice| way.iter().cloned().chain(choice.clone()).collect::<Vec<Inherited>>())
        });
        ways = longer.collect();
    }
    ways
}

/// A child of a configuration, with the variables of the root behind its own, and by variables of the root the field.
type ChildConfiguration = (Configuration, Vec<usize>, Vec<Option<u8>>);

/// The configurations of the children.
fn children(
    trees: &[Tree],
    tuples: &[Vec<Component>],
    inherited: &[Inherited],
) -> Result<Vec<ChildConfiguration>, Failure> {
    let fields = |tree: &Tree| match tree {
        Tree::Node(_, fields) if !fields.is_empty() => {
            (0..fields.len()).map(|field| Some(field as u8)).collect()
        }
        _ => vec![None],
    };
    let steps: Vec<Vec<Option<u8>>> = trees.iter().map(fields).collect();
    let all = products(&steps, MOST_CHILDREN + 1);
    if all.len() > MOST_CHILDREN {
        return Err(Failure::TooLarge);
    }
    let mut children: Vec<ChildConfiguration> = Vec::new();
    for steps in all {
        let below = |(tree, step): (&Tree, &Option<u8>)| match (tree, step) {
            (Tree::Node(_, fields), Some(step)) => Some(fields[usize::from(*step)].clone()),
            _ => None,
        };
        let trees: Vec<Option<Tree>> = trees.iter().zip(&steps).map(below).collect();
        let obligation = |of: &Inherited| {
            let (a, b) = of.variables;
            let is_here =
                steps[a] == steps[b] && steps[a].is_some() && (of.field.is_none() || of.field == steps[a]);
            is_here.then_some(Obligation { variables: of.variables, are_equal: of.are_equal })
        };
        let obligations: Vec<Obligation> = inherited.iter().filter_map(obligation).collect();
        if let Some((child, variables)) = Configuration::new(&trees, tuples, &obligations) {
            children.push((child, variables, steps));
        }
    }
    Ok(children)
}

/// Builds a rule whose variables are states.
struct RuleBuilder<'a> {
    store: &'a TermStore,
    convolution: &'a Convolution,
    trees: &'a [Tree],
    /// The variables of patterns.
    variables: Vec<Term>,
    rule: Rule,
    known: FxHashMap<Key, usize>,
}

impl<'a> RuleBuilder<'a> {
    fn new(store: &'a TermStore, convolution: &'a Convolution, trees: &'a [Tree]) -> Self {
        let (variables, rule, known) = Default::default();
        RuleBuilder { store, convolution, trees, variables, rule, known }
    }

    fn sort(&self, key: &Key) -> usize {
        let store = self.store;
        let of_part = |part: &Part| match part {
            Part::Term(term) => store.sort_of(*term),
            Part::At(variable, path) => self.trees[*variable].at(path).sort(store),
        };
        let shape: Vec<Sort> = match key {
            Key::Tuple(parts) => parts.iter().map(of_part).collect(),
            Key::Field(variable, path, field) => match self.trees[*variable].at(path) {
                Tree::Node(id, _) => vec![store.constructor(*id).fields[*field as usize].1],
                Tree::Leaf(sort) => vec![*sort],
            },
            Key::Value(term) => vec![store.sort_of(*term)],
        };
        self.convolution.shape(&shape).expect("the convolution has the shapes of all tuples of its clauses")
    }

    /// The variable of the rule for a state.
    fn variable(&mut self, key: Key) -> usize {
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        let sort = self.sort(&key);
        self.rule.sorts.push(sort);
        self.known.insert(key, self.rule.sorts.len() - 1);
        self.rule.sorts.len() - 1
    }

    /// The state of a tuple, computed from those that are known. The depth of patterns and trees is bounded.
    fn state(&mut self, key: Key) -> usize {
        let (Key::Tuple(parts), None) = (&key, self.known.get(&key)) else { return self.variable(key) };
        let parts = parts.iter().map(|part| self.resolved(part)).collect::<Vec<Part>>();
        if let Some(&known) = self.known.get(&Key::Tuple(parts.clone())) {
            self.known.insert(key, known);
            return known;
        }
        let constructors: Option<Vec<ConstructorId>> =
            parts.iter().map(|part| self.constructor(part)).collect();
        let letter = constructors.and_then(|constructors| {
            let (number, letter) = self.convolution.letter(&constructors)?;
            Some((number, letter.children.clone(), constructors))
        });
        let Some((constructor, children, constructors)) = letter else { return self.variable(key) };
        let mut fields: Vec<usize> = Vec::new();
        for child in children {
            let is_scalar = |&(component, field): &(usize, u32)| {
                let (_, sort) = self.store.constructor(constructors[component]).fields[field as usize];
                self.store.datatype(sort).is_none()
            };
            let key = match &child[..] {
                [only @ (component, field)] if is_scalar(only) => self.value(&parts[*component], *field),
                _ => Key::Tuple(
                    child
                        .iter()
                        .map(|&(at, field)| self.field(&parts[at], constructors[at], field))
                        .collect(),
                ),
            };
            fields.push(self.state(key));
        }
        let result = self.variable(key);
        self.rule.applications.push(Application { constructor, fields: fields.into(), result });
        result
    }

    /// The variable of a pattern as the root of its value.
    fn resolved(&self, part: &Part) -> Part {
        let number = match part {
            Part::Term(term) => self.variables.iter().position(|variable| variable == term),
            Part::At(..) => None,
        };
        number.map_or_else(|| part.clone(), |number| Part::At(number, Vec::new()))
    }

    fn constructor(&self, part: &Part) -> Option<ConstructorId> {
        match part {
            Part::Term(term) => match self.store.op(*term) {
                Op::Construct(id) => Some(id),
                _ => None,
            },
            Part::At(variable, path) => match self.trees[*variable].at(path) {
                Tree::Node(id, _) => Some(*id),
                Tree::Leaf(_) => None,
            },
        }
    }

    fn field(&self, part: &Part, constructor: ConstructorId, field: u32) -> Part {
        match part {
            Part::Term(term) => self.resolved(&Part::Term(self.store.args(*term)[field as usize])),
            Part::At(variable, path) => {
                let step =
                    structured_fields(self.store, constructor).iter().position(|&other| other == field);
                let step = step.expect("the field is of a datatype") as u8;
                Part::At(*variable, [&path[..], &[step]].concat())
            }
        }
    }

    fn value(&self, part: &Part, field: u32) -> Key {
        match part {
            Part::Term(term) => Key::Value(self.store.args(*term)[field as usize]),
            Part::At(variable, path) => Key::Field(*variable, path.clone(), field),
        }
    }
}

impl LinearClause {
    /// Renames repeated variables of atoms.
    fn new(store: &TermStore, mut atoms: Vec<Vec<Vec<Term>>>, clause: &PureClause) -> Result<Self, Failure> {
        let terms: Vec<Term> = atoms.iter().flatten().flatten().copied().collect();
        if terms.iter().any(|&term| height(store, term) > MOST_DEPTH) {
            return Err(Failure::TooLarge);
        }
        let unequal = clause.unequal.iter().flat_map(|&(a, b)| [a, b]);
        let mut variables: Vec<Term> = Vec::new();
        for variable in structured_variables(store, terms.into_iter().chain(unequal)) {
            if !variables.contains(&variable) {
                variables.push(variable);
            }
        }
        let number = |variables: &[Term], term: Term| {
            variables.iter().position(|&variable| variable == term).expect("all variables are there")
        };
        let difference = |&(a, b): &(Term, Term)| Obligation {
            variables: (number(&variables, a), number(&variables, b)),
            are_equal: false,
        };
        let mut obligations: Vec<Obligation> = clause.unequal.iter().map(difference).collect();
        for block in atoms.iter_mut().flatten() {
            let mut seen: FxHashSet<Term> = FxHashSet::default();
            for term in block {
                // One occurrence of a repeated variable after the other gets a name of its own.
                for variable in structured_variables(store, [*term]) {
                    if seen.insert(variable) {
                        continue;
                    }
                    let copy = store.var(store.fresh_symbol("copy"), store.sort_of(variable));
                    *term = with_last_renamed(store, *term, variable, copy);
                    variables.push(copy);
                    let pair = (number(&variables, variable), variables.len() - 1);
                    obligations.push(Obligation { variables: pair, are_equal: true });
                }
            }
        }
        Ok(LinearClause { variables, atoms, obligations, scalar: clause.scalar.clone() })
    }

    /// The tuples and variables that are connected. Tuples without variables are groups of their own.
    fn groups(&self, store: &TermStore) -> Vec<(Vec<Vec<Term>>, Vec<usize>)> {
        let mut tuples: Vec<Vec<Term>> = self
            .atoms
            .iter()
            .flatten()
            .filter(|block| store.datatype(store.sort_of(block[0])).is_some())
            .cloned()
            .collect();
        tuples.sort();
        tuples.dedup();
        let mut group: Vec<usize> = (0..self.variables.len()).collect();
        let mut join = |variables: &[usize]| {
            for pair in variables.windows(2) {
                let (from, to) = (group[pair[1]], group[pair[0]]);
                group.iter_mut().filter(|of| **of == from).for_each(|of| *of = to);
            }
        };
        let numbers = |tuple: &[Term]| -> Vec<usize> {
            let variables = structured_variables(store, tuple.iter().copied());
            variables
                .iter()
                .filter_map(|term| self.variables.iter().position(|variable| variable == term))
                .collect()
        };
        tuples.iter().for_each(|tuple| join(&numbers(tuple)));
        self.obligations
            .iter()
            .for_each(|obligation| join(&[obligation.variables.0, obligation.variables.1]));
        let mut found: Vec<(Vec<Vec<Term>>, Vec<usize>)> = Vec::new();
        for of in 0..self.variables.len() {
            let variables: Vec<usize> = (0..group.len()).filter(|&variable| group[variable] == of).collect();
            let is_of = |tuple: &&Vec<Term>| numbers(tuple).first().is_some_and(|&first| group[first] == of);
            if !variables.is_empty() {
                found.push((tuples.iter().filter(is_of).cloned().collect(), variables));
            }
        }
        found.extend(
            tuples
                .iter()
                .filter(|tuple| numbers(tuple).is_empty())
                .map(|tuple| (vec![tuple.clone()], vec![])),
        );
        found
    }

    /// What the automaton of a tuple reads.
    fn components(&self, store: &TermStore, tuple: &[Term]) -> Vec<Component> {
        let depth = tuple.iter().map(|&term| height(store, term)).max().unwrap_or(0);
        let component = |&term: &Term| {
            let (mut variables, mut has_end) = (Vec::new(), false);
            let mut open = vec![(term, 0)];
            while let Some((term, at)) = open.pop() {
                if let Some(number) = self.variables.iter().position(|&variable| variable == term) {
                    variables.push((number, depth - at));
                    continue;
                }
                let is_structured = |part: &&Term| store.datatype(store.sort_of(**part)).is_some();
                let parts: Vec<Term> = store.args(term).iter().filter(is_structured).copied().collect();
                has_end |= parts.is_empty();
                open.extend(parts.into_iter().map(|part| (part, at + 1)));
            }
            variables.sort_unstable();
            Component { variables, has_end }
        };
        tuple.iter().map(component).collect()
    }

    /// The terms of other sorts whose classes a tuple depends on.
    fn values(&self, store: &TermStore, convolution: &Convolution, tuple: &[Term]) -> Vec<Term> {
        let is_value = |term: Term| store.datatype(store.sort_of(term)).is_none();
        let parts = store.subterms_until(tuple, is_value);
        let is_divided = |term: &Term| is_value(*term) && convolution.partition.len(store.sort_of(*term)) > 1;
        parts.into_iter().filter(is_divided).collect()
    }
}

/// The variables of datatypes in constructor terms, each as often as it occurs.
fn structured_variables(store: &TermStore, terms: impl IntoIterator<Item = Term>) -> Vec<Term> {
    let mut found = Vec::new();
    let mut open: Vec<Term> = terms.into_iter().collect();
    open.reverse();
    while let Some(term) = open.pop() {
        match store.view(term) {
            (Op::Construct(_), args) => open.extend(args.iter().rev()),
            (Op::Var(_), _) if store.datatype(store.sort_of(term)).is_some() => found.push(term),
            _ => {}
        }
    }
    found
}

/// The height of a constructor term; that of variables is zero.
fn height(store: &TermStore, term: Term) -> usize {
    let mut heights: FxHashMap<Term, usize> = FxHashMap::default();
    for part in store.subterms_until(&[term], |part| store.datatype(store.sort_of(part)).is_none()) {
        let height = match store.view(part) {
            (Op::Construct(_), args) => {
                1 + args.iter().filter_map(|arg| heights.get(arg)).max().copied().unwrap_or(0)
            }
            _ => 0,
        };
        heights.insert(part, height);
    }
    heights.get(&term).copied().unwrap_or(0)
}

/// The term with another variable at the last occurrence of a variable. The depth of the term is bounded.
fn with_last_renamed(store: &TermStore, term: Term, variable: Term, copy: Term) -> Term {
    if term == variable {
        return copy;
    }
    let (Op::Construct(id), args) = store.view(term) else { return term };
    let mut args = args.to_vec();
    let contains = |&part: &Term| store.free_vars(&[part]).contains(&variable);
    if let Some(last) = args.iter().rposition(contains) {
        args[last] = with_last_renamed(store, args[last], variable, copy);
    }
    store.construct_term(id, &args)
}

/// Clauses whose disequations of datatypes are between variables, and that together say the same.
fn without_unequal_terms(store: &TermStore, clause: &PureClause) -> Result<Vec<PureClause>, Failure> {
    let mut done: Vec<PureClause> = Vec::new();
    let mut open = vec![(clause.clone(), Vec::new())];
    open[0].1 = std::mem::take(&mut open[0].0.unequal);
    let mut looked_at = 0;
    while let Some((mut case, mut pairs)) = open.pop() {
        looked_at += 1;
        if looked_at > MOST_CASES {
            return Err(Failure::TooLarge);
        }
        let Some((a, b)) = pairs.pop() else {
            done.push(case);
            continue;
        };
        if a == b {
            continue;
        }
        if store.datatype(store.sort_of(a)).is_none() {
            let is_truth = store.sort_of(a) == Sort::BOOL;
            let equal = if is_truth { store.iff(a, b) } else { store.eq(a, b) };
            case.scalar.push(store.not(equal));
            open.push((case, pairs));
            continue;
        }
        match (store.view(a), store.view(b)) {
            ((Op::Construct(of_a), fields_a), (Op::Construct(of_b), fields_b)) if of_a == of_b => {
                for pair in fields_a.iter().copied().zip(fields_b.iter().copied()) {
                    open.push((case.clone(), [&pairs[..], &[pair]].concat()));
                }
            }
            ((Op::Construct(_), _), (Op::Construct(_), _)) => open.push((case, pairs)),
            ((Op::Construct(_), _), _) | (_, (Op::Construct(_), _)) => {
                let is_made = matches!(store.op(a), Op::Construct(_));
                let (variable, made) = if is_made { (b, a) } else { (a, b) };
                if store.free_vars(&[made]).contains(&variable) {
                    open.push((case, pairs));
                    continue;
                }
                let datatype = store.datatype(store.sort_of(variable));
                for &id in datatype.map_or(&[][..], |datatype| datatype.constructors()) {
                    let field = |&(name, sort)| store.var(store.fresh_symbol(store.name(name)), sort);
                    let fields: Vec<Term> = store.constructor(id).fields.iter().map(field).collect();
                    let value = store.construct_term(id, &fields);
                    let binding: Substitution = [(variable, value)].into_iter().collect();
                    let bound = |term: Term| store.instantiate(term, &binding);
                    let mut branch = case.clone();
                    for (_, arguments) in branch.body.iter_mut().chain(&mut branch.head) {
                        *arguments = store.instantiate_all(arguments, &binding);
                    }
                    let kept = std::mem::take(&mut branch.unequal);
                    let again = pairs.iter().copied().chain(kept).chain([(a, b)]);
                    let again = again.map(|(a, b)| (bound(a), bound(b))).collect();
                    open.push((branch, again));
                }
            }
            _ => {
                case.unequal.push((a, b));
                open.push((case, pairs));
            }
        }
    }
    Ok(done)
}
