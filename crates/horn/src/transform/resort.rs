//! Represents the values of some sorts by vectors of values of other sorts, throughout a graph.
//!
//! | before | after |
//! |---|---|
//! | `P(x)`, where `x` is a pair of numbers | `P(x.first, x.second)` |
//! | `x = pair(a, b)`, `x != y` | `x.first = a and x.second = b`, `x.first != y.first or x.second != y.second` |
//!
//! A [`Representation`] says how: it maps values one-to-one to vectors of *components*. A variable becomes one variable
//! for each component. Labels are rebuilt bottom-up, with a vector of terms for each subterm of a represented sort:
//! equations and `ite` go by component, and the representation itself knows constructors, selectors and testers. Other
//! operators keep their arguments: a declared function, a field of a recursive datatype or an index of an array takes
//! the *packed* term, made from the components; a represented term that such an operator yields is *unpacked* by
//! selectors.
//!
//! - R1: `pack` and `unpack` are inverse to each other on vectors in range. So two values are equal exactly if all of
//!   their components are.
//! - R2: the label of a new edge implies that the vectors of all its variables are in range. So each fact of the new
//!   graph represents exactly one fact of the old graph, and the graphs have the same answer.
//!
//! A selector on a value of another constructor may have any value, but equal arguments have equal values. It becomes a
//! fresh local variable, one for each selector and argument of a clause; the label says that equal arguments give equal
//! ones. Nothing relates these variables across clauses, so the new clauses imply the old ones whatever the selectors
//! mean there, and a model of the new graph gives one of the old graph. A derivation may use a value that the selectors
//! of some interpretation do not have. The translation keeps it, and the checker rejects the step: evaluation gives such
//! a selector no value.
//!
//! The way back: a model gets the unpacked arguments, and the facts of a derivation are packed. Arrays of components
//! cannot be unpacked without quantifiers: a model that compares them says so of their elements at all indices. A model that
//! does more than to read and compare them is not translated.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::{Assignment, ConstructorId, Op, Sort, Substitution, Term, TermStore, Value};
use shofar_run::Stop;

use crate::Context;
use crate::graph::{EdgeId, HornGraph, Node, NodeId};
use crate::transform::{Image, Lemma, Transformed, Translation};
use crate::witness::{Derivation, GraphModel};

/// One place of the vectors that represent the values of a sort.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Component {
    /// Names the variables of the component.
    pub(super) name: String,
    pub(super) sort: Sort,
}

/// A field read from a vector.
pub(super) struct Read {
    /// The components of the field, in range if the vector is.
    pub(super) field: Vec<Term>,
    /// Whether the vector represents a value that has the field.
    pub(super) is_present: Term,
}

/// A component of an old term.
#[derive(Clone, Copy)]
pub(super) enum Part {
    /// This term.
    Term(Term),
    /// The array of the components at this place of the elements of an array.
    Array(Term, usize),
}

/// Represents the values of some sorts by vectors. Array sorts may be among them: the vector of an array has an array
/// for each component of an element, with the same indices.
///
/// Vectors have a term for each of [`components`](Self::components). All arguments are normal terms, and so are results.
/// Constructors are those of represented datatypes.
pub(super) trait Representation: Send + Sync {
    /// The components of a sort's values; `None` if the sort stays as it is.
    fn components(&self, sort: Sort) -> Option<&[Component]>;

    /// Whether a vector represents a value.
    fn range(&self, store: &TermStore, sort: Sort, vector: &[Term]) -> Term;

    /// The vector of a constructor applied to fields, given by their own vectors. A field of a sort that stays is a
    /// vector of one term.
    fn construct(&self, store: &TermStore, constructor: ConstructorId, fields: &[&[Term]]) -> Vec<Term>;

    /// A field of a value.
    fn select(&self, store: &TermStore, constructor: ConstructorId, field: usize, vector: &[Term]) -> Read;

    /// Whether the constructor made a value.
    fn test(&self, store: &TermStore, constructor: ConstructorId, vector: &[Term]) -> Term;

    /// The vector of a term of a represented sort; `None` if no terms express it.
    fn unpack(&self, store: &TermStore, term: Term) -> Option<Vec<Term>>;

