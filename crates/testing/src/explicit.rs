//! Solves a graph over a small finite domain, by saturation.
//!
//! All facts are derived, one after the other, by trying all values for the variables of each clause. This is complete
//! if labels keep numbers within the domain, as those of [`systems`](super::systems) do, or if numbers outside never
//! matter (see [`Ends::Open`]).

use std::ops::RangeInclusive;

use shofar_horn::HornGraph;
use shofar_horn::graph::{Edge, EdgeId, NodeId};
use shofar_horn::witness::{Derivation, GraphModel, GraphStep};
use shofar_logic::{Assignment, ConstructorId, EvalError, Sort, SortKind, Term, TermStore, Value};

use crate::Random;

/// The number of nested constructors in enumerated values.
const MOST_LEVELS: usize = 3;

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
    /// The least height of a derivation; facts of clauses without premises have height 0.
    height: usize,
}

impl<'a> Saturation<'a> {
    /// Derives all facts, or `false`.
    pub fn of(store: &'a TermStore, graph: &'a HornGraph, domain: RangeInclusive<i64>) -> Self {
        let mut saturation = Saturation::empty(store, graph, domain);
        saturation.close(0);
        saturation
    }

    /// The facts of a node.
    pub fn facts_of(&self, node: NodeId) -> impl Iterator<Item = &[Value]> + '_ {
        self.of_node[node.index()].iter().map(|&fact| &*self.facts[fact].values)
    }

    /// The facts of a node with derivations up to a height.
    pub fn facts_up_to(&self, node: NodeId, height: usize) -> impl Iterator<Item = &[Value]> + '_ {
        let facts = self.of_node[node.index()].iter().map(|&fact| &self.facts[fact]);
        facts.filter(move |fact| fact.height <= height).map(|fact| &*fact.values)
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
            let values = sorts
                .iter()
                .map(|&sort| random.choose(&values(self.store, &self.domain, sort)).clone())
                .collect();
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

    /// Derives nothing yet.
    fn empty(store: &'a TermStore, graph: &'a HornGraph, domain: RangeInclusive<i64>) -> Self {
        let of_node = vec![Vec::new(); graph.nodes().len()];
        Saturation { store, graph, domain, facts: Vec::new(), of_node, refutation: None }
    }

    /// Whether each step of a derivation is an instance of its edge, with values of the domain for the locals. The
    /// solver is not needed.
    pub fn confirms(
        store: &'a TermStore,
        graph: &'a HornGraph,
        domain: RangeInclusive<i64>,
        derivation: &Derivation,
    ) -> bool {
        let nothing = Saturation::empty(store, graph, domain);
        let is_right = |(number, step): (usize, &GraphStep)| {
            let edge = graph.edge(step.edge);
            let mut assignment: Assignment =
                graph.target_variables(step.edge).iter().copied().zip(step.fact.iter().cloned()).collect();
            for (source, &premise) in step.premises.iter().enumerate() {
                let Some(earlier) = derivation.steps[..number].get(premise) else { return false };
                if graph.edge(earlier.edge).target() != edge.sources().get(source).copied() {
                    return false;
                }
                let variables = graph.source_variables(step.edge, source).iter().copied();
                assignment.extend(variables.zip(earlier.fact.iter().cloned()));
            }
            let mut found = Vec::new();
            let locals = graph.locals(store, step.edge);
            nothing.enumerate(edge.label(), &locals, &[], assignment, &mut found);
            step.premises.len() == edge.sources().len() && !found.is_empty()
        };
        let last = derivation.steps.last().map(|step| graph.edge(step.edge).target());
        last == Some(None) && derivation.steps.iter().enumerate().all(is_right)
    }

    /// An edge that a model violates within the domain. The solver is not needed.
    pub fn violated(
        store: &'a TermStore,
        graph: &'a HornGraph,
        domain: RangeInclusive<i64>,
        model: &GraphModel,
    ) -> Option<EdgeId> {
        let nothing = Saturation::empty(store, graph, domain);
        let is_violated = |&(id, edge): &(EdgeId, &Edge)| {
            let target = model.at_target(store, graph, id).expect("the model consists of formulas");
            let sources = (0..edge.sources().len()).map(|source| {
                model.at_source(store, graph, id, source).expect("the model consists of formulas")
            });
            let counterexample = store.and_of(sources.chain([edge.label(), store.not(target)]));
            let variables = store.free_vars(&[counterexample]);
            let mut arguments = variables.clone();
            let locals = graph.locals(store, id);
            arguments.retain(|variable| !locals.contains(variable));
            let mut found = Vec::new();
            nothing.enumerate(counterexample, &variables, &arguments, Assignment::new(), &mut found);
            !found.is_empty()
        };
        graph.edges().find(is_violated).map(|(id, _)| id)
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
                _ => self.has_value(variable, value),
            }
        }))
    }

    /// Says that a variable has a value. Arrays are compared index by index: not every translation of models can handle
    /// equations of arrays.
    fn has_value(&self, variable: Term, value: &Value) -> Term {
        let store = self.store;
        let equal = |variable: Term, value: &Value| store.eq(variable, store.value_to_term(value));
        let Some((index, _)) = store.array_parts(store.sort_of(variable)) else {
            return equal(variable, value);
        };
        let (entries, default) = store.array_entries(value).expect("this is an array");
        store.and_of(values(store, &self.domain, index).iter().map(|index| {
            let written = entries.iter().find(|(other, _)| other == index);
            equal(store.select(variable, store.value_to_term(index)), written.map_or(&default, |(_, v)| v))
        }))
    }

    fn add(&mut self, node: NodeId, values: Vec<Value>, step: Option<(EdgeId, Vec<usize>)>) -> bool {
        let facts = &mut self.of_node[node.index()];
        if facts.iter().any(|&fact| self.facts[fact].values == values) {
            return false;
        }
        facts.push(self.facts.len());
        // Facts are derived in rounds, so the first derivation of a fact is one of the lowest.
        let premises = step.iter().flat_map(|(_, premises)| premises);
        let height = premises.map(|&premise| 1 + self.facts[premise].height).max().unwrap_or(0);
        self.facts.push(Fact { values, step, height });
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
        let mut next = 0;
        match self.store.eval(label, &assignment) {
            Ok(value) if value != Value::Bool(true) => return,
            // The other variables do not matter.
            Ok(_) => {
                let values: Option<Vec<Value>> = wanted.iter().map(|&v| assignment.get(v).cloned()).collect();
                if let Some(values) = values {
                    if !found.contains(&values) {
                        found.push(values);
                    }
                    return;
                }
            }
            // The variable that is missed first decides most. Locals are last: there may be many that do not matter.
            Err(EvalError::Unassigned(missing)) => {
                let open = variables.iter().position(|variable| wanted.contains(variable));
                let missed = variables.iter().position(|&variable| variable == missing);
                next = match missed {
                    Some(missed) if open.is_none() || wanted.contains(&missing) => missed,
                    _ => open.unwrap_or(0),
                };
            }
            // A tester that is not decided yet may guard the selector.
            Err(EvalError::Unspecified(_)) if !variables.is_empty() => {}
            Err(error) => panic!("a label has no value: {}", error.display(self.store)),
        }
        let variable =
            *variables.get(next).expect("without variables, the label and the wanted ones have values");
        let rest = [&variables[..next], &variables[next + 1..]].concat();
        // Of the locals, one choice is enough.
        let is_local = wanted.iter().all(|&variable| assignment.get(variable).is_some());
        let known = found.len();
        for value in values(self.store, &self.domain, self.store.sort_of(variable)) {
            let mut assignment = assignment.clone();
            assignment.set(variable, value);
            self.enumerate(label, &rest, wanted, assignment, found);
            if is_local && found.len() > known {
                return;
            }
        }
    }
}

