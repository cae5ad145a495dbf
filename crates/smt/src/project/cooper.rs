//! Cooper's quantifier elimination for linear integer arithmetic: exact, without models and without a solver.
//!
//! **Why.** Elimination by models (`eliminate.rs`) ends when the solver finds that no model is left. The solver is
//! incomplete for integers without bounds, so this last query may fail although all projections have been found. Presburger
//! arithmetic has quantifier elimination, and this is the classic procedure. Its results are larger than projections, so
//! it is the fallback.
//!
//! **The idea.** Let all coefficients of `x` be 1 or -1. A solution of a formula in negation normal form can be moved down in steps of
//! the period `D` of all divisibilities until it meets a lower bound, or for ever. So
//!
//! ```text
//! exists x. F   iff   F_inf(j) or F(b + j)   for some j in 0 .. D-1 and some lower bound b of F
//! ```
//!
//! where `F_inf` is `F` with every upper bound true and every lower bound false. An equation `x = t` counts as the bound `t`, and
//! `x != t` as the bound `t + 1`. If there are fewer upper bounds than lower bounds, the solution moves up instead.
//!
//! ```text
//! eliminate:  truth values                   F(true) or F(false)
//!             for each variable x, cheapest first, and for each disjunct of F:
//!                 conjuncts without x        stay outside
//!                 x in div or mod            x is m x + r, for each residue r of a common multiple m of the divisors
//!                 a conjunct a x = t         a | t and F(t / a)
//!                 otherwise                  scale: with m the lcm of the coefficients, m x becomes y with m | y;
//!                                            then as above
//! ```
//!
//! If a variable is inside of a choice, the formula is purified first (`purify.rs`), and the fresh symbols are eliminated, too.
//!
//! **Limits.** The number of atoms that are made is bounded; beyond it, or if the limits of the call end, the answer is `None`. So it
//! is for variables of other sorts than `Int` and `Bool`, and where a function is applied to a variable. Division by zero is such a
//! function.
//!
//! D. C. Cooper, "Theorem proving in arithmetic without multiplication", Machine Intelligence 7, 1972.

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::number::{Integer, Rational};
use shofar_logic::{LinearPoly, Op, Sort, Substitution, Term, TermStore};
use shofar_run::Limits;

use super::constraint::{Constraint, Relation, combination};
use crate::purify::{Purified, Purifier};

/// The number of atoms that an elimination may make.
const MOST_ATOMS: usize = 300_000;

/// A formula without the variables that is equivalent to `exists vars. formula`, or `None` if it cannot be found.
pub(super) fn eliminate(
    store: &TermStore,
    formula: Term,
    vars: &[Term],
    limits: &Limits<'_>,
) -> Option<Term> {
    let normal = store.normalize(formula);
    eliminate_normal(store, normal, vars, limits).or_else(|| {
        let mut purifier = Purifier::new(store);
        let Purified { formula, definitions } = purifier.purify(normal).ok()?;
        let fresh = purifier.origins().iter().map(|&(symbol, _)| symbol);
        let vars: Vec<Term> = vars.iter().copied().chain(fresh).collect();
        eliminate_normal(store, store.and_of(definitions.into_iter().chain([formula])), &vars, limits)
    })
}

/// As [`eliminate`], for a normal formula in which variables occur linearly, or in quotients and remainders.
fn eliminate_normal(store: &TermStore, formula: Term, vars: &[Term], limits: &Limits<'_>) -> Option<Term> {
    let (booleans, others): (Vec<Term>, Vec<Term>) =
        vars.iter().copied().partition(|&var| store.sort_of(var) == Sort::BOOL);
    if others.iter().any(|&var| store.sort_of(var) != Sort::INT) {
        return None;
    }
    let mut formula = store.nnf(formula);
    let mut budget = Budget { atoms: MOST_ATOMS, limits };
    for var in booleans {
        budget.spend(2, &literals(store, formula))?;
        let cases = [Term::TRUE, Term::FALSE].map(|value| store.instantiate(formula, &single(var, value)));
        formula = store.nnf(store.or(&cases));
    }
    let mut open = others;
    while !open.is_empty() {
        let (place, _) = open.iter().enumerate().min_by_key(|&(_, &var)| cost(store, formula, var))?;
        let var = open.swap_remove(place);
        formula = eliminate_one(store, formula, var, &mut budget)?;
    }
    Some(formula)
}

/// What an elimination may still spend.
struct Budget<'l> {
    atoms: usize,
    limits: &'l Limits<'l>,
}

