//! Replaces arguments that one constructor always makes by the arguments of that constructor.
//!
//! | before | after |
//! |---|---|
//! | `P(cons(1, nil))`; `P(cons(x, l)) => P(cons(x + 1, cons(x, l)))`; `P(l) and head(l) < 0 => false` | `P(1, nil)`; `P(x, l) => P(x + 1, cons(x, l))`; `P(x, l) and x < 0 => false` |
//!
//! The analysis finds a *shape* for each argument by abstract interpretation (Cousot and Cousot, POPL 1977): the
//! constructor that makes it, if there is one, and shapes of its fields, up to a depth of [`MOST_LEVELS`]. Initially
//! nothing is reachable. Then
//!
//! ```text
//! while there is an edge whose sources have changed, and all are reachable:
//!     put the shapes of the sources into the label; if it becomes false, the edge cannot fire
//!     solve its equations, and read off the shapes of the target's arguments
//!     keep of the shapes of the target only what they have in common with these
//! ```
//!
//! Shapes only become less precise, and there are finitely many, so the loop terminates.
//!
//! - U1: for each edge, the shapes of the sources and the label imply the shapes of the target.
//!
//! The way back: in a model, testers say that the arguments have their shapes, and selectors give the fields. By U1 this
//! is a model of the old graph. Unreachable nodes are false. In a derivation, the constructors are applied again.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::{ConstructorId, Op, Substitution, Term, TermStore, Value};
use shofar_run::Stop;

use super::equations::solve;
use super::subgraph::Edges;
use crate::Context;
use crate::graph::{EdgeId, HornGraph, NodeId};
use crate::transform::{Image, Lemma, Transformation, Transformed, Translation};
use crate::witness::{Derivation, GraphModel};

/// The maximal depth of a shape.
const MOST_LEVELS: usize = 3;
/// The maximal number of arguments that replace one.
const MOST_FIELDS: usize = 32;
/// The average number of visits of an edge before the analysis gives up.
const MOST_VISITS: usize = 50;

/// Replaces arguments that one constructor always makes.
#[derive(Clone, Copy, Default, Debug)]
pub struct UniqueConstructor;

impl Transformation for UniqueConstructor {
    fn name(&self) -> &'static str {
        "unique-constructor"
    }

    fn apply(&self, context: &Context<'_>, graph: &HornGraph) -> Option<Transformed> {
        let store = context.store;
        let is_datatype = |&variable: &Term| store.datatype(store.sort_of(variable)).is_some();
        if !store.has_datatypes() || !graph.nodes().any(|(_, node)| node.variables().iter().any(is_datatype))
        {
            return None;
        }
        let mut pieces = Pieces::default();
        let mut shapes = Analysis::new(store, graph, &mut pieces).run(context)?;
        for shape in shapes.iter_mut().flatten().flatten() {
            if shape.leaves() > MOST_FIELDS {
                *shape = Shape::Any;
            }
        }
        if shapes.iter().flatten().flatten().all(|shape| *shape == Shape::Any) {
            return None;
        }
        let mut new = HornGraph::new();
        for (id, node) in graph.nodes() {
            new.add_node(match &shapes[id.index()] {
                None => node.clone(),
                Some(shapes) => {
                    let mut shapes = shapes.iter().cycle();
                    node.with_variables(|variable| {
                        let shape = shapes.next().unwrap_or(&Shape::Any);
                        let mut leaves = Vec::new();
                        pieces.leaves(store, variable, shape, &mut leaves);
                        leaves
                    })
                }
            });
        }
        let mut origins = Vec::new();
        for (id, edge) in graph.edges() {
            let Some(mut known) = sources_known(store, graph, id, &shapes, &mut pieces) else { continue };
            if let Some(node) = edge.target() {
                let Some(shapes) = &shapes[node.index()] else { continue };
                pieces.define(store, graph.target_variables(id), shapes, &mut known);
            }
            let label = store.instantiate(edge.label(), &known);
            if label != Term::FALSE {
                new.add_edge(edge.sources(), edge.target(), label);
                origins.push(id);
            }
        }
        let variables: Vec<Box<[Term]>> = graph.nodes().map(|(_, node)| node.variables().into()).collect();
        let leaves = new.nodes().map(|(_, node)| node.variables().into()).collect();
        let targets = graph.edges().map(|(_, edge)| edge.target()).collect();
        let translation = Expanded { shapes, variables, leaves, targets, edges: Edges { origins } };
        Some(Transformed { graph: new, translation: Box::new(translation) })
    }
}

