//! Bounded reachability, from the abstract to the concrete.
//!
//! ```text
//! reach(count, n, source, target):                         paths of the halves of count at level n, i.e. up to 2^(n+1) steps
//!     a summary of level n+1 leads from source to target:  return it
//!     loop
//!         no composition of level n does:                  learn a lemma of level n+1; return nothing
//!         n = 0:                                           it is exact; return the summary around the model
//!         the model leaves out the second half:            reach(first, n-1, source, target), or continue
//!         middle    <- projection of the composition on the state in between
//!         half      <- reach(first, n-1, source, middle), or continue
//!         rest      <- reach(second, n-1, half, target), or continue
//!         return the composition of both summaries
//! ```
//!
//! - R1: if nothing is returned, no path of the count at level `n + 1` leads from a source to a target, by A1.
//! - R2: the returned states are targets, and the summary leads to each of them from a source, by S1 and because
//!   projections imply the projected formula.
//!
//! Each `continue` makes progress: the call that returned nothing strengthened an element of level `n` by a lemma that
//! excludes the pair of states in the model.

use shofar_horn::graph::rename;
use shofar_logic::{Assignment, Term};
use shofar_run::Stop;
use shofar_smt::project::{Bounds, Status, eliminate};

use super::composition::{Composition, Connection, Reply};
use super::powers::{Count, Level};
use super::summaries::{Origin, SummaryId};
use super::{Intermediate, Search};

/// Reached states, and the summary that reaches them (R2).
pub(super) struct Reached {
    pub(super) summary: SummaryId,
    /// A cube over the last state.
    pub(super) states: Vec<Term>,
}

/// The maximal number of disjuncts of the states in between. With more, projection around the model is used.
const MOST_DISJUNCTS: usize = 64;

