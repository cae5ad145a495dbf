//! Abstract counterexamples, and the copies of the program's variables along them.

use rustc_hash::FxHashMap;
use shofar_horn::cfa::{CfaEdgeId, LocationId};
use shofar_horn::graph::rename;
use shofar_logic::{Term, Value};
use shofar_smt::solver::Solver;

use super::arg::{Arg, ArgNodeId, Label};
use super::program::Program;
use crate::unroll::{fresh_vector, value};

/// A path from the root to a target. Position `i` is after the first `i` edges.
pub(super) struct Path {
    /// Indexed by position.
    pub(super) nodes: Vec<ArgNodeId>,
    /// Indexed by position.
    pub(super) locations: Vec<LocationId>,
    /// Indexed by position.
    pub(super) labels: Vec<Label>,
    /// The edge from each position to the next one.
    pub(super) edges: Vec<CfaEdgeId>,
}

impl Path {
    /// The path to a node.
    pub(super) fn to(arg: &Arg<'_>, node: ArgNodeId) -> Self {
        let nodes = arg.path(node);
        Path {
            locations: nodes.iter().map(|&node| arg[node].location).collect(),
            labels: nodes.iter().map(|&node| arg[node].state.label.clone()).collect(),
            edges: nodes.iter().filter_map(|&node| arg[node].above).map(|(_, edge)| edge).collect(),
            nodes,
        }
    }

    /// The number of edges, and the last position.
    pub(super) fn len(&self) -> usize {
        self.edges.len()
    }
}

/// Copies of variables and relations for each position. Paths share them.
pub(super) struct Copies<'a> {
    program: &'a Program<'a>,
    states: FxHashMap<(LocationId, usize), Box<[Term]>>,
    constraints: FxHashMap<(CfaEdgeId, usize), Term>,
}

impl<'a> Copies<'a> {
    pub(super) fn new(program: &'a Program<'a>) -> Self {
        Copies { program, states: FxHashMap::default(), constraints: FxHashMap::default() }
    }

    /// The variables of a path's location at a position.
    pub(super) fn state(&mut self, path: &Path, position: usize) -> Box<[Term]> {
        self.state_of(path.locations[position], position)
    }

    fn state_of(&mut self, location: LocationId, position: usize) -> Box<[Term]> {
        let fresh = || fresh_vector(self.program.store, self.program.variables(location), "p");
        self.states.entry((location, position)).or_insert_with(fresh).clone()
    }

    /// The relation of the edge after a position, over the variables there and at the next position.
    pub(super) fn constraint(&mut self, path: &Path, position: usize) -> Term {
        let id = path.edges[position];
        if let Some(&known) = self.constraints.get(&(id, position)) {
            return known;
        }
        let (edge, relation) = (self.program.cfa.edge(id), self.program.relation(id));
        let (before, after) =
            (self.state_of(edge.source, position), self.state_of(edge.target, position + 1));
        let vectors = [(self.program.variables(edge.source), &before[..]), (&relation.after, &after)];
        let constraint = relation.template.copy(self.program.store, &vectors);
        self.constraints.insert((id, position), constraint);
        constraint
    }

    /// The values of the variables after each edge in a solver's model.
    pub(super) fn values(&mut self, path: &Path, solver: &Solver<'_>) -> Vec<Box<[Value]>> {
        let states: Vec<Box<[Term]>> = (1..=path.len()).map(|position| self.state(path, position)).collect();
        let model = solver.model(&states.concat());
        let values = |state: &[Term]| state.iter().map(|&it| value(self.program.store, &model, it)).collect();
        states.iter().map(|state| values(state)).collect()
    }

    /// The label at a position, over the variables there.
    pub(super) fn label(&mut self, path: &Path, position: usize) -> Vec<Term> {
        let state = self.state(path, position);
        let variables = self.program.variables(path.locations[position]);
        let copy = |&formula: &Term| rename(self.program.store, formula, variables, &state);
        path.labels[position].iter().map(copy).collect()
    }

    /// A formula over the variables at a position, as one over the location's variables.
    pub(super) fn untimed(&mut self, path: &Path, position: usize, formula: Term) -> Term {
        let state = self.state(path, position);
        rename(self.program.store, formula, &state, self.program.variables(path.locations[position]))
    }
}
