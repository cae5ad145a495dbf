//! The independent checker: does an answer follow from the circuit as read?
//!
//! A trace is simulated, and so is a lasso, the counterexample to a justice property. An invariant is proved by three kinds of queries to a fresh solver, as
//! [`Invariant`] defines them: base, step and safety. The checker knows the circuit and the answer only; it shares
//! neither encodings nor reductions with the engines, and gates of the invariant count as gates of the circuit only
//! where they are the same by number and arguments.

use std::fmt;
use std::ops::Range;

use rustc_hash::FxHashMap;
use shofar_run::{Limits, Stop};
use shofar_smt::sat::{Lit, Outcome, Solver};

use crate::aig::{Aig, Edge, Node, edge_value};
use crate::circuit::{Circuit, Latch, Reset};
use crate::evidence::{Invariant, Trace};

/// Why an answer is wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fault {
    /// It is not about this circuit.
    Shape(String),
    /// A latch does not begin with its reset value.
    Reset {
        /// The latch.
        latch: usize,
    },
    /// A constraint does not hold along the trace.
    Violated {
        /// The step, counted from 0.
        step: usize,
        /// The constraint.
        constraint: usize,
    },
    /// The last step of the trace is not bad.
    NotBad {
        /// That step.
        step: usize,
    },
    /// No state occurs twice along the trace.
    NoLoop,
    /// States occur twice along the trace, but in no loop between them all the edges of the property are true.
    NotFair,
    /// The invariant is false in some run, in this step.
    Base {
        /// The step, counted from 0.
        step: usize,
    },
    /// The invariant is not inductive.
    Step,
    /// The invariant allows a bad state.
    Safety,
    /// A witness circuit does not simulate the circuit: in its reset, its steps or its property.
    Simulation(&'static str),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Shape(message) => f.write_str(message),
            Fault::Reset { latch } => write!(f, "latch {latch} does not begin with its reset value"),
            Fault::Violated { step, constraint } => {
                write!(f, "constraint {constraint} does not hold in step {step}")
            }
            Fault::NotBad { step } => write!(f, "step {step}, the last one, is not bad"),
            Fault::NoLoop => f.write_str("the trace has no loop: no state occurs twice"),
            Fault::NotFair => f.write_str(
                "no loop of the trace makes each edge of the property and each fairness constraint true",
            ),
            Fault::Base { step } => write!(f, "base: the invariant does not hold in step {step} of some run"),
            Fault::Step => f.write_str("step: the invariant is not inductive"),
            Fault::Safety => f.write_str("safety: the invariant allows a bad state"),
            Fault::Simulation(obligation) => {
                write!(f, "{obligation}: the witness circuit does not simulate the circuit")
            }
        }
    }
}

/// Why an answer is not accepted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// It is wrong.
    Wrong(Fault),
    /// The check was not completed.
    Stopped(Stop),
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Self {
        Refusal::Wrong(fault)
    }
}

impl From<Stop> for Refusal {
    fn from(stop: Stop) -> Self {
        Refusal::Stopped(stop)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Wrong(fault) => fault.fmt(f),
            Refusal::Stopped(stop) => stop.fmt(f),
        }
    }
}

/// Checks that a trace is a run whose last step makes one of the edges true: resets, and constraints in all steps. The
/// result is the first such edge.
pub fn check_trace(circuit: &Circuit, bads: &[Edge], trace: &Trace) -> Result<usize, Fault> {
    let mut fired = None;
    simulate(circuit, trace, |_, values| {
        fired = bads.iter().position(|&bad| edge_value(values, bad));
    })?;
    fired.ok_or(Fault::NotBad { step: trace.length() })
}

/// Checks that a trace is a run that can go on for ever in a loop in which each of the edges is true at some time. The
/// result is the first such loop: its first step, and the step after its last one, which has the same state. The latches
/// that the edges and the constraints do not depend on may differ.
pub fn check_lasso(circuit: &Circuit, edges: &[Edge], trace: &Trace) -> Result<Range<usize>, Fault> {
    let (latches, _) = circuit.sequential_cone(edges);
    let packed = |value: &dyn Fn(&Latch) -> bool| -> Vec<u64> {
        let word = |chunk: &[usize]| {
            let bits = chunk.iter().map(|&latch| u64::from(value(&circuit.latches[latch])));
            bits.fold(0, |word, bit| word << 1 | bit)
        };
        latches.chunks(64).map(word).collect()
    };
    // By states: the first step that begins with it. By edges: the last step in which it is true.
    let mut first: FxHashMap<Vec<u64>, usize> = FxHashMap::default();
    let mut last: Vec<Option<usize>> = vec![None; edges.len()];
    let (mut recurs, mut found) = (false, None);
    simulate(circuit, trace, |step, values| {
        if step == 0 {
            first.insert(packed(&|latch| values[latch.node.index()]), 0);
        }
        for (last, _) in last.iter_mut().zip(edges).filter(|(_, edge)| edge_value(values, **edge)) {
            *last = Some(step);
        }
        let start = *first.entry(packed(&|latch| edge_value(values, latch.next))).or_insert(step + 1);
        if start <= step {
            recurs = true;
            let is_fair = last.iter().all(|last| last.is_some_and(|last| last >= start));
            if is_fair && found.is_none() {
                found = Some(start..step + 1);
            }
        }
    })?;
    found.ok_or(if recurs { Fault::NotFair } else { Fault::NoLoop })
}

