//! The proof checker: replays every step of a proof, and trusts nothing but terms.
//!
//! ```text
//! resolution      the chain is resolved again; the clause is just what comes out
//! Farkas          the sum of inequalities, read off the atoms, is computed again
//! congruence      a union-find structure over terms replays the edges
//! integers        the form is computed again, its coefficients are integers, and no integer is in its interval
//! split           the conflict leaves no number on the line
//! definition      a clause of a gate by three-valued evaluation of the gate, that of a fresh symbol by its form
//! symbols         the replacing of symbols that assertions define is replayed (`definitions.rs`)
//! assertion       a clause that the image of an assertion of this part falls apart into
//! assumption      the image of an assumption of this part
//! ```
//!
//! It shares with the solver the term store, the builders of normal terms, the arithmetic of polynomials, and
//! [`Proof::inequality`]. Two things are *tested* and not verified, by evaluation under a number of assignments in which
//! each fresh symbol has the value of its origin and each defined symbol that of its definition: that the image of a formula means the same as the formula, as
//! normalising and purifying are beyond what a proof tells; and that the definition of a fresh symbol is true where
//! it stands for a number with cases and so does not have the usual form.

use std::fmt;

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::number::Rational;
use shofar_logic::{Assignment, Evaluator, Interpretation, LinearPoly, Op, Sort, Term, TermStore, Value};

use super::definitions::{self, Definitions};
use super::{
    Assertion, CongruenceProof, EdgeRule, FarkasTerm, IntegerRefutation, Justification, Part, Proof, Rule,
    Sign, StepId, without_cast, without_casts,
};
use crate::purify::is_application;
use crate::sat::{Lit, Var};

/// Assignments under which definitions and images are evaluated: more of them where mistakes are looked for.
const ROUNDS: u64 = if cfg!(debug_assertions) { 12 } else { 4 };

