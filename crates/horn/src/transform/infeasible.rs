//! Removes redundant clauses.
//!
//! | clause | why it is removed |
//! |---|---|
//! | `P(x) and x < 0 and x > 0 => Q(x)` | its label is unsatisfiable |
//! | `P(x) and y > x and x' = x => P(x')` | a tautology: the head is an atom of the body |
//! | `P(x) and x > 0 and x < 9 => false` beside `P(x) and x > 0 => false` | it is subsumed |
//!
//! The solver decides, with a small budget, whether a label is unsatisfiable; a clause that it does not decide stays. A
//! clause subsumes another one with the same head if its body's atoms and its constraint's conjuncts are among those of
//! the other one. As bodies are over canonical variables, these are comparisons of sets. Locals are the exception,
//! since each clause has its own. Clauses that differ only in the names of their locals are recognised after renaming;
//! otherwise only clauses without locals subsume.
//!
//! The way back: a removed clause holds in every model of the others, and no derivation needs it.

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::{Sort, Substitution, Term, TermStore};
use shofar_run::Limits;
use shofar_smt::sat::Outcome;
use shofar_smt::solver::Solver;

use super::subgraph::{SameNodes, with_edges};
use crate::Context;
use crate::graph::{EdgeId, HornGraph, NodeId};
use crate::transform::{Transformation, Transformed};

/// The conflict limit for one label.
const MOST_CONFLICTS: u64 = 100;
/// The propagation limit for one label.
const MOST_PROPAGATIONS: u64 = 20_000;
/// The maximal number of subterms of a label that the solver checks.
const MOST_SUBTERMS: usize = 20_000;
/// The maximal number of clauses compared with a clause for each of its conjuncts.
const MOST_CANDIDATES: usize = 16;

/// Removes clauses that cannot fire, tautologies and subsumed clauses.
#[derive(Clone, Copy, Default, Debug)]
pub struct RemoveInfeasible;

impl Transformation for RemoveInfeasible {
    fn name(&self) -> &'static str {
        "infeasible"
    }

    fn apply(&self, context: &Context<'_>, graph: &HornGraph) -> Option<Transformed> {
        let store = context.store;
        let mut is_kept = vec![true; graph.edges().len()];
        for (id, _) in graph.edges() {
            if context.interrupted().is_some() {
                break;
            }
            is_kept[id.index()] = !is_tautology(store, graph, id) && !is_unsatisfiable(context, graph, id);
        }
        remove_subsumed(context, graph, &mut is_kept);
        if is_kept.iter().all(|&kept| kept) {
            return None;
        }
        let (graph, edges) = with_edges(graph, |edge| is_kept[edge.index()]);
        Some(Transformed { graph, translation: Box::new(SameNodes(edges)) })
    }
}

/// Whether the head equals one of the atoms of the body.
fn is_tautology(store: &TermStore, graph: &HornGraph, id: EdgeId) -> bool {
    let edge = graph.edge(id);
    let same: Vec<usize> =
        (0..edge.sources().len()).filter(|&source| Some(edge.sources()[source]) == edge.target()).collect();
    if same.is_empty() {
        return false;
    }
    let conjuncts: FxHashSet<Term> = store.conjuncts(edge.label()).collect();
    let next = graph.target_variables(id);
    same.into_iter().any(|source| {
        let mut pairs = graph.source_variables(id, source).iter().zip(next);
        pairs.all(|(&variable, &next)| {
            let (is, is_not) =
                (|term| conjuncts.contains(&term), |term| conjuncts.contains(&store.not(term)));
            is(store.eq(variable, next))
                || store.sort_of(next) == Sort::BOOL
                    && ((is(variable) && is(next)) || (is_not(variable) && is_not(next)))
        })
    })
}

fn is_unsatisfiable(context: &Context<'_>, graph: &HornGraph, id: EdgeId) -> bool {
    let label = graph.edge(id).label();
    if label == Term::FALSE {
        return true;
    }
    let mut budget = MOST_SUBTERMS;
    let mut seen = FxHashSet::default();
    let mut open = vec![label];
    while let Some(term) = open.pop() {
        if seen.insert(term) {
            let Some(rest) = budget.checked_sub(1) else { return false };
            budget = rest;
            open.extend_from_slice(context.store.args(term));
        }
    }
    let limits =
        Limits { conflicts: Some(MOST_CONFLICTS), propagations: Some(MOST_PROPAGATIONS), ..context.limits };
    let mut solver = Solver::new(context.store);
    // A label that the solver does not support is not known to be unsatisfiable.
    solver.assert_all(&[label]).is_ok() && solver.check(&[], &limits) == Ok(Outcome::Unsat)
}

