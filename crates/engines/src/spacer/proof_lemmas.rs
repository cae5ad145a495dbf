//! Lemmas from proofs: bounds that the clauses themselves suggest.
//!
//! A core names literals of the obligation's cube, and has no other forms and constants. The proof of unsatisfiability
//! has more: a Farkas sum of the clause's side gives the combination of the variables that is bounded, and its bound.
//! If the head's cube consists of units of side B, and everything else is A, the interpolant is a disjunction of such
//! bounds and of negated literals: pivots of A join by disjunction, and pivots of B are the units, whose partial
//! interpolant is true. Its negation is a cube again,
//!
//! - which the obligation's cube implies, and
//! - in which the clause derives nothing.
//!
//! With several clauses, the union of their cubes has both properties for all of them. So these literals replace the
//! core's, before literals are dropped. If a proof has no interpolant of that form (integer splits on forms over both
//! sides), the core's literals are kept for that clause.
//!
//! This holds for Farkas sums of side A. Other [forms](LemmaForm) are read off the same proof: the sum of B, the
//! literals of a decomposed sum of B, or a sum of A decomposed into a conjunction, which gives several lemmas, each
//! checked separately. A predicate whose lemmas repeat except for their numbers may get another form.
//!
//! **Templates.** A core that names the number of rounds, `i >= 49`, excludes one round after the other. If interpolants shall speak of
//! templates of the head's loop (`../interpolation_abstraction`), B is the whole cube, A has the whole frames, and each lemma is checked.
//! This has to begin with the first lemmas: once frames have forgotten a relation, no proof about them finds it again.
//!
//! The method is that of the interpolating unsatisfiable cores of Z3's Spacer: A. Gurfinkel, N. Bjørner et al.

use std::collections::hash_map::Entry;
use std::rc::Rc;

use shofar_horn::graph::{EdgeId, NodeId};
use shofar_logic::{Op, Sort, Term, TermStore};
use shofar_run::Limits;
use shofar_smt::interpolate::{Fallback, Options};
use shofar_smt::project::simplify_cube;
use shofar_smt::proof::Part;
use shofar_smt::purify::Unsupported;
use shofar_smt::sat::Outcome;

use super::edges::Core;
use super::expand::Conflict;
use super::frames::Level;
use super::obligations::{Obligation, ObligationId};
use super::renaming::Place;
use super::{Search, Stop};
use crate::InterpolationMethod;
use crate::option::Named;

/// The origin of the literals of lemmas.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LemmaForm {
    /// Unsatisfiable cores.
    Core,
    /// Interpolants by one method.
    By(InterpolationMethod),
    /// Interpolants by another method when the lemmas of a predicate repeat except for their numbers.
    Adaptive,
}

impl Named for LemmaForm {
    const ALL: &'static [Self] = &[
        LemmaForm::Core,
        LemmaForm::By(InterpolationMethod::Farkas),
        LemmaForm::By(InterpolationMethod::DualFarkas),
        LemmaForm::By(InterpolationMethod::Decomposed),
        LemmaForm::By(InterpolationMethod::DualDecomposed),
        LemmaForm::Adaptive,
    ];

    fn name(self) -> &'static str {
        match self {
            LemmaForm::Core => "none",
            LemmaForm::By(interpolation) => interpolation.name(),
            LemmaForm::Adaptive => "adaptive",
        }
    }
}

/// The methods of adaptive lemmas, in turn.
const TURNS: [InterpolationMethod; 3] =
    [InterpolationMethod::Farkas, InterpolationMethod::DualFarkas, InterpolationMethod::Decomposed];

/// The maximal number of lemmas from one conflict.
const MOST_LEMMAS: usize = 4;

/// The clause and the frames below.
const A: Part = Part(0);
/// The cube of the head.
const B: Part = Part(1);

/// The conflict limit for a proof.
const PROOF_CONFLICTS: u64 = 2_000;

/// Excluded cubes with the levels up to which they cannot be reached.
type Cubes = Vec<(Vec<Term>, Level)>;

