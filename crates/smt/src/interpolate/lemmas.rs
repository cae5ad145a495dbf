//! Interpolants of theory lemmas, at all cuts.
//!
//! The inequalities of a lemma and the validity of its certificate do not depend on the cut, so they are computed once.
//! Its interpolant depends on which literals of the conflict are A's and, except for plain sums, on which monomials are
//! local. It is recomputed only when these change.

use rustc_hash::FxHashSet;
use shofar_logic::{Op, Term, TermStore};
use shofar_run::Limits;

use super::colour::Colours;
use super::congruence::{self, Conflict, Edge, Obstacle, Source};
use super::cuts::{CutSet, Cuts};
use super::datatypes;
use super::decomposed::{self, Component};
use super::divisibility::{Confined, divisibility};
use super::fallback::Bounds;
use super::farkas::{self, Summand};
use super::labelled::Labels;
use super::{Arithmetic, Defect, Equality};
use crate::proof::{
    CongruenceEdge, CongruenceProof, EdgeRule, FarkasTerm, Inequality, IntegerRefutation, Justification,
    Proof, Sign, Step, StepId,
};
use crate::sat::Lit;

/// A lemma, and everything its interpolants depend on.
pub(super) struct Lemma<'l, 'p> {
    pub(super) store: &'p TermStore,
    pub(super) proof: &'p Proof,
    pub(super) cuts: &'p Cuts,
    pub(super) labels: &'l Labels,
    pub(super) colours: &'l mut Colours<'p>,
    pub(super) id: StepId,
    /// The literals that are true in the conflict.
    pub(super) conflict: FxHashSet<Lit>,
    /// Limits of queries.
    pub(super) limits: &'l Limits<'l>,
}

impl<'l, 'p> Lemma<'l, 'p> {
    pub(super) fn new(
        store: &'p TermStore,
        proof: &'p Proof,
        cuts: &'p Cuts,
        labels: &'l Labels,
        colours: &'l mut Colours<'p>,
        limits: &'l Limits<'l>,
        (id, step): (StepId, &Step),
    ) -> Self {
        let conflict = step.clause.iter().map(|&lit| !lit).collect();
        Lemma { store, proof, cuts, labels, colours, id, conflict, limits }
    }

    /// The interpolants at all cuts, by the procedure for the justification. A theory with its own interpolation
    /// procedure is added here. `None` for a clause that [belongs to a side](is_of_a_side).
    pub(super) fn leaf_interpolants(
        &mut self,
        justification: &Justification,
        arithmetic: &Arithmetic,
        equality: Equality,
    ) -> Result<Option<Vec<Term>>, Defect> {
        Ok(match justification {
            Justification::Farkas(terms) => Some(self.sums(terms, arithmetic)?),
            Justification::Integer(refutation) => Some(self.integers(refutation)?),
            Justification::Congruence(proof) if is_of_datatypes(self.store, proof) => {
                Some(self.datatypes(equality)?)
            }
            Justification::Congruence(proof) => Some(self.congruences(proof, equality)?),
            Justification::Cycle(_) => Some(self.datatypes(equality)?),
            Justification::Split | Justification::Axiom(_) => None,
        })
    }

