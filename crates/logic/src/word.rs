//! Words: lists as elements of a free monoid.
//!
//! A [list](crate::List) is a finite sequence, so lists with concatenation are the free monoid over the elements of their
//! cells. Two [folds](crate::Fold) are its operations, for cells `cons(h, t)` and the empty list `nil`:
//!
//! ```text
//! append(nil, y) = y                  append(cons(h, t), y) = cons(h, append(t, y))
//! reverse(nil) = nil                  reverse(cons(h, t)) = append(reverse(t), cons(h, nil))
//! ```
//!
//! A term over cells, `nil` and these folds denotes a *word*: a sequence of letters, which are elements, and of lists that
//! the term leaves open, each as it is or reversed. [`TermStore::word`] computes it by the laws of the monoid:
//! concatenation is associative with unit `nil`, and reversal is an involution with `reverse(append(x, y)) =
//! append(reverse(y), reverse(x))`. So a term and the term of its word are equal for all values of the open lists.
//!
//! - W1: open lists are terms that are none of these operations.
//! - W2: two terms are equal by the laws of the monoid with reversal if and only if their words are equal, except that lists
//!   with the elements of one cell, or none, are their own reversals.

use crate::fold::{FoldCase, FoldSpec};
use crate::list::List;
use crate::op::Op;
use crate::sort::{ConstructorId, Fun, Sort};
use crate::term::{Term, TermStore};

/// The steps of computing one word. A term may share subterms, so that its word is exponentially longer.
const MOST_STEPS: usize = 10_000;

/// The operations of the free monoid of a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ListFunctions {
    /// Concatenation of the argument with a ghost.
    pub append: Fun,
    /// Reversal.
    pub reverse: Fun,
}

/// A part of a word.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Part {
    /// A letter: the term of a list with one cell.
    Letter(Term),
    /// An open list, and whether it is reversed.
    List(Term, bool),
}

impl Part {
    fn reversed(self) -> Part {
        match self {
            Part::Letter(_) => self,
            Part::List(list, is_reversed) => Part::List(list, !is_reversed),
        }
    }
}

/// The word of a term.
pub type Word = Vec<Part>;

impl TermStore {
    /// The operations of a datatype that is a list.
    pub fn list_functions(&self, sort: Sort) -> Option<ListFunctions> {
        let list = self.list(sort)?;
        if let Some((_, &(_, functions))) = self.list_functions.iter().find(|&(_, &(of, _))| of == sort) {
            return Some(functions);
        }
        let ghost = self.var(self.symbol("ghost"), sort);
        let sorts = self.constructor(list.cell).fields.iter().enumerate();
        let fields: Box<[Term]> =
            sorts.map(|(at, &(_, sort))| self.var(self.symbol(&format!("field{at}")), sort)).collect();
        let empty = self.construct_term(list.empty, &[]);
        let cell = |tail: Term| {
            let mut arguments = fields.clone();
            arguments[list.tail] = tail;
            self.construct_term(list.cell, &arguments)
        };
        let cases = |of_empty: Term, of_cell: Term| -> Vec<FoldCase> {
            let case = |&constructor: &ConstructorId| match constructor == list.empty {
                true => FoldCase { constructor, fields: [].into(), value: of_empty },
                false => FoldCase { constructor, fields: fields.clone(), value: of_cell },
            };
            let constructors = self.datatype(sort).map_or(&[][..], |datatype| datatype.constructors());
            constructors.iter().map(case).collect()
        };
        let apply = |fun: Fun, arguments: &[Term]| self.apply(fun, arguments).expect("the sorts fit");
        let define = |fun: Fun, ghosts: Vec<Term>, cases: Vec<FoldCase>| {
            // Equal families are one family, so two threads get one function.
            self.define_folds(&[FoldSpec { fun, ghosts, cases }]).expect("the recursion is structural")[0]
        };
        let tail = fields[list.tail];
        let append = self.new_fold(self.fresh_symbol("append"), sort, &[sort], sort);
        let append = define(append, vec![ghost], cases(ghost, cell(apply(append, &[tail, ghost]))));
        let reverse = self.new_fold(self.fresh_symbol("reverse"), sort, &[], sort);
        let last = apply(append, &[apply(reverse, &[tail]), cell(empty)]);
        let reverse = define(reverse, Vec::new(), cases(empty, last));
        let functions = ListFunctions { append, reverse };
        self.list_functions.push((sort, functions));
        Some(functions)
    }

    /// The datatype, if this is one of the operations of its lists.
    pub fn list_function_sort(&self, fun: Fun) -> Option<Sort> {
        let sort = self.fold(fun)?.sort(self);
        let ListFunctions { append, reverse } = self.list_functions(sort)?;
        (fun == append || fun == reverse).then_some(sort)
    }

