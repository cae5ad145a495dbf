//! Automata as models: formulas over the states of arguments.
//!
//! A predicate is a disjunction over its accepted tuples, written as a decision diagram: arguments are looked at in
//! order, states with the same continuation together, and arguments that do not matter are left out.
//!
//! *The state of a value.* Integers have formulas of their classes. The state of a datatype is given by testers and selectors
//! if the tables allow it without recursion: `nil` or not. Otherwise it is a fold over the datatype: of range `Bool` if there are
//! two states, else of range `Int`. The last state is "none of the others", so that every number is a state. The checker then needs no lemma
//! about the range.

use std::collections::BTreeMap;

use shofar_horn::HornGraph;
use shofar_horn::witness::GraphModel;
use shofar_logic::{ConstructorId, FoldCase, FoldSpec, Fun, Sort, Term, TermStore};
use shofar_run::Stop;

use super::Invariant;
use super::automaton::{Constructor, State, Tuple};

/// The model that an automaton is.
pub(super) fn model(store: &TermStore, graph: &HornGraph, invariant: &Invariant) -> Result<GraphModel, Stop> {
    let mut states = States::new(store, invariant);
    states.define_folds()?;
    let formula = |(predicate, variables): (usize, &[Term])| {
        let relation = &invariant.relations[predicate];
        let tuples: Vec<&[State]> = relation.tuples.iter().map(|tuple| &**tuple).collect();
        states.any_of(&relation.sorts, variables, &tuples)
    };
    let variables = graph.nodes().map(|(node, of)| (node.index(), of.variables()));
    Ok(GraphModel::of_formulas(variables.map(formula)))
}

/// The states of values, as formulas.
struct States<'a> {
    store: &'a TermStore,
    invariant: &'a Invariant,
    /// By sorts: the sorts of fields on whose states the tables depend.
    dependencies: Vec<Vec<usize>>,
    /// By sorts: the fold.
    functions: Vec<Option<Fun>>,
}

impl<'a> States<'a> {
    fn new(store: &'a TermStore, invariant: &'a Invariant) -> Self {
        let sorts = invariant.encoding.signature.sorts;
        let mut states =
            States { store, invariant, dependencies: vec![Vec::new(); sorts], functions: vec![None; sorts] };
        for (number, constructor) in invariant.encoding.signature.constructors.iter().enumerate() {
            let cells = states.cells(number);
            for (place, &sort) in constructor.fields.iter().enumerate() {
                if depends_on(&cells, place) && !states.dependencies[constructor.sort].contains(&sort) {
                    states.dependencies[constructor.sort].push(sort);
                }
            }
        }
        states
    }

    /// The cells of a constructor with their values.
    fn cells(&self, constructor: usize) -> Vec<(Tuple, State)> {
        let Invariant { encoding, algebra, .. } = self.invariant;
        let fields = &encoding.signature.constructors[constructor].fields;
        algebra.tuples(fields).zip(algebra.table(constructor).iter().copied()).collect()
    }

    fn size(&self, sort: usize) -> usize {
        self.invariant.algebra.sizes()[sort]
    }

    /// Defines folds for the sorts whose states need recursion and that predicates depend on.
    fn define_folds(&mut self) -> Result<(), Stop> {
        let relations = &self.invariant.relations;
        let mut needed: Vec<usize> =
            relations.iter().flat_map(|relation| relation.sorts.iter().copied()).collect();
        let mut at = 0;
        while let Some(&sort) = needed.get(at) {
            let new = self.dependencies[sort].iter().filter(|sort| !needed.contains(sort)).copied();
            let new: Vec<usize> = new.collect();
            needed.extend(new);
            at += 1;
        }
        needed.retain(|&sort| self.size(sort) > 1);
        needed.sort_unstable();
        needed.dedup();
        // A sort needs a fold if it depends on itself; families are defined after those that they depend on.
        let mut families: Vec<Vec<usize>> = Vec::new();
        for &sort in &needed {
            if !self.reaches(sort, sort) || families.iter().any(|family| family.contains(&sort)) {
                continue;
            }
            let mutual = |&&other: &&usize| self.reaches(sort, other) && self.reaches(other, sort);
            families.push(needed.iter().filter(mutual).copied().collect());
        }
        families.sort_by_key(|family| families_below(family, &needed, |from, to| self.reaches(from, to)));
        families.iter().try_for_each(|family| self.define(family))
    }

