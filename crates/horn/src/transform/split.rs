//! Splits predicates by arguments with few values that most clauses determine.
//!
//! | before | after |
//! |---|---|
//! | `P(true, x)`; `P(true, x) => P(false, x + 1)`; `P(false, x) and x < 0 => false` | `P1(x)`; `P1(x) => P2(x + 1)`; `P2(x) and x < 0 => false` |
//!
//! Control flow is often encoded in data, in flags or a program counter. An argument is split if each clause that
//! derives its predicate gives it a value, or passes on another split argument. Some clauses may leave a flag open;
//! these are then doubled. Some clause must also test a split argument, or nothing would be gained.
//!
//! ```text
//! choose the arguments to split
//! explore the *states*, pairs of a node and values of its split arguments, from the facts on:
//!     put the values of the sources' states into the label; if it becomes false, the edge does not lead on from there
//!     read off which states of the target it leads to
//! make a node of each state, and an edge of each edge between states
//! ```
//!
//! If the number of edges would exceed its bound, the graph stays unchanged. Unreached states have no nodes.
//!
//! `states.rs` makes the new graph and has the way back.

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::{Op, Sort, Substitution, Term, TermStore};

use super::constants::is_value;
use super::equations::solve;
use super::states::{Instance, State, split_into};
use crate::Context;
use crate::graph::{EdgeId, HornGraph, NodeId};
use crate::transform::{Transformation, Transformed};

/// The factor by which the number of edges may grow.
const MOST_GROWTH: usize = 4;
/// One in this many edges into a node may leave a flag open.
const OPEN_ONE_IN: usize = 4;

/// The maximal number of target states of one edge from given source states.
const MOST_TARGETS: usize = 4;

/// Splits predicates by flags and program counters.
#[derive(Clone, Copy, Default, Debug)]
pub struct SplitArguments;

impl Transformation for SplitArguments {
    fn name(&self) -> &'static str {
        "split"
    }

    fn apply(&self, context: &Context<'_>, graph: &HornGraph) -> Option<Transformed> {
        let store = context.store;
        let split = chosen(context, graph)?;
        let mut exploration = Exploration::new(store, graph, &split);
        exploration.run(context)?;
        let Exploration { states, instances, .. } = exploration;
        Some(split_into(store, graph, &split, states, &instances))
    }
}

// ---- which arguments -----------------------------------------------------------------------------------------

/// The information of an edge about an argument of its target.
enum Given {
    Value,
    /// A copy of an argument of a source.
    Copy(NodeId, usize),
    Open,
}

/// The arguments to split in order, indexed by node. `None` if there are none.
fn chosen(context: &Context<'_>, graph: &HornGraph) -> Option<Vec<Vec<usize>>> {
    let store = context.store;
    // For each node and argument, the information of the edges into the node.
    let mut given: Vec<Vec<Vec<Given>>> =
        graph.nodes().map(|(_, node)| (0..node.arity()).map(|_| Vec::new()).collect()).collect();
    let mut is_tested: Vec<Vec<bool>> = graph.nodes().map(|(_, node)| vec![false; node.arity()]).collect();
    for (id, edge) in graph.edges() {
        if context.interrupted().is_some() {
            return None;
        }
        let mut arguments: FxHashMap<Term, (NodeId, usize)> = FxHashMap::default();
        for (source, &node) in edge.sources().iter().enumerate() {
            for (position, &variable) in graph.source_variables(id, source).iter().enumerate() {
                arguments.insert(variable, (node, position));
            }
        }
        for conjunct in store.conjuncts(edge.label()) {
            if let Some(&(node, position)) =
                valued(store, conjunct).and_then(|variable| arguments.get(&variable))
            {
                is_tested[node.index()][position] = true;
            }
        }
        let Some(node) = edge.target() else { continue };
        let next = graph.target_variables(id);
        for (position, value) in values(store, edge.label(), next).into_iter().enumerate() {
            given[node.index()][position].push(match value {
                Some(value) if is_value(store, value) => Given::Value,
                Some(value) => match arguments.get(&value) {
                    Some(&(node, position)) => Given::Copy(node, position),
                    None => Given::Open,
                },
                None => Given::Open,
            });
        }
    }
    let is_split = closed(store, graph, &given);
    let is_useful =
        is_split.iter().flatten().zip(is_tested.iter().flatten()).any(|(&split, &test)| split && test);
    let positions = |flags: &Vec<bool>| (0..flags.len()).filter(|&position| flags[position]).collect();
    is_useful.then(|| is_split.iter().map(positions).collect())
}

