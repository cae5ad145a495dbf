//! The learner: a decision tree for each predicate.
//!
//! ```text
//! learn: for each predicate: split the set of all its samples
//! split a set:
//!     no sample is negative, and all others can be positive together:    a leaf that is true
//!     no sample is positive:                                             a leaf that is false
//!     otherwise: samples without label get one, as far as the set is mixed without them
//!                choose a qualifier with the least entropy of both sides, split the sides
//! ```
//!
//! - T1: all labels that a leaf gives are propagated through the instances before the next leaf. So the trees agree with all
//!   instances, also with those that have premises of several predicates.
//! - T2: a leaf can always be false if no sample in it is positive (L2 of `samples.rs`).
//!
//! Entropies are integers: the number of samples times the entropy, in units of `2^-16` bits.

use shofar_logic::number::Rational;
use shofar_logic::{Term, TermStore};
use shofar_run::Stop;

use super::qualifiers::{Comparison, MOST_RANK, Qualifiers, Test};
use super::samples::{Labels, SampleId, Samples};
use crate::Run;

/// Samples with equal values of a sum from which on equality with this value is a test, if the clauses do not have the value.
const FEW_EQUAL: u64 = 3;

/// A decision tree. Children have higher indices than their parents.
pub(super) struct Tree {
    vertices: Vec<Vertex>,
}

enum Vertex {
    Leaf(bool),
    Split { test: Test, yes: usize, no: usize },
}

impl Tree {
    /// The number of leaves that are true, or of those that are false, if these are fewer.
    pub(super) fn cases(&self) -> usize {
        let leaves = |wanted: bool| {
            self.vertices.iter().filter(|vertex| matches!(vertex, Vertex::Leaf(is) if *is == wanted)).count()
        };
        leaves(true).min(leaves(false))
    }

    /// The formula of the tree.
    pub(super) fn formula(&self, store: &TermStore, qualifiers: &Qualifiers) -> Term {
        let mut formulas = vec![Term::FALSE; self.vertices.len()];
        for (at, vertex) in self.vertices.iter().enumerate().rev() {
            formulas[at] = match vertex {
                Vertex::Leaf(is_true) => store.bool(*is_true),
                Vertex::Split { test, yes, no } => {
                    let test = qualifiers.term(store, test);
                    match (formulas[*yes], formulas[*no]) {
                        (Term::TRUE, no) => store.or2(test, no),
                        (yes, Term::FALSE) => store.and2(test, yes),
                        (Term::FALSE, no) => store.and2(store.not(test), no),
                        (yes, Term::TRUE) => store.or2(store.not(test), yes),
                        (yes, no) => store.or2(store.and2(test, yes), store.and2(store.not(test), no)),
                    }
                }
            };
        }
        formulas[0]
    }
}

/// Trees for all nodes that agree with the samples.
pub(super) fn learn(
    run: &Run<'_>,
    samples: &Samples,
    qualifiers: &mut [Qualifiers],
    entropies: &mut Entropies,
) -> Result<Vec<Tree>, Stop> {
    let mut labels = samples.labels().clone();
    entropies.extend(samples.len());
    let mut trees = Vec::with_capacity(qualifiers.len());
    for qualifiers in qualifiers {
        qualifiers.evaluate(run, samples)?;
        let learner = Learner { run, samples, qualifiers, entropies };
        trees.push(learner.tree(&mut labels)?);
    }
    Ok(trees)
}

struct Learner<'l> {
    run: &'l Run<'l>,
    samples: &'l Samples,
    qualifiers: &'l Qualifiers,
    entropies: &'l Entropies,
}

