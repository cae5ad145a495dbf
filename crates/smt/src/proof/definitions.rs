//! Symbols defined by assertions: selects those that a proof needs, and checks that the assertions entail them.
//!
//! `equations/` replaced symbols round by round. In each round, formulas in which earlier definitions have replaced
//! their symbols define further symbols. The checker repeats the rounds and shows that each formula entails its
//! equations:
//!
//! ```text
//! for each round:
//!     the meaning of each formula entails x = t, for each definition of x by t from this formula
//!     x means what t means from now on
//! ```
//!
//! A definition mentions neither its own symbol nor an earlier one, so the symbols get their values from the last to
//! the first.
//!
//! For Alethe text, [`replay`] does the same with normal terms, and also finds the member of a formula that defines a
//! symbol. Its result is only a hint: another checker judges the text.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::{Op, Substitution, Term, TermStore};

use super::meaning::Meanings;
use super::{Definition, Part, Proof};

/// Definitions by their symbols.
pub(super) struct Definitions<'p> {
    store: &'p TermStore,
    all: &'p [Definition],
    places: FxHashMap<Term, usize>,
}

impl<'p> Definitions<'p> {
    pub(super) fn new(store: &'p TermStore, all: &'p [Definition]) -> Self {
        let places = all.iter().enumerate().map(|(place, definition)| (definition.symbol, place)).collect();
        Definitions { store, all, places }
    }

    /// The definitions of symbols in terms, and transitively of symbols in these, in their order. With `justified`,
    /// also those of symbols in the assertions that the definitions come from.
    pub(super) fn needed(&self, terms: &[Term], justified: bool) -> Vec<&'p Definition> {
        if self.all.is_empty() {
            return Vec::new();
        }
        let mut needed: BTreeSet<usize> = BTreeSet::new();
        let mut seen: FxHashSet<Term> = FxHashSet::default();
        let mut open: Vec<Term> = terms.to_vec();
        while !open.is_empty() {
            let mentioned = symbols(self.store, &open);
            open.clear();
            for place in mentioned.iter().filter_map(|symbol| self.places.get(symbol).copied()) {
                if !needed.insert(place) {
                    continue;
                }
                let Definition { formula, definition, .. } = self.all[place];
                open.push(definition);
                if justified && seen.insert(formula) {
                    open.push(formula);
                }
            }
        }
        needed.into_iter().map(|place| &self.all[place]).collect()
    }
}

/// The symbols of terms.
fn symbols(store: &TermStore, terms: &[Term]) -> Vec<Term> {
    let mentioned = store.symbols(terms);
    let constants = mentioned.funs.iter().filter_map(|&fun| store.apply(fun, &[]).ok());
    mentioned.vars.iter().copied().chain(constants).collect()
}

/// Checks that the assertions of a proof entail its definitions, and that these do not contradict each other.
/// Afterwards the symbols are defined among the meanings.
pub(super) fn check(store: &TermStore, proof: &Proof, meanings: &mut Meanings<'_>) -> Result<(), String> {
    are_definitions(store, &proof.definitions)?;
    let asserted: FxHashSet<(Part, Term)> = proof.assertions.iter().map(|it| (it.part, it.formula)).collect();
    if !proof.definitions.iter().all(|it| asserted.contains(&(it.part, it.formula))) {
        return Err("the formula of a definition is not asserted".to_owned());
    }
    for round in proof.definitions.chunk_by(|a, b| (a.batch, a.round) == (b.batch, b.round)) {
        for &Definition { formula, symbol, definition, .. } in round {
            let formula = meanings.truth(formula)?;
            meanings.settle();
            let equation = meanings.equation(symbol, definition)?;
            if !meanings.shows(formula, equation) {
                return Err("an assertion is not shown to say what a symbol is defined to be".to_owned());
            }
        }
        meanings.forget();
        round.iter().try_for_each(|it| meanings.define(it.symbol, it.definition))?;
    }
    Ok(())
}

