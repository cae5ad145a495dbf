//! Summaries: under-approximations of the paths.
//!
//! A *summary* is a cube `c(X, X'')` over two states. The first summaries are projections of the transition. The others
//! are compositions of two summaries, with the state in between projected out around a model. So
//!
//! - S1: if `c(s, t)` holds, there is a path from `s` to `t` with as many steps as the summary has transitions, because
//!   each projection implies that values of the eliminated variables exist.
//!
//! Summaries are to [abstract powers](super::powers) what reach facts are to frames in Spacer. They cover many states
//! at once: the 2^n steps of a loop that only counts are one summary, which n compositions find and every later search
//! reuses. Each level and count has a list of the summaries found there.

use std::collections::hash_map::Entry;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use shofar_logic::{Assignment, Sort, Term, TermStore};
use shofar_run::Stop;
use shofar_smt::solver::Solver;

use super::powers::{Count, Level, Powers};
use crate::Run;

/// The index of a summary.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct SummaryId(u32);

impl SummaryId {
    /// The identity: no step.
    pub(super) const STUTTER: SummaryId = SummaryId(0);
}

/// A set of paths with the same transitions.
pub(super) struct Summary {
    /// The cube, over the first and the last state.
    pub(super) literals: Rc<[Term]>,
    /// How it was made.
    pub(super) origin: Origin,
}

/// How a summary was made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Origin {
    /// No step.
    Stutter,
    /// One step.
    Transition,
    /// The paths of the first summary followed by those of the second.
    Composition(SummaryId, SummaryId),
}

/// All summaries.
pub(super) struct Summaries<'a> {
    store: &'a TermStore,
    all: Vec<Summary>,
    by_literals: FxHashMap<Rc<[Term]>, SummaryId>,
    lists: FxHashMap<(Count, Level), List<'a>>,
    /// The number of searches in lists.
    pub(super) queries: u64,
}

/// The summaries of one element.
///
/// The solver has `end_0` and, for the `i`-th summary, `end_i -> c_i or end_{i+1}`. With the last `end` negated this is
/// their disjunction.
struct List<'a> {
    summaries: Vec<SummaryId>,
    solver: Solver<'a>,
    end: Term,
}

impl<'a> Summaries<'a> {
    /// Only the identity is known.
    pub(super) fn new(store: &'a TermStore, powers: &Powers<'_>) -> Self {
        let identity = powers.vectors.state.iter().zip(&powers.vectors.next);
        let literals: Rc<[Term]> = identity.map(|(&from, &to)| store.eq(from, to)).collect();
        let all = vec![Summary { literals: literals.clone(), origin: Origin::Stutter }];
        let by_literals = [(literals, SummaryId::STUTTER)].into_iter().collect();
        Summaries { store, all, by_literals, lists: FxHashMap::default(), queries: 0 }
    }

    pub(super) fn get(&self, id: SummaryId) -> &Summary {
        &self.all[id.0 as usize]
    }

    /// The number of summaries.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// The summary with these literals; a new one if it does not exist.
    pub(super) fn intern(&mut self, mut literals: Vec<Term>, origin: Origin) -> SummaryId {
        literals.sort_unstable();
        let literals: Rc<[Term]> = literals.into();
        if let Some(&id) = self.by_literals.get(&literals) {
            return id;
        }
        let id = SummaryId(
            u32::try_from(self.all.len()).expect("summaries take more memory than there is before"),
        );
        self.by_literals.insert(literals.clone(), id);
        self.all.push(Summary { literals, origin });
        id
    }

    /// Adds a summary to a list.
    pub(super) fn list(
        &mut self,
        run: &Run<'a>,
        count: Count,
        level: Level,
        id: SummaryId,
    ) -> Result<(), Stop> {
        let store = self.store;
        let list = match self.lists.entry((count, level)) {
            Entry::Occupied(list) => list.into_mut(),
            Entry::Vacant(place) => place.insert(List::new(run)?),
        };
        if list.summaries.contains(&id) {
            return Ok(());
        }
        list.summaries.push(id);
        list.add(run, store.and(&self.all[id.0 as usize].literals))
    }

    /// A listed summary that leads from a source to a target, and a model of it.
    pub(super) fn find(
        &mut self,
        run: &Run<'a>,
        count: Count,
        level: Level,
        source: &[Term],
        target: &[Term],
    ) -> Result<Option<(SummaryId, Assignment)>, Stop> {
        let Some(list) = self.lists.get_mut(&(count, level)) else { return Ok(None) };
        let store = self.store;
        self.queries += 1;
        let mut assumptions = vec![store.not(list.end)];
        assumptions.extend(source.iter().chain(target));
        if !run.is_satisfiable(&mut list.solver, &assumptions)? {
            return Ok(None);
        }
        let mut formulas: Vec<Term> = assumptions.split_off(1);
        for &id in &list.summaries {
            formulas.extend_from_slice(&self.all[id.0 as usize].literals);
        }
        let model = list.solver.model(&formulas);
        let holds = |id: &&SummaryId| {
            let mut literals = self.all[id.0 as usize].literals.iter();
            literals.all(|&literal| {
                store.eval(literal, &model).ok().and_then(|value| value.as_bool()) == Some(true)
            })
        };
        match list.summaries.iter().find(holds) {
            Some(&id) => Ok(Some((id, model))),
            None => Err(Stop::Internal("a model satisfies no summary".to_owned())),
        }
    }
}

impl<'a> List<'a> {
    fn new(run: &Run<'a>) -> Result<Self, Stop> {
        let mut solver = run.solver();
        let end = fresh_end(run.store);
        run.assert(&mut solver, &[end])?;
        Ok(List { summaries: Vec::new(), solver, end })
    }

    /// Adds a disjunct.
    fn add(&mut self, run: &Run<'_>, summary: Term) -> Result<(), Stop> {
        let end = fresh_end(run.store);
        let either = run.store.or(&[run.store.not(self.end), summary, end]);
        self.end = end;
        run.assert(&mut self.solver, &[either])
    }
}

fn fresh_end(store: &TermStore) -> Term {
    store.var(store.fresh_symbol("end"), Sort::BOOL)
}
