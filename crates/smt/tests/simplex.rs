//! The simplex kernel from outside: every conflict is verified as a Farkas certificate, every model is
//! evaluated, and random runs are compared with Fourier-Motzkin elimination.

use std::cell::Cell;
use std::collections::BTreeMap;

use proptest::prelude::*;
use shofar_logic::number::{Integer, Rational};
use shofar_smt::theory::arith::{
    Budget, Config, Conflict, DeltaRational, ImpliedBound, Outcome, Reason, Side, Simplex, Var, Weighted,
};
use shofar_testing::Random;

use Side::{Lower, Upper};

/// A linear form over variables that are not slack variables.
type Form = BTreeMap<Var, Rational>;

/// A bound `0 <= form + constant` in which `constant` tells by its `δ` whether equality is excluded.
type Constraint = (Form, DeltaRational);

/// A solver beside which everything that was told to it is written down.
#[derive(Default)]
struct Checked {
    simplex: Simplex,
    forms: BTreeMap<Var, Form>,
    /// For each reason the bound that was asserted; the reason is the index.
    asserted: Vec<(Var, Side, DeltaRational)>,
    levels: Vec<usize>,
}

fn int(value: i64) -> Rational {
    Rational::from(value)
}

fn ratio(num: i64, den: i64) -> Rational {
    Rational::new(Integer::from(num), Integer::from(den))
}

fn at(value: i64) -> DeltaRational {
    DeltaRational::from(value)
}

fn above(value: i64) -> DeltaRational {
    DeltaRational::just_above(int(value))
}

fn below(value: i64) -> DeltaRational {
    DeltaRational::just_below(int(value))
}

impl Checked {
    fn new(config: Config) -> Checked {
        Checked { simplex: Simplex::new(config), ..Checked::default() }
    }

    fn var(&mut self, is_int: bool) -> Var {
        let var = self.simplex.new_var(is_int);
        self.forms.insert(var, Form::from([(var, Rational::ONE)]));
        var
    }

    fn vars<const N: usize>(&mut self) -> [Var; N] {
        std::array::from_fn(|_| self.var(false))
    }

    fn row(&mut self, terms: &[(Var, Rational)]) -> Option<(Var, Rational)> {
        let (slack, factor) = self.simplex.new_row(terms)?;
        let mut form = Form::new();
        for (var, coeff) in terms {
            for (var, inner) in &self.forms[var] {
                form.entry(*var).or_default().add_mul(&(coeff / &factor), inner);
            }
        }
        form.retain(|_, coeff| !coeff.is_zero());
        self.forms.insert(slack, form);
        Some((slack, factor))
    }

    /// The slack variable of a form that is normal already.
    fn slack(&mut self, terms: &[(Var, i64)]) -> Var {
        let terms: Vec<_> = terms.iter().map(|&(var, coeff)| (var, int(coeff))).collect();
        let (slack, factor) = self.row(&terms).expect("not the zero form");
        assert!(factor.is_one());
        slack
    }

    fn assert(&mut self, var: Var, side: Side, value: DeltaRational) -> Result<Reason, Conflict> {
        let reason = Reason(self.asserted.len() as u32);
        self.asserted.push((var, side, value.clone()));
        let result = self.simplex.assert_bound(var, side, &value, reason);
        if let Err(conflict) = &result {
            self.verify(conflict);
            assert!(conflict.terms.iter().all(|term| term.coefficient.is_one()));
            self.asserted.pop();
        }
        result.map(|()| reason)
    }

    /// Asserts a bound on a sum that may need a factor.
    fn assert_sum(&mut self, terms: &[(Var, Rational)], side: Side, value: Rational) {
        let (slack, factor) = self.row(terms).expect("not the zero form");
        let side = if factor.is_negative() { side.opposite() } else { side };
        self.assert(slack, side, DeltaRational::from(value / factor)).expect("no clash");
    }

    fn push(&mut self) {
        self.simplex.push();
        self.levels.push(self.asserted.len());
    }

