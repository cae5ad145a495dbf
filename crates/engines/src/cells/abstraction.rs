//! From arrays to elements: the clauses about cells that follow from clauses about arrays.
//!
//! A *layout* says which elements a predicate speaks of. With one index for two arrays, of which the second one starts at the
//! argument `b`:
//!
//! ```text
//! P(x, b, a1, a2)    stands for    for all k: P'(x, b, k, a1[k], a2[b + k])
//! ```
//!
//! Under this reading a clause about `P` follows from each of these clauses about `P'`, so a model of them is one of the clauses
//! about arrays:
//!
//! - The head is about an arbitrary `k`, a new variable.
//! - Each atom of the body becomes finitely many, one for each choice of its indices. The choices are the indices at which the
//!   clause reads or writes the array, or an array that is compared with it or made from it; those of the head are among them.
//!   *Narrow* clauses have only those of the head, if there are any. Most loops need no others, since what they read elsewhere is only
//!   written at the same place; and a clause with one atom is much easier than one with many.
//! - `select(store(a, i, v), j)` becomes `ite(i = j, v, select(a, j))`, and so for `ite` and constant arrays.
//! - What remains are reads `a[i]` of variables. They become new variables `e`, with `i = j => e = f` for two of one array.
//! - Where the body says that two arrays are equal, they are equal at all indices of the clause. Where it says that they differ,
//!   they differ at an index that is a new variable.
//!
//! Each of these steps weakens the body, or keeps its meaning. So `sat` is right, and `unsat` means nothing.
//!
//! Arrays of arrays need several steps: one step replaces the arrays of the greatest depth, and its cells may be arrays.
//!
//! Source: Monniaux & Gonnord, "Cell morphing" (SAS 2016); Braine, Gonnord & Monniaux, "Data abstraction" (SAS 2021). The bases are
//! ours.

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_horn::graph::{Application, EdgeId, Node, NodeId};
use shofar_horn::transform::solve_equations;
use shofar_horn::witness::{Derivation, GraphModel, GraphStep};
use shofar_horn::{Context, HornGraph};
use shofar_logic::{Op, Sort, SortKind, Substitution, Term, TermStore};
use shofar_run::Stop;

/// The greatest number of atoms that one atom becomes. Further ones are left out.
const MOST_ATOMS: usize = 64;

/// The greatest number of indices of one class of arrays in a clause.
const MOST_POINTS: usize = 24;

/// An index of a predicate and the elements that it selects.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Cell {
    /// The sort of the index.
    pub(super) index: Sort,
    pub(super) elements: Vec<Element>,
}

/// The element of an array that an index selects: at the base plus the index, or minus the index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Element {
    /// The position of the array.
    pub(super) array: usize,
    /// A term over the variables of the node; nothing is zero.
    pub(super) base: Option<Term>,
    pub(super) is_mirrored: bool,
}

impl Element {
    /// Where the index selects the element; by the values of the node's variables.
    fn place(self, store: &TermStore, values: &Substitution, index: Term) -> Term {
        let Some(base) = self.base else { return index };
        let base = store.instantiate(base, values);
        if self.is_mirrored { store.sub(base, index) } else { store.add(&[base, index]) }
    }

    /// The index that selects the element at a place: the inverse of `place`.
    fn index_of(self, store: &TermStore, values: &Substitution, place: Term) -> Term {
        let Some(base) = self.base else { return place };
        let base = store.instantiate(base, values);
        if self.is_mirrored { store.sub(base, place) } else { store.sub(place, base) }
    }
}

/// The cells of a predicate.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Layout {
    /// The positions of the other arguments.
    others: Vec<usize>,
    cells: Vec<Cell>,
}

impl Layout {
    pub(super) fn new(others: Vec<usize>, cells: Vec<Cell>) -> Self {
        Layout { others, cells }
    }
}

/// The values of the variables of a node.
fn valuation(node: &Node, values: &[Term]) -> Substitution {
    node.variables().iter().copied().zip(values.iter().copied()).collect()
}

