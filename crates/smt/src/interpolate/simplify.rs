//! Simplifies formulas without changing their meaning.
//!
//! Partial interpolants are joined without regard to their content, so the result has redundancy. From the leaves up,
//! each conjunction is simplified by the consequences of its literals for its other members, and each disjunction
//! dually:
//!
//! ```text
//! factoring             (p and q) or (p and r)   becomes  p and (q or r)             factor.rs
//! subsumption           x <= 3 and x <= 5        becomes  x <= 3
//! sibling assignment    p and (q or not p)       becomes  p and q
//!                       x <= 3 and (q or x <= 5) becomes  x <= 3
//! ```
//!
//! The store's normal form does absorption. Sibling assignment takes quadratic time in the worst case, so a budget on
//! visited terms, a multiple of the size, bounds it; beyond the budget terms stay unchanged. The interpolants of a
//! sequence share most of their subterms, and each is simplified once for all of them. [`with_solver`] also drops
//! members of the outermost junction that follow from the others, with a query for each.

use rustc_hash::FxHashMap;
use shofar_logic::{Op, Term, TermStore};
use shofar_run::Limits;

use super::factor::Factoring;
use super::verify::{Entailment, implies};
use crate::known_literals::KnownLiterals;
use crate::project::cube;

/// Terms that sibling assignment may visit: `ALLOWANCE` plus `VISITS` times the size of the formula.
const ALLOWANCE: usize = 1 << 10;
const VISITS: usize = 16;

/// The greatest number of members of a junction for solver queries.
const MOST_MEMBERS: usize = 64;

/// A simplified formula, and its size before and after.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Simplified {
    /// The formula. It is in normal form, unless that would be too large.
    pub formula: Term,
    /// The number of different subterms before.
    pub before: usize,
    /// The number of different subterms after.
    pub after: usize,
}

/// A normal formula with the same meaning. If the normal form would be too large, the formula is returned as written.
pub fn structural(store: &TermStore, formula: Term) -> Simplified {
    Simplifier::new(store).structural(formula)
}

/// A formula with the same meaning. Drops members of the outermost conjunction or disjunction that follow from the
/// others. A query that the limits interrupt changes nothing.
pub fn with_solver(store: &TermStore, formula: Term, limits: &Limits<'_>) -> Simplified {
    Simplifier::new(store).with_solver(formula, limits)
}

/// Simplifies formulas that have much in common, and caches results.
pub(super) struct Simplifier<'s> {
    store: &'s TermStore,
    factoring: Factoring<'s>,
    /// The simplified form of each factored formula.
    images: FxHashMap<Term, Term>,
}

impl<'s> Simplifier<'s> {
    pub(super) fn new(store: &'s TermStore) -> Self {
        Simplifier { store, factoring: Factoring::new(store), images: FxHashMap::default() }
    }

    /// The normal form.
    pub(super) fn normal(&mut self, formula: Term) -> Simplified {
        simplified(self.store, formula, self.store.normalize(formula))
    }

    pub(super) fn structural(&mut self, formula: Term) -> Simplified {
        let store = self.store;
        let Some(normal) = self.factoring.factored(formula) else {
            let size = size(store, formula);
            return Simplified { formula, before: size, after: size };
        };
        // The literals of the root are facts for the whole formula: one linear pass gains most of what is possible, so
        // it must not depend on the budget.
        let simplest = simplify_members(store, normal, &mut { usize::MAX });
        let subterms = store.subterms_until(&[simplest], |term| !store.is_connective(term));
        let mut budget = ALLOWANCE + VISITS * subterms.len();
        for term in subterms {
            if self.images.contains_key(&term) {
                continue;
            }
            let image = if store.is_connective(term) {
                let args: Vec<Term> = store.args(term).iter().map(|arg| self.images[arg]).collect();
                simplify_members(store, rebuilt(store, term, &args), &mut budget)
            } else {
                term
            };
            self.images.insert(term, image);
        }
        // A subterm shared by several junctions may become different in each of them.
        let [plain, small] = [normal, self.images[&simplest]].map(|formula| (formula, size(store, formula)));
        let (smaller, after) = if small.1 < plain.1 { small } else { plain };
        Simplified { formula: smaller, before: size(store, formula), after }
    }