impl Budget<'_> {
    /// Pays for so many copies of atoms; `None` if the budget or a limit of the call does not allow them.
    fn spend<T>(&mut self, copies: usize, atoms: &[T]) -> Option<()> {
        self.atoms = self.atoms.checked_sub(copies.checked_mul(atoms.len())?)?;
        self.limits.interruption().is_none().then_some(())
    }
}

fn single(var: Term, value: Term) -> Substitution {
    Substitution::from_iter([(var, value)])
}

/// An estimate of how much the elimination of a variable multiplies the formula.
fn cost(store: &TermStore, formula: Term, x: Term) -> (usize, Integer) {
    let atoms: Vec<Atom> = literals(store, formula)
        .into_iter()
        .filter_map(|literal| Atom::of(store, literal, x).ok()?)
        .collect();
    let factor = atoms.iter().fold(Integer::ONE, |factor, atom| factor.lcm(&atom.coefficient.abs()));
    let period = atoms.iter().fold(factor, |period, atom| period.lcm(&atom.modulus()));
    (period.bit_len(), period * Integer::from(atoms.len() as u64))
}

/// The literals of a formula in negation normal form.
fn literals(store: &TermStore, formula: Term) -> Vec<Term> {
    let is_inner = |term: Term| matches!(store.op(term), Op::And | Op::Or);
    let mut terms = store.subterms_until(&[formula], |term| !is_inner(term));
    terms.retain(|&term| !is_inner(term));
    terms
}

/// Whether the variable occurs in the term.
fn mentions(store: &TermStore, term: Term, x: Term) -> bool {
    store.subterms(&[term]).contains(&x)
}

/// Eliminates one integer variable from a formula in negation normal form.
fn eliminate_one(store: &TermStore, formula: Term, x: Term, budget: &mut Budget<'_>) -> Option<Term> {
    let mut found: FxHashSet<Term> = FxHashSet::default();
    let mut results = Vec::new();
    for disjunct in store.disjuncts(formula) {
        let (about, outside): (Vec<Term>, Vec<Term>) =
            store.conjuncts(disjunct).partition(|&conjunct| mentions(store, conjunct, x));
        let outside = store.and(&outside);
        for case in split_residues(store, store.and(&about), x, budget)? {
            for result in eliminate_from(store, case, x, budget)? {
                let result = store.and2(outside, result);
                if found.insert(result) {
                    results.push(result);
                }
            }
        }
    }
    Some(store.or(&results))
}

/// Formulas without the variable in quotients and remainders. Its existence in one of them is that in the given one: with `m` a
/// common multiple of the divisors, `x` is `m x + r`, and `m x` can be taken out.
fn split_residues(store: &TermStore, formula: Term, x: Term, budget: &mut Budget<'_>) -> Option<Vec<Term>> {
    let mut open = vec![formula];
    let mut split = Vec::new();
    while let Some(formula) = open.pop() {
        let mut divisor = Integer::ONE;
        for literal in literals(store, formula) {
            let (atom, _) = store.literal(literal);
            // A divisibility is an atom, unless there are others inside.
            let inside = match store.view(atom) {
                (Op::Eq, &[left, right]) if store.op(left) == Op::Mod && store.numeral(right).is_some() => {
                    store.subterms(&[store.args(left)[0]])
                }
                _ => store.subterms(&[atom]),
            };
            for term in inside {
                if let (Op::IntDiv | Op::Mod, &[dividend, by]) = store.view(term)
                    && mentions(store, dividend, x)
                {
                    if !is_taken_out(store, dividend, x) {
                        return None;
                    }
                    divisor = divisor.lcm(&store.numeral(by)?.to_integer().filter(Integer::is_positive)?);
                }
            }
        }
        if divisor.is_one() {
            split.push(formula);
            continue;
        }
        let residues = divisor.to_usize()?;
        budget.spend(residues, &literals(store, formula))?;
        let multiple = store.mul_const(&Rational::from(divisor), x);
        for residue in 0..residues {
            let image = store.add(&[multiple, store.int(Integer::from(residue as u64))]);
            let case = store.nnf(store.instantiate(formula, &single(x, image)));
            open.extend(store.disjuncts(case).filter(|&case| case != Term::FALSE));
        }
    }
    Some(split)
}

/// Whether a multiple of the divisors can be taken out of the dividend: only sums, multiples, quotients and remainders contain the
/// variable. Inside of a choice it would stay for ever.
fn is_taken_out(store: &TermStore, dividend: Term, x: Term) -> bool {
    let is_linear = |term: Term| match store.view(term) {
        (Op::Mul, &[factor, _]) => store.numeral(factor).is_some(),
        (op, _) => term == x || matches!(op, Op::Add | Op::IntDiv | Op::Mod),
    };
    store.subterms(&[dividend]).into_iter().filter(|&term| mentions(store, term, x)).all(is_linear)
}

