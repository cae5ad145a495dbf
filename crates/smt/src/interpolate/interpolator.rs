//! The interpolator: answers queries about one refutation and its parts.
//!
//! Each query goes to the proof first (`labelled.rs`). If the proof has a [`Defect`], it goes to the fallback, if the
//! [`Options`] allow one. Interpolants of the fallback are equally valid, but do not reflect why the parts are
//! contradictory.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use shofar_logic::{Term, TermStore};
use shofar_run::Limits;

use super::colour::{Colours, Origins, Vocabulary};
use super::cuts::Cuts;
use super::fallback::{self, Bounds};
use super::labelled::Pass;
use super::simplify::{self, Simplifier};
use super::verify::{self, Entailment, implies};
use super::{
    Arithmetic, Defect, Equality, Error, Fallback, Labelling, Options, Simplification, occurrence, stepwise,
};
use crate::proof::{Justification, Part, Proof, Rule, StepId};

/// Conflict and propagation budgets of a check by the solver, and the greatest size that is checked.
const CHECK_CONFLICTS: u64 = 2_000;
const CHECK_PROPAGATIONS: u64 = 1_000_000;
const CHECK_SIZE: usize = 10_000;

/// An interpolant, and its size before simplification.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Interpolant {
    /// The formula. It is in normal form, unless it exceeded the budget for that.
    pub formula: Term,
    /// The number of different subterms before simplification.
    pub raw_size: usize,
    /// The number of different subterms of the formula.
    pub size: usize,
    /// Whether it comes from the proof, not from the fallback.
    pub from_proof: bool,
}

/// Answers queries about one refutation.
pub struct Interpolator<'a> {
    store: &'a TermStore,
    proof: Proof,
    /// The formulas of each part, as they were asserted or assumed.
    parts: Vec<(Part, Vec<Term>)>,
    options: Options,
    vocabulary: Vocabulary,
    origins: Origins,
    /// The steps that the empty clause depends on.
    is_needed: Vec<bool>,
    /// The parts that definitions and splits were made for, by step.
    made_for: Vec<Box<[Part]>>,
    /// The theory axioms that the proof uses. They are valid, but a solver that checks interpolants may lack their
    /// theory, so it gets them as premises.
    axioms: Vec<Term>,
}

impl<'a> Interpolator<'a> {
    /// Takes any proof and the formulas of its parts, which must include everything asserted and assumed.
    /// [`Solver::interpolator`](crate::solver::Solver::interpolator) knows both.
    pub fn new(
        store: &'a TermStore,
        proof: Proof,
        parts: Vec<(Part, Vec<Term>)>,
        options: Options,
    ) -> Result<Self, Error> {
        let mut vocabulary = Vocabulary::default();
        for (part, formulas) in &parts {
            vocabulary.add(store, *part, formulas);
        }
        let is_needed = needed_steps(&proof)?;
        let origins = Origins::new(proof.origins());
        let made_for = occurrence::made_for(store, &proof, &origins, &is_needed);
        let axioms = needed_axioms(store, &proof, &origins, &is_needed);
        let interpolator =
            Interpolator { store, proof, parts, options, vocabulary, origins, is_needed, made_for, axioms };
        let listed: Vec<Part> = interpolator.parts.iter().map(|&(part, _)| part).collect();
        interpolator.check_listed(&listed)?;
        Ok(interpolator)
    }

    /// Regroups the parts of the same proof: each part joins the part that `part_of` maps it to.
    pub(crate) fn regroup(self, part_of: impl Fn(Part) -> Part) -> Result<Self, Error> {
        let mut parts: BTreeMap<Part, Vec<Term>> = BTreeMap::new();
        for (part, formulas) in self.parts {
            parts.entry(part_of(part)).or_default().extend(formulas);
        }
        let proof = self.proof.with_parts(part_of);
        Interpolator::new(self.store, proof, parts.into_iter().collect(), self.options)
    }