/// What is known of the constructors of a value.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Shape {
    Any,
    /// This constructor made the value, from fields of these shapes.
    Made(ConstructorId, Vec<Shape>),
}

/// The shapes of a node's arguments; `None` if it is unreachable.
type Known = Option<Vec<Shape>>;

impl Shape {
    /// The number of arguments that replace one of this shape.
    fn leaves(&self) -> usize {
        match self {
            Shape::Any => 1,
            Shape::Made(_, fields) => fields.iter().map(Shape::leaves).sum(),
        }
    }

    /// What two shapes have in common.
    fn join(&self, other: &Shape) -> Shape {
        match (self, other) {
            (Shape::Made(a, fields), Shape::Made(b, others)) if a == b => {
                Shape::Made(*a, fields.iter().zip(others).map(|(field, other)| field.join(other)).collect())
            }
            _ => Shape::Any,
        }
    }

    /// The shape of a term, up to a depth. `made_by` gives the constructors that testers tell of terms.
    fn of(store: &TermStore, term: Term, made_by: &FxHashMap<Term, ConstructorId>, levels: usize) -> Shape {
        let Some(levels) = levels.checked_sub(1) else { return Shape::Any };
        match (store.view(term), made_by.get(&term)) {
            ((Op::Construct(constructor), fields), _) => {
                let fields = fields.iter().map(|&field| Shape::of(store, field, made_by, levels));
                Shape::Made(constructor, fields.collect())
            }
            (_, Some(&constructor)) => {
                let fields = 0..store.constructor(constructor).fields.len() as u32;
                let field = |field| store.selector(constructor, field, term);
                let fields = fields.map(|at| Shape::of(store, field(at), made_by, levels));
                Shape::Made(constructor, fields.collect())
            }
            _ => Shape::Any,
        }
    }
}

/// The variables for fields of variables.
#[derive(Default)]
struct Pieces {
    fields: FxHashMap<(Term, ConstructorId), Box<[Term]>>,
}

impl Pieces {
    fn fields(&mut self, store: &TermStore, variable: Term, constructor: ConstructorId) -> Box<[Term]> {
        let fresh = || {
            let name = match store.op(variable) {
                Op::Var(name) => store.name(name),
                _ => "value",
            };
            let stem = name.split('!').next().unwrap_or(name);
            let fields = store.constructor(constructor).fields.iter();
            let fields = fields.map(|&(selector, sort)| {
                store.var(store.fresh_symbol(&format!("{stem}.{}", store.name(selector))), sort)
            });
            fields.collect()
        };
        self.fields.entry((variable, constructor)).or_insert_with(fresh).clone()
    }

    /// The variables that replace one of this shape.
    fn leaves(&mut self, store: &TermStore, variable: Term, shape: &Shape, leaves: &mut Vec<Term>) {
        match shape {
            Shape::Any => leaves.push(variable),
            Shape::Made(constructor, shapes) => {
                let fields = self.fields(store, variable, *constructor);
                for (&field, shape) in fields.iter().zip(shapes) {
                    self.leaves(store, field, shape, leaves);
                }
            }
        }
    }

    /// A variable of this shape as a term over the variables that replace it.
    fn term(&mut self, store: &TermStore, variable: Term, shape: &Shape) -> Term {
        match shape {
            Shape::Any => variable,
            Shape::Made(constructor, shapes) => {
                let fields = self.fields(store, variable, *constructor);
                let fields = fields.iter().zip(shapes);
                let fields: Vec<Term> =
                    fields.map(|(&field, shape)| self.term(store, field, shape)).collect();
                store.construct_term(*constructor, &fields)
            }
        }
    }

    /// Adds the terms of the variables that have a constructor.
    fn define(&mut self, store: &TermStore, variables: &[Term], shapes: &[Shape], known: &mut Substitution) {
        for (&variable, shape) in variables.iter().zip(shapes) {
            if *shape != Shape::Any {
                known.insert(variable, self.term(store, variable, shape));
            }
        }
    }
}

