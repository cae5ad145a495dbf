//! Interpolation abstraction: chooses the terms that interpolants may speak of.
//!
//! An interpolant of a long derivation may state the values of that derivation: `x = 3 and y = 6` after three rounds of a loop.
//! Such predicates exclude one derivation after the other. The relation `y = 2x` excludes all.
//!
//! So each fact of the tree gets its arguments twice: `x` where it is derived, and `y` where it is used. Equations `t(x) = t(y)`
//! for *templates* `t` connect them. With the arguments themselves as templates this is the tree as it was. With fewer
//! templates it says less; but if it still has no instance, its interpolants speak of the chosen templates alone, and they are
//! interpolants of the tree as well.
//!
//! **The choice.** A template is chosen for a predicate, that is, for all its facts in the tree: an invariant has to
//! hold in all rounds. Sums of several arguments are cheaper than single arguments. Templates are assumed, the cheap ones
//! first, and those outside of a core are not needed. Then we try to do without each of the others, the expensive ones first.
//!
//! P. Rümmer and P. Subotić, "Exploring interpolants" (FMCAD 2013); J. Leroux, P. Rümmer, P. Subotić, "Guiding Craig
//! interpolation with domain-specific abstractions" (Acta Informatica 2016). There, a lattice of templates is searched for all minimal
//! choices; here, one is enough.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use shofar_horn::HornGraph;
use shofar_horn::graph::{Node, NodeId, rename};
use shofar_logic::{Sort, Term, TermStore};
use shofar_run::{Limits, Stop};
use shofar_smt::sat::Outcome;
use shofar_smt::solver::Solver;

use crate::Run;

/// The conflicts of a query that tries to do without a template.
const CONFLICTS: u64 = 500;

/// Such queries in one refinement.
const ATTEMPTS: usize = 50;

/// A template of a node, by its position in the list.
pub(super) type TemplateId = (NodeId, usize);

/// The templates of each node: terms over its variables. Cheap ones come first, the arguments last.
pub(super) struct Templates {
    by_node: Vec<Vec<Term>>,
}

impl Templates {
    /// Takes sums for each node as templates, besides its arguments.
    pub(super) fn new(graph: &HornGraph, sums: Vec<Vec<Term>>) -> Self {
        let of_node = |((_, node), sums): ((NodeId, &Node), Vec<Term>)| {
            let arguments: BTreeSet<Term> = node.variables().iter().copied().collect();
            let sums = sums.into_iter().filter(|sum| !arguments.contains(sum));
            sums.chain(node.variables().iter().copied()).collect()
        };
        Templates { by_node: graph.nodes().zip(sums).map(of_node).collect() }
    }

    /// A template at a fact: the equation between its arguments where it is derived and where it is used.
    pub(super) fn equation(
        &self,
        store: &TermStore,
        graph: &HornGraph,
        (node, template): TemplateId,
        derived: &[Term],
        used: &[Term],
    ) -> Term {
        let term = self.by_node[node.index()][template];
        let variables = graph.node(node).variables();
        store.eq(rename(store, term, variables, derived), rename(store, term, variables, used))
    }

    /// The arguments of all nodes as templates: with them, facts are used as they are derived.
    pub(super) fn arguments(&self, graph: &HornGraph) -> BTreeSet<TemplateId> {
        let of_node = |(node, content): (NodeId, &Node)| {
            let all = self.by_node[node.index()].len();
            (all - content.arity()..all).map(move |at| (node, at))
        };
        graph.nodes().flat_map(of_node).collect()
    }

    /// The templates of nodes, the cheap ones first.
    fn of(&self, graph: &HornGraph, nodes: &BTreeSet<NodeId>) -> Vec<TemplateId> {
        let cost = |&(node, template): &TemplateId| {
            let sums = self.by_node[node.index()].len() - graph.node(node).arity();
            (template >= sums, template, node)
        };
        let of_node = |&node: &NodeId| (0..self.by_node[node.index()].len()).map(move |at| (node, at));
        let mut all: Vec<TemplateId> = nodes.iter().flat_map(of_node).collect();
        all.sort_by_key(cost);
        all
    }
}

/// The choice of templates for one tree.
pub(super) struct Choice<'a> {
    run: &'a Run<'a>,
    solver: Solver<'a>,
    /// The cheap ones first; each with the literal that switches it on.
    templates: Vec<(TemplateId, Term)>,
}

impl<'a> Choice<'a> {
    /// A tree: formulas over separate arguments, and the node of each fact with its arguments where it is derived and used.
    pub(super) fn new(
        run: &'a Run<'a>,
        graph: &HornGraph,
        templates: &Templates,
        formulas: &[Term],
        facts: &[(NodeId, &[Term], &[Term])],
    ) -> Result<Self, Stop> {
        let store = run.store;
        let mut solver = run.solver();
        run.assert(&mut solver, formulas)?;
        let nodes: BTreeSet<NodeId> = facts.iter().map(|&(node, ..)| node).collect();
        let switch = || store.var(store.fresh_symbol("template"), Sort::BOOL);
        let templates_of: Vec<(TemplateId, Term)> =
            templates.of(graph, &nodes).into_iter().map(|template| (template, switch())).collect();
        for &((node, template), switch) in &templates_of {
            for &(_, derived, used) in facts.iter().filter(|fact| fact.0 == node) {
                let equation = templates.equation(store, graph, (node, template), derived, used);
                run.assert(&mut solver, &[store.implies(switch, equation)])?;
            }
        }
        Ok(Choice { run, solver, templates: templates_of })
    }

    /// Templates with which the tree has no instance; `None` if it has one with all of them.
    pub(super) fn choose(&mut self) -> Result<Option<BTreeSet<TemplateId>>, Stop> {
        let all: Vec<Term> = self.templates.iter().map(|&(_, switch)| switch).collect();
        if self.run.is_satisfiable(&mut self.solver, &all)? {
            return Ok(None);
        }
        let position: FxHashMap<Term, usize> =
            self.templates.iter().enumerate().map(|(at, &(_, switch))| (switch, at)).collect();
        let positions =
            |core: Vec<Term>| -> BTreeSet<usize> { core.iter().map(|term| position[term]).collect() };
        let mut needed = positions(self.solver.core());
        let mut tried = needed.clone();
        let limits = Limits { conflicts: Some(CONFLICTS), ..self.run.limits };
        for _ in 0..ATTEMPTS {
            let Some(without) = tried.pop_last() else { break };
            // All cheaper ones may take its place, not only those that are needed at present.
            let others = (0..without).chain(needed.range(without + 1..).copied());
            let others: Vec<Term> = others.map(|at| self.templates[at].1).collect();
            let outcome = self.solver.check(&others, &limits);
            match outcome.map_err(|unsupported| unsupported.stop(self.run.store))? {
                Outcome::Unsat => {
                    needed = positions(self.solver.core());
                    tried = needed.range(..without).copied().collect();
                }
                Outcome::Sat => {}
                Outcome::Unknown(_) => self.run.go_on()?,
            }
        }
        Ok(Some(needed.into_iter().map(|at| self.templates[at].0).collect()))
    }
}
