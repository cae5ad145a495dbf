//! Removes arguments that are only passed on.
//!
//! | before | after |
//! |---|---|
//! | `x = 0 => P(x, c)`; `x = 1 => Q(x, c)`; `P(x, c) and Q(y, c) => P(x + y, c)` | `P(0)`; `Q(1)`; `P(x) and Q(y) => P(x + y)` |
//!
//! Arguments and variables form classes. All occurrences of an argument are in one class, and so are the two sides of an
//! equation in a positive place of a label, that is, below conjunctions and disjunctions only. A side may be an `ite`
//! whose branches are variables. A class is *used* if one of its variables occurs in a label anywhere else. The pass
//! removes the arguments of unused classes, and their equations become true.
//!
//! - U1: if all variables of an unused class have the same value, all equations of the class hold.
//!
//! By U1, a derivation in the new graph becomes one in the old graph with any one value for each class. Conversely,
//! old labels imply new ones, since the equations are in positive places. So a model stays unchanged, and a derivation
//! gets one value for each class. A lemma holds for facts with any values, in particular for those values.
//!
//! `arguments.rs` misses such arguments where two atoms of a body share a variable. The reachable states of programs pass
//! on a lot that nobody reads: in contracts of Solidity the signatures of functions and the hashes, which are arrays.

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::{Op, Sort, Substitution, Term, TermStore, Value, Walker};
use shofar_run::Stop;

use super::fields::default_term;
use crate::Context;
use crate::graph::{HornGraph, NodeId};
use crate::transform::{Image, Lemma, Transformation, Transformed, Translation};
use crate::witness::{Derivation, GraphModel};

/// Removes arguments that are only passed on.
#[derive(Clone, Copy, Default, Debug)]
pub struct RemoveUniformArguments;

impl Transformation for RemoveUniformArguments {
    fn name(&self) -> &'static str {
        "uniform"
    }

    fn apply(&self, context: &Context<'_>, graph: &HornGraph) -> Option<Transformed> {
        let store = context.store;
        if graph.nodes().all(|(_, node)| node.arity() == 0) {
            return None;
        }
        let mut classes = Classes::default();
        for (_, node) in graph.nodes() {
            let all = node.occurrences().chain([node.next()]);
            all.for_each(|variables| {
                classes.unite(node.next().iter().copied().zip(variables.iter().copied()))
            });
        }
        let mut equations = Vec::with_capacity(graph.edges().len());
        let mut used = Vec::new();
        for (_, edge) in graph.edges() {
            if context.interrupted().is_some() {
                return None;
            }
            equations.push(classes.read(store, edge.label(), &mut used));
        }
        let used = classes.of_all(store, &used);
        let is_kept = |classes: &mut Classes, variable: Term| used.contains(&classes.of(variable));
        let mut kept = |node: NodeId| -> Vec<bool> {
            graph.node(node).next().iter().map(|&variable| is_kept(&mut classes, variable)).collect()
        };
        let kept: Vec<Vec<bool>> = graph.nodes().map(|(id, _)| kept(id)).collect();
        if kept.iter().flatten().all(|&kept| kept) {
            return None;
        }
        let mut new = HornGraph::new();
        for (id, node) in graph.nodes() {
            let positions: Vec<usize> = (0..node.arity()).filter(|&at| kept[id.index()][at]).collect();
            new.add_node(node.with_arguments(&positions));
        }
        for ((_, edge), equations) in graph.edges().zip(equations) {
            let removed = equations.into_iter().filter(|&(_, side)| !is_kept(&mut classes, side));
            let removed: FxHashSet<Term> = removed.map(|(equation, _)| equation).collect();
            new.add_edge(edge.sources(), edge.target(), without(store, edge.label(), &removed)?);
        }
        let sorts = graph.nodes().map(|(_, node)| node.sorts(store));
        let value = |(sort, &kept): (Sort, &bool)| (!kept).then(|| store.default_value(sort));
        let values: Vec<Vec<Option<Value>>> =
            sorts.zip(&kept).map(|(sorts, kept)| sorts.into_iter().zip(kept).map(value).collect()).collect();
        let translation = Forgotten { graph: graph.clone(), values };
        Some(Transformed { graph: new, translation: Box::new(translation) })
    }
}

