//! A sequence of transformations, as data.
//!
//! A pipeline consists of stages. Each stage repeats its transformations, until a round changes nothing or a bound on
//! rounds, time or size is reached. The result so far is sound. Solving starts with [`standard`].

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, Instant};

use shofar_logic::{TermStore, Walker};
use shofar_run::{OptionError, Stop};

use crate::Context;
use crate::graph::HornGraph;
use crate::transform::{
    Accelerate, Chains, Control, Enumerations, Image, Inline, Lemma, Merge, NestedLoops, PeanoNumbers,
    PropagateConstants, RecogniseDisequality, Records, RemoveInfeasible, RemoveUniformArguments,
    RemoveUnreachable, RemoveUnusedArguments, Simplify, SingleLoop, SplitArguments, Summaries, Tagged,
    Transformation, Transformed, Translation, UniqueConstructor,
};
use crate::witness::{Derivation, GraphModel};

/// All transformations, in the order in which they are listed.
const ALL: [fn() -> Box<dyn Transformation>; 21] = [
    || Box::new(RecogniseDisequality),
    || Box::new(Records),
    || Box::new(Enumerations),
    || Box::new(Tagged),
    || Box::new(PeanoNumbers),
    || Box::new(UniqueConstructor),
    || Box::new(Summaries::default()),
    || Box::new(RemoveUnreachable),
    || Box::new(RemoveInfeasible),
    || Box::new(Simplify),
    || Box::new(PropagateConstants),
    || Box::new(RemoveUnusedArguments),
    || Box::new(RemoveUniformArguments),
    || Box::new(Chains),
    || Box::new(Merge),
    || Box::new(Inline),
    || Box::new(SplitArguments),
    || Box::new(Control),
    || Box::new(Accelerate),
    || Box::new(NestedLoops),
    || Box::new(SingleLoop),
];

/// The rounds of the standard pipeline. Most systems need two or three, and one more to see that nothing changes.
const STANDARD_ROUNDS: usize = 8;

/// The time limit for a stage of the standard pipeline. If less, a quarter of the remaining time applies.
const STANDARD_TIME: Duration = Duration::from_secs(10);

/// Further rounds follow only while labels have at most this multiple of their initial size, plus a constant for small
/// systems.
const MAX_GROWTH: (usize, usize) = (4, 100_000);

/// The pipeline that solving starts with: transformations that make a system smaller or simpler, repeated while they
/// change something.
///
/// Datatypes come first: whatever becomes fields or numbers, all other transformations can handle. Among them, predicates
/// that mean "different" come first, because they are recognised by their constructors. Slicing comes next, so
/// that no work is spent on irrelevant clauses; labels are simplified before they are joined.
/// The solver summarises predicates and checks single clauses only after the other transformations, which then continue with
/// its results.
pub fn standard() -> Pipeline {
    let rounds = || {
        let passes: Vec<Box<dyn Transformation>> = vec![
            Box::new(RemoveUnreachable),
            Box::new(PropagateConstants),
            Box::new(RemoveUnusedArguments),
            Box::new(RemoveUniformArguments),
            Box::new(Simplify),
            Box::new(Chains),
            Box::new(Merge),
            Box::new(Inline),
        ];
        Pipeline::repeated(passes, STANDARD_ROUNDS, STANDARD_TIME)
    };
    let of_datatypes: Vec<Box<dyn Transformation>> = vec![
        Box::new(RecogniseDisequality),
        Box::new(Records),
        Box::new(Enumerations),
        Box::new(Tagged),
        Box::new(PeanoNumbers),
        Box::new(UniqueConstructor),
    ];
    // The fields of unique constructors are arguments now.
    let of_fields: Vec<Box<dyn Transformation>> =
        vec![Box::new(Records), Box::new(Enumerations), Box::new(Tagged)];
    let by_solver: Vec<Box<dyn Transformation>> =
        vec![Box::new(Summaries::beside_datatypes()), Box::new(RemoveInfeasible)];
    let once = |passes| Pipeline::repeated(passes, 1, STANDARD_TIME);
    once(of_datatypes).then(once(of_fields)).then(rounds()).then(once(by_solver)).then(rounds())
}

/// The pipeline that turns a linear system into a transition system.
pub fn to_single_loop() -> Pipeline {
    Pipeline::new(vec![Box::new(SingleLoop)])
}

/// Transformations in the order in which they are applied.
#[derive(Default)]
pub struct Pipeline {
    stages: Vec<Stage>,
}

/// The names of a pipeline's transformations, as [`Pipeline::parse`] reads them. All of them exist.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Passes(String);

impl Passes {
    /// The transformations.
    pub fn pipeline(&self) -> Pipeline {
        Pipeline::parse(&self.0).expect("the names were checked when they were read")
    }
}

/// As it is read.
impl fmt::Display for Passes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Passes {
    type Err = OptionError;

    fn from_str(names: &str) -> Result<Self, OptionError> {
        Pipeline::parse(names).map(|_| Passes(names.to_owned()))
    }
}

/// Transformations that are repeated together.
struct Stage {
    passes: Vec<Box<dyn Transformation>>,
    /// The maximal number of rounds.
    rounds: usize,
    /// The time limit.
    time: Option<Duration>,
}

/// The report of one transformation.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Report {
    /// Its name.
    pub name: &'static str,
    /// The size before.
    pub before: Size,
    /// The size afterwards.
    pub after: Size,
    /// The time it took.
    pub time: Duration,
}

/// The size of a graph.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
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

    /// A pipeline that repeats these transformations until nothing changes, for at most `rounds` rounds and `time`. If
    /// there is a deadline, it takes at most a quarter of the remaining time.
    pub fn repeated(passes: Vec<Box<dyn Transformation>>, rounds: usize, time: Duration) -> Self {
        Pipeline { stages: vec![Stage { passes, rounds, time: Some(time) }] }
    }

    /// Appends another pipeline.
    pub fn then(mut self, other: Pipeline) -> Self {
        self.stages.extend(other.stages);
        self
    }

    /// Parses names of transformations, separated by commas. `standard` is the standard pipeline, with its rounds;
    /// `no-NAME` removes a transformation from those before it.
    pub fn parse(names: &str) -> Result<Self, OptionError> {
        let mut pipeline = Pipeline::default();
        for name in names.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            let by_name = |name: &str| ALL.iter().map(|make| make()).find(|pass| pass.name() == name);
            let unwanted = name.strip_prefix("no-").and_then(by_name);
            pipeline = match (by_name(name), unwanted) {
                (Some(pass), _) => pipeline.then(Pipeline::new(vec![pass])),
                (None, Some(unwanted)) => pipeline.without(unwanted.name()),
                (None, None) if name == "standard" => pipeline.then(standard()),
                (None, None) => {
                    let known = Self::names().into_iter().chain(["standard"]).collect();
                    return Err(OptionError::UnknownPass { name: name.to_owned(), known });
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

    /// Applies all transformations in turn, with a report on each that changed something.
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

/// The current graph and its history.
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

    /// The context with the stage's deadline.
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
