//! Replaces values of several constructors by a tag and their fields.
//!
//! | before | after |
//! |---|---|
//! | `P(none)`; `P(some(1))`; `P(x) and is-some(x) and value(x) < 0 => false` | `P(true, 0)`; `P(false, 1)`; `P(t, v) and not t and v < 0 => false` |
//!
//! This applies to all datatypes that are not recursive, if one of them has several constructors and a field. The
//! arguments are the tag and the fields of all constructors; fields that a value does not have are a default value of
//! their sort, so that each value has one form. A selector on a value of another constructor may have any value. Models
//! of the new clauses hold for all of them. A refutation that needs a certain one proves nothing; the checker sees that.
//!
//! `fields.rs` represents the values, `resort.rs` rewrites the graph and translates lemmas and witnesses.

use super::fields::Fields;
use super::resort::resort;
use super::sorts::Sorts;
use crate::Context;
use crate::graph::HornGraph;
use crate::transform::{Transformation, Transformed};

/// Replaces values of several constructors by a tag and their fields.
#[derive(Clone, Copy, Default, Debug)]
pub struct Tagged;

impl Transformation for Tagged {
    fn name(&self) -> &'static str {
        "tagged"
    }

    fn apply(&self, context: &Context<'_>, graph: &HornGraph) -> Option<Transformed> {
        let store = context.store;
        if !store.has_datatypes() {
            return None;
        }
        let sorts = Sorts::of(store, graph);
        let is_sum = |sort| {
            let constructors = store.datatype(sort).map_or(&[][..], |datatype| datatype.constructors());
            let has_fields = |&constructor| !store.constructor(constructor).fields.is_empty();
            constructors.len() > 1 && constructors.iter().any(has_fields)
        };
        if !sorts.iter().any(|sort| is_sum(sort) && !sorts.is_recursive(sort)) {
            return None;
        }
        let fields = |with_arrays| Fields::new(store, &sorts, |_| true, with_arrays);
        resort(context, graph, fields(true)).or_else(|| resort(context, graph, fields(false)))
    }
}
