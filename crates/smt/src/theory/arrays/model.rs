//! Values of arrays in a model.
//!
//! The values of indices and elements come first; `smt/src/model.rs` provides them. A new element is a value that
//! nothing else has.

use shofar_logic::{Sort, TermStore, Value};

use super::Solution;
use super::part::{Element, Index};
use super::sorts::{Indices, indices};
use crate::theory::euf::Node;

/// The values of other sorts, and those of arrays within arrays.
pub(crate) trait Parts {
    /// The value of a node, as a value of the sort.
    fn part(&mut self, node: Node, sort: Sort) -> Value;

    /// The new value of the sort with this number, made when it is first asked for. The numbers of a sort of arrays are
    /// its own.
    fn new_value(&mut self, arrays: Sort, number: u32, sort: Sort) -> Value;
}

impl Solution {
    /// Whether the array matters.
    pub(crate) fn has(&self, root: Node) -> bool {
        self.numbers.contains_key(&root)
    }

    /// The value of an array that matters, given the root of its class.
    pub(crate) fn value<P: Parts>(&self, store: &TermStore, root: Node, parts: &mut P) -> Value {
        let (place, _) = self.numbers[&root];
        let part = &self.parts[place as usize];
        let table = part.table(root);
        let (index, element) = store.array_parts(part.sort).expect("it is a sort of arrays");
        let known = match indices(store, part.sort) {
            Some(Indices::Known(values)) => values,
            _ => Vec::new(),
        };
        let value_of = |it: Element, parts: &mut P| match it {
            Element::Of(node) => parts.part(node, element),
            Element::New(number) => parts.new_value(part.sort, number, element),
            Element::Any => store.default_value(element),
        };
        let default = value_of(table.default, parts);
        let mut entries: Vec<(Value, Value)> = Vec::with_capacity(table.entries.len());
        for (at, it) in table.entries {
            let at = match at {
                Index::Of(node) => parts.part(node, index),
                Index::Known(position) => store.term_to_value(known[position]).expect("they are values"),
            };
            entries.push((at, value_of(it, parts)));
        }
        store.array_value(part.sort, &default, entries)
    }
}