    fn pop(&mut self, count: usize) {
        self.simplex.pop(count);
        for _ in 0..count {
            self.asserted.truncate(self.levels.pop().expect("as many levels"));
        }
    }

    fn check(&mut self) -> Outcome {
        let outcome = self.simplex.check(&Budget::UNLIMITED);
        match &outcome {
            Outcome::Feasible => self.verify_model(&self.simplex.model()),
            Outcome::Infeasible(conflict) => self.verify(conflict),
            Outcome::Budget => panic!("an unlimited budget ran out"),
        }
        outcome
    }

    fn is_feasible(&mut self) -> bool {
        self.check() == Outcome::Feasible
    }

    fn conflict(&mut self) -> Conflict {
        match self.check() {
            Outcome::Infeasible(conflict) => conflict,
            outcome => panic!("a conflict is expected, not {outcome:?}"),
        }
    }

    /// The asserted bound, or what it is for an integer variable.
    fn bound(&self, index: usize, rounded: bool) -> Constraint {
        let (var, side, value) = &self.asserted[index];
        let value = match (rounded, side) {
            (false, _) => value.clone(),
            (true, Lower) => DeltaRational::from(value.ceil()),
            (true, Upper) => DeltaRational::from(value.floor()),
        };
        self.constraint(*var, *side, &value)
    }

    fn constraint(&self, var: Var, side: Side, value: &DeltaRational) -> Constraint {
        let sign = if side == Lower { Rational::ONE } else { -Rational::ONE };
        let form = self.forms[&var].iter().map(|(var, coeff)| (*var, coeff * &sign)).collect();
        (form, value.scale(&-sign))
    }

    /// All bounds in force, as the kernel is to understand them.
    fn constraints(&self) -> Vec<Constraint> {
        let is_int = |index: usize| self.simplex.is_int(self.asserted[index].0);
        (0..self.asserted.len()).map(|index| self.bound(index, is_int(index))).collect()
    }

    /// The sum of the terms' bounds.
    fn sum(&self, terms: &[Weighted]) -> Constraint {
        let mut sum = (Form::new(), DeltaRational::ZERO);
        for term in terms {
            assert!(term.coefficient.is_positive());
            let bound = self.bound(term.reason.0 as usize, term.rounded);
            if !term.rounded {
                let (var, _, value) = &self.asserted[term.reason.0 as usize];
                assert!(!self.simplex.is_int(*var) || value.is_integer(), "rounding was not marked");
            }
            add_to(&mut sum, &term.coefficient, &bound);
        }
        sum
    }

    fn verify(&self, conflict: &Conflict) {
        let (form, constant) = self.sum(&conflict.terms);
        assert!(form.values().all(Rational::is_zero), "{form:?}");
        assert!(constant < DeltaRational::ZERO, "0 <= {constant}");
    }

    fn verify_model(&self, model: &[Rational]) {
        for (var, form) in &self.forms {
            assert_eq!(model[var.index()], evaluate(form, model));
        }
        for (form, constant) in self.constraints() {
            let value = evaluate(&form, model) + constant.real();
            assert!(value.is_positive() || value.is_zero() && constant.delta().signum() >= 0);
        }
    }

    /// Verifies that an implied bound follows from its explanation.
    fn verify_implied(&self, implied: &ImpliedBound, asserted: usize) {
        let mut terms = Vec::new();
        self.simplex.explain(implied.var, implied.side, implied.token, &mut terms);
        assert!(terms.iter().all(|term| (term.reason.0 as usize) < asserted), "a later bound explains it");
        let (side, value) = self.simplex.negation(implied.var, implied.side, &implied.value);
        let negation = self.constraint(implied.var, side, &value);
        let mut sum = self.sum(&terms);
        add_to(&mut sum, &Rational::ONE, &negation);
        assert!(sum.0.values().all(Rational::is_zero), "{:?}", sum.0);
        assert!(sum.1 < DeltaRational::ZERO);
        let bound = |term: &Weighted| self.bound(term.reason.0 as usize, term.rounded);
        let constraints = terms.iter().map(bound).chain([negation]).collect();
        assert_ne!(fourier_motzkin(constraints), Some(true));
    }
}

