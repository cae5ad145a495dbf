//! Values of datatypes in a model.
//!
//! A class with a constructor has the value that the constructor makes of its fields. All other classes are of infinite
//! sorts, or do not matter. They get *fresh* values, which no other class has:
//!
//! ```text
//! repeat:  give values to all classes whose fields have values
//!          give a fresh value to one class without a constructor
//! ```
//!
//! If numbers or elements of a declared sort are below the sort, a fresh value contains a new one of these, or a
//! constant array of fresh values. Otherwise the sort is recursive, and a fresh value is deeper than all values so far.
//!
//! Arrays take turns with datatypes: trees are built rank by rank (`arrays/sorts.rs`), after the arrays in them.
//!
//! **Why different classes have different values.** A fresh value differs from all earlier ones. A class that gets its
//! value later contains a later fresh value, or the fresh value properly. Two classes with the same constructor differ
//! in a field: by induction if it is a datatype, and else by M2 of `combination.rs`.
//!
//! A class of a finite sort without a constructor is not mentioned by any assigned atom. It may have no value of its
//! own, and gets none.

use rustc_hash::FxHashMap;
use shofar_logic::number::Integer;
use shofar_logic::{Op, Sort, SortKind, Term, TermStore, Value};

use super::sorts::{Finiteness, fields};

/// A class of a datatype.
pub(crate) struct Tree {
    /// The number of the class.
    pub(crate) class: u32,
    /// Its sort.
    pub(crate) sort: Sort,
    /// Its constructor, with the classes of the arguments.
    pub(crate) made: Option<(Op, Vec<u32>)>,
}

/// The values of other sorts.
pub(crate) trait Leaves {
    /// The value of a class that is of no datatype, if it has one.
    fn leaf(&mut self, class: u32, sort: Sort) -> Option<Value>;

    /// An integer greater than the absolute values of all numbers in the model so far.
    fn new_number(&mut self) -> Integer;

    /// An element of a declared sort that no class has.
    fn new_element(&mut self, sort: Sort) -> Value;
}

/// The values of the classes of datatypes that have any.
#[derive(Default)]
pub(crate) struct Trees {
    values: FxHashMap<u32, Term>,
    /// The depths of values, and the greatest of them.
    depths: FxHashMap<Term, u32>,
    greatest_depth: u32,
    finiteness: Finiteness,
}

impl Trees {
    /// The value of a class.
    pub(crate) fn get(&self, class: u32) -> Option<Term> {
        self.values.get(&class).copied()
    }

    /// Gives values to classes. Classes of other datatypes in their fields got theirs before, or get none.
    pub(crate) fn build(&mut self, store: &TermStore, trees: &[Tree], leaves: &mut impl Leaves) {
        let places: FxHashMap<u32, usize> =
            trees.iter().enumerate().map(|(place, tree)| (tree.class, place)).collect();
        let arguments = |tree: &Tree| tree.made.as_ref().map_or(&[][..], |(_, args)| args).to_vec();
        // The classes that wait for a class, and the number of classes that each waits for.
        let mut waiting: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
        let mut missing: Vec<usize> = vec![0; trees.len()];
        for (place, tree) in trees.iter().enumerate() {
            for class in arguments(tree).into_iter().filter(|class| places.contains_key(class)) {
                waiting.entry(class).or_default().push(place);
                missing[place] += 1;
            }
        }
        let mut ready: Vec<usize> = (0..trees.len()).filter(|&place| missing[place] == 0).collect();
        let mut fresh: Vec<usize> = Vec::new();
        ready.reverse();
        loop {
            let (place, value) = match ready.pop() {
                Some(place) if trees[place].made.is_none() => {
                    fresh.push(place);
                    continue;
                }
                Some(place) => match self.made(store, &trees[place], leaves) {
                    Some(value) => (place, value),
                    None => continue,
                },
                None => match fresh.pop() {
                    Some(place) if self.finiteness.is_finite(store, trees[place].sort) => continue,
                    Some(place) => (place, self.fresh(store, trees[place].sort, leaves)),
                    None => return,
                },
            };
            self.measure(store, value);
            self.values.insert(trees[place].class, value);
            for &user in waiting.get(&trees[place].class).into_iter().flatten() {
                missing[user] -= 1;
                if missing[user] == 0 {
                    ready.push(user);
                }
            }
        }
    }

