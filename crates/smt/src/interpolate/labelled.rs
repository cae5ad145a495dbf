//! The labelled interpolation system: one pass over a refutation gives the interpolants of one or many cuts.
//!
//! Every variable has a *label*, the side that its occurrences count for: `a` if only clauses of A have it, `b` if only
//! clauses of B have it. The *labelling* chooses the label of shared variables. A variable that occurs only in theory
//! lemmas is shared if both sides can express its formula; otherwise it belongs to the side that can. Every clause `C`
//! of the proof gets a partial interpolant `I`, over shared symbols, with
//!
//! ```text
//! P1: A and not (literals of C with label a or ab)  implies  I
//! P2: B and not (literals of C with label b or ab)  implies  not I
//! ```
//!
//! so that the partial interpolant of the empty clause is an interpolant:
//!
//! ```text
//! clause of A                  the disjunction of its literals with label b
//! clause of B                  the conjunction of the negations of its literals with label a
//! resolution on p              label a: I1 or I2     label b: I1 and I2
//!                              label ab: (p or I1) and (not p or I2), where I1 belongs to the clause with p
//! theory lemma                 an interpolant of its conflict, where literals with label a are A's
//! ```
//!
//! A valid clause (a definition of a gate or fresh symbol, or a split) may belong to any side that can express all its
//! literals. It is A's if it was made only for formulas of A. If this is unknown, it is B's if B can express it.
//!
//! In a lemma, a literal with label `ab` could belong to either side. It is B's: if it were A's, two subtrees that
//! share it would both count it in their sums, and the two sums would not imply the sum of the whole.
//!
//! | labelling | shared variables | interpolants |
//! |---|---|---|
//! | McMillan | `b` | strongest |
//! | Pudlák | `ab` | between |
//! | dual McMillan | `a` | weakest |
//!
//! Invariants:
//! - S1: when parts move from B to A, labels move from `b` over `ab` to `a` and clauses from B to A. So interpolants of
//!   growing cuts are a sequence. With labels `b` and `ab` for shared variables, those of subtrees are tree
//!   interpolants.
//! - S2: partial interpolants are terms as written, with constants and repetitions removed. Normal forms would list the
//!   beginnings of long chains again and again.
//! - S3: if from one cut to the next no label of a chain and no partial interpolant of its premises changes, its own
//!   does not change either. So the pass over a cut updates the results of the previous one. Before the first cut A is
//!   empty, all labels are `b` and all partial interpolants are `true`.
//!
//! V. D'Silva, D. Kroening, M. Purandare, G. Weissenbacher, "Interpolant strength" (VMCAI 2010); theory lemmas as in
//! K. L. McMillan, "An interpolating theorem prover" (TCS 2005).

use rustc_hash::FxHashMap;
use shofar_logic::{Op, Term, TermStore};
use shofar_run::Limits;

use super::colour::{Colours, Speakers};
use super::cuts::{CutSet, Cuts};
use super::lemmas::{Lemma, is_of_a_side};
use super::{Arithmetic, Defect, Equality};
use crate::proof::{Part, Proof, Rule, Step, StepId};
use crate::sat::{Lit, Var};

/// The label of shared variables.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Labelling {
    /// Label `b`: the strongest interpolants.
    #[default]
    McMillan,
    /// Label `ab`.
    Pudlak,
    /// Label `a`: the weakest interpolants.
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
pub(super) struct Pass<'l, 'p> {
    pub(super) store: &'p TermStore,
    pub(super) proof: &'p Proof,
    pub(super) labelling: Labelling,
    pub(super) arithmetic: &'p Arithmetic,
    pub(super) equality: Equality,
    pub(super) cuts: &'p Cuts,
    pub(super) colours: &'l mut Colours<'p>,
    /// The steps that the empty clause depends on.
    pub(super) is_needed: &'p [bool],
    /// The parts that definitions and splits were made for, by step.
    pub(super) made_for: &'p [Box<[Part]>],
    /// Limits of queries that a lemma may need.
    pub(super) limits: &'l Limits<'l>,
}

/// The variables of a proof, numbered from zero, and their labels.
pub(super) struct Labels {
    numbers: FxHashMap<Var, u32>,
    /// By variable number: the cuts at which the label is `a`, and those at which it is `b`.
    of_a: Vec<CutSet>,
    of_b: Vec<CutSet>,
    /// For each step, where its variable numbers start: those of the pivots of a chain, or of the variables of any
    /// other clause. Steps that are not needed have none.
    starts: Vec<u32>,
    of_steps: Vec<u32>,
}

impl Labels {
    /// The cuts at which a variable has the label `a`.
    pub(super) fn of_a(&self, var: Var) -> Option<&CutSet> {
        self.numbers.get(&var).map(|&number| &self.of_a[number as usize])
    }

    fn at(&self, cut: usize, number: usize) -> Label {
        match (self.of_a[number].contains(cut), self.of_b[number].contains(cut)) {
            (true, _) => Label::A,
            (_, true) => Label::B,
            _ => Label::AB,
        }
    }

    fn of_step(&self, at: usize) -> &[u32] {
        &self.of_steps[self.starts[at] as usize..self.starts[at + 1] as usize]
    }
}

