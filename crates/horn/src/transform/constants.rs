//! Removes arguments that are always the same constant, or differ from another argument by a constant.
//!
//! | before | after |
//! |---|---|
//! | `x = 5 => P(x, y)`; `P(x, y) and y' = y + x => P(x, y')` | `P(y)`; `P(y) and y' = y + 5 => P(y')` |
//! | `x = y + 1 => Q(x, y)`; `Q(x, y) => Q(x + 2, y + 2)` | `Q(x)`; `Q(x) => Q(x + 2)` |
//!
//! The analysis computes a simple inductive invariant by abstract interpretation (Cousot and Cousot, POPL 1977): for
//! each node a partition of its arguments into classes. The members of a class differ by known numbers, and the members
//! of one class are constant. Initially nothing is reachable. Then
//!
//! ```text
//! while there is an edge whose sources have changed, and all are reachable:
//!     put what is known of the sources into the label; if it becomes false, the edge cannot fire
//!     solve its equations, and read off which arguments of the target are constant or differ by constants
//!     keep of what is known of the target only what also holds here
//! ```
//!
//! Classes only become finer, so the loop terminates. Infeasible edges contribute nothing, as in the conditional
//! constant propagation of Wegman and Zadeck (TOPLAS 1991).
//!
//! - K1: for each edge, the relations known of the sources and the label imply those known of the target.
//!
//! The way back: by K1, the model of the new graph together with the known relations is a model of the old one, and the
//! facts of a derivation get the known values of the removed arguments. Unreachable nodes are false.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::number::Rational;
use shofar_logic::{LinearPoly, Op, Substitution, Term, TermStore, Value};
use shofar_run::Stop;

use super::equations::solve;
use super::subgraph::Edges;
use crate::Context;
use crate::graph::{EdgeId, HornGraph, NodeId};
use crate::transform::{Image, Lemma, Transformation, Transformed, Translation};
use crate::witness::{Derivation, GraphModel};

/// The average number of visits of an edge before the analysis gives up.
const MOST_VISITS: usize = 50;

/// Removes arguments that are constant or differ from another one by a constant.
#[derive(Clone, Copy, Default, Debug)]
pub struct PropagateConstants;

impl Transformation for PropagateConstants {
    fn name(&self) -> &'static str {
        "constants"
    }

    fn apply(&self, context: &Context<'_>, graph: &HornGraph) -> Option<Transformed> {
        let store = context.store;
        let known = Analysis::new(store, graph).run(context)?;
        let kept: Vec<Vec<usize>> =
            graph.nodes().map(|(id, node)| kept(&known[id.index()], node.arity())).collect();
        let mut new = HornGraph::new();
        for (id, node) in graph.nodes() {
            new.add_node(node.with_arguments(&kept[id.index()]));
        }
        let mut origins = Vec::new();
        for (id, edge) in graph.edges() {
            let Some(mut known_here) = sources_known(store, graph, id, &known) else { continue };
            if let Some(node) = edge.target() {
                let Some(relations) = &known[node.index()] else { continue };
                define(store, relations, graph.target_variables(id), &mut known_here);
            }
            let label = store.instantiate(edge.label(), &known_here);
            if label != Term::FALSE {
                new.add_edge(edge.sources(), edge.target(), label);
                origins.push(id);
            }
        }
        let is_same = |(id, node): (NodeId, &crate::graph::Node)| kept[id.index()].len() == node.arity();
        if origins.len() == graph.edges().len() && graph.nodes().all(is_same) {
            return None;
        }
        let variables = graph.nodes().map(|(_, node)| node.variables().into()).collect();
        let targets = graph.edges().map(|(_, edge)| edge.target()).collect();
        let translation = Determined { known, kept, variables, targets, edges: Edges { origins } };
        Some(Transformed { graph: new, translation: Box::new(translation) })
    }
}

/// The base from which an argument differs by a constant.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Anchor {
    /// A value; zero for numbers.
    Constant(Term),
    /// The first argument of its class.
    Argument(usize),
}

/// The relation known of an argument: it equals the anchor plus a number, which is zero for other sorts.
type Relation = (Anchor, Rational);

/// The relations known of a node's arguments; `None` if it is unreachable.
type Known = Option<Vec<Relation>>;

