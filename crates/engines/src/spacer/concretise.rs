//! Concretise: splits obligations with sums whose coefficients diverge.
//!
//! A step such as `y' = y + x` turns one obligation into `y + k x <= c`, with a greater `k` each time, and the lemmas
//! that exclude them have the same forms. The proof needs a bound on `x` and one on `y`, which is not a combination of
//! these lemmas. Forms of lemmas over the same terms are a *family*. When a few members differ in coefficients,
//! obligations with literals of the family are split: around a point `M` of the obligation's cube that the frame does
//! not exclude, the sum
//!
//! ```text
//! a_1 x_1 + .. + a_k x_k + rest <= c    becomes
//! x_i <= M(x_i), or >= where a_i < 0,  for each x_i whose coefficient differs,  and  rest <= c - a_1 M(x_1) - .. - a_k M(x_k)
//! ```
//!
//! - C1: the new cube implies the old one, and the point lies in it.
//!
//! The new cube is enqueued as a guess before the obligation itself: if it is reached, so is the obligation, by C1. If
//! it is blocked, the lemma bounds the terms separately, and excludes the point. After a few such guesses the
//! obligation is expanded unchanged. If no point is left, the frame excludes it.
//!
//! The third rule of global guidance: H. G. V. K., Y. Chen, S. Shoham, A. Gurfinkel, "Global guidance for local
//! generalization in model checking" (CAV 2020). There, a cluster belongs to one obligation. Our obligations are made
//! anew at each level, so families belong to predicates; and the rest gets the remaining slack of `c`, which makes the
//! cube larger.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use shofar_horn::graph::NodeId;
use shofar_logic::number::Rational;
use shofar_logic::{Assignment, Evaluator, LinearPoly, Relation, Sort, Term, TermStore, Value};
use shofar_smt::project::simplify_cube;

use super::expand::{Expansion, Point};
use super::guidance::{GUESS_GAS, compare};
use super::obligations::{Obligation, ObligationId};
use super::{Search, Stop};

/// The number of different coefficient vectors from which on a family's obligations are split.
const MEMBERS: usize = 4;
/// The maximal number of splits of an obligation.
const OBLIGATION_GAS: u32 = 8;
/// The maximal number of splits because of one family.
const FAMILY_GAS: u32 = 64;

/// Forms over the same terms.
#[derive(Default)]
struct Family {
    /// The different coefficients of the first few members.
    members: Vec<Vec<Rational>>,
    uses: u32,
}

impl Family {
    fn is_creeping(&self) -> bool {
        self.members.len() >= MEMBERS && self.uses < FAMILY_GAS
    }

    /// Whether the coefficient at a position differs between members.
    fn differs(&self, position: usize) -> bool {
        self.members.windows(2).any(|pair| pair[0][position] != pair[1][position])
    }
}

/// The families of all predicates.
#[derive(Default)]
pub(super) struct Families {
    all: FxHashMap<(NodeId, Box<[Term]>), Family>,
}

impl Families {
    /// Adds the forms of a lemma to their families.
    pub(super) fn note(&mut self, store: &TermStore, node: NodeId, cube: &[Term]) {
        for &literal in cube {
            let Some((_, poly, terms)) = sum(store, literal) else { continue };
            let family = self.all.entry((node, terms)).or_default();
            let coefficients: Vec<Rational> = poly.terms().iter().map(|(_, factor)| factor.clone()).collect();
            if family.members.len() < MEMBERS && !family.members.contains(&coefficients) {
                family.members.push(coefficients);
            }
        }
    }

    fn creeping(&mut self, node: NodeId, terms: Box<[Term]>) -> Option<&mut Family> {
        self.all.get_mut(&(node, terms)).filter(|family| family.is_creeping())
    }

    /// Whether a literal belongs to a family whose coefficients diverge.
    fn concern(&mut self, store: &TermStore, node: NodeId, literal: Term) -> bool {
        sum(store, literal).is_some_and(|(_, _, terms)| self.creeping(node, terms).is_some())
    }

