//! The components of algebras: functions on datatypes that are worth a try for any clauses.
//!
//! A component maps the values of a sort to truth values or integers: the tester of a constructor, or a fold of the store. All are
//! computed bottom-up, so the components of a constructor term follow from those of its fields.
//!
//! | component | value |
//! |---|---|
//! | testers | which constructor |
//! | numbers | which value, if each constructor has at most one field, of the datatype itself |
//! | counters | how often a constructor occurs: the length of a list, the number of nodes of a tree |
//! | sizes | the number of all constructors in the value |
//! | shapes | which constructors there are near the outermost one, up to a depth |
//! | sums | the sum of all integers in the value |
//! | heights | the length of the longest path |
//! | fields | the integers and truth values right below the outermost constructor |
//! | sorted | whether the integers of a list ascend |
//! | extreme | the least or the greatest integer in the value, if it has one |
//! | counts | how often the ghost occurs among the integers in the value |
//! | membership | whether the ghost is one of the integers in the value |
//! | bounds | whether all integers in the value are at most, or at least, the ghost |
//!
//! Counters are the Parikh image of terms. A counter that is a linear function of others is left out: a list has one empty list,
//! and a binary tree has one leaf more than it has nodes.
//!
//! Numbers are those of the bijective numeration whose digits are the constructors with a field: Peano numbers have base 1, and binary
//! numbers base 2. Different values have different numbers, so a comparison of values is one of numbers. The order of the digits is
//! not known, so it may be the other way round.
//!
//! The *ghost* is an integer that nobody knows, one for all values. What holds of components with a ghost holds for each integer.

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::number::Integer;
use shofar_logic::{ConstructorId, FoldCase, FoldSpec, Fun, Sort, Term, TermStore};

/// The greatest number of counters.
const MOST_COUNTERS: usize = 8;

/// The greatest number of constructors of a sort that are counted although they have no fields.
const MOST_CONSTANTS: usize = 4;

/// The greatest number of constructors and places of a shape, for one sort.
const MOST_PLACES: usize = 12;

/// Which components an algebra has besides testers.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Profile {
    /// Numbers in place of counters.
    pub(super) numbers: Option<Digits>,
    pub(super) counters: bool,
    pub(super) sizes: bool,
    /// The depth of shapes; 1 is the outermost constructor, which testers tell.
    pub(super) shapes: usize,
    pub(super) sums: bool,
    pub(super) heights: bool,
    /// Fields, and whether lists are sorted.
    pub(super) fields: bool,
    pub(super) extreme: Option<Extreme>,
    pub(super) ghosts: Ghosts,
}

/// The order of the constructors that are digits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Digits {
    Ascending,
    Descending,
}

/// An integer of a value that is least or greatest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Extreme {
    Least,
    Greatest,
}

/// Which components with a ghost an algebra has.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) enum Ghosts {
    #[default]
    None,
    Counts,
    Membership,
    Bounds,
}

/// A function on the values of a sort.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Component {
    /// Whether the value is made by this constructor.
    Tester(ConstructorId),
    /// A fold to integers or truth values.
    Fold(Fun),
    /// A fold that depends on the ghost.
    Ghost { fun: Fun, ghost: Term },
}

impl Component {
    /// The component of a term.
    pub(super) fn at(self, store: &TermStore, term: Term) -> Term {
        match self {
            Component::Tester(constructor) => store.tester(constructor, term),
            Component::Fold(fun) => store.apply(fun, &[term]).expect("components are functions of the sort"),
            Component::Ghost { fun, ghost } => {
                store.apply(fun, &[term, ghost]).expect("components are functions of the sort and the ghost")
            }
        }
    }

    /// The sort of its values.
    pub(super) fn range(self, store: &TermStore) -> Sort {
        match self {
            Component::Tester(_) => Sort::BOOL,
            Component::Fold(fun) | Component::Ghost { fun, .. } => store.fun_decl(fun).range,
        }
    }
}

/// The components of all sorts.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Algebra {
    components: FxHashMap<Sort, Vec<Component>>,
    /// The components that are integers or truth values of the value itself.
    fields: FxHashSet<Fun>,
    /// The ghost, if components depend on it.
    ghost: Option<Term>,
    /// The sorts whose numbers are components.
    numbered: FxHashMap<Sort, Component>,
    /// Components that are one function on different sorts, in the order of their addition.
    groups: Vec<Vec<(Sort, Component)>>,
}

