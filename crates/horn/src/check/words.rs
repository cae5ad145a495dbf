//! Facts about concatenation and reversal of lists.
//!
//! The functions `append` and `reverse` are folds (`folds.rs`), and lists with them are a free monoid
//! (`shofar_logic::Word`). Unfolding proves none of its laws, since they need induction. But they are known, so these facts
//! are added for the terms of a query, where `w(t)` is the term of the word of `t`:
//!
//! - *normal forms*: `x1 = v1, .., xn = vn  =>  t = w(t[v/x])`, where the query has the equations on the left;
//! - *cancellation*: `s = t` implies that the words without common ends are equal, and so are letters at the same end;
//! - *length*: `s = t` is false if all lists of `s` are in `t`, and `t` has more letters; if `s` is empty, the lists of `t` are;
//! - *reversal*: `reverse(x) = t` implies `x = w(reverse(t))`.
//!
//! All of them are true of finite sequences, whatever the equations of the query are, so a refutation with them is one.
//! Equations of the query only choose the facts: they are solved for an open list where possible, and replace words within
//! words otherwise. This is no decision procedure for word equations: equations with several open lists on both sides are
//! not solved.

use rustc_hash::FxHashMap;
use shofar_logic::{List, Op, Part, Sort, Term, TermStore, Word, reversed};

/// Equations that are used.
const MOST_EQUATIONS: usize = 200;

/// Replacements in one word, and the length of words.
const MOST_REPLACEMENTS: usize = 50;
const MOST_PARTS: usize = 200;

/// The facts about the words in formulas; none if they apply no operation of words.
pub(super) fn facts(store: &TermStore, formulas: &[Term]) -> Vec<Term> {
    let normal: Vec<Term> = formulas.iter().map(|&formula| store.normalize(formula)).collect();
    let operations = store.symbols(&normal).funs.into_iter();
    let mut sorts: Vec<Sort> = operations.filter_map(|fun| store.list_function_sort(fun)).collect();
    sorts.sort_unstable();
    sorts.dedup();
    let mut facts = Vec::new();
    for sort in sorts {
        let terms = store.subterms(&normal);
        let mut monoid = Monoid { store, sort, definitions: FxHashMap::default(), rules: Vec::new(), facts };
        let conjuncts = normal.iter().flat_map(|&formula| store.conjuncts(formula));
        let equations = conjuncts.filter_map(|conjunct| equation(store, sort, conjunct));
        monoid.solve(equations.take(MOST_EQUATIONS).collect());
        for term in terms.into_iter().filter(|&term| store.sort_of(term) == sort) {
            monoid.describe(term);
        }
        facts = monoid.facts;
    }
    facts
}

/// The equation between lists that a literal is, or that follows from a tester.
fn equation(store: &TermStore, sort: Sort, literal: Term) -> Option<(Term, Term)> {
    let List { empty, cell, .. } = store.list(sort)?;
    let (atom, holds) = store.literal(literal);
    match store.view(atom) {
        (Op::Eq, &[left, right]) if holds && store.sort_of(left) == sort => Some((left, right)),
        (Op::Tester(constructor), &[list]) if store.sort_of(list) == sort => {
            let made_by = if (constructor == empty) == holds { empty } else { cell };
            let fields = 0..store.constructor(made_by).fields.len() as u32;
            let fields: Vec<Term> = fields.map(|field| store.selector(made_by, field, list)).collect();
            Some((list, store.construct_term(made_by, &fields)))
        }
        _ => None,
    }
}

/// A word that is equal to a term if the premises hold.
struct Reduced {
    word: Word,
    premises: Vec<Term>,
}

struct Monoid<'a> {
    store: &'a TermStore,
    sort: Sort,
    /// Open lists with their words, in which no defined list occurs.
    definitions: FxHashMap<Term, Word>,
    /// Words and the smaller words that are equal to them.
    rules: Vec<(Word, Word)>,
    facts: Vec<Term>,
}

