//! Arithmetic atoms: sums of inequalities, and connections between equivalent atoms.
//!
//! The rule `la_generic` proves a clause by coefficients for the negations of its literals, the *facts*: their weighted
//! sum is a contradiction. Facts about integers are tightened first, and an equation may have a negative coefficient.
//! The rule does not prove a clause that affirms an equation; `la_disequality` reduces that to two inequalities:
//!
//! ```text
//! (or (= s t) (not (<= s t)) (not (<= t s)))
//! ```

use std::rc::Rc;

use rustc_hash::FxHashMap;
use shofar_logic::number::Rational;
use shofar_logic::{LinearPoly, Op, Sort, Term, TermStore};

use super::super::{Sign, without_casts};
use super::defined::{Equation, NumberEquations};
use super::derive::{Derivation, Literal, Source, formula, literal, negation};
use super::expand::Expander;
use super::steps::Arg;

/// The greatest number of inequalities in a split that are compared with each other.
const MOST_COMPARED: usize = 16;

/// The negation of a literal of a clause, as a linear form.
pub(super) struct Fact {
    /// `0 <= form`, `0 < form` or `0 = form`.
    pub(super) form: LinearPoly,
    pub(super) is_strict: bool,
    pub(super) is_equation: bool,
}

impl Fact {
    /// The fact of a literal, if it is a comparison that can occur in a sum.
    pub(super) fn of(store: &TermStore, (atom, holds): Literal) -> Option<Fact> {
        let (op, &[left, right]) = store.view(atom) else { return None };
        if !store.sort_of(left).is_arithmetic() {
            return None;
        }
        // The fact is the negation of the literal: left <= right, or left < right, unless they are exchanged.
        let (is_exchanged, is_strict) = match (op, holds) {
            (Op::Eq, false) => (false, false),
            (Op::Le, false) | (Op::Gt, true) => (false, false),
            (Op::Lt, false) | (Op::Ge, true) => (false, true),
            (Op::Ge, false) | (Op::Lt, true) => (true, false),
            (Op::Gt, false) | (Op::Le, true) => (true, true),
            _ => return None,
        };
        let (smaller, greater) = if is_exchanged { (right, left) } else { (left, right) };
        let mut form = without_casts(store, greater);
        form.add_scaled(&without_casts(store, smaller), &-Rational::ONE);
        let is_int =
            |(term, factor): &(Term, Rational)| store.sort_of(*term) == Sort::INT && factor.is_integer();
        let is_tight = form.terms().iter().all(is_int) && form.constant().is_integer();
        if is_strict && is_tight {
            form.add_constant(&-Rational::ONE);
        }
        Some(Fact { form, is_strict: is_strict && !is_tight, is_equation: op == Op::Eq })
    }
}

/// Whether the weighted sum of facts is a contradiction.
pub(super) fn is_contradiction(facts: &[Rc<Fact>], coefficients: &[Rational]) -> bool {
    let mut sum = LinearPoly::default();
    let mut is_strict = false;
    for (fact, coefficient) in std::iter::zip(facts, coefficients) {
        if coefficient.is_negative() && !fact.is_equation {
            return false;
        }
        sum.add_scaled(&fact.form, coefficient);
        is_strict |= fact.is_strict && !coefficient.is_zero();
    }
    let constant = sum.constant();
    let is_only_equations = facts.iter().all(|fact| fact.is_equation);
    sum.is_constant()
        && (constant.is_negative()
            || constant.is_zero() && is_strict
            || is_only_equations && !constant.is_zero())
}

/// The coefficients with which the facts of one or two literals contradict each other, or those of two literals with an
/// equation.
pub(super) fn coefficients(facts: &[Rc<Fact>]) -> Option<Vec<Rational>> {
    let found = match facts {
        [_] => vec![Rational::ONE],
        [first, second] => {
            let (term, factor) = second.form.terms().first()?;
            let ratio = -(&first.form.coefficient(*term) / factor);
            // Only an equation may have a negative coefficient; then the equation must get it.
            if ratio.is_negative() && first.is_equation {
                vec![-Rational::ONE, -ratio]
            } else {
                vec![Rational::ONE, ratio]
            }
        }
        [first, second, equation] => {
            let mut sum = first.form.clone();
            sum.add_scaled(&second.form, &Rational::ONE);
            let factors = equation.form.terms().iter();
            let ratio = factors.map(|(term, factor)| -(&sum.coefficient(*term) / factor));
            vec![Rational::ONE, Rational::ONE, ratio.into_iter().find(|ratio| !ratio.is_zero())?]
        }
        _ => return None,
    };
    is_contradiction(facts, &found).then_some(found)
}