impl Algebra {
    /// The algebra of some datatypes, with this variable for a ghost. They include the datatypes of fields.
    pub(super) fn new(store: &TermStore, sorts: &[Sort], profile: Profile, ghost: Term) -> Self {
        let mut builder = Builder::new(store, sorts);
        builder.add_testers();
        if let Some(digits) = profile.numbers {
            builder.add_numbers(digits);
        }
        if profile.counters {
            builder.add_counters();
        }
        if profile.sizes {
            builder.add_sizes();
        }
        builder.add_shapes(profile.shapes);
        if profile.sums {
            builder.add_sums();
        }
        if profile.heights {
            builder.add_heights();
        }
        if profile.fields {
            builder.add_fields();
        }
        if let Some(extreme) = profile.extreme {
            builder.add_extreme(extreme);
        }
        match profile.ghosts {
            Ghosts::None => {}
            Ghosts::Counts => builder.add_counts(ghost),
            Ghosts::Membership => builder.add_membership(ghost),
            Ghosts::Bounds => builder.add_bounds(ghost),
        }
        builder.algebra
    }

    /// Adds a component of a sort.
    pub(super) fn add(&mut self, sort: Sort, component: Component) {
        let components = self.components.entry(sort).or_default();
        if components.contains(&component) {
            return;
        }
        components.push(component);
        self.groups.push(vec![(sort, component)]);
        if let Component::Ghost { ghost, .. } = component {
            self.ghost = Some(ghost);
        }
    }

    /// The functions that are components besides testers.
    pub(super) fn functions(&self) -> usize {
        self.groups.len()
    }

    /// The algebra without a function.
    pub(super) fn without(&self, function: usize) -> Self {
        let mut smaller = self.clone();
        for (sort, component) in smaller.groups.remove(function) {
            smaller.components.entry(sort).or_default().retain(|other| *other != component);
            smaller.numbered.retain(|_, number| *number != component);
        }
        let mut left = smaller.components.values().flatten();
        if !left.any(|component| matches!(component, Component::Ghost { .. })) {
            smaller.ghost = None;
        }
        smaller
    }

    /// The components that are equal only for equal values of a sort, as positions; none if there are no such components.
    pub(super) fn identifying(&self, store: &TermStore, sort: Sort) -> Option<Vec<usize>> {
        let components = self.of(sort);
        if let Some(number) = self.numbered.get(&sort) {
            return Some(vec![components.iter().position(|component| component == number)?]);
        }
        let constructors = store.datatype(sort)?.constructors();
        let is_constant = |&constructor: &ConstructorId| store.constructor(constructor).fields.is_empty();
        constructors.iter().all(is_constant).then(|| (0..constructors.len() - 1).collect())
    }

    /// The ghost, if components depend on it.
    pub(super) fn ghost(&self) -> Option<Term> {
        self.ghost
    }

    /// The components of a sort.
    pub(super) fn of(&self, sort: Sort) -> &[Component] {
        self.components.get(&sort).map_or(&[], Vec::as_slice)
    }

    /// Whether a function is a component that is an integer or truth value of the value itself.
    pub(super) fn is_field(&self, fun: Fun) -> bool {
        self.fields.contains(&fun)
    }
}

/// All datatypes among the given sorts and below them, in the order of their discovery.
pub(super) fn datatypes(store: &TermStore, sorts: impl IntoIterator<Item = Sort>) -> Vec<Sort> {
    let mut seen: FxHashSet<Sort> = FxHashSet::default();
    let mut found: Vec<Sort> = Vec::new();
    let mut open: Vec<Sort> = sorts.into_iter().collect();
    open.reverse();
    while let Some(sort) = open.pop() {
        if let Some(datatype) = store.datatype(sort)
            && seen.insert(sort)
        {
            found.push(sort);
            let fields = datatype.constructors().iter().flat_map(|&c| store.constructor(c).fields.iter());
            open.extend(fields.map(|&(_, sort)| sort));
        }
    }
    found
}

/// The value of a fold for a constructor, from its fields and from the values of the fold at fields that have one.
type Case<'f> = dyn Fn(ConstructorId, &[Term], &[Term]) -> Term + 'f;

struct Builder<'a> {
    store: &'a TermStore,
    /// Sorts that depend on each other, each group after those of its fields.
    groups: Vec<Vec<Sort>>,
    /// The datatypes below each one, with itself.
    below: FxHashMap<Sort, FxHashSet<Sort>>,
    algebra: Algebra,
}

