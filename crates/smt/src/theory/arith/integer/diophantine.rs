//! Equations over the integers, solved by elimination.
//!
//! # What it decides
//!
//! Whether the current equations have a solution with integer values for the integer variables. Each variable that its
//! bounds fix gives one equation: `x = v` for a variable of the problem, `Σ a_j·x_j = v` for a slack variable defined
//! as the sum. Substitutions describe all solutions, and are then used to round the bounds of other forms.
//!
//! # The algorithm
//!
//! ```text
//! for each equation, in an order that takes simple ones first:
//!     reduce it: apply the substitutions made so far, in their order
//!     it has a real variable: it is a substitution for this; next equation
//!     loop:
//!         divide it by the gcd of its coefficients;  the constant is not divisible: contradiction
//!         no variable is left: the equation is redundant
//!         a_k := the least coefficient in absolute value
//!         if it is 1 or -1: the equation is a substitution for x_k; next equation
//!         otherwise name a form:  t = x_k + Σ floor(a_j / a_k)·x_j + floor(c / a_k)
//!             this is a substitution for x_k, which leaves the remainders of the other coefficients
//! ```
//!
//! The parameter `t` is a form with integer coefficients and unit coefficient at `x_k`, so integers `x` correspond to
//! integers after the substitution (it is a unimodular step), and the step assumes nothing.
//!
//! Then the form of each bounded variable that is not fixed is reduced to `Σ b_j·z_j + c`. With `g` the gcd of the
//! `b_j`, the variable is `c` modulo `g`, and its bounds are rounded to such numbers. If no such number lies between
//! them, this is a contradiction; if a bound cuts off the current value, it is worth asserting.
//!
//! # Invariants
//!
//! * D1: a line's form is the sum of the equations with its multipliers, except for forms that were named.
//! * D2: a substitution for an integer variable has the coefficient 1 there, and contains no real variable.
//! * D3: a substitution contains no variable of an earlier one.
//!
//! By D3 reduction terminates: each application introduces only variables of later substitutions. By D1 a contradiction
//! is a certificate: the divided line has integer coefficients over variables and parameters, so also over variables,
//! and a constant that is not an integer.
//!
//! # Where it comes from
//!
//! A. Griggio, *A practical approach to satisfiability modulo linear integer arithmetic*, JSAT 8 (2012), section
//! 4, which takes the elimination from D. Knuth, *The Art of Computer Programming*, volume 2, section 4.5.2, as
//! does the Omega test of W. Pugh. We substitute lazily, equation by equation; eager substitution chooses the
//! next equation better, but touches equations that have nothing to do with the contradiction.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use shofar_logic::number::{Integer, Rational};

use super::super::{Side, Simplex, Var};
use super::refutation::{Refutation, Tightening};

/// The greatest number of bits of a number; larger ones end the elimination.
const MOST_BITS: usize = 256;
/// The greatest number of additions of a line to another one.
const MOST_ADDITIONS: usize = 20_000;

/// The result of solving the equations.
pub(super) enum Equations {
    /// They contradict each other, or the bounds.
    Contradiction(Refutation),
    /// A bound follows that the current values violate.
    Tightened(Tightening),
    /// Nothing was found.
    Nothing,
}

impl Simplex {
    /// Solves the current equations, and rounds bounds by their solution.
    pub(super) fn solve_equations(&self) -> Equations {
        let equations = self.equations();
        let mut elimination = Elimination::default();
        for (index, (_, line)) in equations.iter().enumerate() {
            let multipliers = BTreeMap::from([(index, line.scale.clone())]);
            match elimination.add(Line { form: line.form.clone(), multipliers }) {
                Ok(()) => {}
                Err(Stop::Contradiction(multipliers)) => {
                    let terms = multipliers.into_iter().map(|(index, factor)| (equations[index].0, factor));
                    return Equations::Contradiction(self.refutation(terms.collect()));
                }
                Err(Stop::TooLarge) => return Equations::Nothing,
            }
        }
        if elimination.substitutions.is_empty() {
            return Equations::Nothing;
        }
        for var in self.vars().filter(|&var| self.is_int(var) && self.bounds.is_bounded(var)) {
            if self.fixed(var).is_some() {
                continue;
            }
            let mut line = Line { form: self.form(var), multipliers: BTreeMap::new() };
            if elimination.reduce(&mut line).is_err() {
                return Equations::Nothing;
            }
            match self.round_bounds(var, line, &equations) {
                Equations::Nothing => {}
                found => return found,
            }
        }
        Equations::Nothing
    }

