//! Cubes as sets of normal literals: which literal follows from which, as far as that can be seen.
//!
//! A literal on numbers compares a form with a constant (N10 of [`shofar_logic::build`]), so that literals on the same
//! form are bounds on one number, and the tighter implies the weaker.

use std::cmp::Ordering;

use rustc_hash::FxHashMap;
use shofar_logic::number::Rational;
use shofar_logic::{Op, Sort, Term, TermStore};

/// What a literal says of a form.
#[derive(Clone)]
struct Bound {
    form: Term,
    side: Side,
    constant: Rational,
    strict: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Side {
    Upper,
    Lower,
    Both,
}

/// The bound that a literal is.
fn bound(store: &TermStore, literal: Term) -> Option<Bound> {
    let (atom, negated) = match store.view(literal) {
        (Op::Not, &[atom]) => (atom, true),
        _ => (literal, false),
    };
    let (op, &[form, constant]) = store.view(atom) else { return None };
    let constant = store.numeral(constant)?.clone();
    let (side, strict) = match (op, negated) {
        (Op::Le, false) => (Side::Upper, false),
        (Op::Lt, false) => (Side::Upper, true),
        // On Int, what is not at most c is at least c + 1.
        (Op::Le, true) if store.sort_of(form) == Sort::INT => {
            return Some(Bound {
                form,
                side: Side::Lower,
                constant: constant + Rational::ONE,
                strict: false,
            });
        }
        (Op::Le, true) => (Side::Lower, true),
        (Op::Lt, true) => (Side::Lower, false),
        (Op::Eq, false) => (Side::Both, false),
        _ => return None,
    };
    Some(Bound { form, side, constant, strict })
}

impl Bound {
    /// Whether this bound implies another one on the same form.
    fn implies(&self, other: &Bound) -> bool {
        let order = match (self.side, other.side) {
            (Side::Both | Side::Upper, Side::Upper) => other.constant.cmp(&self.constant),
            (Side::Both | Side::Lower, Side::Lower) => self.constant.cmp(&other.constant),
            (Side::Both, Side::Both) => return self.constant == other.constant,
            _ => return false,
        };
        match order {
            Ordering::Greater => true,
            Ordering::Equal => self.strict || !other.strict,
            Ordering::Less => false,
        }
    }
}

/// Drops repeated literals and bounds that follow from others. The order of what stays is kept.
pub fn simplify(store: &TermStore, literals: &mut Vec<Term>) {
    let mut tightest: FxHashMap<(Term, Side), (usize, Bound)> = FxHashMap::default();
    let mut kept = vec![true; literals.len()];
    let mut seen: FxHashMap<Term, ()> = FxHashMap::default();
    for (position, &literal) in literals.iter().enumerate() {
        if literal == Term::TRUE || seen.insert(literal, ()).is_some() {
            kept[position] = false;
            continue;
        }
        let Some(bound) = bound(store, literal) else { continue };
        match tightest.get_mut(&(bound.form, bound.side)) {
            Some((_, tighter)) if tighter.implies(&bound) => kept[position] = false,
            Some((other, weaker)) if bound.implies(weaker) => {
                kept[*other] = false;
                (*other, *weaker) = (position, bound);
            }
            Some(_) => {}
            None => {
                tightest.insert((bound.form, bound.side), (position, bound));
            }
        }
    }
    for (position, &literal) in literals.iter().enumerate() {
        if let Some(bound) = bound(store, literal)
            && bound.side != Side::Both
            && let Some((_, equality)) = tightest.get(&(bound.form, Side::Both))
            && equality.implies(&bound)
        {
            kept[position] = false;
        }
    }
    let mut kept = kept.into_iter();
    literals.retain(|_| kept.next().unwrap_or(true));
}

/// Whether every literal of the second cube follows from one of the first, so that the first implies the second.
pub fn implies(store: &TermStore, strong: &[Term], weak: &[Term]) -> bool {
    weak.iter().all(|&wanted| {
        strong.contains(&wanted)
            || bound(store, wanted).is_some_and(|wanted| {
                strong
                    .iter()
                    .filter_map(|&literal| bound(store, literal))
                    .any(|given| given.form == wanted.form && given.implies(&wanted))
            })
    })
}

/// A cube that is asked many times what follows from it.
pub struct Facts<'s> {
    store: &'s TermStore,
    /// In their order.
    literals: Vec<Term>,
    /// The bounds among the literals, in the order of their forms.
    bounds: Vec<Bound>,
}

impl<'s> Facts<'s> {
    /// The facts of a cube.
    pub fn new(store: &'s TermStore, cube: &[Term]) -> Self {
        let mut literals = cube.to_vec();
        literals.sort_unstable();
        let mut bounds: Vec<Bound> = cube.iter().filter_map(|&literal| bound(store, literal)).collect();
        bounds.sort_unstable_by_key(|bound| bound.form);
        Facts { store, literals, bounds }
    }

    /// Whether the literal follows from one of the cube.
    pub fn imply(&self, literal: Term) -> bool {
        self.literals.binary_search(&literal).is_ok()
            || bound(self.store, literal).is_some_and(|wanted| {
                let start = self.bounds.partition_point(|given| given.form < wanted.form);
                let mut given = self.bounds[start..].iter().take_while(|given| given.form == wanted.form);
                given.any(|given| given.implies(&wanted))
            })
    }
}

#[cfg(test)]
mod tests {
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
        let facts = Facts::new(&store, &[store.le(y, real(2)), store.eq(x, int(2))]);
        assert!(facts.imply(store.lt(y, real(3))) && facts.imply(store.ge(x, int(1))));
        assert!(!facts.imply(store.lt(y, real(2))) && !facts.imply(store.ge(x, int(3))));
    }
}
