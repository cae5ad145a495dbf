//! Writes normal formulas as people do.
//!
//! The normal form has few operators: `x >= 0` is `(not (<= x (- 1)))`, and `x > y` is
//! `(not (<= (+ x (* (- 1) y)) 0))`. This module undoes that, operator by operator:
//!
//! ```text
//! comparisons      summands on the side where they are positive, a single one on the left, the first of two parameters
//!                  on the left; all four orders
//! sums             (+ x (* (- 1) y)) is (- x y)
//! negations        on atoms only, but for equivalences
//! disjunctions     with members that deny an equality or a truth value are implications of the others, and so are those
//!                  of bounds and equations
//! junctions        members in the order of the parameters that they mention, equations before bounds, lower bounds
//!                  before upper ones, literals before junctions
//! ```
//!
//! The result is a term as written, which all solvers read. Each subterm is visited once, in both polarities if it is a
//! formula.

use std::cmp::Ordering;

use rustc_hash::FxHashMap;
use shofar_logic::number::Rational;
use shofar_logic::{LinearPoly, Op, Sort, Term, TermStore};

/// The normal quantifier-free term as written for people.
pub(crate) fn written(store: &TermStore, parameters: &[Term], formula: Term) -> Term {
    let positions = parameters.iter().enumerate().map(|(position, &parameter)| (parameter, position));
    let mut denormalizer =
        Denormalizer { store, positions: positions.collect(), images: FxHashMap::default() };
    for term in store.subterms(&[formula]) {
        let image = denormalizer.image(term);
        denormalizer.images.insert(term, image);
    }
    denormalizer.images[&formula].positive
}

struct Denormalizer<'s> {
    store: &'s TermStore,
    /// The positions of the parameters.
    positions: FxHashMap<Term, usize>,
    images: FxHashMap<Term, Image>,
}

/// The written form of a term.
#[derive(Clone, Copy)]
struct Image {
    positive: Term,
    /// The written negation of a formula; for other terms the same as `positive`.
    negative: Term,
    /// The positions of the first and the last parameter that occur.
    parameters: (usize, usize),
}

