//! The abstract graph: the clauses with the components of values in place of the values.
//!
//! A predicate has the components of its arguments as arguments. A clause is translated such that each of its instances becomes
//! an instance of the abstract clause, with the components of the values:
//!
//! | clause | abstract clause |
//! |---|---|
//! | a variable of a datatype | variables for its components, which satisfy the image of the sort |
//! | a constructor term | the components by the definitions of the folds |
//! | `t = u` | a truth value that implies equal components; equal components, if it is a conjunct |
//! | a tester, or an equation with a constructor without fields | the tester among the components |
//! | a selector | a variable; if the constructor is the right one, the components are those of the constructor term |
//!
//! Nothing follows from `t != u`, unless components identify the values: different values may have equal components. So a model of the abstract clauses is a model of the
//! clauses, if predicates are applied to components. A derivation from the abstract clauses proves nothing.
//!
//! A *ghost* is one more argument of all predicates, which clauses pass on unchanged. So each clause holds for any ghost. A query
//! may choose the ghost: it has a variant for each of its integers. If one variant is excluded, the query is.
//!
//! The *image* of a sort is a formula that holds of the components of all its values, such as `len >= 0`. It is the hull of what
//! the constructors make of the images of their fields.

use rustc_hash::FxHashMap;
use shofar_horn::Context;
use shofar_horn::graph::{Application, EdgeId, HornGraph, Node, NodeId, rename};
use shofar_horn::hull::{Analysis, Division};
use shofar_logic::{ConstructorId, Op, Sort, Substitution, Term, TermStore};
use shofar_run::Stop;

use super::components::Algebra;

/// Queries for the images of all sorts.
const IMAGE_QUERIES: usize = 500;

/// The images of the sorts: formulas over variables for the components.
#[derive(Default)]
pub(super) struct Images {
    images: FxHashMap<Sort, (Box<[Term]>, Term)>,
}

impl Images {
    /// The images of datatypes; nothing is known of sorts whose images are too hard.
    pub(super) fn new(context: Context<'_>, algebra: &Algebra, sorts: &[Sort]) -> Result<Self, Stop> {
        let store = context.store;
        let mut graph = HornGraph::new();
        let mut nodes: FxHashMap<Sort, NodeId> = FxHashMap::default();
        for &sort in sorts {
            let ranges: Vec<Sort> = algebra.of(sort).iter().map(|component| component.range(store)).collect();
            nodes.insert(sort, graph.add_node(Node::new(store, store.fresh_symbol("image"), &ranges)));
        }
        let nothing = Images::default();
        for &sort in sorts {
            let Some(datatype) = store.datatype(sort) else { continue };
            for &constructor in datatype.constructors() {
                let mut clause = Clause::new(store, algebra, &nothing);
                let fields: Vec<Term> = store
                    .constructor(constructor)
                    .fields
                    .iter()
                    .map(|&(_, sort)| store.var(store.fresh_symbol("field"), sort))
                    .collect();
                let of_field = |field: &Term| nodes.get(&store.sort_of(*field)).map(|&node| (node, *field));
                let body: Vec<Application> = fields
                    .iter()
                    .filter_map(of_field)
                    .map(|(node, field)| (node, clause.vector(field).to_vec()))
                    .collect();
                let head = (nodes[&sort], clause.constructed(constructor, &fields).to_vec());
                graph.add_clause(store, &body, store.and(&clause.side), Some(&head));
            }
        }
        let mut analysis = Analysis::new(context, &graph, IMAGE_QUERIES);
        for sort in sorts {
            analysis.divide(nodes[sort], Division { inequalities: true, ..Division::default() });
        }
        let edges: Vec<EdgeId> = graph.edges().map(|(id, _)| id).collect();
        match analysis.close(&edges) {
            Ok(()) => {}
            Err(stop) => return context.interrupted().map_or(Ok(Images::default()), |_| Err(stop)),
        }
        let image = |&sort: &Sort| {
            let node = nodes[&sort];
            (sort, (graph.node(node).variables().into(), analysis.formula(node)))
        };
        Ok(Images { images: sorts.iter().map(image).collect() })
    }

    /// What holds of the components of a value.
    pub(super) fn at(&self, store: &TermStore, sort: Sort, vector: &[Term]) -> Term {
        match self.images.get(&sort) {
            Some((variables, image)) => {
                let pairs = variables.iter().copied().zip(vector.iter().copied());
                store.instantiate(*image, &pairs.collect::<Substitution>())
            }
            None => Term::TRUE,
        }
    }
}

/// Variants of a query with a ghost.
const MOST_VARIANTS: usize = 8;

