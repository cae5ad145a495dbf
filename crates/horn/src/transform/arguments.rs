//! Removes arguments on which no query depends.
//!
//! | before | after |
//! |---|---|
//! | `x = 0 => P(x, y)`; `P(x, y) and y' = y + x => P(x + 1, y')`; `P(x, y) and x < 0 => false` | `P(x)`, and so on |
//!
//! In each label the equations are solved for the locals and the target's arguments (`equations.rs`). It becomes
//! `rest and x1' = t1 and ... and xn' = tn`, where no xi' occurs anywhere else. An argument of a source *matters* if it
//! occurs in the rest, or in a `ti` such that the argument xi' of the target matters. The least such sets are computed,
//! starting with the empty ones. New labels omit the definitions of arguments that do not matter. In logic programming
//! the pass is known as redundant argument filtering (Leuschel and Sørensen, LOPSTR 1996), in compilers as dead code
//! elimination.
//!
//! - A1: whether an edge can fire, and with which values for the mattering arguments of the target, does not depend on
//!   the arguments of the sources that do not matter.
//!
//! The way back: a model stays unchanged, because the old edges imply the new ones. In a derivation, values for the
//! removed arguments are chosen step by step. By A1 such values exist for any choice for the premises, so a fact with
//! several uses has the same values everywhere.

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::{Substitution, Term, TermStore, Value};
use shofar_run::{Limits, Stop};
use shofar_smt::project::{Bounds, Elimination, Status, eliminate};

use super::equations::{Solved, solve};
use crate::Context;
use crate::graph::{EdgeId, HornGraph, NodeId};
use crate::ground;
use crate::transform::{Image, Lemma, Transformation, Transformed, Translation};
use crate::witness::{Derivation, GraphModel};

/// The conflict limit of each query when a lemma is projected.
const MOST_CONFLICTS: u64 = 100;

/// Removes arguments that do not matter.
#[derive(Clone, Copy, Default, Debug)]
pub struct RemoveUnusedArguments;

impl Transformation for RemoveUnusedArguments {
    fn name(&self) -> &'static str {
        "arguments"
    }

    fn apply(&self, context: &Context<'_>, graph: &HornGraph) -> Option<Transformed> {
        let store = context.store;
        if graph.nodes().all(|(_, node)| node.arity() == 0) {
            return None;
        }
        let mut solved = Vec::with_capacity(graph.edges().len());
        for (id, _) in graph.edges() {
            if context.interrupted().is_some() {
                return None;
            }
            solved.push(solved_label(store, graph, id));
        }
        let matters = mattering(store, graph, &solved);
        if matters.iter().flatten().all(|&matters| matters) {
            return None;
        }
        let mut new = HornGraph::new();
        for (id, node) in graph.nodes() {
            let kept: Vec<usize> = (0..node.arity()).filter(|&at| matters[id.index()][at]).collect();
            new.add_node(node.with_arguments(&kept));
        }
        for ((id, edge), solved) in graph.edges().zip(&solved) {
            let label = new_label(store, graph, id, solved, &matters);
            new.add_edge(edge.sources(), edge.target(), label);
        }
        let translation = Filtered { graph: graph.clone(), matters };
        Some(Transformed { graph: new, translation: Box::new(translation) })
    }
}

/// A label solved for locals first, then for arguments of the target.
fn solved_label(store: &TermStore, graph: &HornGraph, edge: EdgeId) -> Solved {
    let sources = 0..graph.edge(edge).sources().len();
    let given: FxHashSet<Term> =
        sources.flat_map(|source| graph.source_variables(edge, source)).copied().collect();
    let next: FxHashSet<Term> = graph.target_variables(edge).iter().copied().collect();
    solve(store, graph.edge(edge).label(), |variable| {
        (!given.contains(&variable)).then(|| u32::from(next.contains(&variable)))
    })
}

/// The arguments of each node that matter.
fn mattering(store: &TermStore, graph: &HornGraph, solved: &[Solved]) -> Vec<Vec<bool>> {
    let mut matters: Vec<Vec<bool>> = graph.nodes().map(|(_, node)| vec![false; node.arity()]).collect();
    // The definitions of each argument in the edges to its node. They matter if the argument does.
    let mut definitions: Vec<Vec<Vec<Term>>> =
        graph.nodes().map(|(_, node)| vec![Vec::new(); node.arity()]).collect();
    let mut arguments: FxHashMap<Term, (NodeId, usize)> = FxHashMap::default();
    for ((id, edge), solved) in graph.edges().zip(solved) {
        for (source, &node) in edge.sources().iter().enumerate() {
            for (position, &variable) in graph.source_variables(id, source).iter().enumerate() {
                arguments.insert(variable, (node, position));
            }
        }
        if let Some(node) = edge.target() {
            let next: FxHashMap<Term, usize> = graph.target_variables(id).iter().copied().zip(0..).collect();
            for (variable, definition) in &solved.definitions {
                if let Some(&position) = next.get(variable) {
                    definitions[node.index()][position].push(*definition);
                }
            }
        }
    }
    // The walker visits each term once: subterms of a visited term are known to matter.
    let mut walker = shofar_logic::Walker::new(store);
    let mut open: Vec<Term> = solved.iter().flat_map(|solved| solved.rest.iter().copied()).collect();
    while !open.is_empty() {
        let mut found = Vec::new();
        walker.visit(open.drain(..), |term| found.extend(arguments.get(&term).copied()));
        for (node, position) in found {
            if !std::mem::replace(&mut matters[node.index()][position], true) {
                open.append(&mut definitions[node.index()][position]);
            }
        }
    }
    matters
}