/// Simulates a trace: for each step, the values of all nodes are passed on. Resets and constraints are checked.
fn simulate(circuit: &Circuit, trace: &Trace, mut each: impl FnMut(usize, &[bool])) -> Result<(), Fault> {
    let shape = |what: &str, given: usize, expected: usize| match given == expected {
        true => Ok(()),
        false => Err(Fault::Shape(format!("the trace has {given} {what}, the circuit {expected}"))),
    };
    shape("latches", trace.initial.len(), circuit.latches.len())?;
    for inputs in &trace.inputs {
        shape("inputs", inputs.len(), circuit.inputs.len())?;
    }
    let Some(first) = trace.inputs.first() else {
        return Err(Fault::Shape("the trace has no steps".to_owned()));
    };
    let initial = circuit.initial_state(|latch| trace.initial[latch], first);
    if let Some(latch) = (0..initial.len()).find(|&latch| initial[latch] != trace.initial[latch]) {
        return Err(Fault::Reset { latch });
    }
    let mut leaves = vec![false; circuit.aig.len()];
    circuit.latches.iter().zip(initial).for_each(|(latch, value)| leaves[latch.node.index()] = value);
    for (step, inputs) in trace.inputs.iter().enumerate() {
        circuit.inputs.iter().zip(inputs).for_each(|(node, &value)| leaves[node.index()] = value);
        let values = circuit.aig.evaluate(|leaf| leaves[leaf.index()]);
        if let Some(constraint) = circuit.constraints.iter().position(|&edge| !edge_value(&values, edge)) {
            return Err(Fault::Violated { step, constraint });
        }
        each(step, &values);
        circuit.latches.iter().for_each(|latch| leaves[latch.node.index()] = edge_value(&values, latch.next));
    }
    Ok(())
}

/// Checks that an invariant is one and excludes all the edges.
pub fn check_invariant(
    circuit: &Circuit,
    bads: &[Edge],
    invariant: &Invariant,
    limits: &Limits<'_>,
) -> Result<(), Refusal> {
    if invariant.depth == 0 {
        return Err(Fault::Shape("the depth of induction is 0".to_owned()).into());
    }
    let joint = Joint::new(circuit, invariant)?;

    // Safety.
    let mut encoder = Encoder::new();
    let mut frame = Frame::new(&joint.aig);
    encoder.assert_all(&mut frame, &circuit.constraints);
    encoder.assert_clauses(&mut frame, &joint.clauses);
    let bads: Vec<Lit> = bads.iter().map(|&bad| encoder.literal(&mut frame, bad)).collect();
    encoder.refute(&bads, limits, Fault::Safety)?;

    // Base: the first steps of a run.
    let mut encoder = Encoder::new();
    let mut frame = encoder.initial_frame(&joint.aig, circuit);
    for step in 0..invariant.depth {
        encoder.assert_all(&mut frame, &circuit.constraints);
        let violated = encoder.violations(&mut frame, &joint.clauses);
        encoder.refute(&violated, limits, Fault::Base { step })?;
        if !encoder.solver.is_consistent() {
            // The constraints end all runs here.
            break;
        }
        frame = encoder.next_frame(&mut frame, circuit);
    }

    // Step: after as many steps in a row as the depth says.
    let mut encoder = Encoder::new();
    let mut frame = Frame::new(&joint.aig);
    for _ in 0..invariant.depth {
        encoder.assert_all(&mut frame, &circuit.constraints);
        encoder.assert_clauses(&mut frame, &joint.clauses);
        limits.go_on().map_err(Stop::from)?;
        frame = encoder.next_frame(&mut frame, circuit);
    }
    encoder.assert_all(&mut frame, &circuit.constraints);
    let violated = encoder.violations(&mut frame, &joint.clauses);
    encoder.refute(&violated, limits, Fault::Step)
}

