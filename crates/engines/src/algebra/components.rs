//! The components of algebras: functions on datatypes that are worth a try for any clauses.
//!
//! A component maps the values of a sort to truth values or integers: the tester of a constructor, or a fold of the store. All are
//! computed bottom-up, so the components of a constructor term follow from those of its fields. No component is learnt from
//! the clauses.
//!
//! | component | value |
//! |---|---|
//! | testers | which constructor |
//! | counters | how often a constructor occurs: the length of a list, the number of nodes of a tree |
//! | sums | the sum of all integers in the value |
//! | heights | the length of the longest path |
//! | fields | the integers and truth values right below the outermost constructor |
//! | sorted | whether the integers of a list ascend |
//!
//! Counters are the Parikh image of terms. A counter that is a linear function of others is left out: a list has one empty list,
//! and a binary tree has one leaf more than it has nodes.

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::{ConstructorId, FoldCase, FoldSpec, Fun, Sort, Term, TermStore};

/// The greatest number of counters.
const MOST_COUNTERS: usize = 8;

/// The greatest number of constructors of a sort that are counted although they have no fields.
const MOST_CONSTANTS: usize = 4;

/// Which components an algebra has besides testers and counters.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Profile {
    pub(super) sums: bool,
    pub(super) heights: bool,
    /// Fields, and whether lists are sorted.
    pub(super) fields: bool,
}

/// A function on the values of a sort.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Component {
    /// Whether the value is made by this constructor.
    Tester(ConstructorId),
    /// A fold to integers or truth values.
    Fold(Fun),
}

impl Component {
    /// The component of a term.
    pub(super) fn at(self, store: &TermStore, term: Term) -> Term {
        match self {
            Component::Tester(constructor) => store.tester(constructor, term),
            Component::Fold(fun) => store.apply(fun, &[term]).expect("components are functions of the sort"),
        }
    }

    /// The sort of its values.
    pub(super) fn range(self, store: &TermStore) -> Sort {
        match self {
            Component::Tester(_) => Sort::BOOL,
            Component::Fold(fun) => store.fun_decl(fun).range,
        }
    }
}

/// The components of all sorts.
#[derive(Clone, Default, Debug)]
pub(super) struct Algebra {
    components: FxHashMap<Sort, Vec<Component>>,
    /// The components that are fields.
    fields: FxHashSet<Fun>,
}

impl Algebra {
    /// The algebra of some datatypes; they include the datatypes of fields.
    pub(super) fn new(store: &TermStore, sorts: &[Sort], profile: Profile) -> Self {
        let mut builder = Builder::new(store, sorts);
        builder.add_testers();
        builder.add_counters();
        if profile.sums {
            builder.add_sums();
        }
        if profile.heights {
            builder.add_heights();
        }
        if profile.fields {
            builder.add_fields();
        }
        builder.algebra
    }

    /// The components of a sort.
    pub(super) fn of(&self, sort: Sort) -> &[Component] {
        self.components.get(&sort).map_or(&[], Vec::as_slice)
    }

    /// Whether a function is a component that is a field.
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

    fn add_counters(&mut self) {
        let store = self.store;
        let mut counted: Vec<ConstructorId> = Vec::new();
        for sort in self.sorts() {
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
            self.add_fold(&name, Sort::INT, &|c| c == constructor, &|c, _, calls| {
                sum(store, calls.iter().copied().chain([store.int(i64::from(c == constructor))]))
            });
        }
    }

    fn add_sums(&mut self) {
        let store = self.store;
        let is_number = move |term: &Term| store.sort_of(*term) == Sort::INT;
        let has_number = |c: ConstructorId| store.constructor(c).fields.iter().any(|&(_, s)| s == Sort::INT);
        self.add_fold("sum", Sort::INT, &has_number, &|_, fields, calls| {
            sum(store, fields.iter().copied().filter(is_number).chain(calls.iter().copied()))
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
        self.add_fold("height", Sort::INT, &|c| branching.contains(&c), &|_, _, calls| {
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
                    let selector = store.constructor(constructor).fields[at].0;
                    let name = format!("first-{}", store.name(selector));
                    let default = store.value_to_term(&store.default_value(fields[at]));
                    let first =
                        self.define(&[sort], &FxHashMap::default(), &name, fields[at], &|c, fields, _| {
                            if c == constructor { fields[at] } else { default }
                        });
                    let Some(&first) = first.as_ref().and_then(|functions| functions.first()) else {
                        continue;
                    };
                    self.add(sort, Component::Fold(first));
                    self.algebra.fields.insert(first);
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
        let sorted =
            self.define(&[sort], &FxHashMap::default(), "sorted", Sort::BOOL, &|c, fields, calls| {
                if c != constructor {
                    return Term::TRUE;
                }
                let next = Component::Fold(first).at(store, fields[tail]);
                let is_last = store.not(store.tester(constructor, fields[tail]));
                let ascends = store.or2(is_last, store.le(fields[head], next));
                store.and_of(calls.iter().copied().chain([ascends]))
            });
        if let Some(&fun) = sorted.as_ref().and_then(|functions| functions.first()) {
            self.add(sort, Component::Fold(fun));
        }
    }

    /// Adds a fold to all sorts that have a relevant constructor in or below them.
    fn add_fold(
        &mut self,
        name: &str,
        range: Sort,
        is_relevant: &dyn Fn(ConstructorId) -> bool,
        value: &Case<'_>,
    ) {
        let mut functions: FxHashMap<Sort, Fun> = FxHashMap::default();
        for group in self.groups.clone() {
            let mut constructors =
                self.below[&group[0]].iter().flat_map(|&sort| self.constructors(sort).iter().copied());
            if !constructors.any(is_relevant) {
                continue;
            }
            let Some(defined) = self.define(&group, &functions, name, range, value) else { continue };
            for (&sort, &fun) in group.iter().zip(&defined) {
                functions.insert(sort, fun);
                self.add(sort, Component::Fold(fun));
            }
        }
    }

    /// Defines folds of some sorts together. They call each other and the known ones.
    fn define(
        &self,
        group: &[Sort],
        known: &FxHashMap<Sort, Fun>,
        name: &str,
        range: Sort,
        value: &Case<'_>,
    ) -> Option<Box<[Fun]>> {
        let store = self.store;
        let mut functions = known.clone();
        for &sort in group {
            functions.insert(sort, store.new_fold(store.fresh_symbol(name), sort, &[], range));
        }
        let case = |&constructor: &ConstructorId| {
            let variable = |sort: Sort| store.var(store.fresh_symbol("field"), sort);
            let fields: Box<[Term]> = self.fields(constructor).into_iter().map(variable).collect();
            let call = |field: &Term| {
                let &fun = functions.get(&store.sort_of(*field))?;
                Some(Component::Fold(fun).at(store, *field))
            };
            let calls: Vec<Term> = fields.iter().filter_map(call).collect();
            let value = value(constructor, &fields, &calls);
            FoldCase { constructor, fields, value }
        };
        let spec = |&sort: &Sort| FoldSpec {
            fun: functions[&sort],
            ghosts: Vec::new(),
            cases: self.constructors(sort).iter().map(case).collect(),
        };
        store.define_folds(&group.iter().map(spec).collect::<Vec<FoldSpec>>()).ok()
    }
}

fn sum(store: &TermStore, terms: impl Iterator<Item = Term>) -> Term {
    terms.fold(store.int(0), |sum, term| store.add(&[sum, term]))
}