fn add_to(sum: &mut Constraint, factor: &Rational, constraint: &Constraint) {
    for (var, coeff) in &constraint.0 {
        sum.0.entry(*var).or_default().add_mul(factor, coeff);
    }
    sum.1.add_mul(factor, &constraint.1);
}

fn evaluate(form: &Form, model: &[Rational]) -> Rational {
    form.iter().fold(Rational::ZERO, |sum, (var, coeff)| sum + coeff * &model[var.index()])
}

/// Whether constraints can be satisfied by rationals, by eliminating one variable after the other; `None` if
/// there are too many constraints on the way.
fn fourier_motzkin(constraints: Vec<Constraint>) -> Option<bool> {
    let mut strongest: BTreeMap<Vec<(Var, Rational)>, DeltaRational> = BTreeMap::new();
    let mut rest = constraints;
    loop {
        strongest.clear();
        for (form, constant) in rest {
            let mut form: Vec<_> = form.into_iter().filter(|(_, coeff)| !coeff.is_zero()).collect();
            let factor = form.first().map_or(Rational::ONE, |(_, coeff)| coeff.abs().recip());
            form.iter_mut().for_each(|(_, coeff)| *coeff *= &factor);
            let constant = constant.scale(&factor);
            if form.is_empty() {
                if constant < DeltaRational::ZERO {
                    return Some(false);
                }
                continue;
            }
            let old = strongest.entry(form).or_insert_with(|| constant.clone());
            if constant < *old {
                *old = constant;
            }
        }
        if strongest.len() > 1500 {
            return None;
        }
        let mut count: BTreeMap<Var, (usize, usize)> = BTreeMap::new();
        for (var, coeff) in strongest.keys().flatten() {
            let (lower, upper) = count.entry(*var).or_default();
            *(if coeff.is_positive() { lower } else { upper }) += 1;
        }
        let growth = |(lower, upper): &(usize, usize)| lower * upper;
        let Some(var) = count.iter().min_by_key(|(_, sides)| growth(sides)).map(|(var, _)| *var) else {
            return Some(true);
        };
        let coeff_of = |form: &Form| form.get(&var).cloned().unwrap_or_default();
        let all: Vec<Constraint> = strongest
            .iter()
            .map(|(form, constant)| (form.iter().cloned().collect(), constant.clone()))
            .collect();
        let (with, without): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|(form, _)| form.contains_key(&var));
        let (lower, upper): (Vec<_>, Vec<_>) =
            with.into_iter().partition(|(form, _)| coeff_of(form).is_positive());
        rest = without;
        for low in &lower {
            for high in &upper {
                let mut sum = (Form::new(), DeltaRational::ZERO);
                add_to(&mut sum, &coeff_of(&high.0).abs(), low);
                add_to(&mut sum, &coeff_of(&low.0), high);
                rest.push(sum);
            }
        }
    }
}

/// The coefficients by reason.
fn weights(conflict: &Conflict) -> BTreeMap<Reason, Rational> {
    conflict.terms.iter().map(|term| (term.reason, term.coefficient.clone())).collect()
}

#[test]
fn fourier_motzkin_knows_strictness() {
    let var = Simplex::default().new_var(false);
    let bound = |sign: i64, constant| (Form::from([(var, int(sign))]), constant);
    assert_eq!(fourier_motzkin(vec![bound(1, at(-1)), bound(-1, at(1))]), Some(true));
    assert_eq!(fourier_motzkin(vec![bound(1, below(-1)), bound(-1, at(1))]), Some(false));
}

