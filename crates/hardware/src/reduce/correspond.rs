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

use super::classes::{Classes, Signatures};
use super::cnf::Cnf;
use super::merge::{Frames, image};
use super::rebuild::{Back, identity, rebuild};
use crate::aig::{Edge, Node};
use crate::simulate::{Runs, spread};
use crate::system::BitSystem;

/// The words of simulated runs: 256 of them.
const WORDS: usize = 4;

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
    let signatures = simulate(system, limits)?;
    let mut classes = Classes::new(&signatures, system.aig.nodes().take(nodes));
    classes.last_member()?;
    let mut search = Search { system, runs: Runs::new(system, 3) };
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

/// Simulates runs from reset. A run counts up to the first step that violates a constraint, inclusive. `None` if the
/// limits interrupt it.
fn simulate(system: &BitSystem, limits: &Limits<'_>) -> Option<Signatures> {
    let mut signatures = Signatures::new(system.aig.len());
    let mut runs: Runs<'_, WORDS> = Runs::new(system, 2);
    let mut mask = [u64::MAX; WORDS];
    runs.reset();
    for _ in 0..STEPS {
        limits.go_on().ok()?;
        runs.randomise_inputs();
        runs.evaluate();
        signatures.add(&runs.patterns, mask);
        for &edge in &system.constraints {
            let row = runs.patterns.get(edge);
            mask = std::array::from_fn(|word| mask[word] & row[word]);
        }
        runs.advance();
    }
    Some(signatures)
}

struct Search<'a> {
    system: &'a BitSystem,
    /// Counterexamples, and patterns near them.
    runs: Runs<'a, 1>,
}

impl Search<'_> {
    /// Splits classes until their nodes are equal in step 0. `None` if the limits interrupt it.
    fn base(&mut self, classes: &mut Classes, limits: &Limits<'_>) -> Option<()> {
        let system = self.system;
        let leaves = system.num_latches() + system.num_inputs;
        let reset = |leaf: Node| system.latch_index(leaf).and_then(|latch| system.resets[latch]);
        let mut frames = Frames::new(system, leaves);
        let runs = &mut self.runs;
        let refine = |cnf: &Cnf, classes: &mut Classes| {
            // Any values of free latches and inputs are possible. The first pattern is the model.
            runs.reset();
            runs.randomise_inputs();
            for node in (1..=leaves).map(Node::from_index).filter(|&node| reset(node).is_none()) {
                set_first(runs, node, cnf.value(node).unwrap_or(false));
            }
            runs.evaluate();
            classes.refine(&runs.patterns);
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
        let present = frames.assume(classes, Edge::from, limits).ok()?;
        for &edge in &system.constraints {
            frames.cnf.assert(frames.builder.aig(), image(&present, edge), limits).ok()?;
        }
        let runs = &mut self.runs;
        let next_input = |input: usize| Node::from_index(1 + latches + inputs + input);
        let leaf = |leaf: Node| match system.latch_index(leaf) {
            Some(latch) => image(&present, system.next[latch]),
            None => next_input(leaf.index() - 1 - latches).into(),
        };
        let refine = |cnf: &Cnf, classes: &mut Classes| {
            let value = |edge: Edge| cnf.value(edge.node()).unwrap_or(false) != edge.is_negated();
            let leaves = 1..=latches + inputs;
            for leaf in leaves {
                runs.patterns.set(Node::from_index(leaf), [spread(value(present[leaf]))]);
            }
            runs.evaluate();
            runs.advance();
            runs.randomise_inputs();
            for input in 0..inputs {
                set_first(runs, system.input(input), value(next_input(input).into()));
            }
            runs.evaluate();
            classes.refine(&runs.patterns);
        };
        let pass = frames.compare(classes, leaf, refine, limits);
        pass.interruption.is_none().then_some(pass.is_stable)
    }
}

/// Sets the value of a leaf in the first pattern.
fn set_first(runs: &mut Runs<'_, 1>, leaf: Node, value: bool) {
    let [word] = runs.patterns.get(leaf.into());
    runs.patterns.set(leaf, [word & !1 | u64::from(value)]);
}