    /// The term of a represented sort that a vector stands for; `None` if no term expresses it.
    fn pack(&self, store: &TermStore, sort: Sort, vector: &[Term]) -> Option<Term>;

    /// A component of a term, by its place in the vector; `None` if no term expresses it.
    fn component(&self, store: &TermStore, term: Term, at: usize) -> Option<Part> {
        self.unpack(store, term)?.get(at).copied().map(Part::Term)
    }

    /// The value that a vector of values represents.
    fn value(&self, store: &TermStore, sort: Sort, vector: &[Value]) -> Option<Value> {
        let vector: Vec<Term> = vector.iter().map(|value| store.value_to_term(value)).collect();
        store.eval(self.pack(store, sort, &vector)?, &Assignment::new()).ok()
    }
}

/// The graph over components. `None` if nothing changes, if a term cannot be packed or unpacked, if a quantifier binds a
/// represented variable, or if the context is interrupted.
pub(super) fn resort<R: Representation + 'static>(
    context: &Context<'_>,
    graph: &HornGraph,
    representation: R,
) -> Option<Transformed> {
    let store = context.store;
    let mut variables = Variables::default();
    let mut new = HornGraph::new();
    for (_, node) in graph.nodes() {
        new.add_node(components_of(store, &representation, &mut variables, node));
    }
    let mut is_same = graph.nodes().zip(new.nodes()).all(|(old, new)| old == new);
    for (id, edge) in graph.edges() {
        if context.interrupted().is_some() {
            return None;
        }
        let mut rebuilding = Rebuilding::new(store, &representation, &mut variables);
        let label = rebuilding.rebuild(edge.label())?;
        let open = rebuilding.open_selectors();
        let sources = 0..edge.sources().len();
        let mut mentioned = store.free_vars(&[edge.label()]);
        mentioned.extend(sources.flat_map(|source| graph.source_variables(id, source)));
        mentioned.extend(graph.target_variables(id));
        mentioned.sort_unstable();
        mentioned.dedup();
        let in_range = mentioned.iter().filter_map(|variable| {
            Some(representation.range(store, store.sort_of(*variable), variables.get(variable)?))
        });
        let label = store.and_of(in_range.chain([label, open]));
        is_same &= label == edge.label();
        new.add_edge(edge.sources(), edge.target(), label);
    }
    if is_same {
        return None;
    }
    let old: Vec<Box<[Term]>> = graph.nodes().map(|(_, node)| node.variables().into()).collect();
    let is_argument: FxHashSet<Term> = old.iter().flatten().copied().collect();
    let vectors = variables.into_iter().filter(|(variable, _)| is_argument.contains(variable));
    let vectors = vectors.map(|(variable, vector)| (variable, vector.to_vec().into())).collect();
    let targets = graph.edges().map(|(_, edge)| edge.target()).collect();
    let is_unpacked = |&variable: &Term| {
        representation.components(store.sort_of(variable)).is_none()
            || representation.unpack(store, variable).is_some()
    };
    let is_renaming = old.iter().flatten().all(is_unpacked);
    let translation = Resorted { representation, variables: old, vectors, targets, is_renaming };
    Some(Transformed { graph: new, translation: Box::new(translation) })
}

/// The vectors of the represented variables.
type Variables = FxHashMap<Term, Rc<[Term]>>;

/// The node with a variable for each component.
fn components_of(
    store: &TermStore,
    representation: &impl Representation,
    variables: &mut Variables,
    node: &Node,
) -> Node {
    node.with_variables(|variable| match representation.components(store.sort_of(variable)) {
        None => vec![variable],
        Some(components) => vector_of(store, components, variables, variable).to_vec(),
    })
}

/// The vector of a represented variable: fresh variables when it is met first.
fn vector_of(
    store: &TermStore,
    components: &[Component],
    variables: &mut Variables,
    variable: Term,
) -> Rc<[Term]> {
    let fresh = || {
        let name = match store.op(variable) {
            Op::Var(name) => store.name(name),
            _ => "value",
        };
        // Without the number that made the name fresh.
        let stem = name.split('!').next().unwrap_or(name);
        fresh_vector(store, stem, components)
    };
    Rc::clone(variables.entry(variable).or_insert_with(fresh))
}