/// The graph of a circuit with the gates of an invariant behind it.
struct Joint {
    aig: Aig,
    clauses: Vec<Vec<Edge>>,
}

impl Joint {
    fn new(circuit: &Circuit, invariant: &Invariant) -> Result<Self, Fault> {
        let known = circuit.aig.len();
        let mut aig = circuit.aig.clone();
        let mut map: Vec<Edge> = Vec::with_capacity(invariant.aig.len());
        let image = |map: &[Edge], edge: Edge| map[edge.node().index()].negate_if(edge.is_negated());
        for node in invariant.aig.nodes() {
            map.push(match invariant.aig.and_fanins(node) {
                Some(fanins) => {
                    let [left, right] = fanins.map(|edge| image(&map, edge));
                    let is_same = node.index() < known && circuit.aig.and_fanins(node) == Some([left, right]);
                    if is_same { node } else { aig.push_and(left, right) }.into()
                }
                None if node.index() < known && !circuit.aig.is_and(node) => node.into(),
                // A leaf that nothing depends on does no harm; clauses must not use it.
                None => aig.push_leaf().into(),
            });
        }
        let edges = invariant.clauses.iter().flatten();
        if let Some(edge) = edges.clone().find(|edge| edge.node().index() >= map.len()) {
            return Err(Fault::Shape(format!("a clause uses an unknown edge: {edge:?}")));
        }
        let clauses: Vec<Vec<Edge>> = invariant
            .clauses
            .iter()
            .map(|clause| clause.iter().map(|&edge| image(&map, edge)).collect())
            .collect();
        let cone = aig.cone(clauses.iter().flatten().copied());
        let foreign =
            (known..aig.len()).map(Node::from_index).find(|&node| cone[node.index()] && !aig.is_and(node));
        match foreign {
            Some(_) => Err(Fault::Shape("a clause uses a leaf that is no input and no latch".to_owned())),
            None => Ok(Self { aig, clauses }),
        }
    }
}

/// Literals for the nodes of a graph in one step.
pub(crate) struct Frame<'a> {
    aig: &'a Aig,
    literals: Vec<Option<Lit>>,
}

impl<'a> Frame<'a> {
    /// A step in which all leaves are free.
    pub(crate) fn new(aig: &'a Aig) -> Self {
        Self { aig, literals: vec![None; aig.len()] }
    }

    /// Says what a leaf is, before it is used.
    pub(crate) fn set(&mut self, leaf: Node, literal: Lit) {
        debug_assert!(self.literals[leaf.index()].is_none() && !self.aig.is_and(leaf));
        self.literals[leaf.index()] = Some(literal);
    }

    fn known(&self, edge: Edge) -> Option<Lit> {
        self.literals[edge.node().index()].map(|literal| if edge.is_negated() { !literal } else { literal })
    }
}

/// Clauses for gates, each AND of two literals once.
pub(crate) struct Encoder {
    solver: Solver,
    truth: Lit,
    gates: FxHashMap<[Lit; 2], Lit>,
}

impl Encoder {
    pub(crate) fn new() -> Self {
        let mut solver = Solver::new();
        let truth = solver.new_var().positive();
        solver.add_clause(&[truth]);
        Self { solver, truth, gates: FxHashMap::default() }
    }

    /// The literal of an edge. Leaves that have none get a new variable.
    pub(crate) fn literal(&mut self, frame: &mut Frame<'_>, edge: Edge) -> Lit {
        let mut stack = vec![edge.node()];
        while let Some(&node) = stack.last() {
            if frame.literals[node.index()].is_some() {
                stack.pop();
                continue;
            }
            let literal = match frame.aig.and_fanins(node) {
                None if node == Node::FALSE => !self.truth,
                None => self.solver.new_var().positive(),
                Some([left, right]) => match (frame.known(left), frame.known(right)) {
                    (Some(left), Some(right)) => self.and(left, right),
                    (of_left, of_right) => {
                        stack.extend(of_left.is_none().then(|| left.node()));
                        stack.extend(of_right.is_none().then(|| right.node()));
                        continue;
                    }
                },
            };
            frame.literals[node.index()] = Some(literal);
            stack.pop();
        }
        frame.known(edge).expect("the node has a literal now")
    }

