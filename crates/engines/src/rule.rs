//! Clauses as rules that are resolved with an atom.
//!
//! A rule is a clause whose equations are solved once: the arguments of the body are terms over the variables of the head
//! where equations define them.
//!
//! ```text
//! label        h1 = cons(a, y1), h2 = y2, y3 = h3 - 1
//! constraint   h1 = cons(a, y1)
//! body         P(y1, h2, h3 - 1)
//! ```

use shofar_horn::HornGraph;
use shofar_horn::graph::{EdgeId, NodeId};
use shofar_horn::transform::solve_equations;
use shofar_logic::{Substitution, Term, TermStore};

use crate::unroll::fresh_vector;

/// A clause with solved equations.
pub(crate) struct Rule {
    pub(crate) edge: EdgeId,
    head: Box<[Term]>,
    constraint: Term,
    body: Vec<(NodeId, Box<[Term]>)>,
    /// The variables of constraint and body that do not belong to the head.
    free: Box<[Term]>,
}

/// A rule for the arguments of an atom, with fresh variables.
pub(crate) struct Instance {
    pub(crate) constraint: Term,
    pub(crate) body: Vec<(NodeId, Box<[Term]>)>,
    pub(crate) fresh: Box<[Term]>,
}

impl Rule {
    pub(crate) fn new(store: &TermStore, graph: &HornGraph, edge: EdgeId) -> Self {
        let head = graph.target_variables(edge);
        let sources = graph.edge(edge).sources();
        let is_argument = |variable: &Term| {
            (0..sources.len()).any(|source| graph.source_variables(edge, source).contains(variable))
        };
        let rank = |variable: Term| (!head.contains(&variable)).then(|| u32::from(is_argument(&variable)));
        let solved = solve_equations(store, graph.edge(edge).label(), rank);
        let definitions: Substitution = solved.definitions.into_iter().collect();
        let constraint = store.and(&solved.rest);
        let arguments = |source: usize| -> Box<[Term]> {
            store.instantiate_all(graph.source_variables(edge, source), &definitions).into()
        };
        let body: Vec<(NodeId, Box<[Term]>)> =
            sources.iter().enumerate().map(|(source, &node)| (node, arguments(source))).collect();
        let terms: Vec<Term> =
            body.iter().flat_map(|(_, arguments)| arguments.iter().copied()).chain([constraint]).collect();
        let mut free = store.free_vars(&terms);
        free.retain(|variable| !head.contains(variable));
        Rule { edge, head: head.into(), constraint, body, free: free.into() }
    }

    /// Whether the constraint can be true for the arguments, as far as normal forms and equations tell.
    pub(crate) fn fits(&self, store: &TermStore, arguments: &[Term]) -> bool {
        let renaming: Substitution = self.head.iter().copied().zip(arguments.iter().copied()).collect();
        let constraint = store.instantiate(self.constraint, &renaming);
        let is_solvable = |variable: Term| self.free.contains(&variable).then_some(0);
        constraint != Term::FALSE
            && (constraint == Term::TRUE
                || !solve_equations(store, constraint, is_solvable).rest.contains(&Term::FALSE))
    }

    /// The rule for the arguments of an atom.
    pub(crate) fn instance(&self, store: &TermStore, arguments: &[Term]) -> Instance {
        let fresh = fresh_vector(store, &self.free, "u");
        let mut renaming: Substitution = self.head.iter().copied().zip(arguments.iter().copied()).collect();
        renaming.extend(self.free.iter().copied().zip(fresh.iter().copied()));
        let of_atom = |(node, arguments): &(NodeId, Box<[Term]>)| {
            (*node, store.instantiate_all(arguments, &renaming).into())
        };
        Instance {
            constraint: store.instantiate(self.constraint, &renaming),
            body: self.body.iter().map(of_atom).collect(),
            fresh,
        }
    }
}
