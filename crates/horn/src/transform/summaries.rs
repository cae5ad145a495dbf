//! Replaces recursive predicates over numbers by formulas that are exactly their facts.
//!
//! | before | after |
//! |---|---|
//! | `add(0, y, y)`; `add(x, y, z) => add(x + 1, y, z + 1)`; `add(x, y, z) and P(x, y, z) => Q(z)` | `z = x + y and x >= 0 and P(x, y, z) => Q(z)` |
//!
//! Functional programs become clauses in which `add`, `max` or `even` are predicates. Each of them has a simple meaning that
//! engines would have to find together with the invariant of the property. Here strongly connected components of predicates over
//! integers and Booleans are solved alone, those first that depend on no other one:
//!
//! ```text
//! for each component whose clauses mention no other predicates, except replaced ones
//!     for some divisions of facts by keys, the cheapest first
//!         F := the hulls of the facts                                       hull/
//!         if F is exact, replace the component by it, and continue with the next one
//! ```
//!
//! *Exact.* Hulls are inductive, so they contain all facts. They are facts if each of them is derived from smaller ones. For a
//! rank `r`, a linear sum of the arguments, it suffices that the following formula is unsatisfiable for each predicate, where `C`
//! ranges over its clauses, with label `L` and arguments `y` in the body:
//!
//! ```text
//! F(x) and, for all C, not exists y. L(y, x) and F(y) and 0 <= r(y) < r(x)
//! ```
//!
//! Projection eliminates the quantifier. It may give up early and so return less than all `x`, but never more. So by induction
//! over `r`, each point of `F` has a derivation: its first clause is one of `C`, and the points `y` have smaller ranks.
//! Predicates of components that were replaced before need no rank.
//!
//! The way back (`defined.rs`): the derivation of a fact follows the ranks downwards. Its length is bounded.
//!
//! Linear ranks are those of A. Podelski and A. Rybalchenko, "A complete method for the synthesis of linear ranking functions"
//! (VMCAI 2004), for clauses in place of transitions.

use std::time::Duration;

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::{Relation, Sort, Term, TermStore, Value};
use shofar_run::{Limits, Stop};
use shofar_smt::project::{Bounds, eliminate};
use shofar_smt::sat::Outcome;
use shofar_smt::solver::Solver;

use crate::Context;
use crate::graph::{EdgeId, HornGraph, Node, NodeId, rename};
use crate::hull::{Analysis, CONFLICTS, Division};
use crate::scc::components;
use crate::transform::defined::{
    Definitions, Derived, Facts, at_defined_sources, defined_label, replace, satisfying,
};
use crate::transform::working::label_size;
use crate::transform::{Transformation, Transformed};
use crate::witness::GraphStep;

/// The greatest number of predicates of a component.
const MOST_NODES: usize = 4;
/// The greatest number of clauses of a component.
const MOST_EDGES: usize = 24;
/// The greatest number of arguments of a predicate that are numbers.
const MOST_NUMBERS: usize = 5;
/// The greatest number of subterms of a label.
const MOST_TERMS: usize = 300;
/// The greatest number of values of an argument that divide facts.
const MOST_VALUES: i64 = 8;
/// The number of arguments up to which orders and remainders divide facts.
const FEW_NUMBERS: usize = 3;
/// Queries for the hulls of one component.
const QUERIES: usize = 400;
/// Disjuncts of an elimination.
const DISJUNCTS: usize = 32;
/// Choices of ranks for one component.
const MOST_RANKS: usize = 40;
/// Time for all components; a tenth of the remaining time, if that is less.
const TIME: Duration = Duration::from_secs(2);
/// Steps of a derivation of replaced predicates.
const MOST_STEPS: usize = 200_000;

/// Replaces predicates over numbers by their exact hulls.
#[derive(Clone, Copy, Default, Debug)]
pub struct Summaries {
    /// Whether clauses that never had datatypes stay unchanged.
    only_with_datatypes: bool,
}

impl Summaries {
    /// Replaces predicates only where datatypes are or were. Other clauses rarely compute by relations, so the search for
    /// summaries would cost time there.
    pub fn beside_datatypes() -> Self {
        Summaries { only_with_datatypes: true }
    }
}

