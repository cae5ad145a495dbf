//! Cubes as sets of normal literals, with a syntactic implication test.

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::{Op, Term, TermStore};

use crate::known_literals::Interval;

/// Drops repeated literals and bounds that follow from others. Equations that only name a constructor become testers, so
/// that equal facts are equal literals. Keeps the order.
pub fn simplify(store: &TermStore, literals: &mut Vec<Term>) {
    literals.iter_mut().for_each(|literal| *literal = with_tester(store, *literal));
    let mut seen: FxHashSet<Term> = FxHashSet::default();
    literals.retain(|&literal| literal != Term::TRUE && seen.insert(literal));
    let bounds: Vec<_> = literals.iter().map(|&literal| Interval::of(store, literal)).collect();
    // The tightest bounds of each kind, by position.
    let mut tightest: FxHashMap<(Term, (bool, bool)), usize> = FxHashMap::default();
    let mut kept = vec![true; literals.len()];
    for (position, bound) in bounds.iter().enumerate() {
        let Some((sum, interval)) = bound else { continue };
        let other = tightest.entry((*sum, interval.sides())).or_insert(position);
        match &bounds[*other] {
            Some((_, tighter)) if *other != position && tighter.is_within(interval) => kept[position] = false,
            Some((_, weaker)) if interval.is_within(weaker) => {
                kept[std::mem::replace(other, position)] = false;
                kept[position] = true;
            }
            _ => {}
        }
    }
    // Equations imply bounds on either side.
    for (position, bound) in bounds.iter().enumerate() {
        if let Some((sum, interval)) = bound
            && interval.sides() != (true, true)
            && let Some(&equation) = tightest.get(&(*sum, (true, true)))
            && let Some((_, value)) = &bounds[equation]
            && value.is_within(interval)
        {
            kept[position] = false;
        }
    }
    let mut kept = kept.into_iter();
    literals.retain(|_| kept.next().unwrap_or(true));
}

/// The tester that is equivalent to the literal `t = c(sel_1(t), .., sel_n(t))` or its negation; other literals unchanged.
/// If `c` has no fields, this is `t = c`.
fn with_tester(store: &TermStore, literal: Term) -> Term {
    let (atom, holds) = store.literal(literal);
    let (Op::Eq, &[left, right]) = store.view(atom) else { return literal };
    for (whole, made) in [(left, right), (right, left)] {
        let (Op::Construct(constructor), fields) = store.view(made) else { continue };
        let is_selected = |(field, &part): (usize, &Term)| {
            store.view(part) == (Op::Selector { constructor, field: field as u32 }, &[whole][..])
        };
        if fields.iter().enumerate().all(is_selected) {
            return store.signed(store.tester(constructor, whole), holds);
        }
    }
    literal
}

/// Whether each literal of the second cube follows from one of the first, so that the first implies the second.
pub fn implies(store: &TermStore, strong: &[Term], weak: &[Term]) -> bool {
    weak.iter().all(|&wanted| {
        strong.contains(&wanted)
            || Interval::of(store, wanted).is_some_and(|(sum, wanted)| {
                let mut given = strong.iter().filter_map(|&literal| Interval::of(store, literal));
                given.any(|(other, given)| other == sum && given.is_within(&wanted))
            })
    })
}

#[cfg(test)]
mod tests {
    use shofar_logic::{ConstructorSpec, Sort};

    use super::*;

    #[test]
    fn equations_that_name_a_constructor_are_testers() {
        let store = TermStore::new();
        let sort = store.new_datatype(store.symbol("List"), &[]);
        let nil = ConstructorSpec { name: store.symbol("nil"), fields: vec![] };
        let fields = vec![(store.symbol("head"), Sort::INT), (store.symbol("tail"), sort)];
        let cons = ConstructorSpec { name: store.symbol("cons"), fields };
        let sort = store.define_datatypes(&[(sort, vec![nil, cons])]).unwrap()[0];
        let &[nil, cons] = store.datatype(sort).unwrap().constructors() else { panic!("two constructors") };
        let x = store.var(store.symbol("x"), sort);
        let parts = [0, 1].map(|field| store.selector(cons, field, x));
        let whole = store.eq(x, store.construct_term(cons, &parts));
        let other = store.eq(x, store.construct_term(cons, &[store.int(1), parts[1]]));
        let empty = store.eq(x, store.construct_term(nil, &[]));
        let mut cube = vec![whole, store.not(empty), other];
        simplify(&store, &mut cube);
        assert_eq!(cube, [store.tester(cons, x), other]);
    }

    #[test]
    fn tighter_bounds_imply_weaker_ones() {
        let store = TermStore::new();
        let x = store.var(store.symbol("x"), Sort::INT);
        let y = store.var(store.symbol("y"), Sort::REAL);
        let int = |n: i64| store.int(n);
        let real = |n: i64| store.real(n);
        let mut cube = vec![
            store.le(x, int(5)),
            store.le(x, int(3)),
            store.ge(x, int(0)),
            store.gt(x, int(0)),
            store.le(y, real(2)),
            store.lt(y, real(2)),
            store.le(x, int(3)),
        ];
        simplify(&store, &mut cube);
        assert_eq!(cube, [store.le(x, int(3)), store.gt(x, int(0)), store.lt(y, real(2))]);
        let mut cube = vec![store.le(x, int(5)), store.eq(x, int(2)), store.ge(x, int(2))];
        simplify(&store, &mut cube);
        assert_eq!(cube, [store.eq(x, int(2))]);
        assert!(implies(&store, &cube, &[store.le(x, int(2)), store.ge(x, int(1))]));
        assert!(!implies(&store, &[store.le(y, real(2))], &[store.lt(y, real(2))]));
        assert!(implies(&store, &[store.le(y, real(2))], &[]));
    }
}
