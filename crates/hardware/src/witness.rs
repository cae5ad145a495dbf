//! Witnesses in files: stimuli for counterexamples, witness circuits for proofs.
//!
//! A *stimulus* is text (Biere, Heljanko & Wieringa, "AIGER 1.9 And Beyond"): a line `1`, the property that fires as
//! `b0` or `j0` (several as `b0j1`), a line with the values of the latches in step 0, a line with those of the inputs for each step, and a
//! line `.`. A file `0` claims that the circuit is safe, `2` that nothing is known. The run of a justice property is a
//! lasso: the state after the last step occurs before, and the steps from there are the loop. The file does not say where
//! it begins.
//!
//! A *witness circuit* W proves that a circuit M is safe (Yu, Froleyks, Biere et al., "Towards Compositional Hardware
//! Model Checking Certification", FMCAD 2023; the checker Certifaiger). It is a circuit whose own property P' is
//! inductive and that simulates M. Inputs and latches of M and W that stand for each other are K; R, F, C, P are reset,
//! step, constraints and property, restricted to K in braces:
//!
//! * reset: R{K} ∧ C ⇒ R'{K} ∧ C'; transition: F{K} ∧ C₀ ∧ C₁ ∧ C'₀ ⇒ F'{K} ∧ C'₁; property: C ∧ C' ∧ P' ⇒ P;
//! * base: R' ∧ C' ⇒ P'; step: P'₀ ∧ F' ∧ C'₀ ∧ C'₁ ⇒ P'₁.
//!
//! The names of W's inputs and latches say what they stand for, as `= 6` for the literal 6 of M. Without such names the
//! first inputs stand for each other, and so do the first latches.

use std::io::{self, Write};

use shofar_run::{Limits, Stop};
use shofar_smt::sat::Lit;

use crate::aig::{Builder, Edge, Node, mapped};
use crate::aiger::{File, Mistake, Place};
use crate::check::{Encoder, Fault, Frame, Refusal};
use crate::circuit::{Circuit, Latch, Property, Reset};
use crate::evidence::{Invariant, Trace};

/// What a stimulus file claims.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stimulus {
    /// A counterexample to these properties.
    Unsafe {
        /// The properties that it violates.
        properties: Vec<Property>,
        /// The run.
        trace: Trace,
    },
    /// There is no counterexample.
    Safe,
    /// Nothing is known.
    Unknown,
}

/// Writes a counterexample as a stimulus.
pub fn write_stimulus(trace: &Trace, property: Property, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let digits =
        |values: &[bool]| values.iter().map(|&value| if value { '1' } else { '0' }).collect::<String>();
    writeln!(out, "1\n{property}\n{}", digits(&trace.initial))?;
    for inputs in &trace.inputs {
        writeln!(out, "{}", digits(inputs))?;
    }
    writeln!(out, ".")
}