    /// The fixed variables with their equations: those of one variable first, then those with real variables, then
    /// those with a unit coefficient, short ones first.
    fn equations(&self) -> Vec<(Var, Equation)> {
        let fixed = self.vars().filter_map(|var| {
            let value = self.fixed(var).filter(|value| value.delta().is_zero())?.real();
            let (scale, constant) = (value.denom(), value.numer());
            let mut form = self.form(var);
            for coeff in form.terms.values_mut() {
                *coeff *= &scale;
            }
            form.constant = -constant;
            Some((var, Equation { form, scale: Rational::from(scale) }))
        });
        let mut equations: Vec<(Var, Equation)> = fixed.collect();
        equations.sort_by_key(|(_, Equation { form, .. })| {
            let has_unit = form.terms.values().any(|coeff| coeff.abs().is_one());
            (form.terms.len() > 1, form.least_real().is_none(), !has_unit, form.terms.len())
        });
        equations
    }

    /// A variable as a form over variables of the problem.
    fn form(&self, var: Var) -> Form {
        let terms = match self.definition(var) {
            Some(definition) => {
                definition[1..].iter().map(|(var, coeff)| (self.symbol(*var), coeff.clone())).collect()
            }
            None => BTreeMap::from([(self.symbol(var), Integer::ONE)]),
        };
        Form { terms, constant: Integer::ZERO }
    }

    fn symbol(&self, var: Var) -> Symbol {
        if self.is_int(var) { Symbol::Integer(var) } else { Symbol::Real(var) }
    }

    /// Rounds the bounds of a variable, given its reduced form.
    fn round_bounds(&self, var: Var, line: Line, equations: &[(Var, Equation)]) -> Equations {
        let divisor = line.form.divisor();
        if divisor.is_zero() || divisor.is_one() {
            return Equations::Nothing;
        }
        let residue = &line.form.constant;
        let rounded = |side: Side| {
            let bound = self.integer_bound(var, side)?;
            Some(match side {
                Side::Lower => &bound + (residue - &bound).rem_euclid(&divisor),
                Side::Upper => &bound - (&bound - residue).rem_euclid(&divisor),
            })
        };
        let [lower, upper] = [Side::Lower, Side::Upper].map(rounded);
        let multiplier = Rational::new(Integer::ONE, divisor.clone());
        let fixed = || -> Vec<(Var, Rational)> {
            let terms = line.multipliers.iter();
            terms.map(|(&index, factor)| (equations[index].0, factor * &multiplier)).collect()
        };
        if let (Some(lower), Some(upper)) = (&lower, &upper)
            && lower > upper
        {
            let mut terms = fixed();
            terms.push((var, multiplier.clone()));
            return Equations::Contradiction(self.refutation(terms));
        }
        for (side, bound) in [(Side::Lower, lower), (Side::Upper, upper)] {
            if let Some(bound) = bound
                && !side.admits(&bound.clone().into(), &self.value(var))
            {
                let own = (var, multiplier.clone());
                return Equations::Tightened(self.tightening(own, side, bound, fixed()));
            }
        }
        Equations::Nothing
    }
}

/// A symbol of a form. Parameters are integers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Symbol {
    Real(Var),
    Integer(Var),
    /// A named form.
    Parameter(usize),
}

/// A form that is zero because a variable is fixed: that of the variable minus its value, scaled to integers.
struct Equation {
    form: Form,
    scale: Rational,
}

/// A linear form with integer coefficients, none of which is zero.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Form {
    terms: BTreeMap<Symbol, Integer>,
    constant: Integer,
}

impl Form {
    /// The greatest common divisor of the coefficients.
    fn divisor(&self) -> Integer {
        self.terms.values().fold(Integer::ZERO, |divisor, coeff| divisor.gcd(coeff))
    }

    /// The real variable with the least coefficient.
    fn least_real(&self) -> Option<Symbol> {
        let reals = self.terms.iter().filter(|(symbol, _)| matches!(symbol, Symbol::Real(_)));
        reals.min_by(|a, b| a.1.cmp_abs(b.1)).map(|(symbol, _)| *symbol)
    }