/// The label of an edge without the arguments that do not matter.
fn new_label(
    store: &TermStore,
    graph: &HornGraph,
    id: EdgeId,
    solved: &Solved,
    matters: &[Vec<bool>],
) -> Term {
    let edge = graph.edge(id);
    let mut removed: FxHashSet<Term> = FxHashSet::default();
    let mut remove = |node: NodeId, variables: &[Term]| {
        let all = variables.iter().zip(&matters[node.index()]);
        removed.extend(all.filter(|&(_, &matters)| !matters).map(|(&variable, _)| variable));
    };
    for (source, &node) in edge.sources().iter().enumerate() {
        remove(node, graph.source_variables(id, source));
    }
    if let Some(node) = edge.target() {
        remove(node, graph.target_variables(id));
    }
    if removed.is_empty()
        || !store.free_vars(&[edge.label()]).iter().any(|variable| removed.contains(variable))
    {
        return edge.label();
    }
    let next: FxHashSet<Term> = graph.target_variables(id).iter().copied().collect();
    let definitions = solved
        .definitions
        .iter()
        .filter(|(variable, _)| next.contains(variable) && !removed.contains(variable));
    let equations = definitions.map(|&(variable, definition)| store.eq(variable, definition));
    let label = store.and_of(equations.chain(solved.rest.iter().copied()));
    // Arguments of the target without a definition become locals, under new names.
    let mut renaming = Substitution::new();
    for variable in store.free_vars(&[label]) {
        if removed.contains(&variable) {
            renaming.insert(variable, store.var(store.fresh_symbol("local"), store.sort_of(variable)));
        }
    }
    store.instantiate(label, &renaming)
}

/// `exists variables. formula`, or something weaker, without the variables.
fn projected(context: &Context<'_>, formula: Term, variables: &[Term]) -> Term {
    let store = context.store;
    let limits = Limits { conflicts: Some(MOST_CONFLICTS), ..context.limits };
    let bounds = Bounds { limits, ..Bounds::default() };
    match eliminate(store, formula, variables, &bounds) {
        Ok(Elimination { formula, status: Status::Complete, .. }) => formula,
        _ => {
            let mut conjuncts: Vec<Term> = store.conjuncts(formula).collect();
            conjuncts.retain(|&conjunct| {
                let mentioned = store.free_vars(&[conjunct]);
                !variables.iter().any(|variable| mentioned.contains(variable))
            });
            store.and(&conjuncts)
        }
    }
}

struct Filtered {
    /// The old graph.
    graph: HornGraph,
    /// The arguments that were kept, for each node.
    matters: Vec<Vec<bool>>,
}

impl Translation for Filtered {
    /// By A1 each fact of the new graph is one of the old graph for some values of the removed arguments.
    fn forward(&self, context: &Context<'_>, lemma: Lemma) -> Image {
        let store = context.store;
        let variables = self.graph.node(lemma.node).variables().iter();
        let removed = variables.zip(&self.matters[lemma.node.index()]).filter(|&(_, &matters)| !matters);
        let removed: FxHashSet<Term> = removed.map(|(&variable, _)| variable).collect();
        let mut mentioned = store.free_vars(&[lemma.formula]);
        mentioned.retain(|variable| removed.contains(variable));
        if mentioned.is_empty() {
            return lemma.into();
        }
        match projected(context, store.normalize(lemma.formula), &mentioned) {
            Term::TRUE => Image::Inexpressible,
            formula => Lemma { formula, ..lemma }.into(),
        }
    }

    fn is_renaming(&self) -> bool {
        true
    }

    fn model_back(&self, _: &Context<'_>, model: GraphModel) -> Result<GraphModel, Stop> {
        // A formula says nothing about arguments that it does not mention; other interpretations cover all of them.
        for (interpretation, matters) in model.interpretations.iter().zip(&self.matters) {
            if matters.contains(&false) {
                interpretation.formula()?;
            }
        }
        Ok(model)
    }

    fn derivation_back(&self, context: &Context<'_>, mut derivation: Derivation) -> Result<Derivation, Stop> {
        for number in 0..derivation.steps.len() {
            context.go_on()?;
            let fact = self.fact(context, &derivation, number)?;
            derivation.steps[number].fact = fact;
        }
        Ok(derivation)
    }
}

impl Filtered {
    /// The fact of a step with values for the removed arguments. Earlier steps already have them.
    fn fact(
        &self,
        context: &Context<'_>,
        derivation: &Derivation,
        number: usize,
    ) -> Result<Box<[Value]>, Stop> {
        let step = &derivation.steps[number];
        let wrong = || Stop::Internal(format!("step {number} is no application of a clause"));
        let edge = (step.edge.index() < self.graph.edges().len()).then(|| self.graph.edge(step.edge));
        let edge = edge.ok_or_else(wrong)?;
        let Some(node) = edge.target() else { return Ok([].into()) };
        let matters = &self.matters[node.index()];
        if matters.iter().all(|&matters| matters) {
            return Ok(step.fact.clone());
        }
        if step.premises.len() != edge.sources().len() {
            return Err(wrong());
        }
        let earlier = |&premise: &usize| derivation.steps[..number].get(premise).map(|step| &*step.fact);
        let premises: Option<Vec<&[Value]>> = step.premises.iter().map(earlier).collect();
        let mut given = self.graph.values_at(step.edge, premises.ok_or_else(wrong)?, &[]);
        let next = self.graph.target_variables(step.edge);
        let kept = next.iter().zip(matters).filter(|&(_, &matters)| matters);
        given.extend(kept.map(|(&variable, _)| variable).zip(step.fact.iter().cloned()));
        Ok(ground::complete(context, edge.label(), given, next)?.into())
    }
}