    /// Sets the options of later queries.
    pub fn set_options(&mut self, options: Options) {
        self.options = options;
    }

    /// The proof.
    pub fn proof(&self) -> &Proof {
        &self.proof
    }

    /// The formulas of each part, ascending by part if they come from the solver.
    pub fn parts(&self) -> &[(Part, Vec<Term>)] {
        &self.parts
    }

    /// The interpolant where the given parts are A and all others B.
    pub fn binary(&self, in_a: &[Part], limits: &Limits<'_>) -> Result<Interpolant, Error> {
        self.at_cuts(&Cuts::single(in_a), limits).map(|found| found[0]).or_else(|defect| {
            let bounds = self.fallback_bounds(defect, limits)?;
            let side = |is_a: bool| self.side(|part| in_a.contains(&part) == is_a);
            let found = fallback::any_interpolant(self.store, &side(true), &side(false), &bounds)
                .map_err(|failure| Error::without_fallback(defect, failure))?;
            Ok(self.simplified(&mut Simplifier::new(self.store), found, false, limits))
        })
    }

    /// The interpolants of the prefixes of the parts in this order, from the first part alone to all but the last.
    pub fn sequence(&self, order: &[Part], limits: &Limits<'_>) -> Result<Vec<Interpolant>, Error> {
        self.check_listed(order)?;
        self.inductive_at_cuts(&Cuts::sequence(order), order, limits).or_else(|defect| {
            let nodes: Vec<_> = order.iter().enumerate().map(|(at, &part)| (part, at + 1)).collect();
            let mut interpolants = self.tree_node_by_node(&nodes, defect, limits)?;
            interpolants.pop();
            Ok(interpolants)
        })
    }

    /// The interpolants of the subtrees of a tree. Each node is a part with the position of its parent. Children come
    /// before their parents. The root is last; its interpolant is `false`.
    pub fn tree(&self, nodes: &[(Part, usize)], limits: &Limits<'_>) -> Result<Vec<Interpolant>, Error> {
        let order: Vec<Part> = nodes.iter().map(|&(part, _)| part).collect();
        self.check_listed(&order)?;
        let has_dual = !matches!(self.options.arithmetic, Arithmetic::Farkas | Arithmetic::Decomposed)
            || self.options.labelling == Labelling::DualMcMillan
            || self.options.equality == Equality::Weak && self.has_congruence();
        if has_dual {
            return Err(Error::NoTreeProperty);
        }
        let mut interpolants = self
            .inductive_at_cuts(&Cuts::tree(nodes)?, &order, limits)
            .or_else(|defect| self.tree_node_by_node(nodes, defect, limits))?;
        // It is equivalent to `false`, since B is empty. But a term such as `hd(nil)` has no symbols, so that an empty B
        // can express it.
        if let Some(root) = interpolants.last_mut() {
            (root.formula, root.size) = (Term::FALSE, 1);
        }
        Ok(interpolants)
    }

    fn tree_node_by_node(
        &self,
        nodes: &[(Part, usize)],
        defect: Defect,
        limits: &Limits<'_>,
    ) -> Result<Vec<Interpolant>, Error> {
        let bounds = self.fallback_bounds(defect, limits)?;
        let nodes: Vec<_> =
            nodes.iter().map(|&(part, parent)| (self.formulas(part).collect(), parent)).collect();
        let found = stepwise::tree(self.store, &nodes, &self.options, &bounds)
            .map_err(|failure| Error::without_fallback(defect, failure))?;
        let mut simplifier = Simplifier::new(self.store);
        Ok(found
            .into_iter()
            .map(|formula| self.simplified(&mut simplifier, formula, false, limits))
            .collect())
    }