/// The running example of Dutertre and de Moura, CAV 2006, with the sign of the first form changed.
#[test]
fn the_example_of_the_paper() {
    let mut checked = Checked::default();
    let [x, y] = checked.vars();
    let difference = checked.slack(&[(x, 1), (y, -1)]);
    let sum = checked.slack(&[(x, 1), (y, 1)]);
    let upper = checked.assert(x, Upper, at(-4)).expect("no clash");
    assert!(checked.is_feasible());
    checked.assert(x, Lower, at(-8)).expect("no clash");
    assert!(checked.is_feasible());
    let first = checked.assert(difference, Lower, at(-1)).expect("no clash");
    assert!(checked.is_feasible());
    assert!(checked.simplex.value(y).as_ref() <= &at(-3));
    checked.push();
    let second = checked.assert(sum, Lower, at(-3)).expect("no clash");
    let weights = weights(&checked.conflict());
    assert_eq!(weights.keys().copied().collect::<Vec<_>>(), [upper, first, second]);
    assert_eq!((&weights[&upper], &weights[&first]), (&(&weights[&second] * int(2)), &weights[&second]));
    checked.simplex.check_invariants();
    checked.pop(1);
    assert!(checked.is_feasible());
}

#[test]
fn two_strict_inequalities_in_a_circle_sum_up_to_0_below_0() {
    let mut checked = Checked::default();
    let [x, y] = checked.vars();
    let difference = checked.slack(&[(x, 1), (y, -1)]);
    checked.assert(difference, Upper, below(0)).expect("no clash");
    let conflict = checked.assert(difference, Lower, above(0)).expect_err("a clash");
    assert_eq!(conflict.terms.len(), 2);
}

#[test]
fn a_strict_interval_gets_a_rational_point() {
    let mut checked = Checked::default();
    let [x] = checked.vars();
    checked.assert(x, Lower, above(0)).expect("no clash");
    checked.assert(x, Upper, DeltaRational::just_below(ratio(1, 1_000_000))).expect("no clash");
    assert!(checked.is_feasible());
    let model = checked.simplex.model();
    assert!(model[0].is_positive() && model[0] < ratio(1, 1_000_000));
}

#[test]
fn products_beyond_64_bits_are_exact() {
    let mut checked = Checked::default();
    let [x, y] = checked.vars();
    let big = |value: i64| int(value);
    for side in [Lower, Upper] {
        checked.assert_sum(&[(x, big(1 << 62)), (y, big(-i64::MAX))], side, int(1));
        checked.assert_sum(&[(x, big(i64::MAX)), (y, int(-3))], side, int(0));
    }
    assert!(checked.is_feasible());
    checked.simplex.check_invariants();
}

#[test]
fn the_model_avoids_given_values() {
    let mut checked = Checked::default();
    let [x, y] = checked.vars();
    checked.assert(x, Lower, above(0)).expect("no clash");
    checked.assert(x, Upper, below(2)).expect("no clash");
    assert!(checked.is_feasible());
    let first = checked.simplex.model()[x.index()].clone();
    let model = checked.simplex.model_apart(&[(x, DeltaRational::from(first.clone())), (y, at(7))]);
    assert_ne!(model[x.index()], first);
    checked.verify_model(&model);
}

#[test]
fn integer_forms_are_rounded_after_division_and_marked() {
    let mut checked = Checked::default();
    let [x, y] = [checked.var(true), checked.var(true)];
    let (slack, factor) = checked.row(&[(x, int(3)), (y, int(-3))]).expect("not zero");
    assert!(checked.simplex.is_int(slack) && factor == int(3));
    checked.assert(slack, Lower, DeltaRational::from(ratio(1, 3))).expect("no clash");
    let conflict = checked.assert(slack, Upper, DeltaRational::from(ratio(2, 3))).expect_err("a clash");
    assert!(conflict.is_cut() && conflict.terms.iter().all(|term| term.rounded));
}

/// Pugh's example has rational solutions and no integer ones, which is not the kernel's affair.
#[test]
fn a_system_without_integer_solutions_is_feasible_here() {
    let mut checked = Checked::default();
    let [x, y] = [checked.var(true), checked.var(true)];
    let a = checked.slack(&[(x, 11), (y, 13)]);
    let b = checked.slack(&[(x, 7), (y, -9)]);
    for (slack, low, high) in [(a, 27, 45), (b, -10, 4)] {
        checked.assert(slack, Lower, at(low)).expect("no clash");
        checked.assert(slack, Upper, at(high)).expect("no clash");
    }
    assert!(checked.is_feasible());
}