/// Eliminates the variable from a conjunction. Returns the disjuncts of the result.
fn eliminate_from(store: &TermStore, formula: Term, x: Term, budget: &mut Budget<'_>) -> Option<Vec<Term>> {
    let mut atoms: FxHashMap<Term, Atom> = FxHashMap::default();
    for literal in literals(store, formula) {
        if let Some(atom) = Atom::of(store, literal, x).ok()? {
            atoms.insert(literal, atom);
        }
    }
    if atoms.is_empty() {
        return Some(vec![formula]);
    }
    let mut equations = store.conjuncts(formula).filter_map(|conjunct| atoms.get(&conjunct));
    if let Some(equation) = equations.find(|atom| atom.kind == Kind::Equal) {
        let (factor, rest) = (&equation.coefficient, &equation.rest);
        let exists = Constraint::divisible(factor.abs(), rest.clone());
        let image = |atom: &Atom| atom.at_quotient(store, factor, rest);
        return Some(vec![store.and2(to_term(store, exists), replace(store, formula, &atoms, image))]);
    }
    let factor = atoms.values().fold(Integer::ONE, |factor, atom| factor.lcm(&atom.coefficient.abs()));
    atoms.values_mut().for_each(|atom| atom.scale(&factor));
    let period = atoms.values().fold(factor.clone(), |period, atom| period.lcm(&atom.modulus()));
    // In the order of the terms, so that the result does not depend on a table.
    let mut ordered: Vec<(&Term, &Atom)> = atoms.iter().collect();
    ordered.sort_unstable_by_key(|(term, _)| **term);
    let bounds = |downward: bool| {
        let mut bounds: Vec<LinearPoly> = Vec::new();
        for bound in ordered.iter().filter_map(|(_, atom)| atom.bound(downward)) {
            if !bounds.contains(&bound) {
                bounds.push(bound);
            }
        }
        bounds
    };
    let (lower, upper) = (bounds(true), bounds(false));
    let downward = lower.len() <= upper.len();
    let bounds = if downward { lower } else { upper };
    let steps = period.to_usize()?;
    budget.spend(steps.checked_mul(bounds.len() + 1)?, &ordered)?;
    let multiple = |y: &LinearPoly| to_term(store, Constraint::divisible(factor.clone(), y.clone()));
    let mut results = Vec::new();
    for step in 0..steps {
        let step = Rational::from(if downward { step as i64 } else { -(step as i64) });
        let far = LinearPoly::from_constant(step.clone());
        let image = |atom: &Atom| atom.far(store, downward, &far);
        results.push(store.and2(multiple(&far), replace(store, formula, &atoms, image)));
        for bound in &bounds {
            let mut y = bound.clone();
            y.add_constant(&step);
            let image = |atom: &Atom| atom.at(store, &y);
            results.push(store.and2(multiple(&y), replace(store, formula, &atoms, image)));
        }
    }
    results.retain(|&result| result != Term::FALSE);
    Some(results)
}

/// The formula with other formulas in the place of its atoms.
fn replace(
    store: &TermStore,
    formula: Term,
    atoms: &FxHashMap<Term, Atom>,
    image: impl Fn(&Atom) -> Term,
) -> Term {
    let mut images: FxHashMap<Term, Term> = FxHashMap::default();
    // Arguments come before the terms that they are arguments of.
    for part in store.subterms_until(&[formula], |term| !matches!(store.op(term), Op::And | Op::Or)) {
        let result = match store.view(part) {
            (op @ (Op::And | Op::Or), args) => {
                let args: Vec<Term> = args.iter().map(|arg| images[arg]).collect();
                if op == Op::And { store.and(&args) } else { store.or(&args) }
            }
            _ => atoms.get(&part).map_or(part, &image),
        };
        images.insert(part, result);
    }
    images[&formula]
}

fn to_term(store: &TermStore, constraint: Constraint) -> Term {
    constraint.normalized().map_or(Term::TRUE, |constraint| constraint.to_term(store))
}

/// A literal about the variable: a relation of `coefficient * x + rest`.
#[derive(Clone, Debug)]
struct Atom {
    coefficient: Integer,
    rest: LinearPoly,
    kind: Kind,
}

/// The relation of a polynomial to zero, or to a modulus.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Kind {
    AtMost,
    Equal,
    Unequal,
    Divisible(Integer),
    Indivisible(Integer),
}

/// The variable occurs in a place that is not linear.
struct Buried;