/// The abstract graph, with the same nodes.
pub(super) struct Abstraction {
    pub(super) graph: HornGraph,
    /// The edges that are not queries.
    pub(super) rules: Vec<EdgeId>,
    /// The variants of each query.
    pub(super) queries: Vec<Vec<EdgeId>>,
    /// The ghost, if there is one: the last argument of all nodes.
    ghost: Option<Term>,
    /// The components of the arguments of each node, over the variables of the given graph, and the ghost.
    arguments: Vec<Vec<Term>>,
}

impl Abstraction {
    /// Translates a graph.
    pub(super) fn new(
        context: Context<'_>,
        graph: &HornGraph,
        algebra: &Algebra,
        images: &Images,
    ) -> Result<Self, Stop> {
        let store = context.store;
        let mut new = HornGraph::new();
        let mut arguments = Vec::with_capacity(graph.nodes().len());
        for (_, node) in graph.nodes() {
            let components = |&variable: &Term| match store.datatype(store.sort_of(variable)) {
                Some(_) => {
                    let components = algebra.of(store.sort_of(variable)).iter();
                    components.map(|component| component.at(store, variable)).collect()
                }
                None => vec![variable],
            };
            let terms = node.variables().iter().flat_map(components).chain(algebra.ghost());
            let terms: Vec<Term> = terms.collect();
            let sorts: Vec<Sort> = terms.iter().map(|&term| store.sort_of(term)).collect();
            new.add_node(Node::new(store, node.name, &sorts));
            arguments.push(terms);
        }
        let (mut rules, mut queries) = (Vec::new(), Vec::new());
        for (id, edge) in graph.edges() {
            context.go_on()?;
            let mut clause = Clause::new(store, algebra, images);
            let sources = edge.sources().iter().enumerate();
            let body: Vec<Application> = sources
                .map(|(source, &node)| (node, clause.arguments(graph.source_variables(id, source))))
                .collect();
            let head = edge.target().map(|node| (node, clause.arguments(graph.target_variables(id))));
            let label = clause.label(edge.label())?;
            match (head, algebra.ghost()) {
                (None, Some(ghost)) => {
                    let variants = integers(store, graph, id).into_iter().map(|integer| {
                        let chosen = Substitution::from_iter([(ghost, integer)]);
                        let at = |&term: &Term| store.substitute(term, &chosen);
                        let body: Vec<Application> =
                            body.iter().map(|(node, args)| (*node, args.iter().map(at).collect())).collect();
                        new.add_clause(store, &body, at(&label), None)
                    });
                    queries.push(variants.collect());
                }
                (None, None) => queries.push(vec![new.add_clause(store, &body, label, None)]),
                (head, _) => rules.push(new.add_clause(store, &body, label, head.as_ref())),
            }
        }
        Ok(Abstraction { graph: new, rules, queries, ghost: algebra.ghost(), arguments })
    }

    /// The position of the ghost among the arguments of a node.
    pub(super) fn ghost_position(&self, node: NodeId) -> Option<usize> {
        self.ghost.map(|_| self.arguments[node.index()].len() - 1)
    }

    /// The positions of the arguments that are integers of the given graph, or components that are integers of values.
    pub(super) fn integers(&self, store: &TermStore, algebra: &Algebra, node: NodeId) -> Vec<usize> {
        let arguments = &self.arguments[node.index()];
        let is_integer = |&at: &usize| match store.op(arguments[at]) {
            Op::Var(_) => store.sort_of(arguments[at]) == Sort::INT,
            Op::Apply(fun) => algebra.is_field(fun) && store.sort_of(arguments[at]) == Sort::INT,
            _ => false,
        };
        let end = self.ghost_position(node).unwrap_or(arguments.len());
        (0..end).filter(is_integer).collect()
    }

    /// A formula about a node of the abstract graph as a formula about the node, which applies the components. It is for all
    /// ghosts.
    pub(super) fn back(&self, store: &TermStore, node: NodeId, formula: Term) -> Term {
        let formula =
            rename(store, formula, self.graph.node(node).variables(), &self.arguments[node.index()]);
        match self.ghost {
            Some(ghost) if store.free_vars(&[formula]).contains(&ghost) => {
                store.app(Op::Forall, &[ghost, formula]).expect("the formula is one")
            }
            _ => formula,
        }
    }
}

/// Formulas over components in place of values, and the components of their variables.
pub(super) struct Abstracted {
    pub(super) formulas: Vec<Term>,
    pub(super) vectors: FxHashMap<Term, Box<[Term]>>,
}

