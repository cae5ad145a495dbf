//! Global guidance: the common part of similar lemmas becomes an obligation.
//!
//! Generalisation sees one obligation at a time, so it may learn lemmas that differ only in numbers, without end.
//! Lemmas of a predicate that bound the same forms are a *cluster*. When a cluster has grown, cubes are guessed from
//! it:
//!
//! - *Subsume*: the cube that contains the excluded cubes of all members and extends in the directions in which the
//!   cluster has grown (`subsume.rs`). So lemmas on `x` and `y` with numbers that grow together become one on `x - y`.
//! - *Conjecture*: the cube without the literals whose numbers differ, which may be irrelevant.
//! - *Weaken*: the cube with a constant of the clauses for the one number that differs (`weaken.rs`).
//!
//! Another rule, *concretise*, handles lemmas that differ in coefficients (`concretise.rs`). A grown cluster also shows
//! that the current form of lemmas (`proof_lemmas.rs`) diverges.
//!
//! A guess is enqueued as an obligation without parent; its predecessors are guesses, too. It may be wrong; then it is
//! reached and forgotten. It may also be hopeless: each step to a predecessor costs *gas*, and without gas the guess is
//! given up. If it is blocked, its lemma is like any other, except that its literals are those of the guess: a proof
//! would again contain the numbers of the current level. Nothing depends on guesses.
//!
//! H. G. V. K., Y. Chen, S. Shoham, A. Gurfinkel, "Global guidance for local generalization in model checking" (CAV
//! 2020). There, clusters are found by anti-unification, also of coefficients.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use shofar_horn::graph::NodeId;
use shofar_logic::number::Rational;
use shofar_logic::{LinearPoly, Relation, Sort, Term, TermStore};

use super::generalise::split_equations;
use super::obligations::{Obligation, ObligationId};
use super::subsume::subsume;
use super::weaken::{Constants, weaken};
use super::{Options, Search};

/// The number of remembered lemmas of a cluster, and of lemmas needed for a guess.
const MEMBERS: usize = 4;
/// The maximal number of times that one cluster makes guesses.
const CLUSTER_GAS: u32 = 10;
/// The maximal number of guesses enqueued for one lemma.
const MOST_GUESSES: usize = 4;
/// The maximal length of a chain of predecessors of a guess.
pub(super) const GUESS_GAS: u32 = 20;

/// The shape of a literal: all but its number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Shape {
    /// An upper bound of the form.
    Upper { form: Term, is_strict: bool },
    /// A lower bound of the form.
    Lower { form: Term, is_strict: bool },
    /// Another literal.
    Other(Term),
}

/// Lemmas with literals of the same shapes.
#[derive(Default)]
struct Cluster {
    /// The numbers of the latest lemmas, in the order of the shapes.
    members: Vec<Vec<Rational>>,
    guesses: u32,
}

/// All clusters.
#[derive(Default)]
pub(super) struct Guidance {
    clusters: FxHashMap<(NodeId, Box<[Shape]>), Cluster>,
    /// For each predicate, the number of lemmas that joined grown clusters.
    repetitions: FxHashMap<NodeId, usize>,
}

impl Guidance {
    /// The number of times that the lemmas of a predicate repeated enough to change the strategy.
    pub(super) fn repetitions(&self, node: NodeId) -> usize {
        self.repetitions.get(&node).map_or(0, |lemmas| lemmas / MEMBERS)
    }

    /// Adds an obligation's new lemma to its cluster, and returns cubes that might be excluded as well.
    fn guesses(
        &mut self,
        store: &TermStore,
        node: NodeId,
        cube: &[Term],
        obligation: &[Term],
        constants: &Constants,
        options: &Options,
    ) -> Vec<Vec<Term>> {
        let mut bounds: Vec<(Shape, Rational)> =
            split_equations(store, cube).into_iter().map(|literal| shape(store, literal)).collect();
        bounds.sort_unstable_by_key(|bound| bound.0);
        let (shapes, numbers): (Vec<Shape>, Vec<Rational>) = bounds.into_iter().unzip();
        let cluster = self.clusters.entry((node, shapes.clone().into())).or_default();
        cluster.members.push(numbers);
        if cluster.members.len() < MEMBERS {
            return Vec::new();
        }
        *self.repetitions.entry(node).or_default() += 1;
        let members = cluster.members.split_off(0);
        cluster.members.extend_from_slice(&members[1..]);
        if !options.guidance || cluster.guesses == CLUSTER_GAS {
            return Vec::new();
        }
        cluster.guesses += 1;
        let mut guesses = Vec::new();
        if options.subsume {
            guesses.extend(subsume(store, &shapes, &members));
        }
        if options.conjecture {
            guesses.push(conjecture(store, &shapes, &members));
        }
        if options.weaken_bounds {
            guesses.extend(weaken(store, constants, &shapes, &members, obligation));
        }
        guesses.retain(|guess| !guess.is_empty());
        guesses
    }
}

