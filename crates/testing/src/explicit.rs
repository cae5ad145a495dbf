//! Solves a graph over a small finite domain, by saturation.
//!
//! All facts are derived, one after the other, by trying all values for the variables of each clause. This is complete
//! if labels keep numbers within the domain, as those of [`systems`](super::systems) do, or if numbers outside never
//! matter (see [`Ends::Open`]).

use std::ops::RangeInclusive;

use shofar_horn::HornGraph;
use shofar_horn::graph::{EdgeId, NodeId};
use shofar_horn::witness::{Derivation, GraphModel, GraphStep};
use shofar_logic::{Assignment, EvalError, Sort, Term, TermStore, Value};

use crate::Random;

/// The facts of a model about numbers beyond the domain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ends {
    /// None.
    Closed,
    /// The same as for the nearest number within. This is also inductive if labels keep numbers within the domain or
    /// ignore them, and necessary if they ignore them.
    Open,
}

/// The derivable facts.
pub struct Saturation<'a> {
    store: &'a TermStore,
    graph: &'a HornGraph,
    domain: RangeInclusive<i64>,
    facts: Vec<Fact>,
    /// The facts of each node.
    of_node: Vec<Vec<usize>>,
    /// The last step of a derivation of `false`.
    refutation: Option<(EdgeId, Vec<usize>)>,
}

struct Fact {
    values: Vec<Value>,
    /// How it was derived; `None` for an assumed fact.
    step: Option<(EdgeId, Vec<usize>)>,
}

impl<'a> Saturation<'a> {
    /// Derives all facts, or `false`.
    pub fn of(store: &'a TermStore, graph: &'a HornGraph, domain: RangeInclusive<i64>) -> Self {
        let of_node = vec![Vec::new(); graph.nodes().len()];
        let mut saturation =
            Saturation { store, graph, domain, facts: Vec::new(), of_node, refutation: None };
        saturation.close(0);
        saturation
    }

