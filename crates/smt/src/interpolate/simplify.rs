//! Smaller formulas with the same meaning.
//!
//! Partial interpolants are put together without a look at what they say, so that the result repeats itself. From the
//! leaves up, each conjunction is made smaller by what its members that are literals say of the others, and each
//! disjunction by duality:
//!
//! ```text
//! subsumption           x <= 3 and x <= 5        becomes  x <= 3
//! sibling assignment    p and (q or not p)       becomes  p and q
//!                       x <= 3 and (q or x <= 5) becomes  x <= 3
//! ```
//!
//! Absorption is a matter of the store's normal form. Looking into the siblings takes time that is quadratic in the
//! worst case; a budget on visited terms bounds it, and what is beyond stays as it is. [`with_solver`] also drops members
//! of the outermost junction that follow from the others, with a query for each.

use rustc_hash::FxHashMap;
use shofar_logic::{Op, Sort, Term, TermStore};

use super::verify::{Verdict, implies};
use crate::project::cube;
use crate::sat::Limits;

/// Terms that may be visited for sibling assignment.
const BUDGET: usize = 200_000;

/// The greatest number of members of a junction that the solver looks at.
const MOST_MEMBERS: usize = 64;

/// A formula, and what it was made from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Simplified {
    /// The formula, in normal form.
    pub formula: Term,
    /// The number of different subterms of the original.
    pub before: usize,
    /// The number of different subterms now.
    pub after: usize,
}

/// A normal formula with the same meaning.
pub fn structural(store: &TermStore, formula: Term) -> Simplified {
    let mut budget = BUDGET;
    let mut images: FxHashMap<Term, Term> = FxHashMap::default();
    let normal = store.normalize(formula);
    for term in store.subterms_until(&[normal], |term| !is_connective(store, term)) {
        let image = if is_connective(store, term) {
            let args: Vec<Term> = store.args(term).iter().map(|arg| images[arg]).collect();
            let image = store.build(store.op(term), &args).expect("formulas are replaced by formulas");
            simplify_members(store, image, &mut budget)
        } else {
            term
        };
        images.insert(term, image);
    }
    simplified(store, formula, images[&normal])
}

/// A formula with the same meaning, without members of the outermost conjunction or disjunction that follow from
/// the others. A query that the limits interrupt changes nothing.
pub fn with_solver(store: &TermStore, formula: Term, limits: &Limits<'_>) -> Simplified {
    let Simplified { formula: small, before, .. } = structural(store, formula);
    let (kind, members) = store.view(small);
    if !matches!(kind, Op::And | Op::Or) || members.len() > MOST_MEMBERS {
        return Simplified { before, ..simplified(store, formula, small) };
    }
    let polarity = |member: Term| if kind == Op::And { member } else { store.not(member) };
    let mut members: Vec<Term> = members.iter().map(|&member| polarity(member)).collect();
    for position in (0..members.len()).rev() {
        let member = members.remove(position);
        if implies(store, &members, member, limits) != Ok(Verdict::Holds) {
            members.insert(position, member);
        }
    }
    simplified(store, formula, junction_of(store, kind, members.into_iter().map(polarity)))
}

fn simplified(store: &TermStore, original: Term, formula: Term) -> Simplified {
    Simplified { formula, before: store.subterms(&[original]).len(), after: store.subterms(&[formula]).len() }
}

/// A conjunction or disjunction whose members are simplified, made smaller by its literals.
fn simplify_members(store: &TermStore, junction: Term, budget: &mut usize) -> Term {
    let (kind, members) = store.view(junction);
    if !matches!(kind, Op::And | Op::Or) {
        return junction;
    }
    // A disjunction is the negation of the conjunction of the negations.
    let polarity = |member: Term| if kind == Op::And { member } else { store.not(member) };
    let members = members.iter().map(|&member| polarity(member));
    let (mut literals, others): (Vec<Term>, Vec<Term>) =
        members.partition(|&member| is_literal(store, member));
    cube::simplify(store, &mut literals);
    let others: Vec<Term> =
        others.into_iter().map(|member| assign(store, member, &literals, budget)).collect();
    junction_of(store, kind, literals.into_iter().chain(others).map(polarity))
}

fn junction_of(store: &TermStore, kind: Op, members: impl Iterator<Item = Term>) -> Term {
    if kind == Op::And { store.and_of(members) } else { store.or_of(members) }
}

/// The formula with truth values for the atoms that literals settle.
fn assign(store: &TermStore, formula: Term, literals: &[Term], budget: &mut usize) -> Term {
    if literals.is_empty() || *budget == 0 {
        return formula;
    }
    let subterms = store.subterms_until(&[formula], |term| !is_connective(store, term));
    let cost = subterms.len().saturating_mul(literals.len());
    if cost > *budget {
        // To look at the size of one sibling after the other would be quadratic, too.
        *budget = 0;
        return formula;
    }
    *budget -= cost;
    let mut images: FxHashMap<Term, Term> = FxHashMap::default();
    for term in subterms {
        let image = if is_connective(store, term) {
            let args: Vec<Term> = store.args(term).iter().map(|arg| images[arg]).collect();
            store.build(store.op(term), &args).expect("formulas are replaced by formulas")
        } else if cube::implies(store, literals, &[term]) {
            Term::TRUE
        } else if cube::implies(store, literals, &[store.not(term)]) {
            Term::FALSE
        } else {
            term
        };
        images.insert(term, image);
    }
    images[&formula]
}

fn is_literal(store: &TermStore, formula: Term) -> bool {
    match store.view(formula) {
        (Op::Not, &[atom]) => !is_connective(store, atom),
        _ => !is_connective(store, formula),
    }
}

/// Whether the term is a formula made of formulas.
fn is_connective(store: &TermStore, term: Term) -> bool {
    match store.view(term) {
        (Op::Not | Op::And | Op::Or, _) => true,
        (Op::Eq, args) => store.sort_of(args[0]) == Sort::BOOL,
        (Op::Ite, _) => store.sort_of(term) == Sort::BOOL,
        _ => false,
    }
}
