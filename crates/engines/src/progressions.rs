//! States one after the other, as few formulas: arithmetic progressions of points.
//!
//! The states of a complete unrolling of a loop are often single points `p, p + d, p + 2d, ..`. Such a run of points is
//!
//! ```text
//! p_i <= x_i <= p_i + n d_i,   x_i = p_i mod d_i,   d_i x_j = d_j x_i + (d_i p_j - d_j p_i)   for each other argument x_j
//! ```
//!
//! for an integer argument `x_i` that changes: the same set of states, so the result needs no proof of its own. A loop that runs
//! a thousand times in two phases has two such formulas in the place of a thousand points.

use rustc_hash::FxHashMap;
use shofar_logic::number::{Integer, Rational};
use shofar_logic::{LinearPoly, Relation, Sort, Term, TermStore};

/// The number of points from which on a formula for all of them is shorter.
const FEW: usize = 3;

/// The disjuncts with runs of points replaced by one formula each. Other disjuncts stay as they are.
pub(crate) fn join_progressions(store: &TermStore, variables: &[Term], disjuncts: &[Term]) -> Vec<Term> {
    let places: FxHashMap<Term, usize> = variables.iter().copied().zip(0..).collect();
    let points: Vec<Option<Vec<Rational>>> =
        disjuncts.iter().map(|&disjunct| point(store, &places, disjunct)).collect();
    let mut joined = Vec::new();
    let mut at = 0;
    while at < disjuncts.len() {
        let length = progression(&points[at..]);
        let run = points[at..at + length].iter().flatten();
        match (length >= FEW).then(|| formula(store, variables, &run.collect::<Vec<_>>())).flatten() {
            Some(formula) => {
                joined.push(formula);
                at += length;
            }
            None => {
                // A part of the run has no formula either; only its last point may be the first one of another run.
                let passed = (length - 1).max(1);
                joined.extend_from_slice(&disjuncts[at..at + passed]);
                at += passed;
            }
        }
    }
    joined
}

/// The values of the variables, all of which are numbers, if the formula is a conjunction of equations that gives them.
fn point(store: &TermStore, places: &FxHashMap<Term, usize>, formula: Term) -> Option<Vec<Rational>> {
    let mut values: Vec<Option<Rational>> = vec![None; places.len()];
    for literal in store.conjuncts(formula) {
        let bound = store.bound(literal).filter(|bound| bound.relation == Relation::Equal)?;
        let poly = bound.poly(store);
        let [(variable, coefficient)] = poly.terms() else { return None };
        values[*places.get(variable)?] = Some(-(poly.constant() / coefficient));
    }
    values.into_iter().collect()
}

/// How many points from the first one on have the same difference; one where the first is no point.
fn progression(points: &[Option<Vec<Rational>>]) -> usize {
    let difference = |at: usize| match (points.get(at), points.get(at + 1)) {
        (Some(Some(first)), Some(Some(second))) => {
            Some(std::iter::zip(first, second).map(|(a, b)| b - a).collect::<Vec<Rational>>())
        }
        _ => None,
    };
    let Some(step) = difference(0) else { return 1 };
    2 + (1..).take_while(|&at| difference(at).as_ref() == Some(&step)).count()
}

