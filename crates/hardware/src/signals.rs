//! The signals of a circuit as people know them: the bits of a word, with names such as `count[3]`, are joined again.
//!
//! * Bits join if they are of the same kind, their names differ in the last index only, and their indices follow each
//!   other: `c[7:4]` and `c[2:0]` are two signals if the file has no `c[3]`.
//! * A bit without a name is called by its place, as in AIGER's symbol table: `i0`, `l2`, `b1`.
//! * All signals of a list have different labels. An inner word that only repeats a signal is left out.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::aig::Edge;
use crate::circuit::{Circuit, Property};

/// What a signal is in its circuit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum SignalKind {
    /// A safety property: true if it fails.
    Bad,
    /// An edge of a justice property, or a fairness constraint: a counterexample makes it true again and again.
    Recurring,
    /// An invariant constraint.
    Constraint,
    /// An input.
    Input,
    /// A bit or word of memory.
    Latch,
    /// An output.
    Output,
    /// A word inside of the circuit to which the file gives a name.
    Internal,
}

/// A bit, or a word of several bits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Signal {
    /// What it is.
    pub kind: SignalKind,
    /// Its name, without indices of bits.
    pub name: String,
    /// Its bits, the lowest one first; at least one.
    pub bits: Vec<Edge>,
    /// The index of the lowest bit, if bits have indices.
    pub low: Option<usize>,
}

impl Signal {
    /// The indices behind the name: `[7:0]`, `[3]` or nothing.
    pub fn range(&self) -> String {
        match self.low {
            None => String::new(),
            Some(low) if self.bits.len() == 1 => format!("[{low}]"),
            Some(low) => format!("[{}:{low}]", low + self.bits.len() - 1),
        }
    }

    /// The name with its indices.
    pub fn label(&self) -> String {
        self.name.clone() + &self.range()
    }
}

/// The signals of a circuit: bads, edges of justice properties, fairness constraints, constraints, inputs, latches, outputs, and the given words inside of it.
pub fn signals(circuit: &Circuit, internal: &[(String, Vec<Edge>)]) -> Vec<Signal> {
    let names = &circuit.names;
    let inputs: Vec<Edge> = circuit.inputs.iter().map(|&node| node.into()).collect();
    let latches: Vec<Edge> = circuit.latches.iter().map(|latch| latch.node.into()).collect();
    let has_properties = !circuit.bads.is_empty() || !circuit.justice.is_empty();
    let outputs: (&[Edge], &[String]) = (&circuit.outputs, &names.outputs);
    let (bads, bad_letter) =
        if has_properties { ((&*circuit.bads, &*names.bads), 'b') } else { (outputs, 'o') };
    let mut signals = Vec::new();
    let bits = |(edges, names): (&[Edge], &[String]), letter: char| -> Vec<(String, Edge)> {
        let name = |index: usize| names.get(index).filter(|name| !name.is_empty()).cloned();
        let bit = |(index, &edge): (usize, &Edge)| {
            (name(index).unwrap_or_else(|| format!("{letter}{index}")), edge)
        };
        edges.iter().enumerate().map(bit).collect()
    };
    // Each property is a question of its own, so the edges of properties and constraints never become words.
    let single = |kind: SignalKind| {
        move |(name, edge): (String, Edge)| Signal { kind, name, bits: vec![edge], low: None }
    };
    signals.extend(bits(bads, bad_letter).into_iter().map(single(SignalKind::Bad)));
    for (index, edges) in circuit.justice.iter().enumerate() {
        let name = circuit.name_of(Property::Justice(index));
        signals.extend(edges.iter().enumerate().map(|(place, &edge)| Signal {
            kind: SignalKind::Recurring,
            name: name.clone(),
            bits: vec![edge],
            low: (edges.len() > 1).then_some(place),
        }));
    }
    let fairness = bits((&circuit.fairness, &names.fairness), 'f');
    signals.extend(fairness.into_iter().map(single(SignalKind::Recurring)));
    let constraints = bits((&circuit.constraints, &names.constraints), 'c');
    signals.extend(constraints.into_iter().map(single(SignalKind::Constraint)));
    join(SignalKind::Input, bits((&inputs, &names.inputs), 'i'), &mut signals);
    join(SignalKind::Latch, bits((&latches, &names.latches), 'l'), &mut signals);
    if has_properties {
        join(SignalKind::Output, bits(outputs, 'o'), &mut signals);
    }
    let known: FxHashSet<(String, Vec<Edge>)> =
        signals.iter().map(|signal| (signal.name.clone(), signal.bits.clone())).collect();
    for word in internal.iter().filter(|word| !word.1.is_empty() && !known.contains(word)) {
        let (name, bits) = word.clone();
        let low = (bits.len() > 1).then_some(0);
        signals.push(Signal { kind: SignalKind::Internal, name, bits, low });
    }
    make_labels_differ(&mut signals);
    signals
}

/// A bit with its index, if its name has one.
type Indexed = (Option<usize>, Edge);

/// Joins bits to words. A word stands where its first bit stands.
fn join(kind: SignalKind, bits: Vec<(String, Edge)>, signals: &mut Vec<Signal>) {
    // By names: the indices with their bits. The groups are in the order of their first bits.
    let mut group_of: FxHashMap<&str, usize> = FxHashMap::default();
    let mut groups: Vec<(&str, Vec<Indexed>)> = Vec::new();
    for (label, edge) in &bits {
        let (name, index) = split_index(label);
        let group = *group_of.entry(name).or_insert(groups.len());
        if group == groups.len() {
            groups.push((name, Vec::new()));
        }
        groups[group].1.push((index, *edge));
    }
    for (name, mut members) in groups {
        members.sort_by_key(|&(index, _)| index);
        let follows = |a: &Indexed, b: &Indexed| {
            a.0.and_then(|index| index.checked_add(1)).is_some_and(|next| b.0 == Some(next))
        };
        for run in members.chunk_by(follows) {
            let bits = run.iter().map(|&(_, edge)| edge).collect();
            signals.push(Signal { kind, name: name.to_owned(), bits, low: run[0].0 });
        }
    }
}