/// Reads a stimulus. The value `x`, which does not matter, is read as 0.
pub fn read_stimulus(bytes: &[u8]) -> Result<Stimulus, Mistake> {
    let mut lines = bytes.split(|&byte| byte == b'\n').enumerate().map(|(index, line)| {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        (index + 1, line)
    });
    let mut count = 0;
    let mut next = |expected: &str| {
        let line = lines.by_ref().find(|(_, line)| !matches!(line.first(), Some(b'c' | b'u')));
        let end = Mistake {
            place: Place::Line(count + 1),
            message: format!("the witness ends where {expected} should be"),
        };
        let (number, line) = line.ok_or(end)?;
        count = number;
        Ok::<_, Mistake>((number, line))
    };
    let mistake = |line: usize, message: String| Mistake { place: Place::Line(line), message };
    match next("0, 1 or 2")? {
        (_, b"1") => {}
        (_, b"0") => return Ok(Stimulus::Safe),
        (_, b"2") => return Ok(Stimulus::Unknown),
        (line, text) => {
            let message = format!("`{}` where 0, 1 or 2 should be", text.escape_ascii());
            return Err(mistake(line, message));
        }
    }
    let (line, text) = next("a property such as b0")?;
    let text = String::from_utf8_lossy(text);
    let properties = Property::parse_all(&text).map_err(|rest| {
        mistake(line, format!("`{}` where a property such as b0 should be", rest.escape_debug()))
    })?;
    if properties.is_empty() {
        return Err(mistake(line, "a property such as b0 is missing".to_owned()));
    }
    let values = |(line, text): (usize, &[u8])| {
        let value = |&byte: &u8| match byte {
            b'1' => Ok(true),
            b'0' | b'x' => Ok(false),
            _ => Err(mistake(line, format!("`{}` where 0, 1 or x should be", byte.escape_ascii()))),
        };
        text.iter().map(value).collect::<Result<Vec<bool>, Mistake>>()
    };
    let initial = values(next("the line of the latches")?)?;
    let mut inputs = Vec::new();
    loop {
        match next("`.`")? {
            (_, b".") => break,
            line => inputs.push(values(line)?),
        }
    }
    Ok(Stimulus::Unsafe { properties, trace: Trace { initial, inputs } })
}

/// The witness circuit of an invariant that excludes the given edges.
///
/// For depth 1 it is the circuit, with P' = invariant ∧ P. For depth k it also remembers the inputs and latches of the
/// k - 1 steps before, as far as there are any, and P' says of what is remembered: the invariant and C hold in each of
/// these steps, each is followed by the next one, and the oldest is a reset state unless the memory is full. Then either
/// the k last steps are known, and the step of the k-induction applies, or all steps from the reset, and the base does.
pub fn witness_circuit(circuit: &Circuit, bads: &[Edge], invariant: &Invariant) -> Circuit {
    let (inputs, latches) = (circuit.inputs.len(), circuit.latches.len());
    let older = invariant.depth.saturating_sub(1);
    // Leaves: inputs, latches; for each older step a valid bit, inputs, latches.
    let width = 1 + inputs + latches;
    let mut builder = Builder::with_leaves(inputs + latches + older * width);
    let mut place = vec![0; circuit.aig.len()];
    let nodes = circuit.inputs.iter().copied().chain(circuit.latches.iter().map(|latch| latch.node));
    nodes.enumerate().for_each(|(index, node)| place[node.index()] = index);
    let leaf_at = |age: usize, index: usize| -> Edge {
        let before = if age == 0 { 0 } else { inputs + latches + (age - 1) * width + 1 };
        Node::from_index(1 + before + index).into()
    };
    let valid_at = |age: usize| -> Edge {
        if age == 0 { Edge::TRUE } else { Node::from_index(leaf_at(age, 0).node().index() - 1).into() }
    };

    let resets = circuit.latches.iter().filter_map(|latch| match latch.reset {
        Reset::Function(edge) => Some(edge),
        Reset::Constant(_) | Reset::Free => None,
    });
    let roots: Vec<Edge> = circuit
        .latches
        .iter()
        .map(|latch| latch.next)
        .chain(circuit.constraints.iter().copied())
        .chain(bads.iter().copied())
        .chain(resets)
        .collect();
    let clause_roots: Vec<Edge> = invariant.clauses.iter().flatten().copied().collect();
    let mut property = Vec::new();
    let mut of_now = Vec::new();
    for age in 0..=older {
        let map =
            builder.copy_cones(&circuit.aig, roots.iter().copied(), |leaf| leaf_at(age, place[leaf.index()]));
        let clause_map = builder.copy_cones(&invariant.aig, clause_roots.iter().copied(), |leaf| {
            leaf_at(age, place[leaf.index()])
        });
        let mut claims = Vec::new();
        for clause in &invariant.clauses {
            claims.push(builder.or_all(clause.iter().map(|&edge| mapped(&clause_map, edge))));
        }
        if age == 0 {
            claims.extend(bads.iter().map(|&bad| !mapped(&map, bad)));
        } else {
            claims.extend(circuit.constraints.iter().map(|&edge| mapped(&map, edge)));
            claims.push(valid_at(age - 1));
            for (index, latch) in circuit.latches.iter().enumerate() {
                claims.push(builder.iff(leaf_at(age - 1, inputs + index), mapped(&map, latch.next)));
            }
        }
        let holds = builder.and_all(claims);
        property.push(builder.or(!valid_at(age), holds));
        if age < older {
            let mut is_reset = Vec::new();
            for (index, latch) in circuit.latches.iter().enumerate() {
                let value = leaf_at(age, inputs + index);
                match latch.reset {
                    Reset::Constant(reset) => is_reset.push(value.negate_if(!reset)),
                    Reset::Free => {}
                    Reset::Function(edge) => is_reset.push(builder.iff(value, mapped(&map, edge))),
                }
            }
            let begins = builder.and_all(is_reset);
            let is_oldest = builder.and(valid_at(age), !valid_at(age + 1));
            property.push(builder.or(!is_oldest, begins));
        }
        if age == 0 {
            of_now = map;
        }
    }
    let property = builder.and_all(property);

    let now = |edge: Edge| mapped(&of_now, edge);
    let mut all_latches: Vec<Latch> = circuit
        .latches
        .iter()
        .enumerate()
        .map(|(index, latch)| Latch {
            node: leaf_at(0, inputs + index).node(),
            next: now(latch.next),
            reset: match latch.reset {
                Reset::Function(edge) => Reset::Function(now(edge)),
                reset => reset,
            },
        })
        .collect();
    let remember = |node: Edge, next: Edge| Latch { node: node.node(), next, reset: Reset::Constant(false) };
    for age in 1..=older {
        all_latches.push(remember(valid_at(age), valid_at(age - 1)));
        all_latches.extend(
            (0..inputs + latches).map(|index| remember(leaf_at(age, index), leaf_at(age - 1, index))),
        );
    }
    Circuit {
        inputs: (0..inputs).map(|index| leaf_at(0, index).node()).collect(),
        latches: all_latches,
        bads: vec![!property],
        constraints: circuit.constraints.iter().map(|&edge| now(edge)).collect(),
        aig: builder.into_aig(),
        ..Circuit::default()
    }
}

