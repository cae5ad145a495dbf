//! The labelled interpolation system: one pass over a refutation gives an interpolant.
//!
//! Every variable has a *label*, which says which side its occurrences count for: `a` if only clauses of A have it, `b`
//! if only those of B have, and for shared ones what the *labelling* says. A variable that only theory lemmas have is
//! shared if both sides may speak of its formula, else it is of the one that may. Every clause `C` of the proof gets a
//! partial interpolant `I`, over shared symbols, with
//!
//! ```text
//! P1: A and not (literals of C with label a or ab)  implies  I
//! P2: B and not (literals of C with label b or ab)  implies  not I
//! ```
//!
//! so that the one of the empty clause is an interpolant:
//!
//! ```text
//! clause of A                  the disjunction of its literals with label b
//! clause of B                  the conjunction of the negations of its literals with label a
//! resolution on p              label a: I1 or I2     label b: I1 and I2
//!                              label ab: (p or I1) and (not p or I2), where I1 belongs to the clause with p
//! theory lemma                 an interpolant of its conflict, where literals with label a are A's
//! ```
//!
//! A clause that is valid may be one of either side that may speak of all its literals: definitions of gates and fresh
//! symbols, and splits. It is A's if it was made for formulas of A only, and what cannot be told is B's, if B may.
//!
//! In a lemma, literals with label `ab` may be either side's. They are B's: were they A's, a literal that two subtrees
//! share would be counted in the sums of both, and the two would not imply the sum of the whole.
//!
//! | labelling | shared variables | interpolants |
//! |---|---|---|
//! | McMillan | `b` | strongest |
//! | Pudlák | `ab` | between |
//! | dual McMillan | `a` | weakest |
//!
//! Invariants:
//! - S1: when parts move from B to A, labels move from `b` over `ab` to `a` and clauses from B to A. So interpolants of
//!   growing cuts are a sequence. With labels `b` and `ab` for shared variables those of subtrees are tree interpolants.
//! - S2: partial interpolants are terms as written, with constants and repetitions removed. Building normal ones would
//!   list the beginnings of long chains again and again.
//!
//! V. D'Silva, D. Kroening, M. Purandare, G. Weissenbacher, "Interpolant strength" (VMCAI 2010); theory lemmas as in
//! K. L. McMillan, "An interpolating theorem prover" (TCS 2005).

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::{Op, Term, TermStore};

use super::colour::{Colours, Sides};
use super::congruence::{self, Conflict, Edge, Obstacle, Source};
use super::divisibility::{Confined, divisibility};
use super::farkas::{self, Summand};
use super::{Arithmetic, Equality, Error, decomposed};
use crate::proof::{
    CongruenceProof, EdgeRule, FarkasTerm, Inequality, IntegerRefutation, Justification, Part, Proof, Rule,
    Sign, Step, StepId,
};
use crate::sat::{Lit, Var};

/// What shared variables count for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Labelling {
    /// For B: the strongest interpolants.
    #[default]
    McMillan,
    /// For both.
    Pudlak,
    /// For A: the weakest interpolants.
    DualMcMillan,
}

/// The side that a variable counts for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Label {
    A,
    B,
    AB,
}

/// One pass over a proof.
pub(super) struct Pass<'p> {
    pub(super) store: &'p TermStore,
    pub(super) proof: &'p Proof,
    pub(super) labelling: Labelling,
    pub(super) arithmetic: &'p Arithmetic,
    pub(super) equality: Equality,
    pub(super) colours: Colours<'p>,
    /// Which steps are looked at.
    pub(super) is_needed: &'p [bool],
    /// The parts that definitions and splits were made for, by steps.
    pub(super) made_for: &'p [Box<[Part]>],
    /// The sides whose clauses have each variable; filled by the pass.
    pub(super) occurs: FxHashMap<Var, Sides>,
}

