//! Explicit values: labels fix the values of some tracked variables.
//!
//! The successors of a label along an edge, for the tracked variables:
//!
//! ```text
//! put the known values into the edge's guard and terms
//! the guard is false                          no successor
//! all terms are values, the guard is true     one state
//! at most max-enum combinations of values     one state for each
//! otherwise                                   one state, with the variables that have the same value in all successors
//! ```
//!
//! The last case goes beyond the thesis, which forgets all values that a statement alone does not give. Without a bound (0) the
//! enumeration of unbounded integers does not end.
//!
//! Covering needs no solver: a state contains another one if its equations are a part of the other one's.
//!
//! Á. Hajdu, Z. Micskei, "Efficient strategies for CEGAR-based model checking" (JAR 2020), Section 3.1.1.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use shofar_horn::cfa::CfaEdgeId;
use shofar_logic::{Substitution, Term, TermStore};
use shofar_run::Stop;

use super::super::arg::{AbstractState, Label, is_subset, label_of};
use super::super::precision::Splitting;
use super::super::program::Program;
use super::Domain;
use super::image::{Answer, Example, Image};
use crate::Run;

/// [`Domain::strengthen`] doubles the number of enumerated states up to this one.
const MOST_STATES: usize = 1024;

/// The domain.
pub(super) struct Explicit<'a> {
    run: &'a Run<'a>,
    program: &'a Program<'a>,
    /// The greatest number of states that are enumerated; 0 for any number.
    max_enum: usize,
    /// Indexed by edge, created on demand.
    images: Vec<Option<Image<'a>>>,
    /// The variables and values of the equations in labels.
    equations: FxHashMap<Term, (Term, Term)>,
}

impl<'a> Explicit<'a> {
    pub(super) fn new(run: &'a Run<'a>, program: &'a Program<'a>, max_enum: usize) -> Self {
        let images = program.cfa.edges().map(|_| None).collect();
        Explicit { run, program, max_enum, images, equations: FxHashMap::default() }
    }

    /// The label that gives variables values, as terms.
    fn label(&mut self, values: &[(Term, Term)]) -> Label {
        let store = self.program.store;
        label_of(values.iter().map(|&(variable, value)| {
            let equation = store.eq(variable, value);
            self.equations.insert(equation, (variable, value));
            equation
        }))
    }
}

impl Domain for Explicit<'_> {
    fn post(
        &mut self,
        state: &AbstractState,
        edge: CfaEdgeId,
        tracked: &[Term],
    ) -> Result<Vec<AbstractState>, Stop> {
        let (store, relation) = (self.program.store, self.program.relation(edge));
        let known = state.label.iter().filter_map(|equation| self.equations.get(equation).copied());
        let known: Substitution = known.collect();
        let guard = store.instantiate_all(&relation.guard, &known);
        if guard.contains(&Term::FALSE) {
            return Ok(Vec::new());
        }
        let is_true = guard.iter().all(|&conjunct| conjunct == Term::TRUE);
        let terms = tracked
            .iter()
            .map(|&variable| (variable, store.instantiate(relation.before(store, variable), &known)));
        // Values are terms of their own; all other terms are open.
        let (mut values, open): (Vec<_>, Vec<_>) =
            terms.partition(|&(_, term)| store.term_to_value(term).is_some());
        let mut enumerated = vec![Vec::new()];
        if !(is_true && open.is_empty()) {
            let image = match &mut self.images[edge.index()] {
                Some(image) => image,
                none => none.insert(Image::new(self.run, self.program, edge)?),
            };
            let mut enumeration = Enumeration { store, image, label: &state.label, open: &open };
            match enumeration.states(self.max_enum)? {
                States::All(states) => enumerated = states,
                States::TooMany(constant) => values.extend(constant),
            }
        }
        let mut states = Vec::with_capacity(enumerated.len());
        for further in enumerated {
            let label = self.label(&[&values[..], &further[..]].concat());
            states.push(AbstractState { label, example: None });
        }
        Ok(states)
    }

    fn contains(&mut self, larger: &AbstractState, smaller: &mut AbstractState) -> Result<bool, Stop> {
        Ok(is_subset(&larger.label, &smaller.label))
    }

    fn terms(&self, formula: Term, _: Splitting) -> Vec<Term> {
        self.program.store.free_vars(&[formula])
    }

    /// Enumerates more states.
    fn strengthen(&mut self) -> bool {
        let is_bounded = self.max_enum > 0 && self.max_enum < MOST_STATES;
        if is_bounded {
            self.max_enum *= 2;
        }
        is_bounded
    }

    fn queries(&self) -> u64 {
        self.images.iter().flatten().map(|image| image.queries).sum()
    }
}

