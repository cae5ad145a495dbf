//! Eliminates an integer variable around a model, exactly and with divisibility.
//!
//! All constraints on `x` in a cube are equalities, non-strict bounds and divisibilities:
//!
//! ```text
//! a x = t             a | t; into others, multiplied by a:  b x <= r becomes b t <= a r,  d | c x + r becomes
//!                     a d | c t + a r.  This is exact.
//! bounds on one side  x is unbounded on the other: bounds go. Divisibilities are joined to one d | c x + r, which
//!                     has a solution iff gcd(c, d) | r.  This is exact, too.
//! divisibilities      with D the period in x of all of them and u = M(x) mod D, x = D x' + u. They no longer contain
//!                     x then.
//! s <= a x, b x <= t  the greatest lower bound s0 / a0 in the model represents all: a0 s <= a s0 for the others, and
//!                     for each upper bound that there is an integer between s0 / a0 and t / b.
//! ```
//!
//! One of these states that there is an integer between `s / a` and `t / b`:
//!
//! ```text
//! a = 1 or b = 1      b s <= a t
//! dark shadow         a t - b s >= (a - 1) (b - 1)      if the model satisfies it, as it implies the rest
//! round t / b         b | t - z  and  b s <= a (t - z)  with z = M(t) mod b
//! round s / a         a | s + z  and  b (s + z) <= a t  with z = -M(s) mod a
//! ```
//!
//! Each upper bound has its own integer, yet they agree on one: the least integer that is not below `s0 / a0` is below
//! all of them. If two or more bounds need rounding, `s0 / a0` is rounded once for all of them.
//!
//! The model satisfies every result, and results imply that an `x` exists. There are finitely many choices of the
//! pivot, of `u` and of `z`, so finitely many results cover the exact one. The exception: if `D` has more than
//! [`MAX_PERIOD_BITS`] bits, `x` is replaced by its value, which is reported to the caller.
//!
//! Bounds are resolved as in Pugh, "The Omega test" (Supercomputing 1991), divisibilities as in Cooper, "Theorem
//! proving in arithmetic without multiplication" (Machine Intelligence 7, 1972). Letting a model choose the case is the
//! projection of Bjørner & Janota, "Playing with quantified satisfaction" (LPAR 2015).

use shofar_logic::fourier_motzkin::{Inequality, VariableBound, shadow, sides};
use shofar_logic::number::{Integer, Rational};
use shofar_logic::{LinearPoly, Sort, Term};

use super::ProjectError;
use super::arith::Values;
use super::constraint::{Constraint, Relation, combination, integer, monomial};

/// The greatest size of a period. Beyond it, the variable is replaced by its value: covering all residues would not end
/// anyway.
const MAX_PERIOD_BITS: usize = 32;

/// The result of eliminating a variable.
pub(super) struct Eliminated {
    /// Constraints without the variable.
    pub(super) constraints: Vec<Constraint>,
    /// Whether the variable was replaced by its value.
    pub(super) by_value: bool,
}

impl Eliminated {
    fn from(constraints: Vec<Constraint>) -> Self {
        Eliminated { constraints, by_value: false }
    }
}

