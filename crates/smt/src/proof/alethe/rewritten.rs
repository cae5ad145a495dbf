//! Terms that were simplified inside atoms: quotients, remainders, and arguments of functions.
//!
//! Normalising may change terms inside a function or a division, so the image of an assertion can contain other terms
//! than the assertion, and it has no `mod`. The result for a term `t` is its *value*. Each term with a different value
//! gets a step `(= t value)`:
//!
//! ```text
//! f(.., a, ..)     eq_congruent, from a sum for each argument that was rewritten
//! sel(c(..))       dt_select, and dt_test for testers (`datatypes.rs`)
//! div, mod, to_int  a hole: Alethe has rules for them only with numerals. It is the definition of `mod`,
//!                   x mod k = x - k * (x div k), or extracts multiples of the divisor from a dividend
//! ```
//!
//! These equations connect atoms like those of replaced symbols (`defined.rs`), so each hole covers only one term.
//! Choices and equalities of declared sorts are not covered.

use shofar_logic::{LinearPoly, Op, Term, TermStore};

use super::Printer;
use super::connective::integrality;
use super::defined::Equation;
use super::derive::{Derivation, Source, literal, negation};
use super::expand::Expander;
use super::steps::{Name, pivot_args};
use crate::theory::claims::is_application;

/// The greatest number of terms considered for one assertion.
const MOST_TERMS: usize = 256;

/// Whether sums treat the term as a whole, and normalising changes its inside.
fn is_opaque(store: &TermStore, term: Term) -> bool {
    matches!(store.op(term), Op::IntDiv | Op::Mod | Op::ToInt) || is_application(store, term)
}

impl Expander<'_> {
    /// The term in the image of an assertion: normal, without `mod` and fresh symbols.
    pub(super) fn value(&self, term: Term) -> Term {
        let store = self.store;
        let normal = store.normalize(self.expand(term));
        let values = &mut self.memo.borrow_mut().values;
        for part in store.subterms_until(&[normal], |term| values.contains_key(&term)) {
            if values.contains_key(&part) {
                continue;
            }
            let args: Vec<Term> = store.args(part).iter().map(|arg| values[arg]).collect();
            let value = match store.op(part) {
                Op::Mod if !is_application(store, part) => remainder(store, &args),
                _ if args == store.args(part) => Some(part),
                op if is_opaque(store, part) => store.app(op, &args).ok(),
                op => store.build(op, &args).ok(),
            };
            values.insert(part, value.unwrap_or(part));
        }
        values[&normal]
    }
}

/// `x - k * (x div k)`.
fn remainder(store: &TermStore, args: &[Term]) -> Option<Term> {
    let factor = store.numeral(*args.get(1)?)?;
    let quotient = store.app(Op::IntDiv, args).ok()?;
    Some(store.sub(args[0], store.mul_const(factor, quotient)))
}

impl Printer<'_> {
    /// The equations of terms in formulas whose values differ from them.
    pub(super) fn rewritings(&mut self, formulas: &[Term]) -> Vec<Equation> {
        let store = self.store;
        let expanded: Vec<Term> = formulas.iter().map(|&formula| self.expander.expand(formula)).collect();
        let mut terms = store.subterms(&expanded);
        let rests: Vec<Term> = terms.iter().filter_map(|&term| Some(integrality(store, term)?.1)).collect();
        terms.extend(rests);
        terms.retain(|&term| is_opaque(store, term));
        terms.truncate(MOST_TERMS);
        // Inner terms come first, and the dividend before its remainder.
        terms.into_iter().filter_map(|term| self.rewriting(term)).collect()
    }

    fn rewriting(&mut self, term: Term) -> Option<Equation> {
        if let Some(known) = self.rewritten.get(&term) {
            return known.clone();
        }
        let store = self.store;
        let value = self.expander.value(term);
        let formula = if value == term { None } else { store.app(Op::Eq, &[term, value]).ok() };
        let equation = formula.map(|formula| {
            let name = self.congruent(term, value, formula);
            let name = name.or_else(|| self.reduced(term, value, formula));
            let name = name.unwrap_or_else(|| self.hole(&[literal(store, formula).0], &[]));
            Equation { symbol: term, formula, name }
        });
        self.rewritten.insert(term, equation.clone());
        equation
    }

    /// A step for an equation of applications of one function.
    fn congruent(&mut self, term: Term, value: Term, equation: Term) -> Option<Name> {
        let store = self.store;
        let ((function, args), (other, values)) = (store.view(term), store.view(value));
        if function != other || !is_application(store, term) {
            return None;
        }
        let (mut clause, mut premises, mut pivots) = (Vec::new(), Vec::new(), Vec::new());
        for (&arg, &value) in std::iter::zip(args, values) {
            let equal = store.app(Op::Eq, &[arg, value]).ok()?;
            let denied = negation(store, equal);
            if !clause.contains(&denied) {
                premises.push(self.equal(arg, value, equal));
                pivots.extend(pivot_args((equal, false)));
            }
            clause.push(denied);
        }
        clause.push(equation);
        premises.insert(0, self.out.step(&clause, "eq_congruent", &[], &[]));
        Some(self.out.step(&[equation], "resolution", &premises, &pivots))
    }

    /// A step for the equation of an argument and its value.
    pub(super) fn equal(&mut self, arg: Term, value: Term, equation: Term) -> Name {
        let store = self.store;
        if arg == value {
            return self.out.step(&[equation], "eq_reflexive", &[], &[]);
        }
        if let Some(Some(known)) = self.rewritten.get(&arg) {
            return known.name;
        }
        let wanted = [literal(store, equation).0];
        if store.sort_of(arg).is_arithmetic() {
            let sum = LinearPoly::from_term(store, arg);
            let inside = sum.terms().iter().filter_map(|(term, _)| self.rewritten.get(term).cloned()?);
            let equations: Vec<Equation> = inside.collect();
            let mut derivation = Derivation::new(store, self.expander);
            for equation in &equations {
                derivation.offer(vec![equation.formula], Source::Step(equation.name));
            }
            self.connect(&mut derivation, &mut Default::default(), vec![equation], &equations, |_| {
                Vec::new()
            });
            if let Some(name) = derivation.derive(&mut self.out, &wanted) {
                return name;
            }
        }
        self.hole(&wanted, &[])
    }
}
