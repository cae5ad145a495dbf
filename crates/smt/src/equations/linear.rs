//! Linear equations between symbols, and their rounds.
//!
//! Most equations of programs are of this kind, `x = y`, `x = 5`, `x = y + 1`. They are kept as polynomials until nothing
//! more can be defined: the terms between the rounds would be of no use to anyone.
//!
//! - R1: in each round, no defined symbol is in a definition. So all replacements of a round are made at once.
//! - R2: all monomials are symbols. So a symbol is nowhere but where the polynomial says.

use std::cmp::Reverse;

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::definitions;
use shofar_logic::{LinearPoly, Relation, Sort, Term, TermStore};

use super::{MOST_SUMMANDS, Taken};

/// Rounds for one set of equations.
const MOST_ROUNDS: usize = 16;
/// Summands of an equation that is looked at.
const MOST_TERMS: usize = 32;

/// An equation `sum = 0`.
pub(super) struct LinearEquation {
    /// The place in the batch of the formula that has it as a conjunct.
    source: usize,
    sum: LinearPoly,
    sort: Sort,
    /// The equation as a formula, unless symbols were replaced.
    formula: Option<Term>,
}

/// A symbol and what it is equal to.
pub(super) struct LinearDefinition {
    source: usize,
    symbol: Term,
    value: LinearPoly,
    sort: Sort,
}

impl LinearEquation {
    /// Reads a normal formula, if it is fit for rounds by R2 and by its size.
    pub(super) fn over_symbols(store: &TermStore, source: usize, formula: Term) -> Option<Self> {
        let equation = store.bound(formula).filter(|bound| bound.relation == Relation::Equal)?;
        let (sum, sort) = (equation.poly(store), store.sort_of(equation.sum));
        let is_fit =
            sum.terms().len() <= MOST_TERMS && sum.terms().iter().all(|&(term, _)| store.is_symbol(term));
        is_fit.then_some(LinearEquation { source, sum, sort, formula: Some(formula) })
    }

    /// Its place and its formula.
    pub(super) fn write(&self, store: &TermStore) -> (usize, Term) {
        let write = || {
            // Whatever integers symbols are, 2x + 2y is not 1: the sum is primitive, so that its constant tells.
            if self.sort == Sort::INT && !self.sum.constant().is_integer() {
                return Term::FALSE;
            }
            let zero = LinearPoly::default().to_term(store, self.sort);
            store.eq(self.sum.to_term(store, self.sort), zero)
        };
        (self.source, self.formula.unwrap_or_else(write))
    }

    /// A definition of one of its symbols that is `open`, the youngest: it belongs to the latest step.
    fn define(&self, open: impl Fn(Term) -> bool) -> Option<LinearDefinition> {
        let rank = |symbol, summands| {
            let is_fit = summands <= MOST_SUMMANDS && open(symbol);
            is_fit.then_some(Reverse(symbol))
        };
        let (symbol, value) = definitions::summand(&self.sum, self.sort, rank)?;
        Some(LinearDefinition { source: self.source, symbol, value, sort: self.sort })
    }
}

impl LinearDefinition {
    /// The definition as a term.
    pub(super) fn taken(&self, store: &TermStore) -> Taken {
        let definition = self.value.to_term(store, self.sort);
        Taken { symbol: self.symbol, definition, source: self.source }
    }
}

/// Makes definitions of equations, as long as there are symbols that are `open`, and replaces what they define in the other
/// equations. No defined symbol is in a definition in the end. `log` gets the definitions of each round as they were made.
pub(super) fn solve(
    equations: &mut Vec<LinearEquation>,
    open: impl Fn(Term) -> bool,
    mut log: impl FnMut(&[LinearDefinition]),
) -> Vec<LinearDefinition> {
    let mut definitions: Vec<LinearDefinition> = Vec::new();
    for _ in 0..MOST_ROUNDS {
        let mut round = Round::default();
        equations.retain(|equation| !round.take(equation, &open));
        if round.definitions.is_empty() {
            break;
        }
        for definition in &mut definitions {
            if let Some(value) = round.replace(&definition.value) {
                definition.value = value;
            }
        }
        equations.retain_mut(|equation| {
            if let Some(sum) = round.replace(&equation.sum) {
                equation.sum = sum.primitive().0;
                equation.formula = None;
            }
            // 0 = 0 says nothing.
            !equation.sum.is_constant() || !equation.sum.constant().is_zero()
        });
        log(&round.definitions);
        definitions.extend(round.definitions);
    }
    definitions
}

/// The definitions of one round.
#[derive(Default)]
struct Round {
    definitions: Vec<LinearDefinition>,
    /// Where the definition of a symbol is.
    places: FxHashMap<Term, usize>,
    /// The symbols in the definitions.
    used: FxHashSet<Term>,
}

impl Round {
    /// Makes a definition of an equation, if it is fit for one and R1 allows it.
    fn take(&mut self, equation: &LinearEquation, open: impl Fn(Term) -> bool) -> bool {
        if equation.sum.terms().iter().any(|(symbol, _)| self.places.contains_key(symbol)) {
            return false;
        }
        let definition = equation.define(|symbol| !self.used.contains(&symbol) && open(symbol));
        let Some(definition) = definition else { return false };
        self.used.extend(definition.value.terms().iter().map(|&(symbol, _)| symbol));
        self.places.insert(definition.symbol, self.definitions.len());
        self.definitions.push(definition);
        true
    }

    /// The sum with definitions in the place of symbols, if there are any of these in it.
    fn replace(&self, sum: &LinearPoly) -> Option<LinearPoly> {
        let terms = sum.terms();
        if !terms.iter().any(|(symbol, _)| self.places.contains_key(symbol)) {
            return None;
        }
        let kept = terms.iter().filter(|(symbol, _)| !self.places.contains_key(symbol)).cloned().collect();
        let mut replaced = LinearPoly::from_pairs(kept, sum.constant().clone());
        for (symbol, factor) in terms {
            if let Some(&place) = self.places.get(symbol) {
                replaced.add_scaled(&self.definitions[place].value, factor);
            }
        }
        Some(replaced)
    }
}