impl Search<'_> {
    /// Cubes that together contain the cube of a conflict, from its proofs if possible, and the levels up to which they
    /// cannot be reached.
    pub(super) fn cubes_by_proofs(
        &mut self,
        id: ObligationId,
        conflict: Conflict,
        level: Level,
    ) -> Result<Cubes, Stop> {
        let Obligation { node, .. } = *self.obligations.get(id);
        let interpolation = match self.options.interpolation {
            LemmaForm::Core => return Ok(vec![(conflict.cube, conflict.level)]),
            LemmaForm::By(interpolation) => interpolation,
            LemmaForm::Adaptive => TURNS[self.guidance.repetitions(node) % TURNS.len()],
        };
        let cube = Rc::clone(&self.obligations.get(id).cube);
        if let Some(lemmas) = self.cubes_by_templates(node, &cube, &conflict, level, interpolation)? {
            return Ok(lemmas);
        }
        // The cubes excluded by all clauses together: each combines a cube of each clause.
        let mut cubes: Vec<Vec<Term>> = vec![Vec::new()];
        for (edge, core) in &conflict.cores {
            let mut parts = self.cubes_of_edge(node, *edge, core, interpolation)?;
            if parts.is_empty() || parts.len() * cubes.len() > MOST_LEMMAS {
                parts = vec![core.cube.clone()];
            }
            cubes = combined(&cubes, &parts);
        }
        cubes.iter_mut().for_each(|cube| simplify_cube(self.store, cube));
        if cubes.iter().any(|cube| self.has_known_point(node, cube)) {
            return Ok(vec![(conflict.cube, conflict.level)]);
        }
        if let [_] = cubes.as_slice() {
            return Ok(cubes.into_iter().map(|cube| (cube, conflict.level)).collect());
        }
        // The conflict assumes all these lemmas together for the bodies.
        let lemmas = self.all_blocked(node, &cubes, level)?;
        Ok(lemmas.unwrap_or_else(|| vec![(conflict.cube, conflict.level)]))
    }

    /// The parts of cubes that are needed to exclude them, with their levels; `None` if one cannot be excluded.
    fn all_blocked(
        &mut self,
        node: NodeId,
        cubes: &[Vec<Term>],
        level: Level,
    ) -> Result<Option<Cubes>, Stop> {
        let mut lemmas = Vec::with_capacity(cubes.len());
        for cube in cubes {
            let Some(conflict) = self.blocked(node, cube, level)? else { return Ok(None) };
            lemmas.push((conflict.cube, conflict.level));
        }
        Ok(Some(lemmas))
    }

    /// Cubes about templates that together contain an excluded cube, if they are wanted and there are any.
    fn cubes_by_templates(
        &mut self,
        node: NodeId,
        cube: &[Term],
        conflict: &Conflict,
        level: Level,
        interpolation: InterpolationMethod,
    ) -> Result<Option<Cubes>, Stop> {
        let Some(templates) = &self.templates else { return Ok(None) };
        let (store, graph) = (self.store, self.graph);
        let denied = store.not(store.and(cube));
        let b: Vec<Term> = cube.iter().map(|&it| self.renaming.to(node, Place::Target, it)).collect();
        let mut cubes: Vec<Vec<Term>> = vec![Vec::new()];
        for &(edge, _) in &conflict.cores {
            let mut a = vec![graph.edge(edge).label()];
            for (source, &body) in graph.edge(edge).sources().iter().enumerate() {
                let place = Place::Source(graph.edge(edge).occurrence(source));
                let frame = self.frames[body.index()].conjuncts(level.saturating_sub(1));
                let known = frame.chain((body == node).then_some(denied));
                a.extend(known.map(|formula| self.renaming.to(body, place, formula)));
            }
            let cut = [Some((node.index(), graph.node(node).next()))];
            let found =
                templates.sequence(self.run, vec![a, b.clone()], &cut, without_fallback(interpolation))?;
            let parts = found.and_then(|interpolants| negation(store, *interpolants.first()?));
            let Some(parts) = parts.filter(|parts| parts.len() * cubes.len() <= MOST_LEMMAS) else {
                return Ok(None);
            };
            cubes = combined(&cubes, &parts);
        }
        for cube in &mut cubes {
            cube.iter_mut().for_each(|literal| *literal = self.renaming.from(node, Place::Target, *literal));
            simplify_cube(store, cube);
        }
        let lemmas = self.all_blocked(node, &cubes, level)?;
        self.statistics.abstractions += u64::from(lemmas.is_some());
        Ok(lemmas)
    }

    /// Cubes whose disjunction the core's literals imply, and in each of which the clause derives nothing. Empty if the
    /// proof has no interpolant of that form.
    fn cubes_of_edge(
        &mut self,
        node: NodeId,
        edge: EdgeId,
        core: &Core,
        interpolation: InterpolationMethod,
    ) -> Result<Vec<Vec<Term>>, Stop> {
        if core.cube.is_empty() {
            return Ok(Vec::new());
        }
        let (store, graph) = (self.store, self.graph);
        let label = graph.edge(edge).label();
        let unsupported = |unsupported: Unsupported| unsupported.stop(store);
        let solver = match self.provers.entry(edge) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                let mut solver = self.run.solver_with_proofs();
                solver.assert_in(label, A).map_err(unsupported)?;
                place.insert(solver)
            }
        };
        let mut side_a = core.assumed.clone();
        // Asserted lemmas are in no core.
        for (source, &body) in graph.edge(edge).sources().iter().enumerate() {
            let place = Place::Source(graph.edge(edge).occurrence(source));
            let lemmas = self.frames[body.index()].infinite();
            side_a.extend(lemmas.iter().map(|&lemma| self.renaming.to(body, place, lemma)));
        }
        let side_b: Vec<Term> =
            core.cube.iter().map(|&literal| self.renaming.to(node, Place::Target, literal)).collect();
        let of_a = side_a.iter().map(|&formula| (formula, A));
        let assumptions: Vec<(Term, Part)> = of_a.chain(side_b.iter().map(|&literal| (literal, B))).collect();
        let limits = Limits { conflicts: Some(PROOF_CONFLICTS), ..self.run.limits };
        self.statistics.queries += 1;
        if solver.check_in(&assumptions, &limits).map_err(unsupported)? != Outcome::Unsat {
            return Ok(Vec::new());
        }
        let interpolator = solver.interpolator(without_fallback(interpolation));
        let Ok(interpolant) = interpolator.and_then(|interpolator| interpolator.binary(&[A], &limits)) else {
            return Ok(Vec::new());
        };
        let mut cubes = negation(store, interpolant.formula).unwrap_or_default();
        for literal in cubes.iter_mut().flatten() {
            *literal = self.renaming.from(node, Place::Target, *literal);
        }
        self.statistics.interpolants += u64::from(!cubes.is_empty());
        Ok(cubes)
    }
}