    /// The cube with its sums split around a point (C1). `None` if the point lacks a value.
    fn take_apart(
        &mut self,
        store: &TermStore,
        node: NodeId,
        cube: &[Term],
        point: &Assignment,
    ) -> Option<Vec<Term>> {
        let mut evaluator = Evaluator::new(store, point);
        let mut parts = Vec::with_capacity(cube.len());
        for &literal in cube {
            let sum = sum(store, literal);
            let Some((relation, poly, family)) =
                sum.and_then(|(relation, poly, terms)| Some((relation, poly, self.creeping(node, terms)?)))
            else {
                parts.push(literal);
                continue;
            };
            family.uses += 1;
            let mut rest = LinearPoly::from_constant(poly.constant().clone());
            for (position, (term, factor)) in poly.terms().iter().enumerate() {
                let addend = LinearPoly::from_pairs(vec![(*term, factor.clone())], Rational::ZERO);
                if !family.differs(position) {
                    rest.add_scaled(&addend, &Rational::ONE);
                    continue;
                }
                let value = match evaluator.eval(*term) {
                    Ok(Value::Int(value)) => Rational::from(value),
                    Ok(Value::Real(value)) => value,
                    _ => return None,
                };
                let amount = &value * factor;
                let mut part = addend;
                part.add_constant(&-amount.clone());
                parts.push(related(store, widened(relation), part, store.sort_of(*term)));
                rest.add_constant(&amount);
            }
            if !rest.is_constant() {
                let sort = store.sort_of(poly.terms().first()?.0);
                parts.push(related(store, relation, rest, sort));
            }
        }
        simplify_cube(store, &mut parts);
        Some(parts)
    }
}

/// The non-strict version of the relation.
fn widened(relation: Relation) -> Relation {
    match relation {
        Relation::Below => Relation::AtMost,
        Relation::Above => Relation::AtLeast,
        relation => relation,
    }
}

/// The literal that relates a polynomial to zero.
fn related(store: &TermStore, relation: Relation, mut poly: LinearPoly, sort: Sort) -> Term {
    match relation {
        Relation::Below | Relation::AtMost => compare(store, poly, sort, relation == Relation::Below),
        Relation::Above | Relation::AtLeast => {
            poly.scale(&-Rational::ONE);
            compare(store, poly, sort, relation == Relation::Above)
        }
        Relation::Equal | Relation::Different => {
            let zero = LinearPoly::default().to_term(store, sort);
            let equation = store.eq(store.normalize(poly.to_term(store, sort)), zero);
            store.signed(equation, relation == Relation::Equal)
        }
    }
}

/// The relation of a literal's sum to zero, the sum, and its terms, if there are several.
fn sum(store: &TermStore, literal: Term) -> Option<(Relation, LinearPoly, Box<[Term]>)> {
    let bound = store.bound(literal).filter(|bound| bound.relation != Relation::Different)?;
    let (relation, number) = bound.rounded(store);
    let mut poly = LinearPoly::from_term(store, bound.sum);
    poly.add_constant(&-number);
    let terms: Box<[Term]> = poly.terms().iter().map(|&(term, _)| term).collect();
    (terms.len() > 1).then_some((relation, poly, terms))
}

