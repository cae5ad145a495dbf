//! Removes redundant parts of formulas, by the solver.
//!
//! A part of a formula matters only where its *critical constraint* holds: where its siblings, on each level above,
//! leave the value of the whole to it. Siblings are then true in a conjunction, and false in a disjunction. A part that
//! its critical constraint implies can be replaced by `true`, and one that it contradicts by `false`:
//!
//! ```text
//! while something changes, for each part, from the root down and large ones first:
//!     C := the critical constraint of the part
//!     if C implies the part       replace it by true
//!     if C contradicts the part   replace it by false
//! ```
//!
//! - S1: each replacement keeps the meaning of the formula. So the loop may stop at any time.
//! - S2: if no limit stops it, no further part can be replaced: the formula is *simplified* in the sense of the paper.
//!
//! The formula is in negation normal form and treated as a tree of bounded size. In a larger formula only members of
//! the outermost junction are removed.
//!
//! Where it comes from: Dillig, Dillig and Aiken, "Small Formulas for Large Programs: On-line Constraint Simplification
//! in Scalable Static Analysis", SAS 2010. They replace only leaves; trying whole parts first saves queries if much is
//! redundant.

use shofar_logic::{Op, Term, TermStore};
use shofar_run::Limits;
use shofar_smt::interpolate::simplify;
use shofar_smt::sat::Outcome;
use shofar_smt::solver::Solver;

use crate::Context;

/// The maximal number of parts of a formula, as a tree.
const MOST_PARTS: usize = 400;

/// The conflict limit of a query. Parts that are redundant for a deep reason may stay.
const MOST_CONFLICTS: u64 = 500;

/// The maximal number of rounds over all parts.
const MOST_ROUNDS: usize = 3;

/// A normal formula with the same meaning and fewer parts.
pub(super) fn without_redundancy(context: &Context<'_>, formula: Term) -> Term {
    let limits = Limits { conflicts: Some(MOST_CONFLICTS), ..context.limits };
    match Tree::new(context.store, context.store.nnf(formula)) {
        Some(tree) => tree.simplified(&limits),
        None => simplify::with_solver(context.store, formula, &limits).formula,
    }
}

/// A formula in negation normal form as a tree. Children have higher indices than their parents.
struct Tree<'s> {
    store: &'s TermStore,
    parts: Vec<Part>,
    solver: Solver<'s>,
}

struct Part {
    parent: Option<usize>,
    children: Vec<usize>,
    /// Whether it is a conjunction of its children; otherwise it is a disjunction, if it has any.
    is_conjunction: bool,
    /// Its current term, including its children.
    term: Term,
    /// Whether it was replaced by a truth value.
    is_replaced: bool,
}

impl<'s> Tree<'s> {
    /// The tree of a formula; `None` if it is too large.
    fn new(store: &'s TermStore, formula: Term) -> Option<Self> {
        let part = |parent, term| Part {
            parent,
            children: Vec::new(),
            is_conjunction: store.op(term) == Op::And,
            term,
            is_replaced: false,
        };
        let mut parts = vec![part(None, formula)];
        let mut next = 0;
        while next < parts.len() {
            let (op, args) = store.view(parts[next].term);
            if matches!(op, Op::And | Op::Or) {
                if parts.len() + args.len() > MOST_PARTS {
                    return None;
                }
                parts[next].children = (parts.len()..parts.len() + args.len()).collect();
                parts.extend(args.iter().map(|&arg| part(Some(next), arg)));
            }
            next += 1;
        }
        Some(Tree { store, parts, solver: Solver::new(store) })
    }

    fn simplified(mut self, limits: &Limits<'_>) -> Term {
        for _ in 0..MOST_ROUNDS {
            if !self.round(limits) {
                break;
            }
        }
        self.parts[0].term
    }

    /// Tries each part once. Returns whether a part was replaced.
    fn round(&mut self, limits: &Limits<'_>) -> bool {
        let sizes = self.sizes();
        let mut is_changed = false;
        let mut open = vec![0];
        while let Some(part) = open.pop() {
            if limits.interruption().is_some() {
                return false;
            }
            if let Some(truth) = self.truth(part, limits) {
                self.replace(part, truth);
                is_changed = true;
                continue;
            }
            let mut children: Vec<usize> = self.parts[part]
                .children
                .iter()
                .copied()
                .filter(|&child| !self.parts[child].is_replaced)
                .collect();
            // The stack pops the last one first.
            children.sort_by_key(|&child| sizes[child]);
            open.extend(children);
        }
        is_changed
    }

    /// The sizes of the parts: the numbers of subterms of their atoms.
    fn sizes(&self) -> Vec<usize> {
        let mut sizes = vec![0; self.parts.len()];
        for number in (0..self.parts.len()).rev() {
            let part = &self.parts[number];
            sizes[number] = match &*part.children {
                [] => self.store.subterms(&[part.term]).len(),
                children => children.iter().map(|&child| sizes[child]).sum(),
            };
        }
        sizes
    }

    /// The truth value that may replace the part.
    fn truth(&mut self, part: usize, limits: &Limits<'_>) -> Option<bool> {
        let term = self.parts[part].term;
        if self.parts[part].is_replaced || matches!(term, Term::TRUE | Term::FALSE) {
            return None;
        }
        let mut assumptions = self.critical_constraint(part);
        let mut is_impossible = |literal: Term| {
            assumptions.push(literal);
            let outcome = self.solver.check(&assumptions, limits);
            assumptions.pop();
            outcome == Ok(Outcome::Unsat)
        };
        if is_impossible(self.store.not(term)) {
            Some(true)
        } else if is_impossible(term) {
            Some(false)
        } else {
            None
        }
    }

    /// The conjuncts of the critical constraint: where they hold, the whole has the value of the part.
    fn critical_constraint(&self, part: usize) -> Vec<Term> {
        let mut constraint = Vec::new();
        let mut part = part;
        while let Some(parent) = self.parts[part].parent {
            let Part { children, is_conjunction, .. } = &self.parts[parent];
            let siblings = children.iter().filter(|&&sibling| sibling != part);
            constraint.extend(siblings.map(|&sibling| {
                let term = self.parts[sibling].term;
                if *is_conjunction { term } else { self.store.not(term) }
            }));
            part = parent;
        }
        constraint
    }

    /// Replaces a part by a truth value.
    fn replace(&mut self, part: usize, truth: bool) {
        self.parts[part].term = self.store.bool(truth);
        self.parts[part].is_replaced = true;
        let mut part = part;
        while let Some(parent) = self.parts[part].parent {
            let members = self.parts[parent].children.iter().map(|&child| self.parts[child].term);
            let members: Vec<Term> = members.collect();
            self.parts[parent].term = match self.parts[parent].is_conjunction {
                true => self.store.and(&members),
                false => self.store.or(&members),
            };
            part = parent;
        }
    }
}
