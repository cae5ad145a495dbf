//! Counterexamples of BTOR2 as text.
//!
//! A witness is a line `sat`, a line with the properties that it violates such as `b0` or `j0`, for each step k the
//! values of states after a line `#k` and of inputs after a line `@k`, and a line `.`. A value is the number of the state or input,
//! counted from 0, its bits, the highest one first, and perhaps a name. Step 0 gives the states without `init`, later
//! steps those without `next`; what is not given, and the bit `x`, is 0. The run of a justice property is a lasso: the
//! states after the last step, as far as they have a `next`, occur before.

use std::io::{self, Write};

use dashu_int::UBig;
use dashu_int::ops::BitTest;

use super::{Model, Run, Step, shown};
use crate::aiger::{Mistake, Place};
use crate::circuit::Property;

/// What a witness claims.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Claim {
    /// A counterexample to these properties.
    Unsafe {
        /// The properties that it violates.
        properties: Vec<Property>,
        /// The run.
        run: Run,
    },
    /// There is no counterexample.
    Safe,
    /// Nothing is known.
    Unknown,
}

/// Writes a counterexample.
pub fn write_run(
    model: &Model,
    run: &Run,
    property: Property,
    out: &mut (impl Write + ?Sized),
) -> io::Result<()> {
    writeln!(out, "sat\n{property}")?;
    for (step, values) in run.steps.iter().enumerate() {
        if step == 0 || values.states.iter().any(Option::is_some) {
            writeln!(out, "#{step}")?;
        }
        for (index, (state, value)) in model.states.iter().zip(&values.states).enumerate() {
            if let Some(value) = value {
                write_value(model, index, state.node, value, '#', step, out)?;
            }
        }
        writeln!(out, "@{step}")?;
        for (index, (&node, value)) in model.inputs.iter().zip(&values.inputs).enumerate() {
            write_value(model, index, node, value, '@', step, out)?;
        }
    }
    writeln!(out, ".")
}

fn write_value(
    model: &Model,
    index: usize,
    node: usize,
    value: &UBig,
    mark: char,
    step: usize,
    out: &mut (impl Write + ?Sized),
) -> io::Result<()> {
    let node = &model.nodes[node];
    let bits: String = (0..node.width).rev().map(|bit| if value.bit(bit) { '1' } else { '0' }).collect();
    match node.name.as_str() {
        "" => writeln!(out, "{index} {bits}"),
        name => writeln!(out, "{index} {bits} {name}{mark}{step}"),
    }
}

/// Reads a witness of a file.
pub fn read_witness(model: &Model, bytes: &[u8]) -> Result<Claim, Mistake> {
    let text = String::from_utf8_lossy(bytes);
    let mut number = 0;
    let mut lines = text.split('\n').enumerate().filter_map(|(index, line)| {
        let words: Vec<&str> =
            line.split_ascii_whitespace().take_while(|word| !word.starts_with(';')).collect();
        (!words.is_empty()).then_some((index + 1, words))
    });
    let mut next = |expected: &str| {
        let line = lines.next();
        let (line, words) =
            line.ok_or_else(|| mistake(number + 1, format!("the witness ends where {expected} should be")))?;
        number = line;
        Ok::<_, Mistake>((line, words))
    };
    let (line, words) = next("`sat`")?;
    match words[..] {
        ["sat"] => {}
        ["unsat"] => return Ok(Claim::Safe),
        ["unknown"] => return Ok(Claim::Unknown),
        _ => return Err(mistake(line, format!("`{}` where `sat` should be", shown(words[0])))),
    }
    let (line, words) = next("a property such as b0")?;
    let text = words.join(" ");
    let properties = Property::parse_all(&text)
        .map_err(|rest| mistake(line, format!("`{}` where a property such as b0 should be", shown(rest))))?;
    let mut run = Run::default();
    // Whether the values that follow are of states, and whether the current step has had its inputs.
    let mut of_states = false;
    let mut has_inputs = true;
    loop {
        let (line, words) = next("`.`")?;
        let first = words[0];
        if first == "." {
            break;
        }
        if let Some(step) = first.strip_prefix(['#', '@']) {
            of_states = first.starts_with('#');
            if of_states || has_inputs {
                run.steps.push(Step {
                    states: vec![None; model.states.len()],
                    inputs: vec![UBig::ZERO; model.inputs.len()],
                });
            }
            has_inputs = !of_states;
            if step.parse() != Ok(run.steps.len() - 1) {
                let message = format!("`{}` where step {} should be", shown(first), run.steps.len() - 1);
                return Err(mistake(line, message));
            }
            continue;
        }
        let Some(step) = run.steps.last_mut() else {
            return Err(mistake(line, format!("`{}` where `#0` or `@0` should be", shown(first))));
        };
        let (what, count) =
            if of_states { ("state", model.states.len()) } else { ("input", model.inputs.len()) };
        let index = first.parse().ok().filter(|&index: &usize| index < count);
        let index =
            index.ok_or_else(|| mistake(line, format!("`{}` is the number of no {what}", shown(first))))?;
        let node = if of_states { model.states[index].node } else { model.inputs[index] };
        let bits = words.get(1).copied().unwrap_or_default();
        let value = value(bits, model.nodes[node].width).map_err(|message| mistake(line, message))?;
        if of_states {
            step.states[index] = Some(value);
        } else {
            step.inputs[index] = value;
        }
    }
    Ok(Claim::Unsafe { properties, run })
}

fn mistake(line: usize, message: String) -> Mistake {
    Mistake { place: Place::Line(line), message }
}

/// The number with these bits.
fn value(bits: &str, width: usize) -> Result<UBig, String> {
    if bits.starts_with('[') {
        return Err("arrays are not supported".to_owned());
    }
    if !bits.bytes().all(|bit| matches!(bit, b'0' | b'1' | b'x')) {
        return Err(format!("`{}` where bits should be", shown(bits)));
    }
    if bits.len() != width {
        return Err(format!("{} bits where {width} should be", bits.len()));
    }
    UBig::from_str_radix(&bits.replace('x', "0"), 2).map_err(|_| "a value is missing".to_owned())
}
