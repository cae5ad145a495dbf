//! Sequences and trees node by node, if one proof does not have them.
//!
//! From the first node to the last, an interpolant of the subtree and the rest replaces the subtree of a node:
//!
//! ```text
//! for each node:
//!     A <- the formulas of the node and the interpolants of its children
//!     B <- the formulas of all later nodes and the interpolants of other subtrees
//!     I <- an interpolant of A and B: from a proof of their contradiction, or by projection
//! ```
//!
//! Each replacement keeps the whole contradictory. So the interpolants of the children of a node and its formulas imply
//! its own (I4), whatever the source of the interpolants. Each proof is made for one cut, and the formulas get simpler
//! from node to node. So the literal that mixed both sides of some cut seldom occurs again. An interpolant from a proof
//! takes time in the size of the proof, whereas projection must cover one side by cubes.

use shofar_logic::{Term, TermStore};
use shofar_run::Limits;

use super::fallback::{Bounds, Failure, any_interpolant};
use super::{Fallback, Options};
use crate::proof::Part;
use crate::sat::Outcome;
use crate::solver::Solver;

/// The interpolants of the subtrees of a tree of formulas. Each node has the position of its parent, which comes later.
pub(super) fn tree(
    store: &TermStore,
    nodes: &[(Vec<Term>, usize)],
    options: &Options,
    bounds: &Bounds<'_>,
) -> Result<Vec<Term>, Failure> {
    let mut found: Vec<Term> = Vec::with_capacity(nodes.len());
    for (at, (formulas, _)) in nodes.iter().enumerate() {
        let (mut a, mut b) = (formulas.clone(), Vec::new());
        for (&interpolant, &(_, parent)) in std::iter::zip(&found, nodes) {
            match parent {
                _ if parent == at => a.push(interpolant),
                _ if parent > at => b.push(interpolant),
                _ => {}
            }
        }
        b.extend(nodes[at + 1..].iter().flat_map(|(formulas, _)| formulas));
        found.push(match from_proof(store, &a, &b, options, &bounds.limits) {
            Some(interpolant) => interpolant,
            None => any_interpolant(store, &a, &b, bounds)?,
        });
    }
    Ok(found)
}

/// The interpolant from a new proof for this cut, if that proof has one.
fn from_proof(
    store: &TermStore,
    a: &[Term],
    b: &[Term],
    options: &Options,
    limits: &Limits<'_>,
) -> Option<Term> {
    const A: Part = Part(0);
    const B: Part = Part(1);
    let mut solver = Solver::with_proofs(store);
    for (part, formulas) in [(A, a), (B, b)] {
        for &formula in formulas {
            solver.assert_in(formula, part).ok()?;
        }
    }
    if solver.check(&[], limits).ok()? != Outcome::Unsat {
        return None;
    }
    let interpolator = solver.interpolator(Options { fallback: Fallback::Off, ..options.clone() }).ok()?;
    Some(interpolator.binary(&[A], limits).ok()?.formula)
}
