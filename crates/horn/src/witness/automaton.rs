//! Tree automata: the recursive functions that have finitely many values.
//!
//! A fold whose cases depend only on its own values at the fields is a deterministic bottom-up tree automaton, if it has finitely
//! many values. These are its states, in the order in which they are found:
//!
//! ```text
//! leaf -> false        node(false, _) -> true        node(true, _) -> false
//! ```
//!
//! A rule has no state where every state gives the same.

use rustc_hash::FxHashMap;
use shofar_logic::{ConstructorId, FoldCase, Fun, Op, Sort, Term, TermStore};

use crate::infix::{Fit, Notation};

/// States, and rules before those with equal results are joined.
const MOST_STATES: usize = 16;
const MOST_RULES: usize = 600;

/// A deterministic bottom-up tree automaton.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TreeAutomaton {
    /// The sort of the values that it reads.
    pub sort: Sort,
    /// The reachable states, which are values of the function.
    pub states: Vec<Term>,
    /// The rules, in the order of the constructors.
    pub rules: Vec<AutomatonRule>,
}

/// A rule of an automaton: the state of the values that a constructor makes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AutomatonRule {
    /// The constructor.
    pub constructor: ConstructorId,
    /// For each field: the index of its state, if the rule asks for one.
    pub sources: Vec<Option<usize>>,
    /// The index of the state of the value.
    pub target: usize,
}

impl TreeAutomaton {
    /// The automaton of a fold; `None` if the fold has ghosts, depends on more than its own values, or has too many states.
    pub fn of(store: &TermStore, fun: Fun) -> Option<Self> {
        let fold = store.fold(fun).filter(|fold| fold.ghosts.is_empty() && fold.family.len() == 1)?;
        let sort = fold.sort(store);
        let at = |field: Term| store.apply(fun, &[field]).ok();
        let mut automaton = TreeAutomaton { sort, states: Vec::new(), rules: Vec::new() };
        let read = |case: &FoldCase| -> Option<Vec<bool>> {
            let is_state = |term: Term| case.fields.iter().any(|&field| at(field) == Some(term));
            let parts = store.subterms_until(&[case.value], is_state);
            let is_free =
                |&part: &Term| matches!(store.op(part), Op::Var(_) | Op::Apply(_)) && !is_state(part);
            let reads = |&field: &Term| at(field).is_some_and(|state| parts.contains(&state));
            (!parts.iter().any(is_free)).then(|| case.fields.iter().map(reads).collect())
        };
        let reads = fold.cases.iter().map(read).collect::<Option<Vec<_>>>()?;
        // Each round takes the states of the round before.
        loop {
            let known = automaton.states.len();
            automaton.rules.clear();
            for (case, reads) in fold.cases.iter().zip(&reads) {
                for sources in choices(reads, known)? {
                    let states: FxHashMap<Term, Term> = case
                        .fields
                        .iter()
                        .zip(&sources)
                        .filter_map(|(&field, &source)| Some((at(field)?, automaton.states[source?])))
                        .collect();
                    let value = store.rewrite(case.value, &mut |op, args| {
                        let term = store.build(op, args).expect("states have the sorts of applications");
                        states.get(&term).copied().unwrap_or(term)
                    });
                    store.term_to_value(value)?;
                    let target = automaton.state(value);
                    automaton.rules.push(AutomatonRule { constructor: case.constructor, sources, target });
                }
            }
            if automaton.states.len() > MOST_STATES {
                return None;
            }
            if automaton.states.len() == known {
                automaton.join_rules();
                return Some(automaton);
            }
        }
    }

    fn state(&mut self, value: Term) -> usize {
        self.states.iter().position(|&state| state == value).unwrap_or_else(|| {
            self.states.push(value);
            self.states.len() - 1
        })
    }

    /// Replaces the rules that differ only in the state of one field, for all states, by one rule.
    fn join_rules(&mut self) {
        let mut position = 0;
        while let Some(rule) = self.rules.get(position).cloned() {
            let is_joined = |field: &usize| {
                let with = |state: usize| {
                    let mut other = rule.clone();
                    other.sources[*field] = Some(state);
                    other
                };
                rule.sources[*field].is_some()
                    && (0..self.states.len()).all(|state| self.rules.contains(&with(state)))
            };
            match (0..rule.sources.len()).find(is_joined) {
                Some(field) => {
                    let mut joined = rule;
                    let is_covered = |other: &AutomatonRule| {
                        let mut other = other.clone();
                        other.sources[field] = joined.sources[field];
                        other == joined
                    };
                    self.rules.retain(|other| other.constructor != joined.constructor || !is_covered(other));
                    joined.sources[field] = None;
                    self.rules.insert(position.min(self.rules.len()), joined);
                }
                None => position += 1,
            }
        }
        self.rules.sort_by_key(|rule| rule.constructor);
    }
}

impl AutomatonRule {
    /// `node(false, _) -> true`.
    pub fn text(&self, store: &TermStore, notation: Notation, automaton: &TreeAutomaton) -> String {
        let state = |state: usize| notation.term(store, automaton.states[state], Fit::line(8));
        format!("{} {} {}", self.pattern(store, notation, automaton), notation.arrow(), state(self.target))
    }

    /// `node(false, _)`.
    pub fn pattern(&self, store: &TermStore, notation: Notation, automaton: &TreeAutomaton) -> String {
        let name = notation.name(store, store.constructor(self.constructor).name);
        let state = |source: &Option<usize>| match *source {
            Some(state) => notation.term(store, automaton.states[state], Fit::line(8)),
            None => "_".to_owned(),
        };
        let sources: Vec<String> = self.sources.iter().map(state).collect();
        if sources.is_empty() { name } else { format!("{name}({})", sources.join(", ")) }
    }
}

/// All choices of states for the fields that a case reads; `None` if they are too many.
fn choices(reads: &[bool], states: usize) -> Option<Vec<Vec<Option<usize>>>> {
    let mut choices: Vec<Vec<Option<usize>>> = vec![Vec::new()];
    for &reads in reads {
        let options: Vec<Option<usize>> = if reads { (0..states).map(Some).collect() } else { vec![None] };
        let extended = choices.iter().flat_map(|choice| {
            options.iter().map(move |&option| choice.iter().copied().chain([option]).collect())
        });
        choices = extended.take(MOST_RULES + 1).collect();
        if choices.len() > MOST_RULES {
            return None;
        }
    }
    Some(choices)
}
