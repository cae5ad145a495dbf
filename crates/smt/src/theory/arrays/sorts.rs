//! Which sorts of arrays are supported, and how many indices they have.
//!
//! The number of indices matters. Constant arrays with different elements cannot agree almost everywhere if there are
//! infinitely many indices, and may if there are few. So indices are
//!
//! ```text
//! infinitely many     numbers, recursive datatypes, and what contains them
//! all known           truth values and enumerations
//! any number          elements of declared sorts, and datatypes and arrays of nothing else
//! ```
//!
//! Arrays whose indices are finitely many values of another kind, such as pairs of truth values, are not supported.
//! Neither are datatypes that contain arrays of themselves: their values cannot be built one after the other.

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::{Op, Sort, SortKind, Term, TermStore};

use crate::purify::Feature;
use crate::theory::datatypes::{parts, sorts_below};

/// The indices of a sort of arrays.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Indices {
    /// There are infinitely many.
    Infinite,
    /// There are as many as a model needs, but perhaps not more.
    Open,
    /// These values.
    Known(Vec<Term>),
}

/// The number of values of a sort.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Size {
    One,
    Finite,
    Open,
    Infinite,
}

/// Checks the sorts of arrays in and below a sort.
pub(crate) fn supports_arrays(store: &TermStore, sorts: &[Sort]) -> Result<(), Feature> {
    for &sort in sorts {
        if let SortKind::Array(index, element) = *store.sort_kind(sort) {
            let is_within = |part: Sort| sorts_below(store, part).contains(&sort);
            if indices(store, sort).is_none() || is_within(index) || is_within(element) {
                return Err(Feature::Arrays);
            }
        }
    }
    Ok(())
}

/// The indices of a sort of arrays, if it is supported.
pub(super) fn indices(store: &TermStore, sort: Sort) -> Option<Indices> {
    let SortKind::Array(index, _) = *store.sort_kind(sort) else { return None };
    if index == Sort::BOOL {
        return Some(Indices::Known(vec![Term::FALSE, Term::TRUE]));
    }
    if let Some(datatype) = store.datatype(index) {
        let constructors = datatype.constructors();
        if constructors.iter().all(|&constructor| store.constructor(constructor).fields.is_empty()) {
            let values = constructors.iter().map(|&constructor| store.app(Op::Construct(constructor), &[]));
            return values.collect::<Result<_, _>>().ok().map(Indices::Known);
        }
    }
    match size(store, index) {
        Size::Infinite => Some(Indices::Infinite),
        Size::Open => Some(Indices::Open),
        Size::One | Size::Finite => None,
    }
}

/// The number of values of a sort. No array below it is below itself.
fn size(store: &TermStore, sort: Sort) -> Size {
    let sorts = sorts_below(store, sort);
    let mut sizes: FxHashMap<Sort, Size> = FxHashMap::default();
    // A sort gets its size after its parts. Sorts on cycles get none: there are infinitely many lists.
    loop {
        let before = sizes.len();
        for &sort in &sorts {
            let known: Option<Vec<Size>> =
                parts(store, sort).iter().map(|part| sizes.get(part).copied()).collect();
            let Some(known) = known else { continue };
            let size = match store.sort_kind(sort) {
                SortKind::Int | SortKind::Real => Size::Infinite,
                SortKind::Bool | SortKind::BitVec(_) => Size::Finite,
                SortKind::Uninterpreted(..) => Size::Open,
                SortKind::Array(..) => match known[..] {
                    [_, Size::One] => Size::One,
                    [Size::Infinite, Size::Open] => Size::Open,
                    [index, element] => index.max(element),
                    _ => unreachable!("arrays have indices and elements"),
                },
                SortKind::Datatype(_) => {
                    let constructors = store.datatype(sort).map_or(0, |it| it.constructors().len());
                    let least = if constructors > 1 { Size::Finite } else { Size::One };
                    known.into_iter().fold(least, Size::max)
                }
            };
            sizes.insert(sort, size);
        }
        if sizes.len() == before {
            return sizes.get(&sort).copied().unwrap_or(Size::Infinite);
        }
    }
}

/// Numbers sorts so that an array comes after its indices and elements, and a datatype after the arrays below it.
#[derive(Default)]
pub(crate) struct Ranks {
    known: FxHashMap<Sort, u32>,
}