impl Search<'_> {
    /// Searches for a path from a source to a target, composed of the halves of the count at the level. Both are
    /// conjunctions: the source over the first state, the target over the last state.
    pub(super) fn reach(
        &mut self,
        count: Count,
        level: Level,
        source: &[Term],
        target: &[Term],
    ) -> Result<Option<Reached>, Stop> {
        if let Some(reached) = self.recall(count, level + 1, source, target)? {
            return Ok(Some(reached));
        }
        let (first, second) = count.halves();
        loop {
            self.run.go_on()?;
            let Some(Connection { model, is_half }) = self.connect(count, level, source, target)? else {
                return Ok(None);
            };
            if level == 0 {
                let reached = self.reach_in_steps(count, is_half, &model, source, target)?;
                self.summaries.list(self.run, count, 1, reached.summary)?;
                return Ok(Some(reached));
            }
            let reached = if is_half {
                self.reach(first, level - 1, source, target)?
            } else {
                let middle = self.intermediate(count, level, &model, source, target)?;
                let Some(half) = self.reach(first, level - 1, source, &middle)? else { continue };
                let from = self.at_first(&half.states);
                let Some(rest) = self.reach(second, level - 1, &from, target)? else { continue };
                let summary = self.compose(half.summary, rest.summary, source, target)?;
                Some(Reached { summary, states: rest.states })
            };
            let Some(reached) = reached else { continue };
            self.summaries.list(self.run, count, level + 1, reached.summary)?;
            return Ok(Some(reached));
        }
    }

    /// After no path of a level was found from the initial to the bad states: a superset of the initial states from
    /// which no path of that level leads to bad states, without local variables.
    pub(super) fn safe_initial_states(&self, level: Level) -> Result<Term, Stop> {
        let mut safe = Vec::new();
        for &count in self.counts() {
            let Some(composition) = self.compositions.get(&(count, level)) else { continue };
            safe.push(composition.safe_sources(self.run, &self.interpolation, &self.init)?);
        }
        Ok(self.store.and(&safe))
    }

    /// Tries the known summaries.
    fn recall(
        &mut self,
        count: Count,
        level: Level,
        source: &[Term],
        target: &[Term],
    ) -> Result<Option<Reached>, Stop> {
        let found = self.summaries.find(self.run, count, level, source, target)?;
        let Some((summary, model)) = found else { return Ok(None) };
        self.statistics.recalled += 1;
        let states = self.reached_by(summary, &model, source, target)?;
        Ok(Some(Reached { summary, states }))
    }

    /// Asks whether the composition of the halves of the count leads from a source to a target. If not, learns a lemma.
    fn connect(
        &mut self,
        count: Count,
        level: Level,
        source: &[Term],
        target: &[Term],
    ) -> Result<Option<Connection>, Stop> {
        self.statistics.queries += 1;
        let run = self.run;
        let composition =
            self.compositions.entry((count, level)).or_insert_with(|| Composition::new(run, count, level));
        match composition.query(run, &self.powers, &self.interpolation, source, target)? {
            Reply::Connected(connection) => Ok(Some(connection)),
            Reply::Separated(separation) => {
                self.statistics.lemmas += 1;
                self.statistics.fallbacks += u64::from(!separation.from_proof);
                self.powers.strengthen(count, level + 1, separation.lemma);
                Ok(None)
            }
        }
    }

    /// At level 0: the summary and the states around a model of the composition, which is exact.
    fn reach_in_steps(
        &mut self,
        count: Count,
        is_half: bool,
        model: &Assignment,
        source: &[Term],
        target: &[Term],
    ) -> Result<Reached, Stop> {
        let mut summary = SummaryId::STUTTER;
        let composition = self.compositions.get(&(count, 0));
        let steps = composition.map_or([None; 2], |composition| composition.steps);
        for (half, step) in steps.into_iter().enumerate() {
            let Some(step) = step.filter(|_| !is_half) else { continue };
            // A half may be the identity: skip the transition if the model does not take it or the state stays the
            // same.
            if !self.is_true(step, model) {
                continue;
            }
            let vectors = &self.powers.vectors;
            let (from, to) = [(&vectors.state, &vectors.middle), (&vectors.middle, &vectors.next)][half];
            let (from, to) = (from.clone(), to.clone());
            if count == Count::AtMost && self.is_true(self.powers.identity(&from, &to), model) {
                continue;
            }
            let mut locals = self.store.free_vars(&[step]);
            locals.retain(|variable| !from.contains(variable) && !to.contains(variable));
            let literals = self.project(&[step], model, &locals)?;
            let literals = self.renamed(&literals, &from, &to, true);
            let transition = self.summaries.intern(literals, Origin::Transition);
            summary = self.compose_around(summary, transition, model)?;
        }
        let states = self.reached_by(summary, model, source, target)?;
        Ok(Reached { summary, states })
    }

    /// The targets that a summary reaches from sources, around a model.
    fn reached_by(
        &mut self,
        summary: SummaryId,
        model: &Assignment,
        source: &[Term],
        target: &[Term],
    ) -> Result<Vec<Term>, Stop> {
        let formulas = [source, &*self.summaries.get(summary).literals.clone(), target].concat();
        let gone = [&*self.powers.vectors.state, &self.locals].concat();
        self.project(&formulas, model, &gone)
    }

    /// The states in between, around a model of the composition, renamed to the last state.
    fn intermediate(
        &mut self,
        count: Count,
        level: Level,
        model: &Assignment,
        source: &[Term],
        target: &[Term],
    ) -> Result<Vec<Term>, Stop> {
        let halves = self.compositions.get(&(count, level)).map_or(&[][..], Composition::halves);
        let formulas = [source, halves, target].concat();
        let vectors = &self.powers.vectors;
        let gone = [&*vectors.state, &vectors.next, &self.locals].concat();
        let states = match self.options.intermediate {
            Intermediate::Projected => None,
            Intermediate::Eliminated => {
                let bounds =
                    Bounds { limits: self.run.limits, disjuncts: MOST_DISJUNCTS, ..Bounds::default() };
                let found = eliminate(self.store, self.store.and(&formulas), &gone, &bounds);
                let found = found.map_err(|error| error.stop(self.store))?;
                (found.status == Status::Complete).then(|| vec![found.formula])
            }
        };
        let states = match states {
            Some(states) => states,
            None => self.project(&formulas, model, &gone)?,
        };
        let vectors = &self.powers.vectors;
        Ok(states.iter().map(|&state| rename(self.store, state, &vectors.middle, &vectors.next)).collect())
    }

    /// The composition of two summaries around a path from a source to a target, which exists by R2.
    fn compose(
        &mut self,
        first: SummaryId,
        second: SummaryId,
        source: &[Term],
        target: &[Term],
    ) -> Result<SummaryId, Stop> {
        if first == SummaryId::STUTTER || second == SummaryId::STUTTER {
            return Ok(first.max(second));
        }
        let formulas = [source, &self.composed(first, second), target].concat();
        match self.solve_together(&formulas)? {
            Some(model) => self.compose_around(first, second, &model),
            None => Err(Stop::Internal("two halves of a path do not meet".to_owned())),
        }
    }

    /// The composition of two summaries around a model.
    fn compose_around(
        &mut self,
        first: SummaryId,
        second: SummaryId,
        model: &Assignment,
    ) -> Result<SummaryId, Stop> {
        if first == SummaryId::STUTTER || second == SummaryId::STUTTER {
            return Ok(first.max(second));
        }
        let middle = self.powers.vectors.middle.clone();
        let literals = self.project(&self.composed(first, second), model, &middle)?;
        Ok(self.summaries.intern(literals, Origin::Composition(first, second)))
    }

    /// The conjunction of two summaries in sequence, with the state in between.
    pub(super) fn composed(&self, first: SummaryId, second: SummaryId) -> Vec<Term> {
        let vectors = &self.powers.vectors;
        let mut literals =
            self.renamed(&self.summaries.get(first).literals, &vectors.state, &vectors.middle, false);
        literals.extend(self.renamed(
            &self.summaries.get(second).literals,
            &vectors.middle,
            &vectors.next,
            false,
        ));
        literals
    }

    /// Renames literals over the first and the last state to two other states; if `is_back`, the other way round.
    fn renamed(&self, literals: &[Term], from: &[Term], to: &[Term], is_back: bool) -> Vec<Term> {
        let ends = [&*self.powers.vectors.state, &self.powers.vectors.next].concat();
        let others = [from, to].concat();
        let (old, new) = if is_back { (others, ends) } else { (ends, others) };
        literals.iter().map(|&literal| rename(self.store, literal, &old, &new)).collect()
    }

    /// Renames formulas over the last state to the first one.
    fn at_first(&self, states: &[Term]) -> Vec<Term> {
        let vectors = &self.powers.vectors;
        states.iter().map(|&state| rename(self.store, state, &vectors.next, &vectors.state)).collect()
    }

    fn is_true(&self, formula: Term, model: &Assignment) -> bool {
        self.store.eval(formula, model).ok().and_then(|value| value.as_bool()) == Some(true)
    }
}