/// An integer, as an argument of a rule.
fn integer(value: &Rational) -> String {
    if value.is_negative() { format!("(- {})", -value) } else { value.to_string() }
}

/// The arguments of the rule for a clause with these coefficients. `la_generic` reads an equation as `left - right`,
/// and a fact has the opposite sign.
///
/// Multiples of the coefficients do as well, so that fractions are avoided: `(/ 1 2)` is ill-sorted for a checker that does
/// not take integers for reals, and `(/ 1.0 2.0)` is no number for all of them.
pub(super) fn la_generic(store: &TermStore, clause: &[Literal], coefficients: &[Rational]) -> Vec<Arg> {
    let are_integers = coefficients.iter().all(Rational::is_integer);
    let content = coefficients.iter().fold(Rational::ZERO, |content, coefficient| content.gcd(coefficient));
    let factor = if are_integers { Rational::ONE } else { content.recip() };
    let args = std::iter::zip(clause, coefficients).map(|((atom, _), coefficient)| {
        let multiple = coefficient * &factor;
        Arg::Text(integer(&if store.op(*atom) == Op::Eq { -multiple } else { multiple }))
    });
    args.collect()
}

/// The coefficient of a conflict literal's inequality as an argument of [`la_generic`]: for an equation it is negative
/// on one side.
pub(super) fn signed(store: &TermStore, atom: Term, side: Sign, coefficient: &Rational) -> Rational {
    if store.op(atom) == Op::Eq && side == Sign::Positive { -coefficient } else { coefficient.clone() }
}

/// How an atom is read.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Reading {
    Written,
    /// With fresh symbols replaced by their origins.
    Expanded,
    /// With symbols, and terms, replaced by equations.
    Replaced,
    /// Both.
    Rewritten,
}

/// Offers clauses about arithmetic atoms.
pub(super) struct Bridge<'d, 's> {
    pub(super) store: &'s TermStore,
    pub(super) expander: &'s Expander<'s>,
    pub(super) derivation: &'d mut Derivation<'s>,
    /// The two inequalities of each equation.
    pub(super) halves_of: FxHashMap<Term, [Term; 2]>,
    /// The equations of replaced symbols: each contains only symbols of later ones.
    pub(super) equations: &'d [Equation],
    pub(super) numbers: NumberEquations,
    /// The facts of literals.
    pub(super) known_facts: FxHashMap<(Literal, Reading), Option<Rc<Fact>>>,
}

impl Bridge<'_, '_> {
    /// Offers clauses that connect atoms of the same meaning: as written, with fresh symbols replaced by their origins,
    /// and with replaced symbols. Returns the formulas that these clauses introduce.
    pub(super) fn connect(&mut self, atoms: &[Term]) -> Vec<Term> {
        let store = self.store;
        let mut formulas = Vec::new();
        let substitution = self.substitution();
        let has_terms = self.equations.iter().any(|equation| !store.args(equation.symbol).is_empty());
        for reading in [Reading::Written, Reading::Expanded, Reading::Replaced, Reading::Rewritten] {
            match reading {
                Reading::Replaced if self.equations.is_empty() => continue,
                Reading::Rewritten if !has_terms => continue,
                _ => {}
            }
            let mut groups: FxHashMap<Term, Vec<Term>> = FxHashMap::default();
            let mut keys = Vec::new();
            for &atom in atoms {
                let normal = match reading {
                    Reading::Written => store.normalize(atom),
                    Reading::Expanded => store.normalize(self.expander.expand(atom)),
                    Reading::Replaced => store.instantiate_all(&[store.normalize(atom)], &substitution)[0],
                    Reading::Rewritten => {
                        store.instantiate_all(&[self.expander.value(atom)], &substitution)[0]
                    }
                };
                let ((key, _), _) = literal(store, normal);
                let group = groups.entry(key).or_default();
                if group.is_empty() {
                    keys.push(key);
                }
                group.push(atom);
            }
            for key in keys {
                self.connect_group(key, &groups[&key], &mut formulas);
            }
        }
        formulas
    }