/// A step that does not hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The step; none if the fault is not in a single one.
    pub step: Option<StepId>,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.step {
            Some(StepId(number)) => write!(f, "step {number}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

type Checked = Result<(), String>;

/// Checks a proof. That its assertions and assumptions are those that the caller meant is for the caller to compare
/// with [`Proof::assertions`] and [`Proof::assumptions`].
///
/// # Errors
///
/// The first fault.
pub fn check(store: &TermStore, proof: &Proof) -> Result<(), Fault> {
    let mut checker = Checker {
        store,
        proof,
        definitions: Definitions::new(store, &proof.definitions),
        clauses: FxHashSet::default(),
        assumed: FxHashSet::default(),
        defining: FxHashSet::default(),
    };
    let of_proof = |message: String| Fault { step: None, message };
    definitions::check(store, proof).map_err(of_proof)?;
    checker.read_assertions().map_err(of_proof)?;
    for (number, step) in proof.steps.iter().enumerate() {
        let checked = checker.step(number, &step.clause, &step.rule);
        checked.map_err(|message| Fault { step: Some(StepId(number as u32)), message })?;
    }
    match proof.steps.last() {
        Some(step) if step.clause.is_empty() => Ok(()),
        _ => Err(of_proof("the last clause is not empty".to_owned())),
    }
}

/// A clause over terms: atoms with whether they are affirmed, ascending.
pub(super) type TermClause = Vec<(Term, bool)>;

struct Checker<'s> {
    store: &'s TermStore,
    proof: &'s Proof,
    definitions: Definitions<'s>,
    /// The clauses of assertions, and the formulas assumed.
    clauses: FxHashSet<(Part, TermClause)>,
    assumed: FxHashSet<(Part, Term)>,
    /// The clauses of what fresh symbols are usually defined by.
    defining: FxHashSet<TermClause>,
}

fn fault<T>(message: impl Into<String>) -> Result<T, String> {
    Err(message.into())
}

impl Checker<'_> {
    fn read_assertions(&mut self) -> Checked {
        let asserted = || self.proof.assertions.iter().chain(&self.proof.assumptions);
        self.are_images(asserted())?;
        for &Assertion { part, image, .. } in asserted() {
            for clause in top_level_clauses(self.store, image) {
                self.clauses.insert((part, clause));
            }
        }
        let origins = self.proof.origins.iter();
        let definitions = origins.flat_map(|&(symbol, origin)| defining(self.store, symbol, origin));
        self.defining.extend(definitions.flat_map(|definition| top_level_clauses(self.store, definition)));
        self.assumed
            .extend(self.proof.assumptions.iter().map(|assumption| (assumption.part, assumption.image)));
        Ok(())
    }

    fn step(&self, number: usize, clause: &[Lit], rule: &Rule) -> Checked {
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
                &[lit] if self.assumed.contains(&(*part, self.proof.literal(self.store, lit))) => Ok(()),
                _ => fault(format!("{part:?} assumes no such literal")),
            },
            Rule::Definition if self.is_gate_clause(clause) => Ok(()),
            Rule::Definition if self.defining.contains(&self.term_clause(clause)) => Ok(()),
            Rule::Definition => self.is_definition(clause),
            Rule::Lemma(justification) => {
                let conflict: FxHashSet<Lit> = clause.iter().map(|&lit| !lit).collect();
                match justification {
                    Justification::Farkas(terms) => self.farkas(&conflict, terms),
                    Justification::Congruence(proof) => self.congruence(&conflict, proof),
                    Justification::Integer(refutation) => self.integer(&conflict, refutation),
                    Justification::Split => self.split(clause),
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
        let premise = |StepId(step): StepId| match self.proof.steps.get(step as usize) {
            Some(premise) if (step as usize) < number => Ok(&premise.clause),
            _ => Err(format!("the premise {step} does not come before")),
        };
        let mut resolvent: FxHashSet<Lit> = premise(first)?.iter().copied().collect();
        for &(other, pivot) in others {
            let other = premise(other)?;
            let lit = [pivot.positive(), pivot.negative()].into_iter().find(|lit| other.contains(lit));
            let Some(lit) = lit else { return fault(format!("a premise is without the pivot {pivot:?}")) };
            if !resolvent.remove(&!lit) {
                return fault(format!("{:?} is not there to be resolved", !lit));
            }
            resolvent.extend(other.iter().copied().filter(|&it| it != lit));
        }
        let expected: FxHashSet<Lit> = clause.iter().copied().collect();
        if resolvent == expected { Ok(()) } else { fault("resolution gives another clause") }
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
            if matches!(atom, Term::TRUE | Term::FALSE) {
                if holds == (atom == Term::FALSE) {
                    return Ok(());
                }
                continue;
            }
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
            // Whether the form is at most the value, and at least it; with whether it may be equal.
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
        let mut classes = Classes::default();
        for edge in &proof.edges {
            let [left, right] = [edge.left, edge.right].map(|term| self.canonical(term));
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
                    let mut equal =
                        |a: Term, b: Term| classes.find(self.canonical(a)) == classes.find(self.canonical(b));
                    if !is_application || !args.all(|(&a, &b)| equal(a, b)) {
                        return fault("two terms are not congruent");
                    }
                }
            }
            classes.union(left, right);
        }
        let (left, right) = (self.canonical(proof.apart.0), self.canonical(proof.apart.1));
        if classes.find(left) != classes.find(right) {
            return fault("the edges do not connect what differs");
        }
        let is_value = |term: Term| store.numeral(term).is_some() || matches!(term, Term::TRUE | Term::FALSE);
        match proof.distinct {
            Some(lit) if conflict.contains(&lit) && self.says_equal(lit, left, right, false) => Ok(()),
            None if left != right && is_value(left) && is_value(right) => Ok(()),
            _ => fault("the terms do not differ"),
        }
    }

    /// The integer that is cast, and the same term for all numerals of one value.
    fn canonical(&self, term: Term) -> Term {
        let term = without_cast(self.store, term);
        self.store.numeral(term).map_or(term, |value| self.store.real(value.clone()))
    }

    /// Whether the literal says that the terms are equal, or that they are not.
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

    /// Whether the clause follows from what one of its gates is: where all other literals are false, the gate has the
    /// value that makes its literal true.
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

    /// Tests whether a clause is true if each fresh symbol has the value of its origin.
    fn is_definition(&self, clause: &[Lit]) -> Checked {
        let literals: Vec<Term> = clause.iter().map(|&lit| self.proof.literal(self.store, lit)).collect();
        self.under_assignments(&literals, |values| {
            if values.contains(&Some(true)) {
                return Ok(());
            }
            fault("a definition is not true of the origin")
        })
    }

    /// Tests whether formulas and their images mean the same; all at once, as they share symbols.
    fn are_images<'p>(&self, asserted: impl Iterator<Item = &'p Assertion>) -> Checked {
        let changed = asserted.filter(|assertion| assertion.formula != assertion.image);
        let sides: Vec<Term> = changed.flat_map(|assertion| [assertion.formula, assertion.image]).collect();
        self.under_assignments(&sides, |values| {
            let (pairs, _) = values.as_chunks::<2>();
            if pairs.iter().any(|&[formula, image]| formula.zip(image).is_some_and(|(a, b)| a != b)) {
                return fault("the image of a formula means something else");
            }
            Ok(())
        })
    }

    /// Looks at the values of formulas under some assignments; what cannot be evaluated has none.
    fn under_assignments(
        &self,
        formulas: &[Term],
        mut look: impl FnMut(&[Option<bool>]) -> Checked,
    ) -> Checked {
        if formulas.is_empty() {
            return Ok(());
        }
        let store = self.store;
        let origins: Vec<&(Term, Term)> = self.needed_origins(formulas);
        let definitions = self.definitions.needed(formulas, false);
        let values = definitions.iter().map(|it| it.definition).chain(origins.iter().map(|origin| origin.1));
        let terms: Vec<Term> = formulas.iter().copied().chain(values).collect();
        let mentioned = store.symbols(&terms);
        let fresh: FxHashSet<Term> = origins.iter().map(|origin| origin.0).collect();
        let mut random = 0x2545_f491_4f6c_dd1d_u64;
        for _ in 0..ROUNDS {
            let mut next = |bound: u64| {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                random % bound
            };
            let mut value = |sort: Sort| match sort {
                Sort::BOOL => Value::Bool(next(2) == 0),
                Sort::INT => Value::Int((next(13) as i64 - 6).into()),
                Sort::REAL => Value::Real(Rational::new((next(25) as i64 - 12).into(), 2.into())),
                sort => store.default_value(sort),
            };
            let mut assignment = Assignment::new();
            // Constants are the simplest functions.
            for &fun in &mentioned.funs {
                let result = value(store.fun_decl(fun).range);
                match store.apply(fun, &[]) {
                    Ok(symbol) => assignment.set(symbol, result),
                    Err(_) => {
                        let table =
                            Interpretation::Table { entries: Default::default(), default: Some(result) };
                        assignment.set_function(fun, table);
                    }
                }
            }
            for (op, sort) in [(Op::IntDiv, Sort::INT), (Op::Mod, Sort::INT), (Op::RealDiv, Sort::REAL)] {
                assignment.set_open_default(op, value(sort));
            }
            for &var in mentioned.vars.iter().filter(|var| !fresh.contains(var)) {
                assignment.set(var, value(store.sort_of(var)));
            }
            let defined = definitions.iter().rev().map(|it| (it.symbol, it.definition));
            for (symbol, meaning) in defined.chain(origins.iter().map(|&&origin| origin)) {
                if let Ok(value) = store.eval(meaning, &assignment) {
                    assignment.set(symbol, value);
                }
            }
            let mut evaluator = Evaluator::new(store, &assignment);
            let mut truth = |&formula: &Term| evaluator.eval(formula).ok().and_then(|value| value.as_bool());
            let values: Vec<Option<bool>> = formulas.iter().map(&mut truth).collect();
            look(&values)?;
        }
        Ok(())
    }

    /// The origins of the fresh symbols that formulas mention, in the order of their making.
    fn needed_origins(&self, formulas: &[Term]) -> Vec<&(Term, Term)> {
        let mut needed: FxHashSet<Term> = self.store.symbols(formulas).vars.iter().copied().collect();
        let mut origins: Vec<&(Term, Term)> = Vec::new();
        for origin in self.proof.origins.iter().rev() {
            if needed.contains(&origin.0) {
                needed.extend(&self.store.symbols(&[origin.1]).vars);
                origins.push(origin);
            }
        }
        origins.reverse();
        origins
    }
}