impl Ranks {
    /// The rank of a sort: the greatest number of arrays and datatypes in turn below it.
    pub(crate) fn rank(&mut self, store: &TermStore, sort: Sort) -> u32 {
        let mut open = vec![sort];
        while let Some(&sort) = open.last() {
            if self.known.contains_key(&sort) {
                open.pop();
                continue;
            }
            let below: Vec<Sort> = match store.sort_kind(sort) {
                SortKind::Array(..) => parts(store, sort),
                SortKind::Datatype(_) => {
                    let is_array = |sort: &Sort| matches!(store.sort_kind(*sort), SortKind::Array(..));
                    let below: FxHashSet<Sort> =
                        sorts_below(store, sort).into_iter().filter(is_array).collect();
                    below.into_iter().collect()
                }
                _ => Vec::new(),
            };
            let missing: Vec<Sort> =
                below.iter().copied().filter(|sort| !self.known.contains_key(sort)).collect();
            if missing.is_empty() {
                let rank = below.iter().map(|sort| self.known[sort] + 1).max().unwrap_or(0);
                self.known.insert(sort, rank);
                open.pop();
            }
            open.extend(missing);
        }
        self.known[&sort]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shofar_logic::ConstructorSpec;

    #[test]
    fn indices_are_counted() {
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
        let unit = declare("Unit", &|_| vec![spec("unit", &[])]);
        let pair = declare("Pair", &|_| vec![spec("pair", &[colour, Sort::BOOL])]);
        let boxed = declare("Box", &|_| vec![spec("box", &[pair, Sort::INT])]);
        let nat = declare("Nat", &|nat| vec![spec("zero", &[]), spec("succ", &[nat])]);
        let declared = store.sort(SortKind::Uninterpreted(store.symbol("S"), Box::default()));
        let named = declare("Named", &|_| vec![spec("named", &[declared])]);
        let of = |index: Sort, element: Sort| store.array_sort(index, element);
        let kind = |index: Sort| indices(&store, of(index, Sort::INT));
        for infinite in [Sort::INT, Sort::REAL, boxed, nat, of(Sort::INT, colour), of(colour, Sort::INT)] {
            assert_eq!(kind(infinite), Some(Indices::Infinite), "{}", store.display_sort(infinite));
        }
        for open in [declared, named, of(Sort::INT, declared), of(declared, Sort::BOOL)] {
            assert_eq!(kind(open), Some(Indices::Open), "{}", store.display_sort(open));
        }
        for unsupported in [pair, of(Sort::INT, unit), of(Sort::BOOL, Sort::BOOL)] {
            assert_eq!(kind(unsupported), None, "{}", store.display_sort(unsupported));
        }
        let known = |index: Sort| match kind(index) {
            Some(Indices::Known(values)) => values.len(),
            _ => 0,
        };
        assert_eq!([Sort::BOOL, colour, unit].map(known), [2, 2, 1]);
    }

    #[test]
    fn arrays_rank_above_their_parts_and_datatypes_above_their_arrays() {
        let store = TermStore::new();
        let plain = store.array_sort(Sort::INT, Sort::INT);
        let sort = store.new_datatype(store.symbol("D"), &[]);
        let fields = vec![(store.symbol("field"), plain)];
        let spec = ConstructorSpec { name: store.symbol("c"), fields };
        let record = store.define_datatypes(&[(sort, vec![spec])]).expect("it is inhabited")[0];
        let outer = store.array_sort(record, Sort::INT);
        let mut ranks = Ranks::default();
        let found = [outer, record, plain, Sort::INT].map(|sort| ranks.rank(&store, sort));
        assert_eq!(found, [3, 2, 1, 0]);
        assert_eq!(supports_arrays(&store, &sorts_below(&store, outer)), Ok(()));
    }

    #[test]
    fn a_datatype_with_arrays_of_itself_is_not_supported() {
        let store = TermStore::new();
        let sort = store.new_datatype(store.symbol("Tree"), &[]);
        let fields = vec![(store.symbol("children"), store.array_sort(Sort::INT, sort))];
        let specs = vec![
            ConstructorSpec { name: store.symbol("leaf"), fields: Vec::new() },
            ConstructorSpec { name: store.symbol("node"), fields },
        ];
        let Ok(sorts) = store.define_datatypes(&[(sort, specs)]) else { return };
        assert_eq!(supports_arrays(&store, &sorts_below(&store, sorts[0])), Err(Feature::Arrays));
    }
}
