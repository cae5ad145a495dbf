//! Patterns: conjunctions of atoms that share arguments, up to renaming.
//!
//! ```text
//! append(x, y, a), append(x, y, b)      the pattern of append(t, nil, cons(h, r)), append(t, nil, s)
//! ```
//!
//! - P1: the arguments of a pattern's atoms are its variables, numbered from zero in the order of their first
//!   occurrence. Equal arguments of the atoms that it was made of are the same variable, others are not.

use shofar_horn::graph::NodeId;
use shofar_logic::{Sort, Term, TermStore};

/// A predicate applied to terms.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Goal {
    pub(super) node: NodeId,
    pub(super) arguments: Box<[Term]>,
    /// How many constructors it must not reach to be unfolded freely.
    pub(super) limit: usize,
}

/// A conjunction of atoms over numbered variables.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Pattern {
    pub(super) atoms: Vec<(NodeId, Box<[usize]>)>,
    /// The sorts of the variables.
    pub(super) sorts: Vec<Sort>,
}

/// A pattern found among goals.
pub(super) struct Match {
    /// The goals, in the order of the pattern's atoms.
    pub(super) goals: Vec<usize>,
    /// The terms for the variables.
    pub(super) arguments: Vec<Term>,
}

impl Goal {
    /// A goal that may be unfolded.
    pub(super) fn new(node: NodeId, arguments: Box<[Term]>) -> Self {
        Goal { node, arguments, limit: usize::MAX }
    }
}

impl Pattern {
    /// The pattern of goals, and the terms for its variables.
    pub(super) fn of(store: &TermStore, goals: &[&Goal]) -> (Self, Vec<Term>) {
        let mut terms: Vec<Term> = Vec::new();
        let mut number = |&term: &Term| {
            terms.iter().position(|&other| other == term).unwrap_or_else(|| {
                terms.push(term);
                terms.len() - 1
            })
        };
        let atoms =
            goals.iter().map(|goal| (goal.node, goal.arguments.iter().map(&mut number).collect())).collect();
        let sorts = terms.iter().map(|&term| store.sort_of(term)).collect();
        (Pattern { atoms, sorts }, terms)
    }

    /// Finds the pattern among goals: a different goal for each atom, the same term for the occurrences of a variable
    /// and different terms for different variables.
    pub(super) fn find(&self, goals: &[&Goal]) -> Option<Match> {
        let mut chosen: Vec<usize> = Vec::new();
        let mut next = 0;
        loop {
            if chosen.len() == self.atoms.len() {
                let arguments = self.bindings(goals, &chosen)?;
                let arguments = arguments.into_iter().collect::<Option<_>>()?;
                return Some(Match { goals: chosen, arguments });
            }
            let fits = |&goal: &usize| {
                let (node, _) = self.atoms[chosen.len()];
                goals[goal].node == node && !chosen.contains(&goal) && {
                    let all: Vec<usize> = chosen.iter().copied().chain([goal]).collect();
                    self.bindings(goals, &all).is_some()
                }
            };
            match (next..goals.len()).find(fits) {
                Some(goal) => {
                    chosen.push(goal);
                    next = 0;
                }
                None => next = chosen.pop()? + 1,
            }
        }
    }

    /// The terms that goals give to the variables of the first atoms; `None` if they do not fit.
    fn bindings(&self, goals: &[&Goal], chosen: &[usize]) -> Option<Vec<Option<Term>>> {
        let mut bound: Vec<Option<Term>> = vec![None; self.sorts.len()];
        for ((_, variables), &goal) in self.atoms.iter().zip(chosen) {
            for (&variable, &term) in variables.iter().zip(&goals[goal].arguments) {
                let is_taken = bound.contains(&Some(term));
                match bound[variable] {
                    Some(known) if known != term => return None,
                    Some(_) => {}
                    None if is_taken => return None,
                    None => bound[variable] = Some(term),
                }
            }
        }
        Some(bound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn goal(node: usize, arguments: &[Term]) -> Goal {
        Goal::new(NodeId::new(node), arguments.into())
    }

    #[test]
    fn a_pattern_is_found_in_any_order_with_exactly_its_equalities() {
        let store = TermStore::new();
        let term = |name: &str| store.var(store.symbol(name), Sort::INT);
        let [x, y, a, b, c] = ["x", "y", "a", "b", "c"].map(term);
        let (functional, terms) = Pattern::of(&store, &[&goal(0, &[x, y, a]), &goal(0, &[x, y, b])]);
        assert_eq!(terms, [x, y, a, b]);
        let goals = [goal(1, &[x]), goal(0, &[y, c, a]), goal(0, &[x, a, b]), goal(0, &[y, c, x])];
        let goals: Vec<&Goal> = goals.iter().collect();
        let found = functional.find(&goals).unwrap();
        assert_eq!((found.goals, found.arguments), (vec![1, 3], vec![y, c, a, x]));
        // Different variables need different terms.
        let equal = [goal(0, &[x, y, a]), goal(0, &[x, y, a])];
        assert!(functional.find(&[&equal[0], &equal[1]]).is_none());
        assert!(functional.find(&[&equal[0]]).is_none());
    }
}