/// For each definition, the member of its formula that states it, once earlier definitions are in place. The members
/// are as written, and together they are the formula.
pub(super) fn replay(
    store: &TermStore,
    definitions: &[Definition],
    members: impl Fn(Term) -> Vec<Term>,
) -> Vec<Option<Term>> {
    let mut replay = Replay { store, earlier: Substitution::new(), said_by: Vec::new() };
    for batch in definitions.chunk_by(|a, b| a.batch == b.batch) {
        replay.batch(batch, &members);
    }
    replay.said_by
}

/// Checks that each definition defines a symbol, has its sort, and mentions neither this symbol nor an earlier one.
fn are_definitions(store: &TermStore, definitions: &[Definition]) -> Result<(), String> {
    let mut defined: FxHashSet<Term> = FxHashSet::default();
    for &Definition { symbol, definition, .. } in definitions {
        let is_symbol = matches!(store.view(symbol), (Op::Var(_) | Op::Apply(_), []));
        if !is_symbol || store.sort_of(symbol) != store.sort_of(definition) {
            return Err("what is defined is no symbol of this sort".to_owned());
        }
        if !defined.insert(symbol) {
            return Err("a symbol is defined twice".to_owned());
        }
        if symbols(store, &[definition]).iter().any(|symbol| defined.contains(symbol)) {
            return Err("a definition mentions a symbol that is defined by then".to_owned());
        }
    }
    Ok(())
}

/// Formulas with their conjuncts, each with the member of the formula that it comes from.
type Conjuncts = FxHashMap<(Term, Term), Term>;

struct Replay<'s> {
    store: &'s TermStore,
    /// The definitions of earlier batches.
    earlier: Substitution,
    said_by: Vec<Option<Term>>,
}

impl Replay<'_> {
    fn batch(&mut self, batch: &[Definition], members: impl Fn(Term) -> Vec<Term>) {
        let store = self.store;
        let formulas: FxHashSet<Term> = batch.iter().map(|definition| definition.formula).collect();
        let written = formulas.into_iter().flat_map(|formula| {
            members(formula).into_iter().map(move |member| ((formula, store.normalize(member)), member))
        });
        let mut left = replaced(store, &self.earlier, written);
        let mut values: Vec<(Term, Term)> = Vec::new();
        for round in batch.chunk_by(|a, b| a.round == b.round) {
            for Definition { formula, symbol, definition, .. } in round {
                let equation = store.eq(*symbol, *definition);
                self.said_by.push(left.get(&(*formula, equation)).copied());
            }
            let substitution: Substitution = round.iter().map(|it| (it.symbol, it.definition)).collect();
            left = replaced(store, &substitution, left);
            let before: Vec<Term> = values.iter().map(|&(_, value)| value).collect();
            let after = store.instantiate_all(&before, &substitution);
            std::iter::zip(&mut values, after).for_each(|(value, after)| value.1 = after);
            values.extend(round.iter().map(|it| (it.symbol, it.definition)));
        }
        values.into_iter().for_each(|(symbol, value)| self.earlier.insert(symbol, value));
    }
}

/// The conjuncts of formulas after the replacement of symbols.
fn replaced(
    store: &TermStore,
    substitution: &Substitution,
    normal: impl IntoIterator<Item = ((Term, Term), Term)>,
) -> Conjuncts {
    let (places, before): (Vec<(Term, Term)>, Vec<Term>) =
        normal.into_iter().map(|((formula, conjunct), member)| ((formula, member), conjunct)).unzip();
    let after = store.instantiate_all(&before, substitution);
    let mut open: Vec<((Term, Term), Term)> = std::iter::zip(places, after).collect();
    let mut found = Conjuncts::default();
    while let Some((place, conjunct)) = open.pop() {
        match store.view(conjunct) {
            (Op::And, args) => open.extend(args.iter().map(|&arg| (place, arg))),
            _ => _ = found.insert((place.0, conjunct), place.1),
        }
    }
    found
}
