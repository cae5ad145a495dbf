//! Answers about circuits as pages: a counterexample as a waveform, an invariant as a list of clauses.
//!
//! A waveform has the signals that matter first: those with a value that the counterexample needs, by
//! [`justify`](shofar_hardware::justify), nearest to the failure first. The others are folded away, by kinds. A row is
//! written as its changes, so that long runs with few changes are small. What is too much for a page is left out, from
//! the end of the list and from the middle of the run, and the page says so.

use std::fmt::Write as _;

use serde_json::{Value as Json, json};
use shofar_hardware::aig::{Aig, Edge, Node, edge_value};
use shofar_hardware::circuit::Circuit;
use shofar_hardware::decide::{Counterexample, Verdict};
use shofar_hardware::evidence::Invariant;
use shofar_hardware::justify::Needed;
use shofar_hardware::live::{Monitor, Monitored, Proof};
use shofar_hardware::playback::Playback;
use shofar_hardware::signals::{Signal, SignalKind, signals};
use shofar_horn::infix::Notation;

use super::{Escaped, Frame, MOST_BYTES, MOST_LISTED, MOST_VALUE_CHARACTERS, counted, cut, filled, more};

const MAIN: &str = include_str!("wave.html");
const STYLE: &str = include_str!("wave.css");
const SCRIPT: &str = include_str!("wave.js");
const BUTTONS: &str = concat!(
    r#"<button id="larger" title="Wider steps (+)">+</button>"#,
    "\n",
    r#"<button id="smaller" title="Narrower steps (-)">&#8722;</button>"#,
    "\n",
    r#"<button id="fit" title="All steps (0)">Fit</button>"#,
    "\n"
);

/// Steps of a run that a page has at its beginning and at its end.
const MOST_FIRST: usize = 2000;
const MOST_LAST: usize = 10_000;

/// Bytes of all rows.
const MOST_ROW_BYTES: usize = 3 * MOST_BYTES;

/// The depth of gates that a clause spells out.
const MOST_LEVELS: usize = 3;

/// A page about the circuit of a file. `internal` are the words inside of it that have names.
pub(crate) fn page(
    circuit: &Circuit,
    internal: &[(String, Vec<Edge>)],
    file: &str,
    notation: Notation,
    verdict: &Verdict,
) -> String {
    let mut notes = Vec::new();
    let (word, shape, summary, counts, list, data) = match verdict {
        Verdict::Unsafe(found) => {
            let (circuit, trace) = found.marked(circuit);
            let signals = signals(&circuit, internal);
            let (data, left_out) = waveform(&Playback::new(&circuit, &trace), &signals, found);
            notes.push(
                "Strong lines and values are those that the failure follows from. Words are hexadecimal."
                    .to_owned(),
            );
            notes.extend(left_out);
            let bad = data["bad"].as_str().unwrap_or_default();
            let summary = match (found.loop_start, trace.length()) {
                (None, last) => format!("{bad} fails in step {last}."),
                (Some(start), last) if start == last => format!("{bad} fails: step {last} repeats for ever."),
                (Some(start), last) => format!("{bad} fails: steps {start} to {last} repeat for ever."),
            };
            let counts =
                format!("{}, {}", counted(trace.inputs.len(), "step"), counted(signals.len(), "signal"));
            ("unsafe", "wave", summary, counts, String::new(), data)
        }
        Verdict::Safe(Proof { monitors, invariant }) => {
            let circuit = Monitored::new(circuit, monitors).circuit;
            if !monitors.is_empty() {
                let monitors: Vec<String> = monitors.iter().map(Monitor::to_string).collect();
                notes.push(format!(
                    "The circuit has monitors for justice properties: {}.",
                    monitors.join(", ")
                ));
            }
            let summary = match invariant.depth {
                1 => "These clauses hold in all steps, by induction, and exclude a failure.".to_owned(),
                depth => format!(
                    "These clauses hold in all steps, by induction over {depth} steps, and exclude a failure."
                ),
            };
            let counts = counted(invariant.clauses.len(), "clause");
            ("safe", "list", summary, counts, clauses(&circuit, invariant, notation), json!({}))
        }
        Verdict::Unknown(reason) => {
            let summary = format!("Nothing is known: {reason}.");
            let counts = format!("{} latches, {} inputs", circuit.latches.len(), circuit.inputs.len());
            ("unknown", "list", summary, counts, String::new(), json!({}))
        }
    };
    let main = filled(MAIN, |hole| match hole {
        "notes" => {
            notes.iter().map(|note| format!("<p class=\"note\">{}</p>\n", Escaped::new(note))).collect()
        }
        "list" => list.clone(),
        _ => String::new(),
    });
    Frame {
        file,
        answer: word,
        shape,
        summary: &summary,
        counts: &counts,
        style: STYLE,
        script: SCRIPT,
        searched: "names",
        buttons: BUTTONS,
        main: &main,
        data: &data,
    }
    .page()
}