    /// Connects atoms that are equivalent, or opposite, or all constant.
    fn connect_group(&mut self, key: Term, group: &[Term], formulas: &mut Vec<Term>) {
        let store = self.store;
        let is_constant = matches!(key, Term::TRUE | Term::FALSE);
        if group.len() < 2 && !is_constant {
            return;
        }
        let comparisons = |atom: Term| match store.view(atom) {
            (Op::Le | Op::Lt | Op::Ge | Op::Gt | Op::Eq, &[left, _]) => store.sort_of(left).is_arithmetic(),
            _ => false,
        };
        let mut inequalities: Vec<Term> = Vec::new();
        for &atom in group {
            if !comparisons(atom) {
                self.reflexive(atom);
                if atom != group[0] && !comparisons(group[0]) {
                    self.turn(group[0], atom, formulas);
                }
            } else if store.op(atom) != Op::Eq {
                inequalities.push(atom);
            } else {
                inequalities.extend(self.halves(atom, formulas));
            }
        }
        if is_constant {
            inequalities.extend(group.iter().filter(|atom| store.op(**atom) == Op::Eq));
            for atom in inequalities {
                [true, false].into_iter().for_each(|holds| _ = self.sum(&[(atom, holds)]));
                self.indivisible(atom);
            }
            return;
        }
        // All are connected with the first, or with the first two, the halves of an equation.
        let hubs = inequalities.len().min(if store.op(key) == Op::Eq { 2 } else { 1 });
        for (at, &atom) in inequalities.iter().enumerate().skip(hubs) {
            for &hub in &inequalities[..hubs.min(at)] {
                self.compare(hub, atom);
            }
        }
    }

    /// Offers all clauses of two inequalities.
    fn compare(&mut self, one: Term, other: Term) {
        for signs in [(true, false), (false, true), (true, true), (false, false)] {
            self.sum(&[(one, signs.0), (other, signs.1)]);
        }
    }

    /// Offers the clause if a sum proves it.
    pub(super) fn sum(&mut self, clause: &[Literal]) -> bool {
        let store = self.store;
        let readings = [Reading::Written, Reading::Expanded];
        let found = readings.into_iter().find_map(|reading| coefficients(&self.facts(clause, reading)?));
        if let Some(coefficients) = &found {
            let written = clause.iter().map(|&literal| formula(store, literal)).collect();
            let args = la_generic(store, clause, coefficients);
            self.derivation.offer(written, Source::Rule("la_generic", args));
        }
        found.is_some() || !self.equations.is_empty() && self.sum_with_equations(clause)
    }

    /// The facts of the literals, if these are comparisons.
    pub(super) fn facts(&mut self, clause: &[Literal], reading: Reading) -> Option<Vec<Rc<Fact>>> {
        clause.iter().map(|&literal| self.fact(literal, reading)).collect()
    }

    fn fact(&mut self, (atom, holds): Literal, reading: Reading) -> Option<Rc<Fact>> {
        let key = ((atom, holds), reading);
        if let Some(known) = self.known_facts.get(&key) {
            return known.clone();
        }
        let read = match reading {
            Reading::Expanded | Reading::Rewritten => self.expander.expand(atom),
            Reading::Written | Reading::Replaced => atom,
        };
        let mut fact = Fact::of(self.store, (read, holds));
        if let (Some(fact), Reading::Replaced | Reading::Rewritten) = (&mut fact, reading) {
            self.numbers.eliminate(&mut fact.form);
        }
        let fact = fact.map(Rc::new);
        self.known_facts.insert(key, fact.clone());
        fact
    }

