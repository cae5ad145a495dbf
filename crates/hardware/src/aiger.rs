//! Circuits in AIGER 1.9, both encodings: reading and writing.
//!
//! The format: Biere, Heljanko & Wieringa, "AIGER 1.9 And Beyond" (FMV report 11/2, Linz 2011). A literal is twice a
//! variable, plus one for a negation, and 0 is false. The ASCII encoding (`aag`) lists everything in lines, gates in any
//! order. In the binary one (`aig`) the variables of inputs, latches and gates follow each other, gates are in
//! topological order, and a gate is two differences in a code of seven bits a byte. As HWMCC does since 2025, a latch's
//! reset may be any literal, not only 0, 1 or the latch itself (which means any value).
//!
//! A circuit keeps the variables of its file as numbers of nodes if it can: always in the binary encoding, and in the
//! ASCII one if there are no gaps and each gate comes after its arguments. Otherwise the nodes are inputs, latches,
//! gates, and [`File::variables`] says how the file calls them.
//!
//! The reader trusts nothing: counts are compared with the size of the file before anything is allocated. It polls the
//! limits every few thousand definitions.

use std::fmt;
use std::io::{self, Write};

use rustc_hash::FxHashMap;
use shofar_run::{Limits, Poll, Reason};

use crate::aig::{Aig, Edge, Node};
use crate::circuit::{Circuit, Latch, Names, Reset};

/// The greatest variable: the codes of its literals are not those of a leaf in [`Aig`].
const GREATEST_VARIABLE: u32 = (u32::MAX >> 1) - 1;

/// Inputs of a binary file take no space in it. The reader believes in so many in any case, and in more of them only if
/// the file has as many bytes.
const HARMLESS_INPUTS: usize = 1 << 20;

/// The definitions between two polls of the limits.
pub(crate) const INTERVAL: usize = 1 << 12;

/// How a file encodes a circuit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Encoding {
    /// `aag`.
    Ascii,
    /// `aig`.
    Binary,
}

/// What a file says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct File {
    /// The circuit.
    pub circuit: Circuit,
    /// How it is encoded.
    pub encoding: Encoding,
    /// By nodes of the circuit: the variable of the file.
    pub variables: Vec<u32>,
    /// The comments at the end.
    pub comments: Vec<u8>,
}

/// Why a file is not in the format, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mistake {
    /// The place.
    pub place: Place,
    /// What is wrong there.
    pub message: String,
}

/// A place in a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// A line, counted from 1.
    Line(usize),
    /// A byte, counted from 0: in the gates of a binary file.
    Byte(usize),
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Place::Line(line) => write!(f, "line {line}: {}", self.message),
            Place::Byte(byte) => write!(f, "byte {byte}: {}", self.message),
        }
    }
}

impl std::error::Error for Mistake {}

impl Mistake {
    fn at_line(line: usize, message: impl Into<String>) -> Self {
        Self { place: Place::Line(line), message: message.into() }
    }
}

/// Why a file was not read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unread {
    /// It is not in the format.
    Wrong(Mistake),
    /// The limits ended the reading.
    Interrupted(Reason),
}

impl From<Mistake> for Unread {
    fn from(mistake: Mistake) -> Self {
        Unread::Wrong(mistake)
    }
}

impl From<Reason> for Unread {
    fn from(reason: Reason) -> Self {
        Unread::Interrupted(reason)
    }
}

impl Unread {
    /// The mistake in a file that was read without limits.
    pub(crate) fn into_mistake(self) -> Mistake {
        match self {
            Unread::Wrong(mistake) => mistake,
            Unread::Interrupted(_) => unreachable!("without limits nothing interrupts the reader"),
        }
    }
}

/// Whether bytes begin as a file in AIGER does.
pub fn is_aiger(bytes: &[u8]) -> bool {
    bytes.starts_with(b"aag ") || bytes.starts_with(b"aig ")
}

/// Reads a circuit in either encoding.
pub fn read(bytes: &[u8]) -> Result<File, Mistake> {
    read_within(bytes, &Limits::default()).map_err(Unread::into_mistake)
}