impl<'p> Pass<'_, 'p> {
    /// The interpolants at all cuts. They may mention fresh symbols.
    pub(super) fn run(&mut self) -> Result<Vec<Term>, Defect> {
        let steps = self.proof.steps();
        let needed: Vec<usize> = (0..steps.len()).filter(|&at| self.is_needed[at]).collect();
        let sides = self.sides_of_leaves(&needed)?;
        let labels = self.label(&needed, &sides)?;
        let lemmas = self.lemmas(&needed, &labels)?;

        let mut state = State {
            labels: vec![Label::B; labels.of_a.len()],
            is_relabelled: vec![false; labels.of_a.len()],
            partial: vec![Term::TRUE; steps.len()],
            is_changed: vec![false; steps.len()],
        };
        let mut interpolants = Vec::with_capacity(self.cuts.len());
        for cut in 0..self.cuts.len() {
            state.relabel(cut, &labels);
            for &at in &needed {
                let (step, numbers) = (&steps[at], labels.of_step(at));
                let partial = match (&step.rule, &sides[at]) {
                    (Rule::Resolution { first, others }, _) if state.is_stale(*first, others, numbers) => {
                        self.resolve(&state, *first, others, numbers)
                    }
                    (_, Some(in_a)) => {
                        let was_in_a = cut > 0 && in_a.contains(cut - 1);
                        let in_a = in_a.contains(cut);
                        let is_stale = in_a != was_in_a || state.has_relabelled(numbers);
                        if is_stale { self.leaf(&state, step, in_a, numbers) } else { state.partial[at] }
                    }
                    _ => lemmas.get(&at).map_or(state.partial[at], |found| found[cut]),
                };
                state.is_changed[at] = partial != state.partial[at];
                state.partial[at] = partial;
            }
            interpolants.push(state.partial[steps.len() - 1]);
        }
        Ok(interpolants)
    }

    /// For clauses that belong to a side, by step: the cuts at which they are A's.
    fn sides_of_leaves(&mut self, needed: &[usize]) -> Result<Vec<Option<CutSet>>, Defect> {
        let mut sides = vec![None; self.proof.steps().len()];
        for &at in needed {
            let step = &self.proof.steps()[at];
            sides[at] = match step.rule {
                Rule::Assertion(part) | Rule::Assumption(part) => Some(self.cuts.of_part(part).clone()),
                Rule::Definition => Some(self.side_of_valid(at, step)?),
                Rule::Lemma(ref justification) if is_of_a_side(justification) => {
                    Some(self.side_of_valid(at, step)?)
                }
                Rule::Lemma(_) | Rule::Resolution { .. } => None,
            };
        }
        Ok(sides)
    }

    /// The cuts at which a valid clause is A's.
    fn side_of_valid(&mut self, at: usize, step: &Step) -> Result<CutSet, Defect> {
        let mut fits = Speakers { a: self.cuts.all(), b: self.cuts.all() };
        for lit in &step.clause {
            fits.meet(self.colours.of(self.proof.formula(lit.var())));
        }
        let Speakers { mut a, b } = fits;
        if !self.cuts.all().without(&a).without(&b).is_empty() {
            let clause: Vec<Term> = step.clause.iter().map(|&lit| self.literal(lit)).collect();
            return Err(Defect::Mixed(self.store.or(&clause)));
        }
        let made_for = &self.made_for[at];
        let mut is_for_a = if made_for.is_empty() { self.cuts.none() } else { self.cuts.all() };
        made_for.iter().for_each(|&part| is_for_a.intersect_with(self.cuts.of_part(part)));
        is_for_a.unite_with(&self.cuts.all().without(&b));
        a.intersect_with(&is_for_a);
        Ok(a)
    }

    /// The labels of all variables.
    fn label(&mut self, needed: &[usize], sides: &[Option<CutSet>]) -> Result<Labels, Defect> {
        let (mut numbers, mut vars) = (FxHashMap::default(), Vec::new());
        let mut number = |var: Var| {
            *numbers.entry(var).or_insert_with(|| {
                vars.push(var);
                vars.len() as u32 - 1
            })
        };
        let (mut starts, mut of_steps) = (Vec::with_capacity(sides.len() + 1), Vec::new());
        for &at in needed {
            starts.resize(at + 1, of_steps.len() as u32);
            let step = &self.proof.steps()[at];
            match &step.rule {
                Rule::Resolution { others, .. } => {
                    of_steps.extend(others.iter().map(|&(_, var)| number(var)))
                }
                _ => of_steps.extend(step.clause.iter().map(|lit| number(lit.var()))),
            }
        }
        starts.resize(sides.len() + 1, of_steps.len() as u32);

        // The sides whose clauses contain each variable.
        let mut occurs: Vec<Option<Speakers>> = vec![None; vars.len()];
        for &at in needed {
            let Some(in_a) = &sides[at] else { continue };
            for &number in &of_steps[starts[at] as usize..starts[at + 1] as usize] {
                let none = || Speakers { a: self.cuts.none(), b: self.cuts.none() };
                let occurs = occurs[number as usize].get_or_insert_with(none);
                occurs.a.unite_with(in_a);
                occurs.b.unite_with(&self.cuts.all().without(in_a));
            }
        }
        let (mut of_a, mut of_b) = (Vec::with_capacity(vars.len()), Vec::with_capacity(vars.len()));
        for (var, occurs) in std::iter::zip(vars, occurs) {
            let formula = self.proof.formula(var);
            let Speakers { a, b } = occurs.unwrap_or_else(|| self.colours.of(formula).clone());
            if !self.cuts.all().without(&a).without(&b).is_empty() {
                return Err(Defect::Mixed(formula));
            }
            let (only_a, only_b) = (a.clone().without(&b), b.clone().without(&a));
            let (a, b) = match self.labelling {
                Labelling::McMillan => (only_a, b),
                Labelling::Pudlak => (only_a, only_b),
                Labelling::DualMcMillan => (a, only_b),
            };
            of_a.push(a);
            of_b.push(b);
        }
        Ok(Labels { numbers, of_a, of_b, starts, of_steps })
    }

    /// The interpolants of theory lemmas, by step and cut.
    fn lemmas(&mut self, needed: &[usize], labels: &Labels) -> Result<FxHashMap<usize, Vec<Term>>, Defect> {
        let mut found = FxHashMap::default();
        for &at in needed {
            let step = &self.proof.steps()[at];
            let Rule::Lemma(justification) = &step.rule else { continue };
            let step = (StepId(at as u32), step);
            let mut lemma =
                Lemma::new(self.store, self.proof, self.cuts, labels, self.colours, self.limits, step);
            if let Some(interpolants) =
                lemma.leaf_interpolants(justification, self.arithmetic, self.equality)?
            {
                found.insert(at, interpolants);
            }
        }
        Ok(found)
    }

    fn literal(&self, lit: Lit) -> Term {
        let formula = self.proof.formula(lit.var());
        if lit.is_positive() { formula } else { self.store.not(formula) }
    }

    /// The partial interpolant of a clause of one side.
    fn leaf(&self, state: &State, step: &Step, in_a: bool, numbers: &[u32]) -> Term {
        let wanted = if in_a { Label::B } else { Label::A };
        let lits = std::iter::zip(&step.clause, numbers);
        let lits = lits.filter(|&(_, &number)| state.labels[number as usize] == wanted);
        let parts = lits.map(|(&lit, _)| self.literal(if in_a { lit } else { !lit }));
        junction(self.store, if in_a { Op::Or } else { Op::And }, parts.collect())
    }

    fn resolve(&self, state: &State, first: StepId, others: &[(StepId, Var)], pivots: &[u32]) -> Term {
        let store = self.store;
        // The operands to be joined by `kind`: one junction for as many pivots as possible.
        let (mut kind, mut operands) = (Op::And, vec![state.of(first)]);
        for (&(other, pivot), &number) in std::iter::zip(others, pivots) {
            let next = state.of(other);
            let wanted = match state.labels[number as usize] {
                Label::A => Op::Or,
                Label::B => Op::And,
                Label::AB => {
                    let current = junction(store, kind, std::mem::take(&mut operands));
                    let clause = &self.proof.step(other).clause;
                    let (with, without) =
                        if clause.contains(&pivot.positive()) { (next, current) } else { (current, next) };
                    let pivot = self.proof.formula(pivot);
                    kind = Op::And;
                    operands = if next == current {
                        vec![current]
                    } else {
                        vec![
                            junction(store, Op::Or, vec![pivot, with]),
                            junction(store, Op::Or, vec![store.not(pivot), without]),
                        ]
                    };
                    continue;
                }
            };
            if kind != wanted {
                operands = vec![junction(store, kind, operands)];
                kind = wanted;
            }
            operands.push(next);
        }
        junction(store, kind, operands)
    }
}