/// How deep arrays are nested in a sort.
pub(super) fn depth(store: &TermStore, sort: Sort) -> usize {
    let mut greatest = 0;
    let mut open = vec![(sort, 0)];
    while let Some((sort, above)) = open.pop() {
        greatest = greatest.max(above);
        if let Some((index, element)) = store.array_parts(sort) {
            open.extend([(index, above + 1), (element, above + 1)]);
        }
    }
    greatest
}

/// The greatest depth of the arrays of a graph. Fails if values of datatypes contain arrays.
pub(super) fn depth_of(store: &TermStore, graph: &HornGraph) -> Result<usize, Stop> {
    let labels: Vec<Term> = graph.edges().map(|(_, edge)| edge.label()).collect();
    let arguments = graph.nodes().flat_map(|(_, node)| node.variables().iter().copied());
    let terms = store.subterms(&labels).into_iter().chain(arguments);
    let mut known: FxHashMap<Sort, usize> = FxHashMap::default();
    for term in terms {
        let sort = store.sort_of(term);
        if let std::collections::hash_map::Entry::Vacant(entry) = known.entry(sort) {
            if let Some(inner) = array_inside(store, sort) {
                let sort = store.display_sort(inner);
                return Err(Stop::Unsupported(format!("cells of arrays in values of sort {sort}")));
            }
            entry.insert(depth(store, sort));
        }
    }
    Ok(known.into_values().max().unwrap_or(0))
}

/// Whether values of the sort are or contain arrays.
pub(super) fn mentions_arrays(store: &TermStore, sort: Sort) -> bool {
    depth(store, sort) > 0 || array_inside(store, sort).is_some()
}

/// A datatype below the sort whose values contain arrays.
fn array_inside(store: &TermStore, sort: Sort) -> Option<Sort> {
    let mut seen: Vec<Sort> = Vec::new();
    let mut open: Vec<(Sort, Option<Sort>)> = vec![(sort, None)];
    while let Some((sort, datatype)) = open.pop() {
        match store.sort_kind(sort) {
            SortKind::Array(index, element) => {
                if datatype.is_some() {
                    return datatype;
                }
                open.extend([(*index, datatype), (*element, datatype)]);
            }
            SortKind::Datatype(_) if !seen.contains(&sort) => {
                seen.push(sort);
                let constructors =
                    store.datatype(sort).into_iter().flat_map(|datatype| datatype.constructors());
                let fields = constructors.flat_map(|&id| store.constructor(id).fields.iter());
                open.extend(fields.map(|&(_, field)| (field, Some(sort))));
            }
            _ => {}
        }
    }
    None
}

/// A clause about arrays, taken apart: its reads have become variables.
pub(super) struct Reading<'a> {
    store: &'a TermStore,
    graph: &'a HornGraph,
    edge: EdgeId,
    /// The depth of the arrays that are replaced.
    depth: usize,
    /// The images of terms.
    images: FxHashMap<Term, Term>,
    /// Arrays that are compared, or made from each other, are in one class. The classes of arrays, and those that they belong to now.
    classes: FxHashMap<Term, usize>,
    parents: Vec<usize>,
    /// The indices of each class.
    points: Vec<Vec<Term>>,
    /// The elements of arrays that are no writes, in the order in which they were found.
    elements: FxHashMap<Term, Vec<(Term, Term)>>,
    reads: FxHashMap<(Term, Term), Term>,
    /// `p => a = b`.
    equalities: Vec<(Term, Term, Term)>,
    conjuncts: Vec<Term>,
    /// The arguments of the head, without the arrays that other arrays contain.
    head: Vec<Term>,
}

