//! Synchronous automata: which values of folds of several arguments are possible together.
//!
//! Folds whose calls take parts of ghosts read several values at the same time. A clause applies them to different tuples of its
//! variables, such as `lt(x, y)` and `lt(y, x)`. All these applications together are a product automaton that reads all variables
//! at once. Its reachable states are computed by the usual fixpoint, for a tuple of constructors of all variables at a time:
//!
//! ```text
//! repeat until nothing is new
//!     for each tuple of constructors:
//!         unfold the applications; they become applications to tuples of fields
//!         for reachable states of all tuples of fields that agree on common applications: the state of the values is reachable
//! ```
//!
//! A tuple of fields has one field of each variable. Variables without fields are left out, so the automaton for these tuples may
//! read fewer values.
//!
//! That the values have one of these states becomes a joint lemma, which the checker proves like those of the model (`folds.rs`).
//! So nothing rests on this file. What is reachable may be more than what values have: tuples of fields with common components
//! are not independent.
//!
//! *Source.* Yu. Kostyukov, thesis, section 3.2: emptiness of the automaton of a denied clause.

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::{ConstructorId, FoldLemma, Fun, Op, Sort, Substitution, Term, TermStore};

/// Reachable states of a tuple, tuples of constructors, tuples of fields, choices of states, tuples of sorts.
const MOST_STATES: usize = 64;
const MOST_LETTERS: usize = 256;
const MOST_CHILDREN: usize = 32;
const MOST_CHOICES: usize = 10_000;
const MOST_READINGS: usize = 64;

/// Rounds of unfolding at constructors.
const MOST_ROUNDS: usize = 8;

/// An application of a fold to variables, by their numbers.
type Application = (Fun, Vec<usize>);

/// What is read: the sorts of variables and the applications to them.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Reading {
    sorts: Vec<Sort>,
    applications: Vec<Application>,
}

/// A tuple of constructors: the values of the applications, and the tuples of fields that they are about.
struct Letter {
    /// By applications: the value over applications to fields.
    values: Vec<Term>,
    /// The readings of tuples of fields, with the terms of their applications.
    children: Vec<(usize, Vec<Term>)>,
}

/// The readings of some clauses with their letters and reachable states.
#[derive(Default)]
struct Product {
    numbers: FxHashMap<Reading, usize>,
    readings: Vec<Reading>,
    letters: Vec<Vec<Letter>>,
    states: Vec<Vec<Vec<Term>>>,
}

/// Joint lemmas about the applications of synchronous folds to variables in some formulas.
pub(super) fn lemmas(store: &TermStore, formulas: &[Term]) -> Vec<FoldLemma> {
    let normal: Vec<Term> = formulas.iter().map(|&formula| store.normalize(formula)).collect();
    let is_read = |&term: &Term| {
        let arguments = store.args(term);
        let is_variable = |&argument: &Term| {
            matches!(store.op(argument), Op::Var(_)) && store.datatype(store.sort_of(argument)).is_some()
        };
        store.applied_fold(term).is_some() && arguments.iter().all(is_variable)
    };
    let applications: Vec<Term> = store.subterms(&normal).into_iter().filter(is_read).collect();
    let is_synchronous = |term: &Term| store.applied_fold(*term).is_some_and(|fold| fold.changes_ghosts);
    // Other folds may have infinitely many values.
    let synchronous: Vec<Term> = applications.iter().copied().filter(is_synchronous).collect();
    let mut lemmas = Vec::new();
    for group in groups(store, &applications).iter().filter(|group| group.iter().any(is_synchronous)) {
        let fewer: Vec<Term> = group.iter().copied().filter(|term| synchronous.contains(term)).collect();
        lemmas.extend(lemmas_of(store, group).or_else(|| lemmas_of(store, &fewer)).unwrap_or_default());
    }
    lemmas
}

/// The applications that common variables connect.
fn groups(store: &TermStore, applications: &[Term]) -> Vec<Vec<Term>> {
    let mut groups: Vec<Vec<Term>> = Vec::new();
    for &application in applications {
        let is_connected = |group: &mut Vec<Term>| {
            group
                .iter()
                .any(|&other| store.args(other).iter().any(|term| store.args(application).contains(term)))
        };
        let mut joined: Vec<Term> = groups.extract_if(.., is_connected).flatten().collect();
        joined.push(application);
        groups.push(joined);
    }
    groups
}

/// The lemmas about applications to variables; `None` if their automaton is too large.
fn lemmas_of(store: &TermStore, applications: &[Term]) -> Option<Vec<FoldLemma>> {
    let mut product = Product::default();
    let (reading, _) = reading(store, applications, |term| Some(term.index()));
    product.add(reading)?;
    product.close(store)?;
    product.reach(store)?;
    let states = product.readings.iter().zip(&product.states);
    Some(states.filter_map(|(reading, states)| lemma(store, reading, states)).collect())
}

