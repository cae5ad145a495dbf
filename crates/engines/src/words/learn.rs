//! Candidates from facts: equations between words, equal and different arguments, for all facts or for those with a constant.
//!
//! An equation between words has one argument or a word of two on its left, and a word over the other arguments on its
//! right: arguments, their reversals, and elements as letters. The right side is found by peeling: a part is taken if its
//! value is a prefix of the rest in all facts.
//!
//! ```text
//! fact                                  r          peel rev(x)    peel y
//! revacc([], y, y)                      y          y              empty
//! revacc([a], y, [a]·y)                 [a]·y      y              empty
//! revacc([a, b], y, [b, a]·y)           [b, a]·y   y              empty          r = rev(x)·y
//! ```
//!
//! A *guard* is an argument with a constant: `equal(x, y, b)` has the candidates `b => x = y` and `not b => x != y`.

use rustc_hash::FxHashSet;
use shofar_logic::{List, Part, Sort, Term, TermStore, Word, reversed};

use super::closed;
use super::facts::Fact;

/// The greatest number of constants of an argument that guards.
const MOST_GUARDS: usize = 3;

/// Parts of the right side of an equation.
const MOST_PARTS: usize = 5;

/// Equations for one left side, and steps of their search.
const MOST_SOLUTIONS: usize = 2;
const MOST_STEPS: usize = 3000;

/// Arguments that are lists of one sort, for left sides with two of them.
const MOST_PAIRED: usize = 6;

/// Which candidates are learnt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Kinds {
    /// Equations between words, equal and different arguments.
    pub(super) words: bool,
    /// Polynomials.
    pub(super) polynomials: bool,
}

/// Formulas over the variables of a predicate that its facts satisfy.
pub(super) fn candidates(store: &TermStore, variables: &[Term], facts: &[Fact], kinds: Kinds) -> Vec<Term> {
    let all: Vec<&Fact> = facts.iter().collect();
    let unguarded = of_facts(store, variables, &all, kinds);
    let mut candidates = unguarded.clone();
    for guard in guards(store, variables, facts) {
        let guarded: Vec<&Fact> = facts.iter().filter(|fact| fact.arguments[guard.0] == guard.1).collect();
        let is_guard = store.eq(variables[guard.0], guard.1);
        let learnt = of_facts(store, variables, &guarded, kinds);
        let new = learnt.into_iter().filter(|candidate| !unguarded.contains(candidate));
        candidates.extend(new.map(|candidate| store.implies(is_guard, candidate)));
    }
    candidates.retain(|&candidate| candidate != Term::TRUE);
    candidates
}

/// The arguments that are constants in all facts, with their values, if there are a few.
fn guards(store: &TermStore, variables: &[Term], facts: &[Fact]) -> Vec<(usize, Term)> {
    let mut guards = Vec::new();
    for position in 0..variables.len() {
        let mut values: Vec<Term> = facts.iter().map(|fact| fact.arguments[position]).collect();
        values.sort_unstable();
        values.dedup();
        let is_constant = |&value: &Term| store.term_to_value(value).is_some();
        if (2..=MOST_GUARDS).contains(&values.len()) && values.iter().all(is_constant) {
            guards.extend(values.into_iter().map(|value| (position, value)));
        }
    }
    guards
}

fn of_facts(store: &TermStore, variables: &[Term], facts: &[&Fact], kinds: Kinds) -> Vec<Term> {
    let mut candidates = Vec::new();
    if facts.is_empty() {
        return candidates;
    }
    if kinds.words {
        let mut sorts: Vec<Sort> = variables.iter().map(|&variable| store.sort_of(variable)).collect();
        sorts.sort_unstable();
        sorts.dedup();
        for sort in sorts {
            let positions: Vec<usize> =
                (0..variables.len()).filter(|&at| store.sort_of(variables[at]) == sort).collect();
            match store.list(sort) {
                Some(list) => candidates.extend(equations(store, variables, facts, sort, list, &positions)),
                None => candidates.extend(equal(store, variables, facts, &positions)),
            }
            if store.datatype(sort).is_some() {
                candidates.extend(different(store, variables, facts, &positions));
            }
        }
    }
    if kinds.polynomials {
        candidates.extend(closed::forms(store, variables, facts));
    }
    candidates
}

/// Equal arguments of a sort.
fn equal(store: &TermStore, variables: &[Term], facts: &[&Fact], positions: &[usize]) -> Vec<Term> {
    let is_equal = |&(a, b): &(usize, usize)| facts.iter().all(|fact| fact.arguments[a] == fact.arguments[b]);
    pairs(positions).filter(is_equal).map(|(a, b)| store.eq(variables[a], variables[b])).collect()
}

/// Arguments of a sort that are not equal in any fact.
fn different(store: &TermStore, variables: &[Term], facts: &[&Fact], positions: &[usize]) -> Vec<Term> {
    let is_different =
        |&(a, b): &(usize, usize)| facts.iter().all(|fact| fact.arguments[a] != fact.arguments[b]);
    let denied = |(a, b): (usize, usize)| store.not(store.eq(variables[a], variables[b]));
    pairs(positions).filter(is_different).map(denied).collect()
}

fn pairs(positions: &[usize]) -> impl Iterator<Item = (usize, usize)> {
    positions.iter().enumerate().flat_map(|(at, &b)| positions[..at].iter().map(move |&a| (a, b)))
}

/// An argument as a part of a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Symbol {
    List(usize, bool),
    Letter(usize),
}

impl Symbol {
    fn position(self) -> usize {
        match self {
            Symbol::List(position, _) | Symbol::Letter(position) => position,
        }
    }
}

/// The words of the arguments of facts.
struct Values<'a> {
    store: &'a TermStore,
    sort: Sort,
    list: List,
    facts: &'a [&'a Fact],
}

