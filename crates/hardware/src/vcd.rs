//! The waveform of a run, in the format of Verilog simulators (value change dump, IEEE 1364): all [`signals`](crate::signals),
//! words as vectors, one unit of time a step.
//!
//! Signals are in the scope `top`. The parts of a hierarchical name, as in `core.queue.count`, are scopes inside of it.

use std::io::{self, Write};

use crate::aig::{Edge, edge_value};
use crate::circuit::Circuit;
use crate::evidence::Trace;
use crate::playback::Playback;
use crate::signals::{Signal, SignalKind, signals};

/// Writes the waveform of a trace. `internal` are named words inside of the circuit.
pub fn write_vcd(
    circuit: &Circuit,
    internal: &[(String, Vec<Edge>)],
    trace: &Trace,
    out: &mut (impl Write + ?Sized),
) -> io::Result<()> {
    let signals = signals(circuit, internal);
    writeln!(out, "$timescale 1 ns $end")?;
    write_declarations(&signals, out)?;
    writeln!(out, "$enddefinitions $end")?;
    let playback = Playback::new(circuit, trace);
    let mut before: Vec<bool> = Vec::new();
    for step in 0..playback.num_steps() {
        let values = playback.values(step);
        writeln!(out, "#{step}")?;
        for (index, signal) in signals.iter().enumerate() {
            let changes = |bit: &Edge| edge_value(&before, *bit) != edge_value(&values, *bit);
            if step > 0 && !signal.bits.iter().any(changes) {
                continue;
            }
            let bits = signal.bits.iter().rev().map(|&bit| if edge_value(&values, bit) { '1' } else { '0' });
            let bits: String = bits.collect();
            match signal.bits.len() {
                1 => writeln!(out, "{bits}{}", code(index))?,
                _ => writeln!(out, "b{bits} {}", code(index))?,
            }
        }
        before = values;
    }
    writeln!(out, "#{}", playback.num_steps())
}

/// Writes the scopes with the signals in them.
fn write_declarations(signals: &[Signal], out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let mut order: Vec<(Vec<&str>, usize)> =
        signals.iter().enumerate().map(|(index, signal)| (path(&signal.name), index)).collect();
    // The signals of a scope are next to each other, in the order of the file.
    order.sort_by(|(a, _), (b, _)| a[..a.len() - 1].cmp(&b[..b.len() - 1]));
    writeln!(out, "$scope module top $end")?;
    let mut open: &[&str] = &[];
    for (path, index) in &order {
        let [scopes @ .., name] = &path[..] else { continue };
        let common = open.iter().zip(scopes).take_while(|(a, b)| a == b).count();
        for _ in common..open.len() {
            writeln!(out, "$upscope $end")?;
        }
        for scope in &scopes[common..] {
            writeln!(out, "$scope module {scope} $end")?;
        }
        open = scopes;
        let signal = &signals[*index];
        let kind = if signal.kind == SignalKind::Latch { "reg" } else { "wire" };
        let (width, code, name) = (signal.bits.len(), code(*index), plain(name));
        let range = if signal.low.is_some() { format!(" {}", signal.range()) } else { String::new() };
        writeln!(out, "$var {kind} {width} {code} {name}{range} $end")?;
    }
    for _ in 0..=open.len() {
        writeln!(out, "$upscope $end")?;
    }
    Ok(())
}

