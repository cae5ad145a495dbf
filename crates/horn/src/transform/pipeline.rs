//! A sequence of transformations, as data.
//!
//! A pipeline consists of stages. Each goes through its transformations round after round, until a round changes
//! nothing, or its bounds on rounds, time or size are reached. What it has by then is right. [`standard`] is what solving
//! starts with.

use std::time::{Duration, Instant};

use shofar_logic::{TermStore, Walker};
use shofar_run::Stop;

use crate::Context;
use crate::graph::HornGraph;
use crate::transform::{
    Chains, Image, Inline, Lemma, Merge, NestedLoops, PropagateConstants, RemoveInfeasible,
    RemoveUnreachable, RemoveUnusedArguments, Simplify, SingleLoop, SplitArguments, Transformation,
    Transformed, Translation,
};
use crate::witness::{Derivation, GraphModel};

/// All transformations, in the order in which they are told.
const ALL: [fn() -> Box<dyn Transformation>; 11] = [
    || Box::new(RemoveUnreachable),
    || Box::new(RemoveInfeasible),
    || Box::new(Simplify),
    || Box::new(PropagateConstants),
    || Box::new(RemoveUnusedArguments),
    || Box::new(Chains),
    || Box::new(Merge),
    || Box::new(Inline),
    || Box::new(SplitArguments),
    || Box::new(NestedLoops),
    || Box::new(SingleLoop),
];

/// Rounds of the standard pipeline. Most systems need two or three, and one more to see that nothing changes.
const STANDARD_ROUNDS: usize = 8;

/// The longest time for a stage of the standard pipeline. It takes a quarter of the time that is left, if that is less.
const STANDARD_TIME: Duration = Duration::from_secs(10);

/// The size of labels up to which further rounds are worth it: so many times the size in the beginning, and a constant
/// for small systems.
const MAX_GROWTH: (usize, usize) = (4, 100_000);

/// What solving starts with: transformations that make a system smaller or simpler, as long as they change something.
///
/// Slicing and what it leads to come first, so that nothing is spent on clauses that do not matter; labels are simplified
/// before they are joined. The solver is asked about single clauses only once the others are done, and they go on from
/// what it finds.
pub fn standard() -> Pipeline {
    let rounds = || {
        let passes: Vec<Box<dyn Transformation>> = vec![
            Box::new(RemoveUnreachable),
            Box::new(PropagateConstants),
            Box::new(RemoveUnusedArguments),
            Box::new(Simplify),
            Box::new(Chains),
            Box::new(Merge),
            Box::new(Inline),
        ];
        Pipeline::repeated(passes, STANDARD_ROUNDS, STANDARD_TIME)
    };
    let by_solver: Vec<Box<dyn Transformation>> = vec![Box::new(RemoveInfeasible)];
    rounds().then(Pipeline::repeated(by_solver, 1, STANDARD_TIME)).then(rounds())
}

/// What makes a transition system of any linear system, for engines on transition systems.
pub fn to_single_loop() -> Pipeline {
    Pipeline::new(vec![Box::new(SingleLoop)])
}

/// Transformations in the order in which they are applied.
#[derive(Default)]
pub struct Pipeline {
    stages: Vec<Stage>,
}

/// Transformations that are repeated together.
struct Stage {
    passes: Vec<Box<dyn Transformation>>,
    /// How often, at most.
    rounds: usize,
    /// A bound on the time.
    time: Option<Duration>,
}

/// What a transformation did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Report {
    /// Its name.
    pub name: &'static str,
    /// The system before.
    pub before: Size,
    /// The system afterwards.
    pub after: Size,
    /// The time it took.
    pub time: Duration,
}

/// How large a graph is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Size {
    /// The number of nodes.
    pub nodes: usize,
    /// The number of edges.
    pub edges: usize,
    /// The number of different terms in the labels.
    pub terms: usize,
}

impl Size {
    /// The size of a graph.
    pub fn of(store: &TermStore, graph: &HornGraph) -> Self {
        let mut terms = 0;
        Walker::new(store).visit(graph.edges().map(|(_, edge)| edge.label()), |_| terms += 1);
        Size { nodes: graph.nodes().len(), edges: graph.edges().len(), terms }
    }
}

impl Pipeline {
    /// A pipeline of these transformations, each once.
    pub fn new(passes: Vec<Box<dyn Transformation>>) -> Self {
        Pipeline { stages: vec![Stage { passes, rounds: 1, time: None }] }
    }

    /// A pipeline that goes through these transformations again until nothing changes, with so many rounds at most and
    /// within this time. Where there is a deadline, it takes a quarter of the time that is left at most.
    pub fn repeated(passes: Vec<Box<dyn Transformation>>, rounds: usize, time: Duration) -> Self {
        Pipeline { stages: vec![Stage { passes, rounds, time: Some(time) }] }
    }

