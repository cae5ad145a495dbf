//! Templates: components with parameters in place of numbers.
//!
//! A template gives each value of a datatype a *state*, one of a few, and some *sums*, which are integers. Constructors compute them
//! from those of their fields:
//!
//! ```text
//! state(c(x..)) = a table of c at the states of x..
//! sum(c(x.., n..)) = constant + factors * sums of x.. + factors * n..
//! ```
//!
//! The entries of tables, constants and factors are the parameters. All are bounded, so a product of a factor and a sum is a choice
//! between multiples of the sum, and the components of a ground term are terms of linear arithmetic over the parameters.
//!
//! A *guard* compares an integer among the fields with a number or with another one, as constraints of the clauses do, or is a truth
//! value among the fields. With a guard, each constructor has different parameters for the two cases.
//!
//! Values for the parameters make components: a state becomes truth values, the binary digits of its number, since hulls divide facts by
//! truth values; a sum is an integer.

use rustc_hash::FxHashMap;
use shofar_logic::number::Integer;
use shofar_logic::{
    Assignment, ConstructorId, FoldCase, FoldSpec, Fun, Op, Relation, Sort, Term, TermStore, Value,
};

use super::components::Component;

/// Parameters of one template.
const MOST_PARAMETERS: usize = 150;

/// Guards from the constraints of clauses.
const MOST_GUARDS: usize = 4;

/// How many parameters of which size a template has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Class {
    /// The number of states; 1 if there are none.
    pub(super) states: usize,
    /// The number of sums.
    pub(super) sums: usize,
    /// The greatest absolute value of constants and factors.
    pub(super) greatest: i64,
}

const fn states(states: usize) -> Class {
    Class { states, sums: 0, greatest: 0 }
}

const fn sums(sums: usize, greatest: i64) -> Class {
    Class { states: 1, sums, greatest }
}

/// The classes, small ones first.
pub(super) const CLASSES: [Class; 8] =
    [states(2), sums(1, 1), states(3), sums(1, 2), states(4), sums(2, 1), sums(2, 2), sums(3, 1)];

/// A distinction between values of the same constructor, by fields that are no datatypes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Guard {
    /// Whether the first truth value is true.
    Truth,
    /// Whether the first integer is at most this one.
    AtMost(Integer),
    /// Whether the first integer is this one.
    Equal(Integer),
    /// Whether the first integer is at most the second.
    Ordered,
}

impl Guard {
    /// The guards that constraints suggest.
    pub(super) fn of(store: &TermStore, labels: &[Term]) -> Vec<Guard> {
        let mut guards = vec![Guard::Truth];
        let mut add = |guard: Guard| {
            if !guards.contains(&guard) && guards.len() <= MOST_GUARDS {
                guards.push(guard);
            }
        };
        for term in store.subterms(labels) {
            let Some(bound) = store.bound(term).filter(|bound| store.sort_of(bound.sum) == Sort::INT) else {
                continue;
            };
            let (relation, number) = bound.rounded(store);
            let Some(number) = number.to_integer() else { continue };
            match (store.is_symbol(bound.sum), relation) {
                (true, Relation::AtMost) => add(Guard::AtMost(number)),
                (true, Relation::AtLeast) => add(Guard::AtMost(number - Integer::ONE)),
                (true, _) => add(Guard::Equal(number)),
                (false, _) => add(Guard::Ordered),
            }
        }
        guards
    }

    /// The guard at the fields of a constructor, if they have it.
    fn at(&self, store: &TermStore, fields: &[Term]) -> Option<Term> {
        let mut truths = fields.iter().copied().filter(|&field| store.sort_of(field) == Sort::BOOL);
        let mut numbers = fields.iter().copied().filter(|&field| store.sort_of(field) == Sort::INT);
        match self {
            Guard::Truth => truths.next(),
            Guard::AtMost(number) => Some(store.le(numbers.next()?, store.int(number.clone()))),
            Guard::Equal(number) => Some(store.eq(numbers.next()?, store.int(number.clone()))),
            Guard::Ordered => Some(store.le(numbers.next()?, numbers.next()?)),
        }
    }
}

/// The parameters of a constructor in one case of the guard.
struct Cell {
    /// The table: states by choices of states for the fields that are datatypes, the first field changing fastest.
    table: Vec<Term>,
    sums: Vec<Sum>,
}