/// Replaces the constraints on an integer variable by constraints without it.
pub(super) fn eliminate(
    x: Term,
    constraints: &[Constraint],
    values: &mut Values<'_, '_, '_>,
) -> Result<Eliminated, ProjectError> {
    let equalities = constraints.iter().enumerate().filter(|(_, c)| c.relation == Relation::Equal);
    let smallest = equalities.min_by(|(_, a), (_, b)| a.poly.coefficient(x).cmp_abs(&b.poly.coefficient(x)));
    if let Some((position, _)) = smallest {
        return Ok(Eliminated::from(substitute(x, constraints, position)));
    }
    let is_divisibility = |c: &&Constraint| matches!(c.relation, Relation::Divisible(_));
    let divisibilities: Vec<&Constraint> = constraints.iter().filter(is_divisibility).collect();
    let bounds: Vec<&Constraint> = constraints.iter().filter(|c| !is_divisibility(c)).collect();
    let has_lower = bounds.iter().any(|c| c.poly.coefficient(x).is_negative());
    let has_upper = bounds.iter().any(|c| c.poly.coefficient(x).is_positive());
    if !has_lower || !has_upper {
        return Ok(Eliminated::from(join(x, &divisibilities)));
    }
    let Some((period, residue)) = period(x, &divisibilities, values)? else {
        let value = LinearPoly::from_constant(values.of_monomial(x)?);
        let fixed = constraints.iter().map(|c| Constraint { poly: put(&c.poly, x, &value), ..c.clone() });
        return Ok(Eliminated { constraints: fixed.collect(), by_value: true });
    };
    let residue = Rational::from(residue);
    let fixed = LinearPoly::from_constant(residue.clone());
    let mut results: Vec<Constraint> =
        divisibilities.iter().map(|c| Constraint { poly: put(&c.poly, x, &fixed), ..(*c).clone() }).collect();
    // From here on x stands for x'. Rounding turns the divisions of x into constraints on x'.
    let image = combination(&Rational::from(period), &monomial(x), &Rational::ONE, &fixed);
    let put_in = |c: &&Constraint| Constraint::at_most_zero(put(&c.poly, x, &image)).normalized();
    let bounds: Vec<Constraint> = bounds.iter().filter_map(put_in).collect();
    let (lower, upper) = sides(bounds.iter().filter_map(|bound| bound.bound_of(x)));
    resolve(lower, upper, values, &mut results)?;
    Ok(Eliminated::from(results))
}

/// The polynomial with the variable replaced by another polynomial.
fn put(poly: &LinearPoly, x: Term, image: &LinearPoly) -> LinearPoly {
    let (coefficient, rest) = poly.split(x);
    combination(&Rational::ONE, &rest, &coefficient, image)
}

/// Substitutes an equality `a x = t` into the other constraints.
fn substitute(x: Term, constraints: &[Constraint], position: usize) -> Vec<Constraint> {
    let (coefficient, rest) = constraints[position].poly.split(x);
    let (a, t) = if coefficient.is_negative() { (-coefficient, rest) } else { (coefficient, -rest) };
    let mut results = vec![Constraint::divisible(integer(&a), t.clone())];
    for constraint in constraints[..position].iter().chain(&constraints[position + 1..]) {
        let (c, rest) = constraint.poly.split(x);
        let relation = match &constraint.relation {
            Relation::Divisible(modulus) => Relation::Divisible(modulus * integer(&a)),
            relation => relation.clone(),
        };
        results.push(Constraint { poly: combination(&a, &rest, &c, &t), relation, ..constraint.clone() });
    }
    results
}

/// The consequences of divisibilities on a variable without other constraints.
///
/// With `g = gcd(a n, c m) = p a n + q c m`, the pair `m | a x + r`, `n | c x + s` is equivalent to
/// `m n | g x + p n r + q m s` and `g | a s - c r`.
fn join(x: Term, divisibilities: &[&Constraint]) -> Vec<Constraint> {
    let mut results = Vec::new();
    let mut joined: Option<(Integer, LinearPoly)> = None;
    for constraint in divisibilities {
        let Relation::Divisible(n) = &constraint.relation else { continue };
        let (m, first) = match joined.take() {
            None => {
                joined = Some((n.clone(), constraint.poly.clone()));
                continue;
            }
            Some(joined) => joined,
        };
        let ((a, r), (c, s)) = (first.split(x), constraint.poly.split(x));
        let (g, p, q) = (integer(&a) * n).gcd_ext(&(integer(&c) * &m));
        results.push(Constraint::divisible(g.clone(), combination(&a, &s, &-c, &r)));
        let (pn, qm) = (Rational::from(p * n), Rational::from(q * &m));
        let sum = combination(&pn, &r, &qm, &s) + &(monomial(x) * &Rational::from(g));
        // Reducing keeps the numbers small. It may even eliminate x.
        let sum = Constraint::divisible(m * n, sum).normalized();
        joined = match sum.map(|sum| (sum.relation, sum.poly)) {
            Some((Relation::Divisible(modulus), poly)) => Some((modulus, poly)),
            _ => None,
        };
    }
    if let Some((modulus, poly)) = joined {
        let (c, rest) = poly.split(x);
        results.push(Constraint::divisible(integer(&c).gcd(&modulus), rest));
    }
    results
}

