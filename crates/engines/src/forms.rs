//! The forms of linear systems that engines work on.
//!
//! A [`LoopForm`] is a graph in such a form with the way back: its models become models of the original graph, and its
//! paths become derivations there. [`TransitionForm`] is the form with one predicate, a transition system.

use rustc_hash::FxHashMap;
use shofar_horn::graph::{EdgeId, NodeId};
use shofar_horn::transform::{Image, Lemma, Pipeline, Transformed, Translation, to_single_loop};
use shofar_horn::witness::{Derivation, GraphModel, GraphStep};
use shofar_horn::{HornGraph, TransitionSystem};
use shofar_logic::{Assignment, Substitution, Term, Value};
use shofar_run::Stop;
use shofar_smt::solver::Solver;

use crate::{Evidence, Run};

/// A linear graph and its translation to the original one.
pub(crate) struct LoopForm {
    pub(crate) graph: HornGraph,
    translation: Box<dyn Translation>,
}

impl LoopForm {
    /// Applies transformations to a linear graph.
    pub(crate) fn of(run: &Run<'_>, graph: &HornGraph, form: &Pipeline) -> Result<Self, Stop> {
        let (Transformed { graph, translation }, _) = form.run(run, graph.clone());
        run.go_on()?;
        Ok(LoopForm { graph, translation })
    }

    /// The answer if the formulas over the nodes' variables are a model.
    pub(crate) fn safe(&self, run: &Run<'_>, formulas: Vec<Term>) -> Result<Evidence, Stop> {
        Ok(Evidence::Sat(self.translation.model_back(run, GraphModel::of_formulas(formulas))?))
    }

    /// The answer for the original graph, from that for the graph in this form.
    pub(crate) fn back(&self, run: &Run<'_>, evidence: Evidence) -> Result<Evidence, Stop> {
        match evidence {
            Evidence::Sat(model) => Ok(Evidence::Sat(self.translation.model_back(run, model)?)),
            Evidence::Induction(_) | Evidence::Saturation(_) => Err(Stop::Internal(
                "a proof of clauses as they were read cannot be translated back".to_owned(),
            )),
            Evidence::Unsat(derivation) => {
                Ok(Evidence::Unsat(self.translation.derivation_back(run, derivation)?))
            }
        }
    }

    /// The answer if the path leads from a fact to a query. It is empty for a query without predicates.
    pub(crate) fn unsafe_by(
        &self,
        run: &Run<'_>,
        path: impl IntoIterator<Item = (NodeId, Box<[Value]>)>,
    ) -> Result<Evidence, Stop> {
        let mut finder = Finder::new(run, &self.graph);
        let mut steps: Vec<GraphStep> = Vec::new();
        let mut at: Option<NodeId> = None;
        let ends = path.into_iter().map(|(node, state)| (Some(node), state)).chain([(None, Box::default())]);
        for (target, fact) in ends {
            // A path may have millions of states.
            if let Some(reason) = run.limits.interruption() {
                return Err(reason.into());
            }
            let before: &[Value] = steps.last().map_or(&[], |step| &step.fact);
            let edge = finder.edge(at, target, before, &fact)?;
            let premises = steps.len().checked_sub(1).into_iter().collect();
            steps.push(GraphStep { edge, premises, fact });
            at = target;
        }
        Ok(Evidence::Unsat(self.translation.derivation_back(run, Derivation { steps })?))
    }
}

/// A graph with one node, and its transition system.
pub(crate) struct TransitionForm {
    pub(crate) system: TransitionSystem,
    form: LoopForm,
}

impl TransitionForm {
    /// Converts a linear graph.
    pub(crate) fn of(run: &Run<'_>, graph: &HornGraph) -> Result<Self, Stop> {
        let form = LoopForm::of(run, graph, &to_single_loop())?;
        match TransitionSystem::of(run.store, &form.graph) {
            Some(system) => Ok(TransitionForm { system, form }),
            None => Err(Stop::Internal("linear clauses have not become a transition system".to_owned())),
        }
    }

    /// The answer if a formula over the state variables is a safe inductive invariant.
    pub(crate) fn safe(&self, run: &Run<'_>, invariant: Term) -> Result<Evidence, Stop> {
        self.form.safe(run, vec![invariant])
    }

    /// The graph with one node.
    #[cfg(test)]
    pub(crate) fn graph(&self) -> &HornGraph {
        &self.form.graph
    }

    /// A formula about a node of the original graph, about states.
    pub(crate) fn forward(&self, run: &Run<'_>, lemma: Lemma) -> Image {
        self.form.translation.forward(run, lemma)
    }

    /// A formula about states at all nodes of the original graph, by mere renaming.
    pub(crate) fn renamed_back(&self, run: &Run<'_>, formula: Term) -> Option<GraphModel> {
        let translation = &self.form.translation;
        let renamed = || translation.model_back(run, GraphModel::of_formulas([formula])).ok();
        translation.is_renaming().then(renamed).flatten()
    }

    /// The answer if the states form a path from an initial to a bad one.
    pub(crate) fn unsafe_by(&self, run: &Run<'_>, states: Vec<Box<[Value]>>) -> Result<Evidence, Stop> {
        self.form.unsafe_by(run, states.into_iter().map(|state| (NodeId::new(0), state)))
    }
}

/// Finds the edges between successive states.
struct Finder<'a> {
    run: &'a Run<'a>,
    graph: &'a HornGraph,
    /// Indexed by source and target.
    edges: FxHashMap<(Option<NodeId>, Option<NodeId>), Vec<EdgeId>>,
    solver: Solver<'a>,
}

impl<'a> Finder<'a> {
    fn new(run: &'a Run<'a>, graph: &'a HornGraph) -> Self {
        let mut edges: FxHashMap<_, Vec<EdgeId>> = FxHashMap::default();
        for (id, edge) in graph.edges() {
            edges.entry((edge.sources().first().copied(), edge.target())).or_default().push(id);
        }
        Finder { run, graph, edges, solver: run.solver() }
    }

    /// The edge between two nodes that leads from one state to another.
    fn edge(
        &mut self,
        from: Option<NodeId>,
        to: Option<NodeId>,
        source: &[Value],
        target: &[Value],
    ) -> Result<EdgeId, Stop> {
        let store = self.run.store;
        for &id in self.edges.get(&(from, to)).map_or(&[][..], Vec::as_slice) {
            let variables = match self.graph.edge(id).sources() {
                [] => &[],
                _ => self.graph.source_variables(id, 0),
            };
            let targets = self.graph.target_variables(id).iter().zip(target);
            let mut values = Assignment::new();
            for (&variable, value) in variables.iter().zip(source).chain(targets) {
                values.set(variable, value.clone());
            }
            // Evaluation creates no terms; a long path would need many.
            match store.eval(self.graph.edge(id).label(), &values) {
                Ok(Value::Bool(true)) => return Ok(id),
                Ok(_) => continue,
                Err(_) => {}
            }
            let given = variables.iter().chain(self.graph.target_variables(id));
            let known = |&variable: &Term| Some((variable, store.value_to_term(values.get(variable)?)));
            let given: Substitution = given.filter_map(known).collect();
            let instance = store.instantiate(self.graph.edge(id).label(), &given);
            let holds = match instance {
                Term::TRUE => true,
                Term::FALSE => false,
                // Local variables remain.
                _ => self.run.is_satisfiable(&mut self.solver, &[instance])?,
            };
            if holds {
                return Ok(id);
            }
        }
        Err(Stop::Internal("there is no clause for a step of a path".to_owned()))
    }
}
