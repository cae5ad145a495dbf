//! The proof checker: replays every step of a proof and trusts only terms.
//!
//! ```text
//! resolution      resolves the chain again; the result is exactly the clause
//! Farkas          the sum of inequalities, read off the atoms, is computed again
//! congruence      a union-find structure over terms replays the edges
//! cycle           likewise; then each term of the cycle has an argument in the class of the next
//! integers        the form is computed again, its coefficients are integers, and no integer is in its interval
//! split           the conflict leaves no number on the line
//! definition      a clause of a gate by three-valued evaluation of the gate; that of a fresh symbol is true of its origin
//! symbols         assertions entail what symbols are defined to be (`definitions.rs`)
//! image           each assertion and assumption entails its image
//! axiom           the rule of the theory recognises the clause
//! assertion       a clause of the image of an assertion of this part
//! assumption      the image of an assumption of this part
//! ```
//!
//! **Why an accepted proof is right.** Take an interpretation in which all assertions and assumptions are true. They
//! entail each equation of a defined symbol, so it is true as well. No assertion mentions a fresh symbol, so the fresh
//! symbols can get the values of their origins, one after the other, and all this stays true. Then images and
//! definitions of fresh symbols are true, lemmas always are, and so is everything that follows by resolution; but the
//! last clause is empty.
//!
//! The comparison in `meaning/` shows entailment and truth of origins. It neither calls the builders of normal terms
//! nor samples. If it cannot show a fact, the checker reports a fault. The checker shares with the solver the term
//! store, exact numbers, the arithmetic of polynomials, and [`Proof::inequality`].

use std::fmt;

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::number::Rational;
use shofar_logic::{Fun, LinearPoly, Op, Sort, Term, TermStore};
use shofar_run::{Limits, Poll, Reason};

use super::definitions;
use super::meaning::{Meanings, Truth};
use super::{
    Assertion, CongruenceEdge, CongruenceProof, CycleProof, EdgeRule, FarkasTerm, IntegerRefutation,
    Justification, Part, Proof, Rule, Sign, StepId, without_cast, without_casts,
};
use crate::sat::{Lit, Var};
use crate::theory::claims::is_application;

