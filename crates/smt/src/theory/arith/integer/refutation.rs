//! Certificates over the integers: a linear form whose bounds leave no room for an integer.
//!
//! Farkas' lemma refutes bounds over the rationals with one sum. Over the integers all steps of this folder have one
//! kind of certificate instead: multipliers `λ_i` of variables `x_i` that have both bounds, such that the form `y = Σ
//! λ_i·x_i` has integer coefficients once slack variables are replaced by their definitions. Then `y` is an integer,
//! but the bounds of the `x_i` confine it to an interval without one.
//!
//! If all the `x_i` are fixed, this is the certificate that a system of equations has no integer solution: multipliers
//! for which the variables of the sum have integer coefficients and the constant is not an integer. The sum over one
//! half of the equations says that some number is an integer. Interpolants with divisibility are built from the
//! multipliers, so these are kept.

use rustc_hash::FxHashMap;
use shofar_logic::number::{Integer, Rational};

use super::super::bounds::Bound;
use super::super::{DeltaRational, Reason, Side, Simplex, Var};

/// The share of a variable in a form that is an integer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Multiple {
    /// The variable.
    pub var: Var,
    /// Its multiplier.
    pub multiplier: Rational,
    /// The reasons of its lower and of its upper bound.
    pub reasons: [Reason; 2],
}

/// Bounds that no integers satisfy, though rationals may. See the module documentation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refutation {
    /// The form that is an integer, each variable once.
    pub terms: Vec<Multiple>,
}

impl Refutation {
    /// The reasons of all bounds used, each once.
    pub fn reasons(&self) -> Vec<Reason> {
        let mut reasons: Vec<Reason> = self.terms.iter().flat_map(|term| term.reasons).collect();
        reasons.sort_unstable();
        reasons.dedup();
        reasons
    }
}

/// A bound that follows for integers.
///
/// With the bound's negation on `var`, no integer lies between the bounds of the form, as in [`Refutation`]. All
/// variables except `var` are fixed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tightening {
    /// The variable that gets the bound.
    pub var: Var,
    /// Whether it is a lower or an upper bound.
    pub side: Side,
    /// The bound.
    pub bound: Integer,
    /// The multiplier of the variable in the form.
    pub multiplier: Rational,
    /// The reason of the weaker bound on the same side.
    pub weaker: Reason,
    /// The rest of the form.
    pub fixed: Vec<Multiple>,
}

impl Tightening {
    /// The reasons of all bounds used, each once.
    pub fn reasons(&self) -> Vec<Reason> {
        let mut reasons: Vec<Reason> = self.fixed.iter().flat_map(|term| term.reasons).collect();
        reasons.push(self.weaker);
        reasons.sort_unstable();
        reasons.dedup();
        reasons
    }
}

impl Simplex {
    /// The refutation with the given multipliers of variables that have both bounds.
    pub(super) fn refutation(&self, terms: Vec<(Var, Rational)>) -> Refutation {
        debug_assert_eq!(self.confines_no_integer(&terms, None), Ok(()));
        Refutation { terms: self.multiples(terms) }
    }

    /// The tightened bound with the given multipliers of fixed variables and of the variable itself.
    pub(super) fn tightening(
        &self,
        (var, multiplier): (Var, Rational),
        side: Side,
        bound: Integer,
        fixed: Vec<(Var, Rational)>,
    ) -> Tightening {
        if cfg!(debug_assertions) {
            let negation = self.negation(var, side, &DeltaRational::from(bound.clone()));
            let terms: Vec<_> = fixed.iter().cloned().chain([(var, multiplier.clone())]).collect();
            assert_eq!(self.confines_no_integer(&terms, Some((var, negation))), Ok(()));
        }
        let weaker = self.bounds.get(var, side).expect("there is a bound to be tightened").reason;
        Tightening { var, side, bound, multiplier, weaker, fixed: self.multiples(fixed) }
    }

    fn multiples(&self, terms: Vec<(Var, Rational)>) -> Vec<Multiple> {
        let reason = |bound: Option<&Bound>| bound.expect("the variable has both bounds").reason;
        let multiple = |(var, multiplier)| {
            let reasons = [Side::Lower, Side::Upper].map(|side| reason(self.bounds.get(var, side)));
            Multiple { var, multiplier, reasons }
        };
        terms.into_iter().map(multiple).collect()
    }

    /// Verifies a certificate against definitions and bounds. One additional bound may be assumed.
    fn confines_no_integer(
        &self,
        terms: &[(Var, Rational)],
        assumed: Option<(Var, (Side, DeltaRational))>,
    ) -> Result<(), String> {
        let mut form = FxHashMap::<Var, Rational>::default();
        let [mut least, mut greatest] = [DeltaRational::ZERO, DeltaRational::ZERO];
        for (var, multiplier) in terms {
            let own = [(*var, Integer::ONE)];
            for (inner, coeff) in self.definition(*var).map_or(&own[..], |definition| &definition[1..]) {
                form.entry(*inner).or_default().add_mul(multiplier, &Rational::from(coeff.clone()));
            }
            for (sum, extreme) in [(&mut least, Side::Lower), (&mut greatest, Side::Upper)] {
                let side = if multiplier.is_negative() { extreme.opposite() } else { extreme };
                let assumed = assumed.as_ref().filter(|(other, bound)| other == var && bound.0 == side);
                let bound = match assumed {
                    Some((_, (_, value))) => value,
                    None => &self.bounds.get(*var, side).ok_or(format!("{var:?} has no bound"))?.value,
                };
                sum.add_mul(multiplier, bound);
            }
        }
        let mut coefficients: Vec<_> = form.into_iter().collect();
        coefficients.sort_unstable();
        match coefficients
            .iter()
            .find(|(var, coeff)| !(coeff.is_zero() || self.is_int(*var) && coeff.is_integer()))
        {
            Some((var, coeff)) => Err(format!("{coeff} times {var:?} is not an integer")),
            None if least.ceil() <= greatest.floor() => Err(format!("{} is between", least.ceil())),
            None => Ok(()),
        }
    }
}