impl<'a> Reading<'a> {
    /// Reads a clause.
    pub(super) fn new(store: &'a TermStore, graph: &'a HornGraph, edge: EdgeId, depth: usize) -> Self {
        let sources = 0..graph.edge(edge).sources().len();
        let given: Vec<Term> =
            sources.flat_map(|source| graph.source_variables(edge, source)).copied().collect();
        let next = graph.target_variables(edge);
        let rank = |variable: Term| (!given.contains(&variable)).then(|| u32::from(next.contains(&variable)));
        let solved = solve_equations(store, graph.edge(edge).label(), rank);
        let definitions: Substitution = solved.definitions.into_iter().collect();
        let mut reading = Reading {
            store,
            graph,
            edge,
            depth,
            images: FxHashMap::default(),
            classes: FxHashMap::default(),
            parents: Vec::new(),
            points: Vec::new(),
            elements: FxHashMap::default(),
            reads: FxHashMap::default(),
            equalities: Vec::new(),
            conjuncts: Vec::new(),
            head: Vec::new(),
        };
        let polarities = polarities(store, &solved.rest);
        for conjunct in solved.rest {
            if let (Op::Eq, &[left, right]) = store.view(conjunct)
                && reading.is_array(left)
            {
                let [left, right] = [left, right].map(|side| reading.image(side, &polarities));
                reading.equate(Term::TRUE, left, right);
            } else {
                let conjunct = reading.image(conjunct, &polarities);
                reading.conjuncts.push(conjunct);
            }
        }
        for &variable in next {
            let argument = definitions.get(variable).unwrap_or(variable);
            let argument = reading.image(argument, &polarities);
            reading.head.push(argument);
        }
        reading
    }

    fn is_array(&self, term: Term) -> bool {
        depth(self.store, self.store.sort_of(term)) == self.depth
    }

    /// The arguments of the head.
    pub(super) fn head(&self) -> &[Term] {
        &self.head
    }

    /// The term with variables for its reads.
    fn image(&mut self, term: Term, polarities: &FxHashMap<Term, Polarity>) -> Term {
        let store = self.store;
        let images = &self.images;
        let mut open = store.subterms_until(&[term], |inner| images.contains_key(&inner));
        open.retain(|inner| !images.contains_key(inner));
        for inner in open {
            let (op, args) = store.view(inner);
            let args: Vec<Term> = args.iter().map(|arg| self.images[arg]).collect();
            let image = match (op, &args[..]) {
                (Op::Select, &[array, index]) if self.is_array(array) => {
                    self.add_point(array, index);
                    self.read(array, index)
                }
                (Op::Eq, &[left, right]) if self.is_array(left) => {
                    let polarity = polarities.get(&inner).copied().unwrap_or(Polarity::BOTH);
                    self.comparison(left, right, polarity)
                }
                _ if args.is_empty() => inner,
                _ => store.build(op, &args).expect("the images have the sorts of the terms"),
            };
            if self.is_array(image)
                && let (Op::Store, &[array, index, _]) = store.view(image)
            {
                self.add_point(array, index);
            }
            self.images.insert(inner, image);
        }
        self.images[&term]
    }

    /// A variable for the truth of an equation between arrays.
    fn comparison(&mut self, left: Term, right: Term, polarity: Polarity) -> Term {
        let store = self.store;
        let truth = store.var(store.fresh_symbol("equal"), Sort::BOOL);
        if polarity.positive {
            self.equate(truth, left, right);
        }
        if polarity.negative {
            let Some((index, _)) = store.array_parts(store.sort_of(left)) else { return truth };
            let witness = store.var(store.fresh_symbol("witness"), index);
            self.add_point(left, witness);
            self.add_point(right, witness);
            let [left, right] = [left, right].map(|side| self.read(side, witness));
            self.conjuncts.push(store.or2(truth, store.not(store.eq(left, right))));
        }
        truth
    }

    fn equate(&mut self, truth: Term, left: Term, right: Term) {
        let (left_class, right_class) = (self.class_of(left), self.class_of(right));
        self.join(left_class, right_class);
        self.equalities.push((truth, left, right));
    }