    /// The facts of a node.
    pub fn facts_of(&self, node: NodeId) -> impl Iterator<Item = &[Value]> + '_ {
        self.of_node[node.index()].iter().map(|&fact| &*self.facts[fact].values)
    }

    /// Whether `false` cannot be derived.
    pub fn is_safe(&self) -> bool {
        self.refutation.is_none()
    }

    /// The derivation of `false`, if there is one.
    pub fn derivation(&self) -> Option<Derivation> {
        let (query, premises) = self.refutation.as_ref()?;
        let mut is_needed = vec![false; self.facts.len()];
        let mut open = premises.clone();
        while let Some(fact) = open.pop() {
            if !std::mem::replace(&mut is_needed[fact], true) {
                open.extend_from_slice(&self.facts[fact].step.as_ref()?.1);
            }
        }
        let mut positions = vec![usize::MAX; self.facts.len()];
        let mut steps = Vec::new();
        for (index, fact) in self.facts.iter().enumerate().filter(|&(index, _)| is_needed[index]) {
            let (edge, premises) = fact.step.as_ref()?;
            let premises = premises.iter().map(|&premise| positions[premise]).collect();
            positions[index] = steps.len();
            steps.push(GraphStep { edge: *edge, premises, fact: fact.values.clone().into() });
        }
        let premises = premises.iter().map(|&premise| positions[premise]).collect();
        steps.push(GraphStep { edge: *query, premises, fact: [].into() });
        Some(Derivation { steps })
    }

    /// The least model, within the domain.
    pub fn least_model(&self, ends: Ends) -> GraphModel {
        let formula = |node: usize| {
            let variables = self.graph.node(NodeId::new(node)).variables();
            let facts = self.of_node[node].iter();
            self.store.or_of(facts.map(|&fact| self.point(variables, &self.facts[fact].values, ends)))
        };
        GraphModel::of_formulas((0..self.of_node.len()).map(formula))
    }

    /// A larger model: up to `attempts` random underivable facts are assumed, unless they lead to `false`.
    pub fn larger_model(mut self, random: &mut Random, attempts: usize, ends: Ends) -> GraphModel {
        for _ in 0..attempts {
            if self.of_node.is_empty() {
                break;
            }
            let node = NodeId::new(random.below(self.of_node.len()));
            let sorts = self.graph.node(node).sorts(self.store);
            let values =
                sorts.iter().map(|&sort| random.choose(&values(&self.domain, sort)).clone()).collect();
            let before = self.facts.len();
            if self.add(node, values, None) {
                self.close(before);
                if self.refutation.take().is_some() {
                    self.facts.truncate(before);
                    for facts in &mut self.of_node {
                        facts.retain(|&fact| fact < before);
                    }
                }
            }
        }
        self.least_model(ends)
    }

    fn point(&self, variables: &[Term], values: &[Value], ends: Ends) -> Term {
        let store = self.store;
        store.and_of(variables.iter().zip(values).map(|(&variable, value)| {
            let term = store.value_to_term(value);
            let is_open = ends == Ends::Open;
            match value {
                Value::Int(number) if is_open && *number == (*self.domain.start()).into() => {
                    store.le(variable, term)
                }
                Value::Int(number) if is_open && *number == (*self.domain.end()).into() => {
                    store.ge(variable, term)
                }
                _ => store.eq(variable, term),
            }
        }))
    }

    fn add(&mut self, node: NodeId, values: Vec<Value>, step: Option<(EdgeId, Vec<usize>)>) -> bool {
        let facts = &mut self.of_node[node.index()];
        if facts.iter().any(|&fact| self.facts[fact].values == values) {
            return false;
        }
        facts.push(self.facts.len());
        self.facts.push(Fact { values, step });
        true
    }

    /// Derives all consequences that use facts from index `first` on; for 0, also those without premises. Stops at
    /// `false`.
    fn close(&mut self, first: usize) {
        let mut new = first;
        let mut is_start = first == 0;
        while is_start || new < self.facts.len() {
            let end = self.facts.len();
            for (edge, _) in self.graph.edges() {
                for premises in self.premises(edge, new, end, is_start) {
                    self.apply(edge, &premises);
                    if self.refutation.is_some() {
                        return;
                    }
                }
            }
            (new, is_start) = (end, false);
        }
    }

    /// The choices of facts before `end` for the sources of an edge, with at least one from `new` on.
    fn premises(&self, edge: EdgeId, new: usize, end: usize, is_start: bool) -> Vec<Vec<usize>> {
        let sources = self.graph.edge(edge).sources();
        if sources.is_empty() {
            return if is_start { vec![Vec::new()] } else { Vec::new() };
        }
        let mut choices: Vec<Vec<usize>> = vec![Vec::new()];
        for source in sources {
            let facts: Vec<usize> =
                self.of_node[source.index()].iter().copied().filter(|&fact| fact < end).collect();
            choices = choices
                .iter()
                .flat_map(|choice| facts.iter().map(|&fact| [&choice[..], &[fact]].concat()))
                .collect();
        }
        choices.retain(|choice| choice.iter().any(|&fact| fact >= new));
        choices
    }

    /// Derives all facts of an edge from the premises.
    fn apply(&mut self, edge: EdgeId, premises: &[usize]) {
        let graph = self.graph;
        let mut assignment = Assignment::new();
        for (source, &fact) in premises.iter().enumerate() {
            for (&variable, value) in
                graph.source_variables(edge, source).iter().zip(&self.facts[fact].values)
            {
                assignment.set(variable, value.clone());
            }
        }
        let target = graph.target_variables(edge);
        let mut variables = target.to_vec();
        variables.extend(graph.locals(self.store, edge));
        let mut found: Vec<Vec<Value>> = Vec::new();
        self.enumerate(graph.edge(edge).label(), &variables, target, assignment, &mut found);
        for values in found {
            match graph.edge(edge).target() {
                Some(node) => {
                    self.add(node, values, Some((edge, premises.to_vec())));
                }
                None => self.refutation = Some((edge, premises.to_vec())),
            }
        }
    }

    /// The values of the wanted variables that make the label true. The label is evaluated again after each choice, so
    /// most branches end early.
    fn enumerate(
        &self,
        label: Term,
        variables: &[Term],
        wanted: &[Term],
        assignment: Assignment,
        found: &mut Vec<Vec<Value>>,
    ) {
        match self.store.eval(label, &assignment) {
            Ok(value) if value != Value::Bool(true) => return,
            Ok(_) | Err(EvalError::Unassigned(_)) => {}
            Err(error) => panic!("a label has no value: {}", error.display(self.store)),
        }
        let Some((&variable, rest)) = variables.split_first() else {
            let values: Option<Vec<Value>> = wanted.iter().map(|&v| assignment.get(v).cloned()).collect();
            let values = values.expect("the wanted variables are among those that have got values");
            if !found.contains(&values) {
                found.push(values);
            }
            return;
        };
        for value in values(&self.domain, self.store.sort_of(variable)) {
            let mut assignment = assignment.clone();
            assignment.set(variable, value);
            self.enumerate(label, rest, wanted, assignment, found);
        }
    }
}

/// The values of a sort.
pub(crate) fn values(domain: &RangeInclusive<i64>, sort: Sort) -> Vec<Value> {
    match sort {
        Sort::BOOL => vec![Value::Bool(false), Value::Bool(true)],
        Sort::INT => domain.clone().map(|number| Value::Int(number.into())).collect(),
        _ => panic!("the domain has numbers and truth values only"),
    }
}
