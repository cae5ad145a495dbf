//! Branches: copies of a store that grow on their own.
//!
//! Terms are ordered by their indices, and so are the arguments of normal forms. If several threads add terms to one store, the
//! indices depend on the scheduling of threads, and with them every search. A search in a branch depends on nothing but itself.
//!
//! - B1: what the origin had when the branch was made has the same index in both. So such terms, sorts and symbols can be used in
//!   either of them.
//! - B2: a later term of the branch is a term of the origin after [`to_origin`](Branch::to_origin).

use rustc_hash::FxHashMap;

use crate::op::Op;
use crate::sort::{Fun, Sort, SortKind, Symbol};
use crate::term::{Size, Term, TermStore};

/// A copy of a store, and the store that it was copied from.
pub struct Branch<'a> {
    origin: &'a TermStore,
    store: TermStore,
    /// What the two have in common.
    shared: Size,
}

impl<'a> Branch<'a> {
    /// A copy of a store. No other thread may add to the store meanwhile.
    pub fn of(origin: &'a TermStore) -> Self {
        let store = origin.copy();
        let shared = store.size();
        Branch { origin, store, shared }
    }

    /// The copy.
    pub fn store(&self) -> &TermStore {
        &self.store
    }

    /// The term of the origin that is the same as this one of the branch. `None` if it needs a datatype or a recursive function
    /// that was defined in the branch.
    pub fn to_origin(&self, term: Term) -> Option<Term> {
        let mut images: FxHashMap<Term, Term> = FxHashMap::default();
        // Arguments first, with a stack of our own: terms may be deep.
        let mut open = vec![(term, false)];
        while let Some((term, is_ready)) = open.pop() {
            if self.is_shared(term) || images.contains_key(&term) {
                continue;
            }
            if is_ready {
                let image = self.image(term, &images)?;
                images.insert(term, image);
            } else {
                open.push((term, true));
                open.extend(self.store.args(term).iter().map(|&argument| (argument, false)));
            }
        }
        Some(images.get(&term).copied().unwrap_or(term))
    }

    /// By B1.
    fn is_shared(&self, term: Term) -> bool {
        term.0 < self.shared.terms
    }

    /// The image of a term whose arguments have images.
    fn image(&self, term: Term, images: &FxHashMap<Term, Term>) -> Option<Term> {
        let (op, arguments) = self.store.view(term);
        let image = |argument: &Term| images.get(argument).copied().unwrap_or(*argument);
        let arguments: Vec<Term> = arguments.iter().map(image).collect();
        let sort = self.sort(self.store.sort_of(term))?;
        let op = match op {
            Op::Var(name) => return Some(self.origin.var(self.symbol(name), sort)),
            Op::Numeral(number) => return Some(self.origin.number(self.store.rational(number), sort)),
            Op::BvNumeral(number) => {
                return Some(self.origin.bv(self.store.integer(number).clone(), self.origin.bv_width(sort)?));
            }
            Op::Divisible(number) => self.origin.divisible_op(self.store.integer(number).clone()),
            Op::Apply(fun) => Op::Apply(self.fun(fun)?),
            Op::ConstArray(sort) => Op::ConstArray(self.sort(sort)?),
            // Constructors belong to datatypes, and those of the sort and the arguments are shared.
            op => op,
        };
        self.origin.app(op, &arguments).ok()
    }

    fn symbol(&self, symbol: Symbol) -> Symbol {
        self.origin.symbol(self.store.name(symbol))
    }

    fn sort(&self, sort: Sort) -> Option<Sort> {
        if sort.0 < self.shared.sorts {
            return Some(sort);
        }
        let kind = match self.store.sort_kind(sort) {
            SortKind::Array(index, element) => SortKind::Array(self.sort(*index)?, self.sort(*element)?),
            SortKind::Uninterpreted(name, parameters) => {
                let parameters: Option<Box<[Sort]>> = parameters.iter().map(|&it| self.sort(it)).collect();
                SortKind::Uninterpreted(self.symbol(*name), parameters?)
            }
            SortKind::Datatype(_) => return None,
            other => other.clone(),
        };
        Some(self.origin.sort(kind))
    }

    fn fun(&self, fun: Fun) -> Option<Fun> {
        if self.store.fold_of(fun).is_some() {
            return (fun.0 < self.shared.funs && self.origin.fold_of(fun).is_some()).then_some(fun);
        }
        let decl = self.store.fun_decl(fun);
        let domain: Option<Vec<Sort>> = decl.domain.iter().map(|&sort| self.sort(sort)).collect();
        Some(self.origin.fun(self.symbol(decl.name), &domain?, self.sort(decl.range)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two branches and the origin go on with other terms each. What a branch has made is found in the origin by its text.
    #[test]
    fn branches_grow_on_their_own() {
        let store = TermStore::new();
        let [x, y] = ["x", "y"].map(|name| store.var(store.symbol(name), Sort::INT));
        let old = store.le(store.add(&[x, y]), store.int(100));
        let branches = [Branch::of(&store), Branch::of(&store)];
        store.ge(x, store.int(1000));
        for (number, branch) in branches.iter().enumerate() {
            let own = branch.store();
            assert_eq!(own.display(old).to_string(), store.display(old).to_string());
            assert_eq!(branch.to_origin(old), Some(old));
            assert_eq!(own.le(own.add(&[x, y]), own.int(100)), old, "it is found, not made");
            let array = own.array_sort(Sort::INT, own.bitvec_sort(7));
            let name = own.fresh_symbol("z");
            let z = own.var(name, array);
            let read = own.app(Op::Select, &[z, own.int(12_345 + number as u64)]).expect("it fits");
            let fun = own.fun(own.symbol("f"), &[Sort::INT], own.bitvec_sort(7));
            let applied = own.apply(fun, &[y]).expect("it fits");
            let equation = own.app(Op::Eq, &[read, applied, own.bv(5_u64, 7)]).expect("it fits");
            let divisible = own.app(own.divisible_op(77_u64.into()), &[x]).expect("it fits");
            let new = own.app(Op::And, &[equation, divisible, old]).expect("it fits");
            let image = branch.to_origin(new).expect("no datatypes");
            assert_eq!(own.display(new).to_string(), store.display(image).to_string());
            assert_eq!(branch.to_origin(new), Some(image));
        }
    }

    #[test]
    fn branches_of_equal_stores_are_equal() {
        let grown = || {
            let store = TermStore::new();
            store.le(store.var(store.symbol("x"), Sort::REAL), store.real(77_i64));
            store
        };
        let (first, second) = (grown(), grown());
        let (one, two) = (Branch::of(&first), Branch::of(&second));
        let later =
            |store: &TermStore| store.lt(store.var(store.fresh_symbol("y"), Sort::REAL), store.real(5_i64));
        first.symbol("noise");
        assert_eq!(later(one.store()), later(two.store()));
    }

    #[test]
    fn deep_terms_are_copied_without_recursion() {
        let store = TermStore::new();
        let branch = Branch::of(&store);
        let own = branch.store();
        let mut term = own.var(own.symbol("p"), Sort::BOOL);
        for _ in 0..200_000 {
            term = own.app(Op::Not, &[term]).expect("it fits");
        }
        assert!(branch.to_origin(term).is_some());
        assert_eq!(store.len(), own.len());
    }
}