impl Denormalizer<'_> {
    /// The image of a term whose arguments have images.
    fn image(&self, term: Term) -> Image {
        let store = self.store;
        let (op, args) = store.view(term);
        let here = self.positions.get(&term).map_or((usize::MAX, 0), |&position| (position, position));
        let both = |a: (usize, usize), b: (usize, usize)| (a.0.min(b.0), a.1.max(b.1));
        let parameters = args.iter().map(|arg| self.images[arg].parameters).fold(here, both);
        let (positive, negative) = match (op, args) {
            (Op::Not, &[inner]) => {
                let Image { positive, negative, .. } = self.images[&inner];
                (negative, positive)
            }
            (Op::And | Op::Or, _) => {
                let is_and = op == Op::And;
                (self.junction(is_and, args, true), self.junction(!is_and, args, false))
            }
            (Op::Ite, &[condition, a, b]) if store.sort_of(term) == Sort::BOOL => {
                let [condition, a, b] = [condition, a, b].map(|arg| self.images[&arg]);
                let ite = |a, b| self.app(Op::Ite, &[condition.positive, a, b]);
                (ite(a.positive, b.positive), ite(a.negative, b.negative))
            }
            (Op::Le | Op::Lt | Op::Eq, &[left, right]) if is_arithmetic(store, left) => {
                (self.comparison(op, left, right, true), self.comparison(op, left, right, false))
            }
            (Op::BvUle | Op::BvSle, &[left, right]) => {
                let denied = if op == Op::BvUle { Op::BvUgt } else { Op::BvSgt };
                let sides = [left, right].map(|arg| self.images[&arg].positive);
                (self.app(op, &sides), self.app(denied, &sides))
            }
            (Op::Add, _) => self.same(self.sum(&LinearPoly::from_term(store, term), store.sort_of(term))),
            (Op::Mul, &[factor, monomial]) => {
                let monomial = self.images[&monomial].positive;
                let is_negation = store.numeral(factor).is_some_and(|factor| *factor == -Rational::ONE);
                self.same(match is_negation {
                    true => self.app(Op::Neg, &[monomial]),
                    false => self.app(op, &[self.images[&factor].positive, monomial]),
                })
            }
            _ => {
                let args: Vec<Term> = args.iter().map(|arg| self.images[arg].positive).collect();
                let image = if args.is_empty() { term } else { self.app(op, &args) };
                match store.sort_of(term) {
                    Sort::BOOL => (image, self.denied(image)),
                    _ => self.same(image),
                }
            }
        };
        Image { positive, negative, parameters }
    }

    fn same(&self, term: Term) -> (Term, Term) {
        (term, term)
    }

    fn app(&self, op: Op, args: &[Term]) -> Term {
        self.store.app(op, args).expect("images have the sorts of the terms")
    }

    fn denied(&self, atom: Term) -> Term {
        match atom {
            Term::TRUE => Term::FALSE,
            Term::FALSE => Term::TRUE,
            _ => self.app(Op::Not, &[atom]),
        }
    }

    // ---- junctions ---------------------------------------------------------------------------------------

    /// The conjunction or disjunction of the formulas, or of their negations.
    fn junction(&self, is_and: bool, members: &[Term], is_positive: bool) -> Term {
        let mut members: Vec<Member> = members
            .iter()
            .map(|member| {
                let Image { positive, negative, parameters } = self.images[member];
                let (term, denied) = if is_positive { (positive, negative) } else { (negative, positive) };
                Member { term, denied, key: self.key(term, parameters) }
            })
            .collect();
        members.sort_by_key(|member| member.key);
        let joined = |op, members: Vec<Term>| match &*members {
            [one] => *one,
            _ => self.app(op, &members),
        };
        if is_and {
            return joined(Op::And, members.iter().map(|member| member.term).collect());
        }
        let has_equation = members.iter().any(|member| member.key.3 == Kind::Equation);
        let is_premise = |member: &&Member| match member.key.3 {
            Kind::Lower | Kind::Upper => has_equation,
            _ => self.store.op(member.term) == Op::Not,
        };
        let premises: Vec<Term> = members.iter().filter(is_premise).map(|member| member.denied).collect();
        let others = members.iter().filter(|member| !is_premise(member)).map(|member| member.term);
        let others: Vec<Term> = others.collect();
        if premises.is_empty() || others.is_empty() {
            return joined(Op::Or, members.iter().map(|member| member.term).collect());
        }
        self.app(Op::Implies, &[joined(Op::And, premises), joined(Op::Or, others)])
    }

    fn key(&self, member: Term, (first, last): (usize, usize)) -> Key {
        let kind = match self.store.op(member) {
            Op::Eq => Kind::Equation,
            Op::Ge | Op::Gt => Kind::Lower,
            Op::Le | Op::Lt => Kind::Upper,
            Op::And | Op::Or | Op::Implies | Op::Ite => Kind::Junction,
            _ => Kind::Other,
        };
        (kind == Kind::Junction, first, last, kind)
    }

    // ---- arithmetic --------------------------------------------------------------------------------------

    /// A comparison of a sum with a number, or its negation.
    fn comparison(&self, op: Op, sum: Term, number: Term, is_positive: bool) -> Term {
        let store = self.store;
        let sort = store.sort_of(sum);
        let Some(number) = store.numeral(number) else {
            let atom = self.app(op, &[self.images[&sum].positive, self.images[&number].positive]);
            return if is_positive { atom } else { self.denied(atom) };
        };
        let poly = LinearPoly::from_term(store, sum);
        let has_two_sides = poly.terms().iter().any(|(_, coefficient)| coefficient.is_negative());
        let mut number = number.clone();
        let mut op = match (op, is_positive) {
            (Op::Le, false) => Op::Gt,
            (Op::Lt, false) => Op::Ge,
            _ => op,
        };
        if sort == Sort::INT {
            // Of the two equivalent forms, prefer zero on the right, then the non-strict one.
            let one = Rational::ONE;
            (op, number) = match op {
                Op::Gt if !number.is_zero() => (Op::Ge, number + one),
                Op::Le if number == -Rational::ONE => (Op::Lt, number + one),
                Op::Gt if !has_two_sides => (Op::Ge, number + one),
                op => (op, number),
            };
        }
        let (left, right) = self.sides(&poly, &number, sort);
        let is_turned = match (store.op(left), store.op(right)) {
            (Op::Add | Op::Sub | Op::Mul, Op::Var(_)) => true,
            (Op::Var(_), Op::Var(_)) => self.by_parameters(left, right) == Ordering::Greater,
            _ => false,
        };
        let atom = match is_turned {
            true => self.app(mirrored(op), &[right, left]),
            false => self.app(op, &[left, right]),
        };
        if op == Op::Eq && !is_positive { self.denied(atom) } else { atom }
    }

    /// The sum and the number with all summands on the side where they are positive. A sum compared with a number alone
    /// stays on the left.
    fn sides(&self, poly: &LinearPoly, number: &Rational, sort: Sort) -> (Term, Term) {
        let terms = poly.terms().iter().cloned();
        let (left, right): (Vec<_>, Vec<_>) = terms.partition(|(_, coefficient)| !coefficient.is_negative());
        let right: Vec<_> = right.into_iter().map(|(term, coefficient)| (term, -coefficient)).collect();
        let constant_is_left = number.is_negative() && !right.is_empty();
        let [mut on_left, mut on_right] = [Rational::ZERO, Rational::ZERO];
        if constant_is_left {
            on_left = -number.clone();
        } else {
            on_right = number.clone();
        }
        let side = |terms, constant| self.sum(&LinearPoly::from_pairs(terms, constant), sort);
        (side(left, on_left), side(right, on_right))
    }

    /// The polynomial, with negative parts subtracted.
    fn sum(&self, poly: &LinearPoly, sort: Sort) -> Term {
        let numeral = |number: &Rational| LinearPoly::from_constant(number.clone()).to_term(self.store, sort);
        let multiple = |(term, coefficient): &(Term, Rational)| {
            let (image, size) = (self.images[term].positive, coefficient.abs());
            if size.is_one() { image } else { self.app(Op::Mul, &[numeral(&size), image]) }
        };
        let mut terms: Vec<&(Term, Rational)> = poly.terms().iter().collect();
        terms.sort_by(|a, b| self.by_parameters(a.0, b.0));
        let (negative, positive): (Vec<_>, Vec<_>) =
            terms.into_iter().partition(|(_, coefficient)| coefficient.is_negative());
        let mut positive: Vec<Term> = positive.into_iter().map(multiple).collect();
        let mut negative: Vec<Term> = negative.into_iter().map(multiple).collect();
        let constant = poly.constant();
        if positive.is_empty() && negative.is_empty() {
            return numeral(constant);
        }
        if constant.is_negative() && !positive.is_empty() {
            negative.push(numeral(&constant.abs()));
        } else if !constant.is_zero() {
            positive.push(numeral(constant));
        }
        let minuend = match &*positive {
            [] => None,
            [one] => Some(*one),
            _ => Some(self.app(Op::Add, &positive)),
        };
        match (minuend, &*negative) {
            (Some(minuend), []) => minuend,
            (Some(minuend), _) => {
                let args: Vec<Term> = [minuend].into_iter().chain(negative).collect();
                self.app(Op::Sub, &args)
            }
            (None, [one]) => self.app(Op::Neg, &[*one]),
            (None, _) => self.app(Op::Neg, &[self.app(Op::Add, &negative)]),
        }
    }

    /// The order of the parameters in terms.
    fn by_parameters(&self, a: Term, b: Term) -> Ordering {
        let key = |term: Term| (self.images[&term].parameters, term);
        key(a).cmp(&key(b))
    }
}

/// A member of a junction.
struct Member {
    term: Term,
    /// Its negation.
    denied: Term,
    key: Key,
}

/// The sort key of members: whether they are junctions, their first and their last parameter, and their kind.
type Key = (bool, usize, usize, Kind);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Equation,
    Other,
    Lower,
    Upper,
    Junction,
}

fn is_arithmetic(store: &TermStore, term: Term) -> bool {
    matches!(store.sort_of(term), Sort::INT | Sort::REAL)
}

/// The comparison with its sides swapped.
fn mirrored(op: Op) -> Op {
    match op {
        Op::Le => Op::Ge,
        Op::Lt => Op::Gt,
        Op::Ge => Op::Le,
        Op::Gt => Op::Lt,
        op => op,
    }
}
