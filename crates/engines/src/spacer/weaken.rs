//! Weakening bounds: numbers that lemmas do not settle on are replaced by those of the clauses.
//!
//! Leaving out literals keeps the numbers of those that stay, which come from models and proofs. If the number in a bound
//! is another one from lemma to lemma, the bound that is needed is often one at which a loop ends or begins. So for such a
//! literal `form <= c` of a cube the constants of the clauses that are greater are tried in the place of `c`, the
//! greatest first. What is excluded then contains what was excluded before; whether clauses derive a fact in it is asked
//! as for literals that are left out.
//!
//! Z3's Spacer has the same technique under the name of bound expansion.

use shofar_horn::HornGraph;
use shofar_horn::graph::NodeId;
use shofar_logic::number::Rational;
use shofar_logic::{Sort, Term, TermStore};

use super::frames::Level;
use super::guidance::{Shape, literal, shape};
use super::{Search, Stop};

/// Constants that are tried for one literal.
const MOST_ATTEMPTS: usize = 4;

/// The numbers in the clauses, in their order.
pub(super) struct Constants(Vec<Rational>);

impl Constants {
    /// Those of a graph's labels and zero, and for the sake of strict bounds of integers their neighbours.
    pub(super) fn of(store: &TermStore, graph: &HornGraph) -> Self {
        let labels: Vec<Term> = graph.edges().map(|(_, edge)| edge.label()).collect();
        let numerals = store.subterms(&labels).into_iter().filter_map(|term| store.numeral(term).cloned());
        let around = |number: Rational| [&number - &Rational::ONE, &number + &Rational::ONE, number];
        let mut numbers: Vec<Rational> = numerals.chain([Rational::ZERO]).flat_map(around).collect();
        numbers.sort_unstable();
        numbers.dedup();
        Constants(numbers)
    }

    /// The constants by which a bound gets weaker than it is by its number, those by which it gets weakest first.
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
        weaker.into_iter().filter(|number| !is_integer || number.is_integer()).cloned().collect()
    }
}

impl Search<'_> {
    /// The cube with weaker bounds where the numbers of lemmas do not settle, if that cannot be reached either, and up to
    /// which level.
    pub(super) fn weaken_bounds(
        &mut self,
        node: NodeId,
        (mut cube, mut highest): (Vec<Term>, Level),
        level: Level,
    ) -> Result<(Vec<Term>, Level), Stop> {
        for strong in cube.clone() {
            let (shape, number) = shape(self.store, strong);
            if !self.guidance.is_unsettled(node, shape) {
                continue;
            }
            let mut attempts = 0;
            let mut is_found = false;
            for constant in self.constants.weaker(self.store, shape, &number) {
                self.poll()?;
                let weak = literal(self.store, shape, &constant);
                let replaced = |&other: &Term| if other == strong { weak } else { other };
                let candidate: Vec<Term> = cube.iter().map(replaced).collect();
                if candidate == cube || attempts == MOST_ATTEMPTS {
                    break;
                }
                if self.has_known_point(node, &candidate) {
                    continue;
                }
                attempts += 1;
                self.statistics.weaken_attempts += 1;
                if let Some(conflict) = self.blocked(node, &candidate, level)? {
                    self.statistics.weakened += 1;
                    (cube, highest) = (conflict.cube, conflict.level);
                    is_found = true;
                    break;
                }
            }
            self.guidance.tried(node, shape, is_found);
        }
        Ok((cube, highest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weaker_numbers_come_from_the_clauses() {
        let store = TermStore::new();
        let form = store.var(store.symbol("x"), Sort::INT);
        let constants = Constants([-1, 0, 1, 9, 10, 11].map(Rational::from).into());
        let numbers = |shape: Shape, number: i64| {
            let numbers = constants.weaker(&store, shape, &Rational::from(number));
            numbers.iter().map(|number| number.to_string()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(numbers(Shape::Upper { form, is_strict: false }, 9), "11 10");
        assert_eq!(numbers(Shape::Lower { form, is_strict: false }, 9), "-1 0 1");
        assert_eq!(numbers(Shape::Lower { form, is_strict: false }, -1), "");
        assert_eq!(numbers(Shape::Other(form), 0), "");
    }
}
