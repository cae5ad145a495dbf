//! Replays derivations on values: the clauses of a derivation, of which an abstraction knows that they fit, may have values that
//! fit as well.
//!
//! One solver has the constraints of all steps, with variables for the facts. Its model is a derivation, and the constraints are
//! evaluated before one is claimed: SMT-LIB leaves open what a selector gives for another constructor, and a derivation must not
//! depend on that.

use shofar_horn::HornGraph;
use shofar_horn::witness::{Derivation, GraphStep};
use shofar_logic::{Assignment, Substitution, Term, TermStore, Value};
use shofar_run::Stop;

use crate::Run;

/// The reason not to refute clauses.
pub(crate) const DEPENDS_ON_SELECTORS: Stop =
    Stop::Exhausted("a derivation depends on selectors of other constructors than theirs");

/// The clauses of a derivation, with variables for its facts.
pub(crate) struct Replay {
    /// The arguments of the facts, by steps.
    facts: Vec<Vec<Term>>,
    /// The constraints, by steps.
    labels: Vec<Term>,
}

impl Replay {
    /// The same clauses in a graph with the same edges.
    pub(crate) fn new(store: &TermStore, graph: &HornGraph, derivation: &Derivation) -> Self {
        let fresh = |&variable: &Term| store.var(store.fresh_symbol("replayed"), store.sort_of(variable));
        let (mut facts, mut labels): (Vec<Vec<Term>>, Vec<Term>) = Default::default();
        for GraphStep { edge, premises, .. } in &derivation.steps {
            let next = graph.target_variables(*edge);
            let fact: Vec<Term> = next.iter().map(fresh).collect();
            let mut renaming: Substitution = next.iter().copied().zip(fact.iter().copied()).collect();
            for (source, &premise) in premises.iter().enumerate() {
                let variables = graph.source_variables(*edge, source).iter().copied();
                renaming.extend(variables.zip(facts[premise].iter().copied()));
            }
            renaming.extend(graph.locals(store, *edge).iter().map(|local| (*local, fresh(local))));
            labels.push(store.instantiate(graph.edge(*edge).label(), &renaming));
            facts.push(fact);
        }
        Replay { facts, labels }
    }

    /// The constraints of all steps.
    pub(crate) fn into_labels(self) -> Vec<Term> {
        self.labels
    }

    /// Values for which all constraints hold, if there are any.
    pub(crate) fn values(&self, run: &Run<'_>) -> Result<Option<Assignment>, Stop> {
        let mut solver = run.solver();
        run.assert(&mut solver, &self.labels)?;
        if !run.is_satisfiable(&mut solver, &[])? {
            return Ok(None);
        }
        let variables = run.store.free_vars(&self.labels);
        let terms: Vec<Term> = variables.into_iter().chain(self.facts.iter().flatten().copied()).collect();
        let model = solver.model(&terms);
        let value = |&variable: &Term| {
            let value = model.get(variable).cloned();
            (variable, value.unwrap_or_else(|| run.store.default_value(run.store.sort_of(variable))))
        };
        Ok(Some(terms.iter().map(value).collect()))
    }

    /// The derivation with these values, unless it depends on the values of selectors where they have no meaning.
    pub(crate) fn derivation(
        &self,
        store: &TermStore,
        old: &Derivation,
        values: &Assignment,
    ) -> Option<Derivation> {
        let holds = |&label: &Term| store.eval(label, values) == Ok(Value::Bool(true));
        if !self.labels.iter().all(holds) {
            return None;
        }
        let mut steps = Vec::with_capacity(old.steps.len());
        for (GraphStep { edge, premises, .. }, fact) in old.steps.iter().zip(&self.facts) {
            let fact = fact.iter().map(|&argument| values.get(argument).cloned()).collect::<Option<_>>()?;
            steps.push(GraphStep { edge: *edge, premises: premises.clone(), fact });
        }
        Some(Derivation { steps })
    }
}