/// A formula for points with the same difference. `None` if no integer changes, or a real number does as well.
fn formula(store: &TermStore, variables: &[Term], points: &[&Vec<Rational>]) -> Option<Term> {
    let ([first, second, ..], last) = (points, points.last()?) else { return None };
    let step: Vec<Rational> = std::iter::zip(*first, *second).map(|(a, b)| b - a).collect();
    let changing = (0..variables.len()).filter(|&at| !step[at].is_zero());
    if changing.clone().any(|at| store.sort_of(variables[at]) != Sort::INT) {
        return None;
    }
    let pivot = changing.min_by(|&a, &b| step[a].cmp_abs(&step[b]))?;
    let (x, by) = (variables[pivot], &step[pivot]);
    let number = |value: &Rational, of: Term| store.number(value, store.sort_of(of));
    let (least, greatest) = if by.is_negative() { (last, first) } else { (first, last) };
    let mut literals = vec![store.ge(x, number(&least[pivot], x)), store.le(x, number(&greatest[pivot], x))];
    let modulus: Integer = if by.is_negative() { -by } else { by.clone() }.to_integer()?;
    if modulus != Integer::from(1) {
        let offset = store.sub(x, number(&first[pivot], x));
        literals.push(store.eq(store.modulo(offset, store.int(modulus)), store.int(0)));
    }
    for at in (0..variables.len()).filter(|&at| at != pivot) {
        let y = variables[at];
        if step[at].is_zero() {
            literals.push(store.eq(y, number(&first[at], y)));
            continue;
        }
        let constant = &(&step[at] * &first[pivot]) - &(by * &first[at]);
        let line = LinearPoly::from_pairs(vec![(y, by.clone()), (x, -&step[at])], constant);
        let line = line.to_term(store, Sort::INT);
        literals.push(store.eq(line, store.int(0)));
    }
    Some(store.and(&literals))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use shofar_logic::{Assignment, Value};

    use super::*;

    #[test]
    fn a_progression_has_the_same_points_as_its_formula() {
        let store = TermStore::new();
        let variables = ["x", "y", "z"].map(|name| store.var(store.symbol(name), Sort::INT));
        let state = |values: [i64; 3]| {
            store.and_of(std::iter::zip(variables, values).map(|(x, value)| store.eq(x, store.int(value))))
        };
        let holds = |formula, values: [i64; 3]| {
            let values = values.map(|value| Value::Int(value.into()));
            let assignment: Assignment = std::iter::zip(variables, values).collect();
            store.eval(formula, &assignment) == Ok(Value::Bool(true))
        };
        for step in [[1, 2, 0], [-2, 3, 0], [4, 6, 0], [0, 0, -3]] {
            let states: Vec<[i64; 3]> =
                (0..5).map(|k| [1 + k * step[0], 2 + k * step[1], k * step[2]]).collect();
            let disjuncts: Vec<Term> = states.iter().map(|&values| state(values)).collect();
            let joined = join_progressions(&store, &variables, &disjuncts);
            assert_eq!(joined.len(), 1, "{step:?}");
            for values in
                (-10..25).flat_map(|x| (-2..28).flat_map(move |y| [-12, -9, -4, -3, 0, 1].map(|z| [x, y, z])))
            {
                assert_eq!(holds(joined[0], values), states.contains(&values), "{step:?} {values:?}");
            }
        }
    }

    #[test]
    fn phases_are_formulas_of_their_own_and_other_disjuncts_stay() {
        let store = TermStore::new();
        let x = store.var(store.symbol("x"), Sort::INT);
        let at = |value: i64| store.eq(x, store.int(value));
        let other = store.le(x, store.int(-7));
        let disjuncts = [at(0), at(1), at(2), at(5), at(8), at(11), other, at(20), at(21)];
        let joined = join_progressions(&store, &[x], &disjuncts);
        assert_eq!(joined.len(), 5);
        assert_eq!(joined[2..], [other, at(20), at(21)]);
    }

    /// Runs of real numbers have no formula. The last point of one run is the first one of the next.
    #[test]
    fn long_runs_without_a_formula_are_walked_once() {
        let store = TermStore::new();
        let (x, y) = (store.var(store.symbol("x"), Sort::REAL), store.var(store.symbol("y"), Sort::INT));
        let at = |value: i64, other: i64| {
            let value = store.number(&Rational::from(Integer::from(value)), Sort::REAL);
            store.and2(store.eq(x, value), store.eq(y, store.int(other)))
        };
        let mut disjuncts: Vec<Term> = (0..40_000).map(|value| at(value, 0)).collect();
        disjuncts.extend((1..=3).map(|other| at(39_999, other)));
        let start = Instant::now();
        let joined = join_progressions(&store, &[x, y], &disjuncts);
        assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
        assert_eq!(joined.len(), 40_000);
        assert_eq!(joined[..39_999], disjuncts[..39_999]);
    }
}