/// Translates formulas like the constraints of clauses. All their instances are instances of the result.
pub(super) fn abstracted(
    store: &TermStore,
    algebra: &Algebra,
    images: &Images,
    formulas: &[Term],
) -> Result<Abstracted, Stop> {
    let mut clause = Clause::new(store, algebra, images);
    for variable in store.free_vars(formulas) {
        if clause.is_data(variable) {
            clause.vector(variable);
        }
    }
    let formulas = formulas.iter().map(|&formula| clause.label(formula)).collect::<Result<_, Stop>>()?;
    Ok(Abstracted { formulas, vectors: clause.vectors })
}

/// The variables of an edge that are integers.
fn integers(store: &TermStore, graph: &HornGraph, edge: EdgeId) -> Vec<Term> {
    let sources = 0..graph.edge(edge).sources().len();
    let arguments = sources.flat_map(|source| graph.source_variables(edge, source).iter().copied());
    let mut integers: Vec<Term> = Vec::new();
    for variable in arguments.chain(graph.locals(store, edge)) {
        if store.sort_of(variable) == Sort::INT && !integers.contains(&variable) {
            integers.push(variable);
        }
    }
    integers.truncate(MOST_VARIANTS);
    integers
}

/// Translates one clause. Values of datatypes are variables here: those of the clause, and new ones for other terms.
struct Clause<'a> {
    store: &'a TermStore,
    algebra: &'a Algebra,
    images: &'a Images,
    /// The components of variables.
    vectors: FxHashMap<Term, Box<[Term]>>,
    /// The fields of variables, if a constructor made them.
    opened: FxHashMap<(Term, ConstructorId), Vec<Term>>,
    /// The variables that are constructors without fields.
    constants: FxHashMap<Term, ConstructorId>,
    /// What holds of the new variables.
    side: Vec<Term>,
    /// An operator on datatypes that has no translation.
    unsupported: Option<Op>,
}

impl<'a> Clause<'a> {
    fn new(store: &'a TermStore, algebra: &'a Algebra, images: &'a Images) -> Self {
        Clause {
            store,
            algebra,
            images,
            vectors: FxHashMap::default(),
            opened: FxHashMap::default(),
            constants: FxHashMap::default(),
            side: Vec::new(),
            unsupported: None,
        }
    }

    fn is_data(&self, term: Term) -> bool {
        self.store.datatype(self.store.sort_of(term)).is_some()
    }

    /// The components of arguments, and the ghost.
    fn arguments(&mut self, variables: &[Term]) -> Vec<Term> {
        let mut arguments = Vec::new();
        for &variable in variables {
            match self.is_data(variable) {
                true => arguments.extend_from_slice(self.vector(variable)),
                false => arguments.push(variable),
            }
        }
        arguments.extend(self.algebra.ghost());
        arguments
    }

    /// The components of a variable.
    fn vector(&mut self, variable: Term) -> &[Term] {
        if !self.vectors.contains_key(&variable) {
            let (store, sort) = (self.store, self.store.sort_of(variable));
            let component = |range| store.var(store.fresh_symbol("component"), range);
            let ranges = self.algebra.of(sort).iter().map(|component| component.range(store));
            let vector: Box<[Term]> = ranges.map(component).collect();
            self.side.push(self.images.at(store, sort, &vector));
            self.vectors.insert(variable, vector);
        }
        &self.vectors[&variable]
    }

    /// A new variable with these components.
    fn with_vector(&mut self, sort: Sort, vector: Box<[Term]>) -> Term {
        let variable = self.store.var(self.store.fresh_symbol("value"), sort);
        self.vectors.insert(variable, vector);
        variable
    }

    /// The abstract label.
    fn label(&mut self, label: Term) -> Result<Term, Stop> {
        let store = self.store;
        let mut conjuncts = Vec::new();
        for conjunct in store.conjuncts(label) {
            match store.view(conjunct) {
                (Op::Eq, &[a, b]) if self.is_data(a) => {
                    let (a, b) = (self.translate(a), self.translate(b));
                    conjuncts.push(self.equal(a, b));
                }
                _ => conjuncts.push(self.translate(conjunct)),
            }
        }
        match self.unsupported {
            Some(op) => Err(Stop::Unsupported(format!("the operator {op:?} on datatypes"))),
            None => Ok(store.and_of(conjuncts.into_iter().chain(std::mem::take(&mut self.side)))),
        }
    }

    /// The term without terms of datatypes; a variable, if it is of a datatype.
    fn translate(&mut self, term: Term) -> Term {
        let store = self.store;
        store.rewrite(term, &mut |op, args| self.rebuild(op, args))
    }

