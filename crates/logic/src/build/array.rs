//! Arrays in normal form (N14 of [`build`](super)).
//!
//! A read skips the writes below it as long as their indices are known to differ from its own. A write searches its own
//! element in the same way, but not far: otherwise long chains of writes would take quadratic time to build.

use crate::op::Op;
use crate::sort::Sort;
use crate::term::{Term, TermStore};

/// The greatest number of writes that a write skips.
const MAX_PASSED: usize = 16;

/// The result of a read.
enum Read {
    /// The element.
    Element(Term),
    /// An array with the same element at the index, which is not known.
    Array(Term),
}

impl TermStore {
    /// The element of an array at an index.
    pub fn select(&self, array: Term, index: Term) -> Term {
        match self.read(array, index, usize::MAX) {
            Read::Element(element) => element,
            Read::Array(array) => self.raw(Op::Select, &[array, index]),
        }
    }

    /// The array with another element at an index.
    pub fn store_array(&self, array: Term, index: Term, element: Term) -> Term {
        let known = match self.read(array, index, MAX_PASSED) {
            Read::Element(present) => present == element,
            Read::Array(base) => self.view(element) == (Op::Select, &[base, index]),
        };
        if known {
            return array;
        }
        let mut base = array;
        while let (Op::Store, &[below, overwritten, _]) = self.view(base)
            && overwritten == index
        {
            base = below;
        }
        if base != array {
            self.store_array(base, index, element)
        } else {
            self.raw(Op::Store, &[array, index, element])
        }
    }

    /// The array of a sort whose elements are all the same.
    pub fn const_array(&self, sort: Sort, element: Term) -> Term {
        self.raw(Op::ConstArray(sort), &[element])
    }

    /// Searches the element at an index below at most `limit` writes.
    fn read(&self, mut array: Term, index: Term, limit: usize) -> Read {
        for _ in 0..limit {
            match self.view(array) {
                (Op::ConstArray(_), &[element]) => return Read::Element(element),
                (Op::Store, &[_, written, element]) if written == index => return Read::Element(element),
                (Op::Store, &[below, written, _]) if self.differ(written, index) => array = below,
                _ => break,
            }
        }
        Read::Array(array)
    }

    /// Whether two terms of one sort are known to have different values, by a cheap check.
    fn differ(&self, a: Term, b: Term) -> bool {
        match (self.op(a), self.op(b)) {
            _ if a == b => false,
            (Op::Numeral(_), Op::Numeral(_)) => true,
            _ if self.sort_of(a).is_arithmetic() => {
                let ((a, c), (b, d)) = (self.split_constant(&a), self.split_constant(&b));
                a == b && c != d
            }
            (Op::BvNumeral(_), Op::BvNumeral(_)) => true,
            (Op::True | Op::False, Op::True | Op::False) => true,
            (Op::Construct(c), Op::Construct(d)) => c != d,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbols(store: &TermStore) -> (Sort, [Term; 2], [Term; 4]) {
        let sort = store.array_sort(Sort::INT, Sort::INT);
        let arrays = ["a", "b"].map(|name| store.var(store.symbol(name), sort));
        (sort, arrays, ["i", "j", "v", "w"].map(|name| store.var(store.symbol(name), Sort::INT)))
    }

    #[test]
    fn reads_look_through_writes_elsewhere() {
        let store = TermStore::new();
        let (_, [a, _], [i, j, v, w]) = symbols(&store);
        let next = store.add(&[i, store.int(1)]);
        let written = store.store_array(store.store_array(a, i, v), next, w);
        assert_eq!(store.select(written, i), v);
        assert_eq!(store.select(written, next), w);
        let after = store.add(&[i, store.int(2)]);
        assert_eq!(store.select(written, after), store.select(a, after));
        assert_eq!(store.select(written, j), store.raw(Op::Select, &[written, j]));
        let constant = store.store_array(a, store.int(1), v);
        assert_eq!(store.select(constant, store.int(2)), store.select(a, store.int(2)));
        assert_eq!(store.select(constant, i), store.raw(Op::Select, &[constant, i]));
    }

    #[test]
    fn constant_arrays_have_one_element() {
        let store = TermStore::new();
        let (sort, _, [i, _, v, w]) = symbols(&store);
        let constant = store.const_array(sort, v);
        assert_eq!(store.select(constant, i), v);
        assert_eq!(store.store_array(constant, i, v), constant);
        assert_eq!(store.eq(constant, store.const_array(sort, w)), store.eq(v, w));
    }

    #[test]
    fn the_last_write_counts() {
        let store = TermStore::new();
        let (_, [a, _], [i, j, v, w]) = symbols(&store);
        let once = store.store_array(a, i, w);
        assert_eq!(store.store_array(store.store_array(a, i, v), i, w), once);
        assert_eq!(store.store_array(once, i, w), once);
        assert_eq!(store.store_array(a, i, store.select(a, i)), a);
        assert_eq!(store.store_array(once, i, store.select(a, i)), a);
        assert_ne!(store.store_array(once, j, store.select(a, j)), once);
    }

    #[test]
    fn arrays_are_equal_to_themselves() {
        let store = TermStore::new();
        let (_, [a, b], _) = symbols(&store);
        assert_eq!(store.eq(a, a), Term::TRUE);
        assert_eq!(store.eq(b, a), store.raw(Op::Eq, &[a, b]));
    }
}