/// Reads a circuit in either encoding, within limits.
pub fn read_within(bytes: &[u8], limits: &Limits<'_>) -> Result<File, Unread> {
    let mut scanner = Scanner { bytes, at: 0, line: 1, poll: Poll::new(limits) };
    let (encoding, header) = Header::read(&mut scanner)?;
    let file = match encoding {
        Encoding::Ascii => Ascii::read(&mut scanner, &header)?.resolve(&header, &scanner)?,
        Encoding::Binary => read_binary(&mut scanner, &header)?,
    };
    let File { mut circuit, variables, .. } = file;
    circuit.names = read_names(&mut scanner, &header)?;
    let comments = read_comments(&mut scanner)?;
    Ok(File { circuit, encoding, variables, comments })
}

/// The counts of the first line.
struct Header {
    greatest: u32,
    inputs: usize,
    latches: usize,
    outputs: usize,
    gates: usize,
    bads: usize,
    constraints: usize,
    justice: usize,
    fairness: usize,
}

impl Header {
    fn read(scanner: &mut Scanner<'_>) -> Result<(Encoding, Self), Mistake> {
        let encoding = match scanner.bytes.get(..4) {
            Some(b"aag ") => Encoding::Ascii,
            Some(b"aig ") => Encoding::Binary,
            _ => return Err(scanner.mistake("a file in AIGER begins with `aag` or `aig`")),
        };
        scanner.at = 3;
        let mut counts = Vec::new();
        while !scanner.ends_line() {
            scanner.space()?;
            counts.push(scanner.number()?);
            if counts.len() > 9 {
                return Err(scanner.mistake("the header has more than nine numbers"));
            }
        }
        if counts.len() < 5 {
            return Err(scanner.mistake("the header needs at least five numbers: M I L O A"));
        }
        let greatest = counts[0];
        if greatest > GREATEST_VARIABLE {
            return Err(scanner.mistake(format!("more than {GREATEST_VARIABLE} variables")));
        }
        let count = |index: usize| counts.get(index).map_or(0, |&count| count as usize);
        let header = Self {
            greatest,
            inputs: count(1),
            latches: count(2),
            outputs: count(3),
            gates: count(4),
            bads: count(5),
            constraints: count(6),
            justice: count(7),
            fairness: count(8),
        };
        let defined = header.inputs + header.latches + header.gates;
        if (greatest as usize) < defined {
            let message = format!("M is {greatest}, too small for {defined} inputs, latches and gates");
            return Err(scanner.mistake(message));
        }
        if encoding == Encoding::Binary && greatest as usize != defined {
            let message = format!("M is {greatest}, but there are {defined} inputs, latches and gates");
            return Err(scanner.mistake(message));
        }
        header.compare_with_size(encoding, scanner)?;
        scanner.end_line()?;
        Ok((encoding, header))
    }

    /// Refuses counts that the file is too short for. Each definition takes two bytes at least.
    fn compare_with_size(&self, encoding: Encoding, scanner: &Scanner<'_>) -> Result<(), Mistake> {
        let size = scanner.bytes.len();
        let listed_inputs = if encoding == Encoding::Ascii { self.inputs } else { 0 };
        let definitions = [
            listed_inputs,
            self.latches,
            self.outputs,
            self.gates,
            self.bads,
            self.constraints,
            self.justice,
            self.fairness,
        ];
        if definitions.iter().sum::<usize>().saturating_mul(2) > size {
            return Err(
                scanner.mistake(format!("the file is too short for these counts: it has {size} bytes"))
            );
        }
        if self.inputs > HARMLESS_INPUTS.max(size) {
            return Err(scanner.mistake(format!("{} inputs in a file of {size} bytes", self.inputs)));
        }
        Ok(())
    }

    /// The variable of a literal that the file may use.
    fn check(&self, literal: u32, line: usize) -> Result<(), Mistake> {
        if literal >> 1 > self.greatest {
            let message = format!("literal {literal}: the greatest variable is M = {}", self.greatest);
            return Err(Mistake::at_line(line, message));
        }
        Ok(())
    }
}

/// Reads numbers and lines.
struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The current line, counted from 1.
    line: usize,
    poll: Poll<'a>,
}

