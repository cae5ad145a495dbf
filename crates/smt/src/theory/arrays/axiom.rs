//! The axioms behind the lemmas on arrays, and the check of an instance.
//!
//! ```text
//! array_write           select(store(a, i, v), i) = v
//! array_elsewhere       i = j  or  select(store(a, i, v), j) = select(a, j)
//! array_constant        select(const(v), j) = v
//! array_difference      a = b  or  select(a, d) != select(b, d)              d is difference(a, b)
//! array_default_write   default(store(a, i, v)) = default(a)                 infinitely many indices
//! array_default         default(const(v)) = v                                infinitely many indices
//! ```
//!
//! The last three introduce a function, which formulas must not mention. It has a meaning in every model: `difference`
//! takes an index where two different arrays differ, and `default` the same element for all arrays that are equal
//! except at finitely many indices. If there are infinitely many, no two constant arrays with different elements are.
//!
//! Terms are those of congruence, as written: normal forms would read through writes.

use rustc_hash::FxHashMap;
use shofar_logic::{Fun, Op, Sort, Term, TermStore};

use super::sorts::{Indices, indices};
use crate::proof::{Axiom, AxiomRule};

/// What an instance says.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Lemma {
    /// The element that a write has written.
    Write(Term),
    /// A write does not change the element at an index.
    Elsewhere(Term, Term),
    /// The element of a constant array at an index.
    Constant(Term, Term),
    /// Different arrays differ at an index.
    Difference(Term, Term),
    /// The element that a constant array, or a write, has almost everywhere.
    Default(Term),
}

/// The functions that lemmas introduce, by sorts of arrays.
#[derive(Default)]
pub(super) struct Functions {
    differences: FxHashMap<Sort, Fun>,
    defaults: FxHashMap<Sort, Fun>,
}

impl Functions {
    /// Whether the function is one of them.
    pub(super) fn contains(&self, fun: Fun) -> bool {
        self.differences.values().chain(self.defaults.values()).any(|&own| own == fun)
    }

    /// An index where two arrays differ, if they do.
    fn difference_of(&mut self, store: &TermStore, left: Term, right: Term) -> Term {
        let sort = store.sort_of(left);
        let (index, _) = store.array_parts(sort).expect("it is an array");
        let fun = self.differences.entry(sort);
        let fun = fun.or_insert_with(|| store.fun(store.fresh_symbol("difference"), &[sort; 2], index));
        apply(store, Op::Apply(*fun), &[left, right])
    }

    /// The element of an array almost everywhere.
    fn default_of(&mut self, store: &TermStore, array: Term) -> Term {
        let sort = store.sort_of(array);
        let (_, element) = store.array_parts(sort).expect("it is an array");
        let fun = self.defaults.entry(sort);
        let fun = fun.or_insert_with(|| store.fun(store.fresh_symbol("default"), &[sort], element));
        apply(store, Op::Apply(*fun), &[array])
    }

    /// The axiom and the literals of a lemma.
    pub(super) fn instance(&mut self, store: &TermStore, lemma: Lemma) -> (Axiom, Vec<Term>) {
        let (rule, terms): (AxiomRule, Box<[Term]>) = match lemma {
            Lemma::Write(write) => (WRITE, [write].into()),
            Lemma::Elsewhere(write, index) => (ELSEWHERE, [write, as_index(store, write, index)].into()),
            Lemma::Constant(constant, index) => {
                (CONSTANT, [constant, as_index(store, constant, index)].into())
            }
            Lemma::Difference(left, right) => {
                (DIFFERENCE, [left, right, self.difference_of(store, left, right)].into())
            }
            Lemma::Default(array) => {
                let default = self.default_of(store, array);
                match store.view(array) {
                    (Op::Store, &[before, ..]) => {
                        (DEFAULT_WRITE, [array, self.default_of(store, before), default].into())
                    }
                    _ => (DEFAULT, [array, default].into()),
                }
            }
        };
        let literals = literals(store, rule, &terms).expect("it is an instance");
        (Axiom { rule, terms }, literals)
    }
}

