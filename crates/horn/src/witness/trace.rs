//! Refutations as program runs: facts in the order of their derivation, each with the previous values.
//!
//! ```text
//! order    the premises of a step in the order of its body, each with all that leads to it, then the step
//! level    premises stand one level deeper than the step where there are several, on its level otherwise
//! before   for each argument of the fact, the value that it replaces
//! ```
//!
//! - T1: each step that the query depends on occurs once, after its premises. Further uses refer to it.
//! - T2: all levels are zero if no step has several premises; then the premise of each step is the line above it.
//!
//! An argument replaces the one in the same position of the premise with the same predicate. Between predicates, an
//! argument that the clause passes on, as the same variable, replaces its source if both have the same name, and none
//! otherwise. Any other argument replaces one of the same name and sort in a premise, unless the clause passes that one
//! on; or else, on a path without branches, the one in the same position at the last occurrence of the predicate. Names
//! are the [`parameters`]. (Names alone would not do: many tools call the variables of each clause A, B, C anew.)

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::{Term, TermStore, Value};

use super::{Refutation, Step, parameters};
use crate::system::{HornSystem, PredicateId};

/// A refutation in program order.
pub struct Trace<'a> {
    system: &'a HornSystem,
    refutation: &'a Refutation,
    parameters: Vec<Box<[Term]>>,
    lines: Vec<Line>,
    /// The line of each step.
    line_of: FxHashMap<usize, usize>,
}

/// A step with its level.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Line {
    /// The index of the step in the refutation.
    pub step: usize,
    /// Its level of indentation.
    pub level: usize,
    /// The line of the previous occurrence of its predicate.
    again: Option<usize>,
}

/// An argument of a fact.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Argument<'a> {
    /// Its name.
    pub parameter: Term,
    /// Its value.
    pub value: &'a Value,
    /// The value that it replaces, if any.
    pub before: Option<&'a Value>,
}

impl Argument<'_> {
    /// Whether the value replaces another one.
    pub fn is_changed(&self) -> bool {
        self.before.is_some_and(|before| before != self.value)
    }
}

impl<'a> Trace<'a> {
    /// The refutation of a system, in program order.
    pub fn new(store: &TermStore, system: &'a HornSystem, refutation: &'a Refutation) -> Self {
        let lines = lines(system, refutation);
        let line_of = lines.iter().enumerate().map(|(number, line)| (line.step, number)).collect();
        Trace { system, refutation, parameters: parameters(store, system), lines, line_of }
    }

    /// The steps in program order.
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// The step of a line.
    pub fn step(&self, line: usize) -> &'a Step {
        &self.refutation.steps[self.lines[line].step]
    }

    /// The predicate of the fact of a line; `None` for `false`.
    pub fn predicate(&self, line: usize) -> Option<PredicateId> {
        self.system.clauses[self.step(line).clause].head.as_ref().map(|head| head.predicate)
    }

    /// The lines of the premises, in the order of the body.
    pub fn premises(&self, line: usize) -> Vec<usize> {
        self.step(line).premises.iter().filter_map(|premise| self.line_of.get(premise).copied()).collect()
    }

    /// Whether no step has several premises.
    pub(crate) fn is_path(&self) -> bool {
        self.lines.iter().all(|line| self.refutation.steps[line.step].premises.len() <= 1)
    }

    /// The arguments of the fact of a line.
    pub fn arguments(&self, line: usize) -> Vec<Argument<'a>> {
        let Some(predicate) = self.predicate(line) else { return Vec::new() };
        let fact = &self.step(line).fact;
        let premises = self.premises(line);
        let same = premises.iter().rev().find(|&&premise| self.predicate(premise) == Some(predicate));
        let clause = &self.system.clauses[self.step(line).clause];
        let targets = clause.head.as_ref().map_or(&[][..], |head| &head.args);
        let is_passed_on: FxHashSet<Term> = targets.iter().copied().collect();
        let mut by_name: FxHashMap<Term, &'a Value> = FxHashMap::default();
        let mut by_variable: FxHashMap<Term, (Term, &'a Value)> = FxHashMap::default();
        for (&premise, atom) in premises.iter().zip(&clause.body).rev() {
            for ((name, value), &source) in self.named_values(premise).zip(&atom.args) {
                by_variable.insert(source, (name, value));
                if !is_passed_on.contains(&source) {
                    by_name.insert(name, value);
                }
            }
        }
        // Without a premise, something new begins.
        let again =
            self.lines[line].again.filter(|_| premises.len() == 1).map(|again| &self.step(again).fact);
        let argument = |(position, value): (usize, &'a Value)| {
            let parameter = self.parameters[predicate.index()][position];
            let before = match same {
                Some(&same) => self.step(same).fact.get(position),
                None => match targets.get(position).and_then(|target| by_variable.get(target)) {
                    Some(&(name, value)) => (name == parameter).then_some(value),
                    None => by_name.get(&parameter).copied().or_else(|| again?.get(position)),
                },
            };
            Argument { parameter, value, before }
        };
        fact.iter().take(self.parameters[predicate.index()].len()).enumerate().map(argument).collect()
    }

    fn named_values(&self, line: usize) -> impl Iterator<Item = (Term, &'a Value)> + '_ {
        let parameters = self.predicate(line).map(|predicate| &self.parameters[predicate.index()]);
        parameters.into_iter().flatten().copied().zip(&self.step(line).fact)
    }
}

/// The steps that the last one rests on, by a search in depth that leaves a step after its premises.
fn lines(system: &HornSystem, refutation: &Refutation) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    let mut last_of: FxHashMap<PredicateId, usize> = FxHashMap::default();
    let mut is_seen = vec![false; refutation.steps.len()];
    // Open steps with their levels and the numbers of visited premises.
    let mut path: Vec<(usize, usize, usize)> = Vec::new();
    path.extend(refutation.steps.len().checked_sub(1).map(|last| (last, 0, 0)));
    while let Some((step, level, next)) = path.last_mut() {
        let (step, level) = (*step, *level);
        let content = &refutation.steps[step];
        if let Some(&premise) = content.premises.get(*next) {
            *next += 1;
            // Premises have smaller indices, so no step is its own premise.
            if premise < step && !std::mem::replace(&mut is_seen[premise], true) {
                path.push((premise, level + usize::from(content.premises.len() > 1), 0));
            }
            continue;
        }
        path.pop();
        let predicate = system.clauses[content.clause].head.as_ref().map(|head| head.predicate);
        let again = predicate.and_then(|predicate| last_of.insert(predicate, lines.len()));
        lines.push(Line { step, level, again });
    }
    lines
}
