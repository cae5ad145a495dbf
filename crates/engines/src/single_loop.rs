//! Linear systems as transition systems, for the engines that work on these.
//!
//! [`SingleLoop`] brings a linear graph into the form of one loop, and an engine's results on the transition system back:
//! an invariant as a model of the graph, a path as a derivation in it.

use shofar_horn::graph::EdgeId;
use shofar_horn::transform::{Transformed, WayBack, to_single_loop};
use shofar_horn::witness::{Derivation, GraphModel, GraphStep};
use shofar_horn::{HornGraph, TransitionSystem};
use shofar_logic::{Assignment, Substitution, Term, Value};
use shofar_smt::solver::Solver;

use crate::{Answer, Run, Stop};

/// A graph with one node and without hyperedges, the transition system that it is, and where it comes from.
pub(crate) struct SingleLoop {
    pub(crate) system: TransitionSystem,
    graph: HornGraph,
    back: Box<dyn WayBack>,
}

impl SingleLoop {
    /// Whether a graph has such a form.
    pub(crate) fn accepts(graph: &HornGraph) -> Result<(), String> {
        if graph.is_linear() { Ok(()) } else { Err("clauses with several predicates in the body".to_owned()) }
    }

    /// The form of a linear graph.
    pub(crate) fn of(run: &Run<'_>, graph: &HornGraph) -> Result<Self, Stop> {
        let (Transformed { graph, back }, _) = to_single_loop().run(&run.context(), graph.clone());
        match TransitionSystem::of(run.store, &graph) {
            Some(system) => Ok(SingleLoop { system, graph, back }),
            None => Err(match run.context().interrupted() {
                Some(reason) => reason.into(),
                None => Stop::Internal("linear clauses have not become a transition system".to_owned()),
            }),
        }
    }

    /// The answer if a formula over the variables of a state is a safe inductive invariant.
    pub(crate) fn safe(&self, run: &Run<'_>, invariant: Term) -> Result<Answer, Stop> {
        let model = GraphModel { formulas: vec![invariant] };
        Ok(Answer::Sat(self.back.model(&run.context(), model)?))
    }

    /// The answer if states follow on each other, of which the first one is initial and the last one is bad.
    pub(crate) fn unsafe_by(&self, run: &Run<'_>, states: Vec<Box<[Value]>>) -> Result<Answer, Stop> {
        let mut finder = Finder { run, graph: &self.graph, solver: Solver::new(run.store) };
        let kind = |sources: usize, has_target: bool| -> Vec<EdgeId> {
            let edges = self.graph.edges();
            let fits = edges
                .filter(|(_, edge)| edge.sources().len() == sources && edge.target().is_some() == has_target);
            fits.map(|(id, _)| id).collect()
        };
        let (facts, rules, queries) = (kind(0, true), kind(1, true), kind(1, false));
        let mut steps: Vec<GraphStep> = Vec::with_capacity(states.len() + 1);
        for state in states {
            // A path may have millions of states.
            if let Some(reason) = run.limits.interruption() {
                return Err(reason.into());
            }
            let step = match steps.last() {
                None => GraphStep {
                    edge: finder.edge(&facts, &[], &state)?,
                    premises: Box::default(),
                    fact: state,
                },
                Some(before) => GraphStep {
                    edge: finder.edge(&rules, &before.fact, &state)?,
                    premises: [steps.len() - 1].into(),
                    fact: state,
                },
            };
            steps.push(step);
        }
        let last = steps.last().ok_or_else(|| Stop::Internal("a path without states".to_owned()))?;
        let query = finder.edge(&queries, &last.fact, &[])?;
        steps.push(GraphStep { edge: query, premises: [steps.len() - 1].into(), fact: Box::default() });
        Ok(Answer::Unsat(self.back.derivation(&run.context(), Derivation { steps })?))
    }
}

/// Finds the edges that lead from state to state.
struct Finder<'a> {
    run: &'a Run<'a>,
    graph: &'a HornGraph,
    solver: Solver<'a>,
}

impl Finder<'_> {
    fn edge(&mut self, edges: &[EdgeId], source: &[Value], target: &[Value]) -> Result<EdgeId, Stop> {
        let store = self.run.store;
        for &id in edges {
            let variables = match self.graph.edge(id).sources() {
                [] => &[],
                _ => self.graph.source_variables(id, 0),
            };
            let targets = self.graph.target_variables(id).iter().zip(target);
            let mut values = Assignment::new();
            for (&variable, value) in variables.iter().zip(source).chain(targets) {
                values.set(variable, value.clone());
            }
            // Evaluation leaves no terms behind, of which a long path would need many.
            match store.eval(self.graph.edge(id).label(), &values) {
                Ok(Value::Bool(true)) => return Ok(id),
                Ok(_) => continue,
                Err(_) => {}
            }
            let given = variables.iter().chain(self.graph.target_variables(id));
            let known = |&variable: &Term| Some((variable, store.value_to_term(values.get(variable)?)));
            let given: Substitution = given.filter_map(known).collect();
            let instance = store.normalize(store.substitute(self.graph.edge(id).label(), &given));
            let holds = match instance {
                Term::TRUE => true,
                Term::FALSE => false,
                // Local variables are left.
                _ => self.run.is_satisfiable(&mut self.solver, &[instance])?,
            };
            if holds {
                return Ok(id);
            }
        }
        Err(Stop::Internal("there is no clause for a step of a path".to_owned()))
    }
}
