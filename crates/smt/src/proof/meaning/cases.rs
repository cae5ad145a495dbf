//! Choices between few constants, by case distinction (M14 of the [comparison](super)).
//!
//! Counters and states are nested choices with constants at their leaves. Such a number is a list of *cases*: its
//! values, each with its condition. A comparison of the number, or of a sum with it, is then built from these
//! conditions. So it has the same meaning before and after the solver replaced the choices, however they are nested.
//!
//! Invariant: the values of a list differ; exactly one of the conditions holds.

use std::rc::Rc;

use shofar_logic::number::Rational;

use super::{Id, Meanings, Relation, Sum, Truth};

/// The longest list. It is at least as long as those of the solver (`crate::cases`), so that what is propositional
/// there is propositional here.
const MOST_CASES: usize = 16;

/// The values of a number, each with its condition.
pub(super) type Cases = Rc<[(Rational, Truth)]>;

impl Meanings<'_> {
    /// Gives cases to a choice between two numbers, if both have cases and there are few.
    pub(super) fn give_cases(&mut self, choice: Id, condition: Id, then: &Sum, otherwise: &Sum) {
        if self.cases.contains_key(&choice) {
            return;
        }
        let (Some(first), Some(second)) = (self.cases_of(then), self.cases_of(otherwise)) else { return };
        let condition = Truth { node: condition, negated: false };
        let mut values: Vec<Rational> = first.iter().chain(&second).map(|(value, _)| value.clone()).collect();
        values.sort_unstable();
        values.dedup();
        if values.len() > MOST_CASES {
            return;
        }
        let cases = values.into_iter().map(|value| {
            let [a, b] = [&first, &second].map(|cases| {
                let case = cases.iter().find(|(other, _)| *other == value);
                case.map_or(Truth::FALSE, |&(_, when)| when)
            });
            (value, self.ite(condition, a, b))
        });
        let cases = cases.collect();
        self.cases.insert(choice, cases);
    }

    /// The cases of a number whose nodes all have cases, if there are few.
    fn cases_of(&mut self, number: &Sum) -> Option<Vec<(Rational, Truth)>> {
        let mut sum = vec![(number.constant().clone(), Truth::TRUE)];
        for (node, factor) in number.terms() {
            let cases = Rc::clone(self.cases.get(node)?);
            let mut next: Vec<(Rational, Vec<Truth>)> = Vec::new();
            for (value, when) in &sum {
                for (other, other_when) in &*cases {
                    let value = value + other * factor;
                    let when = self.and(vec![*when, *other_when]);
                    match next.iter().position(|(earlier, _)| *earlier == value) {
                        Some(place) => next[place].1.push(when),
                        None if next.len() == MOST_CASES => return None,
                        None => next.push((value, vec![when])),
                    }
                }
            }
            sum = next.into_iter().map(|(value, conditions)| (value, self.or(&conditions))).collect();
        }
        Some(sum)
    }

    /// A comparison of a number with zero by case distinction, if there are cases, and few.
    pub(super) fn compare_cases(&mut self, relation: Relation, number: &Sum) -> Option<Truth> {
        let (cased, plain): (Vec<_>, Vec<_>) =
            number.terms().iter().cloned().partition(|(node, _)| self.cases.contains_key(node));
        if cased.is_empty() {
            return None;
        }
        let cases = self.cases_of(&Sum::from_pairs(cased, number.constant().clone()))?;
        let alternatives = cases.into_iter().map(|(value, when)| {
            let holds = self.compare(relation, Sum::from_pairs(plain.clone(), value));
            self.and(vec![when, holds])
        });
        let alternatives: Vec<Truth> = alternatives.collect();
        Some(self.or(&alternatives))
    }
}
