//! Inequalities, and Fourier-Motzkin elimination of a variable.
//!
//! Each inequality `poly <= 0` or `poly < 0` that contains `x` is a bound of `x`; the sign of its coefficient makes it
//! a lower or an upper one. One form serves both: a lower bound is `s <= a x` with a positive `a`, and an upper bound
//! of `x` is a lower bound of `-x`.
//!
//! ```text
//! s <= a x  and  t <= b (-x)     meet:        there is a number between them if and only if  b s + a t <= 0
//! s <= a x  and  r <= c x        are ordered: the first follows from the second if           c s - a r <= 0
//! ```
//!
//! - F1: bounds may meet in a single point, which a strict one excludes. So the result is strict if one of them is.
//!   Equal bounds follow from each other, except that a strict one does not follow from one that is not.
//! - F2: over the rationals, some `x` satisfies all bounds if and only if each lower one meets each upper one (the
//!   *shadow*): the greatest lower bound and the least upper one are among them.
//! - F3: over the integers the shadow is necessary. It is sufficient if in each pair one of the factors is one, because
//!   that bound is then an integer (the *exact shadow* of Pugh, "The Omega test", CACM 1992).
//! - F4: the sums are as above, not divided by common factors. So integers stay integers, and adding a number to ask
//!   for more room between two bounds, as the *dark shadow* does, asks for that many `1 / (a b)`.
//!
//! `n` inequalities give up to `n * n / 4` results, most of them redundant. Callers handle this: they eliminate only if
//! nothing gets larger, choose one bound by a model, or know which results are redundant.
//!
//! J. Fourier (1827) and T. Motzkin (1936); A. Schrijver, "Theory of linear and integer programming" (1986), section
//! 12.2.

use crate::linear::LinearPoly;
use crate::number::Rational;
use crate::term::Term;

/// `poly <= 0`, or `poly < 0` if strict.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Inequality<M = Term> {
    /// The polynomial compared with zero.
    pub poly: LinearPoly<M>,
    /// Whether it must differ from zero.
    pub is_strict: bool,
}

/// The side on which a variable is bounded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// From below.
    Lower,
    /// From above.
    Upper,
}

/// A bound on a variable `x`: `rest <= factor * x`, or `rest < factor * x` if strict, for a lower bound. An upper bound
/// is the same for `-x`. The factor is positive, and the variable is not in `rest`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VariableBound<M = Term> {
    /// The other summands.
    pub rest: LinearPoly<M>,
    /// The coefficient without its sign.
    pub factor: Rational,
    /// Whether both sides must differ.
    pub is_strict: bool,
}

impl<M: Copy + Ord> Inequality<M> {
    /// Its bound on a variable, if the variable occurs.
    pub fn bound_of(&self, variable: M) -> Option<(Side, VariableBound<M>)> {
        VariableBound::of(&self.poly, self.is_strict, variable)
    }
}

impl<M: Copy + Ord> VariableBound<M> {
    /// The bound of `poly <= 0`, or `poly < 0` if strict, on a variable, if the variable occurs.
    pub fn of(poly: &LinearPoly<M>, is_strict: bool, variable: M) -> Option<(Side, Self)> {
        let (coefficient, rest) = poly.split(variable);
        if coefficient.is_zero() {
            return None;
        }
        let side = if coefficient.is_negative() { Side::Lower } else { Side::Upper };
        Some((side, VariableBound { rest, factor: coefficient.abs(), is_strict }))
    }

    /// States that there is a number between this bound and one of the other side.
    pub fn meets(&self, other: &Self) -> Inequality<M> {
        let mut poly = self.rest.clone() * &other.factor;
        poly.add_scaled(&other.rest, &self.factor);
        Inequality { poly, is_strict: self.is_strict || other.is_strict }
    }

    /// States that this bound follows from another one of the same side.
    pub fn is_below(&self, other: &Self) -> Inequality<M> {
        let mut poly = self.rest.clone() * &other.factor;
        poly.add_scaled(&other.rest, &-&self.factor);
        Inequality { poly, is_strict: self.is_strict && !other.is_strict }
    }
}

/// Splits the bounds of a variable into lower and upper ones.
pub fn sides<B>(bounds: impl IntoIterator<Item = (Side, B)>) -> (Vec<B>, Vec<B>) {
    let (mut lower, mut upper) = (Vec::new(), Vec::new());
    for (side, bound) in bounds {
        match side {
            Side::Lower => lower.push(bound),
            Side::Upper => upper.push(bound),
        }
    }
    (lower, upper)
}