    /// The cuts at which a literal of the conflict is A's.
    fn of_a(&self, lit: Lit) -> Result<&'l CutSet, Defect> {
        let is_there = self.conflict.contains(&lit);
        self.labels.of_a(lit.var()).filter(|_| is_there).ok_or(Defect::Invalid(self.id))
    }

    fn inequality(&self, lit: Lit, sign: Sign) -> Option<Inequality> {
        self.proof.inequality(self.store, lit, sign)
    }

    /// Interpolants from the weighted sum of inequalities.
    fn sums(&mut self, terms: &[FarkasTerm], arithmetic: &Arithmetic) -> Result<Vec<Term>, Defect> {
        let mut summands = Vec::with_capacity(terms.len());
        let mut of_a = Vec::with_capacity(terms.len());
        for term in terms.iter().filter(|term| !term.coefficient.is_zero()) {
            let inequality = self.inequality(term.lit, term.side).ok_or(Defect::Invalid(self.id))?;
            summands.push(Summand { inequality, weight: term.coefficient.clone(), in_a: false });
            of_a.push(self.of_a(term.lit)?);
        }
        if !farkas::is_refutation(&summands) {
            return Err(Defect::Invalid(self.id));
        }
        match arithmetic {
            Arithmetic::Decomposed => self.decomposed(summands, &of_a, true),
            Arithmetic::DualDecomposed => self.decomposed(summands, &of_a, false),
            _ => Ok(self.of_sums(summands, &of_a, arithmetic)),
        }
    }

    /// Interpolants that depend only on the sums of A and B.
    fn of_sums(&self, mut summands: Vec<Summand>, of_a: &[&CutSet], arithmetic: &Arithmetic) -> Vec<Term> {
        let store = self.store;
        // Before the first cut A is empty.
        let (mut a, mut b) = (Inequality::default(), farkas::sum_of(&summands, false));
        let mut last = Term::TRUE;
        let mut found = Vec::with_capacity(self.cuts.len());
        for cut in 0..self.cuts.len() {
            let mut is_changed = false;
            for (summand, of_a) in std::iter::zip(&mut summands, of_a) {
                let now = of_a.contains(cut);
                if summand.in_a != now {
                    is_changed = true;
                    summand.in_a = now;
                    let (gains, loses) = if now { (&mut a, &mut b) } else { (&mut b, &mut a) };
                    gains.form.add_scaled(&summand.inequality.form, &summand.weight);
                    loses.form.add_scaled(&summand.inequality.form, &-summand.weight.clone());
                }
            }
            if is_changed {
                let is_strict =
                    |in_a: bool| summands.iter().any(|it| it.in_a == in_a && it.inequality.is_strict);
                (a.is_strict, b.is_strict) = (is_strict(true), is_strict(false));
                last = match arithmetic {
                    Arithmetic::DualFarkas => b.clone().negation().to_term(store),
                    Arithmetic::Flexible(strength) => farkas::between(store, a.clone(), b.clone(), strength),
                    _ => a.to_term(store),
                };
            }
            found.push(last);
        }
        found
    }

    /// Gradual decomposition of A or of B; see `decomposed.rs`.
    fn decomposed(
        &mut self,
        mut summands: Vec<Summand>,
        of_a: &[&CutSet],
        in_a: bool,
    ) -> Result<Vec<Term>, Defect> {
        let Self { store, cuts, ref mut colours, id, .. } = *self;
        summands.iter_mut().for_each(|summand| summand.in_a = in_a);
        let is_mine = |at: usize, cut: usize| of_a[at].contains(cut) == in_a;
        let mut components: Vec<Vec<Component>> = vec![Vec::new(); cuts.len()];
        let mut found = vec![Term::TRUE; cuts.len()];
        let mut order: Vec<usize> = (0..cuts.len()).collect();
        if !in_a {
            order.reverse();
        }
        for cut in order {
            // Each cut is used by one other only: duals are not offered for trees.
            let smaller = if in_a { cuts.below(cut) } else { cuts.above(cut) };
            let mut rows: Vec<Component> =
                smaller.iter().flat_map(|&smaller| std::mem::take(&mut components[smaller])).collect();
            let (inherited, mut count) = (rows.len(), 0);
            for (at, summand) in summands.iter().enumerate() {
                let owners = smaller.iter().filter(|&&smaller| is_mine(at, smaller)).count();
                match (owners, is_mine(at, cut)) {
                    (0, true) => rows.push(summand.clone().into()),
                    (0, false) | (1, true) => {}
                    // Excluded by S1 of the labels.
                    _ => return Err(Defect::Invalid(id)),
                }
                count += usize::from(is_mine(at, cut));
            }
            if count == 0 || count == summands.len() {
                found[cut] = store.bool((count == 0) == in_a);
                components[cut] = rows;
                continue;
            }
            let mut is_local = |term: Term| {
                let sides = colours.at(cut, term);
                if in_a { !sides.b } else { !sides.a }
            };
            let mut has_local =
                |row: &Component| row.summand.inequality.form.terms().iter().any(|&(term, _)| is_local(term));
            match *smaller {
                [smaller] if rows.len() == inherited && !rows.iter().any(&mut has_local) => {
                    found[cut] = found[smaller];
                    components[cut] = rows;
                }
                _ => {
                    components[cut] = decomposed::components(rows, is_local);
                    found[cut] = decomposed::interpolant(store, &mut components[cut], in_a);
                }
            }
        }
        Ok(found)
    }

    /// Interpolants from an interval without an integer.
    fn integers(&mut self, refutation: &IntegerRefutation) -> Result<Vec<Term>, Defect> {
        let mut terms = Vec::with_capacity(refutation.terms.len());
        let mut of_a = Vec::with_capacity(refutation.terms.len());
        for term in &refutation.terms {
            let (monomial, factor) = term.form.terms().first().ok_or(Defect::Invalid(self.id))?;
            // The bound that a literal puts on the form, or on its negation; an equation gives both.
            let bound = |lit: Lit, of_negation: bool| {
                let inequalities = [Sign::Positive, Sign::Negative].map(|sign| self.inequality(lit, sign));
                let is_meant = |inequality: &Inequality| {
                    let ratio = &inequality.form.coefficient(*monomial) / factor;
                    !ratio.is_zero() && ratio.is_positive() != of_negation
                };
                inequalities.into_iter().flatten().find(is_meant).ok_or(Defect::Invalid(self.id))
            };
            let (lower, upper) = (bound(term.lower, false)?, bound(term.upper, true)?);
            // The literal may bound a multiple of the form.
            let multiplier = &(&term.multiplier * factor) / &lower.form.coefficient(*monomial);
            terms.push(Confined { multiplier, lower: (lower, false), upper: (upper, false) });
            of_a.push([self.of_a(term.lower)?, self.of_a(term.upper)?]);
        }
        let Self { store, cuts, ref mut colours, id, .. } = *self;
        let mut interpolant = |cut: usize, terms: &[Confined]| {
            divisibility(store, terms, |term| !colours.at(cut, term).b).ok_or(Defect::Invalid(id))
        };
        let mut found = Vec::with_capacity(cuts.len());
        for cut in 0..cuts.len() {
            for (term, [lower, upper]) in std::iter::zip(&mut terms, &of_a) {
                (term.lower.1, term.upper.1) = (lower.contains(cut), upper.contains(cut));
            }
            found.push(interpolant(cut, &terms)?);
        }
        Ok(found)
    }

    /// Interpolants of a conflict of datatypes.
    fn datatypes(&self, equality: Equality) -> Result<Vec<Term>, Defect> {
        let mut conflict: Vec<Lit> = self.conflict.iter().copied().collect();
        conflict.sort_unstable();
        let literal = |lit: Lit| Ok((self.proof.literal(self.store, lit), self.of_a(lit)?));
        let literals = conflict.into_iter().map(literal).collect::<Result<Vec<_>, Defect>>()?;
        let bounds = Bounds { limits: *self.limits, disjuncts: datatypes::MOST_DISJUNCTS };
        let found = datatypes::interpolants(self.store, self.cuts, &literals, equality, &bounds);
        found.map_err(|_| Defect::Invalid(self.id))
    }

    /// Interpolants from equalities between terms that differ.
    fn congruences(&mut self, proof: &CongruenceProof, equality: Equality) -> Result<Vec<Term>, Defect> {
        let mut found = Vec::with_capacity(self.cuts.len());
        for cut in 0..self.cuts.len() {
            let is_of_a = |lit: Lit| Ok(self.of_a(lit)?.contains(cut));
            let mut edges = Vec::with_capacity(proof.edges.len());
            for edge in &proof.edges {
                let source = match edge.why {
                    EdgeRule::Literal(lit) => Source::Input(is_of_a(lit)?),
                    EdgeRule::Congruence => Source::Congruence,
                    // Conflicts with these have their own procedure.
                    EdgeRule::Injection(..) | EdgeRule::Reduction { .. } => {
                        return Err(Defect::Invalid(self.id));
                    }
                };
                edges.push(Edge { left: edge.left, right: edge.right, source });
            }
            // Both sides know that different values differ.
            let in_a = match (proof.distinct, equality) {
                (Some(lit), _) => is_of_a(lit)?,
                (None, Equality::Strong) => false,
                (None, Equality::Weak) => true,
            };
            let conflict = Conflict { edges, ends: proof.apart, in_a };
            let (store, colours) = (self.store, &mut *self.colours);
            let interpolant = match equality {
                Equality::Strong => congruence::strong(store, &conflict, |term| colours.at(cut, term)),
                Equality::Weak => congruence::weak(store, &conflict, |term| colours.at(cut, term)),
            };
            found.push(interpolant.map_err(|obstacle| match obstacle {
                Obstacle::Mixed(term) => Defect::Mixed(term),
                Obstacle::Invalid => Defect::Invalid(self.id),
            })?);
        }
        Ok(found)
    }
}

/// Whether a conflict of equality needs more than congruence: injection, values of selectors and testers, or different
/// constructors.
fn is_of_datatypes(store: &TermStore, proof: &CongruenceProof) -> bool {
    let is_plain = |edge: &CongruenceEdge| matches!(edge.why, EdgeRule::Literal(_) | EdgeRule::Congruence);
    let is_constructed = |term: Term| matches!(store.op(term), Op::Construct(_));
    !proof.edges.iter().all(is_plain) || proof.distinct.is_none() && is_constructed(proof.apart.0)
}

/// Whether a lemma counts as a clause of the side that can express all its literals, without an interpolation procedure
/// of its own.
pub(super) fn is_of_a_side(justification: &Justification) -> bool {
    match justification {
        Justification::Split | Justification::Axiom(_) => true,
        Justification::Farkas(_)
        | Justification::Integer(_)
        | Justification::Congruence(_)
        | Justification::Cycle(_) => false,
    }
}