impl Transformation for Summaries {
    fn name(&self) -> &'static str {
        "summaries"
    }

    fn apply(&self, context: &Context<'_>, graph: &HornGraph) -> Option<Transformed> {
        if self.only_with_datatypes && !context.store.has_datatypes() {
            return None;
        }
        let mut search = Search::new(context.for_part(10, TIME), graph);
        for component in in_order(graph) {
            if search.context.interrupted().is_some() {
                break;
            }
            search.summarise(&component);
        }
        let Search { definitions, ranks, .. } = search;
        if definitions.is_empty() {
            return None;
        }
        let (incoming, _) = graph.incoming();
        let facts = Ranked { definitions: definitions.clone(), ranks, incoming };
        Some(replace(context.store, graph, definitions, facts))
    }
}

/// The strongly connected components, each after those that it depends on.
fn in_order(graph: &HornGraph) -> Vec<Vec<NodeId>> {
    let mut needed = vec![Vec::new(); graph.nodes().len()];
    for (_, edge) in graph.edges() {
        if let Some(target) = edge.target() {
            needed[target.index()].extend(edge.sources().iter().map(|source| source.index()));
        }
    }
    let (component, count) = components(&needed);
    let mut members = vec![Vec::new(); count];
    for (node, &component) in component.iter().enumerate() {
        members[component].push(NodeId::new(node));
    }
    members
}

struct Search<'a> {
    context: Context<'a>,
    /// The old graph.
    graph: &'a HornGraph,
    incoming: Vec<Vec<EdgeId>>,
    definitions: Definitions,
    /// The ranks of defined predicates with recursion, over the variables of their nodes.
    ranks: FxHashMap<NodeId, Rank>,
}

/// A sum of arguments that decreases towards the premises of a fact.
#[derive(Clone, Copy, Debug)]
struct Rank {
    /// The sum, over the node's variables.
    sum: Term,
    /// The first predicate of the component. Ranks of one component are compared.
    component: NodeId,
}

impl<'a> Search<'a> {
    fn new(context: Context<'a>, graph: &'a HornGraph) -> Self {
        let limits = Limits { conflicts: Some(CONFLICTS), ..context.limits };
        Search {
            context: context.within(limits),
            graph,
            incoming: graph.incoming().0,
            definitions: Definitions::default(),
            ranks: FxHashMap::default(),
        }
    }

    /// Finds definitions of a component, if it is simple enough and its hulls are exact.
    fn summarise(&mut self, nodes: &[NodeId]) {
        let Some(component) = self.component(nodes) else { return };
        let mut analysis = Analysis::new(self.context, &component.graph, QUERIES);
        for divisions in component.divisions(self.context.store) {
            for (number, division) in divisions.into_iter().enumerate() {
                analysis.divide(NodeId::new(number), division);
            }
            let edges: Vec<EdgeId> = component.graph.edges().map(|(id, _)| id).collect();
            // A query that is too hard ends the search; nothing is known then.
            if analysis.close(&edges).is_err() {
                return;
            }
            let hulls: Vec<Term> =
                (0..nodes.len()).map(|number| analysis.formula(NodeId::new(number))).collect();
            if let Some(ranks) = component.exact_by(&self.context, &hulls) {
                self.definitions.extend(nodes.iter().copied().zip(hulls));
                let rank = |(&node, sum)| (node, Rank { sum, component: nodes[0] });
                self.ranks.extend(nodes.iter().zip(ranks).map(rank));
                return;
            }
        }
    }