/// The steps of a run that a page has.
struct Columns {
    /// The steps before those that are left out.
    first: usize,
    skipped: usize,
    count: usize,
}

impl Columns {
    fn new(steps: usize) -> Self {
        let count = steps.min(MOST_FIRST + MOST_LAST);
        Columns { first: count.min(MOST_FIRST), skipped: steps - count, count }
    }

    fn step(&self, column: usize) -> usize {
        if column < self.first { column } else { column + self.skipped }
    }

    /// The column of a step, or where it would be.
    fn column(&self, step: usize) -> usize {
        if step < self.first { step } else { step.saturating_sub(self.skipped).max(self.first) }
    }
}

/// A signal as a row.
struct Row {
    /// Its index among the signals.
    signal: usize,
    /// The columns in which it changes, the first one included, and its values from there on.
    at: Vec<usize>,
    values: Vec<String>,
}

/// What the script draws, and what was left out.
fn waveform(playback: &Playback<'_>, signals: &[Signal], found: &Counterexample) -> (Json, Vec<String>) {
    let mut roots = found.roots(playback);
    if let (Some(start), Some(&marker)) = (found.loop_start, playback.circuit().inputs.last()) {
        // The input that marks the loop matters, too.
        roots.extend((start..playback.num_steps()).map(|step| (step, marker.into())));
        roots.sort_by_key(|&(step, _)| step);
    }
    let needed = Needed::new(playback, &roots, signals);
    let columns = Columns::new(playback.num_steps());
    let is_property = |signal: usize| matches!(signals[signal].kind, SignalKind::Bad | SignalKind::Recurring);
    let last_needed: Vec<Option<usize>> = (0..signals.len()).map(|signal| needed.last_step(signal)).collect();

    // The property that fails, then what is needed last; the rest by kinds.
    let (mut wanted, rest): (Vec<usize>, Vec<usize>) =
        (0..signals.len()).partition(|&signal| last_needed[signal].is_some());
    wanted.sort_by_key(|&signal| (!is_property(signal), last_needed[signal].map(std::cmp::Reverse)));
    let mut groups: Vec<(String, Vec<usize>)> = vec![("Signals that matter".to_owned(), wanted)];
    for (kinds, title) in [
        (&[SignalKind::Bad, SignalKind::Recurring, SignalKind::Constraint][..], "properties"),
        (&[SignalKind::Input], "inputs"),
        (&[SignalKind::Latch], "latches"),
        (&[SignalKind::Output], "outputs"),
        (&[SignalKind::Internal], "inner signals"),
    ] {
        let members: Vec<usize> =
            rest.iter().copied().filter(|&signal| kinds.contains(&signals[signal].kind)).collect();
        if !members.is_empty() {
            groups.push((format!("Other {title} ({})", members.len()), members));
        }
    }

    let order: Vec<usize> = groups.iter().flat_map(|(_, members)| members.iter().copied()).collect();
    let changes = changes(playback, &columns, signals);
    let mut bytes = 0;
    let mut rows: Vec<Option<Row>> = signals.iter().map(|_| None).collect();
    for &signal in &order {
        // The digits with their quotes, and the number of the column.
        let digits = signals[signal].bits.len().div_ceil(4).min(MOST_VALUE_CHARACTERS) + 9;
        let size = 100 + signals[signal].name.len() + changes[signal] * digits;
        if bytes + size <= MOST_ROW_BYTES {
            bytes += size;
            rows[signal] = Some(Row { signal, at: Vec::new(), values: Vec::new() });
        }
    }
    let left_out = rows.iter().filter(|row| row.is_none()).count();
    fill(playback, &columns, signals, &mut rows);

    let mut notes = Vec::new();
    if columns.skipped > 0 {
        let (from, to) = (columns.first, columns.first + columns.skipped - 1);
        notes.push(format!("Steps {from} to {to} are left out at the dashed line."));
    }
    if left_out > 0 {
        notes.push(format!(
            "{left_out} signals are left out, because the page would be too large; a dump of all values (--vcd) has them."
        ));
    }
    let groups: Vec<Json> = groups
        .iter()
        .enumerate()
        .map(|(index, (title, members))| {
            let rows = members.iter().filter_map(|&signal| rows[signal].as_ref());
            let rows: Vec<Json> = rows.map(|row| row_data(row, signals, &needed, &columns)).collect();
            json!({ "title": title, "open": index == 0, "signals": rows })
        })
        .collect();
    let bad = playback.circuit().name_of(found.property);
    let data = json!({
        "columns": columns.count, "first": columns.first, "skipped": columns.skipped,
        "bad": cut(&bad, MOST_VALUE_CHARACTERS), "groups": groups,
        "loop": found.loop_start.map(|step| columns.column(step)), "back": found.loop_start,
    });
    (data, notes)
}

