//! The parts that formulas of a proof occur in.
//!
//! A literal of which both sides may speak need not be a shared one: if only clauses of A have it, it counts for A, and
//! what a theory lemma makes of it together with other literals of A is weaker, and more general, than the literal. So
//! labels are decided by occurrences in clauses, and symbols only say what is possible.
//!
//! A clause of an assertion belongs to its part. A definition belongs to no part by itself, as gates and fresh symbols are
//! shared by all formulas. It is *made for* the parts whose asserted formulas have the gate or the symbol somewhere
//! inside: those that have all literals of the clause that stand in formulas at all. It does not matter for correctness
//! which parts these are.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::{Term, TermStore};

use super::colour::Origins;
use crate::proof::{Part, Proof, Rule};
use crate::sat::Lit;

/// For each step that is needed and is a definition or split the parts that it is made for, ascending; nothing where
/// that cannot be told.
pub(super) fn made_for(
    store: &TermStore,
    proof: &Proof,
    origins: &Origins,
    is_needed: &[bool],
) -> Vec<Box<[Part]>> {
    let mut occurrences = Occurrences::new(store, proof, origins, is_needed);
    let steps = std::iter::zip(proof.steps(), is_needed);
    steps
        .map(|(step, &is_needed)| match step.rule {
            Rule::Definition | Rule::Lemma(_) if is_needed => occurrences.of_clause(&step.clause),
            _ => Box::default(),
        })
        .collect()
}

struct Occurrences<'p> {
    store: &'p TermStore,
    proof: &'p Proof,
    origins: &'p Origins,
    /// For formulas of variables and fresh symbols the parts with formulas that have them inside, ascending. Those of
    /// other formulas are added when they are needed.
    parts: FxHashMap<Term, Vec<Part>>,
}

impl<'p> Occurrences<'p> {
    fn new(store: &'p TermStore, proof: &'p Proof, origins: &'p Origins, is_needed: &[bool]) -> Self {
        let mut asserted: BTreeMap<Part, Vec<Term>> = BTreeMap::new();
        let mut wanted: FxHashSet<Term> = proof.origins().iter().map(|&(symbol, _)| symbol).collect();
        for (step, _) in std::iter::zip(proof.steps(), is_needed).filter(|(_, is_needed)| **is_needed) {
            let formulas = step.clause.iter().map(|lit| proof.formula(lit.var()));
            wanted.extend(formulas.clone());
            if let Rule::Assertion(part) | Rule::Assumption(part) = step.rule {
                asserted.entry(part).or_default().extend(formulas);
            }
        }
        let mut parts: FxHashMap<Term, Vec<Part>> = FxHashMap::default();
        for (part, mut open) in asserted {
            let mut seen: FxHashSet<Term> = FxHashSet::default();
            while let Some(term) = open.pop() {
                if seen.insert(term) {
                    if wanted.contains(&term) {
                        parts.entry(term).or_default().push(part);
                    }
                    open.extend_from_slice(origins.below(store, &term));
                }
            }
        }
        Occurrences { store, proof, origins, parts }
    }

    /// The parts that have all literals of the clause that stand in formulas; if there are none, those that have one.
    fn of_clause(&mut self, clause: &[Lit]) -> Box<[Part]> {
        let proof = self.proof;
        let formulas = || clause.iter().map(|lit| proof.formula(lit.var()));
        formulas().for_each(|formula| self.add(formula));
        let of_literals: Vec<&[Part]> =
            formulas().map(|formula| &self.parts[&formula][..]).filter(|parts| !parts.is_empty()).collect();
        let mut all = common(&of_literals);
        if all.is_empty() {
            all = of_literals.concat();
            all.sort_unstable();
            all.dedup();
        }
        all.into()
    }

    /// Finds the parts of a formula that stands in no formula: those that have all its fresh symbols.
    fn add(&mut self, formula: Term) {
        if self.parts.contains_key(&formula) {
            return;
        }
        let subterms = self.store.subterms_until(&[formula], |term| self.origins.contains(term));
        let fresh = subterms.iter().filter(|term| self.origins.contains(**term));
        let of_symbols: Vec<&[Part]> =
            fresh.filter_map(|symbol| self.parts.get(symbol).map(Vec::as_slice)).collect();
        let parts = common(&of_symbols);
        self.parts.insert(formula, parts);
    }
}

/// The parts that all lists have.
fn common(lists: &[&[Part]]) -> Vec<Part> {
    let Some((first, others)) = lists.split_first() else { return Vec::new() };
    let is_common = |part: &&Part| others.iter().all(|other| other.binary_search(part).is_ok());
    first.iter().filter(is_common).copied().collect()
}