    /// The class of an array.
    pub(super) fn class_of(&mut self, array: Term) -> usize {
        let store = self.store;
        let mut open = vec![array];
        let mut class: Option<usize> = None;
        while let Some(inner) = open.pop() {
            let own = match self.classes.get(&inner) {
                Some(&own) => self.find(own),
                None => {
                    let own = self.parents.len();
                    self.parents.push(own);
                    self.points.push(Vec::new());
                    self.classes.insert(inner, own);
                    match store.view(inner) {
                        (Op::Store, &[below, ..]) => open.push(below),
                        (Op::Ite, &[_, left, right]) => open.extend([left, right]),
                        _ => {}
                    }
                    own
                }
            };
            class = Some(class.map_or(own, |class| self.join(class, own)));
        }
        let class = class.expect("there is one array at least");
        self.find(class)
    }

    fn find(&self, mut class: usize) -> usize {
        while self.parents[class] != class {
            class = self.parents[class];
        }
        class
    }

    fn join(&mut self, one: usize, other: usize) -> usize {
        let (one, other) = (self.find(one), self.find(other));
        if one != other {
            self.parents[other] = one;
            for point in std::mem::take(&mut self.points[other]) {
                self.add_to(one, point);
            }
        }
        one
    }

    fn add_to(&mut self, class: usize, index: Term) {
        let points = &mut self.points[class];
        if points.len() < MOST_POINTS && !points.contains(&index) {
            points.push(index);
        }
    }

    fn add_point(&mut self, array: Term, index: Term) {
        let class = self.class_of(array);
        self.add_to(class, index);
    }

    /// The indices at which an array of the class is read or written.
    pub(super) fn points(&mut self, array: Term) -> &[Term] {
        let class = self.class_of(array);
        &self.points[class]
    }

    /// The element of an array at an index.
    fn read(&mut self, array: Term, index: Term) -> Term {
        let store = self.store;
        let mut open = vec![array];
        while let Some(&inner) = open.last() {
            if self.reads.contains_key(&(inner, index)) {
                open.pop();
                continue;
            }
            let known = |below: Term| self.reads.get(&(below, index)).copied();
            let found = match store.view(inner) {
                (Op::Store, &[below, written, element]) => match (store.eq(written, index), known(below)) {
                    (Term::TRUE, _) => Ok(element),
                    (_, None) => Err([below, below]),
                    (is_same, Some(below)) => Ok(store.ite(is_same, element, below)),
                },
                (Op::Ite, &[condition, left, right]) => match (known(left), known(right)) {
                    (Some(left), Some(right)) => Ok(store.ite(condition, left, right)),
                    _ => Err([left, right]),
                },
                (Op::ConstArray(_), &[element]) => Ok(element),
                _ => Ok(self.element(inner, index)),
            };
            match found {
                Ok(element) => {
                    self.reads.insert((inner, index), element);
                    open.pop();
                }
                Err(below) => open.extend(below),
            }
        }
        self.reads[&(array, index)]
    }

    /// The variable for an element of an array that is no write.
    fn element(&mut self, array: Term, index: Term) -> Term {
        let store = self.store;
        let elements = self.elements.entry(array).or_default();
        if let Some(&(_, element)) = elements.iter().find(|(known, _)| *known == index) {
            return element;
        }
        let (_, sort) = store.array_parts(store.sort_of(array)).expect("this is an array");
        let element = store.var(store.fresh_symbol("element"), sort);
        elements.push((index, element));
        element
    }

