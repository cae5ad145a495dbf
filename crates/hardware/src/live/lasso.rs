//! Lassos: infinite runs that are written down as a stem and a loop.

use crate::aig::{Edge, edge_value};
use crate::check::{Fault, check_lasso};
use crate::circuit::Circuit;
use crate::evidence::Trace;

/// A loop is repeated up to this many steps so that all latches recur.
const MOST_STEPS: usize = 1_000;

/// An infinite run: after the last step of the trace it goes on with the step that begins the loop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lasso {
    /// Stem and loop.
    pub trace: Trace,
    /// The first step of the loop.
    pub start: usize,
}

impl Lasso {
    /// The first lasso in a trace whose loop makes all edges true.
    pub fn find(circuit: &Circuit, edges: &[Edge], mut trace: Trace) -> Result<Self, Fault> {
        let steps = check_lasso(circuit, edges, &trace)?;
        trace.inputs.truncate(steps.end);
        Ok(Self { trace, start: steps.start })
    }

    /// The same run with a loop after which all latches of the circuit recur, those too that do not matter: other tools
    /// want to see that. The loop is repeated for this. If that would take too many steps, the lasso is left as it is.
    #[must_use]
    pub fn completed(self, circuit: &Circuit) -> Self {
        let Some(period) = self.trace.inputs.len().checked_sub(self.start).filter(|&period| period > 0)
        else {
            return self;
        };
        let mut trace = self.trace.clone();
        let mut state = trace.initial.clone();
        // The states in which repetitions begin.
        let mut states: Vec<Vec<bool>> = Vec::new();
        for step in 0..=MOST_STEPS.max(trace.inputs.len()) {
            if step >= self.start && (step - self.start).is_multiple_of(period) {
                if let Some(first) = states.iter().position(|earlier| *earlier == state) {
                    trace.inputs.truncate(step);
                    return Self { trace, start: self.start + first * period };
                }
                states.push(state.clone());
            }
            if step == trace.inputs.len() {
                trace.inputs.push(trace.inputs[step - period].clone());
            }
            let mut leaves = vec![false; circuit.aig.len()];
            let latches = circuit.latches.iter().map(|latch| latch.node).zip(&state);
            let inputs = circuit.inputs.iter().copied().zip(&trace.inputs[step]);
            latches.chain(inputs).for_each(|(node, &value)| leaves[node.index()] = value);
            let values = circuit.aig.evaluate(|leaf| leaves[leaf.index()]);
            state = circuit.latches.iter().map(|latch| edge_value(&values, latch.next)).collect();
        }
        self
    }
}