/// What a fresh symbol is usually defined by: formulas that are true if it has the value of its origin.
fn defining(store: &TermStore, symbol: Term, origin: Term) -> Vec<Term> {
    match store.view(origin) {
        (Op::Ite, &[condition, then, otherwise]) => {
            let chosen = store.implies(condition, store.eq(symbol, then));
            vec![chosen, store.or2(condition, store.eq(symbol, otherwise))]
        }
        (Op::IntDiv, &[number, divisor]) => {
            let Some(divisor) = store.numeral(divisor).filter(|divisor| divisor.is_positive()) else {
                return Vec::new();
            };
            let multiple = store.mul_const(divisor, symbol);
            let greatest_rest = store.int((divisor - &Rational::ONE).numer());
            vec![store.le(multiple, number), store.le(number, store.add(&[multiple, greatest_rest]))]
        }
        (Op::ToInt, &[number]) => {
            let real = store.to_real(symbol);
            vec![store.le(real, number), store.lt(number, store.add(&[real, store.real(Rational::ONE)]))]
        }
        _ if store.sort_of(symbol) == store.sort_of(origin) => vec![store.eq(symbol, origin)],
        _ => Vec::new(),
    }
}

/// The clauses that a normal formula falls apart into.
pub(super) fn top_level_clauses(store: &TermStore, formula: Term) -> Vec<TermClause> {
    let literal = |term: Term, holds: bool| match store.view(term) {
        (Op::Not, &[inner]) => (inner, !holds),
        _ => (term, holds),
    };
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
