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
//! If numbers or elements of a declared sort are below the sort, a fresh value contains a new one of these. Otherwise
//! the sort is recursive, and a fresh value is deeper than all values so far.
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
    /// The value of a class that is of no datatype.
    fn leaf(&mut self, class: u32, sort: Sort) -> Value;

    /// An integer greater than the absolute values of all numbers in the model.
    fn greatest(&mut self) -> Integer;

    /// An element of a declared sort that no class has.
    fn new_element(&mut self, sort: Sort) -> Value;
}

/// The values of the classes of datatypes that have any.
pub(crate) fn values(store: &TermStore, trees: &[Tree], leaves: &mut impl Leaves) -> FxHashMap<u32, Term> {
    let mut builder = Builder {
        store,
        leaves,
        values: FxHashMap::default(),
        depths: FxHashMap::default(),
        greatest_depth: 0,
        next_number: None,
        finiteness: Finiteness::default(),
    };
    builder.build(trees);
    builder.values
}

struct Builder<'b, L> {
    store: &'b TermStore,
    leaves: &'b mut L,
    values: FxHashMap<u32, Term>,
    /// The depths of values, and the greatest of them.
    depths: FxHashMap<Term, u32>,
    greatest_depth: u32,
    /// The next fresh number.
    next_number: Option<Integer>,
    finiteness: Finiteness,
}

impl<L: Leaves> Builder<'_, L> {
    fn build(&mut self, trees: &[Tree]) {
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
                Some(place) => (place, self.made(&trees[place])),
                None => match fresh.pop() {
                    Some(place) if self.finiteness.is_finite(self.store, trees[place].sort) => continue,
                    Some(place) => (place, self.fresh(trees[place].sort)),
                    None => return,
                },
            };
            self.measure(value);
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
    fn made(&mut self, tree: &Tree) -> Term {
        let (op, classes) = tree.made.as_ref().expect("it has a constructor");
        let Op::Construct(constructor) = *op else { unreachable!("it is a constructor") };
        let sorts = self.store.constructor(constructor).fields.iter().map(|(_, sort)| *sort);
        let fields: Vec<Term> = std::iter::zip(classes, sorts)
            .map(|(class, sort)| match self.values.get(class) {
                Some(&value) => value,
                None => self.store.value_to_term(&self.leaves.leaf(*class, sort)),
            })
            .collect();
        self.store.app(*op, &fields).expect("the fields have their sorts")
    }

    /// Records the depth of a value and of its parts.
    fn measure(&mut self, value: Term) {
        let store = self.store;
        // Ascending indices are bottom-up.
        for part in store.subterms_until(&[value], |part| self.depths.contains_key(&part)) {
            let below = store.args(part).iter().map(|arg| self.depths[arg]).max();
            let depth = below.map_or(0, |below| below + 1);
            self.depths.insert(part, depth);
        }
        self.greatest_depth = self.greatest_depth.max(self.depths[&value]);
    }

    /// A value of an infinite sort that differs from all so far.
    fn fresh(&mut self, sort: Sort) -> Term {
        let (path, end) = self.way_to_leaf(sort).unwrap_or_else(|| self.way_down(sort));
        let end = match self.store.sort_kind(end) {
            SortKind::Int => Value::Int(self.new_number()),
            SortKind::Real => Value::Real(self.new_number().into()),
            SortKind::Uninterpreted(..) => self.leaves.new_element(end),
            _ => self.store.default_value(end),
        };
        let store = self.store;
        path.into_iter().rev().fold(store.value_to_term(&end), |value, (sort, position, place)| {
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
        })
    }

    fn new_number(&mut self) -> Integer {
        let number = self.next_number.take().unwrap_or_else(|| self.leaves.greatest());
        self.next_number = Some(&number + &Integer::from(1));
        number
    }

    /// The fields that lead to a number or an element of a declared sort, and its sort, if there is a way.
    fn way_to_leaf(&self, sort: Sort) -> Option<Way> {
        let mut from: FxHashMap<Sort, Step> = FxHashMap::default();
        let mut open = vec![sort];
        let mut done = 0;
        while let Some(&next) = open.get(done) {
            done += 1;
            if matches!(
                self.store.sort_kind(next),
                SortKind::Int | SortKind::Real | SortKind::Uninterpreted(..)
            ) {
                let mut path = Vec::new();
                let mut at = next;
                while at != sort {
                    path.push(from[&at]);
                    at = from[&at].0;
                }
                path.reverse();
                return Some((path, next));
            }
            for (position, field, below) in fields(self.store, next) {
                if below != sort && !from.contains_key(&below) {
                    from.insert(below, (next, position, field));
                    open.push(below);
                }
            }
        }
        None
    }

    /// Fields of infinite sorts, more than the greatest depth so far, and the sort at their end.
    fn way_down(&mut self, sort: Sort) -> Way {
        let mut path = Vec::new();
        let mut at = sort;
        for _ in 0..=self.greatest_depth {
            let mut fields = fields(self.store, at);
            let infinite = fields.find(|(_, _, below)| !self.finiteness.is_finite(self.store, *below));
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