/// The terms of the sources' arguments; `None` if a source is unreachable.
fn sources_known(
    store: &TermStore,
    graph: &HornGraph,
    edge: EdgeId,
    shapes: &[Known],
    pieces: &mut Pieces,
) -> Option<Substitution> {
    let mut known = Substitution::new();
    for (source, node) in graph.edge(edge).sources().iter().enumerate() {
        let shapes = shapes[node.index()].as_ref()?;
        pieces.define(store, graph.source_variables(edge, source), shapes, &mut known);
    }
    Some(known)
}

struct Analysis<'a> {
    store: &'a TermStore,
    graph: &'a HornGraph,
    pieces: &'a mut Pieces,
    outgoing: Vec<Vec<EdgeId>>,
    shapes: Vec<Known>,
    open: VecDeque<EdgeId>,
    is_open: Vec<bool>,
}

impl<'a> Analysis<'a> {
    fn new(store: &'a TermStore, graph: &'a HornGraph, pieces: &'a mut Pieces) -> Self {
        let (outgoing, facts) = graph.outgoing();
        let mut is_open = vec![false; graph.edges().len()];
        for fact in &facts {
            is_open[fact.index()] = true;
        }
        let shapes = vec![None; graph.nodes().len()];
        Analysis { store, graph, pieces, outgoing, shapes, open: facts.into(), is_open }
    }

    /// The fixpoint. `None` if it takes too long: intermediate results may be wrong.
    fn run(mut self, context: &Context<'_>) -> Option<Vec<Known>> {
        let mut visits = self.graph.edges().len().saturating_mul(MOST_VISITS);
        while let Some(edge) = self.open.pop_front() {
            visits = visits.checked_sub(1)?;
            if context.interrupted().is_some() {
                return None;
            }
            self.is_open[edge.index()] = false;
            let Some(node) = self.graph.edge(edge).target() else { continue };
            let Some(image) = self.image(edge) else { continue };
            let joined: Vec<Shape> = match &self.shapes[node.index()] {
                None => image,
                Some(before) => before.iter().zip(&image).map(|(before, here)| before.join(here)).collect(),
            };
            if self.shapes[node.index()].as_ref() != Some(&joined) {
                self.shapes[node.index()] = Some(joined);
                for &next in &self.outgoing[node.index()] {
                    if !std::mem::replace(&mut self.is_open[next.index()], true) {
                        self.open.push_back(next);
                    }
                }
            }
        }
        Some(self.shapes)
    }

    /// The shapes of the target's arguments after an edge; `None` if the edge cannot fire.
    fn image(&mut self, edge: EdgeId) -> Known {
        let (store, graph) = (self.store, self.graph);
        let known = sources_known(store, graph, edge, &self.shapes, self.pieces)?;
        let label = store.instantiate(graph.edge(edge).label(), &known);
        let next = graph.target_variables(edge);
        let is_next: FxHashSet<Term> = next.iter().copied().collect();
        let solved = solve(store, label, |variable| Some(u32::from(!is_next.contains(&variable))));
        if solved.rest.contains(&Term::FALSE) {
            return None;
        }
        let made_by = solved.rest.iter().filter_map(|&conjunct| tested(store, conjunct)).collect();
        let definitions: FxHashMap<Term, Term> = solved.definitions.into_iter().collect();
        let shape = |variable: &Term| {
            let value = definitions.get(variable).copied().unwrap_or(*variable);
            Shape::of(store, value, &made_by, MOST_LEVELS)
        };
        Some(next.iter().map(shape).collect())
    }
}

/// The term and the constructor of a literal that says which constructor made a term.
fn tested(store: &TermStore, literal: Term) -> Option<(Term, ConstructorId)> {
    match store.view(literal) {
        (Op::Tester(constructor), &[term]) => Some((term, constructor)),
        (Op::Not, &[atom]) => {
            let (Op::Tester(constructor), &[term]) = store.view(atom) else { return None };
            match *store.datatype(store.sort_of(term))?.constructors() {
                [a, b] => Some((term, if a == constructor { b } else { a })),
                _ => None,
            }
        }
        _ => None,
    }
}

struct Expanded {
    /// Indexed by node, in both graphs.
    shapes: Vec<Known>,
    /// The variables of the old nodes.
    variables: Vec<Box<[Term]>>,
    /// The variables of the new nodes.
    leaves: Vec<Box<[Term]>>,
    /// The targets of the old edges.
    targets: Vec<Option<NodeId>>,
    edges: Edges,
}