/// The greatest set of arguments such that the edges give a value to each, or pass on another one in the set, with the
/// exceptions allowed for flags.
fn closed(store: &TermStore, graph: &HornGraph, given: &[Vec<Vec<Given>>]) -> Vec<Vec<bool>> {
    let mut is_split: Vec<Vec<bool>> = graph.nodes().map(|(_, node)| vec![true; node.arity()]).collect();
    // The number of edges that leave an argument open, and the copies of each argument.
    let mut open: Vec<Vec<usize>> = graph.nodes().map(|(_, node)| vec![0; node.arity()]).collect();
    let mut copies: FxHashMap<(NodeId, usize), Vec<(NodeId, usize)>> = FxHashMap::default();
    let mut doubtful: Vec<(NodeId, usize)> = Vec::new();
    for (id, node) in graph.nodes() {
        for position in 0..node.arity() {
            for given in &given[id.index()][position] {
                match *given {
                    Given::Value => {}
                    Given::Copy(node, from) => copies.entry((node, from)).or_default().push((id, position)),
                    Given::Open => open[id.index()][position] += 1,
                }
            }
            doubtful.push((id, position));
        }
    }
    while let Some((id, position)) = doubtful.pop() {
        let (edges, open_edges) = (given[id.index()][position].len(), open[id.index()][position]);
        let is_flag = store.sort_of(graph.node(id).next()[position]) == Sort::BOOL;
        let is_fine = edges > 0 && if is_flag { open_edges * OPEN_ONE_IN <= edges } else { open_edges == 0 };
        if !is_fine && std::mem::replace(&mut is_split[id.index()][position], false) {
            for (copy, at) in copies.remove(&(id, position)).unwrap_or_default() {
                open[copy.index()][at] += 1;
                doubtful.push((copy, at));
            }
        }
    }
    is_split
}

/// The variable whose value a literal determines.
fn valued(store: &TermStore, literal: Term) -> Option<Term> {
    let is_variable = |term: Term| matches!(store.op(term), Op::Var(_));
    match store.view(literal) {
        (Op::Var(_), _) => Some(literal),
        (Op::Not, &[atom]) if is_variable(atom) => Some(atom),
        (Op::Eq, &[a, b]) if is_variable(a) && is_value(store, b) => Some(a),
        (Op::Eq, &[a, b]) if is_variable(b) && is_value(store, a) => Some(b),
        _ => None,
    }
}

/// The definitions of variables by the equations of a formula.
fn values(store: &TermStore, formula: Term, variables: &[Term]) -> Vec<Option<Term>> {
    let wanted: FxHashSet<Term> = variables.iter().copied().collect();
    let solved = solve(store, formula, |variable| wanted.contains(&variable).then_some(0));
    let definitions: FxHashMap<Term, Term> = solved.definitions.into_iter().collect();
    variables.iter().map(|variable| definitions.get(variable).copied()).collect()
}

// ---- states ------------------------------------------------------------------------------------------------

struct Exploration<'a> {
    store: &'a TermStore,
    graph: &'a HornGraph,
    split: &'a [Vec<usize>],
    states: Vec<State>,
    numbers: FxHashMap<State, usize>,
    of_node: Vec<Vec<usize>>,
    /// The visited edges, with the states of their sources.
    seen: FxHashSet<(EdgeId, Vec<usize>)>,
    instances: Vec<Instance>,
}