    pub(super) fn with_solver(&mut self, formula: Term, limits: &Limits<'_>) -> Simplified {
        let store = self.store;
        let small = self.structural(formula);
        let (kind, members) = store.view(small.formula);
        if !matches!(kind, Op::And | Op::Or) || members.len() > MOST_MEMBERS {
            return small;
        }
        let polarity = |member: Term| if kind == Op::And { member } else { store.not(member) };
        let mut members: Vec<Term> = members.iter().map(|&member| polarity(member)).collect();
        for position in (0..members.len()).rev() {
            if limits.interruption().is_some() {
                break;
            }
            let member = members.remove(position);
            if implies(store, &members, member, limits) != Ok(Entailment::Holds) {
                members.insert(position, member);
            }
        }
        simplified(store, formula, junction_of(store, kind, members.into_iter().map(polarity)))
    }
}

/// The normal term with other arguments.
fn rebuilt(store: &TermStore, term: Term, args: &[Term]) -> Term {
    if args == store.args(term) {
        return term;
    }
    store.build(store.op(term), args).expect("formulas are replaced by formulas")
}

fn simplified(store: &TermStore, original: Term, formula: Term) -> Simplified {
    Simplified { formula, before: size(store, original), after: size(store, formula) }
}

/// The number of different subterms.
fn size(store: &TermStore, formula: Term) -> usize {
    store.subterms(&[formula]).len()
}

/// Simplifies a conjunction or disjunction, whose members are simplified, by its literals.
fn simplify_members(store: &TermStore, junction: Term, budget: &mut usize) -> Term {
    let (kind, members) = store.view(junction);
    if !matches!(kind, Op::And | Op::Or) {
        return junction;
    }
    // A disjunction is the negation of the conjunction of the negations.
    let polarity = |member: Term| if kind == Op::And { member } else { store.not(member) };
    let before: Vec<Term> = members.iter().map(|&member| polarity(member)).collect();
    let (mut after, others): (Vec<Term>, Vec<Term>) =
        before.iter().copied().partition(|&member| store.is_literal(member));
    cube::simplify(store, &mut after);
    if !others.is_empty() && !after.is_empty() {
        let facts = KnownLiterals::of(store, &after);
        after.extend(assign(store, others, &facts, budget));
    } else {
        after.extend(others);
    }
    if after.len() == before.len() && before.iter().all(|member| after.contains(member)) {
        return junction;
    }
    junction_of(store, kind, after.into_iter().map(polarity))
}

fn junction_of(store: &TermStore, kind: Op, members: impl Iterator<Item = Term>) -> Term {
    if kind == Op::And { store.and_of(members) } else { store.or_of(members) }
}

/// The formulas with truth values for the atoms that the literals decide. Visits shared subterms once.
fn assign(
    store: &TermStore,
    formulas: Vec<Term>,
    facts: &KnownLiterals<'_>,
    budget: &mut usize,
) -> Vec<Term> {
    if *budget == 0 {
        return formulas;
    }
    let subterms = store.subterms_until(&formulas, |term| !store.is_connective(term));
    if subterms.len() > *budget {
        // Computing the size of one junction after the other would be quadratic as well.
        *budget = 0;
        return formulas;
    }
    *budget -= subterms.len();
    let mut images: FxHashMap<Term, Term> = FxHashMap::default();
    for term in subterms {
        let image = if store.is_connective(term) {
            let args: Vec<Term> = store.args(term).iter().map(|arg| images[arg]).collect();
            rebuilt(store, term, &args)
        } else {
            facts.truth(term).map_or(term, |truth| store.bool(truth))
        };
        images.insert(term, image);
    }
    formulas.iter().map(|formula| images[formula]).collect()
}