/// The values of a sort: those with numbers of the domain, and with at most [`MOST_LEVELS`] nested constructors.
pub(crate) fn values(store: &TermStore, domain: &RangeInclusive<i64>, sort: Sort) -> Vec<Value> {
    nested_values(store, domain, sort, MOST_LEVELS)
}

fn nested_values(store: &TermStore, domain: &RangeInclusive<i64>, sort: Sort, levels: usize) -> Vec<Value> {
    let below = |part: Sort| nested_values(store, domain, part, levels - 1);
    match store.sort_kind(sort) {
        SortKind::Bool => vec![Value::Bool(false), Value::Bool(true)],
        SortKind::Int => domain.clone().map(|number| Value::Int(number.into())).collect(),
        SortKind::Datatype(_) | SortKind::Array(..) if levels == 0 => Vec::new(),
        SortKind::Datatype(_) => {
            let constructors = store.datatype(sort).map_or(&[][..], |datatype| datatype.constructors());
            let of_constructor = |&constructor: &ConstructorId| {
                let fields = store.constructor(constructor).fields.iter();
                choices(fields.map(|&(_, field)| below(field))).into_iter().map(move |fields| {
                    let fields: Vec<Term> = fields.iter().map(|field| store.value_to_term(field)).collect();
                    Value::Term(store.construct_term(constructor, &fields))
                })
            };
            constructors.iter().flat_map(of_constructor).collect()
        }
        SortKind::Array(index, element) => {
            let (indices, elements) = (below(*index), below(*element));
            let array = |elements: Vec<Value>| {
                store.array_value(sort, &elements[0], indices.iter().cloned().zip(elements.iter().cloned()))
            };
            choices(indices.iter().map(|_| elements.clone())).into_iter().map(array).collect()
        }
        _ => panic!("values of this sort are not enumerated"),
    }
}

/// All choices of one member from each list.
fn choices(lists: impl Iterator<Item = Vec<Value>>) -> Vec<Vec<Value>> {
    let with = |chosen: Vec<Vec<Value>>, list: Vec<Value>| {
        let extended = chosen
            .iter()
            .flat_map(|choice| list.iter().map(move |value| choice.iter().chain([value]).cloned().collect()));
        extended.collect()
    };
    lists.fold(vec![Vec::new()], with)
}
