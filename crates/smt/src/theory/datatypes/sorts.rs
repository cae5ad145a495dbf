//! Finite and infinite sorts.
//!
//! A datatype is finite if no sort below it is recursive or infinite. Declared sorts count as infinite: a model may
//! have as many elements as it needs. An array sort counts as its elements: if those are finite, models do not get new
//! arrays at will (`model.rs`), although there may be infinitely many.

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::{Sort, SortKind, TermStore};

/// Which sorts are finite, found once for each.
#[derive(Default)]
pub(crate) struct Finiteness {
    known: FxHashMap<Sort, bool>,
}

impl Finiteness {
    /// Whether the sort has finitely many values.
    pub(crate) fn is_finite(&mut self, store: &TermStore, sort: Sort) -> bool {
        if let Some(&is_finite) = self.known.get(&sort) {
            return is_finite;
        }
        // A sort is finite when all its fields are. Sorts on cycles are never reached.
        let sorts = sorts_below(store, sort);
        loop {
            let before = self.known.len();
            for &sort in &sorts {
                let is_finite = match store.sort_kind(sort) {
                    SortKind::Bool | SortKind::BitVec(_) => true,
                    SortKind::Datatype(_) => {
                        fields(store, sort).all(|(_, _, field)| self.known.get(&field) == Some(&true))
                    }
                    SortKind::Array(_, element) => self.known.get(element) == Some(&true),
                    SortKind::Int | SortKind::Real | SortKind::Uninterpreted(..) => false,
                };
                if is_finite {
                    self.known.insert(sort, true);
                }
            }
            if self.known.len() == before {
                break;
            }
        }
        for sort in sorts {
            self.known.entry(sort).or_insert(false);
        }
        self.known[&sort]
    }
}

/// The sort and the sorts of fields, indices and elements below it, each once.
pub(crate) fn sorts_below(store: &TermStore, sort: Sort) -> Vec<Sort> {
    let mut seen: FxHashSet<Sort> = FxHashSet::from_iter([sort]);
    let mut sorts = vec![sort];
    let mut done = 0;
    while let Some(&sort) = sorts.get(done) {
        done += 1;
        sorts.extend(parts(store, sort).into_iter().filter(|&part| seen.insert(part)));
    }
    sorts
}

/// The sorts of fields, or of indices and elements.
pub(crate) fn parts(store: &TermStore, sort: Sort) -> Vec<Sort> {
    match *store.sort_kind(sort) {
        SortKind::Array(index, element) => vec![index, element],
        _ => fields(store, sort).map(|(_, _, field)| field).collect(),
    }
}

/// The fields of the constructors of a sort: the position of the constructor, that of the field, and its sort.
pub(super) fn fields(store: &TermStore, sort: Sort) -> impl Iterator<Item = (usize, usize, Sort)> {
    let constructors = store.datatype(sort).map_or(&[][..], |datatype| datatype.constructors());
    constructors.iter().enumerate().flat_map(move |(position, &constructor)| {
        let fields = store.constructor(constructor).fields.iter().enumerate();
        fields.map(move |(field, &(_, sort))| (position, field, sort))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use shofar_logic::ConstructorSpec;

    #[test]
    fn recursion_and_numbers_make_a_datatype_infinite() {
        let store = TermStore::new();
        let spec = |name: &str, fields: &[Sort]| ConstructorSpec {
            name: store.symbol(name),
            fields: fields.iter().map(|&sort| (store.symbol("field"), sort)).collect(),
        };
        let declare = |name: &str, constructors: &dyn Fn(Sort) -> Vec<ConstructorSpec>| {
            let sort = store.new_datatype(store.symbol(name), &[]);
            store.define_datatypes(&[(sort, constructors(sort))]).expect("it is inhabited")[0]
        };
        let colour = declare("Colour", &|_| vec![spec("red", &[]), spec("green", &[])]);
        let pair = declare("Pair", &|_| vec![spec("pair", &[colour, Sort::BOOL])]);
        let boxed = declare("Box", &|_| vec![spec("box", &[pair, Sort::INT])]);
        let nat = declare("Nat", &|nat| vec![spec("zero", &[]), spec("succ", &[nat])]);
        let above = declare("Above", &|_| vec![spec("none", &[]), spec("some", &[nat])]);
        let mut finiteness = Finiteness::default();
        for (sort, is_finite) in [
            (pair, true),
            (boxed, false),
            (nat, false),
            (above, false),
            (colour, true),
            (Sort::BOOL, true),
            (store.array_sort(Sort::INT, colour), true),
            (store.array_sort(colour, Sort::INT), false),
        ] {
            assert_eq!(finiteness.is_finite(&store, sort), is_finite, "{}", store.display_sort(sort));
        }
    }
}
