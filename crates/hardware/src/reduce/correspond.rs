//! Correspondence: merges latches, and nodes, that are equal in all reachable states, by induction.
//!
//! Simulation from reset gives the candidates E. They are proved together:
//!
//! ```text
//! base:  Reset ⇒ E               candidates that fail are split
//! step:  E ∧ C ∧ T ⇒ E'          candidates that fail are split, until a pass changes nothing
//! ```
//!
//! In the step, equal latches of the present state are one leaf, and equal gates are asserted to be equal and built from
//! then on as one. A failure is a model: its next state, with the model's and random inputs, splits the classes. A
//! comparison that takes too long takes the node out of its class. The base holds for what is left of a class, as all
//! of its members were equal to each other. If the limits interrupt the search, nothing is proved.
//!
//! The constraints of the next step and of step 0 are not used (R1 of [`super`]).
//!
//! C. A. J. van Eijk, "Sequential Equivalence Checking Based on Structural Similarities" (TCAD 2000).

use shofar_run::Limits;

use super::classes::{Classes, Signatures, Words, evaluate, spread, word};
use super::cnf::Cnf;
use super::merge::{Frames, image};
use super::rebuild::{Back, identity, rebuild};
use crate::aig::{Edge, Node};
use crate::system::BitSystem;

/// Rounds of 64 runs.
const ROUNDS: usize = 4;

/// The steps of a simulated run.
const STEPS: usize = 32;

/// Merges latches that are equal in all reachable states.
pub(super) fn reduce_latches(system: &BitSystem, limits: &Limits<'_>) -> Option<(BitSystem, Back)> {
    reduce(system, 1 + system.num_latches(), limits)
}

/// Merges nodes that are equal in all reachable states.
pub(super) fn reduce_nodes(system: &BitSystem, limits: &Limits<'_>) -> Option<(BitSystem, Back)> {
    reduce(system, system.aig.len(), limits)
}

/// Merges what is equal among the first nodes.
fn reduce(system: &BitSystem, nodes: usize, limits: &Limits<'_>) -> Option<(BitSystem, Back)> {
    let mut search = Search { system, random: Words::new(2), words: vec![0; system.aig.len()] };
    let signatures = search.simulate();
    let mut classes = Classes::new(&signatures, system.aig.nodes().take(nodes));
    classes.last_member()?;
    search.base(&mut classes, limits)?;
    while !search.step(&mut classes, limits)? {}

    let mut representatives = identity(system);
    let mut facts = Vec::new();
    for node in system.aig.nodes() {
        if let Some(edge) = classes.representative(node) {
            representatives[node.index()] = edge;
            facts.push((node.into(), edge));
        }
    }
    (!facts.is_empty()).then(|| rebuild(system, &representatives, facts))
}

struct Search<'a> {
    system: &'a BitSystem,
    random: Words,
    /// By nodes: values in 64 patterns.
    words: Vec<u64>,
}

impl Search<'_> {
    /// Simulates runs from reset. A run counts up to the first step that violates a constraint, inclusive.
    fn simulate(&mut self) -> Signatures {
        let system = self.system;
        let mut signatures = Signatures::new(system.aig.len());
        for _ in 0..ROUNDS {
            self.reset();
            let mut mask = u64::MAX;
            for _ in 0..STEPS {
                self.randomise_inputs();
                evaluate(&system.aig, &mut self.words);
                signatures.add(&self.words, mask);
                mask = system.constraints.iter().fold(mask, |mask, &edge| mask & word(&self.words, edge));
                self.advance();
            }
        }
        signatures
    }

    /// Sets the latches to reset states.
    fn reset(&mut self) {
        for (latch, reset) in self.system.resets.iter().enumerate() {
            self.words[1 + latch] = reset.map_or_else(|| self.random.next(), spread);
        }
    }

    fn randomise_inputs(&mut self) {
        let first = 1 + self.system.num_latches();
        self.words[first..first + self.system.num_inputs].fill_with(|| self.random.next());
    }

    /// Sets the latches to the next state.
    fn advance(&mut self) {
        let next: Vec<u64> = self.system.next.iter().map(|&edge| word(&self.words, edge)).collect();
        self.words[1..=next.len()].copy_from_slice(&next);
    }

    /// Splits classes until their nodes are equal in step 0. `None` if the limits interrupt it.
    fn base(&mut self, classes: &mut Classes, limits: &Limits<'_>) -> Option<()> {
        let system = self.system;
        let leaves = system.num_latches() + system.num_inputs;
        let reset = |leaf: Node| system.latch_index(leaf).and_then(|latch| system.resets[latch]);
        let mut frames = Frames::new(system, leaves);
        let refine = |cnf: &Cnf, classes: &mut Classes| {
            // Any values of free latches and inputs are possible. The first pattern is the model.
            self.reset();
            self.randomise_inputs();
            for index in 1..=leaves {
                let node = Node::from_index(index);
                if reset(node).is_none() {
                    let word = &mut self.words[index];
                    *word = *word & !1 | u64::from(cnf.value(node).unwrap_or(false));
                }
            }
            evaluate(&system.aig, &mut self.words);
            classes.refine(&self.words);
        };
        let leaf = |leaf: Node| reset(leaf).map_or(leaf.into(), Edge::from);
        let pass = frames.compare(classes, leaf, refine, limits);
        pass.interruption.is_none().then_some(())
    }

    /// One pass of the induction step; returns whether it proved all classes. `None` if the limits interrupt it.
    fn step(&mut self, classes: &mut Classes, limits: &Limits<'_>) -> Option<bool> {
        let system = self.system;
        let (latches, inputs) = (system.num_latches(), system.num_inputs);
        let mut frames = Frames::new(system, latches + inputs + inputs);
        let present = frames.assume(classes, Edge::from);
        for &edge in &system.constraints {
            frames.cnf.assert(frames.builder.aig(), image(&present, edge));
        }
        let next_input = |input: usize| Node::from_index(1 + latches + inputs + input);
        let leaf = |leaf: Node| match system.latch_index(leaf) {
            Some(latch) => image(&present, system.next[latch]),
            None => next_input(leaf.index() - 1 - latches).into(),
        };
        let refine = |cnf: &Cnf, classes: &mut Classes| {
            let value = |edge: Edge| cnf.value(edge.node()).unwrap_or(false) != edge.is_negated();
            let leaves = 1..=latches + inputs;
            for (word, &edge) in self.words[leaves.clone()].iter_mut().zip(&present[leaves]) {
                *word = spread(value(edge));
            }
            evaluate(&system.aig, &mut self.words);
            self.advance();
            self.randomise_inputs();
            for input in 0..inputs {
                let word = &mut self.words[1 + latches + input];
                *word = *word & !1 | u64::from(value(next_input(input).into()));
            }
            evaluate(&system.aig, &mut self.words);
            classes.refine(&self.words);
        };
        let pass = frames.compare(classes, leaf, refine, limits);
        pass.interruption.is_none().then_some(pass.is_stable)
    }
}
