//! What the loop takes from other engines (`exchange/mod.rs`): formulas that are worth tracking.
//!
//! A lemma of another engine is a predicate that some proof needed. It is tracked without a check: labels claim only what the
//! abstractor proves, so a predicate that holds nowhere, or only up to some height, costs time and nothing else. Each predicate costs
//! queries in all later steps, however. Hence a formula waits until a spurious counterexample passes its location, and only the
//! [smallest](MOST_AT_ONCE) are taken at a time.

use shofar_horn::cfa::{Automaton, LocationId};
use shofar_horn::transform::Lemma;
use shofar_logic::Term;

use super::arg::Arg;
use super::domain::Domain;
use super::path::Path;
use super::precision::{Precision, Splitting};
use crate::{Fact, FactId, Fate, Run};

/// The most formulas that a spurious counterexample makes tracked.
const MOST_AT_ONCE: usize = 4;

/// The most formulas that wait. Of more, the largest are dropped.
const MOST_WAITING: usize = 500;

/// A formula of another engine.
struct Foreign {
    id: FactId,
    location: LocationId,
    formula: Term,
    /// The number of its subterms.
    size: usize,
}

/// The formulas of other engines.
pub(super) struct Foreigners<'a> {
    automaton: &'a Automaton,
    /// In order of size.
    waiting: Vec<Foreign>,
    /// Those that are tracked.
    tracked: Vec<Foreign>,
}

impl<'a> Foreigners<'a> {
    /// The automaton is that of the graph to which the run's port belongs.
    pub(super) fn new(automaton: &'a Automaton) -> Self {
        Foreigners { automaton, waiting: Vec::new(), tracked: Vec::new() }
    }

    /// After a spurious counterexample: tracks what others have found out about its locations.
    pub(super) fn learn(
        &mut self,
        run: &Run<'_>,
        path: &Path,
        precision: &mut Precision<'_>,
        (domain, splitting): (&dyn Domain, Splitting),
    ) {
        self.receive(run);
        let is_on_path = |foreign: &mut Foreign| path.locations.contains(&foreign.location);
        let chosen: Vec<Foreign> = self.waiting.extract_if(.., is_on_path).take(MOST_AT_ONCE).collect();
        for foreign in chosen {
            let before = precision.len();
            for term in domain.terms(foreign.formula, splitting) {
                precision.track(foreign.location, term);
            }
            if precision.len() > before {
                self.tracked.push(foreign);
            }
        }
    }

    /// In the end: those formulas have helped that are parts of labels.
    pub(super) fn rate(&self, run: &Run<'_>, arg: &Arg<'_>, (domain, splitting): (&dyn Domain, Splitting)) {
        let Some(port) = run.port() else { return };
        for foreign in &self.tracked {
            let terms = domain.terms(foreign.formula, splitting);
            let is_used = arg.uncovered(foreign.location).any(|node| {
                let label = &arg[node].state.label;
                terms.iter().any(|&term| label.iter().any(|&part| run.store.literal(part).0 == term))
            });
            if is_used {
                port.rate(foreign.id, Fate::Useful);
            }
        }
    }

    /// The number of formulas that were tracked.
    pub(super) fn len(&self) -> u64 {
        self.tracked.len() as u64
    }

    fn receive(&mut self, run: &Run<'_>) {
        let Some(port) = run.port() else { return };
        for (id, fact) in port.receive() {
            let lemmas = match fact {
                Fact::Closed(set) => set,
                Fact::Bounded { lemma, .. } | Fact::Atom(lemma) => vec![lemma],
                Fact::Depth(_) => continue,
            };
            port.rate(id, Fate::Accepted);
            self.waiting.extend(lemmas.into_iter().map(|Lemma { node, formula }| {
                let size = run.store.subterms(&[formula]).len();
                Foreign { id, location: self.automaton.location_of(node), formula, size }
            }));
        }
        self.waiting.sort_by_key(|foreign| foreign.size);
        self.waiting.truncate(MOST_WAITING);
    }
}
