//! Numbers: products, rounding, choices and comparisons (M5 to M14 of the [comparison](super)).

use std::rc::Rc;

use shofar_logic::Op;
use shofar_logic::Sort;
use shofar_logic::number::{Integer, Rational};

use super::{Id, Meaning, Meanings, Node, Relation, Sum, Truth, single};

/// The range of a number over all values of its nodes.
struct Range {
    least: Rational,
    greatest: Rational,
    /// Whether the least, and the greatest, value is excluded.
    is_open: [bool; 2],
}

impl Meanings<'_> {
    fn is_integer(&self, Id(place): Id) -> bool {
        self.is_integer[place as usize]
    }

    /// Whether all nodes of a number are integers.
    fn over_integers(&self, sum: &Sum) -> bool {
        sum.terms().iter().all(|&(node, _)| self.is_integer(node))
    }

    /// Whether a number is an integer in all interpretations.
    fn is_integral(&self, sum: &Sum) -> bool {
        let mut factors = sum.terms().iter().map(|(_, factor)| factor).chain([sum.constant()]);
        self.over_integers(sum) && factors.all(Rational::is_integer)
    }

    // ---- products and quotients --------------------------------------------------------------------------------

    /// A product (M6).
    pub(super) fn product(&mut self, args: &[Meaning]) -> Sum {
        let mut coefficient = Rational::ONE;
        let mut powers: Vec<(Rc<Sum>, Integer)> = Vec::new();
        for arg in args {
            let (factor, content) = arg.number().clone().factored();
            coefficient *= content;
            if factor.is_constant() {
                coefficient *= factor.constant();
                continue;
            }
            let inner = match factor.terms() {
                [(node, _)] if factor.constant().is_zero() => Rc::clone(self.node(*node)),
                _ => Rc::new(Node::True),
            };
            match &*inner {
                Node::Product(inner) => powers.extend(inner.iter().cloned()),
                _ => powers.push((Rc::new(factor), Integer::ONE)),
            }
        }
        if coefficient.is_zero() {
            return Sum::default();
        }
        powers.sort_unstable_by(|(a, _), (b, _)| order(a, b));
        powers.dedup_by(|(factor, exponent), (kept, total)| {
            let is_same = factor == kept;
            if is_same {
                *total += &*exponent;
            }
            is_same
        });
        let product = match &powers[..] {
            [] => Sum::from_constant(Rational::ONE),
            [(factor, exponent)] if exponent.is_one() => (**factor).clone(),
            _ => {
                let is_integer = powers.iter().all(|(factor, _)| self.is_integral(factor));
                single(self.intern(Node::Product(powers.into()), is_integer))
            }
        };
        product * &coefficient
    }

    /// A quotient of reals or of integers (M5, M7).
    pub(super) fn quotient(&mut self, op: Op, dividend: Meaning, divisor: &Meaning) -> Meaning {
        let Some(number) = divisor.as_nonzero() else {
            let sort = if op == Op::IntDiv { Sort::INT } else { Sort::REAL };
            return self.opaque(op, sort, vec![dividend, divisor.clone()]);
        };
        let dividend = dividend.number().clone();
        Meaning::Number(Rc::new(if op == Op::RealDiv {
            dividend * &number.recip()
        } else if number.is_negative() {
            -self.floor(dividend * &-number.recip())
        } else {
            self.floor(dividend * &number.recip())
        }))
    }

    /// The remainder of division by a positive integer (M7).
    pub(super) fn remainder(&mut self, dividend: &Sum, divisor: &Rational) -> Sum {
        let quotient = self.floor(dividend.clone() * &divisor.recip());
        dividend.clone() - &(quotient * divisor)
    }

    // ---- rounding ----------------------------------------------------------------------------------------------

    /// The greatest integer not above a number.
    pub(super) fn floor(&mut self, number: Sum) -> Sum {
        let half = Rational::new(Integer::ONE, Integer::from(2));
        let mut whole = Sum::default();
        let mut rest = number;
        loop {
            // M8.
            let mut pairs = Vec::new();
            for (node, factor) in rest.terms().iter().filter(|(node, _)| self.is_integer(*node)) {
                pairs.push((*node, Rational::from((factor - &half).ceil())));
            }
            let taken = Sum::from_pairs(pairs, Rational::from(rest.constant().floor()));
            rest = rest - &taken;
            whole = whole + &taken;
            if let Some(denominator) = self.denominator(&rest.clone().without_constant()) {
                // M9.
                let constant = Rational::from((rest.constant() * &denominator).floor()) / &denominator;
                rest = rest.without_constant();
                rest.add_constant(&constant);
            }
            if rest.is_constant() {
                return whole;
            }
            if let Some(floor) = self.floor_by_range(&rest) {
                return whole + &floor;
            }
            match self.inner_floor(&rest) {
                Some(inner) => rest = inner,
                None => return whole + &single(self.intern(Node::Floor(Rc::new(rest)), true)),
            }
        }
    }

    /// The least positive integer whose multiple of the number is an integer; `None` unless its nodes are integers.
    fn denominator(&self, sum: &Sum) -> Option<Rational> {
        if !self.over_integers(sum) {
            return None;
        }
        let factors = sum.terms().iter().map(|(_, factor)| factor).chain([sum.constant()]);
        Some(Rational::from(factors.fold(Integer::ONE, |least, factor| least.lcm(&factor.denom()))))
    }

    /// By M10: `(u + j)/k` for `(floor(u) + j)/k`.
    fn inner_floor(&self, sum: &Sum) -> Option<Sum> {
        let [(node, factor)] = sum.terms() else { return None };
        let Node::Floor(inner) = &**self.node(*node) else { return None };
        let is_fit = factor.is_positive() && factor.numer().is_one();
        let offset = sum.constant() / factor;
        if !is_fit || !offset.is_integer() {
            return None;
        }
        let mut inner = (**inner).clone();
        inner.add_constant(&offset);
        Some(inner * factor)
    }

    /// By M11: `n + j` for `floor(n + a*(u - floor(u)) + c)`, if it equals `n + j` for all values of `u`.
    fn floor_by_range(&mut self, sum: &Sum) -> Option<Sum> {
        for (floor, inner) in self.fractions(sum) {
            let factor = sum.coefficient(floor);
            for multiple in [-&factor, Rational::ONE - &factor] {
                let left = without_fraction(sum, floor, &inner, &multiple);
                let mut whole = left.clone().without_constant();
                if !self.is_integral(&whole) {
                    continue;
                }
                let Range { least, greatest, is_open } = self.range(&inner, &multiple, left.constant());
                let lowest = least.floor();
                let highest = if is_open[1] { greatest.ceil() - Integer::ONE } else { greatest.floor() };
                if lowest == highest {
                    whole.add_constant(&Rational::from(lowest));
                    return Some(whole);
                }
            }
        }
        None
    }

    /// The nodes `floor(u)` of a number, each with `u`, and with any `(g + j)/k` that has the same `floor` by M10,
    /// where `g` is another such node.
    fn fractions(&mut self, sum: &Sum) -> Vec<(Id, Sum)> {
        let floors = sum.terms().iter().filter_map(|&(node, _)| match &**self.node(node) {
            Node::Floor(inner) => Some((node, (**inner).clone())),
            _ => None,
        });
        let mut found: Vec<(Id, Sum)> = floors.collect();
        for place in 0..found.len() * found.len() {
            let ((floor, u), (other, v)) = (&found[place / found.len()], &found[place % found.len()]);
            let ([(_, small), ..], [(_, large), ..]) = (u.terms(), v.terms()) else { continue };
            let ratio = large / small;
            if !ratio.is_integer() || ratio <= Rational::ONE {
                continue;
            }
            let difference = u.clone() * &ratio - v;
            let mut quotient = single(*other);
            quotient.add_constant(&Rational::from(difference.constant().ceil()));
            quotient.scale(&ratio.recip());
            let floor = *floor;
            if difference.is_constant() && self.floor(quotient.clone()) == single(floor) {
                found.push((floor, quotient));
                return found;
            }
        }
        found
    }

    /// The range of a multiple of `u - floor(u)` plus a constant.
    fn range(&self, inner: &Sum, multiple: &Rational, constant: &Rational) -> Range {
        let greatest = match self.denominator(inner) {
            Some(denominator) => Rational::ONE - denominator.recip(),
            None => Rational::ONE,
        };
        let is_open = greatest.is_one();
        let far = multiple * &greatest + constant;
        if multiple.is_negative() {
            Range { least: far, greatest: constant.clone(), is_open: [is_open, false] }
        } else {
            Range { least: constant.clone(), greatest: far, is_open: [false, is_open] }
        }
    }

    // ---- choices -----------------------------------------------------------------------------------------------

    /// The absolute value (M13).
    pub(super) fn abs(&mut self, number: &Sum) -> Sum {
        let (number, factor) = number.clone().factored();
        if number.is_constant() {
            return Sum::from_constant((number.constant() * &factor).abs());
        }
        if self.compare(Relation::Below, number.clone()) == Truth::FALSE {
            return number * &factor.abs();
        }
        if self.compare(Relation::AtMost, number.clone()) == Truth::TRUE {
            return number * &-factor.abs();
        }
        let is_integer = self.is_integral(&number);
        single(self.intern(Node::Abs(Rc::new(number)), is_integer)) * &factor.abs()
    }

    /// A choice at any sort.
    pub(super) fn choice(&mut self, condition: Truth, then: &Meaning, otherwise: &Meaning) -> Meaning {
        if let (Meaning::Truth(then), Meaning::Truth(otherwise)) = (then, otherwise) {
            return Meaning::Truth(self.ite(condition, *then, *otherwise));
        }
        let Truth { node: condition, negated } = condition;
        let (then, otherwise) = if negated { (otherwise, then) } else { (then, otherwise) };
        if condition == Truth::TRUE.node {
            return then.clone();
        }
        let then = self.chosen(condition, true, then);
        let otherwise = self.chosen(condition, false, otherwise);
        if then == otherwise {
            return then;
        }
        let mut is_integer = false;
        if let (Meaning::Number(a), Meaning::Number(b)) = (&then, &otherwise) {
            if let Some(abs) = self.choice_by_sign(condition, a, b) {
                return Meaning::Number(Rc::new(abs));
            }
            is_integer = self.is_integral(a) && self.is_integral(b);
        }
        let node = self.intern_like(Node::Choice(condition, then.clone(), otherwise.clone()), is_integer);
        match (then, otherwise) {
            (Meaning::Number(a), Meaning::Number(b)) => {
                self.give_cases(node, condition, &a, &b);
                Meaning::Number(Rc::new(single(node)))
            }
            _ => Meaning::Thing(node),
        }
    }

    /// A branch, given the value of the condition.
    fn chosen(&self, condition: Id, value: bool, branch: &Meaning) -> Meaning {
        let branch_of = |node: Id| match &**self.node(node) {
            Node::Choice(inner, then, otherwise) if *inner == condition => {
                Some(if value { then.clone() } else { otherwise.clone() })
            }
            _ => None,
        };
        match branch {
            Meaning::Truth(_) => branch.clone(),
            Meaning::Thing(node) => branch_of(*node).unwrap_or_else(|| branch.clone()),
            Meaning::Number(sum) => {
                // A branch of a choice has no choices on the same condition.
                let mut number = (**sum).clone();
                for (node, factor) in sum.terms() {
                    if let Some(chosen) = branch_of(*node) {
                        number.add_scaled(&single(*node), &-factor);
                        number.add_scaled(chosen.number(), factor);
                    }
                }
                Meaning::Number(Rc::new(number))
            }
        }
    }

    /// `|a|` for `ite(a >= 0, a, -a)` and `ite(a > 0, a, -a)`, `-|a|` if the branches are swapped (M13).
    fn choice_by_sign(&mut self, condition: Id, a: &Sum, b: &Sum) -> Option<Sum> {
        if a.clone() + b != Sum::default() {
            return None;
        }
        for (number, is_negated) in [(a, false), (b, true)] {
            for relation in [Relation::AtMost, Relation::Below] {
                let opposite = -number.clone();
                let is_positive = self.compare(relation, opposite);
                if is_positive.node == condition {
                    let abs = self.abs(a);
                    return Some(if is_negated != is_positive.negated { -abs } else { abs });
                }
            }
        }
        None
    }

    // ---- comparisons -------------------------------------------------------------------------------------------

    /// A comparison with zero (M11, M12, M14).
    pub(super) fn compare(&mut self, relation: Relation, number: Sum) -> Truth {
        if number.is_constant() {
            return Truth::of(holds(relation, number.constant()));
        }
        let decided = self.decided_by_sign(relation, &number);
        if let Some(is_true) = decided.or_else(|| self.decided_by_range(relation, &number)) {
            return Truth::of(is_true);
        }
        if relation == Relation::Equal && self.has_no_case(&number) {
            return Truth::FALSE;
        }
        if let Some(truth) = self.compare_cases(relation, &number) {
            return truth;
        }
        let over_integers = self.over_integers(&number);
        let (mut number, factor) = number.primitive();
        // -p <= 0 is not (p < 0), and -p < 0 is not (p <= 0).
        let (mut relation, negated) = match relation {
            Relation::AtMost if factor.is_negative() => (Relation::Below, true),
            Relation::Below if factor.is_negative() => (Relation::AtMost, true),
            _ => (relation, false),
        };
        if over_integers {
            let constant = number.constant().clone();
            let rounded = match relation {
                Relation::Equal if !constant.is_integer() => return Truth::FALSE,
                Relation::Equal => constant.clone(),
                Relation::AtMost => Rational::from(constant.ceil()),
                Relation::Below => Rational::from(constant.floor()) + Rational::ONE,
            };
            number.add_constant(&(rounded - constant));
            if relation == Relation::Below {
                relation = Relation::AtMost;
            }
        }
        self.truth_of(Node::Compare(relation, Rc::new(number))).negated_if(negated)
    }

    /// Whether a number consists of integers and one choice between constants, and is zero for neither constant (M12,
    /// M14).
    fn has_no_case(&self, number: &Sum) -> bool {
        let mut others = number.terms().iter().filter(|&&(node, _)| !self.is_integer(node));
        let (Some((choice, factor)), None) = (others.next(), others.next()) else { return false };
        let Node::Choice(_, Meaning::Number(a), Meaning::Number(b)) = &**self.node(*choice) else {
            return false;
        };
        let is_impossible = |branch: &Sum| {
            let mut case = number.clone();
            case.add_scaled(&single(*choice), &-factor);
            case.add_scaled(branch, factor);
            let (case, _) = case.primitive();
            case.is_constant() && !case.constant().is_zero()
                || !case.is_constant() && self.over_integers(&case) && !case.constant().is_integer()
        };
        is_impossible(a) && is_impossible(b)
    }

    /// Whether a comparison of a sum of absolute values, or of their negations, always or never holds (M13).
    fn decided_by_sign(&self, relation: Relation, number: &Sum) -> Option<bool> {
        let is_negative = number.terms().first()?.1.is_negative();
        let has_sign = |(node, factor): &(Id, Rational)| {
            matches!(**self.node(*node), Node::Abs(_)) && factor.is_negative() == is_negative
        };
        if !number.terms().iter().all(has_sign) {
            return None;
        }
        let constant = number.constant();
        match relation {
            Relation::Equal => {
                (!constant.is_zero() && constant.is_negative() == is_negative).then_some(false)
            }
            _ if is_negative => holds(relation, constant).then_some(true),
            _ => (!holds(relation, constant)).then_some(false),
        }
    }

    /// Whether a comparison of a multiple of `u - floor(u)` with a number holds for all values of `u`, or for none
    /// (M11).
    fn decided_by_range(&mut self, relation: Relation, number: &Sum) -> Option<bool> {
        self.fractions(number).into_iter().find_map(|(floor, inner)| {
            let multiple = -number.coefficient(floor);
            let left = without_fraction(number, floor, &inner, &multiple);
            if !left.is_constant() {
                return None;
            }
            let Range { least, greatest, is_open } = self.range(&inner, &multiple, left.constant());
            let is_negative = greatest.is_negative() || greatest.is_zero() && is_open[1];
            let is_positive = least.is_positive() || least.is_zero() && is_open[0];
            match relation {
                Relation::Equal => (is_negative || is_positive).then_some(false),
                Relation::AtMost if is_positive => Some(false),
                Relation::AtMost => (!greatest.is_positive()).then_some(true),
                Relation::Below if is_negative => Some(true),
                Relation::Below => (!least.is_negative()).then_some(false),
            }
        })
    }
}

/// A number minus a multiple of `u - floor(u)`.
fn without_fraction(sum: &Sum, floor: Id, inner: &Sum, multiple: &Rational) -> Sum {
    let mut left = sum.clone();
    left.add_scaled(inner, &-multiple);
    left.add_scaled(&single(floor), multiple);
    left
}

/// Whether a number satisfies the relation to zero.
fn holds(relation: Relation, number: &Rational) -> bool {
    match relation {
        Relation::Equal => number.is_zero(),
        Relation::AtMost => !number.is_positive(),
        Relation::Below => number.is_negative(),
    }
}

/// An order of polynomials, by nodes and then by numbers.
pub(super) fn order(a: &Sum, b: &Sum) -> std::cmp::Ordering {
    a.terms().cmp(b.terms()).then_with(|| a.constant().cmp(b.constant()))
}