/// Checks that a witness circuit proves that no run of a model makes one of the edges true.
pub fn check_witness_circuit(
    model: &File,
    bads: &[Edge],
    witness: &File,
    limits: &Limits<'_>,
) -> Result<(), Refusal> {
    let shared = Shared::new(model, witness)?;
    let (model, witness) = (&model.circuit, &witness.circuit);
    // The witness proves its first property.
    let own_bad: Vec<Edge> = witness.safety().first().copied().into_iter().collect();

    // Reset.
    let mut encoder = Encoder::new();
    let (mut of_model, mut of_witness) = shared.frames(&mut encoder, model, witness);
    for latch in model.latches.iter().filter(|latch| shared.has_model(latch.node)) {
        if let Some(differs) = differs_from_reset(&mut encoder, &mut of_model, latch) {
            encoder.assert(!differs);
        }
    }
    encoder.assert_all(&mut of_model, &model.constraints);
    let mut wrong: Vec<Lit> = Vec::new();
    for latch in witness.latches.iter().filter(|latch| shared.has_witness(latch.node)) {
        wrong.extend(differs_from_reset(&mut encoder, &mut of_witness, latch));
    }
    wrong.extend(witness.constraints.iter().map(|&edge| !encoder.literal(&mut of_witness, edge)));
    encoder.refute(&wrong, limits, Fault::Simulation("reset"))?;

    // Transition.
    let mut encoder = Encoder::new();
    let (mut of_model, mut of_witness) = shared.frames(&mut encoder, model, witness);
    let (mut next_of_model, mut next_of_witness) = shared.frames(&mut encoder, model, witness);
    for latch in model.latches.iter().filter(|latch| shared.has_model(latch.node)) {
        let next = encoder.literal(&mut of_model, latch.next);
        let value = encoder.literal(&mut next_of_model, latch.node.into());
        let differs = encoder.differ(value, next);
        encoder.assert(!differs);
    }
    encoder.assert_all(&mut of_model, &model.constraints);
    encoder.assert_all(&mut next_of_model, &model.constraints);
    encoder.assert_all(&mut of_witness, &witness.constraints);
    let mut wrong: Vec<Lit> = Vec::new();
    for latch in witness.latches.iter().filter(|latch| shared.has_witness(latch.node)) {
        let next = encoder.literal(&mut of_witness, latch.next);
        let value = encoder.literal(&mut next_of_witness, latch.node.into());
        wrong.push(encoder.differ(value, next));
    }
    wrong.extend(witness.constraints.iter().map(|&edge| !encoder.literal(&mut next_of_witness, edge)));
    encoder.refute(&wrong, limits, Fault::Simulation("transition"))?;

    // Property.
    let mut encoder = Encoder::new();
    let (mut of_model, mut of_witness) = shared.frames(&mut encoder, model, witness);
    encoder.assert_all(&mut of_model, &model.constraints);
    encoder.assert_all(&mut of_witness, &witness.constraints);
    encoder.assert_none(&mut of_witness, &own_bad);
    let wrong: Vec<Lit> = bads.iter().map(|&bad| encoder.literal(&mut of_model, bad)).collect();
    encoder.refute(&wrong, limits, Fault::Simulation("property"))?;

    // Base.
    let mut encoder = Encoder::new();
    let mut frame = encoder.initial_frame(&witness.aig, witness);
    encoder.assert_all(&mut frame, &witness.constraints);
    let wrong: Vec<Lit> = own_bad.iter().map(|&bad| encoder.literal(&mut frame, bad)).collect();
    encoder.refute(&wrong, limits, Fault::Base { step: 0 })?;

    // Step.
    let mut encoder = Encoder::new();
    let mut frame = Frame::new(&witness.aig);
    encoder.assert_all(&mut frame, &witness.constraints);
    encoder.assert_none(&mut frame, &own_bad);
    let mut next = encoder.next_frame(&mut frame, witness);
    encoder.assert_all(&mut next, &witness.constraints);
    let wrong: Vec<Lit> = own_bad.iter().map(|&bad| encoder.literal(&mut next, bad)).collect();
    encoder.refute(&wrong, limits, Fault::Step)
}