/// The lemma that a reading has one of these states.
fn lemma(store: &TermStore, reading: &Reading, states: &[Vec<Term>]) -> Option<FoldLemma> {
    let parameters: Vec<Term> =
        reading.sorts.iter().map(|&sort| store.var(store.fresh_symbol("value"), sort)).collect();
    let equal = |((fun, variables), &value): (&Application, &Term)| {
        let arguments: Vec<Term> = variables.iter().map(|&variable| parameters[variable]).collect();
        let application = store.apply(*fun, &arguments).expect("the sorts fit");
        match store.sort_of(value) {
            Sort::BOOL => store.iff(application, value),
            _ => store.eq(application, value),
        }
    };
    let is_state = |state: &Vec<Term>| store.and_of(reading.applications.iter().zip(state).map(equal));
    let formula = store.or_of(states.iter().map(is_state));
    (!parameters.is_empty()).then_some(FoldLemma { parameters: parameters.into(), formula })
}

/// The reading of applications to variables, and the applications in its order. Variables are in the order of the key.
fn reading<K: Ord>(
    store: &TermStore,
    applications: &[Term],
    key: impl Fn(Term) -> Option<K>,
) -> (Reading, Vec<Term>) {
    let mut variables: Vec<Term> = applications.iter().flat_map(|&term| store.args(term)).copied().collect();
    variables.sort_by_key(|&variable| key(variable));
    variables.dedup();
    let number = |term: &Term| variables.iter().position(|variable| variable == term).unwrap_or(0);
    let read = |&term: &Term| {
        let Op::Apply(fun) = store.op(term) else { return None };
        Some(((fun, store.args(term).iter().map(number).collect::<Vec<usize>>()), term))
    };
    let mut read: Vec<(Application, Term)> = applications.iter().filter_map(read).collect();
    read.sort();
    read.dedup();
    let (applications, terms) = read.into_iter().unzip();
    let sorts = variables.iter().map(|&variable| store.sort_of(variable)).collect();
    (Reading { sorts, applications }, terms)
}

impl Product {
    /// The number of a reading; `None` if there are too many.
    fn add(&mut self, reading: Reading) -> Option<usize> {
        let next = self.readings.len();
        let number = *self.numbers.entry(reading.clone()).or_insert(next);
        if number == next {
            self.readings.push(reading);
        }
        (next <= MOST_READINGS).then_some(number)
    }

    /// Adds the letters of all readings, and the readings of their children.
    fn close(&mut self, store: &TermStore) -> Option<()> {
        while let Some(reading) = self.readings.get(self.letters.len()).cloned() {
            let mut letters = Vec::new();
            for constructors in tuples(&constructors(store, &reading.sorts)?, MOST_LETTERS)? {
                letters.push(self.letter(store, &reading, &constructors)?);
            }
            self.letters.push(letters);
        }
        self.states = vec![Vec::new(); self.readings.len()];
        Some(())
    }

    fn letter(
        &mut self,
        store: &TermStore,
        reading: &Reading,
        constructors: &[ConstructorId],
    ) -> Option<Letter> {
        // By fields: the variable and the position.
        let mut places: FxHashMap<Term, (usize, usize)> = FxHashMap::default();
        let mut fields: Vec<Vec<Term>> = Vec::new();
        let mut values: Vec<Term> = Vec::new();
        for (variable, &id) in constructors.iter().enumerate() {
            let of = store.constructor(id).fields.iter().enumerate();
            let of = of.map(|(position, &(_, sort))| {
                let field = store.var(store.symbol(&format!("field{variable}.{position}")), sort);
                places.insert(field, (variable, position));
                field
            });
            let of: Vec<Term> = of.collect();
            values.push(store.construct_term(id, &of));
            fields.push(
                of.into_iter().filter(|&field| store.datatype(store.sort_of(field)).is_some()).collect(),
            );
        }
        let unfolded = |(fun, variables): &Application| {
            let arguments: Vec<Term> = variables.iter().map(|&variable| values[variable]).collect();
            unfold(store, store.apply(*fun, &arguments).ok()?)
        };
        let values = reading.applications.iter().map(unfolded).collect::<Option<Vec<Term>>>()?;
        let is_application = |&term: &Term| store.applied_fold(term).is_some();
        let applications: Vec<Term> = store.subterms(&values).into_iter().filter(is_application).collect();
        // Each application is to fields of different variables.
        for &application in &applications {
            let mut seen: FxHashSet<usize> = FxHashSet::default();
            for argument in store.args(application) {
                let &(variable, _) = places.get(argument)?;
                let is_again = !seen.insert(variable);
                if is_again
                    && store.args(application).iter().any(|other| {
                        other != argument && places.get(other).is_some_and(|&(of, _)| of == variable)
                    })
                {
                    return None;
                }
            }
        }
        let choices: Vec<Vec<Option<Term>>> = fields
            .iter()
            .map(|fields| match fields.is_empty() {
                true => vec![None],
                false => fields.iter().copied().map(Some).collect(),
            })
            .collect();
        let mut children: Vec<(usize, Vec<Term>)> = Vec::new();
        for tuple in tuples(&choices, MOST_CHILDREN)? {
            let is_of = |&&application: &&Term| {
                store.args(application).iter().all(|argument| tuple.contains(&Some(*argument)))
            };
            let of: Vec<Term> = applications.iter().filter(is_of).copied().collect();
            if of.is_empty() {
                continue;
            }
            let (child, terms) = self::reading(store, &of, |field| places.get(&field).copied());
            let child = (self.add(child)?, terms);
            if !children.contains(&child) {
                children.push(child);
            }
        }
        Some(Letter { values, children })
    }