const WRITE: AxiomRule = AxiomRule { name: "array_write", check: is_write, introduces: None };
const ELSEWHERE: AxiomRule = AxiomRule { name: "array_elsewhere", check: is_elsewhere, introduces: None };
const CONSTANT: AxiomRule = AxiomRule { name: "array_constant", check: is_constant, introduces: None };
const DIFFERENCE: AxiomRule =
    AxiomRule { name: "array_difference", check: is_difference, introduces: Some("difference") };
const DEFAULT_WRITE: AxiomRule =
    AxiomRule { name: "array_default_write", check: is_default_write, introduces: Some("default") };
const DEFAULT: AxiomRule =
    AxiomRule { name: "array_default", check: is_default, introduces: Some("default") };

fn is_write(store: &TermStore, clause: &[(Term, bool)], terms: &[Term]) -> Result<(), String> {
    is_instance(store, WRITE, clause, terms)
}

fn is_elsewhere(store: &TermStore, clause: &[(Term, bool)], terms: &[Term]) -> Result<(), String> {
    is_instance(store, ELSEWHERE, clause, terms)
}

fn is_constant(store: &TermStore, clause: &[(Term, bool)], terms: &[Term]) -> Result<(), String> {
    is_instance(store, CONSTANT, clause, terms)
}

fn is_difference(store: &TermStore, clause: &[(Term, bool)], terms: &[Term]) -> Result<(), String> {
    is_instance(store, DIFFERENCE, clause, terms)
}

fn is_default_write(store: &TermStore, clause: &[(Term, bool)], terms: &[Term]) -> Result<(), String> {
    is_instance(store, DEFAULT_WRITE, clause, terms)
}

fn is_default(store: &TermStore, clause: &[(Term, bool)], terms: &[Term]) -> Result<(), String> {
    is_instance(store, DEFAULT, clause, terms)
}

/// Whether the clause has all literals of the instance.
fn is_instance(
    store: &TermStore,
    rule: AxiomRule,
    clause: &[(Term, bool)],
    terms: &[Term],
) -> Result<(), String> {
    let Some(literals) = literals(store, rule, terms) else {
        return Err("the terms do not fit the axiom".to_owned());
    };
    let is_there = |&literal: &Term| literal == Term::TRUE || clause.contains(&store.literal(literal));
    match literals.iter().all(is_there) {
        true => Ok(()),
        false => Err("a literal of the axiom is missing".to_owned()),
    }
}

/// The literals of the instance of an axiom, if the terms fit it.
fn literals(store: &TermStore, rule: AxiomRule, terms: &[Term]) -> Option<Vec<Term>> {
    let select = |array: Term, index: Term| store.app(Op::Select, &[array, index]).ok();
    let literals = match (rule.name, terms) {
        ("array_write", &[write]) => {
            let (Op::Store, &[_, index, element]) = store.view(write) else { return None };
            vec![store.eq(select(write, index)?, element)]
        }
        ("array_elsewhere", &[write, index]) => {
            let (Op::Store, &[before, written, _]) = store.view(write) else { return None };
            let elements = [select(write, index)?, select(before, index)?];
            vec![store.eq(written, index), store.eq(elements[0], elements[1])]
        }
        ("array_constant", &[constant, index]) => {
            let (Op::ConstArray(_), &[element]) = store.view(constant) else { return None };
            vec![store.eq(select(constant, index)?, element)]
        }
        ("array_difference", &[left, right, index]) => {
            let is_function_of_both =
                matches!(store.op(index), Op::Apply(_)) && store.args(index) == [left, right];
            if !is_function_of_both || store.sort_of(left) != store.sort_of(right) {
                return None;
            }
            let elements = [select(left, index)?, select(right, index)?];
            vec![store.eq(left, right), store.not(store.eq(elements[0], elements[1]))]
        }
        ("array_default_write", &[write, of_before, of_write]) => {
            let (Op::Store, &[before, ..]) = store.view(write) else { return None };
            let is_default = |default: Term, array: Term| {
                matches!(store.op(default), Op::Apply(_)) && store.args(default) == [array]
            };
            let are_defaults = is_default(of_before, before) && is_default(of_write, write);
            if !are_defaults
                || store.op(of_before) != store.op(of_write)
                || !has_infinitely_many(store, write)
            {
                return None;
            }
            vec![store.eq(of_write, of_before)]
        }
        ("array_default", &[constant, default]) => {
            let (Op::ConstArray(_), &[element]) = store.view(constant) else { return None };
            let is_default = matches!(store.op(default), Op::Apply(_)) && store.args(default) == [constant];
            if !is_default || !has_infinitely_many(store, constant) {
                return None;
            }
            vec![store.eq(default, element)]
        }
        _ => return None,
    };
    Some(literals.into_iter().filter(|&literal| literal != Term::FALSE).collect())
}