/// The arguments that no other one determines.
fn kept(known: &Known, arity: usize) -> Vec<usize> {
    let is_free = |&position: &usize| match known {
        None => true,
        Some(relations) => relations[position].0 == Anchor::Argument(position),
    };
    (0..arity).filter(is_free).collect()
}

struct Analysis<'a> {
    store: &'a TermStore,
    graph: &'a HornGraph,
    outgoing: Vec<Vec<EdgeId>>,
    known: Vec<Known>,
    open: VecDeque<EdgeId>,
    is_open: Vec<bool>,
}

impl<'a> Analysis<'a> {
    fn new(store: &'a TermStore, graph: &'a HornGraph) -> Self {
        let (outgoing, facts) = graph.outgoing();
        let mut is_open = vec![false; graph.edges().len()];
        for fact in &facts {
            is_open[fact.index()] = true;
        }
        let known = vec![None; graph.nodes().len()];
        Analysis { store, graph, outgoing, known, open: facts.into(), is_open }
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
            let joined = match &self.known[node.index()] {
                None => image,
                Some(before) => join(before, &image),
            };
            if self.known[node.index()].as_ref() != Some(&joined) {
                self.known[node.index()] = Some(joined);
                for &next in &self.outgoing[node.index()] {
                    if !std::mem::replace(&mut self.is_open[next.index()], true) {
                        self.open.push_back(next);
                    }
                }
            }
        }
        Some(self.known)
    }

    /// The relations known of the target after an edge; `None` if the edge cannot fire.
    fn image(&self, edge: EdgeId) -> Known {
        let (store, graph) = (self.store, self.graph);
        let sources = sources_known(store, graph, edge, &self.known)?;
        let label = store.instantiate(graph.edge(edge).label(), &sources);
        let next = graph.target_variables(edge);
        let is_next: FxHashSet<Term> = next.iter().copied().collect();
        let solved = solve(store, label, |variable| Some(u32::from(!is_next.contains(&variable))));
        if solved.rest.contains(&Term::FALSE) {
            return None;
        }
        let definitions: FxHashMap<Term, Term> = solved.definitions.into_iter().collect();
        let mut classes: FxHashMap<Term, (usize, Rational)> = FxHashMap::default();
        let relation = |(position, variable): (usize, &Term)| {
            let value = definitions.get(variable).copied().unwrap_or(*variable);
            let (base, offset) = based(store, value);
            if is_value(store, base) {
                return (Anchor::Constant(base), offset);
            }
            let (first, its_offset) = classes.entry(base).or_insert_with(|| (position, offset.clone()));
            (Anchor::Argument(*first), &offset - &*its_offset)
        };
        Some(next.iter().enumerate().map(relation).collect())
    }
}

/// Splits a term into a term and a number added to it.
fn based(store: &TermStore, term: Term) -> (Term, Rational) {
    let sort = store.sort_of(term);
    if !sort.is_arithmetic() {
        return (term, Rational::ZERO);
    }
    let poly = LinearPoly::from_term(store, term);
    let offset = poly.constant().clone();
    (poly.without_constant().to_term(store, sort), offset)
}

pub(super) fn is_value(store: &TermStore, term: Term) -> bool {
    !matches!(store.op(term), Op::Var(_)) && store.term_to_value(term).is_some()
}

/// The relations that hold in both cases: arguments share a class if they do in both, at the same distance.
fn join(a: &[Relation], b: &[Relation]) -> Vec<Relation> {
    let mut classes: FxHashMap<(Anchor, Anchor, Rational), usize> = FxHashMap::default();
    let relation = |(position, (a_here, b_here)): (usize, (&Relation, &Relation))| {
        if a_here == b_here && matches!(a_here.0, Anchor::Constant(_)) {
            return a_here.clone();
        }
        let first = *classes.entry((a_here.0, b_here.0, &a_here.1 - &b_here.1)).or_insert(position);
        (Anchor::Argument(first), &a_here.1 - &a[first].1)
    };
    a.iter().zip(b).enumerate().map(relation).collect()
}