    /// Computes the reachable states; `None` if there are too many.
    fn reach(&mut self, store: &TermStore) -> Option<()> {
        loop {
            let mut is_new = false;
            for number in 0..self.readings.len() {
                for letter in &self.letters[number] {
                    for state in self.successors(store, letter)? {
                        if !self.states[number].contains(&state) {
                            self.states[number].push(state);
                            is_new = true;
                        }
                    }
                    if self.states[number].len() > MOST_STATES {
                        return None;
                    }
                }
            }
            if !is_new {
                return Some(());
            }
        }
    }

    /// The states for a letter by those of its children.
    fn successors(&self, store: &TermStore, letter: &Letter) -> Option<Vec<Vec<Term>>> {
        let mut choices: Vec<FxHashMap<Term, Term>> = vec![FxHashMap::default()];
        for (child, terms) in &letter.children {
            let mut extended: Vec<FxHashMap<Term, Term>> = Vec::new();
            for choice in &choices {
                for state in &self.states[*child] {
                    let mut pairs = terms.iter().zip(state);
                    if pairs.all(|(term, value)| choice.get(term).is_none_or(|known| known == value)) {
                        let mut choice = choice.clone();
                        choice.extend(terms.iter().copied().zip(state.iter().copied()));
                        extended.push(choice);
                    }
                }
                if extended.len() > MOST_CHOICES {
                    return None;
                }
            }
            choices = extended;
        }
        let mut found: Vec<Vec<Term>> = Vec::new();
        for choice in &choices {
            let value = |&value: &Term| {
                let value = store.rewrite(value, &mut |op, args| {
                    let term = store.build(op, args).expect("states have the sorts of applications");
                    choice.get(&term).copied().unwrap_or(term)
                });
                let value = store.normalize(value);
                store.term_to_value(value).map(|_| value)
            };
            let state = letter.values.iter().map(value).collect::<Option<Vec<Term>>>()?;
            if !found.contains(&state) {
                found.push(state);
            }
        }
        Some(found)
    }
}

/// The term with applications to constructor terms unfolded; `None` if that does not end soon.
fn unfold(store: &TermStore, term: Term) -> Option<Term> {
    let mut term = term;
    for _ in 0..MOST_ROUNDS {
        let is_open = |&part: &Term| {
            store.applied_fold(part).is_some() && matches!(store.op(store.args(part)[0]), Op::Construct(_))
        };
        let open: Vec<Term> = store.subterms(&[term]).into_iter().filter(is_open).collect();
        if open.is_empty() {
            return Some(term);
        }
        let unfolded: FxHashMap<Term, Term> =
            open.into_iter().filter_map(|part| Some((part, store.unfold(part)?))).collect();
        let rewritten = store.rewrite(term, &mut |op, args| {
            let part = store.build(op, args).expect("the sorts are the same");
            unfolded.get(&part).copied().unwrap_or(part)
        });
        term = store.instantiate(rewritten, &Substitution::default());
    }
    None
}

/// By sorts: the constructors.
fn constructors(store: &TermStore, sorts: &[Sort]) -> Option<Vec<Vec<ConstructorId>>> {
    sorts.iter().map(|&sort| Some(store.datatype(sort)?.constructors().to_vec())).collect()
}

/// One element of each list, in all ways; `None` if there are too many.
fn tuples<T: Clone>(lists: &[Vec<T>], most: usize) -> Option<Vec<Vec<T>>> {
    let mut tuples: Vec<Vec<T>> = vec![Vec::new()];
    for list in lists {
        if tuples.len() * list.len() > most {
            return None;
        }
        let longer = |tuple: &Vec<T>| {
            list.iter()
                .map(|element| [&tuple[..], std::slice::from_ref(element)].concat())
                .collect::<Vec<Vec<T>>>()
        };
        tuples = tuples.iter().flat_map(longer).collect();
    }
    Some(tuples)
}
