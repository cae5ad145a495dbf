//! Generalises excluded cubes: fewer and weaker literals exclude more.
//!
//! A cube that no clause reaches from `F_{n-1}` is made weaker by dropping one literal after the other: if still no
//! clause reaches it, where the lemma itself is assumed for the bodies, the literal was not needed (inductive
//! generalisation: A. Bradley, "SAT-based model checking without unrolling", VMCAI 2011). An equation of numbers is two
//! bounds, one of which often suffices; one with a constructor term is a tester and equations of the fields. The core of each success drops more literals at once. Before that, weaker
//! literals from proofs may replace literals of the core (`proof_lemmas.rs`).
//!
//! A cube with a point of a reach fact is not tried: its lemma could never hold at all levels.

use shofar_horn::graph::NodeId;
use shofar_logic::{Op, Term, TermStore};
use shofar_run::Limits;

use super::expand::{Block, Conflict};
use super::frames::Level;
use super::obligations::{Obligation, ObligationId};
use super::{Search, Stop};

/// The conflict limit for dropping a literal.
const DROP_CONFLICTS: u64 = 5_000;

impl Search<'_> {
    /// Unreachable cubes that together contain the obligation's cube, each with its level.
    pub(super) fn generalise(
        &mut self,
        id: ObligationId,
        conflict: Conflict,
    ) -> Result<Vec<(Vec<Term>, Level)>, Stop> {
        let Obligation { node, level, is_candidate, .. } = *self.obligations.get(id);
        let mut lemmas = match is_candidate {
            true => vec![(conflict.cube, conflict.level)],
            false => self.cubes_by_proofs(id, conflict, level)?,
        };
        if self.options.generalise {
            for lemma in &mut lemmas {
                *lemma = self.drop_literals(node, std::mem::take(lemma), level)?;
            }
        }
        Ok(lemmas)
    }

    /// An unreachable cube with fewer literals.
    fn drop_literals(
        &mut self,
        node: NodeId,
        (mut cube, mut highest): (Vec<Term>, Level),
        level: Level,
    ) -> Result<(Vec<Term>, Level), Stop> {
        if self.options.split_equations {
            cube = split_equations(self.store, &cube);
        }
        let mut kept = 0;
        while kept < cube.len() && cube.len() > 1 {
            self.run.go_on()?;
            let mut candidate = cube.clone();
            candidate.remove(kept);
            match self.blocked(node, &candidate, level)? {
                Some(conflict) => {
                    self.statistics.drops += (cube.len() - conflict.cube.len()) as u64;
                    let mut left = conflict.cube.iter().peekable();
                    kept = cube[..kept].iter().filter(|literal| left.next_if_eq(literal).is_some()).count();
                    (cube, highest) = (conflict.cube, conflict.level);
                }
                None => kept += 1,
            }
        }
        Ok((join_equations(self.store, cube), highest))
    }

    /// The reason why a cube cannot be reached at a level; `None` if it can, or if this takes too long.
    pub(super) fn blocked(
        &mut self,
        node: NodeId,
        cube: &[Term],
        level: Level,
    ) -> Result<Option<Conflict>, Stop> {
        self.statistics.drop_attempts += 1;
        if self.has_known_point(node, cube) {
            return Ok(None);
        }
        let limits = Limits { conflicts: Some(DROP_CONFLICTS), ..self.run.limits };
        match self.block(node, cube, level, &limits)? {
            Block::Blocked(conflict) => Ok(Some(conflict)),
            Block::Derivable(..) | Block::Unknown(_) => Ok(None),
        }
    }
}

/// Replaces each equation between numbers by two bounds, and each equation with a constructor term by a tester and
/// equations of the fields.
pub(crate) fn split_equations(store: &TermStore, cube: &[Term]) -> Vec<Term> {
    let mut split = Vec::with_capacity(cube.len());
    let mut open: Vec<Term> = cube.iter().rev().copied().collect();
    while let Some(literal) = open.pop() {
        let (Op::Eq, &[left, right]) = store.view(literal) else {
            split.push(literal);
            continue;
        };
        if store.sort_of(left).is_arithmetic() {
            split.extend([store.le(left, right), store.ge(left, right)]);
            continue;
        }
        let (whole, made) = if is_constructed(store, left) { (right, left) } else { (left, right) };
        let (Op::Construct(constructor), fields) = store.view(made) else {
            split.push(literal);
            continue;
        };
        split.extend(Some(store.tester(constructor, whole)).filter(|&tester| tester != Term::TRUE));
        let selected =
            |(field, &part): (usize, &Term)| store.eq(store.selector(constructor, field as u32, whole), part);
        open.extend(fields.iter().enumerate().rev().map(selected));
    }
    split
}

fn is_constructed(store: &TermStore, term: Term) -> bool {
    matches!(store.op(term), Op::Construct(_))
}

/// Replaces two matching bounds by an equation.
pub(crate) fn join_equations(store: &TermStore, cube: Vec<Term>) -> Vec<Term> {
    let mut joined = cube.clone();
    for &literal in &cube {
        let (Op::Le, &[form, constant]) = store.view(literal) else { continue };
        let lower = store.ge(form, constant);
        if joined.contains(&lower) {
            joined.retain(|&other| other != literal && other != lower);
            joined.push(store.eq(form, constant));
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;
    use shofar_logic::{ConstructorSpec, Sort};

    #[test]
    fn equations_are_split_and_joined() {
        let store = TermStore::new();
        let x = store.var(store.symbol("x"), Sort::INT);
        let y = store.var(store.symbol("y"), Sort::REAL);
        let cube = [store.eq(x, store.int(3)), store.ge(y, store.real(1)), store.eq(y, store.real(1))];
        let split = split_equations(&store, &cube);
        assert_eq!(split.len(), 5);
        assert_eq!(join_equations(&store, split).len(), 2);
    }

    #[test]
    fn equations_with_constructors_are_split_into_fields() {
        let store = TermStore::new();
        let sort = store.new_datatype(store.symbol("List"), &[]);
        let nil = ConstructorSpec { name: store.symbol("nil"), fields: vec![] };
        let fields = vec![(store.symbol("head"), Sort::INT), (store.symbol("tail"), sort)];
        let cons = ConstructorSpec { name: store.symbol("cons"), fields };
        let sort = store.define_datatypes(&[(sort, vec![nil, cons])]).unwrap()[0];
        let &[nil, cons] = store.datatype(sort).unwrap().constructors() else { panic!("two constructors") };
        let [x, y] = ["x", "y"].map(|name| store.var(store.symbol(name), sort));
        let list = store.construct_term(cons, &[store.int(1), y]);
        let split =
            split_equations(&store, &[store.eq(x, store.construct_term(cons, &[store.int(2), list]))]);
        let (head, tail) = (store.selector(cons, 0, x), store.selector(cons, 1, x));
        let expected = [
            store.tester(cons, x),
            store.le(head, store.int(2)),
            store.ge(head, store.int(2)),
            store.tester(cons, tail),
            store.le(store.selector(cons, 0, tail), store.int(1)),
            store.ge(store.selector(cons, 0, tail), store.int(1)),
            store.eq(store.selector(cons, 1, tail), y),
        ];
        assert_eq!(split, expected);
        let empty = store.eq(x, store.construct_term(nil, &[]));
        assert_eq!(split_equations(&store, &[empty]), [store.tester(nil, x)]);
    }
}