/// The results of the pass over one cut, updated for the next (S3).
struct State {
    /// By variable number: the label, and whether it changed since the previous cut.
    labels: Vec<Label>,
    is_relabelled: Vec<bool>,
    /// By step: the partial interpolant, and whether it changed since the previous cut.
    partial: Vec<Term>,
    is_changed: Vec<bool>,
}

impl State {
    fn relabel(&mut self, cut: usize, labels: &Labels) {
        let before = std::iter::zip(&mut self.labels, &mut self.is_relabelled);
        for (number, (label, is_relabelled)) in before.enumerate() {
            let now = labels.at(cut, number);
            *is_relabelled = *label != now;
            *label = now;
        }
    }

    fn has_relabelled(&self, numbers: &[u32]) -> bool {
        numbers.iter().any(|&number| self.is_relabelled[number as usize])
    }

    fn of(&self, StepId(step): StepId) -> Term {
        self.partial[step as usize]
    }

    /// Whether the partial interpolant of a chain may have changed since the previous cut.
    fn is_stale(&self, StepId(first): StepId, others: &[(StepId, Var)], pivots: &[u32]) -> bool {
        self.is_changed[first as usize]
            || others.iter().any(|&(StepId(other), _)| self.is_changed[other as usize])
            || self.has_relabelled(pivots)
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