impl Monoid<'_> {
    fn term(&self, word: &[Part]) -> Term {
        self.store.word_term(self.sort, word)
    }

    /// The fact that premises imply a conclusion.
    fn add(&mut self, premises: &[Term], conclusion: Term) {
        let fact = self.store.implies(self.store.and(premises), conclusion);
        if fact != Term::TRUE {
            self.facts.push(fact);
        }
    }

    /// Uses equations, each once or until it is solved for an open list.
    fn solve(&mut self, equations: Vec<(Term, Term)>) {
        let mut open = equations;
        // An equation that is solved may make others solvable.
        loop {
            let before = self.definitions.len();
            let mut unsolved = Vec::new();
            for (left, right) in open {
                if !self.is_solved(left, right) {
                    unsolved.push((left, right));
                }
            }
            open = unsolved;
            if self.definitions.len() == before {
                break;
            }
        }
        for (left, right) in open {
            self.orient(left, right);
        }
    }

    /// Uses an equation. Returns whether nothing is left to be solved.
    fn is_solved(&mut self, left: Term, right: Term) -> bool {
        let store = self.store;
        let (Some(a), Some(b)) = (self.reduced(left), self.reduced(right)) else { return true };
        let mut premises = vec![store.eq(left, right)];
        premises.extend(a.premises.into_iter().chain(b.premises));
        let (a, b) = self.cancel(&premises, a.word, b.word);
        if a.is_empty() && b.is_empty() {
            return true;
        }
        if is_shorter(&a, &b) || is_shorter(&b, &a) {
            self.add(&premises, Term::FALSE);
            return true;
        }
        if a.is_empty() || b.is_empty() {
            // By cancellation of letters and by length, only open lists are left.
            let empty = self.term(&[]);
            for part in a.into_iter().chain(b) {
                if let Part::List(list, _) = part
                    && !self.definitions.contains_key(&list)
                {
                    self.add(&premises, store.eq(list, empty));
                    self.define(list, Word::new());
                }
            }
            return true;
        }
        for (one, other) in [(&a, &b), (&b, &a)] {
            let &[Part::List(list, is_reversed)] = &one[..] else { continue };
            if other.iter().any(|&part| matches!(part, Part::List(used, _) if used == list)) {
                continue;
            }
            let word = if is_reversed { reversed(other) } else { other.clone() };
            self.add(&premises, store.eq(list, self.term(&word)));
            self.define(list, word);
            return true;
        }
        false
    }

    /// Two words without the parts that they have in common at their ends. Letters at the same end are equal.
    fn cancel(&mut self, premises: &[Term], mut a: Word, mut b: Word) -> (Word, Word) {
        let store = self.store;
        let mut letters = Vec::new();
        let mut cancels = |first: Option<&Part>, second: Option<&Part>| match (first, second) {
            (Some(&Part::Letter(one)), Some(&Part::Letter(other))) => {
                letters.push(store.eq(one, other));
                true
            }
            (Some(one), Some(other)) => one == other,
            _ => false,
        };
        while cancels(a.last(), b.last()) {
            a.pop();
            b.pop();
        }
        let common = a.iter().zip(&b).take_while(|&(one, other)| cancels(Some(one), Some(other))).count();
        a.drain(..common);
        b.drain(..common);
        letters.push(store.eq(self.term(&a), self.term(&b)));
        self.add(premises, store.and(&letters));
        (a, b)
    }

    /// Defines an open list by a word without defined lists, in which it does not occur.
    fn define(&mut self, list: Term, word: Word) {
        let store = self.store;
        let mut known: Vec<Term> = self.definitions.keys().copied().collect();
        known.sort_unstable();
        let equation = store.eq(list, self.term(&word));
        self.definitions.insert(list, word);
        for other in known {
            let old = self.definitions[&other].clone();
            let mut new = Reduced { word: old.clone(), premises: Vec::new() };
            self.expand(&mut new);
            if new.word == old {
                continue;
            }
            let before = store.eq(other, self.term(&old));
            self.add(&[equation, before], store.eq(other, self.term(&new.word)));
            self.definitions.insert(other, new.word);
        }
    }

    /// Takes an equation that cannot be solved as a rule from the greater to the smaller word, also for their reversals.
    fn orient(&mut self, left: Term, right: Term) {
        let store = self.store;
        let (Some(a), Some(b)) = (self.reduced(left), self.reduced(right)) else { return };
        let mut premises = vec![store.eq(left, right)];
        premises.extend(a.premises.into_iter().chain(b.premises));
        let (a, b) = self.cancel(&premises, a.word, b.word);
        for (a, b) in [(reversed(&a), reversed(&b)), (a, b)] {
            let (greater, smaller) = if (a.len(), &a) > (b.len(), &b) { (a, b) } else { (b, a) };
            if greater != smaller && !greater.is_empty() {
                self.add(&premises, store.eq(self.term(&greater), self.term(&smaller)));
                self.rules.push((greater, smaller));
            }
        }
    }

    /// Adds the normal form of a term.
    fn describe(&mut self, term: Term) {
        let store = self.store;
        let Some(Reduced { mut word, mut premises }) = self.reduced(term) else { return };
        for _ in 0..MOST_REPLACEMENTS {
            let position =
                |greater: &Word| word.windows(greater.len()).position(|factor| factor == &greater[..]);
            let replacement =
                self.rules.iter().find_map(|rule| position(&rule.0).map(|position| (position, rule)));
            let Some((position, (greater, smaller))) = replacement else { break };
            premises.push(store.eq(self.term(greater), self.term(smaller)));
            word.splice(position..position + greater.len(), smaller.iter().copied());
        }
        let normal = self.term(&word);
        if normal != term {
            self.add(&premises, store.eq(term, normal));
        }
    }

    /// The word of a term over lists that are not defined; `None` if it is too long.
    fn reduced(&self, term: Term) -> Option<Reduced> {
        let mut reduced = Reduced { word: self.store.word(term)?, premises: Vec::new() };
        self.expand(&mut reduced);
        (reduced.word.len() <= MOST_PARTS).then_some(reduced)
    }

    /// Replaces defined lists by their words.
    fn expand(&self, reduced: &mut Reduced) {
        let mut word = Word::with_capacity(reduced.word.len());
        for &part in &reduced.word {
            match part {
                Part::List(list, is_reversed) if self.definitions.contains_key(&list) => {
                    let definition = &self.definitions[&list];
                    reduced.premises.push(self.store.eq(list, self.term(definition)));
                    if is_reversed {
                        word.extend(reversed(definition));
                    } else {
                        word.extend_from_slice(definition);
                    }
                }
                _ => word.push(part),
            }
        }
        reduced.word = word;
    }
}

/// Whether the first word is shorter than the second for all values of the lists: all its lists are in the second word, which
/// has more letters.
fn is_shorter(first: &[Part], second: &[Part]) -> bool {
    let letters = |word: &[Part]| word.iter().filter(|part| matches!(part, Part::Letter(_))).count();
    let lists = |word: &[Part]| {
        let list = |part: &Part| match part {
            Part::List(list, _) => Some(*list),
            Part::Letter(_) => None,
        };
        let mut lists: Vec<Term> = word.iter().filter_map(list).collect();
        lists.sort_unstable();
        lists
    };
    let mut rest = lists(second).into_iter();
    letters(first) < letters(second)
        && lists(first).into_iter().all(|list| rest.by_ref().any(|other| other == list))
}
