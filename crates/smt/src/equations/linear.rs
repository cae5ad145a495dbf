//! Linear equations between symbols, solved in rounds.
//!
//! Most equations of programs are of this kind: `x = y`, `x = 5`, `x = y + 1`. They stay polynomials until nothing more
//! can be defined, since nobody needs the terms between the rounds.
//!
//! - R1: in each round, no defined symbol is in a definition. So all replacements of a round happen at once.
//! - R2: all monomials are symbols. So a symbol occurs only where the polynomial has it.

use std::cmp::Reverse;

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::definitions;
use shofar_logic::{LinearPoly, Relation, Sort, Term, TermStore};

use super::{MOST_SUMMANDS, Taken};

/// The greatest number of rounds for one set of equations.
const MOST_ROUNDS: usize = 16;
/// The greatest number of summands of an equation.
const MOST_TERMS: usize = 32;

/// An equation `sum = 0`.
pub(super) struct LinearEquation {
    /// The position in the batch of the formula that contains it as a conjunct.
    source: usize,
    sum: LinearPoly,
    sort: Sort,
    /// The equation as a formula, unless symbols were replaced.
    formula: Option<Term>,
}

/// A symbol and its definition.
pub(super) struct LinearDefinition {
    source: usize,
    symbol: Term,
    value: LinearPoly,
    sort: Sort,
}

impl LinearEquation {
    /// Reads a normal formula, if R2 and its size allow rounds.
    pub(super) fn over_symbols(store: &TermStore, source: usize, formula: Term) -> Option<Self> {
        let equation = store.bound(formula).filter(|bound| bound.relation == Relation::Equal)?;
        let (sum, sort) = (equation.poly(store), store.sort_of(equation.sum));
        let is_fit =
            sum.terms().len() <= MOST_TERMS && sum.terms().iter().all(|&(term, _)| store.is_symbol(term));
        is_fit.then_some(LinearEquation { source, sum, sort, formula: Some(formula) })
    }

    /// Its position and its formula.
    pub(super) fn write(&self, store: &TermStore) -> (usize, Term) {
        let write = || {
            // 2x + 2y is not 1 for any integers: the sum is primitive, so a fractional constant makes it false.
            if self.sort == Sort::INT && !self.sum.constant().is_integer() {
                return Term::FALSE;
            }
            let zero = LinearPoly::default().to_term(store, self.sort);
            store.eq(self.sum.to_term(store, self.sort), zero)
        };
        (self.source, self.formula.unwrap_or_else(write))
    }

    /// A definition of the youngest of its symbols that is `open`: it belongs to the latest step.
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

/// Turns equations into definitions while there are `open` symbols, and replaces the defined symbols in the other
/// equations. In the end no defined symbol is in a definition. `log` receives the definitions of each round as they
/// were made.
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
            // 0 = 0 is redundant.
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
    /// The position of each symbol's definition.
    places: FxHashMap<Term, usize>,
    /// The symbols in the definitions.
    used: FxHashSet<Term>,
}

impl Round {
    /// Turns an equation into a definition, if it has the right form and R1 allows it.
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

    /// The sum with symbols replaced by their definitions; `None` if it has no defined symbols.
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