/// Whether a latch has another value than its reset; `None` if it is free.
fn differs_from_reset(encoder: &mut Encoder, frame: &mut Frame<'_>, latch: &Latch) -> Option<Lit> {
    let value = encoder.literal(frame, latch.node.into());
    let reset = match latch.reset {
        Reset::Constant(reset) => encoder.constant(reset),
        Reset::Free => return None,
        Reset::Function(edge) => encoder.literal(frame, edge),
    };
    Some(encoder.differ(value, reset))
}

/// The inputs and latches of a model and of a witness circuit that stand for each other.
struct Shared {
    /// A leaf of the witness, and the edge to a leaf of the model.
    pairs: Vec<(Node, Edge)>,
    /// By nodes: whether it is part of a pair.
    of_model: Vec<bool>,
    of_witness: Vec<bool>,
}

impl Shared {
    fn new(model: &File, witness: &File) -> Result<Self, Refusal> {
        let mut pairs = Self::by_names(model, witness)?;
        pairs.extend(Self::by_comment(model, witness)?);
        if pairs.is_empty() {
            let leaves = |circuit: &Circuit| {
                (
                    circuit.inputs.clone(),
                    circuit.latches.iter().map(|latch| latch.node).collect::<Vec<Node>>(),
                )
            };
            let ((inputs, latches), (own_inputs, own_latches)) =
                (leaves(&model.circuit), leaves(&witness.circuit));
            let edge = |(own, node): (Node, Node)| (own, Edge::from(node));
            pairs.extend(own_inputs.into_iter().zip(inputs).map(edge));
            pairs.extend(own_latches.into_iter().zip(latches).map(edge));
        }
        let mut of_model = vec![false; model.circuit.aig.len()];
        let mut of_witness = vec![false; witness.circuit.aig.len()];
        for &(own, edge) in &pairs {
            of_model[edge.node().index()] = true;
            if std::mem::replace(&mut of_witness[own.index()], true) {
                let variable = witness.variables[own.index()];
                let message =
                    format!("literal {} of the witness circuit stands for two literals", 2 * variable);
                return Err(Fault::Shape(message).into());
            }
        }
        Ok(Self { pairs, of_model, of_witness })
    }

