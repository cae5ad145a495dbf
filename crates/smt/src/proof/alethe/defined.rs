//! Symbols that assertions define, and that were replaced.
//!
//! For each definition there is a step for its equation `x = t`, which is derived from the member of the assertion that
//! says it and from the equations before. In what came of an assertion symbols are replaced by these equations:
//!
//! ```text
//! truth values     the equation is an equivalence, and propagation goes through it
//! numbers          an atom A and the equations of its symbols imply what came of A, and the other way round: la_generic
//! ```
//!
//! Symbols that were replaced inside of functions or divisions are beyond that.

use rustc_hash::FxHashSet;
use shofar_logic::{LinearPoly, Op, Substitution, Term, TermStore};

use super::super::Definition;
use super::super::definitions::{self, replace};
use super::Printer;
use super::arith::{Bridge, Fact, coefficients, is_contradiction, la_generic};
use super::derive::{Derivation, Literal, Source, formula, literal, negation};
use super::steps::{Arg, Name};

/// The equation of a symbol that was replaced.
#[derive(Clone)]
pub(super) struct Equation {
    pub(super) symbol: Term,
    /// The formula that says what it is: the equation, or the symbol or its negation if it has a truth value.
    pub(super) formula: Term,
    /// The name of its step.
    pub(super) name: Name,
}

impl<'p> Printer<'p> {
    /// Writes a step for the equation of each definition, unless the checker would not accept them.
    pub(super) fn equations(&mut self) {
        let (store, proof) = (self.store, self.proof);
        if definitions::check(store, proof).is_err() {
            return;
        }
        let members = |formula: Term| match store.view(formula) {
            (Op::And, args) => args.to_vec(),
            _ => vec![formula],
        };
        let said_by = definitions::replay(store, &proof.definitions, members);
        for (definition, member) in std::iter::zip(&proof.definitions, said_by) {
            let meaning = match definition.definition {
                Term::TRUE => definition.symbol,
                Term::FALSE => negation(store, definition.symbol),
                value => store
                    .app(Op::Eq, &[definition.symbol, value])
                    .expect("definitions have the sorts of what they define"),
            };
            let name = self.equation(definition, member.unwrap_or(definition.formula), meaning);
            let equation = Equation { symbol: definition.symbol, formula: meaning, name };
            self.replaced.insert(definition.symbol, equation);
        }
    }

    /// Writes a step for the meaning of a symbol, which a member of an assertion says.
    fn equation(&mut self, definition: &Definition, member: Term, meaning: Term) -> Name {
        let index = self.assumes.iter().position(|(assertion, _)| {
            (assertion.part, assertion.formula) == (definition.part, definition.formula)
        });
        let assumed = index.map(|index| self.assumes[index].1);
        let said = match (assumed, place_of(self.store, definition.formula, member)) {
            (Some(name), Some(place)) => {
                Some(self.out.step(&[member], "and", &[name], &[Arg::position(place)]))
            }
            (Some(name), None) => Some(name),
            (None, _) => None,
        };
        let Some(said) = said else { return self.hole(&[literal(self.store, meaning).0], &[]) };
        if member == meaning {
            return said;
        }
        let equations = self.equations_of(member);
        let mut derivation = self.replacing(member, said, meaning, &equations);
        let wanted = [literal(self.store, meaning).0];
        match derivation.derive(&mut self.out, &wanted) {
            Some(name) => name,
            None => {
                let names = equations.into_iter().map(|equation| equation.name);
                let premises: Vec<Name> = std::iter::once(said).chain(names).collect();
                self.hole(&wanted, &premises)
            }
        }
    }

    /// The equations of symbols in a formula, of symbols in these, and so on, so far as there are steps for them.
    pub(super) fn equations_of(&self, formula: Term) -> Vec<Equation> {
        let needed = self.definitions.needed(&[formula], false);
        needed.iter().filter_map(|definition| self.replaced.get(&definition.symbol).cloned()).collect()
    }

