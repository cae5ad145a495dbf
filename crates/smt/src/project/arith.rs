//! Eliminates numbers from a cube: turns literals into linear constraints, and eliminates variable by variable.
//!
//! ```text
//! translate       literals with variables to eliminate become constraints; disequalities are split by the model
//! reals           one after the other                                                  lra.rs
//! whole parts     constraints that mix reals and integers are rounded to constraints on integers
//! integers        one after the other                                                  lia.rs
//! ```
//!
//! *Rounding in terms.* If variables to eliminate occur in `p div k`, `p mod k` or `to_int(p)`, the quotient becomes an
//! integer variable `q` with `k q <= p < k q + k`, to be eliminated with the others. This is exact, since `p`
//! determines `q`. Only an equality `p mod k = c` is directly a divisibility.
//!
//! *Reals and integers.* When eliminating reals, an integer is a number like any other: a cast is a monomial. When the
//! reals are eliminated, a constraint between an integer sum `P` and a sum `R` of the remaining reals bounds `P`:
//!
//! ```text
//! P + R <= 0     P <= to_int(-R)
//! P + R <  0     P < -to_int(R)
//! P + R =  0     P = -to_int(R)  and  R is an integer
//! ```
//!
//! So any linear mixture can be projected. Terms that are not linear in the variables (products, functions, array
//! reads) are reported as *buried*.
//!
//! *Order.* The next variable is one with a coefficient 1 in an equality, or without bounds on one side; then one in
//! any equality; then one with coefficients 1 only, where elimination loses least; then others. Ties go to the variable
//! with the fewest pairs of bounds.

use rustc_hash::FxHashMap;
use shofar_logic::fourier_motzkin::VariableBound;
use shofar_logic::number::{Integer, Rational};
use shofar_logic::{LinearPoly, Op, Sort, Term, TermStore};

use super::ProjectError;
use super::constraint::{Constraint, Relation, monomial};
use super::context::Context;
use super::{lia, lra};

/// The values of monomials in the model.
pub(super) struct Values<'v, 'c, 'a> {
    context: &'v mut Context<'c, 'a>,
    known: FxHashMap<Term, Rational>,
}

impl Values<'_, '_, '_> {
    /// The value of a monomial. A cast has the value of the integer.
    pub(super) fn of_monomial(&mut self, term: Term) -> Result<Rational, ProjectError> {
        if let Some(value) = self.known.get(&term) {
            return Ok(value.clone());
        }
        let value = match self.context.store.view(term) {
            (Op::ToReal, [int]) if self.known.contains_key(int) => self.known[int].clone(),
            _ => self.context.number(term)?,
        };
        self.known.insert(term, value.clone());
        Ok(value)
    }

    /// The value of a polynomial.
    pub(super) fn of_poly(&mut self, poly: &LinearPoly) -> Result<Rational, ProjectError> {
        let mut sum = poly.constant().clone();
        for (term, coefficient) in poly.terms() {
            match self.known.get(term) {
                Some(value) => sum.add_mul(coefficient, value),
                None => sum.add_mul(coefficient, &self.of_monomial(*term)?),
            }
        }
        Ok(sum)
    }

    /// The position of the greatest bound of one side; among equal ones the first to which no other is preferred.
    pub(super) fn greatest(
        &mut self,
        bounds: &[VariableBound],
        is_preferred: impl Fn(&VariableBound, &VariableBound) -> bool,
    ) -> Result<usize, ProjectError> {
        let mut best: Option<(usize, Rational)> = None;
        for (position, bound) in bounds.iter().enumerate() {
            let value = self.of_poly(&bound.rest)? / &bound.factor;
            let is_better = best.as_ref().is_none_or(|(best, greatest)| {
                value > *greatest || value == *greatest && is_preferred(bound, &bounds[*best])
            });
            if is_better {
                best = Some((position, value));
            }
        }
        Ok(best.map_or(0, |(position, _)| position))
    }
}

/// Why a literal could not be translated.
pub(super) enum Obstacle {
    /// Variables to eliminate occur in this term, and it is not linear in them.
    Buried(Term),
    /// Another error.
    Error(ProjectError),
}

impl From<ProjectError> for Obstacle {
    fn from(error: ProjectError) -> Self {
        Obstacle::Error(error)
    }
}

