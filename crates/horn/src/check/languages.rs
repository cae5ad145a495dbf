//! The values of states: which languages of an automaton are finite, and their values.
//!
//! Folds with finitely many values are a tree automaton (`automata.rs`). The language of a state are the values that have it. The
//! state of `c(t..)` depends only on `c` and the states of `t..`, so one representative for each state is enough to find all
//! transitions. A language is finite if each transition into its state comes from states with finite languages only, and from no number:
//!
//! ```text
//! finite := {}
//! repeat until nothing is new
//!     for each state that is not in finite: if all fields of all transitions into it are finite, its values are known
//! ```
//!
//! The values of finite languages become lemmas, `state(x) = q => x = t_1 or .. or x = t_n`, which the checker proves by induction like
//! all others. With them the solver proves every valid clause over states, equations and constructors, within the bounds: a variable
//! whose state has a finite language has one of these values, and one with an infinite language can differ from any finite number of
//! terms that are not equal by their structure. A clause that is not valid may stay undecided, if its counterexamples are
//! deeper than terms are unfolded; the model is not accepted then, either. `membership.rs` decides such clauses without the solver.
//!
//! *Source.* H. Comon, C. Delor, "Equational formulae with membership constraints" (1994): such formulas are decidable.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;
use shofar_logic::{Assignment, ConstructorId, FoldLemma, Fun, Sort, Term, TermStore, Value};

/// The number of states of all sorts, of choices of states for the fields of a constructor, and of values of a finite language.
const MOST_STATES: usize = 64;
const MOST_CHOICES: usize = 4096;
const MOST_VALUES: usize = 32;

/// Lemmas about states with finite languages, given datatypes and their folds. The folds are tables: the value at `c(t..)` depends
/// on `c` and on the values at `t..` only.
pub(super) fn lemmas(store: &TermStore, tables: Vec<(Sort, Vec<Fun>)>) -> Vec<FoldLemma> {
    let Some(automaton) = Automaton::new(store, tables) else { return Vec::new() };
    let values = automaton.finite_languages();
    let mut lemmas = Vec::new();
    for (sort, folds) in &automaton.sorts {
        if folds.is_empty() {
            continue;
        }
        let value = store.var(store.fresh_symbol("value"), *sort);
        let claim = |(state, terms): (&State, &Vec<Term>)| {
            let equal = |(&fun, component): (&Fun, &Value)| {
                let (at, component) = (apply(store, fun, value), store.value_to_term(component));
                if store.sort_of(at) == Sort::BOOL {
                    store.iff(at, component)
                } else {
                    store.eq(at, component)
                }
            };
            let is_state = store.and_of(folds.iter().zip(&state.components).map(equal));
            store.implies(is_state, store.or_of(terms.iter().map(|&term| store.eq(value, term))))
        };
        let finite = automaton.states.iter().zip(&values).filter(|(state, _)| state.sort == *sort);
        let finite = finite.filter_map(|(state, values)| Some((state, values.as_ref()?)));
        let formula = store.and_of(finite.map(claim));
        if formula != Term::TRUE {
            lemmas.push(FoldLemma { parameters: [value].into(), formula });
        }
    }
    lemmas
}

fn apply(store: &TermStore, fun: Fun, value: Term) -> Term {
    store.apply(fun, &[value]).expect("the sorts fit")
}

/// A state of a datatype: the values of its folds, and one of its terms.
pub(super) struct State {
    pub(super) sort: Sort,
    /// In the order of the sort's folds.
    pub(super) components: Vec<Value>,
    representative: Term,
}

/// A constructor, the states of its fields that are datatypes, and the state of the value.
pub(super) struct Transition {
    pub(super) constructor: ConstructorId,
    pub(super) fields: Vec<usize>,
    pub(super) to: usize,
}

/// The values of a state.
pub(super) enum Language {
    /// There are finitely many, and these are all of them.
    Values(Vec<Term>),
    /// There are too many to list them, and maybe finitely many.
    Large,
    /// There are infinitely many.
    Infinite,
}

/// The product automaton of tables, with a state for each datatype without tables.
pub(super) struct Automaton<'a> {
    store: &'a TermStore,
    /// The datatypes and their tables.
    pub(super) sorts: Vec<(Sort, Vec<Fun>)>,
    pub(super) states: Vec<State>,
    pub(super) transitions: Vec<Transition>,
}

impl<'a> Automaton<'a> {
    /// The automaton; `None` if it is too large.
    pub(super) fn new(store: &'a TermStore, tables: Vec<(Sort, Vec<Fun>)>) -> Option<Self> {
        let mut sorts = tables;
        let mut position = 0;
        while let Some(&(sort, _)) = sorts.get(position) {
            position += 1;
            for &constructor in constructors(store, sort) {
                for &(_, field) in &store.constructor(constructor).fields {
                    if store.datatype(field).is_some() && !sorts.iter().any(|(of, _)| *of == field) {
                        sorts.push((field, Vec::new()));
                    }
                }
            }
        }
        let mut automaton = Automaton { store, sorts, states: Vec::new(), transitions: Vec::new() };
        let mut known: FxHashMap<(ConstructorId, Vec<usize>), usize> = FxHashMap::default();
        loop {
            let before = known.len();
            for position in 0..automaton.sorts.len() {
                for &constructor in constructors(store, automaton.sorts[position].0) {
                    for fields in automaton.choices(constructor)? {
                        if let Entry::Vacant(cell) = known.entry((constructor, fields)) {
                            let state = automaton.state_of(position, constructor, &cell.key().1)?;
                            cell.insert(state);
                        }
                    }
                }
            }
            if known.len() == before {
                break;
            }
        }
        let transition = |((constructor, fields), to)| Transition { constructor, fields, to };
        automaton.transitions = known.into_iter().map(transition).collect();
        // Lemmas do not depend on the order of a hash table.
        automaton
            .transitions
            .sort_by(|a, b| (a.to, a.constructor, &a.fields).cmp(&(b.to, b.constructor, &b.fields)));
        Some(automaton)
    }