/// Whether an array has infinitely many indices.
fn has_infinitely_many(store: &TermStore, array: Term) -> bool {
    indices(store, store.sort_of(array)) == Some(Indices::Infinite)
}

/// The index as one of the array: an integer and its cast are the same for congruence, and either may stand for both.
fn as_index(store: &TermStore, array: Term, index: Term) -> Term {
    let (expected, _) = store.array_parts(store.sort_of(array)).expect("it is an array");
    match (expected, store.sort_of(index)) {
        (Sort::REAL, Sort::INT) => store.to_real(index),
        _ => index,
    }
}

fn apply(store: &TermStore, op: Op, args: &[Term]) -> Term {
    store.app(op, args).expect("the arguments have the sorts of the function")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The clause of an instance.
    fn clause(store: &TermStore, literals: &[Term]) -> Vec<(Term, bool)> {
        literals.iter().map(|&literal| store.literal(literal)).collect()
    }

    #[test]
    fn an_instance_needs_all_of_its_literals_and_its_terms() {
        let store = TermStore::new();
        let sort = store.array_sort(Sort::INT, Sort::INT);
        let var = |name: &str, sort: Sort| store.var(store.symbol(name), sort);
        let (a, b) = (var("a", sort), var("b", sort));
        let [i, j, v] = ["i", "j", "v"].map(|name| var(name, Sort::INT));
        let write = store.app(Op::Store, &[a, i, v]).expect("well-sorted");
        let constant = store.app(Op::ConstArray(sort), &[v]).expect("well-sorted");
        let mut functions = Functions::default();
        let lemmas = [
            Lemma::Write(write),
            Lemma::Elsewhere(write, j),
            Lemma::Constant(constant, j),
            Lemma::Difference(a, b),
            Lemma::Default(write),
            Lemma::Default(constant),
        ];
        let mut names = Vec::new();
        for lemma in lemmas {
            let (Axiom { rule, terms }, literals) = functions.instance(&store, lemma);
            let whole = clause(&store, &literals);
            assert_eq!((rule.check)(&store, &whole, &terms), Ok(()), "{lemma:?}");
            for missing in 0..whole.len() {
                let mut fewer = whole.clone();
                let (atom, affirmed) = fewer.remove(missing);
                assert!((rule.check)(&store, &fewer, &terms).is_err(), "{lemma:?}");
                fewer.push((atom, !affirmed));
                assert!((rule.check)(&store, &fewer, &terms).is_err(), "{lemma:?}");
            }
            for place in 0..terms.len() {
                let mut others = terms.to_vec();
                others[place] = if store.sort_of(others[place]) == sort { b } else { v };
                if others[..] != terms[..] {
                    assert!((rule.check)(&store, &whole, &others).is_err(), "{lemma:?}");
                }
            }
            if rule.introduces.is_some() {
                let Op::Apply(fun) = store.op(terms[terms.len() - 1]) else { panic!("it is a function") };
                assert!(functions.contains(fun));
            }
            names.push(rule.name);
        }
        names.dedup();
        assert_eq!(names.len(), lemmas.len());
    }

    #[test]
    fn defaults_are_for_infinitely_many_indices() {
        let store = TermStore::new();
        let sort = store.array_sort(Sort::BOOL, Sort::INT);
        let constant = store.app(Op::ConstArray(sort), &[store.int(1)]).expect("well-sorted");
        let fun = store.fun(store.fresh_symbol("default"), &[sort], Sort::INT);
        let default = store.app(Op::Apply(fun), &[constant]).expect("well-sorted");
        let whole = clause(&store, &[store.eq(default, store.int(1))]);
        assert!(is_default(&store, &whole, &[constant, default]).is_err());
    }
}
