//! From what the search has found to witnesses of the transition system.
//!
//! **Invariants.** Let `T` be a safe transition invariant for paths from initial states. The states to which it leads from
//! these, `exists X. Init(X), T(X, X')`, exclude bad ones and are k-inductive with the `k` of `T`:
//! they contain the states of the first `k` steps, and the step by `k` leads from them to themselves. So
//! [`to_inductive`] finds an inductive invariant within. If `T` is relative to bad states, `exists X'. T(X, X'), Bad(X')`
//! has the same property in the system in which time runs backwards, and the complement of the inductive one is an
//! inductive invariant. The variables are eliminated; equations of `Init` or `Bad` that define them are used at first, since
//! this leaves the lemmas as they are.
//!
//! **Paths.** A summary with values for its two ends is unfolded from the top: a composition has a state in between (S1),
//! which is evaluated if the first half is a function of its first state, and asked of a solver if not. A path of a million
//! steps takes a million such states and no more: the stack holds one entry for each level.

use rustc_hash::FxHashMap;
use shofar_horn::ground::complete;
use shofar_horn::graph::rename;
use shofar_horn::transform::solve_equations;
use shofar_logic::{Assignment, Term, Value};

use super::Search;
use super::fixpoint::{Fixpoint, Relation, Side};
use super::powers::Count;
use super::summaries::{Origin, SummaryId};
use crate::Stop;
use crate::eliminate::eliminate_all_but;
use crate::k_inductive::to_inductive;
use crate::kind::reversed;
use crate::unroll::value;

/// The greatest number of steps of an induction that is made one of a single step; that takes paths of this length.
const MOST_STEPS: usize = 256;

impl Search<'_> {
    /// An inductive invariant without bad states.
    pub(super) fn invariant(&mut self, fixpoint: Fixpoint) -> Result<Term, Stop> {
        let (store, run) = (self.store, self.run);
        let k = 1_usize
            .checked_shl(u32::try_from(fixpoint.step).unwrap_or(u32::MAX))
            .filter(|&k| k <= MOST_STEPS)
            .ok_or(Stop::Exhausted("an induction by too many steps"))?;
        let relation = self.relation(fixpoint);
        let vectors = &self.powers.vectors;
        match fixpoint.side {
            Side::Left => {
                let states = eliminate_all_but(run, store.and2(self.init, relation), &vectors.next)?;
                let states = rename(store, states, &vectors.next, &vectors.state);
                to_inductive(run, self.system, states, k)
            }
            Side::Right => {
                let states = eliminate_all_but(run, store.and2(relation, self.bad), &vectors.state)?;
                let states = rename(store, states, &vectors.state, &vectors.next);
                let inductive = to_inductive(run, &reversed(store, self.system), states, k)?;
                Ok(store.not(rename(store, inductive, &vectors.next, &vectors.state)))
            }
        }
    }

    /// A transition invariant as a formula about the first and the last state, and one in between.
    fn relation(&self, fixpoint: Fixpoint) -> Term {
        let powers = &self.powers;
        let [state, middle, next] = [&powers.vectors.state, &powers.vectors.middle, &powers.vectors.next];
        match fixpoint.relation {
            Relation::Element(count, level) => powers.element(count, level, state, next),
            Relation::Composed(level) => {
                let below = |from, to| powers.element(Count::Below, level, from, to);
                let exactly = |from, to| powers.element(Count::Exactly, level, from, to);
                let composed = match fixpoint.side {
                    Side::Left => self.store.and2(below(state, middle), exactly(middle, next)),
                    Side::Right => self.store.and2(exactly(state, middle), below(middle, next)),
                };
                self.store.or2(below(state, next), composed)
            }
        }
    }

    /// The states of a path of a summary, from an initial to a bad one.
    pub(super) fn path(&mut self, summary: SummaryId) -> Result<Vec<Box<[Value]>>, Stop> {
        let literals = self.summaries.get(summary).literals.clone();
        let formulas = [&[self.init], &*literals, &[self.bad]].concat();
        let model = self.solve_together(&formulas)?;
        let model = model.ok_or_else(|| Stop::Internal("a summary connects no states".to_owned()))?;
        let values = |variables: &[Term]| -> Box<[Value]> {
            variables.iter().map(|&variable| value(self.store, &model, variable)).collect()
        };
        let (first, last) = (values(&self.powers.vectors.state), values(&self.powers.vectors.next));
        let mut unfolding = Unfolding { search: self, functions: FxHashMap::default(), relations: FxHashMap::default() };
        let mut states = vec![first];
        let mut open = vec![(summary, last)];
        while let Some((summary, last)) = open.pop() {
            match unfolding.search.summaries.get(summary).origin {
                Origin::Stutter => {}
                Origin::Transition => {
                    states.push(last);
                    if states.len().is_multiple_of(POLL_INTERVAL) {
                        unfolding.search.poll()?;
                    }
                }
                Origin::Composition(first, second) => {
                    let start = states.last().expect("a path has a first state");
                    let middle = unfolding.between(first, second, start, &last)?;
                    open.push((second, last));
                    open.push((first, middle));
                }
            }
        }
        Ok(states)
    }
}

/// Steps of a path between two looks at the clock.
const POLL_INTERVAL: usize = 1 << 10;

/// What is needed again and again when a path is unfolded.
struct Unfolding<'s, 'a> {
    search: &'s Search<'a>,
    /// The last state as terms over the first one, where a summary is a function.
    functions: FxHashMap<SummaryId, Option<Box<[Term]>>>,
    /// Compositions as formulas.
    relations: FxHashMap<(SummaryId, SummaryId), Term>,
}

impl Unfolding<'_, '_> {
    /// A state in between.
    fn between(
        &mut self,
        first: SummaryId,
        second: SummaryId,
        start: &[Value],
        end: &[Value],
    ) -> Result<Box<[Value]>, Stop> {
        let Search { store, powers, run, .. } = self.search;
        let vectors = &powers.vectors;
        if let Some(function) = self.functions.entry(first).or_insert_with(|| function(self.search, first)) {
            let mut at_start = Assignment::new();
            for (&variable, value) in vectors.state.iter().zip(start) {
                at_start.set(variable, value.clone());
            }
            let middle: Result<Box<[Value]>, _> =
                function.iter().map(|&term| store.eval(term, &at_start)).collect();
            if let Ok(middle) = middle {
                return Ok(middle);
            }
        }
        let relation = *self
            .relations
            .entry((first, second))
            .or_insert_with(|| store.and(&self.search.composed(first, second)));
        let variables = vectors.state.iter().chain(&vectors.next).copied();
        let given = variables.zip(start.iter().chain(end).cloned());
        Ok(complete(&run.context(), relation, given, &vectors.middle)?.into())
    }
}

/// The last state of a summary as terms over the first one, if its equations say so.
fn function(search: &Search<'_>, summary: SummaryId) -> Option<Box<[Term]>> {
    let vectors = &search.powers.vectors;
    let formula = search.store.and(&search.summaries.get(summary).literals);
    let solved = solve_equations(search.store, formula, |variable| vectors.next.contains(&variable).then_some(0));
    let definitions: FxHashMap<Term, Term> = solved.definitions.into_iter().collect();
    vectors.next.iter().map(|variable| definitions.get(variable).copied()).collect()
}