/// By signals: the number of its changes in the columns.
fn changes(playback: &Playback<'_>, columns: &Columns, signals: &[Signal]) -> Vec<usize> {
    let mut changes = vec![1; signals.len()];
    let mut before = playback.values(0);
    for column in 1..columns.count {
        let values = playback.values(columns.step(column));
        for (signal, changes) in signals.iter().zip(&mut changes) {
            let differs = |bit: &Edge| edge_value(&before, *bit) != edge_value(&values, *bit);
            *changes += usize::from(signal.bits.iter().any(differs));
        }
        before = values;
    }
    changes
}

/// Writes the changes of signals into the rows that a page has.
fn fill(playback: &Playback<'_>, columns: &Columns, signals: &[Signal], rows: &mut [Option<Row>]) {
    for column in 0..columns.count {
        let values = playback.values(columns.step(column));
        for row in rows.iter_mut().flatten() {
            let value = hexadecimal(&signals[row.signal].bits, &values);
            if row.values.last() != Some(&value) {
                row.at.push(column);
                row.values.push(value);
            }
        }
    }
}

/// The value of a word with all its digits.
fn hexadecimal(bits: &[Edge], values: &[bool]) -> String {
    let digit = |bits: &[Edge]| {
        let value = bits.iter().rev().fold(0, |value, &bit| 2 * value + u32::from(edge_value(values, bit)));
        char::from_digit(value, 16).unwrap_or('?')
    };
    let digits: Vec<&[Edge]> = bits.chunks(4).collect();
    digits.into_iter().rev().map(digit).collect()
}

fn row_data(row: &Row, signals: &[Signal], needed: &Needed, columns: &Columns) -> Json {
    let signal = &signals[row.signal];
    let kind = match signal.kind {
        SignalKind::Bad => "bad",
        SignalKind::Recurring => "recurring",
        SignalKind::Constraint => "constraint",
        SignalKind::Input => "input",
        SignalKind::Latch => "latch",
        SignalKind::Output => "output",
        SignalKind::Internal => "inner",
    };
    // The columns in which it begins to be needed, or ceases to be.
    let mut turns = Vec::new();
    for column in 0..columns.count {
        if needed.is_needed(columns.step(column), row.signal) == turns.len().is_multiple_of(2) {
            turns.push(column);
        }
    }
    let name = cut(&signal.label(), MOST_VALUE_CHARACTERS);
    let mut data = json!({ "name": name, "kind": kind, "at": row.at, "needed": turns });
    if signal.bits.len() == 1 {
        data["start"] = u8::from(row.values.first().is_some_and(|value| value == "1")).into();
    } else {
        data["values"] = row.values.iter().map(|value| cut(value, MOST_VALUE_CHARACTERS)).collect();
    }
    data
}

/// The clauses of an invariant as a list.
fn clauses(circuit: &Circuit, invariant: &Invariant, notation: Notation) -> String {
    let writer = ClauseWriter { aig: &invariant.aig, names: leaf_names(circuit), notation };
    let mut html = String::new();
    let mut listed = 0;
    for clause in &invariant.clauses {
        if listed == MOST_LISTED || html.len() > MOST_BYTES {
            break;
        }
        listed += 1;
        let text = writer.clause(clause);
        // Writing to a string does not fail.
        let _ = writeln!(
            html,
            "<div class=\"clause\"><span class=\"number\">{listed}</span><pre>{}</pre></div>",
            Escaped::new(&cut(&text, super::MOST_CHARACTERS))
        );
    }
    more(invariant.clauses.len() - listed, "clauses", &mut html);
    if invariant.clauses.is_empty() {
        html.push_str("<p class=\"note\">No clause is needed: no failure is possible in any state.</p>\n");
    }
    html
}