/// A name without its last index, and that index: `count` and 3 for `count[3]`.
fn split_index(label: &str) -> (&str, Option<usize>) {
    let split = label.strip_suffix(']').and_then(|rest| rest.rsplit_once('['));
    match split.and_then(|(name, index)| Some((name, parse_index(index)?))) {
        Some((name, index)) if !name.is_empty() => (name, Some(index)),
        _ => (label, None),
    }
}

/// An index in the way that is written: without a sign or leading zeros.
fn parse_index(text: &str) -> Option<usize> {
    text.parse().ok().filter(|index: &usize| index.to_string() == text)
}

/// Renames signals whose label another one has: files may give a name several times, and to things of different kinds.
fn make_labels_differ(signals: &mut [Signal]) {
    let mut taken: FxHashSet<String> = FxHashSet::default();
    // By names: the last number that was tried, so that many equal names take no quadratic time.
    let mut last_number: FxHashMap<String, usize> = FxHashMap::default();
    for signal in signals {
        let name = signal.name.clone();
        while !taken.insert(signal.label()) {
            let number = last_number.entry(name.clone()).or_insert(1);
            *number += 1;
            signal.name = format!("{name}_{number}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aig::Node;
    use crate::circuit::{Latch, Names, Reset};

    fn circuit(inputs: &[&str], latches: &[&str], bads: &[&str]) -> Circuit {
        let mut circuit = Circuit::default();
        let mut leaf = || circuit.aig.push_leaf();
        circuit.inputs = inputs.iter().map(|_| leaf()).collect();
        let latch = |node: Node| Latch { node, next: node.into(), reset: Reset::Free };
        circuit.latches = latches.iter().map(|_| latch(leaf())).collect();
        circuit.bads = bads.iter().map(|_| Edge::TRUE).collect();
        let texts = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        circuit.names =
            Names { inputs: texts(inputs), latches: texts(latches), bads: texts(bads), ..Names::default() };
        circuit
    }

    fn labels(circuit: &Circuit, kind: SignalKind) -> Vec<(String, Vec<usize>)> {
        let nodes = |signal: &Signal| signal.bits.iter().map(|bit| bit.node().index()).collect();
        let of_kind = signals(circuit, &[]).into_iter().filter(|signal| signal.kind == kind);
        of_kind.map(|signal| (signal.label(), nodes(&signal))).collect()
    }

    #[test]
    fn bits_of_a_word_are_joined_in_order() {
        let circuit = circuit(&["c[1]", "go", "c[0]", "c[2]"], &["m[0][1]", "m[0][0]", "m[1][0]"], &["", ""]);
        let found = labels(&circuit, SignalKind::Input);
        assert_eq!(found, [("c[2:0]".to_owned(), vec![3, 1, 4]), ("go".to_owned(), vec![2])]);
        let found = labels(&circuit, SignalKind::Latch);
        assert_eq!(found, [("m[0][1:0]".to_owned(), vec![6, 5]), ("m[1][0]".to_owned(), vec![7])]);
        let found: Vec<String> =
            labels(&circuit, SignalKind::Bad).into_iter().map(|(label, _)| label).collect();
        assert_eq!(found, ["b0", "b1"]);
    }

    #[test]
    fn gaps_and_odd_indices_keep_bits_apart() {
        let names =
            ["a[0]", "a[2]", "a[3]", "b[01]", "b[00]", "[3]", "[2]", "d[-1]", "e[18446744073709551615]"];
        let circuit = circuit(&names, &[], &["x[0]", "x[1]"]);
        let found: Vec<String> =
            labels(&circuit, SignalKind::Input).into_iter().map(|(label, _)| label).collect();
        assert_eq!(
            found,
            ["a[0]", "a[3:2]", "b[01]", "b[00]", "[3]", "[2]", "d[-1]", "e[18446744073709551615]"]
        );
        assert_eq!(labels(&circuit, SignalKind::Bad).len(), 2, "properties stay apart");
    }

    #[test]
    fn edges_of_justice_properties_are_called_by_its_name() {
        let mut circuit = circuit(&["a", "b"], &[], &[]);
        let [a, b] = [0, 1].map(|input| Edge::from(circuit.inputs[input]));
        circuit.justice = vec![vec![a, b], vec![], vec![!a]];
        circuit.fairness = vec![b];
        circuit.names.justice = vec!["stuck".to_owned()];
        let found = labels(&circuit, SignalKind::Recurring);
        let expected = [("stuck[0]", 1), ("stuck[1]", 2), ("j2", 1), ("f0", 2)];
        assert_eq!(found, expected.map(|(label, node)| (label.to_owned(), vec![node])));
    }

    #[test]
    fn labels_differ() {
        let circuit = circuit(&["a", "a", "a_2", "c[0]", "c[0]", "c[1]"], &["a", "c[0]", "c[1]"], &["a"]);
        let go = circuit.inputs[0].into();
        let signals = signals(&circuit, &[("a".to_owned(), vec![Edge::TRUE; 2]), ("a".to_owned(), vec![go])]);
        let labels: Vec<String> = signals.iter().map(Signal::label).collect();
        let different: FxHashSet<&String> = labels.iter().collect();
        assert_eq!(different.len(), labels.len(), "{labels:?}");
        let bits: usize = signals.iter().map(|signal| signal.bits.len()).sum();
        assert_eq!(bits, 1 + 6 + 3 + 2, "no bit is lost: {labels:?}");
    }
}