    /// Offers a refutation of an equation between integers that divisibility excludes: its form would be at most a
    /// number and at least the next one.
    fn indivisible(&mut self, equation: Term) {
        let store = self.store;
        let fact = self.fact((equation, false), Reading::Replaced).filter(|fact| fact.is_equation);
        let Some(fact) = fact else { return };
        let (form, _) = fact.form.clone().primitive();
        let value = -form.constant();
        if form.is_constant()
            || value.is_integer()
            || !form.terms().iter().all(|(term, _)| store.sort_of(*term) == Sort::INT)
        {
            return;
        }
        let form = form.without_constant().to_term(store, Sort::INT);
        let [below, above] = [value.floor(), value.ceil()].map(|value| store.int(value));
        let at_most = |left: Term, right: Term| store.app(Op::Le, &[left, right]);
        if let (Ok(below), Ok(above)) = (at_most(form, below), at_most(above, form)) {
            self.sum(&[(below, false), (above, false)]);
            [below, above].into_iter().for_each(|half| _ = self.sum(&[(equation, false), (half, true)]));
        }
    }

    /// Offers the equivalence of an equation with two inequalities, and returns these.
    pub(super) fn halves(&mut self, equation: Term, formulas: &mut Vec<Term>) -> [Term; 2] {
        let store = self.store;
        if let Some(&halves) = self.halves_of.get(&equation) {
            return halves;
        }
        let (left, right) = (store.args(equation)[0], store.args(equation)[1]);
        let app = |op: Op, args: &[Term]| store.app(op, args).expect("numbers of one sort are compared");
        let halves = [app(Op::Le, &[left, right]), app(Op::Le, &[right, left])];
        let cases = app(Op::Or, &[equation, negation(store, halves[0]), negation(store, halves[1])]);
        self.derivation.offer(vec![cases], Source::Rule("la_disequality", Vec::new()));
        formulas.push(cases);
        for half in halves {
            self.sum(&[(equation, false), (half, true)]);
        }
        self.halves_of.insert(equation, halves);
        halves
    }

    /// Offers that an atom is another one with its sides exchanged.
    fn turn(&mut self, one: Term, other: Term, formulas: &mut Vec<Term>) {
        let store = self.store;
        let [first, second] = [one, other].map(|atom| self.expander.expand(atom));
        let is_turned = match (store.view(first), store.view(second)) {
            ((Op::Eq, &[a, b]), (Op::Eq, &[c, d])) => (a, b) == (d, c),
            _ => false,
        };
        if is_turned && let Ok(equation) = store.app(Op::Eq, &[one, other]) {
            self.derivation.offer(vec![equation], Source::Rule("eq_symmetric", Vec::new()));
            formulas.push(equation);
        }
    }

    /// Offers an equality of terms that are the same once fresh symbols are replaced by their origins.
    pub(super) fn reflexive(&mut self, atom: Term) {
        if let (Op::Eq, &[left, right]) = self.store.view(atom)
            && self.expander.expand(left) == self.expander.expand(right)
        {
            self.derivation.offer(vec![atom], Source::Rule("eq_reflexive", Vec::new()));
        }
    }

    /// Offers the clauses needed for a clause that compares one form with numbers.
    pub(super) fn split(&mut self, atoms: &[Term]) -> Vec<Term> {
        let store = self.store;
        let mut formulas = Vec::new();
        let mut inequalities = Vec::new();
        for &atom in atoms {
            match store.op(atom) {
                Op::Eq => inequalities.extend(self.halves(atom, &mut formulas)),
                _ => inequalities.push(atom),
            }
        }
        inequalities.truncate(MOST_COMPARED);
        for (at, &one) in inequalities.iter().enumerate() {
            inequalities[..at].iter().for_each(|&other| self.compare(one, other));
        }
        for &equation in atoms.iter().filter(|atom| store.op(**atom) == Op::Eq) {
            for &other in atoms.iter().filter(|other| **other != equation) {
                [true, false]
                    .into_iter()
                    .for_each(|holds| _ = self.sum(&[(equation, false), (other, holds)]));
            }
        }
        formulas
    }
}
