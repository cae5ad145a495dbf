//! Represents enumerations by truth values and numbers.
//!
//! | before | after |
//! |---|---|
//! | `P(x)`, where `x` is `yes` or `no`; `x = yes` | `P(x)`, where `x` is a truth value; `x` |
//! | `c = green => Q(c)`, where `c` is `red`, `green` or `blue`; `c != blue` | `c = 1 and 0 <= c <= 2 => Q(c)`; `c != 2` |
//!
//! An *enumeration* is a datatype with at least two constructors, all without fields. A value becomes the tag of its
//! constructor: a truth value if there are two, and otherwise a number from zero on. Engines for arithmetic then solve
//! clauses without other datatypes. Each label says that its numbers are in range, also those of the head, so the facts
//! of both graphs correspond one-to-one.
//!
//! Enumerations in the fields of lists and in arrays stay: where a number is put there, it is packed,
//! `(ite (= c 0) red (ite (= c 1) green blue))`, and what is read from there is unpacked by testers. Numbers instead would
//! have to be in range in all elements, which no formula without quantifiers says; and unlike Peano numbers (`peano.rs`),
//! enumerations have no values left for elements out of range.
//!
//! `fields.rs` represents enumerations, `resort.rs` rewrites the graph and translates lemmas and witnesses. The way back
//! needs no recursion: a number is unpacked from its variable by testers.

use shofar_logic::ConstructorId;

use super::fields::Fields;
use super::resort::resort;
use super::sorts::Sorts;
use crate::Context;
use crate::graph::HornGraph;
use crate::transform::{Transformation, Transformed};

/// Represents enumerations by truth values and numbers.
#[derive(Clone, Copy, Default, Debug)]
pub struct Enumerations;

impl Transformation for Enumerations {
    fn name(&self) -> &'static str {
        "enumerations"
    }

    fn apply(&self, context: &Context<'_>, graph: &HornGraph) -> Option<Transformed> {
        let store = context.store;
        if !store.has_datatypes() {
            return None;
        }
        let is_constant = |&id: &ConstructorId| store.constructor(id).fields.is_empty();
        let is_enumeration =
            |constructors: &[ConstructorId]| constructors.len() >= 2 && constructors.iter().all(is_constant);
        let enumerations = Fields::new(store, &Sorts::of(store, graph), is_enumeration, false);
        if enumerations.is_empty() { None } else { resort(context, graph, enumerations) }
    }
}
