//! The values of a counterexample that matter, by justification.
//!
//! From the last step back to the first, each value that is needed names the values that it follows from:
//!
//! * in the last step the bad edge is needed, and in all steps the constraints are;
//! * an AND that is true needs both fan-ins, and one that is false needs a single false fan-in;
//! * a latch needs its next function in the step before; in step 0, its reset function if it has one.
//!
//! The inputs and initial values that remain force the counterexample, whatever all others are (J1). If both fan-ins of
//! an AND are false, a fan-in that is needed anyway is taken, else the one that needs fewer leaves by a bound that is
//! computed from the leaves up, as the controllability measures of test generation are (Goldstein, "Controllability/
//! observability analysis of digital circuits", 1979). So the set is small, but not the smallest one.

use crate::aig::{Edge, Node, edge_value};
use crate::circuit::{Circuit, Reset};
use crate::playback::{Playback, packed};
use crate::signals::{Signal, SignalKind};

/// Which nodes a counterexample needs, from its last step to its first: calls `visit` with each step, and by nodes
/// whether its value is needed there.
pub fn justify(playback: &Playback<'_>, bad: Edge, mut visit: impl FnMut(usize, &[bool])) {
    let circuit = playback.circuit();
    let mut roots = vec![bad];
    for step in (0..playback.num_steps()).rev() {
        roots.extend(&circuit.constraints);
        let needed = justify_step(circuit, &playback.values(step), step == 0, &roots);
        visit(step, &needed);
        let latches = circuit.latches.iter().filter(|latch| needed[latch.node.index()]);
        roots = latches.map(|latch| latch.next).collect();
    }
}

/// The nodes of a step that the values of the roots follow from.
fn justify_step(circuit: &Circuit, values: &[bool], is_first: bool, roots: &[Edge]) -> Vec<bool> {
    let aig = &circuit.aig;
    let costs = costs(circuit, values, is_first);
    let mut reset_function: Vec<Option<Node>> = Vec::new();
    if is_first {
        reset_function = vec![None; aig.len()];
        for latch in &circuit.latches {
            if let Reset::Function(edge) = latch.reset {
                reset_function[latch.node.index()] = Some(edge.node());
            }
        }
    }
    let mut needed = vec![false; aig.len()];
    let mut open: Vec<Node> = roots.iter().map(|root| root.node()).collect();
    // False ANDs with two false fan-ins wait until all that is forced is known.
    let mut choices: Vec<[Edge; 2]> = Vec::new();
    loop {
        while let Some(node) = open.pop() {
            if std::mem::replace(&mut needed[node.index()], true) {
                continue;
            }
            let Some([left, right]) = aig.and_fanins(node) else {
                open.extend(reset_function.get(node.index()).copied().flatten());
                continue;
            };
            match (edge_value(values, left), edge_value(values, right)) {
                (true, true) => open.extend([left.node(), right.node()]),
                (false, true) => open.push(left.node()),
                (true, false) => open.push(right.node()),
                (false, false) => choices.push([left, right]),
            }
        }
        let Some([left, right]) = choices.pop() else { return needed };
        if !needed[left.node().index()] && !needed[right.node().index()] {
            let cost = |edge: Edge| costs[edge.node().index()];
            open.push(if cost(left) <= cost(right) { left } else { right }.node());
        }
    }
}

/// By nodes: a bound on the number of leaves that its value needs.
fn costs(circuit: &Circuit, values: &[bool], is_first: bool) -> Vec<u32> {
    let mut costs = vec![1u32; circuit.aig.len()];
    costs[Node::FALSE.index()] = 0;
    if is_first {
        // A constant needs nothing.
        for latch in circuit.latches.iter().filter(|latch| matches!(latch.reset, Reset::Constant(_))) {
            costs[latch.node.index()] = 0;
        }
    }
    for node in circuit.aig.nodes() {
        if let Some([left, right]) = circuit.aig.and_fanins(node) {
            let [a, b] = [left, right].map(|edge| costs[edge.node().index()]);
            costs[node.index()] = match (edge_value(values, left), edge_value(values, right)) {
                (true, true) => a.saturating_add(b),
                (false, true) => a,
                (true, false) => b,
                (false, false) => a.min(b),
            };
        }
    }
    costs
}

/// Which signals a counterexample needs in which steps.
#[derive(Clone, Debug)]
pub struct Needed {
    num_signals: usize,
    /// By steps: a bit for each signal.
    words: Vec<u64>,
}

impl Needed {
    /// The signals of which a bit is needed. A property is needed in the last step if it is the one that fails there,
    /// and a constraint in all steps.
    pub fn new(playback: &Playback<'_>, bad: Edge, signals: &[Signal]) -> Self {
        let stride = signals.len().div_ceil(64);
        let mut words = vec![0; playback.num_steps() * stride];
        justify(playback, bad, |step, needed| {
            let is_last = step + 1 == playback.num_steps();
            let is_needed = |signal: &Signal| match signal.kind {
                SignalKind::Bad => is_last && signal.bits[0] == bad,
                SignalKind::Constraint => true,
                _ => signal.bits.iter().any(|bit| bit.as_constant().is_none() && needed[bit.node().index()]),
            };
            let row = packed(signals.iter().map(is_needed));
            words[step * stride..(step + 1) * stride].copy_from_slice(&row);
        });
        Self { num_signals: signals.len(), words }
    }

