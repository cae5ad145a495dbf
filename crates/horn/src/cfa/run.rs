//! From runs to derivations: what the three directions share.

use rustc_hash::FxHashMap;
use shofar_logic::Value;
use shofar_run::Stop;

use super::{Cfa, CfaEdgeId, LocationId};
use crate::graph::{EdgeId, HornGraph, NodeId};
use crate::witness::{Derivation, GraphStep};

pub(super) fn wrong(what: &str) -> Stop {
    Stop::Internal(what.to_owned())
}

/// The location after an edge of a run, if the edge starts at the given one and the values fit.
pub(super) fn follow(
    cfa: &Cfa,
    location: LocationId,
    edge: CfaEdgeId,
    values: &[Value],
) -> Result<LocationId, Stop> {
    let Some(edge) = cfa.edges.get(edge.index()).filter(|edge| edge.source == location) else {
        return Err(wrong("a run takes an edge that does not start where the run is"));
    };
    match cfa.location(edge.target).variables.len() == values.len() {
        true => Ok(edge.target),
        false => Err(wrong("a run has another number of values than its location has variables")),
    }
}

/// Fails unless a run ends at the error location.
pub(super) fn check_end(cfa: &Cfa, location: LocationId) -> Result<(), Stop> {
    if location == cfa.error() { Ok(()) } else { Err(wrong("a run ends before the error location")) }
}

/// A derivation under construction. It has each fact once.
pub(super) struct Steps<'a> {
    graph: &'a HornGraph,
    steps: Vec<GraphStep>,
    of_fact: FxHashMap<(NodeId, Box<[Value]>), usize>,
}

impl<'a> Steps<'a> {
    pub(super) fn new(graph: &'a HornGraph) -> Self {
        Steps { graph, steps: Vec::new(), of_fact: FxHashMap::default() }
    }

    /// The position of the step that derives the fact: a new one, or an earlier one for the same fact.
    pub(super) fn add(&mut self, clause: EdgeId, premises: &[usize], fact: &[Value]) -> Result<usize, Stop> {
        let edge = self.graph.edge(clause);
        if edge.sources().len() != premises.len() {
            return Err(wrong("a run has another number of premises than its clause"));
        }
        let position = self.steps.len();
        if let Some(node) = edge.target() {
            let position = *self.of_fact.entry((node, fact.into())).or_insert(position);
            if position < self.steps.len() {
                return Ok(position);
            }
        }
        self.steps.push(GraphStep { edge: clause, premises: premises.into(), fact: fact.into() });
        Ok(position)
    }

    /// The steps that the last one needs.
    pub(super) fn finish(self) -> Result<Derivation, Stop> {
        let Some(last) = self.steps.len().checked_sub(1) else { return Err(wrong("a run without edges")) };
        let mut is_needed = vec![false; self.steps.len()];
        is_needed[last] = true;
        for (position, step) in self.steps.iter().enumerate().rev() {
            if is_needed[position] {
                step.premises.iter().for_each(|&premise| is_needed[premise] = true);
            }
        }
        let mut positions = vec![usize::MAX; self.steps.len()];
        let mut steps = Vec::new();
        for (position, mut step) in self.steps.into_iter().enumerate().filter(|&(at, _)| is_needed[at]) {
            step.premises.iter_mut().for_each(|premise| *premise = positions[*premise]);
            positions[position] = steps.len();
            steps.push(step);
        }
        Ok(Derivation { steps })
    }
}