/// The scopes of a hierarchical name, and the name in the innermost one; at least one part. A name whose parts are not
/// identifiers, as generated ones with a place in a source file, is taken as a whole.
fn path(name: &str) -> Vec<&str> {
    let is_identifier = |part: &str| {
        let is_index = |c: char| c == '[' || c == ']';
        part.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && part.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$' || is_index(c))
    };
    let parts: Vec<&str> = name.split('.').collect();
    if parts.iter().all(|part| is_identifier(part)) { parts } else { vec![name] }
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
    use std::collections::BTreeMap;

    use shofar_testing::Random;
    use shofar_testing::scale::numbers;

    use super::*;
    use crate::aiger::read;
    use crate::common::{Shape, random_circuit};
    use crate::simulate::replay;

    #[test]
    fn changes_are_written() {
        let file = read(b"aag 2 1 1 0 0 1\n2\n4 2\n4\ni0 go on\n").unwrap();
        let trace = Trace { initial: vec![false], inputs: vec![vec![true], vec![true]] };
        let mut text = Vec::new();
        write_vcd(&file.circuit, &[], &trace, &mut text).unwrap();
        let expected = "$timescale 1 ns $end
$scope module top $end
$var wire 1 ! b0 $end
$var wire 1 \" go_on $end
$var reg 1 # l0 $end
$upscope $end
$enddefinitions $end
#0
0!
1\"
0#
#1
1!
1#
#2
";
        assert_eq!(String::from_utf8(text).unwrap(), expected);
        assert_eq!([code(0), code(93), code(94)], ["!", "~", "!\""]);
    }

    /// A variable of a dump: kind and width as declared, and by steps the bits, the highest one first.
    #[derive(PartialEq, Debug)]
    struct Variable {
        kind: String,
        width: usize,
        values: Vec<String>,
    }

    /// Reads a dump: the variables by their names with scopes and ranges.
    fn read_dump(text: &str) -> BTreeMap<String, Variable> {
        let (header, body) = text.split_once("$enddefinitions $end\n").unwrap();
        let mut scopes: Vec<&str> = Vec::new();
        let mut names: BTreeMap<&str, String> = BTreeMap::new();
        let mut variables: BTreeMap<String, Variable> = BTreeMap::new();
        for line in header.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            match &words[..] {
                ["$timescale", "1", "ns", "$end"] => {}
                ["$scope", "module", name, "$end"] => scopes.push(name),
                ["$upscope", "$end"] => assert!(scopes.pop().is_some()),
                ["$var", kind, width, code, name @ .., "$end"] => {
                    let full = format!("{}.{}", scopes.join("."), name.concat());
                    assert!(names.insert(code, full.clone()).is_none(), "{code} is used twice");
                    let (kind, width) = ((*kind).to_owned(), width.parse().unwrap());
                    let old = variables.insert(full, Variable { kind, width, values: Vec::new() });
                    assert!(old.is_none(), "a name is used twice");
                }
                _ => panic!("{line}"),
            }
        }
        assert!(scopes.is_empty());
        let mut last_time: Option<usize> = None;
        for line in body.lines() {
            if let Some(time) = line.strip_prefix('#') {
                let time: usize = time.parse().unwrap();
                assert_eq!(time, last_time.map_or(0, |last| last + 1));
                // Until something else is said, values stay.
                if let Some(last) = last_time {
                    for variable in variables.values_mut() {
                        assert_eq!(variable.values.len(), last + 1, "a value at the start is missing");
                        let value = variable.values[last].clone();
                        variable.values.push(value);
                    }
                }
                last_time = Some(time);
                continue;
            }
            let (value, code) = match line.strip_prefix('b') {
                Some(vector) => vector.split_once(' ').unwrap(),
                None => line.split_at(1),
            };
            let variable = variables.get_mut(&names[code]).unwrap();
            assert_eq!(value.len(), variable.width);
            variable.values.truncate(last_time.unwrap());
            variable.values.push(value.to_owned());
        }
        variables.values_mut().for_each(|variable| assert!(variable.values.pop().is_some()));
        variables
    }

    #[test]
    fn words_are_vectors_in_their_scopes() {
        let names = "i0 core.a[1]\ni1 core.a[0]\ni2 $auto$x.cc:42\nl0 core.queue.full\nl1 core.queue.c[4]\nb0 wrong\n";
        let text = format!("aag 5 3 2 0 0 1\n2\n4\n6\n8 2\n10 8 1\n10\n{names}");
        let file = read(text.as_bytes()).unwrap();
        let inputs = vec![vec![true, false, true], vec![true, true, true], vec![false, true, true]];
        let trace = Trace { initial: vec![false, true], inputs };
        let mut dump = Vec::new();
        let internal = [("core.queue.twice".to_owned(), vec![file.circuit.latches[0].node.into(); 2])];
        write_vcd(&file.circuit, &internal, &trace, &mut dump).unwrap();
        let dump = String::from_utf8(dump).unwrap();
        assert!(dump.contains("$var wire 2 \" a [1:0] $end\n"), "{dump}");
        let variable = |kind: &str, values: [&str; 3]| Variable {
            kind: kind.to_owned(),
            width: values[0].len(),
            values: values.map(str::to_owned).to_vec(),
        };
        let expected = [
            ("top.wrong", variable("wire", ["1", "0", "1"])),
            ("top.core.a[1:0]", variable("wire", ["10", "11", "01"])),
            ("top.$auto$x.cc:42", variable("wire", ["1", "1", "1"])),
            ("top.core.queue.full", variable("reg", ["0", "1", "1"])),
            ("top.core.queue.c[4]", variable("reg", ["1", "0", "1"])),
            ("top.core.queue.twice[1:0]", variable("wire", ["00", "11", "11"])),
        ];
        let expected = expected.map(|(name, variable)| (name.to_owned(), variable));
        assert_eq!(read_dump(&dump), BTreeMap::from(expected), "{dump}");
    }

    #[test]
    fn dumps_of_random_runs_have_the_simulated_values() {
        for seed in numbers(100) {
            let random = &mut Random::new(seed);
            let mut circuit = random_circuit(random, &Shape::default());
            let name = |random: &mut Random| {
                let [scope, base] = [["", "a.", "a.b.", "c.b."], ["x", "y", "z w", "x"]];
                let index = if random.bool() { format!("[{}]", random.below(4)) } else { String::new() };
                format!("{}{}{index}", random.choose(&scope), random.choose(&base))
            };
            circuit.names.inputs = circuit.inputs.iter().map(|_| name(random)).collect();
            circuit.names.latches = circuit.latches.iter().map(|_| name(random)).collect();
            let inputs: Vec<Vec<bool>> =
                (0..6).map(|_| circuit.inputs.iter().map(|_| random.bool()).collect()).collect();
            let trace = Trace { initial: circuit.latches.iter().map(|_| random.bool()).collect(), inputs };
            let mut dump = Vec::new();
            write_vcd(&circuit, &[], &trace, &mut dump).unwrap();
            let variables = read_dump(&String::from_utf8(dump).unwrap());
            let steps = replay(&circuit, &trace).values;
            let signals = signals(&circuit, &[]);
            assert_eq!(variables.len(), signals.len());
            for signal in signals {
                let variable = &variables[&format!("top.{}", plain(&signal.label()))];
                let text = |values: &Vec<bool>| {
                    let bits = signal.bits.iter().rev();
                    bits.map(|&bit| if edge_value(values, bit) { '1' } else { '0' }).collect::<String>()
                };
                assert_eq!(variable.values, steps.iter().map(text).collect::<Vec<String>>());
                assert_eq!(variable.kind == "reg", signal.kind == SignalKind::Latch);
            }
        }
    }
}