impl Scanner<'_> {
    /// Polls the limits, in the loop over definitions at this index.
    #[inline]
    fn go_on(&self, index: usize) -> Result<(), Unread> {
        match index % INTERVAL {
            0 => self.poll.interruption().map_or(Ok(()), |reason| Err(reason.into())),
            _ => Ok(()),
        }
    }

    fn mistake(&self, message: impl Into<String>) -> Mistake {
        Mistake::at_line(self.line, message)
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// What is wrong if something else was expected here.
    fn unexpected(&self, expected: &str) -> Mistake {
        match self.peek() {
            None => self.mistake(format!("the file ends where {expected} should be")),
            Some(b'\n') => self.mistake(format!("the line ends where {expected} should be")),
            Some(byte) => self.mistake(format!("`{}` where {expected} should be", byte.escape_ascii())),
        }
    }

    fn ends_line(&self) -> bool {
        self.peek() == Some(b'\n')
    }

    fn end_line(&mut self) -> Result<(), Mistake> {
        if !self.ends_line() {
            return Err(self.unexpected("the end of the line"));
        }
        self.at += 1;
        self.line += 1;
        Ok(())
    }

    fn space(&mut self) -> Result<(), Mistake> {
        if self.peek() != Some(b' ') {
            return Err(self.unexpected("a space"));
        }
        self.at += 1;
        Ok(())
    }

    fn number(&mut self) -> Result<u32, Mistake> {
        let start = self.at;
        let mut number: u64 = 0;
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            number = number * 10 + u64::from(digit - b'0');
            if number > u64::from(u32::MAX) {
                return Err(self.mistake("a number of more than 32 bits"));
            }
            self.at += 1;
        }
        if self.at == start {
            return Err(self.unexpected("a number"));
        }
        Ok(number as u32)
    }

    /// A line that is one literal.
    fn literal_line(&mut self, header: &Header) -> Result<u32, Mistake> {
        let literal = self.number()?;
        header.check(literal, self.line)?;
        self.end_line()?;
        Ok(literal)
    }

    /// Lines of one literal each.
    fn literal_lines(&mut self, header: &Header, count: usize) -> Result<Lines, Unread> {
        let first = self.line;
        let mut literals = Vec::with_capacity(count);
        for index in 0..count {
            self.go_on(index)?;
            literals.push(self.literal_line(header)?);
        }
        Ok(Lines { first, literals })
    }

    /// The rest of the line.
    fn text(&mut self) -> Result<&[u8], Mistake> {
        let rest = &self.bytes[self.at..];
        let Some(length) = rest.iter().position(|&byte| byte == b'\n') else {
            return Err(self.mistake("the file ends in the middle of this line"));
        };
        self.at += length + 1;
        self.line += 1;
        Ok(&rest[..length])
    }
}

/// Literals in lines of their own.
struct Lines {
    /// The line of the first literal.
    first: usize,
    literals: Vec<u32>,
}

impl Lines {
    /// Each literal with its line.
    fn iter(&self) -> impl Iterator<Item = (u32, usize)> + '_ {
        self.literals.iter().enumerate().map(|(index, &literal)| (literal, self.first + index))
    }

    fn edges(&self) -> Vec<Edge> {
        self.literals.iter().map(|&literal| Edge::from_code(literal)).collect()
    }
}

/// The properties of a file, which both encodings write in the same lines.
struct Properties {
    outputs: Lines,
    bads: Lines,
    constraints: Lines,
    justice: Vec<Lines>,
    fairness: Lines,
}

impl Properties {
    fn read(scanner: &mut Scanner<'_>, header: &Header) -> Result<Self, Unread> {
        let outputs = scanner.literal_lines(header, header.outputs)?;
        let bads = scanner.literal_lines(header, header.bads)?;
        let constraints = scanner.literal_lines(header, header.constraints)?;
        let mut sizes = Vec::new();
        for _ in 0..header.justice {
            let size = scanner.number()? as usize;
            if size.saturating_mul(2) > scanner.bytes.len() - scanner.at {
                let message = "the rest of the file is too short for this justice property";
                return Err(scanner.mistake(message).into());
            }
            sizes.push(size);
            scanner.end_line()?;
        }
        let justice =
            sizes.iter().map(|&size| scanner.literal_lines(header, size)).collect::<Result<_, _>>()?;
        let fairness = scanner.literal_lines(header, header.fairness)?;
        Ok(Self { outputs, bads, constraints, justice, fairness })
    }

