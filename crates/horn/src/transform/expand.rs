//! Derivations where edges were joined: each step that uses a joined edge becomes the steps that the edge stands for.
//!
//! A [`Joint`] says how the steps hang together and has the conjunction of their labels; the facts in between are found
//! by completing the values that are known at both ends. Joined edges may be made of joined edges, to any depth; a stack
//! of the joints that are being taken apart replaces recursion.
//!
//! Equal steps are made once, so that a derivation stays a shared DAG: what an edge stands for may have been copied, and
//! the copies are one again as far as they derive the same facts from the same premises.

use rustc_hash::FxHashMap;
use shofar_logic::{Term, Value};
use shofar_run::Stop;

use crate::Context;
use crate::graph::{EdgeId, HornGraph};
use crate::ground;
use crate::witness::{Derivation, GraphStep};

/// What a joined edge stands for.
pub(super) struct Joint {
    /// The labels of all steps, over the variables of the joined edge and of the facts in between.
    pub(super) label: Term,
    /// The steps in topological order. The last one derives what the joined edge derives.
    pub(super) steps: Vec<JointStep>,
}

/// One of the steps that a joined edge stands for.
pub(super) struct JointStep {
    pub(super) edge: EdgeId,
    pub(super) premises: Vec<Premise>,
    /// The variables for the fact that is derived, in the joint's label.
    pub(super) fact: Box<[Term]>,
}

/// Where a step of a joint has a premise from.
#[derive(Clone, Copy)]
pub(super) enum Premise {
    /// The premise of the joined edge at this position.
    Outer(usize),
    /// What this step of the joint derives.
    Inner(usize),
}

/// The derivation without steps that use joined edges. The graph has the joined edges as well as those that they stand
/// for.
pub(super) fn expand(
    context: &Context<'_>,
    graph: &HornGraph,
    joints: &FxHashMap<EdgeId, Joint>,
    derivation: Derivation,
) -> Result<Derivation, Stop> {
    let mut expansion = Expansion {
        context,
        graph,
        joints,
        steps: Vec::new(),
        known: FxHashMap::default(),
        open: Vec::new(),
    };
    let mut images: Vec<usize> = Vec::with_capacity(derivation.steps.len());
    for mut step in derivation.steps {
        for premise in &mut step.premises {
            *premise = *images.get(*premise).ok_or_else(misplaced)?;
        }
        images.push(expansion.derive(step)?);
    }
    Ok(Derivation { steps: expansion.steps })
}

fn misplaced() -> Stop {
    Stop::Internal("a premise of a step does not come before it".into())
}

type Key = (EdgeId, Box<[usize]>, Box<[Value]>);

struct Expansion<'a> {
    context: &'a Context<'a>,
    graph: &'a HornGraph,
    joints: &'a FxHashMap<EdgeId, Joint>,
    steps: Vec<GraphStep>,
    /// Which step derives what.
    known: FxHashMap<Key, usize>,
    /// The joints that are being taken apart, each within the one before.
    open: Vec<Frame<'a>>,
}

struct Frame<'a> {
    key: Key,
    joint: &'a Joint,
    /// The values of all variables for facts, step by step.
    facts: std::vec::IntoIter<Value>,
    /// The steps that the first ones have become.
    done: Vec<usize>,
}

impl<'a> Expansion<'a> {
    /// The step that derives what the given one does; its premises are final.
    fn derive(&mut self, step: GraphStep) -> Result<usize, Stop> {
        let mut derived = self.enter(step)?;
        while let Some(frame) = self.open.last_mut() {
            frame.done.extend(derived);
            derived = match frame.next_step() {
                Some(step) => self.enter(step)?,
                None => self.leave(),
            };
        }
        derived.ok_or_else(|| Stop::Internal("a joined edge stands for no steps".into()))
    }

    /// Makes a step, unless it is known or has to be taken apart.
    fn enter(&mut self, step: GraphStep) -> Result<Option<usize>, Stop> {
        self.context.go_on()?;
        let key = (step.edge, step.premises.clone(), step.fact.clone());
        if let Some(&known) = self.known.get(&key) {
            return Ok(Some(known));
        }
        let Some(joint) = self.joints.get(&step.edge) else {
            self.known.insert(key, self.steps.len());
            self.steps.push(step);
            return Ok(Some(self.steps.len() - 1));
        };
        let facts = self.facts_between(&step, joint)?.into_iter();
        self.open.push(Frame { key, joint, facts, done: Vec::new() });
        Ok(None)
    }

    /// Ends the innermost joint.
    fn leave(&mut self) -> Option<usize> {
        let frame = self.open.pop()?;
        let last = frame.done.last().copied()?;
        self.known.insert(frame.key, last);
        Some(last)
    }

    /// Values for the facts of all steps of a joint.
    fn facts_between(&self, step: &GraphStep, joint: &Joint) -> Result<Vec<Value>, Stop> {
        let earlier = |&premise: &usize| self.steps.get(premise).map(|step| &*step.fact);
        let premises: Option<Vec<&[Value]>> = step.premises.iter().map(earlier).collect();
        let given = self.graph.values_at(step.edge, premises.ok_or_else(misplaced)?, &step.fact);
        let wanted: Vec<Term> = joint.steps.iter().flat_map(|step| &step.fact).copied().collect();
        ground::complete(self.context, joint.label, given, &wanted)
    }
}

impl Frame<'_> {
    /// The next step, if there is one.
    fn next_step(&mut self) -> Option<GraphStep> {
        let step = self.joint.steps.get(self.done.len())?;
        let premises = step.premises.iter().map(|&premise| match premise {
            Premise::Outer(position) => self.key.1[position],
            Premise::Inner(position) => self.done[position],
        });
        let premises = premises.collect();
        let fact = self.facts.by_ref().take(step.fact.len()).collect();
        Some(GraphStep { edge: step.edge, premises, fact })
    }
}
