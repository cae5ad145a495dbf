//! The values of a counterexample that matter, by justification.
//!
//! From the last step back to the first, each value that is needed names the values that it follows from:
//!
//! * the *roots* are needed, those of [`bad_roots`] or [`lasso_roots`], and the constraints in all steps;
//! * an AND that is true needs both fan-ins, and one that is false needs a single false fan-in;
//! * a latch needs its next function in the step before; in step 0, its reset function if it has one.
//!
//! The inputs and initial values that remain force the counterexample, whatever all others are (J1). If both fan-ins of
//! an AND are false, a fan-in that is needed anyway is taken, else the one that needs fewer leaves by a bound that is
//! computed from the leaves up, as the controllability measures of test generation are (Goldstein, "Controllability/
//! observability analysis of digital circuits", 1979). So the set is small, but not the smallest one.

use rustc_hash::FxHashSet;

use crate::aig::{Edge, Node, edge_value};
use crate::circuit::{Circuit, Reset};
use crate::playback::{Playback, packed};
use crate::signals::{Signal, SignalKind};

/// The edges whose values a counterexample shows, each with a step; sorted by steps.
pub type Roots = Vec<(usize, Edge)>;

/// The searches for the latches that have to recur in a loop. After so many of them, all that can matter are taken.
const MOST_SEARCHES: usize = 16;

/// The roots of a run whose last step is bad.
pub fn bad_roots(playback: &Playback<'_>, bad: Edge) -> Roots {
    playback.num_steps().checked_sub(1).map(|last| (last, bad)).into_iter().collect()
}

/// The roots of a lasso: each edge where the loop makes it true for the last time, and after the last step the latches
/// that are needed when the loop begins.
pub fn lasso_roots(playback: &Playback<'_>, edges: &[Edge], start: usize) -> Roots {
    let circuit = playback.circuit();
    let Some(last) = playback.num_steps().checked_sub(1) else { return Roots::new() };
    let mut open = edges.to_vec();
    let mut once: Roots = Vec::new();
    for step in (start..=last).rev() {
        let values = playback.values(step);
        let (found, rest): (Vec<Edge>, Vec<Edge>) =
            open.into_iter().partition(|&edge| edge_value(&values, edge));
        once.extend(found.into_iter().map(|edge| (step, edge)));
        open = rest;
    }
    once.reverse();
    let mut recur = vec![false; circuit.latches.len()];
    for search in 0.. {
        let mut roots = once.clone();
        let latches = circuit.latches.iter().zip(&recur).filter(|(_, recurs)| **recurs);
        roots.extend(latches.map(|(latch, _)| (last, latch.next)));
        let mut begin = recur.clone();
        if search < MOST_SEARCHES {
            justify(playback, &roots, start, |step, needed| {
                if step == start {
                    let is_needed = circuit.latches.iter().map(|latch| needed[latch.node.index()]);
                    begin.iter_mut().zip(is_needed).for_each(|(recurs, is_needed)| *recurs |= is_needed);
                }
            });
        } else {
            circuit.sequential_cone(edges).0.into_iter().for_each(|latch| begin[latch] = true);
        }
        if begin == recur {
            return roots;
        }
        recur = begin;
    }
    once
}

/// Which nodes the roots need, from the last step of a run back to a given one: calls `visit` with each step, and by
/// nodes whether its value is needed there.
pub fn justify(
    playback: &Playback<'_>,
    roots: &[(usize, Edge)],
    first: usize,
    mut visit: impl FnMut(usize, &[bool]),
) {
    let circuit = playback.circuit();
    let mut wanted: Vec<Edge> = Vec::new();
    for step in (first..playback.num_steps()).rev() {
        wanted.extend(roots_of(roots, step).iter().map(|&(_, edge)| edge));
        wanted.extend(&circuit.constraints);
        let needed = justify_step(circuit, &playback.values(step), step == 0, &wanted);
        visit(step, &needed);
        let latches = circuit.latches.iter().filter(|latch| needed[latch.node.index()]);
        wanted = latches.map(|latch| latch.next).collect();
    }
}