    /// The bounds of the fallback, or `Err` if the options switch it off.
    fn fallback_bounds<'l>(&self, defect: Defect, limits: &Limits<'l>) -> Result<Bounds<'l>, Error> {
        match self.options.fallback {
            Fallback::Off => Err(Error::NotFound(defect, None)),
            Fallback::Disjuncts(disjuncts) => Ok(Bounds { limits: *limits, disjuncts }),
        }
    }

    /// The interpolants at cuts, with I4. If the proof has congruence lemmas, the solver checks I4.
    fn inductive_at_cuts(
        &self,
        cuts: &Cuts,
        order: &[Part],
        limits: &Limits<'_>,
    ) -> Result<Vec<Interpolant>, Defect> {
        let interpolants = self.at_cuts(cuts, limits)?;
        if !self.has_congruence() {
            return Ok(interpolants);
        }
        for (cut, interpolant) in interpolants.iter().enumerate() {
            let below = cuts.below(cut).iter().map(|&below| interpolants[below].formula);
            let premises: Vec<Term> = self.formulas(order[cut]).chain(below).collect();
            if !cuts.below(cut).is_empty() && !self.follows(&premises, interpolant.formula, limits) {
                return Err(Defect::NotInductive(cut));
            }
        }
        Ok(interpolants)
    }

    /// The interpolants at cuts.
    fn at_cuts(&self, cuts: &Cuts, limits: &Limits<'_>) -> Result<Vec<Interpolant>, Defect> {
        let store = self.store;
        let mut colours = Colours::new(store, &self.vocabulary, &self.origins, cuts);
        // A side as asserted entails its purified form only if it alone defines the replaced symbols.
        for definition in self.proof.definitions() {
            if (0..cuts.len()).any(|cut| colours.at(cut, definition.symbol).is_shared()) {
                return Err(Defect::Mixed(definition.symbol));
            }
        }
        let mut pass = Pass {
            store,
            proof: &self.proof,
            labelling: self.options.labelling,
            arithmetic: &self.options.arithmetic,
            equality: self.options.equality,
            cuts,
            colours: &mut colours,
            is_needed: &self.is_needed,
            made_for: &self.made_for,
            limits,
        };
        let raw = pass.run()?;
        let (mut expanded, mut simplifier) = (FxHashMap::default(), Simplifier::new(store));
        let mut interpolants = Vec::with_capacity(raw.len());
        for (cut, raw) in raw.into_iter().enumerate() {
            let raw = self.origins.expand(store, raw, &mut expanded);
            let interpolant = self.simplified(&mut simplifier, raw, true, limits);
            if !colours.at(cut, interpolant.formula).is_shared() {
                return Err(Defect::Leak(interpolant.formula));
            }
            debug_assert!(
                self.separates(cuts, cut, interpolant.formula),
                "{}",
                store.display(interpolant.formula)
            );
            interpolants.push(interpolant);
        }
        Ok(interpolants)
    }

    fn simplified(
        &self,
        simplifier: &mut Simplifier<'_>,
        raw: Term,
        from_proof: bool,
        limits: &Limits<'_>,
    ) -> Interpolant {
        let simplify::Simplified { formula, before, after } = match self.options.simplification {
            Simplification::Normal => simplifier.normal(raw),
            Simplification::Structural => simplifier.structural(raw),
            Simplification::Solver(conflicts) => {
                let limits = Limits { conflicts: Some(conflicts), ..*limits };
                simplifier.with_solver(raw, &limits)
            }
        };
        Interpolant { formula, raw_size: before, size: after, from_proof }
    }

    /// Whether no check refutes I1 or I2.
    fn separates(&self, cuts: &Cuts, cut: usize, interpolant: Term) -> bool {
        let side = |is_a: bool| {
            let formulas = self.side(|part| cuts.of_part(part).contains(cut) == is_a);
            [&formulas[..], &self.axioms].concat()
        };
        verify::separates(
            self.store,
            &side(true),
            interpolant,
            &side(false),
            &check_limits(&Limits::default()),
        ) != Ok(Entailment::Fails)
    }

    /// The formulas of the selected parts.
    fn side(&self, is_meant: impl Fn(Part) -> bool) -> Vec<Term> {
        let parts = self.parts.iter().filter(|(part, _)| is_meant(*part));
        parts.flat_map(|(_, formulas)| formulas).copied().collect()
    }

    /// Whether the solver proves that the premises imply the conclusion.
    fn follows(&self, premises: &[Term], conclusion: Term, limits: &Limits<'_>) -> bool {
        let premises = [premises, &self.axioms].concat();
        let terms: Vec<Term> = premises.iter().copied().chain([conclusion]).collect();
        self.store.subterms(&terms).len() <= CHECK_SIZE
            && implies(self.store, &premises, conclusion, &check_limits(limits)) == Ok(Entailment::Holds)
    }

    fn formulas(&self, part: Part) -> impl Iterator<Item = Term> {
        let parts = self.parts.iter().filter(move |(other, _)| *other == part);
        parts.flat_map(|(_, formulas)| formulas).copied()
    }

    fn needed(&self) -> impl Iterator<Item = &Rule> {
        let steps = std::iter::zip(self.proof.steps(), &self.is_needed);
        steps.filter(|(_, is_needed)| **is_needed).map(|(step, _)| &step.rule)
    }

    /// Whether the proof needs a congruence lemma.
    fn has_congruence(&self) -> bool {
        self.needed().any(|rule| matches!(rule, Rule::Lemma(Justification::Congruence(_))))
    }

    fn check_listed(&self, listed: &[Part]) -> Result<(), Error> {
        let listed: BTreeSet<Part> = listed.iter().copied().collect();
        let used = self.needed().filter_map(|rule| match rule {
            Rule::Assertion(part) | Rule::Assumption(part) => Some(*part),
            _ => None,
        });
        match used.into_iter().find(|part| !listed.contains(part)) {
            Some(part) => Err(Error::Unlisted(part)),
            None => Ok(()),
        }
    }
}