    /// The component as a graph of its own, with the definitions of all other predicates; `None` if it is too large or not
    /// about numbers.
    fn component(&self, nodes: &[NodeId]) -> Option<Component> {
        let (store, graph) = (self.context.store, self.graph);
        let is_plain = |term: &Term| matches!(store.sort_of(*term), Sort::INT | Sort::BOOL);
        let edges = || nodes.iter().flat_map(|node| &self.incoming[node.index()]);
        if nodes.len() > MOST_NODES || edges().count() > MOST_EDGES {
            return None;
        }
        let mut own = HornGraph::new();
        for &node in nodes {
            let variables = graph.node(node).variables();
            let numbers = variables.iter().filter(|variable| store.sort_of(**variable) == Sort::INT).count();
            if numbers > MOST_NUMBERS || !variables.iter().all(is_plain) {
                return None;
            }
            own.add_node(graph.node(node).clone());
        }
        for &id in edges() {
            let edge = graph.edge(id);
            let number = |node: &NodeId| nodes.iter().position(|other| other == node).map(NodeId::new);
            let others = edge.sources().iter().filter(|node| number(node).is_none());
            let is_known = others.into_iter().all(|node| self.definitions.contains_key(node));
            let label = defined_label(store, graph, id, &self.definitions);
            if !is_known || label_size(store, label, MOST_TERMS) > MOST_TERMS {
                return None;
            }
            if !store.free_vars(&[label]).iter().all(is_plain) {
                return None;
            }
            let sources: Vec<NodeId> = edge.sources().iter().filter_map(number).collect();
            own.add_edge(&sources, edge.target().as_ref().and_then(number), label);
        }
        Some(Component { graph: own })
    }
}

/// A strongly connected component as a graph of its own.
struct Component {
    graph: HornGraph,
}

impl Component {
    /// The ways to divide the facts that are tried, by nodes, cheap ones first.
    fn divisions(&self, store: &TermStore) -> Vec<Vec<Division>> {
        let nodes: Vec<NodeId> = self.graph.nodes().map(|(id, _)| id).collect();
        let base: Vec<Division> = nodes
            .iter()
            .map(|&node| Division {
                values: self.arguments_of_few_values(store, node),
                inequalities: true,
                ..Division::default()
            })
            .collect();
        let with = |change: &dyn Fn(&[usize], &mut Division)| -> Vec<Division> {
            let divide = |(&node, base): (&NodeId, &Division)| {
                let is_number = |&at: &usize| {
                    let sort = store.sort_of(self.graph.node(node).variables()[at]);
                    sort == Sort::INT && !base.values.contains(&at)
                };
                let numbers: Vec<usize> = (0..self.graph.node(node).arity()).filter(is_number).collect();
                let mut division = base.clone();
                if numbers.len() <= FEW_NUMBERS {
                    change(&numbers, &mut division);
                }
                division
            };
            nodes.iter().zip(&base).map(divide).collect()
        };
        let pairs: Vec<(usize, usize)> =
            (0..FEW_NUMBERS).flat_map(|a| (a + 1..FEW_NUMBERS).map(move |b| (a, b))).collect();
        let mut divisions = vec![base.clone()];
        for &(a, b) in &pairs {
            divisions.push(with(&|numbers, division| {
                division.orders.extend(numbers.get(a).copied().zip(numbers.get(b).copied()));
            }));
        }
        for at in 0..FEW_NUMBERS {
            divisions.push(with(&|numbers, division| {
                division.remainders.extend(numbers.get(at).map(|&at| (at, 2)));
            }));
        }
        divisions.push(with(&|numbers, division| {
            let all = pairs.iter().filter_map(|&(a, b)| numbers.get(a).copied().zip(numbers.get(b).copied()));
            division.orders.extend(all);
        }));
        let mut seen = Vec::new();
        divisions.retain(|division| {
            let is_new = !seen.contains(division);
            seen.push(division.clone());
            is_new
        });
        divisions
    }

    /// The arguments that are integers and that each clause keeps between two numbers: the tags of other transformations.
    fn arguments_of_few_values(&self, store: &TermStore, node: NodeId) -> Vec<usize> {
        let (incoming, _) = self.graph.incoming();
        let has_few = |variable: Term, edge: EdgeId| {
            let (mut least, mut greatest) = (None, None);
            for literal in store.conjuncts(self.graph.edge(edge).label()) {
                let Some(bound) = store.bound(literal).filter(|bound| bound.sum == variable) else {
                    continue;
                };
                let (relation, number) = bound.rounded(store);
                let number = number.to_i64();
                match relation {
                    Relation::AtLeast => least = number,
                    Relation::AtMost => greatest = number,
                    Relation::Equal => (least, greatest) = (number, number),
                    _ => {}
                }
            }
            least.zip(greatest).is_some_and(|(least, greatest)| {
                greatest.checked_sub(least).is_some_and(|distance| distance < MOST_VALUES)
            })
        };
        let next = self.graph.node(node).next();
        let is_of_few = |&at: &usize| {
            let edges = &incoming[node.index()];
            store.sort_of(next[at]) == Sort::INT
                && !edges.is_empty()
                && edges.iter().all(|&edge| has_few(next[at], edge))
        };
        (0..next.len()).filter(is_of_few).collect()
    }

