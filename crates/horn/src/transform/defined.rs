//! Predicates that are replaced by formulas: each formula holds exactly of the facts that the clauses derive.
//!
//! | before | after, if `P` is exactly `F` |
//! |---|---|
//! | `P(x) and Q(x, y) and L(x, y, z) => R(z)` | `Q(x, y) and F(x) and L(x, y, z) => R(z)` |
//! | `... => P(x)` | |
//!
//! A transformation that knows such formulas makes the new graph and its translation by [`replace`]. Both answers stay: the
//! formulas are a model of the removed clauses, and no other clause needs more than the least model of a predicate in its body.
//!
//! The way back: in a model, each removed predicate is its formula. In a derivation, the solver finds the values of the removed
//! atoms, and the transformation derives these facts ([`Facts`]).

use rustc_hash::FxHashMap;
use shofar_logic::{Assignment, Substitution, Term, TermStore, Value};
use shofar_run::Stop;

use crate::Context;
use crate::graph::{EdgeId, HornGraph, Node, NodeId};
use crate::ground;
use crate::transform::{Image, Lemma, Transformed, Translation};
use crate::witness::{Derivation, GraphModel, GraphStep};

/// The formulas of predicates, over the variables of their nodes.
pub(super) type Definitions = FxHashMap<NodeId, Term>;

/// Derives the facts of predicates that were replaced.
pub(super) trait Facts: Send + Sync {
    /// The step that derives a fact, of which the definition holds, in the old graph. Adds the steps that are missing.
    fn derive(
        &self,
        context: &Context<'_>,
        graph: &HornGraph,
        derived: &mut Derived,
        node: NodeId,
        fact: Box<[Value]>,
    ) -> Result<usize, Stop>;
}

/// Steps in the old graph.
#[derive(Default)]
pub(super) struct Derived {
    pub(super) steps: Vec<GraphStep>,
    /// The steps of facts of replaced predicates.
    known: FxHashMap<(NodeId, Box<[Value]>), usize>,
}

impl Derived {
    /// The step that derives a fact of a replaced predicate, if there is one.
    pub(super) fn find(&self, node: NodeId, fact: &[Value]) -> Option<usize> {
        self.known.get(&(node, fact.into())).copied()
    }

    /// Adds a step that derives a fact of a replaced predicate.
    pub(super) fn add(&mut self, node: NodeId, step: GraphStep) -> usize {
        let at = self.steps.len();
        self.known.insert((node, step.fact.clone()), at);
        self.steps.push(step);
        at
    }
}

/// The graph without the defined predicates, and its translation.
pub(super) fn replace(
    store: &TermStore,
    graph: &HornGraph,
    definitions: Definitions,
    facts: impl Facts + 'static,
) -> Transformed {
    let mut new = HornGraph::new();
    let mut images = Vec::with_capacity(graph.nodes().len());
    for (id, node) in graph.nodes() {
        let is_kept = !definitions.contains_key(&id);
        images.push(is_kept.then(|| new.add_node(node.clone())));
    }
    let mut origins = Vec::new();
    for (id, edge) in graph.edges() {
        if edge.target().is_some_and(|node| definitions.contains_key(&node)) {
            continue;
        }
        let sources: Vec<NodeId> = edge.sources().iter().filter_map(|node| images[node.index()]).collect();
        let target = edge.target().and_then(|node| images[node.index()]);
        new.add_edge(&sources, target, defined_label(store, graph, id, &definitions));
        origins.push(id);
    }
    let translation = Defined { graph: graph.clone(), definitions, images, origins, facts };
    Transformed { graph: new, translation: Box::new(translation) }
}

/// The label of an edge with the formulas of its defined sources, whose variables become locals.
pub(super) fn defined_label(
    store: &TermStore,
    graph: &HornGraph,
    id: EdgeId,
    definitions: &Definitions,
) -> Term {
    let edge = graph.edge(id);
    let mut locals = Substitution::new();
    for (source, _) in edge.sources().iter().enumerate().filter(|(_, node)| definitions.contains_key(node)) {
        for &variable in graph.source_variables(id, source) {
            locals.insert(variable, store.var(store.fresh_symbol("local"), store.sort_of(variable)));
        }
    }
    if edge.sources().iter().all(|node| !definitions.contains_key(node)) {
        return edge.label();
    }
    let defined = at_defined_sources(store, graph, id, definitions);
    store.instantiate(store.and_of(defined.into_iter().chain([edge.label()])), &locals)
}

/// The formulas of the defined sources of an edge, over its variables.
pub(super) fn at_defined_sources(
    store: &TermStore,
    graph: &HornGraph,
    id: EdgeId,
    definitions: &Definitions,
) -> Vec<Term> {
    let sources = graph.edge(id).sources().iter().enumerate();
    let defined = sources.filter_map(|(source, node)| Some((source, *definitions.get(node)?)));
    defined.map(|(source, formula)| graph.at_source(store, id, source, formula)).collect()
}