impl<'a> Exploration<'a> {
    fn new(store: &'a TermStore, graph: &'a HornGraph, split: &'a [Vec<usize>]) -> Self {
        let (states, numbers, seen, instances) = Default::default();
        let of_node = vec![Vec::new(); graph.nodes().len()];
        Exploration { store, graph, split, states, numbers, of_node, seen, instances }
    }

    /// Finds all states and the edges between them. `None` if there are too many.
    fn run(&mut self, context: &Context<'_>) -> Option<()> {
        let most = self.graph.edges().len().saturating_mul(MOST_GROWTH);
        let (outgoing, facts) = self.graph.outgoing();
        for fact in facts {
            self.look(fact, Vec::new())?;
        }
        let mut next = 0;
        while next < self.states.len() {
            for &edge in &outgoing[self.states[next].node.index()] {
                if context.interrupted().is_some() {
                    return None;
                }
                for sources in self.sources_with(edge, next, most)? {
                    self.look(edge, sources)?;
                }
                if self.instances.len() > most || self.seen.len() > 2 * most {
                    return None;
                }
            }
            next += 1;
        }
        Some(())
    }

    /// All choices of states, up to the given one, for the sources of an edge that use the given one.
    fn sources_with(&self, edge: EdgeId, state: usize, most: usize) -> Option<Vec<Vec<usize>>> {
        let mut choices: Vec<Vec<usize>> = vec![Vec::new()];
        for source in self.graph.edge(edge).sources() {
            let states = self.of_node[source.index()].iter().copied().filter(|&other| other <= state);
            let states: Vec<usize> = states.collect();
            if choices.len().saturating_mul(states.len()) > most.max(1) {
                return None;
            }
            choices = choices
                .iter()
                .flat_map(|choice| states.iter().map(|&state| [&choice[..], &[state]].concat()))
                .collect();
        }
        choices.retain(|choice| choice.contains(&state));
        Some(choices)
    }

    /// Follows an edge from the given states. `None` if it leads to too many states.
    fn look(&mut self, id: EdgeId, sources: Vec<usize>) -> Option<()> {
        if !self.seen.insert((id, sources.clone())) {
            return Some(());
        }
        let (store, graph) = (self.store, self.graph);
        let mut known = Substitution::new();
        for (source, &state) in sources.iter().enumerate() {
            self.states[state].put(&mut known, self.split, graph.source_variables(id, source));
        }
        let label = store.instantiate(graph.edge(id).label(), &known);
        let Some(node) = graph.edge(id).target() else {
            if label != Term::FALSE {
                self.instances.push(Instance { edge: id, sources, target: None, label });
            }
            return Some(());
        };
        let next = graph.target_variables(id);
        let values = values(store, label, next);
        let mut valuations: Vec<Vec<Term>> = vec![Vec::new()];
        for &position in &self.split[node.index()] {
            let choices = match values[position].filter(|&value| is_value(store, value)) {
                Some(value) => vec![value],
                // By the choice of the arguments this is a flag.
                None => vec![Term::TRUE, Term::FALSE],
            };
            valuations = valuations
                .iter()
                .flat_map(|values| choices.iter().map(|&value| [&values[..], &[value]].concat()))
                .collect();
            if valuations.len() > MOST_TARGETS {
                return None;
            }
        }
        for values in valuations {
            let state = State { node, values };
            let mut known = Substitution::new();
            state.put(&mut known, self.split, next);
            let label = store.instantiate(label, &known);
            if label != Term::FALSE {
                let target = Some(self.number(state));
                self.instances.push(Instance { edge: id, sources: sources.clone(), target, label });
            }
        }
        Some(())
    }

    fn number(&mut self, state: State) -> usize {
        if let Some(&number) = self.numbers.get(&state) {
            return number;
        }
        let number = self.states.len();
        self.of_node[state.node.index()].push(number);
        self.numbers.insert(state.clone(), number);
        self.states.push(state);
        number
    }
}