#[test]
fn the_coefficients_of_a_sum_of_two_variables_are_found() {
    let mut checked = Checked::default();
    let [x1, x2, x3] = checked.vars();
    let a = checked.slack(&[(x1, 1), (x2, 1)]);
    let b = checked.slack(&[(x1, 1), (x3, 1)]);
    let d = checked.slack(&[(x2, 1), (x3, 1)]);
    let bounds = [(a, Lower, 0), (b, Lower, 0), (x1, Upper, 0), (d, Upper, -1)];
    let reasons = bounds.map(|(var, side, value)| checked.assert(var, side, at(value)).expect("no clash"));
    let weights = weights(&checked.conflict());
    let unit = &weights[&reasons[0]];
    for (reason, times) in reasons.into_iter().zip([1, 1, 2, 1]) {
        assert_eq!(weights[&reason], unit * int(times));
    }
}

#[test]
fn multiples_of_a_form_share_their_slack_variable() {
    let mut checked = Checked::default();
    let [x, y] = checked.vars();
    let slack = checked.slack(&[(x, 1), (y, -2)]);
    assert_eq!(checked.row(&[(y, int(4)), (x, int(-2))]), Some((slack, int(-2))));
    assert_eq!(checked.row(&[(y, int(-1)), (x, ratio(1, 4)), (x, ratio(1, 4))]), Some((slack, ratio(1, 2))));
    assert_eq!(checked.row(&[(x, int(5)), (y, int(0))]), Some((x, int(5))));
    assert_eq!(checked.row(&[(slack, int(3)), (y, int(6))]), Some((x, int(3))));
    assert_eq!(checked.row(&[(slack, int(1)), (y, int(2)), (x, int(-1))]), None);
}

#[test]
fn the_assignment_survives_a_conflict() {
    let mut checked = Checked::default();
    let [x, y] = checked.vars();
    let sum = checked.slack(&[(x, 1), (y, 1)]);
    checked.assert(x, Lower, at(1)).expect("no clash");
    checked.assert(sum, Upper, at(4)).expect("no clash");
    assert!(checked.is_feasible());
    let before: Vec<_> = [x, y, sum].map(|var| checked.simplex.value(var).into_owned()).into();
    checked.push();
    checked.assert(y, Lower, at(2)).expect("no clash");
    checked.assert(x, Lower, at(3)).expect("no clash");
    checked.conflict();
    checked.conflict();
    checked.simplex.check_invariants();
    let after: Vec<_> = [x, y, sum].map(|var| checked.simplex.value(var).into_owned()).into();
    assert_eq!(before, after);
    checked.pop(1);
    let pivots = checked.simplex.statistics().pivots;
    assert!(checked.is_feasible());
    assert_eq!(checked.simplex.statistics().pivots, pivots);
}

#[test]
fn polarity_is_three_valued() {
    let mut checked = Checked::default();
    let [x, y] = checked.vars();
    let n = checked.var(true);
    let twice = checked.slack(&[(x, 2), (y, -1)]);
    checked.assert(y, Upper, below(0)).expect("no clash");
    checked.assert(twice, Upper, at(0)).expect("no clash");
    checked.assert(twice, Lower, at(0)).expect("no clash");
    checked.assert(n, Lower, at(3)).expect("no clash");
    assert!(checked.is_feasible());
    assert_eq!(*checked.simplex.value(x), DeltaRational::new(Rational::ZERO, ratio(-1, 2)));
    assert_eq!(checked.simplex.suggest(x, Lower, &at(0)), None);
    assert_eq!(checked.simplex.suggest(x, Upper, &at(0)), Some(true));
    assert_eq!(checked.simplex.suggest(x, Lower, &at(1)), Some(false));
    assert_eq!(checked.simplex.suggest(n, Upper, &at(2)), Some(false));
    assert_eq!(checked.simplex.negation(n, Upper, &at(2)), (Lower, at(3)));
    assert_eq!(checked.simplex.negation(x, Lower, &at(2)), (Upper, below(2)));
}