    /// All choices of known states for the fields of a constructor that are datatypes.
    fn choices(&self, constructor: ConstructorId) -> Option<Vec<Vec<usize>>> {
        let mut choices: Vec<Vec<usize>> = vec![Vec::new()];
        for field in structured(self.store, constructor) {
            let states: Vec<usize> =
                (0..self.states.len()).filter(|&state| self.states[state].sort == field).collect();
            if choices.len().checked_mul(states.len())? > MOST_CHOICES {
                return None;
            }
            let extended = |choice: &Vec<usize>| {
                let extend = |&state: &usize| choice.iter().copied().chain([state]).collect();
                states.iter().map(extend).collect::<Vec<Vec<usize>>>()
            };
            choices = choices.iter().flat_map(extended).collect();
        }
        Some(choices)
    }

    /// The state of a constructor applied to representatives.
    fn state_of(&mut self, sort: usize, constructor: ConstructorId, fields: &[usize]) -> Option<usize> {
        let store = self.store;
        let mut states = fields.iter();
        let field = |&(_, sort): &(_, Sort)| match store.datatype(sort) {
            Some(_) => states.next().map(|&state| self.states[state].representative),
            None => Some(store.value_to_term(&store.default_value(sort))),
        };
        let arguments: Vec<Term> =
            store.constructor(constructor).fields.iter().map(field).collect::<Option<_>>()?;
        let representative = store.construct_term(constructor, &arguments);
        let (sort, folds) = &self.sorts[sort];
        let value = |&fun: &Fun| store.eval(apply(store, fun, representative), &Assignment::new()).ok();
        let components = folds.iter().map(value).collect::<Option<Vec<Value>>>()?;
        let is_known = |state: &State| state.sort == *sort && state.components == components;
        if let Some(known) = self.states.iter().position(is_known) {
            return Some(known);
        }
        self.states.push(State { sort: *sort, components, representative });
        (self.states.len() <= MOST_STATES).then(|| self.states.len() - 1)
    }

    /// The values, by states.
    pub(super) fn languages(&self) -> Vec<Language> {
        let store = self.store;
        let mut is_finite = vec![false; self.states.len()];
        loop {
            let mut is_new = false;
            for state in 0..self.states.len() {
                let is_finite_step = |made: &Transition| {
                    let mut fields = store.constructor(made.constructor).fields.iter();
                    let is_infinite = |&(_, sort): &(_, Sort)| matches!(sort, Sort::INT | Sort::REAL);
                    made.fields.iter().all(|&field| is_finite[field]) && !fields.any(is_infinite)
                };
                let mut made = self.transitions.iter().filter(|made| made.to == state);
                if !is_finite[state] && made.all(is_finite_step) {
                    is_finite[state] = true;
                    is_new = true;
                }
            }
            if !is_new {
                break;
            }
        }
        let language = |(values, is_finite): (Option<Vec<Term>>, bool)| match values {
            Some(values) => Language::Values(values),
            None if is_finite => Language::Large,
            None => Language::Infinite,
        };
        self.finite_languages().into_iter().zip(is_finite).map(language).collect()
    }

    /// By states: the values, if there are finitely many and not too many.
    fn finite_languages(&self) -> Vec<Option<Vec<Term>>> {
        let mut values: Vec<Option<Vec<Term>>> = vec![None; self.states.len()];
        loop {
            let mut is_new = false;
            for state in 0..self.states.len() {
                if values[state].is_none() {
                    values[state] = self.values_of(state, &values);
                    is_new |= values[state].is_some();
                }
            }
            if !is_new {
                return values;
            }
        }
    }

    /// The values of a state, if those of the fields of all its transitions are known.
    fn values_of(&self, state: usize, known: &[Option<Vec<Term>>]) -> Option<Vec<Term>> {
        let store = self.store;
        let mut values = Vec::new();
        for Transition { constructor, fields, .. } in self.transitions.iter().filter(|made| made.to == state)
        {
            let mut states = fields.iter();
            let mut choices: Vec<Vec<Term>> = vec![Vec::new()];
            for &(_, sort) in &store.constructor(*constructor).fields {
                let terms = match (store.datatype(sort), sort) {
                    (Some(_), _) => known[*states.next()?].clone()?,
                    (None, Sort::BOOL) => vec![Term::FALSE, Term::TRUE],
                    (None, _) => return None,
                };
                if choices.len() * terms.len() > MOST_VALUES {
                    return None;
                }
                let extended = |choice: &Vec<Term>| {
                    let extend = |&term: &Term| choice.iter().copied().chain([term]).collect();
                    terms.iter().map(extend).collect::<Vec<Vec<Term>>>()
                };
                choices = choices.iter().flat_map(extended).collect();
            }
            values.extend(choices.iter().map(|arguments| store.construct_term(*constructor, arguments)));
        }
        (values.len() <= MOST_VALUES).then_some(values)
    }
}

fn constructors(store: &TermStore, sort: Sort) -> &[ConstructorId] {
    store.datatype(sort).map_or(&[][..], |datatype| datatype.constructors())
}

/// The sorts of a constructor's fields that are datatypes.
fn structured(store: &TermStore, constructor: ConstructorId) -> Vec<Sort> {
    let sorts = store.constructor(constructor).fields.iter().map(|&(_, sort)| sort);
    sorts.filter(|&sort| store.datatype(sort).is_some()).collect()
}
