//! Replaces predicates that mean "different" by disequalities.
//!
//! | before | after |
//! |---|---|
//! | `D(zero, succ(y))`; `D(succ(x), zero)`; `D(x, y) => D(succ(x), succ(y))`; `P(x, y) and D(x, y) => false` | `P(x, y) and x != y => false` |
//!
//! Tools that know no disequality of datatypes axiomatise it by Horn clauses: for each sort a predicate `D(x, y)` with
//! the following rules, where all variables are different.
//!
//! - *Clash*: `D(c(..), d(..))`, for two constructors.
//! - *Step*: `E(u, v) => D(c(.., u, ..), c(.., v, ..))`, at one position, where `E` is such a predicate for the field.
//! - *Native*: `u != v => D(c(.., u, ..), c(.., v, ..))`, at one position.
//!
//! A binary predicate is *recognised* if all clauses with it in the head are such rules, there is a clash for each
//! ordered pair of different constructors, and each position of each constructor has a step or a native rule. The
//! predicates of steps have to be recognised too, so the greatest set is computed. A predicate with other or with
//! missing rules stays.
//!
//! Why the answer stays: by induction on derivations, each derivable pair is a pair of different values. By induction
//! on the size of the terms, each pair of different values is derivable. So the least model of `D` is exactly `!=`. No
//! clause with another head needs more than the least model of `D` in its body.
//!
//! The way back (`defined.rs`): in a model `D(x, y)` is `x != y`, which satisfies the rules. The derivation of a removed
//! atom descends to the first difference.
//!
//! The axiomatisation is that of Kostyukov, Mordvinov and Fedyukovich (Beyond the Elementary Representations of Program
//! Invariants over Algebraic Data Types, PLDI 2021).

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::{ConstructorId, Op, Sort, Term, TermStore, Value};
use shofar_run::Stop;

use crate::Context;
use crate::graph::{EdgeId, HornGraph, NodeId};
use crate::transform::defined::{Derived, Facts, replace};
use crate::transform::{Transformation, Transformed};
use crate::witness::GraphStep;

/// Replaces predicates that mean "different" by disequalities.
#[derive(Clone, Copy, Default, Debug)]
pub struct RecogniseDisequality;

impl Transformation for RecogniseDisequality {
    fn name(&self) -> &'static str {
        "diseq"
    }

    fn apply(&self, context: &Context<'_>, graph: &HornGraph) -> Option<Transformed> {
        let store = context.store;
        let rules = recognised(context, graph)?;
        let differs = |&node: &NodeId| {
            let variables = graph.node(node).variables();
            (node, store.not(store.eq(variables[0], variables[1])))
        };
        let definitions = rules.keys().map(differs).collect();
        Some(replace(store, graph, definitions, Recognised { rules }))
    }
}

// ---- recognition ---------------------------------------------------------------------------------------------

/// How pairs of different values are derived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Rule {
    /// By different constructors.
    Clash(ConstructorId, ConstructorId),
    /// By different fields at a position of a constructor.
    Native(ConstructorId, usize),
    /// By different fields at a position of a constructor, which a predicate derives.
    Step(ConstructorId, usize, NodeId),
}

/// The recognised predicates with their rules.
type Rules = FxHashMap<NodeId, Vec<(EdgeId, Rule)>>;

/// The predicates that mean "different".
pub fn disequalities(context: &Context<'_>, graph: &HornGraph) -> Vec<NodeId> {
    recognised(context, graph).into_iter().flatten().map(|(node, _)| node).collect()
}

/// The greatest set of predicates that mean "different"; `None` if it is empty.
fn recognised(context: &Context<'_>, graph: &HornGraph) -> Option<Rules> {
    let store = context.store;
    let is_binary = |id: NodeId| match *graph.node(id).next() {
        [x, y] => store.sort_of(x) == store.sort_of(y) && store.datatype(store.sort_of(x)).is_some(),
        _ => false,
    };
    let candidates: Vec<NodeId> = graph.nodes().map(|(id, _)| id).filter(|&id| is_binary(id)).collect();
    if candidates.is_empty() {
        return None;
    }
    let mut rules: Rules = candidates.into_iter().map(|id| (id, Vec::new())).collect();
    for (id, edge) in graph.edges() {
        if context.interrupted().is_some() {
            return None;
        }
        let Some(node) = edge.target() else { continue };
        let Some(known) = rules.get_mut(&node) else { continue };
        match rule(store, graph, id) {
            Some(rule) => known.push((id, rule)),
            None => drop(rules.remove(&node)),
        }
    }
    rules.retain(|&node, known| is_complete(store, store.sort_of(graph.node(node).next()[0]), known));
    loop {
        let others: FxHashSet<NodeId> = rules.keys().copied().collect();
        let is_closed = |&(_, rule): &(EdgeId, Rule)| match rule {
            Rule::Step(_, _, node) => others.contains(&node),
            Rule::Clash(..) | Rule::Native(..) => true,
        };
        rules.retain(|_, known| known.iter().all(is_closed));
        if rules.len() == others.len() {
            return (!rules.is_empty()).then_some(rules);
        }
    }
}