    /// Ranks by which all points of the hulls are facts, by nodes; `None` if there are none among those that are tried.
    fn exact_by(&self, context: &Context<'_>, hulls: &[Term]) -> Option<Vec<Term>> {
        let zero = vec![context.store.int(0); hulls.len()];
        // Without ranks, for a start: most hulls that are not exact have points that no clause derives.
        if !self.is_exact(context, hulls, None) {
            return None;
        }
        if self.graph.edges().all(|(_, edge)| edge.sources().is_empty()) {
            return Some(zero);
        }
        self.ranks(context.store).into_iter().find(|ranks| self.is_exact(context, hulls, Some(ranks)))
    }

    /// The ranks that are tried, by nodes: arguments, the sum of all, and differences of two.
    fn ranks(&self, store: &TermStore) -> Vec<Vec<Term>> {
        let of_node = |(_, node): (NodeId, &Node)| {
            let is_number = |term: &Term| store.sort_of(*term) == Sort::INT;
            let numbers: Vec<Term> = node.variables().iter().copied().filter(is_number).collect();
            let mut sums = numbers.clone();
            sums.push(numbers.iter().fold(store.int(0), |sum, &number| store.add(&[sum, number])));
            for &a in &numbers {
                sums.extend(numbers.iter().filter(|&&b| b != a).map(|&b| store.sub(a, b)));
            }
            sums
        };
        let mut choices: Vec<Vec<Term>> = vec![Vec::new()];
        for sums in self.graph.nodes().map(of_node) {
            let extended =
                choices.iter().flat_map(|choice| sums.iter().map(|&sum| [&choice[..], &[sum]].concat()));
            choices = extended.take(MOST_RANKS).collect();
        }
        choices
    }

    /// Whether each point of the hulls is derived by a clause from points of the hulls, of smaller ranks if there are ranks.
    fn is_exact(&self, context: &Context<'_>, hulls: &[Term], ranks: Option<&[Term]>) -> bool {
        let (incoming, _) = self.graph.incoming();
        self.graph.nodes().all(|(node, content)| {
            let store = context.store;
            let hull = rename(store, hulls[node.index()], content.variables(), content.next());
            let mut missed = vec![hull];
            for &edge in &incoming[node.index()] {
                match self.derived_by(context, edge, hulls, ranks) {
                    Some(derived) => missed.push(store.not(derived)),
                    None => return false,
                }
            }
            let mut solver = Solver::new(store);
            solver.assert_all(&missed).is_ok() && solver.check(&[], &context.limits) == Ok(Outcome::Unsat)
        })
    }

    /// A formula, over the variables of an edge's target, for facts that it derives from points of the hulls.
    fn derived_by(
        &self,
        context: &Context<'_>,
        id: EdgeId,
        hulls: &[Term],
        ranks: Option<&[Term]>,
    ) -> Option<Term> {
        let (store, edge) = (context.store, self.graph.edge(id));
        let mut conjuncts = vec![edge.label()];
        for (source, node) in edge.sources().iter().enumerate() {
            conjuncts.push(self.graph.at_source(store, id, source, hulls[node.index()]));
            if let (Some(ranks), Some(target)) = (ranks, edge.target()) {
                let rank = self.graph.at_source(store, id, source, ranks[node.index()]);
                conjuncts.push(store.ge(rank, store.int(0)));
                conjuncts.push(store.lt(rank, self.graph.at_target(store, id, ranks[target.index()])));
            }
        }
        let formula = store.and(&conjuncts);
        let kept: FxHashSet<Term> = self.graph.target_variables(id).iter().copied().collect();
        let mut others = store.free_vars(&[formula]);
        others.retain(|variable| !kept.contains(variable));
        let bounds = Bounds { limits: context.limits, disjuncts: DISJUNCTS, minimize: false };
        // Whatever its status, the result holds only of facts that are derived.
        Some(eliminate(store, formula, &others, &bounds).ok()?.formula)
    }
}