/// By nodes: the names of inputs and latches.
fn leaf_names(circuit: &Circuit) -> Vec<Option<String>> {
    let mut names: Vec<Option<String>> = vec![None; circuit.aig.len()];
    let name = |names: &[String], letter: char, index: usize| {
        let known = names.get(index).filter(|name| !name.is_empty());
        known.map_or_else(|| format!("{letter}{index}"), |name| cut(name, MOST_VALUE_CHARACTERS))
    };
    for (index, node) in circuit.inputs.iter().enumerate() {
        names[node.index()] = Some(name(&circuit.names.inputs, 'i', index));
    }
    for (index, latch) in circuit.latches.iter().enumerate() {
        names[latch.node.index()] = Some(name(&circuit.names.latches, 'l', index));
    }
    names
}

struct ClauseWriter<'a> {
    aig: &'a Aig,
    names: Vec<Option<String>>,
    notation: Notation,
}

impl ClauseWriter<'_> {
    fn clause(&self, clause: &[Edge]) -> String {
        match clause {
            [] => "false".to_owned(),
            [edge] => self.edge(*edge, MOST_LEVELS, true),
            _ => self.joined(clause, true, MOST_LEVELS, true),
        }
    }

    /// A formula for an edge. Gates below so many levels are called by their numbers.
    fn edge(&self, edge: Edge, levels: usize, is_outermost: bool) -> String {
        match (edge.as_constant(), self.aig.and_fanins(edge.node())) {
            (Some(value), _) => value.to_string(),
            (None, Some(fanins)) if levels > 0 => {
                let is_negated = edge.is_negated();
                let fanins = fanins.map(|fanin| fanin.negate_if(is_negated));
                self.joined(&fanins, is_negated, levels - 1, is_outermost)
            }
            _ if edge.is_negated() => match self.notation {
                Notation::Math => format!("¬{}", self.name(edge.node())),
                Notation::Ascii => format!("not {}", self.name(edge.node())),
                Notation::Smtlib => format!("(not {})", self.name(edge.node())),
            },
            _ => self.name(edge.node()),
        }
    }

    /// A disjunction or conjunction.
    fn joined(&self, edges: &[Edge], is_disjunction: bool, levels: usize, is_outermost: bool) -> String {
        let parts: Vec<String> = edges.iter().map(|&edge| self.edge(edge, levels, false)).collect();
        let text = match (self.notation, is_disjunction) {
            (Notation::Math, true) => parts.join(" ∨ "),
            (Notation::Math, false) => parts.join(" ∧ "),
            (Notation::Ascii, true) => parts.join(" or "),
            (Notation::Ascii, false) => parts.join(" and "),
            (Notation::Smtlib, true) => return format!("(or {})", parts.join(" ")),
            (Notation::Smtlib, false) => return format!("(and {})", parts.join(" ")),
        };
        if is_outermost { text } else { format!("({text})") }
    }

    fn name(&self, node: Node) -> String {
        let name = self.names.get(node.index()).cloned().flatten();
        name.unwrap_or_else(|| format!("gate{}", node.index()))
    }
}

#[cfg(test)]
mod tests {
    use shofar_hardware::circuit::{Latch, Property, Reset};
    use shofar_hardware::evidence::Trace;

    use super::*;

    /// Latches that follow inputs. The last step is bad if the first latch is true.
    fn followers(count: usize) -> Circuit {
        let mut circuit = Circuit::default();
        circuit.inputs = (0..count).map(|_| circuit.aig.push_leaf()).collect();
        let nodes: Vec<Node> = (0..count).map(|_| circuit.aig.push_leaf()).collect();
        let latch = |(&node, &input): (&Node, &Node)| Latch {
            node,
            next: input.into(),
            reset: Reset::Constant(false),
        };
        circuit.latches = nodes.iter().zip(&circuit.inputs).map(latch).collect();
        circuit.bads = vec![nodes[0].into()];
        circuit
    }

    /// The data of a page.
    fn data(page: &str) -> Json {
        let text = page.split("id=\"data\">").nth(1).and_then(|rest| rest.split("</script>").next());
        serde_json::from_str(text.unwrap()).unwrap()
    }