fn check_limits<'l>(limits: &Limits<'l>) -> Limits<'l> {
    Limits { conflicts: Some(CHECK_CONFLICTS), propagations: Some(CHECK_PROPAGATIONS), ..*limits }
}

/// The steps that the last step, the empty clause, depends on. Steps depend only on earlier ones.
fn needed_steps(proof: &Proof) -> Result<Vec<bool>, Error> {
    let steps = proof.steps();
    if steps.last().is_none_or(|step| !step.clause.is_empty()) {
        return Err(Error::NoRefutation);
    }
    let mut is_needed = vec![false; steps.len()];
    is_needed[steps.len() - 1] = true;
    for (at, step) in steps.iter().enumerate().rev() {
        let Rule::Resolution { first, others } = &step.rule else { continue };
        if !is_needed[at] {
            continue;
        }
        for id in others.iter().map(|(other, _)| other).chain([first]) {
            if id.0 as usize >= at {
                return Err(Error::NotFound(Defect::Invalid(StepId(at as u32)), None));
            }
            is_needed[id.0 as usize] = true;
        }
    }
    Ok(is_needed)
}

/// The clauses stated by theories that the proof needs, without fresh symbols.
fn needed_axioms(store: &TermStore, proof: &Proof, origins: &Origins, is_needed: &[bool]) -> Vec<Term> {
    let mut expanded = FxHashMap::default();
    let steps = std::iter::zip(proof.steps(), is_needed);
    let is_axiom = |rule: &Rule| matches!(rule, Rule::Lemma(Justification::Axiom(_)));
    let axioms = steps.filter(|(step, is_needed)| **is_needed && is_axiom(&step.rule));
    axioms
        .map(|(step, _)| {
            let literals = step
                .clause
                .iter()
                .map(|&lit| store.normalize(origins.expand(store, proof.literal(store, lit), &mut expanded)));
            store.or_of(literals)
        })
        .collect()
}
