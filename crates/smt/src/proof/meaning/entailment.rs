//! Entailment: whether a truth value implies another by propositional logic and by the cases of choices.
//!
//! If the meanings are equal, or the members of one conjunction are among those of the other, nothing is left to do.
//! Otherwise both become clauses, with gates for all conjunctions, choices and equivalences, and the SAT solver
//! searches for a refutation of the premise with the negation of the conclusion. The search is not trusted: its
//! refutation is replayed like that of a [proof](super::super::check).
//!
//! A comparison of a number `p` that contains a choice `k = ite(c, a, b)` is also a gate:
//!
//! ```text
//! p <= 0   is   ite(c, p[a/k] <= 0, p[b/k] <= 0)
//! ```
//!
//! An absolute value `|a|` is a choice both on `a < 0` and on `a <= 0`, and a comparison of it is a gate for both. If
//! `u` contains a choice, `floor(u)` is one.
//!
//! Comparisons of one number with constants are ordered. If nothing else succeeds, this order is added: each implies
//! the next weaker one, and `p = 0` is `p <= 0 and not p < 0`.
//!
//! A number may have many choices, and so exponentially many cases. They are opened one by one, the outermost first,
//! until there is a refutation: first in comparisons that occur on only one side, then in all. The search runs whenever
//! the number of opened comparisons has doubled, so that deep choices do not cost a search for each level.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_run::{Limits, Reason};

use super::number::order;
use super::{Id, Meaning, Meanings, Node, Relation, SharedSum, Sum, Truth, single};
use crate::proof::check::resolve;
use crate::sat::{Lit, LoggedRule, Outcome, Solver, Var};

/// The greatest number of comparisons whose choices are opened.
const MOST_OPENED: usize = 1 << 14;
/// The greatest depth of nested roundings in which choices are sought.
const MOST_ROUNDINGS: usize = 8;
/// The conflict budget of one search.
const MOST_CONFLICTS: u64 = 100_000;

impl Meanings<'_> {
    /// Whether the premise implies the conclusion. Returns `false` if this cannot be shown.
    pub(in crate::proof) fn entails(&mut self, premise: Truth, conclusion: Truth) -> bool {
        if premise == conclusion || premise == Truth::FALSE || conclusion == Truth::TRUE {
            return true;
        }
        let known = self.members_of(premise);
        let open: Vec<Truth> =
            self.members_of(conclusion).into_iter().filter(|it| known.binary_search(it).is_err()).collect();
        open.is_empty() || self.interruption.is_none() && Refuter::new(self).refutes(&known, &open)
    }

    /// As [`entails`](Self::entails), for facts that a proof needs. Records a failure, because the fact may hold
    /// nevertheless.
    pub(in crate::proof) fn shows(&mut self, premise: Truth, conclusion: Truth) -> bool {
        let is_shown = self.entails(premise, conclusion);
        self.has_missed |= !is_shown;
        is_shown
    }

    /// The members of a conjunction, ascending, or the truth value itself.
    fn members_of(&self, truth: Truth) -> Vec<Truth> {
        match &**self.node(truth.node) {
            Node::And(members) if !truth.negated => members.to_vec(),
            _ => vec![truth],
        }
    }
}

struct Refuter<'m, 's> {
    meanings: &'m mut Meanings<'s>,
    search: Solver,
    vars: FxHashMap<Id, Var>,
    /// The clauses given to the search, each sorted.
    clauses: FxHashSet<Vec<Lit>>,
    /// Comparisons and equalities whose choices were not opened, in the order of creation.
    closed: Vec<Id>,
    opened: usize,
}

impl<'m, 's> Refuter<'m, 's> {
    fn new(meanings: &'m mut Meanings<'s>) -> Self {
        let mut search = Solver::new();
        search.log_proofs();
        let mut refuter = Refuter {
            meanings,
            search,
            vars: FxHashMap::default(),
            clauses: FxHashSet::default(),
            closed: Vec::new(),
            opened: 0,
        };
        let tautology = refuter.literal(Truth::TRUE);
        refuter.add(vec![tautology]);
        refuter
    }

    /// Whether the members of the premise contradict the negation of the conclusion.
    fn refutes(mut self, premise: &[Truth], conclusion: &[Truth]) -> bool {
        for &member in premise {
            let literal = self.literal(member);
            self.add(vec![literal]);
        }
        let of_premise: FxHashSet<Id> = self.closed.iter().copied().collect();
        let denied: Vec<Lit> = conclusion.iter().map(|&member| !self.literal(member)).collect();
        self.add(denied);
        let of_conclusion = self.meanings.below(conclusion);
        let is_shared = |id: &Id| of_premise.contains(id) && of_conclusion.contains(id);
        let (shared, mut open): (Vec<Id>, Vec<Id>) = self.closed.drain(..).partition(is_shared);
        let mut later = Some(shared);
        let mut due = 0;
        let mut is_ordered = false;
        loop {
            if self.opened >= due || open.is_empty() {
                due = 2 * self.opened + 1;
                match self.is_refuted() {
                    Some(is_refuted) => return is_refuted,
                    None if open.is_empty() => open = later.take().unwrap_or_default(),
                    None => {}
                }
            }
            if open.is_empty() && !is_ordered {
                is_ordered = true;
                self.order();
                open = std::mem::take(&mut self.closed);
                if open.is_empty() {
                    return self.is_refuted() == Some(true);
                }
            }
            if open.is_empty() {
                return false;
            }
            for id in std::mem::take(&mut open) {
                if !self.open(id) {
                    return false;
                }
            }
            open = std::mem::take(&mut self.closed);
        }
    }

