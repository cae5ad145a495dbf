//! Builds models of formulas from the results of the search and its theories.
//!
//! The theory that owns a sort provides its values. A class of nodes that no other theory owns is a truth value, or an
//! element of its declared sort, where different classes are different elements. A function is a table with one line
//! for each of its applications, and the default value of its range elsewhere; the combination of theories guarantees
//! that no two lines contradict each other. Division by zero is such a function, too, and so is a selector on values of
//! other constructors. `theory/datatypes/model.rs` builds values of datatypes, and `theory/arrays/model.rs` those of
//! arrays: rank by rank, because each may contain the other.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::number::{Integer, Rational};
use shofar_logic::{Assignment, Fun, Interpretation, Op, Sort, SortKind, Term, TermStore, Value};

use crate::sat::Var;
use crate::theory::arrays::Ranks;
use crate::theory::arrays::model::Parts;
use crate::theory::combination::{CombinedModel, Meaning};
use crate::theory::datatypes::model::{Leaves, Tree, Trees};
use crate::theory::euf::{self, Node};

/// Values for the symbols of the formulas, and functions for division by zero. Boolean symbols have variables in the
/// search.
pub(crate) fn model(
    store: &TermStore,
    formulas: &[Term],
    booleans: &[(Term, Var)],
    theories: &CombinedModel<'_>,
    truth: impl Fn(Var) -> bool,
) -> Assignment {
    let mut model = Assignment::new();
    let mut elements = Elements::new(store, theories);
    let mentioned = store.symbols(formulas);
    let (constants, functions): (Vec<Fun>, Vec<Fun>) =
        mentioned.funs.iter().partition(|&&fun| store.fun_decl(fun).domain.is_empty());
    let constants = constants.iter().map(|&fun| store.apply(fun, &[]).expect("it takes no arguments"));
    for symbol in mentioned.vars.iter().copied().chain(constants) {
        let sort = store.sort_of(symbol);
        let value = match theories.symbol(store, symbol) {
            Some(Meaning::Value(value)) => value,
            Some(Meaning::Class(class)) => elements.value_or_default(class, sort),
            None => store.default_value(sort),
        };
        model.set(symbol, value);
    }
    for &(term, var) in booleans {
        if model.get(term).is_some() {
            model.set(term, Value::Bool(truth(var)));
        }
    }
    for fun in functions {
        let decl = store.fun_decl(fun);
        let entries = elements.table(Op::Apply(fun), &decl.domain, decl.range).into_iter().collect();
        let default = Some(store.default_value(decl.range));
        model.set_function(fun, Interpretation::Table { entries, default });
    }
    let zeros = [
        (Op::IntDiv, Sort::INT, Value::Int(0.into())),
        (Op::Mod, Sort::INT, Value::Int(0.into())),
        (Op::RealDiv, Sort::REAL, Value::Real(Rational::ZERO)),
    ];
    for (op, sort, zero) in zeros {
        model.set_open_default(op, zero);
        for (args, value) in elements.table(op, &[sort, sort], sort) {
            model.set_open_case(op, &args, value);
        }
    }
    if store.has_datatypes() {
        for (op, domain, range) in selectors(store, formulas, theories) {
            model.set_open_default(op, store.default_value(range));
            for (args, value) in elements.table(op, &[domain], range) {
                model.set_open_case(op, &args, value);
            }
        }
    }
    model
}

/// The selectors in formulas and in the queries so far, with the sorts of their arguments and values.
fn selectors(store: &TermStore, formulas: &[Term], theories: &CombinedModel<'_>) -> Vec<(Op, Sort, Sort)> {
    let mentioned = store.subterms(formulas).into_iter().map(|term| store.op(term));
    let selectors: FxHashSet<Op> = mentioned.chain(theories.functions()).collect();
    let sorts = |op: Op| match op {
        Op::Selector { constructor, field } => {
            let constructor = store.constructor(constructor);
            Some((op, constructor.sort, constructor.fields[field as usize].1))
        }
        _ => None,
    };
    selectors.into_iter().filter_map(sorts).collect()
}

/// The values of the classes of congruence.
struct Elements<'a> {
    store: &'a TermStore,
    theories: &'a CombinedModel<'a>,
    /// The numbers of the elements, by class.
    numbers: FxHashMap<u32, u32>,
    /// The number of elements of each declared sort.
    used: FxHashMap<Sort, u32>,
    /// The values of datatypes.
    trees: Trees,
    /// The values of arrays, by class.
    arrays: FxHashMap<u32, Value>,
    /// The new elements of arrays, by the sort of arrays and their number.
    new_elements: FxHashMap<(Sort, u32), Value>,
    /// A number greater than all in the model so far.
    new_number: Option<Integer>,
}

