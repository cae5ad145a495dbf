//! Weakens bounds: constants of the clauses replace numbers on which lemmas do not settle.
//!
//! Dropping literals keeps the numbers of the others, which come from models and proofs: `x >= 1` is excluded at one
//! level, `x >= 2` at the next, and so on, each time for an obligation with `x >= 1000` and more. If the lemmas of a
//! cluster differ in the number of only one literal, the needed bound is often one at which a loop ends or begins. So
//! the guess replaces the number of that literal in the obligation by constants of the clauses that weaken it, the
//! weakest first. The guessed cube then contains the obligation.
//!
//! Z3's Spacer has such a technique, called bound expansion. There, a new bound must be inductive at once. We tried
//! that: of 2800 attempts in a run three succeeded, because further lemmas are needed first. An obligation finds these.

use shofar_horn::HornGraph;
use shofar_logic::number::Rational;
use shofar_logic::{Sort, Term, TermStore};

use super::generalise::split_equations;
use super::guidance::{Shape, literal, shape};

/// The maximal number of constants tried for one cluster.
const MOST_CONSTANTS: usize = 16;

/// The sorted numbers of the clauses.
pub(super) struct Constants(Vec<Rational>);

impl Constants {
    /// The numbers of a graph's labels and zero, with their neighbours for the sake of strict integer bounds.
    pub(super) fn of(store: &TermStore, graph: &HornGraph) -> Self {
        let labels: Vec<Term> = graph.edges().map(|(_, edge)| edge.label()).collect();
        let numerals = store.subterms(&labels).into_iter().filter_map(|term| store.numeral(term).cloned());
        Self::around(numerals.chain([Rational::ZERO]))
    }

    fn around(numbers: impl Iterator<Item = Rational>) -> Self {
        let around = |number: Rational| [&number - &Rational::ONE, &number + &Rational::ONE, number];
        let mut numbers: Vec<Rational> = numbers.flat_map(around).collect();
        numbers.sort_unstable();
        numbers.dedup();
        Constants(numbers)
    }

    /// The constants that weaken a bound compared to its number, the weakest first.
    fn weaker(&self, store: &TermStore, shape: Shape, number: &Rational) -> Vec<Rational> {
        let Constants(numbers) = self;
        let (form, weaker): (Term, Vec<&Rational>) = match shape {
            Shape::Upper { form, .. } => {
                (form, numbers[numbers.partition_point(|other| other <= number)..].iter().rev().collect())
            }
            Shape::Lower { form, .. } => {
                (form, numbers[..numbers.partition_point(|other| other < number)].iter().collect())
            }
            Shape::Other(_) => return Vec::new(),
        };
        let is_integer = store.sort_of(form) == Sort::INT;
        let numbers = weaker.into_iter().filter(|number| !is_integer || number.is_integer());
        numbers.take(MOST_CONSTANTS).cloned().collect()
    }
}

/// The obligation's cube with constants for the one number in which the members of a cluster differ. The cube of the
/// lemma may lack literals that matter at higher levels. Empty if several numbers differ, or the obligation has no
/// literal of this shape.
pub(super) fn weaken(
    store: &TermStore,
    constants: &Constants,
    shapes: &[Shape],
    members: &[Vec<Rational>],
    obligation: &[Term],
) -> Vec<Vec<Term>> {
    let Some(last) = members.last() else { return Vec::new() };
    let differs = |&at: &usize| members.iter().any(|member| member[at] != last[at]);
    let varying: Vec<usize> = (0..shapes.len()).filter(differs).collect();
    let &[at] = varying.as_slice() else { return Vec::new() };
    let cube = split_equations(store, obligation);
    let numbers = cube.iter().map(|&literal| shape(store, literal));
    let found = numbers.enumerate().find(|(_, (shape, _))| *shape == shapes[at]);
    let Some((position, (shape, number))) = found else { return Vec::new() };
    let weakened = |number: Rational| {
        let mut cube = cube.clone();
        cube[position] = literal(store, shape, &number);
        cube
    };
    constants.weaker(store, shape, &number).into_iter().map(weakened).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_that_differs_becomes_a_constant_of_the_clauses() {
        let store = TermStore::new();
        let [x, y, z] = ["x", "y", "z"].map(|name| store.var(store.symbol(name), Sort::INT));
        let shapes = [Shape::Lower { form: x, is_strict: false }, Shape::Upper { form: y, is_strict: false }];
        let constants = Constants::around([1000, 0].map(Rational::from).into_iter());
        let member = |a: i64, b: i64| [a, b].map(Rational::from).to_vec();
        let (high, low, other) =
            (store.ge(x, store.int(1001)), store.le(y, store.int(7)), store.eq(z, store.int(2)));
        let creeping = [member(3, 7), member(4, 7)];
        let found = weaken(&store, &constants, &shapes, &creeping, &[low, high]);
        let expected = [-1, 0, 1, 999, 1000].map(|number| vec![low, store.ge(x, store.int(number))]);
        assert_eq!(found, expected);
        let nothing = Vec::<Vec<Term>>::new();
        assert_eq!(weaken(&store, &constants, &shapes, &creeping, &[low, other]), nothing);
        let both = [member(5, 1), member(6, 2)];
        assert_eq!(weaken(&store, &constants, &shapes, &both, &[low, high]), nothing);
        let found = weaken(&store, &constants, &shapes, &[member(5, 1), member(5, 0)], &[low]);
        let numbers = [1001, 1000, 999].map(|number| vec![store.le(y, store.int(number))]);
        assert_eq!(found, numbers);
    }
}