    /// Names of the form `= 6`.
    fn by_names(model: &File, witness: &File) -> Result<Vec<(Node, Edge)>, Refusal> {
        let circuit = &witness.circuit;
        let inputs = circuit.inputs.iter().copied().zip(&circuit.names.inputs);
        let latches = circuit.latches.iter().map(|latch| latch.node).zip(&circuit.names.latches);
        let mut pairs = Vec::new();
        for (own, name) in inputs.chain(latches) {
            let Some(literal) = name.strip_prefix('=') else { continue };
            let literal = literal.split_ascii_whitespace().next().unwrap_or_default();
            pairs.push((own, Self::model_leaf(model, literal)?));
        }
        Ok(pairs)
    }

    /// Lines behind `MAPPING` in the comments: a literal of the witness, and one of the model.
    fn by_comment(model: &File, witness: &File) -> Result<Vec<(Node, Edge)>, Refusal> {
        let comments = String::from_utf8_lossy(&witness.comments);
        let mut lines = comments.lines().skip_while(|line| !line.starts_with("MAPPING")).map(str::trim);
        if lines.next().is_none() {
            return Ok(Vec::new());
        }
        let mut pairs = Vec::new();
        for line in lines {
            let Some((own, literal)) = line.split_once(' ') else { break };
            let Ok(own) = own.parse::<u32>() else { break };
            let node =
                witness.variables.iter().position(|&variable| variable == own >> 1).map(Node::from_index);
            let leaf = node.filter(|&node| node != Node::FALSE && !witness.circuit.aig.is_and(node));
            let Some(leaf) = leaf else {
                let what = "witness circuits whose gates stand for inputs or latches".to_owned();
                return Err(Stop::Unsupported(what).into());
            };
            let edge = Self::model_leaf(model, literal)?;
            pairs.push((leaf, edge.negate_if(own & 1 != 0)));
        }
        Ok(pairs)
    }

    /// The edge to a leaf of the model that a literal of its file names.
    fn model_leaf(model: &File, literal: &str) -> Result<Edge, Refusal> {
        let number: Option<u32> = literal.parse().ok();
        let node =
            number.and_then(|number| model.variables.iter().position(|&variable| variable == number >> 1));
        match (number, node.map(Node::from_index)) {
            (Some(number), Some(node)) if node != Node::FALSE && !model.circuit.aig.is_and(node) => {
                Ok(node.edge(number & 1 != 0))
            }
            _ => {
                let message = format!("`{literal}` is no input and no latch of the circuit");
                Err(Fault::Shape(message).into())
            }
        }
    }

    fn has_model(&self, node: Node) -> bool {
        self.of_model[node.index()]
    }

    fn has_witness(&self, node: Node) -> bool {
        self.of_witness[node.index()]
    }