impl Learner<'_> {
    fn tree(&self, labels: &mut Labels) -> Result<Tree, Stop> {
        let all = self.samples.of(self.qualifiers.node()).to_vec();
        let mut vertices = vec![Vertex::Leaf(false)];
        let mut open: Vec<(usize, Vec<SampleId>)> = vec![(0, all)];
        while let Some((at, set)) = open.pop() {
            self.run.go_on()?;
            if let Some(is_true) = self.leaf(labels, &set) {
                vertices[at] = Vertex::Leaf(is_true);
                continue;
            }
            let test = self.best_test(labels, &set);
            let test = test.ok_or(Stop::Exhausted("no qualifier separates the samples"))?;
            let passes = |&sample: &SampleId| self.qualifiers.holds(&test, self.samples.get(sample).position);
            let (of_yes, of_no): (Vec<SampleId>, Vec<SampleId>) = set.into_iter().partition(passes);
            let (yes, no) = (vertices.len(), vertices.len() + 1);
            vertices.extend([Vertex::Leaf(false), Vertex::Leaf(false)]);
            vertices[at] = Vertex::Split { test, yes, no };
            open.push((no, of_no));
            open.push((yes, of_yes));
        }
        Ok(Tree { vertices })
    }

    /// The label that a set of samples gets; none if the set has to be split.
    fn leaf(&self, labels: &mut Labels, set: &[SampleId]) -> Option<bool> {
        let has = |labels: &Labels, label: bool| set.iter().any(|&sample| labels.get(sample) == Some(label));
        if !has(labels, false) && !set.is_empty() {
            if self.samples.assume_positive(labels, set) {
                return Some(true);
            }
            if has(labels, true) {
                // Only some can be positive. The others are negative, so that there is something to separate.
                for &sample in set {
                    if !self.samples.assume(labels, sample, true) {
                        self.samples.assume(labels, sample, false);
                    }
                }
            }
        }
        if has(labels, true) {
            return None;
        }
        set.iter().for_each(|&sample| {
            self.samples.assume(labels, sample, false);
        });
        Some(false)
    }

    /// The test that leaves the least entropy among the samples with labels; of equal ones the simplest.
    fn best_test(&self, labels: &Labels, set: &[SampleId]) -> Option<Test> {
        let labelled: Vec<(usize, bool)> = set
            .iter()
            .filter_map(|&sample| Some((self.samples.get(sample).position, labels.get(sample)?)))
            .collect();
        let mut best = Best { total: Counts::of(labelled.iter()), test: None, entropies: self.entropies };
        for (at, formula) in self.qualifiers.formulas.iter().enumerate() {
            let side = Counts::of(labelled.iter().filter(|(position, _)| formula.values[*position]));
            best.offer(side, formula.rank, || Test::Formula(at));
        }
        for at in 0..self.qualifiers.sums.len() {
            self.compare_sum(at, &labelled, &mut best);
        }
        best.test.map(|(_, test)| test)
    }

    /// Offers comparisons of a sum with constants.
    fn compare_sum(&self, at: usize, labelled: &[(usize, bool)], best: &mut Best<'_>) {
        let sum = &self.qualifiers.sums[at];
        let mut groups: Vec<(&Rational, Counts)> =
            labelled.iter().map(|(position, label)| (&sum.values[*position], Counts::one(*label))).collect();
        groups.sort_by_key(|(value, _)| *value);
        groups.dedup_by(|(value, counts), (before, sum)| {
            let is_equal = value == before;
            if is_equal {
                *sum = sum.plus(*counts);
            }
            is_equal
        });
        let mut side = Counts::default();
        for pair in groups.windows(2) {
            let [(low, counts), (high, next)] = pair else { continue };
            side = side.plus(*counts);
            // Between equal labels no bound is best.
            if counts.is_mixed() || next.is_mixed() || counts.positive.min(1) != next.positive.min(1) {
                best.offer(side, sum.rank, || {
                    let (comparison, bound) = self.qualifiers.bound_between(low, high);
                    Test::Sum(at, comparison, bound)
                });
            }
        }
        for (value, counts) in groups.iter().filter(|_| groups.len() > 2) {
            if counts.size() >= FEW_EQUAL || self.qualifiers.is_constant(value) {
                best.offer(*counts, sum.rank + 1, || Test::Sum(at, Comparison::Equal, (*value).clone()));
            }
        }
    }
}

