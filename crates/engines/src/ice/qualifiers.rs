//! Qualifiers: the tests that decision trees are made of, with their values for all samples.
//!
//! | kind | qualifiers | from |
//! |---|---|---|
//! | formulas | atoms of the clauses over the arguments, Boolean arguments, affine equalities that hold of all facts, `m` divides `x - r` | the clauses |
//! | sums | `sum <= c`, `sum < c` and `sum = c` for the arguments, the sums of cheap invariants, and `x + y`, `x - y` | `c` from samples, with a preference for constants of the clauses |
//!
//! The bounds of single arguments separate any two samples. A tree with many cases is a sign that better sums are missing: then there are
//! more of them, one [`Kind`] after the other.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;
use shofar_horn::HornGraph;
use shofar_horn::graph::NodeId;
use shofar_logic::number::{Integer, Rational};
use shofar_logic::{Assignment, Evaluator, Sort, Term, TermStore, Value};
use shofar_run::Stop;

use super::samples::Samples;
use crate::{Run, invariants};

/// Sums of one node.
const MOST_SUMS: usize = 400;

/// Arguments with tests for remainders.
const MOST_REMAINDERS: usize = 12;

/// The greatest modulus.
const MOST_MODULUS: i64 = 4;

/// Constants of the clauses, the simplest first.
const MOST_CONSTANTS: usize = 60;

/// The kinds of sums beyond arguments and the sums of cheap invariants, in the order in which they are used.
const KINDS: [Kind; 3] = [Kind::Pairs, Kind::Triples, Kind::Multiples];

/// Sums that belong together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// `x + y` and `x - y`.
    Pairs,
    /// `x`, `y` and `z`, each added or subtracted.
    Triples,
    /// `2x + y`, `2x - y` and so on.
    Multiples,
}

/// How far a qualifier is from the clauses: at most this much.
pub(super) const MOST_RANK: u64 = 8;

/// A formula that a sample satisfies or not.
pub(super) struct Formula {
    pub(super) term: Term,
    pub(super) rank: u64,
    /// Indexed by the position of samples.
    pub(super) values: Vec<bool>,
}

/// A linear sum.
pub(super) struct Sum {
    term: Term,
    pub(super) rank: u64,
    /// Indexed by the position of samples.
    pub(super) values: Vec<Rational>,
}

/// The qualifiers of a node.
pub(super) struct Qualifiers {
    node: NodeId,
    variables: Box<[Term]>,
    pub(super) formulas: Vec<Formula>,
    pub(super) sums: Vec<Sum>,
    known: FxHashSet<Term>,
    /// The number of [`KINDS`] that are used.
    kinds: usize,
    /// The simplest first.
    constants: Vec<Rational>,
    evaluated: usize,
}

/// Whether a sum is at most, below or equal to a constant.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Comparison {
    AtMost,
    Below,
    Equal,
}

/// A qualifier.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Test {
    /// The formula at a position.
    Formula(usize),
    /// The sum at a position, compared with a constant.
    Sum(usize, Comparison, Rational),
}

/// The qualifiers of all nodes.
pub(super) fn qualifiers(run: &Run<'_>, graph: &HornGraph) -> Result<Vec<Qualifiers>, Stop> {
    let store = run.store;
    let constants = constants(store, graph);
    let atoms = invariants::atoms(run, graph)?;
    let relations = invariants::relations(run, graph)?;
    let mut all = Vec::with_capacity(atoms.len());
    for (((node, content), atoms), relations) in graph.nodes().zip(atoms).zip(relations) {
        let mut own = Qualifiers {
            node,
            variables: content.variables().into(),
            formulas: Vec::new(),
            sums: Vec::new(),
            known: FxHashSet::from_iter([Term::TRUE, Term::FALSE]),
            kinds: 0,
            constants: constants.clone(),
            evaluated: 0,
        };
        for (formulas, rank) in [(atoms, 0), (relations.equalities, 0)] {
            formulas.into_iter().for_each(|formula| own.add_formula(formula, rank));
        }
        for &variable in content.variables() {
            if store.sort_of(variable) == Sort::BOOL {
                own.add_formula(variable, 0);
            } else if invariants::is_number(store, variable) {
                own.add_sum(variable, 1);
            }
        }
        relations.sums.into_iter().for_each(|sum| own.add_sum(sum, 2));
        own.add_remainders(store);
        all.push(own);
    }
    Ok(all)
}

/// The constants of the clauses, and zero, one and two, by size.
fn constants(store: &TermStore, graph: &HornGraph) -> Vec<Rational> {
    let labels: Vec<Term> = graph.edges().map(|(_, edge)| edge.label()).collect();
    let written = store.subterms(&labels).into_iter().filter_map(|term| store.numeral(term).cloned());
    let mut found: BTreeSet<Rational> = written.collect();
    found.extend([0, 1, 2].map(Rational::from));
    found.extend(found.clone().into_iter().map(|constant| -constant));
    let mut found: Vec<Rational> = found.into_iter().collect();
    found.sort_by(|a, b| a.cmp_abs(b).then_with(|| b.cmp(a)));
    found.truncate(MOST_CONSTANTS);
    found
}