    /// The conjunction of two literals.
    pub(crate) fn and(&mut self, left: Lit, right: Lit) -> Lit {
        let (left, right) = (left.min(right), left.max(right));
        if left == !self.truth || right == !self.truth || left == !right {
            return !self.truth;
        }
        if left == self.truth || left == right {
            return right;
        }
        if right == self.truth {
            return left;
        }
        if let Some(&gate) = self.gates.get(&[left, right]) {
            return gate;
        }
        let gate = self.solver.new_var().positive();
        self.solver.add_clause(&[!gate, left]);
        self.solver.add_clause(&[!gate, right]);
        self.solver.add_clause(&[gate, !left, !right]);
        self.gates.insert([left, right], gate);
        gate
    }

    /// Whether two literals are different.
    pub(crate) fn differ(&mut self, left: Lit, right: Lit) -> Lit {
        let both = self.and(left, right);
        let neither = self.and(!left, !right);
        self.and(!both, !neither)
    }

    /// A literal for a constant.
    pub(crate) fn constant(&self, value: bool) -> Lit {
        if value { self.truth } else { !self.truth }
    }

    pub(crate) fn assert(&mut self, literal: Lit) {
        self.solver.add_clause(&[literal]);
    }

    /// Asserts edges, such as constraints.
    pub(crate) fn assert_all(&mut self, frame: &mut Frame<'_>, edges: &[Edge]) {
        for &edge in edges {
            let literal = self.literal(frame, edge);
            self.assert(literal);
        }
    }

    /// Asserts that all edges are false, such as bads.
    pub(crate) fn assert_none(&mut self, frame: &mut Frame<'_>, edges: &[Edge]) {
        for &edge in edges {
            let literal = self.literal(frame, edge);
            self.assert(!literal);
        }
    }

    fn assert_clauses(&mut self, frame: &mut Frame<'_>, clauses: &[Vec<Edge>]) {
        for clause in clauses {
            let literals: Vec<Lit> = clause.iter().map(|&edge| self.literal(frame, edge)).collect();
            self.solver.add_clause(&literals);
        }
    }

    /// By clauses: a literal that implies that the clause is false.
    fn violations(&mut self, frame: &mut Frame<'_>, clauses: &[Vec<Edge>]) -> Vec<Lit> {
        clauses
            .iter()
            .map(|clause| {
                let violated = self.solver.new_var().positive();
                for &edge in clause {
                    let literal = self.literal(frame, edge);
                    self.solver.add_clause(&[!violated, !literal]);
                }
                violated
            })
            .collect()
    }

