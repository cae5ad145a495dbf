//! The graphs that the engines of a run work on, and the ways back to the clauses.
//!
//! Most engines work on the *meeting graph*: that of the clauses after the transformations of the run. Facts that engines tell each
//! other are about it. Some engines work on the clauses as they were read. A slot can name further transformations of the meeting graph;
//! its engine works by itself on their result.

use std::sync::OnceLock;
use std::time::Duration;

use shofar_engines::{Engine, Event, Run};
use shofar_horn::HornGraph;
use shofar_horn::transform::{Passes, Transformed, Translation};
use shofar_horn::witness::{Derivation, GraphModel};
use shofar_run::Stop;

use crate::slot::Slot;

/// The time limit for the transformations of one slot. If less, a quarter of the remaining time applies.
const TIME: Duration = Duration::from_secs(10);

/// Why a slot has no graph. If its transformations change nothing, its engine would do the same as without them.
const UNCHANGED: Stop = Stop::Exhausted("the transformations of the slot change nothing");
const SLOW: Stop = Stop::Exhausted("the transformations of the slot take too long");

/// All graphs of a run.
pub(crate) struct Graphs {
    original: HornGraph,
    meeting: Transformed,
    /// The results of the transformations that slots name, or why there are none. The first slot that needs them makes them, and
    /// others wait for it.
    further: Vec<(Passes, OnceLock<Result<Transformed, Stop>>)>,
}

impl Graphs {
    /// The graphs for these slots.
    pub(crate) fn new<'s>(
        original: HornGraph,
        meeting: Transformed,
        slots: impl IntoIterator<Item = &'s Slot>,
    ) -> Self {
        let mut further: Vec<(Passes, OnceLock<_>)> = Vec::new();
        for passes in slots.into_iter().filter_map(Slot::passes) {
            if further.iter().all(|(known, _)| known != passes) {
                further.push((passes.clone(), OnceLock::new()));
            }
        }
        Graphs { original, meeting, further }
    }

    /// Makes all graphs. Engines that wait for each other in rounds must not wait for graphs as well.
    pub(crate) fn prepare(&self, run: &Run<'_>) {
        for (passes, further) in &self.further {
            further.get_or_init(|| self.transformed(passes, run));
        }
    }

    fn transformed(&self, passes: &Passes, run: &Run<'_>) -> Result<Transformed, Stop> {
        let context = run.for_part(4, TIME);
        let (transformed, reports) = passes.pipeline().run(&context, self.meeting.graph.clone());
        let found = match reports.is_empty() {
            false => Ok(transformed),
            true if context.interrupted().is_some() => Err(SLOW),
            true => Err(UNCHANGED),
        };
        reports.into_iter().for_each(|report| run.tell(Event::Pass(report)));
        found
    }

    /// The meeting graph.
    pub(crate) fn meeting(&self) -> &HornGraph {
        &self.meeting.graph
    }

    /// The graph of the clauses as they were read.
    pub(crate) fn original(&self) -> &HornGraph {
        &self.original
    }

    /// Whether an engine can work on the graph of a slot, as far as that is known without making it.
    pub(crate) fn accepts(&self, engine: &dyn Engine, slot: &Slot, run: &Run<'_>) -> Result<(), Stop> {
        match slot.passes() {
            Some(_) if engine.works_on_clauses_as_read() => {
                let engine = engine.name();
                Err(Stop::Unsupported(format!(
                    "transformations for {engine}, which works on the clauses as they were read"
                )))
            }
            Some(_) => Ok(()),
            None => engine.accepts(run.store, self.view(engine, slot, run)?.graph),
        }
    }

    /// The graph on which the engine of a slot works, and its way back. The error says why the slot has no graph.
    pub(crate) fn view(&self, engine: &dyn Engine, slot: &Slot, run: &Run<'_>) -> Result<View<'_>, Stop> {
        match slot.passes() {
            None if engine.works_on_clauses_as_read() => Ok(View { graph: &self.original, back: Vec::new() }),
            None => Ok(View { graph: &self.meeting.graph, back: vec![&*self.meeting.translation] }),
            Some(passes) => {
                let known = self.further.iter().find(|(known, _)| known == passes);
                let (_, further) = known.expect("there are graphs for all slots");
                let further = further.get_or_init(|| self.transformed(passes, run));
                let further = further.as_ref().map_err(Stop::clone)?;
                engine.accepts(run.store, &further.graph)?;
                let back = vec![&*further.translation, &*self.meeting.translation];
                Ok(View { graph: &further.graph, back })
            }
        }
    }
}

/// The graph that an engine works on, and the way back to the clauses as they were read.
pub(crate) struct View<'a> {
    pub(crate) graph: &'a HornGraph,
    /// The translations, in the order in which witnesses pass them.
    back: Vec<&'a dyn Translation>,
}

impl View<'_> {
    /// Translates a model to the clauses as they were read.
    pub(crate) fn model_back(&self, run: &Run<'_>, model: GraphModel) -> Result<GraphModel, Stop> {
        self.back.iter().try_fold(model, |model, translation| translation.model_back(run, model))
    }

    /// Translates a derivation to the clauses as they were read.
    pub(crate) fn derivation_back(&self, run: &Run<'_>, derivation: Derivation) -> Result<Derivation, Stop> {
        let back = |derivation, translation: &&dyn Translation| translation.derivation_back(run, derivation);
        self.back.iter().try_fold(derivation, back)
    }
}