/// The substitution for the sources' arguments; `None` if a source is unreachable.
fn sources_known(
    store: &TermStore,
    graph: &HornGraph,
    edge: EdgeId,
    known: &[Known],
) -> Option<Substitution> {
    let mut substitution = Substitution::new();
    for (source, node) in graph.edge(edge).sources().iter().enumerate() {
        define(store, known[node.index()].as_ref()?, graph.source_variables(edge, source), &mut substitution);
    }
    Some(substitution)
}

/// Adds the definitions of the determined arguments.
fn define(store: &TermStore, relations: &[Relation], variables: &[Term], substitution: &mut Substitution) {
    for (position, relation) in relations.iter().enumerate() {
        if relation.0 != Anchor::Argument(position) {
            substitution.insert(variables[position], definition(store, relation, variables));
        }
    }
}

/// The value of an argument according to its relation.
fn definition(store: &TermStore, (anchor, offset): &Relation, variables: &[Term]) -> Term {
    let anchor = match *anchor {
        Anchor::Constant(constant) => constant,
        Anchor::Argument(first) => variables[first],
    };
    if offset.is_zero() {
        return anchor;
    }
    let mut poly = LinearPoly::from_term(store, anchor);
    poly.add_constant(offset);
    poly.to_term(store, store.sort_of(anchor))
}

struct Determined {
    /// Indexed by old node; new nodes have the same indices.
    known: Vec<Known>,
    kept: Vec<Vec<usize>>,
    variables: Vec<Box<[Term]>>,
    /// The targets of the old edges.
    targets: Vec<Option<NodeId>>,
    edges: Edges,
}

impl Translation for Determined {
    /// The facts of the new graph have the known values of the removed arguments.
    fn forward(&self, context: &Context<'_>, lemma: Lemma) -> Image {
        let store = context.store;
        let Some(relations) = &self.known[lemma.node.index()] else { return lemma.into() };
        let mut known = Substitution::new();
        define(store, relations, &self.variables[lemma.node.index()], &mut known);
        let formula = store.instantiate(lemma.formula, &known);
        Lemma { formula, ..lemma }.into()
    }

    fn is_renaming(&self) -> bool {
        true
    }

    fn model_back(&self, context: &Context<'_>, model: GraphModel) -> Result<GraphModel, Stop> {
        let store = context.store;
        let of_node = |(node, known): (usize, &Known)| -> Result<Term, Stop> {
            let Some(relations) = known else { return Ok(Term::FALSE) };
            let variables = &self.variables[node];
            let determined = relations.iter().enumerate();
            let determined =
                determined.filter(|(position, relation)| relation.0 != Anchor::Argument(*position));
            let equations = determined.map(|(position, relation)| {
                store.eq(variables[position], definition(store, relation, variables))
            });
            Ok(store.and_of(equations.chain([model.formula(NodeId::new(node))?])))
        };
        let formulas: Result<Vec<Term>, Stop> = self.known.iter().enumerate().map(of_node).collect();
        Ok(GraphModel::of_formulas(formulas?))
    }

    fn derivation_back(&self, context: &Context<'_>, mut derivation: Derivation) -> Result<Derivation, Stop> {
        for step in &mut derivation.steps {
            step.edge = self.edges.origin(step.edge)?;
            if let Some(node) = self.targets[step.edge.index()] {
                step.fact = self.fact(context.store, node, &step.fact)?;
            }
        }
        Ok(derivation)
    }
}

impl Determined {
    /// A fact with the determined arguments.
    fn fact(&self, store: &TermStore, node: NodeId, values: &[Value]) -> Result<Box<[Value]>, Stop> {
        let kept = &self.kept[node.index()];
        let wrong = || Stop::Internal(format!("a fact of node {} has wrong arguments", node.index()));
        let Some(relations) = &self.known[node.index()] else { return Err(wrong()) };
        let value = |(anchor, offset): &Relation| {
            let value = match *anchor {
                Anchor::Constant(constant) => store.term_to_value(constant)?,
                Anchor::Argument(first) => values.get(kept.binary_search(&first).ok()?)?.clone(),
            };
            Some(match value {
                Value::Int(number) => Value::Int((Rational::from(number) + offset).floor()),
                Value::Real(number) => Value::Real(number + offset),
                other => other,
            })
        };
        relations.iter().map(value).collect::<Option<_>>().ok_or_else(wrong)
    }
}