impl<'a> Builder<'a> {
    fn new(store: &'a TermStore, sorts: &[Sort]) -> Self {
        let below: FxHashMap<Sort, FxHashSet<Sort>> =
            sorts.iter().map(|&sort| (sort, datatypes(store, [sort]).into_iter().collect())).collect();
        let mut order: Vec<Sort> = sorts.to_vec();
        // A sort that is below another one, but not the other way round, has fewer sorts below it.
        order.sort_by_key(|sort| below[sort].len());
        let mut groups: Vec<Vec<Sort>> = Vec::new();
        for sort in order {
            let is_mutual =
                |group: &&mut Vec<Sort>| below[&sort].contains(&group[0]) && below[&group[0]].contains(&sort);
            match groups.iter_mut().find(is_mutual) {
                Some(group) => group.push(sort),
                None => groups.push(vec![sort]),
            }
        }
        Builder { store, groups, below, algebra: Algebra::default() }
    }

    fn sorts(&self) -> Vec<Sort> {
        self.groups.iter().flatten().copied().collect()
    }

    fn constructors(&self, sort: Sort) -> &'a [ConstructorId] {
        self.store.datatype(sort).map_or(&[], |datatype| datatype.constructors())
    }

    fn fields(&self, constructor: ConstructorId) -> Vec<Sort> {
        self.store.constructor(constructor).fields.iter().map(|&(_, sort)| sort).collect()
    }

    /// Whether a field of the constructor can contain values of the constructor's sort.
    fn is_recursive(&self, sort: Sort, constructor: ConstructorId) -> bool {
        let contains = |field: &Sort| self.below.get(field).is_some_and(|below| below.contains(&sort));
        self.fields(constructor).iter().any(contains)
    }

    fn add(&mut self, sort: Sort, component: Component) {
        let components = self.algebra.components.entry(sort).or_default();
        if !components.contains(&component) {
            components.push(component);
        }
    }

    /// All but one constructor have a tester.
    fn add_testers(&mut self) {
        for sort in self.sorts() {
            if let Some((_, others)) = self.constructors(sort).split_last() {
                others.iter().for_each(|&constructor| self.add(sort, Component::Tester(constructor)));
            }
        }
    }

    /// The numbers of values: a constant has its position, and with `n` constants and `b` other constructors, `c(x)` has
    /// `b n(x) + d`, where `d` is the position of `c` from `n` on.
    fn add_numbers(&mut self, digits: Digits) {
        let store = self.store;
        for sort in self.sorts() {
            let constructors = self.constructors(sort);
            let is_monadic = |&c: &ConstructorId| {
                matches!(*self.fields(c), [] | [_]) && self.fields(c).iter().all(|&field| field == sort)
            };
            let (constants, mut others): (Vec<ConstructorId>, Vec<ConstructorId>) =
                constructors.iter().partition(|&&c| self.fields(c).is_empty());
            if others.is_empty() || constants.is_empty() || !constructors.iter().all(is_monadic) {
                continue;
            }
            if digits == Digits::Descending {
                others.reverse();
            }
            let base = Integer::from(others.len() as i64);
            let order: Vec<ConstructorId> = constants.into_iter().chain(others).collect();
            let position =
                |c: ConstructorId| order.iter().position(|&other| other == c).map_or(0, |at| at as i64);
            let number = self.define_one(sort, "number", Sort::INT, &|c, _, calls| {
                let below = calls.iter().map(|&call| store.mul_const(&base.clone().into(), call));
                sum(store, below.chain([store.int(position(c))]))
            });
            if let Some(fun) = number {
                self.add(sort, Component::Fold(fun));
                self.algebra.numbered.insert(sort, Component::Fold(fun));
                self.algebra.groups.push(vec![(sort, Component::Fold(fun))]);
            }
        }
    }

    fn add_counters(&mut self) {
        let store = self.store;
        let mut counted: Vec<ConstructorId> = Vec::new();
        for sort in self.sorts().into_iter().filter(|sort| !self.algebra.numbered.contains_key(sort)) {
            let constructors = self.constructors(sort);
            let has_fields = |&c: &ConstructorId| !store.constructor(c).fields.is_empty();
            let are_constants = !constructors.iter().any(has_fields);
            let is_counted = |&c: &ConstructorId| match are_constants {
                true => constructors.len() <= MOST_CONSTANTS,
                false => self.is_recursive(sort, c) || constructors.len() > 2,
            };
            counted.extend(constructors.iter().copied().filter(is_counted));
        }
        for constructor in counted.into_iter().take(MOST_COUNTERS) {
            let name = format!("count-{}", store.name(store.constructor(constructor).name));
            self.add_fold(&name, Sort::INT, None, &|c| c == constructor, &|c, _, calls| {
                sum(store, calls.iter().copied().chain([store.int(i64::from(c == constructor))]))
            });
        }
    }

    fn add_sizes(&mut self) {
        let store = self.store;
        self.add_fold("size", Sort::INT, None, &|_| true, &|_, _, calls| {
            sum(store, calls.iter().copied().chain([store.int(1)]))
        });
    }

    /// A truth value for each constructor and place below the outermost constructor: whether it is there. A place is a field, or a place
    /// of a field. The last constructor of a sort has none: it is there if no other is and the place exists.
    fn add_shapes(&mut self, depth: usize) {
        let store = self.store;
        // By sorts: the functions for all places of the depth before, at first the sorts' own testers.
        let testers = |sort: Sort| -> Vec<Component> {
            let others = self.constructors(sort).split_last().map_or(&[][..], |(_, others)| others);
            others.iter().map(|&constructor| Component::Tester(constructor)).collect()
        };
        let mut places: FxHashMap<Sort, Vec<Component>> =
            self.sorts().into_iter().map(|sort| (sort, testers(sort))).collect();
        let mut found: FxHashMap<Sort, Vec<Component>> = FxHashMap::default();
        for _ in 1..depth {
            let mut deeper: FxHashMap<Sort, Vec<Component>> = FxHashMap::default();
            for sort in self.sorts() {
                for &constructor in self.constructors(sort) {
                    for (at, field) in self.fields(constructor).into_iter().enumerate() {
                        for &below in places.get(&field).into_iter().flatten() {
                            let shape = self.define_one(sort, "shape", Sort::BOOL, &|c, fields, _| {
                                if c == constructor { below.at(store, fields[at]) } else { Term::FALSE }
                            });
                            deeper.entry(sort).or_default().extend(shape.map(Component::Fold));
                        }
                    }
                }
            }
            for sort in self.sorts() {
                found.entry(sort).or_default().extend(deeper.get(&sort).into_iter().flatten());
            }
            if found.values().any(|functions| functions.len() > MOST_PLACES) {
                break;
            }
            places = deeper;
        }
        for sort in self.sorts() {
            for &component in found.get(&sort).into_iter().flatten().take(MOST_PLACES) {
                self.add(sort, component);
                self.algebra.groups.push(vec![(sort, component)]);
            }
        }
    }

    fn add_sums(&mut self) {
        let store = self.store;
        self.add_fold("sum", Sort::INT, None, &|c| has_number(store, c), &|_, fields, calls| {
            sum(store, numbers(store, fields).chain(calls.iter().copied()))
        });
    }

    fn add_heights(&mut self) {
        let store = self.store;
        let branching: FxHashSet<ConstructorId> = self
            .sorts()
            .into_iter()
            .flat_map(|sort| self.constructors(sort).iter().map(move |&c| (sort, c)))
            .filter(|&(sort, c)| self.is_recursive(sort, c) && self.datatype_fields(c) > 1)
            .map(|(_, c)| c)
            .collect();
        // Without branching the height is a counter.
        self.add_fold("height", Sort::INT, None, &|c| branching.contains(&c), &|_, _, calls| {
            let greater = |a: Term, &b: &Term| store.ite(store.ge(a, b), a, b);
            match calls.split_first() {
                Some((&first, others)) => store.add(&[others.iter().fold(first, greater), store.int(1)]),
                None => store.int(0),
            }
        });
    }

    fn datatype_fields(&self, constructor: ConstructorId) -> usize {
        self.fields(constructor).iter().filter(|sort| self.below.contains_key(sort)).count()
    }

    /// The fields that are integers and truth values, and whether lists are sorted by one of them.
    fn add_fields(&mut self) {
        let store = self.store;
        for sort in self.sorts() {
            for &constructor in self.constructors(sort) {
                let fields = self.fields(constructor);
                let next: Vec<usize> = (0..fields.len()).filter(|&at| fields[at] == sort).collect();
                for at in (0..fields.len()).filter(|&at| matches!(fields[at], Sort::INT | Sort::BOOL)) {
                    let Some(first) = first(store, constructor, at) else { continue };
                    self.add(sort, Component::Fold(first));
                    self.algebra.fields.insert(first);
                    self.algebra.groups.push(vec![(sort, Component::Fold(first))]);
                    if let (&[tail], Sort::INT) = (&next[..], fields[at]) {
                        self.add_sorted(sort, constructor, at, tail, first);
                    }
                }
            }
        }
    }

    /// Whether the integers of a list ascend.
    fn add_sorted(&mut self, sort: Sort, constructor: ConstructorId, head: usize, tail: usize, first: Fun) {
        let store = self.store;
        let sorted = self.define_one(sort, "sorted", Sort::BOOL, &|c, fields, calls| {
            if c != constructor {
                return Term::TRUE;
            }
            let next = Component::Fold(first).at(store, fields[tail]);
            let is_last = store.not(store.tester(constructor, fields[tail]));
            let ascends = store.or2(is_last, store.le(fields[head], next));
            store.and_of(calls.iter().copied().chain([ascends]))
        });
        if let Some(fun) = sorted {
            self.add(sort, Component::Fold(fun));
            self.algebra.groups.push(vec![(sort, Component::Fold(fun))]);
        }
    }

    /// The least or the greatest integer. A value without integers has none, and the component is zero.
    fn add_extreme(&mut self, extreme: Extreme) {
        let store = self.store;
        let is_relevant = |c: ConstructorId| has_number(store, c);
        let exist = self.add_fold("has-number", Sort::BOOL, None, &is_relevant, &|c, _, calls| {
            store.or_of(calls.iter().copied().chain([store.bool(has_number(store, c))]))
        });
        let exists_below = |field: &Term| {
            let &fun = exist.get(&store.sort_of(*field))?;
            Some(Component::Fold(fun).at(store, *field))
        };
        let (name, is_before): (_, fn(&TermStore, Term, Term) -> Term) = match extreme {
            Extreme::Least => ("least", |store, a, b| store.lt(a, b)),
            Extreme::Greatest => ("greatest", |store, a, b| store.gt(a, b)),
        };
        let found = self.add_fold(name, Sort::INT, None, &is_relevant, &|_, fields, calls| {
            // The extreme so far, and whether there is one.
            let (mut exists, mut extreme) = (Term::FALSE, store.int(0));
            let below = fields.iter().filter_map(exists_below).zip(calls.iter().copied());
            for (is_there, value) in numbers(store, fields).map(|number| (Term::TRUE, number)).chain(below) {
                let is_first = store.or2(store.not(exists), is_before(store, value, extreme));
                extreme = store.ite(store.and2(is_there, is_first), value, extreme);
                exists = store.or2(exists, is_there);
            }
            extreme
        });
        self.algebra.fields.extend(found.into_values());
    }

    fn add_counts(&mut self, ghost: Term) {
        let store = self.store;
        self.add_fold("count", Sort::INT, Some(ghost), &|c| has_number(store, c), &|_, fields, calls| {
            let is_ghost = |number| store.ite(store.eq(number, ghost), store.int(1), store.int(0));
            sum(store, numbers(store, fields).map(is_ghost).chain(calls.iter().copied()))
        });
    }

    fn add_membership(&mut self, ghost: Term) {
        let store = self.store;
        self.add_fold("has", Sort::BOOL, Some(ghost), &|c| has_number(store, c), &|_, fields, calls| {
            let is_ghost = |number| store.eq(number, ghost);
            store.or_of(numbers(store, fields).map(is_ghost).chain(calls.iter().copied()))
        });
    }

    fn add_bounds(&mut self, ghost: Term) {
        let store = self.store;
        self.add_fold("below", Sort::BOOL, Some(ghost), &|c| has_number(store, c), &|_, fields, calls| {
            let is_below = |number| store.le(number, ghost);
            store.and_of(numbers(store, fields).map(is_below).chain(calls.iter().copied()))
        });
        self.add_fold("above", Sort::BOOL, Some(ghost), &|c| has_number(store, c), &|_, fields, calls| {
            let is_above = |number| store.ge(number, ghost);
            store.and_of(numbers(store, fields).map(is_above).chain(calls.iter().copied()))
        });
    }

    /// Adds a fold, of a ghost or not, to all sorts that have a relevant constructor in or below them. Returns its
    /// functions.
    fn add_fold(
        &mut self,
        name: &str,
        range: Sort,
        ghost: Option<Term>,
        is_relevant: &dyn Fn(ConstructorId) -> bool,
        value: &Case<'_>,
    ) -> FxHashMap<Sort, Fun> {
        let mut functions: FxHashMap<Sort, Fun> = FxHashMap::default();
        let mut added: Vec<(Sort, Component)> = Vec::new();
        for group in self.groups.clone() {
            let mut constructors =
                self.below[&group[0]].iter().flat_map(|&sort| self.constructors(sort).iter().copied());
            if !constructors.any(is_relevant) {
                continue;
            }
            let Some(defined) = self.define(&group, &functions, name, range, ghost, value) else { continue };
            self.algebra.ghost = self.algebra.ghost.or(ghost);
            for (&sort, &fun) in group.iter().zip(&defined) {
                functions.insert(sort, fun);
                self.add(sort, component(fun, ghost));
                added.push((sort, component(fun, ghost)));
            }
        }
        if !added.is_empty() {
            self.algebra.groups.push(added);
        }
        functions
    }

    /// Defines a fold of one sort that calls no others.
    fn define_one(&self, sort: Sort, name: &str, range: Sort, value: &Case<'_>) -> Option<Fun> {
        let functions = self.define(&[sort], &FxHashMap::default(), name, range, None, value)?;
        functions.first().copied()
    }

    /// Defines folds of some sorts together. They call each other and the known ones.
    fn define(
        &self,
        group: &[Sort],
        known: &FxHashMap<Sort, Fun>,
        name: &str,
        range: Sort,
        ghost: Option<Term>,
        value: &Case<'_>,
    ) -> Option<Box<[Fun]>> {
        let store = self.store;
        let mut functions = known.clone();
        let ghosts: Vec<Sort> = ghost.iter().map(|&ghost| store.sort_of(ghost)).collect();
        for &sort in group {
            functions.insert(sort, store.new_fold(store.fresh_symbol(name), sort, &ghosts, range));
        }
        let case = |&constructor: &ConstructorId| {
            let variable = |sort: Sort| store.var(store.fresh_symbol("field"), sort);
            let fields: Box<[Term]> = self.fields(constructor).into_iter().map(variable).collect();
            let call = |field: &Term| {
                let &fun = functions.get(&store.sort_of(*field))?;
                Some(component(fun, ghost).at(store, *field))
            };
            let calls: Vec<Term> = fields.iter().filter_map(call).collect();
            let value = value(constructor, &fields, &calls);
            FoldCase { constructor, fields, value }
        };
        let spec = |&sort: &Sort| FoldSpec {
            fun: functions[&sort],
            ghosts: ghost.into_iter().collect(),
            cases: self.constructors(sort).iter().map(case).collect(),
        };
        store.define_folds(&group.iter().map(spec).collect::<Vec<FoldSpec>>()).ok()
    }
}