/// The label without equations in positive places. `None` if a term cannot be built.
fn without(store: &TermStore, label: Term, equations: &FxHashSet<Term>) -> Option<Term> {
    if equations.is_empty() {
        return Some(label);
    }
    let mut images: FxHashMap<Term, Term> =
        equations.iter().map(|&equation| (equation, Term::TRUE)).collect();
    for term in store.subterms_until(&[label], |term| equations.contains(&term)) {
        let (op, args) = store.view(term);
        if !images.contains_key(&term) && args.iter().any(|arg| images.contains_key(arg)) {
            let args: Vec<Term> = args.iter().map(|arg| images.get(arg).copied().unwrap_or(*arg)).collect();
            images.insert(term, store.build(op, &args).ok()?);
        }
    }
    Some(images.get(&label).copied().unwrap_or(label))
}

/// The classes of variables, as a union-find structure.
#[derive(Default)]
struct Classes {
    numbers: FxHashMap<Term, usize>,
    /// A member of the same class; of itself if it represents the class.
    parents: Vec<usize>,
}

impl Classes {
    /// The class of a variable.
    fn of(&mut self, variable: Term) -> usize {
        let next = self.parents.len();
        let mut number = *self.numbers.entry(variable).or_insert(next);
        if number == next {
            self.parents.push(next);
        }
        while self.parents[number] != number {
            self.parents[number] = self.parents[self.parents[number]];
            number = self.parents[number];
        }
        number
    }

    /// Makes one class of the two classes of each pair.
    fn unite(&mut self, pairs: impl IntoIterator<Item = (Term, Term)>) {
        for (a, b) in pairs {
            let (a, b) = (self.of(a), self.of(b));
            // The older one stays the representative, so that paths lead to arguments.
            self.parents[a.max(b)] = a.min(b);
        }
    }

    /// Joins classes by the equations of a label. Returns these equations, with a variable of each, and adds the other
    /// atoms to `used`.
    fn read(&mut self, store: &TermStore, label: Term, used: &mut Vec<Term>) -> Vec<(Term, Term)> {
        let mut equations = Vec::new();
        let mut open = vec![(label, true)];
        let mut seen: FxHashSet<(Term, bool)> = open.iter().copied().collect();
        while let Some((term, is_positive)) = open.pop() {
            let mut go_on = |term: Term, is_positive: bool| {
                if seen.insert((term, is_positive)) {
                    open.push((term, is_positive));
                }
            };
            match store.view(term) {
                (Op::And | Op::Or, args) => args.iter().for_each(|&arg| go_on(arg, is_positive)),
                (Op::Not, &[arg]) => go_on(arg, !is_positive),
                (Op::Ite, &[condition, a, b]) => {
                    used.push(condition);
                    [a, b].into_iter().for_each(|branch| go_on(branch, is_positive));
                }
                (Op::Eq, _) if is_positive => match branches(store, term, used) {
                    Some(variables) => {
                        self.unite(variables.windows(2).map(|pair| (pair[0], pair[1])));
                        equations.push((term, variables[0]));
                    }
                    None => used.push(term),
                },
                _ => used.push(term),
            }
        }
        equations
    }

    /// The classes of the variables of terms.
    fn of_all(&mut self, store: &TermStore, terms: &[Term]) -> FxHashSet<usize> {
        let mut found = FxHashSet::default();
        Walker::new(store).visit(terms.iter().copied(), |term| {
            if let Op::Var(_) = store.op(term) {
                found.insert(self.of(term));
            }
        });
        found
    }
}

