//! Congruences of linear sums: `x = 1 mod 2`, `x - 2y = 3 mod 5`.
//!
//! Each row of a template has a residue and a modulus that all facts found so far agree on: those of the first fact have the modulus 0,
//! which means equality. A fact with another value `v` joins by the greatest common divisor of the modulus and `v - residue`. So a
//! modulus changes to a proper divisor of itself, and no widening is needed.
//!
//! P. Granger, "Static analysis of arithmetical congruences" (International Journal of Computer Mathematics 1989), with sums in the
//! place of variables, and joins driven by models.

use std::collections::BTreeSet;

use shofar_horn::graph::{EdgeId, NodeId};
use shofar_logic::number::{Integer, Rational};
use shofar_logic::{LinearPoly, Sort, Term, TermStore};
use shofar_run::Stop;

use super::Questions;

/// The greatest modulus: with greater ones the solver has more to do than they are likely to be worth.
const MOST_MODULUS: i64 = 1 << 16;

/// All integers that differ from the residue by a multiple of the modulus.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Congruence {
    residue: Integer,
    /// Zero for a single integer.
    modulus: Integer,
}

impl Congruence {
    /// Adds a value. `None` if nothing of use is left.
    fn join(self, value: &Integer) -> Option<Self> {
        let modulus = self.modulus.gcd(&(&self.residue - value));
        let is_useful = modulus.is_zero() || (modulus > Integer::from(1) && modulus <= MOST_MODULUS.into());
        is_useful.then_some(Congruence { modulus, ..self })
    }
}

/// By nodes: congruences that are inductive, together with what is known; none for a node without facts.
pub(super) fn congruences(
    questions: &mut Questions<'_>,
    templates: &[Vec<LinearPoly>],
) -> Result<Vec<Option<Vec<Term>>>, Stop> {
    let (store, graph) = (questions.run.store, questions.graph);
    let rows =
        templates.iter().map(|rows| rows.iter().filter(|row| is_of_integers(store, row)).cloned().collect());
    let mut elements = Elements { rows: rows.collect(), congruences: vec![None; templates.len()] };
    let (outgoing, _) = graph.outgoing();
    let mut open: BTreeSet<EdgeId> = graph.edges().map(|(id, _)| id).collect();
    while let Some(edge) = open.pop_first() {
        let Some(target) = graph.edge(edge).target() else { continue };
        let mut is_new = false;
        while let Some(fact) = elements.fact_outside(questions, edge, target)? {
            is_new = true;
            elements.join(target, &fact);
        }
        if is_new {
            open.extend(&outgoing[target.index()]);
        }
    }
    let literals = |node: usize| elements.congruences[node].as_ref().map(|_| elements.literals(store, node));
    Ok((0..templates.len()).map(literals).collect())
}

/// Whether a row is a sum of integers with integers as factors.
fn is_of_integers(store: &TermStore, row: &LinearPoly) -> bool {
    row.terms().iter().all(|(variable, factor)| store.sort_of(*variable) == Sort::INT && factor.is_integer())
}

/// The elements of all nodes.
struct Elements {
    /// By nodes.
    rows: Vec<Vec<LinearPoly>>,
    /// By nodes and rows: the congruence of a row, if there is any. None for a node without facts.
    congruences: Vec<Option<Vec<Option<Congruence>>>>,
}

impl Elements {
    /// A fact outside of the element of its node that an edge derives from the elements of its sources.
    fn fact_outside(
        &self,
        questions: &mut Questions<'_>,
        edge: EdgeId,
        target: NodeId,
    ) -> Result<Option<Vec<(Term, Rational)>>, Stop> {
        let (store, graph) = (questions.run.store, questions.graph);
        let Some(mut from) = questions.known_at_sources(edge) else { return Ok(None) };
        for (source, &node) in graph.edge(edge).sources().iter().enumerate() {
            if self.congruences[node.index()].is_none() {
                return Ok(None);
            }
            let literals = self.literals(store, node.index()).into_iter();
            from.extend(literals.map(|literal| graph.at_source(store, edge, source, literal)));
        }
        let inside = self.congruences[target.index()].as_ref().map(|_| self.literals(store, target.index()));
        questions.fact_outside(edge, target, from, inside)
    }

    fn join(&mut self, node: NodeId, fact: &[(Term, Rational)]) {
        let value = |row: &LinearPoly| {
            let of =
                |variable| fact.iter().find(|(other, _)| *other == variable).map(|(_, value)| value.clone());
            row.eval(of).and_then(|value| value.to_integer()).expect("a row is a sum of integers of the node")
        };
        let values: Vec<Integer> = self.rows[node.index()].iter().map(value).collect();
        match &mut self.congruences[node.index()] {
            Some(congruences) => {
                for (congruence, value) in congruences.iter_mut().zip(&values) {
                    *congruence = congruence.take().and_then(|congruence| congruence.join(value));
                }
            }
            none => {
                let alone = |residue| Some(Congruence { residue, modulus: Integer::ZERO });
                *none = Some(values.into_iter().map(alone).collect());
            }
        }
    }

    /// The element of a node with facts: congruences that do not follow from those of single arguments.
    fn literals(&self, store: &TermStore, node: usize) -> Vec<Term> {
        let found: Vec<(&LinearPoly, &Congruence)> =
            std::iter::zip(&self.rows[node], self.congruences[node].iter().flatten())
                .filter_map(|(row, congruence)| Some((row, congruence.as_ref()?)))
                .collect();
        let follows = |row: &LinearPoly, modulus: &Integer| {
            let of_variable = |variable: Term| {
                let alone = |row: &LinearPoly| matches!(row.terms(), [(other, _)] if *other == variable);
                found.iter().find(|(row, _)| alone(row)).map(|(_, congruence)| congruence.modulus.clone())
            };
            row.terms().len() > 1
                && row.terms().iter().all(|(variable, factor)| {
                    let factor = factor.to_integer().expect("factors are integers");
                    of_variable(*variable).is_some_and(|own| divides(modulus, &(&own * &factor)))
                })
        };
        let kept = found.iter().filter(|(row, Congruence { modulus, .. })| !follows(row, modulus));
        kept.map(|(row, Congruence { residue, modulus })| {
            let mut distance = (*row).clone();
            distance.add_constant(&Rational::from(-residue.clone()));
            let distance = distance.to_term(store, Sort::INT);
            match modulus.is_zero() {
                true => store.eq(distance, store.int(0)),
                false => store.divisible(modulus, distance),
            }
        })
        .collect()
    }
}

fn divides(divisor: &Integer, number: &Integer) -> bool {
    match divisor.is_zero() {
        true => number.is_zero(),
        false => number.mod_floor(divisor).is_zero(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moduli_fall_to_common_divisors() {
        let start = Congruence { residue: Integer::from(3), modulus: Integer::ZERO };
        let join = |congruence: Option<Congruence>, value: i64| {
            congruence.and_then(|congruence| congruence.join(&value.into()))
        };
        let modulus = |congruence: Option<Congruence>| congruence.map(|congruence| congruence.modulus);
        let same = join(Some(start.clone()), 3);
        assert_eq!(modulus(same.clone()), Some(Integer::ZERO));
        let by_twelve = join(same, -9);
        assert_eq!(modulus(by_twelve.clone()), Some(12.into()));
        let by_four = join(by_twelve, 11);
        assert_eq!(modulus(by_four.clone()), Some(4.into()));
        assert_eq!(join(by_four, 4), None);
        assert_eq!(join(Some(start), 3 + MOST_MODULUS + 1), None);
    }
}