/// The fold of a field that is an integer or a truth value: the field right below the constructor, and a default elsewhere.
pub(super) fn first(store: &TermStore, constructor: ConstructorId, at: usize) -> Option<Fun> {
    let made = store.constructor(constructor);
    let (selector, range) = made.fields[at];
    if !matches!(range, Sort::INT | Sort::BOOL) {
        return None;
    }
    let name = store.fresh_symbol(&format!("first-{}", store.name(selector)));
    let fun = store.new_fold(name, made.sort, &[], range);
    let case = |&of: &ConstructorId| {
        let sorts = store.constructor(of).fields.iter();
        let fields: Box<[Term]> =
            sorts.map(|&(_, sort)| store.var(store.fresh_symbol("field"), sort)).collect();
        let default = || store.value_to_term(&store.default_value(range));
        let value = if of == constructor { fields[at] } else { default() };
        FoldCase { constructor: of, fields, value }
    };
    let cases = store.datatype(made.sort)?.constructors().iter().map(case).collect();
    store.define_folds(&[FoldSpec { fun, ghosts: Vec::new(), cases }]).ok()?.first().copied()
}

fn component(fun: Fun, ghost: Option<Term>) -> Component {
    match ghost {
        Some(ghost) => Component::Ghost { fun, ghost },
        None => Component::Fold(fun),
    }
}

fn has_number(store: &TermStore, constructor: ConstructorId) -> bool {
    store.constructor(constructor).fields.iter().any(|&(_, sort)| sort == Sort::INT)
}

/// The integers among fields.
fn numbers<'f>(store: &'f TermStore, fields: &'f [Term]) -> impl Iterator<Item = Term> + 'f {
    fields.iter().copied().filter(|&field| store.sort_of(field) == Sort::INT)
}

fn sum(store: &TermStore, terms: impl Iterator<Item = Term>) -> Term {
    terms.fold(store.int(0), |sum, term| store.add(&[sum, term]))
}
