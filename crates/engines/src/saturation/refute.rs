//! How clauses were derived, and refutations.
//!
//! Each clause of the loop has a *step*: it is a clause of the problem, a resolvent, or the body of an instance of another clause,
//! after simplification. If the empty clause is derived, its steps say which clauses of the graph a derivation of `false` has to use, and
//! where:
//!
//! ```text
//! resolvent of C (atom i) and D     the atom i of C is derived by D, all others as those of the resolvent
//! part of C                         each atom of C is derived as the atom of the part that covers it
//! clause of the graph               its atoms are the premises
//! ```
//!
//! Terms are not kept: the constraints of the clauses themselves, solved together, give the values (`replay.rs`). Since the clauses of
//! the problem are weaker than those of the graph, there may be no values. Then nothing is known.
//!
//! Disequalities are part of the constraints, so nothing is recorded of how they are derived.

use shofar_horn::HornGraph;
use shofar_horn::graph::EdgeId;
use shofar_horn::witness::{Derivation, GraphStep};
use shofar_run::Stop;

use super::terms::Atom;
use crate::Run;
use crate::replay::Replay;

/// The greatest number of steps of a refutation.
const MOST_STEPS: usize = 1000;

/// The number of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct StepId(u32);

/// For each atom of a body, the atom of a simpler body that covers it: an instance of the first one is the second one. Atoms that are
/// true have none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Cover(Vec<Option<usize>>);

impl Cover {
    /// Each atom covers itself.
    pub(super) fn identity(atoms: usize) -> Self {
        Cover((0..atoms).map(Some).collect())
    }

    /// The covering atoms by their positions.
    pub(super) fn of_positions(positions: Vec<usize>) -> Self {
        Cover(positions.into_iter().map(Some).collect())
    }

    /// The atoms without one of them, which is true.
    pub(super) fn without(atoms: usize, dropped: usize) -> Self {
        let position = |atom: usize| (atom != dropped).then(|| atom - usize::from(atom > dropped));
        Cover((0..atoms).map(position).collect())
    }

    /// The different atoms among those that are not true.
    pub(super) fn of_different(body: &mut Vec<Atom>, is_true: impl Fn(&Atom) -> bool) -> Self {
        let mut kept: Vec<Atom> = Vec::with_capacity(body.len());
        let mut cover = Vec::with_capacity(body.len());
        for atom in body.drain(..) {
            let known = kept.iter().position(|other| *other == atom);
            cover.push(match known {
                Some(position) => Some(position),
                None if is_true(&atom) => None,
                None => {
                    kept.push(atom);
                    Some(kept.len() - 1)
                }
            });
        }
        *body = kept;
        Cover(cover)
    }

    /// First this one, then the other one.
    pub(super) fn then(self, next: &Cover) -> Self {
        Cover(self.0.into_iter().map(|position| position.and_then(|position| next.0[position])).collect())
    }

    fn is_identity(&self) -> bool {
        self.0.iter().enumerate().all(|(atom, &position)| position == Some(atom))
    }
}

/// How a clause was derived.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// It is a clause of the problem. Axioms and lemmas have no edge.
    Input(Option<EdgeId>),
    /// The atom `selected` of `main` was resolved with the head of `side`. The `others` of `main` come first.
    Resolvent { main: StepId, selected: usize, others: usize, side: StepId },
    /// It covers another clause.
    Part { of: StepId, cover: Cover },
}

/// All steps, each after those that it mentions.
#[derive(Default)]
pub(super) struct History {
    steps: Vec<Step>,
}

impl History {
    pub(super) fn add(&mut self, step: Step) -> StepId {
        let id = StepId(u32::try_from(self.steps.len()).expect("memory ends long before"));
        self.steps.push(step);
        id
    }

    /// The step of a clause that covers another one.
    pub(super) fn simplified(&mut self, of: StepId, cover: Cover) -> StepId {
        if cover.is_identity() { of } else { self.add(Step::Part { of, cover }) }
    }

    /// A derivation of `false` by the steps of the empty clause, if there are values for it.
    pub(super) fn refutation(
        &self,
        run: &Run<'_>,
        graph: &HornGraph,
        empty: StepId,
    ) -> Result<Option<Derivation>, Stop> {
        let Some(skeleton) = self.skeleton(graph, empty) else { return Ok(None) };
        let replay = Replay::new(run.store, graph, &skeleton);
        match replay.values(run) {
            Ok(Some(values)) => Ok(replay.derivation(run.store, &skeleton, &values)),
            // The solver does not support what the clauses of the problem leave out.
            Ok(None) | Err(Stop::Unsupported(_)) => Ok(None),
            Err(stop) => Err(stop),
        }
    }

    /// The clauses of the graph in a derivation of the empty clause, without facts; `None` if there are too many, or if it is not
    /// derived from a query.
    fn skeleton(&self, graph: &HornGraph, empty: StepId) -> Option<Derivation> {
        // Places are facts of the derivation. The first one is `false`.
        let mut places: Vec<Option<(EdgeId, Vec<usize>)>> = vec![None];
        let mut open: Vec<(StepId, Vec<Option<usize>>, usize)> = vec![(empty, Vec::new(), 0)];
        while let Some((step, atoms, place)) = open.pop() {
            match &self.steps[step.0 as usize] {
                Step::Input(edge) => {
                    if let Some(edge) = *edge {
                        let sources = atoms.into_iter().take(graph.edge(edge).sources().len());
                        places[place] = Some((edge, sources.collect::<Option<_>>()?));
                    }
                }
                &Step::Resolvent { main, selected, others, side } => {
                    if places.len() > MOST_STEPS {
                        return None;
                    }
                    places.push(None);
                    let derived = places.len() - 1;
                    let (mut of_main, of_side) = (atoms[..others].to_vec(), atoms[others..].to_vec());
                    of_main.insert(selected, Some(derived));
                    open.push((main, of_main, place));
                    open.push((side, of_side, derived));
                }
                Step::Part { of, cover } => {
                    let covered =
                        cover.0.iter().map(|position| position.and_then(|position| atoms[position]));
                    open.push((*of, covered.collect(), place));
                }
            }
        }
        // Premises first.
        let mut steps: Vec<GraphStep> = Vec::new();
        let mut positions: Vec<Option<usize>> = vec![None; places.len()];
        let mut open = vec![0];
        while let Some(&place) = open.last() {
            let (edge, premises) = places[place].as_ref()?;
            let before = open.len();
            open.extend(premises.iter().copied().filter(|&premise| positions[premise].is_none()));
            if open.len() > before {
                continue;
            }
            open.pop();
            if positions[place].is_none() {
                positions[place] = Some(steps.len());
                let premises: Option<Box<[usize]>> =
                    premises.iter().map(|&premise| positions[premise]).collect();
                steps.push(GraphStep { edge: *edge, premises: premises?, fact: Box::default() });
            }
        }
        Some(Derivation { steps })
    }
}