    fn rebuild(&mut self, op: Op, args: &[Term]) -> Term {
        let store = self.store;
        match (op, args) {
            (Op::Construct(constructor), _) => {
                let vector = self.constructed(constructor, args);
                let value = self.with_vector(store.constructor(constructor).sort, vector);
                if args.is_empty() {
                    self.constants.insert(value, constructor);
                }
                value
            }
            (Op::Selector { constructor, field }, &[value]) => {
                self.fields(value, constructor)[field as usize]
            }
            (Op::Tester(constructor), &[value]) => self.tester(constructor, value),
            (Op::Apply(fun), &[value, ..]) if store.fold(fun).is_some() => {
                let components = self.algebra.of(store.sort_of(value)).iter();
                let position = components
                    .map(|component| store.view(component.at(store, value)))
                    .position(|known| known == (op, args));
                match position {
                    Some(position) => self.vector(value)[position],
                    None => store.var(store.fresh_symbol("component"), store.fun_decl(fun).range),
                }
            }
            (Op::Eq, &[a, b]) if self.is_data(a) => self.equation(a, b),
            (Op::Ite, &[condition, a, b]) if self.is_data(a) => {
                let (left, right) = (self.vector(a).to_vec(), self.vector(b).to_vec());
                let choices = left.into_iter().zip(right).map(|(a, b)| store.ite(condition, a, b));
                let vector = choices.collect();
                self.with_vector(store.sort_of(a), vector)
            }
            _ => {
                if args.iter().any(|&arg| self.is_data(arg)) {
                    self.unsupported = Some(op);
                }
                store.build(op, args).expect("the arguments have the sorts of those before")
            }
        }
    }

    /// The components of a constructor term.
    fn constructed(&mut self, constructor: ConstructorId, fields: &[Term]) -> Box<[Term]> {
        let store = self.store;
        let algebra = self.algebra;
        let term = store.construct_term(constructor, fields);
        let components = algebra.of(store.sort_of(term)).iter();
        components
            .map(|component| {
                let applied = component.at(store, term);
                let value = store.unfold(applied).unwrap_or(applied);
                self.translate(value)
            })
            .collect()
    }

    /// The fields of a value, if it is made by the constructor; otherwise any values.
    fn fields(&mut self, value: Term, constructor: ConstructorId) -> &[Term] {
        if !self.opened.contains_key(&(value, constructor)) {
            let store = self.store;
            let sorts = store.constructor(constructor).fields.iter();
            let fields: Vec<Term> =
                sorts.map(|&(_, sort)| store.var(store.fresh_symbol("field"), sort)).collect();
            let made = self.constructed(constructor, &fields);
            let vector = self.vector(value).to_vec();
            let is_made = self.tester(constructor, value);
            let equal = store.and_of(vector.into_iter().zip(made).map(|(a, b)| store.eq(a, b)));
            self.side.push(store.implies(is_made, equal));
            self.opened.insert((value, constructor), fields);
        }
        &self.opened[&(value, constructor)]
    }

    /// Whether a value is made by a constructor: all but the last one are components.
    fn tester(&mut self, constructor: ConstructorId, value: Term) -> Term {
        let store = self.store;
        let sort = store.sort_of(value);
        let constructors = store.datatype(sort).map_or(&[][..], |datatype| datatype.constructors());
        let testers: Vec<Term> = self.vector(value)[..constructors.len() - 1].to_vec();
        match constructors.iter().position(|&other| other == constructor) {
            Some(position) if position < testers.len() => testers[position],
            _ => store.and_of(testers.into_iter().map(|tester| store.not(tester))),
        }
    }

    /// A formula that is true if two values are equal, and means nothing otherwise, except for constructors without fields and
    /// for sorts whose components tell all values apart.
    fn equation(&mut self, a: Term, b: Term) -> Term {
        let store = self.store;
        if let Some(positions) = self.algebra.identifying(store, store.sort_of(a)) {
            let (left, right) = (self.vector(a).to_vec(), self.vector(b).to_vec());
            return store.and_of(positions.into_iter().map(|at| store.eq(left[at], right[at])));
        }
        for (constant, other) in [(a, b), (b, a)] {
            if let Some(&constructor) = self.constants.get(&constant) {
                return self.tester(constructor, other);
            }
        }
        let is_equal = store.var(store.fresh_symbol("equal"), Sort::BOOL);
        let equal = self.equal(a, b);
        self.side.push(store.implies(is_equal, equal));
        is_equal
    }

    /// Says that the components of two values are equal.
    fn equal(&mut self, a: Term, b: Term) -> Term {
        let store = self.store;
        let (left, right) = (self.vector(a).to_vec(), self.vector(b).to_vec());
        store.and_of(left.into_iter().zip(right).map(|(a, b)| store.eq(a, b)))
    }
}
