//! The circuit of a file in BTOR2, and the way back of its traces.
//!
//! A bit of an input is an input, a bit of a state a latch. A state without `next` has any value in each step: without
//! `init` too, its bits are inputs; else they are latches whose next value is an input. The inputs of the circuit are
//! the bits of the file's inputs, then those of states that are inputs, then the next values of the others. Inputs come
//! first among the nodes, latches follow, then the gates: the variables of AIGER are the numbers of nodes.

use dashu_int::UBig;
use dashu_int::ops::BitTest;
use shofar_run::{Limits, Stop};

use super::{Kind, Model, Operand, Run, Step};
use crate::aig::{Builder, Edge, Node};
use crate::circuit::{Circuit, Latch, Names, Reset};
use crate::evidence::Trace;
use crate::words::{self, Word};

/// The greatest number of gates.
const GREATEST_GATES: usize = 1 << 27;

/// A file as a circuit.
#[derive(Clone, Debug)]
pub struct Blasted {
    /// The circuit.
    pub circuit: Circuit,
    /// The words inside of the circuit to which the file gives a name.
    pub internal: Vec<(String, Word)>,
    /// By inputs of the file: the first of the bits, among the inputs of the circuit.
    inputs: Vec<usize>,
    /// By states.
    states: Vec<Bits>,
}

/// Where the bits of a state are.
#[derive(Clone, Copy, Debug)]
struct Bits {
    /// The first latch, if the bits are latches.
    latch: Option<usize>,
    /// The first input: of the bits themselves, or of their next values.
    input: Option<usize>,
}

impl Blasted {
    /// The circuit of a file.
    pub fn new(model: &Model, limits: &Limits<'_>) -> Result<Self, Stop> {
        let mut num_inputs = 0;
        let mut num_latches = 0;
        let reserve = |count: &mut usize, width: usize| std::mem::replace(count, *count + width);
        let inputs: Vec<usize> =
            model.inputs.iter().map(|&node| reserve(&mut num_inputs, model.nodes[node].width)).collect();
        let mut states = vec![Bits { latch: None, input: None }; model.states.len()];
        for has_init in [false, true] {
            for (state, bits) in model.states.iter().zip(&mut states) {
                if state.next.is_none() && state.init.is_some() == has_init {
                    bits.input = Some(reserve(&mut num_inputs, model.nodes[state.node].width));
                }
            }
        }
        for (state, bits) in model.states.iter().zip(&mut states) {
            if state.next.is_some() || state.init.is_some() {
                bits.latch = Some(reserve(&mut num_latches, model.nodes[state.node].width));
            }
        }
        let leaf = |index: usize| Edge::from(Node::from_index(1 + index));
        let mut builder = Builder::with_leaves(num_inputs + num_latches);
        let mut words: Vec<Word> = Vec::with_capacity(model.nodes.len());
        for (index, node) in model.nodes.iter().enumerate() {
            if index % 64 == 0 {
                limits.go_on().map_err(Stop::from)?;
            }
            let cost = match &node.kind {
                Kind::Binary(operator, [left, _]) => operator.cost(model.width(*left)),
                _ => node.width.saturating_mul(16),
            };
            if builder.aig().len().saturating_add(cost) > GREATEST_GATES {
                let what =
                    format!("line {}: the circuit might have more than {GREATEST_GATES} gates", node.line);
                return Err(Stop::Unsupported(what));
            }
            let bits = |first: usize| (first..first + node.width).map(leaf).collect::<Word>();
            let word = match &node.kind {
                Kind::Input(input) => bits(inputs[*input]),
                Kind::State(state) => match states[*state] {
                    Bits { latch: Some(latch), .. } => bits(num_inputs + latch),
                    Bits { input, .. } => bits(input.unwrap_or_default()),
                },
                Kind::Constant(value) => (0..node.width).map(|bit| Edge::from(value.bit(bit))).collect(),
                Kind::Unary(operator, argument) => {
                    words::unary(&mut builder, *operator, &operand(&words, *argument))
                }
                Kind::Binary(operator, [left, right]) => {
                    let (left, right) = (operand(&words, *left), operand(&words, *right));
                    words::binary(&mut builder, *operator, &left, &right)
                }
                Kind::Ite(condition, [then, other]) => {
                    let condition = truth(&words, *condition);
                    let (then, other) = (operand(&words, *then), operand(&words, *other));
                    words::ite(&mut builder, condition, &then, &other)
                }
                Kind::Slice(argument, low) => operand(&words, *argument)[*low..*low + node.width].to_vec(),
                Kind::Extend(argument, signed) => {
                    words::extend(&operand(&words, *argument), node.width, *signed)
                }
            };
            words.push(word);
        }

        let mut circuit = Circuit {
            inputs: (0..num_inputs).map(|index| Node::from_index(1 + index)).collect(),
            names: Names {
                inputs: vec![String::new(); num_inputs],
                latches: vec![String::new(); num_latches],
                bads: model.names.bads.clone(),
                constraints: model.names.constraints.clone(),
                ..Names::default()
            },
            ..Circuit::default()
        };
        for (&node, &first) in model.inputs.iter().zip(&inputs) {
            name_bits(&mut circuit.names.inputs, first, &model.name(node), model.nodes[node].width);
        }
        for (state, bits) in model.states.iter().zip(&states) {
            let (name, width) = (model.name(state.node), model.nodes[state.node].width);
            if let Some(first) = bits.input {
                let name = if bits.latch.is_some() { format!("next_{name}") } else { name.clone() };
                name_bits(&mut circuit.names.inputs, first, &name, width);
            }
            let Some(first) = bits.latch else { continue };
            name_bits(&mut circuit.names.latches, first, &name, width);
            let next = match (state.next, bits.input) {
                (Some(next), _) => operand(&words, next),
                (None, input) => (0..width).map(|bit| leaf(input.unwrap_or_default() + bit)).collect(),
            };
            let init = state.init.map(|init| operand(&words, init));
            for (bit, next) in next.into_iter().enumerate() {
                let node = Node::from_index(1 + num_inputs + first + bit);
                let reset = match init.as_ref().map(|init| init[bit]) {
                    None => Reset::Free,
                    Some(edge) => edge.as_constant().map_or(Reset::Function(edge), Reset::Constant),
                };
                circuit.latches.push(Latch { node, next, reset });
            }
        }
        let edges = |operands: &[Operand]| operands.iter().map(|&bit| truth(&words, bit)).collect::<Vec<_>>();
        circuit.bads = edges(&model.bads);
        circuit.constraints = edges(&model.constraints);
        circuit.fairness = edges(&model.fairness);
        circuit.justice = model.justice.iter().map(|conditions| edges(conditions)).collect();
        for (&output, name) in model.outputs.iter().zip(&model.names.outputs) {
            let (first, width) = (circuit.outputs.len(), model.width(output));
            circuit.outputs.extend(operand(&words, output));
            circuit.names.outputs.resize(first + width, String::new());
            let name = if name.is_empty() { model.name(output.node) } else { name.clone() };
            name_bits(&mut circuit.names.outputs, first, &name, width);
        }
        circuit.aig = builder.into_aig();
        let is_internal =
            |node: &super::Node| !matches!(node.kind, Kind::Input(_) | Kind::State(_) | Kind::Constant(_));
        let internal = model.nodes.iter().zip(words).filter(|(node, _)| is_internal(node));
        let internal = internal.filter(|(node, _)| !node.name.is_empty());
        let internal = internal.map(|(node, word)| (node.name.clone(), word)).collect();
        Ok(Self { circuit, internal, inputs, states })
    }