/// A step that is wrong or could not be verified.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The step, or `None` if the fault is not in a single step.
    pub step: Option<StepId>,
    /// The error message.
    pub message: String,
    /// Whether the step may hold nevertheless: the comparison of meanings is incomplete.
    pub may_hold: bool,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.step {
            Some(StepId(number)) => write!(f, "step {number}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for Fault {}

type Checked = Result<(), String>;

/// Checks a proof. The caller must compare [`Proof::assertions`] and [`Proof::assumptions`] with the intended ones.
///
/// # Errors
///
/// The first fault.
pub fn check(store: &TermStore, proof: &Proof) -> Result<(), Fault> {
    check_within(store, proof, &Limits::default()).expect("without limits nothing interrupts")
}

/// As [`check`], within limits. Ignores the limits of single queries.
///
/// # Errors
///
/// The reason for the interruption.
pub fn check_within(
    store: &TermStore,
    proof: &Proof,
    limits: &Limits<'_>,
) -> Result<Result<(), Fault>, Reason> {
    let mut checker = Checker {
        store,
        proof,
        meanings: Meanings::within(store, limits),
        clauses: FxHashSet::default(),
        assumed: FxHashSet::default(),
    };
    let checked = checker.check(&Poll::new(limits));
    // An interrupted comparison reports that it could not show a fact.
    checker.meanings.interruption().map_or(checked, Err)
}

/// Whether a formula is false in all interpretations, by the rules of the checker alone, without search.
pub fn is_false(store: &TermStore, formula: Term) -> bool {
    formula == Term::FALSE || Meanings::new(store).truth(formula) == Ok(Truth::FALSE)
}

/// Whether a formula entails another, by the rules of the checker alone. Returns `false` if this cannot be shown.
pub fn entails(store: &TermStore, premise: Term, conclusion: Term) -> bool {
    let mut meanings = Meanings::new(store);
    let Ok(premise) = meanings.truth(premise) else { return false };
    meanings.settle();
    meanings.truth(conclusion).is_ok_and(|conclusion| meanings.entails(premise, conclusion))
}

/// A clause over terms: atoms, each with whether it is affirmed, ascending.
pub(super) type TermClause = Vec<(Term, bool)>;

struct Checker<'s> {
    store: &'s TermStore,
    proof: &'s Proof,
    meanings: Meanings<'s>,
    /// The clauses of assertions, and the assumed literals.
    clauses: FxHashSet<(Part, TermClause)>,
    assumed: FxHashSet<(Part, (Term, bool))>,
}

fn fault<T>(message: impl Into<String>) -> Result<T, String> {
    Err(message.into())
}

impl Checker<'_> {
    fn check(&mut self, poll: &Poll<'_>) -> Result<Result<(), Fault>, Reason> {
        let proof = self.proof;
        let read = self
            .functions_are_new()
            .and_then(|()| definitions::check(self.store, proof, &mut self.meanings))
            .and_then(|()| self.read_assertions());
        if let Err(message) = read {
            return Ok(Err(self.fault_at(None, message)));
        }
        for (number, step) in proof.steps.iter().enumerate() {
            poll.interruption().map_or(Ok(()), Err)?;
            if let Err(message) = self.step(number, &step.clause, &step.rule) {
                return Ok(Err(self.fault_at(Some(StepId(number as u32)), message)));
            }
        }
        Ok(match proof.steps.last() {
            Some(step) if step.clause.is_empty() => Ok(()),
            _ => Err(self.fault_at(None, "the last clause is not empty".to_owned())),
        })
    }

    /// The fault at a step. It may hold nevertheless if the comparison missed a fact.
    fn fault_at(&self, step: Option<StepId>, message: String) -> Fault {
        Fault { step, message, may_hold: self.meanings.has_missed() }
    }

    /// Checks that no formula mentions a function that axioms introduce, and that each of them has one meaning.
    fn functions_are_new(&self) -> Checked {
        let mut introduced: FxHashMap<Fun, &str> = FxHashMap::default();
        for step in &self.proof.steps {
            let Rule::Lemma(Justification::Axiom(axiom)) = &step.rule else { continue };
            let Some(meaning) = axiom.rule.introduces else { continue };
            let Some(Op::Apply(fun)) = axiom.terms.last().map(|&last| self.store.op(last)) else {
                return fault("an axiom introduces no function");
            };
            if *introduced.entry(fun).or_insert(meaning) != meaning {
                return fault("axioms give a function two meanings");
            }
        }
        if introduced.is_empty() {
            return Ok(());
        }
        let asserted = self.proof.assertions.iter().chain(&self.proof.assumptions);
        let formulas: Vec<Term> = asserted.map(|assertion| assertion.formula).collect();
        match self.store.symbols(&formulas).funs.iter().any(|fun| introduced.contains_key(fun)) {
            true => fault("a formula mentions a function that an axiom introduces"),
            false => Ok(()),
        }
    }

    fn read_assertions(&mut self) -> Checked {
        let proof = self.proof;
        let asserted = || proof.assertions.iter().chain(&proof.assumptions);
        self.are_images(asserted())?;
        for &Assertion { part, image, .. } in asserted() {
            for clause in top_level_clauses(self.store, image) {
                self.clauses.insert((part, clause));
            }
        }
        let literal =
            |assumption: &Assertion| (assumption.part, without_sign(self.store, assumption.image, true));
        self.assumed.extend(proof.assumptions.iter().map(literal));
        Ok(())
    }

    /// Checks that each formula entails its image, with definitions in place of defined symbols and origins in place of
    /// fresh ones. No formula may mention a fresh symbol: otherwise the symbol could not take the value of its origin.
    fn are_images<'p>(&mut self, asserted: impl Iterator<Item = &'p Assertion>) -> Checked {
        let mut changed: Vec<(Truth, Term)> = Vec::new();
        for &Assertion { formula, image, .. } in asserted {
            if formula != image || !self.proof.origins.is_empty() {
                changed.push((self.meanings.truth(formula)?, image));
            }
        }
        self.meanings.settle();
        for &(symbol, origin) in &self.proof.origins {
            self.meanings.define(symbol, origin)?;
        }
        for (formula, image) in changed {
            let image = self.meanings.truth(image)?;
            if !self.meanings.shows(formula, image) {
                return fault("a formula is not shown to entail its image");
            }
        }
        Ok(())
    }

    fn step(&mut self, number: usize, clause: &[Lit], rule: &Rule) -> Checked {
        if !clause.is_sorted_by(|a, b| a < b) {
            return fault("a literal occurs twice");
        }
        if let Some(lit) = clause.iter().find(|lit| !self.proof.formulas.contains_key(&lit.var())) {
            return fault(format!("{lit:?} has no formula"));
        }
        match rule {
            Rule::Assertion(part) => {
                if self.clauses.contains(&(*part, self.term_clause(clause))) {
                    return Ok(());
                }
                fault(format!("{part:?} asserts no such clause"))
            }
            Rule::Assumption(part) => match clause {
                &[lit] if self.assumed.contains(&(*part, self.proof.atom(self.store, lit))) => Ok(()),
                _ => fault(format!("{part:?} assumes no such literal")),
            },
            Rule::Definition if self.is_gate_clause(clause) => Ok(()),
            Rule::Definition => self.is_definition(clause),
            Rule::Lemma(justification) => {
                let conflict: FxHashSet<Lit> = clause.iter().map(|&lit| !lit).collect();
                match justification {
                    Justification::Farkas(terms) => self.farkas(&conflict, terms),
                    Justification::Congruence(proof) => self.congruence(&conflict, proof),
                    Justification::Cycle(proof) => self.cycle(&conflict, proof),
                    Justification::Integer(refutation) => self.integer(&conflict, refutation),
                    Justification::Split => self.split(clause),
                    Justification::Axiom(axiom) => {
                        (axiom.rule.check)(self.store, &self.term_clause(clause), &axiom.terms)
                    }
                }
            }
            Rule::Resolution { first, others } => self.resolution(number, clause, *first, others),
        }
    }

    fn term_clause(&self, clause: &[Lit]) -> TermClause {
        let mut terms: TermClause = clause.iter().map(|&lit| self.proof.atom(self.store, lit)).collect();
        terms.sort_unstable();
        terms
    }

    fn resolution(&self, number: usize, clause: &[Lit], first: StepId, others: &[(StepId, Var)]) -> Checked {
        let premise = |step: u32| self.proof.steps[..number].get(step as usize).map(|step| &*step.clause);
        let others = others.iter().map(|&(StepId(step), pivot)| (step, pivot));
        let expected: FxHashSet<Lit> = clause.iter().copied().collect();
        if resolve(premise, first.0, others)? == expected {
            Ok(())
        } else {
            fault("resolution gives another clause")
        }
    }

    // ---- arithmetic --------------------------------------------------------------------------------------------

    fn farkas(&self, conflict: &FxHashSet<Lit>, terms: &[FarkasTerm]) -> Checked {
        let mut sum = LinearPoly::default();
        let mut is_strict = false;
        for FarkasTerm { lit, side, coefficient } in terms {
            if !conflict.contains(lit) {
                return fault(format!("{lit:?} is not in the conflict"));
            }
            if !coefficient.is_positive() {
                return fault(format!("the coefficient of {lit:?} is not positive"));
            }
            let inequality = self.proof.inequality(self.store, *lit, *side);
            let Some(inequality) = inequality else { return fault(format!("{lit:?} is no such inequality")) };
            sum.add_scaled(&inequality.form, coefficient);
            is_strict |= inequality.is_strict;
        }
        let constant = sum.constant();
        if sum.is_constant() && (constant.is_negative() || constant.is_zero() && is_strict) {
            return Ok(());
        }
        fault("the sum is no contradiction")
    }

    fn integer(&self, conflict: &FxHashSet<Lit>, refutation: &IntegerRefutation) -> Checked {
        let store = self.store;
        let mut form = LinearPoly::default();
        let [mut least, mut greatest] = [Rational::ZERO, Rational::ZERO];
        for term in &refutation.terms {
            form.add_scaled(&term.form, &term.multiplier);
            let lower = self.bound(conflict, term.lower, &term.form, &Rational::ONE)?;
            let upper = -self.bound(conflict, term.upper, &term.form, &-Rational::ONE)?;
            let (low, high) = if term.multiplier.is_negative() { (upper, lower) } else { (lower, upper) };
            least.add_mul(&term.multiplier, &low);
            greatest.add_mul(&term.multiplier, &high);
        }
        let is_integer =
            |(term, factor): &(Term, Rational)| factor.is_integer() && store.sort_of(*term) == Sort::INT;
        if !form.terms().iter().all(is_integer) {
            return fault("the form need not be an integer");
        }
        if least.ceil() <= greatest.floor() {
            return fault(format!("{} is left", least.ceil()));
        }
        Ok(())
    }

    /// The number `l` for which the literal says that `sign * form >= l`.
    fn bound(
        &self,
        conflict: &FxHashSet<Lit>,
        lit: Lit,
        form: &LinearPoly,
        sign: &Rational,
    ) -> Result<Rational, String> {
        if !conflict.contains(&lit) {
            return fault(format!("{lit:?} is not in the conflict"));
        }
        let mut wanted = form.clone();
        wanted.scale(sign);
        for side in [Sign::Positive, Sign::Negative] {
            let Some(inequality) = self.proof.inequality(self.store, lit, side) else { continue };
            let is_same = inequality.form.terms() == wanted.terms();
            if is_same && !inequality.is_strict {
                return Ok(-inequality.form.constant());
            }
        }
        fault(format!("{lit:?} is no such bound"))
    }

    /// Whether no number satisfies the negations of all literals, which compare one form with numbers.
    fn split(&self, clause: &[Lit]) -> Checked {
        let store = self.store;
        let mut form: Option<LinearPoly> = None;
        let mut is_int = true;
        let [mut least, mut greatest]: [Option<(Rational, bool)>; 2] = [None, None];
        let mut excluded: Vec<Rational> = Vec::new();
        for &lit in clause {
            let (atom, holds) = self.proof.atom(store, !lit);
            let (op @ (Op::Le | Op::Lt | Op::Eq), &[left, right]) = store.view(atom) else {
                return fault(format!("{lit:?} is no comparison"));
            };
            if !store.sort_of(left).is_arithmetic() {
                return fault(format!("{lit:?} is no comparison of numbers"));
            }
            let mut poly = without_casts(store, left);
            poly.add_scaled(&without_casts(store, right), &-Rational::ONE);
            let (poly, factor) = poly.primitive();
            let value = -poly.constant();
            let poly = poly.without_constant();
            is_int &= poly.terms().iter().all(|(term, _)| store.sort_of(*term) == Sort::INT);
            if *form.get_or_insert_with(|| poly.clone()) != poly {
                return fault("the literals compare different forms");
            }
            // Whether the value bounds the form from above, and from below, and whether the form may equal it.
            let (at_most, at_least, may_equal) = match (op, holds) {
                (Op::Eq, true) => (true, true, true),
                (Op::Eq, false) => {
                    excluded.push(value);
                    continue;
                }
                (op, holds) => {
                    let is_upper = holds == factor.is_positive();
                    (is_upper, !is_upper, holds == (op == Op::Le))
                }
            };
            let is_tighter = |old: &Option<(Rational, bool)>, sign: i32| {
                old.as_ref().is_none_or(|(old, old_may_equal)| match value.cmp(old) as i32 * sign {
                    0 => *old_may_equal && !may_equal,
                    order => order > 0,
                })
            };
            if at_least && is_tighter(&least, 1) {
                least = Some((value.clone(), may_equal));
            }
            if at_most && is_tighter(&greatest, -1) {
                greatest = Some((value.clone(), may_equal));
            }
        }
        let (Some((mut low, mut from_low)), Some((mut high, mut to_high))) = (least, greatest) else {
            return fault("the line is open at one end");
        };
        if is_int {
            let above = |value: &Rational| Rational::from(value.floor()) + Rational::ONE;
            let below = |value: &Rational| Rational::from(value.ceil()) - Rational::ONE;
            low = if from_low { Rational::from(low.ceil()) } else { above(&low) };
            high = if to_high { Rational::from(high.floor()) } else { below(&high) };
            (from_low, to_high) = (true, true);
        }
        let is_empty = low > high || low == high && (!(from_low && to_high) || excluded.contains(&low));
        if is_empty { Ok(()) } else { fault("a number is left") }
    }

    // ---- congruence --------------------------------------------------------------------------------------------

    fn congruence(&self, conflict: &FxHashSet<Lit>, proof: &CongruenceProof) -> Checked {
        let store = self.store;
        let mut classes = self.connected(conflict, &proof.edges)?;
        let (left, right) = (self.canonical(proof.apart.0), self.canonical(proof.apart.1));
        if classes.find(left) != classes.find(right) {
            return fault("the edges do not connect what differs");
        }
        let is_value = |term: Term| store.numeral(term).is_some() || matches!(term, Term::TRUE | Term::FALSE);
        let constructor = |term: Term| Some(store.op(term)).filter(|op| matches!(op, Op::Construct(_)));
        let are_different_values = || {
            left != right && is_value(left) && is_value(right)
                || constructor(left).zip(constructor(right)).is_some_and(|(left, right)| left != right)
        };
        match proof.distinct {
            Some(lit) if conflict.contains(&lit) && self.says_equal(lit, left, right, false) => Ok(()),
            None if are_different_values() => Ok(()),
            _ => fault("the terms do not differ"),
        }
    }

    /// Checks that each term of the cycle is equal to an argument of the one before.
    fn cycle(&self, conflict: &FxHashSet<Lit>, CycleProof { edges, cycle }: &CycleProof) -> Checked {
        let store = self.store;
        let mut classes = self.connected(conflict, edges)?;
        if cycle.is_empty() {
            return fault("the cycle is empty");
        }
        for (&made, &next) in std::iter::zip(cycle, cycle.iter().cycle().skip(1)) {
            let is_made = matches!(store.op(made), Op::Construct(_));
            let mut is_next = |arg: Term| classes.find(self.canonical(arg)) == classes.find(next);
            if !is_made || !store.args(made).iter().any(|&arg| is_next(arg)) {
                return fault("a term of the cycle does not have the next one as an argument");
            }
        }
        Ok(())
    }

    /// The classes of terms that edges connect, after a check of each edge.
    fn connected(&self, conflict: &FxHashSet<Lit>, edges: &[CongruenceEdge]) -> Result<Classes, String> {
        let store = self.store;
        let mut classes = Classes::default();
        for edge in edges {
            let [left, right] = [edge.left, edge.right].map(|term| self.canonical(term));
            let mut equal =
                |a: Term, b: Term| classes.find(self.canonical(a)) == classes.find(self.canonical(b));
            let is_edge = |a: Term, b: Term| {
                let (a, b) = (self.canonical(a), self.canonical(b));
                (a, b) == (left, right) || (b, a) == (left, right)
            };
            match edge.why {
                EdgeRule::Literal(lit) => {
                    if !conflict.contains(&lit) || !self.says_equal(lit, left, right, true) {
                        return fault(format!("{lit:?} of the conflict does not say that"));
                    }
                }
                EdgeRule::Congruence => {
                    let ((left_op, left_args), (right_op, right_args)) =
                        (store.view(left), store.view(right));
                    let is_application = is_application(store, left) && left_op == right_op;
                    let mut args = std::iter::zip(left_args, right_args);
                    if !is_application || !args.all(|(&a, &b)| equal(a, b)) {
                        return fault("two terms are not congruent");
                    }
                }
                EdgeRule::Injection(first, second) => {
                    let is_made =
                        matches!(store.op(first), Op::Construct(_)) && store.op(first) == store.op(second);
                    let mut args = std::iter::zip(store.args(first), store.args(second));
                    if !is_made || !equal(first, second) || !args.any(|(&a, &b)| is_edge(a, b)) {
                        return fault("two terms are not arguments of equal terms");
                    }
                }
                EdgeRule::Reduction { operator, made } => {
                    let reduced = reduced(store, operator, made);
                    let is_argument = store.args(operator).iter().all(|&arg| equal(arg, made));
                    if !is_argument || !reduced.is_some_and(|reduced| is_edge(operator, reduced)) {
                        return fault("a selector or tester does not have this value");
                    }
                }
            }
            classes.union(left, right);
        }
        Ok(classes)
    }

    /// The term without a cast, and one term for all numerals of the same value.
    fn canonical(&self, term: Term) -> Term {
        let term = without_cast(self.store, term);
        self.store.numeral(term).map_or(term, |value| self.store.real(value.clone()))
    }

    /// Whether the literal says that the terms are equal (`expected`) or different.
    fn says_equal(&self, lit: Lit, left: Term, right: Term, expected: bool) -> bool {
        let store = self.store;
        let (atom, holds) = self.proof.atom(store, lit);
        let is_pair = |a: Term, b: Term| (a, b) == (left, right) || (b, a) == (left, right);
        if is_pair(atom, store.bool(holds)) {
            return expected;
        }
        let (Op::Eq, &[a, b]) = store.view(atom) else { return false };
        if holds != expected {
            return false;
        }
        if !store.sort_of(a).is_arithmetic() {
            return is_pair(a, b);
        }
        if !store.sort_of(left).is_arithmetic() || !store.sort_of(right).is_arithmetic() {
            return false;
        }
        let difference = |a: Term, b: Term| {
            let mut poly = without_casts(store, a);
            poly.add_scaled(&without_casts(store, b), &-Rational::ONE);
            poly.primitive().0
        };
        difference(a, b) == difference(left, right)
    }

    // ---- definitions -------------------------------------------------------------------------------------------

    /// Whether the clause follows from the formula of one of its gates: if all other literals are false, the gate has
    /// the value that makes its literal true.
    fn is_gate_clause(&self, clause: &[Lit]) -> bool {
        let store = self.store;
        let literals: Vec<(Term, bool)> = clause.iter().map(|&lit| self.proof.atom(store, lit)).collect();
        let falsified: FxHashMap<Term, bool> = literals.iter().map(|&(atom, holds)| (atom, !holds)).collect();
        let value = |term: Term| match store.view(term) {
            (Op::Not, &[inner]) => falsified.get(&inner).map(|value| !value),
            _ => falsified.get(&term).copied(),
        };
        literals.iter().any(|&(gate, holds)| {
            let args = store.args(gate);
            let forced = match store.op(gate) {
                Op::True => Some(true),
                Op::False => Some(false),
                op @ (Op::And | Op::Or) => {
                    let absorbing = op == Op::Or;
                    if args.iter().any(|&arg| value(arg) == Some(absorbing)) {
                        Some(absorbing)
                    } else if args.iter().all(|&arg| value(arg) == Some(!absorbing)) {
                        Some(!absorbing)
                    } else {
                        None
                    }
                }
                Op::Eq if store.sort_of(args[0]) == Sort::BOOL => {
                    value(args[0]).zip(value(args[1])).map(|(a, b)| a == b)
                }
                Op::Ite => match (value(args[0]), value(args[1]), value(args[2])) {
                    (Some(true), then, _) => then,
                    (Some(false), _, otherwise) => otherwise,
                    (None, then, otherwise) => then.filter(|_| then == otherwise),
                },
                _ => None,
            };
            forced == Some(holds)
        })
    }

    /// Whether a clause is true if each fresh symbol equals its origin.
    fn is_definition(&mut self, clause: &[Lit]) -> Checked {
        let mut members: Vec<Truth> = Vec::new();
        for &lit in clause {
            let (atom, holds) = self.proof.atom(self.store, lit);
            let atom = self.meanings.truth(atom)?;
            members.push(if holds { atom } else { !atom });
        }
        let clause = self.meanings.or(&members);
        if self.meanings.shows(Truth::TRUE, clause) {
            return Ok(());
        }
        fault("a definition is not shown to be true of the origin")
    }
}