#[test]
fn fixed_values_are_found() {
    let mut checked = Checked::default();
    let vars: [Var; 4] = checked.vars();
    for (var, value) in vars.into_iter().zip([3, 5, 3, 7]) {
        checked.assert(var, Lower, at(value)).expect("no clash");
    }
    checked.assert(vars[0], Upper, at(3)).expect("no clash");
    assert!(checked.is_feasible());
    assert_eq!(checked.simplex.fixed(vars[0]), Some(&at(3)));
    assert_eq!(checked.simplex.fixed(vars[2]), None);
}

#[test]
fn a_dormant_definition_implies_bounds() {
    let mut checked = Checked::default();
    let [x, y] = checked.vars();
    let slack = checked.slack(&[(x, 2), (y, 3)]);
    checked.assert(x, Upper, at(1)).expect("no clash");
    checked.assert(y, Upper, below(1)).expect("no clash");
    assert!(checked.is_feasible());
    let mut implied = Vec::new();
    checked.simplex.propagate(|_, var, _| var == slack || var == y, &mut implied);
    assert_eq!(implied.len(), 1);
    let expected = DeltaRational::new(int(5), int(-3));
    assert_eq!((implied[0].var, implied[0].side, &implied[0].value), (slack, Upper, &expected));
    checked.verify_implied(&implied[0], 2);
    assert_eq!(checked.simplex.statistics().woken, 0);
    // Stronger bounds that come later do not get into the explanation.
    checked.assert(x, Upper, at(0)).expect("no clash");
    checked.verify_implied(&implied[0], 2);
}

/// The linear program on which the simplex method with the textbook's rule goes round in circles.
#[test]
fn the_example_of_beale_terminates() {
    for bland_after in [None, Some(0), Some(1), Some(50)] {
        let mut checked = Checked::new(Config { bland_after, ..Config::default() });
        let x: [Var; 7] = checked.vars();
        for var in x {
            checked.assert(var, Lower, at(0)).expect("no clash");
        }
        let rows = [
            vec![(x[0], int(1)), (x[3], ratio(1, 4)), (x[4], int(-8)), (x[5], int(-1)), (x[6], int(9))],
            vec![(x[1], int(1)), (x[3], ratio(1, 2)), (x[4], int(-12)), (x[5], ratio(-1, 2)), (x[6], int(3))],
            vec![(x[2], int(1)), (x[5], int(1))],
        ];
        for (row, value) in rows.iter().zip([0, 0, 1]) {
            checked.assert_sum(row, Lower, int(value));
            checked.assert_sum(row, Upper, int(value));
        }
        assert!(checked.is_feasible());
        let objective = [(x[3], ratio(3, 4)), (x[4], int(-20)), (x[5], ratio(1, 2)), (x[6], int(-6))];
        checked.assert_sum(&objective, Lower, ratio(5, 4));
        assert!(checked.is_feasible());
        checked.assert_sum(&objective, Lower, ratio(6, 4));
        checked.conflict();
    }
}

#[test]
fn a_chain_of_2000_differences_is_as_long_as_it_is() {
    let mut checked = Checked::default();
    let vars: Vec<Var> = (0..2001).map(|_| checked.var(false)).collect();
    let links: Vec<Var> = vars.windows(2).map(|pair| checked.slack(&[(pair[0], 1), (pair[1], -1)])).collect();
    for link in links {
        checked.assert(link, Upper, at(-1)).expect("no clash");
    }
    let total = checked.slack(&[(vars[0], 1), (vars[2000], -1)]);
    checked.push();
    checked.assert(total, Lower, at(-2000)).expect("no clash");
    assert!(checked.is_feasible());
    checked.assert(total, Lower, at(-1999)).expect("no clash");
    assert_eq!(checked.conflict().terms.len(), 2001);
    checked.pop(1);
    assert!(checked.is_feasible());
    checked.simplex.check_invariants();
}

