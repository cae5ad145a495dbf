//! The waveform of a run, in the format of Verilog simulators (value change dump, IEEE 1364): inputs, latches, bads and
//! constraints, one unit of time a step.

use std::io::{self, Write};

use crate::aig::{Edge, edge_value};
use crate::circuit::Circuit;
use crate::evidence::Trace;
use crate::simulate::replay;

/// Writes the waveform of a trace.
pub fn write_vcd(circuit: &Circuit, trace: &Trace, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let names = &circuit.names;
    let (bads, bad_names, bad_kind) = match circuit.bads.is_empty() && circuit.justice.is_empty() {
        true => (&circuit.outputs, &names.outputs, 'o'),
        false => (&circuit.bads, &names.bads, 'b'),
    };
    let inputs: Vec<Edge> = circuit.inputs.iter().map(|&node| node.into()).collect();
    let latches: Vec<Edge> = circuit.latches.iter().map(|latch| latch.node.into()).collect();
    let groups = [
        ("inputs", 'i', &inputs, &names.inputs),
        ("latches", 'l', &latches, &names.latches),
        ("bads", bad_kind, bads, bad_names),
        ("constraints", 'c', &circuit.constraints, &names.constraints),
    ];
    writeln!(out, "$timescale 1 ns $end")?;
    let mut signals: Vec<(Edge, String)> = Vec::new();
    for (group, kind, edges, names) in groups {
        if edges.is_empty() {
            continue;
        }
        writeln!(out, "$scope module {group} $end")?;
        for (index, &edge) in edges.iter().enumerate() {
            let code = code(signals.len());
            let name = names.get(index).filter(|name| !name.is_empty());
            let name = name.map_or_else(|| format!("{kind}{index}"), |name| plain(name));
            writeln!(out, "$var wire 1 {code} {name} $end")?;
            signals.push((edge, code));
        }
        writeln!(out, "$upscope $end")?;
    }
    writeln!(out, "$enddefinitions $end")?;
    let steps = replay(circuit, trace).values;
    for (step, values) in steps.iter().enumerate() {
        writeln!(out, "#{step}")?;
        for (edge, code) in &signals {
            let value = edge_value(values, *edge);
            if step == 0 || edge_value(&steps[step - 1], *edge) != value {
                writeln!(out, "{}{code}", u8::from(value))?;
            }
        }
    }
    writeln!(out, "#{}", steps.len())
}

/// The short name of a signal: digits to the base 94 of printable characters.
fn code(mut number: usize) -> String {
    let mut code = String::new();
    loop {
        code.push(char::from(b'!' + (number % 94) as u8));
        number /= 94;
        if number == 0 {
            return code;
        }
    }
}

/// A name without spaces, which end names.
fn plain(name: &str) -> String {
    name.chars()
        .map(|letter| if letter.is_whitespace() || letter.is_control() { '_' } else { letter })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aiger::read;

    #[test]
    fn changes_are_written() {
        let file = read(b"aag 2 1 1 0 0 1\n2\n4 2\n4\ni0 go on\n").unwrap();
        let trace = Trace { initial: vec![false], inputs: vec![vec![true], vec![true]] };
        let mut text = Vec::new();
        write_vcd(&file.circuit, &trace, &mut text).unwrap();
        let expected = "$timescale 1 ns $end
$scope module inputs $end
$var wire 1 ! go_on $end
$upscope $end
$scope module latches $end
$var wire 1 \" l0 $end
$upscope $end
$scope module bads $end
$var wire 1 # b0 $end
$upscope $end
$enddefinitions $end
#0
1!
0\"
0#
#1
1\"
1#
#2
";
        assert_eq!(String::from_utf8(text).unwrap(), expected);
        assert_eq!([code(0), code(93), code(94)], ["!", "~", "!\""]);
    }
}
