//! The automaton as the loop sees it: its edges as relations, and the way to the error location.
//!
//! The statements of an edge become one relation between the values before and after. It needs no variables for the values
//! after: each is a term over the values before and *unknowns*, one for each value that a statement leaves open. So a
//! predicate about the values after is a formula about those before, and the solver of an edge never sees equations between
//! copies.
//!
//! ```text
//! havoc v        v has a new unknown as its value
//! assume c       c, with the values so far, is a conjunct of the guard
//! v := e         v has the value of e
//! ```
//!
//! Variables that are not live at the source have unknown values, too.

use std::collections::VecDeque;

use shofar_horn::cfa::{Cfa, CfaEdgeId, LocationId, Statement};
use shofar_logic::{Substitution, Term, TermStore};
use shofar_run::Stop;

use crate::Run;
use crate::interpolation_abstraction::{Step, Templates};
use crate::unroll::{Template, fresh_vector};

/// An automaton without calls.
pub(super) struct Program<'a> {
    pub(super) store: &'a TermStore,
    pub(super) cfa: &'a Cfa,
    /// Indexed by edge.
    relations: Vec<Relation>,
    /// Indexed by location: the number of edges to the error location, if there is a way.
    distances: Vec<Option<u64>>,
}

/// An edge as a relation.
pub(super) struct Relation {
    /// The conjuncts of the guard, over the source's variables and unknowns.
    pub(super) guard: Vec<Term>,
    /// The values of the target's variables, likewise.
    values: Substitution,
    /// All variables of guard and values, and the source's.
    pub(super) variables: Box<[Term]>,
    /// The relation as a formula, and its variables for the values after.
    pub(super) template: Template,
    pub(super) after: Box<[Term]>,
}

impl Relation {
    /// A formula over the target's variables, as one over the values before and unknowns.
    pub(super) fn before(&self, store: &TermStore, formula: Term) -> Term {
        store.instantiate(formula, &self.values)
    }
}

impl<'a> Program<'a> {
    /// Reads an automaton; calls are not supported.
    pub(super) fn new(store: &'a TermStore, cfa: &'a Cfa) -> Result<Self, Stop> {
        let relations =
            cfa.edges().map(|(edge, _)| relation(store, cfa, edge)).collect::<Result<_, Stop>>()?;
        Ok(Program { store, cfa, relations, distances: distances(cfa) })
    }

    pub(super) fn relation(&self, edge: CfaEdgeId) -> &Relation {
        &self.relations[edge.index()]
    }

    /// What interpolants at loop heads may speak of.
    pub(super) fn templates(&self, run: &Run<'_>) -> Result<Templates, Stop> {
        let mut steps = Vec::new();
        for (id, edge) in self.cfa.edges() {
            let Relation { template, after, .. } = self.relation(id);
            steps.push(Step {
                from: edge.source.index(),
                to: edge.target.index(),
                before: self.variables(edge.source),
                after,
                formula: template.formula(),
            });
        }
        let variables = self.cfa.locations().map(|(_, location)| location.variables.clone()).collect();
        Templates::of_loops(run, variables, &steps)
    }

    /// The live variables of a location.
    pub(super) fn variables(&self, location: LocationId) -> &'a [Term] {
        &self.cfa.location(location).variables
    }

    /// The number of edges from a location to the error location, if there is a way.
    pub(super) fn distance(&self, location: LocationId) -> Option<u64> {
        self.distances[location.index()]
    }

    pub(super) fn is_error(&self, location: LocationId) -> bool {
        location == self.cfa.error()
    }

    /// Whether a formula is over the live variables of a location.
    pub(super) fn is_about(&self, location: LocationId, formula: Term) -> bool {
        let live = self.variables(location);
        self.store.free_vars(&[formula]).iter().all(|variable| live.contains(variable))
    }
}

/// Executes the statements of an edge on terms.
fn relation(store: &TermStore, cfa: &Cfa, edge: CfaEdgeId) -> Result<Relation, Stop> {
    let edge = cfa.edge(edge);
    let source = &cfa.location(edge.source).variables;
    let target = &cfa.location(edge.target).variables;
    let mut values: Substitution = source.iter().map(|&variable| (variable, variable)).collect();
    let mut guard = Vec::new();
    let unknown = |variable: Term| fresh_vector(store, &[variable], "unknown")[0];
    let read = |term: Term, values: &mut Substitution| {
        for variable in store.free_vars(&[term]) {
            if values.get(variable).is_none() {
                values.insert(variable, unknown(variable));
            }
        }
        store.instantiate(term, values)
    };
    for statement in &edge.statements {
        match statement {
            Statement::Havoc(variables) => {
                values.extend(variables.iter().map(|&variable| (variable, unknown(variable))));
            }
            Statement::Assume(condition) => {
                let condition = read(*condition, &mut values);
                guard.extend(store.conjuncts(condition));
            }
            Statement::Assign(assignments) => {
                let assigned: Vec<(Term, Term)> =
                    assignments.iter().map(|&(variable, term)| (variable, read(term, &mut values))).collect();
                values.extend(assigned);
            }
            Statement::Call(..) => return Err(Stop::Unsupported("programs with procedures".to_owned())),
        }
    }
    let values: Substitution =
        target.iter().map(|&variable| (variable, read(variable, &mut values))).collect();
    let after = fresh_vector(store, target, "after");
    let known = |variable: &Term| values.get(*variable).unwrap_or(*variable);
    let equations = std::iter::zip(&after, target).map(|(&after, variable)| store.eq(after, known(variable)));
    let formula = store.and_of(guard.iter().copied().chain(equations));
    let mut all: Vec<Term> = guard.iter().copied().chain(target.iter().map(known)).collect();
    all.extend(source.iter().copied());
    let variables = store.free_vars(&all).into();
    let template = Template::new(store, formula, &[source, &after]);
    Ok(Relation { guard, values, variables, template, after })
}

/// The distances to the error location, by a search backwards.
fn distances(cfa: &Cfa) -> Vec<Option<u64>> {
    let mut incoming: Vec<Vec<LocationId>> = vec![Vec::new(); cfa.locations().len()];
    for (_, edge) in cfa.edges() {
        incoming[edge.target.index()].push(edge.source);
    }
    let mut distances = vec![None; cfa.locations().len()];
    distances[cfa.error().index()] = Some(0);
    let mut queue = VecDeque::from([(cfa.error(), 0)]);
    while let Some((location, distance)) = queue.pop_front() {
        for &before in &incoming[location.index()] {
            if distances[before.index()].is_none() {
                distances[before.index()] = Some(distance + 1);
                queue.push_back((before, distance + 1));
            }
        }
    }
    distances
}