/// The variables that the sides of an equation choose from, by the conditions of `ite`, which are used. `None` if a side
/// chooses from other terms.
fn branches(store: &TermStore, equation: Term, used: &mut Vec<Term>) -> Option<Vec<Term>> {
    let mut variables = Vec::new();
    let mut conditions = Vec::new();
    let mut open = sides(store, equation)?.to_vec();
    let mut seen: FxHashSet<Term> = FxHashSet::default();
    while let Some(term) = open.pop() {
        if !seen.insert(term) {
            continue;
        }
        match store.view(term) {
            (Op::Var(_), _) => variables.push(term),
            (Op::Ite, &[condition, a, b]) => {
                conditions.push(condition);
                open.extend([a, b]);
            }
            _ => return None,
        }
    }
    used.append(&mut conditions);
    Some(variables)
}

/// The sides of an equation; `None` for sums of anything but two sides. Numbers are equal if their difference is zero.
fn sides(store: &TermStore, equation: Term) -> Option<[Term; 2]> {
    let &[a, b] = store.args(equation) else { return None };
    if !store.sort_of(a).is_arithmetic() {
        return Some([a, b]);
    }
    let is_number =
        |term: Term, number: i64| store.numeral(term).is_some_and(|value| *value == number.into());
    match (store.view(a), is_number(b, 0)) {
        ((Op::Add, &[left, negated]), true) => match store.view(negated) {
            (Op::Mul, &[factor, right]) if is_number(factor, -1) => Some([left, right]),
            _ => None,
        },
        _ => None,
    }
}

struct Forgotten {
    /// The old graph.
    graph: HornGraph,
    /// For each node, the values of the removed arguments. They depend on the sort only, so each class has one value.
    values: Vec<Vec<Option<Value>>>,
}

impl Translation for Forgotten {
    /// Each fact of the new graph is one of the old graph, with the values of removed arguments. Instances of lemmas
    /// that are inductive together are inductive together by U1.
    fn forward(&self, context: &Context<'_>, lemma: Lemma) -> Image {
        let store = context.store;
        let variables = self.graph.node(lemma.node).variables();
        let mut known = Substitution::new();
        for (&variable, value) in variables.iter().zip(&self.values[lemma.node.index()]) {
            if value.is_some() {
                match default_term(store, store.sort_of(variable)) {
                    Some(value) => known.insert(variable, value),
                    None if store.free_vars(&[lemma.formula]).contains(&variable) => {
                        return Image::Inexpressible;
                    }
                    None => {}
                }
            }
        }
        let formula = store.instantiate(lemma.formula, &known);
        Lemma { formula, ..lemma }.into()
    }

    fn is_renaming(&self) -> bool {
        true
    }

    fn model_back(&self, _: &Context<'_>, model: GraphModel) -> Result<GraphModel, Stop> {
        // A formula says nothing about arguments that it does not mention; other interpretations cover all of them.
        for (interpretation, values) in model.interpretations.iter().zip(&self.values) {
            if values.iter().any(Option::is_some) {
                interpretation.formula()?;
            }
        }
        Ok(model)
    }

    fn derivation_back(&self, context: &Context<'_>, mut derivation: Derivation) -> Result<Derivation, Stop> {
        for (number, step) in derivation.steps.iter_mut().enumerate() {
            context.go_on()?;
            let wrong = || Stop::Internal(format!("step {number} derives no fact"));
            let edge = (step.edge.index() < self.graph.edges().len()).then(|| self.graph.edge(step.edge));
            let Some(node) = edge.ok_or_else(wrong)?.target() else { continue };
            let mut kept = step.fact.iter();
            let value = |removed: &Option<Value>| removed.clone().or_else(|| kept.next().cloned());
            let fact: Option<Box<[Value]>> = self.values[node.index()].iter().map(value).collect();
            step.fact = fact.filter(|_| kept.next().is_none()).ok_or_else(wrong)?;
        }
        Ok(derivation)
    }
}