/// The value of a selector or tester, if its argument equals an application of a constructor.
fn reduced(store: &TermStore, operator: Term, made: Term) -> Option<Term> {
    let (Op::Construct(constructor), fields) = store.view(made) else { return None };
    match store.op(operator) {
        Op::Selector { constructor: selected, field } if selected == constructor => {
            fields.get(field as usize).copied()
        }
        Op::Tester(tested) => Some(store.bool(tested == constructor)),
        _ => None,
    }
}

/// Resolves a premise with others in turn, each on its pivot.
pub(super) fn resolve<'p>(
    premise: impl Fn(u32) -> Option<&'p [Lit]>,
    first: u32,
    others: impl Iterator<Item = (u32, Var)>,
) -> Result<FxHashSet<Lit>, String> {
    let premise = |step: u32| premise(step).ok_or_else(|| format!("the premise {step} does not come before"));
    let mut resolvent: FxHashSet<Lit> = premise(first)?.iter().copied().collect();
    for (other, pivot) in others {
        let other = premise(other)?;
        let lit = [pivot.positive(), pivot.negative()].into_iter().find(|lit| other.contains(lit));
        let Some(lit) = lit else { return fault(format!("a premise is without the pivot {pivot:?}")) };
        if !resolvent.remove(&!lit) {
            return fault(format!("{:?} is not there to be resolved", !lit));
        }
        resolvent.extend(other.iter().copied().filter(|&it| it != lit));
    }
    Ok(resolvent)
}

