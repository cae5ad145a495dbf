//! Peano numbers: datatypes that are the natural numbers, and the function that tells which number a value is.
//!
//! A datatype is *Peano* if it has two constructors, a constant and one whose only field is of the datatype itself, in any
//! order and with any names: `zero | succ(pred)`. Its value `succ(.. succ(zero))` is the number of its successors.
//!
//! This number is the value of the datatype's *number function*, the [fold](crate::Fold) with `n(zero) = 0` and
//! `n(succ(x)) = n(x) + 1`. It maps the datatype one-to-one to the integers from zero on.

use crate::fold::{FoldCase, FoldSpec};
use crate::op::Op;
use crate::sort::{ConstructorId, Fun, Sort};
use crate::term::{Term, TermStore};

/// The constructors of a Peano datatype.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Peano {
    /// The constant.
    pub zero: ConstructorId,
    /// The constructor with a field of the datatype itself.
    pub successor: ConstructorId,
}

impl TermStore {
    /// The constructors, if this is a Peano datatype.
    pub fn peano(&self, sort: Sort) -> Option<Peano> {
        let &[a, b] = self.datatype(sort)?.constructors() else { return None };
        let fields = |id: ConstructorId| &*self.constructor(id).fields;
        match (fields(a), fields(b)) {
            ([], &[(_, field)]) if field == sort => Some(Peano { zero: a, successor: b }),
            (&[(_, field)], []) if field == sort => Some(Peano { zero: b, successor: a }),
            _ => None,
        }
    }

    /// The number function of a Peano datatype.
    ///
    /// # Panics
    /// If the datatype is not Peano.
    pub fn number_function(&self, sort: Sort) -> Fun {
        assert!(self.peano(sort).is_some(), "only Peano datatypes have a number function");
        if let Some((_, &(_, fun))) = self.number_functions.iter().find(|&(_, &(of, _))| of == sort) {
            return fun;
        }
        let fun = self.new_fold(self.fresh_symbol("number"), sort, &[], Sort::INT);
        let field = self.var(self.symbol("field"), sort);
        let below = self.apply(fun, &[field]).expect("the sorts fit");
        let case = |&constructor: &ConstructorId| match *self.constructor(constructor).fields {
            [] => FoldCase { constructor, fields: [].into(), value: self.int(0) },
            _ => FoldCase { constructor, fields: [field].into(), value: self.add(&[below, self.int(1)]) },
        };
        let cases = self.datatype(sort).map_or(&[][..], |datatype| datatype.constructors());
        let spec = FoldSpec { fun, ghosts: Vec::new(), cases: cases.iter().map(case).collect() };
        // Equal families are one family, so two threads get one function.
        let fun = self.define_folds(&[spec]).expect("the recursion is structural")[0];
        self.number_functions.push((sort, fun));
        fun
    }

    /// The datatype, if this is a number function.
    pub fn number_function_sort(&self, fun: Fun) -> Option<Sort> {
        let sort = self.fold(fun)?.sort(self);
        (self.peano(sort).is_some() && self.number_function(sort) == fun).then_some(sort)
    }

    /// The number of a term of a Peano datatype: the number function applied below all successors.
    ///
    /// # Panics
    /// If the datatype is not Peano.
    pub fn number_of(&self, term: Term) -> Term {
        let sort = self.sort_of(term);
        let Peano { zero, successor } = self.peano(sort).expect("only Peano datatypes have numbers");
        let (mut below, mut successors) = (term, 0_u64);
        while let (Op::Construct(constructor), &[field]) = self.view(below)
            && constructor == successor
        {
            (below, successors) = (field, successors + 1);
        }
        if self.op(below) == Op::Construct(zero) {
            return self.int(successors);
        }
        let number = self.apply(self.number_function(sort), &[below]).expect("the sorts fit");
        self.add(&[number, self.int(successors)])
    }

    /// The successor of a term of a Peano datatype, so many times.
    ///
    /// # Panics
    /// If the datatype is not Peano.
    pub fn successors(&self, term: Term, times: u64) -> Term {
        let Peano { successor, .. } =
            self.peano(self.sort_of(term)).expect("only Peano values have successors");
        (0..times).fold(term, |term, _| self.construct_term(successor, &[term]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::Assignment;
    use crate::sort::ConstructorSpec;
    use crate::value::Value;

    fn sort(store: &TermStore, name: &str, constructors: &[(&str, usize)]) -> Sort {
        let sort = store.new_datatype(store.symbol(name), &[]);
        let spec = |&(name, fields): &(&str, usize)| ConstructorSpec {
            name: store.symbol(name),
            fields: (0..fields).map(|at| (store.symbol(&format!("{name}{at}")), sort)).collect(),
        };
        store.define_datatypes(&[(sort, constructors.iter().map(spec).collect())]).unwrap()[0]
    }

    #[test]
    fn peano_datatypes_have_a_constant_and_a_successor_in_any_order() {
        let store = TermStore::new();
        let is_peano = |name: &str, constructors: &[(&str, usize)]| {
            store.peano(sort(&store, name, constructors)).is_some()
        };
        assert!(is_peano("Nat", &[("Z", 0), ("S", 1)]));
        assert!(is_peano("Count", &[("more", 1), ("none", 0)]));
        assert!(!is_peano("Flag", &[("no", 0), ("yes", 0)]));
        assert!(!is_peano("Tree", &[("leaf", 0), ("node", 2)]));
        assert!(!is_peano("Bin", &[("one", 0), ("even", 1), ("odd", 1)]));
        let boxed = store.new_datatype(store.symbol("Box"), &[]);
        let empty = ConstructorSpec { name: store.symbol("empty"), fields: vec![] };
        let full =
            ConstructorSpec { name: store.symbol("full"), fields: vec![(store.symbol("it"), Sort::INT)] };
        let boxed = store.define_datatypes(&[(boxed, vec![empty, full])]).unwrap()[0];
        assert_eq!(store.peano(boxed), None);
    }

    #[test]
    fn the_number_of_a_value_is_the_number_of_its_successors() {
        let store = TermStore::new();
        let nat = sort(&store, "Nat", &[("Z", 0), ("S", 1)]);
        let other = sort(&store, "Count", &[("more", 1), ("none", 0)]);
        let fun = store.number_function(nat);
        assert_eq!(store.number_function(nat), fun);
        assert_ne!(store.number_function(other), fun);
        assert_eq!(store.number_function_sort(fun), Some(nat));
        let zero = store.construct_term(store.peano(nat).unwrap().zero, &[]);
        let many = store.successors(zero, 100_000);
        assert_eq!(store.number_of(many), store.int(100_000));
        let x = store.var(store.symbol("x"), nat);
        let number = store.apply(fun, &[x]).unwrap();
        assert_eq!(store.number_of(store.successors(x, 3)), store.add(&[number, store.int(3)]));
        let assignment = Assignment::from_iter([(x, Value::Term(many))]);
        assert_eq!(store.eval(number, &assignment), Ok(Value::Int(100_000.into())));
    }
}