/// States that each lower bound of a variable meets each upper one (F2).
pub fn shadow<M: Copy + Ord>(
    lower: &[VariableBound<M>],
    upper: &[VariableBound<M>],
) -> impl Iterator<Item = Inequality<M>> {
    lower.iter().flat_map(move |low| upper.iter().map(move |up| low.meets(up)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A generator of small numbers.
    struct Numbers(u64);

    impl Numbers {
        /// Between `-most` and `most`.
        fn next(&mut self, most: i64) -> i64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            i64::try_from(self.0 >> 33).expect("31 bits") % (2 * most + 1) - most
        }
    }

    /// Inequalities in `x` and `y`, the monomials 0 and 1.
    fn inequalities(numbers: &mut Numbers, most: i64) -> Vec<Inequality<u32>> {
        let count = 2 + numbers.next(2).unsigned_abs();
        let one = |_| {
            let pairs = vec![(0, numbers.next(most).into()), (1, numbers.next(3).into())];
            let poly = LinearPoly::from_pairs(pairs, numbers.next(6).into());
            Inequality { poly, is_strict: numbers.next(1) == 0 }
        };
        (0..count).map(one).collect()
    }

    fn holds(inequality: &Inequality<u32>, x: &Rational, y: &Rational) -> bool {
        let value = inequality.poly.eval(|monomial| Some(if monomial == 0 { x } else { y }.clone()));
        let value = value.expect("both have values");
        if inequality.is_strict { value.is_negative() } else { !value.is_positive() }
    }

    /// F2, at many values of `y`. If there is an `x`, it is a bound, between two of them, or beyond all: so all of
    /// these are tried.
    #[test]
    fn the_shadow_is_where_a_rational_number_satisfies_all_bounds() {
        let mut numbers = Numbers(1);
        let (mut inside, mut outside) = (0, 0);
        for _ in 0..400 {
            let all = inequalities(&mut numbers, 4);
            let (lower, upper) = sides(all.iter().filter_map(|inequality| inequality.bound_of(0)));
            let shadow: Vec<_> = shadow(&lower, &upper).collect();
            assert!(shadow.iter().all(|result| result.poly.coefficient(0).is_zero()));
            for y in (-8..=8).map(|y| Rational::from(y) / &Rational::from(2)) {
                let at = |bound: &VariableBound<u32>| {
                    bound.rest.eval(|_| Some(y.clone())).expect("it has a value") / &bound.factor
                };
                let mut ends: Vec<Rational> = lower.iter().map(at).collect();
                ends.extend(upper.iter().map(|bound| -at(bound)));
                ends.extend([Rational::ZERO]);
                ends.sort();
                let middles = ends.windows(2).map(|pair| (&pair[0] + &pair[1]) / &Rational::from(2));
                let mut points: Vec<Rational> = middles.collect();
                points.push(&ends[0] - &Rational::ONE);
                points.push(&ends[ends.len() - 1] + &Rational::ONE);
                points.extend(ends);
                let bounds: Vec<_> = all.iter().filter(|one| one.bound_of(0).is_some()).collect();
                let exists = points.iter().any(|x| bounds.iter().all(|bound| holds(bound, x, &y)));
                assert_eq!(shadow.iter().all(|result| holds(result, &Rational::ZERO, &y)), exists, "{all:?}");
                if exists { inside += 1 } else { outside += 1 }
            }
        }
        assert!(inside > 500 && outside > 500, "{inside} {outside}");
    }

    /// F3. Integers have no strict inequalities. The integers tried lie around all bounds.
    #[test]
    fn with_unit_factors_the_shadow_is_exact_on_integers() {
        let mut numbers = Numbers(2);
        let (mut inside, mut outside) = (0, 0);
        for _ in 0..400 {
            let mut all = inequalities(&mut numbers, 3);
            all.iter_mut().for_each(|inequality| inequality.is_strict = false);
            all.retain(|inequality| inequality.bound_of(0).is_some());
            let (lower, upper) = sides(all.iter().filter_map(|inequality| inequality.bound_of(0)));
            if lower.iter().any(|low| upper.iter().any(|up| !low.factor.is_one() && !up.factor.is_one())) {
                continue;
            }
            let shadow: Vec<_> = shadow(&lower, &upper).collect();
            for y in (-5..=5).map(Rational::from) {
                let exists = (-40..=40).any(|x| all.iter().all(|bound| holds(bound, &Rational::from(x), &y)));
                assert_eq!(shadow.iter().all(|result| holds(result, &Rational::ZERO, &y)), exists, "{all:?}");
                if exists { inside += 1 } else { outside += 1 }
            }
        }
        assert!(inside > 100 && outside > 100, "{inside} {outside}");
    }

    /// F1: the order of two bounds holds if and only if no point satisfies the second one but not the first one.
    #[test]
    fn an_order_of_bounds_is_an_implication() {
        let mut numbers = Numbers(3);
        let mut compared = 0;
        for _ in 0..400 {
            let all = inequalities(&mut numbers, 4);
            for (first, second) in all.iter().zip(&all[1..]) {
                let (Some((side, one)), Some((other_side, other))) = (first.bound_of(0), second.bound_of(0))
                else {
                    continue;
                };
                if side != other_side {
                    continue;
                }
                compared += 1;
                let order = one.is_below(&other);
                for y in (-4..=4).map(Rational::from) {
                    // Quarters and thirds of units, and points between them.
                    let points = (-600..=600).map(|x| Rational::from(x) / &Rational::from(24));
                    let mut open = points.filter(|x| holds(second, x, &y) && !holds(first, x, &y));
                    assert_eq!(
                        holds(&order, &Rational::ZERO, &y),
                        open.next().is_none(),
                        "{first:?} {second:?}"
                    );
                }
            }
        }
        assert!(compared > 100, "{compared}");
    }
}