    fn lines(&self) -> impl Iterator<Item = &Lines> {
        [&self.outputs, &self.bads, &self.constraints, &self.fairness].into_iter().chain(&self.justice)
    }

    /// Adds the properties to a circuit. The literals are edges already.
    fn into_circuit(self, circuit: &mut Circuit) {
        circuit.outputs = self.outputs.edges();
        circuit.bads = self.bads.edges();
        circuit.constraints = self.constraints.edges();
        circuit.justice = self.justice.iter().map(Lines::edges).collect();
        circuit.fairness = self.fairness.edges();
    }
}

/// A latch as the file writes it.
#[derive(Clone, Copy)]
struct LatchLine {
    literal: u32,
    next: u32,
    /// 0 if the line has none.
    reset: u32,
}

impl LatchLine {
    /// The rest of a latch's line: next and reset.
    fn read(literal: u32, scanner: &mut Scanner<'_>, header: &Header) -> Result<Self, Mistake> {
        let next = scanner.number()?;
        header.check(next, scanner.line)?;
        let mut reset = 0;
        if !scanner.ends_line() {
            scanner.space()?;
            reset = scanner.number()?;
            header.check(reset, scanner.line)?;
        }
        scanner.end_line()?;
        Ok(Self { literal, next, reset })
    }

    /// The latch, if literals are edges.
    fn latch(self) -> Latch {
        let reset = match self.reset {
            0 => Reset::Constant(false),
            1 => Reset::Constant(true),
            own if own == self.literal => Reset::Free,
            other => Reset::Function(Edge::from_code(other)),
        };
        Latch { node: Edge::from_code(self.literal).node(), next: Edge::from_code(self.next), reset }
    }
}

/// Refuses cyclic reset functions.
fn check_resets(circuit: &Circuit, first_latch_line: usize) -> Result<(), Mistake> {
    if !circuit.latches.iter().any(|latch| matches!(latch.reset, Reset::Function(_))) {
        return Ok(());
    }
    circuit.reset_order().map(|_| ()).map_err(|latch| {
        let message = "the reset function of this latch depends on the latch itself";
        Mistake::at_line(first_latch_line + latch, message)
    })
}

fn read_binary(scanner: &mut Scanner<'_>, header: &Header) -> Result<File, Unread> {
    let first_latch_line = scanner.line;
    let mut circuit = Circuit::default();
    for index in 0..header.latches {
        scanner.go_on(index)?;
        let literal = 2 * (header.inputs + index + 1) as u32;
        circuit.latches.push(LatchLine::read(literal, scanner, header)?.latch());
    }
    let properties = Properties::read(scanner, header)?;
    let mut aig = Aig::with_capacity(header.greatest as usize + 1);
    circuit.inputs = (0..header.inputs).map(|_| aig.push_leaf()).collect();
    (0..header.latches).for_each(|_| {
        aig.push_leaf();
    });
    read_gates(scanner, header.gates, &mut aig)?;
    circuit.aig = aig;
    properties.into_circuit(&mut circuit);
    check_resets(&circuit, first_latch_line)?;
    let variables = (0..=header.greatest).collect();
    Ok(File { circuit, encoding: Encoding::Binary, variables, comments: Vec::new() })
}

/// The gates of a binary file: for each, the difference to its greater argument, and that of the arguments.
fn read_gates(scanner: &mut Scanner<'_>, gates: usize, aig: &mut Aig) -> Result<(), Unread> {
    let bytes = scanner.bytes;
    let mut at = scanner.at;
    for index in 0..gates {
        scanner.go_on(index)?;
        let start = at;
        let mistake =
            |message: &str| Unread::from(Mistake { place: Place::Byte(start), message: message.to_owned() });
        let gate = 2 * aig.len() as u32;
        let (Some(first), Some(second)) = (difference(bytes, &mut at), difference(bytes, &mut at)) else {
            let ends = at >= bytes.len();
            let message = if ends { "the file ends in the gates" } else { "a number of more than 32 bits" };
            return Err(mistake(message));
        };
        if first == 0 || first > gate {
            return Err(mistake("the gate does not come after its arguments"));
        }
        let Some(right) = (gate - first).checked_sub(second) else {
            return Err(mistake("an argument of the gate is a negative number"));
        };
        aig.push_and(Edge::from_code(gate - first), Edge::from_code(right));
    }
    scanner.at = at;
    // The gates hold any bytes, so lines behind them are counted as if the gates were one.
    Ok(())
}

