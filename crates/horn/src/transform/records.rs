//! Replaces records by their fields.
//!
//! | before | after |
//! |---|---|
//! | `P(pair(1, b))`; `P(x) and first(x) < 0 => false` | `P(1, b)`; `P(a, b) and a < 0 => false` |
//!
//! A record is a datatype with one constructor that is not recursive. Its fields may be records, too; a record without
//! fields vanishes. An array of records becomes one array for each field, unless something other than reads and writes
//! is done with it, such as storing it in a list. Lists of records and arrays indexed by records stay, and take the
//! record made again from its fields.
//!
//! `fields.rs` represents records, `resort.rs` rewrites the graph and translates lemmas and witnesses.

use super::fields::Fields;
use super::resort::resort;
use super::sorts::Sorts;
use crate::Context;
use crate::graph::HornGraph;
use crate::transform::{Transformation, Transformed};

/// Replaces records by their fields.
#[derive(Clone, Copy, Default, Debug)]
pub struct Records;

impl Transformation for Records {
    fn name(&self) -> &'static str {
        "records"
    }

    fn apply(&self, context: &Context<'_>, graph: &HornGraph) -> Option<Transformed> {
        if !context.store.has_datatypes() {
            return None;
        }
        let sorts = Sorts::of(context.store, graph);
        let records = |with_arrays| {
            Fields::new(context.store, &sorts, |constructors| constructors.len() == 1, with_arrays)
        };
        let with_arrays = records(true);
        if with_arrays.is_empty() {
            return None;
        }
        resort(context, graph, with_arrays).or_else(|| resort(context, graph, records(false)))
    }
}