    fn sub_mul(&mut self, factor: &Integer, other: &Form) {
        for (symbol, coeff) in &other.terms {
            let own = self.terms.entry(*symbol).or_default();
            *own -= factor * coeff;
            if own.is_zero() {
                self.terms.remove(symbol);
            }
        }
        self.constant -= factor * &other.constant;
    }

    fn divide(&mut self, divisor: &Integer) {
        for coeff in self.terms.values_mut() {
            *coeff = coeff.div_exact(divisor);
        }
        self.constant = self.constant.div_exact(divisor);
    }

    fn is_large(&self) -> bool {
        self.constant.bit_len() > MOST_BITS || self.terms.values().any(|coeff| coeff.bit_len() > MOST_BITS)
    }
}

/// A form that is zero; see D1.
#[derive(Clone, Debug)]
struct Line {
    form: Form,
    /// The multiplier of each equation that takes part.
    multipliers: BTreeMap<usize, Rational>,
}

impl Line {
    fn sub_mul(&mut self, factor: &Integer, other: &Line) {
        self.form.sub_mul(factor, &other.form);
        let factor = Rational::from(factor.clone());
        for (index, multiplier) in &other.multipliers {
            let own = self.multipliers.entry(*index).or_default();
            own.sub_mul(&factor, multiplier);
            if own.is_zero() {
                self.multipliers.remove(index);
            }
        }
    }

    fn multiply(&mut self, factor: &Integer) {
        for coeff in self.form.terms.values_mut() {
            *coeff *= factor;
        }
        self.form.constant *= factor;
        self.scale_multipliers(&Rational::from(factor.clone()));
    }

    /// Divides the line by the common divisor of all its numbers.
    fn shorten(&mut self) {
        let divisor = self.form.divisor().gcd(&self.form.constant);
        if !divisor.is_zero() && !divisor.is_one() {
            self.form.divide(&divisor);
            self.scale_multipliers(&Rational::new(Integer::ONE, divisor));
        }
    }

    fn scale_multipliers(&mut self, factor: &Rational) {
        for multiplier in self.multipliers.values_mut() {
            *multiplier *= factor;
        }
    }
}

/// Why an equation was not added.
#[derive(Debug)]
enum Stop {
    /// With these multipliers the sum of equations has integer coefficients and a fractional constant.
    Contradiction(BTreeMap<usize, Rational>),
    /// Numbers or effort became too large.
    TooLarge,
}

/// The substitutions made so far; see D2.
#[derive(Default)]
struct Elimination {
    substitutions: Vec<Line>,
    /// The substitution of a symbol.
    by_symbol: FxHashMap<Symbol, usize>,
    parameters: usize,
    additions: usize,
}

impl Elimination {
    /// Adds an equation.
    fn add(&mut self, mut line: Line) -> Result<(), Stop> {
        self.reduce(&mut line)?;
        if let Some(real) = line.form.least_real() {
            self.substitute(real, line);
            return Ok(());
        }
        loop {
            let divisor = line.form.divisor();
            if divisor.is_zero() && line.form.constant.is_zero() {
                return Ok(());
            }
            if !divisor.divides(&line.form.constant) {
                // Without variables, any fraction of the constant that is not an integer will do.
                let constant = &line.form.constant;
                let divisor = if divisor.is_zero() { constant + constant } else { divisor };
                line.scale_multipliers(&Rational::new(Integer::ONE, divisor));
                return Err(Stop::Contradiction(line.multipliers));
            }
            line.form.divide(&divisor);
            line.scale_multipliers(&Rational::new(Integer::ONE, divisor));

            let least = line.form.terms.iter().min_by(|a, b| a.1.cmp_abs(b.1));
            let (&symbol, coeff) = least.expect("a form without variables has no divisor");
            let coeff = coeff.clone();
            if coeff.abs().is_one() {
                if coeff.is_negative() {
                    line.form.divide(&coeff);
                    line.scale_multipliers(&-Rational::ONE);
                }
                self.substitute(symbol, line);
                return Ok(());
            }
            let named = self.name_quotients(&line.form, symbol, &coeff);
            line.sub_mul(&coeff, &named);
            self.substitute(symbol, named);
        }
    }

