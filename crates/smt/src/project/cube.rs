//! Cubes as sets of normal literals, with a syntactic implication test.

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::{Term, TermStore};

use crate::known_literals::Interval;

/// Drops repeated literals and bounds that follow from others. Keeps the order.
pub fn simplify(store: &TermStore, literals: &mut Vec<Term>) {
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
    use shofar_logic::Sort;

    use super::*;

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