/// The period of the divisibilities in the variable, and the residue of its value; `None` if the period is too large.
fn period(
    x: Term,
    divisibilities: &[&Constraint],
    values: &mut Values<'_, '_, '_>,
) -> Result<Option<(Integer, Integer)>, ProjectError> {
    let mut period = Integer::ONE;
    for constraint in divisibilities {
        let Relation::Divisible(modulus) = &constraint.relation else { continue };
        let coefficient = integer(&constraint.poly.coefficient(x));
        period = period.lcm(&modulus.div_exact(&modulus.gcd(&coefficient)));
        if period.bit_len() > MAX_PERIOD_BITS {
            return Ok(None);
        }
    }
    let residue = integer(&values.of_monomial(x)?).rem_euclid(&period);
    Ok(Some((period, residue)))
}

/// States that there is an integer between the lower and upper bounds.
fn resolve(
    mut lower: Vec<VariableBound>,
    mut upper: Vec<VariableBound>,
    values: &mut Values<'_, '_, '_>,
    results: &mut Vec<Constraint>,
) -> Result<(), ProjectError> {
    let integral = |inequality: Inequality| Constraint::from_inequality(inequality, Sort::INT);
    let all_unit = |bounds: &[VariableBound]| bounds.iter().all(|bound| bound.factor.is_one());
    if lower.len() * upper.len() <= lower.len() + upper.len() && (all_unit(&lower) || all_unit(&upper)) {
        results.extend(shadow(&lower, &upper).map(integral));
        return Ok(());
    }
    if upper.len() < lower.len() {
        (lower, upper) = (upper, lower);
    }
    let is_preferred = |new: &VariableBound, old: &VariableBound| new.factor < old.factor;
    let pivot = lower.swap_remove(values.greatest(&lower, is_preferred)?);
    results.extend(lower.iter().map(|bound| bound.is_below(&pivot)).map(integral));
    // The upper bounds for which neither a unit coefficient nor the dark shadow suffices.
    let mut gray: Vec<&VariableBound> = Vec::new();
    for bound in &upper {
        if pivot.factor.is_one() || bound.factor.is_one() {
            results.push(real_shadow(&pivot, bound));
            continue;
        }
        let dark = dark_shadow(&pivot, bound);
        if dark.holds_at(&values.of_poly(&dark.poly)?) {
            results.push(dark);
        } else {
            gray.push(bound);
        }
    }
    match gray[..] {
        [] => {}
        [bound] if bound.factor <= pivot.factor => {
            let bound = rounded(bound, values, results)?;
            results.push(real_shadow(&pivot, &bound));
        }
        _ => {
            let pivot = rounded(&pivot, values, results)?;
            results.extend(gray.iter().map(|bound| real_shadow(&pivot, bound)));
        }
    }
    Ok(())
}

/// States that a real number lies between two bounds of different sides.
fn real_shadow(bound: &VariableBound, other: &VariableBound) -> Constraint {
    Constraint::from_inequality(bound.meets(other), Sort::INT)
}

/// States that two bounds of different sides are far enough apart to contain an integer, whatever their residues.
fn dark_shadow(bound: &VariableBound, other: &VariableBound) -> Constraint {
    let mut shadow = real_shadow(bound, other);
    shadow.poly.add_constant(&((&bound.factor - &Rational::ONE) * (&other.factor - &Rational::ONE)));
    shadow
}

/// The bound rounded up to the next multiple of its factor, by a number that the model gives and `results` state.
fn rounded(
    bound: &VariableBound,
    values: &mut Values<'_, '_, '_>,
    results: &mut Vec<Constraint>,
) -> Result<VariableBound, ProjectError> {
    let factor = integer(&bound.factor);
    let missing = (-integer(&values.of_poly(&bound.rest)?)).rem_euclid(&factor);
    let mut rounded = bound.clone();
    rounded.rest.add_constant(&Rational::from(missing));
    results.push(Constraint::divisible(factor, rounded.rest.clone()));
    Ok(rounded)
}