    /// Applies all substitutions to a line. By D2 this does not scale a line without real variables.
    fn reduce(&mut self, line: &mut Line) -> Result<(), Stop> {
        while let Some((first, symbol)) = self.first_substitution(&line.form) {
            self.additions += 1;
            if self.additions > MOST_ADDITIONS || line.form.is_large() {
                return Err(Stop::TooLarge);
            }
            let substitution = &self.substitutions[first];
            let pivot = &substitution.form.terms[&symbol];
            if !pivot.is_one() {
                line.multiply(pivot);
            }
            let factor = line.form.terms[&symbol].div_exact(pivot);
            line.sub_mul(&factor, substitution);
            if !pivot.is_one() {
                line.shorten();
            }
        }
        Ok(())
    }

    fn first_substitution(&self, form: &Form) -> Option<(usize, Symbol)> {
        form.terms.keys().filter_map(|symbol| Some((*self.by_symbol.get(symbol)?, *symbol))).min()
    }

    fn substitute(&mut self, symbol: Symbol, line: Line) {
        let is_real = line.form.least_real().is_some();
        debug_assert!(is_real == matches!(symbol, Symbol::Real(_)), "D2");
        debug_assert!(is_real || line.form.terms[&symbol].is_one(), "D2");
        debug_assert!(self.first_substitution(&line.form).is_none(), "D3");
        self.by_symbol.insert(symbol, self.substitutions.len());
        self.substitutions.push(line);
    }

    /// The equation `x_k + Σ floor(a_j / a_k)·x_j + floor(c / a_k) - t = 0` that defines a parameter `t`.
    fn name_quotients(&mut self, form: &Form, symbol: Symbol, coeff: &Integer) -> Line {
        let quotients = form.terms.iter().map(|(other, own)| (*other, own.div_floor(coeff)));
        let mut terms: BTreeMap<Symbol, Integer> = quotients.filter(|(_, own)| !own.is_zero()).collect();
        debug_assert!(terms[&symbol].is_one());
        terms.insert(Symbol::Parameter(self.parameters), Integer::from(-1));
        self.parameters += 1;
        let form = Form { terms, constant: form.constant.div_floor(coeff) };
        Line { form, multipliers: BTreeMap::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(index: usize, terms: &[(usize, i64)], constant: i64) -> Line {
        let terms = terms
            .iter()
            .map(|&(var, coeff)| (Symbol::Integer(Var::new(var)), Integer::from(coeff)))
            .collect();
        let form = Form { terms, constant: Integer::from(constant) };
        Line { form, multipliers: BTreeMap::from([(index, Rational::ONE)]) }
    }

    fn contradiction(lines: Vec<Line>) -> Option<BTreeMap<usize, Rational>> {
        let mut elimination = Elimination::default();
        lines.into_iter().find_map(|line| match elimination.add(line) {
            Ok(()) => None,
            Err(Stop::Contradiction(multipliers)) => Some(multipliers),
            Err(Stop::TooLarge) => panic!("small equations stay small"),
        })
    }

    #[test]
    fn the_multipliers_of_even_and_odd_are_halves() {
        // z = 2x, z = 2y + 1.
        let found = contradiction(vec![line(0, &[(2, 1), (0, -2)], 0), line(1, &[(2, 1), (1, -2)], -1)]);
        let half = Rational::new(Integer::ONE, Integer::from(2));
        let multipliers: Vec<_> =
            found.expect("contradictory").into_values().map(|factor| factor.abs()).collect();
        assert_eq!(multipliers, [half.clone(), half]);
    }

    #[test]
    fn knuths_example_is_solved() {
        // The Art of Computer Programming, volume 2, section 4.5.2: 10w + 3x + 3y + 8z = 1, 6w - 7x - 5z = 2.
        let equations =
            [line(0, &[(0, 10), (1, 3), (2, 3), (3, 8)], -1), line(1, &[(0, 6), (1, -7), (3, -5)], -2)];
        let mut elimination = Elimination::default();
        for equation in equations.clone() {
            elimination.add(equation).expect("there are solutions");
        }
        // Whatever integers are chosen for the two free symbols, the equations hold.
        for mut equation in equations {
            elimination.reduce(&mut equation).expect("small");
            assert_eq!(equation.form, Form::default());
        }
        assert_eq!(elimination.substitutions.len(), 2 + elimination.parameters);
    }

    #[test]
    fn rational_contradictions_are_found_too() {
        let found = contradiction(vec![line(0, &[(0, 1), (1, 1)], 0), line(1, &[(0, 1), (1, 1)], -2)]);
        let found = found.expect("contradictory");
        assert_eq!(found[&0], -&found[&1]);
    }
}
