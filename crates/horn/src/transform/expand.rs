//! Expands derivations over joined edges: each step that uses a joined edge becomes the steps that the edge stands for.
//!
//! A [`Joint`] has these steps and the conjunction of their labels. Completing the known values at both ends yields the
//! facts in between. Joined edges may be made of joined edges, to any depth; a stack of open joints replaces recursion.
//!
//! Equal steps are made once, so a derivation stays a shared DAG. The steps of an edge may be copies; copies that
//! derive the same fact from the same premises are merged again.

use rustc_hash::FxHashMap;
use shofar_logic::{Term, Value};
use shofar_run::Stop;

use crate::Context;
use crate::graph::{EdgeId, HornGraph};
use crate::ground;
use crate::witness::{Derivation, GraphStep};

/// The expansion of a joined edge.
pub(super) struct Joint {
    /// The labels of all steps, over the variables of the joined edge and of the facts in between.
    pub(super) label: Term,
    /// The steps in topological order. The last one derives the fact of the joined edge.
    pub(super) steps: Vec<JointStep>,
}

/// A step in the expansion of a joined edge.
pub(super) struct JointStep {
    pub(super) edge: EdgeId,
    pub(super) premises: Vec<Premise>,
    /// The variables of the derived fact in the joint's label.
    pub(super) fact: Box<[Term]>,
}

/// The origin of a premise of a joint's step.
#[derive(Clone, Copy)]
pub(super) enum Premise {
    /// The premise of the joined edge at this position.
    Outer(usize),
    /// The fact that this step of the joint derives.
    Inner(usize),
}

/// The derivation without steps that use joined edges. The graph has both the joined edges and the edges they stand
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
    /// The index of each known step.
    known: FxHashMap<Key, usize>,
    /// The joints being expanded, from the outermost to the innermost.
    open: Vec<Frame<'a>>,
}

struct Frame<'a> {
    key: Key,
    joint: &'a Joint,
    /// The values of the fact variables, step by step.
    facts: std::vec::IntoIter<Value>,
    /// The indices of the finished steps.
    done: Vec<usize>,
}

impl<'a> Expansion<'a> {
    /// Returns the index of a step that derives the given step's fact. The premises are final.
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

    /// Adds a step, unless it is known or must be expanded.
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

    /// Closes the innermost joint.
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
    /// The next step, or `None` at the end.
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