    /// The clause about cells, and for each of its sources the one that it comes from.
    fn abstracted(mut self, layouts: &[Layout], is_narrow: bool) -> Abstracted {
        let (store, graph) = (self.store, self.graph);
        let edge = graph.edge(self.edge);
        let mut of_head: FxHashSet<Term> = FxHashSet::default();
        let head = edge
            .target()
            .map(|node| (node, self.head_arguments(graph.node(node), &layouts[node.index()], &mut of_head)));
        let wanted = if is_narrow { of_head } else { FxHashSet::default() };
        let sources = edge.sources().iter().enumerate();
        let indices: Vec<Vec<Vec<Term>>> = sources
            .map(|(source, &node)| {
                let variables = graph.source_variables(self.edge, source);
                let values = valuation(graph.node(node), variables);
                let cells = layouts[node.index()].cells.iter();
                cells.map(|cell| self.indices(variables, &values, cell, &wanted)).collect()
            })
            .collect();
        let mut body: Vec<Application> = Vec::new();
        let mut origins: Vec<usize> = Vec::new();
        for (source, (&node, indices)) in edge.sources().iter().zip(&indices).enumerate() {
            let variables = graph.source_variables(self.edge, source);
            let values = valuation(graph.node(node), variables);
            let layout = &layouts[node.index()];
            for choice in choices(indices) {
                let mut arguments: Vec<Term> = layout.others.iter().map(|&at| variables[at]).collect();
                for (cell, &index) in layout.cells.iter().zip(&choice) {
                    self.add_cell(&mut arguments, variables, &values, cell, index);
                }
                body.push((node, arguments));
                origins.push(source);
            }
        }
        self.expand_equalities();
        self.relate_elements();
        Abstracted { body, constraint: store.and(&self.conjuncts), head, origins }
    }

    /// The arguments of the head with an arbitrary index for each cell; the places of its elements are noted.
    fn head_arguments(&mut self, node: &Node, layout: &Layout, places: &mut FxHashSet<Term>) -> Vec<Term> {
        let store = self.store;
        let variables = self.head.clone();
        let values = valuation(node, &variables);
        let mut arguments: Vec<Term> = layout.others.iter().map(|&at| variables[at]).collect();
        for cell in &layout.cells {
            let index = store.var(store.fresh_symbol("index"), cell.index);
            places.extend(self.add_cell(&mut arguments, &variables, &values, cell, index));
        }
        arguments
    }

    /// Adds an index and the elements that it selects. Returns their places.
    fn add_cell(
        &mut self,
        arguments: &mut Vec<Term>,
        variables: &[Term],
        values: &Substitution,
        cell: &Cell,
        index: Term,
    ) -> Vec<Term> {
        arguments.push(index);
        let mut places = Vec::with_capacity(cell.elements.len());
        for &element in &cell.elements {
            let place = element.place(self.store, values, index);
            let array = variables[element.array];
            self.add_point(array, place);
            arguments.push(self.read(array, place));
            places.push(place);
        }
        places
    }

    /// The indices of an atom that select elements which the clause reads or writes; the wanted ones if there are any.
    fn indices(
        &mut self,
        variables: &[Term],
        values: &Substitution,
        cell: &Cell,
        wanted: &FxHashSet<Term>,
    ) -> Vec<Term> {
        let store = self.store;
        let (mut indices, mut preferred): (Vec<Term>, Vec<Term>) = (Vec::new(), Vec::new());
        for &element in &cell.elements {
            for &point in self.points(variables[element.array]).to_vec().iter().rev() {
                let index = element.index_of(store, values, point);
                if wanted.contains(&point) && !preferred.contains(&index) {
                    preferred.push(index);
                }
                if !indices.contains(&index) {
                    indices.push(index);
                }
            }
        }
        if !preferred.is_empty() {
            return preferred;
        }
        if indices.is_empty() {
            indices.push(store.var(store.fresh_symbol("index"), cell.index));
        }
        indices
    }

    /// Equal arrays are equal at all indices of their class.
    fn expand_equalities(&mut self) {
        let store = self.store;
        for (truth, left, right) in std::mem::take(&mut self.equalities) {
            for point in self.points(left).to_vec() {
                let [left, right] = [left, right].map(|side| self.read(side, point));
                self.conjuncts.push(store.implies(truth, store.eq(left, right)));
            }
        }
    }

    /// Elements of one array at equal indices are equal.
    fn relate_elements(&mut self) {
        let store = self.store;
        let mut arrays: Vec<(Term, Vec<(Term, Term)>)> =
            std::mem::take(&mut self.elements).into_iter().collect();
        arrays.sort_unstable_by_key(|&(array, _)| array);
        for (_, elements) in arrays {
            for (number, &(index, element)) in elements.iter().enumerate() {
                for &(other, its) in &elements[..number] {
                    let premise = store.eq(index, other);
                    self.conjuncts.push(store.implies(premise, store.eq(element, its)));
                }
            }
        }
    }
}