/// A number in groups of seven bits, the lowest first; the upper bit says that more follow. `None` if the bytes end or
/// the number needs more than 32 bits.
#[inline]
fn difference(bytes: &[u8], at: &mut usize) -> Option<u32> {
    let mut number: u32 = 0;
    let mut shift = 0;
    loop {
        let byte = *bytes.get(*at)?;
        let bits = u32::from(byte & 0x7f);
        if shift > 28 || shift == 28 && bits > 0xf {
            return None;
        }
        *at += 1;
        number |= bits << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
        shift += 7;
    }
}

/// An ASCII file before its literals are resolved.
struct Ascii {
    inputs: Lines,
    first_latch_line: usize,
    latches: Vec<LatchLine>,
    properties: Properties,
    first_gate_line: usize,
    gates: Vec<[u32; 3]>,
    definitions: Definitions,
}

/// What defines a variable.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Definition {
    Leaf,
    /// By the number of the gate.
    Gate(usize),
}

/// Numbers by variables. A short file may use great variables, so the table for small ones is only as long as the file;
/// the others are in a map.
struct VariableMap {
    table: Vec<u32>,
    others: FxHashMap<u32, u32>,
}

/// No number.
const UNKNOWN: u32 = u32::MAX;

impl VariableMap {
    fn new(header: &Header, size: usize) -> Self {
        let table = vec![UNKNOWN; (header.greatest as usize + 1).min(size)];
        Self { table, others: FxHashMap::default() }
    }

    #[inline]
    fn get(&self, variable: u32) -> Option<u32> {
        let number = match self.table.get(variable as usize) {
            Some(&number) => number,
            None => self.others.get(&variable).copied().unwrap_or(UNKNOWN),
        };
        (number != UNKNOWN).then_some(number)
    }

    /// Sets the number of a variable; returns the one that it had.
    #[inline]
    fn insert(&mut self, variable: u32, number: u32) -> Option<u32> {
        let before = match self.table.get_mut(variable as usize) {
            Some(entry) => std::mem::replace(entry, number),
            None => self.others.insert(variable, number).unwrap_or(UNKNOWN),
        };
        (before != UNKNOWN).then_some(before)
    }
}

/// By variables: what defines it.
struct Definitions {
    /// 0 for a leaf, otherwise the number of the gate plus one.
    numbers: VariableMap,
}

impl Definitions {
    #[inline]
    fn get(&self, literal: u32) -> Option<Definition> {
        self.numbers.get(literal >> 1).map(|number| match number {
            0 => Definition::Leaf,
            gate => Definition::Gate(gate as usize - 1),
        })
    }

    /// Notes the definition of a literal in a line.
    #[inline]
    fn define(&mut self, literal: u32, definition: Definition, line: usize) -> Result<(), Mistake> {
        if literal < 2 || literal & 1 != 0 {
            let message = format!("literal {literal} cannot be defined: it is no variable");
            return Err(Mistake::at_line(line, message));
        }
        let number = match definition {
            Definition::Leaf => 0,
            Definition::Gate(gate) => gate as u32 + 1,
        };
        match self.numbers.insert(literal >> 1, number) {
            Some(_) => Err(Mistake::at_line(line, format!("literal {literal} is defined twice"))),
            None => Ok(()),
        }
    }
}

