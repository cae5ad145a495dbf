//! The meanings of arrays (M18).

use std::rc::Rc;

use shofar_logic::{Op, Sort};

use super::{Id, Meaning, Meanings, Node, Truth};

/// The greatest number of writes that a write skips.
const MAX_PASSED: usize = 16;

/// The result of a read.
enum Read {
    /// The element.
    Element(Meaning),
    /// An array with the same element at the index, which is not known.
    Array(Id),
}

impl Meanings<'_> {
    /// The element of an array at an index, of the sort.
    pub(super) fn element(&mut self, array: Id, index: &Meaning, sort: Sort) -> Meaning {
        match self.read(array, index, usize::MAX) {
            Read::Element(element) => element,
            Read::Array(array) => self.opaque(Op::Select, sort, vec![Meaning::Thing(array), index.clone()]),
        }
    }

    /// The array, of the sort, with another element at an index.
    pub(super) fn written(
        &mut self,
        mut array: Id,
        index: &Meaning,
        element: &Meaning,
        sort: Sort,
    ) -> Meaning {
        loop {
            let is_there = match self.read(array, index, MAX_PASSED) {
                Read::Element(present) => present == *element,
                Read::Array(base) => self.is_read(element, base, index),
            };
            if is_there {
                return Meaning::Thing(array);
            }
            let mut base = array;
            while let Some((below, overwritten, _)) = self.write(base)
                && overwritten == *index
            {
                base = below;
            }
            if base == array {
                break;
            }
            array = base;
        }
        self.opaque(Op::Store, sort, vec![Meaning::Thing(array), index.clone(), element.clone()])
    }

    /// The element of a constant array.
    pub(super) fn constant_element(&self, array: Id) -> Option<Meaning> {
        match &**self.node(array) {
            Node::Apply(Op::ConstArray(_), _, args) => Some(args[0].clone()),
            _ => None,
        }
    }

    /// The array before a write, the index, and the element.
    fn write(&self, array: Id) -> Option<(Id, Meaning, Meaning)> {
        match &**self.node(array) {
            Node::Apply(Op::Store, _, args) => match &args[..] {
                [Meaning::Thing(before), index, element] => Some((*before, index.clone(), element.clone())),
                _ => None,
            },
            _ => None,
        }
    }

    /// Searches the element at an index below at most `limit` writes.
    fn read(&self, mut array: Id, index: &Meaning, limit: usize) -> Read {
        for _ in 0..limit {
            if let Some(element) = self.constant_element(array) {
                return Read::Element(element);
            }
            match self.write(array) {
                Some((_, written, element)) if written == *index => return Read::Element(element),
                Some((before, written, _)) if self.differ(&written, index) => array = before,
                _ => break,
            }
        }
        Read::Array(array)
    }

    /// Whether the element is a read of the array at the index.
    fn is_read(&self, element: &Meaning, array: Id, index: &Meaning) -> bool {
        let node = match element {
            Meaning::Truth(Truth { node, negated: false }) | Meaning::Thing(node) => *node,
            Meaning::Truth(_) => return false,
            Meaning::Number(sum) => match sum.terms() {
                [(node, factor)] if factor.is_one() && sum.constant().is_zero() => *node,
                _ => return false,
            },
        };
        match &**self.node(node) {
            Node::Apply(Op::Select, _, args) => args[0] == Meaning::Thing(array) && args[1] == *index,
            _ => false,
        }
    }

    /// Whether two indices have different values in all interpretations, by a cheap check.
    fn differ(&self, a: &Meaning, b: &Meaning) -> bool {
        match (a, b) {
            (Meaning::Truth(a), Meaning::Truth(b)) => *a == !*b,
            (Meaning::Number(a), Meaning::Number(b)) => {
                !Rc::ptr_eq(a, b) && a.terms() == b.terms() && a.constant() != b.constant()
            }
            (Meaning::Thing(a), Meaning::Thing(b)) => match (self.made(*a), self.made(*b)) {
                (Some((a, _)), Some((b, _))) => a != b,
                _ => false,
            },
            _ => false,
        }
    }
}