impl<'a> Elements<'a> {
    fn new(store: &'a TermStore, theories: &'a CombinedModel<'a>) -> Self {
        let mut elements = Elements {
            store,
            theories,
            numbers: FxHashMap::default(),
            used: FxHashMap::default(),
            trees: Trees::default(),
            arrays: FxHashMap::default(),
            new_elements: FxHashMap::default(),
            new_number: None,
        };
        let mut ranks = Ranks::default();
        let mut by_rank: BTreeMap<u32, Vec<Tree>> = BTreeMap::new();
        for tree in theories.trees(store) {
            by_rank.entry(ranks.rank(store, tree.sort)).or_default().push(tree);
        }
        for trees in by_rank.into_values() {
            for (op, args) in trees.iter().filter_map(|tree| tree.made.as_ref()) {
                let Op::Construct(constructor) = *op else { continue };
                let fields = &store.constructor(constructor).fields;
                for (&class, &(_, sort)) in std::iter::zip(args, fields) {
                    if store.array_parts(sort).is_some() {
                        elements.value(class, sort);
                    }
                }
            }
            elements.with_trees(|built, elements| built.build(store, &trees, elements));
        }
        elements
    }

    /// Calls the function with the values of datatypes, which are not there meanwhile.
    fn with_trees<R>(&mut self, act: impl FnOnce(&mut Trees, &mut Self) -> R) -> R {
        let mut trees = std::mem::take(&mut self.trees);
        let result = act(&mut trees, self);
        self.trees = trees;
        result
    }

    /// The lines of a function's table. A line with an argument without a value does not matter.
    fn table(&mut self, function: Op, domain: &[Sort], range: Sort) -> Vec<(Box<[Value]>, Value)> {
        let theories = self.theories;
        let line = |row: &euf::Row| {
            let args = std::iter::zip(&row.args, domain);
            let args: Option<Box<[Value]>> = args.map(|(&class, &sort)| self.value(class, sort)).collect();
            Some((args?, self.value_or_default(row.result, range)))
        };
        theories.table(function).iter().filter_map(line).collect()
    }

    /// The value of a class; the default value of the sort if it has none.
    fn value_or_default(&mut self, class: u32, sort: Sort) -> Value {
        self.value(class, sort).unwrap_or_else(|| self.store.default_value(sort))
    }

    /// The value of a class, as a value of the sort. An integer that is cast to a real number has values of both sorts.
    /// `None` if it is an array or of a datatype, and does not matter.
    fn value(&mut self, class: u32, sort: Sort) -> Option<Value> {
        if let Some(value) = self.theories.shared(self.store, class, sort) {
            return Some(value);
        }
        Some(match self.store.sort_kind(sort) {
            SortKind::Datatype(_) => return self.trees.get(class).map(Value::Term),
            SortKind::Array(..) => return self.array(class),
            SortKind::Bool => Value::Bool(self.theories.is_true(class)),
            SortKind::Uninterpreted(..) => {
                let used = self.used.entry(sort).or_default();
                let element = *self.numbers.entry(class).or_insert_with(|| {
                    *used += 1;
                    *used - 1
                });
                self.store.uninterpreted_value(sort, element)
            }
            SortKind::Int | SortKind::Real | SortKind::BitVec(_) => {
                unreachable!("by N3 a class of an owned sort has shared members")
            }
        })
    }

    /// The value of a class of arrays. The depth of the recursion is that of the sort.
    fn array(&mut self, class: u32) -> Option<Value> {
        if let Some(value) = self.arrays.get(&class) {
            return Some(value.clone());
        }
        let (arrays, root) = (self.theories.arrays(), self.theories.root(class));
        if !arrays.has(root) {
            return None;
        }
        let value = arrays.value(self.store, root, self);
        self.arrays.insert(class, value.clone());
        Some(value)
    }
}

impl Parts for Elements<'_> {
    fn part(&mut self, node: Node, sort: Sort) -> Value {
        self.value_or_default(self.theories.class_of(node), sort)
    }

    fn new_value(&mut self, arrays: Sort, number: u32, sort: Sort) -> Value {
        if let Some(value) = self.new_elements.get(&(arrays, number)) {
            return value.clone();
        }
        let store = self.store;
        let value = self.with_trees(|trees, elements| trees.fresh(store, sort, elements));
        let value = store.term_to_value(value).expect("fresh values are values");
        self.new_elements.insert((arrays, number), value.clone());
        value
    }
}

impl Leaves for Elements<'_> {
    fn leaf(&mut self, class: u32, sort: Sort) -> Option<Value> {
        self.value(class, sort)
    }

    fn new_number(&mut self) -> Integer {
        let number = self.new_number.take().unwrap_or_else(|| self.greatest());
        self.new_number = Some(&number + &Integer::from(1));
        number
    }

    fn new_element(&mut self, sort: Sort) -> Value {
        let used = self.used.entry(sort).or_default();
        *used += 1;
        self.store.uninterpreted_value(sort, *used - 1)
    }
}

impl Elements<'_> {
    /// An integer greater than the absolute values of all numbers of the theories.
    fn greatest(&mut self) -> Integer {
        let mut greatest = Integer::from(0);
        for (class, sort) in self.theories.numbers(self.store) {
            let size = match self.value_or_default(class, sort) {
                Value::Int(value) => value.abs(),
                Value::Real(value) => value.abs().ceil(),
                _ => continue,
            };
            greatest = greatest.max(size);
        }
        &greatest + &Integer::from(1)
    }
}