/// An interpolant without the proof has no more information than the core.
fn without_fallback(interpolation: InterpolationMethod) -> Options {
    Options { fallback: Fallback::Off, ..interpolation.options() }
}

/// The conjunctions of a cube of either list.
fn combined(cubes: &[Vec<Term>], others: &[Vec<Term>]) -> Vec<Vec<Term>> {
    let with_all = |cube| others.iter().map(move |other: &Vec<Term>| [cube, other.as_slice()].concat());
    cubes.iter().flat_map(|cube| with_all(cube.as_slice())).collect()
}

/// The negation of a conjunction of clauses: a disjunction of cubes. `None` if the formula is not one.
fn negation(store: &TermStore, formula: Term) -> Option<Vec<Vec<Term>>> {
    let is_literal = |term: Term| {
        let (atom, _) = store.literal(term);
        !matches!(store.op(atom), Op::And | Op::Or | Op::Ite | Op::True)
            && (store.op(atom) != Op::Eq || store.sort_of(store.args(atom)[0]) != Sort::BOOL)
    };
    let cube = |clause: Term| {
        let literals = store.disjuncts(clause);
        literals.map(|literal| is_literal(literal).then(|| store.not(literal))).collect()
    };
    if formula == Term::TRUE {
        return None;
    }
    store.conjuncts(formula).map(cube).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_clauses_are_negated_to_cubes() {
        let store = TermStore::new();
        let x = store.var(store.symbol("x"), Sort::INT);
        let p = store.var(store.symbol("p"), Sort::BOOL);
        let low = store.le(x, store.int(3));
        assert_eq!(negation(&store, store.or2(low, p)).map(|cubes| cubes[0].len()), Some(2));
        assert_eq!(negation(&store, low), Some(vec![vec![store.not(low)]]));
        assert_eq!(negation(&store, Term::FALSE), Some(vec![vec![]]));
        assert_eq!(negation(&store, store.and2(low, p)).map(|cubes| cubes.len()), Some(2));
        assert_eq!(negation(&store, Term::TRUE), None);
        let high = store.ge(x, store.int(9));
        assert_eq!(negation(&store, store.or2(high, store.and2(low, p))), None);
    }
}