    #[test]
    fn large_runs_are_cut_and_say_so() {
        let (signals, steps) = (300, MOST_FIRST + MOST_LAST + 500);
        let circuit = followers(signals);
        // All inputs change in each step, and end with true.
        let inputs = (0..steps).map(|step| vec![(steps - step).is_multiple_of(2); signals]).collect();
        let trace = Trace { initial: vec![false; signals], inputs };
        let answer = Verdict::Unsafe(Counterexample { property: Property::Bad(0), trace, loop_start: None });
        let page = page(&circuit, &[], "large.aig", Notation::Math, &answer);
        assert!(page.len() < 2 * MOST_ROW_BYTES, "{} bytes", page.len());
        assert!(page.contains("Steps 2000 to 2499 are left out"));
        let data = data(&page);
        assert_eq!((&data["columns"], &data["skipped"]), (&json!(MOST_FIRST + MOST_LAST), &json!(500)));
        let groups = data["groups"].as_array().unwrap();
        let rows: usize = groups.iter().map(|group| group["signals"].as_array().unwrap().len()).sum();
        let left_out = 2 * signals + 1 - rows;
        assert!(left_out > 0 && page.contains(&format!("{left_out} signals are left out")), "{left_out}");
        // What matters is there, and only where it matters: the property, its latch, and the input before.
        let matter = groups[0]["signals"].as_array().unwrap();
        let named = |row: &Json| (row["name"].clone(), row["needed"].clone());
        let last = MOST_FIRST + MOST_LAST - 1;
        let found: Vec<(Json, Json)> = matter.iter().map(named).collect();
        let expected = [("b0", json!([last])), ("l0", json!([last])), ("i0", json!([last - 1, last]))];
        assert_eq!(found, expected.map(|(name, needed)| (json!(name), needed)));
    }

    #[test]
    fn rows_have_the_values_of_the_run() {
        let mut circuit = followers(6);
        circuit.names.latches = (0..6).map(|bit| format!("word[{bit}]")).collect();
        let number = |value: usize| (0..6).map(|bit| value >> bit & 1 != 0).collect::<Vec<bool>>();
        let inputs = [0x2a, 0x2a, 0x01, 0x00].map(number).to_vec();
        let trace = Trace { initial: number(0), inputs };
        let answer = Verdict::Unsafe(Counterexample { property: Property::Bad(0), trace, loop_start: None });
        let data = data(&page(&circuit, &[], "word.aig", Notation::Math, &answer));
        let rows = data["groups"][0]["signals"].as_array().unwrap();
        let row = rows.iter().find(|row| row["name"] == "word[5:0]").unwrap();
        assert_eq!((&row["at"], &row["values"]), (&json!([0, 1, 3]), &json!(["00", "2a", "01"])));
        let row = rows.iter().find(|row| row["name"] == "i0").unwrap();
        assert_eq!((&row["at"], &row["start"]), (&json!([0, 2, 3]), &json!(0)));
    }

    #[test]
    fn clauses_spell_out_small_gates() {
        let mut circuit = followers(2);
        circuit.names.latches = vec!["a".to_owned()];
        let [a, b] = [0, 1].map(|latch| Edge::from(circuit.latches[latch].node));
        let mut aig = circuit.aig.clone();
        let both = Edge::from(aig.push_and(a, !b));
        let mut deep = both;
        for _ in 0..5 {
            deep = aig.push_and(deep, b).into();
        }
        let clauses = vec![vec![!both, a], vec![both], vec![], vec![deep]];
        let invariant = Invariant { aig, clauses, depth: 1 };
        let lines = |notation| {
            let writer = ClauseWriter { aig: &invariant.aig, names: leaf_names(&circuit), notation };
            invariant.clauses.iter().map(|clause| writer.clause(clause)).collect::<Vec<String>>()
        };
        let math = ["(¬a ∨ l1) ∨ a", "a ∧ ¬l1", "false", "((gate7 ∧ l1) ∧ l1) ∧ l1"];
        assert_eq!(lines(Notation::Math), math);
        let smtlib = ["(or (or (not a) l1) a)", "(and a (not l1))", "false"];
        assert_eq!(lines(Notation::Smtlib)[..3], smtlib);
        assert_eq!(lines(Notation::Ascii)[0], "(not a or l1) or a");
    }
}