/// The atom of a literal, and whether the literal, affirmed or not, affirms it.
fn without_sign(store: &TermStore, literal: Term, holds: bool) -> (Term, bool) {
    match store.view(literal) {
        (Op::Not, &[atom]) => (atom, !holds),
        _ => (literal, holds),
    }
}

/// The clauses of a normal formula at its top level.
pub(super) fn top_level_clauses(store: &TermStore, formula: Term) -> Vec<TermClause> {
    let literal = |term: Term, holds: bool| without_sign(store, term, holds);
    let mut clauses = Vec::new();
    let mut open = vec![literal(formula, true)];
    while let Some((term, holds)) = open.pop() {
        let (op, args) = store.view(term);
        match (op, holds) {
            (Op::And, true) | (Op::Or, false) => open.extend(args.iter().map(|&arg| literal(arg, holds))),
            (Op::And, false) | (Op::Or, true) => {
                let mut clause: TermClause = args.iter().map(|&arg| literal(arg, holds)).collect();
                clause.sort_unstable();
                clause.dedup();
                clauses.push(clause);
            }
            (Op::True, true) | (Op::False, false) => {}
            (Op::True, false) | (Op::False, true) => clauses.push(Vec::new()),
            _ => clauses.push(vec![(term, holds)]),
        }
    }
    clauses
}

/// Classes of terms that are known to be equal.
#[derive(Default)]
struct Classes {
    parents: FxHashMap<Term, Term>,
}

impl Classes {
    fn find(&mut self, mut term: Term) -> Term {
        while let Some(&parent) = self.parents.get(&term) {
            if let Some(&grandparent) = self.parents.get(&parent) {
                self.parents.insert(term, grandparent);
            }
            term = parent;
        }
        term
    }

    fn union(&mut self, left: Term, right: Term) {
        let (left, right) = (self.find(left), self.find(right));
        if left != right {
            self.parents.insert(left, right);
        }
    }
}