    /// The word of a term; `None` if its sort is not a list, or if the word is too long.
    pub fn word(&self, term: Term) -> Option<Word> {
        enum Open {
            Term(Term, bool),
            Letter(Term),
        }
        let sort = self.sort_of(term);
        let List { empty, cell, tail } = self.list(sort)?;
        let ListFunctions { append, reverse } = self.list_functions(sort)?;
        let mut word = Word::new();
        let mut open = vec![Open::Term(term, false)];
        for _ in 0..MOST_STEPS {
            let (term, is_reversed) = match open.pop() {
                None => return Some(word),
                Some(Open::Letter(letter)) => {
                    word.push(Part::Letter(letter));
                    continue;
                }
                Some(Open::Term(term, is_reversed)) => (term, is_reversed),
            };
            match self.view(term) {
                (Op::Construct(constructor), _) if constructor == empty => {}
                (Op::Construct(constructor), fields) if constructor == cell => {
                    let mut letter = fields.to_vec();
                    letter[tail] = self.construct_term(empty, &[]);
                    let letter = Open::Letter(self.construct_term(cell, &letter));
                    let rest = Open::Term(fields[tail], is_reversed);
                    open.extend(if is_reversed { [letter, rest] } else { [rest, letter] });
                }
                (Op::Apply(fun), &[first, second]) if fun == append => {
                    let parts = [Open::Term(second, is_reversed), Open::Term(first, is_reversed)];
                    open.extend(parts);
                    if is_reversed {
                        let length = open.len();
                        open.swap(length - 2, length - 1);
                    }
                }
                (Op::Apply(fun), &[list]) if fun == reverse => open.push(Open::Term(list, !is_reversed)),
                _ => word.push(Part::List(term, is_reversed)),
            }
        }
        None
    }

    /// The term of a word: cells and concatenations that associate to the right.
    ///
    /// # Panics
    /// If the sort is not a list, or if a part has another sort.
    pub fn word_term(&self, sort: Sort, word: &[Part]) -> Term {
        let List { empty, cell, tail } = self.list(sort).expect("words are lists");
        let ListFunctions { append, reverse } = self.list_functions(sort).expect("words are lists");
        let empty = self.construct_term(empty, &[]);
        let apply = |fun: Fun, arguments: &[Term]| self.apply(fun, arguments).expect("parts have the sort");
        word.iter().rev().fold(empty, |rest, &part| match part {
            Part::Letter(letter) => {
                let mut fields = self.args(letter).to_vec();
                fields[tail] = rest;
                self.construct_term(cell, &fields)
            }
            Part::List(list, is_reversed) => {
                let list = if is_reversed { apply(reverse, &[list]) } else { list };
                if rest == empty { list } else { apply(append, &[list, rest]) }
            }
        })
    }
}

/// The reversal of a word.
pub fn reversed(word: &[Part]) -> Word {
    word.iter().rev().map(|part| part.reversed()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::smtlib::{Environment, Reader};

    /// Lists of integers with the cell before the empty list, and the tail before the head.
    fn list(store: &TermStore) -> Sort {
        let mut environment = Environment::new(store);
        let script = b"(declare-datatypes ((L 0)) (((snoc (front L) (last Int)) (lin))))";
        let mut reader = Reader::new(store, &mut environment, script);
        let command = reader.command().unwrap().unwrap();
        reader.declaration(command).unwrap();
        Reader::new(store, &mut environment, b"L").sort().unwrap()
    }

    #[test]
    fn the_laws_of_the_monoid_are_equalities_of_words() {
        let store = TermStore::new();
        let sort = list(&store);
        let ListFunctions { append, reverse } = store.list_functions(sort).unwrap();
        assert_eq!(store.list_functions(sort), Some(ListFunctions { append, reverse }));
        assert_eq!(store.list_function_sort(reverse), Some(sort));
        let List { empty, cell, .. } = store.list(sort).unwrap();
        let nil = store.construct_term(empty, &[]);
        let [x, y, z] = ["x", "y", "z"].map(|name| store.var(store.symbol(name), sort));
        let h = store.var(store.symbol("h"), Sort::INT);
        let app = |a, b| store.apply(append, &[a, b]).unwrap();
        let rev = |a| store.apply(reverse, &[a]).unwrap();
        let cons = |a, b| store.construct_term(cell, &[b, a]);
        let equal = |a, b| store.word(a).unwrap() == store.word(b).unwrap();
        assert!(equal(app(app(x, y), z), app(x, app(y, z))));
        assert!(equal(app(x, nil), x) && equal(app(nil, x), x));
        assert!(equal(rev(rev(x)), x));
        assert!(equal(rev(app(x, y)), app(rev(y), rev(x))));
        assert!(equal(rev(cons(h, x)), app(rev(x), cons(h, nil))));
        assert!(!equal(app(x, y), app(y, x)) && !equal(rev(x), x));
        let word = store.word(rev(cons(h, app(rev(x), y)))).unwrap();
        assert_eq!(word, [Part::List(y, true), Part::List(x, false), Part::Letter(cons(h, nil))]);
        assert_eq!(store.word_term(sort, &word), app(rev(y), app(x, cons(h, nil))));
        assert_eq!(reversed(&reversed(&word)), word);
    }

    #[test]
    fn words_that_are_too_long_are_not_computed() {
        let store = TermStore::new();
        let sort = list(&store);
        let ListFunctions { append, .. } = store.list_functions(sort).unwrap();
        let mut term = store.var(store.symbol("x"), sort);
        for _ in 0..60 {
            term = store.apply(append, &[term, term]).unwrap();
        }
        assert_eq!(store.word(term), None);
        assert_eq!(store.word(store.int(1)), None);
    }
}