impl Ascii {
    fn read(scanner: &mut Scanner<'_>, header: &Header) -> Result<Self, Unread> {
        let mut definitions = Definitions { numbers: VariableMap::new(header, scanner.bytes.len()) };
        let inputs = scanner.literal_lines(header, header.inputs)?;
        for (literal, line) in inputs.iter() {
            definitions.define(literal, Definition::Leaf, line)?;
        }
        let first_latch_line = scanner.line;
        let mut latches = Vec::with_capacity(header.latches);
        for index in 0..header.latches {
            scanner.go_on(index)?;
            let (literal, line) = (scanner.number()?, scanner.line);
            header.check(literal, line)?;
            definitions.define(literal, Definition::Leaf, line)?;
            scanner.space()?;
            latches.push(LatchLine::read(literal, scanner, header)?);
        }
        let properties = Properties::read(scanner, header)?;
        let first_gate_line = scanner.line;
        let mut gates = Vec::with_capacity(header.gates);
        for index in 0..header.gates {
            scanner.go_on(index)?;
            let mut gate = [0; 3];
            for (position, literal) in gate.iter_mut().enumerate() {
                if position > 0 {
                    scanner.space()?;
                }
                *literal = scanner.number()?;
                header.check(*literal, scanner.line)?;
            }
            definitions.define(gate[0], Definition::Gate(index), scanner.line)?;
            gates.push(gate);
            scanner.end_line()?;
        }
        Ok(Self { inputs, first_latch_line, latches, properties, first_gate_line, gates, definitions })
    }

    /// The circuit: all literals must be defined, and no gate may depend on itself.
    fn resolve(mut self, header: &Header, scanner: &Scanner<'_>) -> Result<File, Unread> {
        self.check_defined()?;
        let order = self.topological_order(scanner)?;
        let greatest = header.greatest as usize;
        let is_gapless = greatest == self.inputs.literals.len() + self.latches.len() + self.gates.len();
        let ascends = |gate: &[u32; 3]| gate[1] < gate[0] && gate[2] < gate[0];
        let variables: Vec<u32> = if is_gapless && self.gates.iter().all(ascends) {
            (0..=header.greatest).collect()
        } else {
            let leaves =
                self.inputs.literals.iter().copied().chain(self.latches.iter().map(|latch| latch.literal));
            let gates = order.iter().map(|&gate| self.gates[gate as usize][0]);
            std::iter::once(0).chain(leaves.chain(gates).map(|literal| literal >> 1)).collect()
        };
        let mut node_of = VariableMap::new(header, scanner.bytes.len());
        for (node, &variable) in variables.iter().enumerate() {
            node_of.insert(variable, node as u32);
        }
        let code =
            |literal: u32| node_of.get(literal >> 1).expect("all literals are defined") << 1 | literal & 1;
        let mut aig = Aig::with_capacity(variables.len());
        for (index, &variable) in variables.iter().enumerate().skip(1) {
            scanner.go_on(index)?;
            match self.definitions.get(2 * variable) {
                Some(Definition::Gate(gate)) => {
                    let [_, left, right] = self.gates[gate];
                    aig.push_and(Edge::from_code(code(left)), Edge::from_code(code(right)))
                }
                _ => aig.push_leaf(),
            };
        }
        let latch = |line: &LatchLine| {
            LatchLine { literal: code(line.literal), next: code(line.next), reset: code(line.reset) }.latch()
        };
        let properties = &mut self.properties;
        let Properties { outputs, bads, constraints, justice, fairness } = properties;
        for lines in [outputs, bads, constraints, fairness].into_iter().chain(justice) {
            lines.literals.iter_mut().for_each(|literal| *literal = code(*literal));
        }
        let mut circuit = Circuit {
            aig,
            inputs: self.inputs.literals.iter().map(|&input| Edge::from_code(code(input)).node()).collect(),
            latches: self.latches.iter().map(latch).collect(),
            ..Circuit::default()
        };
        self.properties.into_circuit(&mut circuit);
        check_resets(&circuit, self.first_latch_line)?;
        Ok(File { circuit, encoding: Encoding::Ascii, variables, comments: Vec::new() })
    }