    /// A step of both circuits with shared leaves.
    fn frames<'a>(
        &self,
        encoder: &mut Encoder,
        model: &'a Circuit,
        witness: &'a Circuit,
    ) -> (Frame<'a>, Frame<'a>) {
        let mut of_model = Frame::new(&model.aig);
        let mut of_witness = Frame::new(&witness.aig);
        for &(own, edge) in &self.pairs {
            of_witness.set(own, encoder.literal(&mut of_model, edge));
        }
        (of_model, of_witness)
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use shofar_testing::Random;
    use shofar_testing::scale::numbers;

    use super::*;
    use crate::aiger::{Encoding, read, write};
    use crate::common::{Shape, is_inductive, random_circuit, strongest_invariant};
    use crate::evidence::Evidence;
    use crate::exchange::Exchange;
    use crate::kind;
    use crate::system::Extracted;

    fn file(circuit: &Circuit, encoding: Encoding) -> File {
        let mut bytes = Vec::new();
        write(circuit, encoding, b"", &mut bytes).unwrap();
        read(&bytes).unwrap()
    }

    fn small(random: &mut Random, functions: bool) -> Circuit {
        let shape = Shape {
            inputs: 1 + random.below(2),
            latches: 1 + random.below(4),
            functions,
            ..Shape::default()
        };
        random_circuit(random, &shape)
    }

    #[test]
    fn stimuli_are_read_as_written() {
        for seed in numbers(200) {
            let random = &mut Random::new(seed);
            let (latches, inputs) = (random.below(3), random.below(3));
            let mut bits = |count: usize| (0..count).map(|_| random.bool()).collect::<Vec<bool>>();
            let trace = Trace { initial: bits(latches), inputs: vec![bits(inputs), bits(inputs)] };
            let mut text = Vec::new();
            write_stimulus(&trace, Property::Justice(3), &mut text).unwrap();
            let properties = vec![Property::Justice(3)];
            assert_eq!(read_stimulus(&text).unwrap(), Stimulus::Unsafe { properties, trace });
        }
        assert_eq!(read_stimulus(b"0\nb0\n.\n").unwrap(), Stimulus::Safe);
        assert_eq!(read_stimulus(b"2\n").unwrap(), Stimulus::Unknown);
        let commented = read_stimulus(b"c made by hand\n1\nb0 b2\nx1\n01\n.\n").unwrap();
        let trace = Trace { initial: vec![false, true], inputs: vec![vec![false, true]] };
        let properties = vec![Property::Bad(0), Property::Bad(2)];
        assert_eq!(commented, Stimulus::Unsafe { properties, trace });
        let together = read_stimulus(b"1\nb0j12b3 j4\n.\n.\n");
        assert!(together.is_err());
        let together = read_stimulus(b"1\nb0j12b3 j4 \n0\n.\n").unwrap();
        let properties =
            vec![Property::Bad(0), Property::Justice(12), Property::Bad(3), Property::Justice(4)];
        let trace = Trace { initial: vec![false], inputs: Vec::new() };
        assert_eq!(together, Stimulus::Unsafe { properties, trace });
        for (text, line) in [
            ("1\nb0j\n", 2),
            ("1\nb0 1\n", 2),
            ("1\nb0,j1\n", 2),
            ("1\nb+0\n", 2),
            ("", 1),
            ("3\n", 1),
            ("1\nk0\n", 2),
            ("1\n\n", 2),
            ("1\nb0\n2\n", 3),
            ("1\nb0\n0\n0\n", 6),
        ] {
            let mistake = read_stimulus(text.as_bytes()).unwrap_err();
            assert!(matches!(mistake.place, Place::Line(found) if found <= line), "{text:?}: {mistake}");
        }
    }

    /// The witness circuit of an invariant is accepted if and only if the invariant with P is inductive.
    #[test]
    fn witness_circuits_of_tampered_invariants_are_judged_as_by_the_definition() {
        let (mut accepted, mut refused) = (0, 0);
        for seed in numbers(500) {
            let random = &mut Random::new(seed);
            let circuit = small(random, true);
            let mut invariant = strongest_invariant(&circuit);
            for _ in 0..3 {
                let mut claim = invariant.clone();
                claim.clauses.extend(circuit.bads.iter().map(|&bad| vec![!bad]));
                let expected = is_inductive(&circuit, &circuit.bads, &claim);
                let witness = witness_circuit(&circuit, &circuit.bads, &invariant);
                let encoding = if random.bool() { Encoding::Ascii } else { Encoding::Binary };
                let (model, witness) = (file(&circuit, Encoding::Ascii), file(&witness, encoding));
                let checked = check_witness_circuit(&model, &circuit.bads, &witness, &Limits::default());
                assert_eq!(checked.is_ok(), expected, "seed {seed}: {checked:?}");
                *(if expected { &mut accepted } else { &mut refused }) += 1;
                if invariant.clauses.is_empty() {
                    break;
                }
                invariant.clauses.swap_remove(random.below(invariant.clauses.len()));
            }
        }
        assert!(accepted > 100 && refused > 100, "{accepted} accepted, {refused} refused");
    }

    #[test]
    fn witness_circuits_of_k_induction_are_accepted() {
        let mut deep = 0;
        for seed in numbers(600) {
            let random = &mut Random::new(seed);
            let circuit = small(random, false);
            let extracted = Extracted::new(&circuit, circuit.bads[0]);
            let deadline = Instant::now() + Duration::from_millis(20);
            let limits = Limits { deadline: Some(deadline), ..Limits::default() };
            let Ok(Evidence::Safe(invariant)) = kind::run(&extracted.system, &Exchange::default(), &limits)
            else {
                continue;
            };
            let mut invariant = extracted.invariant_back(&invariant);
            let bads = &circuit.bads[..1];
            let model = file(&circuit, Encoding::Binary);
            let checked = |invariant: &Invariant| {
                let witness = file(&witness_circuit(&circuit, bads, invariant), Encoding::Binary);
                check_witness_circuit(&model, bads, &witness, &Limits::default())
            };
            assert_eq!(checked(&invariant), Ok(()), "seed {seed}");
            if invariant.depth > 1 {
                deep += 1;
                invariant.depth -= 1;
                assert_eq!(
                    checked(&invariant).is_ok(),
                    is_inductive(&circuit, bads, &invariant),
                    "seed {seed}"
                );
            }
        }
        assert!(deep > 10, "{deep} of depth above 1");
    }

    /// Two latches swapped in the witness, and said so by names or by a comment.
    #[test]
    fn names_and_comments_say_what_stands_for_what() {
        // 2 is never true; 4 may be.
        let model = read(b"aag 2 0 2 0 0 1\n2 2\n4 5\n2\n").unwrap();
        let bads = model.circuit.bads.clone();
        let check = |text: &str| {
            check_witness_circuit(&model, &bads, &read(text.as_bytes()).unwrap(), &Limits::default())
        };
        let swapped = "aag 2 0 2 0 0 1\n2 3\n4 4\n4\n";
        assert_eq!(check(swapped), Err(Refusal::Wrong(Fault::Simulation("transition"))));
        assert_eq!(check(&format!("{swapped}l0 = 4\nl1 = 2\n")), Ok(()));
        assert_eq!(check(&format!("{swapped}c\nMAPPING 2\n2 4\n4 2\n")), Ok(()));
        // The latch alone is enough.
        assert_eq!(check("aag 1 0 1 0 0 1\n2 2\n2\n"), Ok(()));
        assert_eq!(check("aag 1 0 1 0 0 1\n2 3\n2\n"), Err(Refusal::Wrong(Fault::Simulation("transition"))));
        assert_eq!(check("aag 1 0 1 0 0 1\n2 2 1\n2\n"), Err(Refusal::Wrong(Fault::Simulation("reset"))));
        assert_eq!(check("aag 1 0 1 0 0 1\n2 2\n0\n"), Err(Refusal::Wrong(Fault::Simulation("property"))));
        assert!(matches!(check("aag 1 0 1 0 0 1\n2 2\n2\nl0 = 9\n"), Err(Refusal::Wrong(Fault::Shape(_)))));
        assert!(matches!(
            check(&format!("{swapped}l0 = 4\nc\nMAPPING 1\n2 2\n")),
            Err(Refusal::Wrong(Fault::Shape(_)))
        ));
    }
}