/// The parameters of a sum.
struct Sum {
    constant: Term,
    /// By fields that are datatypes, then by the sums of the field.
    factors: Vec<Vec<Term>>,
    /// By fields that are integers.
    numbers: Vec<Term>,
}

/// The components of a ground term: the number of its state, if there are states, and sums.
type Vector = Vec<Term>;

/// A template of datatypes.
pub(super) struct Template<'a> {
    store: &'a TermStore,
    class: Class,
    guard: Option<&'a Guard>,
    sorts: &'a [Sort],
    /// By constructors and cases of the guard.
    cells: FxHashMap<(ConstructorId, bool), Cell>,
    parameters: Vec<Term>,
    /// What holds of parameters and of the components of ground terms.
    definitions: Vec<Term>,
    /// The components of ground terms.
    vectors: FxHashMap<Term, Vector>,
}

impl<'a> Template<'a> {
    /// A template of datatypes, which include the datatypes of fields; none if it is too large, or if no constructor has the guard.
    pub(super) fn new(
        store: &'a TermStore,
        sorts: &'a [Sort],
        class: Class,
        guard: Option<&'a Guard>,
    ) -> Option<Self> {
        let mut template = Template {
            store,
            class,
            guard,
            sorts,
            cells: FxHashMap::default(),
            parameters: Vec::new(),
            definitions: Vec::new(),
            vectors: FxHashMap::default(),
        };
        let mut is_guarded = false;
        for &sort in sorts {
            let mut has_first = false;
            for &constructor in store.datatype(sort)?.constructors() {
                let fields = fields(store, constructor);
                let has_guard = guard.is_some_and(|guard| guard.at(store, &fields).is_some());
                is_guarded |= has_guard;
                let data = data(store, &fields).count();
                let numbers = fields.iter().filter(|&&field| store.sort_of(field) == Sort::INT).count();
                for case in if has_guard { &[false, true][..] } else { &[false] } {
                    let cell = template.cell(data, numbers)?;
                    // States have no order: the first constant has the first one.
                    if let (&[entry], false) = (&*cell.table, std::mem::replace(&mut has_first, data == 0)) {
                        template.definitions.push(store.eq(entry, store.int(0)));
                    }
                    template.cells.insert((constructor, *case), cell);
                }
            }
        }
        (is_guarded || guard.is_none()).then_some(template)
    }

    fn cell(&mut self, data: usize, numbers: usize) -> Option<Cell> {
        let Class { states, sums, greatest } = self.class;
        let entries = if states > 1 { states.checked_pow(data as u32)? } else { 0 };
        if self.parameters.len() + entries + sums * (1 + data * sums + numbers) > MOST_PARAMETERS {
            return None;
        }
        let table = (0..entries).map(|_| self.parameter(0, states as i64 - 1)).collect();
        let sum = |template: &mut Self| Sum {
            constant: template.parameter(-greatest, greatest),
            factors: (0..data)
                .map(|_| (0..sums).map(|_| template.parameter(-greatest, greatest)).collect())
                .collect(),
            numbers: (0..numbers).map(|_| template.parameter(-greatest, greatest)).collect(),
        };
        let sums = (0..sums).map(|_| sum(self)).collect();
        Some(Cell { table, sums })
    }

    fn parameter(&mut self, least: i64, greatest: i64) -> Term {
        let parameter = self.number("parameter", least, greatest);
        self.parameters.push(parameter);
        parameter
    }

    /// A new integer between two numbers.
    fn number(&mut self, name: &str, least: i64, greatest: i64) -> Term {
        let store = self.store;
        let number = store.var(store.fresh_symbol(name), Sort::INT);
        self.definitions.push(store.le(store.int(least), number));
        self.definitions.push(store.le(number, store.int(greatest)));
        number
    }

    /// The parameters.
    pub(super) fn parameters(&self) -> &[Term] {
        &self.parameters
    }

    /// What holds of parameters and components, since the last call.
    pub(super) fn take_definitions(&mut self) -> Vec<Term> {
        std::mem::take(&mut self.definitions)
    }

    /// Says that two ground terms have the same components.
    pub(super) fn equal(&mut self, a: Term, b: Term) -> Term {
        let (a, b) = (self.vector(a), self.vector(b));
        self.store.and_of(a.into_iter().zip(b).map(|(a, b)| self.store.eq(a, b)))
    }

