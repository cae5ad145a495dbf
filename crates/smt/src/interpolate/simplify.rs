//! Smaller formulas with the same meaning.
//!
//! Partial interpolants are put together without a look at what they say, so that the result repeats itself. From the
//! leaves up, each conjunction is made smaller by what its members that are literals say of the others, and each
//! disjunction by duality:
//!
//! ```text
//! factoring             (p and q) or (p and r)   becomes  p and (q or r)             factor.rs
//! subsumption           x <= 3 and x <= 5        becomes  x <= 3
//! sibling assignment    p and (q or not p)       becomes  p and q
//!                       x <= 3 and (q or x <= 5) becomes  x <= 3
//! ```
//!
//! Absorption is a matter of the store's normal form. Looking into the siblings takes time that is quadratic in the
//! worst case; a budget on visited terms, a multiple of the size, bounds it, and what is beyond stays as it is. The
//! interpolants of a sequence share most of their subterms, each of which is looked at once for all of them. [`with_solver`] also drops members
//! of the outermost junction that follow from the others, with a query for each.

use rustc_hash::FxHashMap;
use shofar_logic::{Op, Term, TermStore};
use shofar_run::Limits;

use super::factor::Factoring;
use super::verify::{Entailment, implies};
use crate::known_literals::KnownLiterals;
use crate::project::cube;

/// Terms that may be visited for sibling assignment: so many, and so many times the size of the formula.
const ALLOWANCE: usize = 1 << 10;
const VISITS: usize = 16;

/// The greatest number of members of a junction that the solver looks at.
const MOST_MEMBERS: usize = 64;

/// A formula, and what it was made from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Simplified {
    /// The formula. It is in normal form, unless that would be huge.
    pub formula: Term,
    /// The number of different subterms of the original.
    pub before: usize,
    /// The number of different subterms now.
    pub after: usize,
}

/// A normal formula with the same meaning. A formula whose normal form would be huge stays as it is written.
pub fn structural(store: &TermStore, formula: Term) -> Simplified {
    Simplifier::new(store).structural(formula)
}

/// A formula with the same meaning, without members of the outermost conjunction or disjunction that follow from
/// the others. A query that the limits interrupt changes nothing.
pub fn with_solver(store: &TermStore, formula: Term, limits: &Limits<'_>) -> Simplified {
    Simplifier::new(store).with_solver(formula, limits)
}

/// Simplifies formulas that have much in common, and remembers what it found.
pub(super) struct Simplifier<'s> {
    store: &'s TermStore,
    factoring: Factoring<'s>,
    /// What became of factored formulas.
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
        // The literals of the root are facts for all of it: one look, which takes linear time, gains most of what there
        // is to gain, and it must not be the one that the budget is missing for.
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
        // What is shared by several junctions may become different in each of them.
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

/// A conjunction or disjunction whose members are simplified, made smaller by its literals.
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

/// The formulas with truth values for the atoms that literals settle. What they share is looked at once.
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
        // To look at the size of one junction after the other would be quadratic, too.
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