impl Atom {
    /// The atom of a literal; `None` if the variable does not occur in it.
    fn of(store: &TermStore, literal: Term, x: Term) -> Result<Option<Atom>, Buried> {
        if !mentions(store, literal, x) {
            return Ok(None);
        }
        let (atom, positive) = store.literal(literal);
        let (op, &[left, right]) = store.view(atom) else { return Err(Buried) };
        if store.sort_of(left) != Sort::INT {
            return Err(Buried);
        }
        let (poly, kind) = match (op, store.view(left), store.numeral(right)) {
            (Op::Eq, (Op::Mod, &[dividend, modulus]), Some(rest)) => {
                let modulus = store.numeral(modulus).and_then(Rational::to_integer);
                let modulus = modulus.filter(Integer::is_positive).ok_or(Buried)?;
                let mut poly = LinearPoly::from_term(store, dividend);
                poly.add_constant(&-rest);
                (poly, if positive { Kind::Divisible(modulus) } else { Kind::Indivisible(modulus) })
            }
            _ => {
                let difference = LinearPoly::from_term(store, left) - &LinearPoly::from_term(store, right);
                let above = |mut poly: LinearPoly| {
                    poly.add_constant(&Rational::ONE);
                    poly
                };
                match (op, positive) {
                    (Op::Eq, true) => (difference, Kind::Equal),
                    (Op::Eq, false) => (difference, Kind::Unequal),
                    (Op::Le, true) => (difference, Kind::AtMost),
                    (Op::Le, false) => (above(-difference), Kind::AtMost),
                    (Op::Lt, true) => (above(difference), Kind::AtMost),
                    (Op::Lt, false) => (-difference, Kind::AtMost),
                    _ => return Err(Buried),
                }
            }
        };
        let (coefficient, rest) = poly.split(x);
        let is_linear = rest.terms().iter().all(|&(term, _)| !mentions(store, term, x));
        match coefficient.to_integer() {
            Some(coefficient) if is_linear && !coefficient.is_zero() => {
                Ok(Some(Atom { coefficient, rest, kind }))
            }
            _ => Err(Buried),
        }
    }

    fn modulus(&self) -> Integer {
        match &self.kind {
            Kind::Divisible(modulus) | Kind::Indivisible(modulus) => modulus.clone(),
            _ => Integer::ONE,
        }
    }

    /// Makes the atom one about `y = factor * x`, with the coefficient 1 or -1.
    fn scale(&mut self, factor: &Integer) {
        let by = factor.div_exact(&self.coefficient.abs());
        self.rest.scale(&Rational::from(by.clone()));
        if let Kind::Divisible(modulus) | Kind::Indivisible(modulus) = &mut self.kind {
            *modulus = &*modulus * &by;
        }
        self.coefficient = if self.coefficient.is_negative() { -Integer::ONE } else { Integer::ONE };
    }

    /// The least (or greatest) number at which the atom, whose coefficient is 1 or -1, is true while it is false one step
    /// further down (or up).
    fn bound(&self, downward: bool) -> Option<LinearPoly> {
        let is_lower = self.coefficient.is_negative();
        let root = if is_lower { self.rest.clone() } else { -self.rest.clone() };
        match self.kind {
            Kind::AtMost => (is_lower == downward).then_some(root),
            Kind::Equal => Some(root),
            Kind::Unequal => {
                let mut next = root;
                next.add_constant(&Rational::from(if downward { 1 } else { -1 }));
                Some(next)
            }
            Kind::Divisible(_) | Kind::Indivisible(_) => None,
        }
    }

    /// The atom with a polynomial in the place of `y`.
    fn at(&self, store: &TermStore, y: &LinearPoly) -> Term {
        let coefficient = Rational::from(self.coefficient.clone());
        self.relation(store, combination(&coefficient, y, &Rational::ONE, &self.rest), &Integer::ONE)
    }

    /// The atom with `-rest / factor` in the place of `x`, multiplied by the factor. The quotient is an integer.
    fn at_quotient(&self, store: &TermStore, factor: &Integer, rest: &LinearPoly) -> Term {
        let size = factor.abs();
        let sign = if factor.is_negative() { Integer::ONE } else { -Integer::ONE };
        let coefficient = Rational::from(&sign * &self.coefficient);
        let poly = combination(&coefficient, rest, &Rational::from(size.clone()), &self.rest);
        self.relation(store, poly, &size)
    }

    /// The atom for a `y` far below (or above) all bounds that is congruent to the number.
    fn far(&self, store: &TermStore, downward: bool, number: &LinearPoly) -> Term {
        match self.kind {
            // A lower bound is false far below, an upper bound is true there.
            Kind::AtMost => store.bool(self.coefficient.is_negative() != downward),
            Kind::Equal => Term::FALSE,
            Kind::Unequal => Term::TRUE,
            Kind::Divisible(_) | Kind::Indivisible(_) => self.at(store, number),
        }
    }