    /// The components of a ground term.
    fn vector(&mut self, term: Term) -> Vector {
        let store = self.store;
        for part in store.subterms(&[term]) {
            if let (Op::Construct(constructor), fields) = store.view(part)
                && !self.vectors.contains_key(&part)
            {
                let vector = self.constructed(constructor, fields);
                self.vectors.insert(part, vector);
            }
        }
        self.vectors[&term].clone()
    }

    /// The components of a constructor term, whose fields have components.
    fn constructed(&mut self, constructor: ConstructorId, fields: &[Term]) -> Vector {
        let store = self.store;
        let is_true = |guard: Term| store.eval(guard, &Assignment::new()) == Ok(Value::Bool(true));
        let case = self.guard.and_then(|guard| guard.at(store, fields)).is_some_and(is_true);
        let below: Vec<Vector> = data(store, fields).map(|field| self.vectors[&field].clone()).collect();
        let mut vector = Vec::new();
        if self.class.states > 1 {
            let table = self.cells[&(constructor, case)].table.clone();
            vector.push(match &*table {
                &[entry] => entry,
                table => {
                    let state = self.number("state", 0, self.class.states as i64 - 1);
                    for (choice, &entry) in table.iter().enumerate() {
                        let digits = digits(choice, self.class.states);
                        let is_choice = below
                            .iter()
                            .zip(digits)
                            .map(|(of, digit)| store.eq(of[0], store.int(digit as i64)));
                        let is_entry = store.eq(state, entry);
                        self.definitions.push(store.implies(store.and_of(is_choice), is_entry));
                    }
                    state
                }
            });
        }
        let first_sum = vector.len();
        for sum in &self.cells[&(constructor, case)].sums {
            let mut terms = vec![sum.constant];
            for (vector, factors) in below.iter().zip(&sum.factors) {
                for (&factor, &value) in factors.iter().zip(&vector[first_sum..]) {
                    terms.push(self.product(factor, value));
                }
            }
            let numbers = fields.iter().filter(|&&field| store.sort_of(field) == Sort::INT);
            for (&factor, &number) in sum.numbers.iter().zip(numbers) {
                terms.extend(store.numeral(number).map(|number| store.mul_const(number, factor)));
            }
            vector.push(store.add(&terms));
        }
        // A name for each sum keeps the terms small.
        for component in &mut vector[first_sum..] {
            let name = store.var(store.fresh_symbol("sum"), Sort::INT);
            self.definitions.push(store.eq(name, *component));
            *component = name;
        }
        vector
    }

    /// The product of a factor and a term, as a choice between the possible factors.
    fn product(&self, factor: Term, term: Term) -> Term {
        let store = self.store;
        let greatest = self.class.greatest;
        let multiple = |result: Term, number: i64| {
            let is_number = store.eq(factor, store.int(number));
            store.ite(is_number, store.mul_const(&number.into(), term), result)
        };
        (-greatest..=greatest).filter(|&number| number != 0).fold(store.int(0), multiple)
    }

