//! Predicates that are functions: all other arguments determine one, the *output*.
//!
//! Position `j` of `P` is an output if `P(x, y)` and `P(x, z)` imply `y = z`, where `y` and `z` are the `j`-th arguments. All
//! positions are assumed to be outputs, and refuted ones are removed until each of those that are left follows from all of
//! them:
//!
//! ```text
//! for all clauses C, D of P:  head(C) = P(x, y), head(D) = P(x, z), the constraints of C and D, and
//!                             equal inputs give equal outputs for any two atoms of their bodies  imply  y = z
//! ```
//!
//! This is an induction over the greater height of two derivations: those of the premises are lower.

use std::collections::BTreeSet;

use shofar_horn::HornGraph;
use shofar_horn::graph::NodeId;
use shofar_logic::{Term, TermStore};
use shofar_run::{Limits, Reason, Stop};
use shofar_smt::sat::Outcome;

use crate::Run;
use crate::rule::Rule;
use crate::unroll::fresh_vector;

/// The conflict limit of a query.
const CONFLICTS: u64 = 200;

/// Predicates with more clauses are not considered.
const MOST_RULES: usize = 12;

/// Predicates with more arguments are not considered.
const MOST_ARGUMENTS: usize = 8;

/// The outputs of each node. The rules are indexed by node.
pub(crate) fn outputs(
    run: &Run<'_>,
    graph: &HornGraph,
    rules: &[Vec<Rule>],
) -> Result<Vec<Vec<usize>>, Stop> {
    let mut outputs: Vec<Vec<usize>> = graph
        .nodes()
        .map(|(id, node)| {
            let is_small = node.arity() <= MOST_ARGUMENTS && rules[id.index()].len() <= MOST_RULES;
            if is_small { (0..node.arity()).collect() } else { Vec::new() }
        })
        .collect();
    loop {
        let mut has_changed = false;
        for (id, _) in graph.nodes() {
            for output in outputs[id.index()].clone() {
                run.go_on()?;
                if !follows(run, graph, rules, &outputs, id, output)? {
                    outputs[id.index()].retain(|&other| other != output);
                    has_changed = true;
                }
            }
        }
        if !has_changed {
            return Ok(outputs);
        }
    }
}

/// Outputs among which the used ones are, and whose proofs need no others; as few as is easy to see.
pub(crate) fn outputs_for(
    run: &Run<'_>,
    graph: &HornGraph,
    rules: &[Vec<Rule>],
    outputs: &[Vec<usize>],
    used: BTreeSet<(NodeId, usize)>,
) -> Result<BTreeSet<(NodeId, usize)>, Stop> {
    let mut needed = used;
    loop {
        let mut assumed: Vec<Vec<usize>> = vec![Vec::new(); outputs.len()];
        needed.iter().for_each(|&(node, output)| assumed[node.index()].push(output));
        let mut more = needed.clone();
        for &(node, output) in &needed {
            run.go_on()?;
            if !follows(run, graph, rules, &assumed, node, output)? {
                let below = graph.edges().filter(|(_, edge)| edge.target() == Some(node));
                for &source in below.flat_map(|(_, edge)| edge.sources()) {
                    more.extend(outputs[source.index()].iter().map(|&output| (source, output)));
                }
            }
        }
        if more.len() == needed.len() {
            return Ok(needed);
        }
        needed = more;
    }
}

/// Whether a position is an output, if those of the premises are. Without an answer of the solver it is not.
fn follows(
    run: &Run<'_>,
    graph: &HornGraph,
    rules: &[Vec<Rule>],
    outputs: &[Vec<usize>],
    node: NodeId,
    output: usize,
) -> Result<bool, Stop> {
    let store = run.store;
    let first = fresh_vector(store, graph.node(node).variables(), "f");
    let mut second = first.clone();
    second[output] = fresh_vector(store, &first[output..=output], "f")[0];
    let limits = Limits { conflicts: Some(CONFLICTS), ..run.limits };
    let rules = &rules[node.index()];
    for (index, rule) in rules.iter().enumerate() {
        for other in &rules[index..] {
            let (one, two) = (rule.instance(store, &first), other.instance(store, &second));
            let atoms: Vec<&(NodeId, Box<[Term]>)> = one.body.iter().chain(&two.body).collect();
            let mut formulas =
                vec![one.constraint, two.constraint, store.not(store.eq(first[output], second[output]))];
            for (at, (node, arguments)) in atoms.iter().enumerate() {
                for (_, others) in atoms[at + 1..].iter().filter(|(other, _)| other == node) {
                    formulas.extend(
                        outputs[node.index()]
                            .iter()
                            .map(|&output| is_function(store, output, arguments, others)),
                    );
                }
            }
            let mut solver = run.solver();
            if solver.assert_all(&formulas).is_err() {
                return Ok(false);
            }
            match solver.check(&[], &limits) {
                Ok(Outcome::Unsat) => {}
                Ok(Outcome::Sat | Outcome::Unknown(Reason::Budget | Reason::Incomplete)) | Err(_) => {
                    return Ok(false);
                }
                Ok(Outcome::Unknown(reason)) => return Err(reason.into()),
            }
        }
    }
    Ok(true)
}

/// Equal inputs give equal outputs.
fn is_function(store: &TermStore, output: usize, arguments: &[Term], others: &[Term]) -> Term {
    let equal = |position: usize| store.eq(arguments[position], others[position]);
    let inputs = (0..arguments.len()).filter(|&position| position != output).map(equal);
    store.implies(store.and_of(inputs), equal(output))
}