    /// This pipeline and then another one.
    pub fn then(mut self, other: Pipeline) -> Self {
        self.stages.extend(other.stages);
        self
    }

    /// The pipeline of the transformations with these names, separated by commas. `standard` is the standard pipeline,
    /// with its rounds; `no-NAME` takes a transformation out of what stands before.
    pub fn parse(names: &str) -> Result<Self, String> {
        let mut pipeline = Pipeline::default();
        for name in names.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            let by_name = |name: &str| ALL.iter().map(|make| make()).find(|pass| pass.name() == name);
            let unwanted = name.strip_prefix("no-").and_then(by_name);
            pipeline = match (by_name(name), unwanted) {
                (Some(pass), _) => pipeline.then(Pipeline::new(vec![pass])),
                (None, Some(unwanted)) => pipeline.without(unwanted.name()),
                (None, None) if name == "standard" => pipeline.then(standard()),
                (None, None) => {
                    let known = Self::names().join(", ");
                    return Err(format!(
                        "there is no transformation `{name}`; there are {known} and standard"
                    ));
                }
            };
        }
        Ok(pipeline)
    }

    /// The pipeline without a transformation.
    fn without(mut self, name: &str) -> Self {
        for stage in &mut self.stages {
            stage.passes.retain(|pass| pass.name() != name);
        }
        self
    }

    /// The names of all transformations.
    pub fn names() -> Vec<&'static str> {
        ALL.iter().map(|make| make().name()).collect()
    }

    /// Applies all transformations in turn, and tells what those did that changed something.
    pub fn run(&self, context: &Context<'_>, graph: HornGraph) -> (Transformed, Vec<Report>) {
        let size = Size::of(context.store, &graph);
        let mut progress = Progress { graph, size, translations: Vec::new(), reports: Vec::new() };
        for stage in &self.stages {
            stage.run(context, &mut progress);
        }
        let Progress { graph, translations, reports, .. } = progress;
        (Transformed { graph, translation: Box::new(Composition { translations }) }, reports)
    }
}

/// What has become of a graph.
struct Progress {
    graph: HornGraph,
    size: Size,
    translations: Vec<Box<dyn Translation>>,
    reports: Vec<Report>,
}

impl Stage {
    fn run(&self, context: &Context<'_>, progress: &mut Progress) {
        let context = self.bounded(context);
        let max_terms = progress.size.terms.saturating_mul(MAX_GROWTH.0).saturating_add(MAX_GROWTH.1);
        for _ in 0..self.rounds {
            let changes = progress.translations.len();
            for pass in &self.passes {
                if context.interrupted().is_some() {
                    return;
                }
                progress.apply(&context, &**pass);
            }
            if progress.translations.len() == changes || progress.size.terms > max_terms {
                return;
            }
        }
    }

    /// The context with a deadline of its own.
    fn bounded<'a>(&self, context: &Context<'a>) -> Context<'a> {
        self.time.map_or(*context, |time| context.for_part(4, time))
    }
}

impl Progress {
    fn apply(&mut self, context: &Context<'_>, pass: &dyn Transformation) {
        let start = Instant::now();
        let Some(transformed) = pass.apply(context, &self.graph) else { return };
        let time = start.elapsed();
        self.graph = transformed.graph;
        self.translations.push(transformed.translation);
        let before = std::mem::replace(&mut self.size, Size::of(context.store, &self.graph));
        self.reports.push(Report { name: pass.name(), before, after: self.size, time });
    }
}

/// The translations of a pipeline, in the order of its transformations.
struct Composition {
    translations: Vec<Box<dyn Translation>>,
}

impl Translation for Composition {
    fn forward(&self, context: &Context<'_>, lemma: Lemma) -> Image {
        let mut lemmas = vec![lemma];
        for translation in &self.translations {
            let mut images = Vec::new();
            let mut without = Image::Removed;
            for lemma in lemmas {
                match translation.forward(context, lemma) {
                    Image::Lemmas(image) => images.extend(image),
                    none @ (Image::Removed | Image::Inexpressible) => without = none,
                }
            }
            if images.is_empty() {
                return without;
            }
            lemmas = images;
        }
        Image::Lemmas(lemmas)
    }

    fn is_renaming(&self) -> bool {
        self.translations.iter().all(|translation| translation.is_renaming())
    }

    fn model_back(&self, context: &Context<'_>, model: GraphModel) -> Result<GraphModel, Stop> {
        let mut last_to_first = self.translations.iter().rev();
        last_to_first.try_fold(model, |model, translation| translation.model_back(context, model))
    }

    fn derivation_back(&self, context: &Context<'_>, derivation: Derivation) -> Result<Derivation, Stop> {
        let mut last_to_first = self.translations.iter().rev();
        last_to_first
            .try_fold(derivation, |derivation, translation| translation.derivation_back(context, derivation))
    }
}