// ---- the way back --------------------------------------------------------------------------------------------

struct Ranked {
    definitions: Definitions,
    ranks: FxHashMap<NodeId, Rank>,
    /// The edges of the old graph into each node.
    incoming: Vec<Vec<EdgeId>>,
}

/// A fact that waits for its premises.
struct Open {
    node: NodeId,
    fact: Box<[Value]>,
    edge: EdgeId,
    /// The facts of the premises, in the order of the sources.
    needed: Vec<(NodeId, Box<[Value]>)>,
    /// The steps of the first of them.
    premises: Vec<usize>,
}

impl Facts for Ranked {
    fn derive(
        &self,
        context: &Context<'_>,
        graph: &HornGraph,
        derived: &mut Derived,
        node: NodeId,
        fact: Box<[Value]>,
    ) -> Result<usize, Stop> {
        if let Some(step) = derived.find(node, &fact) {
            return Ok(step);
        }
        let mut open = vec![self.open(context, graph, node, fact)?];
        loop {
            let Some(last) = open.last_mut() else {
                return Err(Stop::Internal("a derivation without steps".to_owned()));
            };
            let Some((node, fact)) = last.needed.get(last.premises.len()) else {
                let Some(Open { node, fact, edge, premises, .. }) = open.pop() else { continue };
                let step = derived.add(node, GraphStep { edge, premises: premises.into(), fact });
                match open.last_mut() {
                    Some(user) => user.premises.push(step),
                    None => return Ok(step),
                }
                continue;
            };
            if let Some(step) = derived.find(*node, fact) {
                last.premises.push(step);
                continue;
            }
            let next = self.open(context, graph, *node, fact.clone())?;
            open.push(next);
            if open.len() + derived.steps.len() > MOST_STEPS {
                return Err(Stop::Exhausted("a summary stands for too many steps of a derivation"));
            }
        }
    }
}

impl Ranked {
    /// A clause that derives a fact, with premises of smaller ranks.
    fn open(
        &self,
        context: &Context<'_>,
        graph: &HornGraph,
        node: NodeId,
        fact: Box<[Value]>,
    ) -> Result<Open, Stop> {
        context.go_on()?;
        for &edge in &self.incoming[node.index()] {
            let sources = graph.edge(edge).sources();
            let given: Vec<(Term, Value)> =
                graph.target_variables(edge).iter().copied().zip(fact.iter().cloned()).collect();
            let wanted: Vec<Term> = (0..sources.len())
                .flat_map(|source| graph.source_variables(edge, source).iter().copied())
                .collect();
            let condition = self.condition(context.store, graph, edge, node);
            let label = graph.edge(edge).label();
            let mut values = match satisfying(context, label, condition, &given, &wanted) {
                Ok(values) => values.into_iter(),
                // The clause does not derive it.
                Err(Stop::Internal(_)) => continue,
                Err(stop) => return Err(stop),
            };
            let premise = |&source: &NodeId| {
                (source, values.by_ref().take(graph.node(source).arity()).collect::<Box<[Value]>>())
            };
            let needed = sources.iter().map(premise).collect();
            return Ok(Open { node, fact, edge, needed, premises: Vec::new() });
        }
        Err(Stop::Internal("a summary is not exact".to_owned()))
    }

    /// Says that the premises of an edge have definitions, and smaller ranks in the same component.
    fn condition(&self, store: &TermStore, graph: &HornGraph, edge: EdgeId, node: NodeId) -> Term {
        let mut conjuncts = at_defined_sources(store, graph, edge, &self.definitions);
        let own = self.ranks[&node];
        for (source, node) in graph.edge(edge).sources().iter().enumerate() {
            let rank = self.ranks[node];
            if rank.component == own.component {
                let of_source = graph.at_source(store, edge, source, rank.sum);
                conjuncts.push(store.ge(of_source, store.int(0)));
                conjuncts.push(store.lt(of_source, graph.at_target(store, edge, own.sum)));
            }
        }
        store.and(&conjuncts)
    }
}