    /// Whether the state of a sort depends on that of another, through any number of fields.
    fn reaches(&self, from: usize, to: usize) -> bool {
        let mut seen = vec![false; self.dependencies.len()];
        let mut open = vec![from];
        while let Some(sort) = open.pop() {
            for &field in &self.dependencies[sort] {
                if field == to {
                    return true;
                }
                if !std::mem::replace(&mut seen[field], true) {
                    open.push(field);
                }
            }
        }
        false
    }

    /// Defines the folds of sorts that depend on each other.
    fn define(&mut self, family: &[usize]) -> Result<(), Stop> {
        let store = self.store;
        for &sort in family {
            let datatype = self.invariant.encoding.sorts[sort];
            let name = store.symbol(&format!("state-{}", store.display_sort(datatype)));
            let range = if self.size(sort) == 2 { Sort::BOOL } else { Sort::INT };
            self.functions[sort] = Some(store.new_fold(name, datatype, &[], range));
        }
        let specs: Vec<FoldSpec> = family.iter().map(|&sort| self.specification(sort)).collect();
        let functions = store.define_folds(&specs).map_err(|error| Stop::Internal(error.to_string()))?;
        for (&sort, &function) in family.iter().zip(&functions) {
            self.functions[sort] = Some(function);
        }
        Ok(())
    }

    fn specification(&self, sort: usize) -> FoldSpec {
        let store = self.store;
        let datatype =
            store.datatype(self.invariant.encoding.sorts[sort]).expect("only datatypes have folds");
        let case = |&id: &ConstructorId| {
            let field = |&(name, sort)| store.var(store.fresh_symbol(store.name(name)), sort);
            let fields: Vec<Term> = store.constructor(id).fields.iter().map(field).collect();
            let value = self.value(self.invariant.encoding.constructors[&id], &fields);
            FoldCase { constructor: id, fields: fields.into(), value }
        };
        let fun = self.functions[sort].expect("the function was made");
        FoldSpec { fun, ghosts: Vec::new(), cases: datatype.constructors().iter().map(case).collect() }
    }

    /// The value of a fold for a constructor.
    fn value(&self, number: usize, fields: &[Term]) -> Term {
        let store = self.store;
        let Constructor { sort, fields: sorts } = &self.invariant.encoding.signature.constructors[number];
        let cells = self.cells(number);
        let has_value = |state: State| {
            let of = cells.iter().filter(|&&(_, value)| value == state).map(|(cell, _)| &**cell);
            self.any_of(sorts, fields, &of.collect::<Vec<_>>())
        };
        let last = self.size(*sort) - 1;
        if last == 1 {
            return has_value(1);
        }
        let choose =
            |other: Term, state: usize| store.ite(has_value(state as State), store.int(state as u64), other);
        (0..last).rev().fold(store.int(last as u64), choose)
    }

    /// The formula that the states of terms are one of the tuples.
    fn any_of(&self, sorts: &[usize], terms: &[Term], tuples: &[&[State]]) -> Term {
        let sizes: Vec<usize> = sorts.iter().map(|&sort| self.size(sort)).collect();
        let has_state = |place: usize, state: State| self.has_state(sorts[place], terms[place], state);
        any_of(self.store, &sizes, has_state, tuples)
    }

