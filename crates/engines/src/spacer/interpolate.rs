//! Lemmas from proofs: bounds that the clauses themselves suggest.
//!
//! A core names literals of the obligation's cube, and knows no other forms and constants than these. The proof of the
//! contradiction knows more: a Farkas sum of the clause's side says which combination of the variables is bounded, and
//! by what. If the head's cube consists of units of side B, and everything else is A, the interpolant is a disjunction
//! of such bounds and of negated literals: pivots of A join by disjunction, and pivots of B are the units, whose partial
//! interpolant is true. Its negation is a cube again,
//!
//! - which the obligation's cube implies, and
//! - in which the clause derives nothing.
//!
//! With several clauses, the union of their cubes has both properties for all of them. So the literals take the place of
//! the core's, before literals are left out. Where a proof has no interpolant of that form (integer splits on forms over
//! both sides), the core's literals are kept for that clause.
//!
//! The method is that of the interpolating unsatisfiable cores of Z3's Spacer: A. Gurfinkel, N. Bjørner et al.

use std::collections::hash_map::Entry;

use shofar_horn::graph::{EdgeId, NodeId};
use shofar_logic::{Op, Term, TermStore};
use shofar_smt::interpolate::{Interpolator, Options};
use shofar_smt::proof::Part;
use shofar_smt::purify::Unsupported;
use shofar_smt::sat::{Limits, Outcome};
use shofar_smt::solver::Solver;

use super::edges::Core;
use super::renaming::Place;
use super::{Search, Stop};

/// The clause and the frames below.
const A: Part = Part(0);
/// The cube of the head.
const B: Part = Part(1);

/// Proofs after which a solver is made anew, as it keeps a log.
const MOST_PROOFS: u32 = 64;
/// Conflicts that may be spent on a proof.
const PROOF_CONFLICTS: u64 = 2_000;

/// A solver for one clause that gives proofs.
pub(super) struct Prover<'a> {
    solver: Solver<'a>,
    proofs: u32,
}

impl Search<'_> {
    /// Literals that the core's literals imply, with which the clause derives nothing either.
    pub(super) fn interpolate(
        &mut self,
        node: NodeId,
        edge: EdgeId,
        core: &Core,
    ) -> Result<Option<Vec<Term>>, Stop> {
        if core.cube.is_empty() {
            return Ok(None);
        }
        let (store, graph) = (self.store, self.graph);
        let label = graph.edge(edge).label();
        let unsupported = |unsupported: Unsupported| Stop::unsupported(store, unsupported);
        if self.provers.get(&edge).is_some_and(|prover| prover.proofs >= MOST_PROOFS) {
            self.provers.remove(&edge);
        }
        let prover = match self.provers.entry(edge) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                let mut solver = Solver::with_proofs(store);
                solver.assert_in(label, A).map_err(unsupported)?;
                place.insert(Prover { solver, proofs: 0 })
            }
        };
        prover.proofs += 1;
        let mut side_a = core.assumed.clone();
        // Lemmas that the solver of the clause has asserted are in no core.
        for (source, &body) in graph.edge(edge).sources().iter().enumerate() {
            let place = Place::Source(graph.edge(edge).occurrence(source));
            let lemmas = self.frames[body.index()].infinite();
            side_a.extend(lemmas.iter().map(|&lemma| self.renaming.to(body, place, lemma)));
        }
        let side_b: Vec<Term> =
            core.cube.iter().map(|&literal| self.renaming.to(node, Place::Target, literal)).collect();
        let of_a = side_a.iter().map(|&formula| (formula, A));
        let assumptions: Vec<(Term, Part)> = of_a.chain(side_b.iter().map(|&literal| (literal, B))).collect();
        let limits = Limits { conflicts: Some(PROOF_CONFLICTS), ..self.run.limits };
        self.statistics.queries += 1;
        if prover.solver.check_in(&assumptions, &limits).map_err(unsupported)? != Outcome::Unsat {
            return Ok(None);
        }
        let Some(proof) = prover.solver.proof() else { return Ok(None) };
        side_a.push(label);
        let interpolator =
            Interpolator::new(store, &proof, vec![(A, side_a), (B, side_b)], Options::default());
        let Ok(interpolant) = interpolator.and_then(|interpolator| interpolator.binary(&[A])) else {
            return Ok(None);
        };
        let cube = negation(store, interpolant.formula);
        self.statistics.interpolants += u64::from(cube.is_some());
        Ok(cube.map(|cube| {
            cube.into_iter().map(|literal| self.renaming.from(node, Place::Target, literal)).collect()
        }))
    }
}

/// The negation of a disjunction of literals, as a cube.
fn negation(store: &TermStore, formula: Term) -> Option<Vec<Term>> {
    let is_literal = |term: Term| {
        let atom = match store.view(term) {
            (Op::Not, &[atom]) => atom,
            _ => term,
        };
        !matches!(store.op(atom), Op::And | Op::Or | Op::Ite | Op::True)
            && (store.op(atom) != Op::Eq || store.sort_of(store.args(atom)[0]).is_arithmetic())
    };
    let literals = match store.view(formula) {
        (Op::Or, literals) => literals.to_vec(),
        (Op::False, _) => Vec::new(),
        _ => vec![formula],
    };
    literals
        .iter()
        .all(|&literal| is_literal(literal))
        .then(|| literals.iter().map(|&l| store.not(l)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use shofar_logic::Sort;

    #[test]
    fn only_disjunctions_of_literals_are_negated_to_cubes() {
        let store = TermStore::new();
        let x = store.var(store.symbol("x"), Sort::INT);
        let p = store.var(store.symbol("p"), Sort::BOOL);
        let low = store.le(x, store.int(3));
        assert_eq!(negation(&store, store.or2(low, p)).map(|cube| cube.len()), Some(2));
        assert_eq!(negation(&store, low), Some(vec![store.not(low)]));
        assert_eq!(negation(&store, Term::FALSE), Some(vec![]));
        assert_eq!(negation(&store, Term::TRUE), None);
        let high = store.ge(x, store.int(9));
        assert_eq!(negation(&store, store.or2(high, store.and2(low, p))), None);
    }
}
