//! The parts in which formulas of a proof occur.
//!
//! A literal that both sides can express need not be shared: if only clauses of A have it, it counts for A. A theory
//! lemma then combines it with other literals of A to a result that is weaker, and more general, than the literal. So
//! occurrences in clauses determine labels; symbols only restrict them.
//!
//! A clause of an assertion belongs to its part. A definition belongs to no part, because all formulas share gates and
//! fresh symbols. It is *made for* the parts whose asserted formulas contain the gate or symbol: those that contain all
//! literals of the clause that occur in formulas at all. Any choice of these parts is correct.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::{Term, TermStore};

use super::colour::Origins;
use crate::proof::{Part, Proof, Rule};
use crate::sat::Lit;

/// For each needed definition or split, the parts that it is made for, ascending; empty if they are unknown.
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
    /// For formulas of variables and fresh symbols: the parts whose formulas contain them, ascending. Entries of other
    /// formulas are added on demand.
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

    /// The parts that contain all literals of the clause that occur in formulas; if there are none, those that contain
    /// one.
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

    /// Finds the parts of a formula that occurs in no asserted formula: those that contain all its fresh symbols.
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

/// The intersection of the lists.
fn common(lists: &[&[Part]]) -> Vec<Part> {
    let Some((first, others)) = lists.split_first() else { return Vec::new() };
    let is_common = |part: &&Part| others.iter().all(|other| other.binary_search(part).is_ok());
    first.iter().filter(is_common).copied().collect()
}