impl Search<'_> {
    /// Enqueues the guesses from an obligation's new lemma and similar ones.
    pub(super) fn guide(&mut self, id: ObligationId, cube: &[Term]) {
        let Obligation { node, level, depth, .. } = *self.obligations.get(id);
        if node == self.goal {
            return;
        }
        self.families.note(self.store, node, cube);
        let obligation = Rc::clone(&self.obligations.get(id).cube);
        let (constants, options) = (&self.constants, &self.options);
        let guesses = self.guidance.guesses(self.store, node, cube, &obligation, constants, options);
        let mut enqueued = 0;
        for mut guess in guesses {
            if enqueued == MOST_GUESSES {
                break;
            }
            guess.sort_unstable();
            guess.dedup();
            let is_settled = self.frames[node.index()].blocking(self.store, &guess, level).is_some()
                || self.has_known_point(node, &guess);
            let cube: Rc<[Term]> = guess.into();
            if !is_settled && !self.obligations.is_known(node, &cube) {
                enqueued += 1;
                self.statistics.guesses += 1;
                let guess = Obligation::new(node, cube, level, depth);
                self.obligations.add(Obligation { gas: Some(GUESS_GAS), is_candidate: true, ..guess });
            }
        }
    }
}

/// The shape of a literal, and its number; zero if it has none.
pub(super) fn shape(store: &TermStore, literal: Term) -> (Shape, Rational) {
    let other = (Shape::Other(literal), Rational::ZERO);
    let Some(bound) = store.bound(literal) else { return other };
    let (relation, number) = bound.rounded(store);
    let form = bound.sum;
    match relation {
        Relation::AtMost | Relation::Below => {
            (Shape::Upper { form, is_strict: relation == Relation::Below }, number)
        }
        Relation::AtLeast | Relation::Above => {
            (Shape::Lower { form, is_strict: relation == Relation::Above }, number)
        }
        Relation::Equal | Relation::Different => other,
    }
}

/// The literals whose numbers are the same in all members.
pub(super) fn conjecture(store: &TermStore, shapes: &[Shape], members: &[Vec<Rational>]) -> Vec<Term> {
    let Some(last) = members.last() else { return Vec::new() };
    let same = (0..shapes.len()).filter(|&at| members.iter().all(|member| member[at] == last[at]));
    same.map(|at| literal(store, shapes[at], &last[at])).collect()
}

/// The literal of a shape with a number.
pub(super) fn literal(store: &TermStore, shape: Shape, number: &Rational) -> Term {
    let constant = |form: Term| store.number(number, store.sort_of(form));
    match shape {
        Shape::Upper { form, is_strict: false } => store.le(form, constant(form)),
        Shape::Upper { form, is_strict: true } => store.lt(form, constant(form)),
        Shape::Lower { form, is_strict: false } => store.ge(form, constant(form)),
        Shape::Lower { form, is_strict: true } => store.gt(form, constant(form)),
        Shape::Other(literal) => literal,
    }
}

/// The literal that a polynomial is at most zero, or less than zero.
pub(super) fn compare(store: &TermStore, poly: LinearPoly, sort: Sort, is_strict: bool) -> Term {
    let (primitive, factor) = poly.factored();
    let form = store.normalize(primitive.to_term(store, sort));
    let zero = store.number(&Rational::ZERO, sort);
    let (left, right) = if factor.is_positive() { (form, zero) } else { (zero, form) };
    if is_strict { store.lt(left, right) } else { store.le(left, right) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shofar_horn::HornGraph;

    #[test]
    fn numbers_that_grow_together_become_a_relation() {
        let store = TermStore::new();
        let x = store.var(store.symbol("x"), Sort::INT);
        let y = store.var(store.symbol("y"), Sort::INT);
        let b = store.var(store.symbol("b"), Sort::BOOL);
        let mut guidance = Guidance::default();
        let constants = Constants::of(&store, &HornGraph::new());
        let node = NodeId::new(0);
        let mut found = Vec::new();
        for k in 0..i64::try_from(MEMBERS).expect("a few") {
            assert_eq!(found.len(), 0, "it takes a few lemmas");
            let cube = [b, store.ge(x, store.int(5 + 2 * k)), store.le(y, store.int(1 + k))];
            found = guidance.guesses(&store, node, &cube, &[], &constants, &Options::default());
        }
        let [subsumed, conjectured] = &found[..] else { panic!("there are two guesses: {found:?}") };
        assert_eq!(conjectured, &[b]);
        // s >= 5, s <= x, y - 1 <= (s - 5) / 2
        let double = store.mul(&[store.int(2), y]);
        let relation = store.le(store.sub(double, x), store.int(-3));
        let expected = [b, relation, store.ge(x, store.int(5))];
        assert!(expected.iter().all(|literal| subsumed.contains(literal)), "{subsumed:?}");
        assert_eq!(subsumed.len(), 3);
    }
}
