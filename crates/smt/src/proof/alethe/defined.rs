//! Symbols that assertions define, and that were replaced.
//!
//! Each definition has a step for its equation `x = t`, derived from the member of the assertion that states it and
//! from earlier equations. These equations replace the symbols in the image of an assertion:
//!
//! ```text
//! truth values     the equation is an equivalence, and propagation goes through it
//! numbers          an atom A and the equations of its symbols imply the image of A, and vice versa: la_generic
//! ```
//!
//! Terms that were simplified inside atoms have such equations, too (`rewritten.rs`). Symbols replaced inside functions
//! or divisions are not covered.

use std::collections::BTreeSet;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::number::Rational;
use shofar_logic::{LinearPoly, Op, Substitution, Term, TermStore};

use super::super::Definition;
use super::super::definitions;
use super::super::meaning::Meanings;
use super::Printer;
use super::arith::{Bridge, Fact, Reading, coefficients, is_contradiction, la_generic};
use super::derive::{Derivation, Literal, Source, formula, literal, negation};
use super::steps::{Arg, Name};

/// The equation of a symbol that was replaced.
#[derive(Clone)]
pub(super) struct Equation {
    pub(super) symbol: Term,
    /// The formula that defines it: the equation, or the symbol or its negation if it has a truth value.
    pub(super) formula: Term,
    /// The name of its step.
    pub(super) name: Name,
}

impl<'p> Printer<'p> {
    /// Writes a step for the equation of each definition, unless the checker would not accept them.
    pub(super) fn equations(&mut self) {
        let (store, proof) = (self.store, self.proof);
        if definitions::check(store, proof, &mut Meanings::new(store)).is_err() {
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

    /// Writes a step for the definition of a symbol, which a member of an assertion states.
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

    /// The equations of symbols in a formula, and transitively of symbols in these, if they have steps.
    pub(super) fn equations_of(&self, formula: Term) -> Vec<Equation> {
        let needed = self.definitions.needed(&[formula], false);
        needed.iter().filter_map(|definition| self.replaced.get(&definition.symbol).cloned()).collect()
    }

    /// Derives clauses about the image of a formula, with symbols replaced by equations. `name` is the step of the
    /// formula.
    pub(super) fn replacing(
        &mut self,
        formula: Term,
        name: Name,
        image: Term,
        equations: &[Equation],
    ) -> Derivation<'p> {
        let written: Vec<Term> = equations.iter().map(|equation| equation.formula).chain([formula]).collect();
        // Symbols are replaced first, then terms.
        let mut equations = equations.to_vec();
        equations.extend(self.rewritings(&written));
        let mut derivation = Derivation::new(self.store, self.expander);
        derivation.offer(vec![formula], Source::Step(name));
        let mut formulas = vec![formula, image];
        for equation in &equations {
            derivation.offer(vec![equation.formula], Source::Step(equation.name));
            if self.is_to_be_explained(equation) {
                formulas.push(equation.formula);
            }
        }
        self.connect(&mut derivation, &mut FxHashSet::default(), formulas, &equations, |_| Vec::new());
        derivation
    }

    /// Whether an equation has connectives or choices. Others, of which there may be many, are used only by sums.
    fn is_to_be_explained(&self, equation: &Equation) -> bool {
        let store = self.store;
        let is_choice = |term: &Term| store.op(*term) == Op::Ite || self.choices.contains_key(term);
        !store.sort_of(equation.symbol).is_arithmetic()
            || store.subterms(&[equation.formula]).iter().any(is_choice)
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
    /// The final replacement of each symbol.
    pub(super) fn substitution(&self) -> Substitution {
        let store = self.store;
        let mut substitution = Substitution::new();
        // An equation contains only symbols of later equations.
        for equation in self.equations.iter().rev().filter(|it| store.args(it.symbol).is_empty()) {
            let value = match store.view(equation.formula) {
                (Op::Eq, &[_, value]) => store.normalize(value),
                (Op::Not, _) => Term::FALSE,
                _ => Term::TRUE,
            };
            let value = store.instantiate_all(&[value], &substitution)[0];
            substitution.insert(equation.symbol, value);
        }
        substitution
    }

    /// Offers the clause with the negations of equations, if a sum with these proves it: without the replaced symbols
    /// the facts contradict each other, and the equations account for the symbols.
    pub(super) fn sum_with_equations(&mut self, clause: &[Literal]) -> bool {
        let store = self.store;
        let readings = [(Reading::Written, Reading::Replaced), (Reading::Expanded, Reading::Rewritten)];
        let found = readings.into_iter().find_map(|(before, after)| {
            let factors = coefficients(&self.facts(clause, after)?)?;
            Some((self.facts(clause, before)?, factors))
        });
        let Some((mut facts, mut factors)) = found else { return false };
        let mut clause = clause.to_vec();
        let mut sum = LinearPoly::default();
        std::iter::zip(&facts, &factors).for_each(|(fact, factor)| sum.add_scaled(&fact.form, factor));
        for (position, factor) in self.numbers.eliminate(&mut sum) {
            let equation = &self.numbers.equations[position];
            clause.push(equation.denial);
            facts.push(Rc::clone(&equation.fact));
            factors.push(factor);
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

/// The equations of replaced numbers: each contains only symbols of later ones.
#[derive(Default)]
pub(super) struct NumberEquations {
    equations: Vec<NumberEquation>,
    /// The symbols with the positions of their equations.
    positions: FxHashMap<Term, usize>,
}

struct NumberEquation {
    symbol: Term,
    /// The negated equation, as a literal of a clause, and its fact.
    denial: Literal,
    fact: Rc<Fact>,
}

impl NumberEquations {
    pub(super) fn new(store: &TermStore, equations: &[Equation]) -> Self {
        let mut numbers = NumberEquations::default();
        for equation in equations.iter().filter(|it| store.sort_of(it.symbol).is_arithmetic()) {
            let denial = (equation.formula, false);
            if let Some(fact) = Fact::of(store, denial) {
                numbers.positions.insert(equation.symbol, numbers.equations.len());
                numbers.equations.push(NumberEquation {
                    symbol: equation.symbol,
                    denial,
                    fact: Rc::new(fact),
                });
            }
        }
        numbers
    }

    /// Replaces the symbols in a form. Returns the positions of the equations used, with their factors.
    pub(super) fn eliminate(&self, form: &mut LinearPoly) -> Vec<(usize, Rational)> {
        let positions = |form: &LinearPoly| -> Vec<usize> {
            form.terms().iter().filter_map(|(term, _)| self.positions.get(term).copied()).collect()
        };
        let mut used = Vec::new();
        let mut open: BTreeSet<usize> = positions(form).into_iter().collect();
        while let Some(position) = open.pop_first() {
            let NumberEquation { symbol, fact, .. } = &self.equations[position];
            let factor = form.coefficient(*symbol);
            if !factor.is_zero() {
                form.add_scaled(&fact.form, &factor);
                open.extend(positions(&fact.form).into_iter().filter(|&other| other > position));
                used.push((position, factor));
            }
        }
        used
    }
}
