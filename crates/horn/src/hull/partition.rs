//! The abstract domain of hulls: facts in parts, and for each part equations and inequalities.
//!
//! A [`Division`] says what makes the *key* of a fact: its truth values, and also the values of some numbers, the order or
//! the equality of some pairs of numbers, and remainders of some numbers. The facts with one key make a part. A part is described by its key,
//! by the affine hull of its facts (`affine.rs`), and by those inequalities of a fixed list that all its facts satisfy.
//!
//! Each change adds a key, gives up an equation or gives up an inequality, so there are finitely many, as long as there are
//! finitely many keys. Beyond [`MOST_KEYS`] all parts become one, without a key.
//!
//! The disjunctive completion by keys is that of trace partitioning (X. Rival, L. Mauborgne, "The trace partitioning abstract
//! domain", TOPLAS 2007), with facts in place of traces; inequalities that survive are those of C. Flanagan and K. R. M. Leino,
//! "Houdini, an annotation assistant for ESC/Java" (FME 2001).

use std::collections::BTreeMap;

use shofar_logic::number::{Integer, Rational};
use shofar_logic::{LinearPoly, Sort, Term, TermStore, Value};

use super::affine::AffineHull;
use crate::graph::Node;

/// The number of keys beyond which they are given up.
const MOST_KEYS: usize = 48;

/// The number of numbers up to which inequalities of three numbers are tried.
const MOST_FOR_SUMS: usize = 6;

/// How the facts of a predicate are divided. Positions are those of arguments that are integers. Truth values divide facts
/// unless they are whole.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Division {
    /// The numbers whose values divide facts.
    pub values: Vec<usize>,
    /// The pairs of numbers whose order divides facts.
    pub orders: Vec<(usize, usize)>,
    /// The pairs of numbers whose equality divides facts.
    pub equalities: Vec<(usize, usize)>,
    /// The numbers whose remainders by a positive divisor divide facts.
    pub remainders: Vec<(usize, u32)>,
    /// Whether parts have inequalities.
    pub inequalities: bool,
    /// Whether all facts are one part, without a key.
    pub is_whole: bool,
}

/// The facts of one predicate.
pub(super) struct Partition {
    variables: Box<[Term]>,
    sorts: Vec<Sort>,
    division: Division,
    /// Polynomials that may be at least zero in all facts of a part.
    candidates: Vec<LinearPoly>,
    parts: BTreeMap<Key, Part>,
    /// Whether there are no keys any more.
    is_whole: bool,
    /// The description, while nothing changes.
    formula: Option<Term>,
}

/// The key of a fact: its truth values as numbers, then the values, orders (-1, 0 or 1), equalities (0 or 1) and remainders of
/// the division.
type Key = Box<[Integer]>;

/// The numbers of a fact.
type Point = Vec<(Term, Rational)>;

/// The facts with one key.
struct Part {
    hull: AffineHull,
    /// Points that span the hull.
    points: Vec<Point>,
    /// The positions of the candidates that hold.
    candidates: Vec<usize>,
}

impl Partition {
    /// The partition without facts.
    pub(super) fn new(store: &TermStore, node: &Node, division: Division) -> Self {
        let variables: Box<[Term]> = node.variables().into();
        let sorts = node.sorts(store);
        let is_integer = |variable: &Term| store.sort_of(*variable) == Sort::INT;
        let numbers: Vec<Term> = variables.iter().copied().filter(is_integer).collect();
        let candidates = if division.inequalities { candidates(&numbers) } else { Vec::new() };
        let is_whole = division.is_whole;
        Partition { variables, sorts, division, candidates, parts: BTreeMap::new(), is_whole, formula: None }
    }

    /// The description of the facts.
    pub(super) fn formula(&mut self, store: &TermStore) -> Term {
        if let Some(formula) = self.formula {
            return formula;
        }
        let described = self.parts.iter().map(|(key, part)| {
            let conjuncts = part.formulas(store, &self.candidates);
            store.and_of(self.key_formulas(store, key).into_iter().chain(conjuncts))
        });
        let formula = store.or_of(described);
        self.formula = Some(formula);
        formula
    }

    /// Adds a fact.
    pub(super) fn join(&mut self, store: &TermStore, fact: &[Value]) {
        self.formula = None;
        let key = self.key(fact);
        let point = self.point(fact);
        let holds = |candidate: usize| is_nonnegative(&self.candidates[candidate], &point);
        match self.parts.get_mut(&key) {
            Some(part) => {
                part.candidates.retain(|&candidate| holds(candidate));
                part.add(store, point);
            }
            None => {
                let candidates = (0..self.candidates.len()).filter(|&candidate| holds(candidate)).collect();
                let part = Part { hull: AffineHull::of(&point), points: vec![point], candidates };
                self.parts.insert(key, part);
                if self.parts.len() > MOST_KEYS {
                    self.make_whole(store);
                }
            }
        }
    }

    /// Makes one part of all.
    fn make_whole(&mut self, store: &TermStore) {
        self.is_whole = true;
        let mut parts = std::mem::take(&mut self.parts).into_values();
        let Some(mut whole) = parts.next() else { return };
        for part in parts {
            whole.candidates.retain(|candidate| part.candidates.contains(candidate));
            part.points.into_iter().for_each(|point| whole.add(store, point));
        }
        self.parts.insert([].into(), whole);
    }