    /// The run over words of a trace of the circuit.
    pub fn run(&self, model: &Model, trace: &Trace) -> Run {
        let steps = trace.inputs.iter().enumerate().map(|(step, bits)| {
            let inputs = model.inputs.iter().zip(&self.inputs);
            let inputs = inputs.map(|(&node, &first)| number(bits, first, model.nodes[node].width)).collect();
            let states = model.states.iter().zip(&self.states).map(|(state, place)| {
                let width = model.nodes[state.node].width;
                match (*place, step) {
                    (Bits { latch: None, input: Some(first) }, _) => Some(number(bits, first, width)),
                    (Bits { latch: Some(first), .. }, 0) if state.init.is_none() => {
                        Some(number(&trace.initial, first, width))
                    }
                    (Bits { input: Some(first), .. }, 1..) => {
                        Some(number(&trace.inputs[step - 1], first, width))
                    }
                    _ => None,
                }
            });
            Step { states: states.collect(), inputs }
        });
        Run { steps: steps.collect() }
    }
}

/// The word of an operand.
fn operand(words: &[Word], operand: Operand) -> Word {
    words[operand.node].iter().map(|bit| bit.negate_if(operand.negated)).collect()
}

/// The bit of an operand that has one.
fn truth(words: &[Word], operand: Operand) -> Edge {
    words[operand.node][0].negate_if(operand.negated)
}

/// Names bits as `count[3]`; a single bit has the name itself.
fn name_bits(names: &mut [String], first: usize, name: &str, width: usize) {
    for (bit, place) in names[first..first + width].iter_mut().enumerate() {
        *place = if width == 1 { name.to_owned() } else { format!("{name}[{bit}]") };
    }
}

/// The number whose bits these are, from the first one on.
fn number(bits: &[bool], first: usize, width: usize) -> UBig {
    let mut bytes = vec![0u8; width.div_ceil(8)];
    for (bit, &value) in bits[first..first + width].iter().enumerate() {
        bytes[bit / 8] |= u8::from(value) << (bit % 8);
    }
    UBig::from_le_bytes(&bytes)
}
