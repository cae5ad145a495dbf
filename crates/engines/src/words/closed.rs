//! Closed forms: polynomial equations between the integers of facts.
//!
//! Points are instances of facts with small values. The affine hull of their monomials gives all polynomial equations up to a
//! degree that the points satisfy:
//!
//! ```text
//! mul(0, y, 0)    mul(1, y, y)    mul(2, y, 2y)          the hull of (x, y, r, x*x, x*y, ..) has the equation r = x*y
//! ```
//!
//! Linear equations come first. An argument that they determine is left out of products, since they imply all equations with it.

use shofar_horn::hull::affine::AffineHull;
use shofar_logic::number::{Integer, Rational};
use shofar_logic::{Assignment, LinearPoly, Sort, Term, TermStore, Value};

use super::facts::Fact;

/// The greatest number of integers of a predicate.
const MOST_INTEGERS: usize = 6;

/// With so many integers, products of three are considered.
const MOST_CUBED: usize = 4;

/// Instances of one fact, and attempts to satisfy its constraint.
const MOST_INSTANCES: usize = 8;
const ATTEMPTS: usize = 24;

/// Fewer points than unknown coefficients would satisfy equations by chance; so many more are needed.
const MORE_POINTS: usize = 2;

/// The greatest coefficient of an equation.
const MOST_COEFFICIENT: i64 = 60;

/// Equations that the integers of the facts satisfy.
pub(super) fn forms(store: &TermStore, variables: &[Term], facts: &[&Fact]) -> Vec<Term> {
    let positions: Vec<usize> =
        (0..variables.len()).filter(|&at| store.sort_of(variables[at]) == Sort::INT).collect();
    if positions.is_empty() || positions.len() > MOST_INTEGERS {
        return Vec::new();
    }
    let integers: Vec<Term> = positions.iter().map(|&at| variables[at]).collect();
    let points = points(store, &positions, facts);
    let monomials: Vec<Vec<usize>> = (0..integers.len()).map(|at| vec![at]).collect();
    let Some(linear) = hull(store, &integers, &points, &monomials) else { return Vec::new() };
    // The last variable of an equation is the one that it is solved for.
    let is_determined = |&at: &usize| {
        linear.iter().any(|equation| equation.terms().last().is_some_and(|last| last.0 == integers[at]))
    };
    let mut equations: Vec<LinearPoly> = linear.clone();
    let free: Vec<usize> = (0..integers.len()).filter(|at| !is_determined(at)).collect();
    let degree = if free.len() <= MOST_CUBED { 3 } else { 2 };
    for degree in 2..=degree {
        let monomials = monomials_up_to(&free, degree);
        let Some(found) = hull(store, &integers, &points, &monomials) else { break };
        if !found.is_empty() {
            equations.extend(found);
            break;
        }
    }
    equations.iter().filter_map(|equation| formula(store, equation)).collect()
}

/// The products of up to so many of these numbers.
fn monomials_up_to(numbers: &[usize], degree: usize) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = Vec::new();
    let mut last: Vec<Vec<usize>> = vec![Vec::new()];
    for _ in 0..degree {
        let longer = |shorter: &Vec<usize>| {
            let least = shorter.last().copied().unwrap_or(0);
            let numbers = numbers.iter().copied().filter(move |&number| number >= least);
            let shorter = shorter.clone();
            numbers.map(move |number| [&shorter[..], &[number]].concat()).collect::<Vec<_>>()
        };
        last = last.iter().flat_map(longer).collect();
        all.extend(last.iter().cloned());
    }
    all
}

/// The equations between monomials that all points satisfy; `None` if there are not enough points.
fn hull(
    store: &TermStore,
    integers: &[Term],
    points: &[Vec<Integer>],
    monomials: &[Vec<usize>],
) -> Option<Vec<LinearPoly>> {
    let terms: Vec<Term> = monomials
        .iter()
        .map(|monomial| store.mul(&monomial.iter().map(|&at| integers[at]).collect::<Vec<Term>>()))
        .collect();
    let vector = |point: &Vec<Integer>| -> Vec<(Term, Rational)> {
        let value = |monomial: &Vec<usize>| {
            let factors = monomial.iter().map(|&at| Rational::from(point[at].clone()));
            factors.fold(Rational::ONE, |product, factor| product * factor)
        };
        terms.iter().copied().zip(monomials.iter().map(value)).collect()
    };
    let (first, others) = points.split_first()?;
    if points.len() < monomials.len() + MORE_POINTS && monomials.len() > integers.len() {
        return None;
    }
    let mut hull = AffineHull::of(&vector(first));
    others.iter().for_each(|point| hull.join(store, &vector(point)));
    Some(hull.equations().to_vec())
}

/// The equation, if its coefficients are small.
fn formula(store: &TermStore, equation: &LinearPoly) -> Option<Term> {
    let (equation, _) = equation.clone().primitive();
    let greatest = Rational::from(MOST_COEFFICIENT);
    let is_small = |value: &Rational| value.is_integer() && value.abs() <= greatest;
    if !equation.terms().iter().all(|(_, coefficient)| is_small(coefficient))
        || !is_small(equation.constant())
    {
        return None;
    }
    let constant = -equation.constant();
    Some(store.eq(equation.without_constant().to_term(store, Sort::INT), store.number(&constant, Sort::INT)))
}

/// The integers of instances of facts with small values.
fn points(store: &TermStore, positions: &[usize], facts: &[&Fact]) -> Vec<Vec<Integer>> {
    let mut points: Vec<Vec<Integer>> = Vec::new();
    // A linear congruential generator: the values must be different, not random.
    let mut state: u32 = 1;
    let mut next = |range: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) % range
    };
    for fact in facts {
        let mut terms: Vec<Term> = positions.iter().map(|&at| fact.arguments[at]).collect();
        terms.push(fact.constraint);
        let variables = store.free_vars(&terms);
        let mut instances = 0;
        for _ in 0..ATTEMPTS {
            let value = |&variable: &Term| {
                let value = match store.sort_of(variable) {
                    Sort::INT => Value::Int(Integer::from(i64::from(next(6)))),
                    Sort::BOOL => Value::Bool(next(2) == 0),
                    sort => store.default_value(sort),
                };
                (variable, value)
            };
            let assignment: Assignment = variables.iter().map(value).collect();
            if store.eval(fact.constraint, &assignment) != Ok(Value::Bool(true)) {
                continue;
            }
            let value = |&at: &usize| store.eval(fact.arguments[at], &assignment).ok()?.as_int().cloned();
            let Some(point) = positions.iter().map(value).collect::<Option<Vec<Integer>>>() else { continue };
            if !points.contains(&point) {
                points.push(point);
                instances += 1;
            }
            if instances >= MOST_INSTANCES || variables.is_empty() {
                break;
            }
        }
    }
    points
}