    /// The formula that a term has a state.
    fn has_state(&self, sort: usize, term: Term, state: State) -> Term {
        let store = self.store;
        let Invariant { encoding, algebra, .. } = self.invariant;
        if self.size(sort) == 1 {
            return Term::TRUE;
        }
        if encoding.components[sort].is_none() {
            let constants =
                encoding.signature.constructors.iter().enumerate().filter(|(_, of)| of.sort == sort);
            let classes = constants.enumerate().filter(|(_, (number, _))| algebra.table(*number)[0] == state);
            return store
                .or_of(classes.map(|(class, _)| encoding.partition.formula(store, term, class as State)));
        }
        if let Some(function) = self.functions[sort] {
            let value = store.apply(function, &[term]).expect("the fold has the sort of the term");
            return match self.size(sort) {
                2 => store.signed(value, state == 1),
                size if usize::from(state) < size - 1 => store.eq(value, store.int(u64::from(state))),
                size => store
                    .not(store.or_of((0..size - 1).map(|other| store.eq(value, store.int(other as u64))))),
            };
        }
        let datatype = store.datatype(encoding.sorts[sort]).expect("other sorts have classes");
        let made_by = |&id: &ConstructorId| {
            let number = encoding.constructors[&id];
            let of = &encoding.signature.constructors[number];
            let fields: Vec<Term> =
                (0..of.fields.len()).map(|field| store.selector(id, field as u32, term)).collect();
            let cells = self.cells(number);
            let cells = cells.iter().filter(|&&(_, value)| value == state).map(|(cell, _)| &**cell);
            store.and2(store.tester(id, term), self.any_of(&of.fields, &fields, &cells.collect::<Vec<_>>()))
        };
        store.or_of(datatype.constructors().iter().map(made_by))
    }
}

/// The formula that the states at all places are one of the tuples, as a decision diagram. By places: the number of states, and the
/// formula that a state is there.
pub(super) fn any_of(
    store: &TermStore,
    sizes: &[usize],
    has_state: impl Fn(usize, State) -> Term,
    tuples: &[&[State]],
) -> Term {
    let mut memo: BTreeMap<(usize, Vec<&[State]>), Term> = BTreeMap::new();
    // Sets of suffixes, from the last argument to the first.
    let mut levels: Vec<Vec<Vec<&[State]>>> = vec![vec![tuples.to_vec()]];
    for (place, &size) in sizes.iter().enumerate() {
        let of_level = levels[place].iter().flat_map(|set| continuations(set, size));
        let mut next: Vec<Vec<&[State]>> = of_level.collect();
        next.sort();
        next.dedup();
        levels.push(next);
    }
    for (place, sets) in levels.into_iter().enumerate().rev() {
        for set in sets {
            let formula = match sizes.get(place) {
                None => store.bool(!set.is_empty()),
                Some(&size) => {
                    let next = continuations(&set, size);
                    // States with the same continuation, by their continuation.
                    let mut groups: Vec<(Term, Vec<State>)> = Vec::new();
                    for (state, continuation) in next.into_iter().enumerate() {
                        let then = memo[&(place + 1, continuation)];
                        match groups.iter_mut().find(|(known, _)| *known == then) {
                            Some((_, states)) => states.push(state as State),
                            None => groups.push((then, vec![state as State])),
                        }
                    }
                    let is_in = |states: &[State]| {
                        // The complement is shorter to write if it has fewer states.
                        let others = (0..size as State).filter(|state| !states.contains(state));
                        let others: Vec<State> = others.collect();
                        let test = |&state: &State| has_state(place, state);
                        if others.len() < states.len() {
                            store.not(store.or_of(others.iter().map(test)))
                        } else {
                            store.or_of(states.iter().map(test))
                        }
                    };
                    store.or_of(groups.iter().map(|(then, states)| store.and2(is_in(states), *then)))
                }
            };
            memo.insert((place, set), formula);
        }
    }
    memo[&(0, tuples.to_vec())]
}

/// By states of the first component: what may follow.
fn continuations<'t>(tuples: &[&'t [State]], size: usize) -> Vec<Vec<&'t [State]>> {
    let mut next: Vec<Vec<&[State]>> = vec![Vec::new(); size];
    for tuple in tuples {
        next[usize::from(tuple[0])].push(&tuple[1..]);
    }
    next
}

/// Whether the values of cells depend on the state at a place.
fn depends_on(cells: &[(Tuple, State)], place: usize) -> bool {
    let mut values: BTreeMap<Tuple, State> = BTreeMap::new();
    cells.iter().any(|(cell, value)| {
        let mut others = cell.clone();
        others[place] = 0;
        *values.entry(others).or_insert(*value) != *value
    })
}

/// The number of sorts that a family depends on.
fn families_below(family: &[usize], sorts: &[usize], reaches: impl Fn(usize, usize) -> bool) -> usize {
    sorts.iter().filter(|&&sort| reaches(family[0], sort)).count()
}