/// A clause as sets.
struct Signature {
    edge: EdgeId,
    /// The number of occurrences of each predicate in the body.
    body: FxHashMap<NodeId, usize>,
    /// The conjuncts of the label, with locals renamed.
    conjuncts: FxHashSet<Term>,
    /// The conjunct by which subsumed clauses find this one; `None` if there are no conjuncts.
    key: Option<Term>,
    has_locals: bool,
}

impl Signature {
    fn subsumes(&self, other: &Signature) -> bool {
        let is_within =
            |(node, count): (&NodeId, &usize)| other.body.get(node).is_some_and(|more| more >= count);
        if self.has_locals && (self.conjuncts.len() != other.conjuncts.len() || self.body != other.body) {
            return false;
        }
        self.body.len() <= other.body.len()
            && self.conjuncts.len() <= other.conjuncts.len()
            && self.body.iter().all(is_within)
            && self.conjuncts.is_subset(&other.conjuncts)
    }
}

/// Removes clauses that others subsume. If several subsume each other, the first one stays.
fn remove_subsumed(context: &Context<'_>, graph: &HornGraph, is_kept: &mut [bool]) {
    let mut canonical = Canonical { store: context.store, pools: FxHashMap::default() };
    let mut signatures: Vec<Signature> = Vec::new();
    for (id, _) in graph.edges().filter(|(id, _)| is_kept[id.index()]) {
        if context.interrupted().is_some() {
            return;
        }
        signatures.push(canonical.signature(graph, id));
    }
    // A clause comes after those that subsume it.
    signatures.sort_by_key(|signature| (signature.body.values().sum::<usize>(), signature.conjuncts.len()));
    let mut candidates: FxHashMap<(Option<NodeId>, Option<Term>), Vec<usize>> = FxHashMap::default();
    for (position, signature) in signatures.iter().enumerate() {
        if position % 1024 == 0 && context.interrupted().is_some() {
            return;
        }
        let target = graph.edge(signature.edge).target();
        let keys = signature.conjuncts.iter().copied().map(Some).chain([None]);
        // The order does not matter, as any subsuming clause will do.
        let is_subsumed = keys.clone().any(|key| {
            let candidates = candidates.get(&(target, key)).map_or(&[][..], Vec::as_slice);
            candidates.iter().any(|&other| signatures[other].subsumes(signature))
        });
        if is_subsumed {
            is_kept[signature.edge.index()] = false;
        } else {
            let candidates = candidates.entry((target, signature.key)).or_default();
            if candidates.len() < MOST_CANDIDATES {
                candidates.push(position);
            }
        }
    }
}

/// Renames locals to names that all clauses share.
struct Canonical<'a> {
    store: &'a TermStore,
    pools: FxHashMap<Sort, Vec<Term>>,
}

impl Canonical<'_> {
    fn signature(&mut self, graph: &HornGraph, id: EdgeId) -> Signature {
        let edge = graph.edge(id);
        let mut body = FxHashMap::default();
        for &node in edge.sources() {
            *body.entry(node).or_insert(0) += 1;
        }
        let locals = graph.locals(self.store, id);
        let label = match locals.is_empty() {
            true => edge.label(),
            false => self.renamed(edge.label(), &locals),
        };
        let conjuncts: FxHashSet<Term> = self.store.conjuncts(label).collect();
        // The youngest conjunct: it is the least likely to be in many clauses.
        let key = conjuncts.iter().copied().max();
        Signature { edge: id, body, conjuncts, key, has_locals: !locals.is_empty() }
    }

    fn renamed(&mut self, label: Term, locals: &[Term]) -> Term {
        let store = self.store;
        let mut counts: FxHashMap<Sort, usize> = FxHashMap::default();
        let mut renaming = Substitution::new();
        for &local in locals {
            let sort = store.sort_of(local);
            let count = counts.entry(sort).or_default();
            let pool = self.pools.entry(sort).or_default();
            if pool.len() == *count {
                pool.push(store.var(store.fresh_symbol("local"), sort));
            }
            renaming.insert(local, pool[*count]);
            *count += 1;
        }
        store.instantiate(label, &renaming)
    }
}
