//! Slicing: a model with fewer components and keys.
//!
//! A stage takes many components at once, and a model mentions all of them. Here one after the other is given up, as long as the
//! hulls of the rest still exclude the queries. What is left is a short certificate: a list is as long as its reverse.
//!
//! ```text
//! give up all keys at once; otherwise those of one predicate after the other
//! give up orders, then inequalities, then one component after the other
//! ```
//!
//! Each attempt describes all facts anew, so each result is a model as good as the first. The time is limited.

use shofar_horn::{Context, HornGraph};
use shofar_logic::Sort;

use super::{Found, Plan, describe};

/// The descriptions of a plan with fewer components and keys that still exclude the queries.
pub(super) fn slice(
    context: Context<'_>,
    graph: &HornGraph,
    sorts: &[Sort],
    plan: Plan,
    found: Found,
) -> Found {
    let mut slicing = Slicing { context, graph, sorts, plan, found };
    let nodes = graph.nodes().len();
    if !slicing.is_enough(Plan { whole: vec![true; nodes], ..slicing.plan.clone() }) {
        for node in 0..nodes {
            let mut smaller = slicing.plan.clone();
            smaller.whole[node] = true;
            slicing.is_enough(smaller);
        }
    }
    if slicing.plan.orders {
        slicing.is_enough(Plan { orders: false, ..slicing.plan.clone() });
    }
    if slicing.plan.inequalities {
        slicing.is_enough(Plan { inequalities: false, ..slicing.plan.clone() });
    }
    for function in (0..slicing.plan.algebra.functions()).rev() {
        let algebra = slicing.plan.algebra.without(function);
        slicing.is_enough(Plan { algebra, ..slicing.plan.clone() });
    }
    slicing.found
}

struct Slicing<'a> {
    context: Context<'a>,
    graph: &'a HornGraph,
    sorts: &'a [Sort],
    /// The smallest plan so far, and its descriptions.
    plan: Plan,
    found: Found,
}

impl Slicing<'_> {
    /// Whether a smaller plan suffices; then it is the plan from now on.
    fn is_enough(&mut self, smaller: Plan) -> bool {
        if self.context.interrupted().is_some() {
            return false;
        }
        match describe(self.context, self.graph, self.sorts, &smaller) {
            Ok(Some(found)) => {
                (self.plan, self.found) = (smaller, found);
                true
            }
            Ok(None) | Err(_) => false,
        }
    }
}
