//! Splits predicates into states: predicates with values for some arguments. `split.rs` and `control.rs` find the states.
//!
//! | before | after |
//! |---|---|
//! | `P(b, x)`, with `b` split | `P1(x)` for `P(true, x)`, `P2(x)` for `P(false, x)` |
//!
//! - S1: for each edge and all facts of its sources' states, the facts that it derives are of states with an edge for it.
//!
//! The way back: the model of a node is the disjunction of its states' models, each with the values of the state; by S1, states
//! without a node can be false. Facts get the values of their states back.

use shofar_logic::{Sort, Substitution, Term, TermStore, Value};
use shofar_run::Stop;

use super::subgraph::Edges;
use crate::Context;
use crate::graph::{EdgeId, HornGraph, Node, NodeId, rename};
use crate::transform::{Image, Lemma, Transformed, Translation};
use crate::witness::{Derivation, GraphModel};

/// A node with values for its split arguments, in their order.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct State {
    pub(super) node: NodeId,
    pub(super) values: Vec<Term>,
}

/// An edge between states.
pub(super) struct Instance {
    pub(super) edge: EdgeId,
    pub(super) sources: Vec<usize>,
    pub(super) target: Option<usize>,
    /// The label with the values of the states substituted.
    pub(super) label: Term,
}

impl State {
    /// Substitutes the values of the state for variables of its node. `split` has the positions of the split arguments of all nodes.
    pub(super) fn put(&self, known: &mut Substitution, split: &[Vec<usize>], variables: &[Term]) {
        for (&position, &value) in split[self.node.index()].iter().zip(&self.values) {
            known.insert(variables[position], value);
        }
    }
}

/// The graph with a node of each state and an edge of each instance. `split` has the positions of the split arguments of each node.
/// Precondition: S1.
pub(super) fn split_into(
    store: &TermStore,
    graph: &HornGraph,
    split: &[Vec<usize>],
    states: Vec<State>,
    instances: &[Instance],
) -> Transformed {
    let mut new = HornGraph::new();
    for state in &states {
        let node = graph.node(state.node);
        let kept = kept(&split[state.node.index()], node.arity());
        let sorts = node.sorts(store);
        let sorts: Vec<Sort> = kept.iter().map(|&position| sorts[position]).collect();
        // Several states of one node may occur in one body, so they need variables of their own.
        new.add_node(Node::new(store, node.name, &sorts));
    }
    let mut origins = Vec::new();
    for instance in instances {
        let body: Vec<_> = (0..instance.sources.len())
            .map(|source| {
                let state = &states[instance.sources[source]];
                let variables = graph.source_variables(instance.edge, source);
                (NodeId::new(instance.sources[source]), free(split, state.node, variables))
            })
            .collect();
        let head = instance.target.map(|target| {
            let variables = graph.target_variables(instance.edge);
            (NodeId::new(target), free(split, states[target].node, variables))
        });
        new.add_clause(store, &body, instance.label, head.as_ref());
        origins.push(instance.edge);
    }
    let old = graph.nodes().map(|(_, node)| node.variables().into()).collect();
    let fresh = new.nodes().map(|(_, node)| node.variables().into()).collect();
    let targets = instances.iter().map(|instance| instance.target).collect();
    let translation =
        Split { split: split.to_vec(), states, old, new: fresh, targets, edges: Edges { origins } };
    Transformed { graph: new, translation: Box::new(translation) }
}

/// The arguments that are not split.
fn kept(split: &[usize], arity: usize) -> Vec<usize> {
    (0..arity).filter(|position| !split.contains(position)).collect()
}

/// The variables of the arguments that are not split.
fn free(split: &[Vec<usize>], node: NodeId, variables: &[Term]) -> Vec<Term> {
    kept(&split[node.index()], variables.len()).into_iter().map(|position| variables[position]).collect()
}

struct Split {
    split: Vec<Vec<usize>>,
    /// Indexed by new node.
    states: Vec<State>,
    /// The variables of the old and of the new nodes.
    old: Vec<Box<[Term]>>,
    new: Vec<Box<[Term]>>,
    /// The targets of the new edges.
    targets: Vec<Option<usize>>,
    edges: Edges,
}

impl Translation for Split {
    /// Each state of the node has the facts with its values.
    fn forward(&self, context: &Context<'_>, lemma: Lemma) -> Image {
        let store = context.store;
        let (old, split) = (&self.old[lemma.node.index()], &self.split[lemma.node.index()]);
        let formula = store.normalize(lemma.formula);
        let states = self.states.iter().enumerate().filter(|(_, state)| state.node == lemma.node);
        let lemmas = states.map(|(number, state)| {
            let values = split.iter().zip(&state.values).map(|(&position, &value)| (old[position], value));
            let free = free(&self.split, state.node, old).into_iter().zip(self.new[number].iter().copied());
            let here: Substitution = values.chain(free).collect();
            let formula = store.instantiate(formula, &here);
            Lemma { node: NodeId::new(number), formula }
        });
        let lemmas: Vec<Lemma> = lemmas.collect();
        if lemmas.is_empty() { Image::Removed } else { Image::Lemmas(lemmas) }
    }

    fn is_renaming(&self) -> bool {
        true
    }

    fn model_back(&self, context: &Context<'_>, model: GraphModel) -> Result<GraphModel, Stop> {
        let store = context.store;
        let mut disjuncts: Vec<Vec<Term>> = vec![Vec::new(); self.old.len()];
        for (number, state) in self.states.iter().enumerate() {
            let variables = &self.old[state.node.index()];
            let split = &self.split[state.node.index()];
            let values = split
                .iter()
                .zip(&state.values)
                .map(|(&position, &value)| store.eq(variables[position], value));
            let free = free(&self.split, state.node, variables);
            let own = rename(store, model.formula(NodeId::new(number))?, &self.new[number], &free);
            disjuncts[state.node.index()].push(store.and_of(values.chain([own])));
        }
        Ok(GraphModel::of_formulas(disjuncts.iter().map(|disjuncts| store.or(disjuncts))))
    }

    fn derivation_back(&self, context: &Context<'_>, mut derivation: Derivation) -> Result<Derivation, Stop> {
        for step in &mut derivation.steps {
            let origin = self.edges.origin(step.edge)?;
            if let Some(state) = self.targets[step.edge.index()] {
                let fact = self.fact(context.store, &self.states[state], &step.fact);
                step.fact = fact.ok_or_else(|| Stop::Internal("a fact has too few arguments".to_owned()))?;
            }
            step.edge = origin;
        }
        Ok(derivation)
    }
}

impl Split {
    /// A fact with the values of its state.
    fn fact(&self, store: &TermStore, state: &State, values: &[Value]) -> Option<Box<[Value]>> {
        let split = &self.split[state.node.index()];
        let mut free = values.iter();
        let value = |position: usize| match split.iter().position(|&other| other == position) {
            Some(at) => store.term_to_value(state.values[at]),
            None => free.next().cloned(),
        };
        (0..self.old[state.node.index()].len()).map(value).collect()
    }
}