impl Search<'_> {
    /// Splits an obligation if the lemmas about its sums diverge. `None` if it shall be expanded unchanged.
    pub(super) fn concretise(&mut self, id: ObligationId) -> Result<Option<Expansion>, Stop> {
        let Obligation { node, level, depth, concretions, .. } = *self.obligations.get(id);
        if !self.options.guidance || !self.options.concretise || concretions == OBLIGATION_GAS {
            return Ok(None);
        }
        let cube = Rc::clone(&self.obligations.get(id).cube);
        let store = self.store;
        if !cube.iter().any(|&literal| self.families.concern(store, node, literal)) {
            return Ok(None);
        }
        let frame: Vec<Term> = self.frames[node.index()].conjuncts(level).collect();
        let variables = self.graph.node(node).variables();
        self.statistics.queries += 1;
        let point = match self.cubes.point(&cube, &frame, variables, &self.run.limits)? {
            Point::At(point) => point,
            Point::Nowhere => return Ok(Some(Expansion::Blocked(level))),
            Point::Unknown => return Ok(None),
        };
        let Some(mut parts) = self.families.take_apart(store, node, &cube, &point) else { return Ok(None) };
        parts.sort_unstable();
        let parts: Rc<[Term]> = parts.into();
        if self.obligations.is_known(node, &parts) {
            return Ok(None);
        }
        self.statistics.concretions += 1;
        self.obligations.get_mut(id).concretions += 1;
        // The younger one is taken first.
        self.obligations.enqueue(id);
        let guess = Obligation::new(node, parts, level, depth);
        self.obligations.add(Obligation { gas: Some(GUESS_GAS), ..guess });
        Ok(Some(Expansion::Postponed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shofar_run::Limits;
    use shofar_smt::sat::Outcome;
    use shofar_smt::solver::Solver;

    fn sum_of(store: &TermStore, parts: &[(i64, Term)]) -> Term {
        let products = parts.iter().map(|&(factor, term)| store.mul(&[store.int(factor), term]));
        store.add(&products.collect::<Vec<Term>>())
    }

    #[test]
    fn terms_with_coefficients_that_differ_get_bounds_of_their_own() {
        let store = TermStore::new();
        let [x, y] = ["x", "y"].map(|name| store.var(store.symbol(name), Sort::INT));
        let node = NodeId::new(0);
        let mut families = Families::default();
        let literal = |k: i64| store.le(sum_of(&store, &[(k, x), (1, y)]), store.int(-k));
        for k in 1..4 {
            families.note(&store, node, &[literal(k)]);
            assert!(!families.concern(&store, node, literal(k)), "it takes a few lemmas");
        }
        families.note(&store, node, &[literal(4)]);
        assert!(families.concern(&store, node, literal(9)));
        assert!(!families.concern(&store, NodeId::new(1), literal(9)), "another predicate");
        let mut point = Assignment::new();
        point.set(x, Value::Int((-7).into()));
        point.set(y, Value::Int(3.into()));
        // 5 x + y <= -5 at x = -7: y may be up to 30.
        let parts = families.take_apart(&store, node, &[literal(5)], &point).expect("all have values");
        assert_eq!(parts, [store.le(x, store.int(-7)), store.le(y, store.int(30))]);
    }

    /// C1, for all relations and signs.
    #[test]
    fn parts_imply_the_whole_and_contain_the_point() {
        let store = TermStore::new();
        let variables = ["x", "y", "z"].map(|name| store.var(store.symbol(name), Sort::INT));
        let node = NodeId::new(0);
        for round in 0..64_i64 {
            let mut families = Families::default();
            let values = [round % 5 - 2, round % 7 - 3, round % 3 - 1];
            let mut point = Assignment::new();
            for (&variable, value) in variables.iter().zip(values) {
                point.set(variable, Value::Int(value.into()));
            }
            let factors = |k: i64| [k + 2, 1 - 2 * (round % 2), 3 - 2 * k];
            let form = |k: i64| {
                let parts: Vec<(i64, Term)> = factors(k).into_iter().zip(variables).collect();
                sum_of(&store, &parts)
            };
            (0..4).for_each(|k| families.note(&store, node, &[store.le(form(k), store.int(k))]));
            let total: i64 = factors(round).iter().zip(values).map(|(factor, value)| factor * value).sum();
            let literal = match round % 3 {
                0 => store.le(form(round), store.int(total + round % 4)),
                1 => store.ge(form(round), store.int(total - round % 4)),
                _ => store.eq(form(round), store.int(total)),
            };
            let parts = families.take_apart(&store, node, &[literal], &point).expect("all have values");
            assert!(parts.len() >= 2, "{parts:?}");
            let mut evaluator = Evaluator::new(&store, &point);
            assert!(parts.iter().all(|&part| evaluator.eval(part) == Ok(Value::Bool(true))));
            let mut solver = Solver::new(&store);
            solver.assert(store.not(literal)).expect("it is linear");
            let outcome = solver.check(&parts, &Limits::default());
            assert_eq!(outcome.ok(), Some(Outcome::Unsat), "round {round}");
        }
    }
}
