//! A solver for each clause, which keeps the clause's constraint from query to query.

use shofar_horn::HornGraph;
use shofar_horn::graph::EdgeId;
use shofar_run::Stop;
use shofar_smt::solver::Solver;

use crate::Run;

/// The solvers of a graph's clauses, made when they are first needed.
pub(crate) struct ClauseSolvers<'a> {
    run: &'a Run<'a>,
    graph: &'a HornGraph,
    /// By edges.
    solvers: Vec<Option<Solver<'a>>>,
}

impl<'a> ClauseSolvers<'a> {
    pub(crate) fn new(run: &'a Run<'a>, graph: &'a HornGraph) -> Self {
        ClauseSolvers { run, graph, solvers: graph.edges().map(|_| None).collect() }
    }

    /// The solver of an edge; it has the label.
    pub(crate) fn of(&mut self, edge: EdgeId) -> Result<&mut Solver<'a>, Stop> {
        let place = &mut self.solvers[edge.index()];
        if place.is_none() {
            let mut solver = self.run.solver();
            self.run.assert(&mut solver, &[self.graph.edge(edge).label()])?;
            *place = Some(solver);
        }
        Ok(place.as_mut().expect("it was made above"))
    }
}
