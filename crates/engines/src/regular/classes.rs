//! Classes of values of sorts that are not datatypes.
//!
//! A finite algebra distinguishes finitely many integers. So integers are divided into classes: intervals between constants
//! of the clauses, or remainders. Truth values are their own classes; all values of another sort are one class. A
//! constraint over such sorts becomes the set of tuples of classes that some solution has. If there are too many, or if the
//! solver cannot decide the constraint, the set has all tuples: this weakens the constraint, so a model remains one.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use shofar_logic::number::Integer;
use shofar_logic::{Sort, Term, TermStore};
use shofar_run::{Limits, Reason};
use shofar_smt::sat::Outcome;

use super::automaton::{State, Tuple};
use crate::Run;

/// The greatest number of tuples of classes that one constraint may have.
const MOST_TUPLES: usize = 512;

/// Conflicts in one query for a tuple of classes.
const MOST_CONFLICTS: u64 = 2_000;

/// The number of constants that divide the integers.
const MOST_CONSTANTS: usize = 4;

/// A class of integers.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Class {
    /// Between two bounds, inclusive.
    Interval(Option<Integer>, Option<Integer>),
    /// With this remainder.
    Remainder { modulus: u32, remainder: u32 },
}

/// How the integers are divided.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Partition(Vec<Class>);

impl Partition {
    /// The partitions that are tried for clauses: none, by sign, by parity, by the constants of the clauses, by thirds. Without
    /// integers there is one only.
    pub(super) fn of_clauses(store: &TermStore, scalar: &[Term], has_integers: bool) -> Vec<Partition> {
        if !has_integers {
            return vec![Partition::intervals(&BTreeSet::new())];
        }
        let mut constants: BTreeSet<Integer> = BTreeSet::new();
        for term in store.subterms(scalar) {
            if let Some(number) = store.numeral(term).filter(|_| store.sort_of(term) == Sort::INT)
                && let Some(number) = number.to_i64().filter(|number| (-16..=16).contains(number))
                && constants.len() < MOST_CONSTANTS
            {
                constants.insert(number.into());
            }
        }
        let mut partitions = vec![
            Partition::intervals(&BTreeSet::new()),
            Partition::intervals(&[0.into()].into_iter().collect()),
            Partition::remainders(2),
            Partition::intervals(&constants),
            Partition::remainders(3),
        ];
        let mut seen: Vec<Partition> = Vec::new();
        partitions.retain(|partition| {
            let is_new = !seen.contains(partition);
            seen.push(partition.clone());
            is_new
        });
        partitions
    }

    fn intervals(constants: &BTreeSet<Integer>) -> Self {
        let mut classes = Vec::new();
        let mut from: Option<Integer> = None;
        for constant in constants {
            let before = constant.clone() - Integer::from(1);
            if from.as_ref().is_none_or(|from| *from <= before) {
                classes.push(Class::Interval(from, Some(before)));
            }
            classes.push(Class::Interval(Some(constant.clone()), Some(constant.clone())));
            from = Some(constant.clone() + Integer::from(1));
        }
        classes.push(Class::Interval(from, None));
        Partition(classes)
    }

    fn remainders(modulus: u32) -> Self {
        Partition((0..modulus).map(|remainder| Class::Remainder { modulus, remainder }).collect())
    }

    /// The number of classes of a sort.
    pub(super) fn len(&self, sort: Sort) -> usize {
        match sort {
            Sort::BOOL => 2,
            Sort::INT => self.0.len(),
            _ => 1,
        }
    }

    /// Whether a class has one value only.
    pub(super) fn is_single(&self, sort: Sort, class: State) -> bool {
        match sort {
            Sort::BOOL => true,
            Sort::INT => matches!(&self.0[usize::from(class)], Class::Interval(Some(a), Some(b)) if a == b),
            _ => false,
        }
    }

    /// The formula that a term belongs to a class.
    pub(super) fn formula(&self, store: &TermStore, term: Term, class: State) -> Term {
        match store.sort_of(term) {
            Sort::BOOL => store.signed(term, class == 1),
            Sort::INT => match &self.0[usize::from(class)] {
                Class::Interval(from, to) => {
                    let at_least = from.clone().map_or(Term::TRUE, |from| store.ge(term, store.int(from)));
                    let at_most = to.clone().map_or(Term::TRUE, |to| store.le(term, store.int(to)));
                    store.and2(at_least, at_most)
                }
                Class::Remainder { modulus, remainder } => {
                    let of = store.modulo(term, store.int(i64::from(*modulus)));
                    store.eq(of, store.int(i64::from(*remainder)))
                }
            },
            _ => Term::TRUE,
        }
    }