impl Qualifiers {
    fn add_formula(&mut self, term: Term, rank: u64) {
        if self.known.insert(term) {
            self.formulas.push(Formula { term, rank, values: Vec::new() });
        }
    }

    fn add_sum(&mut self, term: Term, rank: u64) {
        if self.sums.len() < MOST_SUMS && self.known.insert(term) {
            self.sums.push(Sum { term, rank, values: Vec::new() });
        }
    }

    fn add_remainders(&mut self, store: &TermStore) {
        let integers: Vec<Term> = self.of_sort(store, Sort::INT);
        for &variable in integers.iter().take(MOST_REMAINDERS) {
            for modulus in 2..=MOST_MODULUS {
                for residue in 0..modulus {
                    let distance = store.sub(variable, store.int(residue));
                    self.add_formula(store.divisible(&Integer::from(modulus), distance), 5);
                }
            }
        }
    }

    fn of_sort(&self, store: &TermStore, sort: Sort) -> Vec<Term> {
        self.variables.iter().copied().filter(|&variable| store.sort_of(variable) == sort).collect()
    }

    /// The node.
    pub(super) fn node(&self) -> NodeId {
        self.node
    }

    /// Adds sums of the next kind, if there are any. Returns whether there are.
    fn grow(&mut self, store: &TermStore) -> bool {
        let before = self.sums.len();
        let Some(&kind) = KINDS.get(self.kinds) else { return false };
        self.kinds += 1;
        for sort in [Sort::INT, Sort::REAL] {
            for sum in sums(store, kind, &self.of_sort(store, sort)) {
                self.add_sum(sum, 2 + self.kinds as u64);
            }
        }
        // The new sums have no values for the first samples.
        self.evaluated = 0;
        self.sums.len() > before
    }

    /// Adds sums if the tree is too large: it has more than `most` cases for each kind that is used. Returns whether there are new
    /// sums.
    pub(super) fn grow_for(&mut self, store: &TermStore, cases: usize, most: usize) -> bool {
        while self.kinds < KINDS.len() && cases > most.saturating_mul(self.kinds + 1) {
            if self.grow(store) {
                return true;
            }
        }
        false
    }

    /// Evaluates all qualifiers for new samples. Formulas that have no value for a sample, such as one with a division by zero, are
    /// dropped.
    pub(super) fn evaluate(&mut self, run: &Run<'_>, samples: &Samples) -> Result<(), Stop> {
        let of_node = samples.of(self.node);
        for (position, &sample) in of_node.iter().enumerate().skip(self.evaluated) {
            run.go_on()?;
            let mut assignment = Assignment::new();
            for (&variable, value) in self.variables.iter().zip(&samples.get(sample).values) {
                assignment.set(variable, value.clone());
            }
            let mut evaluator = Evaluator::new(run.store, &assignment);
            self.formulas.retain_mut(|Formula { term, values, .. }| {
                if values.len() > position {
                    return true;
                }
                let value = evaluator.eval(*term).ok().and_then(|value| value.as_bool());
                values.extend(value);
                value.is_some()
            });
            for Sum { term, values, .. } in self.sums.iter_mut().filter(|sum| sum.values.len() == position) {
                values.push(match evaluator.eval(*term) {
                    Ok(Value::Int(value)) => value.into(),
                    Ok(Value::Real(value)) => value,
                    _ => return Err(Stop::Internal("a sum has no value for a sample".to_owned())),
                });
            }
        }
        self.evaluated = of_node.len();
        Ok(())
    }

    /// Whether the sample at a position passes a test.
    pub(super) fn holds(&self, test: &Test, position: usize) -> bool {
        match test {
            Test::Formula(formula) => self.formulas[*formula].values[position],
            Test::Sum(sum, comparison, constant) => {
                let value = &self.sums[*sum].values[position];
                match comparison {
                    Comparison::AtMost => value <= constant,
                    Comparison::Below => value < constant,
                    Comparison::Equal => value == constant,
                }
            }
        }
    }

    /// A test as a formula over the variables of the node.
    pub(super) fn term(&self, store: &TermStore, test: &Test) -> Term {
        match test {
            Test::Formula(formula) => self.formulas[*formula].term,
            Test::Sum(sum, comparison, constant) => {
                let sum = self.sums[*sum].term;
                let constant = store.number(constant, store.sort_of(sum));
                match comparison {
                    Comparison::AtMost => store.le(sum, constant),
                    Comparison::Below => store.lt(sum, constant),
                    Comparison::Equal => store.eq(sum, constant),
                }
            }
        }
    }