/// A clause about cells.
struct Abstracted {
    body: Vec<Application>,
    constraint: Term,
    head: Option<Application>,
    origins: Vec<usize>,
}

/// All choices of one index for each cell; the first ones if there are many.
fn choices(indices: &[Vec<Term>]) -> Vec<Vec<Term>> {
    let mut choices: Vec<Vec<Term>> = vec![Vec::new()];
    for indices in indices {
        let extended = choices.iter().flat_map(|choice| {
            indices.iter().map(move |&index| choice.iter().copied().chain([index]).collect())
        });
        choices = extended.take(MOST_ATOMS).collect();
    }
    choices
}

/// Whether a formula occurs with an even or odd number of negations above it.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Polarity {
    positive: bool,
    negative: bool,
}

impl Polarity {
    const BOTH: Polarity = Polarity { positive: true, negative: true };

    fn negated(self) -> Self {
        Polarity { positive: self.negative, negative: self.positive }
    }
}

/// The polarities of subformulas of conjuncts.
fn polarities(store: &TermStore, conjuncts: &[Term]) -> FxHashMap<Term, Polarity> {
    let mut known: FxHashMap<Term, Polarity> = FxHashMap::default();
    let positive = Polarity { positive: true, negative: false };
    let mut open: Vec<(Term, Polarity)> = conjuncts.iter().map(|&conjunct| (conjunct, positive)).collect();
    while let Some((formula, polarity)) = open.pop() {
        let before = known.entry(formula).or_default();
        let joint = Polarity {
            positive: before.positive || polarity.positive,
            negative: before.negative || polarity.negative,
        };
        if *before == joint {
            continue;
        }
        *before = joint;
        let (op, args) = store.view(formula);
        let below = match op {
            Op::And | Op::Or => joint,
            Op::Not => joint.negated(),
            _ => Polarity::BOTH,
        };
        open.extend(args.iter().map(|&arg| (arg, below)));
    }
    known
}

/// The clauses about cells, with the ways back.
pub(super) struct Abstraction {
    pub(super) graph: HornGraph,
    layouts: Vec<Layout>,
    /// By edges: the original source of each source.
    origins: Vec<Vec<usize>>,
}

impl Abstraction {
    /// Replaces the arrays of a depth in all clauses. Nodes and edges keep their numbers.
    pub(super) fn new(
        context: &Context<'_>,
        original: &HornGraph,
        layouts: Vec<Layout>,
        depth: usize,
        is_narrow: bool,
    ) -> Result<Self, Stop> {
        let store = context.store;
        let mut graph = HornGraph::new();
        for ((_, node), layout) in original.nodes().zip(&layouts) {
            let sorts = node.sorts(store);
            let mut new: Vec<Sort> = layout.others.iter().map(|&at| sorts[at]).collect();
            for cell in &layout.cells {
                new.push(cell.index);
                let parts =
                    cell.elements.iter().filter_map(|element| store.array_parts(sorts[element.array]));
                new.extend(parts.map(|(_, element)| element));
            }
            graph.add_node(Node::new(store, node.name, &new));
        }
        let mut origins = Vec::with_capacity(original.edges().len());
        for (id, _) in original.edges() {
            context.go_on()?;
            let clause = Reading::new(store, original, id, depth).abstracted(&layouts, is_narrow);
            graph.add_clause(store, &clause.body, clause.constraint, clause.head.as_ref());
            origins.push(clause.origins);
        }
        Ok(Abstraction { graph, layouts, origins })
    }