    fn key(&self, fact: &[Value]) -> Key {
        if self.is_whole {
            return [].into();
        }
        let number = |at: usize| match &fact[at] {
            Value::Int(value) => value.clone(),
            _ => Integer::ZERO,
        };
        let truths = fact.iter().filter_map(|value| match value {
            Value::Bool(truth) => Some(Integer::from(i64::from(*truth))),
            _ => None,
        });
        let Division { values, orders, equalities, remainders, .. } = &self.division;
        let values = values.iter().map(|&at| number(at));
        let orders = orders.iter().map(|&(a, b)| Integer::from(number(a).cmp(&number(b)) as i64));
        let equalities = equalities.iter().map(|&(a, b)| Integer::from(i64::from(number(a) == number(b))));
        let remainders = remainders.iter().map(|&(at, by)| number(at).rem_euclid(&by.into()));
        truths.chain(values).chain(orders).chain(equalities).chain(remainders).collect()
    }

    /// Says that a fact has this key.
    fn key_formulas(&self, store: &TermStore, key: &[Integer]) -> Vec<Term> {
        if self.is_whole {
            return Vec::new();
        }
        let mut rest = key.iter();
        let mut next = || rest.next().cloned().unwrap_or(Integer::ZERO);
        let variable = |at: usize| self.variables[at];
        let mut formulas = Vec::new();
        for (&truth, _) in self.variables.iter().zip(&self.sorts).filter(|(_, sort)| **sort == Sort::BOOL) {
            formulas.push(store.signed(truth, next().is_one()));
        }
        let Division { values, orders, equalities, remainders, .. } = &self.division;
        formulas.extend(values.iter().map(|&at| store.eq(variable(at), store.int(next()))));
        for &(a, b) in orders {
            let (a, b) = (variable(a), variable(b));
            formulas.push(match next().signum() {
                ..=-1 => store.lt(a, b),
                0 => store.eq(a, b),
                1.. => store.gt(a, b),
            });
        }
        for &(a, b) in equalities {
            formulas.push(store.signed(store.eq(variable(a), variable(b)), next().is_one()));
        }
        for &(at, by) in remainders {
            let rest = store.modulo(variable(at), store.int(by));
            formulas.push(store.eq(rest, store.int(next())));
        }
        formulas
    }

    fn point(&self, fact: &[Value]) -> Point {
        let number = |(&variable, value): (&Term, &Value)| match value {
            Value::Int(value) => Some((variable, value.clone().into())),
            _ => None,
        };
        self.variables.iter().zip(fact).filter_map(number).collect()
    }
}

impl Part {
    fn add(&mut self, store: &TermStore, point: Point) {
        let before = self.hull.equations().len();
        self.hull.join(store, &point);
        if self.hull.equations().len() < before {
            self.points.push(point);
        }
    }

    /// The equations, and the inequalities that do not follow from them and from each other by their constants.
    fn formulas(&self, store: &TermStore, candidates: &[LinearPoly]) -> Vec<Term> {
        // Inequalities that the equations make equal but for the constant; the least constant is the strongest.
        let mut strongest: Vec<(LinearPoly, Rational, usize)> = Vec::new();
        for &candidate in &self.candidates {
            let reduced = self.hull.reduce(candidates[candidate].clone());
            if reduced.is_constant() {
                continue;
            }
            let constant = reduced.constant().clone();
            let sum = reduced.without_constant();
            match strongest.iter_mut().find(|(other, ..)| *other == sum) {
                Some((_, least, _)) if *least <= constant => {}
                Some(other) => *other = (sum, constant, candidate),
                None => strongest.push((sum, constant, candidate)),
            }
        }
        let inequality = |(.., candidate): (LinearPoly, Rational, usize)| {
            store.ge(candidates[candidate].to_term(store, Sort::INT), store.int(0))
        };
        let mut formulas = self.hull.formulas(store);
        formulas.extend(strongest.into_iter().map(inequality));
        formulas
    }
}

/// The polynomials that are tried to be at least zero: `x >= c` for small `c`, `x <= y`, `x < y` and `x <= y + z`.
fn candidates(numbers: &[Term]) -> Vec<LinearPoly> {
    let sum = |terms: &[(Term, i64)], constant: i64| {
        let terms = terms.iter().map(|&(term, factor)| (term, factor.into())).collect();
        LinearPoly::from_pairs(terms, constant.into())
    };
    let mut candidates = Vec::new();
    for (at, &x) in numbers.iter().enumerate() {
        candidates.extend((0..3).map(|least| sum(&[(x, 1)], -least)));
        let others = || numbers.iter().enumerate().filter(move |&(other, _)| other != at);
        for (after, &y) in others() {
            candidates.extend((0..2).map(|less| sum(&[(y, 1), (x, -1)], -less)));
            if numbers.len() <= MOST_FOR_SUMS {
                let third = others().filter(|&(third, _)| third > after);
                candidates.extend(third.map(|(_, &z)| sum(&[(y, 1), (z, 1), (x, -1)], 0)));
            }
        }
    }
    candidates
}

fn is_nonnegative(sum: &LinearPoly, point: &Point) -> bool {
    let value = |variable| point.iter().find(|(other, _)| *other == variable).map(|(_, value)| value.clone());
    sum.eval(value).is_some_and(|value| !value.is_negative())
}