/// Values for the wanted variables that satisfy the label of an edge and a condition on the wanted and the given variables.
pub(super) fn satisfying(
    context: &Context<'_>,
    label: Term,
    condition: Term,
    given: &[(Term, Value)],
    wanted: &[Term],
) -> Result<Vec<Value>, Stop> {
    let store = context.store;
    // The equations of a label mostly determine the values; then no solver is needed.
    if let Ok(values) = ground::complete(context, label, given.iter().cloned(), wanted) {
        let found = wanted.iter().copied().zip(values.iter().cloned());
        let assignment: Assignment = given.iter().cloned().chain(found).collect();
        if store.eval(condition, &assignment) == Ok(Value::Bool(true)) {
            return Ok(values);
        }
    }
    ground::complete(context, store.and2(condition, label), given.iter().cloned(), wanted)
}

struct Defined<F> {
    /// The old graph.
    graph: HornGraph,
    definitions: Definitions,
    /// The new node of each old one that is not defined.
    images: Vec<Option<NodeId>>,
    /// The old edge of each new one.
    origins: Vec<EdgeId>,
    facts: F,
}

impl<F: Facts> Translation for Defined<F> {
    fn forward(&self, _: &Context<'_>, lemma: Lemma) -> Image {
        match self.images[lemma.node.index()] {
            Some(node) => Lemma { node, ..lemma }.into(),
            None => Image::Removed,
        }
    }

    fn is_renaming(&self) -> bool {
        true
    }

    fn model_back(&self, _: &Context<'_>, model: GraphModel) -> Result<GraphModel, Stop> {
        let interpretation = |((id, _), image): ((NodeId, &Node), &Option<NodeId>)| match *image {
            Some(image) => model.interpretation(image).cloned(),
            None => Ok(self.definitions[&id].into()),
        };
        let nodes = self.graph.nodes().zip(&self.images);
        Ok(GraphModel { interpretations: nodes.map(interpretation).collect::<Result<_, Stop>>()? })
    }

    fn derivation_back(&self, context: &Context<'_>, derivation: Derivation) -> Result<Derivation, Stop> {
        let mut derived = Derived::default();
        let mut images: Vec<usize> = Vec::with_capacity(derivation.steps.len());
        for (number, step) in derivation.steps.into_iter().enumerate() {
            context.go_on()?;
            let wrong = || Stop::Internal(format!("step {number} is no application of a clause"));
            let edge = *self.origins.get(step.edge.index()).ok_or_else(wrong)?;
            let premises: Option<Vec<usize>> =
                step.premises.iter().map(|&premise| images.get(premise).copied()).collect();
            let premises =
                self.premises(context, edge, &premises.ok_or_else(wrong)?, &step.fact, &mut derived)?;
            images.push(derived.steps.len());
            derived.steps.push(GraphStep { edge, premises, fact: step.fact });
        }
        Ok(Derivation { steps: derived.steps })
    }
}

impl<F: Facts> Defined<F> {
    /// The premises of an old edge, from those that are kept.
    fn premises(
        &self,
        context: &Context<'_>,
        id: EdgeId,
        kept: &[usize],
        fact: &[Value],
        derived: &mut Derived,
    ) -> Result<Box<[usize]>, Stop> {
        let (store, graph) = (context.store, &self.graph);
        let sources = graph.edge(id).sources();
        let wrong = || Stop::Internal(format!("a step by edge {} has other premises", id.index()));
        if sources.iter().filter(|node| !self.definitions.contains_key(node)).count() != kept.len() {
            return Err(wrong());
        }
        if sources.len() == kept.len() {
            return Ok(kept.into());
        }
        let mut given: Vec<(Term, Value)> =
            graph.target_variables(id).iter().copied().zip(fact.iter().cloned()).collect();
        let mut wanted: Vec<Term> = Vec::new();
        let mut rest = kept.iter();
        for (source, node) in sources.iter().enumerate() {
            let variables = graph.source_variables(id, source);
            if self.definitions.contains_key(node) {
                wanted.extend_from_slice(variables);
            } else {
                let &premise = rest.next().ok_or_else(wrong)?;
                given.extend(variables.iter().copied().zip(derived.steps[premise].fact.iter().cloned()));
            }
        }
        let condition = store.and_of(at_defined_sources(store, graph, id, &self.definitions));
        let label = graph.edge(id).label();
        let mut values = satisfying(context, label, condition, &given, &wanted)?.into_iter();
        let mut rest = kept.iter();
        let mut premises = Vec::with_capacity(sources.len());
        for &node in sources {
            premises.push(if self.definitions.contains_key(&node) {
                let fact = values.by_ref().take(graph.node(node).arity()).collect();
                self.facts.derive(context, graph, derived, node, fact)?
            } else {
                *rest.next().ok_or_else(wrong)?
            });
        }
        Ok(premises.into())
    }
}