    /// The model of the original graph.
    pub(super) fn model_back(
        &self,
        store: &TermStore,
        original: &HornGraph,
        model: &GraphModel,
    ) -> Result<GraphModel, Stop> {
        let lifted = original.nodes().zip(&self.layouts).map(|((id, node), layout)| {
            let formula = model.formula(id)?;
            let mut variables = self.graph.node(id).variables().iter().copied();
            let mut next = || variables.next().expect("the layout has an item for each variable");
            let own = node.variables();
            let values = valuation(node, own);
            let mut meaning = Substitution::new();
            let mut indices: Vec<Term> = Vec::new();
            for &at in &layout.others {
                meaning.insert(next(), own[at]);
            }
            for cell in &layout.cells {
                let index = store.var(store.fresh_symbol("k"), cell.index);
                meaning.insert(next(), index);
                indices.push(index);
                for element in &cell.elements {
                    let place = element.place(store, &values, index);
                    meaning.insert(next(), store.select(own[element.array], place));
                }
            }
            Ok(universal(store, &indices, store.instantiate(formula, &meaning)))
        });
        Ok(GraphModel::of_formulas(lifted.collect::<Result<Vec<Term>, Stop>>()?))
    }

    /// The clauses of a derivation in the original graph. Of the atoms that one atom has become, the one with the largest derivation
    /// is taken. The facts mean nothing.
    pub(super) fn skeleton(&self, derivation: &Derivation) -> Derivation {
        let mut sizes: Vec<u64> = Vec::with_capacity(derivation.steps.len());
        let mut chosen: Vec<Box<[usize]>> = Vec::with_capacity(derivation.steps.len());
        for step in &derivation.steps {
            let origins = &self.origins[step.edge.index()];
            let sources = origins.last().map_or(0, |&last| last + 1);
            let largest = |source: usize| {
                let own = origins.iter().zip(&step.premises).filter(|&(&origin, _)| origin == source);
                let own = own.map(|(_, &premise)| premise);
                own.max_by_key(|&premise| sizes[premise]).expect("each atom becomes one atom at least")
            };
            let premises: Box<[usize]> = (0..sources).map(largest).collect();
            sizes.push(premises.iter().fold(1, |size: u64, &premise| size.saturating_add(sizes[premise])));
            chosen.push(premises);
        }
        let mut is_used = vec![false; chosen.len()];
        if let Some(last) = is_used.last_mut() {
            *last = true;
        }
        for step in (0..chosen.len()).rev() {
            if is_used[step] {
                chosen[step].iter().for_each(|&premise| is_used[premise] = true);
            }
        }
        let mut numbers: Vec<usize> = vec![0; chosen.len()];
        let mut steps: Vec<GraphStep> = Vec::new();
        for (old, (step, premises)) in derivation.steps.iter().zip(chosen).enumerate() {
            if is_used[old] {
                numbers[old] = steps.len();
                let premises = premises.iter().map(|&premise| numbers[premise]).collect();
                steps.push(GraphStep { edge: step.edge, premises, fact: Box::default() });
            }
        }
        Derivation { steps }
    }
}

/// The formula for all values of those variables that occur in it.
fn universal(store: &TermStore, variables: &[Term], formula: Term) -> Term {
    let (mut bound, body): (Vec<Term>, Term) = match store.view(formula) {
        (Op::Forall, [bound @ .., body]) => (bound.to_vec(), *body),
        _ => (Vec::new(), formula),
    };
    let free = store.free_vars(&[body]);
    bound.extend(variables.iter().filter(|variable| free.contains(variable)));
    if bound.is_empty() { body } else { store.forall(&bound, body) }
}

/// The positions of the arrays of a depth in the arguments of a node, with the sorts of their indices, and the other positions.
pub(super) fn arrays_of(
    store: &TermStore,
    graph: &HornGraph,
    node: NodeId,
    wanted: usize,
) -> (Vec<(usize, Sort)>, Vec<usize>) {
    let (mut arrays, mut others) = (Vec::new(), Vec::new());
    for (at, sort) in graph.node(node).sorts(store).into_iter().enumerate() {
        match store.array_parts(sort) {
            Some((index, _)) if depth(store, sort) == wanted => arrays.push((at, index)),
            _ => others.push(at),
        }
    }
    (arrays, others)
}