fn fresh_vector(store: &TermStore, stem: &str, components: &[Component]) -> Rc<[Term]> {
    let fresh = |component: &Component| {
        store.var(store.fresh_symbol(&format!("{stem}.{}", component.name)), component.sort)
    };
    components.iter().map(fresh).collect()
}

// ---- terms -------------------------------------------------------------------------------------------------

/// Rebuilds terms that belong together, such as the label of an edge.
struct Rebuilding<'a, R> {
    store: &'a TermStore,
    representation: &'a R,
    variables: &'a mut Variables,
    /// The vectors of represented terms, and the images of other terms that change.
    vectors: FxHashMap<Term, Rc<[Term]>>,
    /// The values of selectors on other constructors.
    open: FxHashMap<(ConstructorId, u32), Vec<Open>>,
}

/// The value of a selector where it is left open.
struct Open {
    argument: Rc<[Term]>,
    value: Rc<[Term]>,
    /// Whether the value is in range, if it is of a represented sort.
    range: Term,
}

impl<'a, R: Representation> Rebuilding<'a, R> {
    fn new(store: &'a TermStore, representation: &'a R, variables: &'a mut Variables) -> Self {
        let (vectors, open) = Default::default();
        Rebuilding { store, representation, variables, vectors, open }
    }

    /// The formula over components.
    fn rebuild(&mut self, formula: Term) -> Option<Term> {
        let store = self.store;
        for term in store.subterms(&[formula]) {
            let is_touched = || store.args(term).iter().any(|arg| self.vectors.contains_key(arg));
            if self.is_represented(term) || is_touched() {
                let vector = self.vector(term)?;
                self.vectors.insert(term, vector);
            }
        }
        Some(self.vectors.get(&formula).map_or(formula, |vector| vector[0]))
    }

    fn is_represented(&self, term: Term) -> bool {
        self.representation.components(self.store.sort_of(term)).is_some()
    }

    /// The vector of a term whose arguments have theirs. A term of a sort that stays has a vector of one term.
    fn vector(&mut self, term: Term) -> Option<Rc<[Term]>> {
        let (store, representation) = (self.store, self.representation);
        let (op, args) = store.view(term);
        let is_represented = self.is_represented(term);
        let of_represented = args.first().is_some_and(|&first| self.is_represented(first));
        let sort = store.sort_of(term);
        Some(match (op, args) {
            (Op::Var(_), _) => vector_of(store, representation.components(sort)?, self.variables, term),
            (Op::Forall | Op::Exists, _) => return None,
            (Op::Eq, &[a, b]) if of_represented => [self.equal(a, b)].into(),
            (Op::Distinct, _) if of_represented => {
                let pairs =
                    args.iter().enumerate().flat_map(|(n, &a)| args[..n].iter().map(move |&b| (a, b)));
                [store.and_of(pairs.map(|(a, b)| store.not(self.equal(a, b))))].into()
            }
            (Op::Ite, &[condition, a, b]) if is_represented => {
                let condition = self.of(&condition)[0];
                let branches = self.of(&a).iter().zip(self.of(&b));
                branches.map(|(&a, &b)| store.ite(condition, a, b)).collect()
            }
            (Op::Select, &[array, index]) if of_represented => {
                let index = self.packed(index)?;
                self.of(&array).iter().map(|&array| store.select(array, index)).collect()
            }
            (Op::Store, &[array, index, element]) if is_represented => {
                let index = self.packed(index)?;
                let elements = self.of(&array).iter().zip(self.of(&element));
                elements.map(|(&array, &element)| store.store_array(array, index, element)).collect()
            }
            (Op::ConstArray(_), &[element]) if is_represented => {
                let components = representation.components(sort)?.iter().zip(self.of(&element));
                components.map(|(array, &element)| store.const_array(array.sort, element)).collect()
            }
            (Op::Construct(constructor), _) if is_represented => {
                let fields: Vec<&[Term]> = args.iter().map(|field| self.of(field)).collect();
                representation.construct(store, constructor, &fields).into()
            }
            (Op::Selector { constructor, field }, [value]) if of_represented => {
                let read = representation.select(store, constructor, field as usize, self.of(value));
                self.selected(constructor, field, *value, read)
            }
            (Op::Tester(constructor), [value]) if of_represented => {
                [representation.test(store, constructor, self.of(value))].into()
            }
            _ => {
                let packed: Option<Vec<Term>> = args.iter().map(|&arg| self.packed(arg)).collect();
                let built = store.build(op, &packed?).ok()?;
                if is_represented { representation.unpack(store, built)?.into() } else { [built].into() }
            }
        })
    }

