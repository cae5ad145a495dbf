//! Which atom of a goal is resolved.
//!
//! Resolution of goals is an induction on derivations, and the selected atom is what the induction is on. It ends if goals recur,
//! so atoms are preferred that are resolved without inventing structure:
//!
//! 1. an atom without any clause: the goal is proved;
//! 2. a disequality of two constructor terms, which becomes disequalities of fields; and an atom of a predicate that does not
//!    recur, if only one head unifies with it;
//! 3. an atom that *consumes* a constructor: both the atom and the heads that unify with it have constructors in some argument. The
//!    fewer heads unify, the better;
//! 4. an atom of another predicate that does not recur;
//! 5. an atom with a variable on which many atoms of the goal recur: after the step they all can consume a
//!    constructor;
//! 6. a disequality of datatypes, and at last one of other sorts, which can only be dropped.

use rustc_hash::FxHashMap;

use super::input::Problem;
use super::terms::{Atom, Bank, Clause, Id, Node, Unifier};

/// How goals are resolved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Preference {
    /// Variables on which most atoms recur.
    Synchronous,
    /// The first atom in the goal: what a step adds comes last.
    First,
}

/// Selects atoms for a set of clauses.
pub(super) struct Selection {
    preference: Preference,
    /// The clauses by the relations of their heads, with other variables than goals.
    sides: Vec<Vec<Clause>>,
    /// For each relation, the positions where heads of clauses have constructors.
    recursive: Vec<Vec<usize>>,
    /// Whether predicates depend on themselves.
    recurs: Vec<bool>,
    /// The relations that are disequalities, and those of them that are given.
    is_distinct: Vec<bool>,
    is_given: Vec<bool>,
}

impl Selection {
    pub(super) fn new(problem: &mut Problem<'_>, preference: Preference) -> Self {
        let count = problem.relations.len();
        let mut sides = vec![Vec::new(); count];
        for clause in &problem.clauses {
            if let Some(head) = &clause.head {
                sides[head.relation].push(problem.bank.shifted(clause));
            }
        }
        let recursive = sides.iter().map(|sides| {
            let heads = sides.iter().filter_map(|side| side.head.as_ref());
            let positions = heads.flat_map(|head| {
                let made = |&(_, &it): &(usize, &Id)| is_made(&problem.bank, it);
                head.arguments.iter().enumerate().filter(made).map(|(position, _)| position)
            });
            let mut positions: Vec<usize> = positions.collect();
            positions.sort_unstable();
            positions.dedup();
            positions
        });
        Selection {
            preference,
            recurs: recurs(&sides),
            recursive: recursive.collect(),
            is_distinct: (0..count).map(|relation| problem.is_distinct(relation)).collect(),
            is_given: (0..count).map(|relation| problem.is_given(relation)).collect(),
            sides,
        }
    }

    /// The position of the atom of a goal that is resolved; `None` for an empty body.
    pub(super) fn select(&self, bank: &Bank, clause: &Clause) -> Option<usize> {
        let recurring = self.recurring(bank, clause);
        let key = |(position, atom): (usize, &Atom)| (self.rank(bank, atom, position, &recurring), position);
        clause.body.iter().enumerate().map(key).min().map(|(_, position)| position)
    }

    /// How many atoms recur on a variable.
    fn recurring(&self, bank: &Bank, clause: &Clause) -> FxHashMap<u32, usize> {
        let mut recurring: FxHashMap<u32, usize> = FxHashMap::default();
        for atom in clause.body.iter().filter(|atom| !self.is_distinct[atom.relation]) {
            let mut own: Vec<u32> = Vec::new();
            for &position in &self.recursive[atom.relation] {
                if let &Node::Variable(number) = bank.node(atom.arguments[position])
                    && !own.contains(&number)
                {
                    own.push(number);
                    *recurring.entry(number).or_default() += 1;
                }
            }
        }
        recurring
    }

    /// The lower, the better.
    fn rank(
        &self,
        bank: &Bank,
        atom: &Atom,
        position: usize,
        recurring: &FxHashMap<u32, usize>,
    ) -> (usize, usize, usize) {
        let is_distinct = self.is_distinct[atom.relation];
        if self.is_given[atom.relation] {
            return if atom.arguments[0] == atom.arguments[1] { (0, 0, 0) } else { (6, 0, 0) };
        }
        let heads = self.sides[atom.relation].iter().filter_map(|side| side.head.as_ref());
        let heads: Vec<&Atom> = heads.filter(|head| Unifier::of(bank, atom, head).is_some()).collect();
        if heads.is_empty() {
            return (0, 0, 0);
        }
        if is_distinct {
            let is_decomposed = atom.arguments.iter().all(|&side| is_made(bank, side));
            return if is_decomposed { (1, 0, 0) } else { (5, 0, 0) };
        }
        let consumes = (0..atom.arguments.len()).any(|position| {
            is_made(bank, atom.arguments[position])
                && heads.iter().all(|head| is_made(bank, head.arguments[position]))
        });
        if consumes {
            return (2, heads.len(), 0);
        }
        if !self.recurs[atom.relation] {
            return (if heads.len() == 1 { 1 } else { 3 }, heads.len(), 0);
        }
        if self.preference == Preference::First {
            return (4, position, 0);
        }
        let shared = self.recursive[atom.relation].iter().filter_map(|&position| {
            match bank.node(atom.arguments[position]) {
                Node::Variable(number) => recurring.get(number).copied(),
                Node::Application(..) => None,
            }
        });
        (4, usize::MAX - shared.max().unwrap_or(0), heads.len())
    }
}

/// Which relations depend on themselves.
fn recurs(sides: &[Vec<Clause>]) -> Vec<bool> {
    let depends = |from: usize, on: usize| {
        let mut seen = vec![false; sides.len()];
        let mut open = vec![from];
        while let Some(relation) = open.pop() {
            for atom in sides[relation].iter().flat_map(|side| &side.body) {
                if atom.relation == on {
                    return true;
                }
                if !std::mem::replace(&mut seen[atom.relation], true) {
                    open.push(atom.relation);
                }
            }
        }
        false
    };
    (0..sides.len()).map(|relation| depends(relation, relation)).collect()
}

fn is_made(bank: &Bank, term: Id) -> bool {
    matches!(bank.node(term), Node::Application(..))
}