    /// Whether the clauses are contradictory and the refutation can be replayed; `None` if they are satisfiable.
    fn is_refuted(&mut self) -> Option<bool> {
        let limits = Limits { conflicts: Some(MOST_CONFLICTS), propagations: None, ..self.meanings.limits };
        match self.search.solve_within(&[], &limits) {
            Outcome::Sat => None,
            Outcome::Unknown(Reason::Budget) => Some(false),
            Outcome::Unknown(reason) => {
                self.meanings.interruption = Some(reason);
                Some(false)
            }
            Outcome::Unsat => Some(self.replay()),
        }
    }

    fn replay(&self) -> bool {
        let Some(steps) = self.search.refutation() else { return false };
        let is_right = |(number, step): (usize, &crate::sat::LoggedStep)| match &step.rule {
            LoggedRule::Leaf(_) => self.clauses.contains(&step.clause[..]),
            LoggedRule::Chain { first, others } => {
                let premise = |step: u32| steps[..number].get(step as usize).map(|step| &step.clause[..]);
                resolve(premise, *first, others.iter().copied())
                    .is_ok_and(|resolvent| resolvent == step.clause.iter().copied().collect())
            }
        };
        steps.last().is_some_and(|step| step.clause.is_empty()) && steps.iter().enumerate().all(is_right)
    }

    fn add(&mut self, mut clause: Vec<Lit>) {
        self.search.add_clause(&clause);
        clause.sort_unstable();
        clause.dedup();
        self.clauses.insert(clause);
    }

    /// The literal of a truth value, with the clauses of all gates below it.
    fn literal(&mut self, truth: Truth) -> Lit {
        let mut stack = vec![truth.node];
        while let Some(&id) = stack.last() {
            if self.vars.contains_key(&id) {
                stack.pop();
                continue;
            }
            let node = Rc::clone(self.meanings.node(id));
            let before = stack.len();
            stack.extend(parts(&node).into_iter().filter(|part| !self.vars.contains_key(part)));
            if stack.len() > before {
                continue;
            }
            stack.pop();
            let var = self.search.new_var();
            self.vars.insert(id, var);
            self.define(id, &node);
        }
        self.known(truth)
    }

    fn known(&self, truth: Truth) -> Lit {
        let var = self.vars[&truth.node];
        if truth.negated { var.negative() } else { var.positive() }
    }

    /// The clauses of a gate whose parts have variables.
    fn define(&mut self, id: Id, node: &Node) {
        let gate = self.vars[&id].positive();
        let positive = |node: Id| Truth { node, negated: false };
        match *node {
            Node::And(ref members) => {
                let members: Vec<Lit> = members.iter().map(|&member| self.known(member)).collect();
                members.iter().for_each(|&member| self.add(vec![!gate, member]));
                self.add(members.iter().map(|&member| !member).chain([gate]).collect());
            }
            Node::Ite(condition, a, b) => {
                let [condition, a, b] = [positive(condition), a, b].map(|part| self.known(part));
                self.choose(gate, condition, a, b);
            }
            Node::Iff(a, b) => {
                let [a, b] = [a, b].map(|part| self.known(positive(part)));
                self.choose(gate, a, b, !b);
            }
            Node::Compare(..) | Node::Equal(..) => self.closed.push(id),
            _ => {}
        }
    }

    /// `gate = ite(condition, a, b)`.
    fn choose(&mut self, gate: Lit, condition: Lit, a: Lit, b: Lit) {
        self.add(vec![!gate, !condition, a]);
        self.add(vec![!gate, condition, b]);
        self.add(vec![gate, !condition, !a]);
        self.add(vec![gate, condition, !b]);
    }

    /// Adds the order of comparisons with constants.
    fn order(&mut self) {
        for (id, relation, sum) in self.comparisons() {
            if relation == Relation::Equal {
                let equal = self.vars[&id].positive();
                let [at_most, below] = [Relation::AtMost, Relation::Below]
                    .map(|relation| self.meanings.compare(relation, (*sum).clone()))
                    .map(|truth| self.literal(truth));
                self.add(vec![!equal, at_most]);
                self.add(vec![!equal, !below]);
                self.add(vec![equal, !at_most, below]);
            }
        }
        let mut bounds = self.comparisons();
        bounds.retain(|(_, relation, _)| *relation != Relation::Equal);
        // If c <= d, p + d <= 0 is stronger than p + c <= 0.
        bounds.sort_unstable_by(|(_, a_relation, a), (_, b_relation, b)| {
            let is_strict = |relation: &Relation| *relation == Relation::Below;
            let by_strictness = || is_strict(a_relation).cmp(&is_strict(b_relation));
            order(a, b).then_with(by_strictness)
        });
        for pair in bounds.windows(2) {
            let [(weak, _, a), (strong, _, b)] = pair else { unreachable!("windows have two members") };
            if a.terms() == b.terms() {
                let [weak, strong] = [weak, strong].map(|id| self.vars[id].positive());
                self.add(vec![!strong, weak]);
            }
        }
    }