/// A conjunction of constraints, from which variables are eliminated.
pub(super) struct System<'v, 'c, 'a> {
    store: &'a TermStore,
    values: Values<'v, 'c, 'a>,
    constraints: Vec<Constraint>,
    /// The variables to eliminate; integers include the quotients.
    reals: Vec<Term>,
    ints: Vec<Term>,
    /// The quotients, by dividend and divisor; no divisor for `to_int`.
    quotients: FxHashMap<(Term, Option<Term>), Term>,
    /// The polynomials of `div`, `mod` and `to_int` terms.
    images: FxHashMap<Term, LinearPoly>,
    /// Spare symbols for quotients.
    spare: &'v mut Vec<Term>,
    /// Literals without variables that arise during elimination.
    literals: Vec<Term>,
    by_value: bool,
}

impl<'v, 'c, 'a> System<'v, 'c, 'a> {
    /// A system without constraints. `spare` holds integer symbols used nowhere else, and is extended if more are
    /// needed.
    pub(super) fn new(context: &'v mut Context<'c, 'a>, spare: &'v mut Vec<Term>) -> Self {
        let store = context.store;
        let of_sort = |sort| context.vars.iter().copied().filter(move |&var| store.sort_of(var) == sort);
        let (reals, ints) = (of_sort(Sort::REAL).collect(), of_sort(Sort::INT).collect());
        System {
            store,
            values: Values { context, known: FxHashMap::default() },
            constraints: Vec::new(),
            reals,
            ints,
            quotients: FxHashMap::default(),
            images: FxHashMap::default(),
            spare,
            literals: Vec::new(),
            by_value: false,
        }
    }

    /// Eliminates the variables. Returns literals without them, and whether a variable was replaced by its value.
    pub(super) fn solve(mut self) -> Result<(Vec<Term>, bool), ProjectError> {
        let mut reals = std::mem::take(&mut self.reals);
        while let Some(x) = self.next_variable(&mut reals) {
            let about_x = self.take_constraints(x);
            let results = lra::eliminate(x, &about_x, &mut self.values)?;
            results.into_iter().for_each(|constraint| self.add(constraint));
        }
        self.round_mixed();
        let mut ints = std::mem::take(&mut self.ints);
        while let Some(x) = self.next_variable(&mut ints) {
            let about_x = self.take_constraints(x);
            let lia::Eliminated { constraints, by_value } = lia::eliminate(x, &about_x, &mut self.values)?;
            constraints.into_iter().for_each(|constraint| self.add(constraint));
            self.by_value |= by_value;
        }
        let store = self.store;
        self.literals.extend(self.constraints.iter().map(|constraint| constraint.to_term(store)));
        Ok((self.literals, self.by_value))
    }

    // ---- from literals to constraints ----------------------------------------------------------------------

    /// Adds a literal that contains variables to eliminate.
    pub(super) fn add_literal(&mut self, literal: Term) -> Result<(), Obstacle> {
        let store = self.store;
        let (atom, positive) = store.literal(literal);
        let (op, &[left, right]) = store.view(atom) else { return Err(Obstacle::Buried(atom)) };
        let sort = store.sort_of(left);
        if !matches!(op, Op::Eq | Op::Le | Op::Lt) || !sort.is_arithmetic() {
            return Err(Obstacle::Buried(atom));
        }
        if let ((Op::Mod, &[dividend, modulus]), Some(rest)) = (store.view(left), store.numeral(right))
            && let Some(modulus) = positive_integer(store, modulus)
            && op == Op::Eq
            && positive
        {
            let mut poly = self.polynomial(dividend)?;
            poly.add_constant(&-rest);
            self.add(Constraint::divisible(modulus, poly));
            return Ok(());
        }
        let difference = self.polynomial(left)? - &self.polynomial(right)?;
        let (poly, relation) = match (op, positive) {
            (Op::Eq, true) => (difference, Relation::Equal),
            (Op::Eq, false) => {
                let above = self.values.of_poly(&difference)?.is_positive();
                (if above { -difference } else { difference }, Relation::Below)
            }
            (Op::Le, true) => (difference, Relation::AtMost),
            (Op::Le, false) => (-difference, Relation::Below),
            (_, true) => (difference, Relation::Below),
            (_, false) => (-difference, Relation::AtMost),
        };
        self.add(Constraint { poly, relation, sort });
        Ok(())
    }

    /// The polynomial of a normal term over variables to eliminate and terms without them.
    fn polynomial(&mut self, term: Term) -> Result<LinearPoly, Obstacle> {
        let store = self.store;
        let context = &mut *self.values.context;
        let contents = context.contents(term);
        if contents.rounding && contents.variable {
            // Ascending: inner terms come first.
            let inside = store.subterms_until(&[term], |part| !context.mentions(part));
            for part in inside {
                if matches!(store.op(part), Op::IntDiv | Op::Mod | Op::ToInt)
                    && self.values.context.mentions(part)
                    && !self.images.contains_key(&part)
                {
                    self.round(part)?;
                }
            }
        }
        self.with_images(LinearPoly::from_term(store, term))
    }