    /// The value of a class whose fields have values.
    fn made(&mut self, store: &TermStore, tree: &Tree, leaves: &mut impl Leaves) -> Option<Term> {
        let (op, classes) = tree.made.as_ref().expect("it has a constructor");
        let Op::Construct(constructor) = *op else { unreachable!("it is a constructor") };
        let sorts = store.constructor(constructor).fields.iter().map(|(_, sort)| *sort);
        let fields: Option<Vec<Term>> = std::iter::zip(classes, sorts)
            .map(|(class, sort)| match self.values.get(class) {
                Some(&value) => Some(value),
                None if store.datatype(sort).is_some() => None,
                None => leaves.leaf(*class, sort).map(|value| store.value_to_term(&value)),
            })
            .collect();
        Some(store.app(*op, &fields?).expect("the fields have their sorts"))
    }

    /// Records the depth of a value and of its parts.
    fn measure(&mut self, store: &TermStore, value: Term) {
        // Ascending indices are bottom-up.
        for part in store.subterms_until(&[value], |part| self.depths.contains_key(&part)) {
            let below = store.args(part).iter().map(|arg| self.depths[arg]).max();
            let depth = below.map_or(0, |below| below + 1);
            self.depths.insert(part, depth);
        }
        self.greatest_depth = self.greatest_depth.max(self.depths[&value]);
    }

    /// A value of a sort that is not [finite](Finiteness) and differs from all so far.
    pub(crate) fn fresh(&mut self, store: &TermStore, sort: Sort, leaves: &mut impl Leaves) -> Term {
        let (path, end) = self.way_to_leaf(store, sort).unwrap_or_else(|| self.way_down(store, sort));
        let end = match *store.sort_kind(end) {
            SortKind::Int => store.int(leaves.new_number()),
            SortKind::Real => store.real(leaves.new_number()),
            SortKind::Uninterpreted(..) => store.value_to_term(&leaves.new_element(end)),
            // Only as deep as the sort.
            SortKind::Array(_, element) => store.const_array(end, self.fresh(store, element, leaves)),
            _ => store.value_to_term(&store.default_value(end)),
        };
        let value = path.into_iter().rev().fold(end, |value, (sort, position, place)| {
            let datatype = store.datatype(sort).expect("only datatypes have fields");
            let constructor = datatype.constructors()[position];
            let fields = store.constructor(constructor).fields.iter().enumerate();
            let fields: Vec<Term> = fields
                .map(|(field, &(_, sort))| match field == place {
                    true => value,
                    false => store.value_to_term(&store.default_value(sort)),
                })
                .collect();
            store.app(Op::Construct(constructor), &fields).expect("the fields have their sorts")
        });
        self.measure(store, value);
        value
    }

    /// The fields that lead to a number, an element of a declared sort or an array of fresh values, and its sort, if
    /// there is a way.
    fn way_to_leaf(&mut self, store: &TermStore, sort: Sort) -> Option<Way> {
        let mut from: FxHashMap<Sort, Step> = FxHashMap::default();
        let mut open = vec![sort];
        let mut done = 0;
        while let Some(&next) = open.get(done) {
            done += 1;
            let is_leaf = match *store.sort_kind(next) {
                SortKind::Int | SortKind::Real | SortKind::Uninterpreted(..) => true,
                SortKind::Array(_, element) => !self.finiteness.is_finite(store, element),
                _ => false,
            };
            if is_leaf {
                let mut path = Vec::new();
                let mut at = next;
                while at != sort {
                    path.push(from[&at]);
                    at = from[&at].0;
                }
                path.reverse();
                return Some((path, next));
            }
            for (position, field, below) in fields(store, next) {
                if below != sort && !from.contains_key(&below) {
                    from.insert(below, (next, position, field));
                    open.push(below);
                }
            }
        }
        None
    }

    /// Fields of infinite sorts, more than the greatest depth so far, and the sort at their end.
    fn way_down(&mut self, store: &TermStore, sort: Sort) -> Way {
        let mut path = Vec::new();
        let mut at = sort;
        for _ in 0..=self.greatest_depth {
            let mut fields = fields(store, at);
            let infinite = fields.find(|(_, _, below)| !self.finiteness.is_finite(store, *below));
            let (position, field, below) = infinite.expect("an infinite datatype has an infinite field");
            path.push((at, position, field));
            at = below;
        }
        (path, at)
    }
}

/// A field: the sort that has it, the position of the constructor, and that of the field.
type Step = (Sort, usize, usize);

/// Fields, each of the sort of the one before, and the sort of the last.
type Way = (Vec<Step>, Sort);