impl Values<'_> {
    /// The word of one symbol for these arguments.
    fn word(&self, symbol: Symbol, arguments: &[Term]) -> Option<Word> {
        let store = self.store;
        match symbol {
            Symbol::List(position, false) => store.word(arguments[position]),
            Symbol::List(position, true) => store.word(arguments[position]).map(|word| reversed(&word)),
            Symbol::Letter(position) => {
                let empty = store.construct_term(self.list.empty, &[]);
                let mut fields = vec![arguments[position]; 2];
                fields[self.list.tail] = empty;
                Some(vec![Part::Letter(store.construct_term(self.list.cell, &fields))])
            }
        }
    }

    /// The words of a symbol, by facts.
    fn words(&self, symbol: Symbol) -> Option<Vec<Word>> {
        self.facts.iter().map(|fact| self.word(symbol, &fact.arguments)).collect()
    }

    /// The term of a word over the variables of the predicate.
    fn term(&self, variables: &[Term], symbols: &[Symbol]) -> Term {
        let words = symbols.iter().filter_map(|&symbol| self.word(symbol, variables));
        self.store.word_term(self.sort, &words.flatten().collect::<Word>())
    }
}

/// Equations between words over arguments of a sort.
fn equations(
    store: &TermStore,
    variables: &[Term],
    facts: &[&Fact],
    sort: Sort,
    list: List,
    positions: &[usize],
) -> Vec<Term> {
    let values = Values { store, sort, list, facts };
    let mut symbols: Vec<(Symbol, Vec<Word>)> = Vec::new();
    let mut add = |symbol: Symbol| {
        if let Some(words) = values.words(symbol).filter(|words| words.iter().any(|word| !word.is_empty())) {
            symbols.push((symbol, words));
        }
    };
    positions.iter().for_each(|&position| add(Symbol::List(position, false)));
    positions.iter().for_each(|&position| add(Symbol::List(position, true)));
    // Cells with one field besides the tail have elements that are arguments.
    if let [first, second] = &*store.constructor(list.cell).fields {
        let (_, element) = if list.tail == 0 { second } else { first };
        let is_element = |&position: &usize| store.sort_of(variables[position]) == *element;
        (0..variables.len()).filter(is_element).for_each(|position| add(Symbol::Letter(position)));
    }
    let mut found = Vec::new();
    let mut solved: FxHashSet<usize> = FxHashSet::default();
    let mut solve = |left: &[Symbol], solved: &mut FxHashSet<usize>| {
        let Some(goal) = left.iter().try_fold(vec![Word::new(); facts.len()], |mut words, &symbol| {
            words.iter_mut().zip(values.words(symbol)?).for_each(|(word, more)| word.extend(more));
            Some(words)
        }) else {
            return;
        };
        let is_other = |symbol: Symbol| left.iter().all(|other| other.position() != symbol.position());
        let others: Vec<(Symbol, &[Word])> = symbols
            .iter()
            .filter(|&&(symbol, _)| is_other(symbol))
            .map(|(symbol, words)| (*symbol, &words[..]))
            .collect();
        for right in peel(&others, &goal) {
            found.push(store.eq(values.term(variables, left), values.term(variables, &right)));
            solved.extend(left.iter().map(|symbol| symbol.position()));
            // The equation is solved for this argument, too.
            if let ([_], &[symbol @ Symbol::List(..)]) = (left, &right[..]) {
                solved.insert(symbol.position());
            }
        }
    };
    for &position in positions.iter().rev() {
        if !solved.contains(&position) {
            solve(&[Symbol::List(position, false)], &mut solved);
        }
    }
    let open: Vec<usize> = positions.iter().copied().filter(|position| !solved.contains(position)).collect();
    if open.len() <= MOST_PAIRED {
        for &a in open.iter().rev() {
            for &b in open.iter().rev().filter(|&&b| b != a) {
                for (is_first, is_second) in [(false, false), (false, true), (true, false)] {
                    solve(&[Symbol::List(a, is_first), Symbol::List(b, is_second)], &mut solved.clone());
                }
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Words over the symbols that are the goals in all facts, short ones first.
fn peel(symbols: &[(Symbol, &[Word])], goal: &[Word]) -> Vec<Vec<Symbol>> {
    let mut solutions: Vec<Vec<Symbol>> = Vec::new();
    let mut steps = 0;
    for length in 0..=MOST_PARTS {
        // The taken symbols, by their numbers, and how much of each goal they cover.
        let mut taken: Vec<usize> = Vec::new();
        let mut covered: Vec<Vec<usize>> = vec![vec![0; goal.len()]];
        let mut next = 0;
        loop {
            steps += 1;
            if steps > MOST_STEPS || solutions.len() >= MOST_SOLUTIONS {
                return solutions;
            }
            let done = covered.last().expect("nothing is covered at first").clone();
            let is_complete = goal.iter().zip(&done).all(|(goal, &done)| goal.len() == done);
            if taken.len() == length && is_complete {
                solutions.push(taken.iter().map(|&number| symbols[number].0).collect());
            }
            let fits = |number: usize| {
                let parts = symbols[number].1.iter().zip(goal.iter().zip(&done));
                parts.clone().all(|(word, (goal, &done))| goal[done..].starts_with(word))
            };
            let found = if taken.len() < length && !is_complete {
                (next..symbols.len()).find(|&number| fits(number))
            } else {
                None
            };
            match found {
                Some(number) => {
                    let sums = done.iter().zip(symbols[number].1).map(|(done, word)| done + word.len());
                    covered.push(sums.collect());
                    taken.push(number);
                    next = 0;
                }
                None => {
                    let Some(last) = taken.pop() else { break };
                    covered.pop();
                    next = last + 1;
                }
            }
        }
    }
    solutions
}