/// The numbers of positive and negative samples.
#[derive(Clone, Copy, Default)]
struct Counts {
    positive: u64,
    negative: u64,
}

impl Counts {
    fn one(label: bool) -> Self {
        Counts { positive: u64::from(label), negative: u64::from(!label) }
    }

    fn of<'l>(labelled: impl Iterator<Item = &'l (usize, bool)>) -> Self {
        labelled.fold(Counts::default(), |counts, (_, label)| counts.plus(Counts::one(*label)))
    }

    fn plus(self, other: Counts) -> Self {
        Counts { positive: self.positive + other.positive, negative: self.negative + other.negative }
    }

    fn size(self) -> u64 {
        self.positive + self.negative
    }

    fn is_mixed(self) -> bool {
        self.positive > 0 && self.negative > 0
    }
}

/// The best test so far.
struct Best<'e> {
    total: Counts,
    test: Option<((u64, u64), Test)>,
    entropies: &'e Entropies,
}

impl Best<'_> {
    /// Offers a test that the samples of one side pass.
    fn offer(&mut self, side: Counts, rank: u64, test: impl FnOnce() -> Test) {
        let other = Counts {
            positive: self.total.positive - side.positive,
            negative: self.total.negative - side.negative,
        };
        if side.size() == 0 || other.size() == 0 {
            return;
        }
        // A qualifier that is far from the clauses has to separate better.
        let entropy = self.entropies.of(side) + self.entropies.of(other);
        let cost = (entropy * (2 * MOST_RANK + rank), rank);
        if self.test.as_ref().is_none_or(|(best, _)| cost < *best) {
            self.test = Some((cost, test()));
        }
    }
}

/// A table of `n log n`.
#[derive(Default)]
pub(super) struct Entropies(Vec<u64>);

impl Entropies {
    /// Makes the table large enough for a number of samples.
    fn extend(&mut self, samples: usize) {
        while self.0.len() <= samples {
            let n = self.0.len() as u64;
            self.0.push(n * binary_logarithm(n));
        }
    }

    /// The entropy of the labels, times their number.
    fn of(&self, counts: Counts) -> u64 {
        let table = |n: u64| self.0[n as usize];
        table(counts.size()).saturating_sub(table(counts.positive) + table(counts.negative))
    }
}

/// The binary logarithm in units of `2^-16`, rounded down; zero for zero.
fn binary_logarithm(n: u64) -> u64 {
    let Some(whole) = n.checked_ilog2() else { return 0 };
    // The mantissa, between one and two, has 32 bits behind the point. Squaring it doubles the logarithm.
    let mut mantissa = (u128::from(n) << 32) >> whole;
    let mut logarithm = u64::from(whole);
    for _ in 0..16 {
        mantissa = (mantissa * mantissa) >> 32;
        logarithm *= 2;
        if mantissa >= 2 << 32 {
            mantissa >>= 1;
            logarithm += 1;
        }
    }
    logarithm
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entropy_is_least_where_sides_are_pure() {
        let mut entropies = Entropies::default();
        entropies.extend(64);
        let of = |positive: u64, negative: u64| entropies.of(Counts { positive, negative });
        assert_eq!((of(7, 0), of(0, 64), of(0, 0)), (0, 0, 0));
        // One bit for each sample.
        assert_eq!((of(1, 1), of(32, 32)), (2 << 16, 64 << 16));
        assert!(of(1, 3) < of(2, 2) && of(1, 3) == of(3, 1));
        // Three samples of 4 bits in all: 3 log 3 = 4.755.
        assert_eq!((3 * binary_logarithm(3) * 1000) >> 16, 4754);
    }
}
