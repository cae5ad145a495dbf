//! Datatypes in normal form (N15 of [`build`](super)). `boolean.rs` handles equality.

use crate::op::Op;
use crate::sort::ConstructorId;
use crate::term::{Term, TermStore};

impl TermStore {
    /// The constructor applied to its fields.
    pub fn construct_term(&self, constructor: ConstructorId, fields: &[Term]) -> Term {
        self.raw(Op::Construct(constructor), fields)
    }

    /// A field. On a term of another constructor it stays open.
    pub fn selector(&self, constructor: ConstructorId, field: u32, a: Term) -> Term {
        match self.view(a) {
            (Op::Construct(made_by), fields) if made_by == constructor => fields[field as usize],
            _ => self.raw(Op::Selector { constructor, field }, &[a]),
        }
    }

    /// Whether this constructor made the value.
    pub fn tester(&self, constructor: ConstructorId, a: Term) -> Term {
        if let Op::Construct(made_by) = self.op(a) {
            return self.bool(made_by == constructor);
        }
        let constructors = self.datatype(self.sort_of(a)).map_or(&[][..], |datatype| datatype.constructors());
        match *constructors {
            [_] => Term::TRUE,
            [first, second] if second == constructor => self.not(self.raw(Op::Tester(first), &[a])),
            _ => self.raw(Op::Tester(constructor), &[a]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sort::{ConstructorSpec, Sort};

    struct Lists {
        store: TermStore,
        sort: Sort,
        nil: ConstructorId,
        cons: ConstructorId,
    }

    fn lists() -> Lists {
        let store = TermStore::new();
        let sort = store.new_datatype(store.symbol("List"), &[]);
        let nil = ConstructorSpec { name: store.symbol("nil"), fields: vec![] };
        let fields = vec![(store.symbol("head"), Sort::INT), (store.symbol("tail"), sort)];
        let cons = ConstructorSpec { name: store.symbol("cons"), fields };
        let sort = store.define_datatypes(&[(sort, vec![nil, cons])]).unwrap()[0];
        let &[nil, cons] = store.datatype(sort).unwrap().constructors() else { panic!("two constructors") };
        Lists { store, sort, nil, cons }
    }

    #[test]
    fn selectors_and_testers_see_constructors() {
        let Lists { store, sort, nil, cons } = lists();
        let x = store.var(store.symbol("x"), Sort::INT);
        let l = store.var(store.symbol("l"), sort);
        let empty = store.construct_term(nil, &[]);
        let list = store.construct_term(cons, &[x, l]);
        assert_eq!(store.selector(cons, 0, list), x);
        assert_eq!(store.selector(cons, 1, list), l);
        assert_eq!(store.op(store.selector(cons, 0, empty)), Op::Selector { constructor: cons, field: 0 });
        assert_eq!(store.tester(cons, list), Term::TRUE);
        assert_eq!(store.tester(cons, empty), Term::FALSE);
        assert_eq!(store.tester(cons, l), store.not(store.tester(nil, l)));
    }

    #[test]
    fn equality_of_constructor_terms_is_that_of_the_fields() {
        let Lists { store, sort, nil, cons } = lists();
        let [x, y] = ["x", "y"].map(|name| store.var(store.symbol(name), Sort::INT));
        let [k, l] = ["k", "l"].map(|name| store.var(store.symbol(name), sort));
        let empty = store.construct_term(nil, &[]);
        let list = |head, tail| store.construct_term(cons, &[head, tail]);
        assert_eq!(store.eq(list(x, k), list(y, l)), store.and2(store.eq(x, y), store.eq(k, l)));
        assert_eq!(store.eq(list(x, empty), list(x, list(y, k))), Term::FALSE);
        assert_eq!(store.eq(list(store.int(1), k), list(store.int(2), l)), Term::FALSE);
        assert_eq!(store.eq(list(x, k), list(x, k)), Term::TRUE);
        assert_eq!(store.eq(l, empty), store.eq(empty, l));
    }

    #[test]
    fn every_value_is_made_by_the_only_constructor() {
        let store = TermStore::new();
        let sort = store.new_datatype(store.symbol("Box"), &[]);
        let fields = vec![(store.symbol("content"), Sort::INT)];
        let spec = ConstructorSpec { name: store.symbol("box"), fields };
        let sort = store.define_datatypes(&[(sort, vec![spec])]).unwrap()[0];
        let only = store.datatype(sort).unwrap().constructors()[0];
        assert_eq!(store.tester(only, store.var(store.symbol("b"), sort)), Term::TRUE);
    }
}