    fn check_defined(&self) -> Result<(), Mistake> {
        let check = |literal: u32, line: usize| match literal < 2 || self.definitions.get(literal).is_some() {
            true => Ok(()),
            false => Err(Mistake::at_line(line, format!("literal {literal} is not defined"))),
        };
        for (index, latch) in self.latches.iter().enumerate() {
            check(latch.next, self.first_latch_line + index)?;
            check(latch.reset, self.first_latch_line + index)?;
        }
        for (literal, line) in self.properties.lines().flat_map(Lines::iter) {
            check(literal, line)?;
        }
        for (index, gate) in self.gates.iter().enumerate() {
            check(gate[1], self.first_gate_line + index)?;
            check(gate[2], self.first_gate_line + index)?;
        }
        Ok(())
    }

    /// The gates, each after its arguments: the postorder of a search from each gate in the order of the file.
    fn topological_order(&self, scanner: &Scanner<'_>) -> Result<Vec<u32>, Unread> {
        let mut order = Vec::with_capacity(self.gates.len());
        let mut entered = vec![false; self.gates.len()];
        let mut left = vec![false; self.gates.len()];
        let mut stack: Vec<u32> = Vec::new();
        for root in 0..self.gates.len() {
            scanner.go_on(root)?;
            stack.push(root as u32);
            while let Some(&top) = stack.last() {
                let gate = top as usize;
                if left[gate] {
                    stack.pop();
                    continue;
                }
                let is_first_visit = !std::mem::replace(&mut entered[gate], true);
                let before = stack.len();
                if is_first_visit {
                    for &literal in &self.gates[gate][1..] {
                        let Some(Definition::Gate(argument)) = self.definitions.get(literal) else {
                            continue;
                        };
                        if left[argument] {
                            continue;
                        }
                        if entered[argument] {
                            let message = format!("gate {} depends on itself", self.gates[gate][0]);
                            return Err(Mistake::at_line(self.first_gate_line + gate, message).into());
                        }
                        stack.push(argument as u32);
                    }
                }
                if stack.len() == before {
                    left[gate] = true;
                    order.push(top);
                    stack.pop();
                }
            }
        }
        Ok(order)
    }
}

/// The symbol table: lines of a kind, a position and a name.
fn read_names(scanner: &mut Scanner<'_>, header: &Header) -> Result<Names, Unread> {
    let mut names = Names::default();
    while let Some(kind) = scanner.peek() {
        scanner.go_on(scanner.line)?;
        if kind == b'c' && scanner.bytes.get(scanner.at + 1).is_none_or(|&byte| byte == b'\n') {
            break;
        }
        let (list, count) = match kind {
            b'i' => (&mut names.inputs, header.inputs),
            b'l' => (&mut names.latches, header.latches),
            b'o' => (&mut names.outputs, header.outputs),
            b'b' => (&mut names.bads, header.bads),
            b'c' => (&mut names.constraints, header.constraints),
            b'j' => (&mut names.justice, header.justice),
            b'f' => (&mut names.fairness, header.fairness),
            _ => {
                let expected = "a name (`i0 name`), `c` for comments or the end of the file";
                return Err(scanner.unexpected(expected).into());
            }
        };
        scanner.at += 1;
        let position = scanner.number()? as usize;
        if position >= count {
            let message = format!("there is no {}{position} to be named", char::from(kind));
            return Err(scanner.mistake(message).into());
        }
        scanner.space()?;
        // Names are few or many: the list gets its length with the first one.
        list.resize(count, String::new());
        if !list[position].is_empty() {
            let message = format!("{}{position} is named twice", char::from(kind));
            return Err(scanner.mistake(message).into());
        }
        list[position] = String::from_utf8_lossy(scanner.text()?).into_owned();
    }
    Ok(names)
}

/// All that follows the line `c`.
fn read_comments(scanner: &mut Scanner<'_>) -> Result<Vec<u8>, Mistake> {
    if scanner.peek().is_none() {
        return Ok(Vec::new());
    }
    scanner.at += 1;
    if scanner.peek().is_some() {
        scanner.end_line()?;
    }
    Ok(scanner.bytes[scanner.at..].to_vec())
}