#[test]
fn a_thousand_levels_are_entered_and_left() {
    let mut checked = Checked::default();
    let vars: Vec<Var> = (0..10).map(|_| checked.var(false)).collect();
    let sums: Vec<Var> = (0..10).map(|i| checked.slack(&[(vars[i], 1), (vars[(i + 1) % 10], 1)])).collect();
    for level in 0..1000 {
        checked.push();
        checked.assert(sums[level % 10], Lower, at(level as i64)).expect("no clash");
        checked.assert(vars[level % 10], Upper, at(5000 - level as i64)).expect("no clash");
        assert!(checked.simplex.check(&Budget::UNLIMITED) == Outcome::Feasible);
    }
    assert!(checked.is_feasible());
    for level in (0..1000).rev() {
        checked.pop(1);
        assert_eq!(checked.simplex.level(), level);
        let last = |side| checked.simplex.bound(sums[0], side).map(|(value, _)| value.clone());
        assert_eq!(last(Lower), (level > 0).then(|| at((level as i64 - 1) / 10 * 10)));
    }
    assert!(vars.iter().chain(&sums).all(|var| checked.simplex.bound(*var, Lower).is_none()));
    checked.simplex.check_invariants();
}

#[test]
fn coefficients_of_hundreds_of_digits_are_exact() {
    let mut checked = Checked::default();
    let vars: [Var; 5] = checked.vars();
    let mut random = Random::new(12_345);
    let mut number = || Rational::from(Integer::parse(random.digits(300).as_bytes(), 10).expect("digits"));
    let rows: Vec<Vec<(Var, Rational)>> =
        (0..5).map(|_| vars.iter().map(|var| (*var, number() - number())).collect()).collect();
    for row in &rows {
        let value = number();
        checked.assert_sum(row, Lower, value.clone());
        checked.assert_sum(row, Upper, value);
    }
    assert!(checked.is_feasible());
    checked.simplex.check_invariants();
    // The rows determine their sum.
    let sum: Vec<_> = rows.concat();
    let (slack, _) = checked.row(&sum).expect("not zero");
    let value = checked.simplex.value(slack).real().clone();
    checked.assert(slack, Lower, DeltaRational::just_above(value)).expect("no clash");
    assert_eq!(checked.conflict().terms.len(), 6);
}

#[test]
fn a_removed_row_is_gone_and_its_number_is_used_again() {
    let mut checked = Checked::default();
    let [x, y] = checked.vars();
    let a = checked.slack(&[(x, 1), (y, 1)]);
    let b = checked.slack(&[(x, 1), (y, -1)]);
    checked.push();
    checked.assert(a, Lower, at(2)).expect("no clash");
    checked.assert(b, Upper, at(-2)).expect("no clash");
    assert!(checked.is_feasible());
    checked.pop(1);
    checked.simplex.retain_rows(|var| var != a);
    checked.forms.remove(&a);
    checked.simplex.check_invariants();
    checked.assert(b, Lower, at(1)).expect("no clash");
    assert!(checked.is_feasible());
    assert_eq!(checked.slack(&[(x, 1), (y, 2)]), a);
    checked.assert(a, Upper, at(-7)).expect("no clash");
    assert!(checked.is_feasible());
}

#[test]
fn a_budget_interrupts_and_a_later_check_finishes() {
    let mut checked = Checked::default();
    let [x, y] = checked.vars();
    let sums = [checked.slack(&[(x, 1), (y, 1)]), checked.slack(&[(x, 1), (y, -1)])];
    for sum in sums {
        checked.assert(sum, Lower, at(1)).expect("no clash");
    }
    assert_eq!(checked.simplex.check(&Budget { pivots: Some(0), interrupted: None }), Outcome::Budget);
    let questions = Cell::new(0);
    let interrupted = || questions.replace(questions.get() + 1) == 0;
    let budget = Budget { pivots: None, interrupted: Some(&interrupted) };
    assert_eq!(checked.simplex.check(&budget), Outcome::Budget);
    assert_eq!(questions.get(), 1);
    checked.simplex.check_invariants();
    assert!(checked.is_feasible());
}