    /// Replaces rounded terms by their polynomials.
    fn with_images(&mut self, poly: LinearPoly) -> Result<LinearPoly, Obstacle> {
        let context = &mut *self.values.context;
        let mut plain = Vec::with_capacity(poly.terms().len());
        let mut images: Vec<(LinearPoly, Rational)> = Vec::new();
        for (term, coefficient) in poly.terms() {
            let (inner, is_cast) = match self.store.view(*term) {
                (Op::ToReal, &[int]) => (int, true),
                _ => (*term, false),
            };
            if context.is_variable(inner) || !context.mentions(inner) {
                plain.push((*term, coefficient.clone()));
                continue;
            }
            let image = self.images.get(&inner).ok_or(Obstacle::Buried(*term))?;
            let image = if is_cast { cast(self.store, image) } else { image.clone() };
            images.push((image, coefficient.clone()));
        }
        let mut sum = LinearPoly::from_pairs(plain, poly.constant().clone());
        for (image, coefficient) in images {
            sum.add_scaled(&image, &coefficient);
        }
        Ok(sum)
    }

    /// Computes the polynomial of a `div`, `mod` or `to_int` term, after that of its argument.
    fn round(&mut self, term: Term) -> Result<(), Obstacle> {
        let store = self.store;
        let (op, args) = store.view(term);
        let dividend = self.with_images(LinearPoly::from_term(store, args[0]))?;
        let modulus = match args {
            &[_, divisor] => Some(positive_integer(store, divisor).ok_or(Obstacle::Buried(term))?),
            _ => None,
        };
        let key = (args[0], args.get(1).copied());
        let quotient = match self.quotients.get(&key) {
            Some(&quotient) => quotient,
            None => {
                let quotient = self.new_quotient(&dividend, modulus.as_ref())?;
                self.quotients.insert(key, quotient);
                quotient
            }
        };
        let image = match (op, modulus) {
            (Op::Mod, Some(modulus)) => {
                let mut rest = dividend;
                rest.add_scaled(&monomial(quotient), &-Rational::from(modulus));
                rest
            }
            _ => monomial(quotient),
        };
        self.images.insert(term, image);
        Ok(())
    }

    /// A variable for the quotient, with its definition.
    fn new_quotient(
        &mut self,
        dividend: &LinearPoly,
        modulus: Option<&Integer>,
    ) -> Result<Term, ProjectError> {
        let store = self.store;
        let used = self.quotients.len();
        if used == self.spare.len() {
            self.spare.push(store.var(store.fresh_symbol("quotient"), Sort::INT));
        }
        let quotient = self.spare[used];
        let (divisor, multiple, sort) = match modulus {
            Some(modulus) => (Rational::from(modulus.clone()), monomial(quotient), Sort::INT),
            None => (Rational::ONE, cast(store, &monomial(quotient)), Sort::REAL),
        };
        let value = (self.values.of_poly(dividend)? / &divisor).floor();
        self.values.known.insert(quotient, Rational::from(value));
        self.ints.push(quotient);
        let rest = dividend.clone() - &(multiple * &divisor);
        self.add(Constraint { poly: -rest.clone(), relation: Relation::AtMost, sort });
        let mut excess = rest;
        excess.add_constant(&-divisor);
        self.add(Constraint { poly: excess, relation: Relation::Below, sort });
        Ok(quotient)
    }

    // ---- the conjunction -----------------------------------------------------------------------------------

    /// Adds a constraint, unless another one implies it. Drops the constraints that it implies.
    fn add(&mut self, constraint: Constraint) {
        let Some(new) = constraint.normalized() else { return };
        for old in &mut self.constraints {
            if old.sort != new.sort || old.poly.terms() != new.poly.terms() {
                continue;
            }
            let tighter = new.poly.constant() >= old.poly.constant();
            match (&old.relation, &new.relation) {
                (Relation::AtMost | Relation::Below, Relation::AtMost | Relation::Below) => {
                    let equal = new.poly.constant() == old.poly.constant();
                    if tighter && !(equal && new.relation == Relation::AtMost) {
                        *old = new;
                    }
                    return;
                }
                _ if *old == new => return,
                _ => {}
            }
        }
        self.constraints.push(new);
    }

    /// Removes and returns the constraints on a variable.
    fn take_constraints(&mut self, x: Term) -> Vec<Constraint> {
        self.constraints.extract_if(.., |constraint| !constraint.poly.coefficient(x).is_zero()).collect()
    }