    /// The vector of a finished term.
    fn of<'t>(&'t self, term: &'t Term) -> &'t [Term] {
        self.vectors.get(term).map_or(std::slice::from_ref(term), |vector| vector)
    }

    /// A finished term in its own sort, over components.
    fn packed(&self, term: Term) -> Option<Term> {
        match self.vectors.get(&term) {
            None => Some(term),
            Some(vector) if self.is_represented(term) => {
                self.representation.pack(self.store, self.store.sort_of(term), vector)
            }
            Some(vector) => Some(vector[0]),
        }
    }

    fn equal(&self, a: Term, b: Term) -> Term {
        equal_vectors(self.store, self.of(&a), self.of(&b))
    }

    /// A field: that of the vector if it has it, and otherwise a value of its own for each argument.
    fn selected(&mut self, constructor: ConstructorId, field: u32, value: Term, read: Read) -> Rc<[Term]> {
        if read.is_present == Term::TRUE {
            return read.field.into();
        }
        let store = self.store;
        let argument: Rc<[Term]> = self.of(&value).into();
        let known = self.open.entry((constructor, field)).or_default();
        let position = known.iter().position(|open| open.argument == argument);
        let position = position.unwrap_or_else(|| {
            let (name, sort) = store.constructor(constructor).fields[field as usize];
            let stem = store.name(name);
            let (value, range) = match self.representation.components(sort) {
                Some(components) => {
                    let value = fresh_vector(store, stem, components);
                    let range = self.representation.range(store, sort, &value);
                    (value, range)
                }
                None => ([store.var(store.fresh_symbol(stem), sort)].into(), Term::TRUE),
            };
            known.push(Open { argument, value, range });
            known.len() - 1
        });
        let open = known[position].value.iter();
        open.zip(&read.field).map(|(&open, &field)| store.ite(read.is_present, field, open)).collect()
    }

    /// What is known of selectors on other constructors: their values are in range, and equal for equal arguments.
    fn open_selectors(&self) -> Term {
        let store = self.store;
        let mut selectors: Vec<&(ConstructorId, u32)> = self.open.keys().collect();
        selectors.sort_unstable();
        let mut known = Vec::new();
        for open in selectors.into_iter().map(|selector| &self.open[selector]) {
            for (number, a) in open.iter().enumerate() {
                known.push(a.range);
                known.extend(open[..number].iter().map(|b| {
                    let arguments = equal_vectors(store, &a.argument, &b.argument);
                    store.implies(arguments, equal_vectors(store, &a.value, &b.value))
                }));
            }
        }
        store.and(&known)
    }
}

fn equal_vectors(store: &TermStore, a: &[Term], b: &[Term]) -> Term {
    store.and_of(a.iter().zip(b).map(|(&a, &b)| store.eq(a, b)))
}

// ---- the translation -----------------------------------------------------------------------------------------

struct Resorted<R> {
    representation: R,
    /// The variables of the old nodes.
    variables: Vec<Box<[Term]>>,
    /// The vectors of those that are represented.
    vectors: FxHashMap<Term, Box<[Term]>>,
    /// The targets of the edges.
    targets: Vec<Option<NodeId>>,
    /// Whether all arguments can be unpacked.
    is_renaming: bool,
}