impl Translation for Expanded {
    /// The facts of the new graph are those of the old graph, which have the shapes.
    fn forward(&self, context: &Context<'_>, lemma: Lemma) -> Image {
        let store = context.store;
        let node = lemma.node.index();
        let Some(shapes) = &self.shapes[node] else { return lemma.into() };
        let mut leaves = self.leaves[node].iter().copied();
        let mut known = Substitution::new();
        for (&variable, shape) in self.variables[node].iter().zip(shapes) {
            let term = made(shape, &mut || leaves.next(), &|constructor, fields| {
                store.construct_term(constructor, fields)
            });
            let Some(term) = term else { return Image::Inexpressible };
            known.insert(variable, term);
        }
        let formula = store.instantiate(lemma.formula, &known);
        Lemma { formula, ..lemma }.into()
    }

    fn is_renaming(&self) -> bool {
        true
    }

    fn model_back(&self, context: &Context<'_>, model: GraphModel) -> Result<GraphModel, Stop> {
        let store = context.store;
        let of_node = |(node, shapes): (usize, &Known)| -> Result<Term, Stop> {
            let Some(shapes) = shapes else { return Ok(Term::FALSE) };
            let (mut testers, mut fields) = (Vec::new(), Vec::new());
            for (&variable, shape) in self.variables[node].iter().zip(shapes) {
                take_apart(store, variable, shape, &mut testers, &mut fields);
            }
            let fields: Substitution = self.leaves[node].iter().copied().zip(fields).collect();
            let formula = store.instantiate(model.formula(NodeId::new(node))?, &fields);
            Ok(store.and_of(testers.into_iter().chain([formula])))
        };
        let formulas: Result<Vec<Term>, Stop> = self.shapes.iter().enumerate().map(of_node).collect();
        Ok(GraphModel::of_formulas(formulas?))
    }

    fn derivation_back(&self, context: &Context<'_>, mut derivation: Derivation) -> Result<Derivation, Stop> {
        for (number, step) in derivation.steps.iter_mut().enumerate() {
            step.edge = self.edges.origin(step.edge)?;
            if let Some(node) = self.targets[step.edge.index()] {
                let fact = self.fact(context.store, node, &step.fact);
                step.fact = fact.ok_or_else(|| Stop::Internal(format!("step {number} derives no fact")))?;
            }
        }
        Ok(derivation)
    }
}

impl Expanded {
    /// A fact with the constructors of its arguments.
    fn fact(&self, store: &TermStore, node: NodeId, values: &[Value]) -> Option<Box<[Value]>> {
        let mut values = values.iter().cloned();
        let construct = |constructor, fields: &[Value]| {
            let fields: Vec<Term> = fields.iter().map(|field| store.value_to_term(field)).collect();
            Value::Term(store.construct_term(constructor, &fields))
        };
        let shapes = self.shapes[node.index()].as_ref()?;
        let fact: Option<Box<[Value]>> =
            shapes.iter().map(|shape| made(shape, &mut || values.next(), &construct)).collect();
        fact.filter(|_| values.next().is_none())
    }
}

/// What has a shape, made from its leaves.
fn made<T>(
    shape: &Shape,
    leaf: &mut impl FnMut() -> Option<T>,
    construct: &impl Fn(ConstructorId, &[T]) -> T,
) -> Option<T> {
    match shape {
        Shape::Any => leaf(),
        Shape::Made(constructor, shapes) => {
            let fields: Option<Vec<T>> = shapes.iter().map(|shape| made(shape, leaf, construct)).collect();
            Some(construct(*constructor, &fields?))
        }
    }
}

/// The testers that say that a term has a shape, and the leaves, by selectors.
fn take_apart(store: &TermStore, term: Term, shape: &Shape, testers: &mut Vec<Term>, leaves: &mut Vec<Term>) {
    match shape {
        Shape::Any => leaves.push(term),
        Shape::Made(constructor, shapes) => {
            testers.push(store.tester(*constructor, term));
            for (field, shape) in (0..).zip(shapes) {
                take_apart(store, store.selector(*constructor, field, term), shape, testers, leaves);
            }
        }
    }
}
