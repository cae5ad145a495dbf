//! Paths from summaries.
//!
//! A summary with values for its two ends is unfolded from the top. A composition has a state in between (S1). It is
//! evaluated if the first half is a function of its first state; otherwise a solver finds it. A path of a million steps
//! takes a million such states and no more memory: the stack holds one entry per level.

use rustc_hash::FxHashMap;
use shofar_horn::ground::complete;
use shofar_horn::transform::solve_equations;
use shofar_logic::{Assignment, Term, Value};
use shofar_run::Stop;

use super::Search;
use super::summaries::{Origin, SummaryId};

impl Search<'_> {
    /// The states of a path that follows a summary between two states that it connects.
    pub(super) fn path(
        &mut self,
        summary: SummaryId,
        first: Box<[Value]>,
        last: Box<[Value]>,
    ) -> Result<Vec<Box<[Value]>>, Stop> {
        let mut unfolding =
            Unfolding { search: self, functions: FxHashMap::default(), relations: FxHashMap::default() };
        let mut states = vec![first];
        let mut open = vec![(summary, last)];
        while let Some((summary, last)) = open.pop() {
            match unfolding.search.summaries.get(summary).origin {
                Origin::Stutter => {}
                Origin::Transition => {
                    states.push(last);
                    if states.len().is_multiple_of(POLL_INTERVAL) {
                        unfolding.search.run.go_on()?;
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

/// Steps of a path between two polls of the limits.
const POLL_INTERVAL: usize = 1 << 10;

/// Caches for the unfolding of a path.
struct Unfolding<'s, 'a> {
    search: &'s Search<'a>,
    /// The last state as terms over the first one, if the summary is a function.
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
        Ok(complete(run, relation, given, &vectors.middle)?.into())
    }
}

/// The last state of a summary as terms over the first one, if equations define it.
fn function(search: &Search<'_>, summary: SummaryId) -> Option<Box<[Term]>> {
    let vectors = &search.powers.vectors;
    let formula = search.store.and(&search.summaries.get(summary).literals);
    let solved =
        solve_equations(search.store, formula, |variable| vectors.next.contains(&variable).then_some(0));
    let definitions: FxHashMap<Term, Term> = solved.definitions.into_iter().collect();
    vectors.next.iter().map(|variable| definitions.get(variable).copied()).collect()
}