    /// The first step of a run: latches have their reset values.
    pub(crate) fn initial_frame<'a>(&mut self, aig: &'a Aig, circuit: &Circuit) -> Frame<'a> {
        let mut frame = Frame::new(aig);
        for latch in &circuit.latches {
            match latch.reset {
                Reset::Constant(value) => frame.set(latch.node, self.constant(value)),
                Reset::Free => frame.set(latch.node, self.solver.new_var().positive()),
                Reset::Function(_) => {}
            }
        }
        for latch in circuit.reset_order().expect("readers refuse cyclic resets") {
            let latch = circuit.latches[latch];
            if let Reset::Function(edge) = latch.reset {
                let literal = self.literal(&mut frame, edge);
                frame.set(latch.node, literal);
            }
        }
        frame
    }

    /// The step after a step: latches have the values of their next functions.
    pub(crate) fn next_frame<'a>(&mut self, frame: &mut Frame<'a>, circuit: &Circuit) -> Frame<'a> {
        let mut next = Frame::new(frame.aig);
        for latch in &circuit.latches {
            next.set(latch.node, self.literal(frame, latch.next));
        }
        next
    }

    /// Shows that none of the literals can be true; the fault says what it means if one can. Nothing is added to what
    /// later queries assume.
    pub(crate) fn refute(
        &mut self,
        literals: &[Lit],
        limits: &Limits<'_>,
        fault: Fault,
    ) -> Result<(), Refusal> {
        let some = self.solver.new_var().positive();
        let mut clause = literals.to_vec();
        clause.push(!some);
        self.solver.add_clause(&clause);
        match self.solver.solve_within(&[some], limits) {
            Outcome::Unsat => Ok(()),
            Outcome::Sat => Err(fault.into()),
            Outcome::Unknown(reason) => Err(Stop::from(reason).into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use shofar_testing::Random;
    use shofar_testing::scale::numbers;

    use super::*;
    use crate::aig::Builder;
    use crate::common::{Shape, is_counterexample, is_inductive, random_circuit, strongest_invariant};

    fn small(random: &mut Random) -> Circuit {
        let shape = Shape { inputs: 1 + random.below(2), latches: 1 + random.below(4), ..Shape::default() };
        random_circuit(random, &shape)
    }

    fn accepts(circuit: &Circuit, invariant: &Invariant) -> bool {
        let checked = check_invariant(circuit, &circuit.bads, invariant, &Limits::default());
        assert!(!matches!(checked, Err(Refusal::Stopped(_))));
        checked.is_ok()
    }

    /// Strongest invariants, and what is left of them after literals were flipped and clauses or literals dropped.
    #[test]
    fn tampered_invariants_are_refused_unless_they_are_inductive() {
        let (mut accepted, mut refused) = (0, 0);
        for seed in numbers(600) {
            let random = &mut Random::new(seed);
            let circuit = small(random);
            let mut invariant = strongest_invariant(&circuit);
            for _ in 0..6 {
                let expected = is_inductive(&circuit, &circuit.bads, &invariant);
                assert_eq!(accepts(&circuit, &invariant), expected, "seed {seed}");
                *(if expected { &mut accepted } else { &mut refused }) += 1;
                let clauses = invariant.clauses.len();
                if clauses == 0 {
                    break;
                }
                let clause = &mut invariant.clauses[random.below(clauses)];
                match random.below(3) {
                    0 if !clause.is_empty() => {
                        let literal = random.below(clause.len());
                        clause[literal] = !clause[literal];
                    }
                    1 if !clause.is_empty() => {
                        clause.swap_remove(random.below(clause.len()));
                    }
                    _ => {
                        invariant.clauses.swap_remove(random.below(clauses));
                    }
                }
            }
        }
        assert!(accepted > 100 && refused > 100, "{accepted} accepted, {refused} refused");
    }

    /// Random clauses over gates, inputs and latches, in gates of the invariant's own, with depths up to 3.
    #[test]
    fn random_invariants_are_judged_as_by_the_definition() {
        let mut accepted = 0;
        for seed in numbers(3000) {
            let random = &mut Random::new(seed);
            let circuit = small(random);
            let mut builder = Builder::on(circuit.aig.clone());
            let edge =
                |random: &mut Random, nodes: usize| Node::from_index(random.below(nodes)).edge(random.bool());
            let mut clauses: Vec<Vec<Edge>> = circuit.bads.iter().map(|&bad| vec![!bad]).collect();
            for _ in 0..random.below(3) {
                let nodes = builder.aig().len();
                let (left, right) = (edge(random, nodes), edge(random, nodes));
                let gate = builder.xor(left, right);
                clauses.push(vec![gate, edge(random, nodes)]);
            }
            let depth = 1 + random.below(3);
            let invariant = Invariant { aig: builder.into_aig(), clauses, depth };
            let expected = is_inductive(&circuit, &circuit.bads, &invariant);
            assert_eq!(accepts(&circuit, &invariant), expected, "seed {seed}");
            accepted += usize::from(expected);
        }
        assert!(accepted > 100, "{accepted} accepted");
    }

    #[test]
    fn random_traces_are_judged_as_by_the_definition() {
        let mut accepted = 0;
        for seed in numbers(3000) {
            let random = &mut Random::new(seed);
            let circuit = small(random);
            let steps = 1 + random.below(4);
            let inputs: Vec<Vec<bool>> =
                (0..steps).map(|_| circuit.inputs.iter().map(|_| random.bool()).collect()).collect();
            let free: Vec<bool> = circuit.latches.iter().map(|_| random.bool()).collect();
            let mut initial = circuit.initial_state(|latch| free[latch], &inputs[0]);
            if random.one_in(4) {
                initial[0] = !initial[0];
            }
            let trace = Trace { initial, inputs };
            let checked = check_trace(&circuit, &circuit.bads, &trace);
            assert_eq!(checked.is_ok(), is_counterexample(&circuit, &circuit.bads, &trace));
            accepted += usize::from(checked.is_ok());
            let fewer = Trace { initial: trace.initial[1..].to_vec(), ..trace };
            assert!(matches!(check_trace(&circuit, &circuit.bads, &fewer), Err(Fault::Shape(_))));
        }
        assert!(accepted > 100, "{accepted} accepted");
    }

    #[test]
    fn clauses_over_unknown_edges_are_refused() {
        let circuit = small(&mut Random::new(0));
        let clause = vec![Node::from_index(1000).into()];
        let unknown = Invariant { aig: circuit.aig.clone(), clauses: vec![clause], depth: 1 };
        assert!(!accepts(&circuit, &unknown));
        let mut aig = circuit.aig.clone();
        let clause = vec![aig.push_leaf().into()];
        assert!(!accepts(&circuit, &Invariant { aig, clauses: vec![clause], depth: 1 }));
        assert!(!accepts(&circuit, &Invariant { clauses: vec![], depth: 0, ..unknown }));
    }
}