    /// The simplest bound between two numbers: a constant of the clauses, or else the integer next to zero.
    pub(super) fn bound_between(&self, low: &Rational, high: &Rational) -> (Comparison, Rational) {
        for constant in &self.constants {
            if low <= constant && constant < high {
                return (Comparison::AtMost, constant.clone());
            }
            if low < constant && constant <= high {
                return (Comparison::Below, constant.clone());
            }
        }
        // Zero is a constant, so both numbers have the same sign.
        if low.is_positive() {
            let next = Rational::from(low.ceil());
            let bound = if next < *high { next } else { low.clone() };
            return (Comparison::AtMost, bound);
        }
        let next = Rational::from(high.floor());
        let bound = if next > *low { next } else { high.clone() };
        (Comparison::Below, bound)
    }

    /// Whether the clauses have a constant.
    pub(super) fn is_constant(&self, number: &Rational) -> bool {
        self.constants.contains(number)
    }
}

/// The sums of some arguments.
fn sums(store: &TermStore, kind: Kind, arguments: &[Term]) -> Vec<Term> {
    let mut sums = Vec::new();
    let pairs = || {
        let later = |at: usize| arguments[at + 1..].iter();
        arguments.iter().enumerate().flat_map(move |(at, &x)| later(at).map(move |&y| (at, x, y)))
    };
    match kind {
        Kind::Pairs => {
            pairs().for_each(|(_, x, y)| sums.extend([store.sub(x, y), store.add(&[x, y])]));
        }
        Kind::Triples => {
            for (at, x, y) in pairs() {
                for &z in arguments[at + 1..].iter().skip_while(|&&z| z != y).skip(1) {
                    let (sum, difference) = (store.add(&[x, y]), store.sub(x, y));
                    sums.extend([store.sub(sum, z), store.sub(difference, z)]);
                    sums.extend([store.add(&[difference, z]), store.add(&[sum, z])]);
                    if sums.len() >= MOST_SUMS {
                        return sums;
                    }
                }
            }
        }
        Kind::Multiples => {
            for (_, x, y) in pairs() {
                for (double, other) in [(x, y), (y, x)] {
                    let double = store.add(&[double, double]);
                    sums.extend([store.sub(double, other), store.add(&[double, other])]);
                }
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use shofar_horn::parse;

    use super::*;

    fn all_of(store: &TermStore, text: &str) -> Qualifiers {
        let graph = HornGraph::of(store, &parse(store, "test", text.as_bytes()).expect("it is right"));
        qualifiers(&Run::new(store), &graph).expect("nothing limits it").remove(0)
    }

    #[test]
    fn bounds_are_constants_of_the_clauses_or_next_to_zero() {
        let store = TermStore::new();
        let own =
            all_of(&store, "(declare-fun P (Int) Bool) (assert (forall ((x Int)) (=> (<= x 70) (P x))))");
        let between = |low: i64, high: i64| {
            let (comparison, bound) = own.bound_between(&low.into(), &high.into());
            (comparison, bound.to_i64())
        };
        assert_eq!(between(-3, 5), (Comparison::AtMost, Some(0)));
        assert_eq!(between(-3, 0), (Comparison::Below, Some(0)));
        assert_eq!(between(60, 90), (Comparison::AtMost, Some(70)));
        assert_eq!(between(60, 70), (Comparison::Below, Some(70)));
        assert_eq!(between(80, 90), (Comparison::AtMost, Some(80)));
        assert_eq!(between(-90, -80), (Comparison::Below, Some(-80)));
        let half = |numerator: i64| Rational::new(numerator.into(), 2.into());
        assert_eq!(own.bound_between(&half(161), &half(170)), (Comparison::AtMost, half(162)));
        let third = Rational::new(1.into(), 3.into());
        assert_eq!(own.bound_between(&third, &half(1)), (Comparison::AtMost, third.clone()));
    }

    #[test]
    fn large_trees_get_more_sums() {
        let store = TermStore::new();
        let mut own = all_of(
            &store,
            "(declare-fun P (Int Int Int Int Int Bool) Bool)
             (assert (forall ((a Int) (b Int) (c Int) (d Int) (e Int) (f Bool)) (P a b c d e f)))",
        );
        let first = own.sums.len();
        assert!(!own.grow_for(&store, 4, 4), "it is small");
        assert!(own.grow_for(&store, 5, 4));
        let pairs = own.sums.len();
        // x + y and x - y for ten pairs.
        assert!(pairs > first && pairs <= first + 20, "{first}, {pairs}");
        assert!(!own.grow_for(&store, 8, 4));
        assert!(own.grow_for(&store, 9, 4));
        // Four signs for ten triples.
        assert_eq!(own.sums.len(), pairs + 40);
        assert!(own.grow_for(&store, 13, 4));
        assert_eq!(own.sums.len(), pairs + 80);
        assert!(!own.grow_for(&store, 1000, 4), "there are no more");
    }
}