/// The roots of a step.
fn roots_of(roots: &[(usize, Edge)], step: usize) -> &[(usize, Edge)] {
    let begin = roots.partition_point(|&(other, _)| other < step);
    let end = roots.partition_point(|&(other, _)| other <= step);
    &roots[begin..end]
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
    /// The signals of which a bit is needed. A property is needed where it is a root, and a constraint in all steps.
    pub fn new(playback: &Playback<'_>, roots: &[(usize, Edge)], signals: &[Signal]) -> Self {
        let stride = signals.len().div_ceil(64);
        let mut words = vec![0; playback.num_steps() * stride];
        justify(playback, roots, 0, |step, needed| {
            let roots: FxHashSet<Edge> = roots_of(roots, step).iter().map(|&(_, edge)| edge).collect();
            let is_needed = |signal: &Signal| match signal.kind {
                SignalKind::Bad | SignalKind::Recurring => roots.contains(&signal.bits[0]),
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
    use crate::circuit::Property;
    use crate::common::{Shape, add_justice, random_circuit};
    use crate::decide::{self, decide};
    use crate::evidence::Trace;
    use crate::signals::signals;
    use crate::simulate::{ternary, ternary_value};
    use crate::solve::{Options, Verdict, solve};

    fn needed_by_steps(playback: &Playback<'_>, roots: &[(usize, Edge)]) -> Vec<Vec<bool>> {
        let mut needed_in = vec![Vec::new(); playback.num_steps()];
        justify(playback, roots, 0, |step, needed| needed_in[step] = needed.to_vec());
        needed_in
    }

    /// Ternary simulation of all steps with what is needed only. The constraints hold, and what a step needs of latches is
    /// known from the step before, or from the resets.
    fn known_by_steps(playback: &Playback<'_>, needed_in: &[Vec<bool>], seed: u64) -> Vec<Vec<Option<bool>>> {
        let circuit = playback.circuit();
        let mut all = Vec::new();
        for (step, needed) in needed_in.iter().enumerate() {
            let exact = playback.values(step);
            let known = ternary(&circuit.aig, |node| needed[node.index()].then(|| exact[node.index()]));
            let value = |edge: Edge| ternary_value(&known, edge);
            let holds = |edge: &Edge| value(*edge) == Some(true);
            assert!(circuit.constraints.iter().all(holds), "circuit {seed}, step {step}");
            for latch in &circuit.latches {
                let node = latch.node.index();
                if step == 0
                    && needed[node]
                    && let Reset::Function(edge) = latch.reset
                {
                    assert_eq!(value(edge), Some(exact[node]), "circuit {seed}");
                }
                if needed_in.get(step + 1).is_some_and(|later| later[node]) {
                    let expected = playback.values(step + 1)[node];
                    assert_eq!(value(latch.next), Some(expected), "circuit {seed}, step {step}");
                }
            }
            all.push(known);
        }
        all
    }

    /// The same for lassos: each edge is true in the loop, and what is needed where the loop begins is so at its end.
    #[test]
    fn needed_values_force_the_lasso() {
        let (mut lassos, mut left_out, mut longer) = (0, 0, 0);
        for seed in numbers(400) {
            let random = &mut Random::new(seed);
            let mut circuit = random_circuit(random, &Shape { latches: 6, gates: 30, ..Shape::default() });
            add_justice(random, &mut circuit);
            let options = Options { jobs: Some(1), ..Options::default() };
            let property = [Property::Justice(0)];
            let answer = decide(&circuit, &circuit.bads, &property, &options, &Limits::default());
            let decide::Verdict::Unsafe(found) = answer.verdict else { continue };
            let start = found.loop_start.unwrap();
            lassos += 1;
            longer += usize::from(start + 1 < found.trace.inputs.len());
            let playback = Playback::new(&circuit, &found.trace);
            let needed_in = needed_by_steps(&playback, &found.roots(&playback));
            let known = known_by_steps(&playback, &needed_in, seed);
            for edge in circuit.recurring(0) {
                let is_true = |known: &Vec<Option<bool>>| ternary_value(known, edge) == Some(true);
                assert!(known[start..].iter().any(is_true), "circuit {seed}");
            }
            let begin = playback.values(start);
            for latch in &circuit.latches {
                let node = latch.node.index();
                if needed_in[start][node] {
                    let after = ternary_value(&known[known.len() - 1], latch.next);
                    assert_eq!(after, Some(begin[node]), "circuit {seed}");
                } else {
                    left_out += 1;
                }
            }
        }
        assert!(
            lassos > 50 && left_out > 50 && longer > 10,
            "{lassos} lassos, {longer} of several steps, {left_out} latches"
        );
    }

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
            let needed_in = needed_by_steps(&playback, &bad_roots(&playback, bad));
            let known = known_by_steps(&playback, &needed_in, seed);
            assert_eq!(
                ternary_value(&known[known.len() - 1], bad),
                Some(true),
                "circuit {seed}, the last step"
            );
            let inputs =
                |needed: &Vec<bool>| circuit.inputs.iter().filter(|input| !needed[input.index()]).count();
            left_out += needed_in.iter().map(inputs).sum::<usize>();
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
        let roots = bad_roots(&playback, file.circuit.bads[0]);
        let needed = Needed::new(&playback, &roots, &signals);
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
        justify(&playback, &bad_roots(&playback, file.circuit.bads[0]), 0, |_, needed| {
            let inputs: Vec<bool> = file.circuit.inputs.iter().map(|input| needed[input.index()]).collect();
            assert_eq!(inputs, [false, true]);
        });
    }
}
