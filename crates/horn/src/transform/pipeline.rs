//! A sequence of transformations, as data.

use std::time::{Duration, Instant};

use crate::graph::HornGraph;
use crate::transform::{Context, Lost, Transformation, Transformed, WayBack};
use crate::witness::{Derivation, GraphModel};

/// Transformations in the order in which they are applied.
#[derive(Default)]
pub struct Pipeline {
    passes: Vec<Box<dyn Transformation>>,
}

/// What a transformation did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Report {
    /// Its name.
    pub name: &'static str,
    /// The numbers of nodes and edges before.
    pub before: (usize, usize),
    /// The numbers of nodes and edges afterwards.
    pub after: (usize, usize),
    /// The time it took.
    pub time: Duration,
}

impl Pipeline {
    /// A pipeline of these transformations.
    pub fn new(passes: Vec<Box<dyn Transformation>>) -> Self {
        Pipeline { passes }
    }

    /// Applies all transformations in turn, and tells what those did that changed something.
    pub fn run(&self, context: &Context<'_>, graph: HornGraph) -> (Transformed, Vec<Report>) {
        let mut graph = graph;
        let mut ways: Vec<Box<dyn WayBack>> = Vec::new();
        let mut reports = Vec::new();
        for pass in &self.passes {
            let start = Instant::now();
            let before = (graph.nodes().len(), graph.edges().len());
            if let Some(transformed) = pass.apply(context, &graph) {
                graph = transformed.graph;
                ways.push(transformed.back);
                let after = (graph.nodes().len(), graph.edges().len());
                reports.push(Report { name: pass.name(), before, after, time: start.elapsed() });
            }
        }
        (Transformed { graph, back: Box::new(Backwards { ways }) }, reports)
    }
}

/// The ways back of a pipeline, in the order of its transformations.
struct Backwards {
    ways: Vec<Box<dyn WayBack>>,
}

impl WayBack for Backwards {
    fn model(&self, context: &Context<'_>, model: GraphModel) -> Result<GraphModel, Lost> {
        self.ways.iter().rev().try_fold(model, |model, way| way.model(context, model))
    }

    fn derivation(&self, context: &Context<'_>, derivation: Derivation) -> Result<Derivation, Lost> {
        self.ways.iter().rev().try_fold(derivation, |derivation, way| way.derivation(context, derivation))
    }
}
