//! Lists: datatypes whose values are finite sequences, whatever their names.
//!
//! A datatype is a *list* if it has two constructors, in any order: a constant, and one with exactly one field of the
//! datatype itself and at least one other field. The constant is the empty list. The recursive field is the tail, in any
//! position, and the other fields are the element: `nil | cons(head, tail)`, `end | entry(key, rest, value)`. Without
//! other fields the datatype is one of [Peano numbers](crate::Peano).

use crate::op::Op;
use crate::sort::{ConstructorId, Sort};
use crate::term::{Term, TermStore};

/// The constructors of a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct List {
    /// The constant.
    pub empty: ConstructorId,
    /// The constructor with an element and a tail.
    pub cell: ConstructorId,
    /// The position of the tail among the fields of the cell.
    pub tail: usize,
}

impl TermStore {
    /// The constructors, if this datatype is a list.
    pub fn list(&self, sort: Sort) -> Option<List> {
        let &[a, b] = self.datatype(sort)?.constructors() else { return None };
        let fields = |id: ConstructorId| &*self.constructor(id).fields;
        let (empty, cell) = match (fields(a), fields(b)) {
            ([], _) => (a, b),
            (_, []) => (b, a),
            _ => return None,
        };
        let mut tails = (0..fields(cell).len()).filter(|&position| fields(cell)[position].1 == sort);
        let tail = tails.next().filter(|_| fields(cell).len() > 1)?;
        tails.next().is_none().then_some(List { empty, cell, tail })
    }
}

impl List {
    /// The tail of a term that applies the cell; `None` for other terms.
    pub fn tail(&self, store: &TermStore, term: Term) -> Option<Term> {
        match store.view(term) {
            (Op::Construct(constructor), fields) if constructor == self.cell => Some(fields[self.tail]),
            _ => None,
        }
    }

    /// The fields of a cell's element: all but the tail.
    pub fn element<'s>(&self, store: &'s TermStore, cell: Term) -> impl Iterator<Item = Term> + use<'s> {
        let tail = self.tail;
        let fields = store.args(cell).iter().enumerate();
        fields.filter(move |&(position, _)| position != tail).map(|(_, &field)| field)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::smtlib::{Environment, Reader};

    #[test]
    fn lists_have_a_constant_and_a_cell_with_one_tail() {
        let store = TermStore::new();
        let mut environment = Environment::new(&store);
        let script =
            b"(declare-datatypes ((L 0) (Ends 0) (Nat 0) (Tree 0) (Two 0) (Option 0) (Rose 0) (Roses 0))
            (((nil) (cons (head Int) (tail L)))
             ((entry (key Int) (rest Ends) (value Bool)) (end))
             ((zero) (succ (pred Nat)))
             ((leaf) (node (left Tree) (label Int) (right Tree)))
             ((none) (one (a Int) (b Two)) (two (c Int) (d Two)))
             ((nothing) (just (it Int)))
             ((rose (name Int) (below Roses)))
             ((bare) (more (first Rose) (others Roses)))))";
        let mut reader = Reader::new(&store, &mut environment, script);
        let command = reader.command().unwrap().unwrap();
        reader.declaration(command).unwrap();
        let mut tail = |name: &str| {
            let sort = Reader::new(&store, &mut environment, name.as_bytes()).sort().unwrap();
            store.list(sort).map(|list| list.tail)
        };
        assert_eq!((tail("L"), tail("Ends"), tail("Roses")), (Some(1), Some(1), Some(1)));
        for other in ["Nat", "Tree", "Two", "Option", "Rose"] {
            assert_eq!(tail(other), None, "{other}");
        }
    }
}