impl<R: Representation> Translation for Resorted<R> {
    /// Facts of both graphs correspond to each other. A lemma that depends on an open selector holds for the meaning of
    /// that selector, which the new graph does not have.
    fn forward(&self, context: &Context<'_>, lemma: Lemma) -> Image {
        let store = context.store;
        let mut variables: Variables =
            self.vectors.iter().map(|(&variable, vector)| (variable, vector[..].into())).collect();
        let mut rebuilding = Rebuilding::new(store, &self.representation, &mut variables);
        match rebuilding.rebuild(store.normalize(lemma.formula)) {
            Some(formula) if rebuilding.open.is_empty() => Lemma { formula, ..lemma }.into(),
            _ => Image::Inexpressible,
        }
    }

    fn is_renaming(&self) -> bool {
        self.is_renaming
    }

    fn model_back(&self, context: &Context<'_>, model: GraphModel) -> Result<GraphModel, Stop> {
        let store = context.store;
        let formula = |node: usize| -> Result<Term, Stop> {
            context.go_on()?;
            let formula = model.formula(NodeId::new(node))?;
            let mut unpacked = Substitution::new();
            let mut components: FxHashMap<Term, (Term, usize)> = FxHashMap::default();
            for &variable in &self.variables[node] {
                let Some(vector) = self.vectors.get(&variable) else { continue };
                match self.representation.unpack(store, variable) {
                    Some(terms) => unpacked.extend(vector.iter().copied().zip(terms)),
                    None => {
                        let places = vector.iter().enumerate();
                        components.extend(places.map(|(at, &component)| (component, (variable, at))));
                    }
                }
            }
            let formula = self.reads_back(store, formula, &components).ok_or_else(inexpressible)?;
            Ok(store.instantiate(formula, &unpacked))
        };
        let formulas: Result<Vec<Term>, Stop> = (0..self.variables.len()).map(formula).collect();
        Ok(GraphModel::of_formulas(formulas?))
    }

    fn derivation_back(&self, context: &Context<'_>, mut derivation: Derivation) -> Result<Derivation, Stop> {
        for (number, step) in derivation.steps.iter_mut().enumerate() {
            context.go_on()?;
            let fact = self.fact(context.store, step.edge, &step.fact);
            step.fact = fact.ok_or_else(|| Stop::Internal(format!("step {number} derives no fact")))?;
        }
        Ok(derivation)
    }
}

/// The terms of a formula that are finished on their way back.
#[derive(Default)]
struct Reading {
    /// Arrays of components: the old array and the place of the component in its elements; `None` after writes.
    arrays: FxHashMap<Term, Option<(Term, usize)>>,
    /// The images of other terms that change.
    images: FxHashMap<Term, Term>,
}

impl Reading {
    fn image(&self, term: Term) -> Term {
        self.images.get(&term).copied().unwrap_or(term)
    }
}

fn inexpressible() -> Stop {
    Stop::Unsupported("a model that does more with arrays of fields than to read and compare them".to_owned())
}

impl<R: Representation> Resorted<R> {
    /// The formula with reads of the old arrays instead of reads of their components. If two arrays of components are
    /// equal, so are their elements at all indices: that has a quantifier. `None` if the formula does anything else with
    /// a component than to read or compare it, after any number of writes.
    fn reads_back(
        &self,
        store: &TermStore,
        formula: Term,
        components: &FxHashMap<Term, (Term, usize)>,
    ) -> Option<Term> {
        if components.is_empty() {
            return Some(formula);
        }
        let mut reading = Reading::default();
        for term in store.subterms(&[formula]) {
            let image = match store.view(term) {
                _ if let Some(&(variable, at)) = components.get(&term) => {
                    self.representation.component(store, variable, at)?
                }
                (Op::Store, &[array, index, element])
                    if reading.arrays.contains_key(&array)
                        && !reading.arrays.contains_key(&index)
                        && !reading.arrays.contains_key(&element) =>
                {
                    reading.arrays.insert(term, None);
                    continue;
                }
                (Op::Select, &[array, index]) if reading.arrays.contains_key(&array) => {
                    let index = (!reading.arrays.contains_key(&index)).then(|| reading.image(index))?;
                    self.read_back(store, &reading, array, index)?
                }
                (Op::Eq, &[left, right])
                    if reading.arrays.contains_key(&left) || reading.arrays.contains_key(&right) =>
                {
                    Part::Term(self.equal_everywhere(store, &reading, [left, right])?)
                }
                (_, args) if args.iter().any(|arg| reading.arrays.contains_key(arg)) => return None,
                (op, args) if args.iter().any(|arg| reading.images.contains_key(arg)) => {
                    let args: Vec<Term> = args.iter().map(|&arg| reading.image(arg)).collect();
                    Part::Term(match args.iter().any(|&arg| store.is_quantified(arg)) {
                        true => store.app(op, &args).ok()?,
                        false => store.build(op, &args).ok()?,
                    })
                }
                _ => continue,
            };
            match image {
                Part::Term(image) => _ = reading.images.insert(term, image),
                Part::Array(array, at) => _ = reading.arrays.insert(term, Some((array, at))),
            }
        }
        Some(reading.image(formula))
    }