/// Writes a circuit. Comments are lines without the leading `c`.
pub fn write(
    circuit: &Circuit,
    encoding: Encoding,
    comments: &[u8],
    out: &mut (impl Write + ?Sized),
) -> io::Result<()> {
    let gates: Vec<Node> = circuit.aig.nodes().filter(|&node| circuit.aig.is_and(node)).collect();
    let code = match encoding {
        Encoding::Ascii => Vec::new(),
        Encoding::Binary => {
            // The variables of inputs, latches and gates follow each other.
            let mut variable = vec![0; circuit.aig.len()];
            let leaves = circuit.inputs.iter().copied().chain(circuit.latches.iter().map(|latch| latch.node));
            for (index, node) in leaves.chain(gates.iter().copied()).enumerate() {
                variable[node.index()] = index as u32 + 1;
            }
            variable
        }
    };
    let literal = |edge: Edge| match encoding {
        Encoding::Ascii => edge.code(),
        Encoding::Binary => code[edge.node().index()] << 1 | u32::from(edge.is_negated()),
    };
    let defined = circuit.inputs.len() + circuit.latches.len() + gates.len();
    let greatest = if encoding == Encoding::Ascii { circuit.aig.len() - 1 } else { defined };
    let (name, inputs, latches) = (
        if encoding == Encoding::Ascii { "aag" } else { "aig" },
        circuit.inputs.len(),
        circuit.latches.len(),
    );
    write!(out, "{name} {greatest} {inputs} {latches} {} {}", circuit.outputs.len(), gates.len())?;
    let mut counts =
        vec![circuit.bads.len(), circuit.constraints.len(), circuit.justice.len(), circuit.fairness.len()];
    while counts.last() == Some(&0) {
        counts.pop();
    }
    for count in counts {
        write!(out, " {count}")?;
    }
    writeln!(out)?;
    if encoding == Encoding::Ascii {
        for &input in &circuit.inputs {
            writeln!(out, "{}", literal(input.into()))?;
        }
    }
    for latch in &circuit.latches {
        if encoding == Encoding::Ascii {
            write!(out, "{} ", literal(latch.node.into()))?;
        }
        write!(out, "{}", literal(latch.next))?;
        match latch.reset {
            Reset::Constant(false) => {}
            Reset::Constant(true) => write!(out, " 1")?,
            Reset::Free => write!(out, " {}", literal(latch.node.into()))?,
            Reset::Function(edge) => write!(out, " {}", literal(edge))?,
        }
        writeln!(out)?;
    }
    for &edge in circuit.outputs.iter().chain(&circuit.bads).chain(&circuit.constraints) {
        writeln!(out, "{}", literal(edge))?;
    }
    for property in &circuit.justice {
        writeln!(out, "{}", property.len())?;
    }
    for &edge in circuit.justice.iter().flatten().chain(&circuit.fairness) {
        writeln!(out, "{}", literal(edge))?;
    }
    for &gate in &gates {
        let [left, right] = circuit.aig.and_fanins(gate).expect("a gate").map(literal);
        let gate = literal(gate.into());
        match encoding {
            Encoding::Ascii => writeln!(out, "{gate} {left} {right}")?,
            Encoding::Binary => {
                write_difference(gate - left.max(right), out)?;
                write_difference(left.max(right) - left.min(right), out)?;
            }
        }
    }
    write_names(&circuit.names, out)?;
    if !comments.is_empty() {
        out.write_all(b"c\n")?;
        out.write_all(comments)?;
    }
    Ok(())
}

fn write_difference(mut number: u32, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let mut bytes = [0; 5];
    let mut length = 0;
    loop {
        bytes[length] = (number & 0x7f) as u8;
        number >>= 7;
        length += 1;
        if number == 0 {
            return out.write_all(&bytes[..length]);
        }
        bytes[length - 1] |= 0x80;
    }
}

fn write_names(names: &Names, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let kinds = [
        ('i', &names.inputs),
        ('l', &names.latches),
        ('o', &names.outputs),
        ('b', &names.bads),
        ('c', &names.constraints),
        ('j', &names.justice),
        ('f', &names.fairness),
    ];
    for (kind, list) in kinds {
        for (position, name) in list.iter().enumerate().filter(|(_, name)| !name.is_empty()) {
            writeln!(out, "{kind}{position} {}", name.replace('\n', " "))?;
        }
    }
    Ok(())
}