    /// The comparisons that have variables.
    fn comparisons(&self) -> Vec<(Id, Relation, SharedSum)> {
        let mut nodes: Vec<Id> = self.vars.keys().copied().collect();
        nodes.sort_unstable();
        let comparison = |id: Id| match &**self.meanings.node(id) {
            Node::Compare(relation, sum) => Some((id, *relation, Rc::clone(sum))),
            _ => None,
        };
        nodes.into_iter().filter_map(comparison).collect()
    }

    /// Opens the outermost choice of a comparison or an equality, if it has any. Returns `false` at the limit.
    fn open(&mut self, id: Id) -> bool {
        let node = Rc::clone(self.meanings.node(id));
        let Some((conditions, cases)) = self.meanings.outermost_choice(&node) else { return true };
        self.opened += 1;
        if self.opened > MOST_OPENED {
            return false;
        }
        let [then, otherwise] = cases.map(|truth| self.literal(truth));
        let gate = self.vars[&id].positive();
        for condition in conditions {
            let condition = self.literal(condition);
            self.choose(gate, condition, then, otherwise);
        }
        true
    }
}

impl Meanings<'_> {
    /// The cases of a comparison or an equality that contains a choice, and its conditions, each of which distinguishes
    /// the cases.
    pub(super) fn outermost_choice(&mut self, node: &Node) -> Option<(Vec<Truth>, [Truth; 2])> {
        match node {
            Node::Compare(relation, sum) => {
                let (conditions, cases) = self.choice_in(sum, MOST_ROUNDINGS)?;
                Some((conditions, cases.map(|case| self.compare(*relation, case))))
            }
            Node::Equal(a, b) => {
                let (choice, other) = if a > b { (*a, *b) } else { (*b, *a) };
                let sides = [(choice, other), (other, choice)];
                let ((conditions, branches), other) = sides
                    .into_iter()
                    .find_map(|(choice, other)| Some((self.as_choice(choice, 0)?, other)))?;
                Some((conditions, branches.map(|branch| self.equal(&branch, &Meaning::Thing(other)))))
            }
            _ => None,
        }
    }

    /// The conditions and cases of a number that contains a choice below at most this many roundings.
    fn choice_in(&mut self, sum: &Sum, roundings: usize) -> Option<(Vec<Truth>, [Sum; 2])> {
        let mut nodes = sum.terms().iter().rev();
        let (choice, factor, (conditions, branches)) =
            nodes.find_map(|(id, factor)| Some((*id, factor, self.as_choice(*id, roundings)?)))?;
        let cases = branches.map(|branch| {
            let mut case = sum.clone();
            case.add_scaled(&single(choice), &-factor);
            case.add_scaled(branch.number(), factor);
            case
        });
        Some((conditions, cases))
    }

    /// The conditions, of which one is enough, and the branches of a choice. A rounded choice is a choice.
    fn as_choice(&mut self, id: Id, roundings: usize) -> Option<(Vec<Truth>, [Meaning; 2])> {
        let node = Rc::clone(self.node(id));
        match &*node {
            Node::Choice(condition, a, b) => {
                Some((vec![Truth { node: *condition, negated: false }], [a.clone(), b.clone()]))
            }
            Node::Abs(sum) => {
                let signs =
                    [Relation::Below, Relation::AtMost].map(|sign| self.compare(sign, (**sum).clone()));
                let opposite = Rc::new(-(**sum).clone());
                Some((signs.to_vec(), [Meaning::Number(opposite), Meaning::Number(Rc::clone(sum))]))
            }
            Node::Floor(sum) => {
                let (conditions, cases) = self.choice_in(sum, roundings.checked_sub(1)?)?;
                Some((conditions, cases.map(|case| Meaning::Number(Rc::new(self.floor(case))))))
            }
            _ => None,
        }
    }

    /// The nodes that occur in truth values.
    fn below(&self, truths: &[Truth]) -> FxHashSet<Id> {
        let mut seen: FxHashSet<Id> = FxHashSet::default();
        let mut open: Vec<Id> = truths.iter().map(|truth| truth.node).collect();
        while let Some(id) = open.pop() {
            if seen.insert(id) {
                open.extend(parts(self.node(id)));
            }
        }
        seen
    }
}

/// The direct parts of a truth value.
fn parts(node: &Node) -> Vec<Id> {
    match node {
        Node::And(members) => members.iter().map(|member| member.node).collect(),
        Node::Ite(condition, a, b) => vec![*condition, a.node, b.node],
        Node::Iff(a, b) => vec![*a, *b],
        _ => Vec::new(),
    }
}