impl Pass<'_> {
    /// The interpolant, which may mention fresh symbols.
    pub(super) fn run(&mut self) -> Result<Term, Error> {
        let (proof, is_needed) = (self.proof, self.is_needed);
        self.find_occurrences()?;
        let mut partial: Vec<Term> = Vec::with_capacity(proof.steps().len());
        for (at, step) in proof.steps().iter().enumerate() {
            if !is_needed[at] {
                partial.push(Term::TRUE);
                continue;
            }
            let id = StepId(at as u32);
            partial.push(match &step.rule {
                Rule::Assertion(_)
                | Rule::Assumption(_)
                | Rule::Definition
                | Rule::Lemma(Justification::Split) => self.leaf(at)?,
                Rule::Lemma(Justification::Farkas(terms)) => self.farkas(id, step, terms)?,
                Rule::Lemma(Justification::Integer(refutation)) => self.integer(id, step, refutation)?,
                Rule::Lemma(Justification::Congruence(proof)) => self.congruence(id, step, proof)?,
                Rule::Resolution { first, others } => self.resolve(id, &partial, *first, others)?,
            });
        }
        match proof.steps().last() {
            Some(step) if step.clause.is_empty() => Ok(partial[partial.len() - 1]),
            _ => Err(Error::NoRefutation),
        }
    }

    /// Finds out which sides have clauses with each variable.
    fn find_occurrences(&mut self) -> Result<(), Error> {
        for at in 0..self.proof.steps().len() {
            if self.is_needed[at]
                && let Some(in_a) = self.side_of_leaf(at)?
            {
                for lit in &self.proof.steps()[at].clause {
                    let occurs = self.occurs.entry(lit.var()).or_insert(Sides { a: false, b: false });
                    if in_a { occurs.a = true } else { occurs.b = true }
                }
            }
        }
        Ok(())
    }

    /// Whether the clause of a step is one of A's; nothing if it is of no side.
    fn side_of_leaf(&mut self, at: usize) -> Result<Option<bool>, Error> {
        let step = &self.proof.steps()[at];
        match step.rule {
            Rule::Assertion(part) | Rule::Assumption(part) => Ok(Some(self.colours.is_a(part))),
            Rule::Definition | Rule::Lemma(Justification::Split) => {
                let mut fits = Sides { a: true, b: true };
                for lit in &step.clause {
                    let Sides { a, b } = self.colours.of(self.proof.formula(lit.var()));
                    fits = Sides { a: fits.a && a, b: fits.b && b };
                }
                let made_for = &self.made_for[at];
                let is_for_a = !made_for.is_empty() && made_for.iter().all(|&part| self.colours.is_a(part));
                match fits {
                    Sides { a: true, b } => Ok(Some(is_for_a || !b)),
                    Sides { a: false, b: true } => Ok(Some(false)),
                    Sides { a: false, b: false } => {
                        let clause: Vec<Term> = step.clause.iter().map(|&lit| self.literal(lit)).collect();
                        Err(Error::Mixed(self.store.or(&clause)))
                    }
                }
            }
            _ => Ok(None),
        }
    }

    fn label(&mut self, var: Var) -> Result<Label, Error> {
        let formula = self.proof.formula(var);
        let sides = match self.occurs.get(&var) {
            Some(&sides) => sides,
            None => self.colours.of(formula),
        };
        match (sides, self.labelling) {
            (Sides { a: true, b: false }, _) => Ok(Label::A),
            (Sides { a: false, b: true }, _) => Ok(Label::B),
            (Sides { a: false, b: false }, _) => Err(Error::Mixed(formula)),
            (_, Labelling::McMillan) => Ok(Label::B),
            (_, Labelling::Pudlak) => Ok(Label::AB),
            (_, Labelling::DualMcMillan) => Ok(Label::A),
        }
    }

    /// Whether a literal of a conflict is one of A's.
    fn is_of_a(&mut self, lit: Lit) -> Result<bool, Error> {
        Ok(self.label(lit.var())? == Label::A)
    }

    fn literal(&self, lit: Lit) -> Term {
        let formula = self.proof.formula(lit.var());
        if lit.is_positive() { formula } else { self.store.not(formula) }
    }

    /// A clause of one side.
    fn leaf(&mut self, at: usize) -> Result<Term, Error> {
        let in_a = self.side_of_leaf(at)?.ok_or(Error::Invalid(StepId(at as u32)))?;
        let wanted = if in_a { Label::B } else { Label::A };
        let mut parts = Vec::new();
        for &lit in &self.proof.steps()[at].clause {
            if self.label(lit.var())? == wanted {
                parts.push(self.literal(if in_a { lit } else { !lit }));
            }
        }
        Ok(junction(self.store, if in_a { Op::Or } else { Op::And }, parts))
    }

    fn farkas(&mut self, id: StepId, step: &Step, terms: &[FarkasTerm]) -> Result<Term, Error> {
        let conflict = self.conflict(step)?;
        let mut summands = Vec::with_capacity(terms.len());
        for term in terms.iter().filter(|term| !term.coefficient.is_zero()) {
            let inequality = self.inequality(term.lit, term.side);
            let inequality = inequality.filter(|_| conflict.contains(&term.lit)).ok_or(Error::Invalid(id))?;
            let in_a = self.is_of_a(term.lit)?;
            summands.push(Summand { inequality, weight: term.coefficient.clone(), in_a });
        }
        if !farkas::is_refutation(&summands) {
            return Err(Error::Invalid(id));
        }
        let (store, colours) = (self.store, &mut self.colours);
        Ok(match self.arithmetic {
            Arithmetic::Farkas => farkas::farkas(store, &summands),
            Arithmetic::DualFarkas => farkas::dual_farkas(store, &summands),
            Arithmetic::Flexible(strength) => farkas::flexible(store, &summands, strength),
            Arithmetic::Decomposed => decomposed::decomposed(store, &summands, |term| !colours.of(term).b),
            Arithmetic::DualDecomposed => {
                decomposed::dual_decomposed(store, &summands, |term| !colours.of(term).a)
            }
        })
    }

    fn integer(&mut self, id: StepId, step: &Step, refutation: &IntegerRefutation) -> Result<Term, Error> {
        let conflict = self.conflict(step)?;
        let mut terms = Vec::with_capacity(refutation.terms.len());
        for term in &refutation.terms {
            let (monomial, factor) = term.form.terms().first().ok_or(Error::Invalid(id))?;
            // What a literal says of the form, or of its negation; an equation says both.
            let bound = |pass: &mut Self, lit: Lit, of_negation: bool| {
                let inequalities = [Sign::Positive, Sign::Negative].map(|sign| pass.inequality(lit, sign));
                let is_meant = |inequality: &Inequality| {
                    let ratio = &inequality.form.coefficient(*monomial) / factor;
                    !ratio.is_zero() && ratio.is_positive() != of_negation
                };
                let inequality = inequalities.into_iter().flatten().find(is_meant);
                let inequality = inequality.filter(|_| conflict.contains(&lit)).ok_or(Error::Invalid(id))?;
                Ok((inequality, pass.is_of_a(lit)?))
            };
            let lower = bound(self, term.lower, false)?;
            // The literal may be about a multiple of the form.
            let multiplier = &(&term.multiplier * factor) / &lower.0.form.coefficient(*monomial);
            terms.push(Confined { multiplier, lower, upper: bound(self, term.upper, true)? });
        }
        let colours = &mut self.colours;
        divisibility(self.store, &terms, |term| !colours.of(term).b).ok_or(Error::Invalid(id))
    }

    fn congruence(&mut self, id: StepId, step: &Step, proof: &CongruenceProof) -> Result<Term, Error> {
        let (conflict, equality) = (self.conflict(step)?, self.equality);
        let mut is_of_a = |lit: Lit| {
            if conflict.contains(&lit) { self.is_of_a(lit) } else { Err(Error::Invalid(id)) }
        };
        let mut edges = Vec::with_capacity(proof.edges.len());
        for edge in &proof.edges {
            let source = match edge.why {
                EdgeRule::Literal(lit) => Source::Input(is_of_a(lit)?),
                EdgeRule::Congruence => Source::Congruence,
            };
            edges.push(Edge { left: edge.left, right: edge.right, source });
        }
        // That values differ is known to both sides.
        let in_a = match (proof.distinct, equality) {
            (Some(lit), _) => is_of_a(lit)?,
            (None, Equality::Strong) => false,
            (None, Equality::Weak) => true,
        };
        let conflict = Conflict { edges, ends: proof.apart, in_a };
        let (store, colours) = (self.store, &mut self.colours);
        let interpolant = match equality {
            Equality::Strong => congruence::strong(store, &conflict, |term| colours.of(term)),
            Equality::Weak => congruence::weak(store, &conflict, |term| colours.of(term)),
        };
        interpolant.map_err(|obstacle| match obstacle {
            Obstacle::Mixed(term) => Error::Mixed(term),
            Obstacle::Invalid => Error::Invalid(id),
        })
    }

    /// The literals that are true in the conflict of a lemma. None is mixed.
    fn conflict(&mut self, step: &Step) -> Result<FxHashSet<Lit>, Error> {
        for lit in &step.clause {
            self.label(lit.var())?;
        }
        Ok(step.clause.iter().map(|&lit| !lit).collect())
    }

    fn inequality(&self, lit: Lit, sign: Sign) -> Option<Inequality> {
        self.proof.inequality(self.store, lit, sign)
    }

    fn resolve(
        &mut self,
        id: StepId,
        partial: &[Term],
        first: StepId,
        others: &[(StepId, Var)],
    ) -> Result<Term, Error> {
        let store = self.store;
        let at = |step: StepId| partial.get(step.0 as usize).copied().ok_or(Error::Invalid(id));
        // Operands that are to be joined by `kind`: one junction for as many pivots as possible.
        let (mut kind, mut operands) = (Op::And, vec![at(first)?]);
        for &(other, pivot) in others {
            let next = at(other)?;
            let wanted = match self.label(pivot)? {
                Label::A => Op::Or,
                Label::B => Op::And,
                Label::AB => {
                    let current = junction(store, kind, std::mem::take(&mut operands));
                    let clause = &self.proof.steps()[other.0 as usize].clause;
                    let (with, without) =
                        if clause.contains(&pivot.positive()) { (next, current) } else { (current, next) };
                    let pivot = self.proof.formula(pivot);
                    kind = Op::And;
                    operands = vec![
                        junction(store, Op::Or, vec![pivot, with]),
                        junction(store, Op::Or, vec![store.not(pivot), without]),
                    ];
                    continue;
                }
            };
            if kind != wanted {
                operands = vec![junction(store, kind, operands)];
                kind = wanted;
            }
            operands.push(next);
        }
        Ok(junction(store, kind, operands))
    }
}

/// The conjunction or disjunction, as written, without constants and repetitions (S2).
fn junction(store: &TermStore, kind: Op, mut operands: Vec<Term>) -> Term {
    let (neutral, absorbing) =
        if kind == Op::And { (Term::TRUE, Term::FALSE) } else { (Term::FALSE, Term::TRUE) };
    operands.sort_unstable();
    operands.dedup();
    operands.retain(|&operand| operand != neutral);
    match operands[..] {
        [] => neutral,
        [operand] => operand,
        _ if operands.contains(&absorbing) => absorbing,
        _ => store.app(kind, &operands).expect("formulas are joined"),
    }
}