    /// The relation of the atom for another polynomial, in which all is multiplied by the scale.
    fn relation(&self, store: &TermStore, poly: LinearPoly, scale: &Integer) -> Term {
        let compared = |relation| Constraint { poly: poly.clone(), relation, sort: Sort::INT };
        match &self.kind {
            Kind::AtMost => to_term(store, compared(Relation::AtMost)),
            Kind::Equal => to_term(store, compared(Relation::Equal)),
            Kind::Unequal => store.not(to_term(store, compared(Relation::Equal))),
            Kind::Divisible(modulus) => to_term(store, Constraint::divisible(modulus * scale, poly)),
            Kind::Indivisible(modulus) => {
                store.not(to_term(store, Constraint::divisible(modulus * scale, poly)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use shofar_logic::{Assignment, Value};
    use shofar_testing::Random;

    use super::*;

    /// A random formula over `x`, `a` and `b`.
    fn formula(store: &TermStore, random: &mut Random, symbols: [Term; 3], depth: usize) -> Term {
        if depth > 0 && random.below(3) > 0 {
            let args: Vec<Term> =
                (0..2 + random.below(2)).map(|_| formula(store, random, symbols, depth - 1)).collect();
            return if random.bool() { store.and(&args) } else { store.or(&args) };
        }
        let mut small = |most: i64| random.below(2 * most as usize + 1) as i64 - most;
        let pairs = symbols.map(|symbol| (symbol, Rational::from(small(3)))).to_vec();
        let sum = LinearPoly::from_pairs(pairs, Rational::from(small(6))).to_term(store, Sort::INT);
        let modulus = store.int(Integer::from(2 + small(1).abs()));
        let zero = store.int(Integer::ZERO);
        let rest = store.modulo(sum, modulus);
        match small(3) {
            -3 => store.eq(sum, zero),
            -2 => store.not(store.eq(sum, zero)),
            -1 => store.eq(rest, store.int(Integer::ONE)),
            0 => store.not(store.eq(rest, zero)),
            1 => store.le(store.add(&[symbols[1], rest]), symbols[0]),
            2 => store.le(zero, sum),
            _ => store.le(sum, zero),
        }
    }

    #[test]
    fn eliminations_agree_with_enumeration() {
        let mut random = Random::new(1972);
        let mut eliminated = 0;
        for _ in 0..120 {
            let store = TermStore::new();
            let symbols = ["x", "a", "b"].map(|name| store.var(store.symbol(name), Sort::INT));
            let formula = formula(&store, &mut random, symbols, 2);
            let Some(result) = eliminate(&store, formula, &symbols[..1], &Limits::default()) else {
                continue;
            };
            eliminated += 1;
            assert!(!store.subterms(&[result]).contains(&symbols[0]), "x is left");
            for (a, b) in (-5..=5).flat_map(|a| (-5..=5).map(move |b| (a, b))) {
                let at = |x: i64, formula: Term| {
                    let values = std::iter::zip(symbols, [x, a, b]);
                    let model: Assignment =
                        values.map(|(symbol, value)| (symbol, Value::Int(value.into()))).collect();
                    store.eval(formula, &model) == Ok(Value::Bool(true))
                };
                // All bounds are below 40, and the period of the divisibilities is a divisor of 36.
                let expected = (-80..=80).any(|x| at(x, formula));
                assert_eq!(at(0, result), expected, "{} at a = {a}, b = {b}", store.display(formula));
            }
        }
        assert!(eliminated > 100, "{eliminated}");
    }

    #[test]
    fn functions_of_the_variable_and_reals_are_not_eliminated() {
        let store = TermStore::new();
        let x = store.var(store.symbol("x"), Sort::INT);
        let f = store.fun(store.symbol("f"), &[Sort::INT], Sort::INT);
        let value = store.apply(f, &[x]).expect("the sorts fit");
        let eliminated = |formula: Term, var: Term| eliminate(&store, formula, &[var], &Limits::default());
        assert_eq!(eliminated(store.le(value, x), x), None);
        let r = store.var(store.symbol("r"), Sort::REAL);
        assert_eq!(eliminated(store.le(r, store.real(Rational::ONE)), r), None);
        // Division by zero is a function of the dividend.
        let by_zero = store.modulo(x, store.int(Integer::ZERO));
        assert_eq!(eliminated(store.eq(by_zero, store.int(Integer::ONE)), x), None);
    }
}