    /// The components for values of the parameters, without those that are the same for all values.
    pub(super) fn components(&self, values: &Assignment) -> Option<Vec<(Sort, Component)>> {
        let store = self.store;
        let bits = self.class.states.next_power_of_two().ilog2() as usize;
        let mut functions: FxHashMap<Sort, Vec<Fun>> = FxHashMap::default();
        for &sort in self.sorts {
            let new = |name: &str, range: Sort| store.new_fold(store.fresh_symbol(name), sort, &[], range);
            let states = (0..bits).map(|_| new("state", Sort::BOOL));
            let sums = (0..self.class.sums).map(|_| new("weight", Sort::INT));
            functions.insert(sort, states.chain(sums).collect());
        }
        let number = |parameter: Term| values.get(parameter).and_then(Value::as_int).cloned();
        let mut specs: Vec<FoldSpec> = Vec::new();
        for &sort in self.sorts {
            let funs = &functions[&sort];
            let mut specs_of_sort: Vec<FoldSpec> =
                funs.iter().map(|&fun| FoldSpec { fun, ghosts: Vec::new(), cases: Vec::new() }).collect();
            for &constructor in store.datatype(sort)?.constructors() {
                let fields = fields(store, constructor);
                let guard = self.guard.and_then(|guard| guard.at(store, &fields));
                let call = |field: Term| -> Option<Vec<Term>> {
                    functions[&store.sort_of(field)]
                        .iter()
                        .map(|&fun| store.apply(fun, &[field]).ok())
                        .collect()
                };
                let calls: Vec<Vec<Term>> = data(store, &fields).map(call).collect::<Option<_>>()?;
                let at_case = |case: bool| {
                    let cell = &self.cells[&(constructor, case)];
                    let states = (0..bits).map(|bit| self.bit(cell, bit, bits, &calls, &number));
                    let sums = cell.sums.iter().map(|sum| self.sum(sum, &fields, &calls, bits, &number));
                    states.chain(sums).collect::<Option<Vec<Term>>>()
                };
                let mut case_values = at_case(false)?;
                if let Some(guard) = guard {
                    for (value, guarded) in case_values.iter_mut().zip(at_case(true)?) {
                        *value = store.ite(guard, guarded, *value);
                    }
                }
                for (spec, value) in specs_of_sort.iter_mut().zip(case_values) {
                    spec.cases.push(FoldCase { constructor, fields: fields.clone().into(), value });
                }
            }
            specs.append(&mut specs_of_sort);
        }
        let is_constant = |spec: &FoldSpec| {
            spec.cases
                .iter()
                .all(|case| case.value == spec.cases[0].value && store.term_to_value(case.value).is_some())
        };
        let defined = store.define_folds(&specs).ok()?;
        let used = specs.iter().zip(&defined).filter(|(spec, _)| !is_constant(spec));
        Some(used.map(|(_, &fun)| (store.fun_decl(fun).domain[0], Component::Fold(fun))).collect())
    }

    /// A binary digit of the state that a table gives.
    fn bit(
        &self,
        cell: &Cell,
        bit: usize,
        bits: usize,
        calls: &[Vec<Term>],
        number: &dyn Fn(Term) -> Option<Integer>,
    ) -> Option<Term> {
        let store = self.store;
        let mut choices = Vec::new();
        for (choice, &entry) in cell.table.iter().enumerate() {
            let state = usize::try_from(number(entry)?.to_i64()?).ok()?;
            if state >> bit & 1 == 0 {
                continue;
            }
            let is_state = |(call, state): (&Vec<Term>, usize)| {
                let digit = |at: usize| if state >> at & 1 == 1 { call[at] } else { store.not(call[at]) };
                store.and_of((0..bits).map(digit))
            };
            choices.push(store.and_of(calls.iter().zip(digits(choice, self.class.states)).map(is_state)));
        }
        Some(store.or_of(choices))
    }

    fn sum(
        &self,
        sum: &Sum,
        fields: &[Term],
        calls: &[Vec<Term>],
        bits: usize,
        number: &dyn Fn(Term) -> Option<Integer>,
    ) -> Option<Term> {
        let store = self.store;
        let mut terms = vec![store.int(number(sum.constant)?)];
        let times = |factor: Term, term: Term| Some(store.mul_const(&number(factor)?.into(), term));
        for (call, factors) in calls.iter().zip(&sum.factors) {
            for (&factor, &value) in factors.iter().zip(&call[bits..]) {
                terms.push(times(factor, value)?);
            }
        }
        let numbers = fields.iter().filter(|&&field| store.sort_of(field) == Sort::INT);
        for (&factor, &field) in sum.numbers.iter().zip(numbers) {
            terms.push(times(factor, field)?);
        }
        Some(store.add(&terms))
    }
}

/// Variables for the fields of a constructor.
fn fields(store: &TermStore, constructor: ConstructorId) -> Vec<Term> {
    let sorts = store.constructor(constructor).fields.iter();
    sorts.map(|&(_, sort)| store.var(store.fresh_symbol("field"), sort)).collect()
}

/// The fields that are datatypes.
fn data<'f>(store: &'f TermStore, fields: &'f [Term]) -> impl Iterator<Item = Term> + 'f {
    fields.iter().copied().filter(|&field| store.datatype(store.sort_of(field)).is_some())
}

/// The digits of a number in a base, the last one first, without end.
fn digits(number: usize, base: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(number), move |&rest| Some(rest / base)).map(move |rest| rest % base)
}