/// Variables with their values.
type Values = Vec<(Term, Term)>;

/// The values of open terms in the successors of a label.
enum States {
    /// All combinations.
    All(Vec<Values>),
    /// There are too many; these variables have the same value in all of them.
    TooMany(Values),
}

/// The enumeration of the values of open terms.
struct Enumeration<'e, 'a> {
    store: &'a TermStore,
    image: &'e mut Image<'a>,
    label: &'e [Term],
    /// The variables, each with its term over the edge's variables.
    open: &'e [(Term, Term)],
}

impl Enumeration<'_, '_> {
    /// The values of the open terms in at most `max_enum` successors.
    fn states(&mut self, max_enum: usize) -> Result<States, Stop> {
        if self.image.is_known(self.label, Term::FALSE) {
            return Ok(States::All(Vec::new()));
        }
        if self.open.is_empty() {
            let has_successors = !self.image.examples(self.label).is_empty()
                || !matches!(self.image.ask(self.label, &[], &[Term::FALSE])?, Answer::None);
            return Ok(States::All(vec![Vec::new(); usize::from(has_successors)]));
        }
        self.image.push();
        let found = self.enumerate(max_enum);
        self.image.pop();
        let (states, is_complete) = found?;
        if is_complete { Ok(States::All(states)) } else { Ok(States::TooMany(self.constant(&states)?)) }
    }

    /// Enumerates states in an open frame. Returns whether these are all.
    fn enumerate(&mut self, max_enum: usize) -> Result<(Vec<Values>, bool), Stop> {
        let mut states: Vec<Values> = Vec::new();
        loop {
            let example = match self.image.ask(self.label, &[], &[])? {
                Answer::None => return Ok((states, true)),
                Answer::Some(example) => example,
                Answer::Unknown => return Ok((states, false)),
            };
            let Some(state) = self.values(&example) else { return Ok((states, false)) };
            let equations =
                std::iter::zip(self.open, &state).map(|(&(_, term), &(_, value))| self.store.eq(term, value));
            let equations: Vec<Term> = equations.collect();
            self.image.exclude(&equations)?;
            states.push(state);
            if max_enum > 0 && states.len() > max_enum {
                return Ok((states, false));
            }
        }
    }

    fn values(&self, example: &Rc<Example>) -> Option<Values> {
        let value = |&(variable, term): &(Term, Term)| {
            Some((variable, self.store.value_to_term(&example.value(self.store, term)?)))
        };
        self.open.iter().map(value).collect()
    }

    /// The variables that have the same value in all successors; some successors are known.
    fn constant(&mut self, states: &[Values]) -> Result<Values, Stop> {
        let mut constant = Vec::new();
        let Some((first, others)) = states.split_first() else { return Ok(constant) };
        for (at, &(_, term)) in self.open.iter().enumerate() {
            let equation = self.store.eq(term, first[at].1);
            if others.iter().all(|other| other[at] == first[at])
                && let Answer::None = self.image.ask(self.label, &[self.store.not(equation)], &[equation])?
            {
                constant.push(first[at]);
            }
        }
        Ok(constant)
    }
}