/// Whether rules derive all pairs of different values of a sort, if the predicates of steps do so for the fields.
fn is_complete(store: &TermStore, sort: Sort, rules: &[(EdgeId, Rule)]) -> bool {
    let constructors = store.datatype(sort).map_or(&[][..], |datatype| datatype.constructors());
    let has = |wanted: &dyn Fn(Rule) -> bool| rules.iter().any(|&(_, rule)| wanted(rule));
    let descends = |c: ConstructorId, at: usize| {
        has(&|rule| match rule {
            Rule::Native(constructor, position) | Rule::Step(constructor, position, _) => {
                (constructor, position) == (c, at)
            }
            Rule::Clash(..) => false,
        })
    };
    constructors.iter().all(|&c| {
        constructors.iter().all(|&d| c == d || has(&|rule| rule == Rule::Clash(c, d)))
            && (0..store.constructor(c).fields.len()).all(|at| descends(c, at))
    })
}

/// The rule that an edge is.
fn rule(store: &TermStore, graph: &HornGraph, id: EdgeId) -> Option<Rule> {
    let edge = graph.edge(id);
    let &[x, y] = graph.target_variables(id) else { return None };
    let mut sides = [None; 2];
    let mut others = Vec::new();
    for conjunct in store.conjuncts(edge.label()) {
        let side = match store.view(conjunct) {
            (Op::Eq, &[a, b]) if a == x || a == y => Some((a, b)),
            (Op::Eq, &[b, a]) if a == x || a == y => Some((a, b)),
            _ => None,
        };
        match side {
            Some((variable, value)) => {
                let side = &mut sides[usize::from(variable == y)];
                if side.replace(value).is_some() {
                    return None;
                }
            }
            None => others.push(conjunct),
        }
    }
    let [Some(left), Some(right)] = sides else { return None };
    let ((Op::Construct(c), left), (Op::Construct(d), right)) = (store.view(left), store.view(right)) else {
        return None;
    };
    // The fields are different variables, and neither side.
    let mut seen: FxHashSet<Term> = [x, y].into_iter().collect();
    let is_new = |&field: &Term| matches!(store.op(field), Op::Var(_)) && seen.insert(field);
    if !left.iter().chain(right).all(is_new) {
        return None;
    }
    match (edge.sources(), &others[..]) {
        ([], []) if c != d => Some(Rule::Clash(c, d)),
        ([], &[other]) if c == d => {
            let mut fields = left.iter().zip(right);
            let position = fields.position(|(&u, &v)| store.not(store.eq(u, v)) == other)?;
            Some(Rule::Native(c, position))
        }
        (&[node], []) if c == d => {
            let source = graph.source_variables(id, 0);
            let mut fields = left.iter().zip(right);
            let position = fields.position(|(&u, &v)| source == [u, v])?;
            Some(Rule::Step(c, position, node))
        }
        _ => None,
    }
}

// ---- the way back --------------------------------------------------------------------------------------------

struct Recognised {
    rules: Rules,
}

/// A recognised predicate with a pair of different values.
type Fact = (NodeId, Box<[Value]>);

impl Facts for Recognised {
    /// Descends to the first difference, and returns from it.
    fn derive(
        &self,
        context: &Context<'_>,
        _: &HornGraph,
        derived: &mut Derived,
        node: NodeId,
        fact: Box<[Value]>,
    ) -> Result<usize, Stop> {
        let mut open: Vec<(EdgeId, Fact)> = Vec::new();
        let mut next = Some((node, fact));
        let mut below = None;
        while let Some((node, pair)) = next.take() {
            below = derived.find(node, &pair);
            if below.is_some() {
                break;
            }
            let (edge, further) = self
                .rule(context.store, node, &pair)
                .ok_or_else(|| Stop::Internal("equal values were to be derived as different".to_owned()))?;
            open.push((edge, (node, pair)));
            next = further;
        }
        while let Some((edge, (node, fact))) = open.pop() {
            let premises = below.into_iter().collect();
            below = Some(derived.add(node, GraphStep { edge, premises, fact }));
        }
        below.ok_or_else(|| Stop::Internal("a derivation without steps".to_owned()))
    }
}

impl Recognised {
    /// The edge that derives a pair, and the pair that it needs.
    fn rule(&self, store: &TermStore, node: NodeId, pair: &[Value]) -> Option<(EdgeId, Option<Fact>)> {
        let &[Value::Term(a), Value::Term(b)] = pair else { return None };
        let ((Op::Construct(c), left), (Op::Construct(d), right)) = (store.view(a), store.view(b)) else {
            return None;
        };
        let rules = &self.rules[&node];
        let differs = |at: usize| c == d && left[at] != right[at];
        let at_once = rules.iter().find(|&&(_, rule)| match rule {
            Rule::Clash(one, other) => (one, other) == (c, d),
            Rule::Native(constructor, at) => constructor == c && differs(at),
            Rule::Step(..) => false,
        });
        if let Some(&(edge, _)) = at_once {
            return Some((edge, None));
        }
        rules.iter().find_map(|&(edge, rule)| match rule {
            Rule::Step(constructor, at, below) if constructor == c && differs(at) => {
                // Parts of a value are values; looking through them again and again would take quadratic time.
                let field = |term: Term| match store.op(term) {
                    Op::Construct(_) => Some(Value::Term(term)),
                    _ => store.term_to_value(term),
                };
                Some((edge, Some((below, [field(left[at])?, field(right[at])?].into()))))
            }
            _ => None,
        })
    }
}