    /// Removes the next variable to eliminate; `None` if none of them occurs.
    fn next_variable(&self, vars: &mut Vec<Term>) -> Option<Term> {
        let positions: FxHashMap<Term, usize> =
            vars.iter().enumerate().map(|(position, &var)| (var, position)).collect();
        let mut uses = vec![Uses::default(); vars.len()];
        for constraint in &self.constraints {
            for (term, coefficient) in constraint.poly.terms() {
                if let Some(&position) = positions.get(term) {
                    uses[position].count(constraint, coefficient);
                }
            }
        }
        let best = (0..vars.len()).filter(|&position| uses[position].occurs).min_by_key(|&position| {
            let uses = &uses[position];
            (uses.class(), uses.lower * uses.upper, position)
        })?;
        Some(vars.remove(best))
    }

    /// Turns constraints that mix integers to eliminate with reals into constraints on integers.
    fn round_mixed(&mut self) {
        let store = self.store;
        let below = |monomial: Term| match store.view(monomial) {
            (Op::ToReal, &[int]) => Some(int),
            _ => None,
        };
        let ints = &self.ints;
        let is_mixed = |constraint: &mut Constraint| {
            let terms = constraint.poly.terms().iter();
            constraint.sort == Sort::REAL
                && terms.filter_map(|(term, _)| below(*term)).any(|int| ints.contains(&int))
        };
        let mixed: Vec<Constraint> = self.constraints.extract_if(.., is_mixed).collect();
        for Constraint { poly, relation, .. } in mixed {
            let casts = poly.terms().iter().filter(|(term, _)| below(*term).is_some());
            let denominator = casts.fold(Integer::ONE, |lcm, (_, c)| lcm.lcm(&c.denom()));
            let poly = poly * &Rational::from(denominator);
            let (mut ints, mut reals) = (Vec::new(), Vec::new());
            for (term, coefficient) in poly.terms() {
                match below(*term) {
                    Some(int) => ints.push((int, coefficient.clone())),
                    None => reals.push((*term, coefficient.clone())),
                }
            }
            let whole = LinearPoly::from_pairs(ints, Rational::ZERO);
            let rest = LinearPoly::from_pairs(reals, poly.constant().clone());
            let floor = |poly: LinearPoly| {
                LinearPoly::from_term(store, store.to_int(poly.to_term(store, Sort::REAL)))
            };
            if relation == Relation::Equal {
                let is_int = store.is_int(rest.to_term(store, Sort::REAL));
                if is_int != Term::TRUE {
                    self.literals.push(is_int);
                }
            }
            let poly = match relation {
                Relation::AtMost => whole - &floor(-rest),
                _ => whole + &floor(rest),
            };
            self.add(Constraint { poly, relation, sort: Sort::INT });
        }
    }
}

/// The occurrences of a variable.
#[derive(Clone, Default)]
struct Uses {
    occurs: bool,
    unit_equality: bool,
    equality: bool,
    divisibility: bool,
    other_than_unit: bool,
    lower: usize,
    upper: usize,
}

impl Uses {
    fn count(&mut self, constraint: &Constraint, coefficient: &Rational) {
        let is_unit = constraint.sort == Sort::REAL || coefficient.abs().is_one();
        self.occurs = true;
        match constraint.relation {
            Relation::Equal => {
                self.equality = true;
                self.unit_equality |= is_unit;
            }
            Relation::Divisible(_) => self.divisibility = true,
            _ if coefficient.is_negative() => self.lower += 1,
            _ => self.upper += 1,
        }
        self.other_than_unit |= !is_unit;
    }

    /// The priority class: smaller ones are eliminated earlier.
    fn class(&self) -> u8 {
        match self {
            Uses { unit_equality: true, .. } => 0,
            Uses { equality: true, .. } => 1,
            Uses { lower: 0, .. } | Uses { upper: 0, .. } => 0,
            Uses { divisibility: false, other_than_unit: false, .. } => 2,
            _ => 3,
        }
    }
}

/// An integer polynomial as a real one.
fn cast(store: &TermStore, poly: &LinearPoly) -> LinearPoly {
    let pairs = poly.terms().iter().map(|(term, coefficient)| (store.to_real(*term), coefficient.clone()));
    LinearPoly::from_pairs(pairs.collect(), poly.constant().clone())
}

fn positive_integer(store: &TermStore, term: Term) -> Option<Integer> {
    store.numeral(term)?.to_integer().filter(Integer::is_positive)
}