    /// Whether a step needs a signal.
    pub fn is_needed(&self, step: usize, signal: usize) -> bool {
        let stride = self.num_signals.div_ceil(64);
        self.words[step * stride + signal / 64] >> (signal % 64) & 1 != 0
    }

    /// The last step that needs a signal.
    pub fn last_step(&self, signal: usize) -> Option<usize> {
        let steps = self.words.len().checked_div(self.num_signals.div_ceil(64)).unwrap_or(0);
        (0..steps).rev().find(|&step| self.is_needed(step, signal))
    }
}

#[cfg(test)]
mod tests {
    use shofar_run::Limits;
    use shofar_testing::Random;
    use shofar_testing::scale::numbers;

    use super::*;
    use crate::aiger::read;
    use crate::common::{Shape, random_circuit};
    use crate::evidence::Trace;
    use crate::signals::signals;
    use crate::simulate::{ternary, ternary_value};
    use crate::solve::{Options, Verdict, solve};

    /// J1, by ternary simulation: everything that is not needed is unknown, and the counterexample remains.
    #[test]
    fn needed_values_force_the_counterexample() {
        let (mut unsafe_circuits, mut left_out) = (0, 0);
        for seed in numbers(400) {
            let shape = Shape { bads: 1, latches: 8, gates: 40, ..Shape::default() };
            let circuit = random_circuit(&mut Random::new(seed), &shape);
            let bad = circuit.bads[0];
            let options = Options { jobs: Some(1), ..Options::default() };
            let Verdict::Unsafe(trace, _) = solve(&circuit, &[bad], &options, &Limits::default()).verdict
            else {
                continue;
            };
            unsafe_circuits += 1;
            let playback = Playback::new(&circuit, &trace);
            let mut needed_in = vec![Vec::new(); playback.num_steps()];
            justify(&playback, bad, |step, needed| needed_in[step] = needed.to_vec());
            for (step, needed) in needed_in.iter().enumerate() {
                let exact = playback.values(step);
                let leaf = |node: Node| needed[node.index()].then(|| exact[node.index()]);
                let known = ternary(&circuit.aig, leaf);
                left_out += circuit.inputs.iter().filter(|input| !needed[input.index()]).count();
                let holds = |edge: Edge| ternary_value(&known, edge) == Some(true);
                assert!(circuit.constraints.iter().all(|&edge| holds(edge)), "circuit {seed}, step {step}");
                assert!(step + 1 < needed_in.len() || holds(bad), "circuit {seed}, the last step");
                // What a step needs of latches is known from the step before, or from the resets.
                for latch in &circuit.latches {
                    let value = |edge: Edge| ternary_value(&known, edge);
                    if step == 0
                        && needed[latch.node.index()]
                        && let Reset::Function(edge) = latch.reset
                    {
                        assert_eq!(value(edge), Some(exact[latch.node.index()]), "circuit {seed}");
                    }
                    if let Some(later) = needed_in.get(step + 1).filter(|later| later[latch.node.index()]) {
                        let expected = playback.values(step + 1)[latch.node.index()];
                        assert!(later[latch.node.index()] && value(latch.next) == Some(expected), "{seed}");
                    }
                }
            }
        }
        assert!(unsafe_circuits > 50 && left_out > 100, "{unsafe_circuits} circuits, {left_out} inputs");
    }

    /// Two latches follow two inputs; the bad needs the first, then nothing else.
    #[test]
    fn what_has_no_influence_is_not_needed() {
        let file = read(b"aag 4 2 2 0 0 1\n2\n4\n6 2\n8 4\n6\n").unwrap();
        let trace = Trace { initial: vec![false; 2], inputs: vec![vec![true, true]; 2] };
        let playback = Playback::new(&file.circuit, &trace);
        let signals = signals(&file.circuit, &[]);
        let needed = Needed::new(&playback, file.circuit.bads[0], &signals);
        let last: Vec<(String, Option<usize>)> =
            (0..signals.len()).map(|index| (signals[index].label(), needed.last_step(index))).collect();
        let expected = [("b0", Some(1)), ("i0", Some(0)), ("i1", None), ("l0", Some(1)), ("l1", None)];
        assert_eq!(last, expected.map(|(label, step)| (label.to_owned(), step)));
    }

    /// A conjunction that two false fan-ins explain takes the one that is needed anyway.
    #[test]
    fn choices_take_what_is_needed_anyway() {
        // The bad is ¬i1 ∧ ¬(i0 ∧ i1), with all inputs false.
        let file = read(b"aag 4 2 0 0 2 1\n2\n4\n8\n6 2 4\n8 7 5\n").unwrap();
        let trace = Trace { initial: Vec::new(), inputs: vec![vec![false, false]] };
        let playback = Playback::new(&file.circuit, &trace);
        justify(&playback, file.circuit.bads[0], |_, needed| {
            let inputs: Vec<bool> = file.circuit.inputs.iter().map(|input| needed[input.index()]).collect();
            assert_eq!(inputs, [false, true]);
        });
    }
}