    /// What follows from a formula, whose step has this name, about its image with symbols replaced by equations.
    pub(super) fn replacing(
        &mut self,
        formula: Term,
        name: Name,
        image: Term,
        equations: &[Equation],
    ) -> Derivation<'p> {
        let mut derivation = Derivation::new(self.store, self.expander);
        derivation.offer(vec![formula], Source::Step(name));
        let mut formulas = vec![formula, image];
        for equation in equations {
            derivation.offer(vec![equation.formula], Source::Step(equation.name));
            formulas.push(equation.formula);
        }
        self.connect(&mut derivation, &mut FxHashSet::default(), formulas, equations, |_| Vec::new());
        derivation
    }
}

/// The place of a member of a conjunction.
fn place_of(store: &TermStore, formula: Term, member: Term) -> Option<usize> {
    match store.view(formula) {
        (Op::And, args) => args.iter().position(|arg| *arg == member),
        _ => None,
    }
}

impl Bridge<'_, '_> {
    /// What symbols are replaced by, in the end.
    pub(super) fn substitution(&self) -> Substitution {
        let store = self.store;
        let mut substitution = Substitution::new();
        // Only symbols of later equations are in an equation.
        for equation in self.equations.iter().rev() {
            let value = match store.view(equation.formula) {
                (Op::Eq, &[_, value]) => store.normalize(value),
                (Op::Not, _) => Term::FALSE,
                _ => Term::TRUE,
            };
            let value = replace(store, &substitution, &[value])[0];
            substitution.insert(equation.symbol, value);
        }
        substitution
    }

    /// The symbols of numbers that were replaced, with the denials of their equations.
    fn denials(&self) -> Vec<(Term, Literal)> {
        let of_numbers = self.equations.iter().filter(|it| self.store.sort_of(it.symbol).is_arithmetic());
        of_numbers.map(|equation| (equation.symbol, (equation.formula, false))).collect()
    }

    /// The fact with symbols replaced by equations.
    pub(super) fn replaced(&self, fact: &Fact) -> Fact {
        let mut form = fact.form.clone();
        for (symbol, denial) in self.denials() {
            let factor = form.coefficient(symbol);
            if !factor.is_zero()
                && let Some(equation) = Fact::of(self.store, denial)
            {
                form.add_scaled(&equation.form, &factor);
            }
        }
        Fact { form, ..*fact }
    }

    /// Offers the clause with the denials of equations, if it is a matter of a sum with these: without the symbols the
    /// facts contradict each other, and what they have of the symbols equations make good.
    pub(super) fn sum_with_equations(&mut self, clause: &[Literal]) -> bool {
        let store = self.store;
        let facts = clause.iter().map(|&literal| Fact::of(store, literal)).collect::<Option<Vec<Fact>>>();
        let Some(mut facts) = facts else { return false };
        let replaced: Vec<Fact> = facts.iter().map(|fact| self.replaced(fact)).collect();
        let Some(mut factors) = coefficients(&replaced) else { return false };
        let mut clause = clause.to_vec();
        let mut sum = LinearPoly::default();
        std::iter::zip(&facts, &factors).for_each(|(fact, factor)| sum.add_scaled(&fact.form, factor));
        for (symbol, denial) in self.denials() {
            let factor = sum.coefficient(symbol);
            if !factor.is_zero()
                && let Some(equation) = Fact::of(store, denial)
            {
                sum.add_scaled(&equation.form, &factor);
                clause.push(denial);
                facts.push(equation);
                factors.push(factor);
            }
        }
        if !is_contradiction(&facts, &factors) {
            return false;
        }
        let written = clause.iter().map(|&literal| formula(store, literal)).collect();
        let args = la_generic(store, &clause, &factors);
        self.derivation.offer(written, Source::Rule("la_generic", args));
        true
    }
}