    /// The element of an array at an index, which is finished.
    fn read_back(&self, store: &TermStore, reading: &Reading, array: Term, index: Term) -> Option<Part> {
        let mut writes = Vec::new();
        let mut below = array;
        let whole = loop {
            match (reading.arrays.get(&below), store.view(below)) {
                (None, _) => break Part::Term(reading.image(below)),
                (Some(&Some((array, at))), _) => break Part::Array(array, at),
                (Some(None), (Op::Store, &[array, written, element])) => {
                    writes.push((reading.image(written), reading.image(element)));
                    below = array;
                }
                (Some(None), _) => return None,
            }
        };
        let element = self.element(store, whole, index)?;
        if writes.is_empty() {
            return Some(element);
        }
        let Part::Term(unwritten) = element else { return None };
        Some(Part::Term(writes.into_iter().rev().fold(unwritten, |below, (written, element)| {
            store.ite(store.eq(written, index), element, below)
        })))
    }

    /// The element of an array without writes to its components.
    fn element(&self, store: &TermStore, array: Part, index: Term) -> Option<Part> {
        match array {
            Part::Term(array) => Some(Part::Term(store.select(array, index))),
            Part::Array(array, at) => self.representation.component(store, store.select(array, index), at),
        }
    }

    /// That two arrays have the same elements at all indices, and so have elements that are arrays themselves.
    fn equal_everywhere(
        &self,
        store: &TermStore,
        reading: &Reading,
        [left, right]: [Term; 2],
    ) -> Option<Term> {
        let mut sort = store.sort_of(left);
        let mut bound = Vec::new();
        let mut sides: Option<(Part, Part)> = None;
        let equal = loop {
            let (index, element) = store.array_parts(sort)?;
            sort = element;
            let index = store.var(store.fresh_symbol("index"), index);
            bound.push(index);
            let (left, right) = match sides {
                None => (
                    self.read_back(store, reading, left, index)?,
                    self.read_back(store, reading, right, index)?,
                ),
                Some((left, right)) => {
                    (self.element(store, left, index)?, self.element(store, right, index)?)
                }
            };
            match (left, right) {
                (Part::Term(left), Part::Term(right)) => break store.eq(left, right),
                others => sides = Some(others),
            }
        };
        bound.push(equal);
        store.app(Op::Forall, &bound).ok()
    }

    /// The old fact that a step derives.
    fn fact(&self, store: &TermStore, edge: EdgeId, values: &[Value]) -> Option<Box<[Value]>> {
        let Some(node) = *self.targets.get(edge.index())? else { return Some([].into()) };
        let mut rest = values;
        let mut value = |variable: &Term| {
            let length = self.vectors.get(variable).map_or(1, |vector| vector.len());
            let vector;
            (vector, rest) = rest.split_at_checked(length)?;
            match self.vectors.contains_key(variable) {
                true => self.representation.value(store, store.sort_of(*variable), vector),
                false => Some(vector[0].clone()),
            }
        };
        let fact: Option<Box<[Value]>> = self.variables[node.index()].iter().map(&mut value).collect();
        fact.filter(|_| rest.is_empty())
    }
}