    /// The tuples of classes of variables that some solution of the formulas has. `None` for all tuples.
    pub(super) fn tuples(
        &self,
        run: &Run<'_>,
        formulas: &[Term],
        variables: &[Term],
    ) -> Result<Option<Vec<Tuple>>, Reason> {
        let store = run.store;
        let mut solver = run.solver();
        if solver.assert_all(formulas).is_err() {
            return Ok(None);
        }
        let mut tuples = Vec::new();
        loop {
            run.go_on()?;
            let limits = Limits { conflicts: Some(MOST_CONFLICTS), ..run.limits };
            match solver.check(&[], &limits) {
                Ok(Outcome::Unsat) => return Ok(Some(tuples)),
                Ok(Outcome::Sat) if tuples.len() < MOST_TUPLES => {}
                _ => return Ok(None),
            }
            let model = solver.model(variables);
            let class = |&variable: &Term| {
                let is_in = |&class: &State| {
                    let formula = self.formula(store, variable, class);
                    store.eval(formula, &model).is_ok_and(|value| value.as_bool() == Some(true))
                };
                (0..self.len(store.sort_of(variable)) as State).find(is_in)
            };
            let Some(tuple) = variables.iter().map(class).collect::<Option<Tuple>>() else {
                return Ok(None);
            };
            let same =
                variables.iter().zip(&tuple).map(|(&variable, &class)| self.formula(store, variable, class));
            let other = store.not(store.and_of(same));
            tuples.push(tuple);
            if solver.assert(other).is_err() {
                return Ok(None);
            }
        }
    }
}

/// Divides formulas into groups without common variables. The variables of each group come with it, as far as they are
/// `visible`.
pub(super) fn groups(store: &TermStore, formulas: &[Term], visible: &[Term]) -> Vec<(Vec<Term>, Vec<Term>)> {
    let mut group_of: FxHashMap<Term, usize> = FxHashMap::default();
    let mut groups: Vec<Option<(Vec<Term>, Vec<Term>)>> = Vec::new();
    for &formula in formulas {
        let variables = store.free_vars(&[formula]);
        let mut joined: (Vec<Term>, Vec<Term>) = (vec![formula], Vec::new());
        let number = groups.len();
        for variable in variables {
            match group_of.insert(variable, number) {
                None => joined.1.push(variable),
                Some(known) if known == number => {}
                Some(known) => {
                    if let Some((formulas, variables)) = groups[known].take() {
                        variables.iter().for_each(|&variable| {
                            group_of.insert(variable, number);
                        });
                        joined.0.extend(formulas);
                        joined.1.extend(variables);
                    }
                }
            }
        }
        groups.push(Some(joined));
    }
    let mut groups: Vec<(Vec<Term>, Vec<Term>)> = groups.into_iter().flatten().collect();
    for (_, variables) in &mut groups {
        variables.retain(|variable| visible.contains(variable));
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_divide_the_integers() {
        let store = TermStore::new();
        let x = store.var(store.symbol("x"), Sort::INT);
        let literals = [store.eq(x, store.int(0)), store.le(x, store.int(3))];
        let partitions = Partition::of_clauses(&store, &literals, true);
        assert_eq!(partitions.iter().map(|of| of.len(Sort::INT)).collect::<Vec<_>>(), [1, 3, 2, 5, 3]);
        for partition in partitions {
            for number in -5..=5 {
                let value = shofar_logic::Value::Int(number.into());
                let assignment = [(x, value)].into_iter().collect();
                let holds = |class: &State| {
                    let formula = partition.formula(&store, x, *class);
                    store.eval(formula, &assignment).unwrap().as_bool() == Some(true)
                };
                let classes: Vec<State> = (0..partition.len(Sort::INT) as State).filter(holds).collect();
                assert_eq!(classes.len(), 1, "{number}");
                let others = (-5..=5).filter(|&other: &i64| other != number).any(|other| {
                    let assignment = [(x, shofar_logic::Value::Int(other.into()))].into_iter().collect();
                    store.eval(partition.formula(&store, x, classes[0]), &assignment).unwrap().as_bool()
                        == Some(true)
                });
                assert_eq!(partition.is_single(Sort::INT, classes[0]), !others, "{number}");
            }
        }
    }

    #[test]
    fn constraints_become_tuples_of_classes() {
        let store = TermStore::new();
        let [x, y, z] = ["x", "y", "z"].map(|name| store.var(store.symbol(name), Sort::INT));
        let next = store.eq(y, store.add(&[x, store.int(1)]));
        let run = Run::new(&store);
        let parity = Partition::remainders(2);
        let mut tuples = parity.tuples(&run, &[next], &[x, y]).unwrap().unwrap();
        tuples.sort();
        assert_eq!(tuples, [vec![0, 1].into(), vec![1, 0].into()] as [Tuple; 2]);
        let positive = store.gt(z, store.int(0));
        let groups = groups(&store, &[next, positive], &[x, z]);
        assert_eq!(groups, [(vec![next], vec![x]), (vec![positive], vec![z])]);
    }
}