#[derive(Clone, Debug)]
enum Step {
    Row(Vec<i64>),
    Remove(usize),
    Assert(usize, Side, i64, i64, i64),
    Push,
    Pop(usize),
    Check,
    Limited(u64),
    Propagate,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let side = prop::sample::select(vec![Lower, Upper]);
    let step = prop_oneof![
        2 => prop::collection::vec(-3_i64..=3, 6).prop_map(Step::Row),
        1 => any::<usize>().prop_map(Step::Remove),
        9 => (any::<usize>(), side, -6_i64..=6, 1_i64..=3, 0_i64..=1)
            .prop_map(|(var, side, num, den, strict)| Step::Assert(var, side, num, den, strict)),
        2 => Just(Step::Push),
        2 => (1_usize..3).prop_map(Step::Pop),
        4 => Just(Step::Check),
        1 => (0_u64..3).prop_map(Step::Limited),
        2 => Just(Step::Propagate),
    ];
    prop::collection::vec(step, 1..60)
}

fn run(steps: &[Step], vars: usize, ints: u8, config: Config) {
    let mut checked = Checked::new(config);
    let mut usable: Vec<Var> = (0..vars).map(|index| checked.var(ints >> index & 1 == 1)).collect();
    let mut implied: Vec<(ImpliedBound, usize, usize)> = Vec::new();
    for step in steps {
        match step {
            Step::Row(coeffs) => {
                let terms: Vec<_> =
                    usable.iter().copied().zip(coeffs.iter().map(|&coeff| int(coeff))).collect();
                if let Some((slack, _)) = checked.row(&terms)
                    && !usable.contains(&slack)
                {
                    usable.push(slack);
                }
            }
            Step::Remove(index) => {
                let slack = usable[index % usable.len()];
                let is_used = checked.simplex.bound(slack, Lower).is_some()
                    || checked.simplex.bound(slack, Upper).is_some()
                    || implied.iter().any(|(implied, ..)| implied.var == slack);
                if checked.simplex.is_slack(slack) && !is_used && implied.is_empty() {
                    checked.simplex.remove_row(slack);
                    checked.forms.remove(&slack);
                    usable.retain(|var| *var != slack);
                }
            }
            Step::Assert(index, side, num, den, strict) => {
                let sign = if *side == Lower { *strict } else { -strict };
                let value = DeltaRational::new(ratio(*num, *den), int(sign));
                let _ = checked.assert(usable[index % usable.len()], *side, value);
            }
            Step::Push => checked.push(),
            Step::Pop(count) => {
                let count = (*count).min(checked.levels.len());
                checked.pop(count);
                let level = checked.levels.len();
                implied.retain(|(_, _, made)| *made <= level);
            }
            Step::Check => {
                let outcome = checked.check();
                if let Some(expected) = fourier_motzkin(checked.constraints()) {
                    assert_eq!(outcome == Outcome::Feasible, expected);
                }
            }
            Step::Limited(pivots) => {
                let outcome = checked.simplex.check(&Budget { pivots: Some(*pivots), interrupted: None });
                if let Outcome::Infeasible(conflict) = outcome {
                    checked.verify(&conflict);
                }
            }
            Step::Propagate => {
                let mut found = Vec::new();
                checked.simplex.propagate(|_, _, _| true, &mut found);
                let now = (checked.asserted.len(), checked.levels.len());
                implied.extend(found.into_iter().map(|implied| (implied, now.0, now.1)));
            }
        }
        checked.simplex.check_invariants();
        for (implied, asserted, _) in &implied {
            checked.verify_implied(implied, *asserted);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn random_runs_agree_with_fourier_motzkin(steps in steps(), vars in 2_usize..=6, ints: u8) {
        run(&steps, vars, ints, Config::default());
    }

    #[test]
    fn random_runs_by_the_rule_of_bland_agree(steps in steps(), vars in 2_usize..=6) {
        run(&steps, vars, 0, Config { bland_after: None, ..Config::default() });
    }
}
